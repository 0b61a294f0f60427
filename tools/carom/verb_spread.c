// verb_spread.c - carom spread: a scene whose values are not known exactly, answered by a distribution.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "device.h"
#include "fitting.h"
#include "plot/gnuplot.h"
#include "ranks.h"
#include "spreading.h"
#include "stream.h"

static void print_help(void) {
    puts(
        "usage: carom spread SCENE --jitter NAME=SIZE ... [options]\n"
        "\n"
        "Runs many copies of a scene, each with values drawn around those of the scene, and tells where\n"
        "the bodies end, in which groups the outcomes fall, and which order of impacts decides. SCENE is\n"
        "a file, - for standard input, or the name of a scene that comes with carom.\n"
        "\n"
        "  --jitter NAME=SIZE  what is drawn, any number of times. NAME is a class (position, velocity,\n"
        "                    angle, spin of every body; gap: shapes smaller by this; mu, e) or a field by\n"
        "                    its path as in --set (bodies.cue.vel). SIZE is a standard deviation, or\n"
        "                    uniform:H for H either side; with % it is of the value that stands there\n"
        "  --samples N       copies, 2 to 1000000; default 1000\n"
        "  --until T         s; default the scene's duration\n"
        "  --of WHAT         position or velocity of the bodies' centres at the end; default position\n"
        "  --order K         tell orders apart by their first K pairs; default the fewest that explain as\n"
        "                    much as any number that leaves ten samples per order\n"
        "  --seed N          default 1; the same seed gives the same samples\n"
        "  --threads N       1 to 256; default 1; results do not depend on it\n"
        "  --device NAME     threads, or gpu: samples are worlds of a batch on an NVIDIA GPU, to the same\n"
        "                    bits; it needs the driver and carom.ptx (docs/batches.md)\n"
        "  --checkpoint FILE keep finished samples there, and go on from it after an interruption\n"
        "  --out FILE        every sample: .csv\n"
        "  --plot FILE       outcomes by cluster, and what the order explains: .svg, .png or .pdf\n"
        "  --report FILE     a page with everything and more pictures: .html\n"
        "  --body NAME       the body of the pictures; default the one that spreads most\n"
        "  --json            everything as one JSON object\n"
        "\n"
        "in place of what the scene says, as in carom run:\n"
        "  --dt X --method NAME --rule NAME --law NAME --solver NAME --tol X --quality NAME\n"
        "  --set PATH=VALUE\n"
        "\n"
        "Larger than one machine: mpirun carom spread ... shares the samples among its ranks, one GPU each.\n"
        "\n"
        "Exit status: 0 good, 1 bad scene, jitter or checkpoint, 2 wrong usage, 3 a file cannot be read\n"
        "or written, 4 samples failed, 130 interrupted.\n"
        "\n"
        "examples:\n"
        "  carom spread pool-break --jitter gap=1e-5 --samples 500 --plot break.svg\n"
        "  carom spread newtons-cradle-3 --jitter gap=1e-5 --of velocity\n"
        "  carom spread bouncing-ball --jitter velocity=uniform:0.1 --jitter e=2% --out samples.csv");
}

static int take_jitter(Spreading* s, const char* value) {
    crError error = {0};
    crSpreadOptions* o = &s->options;
    if (o->jitter_count == CR_SPREAD_JITTERS)
        return usage_error("spread", "at most %d jitters", CR_SPREAD_JITTERS);
    if (cr_jitter_parse(value, &o->jitters[o->jitter_count], &error) != CR_OK)
        return usage_error("spread", "--jitter: %s", error.message);
    s->texts[o->jitter_count++] = value;
    return EXIT_GOOD;
}

static int take_of(Spreading* s, const char* value) {
    bool velocity = strcmp(value, "velocity") == 0;
    if (!velocity && strcmp(value, "position") != 0)
        return usage_error("spread", "--of is '%s', must be position or velocity", value);
    s->options.of = velocity ? CR_SPREAD_VELOCITY : CR_SPREAD_POSITION;
    return EXIT_GOOD;
}

static int take_count(Spreading* s, const char* name, const char* value) {
    int seed = 0;
    int status = strcmp(name, "--samples") == 0
                     ? fitting_seed("spread", name, value, 2, CR_SPREAD_MOST, &s->options.samples)
                 : strcmp(name, "--threads") == 0
                     ? fitting_seed("spread", name, value, 1, CR_JOBS_THREADS, &s->options.threads)
                 : strcmp(name, "--order") == 0
                     ? fitting_seed("spread", name, value, 1, CR_SPREAD_ORDER, &s->length)
                     : fitting_seed("spread", name, value, 0, 2147483647, &seed);
    if (strcmp(name, "--seed") == 0) s->options.seed = (uint64_t)seed;
    return status < 0 ? EXIT_GOOD : status;
}

static int take_until(Spreading* s, const char* value) {
    SceneInput* input = &s->input;
    if (input->set_count == SCENE_SETS)
        return usage_error("spread", "at most %d values can be set", SCENE_SETS);
    input->paths[input->set_count] = "step.duration";
    input->values[input->set_count++] = value;
    return EXIT_GOOD;
}

