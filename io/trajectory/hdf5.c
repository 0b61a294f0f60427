// hdf5.c - trajectories as HDF5: tables that grow by chunks.
//
//     /carom_trajectory            1
//     /scene                       text of the scene as it was run, JSON
//     /bodies/name, joint          texts, one per body, the world first
//     /bodies/q, nq, v, nv         where each body's coordinates and velocities are
//     /time                        (n)
//     /q, /v                       (n, nq), (n, nv)
//     /energy                      (n, 2) kinetic, potential
//     /certificate                 (n, 3) residual, penetration, contacts, the worst since the record before
//     /events                      (m, 16) time, body a, body b, shape a, shape b, point (3), normal (3),
//                                  approach, impulse (3), energy_change
//
// Rows are gathered and written a chunk at a time, then the file is flushed: a killed run loses the last
// chunk at most and the file opens. Fails: file where HDF5 cannot write.
#include <stdlib.h>
#include <string.h>

#include "io/fclib/dataset.h"
#include "io/trajectory_parts.h"

#define CHUNK         256  // rows
#define EVENT_COLUMNS 16
#define TEXT          64

// a dataset of rows that grows
typedef struct Table {
    hid_t set;
    size_t columns;
    hsize_t written;  // rows in the file
    int held;         // rows in memory
    double* rows;     // (CHUNK*columns)
} Table;

typedef enum Which { TIME, Q, V, ENERGY, CERTIFICATE, EVENTS, TABLES } Which;

typedef struct File {
    hid_t file;
    const crModel* model;
    Table tables[TABLES];
} File;

static crStatus cannot(crError* error) {
    return cr_error_set(error, CR_ERR_FILE, "out", "out: HDF5 cannot write the file");
}

