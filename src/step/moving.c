// moving.c - islands in motion: one packing, eight short steps, positions in the same loop (packed_substeps.c).
//
// In fast, an island of more than ROWS rows moves where a contact that touches, or would in the step, is faster than
// SPEED. Its short steps solve a finer problem than the whole step poses, so its certificate is of another kind: the
// impulses are in their cones, v+ = v_free + M^-1 J^T P, and no energy is created. The last is enforced: corrections of
// positions may lift bodies by no more than contacts dissipated, and impulses that would still create energy are scaled
// to the least energy along them.
// Fails: CR_ERR_MEMORY.
#include "step/moving.h"

#include <string.h>

#include "model/single.h"
#include "step/audit.h"
#include "step/cache.h"
#include "step/forest.h"
#include "step/packed_substeps.h"

#define RELEASE_ROWS 300   // sets up to this size that would create energy are solved otherwise
#define ROWS         60    // islands up to this size are solved exactly
#define SPEED        0.01  // of a contact along its normal, m/s

static int mover(const crStep* step, const crStepContact* c) {
    return cr__moves(step->model, c->body_b) ? c->body_b : c->body_a;
}

// whether a contact may close in the step: by v, by v_free, or by what gravity adds to bodies that others carry
static bool acts(const crStep* step, const crStepContact* c) {
    crVec3 x = c->point.point;
    crVec3 u = cr_sub(cr__step_point_velocity(step, step->v_free, c->body_b, x),
                      cr__step_point_velocity(step, step->v_free, c->body_a, x));
    double speed = fmax(-c->speed, -cr_dot(u, c->point.normal)) + step->h * cr_norm(step->model->gravity);
    return c->point.gap - c->delta <= step->h * speed;
}

// islands of all contacts: a root for every body; rows under bodies, and whether one of them is fast
static void join_contacts(const crStep* step, int* root, int* rows, bool* fast) {
    const crModel* model = step->model;
    for (int b = 0; b < model->nb; b++) {
        root[b] = b;
        rows[b] = 0;
        fast[b] = false;
    }
    for (int k = 0; k < step->part_loop_count; k++) {
        const crLoop* loop = &model->loops[step->part_loops[k]];
        cr__forest_join_trees(model, root, loop->a, loop->b);
    }
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        cr__forest_join_trees(model, root, c->body_a, c->body_b);
        int b = mover(step, c);
        rows[b] = c->packable && rows[b] >= 0 ? rows[b] + 3 : INT32_MIN / 4;
        fast[b] = fast[b] || (fabs(c->speed) > SPEED && acts(step, c));
    }
}

bool cr__step_find_moving(const crStep* step, int* root, int* rows, bool* moving) {
    const crModel* model = step->model;
    bool any = false;
    join_contacts(step, root, rows, moving);
    for (int b = model->nb - 1; b > 0; b--) {
        if (!cr__moves(model, b)) continue;
        root[b] = cr__forest_find(root, model->bodies[b].root);
        if (!model->bodies[b].single) rows[b] = INT32_MIN / 4;
        if (root[b] == b) continue;
        rows[root[b]] = rows[root[b]] < 0 || rows[b] < 0 ? INT32_MIN / 4 : rows[root[b]] + rows[b];
        moving[root[b]] = moving[root[b]] || moving[b];
    }
    for (int b = 1; b < model->nb; b++) {
        if (!cr__moves(model, b)) continue;
        moving[b] = moving[root[b]] && rows[root[b]] > ROWS;
        any = any || moving[b];
    }
    return any;
}

// what the short steps work on
typedef struct Work {
    crStep* step;
    double h;
    int count;
    int* index;  // in step->contacts (count)
    crPackedContact* contact;
    double *gap, *target, *bounce;
    crPacked packed;
    crSubsteps ask;
} Work;

static int mover_of(const crStep* step, const crPackedContact* c) {
    return cr__moves(step->model, c->body_b) ? c->body_b : c->body_a;
}

