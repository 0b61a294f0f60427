// plot_options.h - what carom plot is asked to do.
#ifndef CAROM_PLOT_OPTIONS_H
#define CAROM_PLOT_OPTIONS_H

#include "plot/view.h"
#include "report.h"

#define PLOT_TIMES 256

typedef enum PlotKind {
    PLOT_ENERGY,
    PLOT_POSITIONS,
    PLOT_VELOCITIES,
    PLOT_FORCES,
    PLOT_CERTIFICATE,
    PLOT_EVENTS,
    PLOT_SENSORS,
    PLOT_STROBE,
    PLOT_PLAN,
    PLOT_ELEVATION,
    PLOT_IMPULSES,
    PLOT_MOTION,
    PLOT_KINDS
} PlotKind;

typedef struct PlotOptions {
    int file_count;
    const char* files[CR_PAGE_RUNS];
    int what;  // -1: energy and positions
    const char* out;
    const char* scene;
    char* bodies;
    char* labels;
    double from, to, at;
    bool has_at;
    double speed;        // 0: not said
    const char* camera;  // option that asked for perspective; NULL: none did
    crCameraChoice view;
    bool dark;
    int time_count;
    double times[PLOT_TIMES];
} PlotOptions;

// Exit status, after help or a refusal that was printed; -1 where there is something to draw.
int plot_read_options(PlotOptions* options, int count, char** arguments);
bool plot_is_page(const char* path);  // .html

#endif
