// test_collide_boxes.c - MuJoCo's box-box edge cases, read from its own files: boxes stacked face to face,
// one deep inside another, duplicates. Skipped where the files are not there.
//
// Read here is as much of MJCF as those files hold: nested bodies and box geoms with pos, size, euler
// (degrees, one axis) or the identity. Each pair of boxes of different bodies is checked from definitions:
// the gap against all separating axes spelled out, contacts inside both boxes within their depth, none
// twice, and the same contacts (mirrored) when asked the other way round.
#include <stdlib.h>

#include "collide/manifold.h"
#include "data.h"
#include "sample_shape.h"
#include "test.h"

#define BOXES 16

typedef struct Scene {
    int count;
    crShape shape[BOXES];
    crPose pose[BOXES];
    int body[BOXES];
} Scene;

// numbers of attribute `name` within the tag; how many were read
static int attribute(const char* tag, const char* name, double* values, int most) {
    char key[32];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *end = strchr(tag, '>'), *at = strstr(tag, key);
    int count = 0;
    if (at == NULL || end == NULL || at > end) return 0;
    at += strlen(key);
    while (count < most && *at != '"') {
        char* next;
        values[count] = strtod(at, &next);
        if (next == at) break;
        count++;
        at = next;
    }
    return count;
}

static crPose pose_of(const char* tag) {
    double p[3] = {0, 0, 0}, turn[3] = {0, 0, 0};
    attribute(tag, "pos", p, 3);
    attribute(tag, "euler", turn, 3);
    crQuat q = cr_quat_identity();
    const crVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int k = 0; k < 3; k++)
        q = cr_quat_mul(q, cr_quat_axis_angle(axes[k], turn[k] * CR_PI / 180));
    return (crPose){cr_vec3(p[0], p[1], p[2]), q};
}

static void add_geom(Scene* s, const char* tag, crPose body, int number) {
    double size[3];
    const char* end = strchr(tag, '>');
    const char* box = strstr(tag, "type=\"box\"");
    if (box == NULL || box > end || s->count == BOXES || attribute(tag, "size", size, 3) != 3) return;
    s->shape[s->count] = cr_shape_box(size[0], size[1], size[2]);
    s->pose[s->count] = cr_pose_mul(body, pose_of(tag));
    s->body[s->count++] = number;
}

static bool read_scene(const char* name, Scene* s) {
    static char text[1 << 16];
    char relative[128], buffer[512];
    snprintf(relative, sizeof relative, "mjcf/collision_box__%s.xml", name);
    const char* path = test_data(relative, buffer, sizeof buffer);
    FILE* file = path != NULL ? fopen(path, "rb") : NULL;
    if (file == NULL) return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    crPose stack[8] = {cr_pose_identity()};
    int body[8] = {0}, depth = 0, bodies = 0;
    *s = (Scene){.count = 0};
    const char* start = strstr(text, "<worldbody");
    for (const char* at = start; at != NULL && (at = strchr(at + 1, '<')) != NULL;) {
        if (strncmp(at, "<body", 5) == 0 && depth < 7) {
            stack[depth + 1] = cr_pose_mul(stack[depth], pose_of(at));
            body[++depth] = ++bodies;
        } else if (strncmp(at, "</body", 6) == 0 && depth > 0) {
            depth--;
        } else if (strncmp(at, "<geom", 5) == 0) {
            add_geom(s, at, stack[depth], body[depth]);
        }
    }
    return true;
}

static double half_width(const crShape* s, crMat3 R, crVec3 n) {
    return s->size.x * fabs(cr_dot(n, cr_mat3_column(R, 0))) +
           s->size.y * fabs(cr_dot(n, cr_mat3_column(R, 1))) +
           s->size.z * fabs(cr_dot(n, cr_mat3_column(R, 2)));
}

// the largest separation over the 15 axes; where boxes overlap that is the gap, apart a lower bound
static double axes_gap(const crShape* a, crPose pa, const crShape* b, crPose pb) {
    crMat3 A = cr_quat_matrix(pa.q), B = cr_quat_matrix(pb.q);
    crVec3 d = cr_sub(pb.p, pa.p);
    double most = -INFINITY;
    for (int i = 0; i < 15; i++) {
        crVec3 n = i < 3   ? cr_mat3_column(A, i)
                   : i < 6 ? cr_mat3_column(B, i - 3)
                           : cr_cross(cr_mat3_column(A, (i - 6) / 3), cr_mat3_column(B, (i - 6) % 3));
        double length = cr_norm(n);
        if (length < 1e-9) continue;
        n = cr_scale(1 / length, n);
        most = fmax(most, fabs(cr_dot(n, d)) - half_width(a, A, n) - half_width(b, B, n));
    }
    return most;
}

static double outside(const crShape* s, crPose pose, crVec3 x) {
    crVec3 y = cr_pose_point_inverse(pose, x);
    return fmax(fabs(y.x) - s->size.x, fmax(fabs(y.y) - s->size.y, fabs(y.z) - s->size.z));
}

