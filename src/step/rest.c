// rest.c - a world that a step leaves where it was but for rounding is at rest: q and forces as before, v = 0.
//
// Free bodies and trees on each other and on what stands. Sweeps of an island that is about to rest go on until it is there
// (contact_islands.c): below a small share of the tolerance its v is 0, and the audit judges that. The share is of the velocity
// that contacts take away: bodies that hang side by side and press each other with next to nothing do not rest by it. If then no body moved by
// more than rounding of its place, none moves faster than rounding of the speed that gravity gives it in a step, and the
// forces of contacts are those before, nothing happened. Without this, the errors of solves go on in q, v and forces for
// ever; with it the next step begins where this one did and ends there, bit for bit: `still` says so where no function gives
// forces, and such steps need not be computed again.
#include "step/rest.h"

#include "step/audit.h"

#define SPEED 0x1p-8  // of an island at rest, of the tolerance times what its contacts hold back

bool cr__step_may_rest(const crStep* step) {
    const crPlan* plan = step->plan;
    bool trees = plan->first_single > 1 || step->model->loop_count > 0;
    if (trees ? !(plan->steady && plan->ranged) : plan->pulls || plan->given_count > 0) return false;
    return step->settings.sleep_time <= 0.0;
}

double cr__step_rest_speed(const crStep* step, double held) {
    double fall = step->free.h * cr_norm(step->model->gravity);
    return SPEED * cr_step_tol(&step->settings) * fmin(held, fall);
}

// true if every body is slower than rounding; zero: whether all began with v = 0
static bool are_slow(const crStep* step, double h, bool* zero) {
    const crModel* model = step->model;
    double fall = h * cr_norm(model->gravity);
    *zero = true;
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (body->last < 0) continue;
        if (!cr__rest_slow(body, fall, cr__step_speed(step, step->state.v, b))) return false;
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
        if (!cr__rest_there(step->state.q + body->q, step->start.q + body->q, body->nq)) return false;
    }
    return true;
}

// true if forces are those that the step began with
static bool are_same(const crStepWarm* warm) {
    return warm->changed && cr__rest_same(warm->force, warm->count, warm->start, warm->start_count);
}

void cr__step_rest(crStep* step, double h) {
    const crModel* model = step->model;
    bool zero = false;
    if (!cr__step_may_rest(step) || step->events.count > 0) return;
    if (!are_slow(step, h, &zero) || !are_there(step) || !are_same(&step->warm)) return;
    memcpy(step->state.q, step->start.q, (size_t)model->nq * sizeof(double));
    memset(step->state.v, 0, (size_t)model->nv * sizeof(double));
    memcpy(step->warm.force, step->warm.start, (size_t)step->warm.count * sizeof *step->warm.force);
    // a force that a function gives may be another in the next step
    step->rest.still = zero && step->calls.force == NULL && model->load_count == 0;
}

crStatus cr__step_stay(crStep* step, double h, crError* error) {
    step->start.time = step->state.time;
    step->state.time += h;
    if (cr__audit_measured(step) == CR_OK) return CR_OK;
    step->state.time = step->start.time;
    return cr__step_memory(error);
}
