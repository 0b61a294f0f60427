// audit_moved.c - audit of islands that short steps moved, from states, contacts and summed impulses.
//
//     cone       every summed impulse lies in its contact's cone
//     momentum   m v+ - m v_free = sum P,  I(q+) omega+ - I(q) omega_free = sum r x P
//                trees: v+ = s (v_free + M^-1 J^T P), s > 0 one number of the tree (see moving_trees.c)
//     overlap    no pair is deeper at the end than the certificate says
//
// A convex pair is no deeper than its overlap along any one direction. Good directions are the normals of its
// contacts, turned with either body. Pairs that are not convex are collided. A body that moved farther than
// its margin may touch a shape without a contact in the list: its pairs are listed anew, and all are collided.
// audit_step.c audits energy.
// Fails: CR_ERR_MEMORY; as cr__pairs_list.
#include <string.h>

#include "base/tasks.h"
#include "collide/manifold.h"
#include "collide/narrow.h"
#include "model/single.h"
#include "pairs/apart.h"
#include "step/audit.h"
#include "step/moving.h"
#include "step/step.h"

#define ROUNDING      1e-11          // rounding of a sum, share of its terms
#define TREE_ROUNDING 1e-9           // the same for trees, whose sums go through the factor of M
#define UNIT          1e-14          // rounding of the square of a unit quaternion
#define SURE          (1.0 - 1e-12)  // factor on a square, for rounding

typedef struct Moved {
    crStep* step;
    const crMoved* moved;
    double* impulse;  // sum and moment about the centre of mass of the impulses on each body (6*nb)
    double* size;     // sum of their absolute values (nb)
    double* v;        // sum of J^T P, then v_free + M^-1 J^T P, of trees (nv); NULL: no tree was moved
} Moved;

// pose of a single body at q
static crPose pose_of(const crModel* model, int body, const double* q) {
    q += model->bodies[body].q;
    return (crPose){cr__load_vec(q), cr_quat_normalize(cr__load_quat(q + 3))};
}

// pose at the beginning of the step
static crPose pose_before(const Moved* m, int body) {
    if (!m->step->model->bodies[body].single) return m->moved->pose[body];
    return pose_of(m->step->model, body, m->step->start.q);
}

static bool is_moved(const Moved* m, int body) {
    return cr__moves(m->step->model, body) && m->moved->body[body];
}

// Impulses of a pair on its second body: their sum and their moment about the point of the first.
typedef struct Pushed {
    crVec3 point, P, moment;
    double size;  // sum of their absolute values
} Pushed;

// Adds the impulses of a pair to the sums of a body.
static inline void impulse_on(const Moved* m, int body, const Pushed* by, crVec3 P, crVec3 moment) {
    if (!is_moved(m, body)) return;
    m->size[body] += by->size;
    if (!m->step->model->bodies[body].single) {
        cr_model_add_force(m->step->model, &m->step->dynamics, body, by->point, P, moment, m->v);
        return;
    }
    double* to = m->impulse + 6 * (size_t)body;
    cr__store_vec(cr_add(cr__load_vec(to), P), to);
    crVec3 turn = cr_cross(cr_sub(by->point, m->step->dynamics.origin[body]), P);
    cr__store_vec(cr_add(cr__load_vec(to + 3), cr_add(turn, moment)), to + 3);
}

// distance of an impulse from its cone, N s; size: its absolute value
static double outside(const crStepContact* c, double size) {
    double pn = cr_dot(c->impulse, c->point.normal), most = c->surface->surface.mu * pn;
    crVec3 t = cr_madd(c->impulse, -pn, c->point.normal);
    if (pn < 0.0) return size;
    // an impulse well inside needs no root
    double square = cr_dot(t, t);
    return square < SURE * most * most ? 0.0 : fmax(0.0, sqrt(square) - most);
}

static double rounding_of(const Moved* m, int b, double speeds) {
    const crBody* body = &m->step->model->bodies[b];
    double size = m->step->plan->size[b], ratio = body->principal[2] / body->principal[0];
    return ROUNDING * ratio * (speeds + m->size[b] * (1.0 / body->mass + size * size / body->principal[0]));
}

