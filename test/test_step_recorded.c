// test_step_recorded.c - event-driven trajectories that Siconos published (PARAMS.md beside them), row by row.
#include "reference.h"
#include "resolve/kinds.h"
#include "step_scene.h"

static crStepSettings event_settings(double dt, double threshold) {
    crStepSettings settings = scene_settings(CR_METHOD_EVENT);
    settings.dt = dt;
    settings.threshold = threshold;
    return settings;
}

// a ball whose height above the floor is q, under a ceiling where one is given
static Scene ball_scene(double gravity, double e, double q, double v, double ceiling,
                        const crStepSettings* settings) {
    Scene scene = {.model = cr_model_create(NULL)};
    scene.model->gravity = cr_vec3(0, 0, -gravity);
    int material = scene_material(scene.model, 0.0, e);
    scene_ground(scene.model, cr_vec3(0, 0, 1), material);
    if (ceiling > 0.0) {
        crShape roof = cr_shape_halfspace(cr_vec3(0, 0, -1), -(ceiling + 0.2));
        cr_model_add_shape(scene.model, CR_WORLD, &roof, material);
    }
    scene_free(scene.model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.1), 1.0, material);
    scene_open(&scene, settings);
    scene.step.state.q[2] = 0.1 + q;
    scene.step.state.v[2] = v;
    return scene;
}

typedef struct Apart {
    double state;  // m, m/s, on the grid of steps
    double time;   // of impacts, s
    double speed;  // before and after them, m/s
    int impacts;
} Apart;

// rows on the grid against states; two rows of one time that is none of the grid's are an impact. Impacts
// slower than `slowest` are not compared: the times of their solver are good to 1e-12 s only
static Apart follow(Scene* scene, FILE* file, int rows, int columns, double slowest) {
    Apart apart = {0};
    double h = scene->step.settings.dt, row[16], before[16] = {-1.0};
    int at = 0, next = 0;
    long done = 0;
    for (int i = 0; i < rows; i++) {
        read_row(file, columns, row);
        long index = (long)floor(row[0] / h + 0.5);
        bool on_grid = fabs(row[0] - (double)index * h) < 1e-12;
        while (done < (on_grid ? index : (long)floor(row[0] / h) + 1)) {
            if (!scene_step(scene, h)) return apart;
            done++;
            next = 0;
            at = scene->step.events.count;
        }
        if (on_grid) {
            apart.state = fmax(apart.state, fabs(scene->step.state.q[2] - 0.1 - row[1]));
            apart.state = fmax(apart.state, fabs(scene->step.state.v[2] - row[2]));
        } else if (row[0] == before[0] && fabs(before[2]) > slowest) {
            while (next < at && scene->step.events.list[next].impact < 0) {
                next++;
            }
            if (!CHECK(next < at)) return apart;
            const crEvent* e = &scene->step.events.list[next++];
            apart.time = fmax(apart.time, fabs(e->time - row[0]));
            apart.speed = fmax(apart.speed, fabs(e->approach - fabs(before[2])));
            // mass 1: the impulse is the change of velocity
            apart.speed = fmax(apart.speed, fabs(fabs(e->impulse.z) - fabs(row[2] - before[2])));
            apart.impacts++;
        }
        memcpy(before, row, sizeof row);
    }
    return apart;
}

TEST(bouncing_ball_is_that_of_siconos) {
    int rows = 0;
    FILE* file = open_reference("siconos-trajectories-A/BouncingBallED.ref", 7, &rows);
    if (file == NULL) return;
    crStepSettings settings = event_settings(0.005, 0.01);
    Scene scene = ball_scene(9.81, 0.9, 1.0, 0.0, 0.0, &settings);
    Apart apart = follow(&scene, file, rows, 7, 0.0);
    printf("bouncing ball: %d rows to %.1e, %d impacts to %.1e s and %.1e m/s\n", rows, apart.state,
           apart.impacts, apart.time, apart.speed);
    CHECK(apart.impacts == 44);
    CHECK(apart.state < 1e-9 && apart.time < 1e-9 && apart.speed < 1e-9);
    fclose(file);
    scene_close(&scene);
}

