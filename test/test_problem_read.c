// test_problem_read.c - readers of problem files on good, cut off and hostile text.
#include "test.h"

#include <stdlib.h>

#include "data.h"
#include "io/problem.h"

static const char lcp_text[] = "2\n0\n2\n2\n2 2\n3 -1\n1 2\n-2 1\n\na remark";
static const char block_text[] =
    "3\n1\n3\n3\n3\n2\n2\n2 3\n2 3\n3\n3\n0 2 3\n0 1 1\n0\n1\n2\n3\n4\n1\n5\n6\n2\n7\n8 9 10";
static const char rows_text[] = "2\n3 1\n-1 2\n-2 1\n0.5 0\n";
static const char mlcp_text[] = "1\n1\n1\n2\n0 1 3\n0 1\n0\n3\n3\n3 3\n1 2 3\n4 5 6\n7 8 9\n-1 -2 -3\nrest";
static const char boxed_text[] =
    "# remark\nproblem first n 1\nA 2\nb 1\nlo 0\nhi inf\nfIndex -1\n"
    "problem second n 5\nA 1 0 0 0 0\nA 0 2 0 0 0\nA 0 0 3 0 0\nA 0 0 0 4 0\nA 0 0 0 0 5\n"
    "b 1 2 3 4 5\nlo 0 -0.5 -0.25 -1 -inf\nhi inf 0.5 0.25 1 inf\nfIndex -1 0 0 -1 -1\n";

static crStatus parse(const char* text, crProblemFile* file, crError* error) {
    return cr_problem_parse(text, strlen(text), NULL, NULL, NULL, file, error);
}

TEST(dense_matrices_come_by_columns) {
    crProblemFile file;
    CHECK_STATUS(parse(lcp_text, &file, NULL), CR_OK);
    CHECK_TEXT(file.format, "siconos-lcp");
    CHECK(file.problem.rows == 2 && file.count == 1 && file.problem.raw);
    CHECK_NEAR(cr_matrix_at(&file.problem.W, 1, 0), -1.0, 0.0);
    CHECK_NEAR(cr_matrix_at(&file.problem.W, 0, 1), 1.0, 0.0);
    CHECK_NEAR(file.problem.u_free[0], -2.0, 0.0);
    cr_problem_file_free(&file);
    CHECK_STATUS(parse(rows_text, &file, NULL), CR_OK);
    CHECK_TEXT(file.format, "siconos-lcp-rows");
    CHECK_NEAR(cr_matrix_at(&file.problem.W, 1, 0), -1.0, 0.0);
    CHECK_NEAR(file.problem.u_free[1], 1.0, 0.0);
    cr_problem_file_free(&file);
    cr_problem_file_free(&file);
    cr_problem_file_free(NULL);
}

TEST(blocks_come_by_columns) {
    crProblemFile file;
    CHECK_STATUS(parse(block_text, &file, NULL), CR_OK);
    double expected[9] = {1, 3, 5, 2, 4, 6, 0, 0, 7};
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(cr_matrix_at(&file.problem.W, i / 3, i % 3), expected[i], 0.0);
    }
    CHECK_NEAR(file.problem.u_free[2], 10.0, 0.0);
    cr_problem_file_free(&file);
}

TEST(mixed_problems_have_equality_and_unilateral_blocks) {
    crProblemFile file;
    CHECK_STATUS(parse(mlcp_text, &file, NULL), CR_OK);
    CHECK_TEXT(file.format, "siconos-mlcp");
    CHECK(file.problem.block_count == 2);
    CHECK(file.problem.blocks[0].kind == CR_BLOCK_EQUALITY && file.problem.blocks[0].count == 1);
    CHECK(file.problem.blocks[1].kind == CR_BLOCK_UNILATERAL && file.problem.blocks[1].count == 2);
    CHECK_NEAR(cr_matrix_at(&file.problem.W, 0, 2), 7.0, 0.0);
    cr_problem_file_free(&file);
}

