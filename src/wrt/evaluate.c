// evaluate.c - an operation of a tape at a state beside its own, with its impulses as they were.
//
//     S = v_free + M^-1 J^T p (an impact: v + M^-1 J^T p)     w = J S + w_hat + b (an impact: J v + w_hat)
// are smooth functions of the state, the forces, the instants and the parameters. Contacts move with their bodies to first
// order (geometry.c). Rows, forces and motion are the stages of a step.
// Fails: as the stages do; CR_ERR_RANGE where joints have other rows there.
#include <string.h>

#include "carom/forms.h"
#include "model/spatial.h"
#include "step/step.h"
#include "wrt/change.h"
#include "wrt/tape.h"

// What a change of mass replaced.
typedef struct Saved {
    crBody* body;
    crBody was;
} Saved;

static double length_of(const crTape* tape, const crTapeOp* op, const crTapeChange* c, double t) {
    double h = tape->times[op->end].t - tape->times[op->begin].t;
    return c != NULL ? h + t * (c->end - c->begin) : h;
}

// Kinematics that stand while q does are made again.
static void forget_poses(crTape* tape) {
    for (int i = 0; i < tape->model->nq; i++) {
        tape->eval.dynamics.q[i] = (double)NAN;
    }
}

// The mass of a body more by t, its inertia in proportion.
static Saved set_mass(crTape* tape, const crTapeChange* c, double t) {
    Saved saved = {0};
    if (c == NULL || c->param == NULL || c->param->kind != CR_WRT_MASS || t == 0.0) return saved;
    saved.body = &tape->model->bodies[c->param->a];
    saved.was = *saved.body;
    double by = 1.0 + t / saved.was.mass;
    const crSym3 I = saved.was.inertia;
    saved.body->mass *= by;
    saved.body->inertia = (crSym3){by * I.xx, by * I.xy, by * I.xz, by * I.yy, by * I.yz, by * I.zz};
    for (int i = 0; i < 3; i++) {
        saved.body->principal[i] *= by;
    }
    forget_poses(tape);
    return saved;
}

static void restore_mass(crTape* tape, const Saved* saved) {
    if (saved->body == NULL) return;
    *saved->body = saved->was;
    forget_poses(tape);
}

static void set_state(crTape* tape, const crTapeOp* op, const crTapeChange* c, double t) {
    const crModel* model = tape->model;
    crStep* eval = &tape->eval;
    crState* state = &eval->state;
    size_t nv = (size_t)model->nv;
    cr__change_copy(model, &tape->start, state);
    memcpy(state->q, op->q, (size_t)model->nq * sizeof(double));
    memcpy(state->v, op->v, nv * sizeof(double));
    state->time = tape->start.time + tape->times[op->begin].t + (c != NULL ? t * c->begin : 0.0);
    eval->part = op->part;
    for (int k = 0; k < op->part.count; k++) {
        eval->airborne[op->part.bodies[k]] = op->airborne[k];
    }
    if (c == NULL || t == 0.0) return;
    if (c->param != NULL && c->param->kind == CR_WRT_CTRL) state->ctrl[c->param->a] += t;
    // the work of the dynamics has room for a rate of q only where nq <= nv: q of the step's start has it
    if (c->x != NULL) cr__change_move(model, t, c->x, state->q, eval->start.q);
    for (size_t i = 0; i < nv; i++) {
        if (c->x != NULL) state->v[i] += t * c->x[nv + i];
        if (c->f != NULL) state->force[i] += t * c->f[i];
    }
}

// The 12 motions of a contact for a change of its bodies' positions and of time.
static void motions_of(const crTapeOp* op, int contact, const crTapeChange* c, double m[12]) {
    const crRows* rows = &op->motions;
    for (int k = 0; k < 12; k++) {
        int row = 12 * contact + k;
        m[k] = c->begin * rows->w_hat[row];
        for (int i = rows->start[row]; c->x != NULL && i < rows->start[row + 1]; i++) {
            m[k] += rows->value[i] * c->x[rows->col[i]];
        }
    }
}

