// modes.h - derivatives of contact problems by the modes of their contacts. Experimental: not part of carom.h.
#ifndef CAROM_MODES_H
#define CAROM_MODES_H

#include "carom/resolve.h"

#ifdef __cplusplus
extern "C" {
#endif

CR_API const char* cr_mode_name(crMode mode);  // "open", ...; "unknown" for no such
// The modes of an answer p, whose audit's residual must be at most tol: CR_ERR_RANGE with the residual where it is not.
// A switch nearer than `near` (m/s) makes the verdict one-sided. All memory is the arena's; problem and p must stay.
// Round friction cones only; spin and rolling rows stick or slip by themselves.
CR_API crStatus cr_modes_find(const crProblem* problem, crArena* arena, const double* p, double tol,
                              double near, crModes* modes, crError* error);
// J v: the change of p and of u = u_free + W p (rows each).
CR_API crStatus cr_modes_apply(const crModes* modes, const crProblemChange* change, double* dp, double* du);
// v^T J: from the derivatives of a figure by p and u (rows, or NULL for zero) those by u_free (rows) and by mu, mu_spin and
// mu_roll (block_count each, or NULL). That by W is by_g p^T; that by b is by_g - by_u.
CR_API crStatus cr_modes_adjoint(const crModes* modes, const double* by_p, const double* by_u, double* by_g,
                                 double* by_mu, double* by_mu_spin, double* by_mu_roll);

// Derivatives of a rule: many contacts at one instant.

// Changes of the data of an impact; an array that is NULL does not change.
typedef struct crRuleChange {
    const double* u_free;       // velocities before (rows)
    const double* W;            // by rows (rows*rows)
    const double *mu, *e, *et;  // of each block (block_count)
    const double *mu_spin, *mu_roll;
} crRuleChange;

typedef struct crRuleModes {
    crSmoothness
        verdict;  // of the stages of the rule; where differenced, the worst of the changes applied so far
    crSwitch nearest;  // switch that is nearest
    double distance;   // change of a contact's velocity that reaches it, to first order, m/s; NaN: not known
    double jump;       // of p, N s; 0 where there is none
    bool differenced;  // the rule, or the law it uses, has no formula here: its answers are differenced
    // of the functions below
    const crRule* rule;
    const crProblem* problem;
    const double* p;
    crArena* arena;
    double* W;  // dense
    struct cr__RuleStages* stages;
} crRuleModes;

// The stages of a rule and their modes at its answer p. newton, coupled and poisson: implicit function theorem on each
// stage. sequence: derivatives of the law, blow after blow; the order of blows is a switch. Other rules, polygons,
// prescribed impulses, rules and laws of the user without a formula are differenced. A switch nearer than `near` (m/s)
// makes the verdict one-sided and the derivative differenced. All memory is the arena's; rule, problem and p must stay.
CR_API crStatus cr_rule_modes_find(const crRule* rule, const crProblem* problem, crArena* arena,
                                   const double* p, double near, crRuleModes* modes, crError* error);
// J v: the change of p (rows) for a change times a falling and a rising number; either may be NULL.
CR_API crStatus cr_rule_modes_apply(crRuleModes* modes, const crRuleChange* change, double* minus,
                                    double* plus, crError* error);

#ifdef __cplusplus
}
#endif

#endif
