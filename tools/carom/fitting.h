// fitting.h - what the kinds of carom fit and carom predict share.
#ifndef CAROM_FITTING_H
#define CAROM_FITTING_H

#include "fit/fit.h"
#include "fit/ranks.h"
#include "plot/sheet.h"

#define FITTING_LAWS 24

typedef struct Fitting {
    crRanks* ranks;
    const char* path;  // of the measurements
    crImpactOptions columns;
    crFitOptions options;
    int law_count;
    crFitLaw laws[FITTING_LAWS];
    bool all;  // laws that do not apply are listed, not refused
    bool json;
    const char* out;
    const char* plot;
    const char* report;
    crTable table;
    crImpacts impacts;
    crImpactsSummary summary;
    int fit_count;
    crFit fits[FITTING_LAWS];
    int order[FITTING_LAWS];  // of those that apply, best first
    int ranked;
} Fitting;

// The kinds of carom fit: arguments after the kind; the exit status.
int fit_impacts(crRanks* ranks, int count, char** arguments);
void fit_impacts_help(void);
int fit_motion(crRanks* ranks, int count, char** arguments);
void fit_motion_help(void);

// Each part of a list with commas by `take`, cut in place; -1 to go on, else the exit status.
int fitting_each(char* list, int (*take)(void* ctx, char* part), void* ctx);

// "NAME=SOURCE,..." and "COLUMN=VALUE,...", cut in place; -1 to go on, else the exit status.
int fitting_columns(const char* verb, crImpactOptions* columns, char* list);
int fitting_where(const char* verb, crImpactOptions* columns, char* list);
int fitting_seed(const char* verb, const char* name, const char* text, int least, int most, int* number);

// FILE:LINE:COLUMN: message on standard error; the exit status.
int fitting_refuse(const char* verb, const char* path, const crError* error);

// What data say about one fitted parameter.
typedef struct Doubt {
    const char* name;
    crDetermined determined;
    double lo, hi;        // where the loss is as good
    const char* partner;  // the one it trades against, NULL where there is none or it is told there
    double correlation;
} Doubt;

// What the data cannot tell, or "" where they tell it.
void fitting_tell_doubt(const Doubt* doubt, char* text, size_t size);
void fitting_doubt(const crFit* fit, int index, char* text, size_t size);
// What the measurements themselves give reason to doubt, or "".
void fitting_warning(const Fitting* f, char* text, size_t size);

void fitting_print(const Fitting* f);
void fitting_json(const Fitting* f);

// A page that needs nothing else: its beginning, and its end, which removes what is not whole.
FILE* fitting_page_open(const char* path, const char* title, crError* error);  // NULL where it cannot be
crStatus fitting_page_end(FILE* file, const char* path, const char* by, crStatus status, crError* error);
// Figures of a page, each drawn into the box x0, y0, x1, y1 of a sheet.
typedef crStatus (*FittingDraw)(const void* ctx, int index, crSheet* sheet, const double box[4]);
crStatus fitting_figures(FILE* file, const char* const* names, int count, FittingDraw draw, const void* ctx);

// A row of a ranking: a mean with its standard error.
typedef struct FittingBar {
    const char* name;
    double mean, se;
} FittingBar;
// In the box x0, y0, x1, y1 of the sheet; a floor that is not NaN is a dashed line.
void fitting_ranking(crSheet* sheet, const double box[4], const char* title, const char* unit,
                     const FittingBar* bars, int count, double floor);

// The pictures: ranking, impulses, residuals of the best law.
#define FITTING_PICTURES 4
extern const char* const fitting_picture_names[FITTING_PICTURES];
// In the box of the sheet; CR_ERR_MEMORY.
crStatus fitting_picture(const Fitting* f, int index, crSheet* sheet, double x0, double y0, double x1,
                         double y1);
crStatus fitting_plot(const Fitting* f, const char* path, crError* error);
crStatus fitting_report(const Fitting* f, const char* path, crError* error);

#endif
