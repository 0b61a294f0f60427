// test_wrt_trees.c - v^T J of steps of random trees in closed form, and J v of their flights, against J v by differences of
// forces, rows and motion.
#include "sample.h"
#include "world_scene.h"
#include "wrt/inside.h"
#include "wrt/trees.h"

enum { MOST = 32, BODIES = 4 };

static crJoint joint_of(crRandom* random, bool root) {
    static const crJoint all[] = {CR_JOINT_HINGE, CR_JOINT_SLIDER, CR_JOINT_BALL, CR_JOINT_PLANAR,
                                  CR_JOINT_FREE};
    return all[sample_bits(random) % (root ? 5 : 4)];
}

// Springs, dampers, limits and rotors of one joint; those of balls are dampers alone.
static void sample_dofs(crRandom* random, crBodyDef* def) {
    if (def->joint == CR_JOINT_FREE) return;
    bool plain = def->joint != CR_JOINT_BALL;
    for (int j = 0; j < cr_joint_info(def->joint)->nv; j++) {
        crDof* dof = &def->dof[j];
        if (sample_bits(random) % 2 == 0) dof->damping = sample_uniform(random, 0.0, 0.3);
        if (plain && sample_bits(random) % 2 == 0) dof->stiffness = sample_uniform(random, 0.0, 4.0);
        if (sample_bits(random) % 3 == 0) dof->armature = sample_uniform(random, 0.0, 0.05);
        if (plain && sample_bits(random) % 4 == 0) dof->upper = sample_uniform(random, 0.05, 0.3);
        if (plain && sample_bits(random) % 6 == 0) dof->friction = 0.05;
    }
}

static crModel* sample_tree(crRandom* random, bool ground) {
    crModel* model = cr_model_create(NULL);
    crMaterial rough = cr_material();
    rough.surface.mu = rough.surface.mu2 = 0.4;
    rough.surface.mu_spin = ground && sample_bits(random) % 2 == 0 ? 0.02 : 0.0;
    rough.surface.mu_roll = ground && sample_bits(random) % 2 == 0 ? 0.01 : 0.0;
    int material = cr_model_add_material(model, &rough);
    if (ground) scene_ground(model, cr_vec3(0, 0, 1), material);
    int last = CR_WORLD;
    for (int i = 0; i < BODIES; i++) {
        crBodyDef def = cr_body_def();
        def.joint = joint_of(random, i == 0);
        def.parent = i == 0 || sample_bits(random) % 3 > 0 ? last : 1;
        def.axis = sample_direction(random);
        def.mass = sample_uniform(random, 0.3, 2.0);
        def.com = cr_scale(0.05, sample_direction(random));
        def.inertia = (crSym3){.xx = 0.02, .xy = 0.002, .yy = 0.03, .zz = 0.025};
        if (i > 0) def.pose.p = cr_scale(0.3, sample_direction(random));
        if (i == 0) def.pose.p = cr_vec3(0, 0, ground ? 0.25 : 2.0);
        sample_dofs(random, &def);
        last = cr_model_add_body(model, &def);
        crShape ball = cr_shape_sphere(0.2);
        cr_model_add_shape(model, last, &ball, material);
        // bodies of a tree do not meet
        for (int b = 1; b < last; b++)
            cr_model_exclude(model, b, last);
    }
    const crBody* body = &model->bodies[last];
    if (body->nq == body->nv && sample_bits(random) % 2 == 0) {
        crActuator servo = cr_actuator_position(body->v, 2.0, 0.1);
        servo.gear[0] = 1.5;
        servo.ctrl = 0.2;
        CHECK(cr_model_add_actuator(model, &servo) >= 0);
    }
    CHECK_STATUS(cr_model_check(model, NULL), CR_OK);
    return model;
}

typedef struct Tally {
    int steps, known, moves, closed, held, cut, flights;
    double worst, apart;
} Tally;

