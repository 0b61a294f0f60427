// feasible_pick.c - the choice among the outcomes of the feasible rule.
//
// Distances are those of kinetic energy, |v+ - v-|_M^2 = p.W p. The nearest outcome; or the nearest point of their
// convex hull: with Gram matrix G the complementarity problem 0 <= G z - 1 _|_ z >= 0, weights z / sum z; or that
// point put back on the energy sphere about p_II = -W+ u. Source: Seghete and Murphey 2012; Pandolfi et al. 2002.
// Fails: a hull that the solver cannot find leaves the nearest outcome.
#include "resolve/feasible.h"

#include <string.h>

#include "linalg/semidefinite.h"

#define TIE_TOL 1e-9  // of the squared distance

// a.W b
static double product(const crTree* t, const double* a, const double* b) {
    double sum = 0.0;
    for (int i = 0; i < t->k; i++) {
        for (int j = 0; j < t->k; j++) {
            sum += a[i] * t->W[i * t->k + j] * b[j];
        }
    }
    return sum;
}

static void pick_nearest(crTree* t, crRuleReport* report) {
    int best = 0;
    for (int i = 0; i < t->outcomes; i++) {
        double* p = node_p(t, t->outcome[i]);
        t->away[i] = product(t, p, p);
        if (t->away[i] < t->away[best]) best = i;
    }
    int chosen = best;
    for (int i = 0; i < t->outcomes; i++) {
        if (i == best || t->away[i] > (1.0 + TIE_TOL) * t->away[best]) continue;
        report->flags |= CR_RULE_TIE;
        if (t->first[t->outcome[i]] < t->first[t->outcome[chosen]]) chosen = i;
    }
    report->chosen = chosen;
    memcpy(t->result, node_p(t, t->outcome[chosen]), (size_t)t->k * sizeof(double));
}

// weights of the point of the outcomes' convex hull nearest to the velocity before; false where there is none
static crStatus hull_weights(crTree* t, double* z, crRuleReport* report, bool* found, crError* error) {
    int m = t->outcomes;
    crArena* arena = t->impact.arena;
    double* G = cr_arena_alloc(arena, (size_t)m * (size_t)m * sizeof(double));
    double* q = cr_arena_alloc(arena, (size_t)m * sizeof(double));
    if (G == NULL || q == NULL) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    for (int i = 0; i < m; i++) {
        q[i] = -t->impact.speed;
        z[i] = 0.0;
        for (int j = 0; j < m; j++) {
            G[i * m + j] =
                product(t, node_p(t, t->outcome[i]), node_p(t, t->outcome[j])) / t->away[report->chosen];
        }
    }
    crBlock block = cr_block(CR_BLOCK_UNILATERAL, 0, m);
    crProblem problem = {.rows = m, .block_count = 1, .blocks = &block, .u_free = q};
    problem.W = (crMatrix){m, m, NULL, NULL, G};
    crStatus status = cr__impact_solve(&t->impact, &problem, z, report, error);
    double sum = 0.0;
    for (int i = 0; i < m; i++) {
        sum += z[i];
    }
    *found = status == CR_OK && report->outcome == CR_OUTCOME_SOLVED && sum > 0.0;
    for (int i = 0; i < m && *found; i++) {
        z[i] /= sum;
    }
    return status;
}

// kinetic energy of the contacts' motion at p, times two: (p - p_II).W (p - p_II)
static double motion(const crTree* t, const double* p, const double* p_II, double* work) {
    for (int i = 0; i < t->k; i++) {
        work[i] = p[i] - p_II[i];
    }
    return product(t, work, work);
}

static crStatus onto_sphere(crTree* t, const double* z, crError* error) {
    int k = t->k;
    double* A = cr_arena_alloc(t->impact.arena, 4 * (size_t)k * (size_t)k * sizeof(double));
    double* p_II = cr_arena_alloc(t->impact.arena, 2 * (size_t)k * sizeof(double));
    if (A == NULL || p_II == NULL) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    memcpy(A, t->W, (size_t)k * (size_t)k * sizeof(double));
    cr__pseudo_inverse(A, k, A + k * k);
    for (int i = 0; i < k; i++) {
        p_II[i] = 0.0;
        for (int j = 0; j < k; j++) {
            p_II[i] -= A[i * k + j] * t->u[j];
        }
    }
    double* work = p_II + k;
    double wanted = 0.0;
    for (int i = 0; i < t->outcomes; i++) {
        wanted += z[i] * motion(t, node_p(t, t->outcome[i]), p_II, work);
    }
    double has = motion(t, t->result, p_II, work);
    double s = has > 0.0 ? sqrt(wanted / has) : 1.0;
    for (int i = 0; i < k; i++) {
        t->result[i] = p_II[i] + s * (t->result[i] - p_II[i]);
    }
    return CR_OK;
}

crStatus cr__feasible_pick(crTree* t, crRuleReport* report, crError* error) {
    report->unique = t->outcomes == 1 ? CR_UNIQUE_YES : CR_UNIQUE_NO;
    bool whole = report->outcome == CR_OUTCOME_SOLVED && (report->flags & CR_RULE_INCOMPLETE) == 0;
    if (!whole && t->outcomes <= 1) report->unique = CR_UNIQUE_UNKNOWN;
    if (t->outcomes == 0) return CR_OK;
    pick_nearest(t, report);
    if (t->outcomes == 1 || t->impact.params.pick == CR_PICK_NEAREST) return CR_OK;
    double* z = cr_arena_alloc(t->impact.arena, (size_t)t->outcomes * sizeof(double));
    if (z == NULL) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    bool found = false;
    crStatus status = hull_weights(t, z, report, &found, error);
    if (status != CR_OK || !found) return status;
    memset(t->result, 0, (size_t)t->k * sizeof(double));
    for (int i = 0; i < t->outcomes; i++) {
        for (int j = 0; j < t->k; j++) {
            t->result[j] += z[i] * node_p(t, t->outcome[i])[j];
        }
    }
    report->flags &= ~CR_RULE_TIE;
    report->chosen = -1;
    return t->impact.params.pick == CR_PICK_ARC ? onto_sphere(t, z, error) : CR_OK;
}