static crStepContact contact_at(const crTapeOp* op, int i, const crTapeChange* change, double t) {
    const crTapeContact* from = &op->contacts[i];
    crStepContact c = from->at;
    c.row = -1;
    if (change == NULL || t == 0.0) return c;
    double m[12];
    motions_of(op, i, change, m);
    crVec3 shift = cr_vec3(m[0], m[1], m[2]), turn = cr_vec3(m[3], m[4], m[5]);
    crVec3 dx = shift, dn = cr_cross(turn, c.point.normal);
    for (int k = 0; k < 6; k++) {
        dx = cr_madd(dx, m[6 + k], from->point[k]);
        dn = cr_madd(dn, m[6 + k], from->normal[k]);
    }
    c.point.gap += t * cr_dot(c.point.normal, cr_vec3(m[6], m[7], m[8]));
    c.point.point = cr_madd(c.point.point, t, dx);
    crVec3 n = cr_madd(c.point.normal, t, dn);
    c.point.normal = cr_scale(1.0 / cr_norm(n), n);
    return c;
}

static crStatus set_contacts(crTape* tape, const crTapeOp* op, const crTapeChange* c, double t,
                             crError* error) {
    crStep* eval = &tape->eval;
    eval->contacts.count = op->contact_count;
    eval->contacts.list =
        cr_arena_alloc(&eval->scratch, (size_t)(op->contact_count + 1) * sizeof *eval->contacts.list);
    if (eval->contacts.list == NULL) return cr__step_memory(error);
    for (int i = 0; i < op->contact_count; i++) {
        eval->contacts.list[i] = contact_at(op, i, c, t);
    }
    return CR_OK;
}

// S = v + M^-1 J^T p over the velocities of the part; others keep v. Bounds of motors and dry friction go with h.
static void push(crTape* tape, const crTapeOp* op, const crRows* rows, double stretch, const double* v,
                 double* S) {
    const crModel* model = tape->model;
    crStep* eval = &tape->eval;
    size_t nv = (size_t)model->nv;
    memset(S, 0, nv * sizeof *S);
    for (int i = 0; i < rows->count; i++) {
        double own = op->p[i];
        for (int b = 0; op->modes.mode != NULL && b < op->problem.block_count; b++) {
            const crBlock* block = &op->problem.blocks[b];
            if (block->kind == CR_BLOCK_BOX && block->row == i && op->modes.mode[b] == CR_MODE_BOUND)
                own *= stretch;
        }
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            S[rows->col[k]] += rows->value[k] * own;
        }
    }
    cr__part_mass_solve(model, cr__step_part(eval), &eval->dynamics, S);
    for (size_t i = 0; i < nv; i++) {
        S[i] += v[i];
    }
}

// The bias of contacts whose gap is open, whichever side of the deadband this state is on.
static void set_bias(crTape* tape, const crTapeOp* op, double h, double t, const crRows* rows, double* b) {
    const crStep* eval = &tape->eval;
    for (int i = 0; i < op->contact_count; i++) {
        const crStepContact* c = &eval->contacts.list[i];
        if (c->row < 0) continue;
        b[c->row] = 0.0;
        if (!op->contacts[i].open) continue;
        b[c->row] = (c->point.gap - c->delta) / h;
        for (int k = rows->start[c->row]; k < rows->start[c->row + 1]; k++) {
            int j = rows->col[k];
            if (eval->airborne[eval->model->velocity.body[j]])
                b[c->row] -= 0.5 * h * rows->value[k] * eval->plan->fall[j];
        }
    }
    // limits, likewise
    for (int i = 0; i < op->problem.block_count; i++) {
        const crBlock* block = &op->problem.blocks[i];
        if (block->source >= 0 || block->kind != CR_BLOCK_UNILATERAL) continue;
        double gap = op->gap[block->row], rate = (rows->gap[block->row] - gap) / t;
        bool open = fabs(gap) <= CR_TAPE_EDGE ? rate * tape->side > 0.0 : gap > 0.0;
        b[block->row] = open ? rows->gap[block->row] / h : 0.0;
    }
}

static crStatus other_rows(crError* error) {
    return cr_error_set(error, CR_ERR_RANGE, "tape", "tape: joints have other rows beside this state");
}

