// test_step_memory.c - steps that fail for want of memory: the world stands where it was, and goes on as if nothing
// had happened. Every allocation of a short run fails in turn, once or from then on for the rest of the step, for every method.
#include "sample.h"
#include "step_scene.h"

#define STEPS 12

typedef struct Case {
    crMethod method;
    crLevel level;
    double sleep;
    int threads;
} Case;

// boxes and balls that fall on each other, a bar on a hinge that hits its limit, two balls tied by a loop
static crModel* mixed_model(void) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.4, 0.5);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    for (int i = 0; i < 4; i++) {
        crShape shape = i % 2 == 0 ? cr_shape_box(0.1, 0.1, 0.1) : cr_shape_sphere(0.1);
        scene_free(model, shape, cr_vec3(0.03 * i, 0.01 * i, 0.1 + 0.205 * i), NAN, material);
    }
    int a = scene_free(model, cr_shape_sphere(0.1), cr_vec3(2, 0, 0.105), NAN, material);
    int b = scene_free(model, cr_shape_sphere(0.1), cr_vec3(2.3, 0, 0.105), NAN, material);
    crLoop loop = cr_loop(CR_LOOP_CONNECT, a, b);
    loop.pose_a.p = cr_vec3(0.15, 0, 0);
    loop.pose_b.p = cr_vec3(-0.15, 0, 0);
    CHECK(cr_model_add_loop(model, &loop) >= 0);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(0, 1, 0);
    def.pose.p = cr_vec3(-1, 0, 1);
    def.dof[0].upper = 0.05;
    int hinge = cr_model_add_body(model, &def);
    crShape bar = cr_shape_box(0.02, 0.02, 0.4);
    bar.pose.p = cr_vec3(0.1, 0, -0.4);
    cr_model_add_shape(model, hinge, &bar, material);
    return model;
}

static crWorld* open_world(const crModel* model, const Case* c, const crAllocator* allocator) {
    crWorldDef def = cr_world_def();
    def.model = model;
    def.allocator = allocator;
    def.step.method = c->method;
    def.step.level = c->level;
    def.step.sleep_time = c->sleep;
    def.step.threads = c->threads;
    def.step.dt = 0.01;
    crWorld* world = NULL;
    if (cr_world_create(&def, &world, NULL) == CR_OK) {
        cr_world_state(world)->v[model->bodies[4].v + 2] = -1.0;
        cr_world_state(world)->v[model->bodies[7].v] = 0.5;
    }
    return world;
}

// gives `left` blocks, then `fails` times none
typedef struct Failing {
    long left, fails, held, given;
} Failing;

static void* failing_alloc(void* ctx, size_t size) {
    Failing* f = ctx;
    f->given++;
    if (f->left-- <= 0 && f->fails-- > 0) return NULL;
    f->held++;
    return malloc(size);
}

static void failing_free(void* ctx, void* memory, size_t size) {
    (void)size;
    if (memory != NULL) ((Failing*)ctx)->held--;
    free(memory);
}

// one run whose allocation k fails; how many steps failed
static int run_failing(const crModel* model, const Case* c, long k, long fails, const uint64_t* hashes) {
    Failing f = {.left = k, .fails = fails};
    crAllocator allocator = {failing_alloc, failing_free, &f};
    crWorld* world = open_world(model, c, &allocator);
    int failed = 0;
    for (int i = 0; i < STEPS && world != NULL; i++) {
        uint64_t before = cr_world_hash(world);
        crStatus status = cr_world_step(world, NULL);
        if (status != CR_OK) {
            failed++;
            CHECK(status == CR_ERR_MEMORY);
            test_check(cr_world_hash(world) == before, __FILE__, __LINE__,
                       "%s level %d: allocation %ld failed in step %d and changed the world",
                       cr_method_name(c->method), c->level, k, i);
            f.fails = 0;
            CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        }
        bool same = cr_world_hash(world) == hashes[i];
        test_check(same, __FILE__, __LINE__, "%s level %d: allocation %ld failed, step %d has other bits",
                   cr_method_name(c->method), c->level, k, i);
        if (!same) break;
    }
    cr_world_destroy(world);
    CHECK(f.held == 0);
    return failed;
}

