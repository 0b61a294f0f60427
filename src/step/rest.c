// rest.c - an island that a step leaves in place up to rounding is at rest: q and forces as before, v = 0.
//
// Islands of free bodies and trees can rest. Sweeps of an island that is about to rest go on beyond their
// tolerance (contact_islands.c); an island slower than SPEED times the tolerance gets v = 0, and the audit
// judges that. The tolerance is relative to the velocity that contacts take away, so two bodies that hang
// side by side with hardly any load between them do not rest by it. An island is at rest if no body moved by
// more than rounding of its place, none is faster than rounding of h g, and the contact forces are those of
// the beginning. Without this stage, solver errors would stay in q, v and forces for ever. With it the next
// step ends where it begins, bit for bit: `still` says so if no function gives forces, and such a step is not
// computed again.
#include "step/rest.h"

#include "step/audit.h"
#include "step/clocks.h"

#define SPEED 0x1p-8  // largest speed of an island at rest, in tol times the speed its contacts take away

bool cr__step_may_rest(const crStep* step) {
    const crPlan* plan = step->plan;
    bool trees = plan->first_single > 1 || step->model->loop_count > 0;
    if (trees ? !(plan->steady && plan->ranged) : plan->pulls || plan->given_count > 0) return false;
    return step->settings.sleep_time <= 0.0;
}

double cr__step_rest_speed(const crStep* step, double held) {
    double fall = step->free.h * cr_norm(step->model->gravity);
    return SPEED * cr_step_tol(&step->settings) * fmin(held, fall);
}

bool cr__step_nears_rest(const crStep* step) {
    double fall = step->free.h * cr_norm(step->model->gravity);
    if (!cr__step_may_rest(step)) return false;
    for (int k = 0; k < step->awake.count; k++) {
        const crBody* body = &step->model->bodies[step->awake.bodies[k]];
        if (body->last >= 0 && cr__rest_nears(step->state.v + body->v, body->nv, fall)) return true;
    }
    return false;
}

// Adds a body to the figures of its island. Returns false if the island moved.
static bool look_at_body(const crStep* step, double fall, int b, crRest* rest) {
    const crBody* body = &step->model->bodies[b];
    bool slow = body->last < 0 || (cr__rest_nears(step->start.v + body->v, body->nv, fall) &&
                                   cr__rest_slow(body, fall, cr__step_speed(step, step->state.v, b)));
    if (!slow || !cr__rest_there(step->state.q + body->q, step->start.q + body->q, body->nq))
        rest->moved = true;
    if (rest->moved) return false;
    bool tied = step->plan->tie.first[b + 1] > step->plan->tie.first[b];
    rest->bound = rest->bound || !body->single || tied;
    for (int j = body->v; j < body->v + body->nv; j++) {
        rest->began = rest->began || step->start.v[j] != 0.0;
        rest->bound = rest->bound || step->state.force[j] != 0.0;
    }
    return true;
}

static crRest* rest_of(const crStep* step, const int* islands, const crWarm* w, crRest* rest) {
    const crBodyShape* shapes = step->model->shapes;
    return &rest[islands[cr__step_mover(step, shapes[w->shape_a].body, shapes[w->shape_b].body)]];
}

int cr__rest_compare(const crStep* step, const int* islands, const crWarm* now, int* next, crRest* rest) {
    const crStepWarm* warm = &step->warm;
    const crWarm* start = warm->changed ? warm->start : warm->force;
    int count = warm->changed ? warm->start_count : warm->count;
    while (*next < count && (now == NULL || cr__warm_order(&start[*next], now) < 0)) {
        rest_of(step, islands, &start[(*next)++], rest)->moved = true;
    }
    if (now == NULL) return -1;
    crRest* at = rest_of(step, islands, now, rest);
    if (*next == count || cr__warm_order(&start[*next], now) != 0) {
        at->moved = true;
        return -1;
    }
    at->forces++;
    at->most = fmax(at->most, cr__rest_size(start[*next].force));
    at->off = fmax(at->off, cr__rest_size(cr_sub(now->force, start[*next].force)));
    return (*next)++;
}

