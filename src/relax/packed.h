// packed.h - contacts of free bodies side by side: the structures of the packed contact solver.
//
// Velocities are z = M^(1/2) v, eight numbers per body (the last two are zero): z = sqrt(m) v and
// z' = R I omega with R^T R = I^-1. The velocity at a contact is u = E + s_b z_b + K_b z_b' - (s_a z_a +
// K_a z_a') in world axes, with s = 1/sqrt(m) and K = -[r] R^T. The contact's W is D, the sum of
// s^2 1 + K K^T over both bodies; an impulse P changes z by s P and z' by K^T P. A unit is up to four
// contacts of one pair of shapes; units of one colour share no body. A group is four units of one colour and
// one kind, one per lane.
#ifndef CAROM_RELAX_PACKED_H
#define CAROM_RELAX_PACKED_H

#include "base/tasks.h"
#include "model/spatial.h"
#include "problem/colouring.h"

#ifndef CR_LANES    // few.h defines it as 1
#define CR_LANES 4  // units of a group
#endif
#define CR_UNIT_CONTACTS 4  // most contacts of a unit
#define CR_BODY_STRIDE   8  // numbers per body in z

// Kinds of units: simpler kinds store less of D and K.
typedef enum crKind {
    CR_KIND_ANY,
    CR_KIND_ROUND,  // each moving body has three equal moments of inertia
    CR_KIND_BALL,   // round, centres of the moving bodies on the contact normal, E parallel to the normal
} crKind;

// Places of a slot (one contact of each lane). A place holds CR_LANES numbers.
enum {
    CR_AT_N = 0,     // normal
    CR_AT_P = 3,     // impulse along n, t1, t2; for balls in world axes
    CR_AT_STEP = 6,  // momentum direction d: weighted sum of the impulse changes of past sweeps
    CR_AT_MU = 9,    // coefficient of friction
    // kind ball
    CR_AT_BIAS = 10,  // E along n
    CR_AT_GT = 11,    // 1/w_t
    CR_AT_RHO = 12,   // rho_b, then rho_a if both bodies move
    // other kinds
    CR_AT_T = 10,  // x and y of t1, whose z is 0
    CR_AT_E = 12,  // E along n, t1, t2
    CR_AT_W = 15,  // n^T D n
    CR_AT_C = 16,  // T^T D n / w, T = t1, t2
    CR_AT_S = 18,  // T^T D T - w c c^T: 11 12 22
    CR_AT_K = 21,  // K_b, then K_a if both bodies move: CR_K or CR_K_ROUND places each
};
// Places of K. A round body has R = 1/sqrt(I) 1, so K is stored as the vector k = r/sqrt(I): K z = z x k and
// K^T P = k x P. A ball has k = rho n.
enum { CR_K_ROUND = 3, CR_K = 9 };

#define CR_GROUP (2 * CR_LANES)  // most units of a group: those of short steps have twice as many lanes

typedef struct crGroup {
    int a[CR_GROUP], b[CR_GROUP];  // offsets of the bodies in z; 0: no moving body
    int island[CR_GROUP];
    int contact[CR_GROUP];  // first contact of each unit
    int lanes;              // lanes in use
    int slots;              // contacts per unit
    int places;             // places per slot
    crKind kind;
    bool two;    // true if both bodies move
    bool live;   // true if an island of the group is still being solved
    size_t hot;  // offset in crPacked.hot, or crSubsteps.hot, of s_b, s_a, then the slots
} crGroup;

// A contact of the packed solver: between two single bodies, or a single body and one that v does not move,
// with isotropic friction.
typedef struct crPackedContact {
    int body_a, body_b;
    int shape_a, shape_b;  // contacts of two shapes that stand side by side are solved as one unit
    double mu;
    crVec3 point, normal;
    crVec3 E;  // given velocity of driven bodies, plus the bias along the normal, m/s
    crVec3 P;  // in: warm start impulse on b; out: impulse, N s
    double w;  // out: n^T W n, 1/kg
} crPackedContact;

// Groups and bodies that a sweep goes through: those of islands that go on, and few others.
typedef struct crSwept {
    int* group;                 // ascending (start[colours])
    int start[CR_COLOURS + 2];  // first of each colour (colours + 1)
    int* body;                  // ascending (bodies)
    int bodies;
} crSwept;

