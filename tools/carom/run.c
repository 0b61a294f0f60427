// run.c - the loop of `carom run`: steps, records, progress, Ctrl-C.
//
// Steps of dt up to the duration, the last one shorter where it must be. The first record is the start,
// then one every `record.every` steps and the last state. A resumed run goes on with the steps that are left,
// so that it makes the same ones as a run that never stopped.
#include "run.h"

#include <math.h>

#include "command.h"
#include "progress.h"

#define BAR      30    // characters
#define ROUNDING 1e-9  // share of a step that is no step of its own
#define DRIFT    1e-3  // share of a step that rounding may move the time of a whole step by

// a bar with what is left, or a line of the same where there is no terminal
static void show_progress(const Run* run, const Progress* progress, double share, double share_before) {
    crEnergy energy = cr_world_energy(run->world);
    int filled = (int)(share * BAR);
    if (progress->terminal) fputs("\r", stderr);
    if (run->label != NULL) {
        print_plain(stderr, run->label);
        putc(' ', stderr);
    }
    if (progress->terminal) putc('[', stderr);
    for (int i = 0; i < BAR && progress->terminal; i++) {
        putc(i < filled ? '=' : ' ', stderr);
    }
    if (progress->terminal) fputs("] ", stderr);
    progress_left(progress, share, share_before);
    const crCertificate* worst = &run->tally.worst;
    fprintf(stderr, "  t = %.4g s  contacts %d  residual %.0e  overlap %.0e m  energy %.4g J%s",
            cr_world_state(run->world)->time, cr_world_certificate(run->world)->contacts, worst->residual,
            worst->penetration, energy.kinetic + energy.potential, progress->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

static crStatus record(Run* run, crTrajectory* trajectory, crMotionLog* motion, crRecord* since) {
    if (trajectory == NULL && motion == NULL) return CR_OK;
    const crState* state = cr_world_state(run->world);
    since->energy = cr_world_energy(run->world);
    crStatus status = CR_OK;
    if (trajectory != NULL) status = cr_trajectory_write(trajectory, since, &run->error);
    if (status == CR_OK && motion != NULL) {
        status = cr_motion_add(motion, state, since);
        if (status != CR_OK) cr_error_set(&run->error, status, "plot", "plot: out of memory");
    }
    *since = (crRecord){0};
    return status;
}

static crStatus log_events(Run* run, crTrajectory* trajectory, crMotionLog* motion) {
    crEvents events = cr_world_events(run->world);
    run->events += events.count;
    crStatus status = CR_OK;
    for (int i = 0; i < events.count && status == CR_OK; i++) {
        if (trajectory != NULL) status = cr_trajectory_event(trajectory, &events.events[i], &run->error);
        if (motion != NULL && status == CR_OK) status = cr_motion_event(motion, &events.events[i]);
    }
    return status;
}

static void watch(Run* run) {
    if (run->watch == NULL || run->status != CR_OK) return;
    run->status = run->watch(run->watch_ctx, run);
    if (run->status != CR_OK) cr_error_set(&run->error, run->status, "", "%s", cr_status_text(run->status));
}

// the steps of a run: n from `begun` up to `whole` of dt, and one more where some time is left
typedef struct Grid {
    double begun, whole, steps;
} Grid;

// the n-th step; the problems it poses are dumped where they are wanted
static crStatus make_step(Run* run, double n, Grid grid) {
    bool rest = n >= grid.whole;
    double time = cr_world_state(run->world)->time, dt = run->scene.step.dt;
    if (run->dump != NULL) {
        dump_begin(run->dump, run->world, n, time, rest ? run->scene.duration - time : dt,
                   n + 1.0 >= grid.steps);
    }
    crStatus status = rest ? cr_world_run(run->world, run->scene.duration, &run->error)
                           : cr_world_step(run->world, &run->error);
    if (run->dump != NULL) dump_end(run->world);
    return status;
}

static crStatus one_step(Run* run, double n, Grid grid, crTrajectory* trajectory, crMotionLog* motion,
                         crRecord* since) {
    crStatus status = make_step(run, n, grid);
    if (status != CR_OK) return status;
    const crCertificate* c = cr_world_certificate(run->world);
    cr_tally_add(&run->tally, c);
    if (c->solves > 0) median_add(&run->residuals, c->residual);
    since->residual = fmax(since->residual, c->residual);
    since->penetration = fmax(since->penetration, c->penetration);
    since->contacts = c->contacts > since->contacts ? c->contacts : since->contacts;
    return log_events(run, trajectory, motion);
}

static Grid grid_of(const Run* run) {
    double dt = run->scene.step.dt;
    double time = cr_world_state(run->world)->time;
    double begun = floor(time / dt + 0.5);
    double left = run->scene.duration;
    // a run that ended between two steps begins to count again
    if (fabs(time - begun * dt) > DRIFT * dt) {
        begun = 0.0;
        left = fmax(left - time, 0.0);
    }
    double whole = floor(left / dt + ROUNDING);
    bool rest = left - whole * dt > ROUNDING * dt;
    return (Grid){begun, whole, whole + (rest ? 1.0 : 0.0)};
}

static void step_all(Run* run, crTrajectory* trajectory, crMotionLog* motion) {
    Grid grid = grid_of(run);
    Progress progress = progress_start();
    crRecord since = {0};
    run->status = record(run, run->resumed ? NULL : trajectory, motion, &since);
    watch(run);
    for (double n = grid.begun; n < grid.steps && run->status == CR_OK && !stop_asked(); n += 1.0) {
        run->status = one_step(run, n, grid, trajectory, motion, &since);
        watch(run);
        bool due = fmod(n + 1.0, run->scene.every) == 0.0 || n + 1.0 >= grid.steps || stop_asked();
        if (run->status == CR_OK && due) run->status = record(run, trajectory, motion, &since);
        if (progress_due(&progress))
            show_progress(run, &progress, (n + 1.0) / grid.steps, grid.begun / grid.steps);
    }
    progress_end(&progress);
    run->seconds = seconds_now() - progress.begun;
}

void run_through(Run* run, crTrajectory* trajectory, crMotionLog* motion) {
    StopWatch signals;
    stop_watch(&signals);
    run->start = cr_world_energy(run->world);
    step_all(run, trajectory, motion);
    run->end = cr_world_energy(run->world);
    run->time = cr_world_state(run->world)->time;
    run->interrupted = stop_asked();
    stop_unwatch(&signals);
}
