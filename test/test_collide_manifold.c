// test_collide_manifold.c - contacts of convex pairs: on both surfaces, within the margin, deepest included,
// every corner of two faces; ready cases with known answers.
#include <stdlib.h>

#include "sample_shape.h"
#include "test.h"

static int samples(void) { return test_samples(1000000) == 1000000 ? 500000 : 60; }

typedef struct Worst {
    double gap, deepest, surface;
    int most, same;
} Worst;

static void check_contacts(const crShape* a, crPose pa, const crShape* b, crPose pb, Worst* w) {
    crContactPoint c[CR_MANIFOLD_MAX];
    crDistance d;
    double scale = shape_size(a) + shape_size(b), margin = 0.02 * scale;
    int needed, count = cr_collide(a, pa, b, pb, margin, c, CR_MANIFOLD_MAX, &needed);
    cr_distance(a, pa, b, pb, INFINITY, &d);
    CHECK(needed == count);
    CHECK((count > 0) == (d.contact.gap <= margin));
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        least = fmin(least, c[i].gap);
        CHECK(c[i].gap <= margin);
        // between the witness points, along the normal
        crVec3 r = cr_sub(cr_sub(c[i].on_b, c[i].on_a), cr_scale(c[i].gap, c[i].normal));
        w->gap = fmax(w->gap, cr_norm(r) / scale);
        if (a->kind != CR_SHAPE_HULL) w->surface = fmax(w->surface, shape_outside(a, pa, c[i].on_a) / scale);
        if (b->kind != CR_SHAPE_HULL) w->surface = fmax(w->surface, shape_outside(b, pb, c[i].on_b) / scale);
        for (int k = 0; k < i; k++)
            w->same += c[i].feature_a == c[k].feature_a && c[i].feature_b == c[k].feature_b;
    }
    if (count > 0) w->deepest = fmax(w->deepest, fabs(least - d.contact.gap) / scale);
    if (count > w->most) w->most = count;
}

static void run_kind(crRandom* random, crShapeKind ka, crShapeKind kb, const crHullPool* pool) {
    Worst w = {0};
    for (int s = 0; s < 2 * samples(); s++) {
        crSampleForm form = s % 2 ? FORM_SQUARE : FORM_ROUND;
        crShape a = sample_shape(random, ka, form, pool), b = sample_shape(random, kb, form, pool);
        crPose pa = sample_pose(random, form), pb = sample_pose(random, form);
        // face to face, slightly tilted every third time
        crVec3 d = s % 2 ? cr_vec3(0, 0, 1) : sample_direction(random);
        if (s % 3 == 0)
            pb.q = cr_quat_mul(
                cr_quat_axis_angle(sample_direction(random), s % 4 ? 1e-3 : sample_log(random, 1e-9, 0.2)),
                pb.q);
        double touch = -shape_separation(&a, pa, &b, pb, d);
        pb.p = cr_scale(touch * sample_uniform(random, 0.97, 1.01), d);
        check_contacts(&a, pa, &b, pb, &w);
    }
    printf("%-10s %-10s %d pairs gap %.0e deepest %.0e surface %.1e most %d same ids %d\n",
           cr_shape_info(ka)->name, cr_shape_info(kb)->name, 2 * samples(), w.gap, w.deepest, w.surface,
           w.most, w.same);
    CHECK(w.gap < 1e-14);
    CHECK(w.deepest < 1e-8);
    // edges that are nearly parallel: half of what they may run apart, 1e-3 of the smaller size
    CHECK(w.surface < 5.001e-4);
    CHECK(w.same == 0);
}

// pairs of the kind with itself and those listed after it, each with its own seed so that they run alone too
static void run_kinds_from(int first) {
    crRandom random = sample_seed(200 + (uint64_t)first);
    crHullPool pool = sample_hulls(&random);
    for (int k = first; k < CONVEX_KINDS; k++)
        run_kind(&random, convex_kinds[first], convex_kinds[k], &pool);
    sample_hulls_destroy(&pool);
}

