// box.c - two boxes: the best of their fifteen separating axes in closed form, and contacts from it alone.
//
// In A's frame, with C = R_A^T R_B and t the centres' distance: along A's axis i the boxes are apart by |t_i|
// - a_i - sum_j |C_ij| b_j, along B's likewise, along the product of edges i and j by |t.(e_i x c_j)| - ...
// over its length (Gottschalk, Lin and Manocha 1996). Overlapping, the largest is the gap. Apart it is one
// where the features it names have a common normal line: a corner of the clipped faces that near, or the
// nearest points of two edges inside both. Where the normal leaves one box nearly across a face, the face,
// edge or vertex of the other that comes nearest is clipped in the frame of that box: two parameters of -1 to
// 1, against sides along the axes. Fails: cr__box_contacts says -1 where that is not so (a vertex nearest to
// an edge or vertex), and the pair is left to GJK.
#include "collide/manifold.h"

typedef struct Frame {
    double C[3][3], abs[3][3];  // B's axes in A's frame
    double t[3];                // from A's centre to B's, A's frame
    double a[3], b[3];          // half edges
} Frame;

#define TOUCH  1e-9   // corners this near to a side are on it, relative to the smaller box
#define SAME   1e-7   // corners this near to each other are one, the deepest of them, likewise
#define DEEPER 1e-12  // gaps that differ by more are different, likewise

static void set_frame(const crConvex* a, const crConvex* b, Frame* f) {
    crVec3 d = cr_sub(b->p, a->p);
    for (int i = 0; i < 3; i++) {
        crVec3 u = cr_mat3_column(a->R, i);
        f->a[i] = cr__axis(a->size, i);
        f->b[i] = cr__axis(b->size, i);
        f->t[i] = cr_dot(u, d);
        for (int j = 0; j < 3; j++) {
            f->C[i][j] = u.x * b->R.m[0][j] + u.y * b->R.m[1][j] + u.z * b->R.m[2][j];
            f->abs[i][j] = fabs(f->C[i][j]);
        }
    }
}

// the best so far, as crBoxAxis has it; back: against the axis or product of edges
typedef struct Best {
    double gap;
    int face, edge_a, edge_b;
    bool back;
} Best;

static void try_faces(const Frame* f, Best* best) {
    for (int i = 0; i < 3; i++) {
        double gap = fabs(f->t[i]) - f->a[i] -
                     (f->abs[i][0] * f->b[0] + f->abs[i][1] * f->b[1] + f->abs[i][2] * f->b[2]);
        if (gap > best->gap) *best = (Best){gap, i, -1, -1, f->t[i] < 0.0};
    }
    for (int j = 0; j < 3; j++) {
        double t = f->t[0] * f->C[0][j] + f->t[1] * f->C[1][j] + f->t[2] * f->C[2][j];
        double gap =
            fabs(t) - f->b[j] - (f->abs[0][j] * f->a[0] + f->abs[1][j] * f->a[1] + f->abs[2][j] * f->a[2]);
        if (gap > best->gap) *best = (Best){gap, 3 + j, -1, -1, t < 0.0};
    }
}

static void try_edges(const Frame* f, double bias, Best* best) {
    const double* b = f->b;
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        const double *w = f->abs[i], *u = f->C[p], *v = f->C[q];
        const double reach[3] = {b[1] * w[2] + b[2] * w[1], b[2] * w[0] + b[0] * w[2],
                                 b[0] * w[1] + b[1] * w[0]};
        for (int j = 0; j < 3; j++) {
            double t = f->t[q] * u[j] - f->t[p] * v[j];
            double over = fabs(t) - (f->a[p] * f->abs[q][j] + f->a[q] * f->abs[p][j]) - reach[j];
            // divided by a length of at most 1; most need no root to be refused
            if (over <= 0.0 && over <= best->gap + bias) continue;
            double length = sqrt(u[j] * u[j] + v[j] * v[j]);
            if (!(length > 1e-10) || over <= (best->gap + bias) * length) continue;
            *best = (Best){over / length, -1, i, j, t < 0.0};
        }
    }
}

static crBoxAxis axis_of(const crConvex* a, const crConvex* b, const Best* best) {
    crBoxAxis axis = {best->gap, {0, 0, 1}, best->face, best->edge_a, best->edge_b};
    if (best->face >= 0) {
        axis.n = best->face < 3 ? cr_mat3_column(a->R, best->face) : cr_mat3_column(b->R, best->face - 3);
        if (best->back) axis.n = cr_neg(axis.n);
    } else if (best->edge_a >= 0) {
        crVec3 n = cr_cross(cr_mat3_column(a->R, best->edge_a), cr_mat3_column(b->R, best->edge_b));
        axis.n = cr_scale((best->back ? -1.0 : 1.0) / cr_norm(n), n);
    }
    return axis;
}

