// verb_run.c - carom run: a scene through time, with its certificate.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "plot/gnuplot.h"
#include "report.h"
#include "run.h"
#include "scene_input.h"

static void print_help(void) {
    puts(
        "usage: carom run SCENE [options]\n"
        "\n"
        "Runs a scene (docs/scenes.md, carom schema) and says how well: steps, contacts, the worst and mean\n"
        "certificate, the energy balance. SCENE is a file, a model (MJCF, URDF, SDF), - for standard\n"
        "input, or the name of a scene that comes with carom (carom examples). Ctrl-C keeps what was\n"
        "computed.\n"
        "\n"
        "  --out FILE        trajectory: .csv, or .h5 with energy, certificates, events and snapshots\n"
        "  --resume FILE     go on where a trajectory ends, to the scene's duration, and append to it\n"
        "  --plot FILE       energy and positions over time: .svg, .png or .pdf\n"
        "  --report FILE     a page to look at: animation, summary, charts, events: .html\n"
        "  --json            the summary as one JSON object, with the last state of every body\n"
        "  --strict          overlaps at the start, and what is not supported of a model, are errors\n"
        "  --threads N       that share the work; results do not depend on it\n"
        "\n"
        "in place of what the scene says:\n"
        "  --dt S            length of a step          --duration S   simulated time\n"
        "  --method NAME     cone, lcp, moreau, event  --rule NAME    of impacts at many contacts\n"
        "  --law NAME        of one contact            --solver NAME  of contact problems\n"
        "  --tol X           residual that counts as solved\n"
        "  --quality NAME    fast, accurate, certified: how far contact solves go\n"
        "  --set PATH=VALUE  any value: step.directions=16, bodies.rod.angle=0.3, bodies[0].pos[2]=1\n"
        "of a model: --key NAME, --package DIR, --fixed-base, --with FILE (carom import --help)\n"
        "\n"
        "Exit status: 0 good, 1 bad scene or file of another scene, 2 wrong usage, 3 a file cannot be\n"
        "opened or written, 4 a step failed or was not solved to the tolerance, 130 interrupted.\n"
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
} Options;

// -1: no such option; else the exit status so far
static int take_file(void* ctx, char* name, char* value) {
    Options* options = ctx;
    const char** file = strcmp(name, "--out") == 0      ? &options->out
                        : strcmp(name, "--resume") == 0 ? &options->resume
                        : strcmp(name, "--plot") == 0   ? &options->plot
                        : strcmp(name, "--report") == 0 ? &options->report
                                                        : NULL;
    if (file == NULL) return -1;
    if (value == NULL) return usage_error("run", "%s needs a value", name);
    *file = value;
    return EXIT_GOOD;
}

static int check_options(const Options* options) {
    if (options->scene.path == NULL) return usage_error("run", "which scene?");
    if (options->out != NULL && options->resume != NULL)
        return usage_error("run", "--resume appends to its own file: --out cannot go with it");
    crPictureFormat format;
    if (options->plot != NULL && cr_picture_format(options->plot, &format, NULL) != CR_OK)
        return usage_error("run", "--plot: '%s' must end in .svg, .png or .pdf", options->plot);
    return report_check("run", options->report);
}

// -1 to go on, else the exit status
static int read_options(Options* options, int count, char** arguments) {
    int status = scene_arguments(&options->scene, count, arguments, print_help, take_file, options);
    return status < 0 ? check_options(options) : status;
}

static int finish(const Options* options, Run* run, crTrajectory* trajectory, const crMotionLog* motion) {
    crError error = {0};
    crStatus closed = cr_trajectory_close(trajectory, &error);
    if (options->scene.json) {
        json_run(stdout, run);
    } else {
        table_run(stdout, run, wants_color());
    }
    int status = run->interrupted ? EXIT_INTERRUPTED : run->tally.unsolved > 0 ? EXIT_UNSOLVED : EXIT_GOOD;
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
    // HDF5 would say that it cannot be written
    if (ends_in(options->resume, ".h5") && access(options->resume, F_OK) != 0)
        return cr_error_set(error, CR_ERR_FILE, "resume",
                            "resume: %.200s: no such file; --out begins a trajectory", options->resume);
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

static int simulate(const Options* options, Run* run) {
    crError error = {0};
    if (!scene_overlaps(&options->scene, &run->scene)) return EXIT_BAD_INPUT;
    if (cr_scene_world(&run->scene, &run->world, &error) != CR_OK)
        return scene_refuse(&options->scene, &error);
    crTrajectory* trajectory = NULL;
    if (open_trajectory(options, run, &trajectory, &error) != CR_OK) {
        cr_trajectory_close(trajectory, NULL);
        return file_refuse(&options->scene, &error);
    }
    crMotionLog motion = {0};
    bool keep = options->plot != NULL || options->report != NULL;
    if (keep) cr_motion_create(&motion, run->scene.model);
    run_through(run, trajectory, keep ? &motion : NULL);
    int status = finish(options, run, trajectory, &motion);
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
