// trees.c - v^T J of a move that has trees in it, in closed form.
//
// With R the springs that M_h holds, the stages of a move (step/smooth.c, step/trees.c) are
//     M_h (S0 - v) = h (k - h R v)          S = S0 + M_h^-1 J^T p          w = J S + b, p by its modes
//     carried:  q+ = q + h S,  v+ = s S,  s^2 = T(q, S)/T(q+, S) all/bent
//               bent = S0.M_h S0,  all = e.M_h e,  e = S0 + h M_h^-1 c
//     flying:   v_s = v + K(q)/2,  a = M_h^-1 c(q, v_s),  q+ = q + h (v_s - h a/2),  a' = M_h^-1 c(q+, v_s - h a)
//               v3 = v_s - h (a + a')/2,  v4 = v3 sqrt(T(q, v_s)/T(q+, v3)),  v+ = v4 + K(q+)/2
// with K the kick of forces without velocity terms. Backwards each solve M_h x = r gets z = M_h^-1 by_x, and r and M_h are
// inverse dynamics of z (inverse.c). The forward figures are made again when the step is recorded, and must be those of the step.
// Fails: CR_ERR_MEMORY. No form: drag, forces of the user's, driven bases, springs and limits of balls, contacts with moments or an axis,
// velocity terms that trees.c of the step limits, a free tree in flight, a flight in several parts.
#include <string.h>

#include "model/actuate.h"
#include "step/step.h"
#include "wrt/inverse.h"
#include "wrt/tape.h"

#define AGREE 1e-10  // of the speeds: figures made again are those of the step
#define HALF  0.25   // own over all from which on velocity terms are limited, see step/trees.c

typedef enum Way { WAY_PLAIN, WAY_STRAIGHT, WAY_SCALED, WAY_FLIES } Way;

// A tree in the move, by its root.
typedef struct Tree {
    Way way;
    double s, T, T_next, all, bent;
} Tree;

struct crTapeTrees {
    Tree* tree;                            // (nb)
    double *S0, *e;                        // (nv)
    double *v_s, *a0, *v2, *a1, *v3, *v4;  // of flights (nv)
    double *kick, *kick_next;              // K of both ends (nv)
    double* q_next;                        // (nq)
    crRows J;
    crTapeBody* singles;  // turn of single bodies (nb)
};

typedef struct TreesBack {
    crTape* tape;
    const crTapeOp* op;
    crDynamics* d;
    double h;
    double *before, *before_v, *by_force;  // what is asked for
    double *by_S, *by_next, *by_w, *by_p;
    double *by_vs, *by_a0, *by_v2, *by_v3, *by_v4;  // of flights
    double* by_T;                                   // of trees, by root (nb)
    double *x, *y, *z;
    crTwist *twists, *outer, *on_y;
} TreesBack;

static crPart tree_at(const crTape* tape, int b) { return cr__plan_tree(tape->eval.plan, b); }

static bool joint_has_form(const crModel* model, const crBody* body) {
    const crDof* dof = model->dofs + body->v;
    if (body->linear_drag != 0.0 || body->angular_drag != 0.0 || body->base != CR_WORLD) return false;
    if (body->joint != CR_JOINT_BALL) return true;
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
        bool known = body->single || cr__step_bends(&tape->eval, b) || body->nq == body->nv;
        if (!joint_has_form(model, body) || !known) return false;
    }
    for (int i = 0; i < op->contact_count; i++) {
        const crStepContact* c = &op->contacts[i].at;
        const crSurface* s = &c->surface->surface;
        if (s->mu_spin > 0.0 || s->mu_roll > 0.0 || c->surface->axis_of >= 0) return false;
    }
    return true;
}

