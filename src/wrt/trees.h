// trees.h - what the files on moves with trees share.
#ifndef CAROM_WRT_TREES_H
#define CAROM_WRT_TREES_H

#include "step/step.h"
#include "wrt/inverse.h"
#include "wrt/tape.h"

typedef enum crTapeWay { WAY_PLAIN, WAY_STRAIGHT, WAY_SCALED, WAY_FLIES } crTapeWay;

// A tree in the move, by its root.
typedef struct crTapeTree {
    crTapeWay way;
    double s, T, want, T_next;
    // of a flight
    bool floats;  // it keeps momentum P and angular momentum L about its centre of mass
    crVec3 P, L;
    double within;  // T beyond the motion of the centre of mass, which says how long a part may be
    int count;
    struct crTapeFlight* parts;  // (count)
} crTapeTree;

// A part of a flight, see model/flow.c: v to v4 over tau.
typedef enum crTapeSpan { SPAN_REST, SPAN_TURN, SPAN_DOUBLE } crTapeSpan;
typedef struct crTapeFlight {
    double tau;
    crTapeSpan span;                    // tau is what is left, by how much v turns, or twice the part before
    double s, T_next, inner;            // inner: T of v3 beyond the motion as one rigid body
    double *q, *v, *a0, *v2, *a1, *v3;  // (nq), (nv); v of the next part is v4
} crTapeFlight;

// The motion of a tree as one rigid body, see model/flow.c.
typedef struct crTapeRigid {
    double m, T;
    crVec3 r, P, L, omega, v;  // r: centre of mass from the reference point, at which v is
    crSym3 I;                  // about it
} crTapeRigid;

struct crTapeTrees {
    crTapeTree* tree;                   // (nb)
    double *S0, *u;                     // (nv)
    double *kick, *kick_next, *v_last;  // of flights: K of both ends, v before the last kick (nv)
    double *work, *other;               // (nv)
    double* q_next;                     // (nq)
    int node_count;
    crDynamics*
        nodes;  // kinematics and factor at the beginnings of parts, and at the end of the last; trees share them (node_count)
    crRows J;
    crTapeBody* singles;  // turn of single bodies (nb)
};

typedef struct crTreesBack {
    crTape* tape;
    const crTapeOp* op;
    crDynamics* d;
    double h;
    double *before, *before_v, *by_force;  // what is asked for
    double *by_S, *by_next, *by_w, *by_p;
    double *by_vs, *by_a0, *by_v2, *by_v3, *by_v4;  // of flights
    double* by_T;                                   // of trees, by root (nb)
    double *x, *y, *z, *rigid;
    crVec3 *by_PL, *by_shift;  // momenta and shift of trees that float, by root (2 nb, nb)
    crTwist *twists, *outer, *on_y;
} crTreesBack;

// A solve M_h x = h (k - h R v), with forces, or M_h x = c; z is M_h^-1 by_x. a is x/h, or -x, plus what M_h gets otherwise; v: velocities
// of c, NULL for none.
typedef struct crTreesSolve {
    crPart part;
    const double *z, *a, *v;
    bool forces;
    const crTwist *outer, *on_y;
    const double* y;
    double *q, *by_v, *by_k, *by_R;  // where it adds to: by q, v of c, v of dampers, v of R
} crTreesSolve;

static inline crPart cr__tree_at(const crTape* tape, int b) { return cr__plan_tree(tape->eval.plan, b); }

// to += s x over a part
static inline void cr__add_tree(const crModel* model, crPart part, double s, const double* x, double* to) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[part.bodies[k]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            to[i] += s * x[i];
        }
    }
}

static inline void cr__set_tree(const crModel* model, crPart part, double s, const double* x, double* to) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[part.bodies[k]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            to[i] = s * x[i];
        }
    }
}

static inline double cr__move_time(const crTape* tape, const crTapeOp* op) {
    return tape->times[op->end].t - tape->times[op->begin].t;
}

// trees.c

// kinematics and factor of the part at q
crStatus cr__trees_look(crTape* tape, const crTapeOp* op, const double* q);
void cr__trees_mass_mul(const crModel* model, crPart part, const crDynamics* d, double h, const double* x,
                        double* y);
double cr__trees_energy_of(const crTape* tape, crPart tree, const double* v, double* y);  // y becomes M v
crTapeRigid cr__trees_rigid_of(const crDynamics* d, int root, crVec3 P, crVec3 L);
// of velocities v; y becomes M v
crTapeRigid cr__trees_rigid_by(const crTape* tape, crPart tree, const double* v, double* y);

// trees_solve.c

void cr__trees_solve(const crTreesBack* b, const crTreesSolve* s);
// by v and q of T(q, v) = v.M v/2, times g
void cr__trees_energy(const crTreesBack* b, crPart tree, double g, const double* v, double* by_v, double* q);
// z = M_h^-1 x
void cr__trees_solve_z(const crTreesBack* b, crPart tree, double g, const double* x);
// by the centre of mass less the reference point: the first is moved by the momentum over m
void cr__trees_centre(crTreesBack* b, crPart tree, double m, crVec3 by_r, bool less, double* q);
// the momenta of v, by v and q
void cr__trees_momenta(crTreesBack* b, crPart tree, const crTapeRigid* x, crVec3 by_P, crVec3 by_L,
                       const double* v, double* by_v, double* q);
// v4 of a tree that keeps its momentum: by_v3, and P, L and T of the beginning add up
void cr__trees_settle(crTreesBack* b, crPart tree, const crTapeTree* now, const crTapeFlight* f,
                      const double* by_v4, double* by_v3);

// trees_flight.c

// The flight of a tree from op->q and op->v; false where it has no form or does not end in v. CR_ERR_MEMORY in status.
bool cr__trees_fly(crTape* tape, crTapeOp* op, crPart tree, const double* v, crStatus* status);
// Kinematics and factor of a tree where part `index` of its flight begins, q, in tape->eval.dynamics: as recorded or made again in
// `own`. CR_ERR_DEFINITE.
crStatus cr__trees_visit(crTape* tape, const crTapeOp* op, crPart tree, const crDynamics* own, int index,
                         const double* q);
// What its state gets from what the state after it gets, into before.
crStatus cr__trees_fly_back(crTreesBack* b, crPart tree, const double* by_q, const double* by_v);

// trees_back.c

// q + h v of a tree's joints: by_next passes on to q and v
void cr__trees_advance(const crTreesBack* b, crPart tree, double h, const double* v, double* by_v);
// x and y agree to rounding
bool cr__trees_agree(const crTape* tape, crPart tree, const double* x, const double* y);

#endif
