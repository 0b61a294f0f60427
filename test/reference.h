// reference.h - trajectories as Siconos writes them: rows and columns, then the rows.
#ifndef CAROM_TEST_REFERENCE_H
#define CAROM_TEST_REFERENCE_H

#include "data.h"
#include "test.h"

// NULL, and the test is skipped, where the file is not there
static inline FILE* open_reference(const char* name, int columns, int* rows) {
    char path[512];
    int cols = 0;
    if (test_data(name, path, sizeof path) == NULL) {
        test_skip("no data");
        return NULL;
    }
    FILE* file = fopen(path, "r");
    CHECK(fscanf(file, "%d %d", rows, &cols) == 2 && cols == columns);
    return file;
}

static inline void read_row(FILE* file, int columns, double* row) {
    for (int j = 0; j < columns; j++) {
        CHECK(fscanf(file, "%lf", &row[j]) == 1);
    }
}

#endif
