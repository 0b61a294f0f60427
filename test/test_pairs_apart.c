// test_pairs_apart.c - how far shapes are apart along a direction at least: against support points from their definitions.
#include "pairs/pairs.h"
#include "sample_shape.h"
#include "test.h"

// of lengths: by how much less than the separation it may be
#define LESS 1e-13

TEST(separation_along_a_direction) {
    crRandom random = sample_seed(57);
    crHullPool pool = sample_hulls(&random);
    for (int n = 0; n < test_samples(200000); n++) {
        crSampleForm form = (crSampleForm)(n % FORMS);
        crShape a = sample_shape(&random, convex_kinds[sample_bits(&random) % CONVEX_KINDS], form, &pool);
        crShape b = sample_shape(&random, convex_kinds[sample_bits(&random) % CONVEX_KINDS], form, &pool);
        a.pose = b.pose = cr_pose_identity();
        // in its body's own axes, shifted, or shifted and turned
        if (n % 3 > 0) a.pose.p = cr_scale(shape_size(&a), sample_direction(&random));
        if (n % 3 > 1) b.pose = sample_pose(&random, form);
        crPose at_a = sample_pose(&random, form), at_b = sample_pose(&random, form);
        double size = shape_size(&a) + shape_size(&b) + cr_norm(a.pose.p) + cr_norm(b.pose.p);
        at_b.p = cr_scale(sample_uniform(&random, 0.0, 2.0) * size, sample_direction(&random));
        crVec3 l = n % 4 == 0 ? cr_vec3(0, 0, n % 8 == 0 ? 1 : -1) : sample_direction(&random);
        double truth = shape_separation(&a, cr_pose_mul(at_a, a.pose), &b, cr_pose_mul(at_b, b.pose),
                                        cr_quat_rotate(at_a.q, l));
        double along = cr__pairs_along(&a, &at_a, &b, &at_b, l);
        if (!test_check(along <= truth && along >= truth - LESS * (size + cr_norm(at_b.p)), __FILE__,
                        __LINE__, "case %d: %.17g, not %.17g; kinds %d %d", n, along, truth, (int)a.kind,
                        (int)b.kind))
            break;
    }
    sample_hulls_destroy(&pool);
}

TEST(height_above_a_half_space) {
    crRandom random = sample_seed(58);
    crHullPool pool = sample_hulls(&random);
    for (int n = 0; n < test_samples(20000); n++) {
        crSampleForm form = (crSampleForm)(n % FORMS);
        crShape b = sample_shape(&random, convex_kinds[sample_bits(&random) % CONVEX_KINDS], form, &pool);
        double size = shape_size(&b), offset = size * sample_uniform(&random, -2.0, 2.0);
        crShape plane = cr_shape_halfspace(sample_direction(&random), offset);
        b.pose = plane.pose = cr_pose_identity();
        if (n % 3 > 0) b.pose = sample_pose(&random, form);
        if (n % 3 > 1) plane.pose = sample_pose(&random, form);
        if (n % 3 > 1) plane.pose.p = cr_scale(size, sample_direction(&random));
        crPose at = sample_pose(&random, form), at_b = sample_pose(&random, form);
        at_b.p = cr_scale(sample_uniform(&random, 0.0, 2.0) * size, sample_direction(&random));
        crPose own = cr_pose_mul(at, plane.pose);
        crVec3 up = cr_quat_rotate(own.q, plane.size);
        crVec3 lowest = shape_support(&b, cr_pose_mul(at_b, b.pose), cr_neg(up));
        double truth = cr_dot(up, cr_sub(lowest, own.p)) - offset;
        double above = cr__pairs_above(&plane, &at, &b, &at_b);
        double lengths = 4.0 * size + fabs(offset) + cr_norm(at_b.p);
        if (!test_check(above <= truth && above >= truth - LESS * lengths, __FILE__, __LINE__,
                        "case %d: %.17g, not %.17g; kind %d", n, above, truth, (int)b.kind))
            break;
    }
    sample_hulls_destroy(&pool);
}

TEST(shapes_that_are_not_asked) {
    crShape ball = cr_shape_sphere(1.0), off = cr_shape_box(1, 1, 1),
            plane = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    // as unit as a model asks for
    off.pose.q = (crQuat){1.0, 1e-5, 0.0, 0.0};
    crPose at = cr_pose_identity(), far = {cr_vec3(0, 0, 9), cr_quat_identity()};
    crVec3 up = cr_vec3(0, 0, 1);
    CHECK(cr__pairs_along(&ball, &at, &ball, &far, up) <= 7.0);
    CHECK(cr__pairs_along(&ball, &at, &ball, &far, up) > 7.0 - 1e-12);
    CHECK(cr__pairs_along(&off, &at, &ball, &far, up) == -INFINITY);
    CHECK(cr__pairs_along(&ball, &at, &off, &far, up) == -INFINITY);
    CHECK(cr__pairs_along(&plane, &at, &ball, &far, up) == -INFINITY);
    CHECK(cr__pairs_along(&ball, &at, &plane, &far, up) == -INFINITY);
}
