// judge_reference.c - raw problems, single collisions and reference solutions, in quadruple precision.
#include "judge.h"

#include <math.h>
#include <string.h>

#define EPS   0x1p-52
#define SMALL 8  // rows of a reference problem, at most

static Quad entry(const crMatrix* A, int i, int j) {
    if (A->start == NULL) return (Quad)A->value[(size_t)i * (size_t)A->cols + (size_t)j];
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
        if (A->col[k] == j) return (Quad)A->value[k];
    }
    return 0;
}

// q = u_free + b
static Quad given(const crProblem* problem, int i) {
    return (Quad)problem->u_free[i] + (problem->b != NULL ? (Quad)problem->b[i] : 0);
}

// raw problems: all choices of which positive entries stay

static Quad raw_error(const crProblem* problem, const bool* equality, const Quad* z) {
    Quad worst = 0;
    for (int i = 0; i < problem->rows; i++) {
        Quad w = given(problem, i), s = quad_abs(w);
        for (int j = 0; j < problem->rows; j++) {
            Quad term = entry(&problem->W, i, j) * z[j];
            w += term;
            s += quad_abs(term);
        }
        bool held = equality[i] || z[i] > 0;
        Quad off = held ? quad_abs(w) : w < 0 ? -w : 0;
        if (off > 0 && off > worst * s) worst = off / s;
    }
    return worst;
}

double judge_raw(const crProblem* problem, const double* z) {
    bool equality[JUDGE_ROWS] = {false};
    int open[JUDGE_ROWS], count = 0;
    Quad kept[JUDGE_ROWS], best = (Quad)INFINITY;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        for (int r = b->row; r < b->row + b->count; r++) {
            equality[r] = b->kind == CR_BLOCK_EQUALITY;
            if (!isfinite(z[r])) return (double)INFINITY;
            if (!equality[r] && z[r] > 0.0 && count < 12) open[count++] = r;
        }
    }
    for (unsigned set = 0; set < 1u << count; set++) {
        for (int r = 0; r < problem->rows; r++) {
            kept[r] = equality[r] || z[r] > 0.0 ? (Quad)z[r] : 0;
        }
        for (int k = 0; k < count; k++) {
            if (set >> k & 1u) kept[open[k]] = 0;
        }
        Quad error = raw_error(problem, equality, kept);
        if (error < best) best = error;
    }
    return (double)best;
}

// one collision

typedef struct Trio {
    Quad x[3];
} Trio;

static Trio trio(crVec3 v) { return (Trio){{(Quad)v.x, (Quad)v.y, (Quad)v.z}}; }
static Quad dot(const Trio* a, const Trio* b) {
    return a->x[0] * b->x[0] + a->x[1] * b->x[1] + a->x[2] * b->x[2];
}
static Trio times(Quad W[3][3], const Trio* v) {
    Trio out = {{0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out.x[i] += W[i][j] * v->x[j];
        }
    }
    return out;
}

// (Q.V)^2 / (2 (Q.W Q + 16 eps (sum s_i |Q_i|)^2))
static Quad taken_by(Quad W[3][3], const Trio* V, const Trio* Q) {
    Trio WQ = times(W, Q);
    Quad rough = 0, work = dot(Q, V);
    for (int i = 0; i < 3; i++) {
        rough += quad_sqrt(W[i][i]) * quad_abs(Q->x[i]);
    }
    Quad below = dot(Q, &WQ) + 16 * (Quad)EPS * rough * rough;
    return below > 0 ? work * work / (2 * below) : 0;
}

// V.(W + 16 eps diag W)^-1 V / 2 by elimination without pivoting: the matrix is positive definite; directions
// without any W are left out
static Quad most_available(Quad W[3][3], const Trio* V) {
    Quad A[3][4];
    bool out[3];
    for (int i = 0; i < 3; i++) {
        out[i] = !(W[i][i] > 0);
        for (int j = 0; j < 3; j++) {
            A[i][j] = W[i][j] * (i == j ? 1 + 16 * (Quad)EPS : 1);
        }
        A[i][3] = V->x[i];
    }
    Quad sum = 0;
    for (int k = 0; k < 3; k++) {
        if (out[k] || !(A[k][k] > 0)) continue;
        sum += A[k][3] * A[k][3] / (2 * A[k][k]);
        for (int i = k + 1; i < 3; i++) {
            Quad f = A[i][k] / A[k][k];
            for (int j = k; j < 4; j++) {
                A[i][j] -= f * A[k][j];
            }
        }
    }
    return sum;
}

