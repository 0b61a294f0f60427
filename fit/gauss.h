// gauss.h - a law's parameters by its derivatives: Gauss-Newton steps with a trust region, and Fisher's standard errors.
#ifndef CAROM_FIT_GAUSS_H
#define CAROM_FIT_GAUSS_H

#include "fit/parameters.h"
#include "fit/search.h"

typedef struct crGauss {
    const crImpacts* impacts;
    crFitLaw law;
    int dim;
    crFitParam param[CR_SEARCH_DIM];  // that are fitted (dim)
    crFitTheta theta;                 // start and result; the others are held
    const unsigned short* weight;     // how often each row counts, NULL: once (rows)
    int budget;                       // passes over the data; 0: 60
    // results
    double loss;               // mean error, m/s, as in fit.h
    double se[CR_SEARCH_DIM];  // standard errors from the Fisher information; NaN where the data say nothing
    int passes;                // over the data, with or without derivatives
    int blind;                 // rows whose law has no derivative at the result: they count in the loss alone
    bool converged;
} crGauss;

// From theta to a least value nearby.
void cr_gauss_refine(crGauss* gauss);
// The standard errors at theta alone.
void cr_gauss_errors(crGauss* gauss);
// The best of refinements from `starts` points of the cube, and from theta.
void cr_gauss_fit(crGauss* gauss, int starts);

#endif
