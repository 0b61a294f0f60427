// trees_flight.c - the flight of a tree forwards, as model/flow.c has it, and backwards.
//
// A kick by half of the forces at the beginning, parts of the flow, a kick at the end; trees.c has the equations of one part.
// The length of a part is tau = TURN sqrt(2 within/(a.c)) where v turns much, at most twice that of the part before; the last
// one takes what is left, so by_tau of a part counts less that of the last.
// Fails: CR_ERR_MEMORY, CR_ERR_DEFINITE.
#include <string.h>

#include "model/actuate.h"
#include "wrt/trees.h"

#define TURN 0.05   // see model/flow.c
#define SAME 1e-14  // see there
#define MOST 12     // parts

static crStatus look_tree(crTape* tape, crPart tree, double h, const double* q) {
    crStep* eval = &tape->eval;
    for (int k = 0; k < tree.count; k++) {
        const crBody* body = &tape->model->bodies[tree.bodies[k]];
        memcpy(eval->state.q + body->q, q + body->q, (size_t)body->nq * sizeof *q);
    }
    cr__part_kinematics(tape->model, tree, &eval->state, &eval->dynamics);
    return cr__part_mass_factor(tape->model, tree, h, &eval->dynamics);
}

crStatus cr__trees_visit(crTape* tape, const crTapeOp* op, crPart tree, const crDynamics* own, int index,
                         const double* q) {
    tape->eval.dynamics = *own;
    if (index >= op->trees->node_count) return look_tree(tape, tree, cr__move_time(tape, op), q);
    tape->eval.dynamics = op->trees->nodes[index];
    tape->eval.dynamics.actuation = own->actuation;
    tape->eval.dynamics.limit = own->limit;
    return CR_OK;
}

// The same while the flight is recorded: into a node where there is room for one.
static crStatus visit_first(crTape* tape, crTapeOp* op, crPart tree, const crDynamics* own, int index,
                            const double* q) {
    crTapeTrees* t = op->trees;
    if (t->nodes == NULL) t->nodes = cr_arena_alloc(&tape->memory, (MOST + 1) * sizeof *t->nodes);
    if (t->nodes == NULL) return CR_ERR_MEMORY;
    if (index == t->node_count && tape->nodes_left > 0) {
        crStatus status = cr_dynamics_create(tape->model, &tape->memory, &t->nodes[index]);
        if (status != CR_OK) return status;
        tape->nodes_left--;
        t->node_count++;
    }
    crStatus status = cr__trees_visit(tape, op, tree, own, index, q);
    if (status != CR_OK || index >= t->node_count) return status;
    status = look_tree(tape, tree, cr__move_time(tape, op), q);
    t->nodes[index] = tape->eval.dynamics;
    return status;
}

// K = h M_h^-1 (k + c - h R v), k of velocities v_k and R of v_R, at the kinematics of eval; c of v_k is left in c
static void kick_of(crTape* tape, crPart tree, double h, const double* v_k, const double* v_R, double* c,
                    double* K) {
    crStep* eval = &tape->eval;
    const crModel* model = tape->model;
    cr__set_tree(model, tree, 1.0, v_k, eval->state.v);
    cr__part_forces(model, tree, &eval->state, &eval->dynamics, eval->free.k, c);
    for (int n = 0; n < tree.count; n++) {
        const crBody* body = &model->bodies[tree.bodies[n]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            K[i] = h * (eval->free.k[i] + c[i] - h * cr__dof_spring_rate(model, &eval->dynamics, v_R, i));
        }
    }
    cr__part_mass_solve(model, tree, &eval->dynamics, K);
}

// M_h^-1 c of velocities v
static void turn_of(crTape* tape, crPart tree, const double* v, double* a) {
    crStep* eval = &tape->eval;
    cr__set_tree(tape->model, tree, 1.0, v, eval->state.v);
    cr__part_forces(tape->model, tree, &eval->state, &eval->dynamics, eval->free.k, a);
    cr__part_mass_solve(tape->model, tree, &eval->dynamics, a);
}

