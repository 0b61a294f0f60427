// verb_resolve.c - carom resolve: impacts at many contacts in, what each rule says of them out.
#include <string.h>

#include "command.h"
#include "io/names.h"
#include "options.h"
#include "stream.h"
#include "verb_resolve.h"

static void print_help(void) {
    puts("usage: carom resolve [FILE | -] [--rule A,B | all] [--json]\n"
         "\n"
         "Resolves impacts at several contacts at one instant by the rules asked for. The input is one\n"
         "JSON object, or JSON Lines with one object per line; without FILE or with - it is read from\n"
         "standard input as it arrives. A bad line is reported and the others go on.\n"
         "\n"
         "  --rule A,B   by these rules instead of the input's own; all: by every one\n"
         "  --json       one JSON object per impact instead of a table\n"
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
         "  carom examples cradle-5 | carom resolve --rule sequence,chain\n"
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
    for (int i = 0; i < stream->rule_count; i++) {
        resolve.rules[i] = stream->rules[i];
    }
    if (stream->rule_count > 0) resolve.rule_count = stream->rule_count;
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

// one rule of --rule, or all of them; exit status
static int add_rule(const char* typed, const char** rules, int* count) {
    bool all = strcmp(typed, "all") == 0;
    bool any = false;
    for (int i = 0; cr_name_rule(NULL, i) != NULL; i++) {
        if (!all && strcmp(typed, cr_name_rule(NULL, i)) != 0) continue;
        if (*count == CR_RESOLVE_MAX_RULES)
            return usage_error("resolve", "--rule: at most %d rules", CR_RESOLVE_MAX_RULES);
        rules[(*count)++] = cr_name_rule(NULL, i);
        any = true;
    }
    if (any) return EXIT_GOOD;
    const char* near = cr_name_nearest(typed, cr_name_rule, NULL);
    return usage_error("resolve", "--rule: none is called '%s'%s%s%s", typed,
                       near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
}

static int take_rules(char* list, const char** rules, int* count) {
    if (list == NULL || list[0] == '\0') return usage_error("resolve", "--rule needs a value");
    int status = EXIT_GOOD;
    for (char* word = strtok(list, ","); word != NULL && status == EXIT_GOOD; word = strtok(NULL, ",")) {
        status = add_rule(word, rules, count);
    }
    if (status == EXIT_GOOD && *count == 0) return usage_error("resolve", "--rule needs a value");
    return status;
}

int verb_resolve(int count, char** arguments) {
    const char* rules[CR_RESOLVE_MAX_RULES];
    Stream stream = {.verb = "resolve", .rules = rules};
    int others = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(arguments[i], "--rule") != 0) {
            arguments[others++] = arguments[i];
            continue;
        }
        int status = take_rules(i + 1 < count ? arguments[++i] : NULL, rules, &stream.rule_count);
        if (status != EXIT_GOOD) return status;
    }
    int status = stream_options(&stream, others, arguments, print_help);
    return status >= 0 ? status : stream_run(&stream, answer);
}
