// How far solves of heaps get: what sweeps leave unsolved is finished once all contacts are known, and audits of
// impulses whose squares are zero stay finite.
#include "test.h"

#include "sample.h"

#include <string.h>

#define BALLS 252
#define STEP  0.004

static void add_floor(crModel* model, double half) {
    const crVec3 normals[] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    for (int i = 0; i < 5; i++) {
        crShape wall = cr_shape_halfspace(normals[i], i == 0 ? 0.0 : -half);
        cr_model_add_shape(model, CR_WORLD, &wall, 0);
    }
}

static void add_ball(crModel* model, double r, double mass, crVec3 at) {
    crShape ball = cr_shape_sphere(r);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.mass = mass;
    double I = 0.4 * mass * r * r;
    def.inertia = (crSym3){.xx = I, .yy = I, .zz = I};
    def.pose.p = at;
    cr_model_add_shape(model, cr_model_add_body(model, &def), &ball, 0);
}

static crModel* model_create(double mu) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -9.81);
    model->materials[0].surface.mu = model->materials[0].surface.mu2 = mu;
    model->materials[0].surface.e = 0.0;
    return model;
}

static crWorld* world_create(const crModel* model, crQuality quality) {
    crWorldDef def = cr_world_def();
    crWorld* world = NULL;
    def.model = model;
    def.step.dt = STEP;
    def.step.measure = 0;
    def.step.quality = quality;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    return world;
}

// Balls of a lattice, each shifted by 3 mm.
static void add_shifted_balls(crModel* model, uint64_t seed) {
    crRandom random = sample_seed(seed);
    for (int i = 0; i < BALLS; i++) {
        crVec3 at = cr_vec3(0.12 * (i % 6) - 0.3, 0.12 * (i / 6 % 6) - 0.3, 0.1 + 0.12 * (i / 36));
        add_ball(model, 0.05, 1.3, cr_madd(at, 0.003, sample_direction(&random)));
    }
}

static void add_balls(crModel* model) {
    for (int i = 0; i < BALLS; i++) {
        int x = i % 6, y = i / 6 % 6, z = i / 36;
        add_ball(model, 0.05, 1.3,
                 cr_vec3(0.12 * x - 0.3 + 0.007 * z, 0.12 * y - 0.3 + 0.004 * z, 0.1 + 0.12 * z));
    }
}

// Balls fall into a box, crawl and settle: each step is solved, or exact for gaps that differ by 1e-5 of a ball's size.
TEST(steps_of_a_crawling_heap_are_solved_or_near) {
    crModel* model = model_create(0.3);
    add_floor(model, 0.4);
    add_balls(model);
    crWorld* world = world_create(model, CR_QUALITY_ACCURATE);
    int good = 0, steps = 300;
    for (int i = 0; i < steps; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        const crCertificate* c = cr_world_certificate(world);
        good += c->outcome == CR_OUTCOME_SOLVED || c->outcome == CR_OUTCOME_NEAR;
        // near means what it says
        if (c->outcome == CR_OUTCOME_NEAR) CHECK(c->distance <= 1e-5 * 0.1);
    }
    printf("  %d of %d steps solved or near\n", good, steps);
    CHECK(good >= steps - steps / 100);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// With much friction contacts that stick contradict each other and folds end Newton's method: in one step of
// thirty neither sweeps nor factorizations were near before gaps had a room.
TEST(few_steps_of_rough_heaps_end_at_their_limit) {
    int limit = 0, steps = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        crModel* model = model_create(0.8);
        add_floor(model, 0.4);
        add_shifted_balls(model, seed);
        crWorld* world = world_create(model, CR_QUALITY_ACCURATE);
        for (int i = 0; i < 300; i++, steps++) {
            CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
            const crCertificate* c = cr_world_certificate(world);
            limit += c->outcome != CR_OUTCOME_SOLVED && c->outcome != CR_OUTCOME_NEAR;
            if (c->outcome == CR_OUTCOME_NEAR) CHECK(c->distance <= 1e-5 * 0.1);
        }
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
    printf("  %d of %d steps at their limit\n", limit, steps);
    CHECK(limit <= steps / 100);
}

// What fast brought near rest is solved in certified, step by step, while a few balls still roll.
TEST(certified_steps_of_a_calm_heap_are_solved) {
    crModel* model = model_create(0.3);
    add_floor(model, 0.4);
    add_balls(model);
    crWorld *fast = world_create(model, CR_QUALITY_FAST), *world = world_create(model, CR_QUALITY_CERTIFIED);
    for (int i = 0; i < 440; i++) {
        CHECK_STATUS(cr_world_step(fast, NULL), CR_OK);
    }
    memcpy(cr_world_state(world)->q, cr_world_state(fast)->q, (size_t)model->nq * sizeof(double));
    memcpy(cr_world_state(world)->v, cr_world_state(fast)->v, (size_t)model->nv * sizeof(double));
    int solved = 0, steps = 60;
    double worst = 0.0;
    for (int i = 0; i < steps; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        const crCertificate* c = cr_world_certificate(world);
        solved += c->outcome == CR_OUTCOME_SOLVED;
        if (i >= steps / 2) worst = fmax(worst, c->residual);
    }
    printf("  %d of %d steps solved, at last to %.1e\n", solved, steps, worst);
    // forces have to be found in the first of them
    CHECK(solved >= steps - 5);
    CHECK(worst <= 1e-6);
    cr_world_destroy(fast);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// A ball that lies on the floor is at rest, however little it weighs: squares of its impulses are zero.
TEST(impulses_whose_squares_are_zero_are_judged) {
    crModel* model = model_create(0.3);
    add_floor(model, 1.0);
    add_ball(model, 0.05, 1e-165, cr_vec3(0, 0, 0.05));
    crWorld* world = world_create(model, CR_QUALITY_ACCURATE);
    for (int i = 0; i < 5; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        const crCertificate* c = cr_world_certificate(world);
        CHECK(c->outcome == CR_OUTCOME_SOLVED && c->eta <= 1e-9);
        CHECK_NEAR(cr_world_state(world)->q[2], 0.05, 1e-6);
    }
    cr_world_destroy(world);
    cr_model_destroy(model);
}
