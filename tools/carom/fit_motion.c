// fit_motion.c - carom fit motion: parameters of a scene from measured trajectories of one of its bodies.
//
// Laws, rules and methods become values set in the scene; each combination is fitted by itself and they are
// ranked by what they predict. Interrupted work goes on from its checkpoint.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "device.h"
#include "io/names.h"
#include "options.h"
#include "plot/gnuplot.h"
#include "progress.h"
#include "tossing.h"

void fit_motion_help(void) {
    puts("usage: carom fit motion FILE.csv --scene SCENE --params A,B [options]\n"
         "\n"
         "Fits parameters of a scene to measured trajectories of one of its bodies: every toss is simulated\n"
         "from its first sample and the poses are compared. Says which law, rule or method predicts best,\n"
         "how sure each parameter is, and what the data cannot tell. docs/fit.md explains every number.\n"
         "\n"
         "columns: toss t px py pz qw qx qy qz vx vy vz, and wx wy wz (world) or wbx wby wbz (body axes);\n"
         "in the plane toss t px py angle vx vy w. Rows of a toss in the order of time, SI units.\n"
         "\n"
         "  --column, --where  as above, also scaled: t=k/148; --skip leaves out bad tosses\n"
         "  --scene SCENE     file or name of a scene with the body in it; --set PATH=VALUE, --dt as in run\n"
         "  --body NAME       the measured one; default the only one that moves freely\n"
         "  --params A,B      mu, e, et, mu_roll, mu_spin, threshold; NAME:LO:HI with another range;\n"
         "                    NAME=PATH:LO:HI any number of the scene: height=static[0].offset:-0.01:0.01\n"
         "  --law A,B         laws of impacts, one contact after another; all\n"
         "  --rule A,B        rules of impacts; all\n"
         "  --method A,B      cone, lcp, moreau, event; default of all three: what the scene says\n"
         "  --substeps N      steps between samples; default as many as the scene's dt asks for\n"
         "  --length L        m, what positions are compared by; default the body's size / sqrt(3)\n"
         "  --points N        simulated per round of a search; default 6 per coefficient of a quadratic\n"
         "  --search NAME     simplex (default), or gauss: Gauss-Newton steps by derivatives of the motion\n"
         "  --folds N         of the cross-validation, 2 to 100; default 2, half against half\n"
         "  --bootstrap N     resamples of tosses for the intervals; default 200\n"
         "  --seed N, --threads N  as above\n"
         "  --device NAME     threads, or gpu: tosses are worlds of a batch on an NVIDIA GPU, one GPU per "
         "rank\n"
         "  --checkpoint FILE  keeps what was simulated; the same command goes on from there\n"
         "  --out FILE        everything fitted, as JSON; --fitted-scene FILE the scene with the best of it\n"
         "  --plot FILE, --report FILE, --json  as above\n"
         "\n"
         "examples:\n"
         "  carom fit motion tosses.csv --scene cube.json --params mu,e --column t=k/148 --threads 4\n"
         "  carom fit motion tosses.csv --scene cube.json --params mu,e --rule newton,poisson --law routh");
}

// -1 to go on, else the exit status
static int take_param(void* ctx, char* text) {
    Tossing* f = ctx;
    crError error = {0};
    if (f->param_count == CR_MOTION_PARAMS)
        return usage_error("fit", "--params: at most %d at a time", CR_MOTION_PARAMS);
    crMotionParam* p = &f->params[f->param_count];
    if (cr_motion_param(text, p, &error) != CR_OK) return usage_error("fit", "--%s", error.message);
    for (int i = 0; i < f->param_count; i++) {
        if (strcmp(f->params[i].name, p->name) == 0)
            return usage_error("fit", "--params: '%s' is listed twice", p->name);
    }
    f->param_count++;
    return -1;
}

static const char* law_at(const void* ctx, int index) {
    (void)ctx;
    return cr_fit_law(index).name;
}

