// ties.c - forces of loops, limits, motors and dry friction from the last solve, for the warm start.
//
// The list has six places per loop, then four per velocity (lower limit, upper limit, motor, dry friction) of
// every body that has any of these. The force of a row without part in a solve is zero after it.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "step/step.h"

enum { LOOP_ROWS = 6, DOF_ROWS = 4 };

static bool has_rows(const crModel* model, const crBody* body) {
    for (int j = body->v; j < body->v + body->nv; j++) {
        const crDof* dof = cr_model_dof(model, j);
        if (dof->lower > -INFINITY || dof->upper < INFINITY || dof->motor_force > 0.0 || dof->friction > 0.0)
            return true;
    }
    return false;
}

crStatus cr__step_ties_create(const crModel* model, crArena* store, crStepTies* ties) {
    if (!CR_ROOMS(store, CR_ROOM(ties->first, model->nb))) return CR_ERR_MEMORY;
    ties->count = LOOP_ROWS * model->loop_count;
    for (int b = 0; b < model->nb; b++) {
        ties->first[b] = ties->count;
        if (has_rows(model, &model->bodies[b])) ties->count += DOF_ROWS * model->bodies[b].nv;
    }
    return CR_ROOMS(store, CR_ZERO(ties->force, ties->count + 1)) ? CR_OK : CR_ERR_MEMORY;
}

void cr__step_tie_loop(int* of_row, int loop, int row, int count) {
    for (int k = 0; k < count; k++) {
        of_row[row + k] = LOOP_ROWS * loop + k;
    }
}

void cr__step_tie_joint(const crModel* model, const crStepTies* ties, const crRows* rows,
                        const crJointRow* info) {
    const crBody* body = &model->bodies[model->velocity.body[info->dof]];
    int at = ties->first[model->velocity.body[info->dof]] + DOF_ROWS * (info->dof - body->v);
    if (info->kind == CR_ROW_MOTOR) at += 2;
    if (info->kind == CR_ROW_FRICTION) at += 3;
    // A ball joint has one limit; at an upper limit of hinges and sliders the row's value is negative.
    bool upper = body->joint != CR_JOINT_BALL && rows->value[rows->start[info->row]] < 0.0;
    if (info->kind == CR_ROW_LIMIT && upper) at += 1;
    ties->of_row[info->row] = at;
}

double cr__step_motor_force(const crModel* model, const crStepTies* ties, int j) {
    int b = model->velocity.body[j];
    const crBody* body = &model->bodies[b];
    if (!has_rows(model, body)) return 0.0;
    return ties->force[ties->first[b] + DOF_ROWS * (j - body->v) + 2];
}

void cr__step_keep_ties(const crStep* step, crStepTies* ties) {
    const crModel* model = step->model;
    if (ties->count == 0) return;
    for (int k = 0; k < step->part.loop_count; k++) {
        memset(ties->force + LOOP_ROWS * step->part.loops[k], 0, LOOP_ROWS * sizeof(double));
    }
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k], first = ties->first[b];
        if (!has_rows(model, &model->bodies[b])) continue;
        memset(ties->force + first, 0, (size_t)(DOF_ROWS * model->bodies[b].nv) * sizeof(double));
    }
    for (int r = 0; r < step->posed.rows.count; r++) {
        int at = ties->of_row[r];
        if (at >= 0) ties->force[at] = step->posed.p[r] / step->free.h;
    }
}
