// packed.h - contacts of free bodies side by side: the structures of the packed contact solver.
//
// Velocities are z = M^(1/2) v, eight places a body: sqrt(m) v and R I omega with R^T R = I^-1. A contact has
// u = E + s_b z_b + K_b z_b' - (the same of a) in world axes, with s = 1/sqrt(m), K = -[r] R^T, so that its
// W is D = s^2 1 + K K^T; an impulse P moves z by s P and K^T P. A unit is up to four contacts of one pair of
// bodies; units of one colour share no body; a group is four units of one colour and one kind, lane by lane.
#ifndef CAROM_RELAX_PACKED_H
#define CAROM_RELAX_PACKED_H

#include "base/tasks.h"
#include "model/spatial.h"
#include "problem/colouring.h"

#ifndef CR_LANES    // few.h has one
#define CR_LANES 4  // units of a group
#endif
#define CR_UNIT_CONTACTS 4
#define CR_BODY_STRIDE   8

// How much of D there is to keep, see packed_sweep.c.
typedef enum crKind {
    CR_KIND_ANY,
    CR_KIND_ROUND,  // bodies that move have three equal moments
    CR_KIND_BALL,   // and their centres lie on the normal, along which E is
} crKind;

// Places of a slot (one contact of each lane), each CR_LANES numbers.
enum {
    CR_AT_N = 0,     // normal
    CR_AT_P = 3,     // impulse along n, t1, t2; a ball's in world axes
    CR_AT_STEP = 6,  // direction: its steps of the last sweeps together
    CR_AT_MU = 9,    // friction
    // of balls
    CR_AT_BIAS = 10,  // E along n
    CR_AT_GT = 11,    // 1/w_t
    CR_AT_RHO = 12,   // rho_b, then rho_a where both bodies move
    // of others
    CR_AT_T = 10,  // t1, whose last coordinate is 0
    CR_AT_E = 12,  // velocity that is given, and the bias, along n, t1, t2
    CR_AT_W = 15,  // n^T D n
    CR_AT_C = 16,  // T^T D n / w, T = t1, t2
    CR_AT_S = 18,  // T^T D T - w c c^T: 11 12 22
    CR_AT_K = 21,  // K_b, then K_a where both bodies move: CR_K or CR_K_ROUND places each
};
// A round body's R is 1/sqrt(I) 1, so that K = -[r] R^T is k = r/sqrt(I): K z = z x k, K^T P = k x P;
// a ball's k is rho n.
enum { CR_K_ROUND = 3, CR_K = 9 };

typedef struct crGroup {
    int a[CR_LANES], b[CR_LANES];  // places of the bodies in z; 0 is nobody
    int island[CR_LANES];
    int contact[CR_LANES];  // first of the unit
    int lanes;              // in use
    int slots;              // contacts of each
    int places;             // of a slot
    crKind kind;
    bool two;    // both bodies move
    bool live;   // some island of it is still being solved
    size_t hot;  // in crPacked.hot: s_b, s_a, then the slots
} crGroup;

// What the packed solver knows of a contact: of single bodies or of one and something v does not move, with
// round friction.
typedef struct crPackedContact {
    int body_a, body_b;
    double mu;
    crVec3 point, normal;
    crVec3 E;  // velocity that is given, and the bias along the normal
    crVec3 P;  // impulse on b: to start from, and the result
    double w;  // result: n^T W n
} crPackedContact;

typedef struct crPacked {
    int count;
    crPackedContact* contact;  // (count)
    int group_count;
    crGroup* group;                    // (group_count), and one where hot ends
    int colours;                       // in use, the last one only where all are
    int colour_start[CR_COLOURS + 2];  // first group of each colour (colours + 1)
    double* hot;
    const double* beta;  // share of the direction that the next sweep starts with, of each island
    // of cr__packed_solve
    double* change;  // largest change of a velocity in the last sweep, m/s (group_count*CR_LANES)
    double* along;   // sum of w dP.d likewise, d the direction
    int64_t* live;   // masks (group_count*CR_LANES)
    int bodies;
    int* body;         // (bodies)
    int* place;        // of each body in z, 0: none (nb)
    int* body_island;  // (bodies)
    double* z;         // (8*(bodies + 1)), the first eight zero
    double* z_free;
    double* z_before;       // cr__packed_solve: after the sweep before
    struct crUnits* units;  // rows that are swept along, NULL: none; see units.h
    crTasks* tasks;
    void* spare;  // memory that the grouping worked in, for those who come after it (spare_bytes)
    size_t spare_bytes;
} crPacked;

// Bodies with their inertias at the present poses, and what to work with.
typedef struct crInertias {
    const crModel* model;
    const crDynamics* d;
    crArena* arena;
    crTasks* tasks;
} crInertias;

typedef struct crPackedSweep {
    crPacked* packed;
    int first;  // group
} crPackedSweep;

// Groups the contacts, those of a pair of bodies side by side, and takes units (or NULL) along; z and z_free are v, the
// velocities without impulses (nv). Without hot. CR_ERR_MEMORY.
crStatus cr__packed_group(const crInertias* of, const int* island_of_body, const double* v, int count,
                          crPackedContact* contact, struct crUnits* units, crPacked* packed);
// The same, and packs them: with hot, and z with the impulses.
crStatus cr__packed_create(const crInertias* of, const int* island_of_body, const double* v, int count,
                           crPackedContact* contact, struct crUnits* units, crPacked* packed);
// Calls fn(ctx, begin, end) for the groups of one colour after another, counted from *first, which is set before each.
void cr__packed_by_colours(const crPacked* packed, crTaskFn fn, void* ctx, int* first);
// One sweep over all groups that are live.
void cr__packed_sweep(crPacked* packed);
// z from z_free and the impulses.
void cr__packed_apply(crPacked* packed);
// Velocities v (nv) in the coordinates of z (8*(bodies + 1)).
void cr__packed_coordinates(const crPacked* packed, const crInertias* of, const double* v, double* z);
// Impulses . E of one lane.
double cr__packed_work(const crPacked* packed, const crGroup* group, int lane);

// P, or what is nearest along it in the cone of c: a solver that ran out of iterations leaves it outside, and
// so does a normal that turned since, or rounding
static inline crVec3 cr__in_cone(const crPackedContact* c, crVec3 P) {
    double pn = cr_dot(c->normal, P);
    crVec3 pt = cr_madd(P, -pn, c->normal);
    double size2 = cr_dot(pt, pt), limit = pn > 0.0 ? c->mu * pn : 0.0;
    if (pn >= 0.0 && size2 <= limit * limit) return P;
    return cr_madd(size2 > 0.0 ? cr_scale(limit / sqrt(size2), pt) : pt, pn > 0.0 ? pn : 0.0, c->normal);
}

#endif
