// joint_rows.c - rows for joint limits, motors and dry friction.
//
// A limit is u = +-v >= 0 where its gap is zero; a motor drives u = v - motor_speed to zero with a bounded
// force; dry friction does so with u = v. The angle of a ball, |phi|, grows by omega . phi/|phi|, in the
// parent's axes as in the body's. Fails: CR_ERR_LIMIT where the caller's rows or list are full.
#include "model/joint.h"
#include "model/rows.h"

typedef struct Output {
    bool limits;  // true if there are to be no other rows
    int count, capacity;
    crJointRow* info;
    crRows* rows;
} Output;

static crStatus add(Output* out, crJointRowKind kind, int dof, double limit, int width, const double* value,
                    double w_hat, double gap) {
    if (out->count == out->capacity) return CR_ERR_LIMIT;
    int row = cr__rows_begin(out->rows, 1, width);
    if (row < 0) return CR_ERR_LIMIT;
    int start = out->rows->start[row];
    for (int i = 0; i < width; i++) {
        out->rows->col[start + i] = dof + i;
        out->rows->value[start + i] = value[i];
    }
    out->rows->w_hat[row] = w_hat;
    out->rows->gap[row] = gap;
    out->info[out->count++] = (crJointRow){kind, dof, row, limit};
    return CR_OK;
}

static crStatus add_ball_limit(const crBody* body, double upper, const double* q, double margin,
                               Output* out) {
    if (!(upper < INFINITY)) return CR_OK;
    crVec3 phi = cr__joint(body)->log(q);
    double angle = cr_norm(phi);
    if (!(upper - angle < margin) || !(angle > 0.0)) return CR_OK;
    double value[3] = {-phi.x / angle, -phi.y / angle, -phi.z / angle};
    return add(out, CR_ROW_LIMIT, body->v, INFINITY, 3, value, 0.0, upper - angle);
}

static crStatus add_dof(const crBody* body, const crDof* dof, int j, const crState* state, double margin,
                        Output* out) {
    const double up = 1.0, down = -1.0;
    int at = body->v + j;
    crStatus status = CR_OK;
    if (body->nq == body->nv) {
        double q = state->q[body->q + j];
        if (q - dof->lower < margin)
            status = add(out, CR_ROW_LIMIT, at, INFINITY, 1, &up, 0.0, q - dof->lower);
        if (status == CR_OK && dof->upper - q < margin) {
            status = add(out, CR_ROW_LIMIT, at, INFINITY, 1, &down, 0.0, dof->upper - q);
        }
    }
    if (out->limits) return status;
    if (status == CR_OK && dof->motor_force > 0.0) {
        status = add(out, CR_ROW_MOTOR, at, dof->motor_force, 1, &up, -state->motor_speed[at], 0.0);
    }
    if (status == CR_OK && dof->friction > 0.0) {
        status = add(out, CR_ROW_FRICTION, at, dof->friction, 1, &up, 0.0, 0.0);
    }
    return status;
}

static int add_part(const crModel* model, crPart part, const crState* state, double margin, Output out) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(part, k)];
        crStatus status = CR_OK;
        // these have neither limits nor motors
        if (body->joint == CR_JOINT_FREE) continue;
        if (cr__joint(body)->log != NULL) {
            status =
                add_ball_limit(body, cr_model_dof(model, body->v)->upper, state->q + body->q, margin, &out);
        }
        for (int j = 0; j < body->nv && status == CR_OK; j++) {
            status = add_dof(body, cr_model_dof(model, body->v + j), j, state, margin, &out);
        }
        if (status != CR_OK) return status;
    }
    return out.count;
}

int cr__part_add_joints(const crModel* model, crPart part, const crState* state, double margin, int capacity,
                        crJointRow* info, crRows* rows) {
    return add_part(model, part, state, margin, (Output){false, 0, capacity, info, rows});
}

int cr__part_add_limits(const crModel* model, crPart part, const crState* state, double margin, int capacity,
                        crJointRow* info, crRows* rows) {
    return add_part(model, part, state, margin, (Output){true, 0, capacity, info, rows});
}

int cr_rows_add_joints(const crModel* model, const crState* state, double margin, int capacity,
                       crJointRow* info, crRows* rows) {
    if (!cr__state_fits(model, state) || info == NULL || rows == NULL || capacity < 0) return CR_ERR_ARGUMENT;
    return cr__part_add_joints(model, cr__all(model), state, margin, capacity, info, rows);
}

void cr_model_joint_sizes(const crModel* model, int* rows, int* entries) {
    if (model == NULL || rows == NULL || entries == NULL) return;
    *rows = 0;
    *entries = 0;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        for (int j = 0; j < body->nv; j++) {
            const crDof* dof = cr_model_dof(model, body->v + j);
            bool ball = cr__joint(body)->log != NULL;
            int single = (dof->motor_force > 0.0) + (dof->friction > 0.0) + (dof->lower > -INFINITY);
            int limit = dof->upper < INFINITY;
            *rows += single + limit;
            *entries += single + (ball ? 3 : 1) * limit;
        }
    }
}
