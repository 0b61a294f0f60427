// push.h - working data of the position pass: near contacts at the present poses, and their overlaps.
//
//   push_near.c     near contacts, pair by pair
//   push_around.c   bodies around a few deep pairs
//   position.c      rounds of pushing out
#ifndef CAROM_STEP_PUSH_H
#define CAROM_STEP_PUSH_H

#include "relax/packed.h"
#include "step/step.h"

#define CR_PUSH_NEAR  2.0  // gap of a near contact, at most, in deadbands
#define CR_PUSH_REACH 2.0  // the same, in deepest overlaps
#define CR_PUSH_TOL   0.1  // tolerance of a coarse pass, share of its deadband
#define CR_PUSH_MANY  64   // bodies up to which an island is always pushed out as a whole

// A contact at the present poses.
typedef struct crPushContact {
    crPackedContact at;
    double gap, delta;
    const crStepContact* of;  // a listed contact of the same pair; NULL: the contact is of an earlier round
} crPushContact;

// Contacts, the poses at which they were found, and the motion of bodies since then.
typedef struct crPushList {
    crPositionList at;
    crVec3* moved;  // displacement of each body's centre (nb)
    crVec3* turn;   // rotation vector of each body (nb)
    double* swing;  // way of its farthest point by that rotation, m (nb)
    // bound of the terms of a body in the gaps of its contacts that are no wider than its pair's size, and in
    // the bound of their error, m (nb)
    double* most;
    bool* still;  // true if the body did not move at all (nb)
    bool hit;     // true: the list is for pairs with a body in crPush.hit; false: for the other pairs
    bool anew;    // true if the pass collided anew for this list
} crPushList;

typedef struct crPush {
    crStep* step;
    const bool* hit;    // bodies whose pairs are in the second list (nb); NULL: all pairs are in the first
    const bool* apart;  // bodies that are fixed in this pass (nb); NULL: none
    double coarse;      // deadband of a coarse pass, share of the narrower body's width; 0: not coarse
    crPushList list[2];
    double reach;  // gap up to which contacts are near in any case, m
    bool lists;    // true if near contacts are listed; false: only overlaps are measured
    bool shared;   // true if several threads measure: no memory may be allocated
    crPushContact* near;
    int count, capacity;
    crTail tail;            // place of `near` in the arena
    double overlap;         // deepest overlap, m
    double beyond;          // deepest overlap beyond the deadband, m
    int deep_count;         // pairs with overlap beyond the deadband
    int (*deep)[2];         // their bodies; NULL: not wanted
    const uint8_t* around;  // not 0: the body may move (nb); NULL: all may
    bool far;               // true if pushing out the deepest pair may close contacts that are not near
    bool single;            // true if no near contact has a moving body of a tree
} crPush;

// push_near.c

// Allocates the arrays of a list. CR_ERR_MEMORY.
crStatus cr__push_list_create(const crModel* model, crArena* arena, crPushList* list);
// Finds how far each body has moved and turned since the contacts of the list were found. Fixed bodies count as
// still, except in a coarse pass: no other pass has contacts of theirs with bodies that it may move.
void cr__push_follow(const crPush* pass, crPushList* list);
// True if the pass may move a body.
static inline bool cr__push_moves(const crPush* pass, int body) {
    if (pass->apart != NULL && pass->apart[body]) return false;
    return cr__moves(pass->step->model, body) && (pass->around == NULL || pass->around[body]);
}
// Overlap of a contact that the pass allows, m.
static inline double cr__push_deadband(const crPush* pass, const crStepContact* c) {
    if (pass->coarse == 0.0) return c->delta;
    double coarse = pass->coarse * cr__plan_pair_width(pass->step->plan, c->body_a, c->body_b);
    return coarse > c->delta ? coarse : c->delta;
}
// Tolerance of the pass, share of that overlap.
static inline double cr__push_tol(const crPush* pass) {
    return pass->coarse > 0.0 ? CR_PUSH_TOL : pass->step->settings.position_tol;
}
// Gap up to which a contact is near, m.
double cr__push_near_gap(const crPush* pass, const crStepContact* c);
// True if a pair touches in one point that only rolls: no other point can come into contact.
bool cr__push_rolls(const crModel* model, const crStepContact* c);
// Makes room for `more` near contacts. CR_ERR_MEMORY.
crStatus cr__push_reserve(crPush* pass, int more);
// Adds a near contact. CR_ERR_MEMORY.
crStatus cr__push_put(crPush* pass, const crPushContact* near);
// Measures overlaps of the pairs of both lists at the present poses, and lists near contacts. CR_ERR_MEMORY.
crStatus cr__push_find(crPush* pass);

// push_around.c

// Sets `around` to bodies around a few deep pairs in large islands, NULL if there are none. CR_ERR_MEMORY.
crStatus cr__push_around(crPush* pass);

#endif
