// test_step_local.c - what one part of a world does to another: nothing, until they meet.
//
// Bits of a scene do not depend on a second one far away; impacts in a heap are those of the same impact
// alone; a plastic landing that is not located ends where the located one does.
#include <stdlib.h>

#include "resolve/kinds.h"
#include "sample.h"
#include "world_scene.h"

typedef struct Item {
    crShape shape;
    crVec3 p, v, omega;
    double mass;
    double e;
} Item;

// a heap about to fall together: balls and boxes over the ground, some with restitution
static int make_heap(crRandom* random, Item* items, int count, double e) {
    for (int i = 0; i < count; i++) {
        bool box = i % 3 == 2;
        items[i] = (Item){.shape = box ? cr_shape_box(0.08, 0.06, 0.05) : cr_shape_sphere(0.08)};
        items[i].p = cr_vec3(0.17 * (i % 3) + sample_uniform(random, -0.01, 0.01),
                             0.17 * (i / 3 % 2) + sample_uniform(random, -0.01, 0.01), 0.1 + 0.2 * (i / 6));
        items[i].v = cr_vec3(sample_uniform(random, -0.5, 0.5), sample_uniform(random, -0.5, 0.5), -1.0);
        items[i].omega = cr_vec3(sample_uniform(random, -2, 2), sample_uniform(random, -2, 2), 0.0);
        items[i].mass = sample_log(random, 0.5, 2.0);
        items[i].e = e;
    }
    return count;
}

typedef struct Scene {
    crModel* model;
    crWorld* world;
} Scene;

// the two heaps one after the other, or only one of them; the second stands 50 m away
static Scene build(const Item* a, int a_count, const Item* b, int b_count, double sleep) {
    Scene scene = {cr_model_create(NULL), NULL};
    int hard = scene_material(scene.model, 0.4, 0.5), soft = scene_material(scene.model, 0.4, 0.0);
    scene_ground(scene.model, cr_vec3(0, 0, 1), hard);
    for (int k = 0; k < 2; k++) {
        const Item* items = k == 0 ? a : b;
        for (int i = 0; i < (k == 0 ? a_count : b_count); i++) {
            crVec3 p = items[i].p;
            p.x += k == 0 ? 0.0 : 50.0;
            scene_free(scene.model, items[i].shape, p, items[i].mass, items[i].e > 0.0 ? hard : soft);
        }
    }
    crStepSettings settings = cr_step_settings();
    settings.sleep_time = sleep;
    scene.world = scene_world(scene.model, &settings);
    double* v = cr_world_state(scene.world)->v;
    for (int k = 0; k < 2; k++) {
        const Item* items = k == 0 ? a : b;
        for (int i = 0; i < (k == 0 ? a_count : b_count); i++, v += 6) {
            memcpy(v, &items[i].v, sizeof(crVec3));
            memcpy(v + 3, &items[i].omega, sizeof(crVec3));
        }
    }
    return scene;
}

static void drop(Scene* scene) {
    cr_world_destroy(scene->world);
    cr_model_destroy(scene->model);
}

static bool same_bits(const Scene* alone, const Scene* both, int q, int v, int nq, int nv) {
    const crState* x = cr_world_state(alone->world);
    const crState* y = cr_world_state(both->world);
    return memcmp(x->q, y->q + q, (size_t)nq * sizeof(double)) == 0 &&
           memcmp(x->v, y->v + v, (size_t)nv * sizeof(double)) == 0;
}

