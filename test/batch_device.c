// batch_device.c - batches on the driver of fake_cuda.c, which LD_LIBRARY_PATH names: the host's side of a GPU without one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/batch.h"
#include "carom/carom.h"
#include "sample.h"

enum { ROOM = 131072 };

static int failures;

static void check(bool good, const char* what, int at) {
    if (good) return;
    printf("FAILED: %s, %d\n", what, at);
    failures++;
}

static crModel* model_of(int boxes, double e, double size) {
    crModel* model = cr_model_create(NULL);
    crMaterial material = cr_material();
    material.surface.e = e;
    cr_model_add_material(model, &material);
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &ground, 1);
    for (int i = 0; i < boxes; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose.p = cr_vec3(0.03 * i, 0.0, 0.2 + 0.25 * i);
        crShape box = cr_shape_box(0.1 * size, 0.08, 0.06);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &box, 1);
    }
    return model;
}

static const char* rule = "poisson";

static crBatch* batch_of(const crModel* model, int count, crBackend backend, size_t room, int hits) {
    crBatchDef def = cr_batch_def();
    if (cr_rule_find(rule, NULL, &def.step.rule, NULL) != CR_OK) exit(1);
    def.model = model;
    def.count = count;
    def.backend = backend;
    def.threads = 2;
    def.step.quality = CR_QUALITY_FAST;
    def.program = ".version 6.3\n.version 6.3";
    def.room = room;
    def.hits = hits;
    def.device = 3;
    crBatch* batch = NULL;
    crError error = {0};
    if (cr_batch_create(&def, &batch, &error) != CR_OK) {
        printf("FAILED: %s\n", error.message);
        exit(1);
    }
    return batch;
}

static void throw_all(crBatch* batch, int count) {
    int width = cr_batch_width(batch, CR_BATCH_V);
    double* v = malloc((size_t)(count * width) * sizeof *v);
    crRandom random = sample_seed(3);
    for (int i = 0; i < count * width; i++) {
        v[i] = sample_uniform(&random, -1.0, 1.0);
    }
    cr_batch_write(batch, CR_BATCH_V, v, NULL, NULL);
    free(v);
}

static void compare(crBatch* host, crBatch* device, int count, const char* what) {
    for (int i = 0; i < count; i++) {
        uint64_t a = 0, b = 1;
        crBatchResult x, y;
        crBatchHit p[5], q[5];
        int n = 0, m = 0, all = 0, every = 0;
        cr_batch_hash(host, i, &a, NULL);
        cr_batch_hash(device, i, &b, NULL);
        check(a == b, what, i);
        cr_batch_result(host, i, &x, NULL);
        cr_batch_result(device, i, &y, NULL);
        check(memcmp(&x.tally, &y.tally, sizeof x.tally) == 0 && x.created == y.created && x.rise == y.rise,
              what, i);
        cr_batch_hits(host, i, p, &n, &all, NULL);
        cr_batch_hits(device, i, q, &m, &every, NULL);
        check(n == m && all == every, what, i);
        for (int k = 0; k < n && k < m; k++) {
            check(p[k].a == q[k].a && p[k].b == q[k].b && p[k].together == q[k].together, what, i);
        }
    }
}

// calls of several lengths, in rooms that hold a world and in one that does not
static void run_steps(int boxes, double e, size_t room, int hits, const char* what, bool hands) {
    // host and device share large worlds of which there are many
    enum { FEW = 150, MANY = 300 };
    const int COUNT = boxes == 3 ? MANY : FEW;
    crModel* model = model_of(boxes, e, 1.0);
    crBatch* host = batch_of(model, COUNT, CR_BACKEND_THREADS, 0, hits);
    crBatch* device = batch_of(model, COUNT, CR_BACKEND_GPU, room, hits);
    throw_all(host, COUNT);
    throw_all(device, COUNT);
    const int calls[] = {1, 40, 7, 90};
    int handed = 0;
    for (int c = 0; c < 4; c++) {
        crError error = {0};
        cr_batch_step(host, 1.0 / 240.0, calls[c], NULL);
        check(cr_batch_step(device, 1.0 / 240.0, calls[c], &error) == CR_OK, error.message, c);
        compare(host, device, COUNT, what);
        crBatchSummary summary;
        cr_batch_summary(device, &summary, NULL);
        handed += summary.handed;
    }
    check((handed > 0) == hands, what, handed);
    printf("%s: %d worlds, %d steps handed\n", what, COUNT, handed);
    cr_batch_destroy(host);
    cr_batch_destroy(device);
    cr_model_destroy(model);
}