crBoxAxis cr__box_axis(const crConvex* a, const crConvex* b, double bias) {
    Frame f;
    Best best = {-(double)INFINITY, -1, -1, -1, false};
    set_frame(a, b, &f);
    try_faces(&f, &best);
    try_edges(&f, bias, &best);
    return axis_of(a, b, &best);
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

// A face of the base that the normal leaves nearly across, and the corners of the other box that come nearest
// to it. In the base's axes, that across the face first: along it the height over the face, across it what is
// seen along the normal.
typedef struct Facing {
    const crConvex *base, *other;
    bool a_is_base;
    int axis[3];              // of the base: across its face, and the next two
    double side;              // which of its two faces, -1 or 1
    double size[3];           // half edges of the base
    double n[3];              // out of the base
    int count;                // corners: 4 of a face, 2 of an edge, 1
    double c[3], e[3], g[3];  // at c + s e + t g, s and t -1 or 1
    double at[3];             // c in the other's own frame
    int along[2];             // and its axes that s and t run along
} Facing;

typedef struct Corner {
    double s, t;  // of c + s e + t g
    double x, y;  // along the base's next two axes
} Corner;

static void sort_axes(const double m[3], int* high, int* low, double f[3]) {
    for (int k = 0; k < 3; k++)
        f[k] = fabs(m[k]);
    *high = f[0] >= f[1] && f[0] >= f[2] ? 0 : f[1] >= f[2] ? 1 : 2;
    *low = f[0] <= f[1] && f[0] <= f[2] ? 0 : f[1] <= f[2] ? 1 : 2;
}

// the other's corners: T its axes and c its centre in the base's, m the normal in its own frame
static void set_corners(double T[3][3], const double m[3], Facing* o) {
    const double size[3] = {o->other->size.x, o->other->size.y, o->other->size.z};
    int high, low;
    double f[3];
    sort_axes(m, &high, &low, f);
    o->count = f[high] >= CR__FACING ? 4 : f[low] <= CR__ALONG ? 2 : 1;
    o->along[0] = o->count == 4 ? (high + 1) % 3 : low;
    o->along[1] = (high + 2) % 3;
    for (int k = 0; k < 3; k++)
        o->at[k] = m[k] > 0.0 ? -size[k] : size[k];
    if (o->count >= 2) o->at[o->along[0]] = 0.0;
    if (o->count == 4) o->at[o->along[1]] = 0.0;
    double s = o->count >= 2 ? size[o->along[0]] : 0.0, t = o->count == 4 ? size[o->along[1]] : 0.0;
    for (int p = 0; p < 3; p++) {
        o->c[p] += T[p][0] * o->at[0] + T[p][1] * o->at[1] + T[p][2] * o->at[2];
        o->e[p] = s * T[p][o->along[0]];
        o->g[p] = t * T[p][o->along[1]];
    }
}

// along the normal onto the base's face, but for the height
static void cast(const Facing* f, double v[3]) {
    double steps = v[0] / f->n[0];
    v[0] *= f->side;
    v[1] -= steps * f->n[1];
    v[2] -= steps * f->n[2];
}

// which box is the base and by which axis; false: the normal leaves neither nearly across a face
static bool choose_base(const crConvex* a, const crConvex* b, const crBoxAxis* axis, Facing* o) {
    o->a_is_base = axis->face < 3;
    for (int tries = 0; tries < 2; tries++, o->a_is_base = false) {
        o->base = o->a_is_base ? a : b;
        o->other = o->a_is_base ? b : a;
        crVec3 n = cr_mat3_mul_t(o->base->R, o->a_is_base ? axis->n : cr_neg(axis->n));
        double l[3] = {n.x, n.y, n.z}, f[3];
        int high, low;
        sort_axes(l, &high, &low, f);
        if (axis->face < 0 && f[high] < CR__FACING) continue;
        if (axis->face >= 0) high = axis->face % 3;
        o->side = l[high] < 0.0 ? -1.0 : 1.0;
        for (int k = 0; k < 3; k++) {
            o->axis[k] = (high + k) % 3;
            o->size[k] = cr__axis(o->base->size, o->axis[k]);
            // a face's own normal has no digits across it
            o->n[k] = axis->face < 0 ? l[o->axis[k]] : k == 0 ? o->side : 0.0;
        }
        return true;
    }
    return false;
}

static bool set_facing(const crConvex* a, const crConvex* b, const Frame* f, const crBoxAxis* axis,
                       Facing* o) {
    if (!choose_base(a, b, axis, o)) return false;
    double T[3][3], m[3];
    for (int p = 0; p < 3; p++) {
        int k = o->axis[p];
        for (int q = 0; q < 3; q++)
            T[p][q] = o->a_is_base ? f->C[k][q] : f->C[q][k];
        o->c[p] =
            o->a_is_base ? f->t[k] : -(f->C[0][k] * f->t[0] + f->C[1][k] * f->t[1] + f->C[2][k] * f->t[2]);
    }
    for (int q = 0; q < 3; q++)
        m[q] = T[0][q] * o->n[0] + T[1][q] * o->n[1] + T[2][q] * o->n[2];
    set_corners(T, m, o);
    o->c[0] -= o->side * o->size[0];
    cast(o, o->c);
    cast(o, o->e);
    cast(o, o->g);
    return true;
}

// what of a polygon, segment or point has sign x <= limit, or y where across
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
        // a segment is a polygon of two corners: its only edge is walked once
        if (!crosses || (count == 2 && i == 1) || kept == CR_MANIFOLD_MAX) continue;
        double k = over[i] / (over[i] - over[i + 1]);
        out[kept++] = (Corner){at->s + k * (next->s - at->s), at->t + k * (next->t - at->t),
                               at->x + k * (next->x - at->x), at->y + k * (next->y - at->y)};
    }
    for (int i = 0; i < kept; i++)
        p[i] = out[i];
    return kept;
}

