// Worlds with contacts enough for several chunks of every stage: 1, 2, 3 and 4 threads give the same bits, certificate
// included.
#include <string.h>

#include "base/tasks.h"
#include "model/spatial.h"
#include "sample.h"
#include "test.h"

#define BODIES 900
#define STEPS  70

typedef struct Kind {
    bool boxes, figures;  // every third body is a box; every tenth carries another on a hinge
    double e;
} Kind;

static crModel* model_create(Kind kind) {
    crModel* model = cr_model_create(NULL);
    crRandom random = sample_seed(4);
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    model->materials[0].surface.e = kind.e;
    cr_model_add_shape(model, CR_WORLD, &floor, 0);
    for (int i = 0; i < BODIES; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose.p =
            cr_vec3(0.205 * (i % 10) + sample_uniform(&random, 0, 0.01),
                    0.205 * (i / 10 % 10) + sample_uniform(&random, 0, 0.01), 0.11 + 0.205 * (i / 100));
        crShape ball = cr_shape_sphere(0.1), box = cr_shape_box(0.08, 0.09, 0.1);
        int body = cr_model_add_body(model, &def);
        cr_model_add_shape(model, body, kind.boxes && i % 3 == 0 ? &box : &ball, 0);
        if (!kind.figures || i % 10 != 0) continue;
        def = cr_body_def();
        def.joint = CR_JOINT_HINGE;
        def.parent = body;
        def.pose.p = cr_vec3(0.0, 0.0, 0.02);
        crShape small = cr_shape_sphere(0.05);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &small, 0);
    }
    return model;
}

static crWorld* world_create(const crModel* model, int threads) {
    crWorldDef def = cr_world_def();
    crWorld* world = NULL;
    def.model = model;
    def.step.dt = 1.0 / 240.0;
    def.step.quality = CR_QUALITY_FAST;
    def.step.threads = threads;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    return world;
}

static bool same_certificates(const crCertificate* a, const crCertificate* b) {
    const double x[] = {a->penetration, a->energy.change, a->energy.gain,
                        a->energy.work, a->eta,           a->laws.cone};
    const double y[] = {b->penetration, b->energy.change, b->energy.gain,
                        b->energy.work, b->eta,           b->laws.cone};
    return memcmp(x, y, sizeof x) == 0 && a->outcome == b->outcome && a->contacts == b->contacts;
}

static void check(Kind kind) {
    crModel* model = model_create(kind);
    crWorld* world[4];
    int different = 0, most = 0;
    for (int k = 0; k < 4; k++) {
        world[k] = world_create(model, k + 1);
    }
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < 4; k++) {
            CHECK_STATUS(cr_world_step(world[k], NULL), CR_OK);
            different += cr_world_hash(world[k]) != cr_world_hash(world[0]);
            different += !same_certificates(cr_world_certificate(world[k]), cr_world_certificate(world[0]));
        }
        int contacts = cr_world_certificate(world[0])->contacts;
        if (contacts > most) most = contacts;
    }
    CHECK(different == 0);
    CHECK(most > 1500);
    for (int k = 0; k < 4; k++) {
        cr_world_destroy(world[k]);
    }
    cr_model_destroy(model);
}

TEST(balls) { check((Kind){.e = 0.0}); }
TEST(balls_and_boxes) { check((Kind){.boxes = true}); }
TEST(balls_that_bounce) { check((Kind){.e = 0.5}); }
TEST(figures_among_them) { check((Kind){.boxes = true, .figures = true}); }

// several threads check a state as one does: the first number that is wrong is named, quaternions become unit
TEST(states_are_checked) {
    enum { MANY = 3000 };
    crModel* model = cr_model_create(NULL);
    for (int i = 0; i < MANY; i++) {
        crBodyDef def = cr_body_def();
        def.joint = i % 7 == 0 ? CR_JOINT_HINGE : CR_JOINT_FREE;
        crShape ball = cr_shape_sphere(0.1);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &ball, 0);
    }
    crAllocator heap = cr_allocator_libc();
    crTasks* tasks = NULL;
    CHECK_STATUS(cr__tasks_create(&heap, 3, &tasks), CR_OK);
    crArena arena;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    crState one, more;
    CHECK_STATUS(cr_state_create(model, &arena, &one), CR_OK);
    CHECK_STATUS(cr_state_create(model, &arena, &more), CR_OK);
    crRandom random = sample_seed(11);
    for (int i = 0; i < 200; i++) {
        // body 1 and every seventh after it are on hinges
        int body = 2 + 7 * (int)sample_uniform(&random, 0, MANY / 7 - 1), at = model->bodies[body].q + 3;
        double value = i % 4 == 0   ? 1.0 + 5e-7
                       : i % 4 == 1 ? (double)NAN
                       : i % 4 == 2 ? 2.0
                                    : (double)INFINITY;
        one.q[at] = more.q[at] = value;
        if (i % 8 == 3) one.v[model->nv - 1] = more.v[model->nv - 1] = (double)NAN;
        crError a = {0}, b = {0};
        crStatus expected = cr_state_check(model, &one, &a);
        CHECK(cr__state_check(tasks, model, &more, &b) == expected && (i % 4 == 0) == (expected == CR_OK));
        CHECK(memcmp(&a, &b, sizeof a) == 0);
        if (expected == CR_OK) CHECK(memcmp(one.q, more.q, (size_t)model->nq * sizeof *one.q) == 0);
        one.q[at] = more.q[at] = 1.0;
        one.v[model->nv - 1] = more.v[model->nv - 1] = 0.0;
    }
    cr_arena_destroy(&arena);
    cr__tasks_destroy(tasks);
    cr_model_destroy(model);
}