TEST(contacts_of_sphere_pairs) { run_kinds_from(0); }
TEST(contacts_of_capsule_pairs) { run_kinds_from(1); }
TEST(contacts_of_box_pairs) { run_kinds_from(2); }
TEST(contacts_of_cylinder_pairs) { run_kinds_from(3); }
TEST(contacts_of_cone_pairs) { run_kinds_from(4); }
TEST(contacts_of_ellipsoid_pairs) { run_kinds_from(5); }
TEST(contacts_of_hull_pairs) { run_kinds_from(6); }

TEST(half_spaces_meet_every_shape) {
    // tilted, the shape's lowest point from deep inside to far off: a contact exactly where the gap allows
    crRandom random = sample_seed(207);
    crHullPool pool = sample_hulls(&random);
    for (int k = 0; k < CONVEX_KINDS; k++) {
        double worst = 0;
        int touching = 0;
        for (int i = 0; i < 2 * samples(); i++) {
            crShape b = sample_shape(&random, convex_kinds[k], FORM_ROUND, &pool);
            crVec3 n = sample_direction(&random);
            crShape plane = cr_shape_halfspace(n, sample_uniform(&random, -2, 2));
            crPose pa = sample_pose(&random, FORM_ROUND), pb = sample_pose(&random, FORM_ROUND);
            pa.p = cr_scale(5, sample_direction(&random));
            crVec3 up = cr_quat_rotate(pa.q, n);
            double size = shape_size(&b), margin = 0.01 * size;
            double floor = cr_dot(up, pa.p) + plane.offset,
                   low = cr_dot(up, shape_support(&b, pb, cr_neg(up)));
            double gap =
                size * (i % 2 ? sample_uniform(&random, -0.02, 0.02) : sample_uniform(&random, -3, 3));
            pb.p = cr_scale(floor + gap - low, up);
            crContactPoint c[CR_MANIFOLD_MAX], d[CR_MANIFOLD_MAX];
            int count = cr_collide(&plane, pa, &b, pb, margin, c, CR_MANIFOLD_MAX, NULL);
            CHECK(cr_collide(&b, pb, &plane, pa, margin, d, CR_MANIFOLD_MAX, NULL) == count);
            if (fabs(gap - margin) > 1e-12) CHECK((count > 0) == (gap <= margin));
            double least = INFINITY;
            for (int j = 0; j < count; j++)
                least = fmin(least, c[j].gap);
            if (count > 0) worst = fmax(worst, fabs(least - gap));
            touching += count > 0;
        }
        printf("half-space %-10s gap %.0e, %d of %d touching\n", cr_shape_info(convex_kinds[k])->name, worst,
               touching, 2 * samples());
        // positions 5 m away, sizes up to 3.5 m; an octagon stands for a disc that is flat within 1e-9 of it
        bool disc = convex_kinds[k] == CR_SHAPE_CYLINDER || convex_kinds[k] == CR_SHAPE_CONE;
        CHECK(worst < (disc ? 3.5e-9 : 2e-14));
        CHECK(touching > samples() / 3);
    }
    sample_hulls_destroy(&pool);
}

