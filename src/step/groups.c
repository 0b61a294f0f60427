// groups.c - which bodies move together: groups joined by contacts that may press, and the parts made of
// them.
//
// A group is a set of trees joined by loops and by contacts that touch or will close softly before the step
// ends. Between two groups nothing acts until an impact, so each can have a clock of its own. A force of the
// user's may tie anything to anything: with one, all bodies are one group.
// Where the rule is Poisson's or Newton's with the exact cone and no contact that a body can reach has
// restitution, the rule's impact is the contact solve's own problem: such bodies are plain, and their
// contacts are never impacts.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "resolve/kinds.h"
#include "step/cache.h"
#include "step/forest.h"

void cr__step_sort(int* items, int count) {
    // heap sort: no memory, and no bad case
    for (int end = count, start = count / 2; end > 1;) {
        int root, value;
        if (start > 0) {
            root = --start;
            value = items[root];
        } else {
            value = items[--end];
            items[end] = items[0];
            root = 0;
        }
        for (int child = 2 * root + 1; child < end; child = 2 * root + 1) {
            if (child + 1 < end && items[child + 1] > items[child]) child++;
            if (items[child] <= value) break;
            items[root] = items[child];
            root = child;
        }
        items[root] = value;
    }
}

static void unite(const crModel* model, int* parent, int a, int b) {
    if (!cr__moves(model, a) || !cr__moves(model, b)) return;
    cr__forest_join(parent, a, b);
}

// trees and loops of the part
static void unite_fixed(const crStep* step, int* parent) {
    const crModel* model = step->model;
    for (int k = 0; k < step->part_count; k++) {
        parent[step->part[k]] = step->part[k];
    }
    for (int k = 0, last = -1; k < step->part_count; k++) {
        int b = step->part[k];
        if (!cr__moves(model, b)) continue;
        unite(model, parent, b, model->bodies[b].root);
        if (step->force != NULL && last >= 0) unite(model, parent, b, last);
        last = b;
    }
    for (int k = 0; k < step->part_loop_count; k++) {
        const crLoop* loop = &model->loops[step->part_loops[k]];
        unite(model, parent, loop->a, loop->b);
    }
}

void cr__step_groups_begin(crStep* step) {
    crStepCache* cache = step->cache;
    int nb = step->model->nb;
    cache->start = step->state.time;
    cache->now_at = cache->ahead = 0.0;
    cache->due_count = 0;
    cache->late = NULL;
    for (int b = 0; b < nb; b++) {
        cache->clock[b] = 0.0;
        cache->hit[b] = cache->fresh[b] = false;
        cache->blunt[b] = false;
        cache->plain[b] = false;
        cache->group[b] = b;
        cache->next[b] = b;
        cache->members[b] = 1;
    }
    // what sleeps together wakes as one group
    for (int b = 1; b < nb; b++) {
        int head = step->sleep[b].island;
        if (head == 0 || head == b) continue;
        cache->group[b] = head;
        cache->next[b] = cache->next[head];
        cache->next[head] = b;
        cache->members[head]++;
    }
}

bool cr__step_joins(const crStep* step, const crStepContact* c, double left) {
    if (c->point.gap <= c->delta && c->speed < c->fast) return true;
    crVec3 u = cr_sub(cr__step_point_velocity(step, step->v_free, c->body_b, c->point.point),
                      cr__step_point_velocity(step, step->v_free, c->body_a, c->point.point));
    double lowest = fmin(c->speed, cr_dot(u, c->point.normal));
    // what carries a body may drive it at its neighbour about as gravity would
    double drive = left * cr_norm(step->model->gravity);
    bool flies = step->airborne[c->body_a] && step->airborne[c->body_b], slow = fabs(c->speed) <= drive;
    if (!flies && slow && c->point.gap - c->delta + left * (lowest - drive) <= 0.0) return true;
    return c->point.gap - c->delta + left * lowest <= 0.0 && !cr__step_meets_fast(step, c);
}

static void mark_part(crStep* step, int value) {
    for (int k = 0; k < step->part_count; k++) {
        step->cache->mark[step->part[k]] = value;
    }
}

void cr__step_groups_join(crStep* step, double left) {
    crStepCache* cache = step->cache;
    const crModel* model = step->model;
    int* group = cache->group;
    unite_fixed(step, group);
    mark_part(step, 1);
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        bool inside = cache->mark[c->body_a] != 0 && cache->mark[c->body_b] != 0;
        if (inside && cr__step_joins(step, c, left)) unite(model, group, c->body_a, c->body_b);
    }
    mark_part(step, 0);
    // the first body of a group comes first, so its ring exists when the others enter it
    for (int k = 0; k < step->part_count; k++) {
        int b = step->part[k];
        int head = group[b] = cr__forest_find(group, b);
        cache->next[b] = b;
        cache->members[b] = 1;
        if (head == b) continue;
        cache->next[b] = cache->next[head];
        cache->next[head] = b;
        cache->members[head]++;
    }
}

