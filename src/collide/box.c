// box.c - two boxes: the best of their fifteen separating axes in closed form, and contacts from it alone.
//
// In A's frame, with C = R_A^T R_B and t the centres' distance: along A's axis i the boxes are apart by |t_i|
// - a_i - sum_j |C_ij| b_j, along B's likewise, along the product of edges i and j by |t.(e_i x c_j)| - ...
// over its length (Gottschalk, Lin and Manocha 1996). Overlapping, the largest is the gap. Apart it is one
// where the features it names have a common normal line: a corner of the clipped faces that near, or the
// nearest points of two edges inside both. A face that another one nearly faces is clipped in the frame of
// the box that gives the normal: the other's rectangle, as two parameters of -1 to 1, against sides along the
// axes. Fails: cr__box_contacts says -1 where that is not so (a vertex nearest to an edge or vertex), and the
// pair is left to GJK.
#include "collide/manifold.h"

typedef struct Frame {
    double C[3][3], abs[3][3];  // B's axes in A's frame
    double t[3];                // from A's centre to B's, A's frame
    double a[3], b[3];          // half edges
} Frame;

#define TOUCH 1e-9  // corners this near to a side are on it, relative to the smaller box
#define SAME  1e-7  // corners this near to each other are one, likewise

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
            *best = (crBoxAxis){gap, cr_mat3_column(a->R, i), i, -1, -1};
            if (f->t[i] < 0.0) best->n = cr_neg(best->n);
        }
    }
    for (int j = 0; j < 3; j++) {
        double t = f->t[0] * f->C[0][j] + f->t[1] * f->C[1][j] + f->t[2] * f->C[2][j];
        double gap =
            fabs(t) - f->b[j] - (f->abs[0][j] * f->a[0] + f->abs[1][j] * f->a[1] + f->abs[2][j] * f->a[2]);
        if (gap > best->gap) {
            *best = (crBoxAxis){gap, cr_mat3_column(b->R, j), 3 + j, -1, -1};
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
            *best = (crBoxAxis){over / length, cr_scale((t < 0.0 ? -1.0 : 1.0) / cr_norm(n), n), -1, i, j};
        }
}

static crBoxAxis axis_of(const crConvex* a, const crConvex* b, const Frame* f, double bias) {
    crBoxAxis best = {-(double)INFINITY, {0, 0, 1}, -1, -1, -1};
    try_faces(a, b, f, &best);
    try_edges(a, b, f, bias, &best);
    return best;
}

