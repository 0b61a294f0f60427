// test_collide_query.c - rays and points against the defining inequalities; bounds; what is refused; memory.
#include <stdlib.h>

#include "sample_shape.h"
#include "test.h"

static int samples(void) { return test_samples(1000000) == 1000000 ? 1000000 : 500; }

TEST(rays_meet_the_surface_first) {
    crRandom random = sample_seed(3);
    crHullPool pool = sample_hulls(&random);
    for (int k = 0; k < CONVEX_KINDS; k++) {
        double worst = 0, normal = 0;
        int hits = 0;
        for (int i = 0; i < samples(); i++) {
            crShape s = sample_shape(&random, convex_kinds[k], i % 4 ? FORM_ROUND : FORM_THIN, &pool);
            crPose pose = sample_pose(&random, FORM_ROUND);
            pose.p = cr_scale(sample_uniform(&random, 0, 3), sample_direction(&random));
            double size = shape_size(&s);
            crVec3 o = cr_madd(pose.p, 3 * size, sample_direction(&random));
            crVec3 aim = cr_madd(pose.p, sample_uniform(&random, 0, size), sample_direction(&random));
            crVec3 d = cr_sub(aim, o);
            d = cr_scale(1 / cr_norm(d), d);
            crRayHit hit;
            bool met = cr_ray(&s, pose, o, d, 10 * size, &hit);
            // walk along the ray: it is inside nowhere before the hit, and nowhere at all without one
            double until = met ? hit.t * (1 - 1e-9) : 10 * size;
            int steps = convex_kinds[k] == CR_SHAPE_HULL ? 4 : 50;
            for (int j = 0; j < steps; j++) {
                double t = until * (j + 0.5) / steps;
                double distance;
                crVec3 near, n;
                CHECK(cr_point_distance(&s, pose, cr_madd(o, t, d), &distance, &near, &n));
                if (!(distance > -1e-9 * size)) CHECK(distance > -1e-9 * size);
            }
            if (!met) continue;
            hits++;
            double distance;
            crVec3 near, n;
            cr_point_distance(&s, pose, hit.point, &distance, &near, &n);
            worst = fmax(worst, fabs(distance) / size);
            if (cr_dot(hit.normal, d) > 0) CHECK(cr_dot(hit.normal, d) <= 0);
            normal = fmax(normal, fabs(cr_norm(hit.normal) - 1));
        }
        printf("%-10s hits %d off surface %.0e\n", cr_shape_info(convex_kinds[k])->name, hits, worst);
        CHECK(hits > samples() / 4);
        // needles seen from afar: the quadratic's terms are 1e6 times its root
        CHECK(worst < 1e-11);
        CHECK(normal < 1e-14);
    }
    sample_hulls_destroy(&pool);
}

TEST(points_against_sampled_surfaces) {
    // |distance| is the least over many surface points, and the nearest point is on the surface
    crRandom random = sample_seed(4);
    crHullPool pool = sample_hulls(&random);
    for (int k = 0; k < CONVEX_KINDS; k++) {
        double on = 0;
        for (int i = 0; i < samples(); i++) {
            crShape s = sample_shape(&random, convex_kinds[k], FORM_ROUND, &pool);
            crPose pose = sample_pose(&random, FORM_ROUND);
            crVec3 x = cr_scale(sample_uniform(&random, 0, 2 * shape_size(&s)), sample_direction(&random)),
                   near, n;
            double distance, size = shape_size(&s);
            CHECK(cr_point_distance(&s, pose, x, &distance, &near, &n));
            if (convex_kinds[k] != CR_SHAPE_HULL) {
                on = fmax(on, fabs(shape_outside(&s, pose, near)) / size);
                if ((distance > 1e-9) != (shape_outside(&s, pose, x) > 1e-9)) CHECK(fabs(distance) < 1e-6);
            }
            for (int j = 0; j < 20; j++) {
                crVec3 p = shape_support(&s, pose, sample_direction(&random));
                if (!(cr_norm(cr_sub(p, x)) >= fabs(distance) - 1e-12))
                    CHECK(cr_norm(cr_sub(p, x)) >= fabs(distance));
            }
        }
        printf("%-10s nearest off surface %.0e\n", cr_shape_info(convex_kinds[k])->name, on);
        CHECK(on < 1e-13);
    }
    sample_hulls_destroy(&pool);
}

