// box_face.c - contacts of two boxes at a face that their normal leaves nearly across.
//
// The face, edge or vertex of the other box that comes nearest is clipped in the frame of the box with the face: two parameters
// of -1 to 1, against sides along the axes. Features come from these parameters.
// Fails: -1 where the normal leaves neither box so, or no corner is as near as the axis says.
#include "collide/box.h"

#define TOUCH  1e-9   // corners this near to a side are on it, relative to the smaller box
#define SAME   1e-7   // corners this near to each other are one, the deepest of them, likewise
#define DEEPER 1e-12  // gaps that differ by more are different, likewise

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
    double at[3];             // c in the other's own frame, 0 along the axes that s and t run along
    int along[2];             // these axes
    double half[2];           // and half edges of the other along them, 0 where s or t does not run
} Facing;

typedef struct Corner {
    double s, t;   // of c + s e + t g
    double at[2];  // along the base's next two axes
} Corner;

static const int NEXT[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}};

static void sort_axes(const double m[3], int* high, int* low, double f[3]) {
    for (int k = 0; k < 3; k++)
        f[k] = fabs(m[k]);
    // no branches: which one it is cannot be foreseen
    int first = (f[0] >= f[1]) & (f[0] >= f[2]), last = (f[0] <= f[1]) & (f[0] <= f[2]);
    *high = (1 - first) * (2 - (f[1] >= f[2]));
    *low = (1 - last) * (2 - (f[1] <= f[2]));
}

static void set_base(const crConvex* a, const crConvex* b, const crBoxFrame* f, bool a_is_base, int high,
                     Facing* o) {
    o->a_is_base = a_is_base;
    o->base = a_is_base ? a : b;
    o->other = a_is_base ? b : a;
    const double* size = a_is_base ? f->a : f->b;
    for (int k = 0; k < 3; k++) {
        o->axis[k] = NEXT[high][k];
        o->size[k] = size[o->axis[k]];
    }
}

// The base and its face by a normal across two edges; false: the normal leaves neither box nearly across a face.
static bool face_across(const crConvex* a, const crConvex* b, const crBoxFrame* f, crVec3 normal, Facing* o) {
    for (int tries = 0; tries < 2; tries++) {
        crVec3 n = cr_mat3_mul_t(tries == 0 ? a->R : b->R, tries == 0 ? normal : cr_neg(normal));
        double l[3] = {n.x, n.y, n.z}, abs[3];
        int high, low;
        sort_axes(l, &high, &low, abs);
        if (abs[high] < CR__FACING) continue;
        set_base(a, b, f, tries == 0, high, o);
        o->side = l[high] < 0.0 ? -1.0 : 1.0;
        for (int k = 0; k < 3; k++)
            o->n[k] = l[o->axis[k]];
        return true;
    }
    return false;
}

// The same where the normal is that of a face.
static void face_of(const crConvex* a, const crConvex* b, const crBoxFrame* f, const crBoxBest* best,
                    Facing* o) {
    bool of_a = best->face < 3;
    set_base(a, b, f, of_a, of_a ? best->face : best->face - 3, o);
    o->side = o->n[0] = best->back == of_a ? -1.0 : 1.0;
    o->n[1] = o->n[2] = 0.0;
}

// The other's corners: T its axes in the base's, m the normal in its own frame.
static void set_corners(const double* const T[3], const double m[3], Facing* o) {
    const double size[3] = {o->other->size.x, o->other->size.y, o->other->size.z};
    int high, low;
    double f[3];
    sort_axes(m, &high, &low, f);
    o->count = f[high] >= CR__FACING ? 4 : f[low] <= CR__ALONG ? 2 : 1;
    int i = o->along[0] = o->count == 4 ? NEXT[high][1] : low, j = o->along[1] = NEXT[high][2];
    for (int k = 0; k < 3; k++)
        o->at[k] = m[k] > 0.0 ? -size[k] : size[k];
    double s = o->half[0] = o->count >= 2 ? size[i] : 0.0, t = o->half[1] = o->count == 4 ? size[j] : 0.0;
    if (o->count >= 2) o->at[i] = 0.0;
    if (o->count == 4) o->at[j] = 0.0;
    for (int p = 0; p < 3; p++) {
        o->c[p] += T[p][0] * o->at[0] + T[p][1] * o->at[1] + T[p][2] * o->at[2];
        o->e[p] = s * T[p][i];
        o->g[p] = t * T[p][j];
    }
}

