// compare.h - several runs of one scene over each other: energy, positions, and how fast bodies are at the
// end.
#ifndef CAROM_PLOT_COMPARE_H
#define CAROM_PLOT_COMPARE_H

#include "carom/carom.h"

#define CR_TRACK_BODIES 6     // shown; more would be a carpet
#define CR_TRACK_ROWS   1024  // kept; a full track drops every second row

// Rows of time, total energy, and x, y, z of the centre of mass of each body shown.
typedef struct crTrack {
    int body_count;
    int bodies[CR_TRACK_BODIES];
    int seen, stride;  // states offered, and how many make a row
    int count;
    double* rows;                          // (CR_TRACK_ROWS*(2 + 3*body_count))
    double last[2 + 3 * CR_TRACK_BODIES];  // the last state offered
    double speed[CR_TRACK_BODIES];         // at that state, of the centre of mass, m/s
} crTrack;

// Bodies are added before the first row; beyond CR_TRACK_BODIES they are left out.
void cr_track_body(crTrack* track, int body);
crStatus cr_track_add(crTrack* track, crWorld* world);  // CR_ERR_MEMORY
void cr_track_free(crTrack* track);                     // accepts a zeroed track

typedef struct crTrackLabel {
    const char* label;
    const crTrack* track;
} crTrackLabel;

// All tracks have the same bodies. .svg, .png or .pdf.
crStatus cr_compare_plot(const crTrackLabel* tracks, int count, const crModel* model, const char* path,
                         const char* title, crError* error);

#endif
