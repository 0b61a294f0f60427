// verb_converge.c - carom converge: the same scene by smaller and smaller steps, as in Stewart and Trinkle's
// Table 1.
//
// Errors are those of converge.c against the finest step, or against a step or a trajectory given by
// --reference.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "converge.h"
#include "io/json_set.h"
#include "numbers.h"
#include "plot/convergence.h"
#include "plot/gnuplot.h"
#include "progress.h"
#include "scene_input.h"
#include "stream.h"

#define MOST_STEPS 32

static void print_help(void) {
    puts("usage: carom converge SCENE --dt A,B,... [options]\n"
         "\n"
         "Runs a scene by several lengths of a step and tells how far each is from the finest: the\n"
         "velocity error (integral over time of the largest difference), the position error (largest at\n"
         "any time), the variation of the velocities, and the order at which positions converge.\n"
         "SCENE is a file, - for standard input, or the name of a scene that comes with carom.\n"
         "\n"
         "  --dt A,B,...      lengths of a step, s; two or more, the finest is the reference\n"
         "  --reference X     the step of the reference, which then has no row of its own, or a trajectory\n"
         "                    of this scene, .csv or .h5\n"
         "  --plot FILE       errors over dt: .svg, .png or .pdf\n"
         "  --json            "
         "{\"rows\":[{\"dt\",\"velocity_error\",\"position_error\",\"variation\",\"order\"}]}\n"
         "  --strict          bodies that overlap at the start are an error, not a warning\n"
         "\n"
         "in place of what the scene says, as in carom run:\n"
         "  --duration S --method NAME --rule NAME --law NAME --solver NAME --tol X --quality NAME\n"
         "  --threads N --set PATH=VALUE\n"
         "\n"
         "Exit status: 0 good, 1 bad scene, 2 wrong usage, 3 a file cannot be opened or written, 4 a step\n"
         "failed or was not solved to the tolerance, 130 interrupted.\n"
         "\n"
         "examples:\n"
         "  carom converge four-balls --dt 0.02,0.01,0.005,0.0025,0.00125\n"
         "  carom converge falling-rod --dt 0.01,0.001,0.0001 --reference 0.00001 --plot order.svg");
}

typedef struct Options {
    SceneInput scene;
    const char* plot;
    int count;
    double dt[MOST_STEPS];  // descending
    double reference;       // 0: the finest of them
    const char* file;       // the reference as a trajectory, NULL for none
} Options;

static bool read_length(const char* text, double* dt, const char** end) {
    char* after = NULL;
    *dt = strtod(text, &after);
    *end = after;
    return after != text && isfinite(*dt) && *dt > 0.0;
}

static int descending(const void* a, const void* b) {
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x < y) - (x > y);
}

static int take_lengths(Options* options, const char* list) {
    const char* at = list;
    options->count = 0;
    do {
        const char* end = NULL;
        if (options->count == MOST_STEPS)
            return usage_error("converge", "--dt has more than %d steps", MOST_STEPS);
        if (!read_length(at, &options->dt[options->count], &end) || (*end != ',' && *end != '\0'))
            return usage_error("converge", "--dt is '%s', must be positive numbers with commas between",
                               list);
        options->count++;
        at = end + 1;
        if (*end == '\0') break;
    } while (true);
    qsort(options->dt, (size_t)options->count, sizeof options->dt[0], descending);
    for (int i = 1; i < options->count; i++) {
        if (options->dt[i] == options->dt[i - 1])
            return usage_error("converge", "--dt has %.6g twice", options->dt[i]);
    }
    return EXIT_GOOD;
}

