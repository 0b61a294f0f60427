// step.h - through time: the stages of a step as functions on one open struct, and the steppers made of them.
//
//     forces          q, v, t        -> poses, M = L^T D L, k, v_free
//     collide         shapes, poses  -> contacts within a margin, sorted by (shapes, children, features)
//     drag            contacts, v    -> k, v_free  viscous and Stribeck forces of those that touch
//     impacts         fast closing   -> v          cluster of touching bodies -> rule -> law / solver
//     problem_build   contacts, M    -> blocks, J, W (as an operator), u_free, b
//     solve           problem        -> p          from the warm start; audited
//     apply           p              -> v+
//     integrate       q, v+, h       -> q+
//     position_pass   q+             -> q+         normals only, to a tolerance, where needed
//
// A stepper is a function that calls stages; a user's own loop does the same. The struct is open: every array
// says who writes it. Contacts, rows and the problem live in `scratch` until the next cr_step_begin; the cone
// stepper lets go of the last two before its position pass.
// Numbers that become NaN or infinite are CR_ERR_FINITE. A solve that does not converge is no error: the
// certificate says so.
// Units: SI, rad.
#ifndef CAROM_STEP_H
#define CAROM_STEP_H

#include "carom/model.h"
#include "carom/resolve.h"

#ifdef __cplusplus
extern "C" {
#endif

// settings

typedef enum crMethod { CR_METHOD_CONE, CR_METHOD_LCP, CR_METHOD_MOREAU, CR_METHOD_EVENT } crMethod;
typedef enum crLevel { CR_LEVEL_POSITION, CR_LEVEL_VELOCITY } crLevel;  // lcp: what the gap constrains
typedef enum crToi { CR_TOI_BISECT, CR_TOI_ADVANCE } crToi;             // event: how touching is found
// cone: how far contact solves go. fast: sweeps to a tolerance of speed, sparse factors where small islands need
// them; accurate and certified: both, per island of any size, to the residual or to the end of a budget
typedef enum crQuality { CR_QUALITY_FAST, CR_QUALITY_ACCURATE, CR_QUALITY_CERTIFIED } crQuality;
typedef enum crLcpRestitution { CR_LCP_NEWTON, CR_LCP_POISSON } crLcpRestitution;  // lcp, velocity level

// Start from cr_step_settings().
typedef struct crStepSettings {
    crMethod method;               // cone
    double dt;                     // length of a step, > 0, s; 1/240
    crLevel level;                 // lcp; position
    bool fixed_point;              // lcp: everything at the end of the step; false
    int directions;                // lcp: friction directions in space, >= 3; 8
    crLcpRestitution restitution;  // lcp, velocity level; newton
    double theta;                  // moreau: 0 to 1; 0.5
    double activation;  // moreau: contacts are active where gap(q + activation h v) <= 0, 0 to 2; 0.5
    crToi toi;          // event; bisect
    crRule rule;      // impacts (cone, event); poisson. params NULL: crRuleParams with law and solver below,
                      // and where the contacts are
    crLaw law;        // of rules that use one; chatterjee-ruina
    crSolver solver;  // auto
    double tol;       // residual at which a solve counts as solved; 0: by quality, see cr_step_tol; 0
    double shift;  // a solve that is exact for gaps changed by at most this share of a body's size is near;
                   // 1e-5
    int measure;   // full geometry every so many steps (lcp, moreau: in each); 0: only in certified; 60
    crQuality quality;    // cone; accurate
    int threads;          // that share the work, >= 1; results do not depend on it; 1
    double threshold;     // approach speeds above it are impacts (cone, event), or bounce (lcp), m/s; 0.01
    double cluster;       // bodies nearer than this share one impact, m; 1e-6
    double deadband;      // contact counts as touching within this share of the body's size; 0: by quality
    double position_tol;  // overlap the position pass leaves, share of the deadband; 0.1
    int impact_limit;     // impacts per step (cone, event); what comes after them is plastic; 10000
    double bound;         // bodies farther from the origin have escaped: the certificate says so; and moving
                          // farther in one step is CR_ERR_FINITE (cone), m; 1e6
    double sleep_time;  // cone: bodies that touch each other sleep once all were slow for so long; 0 is never
    double sleep_speed;  // and what is slow: the speed of a body's fastest point, m/s; 0.005
} crStepSettings;

CR_API crStepSettings cr_step_settings(void);
CR_API crStatus cr_step_settings_check(const crStepSettings* settings, crError* error);
// Residual at which a solve counts as solved: tol, or where it is 0 by quality: fast 1e-4, accurate 1e-6,
// certified 1e-8; methods other than cone 1e-8.
CR_API double cr_step_tol(const crStepSettings* settings);
CR_API const char* cr_method_name(crMethod method);     // "cone", "lcp", "moreau", "event"; NULL for no such
CR_API const char* cr_quality_name(crQuality quality);  // "fast", "accurate", "certified"; NULL for no such

// Adds to k (nv), what acts beyond the model: cr_model_add_force and so on. May return any failure.
typedef crStatus (*crForceFn)(void* ctx, const crModel* model, const crState* state, const crDynamics* d,
                              double* k);

// A problem that a step posed, with its answer, as cr_problem_write takes it. It lives during the call.
typedef struct crPosed {
    const crProblem*
        problem;      // rows J over the velocities of the bodies concerned, M by blocks, Minv, v, u_free, b
    const double* p;  // impulses (rows)
    const crVec3* points;  // of each block; contacts, else the origin (block_count)
    double time;           // at which it begins, s
    double h;              // length of the step it is of, s; 0 for an impact
    bool impact;           // posed to the rule: blocks have e and et, u_free is the velocity before
    bool trial;            // of lcp and event: the next one at the same time takes its place
} crPosed;
// Called by a step after each contact solve and impact. It must not change anything; a failure ends the step.
typedef crStatus (*crPosedFn)(void* ctx, const crPosed* posed, crError* error);

// what a step works on

// Where two shapes touch: a crContactPoint without its witness points, which are point -/+ gap/2 normal.
typedef struct crStepPoint {
    double gap;     // m
    crVec3 normal;  // unit, from a to b
    crVec3 point;
    int child_a, child_b;
    uint32_t feature_a, feature_b;
} crStepPoint;

typedef struct crStepContact {
    crStepPoint point;
    int shape_a, shape_b;  // a < b
    int body_a, body_b;
    int row;        // first row of the problem, -1 where it takes no part
    bool planar;    // one tangent: both bodies move in one plane
    bool packable;  // of single bodies, or one and what v does not move, with round friction
    bool bounces;   // its restitution may be other than 0, at some speed
    const crContactSurface* surface;  // e at zero speed; lives as long as the step
    double e;                         // restitution at `speed`
    double speed;                     // normal velocity at the start, negative where approaching, m/s
    double delta;                     // deadband, m
    // approach speed above which it is an impact, m/s: the threshold, and for a contact that pressed in the
    // last solve also what turning bodies may gain on it in a step
    double fast;
    crVec3 impulse;  // on b, N s (apply, impacts)
} crStepContact;

// Impulse of an earlier contact, found again by its shapes, children and features.
typedef struct crWarm {
    int shape_a, shape_b;
    int child_a, child_b;
    uint32_t feature_a, feature_b;
    crVec3 force;  // on b: impulse / length of the step, world axes, N
} crWarm;

// Whether a body sleeps. What is sealed: its q, v, applied forces, motor speeds, and its carrier's pose.
typedef struct crSleep {
    double slow;     // how long it has been slower than settings.sleep_speed, s
    double overlap;  // deepest that it sleeps with, m; 0 while it is awake
    uint64_t seal;   // hash of what it fell asleep with: a change wakes it
    int island;      // first body of those it sleeps and wakes with, 0: it is awake
    int carrier;     // driven body that it touches, 0: none
} crSleep;

// What crEvent.impact is where the event is no impact.
enum {
    CR_EVENT_CONTACT = -1,  // a contact began that the contact solve caught, below the threshold
    CR_EVENT_SLEEP = -2,    // bodies fell asleep together, body_b the first of them; no shapes (-1)
    CR_EVENT_WAKE = -3      // or woke up
};

// An impact, or what the constants above say.
typedef struct crEvent {
    double time;  // s
    int shape_a, shape_b;
    int body_a, body_b;
    crVec3 point;
    crVec3 normal;         // from a to b
    double approach;       // speed before, > 0, m/s
    crVec3 impulse;        // on b, N s
    double energy_change;  // of the whole impact that this contact was part of, J
    int impact;            // events of one impact share this number, counted within the step; CR_EVENT_...
} crEvent;

// What is true of a step, from states, contacts and impulses: the worst over its solves and impacts. Every
// method fills every field.
typedef struct crCertificate {
    int contacts;        // most at once
    int rows;            // likewise
    int solves;          // contact solves
    int impacts;         // runs of the rule
    crOutcome outcome;   // solved, near, cannot tell, or another: the worst of the solves and impacts
    double residual;     // backward error over the scale of its island: the figure that tol is compared with
    double eta;          // backward error, m/s
    double distance;     // h eta: the step is exact for gaps that differ by at most this, m
    double floor;        // rounding floor of eta, m/s
    double momentum;     // speed by which v differs from what the impulses give, m/s
    double approach;     // m/s
    double cone;         // N s
    double dissipation;  // m/s
    double complementarity;  // J
    double penetration;      // overlap left at the end, at most, m
    double overlap;          // the same measured by full geometry of all near pairs, m; NaN in steps without
    int crossings;           // pairs that passed through each other between beginning and end
    int crossings_unsure;    // pairs of which that cannot be told
    double loop_error;       // of position, m or rad
    double energy_change;    // of the whole world, kinetic and potential, J
    double work;             // by motors, applied forces and driven bodies, J; NaN where a user's force acts
    double energy_created;   // by impacts and contact solves, J; 0 where none did
    double energy_size;      // sum of the sizes of all kinetic and potential energies, before and after, J
    double energy_gain;  // energy that islands gained beyond that work, for whatever reason, J; NaN as work
    int impermissible;   // impacts outside the permissible region
    int impacts_unsure;  // impacts of which that cannot be told
    bool truncated;      // impact_limit was reached
    int asleep;          // bodies, at the end
    int escaped;         // bodies beyond settings.bound, at the end
    int escapee;         // the first of them, 0 where there is none
} crCertificate;

// Certificates of many steps: the worst of each figure, sums of those that add up, and how steps ended.
typedef struct crTally {
    crCertificate
        worst;  // counts of impacts, solves, crossings and impermissible impacts, energies and work: sums
    int steps;
    int solved, near, unsure, failed;  // steps by their outcome; truncated steps count as failed
    int idle;                          // steps without a contact solve
    int measured;                      // steps whose overlap was measured by full geometry
    int unknown;                       // steps whose energy_gain is not known; the sums are over the others
    double mean_residual;              // over the steps that had something to solve
} crTally;

CR_API void cr_tally_add(crTally* tally, const crCertificate* certificate);  // start from a zeroed tally

// Whether the step keeps what it promises: solved or near, nothing crossed, impermissible or truncated, energy
// created and gained at most CR_ENERGY_TOL of energy_size, overlap at most `overlap` (m), no body escaped. Cannot tell
// where a figure is not known.
#define CR_ENERGY_TOL 1e-9
CR_API crTruth cr_certificate_holds(const crCertificate* certificate, double overlap);
CR_API crTruth cr_tally_holds(const crTally* tally, double overlap);  // of all steps

typedef struct crStep {
    const crModel* model;
    crStepSettings settings;
    crAllocator allocator;
    crState state;        // cr_step_create; the stages change it
    crDynamics dynamics;  // forces
    crForceFn force;      // may be NULL
    void* force_ctx;
    crPosedFn posed;  // may be NULL: what is posed is put together for it alone
    void* posed_ctx;
    crArena store;          // arrays of the size of the model
    crArena scratch;        // everything that lives for a step
    struct crTasks* tasks;  // NULL where one thread does it all
    crBroad* broad;
    double* size;     // of each body: farthest point of its shapes from its centre of mass, m (nb)
    crVec3* plane;    // normal of the plane a body moves in, zero where there is none (nb)
    double* fall;     // constant acceleration by gravity along each velocity of bodies that fly freely (nv)
    bool* airborne;   // collide: the body touches nothing, or is leaving what it touches (nb)
    double* k;        // forces (nv)
    double* v_free;   // forces (nv)
    double* v_from;   // forces: v of trees, up to the last body that is not single
    double* bend;     // forces: h M^-1 c by which velocity terms c lessen v_free; likewise
    double* v_start;  // begin: v at the beginning (nv)
    double* q_start;  // begin: q at the beginning (nq)
    double h;         // forces: length of the step being made, s
    // begin: every body and loop; a stepper narrows them to what it moves on its own. Stages up to integrate
    // read and write nothing of other bodies; contacts are those among these and with what v does not move
    int part_count;
    const int* part;  // bodies, ascending, whole trees, with all that is driven (part_count)
    int part_loop_count;
    const int* part_loops;      // ascending (part_loop_count)
    struct crStepCache* cache;  // collide: pairs of shapes that are near, surfaces; cone: clocks, groups
    int contact_count;
    // collide, in scratch (contact_count). After a step: the contacts of its solves with their impulses; those
    // of impacts are in the events
    crStepContact* contacts;
    crRows rows;        // problem_build, in scratch
    crRows H;           // problem_build: half of W, in scratch
    crProblem problem;  // problem_build, in scratch; blocks[i].source is a contact's index or negative
    double* b;          // problem_build: bias, the one in problem; a stepper may rewrite it (rows.count)
    double* p;          // problem_build: warm start, solve: impulses, in scratch (rows.count)
    crReport report;    // solve
    int warm_count, warm_capacity;
    crWarm* warm;       // apply (warm_count)
    bool warm_changed;  // apply: those that the step began with are in warm_start
    int warm_start_count, warm_start_capacity;
    crWarm* warm_start;  // (warm_start_count)
    int tie_count;
    double* tie_force;  // of loops and joints in the last solve: impulse / length of the step (tie_count)
    crSleep* sleep;     // cone (nb)
    int event_count, event_capacity;
    crEvent* events;            // since begin (event_count)
    crCertificate certificate;  // since begin
} crStep;

// Memory and the reference position at rest. The model must outlive the step and not change.
CR_API crStatus cr_step_create(const crModel* model, const crStepSettings* settings,
                               const crAllocator* allocator, crStep* step, crError* error);
CR_API void cr_step_destroy(crStep* step);  // accepts a zeroed struct

// stages

// Empties scratch, events and certificate, remembers q and v.
CR_API crStatus cr_step_begin(crStep* step, crError* error);
// Kinematics, the factor of M (+ h B + h^2 K), k with the user's force, v_free = v + h M^-1 k.
CR_API crStatus cr_step_forces(crStep* step, double h, crError* error);
// Contacts with gap <= margin at the poses of the last kinematics (which forces runs), and their speeds by
// state.v.
CR_API crStatus cr_step_collide(crStep* step, double margin, crError* error);
// Adds to k and v_free, once after forces and collide, the viscous and Stribeck forces of touching contacts;
// never a gain of energy, whatever h is.
CR_API crStatus cr_step_drag(crStep* step, double h, crError* error);
// How far anything can move in h at the present v and k: the margin for which no contact of the step is
// missed, m.
CR_API double cr_step_reach(const crStep* step, double h);
// Rows of the contacts for which takes[i] is set (NULL: all), of loops and joints, with u_free = J v_free +
// w_hat and b as the cone method has it: contacts 0 within the deadband and (gap - delta)/h above, limits
// gap/h, loops 0.
CR_API crStatus cr_step_problem_build(crStep* step, double h, const bool* takes, crError* error);
CR_API crStatus cr_step_solve(crStep* step, crError* error);  // p; the audit goes into the certificate
CR_API crStatus cr_step_apply(crStep* step,
                              crError* error);  // state.v = v_free + M^-1 J^T p; impulses, warm start
// q and time over h by state.v; bodies in the air by the mean of v before and after gravity: exact flight. v of
// trees changes too, so that velocity terms give no energy. h as in forces.
CR_API crStatus cr_step_integrate(crStep* step, double h, crError* error);
// Moves overlapping bodies apart along normals, shortest in the metric of M, and closes loops; v stays.
CR_API crStatus cr_step_position_pass(crStep* step, crError* error);
// Resolves, by the rule, every cluster of touching contacts in which one approaches faster than the
// threshold, at the poses and contacts of the last collide. state.v changes, events are added; returns the
// clusters in *resolved.
CR_API crStatus cr_step_impacts(crStep* step, int* resolved, crError* error);
// Adds an event. CR_ERR_MEMORY.
CR_API crStatus cr_step_event_add(crStep* step, const crEvent* event);
// CR_ERR_FINITE where q, v, time or the energy they make are not finite, with the body's name; counts who
// escaped.
CR_API crStatus cr_step_finite(crStep* step, crError* error);

// Time in (0, h] at which a contact that approaches faster than the threshold first touches, bodies flying
// from where they are (those that touch something keep their v); false where there is none. Needs collide.
CR_API bool cr_step_next_impact(crStep* step, double h, double* time);

// steppers: one step of length h from begin to the end

CR_API crStatus cr_step_cone(crStep* step, double h, crError* error);
CR_API crStatus cr_step_moreau(crStep* step, double h, crError* error);
CR_API crStatus cr_step_lcp(crStep* step, double h, crError* error);
CR_API crStatus cr_step_event(crStep* step, double h, crError* error);
CR_API crStatus cr_step_run(crStep* step, double h, crError* error);  // by settings.method

#ifdef __cplusplus
}
#endif

#endif
