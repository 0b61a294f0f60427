// json_set.c - changing one value of a JSON tree by its path.
//
// The path is walked key by key; the last value is replaced by a copy of the new one in the document's
// arena, and keeps its place among its siblings. Fails: see json_set.h; the tree is unchanged but for
// objects made on the way.
#include "io/json_set.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "io/argument.h"

#define KEY 64

// one part of a path: a key, or the index of an item
typedef struct Part {
    char key[KEY];
    int index;  // -1: by key
} Part;

static crStatus bad_path(const char* path, crError* error) {
    return cr_error_set(error, CR_ERR_SYNTAX, "set",
                        "set: \"%.60s\" is no path; write step.dt, bodies[0].mass or bodies.NAME.mass", path);
}

// the part at *at, and *at after it
static bool next_part(const char** at, bool first, Part* part) {
    const char* p = *at;
    if (*p == '[') {
        char* end = NULL;
        long index = strtol(p + 1, &end, 10);
        if (!isdigit((unsigned char)p[1]) || *end != ']' || index > CR_JSON_MAX_VALUES) return false;
        part->index = (int)index;
        *at = end + 1;
        return true;
    }
    if (!first && *p++ != '.') return false;
    size_t length = strcspn(p, ".[");
    if (length == 0 || length >= KEY) return false;
    part->index = -1;
    snprintf(part->key, sizeof part->key, "%.*s", (int)length, p);
    *at = p + length;
    return true;
}

// the member of an object or the item of a list, NULL where there is none
static const crJson* find_set(const crJson* in, const Part* part) {
    int index = 0;
    for (const crJson* child = in->child; child != NULL; child = child->next, index++) {
        const crJson* name = in->type == CR_JSON_ARRAY ? cr_json_get(child, "name") : NULL;
        bool named = name != NULL && name->type == CR_JSON_STRING && strcmp(name->text, part->key) == 0;
        bool keyed = child->key != NULL && strcmp(child->key, part->key) == 0;
        if (part->index >= 0 ? index == part->index && in->type == CR_JSON_ARRAY : named || keyed)
            return child;
    }
    return NULL;
}

