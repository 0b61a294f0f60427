// audit_geometry.c - overlap of all shapes at given poses; pairs that cross or approach between two poses.
//
// Overlap: every pair of shapes whose boxes overlap is collided at the poses, without data kept between
// steps. Crossings: bodies that moved by more than half their half-thickness are followed along the straight
// way from the poses at the beginning to those at the end (centre of mass on a line, constant rotation about
// one axis). Let d0 and d1 be the distances at the ends of a piece of the way, L the length of the relative
// way, n and d the normal and distance at its middle. Then
//
//     distance >= (d0 + d1 - L) / 2,        distance >= d - (|n.way| + turning) / 2
//
// on the piece. Pieces are halved until the bounds exclude an overlap deeper than a quarter of the thinner
// body's half-thickness, such an overlap is found (a crossing), or PIECES is reached (unsure). A body with an
// impact did not go straight: its crossings are unsure.
// Near pairs: the same, with a distance instead of the overlap.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "collide/manifold.h"
#include "collide/narrow.h"
#include "model/spatial.h"
#include "step/audit.h"
#include "step/audit_single.h"
#include "step/step.h"

#define PIECES 64    // limit of pieces of the way of one pair
#define DEEP   0.25  // overlap that is a crossing, share of the thinner body's half-thickness

// box of a shape
typedef struct Entry {
    crBounds box;
    int shape;
} Entry;

// Sorts entries by lo.x; entries of equal lo.x keep their order, which is that of shapes. CR_ERR_MEMORY.
static crStatus sort(crArena* arena, int count, const Entry* entries, Entry* sorted) {
    size_t mark = cr_arena_mark(arena);
    crKeyed *keys, *work;
    if (!CR_ROOMS(arena, CR_ROOM(keys, count + 1), CR_ROOM(work, count + 1))) return CR_ERR_MEMORY;
    for (int i = 0; i < count; i++) {
        keys[i] = (crKeyed){entries[i].box.lo.x, i};
    }
    keys = cr__sort_keyed(keys, work, count);
    for (int i = 0; i < count; i++) {
        sorted[i] = entries[keys[i].at];
    }
    cr_arena_release(arena, mark);
    return CR_OK;
}

static bool meet(const crBounds* a, const crBounds* b) {
    return a->lo.y <= b->hi.y && b->lo.y <= a->hi.y && a->lo.z <= b->hi.z && b->lo.z <= a->hi.z;
}

// Calls `pair` for every pair of shapes that may touch and whose boxes overlap. The entry with the smaller
// lo.x is one of begin to end - 1. next: first entry of a body that must be followed at each place or behind
// it (count + 1): pairs without such an entry are left out; NULL: all pairs. Ends at the first failure of
// `pair`.
static crStatus pairs_of(const crModel* model, const Entry* entries, int count, int begin, int end,
                         const int* next, crAuditPairFn pair, void* ctx) {
    crStatus status = CR_OK;
    for (int i = begin; i < end && status == CR_OK; i++) {
        const int* to = next != NULL && next[i] > i ? next : NULL;
        for (int j = to != NULL ? to[i + 1] : i + 1;
             j < count && entries[j].box.lo.x <= entries[i].box.hi.x && status == CR_OK;
             j = to != NULL ? to[j + 1] : j + 1) {
            if (!meet(&entries[i].box, &entries[j].box)) continue;
            int a = entries[i].shape, b = entries[j].shape;
            if (a > b) {
                int swap = a;
                a = b;
                b = swap;
            }
            if (!cr__moves(model, model->shapes[a].body) && !cr__moves(model, model->shapes[b].body))
                continue;
            if (cr_model_meet(model, a, b)) status = pair(ctx, a, b);
        }
    }
    return status;
}

// overlap

typedef struct Overlap {
    const crPlan* plan;
    const crPose* pose;
    crAuditPair deepest;
} Overlap;

static double deepest_of(const crContactPoint* points, int count) {
    double depth = 0.0;
    for (int i = 0; i < count; i++) {
        // no fmax: its choice of 0 or -0 depends on the machine, and the overlap of sleepers is hashed
        if (-points[i].gap > depth) depth = -points[i].gap;
    }
    return depth;
}

