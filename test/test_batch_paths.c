// test_batch_paths.c - worlds of a batch with models and paths of their own, against worlds that are stepped one by one; which
// bodies hit each other, against the events of these.
#include <stdlib.h>
#include <string.h>

#include "carom/batch.h"
#include "carom/carom.h"
#include "gpu/kernel.h"
#include "sample.h"
#include "test.h"

enum { COUNT = 9, SAMPLES = 5, HITS = 6, BALLS = 3 };

// balls above a floor and beside each other; every number is drawn
static crModel* drawn_model(uint64_t seed, int balls) {
    crRandom random = sample_seed(seed);
    crModel* model = cr_model_create(NULL);
    crMaterial material = cr_material();
    material.surface.e = sample_uniform(&random, 0.3, 0.9);
    material.surface.mu = sample_uniform(&random, 0.0, 1.0);
    cr_model_add_material(model, &material);
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), sample_uniform(&random, -0.02, 0.0));
    cr_model_add_shape(model, CR_WORLD, &ground, 1);
    model->gravity = cr_vec3(sample_uniform(&random, -3.0, 3.0), 0.0, -sample_uniform(&random, 5.0, 15.0));
    for (int i = 0; i < balls; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose.p = cr_vec3(0.21 * i, 0.0, 0.11 + sample_uniform(&random, 0.0, 0.1));
        crShape ball = cr_shape_sphere(sample_uniform(&random, 0.08, 0.1));
        cr_model_add_shape(model, cr_model_add_body(model, &def), &ball, 1);
    }
    CHECK_STATUS(cr_model_check(model, NULL), CR_OK);
    return model;
}

static crStepSettings settings_of(void) {
    crStepSettings s = cr_step_settings();
    s.quality = CR_QUALITY_FAST;
    s.dt = 1.0 / 200.0;
    return s;
}

typedef struct Paths {
    crModel* models[COUNT];
    double h[COUNT * SAMPLES], v[COUNT * 6 * BALLS];
    int steps[COUNT * SAMPLES];
} Paths;

static void draw_paths(Paths* p) {
    crRandom random = sample_seed(5);
    for (int i = 0; i < COUNT; i++) {
        p->models[i] = drawn_model((uint64_t)i, BALLS);
        for (int k = 0; k < SAMPLES; k++) {
            p->h[i * SAMPLES + k] = sample_uniform(&random, 0.002, 0.01);
            p->steps[i * SAMPLES + k] = (int)sample_uniform(&random, 0.0, 14.0);
        }
        for (int j = 0; j < 6 * BALLS; j++) {
            p->v[i * 6 * BALLS + j] = sample_uniform(&random, -1.0, 1.0);
        }
    }
    p->steps[2 * SAMPLES + 1] = 0;
    memset(&p->steps[4 * SAMPLES], 0, SAMPLES * sizeof(int));
}

static crBatch* batch_of(const Paths* p, crBackend backend, int threads) {
    crBatchDef def = cr_batch_def();
    def.model = p->models[0];
    def.step = settings_of();
    def.count = COUNT;
    def.backend = backend;
    def.threads = threads;
    def.hits = HITS;
    crBatch* batch = NULL;
    CHECK_STATUS(cr_batch_create(&def, &batch, NULL), CR_OK);
    CHECK_STATUS(cr_batch_models(batch, (const crModel* const*)p->models, NULL), CR_OK);
    CHECK_STATUS(cr_batch_write(batch, CR_BATCH_V, p->v, NULL, NULL), CR_OK);
    return batch;
}

// Pairs that hit in the events of one step: sorted by bodies within one impact.
typedef struct Seen {
    crBatchHit hit[64];
    int count, all;
} Seen;

static int by_bodies(const void* x, const void* y) {
    const crBatchHit *a = x, *b = y;
    return a->a != b->a ? a->a - b->a : a->b - b->b;
}

static void see(const crWorld* world, Seen* seen) {
    crEvents events = cr_world_events(world);
    for (int i = 0; i < events.count;) {
        const crEvent* first = &events.events[i];
        int begun = seen->count;
        for (; i < events.count && events.events[i].impact == first->impact; i++) {
            const crEvent* e = &events.events[i];
            if (e->impact < 0) continue;
            crBatchHit hit = {e->body_a < e->body_b ? e->body_a : e->body_b,
                              e->body_a < e->body_b ? e->body_b : e->body_a, false};
            bool known = false;
            for (int k = begun; k < seen->count; k++) {
                known = known || by_bodies(&seen->hit[k], &hit) == 0;
            }
            seen->all++;
            if (!known && seen->count < 64) seen->hit[seen->count++] = hit;
        }
        qsort(&seen->hit[begun], (size_t)(seen->count - begun), sizeof *seen->hit, by_bodies);
        for (int k = begun + 1; k < seen->count; k++) {
            seen->hit[k].together = true;
        }
    }
}

