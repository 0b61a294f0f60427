// Trees, loops, limits, motors and dry friction in one solve with contacts of free bodies: what velocities and
// impulses obey, from definitions; the problem's own solver as a second method; threads; snapshots.
#include "step_scene.h"

#include <stdlib.h>

#include "model/rows.h"
#include "resolve/kinds.h"
#include "sample.h"
#include "step/exact.h"

#define DT    1e-3
#define SMALL 1e-6  // of the largest impulse: less is not said to press

typedef struct Kinds {
    double mu;
    double ratio;  // of masses
    int trees;     // at most
    int singles;   // at most
    bool loops;    // some, each between two trees
    bool motors;   // with aims, so that energy may come in
    bool ellipse;  // other friction across than along
    bool rolls;    // moments against spin and rolling
    bool apart;    // trees do not touch each other at first
} Kinds;

static crMaterial surface_of(const Kinds* kinds) {
    crMaterial material = cr_material();
    material.surface.mu = kinds->mu;
    material.surface.mu2 = kinds->ellipse ? 0.4 * kinds->mu : kinds->mu;
    material.surface.axis = cr_vec3(1, 0, 0);
    material.surface.mu_spin = kinds->rolls ? 0.05 : 0.0;
    material.surface.mu_roll = kinds->rolls ? 0.03 : 0.0;
    return material;
}

static void random_mass(crRandom* random, double ratio, crBodyDef* def) {
    def->mass = sample_log(random, 1.0, 1.0 + ratio);
    double a = def->mass * sample_uniform(random, 0.05, 0.2),
           b = def->mass * sample_uniform(random, 0.05, 0.2);
    def->inertia = (crSym3){a, 0, 0, b, 0, sample_uniform(random, 0.6, 1.0) * (a + b)};
    def->com = cr_scale(0.2, sample_direction(random));
}

static void random_dofs(crRandom* random, const Kinds* kinds, crBodyDef* def) {
    if (def->joint != CR_JOINT_HINGE && def->joint != CR_JOINT_SLIDER) return;
    double kind = sample_uniform(random, 0, 1);
    // the reference position is at the limit
    if (kind < 0.3) def->dof[0].lower = 0.0;
    if (kind > 0.2 && kind < 0.4) def->dof[0].friction = sample_uniform(random, 1, 300);
    if (!kinds->motors || kind < 0.7) return;
    def->dof[0].motor_force = sample_uniform(random, 1, 300);
    def->dof[0].motor_speed = sample_uniform(random, -1, 1);
}

static void add_ball(crModel* model, const crBodyDef* def, int material) {
    crShape ball = cr_shape_sphere(0.55);
    int body = cr_model_add_body(model, def);
    cr_model_add_shape(model, body, &ball, material);
}

// trees of one to six balls, hinged, sliding and turning, side by side in a layer over the ground
static crModel* random_forest(crRandom* random, const Kinds* kinds) {
    static const crJoint joints[] = {CR_JOINT_HINGE, CR_JOINT_SLIDER, CR_JOINT_BALL};
    crModel* model = cr_model_create(NULL);
    crMaterial made = surface_of(kinds);
    int material = cr_model_add_material(model, &made);
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &ground, material);
    int trees = 1 + (int)(kinds->trees * sample_uniform(random, 0, 0.999)), last = 0;
    for (int t = 0; t < trees + kinds->singles; t++) {
        int bodies = t < trees ? 1 + (int)(5.999 * sample_uniform(random, 0, 1)) : 1, parent = CR_WORLD;
        for (int b = 0; b < bodies; b++) {
            crBodyDef def = cr_body_def();
            random_mass(random, kinds->ratio, &def);
            def.parent = parent;
            def.axis = sample_direction(random);
            bool free = b == 0 && (t >= trees || sample_uniform(random, 0, 1) < 0.5);
            def.joint = free ? CR_JOINT_FREE : joints[(int)(2.999 * sample_uniform(random, 0, 1))];
            crVec3 root = cr_vec3(t % 3, t / 3, sample_uniform(random, 0.3, 0.7));
            if (kinds->apart) root = cr_vec3(2.5 * (t % 3), 2.5 * (t / 3), 0.6);
            def.pose.p = b == 0 ? root : cr_vec3(sample_uniform(random, -0.8, 0.8), 0.7, 0.1);
            random_dofs(random, kinds, &def);
            add_ball(model, &def, material);
            parent = sample_uniform(random, 0, 1) < 0.7 ? model->nb - 1 : parent;
        }
        if (kinds->loops && t > 0 && t < trees && sample_uniform(random, 0, 1) < 0.6) {
            crLoop loop = cr_loop(sample_uniform(random, 0, 1) < 0.5 ? CR_LOOP_CONNECT : CR_LOOP_DISTANCE,
                                  model->nb - 1, last);
            loop.length = 1.0;
            cr_model_add_loop(model, &loop);
        }
        last = model->nb - 1;
    }
    return model;
}