// Difference of a single body's velocity from that by its impulses, m/s. *holds: true if it is rounding.
static double defect(const Moved* m, int b, bool* holds) {
    const crStep* step = m->step;
    const crBody* body = &step->model->bodies[b];
    const double *v = step->state.v + body->v, *free = step->free.v + body->v,
                 *P = m->impulse + 6 * (size_t)b, size = step->plan->size[b];
    crVec3 u = cr__load_vec(v), w = cr__load_vec(v + 3), u_free = cr__load_vec(free),
           w_free = cr__load_vec(free + 3);
    crSym3 after = cr__single_round(body)
                       ? step->dynamics.inertia[b]
                       : cr__sym3_rotate(pose_of(step->model, b, step->state.q).q, body->inertia);
    crVec3 linear = cr_sub(cr_sub(u, u_free), cr_scale(1.0 / body->mass, cr__load_vec(P)));
    crVec3 L = cr_sub(cr_sym3_mul(after, w), cr_sym3_mul(step->dynamics.inertia[b], w_free));
    crVec3 turn = cr_sym3_mul(step->dynamics.inverse[b], cr_sub(L, cr__load_vec(P + 3)));
    double speed = cr_norm(linear) + size * cr_norm(turn);
    // one component of one velocity is nearly always enough
    *holds = speed <= ROUNDING * fabs(u_free.z) ||
             speed <= rounding_of(m, b, cr_norm(u) + cr_norm(u_free) + size * (cr_norm(w) + cr_norm(w_free)));
    return speed;
}

// Adds the impulses of limits, motors and loops of trees.
static void add_ties(const Moved* m) {
    const crStep* step = m->step;
    const crRows* rows = &step->posed.rows;
    for (int r = 0; r < rows->count; r++) {
        if (step->ties.of_row[r] < 0) continue;
        for (int k = rows->start[r]; k < rows->start[r + 1]; k++) {
            m->v[rows->col[k]] += rows->value[k] * step->posed.p[r];
        }
    }
}

// speed of the fastest point of a tree at v, m/s
static double fastest(const Moved* m, crPart tree, const double* v) {
    crDynamics* d = &m->step->dynamics;
    double most = 0.0;
    cr__part_velocity(m->step->model, tree, v, d);
    for (int n = 0; n < tree.count; n++) {
        int b = tree.bodies[n];
        crVec3 u = cr__twist_at(d->twist[b], cr_sub(d->com[b], d->origin[b]));
        most = fmax(most, cr_norm(u) + m->step->plan->size[b] * cr_norm(d->twist[b].omega));
    }
    return most;
}

// Difference of a tree's velocities from s times those by its impulses, m/s. *floor: its rounding.
static double tree_defect(const Moved* m, int root, double* floor) {
    crStep* step = m->step;
    const crModel* model = step->model;
    crPart tree = cr__plan_tree(step->plan, root);
    double own = 0.0, both = 0.0, worst = 0.0;
    cr__part_mass_solve(model, tree, &step->dynamics, m->v);
    for (int n = 0; n < tree.count; n++) {
        const crBody* body = &model->bodies[tree.bodies[n]];
        for (int j = body->v; j < body->v + body->nv; j++) {
            m->v[j] += step->free.v[j];
            own += m->v[j] * m->v[j];
            both += m->v[j] * step->state.v[j];
        }
    }
    double s = own > 0.0 ? both / own : 1.0;
    // with s <= 0 the impulses do not explain the motion
    if (!(s > 0.0) && both != 0.0) return (double)INFINITY;
    for (int n = 0; n < tree.count; n++) {
        const crBody* body = &model->bodies[tree.bodies[n]];
        for (int j = body->v; j < body->v + body->nv; j++) {
            m->v[j] = step->state.v[j] - s * m->v[j];
        }
    }
    worst = fastest(m, tree, m->v);
    *floor = fastest(m, tree, step->state.v) + fastest(m, tree, step->free.v);
    for (int n = 0; n < tree.count; n++) {
        *floor = fmax(*floor, m->size[tree.bodies[n]] / model->bodies[tree.bodies[n]].mass);
    }
    *floor *= TREE_ROUNDING;
    return worst;
}

