// gradient_rule.c - derivatives of rules: by their stages, else by differences of their answers.
//
// Differences: f(t) is the rule's answer to the problem changed by t times the change. Central differences at t and t/2
// are extrapolated, and taken once two t in turn agree. A switch within t shows as a bend |f(t) + f(-t) - 2 f(0)|/t that does not fall with t; t is then made
// smaller, down to LEAST. What is left there is a switch at the problem itself: f has two sides, or jumps.
// Fails: CR_ERR_RANGE where the rule has no answer to either side.
#include "resolve/gradient_rule.h"

#include <string.h>

#include "base/argument.h"
#include "resolve/kinds.h"

#define LARGEST 0x1p-8  // first t, as a share of what changes
#define LEAST   1e-9    // last one
#define KINK    1e-6    // of the derivative: bends below it are none
#define AGREE   2e-8    // of the derivative: those of two t that are one
#define ROUND   1e-12   // of p: what solves leave

static crStatus no_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
}

crStatus cr_rule_modes_find(const crRule* rule, const crProblem* problem, crArena* arena, const double* p,
                            double near, crRuleModes* modes, crError* error) {
    if (rule == NULL || rule->resolve == NULL) return cr__missing(error, "rule");
    if (problem == NULL) return cr__missing(error, "problem");
    if (arena == NULL) return cr__missing(error, "arena");
    if (p == NULL) return cr__missing(error, "p");
    if (modes == NULL) return cr__missing(error, "modes");
    if (!(near >= 0.0)) return cr_error_set(error, CR_ERR_RANGE, "near", "near: is %g, must be >= 0", near);
    crStatus status = cr_problem_check(problem, error);
    if (status != CR_OK) return status;
    *modes = (crRuleModes){.rule = rule, .problem = problem, .p = p, .arena = arena, .distance = INFINITY};
    status = cr_problem_dense(problem, arena, &modes->W);
    modes->stages = cr_arena_alloc(arena, sizeof *modes->stages);
    if (status != CR_OK || modes->stages == NULL) return no_memory(error);
    memset(modes->stages, 0, sizeof *modes->stages);
    bool known = false;
    if (rule->resolve == cr__rule_newton.resolve || rule->resolve == cr__rule_coupled.resolve)
        known = cr__rule_bias_stages(modes, near);
    if (rule->resolve == cr__rule_poisson.resolve) known = cr__rule_poisson_stages(modes, near);
    if (rule->resolve == cr__rule_sequence.resolve) known = cr__rule_sequence_stages(modes, near);
    modes->differenced = !known || modes->distance <= near;
    if (!known) {
        modes->distance = (double)NAN;
        modes->nearest = CR_SWITCH_UNKNOWN;
    }
    return CR_OK;
}

// differences

