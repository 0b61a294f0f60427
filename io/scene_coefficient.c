// scene_coefficient.c - a coefficient that depends on the impact, out of JSON.
//
//     {"form": "power", "speed": 1, "e": 0.8, "exponent": 0.25, "most": 1}
//     {"form": "viscoelastic", "speed": 1, "e": 0.8}
//     {"form": "plastic", "speed": 0.01}
//     {"form": "spline", "by": "speed", "rows": [[0, 0.9], [2, 0.7], [10, 0.5]]}
//     {"form": "decay", "by": "slip", "near": 0.118, "far": 0.01, "scale": 0.92}
//     {"form": "grip", "grip": 0.2, "limit": 0.9}
//     {"by": "angle", "rows": [[0, 0.2], [1.2, 0]]}
//     {"by": ["speed", "angle"], "x": [1, 10], "y": [0, 0.8, 1.5], "values": [[...], [...]]}
// "by" is speed, slip, angle (rad) or spin; e over speed needs none.
#include "io/scene_coefficient.h"

#include <stdio.h>
#include <string.h>

#include "io/fields.h"

#define SPLINE_ROWS 16
#define FORMS       "power, viscoelastic, plastic, spline, decay or grip"
#define FIGURES     "speed, slip, angle or spin"

typedef struct Reader {
    const crJson* object;
    const char* name;
    crCurveRoom* room;
    crError* error;
} Reader;

// Refuses a field of the object, with what is allowed; the object's place where the field is missing.
static crStatus refuse(const Reader* r, crStatus status, const char* key, const char* allowed) {
    char field[64];
    const crJson* value = cr_json_get(r->object, key);
    bool text = value != NULL && value->type == CR_JSON_STRING;
    snprintf(field, sizeof field, "%s.%s", r->name, key);
    return cr_field_refuse(value != NULL ? value : r->object, status, field, r->error, "%s: %s%.30s%s%s",
                           field, text ? "is \"" : "", text ? value->text : "",
                           text            ? "\", "
                           : value == NULL ? "is missing, "
                                           : "",
                           allowed);
}

static crStatus known(const Reader* r, const char* const* names) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "%s.", r->name);
    return cr_field_known(r->object, prefix, names, r->error);
}

static bool find_figure(const crJson* value, crFigure* figure) {
    if (value == NULL || value->type != CR_JSON_STRING) return false;
    for (int i = 0; cr_figure_name((crFigure)i) != NULL; i++) {
        *figure = (crFigure)i;
        if (strcmp(value->text, cr_figure_name(*figure)) == 0) return true;
    }
    return false;
}

// One figure; e is over speed where none is named.
static crStatus curve_figure(const Reader* r) {
    const crJson* by = cr_json_get(r->object, "by");
    crFigure* figure = &r->room->curve.by[0];
    *figure = CR_FIGURE_SPEED;
    if ((by == NULL && strcmp(r->name, "e") == 0) || find_figure(by, figure)) return CR_OK;
    return refuse(r, CR_ERR_NAME, "by", "must be " FIGURES);
}

// rows [x, value] as two lists
static crStatus curve_rows(const Reader* r, int most, double* x, double* value, int* count) {
    const crJson* rows = cr_json_get(r->object, "rows");
    char field[64], allowed[64];
    snprintf(field, sizeof field, "%s.rows", r->name);
    snprintf(allowed, sizeof allowed, "must be 2 to %d rows [x, %s]", most, r->name);
    if (rows == NULL || rows->type != CR_JSON_ARRAY || rows->count < 2 || rows->count > most)
        return refuse(r, CR_ERR_SIZE, "rows", allowed);
    *count = 0;
    for (const crJson* item = rows->child; item != NULL; item = item->next, (*count)++) {
        double pair[2] = {0};
        int found = 0;
        crStatus status = cr_field_numbers(item, field, 2, 2, pair, &found, r->error);
        if (status != CR_OK) return status;
        x[*count] = pair[0];
        value[*count] = pair[1];
    }
    return CR_OK;
}

static crStatus form_numbers(const Reader* r, crForm* form) {
    const char* const names[] = {"speed", "e", "exponent", "most", "near", "far", "scale", "grip", "limit"};
    double* const places[] = {&form->speed, &form->e,     &form->exponent, &form->most, &form->begin,
                              &form->end,   &form->scale, &form->grip,     &form->limit};
    crStatus status = CR_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == CR_OK; i++) {
        const crJson* value = cr_json_get(r->object, names[i]);
        if (value != NULL) status = cr_field_number(value, names[i], places[i], r->error);
    }
    return status;
}

static crStatus form_kind(const Reader* r, crFormKind* kind) {
    const crJson* value = cr_json_get(r->object, "form");
    for (int i = 0; value->type == CR_JSON_STRING && cr_form_name((crFormKind)i) != NULL; i++) {
        *kind = (crFormKind)i;
        if (strcmp(value->text, cr_form_name(*kind)) == 0) return CR_OK;
    }
    return refuse(r, CR_ERR_NAME, "form", "must be " FORMS);
}

