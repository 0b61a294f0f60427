// batch_gpu.c - batches on a GPU next to the CPU: the same hashes, and steps a second.
//
//     batch_gpu carom.ptx cube|ball|bounce|vary|chain|heap|SCENE.json WORLDS STEPS CALLS ROOM COMPARED [fast|accurate [DEADBAND [BEFORE]]]
//
// bounce are balls with restitution, vary cubes whose mass, friction, restitution and size differ from world to world.
// WORLDS worlds with random starts make CALLS calls of STEPS steps on the device; the first COMPARED of them make the same on
// the CPU, and every hash is compared after every call. ROOM is crBatchDef.room, DEADBAND that of the settings: overlap is at most
// 1.1 of it times the body's size, 1e-6 m unless told. With BEFORE the first COMPARED worlds make so many steps on the CPU, and all worlds
// begin as these end. Exits 1 where a hash differs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "carom/batch.h"
#include "carom/carom.h"
#include "carom/io/scene.h"
#include "sample.h"

#define DEADBAND 5e-6  // of sizes: overlap of these bodies is at most 1e-6 m

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char* what, const crError* error) {
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(2);
}

static void add_free(crModel* model, crShape shape, crVec3 p) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p = p;
    cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, 1);
}

static crModel* model_of(const char* kind) {
    crModel* model = cr_model_create(NULL);
    crMaterial material = cr_material();
    material.surface.e = strcmp(kind, "bounce") == 0 ? 0.7 : 0.0;
    cr_model_add_material(model, &material);
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &ground, 1);
    if (strcmp(kind, "cube") == 0 || strcmp(kind, "vary") == 0)
        add_free(model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.3));
    if (strcmp(kind, "ball") == 0 || strcmp(kind, "bounce") == 0)
        add_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.3));
    if (strcmp(kind, "chain") == 0) {
        for (int i = 0, parent = CR_WORLD; i < 6; i++) {
            crBodyDef def = cr_body_def();
            def.parent = parent;
            def.joint = CR_JOINT_HINGE;
            def.axis = i % 2 == 0 ? cr_vec3(0, 1, 0) : cr_vec3(0, 0, 1);
            def.pose.p = i == 0 ? cr_vec3(0, 0, 0.6) : cr_vec3(0.2, 0, 0);
            parent = cr_model_add_body(model, &def);
            crShape rod = cr_shape_capsule(0.03, 0.07);
            rod.pose.p = cr_vec3(0.1, 0, 0);
            rod.pose.q = cr_quat_axis_angle(cr_vec3(0, 1, 0), 0.5 * CR_PI);
            cr_model_add_shape(model, parent, &rod, 1);
        }
    }
    for (int i = 0; strcmp(kind, "heap") == 0 && i < 50; i++) {
        add_free(model, cr_shape_box(0.1, 0.08, 0.06),
                 cr_vec3(0.3 * (i % 3) - 0.3, 0.3 * (i / 3 % 3) - 0.3, 0.2 + 0.3 * (i / 9)));
    }
    return model;
}

// one start for every world, from its number
static void throw_all(crBatch* batch, const crModel* model, int count) {
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv, n = (size_t)count;
    double *q = malloc(n * nq * sizeof *q), *v = malloc(n * nv * sizeof *v);
    cr_batch_read(batch, CR_BATCH_Q, q, NULL);
    cr_batch_read(batch, CR_BATCH_V, v, NULL);
    for (int i = 0; i < count; i++) {
        crRandom random = sample_seed((uint64_t)i + 1);
        for (int b = 1; b < model->nb; b++) {
            const crBody* body = &model->bodies[b];
            double* at = q + (size_t)i * nq + body->q;
            if (body->joint == CR_JOINT_FREE && model->nb < 60 && model->nb != 15) {
                crQuat r = sample_rotation(&random);
                memcpy(at + 3, (double[]){r.w, r.x, r.y, r.z}, 4 * sizeof *at);
            }
            for (int j = body->v; j < body->v + body->nv; j++) {
                v[(size_t)i * nv + (size_t)j] = sample_uniform(&random, -1.0, 1.0);
            }
        }
    }
    cr_batch_write(batch, CR_BATCH_Q, q, NULL, NULL);
    cr_batch_write(batch, CR_BATCH_V, v, NULL, NULL);
    free(q);
    free(v);
}

// numbers of the model, from the number of the world
static void vary_all(crBatch* batch, int count) {
    double* x = malloc((size_t)count * sizeof *x);
    const double lo[] = {0.5, 0.0, 0.0, 0.6}, hi[] = {50.0, 1.0, 0.8, 1.4};
    for (int what = CR_VARY_MASS; what <= CR_VARY_SIZE; what++) {
        for (int i = 0; i < count; i++) {
            crRandom random = sample_seed((uint64_t)(7 * i + what));
            x[i] = sample_uniform(&random, lo[what], hi[what]);
        }
        crError error = {0};
        if (cr_batch_vary(batch, (crVary)what, 1, x, &error) != CR_OK) fail("vary", &error);
    }
    free(x);
}

