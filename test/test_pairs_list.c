// The list of near pairs, mended step after step, against all pairs of boxes: bodies that stand, drift, fly and jump.
#include "test.h"

#include <string.h>

#include "collide/broad.h"
#include "pairs/pairs.h"
#include "sample.h"
#include "step/step.h"

#define BODIES 120
#define ROUNDS 150

static crModel* model_create(crRandom* random) {
    crModel* model = cr_model_create(NULL);
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0), box = cr_shape_box(0.1, 0.2, 0.3);
    cr_model_add_shape(model, CR_WORLD, &floor, 0);
    for (int i = 0; i < BODIES; i++) {
        crBodyDef def = cr_body_def();
        def.joint = i % 10 == 9 ? CR_JOINT_FIXED : CR_JOINT_FREE;
        def.mass = 1.0;
        def.inertia = (crSym3){.xx = 0.01, .yy = 0.01, .zz = 0.01};
        def.pose.p =
            cr_vec3(sample_uniform(random, 0, 3), sample_uniform(random, 0, 3), sample_uniform(random, 0, 3));
        int body = cr_model_add_body(model, &def);
        crShape ball = cr_shape_sphere(sample_uniform(random, 0.05, 0.2));
        cr_model_add_shape(model, body, &ball, 0);
        // some have two shapes
        if (i % 3 == 0) cr_model_add_shape(model, body, &box, 0);
    }
    return model;
}

static crModel* step_open(crRandom* random, crStep* step) {
    crModel* model = model_create(random);
    crStepSettings settings = cr_step_settings();
    CHECK_STATUS(cr_step_create(model, &settings, NULL, step, NULL), CR_OK);
    return model;
}

// a quarter of the bodies each: they stand, drift, fly, jump anywhere from time to time
static void move(const crModel* model, crRandom* random, int round, crStep* step) {
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (body->nv == 0) continue;
        double *q = step->state.q + body->q, speeds[] = {0.0, 0.002, 0.08, 0.0};
        for (int k = 0; k < 3; k++) {
            double way = speeds[b % 4] * sample_uniform(random, b % 2 == 0 ? 0.8 : -1.0, 1.0);
            q[k] = b % 4 == 3 && round % 7 == 0 ? sample_uniform(random, 0, 3) : fmod(q[k] + way + 3.0, 3.0);
            step->dynamics.twist[b].v = cr_vec3(way, way, way);
        }
        step->pairs->margin[b] = 0.01 + 2.0 * speeds[b % 4];
    }
    cr_model_kinematics(model, &step->state, &step->dynamics);
}

static crBounds bounds_of(const crModel* model, const crStep* step, int s) {
    const crBodyShape* shape = &model->shapes[s];
    crBounds box = cr_shape_bounds(&shape->shape, step->dynamics.pose[shape->body]);
    double m = shape->body == CR_WORLD || model->bodies[shape->body].nv == 0
                   ? 0.0
                   : step->pairs->margin[shape->body];
    return (crBounds){cr_sub(box.lo, cr_vec3(m, m, m)), cr_add(box.hi, cr_vec3(m, m, m))};
}

static bool meet(crBounds a, crBounds b) {
    return a.lo.x <= b.hi.x && b.lo.x <= a.hi.x && a.lo.y <= b.hi.y && b.lo.y <= a.hi.y && a.lo.z <= b.hi.z &&
           b.lo.z <= a.hi.z;
}

static bool moves(const crModel* model, int body) { return body != CR_WORLD && model->bodies[body].nv > 0; }

static bool may_pair(const crModel* model, int i, int j) {
    int a = model->shapes[i].body, b = model->shapes[j].body;
    return a != b && (moves(model, a) || moves(model, b));
}

static void check_list(const crModel* model, const crStep* step) {
    const crPairs* pairs = step->pairs;
    int missing = 0, wrong = 0, last = 0;
    static crBounds box[2 * BODIES + 1];
    for (int i = 0; i < model->shape_count; i++) {
        box[i] = bounds_of(model, step, i);
    }
    for (int i = 0; i < model->shape_count; i++) {
        for (int j = i + 1; j < model->shape_count; j++) {
            if (!may_pair(model, i, j) || !meet(box[i], box[j])) continue;
            while (last < pairs->count &&
                   (pairs->near[last].shape_a < i ||
                    (pairs->near[last].shape_a == i && pairs->near[last].shape_b < j))) {
                last++;
            }
            missing +=
                !(last < pairs->count && pairs->near[last].shape_a == i && pairs->near[last].shape_b == j);
        }
    }
    for (int k = 0; k < pairs->count; k++) {
        const crNear* near = &pairs->near[k];
        const crNear* before = &pairs->near[k > 0 ? k - 1 : 0];
        wrong += !may_pair(model, near->shape_a, near->shape_b);
        wrong += near->body_a != model->shapes[near->shape_a].body ||
                 near->body_b != model->shapes[near->shape_b].body;
        wrong += k > 0 && (before->shape_a > near->shape_a ||
                           (before->shape_a == near->shape_a && before->shape_b >= near->shape_b));
        wrong += cr__pairs_place(pairs, near->shape_a, near->shape_b) != k;
    }
    CHECK(missing == 0);
    CHECK(wrong == 0);
}