static char* copy_text_set(crArena* arena, const char* text) {
    size_t size = strlen(text) + 1;
    char* copy = cr_arena_alloc(arena, size);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

// a new member, an empty object, at the end
static crJson* append(crJsonDoc* doc, crJson* object, const char* key) {
    crJson* made = cr_arena_alloc(&doc->arena, sizeof *made);
    char* name = copy_text_set(&doc->arena, key);
    if (made == NULL || name == NULL) return NULL;
    *made = (crJson){.type = CR_JSON_OBJECT, .key = name};
    crJson* last = (crJson*)object->child;
    while (last != NULL && last->next != NULL) {
        last = (crJson*)last->next;
    }
    *(last != NULL ? &last->next : &object->child) = made;
    object->count++;
    return made;
}

// what from is, without its key and siblings
static bool copy_value_set(crJsonDoc* doc, const crJson* from, crJson* to) {
    const char* key = to->key;
    const crJson* next = to->next;
    *to = *from;
    to->key = key;
    to->next = next;
    to->line = 0;
    to->column = 0;
    to->child = NULL;
    if (from->text != NULL && (to->text = copy_text_set(&doc->arena, from->text)) == NULL) return false;
    const crJson** tail = &to->child;
    for (const crJson* child = from->child; child != NULL; child = child->next) {
        crJson* made = cr_arena_alloc(&doc->arena, sizeof *made);
        if (made == NULL) return false;
        *made = (crJson){0};
        if (child->key != NULL && (made->key = copy_text_set(&doc->arena, child->key)) == NULL) return false;
        if (!copy_value_set(doc, child, made)) return false;
        *tail = made;
        tail = &made->next;
    }
    return true;
}

static crStatus step_into(crJsonDoc* doc, const char* path, const Part* part, crJson** at, crError* error) {
    crJson* in = *at;
    if (in->type != CR_JSON_OBJECT && in->type != CR_JSON_ARRAY) {
        return cr_error_set(error, CR_ERR_TYPE, "set", "set: \"%.60s\" leads into %s", path,
                            cr_json_type_name(in->type));
    }
    // the tree is the document's own
    *at = (crJson*)find_set(in, part);
    if (*at != NULL) return CR_OK;
    if (in->type == CR_JSON_ARRAY || part->index >= 0) {
        return cr_error_set(error, CR_ERR_MISSING, "set", "set: \"%.60s\": no such item in a list of %d",
                            path, in->count);
    }
    *at = append(doc, in, part->key);
    return *at != NULL ? CR_OK : cr_error_set(error, CR_ERR_MEMORY, "set", "set: out of memory");
}

// people write .5 and -.5 on a command line, JSON wants 0.5 and -0.5
static const char* with_zero(const char* value, char room[CR_JSON_NUMBER_TEXT]) {
    bool minus = *value == '-';
    if (value[minus] != '.' || !isdigit((unsigned char)value[minus + 1])) return value;
    int length = snprintf(room, CR_JSON_NUMBER_TEXT, "%s0%s", minus ? "-" : "", value + minus);
    return length < CR_JSON_NUMBER_TEXT ? room : value;
}

crStatus cr_json_set(crJsonDoc* doc, const char* path, const char* value, crError* error) {
    if (doc == NULL || doc->root == NULL) return cr__io_missing(error, "doc");
    if (path == NULL) return cr__io_missing(error, "path");
    if (value == NULL) return cr__io_missing(error, "value");
    crJson* at = doc->root;
    const char* rest = path;
    do {
        Part part;
        if (!next_part(&rest, rest == path, &part)) return bad_path(path, error);
        crStatus status = step_into(doc, path, &part, &at, error);
        if (status != CR_OK) return status;
    } while (*rest != '\0');
    crJsonDoc parsed;
    crJson text = {.type = CR_JSON_STRING, .text = value};
    char room[CR_JSON_NUMBER_TEXT];
    const char* given = with_zero(value, room);
    bool json = cr_json_parse(given, strlen(given), 1, &parsed, NULL) == CR_OK;
    bool copied = copy_value_set(doc, json ? parsed.root : &text, at);
    if (json) cr_json_free(&parsed);
    return copied ? CR_OK : cr_error_set(error, CR_ERR_MEMORY, "set", "set: out of memory");
}

// keys of an object, or names of the items of a list, as many as fit
static void list_names(const crJson* in, char* text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (const crJson* child = in->child; child != NULL && length + 8 < size; child = child->next) {
        const crJson* named = in->type == CR_JSON_ARRAY ? cr_json_get(child, "name") : NULL;
        const char* name = child->key != NULL                               ? child->key
                           : named != NULL && named->type == CR_JSON_STRING ? named->text
                                                                            : NULL;
        if (name == NULL || strcmp(name, "comment") == 0) continue;
        if (length + strlen(name) + 6 >= size) {
            snprintf(text + length, size - length, " ...");
            return;
        }
        length += (size_t)snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "", name);
    }
}

crStatus cr_json_at(const crJson* root, const char* path, const crJson** value, crError* error) {
    if (value != NULL) *value = NULL;
    if (root == NULL) return cr__io_missing(error, "root");
    if (path == NULL) return cr__io_missing(error, "path");
    if (value == NULL) return cr__io_missing(error, "value");
    const crJson* at = root;
    const char* rest = path;
    do {
        const char* before = rest;
        Part part;
        if (!next_part(&rest, rest == path, &part)) return bad_path(path, error);
        if (at->type != CR_JSON_OBJECT && at->type != CR_JSON_ARRAY)
            return cr_error_set(error, CR_ERR_TYPE, path, "\"%.60s\" leads into %s", path,
                                cr_json_type_name(at->type));
        const crJson* found = find_set(at, &part);
        if (found == NULL) {
            char names[100];
            list_names(at, names, sizeof names);
            crStatus status = part.index >= 0 ? CR_ERR_MISSING : CR_ERR_FIELD;
            return cr_error_set(error, status, path, "\"%.48s\": nothing there after '%.*s'; there is %s",
                                path, (int)(before - path < 24 ? before - path : 24), path,
                                names[0] != '\0' ? names : "no name");
        }
        at = found;
    } while (*rest != '\0');
    *value = at;
    return CR_OK;
}
