// impact.h - one collision as JSON: the input of `carom impact` and `carom region`.
//
// Fields and their meaning are listed in docs/impact.md. Vectors are 2 or 3 long, as n is; two-dimensional
// input is embedded in the x-y plane. Unknown fields, wrong types and sizes, values out of range and fields
// that exclude each other are refused by name, line and column.
#ifndef CAROM_IO_IMPACT_H
#define CAROM_IO_IMPACT_H

#include "carom/carom.h"
#include "io/json.h"
#include "io/scene_coefficient.h"

#define CR_IMPACT_MAX_LAWS  16
#define CR_IMPACT_MAX_TABLE 64

typedef struct crImpact {
    const char* name;  // NULL where none was given; lives as long as the object read
    int dimension;     // 2 or 3: how vectors were written
    crCollision collision;
    crContact contact;  // the same in the contact frame
    crMat3 frame;       // columns n, t1, t2
    bool has_bodies;    // W and V came from two bodies
    crRigid a, b;
    crVec3 point;
    crLawParams params;                    // for every law that reads it
    int law_count;                         // laws asked for, in order
    const char* laws[CR_IMPACT_MAX_LAWS];  // names in the catalogue
    bool many;                             // "law" was a list or "all"
    crLaw parts[CR_IMPACT_MAX_LAWS];       // laws of a composite
    double weights[CR_IMPACT_MAX_LAWS];    // and their weights
    crRestitution restitution;             // table of e over speed, where one was given
    crByImpact by_impact;                  // other coefficients that depend on the impact
    crCurveRoom curves[3];                 // tables of e, et and mu
} crImpact;

// params and collision point into the struct itself: do not copy it.
crStatus cr_impact_read(const crJson* object, crImpact* impact, crError* error);

// Apply one of impact->laws. P and V_plus come back in the coordinates of the input. Beyond what the law
// refuses, a result that is not finite and, in two dimensions, an impulse out of the plane are errors.
// object is what impact was read from; it gives errors their line and column.
crStatus cr_impact_apply(const crJson* object, const crImpact* impact, int index, crHit* hit, crError* error);

#endif
