// model.c - scenes and models as the verbs take them: read or imported, then changed by what the user sets.
//
// A file that is laid over the scene, and values set by path, come after the import: that is how a model gets
// what its format cannot say. Fails: as the readers do.
#include "model.h"

#include <string.h>

#include "command.h"
#include "io/input.h"
#include "io/json_merge.h"
#include "io/json_set.h"

static int take_set(const char* verb, ModelOptions* options, char* argument) {
    char* equals = strchr(argument, '=');
    if (equals == NULL) return -usage_error(verb, "--set needs PATH=VALUE, is '%s'", argument);
    if (options->set_count == MOST_SETS) return -usage_error(verb, "at most %d values can be set", MOST_SETS);
    *equals = '\0';
    options->paths[options->set_count] = argument;
    options->values[options->set_count++] = equals + 1;
    return 2;
}

int take_model_option(const char* verb, ModelOptions* options, int count, char** arguments) {
    static const char* const valued[] = {"--key", "--package", "--with", "--set"};
    const char* name = arguments[0];
    if (strcmp(name, "--strict") == 0) {
        options->strict = true;
        return 1;
    }
    if (strcmp(name, "--fixed-base") == 0) {
        options->import.fixed_base = true;
        return 1;
    }
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, valued[i]) != 0) continue;
        if (count < 2) return -usage_error(verb, "%s needs a value", name);
        if (i == 3) return take_set(verb, options, arguments[1]);
        if (i == 0) options->import.key = arguments[1];
        if (i == 2) options->with = arguments[1];
        if (i != 1) return 2;
        if (options->import.package_count == MOST_PACKAGES)
            return -usage_error(verb, "at most %d folders of packages", MOST_PACKAGES);
        options->packages[options->import.package_count++] = arguments[1];
        return 2;
    }
    return 0;
}

// the one JSON value of a file
static crStatus read_json(const char* path, crJsonDoc* doc, crError* error) {
    crInput input;
    crStatus status = cr_input_open(&input, path, error);
    if (status != CR_OK) return status;
    int line = 0;
    bool any = cr_input_next(&input, doc, &line, error);
    if (!any) cr_error_set(error, CR_ERR_SYNTAX, "", "the scene is empty");
    crJsonDoc more;
    crError ignored = {0};
    if (any && doc->root != NULL && cr_input_next(&input, &more, &line, &ignored)) {
        cr_json_free(&more);
        cr_json_free(doc);
        *doc = (crJsonDoc){0};
        cr_error_set(error, CR_ERR_SYNTAX, "", "one scene at a time: another value begins here");
        error->line = line;
        error->column = 1;
    }
    cr_input_close(&input);
    return any && doc->root != NULL ? CR_OK : error->status;
}

static crStatus lay_over(const char* path, crJsonDoc* doc, crError* error) {
    crJsonDoc over = {0};
    crStatus status = read_json(path, &over, error);
    if (status == CR_OK) status = cr_json_merge(doc, over.root, error);
    cr_json_free(&over);
    return status;
}

crStatus read_model_tree(const ModelOptions* options, crImport* import, crError* error) {
    *import = (crImport){0};
    crImportOptions how = options->import;
    how.packages = options->packages;
    crStatus status = cr_import_is_model(options->path) ? cr_import_file(options->path, &how, import, error)
                                                        : read_json(options->path, &import->scene, error);
    if (status != CR_OK) return status;
    if (options->with != NULL) status = lay_over(options->with, &import->scene, error);
    bool object = import->scene.root->type == CR_JSON_OBJECT;
    for (int i = 0; i < options->set_count && status == CR_OK && object; i++) {
        status = cr_json_set(&import->scene, options->paths[i], options->values[i], error);
    }
    if (status != CR_OK) cr_import_free(import);
    return status;
}

bool print_notes(const crImport* import, bool ignored, bool strict) {
    int acting = 0;
    int silent = 0;
    for (int i = 0; i < import->note_count; i++) {
        const crNote* note = &import->notes[i];
        bool acts = note->level == CR_NOTE_UNSUPPORTED;
        acting += acts;
        silent += !acts && !ignored;
        if (!acts && !ignored) continue;
        print_plain(stderr, note->file);
        fprintf(stderr, ":%d:%d: %s: ", note->line, note->column,
                acts ? strict ? "error" : "warning" : "note");
        print_plain(stderr, note->text);
        if (note->count > 1) fprintf(stderr, " (%d times)", note->count);
        putc('\n', stderr);
    }
    if (silent > 0)
        fprintf(stderr, "%d kind%s of things that do not act on bodies left out (carom info lists them)\n",
                silent, silent == 1 ? "" : "s");
    return acting == 0 || !strict;
}

crStatus read_scene_tree(const char* path, bool strict, crJsonDoc* doc, crError* error) {
    if (!cr_import_is_model(path)) return read_json(path, doc, error);
    crImport import;
    crStatus status = cr_import_file(path, NULL, &import, error);
    if (status != CR_OK) return status;
    if (!print_notes(&import, false, strict))
        status = cr_error_set(error, CR_ERR_FIELD, "", "parts of the model are not supported (--strict)");
    if (status == CR_OK) {
        *doc = import.scene;
        import.scene = (crJsonDoc){0};
    }
    cr_import_free(&import);
    return status;
}
