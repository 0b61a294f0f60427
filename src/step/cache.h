// cache.h - what collide keeps between calls (boxes, pairs of shapes that are near, surfaces) and what the
// cone method keeps of a step while bodies have clocks of their own. None of it changes a result: all of it
// can be made again from model and state.
#ifndef CAROM_STEP_CACHE_H
#define CAROM_STEP_CACHE_H

#include "model/spatial.h"
#include "step/step.h"

// Two shapes whose boxes overlap.
typedef struct crNear {
    int shape_a, shape_b;  // a < b
    int body_a, body_b;
    int surface;    // index into surfaces
    int alarms;     // times in this step that its impact was no impact when it came
    bool exact;     // of its time that stands, as crDue has it
    bool packable;  // of single bodies, or one and what v does not move, with round friction
    double size;    // what its deadband is a share of, m
    double clear;   // the shapes are this far apart less the trails of both bodies, m
} crNear;

// Where a body was when all pairs were last looked at, and how long its way there was.
typedef struct crTrail {
    crVec3 com;
    crQuat q;
    double length;  // no point of it went farther, m
} crTrail;

typedef struct crNearSurface {
    int material_a, material_b;
    crContactSurface at_rest;  // e at zero speed
    bool by_speed;             // e depends on speed
    bool bounces;              // e, or et where the rule reads it, may be other than 0
} crNearSurface;

typedef struct crDue {
    double time;  // since the beginning of the step, s
    int pair;
    bool exact;  // or only not to be expected before
} crDue;

// Pairs that were looked at before all are collided: see cr__step_scout.
typedef struct crScout {
    crStepContact* room;  // for the contacts of all pairs (room_count)
    int room_count;
    size_t after;   // mark: what lies above the room is the scout's own
    int list;       // of which list of pairs
    double* until;  // margin up to which what was found of a pair stands, negative: nothing was (pair_count)
    int* first;     // its contacts among those found: from here (pair_count)
    int* end;       // to before this one (pair_count)
    int count, capacity;
    crStepContact* contacts;  // found (count)
} crScout;

typedef struct crStepCache {
    crBounds* box;     // what the broad phase was told; infinite where it was told nothing (shape_count)
    crBounds* now;     // at the poses of the last collide, with the margin (shape_count)
    bool* left;        // near: a shape of the body left its box (nb)
    double* margin;    // a contact is looked for within the sum of its two bodies' margins, m (nb)
    double flat;       // or within this, m; negative: by margins
    crTrail* trail;    // of each body (nb)
    bool trailed;      // trails end where bodies are
    bool even;         // no margin is less than what the fastest of the part could push its body by
    int* first_shape;  // shapes of each body: body_shapes[first_shape[b]] and on (nb + 1)
    int* body_shapes;  // (shape_count)
    int* first_tie;    // loops of each body, likewise (nb + 1)
    int* ties;
    int tie_rows, tie_entries;  // room for rows of all loops and joints
    int* first_force;           // in tie_force, of each body (nb)
    int* tie_of_row;            // problem_build, in scratch: place in tie_force of each row, -1: none
    int whole_count, whole_loop_count;
    int* whole;         // bodies that are awake (whole_count)
    int* whole_loops;   // and their loops (whole_loop_count)
    double start_time;  // begin: time at the beginning of the step, s
    double* drive;      // begin, audit: work of driven bodies on each body in this step, J (nb)
    double* thin;       // half of the least thickness of each body's shapes, m (nb)
    int* given;         // bodies that v does not move but time does, ascending (given_count)
    int given_count;
    int first_single;  // this body and all after it are single
    int tree_nv;       // velocities of the bodies before it
    int* first_tree;   // trees by their roots: tree_bodies[first_tree[b]] and on, none where they move as
                       // smooth.c has it (first_single + 1)
    int* tree_bodies;
    double* tree_gain;     // by root: what the flow makes of T at the q of forces (first_single + 1)
    bool spread;           // the broad phase knows every shape
    bool listed;           // pairs are those of the boxes
    int lists;             // how many lists of pairs there were
    const crScout* scout;  // NULL but while all pairs are collided after it
    int pair_count, pair_capacity;
    crNear* pairs;  // ascending by shapes (pair_count)
    int pair_of_capacity;
    int* first_pair;  // pairs of each body that v moves (nb + 1)
    int* pair_of;     // both ends of every pair
    int* surface_of;  // by two materials, -1: not yet made (material_count^2)
    int surface_count, surface_capacity;
    crNearSurface** surfaces;  // each where it stays
    bool bouncing;             // one of them bounces
    bool planes;               // some body moves in a plane
    bool moderate;             // true if no number of the model is so large that energies may overflow
    int contacts_last;         // of the whole world, the last time
    bool plastic;              // collide: no contact of the cone method will be an impact, see groups.c
    // local clocks
    double start;         // time at the beginning of the step, s
    double now_at;        // since start: the time at which contacts and flights are looked at, s
    double ahead;         // contacts that would touch so soon are touching for impacts, see locals.c, s
    bool catches;         // contact solves keep what closes faster than foreseen from overlapping
    double slot;          // length of the time within which a large group has one instant, see locals.c, s
    double* clock;        // since start: when q, v and dynamics of each body hold, s (nb)
    bool* hit;            // an impact of this step concerned this body (nb)
    bool* fresh;          // its velocity or time changed since contacts were found (nb)
    struct crLate* late;  // where late bodies are, found once; NULL but in locals.c (nb)
    bool* blunt;          // no contact of this body is an impact in this step (nb)
    bool* plain;   // nor one without restitution, where the contact solve gives what the rule would (nb)
    int* group;    // first body of its group (nb)
    int* members;  // how many a group has, at its first body (nb)
    int* next;     // ring of the bodies of a group (nb)
    int* mark;     // work, zero between uses (nb)
    int* list;     // work: bodies of a part (nb)
    int* loops;    // work: loops of a part (loop_count)
    int* column;   // work: place of each velocity among those of a cluster (nv)
    bool reheap;   // pairs changed their places
    int due_capacity, due_count, when_capacity;
    crStepContact* record;  // event, cone: contacts that pressed in the solves of the step (record_count)
    int record_count, record_capacity;
    crDue* due;    // heap by time, then pair
    double* when;  // time of each pair that stands, INFINITY for none (pair_count)
} crStepCache;