TEST(bounds_are_tight) {
    crRandom random = sample_seed(5);
    crHullPool pool = sample_hulls(&random);
    for (int i = 0; i < samples(); i++) {
        crShape s = sample_shape(&random, convex_kinds[i % CONVEX_KINDS], FORM_ROUND, &pool);
        s.pose = sample_pose(&random, FORM_ROUND);
        s.pose.p = sample_direction(&random);
        crPose body = sample_pose(&random, FORM_ROUND), pose;
        body.p = cr_scale(5, sample_direction(&random));
        pose = cr_pose_mul(body, s.pose);
        crBounds box = cr_shape_bounds(&s, body);
        double top = shape_support(&s, pose, cr_vec3(0, 0, 1)).z,
               left = shape_support(&s, pose, cr_vec3(-1, 0, 0)).x;
        CHECK_NEAR(box.hi.z, top, 1e-14 * 10);
        CHECK_NEAR(box.lo.x, left, 1e-14 * 10);
        double reach = cr_shape_reach(&s, cr_vec3(0, 0, 0));
        crVec3 far = shape_support(&s, pose, sample_direction(&random));
        CHECK(cr_norm(cr_sub(far, body.p)) <= reach * (1 + 1e-14));
    }
    sample_hulls_destroy(&pool);
}

static void refused(crShape s, bool moving, crStatus status, const char* field) {
    crError error = {0};
    CHECK_STATUS(cr_shape_check(&s, moving, &error), status);
    CHECK_TEXT(error.field, field);
}

TEST(bad_shapes_are_refused_by_name) {
    refused(cr_shape_sphere(0), true, CR_ERR_RANGE, "radius");
    refused(cr_shape_sphere(-1), true, CR_ERR_RANGE, "radius");
    refused(cr_shape_sphere(NAN), true, CR_ERR_FINITE, "radius");
    refused(cr_shape_capsule(1, 0), true, CR_ERR_RANGE, "half_length");
    refused(cr_shape_box(1, -1, 1), true, CR_ERR_RANGE, "half_y");
    refused(cr_shape_cylinder(1, INFINITY), true, CR_ERR_FINITE, "half_height");
    refused(cr_shape_cone(0, 1), true, CR_ERR_RANGE, "radius");
    refused(cr_shape_ellipsoid(1, 1, 0), true, CR_ERR_RANGE, "c");
    refused(cr_shape_halfspace(cr_vec3(0, 0, 2), 0), false, CR_ERR_UNIT, "normal");
    refused(cr_shape_halfspace(cr_vec3(0, 0, 1), NAN), false, CR_ERR_FINITE, "offset");
    refused(cr_shape_halfspace(cr_vec3(0, 0, 1), 0), true, CR_ERR_RANGE, "shape");
    refused(cr_shape_hull(NULL), true, CR_ERR_ARGUMENT, "data");
    crShape turned = cr_shape_sphere(1);
    turned.pose.q.w = 2;
    refused(turned, true, CR_ERR_UNIT, "pose");
    turned.kind = CR_SHAPE_KINDS;
    refused(turned, true, CR_ERR_RANGE, "kind");
    crShape good = cr_shape_halfspace(cr_vec3(0, 0, 1), 0);
    CHECK_STATUS(cr_shape_check(&good, false, NULL), CR_OK);
}

