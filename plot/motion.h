// motion.h - energy and positions of bodies over time, gathered while a world runs, and their picture.
#ifndef CAROM_PLOT_MOTION_H
#define CAROM_PLOT_MOTION_H

#include "carom/carom.h"

#define CR_MOTION_BODIES 12  // shown; more would be a carpet

// Rows of time, kinetic and potential energy, and x, y, z of the centre of mass of each body shown.
typedef struct crMotionLog {
    const crModel* model;
    int body_count;
    int bodies[CR_MOTION_BODIES];
    size_t count, capacity;  // rows
    double* rows;            // (count*(3 + 3*body_count))
} crMotionLog;

void cr_motion_create(crMotionLog* log, const crModel* model);
void cr_motion_destroy(crMotionLog* log);  // accepts a zeroed log
crStatus cr_motion_add(crMotionLog* log, double time, crEnergy energy, crWorld* world);

// Energy over time, and below it every coordinate that changes; .svg, .png or .pdf.
crStatus cr_motion_plot(const crMotionLog* log, const char* path, const char* title, crError* error);

#endif
