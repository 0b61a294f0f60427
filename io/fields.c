// fields.c - typed reading of JSON values.
//
// One function per type; each names the field, says what it found and what it wants, and takes line and
// column from the value. Fails: wrong-type, wrong-size, not-symmetric, unknown-field.
#include "io/fields.h"

#include <string.h>

#include "io/names.h"

crStatus cr_field_refuse(const crJson* where, crStatus status, const char* field, crError* error,
                         const char* format, ...) {
    if (error == NULL) return status;
    char message[sizeof error->message];
    va_list args;
    va_start(args, format);
    cr_error_format(message, sizeof message, format, args);
    va_end(args);
    cr_error_set(error, status, field, "%s", message);
    error->line = where->line;
    error->column = where->column;
    return status;
}

static crStatus wrong_type(const crJson* value, const char* field, const char* wanted, crError* error) {
    return cr_field_refuse(value, CR_ERR_TYPE, field, error, "%s: must be %s, is %s", field, wanted,
                           cr_json_type_name(value->type));
}

crStatus cr_field_number(const crJson* value, const char* field, double* number, crError* error) {
    if (value->type != CR_JSON_NUMBER) return wrong_type(value, field, "a number", error);
    *number = value->number;
    return CR_OK;
}

crStatus cr_field_bool(const crJson* value, const char* field, bool* flag, crError* error) {
    if (value->type != CR_JSON_BOOL) return wrong_type(value, field, "true or false", error);
    *flag = value->number != 0.0;
    return CR_OK;
}

crStatus cr_field_text(const crJson* value, const char* field, const char** text, crError* error) {
    if (value->type != CR_JSON_STRING) return wrong_type(value, field, "a string", error);
    *text = value->text;
    return CR_OK;
}

crStatus cr_field_numbers(const crJson* value, const char* field, int least, int most, double* numbers,
                          int* count, crError* error) {
    if (value->type != CR_JSON_ARRAY) return wrong_type(value, field, "a list of numbers", error);
    if (value->count < least || value->count > most) {
        return least == most ? cr_field_refuse(value, CR_ERR_SIZE, field, error,
                                               "%s: must have %d numbers, has %d", field, most, value->count)
                             : cr_field_refuse(value, CR_ERR_SIZE, field, error,
                                               "%s: must have %d to %d numbers, has %d", field, least, most,
                                               value->count);
    }
    *count = value->count;
    if (value->packed != NULL) {
        memcpy(numbers, value->packed, (size_t)value->count * sizeof *numbers);
        return CR_OK;
    }
    int i = 0;
    for (const crJson* item = value->child; item != NULL; item = item->next) {
        crStatus status = cr_field_number(item, field, &numbers[i++], error);
        if (status != CR_OK) return status;
    }
    return CR_OK;
}

crStatus cr_field_vector(const crJson* value, const char* field, int dimension, crVec3* vector,
                         crError* error) {
    double numbers[3] = {0};
    int count = 0;
    crStatus status = cr_field_numbers(value, field, dimension, dimension, numbers, &count, error);
    if (status == CR_OK) *vector = cr_vec3(numbers[0], numbers[1], numbers[2]);
    return status;
}

crStatus cr_field_matrix(const crJson* value, const char* field, int dimension, crMat3* matrix,
                         crError* error) {
    if (value->type != CR_JSON_ARRAY) return wrong_type(value, field, "a matrix, as a list of rows", error);
    if (value->count != dimension) {
        return cr_field_refuse(value, CR_ERR_SIZE, field, error, "%s: must have %d rows, has %d", field,
                               dimension, value->count);
    }
    *matrix = (crMat3){0};
    int i = 0;
    for (const crJson* row = value->child; row != NULL; row = row->next, i++) {
        int count = 0;
        crStatus status = cr_field_numbers(row, field, dimension, dimension, matrix->m[i], &count, error);
        if (status != CR_OK) return status;
    }
    return CR_OK;
}

crStatus cr_field_symmetric(const crJson* value, const char* field, int dimension, crSym3* matrix,
                            crError* error) {
    crMat3 full;
    crStatus status = cr_field_matrix(value, field, dimension, &full, error);
    if (status != CR_OK) return status;
    double(*m)[3] = full.m;
    double largest = 0.0;
    double skew = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            largest = fmax(largest, fabs(m[i][j]));
            skew = fmax(skew, fabs(m[i][j] - m[j][i]));
        }
    }
    if (skew > 1e-9 * largest) {
        return cr_field_refuse(value, CR_ERR_SYMMETRY, field, error,
                               "%s: not symmetric, entries across the diagonal differ by %g (allowed: %g)",
                               field, skew, 1e-9 * largest);
    }
    *matrix = (crSym3){m[0][0], 0.5 * (m[0][1] + m[1][0]), 0.5 * (m[0][2] + m[2][0]),
                       m[1][1], 0.5 * (m[1][2] + m[2][1]), m[2][2]};
    return CR_OK;
}

static bool is_known(const char* key, const char* const* names) {
    for (; *names != NULL; names++) {
        if (strcmp(key, *names) == 0) return true;
    }
    return false;
}

crStatus cr_field_known(const crJson* object, const char* prefix, const char* const* names, crError* error) {
    for (const crJson* member = object->child; member != NULL; member = member->next) {
        if (is_known(member->key, names)) continue;
        char field[48];
        snprintf(field, sizeof field, "%s%s", prefix, member->key);
        const char* near = cr_name_nearest_of(member->key, names);
        return near != NULL ? cr_field_refuse(member, CR_ERR_FIELD, field, error,
                                              "%s: no such field; did you mean \"%s\"?", field, near)
                            : cr_field_refuse(member, CR_ERR_FIELD, field, error, "%s: no such field", field);
    }
    return CR_OK;
}
