// feasible_pick.c - the choice among the outcomes of the feasible rule.
//
// Distances are those of kinetic energy, |v+ - v-|_M^2 = p.W p. The nearest outcome; or the nearest point of their
// convex hull: with Gram matrix G the complementarity problem 0 <= G z - 1 _|_ z >= 0, weights z / sum z, over outcomes that
// lie beyond the plane through the point found so far; or that point put back on the energy sphere about p_II = -W+ u.
// Source: Seghete and Murphey 2012; Pandolfi et al. 2002.
// Fails: a hull that the solver cannot find leaves the nearest outcome.
#include "resolve/feasible.h"

#include <string.h>

#include "linalg/semidefinite.h"

#define TIE_TOL 1e-9   // of the squared distance
#define BEYOND  1e-12  // of it: what is nearer than the plane by less is on it

static void pick_nearest(crTree* t, crRuleReport* report) {
    int best = 0;
    for (int i = 0; i < t->outcomes; i++) {
        double* p = node_p(t, t->outcome[i]);
        t->away[i] = cr__tree_product(t, p, p);
        if (t->away[i] < t->away[best]) best = i;
    }
    int chosen = best;
    for (int i = 0; i < t->outcomes; i++) {
        if (i == best || t->away[i] > (1.0 + TIE_TOL) * t->away[best]) continue;
        report->flags |= CR_RULE_TIE;
        if (t->node.first[t->outcome[i]] < t->node.first[t->outcome[chosen]]) chosen = i;
    }
    report->chosen = chosen;
    memcpy(t->result, node_p(t, t->outcome[chosen]), (size_t)t->k * sizeof(double));
}

// the hull of some of the outcomes
typedef struct crHull {
    int* member;   // outcomes, in the order they joined (count)
    double* z;     // weights of the members (count)
    double* q;     // (count)
    double* pull;  // W times the nearest point (k)
    int count;
    double away;  // squared distance of the nearest point
} crHull;

static crStatus make_hull(const crTree* t, crHull* h, crError* error) {
    crArena* arena = t->impact.arena;
    size_t m = (size_t)t->outcomes;
    h->count = 0;
    h->member = cr_arena_alloc(arena, m * sizeof(int));
    h->z = cr_arena_alloc(arena, m * sizeof(double));
    h->q = cr_arena_alloc(arena, m * sizeof(double));
    h->pull = cr_arena_alloc(arena, (size_t)t->k * sizeof(double));
    bool good = h->member != NULL && h->z != NULL && h->q != NULL && h->pull != NULL;
    return good ? CR_OK : cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
}

// nearest point of the members' hull, in t->result; false where the solver has none
static crStatus nearest_of_members(crTree* t, crHull* h, crRuleReport* report, bool* found, crError* error) {
    int m = h->count, k = t->k;
    size_t mark = cr_arena_mark(t->impact.arena);
    double* G = cr_arena_alloc(t->impact.arena, (size_t)m * (size_t)m * sizeof(double));
    if (G == NULL) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    for (int i = 0; i < m; i++) {
        h->q[i] = -t->impact.speed;
        h->z[i] = 0.0;
        for (int j = 0; j < m; j++) {
            const double *a = node_p(t, t->outcome[h->member[i]]), *b = node_p(t, t->outcome[h->member[j]]);
            G[i * m + j] = cr__tree_product(t, a, b) / t->away[report->chosen];
        }
    }
    crBlock block = cr_block(CR_BLOCK_UNILATERAL, 0, m);
    crProblem problem = {.rows = m, .block_count = 1, .blocks = &block, .u_free = h->q};
    problem.W = (crMatrix){m, m, NULL, NULL, G};
    crStatus status = cr__impact_solve(&t->impact, &problem, h->z, report, error);
    cr_arena_release(t->impact.arena, mark);
    double sum = 0.0;
    for (int i = 0; i < m; i++) {
        sum += h->z[i];
    }
    *found = status == CR_OK && report->outcome == CR_OUTCOME_SOLVED && sum > 0.0;
    if (!*found) return status;
    memset(t->result, 0, (size_t)k * sizeof(double));
    for (int i = 0; i < m; i++) {
        h->z[i] /= sum;
        for (int j = 0; j < k; j++) {
            t->result[j] += h->z[i] * node_p(t, t->outcome[h->member[i]])[j];
        }
    }
    h->away = 0.0;
    for (int i = 0; i < k; i++) {
        h->pull[i] = 0.0;
        for (int j = 0; j < k; j++) {
            h->pull[i] += t->W[i * k + j] * t->result[j];
        }
        h->away += h->pull[i] * t->result[i];
    }
    return CR_OK;
}

static double pulled(const crTree* t, const crHull* h, const double* p) {
    double sum = 0.0;
    for (int i = 0; i < t->k; i++) {
        sum += h->pull[i] * p[i];
    }
    return sum;
}

