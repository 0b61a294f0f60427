// commit.h - HDF5 files that go from one flush to the next as a whole, whenever the process is killed.
#ifndef CAROM_IO_FCLIB_COMMIT_H
#define CAROM_IO_FCLIB_COMMIT_H

#include <hdf5.h>

// Opens by H5F_ACC_RDONLY or H5F_ACC_RDWR: the file is as its last finished flush left it. H5F_ACC_TRUNC: a
// new one, which has its name from its first flush on. Negative where that fails, or the file is open for
// writing elsewhere.
hid_t cr__hdf5_commit_open(const char* path, unsigned flags);

// The errno of the first write of such a file that failed, else 0. After it the file takes no more, and keeps
// what was flushed before.
int cr__hdf5_commit_error(hid_t file);

#endif
