// test_position.c - what overlaps is pushed out at once, and the certificate says what is left.
//
// Overlap is measured by cr_collide at the final poses, every pair of shapes: not by what the pass listed.
// Bodies pushed into floor, wall and each other by up to 3 mm, of every convex shape and in any position, end
// within the deadband and the share of it that position_tol allows; velocities stay; bodies move by a few
// overlaps, not more. Then the same of bodies that land turning fast, step by step, alone and beside a heap in
// motion.
#include "deepest.h"
#include "sample_shape.h"
#include "step_scene.h"

#define SHAPES 3

static double deepest(const crModel* model, const crPose* pose) {
    double most = 0.0;
    for (int i = 0; i < model->shape_count; i++) {
        for (int j = i + 1; j < model->shape_count; j++) {
            const crBodyShape *a = &model->shapes[i], *b = &model->shapes[j];
            if (a->body == b->body) continue;
            crContactPoint points[CR_MANIFOLD_MAX];
            int n = cr_collide(&a->shape, pose[a->body], &b->shape, pose[b->body], 0.0, points,
                               CR_MANIFOLD_MAX, NULL);
            for (int k = 0; k < n; k++) {
                most = fmax(most, -points[k].gap);
            }
        }
    }
    return most;
}

// the largest deadband, m
static double widest(const crStep* step) {
    double size = 0.0;
    for (int b = 1; b < step->model->nb; b++) {
        size = fmax(size, cr_step_size(step, b));
    }
    return step->settings.deadband * size;
}

// the body sinks along d until its lowest point is `by` beyond the plane n.x = offset
static void sink(const crShape* shape, crVec3 n, double offset, double by, crPose* pose) {
    crVec3 lowest = shape_support(shape, *pose, cr_neg(n));
    pose->p = cr_madd(pose->p, offset - by - cr_dot(n, lowest), n);
}

static crModel* open_model(double mu) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, mu, 0.0);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_ground(model, cr_vec3(1, 0, 0), material);
    return model;
}

static void set_pose(double* q, crPose pose) {
    memcpy(q, &pose.p, sizeof pose.p);
    memcpy(q + 3, &pose.q, sizeof pose.q);
}

// of mass 1, some of it gathered in the middle: the less inertia, the more a push turns
static int add_body(crRandom* random, crModel* model, crShape shape) {
    crBodyDef def = cr_body_def();
    crMass mass = cr_mass_of_shape(&shape, 1.0);
    double scale = sample_log(random, 0.02, 1.0) / mass.mass;
    crSym3 I = mass.inertia;
    def.joint = CR_JOINT_FREE;
    def.mass = 1.0;
    def.com = mass.com;
    def.inertia =
        (crSym3){scale * I.xx, scale * I.xy, scale * I.xz, scale * I.yy, scale * I.yz, scale * I.zz};
    int body = cr_model_add_body(model, &def);
    cr_model_add_shape(model, body, &shape, 1);
    return body;
}

// any position, or nearly flat: a rim that is pushed out turns the opposite one in
static crPose pick_pose(crRandom* random) {
    if (sample_bits(random) % 2 == 0) return sample_pose(random, FORM_ROUND);
    crPose pose = sample_pose(random, FORM_SQUARE);
    crVec3 axis = sample_direction(random);
    double half = 0.5 * sample_log(random, 1e-5, 1e-2);
    crQuat tilt = {1.0, half * axis.x, half * axis.y, half * axis.z};
    pose.q = cr_quat_normalize(cr_quat_mul(tilt, pose.q));
    return pose;
}

