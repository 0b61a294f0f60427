// tape.h - what happened in a step, as a list of operations that can be differentiated one by one.
//
// An operation is a move of some bodies over a time (forces, contact solve, motion) or an impact at an instant. Instants
// are numbered: 0 is the beginning of the step, 1 its end, others are impacts, whose time is where the gap of the contact
// that triggered it is zero. Operations stand in the order in which they were made; bodies outside an operation are not
// touched by it.
#ifndef CAROM_WRT_TAPE_H
#define CAROM_WRT_TAPE_H

#include "carom/modes.h"
#include "carom/stages.h"
#include "carom/wrt.h"

// A contact and how its point and normal change: geometry.c of this folder.
typedef struct crTapeContact {
    crStepContact at;
    crVec3 point[6];   // by shifts of b against a along x, y, z, and by turns about them at the point
    crVec3 normal[6];  // likewise
    bool open;         // the gap is in its bias
    // of moves of single bodies
    int row, rows;   // rows of velocities of the point
    int spin, roll;  // first row of spin and of rolling, -1 where there is none
    crMat3 F;        // columns n, t1, t2
    crVec3 P, T;     // impulse and moment on b
} crTapeContact;

// A single body in a move: what closed forms of its derivatives need.
typedef struct crTapeBody {
    int v;  // first velocity; -1: v does not move it
    double mass;
    crSym3 inverse;  // of its inertia, world axes
    crVec3 com;
    crVec3 gain;      // of omega by forces and impulses
    crVec3 L;         // moment that gave it
    double turn[36];  // orientation and omega after the motion by those before it
} crTapeBody;

typedef struct crTapeTrees crTapeTrees;

typedef struct crTapeOp {
    bool impact;
    int begin, end;   // instants
    crStepPart part;  // bodies; no loops
    bool* airborne;   // (part.count)
    double *q, *v;    // before (nq, nv)
    int contact_count;
    crTapeContact* contacts;
    int rows;
    double* p;       // impulses (rows)
    double* gap;     // of rows of limits, before (rows)
    bool closes;     // a row that presses has a gap in its bias: changes of position are velocities, over h
    crRows motions;  // 12 rows a contact: shift and turn of a at the point, of b against a
    crProblem problem;          // as posed again; W dense
    crModes modes;              // of a move with rows
    crRuleModes rule;           // of an impact
    double* Y;                  // M^-1 J^T by columns (rows*nv)
    double* S;                  // velocities with impulses, before the motion (nv)
    crTapeBody* bodies;         // by body, where all of the part are single; else NULL (nb)
    struct crTapeTrees* trees;  // of a move with others in closed form; else NULL
    double* by_begin;           // change of the state after the move (2 nv) by its instants
    double* by_end;
} crTapeOp;

typedef struct crTapeTime {
    double t;     // since the beginning of the step, s
    int op;       // impact that defines it, -1: it is fixed
    int contact;  // of that impact: its trigger
    double rate;  // of its gap before the impact, m/s
} crTapeTime;

#define CR_TAPE_EDGE 1e-9  // m, rad: gap of a joint that is at its limit

// A position pass at the end: dq -= Y (N Y)^-1 N dq, N the normals of its contacts; at most CR_TAPE_PASS of them.
#define CR_TAPE_PASS  256
#define CR_TAPE_NODES 24  // crTapeTrees.nodes of one record
typedef struct crTapePass {
    int rows;
    crRows normals;
    double* Y;   // M^-1 N^T by columns (rows*nv)
    double* LU;  // N M^-1 N^T (rows*rows)
    int* order;  // (2*rows)
    int rank;
} crTapePass;

typedef struct crTape {
    crStep eval;     // stages that evaluate operations
    crStep other;    // changes places with eval, so that both sides of a difference stand
    crArena memory;  // of one record
    crWorld* world;  // whose steps are recorded
    crModel* model;  // of both; masses of its bodies are changed while an operation is evaluated
    crState start;   // of the step
    double dt;
    bool edge;        // a joint presses against its limit and is right at it: two sides
    int side;         // which of them J v takes: -1 for a falling, 1 for a rising number, 0: gaps are kept
    bool known;       // the operations make the step
    const char* why;  // else the first reason
    int count, capacity;
    crTapeOp* ops;
    int time_count, time_capacity;
    crTapeTime* times;
    int* clock;  // instant of each body while recording (nb)
    crTapePass pass;
    int nodes_left;  // crTapeTrees.nodes that may still be made, each of the size of the model
    crWrtVerdict verdict;
} crTape;

// What an operation is changed by; NULL: nothing.
typedef struct crTapeChange {
    const double* x;  // state before (2 nv)
    const double* f;  // applied forces (nv)
    double begin, end;
    const crWrtParam* param;  // one of the parameters, by 1
} crTapeChange;

// record.c: a step of the world from `from`, and its operations. CR_ERR_MEMORY, what the step says.
crStatus cr__tape_create(crTape* tape, crWorld* world, crModel* model, crError* error);
void cr__tape_destroy(crTape* tape);
crStatus cr__tape_record(crTape* tape, const crState* from, crError* error);
// Whether the two materials of a parameter meet in one of the operations, faster than `speed`.
bool cr__tape_meet(const crTape* tape, const crWrtParam* param, double speed);
// Something that no operation describes.
static inline void cr__tape_unknown(crTape* tape, const char* why) {
    if (tape->known) tape->why = why;
    tape->known = false;
}

