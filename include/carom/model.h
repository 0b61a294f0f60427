// model.h - what exists: bodies in kinematic trees with joints, loops, shapes and materials; and its state.
//
//     M(q) dv/dt = k(q, v, t),      u = J v + w_hat
//
// A model is append-only, parents before children; body 0 is the world. Functions that return an index return
// a negative crStatus on failure. The first failure sticks to the model: building code may ignore return
// values and ask cr_model_check once.
//
// A body's frame is its joint's frame: at q = 0 it lies at `pose` in its parent's frame, and the joint moves
// it from there. Coordinates q and velocities v, joint by joint in the order of bodies:
//
//     joint    q                        v                                  axes
//     fixed    -                        -
//     hinge    angle                    rate                               `axis` through the body's origin
//     slider   displacement             rate                               `axis`
//     planar   x, y, theta              their rates                        x, y, z of `pose`
//     ball     quaternion w, x, y, z    angular velocity to the parent     x, y, z of `pose`
//     free     p, quaternion (7)        of the centre of mass, omega (6)   world; q is the pose itself
//
// Units: SI, rad. Quaternions w first.
#ifndef CAROM_MODEL_H
#define CAROM_MODEL_H

#include "carom/collide.h"
#include "carom/control.h"
#include "carom/impulse.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CR_WORLD 0

// materials

// What happens where two surfaces touch.
typedef struct crSurface {
    double mu;         // friction coefficient, >= 0, may be INFINITY; along `axis` where elliptic
    double mu2;        // across it; equal to mu (or NAN) where isotropic
    crVec3 axis;       // direction of mu in the body's frame; read where mu2 differs or a polygon is given
    int vertex_count;  // 0, or >= 3: a convex polygon of friction instead of mu and mu2
    const double (*vertices)[2];      // p_t / p_n along `axis` and across, counter-clockwise, origin inside
    double e;                         // normal restitution, >= 0
    const crRestitution* e_of_speed;  // NULL, or e by approach speed (overrides e)
    double et;                        // tangential restitution, -1 to 1
    double mu_spin;                   // spin friction: limit of moment / normal force, m
    double mu_roll;                   // rolling friction, m
    double viscous;                   // smooth tangential force per speed, N s/m
    double mu_stribeck;               // height of the smooth Stribeck hump over mu, >= 0
    double speed_stribeck;            // slip speed of its top, m/s, > 0
    const crByImpact* by_impact;      // NULL, or coefficients that depend on the impact (override e, et, mu)
    // Of a pair: the law of its impacts under rule sequence, NULL: the law of the step. It must live as long as the
    // model does.
    const struct crLaw* law;
} crSurface;

// How a material is drawn; nothing is computed from it.
typedef enum crLook {
    CR_LOOK_PLAIN,
    CR_LOOK_WOOD,
    CR_LOOK_FELT,
    CR_LOOK_METAL,
    CR_LOOK_STONE,
    CR_LOOKS
} crLook;

typedef struct crMaterial {
    const char* name;  // unique, or NULL
    double density;    // kg/m^3, >= 0
    crSurface surface;
    unsigned color;    // for pictures: 0x1rrggbb, 0 for none; nothing is computed from it
    unsigned checker;  // for pictures: the second colour of a checkered ground, 0 for none
    crLook look;
} crMaterial;

// A combination written down by the user for two materials.
typedef struct crMaterialPair {
    int a, b;
    crSurface surface;  // axis is in the frame of the body of material a
} crMaterialPair;

// The surface two materials make, and whose frame its axis is in.
typedef struct crContactSurface {
    crSurface
        surface;  // e_of_speed and by_impact resolved into e, et, mu; vertices is scaled by polygon_scale
    double polygon_scale;
    int axis_of;  // 0: the body of material a, 1: of b, -1: isotropic
} crContactSurface;

// bodies

typedef enum crJoint {
    CR_JOINT_FIXED,
    CR_JOINT_HINGE,
    CR_JOINT_SLIDER,
    CR_JOINT_PLANAR,
    CR_JOINT_BALL,
    CR_JOINT_FREE,
    CR_JOINT_DRIVEN,  // no freedom: the pose is a given function of time
    CR_JOINT_KINDS
} crJoint;

