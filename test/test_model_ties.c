// Rotors, filters, excluded bodies and joints that follow each other: M, energy and motion from definitions.
#include "test.h"

#include "sample.h"

static int add_hinge(crModel* model, int parent, crVec3 pos, double mass, double armature) {
    crBodyDef def = cr_body_def();
    def.parent = parent;
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(0, 1, 0);
    def.pose.p = pos;
    def.mass = mass;
    def.com = cr_vec3(0.3, 0, 0.1);
    def.inertia = (crSym3){.xx = 0.2 * mass, .yy = 0.3 * mass, .zz = 0.25 * mass};
    def.dof[0].armature = armature;
    return cr_model_add_body(model, &def);
}

// everything at one instant
typedef struct Instant {
    crArena arena;
    crState state;
    crDynamics d;
} Instant;

static void begin(const crModel* model, Instant* now) {
    CHECK_STATUS(cr_arena_create(&now->arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_state_create(model, &now->arena, &now->state), CR_OK);
    CHECK_STATUS(cr_dynamics_create(model, &now->arena, &now->d), CR_OK);
}

TEST(rotors_stand_on_the_diagonal) {
    crModel* plain = cr_model_create(NULL);
    crModel* geared = cr_model_create(NULL);
    int a = add_hinge(plain, CR_WORLD, cr_vec3(0, 0, 0), 2.0, 0.0);
    add_hinge(plain, a, cr_vec3(1, 0, 0), 1.0, 0.0);
    a = add_hinge(geared, CR_WORLD, cr_vec3(0, 0, 0), 2.0, 0.7);
    add_hinge(geared, a, cr_vec3(1, 0, 0), 1.0, 0.25);
    Instant p = {0}, g = {0};
    begin(plain, &p);
    begin(geared, &g);
    crRandom random = sample_seed(3);
    for (int n = 0; n < test_samples(3000); n++) {
        for (int i = 0; i < 2; i++) {
            p.state.q[i] = g.state.q[i] = sample_uniform(&random, -3.0, 3.0);
            p.state.v[i] = g.state.v[i] = sample_uniform(&random, -3.0, 3.0);
        }
        double P[4], G[4], kp[2], kg[2];
        cr_model_kinematics(plain, &p.state, &p.d);
        cr_model_kinematics(geared, &g.state, &g.d);
        CHECK_STATUS(cr_model_mass_factor(plain, 0.0, &p.d), CR_OK);
        CHECK_STATUS(cr_model_mass_factor(geared, 0.0, &g.d), CR_OK);
        cr_model_mass_dense(plain, &p.d, P);
        cr_model_mass_dense(geared, &g.d, G);
        CHECK(G[1] == P[1] && G[2] == P[2]);
        CHECK_NEAR(G[0] - P[0], 0.7, 1e-14);
        CHECK_NEAR(G[3] - P[3], 0.25, 1e-14);
        cr_model_forces(plain, &p.state, &p.d, kp);
        cr_model_forces(geared, &g.state, &g.d, kg);
        CHECK(kp[0] == kg[0] && kp[1] == kg[1]);
        cr_model_velocity(geared, g.state.v, &g.d);
        const double* v = g.state.v;
        double T = 0.5 * (G[0] * v[0] * v[0] + 2.0 * G[1] * v[0] * v[1] + G[3] * v[1] * v[1]);
        CHECK_NEAR(cr_model_energy(geared, &g.state, &g.d).kinetic, T, 1e-12 * fmax(1.0, T));
        // the factor is that of the same matrix
        double x[2] = {1.0, -2.0}, y[2];
        cr_model_mass_solve(geared, &g.d, x);
        cr_model_mass_mul(geared, &g.d, x, y);
        CHECK_NEAR(y[0], 1.0, 1e-12);
        CHECK_NEAR(y[1], -2.0, 1e-12);
    }
    cr_arena_destroy(&p.arena);
    cr_arena_destroy(&g.arena);
    cr_model_destroy(plain);
    cr_model_destroy(geared);
}

TEST(a_rotor_alone_can_be_moved) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.mass = 0.0;
    def.dof[0].armature = 0.5;
    CHECK(cr_model_add_body(model, &def) == 1);
    CHECK_STATUS(cr_model_check(model, NULL), CR_OK);
    crWorldDef world_def = cr_world_def();
    world_def.model = model;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&world_def, &world, NULL), CR_OK);
    cr_world_state(world)->force[0] = 2.0;
    CHECK_STATUS(cr_world_run(world, 1.0, NULL), CR_OK);
    // constant moment over constant inertia
    CHECK_NEAR(cr_world_state(world)->v[0], 4.0, 1e-12);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

