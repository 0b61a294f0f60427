// locals.c - impacts in the order of time, each moving only the bodies it concerns.
//
// A heap holds the time of impact of every pair that closes fast. For the earliest impact, the groups of its
// two bodies are advanced to that time, each from its own clock under its own contacts; groups that touch
// them by then, or will press on them before the step ends, are advanced too. The rule resolves impacts until
// none is left; the moved bodies are grouped and their pairs timed again, all other times stay valid. Groups
// without an impact are one contact solve over the whole step; the other groups are advanced to the end one
// by one. An advance past an impact, which happens if supported bodies move other than predicted, is undone
// and shortened.
// Each instant costs a contact solve of the group. In a group of more than MANY bodies, impacts are resolved
// at SLOTS fixed times per step. A contact that closes fast and would touch within a slot is resolved at the
// slot's beginning as if it touched, so its impact is early by at most h/SLOTS (h in fast). The contact solve
// prevents overlap of contacts of a large group that close faster than predicted.
// Fails: as the stages do. After more than impact_limit impacts the rest of the step is plastic; after more
// than REPEATS rounds at one instant the bodies concerned are; the certificate tells both.
#include <string.h>

#include "step/clocks.h"

#define RETRIES 6    // attempts to shorten an advance that went past an impact
#define REPEATS 50   // rounds of impacts at one instant
#define MANY    64   // bodies of a group above which its impacts are resolved at the slots only
#define SLOTS   8    // fixed times of impacts per step in such groups
#define LATE    0.1  // share of a slot by which impacts of large groups may be late
#define ALARMS  20   // false impacts of a pair in one step after which its impacts are ignored

// bodies advanced to one instant, and their state before
typedef struct Local {
    double h;
    int count;
    int* bodies;    // bodies that v moves (nb)
    bool* in;       // true for bodies in the list (nb)
    double* clock;  // clocks, airborne, q and v before (nb, nb, nq, nv)
    bool* airborne;
    double* q;
    double* v;
    int events, recorded;
    size_t mark;  // place in scratch below the contacts at that instant
} Local;

static bool due_before(crDue a, crDue b) { return a.time < b.time || (a.time == b.time && a.pair < b.pair); }

static crStatus push_due(crClocks* clocks, const crAllocator* a, crDue due) {
    crStatus status = CR_GROW(a, clocks->due, clocks->due_capacity, clocks->due_count, clocks->due_count + 1);
    if (status != CR_OK) return status;
    int i = clocks->due_count++;
    for (; i > 0 && due_before(due, clocks->due[(i - 1) / 2]); i = (i - 1) / 2) {
        clocks->due[i] = clocks->due[(i - 1) / 2];
    }
    clocks->due[i] = due;
    return CR_OK;
}

static crDue pop(crClocks* clocks) {
    crDue first = clocks->due[0], last = clocks->due[--clocks->due_count];
    int i = 0;
    for (int child = 1; child < clocks->due_count; child = 2 * i + 1) {
        if (child + 1 < clocks->due_count && due_before(clocks->due[child + 1], clocks->due[child])) child++;
        if (!due_before(clocks->due[child], last)) break;
        clocks->due[i] = clocks->due[child];
        i = child;
    }
    clocks->due[i] = last;
    return first;
}

static crStatus set_time(crPairs* pairs, crClocks* clocks, const crAllocator* a, crDue due) {
    pairs->time[due.pair].when = due.time;
    pairs->time[due.pair].exact = due.exact;
    return push_due(clocks, a, due);
}

static int members(const crModel* model, const crClocks* clocks, int body) {
    return cr__moves(model, body) ? clocks->groups.members[clocks->groups.first[body]] : 0;
}

// Time at which an impact at t is resolved: the beginning of its slot in large groups, if that is later than
// `now`. INFINITY: the contact solve resolves it.
static double slot_of(const crStep* step, int pair, double t, double now) {
    const crNear* near = &step->pairs->near[pair];
    bool one = step->clocks->groups.first[near->body_a] == step->clocks->groups.first[near->body_b];
    int count = members(step->model, step->clocks, near->body_a) +
                (one ? 0 : members(step->model, step->clocks, near->body_b));
    if (count <= step->clocks->many) return t;
    double length = step->clocks->slot, begin = length * (int)(t / length);
    if (begin > now) return begin;
    return step->clocks->once ? (double)INFINITY : t;
}

