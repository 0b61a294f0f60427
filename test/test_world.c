// test_world.c - worlds: motion without contacts, bookkeeping, snapshots, memory, and what happens when a
// step fails.
#include <stdlib.h>

#include "resolve/kinds.h"
#include "sample.h"
#include "world_scene.h"

TEST(flight_is_a_parabola_whatever_the_step) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.5, 0.5);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0), 1.0, material);
    static const double steps[] = {0.1, 1.0 / 240.0};
    double worst = 0.0;
    for (int s = 0; s < 2; s++) {
        crStepSettings settings = cr_step_settings();
        settings.dt = steps[s];
        crWorld* world = scene_world(model, &settings);
        crState* state = cr_world_state(world);
        state->v[0] = 3.0;
        state->v[2] = 4.0;
        CHECK_STATUS(cr_world_run(world, 2.0, NULL), CR_OK);
        CHECK(state->time == 2.0);
        worst = fmax(worst, fabs(state->q[0] - 6.0));
        worst = fmax(worst, fabs(state->q[2] - (8.0 - 0.5 * 9.81 * 4.0)));
        worst = fmax(worst, fabs(state->v[2] - (4.0 - 9.81 * 2.0)));
        cr_world_destroy(world);
    }
    printf("  flight of 2 s: to %.1e\n", worst);
    CHECK(worst < 1e-11);
    cr_model_destroy(model);
}

// a symmetric top free of moments: its axis goes round L at L / I1, exactly
TEST(free_top_precesses_at_the_textbook_rate) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    scene_free(model, cr_shape_cylinder(0.2, 0.05), cr_vec3(0, 0, 0), 1.0, 0);
    crStepSettings settings = cr_step_settings();
    settings.dt = 0.01;
    crWorld* world = scene_world(model, &settings);
    crState* state = cr_world_state(world);
    const double* I = model->bodies[1].principal;
    double I1 = I[0], I3 = I[2];
    state->v[3] = 1.0;
    state->v[5] = 20.0;
    crVec3 L = cr_vec3(I1 * 1.0, 0.0, I3 * 20.0);
    double rate = cr_norm(L) / I1;
    CHECK_STATUS(cr_world_run(world, 5.0, NULL), CR_OK);
    crVec3 axis = cr_quat_rotate(cr_world_pose(world, 1).q, cr_vec3(0, 0, 1));
    crVec3 expected = cr_quat_rotate(cr_quat_axis_angle(L, rate * 5.0), cr_vec3(0, 0, 1));
    crVec3 linear, angular;
    cr_world_momentum(world, cr_vec3(0, 0, 0), &linear, &angular);
    printf("  top: axis to %.1e, momentum to %.1e\n", cr_norm(cr_sub(axis, expected)),
           cr_norm(cr_sub(angular, L)));
    CHECK_VEC(axis, expected, 1e-11);
    CHECK_VEC(angular, L, 1e-13);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// T = 2 pi sqrt(I/mgd) / agm(1, cos(amplitude/2))
static double pendulum_period(double amplitude, double I, double mgd) {
    double a = 1.0, b = cr_cos(0.5 * amplitude);
    for (int i = 0; i < 30; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 2.0 * CR_PI * sqrt(I / mgd) / a;
}

TEST(pendulum_keeps_its_period) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(0, 1, 0);
    def.mass = 2.0;
    def.com = cr_vec3(0, 0, -0.5);
    def.inertia = (crSym3){.xx = 0.1, .yy = 0.1, .zz = 0.01};
    cr_model_add_body(model, &def);
    double exact = pendulum_period(1.0, 0.1 + 2.0 * 0.25, 2.0 * 9.81 * 0.5), error[2];
    static const double steps[] = {2e-3, 1e-3};
    for (int s = 0; s < 2; s++) {
        crStepSettings settings = cr_step_settings();
        settings.dt = steps[s];
        crWorld* world = scene_world(model, &settings);
        crState* state = cr_world_state(world);
        state->q[0] = 1.0;
        // ten periods by the upward crossings of zero, interpolated
        int crossings = 0;
        double first = 0.0, last = 0.0;
        while (crossings < 11) {
            double q = state->q[0], t = state->time;
            if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
            if (!(q < 0.0 && state->q[0] >= 0.0)) continue;
            last = t + (state->time - t) * -q / (state->q[0] - q);
            if (crossings++ == 0) first = last;
        }
        error[s] = fabs((last - first) / 10.0 - exact);
        cr_world_destroy(world);
    }
    printf("  pendulum at 1 rad: period %.9f s to %.1e (h = 2e-3) and %.1e (1e-3)\n", exact, error[0],
           error[1]);
    // the symplectic step's period is right to second order
    CHECK(error[0] < 1e-5);
    CHECK(error[1] < 0.3 * error[0]);
    cr_model_destroy(model);
}

