// refused.c - HDF5 trajectories where carom is built without HDF5: refused by name.
#include "io/trajectory_parts.h"

static crStatus refused(const char* path, crWorld* world, uint64_t scene, void** self, crError* error) {
    (void)path;
    (void)world;
    (void)scene;
    (void)self;
    return cr_error_set(
        error, CR_ERR_NAME, "out",
        "out: HDF5 is not in this carom (CAROM_HDF5); a name that ends in .csv writes a table");
}

const crTrajectoryFormat cr__trajectory_hdf5 = {.create = refused, .resume = refused};
