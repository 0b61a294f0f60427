// audit_contacts.c - the audit of one contact solve of the cone method, island by island.
//
// Witness impulses P^ are made from the contacts' impulses (audit_witness.c), and velocities v^ = v_free +
// M^-1 J^T P^ follow from them (audit_momentum.c). The defect of a contact is the distance of J v + b from
// the velocities that the laws allow beside P^, at the state's own v. The momentum figure is the difference
// of v and v^; the defect at v^ is at most the sum of the two, which is eta. Bias, friction and directions
// come from the contacts and their surfaces.
// Fails: CR_ERR_MEMORY. A number that is not finite makes every figure infinite.
#include "step/audit_contacts.h"

#include <string.h>

#include "base/tasks.h"
#include "model/spatial.h"
#include "step/clocks.h"

static void read_body(const crContactAudit* a, const int* islands, int i) {
    const crStep* step = a->step;
    const crBody* body = &step->model->bodies[i];
    crAuditBody* out = &a->body[i];
    // single assignments are faster than one compound literal, which is cleared first
    out->com = step->dynamics.com[i];
    out->P = out->T = cr_vec3(0, 0, 0);
    out->pull = out->linear = out->pliant = out->off = 0.0;
    out->island = islands[i];
    out->v = body->v;
    out->tree = false;
    if (!cr__moves(step->model, i) || !(body->mass > 0.0)) return;
    double least = body->principal[0], turn = least > 0.0 ? 2.0 / least : 0.0;
    out->tree = !body->single;
    out->linear = 3.0 / body->mass;
    out->pliant = out->linear + step->plan->size[i] * step->plan->size[i] * turn;
}

// Reads the bodies that v moves and all other bodies in contacts. Returns true if a tree is among them.
static bool read_bodies(const crContactAudit* a, const int* islands) {
    const crStep* step = a->step;
    crPart bodies = cr__step_met(step);
    bool trees = false;
    for (int k = 0; k < bodies.count; k++) {
        int i = cr__part_body(bodies, k);
        read_body(a, islands, i);
        trees = trees || a->body[i].tree;
    }
    read_body(a, islands, CR_WORLD);
    // where the part is all bodies, they are among them
    for (int i = 0; bodies.count < step->model->nb - 1 && i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!cr__moves(step->model, c->body_a)) read_body(a, islands, c->body_a);
        if (!cr__moves(step->model, c->body_b)) read_body(a, islands, c->body_b);
    }
    return trees;
}

static crStatus audit_create(crContactAudit* a, const int* islands) {
    const crStep* step = a->step;
    crArena* arena = &a->step->scratch;
    int most = step->contacts.count > step->part.count ? step->contacts.count : step->part.count;
    size_t nb = (size_t)step->model->nb, nv = (size_t)step->model->nv;
    size_t chunks = (size_t)most / CR_AUDIT_CHUNK + 2, sums = (size_t)a->island_count + 1;
    size_t count = (size_t)step->contacts.count + 1, kept = count;
    if (step->own.tasks == NULL && kept > CR_AUDIT_CHUNK) kept = CR_AUDIT_CHUNK;
    if (!CR_ROOMS(arena, CR_ROOM(a->contact, kept), CR_ROOM(a->seen, count), CR_ROOM(a->body, nb),
                  CR_ZERO(a->island, sums), CR_ZERO(a->worst, chunks), CR_ROOM(a->across, count)))
        return CR_ERR_MEMORY;
    bool trees = read_bodies(a, islands);
    if (step->posed.rows.count == 0 && !trees) return CR_OK;
    if (!CR_ROOMS(arena, CR_ROOM(a->v, nv + 1))) return CR_ERR_MEMORY;
    cr__part_clear(step->model, cr__step_met(step), a->v);
    return CR_OK;
}

// energy that the contacts of islands created, J
static double created(const crContactAudit* a) {
    double sum = 0.0;
    for (int i = 0; i <= a->island_count; i++) {
        const crAuditIsland* island = &a->island[i];
        if (island->energy > 16.0 * CR_AUDIT_EPS * island->terms) sum += island->energy;
    }
    return sum;
}

