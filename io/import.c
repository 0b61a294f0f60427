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

static int by_place_import(const void* a, const void* b) {
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
        qsort(im->result->notes, (size_t)im->result->note_count, sizeof(crNote), by_place_import);
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
    crStatus status = cr__import_load(path, CR_XML_MAX_SIZE, &text, &size, error);
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
