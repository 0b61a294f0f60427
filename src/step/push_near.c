// push_near.c - near contacts at the present poses, and their overlaps.
//
// Gaps follow the motion since the last collide to first order, gap + n.(dx_b - dx_a). If the second order
// could matter, a convex pair is measured along its normals; the overlap along any direction is at least the
// true one. Pairs that are too deep along all normals, and pairs whose contacts are to be listed, are
// collided again.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "base/tasks.h"
#include "model/spatial.h"
#include "step/push.h"

#define CHUNK    256    // bodies or contacts per task
#define SURE     1.001  // factor on bounds, for rounding
#define ROUNDING 1e-15  // the same, share of a gap

crStatus cr__step_position_list(const crStep* step, crArena* arena, crPositionList* list) {
    size_t nb = (size_t)step->model->nb;
    *list = (crPositionList){.contacts = step->contacts.list, .count = step->contacts.count};
    if (!CR_ROOMS(arena, CR_ROOM(list->com, nb), CR_ROOM(list->q, nb), CR_ROOM(list->margin, nb)))
        return CR_ERR_MEMORY;
    for (int i = 0; i < step->model->nb; i++) {
        list->margin[i] = step->pairs->flat < 0.0 ? step->pairs->margin[i] : 0.5 * step->pairs->flat;
        list->com[i] = step->dynamics.com[i];
        list->q[i] = step->dynamics.pose[i].q;
    }
    return CR_OK;
}

crStatus cr__push_list_create(const crModel* model, crArena* arena, crPushList* list) {
    size_t nb = (size_t)model->nb;
    bool ok = CR_ROOMS(arena, CR_ROOM(list->moved, nb), CR_ROOM(list->turn, nb), CR_ROOM(list->swing, nb),
                       CR_ROOM(list->most, nb), CR_ROOM(list->still, nb));
    return ok ? CR_OK : CR_ERR_MEMORY;
}

// arguments of follow_range
typedef struct Motion {
    const crStep* step;
    const bool* fixed;  // bodies that count as still (nb); NULL: none
    crPushList* list;
} Motion;

static void follow_range(void* ctx, int begin, int end) {
    const Motion* motion = ctx;
    const crStep* step = motion->step;
    crPushList* list = motion->list;
    const crDynamics* d = &step->dynamics;
    for (int i = begin; i < end; i++) {
        list->still[i] = (motion->fixed != NULL && motion->fixed[i]) ||
                         (memcmp(&d->com[i], &list->at.com[i], sizeof *d->com) == 0 &&
                          memcmp(&d->pose[i].q, &list->at.q[i], sizeof *list->at.q) == 0);
        if (list->still[i]) {
            list->moved[i] = list->turn[i] = cr_vec3(0, 0, 0);
            list->swing[i] = list->most[i] = 0.0;
            continue;
        }
        crQuat turn = cr_quat_mul(d->pose[i].q, cr_quat_conj(list->at.q[i]));
        double sign = turn.w < 0.0 ? -2.0 : 2.0;
        list->moved[i] = cr_sub(d->com[i], list->at.com[i]);
        list->turn[i] = cr_vec3(sign * turn.x, sign * turn.y, sign * turn.z);
        list->swing[i] = cr_norm(list->turn[i]) * step->plan->size[i];
        // a contact lies within the body, or in a gap of at most its size: 1.5 sizes from the centre
        bool sized = step->plan->size[i] > 0.0;
        list->most[i] = sized ? cr_norm(list->moved[i]) + 2.5 * list->swing[i] : (double)INFINITY;
    }
}

void cr__push_follow(const crPush* pass, crPushList* list) {
    const crStep* step = pass->step;
    const bool* fixed = pass->coarse > 0.0 ? NULL : pass->apart;
    if (list->at.com == NULL) return;
    cr__tasks_for(step->own.tasks, step->model->nb, CHUNK, follow_range, &(Motion){step, fixed, list});
}

static crVec3 displacement(const crPushList* list, int body, crVec3 point) {
    crVec3 r = cr_sub(point, list->at.com[body]);
    return cr_add(list->moved[body], cr_cross(list->turn[body], r));
}

static double larger(double a, double b) { return a > b ? a : b; }

double cr__push_near_gap(const crPush* pass, const crStepContact* c) {
    return larger(CR_PUSH_NEAR * cr__push_deadband(pass, c), pass->reach);
}

// Adds a pair to `deep`. Points of one pair come one after the other.
static void add_deep(crPush* pass, int body_a, int body_b) {
    int n = pass->deep_count;
    if (pass->deep == NULL) return;
    if (n > 0 && pass->deep[n - 1][0] == body_a && pass->deep[n - 1][1] == body_b) return;
    pass->deep[n][0] = body_a;
    pass->deep[n][1] = body_b;
    pass->deep_count++;
}

static void measure(crPush* pass, const crStepContact* c, double gap, double error) {
    pass->overlap = larger(error - gap, pass->overlap);
    double delta = cr__push_deadband(pass, c), beyond = -gap - (1.0 + cr__push_tol(pass)) * delta;
    pass->beyond = larger(beyond, pass->beyond);
    pass->far = pass->far || CR_PUSH_REACH * beyond > CR_PUSH_NEAR * delta;
    if (beyond > 0.0) add_deep(pass, c->body_a, c->body_b);
}

