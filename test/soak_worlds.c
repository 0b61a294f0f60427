// soak_worlds.c - random scenes for as long as asked, checked at every step.
//
//     soak_worlds MINUTES          scenes from seed 1 on
//     soak_worlds --seed N [N2]    these alone
//
// A scene: a closed box of half-spaces, or the floor of it alone, bodies of all convex shapes, chains by
// hinges, sliders and balls, distance loops, masses up to 1000:1, e from 0 to 1, every quality, one to three
// threads, sleep. Checked: every step returns CR_OK; the state stays finite and inside; who left the bound of
// an open scene is counted, and a velocity that is none is refused with the state as it was; the certificate's
// overlap is not below what cr_collide finds, nor deep; its residual is finite and small where it says solved;
// energy changes by no more than the certificate's work and gain say in each step, and the velocities of free bodies
// by what impulses and gravity give, `bounded` steps gain next to none, and
// over the scene it grows by no more than the impacts admit (scenes without motors); a snapshot continues to the same
// bits, in the same world and in another one with another number of threads; bodies are removed and put in,
// sleepers among them; all memory comes back.
// A finding is one line with the seed; exit status 1 where there was one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/carom.h"
#include "carom/stages.h"
#include "deepest.h"

#define CELLS  3
#define PITCH  0.4
#define HALF   0.65
#define HEIGHT 2.0
#define PARTS  (CELLS * CELLS * CELLS)
#define HULLS  3
#define WALL   20.0   // s that one scene may take
#define DEEP   1e-4   // overlap that is a finding, m
#define MOVING 0.01   // likewise where short steps moved bodies, share of the narrower body's width
#define ENERGY 1e-9   // rounding of energies, share of them
#define ROUND  1e-6   // cone and momentum, N s and m/s: sums of trees that whirl lose digits
#define LIFT   1e-3   // gain of a bounded step, share of the energies
#define BOUND  6.0    // of open scenes, m
#define LOOSE  1e-2   // residual, m/s, that is not solved by any quality,
#define SHORT  1e-12  // unless it is exact for gaps that differ by so much, m

// One body of a scene; what a model is built from again when the set of bodies changes.
typedef struct Part {
    bool here;
    int parent;  // part, -1: the world
    crJoint joint;
    crPose pose;  // in the world, at the start
    crShape shape;
    double density;
    crDof dof;
} Part;

// worst figures of the steps with one outcome
typedef struct Outcome {
    long steps;
    double residual, eta, cone, momentum, gain;  // cone in N s; gain: share of the energies
} Outcome;

enum { OUTCOMES = CR_OUTCOME_UNSURE + 1 };

typedef struct Soak {
    uint64_t seed;
    crRandom random;
    Part parts[PARTS];
    int count;
    crHull* hulls[HULLS];
    int tie_a, tie_b;  // parts of a distance loop, -1: none
    double mu, e;
    bool trees, motors;
    bool open;  // no walls: bodies may leave
    crStepSettings settings;
    crModel* model;
    int body[PARTS];  // of each part, -1: not here
    crWorld* world;
    size_t bytes;           // held through the allocator
    double created;         // energy the certificates admit, J
    double start;           // energy at the start, J
    double overlap;         // deepest so far, m
    double before;          // energy at the beginning of the step, J
    crVec3 was[PARTS + 1];  // linear velocities of bodies at the beginning of the step, m/s
    Outcome by[OUTCOMES];
    int steps, unsolved;
    int findings;
} Soak;

typedef struct Totals {
    long scenes, steps, findings;
    double overlap;
    Outcome by[OUTCOMES];
} Totals;

