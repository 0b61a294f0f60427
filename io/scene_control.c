// scene_control.c - sites, tendons, actuators, sensors and keyframes of a scene.
//
// An actuator names joints by their joint_name, else by the name of their body; or a tendon, or sites. Sites are placed in the frame in
// which their body was described; sensors name a joint, an actuator, a tendon or a site. Keyframes are whole states by name.
// Fails: a field is refused by path; names of nothing, with the nearest name.
#include <string.h>

#include "carom/dynamics.h"
#include "carom/robot.h"
#include "io/argument.h"
#include "io/fields.h"
#include "io/names.h"
#include "io/scene_value.h"

#define MOST      20000
#define NAME      64
#define MOST_KEYS 1000

// names stand in headers of tables: nothing in them may end a cell
static void read_name_control(const crPlace* place, const char** name) {
    cr_place_need(place, "name", "1 to 63 characters without space , ; . or quotes");
    cr_place_text(place, "name", name);
    if (*name == NULL ||
        (strlen(*name) > 0 && strlen(*name) < NAME && strpbrk(*name, " ,;\"'\t\r\n.") == NULL))
        return;
    cr_place_refuse(place, cr_place_get(place, "name"), CR_ERR_NAME, "name",
                    "must be 1 to %d characters without space , ; . or quotes", NAME - 1);
}

static void blame(const crPlace* place, const crScene* scene) {
    cr_place_blame(place, scene->model->error.field, &scene->model->error);
}

static const char* joint_at(const void* ctx, int index) {
    const crModel* model = ctx;
    // bodies without a joint have names too: an empty one is near to nothing
    if (index >= model->nb) return NULL;
    const crBody* body = &model->bodies[index];
    return body->nv == 0 ? "" : body->joint_name != NULL ? body->joint_name : body->name;
}
static const char* actuator_at(const void* ctx, int index) {
    const crModel* model = ctx;
    return index < model->nu ? model->actuators[index].name : NULL;
}
static const char* site_at(const void* ctx, int index) {
    const crModel* model = ctx;
    return index < model->site_count ? model->sites[index].name : NULL;
}

static const char* tendon_at(const void* ctx, int index) {
    const crModel* model = ctx;
    return index < model->tendon_count ? model->tendons[index].name : NULL;
}

static const char* const kinds_named[] = {"joint", "actuator", "site", "tendon"};

// the item of a kind; -1 where there is none of this name, and it is refused at a value
static int item_named(const crPlace* place, const crJson* value, const char* field, const char* kind,
                      const char* name, const crScene* scene) {
    static int (*const find[])(const crModel*, const char*) = {cr_model_find_joint, cr_model_find_actuator,
                                                               cr_model_find_site, cr_model_find_tendon};
    static const char* (*const all[])(const void*, int) = {joint_at, actuator_at, site_at, tendon_at};
    int k = 0;
    while (strcmp(kinds_named[k], kind) != 0) {
        k++;
    }
    int item = find[k](scene->model, name);
    if (item >= 0) return item;
    const char* near = cr_name_nearest(name, all[k], scene->model);
    cr_place_refuse(place, value, CR_ERR_NAME, field, "no %s is called \"%.40s\"%s%.40s%s", kind, name,
                    near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                    near != NULL ? "\"?" : "");
    return -1;
}

// the item that a field names; -1 where it is refused
static int named_as(const crPlace* place, const char* field, const char* kind, const crScene* scene) {
    const char* name = NULL;
    cr_place_text(place, field, &name);
    return name != NULL ? item_named(place, cr_place_get(place, field), field, kind, name, scene) : -1;
}
static int named(const crPlace* place, const char* field, const crScene* scene) {
    return named_as(place, field, field, scene);
}

// the velocity of a joint, and which of a joint with several
static int read_dof(const crPlace* place, const crScene* scene) {
    cr_place_need(place, "joint", "the name of a joint");
    int body = named(place, "joint", scene), axis = 0;
    if (body < 0) return -1;
    cr_place_whole(place, "axis", 0, scene->model->bodies[body].nv - 1, &axis);
    return cr_place_ok(place) ? scene->model->bodies[body].v + axis : -1;
}

