// tossing.h - what the parts of carom fit motion share.
#ifndef CAROM_TOSSING_H
#define CAROM_TOSSING_H

#include "fit/motion_fit.h"
#include "fitting.h"
#include "scene_input.h"

#define TOSSING_LAWS 48

typedef struct Tossing {
    crRanks* ranks;
    const char* path;  // of the measurements
    SceneInput scene;
    crImpactOptions columns;
    const char* body;  // NULL: the only one
    double length;     // 0: by the body's size
    int substeps;
    int param_count;
    crMotionParam params[CR_MOTION_PARAMS];
    // what was asked for, and the combinations of it
    unsigned methods;  // bits of crMethod; 0: the scene's
    int rule_count, law_name_count;
    const char* rules[TOSSING_LAWS];
    crFitLaw law_names[TOSSING_LAWS];
    int law_count;
    crMotionLaw laws[TOSSING_LAWS];
    bool all;  // laws that do not apply are listed, not refused
    crMotionOptions options;
    bool json;
    const char* out;
    const char* fitted_scene;
    const char* plot;
    const char* report;
    crTable table;
    crTosses tosses;
    int fit_count;
    crMotionModel models[TOSSING_LAWS];
    crMotionFit fits[TOSSING_LAWS];
    int order[TOSSING_LAWS];  // of those that apply, best first
    int ranked;
} Tossing;

// What one fitted parameter's data cannot tell, or "" where they tell it.
void tossing_doubt(const Tossing* f, const crMotionFit* fit, int index, char* text, size_t size);
// What the measurements themselves give reason to doubt, or "".
void tossing_warning(const Tossing* f, char* text, size_t size);
// What a certificate says, for people and as a member "certificate".
void tossing_certificate(FILE* file, const char* law, const crMotionRun* worst);
void tossing_json_certificate(FILE* file, const crMotionRun* worst);

void tossing_print(const Tossing* f);
void tossing_json(const Tossing* f);
crStatus tossing_plot(const Tossing* f, const char* path, crError* error);
crStatus tossing_report(const Tossing* f, const char* path, crError* error);

#endif
