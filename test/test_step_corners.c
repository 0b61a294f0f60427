// test_step_corners.c - rare ways through a step: friction polygons, limits in impacts, too many impacts, forces of a function
// while bodies sleep, welds inside one tree.
#include <string.h>

#include "world_scene.h"

#define G 9.81

// a diamond of friction: p_1 and p_2 with |p_1| + |p_2| <= MU p_n
#define MU 0.4
static const double diamond[4][2] = {{MU, 0.0}, {0.0, MU}, {-MU, 0.0}, {0.0, -MU}};

static crWorld* sliding_plate(crModel** model, crQuality quality) {
    crMaterial material = cr_material();
    material.surface.mu = material.surface.mu2 = MU;
    material.surface.axis = cr_vec3(1, 0, 0);
    material.surface.vertex_count = 4;
    material.surface.vertices = diamond;
    material.surface.e = 0.0;
    *model = cr_model_create(NULL);
    (*model)->gravity = cr_vec3(0, 0, -G);
    int of = cr_model_add_material(*model, &material);
    scene_ground(*model, cr_vec3(0, 0, 1), of);
    scene_free(*model, cr_shape_box(0.2, 0.2, 0.01), cr_vec3(0, 0, 0.01), 1.0, of);
    crStepSettings settings = cr_step_settings();
    settings.quality = quality;
    return scene_world(*model, &settings);
}

// Friction is the point of the polygon that takes most energy from the velocity at the end: a corner of the diamond stops the
// larger component alone; along the diagonal both stop alike, each by half.
TEST(friction_of_a_polygon_stops_a_plate) {
    const double start[3][2] = {{3.0, 0.0}, {3.0, -1.0}, {2.0, 2.0}};
    const double stop[3][2] = {{MU * G, 0.0}, {MU * G, 0.0}, {0.5 * MU * G, 0.5 * MU * G}};
    for (int quality = CR_QUALITY_FAST; quality <= CR_QUALITY_CERTIFIED; quality++) {
        for (int i = 0; i < 3; i++) {
            crModel* model;
            crWorld* world = sliding_plate(&model, (crQuality)quality);
            crState* state = cr_world_state(world);
            state->v[0] = start[i][0];
            state->v[1] = start[i][1];
            double off = 0.0;
            for (int k = 0; k < 24; k++) {
                if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
                CHECK(cr_world_certificate(world)->outcome == CR_OUTCOME_SOLVED);
                for (int j = 0; j < 2; j++) {
                    off = fmax(off, fabs(state->v[j] - (start[i][j] - stop[i][j] * state->time)));
                }
            }
            printf("  %s, case %d: off by %.1e m/s\n", cr_quality_name((crQuality)quality), i, off);
            CHECK(off < (quality == CR_QUALITY_FAST ? 1e-8 : 1e-12));
            cr_world_destroy(world);
            cr_model_destroy(model);
        }
    }
}

// A bar at its limit does not give way: the ball leaves it as it leaves a wall.
TEST(a_limit_takes_part_in_an_impact) {
    double e = 0.5, v = 2.0;
    for (int method = 0; method < 2; method++) {
        crModel* model = cr_model_create(NULL);
        model->gravity = cr_vec3(0, 0, 0);
        int of = scene_material(model, 0.0, e);
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_HINGE;
        def.axis = cr_vec3(0, 1, 0);
        def.dof[0].upper = 0.0;
        int bar = cr_model_add_body(model, &def);
        crShape box = cr_shape_box(0.5, 0.05, 0.05);
        box.pose.p = cr_vec3(0.5, 0, 0);
        cr_model_add_shape(model, bar, &box, of);
        scene_free(model, cr_shape_sphere(0.1), cr_vec3(0.8, 0, 0.2), 1.0, of);
        crStepSettings settings = cr_step_settings();
        settings.method = method == 0 ? CR_METHOD_CONE : CR_METHOD_EVENT;
        crWorld* world = scene_world(model, &settings);
        crState* state = cr_world_state(world);
        state->v[3] = -v;
        CHECK_STATUS(cr_world_run(world, 0.1, NULL), CR_OK);
        printf("  %s: ball %.12f, bar %.1e\n", cr_method_name(settings.method), state->v[3], state->v[0]);
        CHECK_NEAR(state->v[3], e * v, 1e-9);
        CHECK_NEAR(state->v[0], 0.0, 1e-9);
        CHECK_NEAR(state->q[0], 0.0, 1e-9);
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
}

// More impacts in a step than allowed: the rest of the step is plastic, and the certificate says so.
TEST(too_many_impacts_end_plastically) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -G);
    int of = scene_material(model, 0.3, 0.9);
    scene_ground(model, cr_vec3(0, 0, 1), of);
    for (int i = 0; i < 4; i++) {
        scene_free(model, cr_shape_sphere(0.1), cr_vec3(i, 0, 0.101 + 0.001 * i), 1.0, of);
    }
    crStepSettings settings = cr_step_settings();
    settings.impact_limit = 2;
    crWorld* world = scene_world(model, &settings);
    crState* state = cr_world_state(world);
    for (int i = 0; i < 4; i++) {
        state->v[6 * i + 2] = -3.0;
    }
    CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    const crCertificate* c = cr_world_certificate(world);
    printf("  %d impacts, truncated %d, overlap %.1e m\n", c->impacts, c->truncated, c->penetration);
    CHECK(c->truncated && c->impacts == 2 && c->penetration < 1e-6);
    // the first two bounced; the others, slower than before, end the step on the ground
    for (int i = 0; i < 4; i++) {
        double vz = state->v[6 * i + 2], gap = state->q[7 * i + 2] - 0.1;
        if (i < 2) CHECK_NEAR(vz, 2.7, 0.1);
        if (i >= 2) CHECK(vz > -1.0 && vz <= 0.0);
        CHECK(i < 2 ? gap > 0.0 : fabs(gap) < 1e-6);
    }
    cr_world_destroy(world);
    cr_model_destroy(model);
}

