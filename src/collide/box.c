// box.c - two boxes: the best of their fifteen separating axes in closed form, and contacts from it alone.
//
// In A's frame, with C = R_A^T R_B and t the centres' distance: along A's axis i the boxes are apart by |t_i|
// - a_i - sum_j |C_ij| b_j, along B's likewise, along the product of edges i and j by |t.(e_i x c_j)| - ...
// over its length (Gottschalk, Lin and Manocha 1996). Overlapping, the largest is the gap. Apart it is one
// where the features it names have a common normal line: a corner of the clipped faces that near, or the
// nearest points of two edges inside both. Where the normal leaves one box nearly across a face, the face,
// edge or vertex of the other that comes nearest is clipped in the frame of that box (box_face.c). Two edges
// that cross elsewhere touch in one point (box_edge.c). Fails: cr__box_contacts says -1 where that is not so
// (a vertex nearest to an edge or vertex), and the pair is left to GJK.
#include "collide/box.h"

static const int NEXT_AXIS[3] = {1, 2, 0};

static void set_frame(const crConvex* a, const crConvex* b, crBoxFrame* f) {
    crVec3 d = cr_sub(b->p, a->p);
    for (int i = 0; i < 3; i++) {
        crVec3 u = cr_mat3_column(a->R, i);
        f->a[i] = cr__axis(a->size, i);
        f->b[i] = cr__axis(b->size, i);
        f->t[i] = cr_dot(u, d);
        for (int j = 0; j < 3; j++) {
            f->C[i][j] = u.x * b->R.m[0][j] + u.y * b->R.m[1][j] + u.z * b->R.m[2][j];
            f->D[j][i] = f->C[i][j];
            f->abs[i][j] = fabs(f->C[i][j]);
        }
    }
    for (int j = 0; j < 3; j++)
        f->u[j] = f->t[0] * f->C[0][j] + f->t[1] * f->C[1][j] + f->t[2] * f->C[2][j];
}

// the first of the largest of the gaps across faces
static void try_faces(const crBoxFrame* f, crBoxBest* best) {
    double gap[6];
    int first = 0;
    for (int i = 0; i < 3; i++)
        gap[i] = fabs(f->t[i]) - f->a[i] -
                 (f->abs[i][0] * f->b[0] + f->abs[i][1] * f->b[1] + f->abs[i][2] * f->b[2]);
    for (int j = 0; j < 3; j++)
        gap[3 + j] = fabs(f->u[j]) - f->b[j] -
                     (f->abs[0][j] * f->a[0] + f->abs[1][j] * f->a[1] + f->abs[2][j] * f->a[2]);
    // no branch: which one it is cannot be foreseen
    for (int i = 1; i < 6; i++)
        first += (i - first) & -(int)(gap[i] > gap[first]);
    *best = (crBoxBest){gap[first], 1.0, first, -1, -1, (first < 3 ? f->t[first] : f->u[first - 3]) < 0.0};
}

// An axis across edges i and j, whose separation times the length of the product is `over`.
static void try_edge(const crBoxFrame* f, double bias, int i, int j, double over, crBoxBest* best) {
    int p = NEXT_AXIS[i], q = NEXT_AXIS[p];
    double u = f->C[p][j], v = f->C[q][j];
    if (over <= 0.0 && over <= best->gap + bias) return;
    double length = sqrt(u * u + v * v);
    if (!(length > 1e-10) || over <= (best->gap + bias) * length) return;
    *best = (crBoxBest){over / length, length, -1, i, j, f->t[q] * u - f->t[p] * v < 0.0};
}

static void try_edges(const crBoxFrame* f, double bias, crBoxBest* best) {
    const double *a = f->a, *b = f->b, *t = f->t;
    double over[3][3];
    for (int i = 0; i < 3; i++) {
        int p = NEXT_AXIS[i], q = NEXT_AXIS[p];
        const double *w = f->abs[i], *u = f->C[p], *v = f->C[q];
        const double reach[3] = {b[1] * w[2] + b[2] * w[1], b[2] * w[0] + b[0] * w[2],
                                 b[0] * w[1] + b[1] * w[0]};
        for (int j = 0; j < 3; j++)
            over[i][j] =
                fabs(t[q] * u[j] - t[p] * v[j]) - (a[p] * f->abs[q][j] + a[q] * f->abs[p][j]) - reach[j];
    }
    // divided by a length of at most 1; most need no root to be refused
    double least = best->gap + bias < 0.0 ? best->gap + bias : 0.0;
    for (int k = 0; k < 9; k++) {
        if (over[k / 3][k % 3] > least) try_edge(f, bias, k / 3, k % 3, over[k / 3][k % 3], best);
    }
}

static crVec3 normal_of(const crConvex* a, const crConvex* b, const crBoxBest* best) {
    crVec3 n = {0, 0, 1};
    if (best->face >= 0) {
        n = best->face < 3 ? cr_mat3_column(a->R, best->face) : cr_mat3_column(b->R, best->face - 3);
        return best->back ? cr_neg(n) : n;
    }
    if (best->edge_a < 0) return n;
    n = cr_cross(cr_mat3_column(a->R, best->edge_a), cr_mat3_column(b->R, best->edge_b));
    return cr_scale((best->back ? -1.0 : 1.0) / cr_norm(n), n);
}

static const crBoxBest none = {-(double)INFINITY, 1.0, -1, -1, -1, false};

crBoxAxis cr__box_axis(const crConvex* a, const crConvex* b, double bias) {
    crBoxFrame f;
    crBoxBest best = none;
    set_frame(a, b, &f);
    try_faces(&f, &best);
    try_edges(&f, bias, &best);
    return (crBoxAxis){best.gap, normal_of(a, b, &best), best.face, best.edge_a, best.edge_b};
}

int cr__box_contacts(const crConvex* a, const crConvex* b, double margin,
                     crContactPoint contacts[CR_MANIFOLD_MAX], crClosest* out, crLeftOut* left_out) {
    crBoxFrame f;
    crBoxBest best = none;
    set_frame(a, b, &f);
    try_faces(&f, &best);
    // what a face's axis separates is not asked for more
    if (!(best.gap > margin)) try_edges(&f, CR__EQUAL * cr__pair_scale(a, b), &best);
    *out = (crClosest){.gap = best.gap, .n = normal_of(a, b, &best), .no_witness = best.face >= 0};
    if (best.gap > margin) return 0;
    if (cr__box_crossing(&f, &best)) {
        *left_out = (crLeftOut){.far = false};
        return cr__box_cross(a, b, &f, &best, out, contacts) ? 1 : -1;
    }
    int count = cr__box_face_contacts(a, b, &f, &best, out->n, margin, contacts, left_out);
    if (count >= 0) return count;
    if (best.face < 0 && !cr__box_edges(a, b, &best, out)) return -1;
    return cr__manifold(a, b, out, margin, contacts, left_out);
}
