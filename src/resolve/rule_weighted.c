// rule_weighted.c - Chatterjee and Ruina's law for many contacts: two plastic impacts, weighted.
//
//     G = (1+e) G_I + s (1+et) (G_II - G_I)
//
// G_I is the frictionless plastic impact (one complementarity problem), G_II the one after which nothing
// moves at the contacts that G_I presses (least norm), s the largest number in [0, 1] that keeps every
// contact in its cone and drives into none that s = 0 leaves open. One s for all keeps the proof: G_II - G_I
// changes no normal velocity at the pressed contacts, so the two parts do not mix in the energy. Source:
// Chatterjee and Ruina 1998, section 6.3 (a sketch there). Holds: with the same e <= 1 and et everywhere no
// energy is created; one contact is their law. Lies: (1+e) G_I may drive into a contact that G_I left out or
// that was opening (see the margins), and one slippery contact takes friction from all. Fails: no G_II,
// because joints block a direction that moves: infeasible.
#include "resolve/impact.h"

#include <string.h>

#include "linalg/semidefinite.h"
#include "resolve/kinds.h"

#define LARGE          100  // rows from which on the inverse is not made
#define LEAST_NORM_TOL 1e-11

typedef struct crWeights {
    double* G_I;   // (rows)
    double* D;     // G_II - G_I (rows)
    double* left;  // velocities after G_II, then after s = 1 (rows)
    double* open;  // velocities after s = 0 (rows)
    int* stuck;    // rows that G_II stops
    int stuck_count;
} crWeights;

// rows of the contacts that G_I presses: the normal, and the tangents where there is friction
static void find_stuck(const crImpact* impact, const double* lambda, crWeights* w) {
    for (int i = 0; i < impact->contacts; i++) {
        if (!(lambda[i] > 0.0)) continue;
        const crBlock* block = &impact->blocks[impact->block[i]];
        int n = block->kind == CR_BLOCK_CONE && block->mu > 0.0 ? block->count : 1;
        for (int k = 0; k < n; k++) {
            w->stuck[w->stuck_count++] = impact->normal[i] + k;
        }
    }
}

// D from W_ss D_s = -u(G_I) on the stuck rows, by the pseudo-inverse; false where they cannot be stopped
static crStatus stick(const crImpact* impact, crWeights* w, bool* exists, crError* error) {
    int m = w->stuck_count;
    size_t n = (size_t)impact->rows;
    double* A = cr_arena_alloc(impact->arena, (size_t)(m * m + 1) * sizeof(double));
    double* work = cr_arena_alloc(impact->arena, (size_t)(2 * m * m + 5 * m + 1) * sizeof(double));
    if (A == NULL || work == NULL) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            A[i * m + j] = impact->W[(size_t)w->stuck[i] * n + (size_t)w->stuck[j]];
        }
    }
    // once more from what is left, to rounding; from zero, so that G_II is of least norm
    memcpy(w->left, impact->u, n * sizeof(double));
    double* b = work + 4 * m;
    bool large = m > LARGE;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < m; i++) {
            b[i] = -w->left[w->stuck[i]];
        }
        bool found = large && cr__least_norm(A, m, b, LEAST_NORM_TOL, work, work + m);
        // what is left then is rounding
        if (large && !found && pass > 0) break;
        if (!found && pass == 0) {
            cr__pseudo_inverse(A, m, work);
            large = false;
        }
        for (int i = 0; i < m && !found; i++) {
            work[i] = 0.0;
            for (int j = 0; j < m; j++) {
                work[i] -= A[i * m + j] * w->left[w->stuck[j]];
            }
        }
        for (int i = 0; i < m; i++) {
            w->D[w->stuck[i]] += work[i];
            cr__impact_push(impact, w->stuck[i], work[i], w->left);
        }
    }
    *exists = true;
    for (int i = 0; i < m; i++) {
        *exists = *exists && fabs(w->left[w->stuck[i]]) <= 1e-9 * impact->speed;
    }
    for (size_t i = 0; i < n; i++) {
        w->D[i] -= w->G_I[i];
    }
    return CR_OK;
}

// largest s in [0, 1] with a + s d in the cone mu, a on its axis
static double share(const crBlock* block, const double* a, const double* d) {
    if (block->kind != CR_BLOCK_CONE || isinf(block->mu)) {
        return a[0] + d[0] < 0.0 ? a[0] / -d[0] : 1.0;
    }
    double t = sqrt(d[1] * d[1] + (block->count == 3 ? d[2] * d[2] : 0.0));
    return t > block->mu * (a[0] + d[0]) ? block->mu * a[0] / (t - block->mu * d[0]) : 1.0;
}

