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
#include "plot_options.h"
#include "report.h"
#include "scene_input.h"
#include "stream.h"

#define MOST_BODIES 256

// one file with all that is drawn of it
typedef struct Source {
    crScene scene;
    crRecording recording;
    crMotionLog log;
    char label[128];
    crPageFact facts[SCENE_FACTS];
} Source;

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

static int read_source(const PlotOptions* o, const char* path, Source* s) {
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

static int set_labels(const PlotOptions* o, Source* sources) {
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

// index of a body by its name, -1 where there is none, which is said
static int find_body(const char* option, const char* name, const crMotionLog* log) {
    for (int i = 0; i < log->body_count; i++) {
        if (strcmp(log->bodies[i].name, name) == 0) return i;
    }
    const char* near = cr_name_nearest(name, body_at, log);
    usage_error("plot", "%s: no body is called '%s'%s%s%s", option, name,
                near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    return -1;
}

// names of --bodies as indices; exit status
static int find_bodies(const PlotOptions* o, const crMotionLog* log, int bodies[MOST_BODIES], int* count) {
    *count = 0;
    for (char* word = o->bodies != NULL ? strtok(o->bodies, ",") : NULL; word != NULL;
         word = strtok(NULL, ",")) {
        int at = find_body("--bodies", word, log);
        if (at < 0) return EXIT_USAGE;
        if (*count == MOST_BODIES) return usage_error("plot", "--bodies: at most %d", MOST_BODIES);
        bodies[(*count)++] = at;
    }
    return EXIT_GOOD;
}

static crStatus draw_charts(const PlotOptions* o, const Source* sources, const char* out, const int* bodies,
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
static crStatus draw_views(const PlotOptions* o, const Source* sources, const char* out, const int* bodies,
                           int body_count, crError* error) {
    static const crViewKind kinds[] = {CR_VIEW_STROBE, CR_VIEW_PLAN, CR_VIEW_ELEVATION, CR_VIEW_IMPULSES};
    crViewChoice choice = {.kind = kinds[o->what - PLOT_STROBE],
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
    if (status == CR_OK) status = cr_sheet_save(&sheet, out, plot_kind(o->what), error);
    cr_sheet_destroy(&sheet);
    return status;
}

static crStatus draw_motion(const PlotOptions* o, const Source* sources, const char* out, const int* bodies,
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
                             .speed = o->speed > 0.0 ? o->speed : 1.0,
                             .camera = o->view,
                             .dark = o->dark};
    return cr_animation_save(&animation, out, error);
}

static crStatus write_page(const PlotOptions* o, Source* sources, crError* error) {
    crPageRun runs[CR_PAGE_RUNS];
    for (int i = 0; i < o->file_count; i++) {
        int facts = sources[i].scene.model != NULL ? scene_facts(&sources[i].scene, sources[i].facts) : 0;
        runs[i] = (crPageRun){sources[i].label, &sources[i].log, facts, sources[i].facts};
    }
    const char* note = sources[0].scene.comment;
    return cr_page_write(o->out, o->file_count == 1 ? sources[0].label : "Runs side by side",
                         note != NULL ? note : "", runs, o->file_count, error);
}

static int draw(const PlotOptions* o, Source* sources) {
    int bodies[MOST_BODIES];
    int body_count = 0;
    int status = find_bodies(o, &sources[0].log, bodies, &body_count);
    if (status != EXIT_GOOD) return status;
    for (int i = 0; i < o->file_count && o->view.follow != NULL; i++) {
        if (find_body("--follow", o->view.follow, &sources[i].log) < 0) return EXIT_USAGE;
    }
    char own[256];
    snprintf(own, sizeof own, "%.240s.svg", sources[0].label);
    const char* out = o->out != NULL ? o->out : own;
    crError error = {0};
    crStatus done = plot_is_page(out)        ? write_page(o, sources, &error)
                    : o->what == PLOT_MOTION ? draw_motion(o, sources, out, bodies, body_count, &error)
                    : o->what >= PLOT_STROBE ? draw_views(o, sources, out, bodies, body_count, &error)
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
    PlotOptions o = {.what = -1, .from = -INFINITY, .to = INFINITY, .view = {.zoom = 1.0}};
    int status = plot_read_options(&o, count, arguments);
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