static int take_law(void* ctx, char* name) {
    Tossing* f = ctx;
    bool all = strcmp(name, "all") == 0;
    f->all |= all;
    for (int i = 0; i < cr_fit_law_count(); i++) {
        if (!all && strcmp(name, cr_fit_law(i).name) != 0) continue;
        f->law_names[f->law_name_count++] = cr_fit_law(i);
        if (!all) return -1;
    }
    if (all) return -1;
    const char* near = cr_name_nearest(name, law_at, NULL);
    return near != NULL ? usage_error("fit", "no law is called '%s'; did you mean '%s'?", name, near)
                        : usage_error("fit", "no law is called '%s'; carom laws lists them", name);
}

static int take_rule(void* ctx, char* name) {
    Tossing* f = ctx;
    bool all = strcmp(name, "all") == 0;
    f->all |= all;
    for (int i = 0; i < cr_rule_count(); i++) {
        if (!all && strcmp(name, cr_rule_info(i)->name) != 0) continue;
        f->rules[f->rule_count++] = cr_rule_info(i)->name;
        if (!all) return -1;
    }
    if (all) return -1;
    const char* near = cr_name_nearest(name, cr_name_rule, NULL);
    return near != NULL ? usage_error("fit", "no rule is called '%s'; did you mean '%s'?", name, near)
                        : usage_error("fit", "no rule is called '%s'", name);
}

static int take_method(void* ctx, char* name) {
    Tossing* f = ctx;
    for (int i = 0; cr_method_name((crMethod)i) != NULL; i++) {
        if (strcmp(name, cr_method_name((crMethod)i)) != 0) continue;
        f->methods |= 1u << i;
        return -1;
    }
    return usage_error("fit", "no method is called '%s'; cone, lcp, moreau and event are", name);
}

static int take_set(Tossing* f, const char* path, char* value) {
    SceneInput* s = &f->scene;
    char* equals = path == NULL ? strchr(value, '=') : NULL;
    if (path == NULL && equals == NULL) return usage_error("fit", "--set needs PATH=VALUE, is '%s'", value);
    if (s->set_count == SCENE_SETS) return usage_error("fit", "at most %d values can be set", SCENE_SETS);
    if (equals != NULL) *equals = '\0';
    s->paths[s->set_count] = path != NULL ? path : value;
    s->values[s->set_count++] = path != NULL ? value : equals + 1;
    return -1;
}

static int take_length(Tossing* f, const char* value) {
    char* end = NULL;
    f->length = strtod(value, &end);
    if (end != value && *end == '\0' && f->length > 0.0 && f->length < 1e6) return -1;
    return usage_error("fit", "--length: '%s' must be a number > 0, in m", value);
}

static int take_number(Tossing* f, const char* name, const char* value) {
    static const struct {
        const char* name;
        int least, most;
    } numbers[] = {{"--folds", 2, 100},    {"--bootstrap", 0, 10000}, {"--threads", 1, 256},
                   {"--points", 1, 10000}, {"--substeps", 1, 10000},  {"--seed", 0, 2147483647}};
    int seed = 0;
    int* to[] = {&f->options.folds,  &f->options.bootstrap, &f->options.threads,
                 &f->options.points, &f->substeps,          &seed};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(name, numbers[i].name) != 0) continue;
        int status = fitting_seed("fit", name, value, numbers[i].least, numbers[i].most, to[i]);
        if (to[i] == &seed) f->options.seed = (uint64_t)seed;
        return status;
    }
    return unknown_option("fit", name);
}

static const char** text_option(Tossing* f, const char* name) {
    static const char* const names[] = {"--scene",        "--body", "--checkpoint", "--out",
                                        "--fitted-scene", "--plot", "--report"};
    const char** to[] = {&f->scene.path, &f->body,  &f->options.checkpoint, &f->out, &f->fitted_scene,
                         &f->plot,       &f->report};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) return to[i];
    }
    return NULL;
}

