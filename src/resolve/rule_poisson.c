// rule_poisson.c - Poisson's restitution at every contact: compression, then expansion.
//
//     compression   0 <= u_n0  _|_  p_n1 >= 0,            friction within mu p_n1 against u_t0
//     expansion     0 <= u_n+  _|_  p_n2 - e p_n1 >= 0,   friction within mu p_n2 against u_t+
//
// The expansion splits p_n2 = e p_n1 + q. Friction within mu e p_n1 comes from a second block at the same
// contact, whose own normal row is decoupled from all else and pinned to e p_n1 by its velocity; friction
// within mu q comes from an ordinary one. The two friction sets add up to that of p_n2, and both are cone
// blocks. Source: Glocker 2001, eqs. 3.3 and 3.4; with friction Anitescu and Potra 1997. Holds: frictionless,
// never creates energy, whatever the e <= 1. Lies: with friction at more than one contact it can (Glocker
// 2013). Fails: what the solver cannot solve is its outcome.
#include "resolve/impact.h"

#include <string.h>

#include "linalg/dense.h"
#include "resolve/kinds.h"

#define REST_TOL 1e-12  // of the speed before: what compression left below this is rounding

// the expansion's problem: the contacts, then one pinned block per friction cone that expands
typedef struct crExpansion {
    int rows;
    int block_count;
    crBlock* blocks;
    crMatrix W;
    double* value;  // of W, to write
    double* u;
    double* p;
    int* tangent;  // row of the impact that each row of a pinned block repeats, -1 for its normal (rows)
    int* copy;     // row that repeats each of the impact's rows, -1: none (rows of the impact)
} crExpansion;

static bool expands(const crBlock* block, const double* p1) {
    return block->kind == CR_BLOCK_CONE && block->e * p1[block->row] > 0.0;
}

static crStatus out_of_memory_poisson(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
}

static crStatus lay_out(const crImpact* impact, const double* p1, crExpansion* x, crError* error) {
    int rows = impact->rows;
    int blocks = impact->block_count;
    for (int i = 0; i < impact->block_count; i++) {
        if (!expands(&impact->blocks[i], p1)) continue;
        rows += impact->blocks[i].count;
        blocks++;
    }
    size_t n = (size_t)(rows + 1);
    *x = (crExpansion){.rows = impact->rows, .block_count = impact->block_count};
    x->blocks = cr_arena_alloc(impact->arena, (size_t)(blocks + 1) * sizeof *x->blocks);
    x->u = cr_arena_alloc(impact->arena, n * sizeof(double));
    x->p = cr_arena_alloc(impact->arena, n * sizeof(double));
    x->tangent = cr_arena_alloc(impact->arena, n * sizeof(int));
    x->copy = cr_arena_alloc(impact->arena, n * sizeof(int));
    if (x->blocks == NULL || x->u == NULL || x->p == NULL || x->tangent == NULL || x->copy == NULL) {
        return out_of_memory_poisson(error);
    }
    memset(x->p, 0, n * sizeof(double));
    for (int i = 0; i < impact->rows; i++) {
        x->tangent[i] = i;
        x->copy[i] = -1;
    }
    for (int i = 0; i < impact->block_count; i++) {
        x->blocks[i] = impact->blocks[i];
        if (!expands(&impact->blocks[i], p1)) continue;
        x->blocks[x->block_count] = impact->blocks[i];
        x->blocks[x->block_count++].row = x->rows;
        for (int k = 0; k < impact->blocks[i].count; k++) {
            int row = impact->blocks[i].row + k;
            if (k > 0) x->copy[row] = x->rows;
            x->tangent[x->rows++] = k == 0 ? -1 : row;
        }
    }
    return CR_OK;
}

// W of all rows; the diagonal of the normals that are pinned stays zero
static crStatus fill_dense(const crImpact* impact, crExpansion* x) {
    size_t n = (size_t)x->rows;
    double* W = cr_arena_alloc(impact->arena, (n + 1) * (n + 1) * sizeof *W);
    if (W == NULL) return CR_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        int a = x->tangent[i];
        for (size_t j = 0; j < n; j++) {
            int b = x->tangent[j];
            W[i * n + j] = a >= 0 && b >= 0 ? impact->W[(size_t)a * (size_t)impact->rows + (size_t)b] : 0.0;
        }
    }
    x->value = W;
    x->W = (crMatrix){x->rows, x->rows, NULL, NULL, W};
    return CR_OK;
}

