// fields.h - values of the expected type and size out of a JSON object, refused by name, line and column.
#ifndef CAROM_IO_FIELDS_H
#define CAROM_IO_FIELDS_H

#include "carom/vec.h"
#include "io/json.h"

// Fills error with the position of `where`; message should begin with the field's name.
crStatus cr_field_refuse(const crJson* where, crStatus status, const char* field, crError* error,
                         const char* format, ...) CR_PRINTF(5, 6);

crStatus cr_field_number(const crJson* value, const char* field, double* number, crError* error);
crStatus cr_field_bool(const crJson* value, const char* field, bool* flag, crError* error);
crStatus cr_field_text(const crJson* value, const char* field, const char** text, crError* error);

// A list of at least least and at most most numbers.
crStatus cr_field_numbers(const crJson* value, const char* field, int least, int most, double* numbers,
                          int* count, crError* error);
// `dimension` numbers; in two dimensions z is 0.
crStatus cr_field_vector(const crJson* value, const char* field, int dimension, crVec3* vector,
                         crError* error);
// `dimension` rows of as many; in two dimensions the third row and column are 0.
crStatus cr_field_matrix(const crJson* value, const char* field, int dimension, crMat3* matrix,
                         crError* error);
// A matrix that must be symmetric to 1e-9 of its largest entry; its symmetric part is returned.
crStatus cr_field_symmetric(const crJson* value, const char* field, int dimension, crSym3* matrix,
                            crError* error);

// Every key of object must be in names (which ends with NULL); prefix is put before the field in errors.
crStatus cr_field_known(const crJson* object, const char* prefix, const char* const* names, crError* error);

#endif
