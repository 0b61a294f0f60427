// verb_plot.c - carom plot: pictures and reports of trajectories.
//
// Files are read with the scene they carry, or the one of --scene, and drawn over each other (charts) or side
// by side (views, reports).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "io/names.h"
#include "io/recording.h"
#include "options.h"
#include "plot/animation.h"
#include "plot/charts.h"
#include "plot/gnuplot.h"
#include "plot/view.h"
#include "report.h"
#include "scene_input.h"
#include "stream.h"

#define MOST_TIMES  256
#define MOST_BODIES 256

static void print_help(void) {
    puts("usage: carom plot FILE... [options]\n"
         "\n"
         "Draws trajectories that carom run --out wrote (.h5, .csv). Several files are laid over each other, "
         "or\n"
         "stand side by side where bodies are drawn. Without --what: energy and positions.\n"
         "\n"
         "  --what KIND     over time: energy, positions, velocities, forces, certificate, events,\n"
         "                  sensors (controls and sensors)\n"
         "                  bodies with their shapes: strobe, plan, elevation, impulses, motion\n"
         "  --out FILE      .svg, .png or .pdf; .html for a report with an animation; default FILE.svg;\n"
         "                  motion: .svg that plays by itself, .gif, or .mp4 and .webm where ffmpeg is "
         "installed\n"
         "  --bodies A,B    only these\n"
         "  --from S        from this time on          --to S   up to this time\n"
         "  --times S,S     strobe, plan, elevation: when; default eight from first to last\n"
         "  --at S          impulses: those nearest to this time\n"
         "  --speed X       motion: of playing, default 1; 0.1 is ten times slower\n"
         "  --scene SCENE   shapes and masses for files that do not carry their scene (.csv)\n"
         "  --labels A,B    names of the files in the legend\n"
         "\n"
         "Exit status: 0 good, 1 bad file or nothing to draw, 2 wrong usage, 3 a file cannot be read or "
         "written.\n"
         "\n"
         "examples:\n"
         "  carom run scenes/pool-break.json --out break.h5 && carom plot break.h5 --what strobe --out "
         "break.svg\n"
         "  carom plot coarse.h5 fine.h5 --what energy --out energy.png\n"
         "  carom plot break.h5 --what impulses --at 0.09 --out impulses.svg\n"
         "  carom plot break.h5 --what motion --speed 0.2 --out break.gif\n"
         "  carom plot newton.h5 poisson.h5 --out rules.html");
}

typedef enum What {
    ENERGY,
    POSITIONS,
    VELOCITIES,
    FORCES,
    CERTIFICATE,
    EVENTS,
    SENSORS,
    STROBE,
    PLAN,
    ELEVATION,
    IMPULSES,
    MOTION,
    KINDS
} What;
static const char* const what_names[] = {"energy",      "positions", "velocities", "forces",
                                         "certificate", "events",    "sensors",    "strobe",
                                         "plan",        "elevation", "impulses",   "motion"};

typedef struct Options {
    int file_count;
    const char* files[CR_PAGE_RUNS];
    int what;  // -1: energy and positions
    const char* out;
    const char* scene;
    char* bodies;
    char* labels;
    double from, to, at;
    bool has_at;
    double speed;  // 0: not said
    int time_count;
    double times[MOST_TIMES];
} Options;

// one file with all that is drawn of it
typedef struct Source {
    crScene scene;
    crRecording recording;
    crMotionLog log;
    char label[128];
    crPageFact facts[SCENE_FACTS];
} Source;

static const char* what_at(const void* ctx, int index) {
    (void)ctx;
    return index < KINDS ? what_names[index] : NULL;
}

const char* plot_kind(int index) { return what_at(NULL, index); }

static int take_what(Options* o, const char* value) {
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(value, what_names[i]) == 0) {
            o->what = i;
            return EXIT_GOOD;
        }
    }
    const char* near = cr_name_nearest(value, what_at, NULL);
    return usage_error("plot", "--what: nothing is called '%s'%s%s%s", value,
                       near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
}

static int take_number(const char* name, const char* text, double* number) {
    char* end = NULL;
    *number = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*number)) return EXIT_GOOD;
    return usage_error("plot", "%s needs a number of seconds, is '%s'", name, text);
}

static int take_speed(Options* o, const char* text) {
    char* end = NULL;
    o->speed = strtod(text, &end);
    if (end != text && *end == '\0' && o->speed >= 1e-6 && o->speed <= 1e6) return EXIT_GOOD;
    return usage_error("plot", "--speed is '%s', must be 1e-6 to 1e6", text);
}