static bool copy_rows(crTape* tape, const crRows* from, crRows* to) {
    if (cr_rows_create(&tape->memory, from->count + 1, from->entries + 1, to) != CR_OK) return false;
    memcpy(to->start, from->start, (size_t)(from->count + 1) * sizeof *to->start);
    memcpy(to->col, from->col, (size_t)from->entries * sizeof *to->col);
    memcpy(to->value, from->value, (size_t)from->entries * sizeof *to->value);
    memcpy(to->gap, from->gap, (size_t)from->count * sizeof *to->gap);
    to->count = from->count;
    to->entries = from->entries;
    return true;
}

static double dot_tree(const crModel* model, crPart part, const double* x, const double* y) {
    double sum = 0.0;
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[part.bodies[k]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            sum += x[i] * y[i];
        }
    }
    return sum;
}

// to += s x over a part
static void add_tree(const crModel* model, crPart part, double s, const double* x, double* to) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[part.bodies[k]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            to[i] += s * x[i];
        }
    }
}

static void set_tree(const crModel* model, crPart part, double s, const double* x, double* to) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[part.bodies[k]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            to[i] = s * x[i];
        }
    }
}

static void mass_h_mul(const crModel* model, crPart part, const crDynamics* d, double h, const double* x,
                       double* y) {
    cr__part_mass_mul(model, part, d, x, y);
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[part.bodies[k]];
        for (int i = body->v; i < body->v + body->nv && !body->single; i++) {
            y[i] += cr__dof_slope(model, d, h, i) * x[i];
        }
    }
}

static double move_time(const crTape* tape, const crTapeOp* op) {
    return tape->times[op->end].t - tape->times[op->begin].t;
}

crStatus cr__tape_trees_begin(crTape* tape, crTapeOp* op) {
    const crModel* model = tape->model;
    const crStepFree* f = &tape->eval.free;
    size_t nv = (size_t)model->nv + 1, nb = (size_t)model->nb;
    if (!trees_have_form(tape, op)) return CR_OK;
    crTapeTrees* t = cr_arena_alloc(&tape->memory, sizeof *t);
    double* m = cr_arena_alloc(&tape->memory, (10 * nv + (size_t)model->nq + 1) * sizeof *m);
    Tree* tree = cr_arena_alloc(&tape->memory, nb * sizeof *tree);
    if (t == NULL || m == NULL || tree == NULL) return CR_ERR_MEMORY;
    memset(m, 0, (10 * nv + (size_t)model->nq + 1) * sizeof *m);
    memset(tree, 0, nb * sizeof *tree);
    *t = (crTapeTrees){.tree = tree};
    double** const all[] = {&t->S0, &t->e,  &t->v_s, &t->a0,   &t->v2,
                            &t->a1, &t->v3, &t->v4,  &t->kick, &t->kick_next};
    for (int i = 0; i < 10; i++) {
        *all[i] = m + (size_t)i * nv;
    }
    t->q_next = m + 10 * nv;
    if (op->rows > 0 && !copy_rows(tape, &tape->eval.posed.rows, &t->J)) return CR_ERR_MEMORY;
    cr__tape_impulses(tape, op);
    set_tree(model, (crPart){op->part.bodies, op->part.count}, 1.0, f->v, t->S0);
    for (int k = 0; k < op->part.count; k++) {
        crPart own = tree_at(tape, op->part.bodies[k]);
        if (own.count == 0) continue;
        set_tree(model, own, 1.0, f->v, t->e);
        add_tree(model, own, 1.0, f->bend, t->e);
        double h = move_time(tape, op), gain = f->tree_gain[op->part.bodies[k]];
        Tree* now = &tree[op->part.bodies[k]];
        now->way = gain > 0.0 ? WAY_SCALED : WAY_STRAIGHT;
        if (!(gain > 0.0)) continue;
        double* y = t->v_s;
        mass_h_mul(model, own, &tape->eval.dynamics, h, t->e, y);
        now->all = dot_tree(model, own, t->e, y);
        mass_h_mul(model, own, &tape->eval.dynamics, h, t->S0, y);
        now->bent = dot_tree(model, own, t->S0, y);
        mass_h_mul(model, own, &tape->eval.dynamics, h, f->bend, y);
        if (dot_tree(model, own, f->bend, y) > HALF * (1.0 - 1e-6) * now->all) return CR_OK;
    }
    op->trees = t;
    return CR_OK;
}