TEST(balls_are_the_same_either_way) {
    // ball, box and half-space, off their bodies' origins: no bit depends on which is A, and distance agrees
    crRandom random = sample_seed(208);
    double worst = 0;
    for (int i = 0; i < 2 * samples(); i++) {
        crShape ball = cr_shape_sphere(sample_log(&random, 0.1, 1)), other = cr_shape_sphere(0.5);
        if (i % 3 == 1) other = sample_shape(&random, CR_SHAPE_BOX, FORM_ROUND, NULL);
        if (i % 3 == 2) other = cr_shape_halfspace(sample_direction(&random), 0.3);
        crPose pa = sample_pose(&random, FORM_ROUND), pb = sample_pose(&random, FORM_ROUND);
        ball.pose = sample_pose(&random, FORM_ROUND);
        ball.pose.p = i % 2 ? cr_scale(0.2, sample_direction(&random)) : ball.pose.p;
        other.pose = sample_pose(&random, FORM_ROUND);
        other.pose.p = i % 2 ? cr_scale(0.2, sample_direction(&random)) : other.pose.p;
        pb.p = cr_scale(sample_uniform(&random, 0, 2), sample_direction(&random));
        crContactPoint c, d;
        crDistance distance;
        int count = cr_collide(&ball, pa, &other, pb, 0.05, &c, 1, NULL);
        CHECK(cr_collide(&other, pb, &ball, pa, 0.05, &d, 1, NULL) == count);
        cr_distance(&ball, pa, &other, pb, INFINITY, &distance);
        if (fabs(distance.contact.gap - 0.05) > 1e-14) CHECK((count > 0) == (distance.contact.gap <= 0.05));
        if (count == 0) continue;
        CHECK(c.gap == d.gap && c.feature_a == d.feature_b && c.feature_b == d.feature_a);
        CHECK_VEC(c.normal, cr_neg(d.normal), 0);
        CHECK_VEC(c.point, d.point, 0);
        CHECK_VEC(c.on_a, d.on_b, 0);
        CHECK(c.feature_a == distance.contact.feature_a && c.feature_b == distance.contact.feature_b);
        worst = fmax(worst, fabs(c.gap - distance.contact.gap));
        worst = fmax(worst, cr_norm(cr_sub(c.point, distance.contact.point)));
    }
    printf("balls: distance and contact differ by %.0e\n", worst);
    CHECK(worst < 1e-14);
}

TEST(box_on_box_has_four_corners) {
    crShape low = cr_shape_box(1, 1, 1), high = cr_shape_box(0.5, 0.25, 0.5);
    crPose pa = cr_pose_identity(), pb = pa;
    pb.p = cr_vec3(0.1, 0.2, 1.5 - 0.01);
    crContactPoint c[4], later[4];
    CHECK(cr_collide(&low, pa, &high, pb, 0.0, c, 4, NULL) == 4);
    double x = 0, y = 0;
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(c[i].gap, -0.01, 1e-15);
        CHECK_VEC(c[i].normal, cr_vec3(0, 0, 1), 0.0);
        CHECK_NEAR(fabs(c[i].point.x - 0.1), 0.5, 1e-15);
        CHECK_NEAR(fabs(c[i].point.y - 0.2), 0.25, 1e-15);
        CHECK_NEAR(c[i].point.z, 0.995, 1e-15);
        CHECK(CR_FEATURE_KIND(c[i].feature_a) == CR_FEATURE_FACE);
        CHECK(CR_FEATURE_KIND(c[i].feature_b) == CR_FEATURE_VERTEX);
        x += c[i].point.x;
        y += c[i].point.y;
    }
    CHECK_NEAR(x, 0.4, 1e-14);
    CHECK_NEAR(y, 0.8, 1e-14);
    // a small motion keeps ids and order
    pb.p.x += 1e-3;
    pb.q = cr_quat_axis_angle(cr_vec3(0.3, 1, 0.2), 1e-4);
    CHECK(cr_collide(&low, pa, &high, pb, 0.01, later, 4, NULL) == 4);
    for (int i = 0; i < 4; i++)
        CHECK(later[i].feature_a == c[i].feature_a && later[i].feature_b == c[i].feature_b);
}

TEST(edge_across_edge_is_the_cross_product) {
    crShape box = cr_shape_box(1, 1, 1);
    crPose pa = {cr_vec3(0, 0, 0), cr_quat_axis_angle(cr_vec3(1, 0, 0), CR_PI / 4)};
    crPose pb = {cr_vec3(0, 0, 2 * sqrt(2.0) + 1e-3), cr_quat_axis_angle(cr_vec3(0, 1, 0), CR_PI / 4)};
    crContactPoint c[4];
    CHECK(cr_collide(&box, pa, &box, pb, 0.01, c, 4, NULL) == 1);
    CHECK_NEAR(c[0].gap, 1e-3, 1e-14);
    CHECK_VEC(c[0].normal, cr_vec3(0, 0, 1), 1e-15);
    CHECK(CR_FEATURE_KIND(c[0].feature_a) == CR_FEATURE_EDGE);
    CHECK(CR_FEATURE_KIND(c[0].feature_b) == CR_FEATURE_EDGE);
    CHECK_VEC(c[0].point, cr_vec3(0, 0, sqrt(2.0) + 0.5e-3), 1e-12);
}