static void sweep(Case c) {
    crModel* model = mixed_model();
    Failing f = {.left = 1000000};
    crAllocator allocator = {failing_alloc, failing_free, &f};
    crWorld* world = open_world(model, &c, &allocator);
    uint64_t hashes[STEPS];
    int failed = 0, impacts = 0, contacts = 0, asleep = 0;
    long created = f.given;
    for (int i = 0; i < STEPS; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        hashes[i] = cr_world_hash(world);
        impacts += cr_world_certificate(world)->impacts;
        contacts = cr_world_certificate(world)->contacts;
        asleep += cr_world_certificate(world)->asleep;
    }
    cr_world_destroy(world);
    // allocations are alike from step to step: every one only in a soak
    long stride = test_samples(30000) > 1000 ? 1 : 1 + (f.given - created) / 15;
    for (long k = created; k < f.given; k += stride) {
        failed += run_failing(model, &c, k, 1, hashes);
        failed += run_failing(model, &c, k, 1000000, hashes);
    }
    printf("%s, level %d, %d threads: %ld allocations, %d steps failed; %d impacts, %d contacts, %d asleep\n",
           cr_method_name(c.method), c.level, c.threads, f.given - created, failed, impacts, contacts,
           asleep);
    CHECK(failed > 0 && contacts > 0);
    cr_model_destroy(model);
}

TEST(cone_stands) { sweep((Case){CR_METHOD_CONE, CR_LEVEL_POSITION, 0.0, 1}); }
TEST(cone_with_sleep_stands) { sweep((Case){CR_METHOD_CONE, CR_LEVEL_POSITION, 0.02, 1}); }
TEST(cone_with_threads_stands) { sweep((Case){CR_METHOD_CONE, CR_LEVEL_POSITION, 0.0, 2}); }
TEST(lcp_stands) { sweep((Case){CR_METHOD_LCP, CR_LEVEL_POSITION, 0.0, 1}); }
TEST(lcp_at_velocity_level_stands) { sweep((Case){CR_METHOD_LCP, CR_LEVEL_VELOCITY, 0.0, 1}); }
TEST(moreau_stands) { sweep((Case){CR_METHOD_MOREAU, CR_LEVEL_POSITION, 0.0, 1}); }
TEST(event_stands) { sweep((Case){CR_METHOD_EVENT, CR_LEVEL_POSITION, 0.0, 1}); }

static crStatus refusing_force(void* ctx, const crModel* model, const crState* state, const crDynamics* d,
                               double* k) {
    (void)model, (void)state, (void)d, (void)k;
    return *(const bool*)ctx ? CR_ERR_FILE : CR_OK;
}

