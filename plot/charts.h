// charts.h - the charts of one run or of several laid over each other.
#ifndef CAROM_PLOT_CHARTS_H
#define CAROM_PLOT_CHARTS_H

#include "plot/chart.h"
#include "plot/motion.h"

typedef struct crPlotRun {
    const char* label;  // tells runs apart in a legend
    const crMotionLog* log;
} crPlotRun;

typedef enum crCharted {
    CR_CHART_ENERGY,
    CR_CHART_POSITIONS,    // of centres of mass; coordinates as recorded where the scene is not known
    CR_CHART_VELOCITIES,   // likewise
    CR_CHART_FORCES,       // on each body, mean over a record: m dv/dt less gravity; needs the scene
    CR_CHART_CERTIFICATE,  // residual, overlap, contacts
    CR_CHART_EVENTS,       // approach speed and impulse of each
    CR_CHART_SENSORS       // controls in one chart, then each sensor in one
} crCharted;

#define CR_CHARTS_MOST 12

typedef struct crCharts {
    crArena arena;  // holds what the charts point to
    int count;
    crChart charts[CR_CHARTS_MOST];
} crCharts;

// Adds charts of one kind for the bodies, indices into the first run's (count 0: the first that move).
// Bodies of the other runs are found by name. Fails: memory; missing-field where a run has not what is asked.
crStatus cr_charts_add(crCharts* charts, crCharted kind, const crPlotRun* runs, int run_count,
                       const int* bodies, int body_count, crError* error);
// All of them, one under the other: .svg, .png or .pdf.
crStatus cr_charts_save(const crCharts* charts, const char* path, const char* title, crError* error);
void cr_charts_destroy(crCharts* charts);  // accepts a zeroed struct

#endif