// a solve of everything that touches, no bias anywhere
static void forest_solve(crRandom* random, crModel* model, crQuality quality, crStep* step) {
    crStepSettings settings = cr_step_settings();
    settings.quality = quality;
    settings.deadband = 0.05;
    crError error = {0};
    CHECK_STATUS(cr_step_create(model, &settings, NULL, step, &error), CR_OK);
    for (int j = 0; j < model->nv; j++) {
        step->state.v[j] = sample_uniform(random, -1, 1);
    }
    CHECK_STATUS(cr_step_begin(step, &error), CR_OK);
    CHECK_STATUS(cr_step_forces(step, DT, &error), CR_OK);
    CHECK_STATUS(cr_step_collide(step, 0.02, &error), CR_OK);
    CHECK_STATUS(cr__step_contact_solve(step, DT, true, NULL, &error), CR_OK);
}

typedef struct Worst {
    double approach;  // -u_n, m/s
    double press;     // u_n where it presses, m/s
    double friction;  // slip that friction does not oppose as much as it can, m/s
    double cone;      // beyond the limit, share of the impulse
    double rows;      // of loops, limits, motors, dry friction: u where it should be 0 or has the wrong sign
    double bound;     // beyond their range, share of it
    double momentum;  // |M dv - J^T p| / |J^T p|
    double energy;    // gained, share of what there was
} Worst;

// Signorini and Coulomb: u_n >= 0, p_n >= 0, one of them 0; p_t in the ellipse, p_t.u_t least there
static void check_contacts(const crStep* step, Worst* worst) {
    const crDynamics* d = &step->dynamics;
    double largest = 1e-300;
    crContactSurface surface;
    CHECK_STATUS(cr_model_surface(step->model, 1, 1, 0.0, &surface), CR_OK);
    for (int i = 0; i < step->contacts.count; i++) {
        largest = fmax(largest, cr_norm(step->contacts.list[i].impulse));
    }
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        crVec3 x = c->point.point, n = c->point.normal;
        crVec3 u = cr_sub(cr_model_point_velocity(d, c->body_b, x), cr_model_point_velocity(d, c->body_a, x));
        double un = cr_dot(u, n), pn = cr_dot(c->impulse, n);
        worst->approach = fmax(worst->approach, -un);
        worst->cone = fmax(worst->cone, -pn / largest);
        if (!(pn > SMALL * largest)) continue;
        worst->press = fmax(worst->press, un);
        crVec3 ut = cr_madd(u, -un, n), pt = cr_madd(c->impulse, -pn, n);
        crMat3 frame = cr_surface_frame(n, cr_quat_rotate(d->pose[c->body_a].q, surface.surface.axis));
        crVec3 t1 = cr_mat3_column(frame, 1), t2 = cr_mat3_column(frame, 2);
        double mu = surface.surface.mu, mu2 = surface.surface.mu2;
        double x1 = cr_dot(t1, pt) / mu, x2 = cr_dot(t2, pt) / mu2, y1 = mu * cr_dot(t1, ut),
               y2 = mu2 * cr_dot(t2, ut);
        worst->cone = fmax(worst->cone, (sqrt(x1 * x1 + x2 * x2) - pn) / largest);
        // power that friction could take from the slip and does not
        double loss = cr_dot(pt, ut) + pn * sqrt(y1 * y1 + y2 * y2);
        worst->friction = fmax(worst->friction, loss / (mu * largest));
    }
}