static void finding(Soak* s, const char* what, double figure, double allowed) {
    s->findings++;
    printf("seed %llu, t %.4f: %s: %.3g, allowed %.3g (%s, e %.2f, mu %.2f, %d bodies%s)\n",
           (unsigned long long)s->seed, cr_world_state(s->world)->time, what, figure, allowed,
           cr_quality_name(s->settings.quality), s->e, s->mu, s->model->nb - 1, s->trees ? ", trees" : "");
    fflush(stdout);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool chance(crRandom* random, double p) { return sample_uniform(random, 0.0, 1.0) < p; }
static int below(crRandom* random, int n) { return (int)(sample_bits(random) % (uint64_t)n); }

static void* count_alloc(void* ctx, size_t size) {
    *(size_t*)ctx += size;
    return malloc(size);
}

static void count_free(void* ctx, void* memory, size_t size) {
    if (memory != NULL) *(size_t*)ctx -= size;
    free(memory);
}

// what exists

static crShape pick_shape(Soak* s) {
    crRandom* r = &s->random;
    double a = sample_uniform(r, 0.05, 0.13), b = sample_uniform(r, 0.05, 0.11),
           c = sample_uniform(r, 0.05, 0.11);
    switch (below(r, 9)) {
    case 0:
        return cr_shape_capsule(0.6 * a, b);
    case 1:
        return cr_shape_cylinder(a, b);
    case 2:
        return cr_shape_cone(a, b);
    case 3:
        return cr_shape_ellipsoid(a, b, c);
    case 4:
        return cr_shape_hull(s->hulls[below(r, HULLS)]);
    case 5:
    case 6:
        return cr_shape_box(a, b, c);
    default:
        return cr_shape_sphere(a);
    }
}

static crDof pick_dof(Soak* s) {
    crDof dof = {.lower = -INFINITY, .upper = INFINITY};
    if (chance(&s->random, 0.3)) {
        dof.lower = -sample_uniform(&s->random, 0.1, 0.8);
        dof.upper = sample_uniform(&s->random, 0.1, 0.8);
    }
    if (chance(&s->random, 0.3)) dof.friction = sample_log(&s->random, 1e-3, 1.0);
    if (chance(&s->random, 0.2)) dof.damping = sample_log(&s->random, 1e-3, 1.0);
    if (chance(&s->random, 0.15)) {
        dof.motor_force = sample_log(&s->random, 1e-2, 5.0);
        dof.motor_speed = sample_uniform(&s->random, -3.0, 3.0);
        s->motors = true;
    }
    return dof;
}

// a column of the lattice as a chain that hangs from its top body, or from the world
static void chain_column(Soak* s, int first, bool hung) {
    const crJoint joints[] = {CR_JOINT_HINGE, CR_JOINT_BALL, CR_JOINT_HINGE, CR_JOINT_SLIDER};
    for (int k = 0; k < CELLS; k++) {
        Part* part = &s->parts[first + k];
        part->pose.q = cr_quat_identity();
        part->shape = cr_shape_capsule(0.05, 0.08);
        part->pose.p.z = HEIGHT - 0.3 - PITCH * k;
        part->parent = k > 0 ? first + k - 1 : -1;
        part->joint = k > 0 || hung ? joints[below(&s->random, 4)] : CR_JOINT_FREE;
        if (part->joint == CR_JOINT_HINGE || part->joint == CR_JOINT_SLIDER) part->dof = pick_dof(s);
        // a slider without limits could leave the box
        if (part->joint == CR_JOINT_SLIDER) {
            part->dof.lower = fmax(part->dof.lower, -0.2);
            part->dof.upper = fmin(part->dof.upper, 0.2);
        }
    }
    s->trees = true;
}

static bool make_parts(Soak* s) {
    crRandom* r = &s->random;
    for (int i = 0; i < HULLS; i++) {
        crVec3 points[8];
        int corners = 3 + below(r, 6);
        for (int k = 0; k < corners; k++) {
            double angle = 2.0 * CR_PI * k / corners;
            points[k] = cr_vec3(0.1 * cr_cos(angle), 0.1 * cr_sin(angle), 0.0);
        }
        double half = sample_uniform(r, 0.04, 0.1);
        if (cr_hull_create_prism(points, corners, half, NULL, &s->hulls[i], NULL) != CR_OK) return false;
    }
    double ratio = chance(r, 0.3) ? 1000.0 : 3.0, fill = sample_uniform(r, 0.1, 1.0);
    for (int i = 0; i < PARTS; i++) {
        int column = i / CELLS;
        crVec3 at =
            cr_vec3((column % CELLS - 1) * PITCH, (column / CELLS - 1) * PITCH, (i % CELLS + 0.55) * PITCH);
        Part part = {
            .here = chance(r, fill), .parent = -1, .joint = CR_JOINT_FREE, .pose = {at, sample_rotation(r)}};
        part.shape = pick_shape(s);
        part.density = 1000.0 * sample_log(r, 1.0 / ratio, 1.001);
        s->parts[i] = part;
    }
    s->count = PARTS;
    for (int column = 0; column < CELLS * CELLS; column++) {
        if (!chance(r, 0.12)) continue;
        chain_column(s, column * CELLS, chance(r, 0.5));
        for (int k = 0; k < CELLS; k++) {
            s->parts[column * CELLS + k].here = true;
        }
    }
    s->tie_a = s->tie_b = -1;
    if (chance(r, 0.2)) {
        s->tie_a = below(r, PARTS);
        s->tie_b = below(r, PARTS);
    }
    return true;
}

static void pick_settings(Soak* s) {
    crRandom* r = &s->random;
    s->settings = cr_step_settings();
    s->settings.quality = (crQuality)below(r, 3);
    s->settings.threads = 1 + below(r, 3);
    // drawn apart, so that a scene is the same with and without
    crRandom apart = sample_seed(~s->seed);
    if (chance(&apart, 0.4)) {
        s->settings.sleep_time = sample_log(&apart, 0.01, 0.3);
        s->settings.sleep_speed = sample_log(&apart, 1e-3, 0.1);
    }
    s->open = chance(&apart, 0.15);
    if (s->open) s->settings.bound = BOUND;
    s->mu = chance(r, 0.2) ? 0.0 : sample_uniform(r, 0.05, 1.0);
    s->e = chance(r, 0.4) ? 0.0 : chance(r, 0.2) ? 1.0 : sample_uniform(r, 0.0, 1.0);
}

// models and worlds

static void add_body(Soak* s, int i) {
    const Part* part = &s->parts[i];
    crBodyDef def = cr_body_def();
    def.joint = part->joint;
    def.pose = part->pose;
    def.axis = cr_vec3(0, 1, 0);
    def.dof[0] = part->dof;
    for (int k = 0; part->joint != CR_JOINT_HINGE && part->joint != CR_JOINT_SLIDER && k < 6; k++) {
        def.dof[k] = cr_body_def().dof[k];
    }
    if (part->joint == CR_JOINT_SLIDER) def.axis = cr_vec3(0, 0, 1);
    if (part->parent >= 0) {
        def.parent = s->body[part->parent];
        def.pose = cr_pose_mul(cr_pose_inverse(s->parts[part->parent].pose), part->pose);
    }
    crMaterial material = cr_material();
    material.density = part->density;
    material.surface.mu = material.surface.mu2 = s->mu;
    material.surface.e = s->e;
    s->body[i] = cr_model_add_body(s->model, &def);
    cr_model_add_shape(s->model, s->body[i], &part->shape, cr_model_add_material(s->model, &material));
}

static bool build_model(Soak* s) {
    crAllocator allocator = {count_alloc, count_free, &s->bytes};
    s->model = cr_model_create(&allocator);
    if (s->model == NULL) return false;
    s->model->materials[0].surface.mu = s->model->materials[0].surface.mu2 = s->mu;
    s->model->materials[0].surface.e = s->e;
    const crShape walls[] = {
        cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0),   cr_shape_halfspace(cr_vec3(0, 0, -1), -HEIGHT),
        cr_shape_halfspace(cr_vec3(1, 0, 0), -HALF), cr_shape_halfspace(cr_vec3(-1, 0, 0), -HALF),
        cr_shape_halfspace(cr_vec3(0, 1, 0), -HALF), cr_shape_halfspace(cr_vec3(0, -1, 0), -HALF),
    };
    for (int i = 0; i < (s->open ? 1 : 6); i++) {
        cr_model_add_shape(s->model, CR_WORLD, &walls[i], 0);
    }
    for (int i = 0; i < s->count; i++) {
        s->body[i] = -1;
        if (s->parts[i].here) add_body(s, i);
    }
    if (s->tie_a >= 0 && s->tie_a != s->tie_b && s->body[s->tie_a] > 0 && s->body[s->tie_b] > 0) {
        crLoop loop = cr_loop(CR_LOOP_DISTANCE, s->body[s->tie_a], s->body[s->tie_b]);
        loop.length = cr_norm(cr_sub(s->parts[s->tie_a].pose.p, s->parts[s->tie_b].pose.p));
        cr_model_add_loop(s->model, &loop);
    }
    return cr_model_check(s->model, NULL) == CR_OK;
}