// kinematics and factor of the part at q
static crStatus look_at(crTape* tape, const crTapeOp* op, const double* q) {
    crStep* eval = &tape->eval;
    const crModel* model = tape->model;
    crPart part = {op->part.bodies, op->part.count};
    for (int k = 0; k < op->part.count; k++) {
        const crBody* body = &model->bodies[op->part.bodies[k]];
        memcpy(eval->state.q + body->q, q + body->q, (size_t)body->nq * sizeof *q);
    }
    eval->part = op->part;
    cr__part_kinematics(model, part, &eval->state, &eval->dynamics);
    return cr__part_mass_factor(model, part, move_time(tape, op), &eval->dynamics);
}

// K = h M_h^-1 (k + c - h R v), k of velocities v_k and R of v_R, at the kinematics of eval; c of v_k is left in c
static void kick_of(crTape* tape, crPart tree, double h, const double* v_k, const double* v_R, double* c,
                    double* K) {
    crStep* eval = &tape->eval;
    const crModel* model = tape->model;
    set_tree(model, tree, 1.0, v_k, eval->state.v);
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
    set_tree(tape->model, tree, 1.0, v, eval->state.v);
    cr__part_forces(tape->model, tree, &eval->state, &eval->dynamics, eval->free.k, a);
    cr__part_mass_solve(tape->model, tree, &eval->dynamics, a);
}