static crVec3 given_velocity(const crStep* step, const crStepContact* c) {
    const crDynamics* d = &step->dynamics;
    if (step->cache->given_count == 0) return cr_vec3(0, 0, 0);
    crVec3 x = c->point.point;
    return cr_sub(cr__twist_at(d->given[c->body_b], cr_sub(x, d->origin[c->body_b])),
                  cr__twist_at(d->given[c->body_a], cr_sub(x, d->origin[c->body_a])));
}

static crStatus create(Work* work, const bool* moving) {
    crStep* step = work->step;
    crArena* arena = &step->scratch;
    int count = 0;
    for (int i = 0; i < step->contact_count; i++) {
        count += moving[mover(step, &step->contacts[i])];
    }
    size_t room = (size_t)count + 1;
    work->index = cr_arena_alloc(arena, room * sizeof *work->index);
    work->contact = cr_arena_alloc(arena, room * sizeof *work->contact);
    work->gap = cr_arena_alloc(arena, room * sizeof *work->gap);
    work->target = cr_arena_alloc(arena, room * sizeof *work->target);
    work->bounce = cr_arena_alloc(arena, room * sizeof *work->bounce);
    bool ok = work->index != NULL && work->contact != NULL && work->gap != NULL && work->target != NULL &&
              work->bounce != NULL;
    return ok ? CR_OK : CR_ERR_MEMORY;
}

// contacts of the islands, with the impulses of a short step to start from; whether one may bounce
static bool list(Work* work, const bool* moving) {
    const crStep* step = work->step;
    int cursor = 0;
    bool bounces = false;
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (!moving[mover(step, c)]) continue;
        const crWarm* warm = cr__step_warm_next(step, c, &cursor);
        crPackedContact* to = &work->contact[work->count];
        *to = (crPackedContact){.body_a = c->body_a, .body_b = c->body_b, .mu = c->surface->surface.mu};
        to->point = c->point.point;
        to->normal = c->point.normal;
        to->E = given_velocity(step, c);
        if (warm != NULL) to->P = cr__in_cone(to, cr_scale(work->h / CR_SUBSTEPS, warm->force));
        bool fast = c->e > 0.0 && c->speed < -step->settings.threshold;
        work->gap[work->count] = c->point.gap;
        work->target[work->count] = -0.5 * c->delta;
        work->bounce[work->count] = fast ? c->e * c->speed : 0.0;
        bounces = bounces || fast;
        work->index[work->count++] = i;
    }
    return bounces;
}

static crStatus solve(Work* work, const int* islands, bool bounces) {
    crStep* step = work->step;
    crArena* arena = &step->scratch;
    crPacked* p = &work->packed;
    crStatus status = cr__packed_create(step, islands, step->state.v, work->count, work->contact, NULL, p);
    if (status != CR_OK) return status;
    size_t numbers = CR_BODY_STRIDE * (size_t)(p->bodies + 1);
    double* dz = cr_arena_alloc(arena, numbers * sizeof *dz);
    crSubsteps* ask = &work->ask;
    *ask = (crSubsteps){.packed = p, .h = work->h, .gap = work->gap, .target = work->target, .dz = dz};
    if (bounces) ask->bounce = work->bounce;
    ask->D = cr_arena_alloc(arena, numbers * sizeof *dz);
    ask->C = cr_arena_alloc(arena, numbers * sizeof *dz);
    if (dz == NULL || ask->D == NULL || ask->C == NULL) return CR_ERR_MEMORY;
    cr__packed_coordinates(p, step, step->v_free, dz);
    for (size_t i = 0; i < numbers; i++) {
        dz[i] -= p->z_free[i];
    }
    return cr__substeps_run(ask, arena);
}

// v of a body from its place in z, or a displacement
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

// energy of bodies that pushed each other
typedef struct Energy {
    double gain;     // beyond what forces and driven bodies gave, J
    double lift;     // the part of it that corrections of positions are, J
    double linear;   // of T along the impulses: (z + dz).p
    double square;   // p.p, p what the impulses changed z by
    int rows;        // of contacts that pressed
    bool released;   // out: another solve takes it
    double correct;  // out: share of the corrections that is made
    double scale;    // out: share of the impulses
} Energy;