static double largest_change(const double* x, size_t n) {
    double most = 0.0;
    for (size_t i = 0; x != NULL && i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// the number that the change may be multiplied with until something doubles
static double reach_of(const crRuleModes* m, const crRuleChange* change) {
    size_t n = (size_t)m->problem->rows, blocks = (size_t)m->problem->block_count;
    double u = largest_change(change->u_free, n), W = largest_change(change->W, n * n), reach = INFINITY;
    double other = fmax(largest_change(change->e, blocks), largest_change(change->et, blocks));
    if (u > 0.0) reach = fmin(reach, largest_change(m->problem->u_free, n) / u);
    if (W > 0.0) reach = fmin(reach, largest_change(m->W, n * n) / W);
    if (other > 0.0) reach = fmin(reach, 1.0 / other);
    for (size_t i = 0; i < blocks; i++) {
        const crBlock* b = &m->problem->blocks[i];
        const double at[3] = {b->mu, b->mu_spin, b->mu_roll};
        const double* by[3] = {change->mu, change->mu_spin, change->mu_roll};
        for (int k = 0; k < 3; k++) {
            double dmu = by[k] != NULL ? fabs(by[k][i]) : 0.0;
            if (dmu > 0.0) reach = fmin(reach, (at[k] > 0.0 ? at[k] : 1.0) / dmu);
        }
    }
    return reach;
}

static bool in_range(const crBlock* b) {
    return b->mu >= 0.0 && b->mu2 >= 0.0 && b->mu_spin >= 0.0 && b->mu_roll >= 0.0 && b->e >= 0.0 &&
           b->et >= -1.0 && b->et <= 1.0;
}

// the rule's answer at t; false: there is none
static bool answer(const crRuleModes* m, const crRuleChange* change, double t, double* p) {
    const crProblem* was = m->problem;
    size_t n = (size_t)was->rows, blocks = (size_t)was->block_count, mark = cr_arena_mark(m->arena);
    crBlock* block = cr_arena_alloc(m->arena, (blocks + 1) * sizeof *block);
    double* u = cr_arena_alloc(m->arena, (n + 1) * sizeof *u);
    double* W = cr_arena_alloc(m->arena, (n * n + 1) * sizeof *W);
    bool good = block != NULL && u != NULL && W != NULL;
    for (size_t i = 0; good && i < blocks; i++) {
        block[i] = was->blocks[i];
        if (change->mu != NULL) block[i].mu += t * change->mu[i];
        if (change->mu != NULL) block[i].mu2 += t * change->mu[i];
        if (change->mu_spin != NULL && block[i].spin) block[i].mu_spin += t * change->mu_spin[i];
        if (change->mu_roll != NULL && block[i].roll) block[i].mu_roll += t * change->mu_roll[i];
        if (change->e != NULL) block[i].e += t * change->e[i];
        if (change->et != NULL) block[i].et += t * change->et[i];
        good = block[i].kind != CR_BLOCK_CONE || in_range(&block[i]);
    }
    for (size_t i = 0; good && i < n; i++) {
        u[i] = was->u_free[i] + (change->u_free != NULL ? t * change->u_free[i] : 0.0);
        for (size_t j = 0; j < n; j++) {
            W[i * n + j] = m->W[i * n + j] + (change->W != NULL ? t * change->W[i * n + j] : 0.0);
        }
    }
    if (good) {
        crProblem now = *was;
        crRuleReport report;
        now.blocks = block;
        now.u_free = u;
        now.W = (crMatrix){was->rows, was->rows, NULL, NULL, W};
        now.J = now.M = now.Minv = (crMatrix){0};
        now.v = NULL;
        now.nv = 0;
        memset(p, 0, n * sizeof *p);
        good = cr_rule_run(m->rule, &now, m->arena, p, &report, NULL) == CR_OK &&
               report.outcome == CR_OUTCOME_SOLVED;
    }
    cr_arena_release(m->arena, mark);
    return good;
}

typedef struct Sides {
    double* f[4];  // at -t, -t/2, t, t/2
    bool good[4];
    double* at;    // at 0
    double* last;  // derivative from the t before, where known
    bool known;
} Sides;

// |f(s) + f(-s) - 2 f(0)|/s, s = t or t/2
static double side_bend(const Sides* s, int which, double t, size_t n) {
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(s->f[which][i] + s->f[2 + which][i] - 2.0 * s->at[i]));
    }
    return most / (which == 0 ? t : 0.5 * t);
}

static void one_side(const Sides* s, int side, double t, size_t n, double* out) {
    double sign = side == 0 ? -1.0 : 1.0;
    for (size_t i = 0; i < n && out != NULL; i++) {
        double wide = (s->f[2 * side][i] - s->at[i]) / (sign * t);
        double narrow = (s->f[2 * side + 1][i] - s->at[i]) / (sign * 0.5 * t);
        out[i] = 2.0 * narrow - wide;
    }
}

static void both_sides(const Sides* s, double t, size_t n, double* out) {
    for (size_t i = 0; i < n && out != NULL; i++) {
        double wide = (s->f[2][i] - s->f[0][i]) / (2.0 * t), narrow = (s->f[3][i] - s->f[1][i]) / t;
        out[i] = (4.0 * narrow - wide) / 3.0;
    }
}