// -1: no such option; else the exit status so far
static int take_option(void* ctx, char* name, char* value) {
    Spreading* s = ctx;
    static const char* const names[] = {"--jitter",  "--of",    "--until", "--samples",
                                        "--threads", "--order", "--seed"};
    int which = 0;
    while (which < 7 && strcmp(name, names[which]) != 0) {
        which++;
    }
    const char** file = strcmp(name, "--out") == 0          ? &s->out
                        : strcmp(name, "--plot") == 0       ? &s->plot
                        : strcmp(name, "--report") == 0     ? &s->report
                        : strcmp(name, "--checkpoint") == 0 ? &s->options.checkpoint
                        : strcmp(name, "--body") == 0       ? &s->body
                                                            : NULL;
    bool device = strcmp(name, "--device") == 0;
    if (which == 7 && file == NULL && !device) return -1;
    if (value == NULL) return usage_error("spread", "%s needs a value", name);
    if (device) return device_option("spread", value, &s->options.device) < 0 ? EXIT_GOOD : EXIT_USAGE;
    if (file != NULL) {
        *file = value;
        return EXIT_GOOD;
    }
    if (which == 0) return take_jitter(s, value);
    if (which == 1) return take_of(s, value);
    if (which == 2) return take_until(s, value);
    return take_count(s, name, value);
}

static int check_options(const Spreading* s) {
    if (s->input.path == NULL) return usage_error("spread", "which scene?");
    if (s->options.jitter_count == 0)
        return usage_error("spread",
                           "what is not known exactly? --jitter NAME=SIZE, such as --jitter gap=1e-5");
    crPictureFormat format;
    if (s->plot != NULL && cr_picture_format(s->plot, &format, NULL) != CR_OK)
        return usage_error("spread", "--plot: '%s' must end in .svg, .png or .pdf", s->plot);
    return report_check("spread", s->report);
}

static bool watch(void* ctx, int done, int count) {
    Spreading* s = ctx;
    return progress_show(&s->progress, "samples", done, count);
}

static crStatus write_files(const Spreading* s, crError* error) {
    crStatus status = CR_OK;
    if (s->out != NULL) status = spreading_csv(s, s->out, error);
    if (status == CR_OK && s->plot != NULL) status = spreading_plot(s, s->plot, error);
    if (status == CR_OK && s->report != NULL) status = spreading_report(s, s->report, error);
    return status;
}

static int show(const Spreading* s) {
    crError error = {0};
    crStatus status = s->options.ranks->rank == 0 ? write_files(s, &error) : CR_OK;
    if (s->input.json) {
        spreading_json(s);
    } else {
        spreading_print(s);
    }
    if (status != CR_OK) return file_refuse(&s->input, &error);
    return s->spread.failed > 0 ? EXIT_UNSOLVED : EXIT_GOOD;
}

static int run_samples(Spreading* s, crError* error) {
    char* text = scene_text(&s->input);
    if (text == NULL) {
        cr_error_set(error, CR_ERR_MEMORY, "", "out of memory");
        return scene_refuse(&s->input, error);
    }
    s->options.quality = s->input.quality;
    s->options.key = scene_hash(&s->input, &s->scene);
    s->options.watch = watch;
    s->options.ctx = s;
    progress_begin(&s->progress);
    s->progress.lines = s->options.ranks->count > 1;
    char* program = NULL;
    crStatus status = device_open(&s->options.device, &program, error);
    if (status == CR_OK)
        status = cr_spread_run(s->input.doc.root, text, &s->scene, &s->options, &s->spread, error);
    progress_end(&s->progress);
    free(program);
    free(text);
    if (status == CR_ERR_LIMIT && stop_asked()) {
        fputs("carom spread: ", stderr);
        print_plain(stderr, error->message);
        putc('\n', stderr);
        return stop_status();
    }
    if (status == CR_OK) return -1;
    bool scene = strcmp(error->field, "checkpoint") != 0 && strcmp(error->field, "ranks") != 0 &&
                 !device_blamed(error);
    return scene || s->input.json ? scene_refuse(&s->input, error) : file_refuse(&s->input, error);
}

static int spread(Spreading* s) {
    crError error = {0};
    if (!scene_warnings(&s->input, &s->scene)) return EXIT_BAD_INPUT;
    if (s->body != NULL && cr_model_find_body(s->scene.model, s->body) < 0)
        return usage_error("spread", "--body: no body of the scene is called '%s'", s->body);
    int code = run_samples(s, &error);
    if (code >= 0) return code;
    if (cr_spread_summarize(&s->spread, s->options.of, s->length, &s->summary, &error) != CR_OK) {
        scene_refuse(&s->input, &error);
        return EXIT_UNSOLVED;
    }
    return show(s);
}

static int spread_ranked(crRanks* ranks, int count, char** arguments) {
    Spreading* s = calloc(1, sizeof *s);
    if (s == NULL) return EXIT_BAD_INPUT;
    s->input = scene_input("spread");
    s->options.samples = 1000;
    s->options.seed = 1;
    s->options.threads = 1;
    s->options.ranks = ranks;
    int status = scene_arguments(&s->input, count, arguments, print_help, take_option, s);
    if (status < 0) status = check_options(s);
    if (status < 0) {
        crError error = {0};
        crStatus read = scene_open(&s->input, &error);
        if (read == CR_OK) read = scene_read(&s->input, &s->scene, &error);
        status = read == CR_OK ? spread(s) : scene_refuse(&s->input, &error);
        cr_spread_summary_destroy(&s->summary);
        cr_spread_destroy(&s->spread);
        cr_scene_free(&s->scene);
        scene_close(&s->input);
    }
    free(s);
    return status;
}

int verb_spread(int count, char** arguments) { return ranks_verb("spread", spread_ranked, count, arguments); }
