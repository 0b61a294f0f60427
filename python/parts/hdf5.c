// hdf5.c - the part of the extension that needs HDF5: FCLIB problems, trajectories.
#include "parts.h"

extern CR_API const PyPart py_part;
const PyPart py_part = {.read_fclib = cr__read_fclib,
                        .write_fclib = cr__write_fclib,
                        .read_recording = cr__recording_hdf5,
                        .trajectory = &cr__trajectory_hdf5};
