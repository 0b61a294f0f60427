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
    CR_REGIME_JAM,          // at some time friction drove the bodies together (Routh)
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
    crTruth verdict;       // whether it is permissible: all margins >= 0 within CR_PERMISSIBLE_TOL
    bool permissible;      // the verdict is yes
    bool creates_energy;   // energy_change > 0 beyond the same tolerance and rounding
} crHit;

typedef crStatus (*crLawFn)(const void* params, const crContact* contact, crHit* hit, crError* error);

typedef struct crLaw {
    const char* name;
    crLawFn apply;
    const void* params;  // read by apply; must live as long as the law
} crLaw;

// How Routh's process ends (its restitution): the ratio of normal impulses, of normal velocities, or of
// works.
typedef enum crEnding { CR_ENDING_POISSON, CR_ENDING_NEWTON, CR_ENDING_ENERGETIC, CR_ENDINGS } crEnding;

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

// Routh's path from P = 0 to its end as at most capacity points (>= 2): enough of them for a smooth curve.
// Returns how many, 0 where there is no solution, or a negative crStatus. params may be NULL.
CR_API int cr_routh_path(const crContact* c, const crLawParams* params, int capacity, crVec3* P);

// What a law's answer depends on. An entry of W off the diagonal moves together with its mirror image; n turns
// and keeps its length, and the frame turns with it.
typedef enum crLawInput {
    CR_BY_WXX,
    CR_BY_WXY,
    CR_BY_WXZ,
    CR_BY_WYY,
    CR_BY_WYZ,
    CR_BY_WZZ,
    CR_BY_VX,
    CR_BY_VY,
    CR_BY_VZ,
    CR_BY_NX,
    CR_BY_NY,
    CR_BY_NZ,
    CR_BY_MU,
    CR_BY_E,
    CR_BY_ET,
    CR_BY_NU,
    CR_BY_MU2,
    CR_BY_MU3,
    CR_BY_PSI1,
    CR_BY_PSI2,
    CR_BY_RHO,
    CR_BY_WISH_X,
    CR_BY_WISH_Y,
    CR_BY_WISH_Z,
    CR_BY_ETA2,
    CR_BY_WEIGHT,  // of a composite's first law; the others follow
    CR_LAW_INPUTS = CR_BY_WEIGHT + 16
} crLawInput;
#define CR_READS(input) (UINT64_C(1) << (input))
#define CR_READS_MU_E   (CR_READS(CR_BY_MU) | CR_READS(CR_BY_E))

// What the catalogue says about a law; each cell is checked by a test.
typedef struct crLawInfo {
    const char* name;
    const char* title;       // whose law, in words
    const char* parameters;  // with ranges
    const char* guarantee;   // what always holds
    const char* source;
    int dimension;  // of the part of the region that its parameters (mu apart) reach
    bool planar;    // for planar contacts only
    bool may_create_energy;
    bool spin_reversal;       // a sphere that friction could stop may leave with its slip reversed
    bool spin_non_reversal;   // or without
    bool grazing_normal;      // can rebound at Vn -> 0-
    bool grazing_tangential;  // can reverse the tangential velocity at Vn -> 0-
    const char* const*
        endings;     // its name with each crLawParams.ending where it reads that, else NULL (CR_ENDINGS)
    double cost;     // time that an answer takes in that of most laws; 0 is 1
    uint64_t reads;  // CR_READS(k) of each crLawInput k beside W, V and n
} crLawInfo;

CR_API int cr_law_count(void);
CR_API const crLawInfo* cr_law_info(int index);  // NULL out of range
// params may be NULL for defaults; otherwise it must live as long as the law. composite has no defaults.
CR_API crStatus cr_law_find(const char* name, const crLawParams* params, crLaw* law, crError* error);

// One collision: check, apply, audit. P and V_plus come back in the collision's coordinates.
CR_API crStatus cr_law_apply(const crLaw* law, const crCollision* collision, crHit* hit, crError* error);

// The same on a contact whose fields are known to be good, in contact-frame coordinates.
CR_API crStatus cr_law_apply_contact(const crLaw* law, const crContact* contact, crHit* hit, crError* error);

// Derivatives of one impact, and whether they may be trusted.

CR_API const char* cr_law_input_name(crLawInput input);  // "Wxy", "mu", ...

