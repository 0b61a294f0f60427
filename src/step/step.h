// step.h - what the stages share among themselves.
#ifndef CAROM_STEP_STEP_H
#define CAROM_STEP_STEP_H

#include "base/argument.h"
#include "base/room.h"
#include "carom/stages.h"
#include "pairs/pairs.h"
#include "relax/packed.h"

// create.c

// Whether cr_step_create made it.
static inline bool cr__step_ready(const crStep* step) { return step != NULL && step->plan != NULL; }
// q, v and forces become what the step began with.
void cr__step_keep_start(crStep* step);
// cr_step_begin, but what lies goes on to.
crStatus cr__step_open(crStep* step, crError* error);

// settings.c

// Whether an impact without restitution is what the contact solve does anyway; reads_et: and without et.
bool cr__step_solves_alike(const crStepSettings* settings, bool* reads_et);

// events.c

crStatus cr__step_memory(crError* error);  // CR_ERR_MEMORY with its text
// The event of a contact with its impulse; its energy is unknown.
crEvent cr__step_event_of(double time, const crStepContact* contact);
// CR_ERR_FINITE: a body's position or velocity became a value that is none.
crStatus cr__step_lost(const crModel* model, int body, const char* what, double value, crError* error);

// bodies.c

// Whether a step has nothing to compute for a body, which sleeps or lies.
static inline bool cr__step_idle(const crStep* step, int body) {
    return step->rest.sleep[body].island != 0 ||
           (step->rest.lying.count > 0 && step->rest.lying.island[body] != 0);
}
static inline crPart cr__step_part(const crStep* step) {
    return (crPart){step->part.bodies, step->part.count};
}
// A stage for some bodies of the part, which may not look at any other; it is run by several threads.
typedef crStatus (*crPartFn)(crStep* step, crPart part, crDynamics* d, void* ctx);
crStatus cr__step_by_bodies(crStep* step, crPartFn stage, void* ctx);
// cr__part_velocity of the part.
crStatus cr__step_velocity(crStep* step, double* v);
// Velocity field of a body, and velocity of one of its points in the world, by v, which need not be that of
// the state.
crTwist cr__step_twist(const crStep* step, const double* v, int body);
crVec3 cr__step_point_velocity(const crStep* step, const double* v, int body, crVec3 point);
// Acceleration of a body in the air, zero where something carries it, m/s^2.
crVec3 cr__step_fall(const crStep* step, int body);

// parts.c

// The whole world becomes what is awake.
void cr__step_list_awake(crStep* step);
void cr__step_part_all(crStep* step);
// The part becomes the groups of the bodies given, all bodies that no impact concerned, or the bodies marked.
void cr__step_part_groups(crStep* step, const int* bodies, int count);
void cr__step_part_resting(crStep* step);
void cr__step_part_of(crStep* step, const bool* in);
// Sets work.mark of the part's bodies.
void cr__step_mark_part(const crStep* step, int value);
// The whole world becomes the bodies awake that are not marked; until cr__step_list_awake.
void cr__step_leave_out(crStep* step, const bool* out);

// margins.c

// Margins for what each body can do in h by v and v_free; of the part.
crStatus cr__step_margins(crStep* step, double h, crError* error);
// Margin of a body that stands and that v_free is known of.
double cr__step_margin(const crStep* step, double h, int body);
// The part of a body's margin that its own speed is, m.
double cr__step_travel(const crStep* step, int body);
// Speed of a body's fastest point by v.
double cr__step_speed(const crStep* step, const double* v, int body);

// rest.c

// Whether the world can come to rest for good: nothing drives it.
bool cr__step_may_rest(const crStep* step);
// A step of a world that lay still in the last one, and lies still in this one too: its time, and its overlap where that is due.
crStatus cr__step_stay(crStep* step, double h, crError* error);
// Whether some body is so slow that islands of it may come to rest, or lie.
bool cr__step_nears_rest(const crStep* step);
// At the end of a step: islands that it left as they were but for rounding are at rest. islands: a root for every body;
// moved, NULL: none, and hit: bodies that are not at rest (nb). CR_ERR_MEMORY.
crStatus cr__step_rest(crStep* step, double h, const int* islands, const bool* moved, const bool* hit);
// Speed below which an island of several bodies is at rest whose contacts hold back the speed `held`, m/s.
double cr__step_rest_speed(const crStep* step, double held);

// contacts.c

// Contacts of the part within the margins; cross: and with bodies outside it, where they will be at now_at.
crStatus cr__step_collide_part(crStep* step, bool cross, crError* error);
// The same with cross at the same time, where contacts were found for some of the part: those of bodies that
// are not fresh stand.
crStatus cr__step_collide_fresh(crStep* step, const bool* fresh, const crStepContact* contacts, int count,
                                crError* error);
// Contacts are looked for within one margin for all.
void cr__step_flat_margins(crStep* step, double margin);
// Contacts of one pair, at now_at, in place of what there was.
crStatus cr__step_collide_pair(crStep* step, int pair, crError* error);

