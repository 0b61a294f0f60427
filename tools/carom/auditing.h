// auditing.h - what the two halves of `carom audit` share: answers to problems, and trajectories of scenes.
#ifndef CAROM_AUDITING_H
#define CAROM_AUDITING_H

#include "scene_input.h"

typedef struct AuditOptions {
    SceneInput scene;
    const char* path;      // of the problem, or of the trajectory
    const char* impulses;  // file of impulses, NULL: the problem's own
    const char* format;    // of the problem, NULL: guessed
    const char* per_step;  // CSV to write, NULL: none
    const char* plot;      // picture to write, NULL: none
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

// audit_motion_print.c
void table_motion(FILE* file, const AuditOptions* options, const crModel* model, const crMotionReport* report,
                  const char* missing, bool color);
void json_motion(FILE* file, const AuditOptions* options, const crModel* model, const crMotionReport* report,
                 const crMotionDigits* digits);
crStatus csv_motion(const char* path, const crModel* model, const crMotionStep* steps, size_t count,
                    crError* error);
crStatus plot_motion(const char* path, const char* title, const crMotionStep* steps, size_t count,
                     crError* error);

#endif
