// rule_feasible.c - every order of single frictionless impacts, and a choice among the outcomes.
//
// Reflection at surface i: v <- v - (1+e) Minv u^T u v / (u Minv u^T), in contact space p_i <- p_i - (1+e)
// u_i / W_ii, u <- u + W p. Branch over all violated surfaces until the velocity is valid; equal velocities
// are merged. Distances are those of kinetic energy, so neither M nor v is needed (feasible_pick.c). A
// convex corner takes one surface. Below the threshold speed the impact is plastic. An order whose impulses form
// a geometric series goes to its limit at once. Source: Seghete and Murphey 2012; Truesdell 1974; Pandolfi et al.
// 2002. Holds: e = 1 and two surfaces end within ceil(pi/wedge) steps; the velocity is valid, whatever the
// budget. Fails: budget: every branch that is open goes on by its fastest surface alone, the outcomes so found
// join the set, and the set is incomplete; no outcome at all (surfaces that leave no room, a branch longer than
// the reserve): the plastic impact, and stalled with a cycle, or limit.
#include "resolve/feasible.h"

#include "resolve/kinds.h"
#include <string.h>

#define BUDGET     4096
#define ROOM       2097152  // doubles that velocities of nodes may take where no budget is given
#define MERGE_TOL  1e-10    // of the speed before: velocities closer than this are one
#define MAX_PERIOD 8        // of an order that repeats itself
#define TAIL_DEPTH 24       // reflections after which a branch that creeps is ended by a plastic impact
#define TAIL       1e-8     // of the speed before: what creeping is

static crStatus make_room(crTree* t, crError* error) {
    crArena* arena = t->impact.arena;
    size_t k = (size_t)(t->k > 0 ? t->k : 1);
    size_t nodes = (size_t)t->room;
    int** numbers[] = {&t->first, &t->depth, &t->parent, &t->surface, &t->since, &t->next, &t->outcome};
    bool good = true;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        *numbers[i] = cr_arena_alloc(arena, nodes * sizeof(int));
        good = good && *numbers[i] != NULL;
    }
    t->cells = 1;
    while (t->cells < t->room) {
        t->cells *= 2;
    }
    t->W = cr_arena_alloc(arena, k * k * sizeof(double));
    t->p = cr_arena_alloc(arena, nodes * k * sizeof(double));
    t->u = cr_arena_alloc(arena, nodes * k * sizeof(double));
    t->head = cr_arena_alloc(arena, (size_t)t->cells * sizeof(int));
    t->ended = cr_arena_alloc(arena, nodes * sizeof(bool));
    t->away = cr_arena_alloc(arena, nodes * sizeof(double));
    t->result = cr_arena_alloc(arena, k * sizeof(double));
    good = good && t->W != NULL && t->p != NULL && t->u != NULL && t->head != NULL && t->ended != NULL &&
           t->away != NULL && t->result != NULL;
    return good ? CR_OK : cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
}

static void add_node(crTree* t);

static crStatus plant(crTree* t, crError* error) {
    const crImpact* impact = &t->impact;
    t->k = impact->contacts;
    t->budget = impact->params.budget;
    int affordable = t->k > ROOM / BUDGET ? ROOM / t->k + 1 : BUDGET;
    if (t->budget == 0) t->budget = affordable;
    // as many nodes again for branches that are brought to an end
    t->room = t->budget + affordable;
    crStatus status = make_room(t, error);
    if (status != CR_OK) return status;
    memset(t->head, -1, (size_t)t->cells * sizeof(int));
    for (int i = 0; i < t->k; i++) {
        size_t row = (size_t)impact->normal[i];
        for (int j = 0; j < t->k; j++) {
            t->W[i * t->k + j] = impact->W[row * (size_t)impact->rows + (size_t)impact->normal[j]];
        }
        t->p[i] = 0.0;
        t->u[i] = impact->u[row];
        t->result[i] = 0.0;
    }
    t->first[0] = t->parent[0] = t->surface[0] = -1;
    t->depth[0] = t->since[0] = 0;
    add_node(t);
    return CR_OK;
}

