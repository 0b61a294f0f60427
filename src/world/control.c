// control.c - a world put at a state, and its controls by name.
//
// Everything is checked before anything is written. Fails: the world is then unchanged.
#include <string.h>

#include "base/argument.h"
#include "carom/dynamics.h"
#include "carom/robot.h"
#include "model/actuate.h"
#include "world/world.h"

static void copy_numbers(double* to, const double* from, int count) {
    if (count > 0 && to != from) memmove(to, from, (size_t)count * sizeof(double));
}
static void clear(double* to, int count) {
    if (count > 0) memset(to, 0, (size_t)count * sizeof(double));
}

// what is left of earlier steps
static void forget(crWorld* world) {
    crStep* step = &world->step;
    clear(step->ties.force, step->ties.count);
    memset(step->rest.sleep, 0, (size_t)step->model->nb * sizeof(crSleep));
    step->warm.count = 0;
    step->events.count = 0;
    step->contacts.count = 0;
    step->certificate = (crCertificate){.outcome = CR_OUTCOME_SOLVED};
    world->last_h = 0.0;
    cr_model_kinematics(step->model, &step->state, &step->dynamics);
}

crStatus cr_world_set_state(crWorld* world, const crState* given, crError* error) {
    if (world == NULL) return cr__missing(error, "world");
    if (given == NULL) return cr__missing(error, "state");
    const crModel* model = world->step.model;
    crState* own = &world->step.state;
    // velocities of the beginning of a step are kept for the step that comes next, which writes them first
    double* zero = world->step.start.v;
    clear(zero, model->nv);
    crState wanted = {.time = given->time,
                      .q = given->q != NULL ? given->q : model->q0,
                      .v = given->v != NULL ? given->v : zero,
                      .force = given->force != NULL ? given->force : zero,
                      .motor_speed = given->motor_speed != NULL ? given->motor_speed : zero,
                      .ctrl = given->ctrl != NULL ? given->ctrl : world->start_ctrl,
                      .act = given->act != NULL ? given->act : world->start_act};
    crStatus status = cr__state_check_values(model, &wanted, error);
    world->last_h = 0.0;
    if (status != CR_OK) return status;
    own->time = wanted.time;
    copy_numbers(own->q, wanted.q, model->nq);
    copy_numbers(own->ctrl, wanted.ctrl, model->nu);
    copy_numbers(own->act, wanted.act, model->na);
    copy_numbers(own->v, wanted.v, model->nv);
    copy_numbers(own->force, wanted.force, model->nv);
    copy_numbers(own->motor_speed, wanted.motor_speed, model->nv);
    for (int i = 0; i < model->nv && given->motor_speed == NULL; i++) {
        own->motor_speed[i] = cr_model_dof(model, i)->motor_speed;
    }
    cr_state_check(model, own, NULL);  // quaternions become unit
    forget(world);
    return CR_OK;
}

crStatus cr_world_reset(crWorld* world, crError* error) {
    if (world == NULL) return cr__missing(error, "world");
    return cr_world_set_state(world, &(crState){0}, error);
}

crStatus cr_world_set_ctrl(crWorld* world, const char* actuator, double ctrl, crError* error) {
    if (world == NULL) return cr__missing(error, "world");
    if (actuator == NULL) return cr__missing(error, "actuator");
    const crModel* model = world->step.model;
    int i = cr_model_find_actuator(model, actuator);
    if (i < 0)
        return cr_error_set(error, CR_ERR_NAME, "actuator", "actuator: none is called \"%.60s\"", actuator);
    if (!isfinite(ctrl))
        return cr_error_set(error, CR_ERR_FINITE, "ctrl", "ctrl of %.60s: must be finite, got %g", actuator,
                            ctrl);
    crStatus status = cr__control_check(&model->actuators[i], i, ctrl, error);
    if (status == CR_OK) world->step.state.ctrl[i] = ctrl;
    return status;
}
