// region_check.h - the permissible region from its definition alone, for the tests of src/impulse/region_*.c.
//
// The four conditions are evaluated in long double, and interior points are found on rays from the origin, so
// that nothing here calls the code under test.
#ifndef CAROM_REGION_CHECK_H
#define CAROM_REGION_CHECK_H

#include "sample.h"
#include "test.h"

// Variants of a sample in which other boundary pieces matter.
typedef enum Variant { PLAIN, INFINITE_FRICTION, NEAR_GRAZING, GRAZING, VARIANTS } Variant;

static inline crContact region_sample(crRandom* random, crSampleKind kind, Variant variant) {
    crCollision collision = sample_collision(random, kind);
    double Vn = cr_dot(collision.n, collision.V);
    if (variant == INFINITE_FRICTION) collision.mu = (double)INFINITY;
    if (variant == NEAR_GRAZING) {
        collision.V = cr_madd(collision.V, Vn * (sample_log(random, 1e-6, 1.0) - 1.0), collision.n);
    }
    if (variant == GRAZING) collision.V = cr_madd(collision.V, -Vn, collision.n);
    crContact c;
    crMat3 frame;
    CHECK_STATUS(cr_collision_contact(&collision, &c, &frame, NULL), CR_OK);
    if (variant == GRAZING) c.V.x = 0.0;
    return c;
}

// W is singular to working precision: the region is cut off. The smallest eigenvalue is det W over the sum of
// its principal minors of order two, where it is small beside the other two.
static inline bool region_is_cut(const crContact* c) {
    long double xx = c->W.xx, xy = c->W.xy, xz = c->W.xz, yy = c->W.yy, yz = c->W.yz, zz = c->W.zz;
    long double minors = xx * yy - xy * xy + xx * zz - xz * xz + yy * zz - yz * yz;
    long double det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    return !(det > 1e-13L * (xx + yy + zz) * minors);
}

// The least of the four margins, each over the sum of the sizes of its terms. At mu = infinity of three.
static inline double region_margin(const crContact* c, crVec3 P) {
    long double p[3] = {P.x, P.y, P.z};
    long double v[3] = {c->V.x, c->V.y, c->V.z};
    long double w[3][3] = {
        {c->W.xx, c->W.xy, c->W.xz}, {c->W.xy, c->W.yy, c->W.yz}, {c->W.xz, c->W.yz, c->W.zz}};
    long double energy = 0, energies = 0, normal = v[0], normals = fabsl(v[0]);
    for (int i = 0; i < 3; i++) {
        energy += p[i] * v[i];
        energies += fabsl(p[i] * v[i]);
        normal += w[0][i] * p[i];
        normals += fabsl(w[0][i] * p[i]);
        for (int j = 0; j < 3; j++) {
            energy += 0.5L * p[i] * w[i][j] * p[j];
            energies += 0.5L * fabsl(p[i] * w[i][j] * p[j]);
        }
    }
    long double size = sqrtl(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    long double tangential = sqrtl(p[1] * p[1] + p[2] * p[2]);
    long double least = energies > 0 ? -energy / energies : 0;
    if (normals > 0) least = fminl(least, normal / normals);
    if (size > 0) least = fminl(least, p[0] / size);
    if (size > 0 && !isinf(c->mu)) least = fminl(least, (c->mu * p[0] - tangential) / ((1 + c->mu) * size));
    return (double)least;
}

// Ends of the ray s d: no penetration from s0, no energy gain to s1; false where it is not in the region.
static inline bool region_ray(const crContact* c, crVec3 d, double* s0, double* s1) {
    crVec3 Wd = cr_sym3_mul(c->W, d);
    if (!(Wd.x > 0.0)) return false;
    *s0 = -c->V.x / Wd.x;
    *s1 = -2.0 * cr_dot(d, c->V) / cr_dot(d, Wd);
    return *s1 > *s0 && isfinite(*s1);
}

// A random interior point; false where none was found.
static inline bool region_point(crRandom* random, const crContact* c, crVec3* P) {
    double angle = sample_uniform(random, -CR_PI, CR_PI);
    double limit = isinf(c->mu) ? 10.0 : c->mu;
    double ratio = limit * sqrt(sample_uniform(random, 0.0, 1.0));
    if (c->V.x == 0.0) angle = atan2(-c->V.z, -c->V.y) + 0.4 * angle;
    for (int i = 0; i < 60; i++) {
        crVec3 d = cr_vec3(1.0, ratio * cos(angle), ratio * sin(angle));
        double s0, s1;
        if (region_ray(c, d, &s0, &s1)) {
            *P = cr_scale(s0 + (s1 - s0) * sample_uniform(random, 0.001, 0.999), d);
            return region_margin(c, *P) > 0.0;
        }
        ratio *= 0.5;
    }
    return false;
}

#endif