static int take_value(Tossing* f, const char* name, char* value) {
    const char** text = text_option(f, name);
    if (text != NULL) {
        *text = value;
        return -1;
    }
    if (strcmp(name, "--column") == 0) return fitting_columns("fit", &f->columns, value);
    if (strcmp(name, "--where") == 0) return fitting_where("fit", &f->columns, value);
    if (strcmp(name, "--params") == 0) return fitting_each(value, take_param, f);
    if (strcmp(name, "--law") == 0) return fitting_each(value, take_law, f);
    if (strcmp(name, "--rule") == 0) return fitting_each(value, take_rule, f);
    if (strcmp(name, "--method") == 0) return fitting_each(value, take_method, f);
    if (strcmp(name, "--set") == 0) return take_set(f, NULL, value);
    if (strcmp(name, "--dt") == 0) return take_set(f, "step.dt", value);
    if (strcmp(name, "--length") == 0) return take_length(f, value);
    if (strcmp(name, "--device") == 0) return device_option("fit", value, &f->options.device);
    if (strcmp(name, "--search") == 0) {
        f->options.gauss = strcmp(value, "gauss") == 0;
        if (f->options.gauss || strcmp(value, "simplex") == 0) return -1;
        return usage_error("fit", "--search is '%s', must be simplex or gauss", value);
    }
    return take_number(f, name, value);
}

static int combine(Tossing* f) {
    f->law_count = cr_motion_laws(f->methods, f->rules, f->rule_count, f->law_names, f->law_name_count,
                                  f->laws, TOSSING_LAWS);
    if (f->law_count <= TOSSING_LAWS) return -1;
    f->law_count = 0;
    return usage_error("fit", "more than %d laws, rules and methods", TOSSING_LAWS);
}

static int check_options(Tossing* f) {
    if (f->path == NULL) return usage_error("fit", "which file of measurements?");
    if (f->scene.path == NULL) return usage_error("fit", "in which scene? --scene SCENE");
    crPictureFormat format;
    if (f->plot != NULL && cr_picture_format(f->plot, &format, NULL) != CR_OK)
        return usage_error("fit", "--plot: '%s' must end in .svg, .png or .pdf", f->plot);
    int status = report_check("fit", f->report);
    return status >= 0 ? status : combine(f);
}

// -1 to go on, else the exit status
static int read_options(Tossing* f, int count, char** arguments) {
    for (int i = 0; i < count; i++) {
        char* argument = arguments[i];
        int status = -1;
        if (asks_help(argument)) {
            fit_motion_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--json") == 0) {
            f->json = true;
        } else if (strcmp(argument, "--skip") == 0) {
            f->columns.skip = true;
        } else if (argument[0] == '-' && argument[1] != '\0') {
            if (i + 1 == count) return usage_error("fit", "%s is no option, or needs a value", argument);
            status = take_value(f, argument, arguments[++i]);
        } else if (f->path != NULL) {
            return usage_error("fit", "only one file at a time, '%s' is a second one", argument);
        } else {
            f->path = argument;
        }
        if (status >= 0) return status;
    }
    return check_options(f);
}

// The law that is being fitted, for progress over all of them.
typedef struct Watch {
    Progress progress;
    const Tossing* f;
    int law;
    int before;  // simulated for the laws before
} Watch;

static bool watch(void* ctx, int done, int count) {
    Watch* w = ctx;
    const crMotionLaw* law = &w->f->laws[w->law];
    int left = w->f->law_count - w->law - 1;
    char what[120];
    snprintf(what, sizeof what, "%s, %d of %d, tosses simulated", law->name, w->law + 1, w->f->law_count);
    return progress_show(&w->progress, what, w->before + done, w->before + count * (left + 1));
}

// -1 to go on, else the exit status
static int fit_all(Tossing* f) {
    Watch w = {.f = f};
    progress_begin(&w.progress);
    w.progress.lines = f->ranks->count > 1;
    f->options.watch = watch;
    f->options.ctx = &w;
    f->options.ranks = f->ranks;
    int code = -1;
    for (int i = 0; i < f->law_count && code < 0; i++) {
        w.law = i;
        f->options.stage = i * CR_MOTION_STAGES;
        crError error = {0};
        crMotionFit* fit = &f->fits[f->fit_count++];
        crStatus status = cr_motion_fit(&f->models[i], &f->options, fit, &error);
        if (status == CR_OK && fit->status != CR_OK && !f->all) {
            error = fit->error;
            status = fit->status;
        }
        w.before += fit->simulated;
        if (status != CR_OK) code = stop_asked() ? stop_status() : fitting_refuse("fit", f->path, &error);
    }
    progress_end(&w.progress);
    f->ranked = cr_motion_rank(f->fits, f->fit_count, f->order);
    return code;
}

