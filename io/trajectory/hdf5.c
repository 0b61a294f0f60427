// hdf5.c - trajectories as HDF5: tables that grow by chunks, and snapshots of the world between them.
//
//     /carom_trajectory            1
//     /scene_hash                  text: of everything the motion depends on
//     /scene                       text of the scene as it was run, JSON
//     /bodies/name, joint          texts, one per body, the world first
//     /bodies/q, nq, v, nv         where each body's coordinates and velocities are
//     /time                        (n)
//     /q, /v                       (n, nq), (n, nv)
//     /energy                      (n, 2) kinetic, potential
//     /actuators/name              texts, one per actuator; /ctrl (n, nu) their controls
//     /actuators/act_name          texts, one per actuator that has an activation; /act (n, na) these
//     /sensors_of/name, type       texts, one per sensor; first, count: its columns of /sensors (n, nsensor)
//     /certificate                 (n, 3) residual, penetration, contacts, the worst since the record before
//     /events                      (m, 16) time, body a, body b, shape a, shape b, point (3), normal (3),
//                                  approach, impulse (3), energy_change
//     /snapshots                   (k, 4) records and events before it, its first byte, its size
//     /snapshot_bytes              cr_world_save, one after another
//
// Rows are gathered and written a chunk at a time with a snapshot, then the file is flushed as a whole
// (io/fclib/commit.c): a killed run loses the rows since then at most. Fails: file where it cannot be written,
// memory.
#include <stdlib.h>
#include <string.h>

#include "carom/dynamics.h"
#include "carom/robot.h"
#include "io/trajectory/hdf5_file.h"

#define CHUNK       256                  // rows, where they are short
#define CHUNK_BYTES ((size_t)4 << 20)    // of one table, where they are long
#define BYTE_CHUNK  ((hsize_t)16 << 10)  // of snapshots

const char* const cr__table_names[CR_TABLES] = {"time", "q",   "v",       "energy", "certificate",
                                                "ctrl", "act", "sensors", "events", "snapshots"};

static crStatus cannot_trajectory_hdf5(const crTrajectoryFile* f, crError* error) {
    int cause = cr__hdf5_commit_error(f->file);
    return cr_error_set(error, CR_ERR_FILE, "out", "out: the file cannot be written: %s",
                        cause != 0 ? strerror(cause) : "HDF5 fails");
}

void cr__trajectory_shape(crTrajectoryFile* f) {
    const crModel* model = cr_world_model(f->world);
    const size_t columns[CR_TABLES] = {1,
                                       (size_t)model->nq,
                                       (size_t)model->nv,
                                       2,
                                       3,
                                       (size_t)model->nu,
                                       (size_t)model->na,
                                       (size_t)model->nsensor,
                                       16,
                                       4};
    size_t longest = 0;
    for (int i = 0; i < CR_TABLES; i++) {
        f->tables[i] = (crTable){.set = -1, .columns = columns[i]};
        longest = columns[i] > longest ? columns[i] : longest;
    }
    size_t fit = CHUNK_BYTES / (longest * sizeof(double));
    f->chunk = fit < 1 ? 1 : fit < CHUNK ? (int)fit : CHUNK;
}

void cr__trajectory_free(crTrajectoryFile* f) {
    for (int i = 0; i < CR_TABLES; i++) {
        if (f->tables[i].set >= 0) H5Dclose(f->tables[i].set);
        free(f->tables[i].rows);
    }
    if (f->bytes >= 0) H5Dclose(f->bytes);
    if (f->file >= 0) H5Fclose(f->file);
    free(f);
}

static hid_t create_set(hid_t file, const char* name, hid_t type, int rank, hsize_t columns, hsize_t chunk) {
    hsize_t size[2] = {0, columns};
    hsize_t most[2] = {H5S_UNLIMITED, columns};
    hsize_t chunks[2] = {chunk, columns};
    hid_t space = H5Screate_simple(rank, size, most);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = -1;
    if (space >= 0 && list >= 0 && H5Pset_chunk(list, rank, chunks) >= 0)
        set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (list >= 0) H5Pclose(list);
    if (space >= 0) H5Sclose(space);
    return set;
}

// count rows of the type at the end of a dataset of `written` rows
static bool append_trajectory_hdf5(hid_t set, hid_t type, int rank, hsize_t columns, hsize_t written,
                                   hsize_t added, const void* data) {
    hsize_t start[2] = {written, 0};
    hsize_t count[2] = {added, columns};
    hsize_t size[2] = {written + added, columns};
    bool good = H5Dset_extent(set, size) >= 0;
    hid_t space = good ? H5Dget_space(set) : -1;
    hid_t memory = H5Screate_simple(rank, count, NULL);
    good = space >= 0 && memory >= 0 &&
           H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
           H5Dwrite(set, type, memory, space, H5P_DEFAULT, data) >= 0;
    if (memory >= 0) H5Sclose(memory);
    if (space >= 0) H5Sclose(space);
    return good;
}

