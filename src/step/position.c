// position.c - the position pass: overlap deeper than the deadband is removed along normals, v stays.
//
// The shortest move dq in the metric of M with gap + J_n dq >= -delta/2 at every contact near: 0 <= W p +
// gap + delta/2 _|_ p >= 0, dq = M^-1 J^T p, by packed sweeps over the islands in which something is deeper
// than the deadband (to position_tol of it), iterated until they change nothing; repeated at the new poses.
// Near is twice the deadband, and twice the deepest overlap: a body pushed out of one contact turns into
// others. Contacts of earlier rounds stay, as points of the bodies: what rolls from one to the other and back
// would go on for long.
// Where a few contacts of many bodies are too deep, the bodies around them are moved first, against all others as they stand; mostly
// that is all.
// Gaps follow the motion since the last collide to first order, gap + n.(dx_b - dx_a); pairs whose second
// order could matter are collided again. Biases of position stay out of the velocity solve, where with
// sticking contacts they contradict each other.
// Fails: CR_ERR_MEMORY. What it cannot remove in ROUNDS, or in VISITS where bodies are piled into each other,
// is left and stands in the certificate. Trees, loops and limits that do not hold go by position_general.c.
#include "step/position.h"

#include <string.h>

#include "base/tasks.h"
#include "model/spatial.h"
#include "relax/packed_solve.h"
#include "step/forest.h"
#include "step/islands.h"
#include "step/step.h"

#define ROUNDS 20
#define NEAR   2.0        // contacts with a gap of this many deadbands take part
#define REACH  2.0        // and of this many times the deepest overlap
#define KEEP   8          // rounds whose contacts are remembered
#define SWEEPS 400        // never starved: an unfinished pass throws bodies about
#define VISITS (1 << 15)  // of contacts per body, by all sweeps of a pass
#define LEAST  (1 << 23)  // and at least
#define CROWD \
    32  // contacts per body; beyond, bodies are piled into each other and every round gets its share
#define FEW    4096  // contacts that are no crowd
#define ASTRAY 4     // one body of so many is few
#define DEEP   8     // pairs of an island that are too deep, up to which they are few
#define HOPS   2     // contacts from them to the bodies that move first
#define MANY   64    // bodies of an island in which these are few
#define CHUNK  256   // bodies or contacts that one thread takes at a time

// a contact at the present poses
typedef struct Near {
    crPackedContact at;
    double gap, delta;
    const crStepContact* of;  // one of its pair, NULL: found in an earlier round
} Near;

// contacts of earlier rounds: two points that must not pass each other along a normal, on the bodies
typedef struct Kept {
    int body_a, body_b;
    crVec3 on_a, on_b;  // in the bodies' own axes
    crVec3 normal;
    double delta;
} Kept;

// in blocks, one more a round: few passes need them all
typedef struct Memory {
    int count, capacity;  // of all
    int block_count, room;
    Kept* blocks[KEEP];  // (room each)
} Memory;

// contacts, and where bodies were when they were found
typedef struct List {
    crPositionList at;
    crVec3* moved;  // of each body's centre since (nb)
    crVec3* turn;   // rotation vector since (nb)
    double* swing;  // how far that moved its farthest point, m (nb)
    bool* still;    // it did not at all (nb)
    bool hit;       // pairs with a body that an impact concerned, or those without
    bool anew;      // found by the pass itself
} List;

typedef struct Pass {
    crStep* step;
    const bool* hit;    // NULL: all pairs are of the first list
    const bool* apart;  // bodies left alone, NULL: none
    List list[2];
    double reach;  // contacts with a gap of this much take part too, m
    bool lists;    // contacts that are near; else only how deep they are
    bool shared;   // by several threads: none may ask for memory
    Near* near;
    int count, capacity;
    double overlap;         // deepest, m
    double beyond;          // deepest beyond the deadband, m
    int deep_count;         // pairs that are
    int (*deep)[2];         // their bodies; NULL: nobody asks
    const uint8_t* around;  // not 0: the body may move (nb); NULL: all
    bool far;               // so much that pushing it out moves more than what is near
    bool single;            // all of them between free bodies
} Pass;

crStatus cr__step_position_list(crStep* step, crPositionList* list) {
    size_t nb = (size_t)step->model->nb;
    *list = (crPositionList){.contacts = step->contacts, .count = step->contact_count};
    list->com = cr_arena_alloc(&step->scratch, nb * sizeof *list->com);
    list->q = cr_arena_alloc(&step->scratch, nb * sizeof *list->q);
    list->margin = cr_arena_alloc(&step->scratch, nb * sizeof *list->margin);
    if (list->com == NULL || list->q == NULL || list->margin == NULL) return CR_ERR_MEMORY;
    for (int i = 0; i < step->model->nb; i++) {
        list->margin[i] = step->pairs->flat < 0.0 ? step->pairs->margin[i] : 0.5 * step->pairs->flat;
        list->com[i] = step->dynamics.com[i];
        list->q[i] = step->dynamics.pose[i].q;
    }
    return CR_OK;
}