typedef enum Kind { BALLS_AND_BOXES, BALLS, TIED } Kind;

// spheres and boxes thrown at each other, nothing else in the world; tied: two by two at a point
static crModel* closed_model(crRandom* random, double e, Kind kind) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    int material = scene_material(model, sample_uniform(random, 0.0, 1.0), e);
    crVec3 before = cr_vec3(0, 0, 0);
    for (int i = 0; i < 6; i++) {
        crVec3 p = cr_vec3(0.5 * (i % 3), 0.5 * (i / 3), sample_uniform(random, -0.05, 0.05)), last = before;
        before = p;
        crShape shape = kind == BALLS || i % 2 == 0 ? cr_shape_sphere(0.15) : cr_shape_box(0.12, 0.1, 0.08);
        int body = scene_free(model, shape, p, sample_log(random, 0.2, 5.0), material);
        if (kind != TIED || i % 3 != 1) continue;
        crLoop loop = cr_loop(CR_LOOP_CONNECT, body - 1, body);
        loop.pose_a.p = cr_sub(cr_scale(0.5, cr_add(p, last)), last);
        loop.pose_b.p = cr_sub(cr_scale(0.5, cr_add(p, last)), p);
        cr_model_add_loop(model, &loop);
    }
    return model;
}

static void throw_in(crRandom* random, const crModel* model, crState* state) {
    for (int b = 1; b < model->nb; b++) {
        const double* q = state->q + model->bodies[b].q;
        double* v = state->v + model->bodies[b].v;
        for (int j = 0; j < 3; j++) {
            double centre = j == 0 ? 0.5 : (j == 1 ? 0.25 : 0.0);
            v[j] = 2.0 * (centre - q[j]) + sample_uniform(random, -0.5, 0.5);
            v[3 + j] = sample_uniform(random, -3.0, 3.0);
        }
    }
}

typedef struct Worst {
    double p, L, gained, beyond, impact, overlap, residual;
    int impacts;
} Worst;

// energy that the impacts of the last step took, each counted once
static double impact_energy(const crWorld* world, double* largest) {
    crEvents events = cr_world_events(world);
    double sum = 0.0;
    int last = -1;
    for (int i = 0; i < events.count; i++) {
        if (events.events[i].impact <= last) continue;
        last = events.events[i].impact;
        sum += events.events[i].energy_change;
        *largest = fmax(*largest, events.events[i].energy_change);
    }
    return sum;
}

static double fastest_turn(const crModel* model, const crState* state) {
    double fastest = 0.0;
    for (int b = 1; b < model->nb; b++) {
        const double* v = state->v + model->bodies[b].v + 3;
        fastest = fmax(fastest, cr_norm(cr_vec3(v[0], v[1], v[2])));
    }
    return fastest;
}

static void run_closed(crRandom* random, const char* rule, Kind kind, Worst* worst) {
    crModel* model = closed_model(random, sample_uniform(random, 0.0, 1.0), kind);
    crStepSettings settings = cr_step_settings();
    CHECK_STATUS(cr_rule_find(rule, NULL, &settings.rule, NULL), CR_OK);
    crWorld* world = scene_world(model, &settings);
    throw_in(random, model, cr_world_state(world));
    crVec3 p0, L0, p, L;
    cr_world_momentum(world, cr_vec3(0, 0, 0), &p0, &L0);
    double energy = cr_world_energy(world).kinetic, size = energy;
    for (int i = 0; i < 240; i++) {
        crError error = {0};
        if (!CHECK_STATUS(cr_world_step(world, &error), CR_OK)) {
            printf("  %s, step %d: %s\n", rule, i, error.message);
            break;
        }
        const crCertificate* c = cr_world_certificate(world);
        double now = cr_world_energy(world).kinetic, largest = -INFINITY;
        double change = impact_energy(world, &largest);
        double turn = fastest_turn(model, cr_world_state(world)) * settings.dt;
        worst->gained = fmax(worst->gained, (now - energy - change) / size);
        worst->beyond = fmax(worst->beyond, (now - energy - change) / (size * turn * turn * turn));
        // a rule that creates energy must say so
        if (c->energy.created == 0.0) worst->impact = fmax(worst->impact, largest / size);
        energy = now;
        worst->impacts += c->impacts;
        worst->overlap = fmax(worst->overlap, c->penetration);
        worst->residual = fmax(worst->residual, c->residual);
    }
    cr_world_momentum(world, cr_vec3(0, 0, 0), &p, &L);
    worst->p = fmax(worst->p, cr_norm(cr_sub(p, p0)));
    worst->L = fmax(worst->L, cr_norm(cr_sub(L, L0)));
    cr_world_destroy(world);
    cr_model_destroy(model);
}

