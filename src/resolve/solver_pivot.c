// solver_pivot.c - principal pivoting for symmetric semidefinite W without cones: unilateral, equality, box
// rows.
//
// Every row is inside its bounds (w = u + b = 0) or at one of them. Block principal pivoting (Judice and
// Pires 1994) solves for the inside rows by a Cholesky factor, moves all rows that break their condition at
// once, and repeats while their number falls. Where it does not fall, a feasible active set method takes over
// (Stark and Parker's bounded least squares): it lowers p.W p/2 + q.p at each step, hence ends. Where W is
// singular on the inside rows the proximal point method solves W + shift I about the last point until the
// point stays (Rockafellar 1976), which is the same as iterative refinement with the shifted factor once the
// set is right; points that run away along d with W d = 0 and q.d < 0 prove that there is no solution.
// Residuals come from W as given. p as it comes tells which rows start inside, where it is not zero; it
// changes only with a solution. Fails: cones are left STALLED at once; unsymmetric or indefinite W, and what
// stays unsolved, go to Lemke's method (report->method says so).
#include "infeasible.h"
#include "lcp.h"
#include "linalg/active.h"
#include "linalg/compensated.h"

#include "resolve/kinds.h"
#include <string.h>

typedef enum State { AT_LO, AT_HI, INSIDE, FIXED } State;
typedef enum Verdict { DONE, DEPENDENT, INDEFINITE, STUCK } Verdict;

// in units of the diagonal, which scaling brings near one
#define SHIFT         1e-8
#define DEPENDENT_TOL 1e-12

typedef struct Pivoting {
    size_t n;
    int iterations;
    int max_iterations;
    double* W;             // symmetric part, scaled to unit diagonal by powers of two (n*n)
    const double* given;   // W as given, unscaled (n*n)
    double* scale;         // p = scale * x (n)
    double* q;             // of the problem, scaled (n)
    double* c;             // constants of the current subproblem: w = (W + shift) x + c (n)
    double* lo;            // (n)
    double* hi;            // (n)
    double* x;             // (n)
    double* w;             // (n)
    double* anchor;        // centre of the proximal term (n)
    double* target;        // (n)
    double* p;             // x unscaled, work (n)
    unsigned char* state;  // (n)
    int* changed;          // (n)
    crActive active;
    double size;  // of q
} Pivoting;

static bool at_bound(const Pivoting* s, size_t i) { return s->state[i] != INSIDE; }

static double bound_value(const Pivoting* s, size_t i) {
    if (s->state[i] == AT_LO) return s->lo[i];
    if (s->state[i] == AT_HI) return s->hi[i];
    return s->lo[i] > 0.0 ? s->lo[i] : (s->hi[i] < 0.0 ? s->hi[i] : 0.0);
}

// brings the factor to the rows inside; false where they are dependent
static bool factor_pivot(Pivoting* s, double* pivot) {
    crActive* active = &s->active;
    int leaving = 0, first = active->count;
    for (int k = active->count - 1; k >= 0; k--) {
        if (!at_bound(s, (size_t)active->index[k])) continue;
        leaving++;
        first = k;
    }
    // a few are rotated out; many are cheaper to factor again from the first one on
    if (leaving * 8 < active->count - first) {
        for (int k = active->count - 1; k >= first; k--) {
            if (at_bound(s, (size_t)active->index[k])) cr__active_remove(active, k);
        }
    } else {
        active->count = first;
    }
    for (size_t i = 0; i < s->n; i++) {
        s->changed[i] = s->state[i] == INSIDE;
    }
    for (int k = 0; k < active->count; k++) {
        s->changed[active->index[k]] = 0;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (s->changed[i] && !cr__active_add(active, (int)i, DEPENDENT_TOL, pivot)) return false;
    }
    return true;
}

// target = the point where w = 0 on inside rows and the others are at their bounds
static void solve_inside(Pivoting* s) {
    const crActive* active = &s->active;
    bool offset = false;
    for (size_t i = 0; i < s->n; i++) {
        s->target[i] = at_bound(s, i) ? bound_value(s, i) : 0.0;
        offset = offset || s->target[i] != 0.0;
    }
    double* rhs = s->w;  // overwritten by the next w
    for (int k = 0; k < active->count; k++) {
        int i = active->index[k];
        double known = offset ? cr__dot(s->W + (size_t)i * s->n, s->target, (int)s->n) : 0.0;
        rhs[k] = -(s->c[i] + known);
    }
    cr__active_solve(active, rhs);
    for (int k = 0; k < active->count; k++) {
        s->target[active->index[k]] = rhs[k];
    }
}

