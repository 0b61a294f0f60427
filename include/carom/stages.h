// stages.h - experimental: the stages of a step as functions on one open struct, and steppers made of them.
//
// The functions are tested; their form, and the fields of crStep, may change in any version.
//
//     forces          q, v, t        -> poses, M = L^T D L, k, v_free
//     collide         shapes, poses  -> contacts within a margin, sorted by (shapes, children, features)
//     drag            contacts, v    -> k, v_free  viscous and Stribeck forces of touching contacts
//     impacts         fast closing   -> v          cluster of touching bodies -> rule -> law / solver
//     problem_build   contacts, M    -> blocks, J, W (as an operator), u_free, b
//     solve           problem        -> p          from the warm start; audited
//     apply           p              -> v+
//     integrate       q, v+, h       -> q+
//     position_pass   q+             -> q+         normals only, to a tolerance, where needed
//
// A stepper is a function that calls stages; a user's own loop does the same. The struct is open: each part
// names the stage that writes it. Contacts, rows and the problem live in `scratch` until the next
// cr_step_begin; cr_step_cone frees rows and problem before its position pass.
// Fails: CR_ERR_FINITE if a number becomes NaN or infinite. A solve that does not converge is no error: the
// certificate tells it.
// Units: SI, rad.
#ifndef CAROM_STAGES_H
#define CAROM_STAGES_H

#include "carom/dynamics.h"
#include "carom/near.h"
#include "carom/step.h"

#ifdef __cplusplus
extern "C" {
#endif

// Point of a contact: a crContactPoint without its witness points, which are point -/+ gap/2 normal.
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
    int row;      // first row in the problem, -1: none
    bool planar;  // true if both bodies move in one plane: the contact has one tangent
    // true for isotropic friction between two single bodies, or a single and a body that v does not move
    bool packable;
    bool bounces;  // true if its restitution may differ from 0 at some speed
    bool takes;    // true if it took part in the last contact solve of the cone method
    // coefficients at the speed at which the contact was found; valid until the next step
    const crContactSurface* surface;
    double e;      // restitution at `speed`
    double speed;  // normal velocity at the beginning, negative if approaching, m/s
    double delta;  // deadband, m
    double seat;   // gap at which a solve holds it, m
    // Approach speed above which the contact is an impact, m/s: the threshold; for a contact that carried
    // load in the last solve also the speed that turning bodies may add in a step.
    double fast;
    crVec3 impulse;  // on b, N s (apply, impacts)
} crStepContact;

// Force of a contact in an earlier solve, found by its shapes, children and features.
typedef struct crWarm {
    int shape_a, shape_b;
    int child_a, child_b;
    uint32_t feature_a, feature_b;
    crVec3 force;  // on b: impulse / length of the step, world axes, N
} crWarm;

// Sleep of a body. The seal covers its q, v, applied forces, motor speeds, controls, k of the user's force
// and the pose of its carrier.
typedef struct crSleep {
    double slow;     // time for which it has been slower than settings.sleep_speed, s
    double overlap;  // deepest overlap of the sleeping body, m; 0 while it is awake
    uint64_t seal;   // hash at the time it fell asleep: a change wakes its island
    int island;      // first body of its sleeping island, 0: it is awake
    int carrier;     // driven body that it touches, 0: none
} crSleep;

// Callbacks of the user.
typedef struct crStepCalls {
    crForceFn force;  // may be NULL
    void* force_ctx;
    crPosedFn posed;  // may be NULL; the posed problem of packed solves is made only for it
    void* posed_ctx;
} crStepCalls;

// State at the beginning of the step, written by begin.
typedef struct crStepStart {
    double time;  // s
    double* q;    // (nq)
    double* v;    // (nv)
} crStepStart;

// Motion without contacts, written by forces.
typedef struct crStepFree {
    double h;           // length of the present step or of its present interval, s
    double* k;          // forces (nv)
    double* v;          // v + h M^-1 k (nv)
    double* v_from;     // v of trees at the beginning of the interval (velocities of trees)
    double* bend;       // h M^-1 c, which velocity terms c take from v (velocities of trees)
    double* tree_gain;  // factor of T by velocity terms at the q of forces, at each root (bodies of trees)
    double* tree_turn;  // h c v at the beginning, twice the energy of velocity terms, at each root
} crStepFree;

// A set of whole trees and their loops, both in ascending order, with all driven bodies.
typedef struct crStepPart {
    int count;
    int* bodies;  // (count)
    int loop_count;
    int* loops;  // (loop_count)
} crStepPart;

// Problem written by problem_build, in scratch.
typedef struct crStepPosed {
    crRows rows;
    crRows H;           // half of W
    crProblem problem;  // blocks[i].source is a contact's index or negative
    double* b;          // bias, also that of `problem`; a stepper may rewrite it (rows.count)
    double* p;          // warm start; impulses after solve (rows.count)
    crReport report;    // written by solve
} crStepPosed;