static inline crPart cr__step_part(const crStep* step) { return (crPart){step->part, step->part_count}; }

void cr__step_sort(int* items, int count);  // ascending

// bodies.c

// A stage for some bodies of the part, which may not look at any other; it is run by several threads.
typedef crStatus (*crPartFn)(crStep* step, crPart part, crDynamics* d, void* ctx);
crStatus cr__step_by_bodies(crStep* step, crPartFn stage, void* ctx);
// cr__part_velocity of the part.
crStatus cr__step_velocity(crStep* step, double* v);

// Whether the numbers of the model are moderate, see finite.c.
void cr__step_find_moderate(crStep* step);

crStatus cr__step_cache_create(crStep* step);
void cr__step_cache_destroy(crStep* step);

// pairs.c

// Margins for what each body can do in h by v and v_free; of the part.
crStatus cr__step_margins(crStep* step, double h, crError* error);
// Margins of slow bodies grow to what the fastest of their island could make them travel, where landings are
// not located; whether any did. way is work (nb).
bool cr__step_share_margins(crStep* step, int* islands, double* way);
// Speed of a body's fastest point by v.
double cr__step_speed(const crStep* step, const double* v, int body);
// Boxes of the part's shapes and, where one left its box, pairs anew.
crStatus cr__step_near(crStep* step, crError* error);
// Places of the part's pairs in the list, ascending, each once, in scratch; NULL: no memory. cross: and those
// with bodies outside it.
int* cr__step_pairs_of_part(crStep* step, bool cross, int* count);
// Surface of a pair of materials, an index or a negative crStatus.
int cr__step_surface(crStep* step, int material_a, int material_b);

// contacts.c

// Normal of the planes that two bodies move in, zero where there is none.
crVec3 cr__step_common_plane(const crStep* step, int a, int b);
// Contacts of one pair, at now_at, in place of what there was.
crStatus cr__step_collide_pair(crStep* step, int pair, crError* error);
// Contacts of the part within the margins; cross: and with bodies outside it, where they will be at now_at.
crStatus cr__step_collide_part(crStep* step, bool cross, crError* error);
// The same with cross at the same time, where contacts were found for some of the part: those of bodies that
// are not fresh stand.
crStatus cr__step_collide_fresh(crStep* step, const bool* fresh, const crStepContact* contacts, int count,
                                crError* error);
// Contacts of pairs that join two islands, which become one, and of all that bounce; others are not looked
// at, so that islands within the margins cost no more than they must. Islands begin as
// cr__step_reachable makes them without contacts; a scout begins as {0} and may go on with larger margins.
crStatus cr__step_scout(crStep* step, int* islands, crScout* scout, crError* error);
// The contacts of the whole world, those that a scout found at the present margins as they are; its memory is
// free.
crStatus cr__step_collide_after(crStep* step, crScout* scout, crError* error);
// Velocity field of a body, and velocity of one of its points in the world, by v, which need not be that of
// the state.
crTwist cr__step_twist(const crStep* step, const double* v, int body);
crVec3 cr__step_point_velocity(const crStep* step, const double* v, int body, crVec3 point);