// a direction, rotated with a body over the step
static crVec3 turned_with(const Moved* m, int body, crVec3 n) {
    const crStep* step = m->step;
    if (!is_moved(m, body)) return n;
    crQuat before = pose_before(m, body).q, after = step->dynamics.pose[body].q;
    return cr_quat_rotate(cr_quat_mul(after, cr_quat_conj(before)), n);
}

static bool is_same(crVec3 a, crVec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static crVec3 ball_centre(const crStep* step, const crShape* ball, int body) {
    const crPose* pose = &step->dynamics.pose[body];
    bool off = ball->pose.p.x != 0.0 || ball->pose.p.y != 0.0 || ball->pose.p.z != 0.0;
    return off ? cr_pose_point(*pose, ball->pose.p) : pose->p;
}

// true if the centres of two balls are so far apart that the overlap is at most `known`; needs no root
static bool are_shallow(const crStep* step, const crStepContact* c, double known) {
    const crShape *a = &step->model->shapes[c->shape_a].shape, *b = &step->model->shapes[c->shape_b].shape;
    if (a->kind != CR_SHAPE_SPHERE || b->kind != CR_SHAPE_SPHERE) return false;
    crVec3 d = cr_sub(ball_centre(step, b, c->body_b), ball_centre(step, a, c->body_a));
    double near = a->size.x + b->size.x - known;
    return near * near < SURE * cr_dot(d, d);
}

// orientation of a body at the beginning of the step
static crQuat turn_before(const Moved* m, int body) {
    if (!is_moved(m, body)) return m->step->dynamics.pose[body].q;
    if (!m->step->model->bodies[body].single) return m->moved->pose[body].q;
    crQuat q = cr__load_quat(m->step->start.q + m->step->model->bodies[body].q + 3);
    // unit up to rounding is enough: cr__pairs_between subtracts more
    bool unit = fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1.0) <= UNIT;
    return unit ? q : cr_quat_normalize(q);
}

// True if a half-space and the other shape of a pair overlap by at most `known`. first: true if it is the
// pair's first shape.
static bool is_above(const crStep* step, const crStepContact* c, bool first, double known) {
    const crShape *a = &step->model->shapes[c->shape_a].shape, *b = &step->model->shapes[c->shape_b].shape;
    const crPose *at_a = &step->dynamics.pose[c->body_a], *at_b = &step->dynamics.pose[c->body_b];
    return (first ? cr__pairs_above(a, at_a, b, at_b) : cr__pairs_above(b, at_b, a, at_a)) >= -known;
}

// True if the overlap of a pair along the normal of its first contact, turned with one of the bodies, is at
// most `known`.
static bool is_shallow(const Moved* m, const crStepContact* c, bool with_b, double known) {
    const crStep* step = m->step;
    const crShape *a = &step->model->shapes[c->shape_a].shape, *b = &step->model->shapes[c->shape_b].shape;
    // a half-space has one normal
    if (a->kind == CR_SHAPE_HALFSPACE) return !with_b && is_above(step, c, true, known);
    if (b->kind == CR_SHAPE_HALFSPACE) return with_b && is_above(step, c, false, known);
    // the normal does not turn with a ball
    if ((with_b ? b : a)->kind == CR_SHAPE_SPHERE) return false;
    const crPose *at_a = &step->dynamics.pose[c->body_a], *at_b = &step->dynamics.pose[c->body_b];
    crPairsLine line = {.d = cr_sub(at_b->p, at_a->p)};
    crQuat was = turn_before(m, with_b ? c->body_b : c->body_a);
    crVec3 own = cr_quat_rotate(cr_quat_conj(was), c->point.normal);
    crVec3 n = cr_quat_rotate(with_b ? at_b->q : at_a->q, own);
    line.n = n;
    line.l = with_b ? cr_quat_rotate(cr_quat_conj(at_a->q), n) : own;
    line.m = with_b ? cr_neg(own) : cr_quat_rotate(cr_quat_conj(at_b->q), cr_neg(n));
    return cr__pairs_between(a, b, &line) >= -known;
}

