// scene_materials.c - materials and pairs of a scene.
//
// A material starts from carom's default one, a pair from what the combination rule makes of its two. mu
// may be "inf", e a table [[speed, e], ...]; each of e, et and mu may depend on the impact (scene_coefficient.c). Fails: a field is
// refused by path; a pair may name only materials that exist.
#include <stdlib.h>
#include <string.h>

#include "carom/dynamics.h"
#include "carom/forms.h"
#include "io/fields.h"
#include "io/names.h"
#include "io/scene_coefficient.h"
#include "io/scene_parts.h"
#include "io/scene_ready.h"

#define MOST_MATERIALS 1000
#define MOST_PAIRS     100000
#define MOST_ROWS      1000

static const char* const surface_fields[] = {
    "ready",   "mu",      "mu2",         "axis",           "e",       "et",    "mu_spin",
    "mu_roll", "viscous", "mu_stribeck", "speed_stribeck", "density", "color", "checker",
    "look",    "comment", NULL};
static const char* const pair_fields[] = {
    "mu",        "mu2",     "axis",       "e",           "et",
    "mu_spin",   "mu_roll", "viscous",    "mu_stribeck", "speed_stribeck",
    "materials", "law",     "law_params", "comment",     NULL};

static void read_table_materials(const crPlace* place, const crJson* value, crScene* scene,
                                 crSurface* surface) {
    if (cr_place_list(place, "e", MOST_ROWS) == NULL) return;
    size_t count = (size_t)value->count;
    double* rows = cr_arena_alloc(&scene->arena, (2 * count + 1) * sizeof(double));
    crRestitution* table = cr_arena_alloc(&scene->arena, sizeof *table);
    if (rows == NULL || table == NULL) {
        cr__place_memory(place);
        return;
    }
    int row = 0;
    for (const crJson* item = value->child; item != NULL; item = item->next, row++) {
        double pair[2] = {0};
        int found = 0;
        crError error = {0};
        if (cr_field_numbers(item, "e", 2, 2, pair, &found, &error) != CR_OK) {
            cr_place_refuse(place, item, error.status, "e", "must be a number or a table [[speed, e], ...]");
            return;
        }
        rows[row] = pair[0];
        rows[count + (size_t)row] = pair[1];
    }
    *table = (crRestitution){.count = row, .speed = rows, .e = rows + count};
    surface->e_of_speed = table;
}

// A coefficient that depends on the impact: e over speed alone is a table of its own kind.
static void read_curve_materials(const crPlace* place, const char* name, crScene* scene, crSurface* surface,
                                 crByImpact* by, const crCurve** to) {
    crCurveRoom* room = cr_arena_alloc(&scene->arena, sizeof *room);
    crRestitution* table = cr_arena_alloc(&scene->arena, sizeof *table);
    if (room == NULL || table == NULL) {
        cr__place_memory(place);
        return;
    }
    crError error = {0};
    if (cr__read_coefficient(cr_place_get(place, name), name, room, &error) != CR_OK) {
        cr_place_blame(place, error.field, &error);
        return;
    }
    if (to == &by->e && cr__curve_is_of_speed(&room->curve)) {
        *table = (crRestitution){.count = room->curve.rows, .speed = room->x, .e = room->value};
        surface->e_of_speed = table;
        return;
    }
    *to = &room->curve;
    surface->by_impact = by;
}

static bool is_object(const crJson* value) { return value != NULL && value->type == CR_JSON_OBJECT; }

static void read_e_materials(const crPlace* place, crScene* scene, crSurface* surface, crByImpact* by) {
    const crJson* e = cr_place_get(place, "e");
    if (e == NULL) return;
    surface->e_of_speed = NULL;
    if (e->type == CR_JSON_ARRAY) {
        read_table_materials(place, e, scene, surface);
    } else if (e->type == CR_JSON_OBJECT) {
        read_curve_materials(place, "e", scene, surface, by, &by->e);
    } else {
        cr_place_number(place, "e", CR_NOT_NEGATIVE, &surface->e);
    }
}