static bool table_flush(crTrajectoryFile* f, int which) {
    crTable* t = &f->tables[which];
    if (t->columns == 0 || t->held == 0) return true;
    hsize_t held = (hsize_t)t->held;
    bool good = append_trajectory_hdf5(t->set, H5T_NATIVE_DOUBLE, which == CR_TABLE_TIME ? 1 : 2, t->columns,
                                       t->written, held, t->rows);
    t->written += held;
    t->held = 0;
    return good;
}

static double* next_row_trajectory_hdf5(crTable* t) { return t->rows + (size_t)t->held++ * t->columns; }

static bool flush_tables(crTrajectoryFile* f) {
    bool good = true;
    for (int i = 0; i < CR_TABLES; i++) {
        good = table_flush(f, i) && good;
    }
    return H5Fflush(f->file, H5F_SCOPE_LOCAL) >= 0 && good;
}

// the world as it is, after the records and events so far
static bool add_snapshot(crTrajectoryFile* f) {
    size_t size = cr_world_save_size(f->world);
    void* bytes = malloc(size);
    bool good = bytes != NULL && cr_world_save(f->world, bytes, size) == CR_OK &&
                append_trajectory_hdf5(f->bytes, H5T_NATIVE_UCHAR, 1, 1, f->byte_count, size, bytes);
    free(bytes);
    if (!good) return false;
    const crTable* time = &f->tables[CR_TABLE_TIME];
    const crTable* events = &f->tables[CR_TABLE_EVENTS];
    double* row = next_row_trajectory_hdf5(&f->tables[CR_TABLE_SNAPSHOTS]);
    row[0] = (double)(time->written + (hsize_t)time->held);
    row[1] = (double)(events->written + (hsize_t)events->held);
    row[2] = (double)f->byte_count;
    row[3] = (double)size;
    f->byte_count += size;
    return true;
}

static bool flush_all(crTrajectoryFile* f) { return add_snapshot(f) && flush_tables(f); }

static crStatus quietly(bool (*flush)(crTrajectoryFile*), crTrajectoryFile* f, crError* error) {
    crQuiet quiet = cr__hdf5_begin();
    bool good = flush(f);
    cr__hdf5_end(quiet);
    return good ? CR_OK : cannot_trajectory_hdf5(f, error);
}

static crStatus hdf5_write(void* self, const crRecord* record, crError* error) {
    crTrajectoryFile* f = self;
    const crState* state = cr_world_state(f->world);
    crTable* tables = f->tables;
    *next_row_trajectory_hdf5(&tables[CR_TABLE_TIME]) = state->time;
    size_t nq = tables[CR_TABLE_Q].columns;
    size_t nv = tables[CR_TABLE_V].columns;
    if (nq > 0) memcpy(next_row_trajectory_hdf5(&tables[CR_TABLE_Q]), state->q, nq * sizeof(double));
    if (nv > 0) memcpy(next_row_trajectory_hdf5(&tables[CR_TABLE_V]), state->v, nv * sizeof(double));
    double* energy = next_row_trajectory_hdf5(&tables[CR_TABLE_ENERGY]);
    energy[0] = record->energy.kinetic;
    energy[1] = record->energy.potential;
    double* certificate = next_row_trajectory_hdf5(&tables[CR_TABLE_CERTIFICATE]);
    certificate[0] = record->residual;
    certificate[1] = record->penetration;
    certificate[2] = record->contacts;
    size_t nu = tables[CR_TABLE_CTRL].columns;
    if (nu > 0) memcpy(next_row_trajectory_hdf5(&tables[CR_TABLE_CTRL]), state->ctrl, nu * sizeof(double));
    size_t na = tables[CR_TABLE_ACT].columns;
    if (na > 0) memcpy(next_row_trajectory_hdf5(&tables[CR_TABLE_ACT]), state->act, na * sizeof(double));
    if (tables[CR_TABLE_SENSORS].columns > 0) {
        crStatus status =
            cr_world_sense(f->world, next_row_trajectory_hdf5(&tables[CR_TABLE_SENSORS]), error);
        if (status != CR_OK) return status;
    }
    // the start goes out at once, so that a file can be gone on with from when it is there; later flushes end
    // with a chunk, whose rows then are all new
    const crTable* time = &tables[CR_TABLE_TIME];
    bool due = time->written == 0 || (time->written + (hsize_t)time->held) % (hsize_t)f->chunk == 0;
    return due ? quietly(flush_all, f, error) : CR_OK;
}

static void put(double* to, crVec3 x) {
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
}