static crWorld* open_world(Soak* s, int threads) {
    crAllocator allocator = {count_alloc, count_free, &s->bytes};
    crWorldDef def = cr_world_def();
    def.model = s->model;
    def.allocator = &allocator;
    def.step = s->settings;
    def.step.threads = threads;
    crWorld* world = NULL;
    crError error = {0};
    if (cr_world_create(&def, &world, &error) != CR_OK) {
        printf("seed %llu: a world was refused: %s\n", (unsigned long long)s->seed, error.message);
        s->findings++;
    }
    return world;
}

static double energy(Soak* s) {
    crEnergy e = cr_world_energy(s->world);
    return e.kinetic + e.potential;
}

static void count_from_here(Soak* s) {
    s->start = energy(s);
    s->created = 0.0;
}

// checks

static bool tied(const crModel* model, int a, int b) {
    if (a == CR_WORLD || b == CR_WORLD) return a == b;
    if (a == b || model->bodies[a].parent == b || model->bodies[b].parent == a) return true;
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        if ((loop->a == a && loop->b == b) || (loop->a == b && loop->b == a)) return true;
    }
    return false;
}

// Deepest overlap of all pairs, m. A pair deeper than DEEP and than a share of the narrower body's width is a finding.
static double deepest(Soak* s, double share) {
    double most = 0.0;
    const crModel* model = s->model;
    const crPose* pose = cr_world_stages(s->world)->dynamics.pose;
    cr_world_pose(s->world, CR_WORLD);
    for (int i = 0; i < model->shape_count; i++) {
        for (int j = i + 1; j < model->shape_count; j++) {
            const crBodyShape *a = &model->shapes[i], *b = &model->shapes[j];
            if (tied(model, a->body, b->body)) continue;
            crContactPoint points[CR_MANIFOLD_MAX];
            int n = cr_collide(&a->shape, pose[a->body], &b->shape, pose[b->body], 0.0, points,
                               CR_MANIFOLD_MAX, NULL);
            double pair = 0.0, allowed = DEEP;
            for (int k = 0; k < n; k++) {
                pair = fmax(pair, -points[k].gap);
            }
            most = fmax(most, pair);
            if (!(pair > DEEP)) continue;
            if (share > 0.0) {
                double width = deepest_pair_width(cr_world_stages(s->world), model, a->body, b->body);
                allowed = fmax(DEEP, share * width);
            }
            char what[64];
            snprintf(what, sizeof what, "overlap of %s and %s, m", cr_shape_info(a->shape.kind)->name,
                     cr_shape_info(b->shape.kind)->name);
            if (pair > allowed) finding(s, what, pair, allowed);
        }
    }
    return most;
}

