// moved_apart.c - pairs that are still too deep are moved apart.
//
// The position pass (moved_deep.c) moves free bodies alone, and lift.c takes them back where their turn costs
// more energy than they lost. Here the points of pairs that are still too deep are rows of one small problem,
//
//     0 <= W p + gap + LEFT CR_MOVED_DEEP width _|_ p >= 0,   W = J M^-1 J^T,   dq = M^-1 J^T p
//
// of trees of moving islands and of free bodies. Free bodies do not turn: T stays, and so does m_a z_a +
// m_b z_b of two of them. Rows of earlier rounds stay as body-fixed points. Rounds go on until no pair of
// bodies that moved is too deep.
//
// A push against the world lifts. Sets without trees keep what they can pay (lift.c). Trees pay with their v,
// scaled by one factor of their set: v+ = s (v_free + M^-1 J^T P) as in moving_trees.c. A set that cannot pay is
// put back, and its overlap is for later steps. Sets with bodies of calm islands pay nothing, as in steps without
// moving islands; the certificate states the energy. Bodies that lie or sleep, trees of calm islands and bodies of
// loops are not moved.
// Fails: CR_ERR_MEMORY. The certificate states the overlap that is left after ROUNDS.
#include <string.h>

#include "model/spatial.h"
#include "step/audit.h"
#include "step/moving.h"
#include "step/position.h"

#define MOST   0.95   // overlap from which a pair is pushed, share of CR_MOVED_DEEP
#define LEFT   0.5    // overlap that a push leaves, share of CR_MOVED_DEEP
#define ROUNDS 20     // rounds of moves
#define ROWS   64     // most rows of the problem
#define SWEEPS 1000   // sweeps of a round over the rows
#define SOLVED 1e-3   // change of a gap that ends the sweeps, share of LEFT
#define PAYS   0.25   // least share of its kinetic energy that a set of trees keeps
#define SURE   1.001  // factor on what they pay, for rounding

// one side of a row: bodies that move together, and J^T and M^-1 J^T of their velocities
typedef struct Side {
    int body;  // one of them; 0: the side does not move
    crPart part;
    int width;  // number of velocities
    double *x, *y;
} Side;

typedef struct Row {
    crApart at;
    Side side[2];  // if both bodies are of one tree, the second side is that of both
    double gap, p, left;
} Row;

typedef struct Apart {
    crStep* step;
    const crMoved* moved;
    bool* active;    // bodies whose pairs are looked at (nb)
    double* energy;  // of each tree before it was pushed, at its root, J; NAN: it was not pushed (nb)
    double *x, *y;   // (nv)
    Row row[ROWS];
    int count;
    double W[ROWS][ROWS];
} Apart;

static bool is_mobile(const Apart* a, int b) {
    const crStep* step = a->step;
    if (!cr__moves(step->model, b) || cr__step_idle(step, b)) return false;
    if (step->plan->tie.first[b] < step->plan->tie.first[b + 1]) return false;
    return step->model->bodies[b].single || a->moved->body[b];
}

// bodies that move together with a body: its tree, or the body alone
static crPart part_of(const Apart* a, const int* body) {
    const crModel* model = a->step->model;
    return model->bodies[*body].single ? (crPart){body, 1}
                                       : cr__plan_tree(a->step->plan, model->bodies[*body].root);
}

// Finds M^-1 x of a part; free bodies do not turn.
static crStatus pushed_way(Apart* a, const Side* side) {
    const crModel* model = a->step->model;
    const crBody* body = &model->bodies[side->body];
    cr__part_copy(model, side->part, a->x, a->y);
    if (!body->single) {
        crStatus status = cr__part_mass_factor(model, side->part, 0.0, &a->step->dynamics);
        if (status == CR_OK) cr__part_mass_solve(model, side->part, &a->step->dynamics, a->y);
        return status;
    }
    for (int k = 0; k < 6; k++) {
        a->y[body->v + k] = k < 3 ? a->x[body->v + k] / body->mass : 0.0;
    }
    return CR_OK;
}

