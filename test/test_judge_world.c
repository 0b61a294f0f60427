// test_judge_world.c - certificates of steps against what the recorded states show.
//
// Random scenes by every method, quality, restitution, friction and step length. States before and after each
// step are recorded; overlap, energy, momentum and crossings of walls are computed here from these states by
// formulas of this file. No claim of a certificate may be better than that.
#include "judge_count.h"
#include "judge_sample.h"
#include "world_scene.h"

#include <stdlib.h>

#define BODIES 12
#define STEPS  40

typedef enum Kind { BALL, BOX, OTHER, CHAIN } Kind;

typedef struct Scene {
    uint64_t seed;
    crRandom r;
    crModel* model;
    crWorld* world;
    crStepSettings settings;
    int count;
    int body[BODIES];
    Kind kind[BODIES];
    crVec3 size[BODIES];  // radius in x, or half edges
    double mass[BODIES];
    crVec3 inertia[BODIES];
    bool floor, wall, all_free;
    double mu, e, gravity;
    crVec3 wall_half, wall_at;
    double sunk;  // overlap that the last certificate left, which methods push out within a step, m
} Scene;

// what was recorded of a body
typedef struct Record {
    crVec3 x, v, omega;
    crQuat q;
} Record;

// geometry by this file

static crVec3 to_local(const Record* a, crVec3 point) {
    return cr_quat_rotate(cr_quat_conj(a->q), cr_sub(point, a->x));
}
static crVec3 to_world(const Record* a, crVec3 point) { return cr_add(a->x, cr_quat_rotate(a->q, point)); }

static crVec3 corner(crVec3 half, int k) {
    return cr_vec3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
}

// how deep a point lies in a box, negative where it is outside
static double depth_in(crVec3 half, crVec3 point) {
    return fmin(half.x - fabs(point.x), fmin(half.y - fabs(point.y), half.z - fabs(point.z)));
}

static double ball_in_box(crVec3 half, crVec3 centre, double radius) {
    crVec3 out = cr_vec3(fmax(0.0, fabs(centre.x) - half.x), fmax(0.0, fabs(centre.y) - half.y),
                         fmax(0.0, fabs(centre.z) - half.z));
    double far = cr_norm(out);
    return far > 0.0 ? radius - far : radius + depth_in(half, centre);
}

// points of a along its edges that lie in b: a translation that parts the boxes moves each of them out of b
static double edges_in(const Record* a, crVec3 half_a, const Record* b, crVec3 half_b) {
    double deepest = -1.0;
    for (int k = 0; k < 8; k++) {
        for (int axis = 0; axis < 3; axis++) {
            if (k >> axis & 1) continue;
            crVec3 from = corner(half_a, k), to = corner(half_a, k | 1 << axis);
            for (int s = 0; s <= 8; s++) {
                crVec3 point = cr_madd(from, s / 8.0, cr_sub(to, from));
                deepest = fmax(deepest, depth_in(half_b, to_local(b, to_world(a, point))));
            }
        }
    }
    return deepest;
}

static double overlap_of(const Scene* s, const Record* at, int i, int j) {
    Kind a = s->kind[i], b = s->kind[j];
    if (a == BALL && b == BALL) return s->size[i].x + s->size[j].x - cr_norm(cr_sub(at[i].x, at[j].x));
    if (a == BOX && b == BALL) return ball_in_box(s->size[i], to_local(&at[i], at[j].x), s->size[j].x);
    if (a == BALL && b == BOX) return overlap_of(s, at, j, i);
    if (a != BOX || b != BOX) return -1.0;
    return fmax(edges_in(&at[i], s->size[i], &at[j], s->size[j]),
                edges_in(&at[j], s->size[j], &at[i], s->size[i]));
}

