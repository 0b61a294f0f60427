// test_step_moreau.c - the theta method against trajectories that Siconos published and against its own
// recursion.
#include "reference.h"
#include "world_scene.h"

// a ball on a vertical slider whose coordinate is the gap
static crModel* slider_ball(double e) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.0, e);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_SLIDER;
    def.pose.p.z = 0.1;
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 0.1, .yy = 0.1, .zz = 0.1};
    int body = cr_model_add_body(model, &def);
    crShape ball = cr_shape_sphere(0.1);
    cr_model_add_shape(model, body, &ball, material);
    return model;
}

static crWorld* moreau_world(const crModel* model, double h, double activation) {
    crStepSettings settings = cr_step_settings();
    settings.method = CR_METHOD_MOREAU;
    settings.dt = h;
    settings.activation = activation;
    return scene_world(model, &settings);
}

// what a column of theirs tells, and the sign of its axis
typedef struct Column {
    const double* value;
    int column;
    double sign;
} Column;

// steps row by row, to 1e-9; closes the file
static void follow(FILE* file, int rows, int columns, crWorld* world, const Column* list, int count) {
    double worst = 0.0;
    for (int i = 0; i < rows; i++) {
        double row[16];
        read_row(file, columns, row);
        for (int k = 0; k < count; k++) {
            worst = fmax(worst, fabs(*list[k].value - list[k].sign * row[list[k].column]));
        }
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
    }
    printf("  %d steps of Siconos: to %.1e\n", rows, worst);
    CHECK(worst < 1e-9);
    fclose(file);
}

// h = .005, theta = .5, e = .9, g = 9.81, from 1 m (PARAMS.md beside the file)
TEST(bouncing_ball_is_that_of_siconos) {
    int rows = 0;
    FILE* file = open_reference("siconos-trajectories-A/BouncingBallTS.ref", 5, &rows);
    if (file == NULL) return;
    crModel* model = slider_ball(0.9);
    crWorld* world = moreau_world(model, 0.005, 0.5);
    crState* state = cr_world_state(world);
    state->q[0] = 1.0;
    Column list[] = {{&state->q[0], 1, 1.0}, {&state->v[0], 2, 1.0}};
    follow(file, rows, 5, world, list, 2);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// two balls one above the other: m = 1 and 2, R = .1, e = .95, h = .001, from .1 and .301; the floor is where
// q1 = 0; the rows show contacts active where gap + 3/2 h v <= 0 (one of them needs more than 1.2, one less
// than 1.8)
TEST(two_balls_are_those_of_siconos) {
    int rows = 0;
    FILE* file = open_reference("siconos-trajectories-A/TwoBouncingBallTS-MoreauJeanGOSI.ref", 8, &rows);
    if (file == NULL) return;
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.0, 0.95);
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), -0.1);
    cr_model_add_shape(model, CR_WORLD, &ground, material);
    crShape ball = cr_shape_sphere(0.1);
    for (int i = 0; i < 2; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_SLIDER;
        def.mass = 1.0 + i;
        def.inertia = (crSym3){.xx = 0.1, .yy = 0.1, .zz = 0.1};
        int body = cr_model_add_body(model, &def);
        cr_model_add_shape(model, body, &ball, material);
    }
    crWorld* world = moreau_world(model, 0.001, 1.5);
    crState* state = cr_world_state(world);
    state->q[0] = 0.1;
    state->q[1] = 0.301;
    Column list[] = {
        {&state->q[0], 1, 1.0}, {&state->v[0], 2, 1.0}, {&state->q[1], 5, 1.0}, {&state->v[1], 6, 1.0}};
    follow(file, rows, 8, world, list, 4);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// a spinning disc over the line y = 0: R = .5, m = 1, J = 2/5 m R^2, e = .9, mu = .1, h = .005; the rows show
// contacts active where gap + h v <= 0. Their x runs the other way. While it touches the disc overlaps the
// line by up to 2 cm: the arm of friction is R all the same
TEST(spinning_disc_is_that_of_siconos) {
    int rows = 0;
    FILE* file = open_reference("siconos-trajectories-A/Ball2D_kernel_only_with_friction.ref", 9, &rows);
    if (file == NULL) return;
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, -9.81, 0);
    int material = scene_material(model, 0.1, 0.9);
    scene_ground(model, cr_vec3(0, 1, 0), material);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_PLANAR;
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 0.1, .yy = 0.1, .zz = 0.1};
    int body = cr_model_add_body(model, &def);
    crShape ball = cr_shape_sphere(0.5);
    cr_model_add_shape(model, body, &ball, material);
    crWorld* world = moreau_world(model, 0.005, 1.0);
    crState* state = cr_world_state(world);
    state->q[1] = 1.0;
    state->v[2] = 2.0;
    Column list[] = {{&state->q[1], 1, 1.0},  {&state->v[1], 2, 1.0},  {&state->v[2], 3, 1.0},
                     {&state->v[0], 8, -1.0}, {&state->q[0], 6, -1.0}, {&state->q[2], 7, 1.0}};
    follow(file, rows, 9, world, list, 6);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// the recursion written out: v_free = v - g h; active where q + h v / 2 <= 0: v+ = max(v_free, -e v)
TEST(one_ball_follows_the_recursion) {
    crModel* model = slider_ball(0.7);
    crWorld* world = moreau_world(model, 0.01, 0.5);
    crState* state = cr_world_state(world);
    state->q[0] = 0.5;
    double q = 0.5, v = 0.0, worst = 0.0;
    for (int i = 0; i < 1000; i++) {
        double after = v - 9.81 * 0.01;
        if (q + 0.005 * v <= 0.0) after = fmax(after, -0.7 * v);
        q += 0.01 * 0.5 * (v + after);
        v = after;
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
        worst = fmax(worst, fmax(fabs(q - state->q[0]), fabs(v - state->v[0])));
    }
    printf("  recursion over 1000 steps: to %.1e\n", worst);
    CHECK(worst < 1e-10);
    cr_world_destroy(world);
    cr_model_destroy(model);
}