// v4 from v3 of a tree that keeps its momentum; false where that needs more than T
static bool settle(const crTape* tape, crPart tree, const crTapeTree* now, crTapeFlight* f, double* v4,
                   double* y) {
    int root = tree.bodies[0], at = tape->model->bodies[root].v;
    crTapeRigid own = cr__trees_rigid_by(tape, tree, f->v3, y),
                l = cr__trees_rigid_of(&tape->eval.dynamics, root, now->P, now->L);
    f->inner = f->T_next - own.T;
    bool inside = f->inner > 1e-12 * now->T && now->T > l.T;
    f->s = inside ? sqrt((now->T - l.T) / f->inner) : 1.0;
    if (!inside) f->inner = 0.0;
    cr__set_tree(tape->model, tree, f->s, f->v3, v4);
    cr__store_vec(cr_add(cr__load_vec(v4 + at), cr_madd(l.v, -f->s, own.v)), v4 + at);
    cr__store_vec(cr_add(cr__load_vec(v4 + at + 3), cr_madd(l.omega, -f->s, own.omega)), v4 + at + 3);
    return now->T - l.T > -1e-12 * now->T;
}

static bool tree_floats(const crModel* model, int root) {
    const crBody* body = &model->bodies[root];
    bool free = body->joint == CR_JOINT_FREE;
    for (int i = body->v; i < body->v + body->nv && free; i++) {
        free = cr_model_dof(model, i)->armature == 0.0;
    }
    return free;
}

static bool take_part(crTape* tape, crTapeFlight* f) {
    size_t nv = (size_t)tape->model->nv + 1, nq = (size_t)tape->model->nq + 1;
    double* m = cr_arena_alloc(&tape->memory, (5 * nv + nq) * sizeof *m);
    if (m == NULL) return false;
    double** const each[] = {&f->v, &f->a0, &f->v2, &f->a1, &f->v3};
    for (int i = 0; i < 5; i++, m += nv) {
        *each[i] = m;
    }
    f->q = m;
    return true;
}

// how long a part may be
static void set_span(const crTape* tape, crPart tree, double h, double left, double limit,
                     const crTapeTree* now, crTapeFlight* f, double* y) {
    cr__trees_mass_mul(tape->model, tree, &tape->eval.dynamics, h, f->a0, y);
    double bends = cr__part_dot(tape->model, tree, f->a0, y);
    f->tau = left;
    f->span = SPAN_REST;
    if (left * left * bends > 2.0 * TURN * TURN * now->within) {
        f->tau = TURN * sqrt(2.0 * now->within / bends);
        f->span = SPAN_TURN;
    }
    if (limit < f->tau) {
        f->tau = limit;
        f->span = SPAN_DOUBLE;
    }
}

// one part from f->q and f->v; v4 and q after it
static bool fly_part(crTape* tape, crTapeOp* op, crPart tree, const crDynamics* own, const crTapeTree* now,
                     crTapeFlight* f, double* q, double* v4, double* y) {
    const crModel* model = tape->model;
    cr__set_tree(model, tree, 1.0, f->v, f->v2);
    cr__add_tree(model, tree, -0.5 * f->tau, f->a0, f->v2);
    cr__part_advance(model, tree, f->tau, f->v2, q);
    cr__add_tree(model, tree, -0.5 * f->tau, f->a0, f->v2);
    if (visit_first(tape, op, tree, own, now->count, q) != CR_OK) return false;
    turn_of(tape, tree, f->v2, f->a1);
    cr__set_tree(model, tree, 0.5, f->v2, f->v3);
    cr__add_tree(model, tree, 0.5, f->v, f->v3);
    cr__add_tree(model, tree, -0.5 * f->tau, f->a1, f->v3);
    f->T_next = cr__trees_energy_of(tape, tree, f->v3, y);
    f->s = now->T > 0.0 && f->T_next > 0.0 ? sqrt(now->T / f->T_next) : 1.0;
    cr__set_tree(model, tree, f->s, f->v3, v4);
    return !now->floats || settle(tape, tree, now, f, v4, y);
}

