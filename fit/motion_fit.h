// motion_fit.h - parameters of a scene fitted to measured tosses: values, how sure they are, how well they
// predict.
//
// What is fitted is the mean over the tosses of motion.h's misfit; docs/fit.md says how each number is made.
#ifndef CAROM_FIT_MOTION_FIT_H
#define CAROM_FIT_MOTION_FIT_H

#include "fit/fit.h"
#include "fit/motion.h"
#include "fit/worlds.h"

typedef struct crMotionOptions {
    int points;     // simulated in each round of a search; 0: six for each coefficient of a quadratic
    int folds;      // of the cross-validation, >= 2; 2 is half against half, both ways
    int bootstrap;  // resamples; 0 for no intervals
    uint64_t seed;
    bool gauss;  // descents by derivatives of the motion (motion_gauss.h); false: a simplex
    int threads;
    crWorldsDevice device;   // where tosses are simulated; zero: threads of this process
    struct crRanks* ranks;   // that share the tosses (ranks.h); NULL: this process
    const char* checkpoint;  // file of what was simulated, to go on from; NULL for none
    uint64_t key;            // of that file: cr_motion_key, or made of several
    int stage;  // where this fit begins in it, if several share it: multiples of CR_MOTION_STAGES
    // simulated tosses, and how many there will be as far as is known; false stops; NULL: nobody watches
    bool (*watch)(void* ctx, int done, int count);
    void* ctx;
} crMotionOptions;

#define CR_MOTION_STAGES 1000000

crMotionOptions cr_motion_options(void);  // two folds, 200 resamples, seed 1, one thread

typedef struct crMotionFitted {
    double value;
    double lo, hi;  // bootstrap over tosses, 95 %; NaN without
    double se;  // standard error from the Fisher information; NaN where it was not searched by derivatives
    crDetermined determined;
    double flat_lo, flat_hi;  // where the loss is as good
    int partner;              // index of the one it trades against, -1 where none
    double correlation;       // with it, over the resamples
} crMotionFitted;

typedef struct crMotionFit {
    crStatus status;  // not CR_OK: the law does not apply, error says why
    crError error;
    int count;  // of parameters
    crMotionFitted fitted[CR_MOTION_PARAMS];
    double misfit, loss;         // of the fit itself, means over the tosses
    double cv, cv_se;            // misfit, cross-validated
    double cv_loss, cv_loss_se;  // loss of the same predictions
    double* misfits;             // cross-validated, of each toss (tosses)
    double* losses;              // likewise (tosses)
    int* fold;                   // of each toss (tosses)
    double* fold_values;         // parameters fitted without each fold (folds*count)
    crMotionRun* runs;           // with the fitted values (tosses)
    int simulated;               // tosses, all in all
    int rounds;                  // of the search over all tosses
} crMotionFit;

// Fails: wrong-size where there are too few tosses for the parameters or folds asked for; argument where gauss cannot search
// these parameters; limit (stopped by
// the watcher), file and argument (the checkpoint), memory. A law that does not apply is CR_OK with
// fit->status.
crStatus cr_motion_fit(const crMotionModel* model, const crMotionOptions* options, crMotionFit* fit,
                       crError* error);
void cr_motion_fit_destroy(crMotionFit* fit);  // accepts a zeroed struct

// Fitted values as JSON, best first: parameters, intervals, the scene, and the paths and values to set in it
// (motion_predict.h reads it back); and the scene with the values of one fit. Fails: file, memory.
crStatus cr_motion_write(const char* path, const crMotionModel* model, const crMotionLaw* const* laws,
                         const crMotionFit* const* fits, int count, crError* error);
crStatus cr_motion_write_scene(const char* path, const crMotionModel* model, const crMotionFit* fit,
                               crError* error);

// Members of such a file by themselves, for what is printed: length, scale, substeps, body and the scene;
// and the "set" of one fit.
void cr_motion_put_settings(FILE* file, const crMotionModel* model);
void cr_motion_put_set(FILE* file, const crMotionModel* model, const crMotionLaw* law,
                       const crMotionFit* fit);

// Over everything the fit depends on.
uint64_t cr_motion_key(const crMotionModel* model, const crMotionOptions* options);

// A model of every law (count), so that one that is refused is so before hours of work, and the key of all of
// them in the options. Fails: as cr_motion_model_create; the models made before need to be destroyed.
crStatus cr_motion_models(const crMotionDef* def, const crMotionLaw* laws, int count,
                          crMotionOptions* options, crMotionModel* models, crError* error);

// Of two fits of the same tosses: mean difference of their cross-validated misfits and its standard error.
void cr_motion_compare(const crMotionFit* a, const crMotionFit* b, int tosses, double* difference,
                       double* se);
// Indices (count) of the fits whose law applies, best first; returns how many.
int cr_motion_rank(const crMotionFit* fits, int count, int* order);

#endif
