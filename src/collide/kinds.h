// kinds.h - the rows of the table of shapes: what is particular to a kind of shape.
//
// The kinds before the half-space are convex and given by sizes. Some have closed forms of their own in the files of
// this folder; a kind whose row has a support function needs no others.
#ifndef CAROM_COLLIDE_KINDS_H
#define CAROM_COLLIDE_KINDS_H

#include "carom/near.h"

typedef struct cr__ShapeKind {
    crShapeInfo info;
    const char* names[3];                      // of size.x, y and z, in refusals
    double (*extent)(crVec3 size);             // largest distance of its points from its origin, m
    crVec3 (*support)(crVec3 size, crVec3 d);  // a point farthest along d, d not 0; NULL: convex.c
    // Volume, and the means of z, and of x^2, y^2 and z^2 over it; NULL: model/shape.c. The means of x and y are 0.
    double (*moments)(crVec3 size, double* z, crVec3* squares);
} cr__ShapeKind;

extern const cr__ShapeKind cr__shapes[CR_SHAPE_KINDS];

#endif
