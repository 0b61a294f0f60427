// local.c - exact solution of one unit: a row, a joint, or one contact with Coulomb friction.
//
// Contact with one friction part, normal eliminated: S = Dtt - Dtn Dnt / Dnn, s = qt - Dtn qn / Dnn. A
// contact that sticks has S y = -s. A contact that slips against its velocity has (S + lambda I) y = -s with
// lambda >= 0 and |y| = x_n(y). The point is outside the cone at lambda = 0 and inside for lambda ->
// infinity, so a root exists; Newton's method finds it inside a bracket. Polygons have closed forms by vertex
// and edge. Contacts with several parts (spin, rolling) are solved by Newton's method on the unit's map, then
// by projected steps.
// Source: Alart and Curnier 1991 for the map; the one-parameter form is that of a trust region step.
// Fails: never; an equality block whose D is singular keeps its guess.
#include "local.h"
#include "linalg/lu.h"

#include <string.h>

#define CLOSE 1e-20  // square of a residual from which factors are kept, share of the square of the velocity

// contact with its normal eliminated
typedef struct crReduced {
    int tangents;
    double Wnn, qn;
    double Wnt[2];
    double S[2][2];
    double s[2];
    double keep;   // 1 / radius of the disc: 1, or 0 if it is infinite
    double floor;  // least lambda: shift of S, which may be singular
} crReduced;

static crReduced reduce_local(const crUnit* unit, const double* q) {
    int c = unit->count;
    const double* D = unit->D;
    crReduced r = {.tangents = unit->part[0].count, .Wnn = D[0], .qn = q[0]};
    r.keep = unit->part[0].free ? 0.0 : 1.0;
    double size = D[0];
    for (int a = 0; a < r.tangents; a++) {
        r.Wnt[a] = D[1 + a];
        r.s[a] = q[1 + a] - D[(1 + a) * c] * q[0] / D[0];
        size += D[(1 + a) * (c + 1)];
        for (int b = 0; b < r.tangents; b++) {
            r.S[a][b] = D[(1 + a) * c + 1 + b] - D[(1 + a) * c] * D[1 + b] / D[0];
        }
    }
    r.floor = 1e-15 * size;
    return r;
}

static double normal_at(const crReduced* r, const double y[2]) {
    double sum = r->qn + r->Wnt[0] * y[0];
    if (r->tangents == 2) sum += r->Wnt[1] * y[1];
    return -sum / r->Wnn;
}

// Computes x = (S + lambda I)^-1 b.
static void shifted_solve(const crReduced* r, double lambda, const double b[2], double x[2]) {
    double a00 = r->S[0][0] + lambda;
    if (r->tangents == 1) {
        x[0] = b[0] / a00;
        return;
    }
    double a11 = r->S[1][1] + lambda;
    double det = a00 * a11 - r->S[0][1] * r->S[1][0];
    x[0] = (a11 * b[0] - r->S[0][1] * b[1]) / det;
    x[1] = (a00 * b[1] - r->S[1][0] * b[0]) / det;
}

// Returns f = keep |y| - x_n at lambda and sets y, the tangential impulse there. *slope, unless NULL, is that
// of Newton's method on x_n / |y|, f' - f |y|' / |y|; x_n / |y| is nearly linear in lambda (More and Sorensen
// 1983).
static double outside(const crReduced* r, double lambda, double y[2], double* slope) {
    double minus_s[2] = {-r->s[0], -r->s[1]};
    y[1] = 0.0;
    shifted_solve(r, lambda, minus_s, y);
    double size = sqrt(y[0] * y[0] + y[1] * y[1]);
    double f = r->keep * size - normal_at(r, y);
    if (slope == NULL) return f;
    double minus_y[2] = {-y[0], -y[1]};
    double dy[2] = {0.0, 0.0};
    shifted_solve(r, lambda, minus_y, dy);
    double radial = size > 0.0 ? (y[0] * dy[0] + y[1] * dy[1]) / size : 0.0;
    *slope = r->keep * radial + (r->Wnt[0] * dy[0] + r->Wnt[1] * dy[1]) / r->Wnn;
    if (size > 0.0) *slope -= f * radial / size;
    return f;
}

