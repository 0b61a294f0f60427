// few_lanes.h - solves of a few contacts of one body, for several worlds side by side.
#ifndef CAROM_RELAX_FEW_LANES_H
#define CAROM_RELAX_FEW_LANES_H

#include "relax/few_run.h"

// Sweeps open solves, which have at most CR_UNIT_CONTACTS contacts each and are of one kind other than ball.
// Afterwards at least one of them has ended, or all have made many sweeps. The others may continue here or by
// cr__few_go_on.
void cr__few_lanes(crFew* const* few, int count);

#endif
