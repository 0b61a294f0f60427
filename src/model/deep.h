// deep.h - trees with long paths: what inertia.c and half.c do by rows of M, without rows.
//
// Functions on a body are called for all bodies of a tree in order: down from the last to the first, up from
// the first to the last.
#ifndef CAROM_MODEL_DEEP_H
#define CAROM_MODEL_DEEP_H

#include "model/spatial.h"

#define CR__PIVOT_NOISE 1e-14  // of its entry of M: less is no pivot
#define CR__DEEP        48     // velocities on a path; trees with longer ones are deep

static inline bool cr__is_deep(const crModel* model, int body) {
    return model->bodies[model->bodies[body].root].deep;
}

bool cr__deep_create(crArena* arena, int bodies, struct crArticulated** all);  // false when memory is out

// Factor: begin up (false: the tree is not deep), factor down; false where a pivot is noise.
bool cr__deep_begin(const crModel* model, int b, crDynamics* d);
bool cr__deep_factor(const crModel* model, int b, crDynamics* d);

// x = M^-1 x: clear, down, up.
void cr__deep_clear(const crModel* model, int b, const crDynamics* d);  // nothing where the tree is not deep
void cr__deep_solve_down(const crModel* model, int b, const crDynamics* d, double* x);
void cr__deep_solve_up(const crModel* model, int b, const crDynamics* d, double* x);

// y = M x: up, down.
void cr__deep_mul_up(const crModel* model, int b, const crDynamics* d, const double* x);
void cr__deep_mul_down(const crModel* model, int b, const crDynamics* d, const double* x, double* y);
double cr__deep_entry(const crModel* model, const crDynamics* d, int i, int j);  // of M; j is i or above it

// x L = row, scaled by D^-1/2: along one path, x by depth; or one velocity after all below it, x by velocity
// and the bodies cleared before.
void cr__deep_path_half(const crDynamics* d, const int* chain, int count, double* x);
void cr__deep_half(const crModel* model, const crDynamics* d, int i, double* x);
void cr__deep_velocities(const crModel* model, const crDynamics* d, int b, const double* v,
                         double* z);  // D^1/2 L v

#endif
