// test_cell.c - contacts of slow pairs, found for a cell of relative poses and advanced within it: against distances at
// the poses themselves; and that what was kept before changes nothing.
#include <stdlib.h>
#include <string.h>

#include "pairs/pairs.h"
#include "sample_shape.h"
#include "test.h"

// Of the pair's size: by what gaps may be wrong, and too small where a corner that leaves a face within the cell leaves it at the
// end of the cell.
#define FINE_ERROR   1e-7
#define FINE_REACH   5e-4
#define COARSE_ERROR 5e-6
#define COARSE_REACH 4e-3

typedef struct Case {
    crModel* model;
    crPlan plan;
    crPairs pairs;
    crNear pair;
    crCell slot;
    double size[3];  // of the bodies, m
} Case;

static double pair_size(const Case* c) { return fmin(c->size[1], c->size[2]); }

// two bodies with one shape each
static void begin_case(Case* c, const crShape* a, const crShape* b) {
    memset(c, 0, sizeof *c);
    c->model = cr_model_create(NULL);
    crMaterial material = cr_material();
    cr_model_add_material(c->model, &material);
    for (int i = 0; i < 2; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        cr_model_add_shape(c->model, cr_model_add_body(c->model, &def), i == 0 ? a : b, 1);
    }
    c->plan.model = c->model;
    c->size[1] = shape_size(a);
    c->size[2] = shape_size(b);
    c->plan.size = c->size;
    c->pairs = (crPairs){.plan = &c->plan, .cells.many = true, .cells.slot = &c->slot};
    c->pair = (crNear){.shape_a = 0, .shape_b = 1, .body_a = 1, .body_b = 2, .slot = -1};
}

// b moved along the line of the distance until its gap is as asked for, nearly; false: not found
static bool bring_near(const crShape* a, crPose at_a, const crShape* b, crPose* at_b, double gap) {
    crDistance d;
    for (int i = 0; i < 20; i++) {
        if (!cr_distance(a, at_a, b, *at_b, INFINITY, &d)) return false;
        at_b->p = cr_madd(at_b->p, gap - d.contact.gap, d.contact.normal);
    }
    return cr_distance(a, at_a, b, *at_b, INFINITY, &d) && fabs(d.contact.gap - gap) < 1e-9 * shape_size(b);
}

static bool same_points(const crContactPoint* x, const crContactPoint* y, int count) {
    for (int i = 0; i < count; i++) {
        bool same = x[i].gap == y[i].gap && memcmp(&x[i].normal, &y[i].normal, sizeof x[i].normal) == 0 &&
                    memcmp(&x[i].point, &y[i].point, sizeof x[i].point) == 0 &&
                    x[i].feature_a == y[i].feature_a && x[i].feature_b == y[i].feature_b;
        if (!same) return false;
    }
    return true;
}

