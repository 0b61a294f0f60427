// ranks.h - verbs that share their work among the ranks of mpirun.
#ifndef CAROM_TOOL_RANKS_H
#define CAROM_TOOL_RANKS_H

#include "fit/ranks.h"

// The verb itself: every rank runs it, prints (ranks other than 0 into nothing), and writes files only where
// ranks->rank is 0.
typedef int (*RankedVerb)(crRanks* ranks, int count, char** arguments);

// Starts the ranks, runs the verb and ends them together; the exit status. Without mpirun it just runs the
// verb.
int ranks_verb(const char* verb, RankedVerb run, int count, char** arguments);

#endif