static crStatus list_create(crStep* step, List* list) {
    size_t nb = (size_t)step->model->nb;
    list->moved = cr_arena_alloc(&step->scratch, nb * sizeof *list->moved);
    list->turn = cr_arena_alloc(&step->scratch, nb * sizeof *list->turn);
    list->swing = cr_arena_alloc(&step->scratch, nb * sizeof *list->swing);
    list->still = cr_arena_alloc(&step->scratch, nb * sizeof *list->still);
    bool ok = list->moved != NULL && list->turn != NULL && list->swing != NULL && list->still != NULL;
    return ok ? CR_OK : CR_ERR_MEMORY;
}

// bodies of a list that threads look at
typedef struct Motion {
    const crStep* step;
    List* list;
} Motion;

static void follow_range(void* ctx, int begin, int end) {
    const crStep* step = ((const Motion*)ctx)->step;
    List* list = ((const Motion*)ctx)->list;
    const crDynamics* d = &step->dynamics;
    for (int i = begin; i < end; i++) {
        list->still[i] = memcmp(&d->com[i], &list->at.com[i], sizeof *d->com) == 0 &&
                         memcmp(&d->pose[i].q, &list->at.q[i], sizeof *list->at.q) == 0;
        if (list->still[i]) {
            list->moved[i] = list->turn[i] = cr_vec3(0, 0, 0);
            list->swing[i] = 0.0;
            continue;
        }
        crQuat turn = cr_quat_mul(d->pose[i].q, cr_quat_conj(list->at.q[i]));
        double sign = turn.w < 0.0 ? -2.0 : 2.0;
        list->moved[i] = cr_sub(d->com[i], list->at.com[i]);
        list->turn[i] = cr_vec3(sign * turn.x, sign * turn.y, sign * turn.z);
        list->swing[i] = cr_norm(list->turn[i]) * step->plan->size[i];
    }
}

// how far each body has moved and turned since contacts were found
static void follow_bodies(const crStep* step, List* list) {
    if (list->at.com == NULL) return;
    cr__tasks_for(step->tasks, step->model->nb, CHUNK, follow_range, &(Motion){step, list});
}

static crVec3 displacement(const List* list, int body, crVec3 point) {
    crVec3 r = cr_sub(point, list->at.com[body]);
    return cr_add(list->moved[body], cr_cross(list->turn[body], r));
}

static double larger(double a, double b) { return a > b ? a : b; }

// gap up to which a contact takes part
static double near_gap(const Pass* pass, const crStepContact* c) {
    return larger(NEAR * c->delta, pass->reach);
}

// points of one pair come one after the other
static void add_deep(Pass* pass, int body_a, int body_b) {
    int n = pass->deep_count;
    if (pass->deep == NULL) return;
    if (n > 0 && pass->deep[n - 1][0] == body_a && pass->deep[n - 1][1] == body_b) return;
    pass->deep[n][0] = body_a;
    pass->deep[n][1] = body_b;
    pass->deep_count++;
}

static void measure(Pass* pass, const crStepContact* c, double gap, double error) {
    pass->overlap = larger(error - gap, pass->overlap);
    double beyond = -gap - (1.0 + pass->step->settings.position_tol) * c->delta;
    pass->beyond = larger(beyond, pass->beyond);
    pass->far = pass->far || REACH * beyond > NEAR * c->delta;
    if (beyond > 0.0) add_deep(pass, c->body_a, c->body_b);
}

// room for so many more; arrays that were too small stay in the arena
static crStatus near_reserve(Pass* pass, int more) {
    if (pass->count + more <= pass->capacity) return CR_OK;
    int larger = pass->count + more;
    Near* near = cr_arena_alloc(&pass->step->scratch, (size_t)larger * sizeof *near);
    if (near == NULL) return CR_ERR_MEMORY;
    if (pass->count > 0) memcpy(near, pass->near, (size_t)pass->count * sizeof *near);
    pass->near = near;
    pass->capacity = larger;
    return CR_OK;
}

static crStatus near_put(Pass* pass, const Near* near) {
    bool full = pass->count == pass->capacity;
    if (full && near_reserve(pass, pass->count / 2 + pass->step->contact_count + 16) != CR_OK) {
        return CR_ERR_MEMORY;
    }
    pass->near[pass->count++] = *near;
    return CR_OK;
}

