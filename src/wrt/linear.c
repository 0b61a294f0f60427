// linear.c - J v along a tape.
//
// A move at fixed impulses is differenced to either side (evaluate.c): dS and g = dw. Its impulses change by its modes,
// A dp = r(g), and the velocities by dS + M^-1 J^T dp, with which the motion is differenced. An impact is the same with its
// rule. The instant of an impact is where its trigger's gap is zero: dt = -dgap/(gap's rate), and all that was brought to
// it moves on by that (saltation).
// Fails: CR_ERR_MEMORY, CR_ERR_RANGE.
#include <string.h>

#include "linalg/lu.h"
#include "step/step.h"
#include "wrt/change.h"
#include "wrt/tape.h"

#define STEP    2e-5  // largest change that is tried, m, rad, m/s, rad/s
#define PRESSED 2e-6  // where rows turn changes of position into changes of velocity, over h
#define MUCH    6e-4  // change of a velocity by rows that the motion is differenced over

static crStatus no_memory_linear(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "tape", "tape: out of memory");
}

static double most_of_change(const double* x, size_t n) {
    double most = 0.0;
    for (size_t i = 0; x != NULL && i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// about the speed that forces give within h
static double speed_by(const crTape* tape, const crTapeOp* op, const double* f, double h) {
    double most = 0.0;
    for (int n = 0; n < op->part.count; n++) {
        const crBody* b = &tape->model->bodies[op->part.bodies[n]];
        double least = b->principal[0] > 0.0 ? fmin(b->mass, b->principal[0]) : b->mass;
        for (int i = b->v; i < b->v + b->nv; i++) {
            double inertia = b->single && i < b->v + 3 ? b->mass : least;
            // a body without mass moves what it carries
            if (!(inertia > 0.0)) inertia = 1e-2;
            most = fmax(most, h * fabs(f[i]) / inertia);
        }
    }
    return most;
}

// the number that the change is multiplied with
static double step_of(const crTape* tape, const crTapeOp* op, const crTapeChange* c) {
    size_t nv = (size_t)tape->model->nv;
    double h = tape->times[op->end].t - tape->times[op->begin].t, dh = fmax(fabs(c->begin), fabs(c->end));
    double x = most_of_change(c->x, 2 * nv), f = c->f != NULL ? speed_by(tape, op, c->f, h) : 0.0,
           t = INFINITY;
    if (x > 0.0) t = fmin(t, (op->rows > 0 && !op->impact ? PRESSED : STEP) / x);
    // else the motion would be evaluated again, over less
    double shift = op->closes ? most_of_change(c->x, nv) : 0.0;
    if (shift > 0.0) t = fmin(t, STEP * h / shift);
    if (f > 0.0) t = fmin(t, 10.0 * STEP / f);
    if (dh > 0.0) t = fmin(t, 1e-3 * (op->impact ? tape->dt : h) / dh);
    if (c->param != NULL && c->param->kind == CR_WRT_MASS)
        t = fmin(t, 1e-4 * tape->model->bodies[c->param->a].mass);
    if (c->param != NULL && c->param->kind == CR_WRT_CTRL)
        t = fmin(t, 1e-4 * fmax(1.0, fabs(tape->start.ctrl[c->param->a])));
    return t;
}

static bool meets(const crTape* tape, const crTapeContact* c, const crWrtParam* p) {
    const crBodyShape* shapes = tape->model->shapes;
    int a = shapes[c->at.shape_a].material, b = shapes[c->at.shape_b].material;
    return (a == p->a && b == p->b) || (a == p->b && b == p->a);
}

bool cr__tape_meet(const crTape* tape, const crWrtParam* param, double speed) {
    for (int k = 0; k < tape->count; k++) {
        const crTapeOp* op = &tape->ops[k];
        for (int i = 0; i < op->contact_count; i++) {
            if (-op->contacts[i].at.speed > speed && meets(tape, &op->contacts[i], param)) return true;
        }
    }
    return false;
}

// what a parameter of surfaces changes in the blocks of contacts
static void surface_change(const crTape* tape, const crTapeOp* op, const crTapeChange* c, crWrtParamKind kind,
                           double* by) {
    memset(by, 0, (size_t)op->problem.block_count * sizeof *by);
    if (c->param == NULL || c->param->kind != kind) return;
    for (int i = 0; i < op->contact_count; i++) {
        if (meets(tape, &op->contacts[i], c->param)) by[i] = 1.0;
    }
}

static void add_response(const crTape* tape, const crTapeOp* op, const double* dp, double* dv) {
    size_t nv = (size_t)tape->model->nv;
    for (int i = 0; i < op->rows; i++) {
        const double* column = op->Y + (size_t)i * nv;
        for (size_t j = 0; dp[i] != 0.0 && j < nv; j++) {
            dv[j] += column[j] * dp[i];
        }
    }
}

typedef struct Both {
    crTapeSide side[2];  // minus, plus
    double *g, *dp, *du, *dv, *dmu, *dspin, *droll, *de, *det, *dW;
    double *q[2], *v[2], *work;
} Both;

static bool both_at(crTape* tape, const crTapeOp* op, Both* b) {
    size_t n = (size_t)op->rows, nq = (size_t)tape->model->nq, nv = (size_t)tape->model->nv;
    size_t size = cr__tape_side_size(tape, op), blocks = (size_t)op->problem.block_count + 1;
    size_t all = 2 * size + 3 * n + nv + 5 * blocks + (op->impact ? n * n : 0) + 2 * (nq + nv) +
                 cr__change_work(tape->model) + 8;
    double* m = cr_arena_alloc(&tape->memory, all * sizeof *m);
    if (m == NULL) return false;
    memset(m, 0, all * sizeof *m);
    for (int k = 0; k < 2; k++, m += size) {
        cr__tape_side_at(tape, op, m, &b->side[k]);
    }
    b->g = m;
    b->dp = b->g + n;
    b->du = b->dp + n;
    b->dv = b->du + n;
    b->dmu = b->dv + nv;
    b->dspin = b->dmu + blocks;
    b->droll = b->dspin + blocks;
    b->de = b->droll + blocks;
    b->det = b->de + blocks;
    b->dW = b->det + blocks;
    b->q[0] = b->dW + (op->impact ? n * n : 0);
    b->q[1] = b->q[0] + nq;
    b->v[0] = b->q[1] + nq;
    b->v[1] = b->v[0] + nv;
    b->work = b->v[1] + nv;
    return true;
}

static crStatus apply_impact(crTape* tape, crTapeOp* op, const crTapeChange* c, double t, Both* b,
                             double* out, crError* error) {
    size_t n = (size_t)op->rows, nv = (size_t)tape->model->nv;
    const crTapeSide *minus = &b->side[0], *plus = &b->side[1];
    double over = 0.5 / t;
    for (size_t i = 0; i < n; i++) {
        b->g[i] = over * (plus->w[i] - minus->w[i]);
        for (size_t j = 0; j < n; j++) {
            b->dW[i * n + j] = over * (plus->W[i * n + j] - minus->W[i * n + j]);
        }
    }
    surface_change(tape, op, c, CR_WRT_MU, b->dmu);
    surface_change(tape, op, c, CR_WRT_MU_SPIN, b->dspin);
    surface_change(tape, op, c, CR_WRT_MU_ROLL, b->droll);
    surface_change(tape, op, c, CR_WRT_E, b->de);
    surface_change(tape, op, c, CR_WRT_ET, b->det);
    for (int i = 0; i < op->contact_count; i++) {
        b->de[i] += over * (plus->e[3 * i] - minus->e[3 * i]);
        b->det[i] += over * (plus->e[3 * i + 1] - minus->e[3 * i + 1]);
        b->dmu[i] += over * (plus->e[3 * i + 2] - minus->e[3 * i + 2]);
    }
    crRuleChange change = {b->g, b->dW, b->dmu, b->de, b->det, b->dspin, b->droll};
    crStatus status = cr_rule_modes_apply(&op->rule, &change, NULL, b->dp, error);
    if (status != CR_OK) return status;
    // differences of a rule find a switch only where they meet it
    if (op->rule.differenced && op->rule.verdict != CR_SMOOTH)
        cr__tape_unknown(tape, "an impact is at a switch");
    add_response(tape, op, b->dp, b->dv);
    for (size_t i = 0; i < nv; i++) {
        out[i] = c->x != NULL ? c->x[i] : 0.0;
        out[nv + i] = over * (plus->S[i] - minus->S[i]) + b->dv[i];
    }
    return CR_OK;
}

// velocities at fixed impulses for a change of t, from those found
static void nearer_sides(const crTape* tape, const crTapeOp* op, const crTapeChange* c, double over, double t,
                         Both* b) {
    double h = tape->times[op->end].t - tape->times[op->begin].t;
    for (int i = 0; i < tape->model->nv; i++) {
        double dS = over * (b->side[1].S[i] - b->side[0].S[i]);
        b->side[0].S[i] = op->S[i] - t * dS;
        b->side[1].S[i] = op->S[i] + t * dS;
    }
    b->side[0].h = h - t * (c->end - c->begin);
    b->side[1].h = h + t * (c->end - c->begin);
}

static crStatus apply_move(crTape* tape, crTapeOp* op, const crTapeChange* c, double t, Both* b, double* out,
                           crError* error) {
    size_t n = (size_t)op->rows, nv = (size_t)tape->model->nv;
    double over = 0.5 / t;
    crStatus status = CR_OK;
    if (n > 0) {
        for (size_t i = 0; i < n; i++) {
            b->g[i] = over * (b->side[1].w[i] - b->side[0].w[i]);
        }
        surface_change(tape, op, c, CR_WRT_MU, b->dmu);
        surface_change(tape, op, c, CR_WRT_MU_SPIN, b->dspin);
        surface_change(tape, op, c, CR_WRT_MU_ROLL, b->droll);
        crProblemChange change = {b->g, NULL, NULL, b->dmu, b->dspin, b->droll};
        status = cr_modes_apply(&op->modes, &change, b->dp, b->du);
        add_response(tape, op, b->dp, b->dv);
    }
    // where rows make much of a change the motion takes less of it
    double fastest = most_of_change(b->dv, nv), small = fastest * t > MUCH ? STEP / fastest : t;
    if (small < t) nearer_sides(tape, op, c, over, small, b);
    // without rows both were moved when they were evaluated
    for (int k = 1; k >= 0 && status == CR_OK && n > 0; k--) {
        status = cr__tape_move(tape, op, c, k == 0 ? -small : small, &b->side[k], small == t, b->dv, b->q[k],
                               b->v[k], error);
        cr__tape_swap(tape);
    }
    over = 0.5 / small;
    if (status != CR_OK) return status;
    cr__change_between(tape->model, b->q[0], b->q[1], out, b->work);
    for (size_t i = 0; i < nv; i++) {
        out[i] *= over;
        out[nv + i] = over * (b->v[1][i] - b->v[0][i]);
    }
    return CR_OK;
}

// single bodies, by state, forces and friction
static crStatus apply_single(crTape* tape, const crTapeOp* op, const crTapeChange* c, double* out,
                             crError* error) {
    size_t mark = cr_arena_mark(&tape->memory), room = cr__tape_single_work(tape, op);
    size_t blocks = (size_t)op->problem.block_count;
    double* work = cr_arena_alloc(&tape->memory, (room + 3 * blocks + 1) * sizeof *work);
    if (work == NULL) return no_memory_linear(error);
    double *mu = work + room, *spin = mu + blocks, *roll = spin + blocks;
    surface_change(tape, op, c, CR_WRT_MU, mu);
    surface_change(tape, op, c, CR_WRT_MU_SPIN, spin);
    surface_change(tape, op, c, CR_WRT_MU_ROLL, roll);
    crProblemChange friction = {.mu = mu, .mu_spin = spin, .mu_roll = roll};
    cr__tape_single_apply(tape, op, c->x, c->f, friction, work, out);
    cr_arena_release(&tape->memory, mark);
    return CR_OK;
}

crStatus cr__tape_apply_op(crTape* tape, crTapeOp* op, const crTapeChange* c, double* out, crError* error) {
    bool mass = c->param != NULL && c->param->kind == CR_WRT_MASS;
    if (op->bodies != NULL && c->begin == 0.0 && c->end == 0.0 && !mass)
        return apply_single(tape, op, c, out, error);
    size_t mark = cr_arena_mark(&tape->memory), nv = (size_t)tape->model->nv;
    bool state = c->x != NULL && c->param == NULL && c->begin == 0.0 && c->end == 0.0;
    if (state && op->rows == 0 && cr__tape_trees_fly(tape, op)) {
        crStatus made = cr__tape_trees_along(tape, op, c->x, c->f, out);
        return made == CR_OK ? CR_OK : cr_error_set(error, made, "tape", "tape: %s", cr_status_text(made));
    }
    double t = step_of(tape, op, c);
    bool surface = c->param != NULL && op->rows > 0;
    memset(out, 0, 2 * nv * sizeof *out);
    if (!(t < INFINITY)) {
        if (!surface) return CR_OK;
        t = STEP;
    }
    Both b = {0};
    crStatus status = both_at(tape, op, &b) ? CR_OK : no_memory_linear(error);
    for (int k = 0; k < 2 && status == CR_OK; k++) {
        double to = k == 0 ? -t : t;
        if (k == 1 && !op->impact && op->rows > 0) cr__tape_swap(tape);
        status = cr__tape_side(tape, op, c, to, &b.side[k], error);
        if (status == CR_OK && !op->impact && op->rows == 0)
            status = cr__tape_move(tape, op, c, to, &b.side[k], true, NULL, b.q[k], b.v[k], error);
    }
    if (status == CR_OK) {
        status = op->impact ? apply_impact(tape, op, c, t, &b, out, error)
                            : apply_move(tape, op, c, t, &b, out, error);
    }
    cr_arena_release(&tape->memory, mark);
    return status;
}

// the motion of b against a along the normal of the trigger: its row of the 12 is 6, 7, 8
double cr__tape_time_change(const crTape* tape, const crTapeTime* time, const double* x) {
    const crTapeOp* op = &tape->ops[time->op];
    const crRows* rows = &op->motions;
    crVec3 n = op->contacts[time->contact].at.point.normal;
    const double normal[3] = {n.x, n.y, n.z};
    double gap = 0.0;
    for (int k = 0; k < 3; k++) {
        int row = 12 * time->contact + 6 + k;
        for (int i = rows->start[row]; i < rows->start[row + 1]; i++) {
            gap += normal[k] * rows->value[i] * x[rows->col[i]];
        }
    }
    return -gap / time->rate;
}

void cr__tape_time_back(const crTape* tape, const crTapeTime* time, double by, double* x) {
    const crTapeOp* op = &tape->ops[time->op];
    const crRows* rows = &op->motions;
    crVec3 n = op->contacts[time->contact].at.point.normal;
    const double normal[3] = {n.x, n.y, n.z};
    for (int k = 0; k < 3; k++) {
        int row = 12 * time->contact + 6 + k;
        for (int i = rows->start[row]; i < rows->start[row + 1]; i++) {
            x[rows->col[i]] -= by / time->rate * normal[k] * rows->value[i];
        }
    }
}

// dq - Y (N Y)^-1 N dq
void cr__tape_pass_apply(const crTape* tape, double* dq) {
    const crTapePass* p = &tape->pass;
    size_t n = (size_t)p->rows, nv = (size_t)tape->model->nv;
    if (n == 0) return;
    double u[CR_TAPE_PASS], work[CR_TAPE_PASS], lambda[CR_TAPE_PASS];
    for (size_t i = 0; i < n; i++) {
        u[i] = 0.0;
        for (int k = p->normals.start[i]; k < p->normals.start[i + 1]; k++) {
            u[i] += p->normals.value[k] * dq[p->normals.col[k]];
        }
    }
    cr__lu_complete_solve(p->LU, p->rows, p->rank, p->order, p->order + n, u, work, lambda);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < nv; j++) {
            dq[j] -= p->Y[i * nv + j] * lambda[i];
        }
    }
}