double cr__audit_depth(const crPlan* plan, const crPose* pose, int shape_a, int shape_b) {
    crContactPoint points[16];
    const crBodyShape* shapes = plan->model->shapes;
    const crPose *pose_a = &pose[shapes[shape_a].body], *pose_b = &pose[shapes[shape_b].body];
    // fast path for balls
    int needed = 0, count = plan->planes ? -1
                                         : cr__ball_contact(&shapes[shape_a].shape, pose_a,
                                                            &shapes[shape_b].shape, pose_b, 0.0, points);
    // if there are more points than room, the deepest are returned
    if (count < 0)
        count = cr__pairs_collide(plan, shape_a, shape_b, *pose_a, *pose_b, 0.0, points, 16, &needed, NULL);
    return deepest_of(points, count);
}

static bool is_ball_like(const crShape* s) {
    return s->kind == CR_SHAPE_SPHERE || s->kind == CR_SHAPE_HALFSPACE;
}

// face normal of a box that points most towards d, as d itself in the axes of the box
static crVec3 face_towards(const crShape* box, crVec3 d) {
    double x = fabs(d.x) - box->size.x, y = fabs(d.y) - box->size.y, z = fabs(d.z) - box->size.z;
    if (x >= y && x >= z) return cr_vec3(d.x < 0.0 ? -1.0 : 1.0, 0.0, 0.0);
    if (y >= z) return cr_vec3(0.0, d.y < 0.0 ? -1.0 : 1.0, 0.0);
    return cr_vec3(0.0, 0.0, d.z < 0.0 ? -1.0 : 1.0);
}

bool cr__audit_shallow(const crPlan* plan, const crPose* pose, int shape_a, int shape_b, double known) {
    const crBodyShape* shapes = plan->model->shapes;
    const crShape *a = &shapes[shape_a].shape, *b = &shapes[shape_b].shape;
    const crPose *at_a = &pose[shapes[shape_a].body], *at_b = &pose[shapes[shape_b].body];
    // outlines in a plane may overlap where the shapes do not; the overlap of balls costs less than a bound
    if (plan->planes || (is_ball_like(a) && is_ball_like(b))) return false;
    if (a->kind == CR_SHAPE_HALFSPACE) return cr__pairs_above(a, at_a, b, at_b) >= -known;
    if (b->kind == CR_SHAPE_HALFSPACE) return cr__pairs_above(b, at_b, a, at_a) >= -known;
    crVec3 d = cr_sub(at_b->p, at_a->p), in_a = cr_quat_rotate(cr_quat_conj(at_a->q), d);
    double far = cr_norm(d);
    if (!(far > 0.0)) return false;
    if (cr__pairs_along(a, at_a, b, at_b, cr_scale(1.0 / far, in_a)) >= -known) return true;
    if (a->kind == CR_SHAPE_BOX && cr__pairs_along(a, at_a, b, at_b, face_towards(a, in_a)) >= -known)
        return true;
    crVec3 in_b = cr_quat_rotate(cr_quat_conj(at_b->q), cr_neg(d));
    return b->kind == CR_SHAPE_BOX && cr__pairs_along(b, at_b, a, at_a, face_towards(b, in_b)) >= -known;
}

// overlap of two shapes that pass by each other: outlines do not apply to them, m
static double depth_in_space(const crBodyShape* a, const crBodyShape* b, const crPose* pose) {
    crContactPoint points[16];
    int needed = 0;
    double until;
    return deepest_of(points, cr__collide(&a->shape, &pose[a->body], &b->shape, &pose[b->body], 0.0, points,
                                          16, &needed, &until));
}

static crStatus overlap_pair(void* ctx, int shape_a, int shape_b) {
    Overlap* o = ctx;
    const crBodyShape *a = &o->plan->model->shapes[shape_a], *b = &o->plan->model->shapes[shape_b];
    if (cr__audit_shallow(o->plan, o->pose, shape_a, shape_b, o->deepest.depth)) return CR_OK;
    double depth = cr__pairs_pass_by(o->plan, a, b, o->pose[a->body], o->pose[b->body])
                       ? depth_in_space(a, b, o->pose)
                       : cr__audit_depth(o->plan, o->pose, shape_a, shape_b);
    if (depth > o->deepest.depth) o->deepest = (crAuditPair){depth, shape_a, shape_b};
    return CR_OK;
}

