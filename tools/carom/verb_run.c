// verb_run.c - carom run: a scene through time, with its certificate.
//
// Options that change the scene are values set in its tree before it is read, so they are checked as the
// scene is.
#include <string.h>

#include "command.h"
#include "io/json_set.h"
#include "model.h"
#include "plot/gnuplot.h"
#include "run.h"
#include "stream.h"

enum { EXIT_INTERRUPTED = 130 };

static void print_help(void) {
    puts(
        "usage: carom run SCENE [options]\n"
        "\n"
        "Runs a scene (docs/scenes.md, carom schema) and says how well: steps, contacts, the worst and mean\n"
        "certificate, the energy balance. SCENE may be - for standard input, or a model (MJCF, URDF, SDF). "
        "Ctrl-C keeps what was "
        "computed.\n"
        "\n"
        "  --out FILE        trajectory: .csv, or .h5 with energy, certificates and events\n"
        "  --plot FILE       energy and positions over time: .svg, .png or .pdf\n"
        "  --json            the summary as one JSON object, with the last state of every body\n"
        "  --strict          overlaps at the start, and what is not supported of a model, are errors\n"
        "\n"
        "in place of what the scene says:\n"
        "  --dt S            length of a step          --duration S   simulated time\n"
        "  --method NAME     cone, lcp, moreau, event  --rule NAME    of impacts at many contacts\n"
        "  --law NAME        of one contact            --solver NAME  of contact problems\n"
        "  --tol X           residual that counts as solved\n"
        "  --set PATH=VALUE  any value: step.directions=16, bodies.rod.angle=0.3, bodies[0].pos[2]=1\n"
        "\n"
        "Exit status: 0 good, 1 bad scene, 2 wrong usage, 3 a file cannot be opened or written, 4 a step "
        "failed\n"
        "or was not solved to the tolerance, 130 interrupted.\n"
        "\n"
        "examples:\n"
        "  carom run scenes/bouncing-ball.json --plot ball.svg\n"
        "  carom run scenes/pool-break.json --rule newton --out break.csv\n"
        "  carom run scenes/falling-rod.json --dt 0.001 --json");
}

typedef struct Options {
    const char* path;
    const char* out;
    const char* plot;
    bool json;
    bool strict;
    int set_count;
    const char* paths[MOST_SETS];
    const char* values[MOST_SETS];
} Options;

static int add_set(Options* options, const char* path, const char* value) {
    if (options->set_count == MOST_SETS) return usage_error("run", "at most %d values can be set", MOST_SETS);
    options->paths[options->set_count] = path;
    options->values[options->set_count++] = value;
    return EXIT_GOOD;
}

// PATH=VALUE, cut in two
static int take_set(Options* options, char* argument) {
    char* equals = strchr(argument, '=');
    if (equals == NULL) return usage_error("run", "--set needs PATH=VALUE, is '%s'", argument);
    *equals = '\0';
    return add_set(options, argument, equals + 1);
}

// -1: no such option; else the exit status so far
static int take_valued(Options* options, const char* name, char* value) {
    static const char* const names[][2] = {{"--dt", "step.dt"},
                                           {"--duration", "step.duration"},
                                           {"--method", "step.method"},
                                           {"--rule", "impact.rule"},
                                           {"--law", "impact.law"},
                                           {"--solver", "solver.name"},
                                           {"--tol", "solver.tol"},
                                           {"--set", NULL},
                                           {"--out", NULL},
                                           {"--plot", NULL}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i][0]) != 0) continue;
        if (value == NULL) return usage_error("run", "%s needs a value", name);
        if (names[i][1] != NULL) return add_set(options, names[i][1], value);
        if (strcmp(name, "--set") == 0) return take_set(options, value);
        *(strcmp(name, "--out") == 0 ? &options->out : &options->plot) = value;
        return EXIT_GOOD;
    }
    return -1;
}

// -1 to go on, else the exit status
static int read_options(Options* options, int count, char** arguments) {
    for (int i = 0; i < count; i++) {
        char* argument = arguments[i];
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            print_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--json") == 0) {
            options->json = true;
        } else if (strcmp(argument, "--strict") == 0) {
            options->strict = true;
        } else if (argument[0] == '-' && argument[1] != '\0') {
            int status = take_valued(options, argument, i + 1 < count ? arguments[i + 1] : NULL);
            if (status < 0) return usage_error("run", "unknown option '%s'", argument);
            if (status != EXIT_GOOD) return status;
            i++;
        } else if (options->path != NULL) {
            return usage_error("run", "only one scene at a time, '%s' is a second one", argument);
        } else {
            options->path = argument;
        }
    }
    if (options->path == NULL) return usage_error("run", "which scene?");
    crPictureFormat format;
    crError error = {0};
    if (options->plot != NULL && cr_picture_format(options->plot, &format, &error) != CR_OK)
        return usage_error("run", "--plot: '%s' must end in .svg, .png or .pdf", options->plot);
    return -1;
}

