// struck.c - events of impacts that a contact solve resolved.
//
// Two methods locate no impact: lcp and moreau. Contacts with load join bodies to clusters. A cluster is
// struck if a contact begins in it that closed faster than the threshold. Each contact with load of a struck
// cluster becomes an event with its impulse, also contacts with load in the last step and contacts that
// closed only by the push of others. Their energy change is that of the whole cluster, the sum of P.(u- +
// u+)/2 over the rows of the solve. Other contacts that begin keep their own event (solve.c).
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "step/forest.h"
#include "step/step.h"

typedef struct Struck {
    int* parent;     // cluster of each body's tree (nb)
    bool* struck;    // true for a struck cluster, at its root (nb)
    double* energy;  // energy change of a cluster, at its root, J (nb)
    double* u_before;
    double* u_after;  // velocities of the rows before and after (rows.count)
} Struck;

static bool takes_part(const crStepContact* c) { return cr_dot(c->impulse, c->impulse) > 0.0; }

static double struck_work(const Struck* s, const double* p, const crStepContact* c) {
    double work = 0.0;
    for (int r = c->row; r < c->row + cr__step_contact_rows(c); r++) {
        work += 0.5 * p[r] * (s->u_before[r] + s->u_after[r]);
    }
    return work;
}

static void find_struck(const crStep* step, Struck* s) {
    const crModel* model = step->model;
    for (int b = 0; b < model->nb; b++) {
        s->parent[b] = b;
        s->struck[b] = false;
        s->energy[b] = 0.0;
    }
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (takes_part(c)) cr__forest_join_trees(model, s->parent, c->body_a, c->body_b);
    }
    for (int i = 0; i < step->events.count; i++) {
        const crEvent* e = &step->events.list[i];
        if (e->approach > step->settings.threshold)
            s->struck[cr__forest_of_trees(model, s->parent, e->body_a, e->body_b)] = true;
    }
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (takes_part(c))
            s->energy[cr__forest_of_trees(model, s->parent, c->body_a, c->body_b)] +=
                struck_work(s, step->posed.p, c);
    }
}

crStatus cr__step_log_struck(const crStep* step, const double* v_after, crArena* arena, crStepEvents* events,
                             crError* error) {
    size_t nb = (size_t)step->model->nb, rows = (size_t)step->posed.rows.count + 1;
    if (events->count == 0) return CR_OK;
    size_t mark = cr_arena_mark(arena);
    Struck s;
    if (!CR_ROOMS(arena, CR_ROOM(s.parent, nb), CR_ROOM(s.struck, nb), CR_ROOM(s.energy, nb),
                  CR_ROOM(s.u_before, rows), CR_ROOM(s.u_after, rows)))
        return cr__step_memory(error);
    cr_rows_velocity(&step->posed.rows, step->start.v, s.u_before);
    cr_rows_velocity(&step->posed.rows, v_after, s.u_after);
    find_struck(step, &s);
    // Events of struck clusters are removed: events of all their contacts follow.
    int kept = 0;
    for (int i = 0; i < events->count; i++) {
        const crEvent* e = &events->list[i];
        if (!s.struck[cr__forest_of_trees(step->model, s.parent, e->body_a, e->body_b)])
            events->list[kept++] = *e;
    }
    events->count = kept;
    crStatus status = CR_OK;
    for (int i = 0; i < step->contacts.count && status == CR_OK; i++) {
        const crStepContact* c = &step->contacts.list[i];
        int root = takes_part(c) ? cr__forest_of_trees(step->model, s.parent, c->body_a, c->body_b) : 0;
        if (!takes_part(c) || !s.struck[root]) continue;
        crEvent event = cr__step_event_of(step->state.time, c);
        event.energy_change = s.energy[root];
        status = cr__step_event_put(&step->own.allocator, &event, events);
    }
    cr_arena_release(arena, mark);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}
