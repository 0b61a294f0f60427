// few_lanes.h - solves of a few contacts of one body, of several worlds at a time.
#ifndef CAROM_RELAX_FEW_LANES_H
#define CAROM_RELAX_FEW_LANES_H

#include "relax/few_run.h"

// Sweeps the solves listed, which are open, have at most CR_UNIT_CONTACTS contacts and are of one kind, but of no ball. Afterwards at
// least one of them is open no more, or all have made many sweeps; the others may go on, here or by cr__few_go_on.
void cr__few_lanes(crFew* const* few, int count);

#endif