// number of contacts
static int check_boxes(const Scene* s, int i, int k, double margin) {
    const crShape *a = &s->shape[i], *b = &s->shape[k];
    crPose pa = s->pose[i], pb = s->pose[k];
    crContactPoint c[8], back[8];
    crDistance d;
    double gap = axes_gap(a, pa, b, pb), size = cr_norm(a->size) + cr_norm(b->size), tol = 1e-14 * size;
    CHECK(cr_distance(a, pa, b, pb, INFINITY, &d));
    if (gap <= 0) CHECK_NEAR(d.contact.gap, gap, tol);
    CHECK(d.contact.gap >= gap - tol);
    int needed, count = cr_collide(a, pa, b, pb, margin, c, 8, &needed);
    CHECK(needed == count && count <= CR_MANIFOLD_MAX);
    CHECK((count > 0) == (d.contact.gap <= margin));
    double least = INFINITY;
    for (int m = 0; m < count; m++) {
        CHECK_NEAR(cr_norm(c[m].normal), 1, 1e-14);
        CHECK_VEC(cr_sub(c[m].on_b, c[m].on_a), cr_scale(c[m].gap, c[m].normal), tol);
        CHECK(outside(a, pa, c[m].on_a) <= 1e-9 * size && outside(b, pb, c[m].on_b) <= 1e-9 * size);
        least = fmin(least, c[m].gap);
        for (int n = 0; n < m; n++)
            CHECK(cr_norm(cr_sub(c[m].point, c[n].point)) > 1e-7 * size);
    }
    if (count > 0) CHECK_NEAR(least, d.contact.gap, tol);
    CHECK(cr_collide(b, pb, a, pa, margin, back, 8, NULL) == count);
    CHECK(cr_distance(b, pb, a, pa, INFINITY, &d));
    if (count > 0) CHECK_NEAR(d.contact.gap, least, tol);
    return count;
}

static int check_scene(const char* name, double margin, Scene* s) {
    int contacts = 0;
    for (int i = 0; i < s->count; i++)
        for (int k = i + 1; k < s->count; k++)
            if (s->body[i] != s->body[k]) contacts += check_boxes(s, i, k, margin);
    printf("%s: %d boxes, %d contacts\n", name, s->count, contacts);
    return contacts;
}

TEST(stacked_face_to_face) {
    Scene s;
    if (!read_scene("boxbox_bad0", &s)) {
        test_skip("no data");
        return;
    }
    // four blocks one on the other, faces in common to the last bit: four corners each
    CHECK(s.count == 4);
    CHECK(check_scene("bad0", 1e-3, &s) == 12);
    // lifted or sunk within the margin, and slid sideways by as little as it takes to lose a bit
    for (int n = -20; n <= 20; n++) {
        Scene moved = s;
        for (int i = 0; i < s.count; i++) {
            moved.pose[i].p.z += i * n * 1e-5;
            moved.pose[i].p.y += i * n * 1e-9;
        }
        for (int i = 0; i + 1 < s.count; i++)
            CHECK(check_boxes(&moved, i, i + 1, 1e-3) == 4);
    }
}

TEST(a_cube_on_a_tilting_plank) {
    Scene s;
    if (!read_scene("boxbox_bad1", &s)) {
        test_skip("no data");
        return;
    }
    // the cube is turned by 60 degrees against the plank, its underside on the plank's upper face
    CHECK(s.count == 2);
    CHECK(check_scene("bad1", 1e-3, &s) == 4);
    crDistance d;
    CHECK(cr_distance(&s.shape[0], s.pose[0], &s.shape[1], s.pose[1], INFINITY, &d));
    CHECK_NEAR(d.contact.gap, 0, 1e-16);
    CHECK_VEC(d.contact.normal, cr_vec3(0, 0, 1), 1e-14);
    // the plank tilts about its hinge (its body's origin, y axis) and the cube sinks or rises
    crPose hinge = {cr_vec3(-0.23, -0.1, 0.03), cr_quat_axis_angle(cr_vec3(0, 0, 1), CR_PI / 6)};
    for (int n = -200; n <= 200; n++) {
        Scene moved = s;
        crPose tilt = {cr_vec3(0, 0, 0), cr_quat_axis_angle(cr_vec3(0, 1, 0), n * 1e-3)};
        crPose local = cr_pose_mul(cr_pose_inverse(hinge), s.pose[0]);
        moved.pose[0] = cr_pose_mul(hinge, cr_pose_mul(tilt, local));
        moved.pose[1].p.z += (n % 7) * 1e-3;
        check_boxes(&moved, 0, 1, 1e-3);
    }
}

TEST(one_deep_inside_the_other) {
    Scene s;
    if (!read_scene("boxbox_deep", &s)) {
        test_skip("no data");
        return;
    }
    CHECK(s.count == 2);
    CHECK(check_scene("deep", 0, &s) == 4);
    // the nearest way out is up: 1 - 0.3 and the small box's own half height
    crDistance d;
    CHECK(cr_distance(&s.shape[0], s.pose[0], &s.shape[1], s.pose[1], INFINITY, &d));
    CHECK_NEAR(d.contact.gap, -0.9, 1e-15);
    CHECK_VEC(d.contact.normal, cr_vec3(0, 0, 1), 0);
}

