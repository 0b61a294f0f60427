// Heaps in motion in quality fast: what `bounded` promises, found from states and impulses alone. Momentum of every
// body, cones, energy, overlap by full geometry against the bound, and the same bits for any threads and after a snapshot.
#include <stdlib.h>

#include "deepest.h"
#include "same_bits.h"
#include "sample.h"
#include "test.h"

#define STEP  (1.0 / 240.0)
#define WALLS 5
#define LARGE 80
#define MU    0.5

typedef struct Drop {
    crModel* model;
    crWorld* world;
    double *q, *v;  // before the step
} Drop;

// bodies across each way, how far apart, m, and the least and largest density, kg/m^3
typedef struct Lattice {
    int across;
    double pitch, light, heavy;
} Lattice;

static const Lattice loose = {3, 0.4, 500.0, 2000.0}, uneven = {3, 0.4, 2.0, 2000.0};

#define THIN 4  // kinds of thin bodies, less than half as thick as they reach

// bodies of some kinds on a lattice between four walls, all falling; THIN: thin ones
static Drop drop_build(uint64_t seed, int bodies, Lattice lattice, int kinds, double e) {
    const crShape shapes[] = {cr_shape_sphere(0.1), cr_shape_box(0.1, 0.1, 0.1),
                              cr_shape_box(0.05, 0.1, 0.15), cr_shape_capsule(0.07, 0.08),
                              cr_shape_cylinder(0.1, 0.1)};
    const crShape thin[THIN] = {cr_shape_capsule(0.03, 0.1), cr_shape_box(0.02, 0.1, 0.15),
                                cr_shape_cylinder(0.1, 0.02), cr_shape_ellipsoid(0.03, 0.1, 0.12)};
    const crVec3 normals[WALLS] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    crRandom random = sample_seed(seed);
    Drop drop = {.model = cr_model_create(NULL)};
    drop.model->gravity = cr_vec3(0, 0, -9.81);
    drop.model->materials[0].surface.mu = drop.model->materials[0].surface.mu2 = MU;
    drop.model->materials[0].surface.e = e;
    for (int i = 0; i < bodies; i++) {
        const crShape* shape =
            kinds == THIN ? &thin[i % THIN] : &shapes[kinds == 1 ? (int)(seed % 3) : i % kinds];
        crMass mass = cr_mass_of_shape(shape, sample_log(&random, lattice.light, lattice.heavy));
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.mass = mass.mass;
        def.inertia = mass.inertia;
        int n = lattice.across;
        double x = i % n - 0.5 * (n - 1), y = i / n % n - 0.5 * (n - 1);
        crVec3 at = cr_vec3(lattice.pitch * x, lattice.pitch * y, 0.25 + lattice.pitch * (i / (n * n)));
        def.pose.p = cr_madd(at, 0.01, sample_direction(&random));
        def.pose.q = sample_rotation(&random);
        cr_model_add_shape(drop.model, cr_model_add_body(drop.model, &def), shape, 0);
    }
    for (int i = 0; i < WALLS; i++) {
        crShape wall = cr_shape_halfspace(normals[i], i == 0 ? 0.0 : -0.5 * lattice.pitch * lattice.across);
        cr_model_add_shape(drop.model, CR_WORLD, &wall, 0);
    }
    return drop;
}

static void drop_open(Drop* drop, int threads) {
    crWorldDef def = cr_world_def();
    def.model = drop->model;
    def.step.dt = STEP;
    def.step.quality = CR_QUALITY_FAST;
    def.step.threads = threads;
    crError error;
    CHECK_STATUS(cr_world_create(&def, &drop->world, &error), CR_OK);
    drop->q = malloc((size_t)drop->model->nq * sizeof(double));
    drop->v = malloc((size_t)drop->model->nv * sizeof(double));
}

static Drop drop_create(uint64_t seed, int bodies, Lattice lattice, int kinds, double e, int threads) {
    Drop drop = drop_build(seed, bodies, lattice, kinds, e);
    drop_open(&drop, threads);
    return drop;
}

static void drop_destroy(Drop* drop) {
    cr_world_destroy(drop->world);
    cr_model_destroy(drop->model);
    free(drop->q);
    free(drop->v);
}

