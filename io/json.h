// json.h - a small JSON reader that remembers where every value stands, and a writer for numbers and strings.
//
// The tree lives in one block that grows by an allocator; nothing is kept of the text. RFC 8259, UTF-8, with
// limits on depth, length and count so that hostile input is refused before it costs memory.
#ifndef CAROM_IO_JSON_H
#define CAROM_IO_JSON_H

#include "carom/base.h"

typedef enum crJsonType {
    CR_JSON_NULL,
    CR_JSON_BOOL,
    CR_JSON_NUMBER,
    CR_JSON_STRING,
    CR_JSON_ARRAY,
    CR_JSON_OBJECT
} crJsonType;

// A value. Children of arrays and objects form a list in the order of the text.
typedef struct crJson {
    crJsonType type;
    int line, column;            // of its first character, 1-based
    int count;                   // children
    const char* key;             // in an object, else NULL
    const char* text;            // string: its bytes, NUL-terminated, escapes resolved
    double number;               // number, or bool as 0 or 1
    const struct crJson* child;  // first
    const struct crJson* next;   // sibling
} crJson;

typedef struct crJsonDoc {
    crJson* root;
    crArena arena;
} crJsonDoc;

// Parse one value; only white space may follow it. first_line is what the text's first line is called in
// errors (1 for a whole file). On failure error has line and column, and doc needs no free.
crStatus cr_json_parse(const char* text, size_t size, int first_line, crJsonDoc* doc, crError* error);
void cr_json_free(crJsonDoc* doc);  // accepts a zeroed doc

const crJson* cr_json_get(const crJson* object, const char* key);  // NULL where there is none

#endif