static void read_pair(const crPlace* place, const char* name, double* lower, double* upper) {
    const crJson* list = cr_place_get(place, name);
    double both[2] = {0};
    int count = 0;
    crError error = {0};
    if (list == NULL) return;
    if (cr_field_numbers(list, name, 2, 2, both, &count, &error) != CR_OK) {
        cr_place_blame(place, name, &error);
        return;
    }
    if (both[0] > both[1]) cr_place_refuse(place, list, CR_ERR_RANGE, name, "the lower one must come first");
    *lower = both[0];
    *upper = both[1];
}

static void read_three(const crPlace* place, const char* name, double to[3]) {
    const crJson* list = cr_place_get(place, name);
    int count = 0;
    crError error = {0};
    if (list == NULL) return;
    memset(to, 0, 3 * sizeof *to);
    if (cr_field_numbers(list, name, 1, 3, to, &count, &error) != CR_OK) cr_place_blame(place, name, &error);
}

// a force and moment on a site, or the slider of a crank
static void read_along_site(const crPlace* place, const crScene* scene, crActuator* a) {
    bool crank = cr_place_get(place, "slider") != NULL;
    const char* field = crank ? "slider" : "reference";
    a->transmission = crank ? CR_ALONG_CRANK : CR_ALONG_SITE;
    a->site = named(place, "site", scene);
    a->reference = -1;
    if (cr_place_get(place, field) != NULL) a->reference = named_as(place, field, "site", scene);
    if (crank) {
        cr_place_need(place, "rod", "its length, m");
        cr_place_number(place, "rod", CR_POSITIVE, &a->rod);
        cr_place_number(place, "gear", CR_ANY, &a->gear[0]);
        return;
    }
    int count = 0;
    crError error = {0};
    cr_place_need(place, "wrench", "three gears of the force and three of the moment");
    const crJson* list = cr_place_get(place, "wrench");
    if (list != NULL && cr_field_numbers(list, "wrench", 6, 6, a->wrench, &count, &error) != CR_OK)
        cr_place_blame(place, "wrench", &error);
}

// true where the actuator does not act along joints
static bool read_transmission(const crPlace* place, const crScene* scene, crActuator* a) {
    static const char* const ways[] = {"joint", "joints", "tendon", "site"};
    int given = 0;
    for (int i = 0; i < 4; i++) {
        given += cr_place_get(place, ways[i]) != NULL;
    }
    if (given > 1)
        cr_place_refuse(place, NULL, CR_ERR_FIELD, "joint",
                        "only one of joint, joints, tendon and site can be given");
    bool tendon = cr_place_get(place, "tendon") != NULL, site = cr_place_get(place, "site") != NULL;
    static const char* const others[] = {"slider", "reference", "rod", "wrench"};
    for (int i = 0; i < 4 && !site; i++) {
        if (cr_place_get(place, others[i]) != NULL)
            cr_place_refuse(place, cr_place_get(place, others[i]), CR_ERR_FIELD, others[i], "goes with site");
    }
    if (!tendon && !site) return false;
    a->dof_count = 0;
    if (site) read_along_site(place, scene, a);
    if (!tendon) return true;
    a->transmission = CR_ALONG_TENDON;
    a->tendon = named(place, "tendon", scene);
    cr_place_number(place, "gear", CR_ANY, &a->gear[0]);
    return true;
}

// one joint by the actuator's own fields, or several in a list
static void read_joints_control(const crPlace* place, const crScene* scene, crActuator* a) {
    static const char* const fields[] = {"joint", "axis", "gear", "comment", NULL};
    const crJson* list = cr_place_list(place, "joints", CR_ACTUATOR_JOINTS);
    if (list == NULL) {
        a->dof[0] = read_dof(place, scene);
        cr_place_number(place, "gear", CR_ANY, &a->gear[0]);
        return;
    }
    a->dof_count = 0;
    for (const crJson* item = list->child; item != NULL && cr_place_ok(place); item = item->next) {
        crPlace term = cr_place_item(place, "joints", item, a->dof_count);
        cr_place_known(&term, fields);
        int k = a->dof_count++;
        a->gear[k] = 1.0;
        a->dof[k] = read_dof(&term, scene);
        cr_place_number(&term, "gear", CR_ANY, &a->gear[k]);
    }
}

