// model.h - what exists: bodies in kinematic trees with joints, loops, shapes and materials; and the stages
// of a step that need no contacts.
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
// The stages (state to results to state), each doing what its arguments say; none of them touches the heap:
//
//     cr_model_kinematics        q, t         -> poses
//     cr_model_mass_factor       poses        -> M = L^T D L
//     cr_model_smooth_velocity   v, k, h      -> v_free
//     cr_rows_...                poses        -> J, w_hat of contacts, loops, limits, motors
//     cr_model_integrate         q, v, h      -> q
//
// Units: SI, rad. Quaternions w first.
#ifndef CAROM_MODEL_H
#define CAROM_MODEL_H

#include "carom/collide.h"
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
} crSurface;

typedef struct crMaterial {
    const char* name;  // unique, or NULL
    double density;    // kg/m^3, >= 0
    crSurface surface;
    unsigned color;  // for pictures: 0x1rrggbb, 0 for none; nothing is computed from it
} crMaterial;

// A combination written down by the user for two materials.
typedef struct crMaterialPair {
    int a, b;
    crSurface surface;  // axis is in the frame of the body of material a
} crMaterialPair;

// The surface two materials make, and whose frame its axis is in.
typedef struct crContactSurface {
    crSurface surface;  // e_of_speed resolved into e; vertices is scaled by polygon_scale
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
    CR_JOINT_DRIVEN  // no freedom: the pose is a given function of time
} crJoint;

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
    const char* name;  // unique, or NULL; copied
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

typedef struct crBody {
    const char* name;
    int parent;
    crJoint joint;
    int q, nq;            // first coordinate and their number
    int v, nv;            // first velocity and their number
    int root;             // top body of its tree (its parent does not move by v); itself where nothing does
    int base;             // the driven body (or world) the tree stands on
    int last;             // last velocity on the way from the world, -1 where there is none
    bool single;          // a free body that carries no other: the 6x6 fast path
    bool mass_given;      // shapes add nothing
    bool deep;            // of a root: its tree has paths of more than 128 velocities, and M no rows for them
    crPose pose;          // as in crBodyDef, and so on
    crVec3 axis;          // unit
    double mass;          // kg
    crVec3 com;           // centre of mass, body frame, m
    crSym3 inertia;       // about it, body axes, kg m^2
    double principal[3];  // ascending moments of inertia
    crQuat axes;          // principal axes to body axes
    double gravity_scale;
    double linear_drag;
    double angular_drag;
    crDrive drive;
    void* drive_ctx;
} crBody;

