// problem_json_write.c - a problem as carom's own JSON; reading it back gives the same bits.
//
// A matrix is written in full or as entries, whichever has fewer values; J and M (or Minv) where they are
// given, else W. Fails: limit, where the text would be longer than the reader takes.
#include "io/json.h"
#include "io/problem.h"

#include <stdlib.h>
#include <string.h>

// exact zeros are left out of the entries
static size_t entries_of(const crMatrix* A) {
    size_t count = 0;
    size_t stored = A->start != NULL ? (size_t)A->start[A->rows] : (size_t)A->rows * (size_t)A->cols;
    for (size_t k = 0; k < stored; k++) {
        count += A->value[k] != 0.0;
    }
    return count;
}

static void put_vector(FILE* file, const double* x, int count) {
    putc('[', file);
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(", ", file);
        cr_json_write_number(file, x[i]);
    }
    putc(']', file);
}

static void put_entries(FILE* file, const crMatrix* A) {
    fprintf(file, "{\"rows\": %d, \"cols\": %d, \"entries\": [", A->rows, A->cols);
    bool first = true;
    for (int i = 0; i < A->rows; i++) {
        int begin = A->start == NULL ? 0 : A->start[i];
        int end = A->start == NULL ? A->cols : A->start[i + 1];
        for (int k = begin; k < end; k++) {
            double value = A->start == NULL ? cr_matrix_at(A, i, k) : A->value[k];
            if (value == 0.0) continue;
            fprintf(file, "%s\n        [%d, %d, ", first ? "" : ",", i, A->start == NULL ? k : A->col[k]);
            cr_json_write_number(file, value);
            putc(']', file);
            first = false;
        }
    }
    fputs("]}", file);
}

// returns how many JSON values it took
static size_t put_matrix(FILE* file, const char* key, const crMatrix* A) {
    size_t full = ((size_t)A->cols + 1) * (size_t)A->rows + 1;
    size_t sparse = 4 * entries_of(A) + 4;
    fprintf(file, ",\n    \"%s\": ", key);
    if (sparse < full) {
        put_entries(file, A);
        return sparse;
    }
    putc('[', file);
    for (int i = 0; i < A->rows; i++) {
        fputs(i > 0 ? ",\n        [" : "\n        [", file);
        for (int j = 0; j < A->cols; j++) {
            if (j > 0) fputs(", ", file);
            cr_json_write_number(file, cr_matrix_at(A, i, j));
        }
        putc(']', file);
    }
    putc(']', file);
    return full;
}

static void put_number(FILE* file, const char* key, double value) {
    fprintf(file, ", \"%s\": ", key);
    cr_json_write_number(file, value);
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
            put_vector(file, problem->vertices[block->vertex + i], 2);
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
    put_vector(file, x, count);
}

// returns how many JSON values it took
static size_t put_problem(FILE* file, const crProblem* problem, const char* name, const double* p) {
    size_t values = 16 + 16 * (size_t)problem->block_count + 3 * (size_t)problem->rows + (size_t)problem->nv;
    fputs("{\n    \"carom_problem\": 1", file);
    if (name != NULL && name[0] != '\0') {
        fputs(",\n    \"name\": ", file);
        cr_json_write_string(file, name);
    }
    if (problem->raw) fputs(",\n    \"raw\": true", file);
    fputs(",\n    \"blocks\": [", file);
    for (int i = 0; i < problem->block_count; i++) {
        if (i > 0) putc(',', file);
        put_block(file, problem, &problem->blocks[i]);
        values += 3 * (size_t)problem->blocks[i].vertex_count;
    }
    putc(']', file);
    put_optional(file, "u_free", problem->u_free, problem->rows);
    put_optional(file, "b", problem->b, problem->rows);
    if (problem->J.value != NULL && problem->Minv.value != NULL) {
        values += put_matrix(file, "J", &problem->J);
        bool has_M = problem->M.value != NULL;
        values += put_matrix(file, has_M ? "M" : "Minv", has_M ? &problem->M : &problem->Minv);
        put_optional(file, "v", problem->v, problem->nv);
    } else {
        values += put_matrix(file, "W", &problem->W);
    }
    put_optional(file, "p", p, problem->rows);
    fputs("\n}\n", file);
    return values;
}

crStatus cr__write_problem_json(const char* path, const crProblem* problem, const char* name, const double* p,
                                crError* error) {
    char* text = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&text, &size);
    if (memory == NULL) return cr_error_set(error, CR_ERR_MEMORY, "dump", "dump: out of memory");
    size_t values = put_problem(memory, problem, name, p);
    bool written = fclose(memory) == 0;
    crStatus status = CR_OK;
    if (!written) {
        status = cr_error_set(error, CR_ERR_MEMORY, "dump", "dump: out of memory");
    } else if (values > CR_JSON_MAX_VALUES || size > CR_JSON_MAX_SIZE) {
        status = cr_error_set(error, CR_ERR_LIMIT, "dump",
                              "dump: too large for JSON (%zu values, %zu bytes); write .hdf5", values, size);
    } else {
        bool standard = strcmp(path, "-") == 0;
        FILE* file = standard ? stdout : fopen(path, "wb");
        written = file != NULL && fwrite(text, 1, size, file) == size;
        if (file != NULL && !standard) written = fclose(file) == 0 && written;
        if (!written)
            status = cr_error_set(error, CR_ERR_FILE, "dump", "dump: cannot write \"%.150s\"", path);
    }
    free(text);
    return status;
}
