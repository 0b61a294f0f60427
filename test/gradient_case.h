// gradient_case.h - what the tests of gradients share: differences in long double, random cases.
#ifndef CAROM_TEST_GRADIENT_CASE_H
#define CAROM_TEST_GRADIENT_CASE_H

#include "sample.h"
#include "test.h"
#include "wide_laws.h"

static inline double scale_of(const crCollision* c, const crLawParams* params, int k) {
    double trace = c->W.m[0][0] + c->W.m[1][1] + c->W.m[2][2];
    if (k <= CR_BY_WZZ) return trace / 3.0;
    if (k <= CR_BY_VZ) return cr_norm(c->V);
    if (k >= CR_BY_WISH_X && k <= CR_BY_WISH_Z) return fmax(cr_norm(params->wish), cr_norm(c->V) / trace);
    return 1.0;
}

// The case as wide_laws.h has it.
static inline WideCase wide_case(const char* name, const crCollision* c, const crLawParams* p) {
    const crMat3* W = &c->W;
    WideCase wide = {.law = name, .ending = (int)p->ending, .directions = p->directions};
    const double all[WIDE_INPUTS] = {
        W->m[0][0], W->m[0][1], W->m[0][2], W->m[1][1], W->m[1][2], W->m[2][2], c->V.x, c->V.y, c->V.z,
        c->n.x,     c->n.y,     c->n.z,     c->mu,      c->e,       c->et,      p->nu,  p->mu2, p->mu3,
        p->psi1,    p->psi2,    p->rho,     p->wish.x,  p->wish.y,  p->wish.z,  p->eta2};
    for (int i = 0; i < WIDE_INPUTS; i++)
        wide.input[i] = all[i];
    return wide;
}

// Differences in long double. side -1, +1: one-sided; 0: central. Extrapolated from steps h, h/2 and h/4; spread is what the
// extrapolations from h, h/2 and from h/2, h/4 differ by in P.
static inline bool difference_spread(const char* name, const crCollision* c, const crLawParams* params, int k,
                                     int side, double h, crVec3* P, crVec3* V, double* spread) {
    long double D[3][6];
    for (int i = 0; i < 3; i++) {
        long double step = (long double)h / (1 << i), at[2][6];
        for (int j = 0; j < 2; j++) {
            WideCase there = wide_case(name, c, params);
            // ends of the difference: -1 0, -1 1 or 0 1
            there.input[k] += j == 0 ? (side > 0 ? 0.0L : -step) : (side < 0 ? 0.0L : step);
            if (!wide_law(&there, at[j], at[j] + 3)) return false;
        }
        for (int n = 0; n < 6; n++)
            D[i][n] = (at[1][n] - at[0][n]) / (side == 0 ? 2.0L * step : step);
    }
    long double power = 1.0L;
    for (int j = 1; j < 3; j++) {
        power *= side == 0 ? 4.0L : 2.0L;
        for (int i = 2; i >= j; i--) {
            for (int n = 0; n < 6; n++)
                D[i][n] += (D[i][n] - D[i - 1][n]) / (power - 1.0L);
        }
        if (j == 1) {
            *spread = (double)sqrtl((D[2][0] - D[1][0]) * (D[2][0] - D[1][0]) +
                                    (D[2][1] - D[1][1]) * (D[2][1] - D[1][1]) +
                                    (D[2][2] - D[1][2]) * (D[2][2] - D[1][2]));
        }
    }
    *P = cr_vec3((double)D[2][0], (double)D[2][1], (double)D[2][2]);
    *V = cr_vec3((double)D[2][3], (double)D[2][4], (double)D[2][5]);
    return true;
}

static inline bool difference(const char* name, const crCollision* c, const crLawParams* params, int k,
                              int side, double h, crVec3* P, crVec3* V) {
    double spread;
    return difference_spread(name, c, params, k, side, h, P, V, &spread);
}

static inline crLawParams sample_params(crRandom* random) {
    crLawParams params = cr_law_params();
    params.nu = sample_uniform(random, 0.1, 0.9);
    params.mu2 = sample_uniform(random, -0.05, 0.05);
    params.mu3 = sample_uniform(random, -0.05, 0.05);
    params.psi1 = sample_uniform(random, 0.3, 2.8);
    params.psi2 = sample_uniform(random, 0.3, 6.0);
    params.rho = sample_uniform(random, 0.1, 0.9);
    params.wish = cr_scale(0.1, sample_direction(random));
    params.eta2 = sample_uniform(random, 0.8, 2.0);
    params.ending = (crEnding)(sample_bits(random) % 3);
    return params;
}

// A collision inside the laws' ranges, with W well conditioned.
static inline crCollision sample_regular(crRandom* random, crSampleKind kind) {
    for (;;) {
        crCollision c = sample_collision(random, kind);
        double values[3];
        crMat3 axes;
        cr_sym3_eigen(cr_mat3_symmetric(c.W), values, &axes);
        c.e = sample_uniform(random, 0.1, 0.9);
        c.et = sample_uniform(random, 0.05, 0.9);
        c.mu = sample_uniform(random, 0.1, 1.5);
        if (values[0] > 0.02 * values[2]) return c;
    }
}

// A two-dimensional one: W knows nothing of z.
static inline crCollision sample_flat(crRandom* random) {
    crCollision c = cr_collision();
    double a = sample_uniform(random, 0.5, 2.0), b = sample_uniform(random, 0.5, 2.0);
    double off = sample_uniform(random, -0.6, 0.6) * sqrt(a * b);
    c.W = (crMat3){{{a, off, 0}, {off, b, 0}, {0, 0, 0}}};
    double angle = sample_uniform(random, -CR_PI, CR_PI), slip = sample_uniform(random, -1.5, 1.5);
    c.n = cr_vec3(cos(angle), sin(angle), 0.0);
    crVec3 t = cr_vec3(-c.n.y, c.n.x, 0.0);
    c.V = cr_madd(cr_scale(-sample_uniform(random, 0.3, 2.0), c.n), slip, t);
    c.mu = sample_uniform(random, 0.1, 1.2);
    c.e = sample_uniform(random, 0.1, 0.9);
    c.et = sample_uniform(random, 0.05, 0.9);
    return c;
}

// true where a law's own domain lets the input change: bilinear needs W diagonal, pfeiffer-glocker a plane
static inline bool may_change(const char* name, const crCollision* c, int k) {
    bool flat = c->W.m[2][2] == 0.0;
    bool out_of_plane = k == CR_BY_WXZ || k == CR_BY_WYZ || k == CR_BY_WZZ || k == CR_BY_VZ || k == CR_BY_NZ;
    if (flat && out_of_plane) return false;
    if (strcmp(name, "bilinear") == 0) return k >= CR_BY_MU || (k >= CR_BY_VX && k <= CR_BY_VZ);
    if (strcmp(name, "pfeiffer-glocker") == 0) return k >= CR_BY_MU || flat;
    return true;
}

#endif
