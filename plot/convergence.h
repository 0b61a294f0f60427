// convergence.h - errors over the length of a step, both axes logarithmic.
#ifndef CAROM_PLOT_CONVERGENCE_H
#define CAROM_PLOT_CONVERGENCE_H

#include "carom/base.h"

#define CR_CONVERGENCE_MOST 32

typedef struct crConvergence {
    const char* title;
    int count;
    double dt[CR_CONVERGENCE_MOST];        // s (count)
    double velocity[CR_CONVERGENCE_MOST];  // errors (count)
    double position[CR_CONVERGENCE_MOST];
} crConvergence;

// .svg, .png or .pdf. Errors of 0 are left out.
crStatus cr_convergence_plot(const crConvergence* convergence, const char* path, crError* error);

#endif
