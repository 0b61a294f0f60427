// state.c - the changing part: arrays at the reference position, checks, and the rates of q.
//
// Rates are those of the joints (joint.c). Fails: the check names the first number that is not finite or the first
// quaternion that is not unit.
#include <string.h>

#include "base/argument.h"
#include "base/tasks.h"
#include "model/actuate.h"
#include "model/joint.h"

#define CHECKED 1024  // bodies per task of a check
#define PARTS   1024  // tasks of a check, at most

static double* zeros(crArena* arena, int count) {
    double* x = cr_arena_alloc(arena, (size_t)count * sizeof(double));
    if (x != NULL) memset(x, 0, (size_t)count * sizeof(double));
    return x;
}

crStatus cr_state_create(const crModel* model, crArena* arena, crState* state) {
    if (model == NULL || arena == NULL || state == NULL) return CR_ERR_ARGUMENT;
    *state = (crState){0};
    crState made = {0.0,
                    zeros(arena, model->nq),
                    zeros(arena, model->nv),
                    zeros(arena, model->nv),
                    zeros(arena, model->nv),
                    zeros(arena, model->nu),
                    zeros(arena, model->na)};
    if (made.q == NULL || made.v == NULL || made.force == NULL || made.motor_speed == NULL ||
        made.ctrl == NULL || made.act == NULL)
        return CR_ERR_MEMORY;
    if (model->nq > 0) memcpy(made.q, model->q0, (size_t)model->nq * sizeof(double));
    for (int i = 0; i < model->nv; i++) {
        made.motor_speed[i] = cr_model_dof(model, i)->motor_speed;
    }
    for (int i = 0; i < model->nu; i++) {
        const crActuator* a = &model->actuators[i];
        made.ctrl[i] = a->ctrl;
        if (a->act_place >= 0) made.act[a->act_place] = a->act;
    }
    *state = made;
    return CR_OK;
}

static crStatus check_finite(const char* name, const double* x, int count, crError* error) {
    if (cr__finite(x, count)) return CR_OK;
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return cr_error_set(error, CR_ERR_FINITE, name, "%s[%d]: must be finite, got %g", name, i, x[i]);
        }
    }
    return CR_OK;
}

static crStatus check_numbers_state(const crModel* model, const crState* state, crError* error) {
    crStatus status = check_finite("time", &state->time, 1, error);
    if (status == CR_OK) status = check_finite("q", state->q, model->nq, error);
    if (status == CR_OK) status = check_finite("v", state->v, model->nv, error);
    if (status == CR_OK) status = check_finite("force", state->force, model->nv, error);
    if (status == CR_OK) status = check_finite("motor_speed", state->motor_speed, model->nv, error);
    if (status == CR_OK) status = check_finite("act", state->act, model->na, error);
    for (int i = 0; i < model->nu && status == CR_OK; i++) {
        status = cr__control_check(&model->actuators[i], i, state->ctrl[i], error);
    }
    return status;
}

// quaternions of bodies begin to end - 1 in q are unit; they go normalized to `out`, if it is given
static crStatus check_quaternions(const crModel* model, int begin, int end, const double* q, double* out,
                                  crError* error) {
    for (int i = begin > 0 ? begin : 1; i < end; i++) {
        const crBody* body = &model->bodies[i];
        int quaternion = cr__joint(body)->info.quaternion, at = body->q + quaternion;
        if (quaternion < 0) continue;
        crQuat x = cr__load_quat(q + at);
        double length = sqrt(x.w * x.w + x.x * x.x + x.y * x.y + x.z * x.z);
        if (!(fabs(length - 1.0) <= 1e-6)) {
            return cr_error_set(error, CR_ERR_UNIT, "q", "q[%d]: the quaternion of body %d has length %g", at,
                                i, length);
        }
        if (out != NULL) cr__store_quat(cr_quat_normalize(x), out + at);
    }
    return CR_OK;
}

void cr__state_unit(const crModel* model, double* q) { check_quaternions(model, 1, model->nb, q, q, NULL); }

crStatus cr__state_check_values(const crModel* model, const crState* state, crError* error) {
    crStatus status = check_numbers_state(model, state, error);
    return status == CR_OK ? check_quaternions(model, 1, model->nb, state->q, NULL, error) : status;
}

crStatus cr_state_check(const crModel* model, crState* state, crError* error) {
    if (model == NULL) return cr__missing(error, "model");
    if (!cr__state_fits(model, state)) return cr__missing(error, "state");
    crStatus status = check_numbers_state(model, state, error);
    return status == CR_OK ? check_quaternions(model, 1, model->nb, state->q, state->q, error) : status;
}

// a state that is checked in parts
typedef struct Check {
    const crModel* model;
    const crState* state;
    bool* good;  // of each part
} Check;

static bool all_finite(const crModel* model, const crState* state, int begin, int end) {
    const crBody *first = &model->bodies[begin], *last = &model->bodies[end - 1];
    int nq = last->q + last->nq - first->q, nv = last->v + last->nv - first->v;
    return cr__finite(state->q + first->q, nq) && cr__finite(state->v + first->v, nv) &&
           cr__finite(state->force + first->v, nv) && cr__finite(state->motor_speed + first->v, nv);
}

static void check_bodies(void* ctx, int begin, int end) {
    const Check* check = ctx;
    double* q = check->state->q;
    check->good[begin / CHECKED] = all_finite(check->model, check->state, begin, end) &&
                                   check_quaternions(check->model, begin, end, q, q, NULL) == CR_OK;
}

crStatus cr__state_check(crTasks* tasks, const crModel* model, crState* state, crError* error) {
    bool good[PARTS];
    int parts = (model->nb - 1) / CHECKED + 1;
    if (tasks == NULL || parts > PARTS || parts < 2 || model->nu > 0 || model->na > 0)
        return cr_state_check(model, state, error);
    cr__tasks_for(tasks, model->nb, CHECKED, check_bodies, &(Check){model, state, good});
    bool all = isfinite(state->time);
    for (int i = 0; i < parts; i++) {
        all = all && good[i];
    }
    // the first number that is wrong is found by one thread
    return all ? CR_OK : cr_state_check(model, state, error);
}

void cr_state_rate(const crModel* model, const double* q, const double* v, double* rate) {
    if (model == NULL || q == NULL || v == NULL || rate == NULL) return;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        const double* bq = q + body->q;
        const double* bv = v + body->v;
        double* br = rate + body->q;
        const cr__JointKind* kind = cr__joint(body);
        if (kind->rate != NULL) {
            kind->rate(body, bq, bv, br);
        } else if (body->nv > 0) {
            memcpy(br, bv, (size_t)body->nv * sizeof(double));
        }
    }
}
