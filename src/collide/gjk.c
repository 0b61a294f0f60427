// gjk.c - distance of two convex cores by their support functions (Gilbert, Johnson and Keerthi 1988).
//
// D = B - A. A simplex of support points of D moves towards the origin; v is its point nearest to the origin.
// |v| bounds the distance from above, v.w/|v| with w the support point of D along -v from below; the
// difference is the error reported. Of each simplex all sub-simplices that hold the newest point are tried: 8
// at most, each by determinants, and the nearest feasible one is kept; slower than Johnson's recursion but
// without its cases. D may be shrunk about the difference of the centres, so that pairs which overlap a
// little are apart; v.w/|v| of D as it is then still bounds the true distance from below. Ends: bounds meet
// within the tolerance, that bound exceeds what is asked for, v stops shrinking, a tetrahedron holds the
// origin (overlap), or 100 rounds.
#include "collide/support.h"

#define ROUNDS 100

// The newest point stands behind the others, not yet counted.
typedef struct Simplex {
    int count;
    crVec3 w[4], a[4], b[4];
    double weight[4];
} Simplex;

// nearest point of a sub-simplex to the origin, if it is interior to it
static bool nearest2(const crVec3* a, const crVec3* b, double* k, crVec3* v) {
    crVec3 e = cr_sub(*b, *a);
    double ee = cr_dot(e, e);
    k[1] = -cr_dot(*a, e);
    k[0] = cr_dot(*b, e);
    if (!(k[0] > 0.0 && k[1] > 0.0 && ee > 0.0)) return false;
    k[0] /= ee;
    k[1] /= ee;
    // from the nearer end, so that a long edge does not cost digits
    *v = k[1] < k[0] ? cr_madd(*a, k[1], e) : cr_madd(*b, -k[0], e);
    return true;
}

static bool nearest3(const crVec3* a, const crVec3* b, const crVec3* c, double* k, crVec3* v) {
    crVec3 n = cr_cross(cr_sub(*b, *a), cr_sub(*c, *a));
    k[0] = cr_dot(n, cr_cross(*b, *c));
    if (!(k[0] > 0.0)) return false;
    k[1] = cr_dot(n, cr_cross(*c, *a));
    if (!(k[1] > 0.0)) return false;
    k[2] = cr_dot(n, cr_cross(*a, *b));
    double nn = cr_dot(n, n);
    if (!(k[2] > 0.0 && nn > 0.0)) return false;
    for (int i = 0; i < 3; i++)
        k[i] /= nn;
    *v = cr_scale(cr_dot(n, *a) / nn, n);
    return true;
}

// bit i of *away: the origin lies surely on the inner side of the triangle without point i
static bool nearest4(const crVec3* w, double* k, int* away) {
    crVec3 cd = cr_cross(w[2], w[3]);
    k[0] = cr_dot(w[1], cd);
    k[1] = -cr_dot(w[0], cd);
    k[2] = cr_dot(w[0], cr_cross(w[1], w[3]));
    k[3] = -cr_dot(w[0], cr_cross(w[1], w[2]));
    double all = k[0] + k[1] + k[2] + k[3], sure = 0x1p-20 * fabs(all), sign = all < 0.0 ? -1.0 : 1.0;
    *away = 0;
    for (int i = 0; i < 3; i++)
        if (sign * k[i] > sure) *away |= 1 << i;
    if (!(sign * k[0] > 0.0 && sign * k[1] > 0.0 && sign * k[2] > 0.0 && sign * k[3] > 0.0)) return false;
    for (int i = 0; i < 4; i++)
        k[i] /= all;
    return true;
}

// The sub-simplex whose nearest point is nearest to the origin so far: points of mask and the newest one.
typedef struct Nearest {
    int mask;
    double square;  // of the distance of v
    double weight[4];
    crVec3 v;
} Nearest;

// Tries a sub-simplex of `count` points and the newest one. Returns true if no point that it leaves out is nearer along its
// nearest point. mask and count are constants where it is called: no loop is left.
CR_HERE bool try_simplex(const Simplex* s, int count, int mask, Nearest* best) {
    const crVec3 *w = s->w, *last = &w[count];
    double k[3] = {1.0, 0.0, 0.0};
    crVec3 v = *last;
    bool edge = mask == 1 || mask == 2 || mask == 4;
    if (edge && !nearest2(&w[mask >> 1], last, k, &v)) return false;
    if (mask != 0 && !edge && !nearest3(&w[mask == 6 ? 1 : 0], &w[mask == 3 ? 1 : 2], last, k, &v))
        return false;
    double square = cr_dot(v, v);
    if (square < best->square) *best = (Nearest){mask, square, {k[0], k[1], k[2]}, v};
    for (int i = 0; i < count; i++)
        if (!(mask >> i & 1) && cr_dot(v, w[i]) < square) return false;
    return true;
}

