// change.h - changes of a state along the velocities of a model.
#ifndef CAROM_WRT_CHANGE_H
#define CAROM_WRT_CHANGE_H

#include "carom/world.h"

// q (nq) moved by t d, d along the velocities (nv). rate (nq) is room to work in.
void cr__change_move(const crModel* model, double t, const double* d, double* q, double* rate);
// The change along the velocities (nv) from q0 to q1, to first order of it. work (7 * nq + nv).
void cr__change_between(const crModel* model, const double* q0, const double* q1, double* d, double* work);
size_t cr__change_work(const crModel* model);
void cr__change_copy(const crModel* model, const crState* from, crState* to);

struct crWrt;
const crModel* cr__wrt_model(const struct crWrt* wrt);
int cr__wrt_params(const struct crWrt* wrt);

#endif
