// sources.c - which column a quantity is read from, and which rows count: the texts of --column and --where.
//
// Fails: syntax where a text has no '=' or nothing on one side of it, limit where there are too many or one
// is too long.
#include <stdlib.h>
#include <string.h>

#include "fit/impacts.h"

// the two sides of "LEFT=RIGHT"; RIGHT is what is left of text
static crStatus split(const char* text, const char* what, char* left, size_t room, const char** right,
                      crError* error) {
    const char* equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return cr_error_set(error, CR_ERR_SYNTAX, what, "%s: '%.60s' must be NAME=VALUE", what, text);
    size_t length = (size_t)(equals - text);
    if (length >= room || strlen(equals + 1) >= sizeof(((crSource*)0)->column))
        return cr_error_set(error, CR_ERR_LIMIT, what, "%s: '%.60s' is too long", what, text);
    memcpy(left, text, length);
    left[length] = '\0';
    *right = equals + 1;
    return CR_OK;
}

static bool read_number(const char* text, double* number) {
    char* end = NULL;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number);
}

// "COLUMN*2" and "COLUMN/148": the number goes into the factor
static void take_scale(crSource* source) {
    char* sign = source->column + strcspn(source->column, "*/");
    double number = 0.0;
    if (*sign == '\0' || !read_number(sign + 1, &number) || number == 0.0) return;
    source->factor = *sign == '*' ? source->factor * number : source->factor / number;
    *sign = '\0';
}

crStatus cr_impact_source(crImpactOptions* options, const char* text, crError* error) {
    if (options->source_count == CR_SOURCES_MOST)
        return cr_error_set(error, CR_ERR_LIMIT, "column", "column: more than %d", CR_SOURCES_MOST);
    crSource* source = &options->sources[options->source_count];
    *source = (crSource){.factor = 1.0};
    const char* from = NULL;
    crStatus status = split(text, "column", source->name, sizeof source->name, &from, error);
    if (status != CR_OK) return status;
    if (!read_number(from, &source->factor)) {
        bool minus = from[0] == '-';
        source->factor = minus ? -1.0 : 1.0;
        memcpy(source->column, from + minus, strlen(from + minus) + 1);
        take_scale(source);
        if (source->column[0] == '\0')
            return cr_error_set(error, CR_ERR_SYNTAX, "column", "column: '%.60s' names no column", text);
    }
    options->source_count++;
    return CR_OK;
}

crStatus cr_impact_where(crImpactOptions* options, const char* text, crError* error) {
    if (options->where_count == CR_SOURCES_MOST)
        return cr_error_set(error, CR_ERR_LIMIT, "where", "where: more than %d", CR_SOURCES_MOST);
    crWhere* where = &options->where[options->where_count];
    const char* value = NULL;
    crStatus status = split(text, "where", where->column, sizeof where->column, &value, error);
    if (status != CR_OK) return status;
    if (!read_number(value, &where->value))
        return cr_error_set(error, CR_ERR_TYPE, "where", "where: '%.60s' does not end in a number", text);
    options->where_count++;
    return CR_OK;
}