// Where a law changes its formula.
typedef enum crSwitch {
    CR_SWITCH_NONE,     // the law has no switch
    CR_SWITCH_OPEN,     // approach or separation: n.V = 0
    CR_SWITCH_STICK,    // slip ends in a stage of the law, or friction just holds
    CR_SWITCH_CONE,     // the impulse is clipped at the friction cone
    CR_SWITCH_CLOSE,    // the contact closes again in the second stage: n.V+ = 0
    CR_SWITCH_JAM,      // friction begins to drive the bodies together
    CR_SWITCH_TABLE,    // a row of the table of e
    CR_SWITCH_FRAME,    // t1 is against the slip, and there is no slip
    CR_SWITCH_UNKNOWN,  // seen by differences alone
} crSwitch;

CR_API const char* cr_switch_name(crSwitch which);

typedef enum crSmoothness {
    CR_SMOOTH,         // minus and plus are equal
    CR_ONE_SIDED,      // P is continuous; minus and plus may differ
    CR_NO_DERIVATIVE,  // P jumps at the switch (see jump), or the law's equations are singular (derivatives NaN)
} crSmoothness;

CR_API const char* cr_smoothness_name(crSmoothness smoothness);

#define CR_GRADIENT_TOL 1e-9  // default of the distance within which a switch counts

typedef struct crGradient {
    crHit hit;
    crSmoothness verdict;
    bool differenced;             // some derivatives are differences of the law, not its formula
    bool reads[CR_LAW_INPUTS];    // inputs that the law depends on; the others have derivative zero
    double error[CR_LAW_INPUTS];  // estimated error of a differenced dP, in its units; 0 for a formula
    // Derivatives of P and V+ for an input that falls (minus) and one that rises (plus), in the coordinates of
    // the collision.
    crVec3 P_minus[CR_LAW_INPUTS], P_plus[CR_LAW_INPUTS];
    crVec3 V_minus[CR_LAW_INPUTS], V_plus[CR_LAW_INPUTS];
    crSwitch nearest;  // switch that is nearest
    // Share of themselves by which all inputs must change to reach it, to first order; INFINITY for no switch.
    // Where differenced: the share up to which no switch was seen.
    double distance;
    int switches;                  // how many are within the tolerance
    double normal[CR_LAW_INPUTS];  // gradient of the nearest switch's function; zeros where it is not known
    crRegime beyond;               // regime on the other side of it, where the verdict is not smooth
    crVec3 jump;                   // P there less P here, N s
} crGradient;

// The hit and its derivatives. A switch nearer than tolerance (>= 0; CR_GRADIENT_TOL where in doubt) makes the
// verdict one-sided or none. A law that is not in the catalogue is differenced by W, V, n, mu, e and et.
CR_API crStatus cr_law_gradient(const crLaw* law, const crCollision* collision, double tolerance,
                                crGradient* gradient, crError* error);

// Many collisions, one after another, no allocation, the same bits as cr_law_apply. n may be NULL: then all
// data are in contact frames. status may be NULL; a refused row gets P = 0 and its status, the others go on.
// Returns CR_OK, or the first refused row's status.
CR_API crStatus cr_law_many(const crLaw* law, int count, const crMat3* W, const crVec3* V, const crVec3* n,
                            const double* mu, const double* e, const double* et, crVec3* P, crStatus* status);

// What a solver or rule says of its own work, and what the audit found; the two are never mixed.
typedef enum crOutcome {
    CR_OUTCOME_SOLVED,      // by the audit's residual, not by the solver's word: it is at most tol
    CR_OUTCOME_RAY,         // pivoting ended on a ray: no solution found this way
    CR_OUTCOME_INFEASIBLE,  // there is none, with a certificate
    CR_OUTCOME_STALLED,     // no more progress
    CR_OUTCOME_LIMIT,       // neither solved nor near; iteration or budget limit reached
    CR_OUTCOME_NEAR,        // not solved, but exact for gaps that differ by at most problem->shift
    CR_OUTCOME_BOUNDED,  // of steps: islands in motion whose impulses keep momentum, cones and energy, see docs/certificate.md
    CR_OUTCOME_UNSURE,  // the residual is at most tol, but for rounding errors: cannot tell
} crOutcome;

CR_API const char* cr_outcome_name(crOutcome outcome);
// Solved, near, unsure or limit, by the audit's figures alone (cr_audit_solved, cr_audit_near).
CR_API crOutcome cr_audit_outcome(const crAudit* audit, double tol, double h, double shift);

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
// The solvers, in the order of cr_solver_name: auto (chooses and switches by the residual), gauss-seidel (block sweeps,
// exact local Coulomb solve), newton (semismooth, sparse direct), interior (central path, then newton), sparse (any
// size: islands in body space), pivot (principal pivoting; symmetric PSD, no cones), lemke (any LCP, also polygon cones),
// enumerate (all solutions of small LCPs).
CR_API int cr_solver_count(void);
CR_API const char* cr_solver_name(int index);  // NULL out of range
// params may be NULL for defaults; otherwise it must live as long as the solver.
CR_API crStatus cr_solver_find(const char* name, const crSolverParams* params, crSolver* solver,
                               crError* error);