static int take_times(Options* o, char* text) {
    for (char* word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
        if (o->time_count == MOST_TIMES) return usage_error("plot", "--times: at most %d", MOST_TIMES);
        int status = take_number("--times", word, &o->times[o->time_count++]);
        if (status != EXIT_GOOD) return status;
    }
    return o->time_count > 0 ? EXIT_GOOD : usage_error("plot", "--times needs times: 0,0.1,0.2");
}

// -1: no such option
static int take_option(Options* o, const char* name, char* value) {
    static const char* const names[] = {"--what", "--out", "--scene", "--bodies", "--labels",
                                        "--from", "--to",  "--at",    "--times",  "--speed"};
    bool known = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        known = known || strcmp(name, names[i]) == 0;
    }
    if (!known) return -1;
    if (value == NULL) return usage_error("plot", "%s needs a value", name);
    if (strcmp(name, "--what") == 0) return take_what(o, value);
    if (strcmp(name, "--times") == 0) return take_times(o, value);
    if (strcmp(name, "--from") == 0) return take_number(name, value, &o->from);
    if (strcmp(name, "--to") == 0) return take_number(name, value, &o->to);
    if (strcmp(name, "--speed") == 0) return take_speed(o, value);
    o->has_at = o->has_at || strcmp(name, "--at") == 0;
    if (strcmp(name, "--at") == 0) return take_number(name, value, &o->at);
    if (strcmp(name, "--out") == 0) o->out = value;
    if (strcmp(name, "--scene") == 0) o->scene = value;
    if (strcmp(name, "--bodies") == 0) o->bodies = value;
    if (strcmp(name, "--labels") == 0) o->labels = value;
    return EXIT_GOOD;
}

static bool is_page(const char* path) { return ends_in(path, ".html") || ends_in(path, ".htm"); }

static int check_options(const Options* o) {
    if (o->file_count == 0) return usage_error("plot", "which trajectory?");
    crPictureFormat format;
    bool motion = o->what == MOTION;
    if (o->out != NULL && motion && !cr_animation_is_format(o->out))
        return usage_error("plot", "--out: '%s' must end in .svg, .gif, .mp4 or .webm with --what motion",
                           o->out);
    if (o->out != NULL && !motion && cr_animation_is_format(o->out) && !ends_in(o->out, ".svg"))
        return usage_error("plot", "--out: '%s' is a moving picture; it goes with --what motion", o->out);
    if (o->out != NULL && !motion && !is_page(o->out) && cr_picture_format(o->out, &format, NULL) != CR_OK)
        return usage_error("plot", "--out: '%s' must end in .svg, .png, .pdf or .html", o->out);
    if (o->speed > 0.0 && !motion) return usage_error("plot", "--speed goes with --what motion");
    if (o->out != NULL && is_page(o->out) && (o->what >= 0 || o->bodies != NULL || o->time_count > 0))
        return usage_error("plot", "a report shows everything: no --what, --bodies, --times with .html");
    if (o->what == IMPULSES && !o->has_at) return usage_error("plot", "--what impulses needs --at S");
    if (o->has_at && o->what != IMPULSES) return usage_error("plot", "--at goes with --what impulses");
    if (o->time_count > 0 && (o->what < STROBE || o->what >= IMPULSES))
        return usage_error("plot", "--times goes with --what strobe, plan or elevation");
    if (!(o->from <= o->to)) return usage_error("plot", "--from %g is after --to %g", o->from, o->to);
    return -1;
}

static int read_options(Options* o, int count, char** arguments) {
    for (int i = 0; i < count; i++) {
        char* argument = arguments[i];
        if (asks_help(argument)) {
            print_help();
            return EXIT_GOOD;
        }
        if (argument[0] == '-' && argument[1] != '\0') {
            int status = take_option(o, argument, i + 1 < count ? arguments[i + 1] : NULL);
            if (status < 0) return unknown_option("plot", argument);
            if (status != EXIT_GOOD) return status;
            i++;
        } else if (o->file_count == CR_PAGE_RUNS) {
            return usage_error("plot", "at most %d files", CR_PAGE_RUNS);
        } else {
            o->files[o->file_count++] = argument;
        }
    }
    return check_options(o);
}

static int refuse(const char* path, const crError* error) {
    text_error(path, error);
    return error->status == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
}

// the scene that a trajectory carries
static crStatus parse_scene(const char* text, crScene* scene, crError* error) {
    crJsonDoc doc = {0};
    crStatus status = cr_json_parse(text, strlen(text), 1, &doc, error);
    if (status == CR_OK) status = cr_scene_read(doc.root, scene, error);
    cr_json_free(&doc);
    return status;
}

// the scene of --scene: a file, a model, or the name of one that comes with carom
static crStatus read_scene_of(const char* path, crScene* scene, crError* error) {
    SceneInput input = scene_input("plot");
    input.path = path;
    crStatus status = scene_open(&input, error);
    if (status != CR_OK) return status;
    status = scene_read(&input, scene, error);
    scene_close(&input);
    return status;
}

