// rule.c - running a rule: check the problem, let the rule speak, audit.
//
// The verdict comes from the problem's raw data and p: contact energy p.(u- + u+)/2, the normal velocity
// after, n.p >= 0 and friction within its limit at each contact, joints shut. Kinetic energy is that of
// contacts plus the work of driven bodies, -p.(u_free - J v), and of the prescribed impulse f, f.(v- + v+)/2.
// Fails: bad fields are refused by name; an impulse that is not finite is refused as the rule's fault.
#include <string.h>

#include "base/argument.h"
#include "resolve/impact.h"
#include "resolve/kinds.h"

#define UNDERFLOW 0x1p-1020  // what a product may lose below the smallest normal number

const char* cr_unique_name(crUnique unique) {
    static const char* const names[] = {"yes", "no", "tie-broken", "unknown"};
    return (unsigned)unique < sizeof names / sizeof names[0] ? names[unique] : "unknown";
}

// u before and after, with the prescribed impulse's response counted after, and what margins are compared with
typedef struct crBalance {
    double* after;     // (rows)
    double* weight;    // W_ii (rows)
    double* floor;     // rounding floors of `after` (rows)
    double speed;      // largest velocity of a block before, m/s
    double available;  // energy that impulses can take out, at least, J
    double noise;      // rounding floor of the contact energy, J
} crBalance;

// 16 eps (|u_free| + s_i sum_j s_j |p_j|) over the entries of row i, s = sqrt(W_ii)
static double row_floor(const crProblem* problem, const crMatrix* W, const double* weight, const double* p,
                        int i) {
    double sum = 0.0;
    for (int k = W->start[i]; k < W->start[i + 1]; k++) {
        sum += sqrt(weight[W->col[k]]) * fabs(p[W->col[k]]);
    }
    return 16.0 * 0x1p-52 * (fabs(problem->u_free[i]) + sqrt(weight[i]) * sum);
}

// energy that a normal impulse alone, or one against the whole velocity, can take out of a block
static double block_available(const crProblem* problem, const crMatrix* W, const double* weight,
                              const crBlock* block) {
    const double* u = problem->u_free + block->row;
    double best = 0.0, work = 0.0, stiff = 0.0, s = 0.0;
    for (int a = 0; a < block->count; a++) {
        int row = block->row + a;
        if (weight[row] > 0.0) best = fmax(best, 0.5 * u[a] * (u[a] / weight[row]));
        work += u[a] * u[a];
        s += sqrt(weight[row]) * fabs(u[a]);
        for (int b = 0; b < block->count; b++) {
            stiff += u[a] * cr_matrix_at(W, row, block->row + b) * u[b];
        }
    }
    stiff += 16.0 * 0x1p-52 * s * s;
    return stiff > 0.0 ? fmax(best, 0.5 * work * (work / stiff)) : best;
}

static void balance_scales(const crProblem* problem, const crMatrix* W, const double* p, crBalance* balance) {
    double work = 0.0, stiff = 0.0;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        double square = 0.0;
        for (int r = block->row; r < block->row + block->count; r++) {
            square += problem->u_free[r] * problem->u_free[r];
        }
        balance->speed = fmax(balance->speed, sqrt(square));
        balance->available = fmax(balance->available, block_available(problem, W, balance->weight, block));
    }
    for (int i = 0; i < problem->rows; i++) {
        double sum = 0.0;
        for (int k = W->start[i]; k < W->start[i + 1]; k++) {
            sum += W->value[k] * p[W->col[k]];
        }
        work += p[i] * problem->u_free[i];
        stiff += p[i] * sum;
        balance->floor[i] = row_floor(problem, W, balance->weight, p, i);
        balance->noise += fabs(p[i]) * balance->floor[i] + (p[i] != 0.0 ? UNDERFLOW : 0.0);
    }
    if (stiff > balance->noise) balance->available = fmax(balance->available, 0.5 * work * (work / stiff));
}

