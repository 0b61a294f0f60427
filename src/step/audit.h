// audit.h - the audit of a step: from contacts, inertias, velocities and impulses, not from solvers' arrays.
#ifndef CAROM_STEP_AUDIT_H
#define CAROM_STEP_AUDIT_H

#include "step/forest.h"
#include "step/step.h"

// Audits the contact solve over h with the results state.v, contacts[].impulse and p of loops and joints, and
// adds its figures to the certificate. takes: contacts of the solve (contact_count); other contacts have no
// impulse and must not close, unless passes[i] is true and an impact follows. u_free, u: velocity of b
// relative to a by v_free and by state.v (contact_count). islands: island of each body, -1: no contact acts
// on it (nb). Called before warm starts are renewed. CR_ERR_MEMORY.
crStatus cr__audit_contacts(crStep* step, double h, const bool* takes, const bool* passes,
                            const crVec3* u_free, const crVec3* u, const int* islands, int island_count);
// Compares the state after the step with the state before: energy, crossings and, if due, overlap by full
// geometry go into the certificate. Called once at the end of every method. CR_ERR_MEMORY, CR_ERR_FINITE.
crStatus cr__audit_step(crStep* step, double h, crError* error);

// Adds the work that a driven body does through an impulse P on b at a point to drive[] of the other body.
void cr__audit_drive(const crModel* model, const crDynamics* d, double* drive, int body_a, int body_b,
                     crVec3 point, crVec3 P);
// Adds the same for every contact of a solve.
void cr__audit_drives(const crPlan* plan, const crDynamics* d, const crStepContacts* contacts, double* drive);
// Notes that a position pass pushed two trees apart: what one of them is lifted, the other sinks.
static inline void cr__audit_join_push(const crModel* model, int body_a, int body_b, crStepAudited* audited) {
    if (!audited->pushes) cr__forest_begin(audited->pushed, model->nb);
    audited->pushes = true;
    cr__forest_join_trees(model, audited->pushed, body_a, body_b);
}
// Joins the trees that met in this step without a contact solve: by impacts, by loops, and by position passes that pushed
// them apart (nb).
static inline void cr__audit_join_met(const crStep* step, int* root) {
    for (int i = 0; i < step->events.count; i++) {
        const crEvent* event = &step->events.list[i];
        if (event->shape_a >= 0) cr__forest_join_trees(step->model, root, event->body_a, event->body_b);
    }
    for (int i = 0; i < step->model->loop_count; i++) {
        const crLoop* loop = &step->model->loops[i];
        cr__forest_join_trees(step->model, root, loop->a, loop->b);
    }
    for (int b = 1; step->audited.pushes && b < step->model->nb; b++) {
        cr__forest_join(root, b, step->audited.pushed[b]);
    }
}
// True if overlap by full geometry is due in the step just made.
bool cr__audit_due(const crStep* step);
// Measures overlap by full geometry if it is due, and writes it to the certificate. CR_ERR_MEMORY.
crStatus cr__audit_measured(crStep* step);
// Finds the deepest overlap of all shapes at the poses of a state, by full geometry, m; d takes its poses. CR_ERR_MEMORY.
crStatus cr__audit_overlap(const crPlan* plan, crTasks* tasks, crArena* arena, const crState* state,
                           crDynamics* d, double* deepest);
// True if a body may have moved so far in the step that its way must be followed: others cross nothing.
bool cr__audit_fast(const crStep* step, int body);
// Deepest overlap at any poses of all bodies (nb). depth is 0 and the shapes are -1 if nothing overlaps.
typedef struct crAuditPair {
    double depth;  // m
    int shape_a, shape_b;
} crAuditPair;
crStatus cr__audit_overlap_at(const crPlan* plan, crTasks* tasks, crArena* arena, const crPose* pose,
                              crAuditPair* deepest);
// Crossings on the straight way between two poses of all bodies; hit: bodies that went otherwise, NULL: none.
typedef struct crAuditCrossings {
    int crossed, unsure;
    int shape_a, shape_b;  // shapes of the first pair that crossed; -1: none
} crAuditCrossings;
crStatus cr__audit_crossings_between(const crPlan* plan, crArena* arena, const crPose* from, const crPose* to,
                                     const bool* hit, crAuditCrossings* found);
// The same for the step just made, from the poses at its beginning (before; NULL: from start.q). CR_ERR_MEMORY.
crStatus cr__audit_crossings(const crStep* step, const crPose* before, crArena* arena, crDynamics* d,
                             crAuditCrossings* found);
// Calls `pair` for all pairs of shapes that may come closer on the straight way than the sum of their bodies'
// reach (nb), m. Ends at the first failure of `pair`.
typedef crStatus (*crAuditPairFn)(void* ctx, int shape_a, int shape_b);
crStatus cr__audit_near(const crPlan* plan, crArena* arena, const crPose* from, const crPose* to,
                        const double* reach, crAuditPairFn pair, void* ctx);

// Deepest overlap of two shapes at the poses of bodies (nb), by collision, m.
double cr__audit_depth(const crPlan* plan, const crPose* pose, int shape_a, int shape_b);
// True only if two shapes overlap by at most `known` along the line of their bodies' origins or along a face
// normal: cheaper than the overlap itself, and true for nearly all pairs that are apart.
bool cr__audit_shallow(const crPlan* plan, const crPose* pose, int shape_a, int shape_b, double known);
// Deepest overlap of all near pairs of the marked bodies (nb) at the present poses, m.
double cr__audit_overlap_of(const crStep* step, const bool* bodies);

// Sets the outcome of the certificate to that of a solve or impact if that is worse.
void cr__audit_outcome(crCertificate* c, crOutcome outcome);
// Adds the figures and the outcome of one solve to the certificate: the worst of each is kept.
void cr__audit_merge(crCertificate* c, const crAudit* audit, crOutcome outcome);
// Adds the certificate of other contacts of the same step in the same way; solves are counted once.
void cr__audit_add(crCertificate* c, const crCertificate* other);

#endif
