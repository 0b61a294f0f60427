// moving_run.c - short steps over the contacts of moving islands, limited to create no energy.
//
// The packed contacts of single bodies and the rows of trees (moving_trees.c) go through packed_substeps.c
// together. Bodies that pushed each other form a set: corrections of positions lift it by no more than its
// contacts dissipated, and impulses that would still create energy are scaled down together with the
// displacement they gave.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "base/room.h"
#include "model/single.h"
#include "step/forest.h"
#include "step/moving.h"
#include "step/moving_trees.h"

#define BODIES        256    // bodies per task
#define CONTACTS      512    // contacts per task
#define PUSHED        0.25   // way by which neighbours may close a gap, share of both bodies' travel
#define FAR           0.1    // travel beyond which a corner may swing round and press, of the smaller size
#define LIMITS        4      // rounds of reducing shares
#define LEAST         0.9    // least share of v of a tree while corrections can still be reduced
#define SURE          1.001  // factor on each reduction, for rounding
#define LEAST_BEND    0.01   // least slope of a secant, share of the lift
#define RELEASE_ROWS  300    // rows up to which a slow set that would create energy is released
#define RELEASE_FEW   60     // rows up to which a fast one is
#define RELEASE_SHARE 0.9    // share of its impulses below which any set is released
#define RELEASE_SPEED 0.1    // root mean square speed up to which a set is slow, m/s

typedef struct Energy Energy;

// Contribution of a single body to the energy balance of its set; fields as in Energy.
typedef struct Gain {
    double gain, lift, square, twice_T;
} Gain;

// working data of the short steps
typedef struct Work {
    crStep* step;
    double h;
    int count;
    crPackedContact* contact;       // packed contacts (count)
    int* index;                     // their place among the step's contacts (count)
    double *gap, *target, *bounce;  // as in crSubsteps (count)
    crVec3* given;  // velocity that driven bodies give each of the step's contacts; NULL: no body is driven
    crPacked packed;
    int singles;  // single bodies in `packed`; places of trees follow them
    crMovingTrees trees;
    crSubsteps ask;
    int* root;       // first body of the set of each body (nb)
    Energy* energy;  // balance of each set, at its root (nb)
    Gain* gains;     // of single bodies (singles)
} Work;

// Allocates the arrays of the packed contacts. CR_ERR_MEMORY.
static crStatus create(Work* work) {
    const crStep* step = work->step;
    size_t room = (size_t)work->count + 1;
    bool bounces = step->pairs->bouncing;
    bool ok = CR_ROOMS(&work->step->scratch, CR_ROOM(work->contact, room), CR_ROOM(work->gap, room),
                       CR_ROOM(work->target, room), CR_ROOM(work->index, room));
    if (ok && bounces) ok = CR_ROOMS(&work->step->scratch, CR_ROOM(work->bounce, room));
    return ok ? CR_OK : CR_ERR_MEMORY;
}

// True if a contact may press in the step: its gap closes by its own speed, by gravity, or by the push of
// neighbours. The other contacts, an eighth to a quarter of those of a heap, are not swept.
static bool may_press(const Work* work, const crStepContact* c, double fall) {
    const crStep* step = work->step;
    double close = work->h * ((c->speed < 0.0 ? -c->speed : 0.0) + fall);
    double left = c->point.gap - c->delta - close;
    if (left <= 0.0) return true;
    double travel = cr__step_travel(step, c->body_a) + cr__step_travel(step, c->body_b);
    bool far = travel > FAR * cr__plan_pair_size(step->plan, c->body_a, c->body_b);
    return left <= (far ? travel : PUSHED * travel);
}

// contacts of the islands in chunks, one task each
typedef struct Listing {
    Work* work;
    double fall;
    bool* takes;    // true for each contact that may press (contacts.count)
    int* first;     // of each chunk: place of its first contact; before that, their number
    bool* bounces;  // of each chunk: true if one of its contacts may bounce
} Listing;

static void choose_chunk(void* ctx, int begin, int end) {
    const Listing* list = ctx;
    const Work* work = list->work;
    int count = 0;
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &work->step->contacts.list[i];
        if (work->given != NULL) work->given[i] = cr__step_given_velocity(work->step, c);
        list->takes[i] = c->packable && may_press(work, c, list->fall);
        count += list->takes[i];
    }
    list->first[begin / CONTACTS] = count;
}

