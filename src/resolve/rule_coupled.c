// rule_coupled.c - restitution between contacts: what one brings in, another gives back.
//
//     0 <= u_n,i+ + sum_j eps_ij u_n,j-  _|_  p_n,i >= 0,   friction against u_t+
//
// Source: Glocker 2001, eq. 3.9, after Fremond 1995. eps is full and in general not symmetric: it stands for
// the waves that the bodies carry. eps = 0 is Moreau's soft impact; a diagonal of e is Newton's. Lies:
// nothing ties eps to energy, so it may be created; the report says so. Fails: what the solver cannot solve
// is its outcome.
#include "resolve/impact.h"

#include "resolve/kinds.h"
#include <string.h>

static crStatus check_eps(const crImpact* impact, crError* error) {
    const double* eps = impact->params.eps;
    double sum = 0.0;
    for (int i = 0; eps != NULL && i < impact->contacts * impact->contacts; i++) {
        sum += eps[i] * 0.0;
    }
    if (sum == 0.0) return CR_OK;
    return cr_error_set(error, CR_ERR_FINITE, "eps", "eps: every entry must be finite");
}

static crStatus resolve_coupled(const void* params, const crProblem* problem, crArena* arena, double* p,
                                crRuleReport* report, crError* error) {
    crImpact impact;
    crStatus status = cr__impact_begin(params, problem, false, arena, &impact, error);
    if (status == CR_OK) status = check_eps(&impact, error);
    if (status != CR_OK) return status;
    size_t bytes = (size_t)(impact.rows + 1) * sizeof(double);
    double* u = cr_arena_alloc(arena, bytes);
    double* bias = cr_arena_alloc(arena, bytes);
    double* own = cr_arena_alloc(arena, bytes);
    if (u == NULL || bias == NULL || own == NULL)
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    memset(own, 0, bytes);
    memset(bias, 0, bytes);
    memcpy(u, impact.u, (size_t)impact.rows * sizeof *u);
    int k = impact.contacts;
    for (int i = 0; i < k && impact.params.eps != NULL; i++) {
        for (int j = 0; j < k; j++) {
            double part = impact.params.eps[i * k + j] * impact.first[impact.normal[j]];
            u[impact.normal[i]] += part;
            bias[impact.normal[i]] += part;
        }
    }
    report->steps = 1;
    report->unique = k == impact.rows ? CR_UNIQUE_YES : CR_UNIQUE_UNKNOWN;
    crProblem posed = cr__impact_problem(&impact, u);
    status = cr__impact_solve(&impact, &posed, own, report, error);
    if (status != CR_OK) return status;
    cr__impact_finish(&impact, own, p, report);
    return cr__impact_judge(&impact, problem, bias, own, report, error);
}

const cr__RuleKind cr__rule_coupled = {
    .order = 3,
    .resolve = resolve_coupled,
    .info = {.name = "coupled",
             .title = "restitution between contacts by a matrix",
             .reads = "mu; eps, directions",
             .guarantee = "none but n.p >= 0 and the cones; eps = 0 is the soft impact",
             .source = "Glocker 2001, eq. 3.9; Fremond 1995",
             .may_create_energy = true},
};
