// gradient_stages.c - derivatives of newton, coupled and poisson by the modes of their stages.
//
//     newton, coupled   one problem with the bias b = E u before: its modes, with db = E du + dE u
//     poisson           compression p1, then the expansion x over u + W (p1 + r), r = e p1 at the normals, and
//                       p = p1 + r + x. A pinned block has the friction of r (rule_poisson.c)
// A change goes through the stages in their order. Without restitution there is no expansion.
// Fails: false where a stage has no modes (polygons, ellipses), or where the stages do not make the rule's answer:
// joints that tie slip to approach, prescribed impulses.
#include <string.h>

#include "resolve/gradient_rule.h"
#include "resolve/kinds.h"

#define SOLVED 1e-9  // residual of a stage
#define SAME   1e-8  // of p: stages that make the rule's answer

static bool contact(const crBlock* b) { return b->kind == CR_BLOCK_CONE || b->kind == CR_BLOCK_UNILATERAL; }

static double* numbers(crRuleModes* m, size_t n) {
    double* x = cr_arena_alloc(m->arena, (n + 1) * sizeof *x);
    if (x != NULL) memset(x, 0, (n + 1) * sizeof *x);
    return x;
}

static bool plain(const crRuleModes* m, crRuleParams* params) {
    *params = cr__rule_params_of(m->rule);
    for (int i = 0; i < m->problem->block_count; i++) {
        if (m->problem->blocks[i].kind == CR_BLOCK_BOX) return false;
    }
    return params->directions == 0 && params->impulse == NULL;
}

// the rows of a problem with W dense and a bias
static crProblem posed(const crRuleModes* m, const double* u, const double* b) {
    crProblem p = {.rows = m->problem->rows,
                   .block_count = m->problem->block_count,
                   .blocks = m->problem->blocks,
                   .u_free = u,
                   .b = b};
    p.W = (crMatrix){p.rows, p.rows, NULL, NULL, m->W};
    return p;
}

static bool find_modes(crRuleModes* m, int stage, const double* p, double near) {
    crModes* modes = &m->stages->modes[stage];
    if (cr_modes_find(&m->stages->posed[stage], m->arena, p, SOLVED, near, modes, NULL) != CR_OK)
        return false;
    cr__rule_note(m, modes->nearest, modes->distance);
    return modes->one;
}

// newton and coupled

static bool list_contacts(crRuleModes* m) {
    cr__RuleStages* s = m->stages;
    s->normal = cr_arena_alloc(m->arena, ((size_t)m->problem->rows + 1) * sizeof *s->normal);
    for (int i = 0; s->normal != NULL && i < m->problem->block_count; i++) {
        if (contact(&m->problem->blocks[i])) s->normal[s->contacts++] = m->problem->blocks[i].row;
    }
    return s->normal != NULL;
}

// b = E u + dE before, for coupled (eps) or newton (e, et)
static void bias(const crRuleModes* m, const double* u, const crRuleChange* change, double* b) {
    const cr__RuleStages* s = m->stages;
    bool coupled = m->rule->resolve == cr__rule_coupled.resolve;
    memset(b, 0, (size_t)m->problem->rows * sizeof *b);
    for (int i = 0; coupled && s->eps != NULL && i < s->contacts; i++) {
        for (int j = 0; j < s->contacts; j++) {
            b[s->normal[i]] += s->eps[i * s->contacts + j] * u[s->normal[j]];
        }
    }
    for (int i = 0; !coupled && i < m->problem->block_count; i++) {
        const crBlock* block = &m->problem->blocks[i];
        if (!contact(block)) continue;
        for (int k = 0; k < block->count; k++) {
            int row = block->row + k;
            bool tangential = block->kind == CR_BLOCK_CONE && k > 0;
            const double* de = change == NULL ? NULL : tangential ? change->et : change->e;
            b[row] = (tangential ? block->et : block->e) * u[row];
            if (de != NULL) b[row] += de[i] * m->problem->u_free[row];
        }
    }
}

static crStatus apply_bias(const crRuleModes* m, const crRuleChange* change, double* dp) {
    cr__RuleStages* s = m->stages;
    size_t n = (size_t)m->problem->rows;
    double *g = s->work, *db = g + n, *du = db + n, *before = du + n;
    for (size_t i = 0; i < n; i++) {
        before[i] = change->u_free != NULL ? change->u_free[i] : 0.0;
    }
    cr__rule_given(m, change, m->p, g);
    bias(m, before, change, db);
    crProblemChange whole = {g, db, NULL, change->mu, change->mu_spin, change->mu_roll};
    return cr_modes_apply(&s->modes[0], &whole, dp, du);
}

