// trees_back.c - v^T J of a move that has trees in it, in closed form: the stages of trees.c backwards.
//
// First what happens at q+, then what happens at q: the motion, rows by the modes, the solve for S.
// Fails: CR_ERR_MEMORY, CR_ERR_DEFINITE.
#include <string.h>

#include "wrt/trees.h"

// q+ = q + h v of joints: by_next passes on to q and v
static void advance_back(const crTreesBack* b, const crBody* body, double h, const double* v, double* by_v) {
    const double* next = b->by_next + body->v;
    double *q = b->before + body->v, *to = by_v + body->v;
    int turn = body->joint == CR_JOINT_FREE ? 3 : body->joint == CR_JOINT_BALL ? 0 : body->nv;
    for (int i = 0; i < turn; i++) {
        q[i] += next[i];
        to[i] += h * next[i];
    }
    if (turn == body->nv) return;
    double M[36];
    cr__tape_turn(cr_scale(h, cr__load_vec(v + body->v + turn)), h, M);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            q[turn + j] += M[6 * i + j] * next[turn + i];
            to[turn + j] += M[6 * i + 3 + j] * next[turn + i];
        }
    }
}

void cr__trees_advance(const crTreesBack* b, crPart tree, double h, const double* v, double* by_v) {
    for (int n = 0; n < tree.count; n++) {
        advance_back(b, &b->tape->model->bodies[tree.bodies[n]], h, v, by_v);
    }
}

// a tree at the end of the move; `by` is what the state after it gets
static void tree_back_last(crTreesBack* b, int root, const double* by_v) {
    const crModel* model = b->tape->model;
    const crTapeTrees* t = b->op->trees;
    const crTapeTree* now = &t->tree[root];
    crPart tree = cr__tree_at(b->tape, root);
    if (now->way == WAY_SCALED) {
        double sigma = 0.5 * now->s * cr__part_dot(model, tree, by_v, b->op->S);
        cr__add_tree(model, tree, now->s, by_v, b->by_S);
        b->by_T[root] = sigma;
        cr__trees_energy(b, tree, -sigma / now->T_next, b->op->S, b->by_S, b->by_next);
    } else if (now->way == WAY_STRAIGHT) {
        cr__add_tree(model, tree, 1.0, by_v, b->by_S);
    }
}

// a tree at the beginning of the move, but for S
static void tree_back_first(crTreesBack* b, int root) {
    const crModel* model = b->tape->model;
    const crTapeTrees* t = b->op->trees;
    const crTapeTree* now = &t->tree[root];
    crPart tree = cr__tree_at(b->tape, root);
    const double* v = b->op->v;
    cr__trees_advance(b, tree, b->h, b->op->S, b->by_S);
    double sigma = b->by_T[root];
    if (now->way != WAY_SCALED || sigma == 0.0) return;
    double g = sigma / now->want, h = b->h;
    cr__trees_energy(b, tree, g, b->op->S, b->by_S, b->before);
    // h c.v/2
    cr__trees_mass_mul(model, tree, b->d, h, t->u, b->y);
    cr__add_tree(model, tree, 0.5 * g, b->y, b->before_v);
    cr__set_tree(model, tree, 0.5 * g * h, v, b->z);
    cr__set_tree(model, tree, 0.0, v, b->rigid);
    crTreesSolve bias = {.part = tree, .z = b->z, .a = b->rigid, .v = v, .q = b->before, .by_v = b->before_v};
    cr__trees_solve(b, &bias);
    // u.M S/2, u by its own solve
    cr__part_mass_mul(model, tree, b->d, t->u, b->y);
    cr__add_tree(model, tree, 0.5 * g, b->y, b->by_S);
    cr__set_tree(model, tree, 0.5 * g, t->u, b->z);
    crTreesSolve both = {.part = tree, .z = b->z, .a = b->op->S, .q = b->before, .by_v = b->by_S};
    cr__trees_solve(b, &both);
    cr__part_mass_mul(model, tree, b->d, b->op->S, b->y);
    cr__trees_solve_z(b, tree, 0.5 * g * h, b->y);
    cr__set_tree(model, tree, -1.0 / h, t->u, b->y);
    crTreesSolve turn = {.part = tree, .z = b->z, .a = b->y, .v = v, .q = b->before, .by_v = b->before_v};
    cr__trees_solve(b, &turn);
}

// field of a body under velocities x, at a point
static crTwist field_of(const crTreesBack* b, const double* x, int body) {
    const crModel* model = b->tape->model;
    crTwist sum = cr__twist(cr_vec3(0, 0, 0), cr_vec3(0, 0, 0));
    for (int j = model->bodies[body].last; j >= 0; j = model->velocity.parent[j]) {
        sum = cr__twist_madd(sum, x[j], cr__dof_axis(b->d, j));
    }
    return sum;
}

