// test_problem_forms.c - one matrix in every form that problem files have, inverses by blocks, files that come back
// to the same bits, and sizes that would not fit as full matrices.
#include "test.h"

#include "io/problem.h"
#include "sample.h"

#include <stdlib.h>
#include <unistd.h>

#define PATH_SIZE 64

static crStatus parse(const char* text, const char* format, crProblemFile* file, crError* error) {
    *error = (crError){0};
    return cr_problem_parse(text, strlen(text), format, NULL, NULL, file, error);
}

static bool same_bits(const double* a, const double* b, size_t count) {
    if (a == NULL || b == NULL) return a == b;
    return memcmp(a, b, count * sizeof *a) == 0;
}

static bool same_matrix(const crMatrix* a, const crMatrix* b) {
    if (a->rows != b->rows || a->cols != b->cols || (a->start == NULL) != (b->start == NULL)) return false;
    if (a->value == NULL || b->value == NULL) return a->value == b->value;
    size_t entries = (size_t)a->rows * (size_t)a->cols;
    if (a->start != NULL) {
        entries = (size_t)a->start[a->rows];
        if (memcmp(a->start, b->start, ((size_t)a->rows + 1) * sizeof(int)) != 0) return false;
        if (memcmp(a->col, b->col, entries * sizeof(int)) != 0) return false;
    }
    return same_bits(a->value, b->value, entries);
}

// the matrix [[4, 1, 0], [1, 3, 0], [0, 0, 5]]
TEST(json_forms_are_one_matrix) {
    static const char* const forms[] = {
        "[[4, 1, 0], [1, 3, 0], [0, 0, 5]]",
        "{\"rows\": 3, \"cols\": 3, \"entries\": [[2, 2, 5], [0, 1, 1], [1, 0, 1], [1, 1, 3], [0, 0, 4]]}",
        ("{\"rows\": 3, \"cols\": 3, \"start\": [0, 2, 4, 5], \"col\": [0, 1, 0, 1, 2], "
         "\"value\": [4, 1, 1, 3, 5]}"),
        "{\"diagonal\": [[[4, 1], [1, 3]], 5]}"};
    static const double wanted[9] = {4, 1, 0, 1, 3, 0, 0, 0, 5};
    // inverse of the first block: [[3, -1], [-1, 4]] / 11
    static const double inverse[9] = {3.0 / 11, -1.0 / 11, 0, -1.0 / 11, 4.0 / 11, 0, 0, 0, 0.2};
    for (int f = 0; f < 4; f++) {
        char text[600];
        crProblemFile file;
        crError error;
        snprintf(
            text, sizeof text,
            "{\"carom_problem\": 1, \"blocks\": [{\"kind\": \"cone\", \"mu\": \"inf\"}], \"u_free\": [1, 2, "
            "3],"
            "\"b\": [0, 0.5, 0], \"h\": 0.25, \"p\": [1, 0, 2], \"J\": {\"diagonal\": [1, 1, 1]}, \"M\": %s}",
            forms[f]);
        if (!CHECK_STATUS(parse(text, NULL, &file, &error), CR_OK)) continue;
        const crProblem* p = &file.problem;
        CHECK((p->M.start == NULL) == (f == 0) && file.h == 0.25 && p->b[1] == 0.5 && file.p[2] == 2.0);
        CHECK(p->u_free[1] == 2.0 && p->blocks[0].mu == (double)INFINITY);
        for (int i = 0; i < 9; i++) {
            CHECK(cr_matrix_at(&p->M, i / 3, i % 3) == wanted[i]);
            CHECK_NEAR(cr_matrix_at(&p->Minv, i / 3, i % 3), inverse[i], 1e-16);
        }
        cr_problem_file_free(&file);
    }
}