static double scheduled(void* ctx, double time) {
    double value = 0.0;
    cr__scene_value(ctx, &time, &value);
    return value;
}

// a number that the user may change, or a value over time
static void read_ctrl(const crPlace* place, crScene* scene, crActuator* a) {
    static const char* const names[] = {"t", NULL};
    const crJson* given = cr_place_get(place, "ctrl");
    if (given == NULL || given->type == CR_JSON_NUMBER) {
        cr_place_number(place, "ctrl", CR_ANY, &a->ctrl);
        return;
    }
    crSceneValue* value = cr_arena_alloc(&scene->arena, sizeof *value);
    if (value == NULL) {
        cr__place_memory(place);
        return;
    }
    cr__scene_read_value(place, scene, "ctrl", 1, names, value);
    if (!cr_place_ok(place)) return;
    a->schedule = scheduled;
    a->schedule_ctx = value;
    a->ctrl = scheduled(value, 0.0);
}

enum { MOTOR, POSITION, VELOCITY, GENERAL };

#define COMMON                                                                                           \
    "name", "type", "joint", "axis", "joints", "tendon", "site", "reference", "wrench", "slider", "rod", \
        "gear", "ctrl", "ctrl_range", "force_range", "activation", "time_constant", "act", "act_range",  \
        "early", "comment"
static const char* const motor_fields[] = {COMMON, NULL};
static const char* const position_fields[] = {COMMON, "kp", "kv", NULL};
static const char* const velocity_fields[] = {COMMON, "kv", NULL};
static const char* const general_fields[] = {COMMON, "gain", "bias", NULL};

// A state that follows the control.
static void read_activation_control(const crPlace* place, crActuator* a) {
    static const char* const kinds[] = {"none", "integrator", "filter", "filter_exact", NULL};
    int kind = CR_ACTIVATION_NONE;
    cr_place_choice(place, "activation", kinds, &kind);
    a->activation = (crActivation)kind;
    if (kind == CR_ACTIVATION_FILTER || kind == CR_ACTIVATION_FILTER_EXACT)
        cr_place_need(place, "time_constant", "of the filter, s");
    cr_place_number(place, "time_constant", CR_POSITIVE, &a->time_constant);
    cr_place_number(place, "act", CR_ANY, &a->act);
    read_pair(place, "act_range", &a->act_lower, &a->act_upper);
    cr_place_bool(place, "early", &a->early);
    static const char* const with[] = {"act", "act_range", "early"};
    for (int i = 0; i < 3 && kind == CR_ACTIVATION_NONE; i++) {
        if (cr_place_get(place, with[i]) != NULL)
            cr_place_refuse(place, cr_place_get(place, with[i]), CR_ERR_FIELD, with[i],
                            "goes with an activation: integrator, filter or filter_exact");
    }
}

static void read_actuator(const crPlace* place, crScene* scene) {
    static const char* const types[] = {"motor", "position", "velocity", "general", NULL};
    static const char* const* const known[] = {motor_fields, position_fields, velocity_fields,
                                               general_fields};
    int type = MOTOR;
    double kp = 1.0, kv = 0.0;
    cr_place_choice(place, "type", types, &type);
    cr_place_known(place, known[type]);
    if (type == POSITION) cr_place_need(place, "kp", "its stiffness");
    if (type == VELOCITY) cr_place_need(place, "kv", "its gain");
    cr_place_number(place, "kp", CR_NOT_NEGATIVE, &kp);
    cr_place_number(place, "kv", CR_NOT_NEGATIVE, &kv);
    crActuator a = type == POSITION   ? cr_actuator_position(0, kp, kv)
                   : type == VELOCITY ? cr_actuator_velocity(0, kv)
                                      : cr_actuator_motor(0);
    read_name_control(place, &a.name);
    if (!read_transmission(place, scene, &a)) read_joints_control(place, scene, &a);
    read_three(place, "gain", a.gain);
    read_three(place, "bias", a.bias);
    read_ctrl(place, scene, &a);
    read_pair(place, "ctrl_range", &a.ctrl_lower, &a.ctrl_upper);
    read_pair(place, "force_range", &a.force_lower, &a.force_upper);
    read_activation_control(place, &a);
    if (cr_place_ok(place) && cr_model_add_actuator(scene->model, &a) < 0) blame(place, scene);
}

