// fit_impacts.c - carom fit impacts: parameters of collision laws from measured collisions, and which law
// predicts them best.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "fitting.h"
#include "io/names.h"
#include "options.h"
#include "plot/gnuplot.h"
#include "progress.h"

void fit_impacts_help(void) {
    puts("usage: carom fit impacts FILE.csv [options]\n"
         "\n"
         "Fits collision laws to measured collisions of a body with something fixed and says which law\n"
         "predicts them best, how sure each parameter is, and what the data cannot tell. FILE has a header\n"
         "and one collision per row, SI units; - is standard input. docs/fit.md explains every number.\n"
         "\n"
         "columns, one of three forms (x y z stand for three columns):\n"
         "  planar    m I rx ry vx vy w vx_after vy_after w_after, nx ny (0 1); w counter-clockwise\n"
         "  spatial   m Ixx Iyy Izz r v w v_after w_after with x y z each, n (0 0 1), Ixy Ixz Iyz (0)\n"
         "  impulses  Wnn Wn1 W11 Vn V1 Pn P1, and in space Wn2 W12 W22 V2 P2; m (1/Wnn)\n"
         "r is from the centre of mass to the contact, n from what is hit to the body.\n"
         "\n"
         "  --column NAME=SOURCE,...  another column, its negative or a number: m=0.2,vx=vx_i,w=-omega\n"
         "  --where COLUMN=VALUE,...  only these rows\n"
         "  --skip            leave out bad rows instead of refusing the file\n"
         "  --law A,B         laws to fit; default all (routh-newton and routh-energetic are routh's "
         "endings)\n"
         "  --params A,B      parameters to fit of those a law has; default all of mu, e, et, eta2, mu2, "
         "mu3,\n"
         "                    psi1, psi2, rho\n"
         "  --fix NAME=VALUE,...  values of the others\n"
         "  --folds N         of the cross-validation, 2 to 100; default 10\n"
         "  --bootstrap N     resamples for the intervals, 0 to 10000; default 200\n"
         "  --search NAME     simplex (default), or gauss: Gauss-Newton steps by derivatives of the law\n"
         "  --seed N          of folds and resamples; default 1\n"
         "  --threads N       1 to 256; default 1; results do not depend on it\n"
         "  --out FILE        the fitted laws as JSON, for carom predict\n"
         "  --plot FILE       ranking, impulse space and residuals: .svg, .png or .pdf\n"
         "  --report FILE     a page with everything: .html\n"
         "  --json            everything as one JSON object\n"
         "\n"
         "Exit status: 0 good, 1 bad data or a law that does not apply to them (not with all), 2 wrong "
         "usage,\n"
         "3 a file cannot be read or written, 130 interrupted.\n"
         "\n"
         "examples:\n"
         "  carom fit impacts drops.csv --out drops.json --report drops.html\n"
         "  carom fit impacts drops.csv --law routh,chatterjee-ruina --params mu,e --fix et=0\n"
         "  carom fit impacts log.csv --column m=0.0364,I=1.35e-5,vx=vx_i,vy=vy_i --where flag=0");
}

// The law that is being fitted, for progress.
typedef struct Watch {
    Progress progress;
    int law, laws;
} Watch;

static bool watch(void* ctx, const char* law, int done, int count) {
    Watch* w = ctx;
    char what[80];
    snprintf(what, sizeof what, "law %d of %d, %.40s", w->law, w->laws, law);
    return progress_show(&w->progress, what, done, count);
}

static const char* law_name(const void* ctx, int index) {
    (void)ctx;
    return cr_fit_law(index).name;
}

static int take_law(void* ctx, char* name) {
    Fitting* f = ctx;
    crFitLaw law = cr_fit_law_find(name);
    const char* omitted = cr_fit_law_omitted(name);
    if (law.law == NULL && omitted != NULL)
        return usage_error("fit", "--law %s cannot be fitted: %s", name, omitted);
    if (law.law == NULL) {
        const char* near = cr_name_nearest(name, law_name, NULL);
        return near != NULL ? usage_error("fit", "no law is called '%s'; did you mean '%s'?", name, near)
                            : usage_error("fit", "no law is called '%s'; carom laws lists them", name);
    }
    if (f->law_count == FITTING_LAWS) return usage_error("fit", "too many laws");
    for (int i = 0; i < f->law_count; i++) {
        if (strcmp(f->laws[i].name, law.name) == 0)
            return usage_error("fit", "--law: '%s' is listed twice", name);
    }
    f->laws[f->law_count++] = law;
    return -1;
}

