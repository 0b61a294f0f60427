// run.h - a scene through time: what `carom run` counts, keeps and prints.
#ifndef CAROM_RUN_H
#define CAROM_RUN_H

#include "dump.h"
#include "io/scene.h"
#include "io/trajectory.h"
#include "median.h"
#include "plot/motion.h"

typedef struct Run {
    const char* path;
    const char* label;  // before the bar, NULL for none
    crScene scene;
    crWorld* world;
    crTally tally;
    Median residuals;  // of steps with a contact solve
    int events;
    crEnergy start, end;
    double time;     // reached, s
    double seconds;  // of the clock on the wall
    bool interrupted;
    bool resumed;       // the world began where a file ended
    double resumed_at;  // s
    crStatus status;    // of the step that failed, else CR_OK
    crError error;
    crStatus (*watch)(void* ctx, struct Run* run);  // after the start and each step; NULL for none
    void* watch_ctx;
    Dump* dump;  // of problems, NULL for none
} Run;

// Steps from where the world is to the scene's duration. Records go to trajectory and motion (either may be
// NULL). Ends early, with what was computed kept, on Ctrl-C or where a step fails.
void run_through(Run* run, crTrajectory* trajectory, crMotionLog* motion);

void table_run(FILE* file, const Run* run, bool color);
void json_run(FILE* file, const Run* run);
void json_run_members(FILE* file, const Run* run);  // what stands between the braces

#endif