static void list_pressing(void* ctx, int begin, int end) {
    const Listing* list = ctx;
    const Work* work = list->work;
    const crStep* step = work->step;
    int at = list->first[begin / CONTACTS], cursor = cr__step_warm_from(step, &step->contacts.list[begin]);
    bool bounces = false;
    for (int i = begin; i < end; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!list->takes[i]) continue;
        const crWarm* warm = cr__step_warm_next(step, c, &cursor);
        crPackedContact* to = &work->contact[at];
        work->index[at] = i;
        cr__step_packed_from(c, to);
        if (work->given != NULL) to->E = work->given[i];
        if (warm != NULL) to->P = cr__in_cone(to, cr_scale(work->h / CR_SUBSTEPS, warm->force));
        bool fast = c->e > 0.0 && c->speed < -step->settings.threshold;
        work->gap[at] = c->point.gap;
        work->target[at] = -0.5 * c->delta;
        if (work->bounce != NULL) work->bounce[at] = fast ? c->e * c->speed : 0.0;
        at++;
        bounces = bounces || fast;
    }
    list->bounces[begin / CONTACTS] = bounces;
}

// Lists packed contacts that may press, with the warm start of one short step. *bounces: one may bounce.
// CR_ERR_MEMORY.
static crStatus list(Work* work, bool* bounces) {
    crStep* step = work->step;
    int count = step->contacts.count, chunks = (count + CONTACTS - 1) / CONTACTS;
    Listing listing = {.work = work, .fall = work->h * cr_norm(step->model->gravity)};
    if (!CR_ROOMS(&step->scratch, CR_ROOM(listing.takes, count + 1), CR_ROOM(listing.bounces, chunks + 1),
                  CR_ROOM(listing.first, chunks + 1)))
        return CR_ERR_MEMORY;
    if (step->plan->given_count > 0 && !CR_ROOMS(&step->scratch, CR_ROOM(work->given, count + 1)))
        return CR_ERR_MEMORY;
    cr__tasks_for(step->own.tasks, count, CONTACTS, choose_chunk, &listing);
    for (int k = 0; k < chunks; k++) {
        int more = listing.first[k];
        listing.first[k] = work->count;
        work->count += more;
    }
    if (create(work) != CR_OK) return CR_ERR_MEMORY;
    cr__tasks_for(step->own.tasks, count, CONTACTS, list_pressing, &listing);
    *bounces = false;
    for (int k = 0; k < chunks; k++) {
        *bounces = *bounces || listing.bounces[k];
    }
    return CR_OK;
}

// Writes the velocities v in the coordinates of z.
static void coordinates(const Work* work, const crInertias* of, const double* v, double* z) {
    crPacked singles = work->packed;
    singles.bodies = work->singles;
    cr__packed_coordinates(&singles, of, v, z);
    if (work->trees.posed) cr__units_coordinates(of, v, &work->trees.units, z + work->trees.units.base);
}

static void read_range(void* ctx, int begin, int end) {
    const Work* work = ctx;
    for (int i = begin; i < end; i++) {
        work->step->contacts.list[work->index[i]].impulse = work->contact[i].P;
    }
}

// Writes the impulses of the whole step to the step's contacts.
static void read_impulses(Work* work) {
    cr__tasks_for(work->step->own.tasks, work->count, CONTACTS, read_range, work);
    if (!work->trees.posed) return;
    cr__moving_keep_ties(&work->trees, &work->ask);
    cr__moving_impulses(work->step, &work->step->contacts);
}

// arguments of take_free
typedef struct Change {
    double* z;
    const double* z_free;
} Change;

static void take_free(void* ctx, int begin, int end) {
    const Change* change = ctx;
    for (int i = CR_BODY_STRIDE * begin; i < CR_BODY_STRIDE * end; i++) {
        change->z[i] -= change->z_free[i];
    }
}

