// hdf5_resume.c - opening an HDF5 trajectory to go on with it, at its last good snapshot.
//
// The file must be of this scene (bodies, then the hash of its values). Snapshots are tried from the last
// one back: one is good where its bytes restore the world, its rows are there and the last of them is that
// state. All that came after it is cut off. Nothing outside the file is followed, and sizes are checked before memory is taken.
// Fails: file where it is no HDF5 file or cannot be written; missing-field, wrong-type, wrong-size,
// unknown-name, out-of-range by the dataset's name; syntax where no snapshot is good.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/trajectory/hdf5_file.h"

void cr__scene_hash_text(uint64_t scene, char text[17]) {
    for (int i = 0; i < 16; i++) {
        text[i] = "0123456789abcdef"[scene >> (60 - 4 * i) & 15];
    }
    text[16] = '\0';
}

#define MOST_TRIES    64                   // snapshots looked at from the end
#define MOST_SNAPSHOT ((double)(1 << 30))  // bytes

static crStatus check_version(hid_t file, crError* error) {
    int* version = NULL;
    size_t count = 0;
    crStatus status = cr__hdf5_ints(file, "carom_trajectory", 1, &version, &count, error);
    if (status == CR_OK && (count != 1 || version[0] != CR_TRAJECTORY_VERSION)) {
        status = cr_error_set(error, CR_ERR_RANGE, "carom_trajectory",
                              "carom_trajectory: the layout must be version %d", CR_TRAJECTORY_VERSION);
    }
    free(version);
    return status;
}

// the texts of all bodies, NULL where they are not that
static char* read_texts_trajectory_hdf5_resume(hid_t file, const char* path, size_t count) {
    hid_t set = cr__hdf5_has(file, path) ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
    if (set < 0) return NULL;
    hid_t type = H5Dget_type(set);
    hid_t space = H5Dget_space(set);
    hid_t list = H5Dget_create_plist(set);
    char* texts = NULL;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
        H5Tget_size(type) == CR_TRAJECTORY_TEXT && H5Sget_simple_extent_npoints(space) == (hssize_t)count &&
        H5Pget_external_count(list) == 0 && H5Pget_layout(list) != H5D_VIRTUAL)
        texts = calloc(count, CR_TRAJECTORY_TEXT);
    if (texts != NULL && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) < 0) {
        free(texts);
        texts = NULL;
    }
    if (list >= 0) H5Pclose(list);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Dclose(set);
    return texts;
}

static crStatus check_texts(hid_t file, const char* path, const crModel* model, bool joints, crError* error) {
    size_t count = (size_t)model->nb;
    char* texts = read_texts_trajectory_hdf5_resume(file, path, count);
    if (texts == NULL) {
        return cr_error_set(error, CR_ERR_SIZE, path,
                            "%s: must be %zu texts, the world first: the file is not of this scene", path,
                            count);
    }
    crStatus status = CR_OK;
    for (size_t i = 1; i < count && status == CR_OK; i++) {
        char expected[CR_TRAJECTORY_TEXT];
        const crBody* body = &model->bodies[i];
        snprintf(expected, sizeof expected, "%s", joints ? cr_joint_info(body->joint)->name : body->name);
        char* is = texts + i * CR_TRAJECTORY_TEXT;
        is[CR_TRAJECTORY_TEXT - 1] = '\0';
        if (strcmp(is, expected) == 0) continue;
        status = cr_error_set(error, CR_ERR_NAME, path,
                              "%s: body %zu is \"%.50s\" in the file and \"%.50s\" in the scene", path, i, is,
                              expected);
    }
    free(texts);
    return status;
}

static crStatus check_scene(hid_t file, uint64_t scene, crError* error) {
    char expected[17];
    char is[17];
    cr__scene_hash_text(scene, expected);
    cr__hdf5_text(file, "scene_hash", is, sizeof is);
    if (strcmp(is, expected) == 0) return CR_OK;
    return cr_error_set(error, CR_ERR_RANGE, "scene_hash",
                        "scene_hash: the file was recorded with other values; all but duration, record and "
                        "comments must be as they were");
}