static double overlap_with_floor(const Scene* s, const Record* at, int i) {
    if (!s->floor || s->kind[i] == OTHER || s->kind[i] == CHAIN) return -1.0;
    if (s->kind[i] == BALL) return s->size[i].x - at[i].x.z;
    double deepest = -1.0;
    for (int k = 0; k < 8; k++) {
        deepest = fmax(deepest, -to_world(&at[i], corner(s->size[i], k)).z);
    }
    return deepest;
}

static double overlap_with_wall(const Scene* s, const Record* at, int i) {
    if (!s->wall || s->kind[i] == OTHER || s->kind[i] == CHAIN) return -1.0;
    Record wall = {.x = s->wall_at, .q = cr_quat_identity()};
    if (s->kind[i] == BALL) return ball_in_box(s->wall_half, cr_sub(at[i].x, wall.x), s->size[i].x);
    return fmax(edges_in(&at[i], s->size[i], &wall, s->wall_half),
                edges_in(&wall, s->wall_half, &at[i], s->size[i]));
}

// a lower bound of the deepest overlap
static double deepest(const Scene* s, const Record* at) {
    double most = 0.0;
    for (int i = 0; i < s->count; i++) {
        most = fmax(most, fmax(overlap_with_floor(s, at, i), overlap_with_wall(s, at, i)));
        for (int j = i + 1; j < s->count; j++) {
            if (s->kind[i] == CHAIN || s->kind[j] == CHAIN) continue;
            most = fmax(most, overlap_of(s, at, i, j));
        }
    }
    return most;
}

// free bodies that were clear of the wall on one side and then on the other, by the line between their centres
static int passed(const Scene* s, const Record* a, const Record* b) {
    int count = 0;
    for (int i = 0; s->wall && i < s->count; i++) {
        if (s->kind[i] == CHAIN || s->kind[i] == OTHER) continue;
        double before = a[i].x.x - s->wall_at.x, after = b[i].x.x - s->wall_at.x;
        double reach = s->wall_half.x + (s->kind[i] == BALL ? s->size[i].x : cr_norm(s->size[i]));
        if (before * after >= 0.0 || fmin(fabs(before), fabs(after)) < reach) continue;
        double t = before / (before - after);
        crVec3 at = cr_madd(a[i].x, t, cr_sub(b[i].x, a[i].x));
        bool inside = fabs(at.y - s->wall_at.y) < 0.8 * s->wall_half.y &&
                      fabs(at.z - s->wall_at.z) < 0.8 * s->wall_half.z;
        count += inside;
    }
    return count;
}

// energy and momentum

static double kinetic(const Scene* s, const Record* at, int i) {
    crVec3 w = cr_quat_rotate(cr_quat_conj(at[i].q), at[i].omega);
    crVec3 I = s->inertia[i];
    return 0.5 *
           (s->mass[i] * cr_dot(at[i].v, at[i].v) + I.x * w.x * w.x + I.y * w.y * w.y + I.z * w.z * w.z);
}

static double energy_of(const Scene* s, const Record* at, double* size) {
    double sum = 0.0;
    *size = 0.0;
    for (int i = 0; i < s->count; i++) {
        double T = kinetic(s, at, i), U = s->mass[i] * s->gravity * at[i].x.z;
        sum += T + U;
        *size += T + fabs(U);
    }
    return sum;
}

static crVec3 momentum_of(const Scene* s, const Record* at) {
    crVec3 sum = cr_vec3(0, 0, 0);
    for (int i = 0; i < s->count; i++) {
        sum = cr_madd(sum, s->mass[i], at[i].v);
    }
    return sum;
}

// scenes

