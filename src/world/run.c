// run.c - steps of dt; where settings.error is given, in parts whose error it bounds.
//
// A part is made twice: once, and in two halves, which are kept. The distance between both results, of a body's centre plus
// its angle times its size, is the error of the halves for a method of first order and three times that for one of second.
// Parts are dt divided by a power of two, at least dt/1024, and begin at multiples of their length, so that nothing but the
// state decides their lengths. A part whose error is larger than settings.error is made shorter; the next one is twice as
// long where the error is below an eighth. The certificate is that of all parts kept, with the sum of their errors.
// Fails: as steps do; the world then stands where the step began.
#include "base/argument.h"
#include "base/room.h"
#include "carom/stages.h"
#include "world/world.h"

#define SHORTEST 0x1p-10  // of a step
#define SPARE    0.125    // share of the tolerance below which a part may be twice as long

typedef struct Parts {
    crWorld* world;
    double start, h;       // of the whole step
    void *first, *before;  // snapshots: of the step's beginning, of the part's
    size_t first_size, before_size;
    crPose *whole, *halves;  // of every body's centre, (nb) each
    crTally tally;           // of the parts kept
} Parts;

static void read_poses(crWorld* world, crPose* out) {
    const crModel* model = world->step.model;
    crDynamics* d = &world->step.dynamics;
    cr_model_kinematics(model, &world->step.state, d);
    for (int b = 0; b < model->nb; b++) {
        out[b] = (crPose){d->com[b], d->pose[b].q};
    }
}

static double distance_between(const Parts* p) {
    double most = 0.0;
    for (int b = 1; b < p->world->step.model->nb; b++) {
        crQuat turn = cr_quat_mul(p->whole[b].q, cr_quat_conj(p->halves[b].q));
        double sine = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
        double angle = 2.0 * cr_atan2(sine, fabs(turn.w));
        double way =
            cr_norm(cr_sub(p->whole[b].p, p->halves[b].p)) + cr_step_size(&p->world->step, b) * angle;
        most = fmax(most, way);
    }
    return most;
}

static crStatus save(crWorld* world, void** bytes, size_t* size) {
    size_t needed = cr_world_save_size(world);
    if (needed > *size) {
        cr__drop(&world->allocator, *bytes, (int)(*size > 0), *size);
        *size = 0;
        *bytes = world->allocator.alloc(world->allocator.ctx, needed);
        if (*bytes == NULL) return CR_ERR_MEMORY;
        *size = needed;
    }
    return cr_world_save(world, *bytes, needed);
}

// Events of the step just made; numbers of impacts go on.
static crStatus keep_events(crWorld* world, int impacts) {
    const crStep* step = &world->step;
    crStatus status = CR_GROW(&world->allocator, world->events, world->event_capacity, world->event_count,
                              world->event_count + step->events.count);
    for (int i = 0; i < step->events.count && status == CR_OK; i++) {
        crEvent* event = &world->events[world->event_count++];
        *event = step->events.list[i];
        if (event->impact >= 0) event->impact += impacts;
    }
    return status;
}

// Half a part, which may be kept.
static crStatus half(Parts* p, double h, crError* error) {
    crStatus status = cr__world_step_by(p->world, h, error);
    if (status != CR_OK) return status;
    if (keep_events(p->world, p->tally.worst.impacts) != CR_OK) return cr__step_memory(error);
    cr_tally_add(&p->tally, &p->world->step.certificate);
    return CR_OK;
}

// A part from `done` of the step on, `size` of it long, once and in halves; *way is the distance between both.
static crStatus try_part(Parts* p, double done, double size, double* way, crError* error) {
    crWorld* world = p->world;
    crLog log = world->log;
    if (save(world, &p->before, &p->before_size) != CR_OK) return cr__step_memory(error);
    world->log = (crLog){0};
    crStatus status = cr__world_step_by(world, size * p->h, error);
    world->log = log;
    if (status == CR_OK) read_poses(world, p->whole);
    crStatus loaded = cr_world_load(world, p->before, p->before_size, error);
    if (status == CR_OK) status = loaded;
    for (int k = 1; k <= 2 && status == CR_OK; k++) {
        status = half(p, 0.5 * size * p->h, error);
        if (status == CR_OK) world->step.state.time = p->start + (done + 0.5 * k * size) * p->h;
    }
    if (status != CR_OK) return status;
    read_poses(world, p->halves);
    *way = distance_between(p);
    return CR_OK;
}

