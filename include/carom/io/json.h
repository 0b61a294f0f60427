// json.h - a small JSON reader that remembers where every value stands, and a writer for numbers and strings.
//
// The tree lives in an arena of the document; nothing is kept of the text. RFC 8259 without extensions: UTF-8
// (a byte order mark is skipped), no key twice in one object, no number beyond double, no \u0000 in strings,
// and limits on size, depth and count so that hostile input is refused before it costs memory. Time is at
// most n log n in the size of the text. Numbers are read and written the same in every locale.
#ifndef CAROM_IO_JSON_H
#define CAROM_IO_JSON_H

#include <stdio.h>

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CR_JSON_MAX_SIZE   ((size_t)16 << 20)  // bytes of one text
#define CR_JSON_MAX_DEPTH  64                  // arrays and objects inside each other
#define CR_JSON_MAX_VALUES (1 << 20)
#define CR_JSON_MAX_NUMBER 4096       // characters of one number
#define CR_JSON_MAX_LINE   (1 << 30)  // the first line of a text

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
    int line, column;            // of its first character, 1-based, in bytes
    int count;                   // children
    const char* key;             // in an object, else NULL
    const char* text;            // string: its bytes, NUL-terminated, escapes resolved
    double number;               // number, or bool as 0 or 1
    const struct crJson* child;  // first
    const struct crJson* next;   // sibling
    const double* packed;        // cr_json_parse_data: the numbers of a long list, which has no children then
} crJson;

typedef struct crJsonDoc {
    crJson* root;
    crArena arena;
} crJsonDoc;

// Parse one value; only white space may follow it. first_line is what the text's first line is called in
// errors (1 for a whole file). Fails: syntax, limit, memory, with line and column; doc needs no free then.
CR_API crStatus cr_json_parse(const char* text, size_t size, int first_line, crJsonDoc* doc, crError* error);

// The same for files of data: up to CR_JSON_MAX_DATA bytes and CR_JSON_MAX_DATA_VALUES values. A list of at least
// CR_JSON_PACKED numbers and nothing else is packed: it counts as one value, and has no children.
#define CR_JSON_MAX_DATA        ((size_t)1 << 30)
#define CR_JSON_MAX_DATA_VALUES (1 << 24)
#define CR_JSON_PACKED          16
CR_API crStatus cr_json_parse_data(const char* text, size_t size, crJsonDoc* doc, crError* error);

CR_API void cr_json_free(crJsonDoc* doc);  // accepts a zeroed doc

// The value under a key; NULL if there is none or the value is not an object.
CR_API const crJson* cr_json_get(const crJson* object, const char* key);
CR_API const char* cr_json_type_name(crJsonType type);  // "an object", "a number" ...

// Writes the shortest of 15, 16 and 17 digits that reads back as the same double; -0 is "0", infinities are
// "inf" and "-inf" with their quotes, NaN is "null". Returns the length of the text.
#define CR_JSON_NUMBER_TEXT 32
CR_API int cr_json_number_text(double value, char text[CR_JSON_NUMBER_TEXT]);
// The writers return nothing: ask ferror(file) at the end.
CR_API void cr_json_write_number(FILE* file, double value);
// The value with all it holds, on one line.
CR_API void cr_json_write_tree(FILE* file, const crJson* value);
// A quoted string. Bytes that are not UTF-8 become U+FFFD, characters that steer a terminal become escapes.
CR_API void cr_json_write_string(FILE* file, const char* text);

#ifdef __cplusplus
}
#endif

#endif