// one to three bodies in a row along y: the first in the corner, each into the one before
static double place(crRandom* random, const crHullPool* pool, crModel* model, double* q) {
    double worst = 0.0, edge = 0.0;
    int count = 1 + (int)(sample_bits(random) % SHAPES);
    for (int i = 0; i < count; i++) {
        crShapeKind kind = convex_kinds[sample_bits(random) % CONVEX_KINDS];
        crShape shape = sample_shape(random, kind, FORM_ROUND, pool);
        double by = sample_log(random, 1e-6, 3e-3) * shape_size(&shape);
        crPose pose = pick_pose(random);
        sink(&shape, cr_vec3(0, 0, 1), 0.0, by, &pose);
        if (sample_bits(random) % 2 == 0)
            sink(&shape, cr_vec3(1, 0, 0), 0.0, by, &pose);
        else
            sink(&shape, cr_vec3(1, 0, 0), 0.0, -0.1, &pose);
        sink(&shape, cr_vec3(0, 1, 0), edge, by, &pose);
        edge = cr_dot(cr_vec3(0, 1, 0), shape_support(&shape, pose, cr_vec3(0, 1, 0)));
        int body = add_body(random, model, shape);
        set_pose(q + model->bodies[body].q, pose);
        worst = fmax(worst, by);
    }
    return worst;
}

TEST(overlaps_are_pushed_out_at_once) {
    crRandom random = sample_seed(501);
    crHullPool pool = sample_hulls(&random);
    double worst = 0.0, farthest = 0.0;
    int general = 0;
    for (int round = 0; round < test_samples(6000); round++) {
        Scene s = {.model = open_model(0.5)};
        double q[7 * SHAPES];
        double by = place(&random, &pool, s.model, q);
        crStepSettings settings = scene_settings(CR_METHOD_CONE);
        scene_open(&s, &settings);
        memcpy(s.step.state.q, q, (size_t)s.model->nq * sizeof(double));
        s.step.state.v[0] = 0.25;
        CHECK_STATUS(cr_step_begin(&s.step, NULL), CR_OK);
        if (!CHECK_STATUS(cr_step_position_pass(&s.step, NULL), CR_OK)) break;
        cr_model_kinematics(s.model, &s.step.state, &s.step.dynamics);
        double left = deepest(s.model, s.step.dynamics.pose);
        double delta = widest(&s.step);
        CHECK(left <= (1.0 + settings.position_tol) * delta);
        CHECK_NEAR(s.step.certificate.penetration, left, 1e-14);
        CHECK(s.step.state.v[0] == 0.25);
        for (int i = 0; i < s.model->nq; i++) {
            farthest = fmax(farthest, fabs(s.step.state.q[i] - q[i]) / (by + delta));
        }
        worst = fmax(worst, left / delta);
        general += s.model->nb > 2;
        scene_close(&s);
    }
    sample_hulls_destroy(&pool);
    printf("  worst overlap left %.3f deadbands; farthest move %.1f overlaps; %d with several bodies\n",
           worst, farthest, general);
}