// J d with all moves of trees differenced.
static void differenced(crWrt* wrt, const crState* state, const double* d, double* out) {
    struct crTapeTrees* trees[8];
    CHECK(wrt->tape.count <= 8);
    for (int i = 0; i < wrt->tape.count; i++) {
        trees[i] = wrt->tape.ops[i].trees;
        wrt->tape.ops[i].trees = NULL;
    }
    CHECK_STATUS(cr_wrt_apply(wrt, state, d, NULL, out, NULL, NULL), CR_OK);
    for (int i = 0; i < wrt->tape.count; i++)
        wrt->tape.ops[i].trees = trees[i];
}

// A tree whose velocity terms are rounding is not scaled to its energy (step/trees.c), one beside it is: the step jumps there by
// what the move makes of the energy.
static bool stands_still(const crWrt* wrt) {
    for (int i = 0; i < wrt->tape.count; i++) {
        const struct crTapeTrees* trees = wrt->tape.ops[i].trees;
        double most = 0.0;
        for (int k = 0; trees != NULL && k < wrt->model.nv; k++)
            most = fmax(most, fabs(trees->u[k]));
        if (trees != NULL && wrt->tape.ops[i].rows > 0 && most == 0.0) return true;
    }
    return false;
}

static void compare(crWrt* wrt, const crState* state, crRandom* random, Tally* tally) {
    double d[3 * MOST], y[2 * MOST], a[2 * MOST], back[3 * MOST], forward = 0.0, backward = 0.0, size = 0.0;
    double other[2 * MOST], most = 0.0, off = 0.0;
    int nv = wrt->model.nv;
    crWrtVerdict verdict;
    for (int k = 0; k < 3 * nv; k++)
        d[k] = sample_uniform(random, -1.0, 1.0);
    // a change that keeps the gaps of limits has one derivative
    for (int b = 1; b < wrt->model.nb; b++) {
        const crBody* body = &wrt->model.bodies[b];
        for (int j = 0; j < body->nv && body->nq == body->nv; j++) {
            if (fabs(cr_model_dof(&wrt->model, body->v + j)->upper - state->q[body->q + j]) < 2e-9)
                d[body->v + j] = 0.0;
        }
    }
    for (int k = 0; k < 2 * nv; k++)
        y[k] = sample_uniform(random, -1.0, 1.0);
    tally->steps++;
    if (cr_wrt_apply(wrt, state, d, NULL, a, &verdict, NULL) != CR_OK || verdict.differenced) return;
    if (stands_still(wrt)) return;
    CHECK_STATUS(cr_wrt_back(wrt, state, y, back, &verdict, NULL), CR_OK);
    tally->known++;
    differenced(wrt, state, d, other);
    for (int k = 0; k < 2 * nv; k++) {
        most = fmax(most, fabs(other[k]));
        off = fmax(off, fabs(a[k] - other[k]));
    }
    tally->apart = fmax(tally->apart, off / most);
    test_check(off <= 2e-7 * most, __FILE__, __LINE__, "J d: %g of %g", off, most);
    for (int i = 0; i < wrt->tape.count; i++) {
        const crTapeOp* op = &wrt->tape.ops[i];
        tally->moves += !op->impact;
        tally->closed += op->trees != NULL;
        tally->held += op->trees != NULL && op->rows > 0;
        tally->cut += op->trees != NULL && op->trees->tree[1].count > 1;
        tally->flights += op->rows == 0 && cr__tape_trees_fly(&wrt->tape, op);
    }
    for (int k = 0; k < 2 * nv; k++)
        forward += a[k] * y[k];
    for (int k = 0; k < 3 * nv; k++) {
        backward += back[k] * d[k];
        size += fabs(back[k] * d[k]);
    }
    tally->worst = fmax(tally->worst, fabs(forward - backward) / size);
    test_check(fabs(forward - backward) <= 2e-7 * size, __FILE__, __LINE__, "%.15g and %.15g, of %g", forward,
               backward, size);
}

