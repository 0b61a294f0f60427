// import_parts.c - what the readers of models share: refusals, notes, memory, files.
//
// Fails: the first refusal is kept, with line and column; in an included file its name stands in the message.
#include "io/import_parts.h"
#include "io/names.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NOTES 1000

bool cr__import_ok(const crImporting* im) { return im->status == CR_OK; }

void cr__import_refuse(crImporting* im, const crXml* element, const crXmlAttr* attr, crStatus status,
                       const char* format, ...) {
    if (im->status != CR_OK) return;
    char message[160];
    va_list arguments;
    va_start(arguments, format);
    cr_error_format(message, sizeof message, format, arguments);
    va_end(arguments);
    bool other = element != NULL && im->path != NULL && strcmp(element->file, im->path) != 0;
    const char* slash = other ? strrchr(element->file, '/') : NULL;
    im->status = cr_error_set(im->error, status,
                              attr != NULL      ? attr->name
                              : element != NULL ? element->name
                                                : "",
                              "%s%s<%s>%s%s: %s", other ? slash != NULL ? slash + 1 : element->file : "",
                              other ? ": " : "", element != NULL ? element->name : "model",
                              attr != NULL ? " " : "", attr != NULL ? attr->name : "", message);
    if (im->error == NULL || element == NULL) return;
    im->error->line = attr != NULL ? attr->line : element->line;
    im->error->column = attr != NULL ? attr->column : element->column;
}

void cr__import_note(crImporting* im, crNoteLevel level, const crXml* element, const crXmlAttr* attr,
                     const char* format, ...) {
    char text[sizeof((crNote*)0)->text];
    va_list arguments;
    va_start(arguments, format);
    cr_error_format(text, sizeof text, format, arguments);
    va_end(arguments);
    crImport* to = im->result;
    for (int i = 0; i < to->note_count; i++) {
        if (to->notes[i].level != level || strcmp(to->notes[i].text, text) != 0) continue;
        to->notes[i].count++;
        return;
    }
    if (to->note_count == im->note_capacity) {
        int larger = 2 * im->note_capacity + 16;
        crNote* more =
            larger <= MOST_NOTES ? cr_arena_alloc(&to->arena, (size_t)larger * sizeof *more) : NULL;
        if (more == NULL) {
            cr__import_refuse(im, element, attr, CR_ERR_LIMIT, "too many different things are not supported");
            return;
        }
        if (to->note_count > 0) memcpy(more, to->notes, (size_t)to->note_count * sizeof *more);
        to->notes = more;
        im->note_capacity = larger;
    }
    crNote* note = &to->notes[to->note_count++];
    *note = (crNote){.level = level, .count = 1};
    note->line = attr != NULL ? attr->line : element->line;
    note->column = attr != NULL ? attr->column : element->column;
    size_t size = strlen(element->file) + 1;
    char* file = cr_arena_alloc(&to->arena, size);
    note->file = file != NULL ? memcpy(file, element->file, size) : "";
    memcpy(note->text, text, sizeof text);
}

