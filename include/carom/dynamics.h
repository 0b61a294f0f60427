// dynamics.h - experimental: a model at one instant, and the stages of a step that need no contacts.
//
// The stages (state to results to state), each doing what its arguments say; none of them touches the heap:
//
//     cr_model_kinematics        q, t         -> poses
//     cr_model_mass_factor       poses        -> M = L^T D L
//     cr_model_smooth_velocity   v, k, h      -> v_free
//     cr_rows_...                poses        -> J, w_hat of contacts, loops, limits, motors
//     cr_model_integrate         q, v, h      -> q
//
// These functions work and are tested; their form may change with any version. Units: SI, rad.
#ifndef CAROM_DYNAMICS_H
#define CAROM_DYNAMICS_H

#include "carom/forms.h"
#include "carom/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// dynamics at one instant

// A velocity field: points at r from the tree's reference point move by v + omega x r. World axes.
typedef struct crTwist {
    crVec3 omega, v;
} crTwist;

// M + h damping + h^2 stiffness, and its factor.
typedef struct crMassFactor {
    double h;       // step for which springs and dampers of joints are in M
    double* M;      // rows as crModel.velocity.row says, up to the last body that is not single
    double* L;      // L below, D on the diagonal; rows as those of M
    double* pivot;  // roots of D (tree_nv)
    int* path;      // velocities from the root to each, itself last; rows as those of M
} crMassFactor;

// The factor of deep trees, whose M has no rows; all NULL where no tree is deep.
typedef struct crDeepFactor {
    struct crArticulated* articulated;  // inertia of what a body carries, its joints free
    crTwist* gain;                      // L_ij = gain_i . axis_j (nv)
    double* weight;                     // D (nv)
    crTwist* carry;                     // work: sums over what is carried, or over what carries
    crTwist* momentum;                  // work
} crDeepFactor;

// Work arrays of the stages, of bodies up to the last that is not single.
typedef struct crDynamicsScratch {
    crTwist* rate;
    crTwist* wrench;
    crTwist* load;
    struct crInertia* composite;
    double* v;  // (nv)
} crDynamicsScratch;

// Everything the stages compute, one array each. The reference point of a tree is the centre of mass of a
// free root and the origin of any other.
struct crDynamics {
    int nb;                // bodies of the model it was made for
    int tree_nb, tree_nv;  // bodies and velocities up to the last body that is not single
    // cr_model_kinematics
    double time;
    double* q;         // as it was given (nq)
    crPose* pose;      // body frames in the world (nb)
    crVec3* com;       // centres of mass (nb)
    crSym3* inertia;   // about them, world axes (nb)
    crVec3* origin;    // reference point of the body's tree (nb)
    crTwist* axis;     // velocity field of each v = 1 (tree_nv), then the six of a single body
    crTwist* given;    // velocity field from driven bodies: w_hat (tree_nb); other bodies have none
    crDriven* driven;  // motion that drives give, rest for other bodies (tree_nb)
    // cr_model_mass_factor
    crMassFactor mass;
    crDeepFactor deep;
    crSym3* inverse;  // inverse inertia of single bodies, world axes (nb)
    crMat3* root;     // R with R^T R = inverse (nb)
    // cr_model_velocity
    crTwist* twist;  // velocity field of each body, w_hat included (nb)
    crDynamicsScratch scratch;
    char* known;             // whether the last kinematics moved a body of a tree (nb)
    crActuation* actuation;  // cr_model_actuate (nu)
    double*
        limit;  // cr_model_actuate: the limited sum of all actuators along a velocity; NaN where no limit is reached (nv)
};

CR_API crStatus cr_dynamics_create(const crModel* model, crArena* arena, crDynamics* d);

// Sets the forces of actuators for the stages that follow. A step does so once, at its beginning.
CR_API void cr_model_actuate(const crModel* model, const crState* state, crDynamics* d);
CR_API void cr_model_kinematics(const crModel* model, const crState* state, crDynamics* d);
// M + h damping + h^2 stiffness of joints and actuators (h = 0: M itself), factored without fill-in.
// CR_ERR_DEFINITE: a joint has nothing to move in this position.
CR_API crStatus cr_model_mass_factor(const crModel* model, double h, crDynamics* d);
CR_API void cr_model_velocity(const crModel* model, const double* v, crDynamics* d);  // -> twist
// k: gravity, centrifugal and gyroscopic terms, springs, dampers, drag, actuators, applied forces; writes twist
// and, by cr_model_actuate, actuation.
// The gyroscopic moment of a single free body is left out: cr_model_integrate carries it.
CR_API void cr_model_forces(const crModel* model, const crState* state, crDynamics* d, double* k);
// v + h M^-1 k; implicit in the joints' springs and dampers where mass_factor was given the same h, not 0.
CR_API void cr_model_smooth_velocity(const crModel* model, const crState* state, const double* k, double h,
                                     crDynamics* d, double* v_free);