static crVec3 vec(const double* x) { return cr_vec3(x[0], x[1], x[2]); }

// A I A^T omega of a body whose orientation is in q
static crVec3 momentum_of(const crBody* body, const double* q, const double* v) {
    const double* at = q + body->q + 3;
    crQuat Q = cr_quat_normalize((crQuat){at[0], at[1], at[2], at[3]});
    crVec3 own = cr_quat_rotate(cr_quat_conj(Q), vec(v + body->v + 3));
    return cr_quat_rotate(Q, cr_sym3_mul(body->inertia, own));
}

static double energy_of(const Drop* drop, const double* q, const double* v, double* size) {
    double sum = 0.0;
    for (int b = 1; b < drop->model->nb; b++) {
        const crBody* body = &drop->model->bodies[b];
        crVec3 u = vec(v + body->v);
        double T =
            0.5 * body->mass * cr_dot(u, u) + 0.5 * cr_dot(vec(v + body->v + 3), momentum_of(body, q, v));
        double U = body->mass * 9.81 * q[body->q + 2];
        sum += T + U;
        *size += fabs(T) + fabs(U);
    }
    return sum;
}

// every body's momentum changed by gravity and by the impulses of its contacts, and every impulse is in its cone
static void check_impulses(const Drop* drop) {
    const crStep* step = cr_world_stages(drop->world);
    const crModel* model = drop->model;
    const crState* s = cr_world_state(drop->world);
    double* sum = calloc(6 * (size_t)model->nb, sizeof *sum);
    for (int i = 0; i < cr_step_shown(step); i++) {
        const crStepContact* c = cr_step_shown_at(step, i);
        double pn = cr_dot(c->impulse, c->point.normal);
        double pt = cr_norm(cr_madd(c->impulse, -pn, c->point.normal));
        CHECK(pn >= 0.0 && pt <= MU * pn * (1.0 + 1e-9));
        for (int side = 0; side < 2; side++) {
            int b = side == 0 ? c->body_a : c->body_b;
            crVec3 P = cr_scale(side == 0 ? -1.0 : 1.0, c->impulse);
            if (b == CR_WORLD) continue;
            crVec3 L = cr_cross(cr_sub(c->point.point, vec(drop->q + model->bodies[b].q)), P);
            const double add[6] = {P.x, P.y, P.z, L.x, L.y, L.z};
            for (int k = 0; k < 6; k++) {
                sum[6 * b + k] += add[k];
            }
        }
    }
    // impulses of located impacts are in the events
    crEvents events = cr_world_events(drop->world);
    bool impacts = false;
    for (int i = 0; i < events.count; i++) {
        const crEvent* e = &events.events[i];
        if (e->impact < 0) continue;
        impacts = true;
        for (int k = 0; k < 3; k++) {
            double P = k == 0 ? e->impulse.x : k == 1 ? e->impulse.y : e->impulse.z;
            sum[6 * e->body_a + k] -= P;
            sum[6 * e->body_b + k] += P;
        }
    }
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        crVec3 gained = cr_scale(body->mass, cr_sub(vec(s->v + body->v), vec(drop->v + body->v)));
        gained.z += body->mass * 9.81 * STEP;
        crVec3 turned = cr_sub(momentum_of(body, s->q, s->v), momentum_of(body, drop->q, drop->v));
        double speed = cr_norm(vec(drop->v + body->v)) + cr_norm(vec(s->v + body->v)) + 1.0;
        // what comes to rest loses a velocity that the certificate tells
        double lost = cr_norm(vec(s->v + body->v)) > 0.0 ? 0.0 : cr_world_certificate(drop->world)->momentum;
        CHECK(cr_norm(cr_sub(gained, vec(sum + 6 * b))) <= body->mass * (1e-9 * speed + lost));
        // moments of impacts are about where the body was at that time
        if (impacts) continue;
        CHECK(cr_norm(cr_sub(turned, vec(sum + 6 * b + 3))) <= body->mass * 0.2 * (1e-9 * speed + lost));
    }
    free(sum);
}