static const crVec3 CUBE[8] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                               {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
static const int LOOPS[24] = {3, 2, 1, 0, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7};
static const int SIZES[6] = {4, 4, 4, 4, 4, 4};

static crStatus hull_of(const crVec3* v, const int* loops, int faces, char field[48]) {
    crHullDef def = {8, v, faces, SIZES, loops};
    crHull* hull = NULL;
    crError error = {0};
    crStatus status = cr_hull_create(&def, NULL, &hull, &error);
    strcpy(field, error.field);
    cr_hull_destroy(hull);
    return status;
}

TEST(bad_hulls_are_refused_by_name) {
    char field[48];
    crVec3 v[8];
    int loops[24];
    CHECK_STATUS(hull_of(CUBE, LOOPS, 6, field), CR_OK);
    CHECK_STATUS(hull_of(CUBE, LOOPS, 5, field), CR_ERR_RANGE);  // open
    CHECK_STATUS(hull_of(CUBE, LOOPS, 3, field), CR_ERR_SIZE);
    for (int i = 0; i < 24; i++)
        loops[i] = LOOPS[23 - i];
    CHECK_STATUS(hull_of(CUBE, loops, 6, field), CR_ERR_RANGE);  // inside out
    CHECK_TEXT(field, "faces");
    memcpy(v, CUBE, sizeof v);
    v[6] = cr_vec3(0.5, 0.5, 0.5);  // dented: faces no longer flat
    CHECK_STATUS(hull_of(v, LOOPS, 6, field), CR_ERR_RANGE);
    for (int i = 0; i < 8; i++)
        v[i].z = 0;
    CHECK_STATUS(hull_of(v, LOOPS, 6, field), CR_ERR_RANGE);  // flat
    memcpy(v, CUBE, sizeof v);
    v[0].x = NAN;
    CHECK_STATUS(hull_of(v, LOOPS, 6, field), CR_ERR_FINITE);
    CHECK_TEXT(field, "vertices");
    memcpy(loops, LOOPS, sizeof loops);
    loops[5] = 8;
    CHECK_STATUS(hull_of(CUBE, loops, 6, field), CR_ERR_RANGE);
    CHECK_TEXT(field, "face_loops");
}

TEST(prism_is_the_box) {
    const crVec3 square[4] = {{-1, -2, 0}, {1, -2, 0}, {1, 2, 0}, {-1, 2, 0}};
    crHull* hull;
    CHECK_STATUS(cr_hull_create_prism(square, 4, 3, NULL, &hull, NULL), CR_OK);
    crShape a = cr_shape_hull(hull), b = cr_shape_box(1, 2, 3), ball = cr_shape_capsule(0.3, 0.5);
    crRandom random = sample_seed(6);
    double worst = 0;
    for (int i = 0; i < samples(); i++) {
        crPose at = sample_pose(&random, FORM_ROUND), pose = cr_pose_identity();
        at.p = cr_scale(sample_uniform(&random, 0, 5), sample_direction(&random));
        crDistance x, y;
        cr_distance(&a, pose, &ball, at, INFINITY, &x);
        cr_distance(&b, pose, &ball, at, INFINITY, &y);
        worst = fmax(worst, fabs(x.contact.gap - y.contact.gap));
        cr_distance(&a, pose, &b, at, INFINITY, &x);
        cr_distance(&b, pose, &b, at, INFINITY, &y);
        worst = fmax(worst, fabs(x.contact.gap - y.contact.gap));
    }
    printf("prism against box: %.0e\n", worst);
    // two answers, each within 2^-52 of the pair's size of at most 12.5
    CHECK(worst < 2e-14);
    cr_hull_destroy(hull);
    CHECK_STATUS(cr_hull_create_prism(square, 2, 3, NULL, &hull, NULL), CR_ERR_SIZE);
    CHECK_STATUS(cr_hull_create_prism(square, 4, 0, NULL, &hull, NULL), CR_ERR_RANGE);
    CHECK_STATUS(cr_hull_create_prism(NULL, 4, 1, NULL, &hull, NULL), CR_ERR_ARGUMENT);
}