// [[4, 1, 0], [1, 3, 0], [0, 0, 5]] as Siconos prints it
#define HEAD "3\n1\n2\n3\n3\n"
#define TAIL "\n-1 0.5 0.25\n0.5\n"
TEST(siconos_storages_are_one_matrix) {
    static const char* const texts[] = {
        "3\n1\n0\n3\n3\n3 3\n4 1 0 1 3 0 0 0 5" TAIL,
        "3\n1\n1\n3\n3\n1\n1\n1\n3\n3\n2\n1\n0 1\n0\n0\n4 1 0 1 3 0 0 0 5" TAIL,
        HEAD "1\nCSparse Version 3.2.0, Sept 12, 2017.  Copyright\ntriplet: 3-by-3, nzmax: 9 nnz: 6\n"
             " 0 0 : 4\n 1 0 : 1\n 0 1 : 0.25\n 1 1 : 3\n 2 2 : 5\n 0 1 : 0.75" TAIL,
        HEAD "2\nCSparse Version 3.2.0\n3-by-3, nzmax: 5 nnz: 5, 1-norm: 5\n col 0 : locations 0 to 1\n 0 : "
             "4\n 1 : 1\n"
             " col 1 : locations 2 to 3\n 1 : 3\n 0 : 1\n col 2 : locations 4 to 4\n 2 : 5" TAIL,
        HEAD "3\nCSparse Version 3.2.0\ncsr: 3-by-3, nzmax: 5 nnz: 5, 1-norm: 5\n row 0 : locations 0 to 1\n "
             "0 : 4\n"
             " 1 : 1\n row 1 : locations 2 to 3\n 0 : 1\n 1 : 3\n row 2 : locations 4 to 4\n 2 : 5" TAIL,
        HEAD "4\nCSparse Version 3.2.0\ntriplet: 3-by-3, nzmax: 9 nnz: 4\n 0 0 : 4\n 1 0 : 1\n 1 1 : 3\n 2 2 "
             ": 5" TAIL};
    static const double wanted[9] = {4, 1, 0, 1, 3, 0, 0, 0, 5};
    for (size_t f = 0; f < sizeof texts / sizeof texts[0]; f++) {
        crProblemFile file;
        crError error;
        if (!CHECK_STATUS(parse(texts[f], NULL, &file, &error), CR_OK)) continue;
        CHECK_TEXT(file.format, "siconos-fc");
        for (int i = 0; i < 9; i++) {
            CHECK(cr_matrix_at(&file.problem.W, i / 3, i % 3) == wanted[i]);
        }
        CHECK(file.problem.u_free[0] == -1.0 && file.problem.blocks[0].mu == 0.5);
        // only the last one is half of a matrix
        bool half = f == 5;
        CHECK_TEXT(file.mended.matrix, half ? "W" : "");
        CHECK((file.mended.triangle != NULL) == half);
        cr_problem_file_free(&file);
    }
}

// one triangle in a storage that does not say so is no symmetric matrix
TEST(siconos_triangle_that_is_not_declared) {
    crProblemFile file;
    crError error;
    const char* text =
        HEAD "1\nCSparse 3\ntriplet: 3-by-3, nzmax: 9 nnz: 4\n 0 0 : 4\n 1 0 : 1\n 1 1 : 3\n 2 2 : 5" TAIL;
    CHECK_STATUS(parse(text, NULL, &file, &error), CR_ERR_SYMMETRY);
    CHECK_TEXT(error.field, "W");
    CHECK(strstr(error.message, "entry (1, 0) is 1, (0, 1) is 0") != NULL);
}