// world i by itself along its path; its samples against those of the batch
static void check_world(const Paths* p, int i, crBatch* batch, const double* q, bool as_dt, int* hits) {
    crWorldDef def = cr_world_def();
    def.model = p->models[i];
    def.step = settings_of();
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    memcpy(cr_world_state(world)->v, &p->v[i * 6 * BALLS], 6 * BALLS * sizeof(double));
    crEnergy e = cr_world_energy(world);
    double start = e.kinetic + e.potential, rise = 0.0, created = 0.0;
    Seen seen = {0};
    for (int k = 0; k < SAMPLES; k++) {
        int at = i * SAMPLES + k;
        if (as_dt) world->step.settings.dt = p->h[at];
        for (int n = 0; n < p->steps[at]; n++) {
            CHECK_STATUS(cr__world_step_by(world, p->h[at], NULL), CR_OK);
            see(world, &seen);
            e = cr_world_energy(world);
            rise = fmax(rise, e.kinetic + e.potential - start);
            created = fmax(created, cr_world_certificate(world)->energy.created);
        }
        bool same = memcmp(&q[at * 7 * BALLS], cr_world_state(world)->q, 7 * BALLS * sizeof *q) == 0;
        if (p->steps[at] > 0) CHECK(same);
        if (p->steps[at] == 0) CHECK(q[at * 7 * BALLS] == 0.0);
    }
    uint64_t hash = 0;
    CHECK_STATUS(cr_batch_hash(batch, i, &hash, NULL), CR_OK);
    CHECK(hash == cr_world_hash(world));
    crBatchResult result;
    CHECK_STATUS(cr_batch_result(batch, i, &result, NULL), CR_OK);
    CHECK(result.created == created);
    CHECK_NEAR(result.rise, rise, 1e-12);
    crBatchHit found[HITS];
    int count = 0, all = 0;
    CHECK_STATUS(cr_batch_hits(batch, i, found, &count, &all, NULL), CR_OK);
    CHECK(all == seen.all && count == (seen.count < HITS ? seen.count : HITS));
    for (int k = 0; k < count; k++) {
        CHECK(by_bodies(&found[k], &seen.hit[k]) == 0 && found[k].together == seen.hit[k].together);
    }
    *hits += seen.count;
    cr_world_destroy(world);
}

TEST(worlds_have_models_and_paths_of_their_own) {
    Paths p;
    draw_paths(&p);
    for (int threads = 1; threads <= 3; threads += 2) {
        for (int as_dt = 0; as_dt < 2; as_dt++) {
            crBatch* batch = batch_of(&p, threads > 1 ? CR_BACKEND_THREADS : CR_BACKEND_SERIAL, threads);
            double* q = calloc(COUNT * SAMPLES * 7 * BALLS, sizeof *q);
            crBatchPath path = {.samples = SAMPLES, .h = p.h, .steps = p.steps, .as_dt = as_dt != 0, .q = q};
            CHECK_STATUS(cr_batch_follow(batch, &path, NULL), CR_OK);
            int hits = 0;
            for (int i = 0; i < COUNT; i++) {
                check_world(&p, i, batch, q, as_dt != 0, &hits);
            }
            CHECK(hits > 2 * COUNT);
            free(q);
            cr_batch_destroy(batch);
        }
    }
    for (int i = 0; i < COUNT; i++) {
        cr_model_destroy(p.models[i]);
    }
}

// the device program as a loop of the host: worlds that it hands back go on from where they are on their path
TEST(lanes_of_fixed_room_follow_paths) {
    Paths p;
    draw_paths(&p);
    const size_t rooms[] = {1 << 20, 49152, 16384};
    for (int r = 0; r < 3; r++) {
        crBatch* batch = batch_of(&p, CR_BACKEND_SERIAL, 1);
        double* q = calloc(COUNT * SAMPLES * 7 * BALLS, sizeof *q);
        unsigned char* slab = aligned_alloc(64, rooms[r]);
        batch->job.path = (crBatchPath){.samples = SAMPLES, .h = p.h, .steps = p.steps, .q = q};
        batch->job.count = COUNT;
        batch->job.fresh = true;
        for (int t = 0; t < 2; t++) {
            cr__kernel_host(&batch->job, slab, rooms[r], t, 2);
        }
        batch->job.fresh = false;
        int handed = 0;
        for (int i = 0; i < COUNT; i++) {
            if (batch->job.results[i].handed < 0) batch->list[handed++] = i;
        }
        if (r == 0) CHECK(handed == 0);
        if (r == 2) CHECK(handed > 0);
        CHECK_STATUS(cr__batch_host(batch, batch->list, handed, NULL), CR_OK);
        int hits = 0;
        for (int i = 0; i < COUNT; i++) {
            check_world(&p, i, batch, q, false, &hits);
        }
        free(slab);
        free(q);
        cr_batch_destroy(batch);
    }
    for (int i = 0; i < COUNT; i++) {
        cr_model_destroy(p.models[i]);
    }
}

