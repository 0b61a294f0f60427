// pairs.h - pairs of shapes whose boxes overlap: broad phase, list of pairs, kept contacts, surfaces.
//
// All data here can be rebuilt from model and state without a change of results.
#ifndef CAROM_PAIRS_PAIRS_H
#define CAROM_PAIRS_PAIRS_H

#include "base/prefetch.h"
#include "base/tasks.h"
#include "carom/collide.h"
#include "carom/forms.h"
#include "carom/near.h"
#include "collide/convex.h"
#include "collide/narrow.h"
#include "model/plan.h"

// A pair: two shapes whose boxes overlap.
typedef struct crNear {
    int shape_a, shape_b;  // a < b
    int body_a, body_b;
    int slot;               // cell.c: index of its cell, -1: none
    unsigned surface : 27;  // index into surfaces, of which there are at most CR_SURFACES
    bool packable : 1;      // true if both bodies are single or not moved by v, and friction is round
    bool keeps : 1;         // true if its contacts may be kept in a cell
    bool looked : 1;        // true if its contacts were searched for at least once
    bool slow : 1;          // true if its contacts were last found in a cell
    bool quick : 1;  // true if its contacts are found so fast that only cells which last for many steps pay
    // lower bound of the distance of the shapes when they were last collided, plus the trails of both bodies
    // at that time, m; -INFINITY: they had contacts, or were not collided yet
    double clear;
} crNear;
#define CR_SURFACES (1u << 27)

// Time of impact of a pair within the step (locals.c).
typedef struct crNearTime {
    double when;  // time of impact since the beginning of the step, INFINITY: none, s
    int alarms;   // times of impact of this step at which the pair had no impact
    bool exact;   // true if `when` is the time of impact, false if it is a lower bound
} crNearTime;

// Position of a body when its trail was last extended.
typedef struct crTrail {
    crVec3 com;
    crQuat q;
} crTrail;

// Edges of the grid of relative poses, share of the pair's size. A pair uses one if it moves by less than a
// quarter of it in a step, so that it stays in a cell for some steps.
#define CR_CELL_FINE   (1.0 / 4096.0)
#define CR_CELL_COARSE (1.0 / 512.0)

// Contact at the middle of a cell, in the axes of a.
typedef struct crCellPoint {
    crVec3 on_a;
    double gap;
    uint32_t feature_a, feature_b;
} crCellPoint;

// Contacts of one pair for the cell of relative poses that it is in.
typedef struct crCell {
    double grain;      // edge of the grid, share of the pair's size
    int32_t place[7];  // pose of b in a's axes, in steps of the grid
    bool held;         // true if its contacts were found
    int next;          // next free cell while this one is free, -1: none
    double margin;     // gap up to which contacts were found, m
    int turns_by;      // body that the normal turns with: BY_A, BY_B, BY_BOTH
    int count;         // contacts, -1: they cannot be advanced within the cell
    int deepest;       // point with the smallest gap
    crPose middle;     // pose of b in a's axes at the middle of the cell
    crVec3 normal;
    crBends of_a, of_b;  // motion of support points per rotation of the normal, m/rad
    crBends turn;        // rotation of the normal per motion of the support points, rad/m
    crCellPoint point[8];
} crCell;

// Cells of all pairs that have one.
typedef struct crCells {
    bool many;    // true if the model has enough bodies to keep contacts of slow pairs
    int keeping;  // number of pairs whose contacts may be kept
    int asking;   // pairs whose contacts were last found in a cell that they do not have
    int count, capacity;
    crCell* slot;  // (count)
    int free;      // first free cell, -1: none
} crCells;

typedef struct crNearSurface {
    int material_a, material_b;
    crContactSurface at_rest;  // coefficients at zero speed
    bool by_speed;             // true if coefficients depend on the impact
    bool bounces;              // true if e, or et if the rule reads it, may differ from 0
} crNearSurface;

// Boxes of shapes and their state in the broad phase: near.c.
typedef struct crPairBoxes {
    crBroad* broad;
    crBounds* now;  // boxes at the poses of the last call, enlarged by the margin (shape_count)
    bool* moves;    // true if v moves the body (nb)
    bool* left;     // true if the shape left its box in the broad phase (shape_count)
    int told;       // boxes renewed in the broad phase since pairs were last dropped
    bool spread;    // true if the broad phase holds every shape
    bool listed;    // true if the list of pairs is that of the boxes
} crPairBoxes;

