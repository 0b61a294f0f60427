// forces.c - k: everything that accelerates v without contacts; and the step of v under it.
//
// With velocities v and no acceleration of them, each body accelerates by a_i = a_parent + (dS/dt) v and
// needs the wrench I a + v x* I v; c is what these do along each axis, k what the loads do, less c
// (recursive Newton-Euler, Featherstone 2008, 5.3). Hinge, slider and ball axes are carried by the parent, a
// planar joint's turn by the body; a free body's axes are fixed in the world but for the point they pass
// through. Fails: nothing.
#include "model/actuate.h"
#include "model/joint.h"
#include "model/pull.h"
#include "model/single.h"

// acceleration of the body's reference point that comes from its driven base, as a rate of the velocity field
static crTwist base_rate(const crModel* model, int i, const crDynamics* d) {
    int base = model->bodies[i].base;
    const crDriven* b = &d->driven[base];
    crVec3 arm = cr_sub(d->origin[i], d->pose[base].p);
    crVec3 at =
        cr_add(b->acceleration, cr_add(cr_cross(b->alpha, arm), cr_cross(b->omega, cr_cross(b->omega, arm))));
    return cr__twist(b->alpha, cr_sub(at, cr_cross(b->omega, cr__given(d, i).v)));
}

// (dS/dt) v of the joint of body i
static crTwist axis_rate(const crModel* model, int i, const double* v, const crDynamics* d) {
    const crBody* body = &model->bodies[i];
    int parent = body->parent;
    const double* bv = v + body->v;
    if (body->joint == CR_JOINT_FREE) {
        return cr__twist(cr_vec3(0, 0, 0), cr_cross(cr__load_vec(bv), cr__load_vec(bv + 3)));
    }
    crTwist above = cr__moves(model, parent) ? d->twist[parent] : d->given[i], carried = {0};
    int count = body->nv - cr__joint(body)->own;
    for (int j = 0; j < count; j++) {
        carried = cr__twist_madd(carried, bv[j], d->axis[body->v + j]);
    }
    crTwist rate = cr__twist_cross(above, carried);
    for (int j = count; j < body->nv; j++) {
        rate = cr__twist_madd(rate, bv[j], cr__twist_cross(d->twist[i], d->axis[body->v + j]));
    }
    return rate;
}

crTwist cr__joint_rate(const crModel* model, int i, const double* v, const crDynamics* d) {
    const crBody* body = &model->bodies[i];
    crTwist rate = axis_rate(model, i, v, d);
    bool first = !cr__moves(model, body->parent) && body->base != CR_WORLD;
    return first ? cr__twist_add(rate, base_rate(model, i, d)) : rate;
}

// gravity and drag about the reference point
static crTwist load(const crModel* model, int i, const crDynamics* d) {
    const crBody* body = &model->bodies[i];
    if (!(body->mass > 0.0) && body->linear_drag == 0.0 && body->angular_drag == 0.0) return (crTwist){0};
    crVec3 arm = cr_sub(d->com[i], d->origin[i]);
    crVec3 force = cr_scale(body->mass * body->gravity_scale, model->gravity);
    force = cr_madd(force, -body->linear_drag, cr__twist_at(d->twist[i], arm));
    crVec3 moment = cr_scale(-body->angular_drag, d->twist[i].omega);
    return cr__twist(cr_add(moment, cr_cross(arm, force)), force);
}

// the wrench that body i needs beyond its loads
static crTwist required(const crModel* model, int i, const crDynamics* d) {
    if (!(model->bodies[i].mass > 0.0)) return (crTwist){0};
    crInertia I = cr__inertia_about(model->bodies[i].mass, d->com[i], d->inertia[i], d->origin[i]);
    crTwist momentum = cr__inertia_mul(&I, d->twist[i]);
    return cr__twist_add(cr__inertia_mul(&I, d->scratch.rate[i]), cr__wrench_cross(d->twist[i], momentum));
}

