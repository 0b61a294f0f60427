// predicting.h - what the kinds of carom predict share.
#ifndef CAROM_PREDICTING_H
#define CAROM_PREDICTING_H

#include "fit/motion_predict.h"
#include "fitting.h"
#include "scene_input.h"

typedef struct Predicting {
    const char* params;  // what was fitted
    const char* path;    // of the measurements
    const char* law;     // NULL: the best
    crImpactOptions columns;
    bool json;
    // of motions
    SceneInput scene;  // without a path: the one in params
    int substeps;      // 0: as fitted
    int threads;
    const char* out;
    const char* report;
    const char* motion_option;  // one of these that was given
    crJsonDoc doc;              // of params
} Predicting;

// The exit status.
int predict_impacts(const Predicting* asked);
int predict_motion(Predicting* asked);

// A law's prediction of a file of motions, for the page.
typedef struct PredictedMotion {
    const Predicting* asked;
    crMotionChoice choice;
    crTosses tosses;
    crMotionModel model;
    crMotionPrediction prediction;
} PredictedMotion;

double predicted_loss(const PredictedMotion* p, int toss);
crStatus predicted_report(const PredictedMotion* p, const char* path, crError* error);

#endif
