// verb_fit.c - carom fit: what is fitted, and what its kinds share.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "device.h"
#include "fitting.h"
#include "ranks.h"

int fitting_each(char* list, int (*take)(void* ctx, char* part), void* ctx) {
    for (char* at = list; at != NULL;) {
        char* comma = strchr(at, ',');
        if (comma != NULL) *comma = '\0';
        int status = take(ctx, at);
        if (status >= 0) return status;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return -1;
}

typedef struct Columns {
    const char* verb;
    crImpactOptions* options;
} Columns;

static int take_column(void* ctx, char* part) {
    Columns* c = ctx;
    crError error;
    return cr_impact_source(c->options, part, &error) == CR_OK ? -1
                                                               : usage_error(c->verb, "--%s", error.message);
}

static int take_where(void* ctx, char* part) {
    Columns* c = ctx;
    crError error;
    return cr_impact_where(c->options, part, &error) == CR_OK ? -1
                                                              : usage_error(c->verb, "--%s", error.message);
}

int fitting_columns(const char* verb, crImpactOptions* columns, char* list) {
    return fitting_each(list, take_column, &(Columns){verb, columns});
}

int fitting_where(const char* verb, crImpactOptions* columns, char* list) {
    return fitting_each(list, take_where, &(Columns){verb, columns});
}

int fitting_seed(const char* verb, const char* name, const char* text, int least, int most, int* number) {
    char* end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < least || value > most)
        return usage_error(verb, "%s: '%s' must be a whole number from %d to %d", name, text, least, most);
    *number = (int)value;
    return -1;
}

int fitting_refuse(const char* verb, const char* path, const crError* error) {
    if (error->status == CR_ERR_FILE || device_blamed(error)) {
        fprintf(stderr, "carom %s: ", verb);
    } else {
        print_plain(stderr, strcmp(path, "-") == 0 ? "standard input" : path);
        if (error->line > 0) fprintf(stderr, ":%d", error->line);
        if (error->column > 0) fprintf(stderr, ":%d", error->column);
        fputs(": ", stderr);
    }
    print_plain(stderr, error->message);
    fprintf(stderr, " (%s)\n", cr_status_name(error->status));
    return error->status == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
}

static int fit_ranked(crRanks* ranks, int count, char** arguments) {
    const char* what = count > 0 ? arguments[0] : "";
    if (asks_help(what)) {
        fit_impacts_help();
        putchar('\n');
        fit_motion_help();
        return EXIT_GOOD;
    }
    if (strcmp(what, "impacts") == 0) return fit_impacts(ranks, count - 1, arguments + 1);
    if (strcmp(what, "motion") == 0) return fit_motion(ranks, count - 1, arguments + 1);
    return usage_error("fit",
                       "fit what? carom fit impacts FILE.csv, or carom fit motion FILE.csv --scene SCENE");
}

int verb_fit(int count, char** arguments) { return ranks_verb("fit", fit_ranked, count, arguments); }