static crStatus difference(crRuleModes* m, const crRuleChange* change, double* minus, double* plus,
                           crError* error) {
    size_t n = (size_t)m->problem->rows;
    Sides s = {.at = cr_arena_alloc(m->arena, 6 * (n + 1) * sizeof(double))};
    if (s.at == NULL) return no_memory(error);
    for (int i = 0; i < 4; i++) {
        s.f[i] = s.at + (size_t)(i + 1) * (n + 1);
    }
    s.last = s.at + 5 * (n + 1);
    double reach = reach_of(m, change);
    for (size_t i = 0; i < n; i++) {
        if (minus != NULL) minus[i] = 0.0;
        if (plus != NULL) plus[i] = 0.0;
    }
    if (!(reach < INFINITY) || n == 0) return CR_OK;
    if (!answer(m, change, 0.0, s.at)) {
        return cr_error_set(error, CR_ERR_RANGE, "p", "p: the rule does not solve the problem");
    }
    for (double share = LARGEST;; share /= 32.0) {
        double t = share * reach;
        const double at[4] = {-t, -0.5 * t, t, 0.5 * t};
        for (int i = 0; i < 4; i++) {
            s.good[i] = answer(m, change, at[i], s.f[i]);
        }
        bool left = s.good[0] && s.good[1], right = s.good[2] && s.good[3], last = share / 32.0 < LEAST;
        if (!left && !right && last) {
            return cr_error_set(error, CR_ERR_RANGE, "p", "p: the rule has no answer on either side");
        }
        if (!(left && right)) {
            if (!last && !left && !right) continue;
            one_side(&s, left ? 0 : 1, t, n, minus);
            one_side(&s, left ? 0 : 1, t, n, plus);
            return CR_OK;
        }
        double wide = side_bend(&s, 0, t, n), narrow = side_bend(&s, 1, t, n);
        both_sides(&s, t, n, plus != NULL ? plus : minus);
        double slope = largest_change(plus != NULL ? plus : minus, n),
               noise = ROUND * largest_change(s.at, n) / t;
        double least = KINK * slope + 8.0 * noise;
        bool switches = narrow > 0.6 * wide && narrow > least;
        // a switch between t/2 and t bends the wider difference alone
        bool beyond = narrow < 0.3 * wide && wide > least;
        if ((switches || beyond) && !last) continue;
        if (!switches) {
            double* out = plus != NULL ? plus : minus;
            double apart = 0.0;
            for (size_t i = 0; i < n; i++) {
                apart = fmax(apart, fabs(out[i] - s.last[i]));
            }
            bool agree = s.known && apart <= AGREE * slope + 8.0 * noise;
            if (!agree && !last) {
                memcpy(s.last, out, n * sizeof *out);
                s.known = true;
                continue;
            }
            // of two that agree the wider difference has less rounding
            if (agree) memcpy(out, s.last, n * sizeof *out);
            if (plus != NULL && minus != NULL) memcpy(minus, plus, n * sizeof *minus);
            return CR_OK;
        }
        s.known = false;
        bool jumps = narrow > 1.5 * wide;
        one_side(&s, 0, t, n, minus);
        one_side(&s, 1, t, n, plus);
        crSmoothness found = jumps ? CR_NO_DERIVATIVE : CR_ONE_SIDED;
        if (found > m->verdict) m->verdict = found;
        if (jumps) m->jump = fmax(m->jump, wide * t);
        return CR_OK;
    }
}

crStatus cr_rule_modes_apply(crRuleModes* m, const crRuleChange* change, double* minus, double* plus,
                             crError* error) {
    if (m == NULL || m->problem == NULL || m->stages == NULL) return cr__missing(error, "modes");
    if (change == NULL) return cr__missing(error, "change");
    double* out = plus != NULL ? plus : minus;
    if (out == NULL) return CR_OK;
    size_t mark = cr_arena_mark(m->arena), n = (size_t)m->problem->rows;
    crStatus status = CR_OK;
    if (m->differenced) {
        status = difference(m, change, minus, plus, error);
    } else {
        status = m->stages->apply(m, change, out);
        if (minus != NULL && minus != out) memcpy(minus, out, n * sizeof *out);
    }
    cr_arena_release(m->arena, mark);
    return status;
}
