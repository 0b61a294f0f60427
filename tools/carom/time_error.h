// time_error.h - the error of a run's step length, per body at stated times.
#ifndef CAROM_TIME_ERROR_H
#define CAROM_TIME_ERROR_H

#include <stdio.h>

#include "carom/wrt.h"
#include "scene_input.h"

#define MOST_TIMES 32

typedef struct TimeErrors {
    int count;
    double times[MOST_TIMES];  // s, ascending
    crTimeError* errors;       // of body b at time i: [i*nb + b]; NULL before they are measured
} TimeErrors;

// "0.5,1.25"; an exit status.
int time_errors_read(TimeErrors* t, const char* text);
// Runs the scene three times. Fails: as runs do, memory.
crStatus time_errors_measure(TimeErrors* t, const crScene* scene, crError* error);
void time_errors_print(FILE* file, const TimeErrors* t, const crScene* scene);
void time_errors_json(FILE* file, const TimeErrors* t, const crScene* scene);  // "time_error":[...]
void time_errors_free(TimeErrors* t);

#endif