// a dataset that can grow, with as many columns as it should have; how many rows it has
static crStatus open_set(hid_t file, const char* name, H5T_class_t class, int rank, size_t columns,
                         hid_t* set, hsize_t* rows, crError* error) {
    *set = cr__hdf5_has(file, name) ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
    if (*set < 0) return cr_error_set(error, CR_ERR_MISSING, name, "%s: is missing", name);
    hid_t type = H5Dget_type(*set);
    hid_t space = H5Dget_space(*set);
    hid_t list = H5Dget_create_plist(*set);
    hsize_t size[2] = {0, columns};
    hsize_t most[2] = {0, columns};
    bool typed = type >= 0 && H5Tget_class(type) == class;
    bool shaped = H5Sget_simple_extent_ndims(space) == rank &&
                  H5Sget_simple_extent_dims(space, size, most) == rank && most[0] == H5S_UNLIMITED &&
                  (rank == 1 || size[1] == columns) && list >= 0 && H5Pget_layout(list) == H5D_CHUNKED;
    if (list >= 0) H5Pclose(list);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    *rows = size[0];
    if (!typed) return cr_error_set(error, CR_ERR_TYPE, name, "%s: numbers of the wrong type", name);
    if (!shaped) {
        return cr_error_set(error, CR_ERR_SIZE, name, "%s: must be rows of %zu that can grow in number", name,
                            columns);
    }
    return CR_OK;
}

static crStatus open_tables(crTrajectoryFile* f, crError* error) {
    crStatus status = CR_OK;
    for (int i = 0; i < CR_TABLES && status == CR_OK; i++) {
        crTable* t = &f->tables[i];
        if (t->columns == 0) continue;
        status = open_set(f->file, cr__table_names[i], H5T_FLOAT, i == CR_TABLE_TIME ? 1 : 2, t->columns,
                          &t->set, &t->written, error);
    }
    if (status == CR_OK)
        status = open_set(f->file, "snapshot_bytes", H5T_INTEGER, 1, 1, &f->bytes, &f->byte_count, error);
    return status;
}

static bool read_rows_trajectory_hdf5_resume(hid_t set, hid_t type, int rank, hsize_t columns, hsize_t first,
                                             hsize_t rows, void* data) {
    hsize_t start[2] = {first, 0};
    hsize_t count[2] = {rows, columns};
    hid_t space = H5Dget_space(set);
    hid_t memory = H5Screate_simple(rank, count, NULL);
    bool good = space >= 0 && memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dread(set, type, memory, space, H5P_DEFAULT, data) >= 0;
    if (memory >= 0) H5Sclose(memory);
    if (space >= 0) H5Sclose(space);
    return good;
}

// row of the table into its own memory; finite
static bool read_row_trajectory_hdf5_resume(crTable* t, int rank, hsize_t row) {
    if (row >= t->written ||
        !read_rows_trajectory_hdf5_resume(t->set, H5T_NATIVE_DOUBLE, rank, t->columns, row, 1, t->rows))
        return false;
    for (size_t i = 0; i < t->columns; i++) {
        if (!isfinite(t->rows[i])) return false;
    }
    return true;
}

// a whole number of at most `most`
static bool as_count(double x, double most, hsize_t* count) {
    if (!(x >= 0.0 && x <= most) || x != floor(x)) return false;
    *count = (hsize_t)x;
    return true;
}

// the last record read is the world's state, or one before it
static bool agrees(const crTrajectoryFile* f) {
    const crState* state = cr_world_state(f->world);
    const crTable* tables = f->tables;
    double last = tables[CR_TABLE_TIME].rows[0];
    if (last != state->time) return last < state->time && last > 0.0;
    size_t nq = tables[CR_TABLE_Q].columns * sizeof(double);
    size_t nv = tables[CR_TABLE_V].columns * sizeof(double);
    return (nq == 0 || memcmp(tables[CR_TABLE_Q].rows, state->q, nq) == 0) &&
           (nv == 0 || memcmp(tables[CR_TABLE_V].rows, state->v, nv) == 0);
}