// the transpose: N Y is symmetric
void cr__tape_pass_back(const crTape* tape, double* by) {
    const crTapePass* p = &tape->pass;
    size_t n = (size_t)p->rows, nv = (size_t)tape->model->nv;
    if (n == 0) return;
    double u[CR_TAPE_PASS], work[CR_TAPE_PASS], lambda[CR_TAPE_PASS];
    for (size_t i = 0; i < n; i++) {
        u[i] = 0.0;
        for (size_t j = 0; j < nv; j++) {
            u[i] += p->Y[i * nv + j] * by[j];
        }
    }
    cr__lu_complete_solve(p->LU, p->rows, p->rank, p->order, p->order + n, u, work, lambda);
    for (size_t i = 0; i < n; i++) {
        for (int k = p->normals.start[i]; k < p->normals.start[i + 1]; k++) {
            by[p->normals.col[k]] -= p->normals.value[k] * lambda[i];
        }
    }
}

static void merge_part(const crModel* model, const crTapeOp* op, const double* from, double* x) {
    size_t nv = (size_t)model->nv;
    for (int k = 0; k < op->part.count; k++) {
        const crBody* body = &model->bodies[op->part.bodies[k]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            x[i] = from[i];
            x[nv + (size_t)i] = from[nv + (size_t)i];
        }
    }
}