// Finds the exact time of a pair's impact, whose lower bound was `now`. CR_ERR_MEMORY.
static crStatus look_closer(crStep* step, int pair, double now, double end, crError* error) {
    const crNear* near = &step->pairs->near[pair];
    size_t mark = cr_arena_mark(&step->scratch);
    step->clocks->now_at = 0.0;
    if (cr__moves(step->model, near->body_a)) step->clocks->now_at = step->clocks->clock[near->body_a];
    if (cr__moves(step->model, near->body_b))
        step->clocks->now_at = fmax(step->clocks->now_at, step->clocks->clock[near->body_b]);
    crStatus status = cr__step_collide_pair(step, pair, &step->scratch, &step->contacts, error);
    double left = end - step->clocks->now_at, t = INFINITY;
    if (status == CR_OK && step->contacts.count > 0) {
        t = cr__step_pair_impact(step, 0, step->contacts.count, left);
    }
    step->pairs->time[pair].when = INFINITY;
    if (t <= left) t = slot_of(step, pair, step->clocks->now_at + t, now);
    if (status == CR_OK && t < end)
        status = set_time(step->pairs, step->clocks, &step->own.allocator, (crDue){t, pair, true});
    step->contacts.count = 0;
    cr_arena_release(&step->scratch, mark);
    return status;
}

// Takes the earliest valid impact before `end` from the heap into *due; returns false if there is no such
// impact.
static bool next_due(crStep* step, double end, crDue* due, crStatus* status, crError* error) {
    while (step->clocks->due_count > 0 && *status == CR_OK) {
        *due = pop(step->clocks);
        if (step->pairs->time[due->pair].when != due->time) continue;
        if (due->exact) return due->time < end;
        *status = look_closer(step, due->pair, due->time, end, error);
    }
    return false;
}

static double impact_of_run(const crStep* step, int i, int end, double left, bool* exact) {
    *exact = true;
    bool never = false;
    for (int k = i; k < end; k++) {
        if (cr__step_closes_fast(step, &step->contacts.list[k])) return 0.0;
        never = never || !(step->contacts.list[k].fast < INFINITY);
    }
    return never ? INFINITY : cr__step_pair_soonest(step, i, end, left, exact);
}

// Sets the times of impact of the present contacts, from now_at. No impact goes to a slot that began at
// `before` or earlier. CR_ERR_MEMORY.
static crStatus schedule(const crStep* step, double left, double before, crPairs* pairs, crClocks* clocks) {
    crStatus status = CR_OK;
    for (int i = 0; i < step->contacts.count && status == CR_OK;) {
        int end = cr__step_run_end(step->contacts.list, step->contacts.count, i);
        bool exact;
        double t = impact_of_run(step, i, end, left, &exact);
        int pair =
            t <= left ? cr__pairs_place(pairs, step->contacts.list[i].shape_a, step->contacts.list[i].shape_b)
                      : 0;
        if (t <= left && pairs->time[pair].alarms < ALARMS) {
            t += clocks->now_at;
            if (exact) t = slot_of(step, pair, t, before);
            if (t < INFINITY) status = set_time(pairs, clocks, &step->own.allocator, (crDue){t, pair, exact});
        }
        i = end;
    }
    return status;
}

// In fast, large groups have one slot, the whole step, unless settings.locate asks for all impacts; with
// CR_LOCATE_NONE all groups do.
static void set_slots(const crStepSettings* settings, crClocks* clocks, double h) {
    bool fast = settings->quality == CR_QUALITY_FAST;
    clocks->once = fast && settings->locate != CR_LOCATE_ALL;
    clocks->slot = clocks->once ? h : h / SLOTS;
    clocks->many = fast && settings->locate == CR_LOCATE_NONE ? 0 : MANY;
}

crStatus cr__step_schedule(const crStep* step, double h, crPairs* pairs, crClocks* clocks, crError* error) {
    clocks->due_count = 0;
    set_slots(&step->settings, clocks, h);
    clocks->lists = pairs->lists;
    crStatus status = cr__pairs_reset_times(pairs);
    if (status == CR_OK) status = schedule(step, h, -h, pairs, clocks);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}

