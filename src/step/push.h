// push.h - the working data of the position pass: contacts that are near at the present poses, and how deep they are.
//
//   push_near.c     contacts near, pair by pair
//   push_around.c   bodies around the few that are too deep
//   position.c      rounds of pushing out
#ifndef CAROM_STEP_PUSH_H
#define CAROM_STEP_PUSH_H

#include "relax/packed.h"
#include "step/step.h"

#define CR_PUSH_NEAR  2.0  // contacts with a gap of this many deadbands take part
#define CR_PUSH_REACH 2.0  // and of this many times the deepest overlap
#define CR_PUSH_TOL   0.1  // of the deadband, of a coarse pass
#define CR_PUSH_MANY  64   // bodies of an island that is not pushed out as a whole where few are too deep

// A contact at the present poses.
typedef struct crPushContact {
    crPackedContact at;
    double gap, delta;
    const crStepContact* of;  // one of its pair, NULL: found in an earlier round
} crPushContact;

// Contacts, and where bodies were when they were found.
typedef struct crPushList {
    crPositionList at;
    crVec3* moved;  // of each body's centre since (nb)
    crVec3* turn;   // rotation vector since (nb)
    double* swing;  // how far that moved its farthest point, m (nb)
    bool* still;    // it did not at all (nb)
    bool hit;       // pairs with a body that an impact concerned, or those without
    bool anew;      // found by the pass itself
} crPushList;

typedef struct crPush {
    crStep* step;
    const bool* hit;    // NULL: all pairs are of the first list
    const bool* apart;  // bodies that stand, as the ground does (nb); NULL: none
    double coarse;      // deadband of a coarse pass, of the smaller body's size; 0: that of each contact
    crPushList list[2];
    double reach;  // contacts with a gap of this much take part too, m
    bool lists;    // contacts that are near; else only how deep they are
    bool shared;   // by several threads: none may ask for memory
    crPushContact* near;
    int count, capacity;
    double overlap;         // deepest, m
    double beyond;          // deepest beyond the deadband, m
    int deep_count;         // pairs that are
    int (*deep)[2];         // their bodies; NULL: nobody asks
    const uint8_t* around;  // not 0: the body may move (nb); NULL: all
    bool far;               // so much that pushing it out moves more than what is near
    bool single;            // all of them between free bodies
} crPush;

// push_near.c

// Room for how bodies move. CR_ERR_MEMORY.
crStatus cr__push_list_create(const crModel* model, crArena* arena, crPushList* list);
// How far each body has moved and turned since the contacts of the list were found.
void cr__push_follow(const crStep* step, crPushList* list);
// True if the pass may move a body.
static inline bool cr__push_moves(const crPush* pass, int body) {
    if (pass->apart != NULL && pass->apart[body]) return false;
    return cr__moves(pass->step->model, body) && (pass->around == NULL || pass->around[body]);
}
// Overlap that is left to a contact, m, and the share of it by which the pass may miss it.
static inline double cr__push_deadband(const crPush* pass, const crStepContact* c) {
    double coarse = pass->coarse * cr__plan_pair_size(pass->step->plan, c->body_a, c->body_b);
    return coarse > c->delta ? coarse : c->delta;
}
static inline double cr__push_tol(const crPush* pass) {
    return pass->coarse > 0.0 ? CR_PUSH_TOL : pass->step->settings.position_tol;
}
// Gap up to which a contact takes part, m.
double cr__push_near_gap(const crPush* pass, const crStepContact* c);
// Whether a pair touches in one point that only rolls.
bool cr__push_rolls(const crModel* model, const crStepContact* c);
// Room for so many contacts more, and one more contact. CR_ERR_MEMORY.
crStatus cr__push_reserve(crPush* pass, int more);
crStatus cr__push_put(crPush* pass, const crPushContact* near);
// Overlap of all pairs of both lists at the present poses; with `lists` their contacts too. CR_ERR_MEMORY.
crStatus cr__push_find(crPush* pass);

// push_around.c

// Bodies around those of `deep`, where they are few in a large island, become `around`; else NULL. CR_ERR_MEMORY.
crStatus cr__push_around(crPush* pass);

#endif