// the same by rows: columns of the impact, then those that repeat them, both ascending
static crStatus fill_sparse(const crImpact* impact, crExpansion* x) {
    const crMatrix* S = &impact->S;
    size_t n = (size_t)x->rows, room = n;
    for (size_t i = 0; i < n; i++) {
        int a = x->tangent[i];
        if (a >= 0) room += 2 * (size_t)(S->start[a + 1] - S->start[a]);
    }
    int* start = cr_arena_alloc(impact->arena, (n + 1) * sizeof *start);
    int* col = cr_arena_alloc(impact->arena, room * sizeof *col);
    double* value = cr_arena_alloc(impact->arena, room * sizeof *value);
    if (start == NULL || col == NULL || value == NULL) return CR_ERR_MEMORY;
    int at = 0;
    for (size_t i = 0; i < n; i++) {
        int a = x->tangent[i];
        start[i] = at;
        if (a < 0) {
            col[at] = (int)i;
            value[at++] = 0.0;
            continue;
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int k = S->start[a]; k < S->start[a + 1]; k++) {
                col[at] = pass == 0 ? S->col[k] : x->copy[S->col[k]];
                value[at] = S->value[k];
                at += col[at] >= 0;
            }
        }
    }
    start[n] = at;
    x->value = value;
    x->W = (crMatrix){x->rows, x->rows, start, col, value};
    return CR_OK;
}

// W and u of all rows; u already holds the response to e p_n1
static crStatus fill_poisson(const crImpact* impact, const double* p1, const double* u, crExpansion* x) {
    crStatus status = impact->W != NULL ? fill_dense(impact, x) : fill_sparse(impact, x);
    if (status != CR_OK) return status;
    for (int i = 0; i < x->rows; i++) {
        if (x->tangent[i] >= 0) x->u[i] = u[x->tangent[i]];
    }
    crMatrix W = cr__impact_problem(impact, u).W;
    int at = impact->block_count;
    for (int i = 0; i < impact->block_count; i++) {
        const crBlock* block = &impact->blocks[i];
        if (!expands(block, p1)) continue;
        // pinned: w p - w c = 0 with c = e p_n1
        int row = x->blocks[at++].row;
        double w = cr_matrix_at(&W, block->row, block->row);
        x->value[x->W.start != NULL ? (size_t)x->W.start[row] : (size_t)row * (size_t)(x->rows + 1)] = w;
        x->u[row] = -w * (block->e * p1[block->row]);
    }
    return CR_OK;
}

// e p_n1 at every contact, added to `total`, and its response to u
static void release(const crImpact* impact, const double* p1, double* u, double* total) {
    for (int i = 0; i < impact->contacts; i++) {
        int row = impact->normal[i];
        double given = impact->blocks[impact->block[i]].e * p1[row];
        if (given == 0.0) continue;
        total[row] += given;
        cr__impact_push(impact, row, given, u);
    }
}

static crStatus expand_poisson(const crImpact* impact, const double* p1, double* u, double* total,
                               crRuleReport* report, crError* error) {
    crExpansion x;
    crStatus status = lay_out(impact, p1, &x, error);
    if (status != CR_OK) return status;
    for (int i = 0; i < impact->rows; i++) {
        if (fabs(u[i]) <= REST_TOL * impact->speed) u[i] = 0.0;
    }
    release(impact, p1, u, total);
    if (fill_poisson(impact, p1, u, &x) != CR_OK) return out_of_memory_poisson(error);
    crProblem posed = cr__impact_problem(impact, x.u);
    posed.rows = x.rows;
    posed.block_count = x.block_count;
    posed.blocks = x.blocks;
    posed.W = x.W;
    status = cr__impact_solve(impact, &posed, x.p, report, error);
    for (int i = 0; i < x.rows && status == CR_OK; i++) {
        if (x.tangent[i] >= 0) total[x.tangent[i]] += x.p[i];
    }
    return status;
}

// the compression's velocities are unique without friction, its impulses only where W is definite; the
// expansion needs those wherever two contacts have different e
static crUnique unique(const crImpact* impact) {
    if (impact->contacts != impact->rows) return CR_UNIQUE_UNKNOWN;
    bool same = true;
    for (int i = 1; i < impact->block_count; i++) {
        same = same && impact->blocks[i].e == impact->blocks[0].e;
    }
    if (same) return CR_UNIQUE_YES;
    crProblem posed = cr__impact_problem(impact, impact->u);
    double* W = NULL;
    if (cr_problem_dense(&posed, impact->arena, &W) != CR_OK) return CR_UNIQUE_UNKNOWN;
    return cr__cholesky(W, impact->rows) ? CR_UNIQUE_YES : CR_UNIQUE_UNKNOWN;
}

