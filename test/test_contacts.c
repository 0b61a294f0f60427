// test_contacts.c - the contacts of many pairs, found by one thread or by several, and while bodies move.
//
// Threads take pairs in chunks and what they find is put together in the order of pairs: lists must agree in
// every bit, also where a pair has more points than a chunk has room for and the way back is taken. Checked
// besides: sorted by shapes, children and features, gaps within the margin, speed = n.(u_b - u_a) from the
// state's velocities. Pairs that are clear of each other are skipped while bodies have not come far: lists
// must be those of cr_collide on every pair, whatever ways the bodies went.
#include <string.h>

#include "sample_shape.h"
#include "test.h"

#define SIDE 7

// a lattice of balls, boxes and capsules that nearly touch, on a floor; a table of many boxes among them
static crModel* lattice(crRandom* random, crCompound** table) {
    crModel* model = cr_model_create(NULL);
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0), slats[12];
    cr_model_add_shape(model, CR_WORLD, &floor, 0);
    for (int i = 0; i < 12; i++) {
        slats[i] = cr_shape_box(0.05, 0.7, 0.05);
        slats[i].pose.p = cr_vec3(0.12 * i, 0.65, 0.0);
    }
    CHECK_STATUS(cr_compound_create(slats, 12, NULL, table, NULL), CR_OK);
    crShape shape = cr_shape_compound(*table);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p.z = 0.0499;
    cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, 0);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        def.pose.p =
            cr_vec3(0.2 * (i % SIDE) + 0.01 * sample_uniform(random, -1.0, 1.0), 0.2 * (i / SIDE % SIDE),
                    0.2 + 0.2 * (i / (SIDE * SIDE)) + 0.01 * sample_uniform(random, -1.0, 1.0));
        def.pose.q = i % 3 == 0 ? cr_quat_identity() : sample_rotation(random);
        shape = i % 3 == 0   ? cr_shape_box(0.1, 0.1, 0.1)
                : i % 3 == 1 ? cr_shape_sphere(0.1)
                             : cr_shape_capsule(0.06, 0.05);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, 0);
    }
    return model;
}

static bool in_order(const crStepContact* a, const crStepContact* b) {
    if (a->shape_a != b->shape_a) return a->shape_a < b->shape_a;
    if (a->shape_b != b->shape_b) return a->shape_b < b->shape_b;
    if (a->point.child_a != b->point.child_a) return a->point.child_a < b->point.child_a;
    if (a->point.child_b != b->point.child_b) return a->point.child_b < b->point.child_b;
    if (a->point.feature_a != b->point.feature_a) return a->point.feature_a < b->point.feature_a;
    return a->point.feature_b <= b->point.feature_b;
}

// velocity of a body's point; what v does not move is at rest here
static crVec3 velocity(const crStep* step, int body, crVec3 x) {
    const crBody* b = &step->model->bodies[body];
    if (b->nv == 0) return cr_vec3(0, 0, 0);
    const double* v = step->state.v + b->v;
    crVec3 com = cr_pose_point(step->dynamics.pose[body], b->com);
    return cr_add(cr_vec3(v[0], v[1], v[2]), cr_cross(cr_vec3(v[3], v[4], v[5]), cr_sub(x, com)));
}

static void check_list(const crStep* step, double margin) {
    int most = 0, run = 0;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        crVec3 u =
            cr_sub(velocity(step, c->body_b, c->point.point), velocity(step, c->body_a, c->point.point));
        CHECK_NEAR(c->speed, cr_dot(u, c->point.normal), 1e-14);
        CHECK(c->point.gap <= margin && c->row == -1 && c->packable);
        bool same = i > 0 && c->shape_a == c[-1].shape_a && c->shape_b == c[-1].shape_b;
        run = same ? run + 1 : 1;
        most = run > most ? run : most;
        CHECK(i == 0 || in_order(&c[-1], c));
    }
    CHECK(most > 16);
}

// the pointer to the surface is each step's own
static bool same_contact(const crStepContact* a, const crStepContact* b) {
    return memcmp(&a->point, &b->point, sizeof a->point) == 0 && a->shape_a == b->shape_a &&
           a->shape_b == b->shape_b && a->speed == b->speed && a->delta == b->delta && a->fast == b->fast;
}

TEST(contacts_do_not_depend_on_the_number_of_threads) {
    static const int threads[] = {1, 2, 3, 8};
    crRandom random = sample_seed(9031);
    crCompound* table = NULL;
    crModel* model = lattice(&random, &table);
    crStep step[4];
    crStepSettings settings = cr_step_settings();
    const double margin = 0.02;
    for (int k = 0; k < 4; k++) {
        settings.threads = threads[k];
        CHECK_STATUS(cr_step_create(model, &settings, NULL, &step[k], NULL), CR_OK);
        crRandom speeds = sample_seed(5);
        for (int i = 0; i < model->nv; i++) {
            step[k].state.v[i] = sample_uniform(&speeds, -1.0, 1.0);
        }
        // the first time nobody knows how many there will be
        for (int again = 0; again < 3; again++) {
            CHECK_STATUS(cr_step_begin(&step[k], NULL), CR_OK);
            CHECK_STATUS(cr_step_forces(&step[k], settings.dt, NULL), CR_OK);
            CHECK_STATUS(cr_step_collide(&step[k], again == 2 ? margin : 1e-3, NULL), CR_OK);
        }
        check_list(&step[k], margin);
        CHECK(step[k].contacts.count == step[0].contacts.count && step[0].contacts.count > 500);
        for (int i = 0; i < step[0].contacts.count; i++) {
            CHECK(same_contact(&step[0].contacts.list[i], &step[k].contacts.list[i]));
        }
    }
    for (int k = 0; k < 4; k++) {
        cr_step_destroy(&step[k]);
    }
    cr_model_destroy(model);
    cr_compound_destroy(table);
}

