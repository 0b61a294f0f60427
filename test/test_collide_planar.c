// test_collide_planar.c - planar contacts: known cases, and the definition of the gap in the plane.
#include "sample_shape.h"
#include "test.h"

static int samples(void) { return test_samples(1000000) == 1000000 ? 1000000 : 2000; }
static const crVec3 Y = {0, 1, 0};

TEST(box_on_half_plane_has_two_points) {
    // the rod of Stewart and Trinkle is a thin box or a capsule in the xz plane
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0), box = cr_shape_box(2, 0.5, 1);
    crPose at = cr_pose_identity(), up = at;
    up.p.z = 0.99;
    crContactPoint c[2];
    int count;
    CHECK_STATUS(cr_collide_planar(&floor, at, &box, up, Y, 0.0, c, &count, NULL), CR_OK);
    CHECK(count == 2);
    CHECK_NEAR(c[0].gap, -0.01, 1e-15);
    CHECK_NEAR(c[1].gap, -0.01, 1e-15);
    CHECK_NEAR(fabs(c[0].point.x - c[1].point.x), 4, 1e-14);
    CHECK_VEC(c[0].normal, cr_vec3(0, 0, 1), 1e-15);
    CHECK(c[0].point.y == 0 && c[1].point.y == 0);
    CHECK(c[0].feature_b != c[1].feature_b);
    // tilted: one corner within the margin
    up.q = cr_quat_axis_angle(Y, 0.3);
    up.p.z = 2 * cr_sin(0.3) + cr_cos(0.3);
    CHECK_STATUS(cr_collide_planar(&floor, at, &box, up, Y, 1e-6, c, &count, NULL), CR_OK);
    CHECK(count == 1);
    CHECK_NEAR(c[0].gap, 0, 1e-15);
    CHECK_STATUS(cr_collide_planar(&box, up, &floor, at, Y, 1e-6, c, &count, NULL), CR_OK);
    CHECK(count == 1);
    CHECK_VEC(c[0].normal, cr_vec3(0, 0, -1), 1e-15);
}

TEST(thin_plates_meet_in_the_plane_only) {
    // in space the shortest way out would be across the plane
    crShape a = cr_shape_box(1, 0.01, 1), b = cr_shape_box(1, 0.01, 1);
    crPose at = cr_pose_identity(), up = at;
    up.p.z = 1.5;
    crContactPoint c[2];
    int count;
    CHECK_STATUS(cr_collide_planar(&a, at, &b, up, Y, 0, c, &count, NULL), CR_OK);
    CHECK(count == 2);
    CHECK_NEAR(c[0].gap, -0.5, 1e-15);
    CHECK_VEC(c[0].normal, cr_vec3(0, 0, 1), 1e-15);
    crDistance d;
    cr_distance(&a, at, &b, up, INFINITY, &d);
    CHECK_NEAR(d.contact.gap, -0.02, 1e-15);
}

static crShape planar_shape(crRandom* random, int kind, crHull* const* prisms) {
    crShape s;
    if (kind == 0) return cr_shape_sphere(sample_uniform(random, 0.2, 1));
    if (kind == 1) {
        s = cr_shape_capsule(sample_uniform(random, 0.1, 0.5), sample_uniform(random, 0.3, 1));
        s.pose.q = cr_quat_axis_angle(cr_vec3(0, 1, 0), CR_PI / 2);
        return s;
    }
    if (kind == 2) return cr_shape_box(sample_uniform(random, 0.3, 1), sample_uniform(random, 0.3, 1), 5);
    return cr_shape_hull(prisms[sample_bits(random) % 4]);
}

