// problem_json_write.c - a problem as carom's own JSON; reading it back gives the same bits.
//
// Matrices keep their form: a dense one is a list of rows, a compressed one is written as it is stored, or as its
// blocks where they are full and lie along the diagonal. J and M (or Minv) are written where they are given, else
// W. Fails: file, where it cannot be written.
#include "io/json.h"
#include "io/problem_parts.h"

// with the sign of zero, which cr_json_write_number drops
static void put(FILE* file, double x) {
    if (x == 0.0) {
        fputs(signbit(x) ? "-0" : "0", file);
    } else {
        cr_json_write_number(file, x);
    }
}

static void put_vector_json_write(FILE* file, const double* x, int count) {
    putc('[', file);
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(", ", file);
        put(file, x[i]);
    }
    putc(']', file);
}

static void put_indices(FILE* file, const char* key, const int* index, int count) {
    fprintf(file, ",\n        \"%s\": [", key);
    for (int i = 0; i < count; i++) {
        fprintf(file, "%s%d", i > 0 ? ", " : "", index[i]);
    }
    putc(']', file);
}

// Rows of the full block that begins at row i: each of them has exactly the columns i to i + size - 1. 0 where
// there is none.
static int full_block(const crMatrix* A, int i) {
    int size = A->start[i + 1] - A->start[i];
    if (size > A->rows - i) return 0;
    for (int r = i; r < i + size; r++) {
        int first = A->start[r];
        bool full =
            A->start[r + 1] - first == size && A->col[first] == i && A->col[first + size - 1] == i + size - 1;
        if (!full) return 0;
    }
    return size;
}

// true if a square matrix is nothing but full blocks along its diagonal
static bool block_diagonal(const crMatrix* A) {
    if (A->start == NULL || A->rows != A->cols || A->rows == 0) return false;
    for (int i = 0; i < A->rows;) {
        int size = full_block(A, i);
        if (size == 0) return false;
        i += size;
    }
    return true;
}

static void put_blocks(FILE* file, const crMatrix* A) {
    fputs("{\"diagonal\": [", file);
    for (int i = 0; i < A->rows;) {
        int size = full_block(A, i);
        fputs(i > 0 ? ",\n        " : "\n        ", file);
        if (size == 1) {
            put(file, A->value[A->start[i]]);
        } else {
            putc('[', file);
            for (int r = i; r < i + size; r++) {
                if (r > i) fputs(", ", file);
                put_vector_json_write(file, A->value + A->start[r], size);
            }
            putc(']', file);
        }
        i += size;
    }
    fputs("]}", file);
}

static void put_rows_json_write(FILE* file, const crMatrix* A) {
    fprintf(file, "{\"rows\": %d, \"cols\": %d", A->rows, A->cols);
    put_indices(file, "start", A->start, A->rows + 1);
    put_indices(file, "col", A->col, A->start[A->rows]);
    fputs(",\n        \"value\": ", file);
    put_vector_json_write(file, A->value, A->start[A->rows]);
    putc('}', file);
}

static void put_matrix(FILE* file, const char* key, const crMatrix* A) {
    fprintf(file, ",\n    \"%s\": ", key);
    if (block_diagonal(A)) {
        put_blocks(file, A);
        return;
    }
    // a list of no rows does not say how many columns there are
    if (A->start != NULL || (A->rows == 0 && A->cols > 0)) {
        static const int none[1] = {0};
        crMatrix rows = *A;
        if (A->start == NULL) rows.start = rows.col = none;
        put_rows_json_write(file, &rows);
        return;
    }
    putc('[', file);
    for (int i = 0; i < A->rows; i++) {
        fputs(i > 0 ? ",\n        " : "\n        ", file);
        put_vector_json_write(file, A->value + (size_t)i * (size_t)A->cols, A->cols);
    }
    putc(']', file);
}

static void put_number(FILE* file, const char* key, double value) {
    fprintf(file, ", \"%s\": ", key);
    put(file, value);
}

static void put_block(FILE* file, const crProblem* problem, const crBlock* block) {
    static const char* const kinds[] = {"equality", "unilateral", "box", "cone"};
    fprintf(file, "\n        {\"kind\": \"%s\", \"rows\": %d", kinds[block->kind], block->count);
    if (block->kind == CR_BLOCK_CONE) {
        put_number(file, "mu", block->mu);
        if (block->mu2 != block->mu) put_number(file, "mu2", block->mu2);
        if (block->spin) put_number(file, "spin", block->mu_spin);
        if (block->roll) put_number(file, "roll", block->mu_roll);
        if (block->vertex_count > 0) fputs(", \"polygon\": [", file);
        for (int i = 0; i < block->vertex_count; i++) {
            if (i > 0) fputs(", ", file);
            put_vector_json_write(file, problem->vertices[block->vertex + i], 2);
        }
        if (block->vertex_count > 0) putc(']', file);
    }
    if (block->kind == CR_BLOCK_BOX) {
        put_number(file, "lo", block->lo);
        put_number(file, "hi", block->hi);
    }
    if (block->e != 0.0) put_number(file, "e", block->e);
    if (block->et != 0.0) put_number(file, "et", block->et);
    putc('}', file);
}

static void put_optional(FILE* file, const char* key, const double* x, int count) {
    if (x == NULL) return;
    fprintf(file, ",\n    \"%s\": ", key);
    put_vector_json_write(file, x, count);
}

static void put_problem_json_write(FILE* file, const crProblemFile* from) {
    const crProblem* problem = &from->problem;
    fputs("{\n    \"carom_problem\": 1", file);
    if (from->name[0] != '\0') {
        fputs(",\n    \"name\": ", file);
        cr_json_write_string(file, from->name);
    }
    if (problem->raw) fputs(",\n    \"raw\": true", file);
    if (from->h > 0.0) {
        fputs(",\n    \"h\": ", file);
        put(file, from->h);
    }
    fputs(",\n    \"blocks\": [", file);
    for (int i = 0; i < problem->block_count; i++) {
        if (i > 0) putc(',', file);
        put_block(file, problem, &problem->blocks[i]);
    }
    putc(']', file);
    put_optional(file, "u_free", problem->u_free, problem->rows);
    put_optional(file, "b", problem->b, problem->rows);
    if (problem->J.value != NULL && problem->Minv.value != NULL) {
        put_matrix(file, "J", &problem->J);
        bool has_M = problem->M.value != NULL;
        put_matrix(file, has_M ? "M" : "Minv", has_M ? &problem->M : &problem->Minv);
        put_optional(file, "v", problem->v, problem->nv);
    } else {
        put_matrix(file, "W", &problem->W);
    }
    put_optional(file, "p", from->p, problem->rows);
    fputs("\n}\n", file);
}

crStatus cr__write_problem_json(const char* path, const crProblemFile* from, crError* error) {
    FILE* file = fopen(path, "wb");
    bool written = file != NULL;
    if (file != NULL) {
        put_problem_json_write(file, from);
        written = ferror(file) == 0;
        written = fclose(file) == 0 && written;
    }
    return written ? CR_OK : cr_error_set(error, CR_ERR_FILE, "dump", "dump: cannot write \"%.150s\"", path);
}
