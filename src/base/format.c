// format.c - texts of errors: what printf writes, but numbers by %g in full.
//
// %g and %.17g write the fewest digits, six or more, that read back as the same double, so that a refused
// value is the one that was given: 0.3, not 0.29999999999999999, and 1.0000000001, not 1. A %g with any other
// precision is printf's. Understood are the conversions d i u x c s g %, the lengths l ll z and * as a
// precision. Fails: a conversion not in this list stands as it is and ends the text, because what follows
// cannot be found.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/base.h"

#define SPEC  16
#define PIECE 512

static void shortest(double x, char text[PIECE]) {
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, PIECE, "%.*g", digits, x);
        if (digits == 17 || x != x || strtod(text, NULL) == x) return;
    }
}

static void integer(const char* spec, va_list* args, char text[PIECE]) {
    char kind = spec[strlen(spec) - 1];
    bool is_signed = kind == 'd' || kind == 'i';
    if (strstr(spec, "ll") != NULL) {
        snprintf(text, PIECE,
                 is_signed     ? "%lld"
                 : kind == 'x' ? "%llx"
                               : "%llu",
                 va_arg(*args, unsigned long long));
    } else if (strchr(spec, 'l') != NULL) {
        snprintf(text, PIECE, is_signed ? "%ld" : kind == 'x' ? "%lx" : "%lu", va_arg(*args, unsigned long));
    } else if (strchr(spec, 'z') != NULL) {
        snprintf(text, PIECE, "%zu", va_arg(*args, size_t));
    } else {
        snprintf(text, PIECE, is_signed ? "%d" : kind == 'x' ? "%x" : "%u", va_arg(*args, unsigned int));
    }
}

static void string(const char* spec, va_list* args, char text[PIECE]) {
    const char* dot = strchr(spec, '.');
    int most = PIECE - 1;
    if (dot != NULL) most = dot[1] == '*' ? va_arg(*args, int) : atoi(dot + 1);
    snprintf(text, PIECE, "%.*s", most < PIECE ? most : PIECE - 1, va_arg(*args, const char*));
}

// the text of one conversion; false: not one of ours
static bool convert(const char* spec, va_list* args, char text[PIECE]) {
    switch (spec[strlen(spec) - 1]) {
    case '%':
        snprintf(text, PIECE, "%%");
        return true;
    case 'd':
    case 'i':
    case 'u':
    case 'x':
        integer(spec, args, text);
        return true;
    case 'c':
        snprintf(text, PIECE, "%c", va_arg(*args, int));
        return true;
    case 's':
        string(spec, args, text);
        return true;
    case 'g':
        if (strcmp(spec, "%g") == 0 || strcmp(spec, "%.17g") == 0) {
            shortest(va_arg(*args, double), text);
        } else {
            snprintf(text, PIECE, "%.*g", atoi(spec + 2), va_arg(*args, double));
        }
        return true;
    default:
        return false;
    }
}

static size_t append(char* out, size_t size, size_t used, const char* text, size_t length) {
    size_t room = size - 1 - used;
    size_t taken = length < room ? length : room;
    memcpy(out + used, text, taken);
    out[used + taken] = '\0';
    return used + taken;
}

void cr_error_format(char* out, size_t size, const char* format, va_list args) {
    if (out == NULL || size == 0 || format == NULL) return;
    out[0] = '\0';
    size_t used = 0;
    va_list rest;
    va_copy(rest, args);
    while (*format != '\0') {
        size_t plain = strcspn(format, "%");
        used = append(out, size, used, format, plain);
        format += plain;
        if (*format == '\0') break;
        size_t length = 1 + strspn(format + 1, ".*0123456789lz") + 1;
        char spec[SPEC] = "";
        char text[PIECE];
        bool known = length < SPEC && format[length - 1] != '\0';
        if (known) memcpy(spec, format, length);
        if (!known || !convert(spec, &rest, text)) {
            append(out, size, used, format, strlen(format));
            break;
        }
        used = append(out, size, used, text, strlen(text));
        format += length;
    }
    va_end(rest);
}