TEST(boxed_problems_become_blocks) {
    crProblemFile file;
    crError error;
    CHECK_STATUS(parse(boxed_text, &file, NULL), CR_OK);
    CHECK_TEXT(file.name, "first");
    CHECK(file.count == 2 && file.problem.blocks[0].kind == CR_BLOCK_UNILATERAL);
    CHECK_NEAR(file.problem.u_free[0], -1.0, 0.0);
    cr_problem_file_free(&file);
    CHECK_STATUS(cr_problem_parse(boxed_text, strlen(boxed_text), "boxed-lcp", "second", NULL, &file, NULL),
                 CR_OK);
    CHECK(file.problem.block_count == 3);
    const crBlock* cone = &file.problem.blocks[0];
    CHECK(cone->kind == CR_BLOCK_CONE && cone->count == 3 && cone->vertex_count == 4);
    CHECK_NEAR(file.problem.vertices[cone->vertex][0], 0.5, 0.0);
    CHECK_NEAR(file.problem.vertices[cone->vertex][1], 0.25, 0.0);
    CHECK(file.problem.blocks[1].kind == CR_BLOCK_BOX && file.problem.blocks[2].kind == CR_BLOCK_EQUALITY);
    cr_problem_file_free(&file);
    CHECK_STATUS(cr_problem_parse(boxed_text, strlen(boxed_text), NULL, "third", NULL, &file, &error),
                 CR_ERR_NAME);
    CHECK_STATUS(
        parse("problem x n 2\nA 1 0\nA 0 1\nb 0 0\nlo 0 0\nhi inf inf\nfIndex 1 -1\n", &file, &error),
        CR_ERR_SIZE);
    CHECK_TEXT(error.field, "fIndex");
    CHECK_STATUS(parse("problem x n 2\nA 1 0\nA 0 1\nb 0 0\nlo 0 0\nhi inf 1\nfIndex -1 0\n", &file, &error),
                 CR_ERR_RANGE);
    CHECK_STATUS(parse("problem x n 1\nA 1\nb 0\nlo 2\nhi 1\nfIndex -1\n", &file, &error), CR_ERR_RANGE);
    CHECK_STATUS(parse("problem x n 1\nA 1\nb 0\nlo nan\nhi 1\nfIndex -1\n", &file, &error), CR_ERR_SYNTAX);
}

typedef struct Bad {
    const char* text;
    const char* format;
    crStatus status;
    const char* field;
    int line, column;
} Bad;

