// verb_impact.c - carom impact: collisions in, impulses with their certificates out.
#include <string.h>

#include "command.h"
#include "stream.h"
#include "verb_impact.h"

static void print_help(void) {
    puts("usage: carom impact [FILE | -] [--gradient] [--json]\n"
         "\n"
         "Resolves collisions of two bodies at one point by the laws asked for. The input is one JSON\n"
         "object, or JSON Lines with one object per line; without FILE or with - it is read from standard\n"
         "input as it arrives. A bad line is reported and the others go on.\n"
         "\n"
         "  --json       one JSON object per collision instead of a table\n"
         "  --gradient   derivatives of P and V+ by W, V, n and every parameter, with a verdict\n"
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
         "                e may be a table [[speed, e], ...], and each a table, spline or named\n"
         "                form over speed, slip, angle and spin: docs/materials.md\n"
         "  spin          of b to a about n, rad/s, where W and V are given and a form asks for it\n"
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

// One collision; false where no law gave an answer.
static bool answer(const Stream* stream, const crJson* object, int line, bool first) {
    crImpact impact;
    crError error = {0};
    if (cr_impact_read(object, &impact, &error) != CR_OK) {
        stream_error(stream, &error);
        return false;
    }
    Answer answers[CR_IMPACT_MAX_LAWS];
    bool any = false;
    for (int i = 0; i < impact.law_count; i++) {
        answers[i] = (Answer){0};
        answers[i].status = cr_impact_apply(object, &impact, i, &answers[i].hit, &answers[i].error);
        any = any || answers[i].status == CR_OK;
    }
    if (stream->json) {
        json_answers(stdout, &impact, answers);
    } else {
        if (!first) putchar('\n');
        table_answers(stdout, &impact, line, answers, stream->color);
    }
    return any;
}

int verb_impact(int count, char** arguments) {
    Stream stream = {.verb = "impact"};
    bool gradient = false;
    int others = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(arguments[i], "--gradient") == 0) {
            gradient = true;
        } else {
            arguments[others++] = arguments[i];
        }
    }
    int status = stream_options(&stream, others, arguments, print_help);
    return status >= 0 ? status : stream_run(&stream, gradient ? answer_gradient : answer);
}