// error: how much deeper it may be
static crStatus near_add(Pass* pass, const crStepContact* c, crVec3 point, crVec3 normal, double gap,
                         double error) {
    measure(pass, c, gap, error);
    if (!pass->lists || gap > near_gap(pass, c)) return CR_OK;
    const crModel* model = pass->step->model;
    bool single = (model->bodies[c->body_a].single || !cr__moves(model, c->body_a)) &&
                  (model->bodies[c->body_b].single || !cr__moves(model, c->body_b));
    pass->single = pass->single && single;
    Near near = {.gap = gap, .delta = c->delta, .of = c};
    near.at = (crPackedContact){.body_a = c->body_a, .body_b = c->body_b, .point = point, .normal = normal};
    // what is not around stands as the ground does
    if (pass->around != NULL && !pass->around[c->body_a]) near.at.body_a = CR_WORLD;
    if (pass->around != NULL && !pass->around[c->body_b]) near.at.body_b = CR_WORLD;
    return near_put(pass, &near);
}

// contacts of a pair found again
static crStatus near_collide(Pass* pass, const crStepContact* c) {
    crStep* step = pass->step;
    const crPose* pose = step->dynamics.pose;
    crContactPoint few[16];
    crContactPoint* points = few;
    int needed = 0;
    double margin = near_gap(pass, c);
    int count = cr__pairs_collide(step->plan, c->shape_a, c->shape_b, pose[c->body_a], pose[c->body_b],
                                  margin, few, 16, &needed, NULL);
    if (needed > 16 && pass->shared) return CR_ERR_LIMIT;
    if (needed > 16) {
        points = cr_arena_alloc(&step->scratch, (size_t)needed * sizeof *points);
        if (points == NULL) return CR_ERR_MEMORY;
        count = cr__pairs_collide(step->plan, c->shape_a, c->shape_b, pose[c->body_a], pose[c->body_b],
                                  margin, points, needed, &needed, NULL);
    }
    crStatus status = CR_OK;
    for (int i = 0; i < count && status == CR_OK; i++) {
        status = near_add(pass, c, points[i].point, points[i].normal, points[i].gap, 0.0);
    }
    return status;
}

// whether a pair touches in one point that only rolls: elsewhere a corner that was not listed may come in
static bool rolls(const crStep* step, const crStepContact* c) {
    crShapeKind a = step->model->shapes[c->shape_a].shape.kind,
                b = step->model->shapes[c->shape_b].shape.kind;
    bool flat = a == CR_SHAPE_HALFSPACE || b == CR_SHAPE_HALFSPACE;
    return (a == CR_SHAPE_SPHERE && b == CR_SHAPE_SPHERE) ||
           (flat && (a == CR_SHAPE_SPHERE || b == CR_SHAPE_SPHERE));
}

// contacts begin to end - 1, those of one pair, by the motion since to first order: the least gap, and in
// *error how wrong the gaps may be, 0 where none of them matters, m
static double least_gap(const Pass* pass, const List* list, int begin, int end, double* error) {
    const crStep* step = pass->step;
    const crStepContact* c = &list->at.contacts[begin];
    double turn = list->swing[c->body_a] + list->swing[c->body_b], near = near_gap(pass, c);
    // what does not move has no size
    double size_a = step->plan->size[c->body_a], size_b = step->plan->size[c->body_b];
    double size = size_a > 0.0 && (size_a < size_b || !(size_b > 0.0)) ? size_a : size_b;
    double least = INFINITY;
    *error = 0.0;
    if (list->still[c->body_a] && list->still[c->body_b]) {
        for (int i = begin; i < end; i++) {
            double gap = list->at.contacts[i].point.gap;
            if (gap < least) least = gap;
        }
        return least;
    }
    bool smooth = rolls(step, c);
    for (int i = begin; i < end; i++) {
        const crStepPoint* p = &list->at.contacts[i].point;
        crVec3 u = cr_sub(displacement(list, c->body_b, p->point), displacement(list, c->body_a, p->point));
        double far = cr_norm(u) + turn, gap = p->gap + cr_dot(u, p->normal);
        double wrong = smooth ? far * far / size : 2.0 * far;
        if (p->gap - far - wrong <= near) *error = larger(wrong, *error);
        if (gap < least) least = gap;
    }
    return least;
}

// Whether the pair of contacts begin to end - 1 is not too deep along one of their normals, as it turned with either body; the gap
// there in *gap: the true one is no less.
static bool is_apart(const Pass* pass, const List* list, int begin, int end, double* gap) {
    const crStep* step = pass->step;
    const crStepContact* c = &list->at.contacts[begin];
    const int body[2] = {c->body_a, c->body_b};
    double least = -(1.0 + step->settings.position_tol) * c->delta;
    crPieces pieces;
    crVec3 axis = cr__plan_common_plane(step->plan, c->body_a, c->body_b);
    if (cr_dot(axis, axis) > 0.0) return false;
    if (!cr__pairs_pieces(step->plan, c->shape_a, c->shape_b, step->dynamics.pose, &pieces)) return false;
    for (int i = begin; i < end; i++) {
        crVec3 n = list->at.contacts[i].point.normal;
        for (int side = 0; side < 2; side++) {
            crVec3 turned = cr_add(n, cr_cross(list->turn[body[side]], n));
            *gap = cr__pairs_apart(&pieces, cr_scale(1.0 / cr_norm(turned), turned));
            if (*gap >= least) return true;
        }
    }
    return false;
}

