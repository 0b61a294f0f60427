// fuzz_problem.c - any bytes as a problem file of any text format: refused with a position, or a problem
// that passes its check, whose audit of p = 0 is no NaN, and which comes back the same from its own dump.
//
// A first byte below 16 picks the format; otherwise it is guessed. HDF5 is left to fuzz_fclib.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/problem_parts.h"

static void demand(bool condition) {
    if (!condition) abort();
}

static void check_audit(const crProblem* problem) {
    crArena arena;
    demand(cr_arena_create(&arena, NULL, 0) == CR_OK);
    double* p = cr_arena_alloc(&arena, ((size_t)problem->rows + 1) * sizeof(double));
    demand(p != NULL);
    memset(p, 0, ((size_t)problem->rows + 1) * sizeof(double));
    crAudit audit;
    demand(cr_problem_audit(problem, &arena, p, &audit) == CR_OK);
    demand(!isnan(audit.residual) && !isnan(audit.energy_change) && audit.residual >= 0.0);
    cr_arena_destroy(&arena);
}

static void check_dump(const crProblemFile* file) {
    static const char path[] = "/tmp/carom-fuzz-problem.json";
    crError error = {0};
    crStatus status = cr__write_problem_json(path, file, &error);
    demand(status == CR_OK);
    crProblemFile again;
    demand(cr_problem_read(path, NULL, &again, &error) == CR_OK);
    const crProblem* a = &file->problem;
    const crProblem* b = &again.problem;
    demand(a->rows == b->rows && a->block_count == b->block_count && a->raw == b->raw);
    for (int i = 0; i < a->rows; i++) {
        demand(a->u_free[i] == b->u_free[i]);
    }
    cr_problem_file_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    const char* format = data[0] < 16 ? cr_problem_format(data[0]) : NULL;
    const char* text = (const char*)data + (data[0] < 16 ? 1 : 0);
    size -= data[0] < 16 ? 1 : 0;
    if (format != NULL && strcmp(format, "fclib") == 0) return 0;
    if (size >= 4 && memcmp(text, "\x89HDF", 4) == 0) return 0;
    crProblemFile file;
    crError error = {0};
    if (cr_problem_parse(text, size, format, NULL, NULL, &file, &error) != CR_OK) {
        demand(error.status != CR_OK && error.message[0] != '\0');
        return 0;
    }
    demand(cr_problem_check(&file.problem, NULL) == CR_OK);
    check_audit(&file.problem);
    check_dump(&file);
    cr_problem_file_free(&file);
    return 0;
}