TEST(rolling_contacts) {
    crProblemFile file;
    crError error;
    // in the plane, two contacts: n, t and one rolling row, which stands as a spin row
    const char* planar =
        "3 2 0 6 6 6 6  1 0 0 0 0 0  0 1 0 0 0 0  0 0 1 0 0 0  0 0 0 1 0 0  0 0 0 0 1 0  0 0 0 0 0 1 "
        " 1 2 3 4 5 6  0.5 0.6  0.01 0.02";
    CHECK_STATUS(parse(planar, NULL, &file, &error), CR_OK);
    CHECK_TEXT(file.format, "siconos-rfc");
    const crBlock* block = &file.problem.blocks[1];
    CHECK(block->count == 3 && block->spin && !block->roll && block->mu_spin == 0.02 && block->mu == 0.6);
    cr_problem_file_free(&file);
    // the same numbers by the name of the other format: three-dimensional friction
    CHECK_STATUS(parse(planar, "siconos-fc", &file, &error), CR_OK);
    CHECK(!file.problem.blocks[1].spin && file.problem.blocks[1].count == 3);
    cr_problem_file_free(&file);
    // one contact and one more number, as many files have it: no rolling unless the name says so
    const char* one = "3 1 0 3 3 3 3  1 0 0 0 1 0 0 0 1  1 2 3  0.5  1";
    CHECK_STATUS(parse(one, NULL, &file, &error), CR_OK);
    CHECK_TEXT(file.format, "siconos-fc");
    cr_problem_file_free(&file);
    CHECK_STATUS(cr_problem_parse(one, strlen(one), NULL, NULL, "RFC2D_ball.dat", &file, &error), CR_OK);
    CHECK_TEXT(file.format, "siconos-rfc");
    cr_problem_file_free(&file);
    CHECK_STATUS(parse("4 1 0 4 4 4 4", "siconos-rfc", &file, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "d");
}

// M = diag(2, 4), H = [[1, 0, 0, 0, 0], [0, 0, 0, 1, 0]]: W and u_free by hand
TEST(global_rolling_becomes_an_operator) {
    crProblemFile file;
    crError error;
    const char* text = "5\n1\n2\n2\n2\n1\nCSparse 3\ntriplet: 2-by-2, nzmax: 2 nnz: 2\n 0 0 : 2\n 1 1 : 4\n"
                       "2\n2\n5\n1\nCSparse 3\ntriplet: 2-by-5, nzmax: 2 nnz: 2\n 0 0 : 1\n 1 3 : 1\n"
                       "6 8\n0.5 0 0 0.25 0\n0.7\n0.01\n";
    CHECK_STATUS(parse(text, NULL, &file, &error), CR_OK);
    CHECK_TEXT(file.format, "siconos-grfc");
    const crProblem* p = &file.problem;
    CHECK(p->rows == 5 && p->nv == 2 && p->blocks[0].roll && p->blocks[0].mu_roll == 0.01);
    CHECK_NEAR(p->u_free[0], 3.5, 1e-15);
    CHECK_NEAR(p->u_free[3], 2.25, 1e-15);
    CHECK(p->u_free[1] == 0.0);
    crArena arena;
    crMatrix W;
    cr_arena_create(&arena, NULL, 0);
    CHECK_STATUS(cr_problem_sparse(p, &arena, &W), CR_OK);
    CHECK_NEAR(cr_matrix_at(&W, 0, 0), 0.5, 1e-15);
    CHECK_NEAR(cr_matrix_at(&W, 3, 3), 0.25, 1e-15);
    CHECK(W.start[5] == 2);
    cr_arena_destroy(&arena);
    cr_problem_file_free(&file);
    // no contacts at all
    const char* none = "2\n0\n2\n2\n2\n1\nCSparse 3\ntriplet: 2-by-2, nzmax: 2 nnz: 2\n 0 0 : 2\n 1 1 : 4\n"
                       "2\n2\n0\n2\nCSparse 3\n2-by-0, nzmax: 1 nnz: 0, 1-norm: 0\n6 8\n\n\n";
    CHECK_STATUS(parse(none, NULL, &file, &error), CR_OK);
    CHECK_TEXT(file.format, "siconos-gfc");
    CHECK(file.problem.rows == 0 && file.problem.nv == 2 && file.problem.v[1] == 2.0);
    cr_problem_file_free(&file);
}

// A = B B^T + diagonal, in random blocks over a random order of indices
static void random_blocks(crRandom* random, int n, double* A) {
    int block[64], order[64];
    for (int i = 0; i < n; i++) {
        block[i] = i == 0 || sample_uniform(random, 0, 1) < 0.3 ? i : block[i - 1];
        order[i] = i;
    }
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(sample_bits(random) % (uint64_t)(i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    double B[64][4];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 4; k++) {
            B[i][k] = sample_uniform(random, -1, 1);
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = i == j ? 0.5 : 0.0;
            for (int k = 0; k < 4 && block[i] == block[j]; k++) {
                sum += B[i][k] * B[j][k];
            }
            A[order[i] * n + order[j]] = sum;
        }
    }
}

static crMatrix compressed(const double* A, int n, int* start, int* col, double* value) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        start[i] = count;
        for (int j = 0; j < n; j++) {
            if (A[i * n + j] == 0.0) continue;
            col[count] = j;
            value[count++] = A[i * n + j];
        }
    }
    start[n] = count;
    return (crMatrix){n, n, start, col, value};
}

