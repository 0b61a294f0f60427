// impact_case.h - a hand-built impact: masses, contact rows, velocities before; run a rule, look at what is
// after.
#ifndef CAROM_IMPACT_CASE_H
#define CAROM_IMPACT_CASE_H

#include <stdlib.h>

#include "sample.h"
#include "test.h"

#define CASE_NV   64
#define CASE_ROWS 96

typedef struct Case {
    int nv, rows, blocks;
    double M[CASE_NV * CASE_NV];
    double J[CASE_ROWS * CASE_NV];
    double v[CASE_NV];
    double driven[CASE_ROWS];  // prescribed part of the velocities
    crBlock block[CASE_ROWS];
    // results
    double u[CASE_ROWS];  // before
    double p[CASE_ROWS];
    double v_plus[CASE_NV];
    double u_plus[CASE_ROWS];
    crRuleReport report;
    crError error;
    crArena arena;
    crProblem problem;
    double outcome_v[64][CASE_NV];
} Case;

// nv coordinates with a diagonal mass matrix
static inline Case* case_make(int nv, const double* masses) {
    Case* c = calloc(1, sizeof *c);
    crAllocator libc = cr_allocator_libc();
    c->nv = nv;
    for (int i = 0; i < nv; i++) {
        c->M[i * nv + i] = masses != NULL ? masses[i] : 1.0;
    }
    cr_arena_create(&c->arena, &libc, (size_t)1 << 16);
    return c;
}

static inline void case_free(Case* c) {
    cr_arena_destroy(&c->arena);
    free(c);
}

static inline crBlock* case_block(Case* c, crBlockKind kind, int count, const double* J) {
    crBlock* block = &c->block[c->blocks++];
    *block = cr_block(kind, c->rows, count);
    memcpy(c->J + c->rows * c->nv, J, (size_t)(count * c->nv) * sizeof(double));
    c->rows += count;
    return block;
}

static inline void case_contact(Case* c, const double* row, double e) {
    case_block(c, CR_BLOCK_UNILATERAL, 1, row)->e = e;
}

static inline void case_cone(Case* c, int count, const double* rows, double mu, double e, double et) {
    crBlock* block = case_block(c, CR_BLOCK_CONE, count, rows);
    block->mu = mu;
    block->mu2 = mu;
    block->e = e;
    block->et = et;
}

static inline void case_velocity(Case* c, const double* v) { memcpy(c->v, v, (size_t)c->nv * sizeof *v); }

// y = A x by rows
static inline void case_mul(const double* A, int rows, int cols, const double* x, double* y) {
    for (int i = 0; i < rows; i++) {
        y[i] = 0.0;
        for (int j = 0; j < cols; j++) {
            y[i] += A[i * cols + j] * x[j];
        }
    }
}

static inline crStatus case_run(Case* c, const crRule* rule) {
    cr_arena_reset(&c->arena);
    case_mul(c->J, c->rows, c->nv, c->v, c->u);
    for (int i = 0; i < c->rows; i++) {
        c->u[i] += c->driven[i];
    }
    crProblem* problem = &c->problem;
    *problem = (crProblem){.rows = c->rows, .block_count = c->blocks, .blocks = c->block, .nv = c->nv};
    problem->u_free = c->u;
    problem->v = c->v;
    problem->J = (crMatrix){c->rows, c->nv, NULL, NULL, c->J};
    problem->M = (crMatrix){c->nv, c->nv, NULL, NULL, c->M};
    crStatus status = cr_matrix_inverse(&problem->M, &c->arena, &problem->Minv, &c->error);
    if (status == CR_OK) {
        status = cr_rule_run(rule, problem, &c->arena, c->p, &c->report, &c->error);
    }
    if (status != CR_OK) return status;
    cr_problem_apply(problem, &c->arena, c->p, c->v_plus);
    cr_problem_velocity(problem, &c->arena, c->p, c->u_plus);
    for (int k = 0; k < c->report.outcome_count && k < 64 && c->report.outcome_p != NULL; k++) {
        cr_problem_apply(problem, &c->arena, c->report.outcome_p + k * c->rows, c->outcome_v[k]);
    }
    return CR_OK;
}

static inline double case_energy(const Case* c, const double* v) {
    double sum = 0.0;
    for (int i = 0; i < c->nv; i++) {
        for (int j = 0; j < c->nv; j++) {
            sum += 0.5 * v[i] * c->M[i * c->nv + j] * v[j];
        }
    }
    return sum;
}

// a row of balls on a line, ball i touching i + 1, the last one a wall where `wall` is set
static inline Case* case_balls(int n, const double* masses, double e, bool wall, const double* v) {
    Case* c = case_make(n, masses);
    for (int i = 0; i + 1 < n || (wall && i < n); i++) {
        double row[CASE_NV] = {0};
        row[i] = -1.0;
        if (i + 1 < n) row[i + 1] = 1.0;
        case_contact(c, row, e);
    }
    case_velocity(c, v);
    return c;
}

#define CHECK_V(c, tol, ...)                                       \
    do {                                                           \
        const double expected_[] = {__VA_ARGS__};                  \
        for (int i_ = 0; i_ < (int)(sizeof expected_ / 8); i_++) { \
            CHECK_NEAR((c)->v_plus[i_], expected_[i_], tol);       \
        }                                                          \
    } while (0)

#endif
