// audit_momentum.c - velocities v^ = v_free + M^-1 J^T P^ by the witness, compared with those of the state.
//
// The witness is summed over bodies in the order of contacts, so results do not depend on threads. Single
// bodies need only their mass and inverse inertia; trees, loops and joints use the factor of M. A difference
// up to the rounding floor, 64 eps times the speeds and s A of the body, counts as 0.
#include <string.h>

#include "base/tasks.h"
#include "model/spatial.h"
#include "step/audit_contacts.h"
#include "step/step.h"

static void add_to_tree(const crContactAudit* a, int body, crVec3 point, crVec3 P, crVec3 moment) {
    cr_model_add_force(a->step->model, &a->step->dynamics, body, point, P, moment, a->v);
}

// Adds an impulse with a moment to b, the opposite to a. Sums of bodies that v does not move are not read.
static void add_impulse(const crContactAudit* a, const crStepContact* contact, crVec3 P,
                        const crVec3* moment) {
    crAuditBody *body_a = &a->body[contact->body_a], *body_b = &a->body[contact->body_b];
    crVec3 x = contact->point.point;
    double size = cr__audit_size1(P);
    body_a->pull += size;
    body_b->pull += size;
    if (body_a->tree || body_b->tree || moment != NULL) {
        crVec3 T = moment != NULL ? *moment : cr_vec3(0, 0, 0);
        body_a->T = cr_sub(body_a->T, T);
        body_b->T = cr_add(body_b->T, T);
        if (body_a->tree) add_to_tree(a, contact->body_a, x, cr_neg(P), cr_neg(T));
        if (body_b->tree) add_to_tree(a, contact->body_b, x, P, T);
    }
    body_a->P = cr_sub(body_a->P, P);
    body_b->P = cr_add(body_b->P, P);
    body_a->T = cr_sub(body_a->T, cr_cross(cr_sub(x, body_a->com), P));
    body_b->T = cr_add(body_b->T, cr_cross(cr_sub(x, body_b->com), P));
}

// Adds the figures of a contact to its island. An open contact far from closing does not enter the floor.
static void add_figures(crAuditIsland* island, const crAuditSeen* c, double delta) {
    if (c->eta2 > island->eta2) island->eta2 = c->eta2;
    if (c->eta2 > island->far * (delta * delta) && delta > 0.0) island->far = c->eta2 / (delta * delta);
    bool leaves = c->hold == CR_AUDIT_OPEN && c->speed > 1e-3 * c->given;
    if (!leaves && c->given > island->given) island->given = c->given;
}

void cr__audit_gather(crContactAudit* a, int begin, int end) {
    for (int i = begin; i < end; i++) {
        const crAuditContact* c = &a->contact[i - a->first];
        crAuditHold hold = c->seen.hold;
        a->seen[i] = c->seen;
        if (hold == CR_AUDIT_OUT) continue;
        const crStepContact* contact = &a->step->contacts.list[i];
        const crAuditBody* body_a = &a->body[contact->body_a];
        crAuditIsland* island = &a->island[c->seen.island + 1];
        if (c->seen.island >= 0 && c->want > island->scale) island->scale = c->want;
        if (hold == CR_AUDIT_GENERAL || hold == CR_AUDIT_HELD) {
            island->energy += c->work;
            island->terms += c->terms;
        }
        if (hold == CR_AUDIT_GENERAL) continue;
        add_figures(island, &c->seen, contact->delta);
        if (body_a->island != c->seen.island && body_a->linear > 0.0) a->across[a->across_count++] = i;
        if (hold == CR_AUDIT_HELD) add_impulse(a, contact, c->P, NULL);
    }
}

static void gather_generals(const crContactAudit* a) {
    for (int k = 0; k < a->general_count; k++) {
        const crAuditGeneral* g = &a->general[k];
        add_impulse(a, &a->step->contacts.list[g->contact], g->P, &g->T);
    }
}

static crStatus finish_velocity(const crModel* model, crPart part, crDynamics* d, void* ctx) {
    const crContactAudit* a = ctx;
    cr__part_mass_solve(model, part, d, a->v);
    cr__part_add(model, part, a->v, a->step->free.v, a->v);
    return CR_OK;
}

