// test_step_groups.c - many small groups of bodies that bounce: each does what it does alone, and costs what it does alone.
#include <stdlib.h>
#include <time.h>

#include "sample.h"
#include "world_scene.h"

#define GROUP 4    // bodies
#define APART 3.0  // of groups, m

typedef struct Groups {
    crModel* model;
    crWorld* world;
} Groups;

// group i: balls and boxes about to fall on each other, the same wherever it is listed
static void add_group(crModel* model, int i, int material) {
    crRandom random = sample_seed((uint64_t)i);
    for (int k = 0; k < GROUP; k++) {
        crShape shape = k % 2 == 0 ? cr_shape_sphere(0.1) : cr_shape_box(0.1, 0.08, 0.06);
        crVec3 p = cr_vec3(APART * (i % 64) + sample_uniform(&random, -0.05, 0.05),
                           APART * (i / 64) + sample_uniform(&random, -0.05, 0.05), 0.15 + 0.25 * k);
        scene_free(model, shape, p, sample_log(&random, 0.5, 2.0), material);
    }
}

static void throw_group(crWorld* world, int i, int body) {
    crRandom random = sample_seed((uint64_t)i + 1000000);
    double* v = cr_world_state(world)->v + 6 * (body - 1);
    for (int k = 0; k < GROUP; k++, v += 6) {
        v[0] = sample_uniform(&random, -0.5, 0.5);
        v[1] = sample_uniform(&random, -0.5, 0.5);
        v[2] = sample_uniform(&random, -3.0, 0.0);
        v[3] = sample_uniform(&random, -2.0, 2.0);
    }
}

// groups first to first + count - 1
static Groups groups_create(int first, int count, crQuality quality, int threads) {
    Groups groups = {cr_model_create(NULL), NULL};
    int material = scene_material(groups.model, 0.4, 0.6);
    scene_ground(groups.model, cr_vec3(0, 0, 1), material);
    for (int i = 0; i < count; i++) {
        add_group(groups.model, first + i, material);
    }
    crStepSettings settings = cr_step_settings();
    settings.dt = 1.0 / 240.0;
    settings.quality = quality;
    settings.threads = threads;
    groups.world = scene_world(groups.model, &settings);
    for (int i = 0; i < count; i++) {
        throw_group(groups.world, first + i, 1 + GROUP * i);
    }
    return groups;
}

static void groups_destroy(Groups* groups) {
    cr_world_destroy(groups->world);
    cr_model_destroy(groups->model);
}

TEST(each_of_many_groups_moves_as_it_does_alone) {
    enum { COUNT = 40, STEPS = 70 };
    for (int quality = 0; quality < 2; quality++) {
        Groups all = groups_create(0, COUNT, (crQuality)quality, 1), alone[COUNT];
        Groups shared = groups_create(0, COUNT, (crQuality)quality, 2);
        for (int i = 0; i < COUNT; i++) {
            alone[i] = groups_create(i, 1, (crQuality)quality, 1);
        }
        int impacts = 0, solves = 0, separate = 0;
        for (int k = 0; k < STEPS; k++) {
            CHECK_STATUS(cr_world_step(all.world, NULL), CR_OK);
            CHECK_STATUS(cr_world_step(shared.world, NULL), CR_OK);
            impacts += cr_world_certificate(all.world)->impacts;
            solves += cr_world_certificate(all.world)->solves;
            CHECK(cr_world_hash(all.world) == cr_world_hash(shared.world));
            const crState* s = cr_world_state(all.world);
            for (int i = 0; i < COUNT; i++) {
                CHECK_STATUS(cr_world_step(alone[i].world, NULL), CR_OK);
                separate += cr_world_certificate(alone[i].world)->impacts;
                const crState* one = cr_world_state(alone[i].world);
                CHECK(memcmp(s->q + 7 * GROUP * i, one->q, 7 * GROUP * sizeof(double)) == 0);
                CHECK(memcmp(s->v + 6 * GROUP * i, one->v, 6 * GROUP * sizeof(double)) == 0);
            }
        }
        printf("  %d impacts, %d solves\n", impacts, solves);
        CHECK(impacts > 10 * COUNT && impacts == separate);
        for (int i = 0; i < COUNT; i++) {
            groups_destroy(&alone[i]);
        }
        groups_destroy(&all);
        groups_destroy(&shared);
    }
}

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

// processor time of the steps in which most impacts are, per group, s
static double time_of(int count) {
    Groups groups = groups_create(0, count, CR_QUALITY_FAST, 1);
    double start = processor_seconds();
    int impacts = 0;
    for (int k = 0; k < 30; k++) {
        CHECK_STATUS(cr_world_step(groups.world, NULL), CR_OK);
        impacts += cr_world_certificate(groups.world)->impacts;
    }
    double time = (processor_seconds() - start) / count;
    CHECK(impacts > count);
    groups_destroy(&groups);
    return time;
}

// Passes over the whole world in the solves of single groups made 24 times as many groups four times as dear, each.
TEST(groups_cost_what_they_do_alone) {
    double few = INFINITY, many = INFINITY;
    for (int round = 0; round < 3; round++) {
        few = fmin(few, time_of(64));
        many = fmin(many, time_of(1536));
        if (many < 2.0 * few) break;
    }
    printf("  us a group and step: %.2f of 64, %.2f of 1536\n", 1e6 * few / 30.0, 1e6 * many / 30.0);
    CHECK(many < 3.0 * few);
}
