// open.c - a scene or model file, or a bundled scene by its name, as a scene and its world.
//
// A path with an ending of models, or a file that begins with '<', is imported; another file is JSON. A name
// that is no file is looked up among the bundled scenes. Fails: CR_ERR_FILE if there is neither, and what the
// readers refuse.
#include <string.h>
#include <unistd.h>

#include "io/argument.h"
#include "io/bundled.h"
#include "io/import.h"
#include "io/input.h"
#include "io/names.h"
#include "io/scene.h"

static const char* bundled_name(const void* ctx, int index) {
    (void)ctx;
    return cr__bundled[index].name;
}

const char* cr_scene_bundled(int index) {
    for (int i = 0; index >= 0 && cr__bundled[i].name != NULL; i++) {
        if (i == index) return cr__bundled[i].name;
    }
    return NULL;
}

static crStatus read_bundled(const char* name, crJsonDoc* doc, crError* error) {
    for (const crBundled* b = cr__bundled; b->name != NULL; b++) {
        if (strcmp(b->name, name) == 0) return cr_json_parse(b->text, strlen(b->text), 1, doc, error);
    }
    const char* near = strpbrk(name, "/.") == NULL ? cr_name_nearest(name, bundled_name, NULL) : NULL;
    return near != NULL ? cr_error_set(error, CR_ERR_FILE, "path",
                                       "path: no file or scene \"%.80s\"; did you mean \"%s\"?", name, near)
                        : cr_error_set(error, CR_ERR_FILE, "path", "path: no file \"%.150s\"", name);
}

static crStatus read_model(const char* path, const crLog* log, crJsonDoc* doc, crError* error) {
    crImport import = {0};
    crStatus status = cr_import_file(path, NULL, &import, error);
    if (status != CR_OK) return status;
    for (int i = 0; i < import.note_count; i++) {
        const crNote* note = &import.notes[i];
        cr_log(log, note->level == CR_NOTE_UNSUPPORTED ? CR_LOG_WARNING : CR_LOG_INFO, "%s:%d:%d: %s",
               note->file, note->line, note->column, note->text);
    }
    *doc = import.scene;
    import.scene = (crJsonDoc){0};
    cr_import_free(&import);
    return CR_OK;
}

static void log_centres(const crScene* scene, const crLog* log) {
    if (scene->centre_count == 0) return;
    crVec3 com = cr_add(scene->model->bodies[scene->centre_body].com, scene->centre_anchor);
    cr_log(log, CR_LOG_WARNING,
           "%s has inertia but no com: taken from its shapes, [%.6g, %.6g, %.6g], one of %d",
           scene->model->bodies[scene->centre_body].name, com.x, com.y, com.z, scene->centre_count);
}

static void log_overlaps(const crScene* scene, const crLog* log) {
    for (int i = 0; i < scene->overlap_count && i < CR_SCENE_OVERLAPS; i++) {
        char a[CR_SCENE_NAME], b[CR_SCENE_NAME];
        cr_scene_shape_name(scene, scene->overlaps[i].shape_a, a);
        cr_scene_shape_name(scene, scene->overlaps[i].shape_b, b);
        cr_log(log, CR_LOG_WARNING, "%s and %s overlap at the start by %.3g m", a, b,
               scene->overlaps[i].depth);
    }
    if (scene->overlap_count > CR_SCENE_OVERLAPS)
        cr_log(log, CR_LOG_WARNING, "%d more pairs overlap", scene->overlap_count - CR_SCENE_OVERLAPS);
}

crStatus cr_scene_open(const char* path, const crLog* log, crScene* scene, crWorld** world, crError* error) {
    if (scene != NULL) *scene = (crScene){0};
    if (world != NULL) *world = NULL;
    if (path == NULL) return cr__io_missing(error, "path");
    if (scene == NULL) return cr__io_missing(error, "scene");
    crError own = {0};
    if (error == NULL) error = &own;
    bool file = strcmp(path, "-") == 0 || access(path, F_OK) == 0;
    bool model = file && cr_import_is_model(path);
    crJsonDoc doc = {0};
    crStatus status = model  ? read_model(path, log, &doc, error)
                      : file ? cr_input_one(path, "path", &doc, error)
                             : read_bundled(path, &doc, error);
    if (status == CR_OK) status = cr_scene_read(doc.root, scene, error);
    cr_json_free(&doc);
    if (status == CR_OK) log_centres(scene, log);
    if (status == CR_OK) log_overlaps(scene, log);
    if (status == CR_OK && world != NULL) status = cr_scene_world(scene, world, error);
    if (status != CR_OK) cr_scene_free(scene);
    return status;
}
