// command.h - the verbs of the carom command and what they share.
#ifndef CAROM_COMMAND_H
#define CAROM_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

// Every verb once: X(name, one line for the help). A verb is verb_NAME in verb_NAME.c, called with the
// arguments after its name; it returns the exit status.
#define VERBS(X)                                                                                  \
    X(run, "a scene through time: trajectory, picture, energy balance and certificate")           \
    X(compare, "a scene by several rules, laws, methods ...: one table, one picture")             \
    X(converge, "a scene by smaller and smaller steps: errors, variation and order")              \
    X(spread, "a scene with jitter: distribution, clusters, and which order of impacts decides")  \
    X(plot, "pictures and reports of trajectories: charts, strobe, plan, impulses, HTML")         \
    X(view, "a page to look at and touch: impulse space, many contacts, scenes, live")            \
    X(export, "scenes and trajectories as files for that page")                                   \
    X(impact, "one collision, or many: the impulse of each law with its certificate")             \
    X(resolve, "an impact at many contacts at once: what each rule says of it")                   \
    X(solve, "a contact problem from a file: impulses by a solver, judged by the audit")          \
    X(audit, "anyone's answer judged: impulses of a problem, or a trajectory of a scene")         \
    X(fit, "laws fitted to measured collisions: parameters, intervals, ranking, what is unknown") \
    X(predict, "what was fitted applied to other collisions or motions, with a certificate")      \
    X(laws, "the catalogue of laws: parameters, guarantees, sources, what each can predict")      \
    X(region, "the picture of a collision in impulse space, as SVG, PNG or PDF")                  \
    X(examples, "ready input files of the named situations")                                      \
    X(import, "a model in MJCF, URDF or SDF as a scene")                                          \
    X(info, "what is in a scene or model: tree, freedoms, masses, shapes")                        \
    X(schema, "the JSON Schema of scene files")

#define VERB_DECLARE(name, summary) int verb_##name(int count, char** arguments);
VERBS(VERB_DECLARE)
#undef VERB_DECLARE

enum {
    EXIT_GOOD = 0,
    EXIT_BAD_INPUT = 1,
    EXIT_USAGE = 2,
    EXIT_FILE = 3,
    EXIT_UNSOLVED = 4,
    EXIT_UNCERTIFIED = 5,
    EXIT_INTERRUPTED = 130
};

// Prints "carom VERB: message" and a hint to standard error; returns EXIT_USAGE.
int usage_error(const char* verb, const char* format, ...) __attribute__((format(printf, 2, 3)));

bool asks_help(const char* argument);  // --help or -h

// true where colour is wanted: standard output is a terminal and NO_COLOR is unset or empty.
bool wants_color(void);

// Text of others for people: control characters are replaced, so that input cannot steer the terminal.
void print_plain(FILE* file, const char* text);

// Words of text broken into lines of at most `width` columns; lines after the first are indented.
void print_wrapped(FILE* file, const char* text, int column, int indent, int width);

#endif