// moment of a ball joint's springs: minus the gradient of sum K_j phi_j^2 / 2 over rotations of phi
static crVec3 ball_spring(const crDof* dof, const double* q) {
    crVec3 phi = cr__rotation_log(cr__load_quat(q));
    crVec3 g = cr_vec3(dof[0].stiffness * phi.x, dof[1].stiffness * phi.y, dof[2].stiffness * phi.z);
    // inverse of the derivative of exp, transposed: 1 + [phi]/2 + c [phi]^2, c = (1 - (a/2) cot(a/2)) / a^2
    double a2 = cr_dot(phi, phi);
    double c = 1.0 / 12.0 + a2 * (1.0 / 720.0 + a2 / 30240.0);
    if (a2 > 1e-3) {
        double half = 0.5 * sqrt(a2), s, cosine;
        cr_sincos(half, &s, &cosine);
        c = (1.0 - half * cosine / s) / a2;
    }
    crVec3 once = cr_cross(phi, g);
    return cr_neg(cr_add(cr_madd(g, 0.5, once), cr_scale(c, cr_cross(phi, once))));
}

// Adds the force of a ball's springs to k.
static void add_ball_springs(const crModel* model, const crBody* body, const crState* state, double* k) {
    const crDof* axes = cr_model_dof(model, body->v);
    bool sprung = axes[0].stiffness > 0.0 || axes[1].stiffness > 0.0 || axes[2].stiffness > 0.0;
    if (!sprung) return;
    crVec3 spring = ball_spring(axes, state->q + body->q);
    cr__store_vec(cr_add(cr__load_vec(k + body->v), spring), k + body->v);
}

static void add_joint_forces(const crModel* model, crPart part, const crState* state, const crDynamics* d,
                             double* k) {
    for (int n = 0; n < part.count; n++) {
        int i = cr__part_body(part, n);
        const crBody* body = &model->bodies[i];
        // no springs, no dampers, no actuators
        for (int j = body->v; j < body->v + 6 && body->single && model->nu == 0; j++) {
            k[j] += state->force[j];
        }
        if (body->single && model->nu == 0) continue;
        if (cr__joint(body)->log != NULL) add_ball_springs(model, body, state, k);
        for (int j = 0; j < body->nv; j++) {
            int at = body->v + j;
            if (model->nu > 0) k[at] += cr__dof_actuation(model, d, state->q, state->v, at);
            if (body->single) {
                // no springs, no dampers
                k[at] += state->force[at];
                continue;
            }
            const crDof* dof = cr_model_dof(model, at);
            k[at] += state->force[at] - dof->damping * state->v[at];
            if (body->nq != body->nv) continue;
            k[at] -= dof->stiffness * (state->q[body->q + j] - dof->rest);
        }
    }
}

void cr__part_forces(const crModel* model, crPart part, const crState* state, crDynamics* d, double* k,
                     double* c) {
    cr__part_velocity(model, part, state->v, d);
    for (int n = 0; n < part.count; n++) {
        int i = cr__part_body(part, n);
        const crBody* body = &model->bodies[i];
        if (body->last < 0) continue;
        if (body->single) {
            cr__single_forces(body, model->gravity, state->v + body->v, k + body->v);
            continue;
        }
        bool carried = cr__moves(model, body->parent);
        crTwist rate = carried ? d->scratch.rate[body->parent] : base_rate(model, i, d);
        d->scratch.rate[i] = cr__twist_add(rate, axis_rate(model, i, state->v, d));
        d->scratch.wrench[i] = required(model, i, d);
        d->scratch.load[i] = load(model, i, d);
    }
    for (int n = part.count - 1; n >= 0; n--) {
        int i = cr__part_body(part, n);
        const crBody* body = &model->bodies[i];
        if (body->last < 0 || body->single) continue;
        for (int j = body->v; j < body->v + body->nv; j++) {
            double bias = cr__twist_dot(d->axis[j], d->scratch.wrench[i]);
            k[j] = cr__twist_dot(d->axis[j], d->scratch.load[i]) - bias;
            if (c != NULL) c[j] = bias;
        }
        int parent = body->parent;
        if (!cr__moves(model, parent)) continue;
        d->scratch.wrench[parent] = cr__twist_add(d->scratch.wrench[parent], d->scratch.wrench[i]);
        d->scratch.load[parent] = cr__twist_add(d->scratch.load[parent], d->scratch.load[i]);
    }
    add_joint_forces(model, part, state, d, k);
}