// One kind of joint, as the table of kinds has it.
typedef struct crJointInfo {
    const char* name;
    int nq, nv;              // coordinates and velocities
    int quaternion;          // first of the four coordinates that are one, -1 where there is none
    bool axis;               // it moves along or about crBodyDef.axis
    const char* coordinate;  // of a joint with one velocity: what scenes call q, else NULL
    const char* rate;        // and v
    const char* unit;        // of q
} crJointInfo;
CR_API const crJointInfo* cr_joint_info(crJoint joint);  // NULL for no such joint

// What acts along one velocity of a joint. For a ball, `upper` of the first limits the whole angle of
// rotation (0 to pi) and the springs pull along the rotation vector. A free joint takes none of these.
typedef struct crDof {
    double lower, upper;  // limits of q, rad or m; -INFINITY and INFINITY where there is none
    double stiffness;     // >= 0, N m/rad or N/m
    double rest;          // q at which the spring is at rest
    double damping;       // >= 0, N m s/rad or N s/m
    double friction;      // dry friction, >= 0, N m or N
    double motor_force;   // largest force of the motor, >= 0, may be INFINITY; 0 is no motor
    double motor_speed;   // speed it aims at (copied into the state, where it may change)
    double armature;      // inertia of a rotor along this velocity, added to M, >= 0, kg m^2 or kg
    double force_lower,
        force_upper;  // limits of what all actuators together give along it; both 0: none, N m or N
} crDof;

// Where a driven body is, and how it moves, in world axes.
typedef struct crDriven {
    crPose pose;
    crVec3 velocity;      // of the body's origin, m/s
    crVec3 omega;         // rad/s
    crVec3 acceleration;  // of the origin; matters only to bodies that hang on it, m/s^2
    crVec3 alpha;         // rate of omega; likewise, rad/s^2
} crDriven;
typedef void (*crDrive)(void* ctx, double time, crDriven* out);  // out starts at rest at the body's pose

// Start from cr_body_def().
typedef struct crBodyDef {
    const char* name;        // unique, or NULL; copied
    const char* joint_name;  // likewise, among the names of joints
    int parent;
    crJoint joint;
    crPose pose;           // at q = 0, in the parent's frame
    crVec3 axis;           // hinge, slider: in the body's frame, any length but zero
    crDof dof[6];          // one per velocity
    double mass;           // kg; NAN: from shapes and their densities
    crVec3 com;            // centre of mass in the body's frame (read with mass)
    crSym3 inertia;        // about the centre of mass in the body's axes (read with mass), kg m^2
    double gravity_scale;  // 1
    double linear_drag;    // force against the velocity of the centre of mass, >= 0, N s/m
    double angular_drag;   // moment against omega, >= 0, N m s
    crDrive drive;         // driven bodies
    void* drive_ctx;
} crBodyDef;

// Fields that a step reads of every body come first.
typedef struct crBody {
    int q, nq;  // first coordinate and their number
    int v, nv;  // first velocity and their number
    int root;   // top body of its tree (its parent does not move by v); itself where nothing does
    int last;   // last velocity on the way from the world, -1 where there is none
    int parent;
    crJoint joint;
    double mass;  // kg
    double gravity_scale;
    double linear_drag;
    double angular_drag;
    double principal[3];  // ascending moments of inertia
    crVec3 com;           // centre of mass, body frame, m
    bool single;          // a free body that carries no other: the 6x6 fast path
    bool mass_given;      // shapes add nothing
    bool deep;            // of a root: its tree has paths of more than 48 velocities, and M no rows for them
    int base;             // the driven body (or world) the tree stands on
    crSym3 inertia;       // about com, body axes, kg m^2
    crQuat axes;          // principal axes to body axes
    crPose pose;          // as in crBodyDef, and so on
    crVec3 axis;          // unit
    const char* name;
    const char* joint_name;  // NULL: the joint goes by the name of its body
    crDrive drive;
    void* drive_ctx;
} crBody;

