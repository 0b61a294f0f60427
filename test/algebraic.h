// algebraic.h - what the tests of the algebraic laws with friction share: scales, symmetries, brute force.
//
// Velocities are compared on the scale |V| + tr(W) |P|, the size of the terms V + W P is the sum of: what is
// below some 1e-14 of it cannot be told from rounding, however badly W is scaled. Two impulses are compared
// by the velocities they give, for the same reason.
#ifndef CAROM_TEST_ALGEBRAIC_H
#define CAROM_TEST_ALGEBRAIC_H

#include "resolve/kinds.h"
#include "sample.h"
#include "test.h"

static inline double length2(double y, double z) { return sqrt(y * y + z * z); }

static inline crContact sample_contact(crRandom* random, crSampleKind kind) {
    crCollision collision = sample_collision(random, kind);
    crContact contact;
    crMat3 frame;
    cr_collision_contact(&collision, &contact, &frame, NULL);
    return contact;
}

static inline double speed_scale(const crContact* c, crVec3 P) {
    return cr_norm(c->V) + cr_sym3_trace(c->W) * cr_norm(P);
}

// how far apart the outcomes of two impulses are, on the scale above
static inline double outcome_gap(const crContact* c, crVec3 P, crVec3 Q) {
    double scale = fmax(speed_scale(c, P), speed_scale(c, Q));
    return scale > 0.0 ? cr_norm(cr_sym3_mul(c->W, cr_sub(P, Q))) / scale : 0.0;
}

static inline crHit hit_of(const crLaw* law, const crContact* c) {
    crHit hit;
    CHECK_STATUS(cr_law_apply_contact(law, c, &hit, NULL), CR_OK);
    return hit;
}

// true where W is singular to working precision; only then may a law with friction have no solution
static inline bool nearly_singular(const crContact* c) {
    double values[3];
    crMat3 axes;
    cr_sym3_eigen(c->W, values, &axes);
    return values[0] <= 1e-13 * values[2];
}

static inline bool solved(const crContact* c, const crHit* hit) {
    if (hit->regime != CR_REGIME_NO_SOLUTION) return CHECK(hit->solutions >= 1);
    CHECK(hit->solutions == 0 && nearly_singular(c));
    return false;
}

// Worst relative margins seen; negative is outside.
typedef struct Worst {
    double energy, penetration, tension, cone;
} Worst;

static inline Worst worst_none(void) { return (Worst){INFINITY, INFINITY, INFINITY, INFINITY}; }

static inline void worst_add(Worst* w, const crContact* c, const crHit* hit) {
    crMargins m = hit->margins;
    double size = cr_norm(hit->P);
    if (!(size > 0.0)) return;
    double energies = fabs(cr_dot(hit->P, c->V)) + 0.5 * cr_sym3_quad(c->W, hit->P);
    w->energy = fmin(w->energy, m.energy / energies);
    w->penetration = fmin(w->penetration, m.penetration / speed_scale(c, hit->P));
    w->tension = fmin(w->tension, m.tension / size);
    w->cone = fmin(w->cone, m.cone / ((1.0 + c->mu) * size));
}

static inline void worst_check(const char* what, Worst w, bool energy_too) {
    printf("  %s: worst margins energy %.1e penetration %.1e tension %.1e cone %.1e\n", what, w.energy,
           w.penetration, w.tension, w.cone);
    if (energy_too) CHECK(w.energy >= -1e-12);
    CHECK(w.penetration >= -1e-14);
    CHECK(w.tension >= -1e-14);
    CHECK(w.cone >= -1e-14);
}

// The same collision in other coordinates.
static inline crCollision turned_collision(const crCollision* a, crMat3 turn) {
    crCollision b = *a;
    b.n = cr_mat3_mul(turn, a->n);
    b.V = cr_mat3_mul(turn, a->V);
    b.normalize = true;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            crVec3 row = cr_vec3(turn.m[i][0], turn.m[i][1], turn.m[i][2]);
            crVec3 column = cr_vec3(turn.m[j][0], turn.m[j][1], turn.m[j][2]);
            b.W.m[i][j] = cr_dot(row, cr_mat3_mul(a->W, column));
        }
    }
    return b;
}