// Positions of bodies when trails were last extended, and lengths of trails: trail.c.
typedef struct crTrails {
    crTrail* at;  // position of each body (nb)
    double* way;  // length of each body's trail, an upper bound of the travel of its points, m (nb)
} crTrails;

// Surfaces by materials: surface.c.
typedef struct crPairMaterials {
    int* surface;  // index of the surface of two materials, -1: not made yet (material_count^2)
    int count, capacity;
    bool reads_et;      // true if the rule reads et
    crArena at_impact;  // surfaces of this step's contacts with other coefficients than at rest
} crPairMaterials;

typedef struct crPairs {
    const crPlan* plan;
    crAllocator allocator;
    // margins.c: contacts of a pair are found up to the sum of its bodies' margins, m (nb). They stay while `flat` takes
    // their place: the audit asks which bodies went farther.
    double* margin;
    double flat;  // one margin for all pairs instead, m; negative: none
    crPairBoxes boxes;
    // list of pairs: near.c
    int lists;  // number of changes of the list
    int count, capacity;
    crNear* near;      // pairs, ascending by shape_a, then shape_b (count)
    crNearTime* time;  // times of impact of the pairs (count); NULL until cr__pairs_reset_times
    int time_capacity;
    int* first_pair;  // first pair of each shape_a (shape_count + 1)
    int* first_of;    // pairs of body b are of[first_of[b]] to of[first_of[b + 1] - 1] if v moves it (nb + 1)
    int* of;          // indices of pairs, by body
    bool indexed;     // true if first_of and `of` are those of the list
    int of_capacity;
    int* mark;  // working data, zero between calls (nb)
    crTrails trails;
    bool trailed;  // true if trails end at the present positions
    crCells cells;
    crPairMaterials materials;
    crNearSurface** surfaces;  // surfaces, each at a fixed address (materials.count)
    bool bouncing;             // true if one of them bounces
    bool by_impact;            // true if coefficients of one depend on the impact
} crPairs;

// Creates pairs without boxes. Arrays of the size of the model come from the arena; the plan must outlive the
// pairs. CR_ERR_MEMORY.
crStatus cr__pairs_create(const crPlan* plan, const crAllocator* allocator, crArena* arena, crPairs* pairs);
void cr__pairs_destroy(crPairs* pairs);

// near.c

// Room of a body's boxes beyond its shapes, m.
static inline double cr__pairs_margin(const crPairs* pairs, int body) {
    if (pairs->flat < 0.0) return pairs->margin[body];
    return pairs->boxes.moves[body] ? pairs->flat : 0.0;
}
// Finds the boxes of a part's bodies at their poses, of all bodies in the first call. CR_ERR_MEMORY.
crStatus cr__pairs_move(crPairs* pairs, crTasks* tasks, crPart part, const crDynamics* d, crError* error);
// Renews the list of pairs if a shape left its box. Fails as the broad phase (CR_ERR_LIMIT: too many bodies
// overlap) and as materials do; CR_ERR_MEMORY.
crStatus cr__pairs_list(crPairs* pairs, crTasks* tasks, const crDynamics* d, crArena* scratch,
                        crError* error);
// True if the boxes of a pair, enlarged by their margins, are apart.
static inline bool cr__pairs_boxes_apart(const crPairs* pairs, const crNear* near) {
    const crBounds *a = &pairs->boxes.now[near->shape_a], *b = &pairs->boxes.now[near->shape_b];
    return a->hi.x < b->lo.x || b->hi.x < a->lo.x || a->hi.y < b->lo.y || b->hi.y < a->lo.y ||
           a->hi.z < b->lo.z || b->hi.z < a->lo.z;
}
// Removes the times of impact and the alarms of all pairs. Later changes of the list keep the times of the
// pairs that stay. CR_ERR_MEMORY.
crStatus cr__pairs_reset_times(crPairs* pairs);
// Length that scales the tolerances of a pair, m.
static inline double cr__pairs_size(const crPairs* pairs, const crNear* near) {
    return cr__plan_pair_size(pairs->plan, near->body_a, near->body_b);
}
// Makes the index by body, if the list changed since it was made.
void cr__pairs_index(crPairs* pairs, crTasks* tasks);
// Indices of a part's pairs, ascending, each once, in scratch. cross: include pairs with moving bodies
// outside the part. NULL: out of memory.
int* cr__pairs_of_part(crPairs* pairs, crTasks* tasks, crPart part, bool cross, crArena* scratch, int* count);
// Index of the pair of two shapes in the list, or the index at which it would be inserted.
int cr__pairs_place(const crPairs* pairs, int shape_a, int shape_b);

