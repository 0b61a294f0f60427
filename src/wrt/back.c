// back.c - v^T J along a tape, backwards.
//
// Each operation's columns come from linear.c: bodies that no contact of the operation ties to each other do not act on
// each other, so one evaluation serves a column of each such group. By an applied force of a single body a column is h M^-1 of
// those by its velocity. Instants collect what later operations and those that were brought to them give, and pass it
// on to the trigger's gap.
// Fails: CR_ERR_MEMORY, CR_ERR_RANGE.
#include <string.h>

#include "base/forest.h"
#include "model/spatial.h"
#include "step/step.h"
#include "wrt/inside.h"

typedef struct Back {
    crTape* tape;
    double* by;    // by the state (2 nv)
    double* part;  // of it what the operation makes (2 nv)
    double* x;     // a change (2 nv)
    double* f;     // of the forces (nv)
    double* out;   // (2 nv)
    double* time;  // by each instant
    int* group;    // of each body (nb)
    int* first;    // velocities of each group's bodies so far, by group (nb)
    int* place;    // of each velocity within its group (nv)
} Back;

static crStatus no_memory_back(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "tape", "tape: out of memory");
}

static bool back_create(crTape* tape, Back* b) {
    size_t nv = (size_t)tape->model->nv, nb = (size_t)tape->model->nb;
    double* m = cr_arena_alloc(&tape->memory, (9 * nv + (size_t)tape->time_count + 1) * sizeof *m);
    int* n = cr_arena_alloc(&tape->memory, (2 * nb + nv + 1) * sizeof *n);
    if (m == NULL || n == NULL) return false;
    *b = (Back){
        .tape = tape, .by = m, .part = m + 2 * nv, .x = m + 4 * nv, .out = m + 6 * nv, .f = m + 8 * nv};
    b->time = m + 9 * nv;
    b->group = n;
    b->first = n + nb;
    b->place = n + 2 * nb;
    memset(b->time, 0, (size_t)tape->time_count * sizeof *b->time);
    return true;
}

// groups of an operation's bodies; returns the velocities of the largest
static int find_groups(Back* b, const crTapeOp* op) {
    const crModel* model = b->tape->model;
    int widest = 0;
    for (int k = 0; k < model->nb; k++) {
        b->group[k] = k;
        b->first[k] = 0;
    }
    for (int k = 0; k < op->part.count; k++) {
        int body = op->part.bodies[k];
        if (cr__moves(model, body)) cr__forest_join(b->group, body, model->bodies[body].root);
        // a force of the user's may tie anything to anything
        if (b->tape->eval.calls.force != NULL && cr__moves(model, body) && k > 0 &&
            cr__moves(model, op->part.bodies[k - 1]))
            cr__forest_join(b->group, body, op->part.bodies[k - 1]);
    }
    for (int i = 0; i < op->contact_count; i++) {
        int a = op->contacts[i].at.body_a, c = op->contacts[i].at.body_b;
        if (cr__moves(model, a) && cr__moves(model, c)) cr__forest_join(b->group, a, c);
    }
    for (int k = 0; k < op->part.count; k++) {
        const crBody* body = &model->bodies[op->part.bodies[k]];
        int root = b->group[op->part.bodies[k]] = cr__forest_find(b->group, op->part.bodies[k]);
        for (int i = body->v; i < body->v + body->nv; i++) {
            b->place[i] = b->first[root]++;
        }
        if (b->first[root] > widest) widest = b->first[root];
    }
    return widest;
}

// into[j] += part . out over the group of velocity j, for the velocity of each group at place k
static void collect(const Back* b, const crTapeOp* op, int k, double* into) {
    const crModel* model = b->tape->model;
    size_t nv = (size_t)model->nv;
    double* sum = b->f;  // by group, at the group's first velocity; f is not in use
    for (int n = 0; n < op->part.count; n++) {
        const crBody* body = &model->bodies[op->part.bodies[n]];
        const crBody* root = &model->bodies[b->group[op->part.bodies[n]]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            if (b->place[i] == 0) sum[root->v] = 0.0;
        }
    }
    for (int n = 0; n < op->part.count; n++) {
        const crBody* body = &model->bodies[op->part.bodies[n]];
        const crBody* root = &model->bodies[b->group[op->part.bodies[n]]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            sum[root->v] += b->part[i] * b->out[i] + b->part[nv + (size_t)i] * b->out[nv + (size_t)i];
        }
    }
    for (int n = 0; n < op->part.count; n++) {
        const crBody* body = &model->bodies[op->part.bodies[n]];
        const crBody* root = &model->bodies[b->group[op->part.bodies[n]]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            if (b->place[i] == k) into[i] += sum[root->v];
        }
    }
}