// Degree one in V, any rotation of the coordinates, and Newton's law without friction.
static inline void check_symmetries(const crLaw* law, crSampleKind first, crSampleKind last,
                                    bool positive_et) {
    double homogeneity = 0.0;
    double rotation = 0.0;
    double frictionless = 0.0;
    int refused = 0;
    crLaw newton = cr__law(&cr__law_newton, NULL);
    crRandom random = sample_seed(31);
    int count = test_samples(100000) / SAMPLE_KINDS;
    for (int kind = (int)first; kind <= (int)last; kind++) {
        for (int i = 0; i < count; i++) {
            crCollision a = sample_collision(&random, (crSampleKind)kind);
            if (positive_et) a.et = fabs(a.et);
            crContact c;
            crMat3 frame;
            cr_collision_contact(&a, &c, &frame, NULL);
            crHit hit;
            crStatus status = cr_law_apply_contact(law, &c, &hit, NULL);
            if (status == CR_ERR_PLANAR) refused++;
            if (status == CR_ERR_PLANAR || !CHECK(status == CR_OK)) continue;
            static const double factors[] = {2.7, 2.7e-90, 2.7e90};
            double factor = factors[i % 3];
            crContact fast = c;
            fast.V = cr_scale(factor, c.V);
            crVec3 more = cr_scale(factor, hit.P);
            homogeneity = fmax(homogeneity, outcome_gap(&fast, hit_of(law, &fast).P, more));
            // turn everything, go through the user's coordinates, turn back
            crMat3 turn = cr_quat_matrix(sample_rotation(&random));
            crCollision b = turned_collision(&a, turn);
            crHit turned;
            status = cr_law_apply(law, &b, &turned, NULL);
            if (status == CR_ERR_PLANAR) refused++;
            if (status == CR_ERR_PLANAR || !CHECK(status == CR_OK)) continue;
            crVec3 back = cr_mat3_mul_t(frame, cr_mat3_mul_t(turn, turned.P));
            rotation = fmax(rotation, outcome_gap(&c, back, hit.P));
            crContact smooth = c;
            smooth.mu = 0.0;
            crVec3 P = hit_of(&newton, &smooth).P;
            frictionless =
                fmax(frictionless, cr_norm(cr_sub(hit_of(law, &smooth).P, P)) / fmax(cr_norm(P), 1e-300));
        }
    }
    printf("  %s: homogeneity %.1e rotation %.1e frictionless %.1e\n", law->name, homogeneity, rotation,
           frictionless);
    // a tangent along a very small V_t is turned by rounding, and may leave the plane
    CHECK(refused * 1000 <= count);
    // rotating rounds W once more, and the outcome of a slip near W's null space follows with its condition
    CHECK(homogeneity <= 1e-12);
    CHECK(rotation <= 1e-10);
    CHECK(frictionless <= 1e-12);
}

// One stage by brute force: all P with n.(U + W P) = 0 that either leave no slip inside the cone or lie on
// the cone against the slip. The slip's direction is scanned, each change of sign of the part of the slip
// across it is refined by halving.
#define BRUTE_MAX 8
typedef struct Brute {
    int count;
    crVec3 P[BRUTE_MAX];
    bool sticks[BRUTE_MAX];
} Brute;

// impulse of slip direction angle; returns the slip across it, *along the slip along it
static inline double brute_at(const crContact* c, crVec3 U, double angle, crVec3* P, double* along) {
    double y = cos(angle);
    double z = sin(angle);
    crVec3 ray = cr_vec3(1.0, -c->mu * y, -c->mu * z);
    crVec3 W_ray = cr_sym3_mul(c->W, ray);
    double Pn = -U.x / W_ray.x;
    *P = cr_scale(Pn, ray);
    crVec3 u = cr_madd(U, Pn, W_ray);
    *along = u.y * y + u.z * z;
    // times W_ray.x: no poles
    return (U.y * W_ray.x - U.x * W_ray.y) * -z + (U.z * W_ray.x - U.x * W_ray.z) * y;
}

static inline Brute brute_stage(const crContact* c, crVec3 U, int steps) {
    Brute all = {0};
    crVec3 P;
    double along;
    crContact still = *c;
    still.V = U;
    if (cr_impulse_P_II(&still, &P) && P.x >= 0.0 && length2(P.y, P.z) <= c->mu * P.x) {
        all.sticks[all.count] = true;
        all.P[all.count++] = P;
    }
    double before = brute_at(c, U, 0.0, &P, &along);
    for (int i = 1; i <= steps && all.count < BRUTE_MAX; i++) {
        double low = 2.0 * CR_PI * (i - 1) / steps;
        double high = 2.0 * CR_PI * i / steps;
        double after = brute_at(c, U, high, &P, &along);
        if ((before < 0.0) != (after < 0.0)) {
            for (int j = 0; j < 60; j++) {
                double middle = 0.5 * (low + high);
                if ((brute_at(c, U, middle, &P, &along) < 0.0) == (before < 0.0))
                    low = middle;
                else
                    high = middle;
            }
            brute_at(c, U, 0.5 * (low + high), &P, &along);
            if (P.x > 0.0 && along > 0.0) all.P[all.count++] = P;
        }
        before = after;
    }
    return all;
}

// The rule: stick if that is one of them, otherwise the smallest Pn.
static inline crVec3 brute_choice(const Brute* all) {
    int best = 0;
    for (int i = 0; i < all->count; i++) {
        if (all->sticks[i]) return all->P[i];
        if (all->P[i].x < all->P[best].x) best = i;
    }
    return all->P[best];
}

#endif
