// push_around.c - the bodies around the few that are too deep.
//
// In a heap one contact of thousands is too deep by a hair. The bodies within some contacts of it move first, against all others as
// they stand. Islands with few bodies, or many deep pairs, are pushed out as a whole.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "step/forest.h"
#include "step/push.h"

#define DEEP 8  // pairs of an island that are too deep, up to which they are few
#define HOPS 2  // contacts from them to the bodies that move first

// bodies that touch one that is `hop` contacts away from deep ones are one more away
static void hop_on(const crPush* pass, uint8_t hop, uint8_t* around) {
    const crModel* model = pass->step->model;
    for (int which = 0; which < 2; which++) {
        const crPushList* list = &pass->list[which];
        for (int i = 0; i < list->at.count; i++) {
            const crStepContact* c = &list->at.contacts[i];
            if (c->point.gap > cr__push_near_gap(pass, c) || !cr__moves(model, c->body_a) ||
                !cr__moves(model, c->body_b))
                continue;
            if (around[c->body_a] == hop && around[c->body_b] == 0) around[c->body_b] = (uint8_t)(hop + 1);
            if (around[c->body_b] == hop && around[c->body_a] == 0) around[c->body_a] = (uint8_t)(hop + 1);
        }
    }
}

// islands of contacts that are near: the leader of each body, how many bodies it leads, and pairs that are too deep
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
            bool joins = cr__moves(model, c->body_a) && cr__moves(model, c->body_b);
            if (joins && c->point.gap <= cr__push_near_gap(pass, c))
                cr__forest_join(crowds->leader, c->body_a, c->body_b);
        }
    }
    for (int b = 1; b < model->nb; b++) {
        crowds->bodies[cr__forest_find(crowds->leader, b)]++;
    }
    for (int i = 0; i < pass->deep_count; i++) {
        int body = cr__step_mover(pass->step, pass->deep[i][0], pass->deep[i][1]);
        crowds->deep[cr__forest_find(crowds->leader, body)]++;
    }
    return CR_OK;
}

// bodies around those that are too deep, where they are few in a large island
crStatus cr__push_around(crPush* pass) {
    const crModel* model = pass->step->model;
    Crowds crowds;
    uint8_t* around;
    if (!CR_ROOMS(&pass->step->scratch, CR_ZERO(around, model->nb)) || count_crowds(pass, &crowds) != CR_OK)
        return CR_ERR_MEMORY;
    bool any = false;
    for (int i = 0; i < pass->deep_count; i++) {
        const int* pair = pass->deep[i];
        int leader = cr__forest_find(crowds.leader, cr__step_mover(pass->step, pair[0], pair[1]));
        if (crowds.bodies[leader] <= CR_PUSH_MANY || crowds.deep[leader] > DEEP) continue;
        around[pair[0]] = cr__moves(model, pair[0]);
        around[pair[1]] = cr__moves(model, pair[1]);
        any = true;
    }
    for (uint8_t hop = 1; any && hop <= HOPS; hop++) {
        hop_on(pass, hop, around);
    }
    pass->around = any ? around : NULL;
    return CR_OK;
}
