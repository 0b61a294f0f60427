// cell.c - contacts of slow pairs: found once for a cell of relative poses, and advanced within it.
//
// The pose of b in a's axes is rounded to a grid. Contacts are found at the rounded pose. At the true pose
// the normal n maximizes the separation s(n) = n.(b - a) of the support points, which move by A dn and
// B (dn - theta x n) when n turns by dn and b by theta (polish.c; A and B are infinite along edges and across
// faces), so that
//
//     (gap + A + B) dn = d + B (theta x n)
//     gap' = n'.(b' - a) - dn.A dn / 2 - (dn - theta x n).B (dn - theta x n) / 2
//
// with d the displacement of b's material point. Gaps have an error of third order: at most 1e-7 of the
// pair's size in fine cells, 5e-6 in coarse ones. A corner or edge that slides off the other shape keeps its
// contact up to the end of the cell, at most 5e-4 and 4e-3 of the size (test_cells). The normal of a face
// turns with its body exactly. Contacts of two corners or of nearly parallel edges are not kept, since their
// normal turns too much within a cell. Contacts depend on the present poses alone: cells only save time, and
// can be dropped.
#include <string.h>

#include "collide/convex.h"
#include "collide/manifold.h"
#include "pairs/pairs.h"

#define FAR       (1 << 30)      // limit of a cell's coordinates
#define ALONG     1e-12          // tolerance of the cosine by which a normal is that of a face
#define STIFF     1e6            // radius of curvature of flat and straight surfaces, in sizes of the pair
#define MOST_TURN (1.0 / 256.0)  // limit of the rotation of the normal when b moves by one cell, rad

// least margin of contacts in cells, share of the pair's size; larger ones are doubled from it
#define LEAST (1.0 / 64.0)

enum { BY_A, BY_B, BY_BOTH };

static bool is_convex(crShapeKind kind) {
    return kind != CR_SHAPE_MESH && kind != CR_SHAPE_HEIGHTFIELD && kind != CR_SHAPE_COMPOUND;
}

// True if a cell does not pay: finding the contacts of a ball, or of a box on a plane, takes no longer than reading a cell.
static bool is_cheap(crShapeKind a, crShapeKind b) {
    if (a == CR_SHAPE_HALFSPACE) return b == CR_SHAPE_SPHERE || b == CR_SHAPE_BOX;
    return (a == CR_SHAPE_BOX || a == CR_SHAPE_SPHERE) && b == CR_SHAPE_SPHERE;
}

bool cr__pairs_has_cells(const crPairs* pairs, int shape_a, int shape_b) {
    crShapeKind a = pairs->plan->model->shapes[shape_a].shape.kind;
    crShapeKind b = pairs->plan->model->shapes[shape_b].shape.kind;
    return pairs->cells.many && is_convex(a) && is_convex(b) && !is_cheap(a, b) && !is_cheap(b, a);
}

bool cr__pairs_is_quick(const crPairs* pairs, int shape_a, int shape_b) {
    const crBodyShape* shapes = pairs->plan->model->shapes;
    return shapes[shape_a].shape.kind == CR_SHAPE_BOX && shapes[shape_b].shape.kind == CR_SHAPE_BOX;
}

static bool round_to(double t, int32_t* k) {
    if (!(fabs(t) < FAR)) return false;
    *k = (int32_t)(t < 0.0 ? t - 0.5 : t + 0.5);
    return true;
}

// Finds the cell of a relative pose, whose quaternion has w >= 0. Returns false if it is too far away.
static bool cell_of(crPose at, double grain, double size, int32_t place[7]) {
    // grain is a power of two: no rounding
    double edge = grain * size, turns = 2.0 / grain;
    bool ok = round_to(at.p.x / edge, &place[0]) && round_to(at.p.y / edge, &place[1]) &&
              round_to(at.p.z / edge, &place[2]);
    return ok && round_to(at.q.w * turns, &place[3]) && round_to(at.q.x * turns, &place[4]) &&
           round_to(at.q.y * turns, &place[5]) && round_to(at.q.z * turns, &place[6]);
}

