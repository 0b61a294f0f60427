// columns.h - the quantities of one kind of measurement, found among the columns of a table and read row by
// row.
#ifndef CAROM_FIT_COLUMNS_H
#define CAROM_FIT_COLUMNS_H

#include "fit/impacts.h"

#define CR_COLUMNS_MOST 25

typedef struct crQuantity {
    const char* name;
    double fallback;  // NaN: must be there
} crQuantity;

// For each quantity a column and a factor, or column -1 and the value.
typedef struct crColumns {
    const crTable* table;
    const crQuantity* quantities;  // (count)
    int count;
    int column[CR_COLUMNS_MOST];
    double factor[CR_COLUMNS_MOST];
    double value[CR_COLUMNS_MOST];  // of the row read last
} crColumns;

// Whether a column or a source of the options is there for a quantity.
bool cr__columns_given(const crTable* table, const crImpactOptions* options, const char* name);
// Finds table, quantities and count. Fails: unknown-field (a source names no column), missing-field.
crStatus cr__columns_find(crColumns* columns, const crImpactOptions* options, crError* error);
// Every source of the options must be one of these; unknown-field.
crStatus cr__columns_known(const crImpactOptions* options, const crQuantity* quantities, int count,
                           const char* what, crError* error);
crStatus cr__columns_read(crColumns* columns, int row, crError* error);  // value; not-finite
// Gives a refusal the place of quantity i, or of the row where that is a constant; returns status.
crStatus cr__columns_refuse(const crColumns* columns, int row, int i, crStatus status, crError* error);
// Whether a row fulfils the conditions; unknown-field where one names no column.
crStatus cr__columns_where(const crTable* table, const crImpactOptions* options, int row, bool* counts,
                           crError* error);

#endif
