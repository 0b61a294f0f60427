// test_step_moreau.c - the theta method against trajectories that Siconos published and against its own recursion.
#include "data.h"
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

static crWorld* moreau_world(const crModel* model, double h) {
    crStepSettings settings = cr_step_settings();
    settings.method = CR_METHOD_MOREAU;
    settings.dt = h;
    return scene_world(model, &settings);
}

// h = .005, theta = .5, e = .9, g = 9.81, from 1 m (PARAMS.md beside the file)
TEST(bouncing_ball_is_that_of_siconos) {
    char path[512];
    if (test_data("siconos-trajectories-A/BouncingBallTS.ref", path, sizeof path) == NULL) {
        test_skip("no data");
        return;
    }
    FILE* file = fopen(path, "r");
    int rows = 0, cols = 0;
    CHECK(fscanf(file, "%d %d", &rows, &cols) == 2 && cols == 5);
    crModel* model = slider_ball(0.9);
    crWorld* world = moreau_world(model, 0.005);
    crState* state = cr_world_state(world);
    state->q[0] = 1.0;
    double worst = 0.0;
    for (int i = 0; i < rows; i++) {
        double row[5];
        for (int j = 0; j < 5; j++) {
            CHECK(fscanf(file, "%lf", &row[j]) == 1);
        }
        worst = fmax(worst, fmax(fabs(state->q[0] - row[1]), fabs(state->v[0] - row[2])));
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
    }
    printf("  %d steps of Siconos: to %.1e\n", rows, worst);
    CHECK(worst < 1e-9);
    fclose(file);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// the recursion written out: v_free = v - g h; active where q + h v / 2 <= 0: v+ = max(v_free, -e v)
TEST(one_ball_follows_the_recursion) {
    crModel* model = slider_ball(0.7);
    crWorld* world = moreau_world(model, 0.01);
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