TEST(centres_together_say_so) {
    crShape ball = cr_shape_sphere(1), rod = cr_shape_capsule(0.1, 1);
    crPose at = cr_pose_identity();
    crDistance d;
    CHECK(cr_distance(&ball, at, &ball, at, INFINITY, &d));
    CHECK_NEAR(d.contact.gap, -2, 0);
    CHECK(CR_FEATURE_KIND(d.contact.feature_a) == CR_FEATURE_CENTRE);
    CHECK(cr_distance(&rod, at, &rod, at, INFINITY, &d));
    CHECK_NEAR(d.contact.gap, -0.2, 1e-15);
    CHECK_NEAR(d.contact.normal.z, 0, 1e-15);
    CHECK(CR_FEATURE_KIND(d.contact.feature_b) == CR_FEATURE_CENTRE);
    // vertex against vertex: the line between them
    crShape box = cr_shape_box(1, 1, 1);
    crPose far = at;
    far.p = cr_vec3(3, 3, 3);
    CHECK(cr_distance(&box, at, &box, far, INFINITY, &d));
    CHECK_NEAR(d.contact.gap, sqrt(3.0), 1e-15);
    CHECK_VEC(d.contact.normal, cr_vec3(1 / sqrt(3.0), 1 / sqrt(3.0), 1 / sqrt(3.0)), 1e-15);
    CHECK(CR_FEATURE_KIND(d.contact.feature_a) == CR_FEATURE_VERTEX);
}

// pos, quat and size of the boxes of a scene, by hand
typedef struct Scene {
    crVec3 pos, size;
} Scene;

TEST(hard_box_cases_of_a_peer) {
    // collision_box__boxbox_bad0, _duplicate and _deep: blocks in a tower, equal cubes, one box inside
    // another
    const Scene tower[4] = {{{-0.9, 0, 1.5}, {0.5, 0.5, 1.5}},
                            {{-0.7, 0, 3.5}, {1.5, 0.5, 0.5}},
                            {{0.3, 0, 5.5}, {0.5, 0.5, 1.5}},
                            {{0.2, 1e-9, 7.5}, {1.5, 0.5, 0.5}}};
    const double overlap_x[3] = {1.0, 1.0, 1.0};
    for (int i = 0; i + 1 < 4; i++) {
        crShape a = cr_shape_box(tower[i].size.x, tower[i].size.y, tower[i].size.z);
        crShape b = cr_shape_box(tower[i + 1].size.x, tower[i + 1].size.y, tower[i + 1].size.z);
        crPose pa = {tower[i].pos, cr_quat_identity()}, pb = {tower[i + 1].pos, cr_quat_identity()};
        crContactPoint c[4];
        int count = cr_collide(&a, pa, &b, pb, 1e-3, c, 4, NULL);
        CHECK(count == 4);
        double lo = INFINITY, hi = -INFINITY;
        for (int k = 0; k < count; k++) {
            CHECK_NEAR(c[k].gap, 0, 1e-15);
            CHECK_VEC(c[k].normal, cr_vec3(0, 0, 1), 0);
            CHECK_NEAR(fabs(c[k].point.y), 0.5, 2e-9);
            lo = fmin(lo, c[k].point.x);
            hi = fmax(hi, c[k].point.x);
        }
        CHECK_NEAR(hi - lo, overlap_x[i], 1e-14);
    }
    crShape cube = cr_shape_box(1, 1, 1), small = cr_shape_box(0.2, 0.2, 0.2);
    crPose at = cr_pose_identity(), up = at, in = at;
    up.p.z = 2;
    in.p = cr_vec3(0.1, 0.2, 0.3);
    crContactPoint c[4];
    CHECK(cr_collide(&cube, at, &cube, up, 0, c, 4, NULL) == 4);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            CHECK(cr_norm(cr_sub(c[i].point, c[k].point)) > 1.9);
    CHECK(cr_collide(&cube, at, &small, in, 0, c, 4, NULL) == 4);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(c[i].gap, -0.9, 1e-15);
        CHECK_VEC(c[i].normal, cr_vec3(0, 0, 1), 0);
    }
}

