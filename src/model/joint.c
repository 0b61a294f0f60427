// joint.c - the table of joints: one row for each kind, and the functions of its row.
//
// An axis a through the point x gives the field (omega, v) = (a, a x (o - x)) about the point o; a slide gives (0, a).
// A quaternion q with angular velocity omega in the axes it maps to has rate (0, omega) q / 2; the position of a free
// body is that of its origin, whose velocity is v_com - omega x (R com). Fails: nothing.
#include "model/joint.h"

const crJointInfo* cr_joint_info(crJoint joint) {
    return (unsigned)joint < CR_JOINT_KINDS ? &cr__joints[joint].info : NULL;
}

static crTwist axis_through(crVec3 a, crVec3 through, crVec3 reference) {
    return cr__twist(a, cr_cross(a, cr_sub(reference, through)));
}

// about an axis of length one
static crQuat turned_by(crVec3 axis, double angle) {
    double s, c;
    cr_sincos(0.5 * angle, &s, &c);
    return (crQuat){c, s * axis.x, s * axis.y, s * axis.z};
}

static crPose fixed_pose(const crBody* body, const double* q) {
    (void)body;
    (void)q;
    return cr_pose_identity();
}

static void no_axes(const crBody* body, const crPose* pose, crQuat parent, crVec3 o, crTwist* axis) {
    (void)body;
    (void)pose;
    (void)parent;
    (void)o;
    (void)axis;
}

static crPose hinge_pose(const crBody* body, const double* q) {
    return (crPose){cr_vec3(0, 0, 0), turned_by(body->axis, q[0])};
}

static void hinge_axes(const crBody* body, const crPose* pose, crQuat parent, crVec3 o, crTwist* axis) {
    (void)parent;
    axis[0] = axis_through(cr_quat_rotate(pose->q, body->axis), pose->p, o);
}

static crPose slider_pose(const crBody* body, const double* q) {
    return (crPose){cr_scale(q[0], body->axis), cr_quat_identity()};
}

static void slider_axes(const crBody* body, const crPose* pose, crQuat parent, crVec3 o, crTwist* axis) {
    (void)parent;
    (void)o;
    axis[0] = cr__twist(cr_vec3(0, 0, 0), cr_quat_rotate(pose->q, body->axis));
}

static crPose planar_pose(const crBody* body, const double* q) {
    (void)body;
    return (crPose){cr_vec3(q[0], q[1], 0.0), turned_by(cr_vec3(0, 0, 1), q[2])};
}

static void planar_axes(const crBody* body, const crPose* pose, crQuat parent, crVec3 o, crTwist* axis) {
    crMat3 F = cr_quat_matrix(cr_quat_mul(parent, body->pose.q));
    axis[0] = cr__twist(cr_vec3(0, 0, 0), cr_mat3_column(F, 0));
    axis[1] = cr__twist(cr_vec3(0, 0, 0), cr_mat3_column(F, 1));
    axis[2] = axis_through(cr_mat3_column(F, 2), pose->p, o);
}

static crPose ball_pose(const crBody* body, const double* q) {
    (void)body;
    return (crPose){cr_vec3(0, 0, 0), cr__load_quat(q)};
}

static void ball_axes(const crBody* body, const crPose* pose, crQuat parent, crVec3 o, crTwist* axis) {
    crMat3 F = cr_quat_matrix(cr_quat_mul(parent, body->pose.q));
    for (int j = 0; j < 3; j++) {
        axis[j] = axis_through(cr_mat3_column(F, j), pose->p, o);
    }
}

crQuat cr__joint_turn(double h, const double* omega, crQuat q) {
    // what does not turn keeps its bits
    if (omega[0] == 0.0 && omega[1] == 0.0 && omega[2] == 0.0) return q;
    return cr_quat_normalize(cr_quat_mul(cr__rotation_exp(cr_scale(h, cr__load_vec(omega))), q));
}

void cr__joint_fly(const crBody* body, double h, const double* v, crQuat after, double* q) {
    crQuat before = cr__load_quat(q + 3);
    crVec3 p = cr_madd(cr__load_vec(q), h, cr__load_vec(v));
    crVec3 arm = cr_vec3(0, 0, 0);
    // the origin follows from the new orientation
    if (!cr__centred(body)) {
        arm = cr_sub(cr_quat_rotate(before, body->com), cr_quat_rotate(after, body->com));
    }
    cr__store_vec(cr_add(p, arm), q);
    cr__store_quat(after, q + 3);
}

static void integrate_ball(const crBody* body, double h, const double* v, double* q) {
    (void)body;
    cr__store_quat(cr__joint_turn(h, v, cr__load_quat(q)), q);
}

static void integrate_free(const crBody* body, double h, const double* v, double* q) {
    cr__joint_fly(body, h, v, cr__joint_turn(h, v + 3, cr__load_quat(q + 3)), q);
}

static void quat_rate(const double* q, const double* omega, double* rate) {
    crQuat w = {0.0, 0.5 * omega[0], 0.5 * omega[1], 0.5 * omega[2]};
    cr__store_quat(cr_quat_mul(w, cr__load_quat(q)), rate);
}

static void ball_rate(const crBody* body, const double* q, const double* v, double* rate) {
    (void)body;
    quat_rate(q, v, rate);
}

static void free_rate(const crBody* body, const double* q, const double* v, double* rate) {
    crVec3 arm = cr_quat_rotate(cr__load_quat(q + 3), body->com);
    cr__store_vec(cr_sub(cr__load_vec(v), cr_cross(cr__load_vec(v + 3), arm)), rate);
    quat_rate(q + 3, v + 3, rate + 3);
}

static crVec3 ball_log(const double* q) { return cr__rotation_log(cr__load_quat(q)); }

const cr__JointKind cr__joints[CR_JOINT_KINDS] = {
    [CR_JOINT_FIXED] = {.info = {.name = "fixed", .quaternion = -1}, .pose = fixed_pose, .axes = no_axes},
    [CR_JOINT_HINGE] = {.info = {.name = "hinge",
                                 .nq = 1,
                                 .nv = 1,
                                 .quaternion = -1,
                                 .axis = true,
                                 .coordinate = "angle",
                                 .rate = "omega",
                                 .unit = "rad"},
                        .pose = hinge_pose,
                        .axes = hinge_axes},
    [CR_JOINT_SLIDER] = {.info = {.name = "slider",
                                  .nq = 1,
                                  .nv = 1,
                                  .quaternion = -1,
                                  .axis = true,
                                  .coordinate = "shift",
                                  .rate = "vel",
                                  .unit = "m"},
                         .pose = slider_pose,
                         .axes = slider_axes},
    [CR_JOINT_PLANAR] = {.info = {.name = "planar", .nq = 3, .nv = 3, .quaternion = -1},
                         .own = 1,
                         .pose = planar_pose,
                         .axes = planar_axes},
    [CR_JOINT_BALL] = {.info = {.name = "ball", .nq = 4, .nv = 3, .quaternion = 0},
                       .pose = ball_pose,
                       .axes = ball_axes,
                       .integrate = integrate_ball,
                       .rate = ball_rate,
                       .log = ball_log},
    // its axes are those of the world and its pose is q: kinematics.c
    [CR_JOINT_FREE] = {.info = {.name = "free", .nq = 7, .nv = 6, .quaternion = 3},
                       .rooted = true,
                       .axes = no_axes,
                       .integrate = integrate_free,
                       .rate = free_rate},
    [CR_JOINT_DRIVEN] = {.info = {.name = "driven", .quaternion = -1}, .rooted = true, .axes = no_axes},
};