// contacts begin to end - 1, those of one pair, where they are now
static crStatus pair_now(Pass* pass, const List* list, int begin, int end) {
    const crStep* step = pass->step;
    const crStepContact* c = &list->at.contacts[begin];
    // a list found anew tells which pairs there are; its margin is that of the largest body
    if (list->anew) return near_collide(pass, c);
    double error, least = least_gap(pass, list, begin, end, &error);
    bool far = error > step->settings.position_tol * c->delta;
    if (far && !pass->lists && is_apart(pass, list, begin, end, &least)) {
        far = false;
        error = 0.0;
    }
    if (far) return near_collide(pass, c);
    if (!pass->lists) {
        measure(pass, c, least, error);
        return CR_OK;
    }
    crStatus status = CR_OK;
    for (int k = begin; k < end && status == CR_OK; k++) {
        const crStepPoint* p = &list->at.contacts[k].point;
        crVec3 a = displacement(list, c->body_a, p->point), b = displacement(list, c->body_b, p->point);
        double gap = p->gap + cr_dot(cr_sub(b, a), p->normal);
        status = near_add(pass, c, cr_madd(p->point, 0.5, cr_add(a, b)), p->normal, gap, error);
    }
    return status;
}

// pairs of a list whose contacts stand together from begin to end - 1 on; the first may belong to one before
static crStatus near_range(Pass* pass, const List* list, int begin, int end) {
    const crStepContact* c = list->at.contacts;
    crStatus status = CR_OK;
    int i = begin;
    while (i > 0 && i < end && c[i].shape_a == c[i - 1].shape_a && c[i].shape_b == c[i - 1].shape_b) {
        i++;
    }
    while (i < end && status == CR_OK) {
        int next = i + 1;
        while (next < list->at.count && c[next].shape_a == c[i].shape_a && c[next].shape_b == c[i].shape_b) {
            next++;
        }
        bool hit = pass->hit != NULL && (pass->hit[c[i].body_a] || pass->hit[c[i].body_b]);
        bool apart = pass->apart != NULL && (pass->apart[c[i].body_a] || pass->apart[c[i].body_b]);
        bool of = pass->around == NULL || pass->around[c[i].body_a] || pass->around[c[i].body_b];
        if (hit == list->hit && !apart && of) status = pair_now(pass, list, i, next);
        i = next;
    }
    return status;
}

// one list in chunks, how deep each of them is
typedef struct Share {
    const List* list;
    Pass* chunk;
    crStatus* status;
} Share;

static void near_chunk(void* ctx, int begin, int end) {
    const Share* share = ctx;
    int i = begin / CHUNK;
    share->status[i] = near_range(&share->chunk[i], share->list, begin, end);
}

// how deep contacts are, by several threads; false: not this way, and nothing is known
static bool near_shared(Pass* pass, const List* list) {
    crStep* step = pass->step;
    int chunks = list->at.count / CHUNK + 1;
    size_t mark = cr_arena_mark(&step->scratch);
    Share share = {.list = list};
    share.chunk = cr_arena_alloc(&step->scratch, (size_t)chunks * sizeof *share.chunk);
    share.status = cr_arena_alloc(&step->scratch, (size_t)chunks * sizeof *share.status);
    bool ok = share.chunk != NULL && share.status != NULL;
    for (int i = 0; i < chunks && ok; i++) {
        share.chunk[i] = *pass;
        share.chunk[i].shared = true;
        // those of a chunk are no more than its contacts
        if (pass->deep != NULL) share.chunk[i].deep = pass->deep + pass->deep_count + i * CHUNK;
        share.chunk[i].deep_count = 0;
        share.status[i] = CR_OK;
    }
    if (ok) cr__tasks_for(step->tasks, list->at.count, CHUNK, near_chunk, &share);
    for (int i = 0; i < chunks && ok; i++) {
        ok = share.status[i] == CR_OK;
    }
    for (int i = 0; i < chunks && ok; i++) {
        pass->overlap = larger(share.chunk[i].overlap, pass->overlap);
        pass->beyond = larger(share.chunk[i].beyond, pass->beyond);
        pass->far = pass->far || share.chunk[i].far;
        for (int k = 0; k < share.chunk[i].deep_count; k++) {
            add_deep(pass, share.chunk[i].deep[k][0], share.chunk[i].deep[k][1]);
        }
    }
    cr_arena_release(&step->scratch, mark);
    return ok;
}

