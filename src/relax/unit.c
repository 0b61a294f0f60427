// unit.c - the laws of one unit as maps, their derivatives, and exact pairs of impulses and velocities.
//
// Law: x_n = max(q_n, 0); x of a friction part is the point nearest q in the part's set at normal impulse
// x_n.
// Slip, x_t = limit x_n d with d = q_t / |q_t|:
//
//     dx_t = limit d dq_n + (limit x_n / |q_t|) (1 - d d^T) dq_t
//
// Fails: never; every input has an image.
#include "unit.h"

#include <string.h>

// Adds a part of `count` rows with the given limits along them, and sets E of these rows to the limits.
static void add_part(crUnit* unit, double* E, int at, int count, double limit, double limit2) {
    double large = count == 2 ? fmax(limit, limit2) : limit;
    unit->part[unit->part_count++] =
        (crUnitPart){.at = at, .count = count, .limit = large, .free = isinf(limit)};
    E[at] = isinf(limit) ? 1.0 : limit;
    if (count == 2) E[at + 1] = isinf(limit) ? 1.0 : limit2;
}

// Sets the friction parts of a cone, and E.
static void cut_cone(const crProblem* problem, const crBlock* block, crUnit* unit, double* E) {
    int tangents = block->count - 1 - (block->spin ? 1 : 0) - (block->roll ? 2 : 0);
    int at = unit->plane = 1 + tangents;
    if (block->vertex_count > 0) {
        unit->part[unit->part_count++] = (crUnitPart){.at = 1, .count = 2, .polygon = true};
        unit->vertices = problem->vertices + block->vertex;
        unit->vertex_count = block->vertex_count;
    } else if (tangents == 1) {
        add_part(unit, E, 1, 1, block->mu, 0.0);
    } else if (isinf(block->mu) != isinf(block->mu2)) {
        // the set is a strip: friction is limited in one direction only
        add_part(unit, E, 1, 1, block->mu, 0.0);
        add_part(unit, E, 2, 1, block->mu2, 0.0);
    } else {
        add_part(unit, E, 1, 2, block->mu, block->mu2);
    }
    if (block->spin) add_part(unit, E, at++, 1, block->mu_spin, 0.0);
    if (block->roll) add_part(unit, E, at, 2, block->mu_roll, block->mu_roll);
}

void cr__unit_cut(const crProblem* problem, const crBlock* block, int row, int count, crUnit* unit,
                  double* E) {
    *unit = (crUnit){.kind = block->kind, .row = row, .count = count, .plane = 1};
    unit->lo = block->lo;
    unit->hi = block->hi;
    for (int k = 0; k < count; k++) {
        E[k] = 1.0;
    }
    if (block->kind == CR_BLOCK_CONE) cut_cone(problem, block, unit, E);
}

void cr__relax_cut(const crProblem* problem, const crBlock* block, int count, crUnit* unit, double* E) {
    cr__unit_cut(problem, block, 0, count, unit, E);
    for (int k = 0; k < unit->part_count; k++) {
        const crUnitPart* part = &unit->part[k];
        for (int r = part->at; r < part->at + part->count; r++) {
            E[r] = E[r] < part->limit && !part->free && !part->polygon ? E[r] / part->limit : 1.0;
        }
    }
}

static double size_of(const double* t, int count) {
    return count == 1 ? fabs(t[0]) : sqrt(t[0] * t[0] + t[1] * t[1]);
}

// Sets the part's rows of x, and of D unless NULL, for a disc at normal impulse n. `pressed` is the
// derivative of n by q[0].
static void law_disc(const crUnitPart* part, int rows, double n, double pressed, const double* q, double* x,
                     double* D) {
    const double* t = q + part->at;
    double size = size_of(t, part->count);
    double radius = n > 0.0 ? part->limit * n : 0.0;
    bool inside = size <= radius;
    double shrink = inside ? 1.0 : radius / size;
    for (int a = 0; a < part->count; a++) {
        x[part->at + a] = shrink * t[a];
        if (D == NULL) continue;
        double* row = D + (part->at + a) * rows;
        if (inside) {
            row[part->at + a] = 1.0;
            continue;
        }
        row[0] = isfinite(part->limit) ? pressed * part->limit * t[a] / size : 0.0;
        for (int b = 0; b < part->count; b++) {
            row[part->at + b] = shrink * ((a == b ? 1.0 : 0.0) - t[a] / size * (t[b] / size));
        }
    }
}

// Sets x to the point nearest q in the convex polygon n * vertices, J to its derivative by q,
// and v to its derivative by n.
static void law_polygon(const crUnit* unit, double n, const double* q, double* x, double* J, double* v) {
    int count = unit->vertex_count, corner = 0;
    bool outside = false;
    double nearest = (double)INFINITY;
    for (int k = 0; k < count; k++) {
        const double *a = unit->vertices[k], *b = unit->vertices[(k + 1) % count];
        double e[2] = {b[0] - a[0], b[1] - a[1]}, r[2] = {q[0] - n * a[0], q[1] - n * a[1]};
        double ee = e[0] * e[0] + e[1] * e[1], along = e[0] * r[0] + e[1] * r[1];
        double distance = r[0] * r[0] + r[1] * r[1];
        if (distance < nearest) {
            nearest = distance;
            corner = k;
        }
        if (e[1] * r[0] - e[0] * r[1] <= 0.0 || ee == 0.0) continue;
        outside = true;
        if (along < 0.0 || along > n * ee) continue;
        // q is nearest to the inside of this edge: q moves x along the edge, n moves the edge outward
        double s = along / ee, h = (e[0] * a[1] - e[1] * a[0]) / ee;
        for (int i = 0; i < 2; i++) {
            x[i] = n * a[i] + s * e[i];
            J[2 * i] = e[i] * e[0] / ee;
            J[2 * i + 1] = e[i] * e[1] / ee;
        }
        v[0] = -h * e[1];
        v[1] = h * e[0];
        return;
    }
    for (int i = 0; i < 2; i++) {
        x[i] = outside ? n * unit->vertices[corner][i] : q[i];
        v[i] = outside ? unit->vertices[corner][i] : 0.0;
        J[2 * i] = J[2 * i + 1] = 0.0;
        if (!outside) J[3 * i] = 1.0;
    }
}

