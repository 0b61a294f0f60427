// step_lcp.c - Stewart and Trinkle's time stepping: one LCP per step, by Lemke's method.
//
//     M (v+ - v) = J^T p + h k,      q+ = q (+) h v+,      n, D, gap, M, k at q^ = q (+) h v^ and time t + h
//
// v^ = v. With the fixed point v^ is the v+ of the last round, until both are equal: the problem is then that
// of the end of the step. Active contacts are those that carried load in the last step and those violated at
// q^. Contacts found violated at q+ are added and the step is solved again. At velocity level (Anitescu and
// Potra) q+ is then projected on gap >= -deadband, and velocities of trees whose M changed by it (omega alone
// of single bodies) are rescaled to the kinetic energy before. Springs and dampers of joints are implicit.
// Source: Stewart and Trinkle 2000; Anitescu and Potra 1997.
// Fails: a solve without solution (the step is then made at velocity level) or a fixed point not reached is
// the certificate's outcome; CR_ERR_RANGE for friction that is no LCP; CR_ERR_MEMORY, CR_ERR_FINITE.
#include <string.h>

#include "model/spatial.h"
#include "resolve/kinds.h"
#include "step/lcp_problem.h"
#include "step/posed.h"
#include "step/position.h"

#define PASSES       20     // limit of solves with more and more active contacts
#define ROUNDS       50     // limit of rounds of the fixed point
#define VIOLATED_TOL 1e-10  // overlap of a violated contact, share of the larger body's size

// active contacts, by pair and features
typedef struct Active {
    int count, capacity;
    crWarm* list;
} Active;

typedef struct Try {
    double h, time;
    double margin;   // margin of contacts at q^, m
    double* v_hat;   // (nv)
    double* v_plus;  // (nv)
    Active active;
    crStepContacts at_hat;  // contacts at q^
    bool* takes;            // true for active contacts of at_hat
    bool complete;          // true if no other contact is violated at q+
} Try;

static bool same_pair(const crWarm* w, const crStepContact* c) {
    return w->shape_a == c->shape_a && w->shape_b == c->shape_b;
}

static crStatus remember(crArena* arena, const crStepContact* c, Active* active, crError* error) {
    if (active->count == active->capacity) {
        int larger = 2 * active->capacity + 16;
        crWarm* more = cr_arena_alloc(arena, (size_t)larger * sizeof *more);
        if (more == NULL) return cr__step_memory(error);
        if (active->count > 0) memcpy(more, active->list, (size_t)active->count * sizeof *more);
        active->list = more;
        active->capacity = larger;
    }
    active->list[active->count++] = cr__warm_of(c, cr_vec3(0, 0, 0));
    return CR_OK;
}

// Takes an active contact at q^, or all contacts of its pair if its features are not found.
static void take(const crStepContacts* contacts, const crWarm* w, bool* takes) {
    bool found = false;
    for (int i = 0; i < contacts->count; i++) {
        if (!cr__warm_is_of(w, &contacts->list[i])) continue;
        takes[i] = true;
        found = true;
    }
    for (int i = 0; i < contacts->count && !found; i++) {
        if (same_pair(w, &contacts->list[i])) takes[i] = true;
    }
}

static crStatus choose_active(const crStepContacts* contacts, crArena* arena, Try* attempt, crError* error) {
    if (!CR_ROOMS(arena, CR_ROOM(attempt->takes, contacts->count + 1))) return cr__step_memory(error);
    attempt->at_hat = *contacts;
    for (int i = 0; i < contacts->count; i++) {
        attempt->takes[i] = contacts->list[i].point.gap <= 0.0;
    }
    for (int i = 0; i < attempt->active.count; i++) {
        take(contacts, &attempt->active.list[i], attempt->takes);
    }
    return CR_OK;
}

