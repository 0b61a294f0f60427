// step_event.c - event-driven stepping: move to the next touch, resolve it by the rule, go on with what is left.
//
// Between impacts bodies fly, or slide and roll on what carries them by a contact solve. A trial over the rest of the
// step that ends in overlap is halved until the touch is found to 1e-12 of the body's size (Hecker's loop); by
// conservative advancement the trial ends just past the foreseen time instead and only that is halved. Foreseen times
// bound the halving too, so nothing is passed through. Touches slower than the threshold do not bounce: impacts
// that accumulate end in contact, and contacts that pull are left by the contact solve.
// Source: Hecker 1997; the floor on subdivision is ours. Fails: as its stages do; more impacts than impact_limit:
// the rest of the step is plastic and the certificate says so.
#include <string.h>

#include "step/step.h"

#define ROUNDS    10     // of adding contacts that a solution overlaps
#define REPEATS   50     // impacts at one instant
#define HALVINGS  100    // of one interval
#define TOUCH_TOL 1e-12  // share of the body's size that counts as touching

// where trials start from
typedef struct Origin {
    double time;
    double* q;
    double* v;
    int events;
    int warm_count;
    crWarm* warm;
} Origin;

static double touch(const crStep* step, const crStepContact* c) {
    return TOUCH_TOL * fmax(step->size[c->body_a], step->size[c->body_b]);
}

static bool fast(const crStep* step, double speed) { return speed < -step->settings.threshold; }

static crStatus keep(crStep* step, Origin* origin, crError* error) {
    size_t q = (size_t)step->model->nq * sizeof(double), v = (size_t)step->model->nv * sizeof(double);
    size_t warm = (size_t)step->warm_count * sizeof *step->warm;
    *origin = (Origin){step->state.time, NULL, NULL, step->event_count, step->warm_count, NULL};
    origin->q = cr_arena_alloc(&step->scratch, q + 1);
    origin->v = cr_arena_alloc(&step->scratch, v + 1);
    origin->warm = cr_arena_alloc(&step->scratch, warm + 1);
    if (origin->q == NULL || origin->v == NULL || origin->warm == NULL) return cr__step_memory(error);
    memcpy(origin->q, step->state.q, q);
    memcpy(origin->v, step->state.v, v);
    if (warm > 0) memcpy(origin->warm, step->warm, warm);
    return CR_OK;
}

static void go_back(crStep* step, const Origin* origin) {
    memcpy(step->state.q, origin->q, (size_t)step->model->nq * sizeof(double));
    memcpy(step->state.v, origin->v, (size_t)step->model->nv * sizeof(double));
    step->state.time = origin->time;
    step->event_count = origin->events;
    step->warm_count = origin->warm_count;
    if (origin->warm_count > 0) {
        memcpy(step->warm, origin->warm, (size_t)origin->warm_count * sizeof *step->warm);
    }
}

// Touching contacts press that neither close nor leave fast; so do those that close slowly within h. Others fly, to
// leave or to come as impacts, unless everything is plastic.
static int choose(crStep* step, double h, const double* v, bool plastic, bool* takes) {
    crDynamics* d = &step->dynamics;
    int count = 0;
    cr_model_velocity(step->model, v, d);
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        crVec3 u = cr_sub(cr_model_point_velocity(d, c->body_b, c->point.point),
                          cr_model_point_velocity(d, c->body_a, c->point.point));
        double end = cr_dot(u, c->point.normal);
        bool closes = c->point.gap - c->delta + h * fmin(c->speed, end) <= 0.0;
        bool slow = fabs(c->speed) <= step->settings.threshold;
        slow = slow && (c->point.gap <= c->delta || (closes && !fast(step, end)));
        takes[i] = takes[i] || slow || (plastic && closes);
        count += takes[i];
    }
    return count;
}

// bodies that only impacts to come touch are in the air
static void set_airborne(crStep* step, const bool* takes) {
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (takes[i] || !fast(step, c->speed)) continue;
        step->airborne[c->body_a] = true;
        step->airborne[c->body_b] = true;
    }
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (!takes[i] || c->point.gap > c->delta) continue;
        step->airborne[c->body_a] = false;
        step->airborne[c->body_b] = false;
    }
}

// v over h with the contacts that press, more of them where the solution closes more
static crStatus press(crStep* step, double h, bool plastic, bool* takes, crError* error) {
    memset(takes, 0, (size_t)step->contact_count * sizeof *takes);
    int count = choose(step, h, step->v_free, plastic, takes);
    crStatus status = CR_OK;
    for (int round = 0; round < ROUNDS && status == CR_OK; round++) {
        set_airborne(step, takes);
        status = cr_step_problem_build(step, h, takes, error);
        if (status == CR_OK) status = cr_step_solve(step, error);
        if (status == CR_OK) status = cr_step_apply(step, error);
        if (status != CR_OK) return status;
        int more = choose(step, h, step->state.v, plastic, takes);
        if (more == count) break;
        count = more;
    }
    return status;
}

static bool took_part(const crStepContact* before, const bool* takes, int count, const crStepContact* c) {
    for (int i = 0; i < count; i++) {
        if (takes[i] && before[i].shape_a == c->shape_a && before[i].shape_b == c->shape_b &&
            before[i].point.child_a == c->point.child_a && before[i].point.child_b == c->point.child_b &&
            before[i].point.feature_a == c->point.feature_a &&
            before[i].point.feature_b == c->point.feature_b) {
            return true;
        }
    }
    return false;
}

