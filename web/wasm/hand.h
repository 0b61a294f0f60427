// hand.h - what a hand does to a scene that runs, and the record of it; page.h says what the functions do.
#ifndef CAROM_WEB_HAND_H
#define CAROM_WEB_HAND_H

#include <stdio.h>

#include "scene.h"

// Rows of a table over time, `width` numbers each, the time first.
typedef struct PageTable {
    double* rows;  // (count*width)
    int width, count, room;
} PageTable;

// Values of a table that a step used: the row of its middle, and before it the values that held until its beginning.
// False where memory or rows are out; the table is then as it was.
bool table_follow(PageTable* table, double begin, double middle, const double* values);
// Forgets rows of steps that begin at a time or after it.
void table_cut(PageTable* table, double time);
void table_write(FILE* file, const PageTable* table);

// A body held at a point by a spring, or pushed there once.
struct PageHand {
    PageScene* scene;
    int body;
    crVec3 point;  // in the body's frame
    crVec3 own;    // the same in the frame of the body's fields in the scene
    bool holding;
    crVec3 target;              // where the spring pulls to, world
    double stiffness, damping;  // N/m, N s/m
    double reach;               // longest stretch that counts, m
    crVec3 impulse;             // of a push in the next step, N s
    crVec3 at, force;           // point and force of the last step
    PageTable table;            // force over time
};

// The control of an actuator.
struct PageControl {
    PageTable table;        // over time
    double steered;         // time since which a hand gives it, INFINITY: never
    crScheduleFn schedule;  // which it had before
};

// The load of a scene that nobody has touched, so that its world has room for loads. False where memory is out.
bool hands_prepare(PageScene* scene);
// After a step that began at `begin`: what the controls were.
void hands_follow(PageScene* scene, double begin, double middle);
// Forgets what was done after a time.
void hands_cut(PageScene* scene, double time);
void hands_free(PageScene* scene);

#endif
