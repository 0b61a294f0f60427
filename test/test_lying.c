// test_lying.c - islands at rest are left out of steps, and nobody sees a difference: states, hashes, events, contacts and
// certificates are those of worlds that compute everything, over random scenes.
#include <stdlib.h>
#include <string.h>

#include "carom/batch.h"
#include "carom/carom.h"
#include "carom/robot.h"
#include "carom/stages.h"
#include "sample.h"
#include "world_scene.h"

// What a scene has beside free bodies on a floor.
typedef enum Extra { NOTHING, WALLS, CURVED, ROLLING, ARM, PADDLE, BOUNCE, SLEEP, LOAD, EXTRAS } Extra;

static void swing(void* ctx, double time, crDriven* out) {
    (void)ctx;
    out->pose.p.x = -0.9 + 0.25 * cr_sin(3.0 * time);
    out->velocity.x = 0.75 * cr_cos(3.0 * time);
}

static void wind(void* ctx, const crLoadAt* at, crLoadValue* out) {
    (void)ctx;
    (void)at;
    out->force.x = 0.5;
}

static crShape shape_of(crRandom* random, Extra extra) {
    double size = sample_uniform(random, 0.05, 0.12);
    int kinds = extra == CURVED ? 5 : 2, kind = (int)(sample_bits(random) % (uint64_t)kinds);
    switch (kind) {
    case 0:
        return cr_shape_box(size, size * sample_uniform(random, 0.6, 1.0), size);
    case 1:
        return cr_shape_sphere(size);
    case 2:
        return cr_shape_cylinder(size, 0.7 * size);
    case 3:
        return cr_shape_capsule(0.6 * size, 0.5 * size);
    default:
        return cr_shape_ellipsoid(size, 0.8 * size, 0.6 * size);
    }
}

// towers, single bodies that are set down, and heaps that fall
static void add_bodies(crModel* model, crRandom* random, Extra extra, int material) {
    int towers = 2 + (int)(sample_bits(random) % 3), heap = 4 + (int)(sample_bits(random) % 8);
    for (int i = 0; i < towers; i++) {
        int high = 1 + (int)(sample_bits(random) % 3);
        double half = sample_uniform(random, 0.08, 0.15);
        for (int k = 0; k < high; k++) {
            crVec3 at = cr_vec3(0.6 * (double)i - 0.6, 0.8, half * (1.0 + 2.0 * (double)k));
            scene_free(model, cr_shape_box(half, half, half), at, NAN, material);
        }
    }
    for (int i = 0; i < heap; i++) {
        crVec3 at = cr_vec3(sample_uniform(random, -0.15, 0.15), sample_uniform(random, -0.15, 0.15) - 0.4,
                            0.15 + 0.22 * (double)i);
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose = (crPose){at, sample_rotation(random)};
        crShape shape = shape_of(random, extra);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, material);
    }
}

static void add_arm(crModel* model, int material) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(0, 1, 0);
    def.pose.p = cr_vec3(1.2, -0.4, 0.5);
    crShape bar = cr_shape_box(0.3, 0.04, 0.04);
    cr_model_add_shape(model, cr_model_add_body(model, &def), &bar, material);
}

static crModel* model_of(crRandom* random, Extra extra) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, sample_uniform(random, 0.3, 0.8), 0.0);
    if (extra == BOUNCE) material = scene_material(model, 0.5, 0.3);
    if (extra == ROLLING) {
        crMaterial rolls = cr_material();
        rolls.surface.mu_roll = 2e-3;
        rolls.surface.mu_spin = 2e-3;
        material = cr_model_add_material(model, &rolls);
    }
    // a tree stands before free bodies
    if (extra == ARM) {
        add_arm(model, material);
        crActuator servo = cr_actuator_position(0, 20.0, 1.0);
        cr_model_add_actuator(model, &servo);
    }
    scene_ground(model, cr_vec3(0, 0, 1), material);
    if (extra == WALLS || extra == CURVED) {
        crShape left = cr_shape_halfspace(cr_vec3(1, 0, 0), -0.9),
                front = cr_shape_halfspace(cr_vec3(0, 1, 0), -0.7);
        cr_model_add_shape(model, CR_WORLD, &left, material);
        cr_model_add_shape(model, CR_WORLD, &front, material);
    }
    add_bodies(model, random, extra, material);
    if (extra == PADDLE) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_DRIVEN;
        def.drive = swing;
        def.pose.p = cr_vec3(-0.9, -0.4, 0.2);
        crShape plate = cr_shape_box(0.03, 0.3, 0.18);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &plate, material);
    }
    if (extra == LOAD) {
        crLoad load = cr_load(model->nb - 1);
        load.function = wind;
        cr_model_add_load(model, &load);
    }
    return model;
}

