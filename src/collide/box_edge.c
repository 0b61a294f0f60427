// box_edge.c - the contact of two boxes whose edges cross.
//
// Two edges that are not nearly parallel, along a normal that leaves neither box nearly across a face, touch in one point: the
// middle of their nearest points. Fails: false where these lie beyond the ends of an edge.
#include "collide/box.h"

#define PARALLEL 1e-3    // sine between edges up to which the digits are left to GJK
#define CROSSING 0.03    // and from which they meet in one point only (manifold.c: tangent of 0.02)
#define SURELY   0.9899  // CR__FACING less than rounding makes of a cosine

// The edge of a box that supports the normal.
typedef struct Edge {
    const crConvex* box;
    int along;
    crVec3 centre, direction;
    int code;  // of the faces that it lies on, as feature.c has it
} Edge;

static const int AFTER[3] = {1, 2, 0}, CODE_OF[3] = {9, 3, 1};

// out: signs of the normal out of the box, in its own axes
static void set_edge(const crConvex* c, int along, crVec3 out, Edge* e) {
    int p = AFTER[along], q = AFTER[p];
    double x[3];
    x[along] = 0.0;
    x[p] = copysign(cr__axis(c->size, p), cr__axis(out, p));
    x[q] = copysign(cr__axis(c->size, q), cr__axis(out, q));
    *e = (Edge){c, along, cr_add(c->p, cr_mat3_mul(c->R, cr_vec3(x[0], x[1], x[2]))),
                cr_mat3_column(c->R, along),
                CODE_OF[p] * (x[p] > 0.0 ? 2 : 1) + CODE_OF[q] * (x[q] > 0.0 ? 2 : 1)};
}

// C holds the components of the cross product of edges i and j along the axes of both boxes, not normalized.
static void set_crossing(const crConvex* a, const crConvex* b, const crBoxFrame* f, const crBoxBest* best,
                         Edge* of_a, Edge* of_b) {
    int i = best->edge_a, p = AFTER[i], q = AFTER[p], j = best->edge_b, m = AFTER[j], l = AFTER[m];
    double sign = best->back ? -1.0 : 1.0, out_a[3] = {0}, out_b[3] = {0};
    out_a[p] = -sign * f->C[q][j];
    out_a[q] = sign * f->C[p][j];
    out_b[m] = -sign * f->C[i][l];
    out_b[l] = sign * f->C[i][m];
    set_edge(a, i, cr_vec3(out_a[0], out_a[1], out_a[2]), of_a);
    set_edge(b, j, cr_vec3(out_b[0], out_b[1], out_b[2]), of_b);
}

// nearest points of two edges; false: one lies beyond its end
static bool edge_witness(const Edge* a, const Edge* b, crClosest* out) {
    crVec3 u = a->direction, v = b->direction, d = cr_sub(b->centre, a->centre);
    double uv = cr_dot(u, v), du = cr_dot(d, u), dv = cr_dot(d, v), sine2 = 1.0 - uv * uv;
    double s = (du - uv * dv) / sine2, t = (uv * du - dv) / sine2;
    if (!(fabs(s) <= cr__axis(a->box->size, a->along) && fabs(t) <= cr__axis(b->box->size, b->along)))
        return false;
    out->a = cr_madd(a->centre, s, u);
    out->b = cr_madd(b->centre, t, v);
    return true;
}

// feature of a point of the edge
static uint32_t mark_edge(const Edge* e, crVec3 x) {
    double at = cr_dot(e->direction, cr_sub(x, e->box->p));
    int side = cr__box_side(cr__box_rim(cr__axis(e->box->size, e->along), e->box->extent), at);
    return cr__box_id(e->code + CODE_OF[e->along] * side, 2 + (side != 0));
}

static void write_crossing(const Edge* a, const Edge* b, const crClosest* at, crContactPoint* c) {
    crVec3 middle = cr_scale(0.5, cr_add(at->a, at->b));
    *c = (crContactPoint){
        .gap = at->gap,
        .normal = at->n,
        .point = middle,
        .on_a = cr_madd(middle, -0.5 * at->gap, at->n),
        .on_b = cr_madd(middle, 0.5 * at->gap, at->n),
        .child_a = a->box->child,
        .child_b = b->box->child,
        .feature_a = mark_edge(a, at->a),
        .feature_b = mark_edge(b, at->b),
    };
}

bool cr__box_crossing(const crBoxFrame* f, const crBoxBest* best) {
    if (best->face >= 0 || best->edge_a < 0) return false;
    int i = best->edge_a, p = AFTER[i], q = AFTER[p], j = best->edge_b, m = AFTER[j], l = AFTER[m];
    double most = SURELY * best->length;
    return best->length > CROSSING && f->abs[p][j] < most && f->abs[q][j] < most && f->abs[i][m] < most &&
           f->abs[i][l] < most;
}

bool cr__box_cross(const crConvex* a, const crConvex* b, const crBoxFrame* f, const crBoxBest* best,
                   crClosest* out, crContactPoint* contact) {
    Edge of_a, of_b;
    set_crossing(a, b, f, best, &of_a, &of_b);
    if (!edge_witness(&of_a, &of_b, out)) return false;
    write_crossing(&of_a, &of_b, out, contact);
    return true;
}

bool cr__box_edges(const crConvex* a, const crConvex* b, const crBoxBest* best, crClosest* out) {
    Edge of_a, of_b;
    if (best->length < PARALLEL) return false;
    set_edge(a, best->edge_a, cr_mat3_mul_t(a->R, out->n), &of_a);
    set_edge(b, best->edge_b, cr_mat3_mul_t(b->R, cr_neg(out->n)), &of_b);
    return edge_witness(&of_a, &of_b, out);
}
