// sense.c - what sensors read: kinematics, accelerations, forces between bodies, rays.
//
// A body's velocity field has the rate A = A_parent + (dS/dt) v + S a about the tree's reference point (world axes,
// forces.c); a point at r from it accelerates by A_v + A_omega x r + omega x (v + omega x r). The force of a parent
// on a body is what all it carries need beyond gravity and drag, by Newton and Euler body by body.
// Noise: sum of 12 uniform numbers less 6, of unit variance, by a hash of seed, sensor, place and time.
// Fails: CR_ERR_DEFINITE from the factor of M.
#include "model/sense.h"

#include <string.h>

#include "base/argument.h"
#include "base/bytes.h"
#include "model/pull.h"

bool cr__carried_by(const crModel* model, int body, int top) {
    while (body > top) {
        body = model->bodies[body].parent;
    }
    return body == top;
}

// rate of a body's velocity field when v changes by a; NULL: when v stays
static crTwist rate_of(const crModel* model, int body, const double* v, const double* a,
                       const crDynamics* d) {
    crTwist sum = {0};
    for (int i = body; cr__moves(model, i); i = model->bodies[i].parent) {
        const crBody* b = &model->bodies[i];
        sum = cr__twist_add(sum, cr__joint_rate(model, i, v, d));
        for (int j = b->v; j < b->v + b->nv && a != NULL; j++) {
            sum = cr__twist_madd(sum, a[j], cr__dof_axis(d, j));
        }
    }
    return sum;
}

// acceleration of a point of a body
static crVec3 acceleration_at(crTwist rate, crTwist twist, crVec3 r) {
    crVec3 a = cr_add(rate.v, cr_cross(rate.omega, r));
    return cr_add(a, cr_cross(twist.omega, cr__twist_at(twist, r)));
}

static void sense_acceleration(const crModel* model, const crState* state, const crDynamics* d,
                               const double* a, int site, double* out) {
    int body = model->sites[site].body;
    crPose pose = cr__site_pose(model, d, site);
    crTwist rate = rate_of(model, body, state->v, a, d);
    crVec3 world = acceleration_at(rate, d->twist[body], cr_sub(pose.p, d->origin[body]));
    cr__store_vec(cr_quat_rotate(cr_quat_conj(pose.q), cr_sub(world, model->gravity)), out);
}

void cr__sense_wrench(const crSensor* sensor, crPose site, crVec3 force, crVec3 moment, double* out) {
    crVec3 x = sensor->kind == CR_SENSOR_FORCE ? force : moment;
    cr__store_vec(cr_quat_rotate(cr_quat_conj(site.q), x), out);
}

// What a body needs to move as it does: acceleration of its centre less gravity, and moment about it.
typedef struct Need {
    crVec3 acceleration, moment;
} Need;

static Need need_of(const crModel* model, int i, const double* v, const double* a, const crDynamics* d) {
    crTwist rate = rate_of(model, i, v, a, d);
    crVec3 omega = d->twist[i].omega,
           at = acceleration_at(rate, d->twist[i], cr_sub(d->com[i], d->origin[i]));
    crVec3 gyro = cr_cross(omega, cr_sym3_mul(d->inertia[i], omega));
    return (Need){cr_sub(at, cr_scale(model->bodies[i].gravity_scale, model->gravity)),
                  cr_add(cr_sym3_mul(d->inertia[i], rate.omega), gyro)};
}

