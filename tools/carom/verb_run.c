// verb_run.c - carom run: a scene through time, with its certificate.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/stages.h"
#include "command.h"
#include "numbers.h"
#include "plot/gnuplot.h"
#include "progress.h"
#include "report.h"
#include "run.h"
#include "scene_input.h"
#include "time_error.h"

static void print_help(void) {
    puts(
        "usage: carom run SCENE [options]\n"
        "\n"
        "Runs a scene (docs/scenes.md, carom schema) and says how well: steps, contacts, certificate,\n"
        "energy balance. SCENE is a file, a model (MJCF, URDF, SDF), - for standard\n"
        "input, or the name of a scene that comes with carom (carom examples). Ctrl-C keeps what was\n"
        "computed.\n"
        "\n"
        "  --out FILE        trajectory: .csv, or .h5 with energy, certificates, events and snapshots\n"
        "  --resume FILE     go on where a trajectory ends, to the scene's duration, and append to it\n"
        "  --plot FILE       energy and positions over time: .svg, .png or .pdf\n"
        "  --report FILE     a page to look at: animation, summary, charts, events: .html\n"
        "  --dump FILE       problems that steps pose, for carom solve and carom resolve: .json; one file\n"
        "                    each: FILE.json, FILE-2.json ...\n"
        "  --dump-at T,...   of the steps that contain these times, s\n"
        "  --dump-every N    of every N-th step, from the first\n"
        "  --json            the summary as one JSON object, with the last state of every body\n"
        "  --time-error T,...\n"
        "                    the error that the length of the step leaves at these times, per body: the\n"
        "                    scene is run twice more, by steps of a half and a quarter\n"
        "  --strict          overlaps at the start, and what is not supported of a model, are errors\n"
        "  --require certificate\n"
        "                    status 5 unless every step is solved or near, and nothing is created, crossed,\n"
        "                    impermissible or left overlapping beyond the tolerance\n"
        "  --threads N       that share the work; results do not depend on it\n"
        "\n"
        "in place of what the scene says:\n"
        "  --dt S            length of a step          --duration S   simulated time\n"
        "  --method NAME     cone, lcp, moreau, event  --rule NAME    of impacts at many contacts\n"
        "  --law NAME        of one contact            --solver NAME  of contact problems\n"
        "  --tol X           residual that counts as solved\n"
        "  --error X         error of time in positions, m: steps are divided until it is met\n"
        "  --quality NAME    fast, accurate, certified: how far contact solves go\n"
        "  --set PATH=VALUE  any value: step.directions=16, bodies.rod.angle=0.3, bodies[0].pos[2]=1\n"
        "of a model: --key NAME, --package DIR, --fixed-base, --with FILE (carom import --help)\n"
        "\n"
        "Exit status: 0 good, 1 bad scene or file of another scene, 2 wrong usage, 3 a file cannot be\n"
        "opened or written, 4 a step failed or was not solved to the tolerance,\n"
        "5 --require does not hold, 130 interrupted.\n"
        "\n"
        "examples:\n"
        "  carom run bouncing-ball --plot ball.svg\n"
        "  carom run dominoes --report dominoes.html\n"
        "  carom run scenes/pool-break.json --rule newton --out break.csv\n"
        "  carom run falling-rod --dt 0.001 --json\n"
        "  carom run pool-break --duration 3 --resume break.h5");
}

typedef struct Options {
    SceneInput scene;
    const char* out;
    const char* resume;
    const char* plot;
    const char* report;
    bool require;  // --require certificate
    DumpPlan dump;
    TimeErrors errors;  // --time-error
} Options;

