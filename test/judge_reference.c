// judge_reference.c - reference solutions of small problems, in quadruple precision.
#include "judge.h"

#include <math.h>
#include <string.h>

#define SMALL 8  // rows of a reference problem, at most

// q = u_free + b
static Quad given(const crProblem* problem, int i) {
    return (Quad)problem->u_free[i] + (problem->b != NULL ? (Quad)problem->b[i] : 0);
}

typedef struct Linear {
    int n;
    Quad A[SMALL][SMALL + 1];  // rows of equations, right side last
} Linear;

// full pivoting; unknowns without a pivot are zero; false where the equations contradict each other
static bool eliminate(Linear* s, Quad* x) {
    int column[SMALL];
    Quad size = 0;
    for (int j = 0; j < s->n; j++) {
        column[j] = j;
        x[j] = 0;
    }
    int rank = 0;
    for (; rank < s->n; rank++) {
        int row = rank, col = rank;
        for (int i = rank; i < s->n; i++) {
            for (int j = rank; j < s->n; j++) {
                if (quad_abs(s->A[i][j]) > quad_abs(s->A[row][col])) {
                    row = i;
                    col = j;
                }
            }
        }
        if (rank == 0) size = quad_abs(s->A[row][col]);
        if (quad_abs(s->A[row][col]) <= (Quad)1e-28 * size) break;
        for (int j = 0; j <= s->n; j++) {
            Quad t = s->A[rank][j];
            s->A[rank][j] = s->A[row][j];
            s->A[row][j] = t;
        }
        for (int i = 0; i < s->n; i++) {
            Quad t = s->A[i][rank];
            s->A[i][rank] = s->A[i][col];
            s->A[i][col] = t;
        }
        int t = column[rank];
        column[rank] = column[col];
        column[col] = t;
        for (int i = rank + 1; i < s->n; i++) {
            Quad f = s->A[i][rank] / s->A[rank][rank];
            for (int j = rank; j <= s->n; j++) {
                s->A[i][j] -= f * s->A[rank][j];
            }
        }
    }
    for (int i = rank - 1; i >= 0; i--) {
        Quad sum = s->A[i][s->n];
        for (int j = i + 1; j < rank; j++) {
            sum -= s->A[i][j] * x[column[j]];
        }
        x[column[i]] = sum / s->A[i][i];
    }
    return true;
}

typedef struct Case {
    const crProblem* problem;
    int n;
    Quad W[SMALL][SMALL], q[SMALL], size;
} Case;

static bool open_case(Case* c, const crProblem* problem) {
    if (problem->rows > SMALL || problem->W.value == NULL) return false;
    c->problem = problem;
    c->n = problem->rows;
    c->size = 0;
    for (int i = 0; i < c->n; i++) {
        c->q[i] = given(problem, i);
        c->size += quad_abs(c->q[i]);
        for (int j = 0; j < c->n; j++) {
            c->W[i][j] = quad_entry(&problem->W, i, j);
        }
    }
    return true;
}

static void equation_velocity(const Case* c, Linear* s, int i) {
    for (int j = 0; j < c->n; j++) {
        s->A[i][j] = c->W[i][j];
    }
    s->A[i][c->n] = -c->q[i];
}

static void equation_value(Linear* s, int i, Quad value) {
    s->A[i][i] = 1;
    s->A[i][s->n] = value;
}

static void velocity_of(const Case* c, const Quad* p, Quad* w) {
    for (int i = 0; i < c->n; i++) {
        w[i] = c->q[i];
        for (int j = 0; j < c->n; j++) {
            w[i] += c->W[i][j] * p[j];
        }
    }
}

static int mode_count(const crBlock* b) {
    switch (b->kind) {
    case CR_BLOCK_EQUALITY:
        return 1;
    case CR_BLOCK_UNILATERAL:
        return 1 << b->count;
    case CR_BLOCK_BOX:
        return b->count == 1 ? 3 : 0;
    default:
        return b->count == 2 && b->vertex_count == 0 ? 4 : 0;
    }
}

static void pose(const Case* c, const crBlock* b, int mode, Linear* s) {
    for (int k = 0; k < b->count; k++) {
        int r = b->row + k;
        bool open =
            (b->kind == CR_BLOCK_UNILATERAL && (mode >> k & 1)) || (b->kind == CR_BLOCK_CONE && mode == 0);
        if (open) {
            equation_value(s, r, 0);
        } else if (b->kind == CR_BLOCK_BOX && mode > 0) {
            equation_value(s, r, (Quad)(mode == 1 ? b->lo : b->hi));
        } else if (b->kind == CR_BLOCK_CONE && k == 1 && mode > 1) {
            s->A[r][r] = 1;
            s->A[r][b->row] = (mode == 2 ? -1 : 1) * (Quad)b->mu;
        } else {
            equation_velocity(c, s, r);
        }
    }
}

// every law of the block to 1e-25 of sizes
static bool obeys(const Case* c, const crBlock* b, const Quad* p, const Quad* w, Quad small_p) {
    Quad small_w = (Quad)1e-25 * c->size;
    for (int k = 0; k < b->count; k++) {
        Quad x = p[b->row + k], u = w[b->row + k], lo = 0, hi = (Quad)INFINITY;
        if (b->kind == CR_BLOCK_EQUALITY) {
            if (quad_abs(u) > small_w) return false;
            continue;
        }
        if (b->kind == CR_BLOCK_BOX) {
            lo = (Quad)b->lo;
            hi = (Quad)b->hi;
        }
        if (b->kind == CR_BLOCK_CONE && k == 1) {
            Quad pn = p[b->row] > 0 ? p[b->row] : 0;
            if (isinf(b->mu)) {
                if (pn > small_p && quad_abs(u) > small_w) return false;
                if (!(pn > small_p) && quad_abs(x) > small_p) return false;
                continue;
            }
            hi = (Quad)b->mu * pn;
            lo = -hi;
        }
        if (x < lo - small_p || x > hi + small_p) return false;
        if (u > small_w && x > lo + small_p) return false;
        if (u < -small_w && x < hi - small_p) return false;
    }
    return true;
}