#define SHAPES 256  // shapes per task

typedef struct OverlapParts {
    const crPlan* plan;
    const crPose* pose;
    Entry *entries, *sorted;  // (shape_count)
    crAuditPair* deepest;     // deepest pair of each chunk of sorted entries
} OverlapParts;

static void find_boxes(void* ctx, int begin, int end) {
    const OverlapParts* parts = ctx;
    for (int s = begin; s < end; s++) {
        const crBodyShape* shape = &parts->plan->model->shapes[s];
        parts->entries[s] = (Entry){cr_shape_bounds(&shape->shape, parts->pose[shape->body]), s};
    }
}

static void find_chunk_overlaps(void* ctx, int begin, int end) {
    const OverlapParts* parts = ctx;
    const crModel* model = parts->plan->model;
    Overlap o = {parts->plan, parts->pose, {0.0, -1, -1}};
    pairs_of(model, parts->sorted, model->shape_count, begin, end, NULL, overlap_pair, &o);
    parts->deepest[begin / SHAPES] = o.deepest;
}

crStatus cr__audit_overlap_at(const crPlan* plan, crTasks* tasks, crArena* arena, const crPose* pose,
                              crAuditPair* deepest) {
    int count = plan->model->shape_count, chunks = (count + SHAPES - 1) / SHAPES;
    size_t mark = cr_arena_mark(arena);
    OverlapParts parts = {.plan = plan, .pose = pose};
    *deepest = (crAuditPair){0.0, -1, -1};
    if (!CR_ROOMS(arena, CR_ROOM(parts.entries, count + 1), CR_ROOM(parts.sorted, count + 1),
                  CR_ROOM(parts.deepest, chunks + 1)))
        return CR_ERR_MEMORY;
    cr__tasks_for(tasks, count, SHAPES, find_boxes, &parts);
    if (sort(arena, count, parts.entries, parts.sorted) != CR_OK) return CR_ERR_MEMORY;
    cr__tasks_for(tasks, count, SHAPES, find_chunk_overlaps, &parts);
    // the first of equal pairs counts
    for (int i = 0; i < chunks; i++) {
        if (parts.deepest[i].depth > deepest->depth) *deepest = parts.deepest[i];
    }
    cr_arena_release(arena, mark);
    return CR_OK;
}

crStatus cr__audit_overlap(const crPlan* plan, crTasks* tasks, crArena* arena, const crState* state,
                           crDynamics* d, double* deepest) {
    crAuditPair pair = {0.0, -1, -1};
    cr_model_kinematics(plan->model, state, d);
    crStatus status = cr__audit_overlap_at(plan, tasks, arena, d->pose, &pair);
    *deepest = pair.depth;
    return status;
}

// crossings

// straight way of a body from beginning to end
typedef struct Way {
    crPose from;
    crVec3 com, move;  // centre of mass at the beginning, and its displacement
    crQuat q;          // rotation of the whole way
    double angle;      // upper bound of the angle of the rotation, rad
    crVec3 turn;       // rotation vector, if known, rad
    // known: true if `turn` is computed; fast: true if the body moved so far that its way must be followed
    bool known, fast;
} Way;

typedef struct Crossing {
    const crPlan* plan;
    crArena* arena;
    const crPose* to;  // poses at the end (nb)
    Way* way;          // (nb)
    const bool* hit;   // true if the body had an impact (nb); NULL: none had
    crAuditCrossings found;
    // for near pairs:
    const double* reach;  // distance of each body within which another is near, m (nb)
    crAuditPairFn near;
    void* near_ctx;
} Crossing;

static crPose at(const crModel* model, const Way* way, int body, double t) {
    crQuat q = cr_quat_mul(cr__rotation_exp(cr_scale(t, way->turn)), way->from.q);
    crVec3 com = cr_madd(way->com, t, way->move);
    return (crPose){cr_sub(com, cr_quat_rotate(q, model->bodies[body].com)), q};
}

