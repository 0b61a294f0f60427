// actuator.c - actuators: checks, forces, slopes for the factor of M, work.
//
// f = force - stiffness l - damping dl/dt holds for a whole step, with the coefficients at its beginning: at a force
// limit f is constant. Slopes that pull back are implicit, others explicit. Along several joints the matrix
// g g^T s of a slope s has entries that the factor of a tree has no place for; the diagonal |g_i| sum |g_j| s is
// at least as large and takes its place: the step stays of first order and never gains by it. Where all actuators along a
// velocity together exceed its limit at the beginning of a step, they give that limit throughout.
// Fails: cr_model_add_actuator names the field.
#include <string.h>

#include "base/argument.h"
#include "base/power.h"
#include "carom/dynamics.h"
#include "model/actuate.h"
#include "model/store.h"

static bool has_length(const crModel* model, int dof) {
    const crBody* body = &model->bodies[model->velocity.body[dof]];
    return body->nq == body->nv;
}

static crStatus refuse(crModel* model, crStatus status, const char* field, const char* what, double value) {
    return cr_error_set(&model->error, status, field, "actuator %d: %s %s, got %g", model->nu, field, what,
                        value);
}

static crStatus check_dofs(crModel* model, const crActuator* a) {
    if (a->dof_count < 1 || a->dof_count > CR_ACTUATOR_JOINTS)
        return refuse(model, CR_ERR_RANGE, "dof_count", "must be 1 to 8", a->dof_count);
    bool length = a->gain[1] != 0.0 || a->bias[1] != 0.0;
    bool slope = length || a->gain[2] != 0.0 || a->bias[2] != 0.0;
    for (int k = 0; k < a->dof_count; k++) {
        int dof = a->dof[k];
        if (dof < 0 || dof >= model->nv) return refuse(model, CR_ERR_RANGE, "dof", "must be a velocity", dof);
        if (!isfinite(a->gear[k])) return refuse(model, CR_ERR_FINITE, "gear", "must be finite", a->gear[k]);
        for (int j = 0; j < k; j++) {
            if (a->dof[j] == dof) return refuse(model, CR_ERR_RANGE, "dof", "must not be named twice", dof);
        }
        const crBody* body = &model->bodies[model->velocity.body[dof]];
        if (body->root != model->bodies[model->velocity.body[a->dof[0]]].root)
            return refuse(model, CR_ERR_ARGUMENT, "dof", "must be of the same tree as the first", dof);
        if (length && !has_length(model, dof))
            return refuse(model, CR_ERR_ARGUMENT, "dof", "of a ball or free joint has no length", dof);
        if (slope && body->joint == CR_JOINT_FREE)
            return refuse(model, CR_ERR_ARGUMENT, "dof", "of a free joint takes gain[0] and bias[0] only",
                          dof);
    }
    return CR_OK;
}

static crStatus check_site(crModel* model, const char* field, int site) {
    if (site >= 0 && site < model->site_count) return CR_OK;
    return refuse(model, CR_ERR_RANGE, field, "must be a site", site);
}

// what is not along joints
static crStatus check_transmission(crModel* model, const crActuator* a) {
    if ((unsigned)a->transmission >= CR_TRANSMISSIONS)
        return refuse(model, CR_ERR_RANGE, "transmission", "is none of the kinds", (double)a->transmission);
    if (a->transmission == CR_ALONG_JOINTS) return check_dofs(model, a);
    if (a->dof_count != 0)
        return refuse(model, CR_ERR_RANGE, "dof_count", "must be 0 along tendons and sites", a->dof_count);
    if (!isfinite(a->gear[0])) return refuse(model, CR_ERR_FINITE, "gear", "must be finite", a->gear[0]);
    if (a->transmission == CR_ALONG_TENDON) {
        if (a->tendon >= 0 && a->tendon < model->tendon_count) return CR_OK;
        return refuse(model, CR_ERR_RANGE, "tendon", "must be a tendon", a->tendon);
    }
    crStatus status = check_site(model, "site", a->site);
    bool alone = a->transmission == CR_ALONG_SITE && a->reference == -1;
    if (status == CR_OK && !alone) status = check_site(model, "reference", a->reference);
    if (status != CR_OK) return status;
    for (int k = 0; k < 6 && a->transmission == CR_ALONG_SITE; k++) {
        if (!isfinite(a->wrench[k]))
            return refuse(model, CR_ERR_FINITE, "wrench", "must be finite", a->wrench[k]);
    }
    if (a->transmission == CR_ALONG_CRANK && !(a->rod > 0.0 && isfinite(a->rod)))
        return refuse(model, CR_ERR_RANGE, "rod", "must be > 0", a->rod);
    return CR_OK;
}

