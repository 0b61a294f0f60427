// test_misuse.c - every public function refuses wrong arguments: a status with the argument's name, NULL, false,
// 0, NaN or zeros, as base.h says, and never a crash.
//
// The calls are written by scripts/misuse.py from the headers. They run in children of this process, a batch in
// each: where one dies, the call that it had begun is a failure and the next child goes on behind it.
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "carom/dynamics.h"
#include "carom/modes.h"
#include "misuse.h"
#include "resolve/kinds.h"

enum { BATCH = 64, SECONDS = 20 };

// shared with the children
typedef struct Progress {
    int begun;  // the call that runs
    int wrong;  // calls with a wrong answer
} Progress;

static Progress* progress;

void misuse_check(bool good, const char* what) {
    if (good) return;
    progress->wrong++;
    printf("  %s: %s\n", misuse_cases[progress->begun].title, what);
    fflush(stdout);
}

void misuse_status(const Misuse* f, crStatus status, const char* field) {
    char text[200];
    misuse_check(status < 0, "is not refused");
    if (status >= 0 || field == NULL) return;
    snprintf(text, sizeof text, "the error names \"%s\", not \"%s\"", f->error.field, field);
    misuse_check(strcmp(f->error.field, field) == 0, text);
    misuse_check(f->error.status == status && f->error.message[0] != '\0',
                 "the error has no message or status");
}

crStatus misuse_respond(void* ctx, crVec3 impulse, crVec3* velocity) {
    (void)ctx;
    *velocity = impulse;
    return CR_OK;
}

void misuse_format(char* out, size_t size, const char* format, ...) {
    va_list args;
    va_start(args, format);
    cr_error_format(out, size, format, args);
    va_end(args);
}