// all that was brought to an instant moves on as the instant does
static void move_on(const crTape* tape, int at, double dt, double* x) {
    const crModel* model = tape->model;
    size_t nv = (size_t)model->nv;
    for (int i = 0; i < tape->times[at].op; i++) {
        const crTapeOp* op = &tape->ops[i];
        if (op->impact || op->end != at) continue;
        for (int k = 0; k < op->part.count; k++) {
            const crBody* body = &model->bodies[op->part.bodies[k]];
            for (int j = body->v; j < body->v + body->nv; j++) {
                x[j] += dt * op->by_end[j];
                x[nv + (size_t)j] += dt * op->by_end[nv + (size_t)j];
            }
        }
    }
}

crStatus cr__tape_apply(crTape* tape, const double* d, const double* f, const crWrtParam* param, double* x,
                        crError* error) {
    const crModel* model = tape->model;
    size_t nv = (size_t)model->nv, mark = cr_arena_mark(&tape->memory);
    double* out = cr_arena_alloc(&tape->memory, (2 * nv + 1) * sizeof *out);
    double* dt = cr_arena_alloc(&tape->memory, (size_t)(tape->time_count + 1) * sizeof *dt);
    if (out == NULL || dt == NULL) return no_memory_linear(error);
    memset(dt, 0, (size_t)tape->time_count * sizeof *dt);
    for (size_t i = 0; i < 2 * nv; i++) {
        x[i] = d != NULL ? d[i] : 0.0;
    }
    crStatus status = CR_OK;
    for (int i = 0; i < tape->count && status == CR_OK; i++) {
        crTapeOp* op = &tape->ops[i];
        if (tape->times[op->begin].op == i) {
            dt[op->begin] = cr__tape_time_change(tape, &tape->times[op->begin], x);
            move_on(tape, op->begin, dt[op->begin], x);
        }
        // the end of a move is fixed until the impact there is known
        crTapeChange change = {.x = x, .f = f, .param = param};
        if (op->impact) change.begin = change.end = dt[op->begin];
        status = cr__tape_apply_op(tape, op, &change, out, error);
        for (size_t j = 0; !op->impact && op->by_begin != NULL && j < 2 * nv; j++) {
            out[j] += dt[op->begin] * op->by_begin[j];
        }
        // bodies that came along to an impact that is known already
        bool late = !op->impact && op->by_end != NULL && tape->times[op->end].op < i;
        for (size_t j = 0; late && j < 2 * nv; j++) {
            out[j] += dt[op->end] * op->by_end[j];
        }
        merge_part(model, op, out, x);
    }
    cr__tape_pass_apply(tape, x);
    cr_arena_release(&tape->memory, mark);
    return status;
}
