// pairs.h - which shapes are near each other: boxes in a broad phase, the list of pairs they make, surfaces of pairs.
//
// Nothing of it changes a result: it can be made again from model and state.
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

// Two shapes whose boxes overlap.
typedef struct crNear {
    int shape_a, shape_b;  // a < b
    int body_a, body_b;
    int slot;               // cell.c: where its contacts are kept, -1: nowhere
    unsigned surface : 28;  // index into surfaces, of which there are at most CR_SURFACES
    bool packable : 1;      // of single bodies, or one and what v does not move, with round friction
    bool keeps : 1;         // its contacts may be kept
    bool looked : 1;        // they were looked for
    double clear;           // the shapes were surely so far apart, with the ways of both bodies until then, m
} crNear;
#define CR_SURFACES (1u << 28)

// Time of the impact of a pair within the step (locals.c).
typedef struct crNearTime {
    double when;  // time that stands, INFINITY for none, s
    int alarms;   // times in this step that its impact was no impact when it came
    bool exact;   // of `when`, as crDue has it
} crNearTime;

// Where a body was when all pairs were last looked at.
typedef struct crTrail {
    crVec3 com;
    crQuat q;
} crTrail;

// Edges of cells, of the pair's size; pairs that move by less than a quarter of it in a step stay in a cell for some steps.
#define CR_CELL_FINE   (1.0 / 4096.0)
#define CR_CELL_COARSE (1.0 / 512.0)

// A contact at the middle of a cell of relative poses, in the axes of a.
typedef struct crCellPoint {
    crVec3 on_a;
    double gap;
    uint32_t feature_a, feature_b;
} crCellPoint;

// Contacts of one pair for its cell: a slot.
typedef struct crCell {
    double grain;      // edge of the grid, of the pair's size
    int32_t place[7];  // pose of b in a's axes, in steps of the grid
    bool held;
    int next;  // while nobody has it: the next such slot, -1: none
    double margin;
    int turns_by;  // whom the normal turns with
    int count;
    int deepest;    // of the points
    crPose middle;  // of the cell: pose of b in a's axes
    crVec3 normal;
    crBends of_a, of_b;  // how far support points move when the normal turns, m/rad
    crBends turn;        // how the normal turns when they move apart, rad/m
    crCellPoint point[8];
} crCell;

// Slots of all pairs that have one.
typedef struct crCells {
    bool many;    // bodies are so many that contacts of slow pairs are kept
    int keeping;  // how many pairs may keep their contacts
    int count, capacity;
    crCell* slot;  // (count)
    int free;      // first slot that no pair has, -1: none
} crCells;

typedef struct crNearSurface {
    int material_a, material_b;
    crContactSurface at_rest;  // coefficients at zero speed
    bool by_speed;             // coefficients depend on the impact
    bool bounces;              // e, or et where the rule reads it, may be other than 0
} crNearSurface;

// Boxes of shapes, and what the broad phase knows of them: near.c.
typedef struct crPairBoxes {
    crBroad* broad;
    crBounds* now;  // at the poses of the last call, with the margin (shape_count)
    bool* moves;    // v moves the body (nb)
    bool* left;     // the shape left its box (shape_count)
    int told;       // boxes that changed since pairs were dropped
    bool spread;    // the broad phase knows every shape
    bool listed;    // pairs are those of the boxes
} crPairBoxes;

// Where bodies were when all pairs were last looked at, and how far they came since: trail.c.
typedef struct crTrails {
    crTrail* at;  // of each body (nb)
    double* way;  // length of each body's trail: no point of it went farther, m (nb)
} crTrails;

// Surfaces by materials: surface.c.
typedef struct crPairMaterials {
    int* surface;  // of two materials, -1: not yet made (material_count^2)
    int count, capacity;
    bool reads_et;      // the rule reads et
    crArena at_impact;  // surfaces of contacts of this step whose coefficients differ from those at rest
} crPairMaterials;

typedef struct crPairs {
    const crPlan* plan;
    crAllocator allocator;
    double* margin;  // margins.c: a contact is looked for within the sum of its two bodies' margins, m (nb)
    double flat;     // margins.c: or within this, m; negative: by margins
    crPairBoxes boxes;
    // the list: near.c
    int lists;  // how many lists there were
    int count, capacity;
    crNear* near;      // ascending by shapes (count)
    crNearTime* time;  // of each pair (count); NULL until cr__pairs_reset_times
    int time_capacity;
    int* first_pair;  // of each shape as the first of a pair (shape_count + 1)
    int* first_of;    // pairs of each body that v moves: of[first_of[b]] and on (nb + 1)
    int* of;          // both ends of every pair
    int of_capacity;
    int* mark;  // work, zero between calls (nb)
    crTrails trails;
    bool trailed;  // trails end where bodies are
    crCells cells;
    crPairMaterials materials;
    crNearSurface** surfaces;  // each where it stays (materials.count)
    bool bouncing;             // one of them bounces
    bool by_impact;            // coefficients of one depend on the impact
} crPairs;

// The arena keeps arrays of the size of the model; the plan must outlive the pairs. CR_ERR_MEMORY, or what the broad phase says.
crStatus cr__pairs_create(const crPlan* plan, const crAllocator* allocator, crArena* arena, crPairs* pairs);
void cr__pairs_destroy(crPairs* pairs);

