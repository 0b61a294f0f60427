// problem_parts.h - one reader and one writer per format of problem files.
#ifndef CAROM_IO_PROBLEM_PARTS_H
#define CAROM_IO_PROBLEM_PARTS_H

#include "io/problem.h"

// One reader per format; out comes zeroed but for an empty arena, and name for the one to pick ("" for the
// first).
typedef crStatus (*crProblemReader)(const char* text, size_t size, crProblemFile* out, crError* error);
crStatus cr__read_siconos_lcp(const char* text, size_t size, crProblemFile* out, crError* error);
crStatus cr__read_siconos_lcp_rows(const char* text, size_t size, crProblemFile* out, crError* error);
crStatus cr__read_siconos_mlcp(const char* text, size_t size, crProblemFile* out, crError* error);
crStatus cr__read_boxed_lcp(const char* text, size_t size, crProblemFile* out, crError* error);
crStatus cr__read_siconos_fc(const char* text, size_t size, crProblemFile* out, crError* error);
crStatus cr__read_siconos_gfc(const char* text, size_t size, crProblemFile* out, crError* error);
crStatus cr__read_siconos_grfc(const char* text, size_t size, crProblemFile* out, crError* error);
crStatus cr__read_siconos_rfc(const char* text, size_t size, crProblemFile* out, crError* error);
crStatus cr__read_contactbench(const char* text, size_t size, crProblemFile* out, crError* error);
crStatus cr__read_problem_json(const char* text, size_t size, crProblemFile* out, crError* error);
crStatus cr__read_fclib(const char* text, size_t size, crProblemFile* out, crError* error);

// Whether a friction problem of 3 rows per contact (at least two of them) is followed by exactly one more number
// per contact: Siconos' planar problems with rolling friction.
bool cr__siconos_rolls_planar(const char* text, size_t size);

// One writer per format that is written.
crStatus cr__write_problem_json(const char* path, const crProblemFile* file, crError* error);
crStatus cr__write_fclib(const char* path, const crProblemFile* file, crError* error);

#endif