// Copies x and y of a side's part from the velocities of all bodies. CR_ERR_MEMORY.
static crStatus pack(Apart* a, Side* side) {
    const crModel* model = a->step->model;
    side->width = 0;
    for (int k = 0; k < side->part.count; k++) {
        side->width += model->bodies[cr__part_body(side->part, k)].nv;
    }
    if (!CR_ROOMS(&a->step->scratch, CR_ROOM(side->x, side->width), CR_ROOM(side->y, side->width)))
        return CR_ERR_MEMORY;
    for (int k = 0, at = 0; k < side->part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(side->part, k)];
        memcpy(side->x + at, a->x + body->v, (size_t)body->nv * sizeof *a->x);
        memcpy(side->y + at, a->y + body->v, (size_t)body->nv * sizeof *a->y);
        at += body->nv;
    }
    return CR_OK;
}

// Makes both sides of a row at the present poses, and its gap.
static crStatus make_sides(Apart* a, Row* row) {
    crStep* step = a->step;
    const crModel* model = step->model;
    const int* body[2] = {&row->at.body_a, &row->at.body_b};
    bool one = model->top[*body[0]] >= 0 && model->top[*body[0]] == model->top[*body[1]];
    crVec3 point;
    crStatus status = CR_OK;
    row->gap = cr__apart_gap(step->dynamics.pose, &row->at, &point);
    for (int s = 0; s < 2 && status == CR_OK; s++) {
        Side* side = &row->side[s];
        *side = (Side){0};
        if (!is_mobile(a, *body[s])) continue;
        crPart part = part_of(a, body[s]);
        if (s == 0 || !one) cr__part_clear(model, part, a->x);
        crVec3 n = s == 0 ? cr_neg(row->at.normal) : row->at.normal;
        cr_model_add_force(model, &step->dynamics, *body[s], point, n, cr_vec3(0, 0, 0), a->x);
        if (s == 0 && one) continue;
        *side = (Side){.body = *body[s], .part = part};
        status = pushed_way(a, side);
        if (status == CR_OK) status = pack(a, side);
    }
    return status;
}

// share of W of two rows
static double coupling(const Apart* a, const Row* i, const Row* j) {
    const int* top = a->step->model->top;
    double sum = 0.0;
    for (int s = 0; s < 4; s++) {
        const Side *x = &i->side[s / 2], *y = &j->side[s % 2];
        if (x->body == 0 || y->body == 0 || top[x->body] != top[y->body]) continue;
        for (int k = 0; k < x->width; k++) {
            sum += x->x[k] * y->y[k];
        }
    }
    return sum;
}

// Finds p by projected sweeps over the rows.
static void solve_points(Apart* a) {
    for (int i = 0; i < a->count; i++) {
        a->row[i].p = 0.0;
        for (int j = 0; j < a->count; j++) {
            a->W[i][j] = coupling(a, &a->row[i], &a->row[j]);
        }
    }
    bool changes = true;
    for (int sweep = 0; sweep < SWEEPS && changes; sweep++) {
        changes = false;
        for (int i = 0; i < a->count; i++) {
            Row* row = &a->row[i];
            if (!(a->W[i][i] > 0.0)) continue;
            double gap = row->gap + row->left;
            for (int j = 0; j < a->count; j++) {
                gap += a->W[i][j] * a->row[j].p;
            }
            double p = fmax(0.0, row->p - gap / a->W[i][i]);
            changes = changes || fabs(p - row->p) * a->W[i][i] > SOLVED * row->left;
            row->p = p;
        }
    }
}

// Adds p y of a side to the displacements in x.
static void add_way(const Apart* a, const Side* side, double p) {
    for (int k = 0, at = 0; k < side->part.count; k++) {
        const crBody* body = &a->step->model->bodies[cr__part_body(side->part, k)];
        for (int j = 0; j < body->nv; j++) {
            a->x[body->v + j] += p * side->y[at++];
        }
    }
}

