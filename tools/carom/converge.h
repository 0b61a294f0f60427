// converge.h - the same motion by steps of different length, and how far two of them are apart.
#ifndef CAROM_CONVERGE_H
#define CAROM_CONVERGE_H

#include "run.h"

// What a run was after each step: velocities, and coordinates that are their integrals.
typedef struct Path {
    int nv;
    size_t count, capacity;
    double* rows;  // time, v (nv), x (nv) of each (count*(1 + 2*nv))
} Path;

void path_free(Path* path);  // accepts a zeroed path
// Adds the world's present state. CR_ERR_MEMORY.
crStatus path_add(Path* path, crWorld* world);

// The path of a recorded trajectory of the same scene; the world is left at its last state. Fails: what reading
// a recording fails with, wrong-size or unknown-name where it has other bodies, memory.
crStatus path_read(Path* path, const char* file, crWorld* world, crError* error);

// Against a reference, over the time both cover: the integral of max |v - v_ref| with v constant on each
// step, and the largest |x - x_ref| at any time.
typedef struct PathError {
    double velocity, position;
} PathError;
PathError path_error(const Path* path, const Path* reference);
double path_variation(const Path* path);  // the largest total variation of a velocity

// A line of the table.
typedef struct ConvergeRow {
    double dt;
    PathError error;
    double variation;
    double order;  // of the position's error against the row before; NaN where there is none
    int steps, unsolved;
    double seconds;
    bool reference;
} ConvergeRow;

// order of each row against the one before it, and overall from the first to the last that is no reference
void converge_orders(ConvergeRow* rows, int count, double* overall);

#endif
