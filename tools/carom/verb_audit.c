// verb_audit.c - carom audit: options of both forms, and which form it is.
#include <stdlib.h>
#include <string.h>

#include "auditing.h"
#include "command.h"
#include "numbers.h"

static void print_help(void) {
    puts("usage: carom audit PROBLEM [--p FILE] [--tol X] [--shift M] [--format NAME] [--report FILE] "
         "[--json]\n"
         "       carom audit SCENE TRAJECTORY [options] [--json]\n"
         "\n"
         "Judges anyone's answer, from the data alone.\n"
         "\n"
         "A problem (any file that carom solve reads) with impulses, its own p or those of --p: by how much\n"
         "the problem must be changed for the answer to be exact.\n"
         "  --p FILE       impulses: a JSON list, or numbers apart by commas or blanks; row by row\n"
         "  --tol X        residual that counts as solved, default 1e-10\n"
         "  --shift M      an answer that is exact for gaps changed by at most so many metres is near\n"
         "  --format NAME  of the problem, as in carom solve\n"
         "  --report FILE  a page: verdict and figures, impulses and velocities row by row: .html\n"
         "\n"
         "A trajectory (CSV or HDF5) of a scene or a model (JSON, MJCF, URDF, SDF): overlap, crossings, "
         "energy\n"
         "gained without work, and whether what touches nothing flies. A body NAME of a CSV file has the\n"
         "columns that carom run writes, or NAME.x y z qw qx qy qz and, where they are known, vx vy vz "
         "(centre\n"
         "of mass) and wx wy wz (world axes); time is t. The digits kept are part of every figure's floor.\n"
         "  --overlap M    allowed, default 1e-3 of the smallest body\n"
         "  --energy X     gain allowed, as a share of the energies at play, default 1e-6\n"
         "  --speed V      change of speed in flight allowed, m/s, default 0.01\n"
         "  --exact        the numbers are exact: few digits are no rounding\n"
         "  --per-step FILE.csv\n"
         "                 every figure of every record\n"
         "  --plot FILE    overlap, energy and momentum over time: .svg, .png or .pdf\n"
         "  --report FILE  a page: the motion, verdicts and figures, charts, moments beyond a limit: .html\n"
         "  --set PATH=VALUE and, of a model, --key, --package, --fixed-base, --with: as in carom run\n"
         "\n"
         "Exit status: 0 solved, near or kept, 1 bad input, 2 wrong usage, 3 a file cannot be opened or\n"
         "written, 4 not, 5 cannot tell.\n"
         "\n"
         "examples:\n"
         "  carom run box-stack --dump-at 0.5 --dump stack.json && carom audit stack.json --tol 1e-6\n"
         "  carom audit problem.hdf5 --p impulses.txt --json\n"
         "  carom run bouncing-ball --out ball.csv && carom audit bouncing-ball ball.csv\n"
         "  carom audit scene.xml mujoco.csv --per-step figures.csv --report audit.html");
}

int audit_status(crTruth truth) {
    return truth == CR_TRUTH_YES ? EXIT_GOOD : truth == CR_TRUTH_NO ? EXIT_UNSOLVED : EXIT_UNCERTIFIED;
}

const char* audit_shade(crTruth truth, bool color) {
    if (!color) return "";
    return truth == CR_TRUTH_YES ? GREEN : truth == CR_TRUTH_NO ? RED : AMBER;
}

static int take_number(const char* name, const char* text, double most, double* value) {
    char* end = NULL;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && *value > 0.0 && *value < most) return EXIT_GOOD;
    return most < 10.0
               ? usage_error("audit", "%s must be a number above 0 and below %g, is '%s'", name, most, text)
               : usage_error("audit", "%s must be a number above 0, is '%s'", name, text);
}

// options of this verb: -1 no such, else the exit status so far
static int take_option(void* ctx, char* name, char* value) {
    AuditOptions* o = ctx;
    const struct {
        const char* name;
        const char** text;
        double* number;
        double most;
    } known[] = {{"--p", &o->impulses, NULL, 0.0},
                 {"--format", &o->format, NULL, 0.0},
                 {"--per-step", &o->per_step, NULL, 0.0},
                 {"--plot", &o->plot, NULL, 0.0},
                 {"--report", &o->report, NULL, 0.0},
                 {"--tol", NULL, &o->tol, 1.0},
                 {"--shift", NULL, &o->shift, 1e300},
                 {"--overlap", NULL, &o->limits.overlap, 1e300},
                 {"--energy", NULL, &o->limits.energy, 1e300},
                 {"--speed", NULL, &o->limits.speed, 1e300}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) != 0) continue;
        if (value == NULL) return usage_error("audit", "%s needs a value", name);
        if (known[i].number != NULL) return take_number(name, value, known[i].most, known[i].number);
        *known[i].text = value;
        return EXIT_GOOD;
    }
    return -1;
}

static bool is_flag(const char* argument) {
    static const char* const flags[] = {"--json", "--strict", "--fixed-base", "--help", "-h"};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(argument, flags[i]) == 0) return true;
    }
    return false;
}

// Takes the trajectory, the second name, and --exact out of the arguments. Returns how many are left; *names is how
// many names there were.
static int take_trajectory(AuditOptions* o, int count, char** arguments, int* names) {
    int kept = 0;
    *names = 0;
    for (int i = 0; i < count; i++) {
        char* argument = arguments[i];
        bool option = argument[0] == '-' && argument[1] != '\0';
        if (strcmp(argument, "--exact") == 0) {
            o->exact = true;
            continue;
        }
        if (!option && ++*names == 2) {
            o->path = argument;
            continue;
        }
        arguments[kept++] = argument;
        if (option && !is_flag(argument) && i + 1 < count) arguments[kept++] = arguments[++i];
    }
    return kept;
}

int verb_audit(int count, char** arguments) {
    AuditOptions o = {.scene = scene_input("audit"),
                      .tol = cr_solver_params().tol,
                      .shift = -1.0,
                      .limits = cr_motion_limits()};
    int names = 0;
    int kept = take_trajectory(&o, count, arguments, &names);
    int status = scene_arguments(&o.scene, kept, arguments, print_help, take_option, &o);
    if (status >= 0) return status;
    if (o.scene.path == NULL) return usage_error("audit", "which problem, or which scene and trajectory?");
    status = report_check("audit", o.report);
    if (status >= 0) return status;
    o.json = o.scene.json;
    if (names > 1) {
        if (o.impulses != NULL || o.format != NULL)
            return usage_error("audit", "--p and --format go with a problem, not with a trajectory");
        return audit_motion(&o);
    }
    if (o.per_step != NULL || o.plot != NULL)
        return usage_error("audit", "--per-step and --plot go with a scene and a trajectory");
    o.path = o.scene.path;
    return audit_problem(&o);
}