static double energy_of(const crTape* tape, crPart tree, const double* v, double* y) {
    return cr__tree_energy(tape->model, tree, &tape->eval.dynamics, v, y);
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

// the part of a flight at its beginning
static void fly_first(crTape* tape, crPart tree, double h, const double* v, crTapeTrees* t, Tree* now) {
    const crModel* model = tape->model;
    double* y = tape->eval.dynamics.work;
    kick_of(tape, tree, h, v, v, t->v2, t->kick);
    set_tree(model, tree, 1.0, v, t->v_s);
    add_tree(model, tree, 0.5, t->kick, t->v_s);
    turn_of(tape, tree, t->v_s, t->a0);
    now->T = energy_of(tape, tree, t->v_s, y);
    set_tree(model, tree, 1.0, t->v_s, t->v2);
    add_tree(model, tree, -0.5 * h, t->a0, t->v2);
    cr__part_advance(model, tree, h, t->v2, t->q_next);
    add_tree(model, tree, -0.5 * h, t->a0, t->v2);
}

// and at its end; v after it in x
static void fly_last(crTape* tape, crPart tree, double h, crTapeTrees* t, Tree* now, double* x) {
    const crModel* model = tape->model;
    turn_of(tape, tree, t->v2, t->a1);
    set_tree(model, tree, 0.5, t->v2, t->v3);
    add_tree(model, tree, 0.5, t->v_s, t->v3);
    add_tree(model, tree, -0.5 * h, t->a1, t->v3);
    now->T_next = energy_of(tape, tree, t->v3, x);
    now->s = now->T > 0.0 && now->T_next > 0.0 ? sqrt(now->T / now->T_next) : 1.0;
    set_tree(model, tree, now->s, t->v3, t->v4);
    double* c = tape->eval.free.bend;  // not in use
    kick_of(tape, tree, h, t->v2, t->v4, c, t->kick_next);
    set_tree(model, tree, 1.0, t->v4, x);
    add_tree(model, tree, 0.5, t->kick_next, x);
}

static bool agree(const crTape* tape, crPart tree, const double* x, const double* y) {
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

static bool tree_floats(const crModel* model, int root) { return model->bodies[root].joint == CR_JOINT_FREE; }

// turns of single bodies over the move
static bool trees_singles(crTape* tape, crTapeOp* op) {
    const crModel* model = tape->model;
    crTapeTrees* t = op->trees;
    t->singles = cr_arena_alloc(&tape->memory, (size_t)model->nb * sizeof *t->singles);
    for (int k = 0; k < op->part.count && t->singles != NULL; k++) {
        int b = op->part.bodies[k];
        if (!model->bodies[b].single) continue;
        t->singles[b] = (crTapeBody){.v = model->bodies[b].v};
        cr__tape_single_turn(tape, op, b, &t->singles[b], move_time(tape, op));
    }
    return t->singles != NULL;
}

crStatus cr__tape_trees_end(crTape* tape, crTapeOp* op, const double* q, const double* v) {
    const crModel* model = tape->model;
    crTapeTrees* t = op->trees;
    double h = move_time(tape, op);
    if (t == NULL) return CR_OK;
    op->trees = NULL;
    if (look_at(tape, op, op->q) != CR_OK) return CR_OK;
    memcpy(t->q_next, op->q, (size_t)model->nq * sizeof *q);
    op->trees = t;
    for (int k = 0; k < op->part.count; k++) {
        int root = op->part.bodies[k];
        crPart tree = tree_at(tape, root);
        Tree* now = &t->tree[root];
        if (tree.count == 0) continue;
        if (tree_flies(tape, op, tree)) {
            now->way = WAY_FLIES;
            fly_first(tape, tree, h, op->v, t, now);
        } else {
            now->T = energy_of(tape, tree, op->S, tape->eval.dynamics.work);
            cr__part_advance(model, tree, h, op->S, t->q_next);
        }
    }
    if (look_at(tape, op, t->q_next) != CR_OK) op->trees = NULL;
    double* x = t->e;
    for (int k = 0; k < op->part.count && op->trees != NULL; k++) {
        int root = op->part.bodies[k];
        crPart tree = tree_at(tape, root);
        Tree* now = &t->tree[root];
        if (tree.count == 0) continue;
        if (now->way == WAY_FLIES) {
            fly_last(tape, tree, h, t, now, x);
            if (tree_floats(model, root) || !agree(tape, tree, v, x)) op->trees = NULL;
            continue;
        }
        now->T_next = energy_of(tape, tree, op->S, tape->eval.dynamics.work);
        now->s = now->way == WAY_SCALED ? sqrt(now->T / now->T_next * now->all / now->bent) : 1.0;
        set_tree(model, tree, now->s, op->S, tape->eval.state.v);
        if (agree(tape, tree, v, tape->eval.state.v)) continue;
        // a motor's speed is not scaled
        now->way = WAY_STRAIGHT;
        now->s = 1.0;
        if (!agree(tape, tree, v, op->S)) op->trees = NULL;
    }
    if (op->trees != NULL) memcpy(t->q_next, q, (size_t)model->nq * sizeof *q);
    if (op->trees != NULL && !trees_singles(tape, op)) return CR_ERR_MEMORY;
    return CR_OK;
}

// backwards

// A solve M_h x = h (k - h R v), with forces, or M_h x = c; z is M_h^-1 by_x. a is x/h, or -x, plus what M_h gets otherwise; v: velocities
// of c, NULL for none.
typedef struct Solve {
    crPart part;
    const double *z, *a, *v;
    bool forces;
    const crTwist *outer, *on_y;
    const double* y;
    double *q, *by_v, *by_k, *by_R;  // where it adds to: by q, v of c, v of dampers, v of R
} Solve;

// by joints' and actuators' springs and dampers
static void springs_back(const TreesBack* b, const Solve* s) {
    const crModel* model = b->tape->model;
    double h = b->h;
    for (int n = 0; n < s->part.count; n++) {
        const crBody* body = &model->bodies[s->part.bodies[n]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            double z = h * s->z[i];
            b->by_force[i] += z;
            if (body->single) continue;
            s->by_k[i] -= z * model->dofs[i].damping;
            s->by_R[i] -= z * h * model->dofs[i].stiffness;
            if (body->nq == body->nv) s->q[i] -= z * model->dofs[i].stiffness;
            bool limited = model->nu > 0 && !isnan(b->d->limit[i]);
            for (int t = limited ? -1 : model->dof_actuator[i]; t >= 0; t = cr__term_next(model, t)) {
                const crActuator* a = &model->actuators[cr__term_actuator(t)];
                const crActuation* x = &b->d->actuation[cr__term_actuator(t)];
                double by = z * a->gear[t % CR_ACTUATOR_JOINTS];
                for (int k = 0; k < a->dof_count; k++) {
                    int j = a->dof[k];
                    const crBody* other = &model->bodies[model->dof_body[j]];
                    s->by_k[j] -= by * x->damping * a->gear[k];
                    s->by_R[j] -= by * h * fmax(0.0, x->stiffness) * a->gear[k];
                    if (other->nq == other->nv) s->q[j] -= by * x->stiffness * a->gear[k];
                }
            }
        }
    }
}

static void solve_back(const TreesBack* b, const Solve* s) {
    set_tree(b->tape->model, s->part, s->forces ? -b->h : 1.0, s->z, b->x);
    crInverse in = {.model = b->tape->model, .d = b->d, .part = s->part, .v = s->v, .a = s->a, .z = b->x};
    in.weight = s->forces;
    in.outer = s->outer;
    in.on_y = s->on_y;
    in.y = s->y;
    cr__inverse_gradient(&in, b->twists, s->q, s->by_v);
    if (s->forces) springs_back(b, s);
}

// by v and q of T(q, v) = v.M v/2, times g
static void energy_back(const TreesBack* b, crPart tree, double g, const double* v, double* by_v, double* q) {
    const crModel* model = b->tape->model;
    cr__part_mass_mul(model, tree, b->d, v, b->y);
    add_tree(model, tree, g, b->y, by_v);
    set_tree(model, tree, 0.5 * g, v, b->z);
    Solve s = {.part = tree, .z = b->z, .a = v, .q = q, .by_v = by_v};
    solve_back(b, &s);
}

// z = M_h^-1 x
static void solve_z(const TreesBack* b, crPart tree, double g, const double* x) {
    set_tree(b->tape->model, tree, g, x, b->z);
    cr__part_mass_solve(b->tape->model, tree, b->d, b->z);
}

// q+ = q + h v of joints: by_next passes on to q and v
static void advance_back(const TreesBack* b, const crBody* body, const double* v, double* by_v) {
    const double* next = b->by_next + body->v;
    double *q = b->before + body->v, *to = by_v + body->v;
    int turn = body->joint == CR_JOINT_FREE ? 3 : body->joint == CR_JOINT_BALL ? 0 : body->nv;
    for (int i = 0; i < turn; i++) {
        q[i] += next[i];
        to[i] += b->h * next[i];
    }
    if (turn == body->nv) return;
    double M[36];
    cr__tape_turn(cr_scale(b->h, cr__load_vec(v + body->v + turn)), b->h, M);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            q[turn + j] += M[6 * i + j] * next[turn + i];
            to[turn + j] += M[6 * i + 3 + j] * next[turn + i];
        }
    }
}

