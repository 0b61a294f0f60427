// progress.h - how far long work is, on a terminal's standard error, and whether the user asked to stop.
#ifndef CAROM_PROGRESS_H
#define CAROM_PROGRESS_H

#include <signal.h>
#include <stdbool.h>

typedef struct Progress {
    double begun, shown;  // s
    int first;            // what was done when it was asked first, e.g. by a run before
    bool terminal, drawn;
    bool lines;  // more often where there is no terminal: mpirun stands between
} Progress;

// From here on Ctrl-C, SIGHUP and SIGTERM ask to stop; a second one of the same kind ends the process.
void progress_begin(Progress* progress);
// "WHAT: 12 of 100, 12 %, 3 min left", now and then; false where the user asked to stop.
bool progress_show(Progress* progress, const char* what, int done, int count);
void progress_end(Progress* progress);

// For work that words its line itself: a clock that leaves signals alone; whether a line is due; "12 %, 3 min left" for
// a share of 0 to 1, of which share_before was done when the clock was started.
Progress progress_start(void);
bool progress_due(Progress* progress);
void progress_left(const Progress* progress, double share, double share_before);

// The same for work with a picture of its own: the signals ask to stop from stop_watch to stop_unwatch, which
// restores what they did before.
#define STOP_SIGNALS 3
typedef struct StopWatch {
    struct sigaction before[STOP_SIGNALS];
} StopWatch;
void stop_watch(StopWatch* watch);
void stop_unwatch(const StopWatch* watch);
bool stop_asked(void);
int stop_status(void);  // the exit status after a signal asked to stop: 128 and its number, as shells have it
double seconds_now(void);  // of a clock that only goes forward

#endif
