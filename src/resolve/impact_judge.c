// impact_judge.c - whether impulses that solve an impact without its joints solve it with them.
//
// A rule solves for the contacts alone, with joints eliminated (impact.c). Where joints nearly block a contact, the
// elimination loses digits, and impulses that solve what is left need not solve the impact. The audit therefore judges
// the problem as it was given, with the rule's bias. Fails: memory.
#include <string.h>

#include "resolve/impact.h"

#define WHOLE_TOL 1e-8  // residual that counts as solved

static crStatus audit_whole(const crImpact* impact, const crProblem* problem, const double* bias,
                            const double* own, crAudit* audit) {
    size_t rows = (size_t)problem->rows + 1, count = (size_t)problem->block_count;
    crBlock* blocks = cr_arena_alloc(impact->arena, (count + 1) * sizeof *blocks);
    double* b = cr_arena_alloc(impact->arena, rows * sizeof *b);
    double* p = cr_arena_alloc(impact->arena, rows * sizeof *p);
    if (blocks == NULL || b == NULL || p == NULL) return CR_ERR_MEMORY;
    memcpy(blocks, problem->blocks, count * sizeof *blocks);
    // friction limits as the rule took them, at the rows of the problem
    for (int i = 0; i < impact->block_count; i++) {
        int source = impact->source[i], row = blocks[source].row;
        blocks[source] = impact->blocks[i];
        blocks[source].row = row;
    }
    for (int i = 0; i < problem->rows; i++) {
        b[i] = impact->response != NULL ? impact->response[i] : 0.0;
    }
    for (int i = 0; i < impact->rows && bias != NULL; i++) {
        b[impact->row[i]] += bias[i];
    }
    cr__impact_spread(impact, own, p);
    crProblem whole = *problem;
    whole.blocks = blocks;
    whole.vertices = impact->vertices;
    whole.b = b;
    return cr_problem_audit(&whole, impact->arena, p, audit);
}

crStatus cr__impact_judge(const crImpact* impact, const crProblem* problem, const double* bias,
                          const double* own, crRuleReport* report, crError* error) {
    // without joints the solver's problem is the whole one
    if (report->outcome != CR_OUTCOME_SOLVED || impact->joint_rows == 0) return CR_OK;
    crAudit audit;
    size_t mark = cr_arena_mark(impact->arena);
    crStatus status = audit_whole(impact, problem, bias, own, &audit);
    cr_arena_release(impact->arena, mark);
    if (status != CR_OK) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    crTruth solved = cr_audit_solved(&audit, WHOLE_TOL);
    if (solved == CR_TRUTH_UNSURE) report->outcome = CR_OUTCOME_UNSURE;
    if (solved == CR_TRUTH_NO) report->outcome = CR_OUTCOME_LIMIT;
    return CR_OK;
}
