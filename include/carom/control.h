// control.h - what a model is driven and measured by: actuators, sites, sensors.
//
// An actuator pulls along a length l: the sum of gear times coordinate over up to CR_ACTUATOR_JOINTS joints, or one that
// sites give (crTransmission). Its force is
//
//     f = (gain[0] + gain[1] l + gain[2] dl/dt) u + bias[0] + bias[1] l + bias[2] dl/dt
//
// within its force limits, and gear f acts along each velocity. u is the control, or an activation w that follows it:
//
//     integrator  dw/dt = ctrl      filter  dw/dt = (ctrl - w)/time_constant, by Euler's step      exact filter  the same,
//                                                                                               w + (ctrl - w)(1 - e^(-h/T))
//
// w holds for a step and moves at its end. ctrl and w are part of the state. Springs and dampers
// (slopes of f that pull back) are implicit in the step, as those of joints are. Whether a force is at its limit
// is decided at the beginning of a step. Forces along lengths that sites give hold for a whole step: those that backward
// Euler gives for all of them together. Limits of a joint's force (crDof) do not count them.
//
// A tendon is a length with a spring and a damper: a path straight from site to site, or a sum over joints.
//
// A site is a named frame on a body, with a volume. A sensor gives one or more numbers; sensor.c says which.
//
// Functions that return an index return a negative crStatus on failure, and the failure sticks to the model.
#ifndef CAROM_CONTROL_H
#define CAROM_CONTROL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "carom/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct crModel crModel;

#define CR_ACTUATOR_JOINTS 8

// The input of an actuator: its control, or a state that follows the control (an activation).
typedef enum crActivation {
    CR_ACTIVATION_NONE,
    CR_ACTIVATION_INTEGRATOR,
    CR_ACTIVATION_FILTER,
    CR_ACTIVATION_FILTER_EXACT,
    CR_ACTIVATION_KINDS
} crActivation;

// A control over time; a step asks for it at its middle.
typedef double (*crScheduleFn)(void* ctx, double time);

// What an actuator pulls along.
typedef enum crTransmission {
    CR_ALONG_JOINTS,
    CR_ALONG_TENDON,  // gear[0] times the length of a tendon
    // A force and moment on a site, by `wrench` in its axes; l is 0. With a reference site: in the reference's axes,
    // against the reference; l is `wrench` times the place and the rotation vector of the site seen from the reference.
    CR_ALONG_SITE,
    // gear[0] times the place of a slider on the z axis of the reference site, which a rod joins to the site: with x from
    // the reference to the site, l = x.z - sqrt((x.z)^2 + rod^2 - x.x); l = x.z where the rod is too short
    CR_ALONG_CRANK,
    CR_TRANSMISSIONS
} crTransmission;

// Start from cr_actuator_motor, cr_actuator_position or cr_actuator_velocity.
typedef struct crActuator {
    const char* name;  // unique among actuators, or NULL; copied
    int dof_count;     // velocities it acts along, 1 to CR_ACTUATOR_JOINTS, all of one tree; else 0
    int dof[CR_ACTUATOR_JOINTS];
    double gear[CR_ACTUATOR_JOINTS];
    double gain[3], bias[3];
    double ctrl;                      // at the start
    double ctrl_lower, ctrl_upper;    // a control outside is refused; -INFINITY and INFINITY: no limit
    double force_lower, force_upper;  // N or N m
    crScheduleFn schedule;            // writes the control before each step; NULL: it is the user's
    void* schedule_ctx;
    crActivation activation;
    double time_constant;          // of filters, > 0, s
    double act;                    // activation at the start
    double act_lower, act_upper;   // it is kept within; -INFINITY and INFINITY: no limit
    int act_place;                 // set by the model: among the activations, -1: it has none
    int next[CR_ACTUATOR_JOINTS];  // set by the model: next term along the same velocity, -1 after the last
    crTransmission transmission;
    int tendon;           // along a tendon
    int site, reference;  // along a site or crank; reference -1: none (site only)
    double wrench[6];     // along a site: gears of the force, then of the moment
    double rod;           // of a crank, > 0, m
    bool early;           // the activation moves before a step: what it comes to acts in it already
} crActuator;