TEST(momentum_and_energy_of_closed_systems) {
    static const char* const rules[] = {"poisson", "newton", "sequence", "weighted",
                                        "reflect", "chain",  "feasible", "coupled"};
    crRandom random = sample_seed(51);
    static const char* const kinds[] = {"balls and boxes", "balls", "tied bodies"};
    for (Kind kind = BALLS_AND_BOXES; kind <= TIED; kind++) {
        Worst worst = {.impact = -INFINITY};
        // 200 of each rule in the long run
        int scenes = test_samples(1600 * 10) / 10;
        for (int s = 0; s < scenes; s++) {
            run_closed(&random, rules[s % 8], kind, &worst);
        }
        printf("  %d scenes of %s, %d impacts: momentum to %.1e, angular to %.1e, energy gained beside "
               "impacts %.1e (%.1e (h omega)^3), "
               "in one %.1e, overlap %.1e m, residual %.1e\n",
               scenes, kinds[kind], worst.impacts, worst.p, worst.L, worst.gained, worst.beyond, worst.impact,
               worst.overlap, worst.residual);
        CHECK(worst.impacts > scenes);
        CHECK(worst.p < 1e-12);
        CHECK(worst.impact < 1e-12);
        // tumbling boxes: their flight is of second order, so a step's energy to (h omega)^3; loops of first
        // order
        if (kind == BALLS) CHECK(worst.gained < 1e-12);
        if (kind == BALLS_AND_BOXES) CHECK(worst.beyond < 1.0);
        CHECK(worst.overlap < 1e-6);
    }
}

// a little of everything that has state: stack, joints, a loop, a ball in flight
static crModel* mixed_model(const crAllocator* allocator) {
    crModel* model = cr_model_create(allocator);
    if (model == NULL) return NULL;
    int material = scene_material(model, 0.4, 0.5);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.1), 1.0, material);
    scene_free(model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0.02, 0, 0.31), 1.0, material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0.05, 0.02, 0.6), 0.5, material);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(0, 1, 0);
    def.pose.p = cr_vec3(0.6, 0.0, 0.5);
    int arm = cr_model_add_body(model, &def);
    crShape bar = cr_shape_capsule(0.03, 0.15);
    bar.pose.p.z = -0.2;
    cr_model_add_shape(model, arm, &bar, material);
    return model;
}

static void mixed_start(crWorld* world) {
    crState* state = cr_world_state(world);
    state->v[12] = 0.3;
    state->v[16] = 5.0;
    state->v[18] = 6.0;
}

