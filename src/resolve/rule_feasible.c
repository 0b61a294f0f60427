// rule_feasible.c - every order of single frictionless impacts, and a choice among the outcomes.
//
// Reflection at surface i: v <- v - (1+e) Minv u^T u v / (u Minv u^T), in contact space p_i <- p_i - (1+e)
// u_i / W_ii, u <- u + W p. Branch over all violated surfaces until the velocity is valid; equal velocities
// are merged. Distances are those of kinetic energy, |v+ - v-|_M^2 = p.W p, so neither M nor v is needed.
// Nearest outcome; or nearest point of their convex hull: with Gram matrix G the complementarity problem 0 <=
// G z - 1 _|_ z >= 0, weights z / sum z; or that point put back on the energy sphere about p_II = -W+ u. A
// convex corner takes one surface. Below the threshold speed the impact is plastic. Source: Seghete and
// Murphey 2012; Truesdell 1974; Pandolfi et al. 2002. Holds: e = 1 and two surfaces end within ceil(pi/wedge)
// steps. Fails: budget: limit; surfaces that leave no room: stalled with a cycle.
#include "resolve/impact.h"

#include <string.h>

#include "linalg/semidefinite.h"

#define BUDGET    4096
#define MERGE_TOL 1e-10  // of the speed before: velocities closer than this are one
#define TIE_TOL   1e-9   // of the squared distance

typedef struct crTree {
    crImpact impact;
    int k;         // surfaces
    double* W;     // of the normals (k*k)
    int budget;    // nodes
    int count;     // nodes so far, in the order they were found
    double* p;     // impulses (budget*k)
    double* u;     // normal velocities (budget*k)
    int* first;    // first surface on the way (budget)
    int* depth;    // reflections on the way (budget)
    int* outcome;  // nodes that are valid (outcomes)
    double* away;  // squared distance of each outcome from the velocity before (outcomes)
    int outcomes;
    double* result;  // (k)
} crTree;

static crStatus plant(crTree* t, crError* error) {
    const crImpact* impact = &t->impact;
    crArena* arena = impact->arena;
    t->k = impact->contacts;
    t->budget = impact->params.budget > 0 ? impact->params.budget : BUDGET;
    size_t k = (size_t)(t->k > 0 ? t->k : 1);
    size_t nodes = (size_t)t->budget;
    t->W = cr_arena_alloc(arena, k * k * sizeof(double));
    t->p = cr_arena_alloc(arena, nodes * k * sizeof(double));
    t->u = cr_arena_alloc(arena, nodes * k * sizeof(double));
    t->first = cr_arena_alloc(arena, nodes * sizeof(int));
    t->depth = cr_arena_alloc(arena, nodes * sizeof(int));
    t->outcome = cr_arena_alloc(arena, nodes * sizeof(int));
    t->away = cr_arena_alloc(arena, nodes * sizeof(double));
    t->result = cr_arena_alloc(arena, k * sizeof(double));
    if (t->W == NULL || t->p == NULL || t->u == NULL || t->first == NULL || t->depth == NULL ||
        t->outcome == NULL || t->away == NULL || t->result == NULL) {
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    }
    for (int i = 0; i < t->k; i++) {
        size_t row = (size_t)impact->normal[i];
        for (int j = 0; j < t->k; j++) {
            t->W[i * t->k + j] = impact->W[row * (size_t)impact->rows + (size_t)impact->normal[j]];
        }
        t->p[i] = 0.0;
        t->u[i] = impact->u[row];
        t->result[i] = 0.0;
    }
    t->count = 1;
    t->first[0] = -1;
    t->depth[0] = 0;
    return CR_OK;
}

static double* node_p(const crTree* t, int node) { return t->p + (size_t)node * (size_t)t->k; }
static double* node_u(const crTree* t, int node) { return t->u + (size_t)node * (size_t)t->k; }

static double node_approach(const crTree* t, int node) {
    double fastest = 0.0;
    for (int i = 0; i < t->k; i++) {
        fastest = fmax(fastest, -node_u(t, node)[i]);
    }
    return fastest;
}

// a node with the same velocities, or -1
static int same(const crTree* t, const double* u) {
    double tol = MERGE_TOL * t->impact.speed;
    for (int node = 0; node < t->count; node++) {
        const double* other = node_u(t, node);
        int i = 0;
        while (i < t->k && fabs(other[i] - u[i]) <= tol) {
            i++;
        }
        if (i == t->k) return node;
    }
    return -1;
}