static bool try_modes(const Case* c, const int* mode, double* p) {
    Linear s = {.n = c->n};
    Quad x[SMALL], w[SMALL], largest = 0;
    for (int i = 0; i < c->problem->block_count; i++) {
        const crBlock* b = &c->problem->blocks[i];
        bool infinite = b->kind == CR_BLOCK_CONE && mode[i] > 1 && isinf(b->mu);
        bool endless = b->kind == CR_BLOCK_BOX && mode[i] > 0 && !isfinite(mode[i] == 1 ? b->lo : b->hi);
        if (infinite || endless) return false;
        pose(c, b, mode[i], &s);
    }
    if (!eliminate(&s, x)) return false;
    velocity_of(c, x, w);
    for (int i = 0; i < c->n; i++) {
        if (quad_abs(x[i]) > largest) largest = quad_abs(x[i]);
    }
    for (int i = 0; i < c->problem->block_count; i++) {
        if (!obeys(c, &c->problem->blocks[i], x, w, (Quad)1e-25 * largest)) return false;
    }
    for (int i = 0; i < c->n; i++) {
        p[i] = (double)x[i];
    }
    return true;
}

// slip of one cone in direction d: normal from w_n = 0; returns false where it does not press
static bool slip_along(const Case* c, Quad mu, const Quad* d, Quad* x, Quad* across, Quad* along) {
    Quad slope = c->W[0][0] + mu * (c->W[0][1] * d[0] + c->W[0][2] * d[1]), w[3];
    if (!(slope > 0) || !(c->q[0] < 0)) return false;
    x[0] = -c->q[0] / slope;
    x[1] = mu * x[0] * d[0];
    x[2] = mu * x[0] * d[1];
    velocity_of(c, x, w);
    *across = w[1] * d[1] - w[2] * d[0];
    *along = w[1] * d[0] + w[2] * d[1];
    return true;
}

static void between(const Quad* a, const Quad* b, Quad* mid) {
    Quad x = a[0] + b[0], y = a[1] + b[1], size = quad_sqrt(x * x + y * y);
    mid[0] = x / size;
    mid[1] = y / size;
}

static bool slip_reference(const Case* c, double mu, double* p) {
    Quad last[2] = {0}, last_across = 0;
    bool known = false;
    for (int k = 0; k <= 720; k++) {
        double angle = 0.123 + 2 * CR_PI * k / 720;
        Quad raw[2] = {(Quad)cos(angle), (Quad)sin(angle)}, d[2], x[3], across, along;
        between(raw, raw, d);
        if (!slip_along(c, (Quad)mu, d, x, &across, &along)) {
            known = false;
            continue;
        }
        if (known && (across > 0) != (last_across > 0)) {
            Quad lo[2] = {last[0], last[1]}, hi[2] = {d[0], d[1]}, mid[2], value = 0;
            bool fine = true;
            for (int i = 0; i < 110 && fine; i++) {
                between(lo, hi, mid);
                fine = slip_along(c, (Quad)mu, mid, x, &value, &along);
                bool low = (value > 0) == (last_across > 0);
                memcpy(low ? lo : hi, mid, sizeof mid);
            }
            if (fine && along <= 0 && quad_abs(value) < (Quad)1e-20 * c->size) {
                for (int i = 0; i < 3; i++) {
                    p[i] = (double)x[i];
                }
                return true;
            }
        }
        memcpy(last, d, sizeof d);
        last_across = across;
        known = true;
    }
    return false;
}

static bool cone_reference(const Case* c, const crBlock* b, double* p) {
    Linear s = {.n = 3};
    Quad x[3], w[3];
    if (c->q[0] >= 0) {
        p[0] = p[1] = p[2] = 0.0;
        return true;
    }
    for (int i = 0; i < 3; i++) {
        equation_velocity(c, &s, i);
    }
    eliminate(&s, x);
    velocity_of(c, x, w);
    Quad tangent = quad_sqrt(x[1] * x[1] + x[2] * x[2]),
         left = quad_abs(w[0]) + quad_abs(w[1]) + quad_abs(w[2]);
    if (x[0] >= 0 && (isinf(b->mu) || tangent <= (Quad)b->mu * x[0]) && left < (Quad)1e-22 * c->size) {
        for (int i = 0; i < 3; i++) {
            p[i] = (double)x[i];
        }
        return true;
    }
    return isfinite(b->mu) && slip_reference(c, b->mu, p);
}

bool judge_reference(const crProblem* problem, double* p) {
    Case c;
    int mode[SMALL] = {0}, count[SMALL];
    if (!open_case(&c, problem)) return false;
    const crBlock* first = &problem->blocks[0];
    bool alone = problem->block_count == 1 && first->kind == CR_BLOCK_CONE && first->count == 3;
    if (alone && !first->spin && first->vertex_count == 0 && first->mu == first->mu2) {
        return cone_reference(&c, first, p);
    }
    for (int i = 0; i < problem->block_count; i++) {
        count[i] = mode_count(&problem->blocks[i]);
        if (count[i] == 0) return false;
    }
    for (;;) {
        if (try_modes(&c, mode, p)) return true;
        int i = 0;
        while (i < problem->block_count && ++mode[i] == count[i]) {
            mode[i++] = 0;
        }
        if (i == problem->block_count) return false;
    }
}