// Makes the heap again from the valid times after pairs changed their places in the list. CR_ERR_MEMORY.
static crStatus heap_again(const crPairs* pairs, const crAllocator* a, crClocks* clocks) {
    crStatus status = CR_OK;
    clocks->lists = pairs->lists;
    clocks->due_count = 0;
    for (int i = 0; i < pairs->count && status == CR_OK; i++) {
        if (pairs->time[i].when < INFINITY)
            status = push_due(clocks, a, (crDue){pairs->time[i].when, i, pairs->time[i].exact});
    }
    return status;
}

// Finds the groups at the beginning of the step and moves impacts of large ones to their slots.
static crStatus group(const crStep* step, double h, crPairs* pairs, crClocks* clocks) {
    cr__step_groups_join(step, h, clocks);
    for (int i = 0; i < pairs->count; i++) {
        crNearTime* time = &pairs->time[i];
        if (time->when < h && time->exact) time->when = slot_of(step, i, time->when, -h);
    }
    return heap_again(pairs, &step->own.allocator, clocks);
}

static crStatus local_create(const crModel* model, crArena* arena, double h, Local* local) {
    size_t nb = (size_t)model->nb;
    *local = (Local){.h = h};
    if (!CR_ROOMS(arena, CR_ROOM(local->bodies, nb), CR_ZERO(local->in, nb), CR_ROOM(local->clock, nb),
                  CR_ROOM(local->airborne, nb), CR_ROOM(local->q, model->nq + 1),
                  CR_ROOM(local->v, model->nv + 1)))
        return CR_ERR_MEMORY;
    return CR_OK;
}

// Adds the group of a body to the bodies of the instant and keeps its state, for take_back.
static crStatus gather(const crStep* step, int body, Local* local, crStepEvents* events, crError* error) {
    const crModel* model = step->model;
    if (!cr__moves(model, body)) return CR_OK;
    crStatus status = cr__step_wake(step, body, events, error);
    if (status != CR_OK) return status;
    for (int b = body; !local->in[b]; b = step->clocks->groups.next[b]) {
        const crBody* own = &model->bodies[b];
        local->in[b] = step->clocks->fresh[b] = true;
        local->bodies[local->count++] = b;
        local->clock[b] = step->clocks->clock[b];
        local->airborne[b] = step->airborne[b];
        memcpy(local->q + own->q, step->state.q + own->q, (size_t)own->nq * sizeof(double));
        memcpy(local->v + own->v, step->state.v + own->v, (size_t)own->nv * sizeof(double));
    }
    return CR_OK;
}

static void take_back(crStep* step, const Local* local) {
    for (int k = 0; k < local->count; k++) {
        int b = local->bodies[k];
        const crBody* own = &step->model->bodies[b];
        step->clocks->clock[b] = local->clock[b];
        step->airborne[b] = local->airborne[b];
        memcpy(step->state.q + own->q, local->q + own->q, (size_t)own->nq * sizeof(double));
        memcpy(step->state.v + own->v, local->v + own->v, (size_t)own->nv * sizeof(double));
    }
    step->events.count = local->events;
    step->record.count = local->recorded;
}

static void set_now(crClocks* clocks, crState* state, double t) {
    clocks->now_at = t;
    state->time = clocks->start + t;
}

// true if no contact, loop or joint acts on the part
static bool flies_freely(const crModel* model, const crStepPart* part, const crStepContacts* contacts) {
    if (contacts->count > 0 || part->loop_count > 0) return false;
    for (int k = 0; k < part->count; k++) {
        int b = part->bodies[k];
        if (cr__moves(model, b) && !model->bodies[b].single) return false;
    }
    return true;
}

// Solves v of the part over h, then moves q.
static crStatus move_part(crStep* step, double h, bool plastic, crError* error) {
    crStatus status = CR_OK;
    if (flies_freely(step->model, &step->part, &step->contacts)) {
        cr__part_copy(step->model, cr__step_part(step), step->free.v, step->state.v);
    } else {
        status = cr__step_contact_solve(step, h, plastic, NULL, error);
        if (status == CR_OK)
            status = cr__step_record(&step->contacts, &step->own.allocator, &step->record, error);
    }
    return status == CR_OK ? cr_step_integrate(step, h, error) : status;
}