TEST(a_scene_far_away_changes_no_bit) {
    crRandom random = sample_seed(71);
    int compared = 0, impacts = 0;
    for (int round = 0; round < 4; round++) {
        Item a[9], b[7];
        int na = make_heap(&random, a, 9, round % 2 == 0 ? 0.5 : 0.0);
        int nb = make_heap(&random, b, 7, 0.5);
        double sleep = round < 2 ? 0.0 : 0.1;
        Scene first = build(a, na, NULL, 0, sleep), both = build(a, na, b, nb, sleep);
        for (int i = 0; i < 120; i++) {
            CHECK_STATUS(cr_world_step(first.world, NULL), CR_OK);
            CHECK_STATUS(cr_world_step(both.world, NULL), CR_OK);
            impacts += cr_world_certificate(both.world)->impacts;
            if (!CHECK(same_bits(&first, &both, 0, 0, 7 * na, 6 * na))) break;
            compared++;
        }
        drop(&first);
        // and the other way round: what stands first changes nothing of the second
        Scene moved = build(NULL, 0, b, nb, sleep), again = build(a, na, b, nb, sleep);
        for (int i = 0; i < 120; i++) {
            CHECK_STATUS(cr_world_step(moved.world, NULL), CR_OK);
            CHECK_STATUS(cr_world_step(again.world, NULL), CR_OK);
            if (!CHECK(same_bits(&moved, &again, 7 * na, 6 * na, 7 * nb, 6 * nb))) break;
            compared++;
        }
        drop(&moved);
        drop(&again);
        drop(&both);
    }
    printf("  %d steps compared, %d impacts\n", compared, impacts);
    CHECK(impacts > 50);
}

// five beads on a wire above a heap of balls that falls together meanwhile: the cradle does what it does
// alone
TEST(a_cradle_inside_a_heap_behaves) {
    double alone[5] = {0};
    for (int heap = 0; heap < 2; heap++) {
        crModel* model = cr_model_create(NULL);
        int elastic = scene_material(model, 0.0, 1.0), clay = scene_material(model, 0.3, 0.3);
        for (int i = 0; i < 5; i++) {
            scene_bead(model, 0.05, i == 0 ? 0.0 : 0.2 + 0.1001 * (i - 1), elastic);
        }
        crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), -0.6);
        cr_model_add_shape(model, CR_WORLD, &floor, clay);
        // balls under, above and beside the wire, none on it
        for (int i = 0; heap > 0 && i < 24; i++) {
            crVec3 p = cr_vec3(0.14 * (i % 6), i % 2 == 0 ? 0.14 : -0.14, -0.5 + 0.14 * (i / 6));
            scene_free(model, cr_shape_sphere(0.06), p, 0.5, clay);
        }
        crStepSettings settings = cr_step_settings();
        settings.rule = cr__rule(&cr__rule_sequence, NULL);
        settings.law = cr__law(&cr__law_newton, NULL);
        crWorld* world = scene_world(model, &settings);
        cr_world_state(world)->v[0] = 1.0;
        CHECK_STATUS(cr_world_run(world, 0.4, NULL), CR_OK);
        const double* v = cr_world_state(world)->v;
        for (int i = 0; i < 5; i++) {
            CHECK_NEAR(v[i], i == 4 ? 1.0 : 0.0, 1e-12);
            if (heap == 0) alone[i] = v[i];
            CHECK(v[i] == alone[i]);
        }
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
}

static void land(bool located, double dt, crVec3 start, double state[13]) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.4, 0.0);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.13), 1.0, material);
    crStepSettings settings = cr_step_settings();
    settings.dt = dt;
    // an explicit polygon of many sides is not the cone: the rule locates it
    static crRuleParams params;
    params = cr_rule_params();
    params.directions = 64;
    if (located) settings.rule = cr__rule(&cr__rule_poisson, &params);
    crWorld* world = scene_world(model, &settings);
    crState* s = cr_world_state(world);
    memcpy(s->v, &start, sizeof start);
    int impacts = 0;
    for (int i = 0; i < (int)(0.1 / dt + 0.5); i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        impacts += cr_world_certificate(world)->impacts;
        // never half a fall below the surface
        CHECK(s->q[2] >= 0.1 - 2e-8);
    }
    CHECK(impacts == (located ? 1 : 0));
    memcpy(state, s->q, 7 * sizeof(double));
    memcpy(state + 7, s->v, 6 * sizeof(double));
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// a ball lands without restitution: located by the rule, or caught by the contact solve
TEST(plastic_landings_need_not_be_located) {
    static const double steps[] = {1.0 / 60.0, 1.0 / 240.0, 1e-3};
    for (int k = 0; k < 3; k++) {
        double with[13], without[13];
        crVec3 straight = cr_vec3(0, 0, -1.0), sliding = cr_vec3(3.0, 0, -1.0);
        land(true, steps[k], straight, with);
        land(false, steps[k], straight, without);
        for (int i = 7; i < 13; i++) {
            CHECK_NEAR(with[i], without[i], 1e-9);
        }
        CHECK_NEAR(with[2], without[2], 2e-8);
        // sliding: friction takes mu g from landing on either way; the push of landing is spread over the
        // step
        land(true, steps[k], sliding, with);
        land(false, steps[k], sliding, without);
        CHECK_NEAR(with[9], without[9], 1e-9);
        // what is left differs by friction's work on where in the step it landed: mu g dt
        CHECK_NEAR(with[7], without[7], 0.4 * 9.81 * steps[k]);
        CHECK_NEAR(with[0], without[0], 3.0 * steps[k] * 0.2);
    }
}