static double node_approach(const crTree* t, int node) {
    double fastest = 0.0;
    for (int i = 0; i < t->k; i++) {
        fastest = fmax(fastest, -node_u(t, node)[i]);
    }
    return fastest;
}

// Cell of a velocity on a line through velocity space: velocities that are one are in the same cell or the next.
static double cell_of(const crTree* t, const double* u) {
    double sum = 0.0, weights = 0.0;
    for (int i = 0; i < t->k; i++) {
        // multiples of the golden ratio, less their whole part: weights in [1, 2) without a pattern
        double golden = 0.6180339887498949 * (i + 1);
        double weight = 1.0 + (golden - floor(golden));
        sum += weight * u[i];
        weights += weight;
    }
    double width = 4.0 * MERGE_TOL * t->impact.speed * weights;
    return width > 0.0 ? floor(sum / width) : 0.0;
}

static int slot_of(const crTree* t, double cell) {
    double within = cell - floor(cell / t->cells) * t->cells;
    return (int)within;
}

// the node after the last one, filled already, becomes a node
static void add_node(crTree* t) {
    int node = t->count++;
    int slot = slot_of(t, cell_of(t, node_u(t, node)));
    t->ended[node] = false;
    t->next[node] = t->head[slot];
    t->head[slot] = node;
}

// a node with the same velocities, or -1
static int same_feasible(const crTree* t, const double* u) {
    double tol = MERGE_TOL * t->impact.speed;
    double cell = cell_of(t, u);
    int found = -1;
    for (int step = -1; step <= 1; step++) {
        for (int node = t->head[slot_of(t, cell + step)]; node >= 0; node = t->next[node]) {
            const double* other = node_u(t, node);
            int i = 0;
            while (i < t->k && fabs(other[i] - u[i]) <= tol) {
                i++;
            }
            if (i == t->k && (found < 0 || node < found)) found = node;
        }
    }
    return found;
}

// the last 3 L reflections on the way to `node` repeat an order of length L; a and b are the nodes 2 L and L before
static bool repeats(const crTree* t, int node, int L, int* a, int* b) {
    int way[3 * MAX_PERIOD];
    if (t->depth[node] - 3 * L <= t->since[node]) return false;
    for (int i = 0, at = node; i < 3 * L; i++, at = t->parent[at]) {
        way[i] = t->surface[at];
        if (i >= L && way[i] != way[i - L]) return false;
        if (i == L) *b = at;
        if (i == 2 * L) *a = at;
    }
    return true;
}

// The impulses of the last periods on the way to `node` form a geometric series: on to its limit.
static bool jump(crTree* t, int node) {
    double* p = node_p(t, node);
    for (int L = 2; L <= MAX_PERIOD; L++) {
        int to_a = 0, to_b = 0;
        if (!repeats(t, node, L, &to_a, &to_b)) continue;
        const double* a = node_p(t, to_a);
        const double* b = node_p(t, to_b);
        double r;
        if (!cr__geometric(t->k, a, b, p, t->impact.params.tolerance, &r)) continue;
        for (int i = 0; i < t->k; i++) {
            p[i] += r / (1.0 - r) * (p[i] - b[i]);
        }
        for (int j = 0; j < t->k; j++) {
            double sum = t->u[j];
            for (int i = 0; i < t->k; i++) {
                sum += t->W[i * t->k + j] * p[i];
            }
            node_u(t, node)[j] = sum;
        }
        t->since[node] = t->depth[node];
        return true;
    }
    return false;
}

