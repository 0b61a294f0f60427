// step_cone.c - the default method: exact circular cones, impacts located inside the step.
//
// Forces and contacts of the whole world are found once. If no contact will be an impact before the step
// ends, the step is one contact solve; otherwise locals.c resolves the impacts in the order of time, and each
// moves only the groups of bodies it concerns. Contacts that will be impacts take no part in solves. The
// position pass ends the step. Without restitution, some rules give what the contact solve gives (Poisson's,
// Newton's). With such a rule, no impact is located for bodies that reach no contact with restitution: they
// land by the end of the step, on the surface.
// Fails: as its stages do. More impacts than impact_limit: the rest of the step is plastic, and the
// certificate says so.
#include <string.h>

#include "relax/packed.h"
#include "resolve/kinds.h"
#include "step/clocks.h"
#include "step/lie.h"
#include "step/moving.h"
#include "step/position.h"

// Sorts the events by time and numbers the impacts in that order; events of one impact stay together.
// CR_ERR_MEMORY.
static crStatus order_events(const crStepEvents* all, crArena* arena) {
    crEvent *events = all->list, *before;
    crKeyed *keys, *work;
    if (!CR_ROOMS(arena, CR_ROOM(before, all->count + 1), CR_ROOM(keys, all->count + 1),
                  CR_ROOM(work, all->count + 1)))
        return CR_ERR_MEMORY;
    for (int i = 0; i < all->count; i++) {
        before[i] = events[i];
        keys[i] = (crKeyed){events[i].time, i};
    }
    keys = cr__sort_keyed(keys, work, all->count);
    for (int i = 0, was = -1, number = -1; i < all->count; i++) {
        events[i] = before[keys[i].at];
        if (events[i].impact < 0) continue;
        if (events[i].impact != was) number++;
        was = events[i].impact;
        events[i].impact = number;
    }
    return CR_OK;
}

// true if short steps may move islands
static bool may_move(const crStep* step) {
    return step->settings.quality == CR_QUALITY_FAST &&
           step->settings.solver.solve == cr__solver(&cr__solver_auto, NULL).solve &&
           step->calls.posed == NULL;
}

// Finds contacts within the margins, and islands if a later stage reads them; else islands[CR_WORLD] is -1.
static crStatus collide(crStep* step, int* islands, crError* error) {
    crStatus status = cr__step_collide_part(step, false, error);
    // true if a later stage reads the islands
    bool asked = !step->clocks->plastic || step->settings.sleep_time > 0.0 || cr__step_nears_rest(step);
    if (status == CR_OK && asked) cr__step_reachable(step, islands);
    if (status == CR_OK && !asked) islands[CR_WORLD] = -1;
    return status;
}

// Finds forces and contacts of all awake bodies, and of the bodies that they wake.
static crStatus look_around(crStep* step, double h, int* islands, crError* error) {
    crStatus status = cr__step_wake_written(step, error);
    bool woke = true;
    cr__lie_look(step, &step->rest.lying);
    while (woke && status == CR_OK) {
        step->part = cr__step_list_awake(step, &step->awake);
        status = cr_step_forces(step, h, error);
        if (status == CR_OK) status = cr__step_margins(step, h, error);
        if (status == CR_OK) status = cr__lie_keep_near(step, error);
        if (status == CR_OK) status = collide(step, islands, error);
        if (status == CR_OK) status = cr__step_wake_touched(step, &woke, &step->events, error);
        woke = cr__lie_touched(step, &step->rest.lying) || woke;
    }
    return status;
}

static crStatus move(crStep* step, double h, int* islands, bool* listed, crError* error) {
    crStatus status = CR_OK;
    if (!step->clocks->plastic)
        status = cr__step_find_plain(step, &step->scratch, islands, step->clocks->plain, error);
    if (status == CR_OK && !step->clocks->plastic)
        status = cr__step_schedule(step, h, step->pairs, step->clocks, error);
    *listed = status == CR_OK && step->clocks->due_count == 0;
    if (status == CR_OK && step->clocks->due_count > 0) return cr__step_locally(step, h, error);
    if (status != CR_OK) return status;
    // roots are known only if a stage asked for islands
    const int* roots = islands[CR_WORLD] >= 0 ? islands : NULL;
    // contacts with moved bodies are off the list: if no body sleeps or lies, the part has no outer contacts
    step->clocks->closed =
        step->clocks->moved != NULL && step->certificate.asleep == 0 && step->rest.lying.count == 0;
    status = cr__step_contact_solve(step, h, false, roots, error);
    step->clocks->closed = false;
    if (status == CR_OK) status = cr_step_integrate(step, h, error);
    return status == CR_OK ? cr__step_mechanisms(step, h, error) : status;
}