static void unit(const Back* b, const crTapeOp* op, int k, double* x) {
    const crModel* model = b->tape->model;
    for (int n = 0; n < op->part.count; n++) {
        const crBody* body = &model->bodies[op->part.bodies[n]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            x[i] = b->place[i] == k ? 1.0 : 0.0;
        }
    }
}

static bool drags_in_air(const crBody* body) { return body->linear_drag != 0.0 || body->angular_drag != 0.0; }

// whether all bodies are single and forces act on them as velocities do
static bool all_single(const Back* b, const crTapeOp* op) {
    const crModel* model = b->tape->model;
    bool single = b->tape->eval.calls.force == NULL;
    for (int n = 0; n < op->part.count; n++) {
        int body = op->part.bodies[n];
        if (!cr__moves(model, body)) continue;
        single = single && model->bodies[body].single && !drags_in_air(&model->bodies[body]);
    }
    return single;
}

// by forces from those by velocities: h M^-1, at the state before the move
static void single_forces(Back* b, const crTapeOp* op, const double* before, double* by_force) {
    crTape* tape = b->tape;
    crStep* eval = &tape->eval;
    const crModel* model = tape->model;
    size_t nv = (size_t)model->nv;
    double h = tape->times[op->end].t - tape->times[op->begin].t;
    memcpy(eval->state.q, op->q, (size_t)model->nq * sizeof(double));
    eval->part = op->part;
    cr__part_kinematics(model, cr__step_part(eval), &eval->state, &eval->dynamics);
    if (cr__part_mass_factor(model, cr__step_part(eval), 0.0, &eval->dynamics) != CR_OK) return;
    memset(b->f, 0, nv * sizeof *b->f);
    for (int n = 0; n < op->part.count; n++) {
        const crBody* body = &model->bodies[op->part.bodies[n]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            b->f[i] = h * before[nv + (size_t)i];
        }
    }
    cr__part_mass_solve(model, cr__step_part(eval), &eval->dynamics, b->f);
    for (size_t i = 0; i < nv; i++) {
        by_force[i] += b->f[i];
    }
}

// the closed form of single bodies
static crStatus back_single(Back* b, const crTapeOp* op, double* before, double* by_force, crError* error) {
    crTape* tape = b->tape;
    size_t mark = cr_arena_mark(&tape->memory);
    double* work = cr_arena_alloc(&tape->memory, cr__tape_single_work(tape, op) * sizeof *work);
    if (work == NULL) return no_memory_back(error);
    cr__tape_single_back(tape, op, b->part, work, before, by_force);
    cr_arena_release(&tape->memory, mark);
    return CR_OK;
}

// columns of one operation: `before` (2 nv) by the state before it, by_force adds up
static crStatus columns(Back* b, crTapeOp* op, double* before, double* by_force, crError* error) {
    size_t nv = (size_t)b->tape->model->nv;
    if (op->bodies != NULL) return back_single(b, op, before, by_force, error);
    if (op->trees != NULL) {
        crStatus made = cr__tape_trees_back(b->tape, op, b->part, before, by_force);
        return made == CR_OK ? CR_OK : cr_error_set(error, made, "tape", "tape: %s", cr_status_text(made));
    }
    int widest = find_groups(b, op);
    bool single = all_single(b, op);
    crStatus status = CR_OK;
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 2 && (op->impact || single)) continue;
        for (int k = 0; k < widest && status == CR_OK; k++) {
            crTapeChange change = {0};
            memset(b->x, 0, 2 * nv * sizeof *b->x);
            memset(b->f, 0, nv * sizeof *b->f);
            unit(b, op, k, kind == 2 ? b->f : b->x + (size_t)kind * nv);
            if (kind == 2) change.f = b->f;
            if (kind < 2) change.x = b->x;
            status = cr__tape_apply_op(b->tape, op, &change, b->out, error);
            if (status == CR_OK) collect(b, op, k, kind == 2 ? by_force : before + (size_t)kind * nv);
        }
    }
    if (status == CR_OK && !op->impact && single) single_forces(b, op, before, by_force);
    return status;
}

