// robot.h - controls, sensors and states of a world, by the names of robotics. Experimental: not part of carom.h.
#ifndef CAROM_ROBOT_H
#define CAROM_ROBOT_H

#include "carom/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Puts the world at a state: time and q, v, force, motor_speed, ctrl; arrays that are NULL are as at the start of the
// model (q0, 0, 0, the aims of its motors, the controls of its actuators). Contact forces, events and sleep are forgotten.
// Fails: as cr_state_check; the world is then unchanged.
CR_API crStatus cr_world_set_state(crWorld* world, const crState* state, crError* error);
// The reference position at rest, time 0: cr_world_set_state with nothing given.
CR_API crStatus cr_world_reset(crWorld* world, crError* error);
// The control of an actuator by its name. Fails: CR_ERR_NAME, CR_ERR_FINITE, CR_ERR_RANGE; nothing is changed then.
CR_API crStatus cr_world_set_ctrl(crWorld* world, const char* actuator, double ctrl, crError* error);
// Numbers of all sensors (nsensor) at the present state. Acceleration, force, torque and touch are means over the last
// step, so that they balance its momentum; before the first step, and after set_state or load, they are those of the
// present state without contacts. Forces of a user's crForceFn are not known: they count as inertia.
// Fails: CR_ERR_MEMORY.
CR_API crStatus cr_world_sense(crWorld* world, double* out, crError* error);
// Contacts of the last step's solves, up to capacity; returns how many there are. Impacts are in cr_world_events.
CR_API int cr_world_contacts(const crWorld* world, crContactForce* out, int capacity);

#ifdef __cplusplus
}
#endif

#endif
