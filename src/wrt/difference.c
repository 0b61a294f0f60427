// difference.c - derivatives of a whole step by differences from both sides, with a verdict.
//
// y(t) is the state after a step from x + t d. With f = (y(t) - y(0))/t on either side, extrapolated from t and t/2:
//     the sides agree                            smooth: their mean
//     they differ, as much at t/4 as at t        one-sided
//     they differ by more and more as t falls    none: y jumps by that times t
// t d is CHANGE at most in any entry. Solves are certified to the least tolerance, and end
// near rounding; the difference sees them over t.
// Fails: as a step does; CR_ERR_RANGE with the residual where a step is not solved.
#include <string.h>

#include "carom/stages.h"
#include "model/spatial.h"
#include "wrt/inside.h"

#define CHANGE 4e-6  // largest change that is tried, m, rad, m/s or rad/s
#define SOLVED 1e-9  // residual that a derivative needs
#define KINK   1e-4  // of the derivative: sides that differ by more are two
#define NOISE \
    1e-10  // of the speeds of the world: what a step leaves of rounding and of the tolerance of its solves

crStatus cr__wrt_solved(crWrt* w, double* y, crError* error) {
    const crState* state = cr_world_state(w->world);
    size_t nq = (size_t)w->model.nq, nv = (size_t)w->model.nv;
    const crCertificate* c = cr_world_certificate(w->world);
    w->contacts = c->contacts;
    w->events = cr_world_events(w->world).count;
    w->residual = c->residual;
    if (!(c->residual <= SOLVED)) {
        return cr_error_set(error, CR_ERR_RANGE, "residual",
                            "residual: the step is solved only to %.3g, %.3g is needed for its derivative",
                            c->residual, SOLVED);
    }
    memcpy(y, state->q, nq * sizeof *y);
    memcpy(y + nq, state->v, nv * sizeof *y);
    return CR_OK;
}

crStatus cr__wrt_step_from(crWrt* w, const crState* from, double t, const double* d, double* y,
                           crError* error) {
    const crModel* model = cr_world_model(w->world);
    crState* state = cr_world_state(w->world);
    size_t nv = (size_t)model->nv;
    cr__change_copy(model, from, state);
    if (t != 0.0) {
        cr__change_move(model, t, d, state->q, w->work);
        for (size_t i = 0; i < nv; i++) {
            state->v[i] += t * d[nv + i];
            state->force[i] += t * d[2 * nv + i];
        }
    }
    const double* params = t != 0.0 ? d + 3 * nv : NULL;
    crStatus status = params != NULL ? cr__wrt_params_change(w, t, params) : CR_OK;
    if (status == CR_OK) {
        status = cr_world_step(w->world, error);
    } else {
        cr_error_set(error, status, "params", "params: out of memory");
    }
    if (params != NULL) cr__wrt_params_restore(w, params);
    return status == CR_OK ? cr__wrt_solved(w, y, error) : status;
}

// (y - base)/t along the velocities (2 nv)
static void slope(crWrt* w, const double* y, double t, double* out) {
    const crModel* model = cr_world_model(w->world);
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    cr__change_between(model, w->base, y, out, w->work);
    for (size_t i = 0; i < nv; i++) {
        out[i] /= t;
        out[nv + i] = (y[nq + i] - w->base[nq + i]) / t;
    }
}

static double size_of(const double* x, size_t n) {
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static double apart(const double* a, const double* b, size_t n) {
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
    }
    return most;
}

// The two sides in w->side, from y at t and t/2 on either side.
static void two_sides(crWrt* w, double t, size_t n) {
    for (int i = 0; i < 2; i++) {
        double step = i == 0 ? -t : t;
        slope(w, w->moved[2 * i], step, w->rough[i]);
        slope(w, w->moved[2 * i + 1], 0.5 * step, w->side[i]);
        for (size_t k = 0; k < n; k++) {
            w->side[i][k] += w->side[i][k] - w->rough[i][k];
        }
    }
}

// Speeds that a step's rounding is a share of: v after it, and what gravity gives in a step.
static double speeds_of(const crWrt* w) {
    const crModel* model = cr_world_model(w->world);
    double dt = cr_world_stages(w->world)->settings.dt;
    return size_of(w->base + model->nq, (size_t)model->nv) + dt * cr_norm(model->gravity);
}

static void judge(crWrt* w, double t, bool contacts, bool events, size_t n, crWrtVerdict* verdict) {
    double size = size_of(w->side[0], n) + size_of(w->side[1], n);
    double between = apart(w->side[0], w->side[1], n), wide = apart(w->rough[0], w->rough[1], n);
    if (!(between > KINK * size && between * t > NOISE * speeds_of(w))) return;
    verdict->nearest = contacts || events ? CR_SWITCH_OPEN : CR_SWITCH_STICK;
    // a jump seen over half the step is twice the slope
    bool jumps = between > 1.5 * wide;
    verdict->verdict = jumps ? CR_NO_DERIVATIVE : CR_ONE_SIDED;
    if (jumps) verdict->jump = wide * t;
}

// the largest entry of a change; forces by the speed that they give a body in a step
static double largest_of(const crWrt* w, const double* d) {
    const crModel* model = &w->model;
    size_t nv = (size_t)model->nv;
    double most = fmax(size_of(d, 2 * nv), size_of(d + 3 * nv, (size_t)w->param_count));
    double dt = cr_world_stages(w->world)->settings.dt;
    for (size_t i = 0; i < nv; i++) {
        double mass = model->bodies[model->velocity.body[i]].mass;
        double speed = dt * fabs(d[2 * nv + i]) / (mass > 0.0 ? mass : 1.0);
        most = fmax(most, fmin(speed, fabs(d[2 * nv + i])));
    }
    return most;
}

crStatus cr__wrt_difference(crWrt* w, const crState* from, const double* d, double* minus, double* plus,
                            crWrtVerdict* verdict, crError* error) {
    const crModel* model = cr_world_model(w->world);
    size_t n = 2 * (size_t)model->nv;
    double largest = largest_of(w, d);
    crWrtVerdict own = {.verdict = CR_SMOOTH, .distance = (double)NAN, .differenced = true};
    double t = largest > 0.0 ? CHANGE / largest : 0.0;
    crStatus status = cr__wrt_step_from(w, from, 0.0, NULL, w->base, error);
    int contacts = w->contacts, events = w->events;
    bool other_contacts = false, other_events = false;
    own.residual = w->residual;
    const double steps[4] = {-t, -0.5 * t, t, 0.5 * t};
    for (int i = 0; i < 4 && status == CR_OK && largest > 0.0; i++) {
        status = cr__wrt_step_from(w, from, steps[i], d, w->moved[i], error);
        other_contacts = other_contacts || w->contacts != contacts;
        other_events = other_events || w->events != events;
        own.residual = fmax(own.residual, w->residual);
    }
    if (status != CR_OK) return status;
    if (largest > 0.0) {
        two_sides(w, t, n);
        judge(w, t, other_contacts, other_events, n, &own);
    } else {
        memset(w->side[0], 0, n * sizeof(double));
        memset(w->side[1], 0, n * sizeof(double));
    }
    for (size_t i = 0; i < n; i++) {
        double mean = 0.5 * (w->side[0][i] + w->side[1][i]);
        bool smooth = own.verdict == CR_SMOOTH;
        if (minus != NULL) minus[i] = smooth ? mean : w->side[0][i];
        if (plus != NULL) plus[i] = smooth ? mean : w->side[1][i];
    }
    *verdict = own;
    return CR_OK;
}