// The reflection of `node` at surface i becomes a new node, unless it is an old one. Returns that node, or -1
// where there is no room.
static int branch(crTree* t, int node, int i, double e, crRuleReport* report) {
    if (t->count == t->room) return -1;
    int last = t->count;
    double* p = node_p(t, last);
    double* u = node_u(t, last);
    memcpy(p, node_p(t, node), (size_t)t->k * sizeof *p);
    memcpy(u, node_u(t, node), (size_t)t->k * sizeof *u);
    double dp = -(1.0 + e) * u[i] / t->W[i * t->k + i];
    p[i] += dp;
    for (int j = 0; j < t->k; j++) {
        u[j] += t->W[i * t->k + j] * dp;
    }
    t->first[last] = node == 0 ? i : t->first[node];
    t->depth[last] = t->depth[node] + 1;
    t->parent[last] = node;
    t->surface[last] = i;
    t->since[last] = t->since[node];
    if (t->impact.params.extrapolate && jump(t, last)) report->flags |= CR_RULE_EXTRAPOLATED;
    int old = same_feasible(t, u);
    if (old >= 0) return old;
    add_node(t);
    return last;
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
    bool creeps = t->depth[node] >= TAIL_DEPTH && speed <= TAIL * t->impact.speed && loses(t);
    if (t->depth[node] > report->steps) report->steps = t->depth[node];
    *ended = speed <= least || slow || creeps;
    if (!*ended || t->ended[node]) return CR_OK;
    if (speed > 1e-3 * least && speed <= least && !slow) report->flags |= CR_RULE_TRUNCATED;
    crStatus status = speed > least ? settle(t, node, report, error) : CR_OK;
    if (status != CR_OK) return status;
    t->ended[node] = true;
    t->outcome[t->outcomes++] = node;
    return CR_OK;
}

// From a node that has not branched to an outcome, by the fastest surface alone; nothing where that comes round
// or the reserve is out.
static crStatus bring_to_an_end(crTree* t, int node, crRuleReport* report, crError* error) {
    bool ended = false;
    for (int steps = 0; steps < t->room; steps++) {
        crStatus status = try_outcome(t, node, report, &ended, error);
        if (status != CR_OK || ended) return status;
        int fastest = 0;
        for (int i = 1; i < t->k; i++) {
            if (node_u(t, node)[i] < node_u(t, node)[fastest]) fastest = i;
        }
        if (!(t->W[fastest * t->k + fastest] > 0.0)) return CR_OK;
        node = branch(t, node, fastest, surface_e(t, fastest), report);
        if (node < 0) return CR_OK;
    }
    return CR_OK;
}

static crStatus grow(crTree* t, crRuleReport* report, crError* error) {
    double least = t->impact.params.tolerance * t->impact.speed;
    int node = 0;
    for (; node < t->count && t->count < t->budget; node++) {
        bool ended;
        crStatus status = try_outcome(t, node, report, &ended, error);
        if (status != CR_OK) return status;
        if (ended) continue;
        if (blocked(t, node, least)) {
            report->outcome = CR_OUTCOME_INFEASIBLE;
            return CR_OK;
        }
        for (int i = 0; i < t->k; i++) {
            if (-node_u(t, node)[i] > least) branch(t, node, i, surface_e(t, i), report);
        }
    }
    int open = t->count;
    for (; node < open; node++) {
        bool valid = node_approach(t, node) <= least;
        if (!valid) report->flags |= CR_RULE_INCOMPLETE;
        crStatus status = bring_to_an_end(t, node, report, error);
        if (status != CR_OK) return status;
    }
    if (t->outcomes > 0) return CR_OK;
    // a velocity that is permissible whatever came before
    bool incomplete = (report->flags & CR_RULE_INCOMPLETE) != 0;
    crStatus status = settle(t, 0, report, error);
    if (status != CR_OK) return status;
    t->outcome[t->outcomes++] = 0;
    if (!incomplete) report->flags |= CR_RULE_CYCLE;
    if (report->outcome == CR_OUTCOME_SOLVED) {
        report->outcome = incomplete ? CR_OUTCOME_LIMIT : CR_OUTCOME_STALLED;
    }
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
        if (!(t->W[i * t->k + i] > 0.0) || branch(t, 0, i, e, report) < 0) continue;
        report->steps = 1;
    }
    for (int node = 1; node < t->count; node++) {
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
    if (status == CR_OK) status = cr__feasible_pick(&t, report, error);
    return status == CR_OK ? publish(&t, problem, p, report, error) : status;
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