static crWorld* world_of(const crModel* model, crQuality quality, Extra extra, int threads) {
    crStepSettings settings = cr_step_settings();
    settings.quality = quality;
    settings.dt = 1.0 / 240.0;
    settings.threads = threads;
    settings.measure = 30;
    if (extra == SLEEP) settings.sleep_time = 0.3;
    return scene_world(model, &settings);
}

// the hand of a user: at some steps a body is pushed, lifted, turned, held or let go
typedef struct Hand {
    int step, body, what;
    double value;
} Hand;

static Hand hand_of(const crModel* model, crRandom* random, int steps) {
    Hand hand = {.step = (int)(sample_bits(random) % (uint64_t)steps),
                 .what = (int)(sample_bits(random) % 6)};
    do {
        hand.body = 1 + (int)(sample_bits(random) % (uint64_t)(model->nb - 1));
    } while (model->bodies[hand.body].joint != CR_JOINT_FREE);
    hand.value = sample_log(random, 1e-6, 1.0);
    return hand;
}

static void touch(const crModel* model, const Hand* hand, int step, crState* s) {
    const crBody* body = &model->bodies[hand->body];
    int ends = hand->step + 20;
    if (step == ends && hand->what == 3) s->force[body->v + 2] = 0.0;
    if (step == ends && model->nu > 0) s->ctrl[0] = 0.0;
    if (step != hand->step) return;
    switch (hand->what) {
    case 0:
        s->v[body->v + 1] += 3.0 * hand->value;
        break;
    case 1:
        s->q[body->q + 2] += 0.1 * hand->value;
        break;
    case 2:
        s->v[body->v + 4] += hand->value;
        break;
    case 3:
        s->force[body->v + 2] = 5.0 * hand->value;
        break;
    case 4:
        // carried away
        s->q[body->q] += 3.0;
        break;
    default:
        // nothing is written, but its rounding
        s->q[body->q] = s->q[body->q] + 0.0;
        if (model->nu > 0) s->ctrl[0] = hand->value;
        break;
    }
}

enum { ROOM = 1 << 19, HANDS = 10, KINDS = 3 };

// a snapshot goes from one world to another, or to itself: the next step then computes everything
static void carry(const crWorld* from, crWorld* to) {
    static unsigned char bytes[ROOM];
    size_t size = cr_world_save_size(from);
    CHECK(size <= sizeof bytes);
    CHECK_STATUS(cr_world_save(from, bytes, size), CR_OK);
    CHECK_STATUS(cr_world_load(to, bytes, size, NULL), CR_OK);
}

static bool same_bytes(const void* a, const void* b, size_t size) {
    return size == 0 || memcmp(a, b, size) == 0;
}

static bool same_events(const crWorld* a, const crWorld* b) {
    crEvents x = cr_world_events(a), y = cr_world_events(b);
    bool same = x.count == y.count;
    for (int i = 0; i < x.count && same; i++) {
        const crEvent *e = &x.events[i], *f = &y.events[i];
        same = e->time == f->time && e->shape_a == f->shape_a && e->shape_b == f->shape_b &&
               e->impact == f->impact && same_bytes(&e->point, &f->point, sizeof e->point) &&
               same_bytes(&e->impulse, &f->impulse, sizeof e->impulse) &&
               e->energy_change == f->energy_change;
    }
    return same;
}

static bool same_contacts(const crWorld* a, const crWorld* b) {
    enum { MOST = 2048 };
    static crContactForce x[MOST], y[MOST];
    int n = cr_world_contacts(a, x, MOST);
    if (n != cr_world_contacts(b, y, MOST) || n > MOST) return false;
    bool same = true;
    for (int i = 0; i < n && same; i++) {
        same = x[i].shape_a == y[i].shape_a && x[i].shape_b == y[i].shape_b &&
               same_bytes(&x[i].gap, &y[i].gap, sizeof x[i].gap) &&
               same_bytes(&x[i].point, &y[i].point, sizeof x[i].point) &&
               same_bytes(&x[i].normal, &y[i].normal, sizeof x[i].normal) &&
               same_bytes(&x[i].force, &y[i].force, sizeof x[i].force);
    }
    return same;
}