static void advance_tree(const TreesBack* b, crPart tree, const double* v, double* by_v) {
    for (int n = 0; n < tree.count; n++) {
        advance_back(b, &b->tape->model->bodies[tree.bodies[n]], v, by_v);
    }
}

// a tree at the end of the move; `by` is what the state after it gets
static void tree_back_last(TreesBack* b, int root, const double* by_v) {
    const crModel* model = b->tape->model;
    const crTapeTrees* t = b->op->trees;
    const Tree* now = &t->tree[root];
    crPart tree = tree_at(b->tape, root);
    if (now->way == WAY_SCALED) {
        double sigma = 0.5 * now->s * dot_tree(model, tree, by_v, b->op->S);
        add_tree(model, tree, now->s, by_v, b->by_S);
        b->by_T[root] = sigma;
        energy_back(b, tree, -sigma / now->T_next, b->op->S, b->by_S, b->by_next);
    } else if (now->way == WAY_STRAIGHT) {
        add_tree(model, tree, 1.0, by_v, b->by_S);
    } else if (now->way == WAY_FLIES) {
        double *by_v2 = b->by_v2, *by_v3 = b->by_v3, *by_v4 = b->by_v4;
        set_tree(model, tree, 1.0, by_v, by_v4);
        set_tree(model, tree, 0.0, by_v, by_v2);
        solve_z(b, tree, 0.5, by_v);
        set_tree(model, tree, 1.0 / b->h, t->kick_next, b->y);
        Solve kick = {.part = tree, .z = b->z, .a = b->y, .forces = true, .q = b->by_next};
        kick.by_v = kick.by_k = by_v2;
        kick.by_R = by_v4;
        solve_back(b, &kick);
        double sigma = 0.5 * now->s * dot_tree(model, tree, by_v4, t->v3);
        set_tree(model, tree, now->s, by_v4, by_v3);
        b->by_T[root] = now->T > 0.0 ? sigma / now->T : 0.0;
        if (now->T > 0.0 && now->T_next > 0.0)
            energy_back(b, tree, -sigma / now->T_next, t->v3, by_v3, b->by_next);
        solve_z(b, tree, -0.5 * b->h, by_v3);
        set_tree(model, tree, -1.0, t->a1, b->y);
        Solve turn = {.part = tree, .z = b->z, .a = b->y, .v = t->v2, .q = b->by_next, .by_v = by_v2};
        solve_back(b, &turn);
        set_tree(model, tree, 1.0, by_v3, b->by_vs);
        add_tree(model, tree, 1.0, by_v2, b->by_vs);
        set_tree(model, tree, -0.5 * b->h, by_v3, b->by_a0);
        add_tree(model, tree, -b->h, by_v2, b->by_a0);
    }
}

