// test_problem_fc.c - readers of friction problems: what they make of small texts, and what they refuse and
// where.
#include "test.h"

#include "data.h"
#include "io/problem.h"

#include <stdlib.h>

static crStatus parse(const char* text, const char* format, crProblemFile* file, crError* error) {
    *error = (crError){0};
    return cr_problem_parse(text, strlen(text), format, NULL, NULL, file, error);
}

static void refused(const char* text, const char* format, crStatus status, const char* field, int line,
                    int column, int at) {
    crProblemFile file;
    crError error;
    crStatus got = parse(text, format, &file, &error);
    test_check(
        got == status && strcmp(error.field, field) == 0 && error.line == line && error.column == column,
        __FILE__, at, "is \"%s\" of \"%s\" at %d:%d, expected \"%s\" of \"%s\" at %d:%d", cr_status_name(got),
        error.field, error.line, error.column, cr_status_name(status), field, line, column);
    if (got == CR_OK) cr_problem_file_free(&file);
}

#define REFUSED(text, format, status, field, line, column) \
    refused(text, format, status, field, line, column, __LINE__)

// by columns: W = [[2, 3], [4, 5]] is written 2 4 3 5
#define FC2 "2\n1\n0\n2\n2\n2 2\n2 4 3 5\n-1 7\n0.25\n"

TEST(fc_dense_by_columns) {
    crProblemFile file;
    crError error;
    // too unsymmetric to be accepted as a contact problem: refused by entry
    crStatus status = parse(FC2, "siconos-fc", &file, &error);
    CHECK_STATUS(status, CR_ERR_SYMMETRY);
    CHECK_TEXT(error.field, "W");
    CHECK(strstr(error.message, "entry (1, 0) is 4, (0, 1) is 3") != NULL);
    CHECK_STATUS(parse("2 1 0 2 2 2 2  2 4.001 4 5  -1 7  0.25", NULL, &file, &error), CR_OK);
    CHECK_TEXT(file.format, "siconos-fc");
    const crProblem* p = &file.problem;
    CHECK(p->rows == 2 && p->block_count == 1 && p->blocks[0].kind == CR_BLOCK_CONE &&
          p->blocks[0].count == 2);
    CHECK(p->blocks[0].mu == 0.25 && p->u_free[0] == -1 && p->u_free[1] == 7);
    // the symmetric part is used and said so; by columns, 4.001 is row 1, column 0
    CHECK(cr_matrix_at(&p->W, 0, 1) == 0.5 * 4.0 + 0.5 * 4.001 &&
          cr_matrix_at(&p->W, 1, 0) == cr_matrix_at(&p->W, 0, 1));
    CHECK_TEXT(file.mended.matrix, "W");
    CHECK(file.mended.skew.row == 1 && file.mended.skew.col == 0);
    CHECK(file.mended.skew.at == 4.001 && file.mended.skew.across == 4.0);
    CHECK_NEAR(file.mended.skew.relative, 0.001 / 5.0, 1e-15);
    cr_problem_file_free(&file);
}

// a full W that is mostly zero is kept by rows, one that is not as it is
TEST(fc_zeros_are_dropped) {
    crProblemFile file;
    crError error;
    const char* text = "2 2  0 4 4 4 4  2 0 0 0  0 3 0 1  0 0 5 0  0 1 0 7  -1 0 -1 0  0.5 0.5";
    CHECK_STATUS(parse(text, "siconos-fc", &file, &error), CR_OK);
    const crMatrix* W = &file.problem.W;
    CHECK(W->start != NULL && W->start[4] == 6);
    CHECK(cr_matrix_at(W, 0, 0) == 2 && cr_matrix_at(W, 1, 3) == 1 && cr_matrix_at(W, 3, 1) == 1);
    CHECK(cr_matrix_at(W, 2, 2) == 5 && cr_matrix_at(W, 0, 1) == 0);
    cr_problem_file_free(&file);
    CHECK_STATUS(parse("2 1  0 2 2 2 2  2 0 0 5  -1 7  0.25", "siconos-fc", &file, &error), CR_OK);
    CHECK(file.problem.W.start != NULL && file.problem.W.start[2] == 2);
    cr_problem_file_free(&file);
    CHECK_STATUS(parse("2 1  0 2 2 2 2  2 1 1 5  -1 7  0.25", "siconos-fc", &file, &error), CR_OK);
    CHECK(file.problem.W.start == NULL);
    cr_problem_file_free(&file);
}

