// main.c - the carom command: finds the verb and runs it.
//
// Exit status: 0 good, 1 some input was bad, 2 usage, 3 a file cannot be opened, read or written, 4 a
// problem was not solved, 130 interrupted.
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

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
        printf("  %-10s  %s\n", verbs[i].name, verbs[i].summary);
    }
    puts("  help        this text, or that of a verb: carom help impact\n"
         "\n"
         "  -h, --help     the same; carom VERB --help tells more\n"
         "  -V, --version  version of carom and revision of its numerics\n"
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
    char docs[PATH_MAX];
    if (docs_folder(docs, sizeof docs)) printf("documents (docs/): %s\n", docs);
}

bool docs_folder(char* path, size_t size) {
    // beside the installed command, or beside the folder it was built in: how many folders up, and down from there
    static const char* const below[] = {"share/doc/carom/docs", "docs"};
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0) return false;
    own[length] = '\0';
    char* slash = strrchr(own, '/');
    for (int i = 0; i < 2 && slash != NULL; i++) {
        *slash = '\0';
        slash = strrchr(own, '/');
        if (slash == NULL) break;
        char wanted[PATH_MAX + 64];
        snprintf(wanted, sizeof wanted, "%.*s/%s/run.md", (int)(slash - own), own, below[i]);
        snprintf(path, size, "%.*s/%s", (int)(slash - own), own, below[i]);
        if (access(wanted, R_OK) == 0) return true;
    }
    return false;
}

void print_version(void) {
    printf("carom %d.%d.%d (numerics revision %d)\n", CR_VERSION_MAJOR, CR_VERSION_MINOR, CR_VERSION_PATCH,
           CR_NUMERICS_REVISION);
}

const char* verb_at(int index) { return index < VERB_COUNT ? verbs[index].name : NULL; }
const char* verb_summary(int index) { return index < VERB_COUNT ? verbs[index].summary : NULL; }

static const Verb* find_verb(const char* name) {
    for (int i = 0; i < VERB_COUNT; i++) {
        if (strcmp(name, verbs[i].name) == 0) return &verbs[i];
    }
    return NULL;
}

bool verb_help(const char* name) {
    const Verb* verb = find_verb(name);
    return verb != NULL && verb->run(1, (char*[]){"--help", NULL}) == EXIT_GOOD;
}

// what may stand first
static const char* first_word(const void* ctx, int index) {
    static const char* const others[] = {"help", "--help", "--version", NULL};
    (void)ctx;
    return index < VERB_COUNT ? verbs[index].name : others[index - VERB_COUNT];
}

static int unknown_verb(const char* typed) {
    const char* near = cr_name_nearest(typed, first_word, NULL);
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
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        print_version();
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
