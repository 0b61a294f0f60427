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
// A light body between heavy ones may be squeezed out sideways, farther than the normals hold: if a body moves by more
// than its width, all is done again with free bodies as heavy as the heaviest of them.
//
// A push against the world lifts. Sets without trees keep what they can pay (lift.c). Trees pay with their v,
// scaled by one factor of their set: v+ = s (v_free + M^-1 J^T P) as in moving_trees.c. A set that cannot pay mostly
// still approaches: the contacts of the beginning did not see a body that another one threw into the floor, or an edge
// that swung round. Impulses along the normals at the present poses stop the approach,
//
//     0 <= J v + W p + max(0, gap) / h _|_ p >= 0,   v+ = v + M^-1 J^T p,   W = J M^-1 J^T
//
// which dissipates, and the set pays again. They are an impact without restitution at the end of the step. A set that
// still cannot pay is put back, and its overlap is for later steps. Sets with bodies of calm islands keep their places
// even if they cannot pay, as in steps without moving islands; the certificate states the energy. Bodies that lie or
// sleep, trees of calm islands and bodies of loops are not moved.
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
#define SWEEPS 1000   // sweeps over the rows
#define SOLVED 1e-3   // change of a gap that ends the sweeps, share of LEFT
#define NEAR   0.3    // gap of points whose approach is stopped, share of the narrower body's width
#define STILL  1e-4   // change of an approach that ends the sweeps, m/s
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
    int shape_a, shape_b;
    Side side[2];  // if both bodies are of one tree, the second side is that of both
    crVec3 point;
    // m; of velocities: the normal velocity, and the approach that closes the gap in a step, m/s
    double gap, left;
    double tol;  // change that ends the sweeps
    double p;
} Row;

