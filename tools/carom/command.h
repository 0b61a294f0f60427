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
    X(schema, "the JSON Schema of scene files")                                                   \
    X(completion, "a script by which bash, zsh or fish completes carom's words")                  \
    X(doctor, "what this carom is made of, and what it finds on this machine")

#define VERB_DECLARE(name, summary) int verb_##name(int count, char** arguments);
VERBS(VERB_DECLARE)
#undef VERB_DECLARE

// The table of verbs, for those who list them; NULL past the end.
const char* verb_at(int index);
const char* verb_summary(int index);
bool verb_help(const char* verb);  // prints it; false: no such verb
void print_version(void);
// The folder docs/ of the installed carom or of the sources; false where neither is there.
bool docs_folder(char* path, size_t size);

const char* plot_kind(int index);  // of carom plot --what; NULL past the end

enum {
    EXIT_GOOD = 0,
    EXIT_BAD_INPUT = 1,
    EXIT_USAGE = 2,
    EXIT_FILE = 3,
    EXIT_UNSOLVED = 4,
    EXIT_UNCERTIFIED = 5
};

// Prints "carom VERB: message" and a hint to standard error; returns EXIT_USAGE.
int usage_error(const char* verb, const char* format, ...) __attribute__((format(printf, 2, 3)));

bool asks_help(const char* argument);                   // --help or -h
bool ends_in(const char* path, const char* extension);  // ".svg"

// A report is a page: -1 where the path is NULL or ends in .html or .htm, else the exit status of the usage error.
int report_check(const char* verb, const char* path);

// true where colour is wanted: standard output is a terminal and NO_COLOR is unset or empty.
bool wants_color(void);

// Text of others for people: characters that steer a terminal and bytes that are not UTF-8 are printed as
// \x1b or \u202e. Every name, path and message that holds input goes through it.
void print_plain(FILE* file, const char* text);
int plain_width(const char* text);  // characters that print_plain prints

// Words of text broken into lines of at most `width` columns; lines after the first are indented.
void print_wrapped(FILE* file, const char* text, int column, int indent, int width);

#endif