// Upper bound of the overlap of the pair of contacts begin to end - 1, m. It is at most `known` as soon as
// that is proved.
static double bound_of(const Moved* m, const crStepContact* contacts, int begin, int end, double known) {
    const crStepContact* c = &contacts[begin];
    crPieces pieces;
    if (are_shallow(m->step, c, known) || is_shallow(m, c, false, known) || is_shallow(m, c, true, known))
        return known;
    if (!cr__pairs_pieces(m->step->plan, c->shape_a, c->shape_b, m->step->dynamics.pose, &pieces))
        return cr__audit_depth(m->step->plan, m->step->dynamics.pose, c->shape_a, c->shape_b);
    double best = -(double)INFINITY;
    for (int i = begin; i < end && best < -known; i++) {
        // points of one face share their normal
        if (i > begin && is_same(contacts[i].point.normal, contacts[i - 1].point.normal)) continue;
        for (int side = 0; side < 2 && best < -known; side++) {
            crVec3 n = turned_with(m, side == 0 ? c->body_a : c->body_b, contacts[i].point.normal);
            best = fmax(best, cr__pairs_apart(&pieces, n));
        }
    }
    return fmax(0.0, -best);
}

// The same bound, replaced by the overlap itself if it exceeds `most`: the normals of a fast pair may be far
// from its present ones.
static double depth_of(const Moved* m, const crStepContact* contacts, int begin, int end, double known,
                       double most) {
    const crStepContact* c = &contacts[begin];
    double depth = bound_of(m, contacts, begin, end, known);
    if (!(depth > most)) return depth;
    return fmin(depth, cr__audit_depth(m->step->plan, m->step->dynamics.pose, c->shape_a, c->shape_b));
}

// worst figures of a range, by parts; the worst of all does not depend on the division
#define PARTS    128  // parts of a range
#define BODIES   256  // bodies per task
#define CONTACTS 512  // least number of contacts of a part: larger parts collide fewer pairs in full
typedef struct Parts {
    const Moved* m;
    int chunk;
    // true for the first contact of pairs that are too deep (near_count); NULL: not wanted
    bool* deep;
    double most[PARTS];
    bool holds[PARTS];
} Parts;

// Clears the figures and runs fn over parts of at least `least` items.
static void run_parts(Parts* parts, int count, int least, crTaskFn fn) {
    parts->chunk = count / PARTS < least ? least : count / PARTS + 1;
    for (int i = 0; i < PARTS; i++) {
        parts->most[i] = 0.0;
        parts->holds[i] = true;
    }
    cr__tasks_for(parts->m->step->own.tasks, count, parts->chunk, fn, parts);
}

static double most_of_parts(const Parts* parts) {
    double most = 0.0;
    for (int i = 0; i < PARTS; i++) {
        most = fmax(most, parts->most[i]);
    }
    return most;
}

// deepest overlap of the pairs whose first contacts are begin to end - 1
static void find_deepest(void* ctx, int begin, int end) {
    Parts* parts = ctx;
    const Moved* m = parts->m;
    const crStepContact* c = m->moved->near;
    int count = m->moved->near_count, i = cr__step_run_begin(c, count, begin);
    // the overlap of calm islands is a lower bound of the certificate's figure
    double depth = fmax(0.0, m->step->certificate.penetration);
    for (int next; i < end; i = next) {
        next = cr__step_run_end(c, count, i);
        if (!is_moved(m, c[i].body_a) && !is_moved(m, c[i].body_b)) continue;
        double most = CR_MOVED_DEEP * cr__plan_pair_width(m->step->plan, c[i].body_a, c[i].body_b);
        double known = parts->deep != NULL && most < depth ? most : depth;
        double pair = depth_of(m, c, i, next, known, most);
        depth = fmax(depth, pair);
        if (parts->deep != NULL) parts->deep[i] = pair > most;
    }
    parts->most[begin / parts->chunk] = depth;
}