static crStatus write_files(const Tossing* f, crError* error) {
    if (f->ranks->rank != 0) return CR_OK;
    const crMotionFit* fits[TOSSING_LAWS];
    const crMotionLaw* laws[TOSSING_LAWS];
    for (int i = 0; i < f->ranked; i++) {
        fits[i] = &f->fits[f->order[i]];
        laws[i] = &f->laws[f->order[i]];
    }
    crStatus status = CR_OK;
    if (f->out != NULL) status = cr_motion_write(f->out, &f->models[0], laws, fits, f->ranked, error);
    if (status == CR_OK && f->fitted_scene != NULL && f->ranked > 0)
        status = cr_motion_write_scene(f->fitted_scene, &f->models[f->order[0]], fits[0], error);
    if (status == CR_OK && f->plot != NULL) status = tossing_plot(f, f->plot, error);
    if (status == CR_OK && f->report != NULL) status = tossing_report(f, f->report, error);
    return status;
}

static int run(Tossing* f) {
    crError error = {0};
    if (scene_open(&f->scene, &error) != CR_OK) return scene_refuse(&f->scene, &error);
    crStatus status = cr_table_read(f->path, &f->table, &error);
    if (status == CR_OK) status = cr_tosses_create(&f->table, &f->columns, &f->tosses, &error);
    if (status != CR_OK) return fitting_refuse("fit", f->path, &error);
    if (f->columns.skip) status = cr_motion_skip(f->scene.doc.root, f->body, &f->tosses, &error);
    if (status != CR_OK)
        return strcmp(error.field, "vx") == 0 ? fitting_refuse("fit", f->path, &error)
                                              : scene_refuse(&f->scene, &error);
    const crMotionDef def = {.scene = f->scene.doc.root,
                             .tosses = &f->tosses,
                             .body = f->body,
                             .length = f->length,
                             .substeps = f->substeps,
                             .params = f->params,
                             .param_count = f->param_count};
    status = cr_motion_models(&def, f->laws, f->law_count, &f->options, f->models, &error);
    // what the measurements are blamed for has a column's name
    if (status != CR_OK)
        return strcmp(error.field, "vx") == 0 ? fitting_refuse("fit", f->path, &error)
                                              : scene_refuse(&f->scene, &error);
    char* program = NULL;
    status = device_open(&f->options.device, &program, &error);
    int code = status == CR_OK ? fit_all(f) : fitting_refuse("fit", f->path, &error);
    free(program);
    f->options.device.program = NULL;
    if (code >= 0) return code;
    status = write_files(f, &error);
    if (f->json) {
        tossing_json(f);
    } else {
        tossing_print(f);
    }
    return status == CR_OK ? EXIT_GOOD : fitting_refuse("fit", f->path, &error);
}

int fit_motion(crRanks* ranks, int count, char** arguments) {
    Tossing* f = calloc(1, sizeof *f);
    if (f == NULL) {
        fputs("carom fit: out of memory\n", stderr);
        return EXIT_BAD_INPUT;
    }
    f->ranks = ranks;
    f->scene = scene_input("fit");
    f->options = cr_motion_options();
    int code = read_options(f, count, arguments);
    if (code < 0) code = run(f);
    for (int i = 0; i < f->law_count; i++) {
        cr_motion_fit_destroy(&f->fits[i]);
        cr_motion_model_destroy(&f->models[i]);
    }
    scene_close(&f->scene);
    cr_tosses_destroy(&f->tosses);
    cr_table_free(&f->table);
    free(f);
    return code;
}
