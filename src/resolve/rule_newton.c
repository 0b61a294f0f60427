// rule_newton.c - Newton's restitution at every contact at once.
//
//     0 <= u_n+ + e u_n-  _|_  p_n >= 0,   friction against u_t+ + et u_t-
//
// Source: Glocker 2001, eq. 3.2; the tangential part as in Moreau 1988. Holds: frictionless, with every
// u_n- <= 0 and e <= 1 the energy change is sum (1-e) u_n- p_n / 2 <= 0. Lies: a contact that was opening is
// allowed to close at e times that speed, and can then create energy; five equal balls in a row all move.
// Fails: what the solver cannot solve is its outcome.
#include "resolve/impact.h"

#include "resolve/kinds.h"
#include <string.h>

static crStatus resolve_newton(const void* params, const crProblem* problem, crArena* arena, double* p,
                               crRuleReport* report, crError* error) {
    crImpact impact;
    crStatus status = cr__impact_begin(params, problem, false, arena, &impact, error);
    if (status != CR_OK) return status;
    size_t bytes = (size_t)(impact.rows + 1) * sizeof(double);
    double* u = cr_arena_alloc(arena, bytes);
    double* bias = cr_arena_alloc(arena, bytes);
    double* own = cr_arena_alloc(arena, bytes);
    if (u == NULL || bias == NULL || own == NULL)
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    memset(own, 0, bytes);
    bool friction = false;
    for (int i = 0; i < impact.block_count; i++) {
        const crBlock* block = &impact.blocks[i];
        friction = friction || block->kind == CR_BLOCK_CONE;
        for (int k = 0; k < block->count; k++) {
            bool tangential = block->kind == CR_BLOCK_CONE && k > 0;
            int row = block->row + k;
            bias[row] = (tangential ? block->et : block->e) * impact.first[row];
            u[row] = impact.u[row] + bias[row];
        }
    }
    report->steps = 1;
    report->unique = friction ? CR_UNIQUE_UNKNOWN : CR_UNIQUE_YES;
    crProblem posed = cr__impact_problem(&impact, u);
    status = cr__impact_solve(&impact, &posed, own, report, error);
    if (status != CR_OK) return status;
    cr__impact_finish(&impact, own, p, report);
    return cr__impact_judge(&impact, problem, bias, own, report, error);
}

const cr__RuleKind cr__rule_newton = {
    .order = 1,
    .resolve = resolve_newton,
    .info = {.name = "newton",
             .title = "Newton's restitution at every contact at once",
             .reads = "e, et, mu; directions",
             .guarantee = "frictionless, every contact approaching and e <= 1: no energy is created",
             .source = "Glocker 2001, eq. 3.2",
             .may_create_energy = true},
};
