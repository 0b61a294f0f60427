// test_step_rest.c - a world at rest: every step ends where it began, to the bit, with v = 0; what moves, however slowly, goes on.
#include <stdlib.h>
#include <string.h>

#include "carom/batch.h"
#include "carom/carom.h"
#include "carom/robot.h"
#include "carom/stages.h"
#include "sample.h"
#include "test.h"

static crModel* begin_model(double mu, crVec3 up) {
    crModel* model = cr_model_create(NULL);
    crMaterial material = cr_material();
    material.surface.mu = mu;
    cr_model_add_material(model, &material);
    crShape ground = cr_shape_halfspace(up, 0.0);
    cr_model_add_shape(model, CR_WORLD, &ground, 1);
    return model;
}

static void add_box(crModel* model, crVec3 half, crVec3 p, crQuat q) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose = (crPose){p, q};
    crShape box = cr_shape_box(half.x, half.y, half.z);
    cr_model_add_shape(model, cr_model_add_body(model, &def), &box, 1);
}

static crWorld* world_of(const crModel* model, crQuality quality) {
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.quality = quality;
    def.step.dt = 1.0 / 240.0;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    return world;
}

static void run(crWorld* world, int steps) {
    for (int n = 0; n < steps; n++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    }
}

static bool same_state(crWorld* a, crWorld* b) {
    const crState *s = cr_world_state(a), *t = cr_world_state(b);
    const crModel* model = cr_world_model(a);
    return memcmp(s->q, t->q, (size_t)model->nq * sizeof(double)) == 0 &&
           memcmp(s->v, t->v, (size_t)model->nv * sizeof(double)) == 0 && s->time == t->time;
}

static crStatus no_force(void* ctx, const crModel* model, const crState* state, const crDynamics* d,
                         double* force) {
    (void)ctx;
    (void)model;
    (void)state;
    (void)d;
    (void)force;
    return CR_OK;
}

// a function that gives no force changes no bit; its next answer is not known, so the world is not still
TEST(functions_that_give_no_force_change_nothing) {
    crModel* model = begin_model(0.5, cr_vec3(0, 0, 1));
    crRandom random = sample_seed(1);
    add_box(model, cr_vec3(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.3), sample_rotation(&random));
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.dt = 1.0 / 240.0;
    crWorld *plain = NULL, *asked = NULL;
    CHECK_STATUS(cr_world_create(&def, &plain, NULL), CR_OK);
    def.force = no_force;
    CHECK_STATUS(cr_world_create(&def, &asked, NULL), CR_OK);
    run(plain, 900);
    run(asked, 900);
    CHECK(cr_world_stages(plain)->rest.still && !cr_world_stages(asked)->rest.still);
    CHECK(same_state(plain, asked));
    cr_world_destroy(plain);
    cr_world_destroy(asked);
    cr_model_destroy(model);
}