// given bodies and loops to those listed
static void complete_part(crStep* step, int count) {
    crStepCache* cache = step->cache;
    const crModel* model = step->model;
    int loops = 0;
    for (int k = 0; k < count; k++) {
        int b = cache->list[k];
        for (int i = cache->first_tie[b]; i < cache->first_tie[b + 1]; i++) {
            const crLoop* loop = &model->loops[cache->ties[i]];
            // of two moving ends the first counts
            if (b == loop->a || !cr__moves(model, loop->a)) cache->loops[loops++] = cache->ties[i];
        }
    }
    for (int k = 0; k < cache->given_count; k++) {
        cache->list[count++] = cache->given[k];
    }
    cr__step_sort(cache->list, count);
    cr__step_sort(cache->loops, loops);
    step->part = cache->list;
    step->part_count = count;
    step->part_loops = cache->loops;
    step->part_loop_count = loops;
}

void cr__step_part_groups(crStep* step, const int* bodies, int count) {
    crStepCache* cache = step->cache;
    int listed = 0;
    for (int k = 0; k < count; k++) {
        for (int b = bodies[k]; cache->mark[b] == 0; b = cache->next[b]) {
            cache->mark[b] = 1;
            cache->list[listed++] = b;
        }
    }
    for (int k = 0; k < listed; k++) {
        cache->mark[cache->list[k]] = 0;
    }
    complete_part(step, listed);
}

void cr__step_part_resting(crStep* step) {
    crStepCache* cache = step->cache;
    int listed = 0;
    for (int k = 0; k < cache->whole_count; k++) {
        int b = cache->whole[k];
        if (cr__moves(step->model, b) && !cache->hit[b]) cache->list[listed++] = b;
    }
    complete_part(step, listed);
}

void cr__step_part_of(crStep* step, const bool* in) {
    crStepCache* cache = step->cache;
    int listed = 0;
    for (int k = 0; k < cache->whole_count; k++) {
        int b = cache->whole[k];
        if (cr__moves(step->model, b) && in[b]) cache->list[listed++] = b;
    }
    complete_part(step, listed);
}

void cr__step_leave_out(crStep* step, const bool* out) {
    crStepCache* cache = step->cache;
    const crModel* model = step->model;
    int bodies = 0, loops = 0;
    for (int k = 0; k < cache->whole_count; k++) {
        int b = cache->whole[k];
        if (!cr__moves(model, b) || !out[b]) cache->whole[bodies++] = b;
    }
    for (int k = 0; k < cache->whole_loop_count; k++) {
        const crLoop* loop = &model->loops[cache->whole_loops[k]];
        if (!out[loop->a] && !out[loop->b]) cache->whole_loops[loops++] = cache->whole_loops[k];
    }
    cache->whole_count = bodies;
    cache->whole_loop_count = loops;
    cr__step_part_all(step);
}

void cr__step_part_all(crStep* step) {
    step->part = step->cache->whole;
    step->part_count = step->cache->whole_count;
    step->part_loops = step->cache->whole_loops;
    step->part_loop_count = step->cache->whole_loop_count;
}

// whether an impact without restitution is what the contact solve does anyway
bool cr__step_solves_alike(const crStepSettings* s, bool* reads_et) {
    const crRuleParams* params = s->rule.params;
    crRule newton = cr__rule(&cr__rule_newton, NULL), poisson = cr__rule(&cr__rule_poisson, NULL);
    *reads_et = s->rule.resolve == newton.resolve;
    bool known = *reads_et || s->rule.resolve == poisson.resolve;
    return known && (params == NULL || params->directions == 0);
}

void cr__step_reachable(const crStep* step, int* islands) {
    // what wakes later in the step has an island of its own
    for (int b = 0; b < step->model->nb; b++) {
        islands[b] = b;
    }
    unite_fixed(step, islands);
    for (int i = 0; i < step->contact_count; i++) {
        unite(step->model, islands, step->contacts[i].body_a, step->contacts[i].body_b);
    }
    for (int k = 0; k < step->part_count; k++) {
        int b = step->part[k];
        islands[b] = cr__forest_find(islands, b);
    }
}

crStatus cr__step_find_plain(crStep* step, int* islands, crError* error) {
    crStepCache* cache = step->cache;
    const crModel* model = step->model;
    bool reads_et;
    if (!cr__step_solves_alike(&step->settings, &reads_et)) return CR_OK;
    size_t mark = cr_arena_mark(&step->scratch);
    bool* bounces = cr_arena_alloc(&step->scratch, (size_t)model->nb * sizeof *bounces);
    if (bounces == NULL) return cr__step_memory(error);
    memset(bounces, 0, (size_t)model->nb * sizeof *bounces);
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        int b = cr__moves(model, c->body_a) ? c->body_a : c->body_b;
        if (c->bounces) bounces[cr__forest_find(islands, b)] = true;
    }
    memset(cache->plain, 1, (size_t)model->nb * sizeof *cache->plain);
    for (int k = 0; k < step->part_count; k++) {
        int b = step->part[k];
        if (cr__moves(model, b)) cache->plain[b] = !bounces[cr__forest_find(islands, b)];
    }
    for (int i = 0; i < step->contact_count; i++) {
        crStepContact* c = &step->contacts[i];
        if (cache->plain[c->body_a] && cache->plain[c->body_b]) c->fast = INFINITY;
    }
    cr_arena_release(&step->scratch, mark);
    return CR_OK;
}