// Check the problem, solve, audit; outcome is SOLVED only if the audit's residual is within tol.
CR_API crStatus cr_solver_run(const crSolver* solver, const crProblem* problem, double tol, crArena* arena,
                              double* p, crReport* report, crError* error);

// Derivatives of a problem's answer, by the modes of its contacts (implicit function theorem).

typedef enum crMode {
    CR_MODE_OPEN,    // no impulse
    CR_MODE_CLOSED,  // single rows: w = 0
    CR_MODE_STICK,   // pressed, no slip
    CR_MODE_SLIP,    // pressed, friction at its limit
    CR_MODE_BOUND,   // a box at one of its ends
} crMode;

typedef struct crModes {
    crMode* mode;  // of each block (block_count)
    crSmoothness
        verdict;  // one-sided: a switch is within `near`; the derivative is that of the modes as they are
    crSwitch nearest;  // switch that is nearest
    int block;         // its block, -1 where there is none
    double distance;   // change of a contact's velocity that reaches it, to first order, m/s
    bool one;  // the modes determine du; false: contacts share their load in ways that move u differently
    // of the functions below
    const crProblem* problem;
    const double* p;
    int rows, rank, rank_t;
    double *W, *LU, *LU_t, *K, *s, *scale, *work;
    bool* slips;      // of the groups of each block: sliding, spin, rolling
    double* margin;   // of each block: change of its velocity that reaches a switch, m/s
    crSwitch* which;  // that switch
    int* order;
} crModes;

// What changes in a problem; NULL: nothing.
typedef struct crProblemChange {
    const double* u_free;                  // (rows)
    const double* b;                       // (rows)
    const double* W;                       // by rows (rows*rows)
    const double *mu, *mu_spin, *mu_roll;  // of each block (block_count)
} crProblemChange;

// Rules: many contacts at one instant. A rule is a name, one function and its parameters; a user's own rule
// is the same struct. The problem is an impact: u_free holds the velocities before it (J v plus what driven
// bodies prescribe), unilateral and cone blocks are contacts with their e, et and mu, equality blocks are
// joints. Box blocks and the bias b have no meaning here and are refused.

typedef enum crTies {
    CR_TIES_DIRECTION,  // lowest points[block].direction first, lowest index where points is NULL
    CR_TIES_PERTURB,    // one order for the whole impact, drawn from seed
    CR_TIES_RANDOM,     // drawn anew at each tie, from seed
} crTies;

// Which of the feasible outcomes: the nearest in the kinetic-energy metric, the nearest point of their convex
// hull, or that point put back on the energy sphere.
typedef enum crPick { CR_PICK_NEAREST, CR_PICK_HULL, CR_PICK_ARC } crPick;

// Whether all surfaces bound the free side at once, or any one of them (Truesdell's wedge).
typedef enum crCorner { CR_CORNER_CONCAVE, CR_CORNER_CONVEX } crCorner;

// Joints within the same impact, or bodies apart with joints as plastic sticking contacts of the sequence.
typedef enum crMechanism { CR_MECHANISM_INTACT, CR_MECHANISM_APART } crMechanism;

// Contacts are counted in the order of their normal rows. Start from cr_rule_params().
typedef struct crRuleParams {
    crLaw law;          // sequence; default chatterjee-ruina
    crSolver solver;    // every complementarity solve; default auto
    double tolerance;   // speeds below this share of the largest one before count as none; default 1e-12
    int budget;         // most impacts, outcomes explored or integration steps; 0 for the rule's own
    int directions;     // newton, poisson, coupled: 0 is the exact cone (default), k >= 3 a polygon from t1
    const double* eps;  // coupled: restitution matrix by rows, may be unsymmetric; NULL is 0 (contacts^2)
    crTies ties;        // sequence; default direction
    crVec3 direction;   // ties by direction; default +x
    const crVec3* points;   // ties by direction: where the blocks are, m; NULL for their order (block_count)
    uint64_t seed;          // ties perturbed or random
    bool extrapolate;       // sequence, feasible: jump to the limit once it is geometric; default true
    crMechanism mechanism;  // sequence; default intact
    crPick pick;            // feasible; default nearest
    crCorner corner;        // feasible; default concave
    double threshold;       // feasible: plastic where no contact approaches faster, m/s; default 0
    const double* stiffness;  // chain: ratios count only; NULL for equal (contacts)
    bool hertz;               // chain: force as compression^1.5 instead of linear
    const double* impulse;    // prescribed generalized impulse at the same instant, N s; NULL for none (nv)
} crRuleParams;

