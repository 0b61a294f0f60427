// verb_impact.c - carom impact: collisions in, impulses with their certificates out.
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "io/input.h"
#include "verb_impact.h"

static void print_help(void) {
    puts("usage: carom impact [FILE | -] [--json]\n"
         "\n"
         "Resolves collisions of two bodies at one point by the laws asked for. The input is one JSON\n"
         "object, or JSON Lines with one object per line; without FILE or with - it is read from standard\n"
         "input as it arrives. A bad line is reported and the others go on.\n"
         "\n"
         "  --json   one JSON object per collision instead of a table\n"
         "\n"
         "what collides:\n"
         "  W, V, n       inverse local mass (3x3, or 2x2 with 2-vectors), relative velocity of b to a at\n"
         "                the contact, unit normal from a to b; or m, the inverse of W, instead of W\n"
         "  bodies, point, n   [a, b], each with mass, inertia, position, orientation, velocity, omega,\n"
         "                fixed, instead of W and V\n"
         "  normalize     true: accept an n of any length\n"
         "  frame         columns n, t1, t2; default: t1 against the tangential velocity, t2 = n x t1\n"
         "how:\n"
         "  law           a name, a list of names, or \"all\" (default); carom laws lists them\n"
         "  mu, e, et     friction (or \"inf\"), normal and tangential restitution; default 0;\n"
         "                e may be a table [[speed, e], ...]\n"
         "  ending        routh: \"poisson\" (default), \"newton\" or \"energetic\"\n"
         "  cone          anitescu-potra: \"exact\" (default) or a number of directions\n"
         "  nu            pfeiffer-glocker: share of tangential restitution, default 1\n"
         "  ratios        brach: [mu2, mu3], default [0, 0]\n"
         "  laws, sigma   composite: default [\"chatterjee-ruina\", \"routh\"] and 0.5\n"
         "  eta2          compliant: normal over tangential stiffness, default 1.21\n"
         "  psi1, psi2, rho    spherical: angles and radius about the region's centroid, default 0\n"
         "  wish          projected: the impulse to come near to, default 0\n"
         "notes:\n"
         "  name, comment      strings; the name is printed with the answer\n"
         "\n"
         "Vectors come back in the coordinates they went in. SI units. Exit status: 0 good, 1 some input\n"
         "was bad, 2 wrong usage, 3 the file cannot be opened.\n"
         "\n"
         "examples:\n"
         "  carom examples generic | carom impact\n"
         "  echo '{\"W\":[[1,-0.3],[-0.3,2]],\"V\":[-1,0.5],\"n\":[1,0],\"mu\":0.5,\"e\":0.6}' | carom "
         "impact\n"
         "  carom impact --json collisions.jsonl > results.jsonl");
}

typedef struct Options {
    const char* path;
    bool json;
    bool color;
    bool flush;  // after every answer
} Options;

static void print_error(const Options* options, const crError* error) {
    if (options->json) {
        json_error(stdout, error);
        return;
    }
    fflush(stdout);
    print_plain(stderr, strcmp(options->path, "-") == 0 ? "standard input" : options->path);
    fprintf(stderr, ":%d:%d: ", error->line, error->column);
    print_plain(stderr, error->message);
    fprintf(stderr, " (%s)\n", cr_status_name(error->status));
}

// One collision; false where no law gave an answer.
static bool answer(const Options* options, const crJson* object, int line, bool first) {
    crImpact impact;
    crError error = {0};
    if (cr_impact_read(object, &impact, &error) != CR_OK) {
        print_error(options, &error);
        return false;
    }
    Answer answers[CR_IMPACT_MAX_LAWS];
    bool any = false;
    for (int i = 0; i < impact.law_count; i++) {
        answers[i] = (Answer){0};
        answers[i].status = cr_impact_apply(object, &impact, i, &answers[i].hit, &answers[i].error);
        any = any || answers[i].status == CR_OK;
    }
    if (options->json) {
        json_answers(stdout, &impact, answers);
    } else {
        if (!first) putchar('\n');
        table_answers(stdout, &impact, line, answers, options->color);
    }
    return any;
}

static int run(const Options* options) {
    crInput input;
    crError error = {0};
    if (cr_input_open(&input, options->path, &error) != CR_OK) {
        fprintf(stderr, "carom impact: %s\n", error.message);
        return EXIT_FILE;
    }
    int status = EXIT_GOOD;
    int count = 0;
    int line = 0;
    crJsonDoc doc;
    while (status != EXIT_FILE && cr_input_next(&input, &doc, &line, &error)) {
        if (doc.root != NULL) {
            if (!answer(options, doc.root, line, count == 0)) status = EXIT_BAD_INPUT;
        } else if (error.status == CR_ERR_FILE) {
            fprintf(stderr, "carom impact: %s: %s\n", options->path, error.message);
            status = EXIT_FILE;
        } else {
            print_error(options, &error);
            status = EXIT_BAD_INPUT;
        }
        cr_json_free(&doc);
        count++;
        if (options->flush) fflush(stdout);
    }
    cr_input_close(&input);
    if (count == 0) {
        fputs("carom impact: the input is empty\n", stderr);
        status = EXIT_BAD_INPUT;
    }
    return status;
}

int verb_impact(int count, char** arguments) {
    Options options = {.color = wants_color()};
    for (int i = 0; i < count; i++) {
        const char* argument = arguments[i];
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            print_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--json") == 0) {
            options.json = true;
        } else if (argument[0] == '-' && argument[1] != '\0') {
            return usage_error("impact", "unknown option '%s'", argument);
        } else if (options.path != NULL) {
            return usage_error("impact", "only one file at a time, '%s' is a second one", argument);
        } else {
            options.path = argument;
        }
    }
    if (options.path == NULL) {
        options.path = "-";
        if (isatty(STDIN_FILENO))
            fputs("carom impact: reading JSON from the terminal; --help tells more\n", stderr);
    }
    options.flush = strcmp(options.path, "-") == 0;
    return run(&options);
}