// collide.c

// True if two shapes move in parallel planes and are apart, or flush, across them: they pass by each other.
bool cr__pairs_pass_by(const crPlan* plan, const crBodyShape* a, const crBodyShape* b, crPose pose_a,
                       crPose pose_b);
// Finds the contact points of two shapes that do not pass by each other. Returns their number, at most
// `capacity`; *needed is the number without that limit. *until: margin up to which the points stay the same,
// or, without points, a lower bound of the distance of the shapes, m; may be NULL.
int cr__pairs_collide(const crPlan* plan, int shape_a, int shape_b, crPose pose_a, crPose pose_b,
                      double margin, crContactPoint* points, int capacity, int* needed, double* until);

// apart.c

// Two convex pieces at their poses.
typedef struct crPieces {
    crConvex a, b;
} crPieces;
// Writes the pieces of two shapes at the poses of bodies (nb). Returns false if a shape is not a convex piece
// with an own orientation: a ball, plane, mesh, height field or compound.
bool cr__pairs_pieces(const crPlan* plan, int shape_a, int shape_b, const crPose* pose, crPieces* pieces);
// Distance of the pieces along a unit vector from a to b, m: a lower bound of their distance.
double cr__pairs_apart(const crPieces* pieces, crVec3 n);
// Lower bound of the distance of two shapes, balls included, along a unit vector l in the axes of a's body, m (apart.h).
double cr__pairs_along(const crShape* a, const crPose* at_a, const crShape* b, const crPose* at_b, crVec3 l);
// The same for a half-space and another shape, along the normal of the half-space.
double cr__pairs_above(const crShape* plane, const crPose* at_plane, const crShape* b, const crPose* at_b);

// cell.c

// True if contacts of a pair may be kept: shapes are convex, and finding contacts takes longer than reading a
// cell.
bool cr__pairs_has_cells(const crPairs* pairs, int shape_a, int shape_b);
// True if finding the contacts of a pair takes only two or three times as long as reading a cell: two boxes.
bool cr__pairs_is_quick(const crPairs* pairs, int shape_a, int shape_b);
// Finds the contacts of such a pair within the margin, advanced from the middle of its cell of edge `grain`
// (share of its size). Returns their number, at most CR_MANIFOLD_MAX, or -1 if the pair must be collided at
// its poses. on_a and on_b of points are not written. The result depends on the poses alone.
int cr__pairs_cell(crPairs* pairs, const crNear* pair, const crPose* body_a, const crPose* body_b,
                   double grain, double margin, crContactPoint* points);

// Prefetches the cell of a pair, if it has one.
static inline void cr__pairs_soon(const crPairs* pairs, const crNear* pair) {
    if (pair->slot < 0) return;
    const char* at = (const char*)&pairs->cells.slot[pair->slot];
    for (size_t i = 0; i < sizeof(crCell) - 64; i += 64) {
        CR_PREFETCH(at + i);
    }
}

// trail.c

// Extends the trails of all bodies to their present positions.
void cr__pairs_follow(crPairs* pairs, crTasks* tasks, const crDynamics* d);
// Sum of the lengths of both bodies' trails, m.
static inline double cr__pairs_trails(const crPairs* pairs, const crNear* near) {
    return pairs->trails.way[near->body_a] + pairs->trails.way[near->body_b];
}

// surface.c

// Index of the surface of two materials, which is made in the first call. Fails with a negative crStatus:
// CR_ERR_LIMIT (CR_SURFACES), CR_ERR_MEMORY, or the error of the materials.
int cr__pairs_surface(crPairs* pairs, int material_a, int material_b);
// Writes the surface at an impact: at_rest itself, or a copy that lives until cr__pairs_forget. Not
// thread-safe. CR_ERR_MEMORY; CR_ERR_RANGE if a function of the user returns an invalid coefficient.
crStatus cr__pairs_surface_at(crPairs* pairs, int surface, const crApproach* approach,
                              const crContactSurface** out);
// Frees the copies of cr__pairs_surface_at.
crStatus cr__pairs_forget(crPairs* pairs);

#endif
