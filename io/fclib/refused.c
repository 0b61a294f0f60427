// refused.c - the fclib format where carom is built without HDF5: refused by name.
#include "io/problem_parts.h"

static crStatus refuse(crError* error) {
    return cr_error_set(error, CR_ERR_NAME, "format",
                        "format: \"fclib\" needs HDF5, which this carom was built without (CAROM_HDF5)");
}

crStatus cr__read_fclib(const char* text, size_t size, crProblemFile* out, crError* error) {
    (void)text;
    (void)size;
    (void)out;
    return refuse(error);
}

crStatus cr__write_fclib(const char* path, const crProblemFile* file, crError* error) {
    (void)path;
    (void)file;
    return refuse(error);
}