// Finds the root of f in lambda and sets y there; the point at lo is outside the cone.
static void slip(const crReduced* r, double lo, double y[2]) {
    double hi = (double)INFINITY;
    double reach = fabs(r->S[0][0]) + fabs(r->S[1][1]) + lo;
    double at = lo;
    for (int i = 0; i < 200; i++) {
        double slope = 0.0;
        double f = outside(r, at, y, &slope);
        if (f > 0.0) {
            lo = at;
        } else {
            hi = at;
        }
        if (fabs(f) <= 2.2e-16 * fabs(normal_at(r, y))) break;
        double next = at - f / slope;
        // Newton's step if it stays in the bracket, else a larger lambda or the middle of the bracket
        if (!(next > lo && next < hi)) next = isinf(hi) ? 4.0 * lo + reach : 0.5 * (lo + hi);
        if (next == at || (!isinf(hi) && hi - lo <= 1e-16 * hi)) break;
        at = next;
    }
}

// Solves a contact with one friction part that is a disc or unlimited.
static void solve_disc(const crUnit* unit, const double* q, double* x) {
    crReduced r = reduce_local(unit, q);
    double y[2] = {0.0, 0.0};
    bool sticks = outside(&r, r.floor, y, NULL) <= 0.0;
    double* t = x + 1;
    if (!sticks) {
        slip(&r, r.floor, y);
        double size = sqrt(y[0] * y[0] + y[1] * y[1]);
        if (r.keep > 0.0 && size > 0.0) {
            // the point is put on the cone with u_n = 0
            double d[2] = {y[0] / size, y[1] / size};
            double denominator = r.Wnn + r.Wnt[0] * d[0] + r.Wnt[1] * d[1];
            double pressed = denominator > 0.0 ? -r.qn / denominator : size;
            y[0] = pressed * d[0];
            y[1] = pressed * d[1];
            x[0] = pressed;
            memcpy(t, y, (size_t)r.tangents * sizeof *t);
            return;
        }
    }
    x[0] = fmax(0.0, normal_at(&r, y));
    memcpy(t, y, (size_t)r.tangents * sizeof *t);
}

// True if p_t lies on the edge from vertex a to b (times x_n) and -w_t is along the edge's outward normal;
// sets x then.
static bool edge_fits(const crUnit* unit, const double* q, const double* a, const double* b, double* x) {
    const double* D = unit->D;
    double e[2] = {b[0] - a[0], b[1] - a[1]};
    // unknowns: x_n and g = x_n * position along the edge; equations: u_n = 0 and e.w_t = 0
    double col_n[3], col_g[3];
    for (int i = 0; i < 3; i++) {
        col_n[i] = D[3 * i] + D[3 * i + 1] * a[0] + D[3 * i + 2] * a[1];
        col_g[i] = D[3 * i + 1] * e[0] + D[3 * i + 2] * e[1];
    }
    double m10 = e[0] * col_n[1] + e[1] * col_n[2], m11 = e[0] * col_g[1] + e[1] * col_g[2];
    double r1 = -(e[0] * q[1] + e[1] * q[2]);
    double det = col_n[0] * m11 - col_g[0] * m10;
    if (det == 0.0) return false;
    double xn = (-q[0] * m11 - col_g[0] * r1) / det;
    double g = (col_n[0] * r1 + q[0] * m10) / det;
    double w1 = q[1] + col_n[1] * xn + col_g[1] * g;
    double w2 = q[2] + col_n[2] * xn + col_g[2] * g;
    if (!(xn >= 0.0 && g >= 0.0 && g <= xn && w1 * e[1] - w2 * e[0] <= 0.0)) return false;
    x[0] = xn;
    x[1] = xn * a[0] + g * e[0];
    x[2] = xn * a[1] + g * e[1];
    return true;
}

// True if p_t is vertex k times x_n and -w_t lies between the outward normals of its two edges; sets x then.
static bool vertex_fits(const crUnit* unit, const double* q, int k, double* x) {
    const double* D = unit->D;
    int count = unit->vertex_count;
    const double* v = unit->vertices[k];
    const double* before = unit->vertices[(k + count - 1) % count];
    const double* after = unit->vertices[(k + 1) % count];
    double slope = D[0] + D[1] * v[0] + D[2] * v[1];
    if (!(slope > 0.0)) return false;
    double xn = -q[0] / slope;
    double w1 = q[1] + (D[3] + D[4] * v[0] + D[5] * v[1]) * xn;
    double w2 = q[2] + (D[6] + D[7] * v[0] + D[8] * v[1]) * xn;
    // p.w over the polygon is least at v if neither neighbour has less
    if (w1 * (before[0] - v[0]) + w2 * (before[1] - v[1]) < 0.0) return false;
    if (w1 * (after[0] - v[0]) + w2 * (after[1] - v[1]) < 0.0) return false;
    x[0] = xn;
    x[1] = xn * v[0];
    x[2] = xn * v[1];
    return true;
}

