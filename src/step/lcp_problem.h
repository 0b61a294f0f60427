// lcp_problem.h - the problem of Stewart and Trinkle's method: polygons, arms, bias, expansion.
#ifndef CAROM_STEP_LCP_PROBLEM_H
#define CAROM_STEP_LCP_PROBLEM_H

#include "step/step.h"

// Builds the problem at q^ = q (+) h v_hat. The step's dynamics, contacts and v_free are those at q^ already.
// CR_ERR_RANGE for friction that is no LCP, CR_ERR_MEMORY.
crStatus cr__step_lcp_problem(crStep* step, double h, const bool* takes, const double* v_hat, crError* error);

// Changes slip rows of posed->rows from the midpoint to the two witness points, and poses the problem again with
// these blocks and vertices. CR_ERR_MEMORY.
crStatus cr__step_pose_arms(const crStep* step, crArena* arena, const crBlock* blocks,
                            const double (*vertices)[2], crStepPosed* posed);

// Solves Poisson's second LCP for step->posed. p, the impulses of compression, becomes the sum of both stages.
// CR_ERR_MEMORY.
crStatus cr__step_lcp_expand(const crStep* step, crArena* arena, double* p, crCertificate* certificate,
                             crError* error);

#endif