// spin of b against a under x, and velocity at the contact's point
static crTwist slip_by(const crTreesBack* b, const double* x, const crTapeContact* c) {
    crTwist sum = cr__twist(cr_vec3(0, 0, 0), cr_vec3(0, 0, 0));
    for (int side = 0; side < 2; side++) {
        int body = side == 0 ? c->at.body_a : c->at.body_b;
        if (!cr__moves(b->tape->model, body)) continue;
        crTwist own = field_of(b, x, body);
        own.v = cr__twist_at(own, cr_sub(c->at.point.point, b->d->origin[body]));
        sum = cr__twist_madd(sum, side == 0 ? -1.0 : 1.0, own);
    }
    return sum;
}

static void add_wrench(const crTreesBack* b, const crTapeContact* c, crVec3 moment, crVec3 force,
                       crTwist* to) {
    for (int side = 0; side < 2; side++) {
        int body = side == 0 ? c->at.body_a : c->at.body_b;
        if (!cr__moves(b->tape->model, body)) continue;
        crVec3 arm = cr_sub(c->at.point.point, b->d->origin[body]);
        crTwist own = cr__twist(cr_add(cr_cross(arm, force), moment), force);
        to[body] = cr__twist_madd(to[body], side == 0 ? -1.0 : 1.0, own);
    }
}

// by_w from by_S, and what rows give back to S; limits by q
static void rows_back(crTreesBack* b) {
    const crTapeOp* op = b->op;
    const crRows* J = &op->trees->J;
    size_t nv = (size_t)b->tape->model->nv;
    for (int i = 0; i < op->rows; i++) {
        b->by_p[i] = 0.0;
        for (size_t j = 0; j < nv; j++) {
            b->by_p[i] += op->Y[(size_t)i * nv + j] * b->by_S[j];
        }
    }
    cr_modes_adjoint(&op->modes, b->by_p, NULL, b->by_w, NULL, NULL, NULL);
    for (int i = 0; i < op->rows; i++) {
        for (int k = J->start[i]; k < J->start[i + 1]; k++) {
            b->by_S[J->col[k]] += J->value[k] * b->by_w[i];
        }
    }
    for (int i = 0; i < op->problem.block_count; i++) {
        const crBlock* block = &op->problem.blocks[i];
        int r = block->row;
        bool limit = block->source < 0 && block->kind == CR_BLOCK_UNILATERAL;
        if (limit && op->gap[r] > CR_TAPE_EDGE)
            b->before[J->col[J->start[r]]] += J->value[J->start[r]] * b->by_w[r] / b->h;
    }
    for (int i = 0; i < op->contact_count; i++) {
        const crTapeContact* c = &op->contacts[i];
        add_wrench(b, c, cr_scale(-1.0 / b->h, c->T), cr_scale(-1.0 / b->h, c->P), b->outer);
        add_wrench(b, c, cr__tape_by_moments(c, b->by_w), cr__tape_by_w(c, b->by_w), b->on_y);
    }
}

// what each contact's own motion gets
static void contacts_back(crTreesBack* b) {
    const crTapeOp* op = b->op;
    for (int i = 0; i < op->contact_count; i++) {
        const crTapeContact* c = &op->contacts[i];
        crVec3 M = cr__tape_by_w(c, b->by_w), N = cr__tape_by_moments(c, b->by_w);
        crTwist z = slip_by(b, b->z, c), u = slip_by(b, op->S, c);
        crVec3 X = cr_add(cr_cross(c->P, z.omega), cr_cross(M, u.omega));
        crVec3 psi = cr_add(cr_cross(c->P, z.v), cr_cross(M, u.v));
        psi = cr_add(psi, cr_add(cr_cross(c->T, z.omega), cr_cross(N, u.omega)));
        cr__tape_contact_back(b->tape, op, i, b->h, X, psi, b->by_w, b->before);
    }
}

static bool trees_back_room(crTape* tape, const crTapeOp* op, crTreesBack* b) {
    size_t nv = (size_t)tape->model->nv + 1, nb = (size_t)tape->model->nb, n = (size_t)op->rows + 1;
    size_t all = 11 * nv + nb + 2 * n, twists = (CR_INVERSE_WORK + 2) * nb;
    double* m = cr_arena_alloc(&tape->memory, all * sizeof *m);
    b->twists = cr_arena_alloc(&tape->memory, twists * sizeof *b->twists);
    b->by_PL = cr_arena_alloc(&tape->memory, 3 * nb * sizeof *b->by_PL);
    if (m == NULL || b->twists == NULL || b->by_PL == NULL) return false;
    b->by_shift = b->by_PL + 2 * nb;
    memset(m, 0, all * sizeof *m);
    memset(b->twists, 0, twists * sizeof *b->twists);
    double** const each[] = {&b->by_S,  &b->by_next, &b->by_vs, &b->by_a0, &b->by_v2, &b->by_v3,
                             &b->by_v4, &b->x,       &b->y,     &b->z,     &b->rigid};
    for (int i = 0; i < 11; i++, m += nv) {
        *each[i] = m;
    }
    b->by_T = m;
    b->by_p = m + nb;
    b->by_w = b->by_p + n;
    b->outer = b->twists + CR_INVERSE_WORK * nb;
    b->on_y = b->outer + nb;
    return true;
}