// q and time over one step with constant v, on the rotation group. A single free body keeps its angular
// momentum instead of its omega (second order, exact for two equal moments).
CR_API void cr_model_integrate(const crModel* model, double h, crState* state);

// The names of robotics. Each runs the kinematics it needs.
// Bias force: what centrifugal, Coriolis and gyroscopic terms and gravity need: M a + bias is the force that
// accelerates by a.
CR_API crStatus cr_model_bias(const crModel* model, const crState* state, crDynamics* d, double* bias);
// Forward dynamics: acceleration by all forces of the model, actuators and applied forces included, without
// contacts, loops, limits, motors and dry friction. Fails: CR_ERR_DEFINITE.
CR_API crStatus cr_model_acceleration(const crModel* model, const crState* state, crDynamics* d, double* a);
// Inverse dynamics: what actuators and applied forces together must give to accelerate by a, next to springs, dampers
// and drag. Fails: CR_ERR_DEFINITE.
CR_API crStatus cr_model_inverse_dynamics(const crModel* model, const crState* state,
                                          const double* acceleration, crDynamics* d, double* force);
// Jacobians of a world point of a body (3 rows of nv each; either may be NULL): its velocity is linear v, the body's
// angular velocity angular v, beyond what driven bodies give. After cr_model_kinematics.
CR_API crStatus cr_model_jacobian(const crModel* model, const crDynamics* d, int body, crVec3 point,
                                  double* linear, double* angular);
// Numbers of all sensors (nsensor) at a state without contacts; touch is 0. Fails: CR_ERR_DEFINITE.
CR_API crStatus cr_model_sense(const crModel* model, const crState* state, crDynamics* d, double* out);

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

// Rates of q when the velocities are v; quaternions as four numbers.
CR_API void cr_state_rate(const crModel* model, const double* q, const double* v, double* rate);

// surfaces and masses

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

// actuators, tendons, sites, sensors, loads and names of a model

// Fails: CR_ERR_RANGE (velocity, limits), CR_ERR_FINITE, CR_ERR_NAME (taken), CR_ERR_ARGUMENT: joints of several
// trees, or gain[1], bias[1] along a ball or free joint, which has no length. Tendons and sites come before it.
CR_API int cr_model_add_actuator(crModel* model, const crActuator* actuator);
CR_API int cr_model_find_actuator(const crModel* model, const char* name);  // CR_ERR_NAME
// A path over sites or a sum over joints; crTendon, started from zeros. Fails: CR_ERR_RANGE, CR_ERR_FINITE, CR_ERR_NAME.
CR_API int cr_model_add_tendon(crModel* model, const crTendon* tendon);
CR_API int cr_model_find_tendon(const crModel* model, const char* name);  // CR_ERR_NAME
CR_API int cr_model_add_site(crModel* model, const crSite* site);
CR_API int cr_model_find_site(const crModel* model, const char* name);  // CR_ERR_NAME
CR_API const char* cr_sensor_kind_name(crSensorKind kind);  // e.g. "joint_position"; NULL for no such kind
CR_API int cr_model_add_sensor(crModel* model, const crSensor* sensor);
CR_API int cr_model_find_sensor(const crModel* model, const char* name);  // CR_ERR_NAME
CR_API crLoad cr_load(int body);  // at the centre of mass, in world axes
// A force on a body that v moves. A world asks for it once a step and holds it for the whole step, as it does with
// crState.force; its work is part of the certificate.
CR_API int cr_model_add_load(crModel* model, const crLoad* load);
// cr_model_surface at an impact (carom/forms.h).
CR_API crStatus cr_model_surface_at(const crModel* model, int material_a, int material_b,
                                    const crApproach* approach, crContactSurface* out);
// The body whose joint has this name; a joint without a name has that of its body. CR_ERR_NAME.
CR_API int cr_model_find_joint(const crModel* model, const char* name);

#ifdef __cplusplus
}
#endif

#endif
