// gradient_rule.h - stages of a rule whose derivatives are known.
#ifndef CAROM_RESOLVE_GRADIENT_RULE_H
#define CAROM_RESOLVE_GRADIENT_RULE_H

#include "carom/modes.h"

// One blow of a sequence: the contact, and the derivatives of its law.
typedef struct cr__Blow {
    int block;
    double P[3];
    double by[3][12];  // dP by W (xx, xy, xz, yy, yz, zz), V (x, y, z), mu, e, et
} cr__Blow;

typedef struct cr__RuleStages {
    crStatus (*apply)(const crRuleModes* modes, const crRuleChange* change, double* dp);
    crModes modes[2];
    crProblem posed[2];
    const double* eps;  // coupled: (contacts*contacts)
    int contacts;
    int* normal;     // row of each contact's normal (contacts)
    double* p1;      // poisson: compression (rows)
    double* before;  // poisson: compression and what is given back (rows)
    double* whole;   // poisson: the answer (rows)
    int* row;  // poisson: row of the problem that each row of the expansion repeats, -1: pinned (rows of it)
    int* pinned;  // poisson: block that each pinned row belongs to (rows of the expansion)
    int blow_count;
    cr__Blow* blow;  // sequence
    double* work;    // (8 * rows of the largest stage)
} cr__RuleStages;

// Each returns false where it has no formula for the rule at this answer; modes->stages is filled otherwise.
bool cr__rule_bias_stages(crRuleModes* modes, double near);  // newton, coupled
bool cr__rule_poisson_stages(crRuleModes* modes, double near);
bool cr__rule_sequence_stages(crRuleModes* modes, double near);

// The parameters of one of our rules, defaults where it has none.
static inline crRuleParams cr__rule_params_of(const crRule* rule) {
    const crRuleParams* own = rule->params;
    return own != NULL ? *own : cr_rule_params();
}

// g = du_free + dW p of a change (rows); either may be missing.
static inline void cr__rule_given(const crRuleModes* m, const crRuleChange* change, const double* p,
                                  double* g) {
    size_t n = (size_t)m->problem->rows;
    for (size_t i = 0; i < n; i++) {
        g[i] = change->u_free != NULL ? change->u_free[i] : 0.0;
        for (size_t j = 0; change->W != NULL && j < n; j++) {
            g[i] += change->W[i * n + j] * p[j];
        }
    }
}

// A switch of a stage.
static inline void cr__rule_note(crRuleModes* m, crSwitch which, double distance) {
    if (!(distance < m->distance)) return;
    m->distance = distance;
    m->nearest = which;
}

#endif
