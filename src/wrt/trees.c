// trees.c - a move that has trees in it: what its derivative backwards needs.
//
// With R the springs that M_h holds, the stages of a move (step/smooth.c, step/trees.c) are
//     M_h (S0 - v) = h (k - h R v)          S = S0 + M_h^-1 J^T p          w = J S + b, p by its modes
//     carried:  q+ = q + h S,  v+ = s S,  s^2 = (T(q, S) + h c (v + S)/2)/T(q+, S), with h c.S as u.M S, u = h M_h^-1 c
//     flying:   v_s = v + K(q)/2,  a = M_h^-1 c(q, v_s),  q+ = q + h (v_s - h a/2),  a' = M_h^-1 c(q+, v_s - h a)
//               v3 = v_s - h (a + a')/2,  v4 = v3 sqrt(T(q, v_s)/T(q+, v3)),  v+ = v4 + K(q+)/2
// with K the kick of forces without velocity terms. Backwards each solve M_h x = r gets z = M_h^-1 by_x, and r and M_h are
// inverse dynamics of z (inverse.c). The forward figures are made again when the step is recorded, and must be those of the step.
// Fails: CR_ERR_MEMORY. No form: drag, forces of the user's, driven bases, springs and limits of balls, contacts with an axis,
// velocity terms that trees.c of the step limits or that are much of T, a flight in more than a few parts, a tree so drawn in that its momentum takes all of T.
#include "wrt/trees.h"

#include <string.h>

#include "model/actuate.h"

#define AGREE 1e-10  // of the speeds: figures made again are those of the step
#define HALF  0.25   // own over all from which on velocity terms are limited, see step/trees.c
#define SMALL 0.5    // of T: energy of the velocity terms that is taken as it is, see there

static bool joint_has_form(const crModel* model, const crBody* body) {
    if (body->linear_drag != 0.0 || body->angular_drag != 0.0 || body->base != CR_WORLD) return false;
    if (body->joint != CR_JOINT_BALL) return true;
    const crDof* dof = cr_model_dof(model, body->v);
    return dof[0].stiffness == 0.0 && dof[1].stiffness == 0.0 && dof[2].stiffness == 0.0 &&
           !(dof[0].upper < INFINITY);
}

static bool trees_have_form(const crTape* tape, const crTapeOp* op) {
    const crModel* model = tape->model;
    if (tape->eval.calls.force != NULL || op->impact) return false;
    for (int k = 0; k < op->part.count; k++) {
        int b = op->part.bodies[k];
        const crBody* body = &model->bodies[b];
        if (!cr__moves(model, b)) continue;
        bool known = body->single || cr__step_bends(tape->eval.plan, b) || body->nq == body->nv;
        if (!joint_has_form(model, body) || !known) return false;
    }
    for (int i = 0; i < op->contact_count; i++) {
        if (op->contacts[i].at.surface->axis_of >= 0) return false;
    }
    return true;
}

static bool copy_rows(crTape* tape, const crRows* from, crRows* to) {
    if (cr_rows_create(&tape->memory, from->count + 1, from->entries + 1, to) != CR_OK) return false;
    memcpy(to->start, from->start, (size_t)(from->count + 1) * sizeof *to->start);
    memcpy(to->col, from->col, (size_t)from->entries * sizeof *to->col);
    memcpy(to->value, from->value, (size_t)from->entries * sizeof *to->value);
    to->count = from->count;
    to->entries = from->entries;
    return true;
}

void cr__trees_mass_mul(const crModel* model, crPart part, const crDynamics* d, double h, const double* x,
                        double* y) {
    cr__part_mass_mul(model, part, d, x, y);
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[part.bodies[k]];
        for (int i = body->v; i < body->v + body->nv && !body->single; i++) {
            y[i] += cr__dof_slope(model, d, h, i) * x[i];
        }
    }
}

