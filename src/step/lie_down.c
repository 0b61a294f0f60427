// lie_down.c - islands that a contact solve leaves at rest lie down, before the audit.
//
// An island here is a set of bodies joined by contacts within their margins. It is at rest if it began the
// step with v = 0, the solve gives v = 0 and the forces of the beginning up to rounding, and no contact is
// deep enough for the position pass. Its q and forces then keep their bits, v becomes 0, and the next step
// finds the island as this one did. Its contacts are audited in this step and in every step that leaves it
// out (lie.c), so the certificate does not depend on which islands were computed. Only free bodies with round
// friction lie, and only in models in which nothing bounces, is driven or is pulled: the rule has no part in
// such a step.
// Fails: CR_ERR_MEMORY; the step fails, and the next one computes all islands.
#include <string.h>

#include "base/room.h"
#include "step/clocks.h"
#include "step/lie.h"
#include "step/rest.h"

// true if a body began the step at rest and the solve left it at rest
static bool stays_at_rest(const crStep* step, double fall, int b) {
    const crBody* body = &step->model->bodies[b];
    if (!body->single || step->plan->tie.first[b + 1] > step->plan->tie.first[b]) return false;
    for (int j = body->v; j < body->v + body->nv; j++) {
        if (step->start.v[j] != 0.0 || step->state.force[j] != 0.0) return false;
    }
    return cr__rest_slow(body, fall, cr__step_speed(step, step->state.v, b));
}

static bool any_stays(const crStep* step, double fall) {
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k];
        if (cr__moves(step->model, b) && stays_at_rest(step, fall, b)) return true;
    }
    return false;
}

// Sets `moved` for islands with a body not at rest. Returns true if the part has another island.
static bool find_movers(const crStep* step, double fall, const int* roots, crRest* rest) {
    const bool* moved = step->clocks->moved;
    bool any = false;
    for (int b = 1; b < step->model->nb; b++) {
        if (!cr__moves(step->model, b) || cr__step_idle(step, b) || rest[roots[b]].moved) continue;
        rest[roots[b]].moved = (moved != NULL && moved[b]) || !stays_at_rest(step, fall, b);
    }
    for (int k = 0; k < step->part.count && !any; k++) {
        int b = step->part.bodies[k];
        any = cr__moves(step->model, b) && !rest[roots[b]].moved;
    }
    return any;
}

// Compares contact forces with those of the beginning, and overlaps with the deadband.
static void compare_contacts(const crStep* step, const int* roots, crRest* rest) {
    double rate = 1.0 / step->free.h, slack = 1.0 + step->settings.position_tol;
    int next = 0;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        // spin and rolling moments of a contact are kept in the rows of this solve only
        if (-c->point.gap - slack * c->delta > 0.0 || c->row >= 0)
            rest[roots[cr__step_mover(step, c->body_a, c->body_b)]].moved = true;
        if (!cr__step_presses(c)) continue;
        crWarm now = cr__warm_of(c, cr_scale(rate, c->impulse));
        cr__rest_compare(step, roots, &now, &next, rest);
    }
    cr__rest_compare(step, roots, NULL, &next, rest);
}

// Lays down the bodies of islands at rest, with v = 0, and marks them in `out`. Returns their number.
static int lay_bodies(crStep* step, const int* roots, const crRest* rest, bool* out) {
    crStepLying* lying = &step->rest.lying;
    int before = lying->count;
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k];
        const crBody* body = &step->model->bodies[b];
        out[b] = cr__moves(step->model, b) && cr__rests(&rest[roots[b]]);
        if (!out[b]) continue;
        lying->island[b] = roots[b];
        lying->count++;
        memset(step->state.v + body->v, 0, (size_t)body->nv * sizeof(double));
        step->dynamics.twist[b] = (crTwist){cr_vec3(0, 0, 0), cr_vec3(0, 0, 0)};
    }
    return lying->count - before;
}

static bool holds_lying(const crStep* step, const crStepContact* c) {
    return step->rest.lying.island[cr__step_mover(step, c->body_a, c->body_b)] != 0;
}

// Makes room for the contacts of bodies that lay down just now; *taken: their number. CR_ERR_MEMORY.
static crStatus reserve_lying(const crStep* step, crStepLying* lying, int* taken) {
    *taken = 0;
    for (int i = 0; i < step->contacts.count; i++) {
        *taken += holds_lying(step, &step->contacts.list[i]);
    }
    return CR_GROW(&step->own.allocator, lying->contacts, lying->capacity, lying->contact_count,
                   lying->contact_count + *taken);
}

// Merges these contacts into the lying contacts, sorted by pair, and subtracts them from the certificate.
static void keep_contacts(const crStep* step, const bool* takes, int taken, crStepLying* lying,
                          crCertificate* certificate) {
    // the merge runs from the back, where the room is
    int from = lying->contact_count - 1, to = lying->contact_count + taken - 1;
    lying->contact_count += taken;
    for (int i = step->contacts.count - 1; i >= 0; i--) {
        const crStepContact* c = &step->contacts.list[i];
        if (!holds_lying(step, c)) continue;
        while (from >= 0 && !cr__step_pair_first(&lying->contacts[from], c)) {
            lying->contacts[to--] = lying->contacts[from--];
        }
        lying->contacts[to] = *c;
        lying->contacts[to].takes = takes[i];
        certificate->contacts--;
        certificate->rows -= CR_LIE_ROWS * takes[i];
        to--;
    }
}

// Removes these contacts from the step's list and from the arrays of the solve.
static void leave_contacts(const crStep* step, const crLieSolve* solve, crStepContacts* contacts) {
    int kept = 0;
    for (int i = 0; i < contacts->count; i++) {
        if (holds_lying(step, &contacts->list[i])) continue;
        contacts->list[kept] = contacts->list[i];
        solve->takes[kept] = solve->takes[i];
        solve->u_free[kept] = solve->u_free[i];
        solve->u[kept++] = solve->u[i];
    }
    contacts->count = kept;
}

static crStatus lay_islands(crStep* step, double fall, const int* roots, const crLieSolve* solve) {
    crStepLying* lying = &step->rest.lying;
    crRest* rest;
    bool* out;
    if (!CR_ROOMS(&step->scratch, CR_ZERO(rest, step->model->nb), CR_ZERO(out, step->model->nb)))
        return CR_ERR_MEMORY;
    if (!find_movers(step, fall, roots, rest)) return CR_OK;
    compare_contacts(step, roots, rest);
    if (lay_bodies(step, roots, rest, out) == 0) return CR_OK;
    lying->fresh = true;
    lying->audited = false;
    int taken;
    if (reserve_lying(step, lying, &taken) != CR_OK) return CR_ERR_MEMORY;
    keep_contacts(step, solve->takes, taken, lying, &step->certificate);
    leave_contacts(step, solve, &step->contacts);
    step->part = cr__step_leave_out(step->model, out, &step->awake);
    return CR_OK;
}

crStatus cr__lie_down(crStep* step, const int* roots, const crLieSolve* solve) {
    double fall = step->free.h * cr_norm(step->model->gravity);
    bool may = step->rest.lying.may && step->calls.force == NULL && any_stays(step, fall);
    if (!may) return CR_OK;
    size_t mark = cr_arena_mark(&step->scratch);
    crStatus status = lay_islands(step, fall, roots, solve);
    cr_arena_release(&step->scratch, mark);
    return status;
}
