// map.c - the map of Alart and Curnier for each kind of unit, with its generalized derivative.
//
//     y = x - rho w;  normal: (x_n - max(0, y_n)) / rho,  part: (x_part - P(y_part)) / rho
//
// with P the projection on the disc (or polygon) of radius max(0, y_n). Written row by row as what it
// becomes: w where the row is active, x / rho where it is not. Source: Alart and Curnier 1991, eqs. 5.3 and
// 5.4.
// Fails: never; where P has a kink one of its one-sided derivatives is taken.
#include "relax/local.h"

#include <string.h>

typedef struct crRows {
    double* F;
    double* A;
    double* B;
    int c;  // rows of the unit
} crRows;

static void row_velocity(crRows* r, int i, const double* w) {
    r->F[i] = w[i];
    r->B[i * r->c + i] = 1.0;
}

static void row_impulse_map(crRows* r, int i, double x, double rho) {
    r->F[i] = x / rho;
    r->A[i * r->c + i] = 1.0 / rho;
}

// slip: P(y) = y_n d with d = y/|y|
static void disc_slips(crRows* r, const crUnitPart* part, const double* x, const double* y, double yn,
                       double rho_n, double rho) {
    double d[2] = {y[0], part->count == 2 ? y[1] : 0.0};
    double size = sqrt(d[0] * d[0] + d[1] * d[1]);
    d[0] /= size;
    d[1] /= size;
    double theta = yn / size;
    for (int a = 0; a < part->count; a++) {
        int i = part->at + a;
        r->F[i] = (x[i] - yn * d[a]) / rho;
        r->A[i * r->c] = -d[a] / rho;
        r->B[i * r->c] = d[a] * rho_n / rho;
        for (int b = 0; b < part->count; b++) {
            double across = theta * ((a == b ? 1.0 : 0.0) - d[a] * d[b]);
            r->A[i * r->c + part->at + b] = ((a == b ? 1.0 : 0.0) - across) / rho;
            r->B[i * r->c + part->at + b] = across;
        }
    }
}

// nearest point of the polygon scaled by yn: c yn plus, on an edge, what y has along it (e, else zero)
static bool polygon_face(const crUnit* unit, const double* y, double yn, double c[2], double e[2]) {
    double best = (double)INFINITY;
    bool inside = true;
    for (int k = 0; k < unit->vertex_count; k++) {
        const double* a = unit->vertices[k];
        const double* b = unit->vertices[(k + 1) % unit->vertex_count];
        double edge[2] = {b[0] - a[0], b[1] - a[1]};
        double dx = y[0] - yn * a[0], dy = y[1] - yn * a[1];
        if (edge[0] * dy - edge[1] * dx < 0.0) inside = false;
        double length = edge[0] * edge[0] + edge[1] * edge[1];
        double s = length > 0.0 && yn > 0.0 ? (edge[0] * dx + edge[1] * dy) / (length * yn) : 0.0;
        double at = fmin(1.0, fmax(0.0, s));
        double px = dx - yn * at * edge[0], py = dy - yn * at * edge[1];
        if (!(px * px + py * py < best)) continue;
        best = px * px + py * py;
        bool corner = at != s || length == 0.0;
        double root = sqrt(length);
        e[0] = corner ? 0.0 : edge[0] / root;
        e[1] = corner ? 0.0 : edge[1] / root;
        // on an edge, c is the foot of the origin's perpendicular on the edge's line
        double along = a[0] * e[0] + a[1] * e[1];
        c[0] = corner ? a[0] + at * edge[0] : a[0] - along * e[0];
        c[1] = corner ? a[1] + at * edge[1] : a[1] - along * e[1];
    }
    return inside;
}

static void polygon_slips(crRows* r, const crUnitPart* part, const double* x, const double* y, double yn,
                          double rho_n, double rho, const double c[2], const double e[2]) {
    double along = e[0] * y[0] + e[1] * y[1];
    for (int a = 0; a < 2; a++) {
        int i = part->at + a;
        r->F[i] = (x[i] - yn * c[a] - along * e[a]) / rho;
        r->A[i * r->c] = -c[a] / rho;
        r->B[i * r->c] = c[a] * rho_n / rho;
        for (int b = 0; b < 2; b++) {
            r->A[i * r->c + part->at + b] = ((a == b ? 1.0 : 0.0) - e[a] * e[b]) / rho;
            r->B[i * r->c + part->at + b] = e[a] * e[b];
        }
    }
}

static void map_part(const crUnit* unit, const crUnitPart* part, double s, const double* x, const double* w,
                     double yn, double rho_n, crRows* r) {
    int c = unit->count;
    double largest = 0.0;
    for (int a = 0; a < part->count; a++) {
        double own = unit->D[(part->at + a) * (c + 1)];
        if (own > largest) largest = own;
    }
    double rho = largest > 0.0 ? s / largest : rho_n;
    double y[2] = {0.0, 0.0};
    for (int a = 0; a < part->count; a++) {
        y[a] = x[part->at + a] - rho * w[part->at + a];
    }
    bool sticks = part->free || y[0] * y[0] + y[1] * y[1] <= yn * yn;
    double foot[2] = {0.0, 0.0}, e[2] = {0.0, 0.0};
    if (part->polygon) sticks = polygon_face(unit, y, yn, foot, e);
    if (!(yn > 0.0)) {
        for (int a = 0; a < part->count; a++) {
            row_impulse_map(r, part->at + a, x[part->at + a], rho);
        }
    } else if (sticks) {
        for (int a = 0; a < part->count; a++) {
            row_velocity(r, part->at + a, w);
        }
    } else if (part->polygon) {
        polygon_slips(r, part, x, y, yn, rho_n, rho, foot, e);
    } else {
        disc_slips(r, part, x, y, yn, rho_n, rho);
    }
}

void cr__unit_map(const crUnit* unit, double s, const double* x, const double* w, double* F, double* A,
                  double* B) {
    int c = unit->count;
    crRows r = {F, A, B, c};
    memset(A, 0, (size_t)(c * c) * sizeof *A);
    memset(B, 0, (size_t)(c * c) * sizeof *B);
    double rho = unit->D[0] > 0.0 ? s / unit->D[0] : unit->rho;
    double y = x[0] - rho * w[0];
    switch (unit->kind) {
    case CR_BLOCK_EQUALITY:
        for (int i = 0; i < c; i++) {
            row_velocity(&r, i, w);
        }
        break;
    case CR_BLOCK_UNILATERAL:
    case CR_BLOCK_CONE:
        if (y > 0.0) {
            row_velocity(&r, 0, w);
        } else {
            row_impulse_map(&r, 0, x[0], rho);
        }
        for (int k = 0; k < unit->part_count; k++) {
            map_part(unit, &unit->part[k], s, x, w, y, rho, &r);
        }
        break;
    case CR_BLOCK_BOX:
        if (y < unit->lo) {
            row_impulse_map(&r, 0, x[0] - unit->lo, rho);
        } else if (y > unit->hi) {
            row_impulse_map(&r, 0, x[0] - unit->hi, rho);
        } else {
            row_velocity(&r, 0, w);
        }
        break;
    }
}