static double square_of_turn(crQuat q, crQuat was) {
    return (q.w - was.w) * (q.w - was.w) + (q.x - was.x) * (q.x - was.x) + (q.y - was.y) * (q.y - was.y) +
           (q.z - was.z) * (q.z - was.z);
}

// upper bound of the travel of a body's points in the step, m
static double way_beyond(const Moved* m, int b) {
    const crStep* step = m->step;
    const crBody* body = &step->model->bodies[b];
    crPose before = pose_before(m, b), after = step->dynamics.pose[b];
    crVec3 com = cr_pose_point(before, body->com);
    return cr_norm(cr_sub(step->dynamics.com[b], com)) +
           2.0 * sqrt(square_of_turn(after.q, before.q)) * step->plan->size[b];
}

// true if a point of the body may have moved farther than its margin
static bool is_astray(const Moved* m, int b) {
    const crStep* step = m->step;
    const crBody* body = &step->model->bodies[b];
    double margin = m->moved->margin[b], size = step->plan->size[b];
    if (body->single && cr__centred(body)) {
        // nearly all bodies pass this test of squares, which needs no roots
        const double* q = step->start.q + body->q;
        crVec3 move = cr_sub(step->dynamics.com[b], cr__load_vec(q));
        double turn = square_of_turn(step->dynamics.pose[b].q, cr__load_quat(q + 3));
        if (4.0 * (cr_dot(move, move) + 4.0 * turn * size * size) <= margin * margin) return false;
    }
    return !(way_beyond(m, b) <= margin);
}

// Deepest overlap of the near pairs of a body, m. *deep: set to true if a pair is too deep.
static double deepest_near(const crStep* step, int body, bool* deep) {
    double depth = 0.0;
    for (int i = step->pairs->first_of[body]; i < step->pairs->first_of[body + 1]; i++) {
        const crNear* near = &step->pairs->near[step->pairs->of[i]];
        const crPose* pose = step->dynamics.pose;
        double most = CR_MOVED_DEEP * cr__plan_pair_width(step->plan, near->body_a, near->body_b);
        double known = depth < most ? depth : most;
        if (cr__audit_shallow(step->plan, pose, near->shape_a, near->shape_b, known)) continue;
        double pair = cr__audit_depth(step->plan, pose, near->shape_a, near->shape_b);
        *deep = *deep || pair > most;
        depth = fmax(depth, pair);
    }
    return depth;
}

double cr__audit_overlap_of(const crStep* step, const bool* bodies) {
    double depth = 0.0;
    bool deep = false;
    for (int b = 1; b < step->model->nb; b++) {
        if (bodies[b]) depth = fmax(depth, deepest_near(step, b, &deep));
    }
    return depth;
}

// Compares the velocities of single bodies begin to end - 1 with those by their impulses.
static void find_defects(void* ctx, int begin, int end) {
    Parts* parts = ctx;
    const Moved* m = parts->m;
    double most = 0.0;
    bool holds = true;
    for (int b = begin; b < end; b++) {
        if (!m->step->model->bodies[b].single || !is_moved(m, b)) continue;
        bool rounding;
        most = fmax(most, defect(m, b, &rounding));
        holds = holds && rounding;
    }
    parts->most[begin / parts->chunk] = most;
    parts->holds[begin / parts->chunk] = holds;
}

// Sums of impulses on bodies, pair by pair. Each thread reads all contacts in order and sums those of its part of
// the bodies. It also finds the largest distance from their cones of the impulses of its part of the contacts.
typedef struct Sums {
    Parts* figures;
    int parts;
} Sums;

// true if a body of a contact is among from to `to` - 1
static inline bool is_in_part(const crStepContact* c, int from, int to) {
    return (c->body_a >= from && c->body_a < to) || (c->body_b >= from && c->body_b < to);
}