// turns about z for ever
static void turn(void* ctx, double time, crDriven* out) {
    (void)ctx;
    out->pose.q = cr_quat_axis_angle(cr_vec3(0, 0, 1), time);
    out->omega = cr_vec3(0, 0, 1);
}

// bodies of all convex kinds close to each other, on a plate that turns, and a floor
static crModel* crowd(crRandom* random, const crHullPool* pool, int count) {
    crModel* model = cr_model_create(NULL);
    crShape shape = cr_shape_halfspace(cr_vec3(0, 0, 1), -0.3);
    cr_model_add_shape(model, CR_WORLD, &shape, 0);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_DRIVEN;
    def.drive = turn;
    shape = cr_shape_box(2.0, 0.3, 0.2);
    cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, 0);
    def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    for (int i = 0; i < count; i++) {
        shape = sample_shape(random, convex_kinds[i % CONVEX_KINDS], FORM_ROUND, pool);
        double k = 0.3 / shape_size(&shape);
        bool scales = shape.kind != CR_SHAPE_HULL;
        if (scales) shape.size = cr_scale(k, shape.size);
        def.pose.p = cr_vec3(sample_uniform(random, -1, 1), sample_uniform(random, -1, 1),
                             sample_uniform(random, 0, 1));
        def.pose.q = sample_rotation(random);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, 0);
    }
    return model;
}

// contacts of every pair of shapes, by cr_collide
static void check_all_pairs(const crStep* step, double margin) {
    const crModel* model = step->model;
    const crPose* pose = step->dynamics.pose;
    int at = 0;
    for (int a = 0; a < model->shape_count; a++) {
        for (int b = a + 1; b < model->shape_count; b++) {
            const crBodyShape *x = &model->shapes[a], *y = &model->shapes[b];
            if (model->bodies[x->body].nv + model->bodies[y->body].nv == 0) continue;
            crContactPoint points[CR_MANIFOLD_MAX];
            int count = cr_collide(&x->shape, pose[x->body], &y->shape, pose[y->body], margin, points,
                                   CR_MANIFOLD_MAX, NULL);
            for (int i = 0; i < count; i++, at++) {
                CHECK(at < step->contacts.count);
                if (at >= step->contacts.count) return;
                const crStepContact* c = &step->contacts.list[at];
                CHECK(c->shape_a == a && c->shape_b == b && c->point.gap == points[i].gap &&
                      c->point.feature_a == points[i].feature_a && c->point.point.x == points[i].point.x);
            }
        }
    }
    CHECK(at == step->contacts.count);
}

TEST(contacts_of_bodies_that_wander_are_those_of_all_pairs) {
    crRandom random = sample_seed(8123);
    crHullPool pool = sample_hulls(&random);
    crModel* model = crowd(&random, &pool, 28);
    crStepSettings settings = cr_step_settings();
    crStep step;
    CHECK_STATUS(cr_step_create(model, &settings, NULL, &step, NULL), CR_OK);
    for (int round = 0; round < test_samples(400); round++) {
        // mostly a little, now and then far; some stay
        for (int b = 2; b < model->nb; b++) {
            double* q = step.state.q + model->bodies[b].q;
            double far = sample_log(&random, 1e-12, round % 20 == 0 ? 1.0 : 1e-3);
            if (sample_uniform(&random, 0, 1) < 0.2) continue;
            crVec3 d = sample_direction(&random), axis = sample_direction(&random);
            for (int k = 0; k < 3; k++) {
                q[k] = 0.999 * q[k] + far * (k == 0 ? d.x : k == 1 ? d.y : d.z);
            }
            crQuat turned = cr_quat_mul(cr_quat_axis_angle(axis, far), (crQuat){q[3], q[4], q[5], q[6]});
            q[3] = turned.w;
            q[4] = turned.x;
            q[5] = turned.y;
            q[6] = turned.z;
        }
        step.state.time += round % 7 == 0 ? 0.01 : 0.0;
        double margin = sample_log(&random, 1e-4, 0.1);
        CHECK_STATUS(cr_step_begin(&step, NULL), CR_OK);
        CHECK_STATUS(cr_step_forces(&step, settings.dt, NULL), CR_OK);
        CHECK_STATUS(cr_step_collide(&step, margin, NULL), CR_OK);
        check_all_pairs(&step, margin);
    }
    cr_step_destroy(&step);
    cr_model_destroy(model);
    sample_hulls_destroy(&pool);
}