// force and moment about the site of the parent on the site's body
static void sense_wrench(const crModel* model, const crState* state, const crDynamics* d, const double* a,
                         const crSensor* sensor, double* out) {
    crPose site = cr__site_pose(model, d, sensor->object);
    int top = model->sites[sensor->object].body;
    crVec3 force = cr_vec3(0, 0, 0), moment = force;
    for (int i = top; i < model->nb && top > 0; i++) {
        const crBody* body = &model->bodies[i];
        if (!cr__carried_by(model, i, top)) continue;
        Need need = need_of(model, i, state->v, a, d);
        crVec3 u = cr__point_velocity(d, i, d->com[i]);
        crVec3 f = cr_madd(cr_scale(body->mass, need.acceleration), body->linear_drag, u);
        force = cr_add(force, f);
        moment = cr_add(moment, cr_madd(need.moment, body->angular_drag, d->twist[i].omega));
        moment = cr_add(moment, cr_cross(cr_sub(d->com[i], site.p), f));
    }
    cr__sense_wrench(sensor, site, force, moment, out);
}

static double sense_range(const crModel* model, const crDynamics* d, const crSensor* sensor) {
    crPose site = cr__site_pose(model, d, sensor->object);
    crVec3 z = cr_quat_rotate(site.q, cr_vec3(0, 0, 1));
    double nearest = sensor->cutoff > 0.0 ? sensor->cutoff : 1e10;
    bool found = false;
    for (int s = 0; s < model->shape_count; s++) {
        crRayHit hit;
        int body = model->shapes[s].body;
        if (body == model->sites[sensor->object].body) continue;
        if (!cr_ray(&model->shapes[s].shape, d->pose[body], site.p, z, nearest, &hit)) continue;
        nearest = hit.t;
        found = true;
    }
    return found ? nearest : -1.0;
}

static void sense_joint(const crModel* model, const crState* state, const crSensor* s, double* out) {
    const crBody* body = &model->bodies[s->object];
    const double* from = s->kind == CR_SENSOR_JOINT_POSITION ? state->q + body->q : state->v + body->v;
    memcpy(out, from, (size_t)s->count * sizeof *out);
}

// what all actuators give along a velocity
static double sense_joint_force(const crModel* model, const crState* state, const crDynamics* d, int dof) {
    double sum = cr__dof_actuation(model, d, state->q, state->v, dof);
    for (int i = 0; i < model->nu; i++) {
        if (model->actuators[i].transmission == CR_ALONG_JOINTS) continue;
        int line = cr__actuator_line(model, i);
        double l = cr__line_length(model, d, line), rate = cr__line_rate(model, d, line, state->v);
        crActuation x = cr__line_actuation(model, state, line, l, rate);
        sum += cr__line_entry(model, d, line, dof) * (x.force - x.stiffness * l - x.damping * rate);
    }
    return sum;
}

// of an actuator or a tendon
static double sense_length(const crModel* model, const crState* state, const crDynamics* d,
                           const crSensor* s) {
    bool tendon = s->kind == CR_SENSOR_TENDON_POSITION || s->kind == CR_SENSOR_TENDON_VELOCITY;
    int line = tendon ? s->object : cr__actuator_line(model, s->object);
    double l = cr__line_length(model, d, line), rate = cr__line_rate(model, d, line, state->v);
    if (s->kind == CR_SENSOR_ACTUATOR_POSITION || s->kind == CR_SENSOR_TENDON_POSITION) return l;
    if (s->kind == CR_SENSOR_ACTUATOR_VELOCITY || s->kind == CR_SENSOR_TENDON_VELOCITY) return rate;
    crActuation x = cr__line_actuation(model, state, line, l, rate);
    return x.force - x.stiffness * l - x.damping * rate;
}

static void sense_frame(const crModel* model, const crDynamics* d, const crSensor* s, double* out) {
    crPose site = cr__site_pose(model, d, s->object);
    int body = model->sites[s->object].body;
    crVec3 v = cr__point_velocity(d, body, site.p), omega = d->twist[body].omega;
    crQuat back = cr_quat_conj(site.q);
    if (s->kind == CR_SENSOR_POSITION) cr__store_vec(site.p, out);
    if (s->kind == CR_SENSOR_ORIENTATION) cr__store_quat(cr_quat_normalize(site.q), out);
    if (s->kind == CR_SENSOR_VELOCITY) cr__store_vec(v, out);
    if (s->kind == CR_SENSOR_ANGULAR_VELOCITY) cr__store_vec(omega, out);
    if (s->kind == CR_SENSOR_VELOCIMETER) cr__store_vec(cr_quat_rotate(back, v), out);
    if (s->kind == CR_SENSOR_GYRO) cr__store_vec(cr_quat_rotate(back, omega), out);
}