// Adds the impulses of a pair to the sums of its bodies that are among from to `to` - 1.
static inline void add_pushed(const Moved* m, const crStepContact* c, const Pushed* by, int from, int to) {
    if (c->body_a >= from && c->body_a < to) impulse_on(m, c->body_a, by, cr_neg(by->P), cr_neg(by->moment));
    if (c->body_b >= from && c->body_b < to) impulse_on(m, c->body_b, by, by->P, by->moment);
}

static void sum_part(void* ctx, int part, int end) {
    const Sums* sums = ctx;
    const Moved* m = sums->figures->m;
    const crStepContact* pair = NULL;
    int64_t count = m->moved->count;
    int first = (int)(count * part / sums->parts), last = (int)(count * (part + 1) / sums->parts);
    double most = 0.0;
    bool holds = true;
    Pushed by = {0};
    (void)end;
    int64_t nb = m->step->model->nb;
    int from = (int)(nb * part / sums->parts), to = (int)(nb * (part + 1) / sums->parts);
    memset(m->impulse + 6 * (size_t)from, 0, 6 * (size_t)(to - from) * sizeof *m->impulse);
    memset(m->size + from, 0, (size_t)(to - from) * sizeof *m->size);
    for (int i = 0; i < m->moved->count; i++) {
        const crStepContact* c = &m->moved->contacts[i];
        double square = cr_dot(c->impulse, c->impulse);
        bool own = i >= first && i < last;
        if (square == 0.0 || !(own || is_in_part(c, from, to))) continue;
        double size = sqrt(square);
        if (own) {
            double off = outside(c, size);
            if (off > most) most = off;
            holds = holds && off <= ROUNDING * size;
        }
        if (pair != NULL && cr__step_same_pair(c, pair)) {
            crVec3 arm = cr_sub(c->point.point, by.point);
            by.P = cr_add(by.P, c->impulse);
            by.moment = cr_add(by.moment, cr_cross(arm, c->impulse));
            by.size += size;
            continue;
        }
        if (pair != NULL) add_pushed(m, pair, &by, from, to);
        pair = c;
        by = (Pushed){.point = c->point.point, .P = c->impulse, .size = size};
    }
    if (pair != NULL) add_pushed(m, pair, &by, from, to);
    sums->figures->most[part] = most;
    sums->figures->holds[part] = holds;
}

crStatus cr__audit_moved(crStep* step, const crMoved* moved) {
    Moved m = {.step = step, .moved = moved};
    size_t mark = cr_arena_mark(&step->scratch), nb = (size_t)step->model->nb;
    m.impulse = cr_arena_alloc(&step->scratch, 6 * nb * sizeof *m.impulse);
    m.size = cr_arena_alloc(&step->scratch, nb * sizeof *m.size);
    if (m.impulse == NULL || m.size == NULL) return CR_ERR_MEMORY;
    crAudit audit = {0};
    bool holds = true;
    if (moved->pose != NULL) {
        size_t nv = (size_t)step->model->nv + 1;
        m.v = cr_arena_alloc(&step->scratch, nv * sizeof *m.v);
        if (m.v == NULL) return CR_ERR_MEMORY;
        memset(m.v, 0, nv * sizeof *m.v);
        add_ties(&m);
    }
    Parts parts = {.m = &m};
    // one thread sums impulses on trees: impulses on several bodies of a tree add to the same joints
    Sums sums = {&parts, moved->pose != NULL ? 1 : cr__tasks_threads(step->own.tasks)};
    if (sums.parts > PARTS) sums.parts = PARTS;
    cr__tasks_for(step->own.tasks, sums.parts, 1, sum_part, &sums);
    for (int i = 0; i < sums.parts; i++) {
        audit.laws.cone = fmax(audit.laws.cone, parts.most[i]);
        holds = holds && parts.holds[i];
    }
    run_parts(&parts, step->model->nb, 1, find_defects);
    audit.momentum = most_of_parts(&parts);
    for (int i = 0; i < PARTS; i++) {
        holds = holds && parts.holds[i];
    }
    for (int b = 1; b < step->plan->first_single; b++) {
        const crBody* body = &step->model->bodies[b];
        if (body->single || !is_moved(&m, b) || body->root != b) continue;
        double floor = 0.0, speed = tree_defect(&m, b, &floor);
        audit.momentum = fmax(audit.momentum, speed);
        holds = holds && speed <= floor;
    }
    cr__audit_merge(&step->certificate, &audit, holds ? CR_OUTCOME_BOUNDED : CR_OUTCOME_LIMIT);
    cr_arena_release(&step->scratch, mark);
    return CR_OK;
}

