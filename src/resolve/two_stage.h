// two_stage.h - the two stages shared by anitescu-potra and pfeiffer-glocker.
#ifndef CAROM_RESOLVE_TWO_STAGE_H
#define CAROM_RESOLVE_TWO_STAGE_H

#include "coulomb.h"

// Compression: 0 <= Vn' _|_ Pn1 >= 0 with friction against the slip at its end. directions: 0 for the
// circular cone, else the polygon's corners. Needs Wnn > 0; returns the number of solutions.
int cr__compress(const crContact* c, int directions, cr__Solution out[CR__MAX_SOLUTIONS]);

// Expansion from rest in the normal direction and slip (first->uy, first->uz), with e from the contact:
// 0 <= Vn+ _|_ Pn2 - e Pn1 >= 0 with friction bounded by mu Pn2 against the final slip. Returns the number of
// solutions; P2 is the one of smallest Pn2.
int cr__expand(const crContact* c, int directions, const cr__Solution* first, crVec3* P2);

#endif
