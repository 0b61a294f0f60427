// islands.c - which bodies can push each other: union-find over contacts that take part, loops and trees.
//
// A tree is one vertex; what v does not move is none. Fails: CR_ERR_MEMORY.
#include "step/islands.h"

#include <string.h>

#include "step/forest.h"

#define ROWS 100  // small islands, where Newton's method takes all units at once

// islands that the packed solver cannot take by itself: bodies of trees and loops
static void add_rows(const crModel* model, crIslands* islands, bool* touched) {
    for (int i = 0; i < model->loop_count; i++) {
        int a = model->loops[i].a, b = model->loops[i].b;
        touched[a] = touched[b] = islands->general[a] = islands->general[b] = true;
    }
    // joints may have limits and motors
    for (int i = 1; i < model->nb; i++) {
        if (!model->bodies[i].single) touched[i] = islands->general[i] = true;
    }
}

// contacts join their bodies; each is counted under one of the two
static void add_contacts(const crStep* step, const bool* takes, int* parent, crIslands* islands,
                         bool* touched) {
    const crModel* model = step->model;
    int a = -1, b = -1, body = -1;
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (!takes[i]) continue;
        // those of a pair stand together
        if (c->body_a != a || c->body_b != b) {
            a = c->body_a;
            b = c->body_b;
            body = cr__moves(model, b) ? b : a;
            cr__forest_join_trees(model, parent, a, b);
            touched[body] = true;
        }
        islands->rows[body] += cr__step_contact_rows(c);
        if (!c->packable) islands->general[body] = true;
    }
}

// numbers in the place of bodies, and what was counted under bodies under numbers: those never run ahead
static void number(const crStep* step, int* parent, bool* touched, crIslands* islands) {
    const crModel* model = step->model;
    for (int i = 0; i < model->nb; i++) {
        if (touched[i] && cr__moves(model, i)) touched[cr__forest_find(parent, model->bodies[i].root)] = true;
    }
    for (int i = 0; i < model->nb; i++) {
        int rows = islands->rows[i];
        bool general = islands->general[i];
        islands->of_body[i] = -1;
        if (!cr__moves(model, i)) continue;
        // parents come first, so the leader has its number already
        int leader = cr__forest_find(parent, model->bodies[i].root);
        if (!touched[leader]) continue;
        int island = leader == i ? islands->count++ : islands->of_body[leader];
        islands->of_body[i] = island;
        islands->rows[island] = leader == i ? rows : islands->rows[island] + rows;
        islands->general[island] = leader == i ? general : islands->general[island] || general;
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
    islands->rows = cr_arena_alloc(arena, nb * sizeof(int));
    islands->general = cr_arena_alloc(arena, nb * sizeof(bool));
    islands->by_rows = cr_arena_alloc(arena, nb * sizeof(bool));
    size_t mark = cr_arena_mark(arena);
    int* parent = cr_arena_alloc(arena, nb * sizeof *parent);
    bool* touched = cr_arena_alloc(arena, nb * sizeof *touched);
    if (islands->of_body == NULL || islands->rows == NULL || islands->general == NULL ||
        islands->by_rows == NULL || parent == NULL || touched == NULL) {
        return CR_ERR_MEMORY;
    }
    memset(islands->rows, 0, nb * sizeof(int));
    memset(islands->general, 0, nb * sizeof(bool));
    memset(touched, 0, nb * sizeof *touched);
    for (int i = 0; i < model->nb; i++) {
        parent[i] = i;
    }
    add_contacts(step, takes, parent, islands, touched);
    for (int i = 0; i < model->loop_count; i++) {
        cr__forest_join_trees(model, parent, model->loops[i].a, model->loops[i].b);
    }
    add_rows(model, islands, touched);
    number(step, parent, touched, islands);
    cr_arena_release(arena, mark);
    return CR_OK;
}
