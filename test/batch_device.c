// batch_device.c - batches on the driver of fake_cuda.c, which LD_LIBRARY_PATH names: the host's side of a GPU without one.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/batch.h"
#include "carom/carom.h"
#include "carom/dynamics.h"
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
    def.device = 2 + model->nb % 2;  // of two, of which the second has little memory
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
    enum { FEW = 140, MANY = 260 };
    const int COUNT = boxes == 3 ? MANY : FEW;
    crModel* model = model_of(boxes, e, 1.0);
    crBatch* host = batch_of(model, COUNT, CR_BACKEND_THREADS, 0, hits);
    crBatch* device = batch_of(model, COUNT, CR_BACKEND_GPU, room, hits);
    throw_all(host, COUNT);
    throw_all(device, COUNT);
    const int calls[] = {1, 40, 7, 30};
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

// what fake_cuda.c fails with: see there
static void (*fake_fail)(int, int);
enum { OUT_OF_MEMORY = 2, LOST = 719 };

static void hash_all(crBatch* batch, uint64_t* hash, const char* what, int at) {
    crError error = {0};
    check(cr_batch_hash_all(batch, hash, &error) == CR_OK, what, at);
}

// A device that is lost at any point of a call, or that has no memory there, leaves the last state that the host knew; where it is there
// again, all goes on as if nothing had been.
static void run_failures(int boxes, size_t room, int hits, int code, const char* what) {
    enum { COUNT = 260, MOST = 300 };
    // memory for visitors of the host is taken where there are some first
    const int BEFORE = code == LOST ? 44 : 20, AFTER = code == LOST ? 6 : 100;
    crModel* model = model_of(boxes, 0.0, 1.0);
    crBatch* host = batch_of(model, COUNT, CR_BACKEND_THREADS, 0, hits);
    uint64_t before = 0, after = 0, now = 1;
    throw_all(host, COUNT);
    cr_batch_step(host, 1.0 / 240.0, BEFORE, NULL);
    hash_all(host, &before, what, 0);
    cr_batch_step(host, 1.0 / 240.0, AFTER, NULL);
    hash_all(host, &after, what, 0);
    int failed = 0, times = 0;
    for (int n = 1; n <= MOST && failed == times; n += 1 + n / 3) {
        crBatch* device = batch_of(model, COUNT, CR_BACKEND_GPU, room, hits);
        throw_all(device, COUNT);
        check(cr_batch_step(device, 1.0 / 240.0, BEFORE, NULL) == CR_OK, what, n);
        hash_all(device, &now, what, n);
        check(now == before, what, n);
        crError error = {0};
        fake_fail(n, code);
        times++;
        crStatus status = cr_batch_step(device, 1.0 / 240.0, AFTER, &error);
        if (status != CR_OK) {
            failed++;
            check(status == (code == LOST ? CR_ERR_FILE : CR_ERR_MEMORY), error.message, n);
            check(strncmp(error.message, "backend: gpu: ", 14) == 0, error.message, n);
            now = 1;
            hash_all(device, &now, "the last state", n);
            check(now == before, "the last state", n);
            check(code != LOST || cr_batch_step(device, 1.0 / 240.0, AFTER, NULL) == CR_ERR_FILE, "lost", n);
            fake_fail(0, 0);
            check(cr_batch_step(device, 1.0 / 240.0, AFTER, &error) == CR_OK, error.message, n);
        }
        fake_fail(0, 0);
        hash_all(device, &now, what, n);
        check(now == after, "going on", n);
        cr_batch_destroy(device);
    }
    check(failed > 0 && failed < times, what, failed);
    printf("%s: %d calls that failed\n", what, failed);
    cr_batch_destroy(host);
    cr_model_destroy(model);
}

// no memory for a batch at all
static void run_without_memory(void) {
    crModel* model = model_of(1, 0.0, 1.0);
    crBatchDef def = cr_batch_def();
    def.model = model;
    def.count = 10;
    def.backend = CR_BACKEND_GPU;
    def.program = ".version 6.3";
    int failed = 0;
    for (crStatus status = CR_ERR_MEMORY; status != CR_OK && failed < 100;) {
        crBatch* batch = NULL;
        crError error = {0};
        fake_fail(failed + 1, OUT_OF_MEMORY);
        status = cr_batch_create(&def, &batch, &error);
        fake_fail(0, 0);
        if (status != CR_OK) {
            failed++;
            check(status == CR_ERR_MEMORY && batch == NULL &&
                      strcmp(error.message, "backend: gpu: taking memory failed: CUDA_ERROR_OUT_OF_MEMORY") ==
                          0,
                  error.message, failed);
        }
        cr_batch_destroy(batch);
    }
    check(failed > 3 && failed < 100, "memory", failed);
    cr_model_destroy(model);
}