// pose at the middle of a cell
static crPose pose_of(const int32_t place[7], double grain, double size) {
    double edge = grain * size, turn = 0.5 * grain;
    crQuat q = {turn * place[3], turn * place[4], turn * place[5], turn * place[6]};
    return (crPose){cr_vec3(edge * place[0], edge * place[1], edge * place[2]), cr_quat_normalize(q)};
}

// pose of b in a's axes
static crPose relative(const crPose* a, const crPose* b) {
    crQuat back = cr_quat_conj(a->q), q = cr_quat_mul(back, b->q);
    if (q.w < 0.0) q = (crQuat){-q.w, -q.x, -q.y, -q.z};
    return (crPose){cr_quat_rotate(back, cr_sub(b->p, a->p)), q};
}

// true if n, in the axes of its body, is the normal of a plane, face or cap
static bool is_of_face(const crShape* shape, crVec3 n) {
    if (shape->kind == CR_SHAPE_HALFSPACE) return true;
    crVec3 y = cr_quat_rotate(cr_quat_conj(shape->pose.q), n);
    switch (shape->kind) {
    case CR_SHAPE_BOX:
        return fmax(fabs(y.x), fmax(fabs(y.y), fabs(y.z))) >= 1.0 - ALONG;
    case CR_SHAPE_CYLINDER:
        return fabs(y.z) >= 1.0 - ALONG;
    case CR_SHAPE_CONE:
        return y.z <= ALONG - 1.0;
    case CR_SHAPE_HULL:
        for (int i = 0; i < shape->data.hull->face_count; i++) {
            if (cr_dot(shape->data.hull->normals[i], y) >= 1.0 - ALONG) return true;
        }
        return false;
    default:
        return false;
    }
}

// Adds k e e^T to a symmetric matrix across the normal, in the basis t, u.
static void add_along(crBends* to, double k, crVec3 e, crVec3 t, crVec3 u) {
    double x = cr_dot(e, t), y = cr_dot(e, u);
    to->tt += k * x * x;
    to->tu += k * x * y;
    to->uu += k * y * y;
}

// direction of an edge with this feature, in the shape's own axes
static crVec3 edge_of(const crShape* s, uint32_t feature) {
    int code = (int)(feature & 0xffffff);
    if (s->kind == CR_SHAPE_BOX)
        return code / 9 == 0 ? cr_vec3(1, 0, 0) : code / 3 % 3 == 0 ? cr_vec3(0, 1, 0) : cr_vec3(0, 0, 1);
    if (s->kind != CR_SHAPE_HULL) return cr_vec3(0, 0, 1);
    const crHull* h = s->data.hull;
    crVec3 e = cr_sub(h->vertices[h->edges[code].b], h->vertices[h->edges[code].a]);
    return cr_scale(1.0 / cr_norm(e), e);
}

// Adds the bends of the side, slope or rim of a cylinder or cone: curved about its axis, straight along the
// side.
static void add_turned(crBends* to, bool rim, double stiff, crVec3 x, crVec3 l, crVec3 p, crVec3 q) {
    double across = sqrt(l.x * l.x + l.y * l.y), rho = sqrt(x.x * x.x + x.y * x.y);
    if (!(across > 0.0)) return;
    crVec3 around = cr_vec3(-l.y / across, l.x / across, 0.0);
    add_along(to, rho / across, around, p, q);
    if (!rim) add_along(to, stiff, cr_cross(l, around), p, q);
}

// Motion of the support point of a shape per rotation of the direction, m/rad, along t and u. x: the point,
// d: outward direction there, both in the axes in which the shape is at `at`. stiff: value of straight and
// flat surfaces.
static crBends bends_of(const crShape* s, crPose at, uint32_t feature, double stiff, crVec3 x, crVec3 d,
                        crVec3 t, crVec3 u) {
    crBends to = {0.0, 0.0, 0.0};
    crQuat back = cr_quat_conj(at.q);
    crVec3 l = cr_quat_rotate(back, d), p = cr_quat_rotate(back, t), q = cr_quat_rotate(back, u);
    int kind = (int)CR_FEATURE_KIND(feature), part = (int)(feature & 0xffffff);
    bool turned = s->kind == CR_SHAPE_CYLINDER || s->kind == CR_SHAPE_CONE;
    if (s->kind == CR_SHAPE_SPHERE || s->kind == CR_SHAPE_CAPSULE) to = (crBends){s->size.x, 0.0, s->size.x};
    if (s->kind == CR_SHAPE_ELLIPSOID) to = cr__ellipsoid_bends(s->size, l, p, q);
    if (kind == CR_FEATURE_EDGE) add_along(&to, stiff, edge_of(s, feature), p, q);
    if (kind == CR_FEATURE_SMOOTH && turned)
        add_turned(&to, part >= 16, stiff, cr_quat_rotate(back, cr_sub(x, at.p)), l, p, q);
    if (kind == CR_FEATURE_FACE) to = (crBends){stiff, 0.0, stiff};
    return to;
}