// "0.5,1.25"
static int read_times(DumpPlan* plan, const char* text) {
    const char* at = text;
    for (plan->count = 0; plan->count < MOST_DUMPS;) {
        char* end = NULL;
        double time = strtod(at, &end);
        if (end == at || !(time >= 0.0 && time < INFINITY)) break;
        plan->at[plan->count++] = time;
        if (*end == '\0') return EXIT_GOOD;
        if (*end != ',') break;
        at = end + 1;
    }
    return usage_error("run", "--dump-at needs up to %d times >= 0, separated by commas, is '%s'", MOST_DUMPS,
                       text);
}

static int read_every(DumpPlan* plan, const char* text) {
    char* end = NULL;
    long every = strtol(text, &end, 10);
    if (end == text || *end != '\0' || every < 1 || every > INT_MAX)
        return usage_error("run", "--dump-every must be a whole number of steps >= 1, is '%s'", text);
    plan->every = (int)every;
    return EXIT_GOOD;
}

// -1: no such option; else the exit status so far
static int take_file(void* ctx, char* name, char* value) {
    Options* options = ctx;
    const char** file = strcmp(name, "--out") == 0      ? &options->out
                        : strcmp(name, "--resume") == 0 ? &options->resume
                        : strcmp(name, "--plot") == 0   ? &options->plot
                        : strcmp(name, "--report") == 0 ? &options->report
                        : strcmp(name, "--dump") == 0   ? &options->dump.path
                                                        : NULL;
    if (strcmp(name, "--require") == 0) {
        if (value == NULL || strcmp(value, "certificate") != 0)
            return usage_error("run", "--require takes 'certificate'");
        options->require = true;
        return EXIT_GOOD;
    }
    if (file == NULL) return -1;
    if (value == NULL) return usage_error("run", "%s needs a value", name);
    *file = value;
    return EXIT_GOOD;
}

// -1: no such option; else the exit status so far
static int take_option(void* ctx, char* name, char* value) {
    Options* options = ctx;
    bool times = strcmp(name, "--dump-at") == 0;
    bool errors = strcmp(name, "--time-error") == 0;
    if (!times && !errors && strcmp(name, "--dump-every") != 0) return take_file(ctx, name, value);
    if (value == NULL) return usage_error("run", "%s needs a value", name);
    if (errors) return time_errors_read(&options->errors, value);
    return times ? read_times(&options->dump, value) : read_every(&options->dump, value);
}

static int check_dump(const DumpPlan* plan) {
    bool when = plan->count > 0 || plan->every > 0;
    if (plan->path == NULL && when) return usage_error("run", "--dump-at and --dump-every need --dump FILE");
    if (plan->path != NULL && !when) return usage_error("run", "--dump needs --dump-at T or --dump-every N");
    size_t length = plan->path != NULL ? strlen(plan->path) : 0;
    if (plan->path != NULL && (length < 5 || length > 900 || strcmp(plan->path + length - 5, ".json") != 0))
        return usage_error("run", "--dump: '%s' must end in .json", plan->path);
    return -1;
}

static int check_options(const Options* options) {
    if (options->scene.path == NULL) return usage_error("run", "which scene?");
    if (options->out != NULL && options->resume != NULL)
        return usage_error("run", "--resume appends to its own file: --out cannot go with it");
    crPictureFormat format;
    if (options->plot != NULL && cr_picture_format(options->plot, &format, NULL) != CR_OK)
        return usage_error("run", "--plot: '%s' must end in .svg, .png or .pdf", options->plot);
    int status = report_check("run", options->report);
    return status >= 0 ? status : check_dump(&options->dump);
}

// -1 to go on, else the exit status
static int read_options(Options* options, int count, char** arguments) {
    int status = scene_arguments(&options->scene, count, arguments, print_help, take_option, options);
    return status < 0 ? check_options(options) : status;
}

// overlap that the position pass may leave: the deadband of the largest body and its tolerance, m
static double allowed_overlap(crWorld* world) {
    const crStep* step = cr_world_stages(world);
    const crStepSettings* s = &step->settings;
    double largest = 0.0;
    for (int i = 1; i < step->model->nb; i++) {
        if (step->model->bodies[i].last >= 0 && cr_step_size(step, i) > largest)
            largest = cr_step_size(step, i);
    }
    return (1.0 + s->position_tol) * s->deadband * largest;
}

