// step_event.c - event-driven stepping: move to the next impact, resolve it by the rule, go on.
//
// Between impacts bodies fly, or slide and roll in contacts of a contact solve. A trial over the rest of the
// step that ends in overlap is halved until the time of impact is found to 1e-12 of the body's size (Hecker's
// loop). With conservative advancement the trial ends just past the foreseen time, and only that interval is
// halved. Foreseen times bound the halving too, so that no body passes through another. If a foreseen impact
// does not come, because joints or contacts turned a body off its course, the next foreseen time is at least
// twice as far ahead. Contacts slower than the threshold do not bounce: impacts that accumulate end in a
// resting contact, and the contact solve opens contacts that would pull. The certificate does not count
// trials that are undone.
// Source: Hecker 1997; the floor on subdivision is ours.
// Fails: as its stages do. With more impacts than impact_limit, more than TRIALS trials or more than WORK in
// one step, the rest of the step is plastic and the certificate is marked as truncated.
#include <string.h>

#include "step/posed.h"
#include "step/step.h"

#define ROUNDS    10      // limit of solves that each add contacts which the last one closed
#define REPEATS   50      // limit of impact solves at one instant
#define HALVINGS  100     // limit of halvings of one interval
#define TOUCH_TOL 1e-12   // gap that counts as touching, share of the body's size
#define FREE_TOL  1e-9    // velocity change that counts as no other force, share of that by gravity
#define LOOK_TOL  1e-6    // least advance after a false alarm, share of the step
#define ROUND_TOL 1e-14   // rounding, share of coordinates and of the travel in the step
#define TRIALS    8192    // limit of trials of one step
#define WORK      0x1p22  // limit of the sum of rows times iterations of the contact solves of one step

// cost of the trials of a step
typedef struct Cost {
    int trials;
    double work;  // rows times iterations
} Cost;

// state that trials start from
typedef struct Origin {
    double slack;  // rounding of positions, m
    double time;
    double* q;
    double* v;
    int events;
    int recorded;       // recorded contacts of solves
    bool warm_changed;  // true if forces are no longer those of the beginning of the step
    int warm_count;
    crWarm* warm;
    crCertificate certificate;
    double* drive;  // work of driven bodies so far, J (nb)
    Cost* cost;
} Origin;

static bool spent(const Cost* cost) { return cost->trials >= TRIALS || cost->work >= WORK; }

static double touch(const crPlan* plan, const crStepContact* c, double slack) {
    const crVec3* p = &c->point.point;
    double far = fmax(fabs(p->x), fmax(fabs(p->y), fabs(p->z)));
    return TOUCH_TOL * fmax(plan->size[c->body_a], plan->size[c->body_b]) + ROUND_TOL * far + slack;
}

static bool fast(const crStepContact* c) { return c->speed < -c->fast; }

static crStatus keep(const crStep* step, crArena* arena, double slack, Cost* cost, Origin* origin,
                     crError* error) {
    size_t q = (size_t)step->model->nq * sizeof(double), v = (size_t)step->model->nv * sizeof(double);
    size_t nb = (size_t)step->model->nb;
    size_t warm = (size_t)step->warm.count * sizeof *step->warm.force;
    *origin = (Origin){.slack = slack,
                       .time = step->state.time,
                       .events = step->events.count,
                       .recorded = step->record.count,
                       .warm_changed = step->warm.changed,
                       .warm_count = step->warm.count,
                       .certificate = step->certificate,
                       .cost = cost};
    if (!CR_ROOMS(arena, CR_ROOM(origin->q, step->model->nq), CR_ROOM(origin->v, step->model->nv),
                  CR_ROOM(origin->warm, step->warm.count), CR_ROOM(origin->drive, nb)))
        return cr__step_memory(error);
    memcpy(origin->drive, step->audited.drive, nb * sizeof *origin->drive);
    memcpy(origin->q, step->state.q, q);
    memcpy(origin->v, step->state.v, v);
    if (warm > 0) memcpy(origin->warm, step->warm.force, warm);
    return CR_OK;
}

// Restores the certificate and the work of driven bodies at the origin.
static void forget(const Origin* origin, int nb, crCertificate* certificate, double* drive) {
    *certificate = origin->certificate;
    memcpy(drive, origin->drive, (size_t)nb * sizeof *origin->drive);
}

