// sample_shape.h - seeded random shapes and poses for the geometry tests, and support functions of their own.
#ifndef CAROM_SAMPLE_SHAPE_H
#define CAROM_SAMPLE_SHAPE_H

#include "sample.h"

// Convex kinds, half-space left out.
#define CONVEX_KINDS 7
extern const crShapeKind convex_kinds[CONVEX_KINDS];

typedef enum crSampleForm {
    FORM_ROUND,   // sizes within a factor of 4
    FORM_THIN,    // needles and plates: sizes within a factor of 1000
    FORM_SQUARE,  // round sizes, axes along the world's: parallel faces and edges
    FORM_TINY,    // round, scale 1e-4
    FORM_HUGE,    // round, scale 1e4
    FORMS
} crSampleForm;

// Hulls to draw from: the caller makes and destroys them.
typedef struct crHullPool {
    int count;
    crHull* hulls[24];
} crHullPool;
crHullPool sample_hulls(crRandom* random);
void sample_hulls_destroy(crHullPool* pool);

crShape sample_shape(crRandom* random, crShapeKind kind, crSampleForm form, const crHullPool* pool);
crPose sample_pose(crRandom* random, crSampleForm form);  // rotation of the form, at the origin

// Support point of a convex shape from its definition, and its size about the origin of its pose.
crVec3 shape_support(const crShape* shape, crPose pose, crVec3 d);
double shape_size(const crShape* shape);
// How far x is outside of the shape by its defining inequalities (<= 0 inside), a lower bound of the distance
// that vanishes on the surface.
double shape_outside(const crShape* shape, crPose pose, crVec3 x);
// n.b - n.a at the support points
double shape_separation(const crShape* a, crPose pa, const crShape* b, crPose pb, crVec3 n);

#endif