static bool same_worlds(crWorld* a, crWorld* b) {
    const crModel* model = cr_world_model(a);
    const crState *s = cr_world_state(a), *t = cr_world_state(b);
    crEnergy e = cr_world_energy(a), f = cr_world_energy(b);
    bool same = CHECK(s->time == t->time);
    same = CHECK(same_bytes(s->q, t->q, (size_t)model->nq * sizeof(double))) && same;
    same = CHECK(same_bytes(s->v, t->v, (size_t)model->nv * sizeof(double))) && same;
    same = CHECK(cr_world_hash(a) == cr_world_hash(b)) && same;
    same = CHECK(same_events(a, b)) && same;
    same = CHECK(same_contacts(a, b)) && same;
    same = CHECK(e.kinetic == f.kinetic && e.potential == f.potential) && same;
    return CHECK(same_bytes(cr_world_certificate(a), cr_world_certificate(b), sizeof(crCertificate))) && same;
}

typedef struct Seen {
    int lay, partly, steps;  // steps in which something lay; not all of it; all
} Seen;

// One scene in three worlds: one that goes on, one that is loaded before every step and so computes all, and one by two
// threads that is looked at and now and then made anew.
static void try_scene(uint64_t seed, Extra extra, int steps, Seen* seen) {
    crRandom random = sample_seed(seed);
    crModel* model = model_of(&random, extra);
    crQuality quality = (int)(sample_bits(&random) % 3) == 0 ? CR_QUALITY_ACCURATE : CR_QUALITY_FAST;
    Hand hands[HANDS];
    for (int k = 0; k < HANDS; k++) {
        hands[k] = hand_of(model, &random, steps);
    }
    crWorld* worlds[KINDS];
    for (int w = 0; w < KINDS; w++) {
        worlds[w] = world_of(model, quality, extra, w == 2 ? 2 : 1);
    }
    bool same = true;
    for (int n = 0; n < steps && same; n++) {
        carry(worlds[1], worlds[1]);
        if (n % 37 == 36) {
            crWorld* fresh = world_of(model, quality, extra, 2);
            carry(worlds[2], fresh);
            cr_world_destroy(worlds[2]);
            worlds[2] = fresh;
        }
        for (int w = 0; w < KINDS; w++) {
            for (int k = 0; k < HANDS; k++) {
                touch(model, &hands[k], n, cr_world_state(worlds[w]));
            }
            CHECK_STATUS(cr_world_step(worlds[w], NULL), CR_OK);
        }
        same = same_worlds(worlds[0], worlds[1]) && same_worlds(worlds[0], worlds[2]);
        int lie = cr_world_stages(worlds[0])->rest.lying.count;
        seen->lay += lie > 0;
        seen->partly += lie > 0 && !cr_world_stages(worlds[0])->rest.still;
        seen->steps++;
        if (!same) printf("  scene %d, seed %d: step %d\n", (int)extra, (int)seed, n);
    }
    for (int w = 0; w < KINDS; w++) {
        cr_world_destroy(worlds[w]);
    }
    cr_model_destroy(model);
}

TEST(what_lies_is_as_if_it_were_computed) {
    int scenes = getenv("CAROM_SOAK") != NULL ? 60 : 3;
    for (int extra = 0; extra < EXTRAS; extra++) {
        Seen seen = {0};
        for (int i = 0; i < scenes; i++) {
            try_scene((uint64_t)(1000 * extra + i + 1), (Extra)extra, 500, &seen);
        }
        printf("  scene %d: of %d steps %d with something that lies, %d of them with something that moves\n",
               extra, seen.steps, seen.lay, seen.partly);
        // elsewhere nothing may lie
        bool lies = extra <= CURVED;
        CHECK(lies ? seen.lay > seen.steps / 4 && seen.partly > seen.steps / 8 : seen.lay == 0);
    }
}

// The contacts of a body that lies carry its weight: what they were left with is what a step at rest needs.
static void check_weights(const crWorld* world) {
    const crModel* model = cr_world_model(world);
    const crStep* step = cr_world_stages((crWorld*)world);
    for (int b = 1; b < model->nb; b++) {
        if (step->rest.lying.island[b] == 0) continue;
        crVec3 sum = cr_vec3(0, 0, 0);
        for (int i = 0; i < cr_step_shown(step); i++) {
            const crStepContact* c = cr_step_shown_at(step, i);
            double sign = c->body_b == b ? 1.0 : c->body_a == b ? -1.0 : 0.0;
            sum = cr_madd(sum, sign, c->impulse);
        }
        double weight = 9.81 * model->bodies[b].mass / 240.0;
        CHECK(cr_norm(cr_sub(sum, cr_vec3(0, 0, weight))) <= 1e-6 * weight);
    }
}