static bool inside_polygon(const crUnit* unit, const double* x) {
    for (int k = 0; k < unit->vertex_count; k++) {
        const double* a = unit->vertices[k];
        const double* b = unit->vertices[(k + 1) % unit->vertex_count];
        double cross = (b[0] - a[0]) * (x[2] - x[0] * a[1]) - (b[1] - a[1]) * (x[1] - x[0] * a[0]);
        if (cross < 0.0) return false;
    }
    return x[0] >= 0.0;
}

static bool solve_polygon(const crUnit* unit, const double* q, double* x) {
    crReduced r = reduce_local(unit, q);
    double y[2] = {0.0, 0.0};
    double minus_s[2] = {-r.s[0], -r.s[1]};
    shifted_solve(&r, r.floor, minus_s, y);
    double stick[3] = {normal_at(&r, y), y[0], y[1]};
    if (inside_polygon(unit, stick)) {
        memcpy(x, stick, sizeof stick);
        return true;
    }
    for (int k = 0; k < unit->vertex_count; k++) {
        const double* a = unit->vertices[k];
        const double* b = unit->vertices[(k + 1) % unit->vertex_count];
        if (vertex_fits(unit, q, k, x) || edge_fits(unit, q, a, b, x)) return true;
    }
    return false;
}

static void local_velocity(const crUnit* unit, const double* q, const double* x, double* w) {
    for (int a = 0; a < unit->count; a++) {
        double sum = q[a];
        for (int b = 0; b < unit->count; b++) {
            sum += unit->D[a * unit->count + b] * x[b];
        }
        w[a] = sum;
    }
}

// Returns the sum of squares of F in one unit. Rows with a limit are scaled by it and are in m/s. Rows
// without one (infinite friction of spin or rolling) may be in rad/s; the ratio of diagonal entries converts
// them to m/s.
static double norm2(const crUnit* unit, const double* F) {
    double sum = 0.0;
    for (int i = 0; i < unit->count; i++) {
        sum += F[i] * F[i];
    }
    for (int k = 0; k < unit->part_count; k++) {
        const crUnitPart* part = &unit->part[k];
        for (int i = part->at; part->free && i < part->at + part->count; i++) {
            double own = unit->D[i * unit->count + i];
            if (own > 0.0) sum += (unit->D[0] / own - 1.0) * F[i] * F[i];
        }
    }
    return sum;
}

// factors of the matrix of a Newton step
typedef struct crLocalFactors {
    double M[CR_UNIT_ROWS * CR_UNIT_ROWS];
    int order[CR_UNIT_ROWS];
} crLocalFactors;

// Factors the matrix of the unit's map, with a small shift of D. Returns false if it is singular.
static bool local_factor(const crUnit* unit, const double* A, const double* B, crLocalFactors* f) {
    int c = unit->count;
    double D[CR_UNIT_ROWS * CR_UNIT_ROWS];
    memcpy(D, unit->D, (size_t)(c * c) * sizeof *D);
    memcpy(f->M, A, (size_t)(c * c) * sizeof *f->M);
    for (int i = 0; i < c; i++) {
        D[i * (c + 1)] += 1e-13 / unit->rho;
    }
    // most rows of B hold one entry
    for (int i = 0; i < c; i++) {
        for (int k = 0; k < c; k++) {
            double weight = B[i * c + k];
            if (weight == 0.0) continue;
            for (int j = 0; j < c; j++) {
                f->M[i * c + j] += weight * D[k * c + j];
            }
        }
    }
    return cr__lu(f->M, c, 0.0, f->order);
}

// dx = -inverse(M) F
static void local_step(const crLocalFactors* f, int c, const double* F, double* dx) {
    double minus_F[CR_UNIT_ROWS];
    for (int i = 0; i < c; i++) {
        minus_F[i] = -F[i];
    }
    cr__lu_solve(f->M, c, f->order, minus_F, dx);
}