static crStatus check_activation(crModel* model, const crActuator* a) {
    if ((unsigned)a->activation >= CR_ACTIVATION_KINDS)
        return refuse(model, CR_ERR_RANGE, "activation", "is none of the kinds", (double)a->activation);
    bool filter = a->activation == CR_ACTIVATION_FILTER || a->activation == CR_ACTIVATION_FILTER_EXACT;
    if (filter && !(a->time_constant > 0.0 && isfinite(a->time_constant)))
        return refuse(model, CR_ERR_RANGE, "time_constant", "of a filter must be > 0", a->time_constant);
    if (a->activation == CR_ACTIVATION_NONE) return CR_OK;
    if (!(a->act_lower <= a->act_upper))
        return refuse(model, CR_ERR_RANGE, "act_upper", "must be >= act_lower", a->act_upper);
    if (!(isfinite(a->act) && a->act >= a->act_lower && a->act <= a->act_upper))
        return refuse(model, CR_ERR_RANGE, "act", "must be act_lower to act_upper", a->act);
    return CR_OK;
}

static crStatus check_numbers(crModel* model, const crActuator* a) {
    for (int k = 0; k < 3; k++) {
        if (!isfinite(a->gain[k])) return refuse(model, CR_ERR_FINITE, "gain", "must be finite", a->gain[k]);
        if (!isfinite(a->bias[k])) return refuse(model, CR_ERR_FINITE, "bias", "must be finite", a->bias[k]);
    }
    if (!(a->ctrl_lower <= a->ctrl_upper))
        return refuse(model, CR_ERR_RANGE, "ctrl_upper", "must be >= ctrl_lower", a->ctrl_upper);
    if (!(a->force_lower <= a->force_upper))
        return refuse(model, CR_ERR_RANGE, "force_upper", "must be >= force_lower", a->force_upper);
    if (!isfinite(a->ctrl)) return refuse(model, CR_ERR_FINITE, "ctrl", "must be finite", a->ctrl);
    crStatus status = check_activation(model, a);
    if (status != CR_OK) return status;
    return cr__control_check(a, model->nu, a->ctrl, &model->error);
}

crStatus cr__control_check(const crActuator* a, int index, double ctrl, crError* error) {
    if (isfinite(ctrl) && ctrl >= a->ctrl_lower && ctrl <= a->ctrl_upper) return CR_OK;
    const char* name = a->name != NULL ? a->name : "";
    const char* of = *name != '\0' ? " of " : "";
    if (!isfinite(ctrl))
        return cr_error_set(error, CR_ERR_FINITE, "ctrl", "ctrl[%d]%s%.40s: must be finite, got %g", index,
                            of, name, ctrl);
    return cr_error_set(error, CR_ERR_RANGE, "ctrl", "ctrl[%d]%s%.40s: is %g, must be %g to %g", index, of,
                        name, ctrl, a->ctrl_lower, a->ctrl_upper);
}

int cr_model_add_actuator(crModel* model, const crActuator* actuator) {
    if (model == NULL) return CR_ERR_MEMORY;
    if (model->error.status != CR_OK) return model->error.status;
    if (actuator == NULL)
        return cr_error_set(&model->error, CR_ERR_ARGUMENT, "actuator", "actuator: is NULL");
    crActuator own = *actuator;
    crStatus status = check_transmission(model, &own);
    if (status == CR_OK) status = check_numbers(model, &own);
    if (status == CR_OK) status = cr__name_keep(model, CR_NAME_ACTUATOR, &own.name);
    if (status != CR_OK) return status;
    crActuator* all = cr__store_reserve(model, STORE_ACTUATORS, model->actuators, model->nu + 1, sizeof *all);
    if (all == NULL) return cr__store_full(model);
    model->actuators = all;
    own.act_place = own.activation != CR_ACTIVATION_NONE ? model->na++ : -1;
    for (int k = 0; k < own.dof_count; k++) {
        own.next[k] = model->velocity.actuator[own.dof[k]];
        model->velocity.actuator[own.dof[k]] = model->nu * CR_ACTUATOR_JOINTS + k;
    }
    all[model->nu++] = own;
    cr__name_add(model, CR_NAME_ACTUATOR, model->nu - 1);
    return model->nu - 1;
}