static crStatus balance_velocities(const crProblem* problem, const double* f, crArena* arena, const double* p,
                                   crBalance* balance, crRuleReport* report) {
    int n = problem->rows;
    size_t bytes = (size_t)(n + 1) * sizeof(double);
    balance->after = cr_arena_alloc(arena, bytes);
    balance->weight = cr_arena_alloc(arena, bytes);
    balance->floor = cr_arena_alloc(arena, bytes);
    double* response = cr_arena_alloc(arena, (size_t)(n + problem->nv + 1) * sizeof(double));
    if (balance->after == NULL || balance->weight == NULL || balance->floor == NULL || response == NULL) {
        return CR_ERR_MEMORY;
    }
    crStatus status = cr_problem_velocity(problem, arena, p, balance->after);
    if (status != CR_OK) return status;
    crMatrix W;
    status = cr_problem_sparse(problem, arena, &W);
    if (status != CR_OK) return status;
    memset(response, 0, (size_t)n * sizeof *response);
    if (f != NULL) {
        cr_matrix_mul(&problem->Minv, f, response + n);
        cr_matrix_mul(&problem->J, response + n, response);
    }
    for (int i = 0; i < n; i++) {
        balance->weight[i] = fmax(0.0, cr_matrix_at(&W, i, i));
        balance->after[i] += response[i];
        balance->speed = fmax(balance->speed, fabs(response[i]));
        report->contact_energy += 0.5 * p[i] * (problem->u_free[i] + balance->after[i]);
    }
    balance_scales(problem, &W, p, balance);
    return CR_OK;
}

// work done from outside: by driven bodies and by the prescribed impulse
static crStatus balance_work(const crProblem* problem, const double* f, crArena* arena, const double* p,
                             crRuleReport* report) {
    report->work = 0.0;
    bool known = problem->v != NULL && problem->J.value != NULL && problem->Minv.value != NULL;
    if (known) {
        double* v = cr_arena_alloc(arena, (size_t)(problem->nv + 1) * sizeof(double));
        double* dv = cr_arena_alloc(arena, (size_t)(problem->nv + 1) * sizeof(double));
        double* u = cr_arena_alloc(arena, (size_t)(problem->rows + 1) * sizeof(double));
        if (v == NULL || dv == NULL || u == NULL) return CR_ERR_MEMORY;
        crStatus status = cr_problem_apply(problem, arena, p, v);
        if (status != CR_OK) return status;
        if (f != NULL) cr_matrix_mul(&problem->Minv, f, dv);
        for (int i = 0; i < problem->nv && f != NULL; i++) {
            report->work += 0.5 * f[i] * (problem->v[i] + v[i] + dv[i]);
        }
        cr_matrix_mul(&problem->J, problem->v, u);
        for (int i = 0; i < problem->rows; i++) {
            report->work -= p[i] * (problem->u_free[i] - u[i]);
        }
    }
    report->energy_change = report->contact_energy + report->work;
    return CR_OK;
}

// friction left at a cone block, by its own limits; INFINITY where there are none
static double cone_margin_rule(const crProblem* problem, const crBlock* block, const double* p) {
    if (isinf(block->mu)) return p[0] > 0.0 ? (double)INFINITY : -fabs(p[1]);
    int tangents = block->count - 1 - (block->spin ? 1 : 0) - (block->roll ? 2 : 0);
    double t2 = tangents == 2 ? p[2] : 0.0;
    double margin = block->mu * p[0] - fabs(p[1]);
    if (block->vertex_count > 0) {
        // least distance to an edge of the polygon p_n D, counted positive inside
        const double(*v)[2] = problem->vertices + block->vertex;
        margin = (double)INFINITY;
        for (int k = 0; k < block->vertex_count; k++) {
            const double* a = v[k];
            const double* b = v[(k + 1) % block->vertex_count];
            double ex = b[0] - a[0];
            double ey = b[1] - a[1];
            double cross = ex * (t2 - p[0] * a[1]) - ey * (p[1] - p[0] * a[0]);
            margin = fmin(margin, cross / sqrt(ex * ex + ey * ey));
        }
    } else if (tangents == 2 && block->mu > 0.0 && block->mu2 > 0.0) {
        double stretched = t2 * (block->mu / block->mu2);
        margin = block->mu * p[0] - sqrt(p[1] * p[1] + stretched * stretched);
    } else if (tangents == 2) {
        margin = fmin(margin, block->mu2 * p[0] - fabs(t2));
    }
    int at = 1 + tangents;
    if (block->spin) margin = fmin(margin, block->mu_spin * p[0] - fabs(p[at++]));
    if (block->roll) {
        margin = fmin(margin, block->mu_roll * p[0] - sqrt(p[at] * p[at] + p[at + 1] * p[at + 1]));
    }
    return margin;
}

