// audit_momentum.c - velocities v^ = v_free + M^-1 J^T P^ that the witness gives, against those of the state.
//
// The witness is summed over bodies in the order of the contacts, so that results do not depend on threads. Single
// bodies, nearly all of a heap, need no more than their mass and inverse inertia; trees, loops and joints go through
// the factor of M. A difference within rounding is none: 64 eps times the speeds and s A of the body.
#include <string.h>

#include "base/tasks.h"
#include "model/spatial.h"
#include "step/audit_contacts.h"
#include "step/step.h"

static void add_impulse(const crContactAudit* a, int body, crVec3 point, crVec3 P, crVec3 moment) {
    crAuditBody* own = &a->body[body];
    if (own->tree) {
        cr_model_add_force(a->step->model, &a->step->dynamics, body, point, P, moment, a->v);
    } else if (own->linear > 0.0) {
        own->P = cr_add(own->P, P);
        own->T = cr_add(own->T, cr_add(cr_cross(cr_sub(point, own->com), P), moment));
    }
}

// sums over bodies and islands
static void gather(crContactAudit* a) {
    const crStep* step = a->step;
    int next = 0;
    crVec3 none = cr_vec3(0, 0, 0);
    for (int i = 0; i < step->contact_count; i++) {
        const crAuditContact* c = &a->contact[i];
        if (c->hold == CR_AUDIT_OUT) continue;
        if (c->want > a->scale[c->island + 1]) a->scale[c->island + 1] = c->want;
        if (c->hold == CR_AUDIT_OPEN) continue;
        crVec3 moment = c->hold == CR_AUDIT_GENERAL ? cr__audit_general_moment(a, &a->general[next++]) : none;
        crVec3 point = step->contacts[i].point.point;
        double size = cr__audit_size1(c->P);
        a->body[c->body_a].pull += a->body[c->body_a].pliant * size;
        a->body[c->body_b].pull += a->body[c->body_b].pliant * size;
        a->energy[c->island + 1] += c->work;
        a->terms[c->island + 1] += c->terms;
        add_impulse(a, c->body_a, point, cr_neg(c->P), cr_neg(moment));
        add_impulse(a, c->body_b, point, c->P, moment);
    }
}

static crStatus finish_velocity(crStep* step, crPart part, crDynamics* d, void* ctx) {
    double* v = ctx;
    cr__part_mass_solve(step->model, part, d, v);
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &step->model->bodies[cr__part_body(part, k)];
        for (int i = body->v; i < body->v + body->nv; i++) {
            v[i] += step->free.v[i];
        }
    }
    return CR_OK;
}

// by how much velocities v and omega at the centre of mass differ, m/s, and the rounding of that
static void judge_body(const crContactAudit* a, int b, crTwist was, crTwist is, crAuditWorst* worst) {
    crAuditBody* own = &a->body[b];
    crVec3 off = cr_sub(was.v, is.v), turn = cr_sub(was.omega, is.omega);
    double size = a->step->plan->size[b], pulled = own->pliant * own->pull;
    // roots are taken only where the difference may be more than rounding, or the largest so far
    double most = cr__audit_size1(off) + size * cr__audit_size1(turn);
    worst->seen += 0.0 * most;
    if (most <= 64.0 * CR_AUDIT_EPS * pulled && most <= worst->momentum) return;
    double eta = cr_norm(off) + size * cr_norm(turn);
    double speed = cr_norm(was.v) + cr_norm(is.v) + size * (cr_norm(was.omega) + cr_norm(is.omega));
    double floor = 64.0 * CR_AUDIT_EPS * (speed + pulled),
           scale = own->island >= 0 ? a->scale[own->island + 1] : 0.0;
    worst->momentum = cr__audit_larger(worst->momentum, eta);
    if (!(eta > floor)) return;
    own->off = eta;
    cr__audit_count(eta * eta, floor, scale > 0.0 ? scale : speed, 0.0, worst);
}

static void judge_single(const crContactAudit* a, int b, crAuditWorst* worst) {
    const crStep* step = a->step;
    const crAuditBody* own = &a->body[b];
    int at = step->model->bodies[b].v;
    const double* base = (a->v != NULL ? a->v : step->free.v) + at;
    crTwist was = {cr__load_vec(step->state.v + at + 3), cr__load_vec(step->state.v + at)};
    crTwist is = {cr_add(cr__load_vec(base + 3), cr_sym3_mul(own->inverse, own->T)),
                  cr_madd(cr__load_vec(base), own->linear / 3.0, own->P)};
    if (a->v != NULL) {
        cr__store_vec(is.v, a->v + at);
        cr__store_vec(is.omega, a->v + at + 3);
    }
    judge_body(a, b, was, is, worst);
}

static void judge_tree(const crContactAudit* a, int b, crAuditWorst* worst) {
    const crStep* step = a->step;
    crTwist was = cr__step_twist(step, step->state.v, b), is = cr__step_twist(step, a->v, b);
    crVec3 com = cr_sub(step->dynamics.com[b], step->dynamics.origin[b]);
    was.v = cr__twist_at(was, com);
    is.v = cr__twist_at(is, com);
    judge_body(a, b, was, is, worst);
}

static void judge_range(void* ctx, int begin, int end) {
    const crContactAudit* a = ctx;
    crAuditWorst* worst = &a->worst[begin / CR_AUDIT_CHUNK];
    for (int k = begin; k < end; k++) {
        int b = a->step->part.bodies[k];
        if (a->body[b].tree) {
            judge_tree(a, b, worst);
        } else if (a->body[b].linear > 0.0) {
            judge_single(a, b, worst);
        }
    }
}

crStatus cr__audit_momentum(crContactAudit* a) {
    crStep* step = a->step;
    gather(a);
    if (a->v != NULL) {
        cr__audit_tie_impulses(a, a->v);
        crStatus status = cr__step_by_bodies(step, finish_velocity, a->v);
        if (status != CR_OK) return status;
    }
    cr__audit_tie_scales(a);
    cr__tasks_for(step->tasks, step->part.count, CR_AUDIT_CHUNK, judge_range, a);
    return CR_OK;
}
