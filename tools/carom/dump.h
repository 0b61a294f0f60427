// dump.h - problems that a run poses, written to files.
#ifndef CAROM_DUMP_H
#define CAROM_DUMP_H

#include "carom/carom.h"

#define MOST_DUMPS 64  // times

// Which steps are dumped, and where to.
typedef struct DumpPlan {
    const char* path;
    int count;
    double at[MOST_DUMPS];  // times, s
    int every;              // steps, 0: only at times
} DumpPlan;

typedef struct Dump Dump;

// NULL: out of memory.
Dump* dump_create(const DumpPlan* plan, const char* scene);
void dump_destroy(Dump* dump);  // accepts NULL

// Before a step of length h from `time`, the n-th from 0: where it is wanted, its problems will be written while it
// runs, and a file that cannot be written fails the step. `last`: the step ends the run, and its end belongs to it.
void dump_begin(Dump* dump, crWorld* world, double n, double time, double h, bool last);
void dump_end(crWorld* world);     // after it
int dump_files(const Dump* dump);  // written so far

#endif
