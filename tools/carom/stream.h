// stream.h - JSON objects in, one answer each: what the verbs that read JSON Lines share.
#ifndef CAROM_STREAM_H
#define CAROM_STREAM_H

#include <stdbool.h>

#include "io/json.h"

typedef struct Stream {
    const char* verb;
    const char* path;  // NULL or "-" for standard input
    bool json;         // one JSON object per answer instead of a table
    bool color;
    int rule_count;            // carom resolve: rules that stand in place of each object's own; 0: none
    const char* const* rules;  // (rule_count) names in the catalogue
} Stream;

// Options every such verb has: --json and one FILE or -. Returns -1, or the exit status to end with.
int stream_options(Stream* stream, int count, char** arguments, void (*print_help)(void));

// Calls answer with every object of the input; it returns false where there was none. line is where the
// object's text begins, first is true once. Returns the exit status.
int stream_run(const Stream* stream,
               bool (*answer)(const Stream* stream, const crJson* object, int line, bool first));

// A refusal: JSON on standard output, or path:line:column: message on standard error.
void stream_error(const Stream* stream, const crError* error);
void text_error(const char* path, const crError* error);

// "error":{...} and the whole line {"error":{...}}
void json_error_member(FILE* file, const crError* error);
void json_error(FILE* file, const crError* error);

#endif
