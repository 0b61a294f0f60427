// stream.c - runs a verb over JSON Lines: bad lines are reported and the others go on.
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "io/input.h"
#include "options.h"
#include "stream.h"

void json_error_member(FILE* file, const crError* error) {
    fprintf(file, "\"error\":{\"code\":\"%s\",\"field\":", cr_status_name(error->status));
    if (error->field[0] != '\0') {
        cr_json_write_string(file, error->field);
    } else {
        fputs("null", file);
    }
    fputs(",\"message\":", file);
    cr_json_write_string(file, error->message);
    fprintf(file, ",\"line\":%d,\"column\":%d}", error->line, error->column);
}

void json_error(FILE* file, const crError* error) {
    putc('{', file);
    json_error_member(file, error);
    fputs("}\n", file);
}

void text_error(const char* path, const crError* error) {
    fflush(stdout);
    print_plain(stderr, strcmp(path, "-") == 0 ? "standard input" : path);
    if (error->line > 0) fprintf(stderr, ":%d:%d", error->line, error->column);
    fputs(": ", stderr);
    print_plain(stderr, error->message);
    fprintf(stderr, " (%s)\n", cr_status_name(error->status));
}

void stream_error(const Stream* stream, const crError* error) {
    if (stream->json) {
        json_error(stdout, error);
    } else {
        text_error(stream->path, error);
    }
}

int stream_options(Stream* stream, int count, char** arguments, void (*print_help)(void)) {
    stream->color = wants_color();
    for (int i = 0; i < count; i++) {
        const char* argument = arguments[i];
        if (asks_help(argument)) {
            print_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--json") == 0) {
            stream->json = true;
        } else if (argument[0] == '-' && argument[1] != '\0') {
            return unknown_option(stream->verb, argument);
        } else if (stream->path != NULL) {
            return usage_error(stream->verb, "only one file at a time, '%s' is a second one", argument);
        } else {
            stream->path = argument;
        }
    }
    if (stream->path == NULL) {
        stream->path = "-";
        if (isatty(STDIN_FILENO)) {
            fprintf(stderr, "carom %s: reading JSON from the terminal; --help tells more\n", stream->verb);
        }
    }
    return -1;
}

int stream_run(const Stream* stream,
               bool (*answer)(const Stream* stream, const crJson* object, int line, bool first)) {
    crInput input;
    crError error = {0};
    if (cr_input_open(&input, stream->path, &error) != CR_OK) {
        fprintf(stderr, "carom %s: ", stream->verb);
        print_plain(stderr, error.message);
        putc('\n', stderr);
        return EXIT_FILE;
    }
    int status = EXIT_GOOD;
    int count = 0;
    int line = 0;
    crJsonDoc doc;
    while (status != EXIT_FILE && cr_input_next(&input, &doc, &line, &error)) {
        if (doc.root != NULL) {
            if (!answer(stream, doc.root, line, count == 0)) status = EXIT_BAD_INPUT;
        } else if (error.status == CR_ERR_FILE) {
            fprintf(stderr, "carom %s: ", stream->verb);
            print_plain(stderr, stream->path);
            fputs(": ", stderr);
            print_plain(stderr, error.message);
            putc('\n', stderr);
            status = EXIT_FILE;
        } else {
            stream_error(stream, &error);
            status = EXIT_BAD_INPUT;
        }
        cr_json_free(&doc);
        count++;
        // a stream is answered while it is still open
        if (strcmp(stream->path, "-") == 0) fflush(stdout);
    }
    cr_input_close(&input);
    if (count == 0) {
        fprintf(stderr, "carom %s: the input is empty\n", stream->verb);
        status = EXIT_BAD_INPUT;
    }
    return status;
}
