// verb_examples.c - carom examples: the named situations as ready input files.
//
// Scenes are told apart from other examples of the same name as scenes/NAME, and written to a folder of that
// name. The files of scenes/ and examples/ are part of the command; the comment in each is its line in the list.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "examples.h"
#include "io/json.h"
#include "io/names.h"
#include "options.h"

static void print_help(void) {
    puts("usage: carom examples                   list the examples\n"
         "       carom examples NAME              print one; a scene also as scenes/NAME\n"
         "       carom examples --all -o DIR      write all of them as DIR/NAME.json and "
         "DIR/scenes/NAME.json\n"
         "\n"
         "Ready input files: scenes for carom run, compare and converge (which know them by name), for\n"
         "carom impact the situations of Chatterjee and Ruina 1998 and a few everyday ones, for carom\n"
         "resolve impacts at many contacts, for carom solve contact problems.\n"
         "\n"
         "examples:\n"
         "  carom run pool-break\n"
         "  carom examples bouncing-ball > mine.json && carom run mine.json\n"
         "  carom examples kane-paradox | carom impact\n"
         "  carom examples cradle-5 | carom resolve\n"
         "  carom examples --all -o examples && carom impact examples/billiard.json");
}

// the comment in an example's text, NULL where there is none; doc must be freed
static const char* comment_of(const crExample* example, crJsonDoc* doc) {
    *doc = (crJsonDoc){0};
    if (cr_json_parse(example->text, strlen(example->text), 1, doc, NULL) != CR_OK) return NULL;
    const crJson* comment = cr_json_get(doc->root, "comment");
    return comment != NULL && comment->type == CR_JSON_STRING ? comment->text : NULL;
}

static bool is_scene(const crExample* example) { return strcmp(example->verb, "run") == 0; }

// an example before this one has the same name
static bool is_second(const crExample* example) {
    for (const crExample* e = cr_examples; e != example; e++) {
        if (strcmp(e->name, example->name) == 0) return true;
    }
    return false;
}

static const char* prefix_of(const crExample* example) {
    return is_scene(example) && is_second(example) ? "scenes/" : "";
}

static int width_of(const crExample* example) {
    return (int)(strlen(prefix_of(example)) + strlen(example->name));
}

// names and comments, under the verb that reads them
static void print_list(void) {
    const char* verb = "";
    int width = 0;
    for (const crExample* example = cr_examples; example->name != NULL; example++) {
        if (strcmp(verb, example->verb) != 0) {
            printf("%scarom %s:\n", verb[0] != '\0' ? "\n" : "", example->verb);
            verb = example->verb;
            width = 0;
            for (const crExample* e = example; e->name != NULL && strcmp(e->verb, verb) == 0; e++) {
                width = width_of(e) > width ? width_of(e) : width;
            }
        }
        crJsonDoc doc;
        const char* comment = comment_of(example, &doc);
        printf("%s%-*s ", prefix_of(example), width - (int)strlen(prefix_of(example)), example->name);
        print_wrapped(stdout, comment != NULL ? comment : "", width + 1, width + 1, 100);
        cr_json_free(&doc);
    }
}

static const char* example_name(const void* ctx, int index) {
    (void)ctx;
    return cr_examples[index].name;
}

static int print_one(const char* name) {
    bool scene = strncmp(name, "scenes/", 7) == 0;
    for (const crExample* example = cr_examples; example->name != NULL; example++) {
        if (strcmp(example->name, scene ? name + 7 : name) != 0 || (scene && !is_scene(example))) continue;
        fputs(example->text, stdout);
        return EXIT_GOOD;
    }
    const char* near = cr_name_nearest(name, example_name, NULL);
    return near != NULL
               ? usage_error("examples", "no example is called '%s'; did you mean '%s'?", name, near)
               : usage_error("examples", "no example is called '%s'; carom examples lists them", name);
}

static int file_error(const char* path) {
    const char* why = strerror(errno);
    fputs("carom examples: ", stderr);
    print_plain(stderr, path);
    fprintf(stderr, ": %s\n", why);
    return EXIT_FILE;
}

static int write_one(const char* directory, const crExample* example) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s%s.json", directory, is_scene(example) ? "scenes/" : "",
                          example->name);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return file_error(directory);
    }
    FILE* file = fopen(path, "wb");
    if (file == NULL) return file_error(path);
    bool written = fputs(example->text, file) >= 0;
    if (fclose(file) != 0 || !written) return file_error(path);
    print_plain(stdout, path);
    putchar('\n');
    return EXIT_GOOD;
}

static int write_all(const char* directory) {
    char scenes[4096];
    if (snprintf(scenes, sizeof scenes, "%s/scenes", directory) >= (int)sizeof scenes) {
        errno = ENAMETOOLONG;
        return file_error(directory);
    }
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) return file_error(directory);
    if (mkdir(scenes, 0777) != 0 && errno != EEXIST) return file_error(scenes);
    int status = EXIT_GOOD;
    for (const crExample* example = cr_examples; example->name != NULL && status == EXIT_GOOD; example++) {
        status = write_one(directory, example);
    }
    return status;
}

int verb_examples(int count, char** arguments) {
    const char* name = NULL;
    const char* directory = NULL;
    bool all = false;
    for (int i = 0; i < count; i++) {
        const char* argument = arguments[i];
        if (asks_help(argument)) {
            print_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--all") == 0) {
            all = true;
        } else if (strcmp(argument, "-o") == 0) {
            if (++i == count) return usage_error("examples", "-o needs a directory");
            directory = arguments[i];
        } else if (argument[0] == '-') {
            return unknown_option("examples", argument);
        } else if (name != NULL) {
            return usage_error("examples", "only one name at a time, '%s' is a second one", argument);
        } else {
            name = argument;
        }
    }
    if (all != (directory != NULL) || (all && name != NULL)) {
        return usage_error("examples", "--all and -o DIR go together, without a name");
    }
    if (all) return write_all(directory);
    if (name != NULL) return print_one(name);
    print_list();
    return EXIT_GOOD;
}