TEST(snapshots_continue_to_the_same_bits) {
    crModel* model = mixed_model(NULL);
    crWorld* world = scene_world(model, NULL);
    mixed_start(world);
    for (int i = 0; i < 100; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    }
    size_t size = cr_world_save_size(world);
    unsigned char* bytes = malloc(size);
    CHECK_STATUS(cr_world_save(world, bytes, size), CR_OK);
    CHECK_STATUS(cr_world_save(world, bytes, size - 1), CR_ERR_SIZE);
    uint64_t then = cr_world_hash(world);
    for (int i = 0; i < 150; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    }
    uint64_t later = cr_world_hash(world);
    CHECK(later != then);
    crWorld* other = scene_world(model, NULL);
    for (int w = 0; w < 2; w++) {
        crWorld* again = w == 0 ? world : other;
        CHECK_STATUS(cr_world_load(again, bytes, size, NULL), CR_OK);
        CHECK(cr_world_hash(again) == then);
        for (int i = 0; i < 150; i++) {
            CHECK_STATUS(cr_world_step(again, NULL), CR_OK);
        }
        CHECK(cr_world_hash(again) == later);
    }
    crError error;
    CHECK_STATUS(cr_world_load(world, bytes, size - 8, &error), CR_ERR_SIZE);
    CHECK_STATUS(cr_world_load(world, bytes, 3, &error), CR_ERR_SYNTAX);
    bytes[size / 2] ^= 1;
    CHECK_STATUS(cr_world_load(world, bytes, size, &error), CR_ERR_SYNTAX);
    CHECK(cr_world_hash(world) == later);
    free(bytes);
    cr_world_destroy(other);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

typedef struct Counter {
    int calls;  // to alloc
    int fail;   // the call that fails, -1 for none
    int live;
} Counter;

static void* counting_alloc(void* ctx, size_t size) {
    Counter* counter = ctx;
    if (counter->calls++ == counter->fail) return NULL;
    counter->live++;
    return malloc(size);
}

static void counting_free(void* ctx, void* memory, size_t size) {
    (void)size;
    ((Counter*)ctx)->live--;
    free(memory);
}

// the same on every compiler and at every optimisation level; changes only with CR_NUMERICS_REVISION
TEST(bits_of_a_second_are_known) {
    crModel* model = mixed_model(NULL);
    static const crMethod methods[] = {CR_METHOD_CONE, CR_METHOD_MOREAU};
    static const uint64_t golden[] = {UINT64_C(0x01ec057a1cf95a1c), UINT64_C(0x7e61e4932c01c98c)};
    for (int i = 0; i < 2; i++) {
        crStepSettings settings = cr_step_settings();
        settings.method = methods[i];
        crWorld* world = scene_world(model, &settings);
        mixed_start(world);
        for (int k = 0; k < 240; k++) {
            CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        }
        uint64_t hash = cr_world_hash(world);
        printf("  %s: 0x%016llx\n", cr_method_name(methods[i]), (unsigned long long)hash);
        CHECK(hash == golden[i]);
        cr_world_destroy(world);
    }
    cr_model_destroy(model);
}

TEST(steady_steps_do_not_touch_the_heap) {
    Counter counter = {.fail = -1};
    crAllocator allocator = {counting_alloc, counting_free, &counter};
    crModel* model = mixed_model(NULL);
    crWorldDef def = cr_world_def();
    def.model = model;
    def.allocator = &allocator;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    mixed_start(world);
    CHECK_STATUS(cr_world_run(world, 3.0, NULL), CR_OK);
    int before = counter.calls;
    CHECK_STATUS(cr_world_run(world, 4.0, NULL), CR_OK);
    printf("  %d allocations in 3 s, %d in the next second\n", before, counter.calls - before);
    CHECK(counter.calls == before);
    cr_world_destroy(world);
    CHECK(counter.live == 0);
    cr_model_destroy(model);
}

// scratch that three worlds share in turns, one of them larger: the same bits as with scratch of their own, also
// after a step for which there was no memory
TEST(worlds_that_share_scratch_move_alike) {
    enum { WORLDS = 3 };
    Counter counter = {.fail = -1};
    crAllocator allocator = {counting_alloc, counting_free, &counter};
    crArena scratch;
    CHECK_STATUS(cr_arena_create(&scratch, &allocator, 0), CR_OK);
    crModel* model = mixed_model(NULL);
    crModel* small = cr_model_create(NULL);
    scene_ground(small, cr_vec3(0, 0, 1), 0);
    scene_free(small, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.15), 1.0, 0);
    crWorld *sharing[WORLDS], *alone[WORLDS];
    for (int w = 0; w < WORLDS; w++) {
        crWorldDef def = cr_world_def();
        def.model = w == 1 ? model : small;
        CHECK_STATUS(cr_world_create(&def, &alone[w], NULL), CR_OK);
        def.scratch = &scratch;
        CHECK_STATUS(cr_world_create(&def, &sharing[w], NULL), CR_OK);
        cr_world_state(alone[w])->v[0] = cr_world_state(sharing[w])->v[0] = 0.1 * w;
    }
    for (int i = 0; i < 120; i++) {
        for (int w = 0; w < WORLDS; w++) {
            CHECK_STATUS(cr_world_step(alone[w], NULL), CR_OK);
            uint64_t before = cr_world_hash(sharing[w]);
            counter.fail = i == 0 ? counter.calls : -1;
            crStatus status = cr_world_step(sharing[w], NULL);
            if (status != CR_OK) {
                CHECK(status == CR_ERR_MEMORY && cr_world_hash(sharing[w]) == before);
                counter.fail = -1;
                CHECK_STATUS(cr_world_step(sharing[w], NULL), CR_OK);
            }
            CHECK(cr_world_hash(sharing[w]) == cr_world_hash(alone[w]));
        }
    }
    for (int w = 0; w < WORLDS; w++) {
        cr_world_destroy(sharing[w]);
        cr_world_destroy(alone[w]);
    }
    cr_arena_destroy(&scratch);
    CHECK(counter.calls > 0 && counter.live == 0);
    cr_model_destroy(small);
    cr_model_destroy(model);
}

