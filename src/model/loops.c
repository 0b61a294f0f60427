// loops.c - rows of loop closures, and the Newton iteration that closes them.
//
// connect: x_b - x_a = 0 in world axes. weld: and the rotation vector of R_b R_a^T is 0. distance: |x_b -
// x_a| = length. joint: q_a - sum of coef[k] q_b^k = 0. A range has the row of its nearer end, turned so that
// u >= 0 keeps it; Newton takes those that are passed. Newton: q moves by M^-1 J^T W^+ (-gap), the shortest
// step in the metric of M, W^+ as in counter.c, so that redundant loops (a planar mechanism closed in space)
// do no harm; v then loses M^-1 J^T W^+ (J v + w_hat). Fails: CR_ERR_REGION where the loops cannot be
// reached, q and v as they were; CR_ERR_MEMORY; CR_ERR_DEFINITE from M.
#include <string.h>

#include "base/argument.h"
#include "model/rows.h"
#include "model/spatial.h"

#define NEWTON_STEPS 50

static const int loop_rows[] = {3, 6, 1, 1};

static crMat3 world_axes(void) {
    return cr_mat3_columns(cr_vec3(1, 0, 0), cr_vec3(0, 1, 0), cr_vec3(0, 0, 1));
}

// rotation vector from a's frame to b's, world axes
static crVec3 misalignment(const crLoop* loop, const crDynamics* d) {
    crQuat qa = cr_quat_mul(d->pose[loop->a].q, loop->pose_a.q);
    crQuat qb = cr_quat_mul(d->pose[loop->b].q, loop->pose_b.q);
    return cr__rotation_log(cr_quat_mul(qb, cr_quat_conj(qa)));
}

static int add_distance(const crModel* model, const crDynamics* d, const crLoop* loop, crEnds ends,
                        crRows* rows) {
    crVec3 apart = cr_sub(ends.xb, ends.xa);
    double length = cr_norm(apart);
    // coinciding points have no direction: part them along x
    crVec3 n = length > 0.0 ? cr_scale(1.0 / length, apart) : cr_vec3(1, 0, 0);
    crMat3 frame = cr_frame(n);
    int first = cr__rows_add(model, d, &ends, &frame, 1, rows);
    if (first >= 0) rows->gap[first] = cr_loop_ranges(loop) ? length : length - loop->length;
    return first;
}

// a row whose gap is the quantity itself: the nearer end of its range
static int to_nearer_end(const crLoop* loop, int row, crRows* rows) {
    if (row < 0) return row;
    double below = rows->gap[row] - loop->lower, above = loop->upper - rows->gap[row];
    rows->gap[row] = below < above ? below : above;
    if (below < above) return row;
    for (int i = rows->start[row]; i < rows->start[row + 1]; i++) {
        rows->value[i] = -rows->value[i];
    }
    rows->w_hat[row] = -rows->w_hat[row];
    return row;
}

// one column for each of the two joints, ascending
static int add_joint(const crModel* model, const crDynamics* d, const crLoop* loop, crRows* rows) {
    const crBody* a = &model->bodies[loop->a];
    const crBody* b = &model->bodies[loop->b];
    bool alone = loop->b == CR_WORLD;
    double q = alone ? 0.0 : d->q[b->q];
    const double* c = loop->coef;
    int first = cr__rows_begin(rows, 1, alone ? 1 : 2);
    if (first < 0) return first;
    int at = rows->start[first];
    bool after = !alone && b->v < a->v;
    rows->col[at + after] = a->v;
    rows->value[at + after] = 1.0;
    if (!alone) {
        rows->col[at + !after] = b->v;
        rows->value[at + !after] = -(c[1] + q * (2.0 * c[2] + q * (3.0 * c[3] + q * 4.0 * c[4])));
    }
    rows->gap[first] = d->q[a->q] - (c[0] + q * (c[1] + q * (c[2] + q * (c[3] + q * c[4]))));
    return first;
}

int cr_rows_add_loop(const crModel* model, const crDynamics* d, int index, crRows* rows) {
    if (!cr__dynamics_fits(model, d) || rows == NULL) return CR_ERR_ARGUMENT;
    if (index < 0 || index >= model->loop_count) return CR_ERR_ARGUMENT;
    const crLoop* loop = &model->loops[index];
    if (loop->kind == CR_LOOP_JOINT) {
        int row = add_joint(model, d, loop, rows);
        return cr_loop_ranges(loop) ? to_nearer_end(loop, row, rows) : row;
    }
    crEnds ends = {.a = loop->a, .b = loop->b};
    ends.xa = cr_pose_point(d->pose[loop->a], loop->pose_a.p);
    ends.xb = cr_pose_point(d->pose[loop->b], loop->pose_b.p);
    if (loop->kind == CR_LOOP_DISTANCE) {
        int row = add_distance(model, d, loop, ends, rows);
        return cr_loop_ranges(loop) ? to_nearer_end(loop, row, rows) : row;
    }
    if (rows->count + loop_rows[loop->kind] > rows->capacity) return CR_ERR_LIMIT;
    crRows before = *rows;
    crMat3 frame = world_axes();
    int first = cr__rows_add(model, d, &ends, &frame, 3, rows);
    if (first < 0) return first;
    cr__store_vec(cr_sub(ends.xb, ends.xa), rows->gap + first);
    if (loop->kind != CR_LOOP_WELD) return first;
    ends.spin = true;
    int turn = cr__rows_add(model, d, &ends, &frame, 3, rows);
    if (turn < 0) {
        *rows = before;
        return turn;
    }
    cr__store_vec(misalignment(loop, d), rows->gap + turn);
    return first;
}