// quaternions that are unit to rounding are made unit by a step, to other last bits: not by one that fails
TEST(a_failed_step_keeps_every_bit) {
    for (int method = 0; method < 4; method++) {
        crModel* model = cr_model_create(NULL);
        bool refuse = false;
        scene_free(model, cr_shape_box(0.1, 0.2, 0.3), cr_vec3(0, 0, 0), NAN, 0);
        crWorldDef def = cr_world_def();
        def.model = model;
        def.step.method = (crMethod)method;
        def.force = refusing_force;
        def.force_ctx = &refuse;
        crWorld* world = NULL;
        CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
        for (int j = 0; j < 6; j++) {
            cr_world_state(world)->v[j] = 1.0 + j;
        }
        for (int i = 0; i < 200; i++) {
            uint64_t before = cr_world_hash(world);
            refuse = true;
            CHECK_STATUS(cr_world_step(world, NULL), CR_ERR_FILE);
            CHECK(cr_world_hash(world) == before);
            refuse = false;
            CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        }
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
}

// most scratch memory of balls that fall into a box, bytes
static double scratch_of(double e) {
    const crVec3 normals[] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -9.81);
    int material = scene_material(model, 0.5, e);
    for (int i = 0; i < 5; i++) {
        crShape wall = cr_shape_halfspace(normals[i], i == 0 ? 0.0 : -0.4);
        cr_model_add_shape(model, CR_WORLD, &wall, material);
    }
    for (int i = 0; i < 300; i++) {
        crVec3 at = cr_vec3(0.22 * (i % 3 - 1) + 1e-4 * (i % 7), 0.22 * (i / 3 % 3 - 1) + 1e-4 * (i % 5),
                            0.12 + 0.22 * (i / 9));
        scene_free(model, cr_shape_sphere(0.1), at, NAN, material);
    }
    crWorldDef def = cr_world_def();
    crWorld* world = NULL;
    def.model = model;
    def.step.dt = 1.0 / 240.0;
    def.step.quality = CR_QUALITY_FAST;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    size_t most = 0;
    int impacts = 0;
    for (int i = 0; i < 500; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        size_t now = cr_world_stages(world)->scratch.peak;
        most = now > most ? now : most;
        impacts += cr_world_certificate(world)->impacts;
    }
    CHECK((impacts > 100) == (e > 0.0));
    cr_world_destroy(world);
    cr_model_destroy(model);
    return (double)most;
}

// however often an instant of a large group is looked at, it has one list of contacts; short steps, which the heap without bounces
// takes, need less than a contact solve does
TEST(bounces_take_little_more_memory) {
    double still = scratch_of(0.0), bouncing = scratch_of(0.8);
    test_check(bouncing <= 1.6 * still, __FILE__, __LINE__, "%.0f bytes where balls bounce, else %.0f",
               bouncing, still);
}

static void* counting_alloc(void* ctx, size_t size) {
    *(size_t*)ctx += size;
    return malloc(size);
}

static void counting_free(void* ctx, void* memory, size_t size) {
    if (memory != NULL) *(size_t*)ctx -= size;
    free(memory);
}

// Most bytes held after a step, with the model, per body of a heap that falls into a box.
static double held(bool boxes, int steps) {
    const crVec3 normals[] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    size_t bytes = 0, most = 0;
    crAllocator allocator = {counting_alloc, counting_free, &bytes};
    crModel* model = cr_model_create(&allocator);
    crRandom random = sample_seed(3);
    model->gravity = cr_vec3(0, 0, -9.81);
    int material = scene_material(model, 0.5, 0.0), count = 1000;
    double apart = boxes ? 0.36 : 0.22;
    for (int i = 0; i < 5; i++) {
        crShape wall = cr_shape_halfspace(normals[i], i == 0 ? 0.0 : -4.2 * apart);
        cr_model_add_shape(model, CR_WORLD, &wall, material);
    }
    for (int i = 0; i < count; i++) {
        crBodyDef def = cr_body_def();
        crShape shape = boxes ? cr_shape_box(0.1, 0.1, 0.1) : cr_shape_sphere(0.1);
        def.joint = CR_JOINT_FREE;
        def.pose.p = cr_vec3(apart * (i % 8 - 3.5), apart * (i / 8 % 8 - 3.5), 0.2 + apart * (i / 64));
        def.pose.q = sample_rotation(&random);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, material);
    }
    crWorldDef def = cr_world_def();
    crWorld* world = NULL;
    def.model = model;
    def.allocator = &allocator;
    def.step.dt = 1.0 / 240.0;
    def.step.quality = CR_QUALITY_FAST;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    for (int i = 0; i < steps; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        most = bytes > most ? bytes : most;
    }
    cr_world_destroy(world);
    cr_model_destroy(model);
    CHECK(bytes == 0);
    return (double)most / count;
}

TEST(heaps_hold_few_bytes) {
    double balls = held(false, 240), boxes = held(true, 240);
    printf("bytes a body: balls %.0f, boxes %.0f\n", balls, boxes);
    CHECK(balls <= 4200.0 && boxes <= 5700.0);
}