// Moves q and v of the part over h under its own contacts.
static crStatus go_on(crStep* step, double h, bool catches, crError* error) {
    crStatus status = cr_step_forces(step, h, error);
    if (status == CR_OK) status = cr__step_margins(step, h, error);
    if (status == CR_OK) status = cr__step_collide_part(step, false, error);
    step->clocks->closed = true;
    step->clocks->catches = catches;
    if (status == CR_OK) status = move_part(step, h, false, error);
    step->clocks->closed = step->clocks->catches = false;
    return status;
}

// Advances the group of a body from its clock to t.
static crStatus advance_group(crStep* step, int body, double t, crError* error) {
    double from = step->clocks->clock[body], h = t - from;
    if (!(h > 0.0)) return CR_OK;
    size_t mark = cr_arena_mark(&step->scratch);
    step->part = cr__step_part_groups(step, &body, 1);
    set_now(step->clocks, &step->state, from);
    crStatus kept = cr__step_kept_enter(step, &step->warm, &step->clocks->kept);
    // Predicted impacts come no sooner than t. Other impacts are found by trial, which costs too much in a
    // large group.
    bool catches = step->clocks->groups.members[step->clocks->groups.first[body]] > step->clocks->many;
    crStatus status = kept == CR_OK ? go_on(step, h, catches, error) : CR_OK;
    crStatus left = cr__step_kept_leave(step->model, &step->own.allocator, &step->warm, &step->clocks->kept);
    if (left != CR_OK || kept != CR_OK) return cr__step_memory(error);
    if (status != CR_OK) return status;
    for (int k = 0; k < step->part.count; k++) {
        step->clocks->clock[step->part.bodies[k]] = t;
    }
    set_now(step->clocks, &step->state, t);
    cr__part_kinematics(step->model, cr__step_part(step), &step->state, &step->dynamics);
    cr__part_velocity(step->model, cr__step_part(step), step->state.v, &step->dynamics);
    step->contacts.count = 0;
    cr_arena_release(&step->scratch, mark);
    return CR_OK;
}

// True if a body of contact c that is not in the list touches a listed one or will press on it.
// *body: that body.
static bool comes_along(const crStep* step, const Local* local, const crStepContact* c, double left,
                        int* body) {
    const crModel* model = step->model;
    bool a = !cr__moves(model, c->body_a) || local->in[c->body_a];
    bool b = !cr__moves(model, c->body_b) || local->in[c->body_b];
    *body = a ? c->body_b : c->body_a;
    return !(a && b) && (cr__step_touches(step, c) || cr__step_joins(step, c, left));
}

// Copies contacts out of scratch, which is then released: an instant finds contacts many times.
static crStatus keep_stock(const crStepContact* contacts, int count, const crAllocator* a, crClocks* clocks) {
    crStatus status = CR_GROW(a, clocks->stock, clocks->stock_capacity, 0, count);
    if (status == CR_OK && count > 0) memcpy(clocks->stock, contacts, (size_t)count * sizeof *clocks->stock);
    return status;
}

// Advances all listed bodies to t and finds their forces and contacts there; contacts of pairs without a
// fresh body are copied unless anew is true.
static crStatus look_at(crStep* step, Local* local, double t, bool anew, crError* error) {
    int count = anew ? 0 : step->contacts.count;
    crStatus status = keep_stock(step->contacts.list, count, &step->own.allocator, step->clocks);
    cr_arena_release(&step->scratch, local->mark);
    if (status != CR_OK) return cr__step_memory(error);
    for (int k = 0; k < local->count && status == CR_OK; k++) {
        status = advance_group(step, local->bodies[k], t, error);
    }
    if (status != CR_OK) return status;
    step->part = cr__step_part_groups(step, local->bodies, local->count);
    set_now(step->clocks, &step->state, t);
    status = cr_step_forces(step, local->h - t, error);
    if (status == CR_OK) status = cr__step_margins(step, local->h - t, error);
    if (status == CR_OK) {
        crStepKnown known = {step->clocks->stock, count, step->clocks->fresh};
        status = cr__step_collide_known(step, true, anew ? NULL : &known, error);
    }
    for (int k = 0; k < local->count; k++) {
        step->clocks->fresh[local->bodies[k]] = false;
    }
    return status;
}

