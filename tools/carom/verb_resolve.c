// verb_resolve.c - carom resolve: impacts at many contacts in, what each rule says of them out.
#include <string.h>

#include "command.h"
#include "stream.h"
#include "verb_resolve.h"

static void print_help(void) {
    puts("usage: carom resolve [FILE | -] [--json]\n"
         "\n"
         "Resolves impacts at several contacts at one instant by the rules asked for. The input is one\n"
         "JSON object, or JSON Lines with one object per line; without FILE or with - it is read from\n"
         "standard input as it arrives. A bad line is reported and the others go on.\n"
         "\n"
         "  --json   one JSON object per impact instead of a table\n"
         "\n"
         "what collides (nv generalized velocities):\n"
         "  M, v          inertia, nv x nv or its diagonal, and the velocities before\n"
         "  contacts      [{\"n\": [...], \"t\": [[...], [...]], \"e\", \"mu\", \"et\", \"w_hat\", "
         "\"point\"}, ...]:\n"
         "                n and t are rows of J, of nv numbers, so that n.v is the normal velocity; without\n"
         "                t no friction; w_hat is added to J v (driven bodies); point serves ties\n"
         "  e, mu, et     for all contacts at once: a number, or one for each; default 0\n"
         "  joints        [[...], ...]: rows of J that stay zero; [[...], [...]] for rows of one joint\n"
         "  impulse       prescribed generalized impulse at the same instant\n"
         "how:\n"
         "  rule          a name, a list of names, or \"all\" (default): newton, poisson, coupled,\n"
         "                sequence, feasible, weighted, reflect, chain\n"
         "  cone          newton, poisson, coupled: \"exact\" (default) or a number of directions\n"
         "  eps           coupled: restitution matrix, contacts x contacts; default 0\n"
         "  law           sequence: law of one contact, default chatterjee-ruina\n"
         "  ties          sequence: \"direction\" (default), \"perturb\" or \"random\"\n"
         "  direction, seed    ties: lowest point along direction first (default +x); seed of the others\n"
         "  extrapolate   sequence: false to cut off infinite sequences instead of taking their limit\n"
         "  mechanism     sequence: \"intact\" (default) or \"apart\"\n"
         "  pick, corner  feasible: \"nearest\" (default), \"hull\" or \"arc\"; \"concave\" or \"convex\"\n"
         "  threshold     feasible: plastic where no contact approaches faster, m/s; default 0\n"
         "  stiffness, hertz   chain: one number per contact; true for force as compression^1.5\n"
         "  budget, tolerance  most steps; share of the speed before that counts as none\n"
         "notes:\n"
         "  name, comment      strings; the name is printed with the answer\n"
         "\n"
         "SI units. Exit status: 0 good, 1 some input was bad, 2 wrong usage, 3 the file cannot be opened.\n"
         "\n"
         "examples:\n"
         "  carom examples cradle-3 | carom resolve\n"
         "  echo '{\"M\":[1,1],\"v\":[1,0],\"contacts\":[{\"n\":[-1,1],\"e\":0.5}]}' | carom resolve\n"
         "  carom resolve --json impacts.jsonl > results.jsonl");
}

const char* tie_of(const crResolve* resolve, const crRuleReport* report) {
    if (report->unique != CR_UNIQUE_TIE && (report->flags & CR_RULE_TIE) == 0) return NULL;
    if (report->outcome_p != NULL) return "outcomes equally near; the one with the lowest first contact";
    static const char* const orders[] = {"equally fast contacts; the lowest along direction first",
                                         "equally fast contacts; one order drawn from seed",
                                         "equally fast contacts; drawn from seed each time"};
    return resolve->params.ties == CR_TIES_DIRECTION && resolve->params.points == NULL
               ? "equally fast contacts; the first in the list first"
               : orders[resolve->params.ties];
}

// One impact; false where no rule gave an answer.
static bool answer(const Stream* stream, const crJson* object, int line, bool first) {
    crResolve resolve;
    crError error = {0};
    if (cr_resolve_read(object, &resolve, &error) != CR_OK) {
        stream_error(stream, &error);
        return false;
    }
    Resolution answers[CR_RESOLVE_MAX_RULES];
    bool any = false;
    for (int i = 0; i < resolve.rule_count; i++) {
        answers[i] = (Resolution){0};
        answers[i].status = cr_resolve_run(object, &resolve, i, &answers[i].got, &answers[i].error);
        any = any || answers[i].status == CR_OK;
    }
    if (stream->json) {
        json_resolutions(stdout, &resolve, answers);
    } else {
        if (!first) putchar('\n');
        table_resolutions(stdout, &resolve, line, answers, stream->color);
    }
    cr_resolve_free(&resolve);
    return any;
}

int verb_resolve(int count, char** arguments) {
    Stream stream = {.verb = "resolve"};
    int status = stream_options(&stream, count, arguments, print_help);
    return status >= 0 ? status : stream_run(&stream, answer);
}