// the reflection of `node` at surface i becomes a new node, unless it is an old one; false where the budget
// is out
static bool branch(crTree* t, int node, int i, double e) {
    if (t->count == t->budget) return false;
    double* p = node_p(t, t->count);
    double* u = node_u(t, t->count);
    memcpy(p, node_p(t, node), (size_t)t->k * sizeof *p);
    memcpy(u, node_u(t, node), (size_t)t->k * sizeof *u);
    double dp = -(1.0 + e) * u[i] / t->W[i * t->k + i];
    p[i] += dp;
    for (int j = 0; j < t->k; j++) {
        u[j] += t->W[i * t->k + j] * dp;
    }
    if (same(t, u) >= 0) return true;
    t->first[t->count] = node == 0 ? i : t->first[node];
    t->depth[t->count] = t->depth[node] + 1;
    t->count++;
    return true;
}

static double surface_e(const crTree* t, int i) { return t->impact.blocks[t->impact.block[i]].e; }

// the plastic impact from where the node is; it becomes an outcome
static crStatus settle(crTree* t, int node, crRuleReport* report, crError* error) {
    const crImpact* impact = &t->impact;
    double* u = cr_arena_alloc(impact->arena, (size_t)(impact->rows + 1) * sizeof(double));
    double* lambda = cr_arena_alloc(impact->arena, (size_t)(t->k + 1) * sizeof(double));
    if (u == NULL || lambda == NULL)
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    memset(u, 0, (size_t)impact->rows * sizeof *u);
    for (int i = 0; i < t->k; i++) {
        u[impact->normal[i]] = node_u(t, node)[i];
    }
    crStatus status = cr__impact_plastic(impact, u, NULL, lambda, report, error);
    for (int i = 0; i < t->k && status == CR_OK; i++) {
        node_p(t, node)[i] += lambda[i];
        for (int j = 0; j < t->k; j++) {
            node_u(t, node)[j] += t->W[i * t->k + j] * lambda[i];
        }
    }
    report->flags |= CR_RULE_PLASTIC;
    return status;
}

static bool blocked(const crTree* t, int node, double least) {
    for (int i = 0; i < t->k; i++) {
        if (-node_u(t, node)[i] > least && !(t->W[i * t->k + i] > 0.0)) return true;
    }
    return false;
}

static crStatus grow(crTree* t, crRuleReport* report, crError* error) {
    double least = t->impact.params.tolerance * t->impact.speed;
    for (int node = 0; node < t->count; node++) {
        double speed = node_approach(t, node);
        bool slow = speed < t->impact.params.threshold;
        if (t->depth[node] > report->steps) report->steps = t->depth[node];
        if (speed <= least || slow) {
            if (speed > 1e-3 * least && !slow) report->flags |= CR_RULE_TRUNCATED;
            crStatus status = speed > least ? settle(t, node, report, error) : CR_OK;
            if (status != CR_OK) return status;
            t->outcome[t->outcomes++] = node;
            continue;
        }
        if (blocked(t, node, least)) {
            report->outcome = CR_OUTCOME_INFEASIBLE;
            return CR_OK;
        }
        for (int i = 0; i < t->k; i++) {
            if (-node_u(t, node)[i] <= least || branch(t, node, i, surface_e(t, i))) continue;
            report->outcome = CR_OUTCOME_LIMIT;
            report->flags |= CR_RULE_TRUNCATED;
            return CR_OK;
        }
    }
    if (t->outcomes > 0) return CR_OK;
    report->flags |= CR_RULE_CYCLE;
    report->outcome = CR_OUTCOME_STALLED;
    return CR_OK;
}

// Truesdell's wedge: out by one surface, whichever; nothing happens where one is open already
static void grow_convex(crTree* t, crRuleReport* report) {
    double least = t->impact.params.tolerance * t->impact.speed;
    double threshold = t->impact.params.threshold;
    report->flags |= CR_RULE_CONVEX;
    bool open = t->k == 0;
    for (int i = 0; i < t->k; i++) {
        open = open || t->u[i] >= -least;
    }
    if (open) {
        t->outcome[t->outcomes++] = 0;
        return;
    }
    for (int i = 0; i < t->k; i++) {
        double e = -t->u[i] < threshold ? 0.0 : surface_e(t, i);
        if (!(t->W[i * t->k + i] > 0.0) || !branch(t, 0, i, e)) continue;
        report->steps = 1;
    }
    for (int node = 1; node < t->count; node++) {
        t->outcome[t->outcomes++] = node;
    }
    if (t->outcomes == 0) report->outcome = CR_OUTCOME_INFEASIBLE;
}

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

