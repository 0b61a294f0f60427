// problem.h - contact problems from files into a crProblem that owns its memory, and back.
//
// Formats: "json" (carom's own, docs/problem-files.md), "siconos-lcp" (matrices by columns),
// "siconos-lcp-rows" (n, matrix by rows, q), "siconos-mlcp", "boxed-lcp" (ODE's form with friction indices,
// many problems per file), "siconos-fc", "siconos-gfc", "siconos-rfc", "siconos-grfc", "contactbench", "fclib" (HDF5).
// Readers are pure functions of (text, size); sizes are checked against the length of the text before
// anything is allocated, and every refusal of a text has line and column. "json" and "fclib" are written
// too.
#ifndef CAROM_IO_PROBLEM_H
#define CAROM_IO_PROBLEM_H

#include "carom/carom.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct crProblemFile {
    crProblem problem;   // its arrays live in the arena
    crArena arena;       // cr_problem_file_free frees it
    const char* format;  // name of the format it was read as
    char name[48];       // of the problem inside the file, "" where it has none
    int count;           // problems in the file
    const double* p;     // an answer to be judged, or NULL (rows)
    double h;            // length of the step that posed it, 0 where the file does not say, s
    // What was done to a symmetric matrix of the file before it was used; matrix "" where nothing was.
    struct {
        char matrix[4];        // "W" or "M"
        const char* triangle;  // "lower" or "upper" where only that one is stored, and was mirrored; or NULL
        crSkew skew;           // else: how unsymmetric it was; its symmetric part is used
    } mended;
} crProblemFile;

#define CR_PROBLEM_MAX_SIZE ((size_t)1 << 30)  // bytes of a file

// Names of the formats; NULL out of range.
CR_API const char* cr_problem_format(int index);

// format NULL: guessed from the text. path may end in "#NAME" to pick a problem of a file with many; without
// it the first is taken. path "-" is standard input. Fails: file, limit, memory, unknown-name (format, or HDF5 in a
// carom built without), and what the reader of the format and cr_problem_check refuse; out needs no free then.
CR_API crStatus cr_problem_read(const char* path, const char* format, crProblemFile* out, crError* error);

// The same from text; name may be NULL, hint (may be NULL) is a file name that may help guessing.
CR_API crStatus cr_problem_parse(const char* text, size_t size, const char* format, const char* name,
                                 const char* hint, crProblemFile* out, crError* error);
CR_API void cr_problem_file_free(crProblemFile* file);  // accepts a zeroed one

// Writes problem, name, p and h. format "json" or "fclib"; NULL: by the end of path, .json or .hdf5 (.h5).
// fclib has no place for h. The arena of `file` may be zeroed. Fails: unknown-name (format), file, memory, and what
// cr_problem_check refuses.
CR_API crStatus cr_problem_write(const char* path, const char* format, const crProblemFile* file,
                                 crError* error);

#ifdef __cplusplus
}
#endif

#endif
