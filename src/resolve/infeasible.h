// infeasible.h - proof that no impulse at all gives an admissible velocity.
#ifndef CAROM_RESOLVE_INFEASIBLE_H
#define CAROM_RESOLVE_INFEASIBLE_H

#include "system.h"

// found: there is y, zero on friction and box rows, >= 0 on pressed ones, with W^T y = 0 and y.q < 0; then
// u + b = q + W p has y.(u + b) = y.q < 0 for every p, so the rows cannot all be >= 0 (or = 0).
crStatus cr__infeasible(const crSystem* system, crArena* arena, bool* found);

#endif
