// rule_feasible.c - every order of single frictionless impacts, and a choice among the outcomes.
//
// Reflection at surface i: v <- v - (1+e) Minv u^T u v / (u Minv u^T), in contact space p_i <- p_i - (1+e)
// u_i / W_ii, u <- u + W p. Branch over all violated surfaces until the velocity is valid; equal velocities and mirror
// images are merged (feasible_tree.c). Distances are those of kinetic energy, so neither M nor v is needed
// (feasible_pick.c). A convex corner takes one surface. Below the threshold speed the impact is plastic.
// Source: Seghete and Murphey 2012; Truesdell 1974; Pandolfi et al. 2002. Holds: e = 1 and two surfaces end within
// ceil(pi/wedge) steps; the velocity is valid, whatever the budget. Fails: budget: every branch that is open goes on by its
// fastest surface alone, the outcomes so found join the set, and the set is incomplete. Then branches that may have a
// nearer outcome (feasible_bound.c) are followed, the most promising first, as far again as the budget; where none is
// left the choice is proven. No outcome at all (surfaces that leave no room, a branch longer than the reserve): the plastic impact, and
// stalled with a cycle, or limit.
#include "resolve/feasible.h"

#include "resolve/kinds.h"
#include <string.h>

#define TAIL_DEPTH 24    // reflections after which a branch that creeps is ended by a plastic impact
#define TAIL       1e-8  // of the speed before: what creeping is

static double node_approach(const crTree* t, int node) {
    double fastest = 0.0;
    for (int i = 0; i < t->k; i++) {
        fastest = fmax(fastest, -node_u(t, node)[i]);
    }
    return fastest;
}

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

// true where some reflection loses energy
static bool loses(const crTree* t) {
    for (int i = 0; i < t->k; i++) {
        if (surface_e(t, i) < 1.0) return true;
    }
    return false;
}

// The node is valid, or slow enough for a plastic impact: it becomes an outcome.
static crStatus try_outcome(crTree* t, int node, crRuleReport* report, bool* ended, crError* error) {
    double least = t->impact.params.tolerance * t->impact.speed;
    double speed = node_approach(t, node);
    bool slow = speed < t->impact.params.threshold;
    bool creeps = t->node.depth[node] >= TAIL_DEPTH && speed <= TAIL * t->impact.speed && loses(t);
    if (t->node.depth[node] > report->steps) report->steps = t->node.depth[node];
    *ended = speed <= least || slow || creeps;
    if (!*ended || t->node.ended[node]) return CR_OK;
    if (speed > 1e-3 * least && speed <= least && !slow) report->flags |= CR_RULE_TRUNCATED;
    crStatus status = speed > least ? settle(t, node, report, error) : CR_OK;
    if (status != CR_OK) return status;
    t->node.ended[node] = true;
    t->outcome[t->outcomes++] = node;
    return CR_OK;
}

// From a node that has not branched to an outcome, by the fastest surface alone; nothing where that comes round
// or the reserve is out.
static crStatus bring_to_an_end(crTree* t, int node, crRuleReport* report, crError* error) {
    int most = t->budget + t->reserve;
    bool ended = false;
    for (int steps = 0; steps < most; steps++) {
        crStatus status = try_outcome(t, node, report, &ended, error);
        if (status != CR_OK || ended) return status;
        int fastest = 0;
        for (int i = 1; i < t->k; i++) {
            if (node_u(t, node)[i] < node_u(t, node)[fastest]) fastest = i;
        }
        if (!(t->W[fastest * t->k + fastest] > 0.0)) return CR_OK;
        node = cr__tree_branch(t, node, fastest, surface_e(t, fastest), most, report);
        if (node < 0) return CR_OK;
    }
    return CR_OK;
}

// An outcome, or all reflections of the node become nodes; infeasible where one is blocked.
static crStatus expand_node(crTree* t, int node, int most, crRuleReport* report, crError* error) {
    double least = t->impact.params.tolerance * t->impact.speed;
    bool ended;
    crStatus status = try_outcome(t, node, report, &ended, error);
    if (status != CR_OK || ended) return status;
    if (blocked(t, node, least)) {
        report->outcome = CR_OUTCOME_INFEASIBLE;
        return CR_OK;
    }
    t->node.done[node] = true;
    for (int i = 0; i < t->k; i++) {
        if (!(-node_u(t, node)[i] > least)) continue;
        if (cr__tree_branch(t, node, i, surface_e(t, i), most, report) < 0) t->node.done[node] = false;
    }
    return CR_OK;
}

static bool is_open(const crTree* t, int node) { return !t->node.ended[node] && !t->node.done[node]; }

// squared distance of the nearest outcome from number `from` on, or `best` where none is nearer
static double nearest(const crTree* t, int from, double best) {
    for (int i = from; i < t->outcomes; i++) {
        const double* p = node_p(t, t->outcome[i]);
        best = fmin(best, cr__tree_product(t, p, p));
    }
    return best;
}

// Branches that are open go on by their fastest surface alone, those with the smallest bound first.
static crStatus end_branches(crTree* t, int* heap, crRuleReport* report, crError* error) {
    int waiting = 0;
    for (int node = 0; node < t->node.count; node++) {
        if (is_open(t, node)) cr__heap_push(t, heap, &waiting, node);
    }
    crStatus status = CR_OK;
    while (status == CR_OK && waiting > 0) {
        status = bring_to_an_end(t, cr__heap_pop(t, heap, &waiting), report, error);
    }
    return status;
}