// orientation after a turn
static crQuat turned(const crStep* step, int b, crVec3 turn) {
    crQuat q = cr__load_quat(step->state.q + step->model->bodies[b].q + 3);
    return cr_quat_normalize(cr_quat_mul(cr__rotation_exp(turn), q));
}

// omega of a body at its new orientation, with its angular momentum kept
static crVec3 omega_at(const crStep* step, int b, crQuat q, crVec3 omega) {
    const crBody* body = &step->model->bodies[b];
    crMat3 R;
    crSym3 inverse;
    if (cr__single_round(body) || cr__single_factor(body, q, &R, &inverse) != CR_OK) return omega;
    return cr_sym3_mul(inverse, cr_sym3_mul(step->dynamics.inertia[b], omega));
}

// what a body gains, and by what
static void add_body(const Work* work, int i, Energy* e) {
    const crStep* step = work->step;
    const crPacked* p = &work->packed;
    const crSubsteps* ask = &work->ask;
    int b = p->body[i], at = CR_BODY_STRIDE * (i + 1);
    const double *z0 = p->z_free + at, *z1 = p->z + at, *dz = ask->dz + at;
    double force[6], push[6], v[6], way[6];
    for (int k = 0; k < 6; k++) {
        force[k] = dz[k] / work->h;
        push[k] = z1[k] - z0[k] - dz[k];
        e->linear += (z0[k] + dz[k]) * push[k];
        e->gain += 0.5 * (z1[k] - z0[k]) * (z1[k] + z0[k]);
    }
    e->square += dot6(push, push);
    e->gain -= dot6(force, ask->D + at);
    e->lift -= dot6(force, ask->C + at);
    if (cr__single_round(&step->model->bodies[b])) return;
    // inertia turns with the body
    from_coordinates(step, b, z1, v);
    from_coordinates(step, b, ask->D + at, way);
    crVec3 omega = cr__load_vec(v + 3), L = cr_sym3_mul(step->dynamics.inertia[b], omega);
    crVec3 after = omega_at(step, b, turned(step, b, cr__load_vec(way + 3)), omega);
    e->gain += 0.5 * cr_dot(L, cr_sub(after, omega));
}

// shares that leave no gain: less correction first, then impulses towards the least T along them
static void limit(Energy* e) {
    e->correct = e->scale = 1.0;
    if (!(e->gain > 0.0)) return;
    double share = e->lift > 0.0 ? fmin(1.0, e->gain / e->lift) : 0.0;
    e->correct = 1.0 - share;
    double left = e->gain - share * e->lift;
    if (!(left > 0.0) || !(e->square > 0.0)) return;
    // T(s) = s linear + s^2 square / 2 is to be less by `left` than at s = 1
    double best = fmax(0.0, -e->linear / e->square), drop = 0.5 * e->square * (1.0 - best) * (1.0 - best);
    if (best >= 1.0) return;
    e->scale = drop > left ? best + sqrt((drop - left) / (0.5 * e->square)) : best;
}

// roots of the bodies that pushed each other
static void join(const Work* work, int* root) {
    const crModel* model = work->step->model;
    for (int i = 0; i < work->packed.bodies; i++) {
        root[work->packed.body[i]] = work->packed.body[i];
    }
    for (int i = 0; i < work->count; i++) {
        const crPackedContact* c = &work->contact[i];
        if (cr_dot(c->P, c->normal) > 0.0) cr__forest_join_trees(model, root, c->body_a, c->body_b);
    }
}