// A A^-1 = 1 from its definition, and both forms give the same
TEST(inverse_by_blocks) {
    crRandom random = sample_seed(7);
    double worst = 0.0;
    for (int run = 0; run < 200; run++) {
        static double A[64 * 64], value[64 * 64];
        static int start[65], col[64 * 64];
        int n = 1 + (int)(sample_bits(&random) % 40);
        random_blocks(&random, n, A);
        crArena arena;
        crMatrix dense = {n, n, NULL, NULL, A}, sparse = compressed(A, n, start, col, value), full, part;
        cr_arena_create(&arena, NULL, 0);
        CHECK_STATUS(cr_matrix_inverse(&dense, &arena, &full, NULL), CR_OK);
        CHECK_STATUS(cr_matrix_inverse(&sparse, &arena, &part, NULL), CR_OK);
        CHECK(full.start == NULL && part.start != NULL);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                double sum = 0.0;
                for (int k = 0; k < n; k++) {
                    sum += A[i * n + k] * full.value[k * n + j];
                }
                worst = fmax(worst, fabs(sum - (i == j ? 1.0 : 0.0)));
                CHECK(cr_matrix_at(&part, i, j) == full.value[i * n + j]);
            }
        }
        // a negative pivot in one block is found
        A[(n - 1) * n + n - 1] = -1.0;
        CHECK_STATUS(cr_matrix_inverse(&dense, &arena, &full, NULL), CR_ERR_DEFINITE);
        cr_arena_destroy(&arena);
    }
    printf("  A inverse(A) - 1: %.1e\n", worst);
    CHECK(worst < 1e-12);
}

static void temporary(char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "/tmp/carom-forms-%ld.json", (long)getpid());
}

static void check_same(const crProblemFile* a, const crProblemFile* b) {
    const crProblem *p = &a->problem, *q = &b->problem;
    size_t rows = (size_t)p->rows;
    CHECK(p->rows == q->rows && p->block_count == q->block_count && p->nv == q->nv && p->raw == q->raw);
    CHECK(a->h == b->h && strcmp(a->name, b->name) == 0);
    CHECK(same_bits(p->u_free, q->u_free, rows) && same_bits(p->b, q->b, rows) &&
          same_bits(a->p, b->p, rows));
    CHECK(same_bits(p->v, q->v, (size_t)p->nv));
    CHECK(same_matrix(&p->W, &q->W) && same_matrix(&p->J, &q->J) && same_matrix(&p->M, &q->M));
    CHECK(same_matrix(&p->Minv, &q->Minv));
    for (int i = 0; i < p->block_count; i++) {
        const crBlock *s = &p->blocks[i], *t = &q->blocks[i];
        CHECK(s->kind == t->kind && s->row == t->row && s->count == t->count &&
              s->vertex_count == t->vertex_count);
        CHECK(same_bits(&s->lo, &t->lo, 1) && same_bits(&s->hi, &t->hi, 1) && s->e == t->e && s->et == t->et);
        if (s->kind != CR_BLOCK_CONE) continue;
        CHECK(s->mu == t->mu && s->mu2 == t->mu2 && s->spin == t->spin && s->roll == t->roll);
        CHECK(s->mu_spin == t->mu_spin && s->mu_roll == t->mu_roll);
        for (int k = 0; k < s->vertex_count; k++) {
            CHECK(same_bits(p->vertices[s->vertex + k], q->vertices[t->vertex + k], 2));
        }
    }
}

