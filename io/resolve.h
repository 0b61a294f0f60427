// resolve.h - an impact at many contacts as JSON: the input of `carom resolve`.
//
// Fields and their meaning are listed in docs/resolve.md. v says how many generalized velocities there are;
// every row of M, contacts and joints is as long. Unknown fields, wrong types and sizes, values out of range
// and an M that is not positive definite are refused by name, line and column.
#ifndef CAROM_IO_RESOLVE_H
#define CAROM_IO_RESOLVE_H

#include "carom/carom.h"
#include "io/cap.h"
#include "io/json.h"

#define CR_RESOLVE_MAX_RULES 16
#define CR_RESOLVE_MAX_NV    1000     // generalized velocities
#define CR_RESOLVE_MAX_ROWS  3000     // of contacts and joints together
#define CR_RESOLVE_MAX_STEPS 1000000  // budget

typedef struct crResolve {
    const char* name;  // NULL where none was given; lives as long as the object read
    crCap cap;
    crArena arena;      // holds every array below, and the answers
    crProblem problem;  // contacts in their order, then joints; u_free = J v + w_hat
    int contact_count;  // blocks that are contacts
    crRuleParams params;
    crLawParams law_params;
    int rule_count;                           // rules asked for, in order
    const char* rules[CR_RESOLVE_MAX_RULES];  // names in the catalogue
} crResolve;

// What one rule says. Arrays live in the arena of the crResolve.
typedef struct crResolved {
    const double* p;         // impulses (rows)
    const double* v;         // velocities after (nv)
    const double* outcomes;  // velocities of all outcomes, or NULL (report.outcome_count*nv)
    crRuleReport report;
} crResolved;

// params and problem point into the struct itself: do not copy it. On failure nothing needs to be freed.
crStatus cr_resolve_read(const crJson* object, crResolve* resolve, crError* error);
void cr_resolve_free(crResolve* resolve);

// Apply one of resolve->rules. object is what resolve was read from; it gives errors their line and column.
crStatus cr_resolve_run(const crJson* object, crResolve* resolve, int index, crResolved* out, crError* error);

#endif
