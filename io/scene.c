// scene.c - a scene from JSON: settings, then materials, bodies, static shapes and constraints into a model.
//
// {"carom": 1, ...}; every other field has a default. The parts are read by scene_*.c in the order in which
// they name each other. Loops that are open at the start are closed by moving bodies, shortest in the
// metric of M. Fails: the first field found wrong is refused by path, line and column.
#include "io/scene.h"

#include <string.h>

#include "carom/dynamics.h"
#include "io/argument.h"
#include "io/scene_parts.h"

#define LOOP_TOL 1e-10  // m, rad

static const char* const known_fields[] = {
    "carom",  "comment", "gravity",   "step",        "impact", "solver",  "materials", "pairs",
    "bodies", "static",  "$schema",   "constraints", "drive",  "record",  "exclude",   "actuators",
    "sites",  "sensors", "keyframes", "forces",      "start",  "tendons", NULL};

static void read_step(const crPlace* root, crScene* scene) {
    static const char* const fields[] = {"method",   "dt",    "level",      "fixed_point", "directions",
                                         "theta",    "toi",   "activation", "restitution", "duration",
                                         "deadband", "bound", "sleep_time", "sleep_speed", "error",
                                         "comment",  NULL};
    static const char* const methods[] = {"cone", "lcp", "moreau", "event", NULL};
    static const char* const levels[] = {"position", "velocity", NULL};
    static const char* const restitutions[] = {"newton", "poisson", NULL};
    static const char* const tois[] = {"bisect", "advance", NULL};
    crPlace place;
    if (!cr_place_into(root, "step", &place)) return;
    crStepSettings* step = &scene->step;
    int choice[4] = {(int)step->method, (int)step->level, (int)step->restitution, (int)step->toi};
    cr_place_known(&place, fields);
    cr_place_choice(&place, "method", methods, &choice[0]);
    cr_place_choice(&place, "level", levels, &choice[1]);
    cr_place_choice(&place, "restitution", restitutions, &choice[2]);
    cr_place_choice(&place, "toi", tois, &choice[3]);
    step->method = (crMethod)choice[0];
    step->level = (crLevel)choice[1];
    step->restitution = (crLcpRestitution)choice[2];
    step->toi = (crToi)choice[3];
    cr_place_number(&place, "dt", CR_POSITIVE, &step->dt);
    cr_place_number(&place, "error", CR_NOT_NEGATIVE, &step->error);
    cr_place_bool(&place, "fixed_point", &step->fixed_point);
    cr_place_whole(&place, "directions", 3, 1024, &step->directions);
    cr_place_number(&place, "theta", CR_NOT_NEGATIVE, &step->theta);
    cr_place_number(&place, "activation", CR_NOT_NEGATIVE, &step->activation);
    cr_place_number(&place, "duration", CR_NOT_NEGATIVE, &scene->duration);
    cr_place_number(&place, "deadband", CR_POSITIVE, &step->deadband);
    cr_place_number(&place, "bound", CR_POSITIVE, &step->bound);
    cr_place_number(&place, "sleep_time", CR_NOT_NEGATIVE, &step->sleep_time);
    cr_place_number(&place, "sleep_speed", CR_NOT_NEGATIVE, &step->sleep_speed);
}