// along the normal onto the base's face, but for the height
static void cast(const Facing* f, double v[3]) {
    double steps = v[0] / f->n[0];
    v[0] *= f->side;
    v[1] -= steps * f->n[1];
    v[2] -= steps * f->n[2];
}

static void set_facing(const crBoxFrame* f, bool flush, Facing* o) {
    const double(*turn)[3] = o->a_is_base ? f->C : f->D;
    const double* const T[3] = {turn[o->axis[0]], turn[o->axis[1]], turn[o->axis[2]]};
    double m[3];
    for (int p = 0; p < 3; p++)
        o->c[p] = o->a_is_base ? f->t[o->axis[p]] : -f->u[o->axis[p]];
    for (int q = 0; q < 3; q++)
        m[q] = flush ? T[0][q] * o->n[0] : T[0][q] * o->n[0] + T[1][q] * o->n[1] + T[2][q] * o->n[2];
    set_corners(T, m, o);
    o->c[0] -= o->side * o->size[0];
    if (flush) {
        // the normal of a face has no part across it
        o->c[0] *= o->side;
        o->e[0] *= o->side;
        o->g[0] *= o->side;
        return;
    }
    cast(o, o->c);
    cast(o, o->e);
    cast(o, o->g);
}

// where the way from one corner to the next crosses a side, so far over it at both
static inline Corner between(const Corner* at, const Corner* next, double over, double over_next) {
    double k = over / (over - over_next);
    return (Corner){at->s + k * (next->s - at->s),
                    at->t + k * (next->t - at->t),
                    {at->at[0] + k * (next->at[0] - at->at[0]), at->at[1] + k * (next->at[1] - at->at[1])}};
}

// part of a polygon with sign * at[across] <= limit
static int clip(const Corner* p, int count, int across, double sign, double limit, double tol, Corner* out) {
    double over[CR_MANIFOLD_MAX + 1];
    for (int i = 0; i < count; i++)
        over[i] = sign * p[i].at[across] - limit;
    over[count] = over[0];
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const Corner *at = &p[i], *next = &p[i + 1 < count ? i + 1 : 0];
        // written first, counted where it is kept: nearly every branch would be taken as often as not
        out[kept] = *at;
        kept += (over[i] <= tol) & (kept < CR_MANIFOLD_MAX);
        out[kept] = between(at, next, over[i], over[i + 1]);
        int crosses = ((over[i] > tol) & (over[i + 1] < -tol)) | ((over[i] < -tol) & (over[i + 1] > tol));
        kept += crosses & (kept < CR_MANIFOLD_MAX);
    }
    return kept;
}

// The same of a segment or point, in place.
static int clip_segment(Corner* p, int count, int across, double sign, double limit, double tol) {
    double first = sign * p[0].at[across] - limit, last = sign * p[count - 1].at[across] - limit;
    if (first <= tol && last <= tol) return count;
    if (first > tol && last > tol) return 0;
    if (first > tol) {
        if (last < -tol)
            p[0] = between(&p[0], &p[1], first, last);
        else
            p[0] = p[--count];
    } else {
        if (first < -tol)
            p[1] = between(&p[0], &p[1], first, last);
        else
            count--;
    }
    return count;
}

static bool are_near(const Corner* a, const Corner* b, double scale) {
    double dx = a->at[0] - b->at[0], dy = a->at[1] - b->at[1];
    return !(dx * dx + dy * dy > SAME * SAME * scale * scale);
}

