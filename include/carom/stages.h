// stages.h - experimental: the stages of a step as functions on one open struct, and the steppers made of them.
//
// These functions work and are tested; their form, and the fields of crStep, may change with any version.
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
#ifndef CAROM_STAGES_H
#define CAROM_STAGES_H

#include "carom/dynamics.h"
#include "carom/near.h"
#include "carom/step.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    bool takes;     // it had a part in the last contact solve of the cone method
    const crContactSurface*
        surface;   // coefficients at the velocity it was found at; lives until the next step
    double e;      // restitution at `speed`
    double speed;  // normal velocity at the start, negative where approaching, m/s
    double delta;  // deadband, m
    double seat;   // gap at which a solve holds it, m
    double given;  // what a solve has added to its gap, at most step.shift of a body's size, m
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

// Functions of the user's.
typedef struct crStepCalls {
    crForceFn force;  // may be NULL
    void* force_ctx;
    crPosedFn posed;  // may be NULL: what is posed is put together for it alone
    void* posed_ctx;
} crStepCalls;

// The state at the beginning of the step: begin.
typedef struct crStepStart {
    double time;  // s
    double* q;    // (nq)
    double* v;    // (nv)
} crStepStart;

// Motion without contacts: forces.
typedef struct crStepFree {
    double h;           // length of the step being made, s
    double* k;          // forces (nv)
    double* v;          // v + h M^-1 k (nv)
    double* v_from;     // v of trees, up to the last body that is not single
    double* bend;       // h M^-1 c by which velocity terms c lessen v; likewise
    double* tree_gain;  // by root: what the flow makes of T at the q of forces
    double* tree_turn;  // by root: h c v, twice the energy that velocity terms take at the v of the beginning
} crStepFree;

// Bodies, ascending, whole trees, with all that is driven; and their loops, ascending.
typedef struct crStepPart {
    int count;
    int* bodies;  // (count)
    int loop_count;
    int* loops;  // (loop_count)
} crStepPart;

// The problem that problem_build posed, in scratch.
typedef struct crStepPosed {
    crRows rows;
    crRows H;           // half of W
    crProblem problem;  // blocks[i].source is a contact's index or negative
    double* b;          // bias, the one in problem; a stepper may rewrite it (rows.count)
    double* p;          // warm start, solve: impulses (rows.count)
    crReport report;    // solve
} crStepPosed;

// Forces of contacts in the last solve: apply.
typedef struct crStepWarm {
    int count, capacity;
    crWarm* force;  // (count)
    bool changed;   // forces of the beginning are in start
    int start_count, start_capacity;
    crWarm* start;  // (start_count)
} crStepWarm;

// Forces of loops and joints in the last solve: impulse / length of the step.
typedef struct crStepTies {
    int count;
    double* force;  // (count)
    int* first;     // place of the first of each body's joint (nb)
    int* of_row;    // problem_build, in scratch: place of each row, -1: none
} crStepTies;

// Contacts: collide, in scratch. After a step: those of its solves with their impulses; those of impacts are in the events, those of islands
// that lie in rest.lying.
typedef struct crStepContacts {
    int count;
    int last;             // of the whole world, the last time
    crStepContact* list;  // (count)
} crStepContacts;

// Events since begin.
typedef struct crStepEvents {
    int count, capacity;
    crEvent* list;  // (count)
} crStepEvents;

// Memory and threads, from cr_step_create to cr_step_destroy.
typedef struct crStepOwn {
    crAllocator allocator;
    crArena store;          // arrays of the size of the model
    struct crTasks* tasks;  // NULL where one thread does it all
} crStepOwn;

// Bodies at the end of the last step, which is the beginning of the next where q, v and time are still the same: audit.
typedef struct crStepAudited {
    bool known;
    double time;     // s
    double *q, *v;   // (nq, nv)
    double* energy;  // of bodies of trees, up to the last of them, J
    double* size;    // of the terms it is the sum of, J; likewise
    crPose* pose;    // (nb)
    double* drive;   // begin, audit: work of driven bodies on each body in this step, J (nb)
} crStepAudited;

// Islands that a step left as they were, to the bit: they are not computed until something reaches them (lie.c). Nothing
// here changes a result: all can be forgotten, and is then found again.
typedef struct crStepLying {
    int*
        island;  // a body of the island that the body lies in, 0: it does not lie (nb); NULL, as worlds have it: none may
    int count;   // bodies
    bool fresh;  // some have lain down since boxes of those that lie were looked at
    bool known;  // world: nothing of what lies was written since the last step; cone: no longer known
    int contact_count, capacity;
    crStepContact* contacts;    // with the impulses that they go on to have, sorted as those of the step
    bool audited;               // the certificate is of these contacts
    crCertificate certificate;  // of these contacts
} crStepLying;

// Who rests: cone.
typedef struct crStepRest {
    crSleep* sleep;  // (nb)
    crStepLying lying;
    bool still;  // the step left q, v = 0 and forces as they were, to the bit
} crStepRest;

// Arrays that nobody owns between two calls.
typedef struct crStepWork {
    int* mark;    // zero between uses (nb)
    int* list;    // bodies of a part (nb)
    int* loops;   // loops of a part (loop_count)
    int* column;  // place of each velocity among those of a cluster (nv)
} crStepWork;

// Contacts that pressed in the solves of a step that makes several.
typedef struct crStepRecord {
    int count, capacity;
    crStepContact* contacts;  // (count)
} crStepRecord;

struct crStep {
    const crModel* model;
    crStepSettings settings;
    crStepCalls calls;
    crStepOwn own;
    crArena scratch;            // everything that lives for a step
    const struct crPlan* plan;  // sizes and lists of the model, const

    crState state;        // cr_step_create; the stages change it
    crDynamics dynamics;  // forces
    crStepStart start;
    crStepFree free;

    crStepPart awake;  // every body and loop that neither sleeps nor lies
    // begin: all that is awake; a stepper narrows it to what it moves on its own. Stages up to integrate
    // read and write nothing of other bodies; contacts are those among these and with what v does not move
    crStepPart part;

    struct crPairs* pairs;    // collide: shapes that are near
    struct crClocks* clocks;  // cone: clocks and groups of bodies

    bool* airborne;  // collide: the body touches nothing, or is leaving what it touches (nb)
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

// Memory and the reference position at rest. The model must outlive the step and not change.
CR_API crStatus cr_step_create(const crModel* model, const crStepSettings* settings,
                               const crAllocator* allocator, crStep* step, crError* error);
CR_API void cr_step_destroy(crStep* step);  // accepts a zeroed struct
// Farthest point of a body's shapes from its centre of mass, m; 0 where v does not move it, NaN: no such body.
CR_API double cr_step_size(const crStep* step, int body);

// Contacts at the end of a step with their impulses: those of its solves, then those that lie.
static inline int cr_step_shown(const crStep* step) {
    bool same = step->contacts.list == step->rest.lying.contacts;
    return step->contacts.count + (same ? 0 : step->rest.lying.contact_count);
}
static inline const crStepContact* cr_step_shown_at(const crStep* step, int i) {
    int own = step->contacts.count;
    return i < own ? &step->contacts.list[i] : &step->rest.lying.contacts[i - own];
}

// stages

// Empties scratch, events and certificate, remembers q and v; nothing lies.
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

typedef struct crWorld crWorld;
// Stages and everything they computed in the last step, for those who look closer.
CR_API crStep* cr_world_stages(crWorld* world);

#ifdef __cplusplus
}
#endif

#endif
