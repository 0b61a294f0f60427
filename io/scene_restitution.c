// scene_restitution.c - restitution by a named form, out of JSON.
//
//     {"form": "power", "speed": 1, "e": 0.8, "exponent": 0.25, "most": 1}
//     {"form": "viscoelastic", "speed": 1, "e": 0.8}
//     {"form": "plastic", "speed": 0.01}
//     {"form": "spline", "rows": [[0, 0.9], [2, 0.7], [10, 0.5]]}
#include "io/scene_restitution.h"
#include "carom/forms.h"

#include <string.h>

#include "io/fields.h"

#define MOST_ROWS 16

static crStatus read_rows_restitution(const crJson* rows, crRestitutionForm* form, double table[2][MOST_ROWS],
                                      crError* error) {
    bool list = rows != NULL && rows->type == CR_JSON_ARRAY;
    if (!list || rows->count < 2 || rows->count > MOST_ROWS) {
        return cr_field_refuse(rows, CR_ERR_SIZE, "e.rows", error, "e.rows: must be 2 to %d rows [speed, e]",
                               MOST_ROWS);
    }
    for (const crJson* item = rows->child; item != NULL; item = item->next) {
        double pair[2] = {0};
        int found = 0;
        crStatus status = cr_field_numbers(item, "e.rows", 2, 2, pair, &found, error);
        if (status != CR_OK) return status;
        table[0][form->count] = pair[0];
        table[1][form->count++] = pair[1];
    }
    form->speeds = table[0];
    form->values = table[1];
    return CR_OK;
}

static crStatus read_kind_restitution(const crJson* object, crRestitutionForm* form, crError* error) {
    const char* name = NULL;
    const crJson* value = cr_json_get(object, "form");
    if (value == NULL) {
        return cr_field_refuse(object, CR_ERR_FIELD, "e.form", error,
                               "e.form: is missing, must be power, viscoelastic, plastic or spline");
    }
    crStatus status = cr_field_text(value, "e.form", &name, error);
    if (status != CR_OK) return status;
    for (int i = 0; cr_form_name((crFormKind)i) != NULL; i++) {
        form->kind = (crFormKind)i;
        if (strcmp(name, cr_form_name(form->kind)) == 0) return CR_OK;
    }
    return cr_field_refuse(value, CR_ERR_NAME, "e.form", error,
                           "e.form: is \"%.30s\", must be power, viscoelastic, plastic or spline", name);
}

crStatus cr__read_form(const crJson* object, double* speed, double* e, int* count, crError* error) {
    static const char* const power_fields[] = {"form", "speed", "e", "exponent", "most", NULL};
    static const char* const viscoelastic_fields[] = {"form", "speed", "e", NULL};
    static const char* const plastic_fields[] = {"form", "speed", NULL};
    static const char* const spline_fields[] = {"form", "rows", NULL};
    static const char* const* const known[] = {power_fields, viscoelastic_fields, plastic_fields,
                                               spline_fields};
    double table[2][MOST_ROWS];
    crRestitutionForm form = {.speed = 1.0, .exponent = 0.25, .most = 1.0};
    crStatus status = read_kind_restitution(object, &form, error);
    if (status == CR_OK) status = cr_field_known(object, "e.", known[form.kind], error);
    const char* const names[] = {"speed", "e", "exponent", "most"};
    double* const places[] = {&form.speed, &form.e, &form.exponent, &form.most};
    for (int i = 0; i < 4 && status == CR_OK; i++) {
        const crJson* value = cr_json_get(object, names[i]);
        if (value != NULL) status = cr_field_number(value, names[i], places[i], error);
    }
    if (status == CR_OK && form.kind == CR_FORM_SPLINE) {
        const crJson* rows = cr_json_get(object, "rows");
        status = read_rows_restitution(rows != NULL ? rows : object, &form, table, error);
    }
    if (status != CR_OK) return status;
    crError found = {0};
    int rows = cr_restitution_form(&form, speed, e, &found);
    if (rows < 0) {
        return cr_field_refuse(object, (crStatus)rows, "e", error, "e.%s", found.message);
    }
    *count = rows;
    return CR_OK;
}
