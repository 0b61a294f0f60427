// verb_region.c - carom region: the impulse-space picture of a collision, and the numbers behind it.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "io/input.h"
#include "io/names.h"
#include "options.h"
#include "plot/gnuplot.h"
#include "plot/region.h"

static void print_help(void) {
    puts(
        "usage: carom region [FILE | -] -o PICTURE [options]\n"
        "\n"
        "Draws impulse space for one collision (the input of carom impact): all impulses that the laws of\n"
        "mechanics permit, and where every collision law puts its answer among them. Spatial collisions are\n"
        "shown as the section through n and P_II and as a solid. docs/region.md tells how to read it.\n"
        "\n"
        "  -o PICTURE    .svg, .png or .pdf; drawn by gnuplot, which must be installed\n"
        "  --laws A,B    only these laws; default: all of the catalogue (carom laws lists them)\n"
        "  --size WxH    in pixels (points for PDF), from 200x150 to 10000x10000; default 1020x700, and\n"
        "                1500x700 for spatial collisions\n"
        "  --data DIR    write the numbers as DIR/curves.csv, points.csv, region.csv, routh-path.csv and\n"
        "                compliant.csv, in the contact frame (n, t1, t2), N s; with or without -o\n"
        "\n"
        "Exit status: 0 good, 1 the input was bad, 2 wrong usage, 3 a file cannot be read or written, or\n"
        "gnuplot is missing or failed.\n"
        "\n"
        "examples:\n"
        "  carom examples generic | carom region -o generic.svg\n"
        "  carom region box.json -o box.png --laws routh,smith --size 1600x1000\n"
        "  carom region box.json --data box-data");
}

typedef struct Options {
    const char* path;  // of the collision
    const char* output;
    const char* data;
    int width, height;  // 0 for the default
    int law_count;      // 0 for all
    char* laws[CR_PICTURE_LAWS];
} Options;

static bool is_law(const char* name) {
    for (int i = 0; i < cr_law_count(); i++) {
        if (strcmp(name, cr_law_info(i)->name) == 0) return true;
    }
    return false;
}

// Cuts the list at its commas, in place.
static int read_laws(char* list, Options* options) {
    options->law_count = 0;
    for (char* name = list; name != NULL;) {
        char* comma = strchr(name, ',');
        if (comma != NULL) *comma = '\0';
        if (!is_law(name)) {
            const char* near = cr_name_nearest(name, cr_name_law, NULL);
            return near != NULL
                       ? usage_error("region", "no law is called '%s'; did you mean '%s'?", name, near)
                       : usage_error("region", "no law is called '%s'; carom laws lists them", name);
        }
        if (options->law_count == CR_PICTURE_LAWS) return usage_error("region", "too many laws");
        options->laws[options->law_count++] = name;
        name = comma != NULL ? comma + 1 : NULL;
    }
    return EXIT_GOOD;
}

static int read_size(const char* text, Options* options) {
    char* end = NULL;
    long width = strtol(text, &end, 10);
    long height = *end == 'x' ? strtol(end + 1, &end, 10) : 0;
    if (*end != '\0' || width < 200 || height < 150 || width > 10000 || height > 10000) {
        return usage_error("region", "--size is WIDTHxHEIGHT in pixels, 200x150 to 10000x10000, not '%s'",
                           text);
    }
    options->width = (int)width;
    options->height = (int)height;
    return EXIT_GOOD;
}

static int read_value(const char* option, char* value, Options* options) {
    if (strcmp(option, "--laws") == 0) return read_laws(value, options);
    if (strcmp(option, "--size") == 0) return read_size(value, options);
    if (strcmp(option, "--data") == 0)
        options->data = value;
    else
        options->output = value;
    return EXIT_GOOD;
}

