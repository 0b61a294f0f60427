// import.c - a model file into the tree of a scene: which format, notes on what was left out, refusals.
//
// The importers mark what they use; what has no mark at the end becomes a note. Numbers are read in the C
// locale whatever the program's is. Fails: the first refusal, with line and column; in an included file its
// name stands in the message.
#include "io/import.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/argument.h"
#include "io/import_parts.h"
#include "io/system.h"

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

void cr__import_leftovers(crImporting* im, const crXml* root, const char* const* ignored_elements,
                          const char* const* ignored_attrs) {
    if (!cr__import_ok(im)) return;
    if (listed(root->name, ignored_elements)) {
        cr__import_note(im, CR_NOTE_IGNORED, root, NULL, "<%.60s> does not act on bodies", root->name);
        return;
    }
    if (!root->used) {
        cr__import_note(im, CR_NOTE_UNSUPPORTED, root, NULL, "<%.60s> in <%.60s> is not supported",
                        root->name, root->parent != NULL ? root->parent->name : "");
        return;
    }
    for (const crXmlAttr* attr = root->attrs; attr != NULL; attr = attr->next) {
        if (attr->used || strcmp(attr->name, "name") == 0 || strcmp(attr->name, "model") == 0) continue;
        bool ignored = listed(attr->name, ignored_attrs);
        cr__import_note(im, ignored ? CR_NOTE_IGNORED : CR_NOTE_UNSUPPORTED, root, attr, "<%.60s> %.60s %s",
                        root->name, attr->name, ignored ? "does not act on bodies" : "is not supported");
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
static crStatus read_whole(const char* path, size_t most, char** bytes, size_t* size, crError* error) {
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
    crStatus status = read_whole(path, most, &text, size, &error);
    if (status != CR_OK) {
        cr__import_refuse(im, element, NULL, status, "%s", error.message);
        return false;
    }
    *bytes = cr__import_alloc(im, *size + 1);
    if (*bytes != NULL) memcpy(*bytes, text, *size + 1);
    free(text);
    return *bytes != NULL;
}

bool cr_import_is_model(const char* path) {
    static const char* const endings[] = {".xml", ".mjcf", ".urdf", ".sdf", ".world"};
    if (path == NULL) return false;
    size_t length = strlen(path);
    for (int i = 0; i < 5; i++) {
        size_t own = strlen(endings[i]);
        if (length > own && strcasecmp(path + length - own, endings[i]) == 0) return true;
    }
    if (strcmp(path, "-") == 0) return false;
    FILE* file = fopen(path, "rb");
    if (file == NULL) return false;
    int c = getc(file);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0xef || c == 0xbb || c == 0xbf) {
        c = getc(file);
    }
    fclose(file);
    return c == '<';
}

const char* cr_import_format_name(crImportFormat format) {
    static const char* const names[] = {"none", "MJCF", "URDF", "SDF"};
    return (unsigned)format < sizeof names / sizeof names[0] ? names[format] : NULL;
}

static void import_root(crImporting* im, crXml* root) {
    static const char* const names[] = {"mujoco", "robot", "sdf"};
    static const crImportFormat formats[] = {CR_IMPORT_MJCF, CR_IMPORT_URDF, CR_IMPORT_SDF};
    static void (*const importers[])(crImporting*, crXml*) = {cr__import_mjcf, cr__import_urdf,
                                                              cr__import_sdf};
    root->used = true;
    for (int i = 0; i < 3; i++) {
        if (strcmp(root->name, names[i]) != 0) continue;
        im->result->format = formats[i];
        importers[i](im, root);
        return;
    }
    cr__import_refuse(im, root, NULL, CR_ERR_NAME,
                      "is no model: the root must be <mujoco>, <robot> (URDF) or <sdf>");
}

static int by_place(const void* a, const void* b) {
    const crNote* x = a;
    const crNote* y = b;
    int file = strcmp(x->file, y->file);
    if (file != 0) return file;
    if (x->line != y->line) return x->line - y->line;
    return x->column != y->column ? x->column - y->column : strcmp(x->text, y->text);
}

static crStatus import_in_locale(const char* text, size_t size, crImporting* im) {
    crXml* root = NULL;
    const char* name = im->path != NULL ? im->path : "text";
    im->status = cr_xml_parse(text, size, name, &im->arena, &root, im->error);
    if (im->status == CR_OK && !cr_tree_begin(&im->tree, &im->result->scene))
        cr__import_refuse(im, NULL, NULL, CR_ERR_MEMORY, "out of memory");
    if (im->status == CR_OK) import_root(im, root);
    if (im->tree.full) cr__import_refuse(im, NULL, NULL, CR_ERR_MEMORY, "out of memory");
    if (im->status == CR_OK && im->result->note_count > 0)
        qsort(im->result->notes, (size_t)im->result->note_count, sizeof(crNote), by_place);
    return im->status;
}

crStatus cr_import_text(const char* text, size_t size, const char* path, const crImportOptions* options,
                        crImport* import, crError* error) {
    static const crImportOptions usual = {0};
    if (import != NULL) *import = (crImport){0};
    if (text == NULL) return cr__io_missing(error, "text");
    if (import == NULL) return cr__io_missing(error, "import");
    crImporting im = {.options = options != NULL ? options : &usual, .result = import, .error = error};
    cr_arena_create(&im.arena, NULL, 0);
    cr_arena_create(&import->arena, NULL, 0);
    im.path = path;
    if (path != NULL) {
        const char* slash = strrchr(path, '/');
        im.folder = cr__import_format(&im, "%.*s", slash != NULL ? (int)(slash - path + 1) : 0, path);
    }
    crPlainNumbers plain;
    bool begun = cr__plain_begin(&plain);
    crStatus status = import_in_locale(text, size, &im);
    if (begun) cr__plain_end(&plain);
    cr_arena_destroy(&im.arena);
    if (status != CR_OK) cr_import_free(import);
    return status;
}

crStatus cr_import_file(const char* path, const crImportOptions* options, crImport* import, crError* error) {
    char* text = NULL;
    size_t size = 0;
    if (import != NULL) *import = (crImport){0};
    if (path == NULL) return cr__io_missing(error, "path");
    if (import == NULL) return cr__io_missing(error, "import");
    crStatus status = read_whole(path, CR_XML_MAX_SIZE, &text, &size, error);
    if (status == CR_OK) status = cr_import_text(text, size, path, options, import, error);
    free(text);
    return status;
}

void cr_import_free(crImport* import) {
    if (import == NULL) return;
    cr_json_free(&import->scene);
    cr_arena_destroy(&import->arena);
    *import = (crImport){0};
}