static crStatus find_near_pairs(Pass* pass) {
    crStatus status = CR_OK;
    pass->count = pass->capacity = 0;
    pass->overlap = pass->beyond = 0.0;
    pass->deep_count = 0;
    pass->single = true;
    pass->far = false;
    for (int which = 0; which < 2 && status == CR_OK; which++) {
        const List* list = &pass->list[which];
        // what is listed must stand in order
        bool shared = pass->step->tasks != NULL && !pass->lists && list->at.count > CHUNK;
        if (!(shared && near_shared(pass, list))) status = near_range(pass, list, 0, list->at.count);
    }
    return status;
}

// contacts of the islands in which something is too deep, in front; their number
static int keep_violated(const Pass* pass, int* parent, bool* deep) {
    const crModel* model = pass->step->model;
    for (int i = 0; i < model->nb; i++) {
        parent[i] = i;
        deep[i] = false;
    }
    for (int i = 0; i < pass->count; i++) {
        const crPackedContact* c = &pass->near[i].at;
        if (!cr__moves(model, c->body_a) || !cr__moves(model, c->body_b)) continue;
        cr__forest_join(parent, c->body_a, c->body_b);
    }
    double slack = 1.0 + pass->step->settings.position_tol;
    for (int i = 0; i < pass->count; i++) {
        const Near* near = &pass->near[i];
        int body = cr__moves(model, near->at.body_b) ? near->at.body_b : near->at.body_a;
        if (near->of != NULL && -near->gap > slack * near->delta) deep[cr__forest_find(parent, body)] = true;
    }
    int kept = 0;
    for (int i = 0; i < pass->count; i++) {
        const Near* near = &pass->near[i];
        int body = cr__moves(model, near->at.body_b) ? near->at.body_b : near->at.body_a;
        if (deep[cr__forest_find(parent, body)]) pass->near[kept++] = *near;
    }
    for (int i = 0; i < model->nb; i++) {
        parent[i] = cr__forest_find(parent, i);
    }
    return kept;
}

// Sweeps that a round over `count` contacts may take; 0 where the pass has used up its visits. In a crowd
// half of the visits left are for this round, half for those after it.
static int ration(int count, int bodies, int64_t* visits) {
    bool crowd = count > FEW && count > CROWD * bodies;
    if (crowd && *visits > LEAST / 2) *visits = LEAST / 2;
    int64_t sweeps = (crowd ? *visits / 2 : *visits) / (count > 0 ? count : 1);
    if (sweeps > SWEEPS) sweeps = SWEEPS;
    *visits -= sweeps * count;
    return (int)sweeps;
}

// sweeps over the contacts kept, and the move they ask for
static crStatus push_out(Pass* pass, int count, int sweeps, const int* island_of_body, crError* error) {
    crStep* step = pass->step;
    const crModel* model = step->model;
    crArena* arena = &step->scratch;
    size_t nv = (size_t)model->nv + 1, nb = (size_t)model->nb;
    double* dq = cr_arena_alloc(arena, nv * sizeof *dq);
    crPackedContact* contact = cr_arena_alloc(arena, (size_t)(count + 1) * sizeof *contact);
    crPackedIsland* island = cr_arena_alloc(arena, nb * sizeof *island);
    if (dq == NULL || contact == NULL || island == NULL) return cr__step_memory(error);
    crStatus status = cr_model_mass_factor(model, 0.0, &step->dynamics);
    if (status != CR_OK) return cr_error_set(error, status, "position", "%s", cr_status_text(status));
    memset(dq, 0, nv * sizeof *dq);
    memset(island, 0, nb * sizeof *island);
    for (int i = 0; i < count; i++) {
        const Near* near = &pass->near[i];
        contact[i] = near->at;
        contact[i].E = cr_scale(near->gap + 0.5 * near->delta, near->at.normal);
        int body = cr__moves(model, near->at.body_b) ? near->at.body_b : near->at.body_a;
        crPackedIsland* at = &island[island_of_body[body]];
        double tol = 0.1 * step->settings.position_tol * near->delta;
        at->tol = at->live ? fmin(at->tol, tol) : tol;
        at->limit = sweeps;
        at->live = true;
    }
    crPacked packed;
    const crInertias of = cr__step_inertias(step);
    status = cr__packed_create(&of, island_of_body, dq, count, contact, NULL, &packed);
    if (status == CR_OK) status = cr__packed_solve(&packed, island, model->nb, arena);
    if (status != CR_OK) return cr__step_memory(error);
    cr__packed_results(&packed, island);
    cr__step_add_momentum(step, count, contact, dq);
    cr_model_mass_solve(model, &step->dynamics, dq);
    cr__advance(model, 1.0, dq, step->state.q);
    return CR_OK;
}