// figures of the solve; the residual without rounding lies between `least` and `most`
static crAudit audit_of(const crContactAudit* a, const crAuditWorst* w) {
    double inf = (double)INFINITY, residual = sqrt(w->share2);
    crAudit audit = {.residual = residual, .most = residual + w->noise};
    audit.least = cr__audit_larger(0.0, residual - w->noise);
    audit.eta = sqrt(w->eta2);
    audit.floor = w->floor;
    audit.distance = a->h * audit.eta;
    audit.permits = w->permits;
    audit.momentum = w->momentum;
    audit.laws.approach = w->approach;
    audit.laws.cone = w->cone;
    audit.laws.complementarity = w->complementarity;
    audit.laws.dissipation = sqrt(w->dissipation2);
    if (!(w->seen == 0.0)) audit.residual = audit.most = audit.least = audit.eta = audit.distance = inf;
    return audit;
}

static crOutcome outcome_of(const crStepSettings* settings, const crAudit* audit, const crAuditWorst* worst) {
    double tol = cr_step_tol(settings);
    if (audit->most <= tol) return CR_OUTCOME_SOLVED;
    if (isfinite(audit->eta) && sqrt(worst->far) <= settings->shift) return CR_OUTCOME_NEAR;
    return audit->least <= tol ? CR_OUTCOME_UNSURE : CR_OUTCOME_LIMIT;
}

// Makes the witness and the sums of all contacts: one after the other with threads, else chunk by chunk,
// which keeps the contacts of a chunk in the cache. Sums are in the order of contacts either way.
static void look_at_contacts(crContactAudit* a) {
    int count = a->step->contacts.count;
    if (a->step->own.tasks != NULL) {
        cr__tasks_for(a->step->own.tasks, count, CR_AUDIT_CHUNK, cr__audit_witness, a);
        cr__audit_gather(a, 0, count);
        return;
    }
    for (int begin = 0; begin < count; begin += CR_AUDIT_CHUNK) {
        int end = begin + CR_AUDIT_CHUNK < count ? begin + CR_AUDIT_CHUNK : count;
        a->first = begin;
        cr__audit_witness(a, begin, end);
        cr__audit_gather(a, begin, end);
    }
}

static crStatus run_audit(crContactAudit* a, const int* islands) {
    crStep* step = a->step;
    int count = step->contacts.count, most = count > step->part.count ? count : step->part.count;
    crStatus status = audit_create(a, islands);
    if (status != CR_OK) return status;
    look_at_contacts(a);
    status = cr__audit_generals(a);
    if (status == CR_OK) status = cr__audit_ties(a);
    if (status == CR_OK) status = cr__audit_momentum(a);
    if (status != CR_OK) return status;
    crAuditWorst worst = {0};
    for (int i = 0; i * CR_AUDIT_CHUNK < most; i++) {
        cr__audit_worse(&a->worst[i], &worst);
    }
    cr__audit_judge(a, &worst);
    cr__audit_judge_generals(a, &worst);
    cr__audit_judge_ties(a, &worst);
    crAudit audit = audit_of(a, &worst);
    step->certificate.energy.created += created(a);
    cr__audit_drives(step->plan, &step->dynamics, &step->contacts, step->audited.drive);
    cr__audit_merge(&step->certificate, &audit, outcome_of(&step->settings, &audit, &worst));
    return CR_OK;
}

crStatus cr__audit_contacts(crStep* step, double h, const bool* takes, const bool* passes,
                            const crVec3* u_free, const crVec3* u, const int* islands, int island_count) {
    size_t mark = cr_arena_mark(&step->scratch);
    crContactAudit a = {.step = step, .h = h, .takes = takes, .passes = passes, .u_free = u_free, .u = u};
    a.island_count = island_count;
    crStatus status = run_audit(&a, islands);
    cr_arena_release(&step->scratch, mark);
    return status;
}
