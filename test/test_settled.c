// Heaps settle to the same height in fast and in accurate: over many seeds the mean height of the bodies (potential energy
// over weight) and that of the highest differ by less than from seed to seed. Heaps are chaotic, so single ones differ. Long:
// only under CAROM_SOAK.
#include <stdlib.h>

#include "sample.h"
#include "test.h"

#define BODIES 60
#define SIDE   1.3  // of the box, m
#define STEP   (1.0 / 240.0)
#define STEPS  960
#define TOP    6  // highest bodies
#define SEEDS  24

typedef struct Heights {
    double mean, top;  // m
} Heights;

// what a sample says of its population
typedef struct Sample {
    int count;
    double mean, deviation;
} Sample;

static crShape shape_of(int i, bool mixed) {
    switch (mixed ? i % 5 : 0) {
    case 1:
        return cr_shape_sphere(0.11);
    case 2:
        return cr_shape_capsule(0.07, 0.09);
    case 3:
        return cr_shape_cylinder(0.1, 0.1);
    case 4:
        return cr_shape_ellipsoid(0.12, 0.1, 0.09);
    default:
        return cr_shape_box(0.1, 0.1, 0.1);
    }
}

static crModel* heap_of(uint64_t seed, bool mixed) {
    const crVec3 normals[] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    crRandom random = sample_seed(seed);
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -9.81);
    model->materials[0].surface.mu = model->materials[0].surface.mu2 = 0.5;
    for (int i = 0; i < 5; i++) {
        crShape wall = cr_shape_halfspace(normals[i], i == 0 ? 0.0 : -0.5 * SIDE);
        cr_model_add_shape(model, CR_WORLD, &wall, 0);
    }
    for (int i = 0; i < BODIES; i++) {
        crShape shape = shape_of(i, mixed);
        crMass mass = cr_mass_of_shape(&shape, 1000.0);
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.mass = mass.mass;
        def.inertia = mass.inertia;
        def.pose.p = cr_vec3(0.4 * (i % 2) - 0.2, 0.4 * (i / 2 % 2) - 0.2, 0.3 + 0.4 * (i / 4));
        def.pose.p = cr_madd(def.pose.p, 0.02, sample_direction(&random));
        def.pose.q = sample_rotation(&random);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, 0);
    }
    return model;
}

static int higher(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x < y) - (x > y);
}

// heights by mass at the end
static Heights heights_of(const crModel* model, const crState* state) {
    double z[BODIES], sum = 0.0, mass = 0.0;
    Heights found = {0.0, 0.0};
    for (int i = 0; i < BODIES; i++) {
        const crBody* body = &model->bodies[i + 1];
        z[i] = state->q[body->q + 2];
        sum += body->mass * z[i];
        mass += body->mass;
    }
    qsort(z, BODIES, sizeof z[0], higher);
    for (int i = 0; i < TOP; i++) {
        found.top += z[i] / TOP;
    }
    found.mean = sum / mass;
    return found;
}

static Heights settle(uint64_t seed, bool mixed, crQuality quality) {
    crModel* model = heap_of(seed, mixed);
    crWorldDef def = cr_world_def();
    crWorld* world;
    crError error = {0};
    def.model = model;
    def.step.dt = STEP;
    def.step.quality = quality;
    CHECK_STATUS(cr_world_create(&def, &world, &error), CR_OK);
    for (int k = 0; k < STEPS; k++) {
        CHECK_STATUS(cr_world_step(world, &error), CR_OK);
    }
    Heights found = heights_of(model, cr_world_state(world));
    cr_world_destroy(world);
    cr_model_destroy(model);
    return found;
}

static void sample_add(Sample* s, double x) {
    double before = x - s->mean;
    s->count++;
    s->mean += before / s->count;
    s->deviation += before * (x - s->mean);  // sum of squares, until the end
}

static void sample_end(Sample* s) { s->deviation = sqrt(s->deviation / (s->count - 1)); }

static void compare(const char* what, Sample fast, Sample accurate) {
    sample_end(&fast);
    sample_end(&accurate);
    double error = sqrt((fast.deviation * fast.deviation + accurate.deviation * accurate.deviation) / SEEDS);
    double apart = fast.mean - accurate.mean;
    printf(
        "  %-12s fast %.4f, spread %.4f; accurate %.4f, spread %.4f m: apart by %+.4f, standard error %.4f\n",
        what, fast.mean, fast.deviation, accurate.mean, accurate.deviation, apart, error);
    CHECK(fabs(apart) <= fast.deviation && fabs(apart) <= accurate.deviation);
}

static void check_heaps(bool mixed) {
    if (getenv("CAROM_SOAK") == NULL) {
        test_skip("two minutes; CAROM_SOAK=1 runs it");
        return;
    }
    Sample mean[2] = {0}, top[2] = {0};
    for (int i = 0; i < SEEDS; i++) {
        for (int k = 0; k < 2; k++) {
            Heights h = settle((uint64_t)i + 1, mixed, k == 0 ? CR_QUALITY_FAST : CR_QUALITY_ACCURATE);
            sample_add(&mean[k], h.mean);
            sample_add(&top[k], h.top);
        }
    }
    compare(mixed ? "mixed, mean" : "boxes, mean", mean[0], mean[1]);
    compare(mixed ? "mixed, top" : "boxes, top", top[0], top[1]);
}

TEST(boxes_settle_to_one_height) { check_heaps(false); }

TEST(mixed_heaps_settle_to_one_height) { check_heaps(true); }
