// clocks.h - clocks of groups of bodies within a step, and the impacts that are due.
#ifndef CAROM_STEP_CLOCKS_H
#define CAROM_STEP_CLOCKS_H

#include "step/kept.h"

typedef struct crDue {
    double time;  // since the beginning of the step, s
    int pair;
    bool exact;  // or only not to be expected before
} crDue;

// Groups of bodies that share a clock.
typedef struct crGroups {
    int* first;    // body of the group of each body (nb)
    int* members;  // how many a group has, at its first body (nb)
    int* next;     // ring of the bodies of a group (nb)
} crGroups;

typedef struct crClocks {
    double start;   // time at the beginning of the step, s
    double now_at;  // since start: the time at which contacts and flights are looked at, s
    double ahead;   // contacts that would touch so soon are touching for impacts, see locals.c, s
    bool catches;   // contact solves keep what closes faster than foreseen from overlapping
    int many;       // groups of more bodies have instants, see locals.c
    bool once;      // and only one of them, at the beginning of the step
    double slot;    // length of the time within which a large group has one instant, see locals.c, s
    double* clock;  // since start: when q, v and dynamics of each body hold, s (nb)
    bool* hit;      // an impact of this step concerned this body (nb)
    bool* fresh;    // its velocity or time changed since contacts were found (nb)
    bool* blunt;    // no contact of this body is an impact in this step (nb)
    bool*
        plain;  // contacts of this body without restitution are none: the solve gives what the rule would (nb)
    const bool*
        moved;  // bodies that short steps brought to the end of the step: nothing meets them; NULL: none (nb)
    bool plastic;  // collide: no contact of the cone method will be an impact, see groups.c
    crGroups groups;
    bool closed;  // contacts of the part are with nothing else that v moves: a solve looks at no other body
    crKept kept;  // forces of contacts, where locals.c has them
    int lists;    // list of pairs that the heap is of
    int stock_capacity;
    crStepContact*
        stock;  // locals.c: contacts before the present ones, kept from step to step only for its memory
    int due_count, due_capacity;
    crDue* due;  // heap by time, then pair
} crClocks;

// Bodies that a solve of the part has to do with, among those that v moves: the part, or all of them.
static inline crPart cr__step_met(const crStep* step) {
    return step->clocks->closed ? cr__step_part(step) : (crPart){NULL, step->model->nb - 1};
}

// groups.c

crStatus cr__step_clocks_create(crStep* step);
// Every body a group of its own, clocks and rings at zero.
void cr__step_groups_begin(crStep* step);
// Groups of the part, from its contacts: those that may press before the end, left from now, and loops.
void cr__step_groups_join(crStep* step, double left);
bool cr__step_joins(const crStep* step, const crStepContact* c, double left);
// Bodies whose contacts, and those of all they can reach, need no rule: plain, and their contacts never fast.
crStatus cr__step_find_plain(crStep* step, int* islands, crError* error);
// Islands of the part: a root for every body, joined by every contact within the margins, trees and loops.
void cr__step_reachable(const crStep* step, int* islands);

// flight.c

// Where a body will be at now_at if nothing changes its flight.
crPose cr__step_pose_now(const crStep* step, int body);
crVec3 cr__step_velocity_now(const crStep* step, int body, crVec3 point);
// When contacts i to end - 1, those of one pair, are an impact within h of now_at; INFINITY: not.
double cr__step_pair_impact(const crStep* step, int i, int end, double h);
// A time before which that is not to be expected, much cheaper; exact: it is that time.
double cr__step_pair_soonest(const crStep* step, int i, int end, double h, bool* exact);

// impacts.c

// Whether a contact takes part in an impact of its bodies, and whether it is one now.
bool cr__step_touches(const crStep* step, const crStepContact* c);
bool cr__step_closes_fast(const crStep* step, const crStepContact* c);

// locals.c

// From the contacts and forces of the whole world at the beginning: impacts in the order of time, each moving
// only the groups of bodies it concerns; then everything to the end of the step.
crStatus cr__step_locally(crStep* step, double h, crError* error);
// Times of impacts of the present contacts within h, and no others, go into the heap.
crStatus cr__step_schedule(crStep* step, double h, crError* error);

#endif
