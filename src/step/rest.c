// rest.c - a world that a step leaves where it was but for rounding is at rest: q and forces as before, v = 0.
//
// Free bodies on each other and on what stands. If no body moved by more than rounding of its place, none moves faster than
// rounding of the speed that gravity gives it in a step, and the forces of contacts are those before up to rounding, then
// nothing happened. Without this, rounding goes on in q, v and forces for ever; with it the next step begins where this one
// did and ends there, bit for bit: `still` says so where no function gives forces, and such steps need not be computed again.
#include <string.h>

#include "step/step.h"

#define EPS    0x1p-52
#define PLACES 8.0   // eps of a coordinate, or of 1 for a quaternion, by which a body at rest may have moved
#define SPEEDS 64.0  // eps of h g, that a body at rest has at most
#define FORCES 1024.0  // eps of the largest force, by which forces may differ

// worlds of free bodies that nothing drives
static bool is_plain(const crStep* step) {
    const crModel* model = step->model;
    return step->plan->first_single <= 1 && model->loop_count == 0 && model->nu == 0 &&
           step->plan->given_count == 0 && step->settings.sleep_time <= 0.0;
}

// true if every body is slower than rounding; zero: whether all began with v = 0
static bool are_slow(const crStep* step, double h, bool* zero) {
    const crModel* model = step->model;
    double fall = h * cr_norm(model->gravity);
    *zero = true;
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (body->last < 0) continue;
        double most = SPEEDS * EPS * fall * fabs(body->gravity_scale);
        if (!(cr__step_speed(step, step->state.v, b) <= most)) return false;
        for (int j = body->v; j < body->v + body->nv; j++) {
            *zero = *zero && step->start.v[j] == 0.0;
        }
    }
    return true;
}

// true if no body has moved by more than rounding
static bool are_there(const crStep* step) {
    const crModel* model = step->model;
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        const double *q = step->state.q + body->q, *q0 = step->start.q + body->q;
        double far = fabs(q0[0]) + fabs(q0[1]) + fabs(q0[2]);
        for (int i = 0; i < body->nq; i++) {
            if (!(fabs(q[i] - q0[i]) <= PLACES * EPS * (i < 3 ? far : 1.0))) return false;
        }
    }
    return true;
}

static double size_of(crVec3 x) { return fabs(x.x) + fabs(x.y) + fabs(x.z); }

// true if forces are those that the step began with, up to rounding
static bool are_same(const crStepWarm* warm) {
    if (!warm->changed || warm->count != warm->start_count || warm->count == 0) return false;
    double most = 0.0, off = 0.0;
    for (int i = 0; i < warm->count; i++) {
        const crWarm *x = &warm->force[i], *y = &warm->start[i];
        if (memcmp(x, y, offsetof(crWarm, force)) != 0) return false;
        most = fmax(most, size_of(y->force));
        off = fmax(off, size_of(cr_sub(x->force, y->force)));
    }
    return off <= FORCES * EPS * most;
}

void cr__step_rest(crStep* step, double h) {
    const crModel* model = step->model;
    bool zero = false;
    if (!is_plain(step) || step->event_count > 0) return;
    if (!are_slow(step, h, &zero) || !are_there(step) || !are_same(&step->warm)) return;
    memcpy(step->state.q, step->start.q, (size_t)model->nq * sizeof(double));
    memset(step->state.v, 0, (size_t)model->nv * sizeof(double));
    memcpy(step->warm.force, step->warm.start, (size_t)step->warm.count * sizeof *step->warm.force);
    // a force that a function gives may be another in the next step
    step->still = zero && step->calls.force == NULL && model->load_count == 0;
}