// thrown boxes come to rest, and then no bit of q, v or forces changes any more
TEST(worlds_at_rest_stay_as_they_are_to_the_bit) {
    int still = 0;
    enum { WORLDS = 12 };
    for (int i = 0; i < WORLDS; i++) {
        crRandom random = sample_seed((uint64_t)i + 1);
        crModel* model = begin_model(0.5, cr_vec3(0, 0, 1));
        add_box(model, cr_vec3(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.3), sample_rotation(&random));
        crWorld* world = world_of(model, i % 2 == 0 ? CR_QUALITY_FAST : CR_QUALITY_ACCURATE);
        crState* s = cr_world_state(world);
        for (int j = 0; j < 6; j++) {
            s->v[j] = sample_uniform(&random, -1.0, 1.0);
        }
        run(world, 900);
        double q[7], zero[6] = {0};
        memcpy(q, s->q, sizeof q);
        bool rests = cr_world_stages(world)->rest.still;
        still += rests;
        double change = 0.0, gain = 0.0;
        for (int n = 0; n < 130 && rests; n++) {
            run(world, 1);
            CHECK(cr_world_stages(world)->rest.still);
            CHECK(memcmp(q, s->q, sizeof q) == 0 && memcmp(zero, s->v, sizeof zero) == 0);
            change += fabs(cr_world_certificate(world)->energy.change);
            gain += cr_world_certificate(world)->energy.gain;
            // the contacts carry the weight in every one of these steps
            double up = 0.0;
            const crStep* step = cr_world_stages(world);
            for (int k = 0; k < step->contacts.count; k++) {
                up += fabs(step->contacts.list[k].impulse.z);
            }
            CHECK_NEAR(up, model->bodies[1].mass * 9.81 / 240.0, 1e-9);
        }
        CHECK(change == 0.0 && gain == 0.0);
        // a push by a millionth of its weight is not lost: it is held by friction; beyond friction it moves
        s->v[0] = 1e-9;
        run(world, 1);
        CHECK(!cr_world_stages(world)->rest.still);
        s->force[0] = 0.7 * model->bodies[1].mass * 9.81;
        run(world, 24);
        // a = (.7 - .5) g for a tenth of a second
        CHECK_NEAR(s->v[0], 0.2 * 9.81 * 0.1, 5e-3);
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
    CHECK(still >= WORLDS - 2);
}

// Boxes that are set down side by side, each by itself, are at rest within a second and have gained no energy.
TEST(what_is_set_down_rests_soon) {
    crRandom random = sample_seed(77);
    for (int i = 0; i < 20; i++) {
        crModel* model = begin_model(sample_uniform(&random, 0.1, 0.8), cr_vec3(0, 0, 1));
        for (int k = 0; k < 1 + i; k++) {
            crVec3 half = cr_vec3(sample_log(&random, 0.02, 0.3), sample_log(&random, 0.02, 0.3),
                                  sample_log(&random, 0.02, 0.3));
            add_box(model, half, cr_vec3(k, 0, half.z), cr_quat_identity());
        }
        crWorld* world = world_of(model, CR_QUALITY_FAST);
        double gain = 0.0;
        for (int n = 0; n < 240; n++) {
            run(world, 1);
            gain += cr_world_certificate(world)->energy.gain;
        }
        CHECK(cr_world_stages(world)->rest.still && gain == 0.0);
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
}

// without friction a slow body goes on: 1e-12 m/s is more than rounding
TEST(slow_is_not_at_rest) {
    crModel* model = begin_model(0.0, cr_vec3(0, 0, 1));
    add_box(model, cr_vec3(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.1), cr_quat_identity());
    crWorld* world = world_of(model, CR_QUALITY_FAST);
    run(world, 240);
    crState* s = cr_world_state(world);
    for (double v = 1e-3; v > 1e-13; v *= 0.1) {
        double x = s->q[0];
        s->v[0] = v;
        run(world, 100);
        CHECK_NEAR(s->v[0], v, 1e-15);
        CHECK_NEAR(s->q[0] - x, v * 100.0 / 240.0, 1e-15);
    }
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// a slope: gravity along it is held by friction, and less friction lets the box slide at g (sin - mu cos)
TEST(slopes_hold_or_slide) {
    double angle = 0.3;
    crVec3 up = cr_vec3(sin(angle), 0.0, cos(angle));
    crQuat turn = cr_quat_axis_angle(cr_vec3(0, 1, 0), angle);
    for (int slides = 0; slides < 2; slides++) {
        double mu = tan(angle) * (slides != 0 ? 0.999 : 1.001);
        crModel* model = begin_model(mu, up);
        add_box(model, cr_vec3(0.1, 0.1, 0.02), cr_scale(0.02, up), turn);
        crWorld* world = world_of(model, CR_QUALITY_ACCURATE);
        run(world, 480);
        double speed = cr_norm(cr_vec3(cr_world_state(world)->v[0], 0, cr_world_state(world)->v[2]));
        double expected = slides != 0 ? 2.0 * 9.81 * (sin(angle) - mu * cos(angle)) : 0.0;
        CHECK_NEAR(speed, expected, 1e-5);
        CHECK(cr_world_stages(world)->rest.still == (slides == 0));
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
}

// batches pass over steps of worlds at rest: states, tallies and the measured steps are those of worlds
TEST(batches_have_the_bits_of_worlds_at_rest) {
    enum { COUNT = 6, STEPS = 400 };
    crModel* model = begin_model(0.5, cr_vec3(0, 0, 1));
    add_box(model, cr_vec3(0.1, 0.08, 0.1), cr_vec3(0, 0, 0.15), cr_quat_identity());
    add_box(model, cr_vec3(0.1, 0.1, 0.06), cr_vec3(0.02, 0, 0.3), cr_quat_identity());
    crBatchDef def = cr_batch_def();
    def.model = model;
    def.count = COUNT;
    def.step.quality = CR_QUALITY_FAST;
    def.step.dt = 1.0 / 240.0;
    crBatch* batch = NULL;
    CHECK_STATUS(cr_batch_create(&def, &batch, NULL), CR_OK);
    double v[12 * COUNT], q[14 * COUNT];
    crRandom random = sample_seed(9);
    for (int i = 0; i < 12 * COUNT; i++) {
        v[i] = sample_uniform(&random, -0.3, 0.3);
    }
    CHECK_STATUS(cr_batch_write(batch, CR_BATCH_V, v, NULL, NULL), CR_OK);
    crWorld* worlds[COUNT];
    for (int i = 0; i < COUNT; i++) {
        worlds[i] = world_of(model, CR_QUALITY_FAST);
        memcpy(cr_world_state(worlds[i])->v, &v[12 * i], 12 * sizeof *v);
    }
    int still = 0;
    for (int call = 0; call < 3; call++) {
        CHECK_STATUS(cr_batch_step(batch, def.step.dt, STEPS, NULL), CR_OK);
        CHECK_STATUS(cr_batch_read(batch, CR_BATCH_Q, q, NULL), CR_OK);
        CHECK_STATUS(cr_batch_read(batch, CR_BATCH_V, v, NULL), CR_OK);
        for (int i = 0; i < COUNT; i++) {
            crTally tally = {0};
            for (int n = 0; n < STEPS; n++) {
                run(worlds[i], 1);
                cr_tally_add(&tally, cr_world_certificate(worlds[i]));
                still += cr_world_stages(worlds[i])->rest.still;
            }
            crBatchResult result;
            const crState* s = cr_world_state(worlds[i]);
            CHECK_STATUS(cr_batch_result(batch, i, &result, NULL), CR_OK);
            CHECK(memcmp(s->q, &q[14 * i], 14 * sizeof *q) == 0);
            CHECK(memcmp(s->v, &v[12 * i], 12 * sizeof *v) == 0);
            CHECK(memcmp(&result.tally, &tally, sizeof tally) == 0);
            CHECK(tally.measured >= STEPS / 60);
        }
    }
    CHECK(still > COUNT * STEPS);
    for (int i = 0; i < COUNT; i++) {
        cr_world_destroy(worlds[i]);
    }
    cr_batch_destroy(batch);
    cr_model_destroy(model);
}

// boxes thrown into a pit
static crModel* heap_model(int count, uint64_t seed) {
    crModel* model = begin_model(0.5, cr_vec3(0, 0, 1));
    crRandom random = sample_seed(seed);
    for (int k = 0; k < 4; k++) {
        crVec3 inwards = cr_vec3(k < 2 ? 1.0 - 2.0 * k : 0.0, k < 2 ? 0.0 : 5.0 - 2.0 * k, 0.0);
        crShape wall = cr_shape_halfspace(inwards, -0.45);
        cr_model_add_shape(model, CR_WORLD, &wall, 1);
    }
    for (int i = 0; i < count; i++) {
        crVec3 at = cr_vec3(0.4 * (i % 2) - 0.2, 0.4 * (i / 2 % 2) - 0.2, 0.3 + 0.32 * (i / 4));
        add_box(model, cr_vec3(0.1, 0.1, 0.1), at, sample_rotation(&random));
    }
    return model;
}

// Towers of cubes at several places, with a heavy ball that rolls among them; two of the towers are in its way.
static crModel* towers_model(void) {
    crModel* model = begin_model(0.5, cr_vec3(0, 0, 1));
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 1 + i % 4; k++) {
            add_box(model, cr_vec3(0.1, 0.1, 0.1), cr_vec3(0.5 * (i % 4), 0.5 * (i / 4), 0.1 + 0.2 * k),
                    cr_quat_identity());
        }
    }
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p = cr_vec3(-2.0, 0.5, 0.15);
    crShape ball = cr_shape_sphere(0.15);
    cr_model_add_shape(model, cr_model_add_body(model, &def), &ball, 1);
    return model;
}

static bool same_certificate(const crCertificate* a, const crCertificate* b) {
    return memcmp(a, b, sizeof *a) == 0;
}

// The world forgets what it knows beside its snapshot: the next step computes everything.
static void reload(crWorld* world) {
    enum { ROOM = 1 << 18 };
    static char bytes[ROOM];
    size_t size = cr_world_save_size(world);
    CHECK(size <= sizeof bytes);
    CHECK_STATUS(cr_world_save(world, bytes, size), CR_OK);
    CHECK_STATUS(cr_world_load(world, bytes, size, NULL), CR_OK);
}

static bool same_contacts(const crWorld* a, const crWorld* b, int* count) {
    enum { MOST = 1024 };
    static crContactForce x[MOST], y[MOST];
    int n = *count = cr_world_contacts(a, x, MOST);
    if (n != cr_world_contacts(b, y, MOST) || n > MOST) return false;
    // of one pair contacts stand in one order; pairs that lie stand after the others
    for (int i = 0; i < n; i++) {
        bool found = false;
        for (int k = 0; k < n && !found; k++) {
            found = memcmp(&x[i].point, &y[k].point, sizeof x[i].point) == 0 &&
                    memcmp(&x[i].force, &y[k].force, sizeof x[i].force) == 0;
        }
        if (!found) return false;
    }
    return true;
}

// Islands at rest are not computed. States, forces and certificates are those of a world in which every step computes all of
// it, also where something is reached, pushed, moved or carried away.
TEST(islands_that_lie_are_as_if_they_were_computed) {
    enum { STEPS = 900 };
    for (int quality = CR_QUALITY_FAST; quality <= CR_QUALITY_ACCURATE; quality++) {
        crModel* model = towers_model();
        crWorld* lying = world_of(model, (crQuality)quality);
        crWorld* made = world_of(model, (crQuality)quality);
        crWorld* both[2] = {lying, made};
        int ball = model->nb - 1, most = 0, least = model->nb;
        for (int n = 0; n < STEPS; n++) {
            for (int k = 0; k < 2; k++) {
                crState* s = cr_world_state(both[k]);
                if (n == 100) s->v[6 * (ball - 1)] = 12.0;
                if (n == 500) s->v[1] = 0.3;              // a push
                if (n == 550) s->q[7 * 5 + 2] += 1e-3;    // lifted
                if (n == 600) s->force[6 * 8 + 2] = 1.0;  // held a little
                if (n == 650) s->force[6 * 8 + 2] = 0.0;
                if (k == 1) reload(both[k]);
                run(both[k], 1);
            }
            const crStep *p = cr_world_stages(lying), *m = cr_world_stages(made);
            int count = 0;
            if ((n > 597 && n < 606) || (n > 647 && n < 654))
                printf("n %d q %d still %d %d lying %d %d contacts %d %d\n", n, quality, p->rest.still,
                       m->rest.still, p->rest.lying.count, m->rest.lying.count, p->certificate.contacts,
                       m->certificate.contacts),
                    printf("   %.3g %.3g, warm %d %d\n", p->certificate.residual, m->certificate.residual,
                           p->warm.count, m->warm.count);
            CHECK(same_state(lying, made));
            CHECK(same_certificate(&p->certificate, &m->certificate));
            CHECK(p->warm.count == m->warm.count &&
                  memcmp(p->warm.force, m->warm.force, (size_t)p->warm.count * sizeof *p->warm.force) == 0);
            CHECK(same_contacts(lying, made, &count) && (count > 0 || n < 5));
            most = p->rest.lying.count > most ? p->rest.lying.count : most;
            if (n > 150 && n < 400 && p->rest.lying.count < least) least = p->rest.lying.count;
        }
        // all but the ball lay, and some lay while others fell
        CHECK(most >= model->nb - 3 && least > 5 && least < model->nb - 5);
        cr_world_destroy(lying);
        cr_world_destroy(made);
        cr_model_destroy(model);
    }
}

// A heap comes to rest for good. Steps that are passed over have the states, certificates and contacts of steps that are made.
TEST(heaps_come_to_rest_and_their_steps_are_passed_over) {
    enum { COUNT = 60, STEPS = 2400, STILL = 150 };
    crModel* model = heap_model(COUNT, 3);
    crWorld *passed = world_of(model, CR_QUALITY_FAST), *made = world_of(model, CR_QUALITY_FAST);
    int still = 0;
    for (int n = 0; n < STEPS && still < STILL; n++) {
        run(passed, 1);
        cr_world_stages(made)->rest.still = false;
        run(made, 1);
        const crStep *p = cr_world_stages(passed), *m = cr_world_stages(made);

        CHECK(same_state(passed, made));
        CHECK(same_certificate(&p->certificate, &m->certificate));
        CHECK(p->contacts.count == m->contacts.count);
        for (int i = 0; i < p->contacts.count && i < m->contacts.count; i++) {
            CHECK(cr_norm(cr_sub(p->contacts.list[i].impulse, m->contacts.list[i].impulse)) == 0.0);
        }
        still += p->rest.still;
    }
    CHECK(still == STILL);
    // the floor carries the weight of all
    const crStep* step = cr_world_stages(passed);
    double up = 0.0, weight = 0.0;
    for (int i = 0; i < step->contacts.count; i++) {
        bool ground = step->contacts.list[i].body_a == CR_WORLD;
        if (ground) up += step->contacts.list[i].impulse.z * 240.0;
    }
    for (int b = 1; b <= COUNT; b++) {
        weight += model->bodies[b].mass * 9.81;
    }
    CHECK_NEAR(up, weight, 1e-5 * weight);
    // the highest one is pulled up by twenty times its weight: it leaves with 19 g, but for its neighbours' friction
    crState* s = cr_world_state(passed);
    int top = 1;
    for (int b = 2; b <= COUNT; b++) {
        if (s->q[7 * (b - 1) + 2] > s->q[7 * (top - 1) + 2]) top = b;
    }
    s->force[6 * (top - 1) + 2] = 20.0 * model->bodies[top].mass * 9.81;
    run(passed, 24);
    CHECK(!step->rest.still);
    double speed = s->v[6 * (top - 1) + 2], free = 19.0 * 9.81 * 0.1;
    CHECK(speed > 0.8 * free && speed < free + 1e-6);
    cr_world_destroy(passed);
    cr_world_destroy(made);
    cr_model_destroy(model);
}

// whatever is written into a world at rest is seen by its next step
TEST(writing_ends_the_rest) {
    crModel* model = heap_model(40, 5);
    crWorld* world = world_of(model, CR_QUALITY_FAST);
    crState* s = cr_world_state(world);
    for (int n = 0; n < 2400 && !cr_world_stages(world)->rest.still; n++) {
        run(world, 1);
    }
    CHECK(cr_world_stages(world)->rest.still);
    double* written[] = {&s->q[2], &s->v[3], &s->force[7], &s->v[11]};
    const double values[] = {s->q[2] + 1e-9, 1e-6, 1e-3, -1e-6};
    for (int k = 0; k < 4; k++) {
        *written[k] = values[k];
        run(world, 1);
        // a box set down elsewhere, or a force that friction holds, leaves the heap at rest
        if (k == 1 || k == 3) CHECK(!cr_world_stages(world)->rest.still);
        if (k == 0) CHECK_NEAR(s->q[2], values[0], 1e-10);
        s->force[7] = 0.0;
        run(world, 400);
        CHECK(cr_world_stages(world)->rest.still);
    }
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// a plate with thirty boxes on a slope: a large island that slides as slowly as that is not taken for one at rest
TEST(loaded_slopes_hold_or_slide) {
    double angle = 0.3;
    crVec3 up = cr_vec3(sin(angle), 0.0, cos(angle));
    crQuat turn = cr_quat_axis_angle(cr_vec3(0, 1, 0), angle);
    for (int i = 0; i < 4; i++) {
        bool slides = i % 2 != 0, fast = i < 2;
        double off = fast ? 1e-2 : 1e-3, mu = tan(angle) * (slides ? 1.0 - off : 1.0 + off);
        crModel* model = begin_model(mu, up);
        add_box(model, cr_vec3(0.6, 0.6, 0.02), cr_scale(0.02, up), turn);
        for (int k = 0; k < 30; k++) {
            crVec3 at = cr_vec3(0.2 * (k % 6) - 0.5, 0.2 * (k / 6) - 0.4, 0.04 + 0.05);
            add_box(model, cr_vec3(0.05, 0.05, 0.05), cr_quat_rotate(turn, at), turn);
        }
        crWorld* world = world_of(model, fast ? CR_QUALITY_FAST : CR_QUALITY_ACCURATE);
        run(world, 240);
        double speed = cr_norm(cr_vec3(cr_world_state(world)->v[0], 0, cr_world_state(world)->v[2]));
        double expected = slides ? 9.81 * (sin(angle) - mu * cos(angle)) : 0.0;
        CHECK_NEAR(speed, expected, 0.02 * 9.81 * sin(angle) * off);
        CHECK(cr_world_stages(world)->rest.still == !slides);
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
}

// an arm of three boxes on two hinges, one with a servo and a limit, that falls on the ground
static crModel* arm_model(void) {
    crModel* model = begin_model(0.6, cr_vec3(0, 0, 1));
    crBodyDef def = cr_body_def();
    int parent = CR_WORLD;
    for (int k = 0; k < 3; k++) {
        def.parent = parent;
        def.joint = k == 0 ? CR_JOINT_FREE : CR_JOINT_HINGE;
        def.axis = cr_vec3(0, 1, 0);
        def.pose = cr_pose_identity();
        def.pose.p = k == 0 ? cr_vec3(0, 0, 0.4) : cr_vec3(0.3, 0, 0);
        def.dof[0].lower = k == 0 ? -INFINITY : -1.0;
        def.dof[0].upper = k == 0 ? INFINITY : k == 1 ? 0.02 : 1.0;
        def.dof[0].damping = k == 0 ? 0.0 : 0.05;
        crShape box = cr_shape_box(0.12, 0.1, 0.05 + 0.01 * k);
        parent = cr_model_add_body(model, &def);
        cr_model_add_shape(model, parent, &box, 1);
    }
    crActuator servo = cr_actuator_position(7, 60.0, 1.0);
    CHECK(cr_model_add_actuator(model, &servo) == 0);
    return model;
}

static bool at_rest(crWorld* world) {
    const crState* s = cr_world_state(world);
    for (int i = 0; i < cr_world_model(world)->nv; i++) {
        if (s->v[i] != 0.0) return false;
    }
    return true;
}

// A tree comes to v = 0; steps that are passed over are those that a world without the last steps computes; a control or a
// force wakes it.
TEST(trees_come_to_rest) {
    crModel* model = arm_model();
    crWorld* world = world_of(model, CR_QUALITY_ACCURATE);
    run(world, 1200);
    CHECK(at_rest(world));
    CHECK(cr_world_certificate(world)->contacts >= 4);
    size_t size = cr_world_save_size(world);
    void* saved = malloc(size);
    CHECK_STATUS(cr_world_save(world, saved, size), CR_OK);
    crWorld* again = world_of(model, CR_QUALITY_ACCURATE);
    CHECK_STATUS(cr_world_load(again, saved, size, NULL), CR_OK);
    for (int i = 0; i < 20; i++) {
        run(world, 1);
        // a world that is loaded knows of no rest: its first step is computed
        CHECK_STATUS(cr_world_load(again, saved, size, NULL), CR_OK);
        cr_world_state(again)->time = cr_world_state(world)->time - 1.0 / 240.0;
        run(again, 1);
        CHECK(at_rest(again) && memcmp(cr_world_state(again)->q, cr_world_state(world)->q,
                                       (size_t)model->nq * sizeof(double)) == 0);
    }
    CHECK_STATUS(cr_world_load(again, saved, size, NULL), CR_OK);
    run(again, 20);
    CHECK(cr_world_hash(again) == cr_world_hash(world));
    cr_world_state(world)->ctrl[0] = 0.8;
    cr_world_state(again)->ctrl[0] = 0.8;
    run(world, 40);
    run(again, 40);
    CHECK(!at_rest(world) && cr_world_hash(again) == cr_world_hash(world));
    // back, and at rest again
    cr_world_state(world)->ctrl[0] = 0.0;
    run(world, 1500);
    CHECK(at_rest(world));
    cr_world_state(world)->force[2] = 300.0;
    run(world, 1);
    CHECK(!at_rest(world));
    free(saved);
    cr_world_destroy(world);
    cr_world_destroy(again);
    cr_model_destroy(model);
}

#define LENGTH 0.3  // of a pendulum, m

// balls that hang side by side and touch, each on a hinge of its own
static crModel* cradle_model(int balls) {
    crModel* model = begin_model(0.0, cr_vec3(0, 0, 1));
    for (int k = 0; k < balls; k++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_HINGE;
        def.axis = cr_vec3(0, 1, 0);
        def.pose.p = cr_vec3(0.05 * k, 0, 1);
        crShape ball = cr_shape_sphere(0.025);
        ball.pose.p = cr_vec3(0, 0, -LENGTH);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &ball, 1);
    }
    return model;
}

// w^2 of a ball of radius .025 m on a hinge
static double stiffness_of_swing(const crModel* model) {
    return cr_norm(model->gravity) * LENGTH / (LENGTH * LENGTH + 0.4 * 0.025 * 0.025);
}

// Balls that touch and swing together at 1e-10 m/s press each other with nothing: v = v0 cos(w t), however small, up to a step's phase. No step
// is near.
TEST(slow_swings_go_on) {
    enum { BALLS = 3, STEPS = 400 };
    crModel* model = cradle_model(BALLS);
    crWorld* world = world_of(model, CR_QUALITY_ACCURATE);
    double v0 = 1e-10 / LENGTH, w = sqrt(stiffness_of_swing(model)), off = 0.0, residual = 0.0;
    crState* s = cr_world_state(world);
    for (int k = 0; k < BALLS; k++) {
        s->v[k] = v0;
    }
    int touching = 0;
    for (int n = 1; n <= STEPS; n++) {
        run(world, 1);
        const crCertificate* found = cr_world_certificate(world);
        residual = fmax(residual, found->residual);
        touching += found->contacts > 0;
        double mean = 0.0;
        for (int k = 0; k < BALLS; k++) {
            mean += s->v[k] / (double)BALLS;
        }
        off = fmax(off, fabs(mean - v0 * cos(w * n / 240.0)));
    }
    printf("  %d of %d steps with contacts: off by %.1e of the speed, residual %.1e\n", touching, STEPS,
           off / v0, residual);
    CHECK(touching > STEPS / 2 && off <= w / 240.0 * v0 && residual <= 1e-6);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// At its turning point a pendulum has v = 0 and is not at rest: balls that touch swing back and forth with their energy, and
// fall from rest by h g sin as one.
TEST(turning_points_are_no_rest) {
    enum { BALLS = 2 };
    crModel* model = cradle_model(BALLS);
    crWorld* world = world_of(model, CR_QUALITY_ACCURATE);
    crState* s = cr_world_state(world);
    double ww = stiffness_of_swing(model), h = 1.0 / 240.0, angle = 0.4;
    for (int turn = 0; turn < 4; turn++) {
        // begins so that a step ends at rest, where the scheme is v += -h ww sin(q at the middle)
        double start = (turn % 2 == 0 ? 1.0 : -1.0) * angle, v = turn < 2 ? 0.0 : h * ww * sin(start);
        for (int k = 0; k < BALLS; k++) {
            s->q[k] = start;
            s->v[k] = v;
        }
        for (int n = turn < 2 ? 1 : 0; n < 3; n++) {
            run(world, 1);
            CHECK(!cr_world_stages(world)->rest.still);
            for (int k = 0; k < BALLS; k++) {
                CHECK(fabs(s->v[k] + n * h * ww * sin(start)) <= 1e-2 * h * ww);
            }
        }
    }
    run(world, 240);
    for (int k = 0; k < BALLS; k++) {
        double energy = 0.5 * s->v[k] * s->v[k] + ww * (1.0 - cos(s->q[k]));
        CHECK(fabs(energy / (ww * (1.0 - cos(angle))) - 1.0) <= sqrt(ww) * h);  // of a step's phase
    }
    cr_world_destroy(world);
    cr_model_destroy(model);
}