TEST(models_are_lent_until_the_next_call) {
    Paths p;
    draw_paths(&p);
    crBatch* batch = batch_of(&p, CR_BACKEND_THREADS, 2);
    CHECK_STATUS(cr_batch_step(batch, 0.005, 7, NULL), CR_OK);
    CHECK_STATUS(cr_batch_models(batch, NULL, NULL), CR_OK);
    for (int i = 1; i < COUNT; i++) {
        cr_model_destroy(p.models[i]);
    }
    CHECK_STATUS(cr_batch_step(batch, 0.005, 20, NULL), CR_OK);
    // every world is the model's own at rest again
    uint64_t first = 0, hash = 0;
    CHECK_STATUS(cr_batch_hash(batch, 0, &first, NULL), CR_OK);
    for (int i = 1; i < COUNT; i++) {
        CHECK_STATUS(cr_batch_hash(batch, i, &hash, NULL), CR_OK);
        CHECK(hash == first);
    }
    cr_batch_destroy(batch);
    cr_model_destroy(p.models[0]);
}

TEST(what_does_not_fit_is_refused_by_name) {
    Paths p;
    draw_paths(&p);
    crBatch* batch = batch_of(&p, CR_BACKEND_SERIAL, 1);
    crModel* other = drawn_model(1, BALLS - 1);
    const crModel* models[COUNT];
    for (int i = 0; i < COUNT; i++) {
        models[i] = i == 6 ? other : p.models[i];
    }
    crError error = {0};
    CHECK_STATUS(cr_batch_models(batch, models, &error), CR_ERR_RANGE);
    CHECK(strcmp(error.field, "models") == 0 && strstr(error.message, "world 6") != NULL);
    models[6] = NULL;
    CHECK_STATUS(cr_batch_models(batch, models, &error), CR_ERR_ARGUMENT);
    crBatchPath path = {.samples = SAMPLES, .h = p.h, .steps = p.steps};
    p.h[3] = 0.0;
    p.steps[3] = 1;
    CHECK_STATUS(cr_batch_follow(batch, &path, &error), CR_ERR_RANGE);
    CHECK(strcmp(error.field, "h") == 0 && strstr(error.message, "sample 3 of world 0") != NULL);
    p.steps[3] = -1;
    CHECK_STATUS(cr_batch_follow(batch, &path, &error), CR_ERR_RANGE);
    CHECK(strcmp(error.field, "steps") == 0);
    path.samples = 0;
    CHECK_STATUS(cr_batch_follow(batch, &path, &error), CR_ERR_RANGE);
    crBatchHit hit;
    int count, all;
    CHECK_STATUS(cr_batch_hits(batch, COUNT, &hit, &count, &all, &error), CR_ERR_RANGE);
    cr_batch_destroy(batch);
    crBatchDef def = cr_batch_def();
    def.model = p.models[0];
    CHECK_STATUS(cr_batch_create(&def, &batch, NULL), CR_OK);
    CHECK_STATUS(cr_batch_hits(batch, 0, &hit, &count, &all, &error), CR_ERR_RANGE);
    CHECK(strcmp(error.field, "hits") == 0);
    cr_batch_destroy(batch);
    def.hits = -1;
    CHECK_STATUS(cr_batch_create(&def, &batch, &error), CR_ERR_RANGE);
    def.hits = 0;
    def.device = -1;
    CHECK_STATUS(cr_batch_create(&def, &batch, &error), CR_ERR_RANGE);
    CHECK(strcmp(error.field, "device") == 0);
    cr_model_destroy(other);
    for (int i = 0; i < COUNT; i++) {
        cr_model_destroy(p.models[i]);
    }
}

