// rule_reflect.c - generalized reflections: all approaching contacts at once, again and again.
//
// While a contact approaches, solve the frictionless plastic impact over the approaching contacts alone and
// apply twice its impulses: by complementarity the energy stays, and contacts that are alike are treated
// alike, so a cradle and a symmetric break both come out right. For e < 1 the answer is (1-e) times the
// plastic impact of all contacts plus e times the reflections: both are permissible and the region is convex,
// so this is. Source: Smith, Kaufman, Vouga, Tamstorf and Grinspun 2012. Holds: in the permissible region,
// frictionless. Fails: contacts of different e are refused; where the contacts leave no room (a ball between
// two walls) the reflections never end: stalled with a cycle, or limit.
#include "resolve/impact.h"

#include "resolve/kinds.h"
#include <string.h>

#define BUDGET 100000

static crStatus common_e(const crImpact* impact, double* e, crError* error) {
    *e = impact->block_count > 0 ? impact->blocks[0].e : 0.0;
    for (int i = 0; i < impact->block_count; i++) {
        if (impact->blocks[i].e == *e && *e <= 1.0) continue;
        return cr_error_set(
            error, CR_ERR_RANGE, "e",
            "e: \"reflect\" needs the same e <= 1 everywhere; blocks %d and %d have %g and %g",
            impact->source[0], impact->source[i], *e, impact->blocks[i].e);
    }
    return CR_OK;
}

typedef struct crReflections {
    double* u;       // now (rows)
    double* lambda;  // of one reflection (contacts)
    double* sum;     // of all (contacts)
    bool* closing;   // (contacts)
} crReflections;

static crStatus reflections(const crImpact* impact, crReflections* r, crRuleReport* report, crError* error) {
    crRecurrence recurrence;
    crStatus status = cr__recurrence_begin(impact, &recurrence);
    int budget = impact->params.budget > 0 ? impact->params.budget : BUDGET;
    double least = impact->params.tolerance * impact->speed;
    for (int step = 1; status == CR_OK; step++) {
        int fastest;
        double speed = cr__impact_approach(impact, r->u, &fastest);
        if (speed <= least) return CR_OK;
        bool cycle = step > 1 && cr__recurrence_seen(&recurrence, r->u, impact->rows, step, speed);
        if (cycle || step > budget) {
            report->flags |= cycle ? CR_RULE_CYCLE : CR_RULE_TRUNCATED;
            report->outcome = cycle ? CR_OUTCOME_STALLED : CR_OUTCOME_LIMIT;
            return CR_OK;
        }
        for (int i = 0; i < impact->contacts; i++) {
            r->closing[i] = -r->u[impact->normal[i]] > least;
        }
        status = cr__impact_plastic(impact, r->u, r->closing, r->lambda, report, error);
        if (status != CR_OK || report->outcome != CR_OUTCOME_SOLVED) return status;
        for (int i = 0; i < impact->contacts; i++) {
            r->sum[i] += 2.0 * r->lambda[i];
            cr__impact_push(impact, impact->normal[i], 2.0 * r->lambda[i], r->u);
        }
        report->steps = step;
    }
    return status;
}

static crStatus resolve_reflect(const void* params, const crProblem* problem, crArena* arena, double* p,
                                crRuleReport* report, crError* error) {
    crImpact impact;
    double e;
    crStatus status = cr__impact_begin(params, problem, false, arena, &impact, error);
    if (status == CR_OK) status = common_e(&impact, &e, error);
    if (status != CR_OK) return status;
    size_t bytes = (size_t)(impact.rows + 1) * sizeof(double);
    crReflections r = {cr_arena_alloc(arena, bytes), cr_arena_alloc(arena, bytes),
                       cr_arena_alloc(arena, bytes), cr_arena_alloc(arena, bytes)};
    double* own = cr_arena_alloc(arena, bytes);
    if (r.u == NULL || r.lambda == NULL || r.sum == NULL || r.closing == NULL || own == NULL) {
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    }
    memcpy(r.u, impact.u, (size_t)impact.rows * sizeof *r.u);
    memset(r.sum, 0, bytes);
    memset(r.lambda, 0, bytes);
    memset(own, 0, bytes);
    report->unique = CR_UNIQUE_YES;
    if (e > 0.0) status = reflections(&impact, &r, report, error);
    if (status == CR_OK && e < 1.0) {
        status = cr__impact_plastic(&impact, impact.u, NULL, r.lambda, report, error);
        report->steps++;
    }
    for (int i = 0; i < impact.contacts; i++) {
        own[impact.normal[i]] = e < 1.0 ? (1.0 - e) * r.lambda[i] + e * r.sum[i] : r.sum[i];
    }
    if (status == CR_OK) cr__impact_finish(&impact, own, p, report);
    return status;
}

const cr__RuleKind cr__rule_reflect = {
    .order = 7,
    .resolve = resolve_reflect,
    .info = {.name = "reflect",
             .title = "generalized reflections of all approaching contacts together",
             .reads = "e, the same everywhere",
             .guarantee =
                 "in the permissible region; e = 1 conserves energy; symmetric inputs stay symmetric",
             .source = "Smith, Kaufman, Vouga, Tamstorf and Grinspun 2012",
             .may_create_energy = false},
};