// near.c

// Boxes of the bodies of a part at their poses, by several threads; the first time those of all.
crStatus cr__pairs_move(crPairs* pairs, crTasks* tasks, crPart part, const crDynamics* d, crError* error);
// The list, where a shape left its box; by several threads.
crStatus cr__pairs_list(crPairs* pairs, crTasks* tasks, const crDynamics* d, crArena* scratch,
                        crError* error);
// Whether the boxes of a pair, with their margins, are apart.
static inline bool cr__pairs_boxes_apart(const crPairs* pairs, const crNear* near) {
    const crBounds *a = &pairs->boxes.now[near->shape_a], *b = &pairs->boxes.now[near->shape_b];
    return a->hi.x < b->lo.x || b->hi.x < a->lo.x || a->hi.y < b->lo.y || b->hi.y < a->lo.y ||
           a->hi.z < b->lo.z || b->hi.z < a->lo.z;
}
// No pair has an impact, and no alarms; from now on times stay with their pairs in every list. CR_ERR_MEMORY.
crStatus cr__pairs_reset_times(crPairs* pairs);
// Length by which tolerances of a pair are scaled, m.
static inline double cr__pairs_size(const crPairs* pairs, const crNear* near) {
    return cr__plan_pair_size(pairs->plan, near->body_a, near->body_b);
}
// Places in the list of a part's pairs, ascending, each once, in scratch; NULL: no memory. cross: and those
// with bodies outside it.
int* cr__pairs_of_part(crPairs* pairs, crPart part, bool cross, crArena* scratch, int* count);
// Place of the pair of two shapes in the list, or where it would be.
int cr__pairs_place(const crPairs* pairs, int shape_a, int shape_b);

// collide.c

// Whether two shapes move in parallel planes and pass each other there: across the planes they are apart, or flush.
bool cr__pairs_pass_by(const crPlan* plan, const crBodyShape* a, const crBodyShape* b, crPose pose_a,
                       crPose pose_b);
// Contact points of two shapes that do not pass by, at given poses, at most capacity, and how many there are in *needed. *until: margin
// up to which they would be the same, m; or, where there are none, how far apart the shapes are at least; NULL: nobody asks.
int cr__pairs_collide(const crPlan* plan, int shape_a, int shape_b, crPose pose_a, crPose pose_b,
                      double margin, crContactPoint* points, int capacity, int* needed, double* until);

// apart.c

// Two convex pieces where they are.
typedef struct crPieces {
    crConvex a, b;
} crPieces;
// Shapes that are such pieces, other than balls and planes, at the poses of bodies; false: they are not.
bool cr__pairs_pieces(const crPlan* plan, int shape_a, int shape_b, const crPose* pose, crPieces* pieces);
// How far they are apart along a unit vector from a to b, m: no more than in truth.
double cr__pairs_apart(const crPieces* pieces, crVec3 n);
// The same of two shapes, balls among them, along a unit vector l in the axes of a's body: less by more than rounding, and
// -INFINITY where a shape is a plane or not convex, or not in its body's own axes.
double cr__pairs_along(const crShape* a, const crPose* at_a, const crShape* b, const crPose* at_b, crVec3 l);

// cell.c

// Whether contacts of a pair may be kept: of convex pieces that are not found faster than a slot is read.
bool cr__pairs_has_cells(const crPairs* pairs, int shape_a, int shape_b);
// Contacts of such a pair within the margin, advanced from the middle of the cell of edge `grain` (of its size); points without on_a and on_b. Depends on the poses alone. At most
// CR_MANIFOLD_MAX; -1: not this way.
int cr__pairs_cell(crPairs* pairs, const crNear* pair, const crPose* body_a, const crPose* body_b,
                   double grain, double margin, crContactPoint* points);

// The slot of a pair, where it has one, is read soon: slots lie in no order, and are far away.
static inline void cr__pairs_soon(const crPairs* pairs, const crNear* pair) {
    if (pair->slot < 0) return;
    const char* at = (const char*)&pairs->cells.slot[pair->slot];
    for (size_t i = 0; i < sizeof(crCell) - 64; i += 64) {
        CR_PREFETCH(at + i);
    }
}

// trail.c

// Trails of all bodies go on to where they are.
void cr__pairs_follow(crPairs* pairs, crTasks* tasks, const crDynamics* d);
// Ways of both bodies since the beginning.
static inline double cr__pairs_trails(const crPairs* pairs, const crNear* near) {
    return pairs->trails.way[near->body_a] + pairs->trails.way[near->body_b];
}

// surface.c

// Surface of a pair of materials, an index or a negative crStatus.
int cr__pairs_surface(crPairs* pairs, int material_a, int material_b);
// The surface at an impact: at_rest itself, or a copy that lives until cr__pairs_forget. Not for several threads at once.
// Fails: CR_ERR_MEMORY; CR_ERR_RANGE where a function of the user gives what a coefficient may not be.
crStatus cr__pairs_surface_at(crPairs* pairs, int surface, const crApproach* approach,
                              const crContactSurface** out);
// Frees what cr__pairs_surface_at made.
crStatus cr__pairs_forget(crPairs* pairs);

#endif