TEST(snapshots_in_the_middle_of_a_heap) {
    crRandom random = sample_seed(73);
    Item a[12];
    int count = make_heap(&random, a, 12, 0.5);
    Scene scene = build(a, count, NULL, 0, 0.2), other = build(a, count, NULL, 0, 0.2);
    for (int i = 0; i < 60; i++) {
        CHECK_STATUS(cr_world_step(scene.world, NULL), CR_OK);
    }
    size_t size = cr_world_save_size(scene.world);
    void* bytes = malloc(size);
    CHECK_STATUS(cr_world_save(scene.world, bytes, size), CR_OK);
    CHECK_STATUS(cr_world_load(other.world, bytes, size, NULL), CR_OK);
    for (int i = 0; i < 240; i++) {
        CHECK_STATUS(cr_world_step(scene.world, NULL), CR_OK);
        CHECK_STATUS(cr_world_step(other.world, NULL), CR_OK);
        if (!CHECK(cr_world_hash(scene.world) == cr_world_hash(other.world))) break;
    }
    // a world without sleep takes no snapshot with it
    Scene awake = build(a, count, NULL, 0, 0.0);
    CHECK_STATUS(cr_world_load(awake.world, bytes, size, NULL), CR_ERR_SIZE);
    free(bytes);
    drop(&awake);
    drop(&scene);
    drop(&other);
}

// a cradle of five balls stands on the floor in the middle of a resting heap, close to it and untouched: under
// the sequence rule the last ball leaves with the first one's speed, the others stay, and so does the heap
TEST(a_cradle_among_resting_balls) {
    crModel* model = cr_model_create(NULL);
    int elastic = scene_material(model, 0.0, 1.0), heap = scene_material(model, 0.6, 0.5);
    scene_ground(model, cr_vec3(0, 0, 1), heap);
    for (int i = 0; i < 5; i++) {
        scene_free(model, cr_shape_sphere(0.05), cr_vec3(i == 0 ? -0.1 : 0.1 * i, 0, 0.05), 1.0, elastic);
    }
    // two rows of three on each side, and two on top of them, at rest in their hollows
    double r = 0.05, up = r * (1.0 + sqrt(2.0)), side[] = {-1.0, 1.0};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 6; i++) {
            double y = side[k] * (0.101 + 2.0 * r * (i / 3));
            scene_free(model, cr_shape_sphere(r), cr_vec3(0.1 + 2.0 * r * (i % 3), y, r), 1.0, heap);
        }
        for (int i = 0; i < 2; i++) {
            double y = side[k] * (0.101 + r);
            scene_free(model, cr_shape_sphere(r), cr_vec3(0.1 + r + 2.0 * r * i, y, up), 1.0, heap);
        }
    }
    crStepSettings settings = cr_step_settings();
    settings.rule = cr__rule(&cr__rule_sequence, NULL);
    crWorld* world = scene_world(model, &settings);
    crState* state = cr_world_state(world);
    state->v[0] = 1.0;
    double q[7 * 21];
    memcpy(q, state->q, (size_t)model->nq * sizeof(double));
    for (int i = 0; i < 36; i++) {
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
    }
    // 0.1 m to the second ball, then the last one goes
    for (int i = 0; i < 5; i++) {
        CHECK_NEAR(state->v[6 * i], i == 4 ? 1.0 : 0.0, 1e-9);
    }
    CHECK_NEAR(state->q[7 * 4], 0.4 + 36.0 / 240.0 - 0.1, 1e-6);
    double moved = 0.0;
    for (int i = 7 * 5; i < model->nq; i++) {
        moved = fmax(moved, fabs(state->q[i] - q[i]));
    }
    printf("  the heap moved by %.1e m\n", moved);
    CHECK(moved <= 1e-6);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

