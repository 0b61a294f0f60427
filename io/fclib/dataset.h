// dataset.h - datasets of an HDF5 file, with HDF5's own messages kept quiet.
#ifndef CAROM_IO_FCLIB_DATASET_H
#define CAROM_IO_FCLIB_DATASET_H

#include <hdf5.h>

#include "carom/base.h"

// HDF5 prints what fails unless told otherwise; begin silences it, end restores what was there.
typedef struct crQuiet {
    H5E_auto2_t function;
    void* data;
} crQuiet;
crQuiet cr__hdf5_begin(void);
void cr__hdf5_end(crQuiet quiet);

// A file in memory, read only; negative where the bytes are not HDF5.
hid_t cr__hdf5_open(const char* text, size_t size);

// path exists within the file itself: no soft or external links, no data in other files.
bool cr__hdf5_has(hid_t file, const char* path);

// All numbers of a dataset into malloc'd memory, at most `most` of them. Fails: missing-field, wrong-type,
// limit, not-finite, memory; the error names the path.
crStatus cr__hdf5_doubles(hid_t file, const char* path, size_t most, double** numbers, size_t* count,
                          crError* error);
crStatus cr__hdf5_ints(hid_t file, const char* path, size_t most, int** numbers, size_t* count,
                       crError* error);

// A text of fixed length, cut to size - 1 bytes; "" where there is none.
void cr__hdf5_text(hid_t file, const char* path, char* text, size_t size);

// New datasets below `parent`; false where HDF5 cannot write them.
bool cr__hdf5_put_doubles(hid_t parent, const char* name, const double* numbers, size_t count);
bool cr__hdf5_put_ints(hid_t parent, const char* name, const int* numbers, size_t count);
bool cr__hdf5_put_text(hid_t parent, const char* name, const char* text);

#endif