// Branches that may have a nearer outcome than those found are followed, those with the smallest bound first.
static crStatus look_nearer(crTree* t, int* heap, crRuleReport* report, crError* error) {
    int waiting = 0, seen = 0;
    int most = t->node.count + (t->budget < t->reserve ? t->budget : t->reserve);
    double best = nearest(t, 0, (double)INFINITY);
    crStatus status = CR_OK;
    while (status == CR_OK && report->outcome == CR_OUTCOME_SOLVED) {
        for (; seen < t->node.count; seen++) {
            if (is_open(t, seen)) cr__heap_push(t, heap, &waiting, seen);
        }
        if (waiting == 0 || t->node.count >= most) break;
        int node = cr__heap_pop(t, heap, &waiting), outcomes = t->outcomes;
        // this one stays open, and so do all others: cr__feasible_pick looks at them again
        if (!(cr__bound_nearest(t, node) < best)) break;
        status = expand_node(t, node, most, report, error);
        best = nearest(t, outcomes, best);
    }
    return status;
}

// The budget is out: an answer from what there is, and a nearer one where it can be had for as much again.
static crStatus make_do(crTree* t, crRuleReport* report, crError* error) {
    int* heap = cr_arena_alloc(t->impact.arena, (size_t)t->node.room * sizeof *heap);
    if (heap == NULL) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    crStatus status = cr__bound_begin(t, report, error);
    if (status == CR_OK) status = end_branches(t, heap, report, error);
    if (status == CR_OK) status = look_nearer(t, heap, report, error);
    for (int node = 0; node < t->node.count; node++) {
        if (is_open(t, node)) report->flags |= CR_RULE_INCOMPLETE;
    }
    return status;
}

static crStatus grow(crTree* t, crRuleReport* report, crError* error) {
    crStatus status = CR_OK;
    int node = 0;
    for (; node < t->node.count && t->node.count < t->budget; node++) {
        status = expand_node(t, node, t->node.room, report, error);
        if (status != CR_OK || report->outcome == CR_OUTCOME_INFEASIBLE) return status;
    }
    if (node < t->node.count) status = make_do(t, report, error);
    if (status != CR_OK) return status;
    bool incomplete = (report->flags & CR_RULE_INCOMPLETE) != 0;
    if (t->outcomes > 0) {
        if (!cr__tree_mirror(t)) report->flags |= CR_RULE_INCOMPLETE;
        return CR_OK;
    }
    // a velocity that is permissible whatever came before
    status = settle(t, 0, report, error);
    if (status != CR_OK) return status;
    t->outcome[t->outcomes++] = 0;
    if (!incomplete) report->flags |= CR_RULE_CYCLE;
    t->verdict = incomplete ? CR_OUTCOME_LIMIT : CR_OUTCOME_STALLED;
    return CR_OK;
}

// Truesdell's wedge: out by one surface, whichever; nothing happens where one is open already
static void grow_convex(crTree* t, crRuleReport* report) {
    double least = t->impact.params.tolerance * t->impact.speed;
    double threshold = t->impact.params.threshold;
    report->flags |= CR_RULE_CONVEX;
    bool open = t->k == 0;
    for (int i = 0; i < t->k; i++) {
        open = open || t->node.u[i] >= -least;
    }
    if (open) {
        t->outcome[t->outcomes++] = 0;
        return;
    }
    for (int i = 0; i < t->k; i++) {
        double e = -t->node.u[i] < threshold ? 0.0 : surface_e(t, i);
        if (!(t->W[i * t->k + i] > 0.0) || cr__tree_branch(t, 0, i, e, t->node.room, report) < 0) continue;
        report->steps = 1;
    }
    for (int node = 1; node < t->node.count; node++) {
        t->outcome[t->outcomes++] = node;
    }
    if (t->outcomes == 0) report->outcome = CR_OUTCOME_INFEASIBLE;
}

// impulses of the surfaces as the problem's
static void finish_feasible(const crTree* t, const double* p, double* own, double* out,
                            crRuleReport* report) {
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
    finish_feasible(t, t->result, own, p, report);
    for (size_t i = 0; i < (size_t)t->outcomes; i++) {
        finish_feasible(t, node_p(t, t->outcome[i]), own, all_p + i * n, report);
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

static crStatus resolve_feasible(const void* params, const crProblem* problem, crArena* arena, double* p,
                                 crRuleReport* report, crError* error) {
    crTree t = {.verdict = CR_OUTCOME_SOLVED};
    crStatus status = cr__impact_begin(params, problem, false, arena, &t.impact, error);
    if (status == CR_OK && !(t.impact.params.threshold >= 0.0)) {
        status = cr_error_set(error, CR_ERR_RANGE, "threshold", "threshold: is %g, must be >= 0",
                              t.impact.params.threshold);
    }
    if (status == CR_OK) status = cr__tree_plant(&t, error);
    if (status != CR_OK) return status;
    if (t.impact.params.corner == CR_CORNER_CONVEX) {
        grow_convex(&t, report);
    } else {
        report->bound = bound(&t);
        status = grow(&t, report, error);
    }
    if (status == CR_OK) status = cr__feasible_pick(&t, report, error);
    if (status == CR_OK) status = publish(&t, problem, p, report, error);
    // an incomplete search is reported only where the impulses are solved
    if (report->outcome == CR_OUTCOME_SOLVED) report->outcome = t.verdict;
    return status;
}

const cr__RuleKind cr__rule_feasible = {
    .order = 5,
    .resolve = resolve_feasible,
    .info = {.name = "feasible",
             .title = "all orders of single frictionless impacts",
             .reads = "e; pick, corner, threshold",
             .guarantee = "in the permissible region; the outcome set is complete within the budget",
             .source = "Seghete and Murphey 2012",
             .may_create_energy = false},
};
