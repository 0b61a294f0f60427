// islands.c - which bodies can push each other: union-find over contacts that take part, loops and trees.
//
// A tree is one vertex; a body that v does not move is none. Fails: CR_ERR_MEMORY.
#include "step/islands.h"

#include <string.h>

#include "step/clocks.h"
#include "step/forest.h"

#define ROWS 100  // rows of a small island, where Newton's method takes all units at once

// Joins bodies of loops, and marks bodies of loops and trees as general.
static void add_rows(const crModel* model, crPart bodies, const crStepPart* loops, int* parent,
                     crIslands* islands, bool* touched) {
    for (int k = 0; k < loops->loop_count; k++) {
        int i = loops->loops != NULL ? loops->loops[k] : k, a = model->loops[i].a, b = model->loops[i].b;
        cr__forest_join_trees(model, parent, a, b);
        touched[a] = touched[b] = islands->general[a] = islands->general[b] = true;
    }
    // joints may have rows for limits and motors
    for (int k = 0; k < bodies.count; k++) {
        int i = cr__part_body(bodies, k);
        if (!model->bodies[i].single) touched[i] = islands->general[i] = true;
    }
}

// Joins the bodies of contacts, and counts each contact's rows at one of its bodies.
static void add_contacts(const crStep* step, const bool* takes, int* parent, crIslands* islands,
                         bool* touched) {
    const crModel* model = step->model;
    int a = -1, b = -1, body = -1;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!takes[i]) continue;
        // contacts of a pair are side by side
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

// Numbers the islands, and moves the counts to them in place: no island number exceeds that of its bodies.
static void number(const crModel* model, crPart bodies, int* parent, bool* touched, crIslands* islands) {
    bool general = false;
    for (int k = 0; k < bodies.count; k++) {
        int i = cr__part_body(bodies, k);
        general = general || islands->general[i];
        if (touched[i] && cr__moves(model, i)) touched[cr__forest_find(parent, model->bodies[i].root)] = true;
    }
    // solvers of rows read of_body of all bodies
    if (general) memset(islands->of_body, -1, (size_t)model->nb * sizeof(int));
    for (int k = 0; k < bodies.count; k++) {
        int i = cr__part_body(bodies, k);
        int rows = islands->rows[i];
        bool own = islands->general[i];
        islands->of_body[i] = -1;
        if (!cr__moves(model, i)) continue;
        // the leader is the first body of its island, so it has its number already
        int leader = cr__forest_find(parent, model->bodies[i].root);
        if (!touched[leader]) continue;
        int island = leader == i ? islands->count++ : islands->of_body[leader];
        islands->of_body[i] = island;
        islands->rows[island] = leader == i ? rows : islands->rows[island] + rows;
        islands->general[island] = leader == i ? own : islands->general[island] || own;
    }
    for (int i = 0; i < islands->count; i++) {
        islands->by_rows[i] = islands->general[i] && islands->rows[i] <= ROWS;
    }
}

// Resets the figures of the bodies, and of bodies in contacts that v does not move.
static void begin_bodies(const crStep* step, crPart bodies, int* parent, bool* touched, crIslands* islands) {
    for (int k = 0; k < bodies.count; k++) {
        int i = cr__part_body(bodies, k);
        islands->rows[i] = 0;
        islands->of_body[i] = -1;
        islands->general[i] = touched[i] = false;
        parent[i] = i;
    }
    islands->of_body[CR_WORLD] = -1;
    // where the part is all bodies, they are among them
    for (int i = 0; bodies.count < step->model->nb - 1 && i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!cr__moves(step->model, c->body_a)) islands->of_body[c->body_a] = -1;
        if (!cr__moves(step->model, c->body_b)) islands->of_body[c->body_b] = -1;
    }
}

crStatus cr__step_islands(const crStep* step, const bool* takes, crArena* arena, crIslands* islands) {
    const crModel* model = step->model;
    int nb = model->nb, *parent;
    bool* touched;
    *islands = (crIslands){0};
    if (!CR_ROOMS(arena, CR_ROOM(islands->of_body, nb), CR_ROOM(islands->rows, nb),
                  CR_ROOM(islands->general, nb), CR_ROOM(islands->by_rows, nb)))
        return CR_ERR_MEMORY;
    size_t mark = cr_arena_mark(arena);
    if (!CR_ROOMS(arena, CR_ROOM(parent, nb), CR_ROOM(touched, nb))) return CR_ERR_MEMORY;
    crPart bodies = cr__step_met(step);
    crStepPart loops = step->clocks->closed ? step->part : (crStepPart){.loop_count = model->loop_count};
    begin_bodies(step, bodies, parent, touched, islands);
    add_contacts(step, takes, parent, islands, touched);
    add_rows(model, bodies, &loops, parent, islands, touched);
    number(model, bodies, parent, touched, islands);
    cr_arena_release(arena, mark);
    return CR_OK;
}
