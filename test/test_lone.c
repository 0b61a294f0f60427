// test_lone.c - steps of a lone body on a plane or in the air (world/lone.h) against the same steps by the stages: state, forces of
// contacts and certificate, bit by bit.
#include "world/lone.h"

#include <string.h>

#include "carom/carom.h"
#include "sample.h"
#include "test.h"

enum { MODELS = 60, STEPS = 400 };

// a ball, a cube or a box above a tilted floor; every number is drawn
static crModel* drawn_model(crRandom* random, int kind) {
    crModel* model = cr_model_create(NULL);
    crMaterial material = cr_material();
    material.density = sample_log(random, 100.0, 10000.0);
    material.surface.mu = kind % 5 == 4 ? 0.0 : sample_uniform(random, 0.0, 1.5);
    int own = cr_model_add_material(model, &material);
    crShape ground = cr_shape_halfspace(sample_direction(random), sample_uniform(random, -0.5, 0.5));
    if (kind % 2 == 0) ground = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &ground, own);
    crVec3 up = ground.size;
    model->gravity = cr_scale(-sample_uniform(random, 2.0, 15.0), up);
    if (kind % 3 == 1) model->gravity = cr_madd(model->gravity, 0.5, sample_direction(random));
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p = cr_scale(ground.offset + sample_uniform(random, 0.15, 0.4), up);
    def.linear_drag = kind % 7 == 3 ? 0.1 : 0.0;
    double a = sample_log(random, 0.04, 0.1);
    crShape shape = kind % 3 == 0   ? cr_shape_sphere(a)
                    : kind % 3 == 1 ? cr_shape_box(a, a, a)
                                    : cr_shape_box(a, 0.7 * a, sample_uniform(random, 0.2, 1.0) * a);
    if (kind % 4 == 3) shape.pose.p = cr_vec3(0.1 * a, -0.2 * a, 0.05 * a);
    cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, own);
    CHECK_STATUS(cr_model_check(model, NULL), CR_OK);
    return model;
}

static crWorld* thrown_world(crRandom* random, const crModel* model) {
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.quality = CR_QUALITY_FAST;
    def.step.dt = 1.0 / sample_uniform(random, 150.0, 500.0);
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    crState* s = cr_world_state(world);
    crQuat q = sample_rotation(random);
    memcpy(s->q + 3, (double[]){q.w, q.x, q.y, q.z}, 4 * sizeof(double));
    for (int j = 0; j < 6; j++) {
        s->v[j] = sample_uniform(random, -1.0, 1.0) * (j < 3 ? 1.0 : 6.0);
        s->force[j] = sample_bits(random) % 4 == 0 ? sample_uniform(random, -0.01, 0.01) : 0.0;
    }
    return world;
}

// numbers of the certificate as bytes: those that are none too
static bool same_certificate(const crCertificate* a, const crCertificate* b) {
    crTally x = {0}, y = {0};
    cr_tally_add(&x, a);
    cr_tally_add(&y, b);
    return memcmp(&x, &y, sizeof x) == 0;
}

typedef struct Seen {
    int flown, touched, pushed, slid, still, left, measured;
} Seen;

static void compare_step(crWorld* world, const crLone* lone, Seen* seen) {
    crLoneState s;
    crCertificate c;
    const crStep* step = &world->step;
    double h = step->settings.dt;
    CHECK(cr__lone_fits(lone, world));
    cr__lone_take(world, &s);
    bool made = cr__lone_step(lone, step->model, h, &s, &c);
    CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    seen->left += !made;
    if (!made) return;
    const crCertificate* by_stages = cr_world_certificate(world);
    CHECK(memcmp(s.q, step->state.q, sizeof s.q) == 0);
    CHECK(memcmp(s.v, step->state.v, sizeof s.v) == 0);
    CHECK(s.time == step->state.time);
    CHECK(s.warm_count == step->warm.count);
    size_t bytes = (size_t)step->warm.count * sizeof *s.warm;
    bool forces = bytes == 0 || memcmp(s.warm, step->warm.force, bytes) == 0;
    CHECK(s.warm_count != step->warm.count || forces);
    CHECK(same_certificate(&c, by_stages));
    CHECK(s.still == step->rest.still);
    seen->still += s.still;
    seen->measured += !isnan(c.overlap);
    seen->flown += c.contacts == 0;
    seen->touched += s.warm_count > 0;
    seen->slid += c.energy.change < -1e-9 * c.energy.size && s.warm_count > 0;
    seen->pushed += c.penetration > 0.0;
}

TEST(steps_of_lone_bodies_have_the_bits_of_the_stages) {
    crRandom random = sample_seed(77);
    Seen seen = {0};
    for (int kind = 0; kind < MODELS; kind++) {
        crModel* model = drawn_model(&random, kind);
        crWorld* world = thrown_world(&random, model);
        crLone lone;
        cr__lone_prepare(world, &lone);
        CHECK(lone.flies && lone.touches);
        for (int n = 0; n < STEPS; n++) {
            compare_step(world, &lone, &seen);
        }
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
    // every regime was there, and few steps were left to the stages
    CHECK(seen.flown > 1000 && seen.touched > 3000 && seen.slid > 1000);
    CHECK(seen.pushed > 500 && seen.still > 500 && seen.measured > 300);
    CHECK(seen.left < MODELS * STEPS / 10);
    printf("%d flown, %d touched, %d slid, %d pushed out, %d still, %d left\n", seen.flown, seen.touched,
           seen.slid, seen.pushed, seen.still, seen.left);
}

// a lone step that the stages must make changes nothing
TEST(what_is_not_plain_is_left_alone) {
    crRandom random = sample_seed(5);
    crModel* model = drawn_model(&random, 1);
    crWorld* world = thrown_world(&random, model);
    crLone lone;
    cr__lone_prepare(world, &lone);
    crLoneState s, before;
    crCertificate c;
    memset(&s, 0, sizeof s);
    cr__lone_take(world, &s);
    s.v[0] = (double)NAN;
    before = s;
    CHECK(!cr__lone_step(&lone, model, 0.01, &s, &c));
    CHECK(memcmp(s.q, before.q, sizeof s.q) == 0 && s.time == before.time);
    s.v[0] = 1e9;
    CHECK(!cr__lone_step(&lone, model, 0.01, &s, &c));
    s.v[0] = 0.0;
    s.q[3] *= 1.1;
    CHECK(!cr__lone_step(&lone, model, 0.01, &s, &c));
    cr_world_destroy(world);
    // restitution, and a solver by name
    model->materials[1].surface.e = 0.5;
    model->materials[0].surface.e = 0.5;
    world = thrown_world(&random, model);
    cr__lone_prepare(world, &lone);
    CHECK(lone.flies && !lone.touches);
    cr_world_destroy(world);
    cr_model_destroy(model);
}
