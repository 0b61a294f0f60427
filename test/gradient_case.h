// gradient_case.h - what the tests of gradients share: inputs changed one at a time, differences, random cases.
#ifndef CAROM_TEST_GRADIENT_CASE_H
#define CAROM_TEST_GRADIENT_CASE_H

#include "sample.h"
#include "test.h"

// Change input k of a collision by h, straight from the definition in resolve.h.
static inline void shift(crCollision* c, crLawParams* params, int k, double h) {
    static const int rows[] = {0, 0, 0, 1, 1, 2}, columns[] = {0, 1, 2, 1, 2, 2};
    double* const v[] = {&c->V.x,         &c->V.y,         &c->V.z,         &c->n.x,       &c->n.y,
                         &c->n.z,         &c->mu,          &c->e,           &c->et,        &params->nu,
                         &params->mu2,    &params->mu3,    &params->psi1,   &params->psi2, &params->rho,
                         &params->wish.x, &params->wish.y, &params->wish.z, &params->eta2};
    if (k <= CR_BY_WZZ) {
        c->W.m[rows[k]][columns[k]] += h;
        if (rows[k] != columns[k]) c->W.m[columns[k]][rows[k]] += h;
    } else {
        *v[k - CR_BY_VX] += h;
    }
    c->normalize = true;
}

static inline double scale_of(const crCollision* c, const crLawParams* params, int k) {
    double trace = c->W.m[0][0] + c->W.m[1][1] + c->W.m[2][2];
    if (k <= CR_BY_WZZ) return trace / 3.0;
    if (k <= CR_BY_VZ) return cr_norm(c->V);
    if (k >= CR_BY_WISH_X && k <= CR_BY_WISH_Z) return fmax(cr_norm(params->wish), cr_norm(c->V) / trace);
    return 1.0;
}

// side -1, +1: one-sided differences; 0: central. Extrapolated from steps h, h/2 and h/4.
static inline bool difference(const char* name, const crCollision* c, const crLawParams* params, int k,
                              int side, double h, crVec3* P, crVec3* V) {
    crVec3 D[2][4];
    for (int i = 0; i < 4; i++) {
        double step = h / (double)(1 << i);
        crHit hit[2];
        for (int j = 0; j < 2; j++) {
            crLawParams moved = *params;
            crCollision there = *c;
            crLaw law;
            // ends of the difference: -1 0, -1 1 or 0 1
            double at = j == 0 ? (side > 0 ? 0.0 : -step) : (side < 0 ? 0.0 : step);
            shift(&there, &moved, k, at);
            if (cr_law_find(name, &moved, &law, NULL) != CR_OK) return false;
            if (cr_law_apply(&law, &there, &hit[j], NULL) != CR_OK) return false;
        }
        double width = side == 0 ? 2.0 * step : step;
        D[0][i] = cr_scale(1.0 / width, cr_sub(hit[1].P, hit[0].P));
        D[1][i] = cr_scale(1.0 / width, cr_sub(hit[1].V_plus, hit[0].V_plus));
    }
    for (int q = 0; q < 2; q++) {
        double power = 1.0;
        for (int j = 1; j < 4; j++) {
            power *= side == 0 ? 4.0 : 2.0;
            for (int i = 3; i >= j; i--) {
                D[q][i] = cr_madd(D[q][i], 1.0 / (power - 1.0), cr_sub(D[q][i], D[q][i - 1]));
            }
        }
    }
    *P = D[0][3];
    *V = D[1][3];
    return true;
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