// the exit status of --require certificate, with what is wrong
static int require(const Options* options, const Run* run) {
    const crTally* t = &run->tally;
    const crCertificate* w = &t->worst;
    double allowed = allowed_overlap(run->world);
    crTruth holds = cr_tally_holds(t, allowed);
    if (holds == CR_TRUTH_YES) return EXIT_GOOD;
    if (options->scene.json) return EXIT_UNCERTIFIED;
    fprintf(stderr,
            "carom run: the certificate does not hold%s:", holds == CR_TRUTH_UNSURE ? " for certain" : "");
    if (t->failed > 0) fprintf(stderr, " %d %s not solved;", t->failed, noun(t->failed, "step", "steps"));
    if (t->unsure > 0) fprintf(stderr, " %d %s cannot tell;", t->unsure, noun(t->unsure, "step", "steps"));
    if (w->crossings + w->crossings_unsure > 0) {
        fprintf(stderr, " %d %s crossed, of %d cannot tell;", w->crossings,
                noun(w->crossings, "pair", "pairs"), w->crossings_unsure);
    }
    if (!(w->penetration <= allowed)) {
        fprintf(stderr, " overlap %.3g m, allowed %.3g m;", w->penetration, allowed);
    }
    if (w->impermissible + w->impacts_unsure > 0) {
        fprintf(stderr, " %d %s not permissible, of %d cannot tell;", w->impermissible,
                noun(w->impermissible, "impact", "impacts"), w->impacts_unsure);
    }
    double energy = CR_ENERGY_TOL * w->energy.size;
    if (w->energy.created > energy) fprintf(stderr, " energy created %.3g J;", w->energy.created);
    if (w->energy.gain > energy) fprintf(stderr, " energy gained without work %.3g J;", w->energy.gain);
    if (t->unknown > 0)
        fprintf(stderr, " work of forces not known in %d %s;", t->unknown, noun(t->unknown, "step", "steps"));
    if (w->truncated) fputs(" impact limit reached;", stderr);
    if (w->escaped > 0) fprintf(stderr, " %d %s escaped;", w->escaped, noun(w->escaped, "body", "bodies"));
    putc('\n', stderr);
    return EXIT_UNCERTIFIED;
}

static int finish(const Options* options, Run* run, crTrajectory* trajectory, const crMotionLog* motion) {
    crError error = {0};
    crStatus closed = cr_trajectory_close(trajectory, &error);
    TimeErrors errors = options->errors;
    crError failed = {0};
    bool measured = errors.count > 0 && run->status == CR_OK && !run->interrupted &&
                    time_errors_measure(&errors, &run->scene, &failed) == CR_OK;
    if (options->scene.json) {
        putc('{', stdout);
        json_run_members(stdout, run);
        if (measured) putc(',', stdout);
        if (measured) time_errors_json(stdout, &errors, &run->scene);
        fputs("}\n", stdout);
    } else {
        table_run(stdout, run, wants_color());
        if (measured) time_errors_print(stdout, &errors, &run->scene);
    }
    time_errors_free(&errors);
    int status = run->interrupted ? stop_status() : run->tally.failed > 0 ? EXIT_UNSOLVED : EXIT_GOOD;
    if (options->require && !run->interrupted) status = require(options, run);
    if (failed.status != CR_OK) status = scene_refuse(&options->scene, &failed);
    if (run->status != CR_OK) {
        status = run->status == CR_ERR_FILE ? EXIT_FILE : EXIT_UNSOLVED;
        if (!options->scene.json) file_refuse(&options->scene, &run->error);
    }
    // one that could not be written has been named
    if (closed != CR_OK && run->status != CR_ERR_FILE) status = file_refuse(&options->scene, &error);
    if (options->plot != NULL && cr_motion_plot(motion, options->plot, run->path, &error) != CR_OK)
        status = file_refuse(&options->scene, &error);
    if (options->report != NULL &&
        report_runs(options->report, run->path, (const Run*[]){run}, motion, &run->path, 1, &error) != CR_OK)
        status = file_refuse(&options->scene, &error);
    return status;
}