static void run_trees(bool ground, double speed, uint64_t seed, int count, Tally* tally) {
    crRandom random = sample_seed(seed);
    for (int n = 0; n < count; n++) {
        crModel* model = sample_tree(&random, ground);
        crWorldDef def = cr_world_def();
        crWrt* wrt;
        crArena arena;
        crState state;
        def.model = model;
        def.step.dt = 0.004;
        CHECK(model->nv <= MOST);
        CHECK_STATUS(cr_wrt_create(&def, &wrt, NULL), CR_OK);
        CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
        CHECK_STATUS(cr_state_create(model, &arena, &state), CR_OK);
        for (int i = 0; i < model->nv; i++)
            state.v[i] = speed * sample_uniform(&random, -1.0, 1.0);
        for (int k = 0; k < 12; k++) {
            compare(wrt, &state, &random, tally);
            if (cr_wrt_step(wrt, &state, &state, NULL) != CR_OK) break;
        }
        cr_arena_destroy(&arena);
        cr_wrt_destroy(wrt);
        cr_model_destroy(model);
    }
    printf("  %d of %d steps along tapes; %d of %d moves in closed form, %d of them with rows, %d in parts; "
           "worst %.1e, J v %.1e\n",
           tally->known, tally->steps, tally->closed, tally->moves, tally->held, tally->cut, tally->worst,
           tally->apart);
}

TEST(trees_in_flight) {
    Tally tally = {0};
    run_trees(false, 1.0, 3, test_samples(1000) / 4, &tally);
    CHECK(tally.known > tally.steps * 3 / 4);
    CHECK(tally.closed > tally.moves * 3 / 4);
    CHECK(tally.flights > tally.moves / 3);
}

// so fast that the step cuts the flight into parts, whose lengths depend on the motion
TEST(trees_that_turn_fast) {
    Tally tally = {0};
    run_trees(false, 12.0, 5, test_samples(1000) / 4, &tally);
    CHECK(tally.cut > tally.steps / 20);
    CHECK(tally.closed > tally.moves / 2);
}

TEST(trees_on_the_ground) {
    Tally tally = {0};
    run_trees(true, 1.0, 4, test_samples(1000) / 4, &tally);
    CHECK(tally.held > tally.steps / 4);
}

// A bead on a rod that gravity presses against the lower end: above it the bead comes down to the end within the step,
// beyond it the bead stays where it is.
TEST(a_joint_at_its_limit_has_two_derivatives) {
    crModel* model = cr_model_create(NULL);
    crBodyDef bead = cr_body_def();
    const double h = 0.01;
    bead.joint = CR_JOINT_SLIDER;
    bead.mass = 0.5;
    bead.inertia = (crSym3){.xx = 0.1, .yy = 0.1, .zz = 0.1};
    bead.dof[0].lower = 0.0;
    cr_model_add_body(model, &bead);
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.dt = h;
    crWrt* wrt;
    crArena arena;
    crState state;
    crWrtVerdict verdict;
    CHECK_STATUS(cr_wrt_create(&def, &wrt, NULL), CR_OK);
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_state_create(model, &arena, &state), CR_OK);
    double minus[2], plus[2], d[3] = {1.0, 0.0, 0.0};
    CHECK_STATUS(cr_wrt_apply(wrt, &state, d, minus, plus, &verdict, NULL), CR_OK);
    CHECK(verdict.verdict == CR_ONE_SIDED && !verdict.differenced && verdict.nearest == CR_SWITCH_OPEN);
    CHECK(verdict.distance == 0.0);
    CHECK_NEAR(plus[0], 0.0, 1e-9);
    CHECK_NEAR(plus[1], -1.0 / h, 1e-7);
    CHECK_NEAR(minus[0], 1.0, 1e-9);
    CHECK_NEAR(minus[1], 0.0, 1e-9);
    // a push that does not move it
    const double push[3] = {0.0, 0.3, 2.0};
    CHECK_STATUS(cr_wrt_apply(wrt, &state, push, minus, plus, &verdict, NULL), CR_OK);
    for (int k = 0; k < 2; k++)
        CHECK(fabs(plus[k]) < 1e-9 && fabs(minus[k]) < 1e-9);
    // beside the limit there is one
    state.q[0] = 1e-4;
    CHECK_STATUS(cr_wrt_apply(wrt, &state, d, minus, plus, &verdict, NULL), CR_OK);
    CHECK(verdict.verdict == CR_SMOOTH);
    CHECK_NEAR(plus[1], -1.0 / h, 1e-7);
    CHECK_NEAR(minus[1], -1.0 / h, 1e-7);
    cr_arena_destroy(&arena);
    cr_wrt_destroy(wrt);
    cr_model_destroy(model);
}
