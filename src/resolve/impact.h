// impact.h - an impact in contact space, as the rules want it: contacts alone, joints eliminated, W in full.
#ifndef CAROM_RESOLVE_IMPACT_H
#define CAROM_RESOLVE_IMPACT_H

#include "carom/resolve.h"

typedef struct crImpact {
    crRuleParams params;
    crArena* arena;
    int rows;         // of the contacts, and of the joints where they stay (apart)
    int block_count;  // likewise
    crBlock* blocks;  // rows renumbered (block_count)
    int* source;      // block of the problem each one came from (block_count)
    const double (*vertices)[2];
    double* W;      // symmetric; a row that joints block is zero (rows*rows); NULL where there is S
    crMatrix S;     // the same by rows; no values where there is W
    double* u;      // velocities before, after the prescribed impulse and with joints held (rows)
    double* first;  // velocities before, without the prescribed impulse (rows)
    double* size;   // sqrt(W_ii) before joints were eliminated: W_ij carries rounding of size_i size_j (rows)
    double* response;  // of the problem's velocities to the prescribed impulse, or NULL (rows of the problem)
    double speed;      // largest |u| or |first|, m/s
    int contacts;
    int* normal;  // row of each contact's normal (contacts)
    int* block;   // and its block (contacts)
    // how the eliminated joints answer: p_joint = -y - X p
    int joint_rows;
    int* row;        // row of the problem each own row came from (rows)
    int* joint_row;  // likewise (joint_rows)
    double* X;       // (joint_rows*rows)
    double* y;       // (joint_rows)
} crImpact;

// Everything above from the problem; joints stay as blocks where apart is set.
crStatus cr__impact_begin(const crRuleParams* params, const crProblem* problem, bool apart, crArena* arena,
                          crImpact* impact, crError* error);
// The same for a rule that takes S, which there is where no joint has to be eliminated.
crStatus cr__impact_begin_sparse(const crRuleParams* params, const crProblem* problem, crArena* arena,
                                 crImpact* impact, crError* error);
// Refuses friction that is not a disc: a law of one contact knows no other.
crStatus cr__impact_circular(const crImpact* impact, crError* error);
// The problem's impulses from the impact's own ones. Impulses so large that rounding of W outweighs the
// velocities are no solution, whatever a solver made of that rounding: the outcome is ray, and the contacts
// get none. report may be NULL where a law and no solver made the impulses: then they are taken as they are.
void cr__impact_finish(const crImpact* impact, double* own, double* p, crRuleReport* report);
// The problem's impulses p from the impact's own: joints answer.
void cr__impact_spread(const crImpact* impact, const double* own, double* p);

// u += W[:, row] dp
void cr__impact_push(const crImpact* impact, int row, double dp, double* u);
// u = impact->u + W p
void cr__impact_velocity(const crImpact* impact, const double* p, double* u);
// The contacts' Coulomb problem from velocities u, to hand to a solver; b is always folded into u.
crProblem cr__impact_problem(const crImpact* impact, const double* u);
// Runs the solver; an outcome other than solved goes into the report.
crStatus cr__impact_solve(const crImpact* impact, const crProblem* problem, double* p, crRuleReport* report,
                          crError* error);
// An outcome of solved stays only where the impulses own solve the whole problem with its joints; bias: of the
// contacts' rows, NULL: none (rows).
crStatus cr__impact_judge(const crImpact* impact, const crProblem* problem, const double* bias,
                          const double* own, crRuleReport* report, crError* error);
// Frictionless plastic impact from velocities u: 0 <= u_n + W_nn lambda _|_ lambda >= 0 over the contacts
// that take part (all where NULL); lambda is zero at the others (contacts).
crStatus cr__impact_plastic(const crImpact* impact, const double* u, const bool* takes_part, double* lambda,
                            crRuleReport* report, crError* error);

// Energy-conserving sequences that come back to where they were: a remembered state, renewed at powers of
// two.
typedef struct crRecurrence {
    double* u;  // (rows)
    int step;
} crRecurrence;
crStatus cr__recurrence_begin(const crImpact* impact, crRecurrence* recurrence);
// true where u is the remembered state up to 1e-9 of the fastest approach
bool cr__recurrence_seen(crRecurrence* recurrence, const double* u, int rows, int step, double approach);

// true where c - b is r times b - a with 0 < r < 1, so that the limit c + r/(1-r) (c - b) is known to within
// `tolerance` of the largest entry of c.
bool cr__geometric(int n, const double* a, const double* b, const double* c, double tolerance, double* r);

// Greatest approach speed over the contacts, >= 0, and which contact (-1 for none).
double cr__impact_approach(const crImpact* impact, const double* u, int* contact);

#endif
