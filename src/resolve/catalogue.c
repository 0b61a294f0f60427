// catalogue.c - every law, rule and solver by name and by its place in lists.
//
// Rows are defined by the files law_*.c, rule_*.c and solver_*.c (kinds.h). What a law's row says it can predict follows
// Chatterjee and Ruina 1998, section 4, as corrected by computing it: the two-stage laws rebound at grazing too.
// Fails: an unknown name is refused with the names that exist.
#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "resolve/kinds.h"

#define ROW(name) &cr__law_##name,
static const cr__LawKind* const laws[] = {CR__LAWS(ROW)};
#undef ROW
#define ROW(name) &cr__rule_##name,
static const cr__RuleKind* const rules[] = {CR__RULES(ROW)};
#undef ROW
#define ROW(name) &cr__solver_##name,
static const cr__SolverKind* const solvers[] = {CR__SOLVERS(ROW)};
#undef ROW

enum {
    LAWS = sizeof laws / sizeof laws[0],
    RULES = sizeof rules / sizeof rules[0],
    SOLVERS = sizeof solvers / sizeof solvers[0]
};

// The index with place `place`, where order_of gives each its order (0: last); -1 where there is none.
static int index_at(int place, int count, int (*order_of)(int index)) {
    for (int i = 0; i < count; i++) {
        int before = 0, own = order_of(i);
        for (int k = 0; k < count; k++) {
            int other = order_of(k);
            bool sooner = other != own && other != 0 && (own == 0 || other < own);
            before += sooner || (other == own && k < i);
        }
        if (before == place) return i;
    }
    return -1;
}

static int law_order(int index) { return laws[index]->order; }
static int rule_order(int index) { return rules[index]->order; }
static int solver_order(int index) { return solvers[index]->order; }

// "a, b, c", cut off where the room ends
static const char* join_names(char* room, size_t size, const char* (*name_at)(int index)) {
    size_t used = 0;
    const char* name;
    room[0] = '\0';
    for (int i = 0; (name = name_at(i)) != NULL && used < size; i++) {
        int made = snprintf(room + used, size - used, "%s%s", i > 0 ? ", " : "", name);
        used += made > 0 ? (size_t)made : 0;
    }
    return room;
}

static crStatus refuse_name(const char* kind, const char* name, const char* (*name_at)(int index),
                            crError* error) {
    char known[200];
    return cr_error_set(error, CR_ERR_NAME, kind, "%s: \"%.40s\" is not known; must be one of %s", kind, name,
                        join_names(known, sizeof known, name_at));
}

int cr_law_count(void) { return LAWS; }

const crLawInfo* cr_law_info(int index) {
    int at = index_at(index, LAWS, law_order);
    return at >= 0 ? &laws[at]->info : NULL;
}

static const char* law_name(int index) {
    const crLawInfo* info = cr_law_info(index);
    return info != NULL ? info->name : NULL;
}

crStatus cr_law_find(const char* name, const crLawParams* params, crLaw* law, crError* error) {
    if (name == NULL) return cr__missing(error, "name");
    if (law == NULL) return cr__missing(error, "law");
    for (int i = 0; i < LAWS; i++) {
        if (strcmp(laws[i]->info.name, name) != 0) continue;
        *law = cr__law(laws[i], params);
        return CR_OK;
    }
    return refuse_name("law", name, law_name, error);
}

const cr__LawKind* cr__law_kind(const crLaw* law) {
    for (int i = 0; i < LAWS; i++) {
        if (laws[i]->apply == law->apply) return laws[i];
    }
    return NULL;
}

int cr_rule_count(void) { return RULES; }

const crRuleInfo* cr_rule_info(int index) {
    int at = index_at(index, RULES, rule_order);
    return at >= 0 ? &rules[at]->info : NULL;
}

static const char* rule_name(int index) {
    const crRuleInfo* info = cr_rule_info(index);
    return info != NULL ? info->name : NULL;
}

crStatus cr_rule_find(const char* name, const crRuleParams* params, crRule* rule, crError* error) {
    if (name == NULL) return cr__missing(error, "name");
    if (rule == NULL) return cr__missing(error, "rule");
    for (int i = 0; i < RULES; i++) {
        if (strcmp(rules[i]->info.name, name) != 0) continue;
        *rule = cr__rule(rules[i], params);
        return CR_OK;
    }
    return refuse_name("rule", name, rule_name, error);
}

bool cr__rule_is_ours(const crRule* rule) {
    for (int i = 0; i < RULES; i++) {
        if (rules[i]->resolve == rule->resolve) return true;
    }
    return false;
}

int cr_solver_count(void) { return SOLVERS; }

const char* cr_solver_name(int index) {
    int at = index_at(index, SOLVERS, solver_order);
    return at >= 0 ? solvers[at]->name : NULL;
}

crStatus cr_solver_find(const char* name, const crSolverParams* params, crSolver* solver, crError* error) {
    if (name == NULL) return cr__missing(error, "name");
    if (solver == NULL) return cr__missing(error, "solver");
    for (int i = 0; i < SOLVERS; i++) {
        if (strcmp(solvers[i]->name, name) != 0) continue;
        *solver = cr__solver(solvers[i], params);
        return CR_OK;
    }
    return refuse_name("solver", name, cr_solver_name, error);
}
