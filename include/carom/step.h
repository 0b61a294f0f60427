// step.h - through time: settings of a step, its events and its certificate.
//
// A world makes steps (world.h). The stages that a step is made of are in stages.h, which is experimental.
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
// cone, fast: groups of bodies whose impacts are found one by one in time: those of up to 64 bodies, all, none.
// Others bounce once a step
typedef enum crLocate { CR_LOCATE_SMALL, CR_LOCATE_ALL, CR_LOCATE_NONE } crLocate;
typedef enum crLcpRestitution { CR_LCP_NEWTON, CR_LCP_POISSON } crLcpRestitution;  // lcp, velocity level

// Start from cr_step_settings().
typedef struct crStepSettings {
    crMethod method;  // cone
    double dt;        // length of a step, > 0, s; 1/240
    double error;  // error of time that a part of a step may leave in positions, m; 0: steps have one part; 0
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
    crLocate locate;      // cone, fast; small
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

// what a step tells

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

// Energy over a step.
typedef struct crEnergyBalance {
    double change;   // of the whole world, kinetic and potential, J
    double work;     // by motors, applied forces and driven bodies, J; NaN where a user's force acts
    double created;  // by impacts and contact solves, J; 0 where none did
    double size;     // sum of the sizes of all kinetic and potential energies, before and after, J
    double gain;     // energy that islands gained beyond that work, for whatever reason, J; NaN as work
} crEnergyBalance;

// What is true of a step, from states, contacts and impulses: the worst over its solves and impacts. Every
// method fills every field.
typedef struct crCertificate {
    int contacts;       // most at once
    int rows;           // likewise
    int solves;         // contact solves
    int impacts;        // runs of the rule, and impacts at the end of short steps
    crOutcome outcome;  // solved, near, bounded, cannot tell, or another: the worst of the solves and impacts
    double residual;    // backward error over the scale of its island: the figure that tol is compared with
    double eta;         // backward error, m/s
    double distance;    // h eta: the step is exact for gaps that differ by at most this, m
    double floor;       // rounding floor of eta, m/s
    double momentum;    // speed by which v differs from what the impulses give, m/s
    crLawErrors laws;   // how far contacts are from their laws
    double penetration;    // overlap left at the end, at most, m
    double overlap;        // the same measured by full geometry of all near pairs, m; NaN in steps without
    int crossings;         // pairs that passed through each other between beginning and end
    int crossings_unsure;  // pairs of which that cannot be told
    double loop_error;     // of position, m or rad
    double time_error;     // sum of the errors of time of the step's parts, m; 0 where settings.error is 0
    crEnergyBalance energy;
    int impermissible;   // impacts outside the permissible region
    int impacts_unsure;  // impacts of which that cannot be told
    bool truncated;      // impact_limit, or the work that event allows a step, was reached
    int asleep;          // bodies, at the end
    int escaped;         // bodies beyond settings.bound, at the end
    int escapee;         // the first of them, 0 where there is none
} crCertificate;

// Certificates of many steps: the worst of each figure, sums of those that add up, and how steps ended.
typedef struct crTally {
    crCertificate
        worst;  // counts of impacts, solves, crossings and impermissible impacts, energies and work: sums
    int steps;
    int solved, near, bounded, unsure, failed;  // steps by their outcome; truncated steps count as failed
    int idle;                                   // steps without a contact solve
    int measured;                               // steps whose overlap was measured by full geometry
    int unknown;           // steps whose energy.gain is not known; the sums are over the others
    double mean_residual;  // over the steps that had something to solve
} crTally;

CR_API void cr_tally_add(crTally* tally, const crCertificate* certificate);  // start from a zeroed tally

// Whether the step keeps what it promises: solved or near, nothing crossed, impermissible or truncated, energy
// created and gained at most CR_ENERGY_TOL of energy.size, overlap at most `overlap` (m), no body escaped. Cannot tell
// where a figure is not known.
#define CR_ENERGY_TOL 1e-9
CR_API crTruth cr_certificate_holds(const crCertificate* certificate, double overlap);
CR_API crTruth cr_tally_holds(const crTally* tally, double overlap);  // of all steps

typedef struct crStep crStep;  // what a step works on: stages.h

#ifdef __cplusplus
}
#endif

#endif
