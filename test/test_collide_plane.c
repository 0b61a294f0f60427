// test_collide_plane.c - a box on a half-space, whose contacts come straight from its corners.
//
// Checked from definitions: contacts are corners of the box, each with its own height over the plane, no two
// the same, none farther than the margin, the lowest corner among them, and all four of a face that lies
// within 8 degrees. The second way is a hull of the same corners, which goes through faces and clipping.
#include "sample_shape.h"
#include "test.h"

// the corner of the box nearest to x: its number, and how far off it is
static int nearest_corner(const crShape* box, crPose pose, crVec3 x, double* off) {
    int best = 0;
    *off = INFINITY;
    for (int i = 0; i < 8; i++) {
        crVec3 s = box->size, at = cr_vec3(i & 1 ? s.x : -s.x, i & 2 ? s.y : -s.y, i & 4 ? s.z : -s.z);
        double d = cr_norm(cr_sub(cr_pose_point(pose, at), x));
        if (d >= *off) continue;
        *off = d;
        best = i;
    }
    return best;
}

static crHull* hull_of(const crShape* box) {
    crVec3 s = box->size;
    crVec3 corners[4] = {{-s.x, -s.y, 0}, {s.x, -s.y, 0}, {s.x, s.y, 0}, {-s.x, s.y, 0}};
    crHull* hull = NULL;
    cr_hull_create_prism(corners, 4, s.z, NULL, &hull, NULL);
    return hull;
}

// contacts of box and plane against their definitions; how many
static int check_contacts(const crShape* box, crPose pose, crVec3 n, double offset, double margin,
                          bool box_is_b, const crContactPoint* c, int count) {
    double scale = cr_norm(box->size), far = 1e-15 * (cr_norm(pose.p) + fabs(offset) + scale), off;
    double lowest = INFINITY, found = INFINITY;
    unsigned seen = 0;
    for (int i = 0; i < 8; i++) {
        crVec3 s = box->size, at = cr_vec3(i & 1 ? s.x : -s.x, i & 2 ? s.y : -s.y, i & 4 ? s.z : -s.z);
        lowest = fmin(lowest, cr_dot(n, cr_pose_point(pose, at)) - offset);
    }
    for (int i = 0; i < count; i++) {
        crVec3 on_box = box_is_b ? c[i].on_b : c[i].on_a, on_plane = box_is_b ? c[i].on_a : c[i].on_b;
        int corner = nearest_corner(box, pose, on_box, &off);
        CHECK(off <= 1e-14 * scale + 4.0 * far);
        CHECK((seen >> corner & 1u) == 0);
        seen |= 1u << corner;
        CHECK_NEAR(cr_dot(n, on_box) - offset, c[i].gap, 1e-14 * scale + 8.0 * far);
        CHECK_NEAR(cr_dot(n, on_plane), offset, 1e-14 * scale + 8.0 * far);
        CHECK_VEC(c[i].normal, box_is_b ? n : cr_neg(n), 1e-15);
        CHECK(c[i].gap <= margin);
        found = fmin(found, c[i].gap);
        if (i > 0) {
            uint32_t was = box_is_b ? c[i - 1].feature_b : c[i - 1].feature_a;
            CHECK((box_is_b ? c[i].feature_b : c[i].feature_a) > was);
        }
    }
    if (lowest <= margin - 1e-9 * scale) CHECK_NEAR(found, lowest, 1e-14 * scale + 8.0 * far);
    if (lowest > margin + 1e-9 * scale) CHECK(count == 0);
    return count;
}