static bool table_create(hid_t file, const char* name, size_t columns, bool flat, Table* t) {
    hsize_t size[2] = {0, columns};
    hsize_t most[2] = {H5S_UNLIMITED, columns};
    hsize_t chunk[2] = {CHUNK, columns};
    int rank = flat ? 1 : 2;
    *t = (Table){.set = -1, .columns = columns, .rows = malloc(CHUNK * columns * sizeof(double))};
    hid_t space = H5Screate_simple(rank, size, most);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (t->rows != NULL && space >= 0 && list >= 0 && H5Pset_chunk(list, rank, chunk) >= 0) {
        t->set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    if (list >= 0) H5Pclose(list);
    if (space >= 0) H5Sclose(space);
    return t->set >= 0;
}

// what is held goes to the end of the dataset
static bool table_flush(Table* t, bool flat) {
    if (t->held == 0) return true;
    int rank = flat ? 1 : 2;
    hsize_t start[2] = {t->written, 0};
    hsize_t count[2] = {(hsize_t)t->held, t->columns};
    hsize_t size[2] = {t->written + (hsize_t)t->held, t->columns};
    bool good = H5Dset_extent(t->set, size) >= 0;
    hid_t space = good ? H5Dget_space(t->set) : -1;
    hid_t memory = H5Screate_simple(rank, count, NULL);
    good = space >= 0 && memory >= 0 &&
           H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
           H5Dwrite(t->set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, t->rows) >= 0;
    if (memory >= 0) H5Sclose(memory);
    if (space >= 0) H5Sclose(space);
    t->written += (hsize_t)t->held;
    t->held = 0;
    return good;
}

static double* next_row(Table* t) { return t->rows + (size_t)t->held++ * t->columns; }

static bool flush_all(File* f) {
    bool good = true;
    for (int i = 0; i < TABLES; i++) {
        if (f->tables[i].columns > 0) good = table_flush(&f->tables[i], i == TIME) && good;
    }
    return H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0 && good;
}

static crStatus hdf5_write(void* self, const crState* state, const crRecord* record, crError* error) {
    File* f = self;
    *next_row(&f->tables[TIME]) = state->time;
    if (f->model->nq > 0) memcpy(next_row(&f->tables[Q]), state->q, (size_t)f->model->nq * sizeof(double));
    if (f->model->nv > 0) memcpy(next_row(&f->tables[V]), state->v, (size_t)f->model->nv * sizeof(double));
    double* energy = next_row(&f->tables[ENERGY]);
    energy[0] = record->energy.kinetic;
    energy[1] = record->energy.potential;
    double* certificate = next_row(&f->tables[CERTIFICATE]);
    certificate[0] = record->residual;
    certificate[1] = record->penetration;
    certificate[2] = record->contacts;
    return f->tables[TIME].held < CHUNK || flush_all(f) ? CR_OK : cannot(error);
}

static void put(double* to, crVec3 x) {
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
}

static crStatus hdf5_event(void* self, const crEvent* event, crError* error) {
    File* f = self;
    double* row = next_row(&f->tables[EVENTS]);
    row[0] = event->time;
    row[1] = event->body_a;
    row[2] = event->body_b;
    row[3] = event->shape_a;
    row[4] = event->shape_b;
    put(row + 5, event->point);
    put(row + 8, event->normal);
    row[11] = event->approach;
    put(row + 12, event->impulse);
    row[15] = event->energy_change;
    return f->tables[EVENTS].held < CHUNK || flush_all(f) ? CR_OK : cannot(error);
}

static crStatus hdf5_scene(void* self, const char* text, crError* error) {
    File* f = self;
    crQuiet quiet = cr__hdf5_begin();
    bool good = cr__hdf5_put_text(f->file, "scene", text);
    cr__hdf5_end(quiet);
    return good ? CR_OK : cannot(error);
}

static void free_file(File* f) {
    for (int i = 0; i < TABLES; i++) {
        if (f->tables[i].columns > 0 && f->tables[i].set >= 0) H5Dclose(f->tables[i].set);
        free(f->tables[i].rows);
    }
    if (f->file >= 0) H5Fclose(f->file);
    free(f);
}

static crStatus hdf5_close(void* self, crError* error) {
    File* f = self;
    bool good = flush_all(f);
    free_file(f);
    return good ? CR_OK : cannot(error);
}

// one text of fixed length per body
static bool put_texts(hid_t group, const char* name, const char (*texts)[TEXT], hsize_t count) {
    hid_t type = H5Tcopy(H5T_C_S1);
    hid_t space = H5Screate_simple(1, &count, NULL);
    bool good =
        type >= 0 && space >= 0 && H5Tset_size(type, TEXT) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    hid_t set = good ? H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0;
    if (set >= 0) H5Dclose(set);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return good;
}

static bool put_bodies(hid_t file, const crModel* model) {
    static const char* const joints[] = {"fixed", "hinge", "slider", "planar", "ball", "free", "driven"};
    size_t count = (size_t)model->nb;
    hid_t group = H5Gcreate2(file, "bodies", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    char(*texts)[TEXT] = calloc(2 * count, TEXT);
    int* numbers = malloc(4 * count * sizeof(int));
    bool good = group >= 0 && texts != NULL && numbers != NULL;
    for (size_t i = 0; good && i < count; i++) {
        const crBody* body = &model->bodies[i];
        snprintf(texts[i], TEXT, "%s", i == 0 ? "world" : body->name);
        snprintf(texts[count + i], TEXT, "%s", joints[body->joint]);
        numbers[i] = body->q;
        numbers[count + i] = body->nq;
        numbers[2 * count + i] = body->v;
        numbers[3 * count + i] = body->nv;
    }
    good = good && put_texts(group, "name", (const char(*)[TEXT])texts, count) &&
           put_texts(group, "joint", (const char(*)[TEXT])(texts + count), count) &&
           cr__hdf5_put_ints(group, "q", numbers, count) &&
           cr__hdf5_put_ints(group, "nq", numbers + count, count) &&
           cr__hdf5_put_ints(group, "v", numbers + 2 * count, count) &&
           cr__hdf5_put_ints(group, "nv", numbers + 3 * count, count);
    if (group >= 0) H5Gclose(group);
    free(texts);
    free(numbers);
    return good;
}

static bool create_tables(File* f) {
    int version = 1;
    size_t nq = (size_t)f->model->nq;
    size_t nv = (size_t)f->model->nv;
    return cr__hdf5_put_ints(f->file, "carom_trajectory", &version, 1) && put_bodies(f->file, f->model) &&
           table_create(f->file, "time", 1, true, &f->tables[TIME]) &&
           (nq == 0 || table_create(f->file, "q", nq, false, &f->tables[Q])) &&
           (nv == 0 || table_create(f->file, "v", nv, false, &f->tables[V])) &&
           table_create(f->file, "energy", 2, false, &f->tables[ENERGY]) &&
           table_create(f->file, "certificate", 3, false, &f->tables[CERTIFICATE]) &&
           table_create(f->file, "events", EVENT_COLUMNS, false, &f->tables[EVENTS]) && flush_all(f);
}

crStatus cr__trajectory_hdf5(const char* path, const crModel* model, void** self, crTrajectoryFormat* format,
                             crError* error) {
    File* f = calloc(1, sizeof *f);
    if (f == NULL) return cr_error_set(error, CR_ERR_MEMORY, "out", "out: out of memory");
    crQuiet quiet = cr__hdf5_begin();
    *f = (File){.file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), .model = model};
    bool opened = f->file >= 0;
    bool good = opened && create_tables(f);
    cr__hdf5_end(quiet);
    if (!good) {
        free_file(f);
        return opened ? cannot(error)
                      : cr_error_set(error, CR_ERR_FILE, "out", "out: %.120s cannot be created", path);
    }
    *format = (crTrajectoryFormat){hdf5_write, hdf5_event, hdf5_scene, hdf5_close};
    *self = f;
    return CR_OK;
}
