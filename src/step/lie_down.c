// lie_down.c - islands that a contact solve leaves at rest lie down, before anything is audited.
//
// An island is all bodies that contacts within their margins join. It is at rest if it began the step with v = 0, its solve
// gives v = 0 and the forces it began with, both but for rounding, and no contact is so deep that the position pass would move
// it. Its q and forces then stay as they are to the bit, v is 0, and the next step finds it as this one did. It is
// audited as it lies, in this step and in all that leave it out (lie.c): a certificate does not tell who was computed.
// Only free bodies with round friction lie, in models without anything that bounces, drives or pulls: rules then have no part in a step.
// Fails: CR_ERR_MEMORY; the step has failed then, and all gets up in the next.
#include <string.h>

#include "base/room.h"
#include "step/clocks.h"
#include "step/lie.h"
#include "step/rest.h"

// Figures of an island, kept at its root.
typedef struct Found {
    bool moves;        // a body or a contact of it is not at rest
    int forces;        // of its contacts
    double most, off;  // the largest of them, and by how much they differ from those of the beginning, N
} Found;

// whether a body began at rest and its solve left it so
static bool stays_at_rest(const crStep* step, double fall, int b) {
    const crBody* body = &step->model->bodies[b];
    if (!body->single || step->plan->first_tie[b + 1] > step->plan->first_tie[b]) return false;
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

static void find_movers(const crStep* step, double fall, const int* roots, Found* found) {
    const bool* moved = step->clocks->moved;
    for (int b = 1; b < step->model->nb; b++) {
        if (!cr__moves(step->model, b) || cr__step_idle(step, b)) continue;
        if ((moved != NULL && moved[b]) || !stays_at_rest(step, fall, b)) found[roots[b]].moves = true;
    }
}

static Found* found_of(const crStep* step, const int* roots, const crWarm* w, Found* found) {
    const crBodyShape* shapes = step->model->shapes;
    return &found[roots[cr__step_mover(step, shapes[w->shape_a].body, shapes[w->shape_b].body)]];
}

// forces against those of the beginning, which stand in the same order, and overlaps
static void compare_contacts(const crStep* step, const int* roots, Found* found) {
    const crStepWarm* warm = &step->warm;
    const crWarm* start = warm->changed ? warm->start : warm->force;
    int count = warm->changed ? warm->start_count : warm->count, k = 0;
    double rate = 1.0 / step->free.h, slack = 1.0 + step->settings.position_tol;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        Found* at = &found[roots[cr__step_mover(step, c->body_a, c->body_b)]];
        // moments of other friction are in the rows of this solve alone
        if (-c->point.gap - slack * c->delta > 0.0 || c->row >= 0) at->moves = true;
        if (!cr__step_presses(c)) continue;
        crWarm now = cr__warm_of(c, cr_scale(rate, c->impulse));
        while (k < count && cr__warm_order(&start[k], &now) < 0) {
            found_of(step, roots, &start[k++], found)->moves = true;
        }
        if (k == count || cr__warm_order(&start[k], &now) != 0) {
            at->moves = true;
            continue;
        }
        at->forces++;
        at->most = fmax(at->most, cr__rest_size(start[k].force));
        at->off = fmax(at->off, cr__rest_size(cr_sub(now.force, start[k++].force)));
    }
    while (k < count) {
        found_of(step, roots, &start[k++], found)->moves = true;
    }
}

static bool is_down(const Found* found) {
    return !found->moves && found->forces > 0 && found->off <= CR_REST_FORCES * found->most;
}

// bodies of the part whose islands are at rest lie, with v = 0; how many are new
static int lay_bodies(crStep* step, const int* roots, const Found* found, bool* out) {
    crStepLying* lying = &step->rest.lying;
    int before = lying->count;
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k];
        const crBody* body = &step->model->bodies[b];
        out[b] = cr__moves(step->model, b) && is_down(&found[roots[b]]);
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

// room for contacts that lie down, behind those that do; how many there are. CR_ERR_MEMORY
static crStatus reserve_lying(crStep* step, int* taken) {
    crStepLying* lying = &step->rest.lying;
    *taken = 0;
    for (int i = 0; i < step->contacts.count; i++) {
        *taken += holds_lying(step, &step->contacts.list[i]);
    }
    void* all = lying->contacts;
    crStatus status = cr__grow(&step->own.allocator, &all, &lying->capacity, lying->contact_count,
                               lying->contact_count + *taken, sizeof *lying->contacts);
    lying->contacts = all;
    return status;
}

// Contacts of what lies now go among those kept, in order.
static void keep_contacts(crStep* step, const bool* takes, int taken) {
    crStepLying* lying = &step->rest.lying;
    // from the end on: there is room behind those that are there
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
        step->certificate.contacts--;
        step->certificate.rows -= CR_LIE_ROWS * takes[i];
        to--;
    }
}

// They leave those of the step, and what is known of them.
static void leave_contacts(crStep* step, const crLieSolve* solve) {
    int kept = 0;
    for (int i = 0; i < step->contacts.count; i++) {
        if (holds_lying(step, &step->contacts.list[i])) continue;
        step->contacts.list[kept] = step->contacts.list[i];
        solve->takes[kept] = solve->takes[i];
        solve->u_free[kept] = solve->u_free[i];
        solve->u[kept++] = solve->u[i];
    }
    step->contacts.count = kept;
}

static crStatus lay_islands(crStep* step, double fall, const int* roots, const crLieSolve* solve) {
    crStepLying* lying = &step->rest.lying;
    size_t nb = (size_t)step->model->nb;
    Found* found = cr_arena_alloc(&step->scratch, nb * sizeof *found);
    bool* out = cr_arena_alloc(&step->scratch, nb * sizeof *out);
    if (found == NULL || out == NULL) return CR_ERR_MEMORY;
    memset(found, 0, nb * sizeof *found);
    memset(out, 0, nb * sizeof *out);
    find_movers(step, fall, roots, found);
    compare_contacts(step, roots, found);
    if (lay_bodies(step, roots, found, out) == 0) return CR_OK;
    lying->fresh = true;
    lying->audited = false;
    int taken;
    if (reserve_lying(step, &taken) != CR_OK) return CR_ERR_MEMORY;
    keep_contacts(step, solve->takes, taken);
    leave_contacts(step, solve);
    cr__step_leave_out(step, out);
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
