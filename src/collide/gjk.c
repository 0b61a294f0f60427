// gjk.c - distance of two convex cores by their support functions (Gilbert, Johnson and Keerthi 1988).
//
// D = B - A. A simplex of support points of D moves towards the origin; v is its point nearest to the origin.
// |v| bounds the distance from above, v.w/|v| with w the support point of D along -v from below; the
// difference is the error reported. Of each simplex all sub-simplices that hold the newest point are tried: 8
// at most, each by determinants, and the nearest feasible one is kept; slower than Johnson's recursion but
// without its cases.
// D may be shrunk about the difference of the centres, so that pairs which overlap a little are apart; v.w/|v|
// of D as it is then still bounds the true distance from below.
// Ends: bounds meet within the tolerance, that bound exceeds what is asked for, v stops shrinking, a
// tetrahedron holds the origin (overlap), or 100 rounds.
#include "collide/narrow.h"

#define ROUNDS 100

typedef struct Simplex {
    int count;
    crVec3 w[4], a[4], b[4];
    double weight[4];
} Simplex;

// nearest point of a sub-simplex to the origin, if it is interior to it
static bool nearest2(const crVec3* w, double* k, crVec3* v) {
    crVec3 e = cr_sub(w[1], w[0]);
    double ee = cr_dot(e, e);
    if (!(ee > 0.0)) return false;
    k[1] = -cr_dot(w[0], e);
    k[0] = cr_dot(w[1], e);
    if (!(k[0] > 0.0 && k[1] > 0.0)) return false;
    k[0] /= ee;
    k[1] /= ee;
    // from the nearer end, so that a long edge does not cost digits
    *v = k[1] < k[0] ? cr_madd(w[0], k[1], e) : cr_madd(w[1], -k[0], e);
    return true;
}

static bool nearest3(const crVec3* w, double* k, crVec3* v) {
    crVec3 n = cr_cross(cr_sub(w[1], w[0]), cr_sub(w[2], w[0]));
    double nn = cr_dot(n, n);
    if (!(nn > 0.0)) return false;
    k[0] = cr_dot(n, cr_cross(w[1], w[2]));
    k[1] = cr_dot(n, cr_cross(w[2], w[0]));
    k[2] = cr_dot(n, cr_cross(w[0], w[1]));
    if (!(k[0] > 0.0 && k[1] > 0.0 && k[2] > 0.0)) return false;
    for (int i = 0; i < 3; i++)
        k[i] /= nn;
    *v = cr_scale(cr_dot(n, w[0]) / nn, n);
    return true;
}

static bool nearest4(const crVec3* w, double* k, crVec3* v) {
    double bcd = cr_dot(w[1], cr_cross(w[2], w[3])), acd = -cr_dot(w[0], cr_cross(w[2], w[3]));
    double abd = cr_dot(w[0], cr_cross(w[1], w[3])), abc = -cr_dot(w[0], cr_cross(w[1], w[2]));
    bool inside =
        bcd > 0.0 ? acd > 0.0 && abd > 0.0 && abc > 0.0 : bcd < 0.0 && acd < 0.0 && abd < 0.0 && abc < 0.0;
    if (!inside) return false;
    double all = bcd + acd + abd + abc;
    k[0] = bcd / all;
    k[1] = acd / all;
    k[2] = abd / all;
    k[3] = abc / all;
    *v = cr_vec3(0, 0, 0);
    return true;
}

static bool nearest(const crVec3* w, int count, double* k, crVec3* v) {
    k[0] = 1.0;
    *v = w[0];
    if (count == 2) return nearest2(w, k, v);
    if (count == 3) return nearest3(w, k, v);
    if (count == 4) return nearest4(w, k, v);
    return true;
}

// no point that a sub-simplex leaves out is nearer along v, its point nearest to the origin
static bool stands(const Simplex* s, int mask, crVec3 v, double square) {
    for (int i = 0; i < s->count - 1; i++)
        if (!(mask >> i & 1) && cr_dot(v, s->w[i]) < square) return false;
    return true;
}

// keep the sub-simplex with the newest point whose nearest point is nearest to the origin; the largest are
// tried first, since mostly one of them stands
static crVec3 reduce(Simplex* s) {
    const int order[4][8] = {{0}, {1, 0}, {3, 1, 2, 0}, {7, 3, 5, 6, 1, 2, 4, 0}};
    int last = s->count - 1, best_mask = 0;
    double best = (double)INFINITY, weights[4] = {1.0, 0, 0, 0};
    crVec3 v = s->w[last];
    for (int m = 0; m < 1 << last; m++) {
        crVec3 w[4], candidate;
        double k[4];
        int count = 0, mask = order[last][m];
        for (int i = 0; i < last; i++)
            if (mask >> i & 1) w[count++] = s->w[i];
        w[count++] = s->w[last];
        if (!nearest(w, count, k, &candidate)) continue;
        double square = cr_dot(candidate, candidate);
        if (square < best) {
            best = square;
            best_mask = mask;
            v = candidate;
            for (int i = 0; i < count; i++)
                weights[i] = k[i];
        }
        if (stands(s, mask, candidate, square)) break;
    }
    int count = 0;
    for (int i = 0; i <= last; i++) {
        if (i < last && !(best_mask >> i & 1)) continue;
        s->w[count] = s->w[i];
        s->a[count] = s->a[i];
        s->b[count] = s->b[i];
        s->weight[count] = weights[count];
        count++;
    }
    s->count = count;
    return v;
}

// the next point of D towards -v, drawn towards `centre` where D is shrunk; false: it is there already
static bool add(Simplex* s, const crConvex* a, const crConvex* b, const crGjk* task, crVec3 centre, crVec3 v,
                crVec3* w) {
    int i = s->count++;
    s->a[i] = cr__support(a, v);
    s->b[i] = cr_add(cr__support(b, cr_neg(v)), task->shift);
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
    double scale = cr__pair_scale(a, b) + cr_norm(task->shift), tiny = 0x1p-50 * scale;
    Simplex s = {.count = 0};
    crVec3 centre = cr_add(cr_sub(cr__centre(b), cr__centre(a)), task->shift), v = centre, w;
    if (!(cr_norm(v) > 0.0)) v = cr_vec3(1, 0, 0);
    add(&s, a, b, task, centre, v, &w);
    v = reduce(&s);
    Simplex best = s;
    double length = cr_norm(v), lower = -(double)INFINITY;
    out->iterations = 1;
    while (length > tiny && out->iterations < ROUNDS) {
        out->iterations++;
        bool fresh = add(&s, a, b, task, centre, v, &w);
        double apart = cr_dot(v, w) / length;
        if (apart > task->beyond) {
            *out = (crClosest){.gap = apart, .n = cr__over(v, length), .no_witness = true};
            return true;
        }
        lower = fmax(lower, cr_dot(v, s.w[s.count - 1]) / length);
        if (!fresh || length - lower <= fmax(task->tol * scale, task->part * length)) break;
        crVec3 next = reduce(&s);
        double shorter = cr_norm(next);
        // rounding has taken over, or even put v on the wrong side of the origin, nearer than D comes: the
        // last simplex stands
        if (!(shorter < length) || shorter < lower - tiny) break;
        best = s;
        v = next;
        length = shorter;
    }
    finish(&best, v, out);
    out->error = fmax(0.0, length - lower);
    return best.count < 4 && length > tiny;
}