static void check_round_trip(const crProblemFile* file) {
    char path[PATH_SIZE];
    crProblemFile again;
    crError error = {0};
    temporary(path);
    CHECK_STATUS(cr_problem_write(path, NULL, file, &error), CR_OK);
    if (CHECK_STATUS(cr_problem_read(path, NULL, &again, &error), CR_OK)) {
        check_same(file, &again);
        cr_problem_file_free(&again);
    }
    remove(path);
}

// every kind of block and form, numbers with 17 digits, both zeros, the smallest and the largest
TEST(files_come_back_to_the_same_bits) {
    static const char* const texts[] = {
        "{\"carom_problem\": 1, \"name\": \"all\", \"h\": 0.1, \"blocks\": [{\"kind\": \"equality\", "
        "\"rows\": 2},"
        "{\"kind\": \"unilateral\", \"e\": 0.3}, {\"kind\": \"box\", \"lo\": \"-inf\", \"hi\": 0.1},"
        "{\"kind\": \"cone\", \"mu\": 0.1, \"mu2\": 0.2, \"spin\": 0.3, \"roll\": 0.7, \"et\": -0.5},"
        "{\"kind\": \"cone\", \"polygon\": [[0.1, 0], [0, 0.3], [-0.1, -0.2]]}, {\"kind\": \"cone\", "
        "\"rows\": 2, \"mu\":"
        "\"inf\"}], \"u_free\": [-0, 0.1, 5e-324, 1.7976931348623157e308, 1, 2, 3, 4, 5, 6, "
        "0.30000000000000004, 1e22, 3,"
        "1, 2], \"b\": [0, -0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], \"J\": {\"rows\": 15, \"cols\": "
        "2, \"start\":"
        "[0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3], \"col\": [1, 0, 1], \"value\": [-0, 0.1, 2]},"
        "\"M\": {\"diagonal\": [3, 0.7]}, \"v\": [-0, 1e-5]}",
        "{\"carom_problem\": 1, \"raw\": true, \"blocks\": [{\"kind\": \"unilateral\", \"rows\": 2}], "
        "\"u_free\": [1, -1],"
        "\"W\": [[0.1, 2], [-3, 0]], \"p\": [0.1, 0.2]}",
        ("{\"carom_problem\": 1, \"blocks\": [{\"kind\": \"unilateral\", \"rows\": 2}], \"u_free\": [1, -1],"
         "\"J\": [[1, 0, 0], [0, 1, 0.3]], \"Minv\": [[2, 1, 0], [1, 2, 0], [0, 0, 0]]}"),
        "{\"carom_problem\": 1, \"blocks\": [], \"u_free\": [], \"W\": []}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        crProblemFile file;
        crError error;
        if (!CHECK_STATUS(parse(texts[i], NULL, &file, &error), CR_OK)) continue;
        check_round_trip(&file);
        cr_problem_file_free(&file);
    }
}

// text that grows
typedef struct Text {
    char* at;
    size_t used, room;
} Text;

static void put(Text* text, const char* piece) {
    size_t length = strlen(piece);
    if (text->used + length + 1 > text->room) {
        text->room = 2 * text->room + length + 1;
        text->at = realloc(text->at, text->room);
        if (text->at == NULL) abort();
    }
    memcpy(text->at + text->used, piece, length + 1);
    text->used += length;
}

static void put_list(Text* text, const char* key, int count, int every, const char* item) {
    put(text, key);
    for (int i = 0; i < count; i++) {
        put(text, i == 0 ? "[" : i % every == 0 ? ",\n" : ",");
        put(text, item);
    }
    put(text, "]");
}