crStatus cr__push_reserve(crPush* pass, int more) {
    if (pass->count + more <= pass->capacity) return CR_OK;
    int larger = pass->count + more;
    crPushContact* near = cr__resize(&pass->step->scratch, &pass->tail, pass->near,
                                     (size_t)pass->count * sizeof *near, (size_t)larger * sizeof *near);
    if (near == NULL) return CR_ERR_MEMORY;
    pass->near = near;
    pass->capacity = larger;
    return CR_OK;
}

crStatus cr__push_put(crPush* pass, const crPushContact* near) {
    bool full = pass->count == pass->capacity;
    if (full && cr__push_reserve(pass, pass->count / 2 + pass->step->contacts.count + 16) != CR_OK) {
        return CR_ERR_MEMORY;
    }
    pass->near[pass->count++] = *near;
    return CR_OK;
}

// Measures a contact, and lists it if it is near. error: bound of the error of its gap, m.
static crStatus near_add(crPush* pass, const crStepContact* c, crVec3 point, crVec3 normal, double gap,
                         double error) {
    measure(pass, c, gap, error);
    if (!pass->lists || gap > cr__push_near_gap(pass, c)) return CR_OK;
    const crModel* model = pass->step->model;
    bool moves_a = cr__push_moves(pass, c->body_a), moves_b = cr__push_moves(pass, c->body_b);
    bool single =
        (model->bodies[c->body_a].single || !moves_a) && (model->bodies[c->body_b].single || !moves_b);
    pass->single = pass->single && single;
    crPushContact near = {.gap = gap, .delta = cr__push_deadband(pass, c), .of = c};
    near.at = (crPackedContact){.body_a = c->body_a,
                                .body_b = c->body_b,
                                .shape_a = c->shape_a,
                                .shape_b = c->shape_b,
                                .point = point,
                                .normal = normal};
    if (!moves_a) near.at.body_a = CR_WORLD;
    if (!moves_b) near.at.body_b = CR_WORLD;
    return cr__push_put(pass, &near);
}

// Collides a pair again and takes its contacts.
static crStatus near_collide(crPush* pass, const crStepContact* c) {
    crStep* step = pass->step;
    const crPose* pose = step->dynamics.pose;
    crContactPoint few[16];
    crContactPoint* points = few;
    int needed = 0;
    double margin = cr__push_near_gap(pass, c);
    int count = cr__pairs_collide(step->plan, c->shape_a, c->shape_b, pose[c->body_a], pose[c->body_b],
                                  margin, few, 16, &needed, NULL);
    if (needed > 16 && pass->shared) return CR_ERR_LIMIT;
    if (needed > 16) {
        if (!CR_ROOMS(&step->scratch, CR_ROOM(points, needed))) return CR_ERR_MEMORY;
        count = cr__pairs_collide(step->plan, c->shape_a, c->shape_b, pose[c->body_a], pose[c->body_b],
                                  margin, points, needed, &needed, NULL);
    }
    crStatus status = CR_OK;
    for (int i = 0; i < count && status == CR_OK; i++) {
        status = near_add(pass, c, points[i].point, points[i].normal, points[i].gap, 0.0);
    }
    return status;
}

bool cr__push_rolls(const crModel* model, const crStepContact* c) {
    crShapeKind a = model->shapes[c->shape_a].shape.kind, b = model->shapes[c->shape_b].shape.kind;
    bool flat = a == CR_SHAPE_HALFSPACE || b == CR_SHAPE_HALFSPACE;
    return (a == CR_SHAPE_SPHERE && b == CR_SHAPE_SPHERE) ||
           (flat && (a == CR_SHAPE_SPHERE || b == CR_SHAPE_SPHERE));
}

// size of the smaller body of a contact that v moves; bodies that v does not move have size 0
static double smaller_size(const crPush* pass, const crStepContact* c) {
    double a = pass->step->plan->size[c->body_a], b = pass->step->plan->size[c->body_b];
    return a > 0.0 && (a < b || !(b > 0.0)) ? a : b;
}

// True if a pair, contacts begin to end - 1, can change no figure of a pass that only measures: even if it
// closed by all that its bodies moved, it would be no deeper than the deadband and than the deepest so far.
static bool changes_nothing(const crPush* pass, const crPushList* list, int begin, int end) {
    const crStepContact* c = &list->at.contacts[begin];
    double size = smaller_size(pass, c), far = list->most[c->body_a] + list->most[c->body_b];
    double least = c->point.gap, widest = least;
    for (int i = begin + 1; i < end; i++) {
        double gap = list->at.contacts[i].point.gap;
        if (gap < least) least = gap;
        if (gap > widest) widest = gap;
    }
    double delta = cr__push_deadband(pass, c), tol = cr__push_tol(pass) * delta;
    // way by which the pair may close, with room for rounding
    double room = least - ROUNDING * fabs(least) + (delta < pass->overlap ? delta : pass->overlap);
    if (widest > size) return false;
    // the error is at most twice the way: for most pairs it need not be known whether they roll
    if (far <= size && SURE * 2.0 * far <= tol && SURE * 3.0 * far <= room) return true;
    if (!cr__push_rolls(pass->step->model, c)) return false;
    double wrong = far * far / size;
    return SURE * wrong <= tol && SURE * (far + wrong) <= room;
}