int cr_model_find_actuator(const crModel* model, const char* name) {
    if (model == NULL || model->memory == NULL || name == NULL) return CR_ERR_ARGUMENT;
    return cr__name_find(model, CR_NAME_ACTUATOR, name);
}

double cr__actuator_length(const crModel* model, int actuator, const double* q) {
    const crActuator* a = &model->actuators[actuator];
    double sum = 0.0;
    for (int k = 0; k < a->dof_count; k++) {
        const crBody* body = &model->bodies[model->velocity.body[a->dof[k]]];
        if (body->nq == body->nv) sum += a->gear[k] * q[body->q + a->dof[k] - body->v];
    }
    return sum;
}

double cr__actuator_rate(const crModel* model, int actuator, const double* v) {
    const crActuator* a = &model->actuators[actuator];
    double sum = 0.0;
    for (int k = 0; k < a->dof_count; k++) {
        sum += a->gear[k] * v[a->dof[k]];
    }
    return sum;
}

double cr__actuator_input(const crModel* model, const crState* state, int actuator) {
    int place = model->actuators[actuator].act_place;
    return place >= 0 ? state->act[place] : state->ctrl[actuator];
}

// w by its rate (ctrl - w)/T or ctrl over h
static double moved(const crActuator* a, double ctrl, double w, double h) {
    const double log2e = 1.4426950408889634;
    double t = h / a->time_constant;
    if (a->activation == CR_ACTIVATION_INTEGRATOR) return w + h * ctrl;
    if (a->activation == CR_ACTIVATION_FILTER) return w + t * (ctrl - w);
    return w + (ctrl - w) * (1.0 - cr__exp2(-log2e * fmin(t, 600.0)));
}

void cr__activations_move(const crModel* model, crState* state, double h, bool early) {
    for (int i = 0; i < model->nu && model->na > 0; i++) {
        const crActuator* a = &model->actuators[i];
        if (a->act_place < 0 || a->early != early) continue;
        double w = moved(a, state->ctrl[i], state->act[a->act_place], h);
        state->act[a->act_place] = fmin(a->act_upper, fmax(a->act_lower, w));
    }
}

crActuation cr__actuation_at(const crModel* model, const crState* state, int i, double l, double rate) {
    const crActuator* a = &model->actuators[i];
    double ctrl = cr__actuator_input(model, state, i);
    crActuation x = {a->gain[0] * ctrl + a->bias[0], -(a->gain[1] * ctrl + a->bias[1]),
                     -(a->gain[2] * ctrl + a->bias[2])};
    double f = x.force;
    if (x.stiffness != 0.0) f -= x.stiffness * l;
    if (x.damping != 0.0) f -= x.damping * rate;
    if (f > a->force_upper) return (crActuation){a->force_upper, 0.0, 0.0};
    if (f < a->force_lower) return (crActuation){a->force_lower, 0.0, 0.0};
    return x;
}

void cr_model_actuate(const crModel* model, const crState* state, crDynamics* d) {
    if (!cr__dynamics_fits(model, d) || !cr__state_fits(model, state)) return;
    for (int i = 0; i < model->nu; i++) {
        // those along sites: pull.c
        d->actuation[i] = (crActuation){0};
        if (model->actuators[i].transmission != CR_ALONG_JOINTS) continue;
        d->actuation[i] = cr__actuation_at(model, state, i, cr__actuator_length(model, i, state->q),
                                           cr__actuator_rate(model, i, state->v));
    }
    for (int i = 0; i < model->nv && model->nu > 0; i++) {
        const crDof* dof = cr_model_dof(model, i);
        d->limit[i] = (double)NAN;
        if (!(dof->force_lower < dof->force_upper) || model->velocity.actuator[i] < 0) continue;
        double sum = cr__dof_actuation(model, d, state->q, state->v, i);
        if (sum > dof->force_upper) d->limit[i] = dof->force_upper;
        if (sum < dof->force_lower) d->limit[i] = dof->force_lower;
    }
}