void cr__sense(const crModel* model, const crState* state, const crDynamics* d, const double* a,
               double* out) {
    for (int i = 0; i < model->sensor_count; i++) {
        const crSensor* s = &model->sensors[i];
        double* to = out + s->first;
        switch (s->kind) {
        case CR_SENSOR_JOINT_POSITION:
        case CR_SENSOR_JOINT_VELOCITY:
            sense_joint(model, state, s, to);
            break;
        case CR_SENSOR_JOINT_FORCE:
            for (int k = 0; k < s->count; k++) {
                to[k] = sense_joint_force(model, state, d, model->bodies[s->object].v + k);
            }
            break;
        case CR_SENSOR_ACTUATOR_POSITION:
        case CR_SENSOR_ACTUATOR_VELOCITY:
        case CR_SENSOR_ACTUATOR_FORCE:
        case CR_SENSOR_TENDON_POSITION:
        case CR_SENSOR_TENDON_VELOCITY:
            *to = sense_length(model, state, d, s);
            break;
        case CR_SENSOR_ACCELEROMETER:
            sense_acceleration(model, state, d, a, s->object, to);
            break;
        case CR_SENSOR_FORCE:
        case CR_SENSOR_TORQUE:
            sense_wrench(model, state, d, a, s, to);
            break;
        case CR_SENSOR_TOUCH:
            *to = 0.0;
            break;
        case CR_SENSOR_RANGE:
            *to = sense_range(model, d, s);
            break;
        case CR_SENSOR_ENERGY: {
            crEnergy energy = cr_model_energy(model, state, d);
            to[0] = energy.kinetic;
            to[1] = energy.potential;
            break;
        }
        default:
            sense_frame(model, d, s, to);
        }
    }
}

// a number of mean 0 and variance 1
static double normal(uint64_t seed, int sensor, int place, double time) {
    double sum = -6.0;
    for (int k = 0; k < 12; k++) {
        crBytes bytes = {NULL, CR_HASH_SEED};
        cr__put_u64(&bytes, seed);
        cr__put_int(&bytes, sensor);
        cr__put_int(&bytes, place);
        cr__put_int(&bytes, k);
        cr__put_double(&bytes, time);
        // the hash's low bits are its best mixed; a last multiplication spreads them (splitmix64)
        uint64_t x = bytes.hash;
        x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
        sum += (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
    }
    return sum;
}

void cr__sense_noise(const crModel* model, double time, double* out) {
    for (int i = 0; i < model->sensor_count; i++) {
        const crSensor* s = &model->sensors[i];
        for (int k = 0; k < s->count && s->noise > 0.0; k++) {
            out[s->first + k] += s->noise * normal(s->seed, i, k, time);
        }
    }
}

// k of cr_model_forces with the gyroscopic moments of single bodies, which it leaves out
static void total_forces(const crModel* model, const crState* state, crDynamics* d, double* k) {
    cr_model_forces(model, state, d, k);
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (!body->single) continue;
        crVec3 omega = cr__load_vec(state->v + body->v + 3);
        crVec3 gyro = cr_cross(omega, cr_sym3_mul(d->inertia[i], omega));
        cr__store_vec(cr_sub(cr__load_vec(k + body->v + 3), gyro), k + body->v + 3);
    }
}