// Least gap of a pair, contacts begin to end - 1, to first order of the motion, m. *error: bound of the error
// of its gaps, 0 if none of them is near, m.
static double least_gap(const crPush* pass, const crPushList* list, int begin, int end, double* error) {
    const crStep* step = pass->step;
    const crStepContact* c = &list->at.contacts[begin];
    double turn = list->swing[c->body_a] + list->swing[c->body_b], near = cr__push_near_gap(pass, c);
    double size = smaller_size(pass, c), least = INFINITY;
    *error = 0.0;
    if (list->still[c->body_a] && list->still[c->body_b]) {
        for (int i = begin; i < end; i++) {
            double gap = list->at.contacts[i].point.gap;
            if (gap < least) least = gap;
        }
        return least;
    }
    bool smooth = cr__push_rolls(step->model, c);
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

// True if a pair, contacts begin to end - 1, is not too deep along one of its normals, turned with either
// body. *gap: gap along that normal, a lower bound of the true one, m.
static bool is_apart(const crPush* pass, const crPushList* list, int begin, int end, double* gap) {
    const crStep* step = pass->step;
    const crStepContact* c = &list->at.contacts[begin];
    const int body[2] = {c->body_a, c->body_b};
    double least = -(1.0 + cr__push_tol(pass)) * cr__push_deadband(pass, c);
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

// Measures a pair, contacts begin to end - 1, at the present poses, and lists its near contacts if asked to.
static crStatus pair_now(crPush* pass, const crPushList* list, int begin, int end) {
    const crStepContact* c = &list->at.contacts[begin];
    // a list found anew has a margin for the largest body: it tells pairs, not near contacts
    if (list->anew) return near_collide(pass, c);
    if (!pass->lists && changes_nothing(pass, list, begin, end)) return CR_OK;
    double error, least = least_gap(pass, list, begin, end, &error);
    bool far = error > cr__push_tol(pass) * cr__push_deadband(pass, c);
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

// Measures the pairs of a list whose first contacts are begin to end - 1.
static crStatus near_range(crPush* pass, const crPushList* list, int begin, int end) {
    const crStepContact* c = list->at.contacts;
    crStatus status = CR_OK;
    int i = cr__step_run_begin(c, list->at.count, begin);
    while (i < end && status == CR_OK) {
        int next = cr__step_run_end(c, list->at.count, i);
        bool hit = pass->hit != NULL && (pass->hit[c[i].body_a] || pass->hit[c[i].body_b]);
        bool of = cr__push_moves(pass, c[i].body_a) || cr__push_moves(pass, c[i].body_b);
        if (hit == list->hit && of) status = pair_now(pass, list, i, next);
        i = next;
    }
    return status;
}

// arguments of near_chunk: one list, measured in chunks
typedef struct Share {
    const crPushList* list;
    crPush* chunk;
    crStatus* status;
} Share;

static void near_chunk(void* ctx, int begin, int end) {
    const Share* share = ctx;
    int i = begin / CHUNK;
    share->status[i] = near_range(&share->chunk[i], share->list, begin, end);
}

// Measures overlaps of a list by several threads. Returns false, with `pass` unchanged, if memory fails.
static bool near_shared(crPush* pass, const crPushList* list) {
    crStep* step = pass->step;
    int chunks = list->at.count / CHUNK + 1;
    size_t mark = cr_arena_mark(&step->scratch);
    Share share = {.list = list};
    bool ok = CR_ROOMS(&step->scratch, CR_ROOM(share.chunk, chunks), CR_ROOM(share.status, chunks));
    for (int i = 0; i < chunks && ok; i++) {
        share.chunk[i] = *pass;
        share.chunk[i].shared = true;
        // a chunk has no more deep pairs than contacts
        if (pass->deep != NULL) share.chunk[i].deep = pass->deep + pass->deep_count + i * CHUNK;
        share.chunk[i].deep_count = 0;
        share.status[i] = CR_OK;
    }
    if (ok) cr__tasks_for(step->own.tasks, list->at.count, CHUNK, near_chunk, &share);
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

crStatus cr__push_find(crPush* pass) {
    crStatus status = CR_OK;
    pass->count = pass->capacity = 0;
    pass->near = NULL;
    pass->overlap = pass->beyond = 0.0;
    pass->deep_count = 0;
    pass->single = true;
    pass->far = false;
    for (int which = 0; which < 2 && status == CR_OK; which++) {
        const crPushList* list = &pass->list[which];
        // near contacts must be listed in order, so threads only measure
        bool shared = pass->step->own.tasks != NULL && !pass->lists && list->at.count > CHUNK;
        if (!(shared && near_shared(pass, list))) status = near_range(pass, list, 0, list->at.count);
    }
    return status;
}