// loops shut, limits hold, forces of motors and dry friction in their range and against the slip
static void check_rows(const crStep* step, Worst* worst) {
    double* u = calloc((size_t)step->posed.rows.count + 1, sizeof *u);
    cr_rows_velocity(&step->posed.rows, step->state.v, u);
    double largest = 1e-300;
    for (int r = 0; r < step->posed.rows.count; r++) {
        largest = fmax(largest, fabs(step->posed.p[r]));
    }
    for (int i = 0; i < step->posed.problem.block_count && step->posed.rows.count > 0; i++) {
        const crBlock* block = &step->posed.problem.blocks[i];
        for (int r = block->row; r < block->row + block->count && block->source < 0; r++) {
            double p = step->posed.p[r];
            if (block->kind == CR_BLOCK_EQUALITY) worst->rows = fmax(worst->rows, fabs(u[r]));
            if (block->kind == CR_BLOCK_UNILATERAL) {
                worst->rows = fmax(worst->rows, p > SMALL * largest ? fabs(u[r]) : -u[r]);
                worst->bound = fmax(worst->bound, -p / largest);
            }
            if (block->kind != CR_BLOCK_BOX) continue;
            worst->bound = fmax(worst->bound, fmax(p - block->hi, block->lo - p) / block->hi);
            if (p < block->hi - SMALL * largest) worst->rows = fmax(worst->rows, -u[r]);
            if (p > block->lo + SMALL * largest) worst->rows = fmax(worst->rows, u[r]);
        }
    }
    free(u);
}

// M dv = J^T p, and 1/2 v M v does not grow
static void check_momentum(const crStep* step, Worst* worst) {
    const crModel* model = step->model;
    size_t nv = (size_t)model->nv;
    double *J_p = calloc(nv, sizeof *J_p), *dv = calloc(nv, sizeof *dv), *M_dv = calloc(nv, sizeof *M_dv);
    double size = 0.0, error = 0.0, before = 0.0, gain = 0.0;
    if (step->posed.rows.count > 0) cr_rows_add_impulse(&step->posed.rows, step->posed.p, J_p);
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (c->row >= 0) continue;
        crVec3 none = cr_vec3(0, 0, 0);
        cr_model_add_force(model, &step->dynamics, c->body_b, c->point.point, c->impulse, none, J_p);
        cr_model_add_force(model, &step->dynamics, c->body_a, c->point.point, cr_neg(c->impulse), none, J_p);
    }
    for (size_t j = 0; j < nv; j++) {
        dv[j] = step->state.v[j] - step->free.v[j];
    }
    // the dense form, so that single bodies need no case of their own
    double* M = calloc(nv * nv, sizeof *M);
    cr_model_mass_dense(model, &step->dynamics, M);
    for (size_t i = 0; i < nv; i++) {
        double row_before = 0.0, row_after = 0.0;
        for (size_t j = 0; j < nv; j++) {
            M_dv[i] += M[i * nv + j] * dv[j];
            row_before += M[i * nv + j] * step->free.v[j];
            row_after += M[i * nv + j] * step->state.v[j];
        }
        error += (M_dv[i] - J_p[i]) * (M_dv[i] - J_p[i]);
        size += J_p[i] * J_p[i];
        before += 0.5 * row_before * step->free.v[i];
        gain += 0.5 * row_after * step->state.v[i] - 0.5 * row_before * step->free.v[i];
    }
    if (size > 0.0) worst->momentum = fmax(worst->momentum, sqrt(error / size));
    worst->energy = fmax(worst->energy, gain / before);
    free(J_p);
    free(dv);
    free(M_dv);
    free(M);
}

static Worst check(crStep* step) {
    Worst worst = {0};
    cr_model_velocity(step->model, step->state.v, &step->dynamics);
    check_contacts(step, &worst);
    check_rows(step, &worst);
    check_momentum(step, &worst);
    return worst;
}

static void keep_worst(Worst* all, const Worst* one) {
    double* to = (double*)all;
    const double* from = (const double*)one;
    for (size_t i = 0; i < sizeof *all / sizeof *to; i++) {
        if (!(from[i] <= to[i])) to[i] = from[i];
    }
}