// Forces of contacts in the last solve, written by apply.
typedef struct crStepWarm {
    int count, capacity;
    crWarm* force;  // (count)
    bool changed;   // true if the forces of the beginning are in `start`
    int start_count, start_capacity;
    crWarm* start;  // (start_count)
} crStepWarm;

// Forces of loops and joints in the last solve: impulse / length of the interval.
typedef struct crStepTies {
    int count;
    double* force;  // (count)
    int* first;     // place of the first force of each body's joint (nb)
    int* of_row;    // place of each row's force, -1: none; written by problem_build, in scratch
} crStepTies;

// Contacts written by collide, in scratch. After a step: contacts of its solves with their impulses. Contacts
// of impacts are in the events, contacts of lying islands in rest.lying.
typedef struct crStepContacts {
    int count;
    int last;             // number of contacts of the whole world the last time
    crStepContact* list;  // (count)
} crStepContacts;

// Events since begin, in the order of time after a step of the cone method.
typedef struct crStepEvents {
    int count, capacity;
    crEvent* list;  // (count)
} crStepEvents;

// Memory and threads, from cr_step_create to cr_step_destroy.
typedef struct crStepOwn {
    crAllocator allocator;
    crArena store;          // arrays of the size of the model
    struct crTasks* tasks;  // NULL: one thread
} crStepOwn;

// Bodies at the end of the last step, written by the audit; valid for the next step if q, v and time are
// unchanged.
typedef struct crStepAudited {
    bool known;      // true if the arrays are filled
    double time;     // s
    double *q, *v;   // (nq, nv)
    double* energy;  // energy of the bodies of trees (bodies of trees), J
    double* size;    // sum of absolute terms of that energy (bodies of trees), J
    crPose* pose;    // (nb)
    double* drive;   // work of driven bodies on each body in this step, by begin and audit, J (nb)
    int* pushed;     // forest of the trees that position passes of this step pushed apart (nb)
    bool pushes;     // true if there are any, and `pushed` is filled
} crStepAudited;

// Islands at rest, which are not computed until an awake body reaches them (lie.c). The results do not depend
// on this struct: cleared contents are found again.
typedef struct crStepLying {
    bool may;     // true if model and settings allow it: nothing bounces, drives or pulls
    int* island;  // a body of the island in which the body lies, 0: it does not lie (nb)
    int count;    // number of lying bodies
    bool fresh;   // true if bodies lay down after the boxes of lying bodies were last updated
    // true if the world checked lying islands before this step; cone ends their lying if false, and clears it
    bool known;
    int contact_count, capacity;
    crStepContact* contacts;    // contacts with their constant impulses, in the order of the step's
    bool audited;               // true if the certificate covers these contacts
    crCertificate certificate;  // audit of these contacts alone
} crStepLying;

// Bodies asleep or at rest, written by the cone method.
typedef struct crStepRest {
    crSleep* sleep;  // (nb)
    crStepLying lying;
    bool still;      // true if the step left q, v = 0 and forces unchanged to the bit
    double overlap;  // overlap in the certificate of the last computed step, m
} crStepRest;

// Working arrays without contents between two calls.
typedef struct crStepWork {
    int* mark;   // zero between uses (nb)
    int* list;   // bodies of a part (nb)
    int* loops;  // loops of a part (loop_count)
    int* shift;  // of each body: columns of its velocities in an impact's problem, less the velocities (nb)
} crStepWork;

// Contacts with load of all solves in a step with several.
typedef struct crStepRecord {
    int count, capacity;
    crStepContact* contacts;  // (count)
} crStepRecord;

struct crStep {
    const crModel* model;
    crStepSettings settings;
    crStepCalls calls;
    crStepOwn own;
    crArena scratch;            // memory of one step
    const struct crPlan* plan;  // sizes and lists of the model, const

    crState state;        // written by cr_step_create and by the stages
    crDynamics dynamics;  // written by forces
    crStepStart start;
    crStepFree free;

    crStepPart awake;  // every body and loop that neither sleeps nor lies
    // Bodies and loops on which the stages work: all awake ones after begin; a stepper narrows it to the
    // bodies that it moves separately. Stages up to integrate read and write no other bodies; contacts are
    // those between these bodies, and with fixed or driven ones.
    crStepPart part;

    struct crPairs* pairs;    // near shapes, written by collide
    struct crClocks* clocks;  // clocks and groups of bodies, written by the cone method

    bool* airborne;  // true if no contact supports the body; written by collide (nb)
    crStepContacts contacts;
    crStepPosed posed;

    crStepWarm warm;
    crStepTies ties;
    crStepAudited audited;
    crStepWork work;
    crStepRecord record;
    crStepRest rest;

    crStepEvents events;
    crCertificate certificate;  // since begin
};

