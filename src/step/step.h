// step.h - functions that the stages of the step call in each other.
#ifndef CAROM_STEP_STEP_H
#define CAROM_STEP_STEP_H

#include "base/argument.h"
#include "base/room.h"
#include "carom/stages.h"
#include "pairs/pairs.h"
#include "relax/packed.h"

// create.c

// True if cr_step_create made the step.
static inline bool cr__step_ready(const crStep* step) { return step != NULL && step->plan != NULL; }
// Stores the present q and v as those at the beginning of the step.
void cr__step_keep_start(const crModel* model, crTasks* tasks, const crState* state, crStepStart* start);
// Does the work of cr_step_begin, but islands that lie stay lying.
crStatus cr__step_open(crStep* step, crError* error);

// settings.c

// True if the contact solve gives the same result as the rule for an impact without restitution. *reads_et:
// true if this also needs e_t = 0.
bool cr__step_solves_alike(const crStepSettings* settings, bool* reads_et);

// events.c

crStatus cr__step_memory(crError* error);  // Sets the error's text; returns CR_ERR_MEMORY.
// Event of a contact with its impulse; the energy change is zero.
crEvent cr__step_event_of(double time, const crStepContact* contact);
// Adds an event. CR_ERR_MEMORY.
crStatus cr__step_event_put(const crAllocator* allocator, const crEvent* event, crStepEvents* events);
// Reports that `what` of a body is NaN or infinite; returns CR_ERR_FINITE.
crStatus cr__step_lost(const crModel* model, int body, const char* what, double value, crError* error);

// bodies.c

// True if a body sleeps or lies: the step computes nothing for it.
static inline bool cr__step_idle(const crStep* step, int body) {
    return step->rest.sleep[body].island != 0 ||
           (step->rest.lying.count > 0 && step->rest.lying.island[body] != 0);
}
static inline crPart cr__step_part(const crStep* step) {
    return (crPart){step->part.bodies, step->part.count};
}
// A stage for some bodies of a part. It reads and writes no body outside them, so threads run it at the
// same time. ctx: what it reads and writes besides the dynamics.
typedef crStatus (*crPartFn)(const crModel* model, crPart part, crDynamics* d, void* ctx);
crStatus cr__step_by_bodies(crStep* step, crPart part, crPartFn stage, void* ctx);
// Computes the twists of the part's bodies by v. CR_ERR_MEMORY.
crStatus cr__step_velocity(crStep* step, double* v);
// Twist of a body and velocity of a world point of it, by v, which may differ from the state's v.
crTwist cr__step_twist(const crStep* step, const double* v, int body);
crVec3 cr__step_point_velocity(const crStep* step, const double* v, int body, crVec3 point);
// Acceleration of a body in the air; zero for a supported body, m/s^2.
crVec3 cr__step_fall(const crStep* step, int body);

// parts.c

// Lists all bodies and loops that neither sleep nor lie in `awake`, and returns it as the part.
crStepPart cr__step_list_awake(const crStep* step, crStepPart* awake);
// Parts in working memory, which lasts until the next call: the groups of the given bodies, or the awake
// bodies for which in[] is `value`.
crStepPart cr__step_part_groups(const crStep* step, const int* bodies, int count);
crStepPart cr__step_part_of(const crStep* step, const bool* in, bool value);
// Sets work.mark of the part's bodies to `value`.
void cr__step_mark_part(const crStep* step, int value);
// Removes the bodies for which out[] is true, and their loops, from `awake` until the next
// cr__step_list_awake; returns the rest as the part.
crStepPart cr__step_leave_out(const crModel* model, const bool* out, crStepPart* awake);

// margins.c

// Sets the margin of each body of the part: its travel in h by v and v_free, and a reserve. CR_ERR_FINITE.
crStatus cr__step_margins(crStep* step, double h, crError* error);
// Margin of a body at v = 0 with known v_free, m.
double cr__step_margin(const crStep* step, double h, int body);
// Part of a body's margin that comes from its own speed, m.
double cr__step_travel(const crStep* step, int body);
// Speed of a body's fastest point by v, m/s.
double cr__step_speed(const crStep* step, const double* v, int body);

// rest.c