// Solves a contact with several parts by damped Newton steps on the map, and by projected steps if these do
// not descend.
static void solve_parts(const crUnit* unit, const double* q, double* x) {
    int c = unit->count;
    double F[CR_UNIT_ROWS], w[CR_UNIT_ROWS], dx[CR_UNIT_ROWS], trial[CR_UNIT_ROWS];
    double A[CR_UNIT_ROWS * CR_UNIT_ROWS], B[CR_UNIT_ROWS * CR_UNIT_ROWS];
    crLocalFactors factors;
    double scale = norm2(unit, q), size = 0.0;
    bool better = false;  // true if the map is that of x already
    cr__unit_clamp(unit, x);
    for (int i = 0; i < 60; i++) {
        if (!better) {
            local_velocity(unit, q, x, w);
            cr__unit_map(unit, 1.0, x, w, F, A, B);
            size = norm2(unit, F);
        }
        if (!(size > 1e-32 * scale)) return;
        // the step before has come so near that its factors are those of this point
        bool stepped = (better && size <= CLOSE * scale) || local_factor(unit, A, B, &factors);
        if (stepped) local_step(&factors, c, F, dx);
        better = false;
        for (double t = 1.0; stepped && !better && t > 0.02; t *= 0.5) {
            for (int k = 0; k < c; k++) {
                trial[k] = x[k] + t * dx[k];
            }
            local_velocity(unit, q, trial, w);
            cr__unit_map(unit, 1.0, trial, w, F, A, B);
            double after = norm2(unit, F);
            better = after < (1.0 - 0.1 * t) * size;
            if (better) size = after;
        }
        if (better) {
            memcpy(x, trial, (size_t)c * sizeof *x);
            continue;
        }
        for (int sweep = 0; sweep < 10; sweep++) {
            local_velocity(unit, q, x, w);
            for (int k = 0; k < c; k++) {
                x[k] -= unit->rho / c * w[k];
            }
            cr__unit_clamp(unit, x);
        }
    }
}

static void solve_contact(const crUnit* unit, const double* q, double* x) {
    size_t bytes = (size_t)unit->count * sizeof *x;
    if (q[0] >= 0.0 || !(unit->D[0] > 0.0)) {
        memset(x, 0, bytes);
        return;
    }
    bool done = false;
    if (unit->part_count == 1 && !unit->part[0].polygon) {
        solve_disc(unit, q, x);
        done = true;
    } else if (unit->part_count == 1) {
        done = solve_polygon(unit, q, x);
    }
    if (!done) solve_parts(unit, q, x);
    cr__unit_clamp(unit, x);
}

// Solves equality rows: D x = -q with a small shift of the diagonal, refined once.
static void solve_joint(const crUnit* unit, const double* q, double* x) {
    int c = unit->count;
    double M[CR_UNIT_ROWS * CR_UNIT_ROWS], w[CR_UNIT_ROWS], step[CR_UNIT_ROWS];
    int order[CR_UNIT_ROWS];
    memcpy(M, unit->D, (size_t)(c * c) * sizeof *M);
    for (int i = 0; i < c; i++) {
        M[i * c + i] += 1e-12 / unit->rho;
    }
    if (!cr__lu(M, c, 0.0, order)) return;
    // steps from the guess leave the components of x in the null space of D unchanged
    for (int round = 0; round < 2; round++) {
        local_velocity(unit, q, x, w);
        cr__lu_solve(M, c, order, w, step);
        for (int i = 0; i < c; i++) {
            x[i] -= step[i];
        }
    }
}

void cr__local_solve(const crUnit* unit, const double* q, double* x) {
    if (unit->kind == CR_BLOCK_CONE) {
        solve_contact(unit, q, x);
    } else if (unit->count > 1) {
        solve_joint(unit, q, x);
    } else {
        if (unit->D[0] > 0.0) {
            x[0] = -q[0] / unit->D[0];
        } else if (unit->kind != CR_BLOCK_EQUALITY && q[0] != 0.0) {
            // the row's impulse does not change its velocity: only an end of its range can be a solution
            double end = q[0] > 0.0 ? unit->lo : unit->hi;
            if (unit->kind == CR_BLOCK_UNILATERAL) end = 0.0;
            if (isfinite(end)) x[0] = end;
        }
        cr__unit_clamp(unit, x);
    }
}