// a tree at the beginning of the move, but for S
static void tree_back_first(TreesBack* b, int root) {
    const crModel* model = b->tape->model;
    const crTapeTrees* t = b->op->trees;
    const Tree* now = &t->tree[root];
    crPart tree = tree_at(b->tape, root);
    const double* v = b->op->v;
    if (now->way == WAY_FLIES) {
        double* by_v1 = b->by_v2;
        set_tree(model, tree, 0.0, v, by_v1);
        set_tree(model, tree, 1.0, t->v_s, b->by_v3);
        add_tree(model, tree, -0.5 * b->h, t->a0, b->by_v3);
        advance_tree(b, tree, b->by_v3, by_v1);
        add_tree(model, tree, 1.0, by_v1, b->by_vs);
        add_tree(model, tree, -0.5 * b->h, by_v1, b->by_a0);
        solve_z(b, tree, 1.0, b->by_a0);
        set_tree(model, tree, -1.0, t->a0, b->y);
        Solve turn = {.part = tree, .z = b->z, .a = b->y, .v = t->v_s, .q = b->before, .by_v = b->by_vs};
        solve_back(b, &turn);
        if (b->by_T[root] != 0.0) energy_back(b, tree, b->by_T[root], t->v_s, b->by_vs, b->before);
        solve_z(b, tree, 0.5, b->by_vs);
        set_tree(model, tree, 1.0 / b->h, t->kick, b->y);
        Solve kick = {.part = tree, .z = b->z, .a = b->y, .forces = true, .q = b->before};
        kick.by_v = kick.by_k = kick.by_R = b->before_v;
        solve_back(b, &kick);
        add_tree(model, tree, 1.0, b->by_vs, b->before_v);
        return;
    }
    advance_tree(b, tree, b->op->S, b->by_S);
    double sigma = b->by_T[root];
    if (now->way != WAY_SCALED || sigma == 0.0) return;
    energy_back(b, tree, sigma / now->T, b->op->S, b->by_S, b->before);
    // all and bent: x.M_h x of x = S0 and of x = e, whose solve has no velocity terms
    for (int k = 0; k < 2; k++) {
        const double* x = k == 0 ? t->S0 : t->e;
        double g = k == 0 ? -sigma / now->bent : sigma / now->all;
        set_tree(model, tree, 0.5 / b->h, x, b->y);
        add_tree(model, tree, -1.0 / b->h, v, b->y);
        set_tree(model, tree, 2.0 * g, x, b->z);
        Solve one = {.part = tree, .z = b->z, .a = b->y, .forces = true, .q = b->before};
        one.v = k == 0 ? v : NULL;
        one.by_v = one.by_k = one.by_R = b->before_v;
        solve_back(b, &one);
        mass_h_mul(model, tree, b->d, b->h, x, b->y);
        add_tree(model, tree, 2.0 * g, b->y, b->before_v);
    }
}

