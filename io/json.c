// json.c - reading JSON (RFC 8259) into a tree with the line and column of every value.
//
// Recursive descent over a bounded depth. Only white space can hold a line end, so the current line is known
// by counting there. Numbers are checked against the grammar and converted by strtod, which rounds correctly,
// in the "C" locale of this thread. Equal keys are found by sorting an object's members once it is closed.
// Fails: syntax, limit (size, depth, values, length of a number), not-finite (NaN, Infinity, 1e999), memory;
// always with the position, and with the path of keys where a value is to blame.
#include "io/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/argument.h"
#include "io/system.h"
#include "io/utf8.h"

#define FIRST_SLAB ((size_t)2 << 10)
#define LAST_SLAB  ((size_t)1 << 20)

typedef struct Parser {
    const char* at;
    const char* end;
    const char* line_start;
    int line;
    int depth;
    int values;
    int most_values;
    size_t most_bytes;
    bool packs;                               // lists of many numbers are packed
    const char* keys[CR_JSON_MAX_DEPTH + 1];  // of the value being read, by depth; NULL in arrays
    crArena* arena;
    unsigned char* slab;  // free part of the newest block
    size_t room;          // bytes in it
    size_t next_slab;     // size of the next one
    crError* error;
} Parser;

static crStatus fail(const Parser* p, crStatus status, const char* where, const char* field,
                     const char* message) {
    cr_error_set(p->error, status, field, "%s", message);
    if (p->error != NULL) {
        p->error->line = p->line;
        p->error->column = (int)(where - p->line_start) + 1;
    }
    return status;
}

static crStatus syntax(const Parser* p, const char* where, const char* message) {
    return fail(p, CR_ERR_SYNTAX, where, "", where == p->end ? "the text ends too early" : message);
}

// the keys that lead to the current value, joined by dots
static void path_of_json(const Parser* p, char* path, size_t size) {
    size_t used = 0;
    path[0] = '\0';
    for (int d = 0; d <= p->depth && used < size; d++) {
        if (p->keys[d] == NULL) continue;
        int wrote = snprintf(path + used, size - used, "%s%s", used > 0 ? "." : "", p->keys[d]);
        used += (size_t)wrote;
    }
}

static void* take(Parser* p, size_t size) {
    size = (size + 7u) & ~(size_t)7u;
    if (size > p->room) {
        size_t block = size > p->next_slab ? size : p->next_slab;
        unsigned char* slab = cr_arena_alloc(p->arena, block);
        if (slab == NULL) return NULL;
        p->slab = slab;
        p->room = block;
        if (p->next_slab < LAST_SLAB) p->next_slab *= 2;
    }
    void* memory = p->slab;
    p->slab += size;
    p->room -= size;
    return memory;
}

static void skip_space(Parser* p) {
    for (; p->at < p->end; p->at++) {
        if (*p->at == '\n') {
            if (p->line < INT32_MAX) p->line++;
            p->line_start = p->at + 1;
        } else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r') {
            return;
        }
    }
}

static bool is_digit_json(const Parser* p) { return p->at < p->end && *p->at >= '0' && *p->at <= '9'; }

static void skip_digits(Parser* p) {
    while (is_digit_json(p)) {
        p->at++;
    }
}

static crStatus scan_number(Parser* p) {
    if (*p->at == '-') p->at++;
    if (!is_digit_json(p)) return syntax(p, p->at, "a digit is expected after '-'");
    if (*p->at == '0') {
        p->at++;
        if (is_digit_json(p)) return syntax(p, p->at, "a number must not begin with 0 and a further digit");
    } else {
        skip_digits(p);
    }
    if (p->at < p->end && *p->at == '.') {
        p->at++;
        if (!is_digit_json(p)) return syntax(p, p->at, "a digit is expected after the decimal point");
        skip_digits(p);
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-')) p->at++;
        if (!is_digit_json(p)) return syntax(p, p->at, "a digit is expected in the exponent");
        skip_digits(p);
    }
    return CR_OK;
}

static crStatus parse_number(Parser* p, double* number) {
    const char* start = p->at;
    crStatus status = scan_number(p);
    if (status != CR_OK) return status;
    size_t length = (size_t)(p->at - start);
    if (length > CR_JSON_MAX_NUMBER) {
        return fail(p, CR_ERR_LIMIT, start, "", "a number is longer than 4096 characters");
    }
    char copy[CR_JSON_MAX_NUMBER + 1];
    memcpy(copy, start, length);
    copy[length] = '\0';
    *number = strtod(copy, NULL);
    if (!isfinite(*number)) {
        char path[sizeof p->error->field];
        path_of_json(p, path, sizeof path);
        return fail(p, CR_ERR_FINITE, start, path, "a number is too large for double precision");
    }
    return CR_OK;
}

