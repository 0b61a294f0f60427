// flat.c - points in the plane: convex outline (Andrew's monotone chains) and polygons cut at a panel's edges
// (Sutherland and Hodgman).
//
// Fails: a cut without memory is nothing.
#include "plot/flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void* a, const void* b) {
    const double* p = a;
    const double* q = b;
    if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
    return p[1] < q[1] ? -1 : p[1] > q[1];
}

double cr_flat_turn(const double* a, const double* b, const double* c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// monotone chains
size_t cr_flat_outline(double (*points)[2], size_t count, double (*hull)[2]) {
    qsort(points, count, sizeof *points, compare);
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t start = n;
        for (size_t i = 0; i < count; i++) {
            const double* p = points[pass == 0 ? i : count - 1 - i];
            while (n >= start + 2 && cr_flat_turn(hull[n - 2], hull[n - 1], p) <= 0.0) {
                n--;
            }
            hull[n][0] = p[0];
            hull[n++][1] = p[1];
        }
        n--;
    }
    return n;
}

// the part of a polygon where side[0] x + side[1] y + side[2] >= 0
static size_t cut_side(const double side[3], const double (*from)[2], size_t count, double (*out)[2]) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const double* a = from[i];
        const double* b = from[(i + 1) % count];
        double da = side[0] * a[0] + side[1] * a[1] + side[2];
        double db = side[0] * b[0] + side[1] * b[1] + side[2];
        if (da >= 0.0) memcpy(out[n++], a, sizeof *out);
        if ((da >= 0.0) == (db >= 0.0)) continue;
        out[n][0] = a[0] + da / (da - db) * (b[0] - a[0]);
        out[n++][1] = a[1] + da / (da - db) * (b[1] - a[1]);
    }
    return n;
}

// Sutherland and Hodgman, side by side; room: of out
static size_t cut_sides(const double (*sides)[3], size_t side_count, const double (*in)[2], size_t count,
                        size_t room, double (*out)[2]) {
    double(*from)[2] = malloc((room + 1) * sizeof *from);
    if (from == NULL) return 0;
    memcpy(out, in, count * sizeof *out);
    for (size_t s = 0; s < side_count; s++) {
        memcpy(from, out, count * sizeof *out);
        count = cut_side(sides[s], (const double(*)[2])from, count, out);
    }
    free(from);
    return count;
}

size_t cr_flat_clip(const crPanel* p, const double (*in)[2], size_t count, double (*out)[2]) {
    const double sides[4][3] = {
        {1.0, 0.0, -p->left}, {-1.0, 0.0, p->right}, {0.0, 1.0, -p->top}, {0.0, -1.0, p->bottom}};
    return cut_sides(sides, 4, in, count, 2 * count + 8, out);
}

size_t cr_flat_cut(const double (*in)[2], size_t count, const double (*area)[2], size_t corners,
                   double (*out)[2]) {
    double(*sides)[3] = malloc((corners + 1) * sizeof *sides);
    if (sides == NULL || corners < 3) {
        free(sides);
        return 0;
    }
    double turn = 0.0;
    for (size_t i = 2; i < corners; i++) {
        turn += cr_flat_turn(area[0], area[i - 1], area[i]);
    }
    double sign = turn < 0.0 ? -1.0 : 1.0;
    for (size_t i = 0; i < corners; i++) {
        const double* a = area[i];
        const double* b = area[(i + 1) % corners];
        sides[i][0] = sign * (a[1] - b[1]);
        sides[i][1] = sign * (b[0] - a[0]);
        sides[i][2] = -(sides[i][0] * a[0] + sides[i][1] * a[1]);
    }
    size_t n = cut_sides((const double(*)[3])sides, corners, in, count, 2 * count + 2 * corners + 8, out);
    free(sides);
    return n;
}

// Liang and Barsky: the span of the line between all four edges
bool cr_flat_clip_line(const crPanel* p, double ends[2][2]) {
    double lo = 0.0;
    double hi = 1.0;
    double d[2] = {ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]};
    double least[2] = {p->left, p->top};
    double most[2] = {p->right, p->bottom};
    for (int k = 0; k < 2; k++) {
        if (d[k] == 0.0 && !(ends[0][k] >= least[k] && ends[0][k] <= most[k])) return false;
        if (d[k] == 0.0) continue;
        double a = (least[k] - ends[0][k]) / d[k];
        double b = (most[k] - ends[0][k]) / d[k];
        lo = fmax(lo, fmin(a, b));
        hi = fmin(hi, fmax(a, b));
    }
    if (!(lo < hi)) return false;
    for (int k = 0; k < 2; k++) {
        double from = ends[0][k];
        ends[0][k] = from + lo * d[k];
        ends[1][k] = from + hi * d[k];
    }
    return true;
}