static bool fly_recorded(crTape* tape, crTapeOp* op, crPart tree, const crDynamics* own, const double* v,
                         crStatus* status) {
    const crModel* model = tape->model;
    crTapeTrees* t = op->trees;
    crTapeTree* now = &t->tree[tree.bodies[0]];
    double h = cr__move_time(tape, op), left = h, limit = h, *q = tape->eval.start.q, *y = t->work;
    now->parts = cr_arena_alloc(&tape->memory, MOST * sizeof *now->parts);
    *status = now->parts != NULL ? CR_OK : CR_ERR_MEMORY;
    if (now->parts == NULL || visit_first(tape, op, tree, own, 0, op->q) != CR_OK) return false;
    memcpy(q, op->q, (size_t)model->nq * sizeof *q);
    kick_of(tape, tree, h, op->v, op->v, t->other, t->kick);
    cr__set_tree(model, tree, 1.0, op->v, t->v_last);
    cr__add_tree(model, tree, 0.5, t->kick, t->v_last);
    now->T = now->within = cr__trees_energy_of(tape, tree, t->v_last, y);
    now->floats = tree_floats(model, tree.bodies[0]);
    if (now->floats) {
        crTapeRigid first = cr__trees_rigid_by(tape, tree, t->v_last, y);
        now->P = first.P;
        now->L = first.L;
        // rounding of T is no motion
        now->within = fmax(SAME * now->T, now->T - 0.5 * cr_dot(first.P, first.P) / first.m);
    }
    while (left > 0.0) {
        if (now->count == MOST) return false;
        crTapeFlight* f = &now->parts[now->count++];
        if (!take_part(tape, f)) *status = CR_ERR_MEMORY;
        if (*status != CR_OK) return false;
        cr__set_tree(model, tree, 1.0, t->v_last, f->v);
        memcpy(f->q, q, (size_t)model->nq * sizeof *q);
        turn_of(tape, tree, f->v, f->a0);
        set_span(tape, tree, h, left, limit, now, f, y);
        if (!fly_part(tape, op, tree, own, now, f, q, t->v_last, y)) return false;
        limit = 2.0 * f->tau;
        left = f->tau < left ? left - f->tau : 0.0;
    }
    kick_of(tape, tree, h, now->parts[now->count - 1].v2, t->v_last, t->other, t->kick_next);
    cr__set_tree(model, tree, 1.0, t->v_last, y);
    cr__add_tree(model, tree, 0.5, t->kick_next, y);
    return cr__trees_agree(tape, tree, v, y);
}

bool cr__trees_fly(crTape* tape, crTapeOp* op, crPart tree, const double* v, crStatus* status) {
    crDynamics own = tape->eval.dynamics;
    bool good = fly_recorded(tape, op, tree, &own, v, status);
    tape->eval.dynamics = own;
    return good;
}

// backwards