// Allocates a step in the reference position at rest. The model must outlive the step and not change. Fails:
// CR_ERR_MEMORY; errors of the model and the settings.
CR_API crStatus cr_step_create(const crModel* model, const crStepSettings* settings,
                               const crAllocator* allocator, crStep* step, crError* error);
CR_API void cr_step_destroy(crStep* step);  // accepts a zeroed struct
// Distance of the farthest point of a body's shapes from its centre of mass, m; 0 for a fixed or driven body;
// NaN: no such body.
CR_API double cr_step_size(const crStep* step, int body);

// Contacts at the end of a step with their impulses: first the contacts of its solves, then the contacts of
// lying islands. cr_step_shown returns their number.
static inline int cr_step_shown(const crStep* step) {
    bool same = step->contacts.list == step->rest.lying.contacts;
    return step->contacts.count + (same ? 0 : step->rest.lying.contact_count);
}
static inline const crStepContact* cr_step_shown_at(const crStep* step, int i) {
    int own = step->contacts.count;
    return i < own ? &step->contacts.list[i] : &step->rest.lying.contacts[i - own];
}

// stages

// Empties scratch, events and certificate, keeps q and v of the beginning, and ends the lying of all islands.
CR_API crStatus cr_step_begin(crStep* step, crError* error);
// Computes kinematics, the factor of M (+ h B + h^2 K), k with the user's force, and v_free = v + h M^-1 k.
CR_API crStatus cr_step_forces(crStep* step, double h, crError* error);
// Finds contacts with gap <= margin at the poses of the last kinematics (forces runs them), with speeds by
// state.v.
CR_API crStatus cr_step_collide(crStep* step, double margin, crError* error);
// Adds the viscous and Stribeck forces of touching contacts to k and v_free. Called once, after forces and
// collide. These forces never add energy, for any h.
CR_API crStatus cr_step_drag(crStep* step, double h, crError* error);
// Distance by which two bodies can approach in h at the present v and v_free: the margin that misses no
// contact of the step, m.
CR_API double cr_step_reach(const crStep* step, double h);
// Writes the rows of contacts with takes[i] set (NULL: all), of loops and joints, with u_free = J v_free +
// w_hat and the bias b of the cone method: 0 for a contact within the deadband and (gap - delta)/h above,
// gap/h for a limit, 0 for a loop.
CR_API crStatus cr_step_problem_build(crStep* step, double h, const bool* takes, crError* error);
// Solves the problem: writes p; the certificate takes its audit. Fails: CR_ERR_FINITE, CR_ERR_MEMORY.
CR_API crStatus cr_step_solve(crStep* step, crError* error);
// Sets state.v = v_free + M^-1 J^T p, the impulses of contacts and the forces of the next warm start.
CR_API crStatus cr_step_apply(crStep* step, crError* error);
// Moves q and time over h by state.v; bodies in the air by the mean of v before and after gravity, which is
// their exact flight. v of trees changes too, so that velocity terms give no energy. h as in forces.
CR_API crStatus cr_step_integrate(crStep* step, double h, crError* error);
// Moves overlapping bodies apart along normals, by the shortest displacement in the metric of M, and closes
// loops; v is unchanged.
CR_API crStatus cr_step_position_pass(crStep* step, crError* error);
// Resolves, by the rule, every cluster of touching contacts with one that approaches faster than the
// threshold, at the poses and contacts of the last collide. Changes state.v and adds events; writes the
// number of impacts to *resolved.
CR_API crStatus cr_step_impacts(crStep* step, int* resolved, crError* error);
// Adds an event. Fails: CR_ERR_MEMORY.
CR_API crStatus cr_step_event_add(crStep* step, const crEvent* event);
// Fails with CR_ERR_FINITE and the body's name if q, v, time or an energy is not finite; counts the bodies
// beyond settings.bound in the certificate.
CR_API crStatus cr_step_finite(crStep* step, crError* error);

// Finds the time in (0, h] at which a contact that approaches faster than the threshold first touches; bodies
// fly from their present poses, supported bodies keep their v. Returns false if there is no such contact.
// Needs collide.
CR_API bool cr_step_next_impact(const crStep* step, double h, double* time);

// steppers: one whole step of length h, including begin

CR_API crStatus cr_step_cone(crStep* step, double h, crError* error);
CR_API crStatus cr_step_moreau(crStep* step, double h, crError* error);
CR_API crStatus cr_step_lcp(crStep* step, double h, crError* error);
CR_API crStatus cr_step_event(crStep* step, double h, crError* error);
// Runs the stepper of settings.method, then the audit.
CR_API crStatus cr_step_run(crStep* step, double h, crError* error);

typedef struct crWorld crWorld;
// The step of a world, with all that its stages computed in the last step.
CR_API crStep* cr_world_stages(crWorld* world);

#ifdef __cplusplus
}
#endif

#endif
