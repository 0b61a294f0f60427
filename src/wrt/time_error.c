// time_error.c - the error that the length of a step leaves, by runs with steps of dt, dt/2 and dt/4; and step
// lengths that follow it.
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

// The error of the first of three, from the two differences; r where it is asked for.
static double extrapolated(double first, double second, double* ratio) {
    double r = second > 0.0 ? first / second : 16.0;
    if (ratio != NULL) *ratio = r;
    r = fmin(16.0, fmax(2.0, r));
    return first * r / (r - 1.0);
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

// largest way between two sets of figures: of the centre, and of the turn times the body's size
static double way_between(crWorld* world, const Figures* a, const Figures* b) {
    const crModel* model = cr_world_model(world);
    const crStep* step = cr_world_stages(world);
    double most = 0.0;
    for (int i = 1; i < model->nb; i++) {
        double way = cr_norm(cr_sub(a[i].centre, b[i].centre)) +
                     cr_step_size(step, i) * angle_between(a[i].turn, b[i].turn);
        most = fmax(most, way);
    }
    return most;
}

typedef struct Trial {
    void* bytes;  // the world before the step
    size_t room;
    Figures *whole, *halves;
} Trial;

// A step of h and two halves of it; the world is left after the halves.
static crStatus try_step(crWorld* world, double h, Trial* t, double* way, crError* error) {
    double from = cr_world_state(world)->time;
    crStatus status = cr_world_run(world, from + h, error);
    if (status == CR_OK) read_figures(world, t->whole);
    crStatus loaded = cr_world_load(world, t->bytes, t->room, error);
    if (status == CR_OK) status = loaded;
    if (status == CR_OK) status = cr_world_run(world, from + 0.5 * h, error);
    if (status == CR_OK) status = cr_world_run(world, from + h, error);
    if (status == CR_OK) read_figures(world, t->halves);
    // the error of the halves is at most as large as their difference from the whole
    if (status == CR_OK) *way = way_between(world, t->whole, t->halves);
    return status;
}

static crStatus keep(crWorld* world, Trial* t, crArena* arena, crError* error) {
    size_t size = cr_world_save_size(world);
    t->bytes = cr_arena_alloc(arena, size + 1);
    t->room = size;
    if (t->bytes == NULL) return cr_error_set(error, CR_ERR_MEMORY, "adaptive", "adaptive: out of memory");
    return cr_world_save(world, t->bytes, size);
}

static crStatus adaptive_step(crWorld* world, double time, crAdaptive* a, Trial* t, crArena* arena,
                              crError* error) {
    const double dt = cr_world_stages(world)->settings.dt;
    double left = time - cr_world_state(world)->time;
    double way = 0.0;
    size_t mark = cr_arena_mark(arena);
    crStatus status = keep(world, t, arena, error);
    for (bool done = false; status == CR_OK && !done;) {
        double h = fmin(a->h, left);
        status = try_step(world, h, t, &way, error);
        if (status != CR_OK) break;
        done = way <= a->tolerance || 0.5 * h < a->least;
        if (done) {
            a->steps++;
            a->error += way;
            a->forced += way > a->tolerance;
            // a step twice as long is tried where its error, of second order at least, would be good
            if (h == a->h && way < 0.125 * a->tolerance && 2.0 * a->h <= dt) a->h *= 2.0;
        } else {
            a->rejected++;
            a->h = 0.5 * h < a->h ? 0.5 * a->h : a->h;
            status = cr_world_load(world, t->bytes, t->room, error);
        }
    }
    cr_arena_release(arena, mark);
    return status;
}

crStatus cr_adaptive_run(crWorld* world, double time, crAdaptive* a, crError* error) {
    if (world == NULL) return cr__missing(error, "world");
    if (a == NULL) return cr__missing(error, "adaptive");
    if (!(a->tolerance > 0.0)) {
        return cr_error_set(error, CR_ERR_RANGE, "tolerance", "tolerance: is %g, must be > 0", a->tolerance);
    }
    if (!(a->least > 0.0))
        return cr_error_set(error, CR_ERR_RANGE, "least", "least: is %g, must be > 0", a->least);
    if (!isfinite(time)) return cr_error_set(error, CR_ERR_FINITE, "time", "time: must be finite");
    double dt = cr_world_stages(world)->settings.dt;
    if (!(a->h > 0.0 && a->h <= dt)) a->h = dt;
    crArena arena;
    crStatus status = cr_arena_create(&arena, NULL, 0);
    if (status != CR_OK) return cr_error_set(error, status, "adaptive", "adaptive: out of memory");
    size_t nb = (size_t)cr_world_model(world)->nb;
    Trial t = {.whole = cr_arena_alloc(&arena, nb * sizeof(Figures)),
               .halves = cr_arena_alloc(&arena, nb * sizeof(Figures))};
    if (t.whole == NULL || t.halves == NULL)
        status = cr_error_set(error, CR_ERR_MEMORY, "adaptive", "adaptive: out of memory");
    while (status == CR_OK && cr_world_state(world)->time < time) {
        status = adaptive_step(world, time, a, &t, &arena, error);
    }
    cr_arena_destroy(&arena);
    return status;
}
