// test_idle.c - steps of a world at rest that are not computed again, against a world that computes all of them; and what ends them.
#include <stdlib.h>
#include <string.h>

#include "carom/carom.h"
#include "test.h"
#include "world/world.h"

enum { BOXES = 5, STEPS = 200 };

static crModel* standing_boxes(void) {
    crModel* model = cr_model_create(NULL);
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &ground, 0);
    for (int i = 0; i < BOXES; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose.p = cr_vec3(0.25 * i, 0.01 * i, 0.1);
        crShape box = cr_shape_box(0.1, 0.1, 0.1);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &box, 0);
    }
    CHECK_STATUS(cr_model_check(model, NULL), CR_OK);
    return model;
}

static crWorld* world_of(const crModel* model) {
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.quality = CR_QUALITY_FAST;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    return world;
}

// a step from a snapshot of the world: nothing of the step before is known
static void step_anew(crWorld* world) {
    size_t size = cr_world_save_size(world);
    void* bytes = malloc(size);
    CHECK_STATUS(cr_world_save(world, bytes, size), CR_OK);
    CHECK_STATUS(cr_world_load(world, bytes, size, NULL), CR_OK);
    CHECK(!cr__world_idle(world, world->step.settings.dt));
    CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    free(bytes);
}

static bool same_step(const crWorld* a, const crWorld* b) {
    crTally x = {0}, y = {0};
    cr_tally_add(&x, cr_world_certificate(a));
    cr_tally_add(&y, cr_world_certificate(b));
    return cr_world_hash(a) == cr_world_hash(b) && memcmp(&x, &y, sizeof x) == 0;
}

TEST(steps_of_a_world_at_rest_are_those_that_would_be_computed) {
    crModel* model = standing_boxes();
    crWorld *world = world_of(model), *other = world_of(model);
    double dt = world->step.settings.dt;
    int idle = 0;
    for (int n = 0; n < STEPS; n++) {
        idle += cr__world_idle(world, dt);
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        step_anew(other);
        CHECK(same_step(world, other));
        CHECK(cr_world_events(world).count == cr_world_events(other).count);
    }
    CHECK(idle > STEPS / 2 && idle < STEPS - 3);
    cr_world_destroy(world);
    cr_world_destroy(other);
    cr_model_destroy(model);
}

TEST(whatever_is_written_ends_the_rest) {
    crModel* model = standing_boxes();
    for (int what = 0; what < 6; what++) {
        crWorld *world = world_of(model), *other = world_of(model);
        double dt = world->step.settings.dt;
        for (int n = 0; n < 100 && !cr__world_idle(world, dt); n++) {
            CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
            step_anew(other);
        }
        CHECK(cr__world_idle(world, dt));
        CHECK(!cr__world_idle(world, 0.5 * dt));
        crState *a = cr_world_state(world), *b = cr_world_state(other);
        double* at[] = {a->q, a->v + 1, a->v + 2, a->force + 6, a->q + 9, a->motor_speed};
        double* as[] = {b->q, b->v + 1, b->v + 2, b->force + 6, b->q + 9, b->motor_speed};
        const double change[] = {1e-9, 0.1, -0.0, 3.0, 0.3, 1.0};
        *at[what] = *as[what] = what == 2 ? change[what] : *at[what] + change[what];
        CHECK(!cr__world_idle(world, dt));
        for (int n = 0; n < 30; n++) {
            CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
            step_anew(other);
            CHECK(same_step(world, other));
        }
        // forces that were there in a step that is idle are no longer
        a->force[6] = b->force[6] = 0.0;
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        step_anew(other);
        CHECK(same_step(world, other));
        cr_world_destroy(world);
        cr_world_destroy(other);
    }
    cr_model_destroy(model);
}