static crStatus no_force(void* ctx, const crModel* model, const crState* state, const crDynamics* d,
                         double* k) {
    (void)ctx, (void)model, (void)state, (void)d, (void)k;
    return CR_OK;
}

// a force of the user's makes one group of all bodies, here of more than 64: impacts may be up to an eighth of a
// step early, and a cradle among them does what the rule says
TEST(a_cradle_in_a_large_group) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    int elastic = scene_material(model, 0.0, 1.0);
    for (int i = 0; i < 75; i++) {
        crVec3 p = i < 5 ? cr_vec3(i == 0 ? -0.1 : 0.1 * i, 0, 0) : cr_vec3(0.2 * i, 1, 0);
        scene_free(model, cr_shape_sphere(0.05), p, 1.0, elastic);
    }
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.rule = cr__rule(&cr__rule_sequence, NULL);
    def.force = no_force;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    crState* state = cr_world_state(world);
    state->v[0] = 1.0;
    for (int i = 0; i < 36; i++) {
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
    }
    for (int i = 0; i < 75; i++) {
        CHECK_NEAR(state->v[6 * i], i == 4 ? 1.0 : 0.0, 1e-9);
    }
    double early = state->q[7 * 4] - (0.4 + 36.0 / 240.0 - 0.1);
    CHECK(early >= -1e-6 && early <= 1.0 / 240.0 / 8.0 + 1e-6);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// 80 smooth balls fall into a box: energy never grows, nothing overlaps, and each impact of two bodies alone takes
// (1 - e)/(1 + e) P^2 / 2m, whatever group it was in
TEST(impacts_of_a_heap_keep_their_restitution) {
    crModel* model = cr_model_create(NULL);
    const double e = 0.5, mass = 0.7;
    int material = scene_material(model, 0.0, e);
    static const crVec3 normals[] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    for (int i = 0; i < 5; i++) {
        crShape wall = cr_shape_halfspace(normals[i], i == 0 ? 0.0 : -0.25);
        cr_model_add_shape(model, CR_WORLD, &wall, material);
    }
    crRandom random = sample_seed(79);
    for (int i = 0; i < 80; i++) {
        crVec3 p = cr_vec3(0.12 * (i % 4) - 0.18, 0.12 * (i / 4 % 4) - 0.18, 0.06 + 0.12 * (i / 16));
        scene_free(model, cr_shape_sphere(0.05), cr_madd(p, 0.005, sample_direction(&random)), mass,
                   material);
    }
    crWorld* world = scene_world(model, NULL);
    double last = scene_total(world), gained = 0.0, worst = 0.0, overlap = 0.0;
    int alone = 0;
    for (int i = 0; i < 180; i++) {
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
        crEvents events = cr_world_events(world);
        for (int k = 0; k < events.count; k++) {
            const crEvent* event = &events.events[k];
            bool shared = (k > 0 && event[-1].impact == event->impact) ||
                          (k + 1 < events.count && event[1].impact == event->impact);
            if (event->impact < 0 || shared) continue;
            double m = event->body_a == CR_WORLD || event->body_b == CR_WORLD ? mass : 0.5 * mass;
            double P2 = cr_dot(event->impulse, event->impulse);
            worst = fmax(worst, fabs(event->energy_change * 2.0 * m / P2 * (1.0 + e) / (1.0 - e) + 1.0));
            alone++;
        }
        double now = scene_total(world);
        gained = fmax(gained, (now - last) / last);
        last = now;
        overlap = fmax(overlap, cr_world_certificate(world)->penetration);
        CHECK(!cr_world_certificate(world)->truncated);
    }
    printf("  %d impacts of two bodies: energy to %.1e; energy gained %.1e, overlap %.1e m\n", alone, worst,
           gained, overlap);
    CHECK(alone > 300);
    CHECK(worst <= 1e-9);
    CHECK(gained <= 1e-12);
    CHECK(overlap <= 1.1e-8);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// a blow sends a ball out of the box it was listed with, in the middle of the step; what else touches and
// closes fast at that time is an impact all the same
TEST(a_blow_elsewhere_forgets_no_impact) {
    crModel* model = cr_model_create(NULL);
    int elastic = scene_material(model, 0.0, 1.0);
    model->gravity = cr_vec3(0, 0, 0);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0), 100.0, elastic);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0.2, 0, 0), 1.0, elastic);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 5, 0), 1.0, elastic);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0.2, 5, 0), 1.0, elastic);
    crStepSettings settings = cr_step_settings();
    crWorld* world = scene_world(model, &settings);
    double* v = cr_world_state(world)->v;
    v[0] = 20.0;
    v[12] = 1.0;
    CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    CHECK(cr_world_certificate(world)->impacts == 2);
    CHECK_NEAR(v[0], 20.0 * 99.0 / 101.0, 1e-12);
    CHECK_NEAR(v[6], 20.0 * 200.0 / 101.0, 1e-12);
    CHECK_NEAR(v[12], 0.0, 1e-12);
    CHECK_NEAR(v[18], 1.0, 1e-12);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