TEST(refused_rotors) {
    const double bad[] = {-1.0, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        crModel* model = cr_model_create(NULL);
        CHECK(add_hinge(model, CR_WORLD, cr_vec3(0, 0, 0), 1.0, bad[i]) == CR_ERR_RANGE);
        CHECK_TEXT(model->error.field, "armature");
        cr_model_destroy(model);
    }
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.mass = 1.0;
    def.dof[2].armature = 1.0;
    CHECK(cr_model_add_body(model, &def) == CR_ERR_RANGE);
    cr_model_destroy(model);
}

static int add_ball(crModel* model, crVec3 pos) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p = pos;
    int body = cr_model_add_body(model, &def);
    crShape sphere = cr_shape_sphere(0.5);
    cr_model_add_shape(model, body, &sphere, 0);
    return body;
}

TEST(groups_and_masks) {
    crModel* model = cr_model_create(NULL);
    add_ball(model, cr_vec3(0, 0, 0));
    add_ball(model, cr_vec3(0, 0, 0));
    CHECK(cr_model_meet(model, 0, 1) && cr_model_meet(model, 1, 0) && !cr_model_meet(model, 0, 0));
    crRandom random = sample_seed(5);
    for (int n = 0; n < test_samples(30000); n++) {
        uint64_t b[4];
        for (int i = 0; i < 4; i++) {
            b[i] = sample_bits(&random) & sample_bits(&random) & sample_bits(&random) &
                   UINT64_C(0x8000000000000fff);
        }
        CHECK_STATUS(cr_model_set_filter(model, 0, b[0], b[1]), CR_OK);
        CHECK_STATUS(cr_model_set_filter(model, 1, b[2], b[3]), CR_OK);
        bool meet = (b[0] & b[3]) != 0 || (b[2] & b[1]) != 0;
        CHECK(cr_model_meet(model, 0, 1) == meet && cr_model_meet(model, 1, 0) == meet);
    }
    CHECK_STATUS(cr_model_set_filter(model, 2, 1, 1), CR_ERR_RANGE);
    CHECK_TEXT(model->error.field, "shape");
    cr_model_destroy(model);
}

TEST(excluded_bodies) {
    enum { N = 12 };
    crModel* model = cr_model_create(NULL);
    bool apart[N + 1][N + 1] = {{false}};
    for (int i = 0; i < N; i++) {
        add_ball(model, cr_vec3(0, 0, 0));
    }
    crRandom random = sample_seed(6);
    for (int n = 0; n < 60; n++) {
        int a = 1 + (int)(sample_bits(&random) % N), b = 1 + (int)(sample_bits(&random) % N);
        CHECK_STATUS(cr_model_exclude(model, a, b), CR_OK);
        CHECK_STATUS(cr_model_exclude(model, b, a), CR_OK);
        apart[a][b] = apart[b][a] = true;
        for (int i = 0; i < N * N; i++) {
            int x = i / N, y = i % N;
            CHECK(cr_model_meet(model, x, y) == (x != y && !apart[x + 1][y + 1]));
        }
    }
    // each is kept once
    int pairs = 0;
    for (int i = 0; i < (N + 1) * (N + 1); i++) {
        pairs += i / (N + 1) <= i % (N + 1) && apart[i / (N + 1)][i % (N + 1)];
    }
    CHECK(model->exclusion_count == pairs);
    CHECK_STATUS(cr_model_exclude(model, 0, N + 1), CR_ERR_RANGE);
    CHECK_STATUS(cr_model_exclude(model, 0, 1), CR_ERR_RANGE);  // the refusal sticks
    cr_model_destroy(model);
}

// two balls fall on a floor; what is excluded falls through it
TEST(what_does_not_meet_falls_through) {
    crModel* model = cr_model_create(NULL);
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &floor, 0);
    add_ball(model, cr_vec3(0, 0, 0.5));
    int ghost = add_ball(model, cr_vec3(3, 0, 0.5));
    cr_model_exclude(model, CR_WORLD, ghost);
    crWorldDef def = cr_world_def();
    def.model = model;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    CHECK_STATUS(cr_world_run(world, 0.5, NULL), CR_OK);
    const double* q = cr_world_state(world)->q;
    CHECK_NEAR(q[2], 0.5, 1e-6);
    CHECK_NEAR(q[9], 0.5 - 0.5 * 9.81 * 0.25, 1e-12);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// rows of a coupling against differences of its own gap, and closed by Newton
