// problem_json.h - matrices and whole numbers of carom's own problem files.
#ifndef CAROM_IO_PROBLEM_JSON_H
#define CAROM_IO_PROBLEM_JSON_H

#include "io/fields.h"
#include "io/problem_parts.h"

#define CR_PROBLEM_MAX_ROWS 10000000  // of a problem or a sparse matrix

// A whole number from least to most.
crStatus cr__json_whole(const crJson* value, const char* field, int least, int most, int* number,
                        crError* error);

// A matrix in any of its forms, its arrays in the arena: dense from a list of rows, else by rows.
crStatus cr__json_matrix(const crJson* value, const char* field, crArena* arena, crMatrix* matrix,
                         crError* error);

#endif