static void check_state(Soak* s) {
    const crState* state = cr_world_state(s->world);
    double sum = 0.0;
    for (int i = 0; i < s->model->nq; i++) {
        sum += state->q[i] * 0.0;
    }
    for (int i = 0; i < s->model->nv; i++) {
        sum += state->v[i] * 0.0;
    }
    if (sum != 0.0) finding(s, "not finite", 1.0, 0.0);
    int escaped = 0;
    for (int b = 1; b < s->model->nb; b++) {
        crVec3 p = cr_world_pose(s->world, b).p;
        double side = s->open ? 0.0 : fmax(fabs(p.x), fabs(p.y)) - HALF, top = s->open ? 0.0 : p.z - HEIGHT;
        double out = fmax(side, fmax(-p.z, top));
        if (out > 0.0) finding(s, "a body left the box by, m", out, 0.0);
        escaped += s->model->bodies[b].joint == CR_JOINT_FREE && cr_norm(p) > s->settings.bound;
    }
    int counted = cr_world_certificate(s->world)->escaped;
    if (counted != escaped) finding(s, "escaped bodies in the certificate", counted, escaped);
}

// a velocity that no step can make anything of is refused, and nothing has changed but the last digits of
// quaternions, which every step begins with lengths of 1
static void check_blow_up(Soak* s) {
    static const double bad[] = {1e12, -1e300, (double)INFINITY, (double)NAN};
    if (s->model->nv == 0) return;  // every body was taken out
    crState* state = cr_world_state(s->world);
    size_t nq = (size_t)s->model->nq * sizeof(double), nv = (size_t)s->model->nv * sizeof(double);
    double time = state->time, *q = malloc(nq), *v = malloc(nv);
    if (q == NULL || v == NULL) abort();
    memcpy(q, state->q, nq);
    memcpy(v, state->v, nv);
    state->v[below(&s->random, s->model->nv)] = bad[below(&s->random, 4)];
    crStatus status = cr_world_step(s->world, NULL);
    if (status != CR_ERR_FINITE) finding(s, "a body that blew up: status", status, CR_ERR_FINITE);
    double moved = fabs(state->time - time);
    for (int i = 0; i < s->model->nq; i++) {
        moved = fmax(moved, fabs(state->q[i] - q[i]));
    }
    if (!(moved <= 1e-15)) finding(s, "a refused step moved bodies by", moved, 1e-15);
    memcpy(state->v, v, nv);
    free(q);
    free(v);
}

