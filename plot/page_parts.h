// page_parts.h - the parts of a report's page.
#ifndef CAROM_PLOT_PAGE_PARTS_H
#define CAROM_PLOT_PAGE_PARTS_H

#include "plot/page.h"

// The style sheet and the script, as they stand in page.css and page.js.
extern const char cr__page_css[];
extern const char cr__page_js[];

// What the animation draws, as JSON: shapes, and poses of at most CR_PAGE_FRAMES records.
#define CR_PAGE_FRAMES  600
#define CR_PAGE_NUMBERS 1000000  // of all poses of all runs; more bodies have fewer frames
crStatus cr__page_data(FILE* file, const crPageRun* runs, int run_count);

#endif