// True if the world can come to rest for good: nothing drives it.
bool cr__step_may_rest(const crStep* step);
// Makes a step of a world that was still in the last step and stays still: advances time, and measures
// overlap if the settings ask for it.
crStatus cr__step_stay(crStep* step, double h, crError* error);
// True if some body is so slow that its island may come to rest or lie.
bool cr__step_nears_rest(const crStep* step);
// Finds the islands that the step left unchanged up to rounding; they are at rest. islands: root of every
// body (nb). moved: true for bodies that short steps moved (nb), NULL: none. hit: true for bodies with an
// impact (nb). Bodies of `hit` are not at rest. CR_ERR_MEMORY.
crStatus cr__step_rest(crStep* step, double h, const int* islands, const bool* moved, const bool* hit);
// Speed below which an island of several bodies is at rest, if its contacts take away the speed `held`, m/s.
double cr__step_rest_speed(const crStep* step, double held);

// contacts.c

// Finds the contacts of the part within the margins. cross: true to include contacts with bodies outside the
// part, at their poses at now_at. CR_ERR_MEMORY, CR_ERR_LIMIT.
crStatus cr__step_collide_part(crStep* step, bool cross, crError* error);
// Contacts that were found at the same time; those of pairs without a fresh body hold.
typedef struct crStepKnown {
    const crStepContact* contacts;  // (count)
    int count;
    const bool* fresh;  // true for bodies that changed since then (nb)
} crStepKnown;
// Does the same, but copies contacts that hold from `known`; NULL: all are found anew.
crStatus cr__step_collide_known(crStep* step, bool cross, const crStepKnown* known, crError* error);
// Sets one margin for all bodies.
void cr__step_flat_margins(crPairs* pairs, double margin);
// Sets `contacts` to those of one pair at now_at.
crStatus cr__step_collide_pair(const crStep* step, int pair, crArena* arena, crStepContacts* contacts,
                               crError* error);

// contact.c

// Columns n, t1, t2 of a contact; t1 follows the axis of anisotropic friction if the surface has one.
crMat3 cr__step_frame(const crStep* step, const crStepContact* contact);
// Sets the coefficients of a contact, which may depend on the impact, for the relative velocity u of b's
// point.
crStatus cr__step_surface_at(const crStep* step, crStepContact* contact, crVec3 u);
// Number of rows of a contact in a problem; number of rows of its point (normal and tangents), which come
// first.
int cr__step_contact_rows(const crStepContact* contact);
int cr__step_point_rows(const crStepContact* contact);
// Impulse on b of a contact whose rows have the impulses p.
crVec3 cr__step_row_impulse(const crStep* step, const crStepContact* contact, const double* p);
// Writes the impulse of a force on b over h to the rows of the contact's point in p.
void cr__step_set_row_impulse(const crStep* step, const crStepContact* contact, crVec3 force, double h,
                              double* p);
// Velocity of b's point relative to a's by v.
crVec3 cr__step_contact_velocity(const crStep* step, const double* v, const crStepContact* contact);
// The same by the twists of d.
static inline crVec3 cr__step_relative_velocity(const crDynamics* d, const crStepContact* contact) {
    crVec3 x = contact->point.point;
    return cr_sub(cr__point_velocity(d, contact->body_b, x), cr__point_velocity(d, contact->body_a, x));
}
// Velocity of b's point relative to a's due to driven bodies.
crVec3 cr__step_given_velocity(const crStep* step, const crStepContact* contact);
// True if a contact that is open or separating will touch again faster than its `fast`: an impact.
bool cr__step_meets_fast(const crStep* step, const crStepContact* contact);
// The body of a contact that v moves; b if v moves both.
static inline int cr__step_mover(const crStep* step, int body_a, int body_b) {
    return cr__moves(step->model, body_b) ? body_b : body_a;
}

// True if a contact has a positive normal impulse.
static inline bool cr__step_presses(const crStepContact* contact) {
    return cr_dot(contact->impulse, contact->point.normal) > 0.0;
}

// Sets a packed contact from a contact, with E and P zero. Single assignments are faster than a compound
// literal, which is cleared first.
static inline void cr__step_packed_from(const crStepContact* contact, crPackedContact* to) {
    to->body_a = contact->body_a;
    to->body_b = contact->body_b;
    to->shape_a = contact->shape_a;
    to->shape_b = contact->shape_b;
    to->mu = contact->surface->surface.mu;
    to->point = contact->point.point;
    to->normal = contact->point.normal;
    to->E = to->P = cr_vec3(0, 0, 0);
    to->w = 0.0;
}

// True if the pair of contact a sorts before that of b.
static inline bool cr__step_pair_first(const crStepContact* a, const crStepContact* b) {
    if (a->shape_a != b->shape_a) return a->shape_a < b->shape_a;
    return a->shape_b < b->shape_b;
}