crStatus cr__tape_trees_begin(crTape* tape, crTapeOp* op) {
    const crModel* model = tape->model;
    const crStepFree* f = &tape->eval.free;
    size_t nv = (size_t)model->nv + 1, nb = (size_t)model->nb;
    if (!trees_have_form(tape, op)) return CR_OK;
    crTapeTrees* t = cr_arena_alloc(&tape->memory, sizeof *t);
    double* m = cr_arena_alloc(&tape->memory, (7 * nv + (size_t)model->nq + 1) * sizeof *m);
    crTapeTree* tree = cr_arena_alloc(&tape->memory, nb * sizeof *tree);
    if (t == NULL || m == NULL || tree == NULL) return CR_ERR_MEMORY;
    memset(m, 0, (7 * nv + (size_t)model->nq + 1) * sizeof *m);
    memset(tree, 0, nb * sizeof *tree);
    *t = (crTapeTrees){.tree = tree};
    double** const all[] = {&t->S0, &t->u, &t->kick, &t->kick_next, &t->v_last, &t->work, &t->other};
    for (int i = 0; i < 7; i++) {
        *all[i] = m + (size_t)i * nv;
    }
    t->q_next = m + 7 * nv;
    if (op->rows > 0 && !copy_rows(tape, &tape->eval.posed.rows, &t->J)) return CR_ERR_MEMORY;
    cr__tape_impulses(tape, op);
    cr__set_tree(model, (crPart){op->part.bodies, op->part.count}, 1.0, f->v, t->S0);
    for (int k = 0; k < op->part.count; k++) {
        crPart own = cr__tree_at(tape, op->part.bodies[k]);
        if (own.count == 0) continue;
        double h = cr__move_time(tape, op), *e = t->work, *y = t->other;
        crTapeTree* now = &tree[op->part.bodies[k]];
        now->way = f->tree_gain[op->part.bodies[k]] > 0.0 ? WAY_SCALED : WAY_STRAIGHT;
        cr__set_tree(model, own, 1.0, f->bend, t->u);
        if (now->way == WAY_STRAIGHT) continue;
        cr__set_tree(model, own, 1.0, f->v, e);
        cr__add_tree(model, own, 1.0, t->u, e);
        cr__trees_mass_mul(model, own, &tape->eval.dynamics, h, t->u, y);
        double own_size = cr__part_dot(model, own, t->u, y);
        now->want = 0.5 * cr__part_dot(model, own, op->v, y);
        cr__trees_mass_mul(model, own, &tape->eval.dynamics, h, e, y);
        if (own_size > HALF * (1.0 - 1e-6) * cr__part_dot(model, own, e, y)) return CR_OK;
    }
    op->trees = t;
    return CR_OK;
}

// kinematics and factor of the part at q
crStatus cr__trees_look(crTape* tape, const crTapeOp* op, const double* q) {
    crStep* eval = &tape->eval;
    const crModel* model = tape->model;
    crPart part = {op->part.bodies, op->part.count};
    for (int k = 0; k < op->part.count; k++) {
        const crBody* body = &model->bodies[op->part.bodies[k]];
        memcpy(eval->state.q + body->q, q + body->q, (size_t)body->nq * sizeof *q);
    }
    eval->part = op->part;
    cr__part_kinematics(model, part, &eval->state, &eval->dynamics);
    return cr__part_mass_factor(model, part, cr__move_time(tape, op), &eval->dynamics);
}

double cr__trees_energy_of(const crTape* tape, crPart tree, const double* v, double* y) {
    return cr__tree_energy(tape->model, tree, &tape->eval.dynamics, v, y);
}

crTapeRigid cr__trees_rigid_of(const crDynamics* d, int root, crVec3 P, crVec3 L) {
    const crInertia* c = &d->scratch.composite[root];
    crTapeRigid x = {.m = c->m, .r = cr_scale(1.0 / c->m, c->h), .P = P, .L = L, .omega = cr_vec3(0, 0, 0)};
    x.I = cr_sym3_add(c->I, cr__point_inertia(-c->m, x.r));
    cr_sym3_solve(x.I, L, &x.omega);
    x.v = cr_sub(cr_scale(1.0 / x.m, P), cr_cross(x.omega, x.r));
    x.T = 0.5 * (cr_dot(L, x.omega) + cr_dot(P, P) / x.m);
    return x;
}

// of velocities v; y becomes M v
crTapeRigid cr__trees_rigid_by(const crTape* tape, crPart tree, const double* v, double* y) {
    const crDynamics* d = &tape->eval.dynamics;
    int root = tree.bodies[0], at = tape->model->bodies[root].v;
    const crInertia* c = &d->scratch.composite[root];
    cr__part_mass_mul(tape->model, tree, d, v, y);
    crVec3 P = cr__load_vec(y + at);
    return cr__trees_rigid_of(d, root, P,
                              cr_sub(cr__load_vec(y + at + 3), cr_cross(cr_scale(1.0 / c->m, c->h), P)));
}

