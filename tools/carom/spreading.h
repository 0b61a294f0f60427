// spreading.h - what carom spread found, and how it is shown.
#ifndef CAROM_SPREADING_H
#define CAROM_SPREADING_H

#include "fit/spread.h"
#include "plot/sheet.h"
#include "progress.h"
#include "scene_input.h"

typedef struct Spreading {
    SceneInput input;
    crScene scene;
    crSpreadOptions options;
    const char* texts[CR_SPREAD_JITTERS];  // the jitters as they were written
    const char* out;
    const char* plot;
    const char* body;  // of the picture, NULL: the one that spreads most
    int length;        // pairs of an order, 0: by the samples
    Progress progress;
    crSpread spread;
    crSpreadSummary summary;
} Spreading;

void spreading_print(const Spreading* s);
void spreading_json(const Spreading* s);
crStatus spreading_csv(const Spreading* s, const char* path, crError* error);

// The first pairs of a sample's order: "cue-ball1, ball1-ball2 + ball1-ball3".
void spreading_order(const Spreading* s, int sample, FILE* file);
const char* spreading_name(const Spreading* s, int body);

// Outcomes of one body by cluster, and what the order explains.
#define SPREADING_PICTURES 2
crStatus spreading_picture(const Spreading* s, int index, crSheet* sheet, double x0, double y0, double x1,
                           double y1);
crStatus spreading_plot(const Spreading* s, const char* path, crError* error);

#endif