// upper bound of the angle of a rotation, close for small angles, rad
static double angle_of(crQuat q) {
    double half = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    // arcsin x <= x + x^3/5 up to 1/2, <= pi x/2
    return half <= 0.5 ? 2.0 * (half + 0.2 * half * half * half) : 3.2 * half;
}

// Computes the rotation vector of a way, which few bodies need.
static void know_turn(Way* way) {
    if (!way->known) way->turn = cr__rotation_log(way->q);
    way->known = true;
}

static Way way_of(const crPlan* plan, int body, crPose from, crPose to) {
    crVec3 centre = plan->model->bodies[body].com;
    Way way = {.from = from, .com = cr_pose_point(from, centre)};
    way.move = cr_sub(cr_pose_point(to, centre), way.com);
    way.q = cr_quat_mul(to.q, cr_quat_conj(from.q));
    way.angle = angle_of(way.q);
    double far = cr_norm(way.move) + plan->size[body] * way.angle;
    way.fast = far > CR_AUDIT_FAST * plan->thin[body];
    return way;
}

static bool single_fast(const crStep* step, int i) {
    const crBody* body = &step->model->bodies[i];
    return cr__audit_single_fast(body, step->plan->size[i], CR_AUDIT_FAST * step->plan->thin[i],
                                 step->start.q + body->q, step->state.q + body->q);
}

bool cr__audit_fast(const crStep* step, int i) {
    const crBody* body = &step->model->bodies[i];
    if (!cr__moves(step->model, i)) return body->joint == CR_JOINT_DRIVEN;
    return !body->single || single_fast(step, i);
}

// a piece of the way of a pair, from t0 to t1 with distances d0 and d1
typedef struct Piece {
    double t0, t1, d0, d1;
} Piece;

// AT_END: the shapes are nearer than allowed at one of the ends
typedef enum Seen { CLEAR, CROSSED, UNKNOWN, AT_END } Seen;

typedef struct Pair {
    const Crossing* crossing;
    int shape_a, shape_b, body_a, body_b;
    double tol;     // overlap that is a crossing, m; negative: a distance that is near
    double length;  // upper bound of the relative way of the farthest points, m
    double turned;  // part of `length` by rotation, m
    crVec3 move;    // displacement of b relative to a
} Pair;

static double distance(const Pair* pair, double t, crVec3* normal) {
    const crModel* model = pair->crossing->plan->model;
    const Way* way = pair->crossing->way;
    crDistance found;
    bool known =
        cr_distance(&model->shapes[pair->shape_a].shape, at(model, &way[pair->body_a], pair->body_a, t),
                    &model->shapes[pair->shape_b].shape, at(model, &way[pair->body_b], pair->body_b, t),
                    (double)INFINITY, &found);
    *normal = known ? found.contact.normal : cr_vec3(0, 0, 0);
    return known ? found.contact.gap : (double)INFINITY;
}

static Seen follow(const Pair* pair) {
    Piece stack[PIECES];
    int count = 1;
    crVec3 n;
    stack[0] = (Piece){0.0, 1.0, distance(pair, 0.0, &n), distance(pair, 1.0, &n)};
    if (stack[0].d0 < -pair->tol || stack[0].d1 < -pair->tol) return AT_END;
    for (int looked = 0; count > 0; looked++) {
        Piece p = stack[--count];
        double share = p.t1 - p.t0;
        if (0.5 * (p.d0 + p.d1 - share * pair->length) >= -pair->tol) continue;
        if (looked == PIECES) return UNKNOWN;
        double t = 0.5 * (p.t0 + p.t1), d = distance(pair, t, &n);
        if (d < -pair->tol) return CROSSED;
        double along = fabs(cr_dot(n, pair->move)) + pair->turned;
        if (d - 0.5 * share * along >= -pair->tol) continue;
        if (count + 2 > PIECES) return UNKNOWN;
        stack[count++] = (Piece){t, p.t1, d, p.d1};
        stack[count++] = (Piece){p.t0, t, p.d0, d};
    }
    return CLEAR;
}