// f = ctrl
static inline crActuator cr_actuator_motor(int dof) {
    crActuator a;
    memset(&a, 0, sizeof a);
    a.dof_count = 1;
    a.dof[0] = dof;
    a.gear[0] = a.gain[0] = 1.0;
    a.ctrl_lower = a.force_lower = a.act_lower = -(double)INFINITY;
    a.ctrl_upper = a.force_upper = a.act_upper = (double)INFINITY;
    return a;
}
// f = kp (ctrl - l) - kv dl/dt
static inline crActuator cr_actuator_position(int dof, double kp, double kv) {
    crActuator a = cr_actuator_motor(dof);
    a.gain[0] = kp;
    a.bias[1] = -kp;
    a.bias[2] = -kv;
    return a;
}
// f = kv (ctrl - dl/dt)
static inline crActuator cr_actuator_velocity(int dof, double kv) {
    crActuator a = cr_actuator_motor(dof);
    a.gain[0] = kv;
    a.bias[2] = -kv;
    return a;
}

// Force of an actuator as a step has it: force - stiffness l - damping dl/dt.
typedef struct crActuation {
    double force, stiffness, damping;
} crActuation;

#define CR_TENDON_POINTS 16

// l = sum of coef times distance from each site to the next, or sum of coef times coordinate over hinges and sliders.
// Its force -stiffness (l - rest) - damping dl/dt acts along l; rest is the end of its range that l is beyond.
typedef struct crTendon {
    const char* name;            // unique among tendons, or NULL; copied
    bool joints;                 // true: along joints; false: a path over sites
    int count;                   // of sites (2 or more) or velocities, up to CR_TENDON_POINTS
    int item[CR_TENDON_POINTS];  // sites, or velocities of hinges and sliders
    // Of a velocity; or of the way from this site to the next: 1, 1/n behind a pulley of n falls, 0 where the path ends
    // and another begins.
    double coef[CR_TENDON_POINTS];
    double stiffness, damping;      // >= 0
    double rest_lower, rest_upper;  // m
} crTendon;

// A frame on a body; volume.pose places it, its z axis is the ray of a rangefinder.
typedef struct crSite {
    const char* name;  // unique among sites, or NULL; copied
    int body;
    crShape volume;  // sphere, capsule, box, cylinder or ellipsoid
} crSite;

typedef enum crSensorKind {
    CR_SENSOR_JOINT_POSITION,     // q of a joint: 1, 3 (planar), 4 (ball), 7 (free)
    CR_SENSOR_JOINT_VELOCITY,     // v of a joint: 1, 3, 3, 6
    CR_SENSOR_JOINT_FORCE,        // sum of the actuators' forces along a joint's velocity
    CR_SENSOR_ACTUATOR_POSITION,  // l
    CR_SENSOR_ACTUATOR_VELOCITY,  // dl/dt
    CR_SENSOR_ACTUATOR_FORCE,     // f at the present state
    CR_SENSOR_TENDON_POSITION,    // l
    CR_SENSOR_TENDON_VELOCITY,    // dl/dt
    CR_SENSOR_POSITION,           // of a site, world axes, m (3)
    CR_SENSOR_ORIENTATION,        // quaternion of a site, w first (4)
    CR_SENSOR_VELOCITY,           // of a site, world axes, m/s (3)
    CR_SENSOR_ANGULAR_VELOCITY,   // likewise, rad/s (3)
    CR_SENSOR_VELOCIMETER,        // velocity in the site's axes (3)
    CR_SENSOR_GYRO,               // angular velocity in the site's axes (3)
    CR_SENSOR_ACCELEROMETER,      // acceleration less gravity in the site's axes, m/s^2 (3)
    CR_SENSOR_FORCE,   // force of its parent on a site's body through its joint, in the site's axes, N (3)
    CR_SENSOR_TORQUE,  // moment of the same about the site, N m (3)
    CR_SENSOR_TOUCH,   // sum of the normal forces of contacts of a site's body inside its volume, N
    CR_SENSOR_RANGE,   // distance along the site's z axis to a shape of another body, m; -1: none
    CR_SENSOR_ENERGY,  // kinetic and potential, J (2)
    CR_SENSOR_KINDS
} crSensorKind;

typedef struct crSensor {
    const char* name;  // unique among sensors, or NULL; copied
    crSensorKind kind;
    int object;        // body (joint_...), actuator, tendon or site; 0 for energy
    double noise;      // standard deviation that is added to each number, >= 0
    uint64_t seed;     // of the noise: the same seed, sensor and time give the same noise
    double cutoff;     // range: farthest that is seen, m; 0: no limit
    int first, count;  // set by the model: place among all numbers
} crSensor;

#ifdef __cplusplus
}
#endif

#endif
