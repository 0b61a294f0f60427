// test_collide_patch.c - kept contacts against the distance computed anew: never off by more than the bound
// they come with, refused where that cannot be promised, and the same bits where nothing moved.
#include "sample_shape.h"
#include "test.h"

static crQuat some_tilt(crRandom* random, double lo, double hi) {
    return cr_quat_axis_angle(sample_direction(random), sample_log(random, lo, hi));
}

typedef struct Scene {
    crShape a, b;
    crPose pa, pb;
    double scale;
} Scene;

// face to face along z, nearly touching, half of them tilted a little
static Scene face_to_face(crRandom* random, crShapeKind ka, crShapeKind kb, const crHullPool* pool) {
    Scene s;
    s.a = ka == CR_SHAPE_HALFSPACE ? cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0)
                                   : sample_shape(random, ka, FORM_SQUARE, pool);
    s.b = sample_shape(random, kb, FORM_SQUARE, pool);
    s.pa = ka == CR_SHAPE_HALFSPACE ? cr_pose_identity() : sample_pose(random, FORM_SQUARE);
    s.pb = sample_pose(random, FORM_SQUARE);
    s.scale = (ka == CR_SHAPE_HALFSPACE ? 0.0 : shape_size(&s.a)) + shape_size(&s.b);
    if (sample_bits(random) % 2 == 0) s.pb.q = cr_quat_mul(some_tilt(random, 1e-13, 1e-2), s.pb.q);
    crVec3 up = cr_vec3(0, 0, 1), side = cr_scale(0.2 * s.scale, sample_direction(random));
    double top = ka == CR_SHAPE_HALFSPACE ? 0.0 : shape_support(&s.a, s.pa, up).z;
    double bottom = shape_support(&s.b, s.pb, cr_neg(up)).z;
    double gap = s.scale * sample_log(random, 1e-9, 1e-3) * (sample_bits(random) % 2 == 0 ? -1.0 : 0.5);
    s.pb.p = cr_vec3(side.x, side.y, top - bottom + gap);
    return s;
}

// rotations kept unit: what is left is rounding of coordinates of a few sizes
static crPose carried(crPose by, crPose x) {
    crPose r = cr_pose_mul(by, x);
    r.q = cr_quat_normalize(r.q);
    return r;
}

static crPose anywhere(crRandom* random, double scale) {
    return (crPose){cr_scale(2.0 * scale, sample_direction(random)), sample_rotation(random)};
}

typedef struct Worst {
    double over, error, gap;  // largest excess over the bound, bound, and error of a gap
    int kept, refused;
} Worst;

static void check_refresh(const Scene* s, const crPatch* patch, crPose pa, crPose pb, double margin,
                          double tolerance, Worst* w) {
    crContactPoint c[CR_MANIFOLD_MAX];
    int count;
    double error, least = INFINITY;
    crDistance d;
    if (!cr_collide_refresh(patch, pa, pb, margin, tolerance, c, &count, &error)) {
        w->refused++;
        return;
    }
    w->kept++;
    cr_distance(&s->a, pa, &s->b, pb, INFINITY, &d);
    CHECK(error <= tolerance);
    for (int i = 0; i < count; i++) {
        least = fmin(least, c[i].gap);
        CHECK(c[i].gap <= margin);
        crVec3 r = cr_sub(cr_sub(c[i].on_b, c[i].on_a), cr_scale(c[i].gap, c[i].normal));
        CHECK(cr_norm(r) <= 1e-14 * s->scale);
        CHECK_NEAR(cr_norm(c[i].normal), 1.0, 1e-15 * 4);
    }
    // in cr_distance faces win over edges within 2^-46 of the sizes and distance, two of our scales at most;
    // and coordinates of a few sizes are rounded some times
    double rounding = 4e-14 * s->scale + d.error;
    if (count == 0) CHECK(d.contact.gap > margin - error - rounding);
    if (count > 0 && d.contact.gap <= margin - error) {
        w->over = fmax(w->over, (fabs(least - d.contact.gap) - error - rounding) / s->scale);
        w->gap = fmax(w->gap, fabs(least - d.contact.gap) / s->scale);
    }
    w->error = fmax(w->error, error / s->scale);
}