static void note(Outcome* to, const Outcome* from) {
    to->steps += from->steps;
    to->residual = fmax(to->residual, from->residual);
    to->eta = fmax(to->eta, from->eta);
    to->cone = fmax(to->cone, from->cone);
    to->momentum = fmax(to->momentum, from->momentum);
    to->gain = fmax(to->gain, from->gain);
}

// The energy of the state changes by no more than the certificate says, and grows by no more than impacts admit.
static void check_energy(Soak* s) {
    const crCertificate* c = cr_world_certificate(s->world);
    double present = energy(s), change = present - s->before, size = fabs(present) + c->energy.size;
    double most = c->energy.work + c->energy.gain;
    if (!(change <= most + ENERGY * size)) finding(s, "energy of a step, J", change, most);
    // trees in flight gain by the length of the step, and calm islands that are pushed apart are lifted
    double gain = s->trees ? INFINITY : LIFT * c->energy.size;
    if (c->outcome == CR_OUTCOME_BOUNDED && c->energy.gain > gain)
        finding(s, "gain of a bounded step, J", c->energy.gain, gain);
    // pushing apart lifts
    double allowed = s->start + s->created + 0.01 * fabs(s->start);
    if (!s->motors && present > allowed) {
        finding(s, "energy, J", present, allowed);
        count_from_here(s);
    }
}

// true if nothing but contacts and gravity acts on a body
static bool is_free(const Soak* s, int i) {
    bool tied = s->tie_a >= 0 && s->tie_a != s->tie_b && (i == s->tie_a || i == s->tie_b);
    bool carries = i + 1 < s->count && s->parts[i + 1].parent == i;
    return s->body[i] > 0 && s->parts[i].joint == CR_JOINT_FREE && !carries && !tied;
}

static crVec3 linear(const Soak* s, int body) {
    const double* v = cr_world_state(s->world)->v + s->model->bodies[body].v;
    return cr_vec3(v[0], v[1], v[2]);
}