// the least gap is the distance, or less at the rim of a face; whatever was kept before
TEST(kept_gaps_are_distances) {
    crRandom random = sample_seed(41);
    crHullPool pool = sample_hulls(&random);
    int near[2] = {0}, tried[2] = {0}, close[2] = {0};
    for (int n = 0; n < test_samples(60000); n++) {
        crSampleForm form = n % 3 == 0 ? FORM_SQUARE : FORM_ROUND;
        crShape a = sample_shape(&random, convex_kinds[sample_bits(&random) % CONVEX_KINDS], form, &pool);
        crShape b = sample_shape(&random, convex_kinds[sample_bits(&random) % CONVEX_KINDS], form, &pool);
        Case c;
        begin_case(&c, &a, &b);
        crPose at_a = sample_pose(&random, form), at_b = sample_pose(&random, form);
        at_a.p = cr_scale(sample_uniform(&random, 0.0, 10.0), sample_direction(&random));
        at_b.p = cr_madd(at_a.p, 2.0 * (shape_size(&a) + shape_size(&b)), sample_direction(&random));
        bool coarse = n % 2 == 1;
        double grain = coarse ? CR_CELL_COARSE : CR_CELL_FINE;
        double error = coarse ? COARSE_ERROR : FINE_ERROR, reach = coarse ? COARSE_REACH : FINE_REACH;
        double gap = sample_uniform(&random, -1e-4, 0.01) * pair_size(&c), margin = 0.02 * pair_size(&c);
        if (cr__pairs_has_cells(&c.pairs, 0, 1) && bring_near(&a, at_a, &b, &at_b, gap)) {
            crContactPoint points[CR_MANIFOLD_MAX], again[CR_MANIFOLD_MAX];
            int count = cr__pairs_cell(&c.pairs, &c.pair, &at_a, &at_b, grain, margin, points);
            near[coarse]++;
            tried[coarse] += count > 0;
            // corners and nearly parallel edges are not kept
            if (count < 0) {
                cr_model_destroy(c.model);
                continue;
            }
            if (!test_check(count > 0, __FILE__, __LINE__, "case %d: no contact", n)) break;
            double least = INFINITY;
            crDistance d;
            cr_distance(&a, at_a, &b, at_b, INFINITY, &d);
            for (int i = 0; i < count; i++) {
                least = fmin(least, points[i].gap);
            }
            // the slot held another cell, then this one
            crPose other = at_b;
            other.p = cr_madd(other.p, sample_uniform(&random, 0.0, 2e-3) * pair_size(&c),
                              sample_direction(&random));
            c.pair.slot = 0;
            cr__pairs_cell(&c.pairs, &c.pair, &at_a, &other, grain, margin, again);
            for (int k = 0; k < 2; k++) {
                int kept = cr__pairs_cell(&c.pairs, &c.pair, &at_a, &at_b, grain, margin, again);
                CHECK(kept == count && same_points(points, again, count));
            }
            double off = (least - d.contact.gap) / pair_size(&c);
            close[coarse] += fabs(off) <= error;
            if (!test_check(off <= error && off >= -reach, __FILE__, __LINE__,
                            "case %d: gap %g, distance %g, of the size %g; kinds %d %d", n, least,
                            d.contact.gap, off, (int)a.kind, (int)b.kind))
                break;
        }
        cr_model_destroy(c.model);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(tried[i] > 0.6 * near[i]);
        CHECK(close[i] > 0.9 * tried[i]);
    }
    sample_hulls_destroy(&pool);
}

static int deepest_of(const crContactPoint* points, int count) {
    int deepest = 0;
    for (int i = 1; i < count; i++) {
        if (points[i].gap < points[deepest].gap) deepest = i;
    }
    return deepest;
}

// edges against edges, slopes and rims: the normal belongs to no face, and turns with both
TEST(edges_are_kept) {
    crRandom random = sample_seed(44);
    int met = 0, kept = 0, exact = 0;
    for (int n = 0; n < test_samples(40000); n++) {
        crShape a = cr_shape_box(0.1, 0.2, 0.15), b = cr_shape_box(0.2, 0.1, 0.1);
        if (n % 3 > 0) b = n % 3 == 1 ? cr_shape_cone(0.2, 0.15) : cr_shape_cylinder(0.15, 0.1);
        Case c;
        begin_case(&c, &a, &b);
        crPose at_a = sample_pose(&random, FORM_ROUND), at_b = sample_pose(&random, FORM_ROUND);
        at_b.p = cr_madd(at_a.p, 1.0, sample_direction(&random));
        crContactPoint points[CR_MANIFOLD_MAX];
        crDistance d;
        bool near = bring_near(&a, at_a, &b, &at_b, sample_uniform(&random, 1e-4, 2e-4)) &&
                    cr_distance(&a, at_a, &b, at_b, INFINITY, &d);
        bool edge = near && CR_FEATURE_KIND(d.contact.feature_a) == CR_FEATURE_EDGE;
        if (edge && CR_FEATURE_KIND(d.contact.feature_b) != CR_FEATURE_FACE) {
            met++;
            int count = cr__pairs_cell(&c.pairs, &c.pair, &at_a, &at_b, CR_CELL_FINE, 1e-3, points);
            if (count > 0) {
                const crContactPoint* p = &points[deepest_of(points, count)];
                double off = cr_norm(cr_sub(p->normal, d.contact.normal));
                kept++;
                exact += off <= 1e-5;
                double wrong = (p->gap - d.contact.gap) / pair_size(&c);
                CHECK(wrong <= FINE_ERROR && wrong >= -FINE_REACH);
            }
        }
        cr_model_destroy(c.model);
    }
    CHECK(met > test_samples(40000) / 100);
    CHECK(kept > 0.6 * met);
    // in the others an edge ends within the cell
    CHECK(exact > 0.85 * kept);
}

