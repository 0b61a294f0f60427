// modes.h - derivatives of contact problems by the modes of their contacts. Experimental: not part of carom.h.
#ifndef CAROM_MODES_H
#define CAROM_MODES_H

#include "carom/resolve.h"

#ifdef __cplusplus
extern "C" {
#endif

CR_API const char* cr_mode_name(crMode mode);  // "open", ...; "unknown" for no such
// The modes of an answer p, whose audit's residual must be at most tol: CR_ERR_RANGE with the residual where it is not.
// A switch nearer than `near` (m/s) makes the verdict one-sided. All memory is the arena's; problem and p must stay.
// Round friction cones only.
CR_API crStatus cr_modes_find(const crProblem* problem, crArena* arena, const double* p, double tol,
                              double near, crModes* modes, crError* error);
// J v: the change of p and of u = u_free + W p (rows each).
CR_API crStatus cr_modes_apply(const crModes* modes, const crProblemChange* change, double* dp, double* du);
// v^T J: from the derivatives of a figure by p and u (rows, or NULL for zero) those by u_free (rows) and mu (block_count,
// or NULL). That by W is by_g p^T; that by b is by_g - by_u.
CR_API crStatus cr_modes_adjoint(const crModes* modes, const double* by_p, const double* by_u, double* by_g,
                                 double* by_mu);

#ifdef __cplusplus
}
#endif

#endif