// one step with everything it promises; whether it was bounded
static bool step_checked(Drop* drop) {
    crError error;
    crState* s = cr_world_state(drop->world);
    memcpy(drop->q, s->q, (size_t)drop->model->nq * sizeof(double));
    memcpy(drop->v, s->v, (size_t)drop->model->nv * sizeof(double));
    CHECK_STATUS(cr_world_step(drop->world, &error), CR_OK);
    const crCertificate* c = cr_world_certificate(drop->world);
    bool bounded = c->outcome == CR_OUTCOME_BOUNDED;
    if (!bounded) return false;
    double size = 0.0, before = energy_of(drop, drop->q, drop->v, &size),
           after = energy_of(drop, s->q, s->v, &size);
    CHECK(after - before <= CR_ENERGY_TOL * size);
    CHECK(c->energy.gain <= CR_ENERGY_TOL * c->energy.size);
    check_impulses(drop);
    double overlap = 0.0;
    CHECK_STATUS(cr_world_overlap(drop->world, &overlap, &error), CR_OK);
    CHECK(overlap <= c->penetration + 1e-12);
    return true;
}

TEST(moving_heaps_keep_momentum_cones_and_energy) {
    int heaps = test_samples(300) / 50, bounded = 0;
    for (int i = 0; i < heaps; i++) {
        bool bounces = i % 4 == 3;
        Drop drop = drop_create((uint64_t)i, LARGE, loose, i % 2 == 0 ? 1 : 5, bounces ? 0.4 : 0.0, 1);
        for (int k = 0; k < 150; k++) {
            bounded += step_checked(&drop);
        }
        drop_destroy(&drop);
    }
    CHECK(bounded > 20 * heaps);
}

// Light bodies between heavy ones turn far in a step and end deep in their neighbours, bodies that meet in the air swing
// round into each other: no step ends with a pair deeper than 1 % of the narrower body's width.
TEST(no_step_ends_with_deep_pairs) {
    int heaps = test_samples(300) / 50, bounded = 0;
    double deepest = 0.0;
    for (int i = 0; i < heaps; i++) {
        Drop drop = drop_create((uint64_t)(100 + i), LARGE, i % 2 == 0 ? loose : uneven, 5, 0.0, 1);
        for (int k = 0; k < 200; k++) {
            CHECK_STATUS(cr_world_step(drop.world, NULL), CR_OK);
            deepest = fmax(deepest, deepest_share(drop.world, drop.model, drop.model->nb));
            bounded += cr_world_certificate(drop.world)->outcome == CR_OUTCOME_BOUNDED;
        }
        drop_destroy(&drop);
    }
    printf("  deepest %.2e of a body, %d steps bounded\n", deepest, bounded);
    CHECK(bounded > 20 * heaps);
    CHECK(deepest <= 0.01);
}

// The bound goes by how thick bodies are, not by how far they reach.
TEST(no_step_ends_with_deep_thin_bodies) {
    int heaps = test_samples(300) / 50, bounded = 0;
    double deepest = 0.0, gain = 0.0;
    for (int i = 0; i < heaps; i++) {
        Drop drop = drop_create((uint64_t)(200 + i), LARGE, i % 2 == 0 ? loose : uneven, THIN, 0.0, 1);
        for (int k = 0; k < 200; k++) {
            CHECK_STATUS(cr_world_step(drop.world, NULL), CR_OK);
            const crCertificate* c = cr_world_certificate(drop.world);
            deepest = fmax(deepest, deepest_share(drop.world, drop.model, drop.model->nb));
            bounded += c->outcome == CR_OUTCOME_BOUNDED;
            if (c->outcome == CR_OUTCOME_BOUNDED) gain = fmax(gain, c->energy.gain / c->energy.size);
        }
        drop_destroy(&drop);
    }
    printf("  deepest %.2e of a width, %d steps bounded, gain %.1e of the energies\n", deepest, bounded,
           gain);
    CHECK(bounded > 20 * heaps);
    CHECK(deepest <= 0.01);
}