// Finds dynamics at q^ and t + h, contacts, and v_free = v^ + (M + h B + h^2 K)^-1 (h k + M (v - v^)).
// state.v is that of the beginning afterwards.
static crStatus predict(crStep* step, Try* attempt, crError* error) {
    const crModel* model = step->model;
    size_t bytes = (size_t)model->nv * sizeof(double);
    memcpy(step->state.q, step->start.q, (size_t)model->nq * sizeof(double));
    memcpy(step->state.v, attempt->v_hat, bytes);
    step->state.time = attempt->time;
    cr_model_integrate(model, attempt->h, &step->state);
    memcpy(step->state.v, attempt->v_hat, bytes);
    crStatus status = cr_step_forces(step, attempt->h, error);
    if (status != CR_OK) return status;
    double* change = step->free.v;
    for (int i = 0; i < model->nv; i++) {
        step->dynamics.scratch.v[i] = step->start.v[i] - attempt->v_hat[i];
    }
    cr_model_mass_mul(model, &step->dynamics, step->dynamics.scratch.v, change);
    for (int i = 0; i < model->nv; i++) {
        change[i] += attempt->h * step->free.k[i];
    }
    cr_model_mass_solve(model, &step->dynamics, change);
    for (int i = 0; i < model->nv; i++) {
        step->free.v[i] = attempt->v_hat[i] + change[i];
    }
    attempt->margin = fmax(attempt->margin, cr_step_reach(step, attempt->h));
    memcpy(step->state.v, step->start.v, bytes);
    status = cr_step_collide(step, attempt->margin, error);
    return status == CR_OK ? cr_step_drag(step, attempt->h, error) : status;
}

// Finds the impulses by Lemke's method at one level.
static crStatus solve_at(crStep* step, const Try* attempt, crLevel level, crError* error) {
    const crStepSettings kept = step->settings;
    step->settings.level = level;
    step->settings.solver = cr__solver(&cr__solver_lemke, NULL);
    crStatus status = cr__step_lcp_problem(step, attempt->h, attempt->takes, attempt->v_hat, error);
    if (status == CR_OK) status = cr_step_solve(step, error);
    step->settings = kept;
    return status;
}

static bool unsolvable(crOutcome outcome) {
    return outcome == CR_OUTCOME_RAY || outcome == CR_OUTCOME_INFEASIBLE || outcome == CR_OUTCOME_LIMIT;
}

static crStatus solve_try(crStep* step, Try* attempt, crError* error) {
    const crStepSettings* settings = &step->settings;
    crStatus status = solve_at(step, attempt, settings->level, error);
    // gaps may contradict each other, velocities do not; the certificate keeps the worse outcome
    if (status == CR_OK && settings->level == CR_LEVEL_POSITION && unsolvable(step->posed.report.outcome)) {
        status = solve_at(step, attempt, CR_LEVEL_VELOCITY, error);
    }
    crShown shown = {&step->posed.rows, &step->posed.problem, step->posed.p, step->free.v,
                     attempt->time,     attempt->h,           true};
    if (status == CR_OK) status = cr__step_show(step, &shown, error);
    if (status == CR_OK && settings->level == CR_LEVEL_VELOCITY && settings->restitution == CR_LCP_POISSON) {
        size_t mark = cr_arena_mark(&step->scratch);
        status = cr__step_lcp_expand(step, &step->scratch, step->posed.p, &step->certificate, error);
        cr_arena_release(&step->scratch, mark);
    }
    if (status != CR_OK) return status;
    size_t bytes = (size_t)step->model->nv * sizeof(double);
    memset(attempt->v_plus, 0, bytes);
    cr_rows_add_impulse(&step->posed.rows, step->posed.p, attempt->v_plus);
    cr_model_mass_solve(step->model, &step->dynamics, attempt->v_plus);
    for (int i = 0; i < step->model->nv; i++) {
        attempt->v_plus[i] += step->free.v[i];
    }
    return CR_OK;
}