static void go_back(crStep* step, const Origin* origin) {
    forget(origin, step->model->nb, &step->certificate, step->audited.drive);
    memcpy(step->state.q, origin->q, (size_t)step->model->nq * sizeof(double));
    memcpy(step->state.v, origin->v, (size_t)step->model->nv * sizeof(double));
    step->state.time = origin->time;
    step->events.count = origin->events;
    step->record.count = origin->recorded;
    // forces of the beginning are in the other buffer: swapped, not copied, since the trials' one may be
    // smaller
    if (step->warm.changed && !origin->warm_changed) {
        cr__step_swap_forces(&step->warm);
        step->warm.changed = false;
        return;
    }
    step->warm.count = origin->warm_count;
    if (origin->warm_count > 0) {
        memcpy(step->warm.force, origin->warm, (size_t)origin->warm_count * sizeof *step->warm.force);
    }
}

// Adds to `takes` the contacts of the solve: touching ones that neither close nor open fast, and those that
// close slowly within h. plastic: all that close within h. Returns the number of contacts taken.
static int choose_pressing(const crModel* model, const crStepContacts* contacts, double h, const double* v,
                           bool plastic, crDynamics* d, bool* takes) {
    int count = 0;
    cr_model_velocity(model, v, d);
    for (int i = 0; i < contacts->count; i++) {
        const crStepContact* c = &contacts->list[i];
        double end = cr_dot(cr__step_relative_velocity(d, c), c->point.normal);
        bool closes = c->point.gap - c->delta + h * fmin(c->speed, end) <= 0.0;
        bool slow = fabs(c->speed) <= c->fast;
        slow = slow && (c->point.gap <= c->delta || (closes && end >= -c->fast));
        takes[i] = takes[i] || slow || (plastic && closes);
        count += takes[i];
    }
    return count;
}

// Marks bodies as airborne whose contacts are all impacts to come.
static void set_airborne(const crStepContacts* contacts, bool* airborne, const bool* takes) {
    for (int i = 0; i < contacts->count; i++) {
        const crStepContact* c = &contacts->list[i];
        if (takes[i] || !fast(c)) continue;
        airborne[c->body_a] = true;
        airborne[c->body_b] = true;
    }
    for (int i = 0; i < contacts->count; i++) {
        const crStepContact* c = &contacts->list[i];
        if (!takes[i] || c->point.gap > c->delta) continue;
        airborne[c->body_a] = false;
        airborne[c->body_b] = false;
    }
}

// Marks bodies as airborne whose velocity changed by gravity alone, though they touch: a falling column of
// beads. before: v at the beginning of h.
static void release_flying(const crPlan* plan, double h, const double* before, const double* v,
                           bool* airborne) {
    const crModel* model = plan->model;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        double most = 0.0, off = 0.0;
        for (int j = body->v; j < body->v + body->nv; j++) {
            most = fmax(most, fabs(plan->fall[j]));
            off = fmax(off, fabs(v[j] - before[j] - h * plan->fall[j]));
        }
        if (most > 0.0 && off <= FREE_TOL * h * most) airborne[i] = true;
    }
}

// Solves for v over h, again with more contacts while the solution closes more. Fails as the contact solve.
static crStatus press(crStep* step, const Origin* origin, double h, bool plastic, bool* takes,
                      crError* error) {
    memset(takes, 0, (size_t)step->contacts.count * sizeof *takes);
    int count =
        choose_pressing(step->model, &step->contacts, h, step->free.v, plastic, &step->dynamics, takes);
    crStatus status = CR_OK;
    for (int round = 0; round < ROUNDS && status == CR_OK; round++) {
        forget(origin, step->model->nb, &step->certificate, step->audited.drive);
        set_airborne(&step->contacts, step->airborne, takes);
        status = cr_step_problem_build(step, h, takes, error);
        if (status == CR_OK) status = cr_step_solve(step, error);
        if (status == CR_OK)
            origin->cost->work += (double)step->posed.rows.count * step->posed.report.iterations;
        if (status == CR_OK) status = cr__step_show_problem(step, h, true, error);
        if (status == CR_OK) status = cr_step_apply(step, error);
        if (status != CR_OK) return status;
        int more =
            choose_pressing(step->model, &step->contacts, h, step->state.v, plastic, &step->dynamics, takes);
        if (more == count) break;
        count = more;
    }
    return status;
}

static bool took_part(const crStepContact* before, const bool* takes, int count, const crStepContact* c) {
    crWarm own = cr__warm_of(c, cr_vec3(0, 0, 0));
    for (int i = 0; i < count; i++) {
        if (takes[i] && cr__warm_is_of(&own, &before[i])) return true;
    }
    return false;
}

