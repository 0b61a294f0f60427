// test_posed.c - problems that a step shows as it poses them: their W is that of the step's own problem, their
// impulses lead to the step's velocities and satisfy the blocks, and looking at them changes no bits.
#include "resolve/kinds.h"
#include "step_scene.h"

typedef struct Seen {
    const crStep* step;
    int solves, impacts, trials;
    double h, time;
    double W_error;                          // against the step's own problem, relative
    double u_error;                          // u_free against J v, m/s
    double approach, cone, complementarity;  // of the impulses, by definition
    int nv, rows;
    double v_plus[256], p[64], u_free[64];
    crVec3 point;
} Seen;

// W of both problems, formed in different ways
static double compare_W(const crProblem* a, const crProblem* b, crArena* arena) {
    double *A = NULL, *B = NULL, worst = 0.0, largest = 0.0;
    CHECK_STATUS(cr_problem_dense(a, arena, &A), CR_OK);
    CHECK_STATUS(cr_problem_dense(b, arena, &B), CR_OK);
    for (int i = 0; i < a->rows * a->rows; i++) {
        worst = fmax(worst, fabs(A[i] - B[i]));
        largest = fmax(largest, fabs(B[i]));
    }
    return worst / largest;
}

static void check_blocks(Seen* seen, const crProblem* problem, const double* p, const double* u) {
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        int r = block->row;
        if (block->source < 0) continue;
        double un = u[r] + problem->b[r], pt = 0.0;
        for (int k = 1; k < block->count; k++) {
            pt += p[r + k] * p[r + k];
        }
        seen->approach = fmax(seen->approach, -un);
        seen->cone = fmax(seen->cone, fmax(-p[r], sqrt(pt) - block->mu * p[r]));
        seen->complementarity = fmax(seen->complementarity, fabs(un * p[r]));
    }
}

static crStatus look(void* ctx, const crPosed* posed, crError* error) {
    Seen* seen = ctx;
    const crProblem* problem = posed->problem;
    CHECK_STATUS(cr_problem_check(problem, error), CR_OK);
    crArena arena;
    cr_arena_create(&arena, NULL, 0);
    double* u = cr_arena_alloc(&arena, (size_t)(problem->rows + 1) * sizeof *u);
    *(posed->impact ? &seen->impacts : &seen->solves) += 1;
    seen->trials += posed->trial;
    seen->h = posed->h;
    seen->time = posed->time;
    seen->nv = problem->nv;
    seen->rows = problem->rows;
    seen->point = posed->points[0];
    cr_matrix_mul(&problem->J, problem->v, u);
    for (int i = 0; i < problem->rows; i++) {
        seen->u_error = fmax(seen->u_error, fabs(u[i] - problem->u_free[i]));
        if (i < 64) seen->p[i] = posed->p[i];
        if (i < 64) seen->u_free[i] = problem->u_free[i];
    }
    if (problem->nv <= 256) CHECK_STATUS(cr_problem_apply(problem, &arena, posed->p, seen->v_plus), CR_OK);
    CHECK_STATUS(cr_problem_velocity(problem, &arena, posed->p, u), CR_OK);
    if (!posed->impact && problem->b != NULL) check_blocks(seen, problem, posed->p, u);
    // where the step has the same problem by rows
    if (seen->step != NULL && seen->step->posed.problem.rows == problem->rows && !posed->impact) {
        seen->W_error = fmax(seen->W_error, compare_W(problem, &seen->step->posed.problem, &arena));
    }
    cr_arena_destroy(&arena);
    return CR_OK;
}

static void stack(crModel* model, int count) {
    int material = scene_material(model, 0.5, 0.0);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    for (int i = 0; i < count; i++) {
        crShape box = cr_shape_box(0.5, 0.4, 0.3);
        scene_free(model, box, cr_vec3(0.01 * i, 0.0, 0.3 + 0.6 * i), 1.0 + i, material);
    }
}