// models and paths of their own
static void run_paths(void) {
    enum { COUNT = 70, SAMPLES = 4 };
    crModel* models[COUNT];
    double h[COUNT * SAMPLES];
    int steps[COUNT * SAMPLES];
    crRandom random = sample_seed(8);
    for (int i = 0; i < COUNT; i++) {
        models[i] = model_of(2, sample_uniform(&random, 0.0, 0.8), sample_uniform(&random, 0.6, 1.0));
        for (int k = 0; k < SAMPLES; k++) {
            h[i * SAMPLES + k] = sample_uniform(&random, 0.002, 0.006);
            steps[i * SAMPLES + k] = i % 9 == 0 ? 0 : (int)sample_uniform(&random, 0.0, 30.0);
        }
    }
    double* q[2];
    crBatch* batch[2];
    for (int d = 0; d < 2; d++) {
        batch[d] = batch_of(models[0], COUNT, d == 0 ? CR_BACKEND_THREADS : CR_BACKEND_GPU, 0, 5);
        q[d] = calloc(COUNT * SAMPLES * 14, sizeof **q);
        for (int again = 0; again < 2; again++) {
            crError error = {0};
            check(cr_batch_models(batch[d], (const crModel* const*)models, &error) == CR_OK, error.message,
                  d);
            throw_all(batch[d], COUNT);
            crBatchPath path = {.samples = SAMPLES, .h = h, .steps = steps, .as_dt = true, .q = q[d]};
            check(cr_batch_follow(batch[d], &path, &error) == CR_OK, error.message, d);
        }
    }
    compare(batch[0], batch[1], COUNT, "paths");
    for (int at = 0; at < COUNT * SAMPLES; at++) {
        if (steps[at] > 0) check(memcmp(q[0] + 14 * at, q[1] + 14 * at, 14 * sizeof **q) == 0, "samples", at);
    }
    for (int d = 0; d < 2; d++) {
        cr_batch_destroy(batch[d]);
        free(q[d]);
    }
    for (int i = 0; i < COUNT; i++) {
        cr_model_destroy(models[i]);
    }
}

static void run_refusals(void) {
    crModel* model = model_of(1, 0.0, 1.0);
    crBatchDef def = cr_batch_def();
    def.model = model;
    def.backend = CR_BACKEND_GPU;
    crBatch* batch = NULL;
    crError error = {0};
    check(cr_batch_create(&def, &batch, &error) == CR_ERR_ARGUMENT && strcmp(error.field, "program") == 0,
          "no program", 0);
    def.program = "no program";
    check(cr_batch_create(&def, &batch, &error) == CR_ERR_FILE && batch == NULL, "not a program", 0);
    cr_model_destroy(model);
}

int main(void) {
    // hard steps go to the host, with a world's record alone or with all there is
    run_steps(1, 0.0, 0, 0, "one box", true);
    run_steps(1, 0.0, 16384, 5, "one box, little room, hits kept", true);
    run_steps(2, 0.3, 1 << 19, 5, "two boxes that bounce", false);
    run_steps(4, 0.0, 40960, 5, "four boxes, little room", true);
    run_steps(3, 0.0, ROOM, 0, "three boxes, shared", true);
    // rules whose impacts the device leaves to the host
    rule = "newton";
    run_steps(2, 0.3, 1 << 19, 5, "two boxes, newton", false);
    rule = "sequence";
    run_steps(2, 0.3, 1 << 19, 5, "two boxes, sequence", true);
    rule = "poisson";
    run_paths();
    run_refusals();
    printf("%d failures\n", failures);
    return failures > 0;
}
