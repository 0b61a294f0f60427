// rule_chain.c - energetic restitution through compliant contacts whose stiffness ratios alone matter.
//
// Each contact stores energy E as it is compressed and gives back e^2 of it. With x its compression,
// E = K x^(h+1)/(h+1), the impulses share themselves out as
//
//     dP_i / dP_j = (K_i/K_j)^(1/(h+1)) (E_i/E_j)^(h/(h+1)) = K_i x_i^h / (K_j x_j^h)
//
// which is Liu, Zhao and Brogliato's distributing law. Instead of the primary contact's impulse the
// independent variable here is s with dP_i/ds = K_i x_i^h: the same orbit, but without the singular start at
// E = 0, and dx_i/ds = -u_i while compressing, -u_i/e_i^2 while expanding, u = u- + W P. A contact acts while
// x > 0, starts anew whenever it approaches, and all ends when none does. h = 1, or 3/2 (Hertz). Runge-Kutta
// of order 5 (Dormand and Prince 1980) with the changes of phase located. Source: Liu, Zhao and Brogliato
// 2008. Holds: e <= 1 creates no energy; e = 1 conserves it to the integration's 1e-11. Fails: budget: limit.
#include "resolve/impact.h"

#include "resolve/kinds.h"
#include <string.h>

#define BUDGET    200000
#define STEP_TOL  1e-13  // error of a step, of the largest compression and impulse expected
#define START_TOL 1e-14  // of the speed before: an approach slower than this starts nothing

typedef enum crPhase { OPEN, COMPRESSING, EXPANDING } crPhase;

typedef struct crChain {
    crImpact impact;
    int k;
    double* W;         // of the normals, scaled to a largest diagonal of 1 (k*k)
    double* u0;        // normal velocities before, scaled to a largest of 1 (k)
    double* K;         // stiffness, scaled to a largest of 1 (k)
    double* e;         // (k)
    crPhase* phase;    // (k)
    double* y;         // compressions, then impulses (2 k)
    double* trial;     // (2 k)
    double* error;     // (2 k)
    double* slope[7];  // (2 k) each
    double* u;         // velocities at trial (k)
    double w, speed;   // the scales
} crChain;

static crStatus scale_chain(crChain* c, crError* error) {
    const crImpact* impact = &c->impact;
    const double* given = impact->params.stiffness;
    double stiffest = 0.0;
    for (int i = 0; i < c->k; i++) {
        size_t row = (size_t)impact->normal[i];
        c->K[i] = given != NULL ? given[i] : 1.0;
        if (!(c->K[i] > 0.0) || !isfinite(c->K[i])) {
            return cr_error_set(error, CR_ERR_RANGE, "stiffness", "stiffness: entry %d is %g, must be > 0", i,
                                c->K[i]);
        }
        stiffest = fmax(stiffest, c->K[i]);
        c->w = fmax(c->w, impact->W[row * (size_t)impact->rows + row]);
        c->speed = fmax(c->speed, fabs(impact->u[row]));
        c->e[i] = impact->blocks[impact->block[i]].e;
    }
    for (int i = 0; i < c->k; i++) {
        size_t row = (size_t)impact->normal[i];
        c->K[i] /= stiffest;
        c->u0[i] = c->speed > 0.0 ? impact->u[row] / c->speed : 0.0;
        for (int j = 0; j < c->k; j++) {
            double value = impact->W[row * (size_t)impact->rows + (size_t)impact->normal[j]];
            c->W[i * c->k + j] = c->w > 0.0 ? value / c->w : 0.0;
        }
    }
    return CR_OK;
}

static crStatus prepare(crChain* c, crError* error) {
    c->k = c->impact.contacts;
    size_t k = (size_t)(c->k > 0 ? c->k : 1);
    crArena* arena = c->impact.arena;
    double** vectors[] = {&c->u0, &c->K, &c->e, &c->u};
    double** pairs[] = {&c->y,        &c->trial,    &c->error,    &c->slope[0], &c->slope[1],
                        &c->slope[2], &c->slope[3], &c->slope[4], &c->slope[5], &c->slope[6]};
    bool ok = true;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *vectors[i] = cr_arena_alloc(arena, k * sizeof(double));
        ok = ok && *vectors[i] != NULL;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        *pairs[i] = cr_arena_alloc(arena, 2 * k * sizeof(double));
        ok = ok && *pairs[i] != NULL;
    }
    c->W = cr_arena_alloc(arena, k * k * sizeof(double));
    c->phase = cr_arena_alloc(arena, k * sizeof(crPhase));
    if (!ok || c->W == NULL || c->phase == NULL) {
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    }
    memset(c->y, 0, 2 * k * sizeof(double));
    for (int i = 0; i < c->k; i++) {
        c->phase[i] = OPEN;
    }
    return scale_chain(c, error);
}

// u = u0 + W P for the impulses in y
static void velocities_chain(const crChain* c, const double* y, double* u) {
    for (int i = 0; i < c->k; i++) {
        u[i] = c->u0[i];
        for (int j = 0; j < c->k; j++) {
            u[i] += c->W[i * c->k + j] * y[c->k + j];
        }
    }
}

static void derivative_chain(const crChain* c, const double* y, double* u, double* dy) {
    velocities_chain(c, y, u);
    for (int i = 0; i < c->k; i++) {
        double x = y[i];
        bool on = c->phase[i] != OPEN;
        double force = c->K[i] * x;
        if (c->impact.params.hertz) force *= sqrt(fabs(x));
        dy[i] = on ? -u[i] : 0.0;
        if (c->phase[i] == EXPANDING) dy[i] /= c->e[i] * c->e[i];
        dy[c->k + i] = on ? force : 0.0;
    }
}