// every body of a stack presses on another: columns are the model's velocities, and v + M^-1 J^T p is the velocity
// at the end of the step
TEST(impulses_lead_to_the_velocities) {
    for (int kind = 0; kind < 5; kind++) {
        Scene scene = {.model = cr_model_create(NULL)};
        stack(scene.model, 4);
        crStepSettings settings = scene_settings(kind < 4 ? (crMethod)kind : CR_METHOD_CONE);
        if (kind == 4) settings.solver = cr__solver(&cr__solver_newton, NULL);
        scene_open(&scene, &settings);
        Seen seen = {.step = &scene.step};
        scene.step.calls.posed = look;
        scene.step.calls.posed_ctx = &seen;
        scene.step.state.v[0] = 0.3;
        for (int n = 0; n < 10; n++) {
            double before = scene.step.state.time;
            Seen fresh = {.step = &scene.step};
            seen = fresh;
            if (!scene_step(&scene, settings.dt)) break;
            CHECK(seen.solves >= 1 && seen.impacts == 0 && seen.nv == scene.model->nv);
            CHECK(seen.h == settings.dt && fabs(seen.time - before) < 1e-15);
            for (int i = 0; i < seen.nv; i++) {
                // turning changes omega in flight, positions at velocity level rescale it
                // what is slower than a 256th of the tolerance times g h is at rest: docs/world.md
                double v = scene.step.state.v[i], rest = cr_step_tol(&settings) / 256.0 * settings.dt * 9.81;
                if (i % 6 < 3) CHECK_NEAR(seen.v_plus[i], v, v == 0.0 ? rest : 1e-12);
            }
            CHECK(seen.u_error < 1e-13 && seen.W_error < 1e-12);
            CHECK(seen.cone < 1e-7 && seen.approach < 1e-6 && seen.complementarity < 1e-6);
        }
        scene_close(&scene);
    }
}

// m1 = 1 meets m2 = 3 at 2 m/s, e = 1/2: p = (1 + e) m1 m2 / (m1 + m2) 2
TEST(an_impact_is_shown_as_posed_to_the_rule) {
    const crMethod methods[2] = {CR_METHOD_CONE, CR_METHOD_EVENT};
    for (int m = 0; m < 2; m++) {
        Scene scene = {.model = cr_model_create(NULL)};
        scene.model->gravity = cr_vec3(0, 0, 0);
        int material = scene_material(scene.model, 0.3, 0.5);
        scene_free(scene.model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0), 1.0, material);
        scene_free(scene.model, cr_shape_sphere(0.1), cr_vec3(0.205, 0, 0), 3.0, material);
        crStepSettings settings = scene_settings(methods[m]);
        scene_open(&scene, &settings);
        Seen seen = {0};
        scene.step.calls.posed = look;
        scene.step.calls.posed_ctx = &seen;
        scene.step.state.v[0] = 2.0;
        for (int n = 0; n < 2 && seen.impacts == 0; n++) {
            scene_step(&scene, settings.dt);
        }
        CHECK(seen.impacts == 1 && seen.nv == 12 && seen.rows == 3);
        CHECK_NEAR(seen.u_free[0], -2.0, 1e-14);
        CHECK_NEAR(seen.p[0], 1.5 * 3.0 / 4.0 * 2.0, 1e-13);
        CHECK_NEAR(seen.point.x, 0.105, 1e-6);
        CHECK_NEAR(seen.v_plus[0], 2.0 - seen.p[0], 1e-13);
        CHECK_NEAR(seen.v_plus[6], seen.p[0] / 3.0, 1e-13);
        scene_close(&scene);
    }
}