static int find_param(const char* option, const char* name) {
    for (int i = 0; i < CR_FIT_PARAMS; i++) {
        if (strcmp(name, cr_fit_param_name((crFitParam)i)) == 0) return i;
    }
    usage_error("fit", "%s: '%s' is no parameter; mu, e, et, eta2, mu2, mu3, psi1, psi2 and rho are", option,
                name);
    return -1;
}

static int take_param(void* ctx, char* name) {
    Fitting* f = ctx;
    int i = find_param("--params", name);
    if (i < 0) return EXIT_USAGE;
    f->options.params |= 1u << i;
    return -1;
}

static int take_fix(void* ctx, char* text) {
    Fitting* f = ctx;
    char* equals = strchr(text, '=');
    if (equals == NULL) return usage_error("fit", "--fix: '%s' must be NAME=VALUE", text);
    *equals = '\0';
    int i = find_param("--fix", text);
    if (i < 0) return EXIT_USAGE;
    char* end = NULL;
    double value = strtod(equals + 1, &end), lo, hi;
    cr_fit_param_range((crFitParam)i, &lo, &hi);
    if (end == equals + 1 || *end != '\0' || !(value >= lo && value <= hi))
        return usage_error("fit", "--fix: %s is '%s', must be a number from %g to %g", text, equals + 1, lo,
                           hi);
    f->options.fixed.value[i] = value;
    f->options.params &= ~(1u << i);
    return -1;
}

static int take_number(Fitting* f, const char* name, const char* value) {
    int seed = 0;
    if (strcmp(name, "--folds") == 0) return fitting_seed("fit", name, value, 2, 100, &f->options.folds);
    if (strcmp(name, "--bootstrap") == 0)
        return fitting_seed("fit", name, value, 0, 10000, &f->options.bootstrap);
    if (strcmp(name, "--threads") == 0) return fitting_seed("fit", name, value, 1, 256, &f->options.threads);
    int status = fitting_seed("fit", name, value, 0, 2147483647, &seed);
    f->options.seed = (uint64_t)seed;
    return status;
}

static int take_value(Fitting* f, const char* name, char* value) {
    static const char* const numbers[] = {"--folds", "--bootstrap", "--threads", "--seed"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, numbers[i]) == 0) return take_number(f, name, value);
    }
    if (strcmp(name, "--search") == 0) {
        f->options.gauss = strcmp(value, "gauss") == 0;
        if (f->options.gauss || strcmp(value, "simplex") == 0) return -1;
        return usage_error("fit", "--search is '%s', must be simplex or gauss", value);
    }
    if (strcmp(name, "--column") == 0) return fitting_columns("fit", &f->columns, value);
    if (strcmp(name, "--where") == 0) return fitting_where("fit", &f->columns, value);
    if (strcmp(name, "--fix") == 0) return fitting_each(value, take_fix, f);
    if (strcmp(name, "--law") == 0) {
        f->all = strcmp(value, "all") == 0;
        return f->all ? -1 : fitting_each(value, take_law, f);
    }
    if (strcmp(name, "--params") == 0) {
        f->options.params = 0;
        return fitting_each(value, take_param, f);
    }
    const char** text = strcmp(name, "--out") == 0    ? &f->out
                        : strcmp(name, "--plot") == 0 ? &f->plot
                                                      : &f->report;
    *text = value;
    return -1;
}