// what lies nearly flat on a floor, beside a wall, with more on top, turning at up to 10 rad/s: each step ends
// without overlap, and the certificate is not below what the shapes say
TEST(landings_that_turn_fast_leave_no_overlap) {
    crRandom random = sample_seed(502);
    crHullPool pool = sample_hulls(&random);
    double worst = 0.0;
    for (int round = 0; round < test_samples(300); round++) {
        crModel* model = open_model(sample_uniform(&random, 0.0, 1.0));
        double size = 0.0, top = 0.0, q[7 * 4];
        for (int i = 0; i < 4; i++) {
            crShapeKind kind = convex_kinds[sample_bits(&random) % CONVEX_KINDS];
            crShape shape = sample_shape(&random, kind, FORM_ROUND, &pool);
            size = fmax(size, shape_size(&shape));
            crPose pose = pick_pose(&random);
            sink(&shape, cr_vec3(1, 0, 0), 0.0, -1e-3, &pose);
            sink(&shape, cr_vec3(0, 0, 1), top, -1e-3, &pose);
            top = shape_support(&shape, pose, cr_vec3(0, 0, 1)).z;
            int body = add_body(&random, model, shape);
            set_pose(q + model->bodies[body].q, pose);
        }
        crStepSettings settings = cr_step_settings();
        settings.quality = (crQuality)(round % 3);
        crWorld* world = scene_world(model, &settings);
        crState* state = cr_world_state(world);
        memcpy(state->q, q, sizeof q);
        for (int i = 0; i < model->nv; i++) {
            state->v[i] = sample_uniform(&random, -1, 1) * (i % 6 < 3 ? size : 10.0);
        }
        double delta = widest(cr_world_stages(world));
        for (int i = 0; i < 60; i++) {
            if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
            cr_world_pose(world, CR_WORLD);
            double left = deepest(model, cr_world_stages(world)->dynamics.pose);
            double said = cr_world_certificate(world)->penetration;
            worst = fmax(worst, left / delta);
            CHECK(left <= said + 1e-12 * size);
            // while islands move, fast lifts bodies by no more than the step dissipated
            bool all = settings.quality != CR_QUALITY_FAST;
            CHECK(left <= (all ? (1.0 + settings.position_tol) * delta : 1e-2 * size));
        }
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
    sample_hulls_destroy(&pool);
    printf("  worst overlap left %.3f deadbands\n", worst);
}

enum { LAND = 3, HEAP = 18 };

// boxes of edge .2 m far from all else, three on three, in two layers; one of them in x, y, z order
static crPose heap_pose(int i) {
    return (crPose){cr_vec3(50.0 + 0.2 * (i % 3), 0.2 * (i / 3 % 3), 0.1 + 0.2 * (i / 9)), {1, 0, 0, 0}};
}

// Three bodies land on the floor and beside a wall, turning fast, while a heap elsewhere moves by short steps: no step leaves them
// deeper in each other than 1 % of the narrower one's width, though the lift may take more energy than they lost.
TEST(landings_beside_a_heap_in_motion) {
    crRandom random = sample_seed(505);
    crHullPool pool = sample_hulls(&random);
    double worst = 0.0;
    int bounded = 0, rounds = test_samples(100);
    for (int round = 0; round < rounds; round++) {
        crModel* model = open_model(sample_uniform(&random, 0.0, 1.0));
        double top = 0.0, q[7 * (LAND + HEAP)], v[6 * HEAP], size[LAND];
        for (int i = 0; i < LAND; i++) {
            crShape shape =
                sample_shape(&random, convex_kinds[sample_bits(&random) % CONVEX_KINDS], FORM_ROUND, &pool);
            crPose pose = pick_pose(&random);
            size[i] = shape_size(&shape);
            sink(&shape, cr_vec3(1, 0, 0), 0.0, -1e-3, &pose);
            sink(&shape, cr_vec3(0, 0, 1), top, -1e-3, &pose);
            top = shape_support(&shape, pose, cr_vec3(0, 0, 1)).z;
            int body = add_body(&random, model, shape);
            set_pose(q + model->bodies[body].q, pose);
        }
        for (int i = 0; i < HEAP; i++) {
            int body = add_body(&random, model, cr_shape_box(0.1, 0.1, 0.1));
            set_pose(q + model->bodies[body].q, heap_pose(i));
        }
        for (int i = 0; i < 6 * HEAP; i++) {
            v[i] = sample_uniform(&random, -0.5, 0.5);
        }
        crStepSettings settings = cr_step_settings();
        settings.quality = CR_QUALITY_FAST;
        crWorld* world = scene_world(model, &settings);
        crState* state = cr_world_state(world);
        memcpy(state->q, q, sizeof q);
        for (int i = 0; i < 6 * LAND; i++) {
            state->v[i] = sample_uniform(&random, -1, 1) * (i % 6 < 3 ? size[i / 6] : 200.0);
        }
        for (int i = 0; i < 60; i++) {
            memcpy(state->q + 7 * LAND, q + 7 * LAND, sizeof q - 7 * LAND * sizeof *q);
            memcpy(state->v + 6 * LAND, v, sizeof v);
            if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
            bounded += cr_world_certificate(world)->outcome == CR_OUTCOME_BOUNDED;
            cr_world_pose(world, CR_WORLD);
            double share = deepest_share(world, model, LAND + 1);
            worst = fmax(worst, share);
            CHECK(share <= 1e-2);
        }
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
    sample_hulls_destroy(&pool);
    CHECK(bounded > 50 * rounds);
    printf("  worst overlap left %.2e of a body, %d bounded steps\n", worst, bounded);
}

// A thin capsule lies across another at rest, deeper than 1 % of its width, though less than 1 % of its reach, beside a heap that
// moves: it is lifted in the first step.
TEST(thin_bodies_beside_a_heap_in_motion) {
    crRandom random = sample_seed(506);
    crModel* model = open_model(0.5);
    crShape capsule = cr_shape_capsule(0.03, 0.11);
    double q[7 * (2 + HEAP)], half = sqrt(0.5);
    for (int i = 0; i < 2; i++) {
        set_pose(q + 7 * i, (crPose){cr_vec3(1, 0, i == 0 ? 0.03 : 0.09 - 0.0012),
                                     {half, i == 0 ? 0 : half, i == 0 ? half : 0, 0}});
        add_body(&random, model, capsule);
    }
    for (int i = 0; i < HEAP; i++) {
        set_pose(q + 7 * (2 + i), heap_pose(i));
        add_body(&random, model, cr_shape_box(0.1, 0.1, 0.1));
    }
    crStepSettings settings = cr_step_settings();
    settings.quality = CR_QUALITY_FAST;
    crWorld* world = scene_world(model, &settings);
    crState* state = cr_world_state(world);
    memcpy(state->q, q, sizeof q);
    for (int i = 12; i < model->nv; i++) {
        state->v[i] = sample_uniform(&random, -0.5, 0.5);
    }
    CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    CHECK(cr_world_certificate(world)->outcome == CR_OUTCOME_BOUNDED);
    cr_world_pose(world, CR_WORLD);
    double share = deepest_share(world, model, 3);
    test_check(share < 0.01, __FILE__, __LINE__, "overlap %g of the width", share);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

enum { ROW = 100 };

// boxes of edge .2 m in a row on the ground, so many deadbands apart, the second half pushed into the first by 5
static void open_row(Scene* s, double apart, double* q) {
    crRandom random = sample_seed(503);
    s->model = open_model(0.5);
    crStepSettings settings = scene_settings(CR_METHOD_CONE);
    for (int i = 0; i < ROW; i++) {
        add_body(&random, s->model, cr_shape_box(0.1, 0.1, 0.1));
    }
    scene_open(s, &settings);
    double delta = widest(&s->step);
    for (int i = 0; i < ROW; i++) {
        double x = 1.0 + (0.2 + apart * delta) * i + (i >= ROW / 2 ? -(5.0 + apart) * delta : 0.0);
        set_pose(q + 7 * i, (crPose){cr_vec3(x, 0, 0.1), {1, 0, 0, 0}});
    }
    memcpy(s->step.state.q, q, (size_t)s->model->nq * sizeof(double));
}

// One pair of a hundred boxes is too deep. Where those beside it have room they alone move; where they have none, all make room.
TEST(few_deep_pairs_move_what_is_around) {
    for (int tight = 0; tight < 2; tight++) {
        Scene s = {0};
        double q[7 * ROW];
        open_row(&s, tight ? 0.0 : 1.5, q);
        CHECK_STATUS(cr_step_begin(&s.step, NULL), CR_OK);
        CHECK_STATUS(cr_step_position_pass(&s.step, NULL), CR_OK);
        cr_model_kinematics(s.model, &s.step.state, &s.step.dynamics);
        double left = deepest(s.model, s.step.dynamics.pose), delta = widest(&s.step);
        CHECK(left <= (1.0 + s.step.settings.position_tol) * delta);
        CHECK_NEAR(s.step.certificate.penetration, left, 1e-14);
        int moved = 0;
        for (int i = 0; i < ROW; i++) {
            moved += memcmp(s.step.state.q + 7 * i, q + 7 * i, 7 * sizeof(double)) != 0;
        }
        printf("  %s: %d of %d boxes moved, %.2f deadbands left\n", tight ? "tight" : "loose", moved, ROW,
               left / delta);
        CHECK(tight ? moved > 6 : moved >= 2 && moved <= 6);
        scene_close(&s);
    }
}