TEST(no_contact_twice) {
    Scene s;
    if (!read_scene("boxbox_duplicate", &s)) {
        test_skip("no data");
        return;
    }
    CHECK(s.count == 2);
    CHECK(check_scene("duplicate", 0, &s) == 4);
    crContactPoint c[4];
    CHECK(cr_collide(&s.shape[0], s.pose[0], &s.shape[1], s.pose[1], 0, c, 4, NULL) == 4);
    for (int i = 0; i < 4; i++)
        CHECK_VEC(cr_vec3(fabs(c[i].point.x), fabs(c[i].point.y), c[i].point.z), cr_vec3(1, 1, 1), 1e-15);
}

// a random box and one whose features come near it, apart by `gap` along the line of their distance
static bool sample_near(crRandom* random, double gap, crShape s[2], crPose at[2]) {
    crSampleForm form = sample_bits(random) % 4 == 0 ? FORM_SQUARE : FORM_ROUND;
    crDistance d;
    for (int i = 0; i < 2; i++) {
        s[i] = sample_shape(random, CR_SHAPE_BOX, form, NULL);
        s[i].pose = cr_pose_identity();
        at[i] = sample_pose(random, form);
    }
    // half of them nearly flush
    double turn = sample_uniform(random, 0.0, 0.1);
    if (sample_bits(random) % 2 == 0)
        at[1].q = cr_quat_mul(cr_quat_axis_angle(sample_direction(random), turn), at[0].q);
    at[1].p = cr_scale(2.0 * (shape_size(&s[0]) + shape_size(&s[1])), sample_direction(random));
    for (int i = 0; i < 20; i++) {
        if (!cr_distance(&s[0], at[0], &s[1], at[1], INFINITY, &d)) return false;
        at[1].p = cr_madd(at[1].p, gap - d.contact.gap, d.contact.normal);
    }
    return fabs(d.contact.gap - gap) < 1e-6 * shape_size(&s[0]);
}

// the box way against GJK and clipped support faces, which any two pieces go through
TEST(contacts_as_of_any_two_pieces) {
    crRandom random = sample_seed(83);
    int by_count[CR_MANIFOLD_MAX + 1] = {0}, crossings = 0, tried = 0, agree = 0;
    for (int n = 0; n < test_samples(400000); n++) {
        crShape s[2];
        crPose at[2];
        double gap = sample_uniform(&random, 1e-4, 1e-2), margin = 2e-2;
        if (!sample_near(&random, gap, s, at)) continue;
        crConvex a, b;
        crClosest fast, slow;
        crLeftOut left_out;
        crContactPoint own[CR_MANIFOLD_MAX], other[CR_MANIFOLD_MAX];
        cr__convex_pair(&s[0], &at[0], &s[1], &at[1], &a, &b);
        int count = cr__box_contacts(&a, &b, margin, own, &fast, &left_out);
        if (count < 0) continue;
        cr__closest(&a, &b, margin, &slow);
        int expected = cr__manifold(&a, &b, &slow, margin, other, &left_out);
        double tol = 1e-9 * (a.extent + b.extent);
        by_count[count]++;
        bool gap_good = fabs(fast.gap - slow.gap) <= tol, same = count == expected;
        // by features, since the box way gives them in order
        cr__place(other, expected, cr_vec3(0, 0, 0));
        cr__place(own, count, cr_vec3(0, 0, 0));
        for (int i = 0; same && i < count; i++) {
            same = own[i].feature_a == other[i].feature_a && own[i].feature_b == other[i].feature_b &&
                   fabs(own[i].gap - other[i].gap) <= tol &&
                   cr_norm(cr_sub(own[i].point, other[i].point)) <= 1e-7 * (a.extent + b.extent);
        }
        bool crossing = count == 1 && CR_FEATURE_KIND(own[0].feature_a) == CR_FEATURE_EDGE &&
                        CR_FEATURE_KIND(own[0].feature_b) == CR_FEATURE_EDGE;
        crossings += crossing;
        tried++;
        agree += same;
        // corners at the margin, or where a normal's last digits decide whether it leaves a face, may be one more or less
        if (!test_check(gap_good && (same || !crossing), __FILE__, __LINE__,
                        "case %d: %d contacts, not %d; gap %g, not %g", n, count, expected, fast.gap,
                        slow.gap))
            break;
    }
    CHECK(agree > 0.99 * tried);
    printf("%d of %d pairs agree; %d of 1 (%d of crossing edges), %d of 2, %d of 4 and more\n", agree, tried,
           by_count[1], crossings, by_count[2],
           by_count[4] + by_count[5] + by_count[6] + by_count[7] + by_count[8]);
    CHECK(crossings > 100 && by_count[2] > 100 && by_count[4] > 100);
}
