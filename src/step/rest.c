// rest.c - a world that a step leaves where it was but for rounding is at rest: q and forces as before, v = 0.
//
// Free bodies on each other and on what stands. If no body moved by more than rounding of its place, none moves faster than
// rounding of the speed that gravity gives it in a step, and the forces of contacts are those before up to rounding, then
// nothing happened. Without this, rounding goes on in q, v and forces for ever; with it the next step begins where this one
// did and ends there, bit for bit: `still` says so where no function gives forces, and such steps need not be computed again.
#include <string.h>

#include "step/audit.h"
#include "step/step.h"

#define EPS      0x1p-52
#define PLACES   8.0  // eps of a coordinate, or of 1 for a quaternion, by which a body at rest may have moved
#define ROUNDING 0x1p-46  // of h g: slower is at rest in a small island, which is solved to rounding
#define SPEEDS   0x1p-8   // likewise in others, of the tolerance times h g

// worlds of free bodies that nothing drives
bool cr__step_may_rest(const crStep* step) {
    const crModel* model = step->model;
    return step->plan->first_single <= 1 && model->loop_count == 0 && model->nu == 0 &&
           step->plan->given_count == 0 && step->settings.sleep_time <= 0.0;
}

static bool all_zero(const double* x, int count) {
    for (int i = 0; i < count; i++) {
        if (x[i] != 0.0) return false;
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

// true if what presses is what pressed when the step began
static bool are_same(const crStepWarm* warm) {
    if (!warm->changed || warm->count != warm->start_count || warm->count == 0) return false;
    for (int i = 0; i < warm->count; i++) {
        if (memcmp(&warm->force[i], &warm->start[i], offsetof(crWarm, force)) != 0) return false;
    }
    return true;
}

double cr__step_rest_speed(const crStep* step, bool small) {
    double share = small ? ROUNDING : SPEEDS * cr_step_tol(&step->settings);
    return share * step->h * cr_norm(step->model->gravity);
}

void cr__step_rest(crStep* step) {
    const crModel* model = step->model;
    if (!cr__step_may_rest(step) || step->event_count > 0 || !all_zero(step->state.v, model->nv)) return;
    if (!all_zero(step->start.v, model->nv) || !are_there(step) || !are_same(&step->warm)) return;
    memcpy(step->state.q, step->start.q, (size_t)model->nq * sizeof(double));
    memcpy(step->warm.force, step->warm.start, (size_t)step->warm.count * sizeof *step->warm.force);
    // a force that a function gives may be another in the next step
    step->still = step->calls.force == NULL && model->load_count == 0;
}

crStatus cr__step_stay(crStep* step, double h, crError* error) {
    step->start.time = step->state.time;
    step->state.time += h;
    return cr__audit_measured(step) == CR_OK ? CR_OK : cr__step_memory(error);
}
