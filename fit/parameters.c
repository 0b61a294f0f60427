// parameters.c - which parameters each law reads, where they may lie, and a law's answer for given ones.
//
// pfeiffer-glocker reads nu and et only as their product, so nu stays 1. brach and spherical name impulses
// directly; a brach that leaves the permissible region of a collision has no answer there. Fails: see
// parameters.h.
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

#define BIT(param) (1u << CR_FIT_##param)
#define MU_E       (BIT(MU) | BIT(E))
#define MU_E_ET    (MU_E | BIT(ET))

#define FAST 3000
#define SLOW 300

static const crFitLaw laws[] = {
    {"newton", "newton", CR_ENDING_POISSON, BIT(E), BIT(E), FAST},
    {"bilinear", "bilinear", CR_ENDING_POISSON, MU_E_ET, MU_E_ET, FAST},
    {"chatterjee-ruina", "chatterjee-ruina", CR_ENDING_POISSON, MU_E_ET, MU_E_ET, FAST},
    {"routh", "routh", CR_ENDING_POISSON, MU_E, MU_E, FAST},
    {"routh-newton", "routh", CR_ENDING_NEWTON, MU_E, MU_E, FAST},
    {"routh-energetic", "routh", CR_ENDING_ENERGETIC, MU_E, MU_E, FAST},
    {"whittaker", "whittaker", CR_ENDING_POISSON, MU_E, MU_E, FAST},
    {"smith", "smith", CR_ENDING_POISSON, MU_E, MU_E, FAST},
    {"anitescu-potra", "anitescu-potra", CR_ENDING_POISSON, MU_E, MU_E, FAST},
    {"pfeiffer-glocker", "pfeiffer-glocker", CR_ENDING_POISSON, MU_E_ET, MU_E_ET, FAST},
    {"brach", "brach", CR_ENDING_POISSON, BIT(E) | BIT(MU2), BIT(E) | BIT(MU2) | BIT(MU3), FAST},
    {"compliant", "compliant", CR_ENDING_POISSON, MU_E | BIT(ETA2), MU_E | BIT(ETA2), SLOW},
    {"spherical", "spherical", CR_ENDING_POISSON, BIT(MU) | BIT(PSI1) | BIT(RHO),
     BIT(MU) | BIT(PSI1) | BIT(PSI2) | BIT(RHO), 800},
};
enum { LAWS = sizeof laws / sizeof laws[0] };

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

int cr_fit_law_count(void) { return LAWS; }

const crFitLaw* cr_fit_law(int index) { return index >= 0 && index < LAWS ? &laws[index] : NULL; }

const crFitLaw* cr_fit_law_find(const char* name) {
    for (int i = 0; i < LAWS; i++) {
        if (strcmp(laws[i].name, name) == 0) return &laws[i];
    }
    return NULL;
}

const char* cr_fit_law_omitted(const char* name) {
    if (strcmp(name, "composite") == 0) return "its parts are laws of their own, fitted by themselves";
    if (strcmp(name, "projected") == 0) return "its wish is an impulse in N s, not a constant of materials";
    return NULL;
}

crFitTheta cr_fit_theta(void) {
    crFitTheta theta;
    for (int i = 0; i < CR_FIT_PARAMS; i++) {
        theta.value[i] = ranges[i].start;
    }
    return theta;
}

crStatus cr_fit_answer(const crFitLaw* law, const crFitTheta* theta, const crContact* contact, crHit* hit,
                       bool* answered, crError* error) {
    const double* x = theta->value;
    crLawParams params = cr_law_params();
    params.ending = law->ending;
    params.eta2 = x[CR_FIT_ETA2];
    params.mu2 = x[CR_FIT_MU2];
    params.mu3 = x[CR_FIT_MU3];
    params.psi1 = x[CR_FIT_PSI1];
    params.psi2 = x[CR_FIT_PSI2];
    params.rho = x[CR_FIT_RHO];
    crLaw applied;
    crStatus status = cr_law_find(law->law, &params, &applied, error);
    if (status != CR_OK) return status;
    crContact c = *contact;
    // brach's ratios are bounded by the region itself
    c.mu = (law->params & BIT(MU)) != 0 ? x[CR_FIT_MU] : (double)INFINITY;
    c.e = x[CR_FIT_E];
    c.et = x[CR_FIT_ET];
    status = cr_law_apply_contact(&applied, &c, hit, error);
    *answered = status == CR_OK && hit->regime != CR_REGIME_NO_SOLUTION;
    if (!*answered) *hit = (crHit){.V_plus = contact->V, .regime = CR_REGIME_NO_SOLUTION};
    return status == CR_ERR_DIAGONAL || status == CR_ERR_PLANAR ? status : CR_OK;
}
