// test_collide_time.c - time of impact: closed forms, a bullet through a thin wall, and dense sampling of
// motions.
#include "sample_shape.h"
#include "test.h"

static int samples(void) { return test_samples(1000000) == 1000000 ? 50000 : 150; }

static crMotion still(crPose pose) { return (crMotion){.pose = pose}; }

TEST(bullets_do_not_pass_a_thin_wall) {
    crShape wall = cr_shape_box(1, 1, 0.0005), bullet = cr_shape_sphere(0.002);
    crRandom random = sample_seed(10);
    double worst = 0;
    for (int i = 0; i < 20 * samples(); i++) {
        crMotion w = still(cr_pose_identity()), b = still(cr_pose_identity());
        b.pose.p = cr_vec3(sample_uniform(&random, -0.3, 0.3), sample_uniform(&random, -0.3, 0.3),
                           sample_uniform(&random, 0.5, 3));
        b.v = cr_vec3(sample_uniform(&random, -50, 50), sample_uniform(&random, -50, 50),
                      -sample_log(&random, 300, 1e5));
        b.omega = cr_scale(1e4, sample_direction(&random));
        double t = (b.pose.p.z - 0.0025) / -b.v.z;
        crImpactTime hit = cr_time_of_impact(&wall, &w, &bullet, &b, 1.0, 0);
        CHECK(hit.outcome == CR_IMPACT_HIT);
        worst = fmax(worst, fabs(hit.t - t) * -b.v.z);
        CHECK(hit.distance.contact.gap >= 0);
    }
    printf("bullet and wall: %.0e m from the exact place\n", worst);
    CHECK(worst < 2e-10);
}

TEST(two_balls_meet_by_the_quadratic) {
    crRandom random = sample_seed(11);
    double worst = 0;
    for (int i = 0; i < 20 * samples(); i++) {
        double ra = sample_log(&random, 0.01, 1), rb = sample_log(&random, 0.01, 1);
        crShape a = cr_shape_sphere(ra), b = cr_shape_sphere(rb);
        crMotion ma = still(cr_pose_identity()), mb = ma;
        mb.pose.p = cr_scale((ra + rb) * sample_uniform(&random, 1.1, 5), sample_direction(&random));
        crVec3 miss = cr_scale(sample_uniform(&random, 0, 0.9) * (ra + rb), sample_direction(&random));
        ma.v = cr_scale(sample_uniform(&random, 0, 5), sample_direction(&random));
        mb.v = cr_add(ma.v, cr_scale(sample_log(&random, 0.1, 10), cr_sub(miss, mb.pose.p)));
        crVec3 p = mb.pose.p, v = cr_sub(mb.v, ma.v);
        double q = cr_dot(v, v), r = cr_dot(p, v), c = cr_dot(p, p) - (ra + rb) * (ra + rb),
               root = r * r - q * c;
        if (root < 1e-3 * r * r) continue;
        double t = c / (-r + sqrt(root));
        crImpactTime hit = cr_time_of_impact(&a, &ma, &b, &mb, 2 * t, 0);
        CHECK(hit.outcome == CR_IMPACT_HIT);
        double closing = sqrt(root) / (ra + rb);
        worst = fmax(worst, fabs(hit.t - t) * closing / fmax(ra, rb));
    }
    printf("two balls: %.0e relative\n", worst);
    CHECK(worst < 1.01e-10);
}

// no overlap before the answer, touching at it: instants a hundredth apart, or as far as the gap forbids any
// touch, since it shrinks by no more than the speed of the fastest point
TEST(turning_pairs_against_dense_sampling) {
    crRandom random = sample_seed(12);
    crHullPool pool = sample_hulls(&random);
    int hits = 0, limits = 0, most = 0;
    double early = 0;
    for (int i = 0; i < samples(); i++) {
        crShape a =
            sample_shape(&random, convex_kinds[sample_bits(&random) % CONVEX_KINDS], FORM_ROUND, &pool);
        crShape b =
            sample_shape(&random, convex_kinds[sample_bits(&random) % CONVEX_KINDS], FORM_ROUND, &pool);
        crMotion ma = still(sample_pose(&random, FORM_ROUND)), mb = still(sample_pose(&random, FORM_ROUND));
        double size = shape_size(&a) + shape_size(&b);
        mb.pose.p = cr_scale(1.2 * size, sample_direction(&random));
        mb.v = cr_add(cr_scale(-1.0, mb.pose.p), cr_scale(0.5 * size, sample_direction(&random)));
        ma.omega = cr_scale(sample_uniform(&random, 0, 10), sample_direction(&random));
        mb.omega = cr_scale(sample_uniform(&random, 0, 10), sample_direction(&random));
        crImpactTime hit = cr_time_of_impact(&a, &ma, &b, &mb, 1.5, 0);
        hits += hit.outcome == CR_IMPACT_HIT;
        limits += hit.outcome == CR_IMPACT_LIMIT;
        most = hit.iterations > most ? hit.iterations : most;
        double until = hit.outcome == CR_IMPACT_NONE ? 1.5 : hit.t;
        double fastest = cr_norm(cr_sub(mb.v, ma.v)) + cr_norm(ma.omega) * shape_size(&a) +
                         cr_norm(mb.omega) * shape_size(&b);
        for (double t = 0; t < until * 0.995;) {
            crDistance d;
            cr_distance(&a, cr_motion_at(&ma, t), &b, cr_motion_at(&mb, t), INFINITY, &d);
            if (!(d.contact.gap > 0)) CHECK(d.contact.gap > 0);
            t += fmax(until / 100, d.contact.gap / fastest);
        }
        if (hit.outcome == CR_IMPACT_HIT) {
            CHECK(hit.distance.contact.gap >= -1e-14 * size);
            early = fmax(early, hit.distance.contact.gap / size);
        }
    }
    printf("turning pairs: %d hits of %d, %d limits, at most %d distances, gap at the hit %.0e\n", hits,
           samples(), limits, most, early);
    CHECK(hits > samples() / 3);
    // spin times size a thousand times the closing speed: iterations may run out, which is said
    CHECK(limits <= samples() / 10000);
    CHECK(early <= 1e-10);
    sample_hulls_destroy(&pool);
}

TEST(a_ball_falls_on_a_height_field) {
    double z[16] = {0, 0.1, 0.3, 0.2, 0, 0, 0.2, 0.1, 0.1, 0.3, 0, 0, 0, 0.2, 0.1, 0};
    crHeightFieldDef def = {4, 4, 1, 1, z};
    crHeightField* field;
    CHECK_STATUS(cr_heightfield_create(&def, NULL, &field, NULL), CR_OK);
    crShape ground = cr_shape_heightfield(field), ball = cr_shape_sphere(0.01);
    crMotion g = still(cr_pose_identity()), b = g;
    b.pose.p = cr_vec3(1.3, 1.4, 5);
    b.v = cr_vec3(10, 5, -1000);
    crImpactTime hit = cr_time_of_impact(&ground, &g, &ball, &b, 1, 0);
    CHECK(hit.outcome == CR_IMPACT_HIT);
    CHECK(hit.distance.contact.gap >= 0 && hit.distance.contact.gap <= 1e-9);
    // already touching
    b.pose.p.z = 0;
    CHECK(cr_time_of_impact(&ground, &g, &ball, &b, 1, 0).t == 0);
    cr_heightfield_destroy(field);
}
