// names.c - names of joints, actuators, sites, sensors and tendons, found by index.
//
// Fails: CR_ERR_NAME where a name is taken or nothing has it; CR_ERR_MEMORY.
#include <string.h>

#include "carom/dynamics.h"
#include "model/store.h"

static const char* const kinds[CR_NAMES] = {"joint", "actuator", "site", "sensor", "tendon"};

static const char* name_of(const crModel* model, crNameKind kind, int item) {
    switch (kind) {
    case CR_NAME_JOINT:
        return model->bodies[item].joint_name;
    case CR_NAME_ACTUATOR:
        return model->actuators[item].name;
    case CR_NAME_SITE:
        return model->sites[item].name;
    case CR_NAME_TENDON:
        return model->tendons[item].name;
    default:
        return model->sensors[item].name;
    }
}

static bool same(const crModel* model, crNameKind kind, int item, const char* key) {
    const char* name = name_of(model, kind, item);
    return name != NULL && strcmp(name, key) == 0;
}
static bool same_joint(const void* model, int item, const void* key) {
    return same(model, CR_NAME_JOINT, item, key);
}
static bool same_actuator(const void* model, int item, const void* key) {
    return same(model, CR_NAME_ACTUATOR, item, key);
}
static bool same_site(const void* model, int item, const void* key) {
    return same(model, CR_NAME_SITE, item, key);
}
static bool same_sensor(const void* model, int item, const void* key) {
    return same(model, CR_NAME_SENSOR, item, key);
}
static bool same_tendon(const void* model, int item, const void* key) {
    return same(model, CR_NAME_TENDON, item, key);
}
static const crIndexSame sames[CR_NAMES] = {same_joint, same_actuator, same_site, same_sensor, same_tendon};

int cr__name_find(const crModel* model, crNameKind kind, const char* name) {
    uint64_t hash = cr_hash(CR_HASH_SEED, name, strlen(name));
    int item = cr__index_find(&model->memory->names[kind], hash, sames[kind], model, name);
    return item >= 0 ? item : CR_ERR_NAME;
}

crStatus cr__name_keep(crModel* model, crNameKind kind, const char** name) {
    if (*name == NULL) return CR_OK;
    if (cr__name_find(model, kind, *name) >= 0)
        return cr_error_set(&model->error, CR_ERR_NAME, "name", "name: \"%.64s\" is the name of another %s",
                            *name, kinds[kind]);
    *name = cr__store_copy(model, *name, strlen(*name) + 1);
    if (*name == NULL || !cr__index_reserve(&model->memory->names[kind], &model->allocator))
        return cr__store_full(model);
    return CR_OK;
}

void cr__name_add(crModel* model, crNameKind kind, int item) {
    const char* name = name_of(model, kind, item);
    if (name == NULL) return;
    cr__index_add(&model->memory->names[kind], cr_hash(CR_HASH_SEED, name, strlen(name)), sames[kind], model,
                  name, item);
}

int cr_model_find_joint(const crModel* model, const char* name) {
    if (model == NULL || model->memory == NULL || name == NULL) return CR_ERR_ARGUMENT;
    int body = cr__name_find(model, CR_NAME_JOINT, name);
    if (body >= 0) return body;
    body = cr_model_find_body(model, name);
    bool joint = body > 0 && model->bodies[body].nv > 0 && model->bodies[body].joint_name == NULL;
    return joint ? body : CR_ERR_NAME;
}