TEST(an_empty_file_is_refused_as_such) {
    crProblemFile file;
    crError error;
    CHECK_STATUS(parse("", NULL, &file, &error), CR_ERR_MISSING);
    CHECK(strstr(error.message, "is empty") != NULL);
    CHECK_STATUS(parse(" \n\t\n", NULL, &file, &error), CR_ERR_MISSING);
}

TEST(gfc_becomes_an_operator) {
    // M = diag(2, 4), H = [1 0; 0 1] ... d = 2, one contact: u = H^T inverse(M) (H p + q) + b
    const char* text = "2 1  0 2 2 2 2  2 0 0 4  0 2 2 2 2  1 3 0 1  4 8  0.5 0.25  0.1";
    crProblemFile file;
    crError error;
    CHECK_STATUS(parse(text, NULL, &file, &error), CR_OK);
    CHECK_TEXT(file.format, "siconos-gfc");
    const crProblem* p = &file.problem;
    CHECK(p->rows == 2 && p->nv == 2);
    // H by columns is [[1, 0], [3, 1]]; v = (2, 2); H^T v = (8, 2)
    CHECK_NEAR(p->u_free[0], 8.5, 1e-15);
    CHECK_NEAR(p->u_free[1], 2.25, 1e-15);
    crArena arena;
    double* W = NULL;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_problem_dense(p, &arena, &W), CR_OK);
    // H^T diag(1/2, 1/4) H
    CHECK_NEAR(W[0], 0.5 + 9.0 / 4, 1e-15);
    CHECK_NEAR(W[1], 3.0 / 4, 1e-15);
    CHECK_NEAR(W[3], 1.0 / 4, 1e-15);
    cr_arena_destroy(&arena);
    cr_problem_file_free(&file);
}

TEST(contactbench_normal_comes_first) {
    const char* text = "# remark\n# and more\nn 3\n1 0.5 0\n0.5 2 0.25\n0 0.25 3\ng 10 20 30\nmu 0.7\n";
    crProblemFile file;
    crError error;
    CHECK_STATUS(parse(text, NULL, &file, &error), CR_OK);
    CHECK_TEXT(file.format, "contactbench");
    const crProblem* p = &file.problem;
    double W[9] = {3, 0, 0.25, 0, 1, 0.5, 0.25, 0.5, 2}, q[3] = {30, 10, 20};
    for (int i = 0; i < 9; i++) {
        CHECK(p->W.value[i] == W[i]);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(p->u_free[i] == q[i]);
    }
    CHECK(p->blocks[0].mu == 0.7 && p->blocks[0].mu2 == 0.7);
    cr_problem_file_free(&file);
}

TEST(rolling_has_two_more_rows) {
    const char* text = "5 1 0 5 5 5 5 1 0 0 0 0 0 1 0 0 0 0 0 1 0 0 0 0 0 1 0 0 0 0 0 1 -1 0 0 0 1 0.5 0.25";
    crProblemFile file;
    crError error;
    CHECK_STATUS(parse(text, NULL, &file, &error), CR_OK);
    CHECK_TEXT(file.format, "siconos-rfc");
    const crBlock* b = &file.problem.blocks[0];
    CHECK(b->count == 5 && b->roll && !b->spin && b->mu == 0.5 && b->mu_roll == 0.25);
    cr_problem_file_free(&file);
}

