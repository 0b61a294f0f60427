// resolve.h - collision laws: one contact in, an impulse out, and the audit of every answer.
//
// A law is a name, one function and its parameters; a user's own law is the same struct. The function works
// in the contact frame (crContact: x = n, y = t1, z = t2) and fills hit->P, and only where it knows better
// than the audit hit->regime and hit->solutions. cr_law_apply does the rest: it checks the input, changes
// frames, and computes V+, energy change, margins and verdict from W, V and P alone, never from what a law
// says about itself.
#ifndef CAROM_RESOLVE_H
#define CAROM_RESOLVE_H

#include "carom/impulse.h"
#include "carom/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

// What happened, judged by V+ unless the law says jam or no-solution.
typedef enum crRegime {
    CR_REGIME_SEPARATE,     // the bodies were not approaching: no impulse
    CR_REGIME_STICK,        // no tangential velocity is left
    CR_REGIME_SLIP,         // tangential velocity is left, not against the one before
    CR_REGIME_REVERSAL,     // tangential velocity is left, against the one before
    CR_REGIME_JAM,          // friction drove the bodies together again during the impact (Routh)
    CR_REGIME_NO_SOLUTION,  // the law's conditions cannot be met: P = 0
} crRegime;

CR_API const char* cr_regime_name(crRegime regime);

typedef struct crHit {
    crVec3 P;       // impulse on B, N s
    crVec3 V_plus;  // V + W P, m/s
    crRegime regime;
    int solutions;         // how many the law's conditions have, as far as they were looked for
    double energy_change;  // J
    crMargins margins;     // of the permissible region
    bool permissible;      // all margins >= 0 within CR_PERMISSIBLE_TOL
    bool creates_energy;   // energy_change > 0 beyond the same tolerance
} crHit;

typedef crStatus (*crLawFn)(const void* params, const crContact* contact, crHit* hit, crError* error);

typedef struct crLaw {
    const char* name;
    crLawFn apply;
    const void* params;  // read by apply; must live as long as the law
} crLaw;

// How Routh's process ends (its restitution): the ratio of normal impulses, of normal velocities, or of
// works.
typedef enum crEnding { CR_ENDING_POISSON, CR_ENDING_NEWTON, CR_ENDING_ENERGETIC } crEnding;

// Parameters of the built-in laws beyond mu, e and et. Start from cr_law_params().
typedef struct crLawParams {
    crEnding ending;           // routh; default poisson
    int directions;            // anitescu-potra: 0 is the exact cone (default), k >= 3 a polygon from t1
    double nu;                 // pfeiffer-glocker: share of tangential restitution, 0 to 1; default 1
    double mu2, mu3;           // brach: impulse ratios; default 0
    double psi1, psi2, rho;    // spherical; default 0, 0, 0 (the centroid)
    crVec3 wish;               // projected: wished impulse in the contact frame, N s; default 0
    double eta2;               // compliant: normal over tangential stiffness, > 0; default 1.21
    int law_count;             // composite: number of laws, >= 1
    const struct crLaw* laws;  // composite (law_count)
    const double* weights;     // composite, each >= 0, sum 1 (law_count)
} crLawParams;

CR_API crLawParams cr_law_params(void);

// The catalogue. params may be NULL for defaults; otherwise it must live as long as the law.
CR_API crLaw cr_law_newton(void);    // frictionless, Newton's e
CR_API crLaw cr_law_bilinear(void);  // spheres and disks
CR_API crLaw cr_law_chatterjee_ruina(void);
CR_API crLaw cr_law_routh(const crLawParams* params);  // ending
CR_API crLaw cr_law_whittaker(void);                   // also known as Kane and Levinson's
CR_API crLaw cr_law_smith(void);
CR_API crLaw cr_law_anitescu_potra(const crLawParams* params);    // directions
CR_API crLaw cr_law_pfeiffer_glocker(const crLawParams* params);  // nu; planar contacts
CR_API crLaw cr_law_brach(const crLawParams* params);             // mu2, mu3
CR_API crLaw cr_law_composite(const crLawParams* params);         // laws and weights; required
CR_API crLaw cr_law_compliant(const crLawParams* params);         // eta2
CR_API crLaw cr_law_spherical(const crLawParams* params);         // psi1, psi2, rho
CR_API crLaw cr_law_projected(const crLawParams* params);         // wish