// Moves the bodies of a side by x, and clears it there. Keeps the energy that a tree had before its first move.
static void move_side(Apart* a, const Side* side) {
    crStep* step = a->step;
    const crModel* model = step->model;
    int root = model->bodies[side->body].root;
    if (cr__part_dot(model, side->part, a->x, a->x) == 0.0) return;
    if (!model->bodies[side->body].single && isnan(a->energy[root])) {
        crEnergy before = cr__part_energy(model, side->part, &step->state, &step->dynamics);
        a->energy[root] = before.kinetic + before.potential;
    }
    cr__part_advance(model, side->part, 1.0, a->x, step->state.q);
    cr__part_clear(model, side->part, a->x);
    cr__part_kinematics(model, side->part, &step->state, &step->dynamics);
    for (int k = 0; k < side->part.count; k++) {
        a->active[cr__part_body(side->part, k)] = true;
    }
}

static void move_apart(Apart* a) {
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < 2 * a->count; i++) {
            const Row* row = &a->row[i / 2];
            const Side* side = &row->side[i % 2];
            if (side->body == 0 || !(row->p > 0.0)) continue;
            if (pass == 0) cr__part_clear(a->step->model, side->part, a->x);
            if (pass == 1) add_way(a, side, row->p);
            if (pass == 2) move_side(a, side);
        }
    }
    for (int i = 0; i < a->count; i++) {
        const Row* row = &a->row[i];
        if (row->p > 0.0) cr__audit_join_push(a->step, row->at.body_a, row->at.body_b);
    }
}

// Adds rows for the points of a pair if it is too deep. Returns true if it is.
static bool push_pair(Apart* a, const crNear* pair) {
    crStep* step = a->step;
    const crPose* pose = step->dynamics.pose;
    crContactPoint points[16];
    int needed = 0, body_a = pair->body_a, body_b = pair->body_b;
    if (!is_mobile(a, body_a) && !is_mobile(a, body_b)) return false;
    int count = cr__pairs_collide(step->plan, pair->shape_a, pair->shape_b, pose[body_a], pose[body_b], 0.0,
                                  points, 16, &needed, NULL);
    double most = CR_MOVED_DEEP * cr__plan_pair_width(step->plan, body_a, body_b), deepest = 0.0;
    for (int i = 0; i < count; i++) {
        deepest = fmax(deepest, -points[i].gap);
    }
    if (!(deepest > MOST * most)) return false;
    for (int i = 0; i < count && a->count < ROWS; i++) {
        a->row[a->count++] = (Row){
            .at = cr__apart_at(pose, body_a, body_b, points[i].point, points[i].normal, points[i].gap, 0.0),
            .left = LEFT * most};
    }
    return true;
}

// Adds rows for all pairs of active bodies that are too deep. Returns true if there are any.
static bool push_active(Apart* a) {
    const crStep* step = a->step;
    const crPairs* pairs = step->pairs;
    bool any = false;
    for (int b = 1; b < step->model->nb; b++) {
        if (!a->active[b] || !cr__moves(step->model, b)) continue;
        for (int i = pairs->first_of[b]; i < pairs->first_of[b + 1]; i++) {
            const crNear* pair = &pairs->near[pairs->of[i]];
            int other = pair->body_a == b ? pair->body_b : pair->body_a;
            // a pair of two active bodies is looked at once
            if (other < b && cr__moves(step->model, other) && a->active[other]) continue;
            any = push_pair(a, pair) || any;
        }
    }
    return any;
}

