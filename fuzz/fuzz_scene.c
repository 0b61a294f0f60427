// fuzz_scene.c - any bytes as a scene: refused by name, line and column, or a model that passes its own
// check.
//
// What is accepted must be consistent: finite starts, a checked model, kinematics without NaN. A value is
// set by a path from the input's own bytes first, so that changed trees are read as well. No step is taken.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_set.h"
#include "io/scene.h"

static void demand(bool condition) {
    if (!condition) abort();
}

static void check_scene(const crScene* scene) {
    const crModel* model = scene->model;
    demand(cr_model_check(model, NULL) == CR_OK);
    demand(cr_step_settings_check(&scene->step, NULL) == CR_OK);
    demand(scene->duration >= 0.0 && scene->every >= 1 && scene->overlap_count >= 0);
    for (int i = 0; i < model->nq; i++) {
        demand(isfinite(scene->q[i]));
    }
    for (int i = 0; i < model->nv; i++) {
        demand(isfinite(scene->v[i]));
    }
    char name[CR_SCENE_NAME];
    for (int i = 0; i < scene->overlap_count && i < CR_SCENE_OVERLAPS; i++) {
        cr_scene_shape_name(scene, scene->overlaps[i].shape_a, name);
        demand(name[0] != '\0' && scene->overlaps[i].depth > 0.0);
    }
}

// the end of the input, after a zero byte, as PATH=VALUE
static void change(crJsonDoc* doc, const char* rest, size_t size) {
    char text[128];
    if (size == 0 || size >= sizeof text) return;
    memcpy(text, rest, size);
    text[size] = '\0';
    char* equals = strchr(text, '=');
    if (equals == NULL || doc->root->type != CR_JSON_OBJECT) return;
    *equals = '\0';
    crError error = {0};
    if (cr_json_set(doc, text, equals + 1, &error) != CR_OK) demand(error.message[0] != '\0');
}

// few copies of a body that is repeated: thousands are allowed, and slow
static void tame(crJson* node) {
    for (crJson* item = (crJson*)node->child; item != NULL; item = (crJson*)item->next) {
        bool count = item->key != NULL && strcmp(item->key, "count") == 0 && item->type == CR_JSON_NUMBER;
        if (count && item->number > 5.0 && item->number <= CR_SCENE_MAX_BODIES) item->number = 5.0;
        tame(item);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const uint8_t* zero = size > 0 ? memchr(data, 0, size) : NULL;
    size_t length = zero != NULL ? (size_t)(zero - data) : size;
    crJsonDoc doc;
    crError error = {0};
    if (cr_json_parse((const char*)data, length, 1, &doc, &error) != CR_OK) return 0;
    bool changed = zero != NULL;
    if (changed) change(&doc, (const char*)zero + 1, size - length - 1);
    tame(doc.root);
    crScene scene;
    if (cr_scene_read(doc.root, &scene, &error) != CR_OK) {
        demand(error.status != CR_OK && error.message[0] != '\0');
        demand(changed || (error.line >= 1 && error.column >= 1));
    } else {
        check_scene(&scene);
        cr_scene_free(&scene);
    }
    cr_json_free(&doc);
    return 0;
}
