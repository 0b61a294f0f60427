// lone_walk.h - the step of a lone body taken apart at its sweeps: many worlds go side by side, and wait for none but themselves.
//
//     phase = cr__lone_start(...);
//     while (phase == CR_LONE_WAITS) {
//         cr__few_go_on(&walk.solve.few, any number);  // or cr__few_lanes, until cr__few_is_open is false
//         phase = cr__lone_finish(&walk, &certificate);
//     }
#ifndef CAROM_WORLD_LONE_WALK_H
#define CAROM_WORLD_LONE_WALK_H

#include "world/lone_solve.h"

typedef enum crLonePhase {
    CR_LONE_LEFT,  // to the stages; nothing is done
    CR_LONE_MADE,  // the step is made
    CR_LONE_WAITS  // for the sweeps of solve.few, if it is open
} crLonePhase;

// A step under way, which must not be moved.
typedef struct crLoneWalk {
    crLoneStep x;
    crLoneSolve solve;
} crLoneWalk;

// A step of a body that is no ball begins, as far as its sweeps.
crLonePhase cr__lone_start(const crLone* lone, const crModel* model, double h, crLoneState* s,
                           crLoneWalk* walk, crCertificate* c);
// Up to `most` sweeps; whether they are at their end.
bool cr__lone_sweep(crLoneWalk* walk, int most);
// After them: the end of the step, or other sweeps.
crLonePhase cr__lone_finish(crLoneWalk* walk, crCertificate* c);

#endif
