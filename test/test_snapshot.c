// test_snapshot.c - snapshots: their bytes, what they are bound to, and that forged ones are refused by the
// field's name or do no harm.
//
// Layout by its description in src/world/snapshot.c, written and read here by code of the test's own.
#include "snapshot_scene.h"

#include <float.h>
#include <limits.h>

#include "resolve/kinds.h"
#include "test.h"

typedef struct Saved {
    SnapshotScene scene;
    crWorld* world;
    size_t size;
    unsigned char* bytes;
    unsigned char* forged;
} Saved;

static Saved saved(crMethod method) {
    Saved s = {.scene = snapshot_scene()};
    s.world = snapshot_world(&s.scene, method, CR_QUALITY_ACCURATE);
    if (!CHECK(s.world != NULL)) exit(1);
    s.size = cr_world_save_size(s.world);
    s.bytes = malloc(s.size);
    s.forged = malloc(s.size);
    CHECK_STATUS(cr_world_save(s.world, s.bytes, s.size), CR_OK);
    memcpy(s.forged, s.bytes, s.size);
    return s;
}

static void release(Saved* s) {
    cr_world_destroy(s->world);
    snapshot_free_scene(&s->scene);
    free(s->bytes);
    free(s->forged);
}

static uint64_t number_at(const unsigned char* at, int size) {
    uint64_t x = 0;
    for (int i = size - 1; i >= 0; i--) {
        x = x << 8 | at[i];
    }
    return x;
}