// impacts.c

// Whether a contact takes part in an impact of its bodies, and whether it is one now.
bool cr__step_touches(const crStep* step, const crStepContact* c);
bool cr__step_closes_fast(const crStep* step, const crStepContact* c);

// flight.c

// Where a body will be at now_at if nothing changes its flight.
crPose cr__step_pose_now(const crStep* step, int body);
crVec3 cr__step_velocity_now(const crStep* step, int body, crVec3 point);
// Places for what late bodies do, in scratch.
crStatus cr__step_late_create(crStep* step);
// When contacts i to end - 1, those of one pair, are an impact within h of now_at; INFINITY: not.
double cr__step_pair_impact(const crStep* step, int i, int end, double h);
// A time before which that is not to be expected, much cheaper; exact: it is that time.
double cr__step_pair_soonest(const crStep* step, int i, int end, double h, bool* exact);
// End of the run of contacts of the pair that contact i belongs to.
int cr__step_run_end(const crStep* step, int i);

// groups.c

// Every body a group of its own, clocks and rings at zero.
void cr__step_groups_begin(crStep* step);
// Groups of the part, from its contacts: those that may press before the end, left from now, and loops.
void cr__step_groups_join(crStep* step, double left);
bool cr__step_joins(const crStep* step, const crStepContact* c, double left);
// The part becomes the groups of the bodies given, or all bodies that no impact concerned.
void cr__step_part_groups(crStep* step, const int* bodies, int count);
void cr__step_part_resting(crStep* step);
void cr__step_part_all(crStep* step);
void cr__step_part_of(crStep* step, const bool* in);  // the bodies marked, of those awake
// The whole world becomes the bodies awake that are not marked; until cr__step_list_awake.
void cr__step_leave_out(crStep* step, const bool* out);
// Bodies whose contacts, and those of all they can reach, need no rule: plain, and their contacts never fast.
// whether the rule may give what the contact solve does; reads_et: of no et either
bool cr__step_solves_alike(const crStepSettings* settings, bool* reads_et);
crStatus cr__step_find_plain(crStep* step, int* islands, crError* error);
// Islands of the part: a root for every body, joined by every contact within the margins, trees and loops.
void cr__step_reachable(const crStep* step, int* islands);

// trees.c

crStatus cr__step_trees_create(crStep* step);
// Whether a body is of a tree that trees.c moves.
bool cr__step_bends(const crStep* step, int body);
// After forces: what velocity terms do to v_free.
void cr__step_trees_bend(crStep* step, double h);
// q and v of the part's trees over h; CR_ERR_MEMORY, CR_ERR_DEFINITE.
crStatus cr__step_trees_move(crStep* step, double h);
// Trees closed by loops that nothing else holds, moved again over h from the beginning of the step, to second order.
crStatus cr__step_mechanisms(crStep* step, double h, crError* error);

// ties.c

crStatus cr__step_ties_create(crStep* step);
// A row of the problem is one of a loop or joint.
void cr__step_tie_loop(crStep* step, int loop, int row, int count);
void cr__step_tie_joint(crStep* step, const crJointRow* info);
// Force of the motor along velocity j in the last solve.
double cr__step_motor_force(const crStep* step, int j);
// Forces of the part's loops and joints from step->p.
void cr__step_keep_ties(crStep* step);

// sleep.c

// The whole world becomes what is awake.
void cr__step_list_awake(crStep* step);
// The island of a body wakes, if it sleeps.
crStatus cr__step_wake(crStep* step, int body, crError* error);
// Sleepers whose seal is broken wake; so do those in contact with something that moves.
crStatus cr__step_wake_written(crStep* step, crError* error);
crStatus cr__step_wake_touched(crStep* step, bool* woke, crError* error);
// Islands, as they were at the beginning of the step of length h, that have been slow for long enough.
crStatus cr__step_fall_asleep(crStep* step, double h, int* islands, crError* error);

// locals.c

// From the contacts and forces of the whole world at the beginning: impacts in the order of time, each moving
// only the groups of bodies it concerns; then everything to the end of the step.
crStatus cr__step_locally(crStep* step, double h, crError* error);
// Times of impacts of the present contacts within h, and no others, go into the heap.
crStatus cr__step_schedule(crStep* step, double h, crError* error);

#endif