// Frees the memory of the solve for the position pass; contacts stay.
static void forget_solve(crStepPosed* posed, crArena* arena, size_t mark) {
    cr_arena_release(arena, mark);
    *posed = (crStepPosed){.report = posed->report};
}

// Ends the step for lying islands and for islands that come to rest.
static crStatus finish_rest(crStep* step, double h, const int* islands, const bool* moved, const bool* hit,
                            crError* error) {
    crStatus status = cr__lie_certify(step, h);
    if (status == CR_OK && islands[CR_WORLD] >= 0) status = cr__step_rest(step, h, islands, moved, hit);
    cr__lie_show(&step->rest.lying, &step->contacts);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}

crStatus cr_step_cone(crStep* step, double h, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    double end = step->state.time + h;
    if (!step->rest.lying.known) cr__lie_end(&step->rest.lying, step->model->nb);
    step->rest.lying.known = false;
    crStatus status = cr__step_open(step, error);
    if (status != CR_OK) return status;
    int *islands, nb = step->model->nb;
    bool *hit, *back, listed = false;
    double* q;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(islands, nb), CR_ROOM(hit, nb))) return cr__step_memory(error);
    crPositionList start = {0};
    crMoved moved = {0};
    status = look_around(step, h, islands, error);
    if (status == CR_OK && may_move(step)) status = cr__step_move_islands(step, h, islands, &moved, error);
    if (status == CR_OK && cr__step_position_list(step, &step->scratch, &start) != CR_OK)
        status = cr__step_memory(error);
    moved.margin = start.margin;
    size_t mark = cr_arena_mark(&step->scratch);
    step->clocks->moved = moved.body;
    if (status == CR_OK) status = move(step, h, islands, &listed, error);
    step->clocks->moved = NULL;
    if (status != CR_OK) return status;
    memcpy(hit, step->clocks->hit, (size_t)nb * sizeof *hit);
    // true if the contacts of the beginning are still listed: not if the whole step became plastic
    bool kept = step->contacts.list == start.contacts;
    if (kept) forget_solve(&step->posed, &step->scratch, mark);
    start.count = step->contacts.count;
    if (!listed) cr__step_groups_begin(step->model, step->rest.sleep, step->state.time, step->clocks);
    if (!listed || moved.body != NULL) step->part = cr__step_list_awake(step, &step->awake);
    step->state.time = end;
    crStepContact* solved = step->contacts.list;
    status = cr_step_finite(step, error);
    if (!CR_ROOMS(&step->scratch, CR_ROOM(q, step->model->nq + 1), CR_ROOM(back, nb)))
        return cr__step_memory(error);
    cr__tasks_copy(step->own.tasks, q, step->state.q, (size_t)step->model->nq);
    if (status == CR_OK)
        status =
            cr__step_position_pass(step, kept ? &start : NULL, listed ? NULL : hit, moved.body, 0.0, error);
    if (status == CR_OK && cr__step_limit_lift(step, h, q, moved.body != NULL, NULL, back) != CR_OK)
        status = cr__step_memory(error);
    if (status == CR_OK) status = cr__step_end_moved(step, h, &moved, &start, back, error);
    if (status == CR_OK && step->settings.sleep_time > 0.0) {
        status = cr__step_fall_asleep(step, h, islands, error);
    }
    if (status == CR_OK && order_events(&step->events, &step->scratch) != CR_OK)
        status = cr__step_memory(error);
    // the position pass may have listed other contacts: the contacts of the solves are shown
    step->contacts.list = solved;
    step->contacts.count = start.count;
    if (!listed) cr__step_show_record(&step->record, &step->contacts);
    if (status == CR_OK) cr__step_show_moved(&moved, &step->contacts);
    if (status == CR_OK) status = finish_rest(step, h, islands, moved.body, hit, error);
    return status;
}