static bool has_value(const char* name) {
    static const char* const names[] = {"--folds", "--bootstrap", "--threads", "--seed",   "--column",
                                        "--where", "--fix",       "--law",     "--params", "--out",
                                        "--plot",  "--report",    "--search"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

static int check_options(Fitting* f) {
    if (f->path == NULL) return usage_error("fit", "which file of measurements?");
    crPictureFormat format;
    if (f->plot != NULL && cr_picture_format(f->plot, &format, NULL) != CR_OK)
        return usage_error("fit", "--plot: '%s' must end in .svg, .png or .pdf", f->plot);
    int status = report_check("fit", f->report);
    if (status >= 0) return status;
    if (f->law_count > 0) return -1;
    f->all = true;
    f->law_count = cr_fit_law_count();
    for (int i = 0; i < f->law_count; i++) {
        f->laws[i] = cr_fit_law(i);
    }
    return -1;
}

// -1 to go on, else the exit status
static int read_options(Fitting* f, int count, char** arguments) {
    for (int i = 0; i < count; i++) {
        char* argument = arguments[i];
        int status = -1;
        if (asks_help(argument)) {
            fit_impacts_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--json") == 0) {
            f->json = true;
        } else if (strcmp(argument, "--skip") == 0) {
            f->columns.skip = true;
        } else if (has_value(argument)) {
            if (i + 1 == count) return usage_error("fit", "%s needs a value", argument);
            status = take_value(f, argument, arguments[++i]);
        } else if (argument[0] == '-' && argument[1] != '\0') {
            return unknown_option("fit", argument);
        } else if (f->path != NULL) {
            return usage_error("fit", "only one file at a time, '%s' is a second one", argument);
        } else {
            f->path = argument;
        }
        if (status >= 0) return status;
    }
    return check_options(f);
}

// -1 to go on, else the exit status
static int fit_all(Fitting* f) {
    Watch w = {.laws = f->law_count};
    progress_begin(&w.progress);
    w.progress.lines = f->ranks->count > 1;
    f->options.watch = watch;
    f->options.ctx = &w;
    f->options.ranks = f->ranks;
    int code = -1;
    for (int i = 0; i < f->law_count && code < 0; i++) {
        w.law = i + 1;
        crError error = {0};
        crFit* fit = &f->fits[f->fit_count++];
        crStatus status = cr_fit_run(&f->impacts, f->laws[i], &f->options, fit, &error);
        if (status == CR_OK && fit->status != CR_OK && !f->all) {
            error = fit->error;
            status = fit->status;
        }
        if (status != CR_OK) code = stop_asked() ? stop_status() : fitting_refuse("fit", f->path, &error);
    }
    progress_end(&w.progress);
    f->ranked = cr_fit_rank(f->fits, f->fit_count, f->order);
    return code;
}

static crStatus write_files(const Fitting* f, crError* error) {
    if (f->ranks->rank != 0) return CR_OK;
    const crFit* fits[FITTING_LAWS];
    for (int i = 0; i < f->ranked; i++) {
        fits[i] = &f->fits[f->order[i]];
    }
    crStatus status = CR_OK;
    if (f->out != NULL) status = cr_fit_write(f->out, fits, f->ranked, &f->impacts, error);
    if (status == CR_OK && f->plot != NULL) status = fitting_plot(f, f->plot, error);
    if (status == CR_OK && f->report != NULL) status = fitting_report(f, f->report, error);
    return status;
}

static int run(Fitting* f) {
    crError error = {0};
    crStatus status = cr_table_read(f->path, &f->table, &error);
    if (status == CR_OK) status = cr_impacts_create(&f->table, &f->columns, &f->impacts, &error);
    if (status == CR_OK) status = cr_impacts_summary(&f->impacts, &f->summary, &error);
    if (status != CR_OK) return fitting_refuse("fit", f->path, &error);
    int code = fit_all(f);
    if (code >= 0) return code;
    status = write_files(f, &error);
    if (f->json) {
        fitting_json(f);
    } else {
        fitting_print(f);
    }
    return status == CR_OK ? EXIT_GOOD : fitting_refuse("fit", f->path, &error);
}

int fit_impacts(crRanks* ranks, int count, char** arguments) {
    Fitting* f = calloc(1, sizeof *f);
    if (f == NULL) {
        fputs("carom fit: out of memory\n", stderr);
        return EXIT_BAD_INPUT;
    }
    f->ranks = ranks;
    f->options = cr_fit_options();
    int code = read_options(f, count, arguments);
    if (code < 0) code = run(f);
    for (int i = 0; i < f->fit_count; i++) {
        cr_fit_destroy(&f->fits[i]);
    }
    cr_impacts_destroy(&f->impacts);
    cr_table_free(&f->table);
    free(f);
    return code;
}
