// prepare.c - the operations of a tape are made again, with what their derivatives need.
//
// Each is evaluated at its own state: rows, M^-1 J^T, geometry of its contacts, the modes of its problem or the stages of
// its rule. The states that follow must be those of the step, but for the position pass, which is found by what is left:
// dq = M^-1 N^T lambda over the contacts that it left at half a deadband of overlap.
// Fails: CR_ERR_MEMORY. A tape that does not make its step, or at a switch, is not known.
#include <string.h>

#include "linalg/lu.h"
#include "model/spatial.h"
#include "step/step.h"
#include "wrt/change.h"
#include "wrt/tape.h"

#define SOLVED 1e-8  // residual of a contact solve
#define NEAR   1e-9  // of the speeds: a switch that is reached
#define SAME   1e-9  // of positions and speeds: the tape makes the step
#define RANK   1e-10
#define HALF   0.2  // of the deadband: how near to its aim the position pass leaves a contact

static crStatus out_of_memory_tape(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "tape", "tape: out of memory");
}

static double* numbers(crTape* tape, size_t count) {
    double* x = cr_arena_alloc(&tape->memory, (count + 1) * sizeof *x);
    if (x != NULL) memset(x, 0, (count + 1) * sizeof *x);
    return x;
}

static double most_of(const double* x, int n) {
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// speed by which a switch is reached: solves at a switch end only so near to it
static double near_of(const crTape* tape, const crTapeOp* op) {
    return NEAR * (most_of(op->v, tape->model->nv) + tape->dt * cr_norm(tape->model->gravity) + 1e-3);
}

static void note(crTape* tape, crSwitch which, double distance) {
    if (!(distance < tape->verdict.distance)) return;
    tape->verdict.distance = distance;
    tape->verdict.nearest = which;
}

// shift and turn of a at the contact's point, and of b against a
static crStatus add_motions(crTape* tape, const crStepContact* c, crRows* rows) {
    const crModel* model = tape->model;
    const crDynamics* d = &tape->eval.dynamics;
    const crMat3 I = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    int first = cr_rows_add_point(model, d, CR_WORLD, c->body_a, c->point.point, &I, 3, rows);
    if (first >= 0) first = cr_rows_add_spin(model, d, CR_WORLD, c->body_a, &I, 3, rows);
    if (first >= 0) first = cr_rows_add_point(model, d, c->body_a, c->body_b, c->point.point, &I, 3, rows);
    if (first >= 0) first = cr_rows_add_spin(model, d, c->body_a, c->body_b, &I, 3, rows);
    return first >= 0 ? CR_OK : (crStatus)first;
}

static crStatus prepare_contacts(crTape* tape, crTapeOp* op) {
    const crModel* model = tape->model;
    int entries = 0;
    for (int i = 0; i < op->contact_count; i++) {
        const crStepContact* c = &op->contacts[i].at;
        entries += 24 * (cr__depth(model, c->body_a) + cr__depth(model, c->body_b));
    }
    crStatus status = cr_rows_create(&tape->memory, 12 * op->contact_count + 1, entries + 1, &op->motions);
    for (int i = 0; i < op->contact_count && status == CR_OK; i++) {
        status = add_motions(tape, &op->contacts[i].at, &op->motions);
    }
    if (status == CR_OK && !cr__tape_geometry(&tape->eval, op->contacts, op->contact_count))
        cr__tape_unknown(tape, "a contact's features end at this state");
    return status;
}

// M^-1 J^T by columns
static bool prepare_response(crTape* tape, const crRows* rows, double** Y) {
    size_t nv = (size_t)tape->model->nv;
    *Y = numbers(tape, nv * (size_t)rows->count);
    for (int i = 0; *Y != NULL && i < rows->count; i++) {
        double* column = *Y + (size_t)i * nv;
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            column[rows->col[k]] += rows->value[k];
        }
        cr__part_mass_solve(tape->model, cr__step_part(&tape->eval), &tape->eval.dynamics, column);
    }
    return *Y != NULL;
}

static bool copy_problem(crTape* tape, crTapeOp* op, const crTapeSide* side) {
    const crStep* eval = &tape->eval;
    const crProblem* posed = &eval->posed.problem;
    size_t n = (size_t)op->rows, blocks = (size_t)posed->block_count;
    crBlock* block = cr_arena_alloc(&tape->memory, (blocks + 1) * sizeof *block);
    double *W = numbers(tape, n * n), *u = numbers(tape, n), *b = numbers(tape, n);
    if (block == NULL || W == NULL || u == NULL || b == NULL) return false;
    memcpy(block, posed->blocks, blocks * sizeof *block);
    op->problem = (crProblem){.rows = op->rows, .block_count = (int)blocks, .blocks = block, .u_free = u};
    op->problem.W = (crMatrix){op->rows, op->rows, NULL, NULL, W};
    if (op->impact) {
        memcpy(W, side->W, n * n * sizeof *W);
        memcpy(u, side->w, n * sizeof *u);
        return true;
    }
    op->gap = numbers(tape, n);
    if (op->gap == NULL) return false;
    memcpy(op->gap, eval->posed.rows.gap, n * sizeof *op->gap);
    op->problem.b = b;
    op->problem.h = posed->h;
    op->problem.rest = posed->rest;
    op->problem.shift = posed->shift;
    cr_rows_W(&eval->posed.H, W);
    memcpy(u, posed->u_free, n * sizeof *u);
    memcpy(b, eval->posed.b, n * sizeof *b);
    return true;
}

