// test_collide_pieces.c - meshes, height fields and compounds against the shapes they imitate.
#include <stdlib.h>

#include "sample_shape.h"
#include "test.h"

static int samples(void) { return test_samples(1000000) == 1000000 ? 100000 : 400; }

static const crVec3 CUBE[8] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                               {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
static const int TRIANGLES[12][3] = {{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7}, {0, 1, 5}, {0, 5, 4},
                                     {1, 2, 6}, {1, 6, 5}, {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};

static crMesh* cube_mesh(int triangles) {
    crMeshDef def = {8, CUBE, triangles, TRIANGLES};
    crMesh* mesh = NULL;
    CHECK_STATUS(cr_mesh_create(&def, NULL, &mesh, NULL), CR_OK);
    return mesh;
}

TEST(mesh_of_a_cube_is_the_cube_outside) {
    crMesh* mesh = cube_mesh(12);
    CHECK(cr_mesh_closed(mesh));
    crShape m = cr_shape_mesh(mesh), box = cr_shape_box(1, 1, 1);
    CHECK_STATUS(cr_shape_check(&m, true, NULL), CR_OK);
    crRandom random = sample_seed(7);
    crHullPool pool = sample_hulls(&random);
    double worst = 0, turn = 0;
    for (int i = 0; i < samples(); i++) {
        crShape s = sample_shape(&random, convex_kinds[i % CONVEX_KINDS], FORM_ROUND, &pool);
        crPose at = sample_pose(&random, FORM_ROUND), pose = sample_pose(&random, FORM_ROUND);
        crVec3 d = sample_direction(&random);
        double touch = -shape_separation(&box, pose, &s, at, d);
        at.p = cr_scale(touch * sample_uniform(&random, 1.001, 1.5), d);
        crDistance x, y;
        CHECK(cr_distance(&m, pose, &s, at, INFINITY, &x));
        CHECK(cr_distance(&box, pose, &s, at, INFINITY, &y));
        worst = fmax(worst, fabs(x.contact.gap - y.contact.gap));
        turn = fmax(turn, cr_norm(cr_sub(x.contact.normal, y.contact.normal)) * y.contact.gap);
    }
    printf("cube mesh: gap %.0e, normal times gap %.0e\n", worst, turn);
    CHECK(worst < 1e-13);
    CHECK(turn < 1e-7);
    sample_hulls_destroy(&pool);
    cr_mesh_destroy(mesh);
}

TEST(a_ball_on_a_seam_feels_one_plane) {
    // flat ground of triangles: wherever the ball is, one contact straight up
    enum { N = 9 };
    double z[N * N] = {0};
    crHeightFieldDef def = {N, N, 0.5, 0.5, z};
    crHeightField* field;
    CHECK_STATUS(cr_heightfield_create(&def, NULL, &field, NULL), CR_OK);
    crShape ground = cr_shape_heightfield(field), ball = cr_shape_sphere(0.3);
    CHECK_STATUS(cr_shape_check(&ground, false, NULL), CR_OK);
    CHECK_STATUS(cr_shape_check(&ground, true, NULL), CR_ERR_RANGE);
    crRandom random = sample_seed(8);
    for (int i = 0; i < samples(); i++) {
        crPose at = cr_pose_identity();
        at.p = cr_vec3(sample_uniform(&random, 0.5, 3.5), sample_uniform(&random, 0.5, 3.5), 0.3 - 0.01);
        crContactPoint c[32];
        int count = cr_collide(&ground, cr_pose_identity(), &ball, at, 0.0, c, 32, NULL);
        CHECK(count >= 1);
        for (int k = 0; k < count; k++) {
            CHECK_VEC(c[k].normal, cr_vec3(0, 0, 1), 1e-12);
            CHECK_NEAR(c[k].gap, -0.01, 1e-12);
        }
        // under the surface it is still pushed up
        at.p.z = -0.2;
        count = cr_collide(&ground, cr_pose_identity(), &ball, at, 0.0, c, 32, NULL);
        CHECK(count >= 1);
        for (int k = 0; k < count; k++)
            CHECK_VEC(c[k].normal, cr_vec3(0, 0, 1), 1e-12);
    }
    crRayHit hit;
    CHECK(cr_ray(&ground, cr_pose_identity(), cr_vec3(1.1, 1.3, 5), cr_vec3(0, 0, -1), 10, &hit));
    CHECK_NEAR(hit.t, 5, 1e-14);
    CHECK_VEC(hit.normal, cr_vec3(0, 0, 1), 0);
    cr_heightfield_destroy(field);
}

TEST(box_on_a_mesh_floor_has_its_corners) {
    const crVec3 v[4] = {{-5, -5, 0}, {5, -5, 0}, {5, 5, 0}, {-5, 5, 0}};
    const int t[2][3] = {{0, 1, 2}, {0, 2, 3}};
    crMeshDef def = {4, v, 2, t};
    crMesh* mesh;
    CHECK_STATUS(cr_mesh_create(&def, NULL, &mesh, NULL), CR_OK);
    CHECK(!cr_mesh_closed(mesh));
    crShape floor = cr_shape_mesh(mesh), box = cr_shape_box(1, 1, 1);
    crError error;
    CHECK_STATUS(cr_shape_check(&floor, true, &error), CR_ERR_RANGE);
    CHECK_STATUS(cr_shape_check(&floor, false, &error), CR_OK);
    crPose at = cr_pose_identity();
    at.p = cr_vec3(2, -2, 0.99);
    crContactPoint c[16];
    int count = cr_collide(&floor, cr_pose_identity(), &box, at, 0, c, 16, NULL);
    CHECK(count == 4);
    for (int i = 0; i < count; i++) {
        CHECK_NEAR(c[i].gap, -0.01, 1e-14);
        CHECK_VEC(c[i].normal, cr_vec3(0, 0, 1), 1e-14);
    }
    cr_mesh_destroy(mesh);
}

TEST(compound_is_the_least_of_its_children) {
    crRandom random = sample_seed(9);
    crHullPool pool = sample_hulls(&random);
    for (int i = 0; i < samples(); i++) {
        crShape parts[5];
        for (int k = 0; k < 5; k++) {
            parts[k] =
                sample_shape(&random, convex_kinds[sample_bits(&random) % CONVEX_KINDS], FORM_ROUND, &pool);
            parts[k].pose = sample_pose(&random, FORM_ROUND);
            parts[k].pose.p = cr_scale(3, sample_direction(&random));
        }
        crCompound* all;
        CHECK_STATUS(cr_compound_create(parts, 5, NULL, &all, NULL), CR_OK);
        crShape s = cr_shape_compound(all), other = sample_shape(&random, CR_SHAPE_BOX, FORM_ROUND, &pool);
        crPose body = sample_pose(&random, FORM_ROUND), at = sample_pose(&random, FORM_ROUND);
        at.p = cr_scale(4, sample_direction(&random));
        crDistance d, one;
        CHECK(cr_distance(&s, body, &other, at, INFINITY, &d));
        double least = INFINITY;
        int which = -1;
        for (int k = 0; k < 5; k++) {
            cr_distance(&parts[k], body, &other, at, INFINITY, &one);
            if (one.contact.gap < least) {
                least = one.contact.gap;
                which = k;
            }
        }
        CHECK_NEAR(d.contact.gap, least, 1e-13);
        CHECK(d.contact.child_a == which);
        CHECK(cr_overlap(&s, body, &other, at) == (least <= 0));
        cr_compound_destroy(all);
    }
    sample_hulls_destroy(&pool);
}

TEST(inside_a_closed_mesh) {
    crMesh* mesh = cube_mesh(12);
    crShape m = cr_shape_mesh(mesh), solid = cr_shape_box(1, 1, 1);
    crRandom random = sample_seed(10);
    crHullPool pool = sample_hulls(&random);
    for (int i = 0; i < samples(); i++) {
        double r = sample_log(&random, 0.01, 0.4);
        crShape s = i % 4 == 0   ? cr_shape_sphere(r)
                    : i % 4 == 1 ? cr_shape_box(r, 0.3 * r, 0.5 * r)
                    : i % 4 == 2 ? cr_shape_capsule(0.3 * r, 0.5 * r)
                                 : cr_shape_ellipsoid(r, 0.5 * r, 0.2 * r);
        crPose pose = sample_pose(&random, FORM_ROUND), at = sample_pose(&random, FORM_ROUND);
        double room = 1.0 - 1.2 * r;
        crVec3 x = cr_vec3(sample_uniform(&random, -room, room), sample_uniform(&random, -room, room),
                           sample_uniform(&random, -room, room));
        at.p = cr_quat_rotate(pose.q, x);
        crDistance d, e, out;
        crContactPoint c[4], few;
        int needed;
        CHECK(cr_distance(&m, pose, &s, at, INFINITY, &d) && cr_distance(&s, at, &m, pose, 0.0, &e));
        CHECK(cr_distance(&solid, pose, &s, at, INFINITY, &out));
        CHECK(cr_collide(&m, pose, &s, at, 0.0, c, 4, &needed) == 1 && needed == 1);
        CHECK(cr_collide(&m, pose, &s, at, 0.0, &few, 0, &needed) == 0 && needed == 1);
        CHECK_NEAR(c[0].gap, d.contact.gap, 0.0);
        CHECK_NEAR(e.contact.gap, d.contact.gap, 1e-13);
        CHECK_VEC(e.contact.normal, cr_neg(d.contact.normal), 1e-12);
        // never less than the least way out of the solid, and the same for a ball
        CHECK(d.contact.gap <= out.contact.gap + 1e-13);
        if (i % 4 == 0) CHECK_NEAR(d.contact.gap, out.contact.gap, 1e-13);
        // it is a way out
        at.p = cr_madd(at.p, 1e-9 - d.contact.gap, d.contact.normal);
        CHECK(cr_distance(&solid, pose, &s, at, INFINITY, &out));
        CHECK(out.contact.gap >= 0.5e-9);
    }
    sample_hulls_destroy(&pool);
    cr_mesh_destroy(mesh);
}

// is x in the tetrahedron of the origin and a triangle
static bool in_cone_of(const crVec3 p[3], crVec3 x) {
    double all = cr_dot(p[0], cr_cross(p[1], p[2]));
    double a = cr_dot(x, cr_cross(p[1], p[2])) / all, b = cr_dot(p[0], cr_cross(x, p[2])) / all,
           c = cr_dot(p[0], cr_cross(p[1], x)) / all;
    return a >= 0 && b >= 0 && c >= 0 && a + b + c <= 1;
}

// an octahedron cut finer, its vertices pulled in and out: seen whole from the origin
static int spiky(crRandom* random, crVec3* v, int (*t)[3]) {
    enum { N = 6 };
    int points = 0, count = 0, at[2][N + 1][N + 1][2][2];
    for (int oct = 0; oct < 8; oct++)
        for (int i = 0; i <= N; i++)
            for (int j = 0; j <= N - i; j++) {
                int k = N - i - j, sx = oct & 1, sy = oct >> 1 & 1, sz = oct >> 2;
                int *here = &at[sz][i][j][sy][sx], *same = here;
                // points on the planes between octants are made by the first one
                if (k == 0 && sz == 1) same = &at[0][i][j][sy][sx];
                if (j == 0 && sy == 1) same = &at[k == 0 ? 0 : sz][i][j][0][sx];
                if (i == 0 && sx == 1) same = &at[k == 0 ? 0 : sz][i][j][j == 0 ? 0 : sy][0];
                if (same == here) {
                    crVec3 d = cr_vec3(sx ? -i : i, sy ? -j : j, sz ? -k : k);
                    v[points] = cr_scale(sample_uniform(random, 0.5, 1.5) / cr_norm(d), d);
                    *here = points++;
                } else {
                    *here = *same;
                }
            }
    for (int oct = 0; oct < 8; oct++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N - i; j++)
                for (int up = 0; up < (i + j + 1 < N ? 2 : 1); up++) {
                    int sx = oct & 1, sy = oct >> 1 & 1, sz = oct >> 2;
                    int p = at[sz][i + 1][j][sy][sx], q = at[sz][i][j + 1][sy][sx];
                    int r = up ? at[sz][i + 1][j + 1][sy][sx] : at[sz][i][j][sy][sx];
                    bool turn = ((sx + sy + sz) % 2 == 1) != (up == 1);
                    t[count][0] = p;
                    t[count][1] = turn ? r : q;
                    t[count++][2] = turn ? q : r;
                }
    return count;
}

TEST(points_in_a_spiky_mesh) {
    crRandom random = sample_seed(11);
    for (int round = 0; round < test_samples(3000) / 100; round++) {
        static crVec3 v[512];
        static int t[512][3];
        int triangles = spiky(&random, v, t), most = 0;
        for (int i = 0; i < triangles; i++)
            for (int k = 0; k < 3; k++)
                most = t[i][k] > most ? t[i][k] : most;
        crMeshDef def = {most + 1, v, triangles, (const int(*)[3])t};
        crMesh* mesh;
        CHECK_STATUS(cr_mesh_create(&def, NULL, &mesh, NULL), CR_OK);
        CHECK(cr_mesh_closed(mesh));
        crShape m = cr_shape_mesh(mesh);
        for (int i = 0; i < 200; i++) {
            crVec3 x = cr_scale(sample_uniform(&random, 0.0, 1.5), sample_direction(&random));
            // in line with vertices
            if (i % 3 == 0) x = cr_vec3(x.x, 0.0, i % 2 ? 0.0 : x.z);
            if (i == 0) x = cr_vec3(0, 0, 0);
            bool inside = false;
            for (int k = 0; k < triangles; k++) {
                crVec3 p[3] = {v[t[k][0]], v[t[k][1]], v[t[k][2]]};
                inside = inside || in_cone_of(p, x);
            }
            double distance = 0;
            crVec3 nearest, normal;
            CHECK(cr_point_distance(&m, cr_pose_identity(), x, &distance, &nearest, &normal));
            if (fabs(distance) > 1e-9) CHECK(inside == (distance < 0.0));
            // the nearest point is as far as it says, and no triangle's corners are nearer
            CHECK_NEAR(cr_norm(cr_sub(nearest, x)), fabs(distance), 1e-12);
            for (int k = 0; k <= most; k++)
                CHECK(cr_norm(cr_sub(v[k], x)) >= fabs(distance) - 1e-12);
        }
        cr_mesh_destroy(mesh);
    }
}

TEST(mesh_in_and_against_a_mesh) {
    crMesh* mesh = cube_mesh(12);
    crVec3 small[8];
    for (int i = 0; i < 8; i++)
        small[i] = cr_scale(0.25, CUBE[i]);
    crMeshDef def = {8, small, 12, TRIANGLES};
    crMesh* inner;
    CHECK_STATUS(cr_mesh_create(&def, NULL, &inner, NULL), CR_OK);
    crShape a = cr_shape_mesh(mesh), b = cr_shape_mesh(inner), box = cr_shape_box(1, 1, 1),
            part = cr_shape_box(0.25, 0.25, 0.25);
    crRandom random = sample_seed(12);
    double worst = 0;
    for (int i = 0; i < samples() / 4; i++) {
        crPose pa = sample_pose(&random, FORM_ROUND), pb = sample_pose(&random, FORM_ROUND);
        pb.p = cr_scale(sample_uniform(&random, 1.5, 3.0), sample_direction(&random));
        crDistance d, e;
        CHECK(cr_distance(&box, pa, &part, pb, INFINITY, &e));
        if (e.contact.gap < 1e-6) continue;
        CHECK(cr_distance(&a, pa, &b, pb, INFINITY, &d));
        worst = fmax(worst, fabs(d.contact.gap - e.contact.gap));
        // no farther than it reaches
        CHECK(cr_distance(&a, pa, &b, pb, 0.9 * e.contact.gap, &d) == false || d.contact.gap > 0.0);
    }
    CHECK(worst < 1e-13);
    crDistance d;
    crPose at = cr_pose_identity();
    at.p.x = 0.5;
    CHECK(cr_distance(&a, cr_pose_identity(), &b, at, INFINITY, &d));
    CHECK(d.contact.gap < 0.0);
    CHECK_VEC(d.contact.normal, cr_vec3(1, 0, 0), 1e-12);
    cr_mesh_destroy(mesh);
    cr_mesh_destroy(inner);
}

TEST(the_deepest_are_kept_where_room_is_short) {
    // a slope of steps: twelve boxes, one ever deeper in the floor
    crShape parts[12];
    for (int i = 0; i < 12; i++) {
        parts[i] = cr_shape_box(0.4, 0.4, 0.4);
        parts[i].pose.p = cr_vec3(i, 0, 0.4 - 0.01 * ((5 * i) % 12));
    }
    crCompound* all;
    CHECK_STATUS(cr_compound_create(parts, 12, NULL, &all, NULL), CR_OK);
    crShape s = cr_shape_compound(all), floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0), box = parts[3];
    crContactPoint every[48], few[8];
    int needed;
    crPose at = cr_pose_identity();
    CHECK(cr_collide(&s, at, &floor, at, 0.0, every, 48, &needed) == 48 && needed == 48);
    CHECK(cr_collide(&s, at, &floor, at, 0.0, few, 8, &needed) == 8 && needed == 48);
    for (int i = 0; i < 8; i++)
        CHECK(few[i].gap <= -0.0999);
    // of one pair as well
    crPose tilted = {{0, 0, 0}, cr_quat_axis_angle(cr_vec3(1, 0.5, 0), 0.02)};
    int count = cr_collide(&box, tilted, &floor, at, 1.0, every, 4, &needed);
    CHECK(count == 4 && cr_collide(&box, tilted, &floor, at, 1.0, few, 1, &needed) == 1 && needed == 4);
    for (int i = 0; i < 4; i++)
        CHECK(few[0].gap <= every[i].gap);
    cr_compound_destroy(all);
}

TEST(bad_pieces_are_refused_by_name) {
    crError error;
    crMesh* mesh;
    int t[12][3];
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++)
            t[i][k] = TRIANGLES[i][2 - k];
    crMeshDef def = {8, CUBE, 12, (const int(*)[3])t};
    CHECK_STATUS(cr_mesh_create(&def, NULL, &mesh, &error), CR_ERR_RANGE);  // inside out
    t[3][1] = 9;
    CHECK_STATUS(cr_mesh_create(&def, NULL, &mesh, &error), CR_ERR_RANGE);
    t[3][1] = t[3][0];
    CHECK_STATUS(cr_mesh_create(&def, NULL, &mesh, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "triangles");
    def.triangle_count = 0;
    CHECK_STATUS(cr_mesh_create(&def, NULL, &mesh, &error), CR_ERR_SIZE);
    double z[4] = {0, 0, 0, NAN};
    crHeightField* field;
    crHeightFieldDef ground = {2, 2, 1, 1, z};
    CHECK_STATUS(cr_heightfield_create(&ground, NULL, &field, &error), CR_ERR_FINITE);
    ground.dx = 0;
    CHECK_STATUS(cr_heightfield_create(&ground, NULL, &field, &error), CR_ERR_RANGE);
    ground.nx = 1;
    CHECK_STATUS(cr_heightfield_create(&ground, NULL, &field, &error), CR_ERR_SIZE);
    crCompound* all;
    crShape plane = cr_shape_halfspace(cr_vec3(0, 0, 1), 0), ball = cr_shape_sphere(-1);
    CHECK_STATUS(cr_compound_create(&plane, 1, NULL, &all, &error), CR_ERR_RANGE);
    CHECK_STATUS(cr_compound_create(&ball, 1, NULL, &all, &error), CR_ERR_RANGE);
    CHECK_STATUS(cr_compound_create(&ball, 0, NULL, &all, &error), CR_ERR_SIZE);
    crMesh* closed = cube_mesh(12);
    crShape nested = cr_shape_mesh(closed);
    CHECK_STATUS(cr_compound_create(&nested, 1, NULL, &all, &error), CR_ERR_TYPE);
    cr_mesh_destroy(closed);
}

typedef struct Few {
    int left, held;
} Few;

static void* few_alloc(void* ctx, size_t size) {
    Few* few = ctx;
    if (few->left == 0) return NULL;
    few->left--;
    few->held++;
    return malloc(size);
}
static void few_free(void* ctx, void* memory, size_t size) {
    (void)size;
    if (memory != NULL) ((Few*)ctx)->held--;
    free(memory);
}

static crStatus create(int what, const crAllocator* allocator, crError* error) {
    const crVec3 square[4] = {{1, 1, 0}, {-1, 1, 0}, {-1, -1, 0}, {1, -1, 0}};
    const double z[4] = {0, 1, 0, 1};
    const crMeshDef cube = {8, CUBE, 12, TRIANGLES};
    const crHeightFieldDef ground = {2, 2, 1, 1, z};
    const crShape ball = cr_shape_sphere(1);
    crHull* hull = NULL;
    crMesh* mesh = NULL;
    crHeightField* field = NULL;
    crCompound* all = NULL;
    crStatus status = what == 0   ? cr_hull_create_prism(square, 4, 1, allocator, &hull, error)
                      : what == 1 ? cr_mesh_create(&cube, allocator, &mesh, error)
                      : what == 2 ? cr_heightfield_create(&ground, allocator, &field, error)
                                  : cr_compound_create(&ball, 1, allocator, &all, error);
    bool made = hull != NULL || mesh != NULL || field != NULL || all != NULL;
    CHECK(made == (status == CR_OK));
    cr_hull_destroy(hull);
    cr_mesh_destroy(mesh);
    cr_heightfield_destroy(field);
    cr_compound_destroy(all);
    return status;
}

TEST(no_memory_is_said_and_nothing_is_kept) {
    // every allocation in turn fails, until one more is enough
    for (int what = 0; what < 4; what++) {
        crStatus status = CR_ERR_MEMORY;
        int limit = 0;
        for (; status != CR_OK && limit < 8; limit++) {
            Few few = {limit, 0};
            crAllocator allocator = {few_alloc, few_free, &few};
            crError error = {.status = CR_OK};
            status = create(what, &allocator, &error);
            CHECK(few.held == 0);
            if (status == CR_OK) continue;
            CHECK_STATUS(status, CR_ERR_MEMORY);
            CHECK(error.status == CR_ERR_MEMORY && error.message[0] != '\0');
        }
        CHECK_STATUS(status, CR_OK);
        CHECK(limit == (what == 1 ? 3 : 2));
    }
}