// contacts outside the solve of a trial, at its end
typedef struct Ending {
    // true if one closes and overlaps: a fast one by more than a touch, a slow one by more than delta
    bool overlap;
    bool caught;  // true if a slow one is within the deadband: it belongs in the next solve
    double soon;  // twice the longest time that a fast one within the deadband needs to touch, s
} Ending;

static crStatus look_ahead(crStep* step, const Origin* origin, const bool* takes, Ending* ending,
                           crError* error) {
    const crStepContact* before = step->contacts.list;
    int count = step->contacts.count;
    double near = 0.0;
    *ending = (Ending){false, false, 0.0};
    for (int i = 0; i < count; i++) {
        near = fmax(near, before[i].delta);
    }
    cr_model_kinematics(step->model, &step->state, &step->dynamics);
    crStatus status = cr_step_collide(step, near, error);
    for (int i = 0; i < step->contacts.count && status == CR_OK; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (c->speed >= 0.0 || took_part(before, takes, count, c)) continue;
        bool is_fast = fast(c);
        double tol = is_fast ? touch(step->plan, c, origin->slack) : c->delta;
        ending->overlap = ending->overlap || c->point.gap < -tol;
        ending->caught = ending->caught || (!is_fast && c->point.gap <= c->delta);
        if (is_fast) ending->soon = fmax(ending->soon, 2.0 * (c->point.gap + tol) / -c->speed);
    }
    return status;
}

// Makes a trial from the origin over h. Fails as its stages.
static crStatus trial(crStep* step, const Origin* origin, double h, bool plastic, Ending* ending,
                      crError* error) {
    go_back(step, origin);
    origin->cost->trials++;
    size_t mark = cr_arena_mark(&step->scratch);
    crStatus status = cr_step_forces(step, h, error);
    if (status == CR_OK) status = cr_step_collide(step, cr_step_reach(step, h), error);
    if (status == CR_OK) status = cr_step_drag(step, h, error);
    if (status != CR_OK) return status;
    bool* takes = cr_arena_alloc(&step->scratch, (size_t)(step->contacts.count + 1) * sizeof *takes);
    if (takes == NULL) return cr__step_memory(error);
    status = press(step, origin, h, plastic, takes, error);
    if (status == CR_OK)
        status = cr__step_record(&step->contacts, &step->own.allocator, &step->record, error);
    if (status == CR_OK) release_flying(step->plan, h, origin->v, step->state.v, step->airborne);
    if (status == CR_OK) status = cr_step_integrate(step, h, error);
    if (status != CR_OK) return status;
    status = look_ahead(step, origin, takes, ending, error);
    step->contacts.count = 0;
    cr_arena_release(&step->scratch, mark);
    return status;
}

// Halves between lo, where a trial does not overlap, and *h, where it does. *h becomes the longest time
// without overlap, to the last bit, and the state that of its trial.
static crStatus halve(crStep* step, const Origin* origin, double lo, double* h, crError* error) {
    double hi = *h;
    Ending ending;
    crStatus status = CR_OK;
    for (int i = 0; i < HALVINGS && status == CR_OK && !spent(origin->cost); i++) {
        double mid = 0.5 * (lo + hi);
        if (!(mid > lo && mid < hi)) break;
        status = trial(step, origin, mid, false, &ending, error);
        if (status == CR_OK && ending.overlap) {
            hi = mid;
            continue;
        }
        lo = mid;
        *h = mid;
        if (status != CR_OK || (ending.caught && ending.soon == 0.0)) return status;
    }
    // lo is 0 if bodies overlap from the beginning
    *h = lo > 0.0 ? lo : hi;
    return status == CR_OK ? trial(step, origin, *h, false, &ending, error) : status;
}

// Moves to the foreseen time of impact, and a little beyond it, since it is foreseen up to the deadband.
static crStatus move_to(crStep* step, const Origin* origin, double foreseen, double left, double* h,
                        crError* error) {
    Ending ending;
    double lo = 0.0;
    *h = foreseen;
    crStatus status = trial(step, origin, *h, false, &ending, error);
    if (status == CR_OK && !ending.overlap && ending.soon > 0.0) {
        lo = foreseen;
        *h = fmin(left, foreseen + ending.soon);
        status = trial(step, origin, *h, false, &ending, error);
    }
    return status == CR_OK && ending.overlap ? halve(step, origin, lo, h, error) : status;
}

