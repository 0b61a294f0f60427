// problem.h - one instant in contact space: blocks of rows over u = u_free + W p, and the audit of any answer.
//
// Rows are velocities u (m/s, or rad/s on spin and rolling rows) and impulses p (N s, or N m s). Each block says
// what its rows must satisfy; b is a bias added to the velocity before comparing (gap terms, restitution):
//
//     equality     u + b = 0                          p free
//     unilateral   0 <= u + b  _|_  p >= 0
//     box          lo <= p <= hi,  u + b >= 0 at lo, <= 0 at hi, = 0 between     (motors, joint friction)
//     cone         rows n, t1, [t2], [spin], [roll1, roll2]:  0 <= u_n + b_n  _|_  p_n >= 0,
//                  p_t in p_n D with friction of greatest dissipation: p_t.u_t least over p_n D, where D is the
//                  disc of radius mu, the ellipse (mu, mu2), or a convex polygon; |p_spin| <= mu_spin p_n and
//                  |p_roll| <= mu_roll p_n likewise
//
// W is a matrix (dense or sparse) or an operator J Minv J^T. It is symmetric positive semidefinite up to
// rounding, unless the problem is raw: an LCP from elsewhere with any matrix, for which only residuals mean
// anything. The audit works from these data alone and never asks a solver.
#ifndef CAROM_PROBLEM_H
#define CAROM_PROBLEM_H

#include "carom/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

// By rows: compressed (start has rows + 1 entries, columns ascending) or, where start is NULL, dense.
// A zeroed struct is "not given". The caller owns the arrays.
typedef struct crMatrix {
    int rows, cols;
    const int* start;     // first entry of each row (rows + 1), or NULL
    const int* col;       // column of each entry (start[rows]), or NULL
    const double* value;  // entries (start[rows]), or all of them row by row (rows*cols)
} crMatrix;

typedef enum crBlockKind { CR_BLOCK_EQUALITY, CR_BLOCK_UNILATERAL, CR_BLOCK_BOX, CR_BLOCK_CONE } crBlockKind;

// Blocks cover the rows without gap, in order.
typedef struct crBlock {
    crBlockKind kind;
    int row;     // first row
    int count;   // rows; cone: 1 + tangents (1 or 2) + spin + 2 roll
    double mu;   // cone: friction coefficient, >= 0; INFINITY: no slip while pressed; elliptic: along t1
    double mu2;  // cone: along t2; equal to mu where isotropic
    int vertex;  // cone: first vertex of the polygon in crProblem.vertices
    int vertex_count;  // cone: 0 for disc and ellipse, else >= 3 (2 tangents)
    bool spin;         // cone: has a spin row
    bool roll;         // cone: has two rolling rows
    double mu_spin;    // cone: limit of p_spin / p_n, m
    double mu_roll;    // cone: limit of |p_roll| / p_n, m
    double lo, hi;     // box: may be infinite
    double e;          // normal restitution, read by rules
    double et;         // tangential restitution, read by rules
    double arm;  // equality, box: metres per unit of the rows' motion, 0 or 1: m/s; a length: rows in rad/s
    int source;  // the caller's own tag
    const struct crLaw*
        law;  // cone, unilateral: law of this contact, read by rule sequence; NULL: the rule's
} crBlock;

typedef struct crProblem {
    int rows;
    int block_count;
    const crBlock* blocks;  // (block_count)
    const double (
        *vertices)[2];     // polygon vertices p_t/p_n, counter-clockwise, origin inside (as blocks say)
    const double* u_free;  // velocities without impulses (rows)
    const double* b;       // bias, or NULL for zero (rows)
    crMatrix W;            // rows x rows, or not given: then J and Minv are
    int nv;                // generalized velocities, 0 without J
    crMatrix J;            // rows x nv
    crMatrix M;            // nv x nv, optional: lets the audit check momentum
    crMatrix Minv;         // nv x nv
    const double* v;       // generalized velocities before, optional (nv)
    bool raw;              // W is any matrix: complementarity residuals only
    double h;              // length of the time step, s; 0: an instant, no metres are stated
    double shift;          // an answer that is exact for gaps changed by at most this is near, m; 0: none is
    double rest;           // least speed that residuals are compared with, m/s; 0: none
} crProblem;

// Blocks with everything unset but kind and count.
CR_API crBlock cr_block(crBlockKind kind, int row, int count);

// Every field checked: sizes, coverage, finiteness, ranges, symmetry of W unless raw.
CR_API crStatus cr_problem_check(const crProblem* problem, crError* error);

// u = u_free + W p. Work comes from the arena and is given back.
CR_API crStatus cr_problem_velocity(const crProblem* problem, crArena* arena, const double* p, double* u);