static void say(const char* what, int count, int unsolved, const Worst* w) {
    printf("  %s, %d solves, %d unsolved: of what is allowed approach %.1e, pressing %.1e, friction %.1e, "
           "rows %.1e, cone "
           "%.1e, "
           "range %.1e, momentum %.1e, energy gained %.1e\n",
           what, count, unsolved, w->approach, w->press, w->friction, w->rows, w->cone, w->bound, w->momentum,
           w->energy);
}

// largest velocity between bodies that touch, without impulses
static double fastest(crStep* step) {
    double most = 0.0;
    cr_model_velocity(step->model, step->free.v, &step->dynamics);
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        crVec3 u = cr_sub(cr_model_point_velocity(&step->dynamics, c->body_b, c->point.point),
                          cr_model_point_velocity(&step->dynamics, c->body_a, c->point.point));
        most = fmax(most, cr_norm(u));
    }
    return most;
}

// the velocity that the residual is a share of, m/s
static double scale_of(const crCertificate* c) { return c->residual > 0.0 ? c->eta / c->residual : 0.0; }

// solves that are called solved hold to tol, relative; no more than a share of them is not solved
static void run_forests(const char* what, Kinds kinds, crQuality quality, int count, double tol,
                        double share) {
    crRandom random = sample_seed(31 + (uint64_t)quality);
    Worst all = {0};
    int unsolved = 0;
    for (int i = 0; i < count; i++) {
        crModel* model = random_forest(&random, &kinds);
        crStep step;
        forest_solve(&random, model, quality, &step);
        Worst one = check(&step);
        bool solved = step.certificate.outcome == CR_OUTCOME_SOLVED;
        double speed = fmax(fmax(one.approach, one.press), fmax(one.friction, one.rows));
        // the certificate says what is true, solved or not
        CHECK(speed <= 50.0 * step.certificate.eta + 1e-9);
        if (!solved) one.approach = one.press = one.friction = one.rows = 0.0;
        // As shares of what solved allows: tol of the velocity that must change, which is the fastest, or the deadband in a
        // step. The deadband of these steps is wide, and the certificate tells what came of it.
        double scale = scale_of(&step.certificate);
        double allowed = 4.0 * tol * fmax(fastest(&step), scale) + 1e-9;
        one.approach /= allowed;
        one.press /= allowed;
        one.friction /= allowed;
        one.rows /= allowed;
        unsolved += !solved;
        keep_worst(&all, &one);
        cr_step_destroy(&step);
        cr_model_destroy(model);
    }
    say(what, count, unsolved, &all);
    CHECK(fmax(fmax(all.approach, all.press), fmax(all.friction, all.rows)) <= 1.0);
    CHECK(all.cone <= 1e-12);
    CHECK(all.bound <= 1e-12);
    CHECK(all.momentum <= 1e-9);
    if (!kinds.motors) CHECK(all.energy <= 1e-12);
    CHECK(unsolved <= share * count);
}

TEST(trees_with_contacts_obey_coulomb) {
    Kinds kinds = {.mu = 0.6, .ratio = 10.0, .trees = 3, .singles = 2};
    run_forests("trees, fast", kinds, CR_QUALITY_FAST, test_samples(6000), 1e-4, 0.1);
    run_forests("trees, accurate", kinds, CR_QUALITY_ACCURATE, test_samples(6000), 1e-6, 0.02);
}

TEST(loops_and_motors_take_part) {
    Kinds kinds = {.mu = 0.6, .ratio = 10.0, .trees = 3, .loops = true, .motors = true};
    run_forests("with loops and motors, fast", kinds, CR_QUALITY_FAST, test_samples(1500) / 4, 1e-4, 0.1);
    run_forests("with loops and motors, certified", kinds, CR_QUALITY_CERTIFIED, test_samples(1500) / 4, 1e-6,
                0.02);
}

TEST(heavy_on_light_trees) {
    Kinds kinds = {.mu = 0.4, .ratio = 1000.0, .trees = 3, .singles = 1};
    run_forests("1000:1, fast", kinds, CR_QUALITY_FAST, test_samples(1500) / 4, 1e-4, 0.1);
    run_forests("1000:1, accurate", kinds, CR_QUALITY_ACCURATE, test_samples(1500) / 4, 1e-6, 0.02);
}