bool cr__rule_bias_stages(crRuleModes* m, double near) {
    crRuleParams params;
    size_t n = (size_t)m->problem->rows;
    cr__RuleStages* s = m->stages;
    double* b = numbers(m, n);
    s->work = numbers(m, 4 * n);
    if (!plain(m, &params) || b == NULL || s->work == NULL || !list_contacts(m)) return false;
    s->eps = params.eps;
    bias(m, m->problem->u_free, NULL, b);
    s->posed[0] = posed(m, m->problem->u_free, b);
    s->apply = apply_bias;
    return find_modes(m, 0, m->p, near);
}

// poisson

static bool solve_stage(crRuleModes* m, const crProblem* problem, double* p) {
    crSolverParams exact = cr_solver_params();
    exact.tol = 1e-14;
    crSolver solver = cr__solver(&cr__solver_auto, &exact);
    crReport report;
    return cr_solver_run(&solver, problem, SOLVED, m->arena, p, &report, NULL) == CR_OK &&
           report.outcome == CR_OUTCOME_SOLVED;
}

static void multiply_W(const double* W, size_t n, const double* x, double* y) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            y[i] += W[i * n + j] * x[j];
        }
    }
}

// blocks of the expansion: those of the problem, then a pinned one for each cone that gives back
static bool lay_out_stages(crRuleModes* m, crBlock** blocks, int* rows, int* block_count) {
    const crProblem* problem = m->problem;
    cr__RuleStages* s = m->stages;
    size_t n = 2 * (size_t)problem->rows + 1;
    *blocks = cr_arena_alloc(m->arena, (2 * (size_t)problem->block_count + 1) * sizeof **blocks);
    s->row = cr_arena_alloc(m->arena, n * sizeof *s->row);
    s->pinned = cr_arena_alloc(m->arena, n * sizeof *s->pinned);
    if (*blocks == NULL || s->row == NULL || s->pinned == NULL) return false;
    *rows = problem->rows;
    *block_count = problem->block_count;
    for (int i = 0; i < problem->rows; i++) {
        s->row[i] = i;
        s->pinned[i] = -1;
    }
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        (*blocks)[i] = *b;
        if (b->kind != CR_BLOCK_CONE || !(b->e * s->p1[b->row] > 0.0)) continue;
        (*blocks)[*block_count] = *b;
        (*blocks)[(*block_count)++].row = *rows;
        for (int k = 0; k < b->count; k++) {
            s->pinned[*rows] = i;
            s->row[(*rows)++] = k == 0 ? -1 : b->row + k;
        }
    }
    return true;
}

static bool pose_expansion(crRuleModes* m, const double* u) {
    cr__RuleStages* s = m->stages;
    crBlock* blocks;
    int rows, block_count;
    if (!lay_out_stages(m, &blocks, &rows, &block_count)) return false;
    size_t n = (size_t)rows, was = (size_t)m->problem->rows;
    double *W = numbers(m, n * n), *own = numbers(m, n);
    if (W == NULL || own == NULL) return false;
    for (size_t i = 0; i < n; i++) {
        if (s->row[i] < 0) {
            const crBlock* b = &m->problem->blocks[s->pinned[i]];
            double w = m->W[(size_t)b->row * (was + 1)];
            W[i * (n + 1)] = w;
            own[i] = -w * b->e * s->p1[b->row];
            continue;
        }
        own[i] = u[s->row[i]];
        for (size_t j = 0; j < n; j++) {
            if (s->row[j] >= 0) W[i * n + j] = m->W[(size_t)s->row[i] * was + (size_t)s->row[j]];
        }
    }
    s->posed[1] = (crProblem){.rows = rows, .block_count = block_count, .blocks = blocks, .u_free = own};
    s->posed[1].W = (crMatrix){rows, rows, NULL, NULL, W};
    return true;
}

// r = e p1 at the normals, as a change of it
static void give_back(const crRuleModes* m, const double* p1, const crRuleChange* change, double* r) {
    memset(r, 0, (size_t)m->problem->rows * sizeof *r);
    for (int i = 0; i < m->problem->block_count; i++) {
        const crBlock* b = &m->problem->blocks[i];
        if (!contact(b)) continue;
        r[b->row] = b->e * p1[b->row];
        if (change != NULL && change->e != NULL) r[b->row] += change->e[i] * m->stages->p1[b->row];
    }
}