static void keep_velocities(Soak* s) {
    for (int b = 1; b < s->model->nb; b++) {
        s->was[b] = s->model->bodies[b].nv == 6 ? linear(s, b) : cr_vec3(0, 0, 0);
    }
}

// The impulses of contacts and impacts, and gravity, are all that free bodies in motion gained in the step. The
// certificate's `momentum` is that of its witness, whose impulses differ from these by the errors of the solve.
static void check_momentum(Soak* s) {
    const crStep* step = cr_world_stages(s->world);
    crEvents events = cr_world_events(s->world);
    crVec3 P[PARTS + 1] = {{0}};
    for (int i = 0; i < cr_step_shown(step); i++) {
        const crStepContact* c = cr_step_shown_at(step, i);
        P[c->body_a] = cr_sub(P[c->body_a], c->impulse);
        P[c->body_b] = cr_add(P[c->body_b], c->impulse);
    }
    for (int i = 0; i < events.count; i++) {
        const crEvent* e = &events.events[i];
        if (e->impact < 0) continue;
        P[e->body_a] = cr_sub(P[e->body_a], e->impulse);
        P[e->body_b] = cr_add(P[e->body_b], e->impulse);
    }
    for (int i = 0; i < s->count; i++) {
        int b = s->body[i];
        if (!is_free(s, i) || cr_norm(linear(s, b)) == 0.0) continue;
        crVec3 fall = cr_scale(s->settings.dt, s->model->gravity);
        crVec3 gained = cr_sub(cr_sub(linear(s, b), s->was[b]), fall);
        double off = cr_norm(cr_madd(gained, -1.0 / s->model->bodies[b].mass, P[b]));
        double allowed = ROUND * (1.0 + cr_norm(s->was[b]));
        if (!(off <= allowed)) finding(s, "velocity without impulses, m/s", off, allowed);
    }
}

static void check_certificate(Soak* s) {
    const crCertificate* c = cr_world_certificate(s->world);
    // another island of the same step may have a worse outcome than bounded
    bool moved = s->settings.quality == CR_QUALITY_FAST && c->outcome != CR_OUTCOME_SOLVED &&
                 c->outcome != CR_OUTCOME_NEAR;
    double tol = s->settings.tol, overlap = deepest(s, moved ? MOVING : 0.0);
    double gain = c->energy.gain > 0.0 ? c->energy.gain / c->energy.size : 0.0;
    s->overlap = fmax(s->overlap, overlap);
    note(&s->by[c->outcome], &(Outcome){1, c->residual, c->eta, c->laws.cone, c->momentum, gain});
    s->unsolved += c->outcome != CR_OUTCOME_SOLVED;
    s->created += c->energy.created;
    if (!isfinite(c->residual)) finding(s, "residual", c->residual, tol);
    if (tol > 0.0 && s->settings.quality == CR_QUALITY_CERTIFIED && c->outcome == CR_OUTCOME_SOLVED &&
        c->residual > tol) {
        finding(s, "called solved with residual", c->residual, tol);
    }
    // over a part of 1e-14 s, rounding of gaps is a speed
    if (c->outcome == CR_OUTCOME_SOLVED && c->eta > LOOSE && c->distance > SHORT) {
        finding(s, "called solved with residual, m/s", c->eta, LOOSE);
    }
    if (overlap > c->penetration + 1e-9)
        finding(s, "overlap above the certificate's", overlap, c->penetration);
    // what was not solved is still a motion by impulses within their cones
    if (!(c->laws.cone <= ROUND))
        finding(s, "distance of impulses from their cones, N s", c->laws.cone, ROUND);
    check_momentum(s);
    check_energy(s);
}

static bool step(Soak* s) {
    crError error = {0};
    s->before = energy(s);
    keep_velocities(s);
    crStatus status = cr_world_step(s->world, &error);
    s->steps++;
    if (status != CR_OK) {
        finding(s, error.message[0] != '\0' ? error.message : cr_status_text(status), (double)status, 0.0);
        return false;
    }
    check_state(s);
    check_certificate(s);
    return s->findings == 0;
}