static void make_body(Scene* s, int material) {
    crRandom* r = &s->r;
    int i = s->count;
    double a = sample_uniform(r, 0.05, 0.15), density = sample_log(r, 100.0, 5000.0);
    s->kind[i] = made_chance(r, 0.1) ? OTHER : made_chance(r, 0.5) ? BALL : BOX;
    s->size[i] = cr_vec3(a, sample_uniform(r, 0.05, 0.15), sample_uniform(r, 0.05, 0.15));
    crShape shape = s->kind[i] == BALL  ? cr_shape_sphere(a)
                    : s->kind[i] == BOX ? cr_shape_box(a, s->size[i].y, s->size[i].z)
                                        : cr_shape_capsule(0.5 * a, 0.6 * a);
    crMass whole = cr_mass_of_shape(&shape, density);
    s->mass[i] = whole.mass;
    s->inertia[i] = cr_vec3(whole.inertia.xx, whole.inertia.yy, whole.inertia.zz);
    // on a lattice, so that nothing overlaps at the start
    crVec3 at = cr_vec3(0.36 * (i % 2), 0.36 * (i / 2 % 2), 0.3 + 0.36 * (i / 4));
    s->body[i] = scene_free(s->model, shape, at, whole.mass, material);
    s->count++;
}

static void make_chain(Scene* s, int material) {
    int parent = CR_WORLD;
    for (int k = 0; k < 2; k++) {
        crBodyDef def = cr_body_def();
        def.parent = parent;
        def.joint = k == 0 ? CR_JOINT_HINGE : CR_JOINT_BALL;
        def.axis = cr_vec3(0, 1, 0);
        def.pose.p = k == 0 ? cr_vec3(-0.6, 0, 1.2) : cr_vec3(0, 0, -0.3);
        def.mass = 1.0;
        def.inertia = (crSym3){.xx = 0.01, .yy = 0.01, .zz = 0.01};
        parent = cr_model_add_body(s->model, &def);
        crShape ball = cr_shape_sphere(0.1);
        cr_model_add_shape(s->model, parent, &ball, material);
        s->kind[s->count] = CHAIN;
        s->body[s->count++] = parent;
    }
    s->all_free = false;
}

static void make_settings(Scene* s) {
    crRandom* r = &s->r;
    s->settings = cr_step_settings();
    s->settings.method = (crMethod)made_below(r, 4);
    s->settings.quality = (crQuality)made_below(r, 3);
    s->settings.dt = made_chance(r, 0.5) ? 1.0 / 240 : sample_log(r, 1.0 / 1000, 1.0 / 30);
    s->settings.impact_limit = 50;
    s->settings.measure = made_chance(r, 0.3) ? 1 : 60;
    s->settings.level = made_chance(r, 0.5) ? CR_LEVEL_POSITION : CR_LEVEL_VELOCITY;
}

static void make_scene(Scene* s, uint64_t seed) {
    memset(s, 0, sizeof *s);
    s->seed = seed;
    s->r = sample_seed(seed);
    crRandom* r = &s->r;
    make_settings(s);
    s->model = cr_model_create(NULL);
    s->mu = made_chance(r, 0.2) ? 0.0 : sample_uniform(r, 0.0, 1.0);
    s->e = made_chance(r, 0.4) ? 0.0 : made_chance(r, 0.3) ? 1.0 : sample_uniform(r, 0.0, 1.0);
    s->gravity = made_chance(r, 0.2) ? 0.0 : 9.81;
    s->model->gravity = cr_vec3(0, 0, -s->gravity);
    s->all_free = true;
    int material = scene_material(s->model, s->mu, s->e);
    s->floor = s->gravity > 0.0 && made_chance(r, 0.9);
    if (s->floor) scene_ground(s->model, cr_vec3(0, 0, 1), material);
    s->wall = made_chance(r, 0.4);
    if (s->wall) {
        s->wall_half = cr_vec3(sample_log(r, 5e-4, 5e-2), 2.0, 2.0);
        s->wall_at = cr_vec3(1.0, 0.0, 2.0);
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FIXED;
        def.pose.p = s->wall_at;
        def.mass = 1.0;
        int body = cr_model_add_body(s->model, &def);
        crShape box = cr_shape_box(s->wall_half.x, s->wall_half.y, s->wall_half.z);
        cr_model_add_shape(s->model, body, &box, material);
    }
    // every touch of the event method is found by some fifty solves
    bool many = s->settings.method != CR_METHOD_EVENT || made_chance(r, 0.1);
    int bodies = 1 + made_below(r, many ? BODIES - 2 : 3);
    for (int i = 0; i < bodies; i++) {
        make_body(s, material);
    }
    if (made_chance(r, 0.2)) make_chain(s, material);
}