// The hull of all outcomes by that of a few: the one farthest beyond the plane through the nearest point joins, until none is
// beyond it.
static crStatus grow_hull(crTree* t, crHull* h, crRuleReport* report, bool* found, crError* error) {
    crStatus status = make_hull(t, h, error);
    if (status != CR_OK) return status;
    h->member[h->count++] = report->chosen;
    while (status == CR_OK) {
        status = nearest_of_members(t, h, report, found, error);
        if (status != CR_OK || !*found) break;
        int farthest = -1;
        double least = (1.0 - BEYOND) * h->away;
        for (int i = 0; i < t->outcomes; i++) {
            double at = pulled(t, h, node_p(t, t->outcome[i]));
            if (!(at < least)) continue;
            farthest = i;
            least = at;
        }
        for (int i = 0; i < h->count; i++) {
            if (h->member[i] == farthest) farthest = -1;
        }
        if (farthest < 0) break;
        h->member[h->count++] = farthest;
    }
    return status;
}

// kinetic energy of the contacts' motion at p, times two: (p - p_II).W (p - p_II)
static double motion(const crTree* t, const double* p, const double* p_II, double* work) {
    for (int i = 0; i < t->k; i++) {
        work[i] = p[i] - p_II[i];
    }
    return cr__tree_product(t, work, work);
}

static crStatus onto_sphere(crTree* t, const crHull* h, crError* error) {
    int k = t->k;
    double* A = cr_arena_alloc(t->impact.arena, 4 * (size_t)k * (size_t)k * sizeof(double));
    double* p_II = cr_arena_alloc(t->impact.arena, 2 * (size_t)k * sizeof(double));
    if (A == NULL || p_II == NULL) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    memcpy(A, t->W, (size_t)k * (size_t)k * sizeof(double));
    cr__pseudo_inverse(A, k, A + k * k);
    for (int i = 0; i < k; i++) {
        p_II[i] = 0.0;
        for (int j = 0; j < k; j++) {
            p_II[i] -= A[i * k + j] * t->node.u[j];
        }
    }
    double* work = p_II + k;
    double wanted = 0.0;
    for (int i = 0; i < h->count; i++) {
        wanted += h->z[i] * motion(t, node_p(t, t->outcome[h->member[i]]), p_II, work);
    }
    double has = motion(t, t->result, p_II, work);
    double s = has > 0.0 ? sqrt(wanted / has) : 1.0;
    for (int i = 0; i < k; i++) {
        t->result[i] = p_II[i] + s * (t->result[i] - p_II[i]);
    }
    return CR_OK;
}

// Whether a set that is not complete has the choice of the complete one: no open branch has a nearer outcome, or one beyond
// the plane through the hull's nearest point (p.pull >= p_node.pull, since impulses only grow and pull = u+ - u- >= 0).
static bool is_proven(const crTree* t, const crHull* h, int chosen) {
    bool usable = h == NULL || t->sinking;
    for (int i = 0; h != NULL && i < t->k; i++) {
        usable = usable && h->pull[i] >= -BEYOND * t->impact.speed;
    }
    for (int node = 0; usable && node < t->node.count; node++) {
        if (t->node.ended[node] || t->node.done[node]) continue;
        double at = h == NULL ? cr__bound_nearest(t, node) : pulled(t, h, node_p(t, node));
        usable = at >= (1.0 - TIE_TOL) * (h == NULL ? t->away[chosen] : h->away);
    }
    return usable;
}

crStatus cr__feasible_pick(crTree* t, crRuleReport* report, crError* error) {
    report->unique = t->outcomes == 1 ? CR_UNIQUE_YES : CR_UNIQUE_NO;
    bool part = (report->flags & CR_RULE_INCOMPLETE) != 0;
    bool solved = report->outcome == CR_OUTCOME_SOLVED && t->verdict == CR_OUTCOME_SOLVED,
         whole = solved && !part;
    if (!whole && t->outcomes <= 1) report->unique = CR_UNIQUE_UNKNOWN;
    if (t->outcomes == 0) return CR_OK;
    pick_nearest(t, report);
    crHull hull = {.count = 0};
    bool found = false;
    if (t->outcomes > 1 && t->impact.params.pick != CR_PICK_NEAREST) {
        int nearest = report->chosen;
        crStatus status = grow_hull(t, &hull, report, &found, error);
        if (status != CR_OK) return status;
        if (!found) memcpy(t->result, node_p(t, t->outcome[nearest]), (size_t)t->k * sizeof(double));
    }
    bool asked = found || t->impact.params.pick == CR_PICK_NEAREST;
    if (part && solved && report->outcome == CR_OUTCOME_SOLVED && asked &&
        is_proven(t, found ? &hull : NULL, report->chosen))
        report->flags |= CR_RULE_PROVEN;
    if (!found) return CR_OK;
    report->flags &= ~CR_RULE_TIE;
    report->chosen = -1;
    return t->impact.params.pick == CR_PICK_ARC ? onto_sphere(t, &hull, error) : CR_OK;
}