void cr_model_forces(const crModel* model, const crState* state, crDynamics* d, double* k) {
    if (!cr__dynamics_fits(model, d) || !cr__state_fits(model, state) || k == NULL) return;
    cr_model_actuate(model, state, d);
    cr__part_forces(model, cr__all(model), state, d, k, NULL);
    cr__lines_add(model, state, d, 0, k);
}

void cr__part_smooth_velocity(const crModel* model, crPart part, const crState* state, const double* k,
                              double h, crDynamics* d, double* v_free) {
    // (M + h B + h^2 K)(v_free - v) = h (k - h K v), B and K the dampers and springs of joints and
    // actuators
    bool trees = false;
    for (int n = 0; n < part.count; n++) {
        int b = cr__part_body(part, n);
        const crBody* body = &model->bodies[b];
        double* x = d->scratch.v + body->v;
        if (body->single) {
            for (int j = 0; j < 6; j++) {
                x[j] = h * k[body->v + j];
            }
            cr__single_solve(body, &d->inverse[b], x);
            for (int j = 0; j < 6; j++) {
                v_free[body->v + j] = state->v[body->v + j] + x[j];
            }
            continue;
        }
        trees = true;
        for (int i = body->v; i < body->v + body->nv; i++) {
            double rate = d->mass.h > 0.0 ? cr__dof_spring_rate(model, d, state->v, i) : 0.0;
            d->scratch.v[i] = h * (k[i] - h * rate);
        }
    }
    if (!trees) return;
    cr__part_mass_solve(model, part, d, d->scratch.v);
    for (int n = 0; n < part.count; n++) {
        const crBody* body = &model->bodies[cr__part_body(part, n)];
        for (int i = body->v; i < body->v + body->nv && !body->single; i++) {
            v_free[i] = state->v[i] + d->scratch.v[i];
        }
    }
}

void cr_model_smooth_velocity(const crModel* model, const crState* state, const double* k, double h,
                              crDynamics* d, double* v_free) {
    if (!cr__dynamics_fits(model, d) || !cr__state_fits(model, state) || k == NULL || v_free == NULL) return;
    cr__part_smooth_velocity(model, cr__all(model), state, k, h, d, v_free);
}

void cr_model_add_force(const crModel* model, const crDynamics* d, int body, crVec3 point, crVec3 force,
                        crVec3 moment, double* k) {
    if (!cr__dynamics_fits(model, d) || body < 0 || body >= model->nb || k == NULL) return;
    crVec3 arm = cr_sub(point, d->origin[body]);
    crTwist wrench = cr__twist(cr_add(moment, cr_cross(arm, force)), force);
    for (int j = model->bodies[body].last; j >= 0; j = model->velocity.parent[j]) {
        k[j] += cr__twist_dot(cr__dof_axis(d, j), wrench);
    }
}

void cr_model_add_contact_drag(const crModel* model, const crDynamics* d, const crSurface* surface, int a,
                               int b, crVec3 point, crVec3 n, double N, double* k) {
    if (!cr__dynamics_fits(model, d) || surface == NULL || k == NULL || a < 0 || b < 0 || a >= model->nb ||
        b >= model->nb)
        return;
    crVec3 u = cr_sub(cr__point_velocity(d, b, point), cr__point_velocity(d, a, point));
    crVec3 slip = cr_madd(u, -cr_dot(u, n), n);
    double s = cr_norm(slip) / surface->speed_stribeck;
    double hump = 2.0 * surface->mu_stribeck / (surface->speed_stribeck * (1.0 + s * s));
    crVec3 force = cr_scale(-(surface->viscous + N * hump), slip);
    crVec3 none = cr_vec3(0, 0, 0);
    cr_model_add_force(model, d, b, point, force, none, k);
    cr_model_add_force(model, d, a, point, cr_neg(force), none, k);
}