static void push(Scene* s) {
    crState* state = cr_world_state(s->world);
    double speed = sample_log(&s->r, 1e-3, 5.0);
    for (int i = 0; i < s->model->nv; i++) {
        state->v[i] = sample_uniform(&s->r, -speed, speed);
    }
    for (int i = 0; s->wall && i < s->count; i++) {
        // bullets
        if (s->kind[i] != CHAIN && made_chance(&s->r, 0.3)) {
            state->v[s->model->bodies[s->body[i]].v] = sample_log(&s->r, 1.0, 200.0);
        }
    }
}

static void record(const Scene* s, Record* at) {
    const crState* state = cr_world_state(s->world);
    for (int i = 0; i < s->count; i++) {
        const crBody* body = &s->model->bodies[s->body[i]];
        const double *q = state->q + body->q, *v = state->v + body->v;
        if (s->kind[i] == CHAIN) continue;
        at[i].x = cr_vec3(q[0], q[1], q[2]);
        at[i].q = cr_quat_normalize((crQuat){q[3], q[4], q[5], q[6]});
        at[i].v = cr_vec3(v[0], v[1], v[2]);
        at[i].omega = cr_vec3(v[3], v[4], v[5]);
    }
}

// claims

static bool finding(const Scene* s, const char* what, double shown, double claimed) {
    return test_check(shown <= claimed, __FILE__, __LINE__,
                      "seed %llu, t %.4f, %s %s, e %.2f mu %.2f dt %.4f: %s %.6g, claimed %.6g",
                      (unsigned long long)s->seed, cr_world_state(s->world)->time,
                      cr_method_name(s->settings.method), cr_quality_name(s->settings.quality), s->e, s->mu,
                      s->settings.dt, what, shown, claimed);
}

// closing speed of contacts that the only solve of this step left, at the poses it had; of balls, whose spin
// does not change in flight
static double closing(const Scene* s, const Record* before, const Record* after) {
    const crStep* step = cr_world_stages(s->world);
    double worst = 0.0;
    for (int k = 0; k < step->contacts.count; k++) {
        const crStepContact* c = &step->contacts.list[k];
        crVec3 u = cr_vec3(0, 0, 0);
        double gap = c->point.gap;
        bool balls = true;
        for (int i = 0; i < s->count; i++) {
            if (s->body[i] != c->body_a && s->body[i] != c->body_b) continue;
            // contacts that were looked for again at the end of the step are not those of the solve
            double arm = cr_norm(cr_sub(c->point.point, before[i].x));
            balls = balls && s->kind[i] == BALL && fabs(arm - s->size[i].x - 0.5 * gap) < 1e-9;
            crVec3 at = cr_add(after[i].v, cr_cross(after[i].omega, cr_sub(c->point.point, before[i].x)));
            u = cr_madd(u, s->body[i] == c->body_b ? 1.0 : -1.0, at);
        }
        double b = gap > c->delta ? (gap - c->delta) / s->settings.dt : 0.0;
        if (balls) worst = fmax(worst, -(cr_dot(u, c->point.normal) + b));
    }
    return worst;
}

typedef struct Shown {
    int steps, overlaps, crossed, gains, solves, measured;
} Shown;