TEST(ellipses_and_moments_on_trees) {
    Kinds kinds = {.mu = 0.6, .ratio = 10.0, .trees = 2, .singles = 1, .ellipse = true};
    run_forests("ellipses, fast", kinds, CR_QUALITY_FAST, test_samples(1500) / 4, 1e-4, 0.1);
    kinds.ellipse = false;
    kinds.rolls = true;
    run_forests("spin and rolling, fast", kinds, CR_QUALITY_FAST, test_samples(1500) / 4, 1e-4, 0.1);
}

// islands too large for anything but sweeps: most of these are not solved, and say so
TEST(large_forests_are_swept_with_packed_contacts) {
    Kinds kinds = {.mu = 0.6, .ratio = 5.0, .trees = 6, .singles = 50, .loops = true};
    run_forests("fifty bodies among trees, fast", kinds, CR_QUALITY_FAST, 5, 1e-4, 1.0);
    run_forests("fifty bodies among trees, accurate", kinds, CR_QUALITY_ACCURATE, 5, 1e-6, 0.5);
}

// without friction velocities are unique: those of the problem's own solver, all rows at once
TEST(agrees_with_the_problems_solver) {
    crRandom random = sample_seed(77);
    double worst = 0.0;
    for (int i = 0; i < test_samples(1500) / 4; i++) {
        Kinds kinds = {
            .mu = 0.0, .ratio = 100.0, .trees = 3, .singles = 2, .loops = i % 2 == 0, .motors = true};
        crModel* model = random_forest(&random, &kinds);
        crStep step;
        forest_solve(&random, model, CR_QUALITY_ACCURATE, &step);
        double* v = calloc((size_t)model->nv, sizeof *v);
        memcpy(v, step.state.v, (size_t)model->nv * sizeof *v);
        bool solved = step.certificate.outcome == CR_OUTCOME_SOLVED;
        crSolverParams params = cr_solver_params();
        step.settings.solver = cr__solver(&cr__solver_pivot, &params);
        CHECK_STATUS(cr_step_problem_build(&step, DT, NULL, NULL), CR_OK);
        CHECK_STATUS(cr_step_solve(&step, NULL), CR_OK);
        CHECK_STATUS(cr_step_apply(&step, NULL), CR_OK);
        solved = solved && step.posed.report.outcome == CR_OUTCOME_SOLVED;
        for (int j = 0; j < model->nv && solved; j++) {
            worst = fmax(worst, fabs(v[j] - step.state.v[j]));
        }
        free(v);
        cr_step_destroy(&step);
        cr_model_destroy(model);
    }
    printf("  velocities as those by pivoting to %.1e m/s\n", worst);
    CHECK(worst <= 1e-6);
}

static crWorld* forest_world(crModel* model, int threads) {
    crStepSettings settings = cr_step_settings();
    settings.quality = CR_QUALITY_FAST;
    settings.threads = threads;
    return scene_world(model, &settings);
}

// same bits for any number of threads, and after a snapshot
TEST(bits_do_not_depend_on_threads) {
    crRandom random = sample_seed(5);
    Kinds kinds = {.mu = 0.5, .ratio = 5.0, .trees = 6, .singles = 6, .motors = true, .apart = true};
    crModel* model = random_forest(&random, &kinds);
    uint64_t hash[3];
    static const int threads[] = {1, 2, 3};
    void* bytes = NULL;
    size_t size = 0;
    for (int k = 0; k < 3; k++) {
        crWorld* world = forest_world(model, threads[k]);
        for (int i = 0; i < 40; i++) {
            crError error = {0};
            CHECK_STATUS(cr_world_step(world, &error), CR_OK);
            if (error.status != CR_OK) printf("  step %d: %s: %s\n", i, error.field, error.message);
            if (i != 19 || k > 0) continue;
            size = cr_world_save_size(world);
            bytes = malloc(size);
            CHECK_STATUS(cr_world_save(world, bytes, size), CR_OK);
        }
        hash[k] = cr_world_hash(world);
        cr_world_destroy(world);
    }
    CHECK(hash[0] == hash[1]);
    CHECK(hash[0] == hash[2]);
    crWorld* world = forest_world(model, 2);
    CHECK_STATUS(cr_world_load(world, bytes, size, NULL), CR_OK);
    for (int i = 0; i < 20; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    }
    CHECK(cr_world_hash(world) == hash[0]);
    cr_world_destroy(world);
    cr_model_destroy(model);
    free(bytes);
}

