// time_error.c - the error that the length of a step leaves, by runs with steps of dt, dt/2 and dt/4.
//
// Where x(dt) = x + c dt^p, differences of the three runs shrink by r = 2^p: the error of the first run is
// |x(dt) - x(dt/2)| r/(r - 1). r is taken between 2 and 16: below first order nothing is known, and then the error is
// twice the difference. Fails: as steps do.
#include "base/argument.h"
#include "base/power.h"
#include "carom/stages.h"
#include "carom/wrt.h"
#include "model/spatial.h"
#include "wrt/change.h"

#define RUNS 3

// Figures of a body: centre, velocity of it, orientation, spin.
typedef struct Figures {
    crVec3 centre, velocity, spin;
    crQuat turn;
} Figures;

static void read_figures(crWorld* world, Figures* out) {
    const crModel* model = cr_world_model(world);
    crDynamics* d = &cr_world_stages(world)->dynamics;
    cr_model_kinematics(model, cr_world_state(world), d);
    cr_model_velocity(model, cr_world_state(world)->v, d);
    for (int b = 0; b < model->nb; b++) {
        out[b] = (Figures){.centre = d->com[b], .turn = d->pose[b].q, .spin = d->twist[b].omega};
        out[b].velocity = cr__point_velocity(d, b, d->com[b]);
    }
}

static crStatus run_at(const crWorldDef* def, const crState* start, int part, int count, const double* times,
                       Figures* out, crError* error) {
    crWorldDef own = *def;
    own.step.dt = def->step.dt / part;
    own.step.error = 0.0;
    own.scratch = NULL;
    crWorld* world = NULL;
    crStatus status = cr_world_create(&own, &world, error);
    if (status != CR_OK) return status;
    const crModel* model = def->model;
    if (start != NULL) cr__change_copy(model, start, cr_world_state(world));
    for (int i = 0; i < count && status == CR_OK; i++) {
        status = cr_world_run(world, times[i], error);
        if (status == CR_OK) read_figures(world, out + (size_t)i * (size_t)model->nb);
    }
    cr_world_destroy(world);
    return status;
}

static double angle_between(crQuat a, crQuat b) {
    crQuat d = cr_quat_mul(a, cr_quat_conj(b));
    return 2.0 * cr_atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}

// The error of the first of three, from the two differences; r where it is asked for. Differences that do not shrink (chaos) say that
// it is at least their sum.
static double extrapolated(double first, double second, double* ratio) {
    double r = second > 0.0 ? first / second : 16.0;
    if (ratio != NULL) *ratio = r;
    r = fmin(16.0, fmax(2.0, r));
    return fmax(first * r / (r - 1.0), first + second);
}

static crTimeError error_of(const Figures* a, const Figures* b, const Figures* c) {
    crTimeError e;
    double ratio;
    double first = cr_norm(cr_sub(a->centre, b->centre)), second = cr_norm(cr_sub(b->centre, c->centre));
    double rounding = 1e-13 * (1.0 + cr_norm(a->centre));
    e.position = extrapolated(first, second, &ratio);
    e.order = first > rounding && second > rounding ? cr__log2(ratio) : (double)NAN;
    e.angle = extrapolated(angle_between(a->turn, b->turn), angle_between(b->turn, c->turn), NULL);
    e.velocity = extrapolated(cr_norm(cr_sub(a->velocity, b->velocity)),
                              cr_norm(cr_sub(b->velocity, c->velocity)), NULL);
    e.spin = extrapolated(cr_norm(cr_sub(a->spin, b->spin)), cr_norm(cr_sub(b->spin, c->spin)), NULL);
    return e;
}

crStatus cr_time_error(const crWorldDef* def, const crState* start, int count, const double* times,
                       crTimeError* errors, crError* error) {
    if (def == NULL) return cr__missing(error, "def");
    if (def->model == NULL) return cr__missing(error, "model");
    if (times == NULL) return cr__missing(error, "times");
    if (errors == NULL) return cr__missing(error, "errors");
    if (start != NULL && !cr__state_fits(def->model, start)) return cr__missing(error, "start");
    if (count < 0) return cr_error_set(error, CR_ERR_RANGE, "count", "count: is %d, must be >= 0", count);
    double from = start != NULL ? start->time : 0.0;
    for (int i = 0; i < count; i++) {
        if (!(times[i] >= (i == 0 ? from : times[i - 1])) || !isfinite(times[i])) {
            return cr_error_set(error, CR_ERR_RANGE, "times", "times: number %d is %g, must not be before %g",
                                i, times[i], i == 0 ? from : times[i - 1]);
        }
    }
    size_t nb = (size_t)def->model->nb, size = nb * (size_t)(count > 0 ? count : 0);
    crArena arena;
    crStatus status = cr_arena_create(&arena, def->allocator, 0);
    Figures* all = status == CR_OK ? cr_arena_alloc(&arena, (RUNS * size + 1) * sizeof *all) : NULL;
    if (all == NULL) {
        if (status == CR_OK) cr_arena_destroy(&arena);
        return cr_error_set(error, CR_ERR_MEMORY, "times", "times: out of memory");
    }
    for (int k = 0; k < RUNS && status == CR_OK; k++) {
        status = run_at(def, start, 1 << k, count, times, all + (size_t)k * size, error);
    }
    for (size_t i = 0; i < size && status == CR_OK; i++) {
        errors[i] = error_of(&all[i], &all[size + i], &all[2 * size + i]);
    }
    cr_arena_destroy(&arena);
    return status;
}