static void run_pairs(crShapeKind ka, crShapeKind kb, const crHullPool* pool, int samples) {
    crRandom random = sample_seed(31 + 16 * (uint64_t)ka + (uint64_t)kb);
    Worst w = {.over = -INFINITY};
    for (int i = 0; i < samples; i++) {
        Scene s = face_to_face(&random, ka, kb, pool);
        crPatch patch;
        crPose place = anywhere(&random, s.scale);
        s.pa = carried(place, s.pa);
        s.pb = carried(place, s.pb);
        double margin = s.scale * sample_log(&random, 1e-6, 1e-2);
        CHECK(cr_collide_keep(&s.a, s.pa, &s.b, s.pb, margin, &patch));
        // both go elsewhere, and a little against each other
        double m = sample_log(&random, 1e-9, 1e-2);
        crVec3 shift = cr_scale(m * s.scale, sample_direction(&random));
        crPose pa = s.pa, pb = s.pb;
        pb.p = cr_add(pb.p, shift);
        pb.q = cr_quat_normalize(cr_quat_mul(some_tilt(&random, 1e-3 * m, m), pb.q));
        if (i % 2 == 0) {
            crPose move = anywhere(&random, s.scale);
            pa = carried(move, pa);
            pb = carried(move, pb);
        }
        check_refresh(&s, &patch, pa, pb, 0.5 * margin, s.scale * sample_log(&random, 1e-10, 1e-3), &w);
    }
    printf("%-10s %-10s kept %d refused %d, gap off by %.0e at most, bound %.0e at most\n",
           cr_shape_info(ka)->name, cr_shape_info(kb)->name, w.kept, w.refused, w.gap, w.error);
    CHECK(w.over <= 0.0);
    CHECK(w.kept > 0);
}

TEST(gaps_are_within_the_bound) {
    crRandom random = sample_seed(3);
    crHullPool pool = sample_hulls(&random);
    int samples = test_samples(200000) / 20;
    for (int i = 0; i < CONVEX_KINDS; i++) {
        for (int k = 0; k < CONVEX_KINDS; k++)
            run_pairs(convex_kinds[i], convex_kinds[k], &pool, samples);
        run_pairs(CR_SHAPE_HALFSPACE, convex_kinds[i], &pool, samples);
    }
    sample_hulls_destroy(&pool);
}

TEST(nothing_moved_is_the_same_bits) {
    crRandom random = sample_seed(4);
    crHullPool pool = sample_hulls(&random);
    for (int i = 0; i < test_samples(20000); i++) {
        Scene s = face_to_face(&random, convex_kinds[i % 7], convex_kinds[i / 7 % 7], &pool);
        double margin = 1e-4 * s.scale, error;
        crPatch patch;
        crContactPoint c[CR_MANIFOLD_MAX], d[CR_MANIFOLD_MAX];
        int count, expected = cr_collide(&s.a, s.pa, &s.b, s.pb, margin, c, CR_MANIFOLD_MAX, NULL);
        CHECK(cr_collide_keep(&s.a, s.pa, &s.b, s.pb, margin, &patch));
        CHECK(cr_collide_refresh(&patch, s.pa, s.pb, margin, 0.0, d, &count, &error));
        CHECK(count == expected && error == 0.0);
        for (int k = 0; k < count; k++) {
            CHECK(memcmp(&c[k].point, &d[k].point, sizeof c[k].point) == 0 && c[k].gap == d[k].gap);
            CHECK(c[k].feature_a == d[k].feature_a && c[k].feature_b == d[k].feature_b);
        }
        // and no tolerance, no motion
        crPose pb = s.pb;
        pb.p.x += 1e-9 * s.scale;
        if (count > 0) CHECK(!cr_collide_refresh(&patch, s.pa, pb, margin, 0.0, d, &count, &error));
    }
    sample_hulls_destroy(&pool);
}