static crStatus solve(Work* work, const int* islands, bool bounces) {
    crStep* step = work->step;
    crArena* arena = &step->scratch;
    crPacked* p = &work->packed;
    crMovingTrees* trees = &work->trees;
    const crInertias of = cr__step_inertias(step, &step->scratch);
    const int* island = trees->posed ? trees->islands.of_body : islands;
    crStatus status = cr__packed_group(&of, island, step->state.v, work->count, work->contact,
                                       trees->posed ? &trees->units : NULL, p);
    if (status != CR_OK) return status;
    work->singles = p->bodies - (trees->posed ? trees->units.places : 0);
    size_t numbers = CR_BODY_STRIDE * (size_t)(p->bodies + 1);
    double* dz = cr_arena_alloc(arena, numbers * sizeof *dz);
    crSubsteps* ask = &work->ask;
    *ask = (crSubsteps){.packed = p,
                        .h = work->h,
                        .scale = step->plan->mass_root,
                        .gap = work->gap,
                        .target = work->target,
                        .dz = dz};
    ask->row_gap = trees->gap;
    ask->row_target = trees->target;
    ask->row_bounce = trees->bounce;
    if (bounces || trees->bounces) ask->bounce = work->bounce;
    if (dz == NULL) return CR_ERR_MEMORY;
    coordinates(work, &of, step->free.v, dz);
    cr__tasks_for(step->own.tasks, p->bodies + 1, BODIES, take_free, &(Change){dz, p->z_free});
    status = cr__substeps_run(&of, ask);
    if (status == CR_OK) read_impulses(work);
    return status;
}

// arguments of leave_range
typedef struct Leaving {
    const Work* work;
    bool* moving;
} Leaving;

// Leaves single bodies without a packed contact to the calm solve.
static void leave_range(void* ctx, int begin, int end) {
    const Leaving* leaving = ctx;
    const crModel* model = leaving->work->step->model;
    for (int b = begin; b < end; b++) {
        if (model->bodies[b].single && leaving->work->packed.place[b] == 0) leaving->moving[b] = false;
    }
}

// Converts a velocity or displacement of a body from the coordinates of z to those of v.
static void from_coordinates(const crStep* step, int body, const double* z, double* v) {
    double share = 1.0 / sqrt(step->model->bodies[body].mass);
    for (int k = 0; k < 3; k++) {
        v[k] = share * z[k];
    }
    crVec3 turn = cr_mat3_mul_t(step->dynamics.root[body], cr__load_vec(z + 3));
    cr__store_vec(turn, v + 3);
}

