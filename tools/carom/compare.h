// compare.h - one scene by several choices: what each run came to, for carom compare.
#ifndef CAROM_COMPARE_H
#define CAROM_COMPARE_H

#include "run.h"
#include "scene_input.h"

#define COMPARE_MOST 32

// What is varied: an option's name without its dashes, or the path of a --set.
typedef struct Choice {
    const char* name;
    const char* path;  // in the scene
    bool all;          // every name of the catalogue was asked for
    int count;
    char* values[COMPARE_MOST];
} Choice;

// One value of it.
typedef struct Outcome {
    const char* value;
    Run run;
    bool refused;  // no run; run.error says why
    crMotionLog log;
    double difference;  // largest of positions and velocities at the end against the first run; m, m/s, rad
} Outcome;

typedef struct Comparison {
    SceneInput scene;
    Choice choice;
    const char* bodies;  // names with commas between, NULL for those that moved
    const char* plot;
    const char* report;
    int count;
    int first;  // the run that others are compared with, -1 where none ran
    bool interrupted;
    Outcome outcomes[COMPARE_MOST];
} Comparison;

// differs by more than what rounding and tolerances leave
bool outcome_differs(double a, double b);
// whether a body is asked for by --bodies
bool comparison_shows(const Comparison* c, const char* body);
double outcome_value(const Outcome* o, int body, const crColumn* column);

void table_comparison(FILE* file, const Comparison* comparison, bool color);
void json_comparison(FILE* file, const Comparison* comparison);

#endif
