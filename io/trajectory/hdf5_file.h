// hdf5_file.h - an open HDF5 trajectory: tables that grow, shared by writing and resuming.
#ifndef CAROM_IO_TRAJECTORY_HDF5_FILE_H
#define CAROM_IO_TRAJECTORY_HDF5_FILE_H

#include "io/fclib/commit.h"
#include "io/fclib/dataset.h"
#include "io/names.h"
#include "io/trajectory_parts.h"

#define CR_TRAJECTORY_VERSION 1
#define CR_TRAJECTORY_TEXT    64  // bytes of a name

// a dataset of rows that grows
typedef struct crTable {
    hid_t set;
    size_t columns;   // 0: no such table
    hsize_t written;  // rows in the file
    int held;         // rows in memory
    double* rows;     // (chunk*columns)
} crTable;

// the order of the list of names; records come first
typedef enum crTableName {
    CR_TABLE_TIME,
    CR_TABLE_Q,
    CR_TABLE_V,
    CR_TABLE_ENERGY,
    CR_TABLE_CERTIFICATE,
    CR_TABLE_CTRL,
    CR_TABLE_ACT,
    CR_TABLE_SENSORS,
    CR_TABLE_EVENTS,
    CR_TABLE_SNAPSHOTS,
    CR_TABLES
} crTableName;

typedef struct crTrajectoryFile {
    hid_t file;
    crWorld* world;
    int chunk;  // rows
    crTable tables[CR_TABLES];
    hid_t bytes;  // of snapshots, one after another
    hsize_t byte_count;
} crTrajectoryFile;

extern const char* const cr__table_names[CR_TABLES];

// columns of each table, and rows of a chunk, for the world's model
void cr__trajectory_shape(crTrajectoryFile* f);
void cr__trajectory_free(crTrajectoryFile* f);

// Opens a file that was written before and puts the world at its last good snapshot.
crStatus cr__trajectory_reopen(crTrajectoryFile* f, const char* path, uint64_t scene, crError* error);
void cr__scene_hash_text(uint64_t scene, char text[17]);

#endif
