// Heaps in a box: they come to rest, and every solve on the way there obeys the cone, its own residual,
// momentum and energy, all found from raw data.
#include <stdlib.h>

#include "sample.h"
#include "step/step.h"
#include "test.h"

#define WALLS 5
#define STEP  (1.0 / 240.0)

// bodies of some kinds on a loose lattice over a floor between four walls
static crModel* heap_model(crRandom* random, int bodies, int kinds, double ratio, double mu) {
    const crShape shapes[] = {cr_shape_box(0.1, 0.1, 0.1), cr_shape_sphere(0.1), cr_shape_capsule(0.07, 0.08),
                              cr_shape_cylinder(0.1, 0.1), cr_shape_box(0.05, 0.1, 0.15)};
    const crVec3 normals[WALLS] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -9.81);
    model->materials[0].surface.mu = model->materials[0].surface.mu2 = mu;
    model->materials[0].surface.e = 0.0;
    for (int i = 0; i < bodies; i++) {
        const crShape* shape = &shapes[i % kinds];
        crMass mass = cr_mass_of_shape(shape, 1000.0 * (ratio > 1.0 ? sample_log(random, 1.0, ratio) : 1.0));
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.mass = mass.mass;
        def.inertia = mass.inertia;
        crVec3 at = cr_vec3(0.4 * (i % 2) - 0.2, 0.4 * (i / 2 % 2) - 0.2, 0.25 + 0.4 * (i / 4));
        def.pose.p = cr_madd(at, 0.01, sample_direction(random));
        def.pose.q = sample_rotation(random);
        cr_model_add_shape(model, cr_model_add_body(model, &def), shape, 0);
    }
    for (int i = 0; i < WALLS; i++) {
        crShape wall = cr_shape_halfspace(normals[i], i == 0 ? 0.0 : -0.4);
        cr_model_add_shape(model, CR_WORLD, &wall, 0);
    }
    return model;
}

static crVec3 linear(const crModel* model, const double* v, int body) {
    const double* at = v + model->bodies[body].v;
    return cr_vec3(at[0], at[1], at[2]);
}

static crVec3 angular(const crModel* model, const double* v, int body) {
    const double* at = v + model->bodies[body].v;
    return cr_vec3(at[3], at[4], at[5]);
}

static double kinetic(const crStep* step, const double* v, int body) {
    crVec3 u = linear(step->model, v, body), omega = angular(step->model, v, body);
    return 0.5 * step->model->bodies[body].mass * cr_dot(u, u) +
           0.5 * cr_sym3_quad(step->dynamics.inertia[body], omega);
}

static int by_size(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// energy of the slowest 95 %
static double slow_energy(const crStep* step, double* work) {
    int count = step->model->nb - 1;
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        work[i] = kinetic(step, step->state.v, i + 1);
    }
    qsort(work, (size_t)count, sizeof *work, by_size);
    for (int i = 0; i < (int)floor(0.95 * count); i++) {
        sum += work[i];
    }
    return sum;
}

// Four seconds are a few times what such a heap needs to fall and to find its rest; at rest it stays.
static bool comes_to_rest(int bodies, int kinds, uint64_t seed) {
    crRandom random = sample_seed(seed);
    crModel* model = heap_model(&random, bodies, kinds, 1.0, 0.5);
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.dt = STEP;
    def.step.quality = CR_QUALITY_FAST;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    const crStep* step = cr_world_stages(world);
    double* work = calloc((size_t)bodies, sizeof *work);
    double energy = 0.0, overlap = 0.0;
    for (int i = 0; i < 5 * 240; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        if (i < 4 * 240) continue;
        energy = fmax(energy, slow_energy(step, work));
        overlap = fmax(overlap, cr_world_certificate(world)->penetration);
    }
    printf("  %d bodies of %d kinds, fifth second: KE95 %.1e J, overlap %.1e m\n", bodies, kinds, energy,
           overlap);
    free(work);
    cr_world_destroy(world);
    cr_model_destroy(model);
    return energy <= 1e-6 && overlap <= 1e-5 * 0.19 * 1.2;
}

TEST(boxes_come_to_rest) {
    for (uint64_t seed = 41; seed < 49; seed++) {
        CHECK(comes_to_rest(24, 1, seed));
    }
}

// a ball, capsule or cylinder may find a place where it goes on rolling: nothing here resists that
TEST(mixed_shapes_come_to_rest) {
    int rested = 0;
    for (uint64_t seed = 42; seed < 48; seed++) {
        rested += comes_to_rest(16, 4, seed);
    }
    CHECK(rested >= 3);
}