static void compute_w(Pivoting* s) {
    for (size_t i = 0; i < s->n; i++) {
        s->w[i] = cr__dot(s->W + i * s->n, s->x, (int)s->n) + s->active.shift * s->x[i] + s->c[i];
    }
}

static double largest_pivot(const double* x, size_t n) {
    double m = 0.0;
    for (size_t i = 0; i < n; i++) {
        m = fmax(m, fabs(x[i]));
    }
    return m;
}

// where a row that breaks its condition must go; its own state where it does not
static State wanted_state(const Pivoting* s, size_t i, double x_tol, double w_tol) {
    switch (s->state[i]) {
    case AT_LO:
        return s->w[i] < -w_tol && s->hi[i] > s->lo[i] ? INSIDE : AT_LO;
    case AT_HI:
        return s->w[i] > w_tol && s->hi[i] > s->lo[i] ? INSIDE : AT_HI;
    case INSIDE:
        if (s->x[i] < s->lo[i] - x_tol) return AT_LO;
        return s->x[i] > s->hi[i] + x_tol ? AT_HI : INSIDE;
    default:
        return FIXED;
    }
}

static Verdict refused(double pivot) { return pivot < -1e-9 ? INDEFINITE : DEPENDENT; }

// all offenders at once, while their number falls or patience lasts
static Verdict block_pivoting(Pivoting* s) {
    int fewest = (int)s->n + 1;
    int patience = 5;
    double pivot;
    while (s->iterations < s->max_iterations) {
        if (!factor_pivot(s, &pivot)) return refused(pivot);
        solve_inside(s);
        memcpy(s->x, s->target, s->n * sizeof(double));
        compute_w(s);
        s->iterations++;
        double x_tol = 1e-13 * largest_pivot(s->x, s->n);
        double w_tol = 1e-13 * s->size;
        int offenders = 0;
        for (size_t i = 0; i < s->n; i++) {
            offenders += wanted_state(s, i, x_tol, w_tol) != s->state[i];
        }
        if (offenders == 0) return DONE;
        if (offenders < fewest) {
            fewest = offenders;
            patience = 5;
        } else if (patience-- == 0) {
            return STUCK;
        }
        for (size_t i = 0; i < s->n; i++) {
            s->state[i] = (unsigned char)wanted_state(s, i, x_tol, w_tol);
        }
    }
    return STUCK;
}

// moves x towards target up to the first bound; that row's index, or -1 where target is reached
static int step_to_bound(Pivoting* s, double* length) {
    int blocking = -1;
    *length = 1.0;
    for (int k = 0; k < s->active.count; k++) {
        size_t i = (size_t)s->active.index[k];
        double d = s->target[i] - s->x[i];
        double room = d < 0.0 ? s->lo[i] - s->x[i] : s->hi[i] - s->x[i];
        if (d == 0.0 || room / d >= *length) continue;
        *length = fmax(0.0, room / d);
        blocking = k;
    }
    for (int k = 0; k < s->active.count; k++) {
        size_t i = (size_t)s->active.index[k];
        s->x[i] = *length < 1.0 ? s->x[i] + *length * (s->target[i] - s->x[i]) : s->target[i];
    }
    return blocking;
}

// the row at a bound that gains most by leaving it, or n; rows that came straight back are passed over
static size_t worst_offender(const Pivoting* s, double w_tol) {
    size_t worst = s->n;
    double most = w_tol;
    for (size_t i = 0; i < s->n; i++) {
        if (s->changed[i] || wanted_state(s, i, 0.0, w_tol) == s->state[i] || s->state[i] == INSIDE) continue;
        if (fabs(s->w[i]) > most) {
            most = fabs(s->w[i]);
            worst = i;
        }
    }
    return worst;
}

// x into its bounds, and the rows inside are those strictly between
static void make_feasible(Pivoting* s) {
    for (size_t i = 0; i < s->n; i++) {
        if (s->state[i] == FIXED) continue;
        double x = s->x[i];
        if (s->state[i] != INSIDE) x = bound_value(s, i);
        if (x <= s->lo[i]) s->state[i] = AT_LO;
        if (x >= s->hi[i]) s->state[i] = AT_HI;
        s->x[i] = fmin(s->hi[i], fmax(s->lo[i], x));
    }
}

