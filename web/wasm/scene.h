// scene.h - a scene in the page; page.h says what its functions do.
#ifndef CAROM_WEB_SCENE_H
#define CAROM_WEB_SCENE_H

#include "io/scene.h"
#include "page.h"

struct PageScene {
    bool opened;    // scene holds something
    crError error;  // why it was not opened, or why the last step failed
    crScene scene;
    crWorld* world;
    double whole, steps, made;  // steps of dt, all steps, steps made
    double numbers[PAGE_NUMBERS];
    double* poses;   // (nb*7)
    double* state;   // to be placed (nq + nv)
    double* forces;  // of the last step (force_room*7)
    int force_room;
    double* events;  // likewise (event_room*11)
    int event_room;
};

#endif