static void read_solver(const crPlace* root, crScene* scene) {
    static const char* const fields[] = {"name", "tol", "quality", "comment", NULL};
    static const char* const qualities[] = {"fast", "accurate", "certified", NULL};
    crPlace place;
    const char* name = NULL;
    if (cr_place_into(root, "solver", &place)) {
        int quality = (int)scene->step.quality;
        cr_place_known(&place, fields);
        name = cr__scene_name(&place, "name", CR_SCENE_SOLVERS);
        cr_place_number(&place, "tol", CR_POSITIVE, &scene->step.tol);
        if (scene->step.tol >= 1.0) {
            cr_place_refuse(&place, cr_place_get(&place, "tol"), CR_ERR_RANGE, "tol",
                            "is %.17g, must be above 0 and below 1", scene->step.tol);
        }
        cr_place_choice(&place, "quality", qualities, &quality);
        scene->step.quality = (crQuality)quality;
    }
    // auto is told by the step how far to go; others aim lower than what counts as solved
    bool chosen = name != NULL && strcmp(name, "auto") != 0;
    scene->solver_params = cr_solver_params();
    scene->solver_params.tol = 0.1 * cr_step_tol(&scene->step);
    crError error = {0};
    if (cr_place_ok(root) && cr_solver_find(chosen ? name : "auto", chosen ? &scene->solver_params : NULL,
                                            &scene->step.solver, &error) != CR_OK)
        cr_place_blame(root, "solver", &error);
}

// ranges of the numbers of step, impact and solver, which all settings share
static void check_settings(const crPlace* root, const crScene* scene) {
    static const char* const parts[] = {"step", "impact", "solver", NULL};
    crError error = {0};
    if (!cr_place_ok(root) || cr_step_settings_check(&scene->step, &error) == CR_OK) return;
    crPlace place;
    for (int i = 0; parts[i] != NULL; i++) {
        if (!cr_place_into(root, parts[i], &place) || cr_place_get(&place, error.field) == NULL) continue;
        cr_place_blame(&place, error.field, &error);
        return;
    }
    cr_place_blame(root, error.field, &error);
}

static void read_version(const crPlace* root) {
    int version = CR_SCENE_VERSION;
    cr_place_need(root, "carom", "the version of the scene format: \"carom\": 1");
    cr_place_whole(root, "carom", CR_SCENE_VERSION, CR_SCENE_VERSION, &version);
}

static void read_static(const crPlace* root, crScene* scene) {
    const crJson* list = cr_place_list(root, "static", CR_SCENE_MAX_SHAPES);
    int index = 0;
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(root);
         item = item->next) {
        crPlace place = cr_place_item(root, "static", item, index++);
        crShape shape = {0};
        cr__scene_shape(&place, scene, &shape);
        int material = cr__scene_material(&place, scene);
        uint64_t group = 1;
        uint64_t mask = UINT64_MAX;
        unsigned color = 0;
        cr__scene_filter(&place, &group, &mask);
        cr__scene_color(&place, "color", &color);
        if (!cr_place_ok(&place)) return;
        int made = cr_model_add_shape(scene->model, CR_WORLD, &shape, material);
        if (made < 0 || cr_model_set_filter(scene->model, made, group, mask) != CR_OK)
            cr_place_blame(&place, "type", &scene->model->error);
        else
            scene->model->shapes[made].color = color;
    }
}

static void read_record(const crPlace* root, crScene* scene) {
    static const char* const fields[] = {"every", "comment", NULL};
    crPlace place;
    if (!cr_place_into(root, "record", &place)) return;
    cr_place_known(&place, fields);
    cr_place_whole(&place, "every", 1, 1000000000, &scene->every);
}

// every joint must move something, and loops must be closed
static void settle_model(const crPlace* root, crScene* scene) {
    crError error = {0};
    if (cr_place_ok(root) && cr_model_check(scene->model, &error) != CR_OK)
        cr_place_blame(root, "bodies", &error);
    if (!cr_place_ok(root) || scene->model->loop_count == 0) return;
    crState state = {0};
    crDynamics d = {0};
    if (cr_state_create(scene->model, &scene->arena, &state) != CR_OK ||
        cr_dynamics_create(scene->model, &scene->arena, &d) != CR_OK) {
        cr__place_memory(root);
        return;
    }
    state.q = scene->q;
    state.v = scene->v;
    if (cr_model_close_loops(scene->model, LOOP_TOL, &scene->arena, &d, &state, &error) != CR_OK)
        cr_place_blame(root, "constraints", &error);
}