// From the origin over h. *depth: how deep contacts that had no part in it overlap beyond a touch, closing; 0 is none.
static crStatus trial(crStep* step, const Origin* origin, double h, bool plastic, double* depth,
                      crError* error) {
    *depth = 0.0;
    go_back(step, origin);
    size_t mark = cr_arena_mark(&step->scratch);
    crStatus status = cr_step_forces(step, h, error);
    if (status == CR_OK) status = cr_step_collide(step, cr_step_reach(step, h), error);
    if (status != CR_OK) return status;
    bool* takes = cr_arena_alloc(&step->scratch, (size_t)(step->contact_count + 1) * sizeof *takes);
    if (takes == NULL) return cr__step_memory(error);
    status = press(step, h, plastic, takes, error);
    if (status == CR_OK) status = cr_step_integrate(step, h, error);
    if (status != CR_OK) return status;
    const crStepContact* before = step->contacts;
    int count = step->contact_count;
    cr_model_kinematics(step->model, &step->state, &step->dynamics);
    status = cr_step_collide(step, 0.0, error);
    for (int i = 0; i < step->contact_count && status == CR_OK; i++) {
        const crStepContact* c = &step->contacts[i];
        double over = -c->point.gap - touch(step, c);
        if (over <= *depth || c->speed >= 0.0 || took_part(before, takes, count, c)) continue;
        *depth = over;
    }
    step->contact_count = 0;
    cr_arena_release(&step->scratch, mark);
    return status;
}

// the shortest trial that ends in a touch: none overlaps after lo, one does after *h
static crStatus halve(crStep* step, const Origin* origin, double lo, double* h, crError* error) {
    double hi = *h, depth = 1.0;
    crStatus status = CR_OK;
    for (int i = 0; i < HALVINGS && status == CR_OK; i++) {
        double mid = 0.5 * (lo + hi);
        if (hi - lo <= 1e-14 * hi) break;
        status = trial(step, origin, mid, false, &depth, error);
        if (depth > 0.0) {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    // lo touches to the last bit; it is zero where bodies overlap from the beginning
    *h = lo > 0.0 ? lo : hi;
    return status == CR_OK ? trial(step, origin, *h, false, &depth, error) : status;
}

// longest time by which the foreseen touch may come early: its gap is within the deadband
static double lateness(const crStep* step) {
    double delta = 0.0;
    for (int i = 0; i < step->contact_count; i++) {
        delta = fmax(delta, step->contacts[i].delta);
    }
    return 2.0 * delta / fmax(step->settings.threshold, 1e-6);
}

// moves to the next touch or over `left`; *h is how far
static crStatus move(crStep* step, double left, bool plastic, double* h, crError* error) {
    Origin origin;
    double foreseen = left, depth = 0.0;
    bool hit = !plastic && cr_step_next_impact(step, left, &foreseen);
    double past = hit ? fmin(left, foreseen + lateness(step)) : left;
    crStatus status = keep(step, &origin, error);
    *h = hit && step->settings.toi == CR_TOI_ADVANCE ? past : left;
    if (status == CR_OK) status = trial(step, &origin, *h, plastic, &depth, error);
    if (status != CR_OK || plastic) return status;
    double lo = 0.0;
    if (depth > 0.0) {
        status = halve(step, &origin, lo, h, error);
    }
    if (status == CR_OK && hit && past < *h) {
        // something was passed through on the way to *h
        *h = past;
        status = trial(step, &origin, *h, false, &depth, error);
        if (status == CR_OK && depth > 0.0) status = halve(step, &origin, lo, h, error);
    }
    return status;
}

// a contact touches and closes fast
static bool struck(const crStep* step) {
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (c->point.gap <= touch(step, c) && fast(step, c->speed)) return true;
    }
    return false;
}

// impacts at this instant, one after another while contacts still approach
static crStatus strike(crStep* step, double left, bool* plastic, crError* error) {
    crStatus status = CR_OK;
    for (int i = 0; status == CR_OK; i++) {
        int resolved = 0;
        status = cr_step_forces(step, left, error);
        if (status == CR_OK) status = cr_step_collide(step, cr_step_reach(step, left), error);
        if (status != CR_OK || !struck(step)) return status;
        if (i >= REPEATS || step->certificate.impacts >= step->settings.impact_limit) {
            *plastic = step->certificate.truncated = true;
            return CR_OK;
        }
        status = cr_step_impacts(step, &resolved, error);
    }
    return status;
}

crStatus cr_step_event(crStep* step, double h, crError* error) {
    double end = step->state.time + h, left = h;
    crStatus status = cr_step_begin(step, error);
    size_t mark = cr_arena_mark(&step->scratch);
    for (int i = 0; left > 0.0 && status == CR_OK; i++) {
        bool plastic = i >= 2 * step->settings.impact_limit;
        double moved = left;
        step->contact_count = 0;
        cr_arena_release(&step->scratch, mark);
        status = strike(step, left, &plastic, error);
        if (status == CR_OK) status = move(step, left, plastic, &moved, error);
        left = end - step->state.time > 1e-15 * h && moved < left ? left - moved : 0.0;
    }
    if (status == CR_OK) status = cr_step_finite(step, error);
    if (status == CR_OK) status = cr_step_position_pass(step, error);
    step->state.time = end;
    return status;
}
