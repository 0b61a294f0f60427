// trees_along.c - J v of a move in which trees fly, in closed form: the flight of trees_flight.c along a change.
//
// A solve M_h x = r changes by dx = M_h^-1 (dr - dM_h x): forces of inverse dynamics at fixed x along the change (inverse_along.c),
// and the factor that stood when the flight was recorded. Of a tree that floats, with r its centre of mass from the reference
// point, I about it and R = (omega, -omega x r) held, dI omega is the change of the angular momentum of R about the centre.
// Fails: CR_ERR_MEMORY, CR_ERR_DEFINITE.
#include <string.h>

#include "model/actuate.h"
#include "wrt/inverse_along.h"
#include "wrt/trees.h"

typedef struct Flight {
    crTape* tape;
    const crDynamics* own;  // of the tape
    const crTapeOp* op;
    const crTapeTree* now;
    crPart tree;
    double h;
    const double* df;  // change of the applied forces; NULL: none
    crAlong at;
    // changes (nv)
    double *q, *v, *kick, *a0, *v1, *v2, *a1, *v3;
    double *x, *dM;  // work
    double T, within, tau, last_tau, spent;
    crVec3 P, L, centre;  // of the beginning, the last of the centre of mass
} Flight;

// h (df - springs and dampers of joints and actuators) along dq, velocities of dampers and those of the springs in M_h
static void add_springs(const Flight* f, const double* dq, const double* dv, const double* dv_R,
                        double* out) {
    const crModel* model = f->tape->model;
    const crDynamics* d = &f->tape->eval.dynamics;
    double h = f->h;
    for (int n = 0; n < f->tree.count; n++) {
        const crBody* body = &model->bodies[f->tree.bodies[n]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            const crDof* dof = cr_model_dof(model, i);
            double sum =
                (f->df != NULL ? f->df[i] : 0.0) - dof->damping * dv[i] - h * dof->stiffness * dv_R[i];
            if (body->nq == body->nv) sum -= dof->stiffness * dq[i];
            bool limited = model->nu > 0 && !isnan(d->limit[i]);
            for (int t = limited ? -1 : model->velocity.actuator[i]; t >= 0; t = cr__term_next(model, t)) {
                const crActuator* a = &model->actuators[cr__term_actuator(t)];
                const crActuation* x = &d->actuation[cr__term_actuator(t)];
                double pull = 0.0;
                for (int k = 0; k < a->dof_count; k++) {
                    int j = a->dof[k];
                    const crBody* other = &model->bodies[model->velocity.body[j]];
                    double by = x->damping * dv[j] + h * fmax(0.0, x->stiffness) * dv_R[j];
                    if (other->nq == other->nv) by += x->stiffness * dq[j];
                    pull += a->gear[k] * by;
                }
                sum -= a->gear[t % CR_ACTUATOR_JOINTS] * pull;
            }
            out[i] += h * sum;
        }
    }
}

static void solve_tree(const Flight* f, double* x) {
    cr__part_mass_solve(f->tape->model, f->tree, &f->tape->eval.dynamics, x);
}

// change of the kick K: M_h K = h (k - h R v_R)
static void kick_along(Flight* f, const double* K, const double* dv, const double* dv_R, double* out) {
    const crModel* model = f->tape->model;
    cr__set_tree(model, f->tree, 1.0 / f->h, K, f->x);
    cr__set_tree(model, f->tree, 0.0, K, out);
    cr__along_forces(&f->at, NULL, NULL, f->x, true, -f->h, out);
    add_springs(f, f->at.dq, dv, dv_R, out);
    solve_tree(f, out);
}

// change of a: M_h a = c(v); dM becomes M_h da
static void turn_along(Flight* f, const double* a, const double* v, const double* dv, double* out) {
    const crModel* model = f->tape->model;
    cr__set_tree(model, f->tree, -1.0, a, f->x);
    cr__set_tree(model, f->tree, 0.0, a, out);
    cr__along_forces(&f->at, v, dv, f->x, false, 1.0, out);
    cr__set_tree(model, f->tree, 1.0, out, f->dM);
    solve_tree(f, out);
}