// what stands for the file in a legend: its name without folder and extension
static void make_label(const char* path, char label[128]) {
    const char* base = strrchr(path, '/');
    snprintf(label, 128, "%s", base != NULL ? base + 1 : path);
    char* dot = strrchr(label, '.');
    if (dot != NULL && dot != label) *dot = '\0';
}

static int read_source(const Options* o, const char* path, Source* s) {
    crError error = {0};
    make_label(path, s->label);
    if (cr_recording_read(path, &s->recording, &error) != CR_OK) return refuse(path, &error);
    if (o->scene != NULL && read_scene_of(o->scene, &s->scene, &error) != CR_OK)
        return refuse(o->scene, &error);
    if (o->scene == NULL && s->recording.scene != NULL &&
        parse_scene(s->recording.scene, &s->scene, &error) != CR_OK) {
        char inside[256];
        snprintf(inside, sizeof inside, "%.240s, its scene", path);
        return refuse(inside, &error);
    }
    if (cr_motion_load(&s->log, &s->recording, s->scene.model, o->from, o->to, &error) != CR_OK)
        return refuse(path, &error);
    cr_recording_free(&s->recording);
    return EXIT_GOOD;
}

static int set_labels(const Options* o, Source* sources) {
    int i = 0;
    for (char* word = o->labels != NULL ? strtok(o->labels, ",") : NULL; word != NULL;
         word = strtok(NULL, ",")) {
        if (i == o->file_count) return usage_error("plot", "--labels: more labels than files");
        snprintf(sources[i++].label, sizeof sources[0].label, "%s", word);
    }
    if (o->labels != NULL && i < o->file_count)
        return usage_error("plot", "--labels: %d for %d files", i, o->file_count);
    return EXIT_GOOD;
}

static const char* body_at(const void* ctx, int index) {
    const crMotionLog* log = ctx;
    return index < log->body_count ? log->bodies[index].name : NULL;
}

// names of --bodies as indices; exit status
static int find_bodies(const Options* o, const crMotionLog* log, int bodies[MOST_BODIES], int* count) {
    *count = 0;
    for (char* word = o->bodies != NULL ? strtok(o->bodies, ",") : NULL; word != NULL;
         word = strtok(NULL, ",")) {
        int at = 0;
        while (at < log->body_count && strcmp(log->bodies[at].name, word) != 0) {
            at++;
        }
        if (at == log->body_count) {
            const char* near = cr_name_nearest(word, body_at, log);
            usage_error("plot", "--bodies: no body is called '%s'%s%s%s", word,
                        near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                        near != NULL ? "'?" : "");
            return EXIT_USAGE;
        }
        if (*count == MOST_BODIES) return usage_error("plot", "--bodies: at most %d", MOST_BODIES);
        bodies[(*count)++] = at;
    }
    return EXIT_GOOD;
}

static crStatus draw_charts(const Options* o, const Source* sources, const char* out, const int* bodies,
                            int body_count, crError* error) {
    static const crCharted kinds[] = {CR_CHART_ENERGY, CR_CHART_POSITIONS,   CR_CHART_VELOCITIES,
                                      CR_CHART_FORCES, CR_CHART_CERTIFICATE, CR_CHART_EVENTS,
                                      CR_CHART_SENSORS};
    crPlotRun runs[CR_PAGE_RUNS];
    bool energy = true;
    for (int i = 0; i < o->file_count; i++) {
        runs[i] = (crPlotRun){sources[i].label, &sources[i].log};
        energy = energy && sources[i].log.has_energy;
    }
    crCharts charts = {0};
    crStatus status = CR_OK;
    if (o->what >= 0) {
        status = cr_charts_add(&charts, kinds[o->what], runs, o->file_count, bodies, body_count, error);
    } else {
        if (energy)
            status = cr_charts_add(&charts, CR_CHART_ENERGY, runs, o->file_count, bodies, body_count, error);
        if (status == CR_OK)
            status =
                cr_charts_add(&charts, CR_CHART_POSITIONS, runs, o->file_count, bodies, body_count, error);
    }
    if (status == CR_OK && charts.count == 0)
        status = cr_error_set(error, CR_ERR_MISSING, "bodies", "bodies: none of them has such a coordinate");
    const char* title = o->file_count == 1 ? sources[0].label : "";
    if (status == CR_OK) status = cr_charts_save(&charts, out, title, error);
    cr_charts_destroy(&charts);
    return status;
}