static void law_cone(const crUnit* unit, const double* q, double* x, double* D) {
    int rows = unit->count;
    double n = fmax(q[0], 0.0), pressed = q[0] > 0.0 ? 1.0 : 0.0;
    x[0] = n;
    if (D != NULL) D[0] = pressed;
    for (int k = 0; k < unit->part_count; k++) {
        const crUnitPart* part = &unit->part[k];
        if (!part->polygon) {
            law_disc(part, rows, n, pressed, q, x, D);
            continue;
        }
        double J[4], v[2];
        law_polygon(unit, n, q + part->at, x + part->at, J, v);
        for (int a = 0; D != NULL && a < 2; a++) {
            double* row = D + (part->at + a) * rows;
            row[0] = pressed * v[a];
            row[part->at] = n > 0.0 ? J[2 * a] : 0.0;
            row[part->at + 1] = n > 0.0 ? J[2 * a + 1] : 0.0;
        }
    }
}

void cr__relax_law(const crUnit* unit, const double* q, double* x, double* D) {
    size_t n = (size_t)unit->count;
    if (D != NULL) memset(D, 0, n * n * sizeof *D);
    if (unit->kind == CR_BLOCK_CONE) {
        law_cone(unit, q, x, D);
        return;
    }
    double lo = unit->kind == CR_BLOCK_BOX ? unit->lo : unit->kind == CR_BLOCK_UNILATERAL ? 0.0 : -HUGE_VAL;
    double hi = unit->kind == CR_BLOCK_BOX ? unit->hi : HUGE_VAL;
    x[0] = fmin(hi, fmax(lo, q[0]));
    if (D != NULL) D[0] = q[0] > lo && q[0] < hi ? 1.0 : 0.0;
}

// Sets y to the slip velocity of a part whose impulse is x = law(q): the component of u against the outward
// normal q - x, or zero if u has none in that direction.
static void slip_velocity(const crUnitPart* part, const double* q, const double* x, const double* u,
                          double* y) {
    double d[2] = {0.0, 0.0}, along = 0.0;
    for (int a = 0; a < part->count; a++) {
        d[a] = q[part->at + a] - x[part->at + a];
    }
    double size = size_of(d, part->count);
    for (int a = 0; a < part->count && size > 0.0; a++) {
        along -= u[part->at + a] * d[a] / size;
    }
    for (int a = 0; a < part->count; a++) {
        y[part->at + a] = along > 0.0 ? -d[a] / size * along : 0.0;
    }
}

void cr__relax_witness(const crUnit* unit, const double* weight, const double* p, const double* u, double* x,
                       double* y) {
    double q[CR_UNIT_ROWS];
    for (int a = 0; a < unit->count; a++) {
        q[a] = weight[a] > 0.0 ? p[a] - u[a] / weight[a] : u[a] > 0.0 ? -HUGE_VAL : p[a];
    }
    if (unit->kind != CR_BLOCK_CONE) {
        double map[1];
        cr__relax_law(unit, q, map, NULL);
        bool lo = map[0] > q[0], hi = map[0] < q[0];
        // at a bound the velocity keeps its sign, elsewhere it is zero
        cr__relax_law(unit, lo || hi ? q : p, x, NULL);
        y[0] = lo ? fmax(u[0], 0.0) : hi ? fmin(u[0], 0.0) : 0.0;
        return;
    }
    if (!(q[0] > 0.0)) {
        memset(x, 0, (size_t)unit->count * sizeof *x);
        memcpy(y, u, (size_t)unit->count * sizeof *y);
        y[0] = fmax(u[0], 0.0);
        return;
    }
    // friction of a slipping part is that of law(q), scaled to the normal impulse of p
    double at_q[CR_UNIT_ROWS], n = fmax(p[0], 0.0), grow = n / q[0];
    memcpy(x, p, (size_t)unit->count * sizeof *x);
    x[0] = n;
    cr__relax_law(unit, x, x, NULL);
    cr__relax_law(unit, q, at_q, NULL);
    y[0] = 0.0;
    for (int k = 0; k < unit->part_count; k++) {
        const crUnitPart* part = &unit->part[k];
        bool inside = true;
        for (int a = part->at; a < part->at + part->count; a++) {
            inside = inside && at_q[a] == q[a];
        }
        for (int a = part->at; a < part->at + part->count; a++) {
            y[a] = 0.0;
            if (!inside) x[a] = grow * at_q[a];
        }
        if (!inside) slip_velocity(part, q, at_q, u, y);
    }
}
