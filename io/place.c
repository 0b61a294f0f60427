// place.c - typed reading of the fields of nested objects.
//
// On top of fields.c, with the path put before the name and the first refusal kept. Fails: wrong-type,
// wrong-size, out-of-range, unknown-name, unknown-field, missing-field, limit; never twice.
#include "io/place.h"

#include <string.h>

#include "io/fields.h"
#include "io/names.h"

#define FIELD 48  // characters of crError.field

bool cr_place_ok(const crPlace* place) { return place->trouble->status == CR_OK; }

static const char* full(const crPlace* place, const char* name, char field[FIELD]) {
    snprintf(field, FIELD, "%s%s", place->path, name);
    return field;
}

static void settle(const crPlace* place, crStatus status) { place->trouble->status = status; }

const crJson* cr_place_get(const crPlace* place, const char* name) {
    return cr_place_ok(place) ? cr_json_get(place->object, name) : NULL;
}

void cr_place_refuse(const crPlace* place, const crJson* where, crStatus status, const char* name,
                     const char* format, ...) {
    if (!cr_place_ok(place)) return;
    char message[160];
    char field[FIELD];
    va_list args;
    va_start(args, format);
    cr_error_format(message, sizeof message, format, args);
    va_end(args);
    full(place, name, field);
    settle(place, cr_field_refuse(where != NULL ? where : place->object, status, field, place->trouble->error,
                                  "%s: %s", field, message));
}

void cr_place_blame(const crPlace* place, const char* name, const crError* error) {
    if (!cr_place_ok(place)) return;
    const crJson* where = cr_json_get(place->object, name);
    // the other function has named its field as well, by a name of its own
    const char* message = strstr(error->message, ": ");
    cr_place_refuse(place, where, error->status, name, "%s", message != NULL ? message + 2 : error->message);
}

void cr_place_known(const crPlace* place, const char* const* names) {
    if (!cr_place_ok(place)) return;
    settle(place, cr_field_known(place->object, place->path, names, place->trouble->error));
}

void cr_place_need(const crPlace* place, const char* name, const char* what) {
    if (!cr_place_ok(place) || cr_json_get(place->object, name) != NULL) return;
    cr_place_refuse(place, NULL, CR_ERR_MISSING, name, "is missing, %s", what);
}

static void need_object(const crPlace* place) {
    if (!cr_place_ok(place) || place->object->type == CR_JSON_OBJECT) return;
    char field[FIELD];
    snprintf(field, sizeof field, "%.*s", (int)strlen(place->path) - 1, place->path);
    settle(place,
           cr_field_refuse(place->object, CR_ERR_TYPE, field, place->trouble->error,
                           "%s: must be an object, is %s", field, cr_json_type_name(place->object->type)));
}

bool cr_place_into(const crPlace* place, const char* name, crPlace* inner) {
    const crJson* object = cr_place_get(place, name);
    if (object == NULL) return false;
    *inner = (crPlace){.object = object, .trouble = place->trouble};
    snprintf(inner->path, sizeof inner->path, "%.18s%.18s.", place->path, name);
    need_object(inner);
    return cr_place_ok(inner);
}

crPlace cr_place_item(const crPlace* place, const char* name, const crJson* item, int index) {
    crPlace inner = {.object = item, .trouble = place->trouble};
    snprintf(inner.path, sizeof inner.path, "%.16s%.12s[%d].", place->path, name, index);
    need_object(&inner);
    return inner;
}

const crJson* cr_place_list(const crPlace* place, const char* name, int most) {
    const crJson* list = cr_place_get(place, name);
    if (list == NULL) return NULL;
    if (list->type != CR_JSON_ARRAY) {
        cr_place_refuse(place, list, CR_ERR_TYPE, name, "must be a list [...], is %s",
                        cr_json_type_name(list->type));
        return NULL;
    }
    if (list->count > most) {
        cr_place_refuse(place, list, CR_ERR_LIMIT, name, "has %d entries, allowed are %d", list->count, most);
        return NULL;
    }
    return list;
}

static void check_range(const crPlace* place, const crJson* value, const char* name, crRange range,
                        double number) {
    if (range == CR_ANY || number > 0.0 || (range == CR_NOT_NEGATIVE && number == 0.0)) return;
    cr_place_refuse(place, value, CR_ERR_RANGE, name, "is %.17g, must be %s 0", number,
                    range == CR_POSITIVE ? "above" : "at least");
}

