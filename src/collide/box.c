// box.c - two boxes: the best of their fifteen separating axes in closed form, and contacts from it alone.
//
// In A's frame, with C = R_A^T R_B and t the centres' distance: along A's axis i the boxes are apart by
// |t_i| - a_i - sum_j |C_ij| b_j, along B's likewise, along the product of edges i and j by
// |t.(e_i x c_j)| - ... over its length (Gottschalk, Lin and Manocha 1996). Overlapping, the largest is the
// gap. Apart it is one where the features it names have a common normal line: a corner of the clipped faces
// that near, or the nearest points of two edges inside both. Fails: cr__box_contacts says -1 where that is
// not so (a vertex nearest to an edge or vertex), and the pair is left to GJK.
#include "collide/manifold.h"

typedef struct Frame {
    double C[3][3], abs[3][3];  // B's axes in A's frame
    double t[3];                // from A's centre to B's, A's frame
    double a[3], b[3];          // half edges
} Frame;

static Frame frame_of(const crConvex* a, const crConvex* b) {
    Frame f = {.a = {a->size.x, a->size.y, a->size.z}, .b = {b->size.x, b->size.y, b->size.z}};
    crVec3 d = cr_sub(b->p, a->p);
    for (int i = 0; i < 3; i++) {
        crVec3 u = cr_mat3_column(a->R, i);
        f.t[i] = cr_dot(u, d);
        for (int j = 0; j < 3; j++) {
            f.C[i][j] = u.x * b->R.m[0][j] + u.y * b->R.m[1][j] + u.z * b->R.m[2][j];
            f.abs[i][j] = fabs(f.C[i][j]);
        }
    }
    return f;
}

static void try_faces(const crConvex* a, const crConvex* b, const Frame* f, crBoxAxis* best) {
    for (int i = 0; i < 3; i++) {
        double gap = fabs(f->t[i]) - f->a[i] -
                     (f->abs[i][0] * f->b[0] + f->abs[i][1] * f->b[1] + f->abs[i][2] * f->b[2]);
        if (gap > best->gap) {
            *best = (crBoxAxis){gap, cr_mat3_column(a->R, i), -1, -1};
            if (f->t[i] < 0.0) best->n = cr_neg(best->n);
        }
    }
    for (int j = 0; j < 3; j++) {
        double t = f->t[0] * f->C[0][j] + f->t[1] * f->C[1][j] + f->t[2] * f->C[2][j];
        double gap =
            fabs(t) - f->b[j] - (f->abs[0][j] * f->a[0] + f->abs[1][j] * f->a[1] + f->abs[2][j] * f->a[2]);
        if (gap > best->gap) {
            *best = (crBoxAxis){gap, cr_mat3_column(b->R, j), -1, -1};
            if (t < 0.0) best->n = cr_neg(best->n);
        }
    }
}

static void try_edges(const crConvex* a, const crConvex* b, const Frame* f, double bias, crBoxAxis* best) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int p = (i + 1) % 3, q = (i + 2) % 3, r = (j + 1) % 3, s = (j + 2) % 3;
            double t = f->t[q] * f->C[p][j] - f->t[p] * f->C[q][j];
            double over = fabs(t) - (f->a[p] * f->abs[q][j] + f->a[q] * f->abs[p][j]) -
                          (f->b[r] * f->abs[i][s] + f->b[s] * f->abs[i][r]);
            // divided by a length of at most 1; most need no root to be refused
            if (over <= 0.0 && over <= best->gap + bias) continue;
            double length = sqrt(f->C[p][j] * f->C[p][j] + f->C[q][j] * f->C[q][j]);
            if (!(length > 1e-10) || over <= (best->gap + bias) * length) continue;
            crVec3 n = cr_cross(cr_mat3_column(a->R, i), cr_mat3_column(b->R, j));
            *best = (crBoxAxis){over / length, cr_scale((t < 0.0 ? -1.0 : 1.0) / cr_norm(n), n), i, j};
        }
}

crBoxAxis cr__box_axis(const crConvex* a, const crConvex* b, double bias) {
    Frame f = frame_of(a, b);
    crBoxAxis best = {-(double)INFINITY, {0, 0, 1}, -1, -1};
    try_faces(a, b, &f, &best);
    try_edges(a, b, &f, bias, &best);
    return best;
}

// centre of the edge along axis i that is farthest in direction d
static crVec3 edge_centre(const crConvex* c, int i, crVec3 d) {
    crVec3 x = cr_mat3_mul_t(c->R, d), s = c->size;
    x = cr_vec3(i == 0 ? 0.0 : copysign(s.x, x.x), i == 1 ? 0.0 : copysign(s.y, x.y),
                i == 2 ? 0.0 : copysign(s.z, x.z));
    return cr_add(c->p, cr_mat3_mul(c->R, x));
}

// nearest points of the two edges; false: one lies beyond its end
static bool edge_witness(const crConvex* a, const crConvex* b, const crBoxAxis* axis, crClosest* out) {
    crVec3 u = cr_mat3_column(a->R, axis->edge_a), v = cr_mat3_column(b->R, axis->edge_b);
    crVec3 x = edge_centre(a, axis->edge_a, axis->n), y = edge_centre(b, axis->edge_b, cr_neg(axis->n));
    crVec3 d = cr_sub(y, x);
    double uv = cr_dot(u, v), du = cr_dot(d, u), dv = cr_dot(d, v), sine2 = 1.0 - uv * uv;
    double s = (du - uv * dv) / sine2, t = (uv * du - dv) / sine2;
    if (!(fabs(s) <= cr__axis(a->size, axis->edge_a) && fabs(t) <= cr__axis(b->size, axis->edge_b)))
        return false;
    out->a = cr_madd(x, s, u);
    out->b = cr_madd(y, t, v);
    return true;
}

int cr__box_contacts(const crConvex* a, const crConvex* b, double margin,
                     crContactPoint contacts[CR_MANIFOLD_MAX], crClosest* out, crLeftOut* left_out) {
    double scale = cr__pair_scale(a, b);
    crBoxAxis axis = cr__box_axis(a, b, CR__EQUAL * scale);
    *out = (crClosest){.gap = axis.gap, .n = axis.n, .no_witness = axis.edge_a < 0};
    if (axis.gap > margin) return 0;
    if (axis.edge_a >= 0) {
        // nearly parallel edges leave the digits to GJK
        if (cr_norm(cr_cross(cr_mat3_column(a->R, axis.edge_a), cr_mat3_column(b->R, axis.edge_b))) < 1e-3)
            return -1;
        if (!edge_witness(a, b, &axis, out)) return -1;
    }
    return cr__manifold(a, b, out, margin, contacts, left_out);
}