// a part at its end: by_v4 to by_v3, by_v2 and by_next; then by v and a0, and by tau
static double part_back_last(crTreesBack* b, crPart tree, const crTapeTree* now, const crTapeFlight* f) {
    const crModel* model = b->tape->model;
    if (now->floats) {
        cr__trees_settle(b, tree, now, f, b->by_v4, b->by_v3);
    } else {
        double sigma = 0.5 * f->s * cr__part_dot(model, tree, b->by_v4, f->v3);
        bool moves = now->T > 0.0 && f->T_next > 0.0;
        cr__set_tree(model, tree, f->s, b->by_v4, b->by_v3);
        b->by_T[tree.bodies[0]] += moves ? sigma / now->T : 0.0;
        if (moves) cr__trees_energy(b, tree, -sigma / f->T_next, f->v3, b->by_v3, b->by_next);
    }
    cr__trees_solve_z(b, tree, -0.5 * f->tau, b->by_v3);
    cr__set_tree(model, tree, -1.0, f->a1, b->y);
    crTreesSolve turn = {.part = tree, .z = b->z, .a = b->y, .v = f->v2, .q = b->by_next, .by_v = b->by_v2};
    cr__trees_solve(b, &turn);
    cr__set_tree(model, tree, 1.0, b->by_v3, b->by_vs);
    cr__add_tree(model, tree, 1.0, b->by_v2, b->by_vs);
    cr__set_tree(model, tree, -0.5 * f->tau, b->by_v3, b->by_a0);
    cr__add_tree(model, tree, -f->tau, b->by_v2, b->by_a0);
    return -0.5 * (cr__part_dot(model, tree, f->a0, b->by_v3) + cr__part_dot(model, tree, f->a1, b->by_v3)) -
           cr__part_dot(model, tree, f->a0, b->by_v2);
}

// the motion of q; returns what it adds to by_tau
static double part_back_motion(crTreesBack* b, crPart tree, const crTapeFlight* f) {
    const crModel* model = b->tape->model;
    double *by_v1 = b->by_v2, *v1 = b->by_v3;
    cr__set_tree(model, tree, 0.0, v1, by_v1);
    cr__set_tree(model, tree, 1.0, f->v, v1);
    cr__add_tree(model, tree, -0.5 * f->tau, f->a0, v1);
    double by_tau = cr__part_dot(model, tree, b->by_next, v1);
    cr__trees_advance(b, tree, f->tau, v1, by_v1);
    cr__add_tree(model, tree, 1.0, by_v1, b->by_vs);
    cr__add_tree(model, tree, -0.5 * f->tau, by_v1, b->by_a0);
    return by_tau - 0.5 * cr__part_dot(model, tree, f->a0, by_v1);
}

// tau of SPAN_TURN by a.c; returns what `within` gets
static double span_back(crTreesBack* b, crPart tree, const crTapeTree* now, const crTapeFlight* f,
                        double by_tau) {
    const crModel* model = b->tape->model;
    cr__trees_mass_mul(model, tree, b->d, b->h, f->a0, b->y);
    double bends = cr__part_dot(model, tree, f->a0, b->y);
    cr__set_tree(model, tree, -by_tau * f->tau / bends, f->a0, b->z);
    cr__set_tree(model, tree, -0.5, f->a0, b->y);
    crTreesSolve s = {.part = tree, .z = b->z, .a = b->y, .v = f->v, .q = b->before, .by_v = b->by_vs};
    cr__trees_solve(b, &s);
    return 0.5 * by_tau * f->tau / now->within;
}

// the kick at the end, and the shift that lets the centre of mass go straight
static void kick_back_last(crTreesBack* b, crPart tree, const crTapeTree* now, const double* by_q,
                           const double* by_v) {
    const crModel* model = b->tape->model;
    int root = tree.bodies[0];
    cr__set_tree(model, tree, 1.0, by_v, b->by_v4);
    cr__set_tree(model, tree, 0.0, by_v, b->by_v2);
    cr__trees_solve_z(b, tree, 0.5, by_v);
    cr__set_tree(model, tree, 1.0 / b->h, b->op->trees->kick_next, b->y);
    crTreesSolve kick = {.part = tree, .z = b->z, .a = b->y, .forces = true, .q = b->by_next};
    kick.by_v = kick.by_k = b->by_v2;
    kick.by_R = b->by_v4;
    cr__trees_solve(b, &kick);
    b->by_T[root] = 0.0;
    b->by_PL[2 * root] = b->by_PL[2 * root + 1] = cr_vec3(0, 0, 0);
    if (!now->floats) return;
    double m = b->d->scratch.composite[root].m;
    crVec3* rho = &b->by_shift[root];
    *rho = cr__load_vec(by_q + model->bodies[root].v);
    cr__trees_centre(b, tree, m, cr_neg(*rho), false, b->by_next);
    b->by_PL[2 * root] = cr_scale(b->h / m, *rho);
}

