// judge_verdict.c - raw problems, single collisions and impacts of many contacts, in quadruple precision.
#include "judge.h"

#include <math.h>

#define EPS 0x1p-52

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
            Quad term = quad_entry(&problem->W, i, j) * z[j];
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
    if (problem->W.value != NULL) return quad_entry(&problem->W, i, j);
    Quad sum = 0;
    for (int a = 0; a < problem->nv; a++) {
        Quad left = quad_entry(&problem->J, i, a);
        for (int b = 0; left != 0 && b < problem->nv; b++) {
            sum += left * quad_entry(&problem->Minv, a, b) * quad_entry(&problem->J, j, b);
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