// a settled box that creeps: second order in what it creeps
TEST(box_on_box_creeps) {
    crShape low = cr_shape_box(1, 1, 0.5), high = cr_shape_box(0.5, 0.5, 0.5);
    crPose pa = cr_pose_identity(), pb = {{0.1, 0.2, 1.0}, {1, 0, 0, 0}};
    crPatch patch;
    crContactPoint c[CR_MANIFOLD_MAX];
    CHECK(cr_collide_keep(&low, pa, &high, pb, 0.01, &patch));
    CHECK(patch.count == 4 && patch.turns_with == 0);
    for (double m = 1e-9; m < 1e-4; m *= 10) {
        crPose to = {{0.1 + m, 0.2 - m, 1.0 - m}, cr_quat_axis_angle(cr_vec3(0.3, -0.2, 0.5), m)};
        int count;
        double error;
        crDistance d;
        CHECK(cr_collide_refresh(&patch, pa, to, 0.01, 1e-6, c, &count, &error));
        CHECK(count == 4);
        cr_distance(&low, pa, &high, to, 1.0, &d);
        double least = fmin(fmin(c[0].gap, c[1].gap), fmin(c[2].gap, c[3].gap));
        CHECK_NEAR(least, d.contact.gap, 1e-15);
        CHECK(error <= 10.0 * m * m);
    }
}

TEST(refusals) {
    crShape low = cr_shape_box(1, 1, 0.5), high = cr_shape_box(0.5, 0.5, 0.5), ball = cr_shape_sphere(0.5);
    crPose pa = cr_pose_identity(), pb = {{0.1, 0.2, 1.0}, {1, 0, 0, 0}}, to = pb;
    crPatch patch;
    crContactPoint c[CR_MANIFOLD_MAX];
    int count;
    double error;
    // turned too far, moved too far, more error than is tolerated
    CHECK(cr_collide_keep(&low, pa, &high, pb, 0.01, &patch));
    to.q = cr_quat_axis_angle(cr_vec3(0, 0, 1), 0.1);
    CHECK(!cr_collide_refresh(&patch, pa, to, 0.01, 1.0, c, &count, &error));
    to = pb;
    to.p.x += 0.3;
    CHECK(!cr_collide_refresh(&patch, pa, to, 0.01, 1.0, c, &count, &error));
    to = pb;
    to.q = cr_quat_axis_angle(cr_vec3(1, 0, 0), 1e-4);
    CHECK(!cr_collide_refresh(&patch, pa, to, 0.01, 1e-9, c, &count, &error));
    CHECK(error > 1e-9 && count == 0);
    // apart stays apart until the gap may have closed
    pb.p.z = 1.1;
    CHECK(cr_collide_keep(&low, pa, &high, pb, 0.01, &patch));
    CHECK(patch.count == 0);
    to = pb;
    to.p.z = 1.1 - 0.03;
    CHECK(cr_collide_refresh(&patch, pa, to, 0.01, 1e-9, c, &count, &error) && count == 0);
    to.p.z = 1.005;
    CHECK(!cr_collide_refresh(&patch, pa, to, 0.01, 1e-9, c, &count, &error));
    // edge on edge of two boxes side by side: either way out is as near
    pb.p = cr_vec3(1.5, 0, 1.0 - 1e-9);
    CHECK(cr_collide_keep(&low, pa, &high, pb, 0.01, &patch));
    to = pb;
    to.p.x += 1e-6;
    CHECK(!cr_collide_refresh(&patch, pa, to, 0.01, 1e-3, c, &count, &error));
    // no flat face: a ball on a ball
    pb.p = cr_vec3(0, 0, 0.99);
    CHECK(cr_collide_keep(&ball, pa, &ball, pb, 0.01, &patch));
    to = pb;
    to.p.x += 1e-6;
    CHECK(!cr_collide_refresh(&patch, pa, to, 0.01, 1e-3, c, &count, &error));
    // pieces
    crCompound* compound;
    CHECK_STATUS(cr_compound_create(&ball, 1, NULL, &compound, NULL), CR_OK);
    crShape pieces = cr_shape_compound(compound);
    CHECK(!cr_collide_keep(&pieces, pa, &ball, pb, 0.01, &patch) && patch.count == 0);
    crShape plane = cr_shape_halfspace(cr_vec3(0, 0, 1), 0);
    CHECK(!cr_collide_keep(&plane, pa, &plane, pb, 0.01, &patch));
    cr_compound_destroy(compound);
}