// every pair stands under each of its bodies that moves, once, ascending
static void check_index(const crModel* model, const crPairs* pairs) {
    int wrong = 0, entries = 0, ends = 0;
    for (int b = 0; b < model->nb; b++) {
        for (int i = pairs->first_of[b]; i < pairs->first_of[b + 1]; i++) {
            const crNear* near = &pairs->near[pairs->of[i]];
            entries++;
            wrong += near->body_a != b && near->body_b != b;
            wrong += !moves(model, b) || (i > pairs->first_of[b] && pairs->of[i] <= pairs->of[i - 1]);
        }
    }
    for (int k = 0; k < pairs->count; k++) {
        ends += moves(model, pairs->near[k].body_a) + moves(model, pairs->near[k].body_b);
    }
    CHECK(wrong == 0);
    CHECK(entries == ends);
}

TEST(the_mended_list_has_all_pairs_of_boxes) {
    crRandom random = sample_seed(71);
    crStep step;
    crModel* model = step_open(&random, &step);
    crAllocator heap = cr_allocator_libc();
    crTasks* tasks = NULL;
    CHECK_STATUS(cr__tasks_create(&heap, 3, &tasks), CR_OK);
    int most = 0;
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_STATUS(cr_step_begin(&step, NULL), CR_OK);
        move(model, &random, round, &step);
        CHECK_STATUS(cr__pairs_move(step.pairs, NULL, cr__all(model), &step.dynamics, NULL), CR_OK);
        CHECK_STATUS(cr__pairs_list(step.pairs, NULL, &step.dynamics, &step.scratch, NULL), CR_OK);
        check_list(model, &step);
        cr__pairs_index(step.pairs, round % 2 == 0 ? NULL : tasks);
        check_index(model, step.pairs);
        if (step.pairs->count > most) most = step.pairs->count;
    }
    // of some 9,000 pairs that meet one another in the course of time, few are in it at once
    CHECK(most > BODIES && most < 20 * BODIES);
    CHECK(step.pairs->lists > 10 && step.pairs->lists <= ROUNDS);
    cr__tasks_destroy(tasks);
    cr_step_destroy(&step);
    cr_model_destroy(model);
}

// Bodies fly; the position pass looks within one small margin for all. It leaves the boxes that were made for their flight.
TEST(one_margin_for_all_leaves_the_boxes) {
    crRandom random = sample_seed(72);
    crStep step;
    crModel* model = step_open(&random, &step);
    CHECK_STATUS(cr_step_begin(&step, NULL), CR_OK);
    cr_model_kinematics(model, &step.state, &step.dynamics);
    for (int b = 1; b < model->nb; b++) {
        step.dynamics.twist[b].v = cr_vec3(3.0, -4.0, 5.0);
        step.pairs->margin[b] = 0.2;
    }
    CHECK_STATUS(cr__pairs_move(step.pairs, NULL, cr__all(model), &step.dynamics, NULL), CR_OK);
    static crBounds before[2 * BODIES + 1];
    size_t bytes = (size_t)model->shape_count * sizeof *before;
    memcpy(before, cr__broad_held(step.pairs->boxes.broad), bytes);
    cr__step_flat_margins(step.pairs, 1e-3);
    CHECK_STATUS(cr__pairs_move(step.pairs, NULL, cr__all(model), &step.dynamics, NULL), CR_OK);
    CHECK(memcmp(before, cr__broad_held(step.pairs->boxes.broad), bytes) == 0);
    // a margin beyond the boxes asks for new ones
    cr__step_flat_margins(step.pairs, 2.0);
    CHECK_STATUS(cr__pairs_move(step.pairs, NULL, cr__all(model), &step.dynamics, NULL), CR_OK);
    CHECK(memcmp(before, cr__broad_held(step.pairs->boxes.broad), bytes) != 0);
    cr_step_destroy(&step);
    cr_model_destroy(model);
}