// one row at a time, the energy falling at each step
static Verdict active_set_pivot(Pivoting* s) {
    double pivot;
    make_feasible(s);
    if (!factor_pivot(s, &pivot)) return refused(pivot);
    memset(s->changed, 0, s->n * sizeof(int));
    size_t entered = s->n;
    while (s->iterations < s->max_iterations) {
        double length;
        s->iterations++;
        solve_inside(s);
        int blocking = step_to_bound(s, &length);
        if (length > 0.0) memset(s->changed, 0, s->n * sizeof(int));
        if (blocking >= 0) {
            size_t i = (size_t)s->active.index[blocking];
            s->state[i] = s->target[i] < s->x[i] || s->x[i] <= s->lo[i] ? AT_LO : AT_HI;
            s->x[i] = bound_value(s, i);
            if (i == entered && length == 0.0) s->changed[i] = 1;
            cr__active_remove(&s->active, blocking);
            continue;
        }
        compute_w(s);
        entered = worst_offender(s, 1e-13 * s->size);
        if (entered == s->n) return DONE;
        s->state[entered] = INSIDE;
        if (!cr__active_add(&s->active, (int)entered, DEPENDENT_TOL, &pivot)) return refused(pivot);
    }
    return STUCK;
}

static Verdict solve_subproblem(Pivoting* s) {
    Verdict verdict = block_pivoting(s);
    return verdict == STUCK ? active_set_pivot(s) : verdict;
}

// w = W x + q of the problem as given, in doubled precision where exact is set
static double given_w(const Pivoting* s, size_t i, const double* p, bool exact) {
    const double* row = s->given + i * s->n;
    double constant = s->q[i] / s->scale[i];
    double w =
        exact ? cr__dot_compensated(constant, row, p, (int)s->n) : cr__dot(row, p, (int)s->n) + constant;
    return s->scale[i] * w;
}

static void unscale(const Pivoting* s, double* p) {
    for (size_t i = 0; i < s->n; i++) {
        p[i] = s->scale[i] * fmin(s->hi[i], fmax(s->lo[i], s->x[i]));
    }
}

// natural map |x - clamp(x - w)| of the scaled problem, w from W as given
static double residual_pivot(const Pivoting* s) {
    double* p = s->p;
    double worst = 0.0;
    unscale(s, p);
    for (size_t i = 0; i < s->n; i++) {
        double x = p[i] / s->scale[i];
        double r = fabs(x - fmin(s->hi[i], fmax(s->lo[i], x - given_w(s, i, p, false))));
        if (!(r <= worst)) worst = r;
    }
    return worst;
}

// one step of refinement on the inside rows
static void refine_pivot(Pivoting* s) {
    unscale(s, s->p);
    for (int k = 0; k < s->active.count; k++) {
        s->target[k] = -given_w(s, (size_t)s->active.index[k], s->p, true);
    }
    cr__active_solve(&s->active, s->target);
    for (int k = 0; k < s->active.count; k++) {
        s->x[s->active.index[k]] += s->target[k];
    }
}

// best of x and its refinements; the residual reached
static double polish_pivot(Pivoting* s, int rounds) {
    double best = residual_pivot(s);
    double* kept = s->w;
    for (int k = 0; k < rounds && best > 0.0; k++) {
        memcpy(kept, s->x, s->n * sizeof(double));
        refine_pivot(s);
        double reached = residual_pivot(s);
        if (!(reached < best)) {
            memcpy(s->x, kept, s->n * sizeof(double));
            break;
        }
        bool slow = reached > 0.5 * best;
        best = reached;
        if (slow) break;
    }
    return best;
}

// constants that put the proximal term and the unsymmetric part of W at the anchor
static void recentre(Pivoting* s) {
    unscale(s, s->p);
    for (size_t i = 0; i < s->n; i++) {
        s->anchor[i] = s->p[i] / s->scale[i];
    }
    for (size_t i = 0; i < s->n; i++) {
        double symmetric = cr__dot(s->W + i * s->n, s->anchor, (int)s->n);
        s->c[i] = given_w(s, i, s->p, true) - symmetric - s->active.shift * s->anchor[i];
    }
}

