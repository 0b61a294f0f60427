// report.h - runs as a page of HTML (plot/page.h).
#ifndef CAROM_REPORT_H
#define CAROM_REPORT_H

#include "plot/page.h"
#include "run.h"

#define SCENE_FACTS 5
#define RUN_FACTS   (SCENE_FACTS + 11)

// Method, dt, rule, law and solver of a scene; returns their number.
int scene_facts(const crScene* scene, crPageFact facts[SCENE_FACTS]);

// One page for all runs, each with the log that run_through filled. labels tell them apart.
crStatus report_runs(const char* path, const char* title, const Run* const* runs, const crMotionLog* logs,
                     const char* const* labels, int count, crError* error);

#endif
