// wrt_case.h - a step that is differentiated, and runs whose derivatives are compared with differences of steps.
#ifndef CAROM_TEST_WRT_CASE_H
#define CAROM_TEST_WRT_CASE_H

#include "carom/wrt.h"
#include "sample.h"
#include "world_scene.h"

typedef struct Case {
    crModel* model;
    crWrt* wrt;
    crArena arena;
    crState state;
    int nv, n;  // velocities, inputs
} Case;

// law: of the rule, NULL for its own
static inline Case begin_by(crModel* model, double dt, const char* rule, const crLaw* law, int params,
                            const crWrtParam* param) {
    Case c = {.model = model, .nv = model->nv, .n = 3 * model->nv + params};
    crWorldDef def = cr_world_def();
    crError error = {0};
    def.model = model;
    def.step.dt = dt;
    // the touch is found to within this: differences of steps see it
    def.step.cluster = 1e-12;
    if (law != NULL) def.step.law = *law;
    CHECK_STATUS(cr_rule_find(rule, NULL, &def.step.rule, NULL), CR_OK);
    CHECK_STATUS(cr_wrt_create(&def, &c.wrt, &error), CR_OK);
    if (params > 0) CHECK_STATUS(cr_wrt_params(c.wrt, params, param, &error), CR_OK);
    CHECK_STATUS(cr_arena_create(&c.arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_state_create(model, &c.arena, &c.state), CR_OK);
    return c;
}

static inline Case begin(crModel* model, double dt, const char* rule, int params, const crWrtParam* param) {
    return begin_by(model, dt, rule, NULL, params, param);
}

static inline void end(Case* c) {
    cr_arena_destroy(&c->arena);
    cr_wrt_destroy(c->wrt);
    cr_model_destroy(c->model);
}

enum { MOST = 40 };  // velocities

// J by rows; the verdict must be smooth, and the step not differenced
static inline void jacobian(Case* c, double* J, crWrtVerdict* verdict) {
    CHECK_STATUS(cr_wrt_jacobian(c->wrt, &c->state, J, verdict, NULL), CR_OK);
    CHECK(verdict->verdict == CR_SMOOTH);
    CHECK(!verdict->differenced);
    if (verdict->differenced) printf("  %s\n", verdict->why);
}

// the derivative along d by extrapolated central differences of the step itself, and its error
static inline bool differences(Case* c, const double* d, double* best, double* error) {
    enum { LEVELS = 6 };
    static double table[LEVELS][LEVELS][2 * MOST];
    crState x, y[2];
    size_t mark = cr_arena_mark(&c->arena);
    cr_state_create(c->model, &c->arena, &x);
    cr_state_create(c->model, &c->arena, &y[0]);
    cr_state_create(c->model, &c->arena, &y[1]);
    double t = 4e-3;
    *error = INFINITY;
    bool good = true;
    for (int i = 0; i < LEVELS && good; i++, t *= 0.5) {
        for (int side = 0; side < 2 && good; side++) {
            double by = side == 0 ? -t : t, rate[2 * MOST];
            memcpy(x.q, c->state.q, (size_t)c->model->nq * sizeof(double));
            cr_state_rate(c->model, x.q, d, rate);
            for (int k = 0; k < c->model->nq; k++)
                x.q[k] += by * rate[k];
            for (int k = 0; k < c->nv; k++) {
                x.v[k] = c->state.v[k] + by * d[c->nv + k];
                x.force[k] = c->state.force[k] + by * d[2 * c->nv + k];
            }
            // quaternions are the last four of a free joint
            for (int b = 1; b < c->model->nb; b++) {
                const crBody* body = &c->model->bodies[b];
                if (body->joint != CR_JOINT_FREE) continue;
                double* q = x.q + body->q + 3;
                double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
                for (int k = 0; k < 4; k++)
                    q[k] /= length;
            }
            good = cr_wrt_step(c->wrt, &x, &y[side], NULL) == CR_OK;
        }
        // free bodies: of q the position of the centre alone is compared, which is the origin here
        for (int k = 0; k < c->nv && good; k++) {
            table[i][0][c->nv + k] = (y[1].v[k] - y[0].v[k]) / (2.0 * t);
        }
        for (int b = 1; b < c->model->nb && good; b++) {
            const crBody* body = &c->model->bodies[b];
            int count = body->joint == CR_JOINT_FREE ? 3 : body->nv;
            for (int k = 0; k < count; k++)
                table[i][0][body->v + k] = (y[1].q[body->q + k] - y[0].q[body->q + k]) / (2.0 * t);
        }
        double power = 4.0;
        for (int j = 1; j <= i; j++, power *= 4.0) {
            double off = 0.0;
            for (int k = 0; k < 2 * c->nv; k++) {
                table[i][j][k] =
                    table[i][j - 1][k] + (table[i][j - 1][k] - table[i - 1][j - 1][k]) / (power - 1.0);
                off = fmax(off, fabs(table[i][j][k] - table[i][j - 1][k]));
                off = fmax(off, fabs(table[i][j][k] - table[i - 1][j - 1][k]));
            }
            if (off < *error) {
                *error = off;
                memcpy(best, table[i][j], (size_t)(2 * c->nv) * sizeof *best);
            }
        }
    }
    cr_arena_release(&c->arena, mark);
    return good;
}

// turns of free bodies are not compared by positions
static inline double difference_of(const Case* c, const double* a, const double* b, double* size) {
    double off = 0.0;
    *size = 0.0;
    for (int body = 1; body < c->model->nb; body++) {
        const crBody* own = &c->model->bodies[body];
        for (int k = 0; k < own->nv; k++) {
            bool turn = own->joint == CR_JOINT_FREE && k >= 3;
            int at = own->v + k;
            if (!turn) off = fmax(off, fabs(a[at] - b[at]));
            off = fmax(off, fabs(a[c->nv + at] - b[c->nv + at]));
            *size = fmax(*size, fmax(turn ? 0.0 : fabs(b[at]), fabs(b[c->nv + at])));
        }
    }
    return off;
}

// many steps of a run: J d against differences where those are sure, and (J d).y = d.(J^T y). pressed: changes that keep gaps,
// in which the deadband of lasting contacts is no switch.
static inline void compare_run(Case* c, int steps, bool pressed, uint64_t seed, int least) {
    crRandom random = sample_seed(seed);
    int known = 0, compared = 0, impacts = 0;
    double worst = 0.0;
    for (int i = 0; i < steps; i++) {
        double d[3 * MOST], y[2 * MOST], a[2 * MOST], b[2 * MOST], back[3 * MOST], error;
        crWrtVerdict verdict;
        for (int k = 0; k < 3 * c->nv; k++)
            d[k] = sample_uniform(&random, -1.0, 1.0);
        for (int k = 0; k < c->nv && pressed; k++)
            d[k] = 0.0;
        for (int k = 0; k < 2 * c->nv; k++)
            y[k] = sample_uniform(&random, -1.0, 1.0);
        // impacts are foreseen by gravity alone: a force moves them by as much as the step's own error, h^2 f/m
        bool hits = false;
        crState next;
        size_t mark = cr_arena_mark(&c->arena);
        CHECK_STATUS(cr_state_create(c->model, &c->arena, &next), CR_OK);
        CHECK_STATUS(cr_wrt_step(c->wrt, &c->state, &next, NULL), CR_OK);
        for (int k = 0; k < c->nv; k++)
            hits = hits || fabs(next.v[k] - c->state.v[k]) > 0.2;
        for (int k = 2 * c->nv; hits && k < 3 * c->nv; k++)
            d[k] = 0.0;
        cr_arena_release(&c->arena, mark);
        crStatus status = cr_wrt_apply(c->wrt, &c->state, d, NULL, a, &verdict, NULL);
        if (status == CR_OK && verdict.verdict == CR_SMOOTH && !verdict.differenced) {
            known++;
            CHECK_STATUS(cr_wrt_back(c->wrt, &c->state, y, back, &verdict, NULL), CR_OK);
            double forward = 0.0, backward = 0.0, size = 0.0, scale;
            for (int k = 0; k < 2 * c->nv; k++)
                forward += a[k] * y[k];
            for (int k = 0; k < 3 * c->nv; k++) {
                backward += back[k] * d[k];
                size += fabs(back[k] * d[k]);
            }
            CHECK_NEAR(forward, backward, 2e-8 * size);
            // differences must not reach a switch
            if ((pressed || verdict.distance > 0.05) && differences(c, d, b, &error)) {
                double off = difference_of(c, a, b, &scale);
                if (error < 1e-8 * scale) {
                    compared++;
                    worst = fmax(worst, off / scale);
                    CHECK(off <= 1e-7 * scale);
                }
            }
        }
        CHECK_STATUS(cr_wrt_step(c->wrt, &c->state, &c->state, NULL), CR_OK);
        impacts += hits;
    }
    printf("  %d of %d steps along tapes, %d change speeds by .2 or more; %d compared with differences, "
           "worst %.1e\n",
           known, steps, impacts, compared, worst);
    CHECK(compared >= least);
}

#endif
