// verb_predict.c - carom predict: what was fitted applied to other measurements, with a certificate for each.
#include <string.h>

#include "command.h"
#include "io/input.h"
#include "options.h"
#include "predicting.h"

static void print_help(void) {
    puts(
        "usage: carom predict PARAMS.json FILE.csv [options]\n"
        "\n"
        "Applies what carom fit wrote (--out) to other measurements. With a law of collisions, FILE has one\n"
        "of the forms of carom fit impacts; velocities after (or impulses) may be missing. Prints one line\n"
        "per collision: velocities after, impulse in the contact frame (t1 against the slip), energy "
        "change,\n"
        "regime, and whether the answer is permissible. With a scene fitted to motions, FILE is as in carom\n"
        "fit motion (its --json can be read too): every toss is simulated from its first pose and velocity.\n"
        "Prints one line per toss: misfit, loss and its two parts, how far the last pose is off, overlap "
        "and\n"
        "energy. A summary goes to standard error. docs/fit.md explains every number.\n"
        "\n"
        "  --law NAME        which law of PARAMS.json; default its first, the best\n"
        "  --column NAME=SOURCE,...  --where COLUMN=VALUE,...  --skip   as in carom fit\n"
        "  --json            JSON: an object per collision, or one for all tosses\n"
        "\n"
        "of motions:\n"
        "  --scene SCENE     another scene than the one fitted; the fitted values are set in it\n"
        "  --substeps N      steps between samples; default as fitted\n"
        "  --threads N       1 to 256; default 1; results do not depend on it\n"
        "  --out FILE        predicted poses at every sample: .csv\n"
        "  --report FILE     a page with the errors, and the best, middle and worst toss in pictures\n"
        "\n"
        "Exit status: 0 good, 1 bad data or a law that does not apply to them, 2 wrong usage, 3 a file "
        "cannot\n"
        "be read or written, 130 interrupted.\n"
        "\n"
        "examples:\n"
        "  carom fit impacts half.csv --out law.json && carom predict law.json rest.csv > predicted.csv\n"
        "  carom predict law.json rest.csv --law routh --json\n"
        "  carom predict cube.json tosses.csv --column t=k/148 --report cube.html");
}

static int take_value(Predicting* p, const char* name, char* value) {
    static const char* const names[] = {"--law", "--scene", "--out", "--report"};
    const char** to[] = {&p->law, &p->scene.path, &p->out, &p->report};
    if (strcmp(name, "--column") == 0) return fitting_columns("predict", &p->columns, value);
    if (strcmp(name, "--where") == 0) return fitting_where("predict", &p->columns, value);
    if (strcmp(name, "--law") != 0) p->motion_option = name;
    if (strcmp(name, "--substeps") == 0) return fitting_seed("predict", name, value, 1, 10000, &p->substeps);
    if (strcmp(name, "--threads") == 0) return fitting_seed("predict", name, value, 1, 256, &p->threads);
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, names[i]) == 0) *to[i] = value;
    }
    return -1;
}

static bool has_value(const char* name) {
    static const char* const names[] = {"--column", "--where",    "--law",     "--scene",
                                        "--out",    "--substeps", "--threads", "--report"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

// -1 to go on, else the exit status
static int read_options(Predicting* p, int count, char** arguments) {
    for (int i = 0; i < count; i++) {
        char* argument = arguments[i];
        int status = -1;
        if (asks_help(argument)) {
            print_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--json") == 0) {
            p->json = true;
        } else if (strcmp(argument, "--skip") == 0) {
            p->columns.skip = true;
        } else if (has_value(argument)) {
            if (i + 1 == count) return usage_error("predict", "%s needs a value", argument);
            status = take_value(p, argument, arguments[++i]);
        } else if (argument[0] == '-' && argument[1] != '\0') {
            return unknown_option("predict", argument);
        } else if (p->params == NULL) {
            p->params = argument;
        } else if (p->path == NULL) {
            p->path = argument;
        } else {
            return usage_error("predict", "two files: the parameters and the measurements; '%s' is a third",
                               argument);
        }
        if (status >= 0) return status;
    }
    if (p->path == NULL) return usage_error("predict", "which files? carom predict PARAMS.json FILE.csv");
    return report_check("predict", p->report);
}

static crStatus read_params(Predicting* p, crError* error) {
    crInput input;
    int line = 0;
    crStatus status = cr_input_open(&input, p->params, error);
    if (status != CR_OK) return status;
    if (!cr_input_next(&input, &p->doc, &line, error))
        cr_error_set(error, CR_ERR_SYNTAX, "", "the file is empty");
    cr_input_close(&input);
    return p->doc.root != NULL ? CR_OK : error->status;
}

static int predict(Predicting* p) {
    const crJson* root = p->doc.root;
    const crJson* kind = root->type == CR_JSON_OBJECT ? cr_json_get(root, "fit") : NULL;
    if (kind != NULL && kind->type == CR_JSON_STRING && strcmp(kind->text, "motion") == 0)
        return predict_motion(p);
    if (p->motion_option != NULL)
        return usage_error("predict", "%s is for motions; '%s' has laws of collisions", p->motion_option,
                           p->params);
    return predict_impacts(p);
}

int verb_predict(int count, char** arguments) {
    Predicting p = {.columns.unmeasured = true, .scene = scene_input("predict"), .threads = 1};
    int code = read_options(&p, count, arguments);
    if (code >= 0) return code;
    crError error = {0};
    code = read_params(&p, &error) == CR_OK ? predict(&p) : fitting_refuse("predict", p.params, &error);
    cr_json_free(&p.doc);
    return code;
}
