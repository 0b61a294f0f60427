// motion_params.c - parameters of a scene: their names, where they stand in its tree, and their values there.
//
// Fails: see motion.h and motion_parts.h.
#include <stdlib.h>
#include <string.h>

#include "fit/motion_parts.h"
#include "fit/search.h"
#include "io/json_set.h"
#include "io/names.h"
#include "io/utf8.h"

_Static_assert(CR_MOTION_PARAMS <= CR_SEARCH_DIM, "every parameter can be searched for");

static const crMotionParam known[] = {
    {"mu", "", 0.0, 2.0, true},        {"e", "", 0.0, 1.0, false},
    {"et", "", -1.0, 1.0, false},      {"mu_roll", "", 0.0, 0.02, false},
    {"mu_spin", "", 0.0, 0.02, false}, {"threshold", "impact.threshold", 0.001, 1.0, false},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static const char* known_name(const void* ctx, int index) {
    (void)ctx;
    return index < KNOWN ? known[index].name : NULL;
}

static crStatus find_known(const char* name, crMotionParam* param, crError* error) {
    for (int i = 0; i < KNOWN; i++) {
        if (strcmp(known[i].name, name) != 0) continue;
        *param = known[i];
        return CR_OK;
    }
    const char* near = cr_name_nearest(name, known_name, NULL);
    return near != NULL
               ? cr_error_set(error, CR_ERR_NAME, "params",
                              "params: '%.40s' is no parameter; did you mean '%s'?", name, near)
               : cr_error_set(error, CR_ERR_NAME, "params",
                              "params: '%.40s' is no parameter; mu, e, et, mu_roll, mu_spin and threshold "
                              "are, or write NAME=PATH:LO:HI",
                              name);
}

static bool read_number(const char* text, double* number) {
    char* end = NULL;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number);
}

// A name is printed in tables, pages and JSON as it is: it must be UTF-8 without marks of these and without
// characters that steer a terminal.
static bool is_printable(const char* name) {
    const char* end = name + strlen(name);
    while (name < end) {
        int length = cr__utf8_length(name, end);
        if (length == 0 || cr__utf8_steers(cr__utf8_code(name, length)) || strchr("\"\\<>&", *name) != NULL)
            return false;
        name += length;
    }
    return true;
}

crStatus cr_motion_param(const char* text, crMotionParam* param, crError* error) {
    char copy[CR_MOTION_NAME + CR_MOTION_PATH + 64];
    if (strlen(text) >= sizeof copy)
        return cr_error_set(error, CR_ERR_LIMIT, "params", "params: '%.40s...' is too long", text);
    memcpy(copy, text, strlen(text) + 1);
    *param = (crMotionParam){0};
    char* colon = strchr(copy, ':');
    char* second = colon != NULL ? strchr(colon + 1, ':') : NULL;
    if (second != NULL) *second = '\0';
    if (colon != NULL) *colon = '\0';
    char* equals = strchr(copy, '=');
    if (equals != NULL) *equals = '\0';
    const char* path = equals != NULL ? equals + 1 : "";
    if (copy[0] == '\0' || strlen(copy) >= CR_MOTION_NAME || strlen(path) >= CR_MOTION_PATH ||
        (equals != NULL && (path[0] == '\0' || colon == NULL)) || (colon != NULL && second == NULL))
        return cr_error_set(error, CR_ERR_SYNTAX, "params",
                            "params: '%.60s' must be NAME, NAME:LO:HI or NAME=PATH:LO:HI", text);
    if (!is_printable(copy))
        return cr_error_set(error, CR_ERR_SYNTAX, "params",
                            "params: the name '%.40s' must not hold quotes, \\, <, >, & or controls", copy);
    if (equals == NULL) {
        crStatus status = find_known(copy, param, error);
        if (status != CR_OK) return status;
    }
    memcpy(param->name, copy, strlen(copy) + 1);
    if (equals != NULL) memcpy(param->path, path, strlen(path) + 1);
    if (colon == NULL) return CR_OK;
    if (!read_number(colon + 1, &param->lo) || !read_number(second + 1, &param->hi) ||
        !(param->lo < param->hi))
        return cr_error_set(error, CR_ERR_RANGE, "params",
                            "params: the range of '%.60s' must be two numbers, the smaller first", text);
    param->ratio = param->ratio && param->lo >= 0.0;
    return CR_OK;
}