static void read_et_materials(const crPlace* place, crScene* scene, crSurface* surface, crByImpact* by) {
    if (is_object(cr_place_get(place, "et"))) {
        read_curve_materials(place, "et", scene, surface, by, &by->et);
        return;
    }
    cr_place_number(place, "et", CR_ANY, &surface->et);
    if (surface->et < -1.0 || surface->et > 1.0) {
        cr_place_refuse(place, cr_place_get(place, "et"), CR_ERR_RANGE, "et", "is %.17g, must be -1 to 1",
                        surface->et);
    }
}

static void read_mu_materials(const crPlace* place, crScene* scene, crSurface* surface, crByImpact* by) {
    const crJson* mu = cr_place_get(place, "mu");
    if (mu != NULL) surface->mu2 = NAN;
    if (is_object(mu)) {
        read_curve_materials(place, "mu", scene, surface, by, &by->mu);
    } else {
        cr_place_limit(place, "mu", CR_NOT_NEGATIVE, &surface->mu);
    }
    cr_place_limit(place, "mu2", CR_NOT_NEGATIVE, &surface->mu2);
    if (cr_place_get(place, "mu2") != NULL)
        cr_place_need(place, "axis", "the direction along which mu holds");
    cr_place_direction(place, "axis", &surface->axis);
}

static void read_surface(const crPlace* place, crScene* scene, crSurface* surface) {
    crByImpact* by = cr_arena_alloc(&scene->arena, sizeof *by);
    if (by == NULL) {
        cr__place_memory(place);
        return;
    }
    *by = (crByImpact){0};
    read_e_materials(place, scene, surface, by);
    read_mu_materials(place, scene, surface, by);
    read_et_materials(place, scene, surface, by);
    cr_place_number(place, "mu_spin", CR_NOT_NEGATIVE, &surface->mu_spin);
    cr_place_number(place, "mu_roll", CR_NOT_NEGATIVE, &surface->mu_roll);
    cr_place_number(place, "viscous", CR_NOT_NEGATIVE, &surface->viscous);
    cr_place_number(place, "mu_stribeck", CR_NOT_NEGATIVE, &surface->mu_stribeck);
    cr_place_number(place, "speed_stribeck", CR_POSITIVE, &surface->speed_stribeck);
}

void cr__scene_color(const crPlace* place, const char* name, unsigned* color) {
    const char* text = NULL;
    cr_place_text(place, name, &text);
    if (text == NULL) return;
    bool good = text[0] == '#' && strlen(text) == 7 && strspn(text + 1, "0123456789abcdefABCDEF") == 6;
    if (!good) {
        cr_place_refuse(place, cr_place_get(place, name), CR_ERR_RANGE, name,
                        "is \"%.20s\", must be \"#rrggbb\" in hexadecimal digits", text);
        return;
    }
    *color = 0x1000000U | (unsigned)strtoul(text + 1, NULL, 16);
}

// what the model found wrong, with the position of the object
static void blame_model(const crPlace* place, const crScene* scene) {
    const crError* found = &scene->model->error;
    bool table = strcmp(found->field, "e_of_speed") == 0;
    cr_place_blame(place, table ? "e" : found->field, found);
}

// A ready material or pair, read like one of the scene.
static bool read_ready(const crPlace* place, const crReady* ready, crScene* scene, crMaterial* material) {
    crJsonDoc doc = {0};
    crError error = {0};
    if (cr_json_parse(ready->fields, strlen(ready->fields), 1, &doc, &error) != CR_OK) {
        cr_place_blame(place, "ready", &error);
        return false;
    }
    crPlace fields = *place;
    fields.object = doc.root;
    read_surface(&fields, scene, &material->surface);
    cr_place_number(&fields, "density", CR_NOT_NEGATIVE, &material->density);
    cr__scene_color(&fields, "color", &material->color);
    cr_json_free(&doc);
    return cr_place_ok(place);
}

static const char* ready_name(const void* ctx, int index) {
    (void)ctx;
    const crReady* ready = cr_ready_at(index);
    return ready != NULL && ready->other == NULL ? ready->name : NULL;
}