// What the catalogue says about a law; each cell is checked by a test.
typedef struct crLawInfo {
    const char* name;
    const char* title;       // whose law, in words
    const char* parameters;  // with ranges
    const char* guarantee;   // what always holds
    const char* source;
    const char* reaches;  // dimension of the part of the region it reaches by its parameters, in 3D
    bool may_create_energy;
    bool spin_reversal;       // can reverse the tangential velocity of a sphere
    bool spin_non_reversal;   // can leave a sphere slipping the way it did
    bool grazing_normal;      // can rebound at Vn -> 0-
    bool grazing_tangential;  // can reverse the tangential velocity at Vn -> 0-
} crLawInfo;

CR_API int cr_law_count(void);
CR_API const crLawInfo* cr_law_info(int index);  // NULL out of range
CR_API crStatus cr_law_find(const char* name, const crLawParams* params, crLaw* law, crError* error);

// One collision: check, apply, audit. P and V_plus come back in the collision's coordinates.
CR_API crStatus cr_law_apply(const crLaw* law, const crCollision* collision, crHit* hit, crError* error);

// The same on a contact whose fields are known to be good, in contact-frame coordinates.
CR_API crStatus cr_law_apply_contact(const crLaw* law, const crContact* contact, crHit* hit, crError* error);

// Many collisions, one after another, no allocation, the same bits as cr_law_apply. n may be NULL: then all
// data are in contact frames. status may be NULL; a refused row gets P = 0 and its status, the others go on.
// Returns CR_OK, or the first refused row's status.
CR_API crStatus cr_law_many(const crLaw* law, int count, const crMat3* W, const crVec3* V, const crVec3* n,
                            const double* mu, const double* e, const double* et, crVec3* P, crStatus* status);

// What a solver or rule says of its own work, and what the audit found; the two are never mixed.
typedef enum crOutcome {
    CR_OUTCOME_SOLVED,      // by the audit's residual, not by the solver's word
    CR_OUTCOME_RAY,         // pivoting ended on a ray: no solution found this way
    CR_OUTCOME_INFEASIBLE,  // there is none, with a certificate
    CR_OUTCOME_STALLED,     // no more progress
    CR_OUTCOME_LIMIT,       // iteration or budget limit reached
} crOutcome;

CR_API const char* cr_outcome_name(crOutcome outcome);

typedef struct crReport {
    crOutcome outcome;
    const char* method;  // name of the solver that produced p
    int iterations;      // pivots, sweeps or Newton steps
    double residual;     // as the solver saw it, of the problem it was given
    crAudit audit;       // of p on the problem's raw data
} crReport;

// A solver: a Problem in, impulses out. p holds the starting guess and receives the result (rows).
// Everything it needs comes from the arena. A solve that does not converge is CR_OK with another outcome.
typedef crStatus (*crSolverFn)(const void* params, const crProblem* problem, crArena* arena, double* p,
                               crReport* report, crError* error);
typedef struct crSolver {
    const char* name;
    crSolverFn solve;
    const void* params;  // crSolverParams of the built-in ones; NULL for defaults
} crSolver;

typedef struct crSolverParams {
    double tol;          // residual (crAudit.residual) to reach; default 1e-10
    int max_iterations;  // 0 for the solver's own limit
} crSolverParams;

CR_API crSolverParams cr_solver_params(void);
CR_API crSolver cr_solver_lemke(const crSolverParams* params);  // pivots; any LCP, also polygon cones
CR_API crSolver cr_solver_pivot(const crSolverParams* params);  // principal pivoting; symmetric PSD, no cones
CR_API crSolver cr_solver_enumerate(const crSolverParams* params);  // all solutions of small LCPs
CR_API crSolver
cr_solver_gauss_seidel(const crSolverParams* params);            // block sweeps, exact local Coulomb solve
CR_API crSolver cr_solver_newton(const crSolverParams* params);  // semismooth, sparse direct
CR_API crSolver cr_solver_interior(const crSolverParams* params);  // central path, then newton
CR_API crSolver cr_solver_admm(const crSolverParams* params);    // proximal splitting
CR_API crSolver cr_solver_auto(const crSolverParams* params);    // chooses and switches by the residual
CR_API int cr_solver_count(void);
CR_API const char* cr_solver_name(int index);
CR_API crStatus cr_solver_find(const char* name, const crSolverParams* params, crSolver* solver,
                               crError* error);

// Check the problem, solve, audit; outcome is SOLVED only if the audit's residual is within tol.
CR_API crStatus cr_solver_run(const crSolver* solver, const crProblem* problem, double tol, crArena* arena,
                              double* p, crReport* report, crError* error);

#ifdef __cplusplus
}
#endif

#endif
