// push_around.c - the bodies around a few pairs that are too deep.
//
// In a heap often one contact in thousands is slightly too deep. The bodies within HOPS contacts of it move
// first, and all others are fixed. Islands of few bodies or with many deep pairs are pushed out as a whole.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "step/forest.h"
#include "step/push.h"

#define DEEP 8  // deep pairs of an island, up to which they are few
#define HOPS 2  // contacts between a deep pair and a body that moves first, at most

// Sets around[b] = hop + 1 for bodies that are near one with around == hop.
static void hop_on(const crPush* pass, uint8_t hop, uint8_t* around) {
    for (int which = 0; which < 2; which++) {
        const crPushList* list = &pass->list[which];
        for (int i = 0; i < list->at.count; i++) {
            const crStepContact* c = &list->at.contacts[i];
            if (c->point.gap > cr__push_near_gap(pass, c) || !cr__push_moves(pass, c->body_a) ||
                !cr__push_moves(pass, c->body_b))
                continue;
            if (around[c->body_a] == hop && around[c->body_b] == 0) around[c->body_b] = (uint8_t)(hop + 1);
            if (around[c->body_b] == hop && around[c->body_a] == 0) around[c->body_a] = (uint8_t)(hop + 1);
        }
    }
}

// a body of deep pair i that the pass may move
static int deep_mover(const crPush* pass, int i) {
    return pass->deep[i][cr__push_moves(pass, pass->deep[i][1])];
}

// islands of near contacts: root of each body; bodies and deep pairs of each island, at its root
typedef struct Crowds {
    int *leader, *bodies, *deep;  // (nb)
} Crowds;

static crStatus count_crowds(const crPush* pass, Crowds* crowds) {
    const crModel* model = pass->step->model;
    if (!CR_ROOMS(&pass->step->scratch, CR_ROOM(crowds->leader, model->nb),
                  CR_ZERO(crowds->bodies, model->nb), CR_ZERO(crowds->deep, model->nb)))
        return CR_ERR_MEMORY;
    cr__forest_begin(crowds->leader, model->nb);
    for (int which = 0; which < 2; which++) {
        const crPushList* list = &pass->list[which];
        for (int i = 0; i < list->at.count; i++) {
            const crStepContact* c = &list->at.contacts[i];
            bool joins = cr__push_moves(pass, c->body_a) && cr__push_moves(pass, c->body_b);
            if (joins && c->point.gap <= cr__push_near_gap(pass, c))
                cr__forest_join(crowds->leader, c->body_a, c->body_b);
        }
    }
    for (int b = 1; b < model->nb; b++) {
        crowds->bodies[cr__forest_find(crowds->leader, b)]++;
    }
    for (int i = 0; i < pass->deep_count; i++) {
        crowds->deep[cr__forest_find(crowds->leader, deep_mover(pass, i))]++;
    }
    return CR_OK;
}

crStatus cr__push_around(crPush* pass) {
    const crModel* model = pass->step->model;
    Crowds crowds;
    uint8_t* around;
    if (!CR_ROOMS(&pass->step->scratch, CR_ZERO(around, model->nb)) || count_crowds(pass, &crowds) != CR_OK)
        return CR_ERR_MEMORY;
    bool any = false;
    for (int i = 0; i < pass->deep_count; i++) {
        const int* pair = pass->deep[i];
        int leader = cr__forest_find(crowds.leader, deep_mover(pass, i));
        if (crowds.bodies[leader] <= CR_PUSH_MANY || crowds.deep[leader] > DEEP) continue;
        around[pair[0]] = cr__push_moves(pass, pair[0]);
        around[pair[1]] = cr__push_moves(pass, pair[1]);
        any = true;
    }
    for (uint8_t hop = 1; any && hop <= HOPS; hop++) {
        hop_on(pass, hop, around);
    }
    pass->around = any ? around : NULL;
    return CR_OK;
}
