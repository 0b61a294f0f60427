// cell.c - contacts of slow pairs: found once for a cell of relative poses, and advanced to first order within it.
//
// The pose of b in a's axes is rounded to a grid. Contacts are those of the rounded pose, and their gaps follow the
// material points to the true one: what they leave out is of second order, at most 1e-6 of the pair's size; and where a corner
// leaves a face, it is held until the end of the cell, 5e-4 of the size at most (test_cells). A normal turns with the face it
// belongs to, and by half of the turn on curved surfaces; where edges and corners meet, contacts are not kept. So contacts
// depend on the present poses alone; what a slot holds is only spared, and any of it may be forgotten.
#include <string.h>

#include "collide/manifold.h"
#include "pairs/pairs.h"

#define CELL  (1.0 / 4096.0)  // of the pair's size: edge of the grid
#define TURN  (1.0 / 8192.0)  // step of the grid of quaternions: it turns points as far as CELL moves them
#define ROUND 0.125      // of the pair's size: least radius of a surface whose normals turn little in a cell
#define FAR   (1 << 30)  // cells from the origin up to which there are some
#define ALONG 1e-12      // a normal this near to an axis of a box is a face's

// the least margin of contacts in slots, of the pair's size; others are this by powers of two
#define LEAST (1.0 / 64.0)

enum { BY_A, BY_B, BY_BOTH, BY_NONE };

static bool is_convex(crShapeKind kind) {
    return kind != CR_SHAPE_MESH && kind != CR_SHAPE_HEIGHTFIELD && kind != CR_SHAPE_COMPOUND;
}

// Contacts of balls take no longer to find than a slot to read. Those of two boxes take twice as long, and half of them are of
// edges, which are not kept.
static bool is_cheap(crShapeKind a, crShapeKind b) {
    bool flat = a == CR_SHAPE_HALFSPACE || a == CR_SHAPE_BOX;
    return flat ? b == CR_SHAPE_SPHERE || b == CR_SHAPE_BOX : a == CR_SHAPE_SPHERE && b == CR_SHAPE_SPHERE;
}

bool cr__pairs_has_cells(const crPairs* pairs, int shape_a, int shape_b) {
    crShapeKind a = pairs->plan->model->shapes[shape_a].shape.kind;
    crShapeKind b = pairs->plan->model->shapes[shape_b].shape.kind;
    return pairs->many && is_convex(a) && is_convex(b) && !is_cheap(a, b) && !is_cheap(b, a);
}

static bool round_to(double x, double cell, int32_t* k) {
    double t = x / cell;
    if (!(fabs(t) < FAR)) return false;
    *k = (int32_t)(t < 0.0 ? t - 0.5 : t + 0.5);
    return true;
}

// the cell of a relative pose, whose quaternion has w >= 0; false: it is too far away
static bool cell_of(crPose at, double size, int32_t place[7]) {
    double edge = CELL * size;
    bool ok = round_to(at.p.x, edge, &place[0]) && round_to(at.p.y, edge, &place[1]) &&
              round_to(at.p.z, edge, &place[2]);
    return ok && round_to(at.q.w, TURN, &place[3]) && round_to(at.q.x, TURN, &place[4]) &&
           round_to(at.q.y, TURN, &place[5]) && round_to(at.q.z, TURN, &place[6]);
}

// its middle
static crPose pose_of(const int32_t place[7], double size) {
    double edge = CELL * size;
    crQuat q = {TURN * place[3], TURN * place[4], TURN * place[5], TURN * place[6]};
    return (crPose){cr_vec3(edge * place[0], edge * place[1], edge * place[2]), cr_quat_normalize(q)};
}

// pose of b in a's axes
static crPose relative(const crPose* a, const crPose* b) {
    crQuat back = cr_quat_conj(a->q), q = cr_quat_mul(back, b->q);
    if (q.w < 0.0) q = (crQuat){-q.w, -q.x, -q.y, -q.z};
    return (crPose){cr_quat_rotate(back, cr_sub(b->p, a->p)), q};
}

// whether n, in the axes of its body, is the normal of a plane or a face of a box
static bool is_of_face(const crShape* shape, crVec3 n) {
    if (shape->kind == CR_SHAPE_HALFSPACE) return true;
    if (shape->kind != CR_SHAPE_BOX) return false;
    crVec3 y = cr_quat_rotate(cr_quat_conj(shape->pose.q), n);
    return fmax(fabs(y.x), fmax(fabs(y.y), fabs(y.z))) >= 1.0 - ALONG;
}

// least radius of curvature where a shape has this feature, 0 where it is sharp, m
static double radius_at(const crShape* s, uint32_t feature) {
    bool side = CR_FEATURE_KIND(feature) == CR_FEATURE_SMOOTH && (feature & 0xffffff) < 16;
    double least = fmin(s->size.x, fmin(s->size.y, s->size.z)),
           most = fmax(s->size.x, fmax(s->size.y, s->size.z));
    switch (s->kind) {
    case CR_SHAPE_SPHERE:
    case CR_SHAPE_CAPSULE:
        return s->size.x;
    case CR_SHAPE_ELLIPSOID:
        return least * least / most;
    case CR_SHAPE_CYLINDER:
        return side ? s->size.x : 0.0;
    default:
        return 0.0;
    }
}