// Moves pairs of active bodies apart until none is too deep. *any: true if bodies were moved.
static crStatus push_all(Apart* a, bool* any) {
    *any = false;
    cr__pairs_index(a->step->pairs, a->step->own.tasks);
    for (int round = 0; round < ROUNDS && a->count < ROWS && push_active(a); round++) {
        size_t mark = cr_arena_mark(&a->step->scratch);
        for (int i = 0; i < a->count; i++) {
            crStatus status = make_sides(a, &a->row[i]);
            if (status != CR_OK) return status;
        }
        solve_points(a);
        move_apart(a);
        *any = true;
        cr_arena_release(&a->step->scratch, mark);
    }
    return CR_OK;
}

// Lift of each set with trees, and kinetic energy of its trees of moving islands, at its root.
typedef struct Bill {
    double lift, kinetic;
    bool trees;  // true if some bodies are of trees
    bool calm;   // true if some bodies are of calm islands: the set pays nothing
} Bill;

// Finds what each set of bodies that pushed each other gained by the pushes since `before`.
static void find_bills(Apart* a, const double* before, int* root, Bill* bill) {
    crStep* step = a->step;
    const crModel* model = step->model;
    memset(bill, 0, (size_t)model->nb * sizeof *bill);
    cr__lift_sets(step, root);
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (!cr__moves(model, b)) continue;
        Bill* to = &bill[cr__forest_find(root, body->root)];
        to->trees = to->trees || !body->single;
        to->calm = to->calm || !a->moved->body[b];
        if (body->single) {
            to->lift += cr__lift_weight(model, b, before, step->state.q);
        } else if (body->root == b && a->moved->body[b]) {
            crPart tree = cr__plan_tree(step->plan, b);
            crEnergy now = cr__part_energy(model, tree, &step->state, &step->dynamics);
            to->kinetic += now.kinetic;
            if (!isnan(a->energy[b])) to->lift += now.kinetic + now.potential - a->energy[b];
        }
    }
}

// Scales v of trees that were lifted with their set, and puts sets back that cannot pay. Returns true if any was.
static bool pay(Apart* a, const double* before, int* root, const Bill* bill) {
    crStep* step = a->step;
    const crModel* model = step->model;
    bool back = false;
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (!cr__moves(model, b)) continue;
        const Bill* of = &bill[cr__forest_find(root, body->root)];
        if (!of->trees || of->calm || !(of->lift > 0.0)) continue;
        double left = 1.0 - SURE * of->lift / of->kinetic;
        if (!(left >= PAYS)) {
            memcpy(step->state.q + body->q, before + body->q, (size_t)body->nq * sizeof *before);
            back = true;
        } else if (!body->single && a->moved->body[b]) {
            for (int j = body->v; j < body->v + body->nv; j++) {
                step->state.v[j] *= sqrt(left);
            }
        }
    }
    return back;
}

crStatus cr__moved_apart(crStep* step, double h, const crMoved* moved, bool* active, crError* error) {
    size_t nb = (size_t)step->model->nb, nv = (size_t)step->model->nv + 1, nq = (size_t)step->model->nq + 1;
    Apart* a;
    double* before;
    int* root;
    Bill* bill;
    bool *back, any;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(a, 1), CR_ROOM(before, nq), CR_ROOM(root, nb), CR_ROOM(bill, nb),
                  CR_ROOM(back, nb)))
        return cr__step_memory(error);
    a->step = step;
    a->moved = moved;
    a->active = active;
    a->count = 0;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(a->energy, nb), CR_ROOM(a->x, nv), CR_ROOM(a->y, nv)))
        return cr__step_memory(error);
    for (size_t b = 0; b < nb; b++) {
        a->energy[b] = (double)NAN;
    }
    memcpy(before, step->state.q, (nq - 1) * sizeof *before);
    crStatus status = push_all(a, &any);
    if (status != CR_OK) return cr_error_set(error, status, "position", "%s", cr_status_text(status));
    if (!any) return CR_OK;
    if (step->plan->first_single > 1) {
        find_bills(a, before, root, bill);
        if (pay(a, before, root, bill)) cr_model_kinematics(step->model, &step->state, &step->dynamics);
    }
    status = cr__step_limit_lift(step, h, before, true, moved->body, back);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}
