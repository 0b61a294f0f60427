// progress.c - one line that is written over and over, after a while; where there is no terminal, a line a minute.
//
// The time left is what it took so far times what is left over what was done, so that work taken over from a
// checkpoint does not count as fast.
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 2.0   // seconds before anything is shown
#define REFRESH  0.25  // seconds
#define RANKS    10.0  // seconds between lines where mpirun stands between
#define LINES    60.0  // seconds between lines where there is no terminal

// signals that ask the process to end: Ctrl-C, a terminal that closes, kill and shutdown
static const int signals[STOP_SIGNALS] = {SIGINT, SIGHUP, SIGTERM};

// the signal that asked to stop, 0 for none; a signal handler can reach nothing else
static volatile sig_atomic_t asked;

static void ask_stop(int signal) { asked = signal; }

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void stop_watch(StopWatch* watch) {
    struct sigaction action = {.sa_handler = ask_stop, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    asked = 0;
    for (int i = 0; i < STOP_SIGNALS; i++) {
        sigaction(signals[i], &action, &watch->before[i]);
        // nohup starts a process with SIGHUP ignored, so that it outlives its terminal
        if (signals[i] == SIGHUP && watch->before[i].sa_handler == SIG_IGN)
            sigaction(SIGHUP, &watch->before[i], NULL);
    }
}

void stop_unwatch(const StopWatch* watch) {
    for (int i = 0; i < STOP_SIGNALS; i++) {
        sigaction(signals[i], &watch->before[i], NULL);
    }
}

bool stop_asked(void) { return asked != 0; }

int stop_status(void) { return 128 + (int)asked; }

Progress progress_start(void) {
    return (Progress){.begun = seconds_now(), .first = -1, .terminal = isatty(STDERR_FILENO) != 0};
}

void progress_begin(Progress* progress) {
    *progress = progress_start();
    StopWatch watch;
    stop_watch(&watch);
}

bool progress_due(Progress* p) {
    double t = seconds_now();
    bool due = p->terminal ? t - p->begun >= PATIENCE && t - p->shown >= REFRESH
                           : t - fmax(p->begun, p->shown) >= (p->lines ? RANKS : LINES);
    if (!due) return false;
    p->shown = t;
    p->drawn = p->terminal;
    return true;
}

void progress_left(const Progress* p, double share, double share_before) {
    double seconds = (p->shown - p->begun) * (1.0 - share) / fmax(share - share_before, 1e-12);
    fprintf(stderr, "%.0f %%", floor(100.0 * share));
    if (seconds < 100.0) {
        fprintf(stderr, ", %.0f s left", seconds);
    } else if (seconds < 6000.0) {
        fprintf(stderr, ", %.0f min left", seconds / 60.0);
    } else {
        fprintf(stderr, ", %.1f h left", seconds / 3600.0);
    }
}

bool progress_show(Progress* p, const char* what, int done, int count) {
    if (p->first < 0) p->first = done - 1;
    if (progress_due(p)) {
        fprintf(stderr, "%s%s: %d of %d, ", p->terminal ? "\r" : "", what, done, count);
        progress_left(p, (double)done / count, (double)p->first / count);
        fputs(p->terminal ? "\033[K" : "\n", stderr);
        fflush(stderr);
    }
    return !stop_asked();
}

void progress_end(Progress* progress) {
    if (progress->drawn) fputs("\r\033[K", stderr);
    progress->drawn = false;
}