// geometry.c: derivatives of points and normals of contacts at the poses of eval, pair by pair; false: features are not found
// again.
bool cr__tape_geometry(const crStep* eval, crTapeContact* contacts, int count);

// single.c: moves of single bodies in closed form

// Whether they have one; then op->bodies is made from the move as eval evaluated it. CR_ERR_MEMORY.
crStatus cr__tape_single_prepare(crTape* tape, crTapeOp* op);
// Change after the move (2 nv) by a change of the state before it and of forces (either may be NULL), of the part, and of
// friction (its mu, mu_spin and mu_roll).
void cr__tape_single_apply(crTape* tape, const crTapeOp* op, const double* x, const double* f,
                           crProblemChange friction, double* work, double* out);
// And the transpose: by the state before it (2 nv) and by_force add up.
void cr__tape_single_back(crTape* tape, const crTapeOp* op, const double* by, double* work, double* before,
                          double* by_force);
size_t cr__tape_single_work(const crTape* tape, const crTapeOp* op);
// Orientation and omega after a turn of phi = h omega by those before it (36).
void cr__tape_turn(crVec3 phi, double h, double* turn);
// The same of a single body over a move.
void cr__tape_single_turn(crTape* tape, const crTapeOp* op, int body, crTapeBody* b, double h);
// Rows, frames and impulses of the contacts of a move as eval poses it.
void cr__tape_impulses(crTape* tape, crTapeOp* op);
// by_w of a contact's point as a vector of the world; and of its moments.
crVec3 cr__tape_by_w(const crTapeContact* c, const double* by_w);
crVec3 cr__tape_by_moments(const crTapeContact* c, const double* by_w);
// What a contact's point (X) and the turn of its frame (psi) get, and its gap, passed on to its bodies.
void cr__tape_contact_back(crTape* tape, const crTapeOp* op, int index, double h, crVec3 X, crVec3 psi,
                           const double* by_w, double* before);

// trees.c: moves with trees and planar bodies, backwards

// Where they have a form op->trees is made: begin while eval has the move's problem, end with the state after it. CR_ERR_MEMORY.
crStatus cr__tape_trees_begin(crTape* tape, crTapeOp* op);
crStatus cr__tape_trees_end(crTape* tape, crTapeOp* op, const double* q, const double* v);
// As cr__tape_single_back. CR_ERR_MEMORY, CR_ERR_DEFINITE.
crStatus cr__tape_trees_back(crTape* tape, const crTapeOp* op, const double* by, double* before,
                             double* by_force);

// trees_along.c: whether all that a move moves are trees that fly; and its change (2 nv) by a change x of the state before it
// and df of the forces (or NULL). CR_ERR_MEMORY, CR_ERR_DEFINITE.
bool cr__tape_trees_fly(const crTape* tape, const crTapeOp* op);
crStatus cr__tape_trees_along(crTape* tape, const crTapeOp* op, const double* x, const double* df,
                              double* out);

// evaluate.c

// State before an operation, changed by t times a change, in eval; contacts and rows, and velocities at fixed impulses.
typedef struct crTapeSide {
    double* q;  // after a move, before its impulses changed (nq)
    double* S;  // v_free + M^-1 J^T p; of an impact v + M^-1 J^T p (nv)
    double* w;  // contact velocities with the bias; of an impact those before it (rows)
    double* W;  // of an impact (rows*rows)
    double* e;  // of an impact: coefficients that depend on it, e, et and mu (3 * contacts)
    double h;
} crTapeSide;
crStatus cr__tape_side(crTape* tape, const crTapeOp* op, const crTapeChange* change, double t,
                       crTapeSide* side, crError* error);
// State after a move whose velocities are side->S + t dv (dv may be NULL), in q and v. fresh: this side was the last to be
// evaluated.
crStatus cr__tape_move(crTape* tape, const crTapeOp* op, const crTapeChange* change, double t,
                       const crTapeSide* side, bool fresh, const double* dv, double* q, double* v,
                       crError* error);
// eval and other change places.
void cr__tape_swap(crTape* tape);
size_t cr__tape_side_size(const crTape* tape, const crTapeOp* op);
void cr__tape_side_at(const crTape* tape, const crTapeOp* op, double* memory, crTapeSide* side);

// prepare.c: the operations are made again, with all that their derivatives need; known is false where they do not
// make the step. CR_ERR_MEMORY.
crStatus cr__tape_prepare(crTape* tape, crError* error);

// linear.c: J v along the tape: d is the change before (2 nv), f of the forces, param one parameter; out (2 nv).
crStatus cr__tape_apply(crTape* tape, const double* d, const double* f, const crWrtParam* param, double* out,
                        crError* error);
// Change after an operation by one before it, bodies of the operation only (2 nv).
crStatus cr__tape_apply_op(crTape* tape, crTapeOp* op, const crTapeChange* change, double* out,
                           crError* error);
// Change of the time of an instant whose impact begins at x (2 nv), at fixed time; and the transpose: x += by times it.
double cr__tape_time_change(const crTape* tape, const crTapeTime* time, const double* x);
void cr__tape_time_back(const crTape* tape, const crTapeTime* time, double by, double* x);
void cr__tape_pass_apply(const crTape* tape, double* dq);
void cr__tape_pass_back(const crTape* tape, double* dq);

#endif
