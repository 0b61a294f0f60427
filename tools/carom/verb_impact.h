// verb_impact.h - the ways `carom impact` prints its answers.
#ifndef CAROM_VERB_IMPACT_H
#define CAROM_VERB_IMPACT_H

#include "io/impact.h"
#include "stream.h"

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

// --gradient: derivatives of one collision by each law, as a table or as JSON; false if no law gave them.
bool answer_gradient(const Stream* stream, const crJson* object, int line, bool first);

#endif