void cr_model_loop_sizes(const crModel* model, int* rows, int* entries) {
    if (model == NULL || rows == NULL || entries == NULL) return;
    *rows = 0;
    int64_t sum = 0;
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        *rows += loop_rows[loop->kind];
        sum += (int64_t)loop_rows[loop->kind] * (cr__depth(model, loop->a) + cr__depth(model, loop->b));
    }
    // more than an index can count: no memory will do
    *entries = sum < INT32_MAX ? (int)sum : INT32_MAX;
}

typedef struct Work {
    crArena* arena;
    crRows rows;
    double* q;   // as it was (nq)
    double* u;   // (rows)
    double* p;   // (rows)
    double* dv;  // (nv)
} Work;

static crStatus create_work(const crModel* model, crArena* arena, Work* w) {
    int n, entries;
    cr_model_loop_sizes(model, &n, &entries);
    crStatus status = cr_rows_create(arena, n, entries, &w->rows);
    w->q = cr_arena_alloc(arena, (size_t)model->nq * sizeof(double));
    w->u = cr_arena_alloc(arena, (size_t)n * sizeof(double));
    w->p = cr_arena_alloc(arena, (size_t)n * sizeof(double));
    w->dv = cr_arena_alloc(arena, (size_t)model->nv * sizeof(double));
    bool ok = w->q != NULL && w->u != NULL && w->p != NULL && w->dv != NULL;
    return status == CR_OK && ok ? CR_OK : CR_ERR_MEMORY;
}

// M's factor and the rows in the present position
static crStatus linearize(const crModel* model, const crState* state, crDynamics* d, Work* w) {
    cr_model_kinematics(model, state, d);
    crStatus status = cr_model_mass_factor(model, 0.0, d);
    if (status != CR_OK) return status;
    w->rows.count = 0;
    w->rows.entries = 0;
    for (int i = 0; i < model->loop_count; i++) {
        crRows before = w->rows;
        int first = cr_rows_add_loop(model, d, i, &w->rows);
        if (first < 0) return (crStatus)first;
        if (cr_loop_ranges(&model->loops[i]) && w->rows.gap[first] >= 0.0) w->rows = before;
    }
    return CR_OK;
}

// dv = -M^-1 J^T W^+ u
static crStatus correction(const crModel* model, const crDynamics* d, const double* u, Work* w) {
    crStatus status = cr__rows_counter(model, d, &w->rows, w->arena, u, w->p);
    if (status != CR_OK) return status;
    for (int i = 0; i < model->nv; i++) {
        w->dv[i] = 0.0;
    }
    cr_rows_add_impulse(&w->rows, w->p, w->dv);
    cr_model_mass_solve(model, d, w->dv);
    return CR_OK;
}

// v without what opens the loops
static crStatus close_velocity(const crModel* model, const crDynamics* d, crState* state, Work* w) {
    cr_rows_velocity(&w->rows, state->v, w->u);
    bool opens = false;
    for (int i = 0; i < w->rows.count; i++) {
        opens = opens || w->u[i] != 0.0;
    }
    if (!opens) return CR_OK;
    crStatus status = correction(model, d, w->u, w);
    for (int i = 0; i < model->nv && status == CR_OK; i++) {
        state->v[i] += w->dv[i];
    }
    return status;
}

static crStatus blame(crError* error, crStatus status) {
    return cr_error_set(error, status, "", "%s", cr_status_text(status));
}

static crStatus newton(const crModel* model, double tol, crDynamics* d, crState* state, Work* w,
                       crError* error) {
    double gap = INFINITY;
    for (int step = 0; step < NEWTON_STEPS; step++) {
        crStatus status = linearize(model, state, d, w);
        if (status != CR_OK) return blame(error, status);
        gap = cr__rows_worst_gap(&w->rows);
        if (gap <= tol) return CR_OK;
        if (!isfinite(gap)) break;
        status = correction(model, d, w->rows.gap, w);
        if (status != CR_OK) return blame(error, status);
        cr__advance(model, 1.0, w->dv, state->q);
    }
    return cr_error_set(error, CR_ERR_REGION, "loops", "loops: still open by %.6g after %d steps", gap,
                        NEWTON_STEPS);
}

crStatus cr_model_close_loops(const crModel* model, double tol, crArena* arena, crDynamics* d, crState* state,
                              crError* error) {
    if (model == NULL) return cr__missing(error, "model");
    if (arena == NULL) return cr__missing(error, "arena");
    if (!cr__dynamics_fits(model, d)) return cr__missing(error, "d");
    if (!cr__state_fits(model, state)) return cr__missing(error, "state");
    if (!(tol > 0.0)) return cr_error_set(error, CR_ERR_ARGUMENT, "tol", "tol: is %g, must be > 0", tol);
    size_t mark = cr_arena_mark(arena);
    Work w = {.arena = arena};
    crStatus status = create_work(model, arena, &w);
    if (status != CR_OK) {
        cr_error_set(error, status, "arena", "arena: out of memory");
    } else {
        if (model->nq > 0) memcpy(w.q, state->q, (size_t)model->nq * sizeof(double));
        status = newton(model, tol, d, state, &w, error);
        if (status == CR_OK) {
            status = close_velocity(model, d, state, &w);
            if (status != CR_OK) blame(error, status);
        }
        if (status != CR_OK && model->nq > 0) {
            memcpy(state->q, w.q, (size_t)model->nq * sizeof(double));
        }
    }
    cr_arena_release(arena, mark);
    return status;
}