static crStatus pick(crTree* t, crRuleReport* report, crError* error) {
    report->unique = t->outcomes == 1 ? CR_UNIQUE_YES : CR_UNIQUE_NO;
    if (report->outcome == CR_OUTCOME_LIMIT && t->outcomes <= 1) report->unique = CR_UNIQUE_UNKNOWN;
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

// impulses of the surfaces as the problem's
static void finish(const crTree* t, const double* p, double* own, double* out, crRuleReport* report) {
    memset(own, 0, (size_t)t->impact.rows * sizeof *own);
    for (int i = 0; i < t->k; i++) {
        own[t->impact.normal[i]] = p[i];
    }
    cr__impact_finish(&t->impact, own, out, report);
}

// the whole outcome set, in the problem's rows
static crStatus publish(const crTree* t, const crProblem* problem, double* p, crRuleReport* report,
                        crError* error) {
    size_t n = (size_t)problem->rows;
    size_t m = (size_t)(t->outcomes > 0 ? t->outcomes : 1);
    double* all_p = cr_arena_alloc(t->impact.arena, m * (n + 1) * sizeof(double));
    double* all_u = cr_arena_alloc(t->impact.arena, m * (n + 1) * sizeof(double));
    double* own = cr_arena_alloc(t->impact.arena, (n + 1) * sizeof(double));
    if (all_p == NULL || all_u == NULL || own == NULL) {
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    }
    finish(t, t->result, own, p, report);
    for (size_t i = 0; i < (size_t)t->outcomes; i++) {
        finish(t, node_p(t, t->outcome[i]), own, all_p + i * n, report);
        crStatus status = cr_problem_velocity(problem, t->impact.arena, all_p + i * n, all_u + i * n);
        if (status != CR_OK) return status;
        for (size_t j = 0; j < n && t->impact.response != NULL; j++) {
            all_u[i * n + j] += t->impact.response[j];
        }
    }
    report->outcome_count = t->outcomes;
    report->outcome_p = all_p;
    report->outcome_u = all_u;
    return CR_OK;
}

// two surfaces with e = 1: ceil(pi / wedge), the wedge measured by kinetic energy
static int bound(const crTree* t) {
    if (t->k != 2 || surface_e(t, 0) != 1.0 || surface_e(t, 1) != 1.0) return 0;
    if (!(t->W[0] > 0.0 && t->W[3] > 0.0)) return 0;
    double c = t->W[1] / (sqrt(t->W[0]) * sqrt(t->W[3]));
    double wedge = cr_atan2(sqrt(fmax(0.0, (1.0 - c) * (1.0 + c))), -c);
    double steps = CR_PI / wedge;
    // a wedge that divides pi must not be pushed over by rounding
    return steps < 1e9 ? (int)-floor(-(steps - 1e-9 * steps)) : 0;
}

static crStatus resolve(const void* params, const crProblem* problem, crArena* arena, double* p,
                        crRuleReport* report, crError* error) {
    crTree t = {.count = 0};
    crStatus status = cr__impact_begin(params, problem, false, arena, &t.impact, error);
    if (status == CR_OK && !(t.impact.params.threshold >= 0.0)) {
        status = cr_error_set(error, CR_ERR_RANGE, "threshold", "threshold: is %g, must be >= 0",
                              t.impact.params.threshold);
    }
    if (status == CR_OK) status = plant(&t, error);
    if (status != CR_OK) return status;
    if (t.impact.params.corner == CR_CORNER_CONVEX) {
        grow_convex(&t, report);
    } else {
        report->bound = bound(&t);
        status = grow(&t, report, error);
    }
    if (status == CR_OK) status = pick(&t, report, error);
    return status == CR_OK ? publish(&t, problem, p, report, error) : status;
}

crRule cr_rule_feasible(const crRuleParams* params) { return (crRule){"feasible", resolve, params}; }