// Bodies of every inertia that fly among things that stand: the lane's short way against worlds that have none.
static crModel* flying_model(crRandom* random, int kind) {
    crModel* model = cr_model_create(NULL);
    crMaterial material = cr_material();
    material.surface.e = sample_uniform(random, 0.0, 0.8);
    cr_model_add_material(model, &material);
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), -0.1);
    ground.pose = (crPose){cr_vec3(0, 0, 0.05),
                           cr_quat_axis_angle(cr_vec3(0, 1, 0), sample_uniform(random, -0.3, 0.3))};
    cr_model_add_shape(model, CR_WORLD, &ground, 1);
    crShape wall = cr_shape_box(0.05, 1.0, 1.0);
    wall.pose = (crPose){cr_vec3(1.0, 0.0, 0.5), sample_rotation(random)};
    cr_model_add_shape(model, CR_WORLD, &wall, 1);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p = cr_vec3(0, 0, sample_uniform(random, 0.3, 1.5));
    def.linear_drag = kind % 2 == 0 ? 0.0 : 0.2;
    def.angular_drag = kind % 3 == 0 ? 0.0 : 0.01;
    def.gravity_scale = kind == 4 ? 0.0 : 1.0;
    crShape shape = kind == 0 ? cr_shape_sphere(0.1) : cr_shape_box(0.1, 0.07 + 0.01 * kind, 0.05);
    if (kind == 3) shape.pose.p = cr_vec3(0.02, 0.03, 0.01);
    cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, 1);
    CHECK_STATUS(cr_model_check(model, NULL), CR_OK);
    return model;
}

TEST(worlds_in_the_air_have_the_bits_of_worlds) {
    enum { WORLDS = 8, STEPS = 150 };
    crRandom random = sample_seed(21);
    int flown = 0, landed = 0;
    for (int kind = 0; kind < 5; kind++) {
        crModel* model = flying_model(&random, kind);
        crBatchDef def = cr_batch_def();
        def.model = model;
        def.step = settings_of();
        def.step.quality = kind == 2 ? CR_QUALITY_ACCURATE : CR_QUALITY_FAST;
        def.count = WORLDS;
        crBatch* batch = NULL;
        CHECK_STATUS(cr_batch_create(&def, &batch, NULL), CR_OK);
        double q[7 * WORLDS], v[6 * WORLDS], force[6 * WORLDS] = {0};
        CHECK_STATUS(cr_batch_read(batch, CR_BATCH_Q, q, NULL), CR_OK);
        for (int i = 0; i < WORLDS; i++) {
            crQuat turn = sample_rotation(&random);
            memcpy(q + 7 * i + 3, (double[]){turn.w, turn.x, turn.y, turn.z}, 4 * sizeof *q);
            for (int j = 0; j < 6; j++) {
                v[6 * i + j] = sample_uniform(&random, -3.0, 3.0) * (j < 3 ? 1.0 : 5.0);
                if (i % 2 == 0) force[6 * i + j] = sample_uniform(&random, -0.5, 0.5);
            }
        }
        // one is fast enough to pass through a wall, and one far outside
        v[6] = 400.0;
        q[14] = 2e6;
        CHECK_STATUS(cr_batch_write(batch, CR_BATCH_Q, q, NULL, NULL), CR_OK);
        CHECK_STATUS(cr_batch_write(batch, CR_BATCH_V, v, NULL, NULL), CR_OK);
        CHECK_STATUS(cr_batch_write(batch, CR_BATCH_FORCE, force, NULL, NULL), CR_OK);
        CHECK_STATUS(cr_batch_step(batch, def.step.dt, STEPS, NULL), CR_OK);
        for (int i = 0; i < WORLDS; i++) {
            crWorldDef own = cr_world_def();
            own.model = model;
            own.step = def.step;
            crWorld* world = NULL;
            CHECK_STATUS(cr_world_create(&own, &world, NULL), CR_OK);
            memcpy(cr_world_state(world)->q, q + 7 * i, 7 * sizeof *q);
            memcpy(cr_world_state(world)->v, v + 6 * i, 6 * sizeof *v);
            memcpy(cr_world_state(world)->force, force + 6 * i, 6 * sizeof *force);
            crLone lone;
            cr__lone_prepare(world, &lone);
            CHECK(lone.flies);
            crTally tally = {0};
            for (int n = 0; n < STEPS; n++) {
                CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
                cr_tally_add(&tally, cr_world_certificate(world));
                flown += cr_world_certificate(world)->contacts == 0;
                landed += cr_world_certificate(world)->contacts > 0;
            }
            uint64_t hash = 0;
            CHECK_STATUS(cr_batch_hash(batch, i, &hash, NULL), CR_OK);
            CHECK(hash == cr_world_hash(world));
            crBatchResult result;
            CHECK_STATUS(cr_batch_result(batch, i, &result, NULL), CR_OK);
            CHECK(memcmp(&result.tally, &tally, sizeof tally) == 0);
            cr_world_destroy(world);
        }
        cr_batch_destroy(batch);
        cr_model_destroy(model);
    }
    CHECK(flown > 500 && landed > 500);
}