crStatus cr_model_acceleration(const crModel* model, const crState* state, crDynamics* d, double* a) {
    if (!cr__dynamics_fits(model, d) || !cr__state_fits(model, state)) return CR_ERR_ARGUMENT;
    if (a == NULL && model->nv > 0) return CR_ERR_ARGUMENT;
    cr_model_kinematics(model, state, d);
    crStatus status = cr_model_mass_factor(model, 0.0, d);
    if (status != CR_OK) return status;
    total_forces(model, state, d, a);
    cr_model_mass_solve(model, d, a);
    return CR_OK;
}

crStatus cr_model_inverse_dynamics(const crModel* model, const crState* state, const double* acceleration,
                                   crDynamics* d, double* force) {
    if (!cr__dynamics_fits(model, d) || !cr__state_fits(model, state)) return CR_ERR_ARGUMENT;
    if ((acceleration == NULL || force == NULL) && model->nv > 0) return CR_ERR_ARGUMENT;
    cr_model_kinematics(model, state, d);
    crStatus status = cr_model_mass_factor(model, 0.0, d);
    if (status != CR_OK) return status;
    total_forces(model, state, d, force);
    cr_model_mass_mul(model, d, acceleration, d->scratch.v);
    for (int i = 0; i < model->nv; i++) {
        double own = state->force[i] + cr__dof_actuation(model, d, state->q, state->v, i);
        force[i] = d->scratch.v[i] - force[i] + own;
    }
    cr__lines_add(model, state, d, model->tendon_count, force);
    return CR_OK;
}

crStatus cr_model_bias(const crModel* model, const crState* state, crDynamics* d, double* bias) {
    if (!cr__dynamics_fits(model, d) || !cr__state_fits(model, state)) return CR_ERR_ARGUMENT;
    if (bias == NULL && model->nv > 0) return CR_ERR_ARGUMENT;
    cr_model_kinematics(model, state, d);
    cr_model_velocity(model, state->v, d);
    if (model->nv > 0) memset(bias, 0, (size_t)model->nv * sizeof *bias);
    for (int i = 1; i < model->nb; i++) {
        if (!cr__moves(model, i)) continue;
        const crBody* body = &model->bodies[i];
        Need need = need_of(model, i, state->v, NULL, d);
        crVec3 f = cr_scale(body->mass, need.acceleration);
        cr_model_add_force(model, d, i, d->com[i], f, need.moment, bias);
    }
    return CR_OK;
}

crStatus cr_model_jacobian(const crModel* model, const crDynamics* d, int body, crVec3 point, double* linear,
                           double* angular) {
    if (!cr__dynamics_fits(model, d) || body < 0 || body >= model->nb) return CR_ERR_ARGUMENT;
    crVec3 r = cr_sub(point, d->origin[body]);
    int nv = model->nv;
    double* const to[2] = {linear, angular};
    for (int k = 0; k < 2; k++) {
        if (to[k] != NULL && nv > 0) memset(to[k], 0, 3 * (size_t)nv * sizeof(double));
    }
    for (int j = model->bodies[body].last; j >= 0; j = model->velocity.parent[j]) {
        crVec3 column[2] = {cr__twist_at(cr__dof_axis(d, j), r), cr__dof_axis(d, j).omega};
        for (int k = 0; k < 2; k++) {
            if (to[k] == NULL) continue;
            to[k][j] = column[k].x;
            to[k][nv + j] = column[k].y;
            to[k][2 * nv + j] = column[k].z;
        }
    }
    return CR_OK;
}

crStatus cr_model_sense(const crModel* model, const crState* state, crDynamics* d, double* out) {
    if (!cr__dynamics_fits(model, d) || !cr__state_fits(model, state)) return CR_ERR_ARGUMENT;
    if (out == NULL && model->nsensor > 0) return CR_ERR_ARGUMENT;
    crStatus status = cr_model_acceleration(model, state, d, d->scratch.v);
    if (status != CR_OK) return status;
    cr__sense(model, state, d, d->scratch.v, out);
    cr__sense_noise(model, state->time, out);
    return CR_OK;
}