// contact.c

// Columns n, t1, t2 of a contact at the poses it was found at; t1 along what the friction has as its axis.
crMat3 cr__step_frame(const crStep* step, const crStepContact* contact);
// Sets the coefficients of a contact, which may depend on the impact, for the velocity u of b's point against a's.
crStatus cr__step_surface_at(const crStep* step, crStepContact* contact, crVec3 u);
// Rows of a contact as a block of a problem; those of its point, normal and tangents, come first.
int cr__step_contact_rows(const crStepContact* contact);
int cr__step_point_rows(const crStepContact* contact);
// Impulse on b of a contact that has rows in a problem with impulses p.
crVec3 cr__step_row_impulse(const crStep* step, const crStepContact* contact, const double* p);
// The reverse, of a force on b over h: rows of its point alone.
void cr__step_set_row_impulse(const crStep* step, const crStepContact* contact, crVec3 force, double h,
                              double* p);
// Velocity of b's point against a's by v.
crVec3 cr__step_contact_velocity(const crStep* step, const double* v, const crStepContact* contact);
// Velocity of b's point against a's that driven bodies give.
crVec3 cr__step_given_velocity(const crStep* step, const crStepContact* contact);
// Whether a contact that is open, or leaving, will touch at more than its `fast`: an impact, not of a solve.
bool cr__step_meets_fast(const crStep* step, const crStepContact* contact);
// Of the two bodies of a contact the one that v moves; b where it moves both.
static inline int cr__step_mover(const crStep* step, int body_a, int body_b) {
    return cr__moves(step->model, body_b) ? body_b : body_a;
}

// Whether a contact has an impulse along its normal.
static inline bool cr__step_presses(const crStepContact* contact) {
    return cr_dot(contact->impulse, contact->point.normal) > 0.0;
}

// Whether the pair of a contact comes before that of another.
static inline bool cr__step_pair_first(const crStepContact* a, const crStepContact* b) {
    if (a->shape_a != b->shape_a) return a->shape_a < b->shape_a;
    return a->shape_b < b->shape_b;
}

// Contacts of a pair stand together: whether two are of one, the end of the run that contact i is in, and the first run that
// begins at i or later; of `count` contacts.
static inline bool cr__step_same_pair(const crStepContact* a, const crStepContact* b) {
    return a->shape_a == b->shape_a && a->shape_b == b->shape_b;
}
static inline int cr__step_run_end(const crStepContact* contacts, int count, int i) {
    int end = i + 1;
    while (end < count && cr__step_same_pair(&contacts[end], &contacts[i])) {
        end++;
    }
    return end;
}
static inline int cr__step_run_begin(const crStepContact* contacts, int count, int i) {
    return i > 0 && i < count && cr__step_same_pair(&contacts[i], &contacts[i - 1])
               ? cr__step_run_end(contacts, count, i)
               : i;
}

// warm.c

// The force of a contact, under which it is found again.
static inline crWarm cr__warm_of(const crStepContact* c, crVec3 force) {
    const crStepPoint* p = &c->point;
    return (crWarm){c->shape_a, c->shape_b, p->child_a, p->child_b, p->feature_a, p->feature_b, force};
}
// Order of two forces by shapes, children and features, as contacts are sorted: negative, 0 or positive (kept.c).
int cr__warm_order(const crWarm* a, const crWarm* b);
// Room for so many more forces (kept.c). CR_ERR_MEMORY.
crStatus cr__warm_reserve(const crAllocator* allocator, crStepWarm* warm, int more);
// True if a force is that of a contact.
static inline bool cr__warm_is_of(const crWarm* w, const crStepContact* c) {
    const crStepPoint* p = &c->point;
    return w->shape_a == c->shape_a && w->shape_b == c->shape_b && w->child_a == p->child_a &&
           w->child_b == p->child_b && w->feature_a == p->feature_a && w->feature_b == p->feature_b;
}
// The force of the same contact in the last solve, NULL where it did not press; going through contacts in
// their order, from cursor 0 or from where the first of them stands.
const crWarm* cr__step_warm_next(const crStep* step, const crStepContact* contact, int* cursor);
int cr__step_warm_from(const crStep* step, const crStepContact* contact);
// The force of the same contact in the last solve, NULL where it did not press.
const crWarm* cr__step_warm(const crStep* step, const crStepContact* contact);
// Whether the same contact pressed in the last solve, going through contacts in their order; cursor negative at the first.
bool cr__step_pressed(const crStep* step, const crStepContact* contact, int* cursor);
// Gap up to which a contact touches: the deadband, and a little more where it pressed in the last solve, m.
double cr__step_band(const crStep* step, const crStepContact* contact, int* cursor);
// Seats of all contacts, before a solve: seats.c.
void cr__step_seats(crStep* step);
// Events of contacts that begin, and the forces to start from next time.
crStatus cr__step_keep(crStep* step, crError* error);
// Forces that the step began with, and those that took their place, change places (kept.c).
void cr__step_swap_forces(crStepWarm* warm);