// bodies that may have moved farther than their margins
typedef struct Astray {
    const Moved* m;
    bool* astray;  // (nb)
} Astray;

static void mark_astray(void* ctx, int begin, int end) {
    const Astray* found = ctx;
    for (int b = begin; b < end; b++) {
        found->astray[b] = b != CR_WORLD && is_moved(found->m, b) && is_astray(found->m, b);
    }
}

// Lists the pairs of bodies that may have moved farther than their margins, and adds their overlap to *depth.
// deep: as in cr__audit_moved_overlap. Fails as cr__pairs_list; CR_ERR_MEMORY.
static crStatus collide_astray(const Moved* m, bool* deep, double* depth, crError* error) {
    crStep* step = m->step;
    int nb = step->model->nb, count = 0, *astray;
    Astray found = {m, NULL};
    if (!CR_ROOMS(&step->scratch, CR_ROOM(found.astray, nb), CR_ROOM(astray, nb)))
        return cr__step_memory(error);
    cr__tasks_for(step->own.tasks, nb, BODIES, mark_astray, &found);
    // few bodies are
    for (int b = 0; b < nb; b++) {
        const bool* next = memchr(found.astray + b, true, (size_t)(nb - b) * sizeof *next);
        if (next == NULL) break;
        b = (int)(next - found.astray);
        astray[count++] = b;
    }
    if (count == 0) return CR_OK;
    crPart part = {astray, count};
    crStatus status = cr__pairs_move(step->pairs, step->own.tasks, part, &step->dynamics, error);
    if (status == CR_OK)
        status = cr__pairs_list(step->pairs, step->own.tasks, &step->dynamics, &step->scratch, error);
    cr__pairs_index(step->pairs, step->own.tasks);
    for (int k = 0; k < count && status == CR_OK; k++) {
        bool too_deep = false;
        *depth = fmax(*depth, deepest_near(step, astray[k], &too_deep));
        if (deep != NULL) deep[astray[k]] = too_deep;
    }
    return status;
}

crStatus cr__audit_moved_overlap(crStep* step, const crMoved* moved, bool* deep, double* depth,
                                 crError* error) {
    const Moved m = {.step = step, .moved = moved};
    size_t mark = cr_arena_mark(&step->scratch), count = (size_t)moved->near_count + 1;
    bool* pair = deep != NULL ? cr_arena_alloc(&step->scratch, count) : NULL;
    if (deep != NULL && pair == NULL) return cr__step_memory(error);
    if (deep != NULL) {
        memset(pair, 0, count);
        memset(deep, 0, (size_t)step->model->nb);
    }
    *depth = 0.0;
    crStatus status = collide_astray(&m, deep, depth, error);
    if (status != CR_OK) return status;
    Parts parts = {.m = &m, .deep = pair};
    // one thread goes on from the deepest pair so far
    run_parts(&parts, moved->near_count, step->own.tasks == NULL ? moved->near_count + 1 : CONTACTS,
              find_deepest);
    // nearly always there are none
    for (int i = 0; deep != NULL && i < moved->near_count; i++) {
        const bool* first = memchr(pair + i, true, (size_t)(moved->near_count - i) * sizeof *pair);
        if (first == NULL) break;
        i = (int)(first - pair);
        deep[moved->near[i].body_a] = deep[moved->near[i].body_b] = true;
    }
    cr_arena_release(&step->scratch, mark);
    *depth = fmax(*depth, most_of_parts(&parts));
    return CR_OK;
}
