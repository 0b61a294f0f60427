// spatial.h - twists, wrenches and inertias of a tree, all in world axes about one point of the tree, so that
// they add without transformation (Featherstone 2008, chapters 2 and 5, in one fixed frame); poses; the
// exponential and logarithm of rotations.
#ifndef CAROM_MODEL_SPATIAL_H
#define CAROM_MODEL_SPATIAL_H

#include <string.h>

#include "carom/dynamics.h"

// Inertia about the reference point: momentum of a twist is (I omega + h x v, m v - h x omega).
typedef struct crInertia {
    double m;
    crVec3 h;  // m (com - reference)
    crSym3 I;
} crInertia;

static inline crTwist cr__twist(crVec3 omega, crVec3 v) { return (crTwist){omega, v}; }
static inline crTwist cr__twist_add(crTwist a, crTwist b) {
    return cr__twist(cr_add(a.omega, b.omega), cr_add(a.v, b.v));
}
static inline crTwist cr__twist_madd(crTwist a, double s, crTwist b) {
    return cr__twist(cr_madd(a.omega, s, b.omega), cr_madd(a.v, s, b.v));
}
// a x b: rate of a field b that is carried along by a
static inline crTwist cr__twist_cross(crTwist a, crTwist b) {
    return cr__twist(cr_cross(a.omega, b.omega), cr_add(cr_cross(a.omega, b.v), cr_cross(a.v, b.omega)));
}
// Wrenches are twists too: omega holds the moment, v the force.
static inline double cr__twist_dot(crTwist motion, crTwist wrench) {
    return cr_dot(motion.omega, wrench.omega) + cr_dot(motion.v, wrench.v);
}
// rate of a wrench that is carried along by a
static inline crTwist cr__wrench_cross(crTwist a, crTwist f) {
    return cr__twist(cr_add(cr_cross(a.omega, f.omega), cr_cross(a.v, f.v)), cr_cross(a.omega, f.v));
}
static inline crTwist cr__inertia_mul(const crInertia* I, crTwist a) {
    return cr__twist(cr_add(cr_sym3_mul(I->I, a.omega), cr_cross(I->h, a.v)),
                     cr_sub(cr_scale(I->m, a.v), cr_cross(I->h, a.omega)));
}
static inline crVec3 cr__twist_at(crTwist a, crVec3 r) { return cr_add(a.v, cr_cross(a.omega, r)); }

// m (r.r 1 - r r^T): what a point mass at r adds to an inertia
static inline crSym3 cr__point_inertia(double m, crVec3 r) {
    return (crSym3){m * (r.y * r.y + r.z * r.z), -m * r.x * r.y, -m * r.x * r.z,
                    m * (r.x * r.x + r.z * r.z), -m * r.y * r.z, m * (r.x * r.x + r.y * r.y)};
}
static inline crInertia cr__inertia_about(double m, crVec3 com, crSym3 inertia, crVec3 reference) {
    crVec3 r = cr_sub(com, reference);
    return (crInertia){m, cr_scale(m, r), cr_sym3_add(inertia, cr__point_inertia(m, r))};
}

// cr_pose_mul that stays unit down a long chain
static inline crPose cr__pose_mul(crPose a, crPose b) {
    return (crPose){cr_pose_point(a, b.p), cr_quat_normalize(cr_quat_mul(a.q, b.q))};
}

// R S R^T
static inline crSym3 cr__sym3_rotate(crQuat q, crSym3 s) {
    return cr_sym3_in_frame(s, cr_quat_matrix(cr_quat_conj(q)));
}

crQuat cr__rotation_exp(crVec3 phi);  // rotation by |phi| about phi
crVec3 cr__rotation_log(crQuat q);    // its inverse, |phi| <= pi

crQuat cr__rotation_of(crMat3 R);  // quaternion of a rotation matrix

// Some bodies of a model, ascending, trees as a whole and with all that is driven; bodies NULL: all of them.
typedef struct crPart {
    const int* bodies;  // (count)
    int count;
} crPart;
static inline crPart cr__all(const crModel* model) { return (crPart){NULL, model->nb - 1}; }
static inline int cr__part_body(crPart part, int k) { return part.bodies != NULL ? part.bodies[k] : k + 1; }
// x y over the velocities of a part.
static inline double cr__part_dot(const crModel* model, crPart part, const double* x, const double* y) {
    double sum = 0.0;
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(part, k)];
        for (int i = body->v; i < body->v + body->nv; i++) {
            sum += x[i] * y[i];
        }
    }
    return sum;
}

