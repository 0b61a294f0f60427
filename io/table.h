// table.h - measurements as comma-separated numbers: a header of names, then rows; cells know their place.
#ifndef CAROM_IO_TABLE_H
#define CAROM_IO_TABLE_H

#include "carom/base.h"

#define CR_TABLE_MAX_SIZE    ((size_t)1 << 30)  // bytes
#define CR_TABLE_MAX_COLUMNS 300000

typedef struct crTable {
    char* text;  // the file; header names end with NUL in it
    size_t size;
    int columns, rows;
    const char** names;  // (columns)
    double* values;      // NaN where the cell is no number (rows*columns)
    size_t* at;          // where each cell begins in text (rows*columns)
    int* lines;          // of each row, 1-based (rows)
} crTable;

// path "-" is standard input. Lines that are blank or begin with # are skipped. Fails: file, memory, limit,
// syntax (no header, a name twice or missing), wrong-size (a row with more or fewer cells than the header).
crStatus cr_table_read(const char* path, crTable* table, crError* error);
void cr_table_free(crTable* table);  // accepts a zeroed table

int cr_table_column(const crTable* table, const char* name);  // -1 where there is none
double cr_table_value(const crTable* table, int row, int column);
// Fills the line and the column of a cell.
void cr_table_place(const crTable* table, int row, int column, crError* error);
// A copy of the cell's text, cut where it does not fit.
void cr_table_cell(const crTable* table, int row, int column, char* text, size_t size);

#endif
