// fuzz_model.c - any bytes as MJCF, URDF or SDF: refused by name, or a scene that the scene reader takes or
// refuses in its own words; what is taken passes the model's check, and written and read again it is the same.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/import.h"
#include "io/scene.h"
#include "io/tree.h"

#define MOST_BODIES 300  // names are looked for one by one

static void demand(bool condition) {
    if (!condition) abort();
}

static uint64_t hash_model(const crModel* model) {
    uint64_t hash = cr_hash(CR_HASH_SEED, model->q0, (size_t)model->nq * sizeof(double));
    for (int i = 1; i < model->nb; i++) {
        const crBody* b = &model->bodies[i];
        hash = cr_hash(hash, &b->pose, sizeof b->pose);
        hash = cr_hash(hash, &b->inertia, sizeof b->inertia);
        hash = cr_hash(hash, &b->mass, sizeof b->mass);
    }
    return cr_hash(hash, model->velocity.dofs, (size_t)model->velocity.dof_count * sizeof(crDof));
}

// the scene as text and back
static void again(const crImport* import, const crScene* scene) {
    char* text = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&text, &size);
    demand(file != NULL);
    cr_tree_write(file, import->scene.root);
    fclose(file);
    crJsonDoc doc;
    crScene copy;
    crError error = {0};
    demand(cr_json_parse(text, size, 1, &doc, &error) == CR_OK);
    demand(cr_scene_read(doc.root, &copy, &error) == CR_OK);
    demand(hash_model(scene->model) == hash_model(copy.model));
    cr_scene_free(&copy);
    cr_json_free(&doc);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    crImport import;
    crScene scene;
    crError error = {0};
    if (cr_import_text((const char*)data, size, NULL, NULL, &import, &error) != CR_OK) {
        demand(error.status != CR_OK && error.message[0] != '\0');
        return 0;
    }
    const crJson* bodies = cr_json_get(import.scene.root, "bodies");
    if (bodies == NULL || bodies->count < MOST_BODIES) {
        if (cr_scene_read(import.scene.root, &scene, &error) == CR_OK) {
            demand(cr_model_check(scene.model, NULL) == CR_OK);
            again(&import, &scene);
            cr_scene_free(&scene);
        } else {
            demand(error.status != CR_OK && error.message[0] != '\0');
        }
    }
    for (int i = 0; i < import.note_count; i++) {
        demand(import.notes[i].line >= 1 && import.notes[i].column >= 1 && import.notes[i].text[0] != '\0');
    }
    cr_import_free(&import);
    return 0;
}