// margin of a collide that finds every contact that matters, m
static double widest(const crStep* step) {
    double size = 0.0;
    for (int i = 1; i < step->model->nb; i++) {
        size = fmax(size, step->plan->size[i]);
    }
    return NEAR * step->settings.deadband * size;
}

// bodies that went farther than their margins may have met anything, as those that were hit
static bool find_astray(Pass* pass, bool* astray) {
    const crStep* step = pass->step;
    const List* list = &pass->list[0];
    bool any = false;
    for (int i = 0; i < step->model->nb; i++) {
        double far = cr_norm(list->moved[i]) + list->swing[i] + 0.5 * pass->reach;
        bool moves = i != CR_WORLD && step->plan->size[i] > 0.0;
        moves = moves && (pass->apart == NULL || !pass->apart[i]);
        astray[i] = (pass->hit != NULL && pass->hit[i]) || (moves && !(far <= list->at.margin[i]));
        any = any || astray[i];
    }
    return any;
}

static crStatus find_poses(crStep* step, crPart part, crDynamics* d, void* ctx) {
    (void)ctx;
    cr__part_kinematics(step->model, part, &step->state, d);
    return CR_OK;
}

// Contacts at the present poses within the margin: of bodies that went astray where they are few, else of all.
static crStatus collide_anew(crStep* step, double margin, const bool* astray, crError* error) {
    int count = 0;
    for (int b = 0; astray != NULL && b < step->model->nb; b++) {
        count += astray[b];
    }
    if (astray == NULL || ASTRAY * count > step->model->nb) return cr_step_collide(step, margin, error);
    cr__step_flat_margins(step, margin);
    crStatus status = cr__pairs_move(step->pairs, step->tasks, cr__step_part(step), &step->dynamics, error);
    if (status != CR_OK) return status;
    cr__step_part_of(step, astray);
    status = cr__step_collide_part(step, true, error);
    cr__step_part_all(step);
    return status;
}

// the lists of the pass at the present poses
static crStatus begin(Pass* pass, const crPositionList* start, crError* error) {
    crStep* step = pass->step;
    bool* astray = cr_arena_alloc(&step->scratch, (size_t)step->model->nb * sizeof *astray);
    if (astray == NULL) return cr__step_memory(error);
    for (int i = 0; i < 2; i++) {
        if (list_create(step, &pass->list[i]) != CR_OK) return cr__step_memory(error);
    }
    if (cr__step_by_bodies(step, find_poses, NULL) != CR_OK) return cr__step_memory(error);
    // what is not of the part stands, which costs little to see
    cr_model_kinematics(step->model, &step->state, &step->dynamics);
    List* anew = &pass->list[start == NULL ? 0 : 1];
    if (start != NULL) {
        pass->list[0].at = *start;
        follow_bodies(step, &pass->list[0]);
        pass->hit = find_astray(pass, astray) ? astray : NULL;
        if (pass->hit == NULL) return CR_OK;
    }
    anew->hit = start != NULL;
    anew->anew = true;
    crStatus status =
        collide_anew(step, fmax(widest(step), pass->reach), start != NULL ? astray : NULL, error);
    if (status != CR_OK) return status;
    if (cr__step_position_list(step, &anew->at) != CR_OK) return cr__step_memory(error);
    follow_bodies(step, anew);
    return CR_OK;
}

// the first so many contacts of the pass, for the rounds to come; balls need none
static void remember_contacts(const Pass* pass, int count, Memory* memory) {
    const crPose* pose = pass->step->dynamics.pose;
    int most = memory->block_count * memory->room;
    if (memory->capacity < most) most = memory->capacity;
    for (int i = 0; i < count && memory->count < most; i++) {
        const Near* near = &pass->near[i];
        if (near->of == NULL || rolls(pass->step, near->of)) continue;
        const crPackedContact* c = &near->at;
        Kept kept = {.body_a = c->body_a, .body_b = c->body_b, .normal = c->normal, .delta = near->delta};
        kept.on_a = cr_pose_point_inverse(pose[c->body_a], cr_madd(c->point, -0.5 * near->gap, c->normal));
        kept.on_b = cr_pose_point_inverse(pose[c->body_b], cr_madd(c->point, 0.5 * near->gap, c->normal));
        memory->blocks[memory->count / memory->room][memory->count % memory->room] = kept;
        memory->count++;
    }
}