TEST(gap_is_the_best_separation_in_the_plane) {
    crRandom random = sample_seed(13);
    crHull* prisms[4];
    for (int k = 0; k < 4; k++) {
        crVec3 p[16];
        int n = 3 + 3 * k;
        for (int i = 0; i < n; i++)
            p[i] = cr_vec3(cr_cos(2 * CR_PI * i / n), 0.6 * cr_sin(2 * CR_PI * i / n), 0);
        CHECK_STATUS(cr_hull_create_prism(p, n, 1, NULL, &prisms[k], NULL), CR_OK);
    }
    double worst = 0, beaten = 0;
    for (int i = 0; i < samples(); i++) {
        crShape a = planar_shape(&random, i % 4, prisms), b = planar_shape(&random, i / 4 % 4, prisms);
        crPose pa = cr_pose_identity(), pb = pa;
        crVec3 z = cr_vec3(0, 0, 1);
        pa.q = cr_quat_axis_angle(z, sample_uniform(&random, -3, 3));
        pb.q = cr_quat_axis_angle(z, sample_uniform(&random, -3, 3));
        double angle = sample_uniform(&random, -3, 3), far = sample_uniform(&random, 0.01, 3);
        pb.p = cr_vec3(far * cr_cos(angle), far * cr_sin(angle), 0);
        crContactPoint c[2];
        int count;
        CHECK_STATUS(cr_collide_planar(&a, pa, &b, pb, z, 10, c, &count, NULL), CR_OK);
        CHECK(count >= 1 && count <= 2);
        // in the order of their features, as warm starts and snapshots need
        CHECK(count < 2 || c[0].feature_a < c[1].feature_a ||
              (c[0].feature_a == c[1].feature_a && c[0].feature_b <= c[1].feature_b));
        double gap = count == 2 ? fmin(c[0].gap, c[1].gap) : c[0].gap;
        // numbers of this size are rounded, a dozen times at most on the way to a gap or a witness point
        double scale = shape_size(&a) + shape_size(&b) + far;
        crPose wa = cr_pose_mul(pa, a.pose), wb = cr_pose_mul(pb, b.pose);
        worst = fmax(worst, fabs(shape_separation(&a, wa, &b, wb, c[0].normal) - gap) / scale);
        for (int k = 0; k < 30; k++) {
            double t = k < 15 ? sample_uniform(&random, -4, 4)
                              : cr_atan2(c[0].normal.y, c[0].normal.x) + sample_uniform(&random, -1e-3, 1e-3);
            double other = shape_separation(&a, wa, &b, wb, cr_vec3(cr_cos(t), cr_sin(t), 0));
            beaten = fmax(beaten, (other - gap) / scale);
        }
        for (int k = 0; k < count; k++)
            CHECK_NEAR(c[k].normal.z, 0, 1e-15);
        if (gap <= 0) continue;
        // apart: witness points lie in the shapes
        int k = count == 2 && c[1].gap < c[0].gap;
        if (a.kind != CR_SHAPE_HULL) worst = fmax(worst, shape_outside(&a, wa, c[k].on_a) / scale);
        if (b.kind != CR_SHAPE_HULL) worst = fmax(worst, shape_outside(&b, wb, c[k].on_b) / scale);
    }
    printf("planar: separation %.0e, beaten by %.0e\n", worst, beaten);
    CHECK(worst < 12 * 0x1p-53);
    CHECK(beaten < 12 * 0x1p-53);
    for (int k = 0; k < 4; k++)
        cr_hull_destroy(prisms[k]);
}

TEST(no_outline_is_refused) {
    crShape cone = cr_shape_cone(1, 1), ball = cr_shape_sphere(1), rod = cr_shape_capsule(1, 1);
    crPose at = cr_pose_identity();
    crContactPoint c[2];
    int count;
    crError error;
    CHECK_STATUS(cr_collide_planar(&cone, at, &ball, at, Y, 0, c, &count, &error), CR_ERR_PLANAR);
    CHECK_TEXT(error.field, "a");
    CHECK_STATUS(cr_collide_planar(&ball, at, &rod, at, cr_vec3(0, 0, 1), 0, c, &count, &error),
                 CR_ERR_PLANAR);
    CHECK_TEXT(error.field, "b");
    CHECK_STATUS(cr_collide_planar(&ball, at, &rod, at, cr_vec3(0, 0, 2), 0, c, &count, &error), CR_ERR_UNIT);
}