// one figure against its limits: the worst margin, and whether it holds
typedef struct crLimit {
    double margin, floor, allowed;
    crTruth holds;
} crLimit;

static void limit_add(crLimit* limit, double margin, double floor, double allowed) {
    limit->holds = cr_truth_and(limit->holds, cr_truth_at_most(-margin, floor, allowed));
    if (!(margin < limit->margin)) return;
    limit->margin = margin;
    limit->floor = floor;
    limit->allowed = allowed;
}

static crLimit limit_none(double margin) { return (crLimit){margin, 0.0, 0.0, CR_TRUTH_YES}; }

typedef struct crLimits {
    crLimit penetration, tension, cone, joint;
    crLimit open;  // best of the normal velocities
} crLimits;

// trace of W over normal and tangents, or one diagonal entry
static double block_weight(const crBlock* block, const double* weight) {
    double sum = 0.0;
    int rows =
        block->kind == CR_BLOCK_CONE ? block->count - (block->spin ? 1 : 0) - (block->roll ? 2 : 0) : 1;
    for (int k = 0; k < rows; k++) {
        sum += weight[block->row + k];
    }
    return sum;
}

static void limit_contact(const crProblem* problem, const crBalance* balance, const crBlock* block,
                          const double* p, crLimits* limits) {
    double tol = CR_PERMISSIBLE_TOL, inf = (double)INFINITY;
    const double* q = p + block->row;
    int normals = block->kind == CR_BLOCK_CONE ? 1 : block->count;
    for (int k = 0; k < normals; k++) {
        int row = block->row + k;
        double u = balance->after[row],
               floor = q[k] == 0.0 && balance->noise == 0.0 ? 0.0 : balance->floor[row];
        double weight =
            block->kind == CR_BLOCK_CONE ? block_weight(block, balance->weight) : balance->weight[row];
        limit_add(&limits->penetration, u, floor, tol * balance->speed);
        limit_add(&limits->tension, q[k], 4.0 * 0x1p-52 * fabs(q[k]),
                  weight > 0.0 ? tol * balance->speed / weight : 0.0);
        if (u > limits->open.margin || limits->open.margin == -inf) {
            limits->open =
                (crLimit){u, floor, tol * balance->speed, cr_truth_at_most(-u, floor, tol * balance->speed)};
        }
    }
    if (block->kind != CR_BLOCK_CONE) return;
    double size = 0.0, weight = block_weight(block, balance->weight);
    for (int k = 0; k < block->count; k++) {
        size = fmax(size, fabs(q[k]));
    }
    double friction = isfinite(block->mu) ? 1.0 + block->mu : 1.0;
    limit_add(&limits->cone, cone_margin_rule(problem, block, q),
              isfinite(block->mu) ? 16.0 * 0x1p-52 * friction * size : 0.0,
              weight > 0.0 ? tol * friction * balance->speed / weight : 0.0);
}