double cr_motion_param_value(const crMotionParam* p, double x) {
    if (!p->ratio) return p->lo + (p->hi - p->lo) * x;
    double lo = p->lo / (1.0 + p->lo), hi = p->hi / (1.0 + p->hi);
    double y = lo + (hi - lo) * x;
    return y / (1.0 - y);
}

// every member of `materials`, and the pairs that say something of their own
static crStatus surface_paths(const crJson* root, const char* name, crMotionVisit visit, void* ctx,
                              crError* error) {
    char path[CR_MOTION_PATH + CR_MOTION_NAME];
    const crJson* materials = cr_json_get(root, "materials");
    const crJson* pairs = cr_json_get(root, "pairs");
    crStatus status = CR_OK;
    int count = 0, index = 0;
    for (const crJson* m = materials != NULL ? materials->child : NULL; m != NULL; m = m->next) {
        if (status != CR_OK || m->type != CR_JSON_OBJECT) continue;
        snprintf(path, sizeof path, "materials.%.60s.%s", m->key, name);
        status = visit(ctx, path, error);
        count++;
    }
    for (const crJson* p = pairs != NULL ? pairs->child : NULL; p != NULL && status == CR_OK; p = p->next) {
        snprintf(path, sizeof path, "pairs[%d].%s", index++, name);
        if (cr_json_get(p, name) != NULL) status = visit(ctx, path, error);
    }
    if (status != CR_OK || count > 0) return status;
    return cr_error_set(error, CR_ERR_MISSING, "materials",
                        "materials: the scene has none to fit %s of; name a material for its shapes", name);
}

// "half[*]" is every item of the list
static crStatus item_paths(const crJson* root, const char* path, const char* star, crMotionVisit visit,
                           void* ctx, crError* error) {
    char text[CR_MOTION_PATH + 16];
    const crJson* list = NULL;
    snprintf(text, sizeof text, "%.*s", (int)(star - path), path);
    crStatus status = cr_json_at(root, text, &list, error);
    if (status == CR_OK && (list->type != CR_JSON_ARRAY || list->count == 0))
        status = cr_error_set(error, CR_ERR_TYPE, "params", "params: %.60s is no list with items", text);
    for (int i = 0; status == CR_OK && i < list->count; i++) {
        snprintf(text, sizeof text, "%.*s[%d]%s", (int)(star - path), path, i, star + 3);
        status = visit(ctx, text, error);
    }
    return status;
}

crStatus cr__motion_paths(const crJson* root, const crMotionParam* param, crMotionVisit visit, void* ctx,
                          crError* error) {
    const char* star = strstr(param->path, "[*]");
    if (param->path[0] == '\0') return surface_paths(root, param->name, visit, ctx, error);
    return star != NULL ? item_paths(root, param->path, star, visit, ctx, error)
                        : visit(ctx, param->path, error);
}

typedef struct Setting {
    crJsonDoc* doc;
    const char* value;
} Setting;

static crStatus set_path(void* ctx, const char* path, crError* error) {
    const Setting* s = ctx;
    return cr_json_set(s->doc, path, s->value, error);
}

crStatus cr__motion_tree(const crMotionModel* m, const double* values, crJsonDoc* doc, crError* error) {
    crStatus status = cr_json_parse(m->text, strlen(m->text), 1, doc, error);
    if (status != CR_OK) return status;
    for (int i = 0; i < m->param_count && status == CR_OK; i++) {
        char text[CR_JSON_NUMBER_TEXT];
        cr_json_number_text(values[i], text);
        status = cr__motion_paths(doc->root, &m->params[i], set_path, &(Setting){doc, text}, error);
    }
    if (status != CR_OK) cr_json_free(doc);
    return status;
}

char* cr__motion_text(const crJson* root) {
    char* text = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&text, &size);
    if (memory == NULL) return NULL;
    cr_json_write_tree(memory, root);
    fclose(memory);
    return text;
}