TEST(cylinder_stands_on_a_plane) {
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0), can = cr_shape_cylinder(1, 2);
    crPose at = cr_pose_identity(), up = at;
    up.p.z = 2 - 1e-3;
    crContactPoint c[CR_MANIFOLD_MAX];
    CHECK(cr_collide(&floor, at, &can, up, 0, c, CR_MANIFOLD_MAX, NULL) == 8);
    for (int i = 0; i < 8; i++) {
        CHECK_NEAR(c[i].gap, -1e-3, 1e-15);
        CHECK_NEAR(cr_norm(cr_vec3(c[i].point.x, c[i].point.y, 0)), 1, 1e-15);
        // corners of a regular octagon
        for (int k = 0; k < i; k++)
            CHECK(cr_norm(cr_sub(c[i].point, c[k].point)) > 0.76);
    }
    // lying: the two ends of a line
    up.q = cr_quat_axis_angle(cr_vec3(1, 0, 0), CR_PI / 2);
    up.p.z = 1;
    CHECK(cr_collide(&floor, at, &can, up, 1e-9, c, 4, NULL) == 2);
    CHECK_NEAR(cr_norm(cr_sub(c[0].point, c[1].point)), 4, 1e-12);
}

// the region of two square faces turned against each other has eight corners, and which ones are contacts
// does not follow tilts far below what a solver leaves
TEST(corners_of_turned_faces_are_all_kept) {
    crRandom random = sample_seed(31);
    crShape cube = cr_shape_box(1, 1, 1);
    crPose at = cr_pose_identity();
    for (int i = 0; i < 50; i++) {
        crQuat turn = cr_quat_axis_angle(cr_vec3(0, 0, 1), sample_uniform(&random, 0.2, 1.3));
        crContactPoint first[CR_MANIFOLD_MAX], c[CR_MANIFOLD_MAX];
        CHECK(cr_collide(&cube, at, &cube, (crPose){cr_vec3(0, 0, 2), turn}, 1e-3, first, CR_MANIFOLD_MAX,
                         NULL) == 8);
        for (int k = 0; k < 20; k++) {
            crQuat tilt = cr_quat_axis_angle(sample_direction(&random), 1e-7);
            crPose pb = {cr_madd(cr_vec3(0, 0, 2), 1e-7, sample_direction(&random)), cr_quat_mul(tilt, turn)};
            CHECK(cr_collide(&cube, at, &cube, pb, 1e-3, c, CR_MANIFOLD_MAX, NULL) == 8);
            for (int m = 0; m < 8; m++) {
                CHECK(c[m].feature_a == first[m].feature_a && c[m].feature_b == first[m].feature_b);
                CHECK_VEC(c[m].point, first[m].point, 2e-6);
            }
        }
    }
}

// of the sixteen corners of two octagons eight are left; they span all but the eight flat ones
TEST(too_many_corners_lose_the_flattest) {
    crShape can = cr_shape_cylinder(1, 1);
    crPose at = cr_pose_identity(), up = {cr_vec3(0, 0, 2), cr_quat_axis_angle(cr_vec3(0, 0, 1), 0.3)};
    crContactPoint c[16];
    int needed, count = cr_collide(&can, at, &can, up, 1e-3, c, 16, &needed);
    CHECK(count == CR_MANIFOLD_MAX && needed == CR_MANIFOLD_MAX);
    for (int i = 0; i < count; i++) {
        CHECK_NEAR(c[i].gap, 0.0, 1e-15);
        // within both octagons, whose sides are at cos(pi/8)
        double r = cr_norm(cr_vec3(c[i].point.x, c[i].point.y, 0));
        CHECK(r <= 1.0 && r >= 0.92);
        for (int k = 0; k < i; k++)
            CHECK(cr_norm(cr_sub(c[i].point, c[k].point)) > 0.3);
    }
}