// Over the velocities of a part: x = 0, x = s x, to = from, to = x + s y, to = x + y.
static inline void cr__part_clear(const crModel* model, crPart part, double* x) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(part, k)];
        memset(x + body->v, 0, (size_t)body->nv * sizeof *x);
    }
}
static inline void cr__part_scale(const crModel* model, crPart part, double s, double* x) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(part, k)];
        for (int i = body->v; i < body->v + body->nv; i++) {
            x[i] *= s;
        }
    }
}
static inline void cr__part_copy(const crModel* model, crPart part, const double* from, double* to) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(part, k)];
        memcpy(to + body->v, from + body->v, (size_t)body->nv * sizeof *to);
    }
}
static inline void cr__part_madd(const crModel* model, crPart part, const double* x, double s,
                                 const double* y, double* to) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(part, k)];
        for (int i = body->v; i < body->v + body->nv; i++) {
            to[i] = x[i] + s * y[i];
        }
    }
}
static inline void cr__part_add(const crModel* model, crPart part, const double* x, const double* y,
                                double* to) {
    cr__part_madd(model, part, x, 1.0, y, to);
}
// to = (x + y) / 2
static inline void cr__part_mean(const crModel* model, crPart part, const double* x, const double* y,
                                 double* to) {
    cr__part_add(model, part, x, y, to);
    cr__part_scale(model, part, 0.5, to);
}
// Coordinates of a part, and both: to = from.
static inline void cr__part_copy_q(const crModel* model, crPart part, const double* from, double* to) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(part, k)];
        memcpy(to + body->q, from + body->q, (size_t)body->nq * sizeof *to);
    }
}
static inline void cr__part_copy_state(const crModel* model, crPart part, const double* q, const double* v,
                                       double* to_q, double* to_v) {
    cr__part_copy_q(model, part, q, to_q);
    cr__part_copy(model, part, v, to_v);
}
// How many velocities move a body.
static inline int cr__depth(const crModel* model, int body) {
    int last = model->bodies[body].last;
    return last < 0 ? 0 : model->velocity.depth[last] + 1;
}

// The stages of model.h for a part; nothing of other bodies is read or written.
void cr__part_kinematics(const crModel* model, crPart part, const crState* state, crDynamics* d);
crStatus cr__part_mass_factor(const crModel* model, crPart part, double h, crDynamics* d);
void cr__part_mass_solve(const crModel* model, crPart part, const crDynamics* d, double* x);
// Of trees: v from D^1/2 L v.
void cr__part_half_solve(const crModel* model, crPart part, const crDynamics* d, double* x);
void cr__part_mass_mul(const crModel* model, crPart part, const crDynamics* d, const double* x, double* y);
double cr__part_kinetic(const crModel* model, crPart part, const double* v, crDynamics* d);  // writes twist
// Energy of the bodies of a part and their joints at the poses of d; writes twist.
crEnergy cr__part_energy(const crModel* model, crPart part, const crState* state, crDynamics* d);
// Energy of one body and its joint, after cr_model_velocity; *size (or NULL) is the sum of the sizes of its terms, J.
crEnergy cr__body_energy(const crModel* model, int body, const crState* state, const crDynamics* d,
                         double* size);
void cr__part_velocity(const crModel* model, crPart part, const double* v, crDynamics* d);
// c: the share of velocity terms in k = tau - c, of bodies that are not single; may be NULL.
void cr__part_forces(const crModel* model, crPart part, const crState* state, crDynamics* d, double* k,
                     double* c);
void cr__part_smooth_velocity(const crModel* model, crPart part, const crState* state, const double* k,
                              double h, crDynamics* d, double* v_free);
void cr__part_integrate(const crModel* model, crPart part, double h, crState* state);  // time stays
void cr__single_integrate(const crBody* body, double h, double* q, double* v);         // its own q and v
// (dS/dt) v of the joint of a body, and where it is the first of a tree what its driven base gives; after
// cr_model_velocity.
crTwist cr__joint_rate(const crModel* model, int body, const double* v, const crDynamics* d);
// Rows of a part's limits within the margin, motors and dry friction, as cr_rows_add_joints has them; and of limits alone.
int cr__part_add_joints(const crModel* model, crPart part, const crState* state, double margin, int capacity,
                        crJointRow* info, crRows* rows);
int cr__part_add_limits(const crModel* model, crPart part, const crState* state, double margin, int capacity,
                        crJointRow* info, crRows* rows);

// flow.c: one tree that stands on nothing driven

