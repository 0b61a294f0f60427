// kinds.h - the rows of the catalogue: what is known of each law, rule and solver, in one place.
//
// law_NAME.c, rule_NAME.c and solver_NAME.c define cr__law_NAME, cr__rule_NAME and cr__solver_NAME; names are those
// of the files. The build lists the files (kind_lists.h, made by cmake/kind_lists.cmake), catalogue.c finds rows by
// name, and lists elsewhere are taken from there.
#ifndef CAROM_RESOLVE_KINDS_H
#define CAROM_RESOLVE_KINDS_H

#include "carom/resolve.h"
#include "kind_lists.h"

// `order` is the place in lists, from 1; 0 is after the others, by name.
typedef struct cr__LawKind {
    crLawInfo info;
    int order;
    crLawFn apply;
} cr__LawKind;

typedef struct cr__RuleKind {
    crRuleInfo info;
    int order;
    crRuleFn resolve;
} cr__RuleKind;

typedef struct cr__SolverKind {
    const char* name;
    int order;
    crSolverFn solve;
} cr__SolverKind;

#define CR__DECLARE(name) extern const cr__LawKind cr__law_##name;
CR__LAWS(CR__DECLARE)
#undef CR__DECLARE
#define CR__DECLARE(name) extern const cr__RuleKind cr__rule_##name;
CR__RULES(CR__DECLARE)
#undef CR__DECLARE
#define CR__DECLARE(name) extern const cr__SolverKind cr__solver_##name;
CR__SOLVERS(CR__DECLARE)
#undef CR__DECLARE

// A law, rule or solver made of its row; params may be NULL for defaults, otherwise it must live as long.
static inline crLaw cr__law(const cr__LawKind* kind, const crLawParams* params) {
    return (crLaw){kind->info.name, kind->apply, params};
}
static inline crRule cr__rule(const cr__RuleKind* kind, const crRuleParams* params) {
    return (crRule){kind->info.name, kind->resolve, params};
}
static inline crSolver cr__solver(const cr__SolverKind* kind, const crSolverParams* params) {
    return (crSolver){kind->name, kind->solve, params};
}

// The row of a law, NULL for a user's own; whether a rule is one of the catalogue.
const cr__LawKind* cr__law_kind(const crLaw* law);
bool cr__rule_is_ours(const crRule* rule);

#endif