// a shape as the volume, its pose that of the site
static void read_site(const crPlace* place, crScene* scene, const crVec3* anchors) {
    static const char* const fields[] = {"name", "body", "pos",   "quat",    "type",
                                         "r",    "half", "radii", "comment", NULL};
    static const char* const types[] = {"sphere", "capsule", "box", "cylinder", "ellipsoid", NULL};
    crSite site = {.volume = cr_shape_sphere(0.005)};
    cr_place_known(place, fields);
    read_name_control(place, &site.name);
    int type = 0;
    cr_place_choice(place, "type", types, &type);
    if (cr_place_get(place, "type") != NULL) cr__scene_volume(place, scene, &site.volume);
    site.volume.pose = cr_pose_identity();
    cr_place_vector(place, "pos", &site.volume.pose.p);
    cr_place_quat(place, "quat", &site.volume.pose.q);
    const crJson* body = cr_place_get(place, "body");
    if (body != NULL) site.body = cr__scene_body(place, body, "body", scene);
    if (!cr_place_ok(place)) return;
    site.volume.pose.p = cr_sub(site.volume.pose.p, anchors[site.body]);
    if (cr_model_add_site(scene->model, &site) < 0) blame(place, scene);
}

// sites from one to the next, each way with its coefficient
static void read_path(const crPlace* place, const crScene* scene, crTendon* t) {
    const crJson* list = cr_place_list(place, "sites", CR_TENDON_POINTS);
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(place);
         item = item->next) {
        t->coef[t->count] = 1.0;
        if (item->type != CR_JSON_STRING) {
            cr_place_refuse(place, item, CR_ERR_TYPE, "sites", "must be names of sites");
            return;
        }
        t->item[t->count++] = item_named(place, item, "sites", "site", item->text, scene);
    }
    const crJson* coef = cr_place_get(place, "coef");
    int count = 0;
    crError error = {0};
    if (coef != NULL && cr_place_ok(place) &&
        cr_field_numbers(coef, "coef", t->count - 1, t->count - 1, t->coef, &count, &error) != CR_OK)
        cr_place_blame(place, "coef", &error);
}

static void read_along_joints(const crPlace* place, const crScene* scene, crTendon* t) {
    static const char* const fields[] = {"joint", "axis", "coef", "comment", NULL};
    const crJson* list = cr_place_list(place, "joints", CR_TENDON_POINTS);
    t->joints = true;
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(place);
         item = item->next) {
        crPlace term = cr_place_item(place, "joints", item, t->count);
        cr_place_known(&term, fields);
        t->coef[t->count] = 1.0;
        t->item[t->count] = read_dof(&term, scene);
        cr_place_number(&term, "coef", CR_ANY, &t->coef[t->count++]);
    }
}

