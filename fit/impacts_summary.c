// impacts_summary.c - what measured impulses say before any law is asked: how far even the best impulse is
// from the velocities, which of them no permissible impulse explains, and each row's own e, et and mu.
//
// Conditions for some mu (Chatterjee and Ruina 1998, section 3): energy change <= 0, n.V+ >= 0, n.P >= 0. In
// y = L^T P with W = L L^T the first is a ball about L^T P_II and the others are half-spaces, so the nearest
// permissible impulse in the metric of W is a projection on three convex sets, found by Dykstra's method.
// Fails: memory. A W without a Cholesky factor leaves P as it is.
#include <stdlib.h>

#include "fit/impacts.h"

#define SWEEPS 500
#define TOL    1e-12

// The lower factor of W by rows.
typedef struct Factor {
    double l[3][3];
} Factor;

static bool factorize(crSym3 W, Factor* f) {
    *f = (Factor){{{0}}};
    f->l[0][0] = sqrt(W.xx);
    f->l[1][0] = W.xy / f->l[0][0];
    f->l[2][0] = W.xz / f->l[0][0];
    f->l[1][1] = sqrt(W.yy - f->l[1][0] * f->l[1][0]);
    f->l[2][1] = (W.yz - f->l[2][0] * f->l[1][0]) / f->l[1][1];
    f->l[2][2] = sqrt(W.zz - f->l[2][0] * f->l[2][0] - f->l[2][1] * f->l[2][1]);
    return f->l[0][0] > 0.0 && f->l[1][1] > 0.0 && f->l[2][2] > 0.0;
}

// y = L^T P and back
static crVec3 to_metric(const Factor* f, crVec3 P) {
    return cr_vec3(f->l[0][0] * P.x + f->l[1][0] * P.y + f->l[2][0] * P.z,
                   f->l[1][1] * P.y + f->l[2][1] * P.z, f->l[2][2] * P.z);
}

static crVec3 from_metric(const Factor* f, crVec3 y) {
    double z = y.z / f->l[2][2];
    double t = (y.y - f->l[2][1] * z) / f->l[1][1];
    return cr_vec3((y.x - f->l[1][0] * t - f->l[2][0] * z) / f->l[0][0], t, z);
}

static crVec3 into_half_space(crVec3 y, crVec3 a, double least) {
    double short_of = least - cr_dot(a, y);
    return short_of > 0.0 ? cr_madd(y, short_of / cr_dot(a, a), a) : y;
}

static crVec3 into_ball(crVec3 y, crVec3 centre, double radius) {
    crVec3 d = cr_sub(y, centre);
    double distance = cr_norm(d);
    return distance > radius ? cr_madd(centre, radius / distance, d) : y;
}

crVec3 cr_impact_nearest(const crContact* c, crVec3 P) {
    Factor f;
    crVec3 P_II;
    if (!factorize(c->W, &f) || !cr_impulse_P_II(c, &P_II)) return P;
    crVec3 centre = to_metric(&f, P_II);
    // rows of L (n.W P) and of L^-T (n.P) for the normal
    crVec3 open = cr_vec3(f.l[0][0], 0.0, 0.0);
    double inverse = 1.0 / f.l[0][0], t = 1.0 / f.l[1][1], z = 1.0 / f.l[2][2];
    double a1 = -f.l[1][0] * t * inverse;
    crVec3 push = cr_vec3(inverse, a1, -(f.l[2][0] * inverse + f.l[2][1] * a1) * z);
    crVec3 y = to_metric(&f, P);
    crVec3 step[3] = {{0}};
    for (int i = 0; i < SWEEPS; i++) {
        crVec3 before = y;
        for (int k = 0; k < 3; k++) {
            crVec3 from = cr_add(y, step[k]);
            y = k == 0   ? into_half_space(from, open, -c->V.x)
                : k == 1 ? into_half_space(from, push, 0.0)
                         : into_ball(from, centre, cr_norm(centre));
            step[k] = cr_sub(from, y);
        }
        if (cr_norm(cr_sub(y, before)) <= TOL * cr_norm(centre)) break;
    }
    return from_metric(&f, y);
}

bool cr_impact_normalized(const crImpactRow* row, crVec3 P, double* u, double* s) {
    const crContact* c = &row->contact;
    crVec3 P_I, P_II;
    if (!cr_impulse_P_I(c, &P_I) || !cr_impulse_P_II(c, &P_II)) return false;
    crVec3 d = cr_sub(P_II, P_I);
    // P_I and P_II - P_I are at right angles in the metric of W
    double dd = cr_sym3_quad(c->W, d), ii = cr_sym3_quad(c->W, P_I);
    if (!(dd > 1e-6 * ii)) return false;
    crVec3 WP = cr_sym3_mul(c->W, P);
    *u = cr_dot(P_I, WP) / ii;
    *s = cr_dot(d, WP) / dd;
    return true;
}

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void quartiles(double* values, int count, double out[3]) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    for (int k = 0; k < 3; k++) {
        out[k] = count > 0 ? values[(count - 1) * (k + 1) / 4] : (double)NAN;
    }
}

static void own_numbers(const crImpacts* impacts, double* values, crImpactsSummary* s) {
    int e = 0;
    for (int i = 0; i < impacts->count; i++) {
        const crImpactRow* r = &impacts->rows[i];
        values[e++] = -cr_impulse_V_plus(&r->contact, r->P).x / r->contact.V.x;
    }
    quartiles(values, e, s->e);
    int et = 0;
    for (int i = 0; i < impacts->count; i++) {
        double u, along;
        if (cr_impact_normalized(&impacts->rows[i], impacts->rows[i].P, &u, &along))
            values[et++] = along - 1.0;
    }
    quartiles(values, et, s->et);
    int mu = 0;
    for (int i = 0; i < impacts->count; i++) {
        crVec3 P = impacts->rows[i].P;
        if (P.x > 0.0) values[mu++] = sqrt(P.y * P.y + P.z * P.z) / P.x;
    }
    quartiles(values, mu, s->mu);
}

crStatus cr_impacts_summary(const crImpacts* impacts, crImpactsSummary* s, crError* error) {
    *s = (crImpactsSummary){0};
    double* values = malloc((size_t)impacts->count * sizeof *values);
    if (values == NULL) return cr_error_set(error, CR_ERR_MEMORY, "rows", "rows: out of memory");
    for (int i = 0; i < impacts->count; i++) {
        const crImpactRow* r = &impacts->rows[i];
        crContact c = r->contact;
        c.mu = INFINITY;
        crVerdict verdict = cr_impulse_verdict(&c, r->P, CR_PERMISSIBLE_TOL);
        s->speed_change += sqrt(r->change);
        s->floor += sqrt(r->unexplained);
        s->permissible_floor +=
            verdict.permissible ? sqrt(r->unexplained) : cr_impact_error(r, cr_impact_nearest(&c, r->P));
        s->impossible += !verdict.permissible;
        s->creates_energy += verdict.creates_energy;
        s->penetrates += verdict.margins.penetration < 0.0;
        s->pulls += verdict.margins.tension < 0.0;
    }
    s->speed_change /= impacts->count;
    s->floor /= impacts->count;
    s->permissible_floor /= impacts->count;
    own_numbers(impacts, values, s);
    free(values);
    return CR_OK;
}