CR_API crRuleParams cr_rule_params(void);

typedef enum crUnique {
    CR_UNIQUE_YES,      // these velocities and no others
    CR_UNIQUE_NO,       // the rule allows other velocities as well
    CR_UNIQUE_TIE,      // the order of equally fast contacts was decided by the tie rule
    CR_UNIQUE_UNKNOWN,  // not looked for
} crUnique;

CR_API const char* cr_unique_name(crUnique unique);

typedef enum crRuleFlag {
    CR_RULE_TIE = 1,           // contacts or outcomes were equally good and a stated order decided
    CR_RULE_EXTRAPOLATED = 2,  // ended by the limit of a geometric sequence
    CR_RULE_TRUNCATED = 4,  // ended with contacts that still approach, slower than tolerance or out of budget
    CR_RULE_CYCLE = 8,      // goes round for ever without losing energy; p is where it was noticed
    CR_RULE_PLASTIC = 16,   // ended below the threshold by a plastic impact
    CR_RULE_INCOMPLETE = 64,  // feasible: out of budget; there may be other outcomes, and a nearer one
    CR_RULE_PROVEN =
        128,  // feasible: out of budget, yet no other outcome would change the choice but by a tie
    CR_RULE_CONVEX = 32,  // one open surface is enough: penetration counts the best contact, not the worst
} crRuleFlag;

// Margins of the permissible region of many contacts: the worst contact's; negative is outside.
typedef struct crRuleMargins {
    double energy;       // -(contact_energy), J
    double penetration;  // normal velocity after, m/s
    double tension;      // normal impulse, N s
    double cone;         // friction left, N s; INFINITY without friction limits
    double joint;        // -(speed left in joints), m/s
} crRuleMargins;

typedef struct crRuleReport {
    crOutcome outcome;
    const char* method;  // name of the rule
    int steps;           // impacts, stages, reflections (longest branch) or integration steps
    int flags;           // crRuleFlag
    crUnique unique;
    int bound;                // feasible, two surfaces, e = 1: steps needed at most; 0 where none is known
    int outcome_count;        // feasible: distinct outcomes found, otherwise 1
    int chosen;               // feasible: the one returned, -1 where it is none of them (hull, arc)
    const double* outcome_p;  // feasible: impulses, in the arena, or NULL (outcome_count*rows)
    const double* outcome_u;  // feasible: velocities after, likewise
    crReport solve;           // the last complementarity solve, of the problem the rule posed
    double energy_change;     // of the system's kinetic energy, J
    double contact_energy;    // p.(u before + u after)/2, J; the impact's own, without work done from outside
    double work;  // by driven bodies and the prescribed impulse, J; the two add up to energy_change
    crRuleMargins margins;
    crRuleMargins floor;    // rounding floors of the margins
    crRuleMargins allowed;  // how far below zero each may be
    crTruth verdict;        // whether p is permissible: all margins >= 0 within CR_PERMISSIBLE_TOL
    bool permissible;       // the verdict is yes
    bool creates_energy;    // contact_energy > 0 beyond the same tolerance and rounding
    crAudit audit;          // p against Coulomb's conditions on the problem's raw data
} crRuleReport;

// p arrives zeroed and receives the impulses (rows). The rule fills outcome, steps, flags, unique, and what
// else only it can know.
typedef crStatus (*crRuleFn)(const void* params, const crProblem* problem, crArena* arena, double* p,
                             crRuleReport* report, crError* error);
typedef struct crRule {
    const char* name;
    crRuleFn resolve;
    const void*
        params;  // crRuleParams of the built-in ones; NULL for defaults; must live as long as the rule
} crRule;

typedef struct crRuleInfo {
    const char* name;
    const char* title;      // whose rule, in words
    const char* reads;      // which fields of the blocks and parameters
    const char* guarantee;  // what always holds
    const char* source;
    bool may_create_energy;
} crRuleInfo;

CR_API int cr_rule_count(void);
CR_API const crRuleInfo* cr_rule_info(int index);  // NULL out of range
// params may be NULL for defaults; otherwise it must live as long as the rule.
CR_API crStatus cr_rule_find(const char* name, const crRuleParams* params, crRule* rule, crError* error);

// Check, resolve, audit. Outcome sets stay in the arena until the caller releases it.
CR_API crStatus cr_rule_run(const crRule* rule, const crProblem* problem, crArena* arena, double* p,
                            crRuleReport* report, crError* error);

#ifdef __cplusplus
}
#endif

#endif
