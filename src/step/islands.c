// islands.c - which bodies can push each other: union-find over contacts that take part, loops and trees.
//
// A tree is one vertex; what v does not move is none. Fails: CR_ERR_MEMORY.
#include "step/islands.h"

#include <string.h>

#include "model/spatial.h"

#define ROWS 100  // small islands, where Newton's method takes all units at once

static int find(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// the smaller index leads, so numbers do not depend on the order of contacts
static void join(const crModel* model, int* parent, int a, int b) {
    if (!cr__moves(model, a) || !cr__moves(model, b)) return;
    int x = find(parent, model->bodies[a].root), y = find(parent, model->bodies[b].root);
    parent[x > y ? x : y] = x > y ? y : x;
}

int cr__island_of_contact(const crStep* step, const crIslands* islands, const crStepContact* c) {
    return islands->of_body[cr__moves(step->model, c->body_b) ? c->body_b : c->body_a];
}

bool cr__step_packed(const crStep* step, const crIslands* islands, const crStepContact* c) {
    return c->packable && !islands->by_rows[cr__island_of_contact(step, islands, c)];
}

static void number(const crStep* step, int* parent, const bool* touched, crIslands* islands) {
    const crModel* model = step->model;
    for (int i = 0; i < model->nb; i++) {
        islands->of_body[i] = -1;
        if (!cr__moves(model, i)) continue;
        // parents come first, so the leader has its number already
        int leader = find(parent, model->bodies[i].root);
        if (!touched[leader]) continue;
        if (leader == i) islands->of_body[i] = islands->count++;
        islands->of_body[i] = islands->of_body[leader];
    }
}

static void touch(const crModel* model, int* parent, bool* touched, int body) {
    if (cr__moves(model, body)) touched[find(parent, model->bodies[body].root)] = true;
}

// islands that the packed solver cannot take by itself
static void find_general(const crStep* step, const bool* takes, crIslands* islands) {
    const crModel* model = step->model;
    for (int i = 0; i < model->nb; i++) {
        int island = islands->of_body[i];
        if (island >= 0 && !model->bodies[i].single) islands->general[island] = true;
    }
    for (int i = 0; i < model->loop_count; i++) {
        int a = islands->of_body[model->loops[i].a], b = islands->of_body[model->loops[i].b];
        if (a >= 0) islands->general[a] = true;
        if (b >= 0) islands->general[b] = true;
    }
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (!takes[i]) continue;
        int island = cr__island_of_contact(step, islands, c);
        islands->rows[island] += cr__step_contact_rows(c);
        if (!c->packable) islands->general[island] = true;
    }
    for (int i = 0; i < islands->count; i++) {
        islands->by_rows[i] = islands->general[i] && islands->rows[i] <= ROWS;
    }
}

crStatus cr__step_islands(crStep* step, const bool* takes, crIslands* islands) {
    const crModel* model = step->model;
    crArena* arena = &step->scratch;
    size_t nb = (size_t)model->nb;
    *islands = (crIslands){.of_body = cr_arena_alloc(arena, nb * sizeof(int))};
    int* parent = cr_arena_alloc(arena, nb * sizeof *parent);
    bool* touched = cr_arena_alloc(arena, nb * sizeof *touched);
    if (islands->of_body == NULL || parent == NULL || touched == NULL) return CR_ERR_MEMORY;
    memset(touched, 0, nb * sizeof *touched);
    for (int i = 0; i < model->nb; i++) {
        parent[i] = i;
    }
    for (int i = 0; i < step->contact_count; i++) {
        if (takes[i]) join(model, parent, step->contacts[i].body_a, step->contacts[i].body_b);
    }
    for (int i = 0; i < model->loop_count; i++) {
        join(model, parent, model->loops[i].a, model->loops[i].b);
    }
    for (int i = 0; i < step->contact_count; i++) {
        if (!takes[i]) continue;
        touch(model, parent, touched, step->contacts[i].body_a);
        touch(model, parent, touched, step->contacts[i].body_b);
    }
    for (int i = 0; i < model->loop_count; i++) {
        touch(model, parent, touched, model->loops[i].a);
        touch(model, parent, touched, model->loops[i].b);
    }
    // joints may have limits and motors
    for (int i = 1; i < model->nb; i++) {
        if (cr__moves(model, i) && !model->bodies[i].single) touch(model, parent, touched, i);
    }
    number(step, parent, touched, islands);
    islands->rows = cr_arena_alloc(arena, (size_t)(islands->count + 1) * sizeof(int));
    islands->general = cr_arena_alloc(arena, (size_t)(islands->count + 1) * sizeof(bool));
    islands->by_rows = cr_arena_alloc(arena, (size_t)(islands->count + 1) * sizeof(bool));
    if (islands->rows == NULL || islands->general == NULL || islands->by_rows == NULL) return CR_ERR_MEMORY;
    memset(islands->rows, 0, (size_t)(islands->count + 1) * sizeof(int));
    memset(islands->general, 0, (size_t)(islands->count + 1) * sizeof(bool));
    find_general(step, takes, islands);
    return CR_OK;
}