TEST(bad_text_is_refused_with_its_place) {
    const Bad bad[] = {
        {"", "siconos-lcp", CR_ERR_MISSING, "n", 1, 1},
        {"x", "siconos-lcp", CR_ERR_SYNTAX, "n", 1, 1},
        {"-3\n0", "siconos-lcp", CR_ERR_RANGE, "n", 1, 1},
        {"2.5", "siconos-lcp", CR_ERR_RANGE, "n", 1, 1},
        {"2\n7\n2\n2", "siconos-lcp", CR_ERR_RANGE, "storage", 2, 1},
        {"2\n2\n2\n2", "siconos-lcp", CR_ERR_MISSING, "sparse form", 4, 2},
        {"2\n2\n2\n2\n5", "siconos-lcp", CR_ERR_RANGE, "sparse form", 5, 1},
        {"2\n2\n2\n2\n1\nMatrix", "siconos-lcp", CR_ERR_SYNTAX, "M", 6, 1},
        {"2\n2\n2\n2\n1\nCSparse 3\ntriplet: 2-by-3, nzmax: 1 nnz: 1", "siconos-lcp", CR_ERR_SIZE, "M", 7,
         10},
        {"2\n2\n2\n2\n1\nCSparse 3\n2-by-2, nzmax: 1 nnz: 1, 1-norm: 1", "siconos-lcp", CR_ERR_SYNTAX, "M", 7,
         1},
        {"2\n2\n2\n2\n1\nCSparse 3\ntriplet: 2-by-2, nzmax: 1 nnz: 2\n", "siconos-lcp", CR_ERR_SYNTAX, "M", 7,
         32},
        {"2\n2\n2\n2\n1\nCSparse 3\ntriplet: 2-by-2, nzmax: 900000 nnz: 900000\n 0 0 : 1", "siconos-lcp",
         CR_ERR_SIZE, "M", 7, 37},
        {"2\n2\n2\n2\n1\nCSparse 3\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n 0 2 : 1", "siconos-lcp", CR_ERR_RANGE,
         "M", 8, 4},
        {"2\n2\n2\n2\n1\nCSparse 3\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n 0 1 : nan", "siconos-lcp",
         CR_ERR_FINITE, "M", 8, 8},
        {"2\n2\n2\n2\n2\nCSparse 3\n2-by-2, nzmax: 2 nnz: 1, 1-norm: 1\n col 0 : locations 1 to 1\n 0 : 1",
         "siconos-lcp", CR_ERR_RANGE, "locations", 8, 20},
        {"2\n2\n2\n2\n2\nCSparse 3\n2-by-2, nzmax: 2 nnz: 1, 1-norm: 1\n col 0 : locations 0 to 5\n 0 : 1",
         "siconos-lcp", CR_ERR_RANGE, "locations", 8, 25},
        {"2\n2\n2\n2\n2\nCSparse 3\n2-by-2, nzmax: 2 nnz: 1, 1-norm: 1\n col 0 : locations 0 to -1\n col 1 : "
         "locations 0 to "
         "-1\n",
         "siconos-lcp", CR_ERR_SYNTAX, "M", 9, 25},
        {"2\n0\n2\n2\n2 2\n1 nan 0 1\n1 1", "siconos-lcp", CR_ERR_FINITE, "M", 6, 3},
        {"2\n0\n2\n2\n2 2\n1 1e999 0 1\n1 1", "siconos-lcp", CR_ERR_FINITE, "M", 6, 3},
        {"2\n0\n2\n2\n2 2\n1 0 0 1\n1 ?", "siconos-lcp", CR_ERR_SYNTAX, "q", 7, 3},
        {"2\n0\n2\n2\n2 2\n1 0 0 1\n1", "siconos-lcp", CR_ERR_SIZE, "q", 6, 7},
        {"2\n0\n3\n3\n3 3\n1 0 0 0 1 0 0 0 1 1 1", "siconos-lcp", CR_ERR_SIZE, "M", 6, 17},
        {"900000\n0\n900000\n900000\n900000 900000\n1", "siconos-lcp", CR_ERR_SIZE, "M", 5, 8},
        {"900000\n1\n900000\n900000\n1\n1\n1\n", "siconos-lcp", CR_ERR_SIZE, "M", 4, 1},
        {"900000\n1", "siconos-lcp-rows", CR_ERR_SIZE, "M", 1, 1},
        {"99999999999\n1", "siconos-lcp-rows", CR_ERR_RANGE, "n", 1, 1},
        {"1\n0\n1\n1\n1 0 0", "siconos-lcp", CR_ERR_RANGE, "cols", 5, 3},
        {"1\n1\n1\n1\n0 2\n7", "siconos-mlcp", CR_ERR_RANGE, "block kind", 6, 1},
        {"1\n1\n400000\n1\n0 2\n0 1", "siconos-mlcp", CR_ERR_SIZE, "blocks", 4, 1},
        {"problem a n 900000\nA 1", "boxed-lcp", CR_ERR_SIZE, "A", 1, 13},
        {"problem a n 1\nB 1 1 1 1", "boxed-lcp", CR_ERR_SYNTAX, "A", 2, 1},
        {"nonsense", "boxed-lcp", CR_ERR_SYNTAX, "problem", 1, 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        crProblemFile file;
        crError error = {0};
        crStatus status =
            cr_problem_parse(bad[i].text, strlen(bad[i].text), bad[i].format, NULL, NULL, &file, &error);
        bool ok = status == bad[i].status && strcmp(error.field, bad[i].field) == 0 &&
                  error.line == bad[i].line && error.column == bad[i].column;
        test_check(ok, __FILE__, __LINE__, "case %zu: %s, field \"%s\", line %d, column %d: %s", i,
                   cr_status_name(status), error.field, error.line, error.column, error.message);
    }
    crProblemFile file;
    CHECK_STATUS(cr_problem_parse("1", 1, "no-such-format", NULL, NULL, &file, NULL), CR_ERR_NAME);
    CHECK_STATUS(cr_problem_read("/nowhere/at/all", NULL, &file, NULL), CR_ERR_FILE);
}

// every beginning of a good text, and every good text with one byte changed, ends in a problem or a refusal
TEST(cut_and_damaged_text_never_harms) {
    const char* texts[] = {lcp_text, block_text, rows_text, mlcp_text, boxed_text};
    const char damage[] = {' ', '-', '9', 'e', '.', '\0', '#', (char)0xff};
    int refused = 0, read = 0;
    for (size_t t = 0; t < 5; t++) {
        size_t size = strlen(texts[t]);
        char* copy = malloc(size);
        for (size_t k = 0; k < size; k++) {
            crProblemFile file;
            // a block of its exact size, so that reading past it is seen
            char* cut = malloc(k + 1);
            memcpy(cut, texts[t], k);
            crStatus status = cr_problem_parse(cut, k, NULL, NULL, NULL, &file, NULL);
            refused += status != CR_OK;
            read += status == CR_OK;
            cr_problem_file_free(&file);
            free(cut);
            for (size_t d = 0; d < sizeof damage; d++) {
                memcpy(copy, texts[t], size);
                copy[k] = damage[d];
                status = cr_problem_parse(copy, size, NULL, NULL, NULL, &file, NULL);
                refused += status != CR_OK;
                read += status == CR_OK;
                cr_problem_file_free(&file);
            }
        }
        free(copy);
    }
    printf("  %d refused, %d read\n", refused, read);
    CHECK(refused > 0 && read > 0);
}

// the guess sends friction problems to their own formats
TEST(friction_files_are_not_taken_for_lcps) {
    crProblemFile file;
    crError error = {0};
    const char fc[] = "3\n1\n0\n3\n3\n3 3\n1 0 0 0 1 0 0 0 1\n-1 0 0\n0.5\n";
    crStatus status = parse(fc, &file, &error);
    CHECK(status == CR_ERR_NAME || (status == CR_OK && file.problem.blocks[0].kind == CR_BLOCK_CONE));
    if (status == CR_OK) cr_problem_file_free(&file);
}