// Moves the state to the end of the step with v+.
static void end_state(const crModel* model, const crStepStart* start, crState* state, const Try* attempt) {
    memcpy(state->q, start->q, (size_t)model->nq * sizeof(double));
    memcpy(state->v, attempt->v_plus, (size_t)model->nv * sizeof(double));
    state->time = attempt->time;
    cr_model_integrate(model, attempt->h, state);
}

static bool violated(const crPlan* plan, const crStepContact* c) {
    return c->point.gap < -VIOLATED_TOL * fmax(plan->size[c->body_a], plan->size[c->body_b]);
}

// True if a contact of this pair at q^ is not active. *seen: true if the pair has contacts at q^.
static bool untaken(const Try* attempt, const crStepContact* c, bool* seen) {
    bool more = false;
    for (int i = 0; i < attempt->at_hat.count; i++) {
        const crStepContact* other = &attempt->at_hat.list[i];
        if (!cr__step_same_pair(other, c)) continue;
        *seen = true;
        more = more || !attempt->takes[i];
    }
    return more;
}

// Adds the contacts violated at q+ to the active ones, and writes the overlap to the certificate. The margin
// at q^ grows if a pair has no contacts there. CR_ERR_MEMORY.
static crStatus find_missed(crStep* step, Try* attempt, crError* error) {
    Active* active = &attempt->active;
    crStatus status = CR_OK;
    active->count = 0;
    for (int i = 0; i < attempt->at_hat.count && status == CR_OK; i++) {
        if (attempt->takes[i]) status = remember(&step->scratch, &attempt->at_hat.list[i], active, error);
    }
    int taken = active->count;
    bool wider = false;
    end_state(step->model, &step->start, &step->state, attempt);
    cr_model_kinematics(step->model, &step->state, &step->dynamics);
    if (status == CR_OK) status = cr_step_collide(step, 0.0, error);
    step->certificate.penetration = 0.0;
    for (int i = 0; i < step->contacts.count && status == CR_OK; i++) {
        const crStepContact* c = &step->contacts.list[i];
        bool known = false, seen = false;
        step->certificate.penetration = fmax(step->certificate.penetration, -c->point.gap);
        for (int k = 0; k < taken; k++) {
            known = known || cr__warm_is_of(&active->list[k], c);
        }
        if (known || !violated(step->plan, c) || (!untaken(attempt, c, &seen) && seen)) continue;
        wider = wider || !seen;
        status = remember(&step->scratch, c, active, error);
    }
    if (wider) attempt->margin *= 4.0;
    attempt->complete = active->count == taken;
    return status;
}

// Finds v+ for one v^, with all contacts that are violated without them.
static crStatus settle(crStep* step, Try* attempt, crError* error) {
    crStatus status = CR_OK;
    attempt->complete = false;
    for (int pass = 0; pass < PASSES && !attempt->complete && status == CR_OK; pass++) {
        status = predict(step, attempt, error);
        if (status == CR_OK) status = choose_active(&step->contacts, &step->scratch, attempt, error);
        if (status == CR_OK) status = solve_try(step, attempt, error);
        if (status == CR_OK) status = find_missed(step, attempt, error);
    }
    return status;
}

static double largest_change(const crModel* model, const Try* attempt) {
    double change = 0.0;
    for (int i = 0; i < model->nv; i++) {
        change = fmax(change, fabs(attempt->v_plus[i] - attempt->v_hat[i]));
    }
    return change;
}

// Writes twice the kinetic energy that depends on q, by root: that of rotation for single bodies, all of it
// for other trees. Fails as the factor of M.
static crStatus measure_energy(const crModel* model, const crState* state, crDynamics* d, double* energy,
                               crError* error) {
    cr_model_kinematics(model, state, d);
    crStatus status = cr_model_mass_factor(model, 0.0, d);
    if (status != CR_OK) return cr_error_set(error, status, "mass", "%s", cr_status_text(status));
    const double* v = state->v;
    memset(energy, 0, (size_t)model->nb * sizeof *energy);
    cr_model_mass_mul(model, d, v, d->scratch.v);
    for (int j = 0; j < model->nv; j++) {
        const crBody* body = &model->bodies[model->velocity.body[j]];
        if (!body->single) energy[body->root] += v[j] * d->scratch.v[j];
    }
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (body->single) energy[i] = cr_sym3_quad(d->inertia[i], cr__load_vec(v + body->v + 3));
    }
    return CR_OK;
}