// the rule as the step calls it
static const crRule* rule_of(crTape* tape, const crTapeOp* op) {
    const crStepSettings* settings = &tape->eval.settings;
    crRule* rule = cr_arena_alloc(&tape->memory, sizeof *rule);
    crRuleParams* params = cr_arena_alloc(&tape->memory, sizeof *params);
    crVec3* points = cr_arena_alloc(&tape->memory, (size_t)(op->contact_count + 1) * sizeof *points);
    if (rule == NULL || params == NULL || points == NULL) return NULL;
    for (int i = 0; i < op->contact_count; i++) {
        points[i] = op->contacts[i].at.point.point;
    }
    *rule = settings->rule;
    *params = cr_rule_params();
    params->law = settings->law;
    params->points = points;
    if (rule->params == NULL) rule->params = params;
    return rule;
}

static crStatus prepare_impact(crTape* tape, crTapeOp* op, crError* error) {
    const crRule* rule = rule_of(tape, op);
    if (rule == NULL) return out_of_memory_tape(error);
    double near = near_of(tape, op);
    crStatus status = cr_rule_modes_find(rule, &op->problem, &tape->memory, op->p, near, &op->rule, error);
    if (status == CR_ERR_MEMORY) return status;
    if (status != CR_OK) cr__tape_unknown(tape, "the rule's problem is not good");
    if (status == CR_OK && op->rule.differenced && op->rule.distance <= near)
        cr__tape_unknown(tape, "an impact is at a switch");
    if (status == CR_OK && op->rule.differenced && tape->known) {
        tape->verdict.differenced = true;
        tape->why = "the rule of an impact, or its law, has no formula";
    }
    if (status == CR_OK) note(tape, op->rule.nearest, op->rule.distance);
    const crTapeTime* time = &tape->times[op->begin];
    if (time->op < 0 || &tape->ops[time->op] != op) return CR_OK;
    const crStepContact* c = &op->contacts[time->contact].at;
    // later than the step, or slower than an impact
    note(tape, CR_SWITCH_OPEN, (tape->dt - time->t) / tape->dt * fabs(time->rate));
    note(tape, CR_SWITCH_OPEN, fabs(time->rate) - c->fast);
    return CR_OK;
}

static crStatus prepare_move(crTape* tape, crTapeOp* op, crError* error) {
    double near = near_of(tape, op);
    crStatus status = cr_modes_find(&op->problem, &tape->memory, op->p, SOLVED, near, &op->modes, error);
    if (status == CR_ERR_MEMORY) return status;
    if (status != CR_OK) {
        cr__tape_unknown(tape, "a contact problem has no modes");
        return CR_OK;
    }
    double h = tape->times[op->end].t - tape->times[op->begin].t;
    for (int i = 0; i < op->contact_count; i++) {
        // a gap that leaves the deadband is another contact
        const crStepContact* c = &op->contacts[i].at;
        double inside = c->delta - fabs(c->point.gap);
        op->closes = op->closes || op->contacts[i].open;
        note(tape, CR_SWITCH_OPEN, fabs(inside) / h);
    }
    for (int i = 0; i < op->problem.block_count; i++) {
        // a limit that presses turns back from where it is, or lets go as far as it is away
        const crBlock* block = &op->problem.blocks[i];
        bool presses = block->kind == CR_BLOCK_UNILATERAL && op->p[block->row] > 0.0;
        if (block->source >= 0 || !presses) continue;
        note(tape, CR_SWITCH_OPEN, fabs(op->gap[block->row]) / h);
        op->closes = true;
        tape->edge = tape->edge || fabs(op->gap[block->row]) <= CR_TAPE_EDGE;
    }
    if (!op->modes.one)
        cr__tape_unknown(tape, "contacts share their load in ways that move bodies differently");
    if (op->modes.verdict != CR_SMOOTH) cr__tape_unknown(tape, "a contact is at a switch");
    note(tape, op->modes.nearest, op->modes.distance);
    return CR_OK;
}