// the same future from a snapshot, in the same world and in another
static void check_snapshot(Soak* s, int steps) {
    size_t size = cr_world_save_size(s->world);
    void* bytes = malloc(size);
    if (bytes == NULL || cr_world_save(s->world, bytes, size) != CR_OK) {
        finding(s, "a snapshot was refused", (double)size, 0.0);
        free(bytes);
        return;
    }
    bool fine = true;
    for (int i = 0; i < steps && fine; i++) {
        fine = step(s);
    }
    uint64_t expected = cr_world_hash(s->world);
    crWorld* other = fine ? open_world(s, 1 + (s->settings.threads + below(&s->random, 3)) % 4) : NULL;
    for (int w = 0; w < 2 && other != NULL; w++) {
        crWorld* world = w == 0 ? other : s->world;
        if (cr_world_load(world, bytes, size, NULL) != CR_OK)
            finding(s, "a snapshot was not taken back", 0, 0);
        for (int i = 0; i < steps && fine; i++) {
            fine = cr_world_step(world, NULL) == CR_OK;
        }
        if (cr_world_hash(world) != expected) finding(s, "another future after a snapshot; world", w, 0.0);
    }
    cr_world_destroy(other);
    free(bytes);
}

// a set of bodies changes: a new model, with the state of those that stay

static void copy_state(const crModel* from, const crState* a, int body_a, const crModel* to, crState* b,
                       int body_b) {
    const crBody *x = &from->bodies[body_a], *y = &to->bodies[body_b];
    memcpy(b->q + y->q, a->q + x->q, (size_t)x->nq * sizeof(double));
    memcpy(b->v + y->v, a->v + x->v, (size_t)x->nv * sizeof(double));
}

static bool room_for(Soak* s, const Part* part) {
    for (int i = 0; i < s->model->shape_count; i++) {
        const crBodyShape* other = &s->model->shapes[i];
        crDistance d;
        crPose pose = cr_world_pose(s->world, other->body);
        if (cr_distance(&part->shape, part->pose, &other->shape, pose, 1.0, &d) && d.contact.gap < 1e-3)
            return false;
    }
    return true;
}

static void change_bodies(Soak* s) {
    int i = below(&s->random, s->count);
    Part* part = &s->parts[i];
    bool in_tree = part->joint != CR_JOINT_FREE || (i + 1 < s->count && s->parts[i + 1].parent == i);
    if (in_tree || i == s->tie_a || i == s->tie_b) return;
    if (!part->here && !room_for(s, part)) return;
    part->here = !part->here;
    crModel* old_model = s->model;
    crWorld* old_world = s->world;
    int old_body[PARTS];
    memcpy(old_body, s->body, sizeof old_body);
    s->world = NULL;
    if (!build_model(s) || (s->world = open_world(s, s->settings.threads)) == NULL) {
        printf("seed %llu: a changed model was refused\n", (unsigned long long)s->seed);
        s->findings++;
        cr_model_destroy(s->model);
        s->model = old_model;
        s->world = old_world;
        return;
    }
    for (int k = 0; k < s->count; k++) {
        if (s->body[k] < 0 || old_body[k] < 0) continue;
        copy_state(old_model, cr_world_state(old_world), old_body[k], s->model, cr_world_state(s->world),
                   s->body[k]);
    }
    cr_world_state(s->world)->time = cr_world_state(old_world)->time;
    cr_world_destroy(old_world);
    cr_model_destroy(old_model);
    count_from_here(s);
}

// one scene from its seed

static void push(Soak* s) {
    crState* state = cr_world_state(s->world);
    double speed = sample_log(&s->random, 1e-2, 3.0);
    for (int i = 0; i < s->model->nv; i++) {
        state->v[i] = sample_uniform(&s->random, -speed, speed);
    }
    // loops must hold at the start
    crStep* stages = cr_world_stages(s->world);
    cr_model_kinematics(s->model, state, &stages->dynamics);
    cr_model_close_loops(s->model, 1e-12, &stages->scratch, &stages->dynamics, state, NULL);
    count_from_here(s);
}

