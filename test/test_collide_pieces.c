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
