// law.h - what laws share.
#ifndef CAROM_RESOLVE_LAW_H
#define CAROM_RESOLVE_LAW_H

#include "carom/resolve.h"

// The law's conditions cannot be met: no impulse, and the result says so.
static inline crStatus cr__no_solution(crHit* hit) {
    hit->regime = CR_REGIME_NO_SOLUTION;
    hit->solutions = 0;
    return CR_OK;
}

#endif