// velocity of b's point against a's by v
static crVec3 slip(const crStep* step, const crStepContact* c, const double* v) {
    crVec3 u = cr_vec3(0, 0, 0);
    for (int side = 0; side < 2; side++) {
        int body = side == 0 ? c->body_a : c->body_b;
        if (body == CR_WORLD) continue;
        crVec3 r = cr_sub(c->point.point, step->dynamics.com[body]);
        crVec3 w = cr_add(linear(step->model, v, body), cr_cross(angular(step->model, v, body), r));
        u = cr_madd(u, side == 0 ? -1.0 : 1.0, w);
    }
    return u;
}

typedef struct Worst {
    double cone;      // relative to the impulse
    double beyond;    // approach beyond what gap and certificate allow, m/s
    double momentum;  // relative to all of it and all impulses
    double energy;    // gained, relative
    int pressing;
} Worst;

static void check_solve(const crStep* step, Worst* worst) {
    const crModel* model = step->model;
    double before = 0.0, after = 0.0, sum = 0.0;
    crVec3 gained = cr_vec3(0, 0, 0), given = cr_vec3(0, 0, 0);
    for (int b = 1; b < model->nb; b++) {
        before += kinetic(step, step->free.v, b);
        after += kinetic(step, step->state.v, b);
        crVec3 dv = cr_sub(linear(model, step->state.v, b), linear(model, step->free.v, b));
        gained = cr_madd(gained, model->bodies[b].mass, dv);
        sum += model->bodies[b].mass * cr_norm(linear(model, step->free.v, b));
    }
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        crVec3 n = c->point.normal, P = c->impulse;
        double pn = cr_dot(P, n), pt = cr_norm(cr_madd(P, -pn, n)), mu = model->materials[0].surface.mu;
        double room = fmax(0.0, c->point.gap - c->delta) / STEP;
        worst->pressing += pn > 0.0;
        if (pn != 0.0) worst->cone = fmax(worst->cone, fmax(pt - mu * pn, -pn) / cr_norm(P));
        worst->beyond =
            fmax(worst->beyond, -cr_dot(slip(step, c, step->state.v), n) - room - step->certificate.eta);
        if (c->body_a == CR_WORLD) given = cr_add(given, P);
        if (c->body_b == CR_WORLD) given = cr_sub(given, P);
        sum += cr_norm(P);
    }
    if (sum > 0.0) worst->momentum = fmax(worst->momentum, cr_norm(cr_sub(gained, given)) / sum);
    if (before > 0.0) worst->energy = fmax(worst->energy, after / before - 1.0);
}

// solves of heaps that fall and settle, every quality; no impacts: what closes fast closes in the solve
TEST(solves_of_heaps_keep_their_word) {
    crRandom random = sample_seed(43);
    int rounds = test_samples(600) / 20;
    for (int q = CR_QUALITY_FAST; q <= CR_QUALITY_CERTIFIED; q++) {
        Worst worst = {.energy = -1.0};
        for (int i = 0; i < rounds; i++) {
            int bodies = 4 + 2 * (i % 5);
            crModel* model = heap_model(&random, bodies, 1 + i % 5, i % 3 == 0 ? 1.0 : 100.0,
                                        sample_uniform(&random, 0.1, 0.9));
            crStepSettings settings = cr_step_settings();
            settings.quality = (crQuality)q;
            crStep step;
            CHECK_STATUS(cr_step_create(model, &settings, NULL, &step, NULL), CR_OK);
            for (int k = 0; k < 150; k++) {
                CHECK_STATUS(cr_step_begin(&step, NULL), CR_OK);
                CHECK_STATUS(cr_step_forces(&step, STEP, NULL), CR_OK);
                CHECK_STATUS(cr_step_collide(&step, cr_step_reach(&step, STEP), NULL), CR_OK);
                CHECK_STATUS(cr__step_contact_solve(&step, STEP, true, NULL, NULL), CR_OK);
                check_solve(&step, &worst);
                CHECK_STATUS(cr_step_integrate(&step, STEP, NULL), CR_OK);
                CHECK_STATUS(cr_step_position_pass(&step, NULL), CR_OK);
            }
            cr_step_destroy(&step);
            cr_model_destroy(model);
        }
        printf("  %s: %d impulses, cone to %.1e, approach beyond the residual %.1e m/s, momentum to %.1e, "
               "energy %+.1e\n",
               cr_quality_name((crQuality)q), worst.pressing, worst.cone, worst.beyond, worst.momentum,
               worst.energy);
        CHECK(worst.pressing > 1000);
        CHECK(worst.cone <= 1e-15);
        CHECK(worst.beyond <= 1e-12);
        CHECK(worst.momentum <= 1e-14);
        CHECK(worst.energy <= 1e-14);
    }
}
