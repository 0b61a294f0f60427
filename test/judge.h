// judge.h - a second opinion on what certificates claim, in quadruple precision.
//
// The judge shares no code with src/. It works from the definitions of docs/certificate.md:
//   problem   a witness (p^, u^) obeys every law exactly; eta is the change of b that makes it a solution.
//             The judge tries many witnesses for given impulses and keeps the best, so its eta is at most that
//             of any single rule for making one. What an audit claims as "at most" must not be below it.
//   raw       the componentwise change of matrix and vector that makes a point exact.
//   collision the four inequalities of the permissible region.
//   reference solutions of small problems by going through all sets of active rows.
#ifndef CAROM_TEST_JUDGE_H
#define CAROM_TEST_JUDGE_H

#include "carom/carom.h"

#define JUDGE_ROWS 32  // of a problem at most

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Quad;
#else
typedef long double Quad;
#endif

Quad quad_sqrt(Quad x);
Quad quad_abs(Quad x);
Quad quad_entry(const crMatrix* A, int i, int j);  // dense or compressed

// What is true of impulses. Rows in rad/s count by the lengths that the audit states.
typedef struct JudgeProblem {
    double eta;       // change of b, worst block, m/s
    double residual;  // eta over the largest velocity that must change on its island, worst block
    double floor;     // 16 eps (|q_i| + s_i sum_j s_j |p_j|) over the same, s_i = sqrt(W_ii), worst row
} JudgeProblem;

// p: impulses (rows). reach: how far a witness may be from p, as a share of the largest sqrt(W_ii) |p_i|;
// INFINITY: anywhere. enough: the search ends at a residual that is not above it. Returns INFINITY in all
// figures where p is not finite.
JudgeProblem judge_problem(const crProblem* problem, const double* p, double reach, double enough);
// What is true of one witness of a problem of any size (judge_large.c). known: no cone is a polygon, an ellipse, endless or has spin or rolling;
// obeys: the impulses lie where the laws want them, to 1e-12
typedef struct JudgeWitness {
    bool known, obeys;
    double eta, residual;  // as above
} JudgeWitness;

JudgeWitness judge_one_witness(const crProblem* problem, const double* p_hat);
// Componentwise backward error of z for a raw problem of unilateral and equality rows.
double judge_raw(const crProblem* problem, const double* z);

// The tolerance of the energy is a share of the energy that an impact can take away. The judge brackets it: at
// most V.(W + 16 eps diag W)^-1 V / 2, at least (Q.V)^2 / (2 (Q.W Q + 16 eps (sum s_i |Q_i|)^2)) for Q = n, V, P.
typedef struct JudgeImpact {
    double energy;    // energy change, J
    double approach;  // -n.V+, m/s
    double tension;   // -n.P, N s
    double cone;      // |P_t| - mu n.P, N s; 0 where mu is infinite
    bool may;         // all four within tol, by the larger of the brackets: "yes" is allowed
    bool must;        // all four within tol, by the smaller: "no" is wrong
    bool quiet;       // the energy alone, by the larger: "creates energy" may be denied
    bool creates;     // the energy alone is outside by the larger bracket
} JudgeImpact;

JudgeImpact judge_impact(const crMat3* W, crVec3 V, crVec3 n, double mu, crVec3 P, double tol);

// The same for an impact of many contacts: speeds within tol of the largest contact velocity before it, impulses
// within tol of that over W_ii, the energy within tol of u.(W + 16 eps diag W)^-1 u / 2.
typedef struct JudgeRule {
    double energy;    // p.(u + u+) / 2, J
    double approach;  // worst -u_n+, m/s
    double open;      // least -u_n+: one open surface is enough where CR_RULE_CONVEX is set, m/s
    double tension;   // worst -p_n, N s
    double cone;      // worst |p_t| - mu p_n of round and planar cones, N s
    double joint;     // worst |u+| of equalities, m/s
    bool may;         // all within tol: "yes" is allowed
} JudgeRule;

JudgeRule judge_rule(const crProblem* problem, const double* p, bool convex, double tol);

// Reference solution of a problem whose blocks are equalities, unilateral rows, boxes and cones with one
// tangent, and at most 8 rows; or of one cone with two tangents alone. Returns true and p where a set of
// active rows solves the problem to 1e-25 of its velocities.
bool judge_reference(const crProblem* problem, double* p);

#endif
