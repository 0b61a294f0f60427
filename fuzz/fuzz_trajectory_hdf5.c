// fuzz_trajectory_hdf5.c - an HDF5 trajectory whose datasets are changed as the bytes say: refused by name,
// or a world that can be stepped and recorded.
//
// The container is changed by HDF5 itself, because its own reader is not what is tested here. A change is a
// dataset and what happens to it: gone, of another type or shape, cut, or with one number rewritten.
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/trajectory.h"

static void demand(bool condition) {
    if (!condition) abort();
}

static crModel* make_model(void) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.name = "a";
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 1.0, .yy = 1.0, .zz = 1.0};
    demand(cr_model_add_body(model, &def) > 0);
    return model;
}

static crWorld* make_world(const crModel* model) {
    crWorldDef def = cr_world_def();
    def.model = model;
    crWorld* world = NULL;
    demand(cr_world_create(&def, &world, NULL) == CR_OK);
    return world;
}

// a good file of 300 records and two events
static void write_good(const char* path, const crModel* model) {
    crWorld* world = make_world(model);
    crTrajectory* trajectory = NULL;
    demand(cr_trajectory_create(path, world, 7, &trajectory, NULL) == CR_OK);
    for (int i = 0; i < 300; i++) {
        crRecord record = {0};
        crEvent event = {.time = 0.001 * i};
        if (i % 150 == 20) demand(cr_trajectory_event(trajectory, &event, NULL) == CR_OK);
        demand(cr_trajectory_write(trajectory, &record, NULL) == CR_OK);
        demand(cr_world_step(world, NULL) == CR_OK);
    }
    demand(cr_trajectory_close(trajectory, NULL) == CR_OK);
    cr_world_destroy(world);
}

static double number(uint8_t byte) {
    static const double odd[] = {NAN, INFINITY, -1.0, 0.5, 1e300, 1e18, 257.0, 300.0};
    return byte < 8 ? odd[byte] : byte;
}

static void create(hid_t file, const char* name, uint8_t how) {
    hsize_t size[2] = {how % 5, how % 17};
    hsize_t most[2] = {H5S_UNLIMITED, size[1]};
    hsize_t chunk[2] = {4, size[1] > 0 ? size[1] : 1};
    int rank = 1 + how % 2;
    hid_t space = H5Screate_simple(rank, size, how % 3 == 0 ? NULL : most);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (how % 3 != 0) H5Pset_chunk(list, rank, chunk);
    hid_t set = H5Dcreate2(file, name, how % 4 == 0 ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                           list, H5P_DEFAULT);
    if (set >= 0) H5Dclose(set);
    H5Pclose(list);
    H5Sclose(space);
}

static void rewrite(hid_t set, uint8_t row, uint8_t column, double value) {
    hid_t space = H5Dget_space(set);
    hsize_t size[2] = {0, 1};
    int rank = H5Sget_simple_extent_ndims(space);
    if ((rank == 1 || rank == 2) && H5Sget_simple_extent_dims(space, size, NULL) == rank && size[0] > 0 &&
        size[1] > 0) {
        // rows from the end, where they matter
        hsize_t start[2] = {size[0] - 1 - row % size[0], column % size[1]};
        hsize_t one[2] = {1, 1};
        hid_t memory = H5Screate_simple(rank, one, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL);
        H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value);
        H5Sclose(memory);
    }
    H5Sclose(space);
}

static void change(hid_t file, const uint8_t* c) {
    static const char* const names[] = {"time",        "q",
                                        "v",           "energy",
                                        "events",      "certificate",
                                        "snapshots",   "snapshot_bytes",
                                        "snapshots",   "snapshot_bytes",
                                        "bodies/name", "bodies/joint",
                                        "time",        "scene_hash",
                                        "snapshots",   "carom_trajectory"};
    const char* name = names[c[0] % 16];
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    uint8_t what = c[1] % 8;
    if (set >= 0 && what >= 2) {
        hsize_t size[2] = {c[2], 16};
        if (what == 2) H5Dset_extent(set, size);
        if (what > 2) rewrite(set, c[2], c[3], number(c[4]));
    }
    if (set >= 0) H5Dclose(set);
    if (what < 2) H5Ldelete(file, name, H5P_DEFAULT);
    if (what == 1) create(file, name, c[2]);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    char path[64];
    snprintf(path, sizeof path, "/tmp/carom-fuzz-%ld.h5", (long)getpid());
    crModel* model = make_model();
    write_good(path, model);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    for (size_t i = 0; i + 5 <= size && i < 40; i += 5) {
        change(file, data + i);
    }
    H5Fclose(file);
    crWorld* world = make_world(model);
    crTrajectory* trajectory = NULL;
    crError error = {0};
    bool exact = false;
    if (cr_trajectory_resume(path, world, 7, &trajectory, &exact, &error) == CR_OK) {
        crRecord record = {0};
        demand(exact);
        (void)cr_world_step(world, NULL);
        demand(cr_trajectory_write(trajectory, &record, NULL) == CR_OK);
        demand(cr_trajectory_close(trajectory, NULL) == CR_OK);
    } else {
        demand(error.status != CR_OK && error.message[0] != '\0');
    }
    cr_world_destroy(world);
    cr_model_destroy(model);
    unlink(path);
    return 0;
}
