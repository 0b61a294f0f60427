// output.c - printing for people: messages, colour, wrapped text.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/base.h"
#include "command.h"
#include "io/utf8.h"

// the next character of text as print_plain prints it; the bytes it had
static int plain_character(const char* text, const char* end, char plain[8]) {
    int length = cr__utf8_length(text, end);
    int code = length > 0 ? cr__utf8_code(text, length) : 0;
    if (length == 0 || (length == 1 && cr__utf8_steers(code))) {
        snprintf(plain, 8, "\\x%02x", (unsigned)(unsigned char)*text);
        return 1;
    }
    if (cr__utf8_steers(code)) {
        snprintf(plain, 8, "\\u%04x", (unsigned)code & 0xffffu);
        return length;
    }
    memcpy(plain, text, (size_t)length);
    plain[length] = '\0';
    return length;
}

void print_plain(FILE* file, const char* text) {
    char plain[8];
    for (const char* end = text + strlen(text); text < end;) {
        text += plain_character(text, end, plain);
        fputs(plain, file);
    }
}

int plain_width(const char* text) {
    int width = 0;
    char plain[8];
    for (const char* end = text + strlen(text); text < end;) {
        text += plain_character(text, end, plain);
        width += plain[0] == '\\' ? (int)strlen(plain) : 1;
    }
    return width;
}

int usage_error(const char* verb, const char* format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    cr_error_format(message, sizeof message, format, args);
    va_end(args);
    fprintf(stderr, "carom %s: ", verb);
    print_plain(stderr, message);
    fprintf(stderr, "\ncarom %s --help tells how to use it\n", verb);
    return EXIT_USAGE;
}

bool asks_help(const char* argument) {
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

bool ends_in(const char* path, const char* extension) {
    const char* dot = strrchr(path, '.');
    return dot != NULL && strcmp(dot, extension) == 0;
}

int report_check(const char* verb, const char* path) {
    if (path == NULL || ends_in(path, ".html") || ends_in(path, ".htm")) return -1;
    return usage_error(verb, "--report: '%s' must end in .html: a report is a page; %s", path,
                       "carom plot --what motion makes .svg, .gif and .mp4");
}

bool wants_color(void) {
    const char* refused = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && (refused == NULL || refused[0] == '\0');
}

void print_wrapped(FILE* file, const char* text, int column, int indent, int width) {
    bool first = true;
    while (*text != '\0') {
        text += strspn(text, " ");
        size_t length = strcspn(text, " ");
        if (length == 0) break;
        if (!first && column + 1 + (int)length > width) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            putc(' ', file);
            column++;
        }
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        print_plain(file, word);
        column += (int)length;
        text += length;
        first = false;
    }
    putc('\n', file);
}
