// motion.h - measured motions against a scene: every toss simulated from its first sample, poses compared.
//
// The loss of a toss, over its samples k (the first one included) with position p_k and rotation R_k,
//
//     loss = mean |p_k - p'_k|^2 / length + mean angle(R_k R'_k^T)^2,
//     misfit = mean r_k^2 / (1 + r_k^2),    r_k^2 = (|p_k - p'_k|^2 / length^2 + angle^2) / scale^2,
//
// measured p, R against simulated p', R'. With length = .0524 m, half the side of the cube of ContactNets,
// the loss is that of the published comparisons of simulators. A toss that ends on another face than measured
// decides such a mean of squares and says little about parameters; the misfit, from 0 to 1, asks how long a
// simulation stays near the measurement, and it is what is fitted.
#ifndef CAROM_FIT_MOTION_H
#define CAROM_FIT_MOTION_H

#include "fit/parameters.h"
#include "fit/tosses.h"
#include "io/json.h"

#define CR_MOTION_PARAMS 8
#define CR_MOTION_NAME   32
#define CR_MOTION_PATH   96

// A parameter: a number of the scene by its path, or a constant of every material (path "").
typedef struct crMotionParam {
    char name[CR_MOTION_NAME];
    char path[CR_MOTION_PATH];
    double lo, hi;  // what lies outside is not looked at
    bool ratio;     // searched along x/(1+x) instead of in proportion
} crMotionParam;

// "mu", "e:0:0.5" (own range), "height=static[0].offset:-0.005:0.005", or with one value for all items of a
// list "size=bodies[0].shapes[0].half[*]:0.04:0.06". Known without a path: mu, e, et, mu_roll, mu_spin of every
// material and pair of the scene, and threshold. Fails: unknown-name, syntax, out-of-range.
crStatus cr_motion_param(const char* text, crMotionParam* param, crError* error);
double cr_motion_param_value(const crMotionParam* param, double place);  // place from 0 to 1

// How impacts and time are computed: values set in the scene before it is read.
#define CR_MOTION_SETS 4
typedef struct crMotionLaw {
    char name[48];  // for people: "cone sequence routh"
    int set_count;
    char path[CR_MOTION_SETS][32];
    char value[CR_MOTION_SETS][32];
} crMotionLaw;

// Every method (bits of crMethod, 0: the scene's) with every rule and every law, laws played one contact
// after another (rule sequence); without any the scene as it is. moreau and lcp have an impact law of their
// own. Returns how many there are; the first `room` are filled.
int cr_motion_laws(unsigned methods, const char* const* rules, int rule_count, const crFitLaw* laws,
                   int law_count, crMotionLaw* out, int room);

// A scene made ready for many simulations; read by any number of threads.
typedef struct crMotionModel {
    const crTosses* tosses;
    char* scene;      // as it was given
    char* text;       // with the law's values
    char* body_name;  // as it was given, or NULL
    int body;         // of the model, the one that was measured
    double length;    // m
    double scale;     // at which a sample counts half as lost, rad and shares of length; 0.2
    int substeps;     // between two samples; 0: as many as the scene's dt asks for
    int param_count;
    crMotionParam params[CR_MOTION_PARAMS];
} crMotionModel;

// What it is made of.
typedef struct crMotionDef {
    const crJson* scene;
    const crTosses* tosses;
    const char* body;  // NULL: the only free (planar measurements: free or planar) one of the scene, else
                       // the only one on a hinge, slider or ball
    double length;  // 0: the body's farthest point from its centre of mass over sqrt(3), half a cube's side
    int substeps;   // as in the model
    const crMotionParam* params;
    int param_count;
} crMotionDef;

// Leaves out the tosses whose energy grows beyond what the start and the drop can give: counted in tosses->skipped. For
// --skip, before models are made. Fails: what a scene is refused for; the body as cr_motion_model_create; out-of-range
// where no toss is left.
crStatus cr_motion_skip(const crJson* scene, const char* body, crTosses* tosses, crError* error);

// law NULL: the scene as it is. Fails: what a scene is refused for; unknown-name (the body), wrong-type (its
// joint), missing-field (a material), out-of-range (a measured energy that grows beyond what the start and the
// drop can give), memory.
crStatus cr_motion_model_create(const crMotionDef* def, const crMotionLaw* law, crMotionModel* motion,
                                crError* error);
void cr_motion_model_destroy(crMotionModel* motion);  // accepts a zeroed struct

// One toss, simulated.
typedef struct crMotionRun {
    double position, rotation;  // the two parts of the loss
    double misfit;
    double coarse[2];       // the misfit with a scale 25 and 5 times as wide: what a search looks at first
    double penetration;     // deepest overlap after any step, m
    double energy_created;  // most by one impact, J
    double energy_gain;     // most that kinetic and potential energy rose above the start, J
    int steps;
    int unsolved;       // steps whose contact solve did not reach the tolerance
    int impermissible;  // impacts outside the permissible region
    bool broken;        // numbers became infinite; the body stands still from there on
} crMotionRun;

// values: of the parameters (param_count). poses: what was simulated at the samples of the toss, or NULL.
// Fails: what a law refuses a contact for; memory.
crStatus cr_motion_simulate(const crMotionModel* motion, const double* values, int toss, crMotionRun* run,
                            crPose* poses, crError* error);

// The worst over runs, their counts added up: the certificate of all of them.
crMotionRun cr_motion_worst(const crMotionRun* runs, int count);

double cr_rotation_between(crQuat a, crQuat b);  // angle, 0 to pi

#endif