static void keep_part(const crModel* model, const crTapeOp* op, const double* q, const double* v,
                      crState* now) {
    for (int k = 0; k < op->part.count; k++) {
        const crBody* body = &model->bodies[op->part.bodies[k]];
        memcpy(now->q + body->q, q + body->q, (size_t)body->nq * sizeof *q);
        memcpy(now->v + body->v, v + body->v, (size_t)body->nv * sizeof *v);
    }
}

// one operation at `now`, which becomes the state after it
static crStatus prepare_op(crTape* tape, crTapeOp* op, crState* now, crError* error) {
    const crModel* model = tape->model;
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    crTapeSide side;
    op->q = numbers(tape, nq);
    op->v = numbers(tape, nv);
    double* memory = numbers(tape, cr__tape_side_size(tape, op) + nq + nv);
    if (op->q == NULL || op->v == NULL || memory == NULL) return out_of_memory_tape(error);
    memcpy(op->q, now->q, nq * sizeof *op->q);
    memcpy(op->v, now->v, nv * sizeof *op->v);
    cr__tape_side_at(tape, op, memory, &side);
    double *q = memory + cr__tape_side_size(tape, op), *v = q + nq;
    size_t mark = cr_arena_mark(&tape->eval.scratch);
    crStatus status = cr__tape_side(tape, op, NULL, 0.0, &side, error);
    if (status == CR_ERR_RANGE) {
        cr__tape_unknown(tape, "joints have other rows");
        return CR_OK;
    }
    if (status == CR_OK && op->rows > 0) {
        status = prepare_contacts(tape, op);
        if (status == CR_OK && !prepare_response(tape, &tape->eval.posed.rows, &op->Y))
            status = CR_ERR_MEMORY;
        if (status == CR_OK && !copy_problem(tape, op, &side)) status = CR_ERR_MEMORY;
        if (status != CR_OK) return out_of_memory_tape(error);
        status = op->impact ? prepare_impact(tape, op, error) : prepare_move(tape, op, error);
    }
    op->S = side.S;
    bool move = status == CR_OK && tape->known && !op->impact;
    if (move && cr__tape_single_prepare(tape, op) != CR_OK) return out_of_memory_tape(error);
    if (move && op->bodies == NULL && cr__tape_trees_begin(tape, op) != CR_OK)
        return out_of_memory_tape(error);
    cr_arena_release(&tape->eval.scratch, mark);
    if (status != CR_OK || !tape->known) return status;
    if (op->impact) {
        keep_part(model, op, op->q, side.S, now);
        return CR_OK;
    }
    status = cr__tape_move(tape, op, NULL, 0.0, &side, false, NULL, q, v, error);
    keep_part(model, op, q, v, now);
    if (status == CR_OK && cr__tape_trees_end(tape, op, q, v) != CR_OK) return out_of_memory_tape(error);
    return status;
}

// changes of a move by its instants, where these are not fixed
static crStatus prepare_times(crTape* tape, crTapeOp* op, crError* error) {
    crStatus status = CR_OK;
    double** by[2] = {&op->by_begin, &op->by_end};
    const int at[2] = {op->begin, op->end};
    for (int k = 0; k < 2 && status == CR_OK && !op->impact; k++) {
        if (tape->times[at[k]].op < 0) continue;
        *by[k] = numbers(tape, 2 * (size_t)tape->model->nv);
        if (*by[k] == NULL) return out_of_memory_tape(error);
        crTapeChange change = {.begin = k == 0 ? 1.0 : 0.0, .end = k == 1 ? 1.0 : 0.0};
        status = cr__tape_apply_op(tape, op, &change, *by[k], error);
    }
    return status;
}

// position pass

static bool moved_by(const crModel* model, int body, const double* d) {
    const crBody* b = &model->bodies[body];
    for (int i = b->v; i < b->v + b->nv; i++) {
        if (d[i] != 0.0) return true;
    }
    return false;
}

// contacts that the pass left at its aim
static crStatus find_active(crTape* tape, const crState* end, const double* d, crError* error) {
    crStep* eval = &tape->eval;
    const crModel* model = tape->model;
    crTapePass* pass = &tape->pass;
    double margin = 0.0;
    cr__change_copy(model, end, &eval->state);
    eval->part = cr__step_list_awake(eval, &eval->awake);
    for (int b = 1; b < model->nb; b++) {
        margin = fmax(margin, 4.0 * eval->settings.deadband * eval->plan->size[b]);
    }
    cr__part_kinematics(model, cr__step_part(eval), &eval->state, &eval->dynamics);
    crStatus status = cr_step_collide(eval, margin, error);
    if (status == CR_OK) {
        status = cr__part_mass_factor(model, cr__step_part(eval), 0.0, &eval->dynamics);
    }
    if (status != CR_OK) return status;
    int most = eval->contacts.count;
    status = cr_rows_create(&tape->memory, most + 1, 2 * most * model->nv + 1, &pass->normals);
    for (int i = 0; i < most && status == CR_OK; i++) {
        const crStepContact* c = &eval->contacts.list[i];
        bool moves = moved_by(model, c->body_a, d) || moved_by(model, c->body_b, d);
        if (!moves || fabs(c->point.gap + 0.5 * c->delta) > HALF * c->delta) continue;
        crMat3 F = cr_frame(c->point.normal);
        int row = cr_rows_add_point(model, &eval->dynamics, c->body_a, c->body_b, c->point.point, &F, 1,
                                    &pass->normals);
        if (row < 0) status = (crStatus)row;
    }
    pass->rows = pass->normals.count;
    if (status == CR_OK && !prepare_response(tape, &pass->normals, &pass->Y)) status = CR_ERR_MEMORY;
    return status == CR_OK ? CR_OK : out_of_memory_tape(error);
}