static crStatus move_side(crTape* tape, const crTapeOp* op, const crTapeChange* c, double t, crTapeSide* side,
                          crError* error) {
    crStep* eval = &tape->eval;
    double h = side->h = length_of(tape, op, c, t), h0 = length_of(tape, op, NULL, 0.0);
    if (tape->model->nu > 0) cr_model_actuate(tape->model, &eval->state, &eval->dynamics);
    crStatus status = cr_step_forces(eval, h, error);
    if (status != CR_OK) return status;
    if (op->rows == 0) {
        memcpy(side->S, eval->free.v, (size_t)tape->model->nv * sizeof *side->S);
        return CR_OK;
    }
    status = set_contacts(tape, op, c, t, error);
    // W and what solvers begin with are of the move itself alone
    if (status == CR_OK)
        status = c == NULL ? cr_step_problem_build(eval, h, NULL, error)
                           : cr__step_write_rows(eval, h, NULL, error);
    if (status != CR_OK) return status;
    const crRows* rows = &eval->posed.rows;
    if (rows->count != op->rows) return other_rows(error);
    push(tape, op, rows, h / h0, eval->free.v, side->S);
    set_bias(tape, op, h, t, rows, eval->posed.b);
    cr_rows_velocity(rows, side->S, side->w);
    for (int i = 0; i < op->rows; i++) {
        side->w[i] += eval->posed.b[i];
    }
    return CR_OK;
}

static crStatus impact_rows(crTape* tape, const crTapeOp* op, crError* error) {
    crStep* eval = &tape->eval;
    int rows, entries, vertex_room, vertex_count = 0;
    cr__step_row_sizes(eval->plan, &eval->contacts, NULL, &rows, &entries, &vertex_room);
    crStatus status = cr_rows_create(&eval->scratch, rows, entries, &eval->posed.rows);
    crBlock* blocks = cr_arena_alloc(&eval->scratch, (size_t)(op->contact_count + 1) * sizeof *blocks);
    double(*vertices)[2] = cr_arena_alloc(&eval->scratch, (size_t)(vertex_room + 1) * sizeof *vertices);
    if (status != CR_OK || blocks == NULL || vertices == NULL) return cr__step_memory(error);
    for (int i = 0; i < op->contact_count && status == CR_OK; i++) {
        status = cr__step_add_contact(eval, &eval->contacts.list[i], i, &eval->posed.rows, &blocks[i],
                                      vertices, &vertex_count);
    }
    eval->posed.problem = (crProblem){.blocks = blocks, .block_count = op->contact_count};
    eval->posed.problem.rows = eval->posed.rows.count;
    if (status != CR_OK) return cr__step_memory(error);
    return eval->posed.rows.count == op->rows ? CR_OK : other_rows(error);
}

// e, et and mu of a contact at the velocities before an impact
static void set_coefficients(const crTape* tape, const crStepContact* c, const double* w, double* out) {
    const crStep* eval = &tape->eval;
    const crModel* model = tape->model;
    crContactSurface now = *c->surface;
    int a = model->shapes[c->shape_a].material, b = model->shapes[c->shape_b].material;
    int rows = cr__step_contact_rows(c);
    crMat3 F = cr__step_frame(eval, c);
    crVec3 u = cr_vec3(0, 0, 0);
    for (int r = 0; r < rows && r < 3; r++) {
        u = cr_madd(u, w[c->row + r], cr_mat3_column(F, r));
    }
    crVec3 omega = cr_sub(cr__step_twist(eval, eval->state.v, c->body_b).omega,
                          cr__step_twist(eval, eval->state.v, c->body_a).omega);
    crApproach approach = cr_approach(c->point.normal, u, omega);
    bool known = cr_model_surface_at(model, a, b, &approach, &now) == CR_OK;
    out[0] = known ? now.surface.e : c->e;
    out[1] = now.surface.et;
    out[2] = now.surface.mu;
}

