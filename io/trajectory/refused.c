// refused.c - HDF5 trajectories where carom is built without HDF5: refused by name.
#include "io/trajectory_parts.h"

crStatus cr__trajectory_hdf5(const char* path, const crModel* model, void** self, crTrajectoryFormat* format,
                             crError* error) {
    (void)path;
    (void)model;
    (void)self;
    (void)format;
    return cr_error_set(
        error, CR_ERR_NAME, "out",
        "out: HDF5 is not in this carom (CAROM_HDF5); a name that ends in .csv writes a table");
}