static void fold(const crRuleModes* m, const double* x, double* p) {
    const cr__RuleStages* s = m->stages;
    for (int i = 0; i < s->posed[1].rows; i++) {
        if (s->row[i] >= 0) p[s->row[i]] += x[i];
    }
}

static crStatus apply_poisson(const crRuleModes* m, const crRuleChange* change, double* dp) {
    cr__RuleStages* s = m->stages;
    size_t n = (size_t)m->problem->rows, more = (size_t)s->posed[1].rows;
    double *g = s->work, *du = g + n, *r = du + n, *dx = r + n, *given = dx + more, *rest = given + more;
    cr__rule_given(m, change, s->p1, g);
    crProblemChange first = {g, NULL, NULL, change->mu, change->mu_spin, change->mu_roll};
    crStatus status = cr_modes_apply(&s->modes[0], &first, dp, du);
    if (status != CR_OK || more == 0) return status;
    give_back(m, dp, change, r);
    for (size_t i = 0; i < n; i++) {
        dp[i] += r[i];
    }
    // what the expansion begins with, and dW x of its own
    cr__rule_given(m, change, s->whole, g);
    multiply_W(m->W, n, dp, g);
    double *dmu = rest, *dspin = dmu + more, *droll = dspin + more;
    for (int i = 0; i < s->posed[1].block_count; i++) {
        int of = i < m->problem->block_count ? i : s->pinned[s->posed[1].blocks[i].row];
        dmu[i] = change->mu != NULL ? change->mu[of] : 0.0;
        dspin[i] = change->mu_spin != NULL ? change->mu_spin[of] : 0.0;
        droll[i] = change->mu_roll != NULL ? change->mu_roll[of] : 0.0;
    }
    for (size_t i = 0; i < more; i++) {
        if (s->row[i] >= 0) {
            given[i] = g[s->row[i]];
            continue;
        }
        int normal = m->problem->blocks[s->pinned[i]].row;
        given[i] = -m->W[(size_t)normal * (n + 1)] * r[normal];
    }
    crProblemChange second = {given, NULL, NULL, dmu, dspin, droll};
    double* unused = droll + more;
    status = cr_modes_apply(&s->modes[1], &second, dx, unused);
    if (status == CR_OK) fold(m, dx, dp);
    return status;
}

static bool expand_stages(crRuleModes* m, double near) {
    cr__RuleStages* s = m->stages;
    size_t n = (size_t)m->problem->rows;
    double* u = numbers(m, n);
    if (u == NULL) return false;
    memcpy(u, m->problem->u_free, n * sizeof *u);
    multiply_W(m->W, n, s->before, u);
    if (!pose_expansion(m, u)) return false;
    double* x = numbers(m, (size_t)s->posed[1].rows);
    if (x == NULL || !solve_stage(m, &s->posed[1], x) || !find_modes(m, 1, x, near)) return false;
    fold(m, x, s->whole);
    return true;
}

bool cr__rule_poisson_stages(crRuleModes* m, double near) {
    crRuleParams params;
    size_t n = (size_t)m->problem->rows;
    cr__RuleStages* s = m->stages;
    s->p1 = numbers(m, n);
    s->before = numbers(m, n);
    s->whole = numbers(m, n);
    s->work = numbers(m, 16 * n);
    if (!plain(m, &params) || s->p1 == NULL || s->before == NULL || s->whole == NULL || s->work == NULL)
        return false;
    s->posed[0] = posed(m, m->problem->u_free, NULL);
    s->apply = apply_poisson;
    if (!solve_stage(m, &s->posed[0], s->p1) || !find_modes(m, 0, s->p1, near)) return false;
    give_back(m, s->p1, NULL, s->before);
    bool gives = false;
    double size = 0.0, off = 0.0;
    for (size_t i = 0; i < n; i++) {
        gives = gives || s->before[i] != 0.0;
        s->before[i] += s->p1[i];
        s->whole[i] = s->before[i];
    }
    if (gives && !expand_stages(m, near)) return false;
    for (size_t i = 0; i < n; i++) {
        size = fmax(size, fabs(m->p[i]));
        off = fmax(off, fabs(m->p[i] - s->whole[i]));
    }
    return off <= SAME * size;
}