// A shape on a body.
typedef struct crBodyShape {
    crShape shape;  // its pose is in the body's frame; data it points to is borrowed
    int body;
    int material;
    uint64_t group, mask;  // a and b meet where group_a & mask_b or group_b & mask_a; 1 and all bits
    unsigned color;        // for pictures: 0x1rrggbb, 0 for its material's; nothing is computed from it
} crBodyShape;

// Two bodies whose shapes never meet, a < b.
typedef struct crExclusion {
    int a, b;
} crExclusion;

// loops: bodies tied beyond the tree

typedef enum crLoopKind {
    CR_LOOP_CONNECT,   // the two points coincide: 3 rows
    CR_LOOP_WELD,      // and the two frames are parallel: 6 rows
    CR_LOOP_DISTANCE,  // the two points are `length` apart: 1 row
    CR_LOOP_JOINT      // the joint of a follows that of b, both hinges or sliders: 1 row
} crLoopKind;

typedef struct crLoop {
    crLoopKind kind;
    int a, b;               // bodies; not the same
    crPose pose_a, pose_b;  // the points (and frames, weld) in their bodies' frames
    double length;          // > 0, m (distance)
    double coef[5];         // q_a = sum of coef[k] q_b^k (joint); b the world: q_a = coef[0]
    // lower < upper: a range instead, of the distance (a rope: 0 to its length) or of q_a - sum; both 0 where
    // none. Bodies on a rope may touch each other
    double lower, upper;
} crLoop;
// Whether it is a range, one row with the gap to its nearer end, as of a limit.
static inline bool cr_loop_ranges(const crLoop* loop) { return loop->lower < loop->upper; }

// loads: forces on bodies from outside

// Where and when a load is asked for: at the beginning of a step, but for its time.
typedef struct crLoadAt {
    double time;      // the middle of the step, s
    crVec3 point;     // where the force acts, world axes, m
    crVec3 velocity;  // of that point of the body, m/s
    const double* q;  // coordinates of the body's joint (nq)
    const double* v;  // velocities of the body's joint (nv)
} crLoadAt;
typedef struct crLoadValue {
    crVec3 force;   // N
    crVec3 moment;  // N m
    double
        along;  // along the joint of the body, with its reaction on the parent; hinges and sliders, N m or N
} crLoadValue;
typedef void (*crLoadFn)(void* ctx, const crLoadAt* at, crLoadValue* out);  // out starts at zero

// Start from cr_load(body).
typedef struct crLoad {
    int body;
    bool central;  // true if the force acts at the centre of mass, false if at `point`
    bool turns;    // true if force and moment are in the body's axes, false if in the world's
    crVec3 point;  // in the body's frame, m
    crLoadFn function;
    void* ctx;
} crLoad;

// Arrays by velocity: which body each belongs to, the tree they make, and what acts along them.
typedef struct crModelVelocities {
    int nM;       // entries of M
    int* body;    // body of each velocity (nv)
    int* parent;  // the velocity above it in the tree, or -1 (nv)
    int* depth;   // how many are above it (nv)
    int* row;  // where its row of M starts; entries are its ancestors from the top, itself last; -1 where its
               // path has more than 48 velocities (nv)
    int* actuator;  // first term of an actuator along it, see crActuator.next; -1 where there is none (nv)
    int* dof;       // which of dofs acts along it: free joints, which take none, share one (nv)
    int dof_count;
    crDof* dofs;  // limits, springs and motors along velocities, see cr_model_dof (dof_count)
} crModelVelocities;