// of a corner, along the normal
static double gap_of(const Facing* f, const Corner* p) {
    return (f->c[0] + p->s * f->e[0] + p->t * f->g[0]) / fabs(f->n[0]);
}

static int shared_corners(const Facing* f, double scale, Corner p[CR_MANIFOLD_MAX]) {
    const double s[4] = {-1, 1, 1, -1}, t[4] = {-1, -1, 1, 1};
    int count = f->count, kept = 0;
    for (int i = 0; i < count; i++)
        p[i] = (Corner){s[i], t[i], f->c[1] + s[i] * f->e[1] + t[i] * f->g[1],
                        f->c[2] + s[i] * f->e[2] + t[i] * f->g[2]};
    for (int k = 1; k < 3; k++) {
        double reach = fabs(f->e[k]) + fabs(f->g[k]), limit = f->size[k], tol = TOUCH * scale;
        if (f->c[k] + reach > limit + tol) count = clip(p, count, k == 2, 1.0, limit, tol);
        if (reach - f->c[k] > limit + tol) count = clip(p, count, k == 2, -1.0, limit, tol);
    }
    for (int i = 0; i < count; i++) {
        bool keep = true;
        for (int k = 0; k < kept && keep; k++) {
            double dx = p[k].x - p[i].x, dy = p[k].y - p[i].y;
            keep = dx * dx + dy * dy > SAME * SAME * scale * scale;
            if (!keep && gap_of(f, &p[i]) < gap_of(f, &p[k]) - DEEPER * scale) p[k] = p[i];
        }
        if (keep) p[kept++] = p[i];
    }
    return kept;
}

// features of points of a box that run along up to two axes and stay on faces along the others
typedef struct Marks {
    int code, faces;  // of what they stay on
    int weight[2];
    double rim[2], scale[2];
} Marks;

static const int WEIGHT[3] = {9, 3, 1};

// runs: how many of the axes in `along` they run along, scale: from parameters to lengths
static Marks marks_of(const crConvex* c, const double at[3], int runs, const int along[2],
                      const double scale[2]) {
    Marks m = {.rim = {(double)INFINITY, (double)INFINITY}};
    for (int k = 0; k < runs; k++) {
        m.weight[k] = WEIGHT[along[k]];
        m.rim[k] = cr__box_rim(cr__axis(c->size, along[k]), c->extent);
        m.scale[k] = scale[k];
    }
    for (int k = 0; k < 3; k++) {
        if ((runs > 0 && k == along[0]) || (runs > 1 && k == along[1])) continue;
        m.code += WEIGHT[k] * (at[k] > 0.0 ? 2 : 1);
        m.faces++;
    }
    return m;
}