// contacts of earlier rounds take part where they are now: a curved body that is pushed out here rolls in
// there, and back
static crStatus recall(Pass* pass, const Memory* memory) {
    const crPose* pose = pass->step->dynamics.pose;
    crStatus status = near_reserve(pass, memory->count);
    for (int i = 0; i < memory->count && status == CR_OK; i++) {
        const Kept* k = &memory->blocks[i / memory->room][i % memory->room];
        crVec3 a = cr_pose_point(pose[k->body_a], k->on_a), b = cr_pose_point(pose[k->body_b], k->on_b);
        Near near = {.gap = cr_dot(k->normal, cr_sub(b, a)), .delta = k->delta};
        near.at = (crPackedContact){.body_a = k->body_a, .body_b = k->body_b, .normal = k->normal};
        near.at.point = cr_scale(0.5, cr_add(a, b));
        status = near_put(pass, &near);
    }
    return status;
}

// room for the contacts of so many rounds, as many as there are now and some
static void memory_begin(const Pass* pass, Memory* memory) {
    int count = 0;
    for (int i = 0; i < pass->count; i++) {
        count += !rolls(pass->step, pass->near[i].of);
    }
    *memory = (Memory){.capacity = KEEP * count, .room = count + count / 4 + 1};
}

// room for one more round
static crStatus memory_grow(crStep* step, Memory* memory) {
    bool enough = memory->block_count * memory->room - memory->count >= memory->room;
    if (enough || memory->capacity == 0 || memory->block_count == KEEP) return CR_OK;
    Kept* block = cr_arena_alloc(&step->scratch, (size_t)memory->room * sizeof *block);
    memory->blocks[memory->block_count++] = block;
    return block != NULL ? CR_OK : CR_ERR_MEMORY;
}

// bodies that touch one that is `hop` contacts away from deep ones are one more away
static void hop_on(const Pass* pass, uint8_t hop, uint8_t* around) {
    const crModel* model = pass->step->model;
    for (int which = 0; which < 2; which++) {
        const List* list = &pass->list[which];
        for (int i = 0; i < list->at.count; i++) {
            const crStepContact* c = &list->at.contacts[i];
            if (c->point.gap > near_gap(pass, c) || !cr__moves(model, c->body_a) ||
                !cr__moves(model, c->body_b))
                continue;
            if (around[c->body_a] == hop && around[c->body_b] == 0) around[c->body_b] = (uint8_t)(hop + 1);
            if (around[c->body_b] == hop && around[c->body_a] == 0) around[c->body_a] = (uint8_t)(hop + 1);
        }
    }
}

// islands of contacts that are near: the leader of each body, how many bodies it leads, and pairs that are too deep
typedef struct Crowds {
    int *leader, *bodies, *deep;  // (nb)
} Crowds;

static crStatus count_crowds(const Pass* pass, Crowds* crowds) {
    const crModel* model = pass->step->model;
    crArena* arena = &pass->step->scratch;
    size_t bytes = (size_t)model->nb * sizeof(int);
    *crowds =
        (Crowds){cr_arena_alloc(arena, bytes), cr_arena_alloc(arena, bytes), cr_arena_alloc(arena, bytes)};
    if (crowds->leader == NULL || crowds->bodies == NULL || crowds->deep == NULL) return CR_ERR_MEMORY;
    memset(crowds->bodies, 0, bytes);
    memset(crowds->deep, 0, bytes);
    for (int b = 0; b < model->nb; b++) {
        crowds->leader[b] = b;
    }
    for (int which = 0; which < 2; which++) {
        const List* list = &pass->list[which];
        for (int i = 0; i < list->at.count; i++) {
            const crStepContact* c = &list->at.contacts[i];
            bool joins = cr__moves(model, c->body_a) && cr__moves(model, c->body_b);
            if (joins && c->point.gap <= near_gap(pass, c))
                cr__forest_join(crowds->leader, c->body_a, c->body_b);
        }
    }
    for (int b = 1; b < model->nb; b++) {
        crowds->bodies[cr__forest_find(crowds->leader, b)]++;
    }
    for (int i = 0; i < pass->deep_count; i++) {
        int body = cr__step_mover(pass->step, pass->deep[i][0], pass->deep[i][1]);
        crowds->deep[cr__forest_find(crowds->leader, body)]++;
    }
    return CR_OK;
}

// bodies around those that are too deep, where they are few in a large island
static crStatus look_around_deep(Pass* pass) {
    const crModel* model = pass->step->model;
    Crowds crowds;
    uint8_t* around = cr_arena_alloc(&pass->step->scratch, (size_t)model->nb);
    if (around == NULL || count_crowds(pass, &crowds) != CR_OK) return CR_ERR_MEMORY;
    memset(around, 0, (size_t)model->nb);
    bool any = false;
    for (int i = 0; i < pass->deep_count; i++) {
        const int* pair = pass->deep[i];
        int leader = cr__forest_find(crowds.leader, cr__step_mover(pass->step, pair[0], pair[1]));
        if (crowds.bodies[leader] <= MANY || crowds.deep[leader] > DEEP) continue;
        around[pair[0]] = cr__moves(model, pair[0]);
        around[pair[1]] = cr__moves(model, pair[1]);
        any = true;
    }
    for (uint8_t hop = 1; any && hop <= HOPS; hop++) {
        hop_on(pass, hop, around);
    }
    pass->around = any ? around : NULL;
    return CR_OK;
}

