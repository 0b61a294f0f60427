// model.c - models of others as scenes for verbs: imported, with notes on what was left out.
//
// A file that is laid over the scene comes after the import and before values set by path: that is how a model
// gets what its format cannot say. Fails: as the importers do; unknown-field where --strict and something that
// acts is not supported.
#include "model.h"

#include <string.h>

#include "command.h"
#include "io/input.h"
#include "io/json_merge.h"

int model_option(SceneInput* input, const char* name, char* value, bool* taken) {
    static const char* const valued[] = {"--key", "--package", "--with"};
    *taken = false;
    if (strcmp(name, "--fixed-base") == 0) {
        input->how.fixed_base = true;
        return EXIT_GOOD;
    }
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, valued[i]) != 0) continue;
        if (value == NULL) return usage_error(input->verb, "%s needs a value", name);
        *taken = true;
        if (i == 0) input->how.key = value;
        if (i == 2) input->with = value;
        if (i != 1) return EXIT_GOOD;
        if (input->how.package_count == SCENE_PACKAGES)
            return usage_error(input->verb, "at most %d folders of packages", SCENE_PACKAGES);
        input->packages[input->how.package_count++] = value;
        return EXIT_GOOD;
    }
    return -1;
}

// to standard error; how many act
static int print_notes(const SceneInput* input) {
    const crImport* import = &input->imported;
    int acting = 0;
    for (int i = 0; i < import->note_count; i++) {
        const crNote* note = &import->notes[i];
        bool acts = note->level == CR_NOTE_UNSUPPORTED;
        acting += acts;
        if (!acts && !input->every_note) continue;
        print_plain(stderr, note->file);
        fprintf(stderr, ":%d:%d: %s: ", note->line, note->column,
                acts ? input->strict ? "error" : "warning" : "note");
        print_plain(stderr, note->text);
        if (note->count > 1) fprintf(stderr, " (%d times)", note->count);
        putc('\n', stderr);
    }
    return acting;
}

crStatus model_open(SceneInput* input, crError* error) {
    input->how.packages = input->packages;
    crStatus status = cr_import_file(input->path, &input->how, &input->imported, error);
    if (status != CR_OK) return status;
    input->doc = input->imported.scene;
    input->imported.scene = (crJsonDoc){0};
    int acting = input->json ? 0 : print_notes(input);
    for (int i = 0; i < input->imported.note_count && input->json; i++) {
        acting += input->imported.notes[i].level == CR_NOTE_UNSUPPORTED;
    }
    if (acting == 0 || !input->strict) return CR_OK;
    return cr_error_set(error, CR_ERR_FIELD, "", "parts of the model are not supported (--strict)");
}

crStatus model_lay_over(SceneInput* input, crError* error) {
    if (input->with == NULL) return CR_OK;
    crInput file;
    crJsonDoc over = {0};
    int line = 0;
    crStatus status = cr_input_open(&file, input->with, error);
    if (status != CR_OK) return status;
    bool any = cr_input_next(&file, &over, &line, error);
    if (!any) cr_error_set(error, CR_ERR_SYNTAX, "", "%.100s is empty", input->with);
    cr_input_close(&file);
    status = any && over.root != NULL ? cr_json_merge(&input->doc, over.root, error) : error->status;
    cr_json_free(&over);
    return status;
}