// true where the last proximal step d proves that there is no solution
static bool runs_away(Pivoting* s) {
    double* d = s->target;
    double slope = 0.0, length = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        d[i] = s->x[i] - s->anchor[i];
        length = fmax(length, fabs(d[i]));
    }
    if (!(length > 1e3 * s->size)) return false;
    for (size_t i = 0; i < s->n; i++) {
        d[i] /= length;
        // noise in directions that bounds forbid is left out
        if ((d[i] < 0.0 && isfinite(s->lo[i])) || (d[i] > 0.0 && isfinite(s->hi[i]))) {
            if (fabs(d[i]) > 1e-9) return false;
            d[i] = 0.0;
        }
        slope += s->q[i] * d[i];
    }
    if (!(slope < -1e-9 * s->size)) return false;
    for (size_t j = 0; j < s->n; j++) {
        double column = 0.0;
        for (size_t i = 0; i < s->n; i++) {
            column += s->scale[i] * s->given[i * s->n + j] * s->scale[j] * d[i];
        }
        if (!(fabs(column) <= 1e-9)) return false;
    }
    return true;
}

static crOutcome proximal(Pivoting* s, double tol) {
    double before = (double)INFINITY;
    int slow = 0;
    for (int outer = 0; outer < 200; outer++) {
        recentre(s);
        Verdict verdict = solve_subproblem(s);
        if (verdict != DONE) return CR_OUTCOME_STALLED;
        if (runs_away(s)) return CR_OUTCOME_INFEASIBLE;
        double reached = residual_pivot(s);
        if (reached <= tol) return CR_OUTCOME_SOLVED;
        slow = reached < 0.7 * before ? 0 : slow + 1;
        if (slow > 6) return CR_OUTCOME_STALLED;
        before = fmin(before, reached);
    }
    return CR_OUTCOME_STALLED;
}

// rows of zeros decide themselves: false where their constant cannot be met
static bool settle_zero_row(Pivoting* s, size_t i) {
    s->state[i] = FIXED;
    double q = s->q[i];
    bool meets_lo = q >= -1e-12 * s->size && isfinite(s->lo[i]);
    bool meets_hi = q <= 1e-12 * s->size && isfinite(s->hi[i]);
    if (isinf(s->lo[i]) && isinf(s->hi[i])) return fabs(q) <= 1e-12 * s->size;
    s->x[i] = meets_lo ? s->lo[i] : s->hi[i];
    if (meets_lo) s->hi[i] = s->lo[i];
    if (!meets_lo && meets_hi) s->lo[i] = s->hi[i];
    return meets_lo || meets_hi;
}

static void set_bounds(const crProblem* problem, Pivoting* s) {
    for (int b = 0; b < problem->block_count; b++) {
        const crBlock* block = &problem->blocks[b];
        for (int k = 0; k < block->count; k++) {
            size_t i = (size_t)(block->row + k);
            s->lo[i] = block->kind == CR_BLOCK_UNILATERAL ? 0.0 : -(double)INFINITY;
            s->hi[i] = (double)INFINITY;
            if (block->kind == CR_BLOCK_BOX) {
                s->lo[i] = block->lo / s->scale[i];
                s->hi[i] = block->hi / s->scale[i];
            }
        }
    }
}

// a first guess: where p was, or at the bound that the constant points to
static void set_states(Pivoting* s, const double* p) {
    bool warm = largest_pivot(p, s->n) > 0.0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->state[i] == FIXED) continue;
        double x = p[i] / s->scale[i];
        bool inside = isfinite(s->lo[i]) ? s->q[i] < 0.0 : s->q[i] > 0.0;
        if (warm) inside = x > s->lo[i] && x < s->hi[i];
        if (inside || (isinf(s->lo[i]) && isinf(s->hi[i]))) {
            s->state[i] = (unsigned char)(s->lo[i] < s->hi[i] ? INSIDE : AT_LO);
        } else {
            s->state[i] = (unsigned char)(isfinite(s->lo[i]) ? AT_LO : AT_HI);
        }
    }
}

// scaled symmetric part; false where W is no candidate for this method
static bool set_matrix(const crProblem* problem, Pivoting* s) {
    size_t n = s->n;
    for (size_t i = 0; i < n; i++) {
        double diagonal = s->given[i * n + i];
        if (diagonal < 0.0) return false;
        s->scale[i] = diagonal > 0.0 ? cr__power_of_two(1.0 / sqrt(diagonal)) : 1.0;
        double bias = problem->b != NULL ? problem->b[i] : 0.0;
        s->q[i] = s->scale[i] * (problem->u_free[i] + bias);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double a = s->given[i * n + j], b = s->given[j * n + i];
            double size = s->scale[i] * s->scale[j];
            // entries of a semidefinite matrix of unit diagonal are at most one
            if (fabs(a - b) * size > 1e-2 || fabs(a + b) * size > 8.0) return false;
            double value = a == b ? size * a : 0.5 * size * (a + b);
            s->W[i * n + j] = value;
            s->W[j * n + i] = value;
            bool on_zero_diagonal = s->given[i * n + i] == 0.0 || s->given[j * n + j] == 0.0;
            if (on_zero_diagonal && value != 0.0) return false;
        }
    }
    return true;
}

