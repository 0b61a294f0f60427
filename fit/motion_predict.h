// motion_predict.h - what was fitted to motions, applied to other tosses: poses, errors, certificates.
//
//     crMotionChoice choice;
//     cr_motion_choose(doc.root, NULL, &choice, &error);  // a file of cr_motion_write: its best law
//     cr_motion_choice_model(&choice, NULL, &tosses, &model, &error);
//     cr_motion_predict(&model, NULL, &options, &prediction, &error);
#ifndef CAROM_FIT_MOTION_PREDICT_H
#define CAROM_FIT_MOTION_PREDICT_H

#include "fit/motion_fit.h"

// One law of what cr_motion_write or carom fit motion --json wrote; points into that tree.
typedef struct crMotionChoice {
    const char* law;
    const crJson* set;                        // paths and their values
    const crJson* scene;                      // it was fitted in; NULL where the file has none
    const char* body;                         // NULL: the only one
    double length, scale;                     // of loss and misfit
    int substeps;                             // as in crMotionModel
    double misfit, misfit_se, loss, loss_se;  // cross-validated where it was fitted; NaN where not known
} crMotionChoice;

// law NULL: the first, which is the best. Fails: missing-field, wrong-type, out-of-range, unknown-name (the
// law, or a file of another kind), by line and column.
crStatus cr_motion_choose(const crJson* root, const char* law, crMotionChoice* choice, crError* error);

// Ready for these tosses, in the scene it was fitted in or in another. Fails: as cr_motion_model_create does;
// missing-field where neither is there; what setting the values in the scene fails with.
crStatus cr_motion_choice_model(const crMotionChoice* choice, const crJson* scene, const crTosses* tosses,
                                crMotionModel* model, crError* error);

typedef struct crMotionPrediction {
    crMotionRun* runs;         // (tosses)
    crPose* poses;             // at every sample (sample_count)
    double misfit, misfit_se;  // means over the tosses, and their standard errors
    double loss, loss_se;
    double position, rotation;  // the two parts of the loss, means
    crMotionRun worst;          // the certificate of all of them
} crMotionPrediction;

// Simulates every toss with these values of the parameters (param_count). Of the options threads, watch and
// ctx are used. Fails: what a law refuses a contact for; limit (stopped by the watcher), memory.
crStatus cr_motion_predict(const crMotionModel* model, const double* values, const crMotionOptions* options,
                           crMotionPrediction* prediction, crError* error);
void cr_motion_prediction_destroy(crMotionPrediction* prediction);  // accepts a zeroed struct

#endif
