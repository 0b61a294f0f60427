// clocks.h - clocks of groups of bodies within a step, and the impacts that are due.
#ifndef CAROM_STEP_CLOCKS_H
#define CAROM_STEP_CLOCKS_H

#include "step/kept.h"

typedef struct crDue {
    double time;  // since the beginning of the step, s
    int pair;
    bool exact;  // true if `time` is the time of impact, false if it is a lower bound
} crDue;

// Groups of bodies that share a clock.
typedef struct crGroups {
    int* first;    // first body of the group of each body (nb)
    int* members;  // bodies of a group, at its first body (nb)
    int* next;     // next body in the ring of a group (nb)
} crGroups;

typedef struct crClocks {
    double start;       // time at the beginning of the step, s
    double now_at;      // since start: time of the present contacts and flights, s
    double ahead;       // contacts that would touch within this time count as touching, see locals.c, s
    bool catches;       // true if contact solves prevent overlap of contacts faster than foreseen
    int many;           // bodies of a group above which its impacts wait for instants, see locals.c
    bool once;          // true if such a group has one instant, at the beginning of the step
    double slot;        // time between two instants of such a group, see locals.c, s
    double* clock;      // since start: time at which q, v and dynamics of each body hold, s (nb)
    bool* hit;          // true if an impact of this step concerned the body (nb)
    bool* fresh;        // true if its velocity or time changed since contacts were found (nb)
    bool* blunt;        // true if no contact of the body is an impact in this step (nb)
    bool* plain;        // true if no contact in the body's island can bounce: none of them is an impact (nb)
    const bool* moved;  // true for bodies that short steps moved to the end of the step (nb); NULL: none
    bool plastic;       // collide: true if no contact of the cone method will be an impact, see groups.c
    crGroups groups;
    bool closed;  // true if the part has no contact with other bodies that v moves: solves skip these
    crKept kept;  // forces of contacts while locals.c has them
    int lists;    // number of the list of pairs that the heap `due` refers to
    int stock_capacity;
    crStepContact*
        stock;  // locals.c: contacts of the instant before; from step to step only the memory is kept
    int due_count, due_capacity;
    crDue* due;  // heap by time, then pair
} crClocks;

// Bodies that a solve of the part reads: the part if it is closed, else all.
static inline crPart cr__step_met(const crStep* step) {
    return step->clocks->closed ? cr__step_part(step) : (crPart){NULL, step->model->nb - 1};
}

// groups.c

crStatus cr__step_clocks_create(const crModel* model, crArena* store, crClocks* clocks);
// Makes every body and every sleeping island a group of its own, with clocks at zero.
void cr__step_groups_begin(const crModel* model, const crSleep* sleep, double time, crClocks* clocks);
// Joins the part to groups by loops and by contacts that may press within the time left, s.
void cr__step_groups_join(const crStep* step, double left, crClocks* clocks);
// True if a contact may press within the time left and joins its bodies to a group.
bool cr__step_joins(const crStep* step, const crStepContact* c, double left);
// Sets `plain` of bodies in islands without a contact that may bounce; their contacts are never fast.
// CR_ERR_MEMORY.
crStatus cr__step_find_plain(const crStep* step, crArena* arena, int* islands, bool* plain, crError* error);
// Islands of the part, joined by contacts within the margins, trees and loops: a root for every body.
void cr__step_reachable(const crStep* step, int* islands);

// flight.c

// Pose of a body at now_at if nothing changes its flight.
crPose cr__step_pose_now(const crStep* step, int body);
// Velocity of a point of the body at now_at in that flight.
crVec3 cr__step_velocity_now(const crStep* step, int body, crVec3 point);
// Time of impact of a pair, contacts i to end - 1, within h of now_at; INFINITY: no impact.
double cr__step_pair_impact(const crStep* step, int i, int end, double h);
// A lower bound of that time, which costs much less. exact: true if the bound is the time of impact itself.
double cr__step_pair_soonest(const crStep* step, int i, int end, double h, bool* exact);

// impacts.c

// True if a contact takes part in an impact of its bodies.
bool cr__step_touches(const crStep* step, const crStepContact* c);
// True if a contact is an impact now.
bool cr__step_closes_fast(const crStep* step, const crStepContact* c);

// locals.c

// Resolves impacts in the order of time, each with the groups of bodies it concerns, then moves all bodies to
// the end of the step. Needs contacts and forces of the whole world at the beginning.
crStatus cr__step_locally(crStep* step, double h, crError* error);
// Fills the heap with the times of impact of the present contacts within h.
crStatus cr__step_schedule(const crStep* step, double h, crPairs* pairs, crClocks* clocks, crError* error);

#endif
