// test_step_event_work.c - what event-driven stepping may cost, and that trials it takes back count for nothing.
//
// The method finds a touch by trials, each a contact solve. A solver that counts its calls, and may claim many
// iterations, shows that a step ends however hard its solves are. Driven bodies do the work P.w: for balls on a plate
// that rises at w, the sum of m (v+ - v + g h) w in every step, whatever impacts and solves it had.
#include "step_scene.h"

#define GRAVITY 9.81

typedef struct Counter {
    int calls, claim;  // claim: iterations that are reported in addition
} Counter;

static crStatus count_solve(const void* params, const crProblem* problem, crArena* arena, double* p,
                            crReport* report, crError* error) {
    Counter* counter = (Counter*)(uintptr_t)params;
    crSolver solver;
    cr_solver_find("auto", NULL, &solver, NULL);
    crStatus status = solver.solve(solver.params, problem, arena, p, report, error);
    counter->calls++;
    report->iterations += counter->claim;
    return status;
}

// balls and boxes dropped in a heap
static int heap_calls(int claim, int steps, bool* truncated) {
    Counter counter = {0, claim};
    crStepSettings settings = scene_settings(CR_METHOD_EVENT);
    settings.solver = (crSolver){"counting", count_solve, &counter};
    Scene scene = {.model = cr_model_create(NULL)};
    int material = scene_material(scene.model, 0.4, 0.5), most = 0;
    scene_ground(scene.model, cr_vec3(0, 0, 1), material);
    for (int i = 0; i < 6; i++) {
        crShape shape = i % 2 == 0 ? cr_shape_sphere(0.1) : cr_shape_box(0.1, 0.08, 0.06);
        scene_free(scene.model, shape, cr_vec3(0.01 * i, 0.005 * i, 0.11 + 0.21 * i), 1.0, material);
    }
    scene_open(&scene, &settings);
    *truncated = false;
    for (int k = 0; k < steps; k++) {
        counter.calls = 0;
        if (!scene_step(&scene, settings.dt)) break;
        most = counter.calls > most ? counter.calls : most;
        if (!scene.step.certificate.truncated) continue;
        *truncated = true;
        // what was cut off is said
        CHECK(cr_certificate_holds(&scene.step.certificate, 1.0) == CR_TRUTH_NO);
    }
    scene_close(&scene);
    return most;
}

TEST(steps_end) {
    bool cut;
    int plain = heap_calls(0, 60, &cut);
    CHECK(!cut && plain > 200);
    // solves of a million iterations and three rows at least: one or two of them are all that a step has
    int hard = heap_calls(1 << 20, 60, &cut);
    printf("  most solves of a step: %d, and %d where each takes a million iterations\n", plain, hard);
    CHECK(cut && hard < 60);
}

static void rise(void* ctx, double time, crDriven* out) {
    double w = *(const double*)ctx;
    out->pose.p = cr_vec3(0, 0, -0.1 + w * time);
    out->velocity = cr_vec3(0, 0, w);
}

static void check_work(crToi toi, double w, double e) {
    crStepSettings settings = scene_settings(CR_METHOD_EVENT);
    settings.toi = toi;
    settings.dt = 1.0 / 100;
    Scene scene = {.model = cr_model_create(NULL)};
    scene.model->gravity = cr_vec3(0, 0, -GRAVITY);
    int material = scene_material(scene.model, 0.3, e);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_DRIVEN;
    def.drive = rise;
    def.drive_ctx = &w;
    crShape plate = cr_shape_box(2.0, 2.0, 0.1);
    cr_model_add_shape(scene.model, cr_model_add_body(scene.model, &def), &plate, material);
    // one rests while the other bounces: its impulses are part of every trial
    scene_free(scene.model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.1), 2.0, material);
    scene_free(scene.model, cr_shape_sphere(0.1), cr_vec3(1, 0, 0.3), 2.0, material);
    scene_open(&scene, &settings);
    double before = 0.0, worst = 0.0;
    int impacts = 0;
    for (int k = 0; k < 200 && scene_step(&scene, settings.dt); k++) {
        double after = scene.step.state.v[2] + scene.step.state.v[8];
        double want = 2.0 * (after - before + 2.0 * GRAVITY * settings.dt) * w;
        worst = fmax(worst, fabs(scene.step.certificate.energy.work - want));
        impacts += scene.step.certificate.impacts;
        before = after;
    }
    printf("  plate at %g m/s, e %g: %d impacts, work off by at most %.1e J\n", w, e, impacts, worst);
    CHECK(impacts > 0);
    CHECK(worst < 1e-9);
    scene_close(&scene);
}

TEST(work_of_a_rising_plate) {
    for (int toi = 0; toi < 2; toi++) {
        check_work(toi == 0 ? CR_TOI_BISECT : CR_TOI_ADVANCE, 0.5, 0.6);
        check_work(toi == 0 ? CR_TOI_BISECT : CR_TOI_ADVANCE, -0.2, 0.3);
    }
}