// Adds the awake bodies and the events to the figures. Returns true if some island may be at rest.
static bool look_at_bodies(const crStep* step, double h, const int* islands, const bool* moved,
                           const bool* hit, crRest* rest) {
    double fall = h * cr_norm(step->model->gravity);
    bool any = false;
    for (int k = 0; k < step->awake.count; k++) {
        int b = step->awake.bodies[k];
        crRest* at = &rest[islands[b]];
        if (!cr__moves(step->model, b)) continue;
        if ((moved != NULL && moved[b]) || hit[b]) at->moved = true;
        any = (!at->moved && look_at_body(step, fall, b, at)) || any;
    }
    for (int i = 0; i < step->events.count; i++) {
        const crEvent* event = &step->events.list[i];
        if (cr__moves(step->model, event->body_b)) rest[islands[event->body_b]].moved = true;
        if (event->shape_a < 0) continue;
        if (cr__moves(step->model, event->body_a)) rest[islands[event->body_a]].moved = true;
    }
    return any && step->warm.changed;
}

// Restores q and forces of the beginning, with v = 0, in islands at rest; in bound islands only if `all` is
// true.
static void set_back(const crStep* step, const int* islands, const int* was, bool all, crRest* rest,
                     crState* state, crStepWarm* warm) {
    for (int k = 0; k < step->awake.count; k++) {
        int b = step->awake.bodies[k];
        const crBody* body = &step->model->bodies[b];
        const crRest* at = &rest[islands[b]];
        if (!cr__moves(step->model, b) || !cr__rests(at) || (at->bound && !all)) continue;
        memcpy(state->q + body->q, step->start.q + body->q, (size_t)body->nq * sizeof(double));
        memset(state->v + body->v, 0, (size_t)body->nv * sizeof(double));
    }
    for (int i = 0; warm->changed && i < warm->count; i++) {
        const crRest* at = rest_of(step, islands, &warm->force[i], rest);
        if (was[i] >= 0 && cr__rests(at) && (all || !at->bound)) warm->force[i] = warm->start[was[i]];
    }
}

// true if all bodies that v moves lie
static bool all_lies(const crStep* step) {
    bool all = step->rest.lying.count > 0;
    for (int k = 0; k < step->awake.count && all; k++) {
        all = !cr__moves(step->model, step->awake.bodies[k]);
    }
    return all;
}

static crStatus settle_islands(crStep* step, double h, const int* islands, const bool* moved,
                               const bool* hit) {
    const crModel* model = step->model;
    crRest* rest;
    int* was;
    if (!CR_ROOMS(&step->scratch, CR_ZERO(rest, model->nb), CR_ROOM(was, step->warm.count + 1)))
        return CR_ERR_MEMORY;
    if (!look_at_bodies(step, h, islands, moved, hit, rest) && !all_lies(step)) return CR_OK;
    int next = 0;
    for (int i = 0; i < step->warm.count; i++) {
        was[i] = cr__rest_compare(step, islands, &step->warm.force[i], &next, rest);
    }
    cr__rest_compare(step, islands, NULL, &next, rest);
    bool all = true, zero = true;
    for (int k = 0; k < step->awake.count && all; k++) {
        int b = step->awake.bodies[k];
        if (!cr__moves(model, b)) continue;
        all = cr__rests(&rest[islands[b]]);
        zero = zero && !rest[islands[b]].began;
    }
    set_back(step, islands, was, all, rest, &step->state, &step->warm);
    // a force function may return another force in the next step
    step->rest.still = all && zero && step->calls.force == NULL && model->load_count == 0;
    return CR_OK;
}

crStatus cr__step_rest(crStep* step, double h, const int* islands, const bool* moved, const bool* hit) {
    if (!cr__step_may_rest(step)) return CR_OK;
    size_t mark = cr_arena_mark(&step->scratch);
    crStatus status = settle_islands(step, h, islands, moved, hit);
    cr_arena_release(&step->scratch, mark);
    return status;
}

crStatus cr__step_stay(crStep* step, double h, crError* error) {
    step->start.time = step->state.time;
    step->state.time += h;
    step->certificate.penetration = step->rest.overlap;
    // the geometry audit poses bodies by q, which the check normalizes first
    crStatus status = cr__audit_due(step) ? cr_state_check(step->model, &step->state, error) : CR_OK;
    if (status == CR_OK && cr__audit_measured(step) != CR_OK) status = cr__step_memory(error);
    if (status != CR_OK) step->state.time = step->start.time;
    return status;
}
