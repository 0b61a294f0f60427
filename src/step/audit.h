// audit.h - the audit of a step: from contacts, inertias, velocities and impulses, never from a solver's arrays.
#ifndef CAROM_STEP_AUDIT_H
#define CAROM_STEP_AUDIT_H

#include "step/step.h"

// The contact solve over h that state.v, contacts[].impulse and p of loops and joints are the result of, into the
// certificate. takes: contacts of the solve (contact_count); the others have no impulse and must not close unless
// passes[i] says that an impact follows. u_free, u: velocities of b against a by v_free and by state.v
// (contact_count); islands: of each body, -1 where no contact acts on it (nb). Call before warm starts are renewed.
// CR_ERR_MEMORY.
crStatus cr__audit_contacts(crStep* step, double h, const bool* takes, const bool* passes,
                            const crVec3* u_free, const crVec3* u, const int* islands, int island_count);
// The state after the step against the state it began with: energy, crossings and, where it is due, overlap by
// full geometry, into the certificate. Once, at the end of every method. CR_ERR_MEMORY, CR_ERR_FINITE.
crStatus cr__audit_step(crStep* step, double h, crError* error);

// Work that driven bodies do through an impulse P on b at a point, added to that of the body it acts on.
void cr__audit_drive(const crModel* model, const crDynamics* d, double* drive, int body_a, int body_b,
                     crVec3 point, crVec3 P);
// The same through every contact of a solve.
void cr__audit_drives(crStep* step);
// Whether overlap by full geometry is due in the step just made; and that overlap, where it is. CR_ERR_MEMORY.
bool cr__audit_due(const crStep* step);
crStatus cr__audit_measured(crStep* step);
// Deepest overlap at the present poses of all shapes, by full geometry, m; and how many pairs passed through each
// other on their way from the poses at the beginning of the step (before, or NULL: found anew). CR_ERR_MEMORY.
crStatus cr__audit_overlap(crStep* step, double* deepest);
// Whether a body may have moved so far in the step that its way must be followed: where none did nothing crossed.
bool cr__audit_fast(const crStep* step, int body);
crStatus cr__audit_crossings(crStep* step, const crPose* before, int* crossed, int* unsure);

// The same for poses of all bodies that come from anywhere (nb). depth is 0 and the shapes -1 where nothing overlaps.
typedef struct crAuditPair {
    double depth;  // m
    int shape_a, shape_b;
} crAuditPair;
crStatus cr__audit_overlap_at(const crPlan* plan, crTasks* tasks, crArena* arena, const crPose* pose,
                              crAuditPair* deepest);
// Crossings on the straight way; hit: bodies that did not go straight, NULL: none. The shapes are the first pair's.
typedef struct crAuditCrossings {
    int crossed, unsure;
    int shape_a, shape_b;  // -1 where none crossed
} crAuditCrossings;
crStatus cr__audit_crossings_between(const crPlan* plan, crArena* arena, const crPose* from, const crPose* to,
                                     const bool* hit, crAuditCrossings* found);
// Calls `pair` for all shapes that cannot be shown to stay farther apart on the straight way than the sum of their
// bodies' reach (nb), m. A failure of `pair` ends it.
typedef crStatus (*crAuditPairFn)(void* ctx, int shape_a, int shape_b);
crStatus cr__audit_near(const crPlan* plan, crArena* arena, const crPose* from, const crPose* to,
                        const double* reach, crAuditPairFn pair, void* ctx);

// Deepest overlap of two shapes at the poses of bodies (nb), by collision, m.
double cr__audit_depth(const crPlan* plan, const crPose* pose, int shape_a, int shape_b);
// Deepest overlap of all near pairs of the bodies marked (nb), at the present poses, m.
double cr__audit_overlap_of(const crStep* step, const bool* bodies);

// How one solve or impact ended, and figures of one solve, enter the certificate: the worst counts.
void cr__audit_outcome(crCertificate* c, crOutcome outcome);
void cr__audit_merge(crCertificate* c, const crAudit* audit, crOutcome outcome);
// The certificate of other contacts of the same step enters likewise; solves are counted once.
void cr__audit_add(crCertificate* c, const crCertificate* other);

#endif
