// input.c - telling one JSON value from JSON Lines, and reading either with bounded memory.
//
// If the first line that is not blank is a whole JSON value, the text is JSON Lines. Otherwise all of it is
// read and tried as one value; if that fails too, it is JSON Lines with a bad first line where some later
// line, beginning in its first column, is a whole object, and else one broken value.
// Fails: a line or value of more than 16 MiB gives the error "limit" and is skipped, unread; a read error
// ends the input with "file".
#include "io/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/system.h"

void cr_input_stream(crInput* input, FILE* file) { *input = (crInput){.file = file, .line = 1}; }

crStatus cr_input_open(crInput* input, const char* path, crError* error) {
    bool standard = strcmp(path, "-") == 0;
    cr_input_stream(input, standard ? stdin : fopen(path, "rb"));
    input->owned = !standard;
    if (input->file == NULL) {
        return cr_error_set(error, CR_ERR_FILE, "", "%.120s: %s", path, strerror(errno));
    }
    return CR_OK;
}

void cr_input_close(crInput* input) {
    if (input->owned && input->file != NULL) fclose(input->file);
    free(input->text);
    *input = (crInput){0};
}

static bool put(crInput* in, char c) {
    if (in->size == in->capacity) {
        size_t capacity = in->capacity < 4096 ? 4096 : in->capacity * 2;
        char* text = realloc(in->text, capacity);
        if (text == NULL) return false;
        in->text = text;
        in->capacity = capacity;
    }
    in->text[in->size++] = c;
    return true;
}

// What became of reading: a stretch of text, nothing left, or too much of it.
typedef enum Reading { READ_OK, READ_END, READ_LONG, READ_MEMORY } Reading;

// Read on until a line end (kept), or to the end of the file; at most limit bytes in all from in->start.
static Reading read_line(crInput* in, size_t limit) {
    int c = EOF;
    size_t before = in->size;
    while (!in->over && in->size - in->start <= limit) {
        c = cr__getc(in->file);
        if (c == EOF) {
            in->over = true;
            break;
        }
        if (!put(in, (char)c)) return READ_MEMORY;
        if (c == '\n') return READ_OK;
    }
    if (in->size - in->start > limit) return READ_LONG;
    return in->size > before ? READ_OK : READ_END;
}

// forget the rest of a line that is too long
static void skip_line(crInput* in) {
    in->start = in->size = 0;
    for (int c = 0; c != '\n' && !in->over;) {
        c = cr__getc(in->file);
        in->over = c == EOF;
    }
    in->line++;
}

// The line at in->start, without its line end. Reads one where nothing is left over.
static Reading next_line(crInput* in, const char** line, size_t* length) {
    if (in->start == in->size) in->start = in->size = 0;
    char* end = in->size > in->start ? memchr(in->text + in->start, '\n', in->size - in->start) : NULL;
    if (end == NULL) {
        Reading reading = read_line(in, CR_JSON_MAX_SIZE);
        if (reading == READ_END && in->size > in->start) reading = READ_OK;
        if (reading != READ_OK) return reading;
        bool whole = in->text[in->size - 1] == '\n';
        end = in->text + in->size - (whole ? 1 : 0);
    }
    *line = in->text + in->start;
    *length = (size_t)(end - *line);
    return READ_OK;
}

static void pass_line(crInput* in, size_t length) {
    in->start += length;
    if (in->start < in->size) in->start++;
    if (in->line < INT32_MAX) in->line++;
}

static bool is_blank(const char* text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r') return false;
    }
    return true;
}

// some line after the first, beginning in column 1, is an object of its own
static bool has_object_line(const char* text, size_t size) {
    const char* end = text + size;
    for (const char* at = text; (at = memchr(at, '\n', (size_t)(end - at))) != NULL;) {
        at++;
        if (at == end || *at != '{') continue;
        const char* stop = memchr(at, '\n', (size_t)(end - at));
        crJsonDoc doc;
        if (cr_json_parse(at, (size_t)((stop != NULL ? stop : end) - at), 1, &doc, NULL) == CR_OK) {
            cr_json_free(&doc);
            return true;
        }
    }
    return false;
}

// The first line is no value by itself: try everything as one. false: it is JSON Lines after all.
static bool next_whole(crInput* in, crJsonDoc* doc, crError* error) {
    Reading reading = READ_OK;
    while (reading == READ_OK) {
        reading = read_line(in, CR_JSON_MAX_SIZE);
    }
    crError whole = {0};
    crStatus status = CR_ERR_LIMIT;
    if (reading == READ_END) {
        status = cr_json_parse(in->text + in->start, in->size - in->start, in->line, doc, &whole);
    } else {
        cr_error_set(&whole, status, "", "the text is longer than 16 MiB and its first line is no object");
        whole.line = in->line;
        whole.column = 1;
    }
    if (status != CR_OK && has_object_line(in->text + in->start, in->size - in->start)) return false;
    if (error != NULL) *error = whole;
    in->start = in->size;
    in->over = true;
    return true;
}

static void limit_error(const crInput* in, Reading reading, crError* error) {
    crStatus status = reading == READ_LONG ? CR_ERR_LIMIT : CR_ERR_MEMORY;
    cr_error_set(error, status, "", "%s",
                 reading == READ_LONG ? "the line is longer than 16 MiB" : cr_status_text(status));
    if (error == NULL) return;
    error->line = in->line;
    error->column = 1;
}

bool cr_input_next(crInput* in, crJsonDoc* doc, int* at_line, crError* error) {
    *doc = (crJsonDoc){0};
    for (;;) {
        const char* line = NULL;
        size_t length = 0;
        Reading reading = next_line(in, &line, &length);
        *at_line = in->line;
        if (reading == READ_END) break;
        if (reading != READ_OK) {
            limit_error(in, reading, error);
            in->lines = true;
            skip_line(in);
            return true;
        }
        if (is_blank(line, length)) {
            pass_line(in, length);
            continue;
        }
        crStatus status = cr_json_parse(line, length, in->line, doc, error);
        bool alone = status == CR_OK || in->lines;
        if (!alone && next_whole(in, doc, error)) return true;
        in->lines = true;
        pass_line(in, length);
        return true;
    }
    if (!ferror(in->file)) return false;
    clearerr(in->file);
    cr_error_set(error, CR_ERR_FILE, "", "the input cannot be read to its end: %s", strerror(errno));
    return true;
}

crStatus cr_input_one(const char* path, const char* field, crJsonDoc* doc, crError* error) {
    crInput input;
    crStatus status = cr_input_open(&input, path, error);
    if (status != CR_OK) return status;
    int line = 0;
    bool any = cr_input_next(&input, doc, &line, error);
    if (!any) cr_error_set(error, CR_ERR_SYNTAX, field, "the scene is empty");
    crJsonDoc more;
    crError ignored = {0};
    if (any && doc->root != NULL && cr_input_next(&input, &more, &line, &ignored)) {
        cr_json_free(&more);
        cr_json_free(doc);
        cr_error_set(error, CR_ERR_SYNTAX, field, "one scene at a time: another value begins here");
        error->line = line;
        error->column = 1;
    }
    cr_input_close(&input);
    return doc->root != NULL ? CR_OK : error->status;
}
