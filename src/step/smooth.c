// smooth.c - the stages without contacts: forces before, motion after, and the reach of all bodies.
//
// v_free = v + h M^-1 k. Motion is q+ = q + h v+ on the rotation group; bodies in the air move by v+ - h a/2,
// where a is their constant acceleration by gravity and loads: the exact parabola for any h. Trees move in
// trees.c.
// Fails: CR_ERR_DEFINITE from the factor of M; CR_ERR_FINITE if a force is not finite; the error of the
// user's force; CR_ERR_MEMORY.
#include "step/step.h"

// first velocity of the part along which the force is not finite, -1: none
static int bad_force(const crModel* model, crPart part, const double* k) {
    for (int n = 0; n < part.count; n++) {
        const crBody* body = &model->bodies[cr__part_body(part, n)];
        double sum = 0.0;
        for (int i = body->v; i < body->v + body->nv; i++) {
            sum += 0.0 * k[i];
        }
        // zero times a number that is not finite is not a number
        for (int i = body->v; i < body->v + body->nv && isnan(sum); i++) {
            if (!isfinite(k[i])) return i;
        }
    }
    return -1;
}

// the state, and its motion without contacts
typedef struct Motion {
    const crState* state;
    const crStepFree* free;
    bool adds;  // true if a user's force is added before the velocities are found
} Motion;

static crStatus find_velocities(const crModel* model, crPart part, crDynamics* d, void* ctx) {
    const crStepFree* free = ((const Motion*)ctx)->free;
    if (bad_force(model, part, free->k) >= 0) return CR_ERR_FINITE;
    cr__part_smooth_velocity(model, part, ((const Motion*)ctx)->state, free->k, free->h, d, free->v);
    return CR_OK;
}

static crStatus find_forces(const crModel* model, crPart part, crDynamics* d, void* ctx) {
    const Motion* motion = ctx;
    cr__part_kinematics(model, part, motion->state, d);
    crStatus status = cr__part_mass_factor(model, part, motion->free->h, d);
    if (status != CR_OK) return status;
    cr__part_forces(model, part, motion->state, d, motion->free->k, motion->free->bend);
    return motion->adds ? CR_OK : find_velocities(model, part, d, ctx);
}

static crStatus massless(crError* error) {
    return cr_error_set(error, CR_ERR_DEFINITE, "mass", "mass: a joint has nothing to move in this position");
}

crStatus cr_step_forces(crStep* step, double h, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    const crModel* model = step->model;
    crDynamics* d = &step->dynamics;
    step->free.h = h;
    Motion motion = {&step->state, &step->free, step->calls.force != NULL};
    crStatus status = cr__step_by_bodies(step, cr__step_part(step), find_forces, &motion);
    if (status == CR_OK && step->calls.force != NULL) {
        status = step->calls.force(step->calls.force_ctx, model, &step->state, d, step->free.k);
        if (status != CR_OK) return cr_error_set(error, status, "force", "force: %s", cr_status_text(status));
        status = cr__step_by_bodies(step, cr__step_part(step), find_velocities, &motion);
    }
    if (status == CR_ERR_MEMORY) return cr__step_memory(error);
    if (status == CR_ERR_FINITE) {
        int i = bad_force(model, cr__step_part(step), step->free.k);
        return cr_error_set(error, status, "force", "force: the one along velocity %d is %g", i,
                            step->free.k[i]);
    }
    if (status != CR_OK) return massless(error);
    cr__step_trees_bend(step, h, &step->free);
    return CR_OK;
}

// larger of `fastest` and the speed of the fastest point of any body by v
static double top_speed(const crStep* step, const double* v, double fastest) {
    for (int i = 1; i < step->model->nb; i++) {
        fastest = fmax(fastest, cr__step_speed(step, v, i));
    }
    return fastest;
}

double cr_step_reach(const crStep* step, double h) {
    if (!cr__step_ready(step)) return (double)NAN;
    double speed = top_speed(step, step->free.v, top_speed(step, step->state.v, 0.0));
    double delta = 0.0;
    for (int i = 1; i < step->model->nb; i++) {
        delta = fmax(delta, step->settings.deadband * step->plan->size[i]);
    }
    return 2.0 * h * speed + delta + step->settings.cluster;
}

// Moves q of the bodies that trees.c does not move.
static void advance(const crPlan* plan, crState* state, crPart part, double h) {
    int k = 0;
    for (; k < part.count && part.bodies[k] < plan->first_single; k++) {
        if (cr__step_bends(plan, part.bodies[k])) continue;
        cr__part_integrate(plan->model, (crPart){part.bodies + k, 1}, h, state);
    }
    cr__part_integrate(plan->model, (crPart){part.bodies + k, part.count - k}, h, state);
}

// motion over h of bodies of which some are in the air
typedef struct Flights {
    const crPlan* plan;
    crState* state;
    const bool* airborne;
    double h;
} Flights;

// Moves q by the velocities of the flight, which replace v meanwhile; then restores the velocities that
// gravity changes.
static crStatus move_by_flight(const crModel* model, crPart part, crDynamics* d, void* ctx) {
    const Flights* flights = ctx;
    const crPlan* plan = flights->plan;
    const double* force = flights->state->force;
    double *v = flights->state->v, h = flights->h;
    for (int n = 0; n < part.count; n++) {
        int b = cr__part_body(part, n);
        const crBody* body = &model->bodies[b];
        for (int j = body->v; j < body->v + body->nv; j++) {
            d->scratch.v[j] = v[j];
            if (flights->airborne[b]) v[j] -= 0.5 * h * cr__plan_fall(plan, force, j);
        }
    }
    advance(plan, flights->state, part, h);
    for (int n = 0; n < part.count; n++) {
        const crBody* body = &model->bodies[cr__part_body(part, n)];
        for (int j = body->v; j < body->v + body->nv; j++) {
            if (cr__plan_fall(plan, force, j) != 0.0) v[j] = d->scratch.v[j];
        }
    }
    return CR_OK;
}

crStatus cr_step_integrate(crStep* step, double h, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    Flights flights = {step->plan, &step->state, step->airborne, h};
    crStatus status = cr__step_by_bodies(step, cr__step_part(step), move_by_flight, &flights);
    if (status == CR_OK) status = cr__step_trees_move(step, h, &step->scratch, &step->state, &step->dynamics);
    step->state.time += h;
    if (status == CR_ERR_DEFINITE) return massless(error);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}