// Thin bodies whirl, and nothing rubs: edges swing into neighbours and light bodies are thrown into the floor where the
// contacts of the beginning do not see it, and no set has lost energy to be pushed apart by. Its approach pays. In the
// last heap a disc between a heavy body and the floor would be squeezed out by .1 m.
TEST(no_step_ends_with_deep_whirling_bodies) {
    const uint64_t seeds[] = {2, 16, 23, 35, 43, 54, 56, 33};
    int heaps = (int)(sizeof seeds / sizeof *seeds), bounded = 0, late = 0;
    double deepest = 0.0, gain = 0.0;
    for (int i = 0; i < heaps; i++) {
        int bodies = i + 1 < heaps ? 27 : LARGE;
        Drop drop = drop_build(seeds[i], bodies, seeds[i] % 2 == 0 ? loose : uneven, THIN, 0.0);
        drop.model->materials[0].surface.mu = drop.model->materials[0].surface.mu2 = 0.0;
        drop_open(&drop, 1);
        crState* s = cr_world_state(drop.world);
        crRandom random = sample_seed(77 + seeds[i]);
        for (int j = 0; j < drop.model->nv; j++) {
            s->v[j] = sample_uniform(&random, -1.0, 1.0) * (j % 6 < 3 ? 3.0 : 40.0);
        }
        for (int k = 0; k < 150; k++) {
            memcpy(drop.q, s->q, (size_t)drop.model->nq * sizeof(double));
            memcpy(drop.v, s->v, (size_t)drop.model->nv * sizeof(double));
            CHECK_STATUS(cr_world_step(drop.world, NULL), CR_OK);
            const crCertificate* c = cr_world_certificate(drop.world);
            if (c->outcome != CR_OUTCOME_BOUNDED) continue;
            bounded++;
            late += c->impacts > 0;
            deepest = fmax(deepest, deepest_share(drop.world, drop.model, drop.model->nb));
            gain = fmax(gain, c->energy.gain / c->energy.size);
            check_impulses(&drop);
        }
        drop_destroy(&drop);
    }
    printf("  deepest %.2e of a width, %d steps bounded, %d with late impacts, gain %.1e of the energies\n",
           deepest, bounded, late, gain);
    CHECK(bounded > 50 * heaps);
    CHECK(late >= heaps);
    CHECK(deepest <= 0.01);
    CHECK(gain <= 1e-7);
}

// Bodies that come along to an impact may be ahead of it: all go on from one time, and none falls for longer than the
// step. Found where contacts, impacts and gravity do not add up to the velocity.
TEST(bodies_of_an_impact_share_a_clock) {
    Drop drop = drop_build(0, 27, loose, 5, 0.12);
    drop.model->materials[0].surface.mu = drop.model->materials[0].surface.mu2 = 0.89;
    crWorldDef def = cr_world_def();
    def.model = drop.model;
    def.step.dt = STEP;
    CHECK_STATUS(cr_world_create(&def, &drop.world, NULL), CR_OK);
    double worst = 0.0;
    crVec3 was[28], P[28];
    for (int k = 0; k < 120; k++) {
        for (int b = 1; b < drop.model->nb; b++) {
            was[b] = vec(cr_world_state(drop.world)->v + drop.model->bodies[b].v);
        }
        CHECK_STATUS(cr_world_step(drop.world, NULL), CR_OK);
        memset(P, 0, sizeof P);
        for (int i = 0; i < cr_step_shown(cr_world_stages(drop.world)); i++) {
            const crStepContact* c = cr_step_shown_at(cr_world_stages(drop.world), i);
            P[c->body_a] = cr_sub(P[c->body_a], c->impulse);
            P[c->body_b] = cr_add(P[c->body_b], c->impulse);
        }
        crEvents events = cr_world_events(drop.world);
        for (int i = 0; i < events.count; i++) {
            const crEvent* e = &events.events[i];
            if (e->impact < 0) continue;
            P[e->body_a] = cr_sub(P[e->body_a], e->impulse);
            P[e->body_b] = cr_add(P[e->body_b], e->impulse);
        }
        for (int b = 1; b < drop.model->nb; b++) {
            crVec3 v = vec(cr_world_state(drop.world)->v + drop.model->bodies[b].v);
            crVec3 gained = cr_sub(v, was[b]);
            gained.z += 9.81 * STEP;
            if (cr_norm(v) > 0.0)
                worst = fmax(worst, cr_norm(cr_madd(gained, -1.0 / drop.model->bodies[b].mass, P[b])));
        }
    }
    printf("  off by %.1e m/s\n", worst);
    CHECK(worst <= 1e-9);
    cr_world_destroy(drop.world);
    cr_model_destroy(drop.model);
}

