// columns.c - which column each quantity comes from, and its values row by row, refused by their place.
//
// Fails: see columns.h; a cell that is used and is no finite number is refused with its text.
#include "fit/columns.h"

#include <string.h>

static const crSource* find_source(const crImpactOptions* options, const char* name) {
    for (int i = options->source_count; i-- > 0;) {
        if (strcmp(options->sources[i].name, name) == 0) return &options->sources[i];
    }
    return NULL;
}

bool cr__columns_given(const crTable* table, const crImpactOptions* options, const char* name) {
    return find_source(options, name) != NULL || cr_table_column(table, name) >= 0;
}

static crStatus find_quantity(crColumns* c, const crImpactOptions* options, int i, crError* error) {
    const crQuantity* q = &c->quantities[i];
    const crSource* source = find_source(options, q->name);
    const char* column = source != NULL ? source->column : q->name;
    c->factor[i] = source != NULL ? source->factor : 1.0;
    c->column[i] = column[0] != '\0' ? cr_table_column(c->table, column) : -1;
    if (c->column[i] >= 0) return CR_OK;
    if (column[0] != '\0') {
        if (source != NULL)
            return cr_error_set(error, CR_ERR_FIELD, q->name, "%s: there is no column '%.60s'", q->name,
                                column);
        if (isnan(q->fallback))
            return cr_error_set(error, CR_ERR_MISSING, q->name,
                                "%s: no such column; name another with --column %s=NAME, or give a number",
                                q->name, q->name);
        c->factor[i] = q->fallback;
    }
    return CR_OK;
}

crStatus cr__columns_find(crColumns* columns, const crImpactOptions* options, crError* error) {
    for (int i = 0; i < columns->count; i++) {
        crStatus status = find_quantity(columns, options, i, error);
        if (status == CR_OK) continue;
        if (error != NULL) error->line = error->column = 1;
        return status;
    }
    return CR_OK;
}

crStatus cr__columns_known(const crImpactOptions* options, const crQuantity* quantities, int count,
                           const char* what, crError* error) {
    for (int i = 0; i < options->source_count; i++) {
        const char* name = options->sources[i].name;
        bool known = false;
        for (int k = 0; k < count && !known; k++) {
            known = strcmp(name, quantities[k].name) == 0;
        }
        if (!known)
            return cr_error_set(error, CR_ERR_FIELD, name, "%s: not a quantity of these %s (docs/fit.md)",
                                name, what);
    }
    return CR_OK;
}

static crStatus refuse_cell(const crColumns* c, int row, int i, crError* error) {
    const char* name = c->quantities[i].name;
    char text[40];
    cr_table_cell(c->table, row, c->column[i], text, sizeof text);
    crStatus status = cr_error_set(error, CR_ERR_FINITE, name, "%s: '%s' is not a finite number", name, text);
    cr_table_place(c->table, row, c->column[i], error);
    return status;
}

crStatus cr__columns_read(crColumns* c, int row, crError* error) {
    for (int i = 0; i < c->count; i++) {
        bool constant = c->column[i] < 0;
        c->value[i] = c->factor[i] * (constant ? 1.0 : cr_table_value(c->table, row, c->column[i]));
        if (!isfinite(c->value[i])) return refuse_cell(c, row, i, error);
    }
    return CR_OK;
}

crStatus cr__columns_refuse(const crColumns* c, int row, int i, crStatus status, crError* error) {
    cr_table_place(c->table, row, c->column[i] >= 0 ? c->column[i] : 0, error);
    return status;
}

crStatus cr__columns_where(const crTable* table, const crImpactOptions* options, int row, bool* counts,
                           crError* error) {
    *counts = true;
    for (int i = 0; i < options->where_count; i++) {
        int column = cr_table_column(table, options->where[i].column);
        if (column < 0)
            return cr_error_set(error, CR_ERR_FIELD, "where", "where: there is no column '%.60s'",
                                options->where[i].column);
        if (cr_table_value(table, row, column) != options->where[i].value) *counts = false;
    }
    return CR_OK;
}
