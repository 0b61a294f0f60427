// law.h - what laws share.
#ifndef CAROM_RESOLVE_LAW_H
#define CAROM_RESOLVE_LAW_H

#include "impulse/rank.h"

#include "carom/region.h"
#include "carom/resolve.h"

// The law's conditions cannot be met: no impulse, and the result says so.
static inline crStatus cr__no_solution(crHit* hit) {
    hit->regime = CR_REGIME_NO_SOLUTION;
    hit->solutions = 0;
    return CR_OK;
}

// The normal direction is blocked: no impulse, and no solution where V approaches.
static inline crStatus cr__blocked_normal(const crContact* c, crHit* hit) {
    return cr__approach_blocked(c) ? cr__no_solution(hit) : CR_OK;
}

#endif