// A heavy box slides into a light one that stands before a wall, farther from it than its margin: the light one is thrown into the
// wall within the step, and the certificate tells how deep.
TEST(bodies_thrown_beyond_their_margins) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -9.81);
    model->materials[0].surface.mu = model->materials[0].surface.mu2 = 0.0;
    model->materials[0].surface.e = 0.0;
    const crShape walls[] = {cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0),
                             cr_shape_halfspace(cr_vec3(-1, 0, 0), 0.0)};
    for (int i = 0; i < 2; i++) {
        cr_model_add_shape(model, CR_WORLD, &walls[i], 0);
    }
    const double density[] = {10.0, 2000.0}, x[] = {-0.112, -0.32};
    for (int i = 0; i < 2; i++) {
        crShape box = cr_shape_box(0.1, 0.1, 0.1);
        crMass mass = cr_mass_of_shape(&box, density[i]);
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.mass = mass.mass;
        def.inertia = mass.inertia;
        def.pose.p = cr_vec3(x[i], 0.0, 0.1);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &box, 0);
    }
    Drop drop = {.model = model};
    drop_open(&drop, 1);
    cr_world_state(drop.world)->v[6] = 6.0;
    CHECK_STATUS(cr_world_step(drop.world, NULL), CR_OK);
    const crCertificate* c = cr_world_certificate(drop.world);
    double overlap = 0.0;
    CHECK_STATUS(cr_world_overlap(drop.world, &overlap, NULL), CR_OK);
    printf("  %s, light box at %.4f m, overlap %.2e m, bound %.2e m\n", cr_outcome_name(c->outcome),
           cr_world_state(drop.world)->q[0], overlap, c->penetration);
    CHECK(c->outcome == CR_OUTCOME_BOUNDED);
    CHECK(overlap <= c->penetration + 1e-12);
    CHECK(deepest_share(drop.world, model, model->nb) <= 0.01);
    drop_destroy(&drop);
}

// Short steps take no loops: islands with a loop are calm, their loops hold, and nothing is pushed into a neighbour.
TEST(loops_hold_in_heaps_that_fall) {
    for (uint64_t seed = 0; seed < 2; seed++) {
        Drop drop = drop_build(seed, LARGE, loose, 5, 0.0);
        for (int b = 1; b + 3 < LARGE; b += 20) {
            crLoop loop = cr_loop(CR_LOOP_DISTANCE, b, b + 3);
            loop.length = cr_norm(cr_sub(drop.model->bodies[b + 3].pose.p, drop.model->bodies[b].pose.p));
            CHECK(cr_model_add_loop(drop.model, &loop) >= 0);
        }
        drop_open(&drop, 1);
        double deepest = 0.0, off = 0.0;
        for (int k = 0; k < 150; k++) {
            CHECK_STATUS(cr_world_step(drop.world, NULL), CR_OK);
            deepest = fmax(deepest, deepest_share(drop.world, drop.model, drop.model->nb));
            off = fmax(off, cr_world_certificate(drop.world)->loop_error);
        }
        printf("  deepest %.2e of a body, loops off by %.1e m\n", deepest, off);
        CHECK(deepest <= 0.01);
        CHECK(off <= 1e-9);
        drop_destroy(&drop);
    }
}

#define PADDLE 2.0  // rad/s

static void turn_paddle(void* ctx, double time, crDriven* out) {
    (void)ctx;
    out->pose = (crPose){cr_vec3(0, 0, 0.3), cr_quat_axis_angle(cr_vec3(0, 0, 1), PADDLE * time)};
    out->omega = cr_vec3(0, 0, PADDLE);
}

