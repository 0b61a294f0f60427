// step.h - what the stages share among themselves.
#ifndef CAROM_STEP_STEP_H
#define CAROM_STEP_STEP_H

#include "base/argument.h"
#include "carom/stages.h"
#include "model/spatial.h"

// Whether cr_step_create made it.
static inline bool cr__step_ready(const crStep* step) { return step != NULL && step->cache != NULL; }

// Room for `needed` entries of an array that outlives the step; `used` of them are kept.
crStatus cr__step_grow(const crAllocator* a, void** array, int* capacity, int used, int needed, size_t size);
crStatus cr__step_memory(crError* error);  // CR_ERR_MEMORY with its text
// CR_ERR_FINITE: a body's position or velocity became a value that is none.
crStatus cr__step_lost(const crStep* step, int body, const char* what, double value, crError* error);

// Contacts of two shapes at given poses, by outlines where both bodies move in one plane; at most capacity,
// and how many there are in *needed.
int cr__step_pair(const crStep* step, int shape_a, int shape_b, crPose pose_a, crPose pose_b, double margin,
                  crContactPoint* points, int capacity, int* needed);
// Acceleration of a body in the air, zero where something carries it, m/s^2.
crVec3 cr__step_fall(const crStep* step, int body);
// The normal and speed of a contact that is about to be an impact, where its features meet without one normal:
// the direction of least separation just before. Returns whether it changed; the features then say CR_FEATURE_CENTRE.
bool cr__step_touch_normal(const crStep* step, crStepContact* contact);
// After apply: where contacts begin faster than the threshold, events for all that press in one with them.
crStatus cr__step_log_struck(crStep* step, const double* v_after, crError* error);
// Copies the contacts that press, with their impulses, for the end of the step; and puts them there. CR_ERR_MEMORY.
crStatus cr__step_record(crStep* step, crError* error);
void cr__step_show_record(crStep* step);
// The force of the same contact in the last solve, NULL where it did not press; going through contacts in
// their order, from cursor 0 or from where the first of them stands.
const crWarm* cr__step_warm_next(const crStep* step, const crStepContact* contact, int* cursor);
int cr__step_warm_from(const crStep* step, const crStepContact* contact);
// The force of the same contact in the last solve, NULL where it did not press.
const crWarm* cr__step_warm(const crStep* step, const crStepContact* contact);
// q, v and forces become what the step began with.
void cr__step_keep_start(crStep* step);
// Forces that the step began with, and those that took their place, change places.
void cr__step_swap_forces(crStep* step);
// Gap up to which a contact touches: the deadband, and a little more where it pressed in the last solve, m.
double cr__step_band(const crStep* step, const crStepContact* contact, int* cursor);
// Columns n, t1, t2 of a contact at the poses it was found at; t1 along what the friction has as its axis.
crMat3 cr__step_frame(const crStep* step, const crStepContact* contact);
// Velocity of b's point against a's that driven bodies give.
crVec3 cr__step_given_velocity(const crStep* step, const crStepContact* contact);
// Of the two bodies of a contact the one that v moves; b where it moves both.
static inline int cr__step_mover(const crStep* step, int body_a, int body_b) {
    return cr__moves(step->model, body_b) ? body_b : body_a;
}
// What the deadband of a contact of two bodies is a share of: the smaller one that moves, m.
double cr__step_pair_size(const crStep* step, int body_a, int body_b);

// Rows of a contact as a block of a problem; planned with the same counts.
int cr__step_contact_rows(const crStepContact* contact);
crStatus cr__step_add_contact(crStep* step, crStepContact* contact, int index, crRows* rows, crBlock* block,
                              double (*vertices)[2], int* vertex_count);
// Most rows and entries of the contacts for which takes[i] is set (NULL: all), loops and joints.
void cr__step_row_sizes(const crStep* step, const bool* takes, int* rows, int* entries, int* vertices);
// The problem over `rows` with W = H H^T.
crStatus cr__step_pose_problem(crStep* step, crRows* rows, crBlock* blocks, int block_count,
                               const double (*vertices)[2], const double* v, crRows* H, crProblem* problem);

// cr_step_problem_build; again: from the impulses of a solve before in this step.
crStatus cr__step_pose(crStep* step, double h, const bool* takes, bool again, crError* error);

// Whether a contact that is open, or leaving, will touch at more than its `fast`: an impact, not of a solve.
bool cr__step_meets_fast(const crStep* step, const crStepContact* contact);
// state.v over h under every contact that may press; plastic: those that close fast as well.
crStatus cr__step_contact_solve(crStep* step, double h, bool plastic, crError* error);

// Contacts as found, and where bodies were then.
typedef struct crPositionList {
    const crStepContact* contacts;  // (count)
    int count;
    crVec3* com;     // (nb)
    crQuat* q;       // (nb)
    double* margin;  // how far each body may go without meeting what is not among the contacts, m (nb)
} crPositionList;
crStatus cr__step_position_list(crStep* step, crPositionList* list);
// The position pass. start: contacts found at the beginning of the step, which hold for bodies that no impact
// hit (hit NULL: all of them) and that stayed within their margins; NULL: found anew.
// apart: bodies that it leaves alone (nb); NULL: none.
crStatus cr__step_position_pass(crStep* step, const crPositionList* start, const bool* hit, const bool* apart,
                                crError* error);

#endif
