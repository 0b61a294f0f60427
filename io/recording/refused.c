// refused.c - HDF5 recordings where carom is built without HDF5: refused by name.
#include "io/recording_parts.h"

crStatus cr__recording_hdf5(const char* path, crRecording* recording, crError* error) {
    (void)path;
    (void)recording;
    return cr_error_set(error, CR_ERR_NAME, "file", "file: HDF5 is not in this carom (CAROM_HDF5)");
}