static double dot6(const double* a, const double* b) {
    double sum = 0.0;
    for (int k = 0; k < 6; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

// energy balance of a set of bodies that pushed each other
struct Energy {
    double gain;    // energy gained beyond the work of forces and driven bodies, J
    double lift;    // part of the gain that corrections of positions make, J
    double square;  // p.p, p: change of z by impulses, J
    double
        quick;  // twice the kinetic energy of single bodies at the beginning beyond that at RELEASE_SPEED, J
    double last;     // gain of the last round, J; 0: impulses changed since then
    double bend;     // change of the gain by corrections, share of lift: bodies that are moved turn, too
    int rows;        // rows of contacts that pressed
    bool trees;      // true if some bodies are of trees
    bool open;       // true if its shares changed since its gain was found
    bool gained;     // true if it gained energy with the shares of the last round
    bool released;   // out: true if the calm solve takes it
    double correct;  // out: share of the corrections that is kept
    double scale;    // out: share of the impulses that is kept
};

// orientation of a body after a rotation by the vector `turn`
static crQuat turned(const crStep* step, int b, crVec3 turn) {
    crQuat q = cr__load_quat(step->state.q + step->model->bodies[b].q + 3);
    return cr_quat_normalize(cr_quat_mul(cr__rotation_exp(turn), q));
}

// z and D of single body i with the shares of its set
static void shared(const Work* work, int i, const Energy* e, double z[6], double D[6]) {
    for (int k = 0; k < 6; k++) {
        cr__moving_share(&work->ask, CR_BODY_STRIDE * (i + 1) + k, e->correct, e->scale, &z[k], &D[k]);
    }
}

// energy that single body i gains with the shares of its set
static Gain gain_of(const Work* work, int i, const Energy* e) {
    const crStep* step = work->step;
    const crPacked* p = &work->packed;
    int b = p->body[i], at = CR_BODY_STRIDE * (i + 1);
    const double *z0 = p->z_free + at, *dz = work->ask.dz + at;
    double z[6], D[6], force[6], push[6], v[6], way[6];
    Gain sum = {0};
    shared(work, i, e, z, D);
    for (int k = 0; k < 6; k++) {
        force[k] = dz[k] / work->h;
        push[k] = p->z[at + k] - z0[k] - dz[k];
        sum.gain += 0.5 * (z[k] - z0[k]) * (z[k] + z0[k]);
    }
    sum.square = dot6(push, push);
    sum.twice_T = dot6(z0, z0);
    sum.gain -= dot6(force, D);
    sum.lift = -dot6(force, work->ask.C + at);
    if (cr__single_round(&step->model->bodies[b])) return sum;
    // the inertia turns with the body
    from_coordinates(step, b, z, v);
    from_coordinates(step, b, D, way);
    crVec3 omega = cr__load_vec(v + 3), L = cr_sym3_mul(step->dynamics.inertia[b], omega);
    crVec3 after = cr__single_omega(&step->model->bodies[b], step->dynamics.inertia[b],
                                    turned(step, b, cr__load_vec(way + 3)), omega);
    sum.gain += 0.5 * cr_dot(L, cr_sub(after, omega));
    return sum;
}

// gains of the single bodies begin to end - 1 that are in open sets
static void find_single_gains(void* ctx, int begin, int end) {
    const Work* work = ctx;
    for (int i = begin; i < end; i++) {
        const Energy* e = &work->energy[work->root[work->packed.body[i]]];
        if (e->open) work->gains[i] = gain_of(work, i, e);
    }
}

static void add_single(const Work* work, int i, Energy* e) {
    const Gain* gain = &work->gains[i];
    e->gain += gain->gain;
    e->lift += gain->lift;
    e->square += gain->square;
    double mass = work->step->model->bodies[work->packed.body[i]].mass;
    e->quick += gain->twice_T - RELEASE_SPEED * RELEASE_SPEED * mass;
}

// Reduces the shares of a set until it gains nothing: corrections first, by a secant of the last two rounds, then
// impulses. The latter take velocity and displacement back towards free flight, which gains nothing: with a share
// s of the impulses the gain is s (gain - b) + s^2 b, b = p.p / 2.
static void limit(Energy* e) {
    double bend = e->last > 0.0 ? e->bend * (e->last - e->gain) / (SURE * e->last) : 1.0;
    e->bend = bend > LEAST_BEND ? bend : 1.0;
    double lift = e->bend * e->lift, share = lift > 0.0 ? fmin(e->correct, SURE * e->gain / lift) : 0.0;
    double left = e->gain - share * lift, b = 0.5 * e->square;
    e->correct -= share;
    e->last = left > 0.0 ? 0.0 : e->gain;
    if (left > 0.0) e->scale = fmax(0.0, e->scale - SURE * left / (b * e->scale));
}

// leader n: the single bodies come first, then the roots of trees
static int leader(const Work* work, int n) {
    return n < work->singles ? work->packed.body[n] : work->trees.root[n - work->singles];
}

// joins of contacts that press
typedef struct Pressing {
    const crStep* step;
    int* tree;  // of each contact: the tree that its rows count for; -1: it does not press (contacts.count)
} Pressing;

static bool press_ends(const void* ctx, int i, int* a, int* b) {
    const Pressing* pressing = ctx;
    const crModel* model = pressing->step->model;
    const crStepContact* c = &pressing->step->contacts.list[i];
    *a = model->top[c->body_a];
    *b = model->top[c->body_b];
    pressing->tree[i] = cr__step_presses(c) ? (*b >= 0 ? *b : *a) : -1;
    return pressing->tree[i] >= 0 && *a >= 0 && *b >= 0;
}

// Makes each of the bodies begin to end - 1 a set of its own.
static void begin_sets(void* ctx, int begin, int end) {
    const Work* work = ctx;
    for (int n = begin; n < end; n++) {
        int b = leader(work, n);
        work->root[b] = b;
        work->energy[b] = (Energy){.bend = 1.0, .correct = 1.0, .scale = 1.0, .open = true};
    }
}

// Joins bodies that pushed each other to sets and counts their rows. root[b] becomes the first body of the
// set of b if b is single or the root of a tree. CR_ERR_MEMORY.
static crStatus join(Work* work) {
    crStep* step = work->step;
    int* root = work->root;
    Energy* energy = work->energy;
    int count = work->singles + work->trees.count, contacts = step->contacts.count, nb = step->model->nb;
    Pressing pressing = {step, cr_arena_alloc(&step->scratch, ((size_t)contacts + 1) * sizeof(int))};
    if (pressing.tree == NULL) return CR_ERR_MEMORY;
    // of all bodies, of which the sets are some
    memset(root, 0, (size_t)nb * sizeof *root);
    cr__tasks_for(step->own.tasks, count, BODIES, begin_sets, work);
    crStatus status =
        cr__forest_join_all(step->own.tasks, &step->scratch, contacts, press_ends, &pressing, nb, root);
    for (int i = 0, end; i < contacts && status == CR_OK; i = end) {
        for (end = i + 1; end < contacts && pressing.tree[end] == pressing.tree[i];) {
            end++;
        }
        if (pressing.tree[i] >= 0) energy[pressing.tree[i]].rows += 3 * (end - i);
    }
    for (int n = 0; n < count; n++) {
        int b = leader(work, n), first = cr__forest_find(root, b);
        if (first != b) energy[first].rows += energy[b].rows;
    }
    for (int n = 0; n < count; n++) {
        int b = leader(work, n);
        root[b] = cr__forest_find(root, b);
    }
    return status;
}

// the set of a body, single or of a tree
static Energy* set_of(const Work* work, int body) {
    return &work->energy[work->root[work->step->model->bodies[body].root]];
}

static void add_tree(Work* work, int k, bool last, Energy* e) {
    double least = (last && e->gained) || !(e->correct > 0.0) ? 0.0 : LEAST;
    crTreeGain gain = cr__moving_gain(&work->trees, &work->ask, k, e->correct, e->scale, least);
    e->gain += gain.gain;
    e->lift += gain.lift;
    e->square += gain.square;
    e->trees = true;
}

// Finds the gain of each open set with its shares. Trees balance it by a share of v, which is at least LEAST
// while corrections can still be reduced. In the last round this limit is dropped in sets that gain. Sets
// that do not gain keep it: contacts may take more energy from a fast spinning tree than it has, because
// short steps keep velocity terms as they were at the beginning.
static void find_gains(Work* work, bool last) {
    const crStep* step = work->step;
    const int* root = work->root;
    Energy* energy = work->energy;
    const crPacked* p = &work->packed;
    for (int n = 0; n < work->singles + work->trees.count; n++) {
        Energy* e = &energy[leader(work, n)];
        e->gained = e->gain > 0.0;
        if (e->open) e->gain = e->lift = e->square = e->quick = 0.0;
    }
    cr__tasks_for(step->own.tasks, work->singles, BODIES, find_single_gains, work);
    for (int i = 0; i < work->singles; i++) {
        Energy* e = &energy[root[p->body[i]]];
        if (e->open) add_single(work, i, e);
    }
    for (int k = 0; k < work->trees.count; k++) {
        Energy* e = &energy[root[work->trees.root[k]]];
        if (e->open) add_tree(work, k, last, e);
    }
    for (int i = 0; work->given != NULL && i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!cr__step_presses(c)) continue;
        Energy* e = set_of(work, cr__step_mover(step, c->body_a, c->body_b));
        if (e->open) e->gain += e->scale * cr_dot(c->impulse, work->given[i]);
    }
}

// true if a set whose short steps would create energy is released: up to RELEASE_FEW rows, up to RELEASE_ROWS
// if it is slow, as converged solves bring it to rest; never with trees
static bool may_release(const Energy* e) {
    return !e->trees && e->rows <= (e->quick <= 0.0 ? RELEASE_ROWS : RELEASE_FEW);
}

// Finds shares with which no set gains energy. Small sets without trees that would gain are released to the
// calm solve, and so are sets without rows. The others get less correction, then less of their impulses. A set
// that would keep few of its impulses is released too: its bodies would fall into each other.
// CR_ERR_MEMORY.
static crStatus limit_energy(Work* work, bool* moving) {
    const crPacked* p = &work->packed;
    int count = work->singles + work->trees.count;
    if (join(work) != CR_OK) return CR_ERR_MEMORY;
    bool any = true;
    for (int round = 0; any; round++) {
        find_gains(work, round == LIMITS);
        any = false;
        for (int n = 0; n < count && round < LIMITS; n++) {
            Energy* e = &work->energy[leader(work, n)];
            bool creates = e->gain - fmax(0.0, e->correct * e->lift) > 0.0;
            if (round == 0) e->released = creates && may_release(e);
            e->open = e->gain > 0.0 && !e->released;
            if (e->open) limit(e);
            any = any || e->open;
        }
    }
    for (int n = 0; n < count; n++) {
        Energy* e = &work->energy[work->root[leader(work, n)]];
        // without any impulse a spinning body still gains: its turn is of first order here
        e->released = e->released || e->rows == 0 || !(e->scale > RELEASE_SHARE);
        if (!e->released) continue;
        if (n < work->singles) {
            moving[p->body[n]] = false;
        } else {
            cr__moving_leave(&work->trees, n - work->singles, moving);
        }
    }
    cr__moving_stand(&work->trees);
    return CR_OK;
}

// Writes v and q of single bodies begin to end - 1, with the shares of their sets.
static void put_singles(void* ctx, int begin, int end) {
    const Work* work = ctx;
    crStep* step = work->step;
    for (int i = begin; i < end; i++) {
        int b = work->packed.body[i];
        const crBody* body = &step->model->bodies[b];
        const Energy* e = &work->energy[work->root[b]];
        if (e->released) continue;
        double z[6], D[6], *way = step->dynamics.scratch.v, *v = step->state.v + body->v;
        shared(work, i, e, z, D);
        from_coordinates(step, b, z, v);
        from_coordinates(step, b, D, way + body->v);
        crVec3 omega = cr__load_vec(v + 3);
        cr__part_advance(step->model, (crPart){&b, 1}, 1.0, way, step->state.q);
        crQuat q = cr__load_quat(step->state.q + body->q + 3);
        cr__store_vec(cr__single_omega(&step->model->bodies[b], step->dynamics.inertia[b], q, omega), v + 3);
    }
}

static void put_back(Work* work) {
    for (int k = 0; k < work->trees.count; k++) {
        const Energy* e = &work->energy[work->root[work->trees.root[k]]];
        if (!e->released) cr__moving_put(&work->trees, k);
    }
    cr__tasks_for(work->step->own.tasks, work->singles, BODIES, put_singles, work);
}

// Scales the impulses of contacts and joints by the shares of their sets.
static void put_impulses(const Work* work) {
    crStep* step = work->step;
    bool less = false;
    for (int n = 0; n < work->singles + work->trees.count; n++) {
        less = less || work->energy[leader(work, n)].scale < 1.0;
    }
    for (int i = 0; less && i < step->contacts.count; i++) {
        crStepContact* c = &step->contacts.list[i];
        if (!cr__step_presses(c)) continue;
        const Energy* e = set_of(work, cr__step_mover(step, c->body_a, c->body_b));
        if (e->scale < 1.0) c->impulse = cr_scale(e->scale, c->impulse);
    }
    if (!work->trees.posed) return;
    for (int r = 0; r < step->posed.rows.count; r++) {
        int first = step->posed.rows.start[r];
        if (step->ties.of_row[r] < 0 || first == step->posed.rows.start[r + 1]) continue;
        step->posed.p[r] *= set_of(work, step->model->velocity.body[step->posed.rows.col[first]])->scale;
    }
    cr__step_keep_ties(step, &step->ties);
}

crStatus cr__moving_run(crStep* step, double h, const int* islands, bool* moving, crError* error) {
    Work work = {.step = step, .h = h};
    int nb = step->model->nb;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(work.root, nb), CR_ROOM(work.energy, nb)))
        return cr__step_memory(error);
    step->part = cr__step_part_of(step, moving, true);
    crStatus status = cr__moving_pose(step, h, islands, moving, &work.trees, error);
    if (status != CR_OK) return status;
    bool bounces;
    if (list(&work, &bounces) != CR_OK) return cr__step_memory(error);
    cr__moving_start(&work.trees);
    if (solve(&work, islands, bounces) != CR_OK) return cr__step_memory(error);
    cr__tasks_for(step->own.tasks, step->model->nb, BODIES, leave_range, &(Leaving){&work, moving});
    bool room = CR_ROOMS(&step->scratch, CR_ROOM(work.gains, work.singles + 1));
    if (!room || limit_energy(&work, moving) != CR_OK) return cr__step_memory(error);
    put_back(&work);
    put_impulses(&work);
    return CR_OK;
}