// work of the paddle on the heap: of every impulse along the velocity of the paddle's point at the beginning
static double work_of_paddle(const Drop* drop, int paddle) {
    const crStep* step = cr_world_stages(drop->world);
    double work = 0.0;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        crVec3 u = cr_cross(cr_vec3(0, 0, PADDLE), cr_sub(c->point.point, cr_vec3(0, 0, 0.3)));
        if (c->body_a == paddle) work += cr_dot(c->impulse, u);
        if (c->body_b == paddle) work -= cr_dot(c->impulse, u);
    }
    return work;
}

// What a driven body does to a heap in motion is work, no gain of the heap; a heap that loses more than it is lifted is not
// moved back into the paddle.
TEST(a_paddle_works_on_a_moving_heap) {
    int bounded = 0, worked = 0;
    double deepest = 0.0;
    for (uint64_t seed = 0; seed < 2; seed++) {
        Drop drop = drop_build(3 * seed, LARGE, loose, 1, 0.0);
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_DRIVEN;
        def.drive = turn_paddle;
        crShape blade = cr_shape_box(0.5, 0.05, 0.25);
        int paddle = cr_model_add_body(drop.model, &def);
        cr_model_add_shape(drop.model, paddle, &blade, 0);
        drop_open(&drop, 1);
        for (int k = 0; k < 300; k++) {
            CHECK_STATUS(cr_world_step(drop.world, NULL), CR_OK);
            const crCertificate* c = cr_world_certificate(drop.world);
            double work = work_of_paddle(&drop, paddle);
            if (k > 20) deepest = fmax(deepest, c->penetration);
            if (c->outcome != CR_OUTCOME_BOUNDED) continue;
            CHECK(fabs(c->energy.work - work) <= 1e-9 * c->energy.size);
            CHECK(c->energy.gain <= CR_ENERGY_TOL * c->energy.size);
            bounded++;
            worked += work > 0.01;
        }
        drop_destroy(&drop);
    }
    CHECK(bounded > 200 && worked > 50);
    printf("  %d steps, %d with work, deepest %.2e m\n", bounded, worked, deepest);
}

// Some balls of a heap that bounces are moved by short steps, others have impacts located in time: none is moved by both, or
// gravity would have acted on it twice.
TEST(bouncing_balls_move_once_a_step) {
    for (uint64_t seed = 0; seed < 6; seed += 3) {
        Drop drop = drop_create(seed, 12 * LARGE, (Lattice){9, 0.222, 500.0, 2000.0}, 1, 0.5, 1);
        int both = 0;
        for (int k = 0; k < 80; k++) {
            bool bounded = step_checked(&drop);
            both += bounded && cr_world_certificate(drop.world)->impacts > 0;
        }
        CHECK(both > 10);
        drop_destroy(&drop);
    }
}

TEST(threads_and_snapshots_give_the_same_bits) {
    for (uint64_t seed = 0; seed < 3; seed++) {
        Drop one = drop_create(seed, LARGE, loose, 5, seed == 2 ? 0.4 : 0.0, 1),
             three = drop_create(seed, LARGE, loose, 5, seed == 2 ? 0.4 : 0.0, 3);
        Drop again = drop_create(seed, LARGE, loose, 5, seed == 2 ? 0.4 : 0.0, 1);
        same_bits(one.world, three.world, again.world, 160, 100);
        drop_destroy(&one);
        drop_destroy(&three);
        drop_destroy(&again);
    }
}

// accurate and certified solve every island
TEST(only_fast_is_bounded) {
    Drop drop = drop_create(1, LARGE, loose, 1, 0.0, 1);
    crWorldDef def = cr_world_def();
    def.model = drop.model;
    def.step.dt = STEP;
    def.step.quality = CR_QUALITY_ACCURATE;
    crWorld* world = NULL;
    crError error;
    CHECK_STATUS(cr_world_create(&def, &world, &error), CR_OK);
    for (int k = 0; k < 80; k++) {
        CHECK_STATUS(cr_world_step(world, &error), CR_OK);
        CHECK(cr_world_certificate(world)->outcome != CR_OUTCOME_BOUNDED);
    }
    cr_world_destroy(world);
    drop_destroy(&drop);
}