// problem.c

// A contact as a block of a problem; planned with cr__step_contact_rows.
crStatus cr__step_add_contact(crStep* step, crStepContact* contact, int index, crRows* rows, crBlock* block,
                              double (*vertices)[2], int* vertex_count);
// Most rows and entries of the contacts for which takes[i] is set (NULL: all), loops and joints.
void cr__step_row_sizes(const crPlan* plan, const crStepContacts* contacts, const bool* takes, int* rows,
                        int* entries, int* vertices);
// The problem over `rows` with W = H H^T; of so many columns, which the caller numbers.
crStatus cr__step_pose_problem(crStep* step, crRows* rows, const crBlock* blocks, int block_count,
                               const double (*vertices)[2], const double* v, crRows* H, crProblem* problem);
crStatus cr__step_pose_columns(crStep* step, crRows* rows, const crBlock* blocks, int block_count,
                               const double (*vertices)[2], const double* v, int columns, crRows* H,
                               crProblem* problem);

// Rows, blocks and bias of a problem alone.
crStatus cr__step_write_rows(crStep* step, double h, const bool* takes, crError* error);
// cr_step_problem_build; again: from the impulses of a solve before in this step.
crStatus cr__step_pose(crStep* step, double h, const bool* takes, bool again, crError* error);

// solve.c

// Bodies as the packed solver takes them.
static inline crInertias cr__step_inertias(crStep* step) {
    return (crInertias){step->model, &step->dynamics, &step->scratch, step->own.tasks};
}
// momentum += J^T P (nv).
void cr__step_add_momentum(const crModel* model, const crDynamics* d, int count,
                           const crPackedContact* contact, double* momentum);
// From the impulses of packed contacts (index[i] in step->contacts) and of the problem where it has rows:
// state.v = v_free + dv, and the contacts' impulses. CR_ERR_MEMORY.
crStatus cr__step_apply(crStep* step, int count, const int* index, const crPackedContact* contact,
                        double* dv);

// contact_solve.c

// state.v over h under every contact that may press; plastic: those that close fast as well. Islands that it leaves at rest
// lie down: roots are those of all bodies joined by contacts within the margins (nb); NULL: none may.
crStatus cr__step_contact_solve(crStep* step, double h, bool plastic, const int* roots, crError* error);

// position.c

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
// apart: bodies that it leaves alone, they stand as the ground does (nb); NULL: none. coarse: share of the smaller body's size
// that bodies may overlap by after it; 0: their deadbands.
crStatus cr__step_position_pass(crStep* step, const crPositionList* start, const bool* hit, const bool* apart,
                                double coarse, crError* error);

// trees.c

crStatus cr__step_trees_create(crStep* step);
// Whether a body is of a tree that trees.c moves.
bool cr__step_bends(const crPlan* plan, int body);
// After forces: what velocity terms do to v_free.
void cr__step_trees_bend(crStep* step, double h);
// q and v of the part's trees over h; CR_ERR_MEMORY, CR_ERR_DEFINITE.
crStatus cr__step_trees_move(crStep* step, double h);
// Trees closed by loops that nothing else holds, moved again over h from the beginning of the step, to second order.
crStatus cr__step_mechanisms(crStep* step, double h, crError* error);

// ties.c

crStatus cr__step_ties_create(crStep* step);
// A row of the problem is one of a loop or joint.
void cr__step_tie_loop(crStepTies* ties, int loop, int row, int count);
void cr__step_tie_joint(const crModel* model, crStepTies* ties, const crRows* rows, const crJointRow* info);
// Force of the motor along velocity j in the last solve.
double cr__step_motor_force(const crModel* model, const crStepTies* ties, int j);
// Forces of the part's loops and joints from step->posed.p.
void cr__step_keep_ties(crStep* step);

// sleep.c

// The island of a body wakes, if it sleeps.
crStatus cr__step_wake(crStep* step, int body, crError* error);
// Sleepers whose seal is broken wake; so do those in contact with something that moves.
crStatus cr__step_wake_written(crStep* step, crError* error);
crStatus cr__step_wake_touched(crStep* step, bool* woke, crError* error);
// Islands, as they were at the beginning of the step of length h, that have been slow for long enough.
crStatus cr__step_fall_asleep(crStep* step, double h, int* islands, crError* error);

// record.c

// Copies the contacts that press, with their impulses, for the end of the step; and puts them there. CR_ERR_MEMORY.
crStatus cr__step_record(crStep* step, crError* error);
void cr__step_show_record(crStep* step);

// struck.c, touch.c

// After apply: where contacts begin faster than the threshold, events for all that press in one with them.
crStatus cr__step_log_struck(crStep* step, const double* v_after, crError* error);
// The normal and speed of a contact that is about to be an impact, where its features meet without one normal:
// the direction of least separation just before. Returns whether it changed; the features then say CR_FEATURE_CENTRE.
bool cr__step_touch_normal(const crStep* step, crStepContact* contact);

#endif