crBoxAxis cr__box_axis(const crConvex* a, const crConvex* b, double bias) {
    Frame f = frame_of(a, b);
    return axis_of(a, b, &f, bias);
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

// A face of the base across the normal, or nearly, and the one of the other box that nearly faces it, in the
// base's frame. What is along base_axis is the height over the base's face, what is across it is seen along
// the normal.
typedef struct Faces {
    const crConvex *base, *other;
    int base_axis, other_axis;     // across the faces
    double base_side, other_side;  // the side of each that is meant, -1 or 1
    double n[3];                   // out of the base
    double c[3], e[3], g[3];       // centre and half edges of the other's face
    double size_base[3], size_other[3];
} Faces;

typedef struct Corner {
    double s, t;  // of c + s e + t g
    double x, y;  // along the base's next two axes
} Corner;

// the axis of largest |x|
static int longest(const double x[3]) {
    double f[3] = {fabs(x[0]), fabs(x[1]), fabs(x[2])};
    return f[0] >= f[1] && f[0] >= f[2] ? 0 : f[1] >= f[2] ? 1 : 2;
}

// along the normal onto the base's face, but for the height
static void cast(const Faces* f, double v[3]) {
    int i = f->base_axis, x = (i + 1) % 3, y = (i + 2) % 3;
    double high = f->base_side * v[i], steps = high / (f->base_side * f->n[i]);
    v[i] = high;
    v[x] -= steps * f->n[x];
    v[y] -= steps * f->n[y];
}

static bool faces_of(const crConvex* a, const crConvex* b, const Frame* f, const crBoxAxis* axis, Faces* o) {
    bool a_is_base = axis->face < 3;
    *o = (Faces){.base = a_is_base ? a : b, .other = a_is_base ? b : a};
    crVec3 n = cr_mat3_mul_t(o->base->R, a_is_base ? axis->n : cr_neg(axis->n));
    double T[3][3], m[3], centre[3];  // the other's axes, and the normal in its frame
    for (int p = 0; p < 3; p++) {
        for (int q = 0; q < 3; q++)
            T[p][q] = a_is_base ? f->C[p][q] : f->C[q][p];
        centre[p] =
            a_is_base ? f->t[p] : -(f->C[0][p] * f->t[0] + f->C[1][p] * f->t[1] + f->C[2][p] * f->t[2]);
        o->size_base[p] = a_is_base ? f->a[p] : f->b[p];
        o->size_other[p] = a_is_base ? f->b[p] : f->a[p];
        o->n[p] = cr__axis(n, p);
        // a face's own normal has no digits across it
        if (axis->face >= 0) o->n[p] = axis->face % 3 == p ? (o->n[p] < 0.0 ? -1.0 : 1.0) : 0.0;
    }
    for (int q = 0; q < 3; q++)
        m[q] = T[0][q] * o->n[0] + T[1][q] * o->n[1] + T[2][q] * o->n[2];
    int i = o->base_axis = longest(o->n), h = o->other_axis = longest(m);
    if (fabs(o->n[i]) < CR__FACING || fabs(m[h]) < CR__FACING) return false;
    o->base_side = o->n[i] < 0.0 ? -1.0 : 1.0;
    o->other_side = m[h] > 0.0 ? -1.0 : 1.0;
    int u = (h + 1) % 3, v = (h + 2) % 3;
    for (int p = 0; p < 3; p++) {
        o->c[p] = centre[p] + o->other_side * o->size_other[h] * T[p][h];
        o->e[p] = o->size_other[u] * T[p][u];
        o->g[p] = o->size_other[v] * T[p][v];
    }
    o->c[i] -= o->base_side * o->size_base[i];
    cast(o, o->c);
    cast(o, o->e);
    cast(o, o->g);
    return true;
}

// what of a polygon has sign x <= limit, or y where across
static int clip(Corner* p, int count, bool across, double sign, double limit, double tol) {
    Corner out[CR_MANIFOLD_MAX];
    double over[CR_MANIFOLD_MAX + 1], most = -(double)INFINITY;
    for (int i = 0; i < count; i++) {
        over[i] = sign * (across ? p[i].y : p[i].x) - limit;
        if (over[i] > most) most = over[i];
    }
    if (most <= tol) return count;
    over[count] = over[0];
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const Corner *at = &p[i], *next = &p[i + 1 < count ? i + 1 : 0];
        if (over[i] <= tol && kept < CR_MANIFOLD_MAX) out[kept++] = *at;
        bool crosses = (over[i] > tol && over[i + 1] < -tol) || (over[i] < -tol && over[i + 1] > tol);
        if (!crosses || kept == CR_MANIFOLD_MAX) continue;
        double k = over[i] / (over[i] - over[i + 1]);
        out[kept++] = (Corner){at->s + k * (next->s - at->s), at->t + k * (next->t - at->t),
                               at->x + k * (next->x - at->x), at->y + k * (next->y - at->y)};
    }
    for (int i = 0; i < kept; i++)
        p[i] = out[i];
    return kept;
}

static int shared_corners(const Faces* f, double scale, Corner p[CR_MANIFOLD_MAX]) {
    const double s[4] = {-1, 1, 1, -1}, t[4] = {-1, -1, 1, 1};
    int x = (f->base_axis + 1) % 3, y = (f->base_axis + 2) % 3, count = 4, kept = 0;
    for (int i = 0; i < 4; i++)
        p[i] = (Corner){s[i], t[i], f->c[x] + s[i] * f->e[x] + t[i] * f->g[x],
                        f->c[y] + s[i] * f->e[y] + t[i] * f->g[y]};
    for (int k = 0; k < 2; k++) {
        int axis = k == 0 ? x : y;
        double reach = fabs(f->e[axis]) + fabs(f->g[axis]), limit = f->size_base[axis], tol = TOUCH * scale;
        if (f->c[axis] + reach > limit + tol) count = clip(p, count, k == 1, 1.0, limit, tol);
        if (reach - f->c[axis] > limit + tol) count = clip(p, count, k == 1, -1.0, limit, tol);
    }
    for (int i = 0; i < count; i++) {
        bool keep = true;
        for (int k = 0; k < kept && keep; k++) {
            double dx = p[k].x - p[i].x, dy = p[k].y - p[i].y;
            keep = dx * dx + dy * dy > SAME * SAME * scale * scale;
        }
        if (keep) p[kept++] = p[i];
    }
    return kept;
}