static int refuse(const Options* options, const crError* error) {
    if (options->json) {
        json_error(stdout, error);
    } else {
        text_error(options->path, error);
    }
    return error->status == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
}

static crStatus read_scene(const Options* options, crScene* scene, crError* error) {
    crJsonDoc doc = {0};
    crStatus status = read_scene_tree(options->path, options->strict, &doc, error);
    if (status != CR_OK) return status;
    for (int i = 0; i < options->set_count && status == CR_OK && doc.root->type == CR_JSON_OBJECT; i++) {
        status = cr_json_set(&doc, options->paths[i], options->values[i], error);
    }
    if (status == CR_OK) status = cr_scene_read(doc.root, scene, error);
    cr_json_free(&doc);
    return status;
}

// pairs that overlap at the start, on standard error; false where that ends the run
static bool report_overlaps(const Options* options, const crScene* scene) {
    for (int i = 0; i < scene->overlap_count && i < CR_SCENE_OVERLAPS; i++) {
        char a[CR_SCENE_NAME];
        char b[CR_SCENE_NAME];
        cr_scene_shape_name(scene, scene->overlaps[i].shape_a, a);
        cr_scene_shape_name(scene, scene->overlaps[i].shape_b, b);
        print_plain(stderr, options->path);
        fprintf(stderr, ": %s: ", options->strict ? "error" : "warning");
        print_plain(stderr, a);
        fputs(" and ", stderr);
        print_plain(stderr, b);
        fprintf(stderr, " overlap at the start by %.3g m\n", scene->overlaps[i].depth);
    }
    if (scene->overlap_count > CR_SCENE_OVERLAPS)
        fprintf(stderr, "and %d more pairs\n", scene->overlap_count - CR_SCENE_OVERLAPS);
    return scene->overlap_count == 0 || !options->strict;
}

static crStatus create_world(Run* run, crError* error) {
    crWorldDef def = cr_world_def();
    def.model = run->scene.model;
    def.step = run->scene.step;
    crStatus status = cr_world_create(&def, &run->world, error);
    if (status != CR_OK) return status;
    crState* state = cr_world_state(run->world);
    memcpy(state->q, run->scene.q, (size_t)run->scene.model->nq * sizeof(double));
    memcpy(state->v, run->scene.v, (size_t)run->scene.model->nv * sizeof(double));
    return CR_OK;
}

static int file_error(const crError* error) {
    fflush(stdout);
    fputs("carom run: ", stderr);
    print_plain(stderr, error->message);
    fprintf(stderr, " (%s)\n", cr_status_name(error->status));
    return error->status == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
}

static int finish(const Options* options, Run* run, crTrajectory* trajectory, const crMotionLog* motion) {
    if (options->json) {
        json_run(stdout, run);
    } else {
        table_run(stdout, run, wants_color());
    }
    int status = run->interrupted ? EXIT_INTERRUPTED : run->tally.unsolved > 0 ? EXIT_UNSOLVED : EXIT_GOOD;
    if (run->status != CR_OK) {
        status = run->status == CR_ERR_FILE ? EXIT_FILE : EXIT_UNSOLVED;
        if (!options->json) file_error(&run->error);
    }
    crError error = {0};
    if (cr_trajectory_close(trajectory, &error) != CR_OK) status = file_error(&error);
    if (options->plot != NULL && cr_motion_plot(motion, options->plot, options->path, &error) != CR_OK)
        status = file_error(&error);
    return status;
}

static int simulate(const Options* options, Run* run) {
    crError error = {0};
    if (!report_overlaps(options, &run->scene)) return EXIT_BAD_INPUT;
    if (create_world(run, &error) != CR_OK) return refuse(options, &error);
    crTrajectory* trajectory = NULL;
    if (options->out != NULL &&
        cr_trajectory_create(options->out, run->scene.model, &trajectory, &error) != CR_OK)
        return file_error(&error);
    crMotionLog motion = {0};
    cr_motion_create(&motion, run->scene.model);
    run_through(run, trajectory, options->plot != NULL ? &motion : NULL);
    int status = finish(options, run, trajectory, &motion);
    cr_motion_destroy(&motion);
    return status;
}

int verb_run(int count, char** arguments) {
    Options options = {0};
    int status = read_options(&options, count, arguments);
    if (status >= 0) return status;
    Run run = {.path = strcmp(options.path, "-") == 0 ? "standard input" : options.path};
    crError error = {0};
    if (read_scene(&options, &run.scene, &error) != CR_OK) return refuse(&options, &error);
    status = simulate(&options, &run);
    cr_world_destroy(run.world);
    cr_scene_free(&run.scene);
    return status;
}
