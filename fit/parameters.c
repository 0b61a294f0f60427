// parameters.c - which parameters each law reads, where they may lie, and a law's answer for given ones.
//
// nu stays 1: the law that reads it reads only its product with et. Some laws name impulses directly; one that
// leaves the permissible region of a collision has no answer there. Fails: see parameters.h.
#include "fit/parameters.h"

#include <string.h>

typedef struct Range {
    const char* name;
    double lo, hi, start;
    bool ratio;  // place x/(1-x) instead of proportional
} Range;

static const Range ranges[CR_FIT_PARAMS] = {
    [CR_FIT_MU] = {"mu", 0.0, 4.0, 0.3, true},        [CR_FIT_E] = {"e", 0.0, 1.0, 0.5, false},
    [CR_FIT_ET] = {"et", -1.0, 1.0, 0.0, false},      [CR_FIT_ETA2] = {"eta2", 0.05, 19.0, 1.21, true},
    [CR_FIT_MU2] = {"mu2", -1.0, 1.0, 0.0, false},    [CR_FIT_MU3] = {"mu3", -1.0, 1.0, 0.0, false},
    [CR_FIT_PSI1] = {"psi1", 0.0, CR_PI, 0.0, false}, [CR_FIT_PSI2] = {"psi2", 0.0, 6.28, 0.0, false},
    [CR_FIT_RHO] = {"rho", 0.0, 1.0, 0.0, false},
};

// what a law reads as a parameter here, in the plane too unless it is spatial
static const struct {
    crLawInput input;
    crFitParam param;
    bool spatial;
} known[] = {
    {CR_BY_MU, CR_FIT_MU, false},     {CR_BY_E, CR_FIT_E, false},      {CR_BY_ET, CR_FIT_ET, false},
    {CR_BY_ETA2, CR_FIT_ETA2, false}, {CR_BY_MU2, CR_FIT_MU2, false},  {CR_BY_MU3, CR_FIT_MU3, true},
    {CR_BY_PSI1, CR_FIT_PSI1, false}, {CR_BY_PSI2, CR_FIT_PSI2, true}, {CR_BY_RHO, CR_FIT_RHO, false},
};

#define SAMPLE 3000  // rows of a law of cost 1

static const char* why_omitted(const crLawInfo* info) {
    if ((info->reads & CR_READS(CR_BY_WEIGHT)) != 0)
        return "its parts are laws of their own, fitted by themselves";
    if ((info->reads & CR_READS(CR_BY_WISH_X)) != 0)
        return "its wish is an impulse in N s, not a constant of materials";
    return NULL;
}

static crFitLaw make_law(const crLawInfo* info, crEnding ending) {
    crFitLaw law = {.law = info->name, .endings = info->endings != NULL, .ending = ending};
    law.name = law.endings ? info->endings[ending] : info->name;
    law.sample = (int)(SAMPLE / fmax(1.0, info->cost));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if ((info->reads & CR_READS(known[i].input)) == 0) continue;
        law.spatial |= 1u << known[i].param;
        if (!known[i].spatial) law.params |= 1u << known[i].param;
    }
    return law;
}

const char* cr_fit_param_name(crFitParam param) {
    return (unsigned)param < CR_FIT_PARAMS ? ranges[param].name : NULL;
}

void cr_fit_param_range(crFitParam param, double* lo, double* hi) {
    *lo = ranges[param].lo;
    *hi = ranges[param].hi;
}

double cr_fit_param_default(crFitParam param) { return ranges[param].start; }

double cr_fit_param_place(crFitParam param, double value) {
    const Range* r = &ranges[param];
    if (!r->ratio) return (value - r->lo) / (r->hi - r->lo);
    double lo = r->lo / (1.0 + r->lo), hi = r->hi / (1.0 + r->hi);
    return (value / (1.0 + value) - lo) / (hi - lo);
}

double cr_fit_param_value(crFitParam param, double x) {
    const Range* r = &ranges[param];
    if (!r->ratio) return r->lo + (r->hi - r->lo) * x;
    double lo = r->lo / (1.0 + r->lo), hi = r->hi / (1.0 + r->hi);
    double y = lo + (hi - lo) * x;
    return y / (1.0 - y);
}

crFitLaw cr_fit_law(int index) {
    for (int i = 0; index >= 0 && i < cr_law_count(); i++) {
        const crLawInfo* info = cr_law_info(i);
        if (why_omitted(info) != NULL) continue;
        int here = info->endings != NULL ? CR_ENDINGS : 1;
        if (index < here) return make_law(info, (crEnding)index);
        index -= here;
    }
    return (crFitLaw){0};
}

int cr_fit_law_count(void) {
    int count = 0;
    while (cr_fit_law(count).law != NULL)
        count++;
    return count;
}

crFitLaw cr_fit_law_find(const char* name) {
    for (int i = 0;; i++) {
        crFitLaw law = cr_fit_law(i);
        if (law.law == NULL || strcmp(law.name, name) == 0) return law;
    }
}

const char* cr_fit_law_omitted(const char* name) {
    for (int i = 0; i < cr_law_count(); i++) {
        if (strcmp(cr_law_info(i)->name, name) == 0) return why_omitted(cr_law_info(i));
    }
    return NULL;
}

crFitTheta cr_fit_theta(void) {
    crFitTheta theta;
    for (int i = 0; i < CR_FIT_PARAMS; i++) {
        theta.value[i] = ranges[i].start;
    }
    return theta;
}

crStatus cr_fit_law_at(crFitLaw law, const crFitTheta* theta, crLawParams* params, crLaw* applied,
                       crError* error) {
    const double* x = theta->value;
    *params = cr_law_params();
    params->ending = law.ending;
    params->eta2 = x[CR_FIT_ETA2];
    params->mu2 = x[CR_FIT_MU2];
    params->mu3 = x[CR_FIT_MU3];
    params->psi1 = x[CR_FIT_PSI1];
    params->psi2 = x[CR_FIT_PSI2];
    params->rho = x[CR_FIT_RHO];
    return cr_law_find(law.law, params, applied, error);
}

crStatus cr_fit_answer(crFitLaw law, const crFitTheta* theta, const crContact* contact, crHit* hit,
                       bool* answered, crError* error) {
    const double* x = theta->value;
    crLawParams params;
    crLaw applied;
    crStatus status = cr_fit_law_at(law, theta, &params, &applied, error);
    if (status != CR_OK) return status;
    crContact c = *contact;
    // brach's ratios are bounded by the region itself
    c.mu = (law.params & 1u << CR_FIT_MU) != 0 ? x[CR_FIT_MU] : (double)INFINITY;
    c.e = x[CR_FIT_E];
    c.et = x[CR_FIT_ET];
    status = cr_law_apply_contact(&applied, &c, hit, error);
    *answered = status == CR_OK && hit->regime != CR_REGIME_NO_SOLUTION;
    if (!*answered) *hit = (crHit){.V_plus = contact->V, .regime = CR_REGIME_NO_SOLUTION};
    return status == CR_ERR_DIAGONAL || status == CR_ERR_PLANAR ? status : CR_OK;
}