static crStatus impact_side(crTape* tape, const crTapeOp* op, const crTapeChange* c, double t,
                            crTapeSide* side, crError* error) {
    crStep* eval = &tape->eval;
    const crModel* model = tape->model;
    cr__part_kinematics(model, cr__step_part(eval), &eval->state, &eval->dynamics);
    crStatus status = cr__part_mass_factor(model, cr__step_part(eval), 0.0, &eval->dynamics);
    if (status != CR_OK) return cr_error_set(error, status, "mass", "%s", cr_status_text(status));
    status = set_contacts(tape, op, c, t, error);
    if (status == CR_OK) status = impact_rows(tape, op, error);
    if (status != CR_OK) return status;
    status = cr_rows_half(model, &eval->dynamics, &eval->posed.rows, &eval->scratch, &eval->posed.H);
    if (status != CR_OK) return cr__step_memory(error);
    cr_rows_W(&eval->posed.H, side->W);
    cr_rows_velocity(&eval->posed.rows, eval->state.v, side->w);
    push(tape, op, &eval->posed.rows, 1.0, eval->state.v, side->S);
    for (int i = 0; i < op->contact_count; i++) {
        set_coefficients(tape, &eval->contacts.list[i], side->w, side->e + 3 * i);
    }
    return CR_OK;
}

crStatus cr__tape_side(crTape* tape, const crTapeOp* op, const crTapeChange* c, double t, crTapeSide* side,
                       crError* error) {
    size_t mark = cr_arena_mark(&tape->eval.scratch);
    Saved saved = set_mass(tape, c, t);
    set_state(tape, op, c, t);
    crStatus status =
        op->impact ? impact_side(tape, op, c, t, side, error) : move_side(tape, op, c, t, side, error);
    if (!op->impact) memcpy(side->q, tape->eval.state.q, (size_t)tape->model->nq * sizeof *side->q);
    restore_mass(tape, &saved);
    // the base itself is read by prepare.c, which gives the memory back
    if (c != NULL) cr_arena_release(&tape->eval.scratch, mark);
    return status;
}

crStatus cr__tape_move(crTape* tape, const crTapeOp* op, const crTapeChange* c, double t,
                       const crTapeSide* side, bool fresh, const double* dv, double* q, double* v,
                       crError* error) {
    crStep* eval = &tape->eval;
    const crModel* model = tape->model;
    bool trees = false;
    for (int k = 0; k < op->part.count; k++) {
        int b = op->part.bodies[k];
        trees = trees || (cr__moves(model, b) && !model->bodies[b].single);
    }
    Saved saved = set_mass(tape, c, t);
    fresh = fresh && saved.body == NULL;
    if (!fresh) set_state(tape, op, c, t);
    crStatus status = CR_OK;
    // trees move by what forces found
    if (trees && !fresh && tape->model->nu > 0) cr_model_actuate(model, &eval->state, &eval->dynamics);
    if (trees && !fresh) status = cr_step_forces(eval, side->h, error);
    eval->free.h = side->h;
    for (int k = 0; k < op->part.count; k++) {
        const crBody* body = &model->bodies[op->part.bodies[k]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            eval->state.v[i] = side->S[i] + (dv != NULL ? t * dv[i] : 0.0);
        }
    }
    if (status == CR_OK) status = cr_step_integrate(eval, side->h, error);
    memcpy(q, eval->state.q, (size_t)model->nq * sizeof *q);
    memcpy(v, eval->state.v, (size_t)model->nv * sizeof *v);
    restore_mass(tape, &saved);
    return status;
}

void cr__tape_swap(crTape* tape) {
    crStep eval = tape->eval;
    tape->eval = tape->other;
    tape->other = eval;
}

size_t cr__tape_side_size(const crTape* tape, const crTapeOp* op) {
    size_t n = (size_t)op->rows, nq = (size_t)tape->model->nq, nv = (size_t)tape->model->nv;
    return nq + nv + n + (op->impact ? n * n + 3 * (size_t)op->contact_count : 0) + 4;
}

void cr__tape_side_at(const crTape* tape, const crTapeOp* op, double* memory, crTapeSide* side) {
    size_t n = (size_t)op->rows;
    *side = (crTapeSide){.q = memory};
    side->S = side->q + tape->model->nq;
    side->w = side->S + tape->model->nv;
    side->W = side->w + n;
    side->e = side->W + (op->impact ? n * n : 0);
}