TEST(every_allocation_may_fail) {
    crModel* model = mixed_model(NULL);
    uint64_t expected = 0;
    int most = 0;
    for (int fail = -1; fail < most || fail < 0; fail++) {
        Counter counter = {.fail = fail};
        crAllocator allocator = {counting_alloc, counting_free, &counter};
        crWorldDef def = cr_world_def();
        def.model = model;
        def.allocator = &allocator;
        crWorld* world = NULL;
        crStatus status = cr_world_create(&def, &world, NULL);
        if (status == CR_OK) mixed_start(world);
        for (int i = 0; i < 45 && status == CR_OK; i++) {
            uint64_t before = cr_world_hash(world);
            status = cr_world_step(world, NULL);
            if (status != CR_OK) {
                // the world stands where it was, and the same step succeeds once there is memory
                CHECK(cr_world_hash(world) == before);
                CHECK(status == CR_ERR_MEMORY);
                status = cr_world_step(world, NULL);
            }
        }
        if (fail < 0) {
            most = counter.calls;
            expected = cr_world_hash(world);
        }
        if (world != NULL) {
            CHECK_STATUS(status, CR_OK);
            CHECK(cr_world_hash(world) == expected);
        } else {
            CHECK_STATUS(status, CR_ERR_MEMORY);
        }
        cr_world_destroy(world);
        CHECK(counter.live == 0);
    }
    printf("  %d allocations failed one by one\n", most);
    cr_model_destroy(model);
}

static crStatus bad_force(void* ctx, const crModel* model, const crState* state, const crDynamics* d,
                          double* k) {
    (void)model;
    (void)d;
    int kind = *(int*)ctx;
    if (state->time < 0.1) return CR_OK;
    if (kind == 0) k[2] = NAN;
    if (kind == 1) k[2] = 1e308;
    return kind == 2 ? CR_ERR_REGION : CR_OK;
}

TEST(failed_steps_leave_the_last_good_state) {
    crModel* model = mixed_model(NULL);
    static const crStatus expected[] = {CR_ERR_FINITE, CR_ERR_FINITE, CR_ERR_REGION};
    for (int kind = 0; kind < 3; kind++) {
        crWorldDef def = cr_world_def();
        def.model = model;
        def.force = bad_force;
        def.force_ctx = &kind;
        crWorld* world = NULL;
        CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
        crStatus status = CR_OK;
        uint64_t before = 0;
        while (status == CR_OK) {
            before = cr_world_hash(world);
            status = cr_world_step(world, NULL);
        }
        CHECK_STATUS(status, expected[kind]);
        CHECK(cr_world_hash(world) == before);
        CHECK_NEAR(cr_world_state(world)->time, 0.1, 0.005);
        CHECK_STATUS(cr_world_step(world, NULL), expected[kind]);
        cr_world_destroy(world);
    }
    crWorld* world = scene_world(model, NULL);
    cr_world_state(world)->v[0] = INFINITY;
    CHECK_STATUS(cr_world_step(world, NULL), CR_ERR_FINITE);
    CHECK_STATUS(cr_world_run(world, NAN, NULL), CR_ERR_FINITE);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// a law of one's own: frictionless, rebound at a fixed speed
static crStatus fixed_rebound(const void* params, const crContact* contact, crHit* hit, crError* error) {
    (void)error;
    hit->P = cr_vec3((*(const double*)params - contact->V.x) / contact->W.xx, 0.0, 0.0);
    return CR_OK;
}

TEST(a_world_takes_the_users_law) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.0, 0.5);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.6), 1.0, material);
    double speed = 1.25;
    crStepSettings settings = cr_step_settings();
    settings.rule = cr__rule(&cr__rule_sequence, NULL);
    settings.law = (crLaw){.name = "fixed", .apply = fixed_rebound, .params = &speed};
    crWorld* world = scene_world(model, &settings);
    int seen = 0;
    while (cr_world_state(world)->time < 1.0) {
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
        crEvents events = cr_world_events(world);
        for (int i = 0; i < events.count; i++) {
            CHECK_NEAR(events.events[i].impulse.z, events.events[i].approach + speed, 1e-12);
            // from the second blow on it comes back as fast as it left
            if (seen++ > 0) CHECK_NEAR(events.events[i].approach, speed, 1e-6);
        }
    }
    CHECK(seen >= 2);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