static crStatus push_body(void* ctx, const crModel* model, const crState* state, const crDynamics* d,
                          double* k) {
    (void)model;
    (void)state;
    (void)d;
    k[0] += *(const double*)ctx;
    return CR_OK;
}

// What a function gives is asked for while bodies sleep: another force wakes them, the same one does not.
TEST(a_force_of_a_function_wakes_a_sleeper) {
    double force = 0.0;
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -G);
    int of = scene_material(model, 0.5, 0.0);
    scene_ground(model, cr_vec3(0, 0, 1), of);
    scene_free(model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.1), 1.0, of);
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.sleep_time = 0.05;
    def.force = push_body;
    def.force_ctx = &force;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    crState* state = cr_world_state(world);
    CHECK_STATUS(cr_world_run(world, 0.5, NULL), CR_OK);
    CHECK(cr_world_certificate(world)->asleep == 1);
    CHECK_STATUS(cr_world_run(world, 1.0, NULL), CR_OK);
    CHECK(cr_world_certificate(world)->asleep == 1);
    double x = state->q[0];
    force = 2.0 * 0.5 * G;
    CHECK_STATUS(cr_world_run(world, 1.1, NULL), CR_OK);
    CHECK(cr_world_certificate(world)->asleep == 0);
    // twice the friction: half of the force moves it
    double t = state->time - 1.0;
    printf("  moved %.6f m in %.3f s\n", state->q[0] - x, t);
    CHECK_NEAR(state->v[0], 0.5 * G * t, 1e-4);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

static int add_link(crModel* model, int parent, crVec3 at) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(0, 1, 0);
    def.parent = parent;
    def.pose.p = at;
    def.mass = 1.0;
    def.com = cr_vec3(0, 0, -0.5);
    def.inertia = (crSym3){.xx = 0.1, .yy = 0.1, .zz = 0.02};
    return cr_model_add_body(model, &def);
}

// Two links that hang from a third and are welded to each other swing with it as one rigid pendulum.
TEST(a_weld_inside_a_tree_makes_it_rigid) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -G);
    int top = add_link(model, CR_WORLD, cr_vec3(0, 0, 0));
    int left = add_link(model, top, cr_vec3(-0.3, 0, -1.0)),
        right = add_link(model, top, cr_vec3(0.3, 0, -1.0));
    crLoop weld = cr_loop(CR_LOOP_WELD, left, right);
    weld.pose_a.p = cr_vec3(0.3, 0, -1.0);
    weld.pose_b.p = cr_vec3(-0.3, 0, -1.0);
    cr_model_add_loop(model, &weld);
    // about the upper hinge: mass times distance along the axis, and moment of inertia
    double md = 0.5 + 1.5 + 1.5, I = 3 * 0.1 + 0.25 + 2.0 * (1.5 * 1.5 + 0.3 * 0.3);
    for (int quality = CR_QUALITY_FAST; quality <= CR_QUALITY_CERTIFIED; quality++) {
        crStepSettings settings = cr_step_settings();
        settings.quality = (crQuality)quality;
        settings.dt = 1.0 / 960.0;
        crWorld* world = scene_world(model, &settings);
        crState* state = cr_world_state(world);
        double angle = 0.4, rate = 0.0, loop = 0.0, off = 0.0;
        state->q[0] = angle;
        for (int i = 0; i < 960; i++) {
            if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
            loop = fmax(loop, cr_world_certificate(world)->loop_error);
            // the pendulum by short steps of the midpoint rule
            for (int k = 0; k < 10; k++) {
                double h = settings.dt / 10.0, half = angle + 0.5 * h * rate;
                rate -= h * md * G / I * cr_sin(half);
                angle = half + 0.5 * h * rate;
            }
            off = fmax(off, fabs(state->q[0] - angle));
        }
        printf("  %s: off by %.1e rad, loop %.1e\n", cr_quality_name((crQuality)quality), off, loop);
        CHECK(off < 1e-5 && loop < 1e-10);
        CHECK(fabs(state->q[1]) < 1e-7 && fabs(state->q[2]) < 1e-7);
        cr_world_destroy(world);
    }
    cr_model_destroy(model);
}