static void stay(void* ctx, double time, crDriven* out) {
    (void)ctx;
    (void)time;
    (void)out;
}
static void no_load(void* ctx, const crLoadAt* at, crLoadValue* out) {
    (void)ctx;
    (void)at;
    (void)out;
}
static double half(void* ctx, double speed) {
    (void)ctx;
    (void)speed;
    return 0.5;
}

static void refuse(const crBatchDef* def, const char* field, const char* sentence) {
    crBatch* batch = NULL;
    crError error = {0};
    crStatus status = cr_batch_create(def, &batch, &error);
    check(status == CR_ERR_RANGE && batch == NULL && strcmp(error.field, field) == 0, error.message,
          (int)status);
    check(strcmp(error.message, sentence) == 0, error.message, 0);
    // the back end that can
    crBatchDef threads = *def;
    threads.backend = CR_BACKEND_THREADS;
    check(cr_batch_create(&threads, &batch, &error) == CR_OK, error.message, 0);
    cr_batch_destroy(batch);
}

// what a device cannot hold is refused with the reason and the back end that can
static void run_refused_models(void) {
    crBatchDef def = cr_batch_def();
    def.backend = CR_BACKEND_GPU;
    def.program = ".version 6.3";
    crModel* model = model_of(1, 0.0, 1.0);
    crLoad load = cr_load(1);
    load.function = no_load;
    cr_model_add_load(model, &load);
    def.model = model;
    refuse(&def, "model", "model: loads are functions of the host; use the back end threads");
    cr_model_destroy(model);

    def.model = model = model_of(1, 0.0, 1.0);
    crBodyDef driven = cr_body_def();
    driven.joint = CR_JOINT_DRIVEN;
    driven.drive = stay;
    cr_model_add_body(model, &driven);
    refuse(&def, "model", "model: driven bodies follow functions of the host; use the back end threads");
    cr_model_destroy(model);

    const crRestitution e = {.function = half};
    crMaterial material = cr_material();
    material.surface.e_of_speed = &e;
    def.model = model = model_of(1, 0.0, 1.0);
    cr_model_add_material(model, &material);
    refuse(&def, "model", "model: a coefficient is a function of the host; use the back end threads");
    cr_model_destroy(model);

    const double heights[4] = {0};
    crHeightFieldDef ground = {.nx = 2, .ny = 2, .dx = 1.0, .dy = 1.0, .z = heights};
    crHeightField* field = NULL;
    crError error = {0};
    check(cr_heightfield_create(&ground, NULL, &field, &error) == CR_OK, error.message, 0);
    def.model = model = model_of(1, 0.0, 1.0);
    crShape shape = cr_shape_heightfield(field);
    cr_model_add_shape(model, CR_WORLD, &shape, 0);
    refuse(&def, "model", "model: it has a mesh, a height field or a compound; use the back end threads");
    cr_model_destroy(model);
    cr_heightfield_destroy(field);

    def.model = model = model_of(1, 0.0, 1.0);
    crBatchDef other = def;
    other.step.method = CR_METHOD_LCP;
    refuse(&other, "method", "method: gpu knows cone alone; use the back end threads");
    other = def;
    check(cr_solver_find("newton", NULL, &other.step.solver, &error) == CR_OK, error.message, 0);
    refuse(&other, "solver", "solver: gpu knows auto with its defaults alone; use the back end threads");
    cr_model_destroy(model);
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
    run_refused_models();
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void* found = driver != NULL ? dlsym(driver, "fake_fail") : NULL;
    if (found == NULL) return 1;
    memcpy(&fake_fail, &found, sizeof found);
    run_failures(1, 0, 0, LOST, "one box, lost");
    run_failures(3, ROOM, 0, LOST, "three boxes, shared, lost");
    run_failures(2, 16384, 5, LOST, "two boxes, little room, lost");
    run_failures(1, 0, 0, OUT_OF_MEMORY, "one box, no memory");
    run_without_memory();
    dlclose(driver);
    printf("%d failures\n", failures);
    return failures > 0;
}
