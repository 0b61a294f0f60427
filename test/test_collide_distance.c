// test_collide_distance.c - signed distance of every convex pair, from its definition.
//
// gap = max over n of sep(n). Each answer is checked from both sides: sep at the returned normal (support
// functions written here) must equal the gap; apart, the witness points must lie in their shapes, so no
// smaller distance is claimed; overlapping, no direction out of many may separate better. Errors are relative
// to the pair's size.
#include "sample_shape.h"
#include "test.h"

// the full count is per pair of kinds, shared out among its forms
static int samples(int forms) { return test_samples(1000000) == 1000000 ? 1000000 / forms + 1 : 60; }

typedef struct Worst {
    double unit, witness, separation, inside, beaten, swap, motion;
    int limits;
} Worst;

static crVec3 shaken(crRandom* random, crVec3 n, double by) {
    crVec3 d = cr_madd(n, by, sample_direction(random));
    return cr_scale(1 / cr_norm(d), d);
}

static void check_pair(crRandom* random, const crShape* a, crPose pa, const crShape* b, crPose pb,
                       double hulls, Worst* w) {
    crDistance d, swapped, moved;
    double scale = shape_size(a) + shape_size(b) + cr_norm(cr_sub(pb.p, pa.p));
    if (!cr_distance(a, pa, b, pb, INFINITY, &d)) {
        CHECK(false);
        return;
    }
    crContactPoint c = d.contact;
    // the certificate: rounding where apart, EPA's tolerance where curved shapes overlap
    if (d.error > (c.gap > 0 ? 1e-10 : 1e-9) * scale) w->limits++;
    w->unit = fmax(w->unit, fabs(cr_norm(c.normal) - 1));
    w->witness = fmax(w->witness, cr_norm(cr_sub(cr_sub(c.on_b, c.on_a), cr_scale(c.gap, c.normal))) / scale);
    double sep = shape_separation(a, pa, b, pb, c.normal);
    w->separation = fmax(w->separation, fabs(sep - c.gap) / scale);
    if (c.gap > 0 && hulls == 0)
        w->inside = fmax(w->inside, fmax(shape_outside(a, pa, c.on_a), shape_outside(b, pb, c.on_b)) / scale);
    for (int i = 0; i < 60; i++) {
        crVec3 n = i < 20 ? sample_direction(random) : shaken(random, c.normal, sample_log(random, 1e-7, 1));
        w->beaten = fmax(w->beaten, (shape_separation(a, pa, b, pb, n) - c.gap - d.error) / scale);
    }
    cr_distance(b, pb, a, pa, INFINITY, &swapped);
    w->swap = fmax(w->swap, fabs(swapped.contact.gap - c.gap) / scale);
    // the gap cannot change by more than the motion, each known to the error it comes with
    crVec3 step = cr_scale(1e-6 * scale, sample_direction(random));
    crPose near = {cr_add(pb.p, step), pb.q};
    cr_distance(a, pa, b, near, INFINITY, &moved);
    double known = 1e-6 * scale + fmax(d.error, moved.error);
    w->motion = fmax(w->motion, (fabs(moved.contact.gap - c.gap) - known) / scale);
}

static crPose place(crRandom* random, const crShape* a, crPose pa, const crShape* b, crSampleForm form,
                    int i) {
    crPose pb = sample_pose(random, form);
    crVec3 d = form == FORM_SQUARE && i % 2 ? cr_vec3(0, 0, 1) : sample_direction(random);
    // distance that just touches along d, then deeper, exact, or apart
    double touch = -shape_separation(a, pa, b, pb, d), by;
    switch (i % 5) {
    case 0:
        by = 1.0;
        break;
    case 1:
        by = sample_uniform(random, 0.0, 1.0);
        break;
    case 2:
        by = 1.0 + sample_log(random, 1e-10, 1e-2);
        break;
    case 3:
        by = 1.0 - sample_log(random, 1e-10, 1e-1);
        break;
    default:
        by = sample_uniform(random, 0.5, 2.0);
    }
    pb.p = cr_scale(by * touch, d);
    return pb;
}

static void run_kind(crRandom* random, crShapeKind ka, crShapeKind kb, const crHullPool* pool) {
    Worst w = {0};
    bool hull = ka == CR_SHAPE_HULL || kb == CR_SHAPE_HULL;
    // hulls come in one size
    int forms = hull ? FORM_SQUARE + 1 : FORMS, count = samples(forms);
    for (int f = FORM_ROUND; f < forms; f++)
        for (int i = 0; i < count; i++) {
            crSampleForm form = (crSampleForm)f;
            crShape a = sample_shape(random, ka, form, pool), b = sample_shape(random, kb, form, pool);
            crPose pa = sample_pose(random, form), pb = place(random, &a, pa, &b, form, i);
            check_pair(random, &a, pa, &b, pb, hull && i % 20 != 0, &w);
        }
    printf("%-10s %-10s %d pairs unit %.0e witness %.0e sep %.0e inside %.0e beaten %.0e swap %.0e motion "
           "%.0e limits "
           "%d\n",
           cr_shape_info(ka)->name, cr_shape_info(kb)->name, forms * count, w.unit, w.witness, w.separation,
           w.inside, w.beaten, w.swap, w.motion, w.limits);
    CHECK(w.unit < 1e-14);
    CHECK(w.witness < 1e-14);
    // rounding, times up to 1000 where thin shapes nearly share a centre line
    CHECK(w.separation < 1e-11);
    // witness points between flat features are as exact as the root of rounding at worst
    CHECK(w.inside < 1e-7);
    CHECK(w.beaten < 1e-11);
    // the same operations whichever is called A
    CHECK(w.swap == 0.0);
    CHECK(w.motion < 1e-11);
    // answers whose error bound is larger: deep overlaps of thin curved shapes that fill EPA's memory
    CHECK(w.limits <= forms * count / 50);
}