TEST(coupled_joints) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    int a = add_hinge(model, CR_WORLD, cr_vec3(0, 0, 0), 2.0, 0.0);
    int b = add_hinge(model, a, cr_vec3(1, 0, 0), 1.0, 0.1);
    crLoop loop = cr_loop(CR_LOOP_JOINT, b, a);
    CHECK(loop.coef[0] == 0.0 && loop.coef[1] == 1.0 && loop.coef[2] == 0.0);
    const double c[5] = {0.1, -0.7, 0.2, 0.05, -0.03};
    memcpy(loop.coef, c, sizeof c);
    CHECK(cr_model_add_loop(model, &loop) == 0);
    Instant now = {0};
    begin(model, &now);
    int count, entries;
    cr_model_loop_sizes(model, &count, &entries);
    CHECK(count == 1);
    crRows rows;
    CHECK_STATUS(cr_rows_create(&now.arena, count, entries, &rows), CR_OK);
    crRandom random = sample_seed(8);
    for (int n = 0; n < 200; n++) {
        double* q = now.state.q;
        q[0] = sample_uniform(&random, -1.5, 1.5);
        q[1] = sample_uniform(&random, -1.5, 1.5);
        cr_model_kinematics(model, &now.state, &now.d);
        rows.count = rows.entries = 0;
        CHECK(cr_rows_add_loop(model, &now.d, 0, &rows) == 0 && rows.entries == 2);
        double x = q[0];
        CHECK_NEAR(rows.gap[0],
                   q[1] - (c[0] + c[1] * x + c[2] * x * x + c[3] * x * x * x + c[4] * x * x * x * x), 1e-14);
        CHECK(rows.col[0] == 0 && rows.col[1] == 1 && rows.value[1] == 1.0);
        CHECK_NEAR(rows.value[0], -(c[1] + 2 * c[2] * x + 3 * c[3] * x * x + 4 * c[4] * x * x * x), 1e-14);
        CHECK_STATUS(cr_model_close_loops(model, 1e-12, &now.arena, &now.d, &now.state, NULL), CR_OK);
        x = q[0];
        CHECK_NEAR(q[1], c[0] + c[1] * x + c[2] * x * x + c[3] * x * x * x + c[4] * x * x * x * x, 1e-11);
    }
    cr_arena_destroy(&now.arena);
    cr_model_destroy(model);
}

// gears 1 : -2 on fixed axes through centres of mass: (I_a + 4 I_b) a_a = moment
TEST(gears) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 0.3, .yy = 0.3, .zz = 0.3};
    int a = cr_model_add_body(model, &def);
    def.pose.p.x = 2.0;
    def.inertia = (crSym3){.xx = 0.1, .yy = 0.1, .zz = 0.1};
    int b = cr_model_add_body(model, &def);
    crLoop loop = cr_loop(CR_LOOP_JOINT, b, a);
    loop.coef[1] = -2.0;
    cr_model_add_loop(model, &loop);
    crWorldDef world_def = cr_world_def();
    world_def.model = model;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&world_def, &world, NULL), CR_OK);
    crState* state = cr_world_state(world);
    state->force[0] = 1.4;
    CHECK_STATUS(cr_world_run(world, 1.0, NULL), CR_OK);
    CHECK_NEAR(state->v[0], 2.0, 1e-8);
    CHECK_NEAR(state->v[1], -4.0, 1e-8);
    CHECK_NEAR(state->q[1], -2.0 * state->q[0], 1e-8);
    CHECK(cr_world_certificate(world)->outcome == CR_OUTCOME_SOLVED);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

TEST(refused_couplings) {
    for (int i = 0; i < 4; i++) {
        crModel* model = cr_model_create(NULL);
        int hinge = add_hinge(model, CR_WORLD, cr_vec3(0, 0, 0), 1.0, 0.0);
        int ball = add_ball(model, cr_vec3(0, 0, 0));
        crLoop loop = cr_loop(CR_LOOP_JOINT, hinge, i == 1 ? ball : CR_WORLD);
        if (i == 0) loop.a = ball;
        if (i == 2) loop.coef[3] = NAN;
        int made = cr_model_add_loop(model, &loop);
        CHECK(i == 3 ? made == 0 : made == (i == 2 ? CR_ERR_FINITE : CR_ERR_ARGUMENT));
        CHECK_TEXT(model->error.field, i == 0 ? "a" : i == 1 ? "b" : i == 2 ? "coef" : "");
        // a joint that the world holds at a place keeps its bodies free to touch
        if (i == 3) CHECK(model->loops[0].kind == CR_LOOP_JOINT);
        cr_model_destroy(model);
    }
}