static crStatus prepare_pass(crTape* tape, const crState* end, const double* d, crError* error) {
    crTapePass* pass = &tape->pass;
    size_t nv = (size_t)tape->model->nv, mark = cr_arena_mark(&tape->eval.scratch);
    crStatus status = find_active(tape, end, d, error);
    cr_arena_release(&tape->eval.scratch, mark);
    if (status != CR_OK) return status;
    if (pass->rows > CR_TAPE_PASS) {
        cr__tape_unknown(tape, "the position pass has many contacts");
        return CR_OK;
    }
    size_t n = (size_t)pass->rows;
    double* left = numbers(tape, nv);
    pass->LU = numbers(tape, n * n);
    pass->order = cr_arena_alloc(&tape->memory, (2 * n + 1) * sizeof(int));
    if (left == NULL || pass->LU == NULL || pass->order == NULL) return out_of_memory_tape(error);
    for (size_t i = 0; i < n; i++) {
        for (int k = pass->normals.start[i]; k < pass->normals.start[i + 1]; k++) {
            for (size_t j = 0; j < n; j++) {
                pass->LU[i * n + j] +=
                    pass->normals.value[k] * pass->Y[j * nv + (size_t)pass->normals.col[k]];
            }
        }
    }
    pass->rank = cr__lu_complete(pass->LU, pass->rows, RANK, pass->order, pass->order + n);
    // what the pass did must be made of these contacts' pushes
    memcpy(left, d, nv * sizeof *left);
    cr__tape_pass_apply(tape, left);
    if (most_of(left, (int)nv) > 1e-2 * most_of(d, (int)nv))
        cr__tape_unknown(tape, "the position pass is not known");
    return CR_OK;
}

static crStatus compare(crTape* tape, const crState* now, crError* error) {
    const crModel* model = tape->model;
    const crState* end = cr_world_state(tape->world);
    size_t nv = (size_t)model->nv;
    double* d = numbers(tape, nv);
    double* work = numbers(tape, cr__change_work(model));
    if (d == NULL || work == NULL) return out_of_memory_tape(error);
    double speed = most_of(end->v, model->nv) + tape->dt * cr_norm(model->gravity), off = 0.0;
    for (size_t i = 0; i < nv; i++) {
        off = fmax(off, fabs(end->v[i] - now->v[i]));
    }
    if (off > SAME * speed) {
        cr__tape_unknown(tape, "operations do not make the velocities");
        return CR_OK;
    }
    cr__change_between(model, now->q, end->q, d, work);
    double noise = 1e-13 * (1.0 + most_of(end->q, model->nq));
    bool passed = false;
    for (size_t i = 0; i < nv; i++) {
        if (fabs(d[i]) <= noise) d[i] = 0.0;
        passed = passed || d[i] != 0.0;
    }
    // solves that end at a tolerance leave as much
    if (!passed || most_of(d, model->nv) <= SAME * tape->dt * speed) return CR_OK;
    return prepare_pass(tape, end, d, error);
}

crStatus cr__tape_prepare(crTape* tape, crError* error) {
    const crModel* model = tape->model;
    crState now;
    if (cr_state_create(model, &tape->memory, &now) != CR_OK) return out_of_memory_tape(error);
    cr__change_copy(model, &tape->start, &now);
    crStatus status = CR_OK;
    for (int i = 0; i < tape->count && status == CR_OK && tape->known; i++) {
        if (model->nu > 0 && tape->ops[i].begin != 0)
            cr__tape_unknown(tape, "actuators act beyond an impact");
        status = prepare_op(tape, &tape->ops[i], &now, error);
    }
    if (status == CR_OK && tape->known) status = compare(tape, &now, error);
    for (int i = 0; i < tape->count && status == CR_OK && tape->known; i++) {
        status = prepare_times(tape, &tape->ops[i], error);
    }
    return status;
}
