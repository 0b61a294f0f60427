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
    const char* report;
    const char* body;  // of the picture, NULL: the one that spreads most
    int length;        // pairs of an order, 0: by the samples
    Progress progress;
    crSpread spread;
    crSpreadSummary summary;
} Spreading;

void spreading_print(const Spreading* s);
void spreading_json(const Spreading* s);
crStatus spreading_csv(const Spreading* s, const char* path, crError* error);

// The first pairs of a sample's order: "cue-ball1, ball1-ball2 + ball1-ball3"; names by `put`.
void spreading_order(const Spreading* s, int sample, FILE* file, void (*put)(FILE* file, const char* text));
const char* spreading_name(const Spreading* s, int body);
// How many columns vary more than this one, those before it first where they vary alike.
int spreading_above(const crSpreadSummary* f, int column);
#define SPREADING_ROWS   12  // columns that are shown
#define SPREADING_ORDERS 10
static inline double spreading_percent(double part, double whole) {
    return whole > 0.0 ? 100.0 * part / whole : 0.0;
}
// What a reader must not miss, the first for index 0; false where there is none of this index.
bool spreading_doubt(const Spreading* s, int index, char* text, size_t size);

// Outcomes of one body by cluster, what the order explains, outcomes by order, and their distribution; in the
// box x0, y0, x1, y1. ctx is a Spreading.
#define SPREADING_PICTURES 4
extern const char* const spreading_picture_names[SPREADING_PICTURES];
crStatus spreading_picture(const void* ctx, int index, crSheet* sheet, const double box[4]);
crStatus spreading_plot(const Spreading* s, const char* path, crError* error);
crStatus spreading_report(const Spreading* s, const char* path, crError* error);

#endif