// Advances all listed bodies to *t, and adds bodies that come along until none is left. *t becomes the clock of a
// body that comes along and is ahead. anew: true if no contacts at *t are known.
static crStatus bring(crStep* step, Local* local, double* t, bool anew, crError* error) {
    int known = -1;
    crStatus status = CR_OK;
    while (known < local->count && status == CR_OK) {
        known = local->count;
        status = look_at(step, local, *t, anew, error);
        anew = false;
        for (int i = 0; i < step->contacts.count && status == CR_OK; i++) {
            int body;
            if (!comes_along(step, local, &step->contacts.list[i], local->h - *t, &body)) continue;
            status = gather(step, body, local, &step->events, error);
        }
        for (int k = known; k < local->count; k++) {
            double clock = local->clock[local->bodies[k]];
            anew = anew || clock > *t;
            *t = fmax(*t, clock);
        }
    }
    return status;
}

// Earlier time at which the advance should have ended if a contact that closes fast overlaps by more than the
// deadband; t if none does.
static double overshoot(const crStep* step, const Local* local, double t) {
    double depth = 0.0, speed = 1.0, earliest = 0.0;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        int ends[2] = {c->body_a, c->body_b};
        for (int k = 0; k < 2; k++) {
            if (!cr__moves(step->model, ends[k])) continue;
            double clock = local->in[ends[k]] ? local->clock[ends[k]] : step->clocks->clock[ends[k]];
            earliest = fmax(earliest, clock);
        }
        double over = -c->point.gap - c->delta;
        if (c->speed >= -c->fast || over <= depth) continue;
        depth = over;
        speed = -c->speed;
    }
    double sooner = t - depth / speed;
    return depth > 0.0 && sooner > earliest ? sooner : t;
}

// Switches off impacts for the listed bodies in this step.
static void blunt(const Local* local, crClocks* clocks, crCertificate* certificate) {
    for (int k = 0; k < local->count; k++) {
        clocks->blunt[local->bodies[k]] = true;
    }
    certificate->truncated = true;
}

static crStatus bring_exactly(crStep* step, Local* local, double* t, crError* error) {
    local->mark = cr_arena_mark(&step->scratch);
    local->events = step->events.count;
    local->recorded = step->record.count;
    crStatus status = CR_OK;
    for (int i = 0; i <= RETRIES; i++) {
        status = bring(step, local, t, true, error);
        if (status != CR_OK || i == RETRIES) break;
        double sooner = overshoot(step, local, *t);
        if (!(sooner < *t - (local->count > step->clocks->many ? LATE * step->clocks->slot : 0.0))) break;
        take_back(step, local);
        step->contacts.count = 0;
        *t = sooner;
    }
    return status;
}

static crStatus resolve_all(crStep* step, Local* local, double* t, crError* error) {
    crStatus status = CR_OK;
    int resolved = 1, most = step->clocks->ahead > 0.0 ? SLOTS * REPEATS : REPEATS;
    for (int i = 0; status == CR_OK; i++) {
        bool enough = i >= most || step->certificate.impacts >= step->settings.impact_limit;
        if (enough) blunt(local, step->clocks, &step->certificate);
        if (!enough) status = cr_step_impacts(step, &resolved, error);
        if (status != CR_OK || resolved == 0) break;
        status = bring(step, local, t, enough, error);
        if (enough) break;
    }
    return status;
}

// Times the pairs of the part again.
static crStatus time_anew(const crStep* step, double left, crPairs* pairs, crClocks* clocks) {
    cr__pairs_index(pairs, step->own.tasks);
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k];
        for (int i = pairs->first_of[b]; i < pairs->first_of[b + 1]; i++) {
            pairs->time[pairs->of[i]].when = INFINITY;
        }
    }
    return schedule(step, left, clocks->now_at, pairs, clocks);
}

static crStatus one_impact(crStep* step, Local* local, crDue due, crError* error) {
    crNear pair = step->pairs->near[due.pair];
    size_t mark = cr_arena_mark(&step->scratch);
    double t = due.time;
    crStatus status = gather(step, pair.body_a, local, &step->events, error);
    if (status == CR_OK) status = gather(step, pair.body_b, local, &step->events, error);
    if (local->count > step->clocks->many) step->clocks->ahead = fmin(step->clocks->slot, local->h - t);
    if (status == CR_OK) status = bring_exactly(step, local, &t, error);
    int impacts = step->certificate.impacts;
    if (status == CR_OK) status = resolve_all(step, local, &t, error);
    if (status == CR_OK && step->certificate.impacts == impacts) {
        step->pairs->time[cr__pairs_place(step->pairs, pair.shape_a, pair.shape_b)].alarms++;
    }
    if (status == CR_OK) {
        cr__step_groups_join(step, local->h - t, step->clocks);
        status = time_anew(step, local->h - t, step->pairs, step->clocks);
        if (status != CR_OK) cr__step_memory(error);
    }
    for (int k = 0; k < local->count; k++) {
        local->in[local->bodies[k]] = step->clocks->fresh[local->bodies[k]] = false;
        step->clocks->hit[local->bodies[k]] = true;
    }
    local->count = 0;
    step->clocks->ahead = 0.0;
    step->contacts.count = 0;
    cr_arena_release(&step->scratch, mark);
    return status;
}