// balls that bounce, boxes, and a pendulum that swings into them
static void crowd(crModel* model) {
    int soft = scene_material(model, 0.4, 0.0), hard = scene_material(model, 0.2, 0.6);
    scene_ground(model, cr_vec3(0, 0, 1), soft);
    for (int i = 0; i < 6; i++) {
        scene_free(model, cr_shape_sphere(0.1), cr_vec3(0.21 * i, 0.03 * i, 0.3 + 0.05 * i), 1.0, hard);
        scene_free(model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0.25 * i, 1.0, 0.12), 1.0, soft);
    }
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(1, 0, 0);
    def.pose.p = cr_vec3(0.3, 0.0, 1.2);
    int arm = cr_model_add_body(model, &def);
    crShape bob = cr_shape_sphere(0.1);
    cr_model_add_shape(model, arm, &bob, hard);
    crBodyDef second = cr_body_def();
    second.parent = arm;
    second.joint = CR_JOINT_HINGE;
    second.axis = cr_vec3(1, 0, 0);
    second.pose.p = cr_vec3(0, 0.5, -0.6);
    int lower = cr_model_add_body(model, &second);
    cr_model_add_shape(model, lower, &bob, hard);
}

TEST(looking_changes_no_bits) {
    int solves = 0, impacts = 0;
    for (int kind = 0; kind < 6; kind++) {
        crModel* model = cr_model_create(NULL);
        crowd(model);
        crWorldDef def = cr_world_def();
        def.model = model;
        def.step.method = kind < 4 ? (crMethod)kind : CR_METHOD_CONE;
        if (kind >= 4) def.step.quality = kind == 4 ? CR_QUALITY_FAST : CR_QUALITY_CERTIFIED;
        def.step.threads = kind == 5 ? 2 : 1;
        crWorld *plain = NULL, *shown = NULL;
        crError error = {0};
        CHECK_STATUS(cr_world_create(&def, &plain, &error), CR_OK);
        CHECK_STATUS(cr_world_create(&def, &shown, &error), CR_OK);
        Seen seen = {0};
        cr_world_stages(shown)->calls.posed = look;
        cr_world_stages(shown)->calls.posed_ctx = &seen;
        for (int n = 0; n < 120; n++) {
            if (!CHECK_STATUS(cr_world_step(plain, &error), CR_OK)) break;
            if (!CHECK_STATUS(cr_world_step(shown, &error), CR_OK)) break;
            if (!CHECK(cr_world_hash(plain) == cr_world_hash(shown))) break;
            const crCertificate *a = cr_world_certificate(plain), *b = cr_world_certificate(shown);
            if (!CHECK(a->rows == b->rows && a->solves == b->solves && a->residual == b->residual)) break;
        }
        CHECK(seen.solves > 0 && seen.u_error < 1e-12);
        solves += seen.solves;
        impacts += seen.impacts;
        cr_world_destroy(plain);
        cr_world_destroy(shown);
        cr_model_destroy(model);
    }
    CHECK(impacts > 20);
    printf("  %d solves and %d impacts were shown\n", solves, impacts);
}

static crStatus refuse(void* ctx, const crPosed* posed, crError* error) {
    (void)ctx;
    (void)posed;
    return cr_error_set(error, CR_ERR_FILE, "dump", "dump: no room");
}

// a step whose problems are refused fails and leaves the world as it was
TEST(a_refusal_ends_the_step) {
    crModel* model = cr_model_create(NULL);
    stack(model, 2);
    crWorldDef def = cr_world_def();
    def.model = model;
    crWorld* world = NULL;
    crError error = {0};
    CHECK_STATUS(cr_world_create(&def, &world, &error), CR_OK);
    uint64_t before = cr_world_hash(world);
    cr_world_stages(world)->calls.posed = refuse;
    CHECK_STATUS(cr_world_step(world, &error), CR_ERR_FILE);
    CHECK_TEXT(error.field, "dump");
    CHECK(cr_world_hash(world) == before && cr_world_state(world)->time == 0.0);
    cr_world_stages(world)->calls.posed = NULL;
    CHECK_STATUS(cr_world_step(world, &error), CR_OK);
    cr_world_destroy(world);
    cr_model_destroy(model);
}