// field of a body under velocities x, at a point
static crTwist field_of(const TreesBack* b, const double* x, int body) {
    const crModel* model = b->tape->model;
    crTwist sum = cr__twist(cr_vec3(0, 0, 0), cr_vec3(0, 0, 0));
    for (int j = model->bodies[body].last; j >= 0; j = model->dof_parent[j]) {
        sum = cr__twist_madd(sum, x[j], b->d->axis[j]);
    }
    return sum;
}

// spin of b against a under x, and velocity at the contact's point
static crTwist slip_by(const TreesBack* b, const double* x, const crTapeContact* c) {
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

static void add_wrench(const TreesBack* b, const crTapeContact* c, crVec3 force, crTwist* to) {
    for (int side = 0; side < 2; side++) {
        int body = side == 0 ? c->at.body_a : c->at.body_b;
        if (!cr__moves(b->tape->model, body)) continue;
        crVec3 arm = cr_sub(c->at.point.point, b->d->origin[body]);
        to[body] = cr__twist_madd(to[body], side == 0 ? -1.0 : 1.0, cr__twist(cr_cross(arm, force), force));
    }
}

// by_w from by_S, and what rows give back to S; limits by q
static void rows_back(TreesBack* b) {
    const crTapeOp* op = b->op;
    const crRows* J = &op->trees->J;
    size_t nv = (size_t)b->tape->model->nv;
    for (int i = 0; i < op->rows; i++) {
        b->by_p[i] = 0.0;
        for (size_t j = 0; j < nv; j++) {
            b->by_p[i] += op->Y[(size_t)i * nv + j] * b->by_S[j];
        }
    }
    cr_modes_adjoint(&op->modes, b->by_p, NULL, b->by_w, NULL);
    for (int i = 0; i < op->rows; i++) {
        for (int k = J->start[i]; k < J->start[i + 1]; k++) {
            b->by_S[J->col[k]] += J->value[k] * b->by_w[i];
        }
    }
    for (int i = 0; i < op->problem.block_count; i++) {
        const crBlock* block = &op->problem.blocks[i];
        int r = block->row;
        bool limit = block->source < 0 && block->kind == CR_BLOCK_UNILATERAL;
        if (limit && J->gap[r] > 0.0)
            b->before[J->col[J->start[r]]] += J->value[J->start[r]] * b->by_w[r] / b->h;
    }
    for (int i = 0; i < op->contact_count; i++) {
        const crTapeContact* c = &op->contacts[i];
        add_wrench(b, c, cr_scale(-1.0 / b->h, c->P), b->outer);
        add_wrench(b, c, cr__tape_by_w(c, b->by_w), b->on_y);
    }
}

// what each contact's own motion gets
static void contacts_back(TreesBack* b) {
    const crTapeOp* op = b->op;
    for (int i = 0; i < op->contact_count; i++) {
        const crTapeContact* c = &op->contacts[i];
        crVec3 M = cr__tape_by_w(c, b->by_w);
        crTwist z = slip_by(b, b->z, c), u = slip_by(b, op->S, c);
        crVec3 X = cr_add(cr_cross(c->P, z.omega), cr_cross(M, u.omega));
        crVec3 psi = cr_add(cr_cross(c->P, z.v), cr_cross(M, u.v));
        cr__tape_contact_back(b->tape, op, i, b->h, X, psi, b->by_w, b->before);
    }
}

static bool trees_back_room(crTape* tape, const crTapeOp* op, TreesBack* b) {
    size_t nv = (size_t)tape->model->nv + 1, nb = (size_t)tape->model->nb, n = (size_t)op->rows + 1;
    size_t all = 10 * nv + nb + 2 * n, twists = (CR_INVERSE_WORK + 2) * nb;
    double* m = cr_arena_alloc(&tape->memory, all * sizeof *m);
    b->twists = cr_arena_alloc(&tape->memory, twists * sizeof *b->twists);
    if (m == NULL || b->twists == NULL) return false;
    memset(m, 0, all * sizeof *m);
    memset(b->twists, 0, twists * sizeof *b->twists);
    double** const each[] = {&b->by_S,  &b->by_next, &b->by_vs, &b->by_a0, &b->by_v2,
                             &b->by_v3, &b->by_v4,   &b->x,     &b->y,     &b->z};
    for (int i = 0; i < 10; i++, m += nv) {
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
static void others_back(TreesBack* b, const double* by, const double* by_v) {
    const crModel* model = b->tape->model;
    for (int k = 0; k < b->op->part.count; k++) {
        int i = b->op->part.bodies[k];
        const crBody* body = &model->bodies[i];
        if (!cr__moves(model, i) || cr__step_bends(&b->tape->eval, i)) continue;
        add_tree(model, (crPart){&i, 1}, 1.0, by_v, b->by_S);
        if (!body->single) {
            advance_back(b, body, b->op->S, b->by_S);
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
    TreesBack b = {.tape = tape, .op = op, .d = &tape->eval.dynamics, .h = move_time(tape, op)};
    b.before = before;
    b.before_v = before + nv;
    b.by_force = by_force;
    if (!trees_back_room(tape, op, &b)) return CR_ERR_MEMORY;
    // an operation with actuators begins where the step does
    if (model->nu > 0) cr_model_actuate(model, &tape->start, b.d);
    set_tree(model, part, 1.0, by, b.by_next);
    bool both = false;
    for (int k = 0; k < op->part.count; k++) {
        Way way = t->tree[op->part.bodies[k]].way;
        both = both || way == WAY_SCALED || way == WAY_FLIES;
    }
    crStatus status = both ? look_at(tape, op, t->q_next) : CR_OK;
    for (int k = 0; k < op->part.count && status == CR_OK; k++) {
        tree_back_last(&b, op->part.bodies[k], by + nv);
    }
    if (status == CR_OK) status = look_at(tape, op, op->q);
    if (status != CR_OK) return status;
    for (int k = 0; k < op->part.count; k++) {
        if (t->tree[op->part.bodies[k]].way != WAY_PLAIN) tree_back_first(&b, op->part.bodies[k]);
    }
    others_back(&b, by, by + nv);
    if (op->rows > 0) rows_back(&b);
    // of S itself
    set_tree(model, part, 1.0, b.by_S, b.z);
    cr__part_mass_solve(model, part, b.d, b.z);
    set_tree(model, part, 1.0 / b.h, op->S, b.y);
    add_tree(model, part, -1.0 / b.h, op->v, b.y);
    add_tree(model, part, 1.0, b.by_S, b.before_v);
    Solve own = {.part = part, .z = b.z, .a = b.y, .v = op->v, .forces = true, .q = before};
    own.by_v = own.by_k = own.by_R = b.before_v;
    own.outer = op->rows > 0 ? b.outer : NULL;
    own.on_y = op->rows > 0 ? b.on_y : NULL;
    own.y = op->rows > 0 ? op->S : NULL;
    solve_back(&b, &own);
    if (op->rows > 0) contacts_back(&b);
    cr_arena_release(&tape->memory, mark);
    return CR_OK;
}