static void read_start(const crPlace* root, crScene* scene) {
    const char* key = NULL;
    crError error = {0};
    cr_place_text(root, "start", &key);
    if (key == NULL || !cr_place_ok(root)) return;
    if (cr_scene_start(scene, key, &error) != CR_OK) cr_place_blame(root, "start", &error);
}

static void read_all_scene(const crPlace* root, crScene* scene) {
    const char* comment = NULL;
    cr_place_known(root, known_fields);
    read_version(root);
    cr_place_text(root, "comment", &comment);
    const char* schema = NULL;  // for editors
    cr_place_text(root, "$schema", &schema);
    cr_place_vector(root, "gravity", &scene->model->gravity);
    read_step(root, scene);
    cr__scene_impact(root, scene);
    read_solver(root, scene);
    check_settings(root, scene);
    read_record(root, scene);
    cr__scene_materials(root, scene);
    read_static(root, scene);
    crVec3* anchors = NULL;
    cr__scene_bodies(root, scene, &anchors);
    cr__scene_constraints(root, scene, anchors);
    cr__scene_control(root, scene, anchors);
    cr__scene_forces(root, scene, anchors);
    cr__scene_exclude(root, scene);
    cr__scene_check_drives(root, scene);
    settle_model(root, scene);
    read_start(root, scene);
    if (!cr_place_ok(root)) return;
    scene->anchors = anchors;
    if (comment != NULL) scene->comment = cr__scene_copy(scene, comment);
    crStatus status = cr_scene_overlaps(scene);
    if (status == CR_ERR_LIMIT) {
        cr_place_refuse(root, cr_place_get(root, "bodies"), status, "bodies",
                        "are piled into each other: too many pairs of shapes overlap at the start");
    } else if (status != CR_OK) {
        cr__place_memory(root);
    }
}

crStatus cr_scene_read(const crJson* root, crScene* scene, crError* error) {
    if (root == NULL) return cr__io_missing(error, "root");
    if (scene == NULL) return cr__io_missing(error, "scene");
    *scene = (crScene){.step = cr_step_settings(), .duration = 1.0, .every = 1};
    crTrouble trouble = {CR_OK, error};
    crPlace place = {.object = root, .trouble = &trouble};
    if (root->type != CR_JSON_OBJECT) {
        cr_place_refuse(&place, root, CR_ERR_TYPE, "scene", "must be an object {...}, is %s",
                        cr_json_type_name(root->type));
        return trouble.status;
    }
    cr_arena_create(&scene->arena, NULL, 0);
    scene->model = cr_model_create(NULL);
    if (scene->model == NULL) {
        cr__place_memory(&place);
    } else {
        read_all_scene(&place, scene);
    }
    if (trouble.status != CR_OK) cr_scene_free(scene);
    return trouble.status;
}

void cr_scene_free(crScene* scene) {
    if (scene == NULL) return;
    cr_model_destroy(scene->model);
    for (crSceneOwned* owned = scene->owned; owned != NULL; owned = owned->next) {
        owned->destroy(owned->data);
    }
    cr_arena_destroy(&scene->arena);
    *scene = (crScene){0};
}

crStatus cr_scene_world(const crScene* scene, crWorld** world, crError* error) {
    if (world != NULL) *world = NULL;
    if (scene == NULL || scene->model == NULL) return cr__io_missing(error, "scene");
    if (world == NULL) return cr__io_missing(error, "world");
    crWorldDef def = cr_world_def();
    def.model = scene->model;
    def.step = scene->step;
    crStatus status = cr_world_create(&def, world, error);
    if (status != CR_OK) return status;
    crState* state = cr_world_state(*world);
    state->time = scene->time;
    memcpy(state->q, scene->q, (size_t)scene->model->nq * sizeof(double));
    memcpy(state->v, scene->v, (size_t)scene->model->nv * sizeof(double));
    return CR_OK;
}