static void run(Soak* s) {
    double end = now() + WALL;
    int phases = 2 + below(&s->random, 3);
    push(s);
    for (int phase = 0; phase < phases && s->findings == 0; phase++) {
        int steps = 20 + below(&s->random, 100);
        for (int i = 0; i < steps && now() < end; i++) {
            if (!step(s)) return;
        }
        if (now() > end) return;
        check_snapshot(s, 5 + below(&s->random, 20));
        if (s->findings == 0) check_blow_up(s);
        if (s->findings == 0) change_bodies(s);
    }
}

static void print_scene(const Soak* s, double seconds) {
    printf(
        "seed %llu: %s, e %.2f, mu %.2f, %d thread%s%s%s: %d steps in %.2f s, overlap %.2g m, %d unsolved\n",
        (unsigned long long)s->seed, cr_quality_name(s->settings.quality), s->e, s->mu, s->settings.threads,
        s->settings.threads > 1 ? "s" : "", s->trees ? ", trees" : "", s->motors ? ", motors" : "", s->steps,
        seconds, s->overlap, s->unsolved);
}

static void soak_scene(uint64_t seed, bool tell, Totals* totals) {
    double begun = now();
    Soak s = {.seed = seed, .random = sample_seed(seed)};
    pick_settings(&s);
    bool fine = make_parts(&s) && build_model(&s);
    if (fine && s.model->nv > 0) s.world = open_world(&s, s.settings.threads);
    if (s.world != NULL) run(&s);
    cr_world_destroy(s.world);
    cr_model_destroy(s.model);
    for (int i = 0; i < HULLS; i++) {
        cr_hull_destroy(s.hulls[i]);
    }
    if (!fine || s.bytes != 0) {
        printf("seed %llu: %s, %zu bytes\n", (unsigned long long)seed, fine ? "memory kept" : "not built",
               s.bytes);
        s.findings++;
    }
    if (tell) print_scene(&s, now() - begun);
    totals->scenes++;
    totals->steps += s.steps;
    totals->findings += s.findings;
    totals->overlap = fmax(totals->overlap, s.overlap);
    for (int k = 0; k < OUTCOMES; k++) {
        note(&totals->by[k], &s.by[k]);
    }
}

static void print_totals(const Totals* totals) {
    printf("%ld scenes, %ld steps, deepest overlap %.2g m, %ld findings; worst figures by outcome:\n",
           totals->scenes, totals->steps, totals->overlap, totals->findings);
    for (int k = 0; k < OUTCOMES; k++) {
        const Outcome* o = &totals->by[k];
        if (o->steps == 0) continue;
        printf("  %-12s %9ld steps, residual %.2g, eta %.2g m/s, cone %.2g N s, momentum %.2g m/s, gain %.2g "
               "of the energies\n",
               cr_outcome_name((crOutcome)k), o->steps, o->residual, o->eta, o->cone, o->momentum, o->gain);
    }
}

int main(int argc, char** argv) {
    Totals totals = {0};
    double minutes = 30.0;
    uint64_t first = 1, last = UINT64_MAX;
    if (argc > 2 && strcmp(argv[1], "--seed") == 0) {
        first = strtoull(argv[2], NULL, 10);
        last = argc > 3 ? strtoull(argv[3], NULL, 10) : first;
        minutes = INFINITY;
    } else if (argc > 1) {
        char* end = NULL;
        minutes = strtod(argv[1], &end);
        if (*end != '\0' || !(minutes > 0.0)) {
            fprintf(stderr, "soak worlds: minutes is '%s', must be > 0\n", argv[1]);
            return 2;
        }
    }
    double end = now() + 60.0 * minutes;
    for (uint64_t seed = first; seed <= last && now() < end; seed++) {
        soak_scene(seed, last != UINT64_MAX, &totals);
    }
    print_totals(&totals);
    return totals.findings > 0;
}