// The ready material that an object names, NULL where it names none.
static const crReady* find_ready(const crPlace* place) {
    const char* name = NULL;
    const crReady* ready;
    cr_place_text(place, "ready", &name);
    if (name == NULL) return NULL;
    for (int i = 0; (ready = cr_ready_at(i)) != NULL && ready->other == NULL; i++) {
        if (strcmp(ready->name, name) == 0) return ready;
    }
    const char* near = cr_name_nearest(name, ready_name, NULL);
    cr_place_refuse(place, cr_place_get(place, "ready"), CR_ERR_NAME, "ready",
                    "no ready material is called \"%.40s\"%s%.40s%s", name,
                    near != NULL ? "; did you mean \"" : "; carom info --materials lists them",
                    near != NULL ? near : "", near != NULL ? "\"?" : "");
    return NULL;
}

// the look, and its own colour where the scene gives none
static void read_look(const crPlace* place, crMaterial* material) {
    static const char* const looks[CR_LOOKS + 1] = {"plain", "wood", "felt", "metal", "stone", NULL};
    static const unsigned colors[CR_LOOKS] = {0, 0x1c08a5a, 0x12f7d55, 0x1aab4bf, 0x1a7a49b};
    int look = (int)material->look;
    cr_place_choice(place, "look", looks, &look);
    material->look = (crLook)look;
    if (material->color == 0) material->color = colors[look];
}

static void read_material(const crPlace* place, const char* name, crScene* scene) {
    cr_place_known(place, surface_fields);
    crMaterial material = cr_material();
    material.name = name;
    const crReady* ready = find_ready(place);
    if (ready != NULL && !read_ready(place, ready, scene, &material)) return;
    read_surface(place, scene, &material.surface);
    cr_place_number(place, "density", CR_NOT_NEGATIVE, &material.density);
    cr__scene_color(place, "color", &material.color);
    cr__scene_color(place, "checker", &material.checker);
    read_look(place, &material);
    if (cr_place_ok(place) && cr_model_add_material(scene->model, &material) < 0) blame_model(place, scene);
}

static void read_materials(const crPlace* root, crScene* scene) {
    crPlace list;
    if (!cr_place_into(root, "materials", &list)) return;
    if (list.object->count > MOST_MATERIALS) {
        cr_place_refuse(root, list.object, CR_ERR_LIMIT, "materials", "has %d entries, allowed are %d",
                        list.object->count, MOST_MATERIALS);
    }
    for (const crJson* item = list.object->child; item != NULL && cr_place_ok(root); item = item->next) {
        crPlace place;
        if (!cr_place_into(&list, item->key, &place)) return;
        read_material(&place, item->key, scene);
    }
}

// The name of the ready material that an object stands for, NULL where it names none or changes its surface.
static const char* ready_of(const crJson* item) {
    static const char* const harmless[] = {"ready", "density", "color", "checker", "look", "comment", NULL};
    const crJson* ready = cr_json_get(item, "ready");
    if (ready == NULL || cr_field_known(item, "", harmless, NULL) != CR_OK) return NULL;
    return ready->text;
}

// Pairs of ready materials, before those that the scene writes down.
static void add_ready_pairs(const crPlace* root, crScene* scene) {
    crPlace list;
    const crReady* ready;
    if (!cr_place_into(root, "materials", &list)) return;
    int count = 0;
    const char** name = cr_arena_alloc(&scene->arena, (size_t)list.object->count * sizeof *name);
    if (name == NULL) {
        cr__place_memory(root);
        return;
    }
    for (const crJson* item = list.object->child; item != NULL; item = item->next) {
        name[count++] = ready_of(item);
    }
    for (int k = 0; (ready = cr_ready_at(k)) != NULL; k++) {
        for (int a = 0; a < count && ready->other != NULL; a++) {
            bool first = name[a] != NULL && strcmp(name[a], ready->name) == 0;
            for (int b = 0; b < count && first; b++) {
                crMaterial made = cr_material();
                if (name[b] == NULL || strcmp(name[b], ready->other) != 0) continue;
                if (!read_ready(&list, ready, scene, &made)) return;
                if (cr_model_add_pair(scene->model, a + 1, b + 1, &made.surface) != CR_OK)
                    blame_model(&list, scene);
            }
        }
    }
}