// Corners that are near to each other are one, the deepest of them.
static int unite(Corner* p, double* gap, int count, double scale) {
    bool any = false;
    for (int i = 1; i < count; i++) {
        for (int k = 0; k < i; k++)
            any |= are_near(&p[k], &p[i], scale);
    }
    int kept = any ? 0 : count;
    for (int i = 0; i < count && any; i++) {
        int same = 0;
        while (same < kept && !are_near(&p[same], &p[i], scale))
            same++;
        if (same < kept && !(gap[i] < gap[same] - DEEPER * scale)) continue;
        p[same] = p[i];
        gap[same] = gap[i];
        kept += same == kept;
    }
    return kept;
}

// Sides of the base that corners may be beyond, one after another; from and to are swapped where they were.
static int clip_all_sides(const Facing* f, double tol, int count, Corner** from, Corner** to) {
    const double sign[4] = {1.0, -1.0, 1.0, -1.0};
    int beyond[4], sides = 0;
    for (int k = 0; k < 4; k++) {
        int axis = 1 + k / 2;
        double reach = fabs(f->e[axis]) + fabs(f->g[axis]);
        beyond[sides] = k;
        sides += sign[k] * f->c[axis] + reach > f->size[axis] + tol;
    }
    for (int i = 0; i < sides && count > 0; i++) {
        int k = beyond[i];
        double limit = f->size[1 + k / 2];
        if (f->count < 4) {
            count = clip_segment(*from, count, k / 2, sign[k], limit, tol);
            continue;
        }
        count = clip(*from, count, k / 2, sign[k], limit, tol, *to);
        Corner* swap = *from;
        *from = *to;
        *to = swap;
    }
    return count;
}

// the corners that both boxes have, and their gaps along the normal; in one of the two arrays
static Corner* shared_corners(const Facing* f, double scale, Corner* p, Corner* other, double* gap,
                              int* count) {
    static const double s[4] = {-1, 1, 1, -1}, t[4] = {-1, -1, 1, 1};
    for (int i = 0; i < f->count; i++)
        p[i] =
            (Corner){s[i],
                     t[i],
                     {f->c[1] + s[i] * f->e[1] + t[i] * f->g[1], f->c[2] + s[i] * f->e[2] + t[i] * f->g[2]}};
    int corners = clip_all_sides(f, TOUCH * scale, f->count, &p, &other);
    double cosine = fabs(f->n[0]);
    for (int i = 0; i < corners; i++)
        gap[i] = (f->c[0] + p[i].s * f->e[0] + p[i].t * f->g[0]) / cosine;
    *count = unite(p, gap, corners, scale);
    return p;
}

// features of points of a box that run along up to two axes and stay on faces along the others
typedef struct Marks {
    int code, faces;  // of what they stay on
    int weight[2];
    double rim[2];
} Marks;

static const int WEIGHT[3] = {9, 3, 1};

// at: 0 along the axes in `along` that the points run along
static inline Marks marks_of(const crConvex* c, const double at[3], const int along[2], int runs) {
    Marks m = {.rim = {(double)INFINITY, (double)INFINITY}};
    for (int k = 0; k < runs; k++) {
        m.weight[k] = WEIGHT[along[k]];
        m.rim[k] = cr__box_rim(cr__axis(c->size, along[k]), c->extent);
    }
    for (int k = 0; k < 3; k++)
        m.code += WEIGHT[k] * (2 * (at[k] > 0.0) + (at[k] < 0.0));
    m.faces = 3 - runs;
    return m;
}

static uint32_t mark(const Marks* m, double x, double y) {
    int i = cr__box_side(m->rim[0], x), j = cr__box_side(m->rim[1], y);
    return cr__box_id(m->code + m->weight[0] * i + m->weight[1] * j, m->faces + (i != 0) + (j != 0));
}

