// islands.h - bodies that can push each other within one solve.
#ifndef CAROM_STEP_ISLANDS_H
#define CAROM_STEP_ISLANDS_H

#include "model/spatial.h"
#include "step/step.h"

typedef struct crIslands {
    int count;
    int* of_body;   // -1: nothing acts on it, or it does not move (nb)
    int* rows;      // of contacts (count)
    bool* general;  // has a body of a tree, a loop, or a contact that cannot be packed (count)
    bool* by_rows;  // and is small: none of its contacts is packed (count)
} crIslands;

// Islands of the contacts for which takes[i] is set, loops, and trees; numbered in the order of their first
// body.
crStatus cr__step_islands(crStep* step, const bool* takes, crIslands* islands);
static inline int cr__island_of_contact(const crStep* step, const crIslands* islands,
                                        const crStepContact* c) {
    return islands->of_body[cr__step_mover(step, c->body_a, c->body_b)];
}
// Whether a contact is swept in packed form: a packable one, but in small islands with others all are rows.
static inline bool cr__step_packed(const crStep* step, const crIslands* islands, const crStepContact* c) {
    return c->packable && !islands->by_rows[cr__island_of_contact(step, islands, c)];
}

#endif
