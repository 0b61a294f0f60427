// narrow.h - signed distance between two convex pieces: the methods and what they return.
#ifndef CAROM_COLLIDE_NARROW_H
#define CAROM_COLLIDE_NARROW_H

#include "collide/convex.h"

// b - a = gap n.
typedef struct crClosest {
    double gap;
    crVec3 n;
    crVec3 a, b;   // witness points
    double error;  // the gap lies in [gap, gap + error], m
    int iterations;
    bool choice;      // the normal is one of several that are as good
    bool no_witness;  // a and b are not known
} crClosest;

#define CR__EXACT  0x1p-52
#define CR__APART  0x1p-44  // of curved pairs, where Newton's method does not get there from
#define CR__ROUGH  0x1p-16
#define CR__CLEAR  0x1p-12  // gaps that leave no doubt after a rough start
#define CR__DEPTH  0x1p-34
#define CR__SHRINK 0x1p-4   // part by which pairs are shrunk that may overlap a little
#define CR__EQUAL  0x1p-46  // separations closer than this times the size count as equal

// sizes that rounding errors of a pair are relative to
static inline double cr__pair_scale(const crConvex* a, const crConvex* b) {
    return a->extent + b->extent + cr_norm(cr_sub(b->p, a->p));
}

// What GJK is asked for: D = B + shift - A, shrunk by that part about the difference of the centres.
typedef struct crGjk {
    crVec3 shift;
    double shrink;
    double tol, part;  // ends where its bounds are within tol times the pair's size or part of the distance
    double beyond;     // or where the cores are farther apart than this
} crGjk;
// Distance of the cores; false: they overlap (or nearly), then out holds the last iterate. Beyond `beyond`
// out has no witness, and its gap is a lower bound that says so.
bool cr__gjk(const crConvex* a, const crConvex* b, const crGjk* task, crClosest* out);
// Depth of cores that overlap or nearly touch, one of which encloses a volume, until its bounds are within
// `tol` times the pair's size.
void cr__epa(const crConvex* a, const crConvex* b, double tol, crClosest* out);
// Cores with flat faces and straight edges: apart or overlapping.
void cr__poly(const crConvex* a, const crConvex* b, double beyond, crClosest* out);
void cr__segments(const crConvex* a, const crConvex* b, crClosest* out);
// A flat face of one core that the other meets inside of it, one not a point; false: not so, or not shown to
// be the best direction within `error` times the pair's size.
bool cr__flat(const crConvex* a, const crConvex* b, double beyond, double error, crClosest* out);
// Curved cores: from a rough start to full precision, kinks within `near` of it tried; false: not proved.
bool cr__improve(const crConvex* a, const crConvex* b, double near, crClosest* out);
// The same from GJK or EPA, whose bound of the gap stands where there is no proof.
void cr__polish(const crConvex* a, const crConvex* b, crClosest* out);
// Witness points of a gap attained along out->n, and in out->error how much larger the gap may be; INFINITY
// where that is not known.
void cr__prove(const crConvex* a, const crConvex* b, crClosest* out);
// Signed distance of y from a box with half edges h, in its own frame, and the outward normal.
double cr__box_point(crVec3 h, crVec3 y, crVec3* n, bool* choice);
// Nearest point of a core's surface to x: signed distance, outward normal. Box, cylinder, cone, ellipsoid.
bool cr__point(const crConvex* c, crVec3 x, double* distance, crVec3* n, bool* choice);
// The best separating axis of two boxes: a face's (0 to 2 across A's axes, 3 to 5 across B's) or across two
// edges, what it is not is -1.
typedef struct crBoxAxis {
    double gap;
    crVec3 n;
    int face;
    int edge_a, edge_b;
} crBoxAxis;
crBoxAxis cr__box_axis(const crConvex* a, const crConvex* b, double bias);
// All of it: radii added, pieces in either order. Gaps beyond reach may be given as a bound from below that
// is beyond it too, without witness.
void cr__closest(const crConvex* a, const crConvex* b, double reach, crClosest* out);

// n.b - n.a at the support points: a lower bound of the cores' gap for every unit n
static inline double cr__separation(const crConvex* a, const crConvex* b, crVec3 n) {
    return cr_dot(n, cr_sub(cr__support(b, cr_neg(n)), cr__support(a, n)));
}

#endif