// Motion of a tree as one rigid body, and how it changes with P, L and the tree.
typedef struct Locked {
    crTapeRigid is;
    crVec3 omega, v;
    double T;
} Locked;

static crTwist held(const crTapeRigid* x) { return cr__twist(x->omega, cr_neg(cr_cross(x->omega, x->r))); }

// dr: of the centre of mass from the reference point; fixed: of the momentum of held(x)
static void lock_along(Locked* l, crVec3 dP, crVec3 dL, crVec3 dr, crTwist fixed) {
    const crTapeRigid* x = &l->is;
    crVec3 dI = cr_sub(fixed.omega, cr_cross(x->r, fixed.v));
    l->omega = cr_vec3(0, 0, 0);
    cr_sym3_solve(x->I, cr_sub(dL, dI), &l->omega);
    l->v = cr_sub(cr_sub(cr_scale(1.0 / x->m, dP), cr_cross(l->omega, x->r)), cr_cross(x->omega, dr));
    l->T = cr_dot(dL, x->omega) - 0.5 * cr_dot(x->omega, dI) + cr_dot(x->P, dP) / x->m;
}

static crVec3 angular_along(const crTapeRigid* x, const crAlongSums* s) {
    crVec3 dr = cr_scale(1.0 / x->m, s->centre);
    return cr_sub(cr_sub(s->momentum.omega, cr_cross(dr, x->P)), cr_cross(x->r, s->momentum.v));
}