static const char* material_at(const void* ctx, int index) {
    const crModel* model = ctx;
    return index + 1 < model->material_count ? model->materials[index + 1].name : NULL;
}

static int find_material(const crPlace* place, const crJson* value, const char* field, const crScene* scene) {
    if (!cr_place_ok(place)) return 0;
    if (value->type != CR_JSON_STRING) {
        cr_place_refuse(place, value, CR_ERR_TYPE, field, "must be the name of a material, is %s",
                        cr_json_type_name(value->type));
        return 0;
    }
    for (int i = 1; i < scene->model->material_count; i++) {
        if (strcmp(scene->model->materials[i].name, value->text) == 0) return i;
    }
    const char* near = cr_name_nearest(value->text, material_at, scene->model);
    cr_place_refuse(place, value, CR_ERR_NAME, field, "no material is called \"%.40s\"%s%.40s%s", value->text,
                    near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                    near != NULL ? "\"?" : "");
    return 0;
}

int cr__scene_material(const crPlace* shape, const crScene* scene) {
    const crJson* value = cr_place_get(shape, "material");
    return value != NULL ? find_material(shape, value, "material", scene) : 0;
}

// A law of the pair's own. Rules that read no law would leave it out without a word.
static void read_law_materials(const crPlace* place, crScene* scene, crSurface* surface) {
    const crJson* given = cr_place_get(place, "law");
    if (cr_place_get(place, "law_params") != NULL) cr_place_need(place, "law", "the law that reads them");
    if (given == NULL || !cr_place_ok(place)) return;
    if (strcmp(scene->step.rule.name, "sequence") != 0) {
        cr_place_refuse(place, given, CR_ERR_ARGUMENT, "law",
                        "is read by rule \"sequence\" alone, and impact.rule is \"%s\"",
                        scene->step.rule.name);
        return;
    }
    crLaw* law = cr_arena_alloc(&scene->arena, sizeof *law);
    if (law == NULL) {
        cr__place_memory(place);
        return;
    }
    *law = (crLaw){0};
    cr__scene_law(place, scene, law);
    surface->law = law;
}

static void read_pair_materials(const crPlace* place, crScene* scene) {
    cr_place_known(place, pair_fields);
    cr_place_need(place, "materials", "the names of two materials");
    const crJson* names = cr_place_list(place, "materials", 2);
    if (names == NULL) return;
    if (names->count != 2) {
        cr_place_refuse(place, names, CR_ERR_SIZE, "materials", "must have two names, has %d", names->count);
        return;
    }
    int a = find_material(place, names->child, "materials", scene);
    int b = find_material(place, names->child->next, "materials", scene);
    crContactSurface made;
    if (!cr_place_ok(place)) return;
    if (cr_model_surface(scene->model, a, b, 0.0, &made) != CR_OK) made.surface = cr_material().surface;
    read_surface(place, scene, &made.surface);
    read_law_materials(place, scene, &made.surface);
    if (cr_place_ok(place) && cr_model_add_pair(scene->model, a, b, &made.surface) != CR_OK)
        blame_model(place, scene);
}

void cr__scene_materials(const crPlace* root, crScene* scene) {
    read_materials(root, scene);
    if (cr_place_ok(root)) add_ready_pairs(root, scene);
    const crJson* pairs = cr_place_list(root, "pairs", MOST_PAIRS);
    int index = 0;
    for (const crJson* item = pairs != NULL ? pairs->child : NULL; item != NULL && cr_place_ok(root);
         item = item->next) {
        crPlace place = cr_place_item(root, "pairs", item, index++);
        if (cr_place_ok(&place)) read_pair_materials(&place, scene);
    }
}