// A weld of a link to a part that is fixed to it holds already: rows of its rotation reach no velocity, and nothing changes.
TEST(a_weld_that_holds_already_changes_nothing) {
    double end[2][2];
    for (int welded = 0; welded < 2; welded++) {
        crModel* model = cr_model_create(NULL);
        model->gravity = cr_vec3(0, 0, -G);
        int top = add_link(model, CR_WORLD, cr_vec3(0, 0, 0));
        add_link(model, top, cr_vec3(0, 0, -1.0));
        crBodyDef def = cr_body_def();
        def.parent = top;
        def.pose.p = cr_vec3(0.2, 0, -0.5);
        def.mass = 0.5;
        def.inertia = (crSym3){.xx = 0.01, .yy = 0.01, .zz = 0.01};
        int part = cr_model_add_body(model, &def);
        crLoop weld = cr_loop(CR_LOOP_WELD, top, part);
        // the points miss each other by rounding
        weld.pose_a.p = cr_vec3(0.5, 0.1, -0.7);
        weld.pose_b.p = cr_vec3(0.3, 0.1, -0.2);
        if (welded != 0) cr_model_add_loop(model, &weld);
        crWorld* world = scene_world(model, NULL);
        crState* state = cr_world_state(world);
        state->q[0] = 0.4;
        CHECK_STATUS(cr_world_run(world, 0.5, NULL), CR_OK);
        end[welded][0] = state->q[0];
        end[welded][1] = state->q[1];
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
    printf("  %.12f and %.12f\n", end[0][0], end[1][0]);
    // a tree with loops is moved in another way (mechanism.c)
    CHECK_NEAR(end[1][0], end[0][0], 1e-4);
    CHECK_NEAR(end[1][1], end[0][1], 1e-4);
}

#define CELLS 16

// a floor of triangles, some of its vertices raised
static crMesh* rough_floor(void) {
    static crVec3 vertices[(CELLS + 1) * (CELLS + 1)];
    static int triangles[2 * CELLS * CELLS][3];
    for (int k = 0; k < (CELLS + 1) * (CELLS + 1); k++) {
        int i = k / (CELLS + 1), j = k % (CELLS + 1);
        double height = (7 * i + 13 * j) % 3 == 0 ? 0.02 : 0.0;
        vertices[k] = cr_vec3(0.1 * (i - CELLS / 2), 0.1 * (j - CELLS / 2), height);
    }
    for (int k = 0; k < CELLS * CELLS; k++) {
        int a = k / CELLS * (CELLS + 1) + k % CELLS, b = a + CELLS + 1;
        const int both[2][3] = {{a, b, b + 1}, {a, b + 1, a + 1}};
        memcpy(triangles[2 * k], both, sizeof both);
    }
    crMeshDef def = {.vertex_count = (CELLS + 1) * (CELLS + 1), .vertices = vertices};
    def.triangle_count = 2 * CELLS * CELLS;
    def.triangles = (const int(*)[3])triangles;
    crMesh* mesh = NULL;
    CHECK_STATUS(cr_mesh_create(&def, NULL, &mesh, NULL), CR_OK);
    return mesh;
}

// A plate that lands on many triangles touches in more points than are asked for at a time: the deepest of them all is certified.
TEST(overlap_of_many_points_is_their_deepest) {
    static crContactPoint points[4096];
    crMesh* mesh = rough_floor();
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -G);
    int of = scene_material(model, 0.5, 0.0);
    crShape floor = cr_shape_mesh(mesh), plate = cr_shape_box(0.55, 0.55, 0.02);
    cr_model_add_shape(model, CR_WORLD, &floor, of);
    scene_free(model, plate, cr_vec3(0.013, 0.017, 0.042), 10.0, of);
    crStepSettings settings = cr_step_settings();
    settings.quality = CR_QUALITY_FAST;
    crWorld* world = scene_world(model, &settings);
    crState* state = cr_world_state(world);
    state->v[2] = -0.5;
    int moved = 0, most = 0;
    double deepest = 0.0;
    for (int i = 0; i < 40; i++) {
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
        const crCertificate* c = cr_world_certificate(world);
        if (c->outcome != CR_OUTCOME_BOUNDED) continue;
        crQuat turn = {state->q[3], state->q[4], state->q[5], state->q[6]};
        crPose pose = {cr_vec3(state->q[0], state->q[1], state->q[2]), cr_quat_normalize(turn)};
        int needed = 0,
            count = cr_collide(&floor, cr_pose_identity(), &plate, pose, 0.0, points, 4096, &needed);
        double depth = 0.0;
        for (int k = 0; k < count; k++) {
            depth = fmax(depth, -points[k].gap);
        }
        CHECK_NEAR(c->penetration, depth, 1e-12);
        deepest = fmax(deepest, depth);
        most = count > most ? count : most;
        moved++;
    }
    printf("  %d steps in motion, up to %d points, %.1e m deep\n", moved, most, deepest);
    CHECK(moved > 5 && most > 16);
    cr_world_destroy(world);
    cr_model_destroy(model);
    cr_mesh_destroy(mesh);
}