static void read_tendon(const crPlace* place, crScene* scene) {
    static const char* const fields[] = {"name",    "sites", "joints",     "coef",    "stiffness",
                                         "damping", "rest",  "rest_range", "comment", NULL};
    crTendon t = {0};
    cr_place_known(place, fields);
    read_name_control(place, &t.name);
    bool joints = cr_place_get(place, "joints") != NULL;
    if (!joints) cr_place_need(place, "sites", "names of sites from end to end, or joints");
    if (joints && cr_place_get(place, "sites") != NULL)
        cr_place_refuse(place, NULL, CR_ERR_FIELD, "sites", "only one of sites and joints can be given");
    if (joints) read_along_joints(place, scene, &t);
    if (!joints) read_path(place, scene, &t);
    cr_place_number(place, "stiffness", CR_NOT_NEGATIVE, &t.stiffness);
    cr_place_number(place, "damping", CR_NOT_NEGATIVE, &t.damping);
    if (t.stiffness > 0.0 && cr_place_get(place, "rest_range") == NULL)
        cr_place_need(place, "rest", "the length at which its spring is slack");
    cr_place_number(place, "rest", CR_ANY, &t.rest_lower);
    t.rest_upper = t.rest_lower;
    read_pair(place, "rest_range", &t.rest_lower, &t.rest_upper);
    if (cr_place_ok(place) && cr_model_add_tendon(scene->model, &t) < 0) blame(place, scene);
}

static void read_sensor(const crPlace* place, crScene* scene) {
    static const char* const fields[] = {"name",  "type", "joint",  "actuator", "site", "tendon",
                                         "noise", "seed", "cutoff", "comment",  NULL};
    const char* types[CR_SENSOR_KINDS + 1];
    for (int k = 0; k <= CR_SENSOR_KINDS; k++) {
        types[k] = cr_sensor_kind_name((crSensorKind)k);
    }
    int kind = 0, seed = 0;
    crSensor sensor = {0};
    cr_place_known(place, fields);
    read_name_control(place, &sensor.name);
    cr_place_need(place, "type", "what is measured, such as joint_position");
    cr_place_choice(place, "type", types, &kind);
    sensor.kind = (crSensorKind)kind;
    const char* field = kind <= CR_SENSOR_JOINT_FORCE       ? "joint"
                        : kind <= CR_SENSOR_ACTUATOR_FORCE  ? "actuator"
                        : kind <= CR_SENSOR_TENDON_VELOCITY ? "tendon"
                                                            : "site";
    if (kind != CR_SENSOR_ENERGY) {
        cr_place_need(place, field, "what it is of");
        sensor.object = named(place, field, scene);
    }
    cr_place_number(place, "noise", CR_NOT_NEGATIVE, &sensor.noise);
    cr_place_number(place, "cutoff", CR_NOT_NEGATIVE, &sensor.cutoff);
    cr_place_whole(place, "seed", 0, INT32_MAX, &seed);
    sensor.seed = (uint64_t)seed;
    if (cr_place_ok(place) && cr_model_add_sensor(scene->model, &sensor) < 0) blame(place, scene);
}

// `count` numbers of a keyframe, or NULL
static double* read_state(const crPlace* place, crScene* scene, const char* name, int count) {
    const crJson* list = cr_place_get(place, name);
    if (list == NULL) return NULL;
    double* x = cr_arena_alloc(&scene->arena, ((size_t)count + 1) * sizeof *x);
    int got = 0;
    crError error = {0};
    if (x == NULL) {
        cr__place_memory(place);
    } else if (cr_field_numbers(list, name, count, count, x, &got, &error) != CR_OK) {
        cr_place_blame(place, name, &error);
    }
    return x;
}

static void read_key(const crPlace* place, crScene* scene, crKeyframe* key) {
    static const char* const fields[] = {"name", "time", "q", "v", "ctrl", "act", "comment", NULL};
    const char* name = NULL;
    cr_place_known(place, fields);
    read_name_control(place, &name);
    cr_place_number(place, "time", CR_ANY, &key->time);
    key->q = read_state(place, scene, "q", scene->model->nq);
    key->v = read_state(place, scene, "v", scene->model->nv);
    key->ctrl = read_state(place, scene, "ctrl", scene->model->nu);
    key->act = read_state(place, scene, "act", scene->model->na);
    if (cr_place_ok(place)) key->name = cr__scene_copy(scene, name);
    if (cr_place_ok(place) && key->name == NULL) cr__place_memory(place);
}