// events belong to a step whose record is still to come, so no snapshot goes with them
static crStatus hdf5_event(void* self, const crEvent* event, crError* error) {
    crTrajectoryFile* f = self;
    double* row = next_row_trajectory_hdf5(&f->tables[CR_TABLE_EVENTS]);
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
    return f->tables[CR_TABLE_EVENTS].held >= f->chunk ? quietly(flush_tables, f, error) : CR_OK;
}

static crStatus hdf5_scene(void* self, const char* text, crError* error) {
    crTrajectoryFile* f = self;
    crQuiet quiet = cr__hdf5_begin();
    bool good = cr__hdf5_put_text(f->file, "scene", text);
    cr__hdf5_end(quiet);
    return good ? CR_OK : cannot_trajectory_hdf5(f, error);
}

static crStatus hdf5_close(void* self, crError* error) {
    crTrajectoryFile* f = self;
    crStatus status = quietly(flush_all, f, error);
    cr__trajectory_free(f);
    return status;
}

// one text of fixed length per body
static bool put_texts(hid_t group, const char* name, const char (*texts)[CR_TRAJECTORY_TEXT], hsize_t count) {
    hid_t type = H5Tcopy(H5T_C_S1);
    hid_t space = H5Screate_simple(1, &count, NULL);
    bool good = type >= 0 && space >= 0 && H5Tset_size(type, CR_TRAJECTORY_TEXT) >= 0 &&
                H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    hid_t set = good ? H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0;
    if (set >= 0) H5Dclose(set);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return good;
}

