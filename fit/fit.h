// fit.h - a law fitted to measured collisions: parameters, how sure they are, and how well it predicts.
//
// The loss is the mean mass-weighted velocity error (impacts.h), in m/s: linear in large errors, so that a
// few bad measurements do not decide. docs/fit.md says how each number is made.
#ifndef CAROM_FIT_FIT_H
#define CAROM_FIT_FIT_H

#include "fit/parameters.h"
#include "io/json.h"

typedef struct crFitOptions {
    unsigned params;   // bits of crFitParam to fit, of those that a law reads
    crFitTheta fixed;  // the others
    int folds;         // of the cross-validation, >= 2
    int bootstrap;     // resamples; 0 for no intervals
    bool gauss;        // search by derivatives (gauss.h); false: a simplex
    uint64_t seed;
    int threads;
    struct crRanks* ranks;                                           // as in crJobs
    bool (*watch)(void* ctx, const char* law, int done, int count);  // false stops; NULL: nobody watches
    void* ctx;
} crFitOptions;

crFitOptions cr_fit_options(void);  // everything, 10 folds, 200 resamples, seed 1, one thread

// What the data say about one parameter: how far it may go from its best value, the others following, before
// the loss grows by more than twice the standard error of that growth.
typedef enum crDetermined {
    CR_DETERMINED,
    CR_BOUNDED_BELOW,  // anything above lo does as well
    CR_BOUNDED_ABOVE,  // anything below hi does
    CR_UNDETERMINED,   // anything does
} crDetermined;
const char* cr_determined_name(crDetermined determined);  // yes, bounded-below, bounded-above, no

typedef struct crFitted {
    crFitParam param;
    double lo, hi;  // bootstrap, 95 %
    double se;      // standard error from the Fisher information; NaN where the data say nothing
    crDetermined determined;
    double flat_lo, flat_hi;  // where the loss is as good
    int partner;              // index of the one it trades against, -1 where none
    double correlation;       // with it, over the resamples
} crFitted;

typedef struct crFit {
    crFitLaw law;
    crStatus status;  // not CR_OK: the law does not apply, error says why
    crError error;
    int count;  // of parameters
    crFitted fitted[CR_FIT_PARAMS];
    crFitTheta theta;
    double loss;        // of the fit itself, m/s
    double cv, cv_se;   // cross-validated, and its standard error
    double* errors;     // cross-validated, of each row (rows)
    crVec3* P;          // the law's answers with theta (rows)
    int unanswered;     // rows without an answer
    int impermissible;  // rows whose answer is not permissible
    int creates_energy;
    int evaluations;  // of the loss
} crFit;

// Fails: wrong-size where there are too few rows for the parameters or folds asked for; limit (stopped by the
// watcher), memory. A law that does not apply is CR_OK with fit->status.
crStatus cr_fit_run(const crImpacts* impacts, crFitLaw law, const crFitOptions* options, crFit* fit,
                    crError* error);
void cr_fit_destroy(crFit* fit);  // accepts a zeroed struct

// Of two fits of the same rows: mean difference of their cross-validated errors and its standard error.
void cr_fit_compare(const crFit* a, const crFit* b, int rows, double* difference, double* se);
void cr_fit_compare_errors(const double* a, const double* b, int count, double* difference, double* se);
// Indices (count) of the fits whose law applies, best first; returns how many.
int cr_fit_rank(const crFit* fits, int count, int* order);
// The same of anything that has a score, NULL: it is left out.
int cr_fit_rank_by(const double* (*score)(const void* fits, int i), const void* fits, int count, int* order);

// Ends a file that was written, NULL where it could not be opened. Fails: file; what is not whole is removed.
crStatus cr_fit_close(FILE* file, const char* path, crError* error);
void cr_fit_discard(const char* path);  // a file that is not whole; a device stays

// Fitted laws as a file, and back. rows and skipped are for the reader.
crStatus cr_fit_write(const char* path, const crFit* const* fits, int count, const crImpacts* impacts,
                      crError* error);

// One law of such a file; name NULL is the first, which is the best.
typedef struct crFitChoice {
    crFitLaw law;
    crFitTheta theta;
    double cv, cv_se;  // NaN where the file has none
} crFitChoice;
crStatus cr_fit_read(const char* path, const char* name, crFitChoice* choice, crError* error);
// The same of the file's tree.
crStatus cr_fit_choose(const crJson* root, const char* name, crFitChoice* choice, crError* error);

#endif
