// pair.h - two contacts at a time, for cr_law_many.
#ifndef CAROM_RESOLVE_PAIR_H
#define CAROM_RESOLVE_PAIR_H

#include "carom/resolve.h"

// Impulses of two collisions by Chatterjee and Ruina's law, the same bits as one by one. false, with P as it was,
// where one of them needs more care: a bad field, no slip, separation, infinite friction, nearly singular W.
bool cr__chatterjee_ruina_pair(const crMat3* W, const crVec3* V, const crVec3* n, const double* mu,
                               const double* e, const double* et, crVec3* P);

// The law's function, to be recognised by.
crStatus cr__chatterjee_ruina(const void* params, const crContact* contact, crHit* hit, crError* error);

#endif