// W as a full matrix, row by row (rows*rows), allocated from the arena.
CR_API crStatus cr_problem_dense(const crProblem* problem, crArena* arena, double** W);

// W by rows; exact zeros are dropped. Memory comes from the arena, entries of a W without zeros stay where they are.
CR_API crStatus cr_problem_sparse(const crProblem* problem, crArena* arena, crMatrix* W);

// v + Minv J^T p (nv); needs J, Minv and v.
CR_API crStatus cr_problem_apply(const crProblem* problem, crArena* arena, const double* p, double* v_plus);

// Largest difference across the diagonal of a square matrix. `relative` is |at - across| over sqrt(|a_ii a_jj|)
// (INFINITY where that is 0) if by_diagonal, else over the largest entry. A symmetric matrix has relative 0 and
// row -1.
typedef struct crSkew {
    double relative;
    int row, col;       // of the worst pair, row > col
    double at, across;  // entries (row, col) and (col, row)
} crSkew;
CR_API crSkew cr_matrix_skew(const crMatrix* A, bool by_diagonal);

// Inverse of a symmetric positive definite matrix, allocated from the arena, in the form of M: compressed rows or
// dense. Indices that M couples form a block, and each block is inverted on its own, so a block-diagonal M of any
// size costs the sum of its blocks. Fails: unsymmetric beyond rounding (1e-9 of sqrt(m_ii m_jj)), not positive
// definite, or a block of more than CR_INVERSE_MAX rows.
#define CR_INVERSE_MAX 3000
CR_API crStatus cr_matrix_inverse(const crMatrix* M, crArena* arena, crMatrix* Minv, crError* error);

CR_API double cr_matrix_at(const crMatrix* A, int row, int col);
CR_API void cr_matrix_mul(const crMatrix* A, const double* x, double* y);  // y = A x

// How far impulses and velocities are from the laws of contacts, worst of each.
typedef struct crLawErrors {
    double approach;         // worst -(u_n + b_n), m/s, and |u + b| on equality rows
    double cone;             // worst friction beyond its limit, or p_n < 0, N s
    double dissipation;      // worst failure of friction to oppose slip, impulses scaled by W, m/s
    double complementarity;  // worst |(u_n + b_n) p_n|, J
} crLawErrors;

// What is true of p, from raw data: a backward error. The audit makes of p a witness, impulses p^ that obey
// every law exactly together with velocities of their choice, and measures by how much the bias b must be
// changed for p^ to be an exact solution. eta is that change in m/s; h eta is the same in metres of gap. Every
// figure is known to within its rounding floor. Anything not finite makes every figure INFINITY.
typedef struct crAudit {
    double residual;   // eta over the scale of its island, worst block: the figure that tol is compared with
    double least;      // the residual without rounding errors is at least this
    double most;       // and at most this
    double eta;        // largest change of b, m/s; raw: of q, in its own unit
    double floor;      // rounding floor of eta, largest, m/s
    double distance;   // h eta: exact for gaps that differ by at most this, m; 0 where the problem has no h
    double permits;    // largest approach speed among the changes of b: they let contacts close so fast, m/s
    double scale;      // what eta of the worst block is compared with: largest velocity that must change, m/s
    int worst_block;   // of the residual, -1 where there are none
    double asymmetry;  // largest |W_ij - W_ji| / sqrt(W_ii W_jj), of W or Minv; 0 where raw
    double momentum;   // |M (v+ - v) - J^T p| / (|J^T p| + |M v|), 0 without M and v
    double momentum_floor;  // its rounding floor

    // measures of others, not scaled: their size depends on the units
    double natural;  // natural map over all rows: |.|_2 / |u_free + b|_2, raw: max / max(1, .)
    crLawErrors laws;
    double energy_change;  // p.(u_free + W p / 2), J; an impact's where u_free is the velocity before it
} crAudit;

CR_API crStatus cr_problem_audit(const crProblem* problem, crArena* arena, const double* p, crAudit* audit);
// The same, and p becomes the witness p^.
CR_API crStatus cr_problem_witness(const crProblem* problem, crArena* arena, double* p, crAudit* audit);
// Whether p solves the problem: residual, momentum and asymmetry at most tol.
CR_API crTruth cr_audit_solved(const crAudit* audit, double tol);
// Whether p is near a solution: distance at most shift.
static inline crTruth cr_audit_near(const crAudit* audit, double h, double shift) {
    if (audit == NULL || !(h > 0.0) || !(shift > 0.0)) return CR_TRUTH_NO;
    return cr_truth_at_most(h * audit->eta, h * audit->floor, shift);
}

#ifdef __cplusplus
}
#endif

#endif