static double double_at(const unsigned char* at) {
    uint64_t bits = number_at(at, 8);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

// offsets of the parts
typedef struct Layout {
    size_t q, v, force, motor_speed, warm, ties, sleep, end;
} Layout;

static Layout layout_of(const Saved* s) {
    const crStep* step = cr_world_stages(s->world);
    size_t nq = 8 * (size_t)step->model->nq, nv = 8 * (size_t)step->model->nv;
    Layout l = {.q = SNAPSHOT_HEADER + 8};
    l.v = l.q + nq;
    l.force = l.v + nv;
    l.motor_speed = l.force + nv;
    l.warm = l.motor_speed + nv;
    l.ties = l.warm + 48 * (size_t)step->warm.count;
    l.sleep = l.ties + 8 * (size_t)step->ties.count;
    l.end = l.sleep + 32 * (size_t)step->model->nb;
    return l;
}

TEST(the_bytes_are_little_endian_and_all_there) {
    Saved s = saved(CR_METHOD_CONE);
    const crStep* step = cr_world_stages(s.world);
    Layout l = layout_of(&s);
    CHECK(memcmp(s.bytes, "crWs\2\0\0\0", 8) == 0);
    CHECK(l.end == s.size);
    CHECK(double_at(s.bytes + SNAPSHOT_HEADER) == step->state.time);
    CHECK(double_at(s.bytes + l.v + 8) == step->state.v[1]);
    const unsigned char* last = s.bytes + l.ties - 48;
    const crWarm* w = &step->warm.force[step->warm.count - 1];
    CHECK((int)number_at(last, 4) == w->shape_a && (int)number_at(last + 12, 4) == w->child_b &&
          number_at(last + 16, 4) == w->feature_a && double_at(last + 40) == w->force.z);
    CHECK(number_at(s.bytes + SNAPSHOT_HASH, 8) ==
          cr_hash(CR_HASH_SEED, s.bytes + SNAPSHOT_HEADER, s.size - SNAPSHOT_HEADER));
    CHECK(number_at(s.bytes + SNAPSHOT_HASH, 8) == cr_world_hash(s.world));
    // the scene has what the tests below forge
    int asleep = 0, carried = 0, children = 0;
    for (int b = 1; b < step->model->nb; b++) {
        asleep += cr_world_asleep(s.world, b);
        carried += step->rest.sleep[b].carrier != 0;
    }
    for (int i = 0; i < step->warm.count; i++) {
        children += step->warm.force[i].child_a > 0 || step->warm.force[i].child_b > 0;
    }
    printf("  %zu bytes: %d contact forces, %d on later pieces, %d bodies asleep, %d carried\n", s.size,
           step->warm.count, children, asleep, carried);
    CHECK(asleep > 2 && asleep < 10 && carried > 0 && children > 0 && step->ties.count > 0);
    release(&s);
}

// the refused world is the old one, to its hash and to the next step
static void expect_refused(Saved* s, crStatus status, const char* field) {
    crError error = {0};
    uint64_t before = cr_world_hash(s->world);
    snapshot_seal(s->forged, s->size);
    crStatus got = cr_world_load(s->world, s->forged, s->size, &error);
    test_check(got == status && strcmp(error.field, field) == 0, __FILE__, __LINE__,
               "%s: expected %s, got %s by %s (%s)", field, cr_status_name(status), cr_status_name(got),
               error.field, error.message);
    CHECK(cr_world_hash(s->world) == before);
    memcpy(s->forged, s->bytes, s->size);
}

static void forge(Saved* s, size_t at, uint64_t x, int size, crStatus status, const char* list, int index,
                  const char* member) {
    char field[48];
    snprintf(field, sizeof field, member != NULL ? "%s[%d].%s" : "%s", list, index, member);
    snapshot_put(s->forged + at, x, size);
    expect_refused(s, status, field);
}

TEST(forged_numbers_are_refused_by_name) {
    Saved s = saved(CR_METHOD_CONE);
    const crStep* step = cr_world_stages(s.world);
    const crModel* model = step->model;
    Layout l = layout_of(&s);
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        uint64_t x = bits_of(bad[k]);
        forge(&s, SNAPSHOT_HEADER, x, 8, CR_ERR_FINITE, "time", 0, NULL);
        forge(&s, l.q, x, 8, CR_ERR_FINITE, "q", 0, NULL);
        forge(&s, l.v + 8, x, 8, CR_ERR_FINITE, "v", 0, NULL);
        forge(&s, l.force, x, 8, CR_ERR_FINITE, "force", 0, NULL);
        forge(&s, l.motor_speed, x, 8, CR_ERR_FINITE, "motor_speed", 0, NULL);
        forge(&s, l.ties, x, 8, CR_ERR_FINITE, "tie_force", 0, NULL);
        forge(&s, l.warm + 24, x, 8, CR_ERR_FINITE, "warm", 0, "force");
        forge(&s, l.sleep + 32, x, 8, CR_ERR_RANGE, "sleep", 1, "slow");
        forge(&s, l.sleep + 40, x, 8, CR_ERR_RANGE, "sleep", 1, "overlap");
    }
    forge(&s, l.q + 3 * 8, bits_of(2.0), 8, CR_ERR_UNIT, "q", 0, NULL);
    const int indices[] = {-1, model->shape_count, model->nb, 9999, INT_MAX, INT_MIN};
    for (int k = 0; k < 6; k++) {
        uint64_t x = (uint32_t)indices[k];
        for (int b = 0; b < model->nb; b++) {
            size_t at = l.sleep + 32 * (size_t)b;
            forge(&s, at + 24, x, 4, CR_ERR_RANGE, "sleep", b, "island");
            forge(&s, at + 28, x, 4, CR_ERR_RANGE, "sleep", b, "carrier");
        }
        if (indices[k] == model->nb) continue;
        for (int i = 0; i < step->warm.count; i++) {
            size_t at = l.warm + 48 * (size_t)i;
            forge(&s, at, x, 4, CR_ERR_RANGE, "warm", i, "shape_a");
            forge(&s, at + 4, x, 4, CR_ERR_RANGE, "warm", i, "shape_b");
            if (indices[k] == model->shape_count) continue;
            forge(&s, at + 8, x, 4, CR_ERR_RANGE, "warm", i, "child_a");
            forge(&s, at + 12, x, 4, CR_ERR_RANGE, "warm", i, "child_b");
        }
    }
    release(&s);
}

// islands are whole: trees and tied bodies fall asleep together, a body that v does not move never does
TEST(forged_islands_are_refused) {
    Saved s = saved(CR_METHOD_CONE);
    const crStep* step = cr_world_stages(s.world);
    const crModel* model = step->model;
    Layout l = layout_of(&s);
    int refused = 0;
    for (int b = 1; b < model->nb; b++) {
        for (int island = 1; island < model->nb; island++) {
            crError error = {0};
            int was = step->rest.sleep[b].island;
            bool led = step->rest.sleep[island].island == island;
            if (was == island) continue;
            bool leads = false;
            for (int i = b + 1; i < model->nb; i++) {
                leads = leads || (was == b && step->rest.sleep[i].island == b);
            }
            snapshot_put(s.forged + l.sleep + 32 * (size_t)b + 24, (uint64_t)island, 4);
            snapshot_seal(s.forged, s.size);
            crStatus status = cr_world_load(s.world, s.forged, s.size, &error);
            refused += status != CR_OK;
            // a single body may sleep on its own, or with others that sleep and come before it
            bool alone = model->bodies[b].single && !leads && (island == b || (led && island < b));
            for (int i = 0; i < model->loop_count; i++) {
                if (model->loops[i].a == b || model->loops[i].b == b) alone = false;
            }
            if (!alone) {
                test_check(status == CR_ERR_RANGE && strstr(error.field, "].island") != NULL, __FILE__,
                           __LINE__, "body %d of island %d in %d: %s by %s", b, was, island,
                           cr_status_name(status), error.field);
            }
            CHECK_STATUS(cr_world_load(s.world, s.bytes, s.size, NULL), CR_OK);
            memcpy(s.forged, s.bytes, s.size);
        }
    }
    printf("  %d forged islands refused\n", refused);
    release(&s);
}

