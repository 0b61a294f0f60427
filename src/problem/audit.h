// audit.h - the audit of a whole problem, prepared once for many impulses: solvers stop by the same figure that
// judges them.
#ifndef CAROM_PROBLEM_AUDIT_H
#define CAROM_PROBLEM_AUDIT_H

#include "problem/witness.h"

typedef struct crAuditor {
    const crProblem* problem;
    const crMatrix* W;  // rows of W, or NULL: W = J Minv J^T is applied as an operator
    double* weight;     // W_jj (rows)
    double* own;        // of each block: largest velocity that must change, m/s (block_count)
    double largest;     // of all blocks, m/s
    bool joined;        // whether islands are known
    int* island;        // of each block: blocks that act on each other (block_count, work: + nv)
    double* scale;      // of each island: its blocks' largest, m/s (block_count)
    int* block_of;      // work: block of each row (rows)
    double* p_hat;      // witness of the last impulses (rows)
    crHeld* held;       // what it decided (rows)
    double* w;          // u_free + b + W p of the impulses that were asked for last (rows)
    double* floor;      // rounding floors of w (rows)
    int* busy;          // blocks that the last impulses do not leave open (busy_count)
    int busy_count;
    double* work;      // (2 nv + rows)
    bool compared;     // W or Minv with its transpose
    double asymmetry;  // then the difference
} crAuditor;

// Room and what does not depend on the impulses. W: rows of W where the caller has them, else NULL.
crStatus cr__auditor_create(const crProblem* problem, const crMatrix* W, crArena* arena, crAuditor* auditor);
// Finds island and scale.
void cr__auditor_islands(crAuditor* auditor);
// crAudit.residual of p, without floors. INFINITY where anything is not finite.
double cr__auditor_residual(crAuditor* auditor, const double* p);
// All figures of p, as cr_problem_audit has them; keep: p becomes its witness, as cr_problem_witness has it.
crStatus cr__auditor_audit(crAuditor* auditor, crArena* arena, double* p, bool keep, crAudit* audit);
// The same for raw problems: smallest relative change of W and u_free + b, entry by entry, that makes a point
// near p exact. z_hat (rows) receives that point.
void cr__raw_judge(crAuditor* auditor, const double* p, crAudit* audit);

// Measures of others (crAudit, last group) of p and the velocities w; open blocks add nothing.
void cr__problem_published(const crAuditor* auditor, const double* p, crAudit* audit);

#endif