static crBends inverse(crBends k) {
    double det = k.tt * k.uu - k.tu * k.tu;
    return (crBends){k.uu / det, -k.tu / det, k.tt / det};
}

static void bends_mul(crBends k, double x, double y, double* p, double* q) {
    *p = k.tt * x + k.tu * y;
    *q = k.tu * x + k.uu * y;
}

// Sets the bends of a cell from the features on both sides. Returns false if the normal turns too much, as
// between corners and between nearly parallel edges.
static bool set_bends(const crShape* a, const crShape* b, crPose at, double size,
                      const crContactPoint* deepest, crCell* cell) {
    crVec3 n = deepest->normal;
    crMat3 frame = cr_frame(n);
    crVec3 t = cr_mat3_column(frame, 1), u = cr_mat3_column(frame, 2);
    double stiff = STIFF * size;
    cell->of_a = bends_of(a, a->pose, deepest->feature_a, stiff, deepest->on_a, n, t, u);
    cell->of_b =
        bends_of(b, cr_pose_mul(at, b->pose), deepest->feature_b, stiff, deepest->on_b, cr_neg(n), t, u);
    crBends k = {deepest->gap + cell->of_a.tt + cell->of_b.tt, cell->of_a.tu + cell->of_b.tu,
                 deepest->gap + cell->of_a.uu + cell->of_b.uu};
    // the normal maximizes the separation
    if (!(k.tt > 0.0 && k.tt * k.uu - k.tu * k.tu > 0.0)) return false;
    cell->turn = inverse(k);
    double move =
        cell->turn.tt * cell->turn.tt + 2.0 * cell->turn.tu * cell->turn.tu + cell->turn.uu * cell->turn.uu;
    double p, q, r, s;
    bends_mul(cell->turn, cell->of_b.tt, cell->of_b.tu, &p, &q);
    bends_mul(cell->turn, cell->of_b.tu, cell->of_b.uu, &r, &s);
    double most = MOST_TURN / cell->grain * (MOST_TURN / cell->grain);
    return move * size * size <= most && p * p + q * q + r * r + s * s <= most;
}

// body that the normal turns with: the one whose face it belongs to, or both
static int turns_by(const crShape* a, const crShape* b, crPose at, const crContactPoint* deepest) {
    if (is_of_face(a, deepest->normal)) return BY_A;
    if (is_of_face(b, cr_quat_rotate(cr_quat_conj(at.q), cr_neg(deepest->normal)))) return BY_B;
    if (CR_FEATURE_KIND(deepest->feature_a) == CR_FEATURE_FACE) return BY_A;
    if (CR_FEATURE_KIND(deepest->feature_b) == CR_FEATURE_FACE) return BY_B;
    return BY_BOTH;
}

// Finds the contacts at the middle of a cell. Its count is -1 if they have several normals, or one that turns
// too much.
static void find(const crPairs* pairs, const crNear* pair, double size, crCell* cell) {
    const crShape* a = &pairs->plan->model->shapes[pair->shape_a].shape;
    const crShape* b = &pairs->plan->model->shapes[pair->shape_b].shape;
    crPose at = pose_of(cell->place, cell->grain, size), origin = cr_pose_identity();
    cell->middle = at;
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
    cell->deepest = deepest;
    cell->count = one ? count : -1;
    if (count == 0 || !one) return;
    cell->normal = points[0].normal;
    cell->turns_by = turns_by(a, b, at, &points[deepest]);
    if (cell->turns_by == BY_BOTH && !set_bends(a, b, at, size, &points[deepest], cell)) cell->count = -1;
}