// x with W (x a) = W p at a block, by least squares; 0 where there is none
static double same_effect(const crImpact* impact, const crBlock* block, const double* a, const double* p) {
    double Wa[3] = {0}, Wp[3] = {0};
    double aa = 0.0, ap = 0.0, off = 0.0, size = 0.0;
    crMatrix W = cr__impact_problem(impact, impact->u).W;
    for (int r = 0; r < block->count; r++) {
        for (int k = 0; k < block->count; k++) {
            double w = cr_matrix_at(&W, block->row + r, block->row + k);
            Wa[r] += w * a[k];
            Wp[r] += w * p[k];
        }
        aa += Wa[r] * Wa[r];
        ap += Wa[r] * Wp[r];
    }
    double x = aa > 0.0 ? ap / aa : 0.0;
    for (int r = 0; r < block->count; r++) {
        off = fmax(off, fabs(Wp[r] - x * Wa[r]));
        size = fmax(size, fabs(Wp[r]));
    }
    return off <= REST_TOL * size ? x : 0.0;
}

// Where joints tie slip to approach, W is singular at the contact and compression ends at rest by many
// impulses. The one that slides there all the way, p_n (1, -mu d) with d the slip before, is taken if it is
// among them.
static void follow_slip(const crImpact* impact, const double* u, double* p1) {
    for (int i = 0; i < impact->block_count; i++) {
        const crBlock* block = &impact->blocks[i];
        int n = block->count;
        double rest = REST_TOL * impact->speed;
        bool disc = block->kind == CR_BLOCK_CONE && n <= 3 && isfinite(block->mu) && !block->spin;
        if (!disc || !(p1[block->row] > 0.0)) continue;
        const double* before = impact->u + block->row;
        double t2 = n == 3 ? before[2] : 0.0;
        double slip = sqrt(before[1] * before[1] + t2 * t2);
        bool stopped = fabs(u[block->row + 1]) <= rest && (n < 3 || fabs(u[block->row + 2]) <= rest);
        if (!stopped || slip <= rest) continue;
        double a[3] = {1.0, -block->mu * before[1] / slip, -block->mu * t2 / slip};
        double pn = same_effect(impact, block, a, p1 + block->row);
        for (int k = 0; k < n && pn > 0.0; k++) {
            p1[block->row + k] = pn * a[k];
        }
    }
}

static crStatus resolve_poisson(const void* params, const crProblem* problem, crArena* arena, double* p,
                                crRuleReport* report, crError* error) {
    crImpact impact;
    crStatus status = cr__impact_begin_sparse(params, problem, arena, &impact, error);
    if (status != CR_OK) return status;
    size_t bytes = (size_t)(impact.rows + 1) * sizeof(double);
    double* u = cr_arena_alloc(arena, bytes);
    double* p1 = cr_arena_alloc(arena, bytes);
    double* total = cr_arena_alloc(arena, bytes);
    if (u == NULL || p1 == NULL || total == NULL) {
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    }
    memset(p1, 0, bytes);
    crProblem posed = cr__impact_problem(&impact, impact.u);
    status = cr__impact_solve(&impact, &posed, p1, report, error);
    if (status != CR_OK) return status;
    cr__impact_velocity(&impact, p1, u);
    follow_slip(&impact, u, p1);
    memcpy(total, p1, bytes);
    status = expand_poisson(&impact, p1, u, total, report, error);
    if (status != CR_OK) return status;
    report->steps = 2;
    report->unique = unique(&impact);
    cr__impact_finish(&impact, total, p, report);
    return cr__impact_judge(&impact, problem, NULL, p1, report, error);
}

const cr__RuleKind cr__rule_poisson = {
    .order = 2,
    .resolve = resolve_poisson,
    .info = {.name = "poisson",
             .title = "Poisson's restitution: compression, then expansion",
             .reads = "e, mu; directions",
             .guarantee = "frictionless: in the permissible region, whatever the e",
             .source = "Glocker 2001, eqs. 3.3 and 3.4; Anitescu and Potra 1997",
             .may_create_energy = true},
};