static bool is_file(const char* text) {
    const char* dot = strrchr(text, '.');
    return dot != NULL && (strcmp(dot, ".csv") == 0 || strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
}

// -1: no such option; else the exit status so far
static int take_option(void* ctx, char* name, char* value) {
    Options* options = ctx;
    bool lengths = strcmp(name, "--dt") == 0;
    bool reference = strcmp(name, "--reference") == 0;
    if (!lengths && !reference && strcmp(name, "--plot") != 0) return -1;
    if (value == NULL) return usage_error("converge", "%s needs a value", name);
    if (lengths) return take_lengths(options, value);
    const char* end = "";
    if (!reference) {
        options->plot = value;
    } else if (is_file(value)) {
        options->file = value;
    } else if (!read_length(value, &options->reference, &end) || *end != '\0') {
        return usage_error("converge", "--reference is '%s', must be a positive number or a .csv or .h5 file",
                           value);
    }
    return EXIT_GOOD;
}

static int check_options(const Options* options) {
    if (options->scene.path == NULL) return usage_error("converge", "which scene?");
    if (options->count == 0) return usage_error("converge", "which steps? --dt A,B,...");
    if (options->file != NULL && options->reference > 0.0)
        return usage_error("converge", "one --reference at a time");
    if (options->count == 1 && options->reference == 0.0 && options->file == NULL)
        return usage_error("converge", "--dt needs two steps or more, or a --reference");
    crPictureFormat format;
    if (options->plot != NULL && cr_picture_format(options->plot, &format, NULL) != CR_OK)
        return usage_error("converge", "--plot: '%s' must end in .svg, .png or .pdf", options->plot);
    return -1;
}

// -1 to go on, else the exit status
static int read_options(Options* options, int count, char** arguments) {
    int status = scene_arguments(&options->scene, count, arguments, print_help, take_option, options);
    return status < 0 ? check_options(options) : status;
}

static crStatus watch(void* ctx, Run* run) { return path_add(ctx, run->world); }

// one run of the scene by steps of dt; -1 to go on, else the exit status
static int run_path(Options* options, double dt, bool first, Path* path, ConvergeRow* row) {
    crError error = {0};
    char text[32];
    char label[48];
    snprintf(text, sizeof text, "%.17g", dt);
    snprintf(label, sizeof label, "dt %.6g", dt);
    *path = (Path){0};
    Run run = {.path = scene_title(&options->scene), .label = label, .watch = watch, .watch_ctx = path};
    crStatus status = cr_json_set(&options->scene.doc, "step.dt", text, &error);
    if (status == CR_OK) status = scene_read(&options->scene, &run.scene, &error);
    if (status != CR_OK) return scene_refuse(&options->scene, &error);
    int code = -1;
    if (first && !scene_warnings(&options->scene, &run.scene)) {
        code = EXIT_BAD_INPUT;
    } else if (cr_scene_world(&run.scene, &run.world, &error) != CR_OK) {
        code = scene_refuse(&options->scene, &error);
    } else {
        run_through(&run, NULL, NULL);
        if (run.status != CR_OK) scene_refuse(&options->scene, &run.error);
        code = run.status != CR_OK ? EXIT_UNSOLVED : run.interrupted ? stop_status() : -1;
        *row = (ConvergeRow){.dt = dt,
                             .variation = path_variation(path),
                             .steps = run.tally.steps,
                             .unsolved = run.tally.failed,
                             .seconds = run.seconds};
    }
    cr_world_destroy(run.world);
    cr_scene_free(&run.scene);
    return code;
}

// the reference from its file; -1 to go on, else the exit status
static int read_reference(Options* options, Path* path) {
    crError error = {0};
    crScene scene = {0};
    crWorld* world = NULL;
    *path = (Path){0};
    crStatus status = scene_read(&options->scene, &scene, &error);
    if (status != CR_OK) return scene_refuse(&options->scene, &error);
    int code = -1;
    if (!scene_warnings(&options->scene, &scene)) {
        code = EXIT_BAD_INPUT;
    } else if (cr_scene_world(&scene, &world, &error) != CR_OK) {
        code = scene_refuse(&options->scene, &error);
    } else if (path_read(path, options->file, world, &error) != CR_OK) {
        code = file_refuse(&options->scene, &error);
    }
    cr_world_destroy(world);
    cr_scene_free(&scene);
    return code;
}

static int run_all(Options* options, ConvergeRow* rows) {
    bool inside = options->reference == 0.0 && options->file == NULL;
    int last = options->count - 1;
    double finest = inside ? options->dt[last] : options->reference;
    Path reference;
    ConvergeRow row = {0};
    int code = options->file != NULL
                   ? read_reference(options, &reference)
                   : run_path(options, finest, true, &reference, inside ? &rows[last] : &row);
    if (inside) rows[last].reference = true;
    for (int i = 0; i < options->count - inside && code < 0; i++) {
        Path path;
        code = run_path(options, options->dt[i], false, &path, &rows[i]);
        if (code < 0) rows[i].error = path_error(&path, &reference);
        path_free(&path);
    }
    path_free(&reference);
    return code;
}

static void put_order(FILE* file, double order) {
    if (isnan(order)) {
        fprintf(file, "%8s", "-");
    } else {
        fprintf(file, "%8.2f", order);
    }
}

static void print_table(const Options* options, const ConvergeRow* rows, double overall) {
    print_plain(stdout, scene_title(&options->scene));
    if (options->file != NULL) {
        fputs(": against ", stdout);
        print_plain(stdout, options->file);
        putchar('\n');
    } else {
        printf(": against dt = %.6g s\n",
               options->reference > 0.0 ? options->reference : options->dt[options->count - 1]);
    }
    printf("%12s %15s %15s %13s %7s %9s %9s\n", "dt [s]", "velocity error", "position error", "variation",
           "order", "steps", "unsolved");
    for (int i = 0; i < options->count; i++) {
        const ConvergeRow* row = &rows[i];
        printf("%12.6g ", row->dt);
        if (row->reference) {
            printf("%15s %15s", "-", "-");
        } else {
            const char* format = row->error.position >= 1e-2 ? "%15.4f %15.4f" : "%15.4e %15.4e";
            printf(format, row->error.velocity, row->error.position);
        }
        printf(" %13.4f", row->variation);
        put_order(stdout, row->order);
        printf(" %9d %9d\n", row->steps, row->unsolved);
    }
    if (!isnan(overall)) printf("order overall %.2f\n", overall);
}

static void member(FILE* file, const char* name, double value) {
    fprintf(file, "\"%s\":", name);
    cr_json_write_number(file, value);
}

static void print_json(const Options* options, const ConvergeRow* rows, double overall) {
    fputs("{\"scene\":", stdout);
    cr_json_write_string(stdout, scene_title(&options->scene));
    if (options->file != NULL) {
        fputs(",\"reference\":", stdout);
        cr_json_write_string(stdout, options->file);
    } else {
        putchar(',');
        member(stdout, "reference",
               options->reference > 0.0 ? options->reference : options->dt[options->count - 1]);
    }
    fputs(",\"rows\":[", stdout);
    for (int i = 0; i < options->count; i++) {
        const ConvergeRow* row = &rows[i];
        fputs(i > 0 ? ",{" : "{", stdout);
        member(stdout, "dt", row->dt);
        putchar(',');
        member(stdout, "velocity_error", row->error.velocity);
        putchar(',');
        member(stdout, "position_error", row->error.position);
        putchar(',');
        member(stdout, "variation", row->variation);
        putchar(',');
        member(stdout, "order", row->order);
        printf(",\"steps\":%d,\"unsolved_steps\":%d,", row->steps, row->unsolved);
        member(stdout, "wall_time", row->seconds);
        printf(",\"reference\":%s}", row->reference ? "true" : "false");
    }
    fputs("],", stdout);
    member(stdout, "order", overall);
    fputs("}\n", stdout);
}

static int finish(const Options* options, ConvergeRow* rows) {
    double overall = (double)NAN;
    converge_orders(rows, options->count, &overall);
    if (options->scene.json) {
        print_json(options, rows, overall);
    } else {
        print_table(options, rows, overall);
    }
    int status = EXIT_GOOD;
    crConvergence picture = {.title = scene_title(&options->scene)};
    for (int i = 0; i < options->count; i++) {
        if (rows[i].unsolved > 0) status = EXIT_UNSOLVED;
        if (rows[i].reference || picture.count == CR_CONVERGENCE_MOST) continue;
        picture.dt[picture.count] = rows[i].dt;
        picture.velocity[picture.count] = rows[i].error.velocity;
        picture.position[picture.count++] = rows[i].error.position;
    }
    crError error = {0};
    if (options->plot != NULL && cr_convergence_plot(&picture, options->plot, &error) != CR_OK)
        status = file_refuse(&options->scene, &error);
    return status;
}

int verb_converge(int count, char** arguments) {
    Options options = {.scene = scene_input("converge")};
    int status = read_options(&options, count, arguments);
    if (status >= 0) return status;
    crError error = {0};
    if (scene_open(&options.scene, &error) != CR_OK) return scene_refuse(&options.scene, &error);
    ConvergeRow rows[MOST_STEPS] = {0};
    status = run_all(&options, rows);
    if (status < 0) status = finish(&options, rows);
    scene_close(&options.scene);
    return status;
}