// Judges a body by the difference of two twists at its centre of mass, and by the rounding of it.
static void judge_body(const crContactAudit* a, int b, crTwist was, crTwist is, crAuditWorst* worst) {
    crAuditBody* own = &a->body[b];
    crVec3 off = cr_sub(was.v, is.v), turn = cr_sub(was.omega, is.omega);
    double size = a->step->plan->size[b], pulled = own->pliant * own->pull;
    // roots are taken only if the difference may be more than rounding, or the largest so far
    double most = cr__audit_size1(off) + size * cr__audit_size1(turn);
    worst->seen += 0.0 * most;
    if (most <= 64.0 * CR_AUDIT_EPS * pulled && most <= worst->momentum) return;
    double eta = cr_norm(off) + size * cr_norm(turn);
    double speed = cr_norm(was.v) + cr_norm(is.v) + size * (cr_norm(was.omega) + cr_norm(is.omega));
    double floor = 64.0 * CR_AUDIT_EPS * (speed + pulled), scale = a->island[own->island + 1].scale;
    worst->momentum = cr__audit_larger(worst->momentum, eta);
    if (!(eta > floor)) return;
    own->off = eta;
    cr__audit_count(eta * eta, floor, scale > 0.0 ? scale : speed, 0.0, worst);
}

static void judge_single(const crContactAudit* a, int b, crAuditWorst* worst) {
    const crStep* step = a->step;
    const crAuditBody* own = &a->body[b];
    int at = own->v;
    const double* base = (a->v != NULL ? a->v : step->free.v) + at;
    crTwist was = {cr__load_vec(step->state.v + at + 3), cr__load_vec(step->state.v + at)};
    crTwist is = {cr_add(cr__load_vec(base + 3), cr_sym3_mul(step->dynamics.inverse[b], own->T)),
                  cr_madd(cr__load_vec(base), own->linear / 3.0, own->P)};
    if (a->v != NULL) {
        cr__store_vec(is.v, a->v + at);
        cr__store_vec(is.omega, a->v + at + 3);
    }
    judge_body(a, b, was, is, worst);
}

static void judge_tree(const crContactAudit* a, int b, crAuditWorst* worst) {
    const crStep* step = a->step;
    crTwist was = step->dynamics.twist[b], is = step->dynamics.scratch.rate[b];
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

// Adds the bodies to their islands: the largest s A, and `again` if a velocity is off.
static void gather_bodies(crContactAudit* a) {
    const crStep* step = a->step;
    for (int k = 0; k < step->part.count; k++) {
        const crAuditBody* body = &a->body[step->part.bodies[k]];
        crAuditIsland* island = &a->island[body->island + 1];
        double pulled = body->pliant * body->pull;
        if (pulled > island->pulled) island->pulled = pulled;
        a->again = a->again || body->off > 0.0;
    }
}

// Finds the twists of trees by the state's v, and by the witness's v in `rate`.
static void find_fields(const crContactAudit* a) {
    const crStep* step = a->step;
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k];
        const crBody* body = &model->bodies[b];
        if (body->single || !cr__moves(model, b)) continue;
        bool moves = cr__moves(model, body->parent);
        crTwist was = moves ? d->twist[body->parent] : d->given[b],
                is = moves ? d->scratch.rate[body->parent] : was;
        for (int j = body->v; j < body->v + body->nv; j++) {
            was = cr__twist_madd(was, step->state.v[j], d->axis[j]);
            is = cr__twist_madd(is, a->v[j], d->axis[j]);
        }
        d->twist[b] = was;
        d->scratch.rate[b] = is;
    }
}

crStatus cr__audit_momentum(crContactAudit* a) {
    crStep* step = a->step;
    gather_generals(a);
    if (a->v != NULL) {
        cr__audit_tie_impulses(a, a->v);
        crStatus status = cr__step_by_bodies(step, cr__step_part(step), finish_velocity, a);
        if (status != CR_OK) return status;
        find_fields(a);
    }
    cr__audit_tie_scales(a);
    cr__tasks_for(step->own.tasks, step->part.count, CR_AUDIT_CHUNK, judge_range, a);
    gather_bodies(a);
    return CR_OK;
}