typedef struct crPacked {
    int count;
    crPackedContact* contact;  // (count)
    int lanes;                 // most units per group: CR_LANES, or CR_GROUP for short steps
    int group_count;
    crGroup* group;                    // (group_count), plus one that holds the end of hot
    int colours;                       // colours in use; the extra last one only if CR_COLOURS are not enough
    int colour_start[CR_COLOURS + 2];  // first group of each colour (colours + 1)
    double* hot;                       // numbers of all groups
    const double* beta;                // momentum share of each island in the next sweep
    // working data of cr__packed_solve
    crSwept swept;
    double* change;  // largest squared velocity change in the last sweep, m^2/s^2 (group_count*CR_LANES)
    double* along;   // sum of w dP.d in the last sweep, d: momentum direction (group_count*CR_LANES)
    int64_t* live;   // masks (group_count*CR_LANES)
    int bodies;
    int* body;              // (bodies)
    int* place;             // offset of each body in z; 0: none (nb)
    int* body_island;       // (bodies)
    double* z;              // (8*(bodies + 1)); the first eight are zero
    double* z_free;         // z without impulses, as z
    double* z_before;       // z after the previous sweep, as z
    struct crUnits* units;  // blocks of rows that are swept with the contacts (units.h); NULL: none
    crTasks* tasks;
    void* spare;  // memory that the grouping no longer needs, free for reuse (spare_bytes)
    size_t spare_bytes;
} crPacked;

// Bodies with their inertias at the present poses, and the arena and threads to work with.
typedef struct crInertias {
    const crModel* model;
    const crDynamics* d;
    crArena* arena;
    crTasks* tasks;
} crInertias;

typedef struct crPackedSweep {
    crPacked* packed;
    int first;  // first group of the colour
} crPackedSweep;

// Groups the contacts, in which those of a pair of shapes are adjacent, and places `units` (or NULL). Sets z
// and z_free from v, the velocities without impulses (nv). Makes groups for short steps, without their numbers.
// CR_ERR_MEMORY.
crStatus cr__packed_group(const crInertias* of, const int* island_of_body, const double* v, int count,
                          crPackedContact* contact, struct crUnits* units, crPacked* packed);
// Groups the contacts, fills `hot`, and adds the warm start impulses to z. CR_ERR_MEMORY.
crStatus cr__packed_create(const crInertias* of, const int* island_of_body, const double* v, int count,
                           crPackedContact* contact, struct crUnits* units, crPacked* packed);
// Makes one sweep over the live groups of packed->swept and all units.
void cr__packed_sweep(crPacked* packed);
// Recomputes z from z_free and the impulses.
void cr__packed_apply(crPacked* packed);
// Converts velocities v (nv) to the coordinates of z (8*(bodies + 1)).
void cr__packed_coordinates(const crPacked* packed, const crInertias* of, const double* v, double* z);

// True if two contacts are of one pair of shapes. Of one pair of bodies would not do: which of their shapes'
// contacts stand side by side depends on the contacts of others.
static inline bool cr__packed_same_pair(const crPackedContact* a, const crPackedContact* b) {
    return a->shape_a == b->shape_a && a->shape_b == b->shape_b && a->body_a == b->body_a &&
           a->body_b == b->body_b;
}

// Impulse and moment on a body, summed over contacts that stand side by side.
typedef struct crPushed {
    double* at;  // six numbers that are added to; NULL: the body is not summed
    crVec3 origin, P, T;
} crPushed;
static inline crPushed cr__pushed_begin(double* at, crVec3 origin) {
    if (at == NULL) return (crPushed){0};
    return (crPushed){at, origin, cr__load_vec(at), cr__load_vec(at + 3)};
}
static inline void cr__pushed_add(crPushed* sum, crVec3 point, crVec3 P) {
    sum->P = cr_add(sum->P, P);
    sum->T = cr_add(sum->T, cr_cross(cr_sub(point, sum->origin), P));
}
static inline void cr__pushed_end(const crPushed* sum) {
    if (sum->at == NULL) return;
    cr__store_vec(sum->P, sum->at);
    cr__store_vec(sum->T, sum->at + 3);
}

// Returns P, with its normal part clipped at zero and its tangential part at the friction limit of c. P
// leaves the cone where a solver ran out of iterations, the normal turned, or by rounding.
static inline crVec3 cr__in_cone(const crPackedContact* c, crVec3 P) {
    double pn = cr_dot(c->normal, P);
    crVec3 pt = cr_madd(P, -pn, c->normal);
    double size2 = cr_dot(pt, pt), limit = pn > 0.0 ? c->mu * pn : 0.0;
    if (pn >= 0.0 && size2 <= limit * limit) return P;
    return cr_madd(size2 > 0.0 ? cr_scale(limit / sqrt(size2), pt) : pt, pn > 0.0 ? pn : 0.0, c->normal);
}

#endif