// pairs of the kind with itself and those listed after it, each with its own seed so that they run alone too
static void run_kinds_from(int first) {
    crRandom random = sample_seed(100 + (uint64_t)first);
    crHullPool pool = sample_hulls(&random);
    for (int k = first; k < CONVEX_KINDS; k++)
        run_kind(&random, convex_kinds[first], convex_kinds[k], &pool);
    sample_hulls_destroy(&pool);
}

TEST(sphere_pairs_from_the_definition) { run_kinds_from(0); }
TEST(capsule_pairs_from_the_definition) { run_kinds_from(1); }
TEST(box_pairs_from_the_definition) { run_kinds_from(2); }
TEST(cylinder_pairs_from_the_definition) { run_kinds_from(3); }
TEST(cone_pairs_from_the_definition) { run_kinds_from(4); }
TEST(ellipsoid_pairs_from_the_definition) { run_kinds_from(5); }
TEST(hull_pairs_from_the_definition) { run_kinds_from(6); }

TEST(cubes_stacked_a_little_deep) {
    // two axis-aligned cubes, 5 % deep: one of the peers gives depth 0 and a normal that is no number
    crShape box = cr_shape_box(0.5, 0.5, 0.5);
    crPose low = cr_pose_identity(), high = low;
    high.p.z = 0.95;
    crDistance d;
    CHECK(cr_distance(&box, low, &box, high, INFINITY, &d));
    CHECK_NEAR(d.contact.gap, -0.05, 1e-15);
    CHECK_VEC(d.contact.normal, cr_vec3(0, 0, 1), 0.0);
}

// drawn one after the other: arguments of a call may be evaluated in any order
static crQuat plain_rotation(crRandom* random) {
    crQuat q;
    q.w = sample_uniform(random, -1, 1);
    q.x = sample_uniform(random, -1, 1);
    q.y = sample_uniform(random, -1, 1);
    q.z = sample_uniform(random, -1, 1);
    return cr_quat_normalize(q);
}

static crShape plain_shape(crRandom* random, int kind, const crHull* prism) {
    double x = sample_uniform(random, 0.3, 1), y = sample_uniform(random, 0.3, 1),
           z = sample_uniform(random, 0.3, 1);
    const crShape all[CONVEX_KINDS] = {
        cr_shape_sphere(x),  cr_shape_capsule(x, y),      cr_shape_box(x, y, z), cr_shape_cylinder(x, y),
        cr_shape_cone(x, y), cr_shape_ellipsoid(x, y, z), cr_shape_hull(prism)};
    return all[kind];
}

TEST(golden_bits) {
    // the same from every compiler and optimisation level
    const crVec3 five[5] = {{1, 0, 0}, {0.5, 0.75, 0}, {-0.5, 0.75, 0}, {-1, 0, 0}, {0, -0.75, 0}};
    crHull* prism;
    CHECK_STATUS(cr_hull_create_prism(five, 5, 0.5, NULL, &prism, NULL), CR_OK);
    crRandom random = sample_seed(17);
    uint64_t hash = CR_HASH_SEED;
    for (int i = 0; i < CONVEX_KINDS * CONVEX_KINDS * 10; i++) {
        crShape a = plain_shape(&random, i % CONVEX_KINDS, prism);
        crShape b = plain_shape(&random, i / CONVEX_KINDS % CONVEX_KINDS, prism);
        crPose pa = {cr_vec3(0, 0, 0), plain_rotation(&random)},
               pb = {cr_vec3(0, 0, 0), plain_rotation(&random)};
        pb.p.x = sample_uniform(&random, -1.5, 1.5);
        pb.p.y = sample_uniform(&random, -1.5, 1.5);
        crDistance distance;
        CHECK(cr_distance(&a, pa, &b, pb, INFINITY, &distance));
        const crContactPoint* c = &distance.contact;
        const double values[8] = {c->gap,     c->normal.x, c->normal.y, c->normal.z,
                                  c->point.x, c->point.y,  c->point.z,  distance.error};
        hash = test_hash(hash, values, sizeof(double), 8);
        crContactPoint m[CR_MANIFOLD_MAX];
        int count = cr_collide(&a, pa, &b, pb, 0.1, m, CR_MANIFOLD_MAX, NULL);
        for (int k = 0; k < count; k++) {
            hash = test_hash(hash, &m[k].point, sizeof(double), 3);
            hash = test_hash(hash, &m[k].feature_a, sizeof m[k].feature_a, 1);
        }
    }
    printf("hash %016llx\n", (unsigned long long)hash);
    CHECK(hash == UINT64_C(0x3a791f50d5756a3f));
    cr_hull_destroy(prism);
}