// four hexadecimal digits, -1 where they are not
static int hex4(const char* at, const char* end) {
    if (end - at < 4) return -1;
    int code = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        code = code * 16 + digit;
    }
    return code;
}

static char* put_utf8(char* out, int code) {
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

// \uXXXX, with the second half of a surrogate pair; p->at is on the backslash
static crStatus parse_unicode(Parser* p, char** out) {
    int code = hex4(p->at + 2, p->end);
    if (code < 0) {
        // a cut-off escape is a text that ends too early, unless what is there is already wrong
        const char* bad = p->at + 2;
        while (bad < p->end && strchr("0123456789abcdefABCDEF", *bad) != NULL && *bad != '\0') {
            bad++;
        }
        return syntax(p, bad, "four hexadecimal digits are expected after \\u");
    }
    if (code == 0) return syntax(p, p->at, "\\u0000 is not accepted in a string");
    int size = 6;
    if (code >= 0xd800 && code <= 0xdfff) {
        const char* second = p->at + 6;
        int low =
            p->end - second >= 6 && second[0] == '\\' && second[1] == 'u' ? hex4(second + 2, p->end) : -1;
        if (code > 0xdbff || low < 0xdc00 || low > 0xdfff) {
            return syntax(p, p->at, "half of a surrogate pair stands alone");
        }
        code = 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00);
        size = 12;
    }
    *out = put_utf8(*out, code);
    p->at += size;
    return CR_OK;
}

static crStatus parse_escape(Parser* p, char** out) {
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    if (p->at + 1 >= p->end) return syntax(p, p->end, "");
    char c = p->at[1];
    if (c == 'u') return parse_unicode(p, out);
    const char* found = c != '\0' ? strchr(from, c) : NULL;
    if (found == NULL) return syntax(p, p->at, "unknown escape in a string");
    *(*out)++ = to[found - from];
    p->at += 2;
    return CR_OK;
}

// p->at is on the opening quote; the copy is never longer than what is between the quotes
static crStatus parse_string(Parser* p, const char** text) {
    const char* close = p->at + 1;
    while (close < p->end && *close != '"') {
        close += *close == '\\' && p->end - close > 1 ? 2 : 1;
    }
    char* out = take(p, (size_t)(close - p->at));
    if (out == NULL) return fail(p, CR_ERR_MEMORY, p->at, "", cr_status_text(CR_ERR_MEMORY));
    *text = out;
    p->at++;
    while (p->at < p->end && *p->at != '"') {
        if ((unsigned char)*p->at < 0x20) {
            return syntax(p, p->at,
                          "a line end or control character in a string must be written as an escape");
        }
        if (*p->at == '\\') {
            crStatus status = parse_escape(p, &out);
            if (status != CR_OK) return status;
            continue;
        }
        int length = cr__utf8_length(p->at, p->end);
        if (length == 0) return syntax(p, p->at, "a string is not valid UTF-8");
        memcpy(out, p->at, (size_t)length);
        out += length;
        p->at += length;
    }
    if (p->at == p->end) return syntax(p, p->end, "");
    *out = '\0';
    p->at++;
    return CR_OK;
}

static bool starts_with(const Parser* p, const char* word) {
    size_t length = strlen(word);
    return (size_t)(p->end - p->at) >= length && memcmp(p->at, word, length) == 0;
}

static crStatus parse_word(Parser* p, crJson* value) {
    static const char* const words[] = {"null", "false", "true"};
    for (int i = 0; i < 3; i++) {
        if (starts_with(p, words[i])) {
            value->type = i == 0 ? CR_JSON_NULL : CR_JSON_BOOL;
            value->number = i == 2;
            p->at += strlen(words[i]);
            return CR_OK;
        }
    }
    static const char* const not_finite[] = {"NaN", "nan", "-NaN", "-nan", "Inf", "inf", "-Inf", "-inf"};
    for (int i = 0; i < 8; i++) {
        if (starts_with(p, not_finite[i])) {
            char path[sizeof p->error->field];
            path_of_json(p, path, sizeof path);
            return fail(p, CR_ERR_FINITE, p->at, path, "NaN and Infinity are no numbers in JSON");
        }
    }
    return syntax(p, p->at, "a value is expected: an object, array, string, number, true, false or null");
}

static int by_key(const void* left, const void* right) {
    const crJson* a = *(const crJson* const*)left;
    const crJson* b = *(const crJson* const*)right;
    int order = strcmp(a->key, b->key);
    if (order != 0) return order;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    return a->column < b->column ? -1 : a->column > b->column;
}