TEST(a_box_on_a_plane_touches_with_its_corners) {
    crRandom random = sample_seed(7102);
    int kinds[5] = {0}, samples = test_samples(30000);
    for (int i = 0; i < samples; i++) {
        crSampleForm form = (crSampleForm)(i % FORMS);
        crShape box = sample_shape(&random, CR_SHAPE_BOX, form, NULL);
        crPose pose = sample_pose(&random, form), at = cr_pose_identity();
        crVec3 n = sample_direction(&random);
        if (i % 3 == 0) {
            // nearly flat on a face, or on an edge
            crVec3 axis = cr_vec3(i % 2, (i / 2) % 2, 1);
            n = cr_quat_rotate(pose.q, cr_scale(1.0 / cr_norm(axis), axis));
            n = cr_madd(n, 0.05 * sample_uniform(&random, 0.0, 1.0), sample_direction(&random));
            n = cr_scale(1.0 / cr_norm(n), n);
        }
        double scale = cr_norm(box.size), offset = sample_uniform(&random, -3.0, 3.0) * scale;
        double margin = 0.3 * sample_uniform(&random, 0.0, 1.0) * scale;
        crShape plane = cr_shape_halfspace(n, offset);
        crVec3 low = shape_support(&box, pose, cr_neg(n));
        double lift = offset - cr_dot(n, low) + sample_uniform(&random, -0.2, 0.3) * scale;
        pose.p = cr_madd(pose.p, lift, n);
        bool box_is_b = i % 2 == 0;
        crContactPoint c[CR_MANIFOLD_MAX], h[CR_MANIFOLD_MAX];
        int count = box_is_b ? cr_collide(&plane, at, &box, pose, margin, c, CR_MANIFOLD_MAX, NULL)
                             : cr_collide(&box, pose, &plane, at, margin, c, CR_MANIFOLD_MAX, NULL);
        kinds[check_contacts(&box, pose, n, offset, margin, box_is_b, c, count)]++;
        crHull* hull = hull_of(&box);
        if (hull == NULL) continue;
        // the same by faces: where it gives as many, they are the same points
        crShape other = cr_shape_hull(hull);
        int second = box_is_b ? cr_collide(&plane, at, &other, pose, margin, h, CR_MANIFOLD_MAX, NULL)
                              : cr_collide(&other, pose, &plane, at, margin, h, CR_MANIFOLD_MAX, NULL);
        for (int k = 0; k < second; k++) {
            double nearest = INFINITY;
            for (int m = 0; m < count; m++)
                nearest = fmin(nearest, cr_norm(cr_sub(h[k].point, c[m].point)));
            // corners within rounding of the margin may be on either side of it
            bool edge = fabs(h[k].gap - margin) <= 1e-9 * scale;
            CHECK(nearest <= 1e-9 * scale || edge || second != count);
        }
        CHECK((second > 0) == (count > 0) || (count > 0 && c[0].gap > margin - 1e-9 * scale));
        cr_hull_destroy(hull);
    }
    printf("  none %d, vertex %d, edge %d, three %d, face %d\n", kinds[0], kinds[1], kinds[2], kinds[3],
           kinds[4]);
    CHECK(kinds[0] > 0 && kinds[1] > 0 && kinds[2] > 0 && kinds[4] > 0);
}

TEST(a_kept_patch_of_box_and_plane_has_the_bits_of_collide) {
    crRandom random = sample_seed(7103);
    for (int i = 0; i < test_samples(3000); i++) {
        crShape box = sample_shape(&random, CR_SHAPE_BOX, FORM_ROUND, NULL);
        crShape plane = cr_shape_halfspace(sample_direction(&random), 0.1);
        crPose pose = sample_pose(&random, FORM_ROUND), at = cr_pose_identity();
        crPatch patch;
        crContactPoint c[CR_MANIFOLD_MAX];
        CHECK(cr_collide_keep(&box, pose, &plane, at, 0.5, &patch));
        int count = cr_collide(&box, pose, &plane, at, 0.5, c, CR_MANIFOLD_MAX, NULL);
        CHECK(patch.count == count);
        for (int k = 0; k < count; k++) {
            CHECK(memcmp(&c[k].point, &patch.contacts[k].point, sizeof c[k].point) == 0);
            CHECK(c[k].gap == patch.contacts[k].gap);
        }
    }
}