typedef struct Apart {
    crStep* step;
    const crMoved* moved;
    double mass;     // of every free body in displacements, kg; 0: its own
    bool turns;      // true if rows are of velocities: free bodies turn
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

// Finds M^-1 x of a part; free bodies turn only if `turns` is true.
static crStatus pushed_way(Apart* a, const Side* side) {
    const crModel* model = a->step->model;
    const crBody* body = &model->bodies[side->body];
    cr__part_copy(model, side->part, a->x, a->y);
    if (!body->single || a->turns) {
        crStatus status = cr__part_mass_factor(model, side->part, 0.0, &a->step->dynamics);
        if (status == CR_OK) cr__part_mass_solve(model, side->part, &a->step->dynamics, a->y);
        return status;
    }
    double mass = a->mass > 0.0 ? a->mass : body->mass;
    for (int k = 0; k < 6; k++) {
        a->y[body->v + k] = k < 3 ? a->x[body->v + k] / mass : 0.0;
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
    crStatus status = CR_OK;
    row->gap = cr__apart_gap(step->dynamics.pose, &row->at, &row->point);
    for (int s = 0; s < 2 && status == CR_OK; s++) {
        Side* side = &row->side[s];
        *side = (Side){0};
        if (!is_mobile(a, *body[s])) continue;
        crPart part = part_of(a, body[s]);
        if (s == 0 || !one) cr__part_clear(model, part, a->x);
        crVec3 n = s == 0 ? cr_neg(row->at.normal) : row->at.normal;
        cr_model_add_force(model, &step->dynamics, *body[s], row->point, n, cr_vec3(0, 0, 0), a->x);
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
static void solve_apart(Apart* a) {
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
            changes = changes || fabs(p - row->p) * a->W[i][i] > row->tol;
            row->p = p;
        }
    }
}

// Adds p y of a side to velocities or displacements of all bodies.
static void add_way(const Apart* a, const Side* side, double p, double* to) {
    for (int k = 0, at = 0; k < side->part.count; k++) {
        const crBody* body = &a->step->model->bodies[cr__part_body(side->part, k)];
        for (int j = 0; j < body->nv; j++) {
            to[body->v + j] += p * side->y[at++];
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
            if (pass == 1) add_way(a, side, row->p, a->x);
            if (pass == 2) move_side(a, side);
        }
    }
    for (int i = 0; i < a->count; i++) {
        const Row* row = &a->row[i];
        if (row->p > 0.0)
            cr__audit_join_push(a->step->model, row->at.body_a, row->at.body_b, &a->step->audited);
    }
}

// Adds rows for the points of a pair if it is too deep; rows of velocities for all pairs whose gap is small. Returns
// true if rows were wanted.
static bool push_pair(Apart* a, const crNear* pair) {
    crStep* step = a->step;
    const crPose* pose = step->dynamics.pose;
    crContactPoint points[16];
    int needed = 0, body_a = pair->body_a, body_b = pair->body_b;
    if (!is_mobile(a, body_a) && !is_mobile(a, body_b)) return false;
    double width = cr__plan_pair_width(step->plan, body_a, body_b), most = CR_MOVED_DEEP * width,
           deepest = 0.0;
    int count = cr__pairs_collide(step->plan, pair->shape_a, pair->shape_b, pose[body_a], pose[body_b],
                                  a->turns ? NEAR * width : 0.0, points, 16, &needed, NULL);
    for (int i = 0; i < count; i++) {
        deepest = fmax(deepest, -points[i].gap);
    }
    if (!a->turns && !(deepest > MOST * most)) return false;
    for (int i = 0; i < count && a->count < ROWS; i++) {
        a->row[a->count++] = (Row){
            .at = cr__apart_at(pose, body_a, body_b, points[i].point, points[i].normal, points[i].gap, 0.0),
            .shape_a = pair->shape_a,
            .shape_b = pair->shape_b,
            .left = LEFT * most,
            .tol = SOLVED * LEFT * most};
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
        solve_apart(a);
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
    bool calm;   // true if some bodies are of calm islands
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

// Scales v of trees that were lifted with their set, and puts sets back that cannot pay; `back` marks their bodies.
// Returns true if there are any.
static bool pay(Apart* a, const double* before, int* root, const Bill* bill, bool* back) {
    crStep* step = a->step;
    const crModel* model = step->model;
    bool any = false;
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (!cr__moves(model, b)) continue;
        const Bill* of = &bill[cr__forest_find(root, body->root)];
        if (!of->trees || of->calm || !(of->lift > 0.0)) continue;
        double left = 1.0 - SURE * of->lift / of->kinetic;
        if (!(left >= PAYS)) {
            memcpy(step->state.q + body->q, before + body->q, (size_t)body->nq * sizeof *before);
            back[b] = any = true;
        } else if (!body->single && a->moved->body[b]) {
            for (int j = body->v; j < body->v + body->nv; j++) {
                step->state.v[j] *= sqrt(left);
            }
        }
    }
    return any;
}

// Makes sets pay for what they gained by the pushes since `before`; `back` marks bodies that were moved back. of: as in
// cr__step_limit_lift, for sets without trees.
static crStatus make_pay(Apart* a, double h, const double* before, const bool* of, bool* back) {
    crStep* step = a->step;
    int* root;
    Bill* bill;
    crStatus status = cr__step_limit_lift(step, h, before, true, of, back);
    if (status != CR_OK || step->plan->first_single <= 1) return status;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(root, step->model->nb), CR_ROOM(bill, step->model->nb)))
        return CR_ERR_MEMORY;
    find_bills(a, before, root, bill);
    if (pay(a, before, root, bill, back)) cr_model_kinematics(step->model, &step->state, &step->dynamics);
    return CR_OK;
}

// the contact of a row, with its normal velocity and its impulse
static crStepContact contact_of(const Row* row) {
    crStepContact c = {.shape_a = row->shape_a,
                       .shape_b = row->shape_b,
                       .body_a = row->at.body_a,
                       .body_b = row->at.body_b,
                       .speed = row->gap};
    c.point.point = row->point;
    c.point.normal = row->at.normal;
    c.impulse = cr_scale(row->p, row->at.normal);
    return c;
}

// Normal velocity of a row whose sides are known, m/s.
static double normal_velocity(const Apart* a, const Row* row) {
    crStepContact c = contact_of(row);
    double sum = cr_dot(row->at.normal, cr__step_given_velocity(a->step, &c));
    for (int s = 0; s < 2; s++) {
        const Side* side = &row->side[s];
        for (int k = 0, at = 0; side->body != 0 && k < side->part.count; k++) {
            const crBody* body = &a->step->model->bodies[cr__part_body(side->part, k)];
            for (int j = 0; j < body->nv; j++) {
                sum += side->x[at++] * a->step->state.v[body->v + j];
            }
        }
    }
    return sum;
}

// true if impulses may act on both bodies of a row
static bool may_stop(const Apart* a, const Row* row) {
    const crModel* model = a->step->model;
    int body_a = row->at.body_a, body_b = row->at.body_b;
    return (is_mobile(a, body_a) || !cr__moves(model, body_a)) &&
           (is_mobile(a, body_b) || !cr__moves(model, body_b));
}

// Adds an event for each row with an impulse, and the work of driven bodies.
static crStatus log_stops(Apart* a) {
    crStep* step = a->step;
    double change = 0.0;
    bool any = false;
    for (int i = 0; i < a->count; i++) {
        change += 0.5 * a->row[i].p * (a->row[i].gap - a->row[i].left);
        any = any || a->row[i].p > 0.0;
    }
    crStatus status = CR_OK;
    for (int i = 0; i < a->count && status == CR_OK; i++) {
        if (!(a->row[i].p > 0.0)) continue;
        crStepContact c = contact_of(&a->row[i]);
        cr__audit_drive(step->model, &step->dynamics, step->audited.drive, c.body_a, c.body_b, c.point.point,
                        c.impulse);
        crEvent event = cr__step_event_of(step->state.time, &c);
        event.energy_change = change;
        event.impact = step->certificate.impacts;
        status = cr_step_event_add(step, &event);
    }
    step->certificate.impacts += any;
    return status;
}

// Stops the approach of pairs with bodies in `back`, by impulses at the present poses.
static crStatus stop_approach(Apart* a, double h, bool* back) {
    int count = 0;
    bool* active = a->active;
    a->active = back;
    a->turns = true;
    a->count = 0;
    push_active(a);
    a->active = active;
    for (int i = 0; i < a->count; i++) {
        if (may_stop(a, &a->row[i])) a->row[count++] = a->row[i];
    }
    a->count = count;
    crStatus status = CR_OK;
    for (int i = 0; i < count && status == CR_OK; i++) {
        Row* row = &a->row[i];
        status = make_sides(a, row);
        if (status != CR_OK) return status;
        row->left = fmax(0.0, row->gap) / h;
        row->gap = normal_velocity(a, row);
        row->tol = STILL;
    }
    solve_apart(a);
    for (int i = 0; i < 2 * count; i++) {
        const Row* row = &a->row[i / 2];
        if (row->side[i % 2].body != 0) add_way(a, &row->side[i % 2], row->p, a->step->state.v);
    }
    return log_stops(a);
}

// Makes sets pay; those that cannot pay stop their approach and pay again.
static crStatus balance(Apart* a, double h, const double* before) {
    crStep* step = a->step;
    size_t nb = (size_t)step->model->nb, nq = (size_t)step->model->nq, nv = (size_t)step->model->nv;
    double *q, *v;
    bool* back;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(q, nq + 1), CR_ROOM(v, nv + 1), CR_ROOM(back, nb)))
        return CR_ERR_MEMORY;
    memcpy(q, step->state.q, nq * sizeof *q);
    memcpy(v, step->state.v, nv * sizeof *v);
    crStatus status = make_pay(a, h, before, NULL, back);
    if (status != CR_OK || memchr(back, true, nb) == NULL) return status;
    memcpy(step->state.q, q, nq * sizeof *q);
    memcpy(step->state.v, v, nv * sizeof *v);
    cr_model_kinematics(step->model, &step->state, &step->dynamics);
    status = stop_approach(a, h, back);
    return status == CR_OK ? make_pay(a, h, before, a->moved->body, back) : status;
}