static int read_options(int count, char** arguments, Options* options) {
    for (int i = 0; i < count; i++) {
        char* argument = arguments[i];
        bool valued = strcmp(argument, "-o") == 0 || strcmp(argument, "--laws") == 0 ||
                      strcmp(argument, "--size") == 0 || strcmp(argument, "--data") == 0;
        if (valued) {
            if (++i == count) return usage_error("region", "%s needs a value", argument);
            int status = read_value(argument, arguments[i], options);
            if (status != EXIT_GOOD) return status;
        } else if (argument[0] == '-' && argument[1] != '\0') {
            return unknown_option("region", argument);
        } else if (options->path != NULL) {
            return usage_error("region", "only one file at a time, '%s' is a second one", argument);
        } else {
            options->path = argument;
        }
    }
    if (options->output == NULL && options->data == NULL) {
        return usage_error("region", "say where the picture goes: -o FILE.svg, .png or .pdf (or --data DIR)");
    }
    crError error;
    crPictureFormat format;
    if (options->output != NULL && cr_picture_format(options->output, &format, &error) != CR_OK) {
        return usage_error("region", "%s", error.message);
    }
    return EXIT_GOOD;
}

static int report(const Options* options, const crError* error) {
    if (error->status == CR_ERR_FILE) {
        fputs("carom region: ", stderr);
    } else {
        print_plain(stderr, strcmp(options->path, "-") == 0 ? "standard input" : options->path);
        if (error->line > 0) fprintf(stderr, ":%d:%d", error->line, error->column);
        fputs(": ", stderr);
    }
    print_plain(stderr, error->message);
    fprintf(stderr, " (%s)\n", cr_status_name(error->status));
    return error->status == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
}

// The file's name without folders and extension, where the collision has no name of its own.
static void title_of(const Options* options, const crImpact* impact, char* title, size_t size) {
    const char* name = impact->name;
    if (name == NULL && strcmp(options->path, "-") != 0) {
        const char* slash = strrchr(options->path, '/');
        name = slash != NULL ? slash + 1 : options->path;
        const char* dot = strrchr(name, '.');
        if (dot != NULL && dot != name) {
            snprintf(title, size, "%.*s", (int)(dot - name), name);
            return;
        }
    }
    snprintf(title, size, "%s", name != NULL ? name : "a collision");
}

static crStatus draw(const Options* options, const crJson* object, crPicture* picture, crError* error) {
    crImpact impact;
    crStatus status = cr_impact_read(object, &impact, error);
    if (status != CR_OK) return status;
    status =
        cr_picture_compute(picture, &impact, (const char* const*)options->laws, options->law_count, error);
    if (status == CR_OK && options->data != NULL) {
        status = cr_picture_write_data(picture, options->data, error);
    }
    if (status == CR_OK && options->output != NULL) {
        char title[256];
        title_of(options, &impact, title, sizeof title);
        status = cr_region_draw(picture, title, options->width, options->height, options->output, error);
    }
    return status;
}

// Exactly one collision.
static crStatus read_one(const Options* options, crJsonDoc* doc, crError* error) {
    crInput input;
    crStatus status = cr_input_open(&input, options->path, error);
    if (status != CR_OK) return status;
    int line = 0;
    crJsonDoc more = {0};
    if (!cr_input_next(&input, doc, &line, error)) {
        status = cr_error_set(error, CR_ERR_SYNTAX, "", "the input is empty");
    } else if (doc->root == NULL) {
        status = error->status;
    } else if (cr_input_next(&input, &more, &line, error)) {
        status = cr_error_set(error, CR_ERR_LIMIT, "", "one collision per picture; another begins on line %d",
                              line);
        cr_json_free(&more);
    }
    cr_input_close(&input);
    return status;
}

int verb_region(int count, char** arguments) {
    for (int i = 0; i < count; i++) {
        if (asks_help(arguments[i])) {
            print_help();
            return EXIT_GOOD;
        }
    }
    Options options = {0};
    int usage = read_options(count, arguments, &options);
    if (usage != EXIT_GOOD) return usage;
    if (options.path == NULL) {
        options.path = "-";
        if (isatty(STDIN_FILENO))
            fputs("carom region: reading JSON from the terminal; --help tells more\n", stderr);
    }
    crError error = {0};
    crJsonDoc doc = {0};
    crPicture* picture = malloc(sizeof *picture);
    crStatus status = picture == NULL ? cr_error_set(&error, CR_ERR_MEMORY, "", "out of memory")
                                      : read_one(&options, &doc, &error);
    if (status == CR_OK) status = draw(&options, doc.root, picture, &error);
    free(picture);
    cr_json_free(&doc);
    return status == CR_OK ? EXIT_GOOD : report(&options, &error);
}