// what the tree keeps: T, and momenta where it floats
static void begin_along(Flight* f, const double* v, const double* dv, double* y) {
    bool floats = f->now->floats;
    crTapeRigid first = {0};
    crTwist locked[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
    if (floats) first = cr__trees_rigid_by(f->tape, f->tree, v, y);
    crAlongSums s = cr__along_sums(&f->at, v, dv, floats ? locked : NULL);
    f->T = f->within = s.T;
    if (!floats) return;
    f->P = s.momentum.v;
    f->L = angular_along(&first, &s);
    f->centre = cr_scale(1.0 / first.m, s.centre);
    f->within -= cr_dot(first.P, f->P) / first.m;
}

// dv4 into f->v
static void settle_along(Flight* f, const crTapeFlight* p, double* y) {
    const crModel* model = f->tape->model;
    const crTapeTree* now = f->now;
    int root = f->tree.bodies[0], at = model->bodies[root].v;
    Locked own = {.is = cr__trees_rigid_by(f->tape, f->tree, p->v3, y)};
    Locked l = {.is = cr__trees_rigid_of(&f->tape->eval.dynamics, root, now->P, now->L)};
    const crTwist locked[2] = {held(&own.is), held(&l.is)};
    crAlongSums s = cr__along_sums(&f->at, p->v3, f->v3, locked);
    crVec3 dr = cr_sub(cr_scale(1.0 / own.is.m, s.centre), cr__load_vec(f->at.dq + at));
    lock_along(&own, s.momentum.v, angular_along(&own.is, &s), dr, s.locked[0]);
    lock_along(&l, f->P, f->L, dr, s.locked[1]);
    double ds = 0.0;
    if (p->inner > 0.0) ds = 0.5 * p->s * ((f->T - l.T) / (now->T - l.is.T) - (s.T - own.T) / p->inner);
    cr__set_tree(model, f->tree, p->s, f->v3, f->v);
    cr__add_tree(model, f->tree, ds, p->v3, f->v);
    crVec3 v = cr_sub(l.v, cr_madd(cr_scale(p->s, own.v), ds, own.is.v));
    crVec3 omega = cr_sub(l.omega, cr_madd(cr_scale(p->s, own.omega), ds, own.is.omega));
    cr__store_vec(cr_add(cr__load_vec(f->v + at), v), f->v + at);
    cr__store_vec(cr_add(cr__load_vec(f->v + at + 3), omega), f->v + at + 3);
}

static void scale_along(Flight* f, const crTapeFlight* p) {
    const crModel* model = f->tape->model;
    bool moves = f->now->T > 0.0 && p->T_next > 0.0;
    double ds = 0.0;
    if (moves) {
        crAlongSums s = cr__along_sums(&f->at, p->v3, f->v3, NULL);
        ds = 0.5 * p->s * (f->T / f->now->T - s.T / p->T_next);
    }
    cr__set_tree(model, f->tree, p->s, f->v3, f->v);
    cr__add_tree(model, f->tree, ds, p->v3, f->v);
}

// change of the length of a part; dM is M_h da0
static void span_along(Flight* f, const crTapeFlight* p, double* y) {
    const crModel* model = f->tape->model;
    if (p->span == SPAN_DOUBLE) f->tau = 2.0 * f->last_tau;
    if (p->span == SPAN_REST) f->tau = -f->spent;
    if (p->span == SPAN_TURN) {
        cr__trees_mass_mul(model, f->tree, f->at.d, f->h, p->a0, y);
        double bends = cr__part_dot(model, f->tree, p->a0, y);
        double change = 2.0 * cr__part_dot(model, f->tree, p->a0, f->dM);
        change += 2.0 * cr__along_sums(&f->at, p->a0, NULL, NULL).T;
        f->tau = 0.5 * p->tau * (f->within / f->now->within - change / bends);
    }
    f->last_tau = f->tau;
    f->spent += f->tau;
}

// dq after joints moved by h v, both changed
static void advance_along(const crModel* model, crPart tree, double h, double dh, const double* v,
                          const double* dv, double* q) {
    for (int n = 0; n < tree.count; n++) {
        const crBody* body = &model->bodies[tree.bodies[n]];
        int turn = body->joint == CR_JOINT_FREE ? 3 : body->joint == CR_JOINT_BALL ? 0 : body->nv;
        for (int i = body->v; i < body->v + turn; i++) {
            q[i] += h * dv[i] + dh * v[i];
        }
        if (turn == body->nv) continue;
        double M[36], was[3];
        int at = body->v + turn;
        memcpy(was, q + at, sizeof was);
        cr__tape_turn(cr_scale(h, cr__load_vec(v + at)), h, M);
        for (int i = 0; i < 3; i++) {
            q[at + i] = dh * v[at + i];
            for (int j = 0; j < 3; j++) {
                q[at + i] += M[6 * i + j] * was[j] + M[6 * i + 3 + j] * dv[at + j];
            }
        }
    }
}

// one part: dq and dv at its beginning become those at its end
static crStatus part_along(Flight* f, int index, const crTapeFlight* p, double* y) {
    const crModel* model = f->tape->model;
    crPart tree = f->tree;
    turn_along(f, p->a0, p->v, f->v, f->a0);
    span_along(f, p, y);
    cr__set_tree(model, tree, 1.0, f->v, f->v2);
    cr__add_tree(model, tree, -0.5 * p->tau, f->a0, f->v2);
    cr__add_tree(model, tree, -0.5 * f->tau, p->a0, f->v2);
    cr__set_tree(model, tree, 1.0, p->v, f->v1);
    cr__add_tree(model, tree, -0.5 * p->tau, p->a0, f->v1);
    advance_along(model, tree, p->tau, f->tau, f->v1, f->v2, f->q);
    cr__add_tree(model, tree, -0.5 * p->tau, f->a0, f->v2);
    cr__add_tree(model, tree, -0.5 * f->tau, p->a0, f->v2);
    const double* next = index + 1 < f->now->count ? f->now->parts[index + 1].q : f->op->trees->q_next;
    crStatus status = cr__trees_visit(f->tape, f->op, tree, f->own, index + 1, next);
    if (status != CR_OK) return status;
    cr__along_look(&f->at);
    turn_along(f, p->a1, p->v2, f->v2, f->a1);
    cr__set_tree(model, tree, 0.5, f->v2, f->v3);
    cr__add_tree(model, tree, 0.5, f->v, f->v3);
    cr__add_tree(model, tree, -0.5 * p->tau, f->a1, f->v3);
    cr__add_tree(model, tree, -0.5 * f->tau, p->a1, f->v3);
    if (f->now->floats) {
        settle_along(f, p, y);
    } else {
        scale_along(f, p);
    }
    return CR_OK;
}

static crStatus fly_along(Flight* f, double* out_q, double* out_v, double* y) {
    const crModel* model = f->tape->model;
    const crTapeTrees* t = f->op->trees;
    crPart tree = f->tree;
    crStatus status = cr__trees_visit(f->tape, f->op, tree, f->own, 0, f->op->q);
    if (status != CR_OK) return status;
    cr__along_look(&f->at);
    kick_along(f, t->kick, f->v, f->v, f->kick);
    cr__add_tree(model, tree, 0.5, f->kick, f->v);
    begin_along(f, f->now->parts[0].v, f->v, y);
    for (int p = 0; p < f->now->count && status == CR_OK; p++) {
        status = part_along(f, p, &f->now->parts[p], y);
    }
    if (status != CR_OK) return status;
    kick_along(f, t->kick_next, f->v2, f->v, f->kick);
    cr__set_tree(model, tree, 1.0, f->v, out_v);
    cr__add_tree(model, tree, 0.5, f->kick, out_v);
    if (f->now->floats) {
        // its centre of mass goes straight
        int root = tree.bodies[0], at = model->bodies[root].v;
        crTwist none[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
        double m = f->tape->eval.dynamics.scratch.composite[root].m;
        crVec3 centre = cr_scale(1.0 / m, cr__along_sums(&f->at, f->v, NULL, none).centre);
        crVec3 shift = cr_sub(cr_madd(f->centre, f->h / m, f->P), centre);
        cr__store_vec(cr_add(cr__load_vec(f->q + at), shift), f->q + at);
    }
    cr__set_tree(model, tree, 1.0, f->q, out_q);
    return CR_OK;
}

bool cr__tape_trees_fly(const crTape* tape, const crTapeOp* op) {
    if (op->trees == NULL) return false;
    for (int k = 0; k < op->part.count; k++) {
        int b = op->part.bodies[k];
        if (cr__moves(tape->model, b) && op->trees->tree[tape->model->bodies[b].root].way != WAY_FLIES)
            return false;
    }
    return true;
}

crStatus cr__tape_trees_along(crTape* tape, const crTapeOp* op, const double* x, const double* df,
                              double* out) {
    const crModel* model = tape->model;
    size_t nv = (size_t)model->nv, nb = (size_t)model->nb, mark = cr_arena_mark(&tape->memory);
    double* m = cr_arena_alloc(&tape->memory, 11 * (nv + 1) * sizeof *m);
    crTwist* w = cr_arena_alloc(&tape->memory, (nv + (CR_ALONG_WORK + 1) * nb + 1) * sizeof *w);
    if (m == NULL || w == NULL) return CR_ERR_MEMORY;
    crDynamics own = tape->eval.dynamics;
    if (model->nu > 0) cr_model_actuate(model, &tape->start, &own);
    crStatus status = CR_OK;
    for (int k = 0; k < op->part.count && status == CR_OK; k++) {
        int root = op->part.bodies[k];
        Flight f = {.tape = tape, .own = &own, .op = op, .now = &op->trees->tree[root]};
        f.tree = cr__tree_at(tape, root);
        if (f.tree.count == 0) continue;
        double** const each[] = {&f.q, &f.v, &f.kick, &f.a0, &f.v1, &f.v2, &f.a1, &f.v3, &f.x, &f.dM};
        for (int i = 0; i < 10; i++) {
            *each[i] = m + (size_t)i * (nv + 1);
        }
        f.h = cr__move_time(tape, op);
        f.df = df;
        f.at = (crAlong){model, &tape->eval.dynamics, f.tree, f.q, w, w + nb, w + nb + nv};
        cr__set_tree(model, f.tree, 1.0, x, f.q);
        cr__set_tree(model, f.tree, 1.0, x + nv, f.v);
        status = fly_along(&f, out, out + nv, m + 10 * (nv + 1));
        tape->eval.dynamics = own;
    }
    cr_arena_release(&tape->memory, mark);
    return status;
}