// upper bound of the motion of a shape's points by rotation, m; 0 for a ball about its centre
static double swing(const crPlan* plan, int shape, int body, const Way* way) {
    const crShape* s = &plan->model->shapes[shape].shape;
    crVec3 off = cr_sub(s->pose.p, plan->model->bodies[body].com);
    double reach = s->kind == CR_SHAPE_SPHERE ? cr_norm(off) : plan->size[body];
    return reach * way->angle;
}

static Pair pair_of(const Crossing* c, int shape_a, int shape_b) {
    const crModel* model = c->plan->model;
    int a = model->shapes[shape_a].body, b = model->shapes[shape_b].body;
    Pair pair = {.crossing = c, .shape_a = shape_a, .shape_b = shape_b, .body_a = a, .body_b = b};
    pair.move = cr_sub(c->way[b].move, c->way[a].move);
    pair.turned = swing(c->plan, shape_a, a, &c->way[a]) + swing(c->plan, shape_b, b, &c->way[b]);
    pair.length = cr_norm(pair.move) + pair.turned;
    return pair;
}

// True only if a bound at the end of the way shows the pair clear on all of it: the distance changes by at most `length`.
static bool ends_far(const Pair* pair) {
    const Crossing* c = pair->crossing;
    return cr__audit_shallow(c->plan, c->to, pair->shape_a, pair->shape_b, pair->tol - pair->length);
}

static crStatus crossing_pair(void* ctx, int shape_a, int shape_b) {
    Crossing* c = ctx;
    Pair pair = pair_of(c, shape_a, shape_b);
    int a = pair.body_a, b = pair.body_b;
    pair.tol = DEEP * fmin(c->plan->thin[a], c->plan->thin[b]);
    if (ends_far(&pair)) return CR_OK;
    know_turn(&c->way[a]);
    know_turn(&c->way[b]);
    // an overlap at an end is no crossing: it enters the overlap figure
    Seen seen = follow(&pair);
    bool straight = c->hit == NULL || (!c->hit[a] && !c->hit[b]);
    bool crossed = seen == CROSSED && straight;
    if (crossed && c->found.crossed == 0) {
        c->found.shape_a = shape_a;
        c->found.shape_b = shape_b;
    }
    c->found.crossed += crossed;
    c->found.unsure += seen == UNKNOWN || (seen == CROSSED && !straight);
    return CR_OK;
}

static crStatus near_pair(void* ctx, int shape_a, int shape_b) {
    Crossing* c = ctx;
    Pair pair = pair_of(c, shape_a, shape_b);
    pair.tol = -(c->reach[pair.body_a] + c->reach[pair.body_b]);
    if (ends_far(&pair)) return CR_OK;
    know_turn(&c->way[pair.body_a]);
    know_turn(&c->way[pair.body_b]);
    return follow(&pair) == CLEAR ? CR_OK : c->near(c->near_ctx, shape_a, shape_b);
}

// box of a shape over its whole way, enlarged by `more`
static crBounds swept(const Crossing* c, int body, const crShape* shape, double more) {
    const Way* way = &c->way[body];
    crBounds a = cr_shape_bounds(shape, way->from), b = cr_shape_bounds(shape, c->to[body]);
    double r = c->plan->size[body] * way->angle + more;
    crVec3 room = cr_vec3(r, r, r);
    crBounds box = {cr_vec3(fmin(a.lo.x, b.lo.x), fmin(a.lo.y, b.lo.y), fmin(a.lo.z, b.lo.z)),
                    cr_vec3(fmax(a.hi.x, b.hi.x), fmax(a.hi.y, b.hi.y), fmax(a.hi.z, b.hi.z))};
    return (crBounds){cr_sub(box.lo, room), cr_add(box.hi, room)};
}

// Writes the poses at the beginning of the step. The dynamics hold the poses of the state afterwards.
static void poses_before(const crModel* model, const crStepStart* start, const crState* end, crDynamics* d,
                         crPose* pose) {
    crState began = *end;
    began.q = start->q;
    began.time = start->time;
    cr_model_kinematics(model, &began, d);
    memcpy(pose, d->pose, (size_t)model->nb * sizeof *pose);
    cr_model_kinematics(model, end, d);
}