// every byte, with a hash that fits: refused with the world unchanged, or a world that steps or says why not
static void change_every_byte(crMethod method) {
    Saved s = saved(method);
    int refused = 0, ran = 0, failed = 0;
    for (size_t i = 0; i < s.size; i++) {
        static const unsigned char values[] = {0xff, 0x7f, 0x80};
        for (int k = 0; k < 3; k++) {
            unsigned char value = k == 2 ? s.bytes[i] ^ 0x80 : values[k];
            bool hash = i >= SNAPSHOT_HASH && i < SNAPSHOT_HEADER;
            if (value == s.bytes[i]) continue;
            s.forged[i] = value;
            if (!hash) snapshot_seal(s.forged, s.size);
            crError error = {0};
            crStatus status = cr_world_load(s.world, s.forged, s.size, &error);
            if (i < SNAPSHOT_HEADER) CHECK(status != CR_OK);
            if (status != CR_OK) {
                CHECK(error.field[0] != '\0' && error.message[0] != '\0');
                CHECK(cr_world_hash(s.world) == number_at(s.bytes + SNAPSHOT_HASH, 8));
                refused++;
            } else {
                CHECK(cr_world_hash(s.world) == number_at(s.forged + SNAPSHOT_HASH, 8));
                status = cr_world_step(s.world, NULL);
                if (status == CR_OK) status = cr_world_step(s.world, NULL);
                ran += status == CR_OK;
                failed += status != CR_OK;
                if (status == CR_OK) CHECK(isfinite(cr_world_energy(s.world).kinetic));
            }
            memcpy(s.forged, s.bytes, s.size);
            if (!CHECK_STATUS(cr_world_load(s.world, s.bytes, s.size, NULL), CR_OK)) i = s.size;
        }
    }
    printf("  %s: %d forgeries refused, %d went on, %d failed their step\n", cr_method_name(method), refused,
           ran, failed);
    CHECK(refused > 0 && ran > 0);
    release(&s);
}

TEST(every_byte_changed_with_a_hash_that_fits_cone) { change_every_byte(CR_METHOD_CONE); }

TEST(every_byte_changed_with_a_hash_that_fits_lcp) {
    if (test_samples(6000) > 200) change_every_byte(CR_METHOD_LCP);
}

TEST(every_length_is_refused_but_the_right_one) {
    Saved s = saved(CR_METHOD_CONE);
    for (size_t size = 0; size < s.size; size++) {
        crError error = {0};
        CHECK(cr_world_load(s.world, s.bytes, size, &error) != CR_OK && error.field[0] != '\0');
    }
    // counts that would overflow the sum of sizes
    for (int k = 0; k < 5; k++) {
        static const uint32_t counts[] = {0x7fffffff, 0x80000000, 0xffffffff, 0x05555555, 0x02aaaaab};
        snapshot_put(s.forged + 32, counts[k], 4);
        expect_refused(&s, CR_ERR_SIZE, "bytes");
    }
    release(&s);
}

TEST(snapshots_of_the_first_version_are_refused_as_such) {
    Saved s = saved(CR_METHOD_CONE);
    crError error = {0};
    static const char* const old[] = {"3Wrc", "crW3"};
    for (int k = 0; k < 2; k++) {
        memcpy(s.forged, old[k], 4);
        CHECK_STATUS(cr_world_load(s.world, s.forged, s.size, &error), CR_ERR_RANGE);
        CHECK_TEXT(error.field, "version");
        CHECK(strstr(error.message, "version 1") != NULL);
    }
    memcpy(s.forged, s.bytes, s.size);
    s.forged[4] = 3;
    CHECK_STATUS(cr_world_load(s.world, s.forged, s.size, &error), CR_ERR_RANGE);
    CHECK(strstr(error.message, "version 3") != NULL);
    release(&s);
}

