// parameters.h - the laws that can be fitted, and their parameters as points of a unit cube.
#ifndef CAROM_FIT_PARAMETERS_H
#define CAROM_FIT_PARAMETERS_H

#include "fit/impacts.h"

typedef enum crFitParam {
    CR_FIT_MU,
    CR_FIT_E,
    CR_FIT_ET,
    CR_FIT_ETA2,
    CR_FIT_MU2,
    CR_FIT_MU3,
    CR_FIT_PSI1,
    CR_FIT_PSI2,
    CR_FIT_RHO,
    CR_FIT_PARAMS
} crFitParam;

const char* cr_fit_param_name(crFitParam param);  // NULL out of range
// The allowed range; what lies outside is not looked at.
void cr_fit_param_range(crFitParam param, double* lo, double* hi);
double cr_fit_param_default(crFitParam param);
// Between a value and its place on [0, 1]: mu and eta2 as x/(1-x), the others in proportion.
double cr_fit_param_value(crFitParam param, double x);
double cr_fit_param_place(crFitParam param, double value);

// A law with its choices made: the same law of the catalogue may be here several times.
typedef struct crFitLaw {
    const char* name;  // for people and files: routh-energetic
    const char* law;   // in the catalogue; NULL: there is none
    bool endings;      // reads `ending`
    crEnding ending;
    unsigned params;   // bit for each that it reads, in the plane
    unsigned spatial;  // and out of it
    int sample;        // rows that searches look at before they look at all: fewer for laws that take long
} crFitLaw;

int cr_fit_law_count(void);
crFitLaw cr_fit_law(int index);                    // .law is NULL out of range
crFitLaw cr_fit_law_find(const char* name);        // and where there is none
const char* cr_fit_law_omitted(const char* name);  // why a law of the catalogue is not here, else NULL

typedef struct crFitTheta {
    double value[CR_FIT_PARAMS];
} crFitTheta;
crFitTheta cr_fit_theta(void);  // defaults

// The law of the catalogue with these parameters, which it points to.
crStatus cr_fit_law_at(crFitLaw law, const crFitTheta* theta, crLawParams* params, crLaw* applied,
                       crError* error);
// The law's answer to one measured collision. *answered is false where it has none there: P is then 0. Fails
// where the law does not apply at all: not-diagonal, not-planar.
crStatus cr_fit_answer(crFitLaw law, const crFitTheta* theta, const crContact* contact, crHit* hit,
                       bool* answered, crError* error);

#endif