// what lies on a face is pushed along that face's normal, which no rounding tilts
TEST(normals_of_faces_are_exact) {
    crRandom random = sample_seed(42);
    for (int n = 0; n < test_samples(30000); n++) {
        crShape a = cr_shape_box(sample_uniform(&random, 0.1, 0.3), 0.2, 0.1);
        crShape b = n % 2 == 0 ? cr_shape_cylinder(0.1, 0.05) : cr_shape_box(0.1, 0.1, 0.05);
        Case c;
        begin_case(&c, &a, &b);
        crPose at_a = sample_pose(&random, FORM_ROUND), flat = cr_pose_identity();
        // turned about the common normal, and pushed aside
        double half = sample_uniform(&random, -1.5, 1.5);
        flat.q = (crQuat){cos(half), 0, 0, sin(half)};
        flat.p = cr_vec3(sample_uniform(&random, -0.05, 0.05), sample_uniform(&random, -0.05, 0.05),
                         0.15 + sample_uniform(&random, -1e-6, 1e-6));
        crPose at_b = {cr_pose_point(at_a, flat.p), cr_quat_mul(at_a.q, flat.q)};
        crContactPoint points[CR_MANIFOLD_MAX];
        int count = cr__pairs_cell(&c.pairs, &c.pair, &at_a, &at_b, CR_CELL_FINE, 0.004, points);
        CHECK(count >= 4);
        crVec3 up = cr_quat_rotate(at_a.q, cr_vec3(0, 0, 1));
        for (int i = 0; i < count; i++) {
            CHECK_VEC(points[i].normal, up, 1e-12);
            CHECK_NEAR(points[i].gap, flat.p.z - 0.15, FINE_ERROR * pair_size(&c));
        }
        cr_model_destroy(c.model);
    }
}

static crModel* heap_model(int bodies) {
    crModel* model = cr_model_create(NULL);
    crMaterial material = cr_material();
    material.surface.mu = 0.5;
    cr_model_add_material(model, &material);
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &ground, 1);
    crRandom random = sample_seed(43);
    for (int i = 0; i < bodies; i++) {
        crShape shape = i % 3 == 0   ? cr_shape_box(0.1, 0.08, 0.06)
                        : i % 3 == 1 ? cr_shape_cylinder(0.08, 0.1)
                                     : cr_shape_cone(0.1, 0.1);
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose = (crPose){cr_vec3(0.3 * (i % 3), 0.3 * (i / 3 % 3), 0.2 + 0.3 * (i / 9)),
                            sample_rotation(&random)};
        cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, 1);
    }
    return model;
}

static crWorld* heap_world(const crModel* model, int threads) {
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.quality = CR_QUALITY_FAST;
    def.step.dt = 1.0 / 240.0;
    def.step.threads = threads;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    return world;
}

// a world that begins from a snapshot has kept nothing, and goes the same way
TEST(snapshots_need_nothing_that_is_kept) {
    crModel* model = heap_model(90);
    crWorld *one = heap_world(model, 1), *two = heap_world(model, 2);
    for (int n = 0; n < 400; n++) {
        CHECK_STATUS(cr_world_step(one, NULL), CR_OK);
    }
    size_t bytes = cr_world_save_size(one);
    void* snapshot = malloc(bytes);
    CHECK(snapshot != NULL && cr_world_save(one, snapshot, bytes) == CR_OK);
    CHECK_STATUS(cr_world_load(two, snapshot, bytes, NULL), CR_OK);
    for (int n = 0; n < 120; n++) {
        CHECK_STATUS(cr_world_step(one, NULL), CR_OK);
        CHECK_STATUS(cr_world_step(two, NULL), CR_OK);
        if (!CHECK(cr_world_hash(one) == cr_world_hash(two))) break;
    }
    free(snapshot);
    cr_world_destroy(one);
    cr_world_destroy(two);
    cr_model_destroy(model);
}