static void verdict(const crProblem* problem, const crBalance* balance, const double* p,
                    crRuleReport* report) {
    double inf = (double)INFINITY, tol = CR_PERMISSIBLE_TOL;
    crLimits limits = {limit_none(inf), limit_none(inf), limit_none(inf), limit_none(0.0), limit_none(-inf)};
    crLimit energy = limit_none(inf);
    limit_add(&energy, -report->contact_energy, balance->noise, tol * balance->available);
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        if (block->kind != CR_BLOCK_EQUALITY) {
            limit_contact(problem, balance, block, p, &limits);
            continue;
        }
        for (int r = block->row; r < block->row + block->count; r++) {
            limit_add(&limits.joint, -fabs(balance->after[r]), balance->floor[r], tol * balance->speed);
        }
    }
    if ((report->flags & CR_RULE_CONVEX) != 0) limits.penetration = limits.open;
    report->margins = (crRuleMargins){energy.margin, limits.penetration.margin, limits.tension.margin,
                                      limits.cone.margin, limits.joint.margin};
    report->floor = (crRuleMargins){energy.floor, limits.penetration.floor, limits.tension.floor,
                                    limits.cone.floor, limits.joint.floor};
    report->allowed = (crRuleMargins){energy.allowed, limits.penetration.allowed, limits.tension.allowed,
                                      limits.cone.allowed, limits.joint.allowed};
    report->creates_energy = energy.holds == CR_TRUTH_NO;
    report->verdict = cr_truth_and(cr_truth_and(energy.holds, limits.penetration.holds),
                                   cr_truth_and(limits.tension.holds, limits.cone.holds));
    report->verdict = cr_truth_and(report->verdict, limits.joint.holds);
    // a solution keeps joints shut
    if (report->outcome == CR_OUTCOME_SOLVED && limits.joint.holds != CR_TRUTH_YES) {
        report->outcome = limits.joint.holds == CR_TRUTH_NO ? CR_OUTCOME_LIMIT : CR_OUTCOME_UNSURE;
    }
    report->permissible = report->verdict == CR_TRUTH_YES;
}

static crStatus judge(const crRule* rule, const crProblem* problem, crArena* arena, const double* p,
                      crRuleReport* report, crError* error) {
    double sum = 0.0;
    for (int i = 0; i < problem->rows; i++) {
        sum += p[i] * 0.0;
    }
    if (sum != 0.0) {
        return cr_error_set(error, CR_ERR_FINITE, "rule", "rule: \"%s\" gave an impulse that is not finite",
                            rule->name);
    }
    size_t mark = cr_arena_mark(arena);
    const double* f = NULL;
    // only the rules of the catalogue are known to take crRuleParams
    if (rule->params != NULL && cr__rule_is_ours(rule)) f = ((const crRuleParams*)rule->params)->impulse;
    crBalance balance = {0};
    crStatus status = balance_velocities(problem, f, arena, p, &balance, report);
    if (status == CR_OK) status = balance_work(problem, f, arena, p, report);
    if (status == CR_OK) verdict(problem, &balance, p, report);
    if (status == CR_OK) status = cr_problem_audit(problem, arena, p, &report->audit);
    cr_arena_release(arena, mark);
    return status;
}

crStatus cr_rule_run(const crRule* rule, const crProblem* problem, crArena* arena, double* p,
                     crRuleReport* report, crError* error) {
    if (rule == NULL || rule->resolve == NULL) return cr__missing(error, "rule");
    if (problem == NULL) return cr__missing(error, "problem");
    if (arena == NULL) return cr__missing(error, "arena");
    if (p == NULL) return cr__missing(error, "p");
    if (report == NULL) return cr__missing(error, "report");
    crStatus status = cr_problem_check(problem, error);
    if (status != CR_OK) return status;
    *report = (crRuleReport){.method = rule->name, .unique = CR_UNIQUE_UNKNOWN, .outcome_count = 1};
    memset(p, 0, (size_t)problem->rows * sizeof *p);
    size_t mark = cr_arena_mark(arena);
    status = rule->resolve(rule->params, problem, arena, p, report, error);
    if (status != CR_OK || report->outcome_p == NULL) cr_arena_release(arena, mark);
    if (status != CR_OK) return status;
    return judge(rule, problem, arena, p, report, error);
}