// floor and ceiling; the impacts accumulate and the ball rests for the last four seconds
TEST(ball_between_floor_and_ceiling_is_that_of_siconos) {
    int rows = 0;
    FILE* file = open_reference("siconos-trajectories-A/BouncingBallED-TwoContacts.ref", 9, &rows);
    if (file == NULL) return;
    crStepSettings settings = event_settings(0.01, 1e-6);
    Scene scene = ball_scene(10.0, 0.8, 1.0, 10.0, 1.5, &settings);
    Apart apart = follow(&scene, file, rows, 9, 1e-3);
    printf("floor and ceiling: %d rows to %.1e, %d impacts to %.1e s and %.1e m/s\n", rows, apart.state,
           apart.impacts, apart.time, apart.speed);
    CHECK(apart.impacts > 35);
    CHECK(apart.state < 1e-9 && apart.time < 1e-9 && apart.speed < 1e-9);
    fclose(file);
    scene_close(&scene);
}

// ten steel beads of 5 mm on each other fall on a wall
static Scene column(const crRule* rule, const crStepSettings* given) {
    Scene scene = {.model = cr_model_create(NULL)};
    int material = scene_material(scene.model, 0.0, 1.0);
    scene_ground(scene.model, cr_vec3(0, 0, 1), material);
    for (int i = 0; i < 10; i++) {
        double mass = 7780.0 * 4.0 / 3.0 * CR_PI * 0.005 * 0.005 * 0.005;
        scene_free(scene.model, cr_shape_sphere(0.005), cr_vec3(0, 0, 0.055 + 0.01 * i), mass, material);
    }
    crStepSettings settings = *given;
    settings.rule = *rule;
    scene_open(&scene, &settings);
    return scene;
}

TEST(column_of_beads_by_newton_is_that_of_siconos) {
    int rows = 0;
    FILE* file = open_reference("siconos-trajectories-A/BeadColumnED_NewtonLaw.ref", 21, &rows);
    if (file == NULL) return;
    crStepSettings settings = event_settings(0.001, 0.01);
    crRule rule = cr__rule(&cr__rule_newton, NULL);
    Scene scene = column(&rule, &settings);
    double worst = 0.0;
    long done = 0;
    int compared = 0;
    for (int i = 0; i < rows; i++) {
        double row[21];
        read_row(file, 21, row);
        long index = (long)floor(row[0] / 0.001 + 0.5);
        if (fabs(row[0] - 0.001 * (double)index) > 1e-12) continue;
        while (done < index && scene_step(&scene, 0.001)) {
            done++;
        }
        for (int k = 0; k < 10; k++) {
            worst = fmax(worst, fabs(scene.step.state.q[7 * k + 2] - row[1 + k]));
            worst = fmax(worst, fabs(scene.step.state.v[6 * k + 2] - row[11 + k]));
        }
        compared++;
    }
    printf("column by newton: %d rows to %.1e\n", compared, worst);
    CHECK(compared > 490);
    CHECK(worst < 1e-9);
    fclose(file);
    scene_close(&scene);
}

// Liu, Zhao and Brogliato's impact with Hertz' springs; a plane is twice as large a partner as a bead, so its
// spring is sqrt 2 as stiff. Their integration gains 8e-6 of the energy, ours none to 1e-14; speeds agree as
// far as the accuracy of theirs allows, which is why the rest of their rows cannot be had to 1e-9
TEST(column_of_beads_by_chain_leaves_as_theirs) {
    const double theirs[10] = {0.19769, 0.45580, 0.53589, 0.86367, 1.00155,
                               1.03208, 1.06990, 1.13710, 1.26874, 1.55386};
    crStepSettings settings = event_settings(0.001, 0.01);
    double stiffness[10] = {1.4142135623730951, 1, 1, 1, 1, 1, 1, 1, 1, 1}, worst = 0.0;
    crRuleParams params = cr_rule_params();
    params.stiffness = stiffness;
    params.hertz = true;
    crRule rule = cr__rule(&cr__rule_chain, &params);
    Scene scene = column(&rule, &settings);
    while (scene.step.state.time < 0.1009 && scene_step(&scene, 0.001)) {}
    double v = 9.81 * scene.step.state.time - sqrt(2.0 * 9.81 * 0.05);
    for (int k = 0; k < 10; k++) {
        worst = fmax(worst, fabs(scene.step.state.v[6 * k + 2] + v - theirs[k]));
    }
    printf("column by chain: speeds to %.1e m/s\n", worst);
    CHECK(worst < 2e-3);
    scene_close(&scene);
}