// which body the normal turns with: the one whose face it belongs to; BY_NONE: two edges or corners, whose normal may turn by
// any angle in a cell
static int turns_by(const crShape* a, const crShape* b, crPose at, double size,
                    const crContactPoint* deepest) {
    if (is_of_face(a, deepest->normal)) return BY_A;
    if (is_of_face(b, cr_quat_rotate(cr_quat_conj(at.q), deepest->normal))) return BY_B;
    if (CR_FEATURE_KIND(deepest->feature_a) == CR_FEATURE_FACE) return BY_A;
    if (CR_FEATURE_KIND(deepest->feature_b) == CR_FEATURE_FACE) return BY_B;
    double radius = fmax(radius_at(a, deepest->feature_a), radius_at(b, deepest->feature_b));
    return radius >= ROUND * size ? BY_BOTH : BY_NONE;
}

// contacts at the middle of a cell; a count of -1: they have several normals, or one that turns too much
static void find(const crPairs* pairs, const crNear* pair, double size, crCell* cell) {
    const crShape* a = &pairs->plan->model->shapes[pair->shape_a].shape;
    const crShape* b = &pairs->plan->model->shapes[pair->shape_b].shape;
    crPose at = pose_of(cell->place, size), origin = cr_pose_identity();
    crContactPoint points[CR_MANIFOLD_MAX];
    int needed, deepest = 0;
    double until;
    int count = cr__collide(a, &origin, b, &at, cell->margin, points, CR_MANIFOLD_MAX, &needed, &until);
    bool one = true;
    for (int i = 0; i < count; i++) {
        one = one && memcmp(&points[i].normal, &points[0].normal, sizeof points[0].normal) == 0;
        if (points[i].gap < points[deepest].gap) deepest = i;
        cell->point[i] =
            (crCellPoint){points[i].on_a, points[i].gap, points[i].feature_a, points[i].feature_b};
    }
    cell->held = true;
    cell->count = one ? count : -1;
    if (count == 0 || !one) return;
    cell->normal = points[0].normal;
    cell->turns_by = turns_by(a, b, at, size, &points[deepest]);
    if (cell->turns_by == BY_NONE) cell->count = -1;
}

// contacts of a cell at the relative pose `at`, of a at `body_a`: those within the margin; their number
static int advance(const crCell* cell, crPose at, double size, crPose body_a, double margin,
                   crContactPoint* points) {
    crPose from = pose_of(cell->place, size);
    crQuat turn = cr_quat_mul(at.q, cr_quat_conj(from.q));
    crVec3 turned = cr_quat_rotate(turn, cell->normal), n = cell->normal;
    if (cell->turns_by == BY_B) n = turned;
    if (cell->turns_by == BY_BOTH) {
        crVec3 both = cr_add(n, turned);
        n = cr_scale(1.0 / cr_norm(both), both);
    }
    crVec3 normal = cr_quat_rotate(body_a.q, n);
    int count = 0;
    for (int i = 0; i < cell->count; i++) {
        const crCellPoint* p = &cell->point[i];
        crVec3 arm = cr_sub(cr_madd(p->on_a, p->gap, cell->normal), from.p);
        crVec3 on_b = cr_add(at.p, cr_quat_rotate(turn, arm));
        double gap = cr_dot(n, cr_sub(on_b, p->on_a));
        if (gap > margin) continue;
        points[count++] = (crContactPoint){
            .gap = gap,
            .normal = normal,
            .point = cr_pose_point(body_a, cr_scale(0.5, cr_add(p->on_a, on_b))),
            .feature_a = p->feature_a,
            .feature_b = p->feature_b,
        };
    }
    return count;
}

int cr__pairs_cell(crPairs* pairs, const crNear* pair, const crPose* body_a, const crPose* body_b,
                   double margin, crContactPoint* points) {
    crPose at = relative(body_a, body_b);
    crCell own, *cell = pair->slot >= 0 ? &pairs->cells.slot[pair->slot] : &own;
    int32_t place[7];
    double size = cr__pairs_size(pairs, pair), reach = LEAST * size;
    if (!cell_of(at, size, place)) return -1;
    // with the contacts that come within the margin anywhere in the cell
    while (reach < margin + 4.0 * CELL * size) {
        reach *= 2.0;
    }
    bool known = pair->slot >= 0 && cell->held && cell->margin == reach;
    if (!known || memcmp(place, cell->place, sizeof place) != 0) {
        memcpy(cell->place, place, sizeof place);
        cell->margin = reach;
        find(pairs, pair, size, cell);
    }
    if (cell->count < 0) return -1;
    return advance(cell, at, size, *body_a, margin, points);
}
