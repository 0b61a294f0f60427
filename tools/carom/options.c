// options.c - what a verb's help says its options are.
//
// The help is printed into a temporary file and read: there is one list of options, the one that people see. A word that
// begins with - after a space or a bracket is an option, a word in capitals after it its value. Fails: no temporary file,
// by no options.
#include "options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "io/names.h"

#define HELP 16384  // bytes, more than any help has

// what carom VERB --help prints; false where it cannot be caught
static bool catch_help(const char* verb, char text[HELP]) {
    FILE* file = tmpfile();
    fflush(stdout);
    int out = file != NULL ? dup(STDOUT_FILENO) : -1;
    if (out < 0 || dup2(fileno(file), STDOUT_FILENO) < 0) {
        if (file != NULL) fclose(file);
        if (out >= 0) close(out);
        return false;
    }
    bool good = verb_help(verb);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    rewind(file);
    size_t size = fread(text, 1, HELP - 1, file);
    text[size] = '\0';
    fclose(file);
    return good;
}

// without its examples, which may show other verbs; a help of two parts has them twice
static void cut_examples(char* text) {
    char* from = strstr(text, "\nexamples:");
    while (from != NULL) {
        const char* next = strstr(from, "\nusage:");
        if (next == NULL) next = from + strlen(from);
        memmove(from, next, strlen(next) + 1);
        from = strstr(from, "\nexamples:");
    }
}

static size_t word_length(const char* text) {
    size_t length = strspn(text, "-");
    while (isalpha((unsigned char)text[length]) || (length > 0 && text[length] == '-')) {
        length++;
    }
    return length;
}

static bool is_known(const Option* options, int count, const char* name) {
    for (int i = 0; i < count; i++) {
        if (strcmp(options[i].name, name) == 0) return true;
    }
    return false;
}

// the value's name behind an option: a word in capitals after one space
static void take_value(const char* text, char value[OPTION_NAME]) {
    size_t length = text[0] == ' ' ? strcspn(text + 1, " ,.)]\n=") : 0;
    bool capital = length > 0 && length < OPTION_NAME;
    for (size_t i = 1; i <= length; i++) {
        capital = capital && isupper((unsigned char)text[i]);
    }
    snprintf(value, OPTION_NAME, "%.*s", capital ? (int)length : 0, text + 1);
}

int options_of(const char* verb, Option options[OPTION_MOST]) {
    char* text = malloc(HELP);
    int count = 0;
    bool caught = text != NULL && catch_help(verb, text);
    if (caught) cut_examples(text);
    const char* at = caught ? text : "";
    for (; *at != '\0' && count < OPTION_MOST; at++) {
        if (*at != '-' || at == text || strchr(" [(,|\n", at[-1]) == NULL) continue;
        size_t length = word_length(at);
        size_t dashes = strspn(at, "-");
        Option option = {0};
        if (length >= OPTION_NAME || length == dashes || dashes > 2 || (dashes == 1 && length != 2)) continue;
        snprintf(option.name, OPTION_NAME, "%.*s", (int)length, at);
        take_value(at + length, option.value);
        if (!is_known(options, count, option.name)) options[count++] = option;
    }
    free(text);
    return count;
}

typedef struct Names {
    Option options[OPTION_MOST];
    int count;
} Names;

static const char* name_at(const void* ctx, int index) {
    const Names* names = ctx;
    return index < names->count ? names->options[index].name : index == names->count ? "--help" : NULL;
}

int unknown_option(const char* verb, const char* option) {
    Names names;
    names.count = options_of(verb, names.options);
    const char* near = cr_name_nearest(option, name_at, &names);
    return usage_error(verb, "unknown option '%s'%s%s%s", option, near != NULL ? "; did you mean '" : "",
                       near != NULL ? near : "", near != NULL ? "'?" : "");
}