TEST(refusals_say_where) {
    REFUSED("", "siconos-fc", CR_ERR_MISSING, "d", 1, 1);
    REFUSED("4 1", "siconos-fc", CR_ERR_RANGE, "d", 1, 1);
    REFUSED("2.5 1", "siconos-fc", CR_ERR_RANGE, "d", 1, 1);
    REFUSED("3\n-1\n0", "siconos-fc", CR_ERR_RANGE, "contacts", 2, 1);
    REFUSED("3\n1000000\n0", "siconos-fc", CR_ERR_SIZE, "contacts", 2, 1);
    REFUSED("2\n1\n7\n2\n2", "siconos-fc", CR_ERR_RANGE, "storage", 3, 1);
    REFUSED("2 1 0 3 3 3 3 1 2 3 4 5 6 7 8 9", "siconos-fc", CR_ERR_SIZE, "W", 1, 31);
    REFUSED("2\n1\n0\n2\n2\n2 2\n2 4 nan 5\n-1 7\n0.25\n", "siconos-fc", CR_ERR_FINITE, "M", 7, 5);
    REFUSED("2\n1\n0\n2\n2\n2 2\n2 4 x 5\n-1 7\n0.25\n", "siconos-fc", CR_ERR_SYNTAX, "M", 7, 5);
    REFUSED("2\n1\n0\n2\n2\n2 2\n2 4 4 5\n-1 inf\n0.25\n", "siconos-fc", CR_ERR_FINITE, "q", 8, 4);
    REFUSED("2\n1\n0\n2\n2\n2 2\n2 4 4 5\n-1 7\n-0.25\n", "siconos-fc", CR_ERR_RANGE, "mu", 9, 1);
    REFUSED("2\n1\n0\n2\n2\n2 2\n2 4 4 5\n-1 7\n", "siconos-fc", CR_ERR_MISSING, "mu", 9, 1);
    REFUSED("2 1  0 2 2 2 2  2 0 0 -4  0 2 2 2 2  1 3 0 1  4 8  0.5 0.25  0.1", "siconos-gfc",
            CR_ERR_DEFINITE, "M", 0, 0);
    REFUSED("2 1  0 2 3 2 3  2 0 0 4 1 1  0 2", "siconos-gfc", CR_ERR_SIZE, "M", 1, 27);
    REFUSED("2 1  0 2 2 2 2  2 0 0 4  0 3 2 3 2  1 3 0 1 1 1 4 8  0.5 0.25  0.1", "siconos-gfc", CR_ERR_SIZE,
            "H", 1, 47);
    REFUSED("5 1 0 5 5 5 5 1 0 0 0 0 0 1 0 0 0 0 0 1 0 0 0 0 0 1 0 0 0 0 0 1 -1 0 0 0 1 0.5 -1",
            "siconos-rfc", CR_ERR_RANGE, "mu_roll", 1, 80);
    REFUSED("n 4\n", "contactbench", CR_ERR_SIZE, "n", 1, 3);
    REFUSED("# a\nm 3\n", "contactbench", CR_ERR_MISSING, "n", 2, 1);
    REFUSED("n 300000\n1 2 3", "contactbench", CR_ERR_SIZE, "G", 1, 3);
    REFUSED("n 3\n1 0 0 0 1 0 0 0 1\nh 1 2 3", "contactbench", CR_ERR_MISSING, "g", 3, 1);
    REFUSED("n 3\n1 0 0 0 1 0 0 0 1\ng 1 2 3\nmu -1", "contactbench", CR_ERR_RANGE, "mu", 4, 4);
}

// every beginning of a good file is refused with a place, never read past its end
TEST(beginnings_are_refused) {
    static const char* const names[] = {"siconos-fc-A/FC3D_Example1_SBM.dat",
                                        "siconos-fc-A/GFC3D_Example0_SBM.dat",
                                        "siconos-fc-A/RFC3D_sphere_1.dat", "contactbench/sliding_cube.txt"};
    static const char* const formats[] = {"siconos-fc", "siconos-gfc", "siconos-rfc", "contactbench"};
    for (int i = 0; i < 4; i++) {
        char path[512];
        if (test_data(names[i], path, sizeof path) == NULL) {
            test_skip("no CAROM_DATA");
            return;
        }
        FILE* f = fopen(path, "rb");
        char whole[8192];
        size_t size = fread(whole, 1, sizeof whole, f);
        fclose(f);
        int accepted = 0;
        int refusals = 0;
        for (size_t cut = 0; cut <= size; cut += cut + 200 < size ? 37 : 1) {
            // a copy of exactly this size, so that the sanitizer sees a step too far
            char* text = malloc(cut + 1);
            memcpy(text, whole, cut);
            char* exact = realloc(text, cut > 0 ? cut : 1);
            crProblemFile file;
            crError error = {0};
            crStatus status = cr_problem_parse(exact, cut, formats[i], NULL, NULL, &file, &error);
            if (status == CR_OK) {
                accepted++;
                cr_problem_file_free(&file);
            } else {
                refusals++;
                CHECK(error.line > 0 && error.column > 0 && error.message[0] != '\0');
            }
            free(exact);
        }
        // only cuts within the last number or what follows it leave a whole problem
        CHECK(accepted > 0 && refusals > 20);
    }
}