static bool listed(const char* name, const char* const* names) {
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

// ": " and what it means that an attribute is left out
static const char* effect_of(const crImporting* im, const char* attr) {
    for (const char* const* e = im->effects; e != NULL && *e != NULL; e += 2) {
        if (strcmp(e[0], attr) == 0) return e[1];
    }
    return "";
}

void cr__import_leftovers(crImporting* im, const crXml* root, const char* const* ignored_elements,
                          const char* const* ignored_attrs) {
    if (!cr__import_ok(im)) return;
    if (!root->used && listed(root->name, ignored_elements)) {
        cr__import_note(im, CR_NOTE_IGNORED, root, NULL, "<%.60s> does not act on bodies", root->name);
        return;
    }
    // names with a prefix are of another format, such as xacro's
    bool outside = im->schema != NULL && strchr(root->name, ':') == NULL && !listed(root->name, im->schema);
    if (!root->used && outside) {
        const char* near = cr_name_nearest_of(root->name, im->schema);
        cr__import_refuse(im, root, NULL, CR_ERR_NAME, "is no element of %s%s%s%s",
                          cr_import_format_name(im->result->format), near != NULL ? "; did you mean <" : "",
                          near != NULL ? near : "", near != NULL ? ">?" : "");
        return;
    }
    if (!root->used) {
        cr__import_note(im, CR_NOTE_UNSUPPORTED, root, NULL, "<%.60s> in <%.60s> is not supported",
                        root->name, root->parent != NULL ? root->parent->name : "");
        return;
    }
    for (const crXmlAttr* attr = root->attrs; attr != NULL; attr = attr->next) {
        bool routine = strcmp(attr->name, "name") == 0 || strcmp(attr->name, "model") == 0 ||
                       strncmp(attr->name, "xmlns", 5) == 0;
        if (attr->used || routine) continue;
        bool ignored = listed(attr->name, ignored_attrs);
        cr__import_note(im, ignored ? CR_NOTE_IGNORED : CR_NOTE_UNSUPPORTED, root, attr, "<%.60s> %.60s %s%s",
                        root->name, attr->name, ignored ? "does not act on bodies" : "is not supported",
                        ignored ? "" : effect_of(im, attr->name));
    }
    for (const crXml* child = root->child; child != NULL; child = child->next) {
        cr__import_leftovers(im, child, ignored_elements, ignored_attrs);
    }
}

void* cr__import_alloc(crImporting* im, size_t size) {
    if (!cr__import_ok(im)) return NULL;
    void* memory = cr_arena_alloc(&im->arena, size);
    if (memory == NULL) {
        cr__import_refuse(im, NULL, NULL, CR_ERR_MEMORY, "out of memory");
        return NULL;
    }
    return memset(memory, 0, size);
}

void* cr__import_grow(crImporting* im, void* array, int count, int* capacity, size_t size, int most,
                      const crXml* element) {
    if (!cr__import_ok(im)) return NULL;
    if (count >= most) {
        cr__import_refuse(im, element, NULL, CR_ERR_LIMIT, "more than %d of these", most);
        return NULL;
    }
    if (count < *capacity) return array;
    int larger = 2 * *capacity + 16;
    char* more = cr__import_alloc(im, (size_t)larger * size);
    if (more == NULL) return NULL;
    if (count > 0) memcpy(more, array, (size_t)count * size);
    *capacity = larger;
    return more;
}

char* cr__import_format(crImporting* im, const char* format, ...) {
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char* own = cr__import_alloc(im, strlen(text) + 1);
    return own != NULL ? strcpy(own, text) : NULL;
}

// the whole file into malloc'd memory with a zero after it, or an error
crStatus cr__import_load(const char* path, size_t most, char** bytes, size_t* size, crError* error) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) return cr_error_set(error, CR_ERR_FILE, "file", "%.150s cannot be opened", path);
    size_t capacity = 65536;
    char* text = malloc(capacity + 1);
    size_t got = 0;
    crStatus status = text != NULL ? CR_OK : CR_ERR_MEMORY;
    while (status == CR_OK) {
        size_t now = fread(text + got, 1, capacity - got, file);
        got += now;
        if (now == 0) break;
        if (got > most) status = CR_ERR_LIMIT;
        if (got < capacity || status != CR_OK) continue;
        char* more = realloc(text, 2 * capacity + 1);
        if (more == NULL) status = CR_ERR_MEMORY;
        if (more != NULL) {
            text = more;
            capacity *= 2;
        }
    }
    if (status == CR_OK && ferror(file)) status = CR_ERR_FILE;
    fclose(file);
    if (status != CR_OK) {
        free(text);
        return cr_error_set(error, status, "file", "%.100s: %s", path,
                            status == CR_ERR_LIMIT  ? "the file is too large"
                            : status == CR_ERR_FILE ? "cannot be read"
                                                    : "out of memory");
    }
    text[got] = '\0';
    *bytes = text;
    *size = got;
    return CR_OK;
}

bool cr__import_read(crImporting* im, const crXml* element, const char* path, size_t most, char** bytes,
                     size_t* size) {
    crError error = {0};
    char* text = NULL;
    if (!cr__import_ok(im)) return false;
    if (im->folder == NULL) {
        cr__import_refuse(im, element, NULL, CR_ERR_FILE, "a model from memory cannot name other files");
        return false;
    }
    crStatus status = cr__import_load(path, most, &text, size, &error);
    if (status != CR_OK) {
        cr__import_refuse(im, element, NULL, status, "%s", error.message);
        return false;
    }
    *bytes = cr__import_alloc(im, *size + 1);
    if (*bytes != NULL) memcpy(*bytes, text, *size + 1);
    free(text);
    return *bytes != NULL;
}

const char* cr_import_format_name(crImportFormat format) {
    static const char* const names[] = {"none", "MJCF", "URDF", "SDF"};
    return (unsigned)format < sizeof names / sizeof names[0] ? names[format] : NULL;
}
