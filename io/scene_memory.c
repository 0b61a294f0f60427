// scene_memory.c - what all parts of a scene's reader need: memory that the scene owns, bodies by name.
//
// Fails: an unknown name is refused by path, with the nearest that is known.
#include <stdlib.h>
#include <string.h>

#include "io/names.h"
#include "io/scene_parts.h"

bool cr__scene_own(crScene* scene, void* data, void (*destroy)(void* data)) {
    crSceneOwned* owned = cr_arena_alloc(&scene->arena, sizeof *owned);
    if (owned == NULL) {
        destroy(data);
        return false;
    }
    *owned = (crSceneOwned){data, destroy, scene->owned};
    scene->owned = owned;
    return true;
}

void cr__place_memory(const crPlace* place) {
    cr_place_refuse(place, NULL, CR_ERR_MEMORY, "", "%s", cr_status_text(CR_ERR_MEMORY));
}

static const char* body_at(const void* ctx, int index) {
    const crModel* model = ctx;
    return index == 0 ? "world" : index < model->nb ? model->bodies[index].name : NULL;
}

int cr__scene_body(const crPlace* place, const crJson* name, const char* field, const crScene* scene) {
    if (!cr_place_ok(place)) return 0;
    if (name->type != CR_JSON_STRING) {
        cr_place_refuse(place, name, CR_ERR_TYPE, field, "must be the name of a body, is %s",
                        cr_json_type_name(name->type));
        return 0;
    }
    if (strcmp(name->text, "world") == 0) return CR_WORLD;
    int body = cr_model_find_body(scene->model, name->text);
    if (body >= 0) return body;
    const char* near = cr_name_nearest(name->text, body_at, scene->model);
    cr_place_refuse(place, name, CR_ERR_NAME, field, "no body before this is called \"%.40s\"%s%.40s%s",
                    name->text, near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                    near != NULL ? "\"?" : "");
    return 0;
}

char* cr__scene_copy(crScene* scene, const char* text) {
    size_t size = strlen(text) + 1;
    char* copy = cr_arena_alloc(&scene->arena, size);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}