// one step of size h from y into trial, phases as they are; the largest error in units of STEP_TOL
static double advance_chain(crChain* c, double h) {
    static const double a[7][6] = {
        {0},
        {1.0 / 5.0},
        {3.0 / 40.0, 9.0 / 40.0},
        {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
        {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
        {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
        {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
    };
    static const double d[7] = {71.0 / 57600.0,      0.0,          -71.0 / 16695.0, 71.0 / 1920.0,
                                -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};
    int n = 2 * c->k;
    for (int stage = 0; stage < 7; stage++) {
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int l = 0; l < stage; l++) {
                sum += a[stage][l] * c->slope[l][i];
            }
            c->trial[i] = c->y[i] + h * sum;
        }
        derivative_chain(c, c->trial, c->u, c->slope[stage]);
    }
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int l = 0; l < 7; l++) {
            sum += d[l] * c->slope[l][i];
        }
        worst = fmax(worst, fabs(h * sum));
    }
    return worst / STEP_TOL;
}

// whether contact i leaves its phase at trial, whose velocities are in u
static bool leaves(const crChain* c, int i) {
    if (c->phase[i] == OPEN) return c->u[i] < -START_TOL;
    if (c->phase[i] == COMPRESSING) return c->u[i] > 0.0;
    return c->trial[i] <= 0.0 || c->u[i] < 0.0;
}

static bool any_leaves(const crChain* c) {
    for (int i = 0; i < c->k; i++) {
        if (leaves(c, i)) return true;
    }
    return false;
}

// into the next phase at trial; a contact with e = 0, or one that was never compressed, opens at once
static void change_phases(crChain* c) {
    for (int i = 0; i < c->k; i++) {
        if (!leaves(c, i)) continue;
        if (c->phase[i] == OPEN || (c->phase[i] == EXPANDING && c->trial[i] > 0.0)) {
            c->phase[i] = COMPRESSING;
        } else if (c->phase[i] == COMPRESSING && c->e[i] > 0.0 && c->trial[i] > 0.0) {
            c->phase[i] = EXPANDING;
        } else {
            c->phase[i] = OPEN;
            c->trial[i] = 0.0;
        }
    }
}

// the first change of phase within a step of size h: trial ends just behind it
static void locate_chain(crChain* c, double h) {
    double before = 0.0;
    double after = h;
    for (int i = 0; i < 60 && after - before > 1e-16 * h; i++) {
        double middle = 0.5 * (before + after);
        advance_chain(c, middle);
        if (any_leaves(c)) {
            after = middle;
        } else {
            before = middle;
        }
    }
    advance_chain(c, after);
}

static bool finished(crChain* c) {
    velocities_chain(c, c->y, c->u);
    memcpy(c->trial, c->y, 2 * (size_t)c->k * sizeof(double));
    for (int i = 0; i < c->k; i++) {
        if (c->phase[i] == OPEN && leaves(c, i)) c->phase[i] = COMPRESSING;
    }
    for (int i = 0; i < c->k; i++) {
        if (c->phase[i] != OPEN) return false;
    }
    return true;
}

// a contact that joints block and that approaches all the same can never be stopped
static bool stoppable(const crChain* c) {
    for (int i = 0; i < c->k; i++) {
        if (c->u0[i] < -START_TOL && !(c->W[i * c->k + i] > 0.0)) return false;
    }
    return true;
}

static void integrate_chain(crChain* c, crRuleReport* report) {
    if (!stoppable(c)) {
        report->outcome = CR_OUTCOME_INFEASIBLE;
        return;
    }
    int budget = c->impact.params.budget > 0 ? c->impact.params.budget : BUDGET;
    double h = 1e-3;
    while (!finished(c)) {
        if (report->steps == budget) {
            report->outcome = CR_OUTCOME_LIMIT;
            report->flags |= CR_RULE_TRUNCATED;
            return;
        }
        double error = advance_chain(c, h);
        if (error > 1.0 && h > 1e-9) {
            h *= 0.5;
            continue;
        }
        if (any_leaves(c)) {
            locate_chain(c, h);
            change_phases(c);
        } else if (error < 0.05) {
            h *= 1.5;
        }
        memcpy(c->y, c->trial, 2 * (size_t)c->k * sizeof(double));
        report->steps++;
    }
}

static crStatus resolve_chain(const void* params, const crProblem* problem, crArena* arena, double* p,
                              crRuleReport* report, crError* error) {
    crChain c = {.k = 0};
    crStatus status = cr__impact_begin(params, problem, false, arena, &c.impact, error);
    if (status == CR_OK) status = prepare(&c, error);
    if (status != CR_OK) return status;
    double* own = cr_arena_alloc(arena, (size_t)(c.impact.rows + 1) * sizeof(double));
    if (own == NULL) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    memset(own, 0, (size_t)(c.impact.rows + 1) * sizeof(double));
    integrate_chain(&c, report);
    for (int i = 0; i < c.k; i++) {
        own[c.impact.normal[i]] = c.w > 0.0 ? c.y[c.k + i] * (c.speed / c.w) : 0.0;
    }
    report->unique = CR_UNIQUE_YES;
    cr__impact_finish(&c.impact, own, p, report);
    return CR_OK;
}

const cr__RuleKind cr__rule_chain = {
    .order = 8,
    .resolve = resolve_chain,
    .info = {.name = "chain",
             .title = "energetic restitution through compliant contacts",
             .reads = "e; stiffness, hertz",
             .guarantee = "no energy is created; waves travel as the stiffness ratios say",
             .source = "Liu, Zhao and Brogliato 2008",
             .may_create_energy = false},
};
