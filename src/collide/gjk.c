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

// no point that a sub-simplex leaves out is nearer along v, its point nearest to the origin
static bool stands(const Simplex* s, int mask, crVec3 v, double square) {
    for (int i = 0; i < s->count; i++)
        if (!(mask >> i & 1) && cr_dot(v, s->w[i]) < square) return false;
    return true;
}

// the points of mask and the newest one
static bool nearest(const Simplex* s, int mask, double* k, crVec3* v) {
    const crVec3* last = &s->w[s->count];
    switch (mask) {
    case 0:
        k[0] = 1.0;
        *v = *last;
        return true;
    case 1:
    case 2:
    case 4:
        return nearest2(&s->w[mask >> 1], last, k, v);
    default:
        return nearest3(&s->w[mask == 6 ? 1 : 0], &s->w[mask == 3 ? 1 : 2], last, k, v);
    }
}

static void keep(const Simplex* s, int mask, Simplex* to) {
    to->count = 0;
    for (int i = 0; i <= s->count; i++) {
        if (i < s->count && !(mask >> i & 1)) continue;
        int k = to->count++;
        to->w[k] = s->w[i];
        to->a[k] = s->a[i];
        to->b[k] = s->b[i];
    }
}

// to becomes the sub-simplex of s with the newest point whose nearest point is nearest to the origin; the
// largest are tried first, since mostly one of them stands
static crVec3 reduce(const Simplex* s, Simplex* to) {
    static const int order[4][7] = {{0}, {1, 0}, {3, 1, 2, 0}, {3, 5, 6, 1, 2, 4, 0}};
    static const int tries[4] = {1, 2, 4, 7};
    int best_mask = 0, away = 0;
    double best = (double)INFINITY, k[4] = {0};
    crVec3 v = s->w[s->count];
    to->weight[0] = 1.0;
    if (s->count == 3 && nearest4(s->w, to->weight, &away)) {
        keep(s, 7, to);
        return cr_vec3(0, 0, 0);
    }
    for (int m = 0; m < tries[s->count]; m++) {
        int mask = order[s->count][m];
        crVec3 candidate;
        // the point that a triangle leaves out lies on the origin's side of it
        if (s->count == 3 && m < 3 && (away >> (2 - m) & 1)) continue;
        if (!nearest(s, mask, k, &candidate)) continue;
        double square = cr_dot(candidate, candidate);
        if (square < best) {
            best = square;
            best_mask = mask;
            v = candidate;
            for (int i = 0; i < 3; i++)
                to->weight[i] = k[i];
        }
        if (stands(s, mask, candidate, square)) break;
    }
    keep(s, best_mask, to);
    return v;
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
    Simplex simplex[2], *s = &simplex[0], *other = &simplex[1];
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
        crVec3 next = reduce(s, other);
        double shorter = cr_norm(next);
        // rounding has taken over, or even put v on the wrong side of the origin, nearer than D comes: the
        // last simplex stands
        if (!(shorter < length) || shorter < lower - tiny) break;
        Simplex* t = s;
        s = other;
        other = t;
        v = next;
        length = shorter;
        if (s->count == 4) break;
    }
    finish(s, v, out);
    out->error = length > lower ? length - lower : 0.0;
    return s->count < 4 && length > tiny;
}
