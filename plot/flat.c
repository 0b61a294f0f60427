// flat.c - points in the plane: convex outline (Andrew's monotone chains) and polygons cut at a panel's edges
// (Sutherland and Hodgman).
//
// Fails: a cut without memory is nothing.
#include "plot/flat.h"

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

// Sutherland and Hodgman, side by side
size_t cr_flat_clip(const crPanel* p, const double (*in)[2], size_t count, double (*out)[2]) {
    double sides[4][3] = {
        {1.0, 0.0, -p->left}, {-1.0, 0.0, p->right}, {0.0, 1.0, -p->top}, {0.0, -1.0, p->bottom}};
    double(*from)[2] = malloc((2 * count + 8) * sizeof *from);
    if (from == NULL) return 0;
    memcpy(out, in, count * sizeof *out);
    for (int s = 0; s < 4; s++) {
        memcpy(from, out, count * sizeof *out);
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
            const double* a = from[i];
            const double* b = from[(i + 1) % count];
            double da = sides[s][0] * a[0] + sides[s][1] * a[1] + sides[s][2];
            double db = sides[s][0] * b[0] + sides[s][1] * b[1] + sides[s][2];
            if (da >= 0.0) memcpy(out[n++], a, sizeof *out);
            if ((da >= 0.0) == (db >= 0.0)) continue;
            out[n][0] = a[0] + da / (da - db) * (b[0] - a[0]);
            out[n++][1] = a[1] + da / (da - db) * (b[1] - a[1]);
        }
        count = n;
    }
    free(from);
    return count;
}
