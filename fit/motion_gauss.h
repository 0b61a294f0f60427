// motion_gauss.h - parameters of a scene from tosses by derivatives of the simulated motion.
#ifndef CAROM_FIT_MOTION_GAUSS_H
#define CAROM_FIT_MOTION_GAUSS_H

#include "fit/motion.h"
#include "fit/search.h"

typedef struct crMotionGauss {
    const crMotionModel* model;
    int count;
    const int* in;  // tosses (count)
    double wide;    // the misfit's scale times this; 1 is the one that counts
    int budget;     // passes over the tosses; 0: 30
    double share;   // of each toss, from its beginning; 0: all of it
    double small;   // step in the cube at which it ends; 0: 1e-6
    double*
        own;  // NULL, or room for the gradient and the information of each toss at the result, by place (2*count*(dim+dim^2))
    double x[CR_SEARCH_DIM];  // places of the parameters: start and result
    // results
    double misfit;  // mean
    double se
        [CR_SEARCH_DIM];  // standard errors of the values from the Fisher information; NaN: the data say nothing
    double place[CR_SEARCH_DIM];  // the same of the places
    int passes;
    int blind;  // samples without a derivative at the result: those after a step whose verdict is none or that is not solved
    bool converged;
} crMotionGauss;

// Whether it can: one free body is measured, and the parameters are mu, e and et of all materials.
bool cr_motion_gauss_can(const crMotionModel* model);
// From x to a least misfit nearby. Fails: what a scene is refused for, memory.
crStatus cr_motion_gauss(crMotionGauss* gauss, crError* error);
// The same in two parts: by a wide scale, and from there by the one that counts (where most samples are lost then, by one between
// first). budget, small and wide are set.
crStatus cr_motion_gauss_wide(crMotionGauss* gauss, crError* error);
crStatus cr_motion_gauss_narrow(crMotionGauss* gauss, crError* error);

#endif