// a new file, with the scene in it
static crStatus create_trajectory(const Options* options, Run* run, uint64_t scene, crTrajectory** trajectory,
                                  crError* error) {
    crStatus status = cr_trajectory_create(options->out, run->world, scene, trajectory, error);
    char* text = status == CR_OK ? scene_text(&options->scene) : NULL;
    if (text != NULL) status = cr_trajectory_scene(*trajectory, text, error);
    free(text);
    return status;
}

static crStatus open_trajectory(const Options* options, Run* run, crTrajectory** trajectory, crError* error) {
    uint64_t scene = scene_hash(&options->scene, &run->scene);
    if (options->out != NULL) return create_trajectory(options, run, scene, trajectory, error);
    if (options->resume == NULL) return CR_OK;
    bool exact = false;
    crStatus status = cr_trajectory_resume(options->resume, run->world, scene, trajectory, &exact, error);
    if (status != CR_OK) return status;
    run->resumed = true;
    run->resumed_at = cr_world_state(run->world)->time;
    if (!exact) {
        print_plain(stderr, options->resume);
        fprintf(stderr,
                ": note: resumed at t = %.6g s without the warm start of contacts, which CSV does not hold; "
                "where bodies touch, last digits may differ\n",
                run->resumed_at);
    }
    return CR_OK;
}

// times at which nothing was posed leave no file
static void note_dumps(const Options* options, const Run* run) {
    if (run->dump == NULL) return;
    int files = dump_files(run->dump);
    print_plain(stderr, options->dump.path);
    fprintf(stderr, ": note: %d problem%s written\n", files, files == 1 ? "" : "s");
}

static int simulate(const Options* options, Run* run) {
    crError error = {0};
    if (!scene_warnings(&options->scene, &run->scene)) return EXIT_BAD_INPUT;
    if (cr_scene_world(&run->scene, &run->world, &error) != CR_OK)
        return scene_refuse(&options->scene, &error);
    if (options->dump.path != NULL && run->scene.step.error > 0.0)
        return usage_error("run", "--dump goes with steps of dt: step.error is %g, must be 0",
                           run->scene.step.error);
    crTrajectory* trajectory = NULL;
    if (open_trajectory(options, run, &trajectory, &error) != CR_OK) {
        cr_trajectory_close(trajectory, NULL);
        return file_refuse(&options->scene, &error);
    }
    crMotionLog motion = {0};
    bool keep = options->plot != NULL || options->report != NULL;
    if (keep) cr_motion_create(&motion, run->scene.model);
    if (options->dump.path != NULL) {
        run->dump = dump_create(&options->dump, run->path);
        if (run->dump == NULL) run->status = CR_ERR_MEMORY;
    }
    run_through(run, trajectory, keep ? &motion : NULL);
    int status = finish(options, run, trajectory, &motion);
    note_dumps(options, run);
    dump_destroy(run->dump);
    cr_motion_destroy(&motion);
    return status;
}

int verb_run(int count, char** arguments) {
    Options options = {.scene = scene_input("run")};
    int status = read_options(&options, count, arguments);
    if (status >= 0) return status;
    Run run = {.path = scene_title(&options.scene)};
    crError error = {0};
    crStatus read = scene_open(&options.scene, &error);
    if (read == CR_OK) read = scene_read(&options.scene, &run.scene, &error);
    status = read == CR_OK ? simulate(&options, &run) : scene_refuse(&options.scene, &error);
    cr_world_destroy(run.world);
    cr_scene_free(&run.scene);
    scene_close(&options.scene);
    return status;
}
