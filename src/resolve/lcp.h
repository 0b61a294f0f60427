// lcp.h - linear complementarity problems inside the solvers: built from a crProblem, reduced, solved,
// polished.
//
// Mixed form, free variables first:
//
//     w = M z + q;   w = 0 on free variables,   0 <= w _|_ z >= 0 on the others
//
// Kernels take sizes and work arrays and never allocate; what is named with an arena takes its memory from it
// and leaves it there for the caller to release.
#ifndef CAROM_RESOLVE_LCP_H
#define CAROM_RESOLVE_LCP_H

#include "carom/resolve.h"

// What a variable z of the mixed form means.
typedef enum crLcpKind {
    CR_LCP_IMPULSE,  // z is an impulse along g over one or two rows: p += g z
    CR_LCP_LIMIT,    // multiplier of limit * (owner's z, or 1 for a box) - sum of z[first..first+count) >= 0
} crLcpKind;

typedef struct crLcpColumn {
    crLcpKind kind;
    int row[2];    // impulse: rows of p; row[1] is -1 where there is one
    double g[2];   // impulse: direction over these rows, scaled; limit of a box: its upper bound in g[0]
    double scale;  // power of two that the unit of z was changed by
    int owner;     // limit: variable whose z scales it, -1 for a constant
    int first;     // limit: first variable in the sum
    int count;     // limit: how many
    double limit;  // limit: the factor, or the constant
} crLcpColumn;

typedef struct crLcp {
    int n;
    int free_count;        // free variables are 0 .. free_count - 1
    double* M;             // by rows (n*n)
    double* q;             // (n)
    crLcpColumn* columns;  // (n)
    double* p0;            // impulses at z = 0: finite bounds of boxes (rows)
} crLcp;

// supported = false (and nothing built) where a block is no linear complementarity: a disc, ellipse or
// rolling limit that is neither zero nor one-dimensional, or infinite friction.
crStatus cr__lcp_build(const crProblem* problem, crArena* arena, crLcp* lcp, bool* supported);
void cr__lcp_impulses(const crLcp* lcp, int rows, const double* z, double* p);

// The standard form left when free variables are solved for: z of the mixed form from x of the reduced one.
typedef struct crLcpReduced {
    int n;
    double* M;          // (n*n)
    double* q;          // (n)
    double* scale;      // z = scale * x, powers of two (n of the mixed form)
    double* T;          // dictionary of the mixed form, scaled (mixed n * (mixed n + 1))
    int* pivot_row;     // row of T that gives a free variable, or -1 (free_count)
    int* variable;      // mixed variable of each x (n)
    double* sign;       // its sign: -1 for the negative part of a free one (n)
    int pairs;          // the last 2*pairs of x are free ones in halves, one after the other
    bool inconsistent;  // the equality rows contradict each other
    bool doubtful;      // numbers of few digits decide: what was taken for zero, or what cancelling left
} crLcpReduced;

// The power of two at or below x > 0: scaling by it changes no digit.
double cr__power_of_two(double x);

crStatus cr__lcp_reduce(const crLcp* lcp, crArena* arena, crLcpReduced* reduced);
void cr__lcp_expand(const crLcp* lcp, const crLcpReduced* reduced, const double* x, double* z);

// Lemke's method on w = M z + q (n): z0 covers with e, lexicographic ratio test. Returns SOLVED, RAY (then
// ray, if not NULL, holds the direction of z along it), LIMIT or STALLED (rounding has the upper hand). basic
// (n, or NULL) tells which z are basic, also where they are zero.
size_t cr__lemke_work(int n);   // doubles needed
size_t cr__lemke_iwork(int n);  // ints needed
crOutcome cr__lemke(const double* M, const double* q, int n, int max_pivots, double* work, int* iwork,
                    double* z, unsigned char* basic, double* ray, int* pivots);

// Goes on from a basis that is right but for rounding and ties taken too broadly: the dictionary is rebuilt
// there and the path followed with the finest tolerances. z and basic are only meaningful where SOLVED.
crOutcome cr__lemke_correct(const double* M, const double* q, int n, int max_pivots, double* work, int* iwork,
                            double* z, unsigned char* basic, int* pivots);

// max |min(z, M z + q)| over complementary, |M z + q| over free variables.
double cr__lcp_residual(const double* M, const double* q, int n, int free_count, const double* z);

// Largest sum of |q_i| and |M_ij z_j| over a row: what rounding in evaluating M z + q is relative to.
double cr__lcp_magnitude(const double* M, const double* q, int n, const double* z);

// Re-solves on the active set by LU with compensated refinement; z changes only for the better. Active are
// the variables marked in basic (n) or, where it is NULL, those with z > w; free ones always. Returns the
// residual. work (n*n + 5n), iwork (3n).
double cr__lcp_polish(const double* M, const double* q, int n, int free_count, const unsigned char* basic,
                      double* work, int* iwork, double* z);

// true where y proves that no z >= 0 has M z + q >= 0: y >= 0, M^T y <= 0 up to rounding, q.y clearly < 0. y is
// cleaned of negative noise first.
bool cr__lcp_certificate(const double* M, const double* q, int n, double* y);

// Brings M^T y on the support of a ray's y to zero as far as it is consistent; for semidefinite M it is zero
// there. work (n*n + 3n), iwork (3n).
void cr__lcp_refine_ray(const double* M, int n, double* work, int* iwork, double* y);

// Looks for such a y by Lemke's method on the linear program's own LCP (2n). found = false is no verdict.
crStatus cr__lcp_infeasible(const double* M, const double* q, int n, crArena* arena, bool* found);

// A condition is clearly broken where it is by more than this share of the numbers at hand.
#define CR_LCP_CLEAR 4e-6

// What complete enumeration of the 2^n complementary supports says.
#define CR_LCP_ENUMERATE_MAX 16
typedef struct crLcpSolutions {
    int count;   // distinct solutions, one per support: the least norm one where a support has a face of them
    int stored;  // of them in z
    bool face;   // some support holds more than one solution: they are not isolated
    bool close;  // some support misses a solution by less than CR_LCP_CLEAR, or by rounding
} crLcpSolutions;

// n <= CR_LCP_ENUMERATE_MAX; pairs as in crLcpReduced, whose halves are never both taken. z receives up to
// `capacity` solutions in order of their norm (capacity*n).
crStatus cr__lcp_enumerate(const double* M, const double* q, int n, int pairs, crArena* arena, int capacity,
                           double* z, crLcpSolutions* solutions);

#endif