JudgeImpact judge_impact(const crMat3* W, crVec3 V, crVec3 n, double mu, crVec3 P, double tol) {
    Quad w[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            w[i][j] = ((Quad)W->m[i][j] + (Quad)W->m[j][i]) / 2;
        }
    }
    Trio v = trio(V), normal = trio(n), p = trio(P), change = times(w, &p);
    Quad size = quad_sqrt(dot(&normal, &normal));
    for (int i = 0; i < 3; i++) {
        normal.x[i] /= size;
    }
    Quad pn = dot(&normal, &p), tangent = quad_sqrt(dot(&p, &p) - pn * pn > 0 ? dot(&p, &p) - pn * pn : 0);
    Quad energy = dot(&p, &v) + dot(&p, &change) / 2;
    Quad approach = -(dot(&normal, &v) + dot(&normal, &change));
    Quad cone = isinf(mu) ? 0 : tangent - (Quad)mu * pn;
    Quad least = 0, speed = quad_sqrt(dot(&v, &v)), top = 0, sum = w[0][0] + w[1][1] + w[2][2];
    const Trio* tries[3] = {&normal, &v, &p};
    for (int i = 0; i < 3; i++) {
        Quad e = taken_by(w, &v, tries[i]);
        if (e > least) least = e;
        if (w[i][i] > top) top = w[i][i];
    }
    Quad most = most_available(w, &v), share = (Quad)tol;
    Quad room = isinf(mu) ? 1 : 1 + (Quad)mu, loose = top > 0 ? speed / top : 0,
         tight = sum > 0 ? speed / sum : 0;
    JudgeImpact out = {(double)energy, (double)approach, (double)-pn, (double)cone, false, false, false,
                       false};
    out.quiet = energy <= share * most;
    out.creates = !out.quiet;
    out.may = out.quiet && approach <= share * speed && -pn <= share * loose && cone <= share * room * loose;
    out.must = energy <= share * least && approach <= share * speed && -pn <= share * tight &&
               cone <= share * room * tight;
    return out;
}

// an impact of many contacts

static Quad weight_of(const crProblem* problem, int i, int j) {
    if (problem->W.value != NULL) return entry(&problem->W, i, j);
    Quad sum = 0;
    for (int a = 0; a < problem->nv; a++) {
        Quad left = entry(&problem->J, i, a);
        for (int b = 0; left != 0 && b < problem->nv; b++) {
            sum += left * entry(&problem->Minv, a, b) * entry(&problem->J, j, b);
        }
    }
    return sum;
}

// u.(W + 16 eps diag W)^-1 u / 2
static Quad energy_in(int n, Quad W[JUDGE_ROWS][JUDGE_ROWS], const Quad* u) {
    Quad A[JUDGE_ROWS][JUDGE_ROWS + 1], sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            A[i][j] = W[i][j] * (i == j ? 1 + 16 * (Quad)EPS : 1);
        }
        A[i][n] = u[i];
    }
    for (int k = 0; k < n; k++) {
        if (!(A[k][k] > 0)) continue;
        sum += A[k][n] * A[k][n] / (2 * A[k][k]);
        for (int i = k + 1; i < n; i++) {
            Quad f = A[i][k] / A[k][k];
            for (int j = k; j <= n; j++) {
                A[i][j] -= f * A[k][j];
            }
        }
    }
    return sum;
}

static void judge_contact(const crProblem* problem, const crBlock* b, const double* p, const Quad* after,
                          Quad share, Quad speed, Quad top, JudgeRule* out) {
    bool cone = b->kind == CR_BLOCK_CONE;
    for (int k = 0; k < (cone ? 1 : b->count); k++) {
        double pn = p[b->row + k];
        out->approach = fmax(out->approach, (double)-after[b->row + k]);
        out->open = fmin(out->open, (double)-after[b->row + k]);
        out->tension = fmax(out->tension, -pn);
        if ((Quad)-pn * top > share * speed) out->may = false;
    }
    bool round = b->vertex_count == 0 && (b->count == 2 || (b->count == 3 && b->mu == b->mu2));
    if (!cone || !round || isinf(b->mu)) return;
    Quad t1 = (Quad)p[b->row + 1], t2 = b->count == 3 ? (Quad)p[b->row + 2] : 0;
    Quad off = quad_sqrt(t1 * t1 + t2 * t2) - (Quad)b->mu * (Quad)p[b->row];
    out->cone = fmax(out->cone, (double)off);
    if (off * top > share * (1 + (Quad)b->mu) * speed) out->may = false;
    (void)problem;
}

JudgeRule judge_rule(const crProblem* problem, const double* p, bool convex, double tol) {
    double inf = (double)INFINITY;
    JudgeRule out = {.approach = -inf, .open = inf, .tension = -inf, .cone = -inf, .joint = 0.0, .may = true};
    Quad W[JUDGE_ROWS][JUDGE_ROWS], u[JUDGE_ROWS], after[JUDGE_ROWS], energy = 0, speed = 0,
                                                                      share = (Quad)tol;
    int n = problem->rows;
    for (int i = 0; i < n; i++) {
        u[i] = after[i] = (Quad)problem->u_free[i];
        for (int j = 0; j < n; j++) {
            W[i][j] = weight_of(problem, i, j);
            after[i] += W[i][j] * (Quad)p[j];
        }
        energy += (Quad)p[i] * (u[i] + after[i]) / 2;
    }
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        Quad square = 0;
        for (int r = b->row; r < b->row + b->count; r++) {
            square += u[r] * u[r];
        }
        if (quad_sqrt(square) > speed) speed = quad_sqrt(square);
    }
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        if (b->kind != CR_BLOCK_EQUALITY) {
            judge_contact(problem, b, p, after, share, speed, W[b->row][b->row], &out);
            continue;
        }
        for (int r = b->row; r < b->row + b->count; r++) {
            out.joint = fmax(out.joint, (double)quad_abs(after[r]));
        }
    }
    out.energy = (double)energy;
    if (energy > share * energy_in(n, W, u)) out.may = false;
    if ((Quad)(convex ? out.open : out.approach) > share * speed || (Quad)out.joint > share * speed)
        out.may = false;
    return out;
}

// reference solutions

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
            c->W[i][j] = entry(&problem->W, i, j);
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