static crStatus check_keys(Parser* p, const crJson* object) {
    if (object->count < 2) return CR_OK;
    const crJson** members = take(p, (size_t)object->count * sizeof *members);
    if (members == NULL) return fail(p, CR_ERR_MEMORY, p->at, "", cr_status_text(CR_ERR_MEMORY));
    int count = 0;
    for (const crJson* member = object->child; member != NULL; member = member->next) {
        members[count++] = member;
    }
    qsort(members, (size_t)count, sizeof *members, by_key);
    for (int i = 1; i < count; i++) {
        if (strcmp(members[i - 1]->key, members[i]->key) == 0) {
            const char* key = members[i]->key;
            char path[sizeof p->error->field];
            p->keys[p->depth] = key;
            path_of_json(p, path, sizeof path);
            cr_error_set(p->error, CR_ERR_SYNTAX, path, "%.60s: is given twice in one object", key);
            if (p->error != NULL) {
                p->error->line = members[i]->line;
                p->error->column = members[i]->column;
            }
            return CR_ERR_SYNTAX;
        }
    }
    return CR_OK;
}

static crStatus parse_value(Parser* p, const char* key, crJson** result);

static crStatus parse_key(Parser* p, const char** key) {
    if (p->at == p->end || *p->at != '"') return syntax(p, p->at, "a key in double quotes is expected");
    crStatus status = parse_string(p, key);
    if (status != CR_OK) return status;
    p->keys[p->depth] = *key;
    skip_space(p);
    if (p->at == p->end || *p->at != ':') return syntax(p, p->at, "':' is expected after a key");
    p->at++;
    skip_space(p);
    return CR_OK;
}

static crStatus parse_members(Parser* p, crJson* parent) {
    bool object = parent->type == CR_JSON_OBJECT;
    char close = object ? '}' : ']';
    const crJson** tail = &parent->child;
    p->at++;
    skip_space(p);
    bool first = true;
    while (p->at == p->end || *p->at != close || !first) {
        const char* key = NULL;
        crJson* child = NULL;
        crStatus status = object ? parse_key(p, &key) : CR_OK;
        if (status == CR_OK) status = parse_value(p, key, &child);
        if (status != CR_OK) return status;
        *tail = child;
        tail = (const crJson**)&child->next;
        parent->count++;
        first = false;
        p->keys[p->depth] = NULL;
        skip_space(p);
        if (p->at < p->end && *p->at == close) break;
        if (p->at == p->end || *p->at != ',') {
            return syntax(p, p->at, object ? "',' or '}' is expected" : "',' or ']' is expected");
        }
        p->at++;
        skip_space(p);
    }
    p->at++;
    return object ? check_keys(p, parent) : CR_OK;
}

// commas before the next ']', if only numbers, commas and space are there; -1 otherwise
static int commas_ahead(const Parser* p) {
    int commas = 0;
    for (const char* at = p->at + 1; at < p->end && commas < INT32_MAX; at++) {
        if (*at == ']') return commas;
        if (*at == ',') commas++;
        if (*at == '"' || *at == '[' || *at == '{' || *at == 't' || *at == 'f' || *at == 'n') return -1;
    }
    return -1;
}

// A list of numbers and nothing else into value->packed. false: it is another or a short one, or its text is
// wrong, and the parser is where it was. p->at is on the bracket.
static bool parse_packed(Parser* p, crJson* value, crStatus* status) {
    int commas = commas_ahead(p);
    if (commas + 1 < CR_JSON_PACKED) return false;
    Parser before = *p;
    double* numbers = take(p, ((size_t)commas + 1) * sizeof *numbers);
    if (numbers == NULL) {
        *status = fail(p, CR_ERR_MEMORY, p->at, "", cr_status_text(CR_ERR_MEMORY));
        return true;
    }
    crError unused;
    p->error = &unused;
    bool good = true;
    for (int i = 0; i <= commas && good; i++) {
        p->at++;
        skip_space(p);
        good = parse_number(p, &numbers[i]) == CR_OK;
        skip_space(p);
        good = good && *p->at == (i < commas ? ',' : ']');
    }
    p->error = before.error;
    if (!good) {
        *p = before;
        return false;
    }
    p->at++;
    value->packed = numbers;
    value->count = commas + 1;
    *status = CR_OK;
    return true;
}