// single bodies, and those that no tree moves
static void others_back(crTreesBack* b, const double* by, const double* by_v) {
    const crModel* model = b->tape->model;
    for (int k = 0; k < b->op->part.count; k++) {
        int i = b->op->part.bodies[k];
        const crBody* body = &model->bodies[i];
        if (!cr__moves(model, i) || cr__step_bends(b->tape->eval.plan, i)) continue;
        cr__add_tree(model, (crPart){&i, 1}, 1.0, by_v, b->by_S);
        if (!body->single) {
            advance_back(b, body, b->h, b->op->S, b->by_S);
            continue;
        }
        for (int j = body->v; j < body->v + 3; j++) {
            b->before[j] += by[j];
            b->by_S[j] += b->h * by[j];
        }
        const double* M = b->op->trees->singles[i].turn;
        for (int r = 0; r < 3; r++) {
            b->by_S[body->v + 3 + r] = 0.0;
        }
        for (int r = 0; r < 6; r++) {
            double after = r < 3 ? by[body->v + 3 + r] : by_v[body->v + r];
            for (int j = 0; j < 3; j++) {
                b->before[body->v + 3 + j] += M[6 * r + j] * after;
                b->by_S[body->v + 3 + j] += M[6 * r + 3 + j] * after;
            }
        }
    }
}

crStatus cr__tape_trees_back(crTape* tape, const crTapeOp* op, const double* by, double* before,
                             double* by_force) {
    const crModel* model = tape->model;
    const crTapeTrees* t = op->trees;
    size_t nv = (size_t)model->nv, mark = cr_arena_mark(&tape->memory);
    crPart part = {op->part.bodies, op->part.count};
    crTreesBack b = {.tape = tape, .op = op, .d = &tape->eval.dynamics, .h = cr__move_time(tape, op)};
    b.before = before;
    b.before_v = before + nv;
    b.by_force = by_force;
    if (!trees_back_room(tape, op, &b)) return CR_ERR_MEMORY;
    // an operation with actuators begins where the step does
    if (model->nu > 0) cr_model_actuate(model, &tape->start, b.d);
    cr__set_tree(model, part, 1.0, by, b.by_next);
    bool both = false;
    for (int k = 0; k < op->part.count; k++) {
        crTapeWay way = t->tree[op->part.bodies[k]].way;
        both = both || way == WAY_SCALED;
    }
    crStatus status = CR_OK;
    for (int k = 0; k < op->part.count && status == CR_OK; k++) {
        if (t->tree[op->part.bodies[k]].way == WAY_FLIES)
            status = cr__trees_fly_back(&b, cr__tree_at(tape, op->part.bodies[k]), by, by + nv);
    }
    if (status == CR_OK) status = both ? cr__trees_look(tape, op, t->q_next) : CR_OK;
    for (int k = 0; k < op->part.count && status == CR_OK; k++) {
        tree_back_last(&b, op->part.bodies[k], by + nv);
    }
    if (status == CR_OK) status = cr__trees_look(tape, op, op->q);
    if (status != CR_OK) return status;
    for (int k = 0; k < op->part.count; k++) {
        crTapeWay way = t->tree[op->part.bodies[k]].way;
        if (way == WAY_STRAIGHT || way == WAY_SCALED) tree_back_first(&b, op->part.bodies[k]);
    }
    others_back(&b, by, by + nv);
    if (op->rows > 0) rows_back(&b);
    // of S itself
    cr__set_tree(model, part, 1.0, b.by_S, b.z);
    cr__part_mass_solve(model, part, b.d, b.z);
    cr__set_tree(model, part, 1.0 / b.h, op->S, b.y);
    cr__add_tree(model, part, -1.0 / b.h, op->v, b.y);
    cr__add_tree(model, part, 1.0, b.by_S, b.before_v);
    crTreesSolve own = {.part = part, .z = b.z, .a = b.y, .v = op->v, .forces = true, .q = before};
    own.by_v = own.by_k = own.by_R = b.before_v;
    own.outer = op->rows > 0 ? b.outer : NULL;
    own.on_y = op->rows > 0 ? b.on_y : NULL;
    own.y = op->rows > 0 ? op->S : NULL;
    cr__trees_solve(&b, &own);
    if (op->rows > 0) contacts_back(&b);
    cr_arena_release(&tape->memory, mark);
    return CR_OK;
}