// Switches off impacts: advances all bodies to the latest clock, then makes one plastic solve to the end.
static crStatus rest_plastically(crStep* step, double h, crError* error) {
    const crModel* model = step->model;
    double latest = 0.0;
    crStatus status = CR_OK;
    for (int k = 0; k < step->awake.count; k++) {
        if (cr__moves(model, step->awake.bodies[k]))
            latest = fmax(latest, step->clocks->clock[step->awake.bodies[k]]);
    }
    for (int k = 0; k < step->awake.count && status == CR_OK; k++) {
        if (cr__moves(model, step->awake.bodies[k]))
            status = advance_group(step, step->awake.bodies[k], latest, error);
    }
    if (status == CR_OK &&
        cr__step_kept_close(&step->own.allocator, &step->warm, &step->clocks->kept) != CR_OK)
        status = cr__step_memory(error);
    step->part = step->awake;
    set_now(step->clocks, &step->state, latest);
    step->certificate.truncated = true;
    if (status == CR_OK) status = cr_step_forces(step, h - latest, error);
    if (status == CR_OK) status = cr__step_margins(step, h - latest, error);
    if (status == CR_OK) status = cr__step_collide_part(step, false, error);
    return status == CR_OK ? move_part(step, h - latest, true, error) : status;
}

// Solves the groups without an impact over the whole step, by the contacts and forces of its beginning.
static crStatus finish_resting(crStep* step, double h, crStepContact* contacts, int count, crError* error) {
    int kept = 0;
    if (cr__step_kept_close(&step->own.allocator, &step->warm, &step->clocks->kept) != CR_OK)
        return cr__step_memory(error);
    step->part = cr__step_part_of(step, step->clocks->hit, false);
    for (int i = 0; i < count; i++) {
        const crStepContact* c = &contacts[i];
        if (!step->clocks->hit[c->body_a] && !step->clocks->hit[c->body_b]) contacts[kept++] = *c;
    }
    step->contacts.list = contacts;
    step->contacts.count = kept;
    set_now(step->clocks, &step->state, 0.0);
    step->free.h = h;
    cr__part_kinematics(step->model, (crPart){step->plan->given, step->plan->given_count}, &step->state,
                        &step->dynamics);
    return move_part(step, h, false, error);
}

crStatus cr__step_locally(crStep* step, double h, crError* error) {
    crStepContact* contacts = step->contacts.list;
    int contact_count = step->contacts.count, limit = step->settings.impact_limit;
    Local local;
    crDue due;
    crStatus status = local_create(step->model, &step->scratch, h, &local);
    if (status == CR_OK)
        status = cr__step_kept_open(step->model, &step->own.allocator, &step->warm, &step->clocks->kept);
    if (status == CR_OK) status = group(step, h, step->pairs, step->clocks);
    if (status != CR_OK) return cr__step_memory(error);
    for (int i = 0; status == CR_OK && next_due(step, h, &due, &status, error); i++) {
        if (step->certificate.impacts >= limit || i >= 2 * limit) {
            return rest_plastically(step, h, error);
        }
        status = one_impact(step, &local, due, error);
        if (status == CR_OK && step->clocks->lists != step->pairs->lists &&
            heap_again(step->pairs, &step->own.allocator, step->clocks) != CR_OK)
            status = cr__step_memory(error);
    }
    size_t mark = cr_arena_mark(&step->scratch);
    for (int b = 1; b < step->model->nb && status == CR_OK; b++) {
        if (step->clocks->hit[b]) status = advance_group(step, b, h, error);
    }
    cr_arena_release(&step->scratch, mark);
    return status == CR_OK ? finish_resting(step, h, contacts, contact_count, error) : status;
}