// T, momenta and the kick at the beginning
static void kick_back_first(crTreesBack* b, crPart tree, const crTapeTree* now, double by_within) {
    const crModel* model = b->tape->model;
    int root = tree.bodies[0];
    const double* v = now->parts[0].v;
    b->by_T[root] += by_within;
    if (b->by_T[root] != 0.0) cr__trees_energy(b, tree, b->by_T[root], v, b->by_vs, b->before);
    if (now->floats) {
        crTapeRigid first = cr__trees_rigid_by(b->tape, tree, v, b->y);
        crVec3 by_P = cr_madd(b->by_PL[2 * root], -by_within / first.m, first.P);
        cr__trees_momenta(b, tree, &first, by_P, b->by_PL[2 * root + 1], v, b->by_vs, b->before);
        cr__trees_centre(b, tree, first.m, b->by_shift[root], false, b->before);
    }
    cr__trees_solve_z(b, tree, 0.5, b->by_vs);
    cr__set_tree(model, tree, 1.0 / b->h, b->op->trees->kick, b->y);
    crTreesSolve kick = {.part = tree, .z = b->z, .a = b->y, .forces = true, .q = b->before};
    kick.by_v = kick.by_k = kick.by_R = b->before_v;
    cr__trees_solve(b, &kick);
    cr__add_tree(model, tree, 1.0, b->by_vs, b->before_v);
}

static crStatus fly_back_with(crTreesBack* b, crPart tree, const crDynamics* own, const double* by_q,
                              const double* by_v) {
    const crModel* model = b->tape->model;
    const crTapeTree* now = &b->op->trees->tree[tree.bodies[0]];
    crStatus status = cr__trees_visit(b->tape, b->op, tree, own, now->count, b->op->trees->q_next);
    double by_last = 0.0, by_within = 0.0, by_double = 0.0;
    if (status == CR_OK) kick_back_last(b, tree, now, by_q, by_v);
    for (int p = now->count - 1; p >= 0 && status == CR_OK; p--) {
        const crTapeFlight* f = &now->parts[p];
        double by_tau = part_back_last(b, tree, now, f);
        status = cr__trees_visit(b->tape, b->op, tree, own, p, f->q);
        if (status != CR_OK) return status;
        by_tau += part_back_motion(b, tree, f) + by_double - by_last;
        by_double = f->span == SPAN_DOUBLE ? 2.0 * by_tau : 0.0;
        if (f->span == SPAN_REST) by_last = by_tau;
        if (f->span == SPAN_TURN) by_within += span_back(b, tree, now, f, by_tau);
        cr__trees_solve_z(b, tree, 1.0, b->by_a0);
        cr__set_tree(model, tree, -1.0, f->a0, b->y);
        crTreesSolve turn = {.part = tree, .z = b->z, .a = b->y, .v = f->v, .q = b->before, .by_v = b->by_vs};
        cr__trees_solve(b, &turn);
        if (p == 0) break;
        cr__set_tree(model, tree, 1.0, b->before, b->by_next);
        cr__set_tree(model, tree, 0.0, b->before, b->before);
        cr__set_tree(model, tree, 1.0, b->by_vs, b->by_v4);
        cr__set_tree(model, tree, 0.0, b->by_vs, b->by_v2);
    }
    if (status == CR_OK) kick_back_first(b, tree, now, by_within);
    return status;
}

crStatus cr__trees_fly_back(crTreesBack* b, crPart tree, const double* by_q, const double* by_v) {
    crDynamics own = b->tape->eval.dynamics;
    crStatus status = fly_back_with(b, tree, &own, by_q, by_v);
    b->tape->eval.dynamics = own;
    return status;
}
