// main.c - the carom command: finds the verb and runs it.
//
// Exit status: 0 good, 1 some input was bad, 2 usage, 3 a file cannot be opened, read or written, 4 a
// problem was not solved, 130 interrupted.
#include <signal.h>
#include <string.h>

#include "carom/carom.h"
#include "command.h"
#include "io/names.h"

typedef struct Verb {
    const char* name;
    const char* summary;
    int (*run)(int count, char** arguments);
} Verb;

static const Verb verbs[] = {
#define VERB_ROW(name, summary) {#name, summary, verb_##name},
    VERBS(VERB_ROW)
#undef VERB_ROW
};
enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static void print_help(void) {
    puts("usage: carom VERB [arguments]\n"
         "\n"
         "Rigid bodies that hit, rub and rest on each other. The collision law is your choice,\n"
         "and every answer carries a certificate.\n");
    for (int i = 0; i < VERB_COUNT; i++) {
        printf("  %-9s  %s\n", verbs[i].name, verbs[i].summary);
    }
    puts("  help       this text, or that of a verb: carom help impact\n"
         "\n"
         "  --help     the same; carom VERB --help tells more\n"
         "  --version  version of carom and revision of its numerics\n"
         "\n"
         "examples:\n"
         "  carom examples generic | carom impact\n"
         "  carom impact --json collisions.jsonl > results.jsonl\n"
         "  carom examples cradle-5 | carom resolve\n"
         "  carom laws routh\n"
         "  carom run bouncing-ball --plot ball.svg\n"
         "  carom compare newtons-cradle-5 --rule all\n"
         "\n"
         "exit status: 0 good, 1 some input was bad, 2 wrong usage, 3 a file cannot be opened,\n"
         "4 a problem was not solved, 130 interrupted");
}

static const Verb* find_verb(const char* name) {
    for (int i = 0; i < VERB_COUNT; i++) {
        if (strcmp(name, verbs[i].name) == 0) return &verbs[i];
    }
    return NULL;
}

static const char* verb_name(const void* ctx, int index) {
    (void)ctx;
    return index < VERB_COUNT ? verbs[index].name : index == VERB_COUNT ? "help" : NULL;
}

static int unknown_verb(const char* typed) {
    const char* near = cr_name_nearest(typed, verb_name, NULL);
    const char* kind = typed[0] == '-' ? "option" : "verb";
    fprintf(stderr, "carom: unknown %s '", kind);
    print_plain(stderr, typed);
    fputs("'", stderr);
    if (near != NULL) fprintf(stderr, "; did you mean '%s'?", near);
    fputs("\ncarom --help lists the verbs\n", stderr);
    return EXIT_USAGE;
}

static int run(int count, char** arguments) {
    if (count == 0) {
        print_help();
        return EXIT_GOOD;
    }
    const char* first = arguments[0];
    if (strcmp(first, "--version") == 0) {
        printf("carom %d.%d.%d (numerics revision %d)\n", CR_VERSION_MAJOR, CR_VERSION_MINOR,
               CR_VERSION_PATCH, CR_NUMERICS_REVISION);
        return EXIT_GOOD;
    }
    bool help = strcmp(first, "help") == 0 || asks_help(first);
    if (help && count == 1) {
        print_help();
        return EXIT_GOOD;
    }
    const Verb* verb = find_verb(help ? arguments[1] : first);
    if (verb == NULL) return unknown_verb(help ? arguments[1] : first);
    if (help) return verb->run(1, (char*[]){"--help", NULL});
    return verb->run(count - 1, arguments + 1);
}

int main(int argc, char** argv) {
    // a file that may not grow is an error with a name, not the end
    signal(SIGXFSZ, SIG_IGN);
    int status = run(argc > 1 ? argc - 1 : 0, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("carom: the output cannot be written\n", stderr);
        return EXIT_FILE;
    }
    return status;
}