static double dot_part(const crModel* model, const crTapeOp* op, const double* x, const double* y) {
    size_t nv = (size_t)model->nv;
    double sum = 0.0;
    for (int n = 0; n < op->part.count; n++) {
        const crBody* body = &model->bodies[op->part.bodies[n]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            sum += x[i] * y[i] + x[nv + (size_t)i] * y[nv + (size_t)i];
        }
    }
    return sum;
}

static crStatus by_params(Back* b, crTapeOp* op, int count, const crWrtParam* params, double* out,
                          crError* error) {
    crStatus status = CR_OK;
    for (int i = 0; i < count && status == CR_OK; i++) {
        crTapeChange change = {.param = &params[i]};
        bool surface = params[i].kind != CR_WRT_MASS && params[i].kind != CR_WRT_CTRL;
        if (surface && op->rows == 0) continue;
        status = cr__tape_apply_op(b->tape, op, &change, b->out, error);
        out[i] += dot_part(b->tape->model, op, b->part, b->out);
    }
    return status;
}

// what the instants of an operation get
static crStatus by_times(Back* b, crTapeOp* op, int index, crError* error) {
    crTape* tape = b->tape;
    const crModel* model = tape->model;
    if (op->by_begin != NULL) b->time[op->begin] += dot_part(model, op, op->by_begin, b->part);
    if (op->by_end != NULL && tape->times[op->end].op < index)
        b->time[op->end] += dot_part(model, op, op->by_end, b->part);
    if (!op->impact || tape->eval.plan->given_count == 0 || tape->times[op->begin].op < 0) return CR_OK;
    crTapeChange change = {.begin = 1.0, .end = 1.0};
    crStatus status = cr__tape_apply_op(tape, op, &change, b->out, error);
    if (status == CR_OK) b->time[op->begin] += dot_part(model, op, b->out, b->part);
    return status;
}

// the instant that an impact defines passes on what it got
static void leave_instant(Back* b, int index) {
    crTape* tape = b->tape;
    int at = tape->ops[index].begin;
    if (tape->times[at].op != index) return;
    for (int i = 0; i < index; i++) {
        const crTapeOp* op = &tape->ops[i];
        if (!op->impact && op->end == at) b->time[at] += dot_part(tape->model, op, op->by_end, b->by);
    }
    cr__tape_time_back(tape, &tape->times[at], b->time[at], b->by);
}

crStatus cr__tape_back(crTape* tape, const double* by, int param_count, const crWrtParam* params, double* out,
                       crError* error) {
    const crModel* model = tape->model;
    size_t nv = (size_t)model->nv, mark = cr_arena_mark(&tape->memory);
    Back b;
    double* before = cr_arena_alloc(&tape->memory, (2 * nv + 1) * sizeof *before);
    if (before == NULL || !back_create(tape, &b)) return no_memory_back(error);
    double *by_force = out + 2 * nv, *by_param = out + 3 * nv;
    memset(out, 0, (3 * nv + (size_t)param_count) * sizeof *out);
    memcpy(b.by, by, 2 * nv * sizeof *by);
    cr__tape_pass_back(tape, b.by);
    crStatus status = CR_OK;
    for (int i = tape->count - 1; i >= 0 && status == CR_OK; i--) {
        crTapeOp* op = &tape->ops[i];
        memcpy(b.part, b.by, 2 * nv * sizeof *b.by);
        memset(before, 0, 2 * nv * sizeof *before);
        status = by_times(&b, op, i, error);
        if (status == CR_OK) status = by_params(&b, op, param_count, params, by_param, error);
        if (status == CR_OK) status = columns(&b, op, before, by_force, error);
        for (int n = 0; n < op->part.count; n++) {
            const crBody* body = &model->bodies[op->part.bodies[n]];
            for (int j = body->v; j < body->v + body->nv; j++) {
                b.by[j] = before[j];
                b.by[nv + (size_t)j] = before[nv + (size_t)j];
            }
        }
        leave_instant(&b, i);
    }
    memcpy(out, b.by, 2 * nv * sizeof *out);
    cr_arena_release(&tape->memory, mark);
    return status;
}