// The worlds of one batch, again and again, become those of another.
static void begin_as(crBatch* batch, int count, crBatch* as, int first, const crBatchDef* def) {
    crWorldDef of = cr_world_def();
    of.model = def->model;
    of.step = def->step;
    crWorld* world = NULL;
    crError error = {0};
    if (cr_world_create(&of, &world, &error) != CR_OK) fail("world", &error);
    for (int k = 0; k < first; k++) {
        if (cr_batch_take(as, k, world, &error) != CR_OK) fail("take", &error);
        for (int i = k; i < count; i += first) {
            if (cr_batch_put(batch, i, world, &error) != CR_OK) fail("put", &error);
        }
    }
    cr_world_destroy(world);
}

static char* read_text(const char* path) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char* text = malloc((size_t)size + 1);
    size = (long)fread(text, 1, (size_t)size, file);
    text[size] = '\0';
    fclose(file);
    return text;
}

int main(int argc, char** argv) {
    if (argc < 8) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char* kind = argv[2];
    int worlds = atoi(argv[3]), steps = atoi(argv[4]), rounds = atoi(argv[5]), compared = atoi(argv[7]);
    crError error = {0};
    crBatchDef def = cr_batch_def();
    def.step.dt = 1.0 / 240.0;
    def.step.quality = argc > 8 && strcmp(argv[8], "accurate") == 0 ? CR_QUALITY_ACCURATE : CR_QUALITY_FAST;
    def.step.deadband = argc > 9 ? atof(argv[9]) : DEADBAND;
    crScene scene = {0};
    crModel* model = NULL;
    if (strstr(kind, ".json") != NULL) {
        if (cr_scene_open(kind, NULL, &scene, NULL, &error) != CR_OK) fail("scene", &error);
        def.model = scene.model;
    } else {
        def.model = model = model_of(kind);
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    def.count = worlds;
    def.backend = CR_BACKEND_GPU;
    def.threads = cores > 256 ? 256 : (int)cores;
    def.room = (size_t)atol(argv[6]);
    def.program = read_text(argv[1]);
    double t = now();
    crBatch *gpu = NULL, *cpu = NULL;
    if (cr_batch_create(&def, &gpu, &error) != CR_OK) fail("gpu", &error);
    printf("%s: %d worlds, program loaded in %.1f s\n", kind, worlds, now() - t);
    throw_all(gpu, def.model, worlds);
    bool varies = strcmp(kind, "vary") == 0;
    if (varies) vary_all(gpu, worlds);
    crBatchDef host = def;
    host.backend = CR_BACKEND_THREADS;
    host.count = compared;
    if (compared > 0 && cr_batch_create(&host, &cpu, &error) != CR_OK) fail("cpu", &error);
    if (cpu != NULL) throw_all(cpu, def.model, compared);
    if (cpu != NULL && varies) vary_all(cpu, compared);
    if (argc > 10 && cpu != NULL) {
        if (cr_batch_step(cpu, def.step.dt, atoi(argv[10]), &error) != CR_OK) fail("step", &error);
        begin_as(gpu, worlds, cpu, compared, &def);
    }
    int wrong = 0;
    for (int c = 0; c < rounds; c++) {
        t = now();
        if (cr_batch_step(gpu, def.step.dt, steps, &error) != CR_OK) fail("step", &error);
        double spent = now() - t, host_rate = 0.0;
        int differ = 0;
        if (cpu != NULL) {
            t = now();
            if (cr_batch_step(cpu, def.step.dt, steps, &error) != CR_OK) fail("step", &error);
            host_rate = (double)compared * steps / (now() - t);
            for (int i = 0; i < compared; i++) {
                uint64_t a = 0, b = 1;
                cr_batch_hash(gpu, i, &a, NULL);
                cr_batch_hash(cpu, i, &b, NULL);
                differ += a != b;
            }
        }
        crBatchSummary s;
        if (cr_batch_summary(gpu, &s, &error) != CR_OK) fail("summary", &error);
        wrong += differ;
        printf("%s %5d: %.3f M steps/s (%.3f s), %d handed, %d failed, contacts %d, overlap %.1e; cpu %.3f "
               "M; %d of %d "
               "hashes differ\n",
               kind, (c + 1) * steps, 1e-6 * (double)worlds * steps / spent, spent, s.handed, s.failed,
               s.tally.worst.contacts, s.tally.worst.penetration, 1e-6 * host_rate, differ, compared);
    }
    cr_batch_destroy(gpu);
    cr_batch_destroy(cpu);
    cr_model_destroy(model);
    return wrong > 0;
}