// Work, as long as q and v up to the tree's last.
typedef struct crFlowWork {
    double *c, *k, *y;
    double *q, *v;
} crFlowWork;
// T of v by M of the last factor; y becomes M v.
double cr__tree_energy(const crModel* model, crPart tree, const crDynamics* d, const double* v, double* y);
// v, whose energy is T, scaled to that of `want`; to less where that is far.
void cr__tree_scale(const crModel* model, crPart tree, double want, double T, double* v);
// q and v over h with no force but the joints' own, from kinematics and factor at q to those at the new q;
// work holds c and k = tau - c of the end. CR_ERR_DEFINITE.
crStatus cr__tree_flow(const crModel* model, crPart tree, double h, crState* state, crDynamics* d,
                       crFlowWork work);

// z = D^1/2 L v at the velocities of body b of a tree (nv of it), after those above it: rows of H over z are those of
// J over v.
void cr__half_velocities(const crModel* model, const crDynamics* d, int b, const double* v, double* z);

// Does v move the body?
static inline bool cr__moves(const crModel* model, int body) { return model->top[body] >= 0; }

static inline crQuat cr__load_quat(const double* q) { return (crQuat){q[0], q[1], q[2], q[3]}; }
static inline void cr__store_quat(crQuat a, double* q) {
    q[0] = a.w;
    q[1] = a.x;
    q[2] = a.y;
    q[3] = a.z;
}
static inline crVec3 cr__load_vec(const double* x) { return cr_vec3(x[0], x[1], x[2]); }
static inline bool cr__centred(const crBody* body) {
    return body->com.x == 0.0 && body->com.y == 0.0 && body->com.z == 0.0;
}

// whether all of them are numbers: 0 x is 0 for nothing else
static inline bool cr__finite(const double* x, int count) {
    double even = 0.0, odd = 0.0;
    for (int i = 0; i + 1 < count; i += 2) {
        even += 0.0 * x[i];
        odd += 0.0 * x[i + 1];
    }
    if (count % 2 > 0) even += 0.0 * x[count - 1];
    return even == 0.0 && odd == 0.0;
}

static inline void cr__store_vec(crVec3 a, double* x) {
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

// Finite, with a quaternion of length 1 to 1e-6 (which is then made exact).
crStatus cr__pose_check(crPose* pose, const char* field, crError* error);

// Mass and what follows from it.
void cr__body_set_mass(crBody* body, const crMass* mass);

// q moved by the velocities v for h, each joint by its own constant motion; time and v stay.
void cr__advance(const crModel* model, double h, const double* v, double* q);
void cr__part_advance(const crModel* model, crPart part, double h, const double* v, double* q);

// cr_model_meet, loops left out: who asks often has them by body.
bool cr__meet_but_for_loops(const crModel* model, int shape_a, int shape_b);

// Velocity field of v_j = 1. Single bodies behind all trees have the same six axes, those of the world, which are kept once.
static inline crTwist cr__dof_axis(const crDynamics* d, int j) {
    return d->axis[j < d->tree_nv ? j : d->tree_nv + (j - d->tree_nv) % 6];
}
// Velocity field of a body from driven bodies; single bodies behind all trees have none.
static inline crTwist cr__given(const crDynamics* d, int body) {
    return body < d->tree_nb ? d->given[body] : (crTwist){0};
}
// Velocity of a body's world point, after cr_model_velocity.
static inline crVec3 cr__point_velocity(const crDynamics* d, int body, crVec3 point) {
    return cr__twist_at(d->twist[body], cr_sub(point, d->origin[body]));
}

// Whether arguments are there and of one model.
static inline bool cr__dynamics_fits(const crModel* model, const crDynamics* d) {
    return model != NULL && d != NULL && d->nb == model->nb;
}
static inline bool cr__state_fits(const crModel* model, const crState* s) {
    if (model == NULL || s == NULL) return false;
    bool velocities = s->v != NULL && s->force != NULL && s->motor_speed != NULL;
    bool controls = (model->nu == 0 || s->ctrl != NULL) && (model->na == 0 || s->act != NULL);
    return controls && (model->nq == 0 || s->q != NULL) && (model->nv == 0 || velocities);
}
static inline bool cr__shape_exists(const crModel* model, int shape) {
    return shape >= 0 && shape < model->shape_count;
}

// Makes the quaternions of q (nq) unit, as cr_state_check does.
void cr__state_unit(const crModel* model, double* q);
struct crTasks;
// cr_state_check by several threads. Some quaternions may be unit where it fails.
crStatus cr__state_check(struct crTasks* tasks, const crModel* model, crState* state, crError* error);
// cr_state_check that changes nothing: quaternions stay as they are.
crStatus cr__state_check_values(const crModel* model, const crState* state, crError* error);

#endif