static uint64_t mark(const Marks* m, double x, double y) {
    int i = cr__box_side(m->rim[0], x * m->scale[0]), j = cr__box_side(m->rim[1], y * m->scale[1]);
    return cr__box_id(m->code + m->weight[0] * i + m->weight[1] * j, m->faces + (i != 0) + (j != 0));
}

static void write_corner(const Facing* f, const Corner* p, double gap, crVec3 n, uint64_t id,
                         crContactPoint* c) {
    const crMat3* R = &f->base->R;
    crVec3 foot = cr_madd(f->base->p, f->side * f->size[0], cr_mat3_column(*R, f->axis[0]));
    foot = cr_madd(cr_madd(foot, p->x, cr_mat3_column(*R, f->axis[1])), p->y, cr_mat3_column(*R, f->axis[2]));
    crVec3 half = cr_scale(0.5 * gap, n);
    c->gap = gap;
    c->normal = n;
    c->point = f->a_is_base ? cr_add(foot, half) : cr_sub(foot, half);
    c->on_a = cr_sub(c->point, half);
    c->on_b = cr_add(c->point, half);
    c->feature_a = (uint32_t)(id >> 32);
    c->feature_b = (uint32_t)id;
    c->child_a = f->a_is_base ? f->base->child : f->other->child;
    c->child_b = f->a_is_base ? f->other->child : f->base->child;
}

// places of the corners within the margin in the order of their features, which are told apart; their number
static int order_corners(const Facing* f, const Corner* p, const double* gap, int corners, double margin,
                         uint64_t* id, int* order) {
    const double one[2] = {1.0, 1.0}, sides[3] = {f->side, f->side, f->side};
    const double size[2] = {cr__axis(f->other->size, f->along[0]), cr__axis(f->other->size, f->along[1])};
    Marks base = marks_of(f->base, sides, 2, f->axis + 1, one);
    Marks other = marks_of(f->other, f->at, f->count / 2, f->along, size);
    int count = 0;
    for (int i = 0; i < corners; i++) {
        if (gap[i] > margin) continue;
        uint64_t of_base = mark(&base, p[i].x, p[i].y), of_other = mark(&other, p[i].s, p[i].t);
        // A's in the upper half
        id[i] = f->a_is_base ? of_base << 32 | of_other : of_other << 32 | of_base;
        for (int k = 0; k < count; k++)
            if (id[order[k]] == id[i]) {
                id[i] += UINT64_C(1) << 56;
                k = -1;
            }
        int at = count++;
        for (; at > 0 && id[order[at - 1]] > id[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

// contacts at a face of one box; -1: the normal leaves none, or no corner is as near as the axis says
static int face_contacts(const crConvex* a, const crConvex* b, const Frame* frame, const crBoxAxis* axis,
                         double margin, crContactPoint contacts[CR_MANIFOLD_MAX], crLeftOut* left_out) {
    Facing f;
    if (!set_facing(a, b, frame, axis, &f)) return -1;
    Corner p[CR_MANIFOLD_MAX];
    double gap[CR_MANIFOLD_MAX], least = (double)INFINITY, most = -(double)INFINITY;
    double scale = a->extent < b->extent ? a->extent : b->extent;
    int corners = shared_corners(&f, scale, p), order[CR_MANIFOLD_MAX];
    for (int i = 0; i < corners; i++) {
        gap[i] = gap_of(&f, &p[i]);
        if (gap[i] < least) least = gap[i];
        if (gap[i] > most) most = gap[i];
    }
    if (!(least <= axis->gap + TOUCH * scale)) return -1;
    uint64_t id[CR_MANIFOLD_MAX];
    int count = order_corners(&f, p, gap, corners, margin, id, order);
    for (int i = 0; i < count; i++)
        write_corner(&f, &p[order[i]], gap[order[i]], axis->n, id[order[i]], &contacts[i]);
    *left_out = (crLeftOut){.far = most > margin};
    return count;
}

int cr__box_contacts(const crConvex* a, const crConvex* b, double margin,
                     crContactPoint contacts[CR_MANIFOLD_MAX], crClosest* out, crLeftOut* left_out) {
    Frame frame;
    Best best = {-(double)INFINITY, -1, -1, -1, false};
    set_frame(a, b, &frame);
    try_faces(&frame, &best);
    // what a face's axis separates is not asked for more
    if (!(best.gap > margin)) try_edges(&frame, CR__EQUAL * cr__pair_scale(a, b), &best);
    crBoxAxis axis = axis_of(a, b, &best);
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