// A shape on a body.
typedef struct crBodyShape {
    crShape shape;  // its pose is in the body's frame; data it points to is borrowed
    int body;
    int material;
    uint64_t group, mask;  // a and b meet where group_a & mask_b or group_b & mask_a; 1 and all bits
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

typedef struct crModel {
    crAllocator allocator;
    crError error;       // first failure of building, status CR_OK where there was none
    crVec3 gravity;      // m/s^2; (0, 0, -9.81) unless changed
    int nb;              // bodies, the world included
    int nq, nv, nM;      // coordinates, velocities, entries of M
    int material_count;  // >= 1: material 0 is cr_material()
    int pair_count;
    int shape_count;
    int loop_count;
    int exclusion_count;
    int load_count;
    crBody* bodies;   // (nb)
    crDof* dofs;      // what acts along each velocity (nv)
    int* dof_body;    // body of each velocity (nv)
    int* dof_parent;  // the velocity above it in the tree, or -1 (nv)
    int* dof_depth;   // how many are above it (nv)
    int* row;  // where its row of M starts; entries are its ancestors from the top, itself last; -1 where its
               // path has more than 128 velocities (nv)
    double* q0;               // coordinates of the reference position (nq)
    crMaterial* materials;    // (material_count)
    crMaterialPair* pairs;    // (pair_count)
    crBodyShape* shapes;      // (shape_count)
    crLoop* loops;            // (loop_count)
    crExclusion* exclusions;  // in the order they were given (exclusion_count)
    crLoad* loads;            // (load_count)
    struct crModelMemory* memory;
} crModel;

// building

CR_API crModel* cr_model_create(const crAllocator* allocator);  // NULL: libc; returns NULL when memory is out
CR_API void cr_model_destroy(crModel* model);                   // accepts NULL

CR_API crMaterial cr_material(void);  // 1000 kg/m^3, mu 0.5, e 0, everything else zero
CR_API crBodyDef cr_body_def(void);   // a fixed body on the world at the origin, axis z, mass from shapes
CR_API crLoop cr_loop(crLoopKind kind, int a, int b);
CR_API crLoad cr_load(int body);  // at the centre of mass, in world axes

CR_API int cr_model_add_material(crModel* model, const crMaterial* material);
CR_API crStatus cr_model_add_pair(crModel* model, int material_a, int material_b, const crSurface* surface);
CR_API int cr_model_add_body(crModel* model, const crBodyDef* def);
// Where the body's mass was not given and v moves it, density times volume is added to it at once. A body
// that v moves takes no shape without volume: half-space, height field, open mesh.
CR_API int cr_model_add_shape(crModel* model, int body, const crShape* shape, int material);
// A loop that says the same as an earlier one is that loop: its index is returned, and nothing is added.
CR_API int cr_model_add_loop(crModel* model, const crLoop* loop);
// A force on a body that v moves. A world asks for it once a step and holds it for the whole step, as it does with
// crState.force; its work is part of the certificate.
CR_API int cr_model_add_load(crModel* model, const crLoad* load);
CR_API crStatus cr_model_set_filter(crModel* model, int shape, uint64_t group, uint64_t mask);
CR_API crStatus cr_model_exclude(crModel* model, int body_a, int body_b);  // twice is fine
// Whether two shapes may touch: not of one body, a body and its parent other than the world, bodies tied by
// a loop of points, excluded bodies, or where group and mask say no.
CR_API bool cr_model_meet(const crModel* model, int shape_a, int shape_b);

CR_API int cr_model_find_body(const crModel* model, const char* name);  // CR_ERR_NAME where there is none

// The first failure while building; else CR_ERR_DEFINITE where a joint has no mass to move.
CR_API crStatus cr_model_check(const crModel* model, crError* error);

// The surface of a contact between materials a and b at an approach speed: the pair that was written down,
// otherwise the combination rule: mu, mu2, mu_spin, mu_roll, viscous, mu_stribeck and speed_stribeck are
// geometric means (0 if either is 0), e and et the smaller; the ellipse or polygon is that of the material
// that has one (the lower index of two; the other counts by sqrt(mu mu2)), a polygon scaled as a whole.
CR_API crStatus cr_model_surface(const crModel* model, int material_a, int material_b, double speed,
                                 crContactSurface* out);
// Frame with columns n, t1, t2, t1 along the tangent part of axis; cr_frame(n) where it has none.
CR_API crMat3 cr_surface_frame(crVec3 n, crVec3 axis);

// Mass, centre and inertia of two parts together; inertia is about the common centre.
typedef struct crMass {
    double mass;
    crVec3 com;
    crSym3 inertia;
} crMass;
// Of a shape in its body's frame; none without volume. Overlapping parts of a compound count twice.
CR_API crMass cr_mass_of_shape(const crShape* shape, double density);
CR_API crMass cr_mass_add(crMass a, crMass b);
CR_API crMass cr_mass_moved(crMass a, crPose pose);  // seen from the frame in which its own lies at pose
// CR_ERR_FINITE, CR_ERR_RANGE, CR_ERR_DEFINITE (negative moment) or CR_ERR_REGION (the largest principal
// moment is more than the sum of the other two: no body has that).
CR_API crStatus cr_mass_check(const crMass* mass, crError* error);

// state

// What changes. Saving it all reproduces the future.
typedef struct crState {
    double time;          // s
    double* q;            // (nq)
    double* v;            // (nv)
    double* force;        // applied along each velocity, N or N m (nv)
    double* motor_speed;  // aims of the motors (nv)
} crState;

// The reference position at rest, arrays from the arena.
CR_API crStatus cr_state_create(const crModel* model, crArena* arena, crState* state);
// CR_ERR_FINITE, or CR_ERR_UNIT: a quaternion's length is off by more than 1e-6; others are normalized.
CR_API crStatus cr_state_check(const crModel* model, crState* state, crError* error);
// Rates of q when the velocities are v; quaternions as four numbers.
CR_API void cr_state_rate(const crModel* model, const double* q, const double* v, double* rate);

// dynamics at one instant

// A velocity field: points at r from the tree's reference point move by v + omega x r. World axes.
typedef struct crTwist {
    crVec3 omega, v;
} crTwist;

// Everything the stages compute, one array each. The reference point of a tree is the centre of mass of a
// free root and the origin of any other.
typedef struct crDynamics {
    int nb;  // bodies of the model it was made for
    // cr_model_kinematics
    double time;
    double* q;         // as it was given (nq)
    crPose* pose;      // body frames in the world (nb)
    crVec3* com;       // centres of mass (nb)
    crSym3* inertia;   // about them, world axes (nb)
    crVec3* origin;    // reference point of the body's tree (nb)
    crTwist* axis;     // velocity field of each v = 1 (nv)
    crTwist* given;    // velocity field from driven bodies: w_hat (nb)
    crDriven* driven;  // what the drives said, at rest elsewhere; up to the last body that is not single
    // cr_model_mass_factor
    double h;       // step for which springs and dampers of joints are in M
    double* M;      // rows as crModel.row says, up to the last body that is not single
    double* L;      // L below, D on the diagonal; likewise
    double* pivot;  // roots of D; likewise (nv)
    int* path;      // velocities from the root to each, itself last; rows likewise
    // of deep trees instead; NULL where there are none
    struct crArticulated* articulated;  // inertia of what a body carries, its joints free
    crTwist* gain;                      // L_ij = gain_i . axis_j (nv)
    double* weight;                     // D (nv)
    crTwist* carry;                     // work: sums over what is carried, or over what carries
    crTwist* momentum;                  // work
    crSym3* inverse;                    // inverse inertia of single bodies, world axes (nb)
    crMat3* root;                       // R with R^T R = inverse (nb)
    // cr_model_velocity
    crTwist* twist;  // velocity field of each body, w_hat included (nb)
    // work
    crTwist* rate;                // up to the last body that is not single
    crTwist* wrench;              // likewise
    crTwist* load;                // likewise
    struct crInertia* composite;  // likewise
    char* known;                  // whether the last kinematics moved a body of a tree (nb)
    double* work;                 // (nv)
} crDynamics;

CR_API crStatus cr_dynamics_create(const crModel* model, crArena* arena, crDynamics* d);

CR_API void cr_model_kinematics(const crModel* model, const crState* state, crDynamics* d);
// M + h damping + h^2 stiffness of the joints (h = 0: M itself), factored without fill-in.
// CR_ERR_DEFINITE: a joint has nothing to move in this position.
CR_API crStatus cr_model_mass_factor(const crModel* model, double h, crDynamics* d);
CR_API void cr_model_velocity(const crModel* model, const double* v, crDynamics* d);  // -> twist
// k: gravity, centrifugal and gyroscopic terms, springs, dampers, drag, applied forces; writes twist.
// The gyroscopic moment of a single free body is left out: cr_model_integrate carries it.
CR_API void cr_model_forces(const crModel* model, const crState* state, crDynamics* d, double* k);
// v + h M^-1 k; implicit in the joints' springs and dampers where mass_factor was given the same h, not 0.
CR_API void cr_model_smooth_velocity(const crModel* model, const crState* state, const double* k, double h,
                                     crDynamics* d, double* v_free);
// q and time over one step with constant v, on the rotation group. A single free body keeps its angular
// momentum instead of its omega (second order, exact for two equal moments).
CR_API void cr_model_integrate(const crModel* model, double h, crState* state);

// y = M x; x = M^-1 x by the factor; M row by row (nv*nv).
CR_API void cr_model_mass_mul(const crModel* model, const crDynamics* d, const double* x, double* y);
CR_API void cr_model_mass_solve(const crModel* model, const crDynamics* d, double* x);
CR_API void cr_model_mass_dense(const crModel* model, const crDynamics* d, double* M);

// Velocity of a body's world point, after cr_model_velocity.
CR_API crVec3 cr_model_point_velocity(const crDynamics* d, int body, crVec3 point);
// k += J^T of a force at a world point of a body, and of a moment.
CR_API void cr_model_add_force(const crModel* model, const crDynamics* d, int body, crVec3 point,
                               crVec3 force, crVec3 moment, double* k);
// force += all loads of the model at a time, by the poses and velocities of d (cr_model_kinematics, cr_model_velocity).
// CR_ERR_FINITE: a load is not a number; CR_ERR_ARGUMENT: a load along a joint that is no hinge or slider.
CR_API crStatus cr_model_add_loads(const crModel* model, const crState* state, double time,
                                   const crDynamics* d, double* force, crError* error);
// k += the smooth tangential force between a and b at a contact with normal force N: with slip u and
// s = |u| / speed_stribeck it is -(viscous + N 2 mu_stribeck / speed_stribeck / (1 + s^2)) u on b.
CR_API void cr_model_add_contact_drag(const crModel* model, const crDynamics* d, const crSurface* surface,
                                      int a, int b, crVec3 point, crVec3 n, double N, double* k);

// J
typedef struct crEnergy {
    double kinetic;    // of every body that v moves
    double potential;  // of gravity (zero at the world's origin) and of the joints' springs
} crEnergy;
CR_API crEnergy cr_model_energy(const crModel* model, const crState* state, const crDynamics* d);
// Linear momentum and angular momentum about a point of all bodies that v moves.
CR_API void cr_model_momentum(const crModel* model, const crDynamics* d, crVec3 about, crVec3* linear,
                              crVec3* angular);

// rows: u = J v + w_hat

// Rows of J, compressed: columns ascending. Start from cr_rows_create; add until full.
typedef struct crRows {
    int count, capacity;  // rows
    int entries, entry_capacity;
    int* start;     // (capacity + 1)
    int* col;       // (entry_capacity)
    double* value;  // (entry_capacity)
    double* w_hat;  // prescribed velocity (capacity)
    double*
        gap;  // loops: error of position; limits and ranges: distance to it; 0 elsewhere; m or rad (capacity)
} crRows;

CR_API crStatus cr_rows_create(crArena* arena, int capacity, int entry_capacity, crRows* rows);

// Each adds its rows and returns the index of the first, or CR_ERR_LIMIT.
// Velocity at a world point of b minus that of a, along `count` columns (1 to 3) of frame.
CR_API int cr_rows_add_point(const crModel* model, const crDynamics* d, int a, int b, crVec3 point,
                             const crMat3* frame, int count, crRows* rows);
// omega of b minus that of a, likewise.
CR_API int cr_rows_add_spin(const crModel* model, const crDynamics* d, int a, int b, const crMat3* frame,
                            int count, crRows* rows);
// Of a range: u >= 0 at gap = 0.
CR_API int cr_rows_add_loop(const crModel* model, const crDynamics* d, int loop, crRows* rows);

// Limit: u >= 0 at gap = 0. Motor and friction: a force up to `limit` drives u to 0.
typedef enum crJointRowKind { CR_ROW_LIMIT, CR_ROW_MOTOR, CR_ROW_FRICTION } crJointRowKind;
typedef struct crJointRow {
    crJointRowKind kind;
    int dof;
    int row;
    double limit;  // largest force, N or N m (motor, friction); INFINITY for limits
} crJointRow;
// Limits nearer than margin, motors, dry friction. Returns how many it wrote to info, or CR_ERR_LIMIT.
CR_API int cr_rows_add_joints(const crModel* model, const crState* state, double margin, int capacity,
                              crJointRow* info, crRows* rows);
// Most rows and entries that all loops, or all joints, can need.
CR_API void cr_model_loop_sizes(const crModel* model, int* rows, int* entries);
CR_API void cr_model_joint_sizes(const crModel* model, int* rows, int* entries);

CR_API void cr_rows_velocity(const crRows* rows, const double* v, double* u);            // u = J v + w_hat
CR_API void cr_rows_add_impulse(const crRows* rows, const double* p, double* momentum);  // momentum += J^T p
// H = J L^-1 D^-1/2 (and the like for single bodies), so that W = J M^-1 J^T = H H^T: each row reaches the
// velocities above its two bodies and no others. w_hat and gap are copied. Allocated from the arena.
CR_API crStatus cr_rows_half(const crModel* model, const crDynamics* d, const crRows* rows, crArena* arena,
                             crRows* H);
CR_API void cr_rows_W(const crRows* H, double* W);  // H H^T, dense, row by row (count*count)

// Newton steps on q until every loop holds to tol (m, rad), shortest in the metric of M; then the least
// change of v that keeps them. Redundant loops are fine. CR_ERR_REGION: not in 50 steps; q is as it was.
CR_API crStatus cr_model_close_loops(const crModel* model, double tol, crArena* arena, crDynamics* d,
                                     crState* state, crError* error);

#ifdef __cplusplus
}
#endif

#endif