// Normal of a cell with b turned by `turn` and its deepest point moved by d, from the bends of both sides.
// *less: reduction of all gaps by the motion of the support points, m.
static crVec3 turned_normal(const crCell* cell, crQuat turn, crVec3 d, double* less) {
    crMat3 frame = cr_frame(cell->normal);
    crVec3 t = cr_mat3_column(frame, 1), u = cr_mat3_column(frame, 2);
    crVec3 rigid = cr_sub(cr_quat_rotate(turn, cell->normal), cell->normal);
    double x = cr_dot(rigid, t), y = cr_dot(rigid, u), p, q, along, up;
    bends_mul(cell->of_b, x, y, &p, &q);
    bends_mul(cell->turn, p + cr_dot(d, t), q + cr_dot(d, u), &along, &up);
    bends_mul(cell->of_a, along, up, &p, &q);
    *less = 0.5 * (p * along + q * up);
    bends_mul(cell->of_b, along - x, up - y, &p, &q);
    *less += 0.5 * (p * (along - x) + q * (up - y));
    crVec3 n = cr_madd(cr_madd(cell->normal, along, t), up, u);
    return cr_scale(1.0 / cr_norm(n), n);
}

// Writes the contacts of a cell within the margin at the relative pose `at`. Returns their number.
static int advance(const crCell* cell, crPose at, crPose body_a, double margin, crContactPoint* points) {
    if (cell->count == 0) return 0;
    crPose from = cell->middle;
    crQuat turn = cr_quat_mul(at.q, cr_quat_conj(from.q));
    crVec3 n = cell->normal, on_b[CR_MANIFOLD_MAX];
    double less = 0.0;
    for (int i = 0; i < cell->count; i++) {
        const crCellPoint* p = &cell->point[i];
        crVec3 arm = cr_sub(cr_madd(p->on_a, p->gap, cell->normal), from.p);
        on_b[i] = cr_add(at.p, cr_quat_rotate(turn, arm));
    }
    if (cell->turns_by == BY_B) n = cr_quat_rotate(turn, n);
    if (cell->turns_by == BY_BOTH) {
        const crCellPoint* p = &cell->point[cell->deepest];
        n = turned_normal(cell, turn, cr_sub(on_b[cell->deepest], cr_madd(p->on_a, p->gap, n)), &less);
    }
    crVec3 normal = cr_quat_rotate(body_a.q, n);
    int count = 0;
    for (int i = 0; i < cell->count; i++) {
        const crCellPoint* p = &cell->point[i];
        double gap = cr_dot(n, cr_sub(on_b[i], p->on_a)) - less;
        if (gap > margin) continue;
        points[count++] = (crContactPoint){
            .gap = gap,
            .normal = normal,
            .point = cr_pose_point(body_a, cr_scale(0.5, cr_add(p->on_a, on_b[i]))),
            .feature_a = p->feature_a,
            .feature_b = p->feature_b,
        };
    }
    return count;
}

int cr__pairs_cell(crPairs* pairs, const crNear* pair, const crPose* body_a, const crPose* body_b,
                   double grain, double margin, crContactPoint* points) {
    crPose at = relative(body_a, body_b);
    crCell own, *cell = pair->slot >= 0 ? &pairs->cells.slot[pair->slot] : &own;
    int32_t place[7];
    double size = cr__pairs_size(pairs, pair), reach = LEAST * size;
    if (!cell_of(at, grain, size, place)) return -1;
    // contacts of a cell are those that come within the margin at any pose of it
    while (reach < margin + 4.0 * grain * size) {
        reach *= 2.0;
    }
    bool known = pair->slot >= 0 && cell->held && cell->margin == reach && cell->grain == grain;
    if (!known || memcmp(place, cell->place, sizeof place) != 0) {
        memcpy(cell->place, place, sizeof place);
        cell->grain = grain;
        cell->margin = reach;
        find(pairs, pair, size, cell);
    }
    if (cell->count < 0) return -1;
    return advance(cell, at, *body_a, margin, points);
}
