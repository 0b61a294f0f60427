// verb_resolve.h - the two ways `carom resolve` prints its answers.
#ifndef CAROM_VERB_RESOLVE_H
#define CAROM_VERB_RESOLVE_H

#include "io/resolve.h"

// What one rule said: an answer, or why not.
typedef struct Resolution {
    crStatus status;
    crResolved got;
    crError error;
} Resolution;

// Why an outcome is one of several equally good ones, or NULL.
const char* tie_of(const crResolve* resolve, const crRuleReport* report);

// One line of JSON.
void json_resolutions(FILE* file, const crResolve* resolve, const Resolution* answers);

// A table with one row per rule, or one column where there are many velocities. line is where the impact
// stands in the input.
void table_resolutions(FILE* file, const crResolve* resolve, int line, const Resolution* answers, bool color);

#endif