static crStatus parse_value(Parser* p, const char* key, crJson** result) {
    if (p->at == p->end) return syntax(p, p->end, "");
    if (++p->values > p->most_values) {
        char message[48];
        snprintf(message, sizeof message, "more than %d values", p->most_values);
        return fail(p, CR_ERR_LIMIT, p->at, "", message);
    }
    crJson* value = take(p, sizeof *value);
    if (value == NULL) return fail(p, CR_ERR_MEMORY, p->at, "", cr_status_text(CR_ERR_MEMORY));
    *value = (crJson){.line = p->line, .column = (int)(p->at - p->line_start) + 1, .key = key};
    *result = value;
    char c = *p->at;
    if (c == '"') {
        value->type = CR_JSON_STRING;
        return parse_string(p, &value->text);
    }
    if ((c >= '0' && c <= '9') || (c == '-' && !starts_with(p, "-I") && !starts_with(p, "-i") &&
                                   !starts_with(p, "-N") && !starts_with(p, "-n"))) {
        value->type = CR_JSON_NUMBER;
        return parse_number(p, &value->number);
    }
    if (c != '{' && c != '[') return parse_word(p, value);
    if (p->depth >= CR_JSON_MAX_DEPTH) {
        return fail(p, CR_ERR_LIMIT, p->at, "", "more than 64 arrays or objects inside each other");
    }
    value->type = c == '{' ? CR_JSON_OBJECT : CR_JSON_ARRAY;
    p->depth++;
    p->keys[p->depth] = NULL;
    crStatus status = CR_OK;
    if (c != '[' || !p->packs || !parse_packed(p, value, &status)) status = parse_members(p, value);
    p->depth--;
    return status;
}

static crStatus parse_text(Parser* p, crJsonDoc* doc) {
    if ((size_t)(p->end - p->at) > p->most_bytes) {
        char message[48];
        snprintf(message, sizeof message, "the text is longer than %zu MiB", p->most_bytes >> 20);
        return fail(p, CR_ERR_LIMIT, p->at, "", message);
    }
    if (starts_with(p, "\xef\xbb\xbf")) p->at += 3;
    skip_space(p);
    crStatus status = parse_value(p, NULL, &doc->root);
    if (status != CR_OK) return status;
    skip_space(p);
    if (p->at < p->end) return syntax(p, p->at, "nothing may follow the value");
    return CR_OK;
}

static crStatus parse(Parser p, const char* text, size_t size, crJsonDoc* doc, crError* error) {
    if (doc != NULL) *doc = (crJsonDoc){0};
    if (text == NULL) return cr__io_missing(error, "text");
    if (doc == NULL) return cr__io_missing(error, "doc");
    if (p.line < 1 || p.line > CR_JSON_MAX_LINE)
        return cr_error_set(error, CR_ERR_RANGE, "first_line", "first_line: is %d, must be 1 to %d", p.line,
                            CR_JSON_MAX_LINE);
    cr_arena_create(&doc->arena, NULL, 0);
    p.at = p.line_start = text;
    p.end = text + size;
    p.arena = &doc->arena;
    p.next_slab = FIRST_SLAB;
    p.error = error;
    // strtod reads the decimal point of the locale
    crPlainNumbers plain;
    crStatus status = CR_ERR_MEMORY;
    if (!cr__plain_begin(&plain)) {
        fail(&p, status, text, "", cr_status_text(status));
    } else {
        status = parse_text(&p, doc);
        cr__plain_end(&plain);
    }
    if (status != CR_OK) cr_json_free(doc);
    return status;
}

crStatus cr_json_parse(const char* text, size_t size, int first_line, crJsonDoc* doc, crError* error) {
    Parser p = {.line = first_line, .most_values = CR_JSON_MAX_VALUES, .most_bytes = CR_JSON_MAX_SIZE};
    return parse(p, text, size, doc, error);
}

crStatus cr_json_parse_data(const char* text, size_t size, crJsonDoc* doc, crError* error) {
    Parser p = {
        .line = 1, .most_values = CR_JSON_MAX_DATA_VALUES, .most_bytes = CR_JSON_MAX_DATA, .packs = true};
    return parse(p, text, size, doc, error);
}

void cr_json_free(crJsonDoc* doc) {
    if (doc == NULL) return;
    cr_arena_destroy(&doc->arena);
    *doc = (crJsonDoc){0};
}

const crJson* cr_json_get(const crJson* object, const char* key) {
    if (object == NULL || key == NULL || object->type != CR_JSON_OBJECT) return NULL;
    for (const crJson* member = object->child; member != NULL; member = member->next) {
        if (strcmp(member->key, key) == 0) return member;
    }
    return NULL;
}

const char* cr_json_type_name(crJsonType type) {
    static const char* const names[] = {"null",     "true or false", "a number",
                                        "a string", "an array",      "an object"};
    return (unsigned)type < sizeof names / sizeof names[0] ? names[type] : "unknown";
}