static void read_keys(const crPlace* root, crScene* scene) {
    const crJson* list = cr_place_list(root, "keyframes", MOST_KEYS);
    if (list == NULL || list->count == 0) return;
    scene->keys = cr_arena_alloc(&scene->arena, (size_t)list->count * sizeof *scene->keys);
    if (scene->keys == NULL) {
        cr__place_memory(root);
        return;
    }
    for (const crJson* item = list->child; item != NULL && cr_place_ok(root); item = item->next) {
        crPlace place = cr_place_item(root, "keyframes", item, scene->key_count);
        scene->keys[scene->key_count] = (crKeyframe){0};
        if (cr_place_ok(&place)) read_key(&place, scene, &scene->keys[scene->key_count++]);
    }
}

void cr__scene_control(const crPlace* root, crScene* scene, const crVec3* anchors) {
    static const char* const lists[] = {"sites", "tendons", "actuators", "sensors"};
    for (int which = 0; which < 4; which++) {
        const crJson* list = cr_place_list(root, lists[which], MOST);
        int index = 0;
        for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(root);
             item = item->next) {
            crPlace place = cr_place_item(root, lists[which], item, index++);
            if (!cr_place_ok(&place)) return;
            if (which == 0) read_site(&place, scene, anchors);
            if (which == 1) read_tendon(&place, scene);
            if (which == 2) read_actuator(&place, scene);
            if (which == 3) read_sensor(&place, scene);
        }
    }
    read_keys(root, scene);
}

static const char* key_at(const void* ctx, int index) {
    const crScene* scene = ctx;
    return index < scene->key_count ? scene->keys[index].name : NULL;
}

// the keyframe of a name, NULL and refused where there is none
static const crKeyframe* find_key(const crScene* scene, const char* key, crError* error) {
    for (int i = 0; i < scene->key_count; i++) {
        if (strcmp(scene->keys[i].name, key) == 0) return &scene->keys[i];
    }
    const char* near = cr_name_nearest(key, key_at, scene);
    cr_error_set(error, CR_ERR_NAME, "key", "key: no keyframe is called \"%.40s\"%s%.40s%s", key,
                 near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                 near != NULL ? "\"?" : "");
    return NULL;
}

crStatus cr_scene_start(crScene* scene, const char* key, crError* error) {
    if (scene == NULL || scene->model == NULL) return cr__io_missing(error, "scene");
    if (key == NULL) return cr__io_missing(error, "key");
    const crModel* model = scene->model;
    const crKeyframe* found = find_key(scene, key, error);
    if (found == NULL) return CR_ERR_NAME;
    scene->time = found->time;
    if (found->q != NULL) memcpy(scene->q, found->q, (size_t)model->nq * sizeof(double));
    if (found->v != NULL) memcpy(scene->v, found->v, (size_t)model->nv * sizeof(double));
    for (int i = 0; i < model->nu && found->ctrl != NULL; i++) {
        model->actuators[i].ctrl = found->ctrl[i];
    }
    for (int i = 0; i < model->nu && found->act != NULL; i++) {
        int place = model->actuators[i].act_place;
        if (place >= 0) model->actuators[i].act = found->act[place];
    }
    return cr_scene_overlaps(scene);
}

crStatus cr_scene_reset(const crScene* scene, crWorld* world, const char* key, crError* error) {
    if (scene == NULL || scene->model == NULL) return cr__io_missing(error, "scene");
    if (world == NULL || cr_world_model(world) != scene->model)
        return cr_error_set(error, CR_ERR_ARGUMENT, "world", "world: must be one of this scene");
    const crKeyframe* found = key != NULL ? find_key(scene, key, error) : NULL;
    if (key != NULL && found == NULL) return CR_ERR_NAME;
    crState state = {.time = found != NULL ? found->time : scene->time,
                     .q = found != NULL && found->q != NULL ? found->q : scene->q,
                     .v = found != NULL && found->v != NULL ? found->v : scene->v,
                     .ctrl = found != NULL ? found->ctrl : NULL,
                     .act = found != NULL ? found->act : NULL};
    return cr_world_set_state(world, &state, error);
}
