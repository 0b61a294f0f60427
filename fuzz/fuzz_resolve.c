// fuzz_resolve.c - any bytes as an impact at many contacts: refused by name, or answered with finite numbers.
//
// Budgets are cut so that each input takes little time; contacts beyond a few are only read.
#include <math.h>
#include <stdlib.h>

#include "io/resolve.h"

#define MOST_CONTACTS 6
#define BUDGET        200

static void demand(bool condition) {
    if (!condition) abort();
}

static void check_answer(const crResolve* resolve, const crResolved* got) {
    for (int i = 0; i < resolve->problem.nv; i++) {
        demand(isfinite(got->v[i]));
    }
    for (int i = 0; i < resolve->problem.rows; i++) {
        demand(isfinite(got->p[i]));
    }
    demand(isfinite(got->report.energy_change) && cr_outcome_name(got->report.outcome) != NULL);
    demand(!(got->report.permissible && got->report.creates_energy));
    demand(got->report.outcome_count >= 0 && got->report.steps >= 0);
}

static void run(const crJson* object, crResolve* resolve) {
    if (resolve->params.budget == 0 || resolve->params.budget > BUDGET) resolve->params.budget = BUDGET;
    for (int i = 0; i < resolve->rule_count; i++) {
        crResolved got;
        crError error = {0};
        if (cr_resolve_run(object, resolve, i, &got, &error) == CR_OK) {
            check_answer(resolve, &got);
        } else {
            demand(error.line >= 1 && error.message[0] != '\0');
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    crJsonDoc doc;
    crError error = {0};
    if (cr_json_parse((const char*)data, size, 1, &doc, &error) != CR_OK) return 0;
    crResolve resolve;
    if (cr_resolve_read(doc.root, &resolve, &error) != CR_OK) {
        demand(error.status != CR_OK && error.message[0] != '\0' && error.line >= 1 && error.column >= 1);
    } else {
        demand(resolve.rule_count >= 1 && resolve.rule_count <= CR_RESOLVE_MAX_RULES);
        demand(cr_problem_check(&resolve.problem, NULL) == CR_OK);
        if (resolve.problem.block_count <= MOST_CONTACTS) run(doc.root, &resolve);
        cr_resolve_free(&resolve);
    }
    cr_json_free(&doc);
    return 0;
}