static bool allocate_pivot(crArena* arena, Pivoting* s) {
    size_t n = s->n;
    double* d = cr_arena_alloc(arena, (2 * n * n + 12 * n) * sizeof(double));
    int* k = cr_arena_alloc(arena, 2 * n * sizeof(int));
    s->state = cr_arena_alloc(arena, n);
    if (d == NULL || k == NULL || s->state == NULL) return false;
    s->W = d;
    s->active = (crActive){.A = s->W, .n = (int)n, .L = d + n * n, .turns = d + 2 * n * n, .index = k};
    double** vectors[] = {&s->scale, &s->q, &s->c,      &s->lo,     &s->hi,
                          &s->x,     &s->w, &s->anchor, &s->target, &s->p};
    for (size_t v = 0; v < 10; v++) {
        *vectors[v] = d + 2 * n * n + (2 + v) * n;
    }
    s->changed = k + n;
    memset(s->x, 0, n * sizeof(double));
    memset(s->state, 0, n);
    return true;
}

static crOutcome pivoting(Pivoting* s, double* reached) {
    memcpy(s->c, s->q, s->n * sizeof(double));
    Verdict verdict = solve_subproblem(s);
    if (verdict == DONE) {
        *reached = polish_pivot(s, 20);
        if (*reached <= 1e-13 * s->size) return CR_OUTCOME_SOLVED;
    }
    if (verdict == INDEFINITE) return CR_OUTCOME_STALLED;
    // dependent rows inside, an unsymmetric W, or too ill a condition for one solve
    s->active.count = 0;
    s->active.shift = SHIFT;
    if (verdict != DONE) memset(s->x, 0, s->n * sizeof(double));
    crOutcome outcome = proximal(s, 1e-14 * s->size);
    if (outcome != CR_OUTCOME_INFEASIBLE) *reached = polish_pivot(s, 20);
    return outcome;
}

static bool has_cones(const crProblem* problem) {
    for (int i = 0; i < problem->block_count; i++) {
        if (problem->blocks[i].kind == CR_BLOCK_CONE) return true;
    }
    return false;
}

static crStatus hand_over(const void* params, const crProblem* problem, crArena* arena, double* p,
                          crReport* report, crError* error) {
    crSolver lemke = cr__solver(&cr__solver_lemke, params);
    report->method = lemke.name;
    return lemke.solve(params, problem, arena, p, report, error);
}

static crStatus solve_pivot(const void* params, const crProblem* problem, crArena* arena, double* p,
                            crReport* report, crError* error) {
    const crSolverParams* given = params;
    report->outcome = CR_OUTCOME_STALLED;
    report->residual = (double)INFINITY;
    if (has_cones(problem)) return CR_OK;
    Pivoting s = {.n = (size_t)problem->rows};
    s.max_iterations =
        given != NULL && given->max_iterations > 0 ? given->max_iterations : 20 * problem->rows + 100;
    double* W = NULL;
    crStatus status = cr_problem_dense(problem, arena, &W);
    if (status != CR_OK || !allocate_pivot(arena, &s)) return CR_ERR_MEMORY;
    s.given = W;
    if (!set_matrix(problem, &s)) return hand_over(params, problem, arena, p, report, error);
    set_bounds(problem, &s);
    s.size = largest_pivot(s.q, s.n);
    bool possible = true;
    for (size_t i = 0; i < s.n; i++) {
        if (s.W[i * s.n + i] == 0.0) possible = settle_zero_row(&s, i) && possible;
    }
    set_states(&s, p);
    report->outcome = possible ? pivoting(&s, &report->residual) : CR_OUTCOME_INFEASIBLE;
    report->iterations = s.iterations;
    // the suspicion is not the proof; for raw problems Lemke's method has one
    status = cr__infeasible_confirm(problem, given, arena, report);
    if (status != CR_OK || (report->outcome == CR_OUTCOME_INFEASIBLE && !problem->raw)) return status;
    if (report->outcome == CR_OUTCOME_SOLVED) {
        unscale(&s, p);
        return CR_OK;
    }
    return hand_over(params, problem, arena, p, report, error);
}

const cr__SolverKind cr__solver_pivot = {"pivot", 6, solve_pivot};
