// fuzz_json.c - any bytes through the JSON reader: no crash, a place for every error, a sound tree otherwise.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/input.h"
#include "io/json.h"

static void demand(bool condition) {
    if (!condition) abort();
}

static void walk(const crJson* value, int depth) {
    demand(depth <= CR_JSON_MAX_DEPTH + 1 && value->line >= 1 && value->column >= 1);
    demand((value->type == CR_JSON_STRING) == (value->text != NULL));
    demand(isfinite(value->number));
    int count = 0;
    for (const crJson* child = value->child; child != NULL; child = child->next) {
        demand((child->key != NULL) == (value->type == CR_JSON_OBJECT));
        if (child->key != NULL && count < 100) demand(cr_json_get(value, child->key) == child);
        walk(child, depth + 1);
        count++;
    }
    demand(count == value->count);
}

// the same bytes as a stream: every record is a tree or an error, and the stream ends
static void stream(const uint8_t* data, size_t size) {
    FILE* file = fmemopen((void*)(uintptr_t)data, size, "rb");
    if (file == NULL) return;
    crInput input;
    cr_input_stream(&input, file);
    crJsonDoc doc;
    crError error = {0};
    int line = 0;
    int last = 0;
    while (cr_input_next(&input, &doc, &line, &error)) {
        demand(line > last);
        last = line;
        if (doc.root != NULL) {
            walk(doc.root, 1);
        } else {
            demand(error.status != CR_OK && error.line >= 1 && error.column >= 1);
        }
        cr_json_free(&doc);
    }
    cr_input_close(&input);
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    crJsonDoc doc;
    crError error = {0};
    if (cr_json_parse((const char*)data, size, 1, &doc, &error) == CR_OK) {
        walk(doc.root, 1);
        cr_json_free(&doc);
    } else {
        demand(error.status != CR_OK && error.message[0] != '\0');
        demand(error.line >= 1 && error.column >= 1 && (size_t)error.column <= size + 1);
    }
    if (size > 0) stream(data, size);
    return 0;
}
