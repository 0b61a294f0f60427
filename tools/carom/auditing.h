// auditing.h - what the two halves of `carom audit` share: answers to problems, and trajectories of scenes.
#ifndef CAROM_AUDITING_H
#define CAROM_AUDITING_H

#include "io/motion_read.h"
#include "io/problem.h"
#include "plot/charts.h"
#include "scene_input.h"

typedef struct AuditOptions {
    SceneInput scene;
    const char* path;      // of the problem, or of the trajectory
    const char* impulses;  // file of impulses, NULL: the problem's own
    const char* format;    // of the problem, NULL: guessed
    const char* per_step;  // CSV to write, NULL: none
    const char* plot;      // picture to write, NULL: none
    const char* report;    // page to write, NULL: none
    double tol;            // residual that counts as solved
    double shift;          // metres of gap that count as near, negative: what the problem says
    crMotionLimits limits;
    bool exact;  // numbers are not rounded to the digits that stand there
    bool json;
} AuditOptions;

int audit_problem(const AuditOptions* options);  // exit status
int audit_motion(AuditOptions* options);         // likewise

// Exit status of a verdict: 0 yes, 4 no, 5 cannot tell.
int audit_status(crTruth truth);
const char* audit_shade(crTruth truth, bool color);  // colour of a verdict, "" without colours

// Lines of an audit, for a terminal or as rows of a page's table; both have the same words and numbers.
typedef struct AuditLines {
    FILE* file;
    bool page;
    bool verdicts;  // lines have verdicts
    bool color;     // of a terminal
} AuditLines;
void lines_begin(const AuditLines* lines, const char* label, const crTruth* truth);  // truth NULL: none
void lines_more(const AuditLines* lines);                                            // on the next line
void lines_end(const AuditLines* lines);
void lines_name(const AuditLines* lines, const char* name);  // text of the user's

// A motion with what was found of it.
typedef struct AuditedMotion {
    const AuditOptions* options;
    const crModel* model;
    const crMotionFile* file;
    const crMotionStep* steps;  // (file->data.count)
    const crMotionReport* report;
} AuditedMotion;

// Impulses with what was found of them.
typedef struct AuditedProblem {
    const AuditOptions* options;
    const crProblemFile* file;
    const double* p;          // (rows)
    const double* neighbour;  // impulses that obey every law (rows)
    const double* w;          // velocities with bias that the neighbour gives (rows)
    crAudit audit;
    crOutcome outcome;
    double moved, largest;  // difference of neighbour and impulses, and of these the largest, N s
} AuditedProblem;
crTruth problem_truth(const AuditedProblem* audited);  // yes: solved or near
void table_problem(const AuditedProblem* audited, const AuditLines* lines);

// audit_motion_print.c
void head_motion(const AuditedMotion* audited, const AuditLines* lines);  // what was read
void table_motion(const AuditedMotion* audited, const AuditLines* lines);
void json_motion(FILE* file, const AuditOptions* options, const crModel* model, const crMotionReport* report,
                 const crMotionDigits* digits);
crStatus csv_motion(const char* path, const crModel* model, const crMotionStep* steps, size_t count,
                    crError* error);
crStatus plot_motion(const char* path, const char* title, const crMotionStep* steps, size_t count,
                     crError* error);
// The charts of that picture, drawn by themselves. CR_ERR_MEMORY.
#define MOTION_CHARTS 4
typedef struct MotionCharts {
    double* y;
    crSeries series[MOTION_CHARTS];
    crCharts charts;
} MotionCharts;
crStatus motion_charts_create(MotionCharts* charts, const crMotionStep* steps, size_t count);
void motion_charts_destroy(MotionCharts* charts);

// audit_report.c: pages
crStatus report_motion(const char* path, const AuditedMotion* audited, crError* error);
crStatus report_problem(const char* path, const AuditedProblem* audited, crError* error);

#endif