// Three towers, and a ball that is thrown up: the towers lie.
static crWorld* beside_a_flight(crModel** model) {
    *model = cr_model_create(NULL);
    int material = scene_material(*model, 0.5, 0.0);
    scene_ground(*model, cr_vec3(0, 0, 1), material);
    for (int k = 0; k < 6; k++) {
        crVec3 at = cr_vec3((double)(k % 3), 0, 0.1 + 0.2 * (double)(k / 3));
        scene_free(*model, cr_shape_box(0.1, 0.1, 0.1), at, NAN, material);
    }
    int ball = scene_free(*model, cr_shape_sphere(0.1), cr_vec3(0, 2, 1), NAN, material);
    crWorld* world = world_of(*model, CR_QUALITY_ACCURATE, NOTHING, 1);
    cr_world_state(world)->v[6 * (ball - 1) + 2] = 20.0;
    for (int n = 0; n < 60; n++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    }
    CHECK(cr_world_stages(world)->rest.lying.count == 6 && !cr_world_stages(world)->rest.still);
    return world;
}

// Kept impulses, velocities without them and overlaps that are wrong are found wrong, by what they are wrong by.
TEST(what_lies_is_audited) {
    for (int what = 0; what < 5; what++) {
        crModel* model;
        crWorld* world = beside_a_flight(&model);
        crStep* step = cr_world_stages(world);
        crStepLying* lying = &step->rest.lying;
        check_weights(world);
        CHECK(step->certificate.outcome == CR_OUTCOME_SOLVED &&
              step->certificate.contacts == lying->contact_count);
        crStepContact* c = &lying->contacts[3];
        double weight = 9.81 * model->bodies[1].mass / 240.0;
        if (what == 0) c->impulse.z += 1e-3 * weight;
        if (what == 1) c->impulse.x += 2.0 * weight;
        if (what == 2) c->takes = false;
        if (what == 3) step->free.v[2] *= 1.01;
        if (what == 4) c->point.gap = -0.01;
        lying->audited = false;
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        CHECK(lying->count == 6);
        const crCertificate* found = &step->certificate;
        if (what < 4) CHECK(found->outcome != CR_OUTCOME_SOLVED && found->residual > 1e-4);
        if (what == 0) CHECK(found->momentum >= 0.9e-3 * 9.81 / 240.0);
        if (what == 1) CHECK(found->laws.cone >= weight);
        if (what == 4) CHECK(found->penetration == 0.01);
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
}

// Four balls lean on each other in a corner, the third one on the floor and at the wall. fifth: another ball lies far away on the
// floor, so that its contact stands between those of the third one with floor and wall.
static crWorld* corner(crQuality quality, bool fifth, crModel** model) {
    static const double at[5][3] = {
        {2.2, 0, 0.499}, {1.35, 0, 1.026}, {0.499, 0, 0.499}, {0.499, 0, 1.553}, {40, 40, 0.499}};
    *model = cr_model_create(NULL);
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0),
            wall = cr_shape_halfspace(cr_vec3(1, 0, 0), 0.0);
    int material = scene_material(*model, 0.5, 0.0);
    cr_model_add_shape(*model, CR_WORLD, &floor, material);
    cr_model_add_shape(*model, CR_WORLD, &wall, material);
    for (int i = 0; i < (fifth ? 5 : 4); i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.mass = 1.0 + i % 3;
        def.inertia = (crSym3){.xx = 0.1 * def.mass, .yy = 0.1 * def.mass, .zz = 0.1 * def.mass};
        def.pose.p = cr_vec3(at[i][0], at[i][1], at[i][2]);
        crShape ball = cr_shape_sphere(0.5);
        cr_model_add_shape(*model, cr_model_add_body(*model, &def), &ball, material);
    }
    crWorldDef def = cr_world_def();
    def.model = *model;
    def.step.quality = quality;
    def.step.dt = 1.0 / 240;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    return world;
}

TEST(who_lies_elsewhere_changes_no_bit) {
    for (int quality = CR_QUALITY_FAST; quality <= CR_QUALITY_CERTIFIED; quality++) {
        crModel *four, *five;
        crWorld *world = corner((crQuality)quality, false, &four),
                *other = corner((crQuality)quality, true, &five);
        int different = 0;
        for (int i = 0; i < 240; i++) {
            CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
            CHECK_STATUS(cr_world_step(other, NULL), CR_OK);
            const crState *a = cr_world_state(world), *b = cr_world_state(other);
            different += memcmp(a->q, b->q, (size_t)four->nq * sizeof(double)) != 0;
            different += memcmp(a->v, b->v, (size_t)four->nv * sizeof(double)) != 0;
        }
        CHECK(different == 0);
        cr_world_destroy(world);
        cr_world_destroy(other);
        cr_model_destroy(four);
        cr_model_destroy(five);
    }
}