// a small model with one number changed; which: 0 none
static crModel* changed_model(int which) {
    crModel* model = cr_model_create(NULL);
    if (which == 1) model->gravity.z = -9.8;
    crMaterial material = cr_material();
    if (which == 2) material.surface.mu = 0.4;
    if (which == 3) material.surface.e = 0.1;
    static const double speed[] = {0.0, 1.0}, e[] = {0.5, 0.4}, other[] = {0.5, 0.3};
    crRestitution table = {2, speed, which == 4 ? other : e, NULL, NULL};
    material.surface.e_of_speed = &table;
    int k = cr_model_add_material(model, &material);
    crSurface surface = cr_material().surface;
    if (which == 5) surface.mu_roll = 0.01;
    cr_model_add_pair(model, 0, k, &surface);
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), which == 6 ? 0.1 : 0.0);
    cr_model_add_shape(model, CR_WORLD, &ground, which == 7 ? 0 : k);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p.z = which == 8 ? 1.1 : 1.0;
    def.linear_drag = which == 9 ? 0.1 : 0.0;
    int a = cr_model_add_body(model, &def);
    crShape ball = which == 10 ? cr_shape_sphere(0.11) : cr_shape_sphere(0.1);
    cr_model_add_shape(model, a, &ball, k);
    def = cr_body_def();
    def.joint = which == 11 ? CR_JOINT_SLIDER : CR_JOINT_HINGE;
    def.axis = which == 12 ? cr_vec3(0, 1, 0) : cr_vec3(1, 0, 0);
    def.dof[0].damping = which == 13 ? 0.1 : 0.0;
    def.dof[0].upper = which == 14 ? 1.0 : 2.0;
    def.gravity_scale = which == 15 ? 0.5 : 1.0;
    def.pose.p.x = 2.0;
    int b = cr_model_add_body(model, &def);
    crShape box = cr_shape_box(0.1, 0.2, 0.3);
    if (which == 16) box.pose.p.x = 0.1;
    int shape = cr_model_add_shape(model, b, &box, k);
    if (which == 17) cr_model_set_filter(model, shape, 2, 1);
    if (which == 18) cr_model_exclude(model, a, b);
    crLoop loop = cr_loop(CR_LOOP_DISTANCE, a, b);
    loop.length = which == 19 ? 3.1 : 3.0;
    if (which == 20) loop.upper = 4.0;
    cr_model_add_loop(model, &loop);
    if (which == 21) cr_model_add_shape(model, b, &ball, k);
    return model;
}

static crWorld* world_of(const crModel* model, const crStepSettings* settings) {
    crWorldDef def = cr_world_def();
    def.model = model;
    if (settings != NULL) def.step = *settings;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    return world;
}

TEST(a_snapshot_of_another_model_is_refused) {
    crModel* model = changed_model(0);
    crWorld* world = world_of(model, NULL);
    unsigned char bytes[2048];
    size_t size = cr_world_save_size(world);
    CHECK_STATUS(cr_world_save(world, bytes, sizeof bytes), CR_OK);
    for (int which = 0; which <= 21; which++) {
        crModel* other = changed_model(which);
        crWorld* into = world_of(other, NULL);
        crError error = {0};
        crStatus status = cr_world_load(into, bytes, size, &error);
        bool good = which == 0 ? status == CR_OK
                               : (status == CR_ERR_RANGE || status == CR_ERR_SIZE) &&
                                     strcmp(error.field, "model") == 0 &&
                                     strstr(error.message, "another model") != NULL;
        test_check(good, __FILE__, __LINE__, "model %d: %s, %s", which, cr_status_name(status),
                   error.message);
        cr_world_destroy(into);
        cr_model_destroy(other);
    }
    cr_world_destroy(world);
    cr_model_destroy(model);
}