// what each set of bodies gained, at its root
static void find_gains(const Work* work, int* root, Energy* energy) {
    const crStep* step = work->step;
    const crPacked* p = &work->packed;
    join(work, root);
    memset(energy, 0, (size_t)step->model->nb * sizeof *energy);
    for (int i = 0; i < p->bodies; i++) {
        add_body(work, i, &energy[cr__forest_find(root, p->body[i])]);
    }
    for (int i = 0; i < work->count; i++) {
        const crPackedContact* c = &work->contact[i];
        Energy* e = &energy[cr__forest_find(root, mover_of(step, c))];
        e->gain += cr_dot(c->P, c->E);
        e->rows += cr_dot(c->P, c->normal) > 0.0 ? 3 : 0;
    }
}

// No energy is created. A small set whose sweeps would have done so, and what touches nothing, is released: it takes the
// way of calm islands. Larger ones get less correction, then less of their impulses.
static void limit_energy(const Work* work, int* root, Energy* energy, bool* moving) {
    const crPacked* p = &work->packed;
    find_gains(work, root, energy);
    for (int i = 0; i < p->bodies; i++) {
        Energy* e = &energy[p->body[i]];
        if (root[p->body[i]] != p->body[i]) continue;
        bool creates = e->gain - fmax(0.0, e->lift) > 0.0;
        e->released = e->rows == 0 || (creates && e->rows <= RELEASE_ROWS);
        limit(e);
    }
    for (int i = 0; i < p->bodies; i++) {
        if (energy[cr__forest_find(root, p->body[i])].released) moving[p->body[i]] = false;
    }
}

// v, q and impulses with the shares that energy leaves
static void put_back(const Work* work, int* root, const Energy* energy, crMoved* moved) {
    crStep* step = work->step;
    const crPacked* p = &work->packed;
    const crSubsteps* ask = &work->ask;
    for (int i = 0; i < work->count; i++) {
        const crPackedContact* c = &work->contact[i];
        const Energy* e = &energy[cr__forest_find(root, mover_of(step, c))];
        if (e->released) continue;
        moved->index[moved->count] = work->index[i];
        moved->P[moved->count++] = e->scale < 1.0 ? cr_scale(e->scale, c->P) : c->P;
    }
    for (int i = 0; i < p->bodies; i++) {
        int b = p->body[i], at = CR_BODY_STRIDE * (i + 1);
        const crBody* body = &step->model->bodies[b];
        const Energy* e = &energy[cr__forest_find(root, b)];
        if (e->released) continue;
        double z[6], D[6], *way = step->dynamics.work, *v = step->state.v + body->v;
        for (int k = 0; k < 6; k++) {
            double free = p->z_free[at + k] + ask->dz[at + k];
            z[k] = e->scale < 1.0 ? free + e->scale * (p->z[at + k] - free) : p->z[at + k];
            D[k] = ask->D[at + k] - (1.0 - e->correct) * ask->C[at + k];
        }
        from_coordinates(step, b, z, v);
        from_coordinates(step, b, D, way + body->v);
        crVec3 omega = cr__load_vec(v + 3);
        cr__part_advance(step->model, (crPart){&b, 1}, 1.0, way, step->state.q);
        crQuat q = cr__load_quat(step->state.q + body->q + 3);
        cr__store_vec(omega_at(step, b, q, omega), v + 3);
    }
}

crStatus cr__step_move_islands(crStep* step, double h, const int* islands, bool* moving, crMoved* moved,
                               crError* error) {
    Work work = {.step = step, .h = h};
    size_t nb = (size_t)step->model->nb;
    int* root = cr_arena_alloc(&step->scratch, nb * sizeof *root);
    Energy* energy = cr_arena_alloc(&step->scratch, nb * sizeof *energy);
    if (root == NULL || energy == NULL || create(&work, moving) != CR_OK) return cr__step_memory(error);
    bool bounces = list(&work, moving);
    if (solve(&work, islands, bounces) != CR_OK) return cr__step_memory(error);
    limit_energy(&work, root, energy, moving);
    *moved = (crMoved){.index = work.index};
    moved->P = cr_arena_alloc(&step->scratch, (size_t)(work.count + 1) * sizeof *moved->P);
    if (moved->P == NULL) return cr__step_memory(error);
    put_back(&work, root, energy, moved);
    return CR_OK;
}