TEST(escapes_are_reported) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.4, 0.5);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.1), 1.0, material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(1, 0, 5.0), 1.0, material);
    crStepSettings settings = cr_step_settings();
    settings.bound = 100.0;
    crWorld* world = scene_world(model, &settings);
    cr_world_state(world)->v[6] = 300.0;
    double left_at = 0.0;
    while (cr_world_state(world)->time < 1.0) {
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
        const crCertificate* c = cr_world_certificate(world);
        CHECK(c->escaped == (c->escapee != 0));
        if (c->escaped > 0 && left_at == 0.0) left_at = cr_world_state(world)->time;
        if (c->escaped > 0) CHECK(c->escapee == 2);
    }
    CHECK_NEAR(left_at, 99.0 / 300.0, 1.1 / 240.0);
    // a body that would cross the bound in one step blew up
    cr_world_state(world)->v[0] = 1e5;
    uint64_t before = cr_world_hash(world);
    crError error = {0};
    CHECK_STATUS(cr_world_step(world, &error), CR_ERR_FINITE);
    CHECK(strstr(error.message, "body 1") != NULL);
    CHECK(cr_world_hash(world) == before);
    settings.bound = -1.0;
    CHECK_STATUS(cr_step_settings_check(&settings, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "bound");
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// A ball falls on a field of balls that lie side by side, at rest. In fast such a field has one instant for its impacts, the
// beginning of the step in which they would come: whatever is struck is solved once.
TEST(a_large_calm_group_bounces_once_a_step) {
    enum { ACROSS = 14 };
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.4, 0.5);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    for (int i = 0; i < ACROSS * ACROSS; i++) {
        scene_free(model, cr_shape_sphere(0.1), cr_vec3(0.2 * (i % ACROSS), 0.2 * (i / ACROSS), 0.1), 1.0,
                   material);
    }
    int ball = scene_free(model, cr_shape_sphere(0.1), cr_vec3(1.2, 1.2, 0.4), 1.0, material);
    crStepSettings settings = cr_step_settings();
    settings.dt = 1.0 / 240.0;
    settings.quality = CR_QUALITY_FAST;
    crWorld* world = scene_world(model, &settings);
    const crState* s = cr_world_state(world);
    const double* v = s->v + model->bodies[ball].v;
    double down = 0.0, up = 0.0;
    int struck = 0;
    for (int k = 0; k < 60; k++) {
        double start = s->time, before = v[2];
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        const crCertificate* c = cr_world_certificate(world);
        crEvents events = cr_world_events(world);
        CHECK(c->energy.gain <= CR_ENERGY_TOL * c->energy.size && !c->truncated);
        CHECK(c->penetration <= 1e-5);
        for (int i = 0; i < events.count; i++) {
            if (events.events[i].impact < 0) continue;
            CHECK(events.events[i].time == start);
            CHECK(c->solves <= 2);
            struck++;
        }
        down = fmin(down, before);
        up = fmax(up, v[2]);
    }
    printf("  %d contacts struck, down %.3f, up %.3f m/s\n", struck, down, up);
    // it fell 0.1 m, to one step's fall, and the ball that it struck stands on the ground
    CHECK(fabs(down + sqrt(2.0 * 9.81 * 0.1)) <= 2.0 * 9.81 / 240.0);
    CHECK(struck > 0 && up > 0.1 && up <= -down);
    cr_world_destroy(world);
    cr_model_destroy(model);
}
