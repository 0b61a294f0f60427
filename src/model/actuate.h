// actuate.h - forces of actuators along the velocities of a tree, for the stages of a step.
//
// A term is one joint of one actuator, numbered actuator * CR_ACTUATOR_JOINTS + place; the terms along a
// velocity are a list that begins at crModel.velocity.actuator.
#ifndef CAROM_MODEL_ACTUATE_H
#define CAROM_MODEL_ACTUATE_H

#include "model/spatial.h"

static inline int cr__term_actuator(int term) { return term / CR_ACTUATOR_JOINTS; }
static inline int cr__term_next(const crModel* model, int term) {
    return model->actuators[cr__term_actuator(term)].next[term % CR_ACTUATOR_JOINTS];
}

// l by the coordinates q, and dl/dt by the velocities v. Velocities of balls and free joints have no length.
double cr__actuator_length(const crModel* model, int actuator, const double* q);
double cr__actuator_rate(const crModel* model, int actuator, const double* v);

// The input of an actuator: its control, or its activation.
double cr__actuator_input(const crModel* model, const crState* state, int actuator);
// Force at length l and its rate, of an actuator along anything.
crActuation cr__actuation_at(const crModel* model, const crState* state, int actuator, double l, double rate);
// Activations move over a step of length h: those that are early before it, the others after it.
void cr__activations_move(const crModel* model, crState* state, double h, bool early);

// Force of all actuators along a velocity.
double cr__dof_actuation(const crModel* model, const crDynamics* d, const double* q, const double* v,
                         int dof);
// h damping + h^2 stiffness of a velocity's joint and actuators, for the diagonal of M. An actuator along several
// joints counts by the sum of its gears' sizes, which bounds its matrix from above.
double cr__dof_slope(const crModel* model, const crDynamics* d, double h, int dof);
// Rate of the spring forces along a velocity that cr__dof_slope holds: K v.
double cr__dof_spring_rate(const crModel* model, const crDynamics* d, const double* v, int dof);

// Both ends of a step.
typedef struct crMove {
    const double *q0, *v0, *q1, *v1;
} crMove;
// Work over h of the actuators whose first term is along this velocity: f at the middle of the way times the way. What
// their dampers took of it is added to *damped.
double cr__dof_actuator_work(const crModel* model, const crDynamics* d, int dof, double h, crMove move,
                             double* damped);

// CR_ERR_RANGE where a control is outside its actuator's range.
crStatus cr__control_check(const crActuator* actuator, int index, double ctrl, crError* error);

#endif