// the world from snapshot k; where its records end. error says why its bytes were refused, if they were
static bool restore(crTrajectoryFile* f, hsize_t k, hsize_t cut[CR_TABLES], hsize_t* byte_end,
                    crError* error) {
    crTable* snapshots = &f->tables[CR_TABLE_SNAPSHOTS];
    hsize_t records = 0, events = 0, start = 0, size = 0;
    if (!read_row_trajectory_hdf5_resume(snapshots, 2, k)) return false;
    const double* row = snapshots->rows;
    if (!as_count(row[0], (double)f->tables[CR_TABLE_TIME].written, &records) ||
        !as_count(row[1], (double)f->tables[CR_TABLE_EVENTS].written, &events) ||
        !as_count(row[2], (double)f->byte_count, &start) || !as_count(row[3], MOST_SNAPSHOT, &size) ||
        records == 0 || start + size > f->byte_count)
        return false;
    for (int i = 0; i < CR_TABLE_EVENTS; i++) {
        crTable* t = &f->tables[i];
        if (t->columns > 0 && !read_row_trajectory_hdf5_resume(t, i == CR_TABLE_TIME ? 1 : 2, records - 1))
            return false;
        cut[i] = records;
    }
    if (events > 0 && !read_row_trajectory_hdf5_resume(&f->tables[CR_TABLE_EVENTS], 2, events - 1))
        return false;
    cut[CR_TABLE_EVENTS] = events;
    cut[CR_TABLE_SNAPSHOTS] = k + 1;
    *byte_end = start + size;
    void* bytes = malloc((size_t)size + 1);
    bool good = bytes != NULL &&
                read_rows_trajectory_hdf5_resume(f->bytes, H5T_NATIVE_UCHAR, 1, 1, start, size, bytes) &&
                cr_world_load(f->world, bytes, (size_t)size, error) == CR_OK;
    free(bytes);
    return good && agrees(f);
}

static bool cut_tables(crTrajectoryFile* f, const hsize_t cut[CR_TABLES], hsize_t byte_end) {
    bool good = true;
    for (int i = 0; i < CR_TABLES && good; i++) {
        crTable* t = &f->tables[i];
        if (t->columns == 0) continue;
        hsize_t size[2] = {cut[i], t->columns};
        good = H5Dset_extent(t->set, size) >= 0;
        t->written = cut[i];
    }
    good = good && H5Dset_extent(f->bytes, &byte_end) >= 0;
    f->byte_count = byte_end;
    return good && H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0;
}

static crStatus go_back(crTrajectoryFile* f, const char* path, crError* error) {
    hsize_t cut[CR_TABLES] = {0};
    hsize_t byte_end = 0;
    hsize_t count = f->tables[CR_TABLE_SNAPSHOTS].written;
    bool found = false;
    crError last = {0};  // why the newest snapshot was refused
    for (hsize_t tries = 0; tries < MOST_TRIES && tries < count && !found; tries++) {
        found = restore(f, count - 1 - tries, cut, &byte_end, tries == 0 ? &last : NULL);
    }
    if (!found && last.status != CR_OK) {
        return cr_error_set(error, last.status, "snapshots",
                            "snapshots: the run cannot go on from this file: %.150s", last.message);
    }
    if (!found) {
        return cr_error_set(error, CR_ERR_SYNTAX, "snapshots",
                            "snapshots: none of the last %d is whole, the run cannot go on from this file",
                            MOST_TRIES);
    }
    if (cut_tables(f, cut, byte_end)) return CR_OK;
    return cr_error_set(error, CR_ERR_FILE, "resume", "resume: %.120s cannot be written", path);
}

crStatus cr__trajectory_reopen(crTrajectoryFile* f, const char* path, uint64_t scene, crError* error) {
    const crModel* model = cr_world_model(f->world);
    // HDF5 does not say why a file cannot be opened
    FILE* there = fopen(path, "r+b");
    if (there == NULL) {
        return cr_error_set(error, CR_ERR_FILE, "resume", "resume: %.120s: %s", path, strerror(errno));
    }
    fclose(there);
    f->file = cr__hdf5_commit_open(path, H5F_ACC_RDWR);
    if (f->file < 0) {
        return cr_error_set(error, CR_ERR_FILE, "resume",
                            "resume: %.120s is not a whole HDF5 file, or another run writes to it", path);
    }
    crStatus status = check_version(f->file, error);
    if (status == CR_OK) status = check_texts(f->file, "bodies/name", model, false, error);
    if (status == CR_OK) status = check_texts(f->file, "bodies/joint", model, true, error);
    if (status == CR_OK) status = check_scene(f->file, scene, error);
    if (status == CR_OK) status = open_tables(f, error);
    if (status != CR_OK) return status;
    return go_back(f, path, error);
}