static uint32_t feature(const crConvex* c, int axis, double along, double next, double last) {
    double x[3];
    x[axis] = along;
    x[(axis + 1) % 3] = next;
    x[(axis + 2) % 3] = last;
    return cr__box_feature(c->size, cr_vec3(x[0], x[1], x[2]), c->extent);
}

// of a corner, along the normal
static double gap_of(const Faces* f, const Corner* p) {
    int i = f->base_axis;
    return (f->c[i] + p->s * f->e[i] + p->t * f->g[i]) / fabs(f->n[i]);
}

static void write_corner(const Faces* f, const Corner* p, double gap, crVec3 n, bool a_is_base,
                         crContactPoint* c) {
    int i = f->base_axis, h = f->other_axis;
    double x[3], su = f->size_other[(h + 1) % 3], sv = f->size_other[(h + 2) % 3];
    x[i] = f->base_side * f->size_base[i];
    x[(i + 1) % 3] = p->x;
    x[(i + 2) % 3] = p->y;
    crVec3 foot = cr_add(f->base->p, cr_mat3_mul(f->base->R, cr_vec3(x[0], x[1], x[2])));
    c->gap = gap;
    c->normal = n;
    c->point = cr_madd(foot, a_is_base ? 0.5 * gap : -0.5 * gap, n);
    c->on_a = cr_madd(c->point, -0.5 * gap, n);
    c->on_b = cr_madd(c->point, 0.5 * gap, n);
    uint32_t base = feature(f->base, i, x[i], p->x, p->y);
    uint32_t other = feature(f->other, h, f->other_side * f->size_other[h], p->s * su, p->t * sv);
    c->feature_a = a_is_base ? base : other;
    c->feature_b = a_is_base ? other : base;
    c->child_a = a_is_base ? f->base->child : f->other->child;
    c->child_b = a_is_base ? f->other->child : f->base->child;
}

// contacts of two faces; -1: not two faces, or none of their corners is as near as the axis says
static int face_contacts(const crConvex* a, const crConvex* b, const Frame* frame, const crBoxAxis* axis,
                         double margin, crContactPoint contacts[CR_MANIFOLD_MAX], crLeftOut* left_out) {
    Faces f;
    if (!faces_of(a, b, frame, axis, &f)) return -1;
    Corner p[CR_MANIFOLD_MAX];
    double gap[CR_MANIFOLD_MAX], least = (double)INFINITY, most = -(double)INFINITY;
    double scale = a->extent < b->extent ? a->extent : b->extent;
    int corners = shared_corners(&f, scale, p), count = 0;
    for (int i = 0; i < corners; i++) {
        gap[i] = gap_of(&f, &p[i]);
        if (gap[i] < least) least = gap[i];
        if (gap[i] > most) most = gap[i];
    }
    if (!(least <= axis->gap + TOUCH * scale)) return -1;
    for (int i = 0; i < corners; i++)
        if (gap[i] <= margin) write_corner(&f, &p[i], gap[i], axis->n, axis->face < 3, &contacts[count++]);
    *left_out = (crLeftOut){.far = most > margin};
    return cr__tell_apart(contacts, count);
}

int cr__box_contacts(const crConvex* a, const crConvex* b, double margin,
                     crContactPoint contacts[CR_MANIFOLD_MAX], crClosest* out, crLeftOut* left_out) {
    double scale = cr__pair_scale(a, b);
    Frame frame = frame_of(a, b);
    crBoxAxis axis = axis_of(a, b, &frame, CR__EQUAL * scale);
    *out = (crClosest){.gap = axis.gap, .n = axis.n, .no_witness = axis.face >= 0};
    if (axis.gap > margin) return 0;
    int count = face_contacts(a, b, &frame, &axis, margin, contacts, left_out);
    if (count >= 0) return count;
    if (axis.face < 0) {
        // nearly parallel edges leave the digits to GJK
        if (cr_norm(cr_cross(cr_mat3_column(a->R, axis.edge_a), cr_mat3_column(b->R, axis.edge_b))) < 1e-3)
            return -1;
        if (!edge_witness(a, b, &axis, out)) return -1;
    }
    return cr__manifold(a, b, out, margin, contacts, left_out);
}
