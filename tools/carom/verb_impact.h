// verb_impact.h - the two ways `carom impact` prints its answers.
#ifndef CAROM_VERB_IMPACT_H
#define CAROM_VERB_IMPACT_H

#include "io/impact.h"

// What one law said: a hit, or why not.
typedef struct Answer {
    crStatus status;
    crHit hit;
    crError error;
} Answer;

// One line of JSON.
void json_answers(FILE* file, const crImpact* impact, const Answer* answers);

// A table with one row per law. line is where the collision stands in the input.
void table_answers(FILE* file, const crImpact* impact, int line, const Answer* answers, bool color);

#endif