// The best sub-simplex of those that hold the newest point; the largest are tried first, since mostly one of them stands.
static void find_nearest(const Simplex* s, Nearest* best) {
    int away = 0;
    *best = (Nearest){.square = (double)INFINITY};
    switch (s->count) {
    case 1:
        if (!try_simplex(s, 1, 1, best)) try_simplex(s, 1, 0, best);
        return;
    case 2:
        if (try_simplex(s, 2, 3, best) || try_simplex(s, 2, 1, best) || try_simplex(s, 2, 2, best)) return;
        try_simplex(s, 2, 0, best);
        return;
    default:
        if (nearest4(s->w, best->weight, &away)) {
            best->mask = 7;
            return;
        }
        // the point that a triangle leaves out lies on the origin's side of it
        if (!(away & 4) && try_simplex(s, 3, 3, best)) return;
        if (!(away & 2) && try_simplex(s, 3, 5, best)) return;
        if (!(away & 1) && try_simplex(s, 3, 6, best)) return;
        if (try_simplex(s, 3, 1, best) || try_simplex(s, 3, 2, best) || try_simplex(s, 3, 4, best)) return;
        try_simplex(s, 3, 0, best);
        return;
    }
}

// Leaves the points of a sub-simplex, each in its place or farther down.
static void keep(Simplex* s, const Nearest* best) {
    int kept = 0;
    for (int i = 0; i <= s->count; i++) {
        if (i < s->count && !(best->mask >> i & 1)) continue;
        if (kept < i) {
            s->w[kept] = s->w[i];
            s->a[kept] = s->a[i];
            s->b[kept] = s->b[i];
        }
        kept++;
    }
    s->count = kept;
    for (int i = 0; i < 4; i++)
        s->weight[i] = best->weight[i];
}

// the next point of D towards -v, drawn towards `centre` where D is shrunk; false: it is there already
static bool add(Simplex* s, const crConvex* a, const crConvex* b, const crGjk* task, crVec3 centre, crVec3 v,
                crVec3* w) {
    int i = s->count;
    s->a[i] = cr__support_here(a, v);
    s->b[i] = cr_add(cr__support_here(b, cr_neg(v)), task->shift);
    *w = s->w[i] = cr_sub(s->b[i], s->a[i]);
    if (task->shrink > 0.0) s->w[i] = cr_madd(*w, task->shrink, cr_sub(centre, *w));
    for (int k = 0; k < i; k++)
        if (s->w[k].x == s->w[i].x && s->w[k].y == s->w[i].y && s->w[k].z == s->w[i].z) return false;
    return true;
}

static void finish(const Simplex* s, crVec3 v, crClosest* out) {
    out->a = out->b = cr_vec3(0, 0, 0);
    for (int i = 0; i < s->count; i++) {
        out->a = cr_madd(out->a, s->weight[i], s->a[i]);
        out->b = cr_madd(out->b, s->weight[i], s->b[i]);
    }
    out->gap = cr_norm(v);
    out->n = cr__unit(v, cr_vec3(0, 0, 1));
}

bool cr__gjk(const crConvex* a, const crConvex* b, const crGjk* task, crClosest* out) {
    double scale = cr__pair_scale(a, b) + cr_norm(task->shift), tiny = 0x1p-50 * scale,
           tol = task->tol * scale;
    Simplex simplex, *s = &simplex;
    crVec3 centre = cr_add(cr_sub(cr__centre(b), cr__centre(a)), task->shift), v = centre, w;
    if (!(cr_norm(v) > 0.0)) v = cr_vec3(1, 0, 0);
    s->count = 0;
    add(s, a, b, task, centre, v, &w);
    s->count = 1;
    s->weight[0] = 1.0;
    v = s->w[0];
    double length = cr_norm(v), lower = -(double)INFINITY;
    out->iterations = 1;
    while (length > tiny && out->iterations < ROUNDS) {
        out->iterations++;
        bool fresh = add(s, a, b, task, centre, v, &w);
        double apart = cr_dot(v, w) / length, shrunk = cr_dot(v, s->w[s->count]) / length;
        if (apart > task->beyond) {
            *out = (crClosest){.gap = apart, .n = cr__over(v, length), .no_witness = true};
            return true;
        }
        if (shrunk > lower) lower = shrunk;
        if (!fresh || length - lower <= tol || length - lower <= task->part * length) break;
        Nearest next;
        find_nearest(s, &next);
        double shorter = cr_norm(next.v);
        // rounding has taken over, or even put v on the wrong side of the origin, nearer than D comes: the
        // last simplex stands
        if (!(shorter < length) || shorter < lower - tiny) break;
        keep(s, &next);
        v = next.v;
        length = shorter;
        if (s->count == 4) break;
    }
    finish(s, v, out);
    out->error = length > lower ? length - lower : 0.0;
    return s->count < 4 && length > tiny;
}
