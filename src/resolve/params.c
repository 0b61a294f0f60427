// params.c - defaults of the parameters of laws, rules and solvers.
#include "carom/resolve.h"

crLawParams cr_law_params(void) {
    return (crLawParams){.ending = CR_ENDING_POISSON, .nu = 1.0, .eta2 = 1.21};
}

crRuleParams cr_rule_params(void) {
    return (crRuleParams){.tolerance = 1e-12, .direction = {1.0, 0.0, 0.0}, .extrapolate = true};
}

crSolverParams cr_solver_params(void) { return (crSolverParams){.tol = 1e-10}; }
