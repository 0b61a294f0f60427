// pull.h - lengths that sites give, and springs along them: tendons, and actuators that do not act along joints.
//
// A line is one of the model's lengths: tendons first, then actuators. l and its row g = dl/dv come from the poses and axes
// of cr_model_kinematics.
#ifndef CAROM_MODEL_PULL_H
#define CAROM_MODEL_PULL_H

#include "model/actuate.h"

static inline int cr__line_count(const crModel* model) { return model->tendon_count + model->nu; }
static inline int cr__actuator_line(const crModel* model, int actuator) {
    return model->tendon_count + actuator;
}
// Whether a line gives a force that is not along joints: a tendon with a spring or damper, or an actuator along sites.
bool cr__line_pulls(const crModel* model, int line);
bool cr__model_pulls(const crModel* model);  // whether any does

double cr__line_length(const crModel* model, const crDynamics* d, int line);
// dl/dt, driven bodies included.
double cr__line_rate(const crModel* model, const crDynamics* d, int line, const double* v);
// Force of a line that pulls, as a step has it.
crActuation cr__line_actuation(const crModel* model, const crState* state, int line, double l, double rate);
// k += f g
void cr__line_add(const crModel* model, const crDynamics* d, int line, double f, double* k);
// Entry of g.
double cr__line_entry(const crModel* model, const crDynamics* d, int line, int dof);

// k += forces of the lines from `first` on that pull, at the present state.
void cr__lines_add(const crModel* model, const crState* state, const crDynamics* d, int first, double* k);
double cr__tendon_energy(const crModel* model, const crDynamics* d);

// force += forces of all lines that pull, held over a step of h (pull_step.c). d has the kinematics of the state; M is
// factored again, for h. Fails: CR_ERR_MEMORY, CR_ERR_DEFINITE.
crStatus cr__lines_hold(const crModel* model, const crState* state, double h, crDynamics* d, crArena* arena,
                        double* force);

// Entries of g, one call each; a velocity may come more than once.
typedef void (*crEntryFn)(void* ctx, int dof, double value);
// Returns what driven bodies add to dl/dt.
double cr__line_walk(const crModel* model, const crDynamics* d, int line, crEntryFn entry, void* ctx);

#endif