// Contacts of one pair are consecutive and form a run. These functions return: true if two contacts are of
// one pair; the end of the run of contact i; the beginning of the first run at i or later.
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

// Entry of a contact's force with the key by which the next step finds it.
static inline crWarm cr__warm_of(const crStepContact* c, crVec3 force) {
    const crStepPoint* p = &c->point;
    return (crWarm){c->shape_a, c->shape_b, p->child_a, p->child_b, p->feature_a, p->feature_b, force};
}
// Order of two forces by shapes, children and features, the order of contacts: negative, 0 or positive
// (kept.c).
int cr__warm_order(const crWarm* a, const crWarm* b);
// Makes room for `more` forces (kept.c). CR_ERR_MEMORY.
crStatus cr__warm_reserve(const crAllocator* allocator, crStepWarm* warm, int more);
// True if a force belongs to a contact.
static inline bool cr__warm_is_of(const crWarm* w, const crStepContact* c) {
    const crStepPoint* p = &c->point;
    return w->shape_a == c->shape_a && w->shape_b == c->shape_b && w->child_a == p->child_a &&
           w->child_b == p->child_b && w->feature_a == p->feature_a && w->feature_b == p->feature_b;
}
// Force of a contact in the last solve, NULL if it carried none. Calls for contacts in ascending order share
// a cursor, which begins at 0 or at cr__step_warm_from of the first one.
const crWarm* cr__step_warm_next(const crStep* step, const crStepContact* contact, int* cursor);
int cr__step_warm_from(const crStep* step, const crStepContact* contact);
// Force of a contact in the last solve, NULL if it carried none.
const crWarm* cr__step_warm(const crStep* step, const crStepContact* contact);
// True if a contact carried load in the last solve. Calls in ascending order share a cursor, negative at
// first.
bool cr__step_pressed(const crStep* step, const crStepContact* contact, int* cursor);
// Gap up to which a contact counts as touching, m: the deadband, or a wider band if it carried load in the
// last solve.
double cr__step_band(const crStep* step, const crStepContact* contact, int* cursor);
// Sets the seats of all contacts before a solve (seats.c).
void cr__step_seats(const crStep* step, crStepContacts* contacts);
// Adds the events of contacts that begin, and replaces the part's old forces by those of its contacts, in order.
// CR_ERR_MEMORY.
crStatus cr__step_keep(crStep* step);
// Swaps the forces of the step's beginning with the current ones (kept.c).
void cr__step_swap_forces(crStepWarm* warm);

// problem.c

// Adds a contact as a block of a problem, with cr__step_contact_rows rows.
crStatus cr__step_add_contact(const crStep* step, crStepContact* contact, int index, crRows* rows,
                              crBlock* block, double (*vertices)[2], int* vertex_count);
// Upper bounds of rows, entries and vertices for contacts with takes[i] set (NULL: all), loops and joints.
void cr__step_row_sizes(const crPlan* plan, const crStepContacts* contacts, const bool* takes, int* rows,
                        int* entries, int* vertices);
// Poses the problem over `rows` with W = H H^T and u_free by v. `problem` has blocks, vertices and the number
// of columns, nv, already; a caller with fewer columns than velocities numbers those of H afterwards.
crStatus cr__step_pose_problem(const crStep* step, crArena* arena, const crRows* rows, const double* v,
                               crRows* H, crProblem* problem);

// Writes rows, blocks and bias of the problem without W.
crStatus cr__step_write_rows(crStep* step, double h, const bool* takes, crError* error);
// Does the work of cr_step_problem_build. again: true to start from the impulses of an earlier solve of this
// step.
crStatus cr__step_pose(crStep* step, double h, const bool* takes, bool again, crError* error);

// solve.c

// Inertias of the bodies for the packed solver, with memory from the arena.
static inline crInertias cr__step_inertias(const crStep* step, crArena* arena) {
    return (crInertias){step->model, &step->dynamics, arena, step->own.tasks};
}
// Adds J^T P of packed contacts to momentum (nv).
void cr__step_add_momentum(const crModel* model, const crDynamics* d, int count,
                           const crPackedContact* contact, double* momentum);
// Sets state.v = v_free + dv and the impulses of contacts from packed contacts (index[i]: place in
// step->contacts) and from the problem if it has rows. CR_ERR_MEMORY.
crStatus cr__step_apply(crStep* step, int count, const int* index, const crPackedContact* contact,
                        double* dv);