static crStepSettings changed_settings(int which) {
    crStepSettings s = cr_step_settings();
    if (which == 1) s.method = CR_METHOD_MOREAU;
    if (which == 2) s.dt *= 2.0;
    if (which == 3) s.level = CR_LEVEL_VELOCITY;
    if (which == 4) s.fixed_point = true;
    if (which == 5) s.directions = 9;
    if (which == 6) s.restitution = CR_LCP_POISSON;
    if (which == 7) s.theta = 1.0;
    if (which == 8) s.activation = 0.6;
    if (which == 9) s.toi = CR_TOI_ADVANCE;
    if (which == 10) s.rule = cr__rule(&cr__rule_newton, NULL);
    if (which == 11) s.law = cr__law(&cr__law_routh, NULL);
    if (which == 12) s.solver = cr__solver(&cr__solver_lemke, NULL);
    if (which == 13) s.tol = 1e-8;
    if (which == 14) s.quality = CR_QUALITY_FAST;
    if (which == 15) s.threshold = 0.02;
    if (which == 16) s.cluster = 1e-5;
    if (which == 17) s.deadband = 1e-4;
    if (which == 18) s.position_tol = 0.2;
    if (which == 19) s.impact_limit = 10;
    if (which == 20) s.bound = 1e5;
    if (which == 21) s.sleep_time = 1.0;
    if (which == 22) s.sleep_speed = 0.01;
    if (which == 23) s.threads = 2;
    return s;
}

TEST(a_snapshot_under_other_settings_is_refused) {
    crModel* model = changed_model(0);
    crWorld* world = world_of(model, NULL);
    unsigned char bytes[2048];
    size_t size = cr_world_save_size(world);
    CHECK_STATUS(cr_world_save(world, bytes, sizeof bytes), CR_OK);
    for (int which = 0; which <= 23; which++) {
        crStepSettings settings = changed_settings(which);
        crWorld* into = world_of(model, &settings);
        crError error = {0};
        crStatus status = cr_world_load(into, bytes, size, &error);
        bool same = which == 0 || which == 23;  // threads change no result
        test_check(same ? status == CR_OK : status != CR_OK && strcmp(error.field, "settings") == 0, __FILE__,
                   __LINE__, "setting %d: %s, %s", which, cr_status_name(status), error.message);
        cr_world_destroy(into);
    }
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// the future of a snapshot, and of the world it was taken from
TEST(restored_worlds_go_on_to_the_same_bits_under_every_method) {
    for (int method = CR_METHOD_CONE; method <= CR_METHOD_EVENT; method++) {
        Saved s = saved((crMethod)method);
        for (int i = 0; i < 20; i++) {
            CHECK_STATUS(cr_world_step(s.world, NULL), CR_OK);
        }
        uint64_t later = cr_world_hash(s.world);
        crWorld* other = snapshot_world(&s.scene, (crMethod)method, CR_QUALITY_ACCURATE);
        CHECK_STATUS(cr_world_load(other, s.bytes, s.size, NULL), CR_OK);
        for (int i = 0; i < 20; i++) {
            CHECK_STATUS(cr_world_step(other, NULL), CR_OK);
        }
        CHECK(cr_world_hash(other) == later);
        cr_world_destroy(other);
        release(&s);
    }
}

// A rod in a plane lands on the floor, one end first: kept forces stand in one order, whichever end that is.
TEST(rods_in_a_plane_are_saved_and_loaded) {
    for (int turned = 0; turned < 4; turned++) {
        crModel* model = cr_model_create(NULL);
        crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0), rod = cr_shape_capsule(0.1, 0.4);
        cr_model_add_shape(model, CR_WORLD, &floor, 0);
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_PLANAR;
        def.mass = 1.0;
        def.inertia = (crSym3){.xx = 0.005, .yy = 0.06, .zz = 0.06};
        // x and z of the world are x and -y of the joint
        def.pose.p = cr_vec3(0, 0, 0.12);
        def.pose.q = cr_quat_axis_angle(cr_vec3(1, 0, 0), -0.5 * CR_PI);
        rod.pose.q = cr_quat_axis_angle(cr_vec3(0, 1, 0), 0.5 * CR_PI);
        int body = cr_model_add_body(model, &def);
        cr_model_add_shape(model, body, &rod, 0);
        crStepSettings settings = cr_step_settings();
        crWorld *world = world_of(model, &settings), *other = world_of(model, &settings);
        cr_world_state(world)->q[2] = (turned % 2 == 0 ? 0.02 : -0.02) + turned / 2 * CR_PI;
        int both = 0;
        for (int i = 0; i < 100; i++) {
            CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
            both += cr_world_stages(world)->contacts.count == 2;
            size_t size = cr_world_save_size(world);
            void* bytes = malloc(size);
            CHECK_STATUS(cr_world_save(world, bytes, size), CR_OK);
            CHECK_STATUS(cr_world_load(other, bytes, size, NULL), CR_OK);
            free(bytes);
        }
        CHECK(both > 20);
        CHECK(cr_world_hash(other) == cr_world_hash(world));
        cr_world_destroy(world);
        cr_world_destroy(other);
        cr_model_destroy(model);
    }
}