// Moves to the next impact, foreseen no sooner than after `least`, or over `left`. *h: time moved, s.
static crStatus move_on(crStep* step, double least, double left, bool plastic, double slack, Cost* cost,
                        double* h, crError* error) {
    Origin origin;
    Ending ending;
    double foreseen = left;
    bool hit = !plastic && cr_step_next_impact(step, left, &foreseen);
    foreseen = fmin(left, fmax(foreseen, least));
    crStatus status = keep(step, &step->scratch, slack, cost, &origin, error);
    if (status != CR_OK) return status;
    *h = left;
    if (hit && step->settings.toi == CR_TOI_ADVANCE) {
        return move_to(step, &origin, foreseen, left, h, error);
    }
    status = trial(step, &origin, *h, plastic, &ending, error);
    if (status != CR_OK || plastic) return status;
    if (ending.overlap) status = halve(step, &origin, 0.0, h, error);
    // an impact is foreseen well before the end of the trial, which may have passed through a body
    bool missed = hit && foreseen < (1.0 - 1e-6) * *h;
    return status == CR_OK && missed ? move_to(step, &origin, foreseen, left, h, error) : status;
}

// true if a contact touches and closes fast
static bool struck(const crStepContacts* contacts, const crPlan* plan, double slack) {
    for (int i = 0; i < contacts->count; i++) {
        const crStepContact* c = &contacts->list[i];
        if (c->point.gap <= touch(plan, c, slack) && fast(c)) return true;
    }
    return false;
}

// Sets the normals of impacts between vertices and edges.
static void set_normals(const crStep* step, double slack, crStepContacts* contacts) {
    for (int i = 0; i < contacts->count; i++) {
        crStepContact* c = &contacts->list[i];
        if (c->point.gap <= touch(step->plan, c, slack) && fast(c)) cr__step_touch_normal(step, c);
    }
}

// Resolves impacts at this instant until no contact approaches fast. *plastic is set at the limit of impacts.
static crStatus strike(crStep* step, double left, double h, double wider, double* slack, bool* plastic,
                       crError* error) {
    crStatus status = CR_OK;
    for (int i = 0; status == CR_OK; i++) {
        int resolved = 0;
        status = cr_step_forces(step, left, error);
        if (status == CR_OK) status = cr_step_collide(step, cr_step_reach(step, left), error);
        *slack = ROUND_TOL * cr_step_reach(step, h) + wider;
        if (status != CR_OK || !struck(&step->contacts, step->plan, *slack)) return status;
        if (i >= REPEATS || step->certificate.impacts >= step->settings.impact_limit) {
            *plastic = step->certificate.truncated = true;
            return CR_OK;
        }
        set_normals(step, *slack, &step->contacts);
        status = cr_step_impacts(step, &resolved, error);
    }
    return status;
}

crStatus cr_step_event(crStep* step, double h, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    double end = step->state.time + h, left = h, least = 0.0, moved = 0.0, wider = 0.0;
    int impacts = 0;
    Cost cost = {0};
    crStatus status = cr_step_begin(step, error);
    size_t mark = cr_arena_mark(&step->scratch);
    for (int i = 0; left > 0.0 && status == CR_OK; i++) {
        bool plastic = i >= 2 * step->settings.impact_limit || spent(&cost);
        double slack = 0.0;
        step->contacts.count = 0;
        cr_arena_release(&step->scratch, mark);
        status = strike(step, left, h, wider, &slack, &plastic, error);
        bool quiet = i > 0 && step->certificate.impacts == impacts;
        least = quiet ? 2.0 * fmax(moved, LOOK_TOL * h) : ROUND_TOL * h;
        // the gap of sharp features jumps by its rounding: without progress in time, touching gets
        // wider
        wider = quiet && moved <= ROUND_TOL * h ? 4.0 * slack : 0.0;
        impacts = step->certificate.impacts;
        step->certificate.truncated = step->certificate.truncated || plastic;
        if (status == CR_OK) status = move_on(step, least, left, plastic, slack, &cost, &moved, error);
        left = end - step->state.time > 1e-15 * h && moved < left ? left - moved : 0.0;
    }
    if (status == CR_OK) status = cr_step_finite(step, error);
    if (status == CR_OK) status = cr_step_position_pass(step, error);
    step->state.time = end;
    cr__step_show_record(&step->record, &step->contacts);
    return status;
}