static crStatus step_in_parts(Parts* p, crError* error) {
    crWorld* world = p->world;
    double tolerance = world->step.settings.error, sum = 0.0;
    crStatus status = CR_OK;
    for (double done = 0.0, size = 1.0; done < 1.0 && status == CR_OK;) {
        crTally kept = p->tally;
        int events = world->event_count;
        double way = 0.0;
        status = try_part(p, done, size, &way, error);
        if (status != CR_OK) break;
        if (way <= tolerance || size <= SHORTEST) {
            done += size;
            sum += way;
            double pairs = done / (2.0 * size);
            if (way < SPARE * tolerance && pairs == floor(pairs)) size *= 2.0;
            continue;
        }
        size *= 0.5;
        p->tally = kept;
        world->event_count = events;
        status = cr_world_load(world, p->before, p->before_size, error);
    }
    if (status != CR_OK) return status;
    world->step.certificate = p->tally.worst;
    world->step.certificate.time_error = sum;
    return CR_OK;
}

static crStatus bounded_step(crWorld* world, double h, crError* error) {
    const crAllocator* a = &world->allocator;
    int nb = world->step.model->nb;
    Parts p = {.world = world, .start = world->step.state.time, .h = h};
    p.whole = a->alloc(a->ctx, 2 * (size_t)nb * sizeof *p.whole);
    crStatus status = p.whole != NULL ? save(world, &p.first, &p.first_size) : CR_ERR_MEMORY;
    if (status != CR_OK) status = cr__step_memory(error);
    p.halves = p.whole + (p.whole != NULL ? nb : 0);
    world->event_count = 0;
    if (status == CR_OK) {
        status = step_in_parts(&p, error);
        if (status != CR_OK) {
            world->event_count = 0;
            cr_world_load(world, p.first, p.first_size, NULL);
        }
    }
    cr__drop(a, p.whole, p.whole != NULL ? 2 * nb : 0, sizeof *p.whole);
    cr__drop(a, p.first, (int)(p.first_size > 0), p.first_size);
    cr__drop(a, p.before, (int)(p.before_size > 0), p.before_size);
    return status;
}

static crStatus step_by(crWorld* world, double h, crError* error) {
    return world->step.settings.error > 0.0 ? bounded_step(world, h, error)
                                            : cr__world_step_by(world, h, error);
}

crStatus cr_world_step(crWorld* world, crError* error) {
    if (world == NULL) return cr__missing(error, "world");
    return step_by(world, world->step.settings.dt, error);
}

crStatus cr_world_run(crWorld* world, double time, crError* error) {
    if (world == NULL) return cr__missing(error, "world");
    double start = world->step.state.time, dt = world->step.settings.dt;
    if (!isfinite(time)) {
        return cr_error_set(error, CR_ERR_FINITE, "time", "time: is %g, must be finite", time);
    }
    crStatus status = CR_OK;
    // times are counted from the start, so that rounding does not add a step
    for (double n = 1.0; status == CR_OK && world->step.state.time < time; n += 1.0) {
        double next = start + n * dt;
        bool last = next > time - 1e-9 * dt;
        double h = next <= time + 1e-9 * dt ? dt : time - world->step.state.time;
        status = step_by(world, h, error);
        if (status == CR_OK) world->step.state.time = last ? time : next;
    }
    return status;
}

crEvents cr_world_events(const crWorld* world) {
    if (world == NULL) return (crEvents){0};
    if (world->step.settings.error > 0.0) return (crEvents){world->event_count, world->events};
    return (crEvents){world->step.events.count, world->step.events.list};
}