static bool check_step(const Scene* s, const Record* a, const Record* b, Shown* shown) {
    const crCertificate* c = cr_world_certificate(s->world);
    double size, size_before, gravity = s->gravity;
    double depth = deepest(s, b), rounding = 1e-12;
    bool fine = finding(s, "overlap", depth, c->penetration + rounding);
    if (isfinite(c->overlap)) {
        fine = finding(s, "overlap measured", depth, c->overlap + rounding) && fine;
        shown->measured++;
    }
    shown->overlaps += depth > 1e-9;
    int through = passed(s, a, b);
    shown->crossed += through;
    fine = finding(s, "passed through the wall", through, c->crossings + c->crossings_unsure) && fine;
    shown->steps++;
    // figures must agree with each other, and a residual with what velocities there are to compare with
    if (c->outcome == CR_OUTCOME_SOLVED) {
        fine = finding(s, "residual of a solved step", c->residual, cr_step_tol(&s->settings)) && fine;
    }
    double fastest = gravity * s->settings.dt + (1e-4 + s->sunk) / s->settings.dt;
    for (int i = 0; i < s->count; i++) {
        fastest += s->kind[i] == CHAIN ? 10.0 : cr_norm(a[i].v) + 0.3 * cr_norm(a[i].omega);
    }
    fine = finding(s, "residual by speeds", c->eta / (4.0 * fastest), c->residual) && fine;
    if (!s->all_free) return fine;
    double gain = energy_of(s, b, &size) - energy_of(s, a, &size_before),
           noise = 1e-13 * (size + size_before);
    fine = finding(s, "energy gained", gain, c->energy.gain + noise) && fine;
    fine = finding(s, "energy change", fabs(gain - c->energy.change), noise) && fine;
    shown->gains += gain > noise;
    bool alone = !s->floor && !s->wall;
    if (alone) {
        double total = 0.0, speed = 0.0;
        for (int i = 0; i < s->count; i++) {
            total += s->mass[i];
            speed = fmax(speed, cr_norm(b[i].v) + gravity * s->settings.dt);
        }
        crVec3 want = cr_madd(momentum_of(s, a), -total * gravity * s->settings.dt, cr_vec3(0, 0, 1));
        double off = cr_norm(cr_sub(momentum_of(s, b), want)) / total;
        fine = finding(s, "momentum", off, c->momentum * BODIES + 1e-12 * speed) && fine;
    }
    bool single = s->settings.method == CR_METHOD_CONE && s->e == 0.0 && c->impacts == 0 && c->solves == 1 &&
                  cr_world_events(s->world).count == 0;
    if (single) {
        shown->solves++;
        fine = finding(s, "closing speed", closing(s, a, b), c->eta + c->floor + 1e-12) && fine;
    }
    return fine;
}

static void run_scene(uint64_t seed, Shown* shown) {
    Scene s;
    Record before[BODIES], after[BODIES];
    make_scene(&s, seed);
    s.world = scene_world(s.model, &s.settings);
    if (s.world == NULL) return;
    push(&s);
    if (getenv("CAROM_SEED") != NULL) printf("  seed %llu\n", (unsigned long long)seed);
    for (int k = 0; k < STEPS; k++) {
        record(&s, before);
        // a step that is refused claims nothing
        if (cr_world_step(s.world, NULL) != CR_OK) break;
        record(&s, after);
        if (!check_step(&s, before, after, shown)) break;
        s.sunk = cr_world_certificate(s.world)->penetration;
    }
    cr_world_destroy(s.world);
    cr_model_destroy(s.model);
}

TEST(random_scenes) {
    Shown shown = {0};
    const char* first = getenv("CAROM_SEED");
    uint64_t count = (uint64_t)judge_count(60, 10000), from = 1 + count * (uint64_t)judge_piece().index;
    if (first != NULL) from = strtoull(first, NULL, 10);
    for (uint64_t seed = from; seed < from + count; seed++) {
        run_scene(seed, &shown);
    }
    printf("  %d steps: %d overlap, %d pass a wall, %d gain energy; %d measured, %d solves looked at\n",
           shown.steps, shown.overlaps, shown.crossed, shown.gains, shown.measured, shown.solves);
    // a small piece of a soak may happen to have none
    if (count >= 60) CHECK(shown.steps > 0 && shown.overlaps > 0 && shown.solves > 0);
}