// Contacts at the present poses; where one is deep, also what pushing it out may turn into others. locally: where few are, only
// what is around them.
static crStatus find_overlaps(crStep* step, const crPositionList* start, const bool* hit, const bool* apart,
                              bool locally, double* reach, Pass* pass, crError* error) {
    size_t mark = cr_arena_mark(&step->scratch);
    for (;;) {
        // without contacts of the beginning all pairs are found anew
        *pass = (Pass){.step = step, .hit = start != NULL ? hit : NULL, .apart = apart, .reach = *reach};
        crStatus status = begin(pass, start, error);
        if (status != CR_OK) return status;
        if (locally) {
            size_t most = (size_t)(pass->list[0].at.count + pass->list[1].at.count) + 1;
            pass->deep = cr_arena_alloc(&step->scratch, most * sizeof *pass->deep);
            if (pass->deep == NULL) return cr__step_memory(error);
        }
        if (find_near_pairs(pass) != CR_OK) return cr__step_memory(error);
        if (!(pass->beyond > 0.0)) return CR_OK;
        if (!pass->far || !(pass->beyond > *reach)) {
            pass->lists = true;
            if (locally && look_around_deep(pass) != CR_OK) return cr__step_memory(error);
            pass->deep = NULL;
            return find_near_pairs(pass) == CR_OK ? CR_OK : cr__step_memory(error);
        }
        *reach = REACH * pass->beyond;
        cr_arena_release(&step->scratch, mark);
    }
}

// What is not of single bodies: everything as one problem where loops or limits do not hold, or must: it is asked for.
// Bodies apart have no part in it.
static crStatus others(crStep* step, const bool* apart, bool must, bool* general, crError* error) {
    bool holds = true;
    if (apart != NULL) cr__step_leave_out(step, apart);
    crPart part = apart != NULL ? cr__step_part(step) : cr__all(step->model);
    crStatus status = cr__step_position_others(step, part, &holds, error);
    *general = status == CR_OK && (!holds || must);
    if (*general) status = cr__step_position_general(step, part, apart, widest(step), error);
    if (apart != NULL) cr__step_list_awake(step);
    return status;
}

crStatus cr__step_position_pass(crStep* step, const crPositionList* start, const bool* hit, const bool* apart,
                                crError* error) {
    size_t nb = (size_t)step->model->nb;
    int* parent = cr_arena_alloc(&step->scratch, nb * sizeof *parent);
    bool* deep = cr_arena_alloc(&step->scratch, nb * sizeof *deep);
    if (parent == NULL || deep == NULL) return cr__step_memory(error);
    crStatus status = CR_OK;
    double reach = 0.0;
    int64_t visits = (int64_t)VISITS * step->model->nb;
    if (visits < LEAST) visits = LEAST;
    Memory memory = {0};
    size_t mark = cr_arena_mark(&step->scratch);
    bool locally = step->model->nb > MANY;
    for (int round = 0; status == CR_OK;) {
        Pass pass;
        status = find_overlaps(step, start, hit, apart, locally, &reach, &pass, error);
        if (status != CR_OK) break;
        step->certificate.penetration = pass.overlap;
        bool general = false;
        status = others(step, apart, pass.beyond > 0.0 && !pass.single, &general, error);
        if (status != CR_OK || general) return status;
        if (!(pass.beyond > 0.0) || round == ROUNDS) break;
        locally = false;
        if (pass.around != NULL) {
            status = push_out(&pass, keep_violated(&pass, parent, deep), SWEEPS, parent, error);
            cr_arena_release(&step->scratch, mark);
            continue;
        }
        if (round++ == 0) {
            // it stays, with what was found first
            memory_begin(&pass, &memory);
            if (memory_grow(step, &memory) != CR_OK) return cr__step_memory(error);
            mark = cr_arena_mark(&step->scratch);
        }
        if (recall(&pass, &memory) != CR_OK) return cr__step_memory(error);
        int count = keep_violated(&pass, parent, deep);
        remember_contacts(&pass, count, &memory);
        int sweeps = ration(count, step->model->nb, &visits);
        if (sweeps == 0) break;
        status = push_out(&pass, count, sweeps, parent, error);
        cr_arena_release(&step->scratch, mark);
        if (memory_grow(step, &memory) != CR_OK) return cr__step_memory(error);
        mark = cr_arena_mark(&step->scratch);
    }
    return status;
}

crStatus cr_step_position_pass(crStep* step, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    return cr__step_position_pass(step, NULL, NULL, NULL, error);
}