// A column of `n` balls: contact i between ball i and ball i + 1, M of 3 x 3 blocks [2 1 0; 1 2 0; 0 0 4], of
// which J reads the first velocity. W is then tridiagonal: inverse block 2/3, so 4/3 and -2/3.
TEST(hundred_thousand_rows) {
    const int n = getenv("CAROM_SANITIZE") != NULL ? 3000 : 100000;
    Text text = {0};
    char piece[96];
    put(&text, "{\"carom_problem\": 1, \"h\": 0.01");
    put_list(&text, ", \"blocks\": ", n, 8, "{\"kind\": \"unilateral\"}");
    put_list(&text, ", \"u_free\": ", n, 16, "-1.5");
    put_list(&text, ", \"p\": ", n, 16, "1");
    snprintf(piece, sizeof piece, ", \"J\": {\"rows\": %d, \"cols\": %d, \"start\": [", n, 3 * (n + 1));
    put(&text, piece);
    for (int i = 0; i <= n; i++) {
        snprintf(piece, sizeof piece, "%s%d", i > 0 ? "," : "", 2 * i);
        put(&text, piece);
    }
    put(&text, "], \"col\": [");
    for (int i = 0; i < n; i++) {
        snprintf(piece, sizeof piece, "%s%d,%d", i > 0 ? "," : "", 3 * i, 3 * (i + 1));
        put(&text, piece);
    }
    put_list(&text, "], \"value\": ", n, 8, "-1,1");
    put(&text, "}");
    put_list(&text, ", \"M\": {\"diagonal\": ", n + 1, 1, "[[2,1,0],[1,2,0],[0,0,4]]");
    put(&text, "}}");
    crProblemFile file;
    crError error = {0};
    if (CHECK_STATUS(cr_problem_parse(text.at, text.used, NULL, NULL, NULL, &file, &error), CR_OK)) {
        const crProblem* p = &file.problem;
        CHECK(p->rows == n && p->nv == 3 * (n + 1) && file.h == 0.01);
        // blocks of the inverse follow the coupling: 2 x 2 and 1 x 1
        CHECK(p->Minv.start[p->nv] == 5 * (n + 1));
        crArena arena;
        cr_arena_create(&arena, NULL, 0);
        double* u = cr_arena_alloc(&arena, (size_t)n * sizeof *u);
        CHECK_STATUS(cr_problem_velocity(p, &arena, file.p, u), CR_OK);
        double worst = 0.0;
        for (int i = 0; i < n; i++) {
            double wanted = -1.5 + (i == 0 || i == n - 1 ? 2.0 / 3 : 0.0);
            worst = fmax(worst, fabs(u[i] - wanted));
        }
        CHECK(worst < 1e-14);
        cr_arena_destroy(&arena);
        check_round_trip(&file);
        cr_problem_file_free(&file);
    }
    free(text.at);
}

// a million rows that nothing acts on: read, written and audited in time that grows with them
TEST(a_million_empty_rows) {
    const int n = getenv("CAROM_SANITIZE") != NULL ? 20000 : 1000000;
    Text text = {0};
    char piece[160];
    snprintf(piece, sizeof piece,
             "{\"carom_problem\": 1, \"blocks\": [{\"kind\": \"unilateral\", \"rows\": %d}], \"W\": "
             "{\"rows\": %d, \"cols\":"
             " %d, \"entries\": []}",
             n, n, n);
    put(&text, piece);
    put_list(&text, ", \"u_free\": ", n, 40, "1");
    put(&text, "}");
    crProblemFile file;
    crError error = {0};
    if (CHECK_STATUS(cr_problem_parse(text.at, text.used, NULL, NULL, NULL, &file, &error), CR_OK)) {
        CHECK(file.problem.rows == n && file.problem.W.start[n] == 0);
        cr_problem_file_free(&file);
    }
    free(text.at);
}