// A corner takes its place in the order of ids; where its own is there already it is told apart by a number.
static void insert_corner(uint64_t* id, int* order, int count, uint64_t mine, int corner) {
    int at = count;
    for (; at > 0 && id[at - 1] > mine; at--) {
        id[at] = id[at - 1];
        order[at] = order[at - 1];
    }
    while (at > 0 && id[at - 1] == mine) {
        mine += UINT64_C(1) << 56;
        for (; at < count && id[at + 1] <= mine; at++) {
            id[at] = id[at + 1];
            order[at] = order[at + 1];
        }
    }
    id[at] = mine;
    order[at] = corner;
}

// the corners within the margin in the order of their features; their number
static int order_corners(const Facing* f, const Corner* p, const double* gap, int corners, double margin,
                         uint64_t* id, int* order) {
    double on_base[3] = {0.0, 0.0, 0.0};
    on_base[f->axis[0]] = f->side;
    Marks base = marks_of(f->base, on_base, f->axis + 1, 2),
          other = marks_of(f->other, f->at, f->along, f->count / 2);
    // A's in the upper half
    int shift = f->a_is_base ? 32 : 0, count = 0;
    for (int i = 0; i < corners; i++) {
        if (gap[i] > margin) continue;
        uint64_t of_base = mark(&base, p[i].at[0], p[i].at[1]),
                 of_other = mark(&other, p[i].s * f->half[0], p[i].t * f->half[1]);
        insert_corner(id, order, count++, of_base << shift | of_other << (32 - shift), i);
    }
    return count;
}

static void write_corners(const Facing* f, const Corner* p, const double* gap, const uint64_t* id,
                          const int* order, int count, crVec3 n, crContactPoint* contacts) {
    const crMat3* R = &f->base->R;
    crVec3 x = cr_mat3_column(*R, f->axis[1]), y = cr_mat3_column(*R, f->axis[2]);
    crVec3 middle = cr_madd(f->base->p, f->side * f->size[0], cr_mat3_column(*R, f->axis[0]));
    double sign = f->a_is_base ? 1.0 : -1.0;
    for (int i = 0; i < count; i++) {
        const Corner* corner = &p[order[i]];
        crContactPoint* c = &contacts[i];
        crVec3 foot = cr_madd(cr_madd(middle, corner->at[0], x), corner->at[1], y);
        crVec3 half = cr_scale(0.5 * gap[order[i]], n);
        c->gap = gap[order[i]];
        c->normal = n;
        c->point = cr_madd(foot, sign, half);
        c->on_a = cr_sub(c->point, half);
        c->on_b = cr_add(c->point, half);
        c->feature_a = (uint32_t)(id[i] >> 32);
        c->feature_b = (uint32_t)id[i];
        c->child_a = f->a_is_base ? f->base->child : f->other->child;
        c->child_b = f->a_is_base ? f->other->child : f->base->child;
    }
}

int cr__box_face_contacts(const crConvex* a, const crConvex* b, const crBoxFrame* frame,
                          const crBoxBest* best, crVec3 n, double margin,
                          crContactPoint contacts[CR_MANIFOLD_MAX], crLeftOut* left_out) {
    Facing f;
    bool flush = best->face >= 0;
    if (flush)
        face_of(a, b, frame, best, &f);
    else if (!face_across(a, b, frame, n, &f))
        return -1;
    set_facing(frame, flush, &f);
    Corner room[2][CR_MANIFOLD_MAX + 1];
    double gap[CR_MANIFOLD_MAX], least = (double)INFINITY, most = -(double)INFINITY;
    double scale = a->extent < b->extent ? a->extent : b->extent;
    int corners, order[CR_MANIFOLD_MAX];
    const Corner* p = shared_corners(&f, scale, room[0], room[1], gap, &corners);
    for (int i = 0; i < corners; i++) {
        least = gap[i] < least ? gap[i] : least;
        most = gap[i] > most ? gap[i] : most;
    }
    if (!(least <= best->gap + TOUCH * scale)) return -1;
    uint64_t id[CR_MANIFOLD_MAX];
    int count = order_corners(&f, p, gap, corners, margin, id, order);
    write_corners(&f, p, gap, id, order, count, n, contacts);
    *left_out = (crLeftOut){.far = most > margin};
    return count;
}
