// verb_solve.h - what `carom solve` found and how it is printed.
#ifndef CAROM_VERB_SOLVE_H
#define CAROM_VERB_SOLVE_H

#include <stdio.h>

#include "io/problem.h"

// What one solver said: a report, or why not.
typedef struct Solution {
    const char* solver;
    crStatus status;
    crReport report;
    double seconds;
    double* p;  // impulses (rows)
    double* u;  // velocities with them (rows)
    crError error;
} Solution;

typedef struct Solved {
    const char* path;
    const crProblemFile* file;
    bool many;         // --all
    bool referenced;   // the file has a solution of its own
    double reference;  // its residual
    int count;
    const Solution* solutions;  // (count)
} Solved;

// One line of JSON.
void json_solved(FILE* file, const Solved* solved);
// A table with one row per solver.
void table_solved(FILE* file, const Solved* solved, bool color);

#endif
