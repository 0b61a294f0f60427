// rows.h - how rows of J are added, shared by contacts, loops and joints.
#ifndef CAROM_MODEL_ROWS_H
#define CAROM_MODEL_ROWS_H

#include "carom/dynamics.h"

// Two bodies and the world points on them whose relative velocity (or the bodies' relative omega) the rows
// are.
typedef struct crEnds {
    int a, b;
    crVec3 xa, xb;
    bool spin;
} crEnds;

// Room for count rows of `entries` each, w_hat and gap zero; the first row, or CR_ERR_LIMIT.
int cr__rows_begin(crRows* rows, int count, int entries);
// Along the first `count` columns of frame; the first row, or CR_ERR_LIMIT.
int cr__rows_add(const crModel* model, const crDynamics* d, const crEnds* ends, const crMat3* frame,
                 int count, crRows* rows);

// Largest |gap| of all rows; NaN if one is NaN.
double cr__rows_worst_gap(const crRows* rows);

// Product of two rows, whose columns ascend.
double cr__rows_product(const crRows* rows, int r, int s);

// p = -W^+ u of these rows, W = J M^-1 J^T with M as factored; rows may repeat or contradict each other.
crStatus cr__rows_counter(const crModel* model, const crDynamics* d, const crRows* rows, crArena* arena,
                          const double* u, double* p);

#endif