// Makes the ways of all bodies; sets *any if one must be followed. CR_ERR_MEMORY.
static crStatus make_ways(Crossing* c, const crPose* from, bool* any) {
    int nb = c->plan->model->nb;
    if (!CR_ROOMS(c->arena, CR_ROOM(c->way, nb))) return CR_ERR_MEMORY;
    const int* shapes = c->plan->shape.first;
    for (int i = 0; i < nb; i++) {
        // a body without shapes needs no way
        if (shapes[i] == shapes[i + 1]) continue;
        c->way[i] = way_of(c->plan, i, from[i], c->to[i]);
        *any = *any || c->way[i].fast;
    }
    return CR_OK;
}

static crStatus swept_pairs(Crossing* c, crAuditPairFn pair) {
    const crModel* model = c->plan->model;
    Entry *entries, *work;
    if (!CR_ROOMS(c->arena, CR_ROOM(entries, model->shape_count + 1), CR_ROOM(work, model->shape_count + 1)))
        return CR_ERR_MEMORY;
    for (int s = 0; s < model->shape_count; s++) {
        const crBodyShape* shape = &model->shapes[s];
        double more = c->reach != NULL ? c->reach[shape->body] : 0.0;
        entries[s] = (Entry){swept(c, shape->body, &shape->shape, more), s};
    }
    if (sort(c->arena, model->shape_count, entries, work) != CR_OK) return CR_ERR_MEMORY;
    int count = model->shape_count, *next = NULL;
    if (c->reach == NULL) {
        if (!CR_ROOMS(c->arena, CR_ROOM(next, count + 1))) return CR_ERR_MEMORY;
        next[count] = count;
        for (int i = count - 1; i >= 0; i--) {
            next[i] = c->way[model->shapes[work[i].shape].body].fast ? i : next[i + 1];
        }
    }
    return pairs_of(model, work, count, 0, count, next, pair, c);
}

crStatus cr__audit_crossings_between(const crPlan* plan, crArena* arena, const crPose* from, const crPose* to,
                                     const bool* hit, crAuditCrossings* found) {
    Crossing c = {.plan = plan, .arena = arena, .to = to, .hit = hit, .found = {0, 0, -1, -1}};
    bool any = false;
    size_t mark = cr_arena_mark(arena);
    crStatus status = make_ways(&c, from, &any);
    if (status == CR_OK && any) status = swept_pairs(&c, crossing_pair);
    cr_arena_release(arena, mark);
    *found = c.found;
    return status;
}

crStatus cr__audit_near(const crPlan* plan, crArena* arena, const crPose* from, const crPose* to,
                        const double* reach, crAuditPairFn pair, void* ctx) {
    Crossing c = {.plan = plan, .arena = arena, .to = to, .reach = reach, .near = pair, .near_ctx = ctx};
    bool any = false;
    size_t mark = cr_arena_mark(arena);
    crStatus status = make_ways(&c, from, &any);
    if (status == CR_OK) status = swept_pairs(&c, near_pair);
    cr_arena_release(arena, mark);
    return status;
}

crStatus cr__audit_crossings(const crStep* step, const crPose* before, crArena* arena, crDynamics* d,
                             crAuditCrossings* found) {
    int nb = step->model->nb;
    size_t mark = cr_arena_mark(arena);
    crPose* own;
    bool* hit;
    if (!CR_ROOMS(arena, CR_ROOM(own, nb), CR_ZERO(hit, nb))) return CR_ERR_MEMORY;
    if (before == NULL) poses_before(step->model, &step->start, &step->state, d, own);
    for (int i = 0; i < step->events.count; i++) {
        hit[step->events.list[i].body_a] = hit[step->events.list[i].body_b] = true;
    }
    hit[CR_WORLD] = false;
    crStatus status =
        cr__audit_crossings_between(step->plan, arena, before != NULL ? before : own, d->pose, hit, found);
    cr_arena_release(arena, mark);
    return status;
}
