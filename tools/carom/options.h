// options.h - the options of a verb, read from its own help: for suggestions and shell completion.
#ifndef CAROM_OPTIONS_H
#define CAROM_OPTIONS_H

#include <stdbool.h>

#define OPTION_NAME 24
#define OPTION_MOST 64

typedef struct Option {
    char name[OPTION_NAME];   // "--out", "-o"
    char value[OPTION_NAME];  // "FILE"; "" where it takes none
} Option;

// Options that the help of a verb names before its examples, each once, in its order. Returns how many; 0 for an
// unknown verb or where its help cannot be read back.
int options_of(const char* verb, Option options[OPTION_MOST]);

// "unknown option '--ruel'; did you mean '--rule'?" as a usage error of the verb; returns its exit status.
int unknown_option(const char* verb, const char* option);

#endif
