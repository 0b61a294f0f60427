// groups.c - groups of bodies that move together, joined by contacts that may press.
//
// A group is a set of trees joined by loops and by contacts that touch or will close softly before the step
// ends. Bodies of two groups do not act on each other until an impact, so each group can have a clock of its
// own. If the user gives a force function, which may couple any bodies, all bodies are one group.
// With Poisson's rule, or Newton's, and the exact cone, the rule's impact without restitution is the contact
// solve's own problem. Bodies are plain if no contact that they can reach has restitution; their contacts are
// never impacts.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "resolve/kinds.h"
#include "step/clocks.h"
#include "step/forest.h"

static void unite(const crModel* model, int* parent, int a, int b) {
    if (!cr__moves(model, a) || !cr__moves(model, b)) return;
    cr__forest_join(parent, a, b);
}

// Joins the bodies of each tree and loop of the part; with a user's force, all bodies of the part.
static void unite_fixed(const crModel* model, const crStepPart* part, const crStepCalls* calls, int* parent) {
    for (int k = 0; k < part->count; k++) {
        parent[part->bodies[k]] = part->bodies[k];
    }
    for (int k = 0, last = -1; k < part->count; k++) {
        int b = part->bodies[k];
        if (!cr__moves(model, b)) continue;
        unite(model, parent, b, model->bodies[b].root);
        if (calls->force != NULL && last >= 0) unite(model, parent, b, last);
        last = b;
    }
    for (int k = 0; k < part->loop_count; k++) {
        const crLoop* loop = &model->loops[part->loops[k]];
        unite(model, parent, loop->a, loop->b);
    }
}

// Adds a body to the ring of the group whose first body is `head`.
static void enter_ring(crGroups* groups, int head, int body) {
    groups->next[body] = groups->next[head];
    groups->next[head] = body;
    groups->members[head]++;
}

crStatus cr__step_clocks_create(const crModel* model, crArena* store, crClocks* clocks) {
    int nb = model->nb;
    bool ok = CR_ROOMS(store, CR_ZERO(clocks->clock, nb), CR_ZERO(clocks->hit, nb),
                       CR_ZERO(clocks->fresh, nb), CR_ZERO(clocks->blunt, nb), CR_ZERO(clocks->plain, nb),
                       CR_ZERO(clocks->groups.first, nb), CR_ZERO(clocks->groups.members, nb),
                       CR_ZERO(clocks->kept.first, nb), CR_ZERO(clocks->groups.next, nb));
    return ok ? CR_OK : CR_ERR_MEMORY;
}

void cr__step_groups_begin(const crModel* model, const crSleep* sleep, double time, crClocks* clocks) {
    int nb = model->nb;
    clocks->start = time;
    clocks->now_at = clocks->ahead = 0.0;
    clocks->due_count = 0;
    clocks->kept.open = false;
    for (int b = 0; b < nb; b++) {
        clocks->clock[b] = 0.0;
        clocks->hit[b] = clocks->fresh[b] = false;
        clocks->blunt[b] = false;
        clocks->plain[b] = false;
        clocks->groups.first[b] = b;
        clocks->groups.next[b] = b;
        clocks->groups.members[b] = 1;
    }
    // A sleeping island is one group.
    for (int b = 1; b < nb; b++) {
        int head = sleep[b].island;
        if (head == 0 || head == b) continue;
        clocks->groups.first[b] = head;
        enter_ring(&clocks->groups, head, b);
    }
}

bool cr__step_joins(const crStep* step, const crStepContact* c, double left) {
    if (c->point.gap <= c->delta && c->speed < c->fast) return true;
    double lowest = fmin(c->speed, cr_dot(cr__step_contact_velocity(step, step->free.v, c), c->point.normal));
    // The support of a body may push it against its neighbour at about the rate of gravity.
    double drive = left * cr_norm(step->model->gravity);
    bool flies = step->airborne[c->body_a] && step->airborne[c->body_b], slow = fabs(c->speed) <= drive;
    if (!flies && slow && c->point.gap - c->delta + left * (lowest - drive) <= 0.0) return true;
    return c->point.gap - c->delta + left * lowest <= 0.0 && !cr__step_meets_fast(step, c);
}

void cr__step_groups_join(const crStep* step, double left, crClocks* clocks) {
    const crModel* model = step->model;
    int* group = clocks->groups.first;
    unite_fixed(step->model, &step->part, &step->calls, group);
    cr__step_mark_part(step, 1);
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        bool inside = step->work.mark[c->body_a] != 0 && step->work.mark[c->body_b] != 0;
        if (inside && cr__step_joins(step, c, left)) unite(model, group, c->body_a, c->body_b);
    }
    cr__step_mark_part(step, 0);
    // The first body of a group comes first in the part, so its ring exists when other bodies enter it.
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k];
        int head = group[b] = cr__forest_find(group, b);
        clocks->groups.next[b] = b;
        clocks->groups.members[b] = 1;
        if (head != b) enter_ring(&clocks->groups, head, b);
    }
}

void cr__step_reachable(const crStep* step, int* islands) {
    // A body that wakes later in the step has an island of its own.
    cr__forest_begin(islands, step->model->nb);
    unite_fixed(step->model, &step->part, &step->calls, islands);
    for (int i = 0, a = -1, b = -1; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        // contacts of a pair are side by side
        if (c->body_a == a && c->body_b == b) continue;
        a = c->body_a;
        b = c->body_b;
        unite(step->model, islands, a, b);
    }
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k];
        islands[b] = cr__forest_find(islands, b);
    }
}

crStatus cr__step_find_plain(const crStep* step, crArena* arena, int* islands, bool* plain, crError* error) {
    const crModel* model = step->model;
    bool reads_et;
    if (!cr__step_solves_alike(&step->settings, &reads_et)) return CR_OK;
    size_t mark = cr_arena_mark(arena);
    bool* bounces;
    if (!CR_ROOMS(arena, CR_ZERO(bounces, model->nb))) return cr__step_memory(error);
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        int b = cr__moves(model, c->body_a) ? c->body_a : c->body_b;
        if (c->bounces) bounces[cr__forest_find(islands, b)] = true;
    }
    memset(plain, 1, (size_t)model->nb * sizeof *plain);
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k];
        if (cr__moves(model, b)) plain[b] = !bounces[cr__forest_find(islands, b)];
    }
    for (int i = 0; i < step->contacts.count; i++) {
        crStepContact* c = &step->contacts.list[i];
        if (plain[c->body_a] && plain[c->body_b]) c->fast = INFINITY;
    }
    cr_arena_release(arena, mark);
    return CR_OK;
}