static void fill_shapes(Misuse* f) {
    static const crVec3 tetrahedron[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int sizes[4] = {3, 3, 3, 3}, loops[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    static const int triangles[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    static const double heights[4] = {0, 0, 0, 0};
    f->shape = cr_shape_sphere(0.5);
    f->hull_def = (crHullDef){4, tetrahedron, 4, sizes, loops};
    f->mesh_def = (crMeshDef){4, tetrahedron, 4, triangles};
    f->field_def = (crHeightFieldDef){2, 2, 1.0, 1.0, heights};
    CHECK_STATUS(cr_hull_create(&f->hull_def, NULL, &f->hull, NULL), CR_OK);
    CHECK_STATUS(cr_mesh_create(&f->mesh_def, NULL, &f->mesh, NULL), CR_OK);
    CHECK_STATUS(cr_heightfield_create(&f->field_def, NULL, &f->field, NULL), CR_OK);
    CHECK_STATUS(cr_compound_create(&f->shape, 1, NULL, &f->compound, NULL), CR_OK);
    CHECK_STATUS(cr_broad_create(0.1, NULL, &f->broad, NULL), CR_OK);
    f->bounds = (crBounds){cr_vec3(0, 0, 0), cr_vec3(1, 1, 1)};
    CHECK_STATUS(cr_broad_set(f->broad, 1, f->bounds, -1, NULL), CR_OK);
    f->motion = (crMotion){.pose = cr_pose_identity()};
    crPose above = {{0, 0, 0.9}, {1, 0, 0, 0}};
    CHECK(cr_collide_keep(&f->shape, cr_pose_identity(), &f->shape, above, 0.1, &f->patch));
    static const crVec3 square[4] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    memcpy(f->polygon, square, sizeof square);
}

static void fill_numbers(Misuse* f) {
    f->allocator = cr_allocator_libc();
    CHECK_STATUS(cr_arena_create(&f->arena, NULL, 0), CR_OK);
    for (int i = 0; i < 4; i++) {
        f->ones[i] = 1.0;
        f->matrices[i] = cr_mat3_columns(cr_vec3(1, 0, 0), cr_vec3(0, 1, 0), cr_vec3(0, 0, 1));
    }
    f->inertia = (crSym3){.xx = 1, .yy = 1, .zz = 1};
    f->mass = (crMass){1.0, {0, 0, 0}, f->inertia};
    f->vectors[0] = f->vectors[1] = cr_vec3(1, 0, 0);
    static const double speed[] = {0.0}, e[] = {0.5};
    f->restitution = (crRestitution){1, speed, e, NULL, NULL};
}

static void fill_contact(Misuse* f) {
    f->collision = cr_collision();
    f->collision.V = cr_vec3(-1, 0.5, 0);
    f->collision.mu = 0.5;
    CHECK_STATUS(cr_collision_contact(&f->collision, &f->contact, &f->frame, NULL), CR_OK);
    f->rigid = cr_rigid();
    f->law = cr__law(&cr__law_newton, NULL);
    f->law_params = cr_law_params();
    f->law_params.law_count = 1;
    f->law_params.laws = &f->law;
    f->law_params.weights = f->ones;
    f->solver = cr__solver(&cr__solver_auto, NULL);
    f->solver_params = cr_solver_params();
    f->rule = cr__rule(&cr__rule_poisson, NULL);
    f->rule_params = cr_rule_params();
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, u[3] = {-1, 0.2, 0.1};
    f->block = cr_block(CR_BLOCK_CONE, 0, 3);
    f->block.mu = f->block.mu2 = 0.5;
    f->matrix = (crMatrix){3, 3, NULL, NULL, identity};
    f->problem = (crProblem){.rows = 3, .block_count = 1, .blocks = &f->block, .u_free = u, .nv = 3};
    f->problem.W = f->problem.J = f->problem.M = f->problem.Minv = f->matrix;
    f->problem.v = u;
    static const double p[3] = {1, -0.2, -0.1};
    CHECK_STATUS(cr_modes_find(&f->problem, &f->arena, p, 1e-6, 0.0, &f->modes, NULL), CR_OK);
    CHECK_STATUS(cr_rule_modes_find(&f->rule, &f->problem, &f->arena, p, 0.0, &f->rule_modes, NULL), CR_OK);
    f->form = (crForm){.kind = CR_FORM_POWER, .speed = 1.0, .e = 0.5, .exponent = 0.25, .most = 1.0};
    static const double zero[1] = {0.0};
    f->curve = (crCurve){.rows = 1, .columns = 1, .x = zero, .value = zero};
    f->cue = (crCue){.mass = 0.5, .end_mass = 0.01, .e = 0.7, .mu = 0.7};
}

static void no_load(void* ctx, const crLoadAt* at, crLoadValue* out) {
    (void)ctx;
    (void)at;
    (void)out;
}

// a ground, a ball, a box on it, a hinge, a loop between ball and box, and a load on the ball
static void fill_model(Misuse* f) {
    f->model = cr_model_create(NULL);
    f->material = cr_material();
    f->surface = f->material.surface;
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0), ball = cr_shape_sphere(0.1);
    cr_model_add_shape(f->model, CR_WORLD, &ground, 0);
    f->body_def = cr_body_def();
    f->body_def.joint = CR_JOINT_FREE;
    f->body_def.pose.p.z = 0.1;
    f->body_def.name = "ball";
    int a = cr_model_add_body(f->model, &f->body_def);
    cr_model_add_shape(f->model, a, &ball, 0);
    f->body_def.name = "other";
    f->body_def.pose.p.x = 1.0;
    int b = cr_model_add_body(f->model, &f->body_def);
    cr_model_add_shape(f->model, b, &ball, 0);
    f->body_def = cr_body_def();
    f->body_def.joint = CR_JOINT_HINGE;
    f->body_def.dof[0].motor_force = 1.0;
    f->body_def.pose.p = cr_vec3(3, 0, 1);
    int c = cr_model_add_body(f->model, &f->body_def);
    cr_model_add_shape(f->model, c, &ball, 0);
    f->loop = cr_loop(CR_LOOP_DISTANCE, a, b);
    f->loop.length = 1.0;
    cr_model_add_loop(f->model, &f->loop);
    f->actuator = cr_actuator_motor(f->model->bodies[c].v);
    f->actuator.name = "motor";
    cr_model_add_actuator(f->model, &f->actuator);
    f->actuator.name = NULL;
    f->site = (crSite){.name = "here", .body = a, .volume = ball};
    cr_model_add_site(f->model, &f->site);
    f->site.name = NULL;
    f->tendon = (crTendon){.name = "tendon", .count = 2, .coef = {1.0}};
    cr_model_add_tendon(f->model, &f->tendon);
    f->tendon.name = NULL;
    f->sensor = (crSensor){.name = "sensor", .kind = CR_SENSOR_GYRO};
    cr_model_add_sensor(f->model, &f->sensor);
    f->sensor.name = NULL;
    f->load = cr_load(a);
    f->load.function = no_load;
    cr_model_add_load(f->model, &f->load);
    CHECK_STATUS(cr_model_check(f->model, NULL), CR_OK);
}

static void fill_dynamics(Misuse* f) {
    CHECK_STATUS(cr_state_create(f->model, &f->arena, &f->state), CR_OK);
    CHECK_STATUS(cr_dynamics_create(f->model, &f->arena, &f->dynamics), CR_OK);
    cr_model_kinematics(f->model, &f->state, &f->dynamics);
    CHECK_STATUS(cr_model_mass_factor(f->model, 0.0, &f->dynamics), CR_OK);
    cr_model_velocity(f->model, f->state.v, &f->dynamics);
    CHECK_STATUS(cr_rows_create(&f->arena, 16, 256, &f->rows), CR_OK);
    CHECK(cr_rows_add_point(f->model, &f->dynamics, 1, 2, cr_vec3(0, 0, 0), &f->frame, 3, &f->rows) == 0);
}

static void fill_worlds(Misuse* f) {
    f->settings = cr_step_settings();
    f->settings.sleep_time = 0.5;
    CHECK_STATUS(cr_step_create(f->model, &f->settings, NULL, &f->step, NULL), CR_OK);
    CHECK_STATUS(cr_step_create(f->model, &f->settings, NULL, &f->fresh_step, NULL), CR_OK);
    CHECK_STATUS(cr_step_begin(&f->step, NULL), CR_OK);
    CHECK_STATUS(cr_step_forces(&f->step, f->settings.dt, NULL), CR_OK);
    CHECK_STATUS(cr_step_collide(&f->step, 0.01, NULL), CR_OK);
    CHECK_STATUS(cr_step_problem_build(&f->step, f->settings.dt, NULL, NULL), CR_OK);
    f->world_def = cr_world_def();
    f->world_def.model = f->model;
    f->world_def.step = f->settings;
    CHECK_STATUS(cr_world_create(&f->world_def, &f->world, NULL), CR_OK);
    CHECK_STATUS(cr_world_step(f->world, NULL), CR_OK);
    CHECK_STATUS(cr_world_save(f->world, f->bytes, sizeof f->bytes), CR_OK);
    CHECK_STATUS(cr_wrt_create(&f->world_def, &f->wrt, NULL), CR_OK);
    f->wrt_param = (crWrtParam){CR_WRT_MU, 0, 0};
    f->batch_def = cr_batch_def();
    f->batch_def.model = f->model;
    f->batch_def.step = f->settings;
    f->batch_def.count = 2;
    f->batch_def.hits = 4;
    f->batch_steps[0] = f->batch_steps[1] = 1;
    f->batch_models[0] = f->batch_models[1] = f->model;
    f->batch_path = (crBatchPath){.samples = 1, .h = f->ones, .steps = f->batch_steps};
    CHECK_STATUS(cr_batch_create(&f->batch_def, &f->batch, NULL), CR_OK);
}

static void fill_files(Misuse* f) {
    static const char text[] = "{\"carom\": 1, \"step\": {\"dt\": 0.01}, \"bodies\": [{\"mass\": 1, "
                               "\"shapes\": [{\"type\": \"sphere\", \"r\": 0.1}]}]}";
    f->file = fopen("/dev/null", "wb");
    CHECK_STATUS(cr_json_parse(text, sizeof text - 1, 1, &f->json, NULL), CR_OK);
    CHECK_STATUS(cr_scene_read(f->json.root, &f->scene, NULL), CR_OK);
    f->problem_file.problem = f->problem;
    // the files of a trajectory stay open; nothing needs their names
    char path[80];
    snprintf(path, sizeof path, "/tmp/carom-misuse-%ld.csv", (long)getpid());
    CHECK_STATUS(cr_trajectory_create(path, f->world, 0, &f->trajectory, NULL), CR_OK);
    unlink(path);
}

// two records at the reference position
static void fill_motion(Misuse* f) {
    size_t nq = (size_t)f->model->nq;
    double* q = cr_arena_alloc(&f->arena, 2 * nq * sizeof *q);
    if (q == NULL) _exit(2);
    memcpy(q, f->model->q0, nq * sizeof *q);
    memcpy(q + nq, f->model->q0, nq * sizeof *q);
    f->motion_time[1] = 1.0;
    f->motion_data = (crMotionData){.count = 2, .time = f->motion_time, .q = q};
    f->motion_limits = cr_motion_limits();
    CHECK_STATUS(
        cr_audit_motion(f->model, &f->motion_data, &f->motion_limits, NULL, NULL, &f->motion_report, NULL),
        CR_OK);
}

static Misuse* fixture(void) {
    Misuse* f = calloc(1, sizeof *f);
    if (f == NULL) _exit(2);
    fill_numbers(f);
    fill_shapes(f);
    fill_contact(f);
    fill_model(f);
    fill_dynamics(f);
    fill_worlds(f);
    fill_files(f);
    fill_motion(f);
    f->frame = f->matrices[0];
    return f;
}

// the calls from `first` on, as many as a batch has; what they leave behind goes with the child
static void run_batch(int first) {
    alarm(SECONDS);
    for (int i = first; i < first + BATCH && misuse_cases[i].title != NULL; i++) {
        progress->begun = i;
        misuse_cases[i].call(fixture());
    }
    fflush(stdout);
    _exit(0);
}

TEST(no_wrong_argument_crashes_a_public_function) {
    int count = 0, crashed = 0;
    while (misuse_cases[count].title != NULL) {
        count++;
    }
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(progress != MAP_FAILED)) return;
    for (int first = 0; first < count;) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) run_batch(first);
        int state = 0;
        if (!CHECK(child > 0 && waitpid(child, &state, 0) == child)) break;
        bool died = !WIFEXITED(state) || WEXITSTATUS(state) != 0;
        if (died)
            printf("  %s: %s\n", misuse_cases[progress->begun].title,
                   WIFSIGNALED(state) ? strsignal(WTERMSIG(state)) : "exits");
        crashed += died;
        first = died ? progress->begun + 1 : first + BATCH;
    }
    printf("  %d wrong calls of %d functions: %d crashed, %d with a wrong answer\n", count, misuse_functions,
           crashed, progress->wrong);
    CHECK(crashed == 0 && progress->wrong == 0);
    CHECK(misuse_functions > 250 && count > 900);
    munmap(progress, sizeof *progress);
}
