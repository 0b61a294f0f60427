// problem_file.c - the memory of a problem that was read. Fails: nothing.
#include "io/problem.h"

void cr_problem_file_free(crProblemFile* file) {
    if (file == NULL) return;
    cr_arena_destroy(&file->arena);
    *file = (crProblemFile){0};
}
