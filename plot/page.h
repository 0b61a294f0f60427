// page.h - a report of one run, or of several side by side, as one static HTML page that needs nothing else.
#ifndef CAROM_PLOT_PAGE_H
#define CAROM_PLOT_PAGE_H

#include "plot/motion.h"

// A line of the summary, in words.
#define CR_PAGE_TEXT 96
typedef struct crPageFact {
    const char* name;
    char value[CR_PAGE_TEXT];
    bool bad;  // shown as what a reader must not miss
} crPageFact;

typedef struct crPageRun {
    const char* label;       // tells the runs apart; with one run it is not shown
    const crMotionLog* log;  // with its model; several runs may share one
    int fact_count;
    const crPageFact* facts;  // beyond what the log itself tells: method, rule, steps ...
} crPageRun;

#define CR_PAGE_RUNS 16

// Writes the page: animation, summary with certificate, charts, outcome, events. note is shown under the
// title ("" for none). Fails: argument (no run, more than CR_PAGE_RUNS, a log without a model or rows), file,
// memory; a page that is not whole is not left behind.
crStatus cr_page_write(const char* path, const char* title, const char* note, const crPageRun* runs,
                       int run_count, crError* error);
// A page of a motion that came from elsewhere: in place of summary, outcome and events there is what `section` writes.
typedef crStatus (*crPageSection)(FILE* file, const void* ctx);
crStatus cr_page_write_section(const char* path, const char* title, const char* note, const crPageRun* run,
                               crPageSection section, const void* ctx, crError* error);

#endif