void cr_place_number(const crPlace* place, const char* name, crRange range, double* number) {
    const crJson* value = cr_place_get(place, name);
    if (value == NULL) return;
    char field[FIELD];
    settle(place, cr_field_number(value, full(place, name, field), number, place->trouble->error));
    if (cr_place_ok(place)) check_range(place, value, name, range, *number);
}

void cr_place_limit(const crPlace* place, const char* name, crRange range, double* number) {
    const crJson* value = cr_place_get(place, name);
    if (value == NULL) return;
    if (value->type == CR_JSON_STRING && strcmp(value->text, "inf") == 0) {
        *number = INFINITY;
    } else if (value->type != CR_JSON_NUMBER) {
        cr_place_refuse(place, value, CR_ERR_TYPE, name, "must be a number or \"inf\", is %s",
                        cr_json_type_name(value->type));
    } else {
        cr_place_number(place, name, range, number);
    }
}

void cr_place_whole(const crPlace* place, const char* name, int least, int most, int* number) {
    const crJson* value = cr_place_get(place, name);
    double whole = 0.0;
    cr_place_number(place, name, CR_ANY, &whole);
    if (value == NULL || !cr_place_ok(place)) return;
    if (!(whole >= least && whole <= most && floor(whole) == whole)) {
        cr_place_refuse(place, value, CR_ERR_RANGE, name, "is %.17g, must be a whole number from %d to %d",
                        whole, least, most);
        return;
    }
    *number = (int)whole;
}

void cr_place_bool(const crPlace* place, const char* name, bool* flag) {
    const crJson* value = cr_place_get(place, name);
    if (value == NULL) return;
    char field[FIELD];
    settle(place, cr_field_bool(value, full(place, name, field), flag, place->trouble->error));
}

void cr_place_text(const crPlace* place, const char* name, const char** text) {
    const crJson* value = cr_place_get(place, name);
    if (value == NULL) return;
    char field[FIELD];
    settle(place, cr_field_text(value, full(place, name, field), text, place->trouble->error));
}

void cr_place_choice(const crPlace* place, const char* name, const char* const* names, int* choice) {
    const crJson* value = cr_place_get(place, name);
    const char* typed = NULL;
    cr_place_text(place, name, &typed);
    if (value == NULL || !cr_place_ok(place)) return;
    char allowed[112] = "";
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(typed, names[i]) == 0) {
            *choice = i;
            return;
        }
        size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    cr_place_refuse(place, value, CR_ERR_NAME, name, "is \"%.24s\", must be one of %s", typed, allowed);
}

void cr_place_vector(const crPlace* place, const char* name, crVec3* vector) {
    const crJson* value = cr_place_get(place, name);
    if (value == NULL) return;
    char field[FIELD];
    settle(place, cr_field_vector(value, full(place, name, field), 3, vector, place->trouble->error));
}

void cr_place_quat(const crPlace* place, const char* name, crQuat* quat) {
    const crJson* value = cr_place_get(place, name);
    if (value == NULL) return;
    char field[FIELD];
    double q[4] = {0};
    int count = 0;
    settle(place, cr_field_numbers(value, full(place, name, field), 4, 4, q, &count, place->trouble->error));
    if (!cr_place_ok(place)) return;
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 1e-100 && length < 1e100)) {
        cr_place_refuse(place, value, CR_ERR_UNIT, name, "has length %.3g, must have one: w, x, y, z",
                        length);
        return;
    }
    *quat = cr_quat_normalize((crQuat){q[0], q[1], q[2], q[3]});
}

void cr_place_direction(const crPlace* place, const char* name, crVec3* vector) {
    const crJson* value = cr_place_get(place, name);
    crVec3 v = {0};
    cr_place_vector(place, name, &v);
    if (value == NULL || !cr_place_ok(place)) return;
    double length = cr_norm(v);
    if (!(length > 1e-100 && length < 1e100)) {
        cr_place_refuse(place, value, CR_ERR_UNIT, name, "has length %.3g, must have a direction", length);
        return;
    }
    *vector = cr_scale(1.0 / length, v);
}