// contact_solve.c

// Solves all contacts that may press over h and sets state.v. plastic: true to include contacts that close
// fast. Islands that the solve leaves at rest lie down; roots: island of every body by contacts within the
// margins (nb), NULL: none may lie. CR_ERR_MEMORY.
crStatus cr__step_contact_solve(crStep* step, double h, bool plastic, const int* roots, crError* error);

// position.c

// Contacts and the poses of the bodies when they were found.
typedef struct crPositionList {
    const crStepContact* contacts;  // (count)
    int count;
    crVec3* com;     // (nb)
    crQuat* q;       // (nb)
    double* margin;  // travel of each body up to which the list is complete, m (nb)
} crPositionList;
crStatus cr__step_position_list(const crStep* step, crArena* arena, crPositionList* list);
// Corrects positions. start: contacts found at the beginning of the step, valid for bodies without an impact
// (hit NULL: all) that stayed within their margins; NULL: found anew. apart: bodies that stay fixed (nb);
// NULL: none. coarse: overlap allowed after the pass, share of the narrower body's width; 0: the deadband.
// With `start`, step->contacts are as before unless bodies may sleep.
crStatus cr__step_position_pass(crStep* step, const crPositionList* start, const bool* hit, const bool* apart,
                                double coarse, crError* error);

// trees.c

crStatus cr__step_trees_create(const crPlan* plan, crArena* store, crStepFree* free, crStepAudited* audited);
// True if a body belongs to a tree that trees.c moves.
bool cr__step_bends(const crPlan* plan, int body);
// True if a motor acts on a velocity of the tree.
bool cr__step_has_motor(const crModel* model, crPart tree);
// Adds the velocity terms of trees to v_free, after the forces.
void cr__step_trees_bend(const crStep* step, double h, crStepFree* free);
// Moves q and v of the part's trees over h. CR_ERR_MEMORY, CR_ERR_DEFINITE.
crStatus cr__step_trees_move(const crStep* step, double h, crArena* arena, crState* state, crDynamics* d);
// Moves trees that are closed by loops and touch nothing again over h, from the beginning of the step, to
// second order. CR_ERR_MEMORY.
crStatus cr__step_mechanisms(crStep* step, double h, crError* error);

// ties.c

crStatus cr__step_ties_create(const crModel* model, crArena* store, crStepTies* ties);
// These functions note which rows of the problem belong to a loop or joint.
void cr__step_tie_loop(int* of_row, int loop, int row, int count);
void cr__step_tie_joint(const crModel* model, const crStepTies* ties, const crRows* rows,
                        const crJointRow* info);
// Motor force along velocity j in the last solve.
double cr__step_motor_force(const crModel* model, const crStepTies* ties, int j);
// Keeps the forces of the part's loops and joints from step->posed.p in `ties`, the step's.
void cr__step_keep_ties(const crStep* step, crStepTies* ties);

// sleep.c

// Wakes the island of a body if it sleeps.
crStatus cr__step_wake(const crStep* step, int body, crStepEvents* events, crError* error);
// These functions wake islands with a changed seal, and islands in contact with an awake or driven body;
// *woke: true if an island woke. CR_ERR_MEMORY.
crStatus cr__step_wake_written(crStep* step, crError* error);
crStatus cr__step_wake_touched(const crStep* step, bool* woke, crStepEvents* events, crError* error);
// Puts islands to sleep that have been slow for settings.sleep_time. islands: forest of the beginning of the
// step (nb). CR_ERR_MEMORY.
crStatus cr__step_fall_asleep(crStep* step, double h, int* islands, crError* error);

// record.c

// Adds copies of contacts with load to the record; show_record makes the record the step's contacts.
// CR_ERR_MEMORY.
crStatus cr__step_record(const crStepContacts* contacts, const crAllocator* allocator, crStepRecord* record,
                         crError* error);
void cr__step_show_record(const crStepRecord* record, crStepContacts* contacts);

// struck.c, touch.c

// Replaces the events of struck clusters, in which a contact begins faster than the threshold, by events of
// all their contacts with load. Called after apply. CR_ERR_MEMORY.
crStatus cr__step_log_struck(const crStep* step, const double* v_after, crArena* arena, crStepEvents* events,
                             crError* error);
// Sets the normal and speed of an impact between features without a common normal: the direction of least
// separation just before. Returns true if they changed; the features are then CR_FEATURE_CENTRE.
bool cr__step_touch_normal(const crStep* step, crStepContact* contact);

#endif
