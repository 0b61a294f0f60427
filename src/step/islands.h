// islands.h - bodies that can push each other within one solve.
#ifndef CAROM_STEP_ISLANDS_H
#define CAROM_STEP_ISLANDS_H

#include "model/spatial.h"
#include "step/step.h"

typedef struct crIslands {
    int count;
    int* of_body;   // island of each body; -1: no row acts on it, or v does not move it (nb)
    int* rows;      // rows of the contacts of each island (count)
    bool* general;  // true if it has a body of a tree, a loop, or a contact that cannot be packed (count)
    bool* by_rows;  // true if it is general and small: none of its contacts is packed (count)
} crIslands;

// Finds the islands of the contacts with takes[i], loops and trees, in the order of their first bodies.
// CR_ERR_MEMORY.
crStatus cr__step_islands(const crStep* step, const bool* takes, crArena* arena, crIslands* islands);
static inline int cr__island_of_contact(const crStep* step, const crIslands* islands,
                                        const crStepContact* c) {
    return islands->of_body[cr__step_mover(step, c->body_a, c->body_b)];
}
// True if a contact is swept in packed form: it is packable and its island is not swept by rows alone.
static inline bool cr__step_packed(const crStep* step, const crIslands* islands, const crStepContact* c) {
    return c->packable && !islands->by_rows[cr__island_of_contact(step, islands, c)];
}

#endif