// G for a given s, and the velocities after it
static void combine(const crImpact* impact, const crWeights* w, double s, double* G, double* u) {
    for (int i = 0; i < impact->block_count; i++) {
        const crBlock* block = &impact->blocks[i];
        for (int k = 0; k < block->count; k++) {
            int row = block->row + k;
            G[row] = (1.0 + block->e) * w->G_I[row] + s * (1.0 + block->et) * w->D[row];
        }
    }
    cr__impact_velocity(impact, G, u);
}

// the largest s in [0, 1] that every contact can bear
static double common_share(const crImpact* impact, const crWeights* w, double* G) {
    double s = 1.0;
    for (int i = 0; i < impact->contacts; i++) {
        const crBlock* block = &impact->blocks[impact->block[i]];
        int row = impact->normal[i];
        int n = block->kind == CR_BLOCK_CONE ? block->count : 1;
        double a[3] = {0}, d[3] = {0};
        for (int k = 0; k < n; k++) {
            a[k] = (1.0 + block->e) * w->G_I[row + k];
            d[k] = (1.0 + block->et) * w->D[row + k];
        }
        if (a[0] > 0.0) s = fmin(s, share(block, a, d));
    }
    // normal velocities are linear in s; those of the pressed contacts do not change
    combine(impact, w, 0.0, G, w->open);
    combine(impact, w, 1.0, G, w->left);
    double least = impact->params.tolerance * impact->speed;
    for (int i = 0; i < impact->contacts; i++) {
        int row = impact->normal[i];
        bool falls = w->open[row] >= 0.0 && w->left[row] < -least;
        if (falls && !(w->G_I[row] > 0.0)) s = fmin(s, w->open[row] / (w->open[row] - w->left[row]));
    }
    return s;
}

static crStatus resolve_weighted(const void* params, const crProblem* problem, crArena* arena, double* p,
                                 crRuleReport* report, crError* error) {
    crImpact impact;
    crStatus status = cr__impact_begin(params, problem, false, arena, &impact, error);
    if (status == CR_OK) status = cr__impact_circular(&impact, error);
    if (status != CR_OK) return status;
    size_t n = (size_t)(impact.rows + 1);
    crWeights w = {.G_I = cr_arena_alloc(arena, n * sizeof(double)),
                   .D = cr_arena_alloc(arena, n * sizeof(double)),
                   .left = cr_arena_alloc(arena, n * sizeof(double)),
                   .open = cr_arena_alloc(arena, n * sizeof(double)),
                   .stuck = cr_arena_alloc(arena, n * sizeof(int))};
    double* lambda = cr_arena_alloc(arena, n * sizeof(double));
    double* G = cr_arena_alloc(arena, n * sizeof(double));
    if (w.G_I == NULL || w.D == NULL || w.left == NULL || w.open == NULL || w.stuck == NULL ||
        lambda == NULL || G == NULL) {
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    }
    memset(w.G_I, 0, n * sizeof(double));
    memset(w.D, 0, n * sizeof(double));
    memset(G, 0, n * sizeof(double));
    status = cr__impact_plastic(&impact, impact.u, NULL, lambda, report, error);
    if (status != CR_OK) return status;
    for (int i = 0; i < impact.contacts; i++) {
        w.G_I[impact.normal[i]] = lambda[i];
    }
    find_stuck(&impact, lambda, &w);
    bool exists = false;
    status = stick(&impact, &w, &exists, error);
    if (status != CR_OK) return status;
    if (exists) {
        combine(&impact, &w, common_share(&impact, &w, G), G, w.left);
    } else {
        report->outcome = CR_OUTCOME_INFEASIBLE;
    }
    report->steps = 2;
    cr__impact_finish(&impact, G, p, report);
    return CR_OK;
}

const cr__RuleKind cr__rule_weighted = {
    .order = 6,
    .resolve = resolve_weighted,
    .info = {.name = "weighted",
             .title = "frictionless and sticking plastic impacts, weighted",
             .reads = "e, et, mu",
             .guarantee = "the same e <= 1 and et everywhere: no energy is created, all cones hold",
             .source = "Chatterjee and Ruina 1998, section 6.3",
             .may_create_energy = true},
};
