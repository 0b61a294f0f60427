// json_write.c - numbers, strings and trees as JSON.
//
// A double is written with 15, 16 or 17 significant digits, the fewest that strtod turns back into the same
// bits. JSON has no infinity and no NaN: infinity becomes the string "inf", NaN becomes null. Bytes that are
// not UTF-8 become U+FFFD, so the output is valid whatever the input was. Characters that steer a terminal
// are written as escapes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "io/system.h"
#include "io/utf8.h"

static int shortest(double value, char text[CR_JSON_NUMBER_TEXT]) {
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(text, CR_JSON_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return length;
}

int cr_json_number_text(double value, char text[CR_JSON_NUMBER_TEXT]) {
    if (text == NULL) return 0;
    if (value == 0.0) return snprintf(text, CR_JSON_NUMBER_TEXT, "0");
    if (isnan(value)) return snprintf(text, CR_JSON_NUMBER_TEXT, "null");
    if (isinf(value)) return snprintf(text, CR_JSON_NUMBER_TEXT, value > 0.0 ? "\"inf\"" : "\"-inf\"");
    crPlainNumbers plain;
    bool begun = cr__plain_begin(&plain);
    int length = shortest(value, text);
    if (begun) cr__plain_end(&plain);
    return length;
}

void cr_json_write_number(FILE* file, double value) {
    char text[CR_JSON_NUMBER_TEXT];
    if (file == NULL) return;
    cr_json_number_text(value, text);
    fputs(text, file);
}

void cr_json_write_string(FILE* file, const char* text) {
    if (file == NULL || text == NULL) return;
    const char* end = text + strlen(text);
    putc('"', file);
    while (text < end) {
        int length = cr__utf8_length(text, end);
        unsigned char c = (unsigned char)*text;
        if (length == 0) {
            fputs("\\ufffd", file);
            length = 1;
        } else if (c == '"' || c == '\\') {
            putc('\\', file);
            putc(c, file);
        } else if (cr__utf8_steers(cr__utf8_code(text, length))) {
            fprintf(file, "\\u%04x", (unsigned)cr__utf8_code(text, length));
        } else {
            fwrite(text, 1, (size_t)length, file);
        }
        text += length;
    }
    putc('"', file);
}

void cr_json_write_tree(FILE* file, const crJson* value) {
    if (file == NULL || value == NULL) return;
    bool object = value->type == CR_JSON_OBJECT;
    switch (value->type) {
    case CR_JSON_NULL:
        fputs("null", file);
        break;
    case CR_JSON_BOOL:
        fputs(value->number != 0.0 ? "true" : "false", file);
        break;
    case CR_JSON_NUMBER:
        cr_json_write_number(file, value->number);
        break;
    case CR_JSON_STRING:
        cr_json_write_string(file, value->text);
        break;
    default:
        putc(object ? '{' : '[', file);
        for (const crJson* child = value->child; child != NULL; child = child->next) {
            if (child != value->child) putc(',', file);
            if (object) cr_json_write_string(file, child->key);
            if (object) putc(':', file);
            cr_json_write_tree(file, child);
        }
        for (int i = 0; value->packed != NULL && i < value->count; i++) {
            if (i > 0) putc(',', file);
            cr_json_write_number(file, value->packed[i]);
        }
        putc(object ? '}' : ']', file);
    }
}