typedef struct crModel {
    crAllocator allocator;
    crError error;       // first failure of building, status CR_OK where there was none
    crVec3 gravity;      // m/s^2; (0, 0, -9.81) unless changed
    int nb;              // bodies, the world included
    int nq, nv;          // coordinates, velocities
    int material_count;  // >= 1: material 0 is cr_material()
    int pair_count;
    int shape_count;
    int loop_count;
    int exclusion_count;
    int nu;  // actuators
    int na;  // actuators that have an activation
    int site_count;
    int sensor_count;
    int nsensor;  // numbers of all sensors
    int load_count;
    crBody* bodies;  // (nb)
    crModelVelocities velocity;
    double* q0;               // coordinates of the reference position (nq)
    crMaterial* materials;    // (material_count)
    crMaterialPair* pairs;    // (pair_count)
    crBodyShape* shapes;      // (shape_count)
    crLoop* loops;            // (loop_count)
    crExclusion* exclusions;  // in the order they were given (exclusion_count)
    crActuator* actuators;    // (nu)
    crSite* sites;            // (site_count)
    crSensor* sensors;        // (sensor_count)
    crLoad* loads;            // (load_count)
    struct crModelMemory* memory;
    int visual_count;
    // Shapes for pictures, drawn in place of the bodies' own, in the order of bodies; no step reads them. The model does not
    // own this memory (visual_count)
    crBodyShape* visuals;
    int tendon_count;
    crTendon* tendons;  // (tendon_count)
    int* top;           // bodies[].root of each body that v moves, -1 of the others (nb)
} crModel;

// Limits, spring, damper, friction and motor along velocity j.
static inline const crDof* cr_model_dof(const crModel* model, int j) {
    return &model->velocity.dofs[model->velocity.dof[j]];
}

// building

CR_API crModel* cr_model_create(const crAllocator* allocator);  // NULL: libc; returns NULL when memory is out
CR_API void cr_model_destroy(crModel* model);                   // accepts NULL

CR_API crMaterial cr_material(void);  // 1000 kg/m^3, mu 0.5, e 0, everything else zero
CR_API crBodyDef cr_body_def(void);   // a fixed body on the world at the origin, axis z, mass from shapes
CR_API crLoop cr_loop(crLoopKind kind, int a, int b);

CR_API int cr_model_add_material(crModel* model, const crMaterial* material);
CR_API crStatus cr_model_add_pair(crModel* model, int material_a, int material_b, const crSurface* surface);
CR_API int cr_model_add_body(crModel* model, const crBodyDef* def);
// Where the body's mass was not given and v moves it, density times volume is added to it at once. A body
// that v moves takes no shape without volume: half-space, height field, open mesh.
CR_API int cr_model_add_shape(crModel* model, int body, const crShape* shape, int material);
// A loop that says the same as an earlier one is that loop: its index is returned, and nothing is added.
CR_API int cr_model_add_loop(crModel* model, const crLoop* loop);
CR_API crStatus cr_model_set_filter(crModel* model, int shape, uint64_t group, uint64_t mask);
CR_API crStatus cr_model_exclude(crModel* model, int body_a, int body_b);  // twice is fine
// Whether two shapes may touch: not of one body, a body and its parent other than the world, bodies tied by
// a loop of points, excluded bodies, or where group and mask say no.
CR_API bool cr_model_meet(const crModel* model, int shape_a, int shape_b);

CR_API int cr_model_find_body(const crModel* model, const char* name);  // CR_ERR_NAME where there is none

// The first failure while building; else CR_ERR_DEFINITE where a joint has no mass to move.
CR_API crStatus cr_model_check(const crModel* model, crError* error);

// state

// What changes. Saving it all reproduces the future.
typedef struct crState {
    double time;          // s
    double* q;            // (nq)
    double* v;            // (nv)
    double* force;        // applied along each velocity, N or N m (nv)
    double* motor_speed;  // aims of the motors (nv)
    double* ctrl;         // controls of the actuators (nu)
    double* act;          // activations of those that have one, in their order (na)
} crState;

// The reference position at rest, arrays from the arena.
CR_API crStatus cr_state_create(const crModel* model, crArena* arena, crState* state);
// CR_ERR_FINITE; CR_ERR_UNIT: a quaternion's length is off by more than 1e-6, others are normalized;
// CR_ERR_RANGE: a control is outside the range of its actuator.
CR_API crStatus cr_state_check(const crModel* model, crState* state, crError* error);
// J
typedef struct crEnergy {
    double kinetic;    // of every body that v moves
    double potential;  // of gravity (zero at the world's origin) and of the springs of joints and tendons
} crEnergy;

typedef struct crDynamics crDynamics;  // a model at one instant: dynamics.h

#ifdef __cplusplus
}
#endif

#endif