// True if some body was moved farther than its width from its centre of mass `com` (nb).
static bool are_astray(const Apart* a, const crVec3* com) {
    const crStep* step = a->step;
    for (int b = 1; b < step->model->nb; b++) {
        double most = cr__plan_width(step->plan, b);
        if (a->active[b] && cr__moves(step->model, b) &&
            cr_norm(cr_sub(step->dynamics.com[b], com[b])) > most)
            return true;
    }
    return false;
}

// Moves pairs apart. A light body between heavy ones may be squeezed out sideways, farther than the normals hold: all
// free bodies are then as heavy as the heaviest.
static crStatus push_masses(Apart* a, const double* before, const crVec3* com, bool* any) {
    crStep* step = a->step;
    crStatus status = push_all(a, any);
    if (status != CR_OK || !*any || !are_astray(a, com)) return status;
    memcpy(step->state.q, before, (size_t)step->model->nq * sizeof *before);
    cr_model_kinematics(step->model, &step->state, &step->dynamics);
    for (int b = 1; b < step->model->nb; b++) {
        if (a->active[b] && step->model->bodies[b].single)
            a->mass = fmax(a->mass, step->model->bodies[b].mass);
    }
    a->count = 0;
    return push_all(a, any);
}

crStatus cr__moved_apart(crStep* step, double h, const crMoved* moved, bool* active, crError* error) {
    size_t nb = (size_t)step->model->nb, nv = (size_t)step->model->nv + 1, nq = (size_t)step->model->nq + 1;
    Apart* a;
    double* before;
    crVec3* com;
    bool any;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(a, 1), CR_ROOM(before, nq), CR_ROOM(com, nb)))
        return cr__step_memory(error);
    a->step = step;
    a->moved = moved;
    a->mass = 0.0;
    a->turns = false;
    a->active = active;
    a->count = 0;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(a->energy, nb), CR_ROOM(a->x, nv), CR_ROOM(a->y, nv)))
        return cr__step_memory(error);
    for (size_t b = 0; b < nb; b++) {
        a->energy[b] = (double)NAN;
    }
    memcpy(before, step->state.q, (nq - 1) * sizeof *before);
    memcpy(com, step->dynamics.com, nb * sizeof *com);
    crStatus status = push_masses(a, before, com, &any);
    if (status == CR_OK && any) status = balance(a, h, before);
    return status == CR_OK ? CR_OK : cr_error_set(error, status, "position", "%s", cr_status_text(status));
}