static bool tree_flies(const crTape* tape, const crTapeOp* op, crPart tree) {
    const crModel* model = tape->model;
    bool free = true;
    for (int n = 0; n < tree.count && free; n++) {
        const crBody* body = &model->bodies[tree.bodies[n]];
        for (int k = 0; k < op->part.count; k++) {
            if (op->part.bodies[k] == tree.bodies[n]) free = free && op->airborne[k];
        }
        for (int i = body->v; i < body->v + body->nv && free; i++) {
            free = op->S[i] == op->trees->S0[i];
        }
    }
    return free;
}

bool cr__trees_agree(const crTape* tape, crPart tree, const double* x, const double* y) {
    const crModel* model = tape->model;
    double most = 0.0, off = 0.0;
    for (int n = 0; n < tree.count; n++) {
        const crBody* body = &model->bodies[tree.bodies[n]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            most = fmax(most, fabs(x[i]));
            off = fmax(off, fabs(x[i] - y[i]));
        }
    }
    return off <= AGREE * (most + 1e-6);
}

// turns of single bodies over the move
static bool trees_singles(crTape* tape, crTapeOp* op) {
    const crModel* model = tape->model;
    crTapeTrees* t = op->trees;
    t->singles = cr_arena_alloc(&tape->memory, (size_t)model->nb * sizeof *t->singles);
    for (int k = 0; k < op->part.count && t->singles != NULL; k++) {
        int b = op->part.bodies[k];
        if (!model->bodies[b].single) continue;
        t->singles[b] = (crTapeBody){.v = model->bodies[b].v};
        cr__tape_single_turn(tape, op, b, &t->singles[b], cr__move_time(tape, op));
    }
    return t->singles != NULL;
}

crStatus cr__tape_trees_end(crTape* tape, crTapeOp* op, const double* q, const double* v) {
    const crModel* model = tape->model;
    crTapeTrees* t = op->trees;
    double h = cr__move_time(tape, op);
    if (t == NULL) return CR_OK;
    op->trees = NULL;
    if (cr__trees_look(tape, op, op->q) != CR_OK) return CR_OK;
    memcpy(t->q_next, op->q, (size_t)model->nq * sizeof *q);
    op->trees = t;
    for (int k = 0; k < op->part.count; k++) {
        int root = op->part.bodies[k];
        crPart tree = cr__tree_at(tape, root);
        crTapeTree* now = &t->tree[root];
        if (tree.count == 0) continue;
        if (tree_flies(tape, op, tree)) {
            now->way = WAY_FLIES;
        } else {
            now->T = cr__trees_energy_of(tape, tree, op->S, tape->eval.dynamics.scratch.v);
            double turn = now->want + 0.5 * cr__part_dot(model, tree, t->u, tape->eval.dynamics.scratch.v);
            now->want = now->T + turn;
            if (now->way == WAY_SCALED && !(fabs(turn) < SMALL * now->T)) op->trees = NULL;
            cr__part_advance(model, tree, h, op->S, t->q_next);
        }
    }
    if (op->trees != NULL && cr__trees_look(tape, op, t->q_next) != CR_OK) op->trees = NULL;
    crStatus status = CR_OK;
    for (int k = 0; k < op->part.count && op->trees != NULL; k++) {
        int root = op->part.bodies[k];
        crPart tree = cr__tree_at(tape, root);
        crTapeTree* now = &t->tree[root];
        if (tree.count == 0) continue;
        if (now->way == WAY_FLIES) {
            if (!cr__trees_fly(tape, op, tree, v, &status)) op->trees = NULL;
            if (status != CR_OK) return status;
            continue;
        }
        now->T_next = cr__trees_energy_of(tape, tree, op->S, tape->eval.dynamics.scratch.v);
        now->s = now->way == WAY_SCALED ? sqrt(now->want / now->T_next) : 1.0;
        cr__set_tree(model, tree, now->s, op->S, tape->eval.state.v);
        if (cr__trees_agree(tape, tree, v, tape->eval.state.v)) continue;
        // a motor's speed is not scaled
        now->way = WAY_STRAIGHT;
        now->s = 1.0;
        if (!cr__trees_agree(tape, tree, v, op->S)) op->trees = NULL;
    }
    if (op->trees != NULL) memcpy(t->q_next, q, (size_t)model->nq * sizeof *q);
    if (op->trees != NULL && !trees_singles(tape, op)) return CR_ERR_MEMORY;
    return CR_OK;
}
