// scene.h - a scene in the page; page.h says what its functions do.
#ifndef CAROM_WEB_SCENE_H
#define CAROM_WEB_SCENE_H

#include "io/scene.h"
#include "page.h"

typedef struct PageHand PageHand;
typedef struct PageControl PageControl;

struct PageScene {
    bool opened;    // scene holds something
    crError error;  // why it was not opened, or why the last step failed
    crScene scene;
    crWorld* world;
    double begun, whole, steps,
        made;  // steps before the start, of dt, all, made; as tools/carom/run.c counts
    double h;  // length of the step being made, s
    double numbers[PAGE_NUMBERS];
    double* poses;   // (nb*7)
    double* state;   // to be placed (nq + nv)
    double* forces;  // of the last step (force_room*7)
    int force_room;
    double* events;  // likewise (event_room*11)
    int event_room;
    PageHand** hands;  // (hand_count)
    int hand_count;
    PageControl* controls;  // (nu)
    bool lost;              // true if a part of what hands did is not recorded
    double hand[9];         // of carom_hand_look
    double* sensed;         // numbers of all sensors (nsensor)
    void* snapshot;         // of carom_scene_save
    size_t snapshot_size;
};

#endif