// Scales velocities whose energy the projection changed to the energy before.
static void keep_energy(const crModel* model, double* v, const double* before, const double* after) {
    for (int j = 0; j < model->nv; j++) {
        const crBody* body = &model->bodies[model->velocity.body[j]];
        if (body->single && j < body->v + 3) continue;
        if (!(after[body->root] > 0.0) || after[body->root] == before[body->root]) continue;
        v[j] *= sqrt(before[body->root] / after[body->root]);
    }
}

static crStatus project(crStep* step, crError* error) {
    double *before, *after;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(before, step->model->nb), CR_ROOM(after, step->model->nb)))
        return cr__step_memory(error);
    crStatus status = measure_energy(step->model, &step->state, &step->dynamics, before, error);
    if (status == CR_OK) status = cr_step_position_pass(step, error);
    if (status == CR_OK) status = measure_energy(step->model, &step->state, &step->dynamics, after, error);
    if (status == CR_OK) keep_energy(step->model, step->state.v, before, after);
    return status;
}

static crStatus start(const crStep* step, crArena* arena, double h, Try* attempt, crError* error) {
    int nv = step->model->nv;
    *attempt = (Try){.h = h, .time = step->state.time};
    if (!CR_ROOMS(arena, CR_ROOM(attempt->v_hat, nv), CR_ROOM(attempt->v_plus, nv),
                  CR_ROOM(attempt->active.list, step->warm.count + 16)))
        return cr__step_memory(error);
    memcpy(attempt->v_hat, step->start.v, (size_t)step->model->nv * sizeof(double));
    attempt->active.count = step->warm.count;
    attempt->active.capacity = step->warm.count + 16;
    if (step->warm.count > 0) {
        memcpy(attempt->active.list, step->warm.force, (size_t)step->warm.count * sizeof *step->warm.force);
    }
    return CR_OK;
}

// Writes v+ to the state: impulses, events and forces of the contacts at q^, then q+.
static crStatus take_over(crStep* step, const Try* attempt, crError* error) {
    step->contacts = attempt->at_hat;
    crStatus status = cr_step_apply(step, error);
    if (status == CR_OK)
        status = cr__step_log_struck(step, attempt->v_plus, &step->scratch, &step->events, error);
    end_state(step->model, &step->start, &step->state, attempt);
    if (status == CR_OK) status = cr_step_finite(step, error);
    if (status != CR_OK) return status;
    bool closed;
    if (step->settings.level != CR_LEVEL_VELOCITY)
        return cr__step_position_others(step, cr__all(step->model), &closed, error);
    status = project(step, error);
    step->contacts = attempt->at_hat;
    return status;
}

crStatus cr_step_lcp(crStep* step, double h, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    Try attempt;
    crStatus status = cr_step_begin(step, error);
    if (status == CR_OK) status = start(step, &step->scratch, h, &attempt, error);
    if (status != CR_OK) return status;
    status = settle(step, &attempt, error);
    bool converged = !step->settings.fixed_point;
    for (int round = 1; round < ROUNDS && !converged && status == CR_OK; round++) {
        converged = largest_change(step->model, &attempt) <= cr_step_tol(&step->settings);
        if (converged) break;
        memcpy(attempt.v_hat, attempt.v_plus, (size_t)step->model->nv * sizeof(double));
        status = settle(step, &attempt, error);
    }
    if (!converged) step->certificate.outcome = CR_OUTCOME_LIMIT;
    return status == CR_OK ? take_over(step, &attempt, error) : status;
}