static crStatus curve_of_form(const Reader* r) {
    static const char* const power_fields[] = {"form", "speed", "e", "exponent", "most", NULL};
    static const char* const viscoelastic_fields[] = {"form", "speed", "e", NULL};
    static const char* const plastic_fields[] = {"form", "speed", NULL};
    static const char* const spline_fields[] = {"form", "by", "rows", NULL};
    static const char* const decay_fields[] = {"form", "by", "near", "far", "scale", NULL};
    static const char* const grip_fields[] = {"form", "grip", "limit", NULL};
    static const char* const* const known_to[] = {power_fields,  viscoelastic_fields, plastic_fields,
                                                  spline_fields, decay_fields,        grip_fields};
    double places[SPLINE_ROWS], values[SPLINE_ROWS];
    crCurve* curve = &r->room->curve;
    crForm form = {
        .speed = 1.0, .exponent = 0.25, .most = 1.0, .scale = 1.0, .speeds = places, .values = values};
    crStatus status = form_kind(r, &form.kind);
    if (status == CR_OK) status = known(r, known_to[form.kind]);
    if (status == CR_OK) status = form_numbers(r, &form);
    bool any = form.kind == CR_FORM_SPLINE || form.kind == CR_FORM_DECAY;
    curve->by[0] = form.kind == CR_FORM_GRIP ? CR_FIGURE_ANGLE : CR_FIGURE_SPEED;
    if (status == CR_OK && any) status = curve_figure(r);
    if (status == CR_OK && form.kind == CR_FORM_SPLINE)
        status = curve_rows(r, SPLINE_ROWS, places, values, &form.count);
    if (status != CR_OK) return status;
    crError found = {0};
    int rows = cr_form_table(&form, r->room->x, r->room->value, &found);
    if (rows < 0)
        return cr_field_refuse(r->object, (crStatus)rows, r->name, r->error, "%s.%s", r->name, found.message);
    curve->rows = rows;
    return CR_OK;
}

// A table over two figures.
static crStatus curve_of_grid(const Reader* r) {
    static const char* const fields[] = {"by", "x", "y", "values", NULL};
    crCurve* curve = &r->room->curve;
    const crJson* by = cr_json_get(r->object, "by");
    crStatus status = known(r, fields);
    if (status != CR_OK) return status;
    if (by->count != 2 || !find_figure(by->child, &curve->by[0]) ||
        !find_figure(by->child->next, &curve->by[1]) || curve->by[0] == curve->by[1])
        return refuse(r, CR_ERR_NAME, "by", "must be one or two of " FIGURES);
    const crJson *x = cr_json_get(r->object, "x"), *y = cr_json_get(r->object, "y");
    if (x == NULL) return refuse(r, CR_ERR_MISSING, "x", "must be the places of the rows");
    if (y == NULL) return refuse(r, CR_ERR_MISSING, "y", "must be the places of the columns");
    status = cr_field_numbers(x, "x", 2, CR_CURVE_COLUMNS, r->room->x, &curve->rows, r->error);
    if (status == CR_OK)
        status = cr_field_numbers(y, "y", 2, CR_CURVE_COLUMNS, r->room->y, &curve->columns, r->error);
    if (status != CR_OK) return status;
    const crJson* values = cr_json_get(r->object, "values");
    char allowed[80];
    snprintf(allowed, sizeof allowed, "must be %d rows of %d numbers, at most %d in all", curve->rows,
             curve->columns, CR_CURVE_VALUES);
    if (values == NULL || values->type != CR_JSON_ARRAY || values->count != curve->rows ||
        curve->rows * curve->columns > CR_CURVE_VALUES)
        return refuse(r, CR_ERR_SIZE, "values", allowed);
    double* to = r->room->value;
    for (const crJson* item = values->child; item != NULL && status == CR_OK; item = item->next) {
        int found = 0;
        status = cr_field_numbers(item, "values", curve->columns, curve->columns, to, &found, r->error);
        to += curve->columns;
    }
    return status;
}

static crStatus curve_of_table(const Reader* r) {
    static const char* const fields[] = {"by", "rows", NULL};
    const crJson* by = cr_json_get(r->object, "by");
    if (by != NULL && by->type == CR_JSON_ARRAY) return curve_of_grid(r);
    crStatus status = known(r, fields);
    if (status == CR_OK && by == NULL)
        status = refuse(r, CR_ERR_FIELD, "form", "must be " FORMS "; or by, a table over " FIGURES);
    if (status == CR_OK) status = curve_figure(r);
    if (status == CR_OK)
        status = curve_rows(r, CR_FORM_ROWS, r->room->x, r->room->value, &r->room->curve.rows);
    return status;
}

crStatus cr__read_coefficient(const crJson* object, const char* name, crCurveRoom* room, crError* error) {
    Reader reader = {object, name, room, error};
    room->curve = (crCurve){.columns = 1, .x = room->x, .y = room->y, .value = room->value};
    return cr_json_get(object, "form") != NULL ? curve_of_form(&reader) : curve_of_table(&reader);
}