double cr__dof_actuation(const crModel* model, const crDynamics* d, const double* q, const double* v,
                         int dof) {
    double sum = 0.0;
    if (model->nu > 0 && !isnan(d->limit[dof])) return d->limit[dof];
    for (int t = model->velocity.actuator[dof]; t >= 0; t = cr__term_next(model, t)) {
        int i = cr__term_actuator(t);
        const crActuation* x = &d->actuation[i];
        double f = x->force;
        if (x->stiffness != 0.0) f -= x->stiffness * cr__actuator_length(model, i, q);
        if (x->damping != 0.0) f -= x->damping * cr__actuator_rate(model, i, v);
        sum += model->actuators[i].gear[t % CR_ACTUATOR_JOINTS] * f;
    }
    return sum;
}

// |g_i| sum |g_j|
static double bound(const crActuator* a, int place) {
    double sum = 0.0;
    for (int k = 0; k < a->dof_count; k++) {
        sum += fabs(a->gear[k]);
    }
    return fabs(a->gear[place]) * sum;
}

double cr__dof_slope(const crModel* model, const crDynamics* d, double h, int dof) {
    double stiffness = cr_model_dof(model, dof)->stiffness, damping = cr_model_dof(model, dof)->damping;
    bool limited = model->nu > 0 && !isnan(d->limit[dof]);
    for (int t = limited ? -1 : model->velocity.actuator[dof]; t >= 0; t = cr__term_next(model, t)) {
        int i = cr__term_actuator(t);
        double most = bound(&model->actuators[i], t % CR_ACTUATOR_JOINTS);
        stiffness += most * fmax(0.0, d->actuation[i].stiffness);
        damping += most * fmax(0.0, d->actuation[i].damping);
    }
    return h * (damping + h * stiffness);
}

double cr__dof_spring_rate(const crModel* model, const crDynamics* d, const double* v, int dof) {
    double sum = cr_model_dof(model, dof)->stiffness * v[dof];
    bool limited = model->nu > 0 && !isnan(d->limit[dof]);
    for (int t = limited ? -1 : model->velocity.actuator[dof]; t >= 0; t = cr__term_next(model, t)) {
        int i = cr__term_actuator(t);
        double stiffness = fmax(0.0, d->actuation[i].stiffness);
        if (stiffness > 0.0)
            sum +=
                model->actuators[i].gear[t % CR_ACTUATOR_JOINTS] * stiffness * cr__actuator_rate(model, i, v);
    }
    return sum;
}

// way of a joint along one velocity
static double way_of(const crModel* model, int dof, double h, crMove move) {
    const crBody* body = &model->bodies[model->velocity.body[dof]];
    int q = body->q + dof - body->v;
    return has_length(model, dof) ? move.q1[q] - move.q0[q] : 0.5 * h * (move.v0[dof] + move.v1[dof]);
}

double cr__dof_actuator_work(const crModel* model, const crDynamics* d, int dof, double h, crMove move,
                             double* damped) {
    double sum = isnan(d->limit[dof]) ? 0.0 : d->limit[dof] * way_of(model, dof, h, move);
    for (int t = model->velocity.actuator[dof]; t >= 0; t = cr__term_next(model, t)) {
        if (t % CR_ACTUATOR_JOINTS != 0) continue;
        int i = cr__term_actuator(t);
        const crActuator* a = &model->actuators[i];
        const crActuation* x = &d->actuation[i];
        if (x->force == 0.0 && x->stiffness == 0.0 && x->damping == 0.0) continue;
        double rate = 0.5 * (cr__actuator_rate(model, i, move.v0) + cr__actuator_rate(model, i, move.v1));
        double from = cr__actuator_length(model, i, move.q0), to = cr__actuator_length(model, i, move.q1);
        double way = to - from;
        for (int k = 0; k < a->dof_count; k++) {
            double own = a->gear[k] * way_of(model, a->dof[k], h, move);
            if (!has_length(model, a->dof[k])) way += own;
            if (!isnan(d->limit[a->dof[k]])) way -= own;  // counted by its limit
        }
        sum += way * (x->force - 0.5 * x->stiffness * (from + to) - x->damping * rate);
        *damped += fmax(0.0, x->damping * rate * way);
    }
    return sum;
}