TEST(too_many_impacts_are_reported) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    int material = scene_material(model, 0.0, 1.0);
    for (int i = 0; i < 5; i++) {
        scene_bead(model, 0.05, 0.101 * i, material);
    }
    crStepSettings settings = cr_step_settings();
    settings.dt = 0.1;
    settings.impact_limit = 2;
    crWorld* world = scene_world(model, &settings);
    cr_world_state(world)->v[0] = 1.0;
    CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    CHECK(cr_world_certificate(world)->truncated);
    CHECK(cr_world_certificate(world)->impacts == 2);
    crVec3 linear, angular;
    cr_world_momentum(world, cr_vec3(0, 0, 0), &linear, &angular);
    CHECK_NEAR(linear.x, 1.0, 1e-13);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

TEST(definitions_are_checked) {
    crWorldDef def = cr_world_def();
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_ERR_ARGUMENT);
    crModel* model = mixed_model(NULL);
    crWorldDef zero = {0};
    zero.model = model;
    CHECK_STATUS(cr_world_create(&zero, &world, NULL), CR_ERR_ARGUMENT);
    def.model = model;
    def.step.dt = -1.0;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_ERR_RANGE);
    CHECK(world == NULL);
    cr_world_destroy(NULL);
    cr_model_destroy(model);
}

// kinetic, potential and spring energies that leave the numbers, each by one large number of the state or the model
TEST(energies_that_are_not_finite_are_refused_with_the_body) {
    for (int method = CR_METHOD_CONE; method <= CR_METHOD_EVENT; method++) {
        for (int which = 0; which < 5; which++) {
            crModel* model = cr_model_create(NULL);
            crBodyDef def = cr_body_def();
            def.name = "near";
            def.joint = CR_JOINT_FREE;
            def.mass = 1.0;
            def.inertia = (crSym3){.xx = 1.0, .yy = 1.0, .zz = 1.0};
            cr_model_add_body(model, &def);
            def.name = "far";
            def.mass = which == 3 ? 1e300 : 10.0;
            cr_model_add_body(model, &def);
            def.name = "sprung";
            def.joint = CR_JOINT_SLIDER;
            def.mass = 1.0;
            def.dof[0].stiffness = 1e-150;
            cr_model_add_body(model, &def);
            crStepSettings settings = cr_step_settings();
            settings.method = (crMethod)method;
            settings.bound = 1e100;
            crWorld* world = scene_world(model, &settings);
            crState* state = cr_world_state(world);
            if (which == 1) state->v[6] = 1e154;   // m v^2 / 2 = 5e308
            if (which == 2) state->q[9] = 1e307;   // m g z = 9.8e308
            if (which == 3) state->q[9] = 1e8;     // the same by mass
            if (which == 4) state->q[14] = 1e230;  // k x^2 / 2 = 5e309
            uint64_t before = cr_world_hash(world);
            crError error = {0};
            crStatus status = cr_world_step(world, &error);
            CHECK_STATUS(status, which == 0 ? CR_OK : CR_ERR_FINITE);
            if (which > 0) {
                const char* body = which == 4 ? "body 3 sprung" : "body 2 far";
                test_check(strstr(error.message, body) != NULL, __FILE__, __LINE__, "%s, %d: %s",
                           cr_method_name(settings.method), which, error.message);
                CHECK(cr_world_hash(world) == before);
            }
            cr_world_destroy(world);
            cr_model_destroy(model);
        }
    }
}