static bool put_bodies(hid_t file, const crModel* model) {
    size_t count = (size_t)model->nb;
    hid_t group = H5Gcreate2(file, "bodies", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    char(*texts)[CR_TRAJECTORY_TEXT] = calloc(2 * count, CR_TRAJECTORY_TEXT);
    int* numbers = malloc(4 * count * sizeof(int));
    bool good = group >= 0 && texts != NULL && numbers != NULL;
    for (size_t i = 0; good && i < count; i++) {
        const crBody* body = &model->bodies[i];
        snprintf(texts[i], CR_TRAJECTORY_TEXT, "%s", i == 0 ? "world" : body->name);
        snprintf(texts[count + i], CR_TRAJECTORY_TEXT, "%s", cr_joint_info(body->joint)->name);
        numbers[i] = body->q;
        numbers[count + i] = body->nq;
        numbers[2 * count + i] = body->v;
        numbers[3 * count + i] = body->nv;
    }
    good = good && put_texts(group, "name", (const char(*)[CR_TRAJECTORY_TEXT])texts, count) &&
           put_texts(group, "joint", (const char(*)[CR_TRAJECTORY_TEXT])(texts + count), count) &&
           cr__hdf5_put_ints(group, "q", numbers, count) &&
           cr__hdf5_put_ints(group, "nq", numbers + count, count) &&
           cr__hdf5_put_ints(group, "v", numbers + 2 * count, count) &&
           cr__hdf5_put_ints(group, "nv", numbers + 3 * count, count);
    if (group >= 0) H5Gclose(group);
    free(texts);
    free(numbers);
    return good;
}

// a name of its own, else the kind's with its number
static void put_name(char text[CR_TRAJECTORY_TEXT], const char* name, const char* kind, int index) {
    if (name != NULL) {
        snprintf(text, CR_TRAJECTORY_TEXT, "%s", name);
    } else {
        snprintf(text, CR_TRAJECTORY_TEXT, "%s%d", kind, index);
    }
}

static bool put_actuators(hid_t file, const crModel* model) {
    if (model->nu == 0) return true;
    size_t count = (size_t)model->nu;
    hid_t group = H5Gcreate2(file, "actuators", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    char(*texts)[CR_TRAJECTORY_TEXT] = calloc(count, CR_TRAJECTORY_TEXT);
    for (int i = 0; i < model->nu && texts != NULL; i++) {
        put_name(texts[i], model->actuators[i].name, "actuator", i);
    }
    bool good = group >= 0 && texts != NULL &&
                put_texts(group, "name", (const char(*)[CR_TRAJECTORY_TEXT])texts, count);
    for (int i = 0; i < model->nu && good; i++) {
        int place = model->actuators[i].act_place;
        if (place >= 0) put_name(texts[place], model->actuators[i].name, "actuator", i);
    }
    if (good && model->na > 0)
        good = put_texts(group, "act_name", (const char(*)[CR_TRAJECTORY_TEXT])texts, (hsize_t)model->na);
    if (group >= 0) H5Gclose(group);
    free(texts);
    return good;
}

static bool put_sensors(hid_t file, const crModel* model) {
    if (model->nsensor == 0) return true;
    size_t count = (size_t)model->sensor_count;
    hid_t group = H5Gcreate2(file, "sensors_of", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    char(*texts)[CR_TRAJECTORY_TEXT] = calloc(2 * count, CR_TRAJECTORY_TEXT);
    int* numbers = malloc(2 * count * sizeof(int));
    bool good = group >= 0 && texts != NULL && numbers != NULL;
    for (size_t i = 0; i < count && good; i++) {
        const crSensor* s = &model->sensors[i];
        put_name(texts[i], s->name, "sensor", (int)i);
        snprintf(texts[count + i], CR_TRAJECTORY_TEXT, "%s", cr_sensor_kind_name(s->kind));
        numbers[i] = s->first;
        numbers[count + i] = s->count;
    }
    good = good && put_texts(group, "name", (const char(*)[CR_TRAJECTORY_TEXT])texts, count) &&
           put_texts(group, "type", (const char(*)[CR_TRAJECTORY_TEXT])(texts + count), count) &&
           cr__hdf5_put_ints(group, "first", numbers, count) &&
           cr__hdf5_put_ints(group, "count", numbers + count, count);
    if (group >= 0) H5Gclose(group);
    free(texts);
    free(numbers);
    return good;
}

static bool create_tables(crTrajectoryFile* f, uint64_t scene) {
    int version = CR_TRAJECTORY_VERSION;
    char hash[17];
    cr__scene_hash_text(scene, hash);
    bool good =
        cr__hdf5_put_ints(f->file, "carom_trajectory", &version, 1) &&
        cr__hdf5_put_text(f->file, "scene_hash", hash) && put_bodies(f->file, cr_world_model(f->world)) &&
        put_actuators(f->file, cr_world_model(f->world)) && put_sensors(f->file, cr_world_model(f->world));
    for (int i = 0; i < CR_TABLES && good; i++) {
        crTable* t = &f->tables[i];
        if (t->columns == 0) continue;
        t->set = create_set(f->file, cr__table_names[i], H5T_IEEE_F64LE, i == CR_TABLE_TIME ? 1 : 2,
                            t->columns, (hsize_t)f->chunk);
        good = t->set >= 0;
    }
    if (good) f->bytes = create_set(f->file, "snapshot_bytes", H5T_STD_U8LE, 1, 1, BYTE_CHUNK);
    return f->bytes >= 0;
}

static bool take_memory(crTrajectoryFile* f) {
    for (int i = 0; i < CR_TABLES; i++) {
        crTable* t = &f->tables[i];
        if (t->columns == 0) continue;
        t->rows = malloc((size_t)f->chunk * t->columns * sizeof(double));
        if (t->rows == NULL) return false;
    }
    return true;
}

static crTrajectoryFile* allocate_trajectory_hdf5(crWorld* world, crError* error) {
    crTrajectoryFile* f = calloc(1, sizeof *f);
    if (f != NULL) {
        *f = (crTrajectoryFile){.file = -1, .bytes = -1, .world = world};
        cr__trajectory_shape(f);
        if (take_memory(f)) return f;
        cr__trajectory_free(f);
    }
    cr_error_set(error, CR_ERR_MEMORY, "out", "out: out of memory");
    return NULL;
}

static crStatus hdf5_create(const char* path, crWorld* world, uint64_t scene, void** self, crError* error) {
    crTrajectoryFile* f = allocate_trajectory_hdf5(world, error);
    if (f == NULL) return CR_ERR_MEMORY;
    crQuiet quiet = cr__hdf5_begin();
    f->file = cr__hdf5_commit_open(path, H5F_ACC_TRUNC);
    crStatus status = CR_OK;
    if (f->file < 0) {
        status = cr_error_set(error, CR_ERR_FILE, "out", "out: %.120s cannot be created", path);
    } else if (!create_tables(f, scene)) {
        status = cannot_trajectory_hdf5(f, error);
    }
    if (status != CR_OK) cr__trajectory_free(f);
    cr__hdf5_end(quiet);
    if (status == CR_OK) *self = f;
    return status;
}

static crStatus hdf5_resume(const char* path, crWorld* world, uint64_t scene, void** self, crError* error) {
    crTrajectoryFile* f = allocate_trajectory_hdf5(world, error);
    if (f == NULL) return CR_ERR_MEMORY;
    crQuiet quiet = cr__hdf5_begin();
    crStatus status = cr__trajectory_reopen(f, path, scene, error);
    if (status != CR_OK) cr__trajectory_free(f);
    cr__hdf5_end(quiet);
    if (status == CR_OK) *self = f;
    return status;
}

const crTrajectoryFormat cr__trajectory_hdf5 = {.create = hdf5_create,
                                                .resume = hdf5_resume,
                                                .write = hdf5_write,
                                                .event = hdf5_event,
                                                .scene = hdf5_scene,
                                                .close = hdf5_close,
                                                .exact = true};