// an arm that leans on its limit starts from the force of the step before: nothing is left to do
TEST(forces_of_limits_are_kept) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(0, 1, 0);
    def.mass = 2.0;
    def.com = cr_vec3(0.5, 0, 0);
    def.inertia = (crSym3){.xx = 0.01, .yy = 0.05, .zz = 0.05};
    def.dof[0].upper = 0.0;
    cr_model_add_body(model, &def);
    crWorld* world = scene_world(model, NULL);
    for (int i = 0; i < 10; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    }
    const crStep* step = cr_world_stages(world);
    double largest = 0.0;
    for (int i = 0; i < step->ties.count; i++) {
        largest = fmax(largest, step->ties.force[i]);
    }
    // the moment of its weight
    CHECK_NEAR(largest, 2.0 * 9.81 * 0.5, 1e-9);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// Two arms that turn in one plane and end at a point of the world: the loop's row across the plane moves nothing.
TEST(newton_passes_rows_that_move_nothing) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(0, 0, 1);
    def.mass = 2.0;
    def.com = cr_vec3(0.5, 0, 0);
    def.inertia = (crSym3){.xx = 0.01, .yy = 0.05, .zz = 0.05};
    cr_model_add_body(model, &def);
    def.parent = 1;
    def.pose.p = cr_vec3(1, 0, 0);
    cr_model_add_body(model, &def);
    crLoop loop = cr_loop(CR_LOOP_CONNECT, 2, CR_WORLD);
    loop.pose_a.p = cr_vec3(0.5, 1, 0);
    loop.pose_b.p = cr_vec3(1.5, 1, 0);
    cr_model_add_loop(model, &loop);
    crStepSettings settings = cr_step_settings();
    crStep step;
    bool takes[1] = {true};
    CHECK_STATUS(cr_step_create(model, &settings, NULL, &step, NULL), CR_OK);
    step.state.v[0] = 1.0;
    step.state.v[1] = -3.0;
    CHECK_STATUS(cr_step_begin(&step, NULL), CR_OK);
    CHECK_STATUS(cr_step_forces(&step, DT, NULL), CR_OK);
    CHECK_STATUS(cr__step_pose(&step, DT, takes, false, NULL), CR_OK);
    CHECK(cr__rows_product(&step.posed.H, 2, 2) == 0.0);
    const crInertias of = cr__step_inertias(&step, &step.scratch);
    crIslands islands;
    crUnits units;
    crPacked packed;
    int *order, *first;
    CHECK_STATUS(cr__step_islands(&step, takes, &step.scratch, &islands), CR_OK);
    CHECK_STATUS(cr__step_sort_blocks(model, &step.scratch, &step.posed.problem, &islands, &order, &first),
                 CR_OK);
    CHECK_STATUS(cr__units_create(&of, &step.posed.problem, step.posed.H.w_hat, step.posed.p, islands.of_body,
                                  islands.count, order, first, &units),
                 CR_OK);
    CHECK_STATUS(cr__packed_create(&of, islands.of_body, step.free.v, 0, NULL, &units, &packed), CR_OK);
    double change, dv[2] = {0.0, 0.0}, u[3];
    CHECK(cr__units_newton(&units, 0, 1e-12, packed.z, &change));
    cr_rows_add_impulse(&step.posed.rows, step.posed.p, dv);
    cr_model_mass_solve(model, &step.dynamics, dv);
    for (int j = 0; j < 2; j++) {
        dv[j] += step.free.v[j];
    }
    cr_rows_velocity(&step.posed.rows, dv, u);
    for (int r = 0; r < 3; r++) {
        CHECK_NEAR(u[r], 0.0, 1e-11);
    }
    cr_step_destroy(&step);
    cr_model_destroy(model);
}
