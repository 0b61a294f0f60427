// page_parts.h - the parts of a report's page.
#ifndef CAROM_PLOT_PAGE_PARTS_H
#define CAROM_PLOT_PAGE_PARTS_H

#include "plot/page.h"

// The style that all pages share (web/src/base.css), what the page and reports have beyond it (page.css), and
// the script elements of reports, which web/build.mjs makes of the page's own modules.
extern const char cr__page_base[];
extern const char cr__page_style[];
extern const char cr__page_script[];

// What the script draws, as JSON: shapes, and poses of at most CR_PAGE_FRAMES records.
#define CR_PAGE_FRAMES  600
#define CR_PAGE_EVENTS  2000     // in a chart
#define CR_PAGE_NUMBERS 1000000  // of all poses of all runs; more bodies have fewer frames
crStatus cr__page_data(FILE* file, const crPageRun* runs, int run_count);

#endif
