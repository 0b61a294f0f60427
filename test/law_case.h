// law_case.h - what tests of one law share: a random contact in its own frame, and the distance of impulses.
#ifndef CAROM_TEST_LAW_CASE_H
#define CAROM_TEST_LAW_CASE_H

#include "sample.h"
#include "test.h"

static inline crContact law_case_contact(crRandom* random, crSampleKind kind) {
    crCollision collision = sample_collision(random, kind);
    crContact c = {0};
    crMat3 frame;
    CHECK_STATUS(cr_collision_contact(&collision, &c, &frame, NULL), CR_OK);
    return c;
}

static inline double law_case_relative(crVec3 a, crVec3 b) {
    return cr_norm(cr_sub(a, b)) / fmax(cr_norm(b), 1e-300);
}

#endif