// one panel per file, three in a row at most
static crStatus draw_views(const Options* o, const Source* sources, const char* out, const int* bodies,
                           int body_count, crError* error) {
    static const crViewKind kinds[] = {CR_VIEW_STROBE, CR_VIEW_PLAN, CR_VIEW_ELEVATION, CR_VIEW_IMPULSES};
    crViewChoice choice = {.kind = kinds[o->what - STROBE],
                           .body_count = body_count,
                           .bodies = bodies,
                           .time_count = o->time_count,
                           .times = o->times,
                           .at = o->at};
    const crMotionLog* logs[CR_PAGE_RUNS];
    for (int i = 0; i < o->file_count; i++) {
        logs[i] = &sources[i].log;
    }
    crStatus status = cr_view_frame(logs, o->file_count, &choice, error);
    if (status != CR_OK) return status;
    int columns = o->file_count > 4 ? 3 : o->file_count > 1 ? 2 : 1;
    int rows = (o->file_count + columns - 1) / columns;
    double width = columns == 1 ? 900.0 : 1200.0 / columns;
    double height = cr_view_height(&choice, width);
    crSheet sheet;
    cr_sheet_create(&sheet, width * columns, height * rows);
    for (int i = 0; i < o->file_count && status == CR_OK; i++) {
        double x = width * (i % columns);
        double y = height * (i / columns);
        status = cr_view_draw(&sheet, x, y, x + width, y + height, &sources[i].log, sources[i].label, &choice,
                              error);
    }
    if (status == CR_OK) status = cr_sheet_save(&sheet, out, what_names[o->what], error);
    cr_sheet_destroy(&sheet);
    return status;
}

static crStatus draw_motion(const Options* o, const Source* sources, const char* out, const int* bodies,
                            int body_count, crError* error) {
    const crMotionLog* logs[CR_PAGE_RUNS];
    const char* labels[CR_PAGE_RUNS];
    for (int i = 0; i < o->file_count; i++) {
        logs[i] = &sources[i].log;
        labels[i] = sources[i].label;
    }
    crAnimation animation = {.count = o->file_count,
                             .logs = logs,
                             .labels = labels,
                             .choice = {.body_count = body_count, .bodies = bodies},
                             .speed = o->speed > 0.0 ? o->speed : 1.0};
    return cr_animation_save(&animation, out, error);
}

static crStatus write_page(const Options* o, Source* sources, crError* error) {
    crPageRun runs[CR_PAGE_RUNS];
    for (int i = 0; i < o->file_count; i++) {
        int facts = sources[i].scene.model != NULL ? scene_facts(&sources[i].scene, sources[i].facts) : 0;
        runs[i] = (crPageRun){sources[i].label, &sources[i].log, facts, sources[i].facts};
    }
    const char* note = sources[0].scene.comment;
    return cr_page_write(o->out, o->file_count == 1 ? sources[0].label : "Runs side by side",
                         note != NULL ? note : "", runs, o->file_count, error);
}

static int draw(const Options* o, Source* sources) {
    int bodies[MOST_BODIES];
    int body_count = 0;
    int status = find_bodies(o, &sources[0].log, bodies, &body_count);
    if (status != EXIT_GOOD) return status;
    char own[256];
    snprintf(own, sizeof own, "%.240s.svg", sources[0].label);
    const char* out = o->out != NULL ? o->out : own;
    crError error = {0};
    crStatus done = is_page(out)        ? write_page(o, sources, &error)
                    : o->what == MOTION ? draw_motion(o, sources, out, bodies, body_count, &error)
                    : o->what >= STROBE ? draw_views(o, sources, out, bodies, body_count, &error)
                                        : draw_charts(o, sources, out, bodies, body_count, &error);
    if (done != CR_OK) return refuse(o->files[0], &error);
    if (o->out == NULL) {
        fputs("wrote ", stdout);
        print_plain(stdout, out);
        putchar('\n');
    }
    return EXIT_GOOD;
}

int verb_plot(int count, char** arguments) {
    Options o = {.what = -1, .from = -INFINITY, .to = INFINITY};
    int status = read_options(&o, count, arguments);
    if (status >= 0) return status;
    Source* sources = calloc((size_t)o.file_count, sizeof *sources);
    if (sources == NULL) return usage_error("plot", "out of memory");
    status = EXIT_GOOD;
    for (int i = 0; i < o.file_count && status == EXIT_GOOD; i++) {
        status = read_source(&o, o.files[i], &sources[i]);
    }
    if (status == EXIT_GOOD) status = set_labels(&o, sources);
    if (status == EXIT_GOOD) status = draw(&o, sources);
    for (int i = 0; i < o.file_count; i++) {
        cr_motion_destroy(&sources[i].log);
        cr_recording_free(&sources[i].recording);
        if (sources[i].scene.model != NULL) cr_scene_free(&sources[i].scene);
    }
    free(sources);
    return status;
}
