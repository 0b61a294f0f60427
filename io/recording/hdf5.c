// hdf5.c - trajectories read back from HDF5; the layout is in io/trajectory/hdf5.c and docs/run.md.
//
// Every table must have as many rows as there are times, and bodies must lie within q and v. Fails: what does not fit is refused by the name of the dataset.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/fclib/commit.h"
#include "io/fclib/dataset.h"
#include "io/names.h"
#include "io/recording_parts.h"

#define EVENT_COLUMNS 16
#define MOST_BODIES   100000

// texts of fixed length, as many as there are bodies
static crStatus read_texts(hid_t file, const char* path, size_t count, char* texts, crError* error) {
    hid_t set = cr__hdf5_has(file, path) ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
    if (set < 0) return cr_error_set(error, CR_ERR_MISSING, path, "%s: is missing", path);
    hid_t type = H5Dget_type(set);
    hid_t space = H5Dget_space(set);
    hid_t memory = H5Tcopy(H5T_C_S1);
    bool good = type >= 0 && space >= 0 && memory >= 0 && H5Tget_class(type) == H5T_STRING &&
                H5Tis_variable_str(type) == 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count &&
                H5Tset_size(memory, CR_RECORDING_NAME) >= 0 && H5Tset_cset(memory, H5Tget_cset(type)) >= 0 &&
                H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0;
    if (memory >= 0) H5Tclose(memory);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    H5Dclose(set);
    return good
               ? CR_OK
               : cr_error_set(error, CR_ERR_TYPE, path, "%s: must be %zu texts of fixed length", path, count);
}

static bool joint_of(const char* name, crJoint* joint) {
    for (int i = 0; i < CR_JOINT_KINDS; i++) {
        if (strcmp(name, cr_joint_info((crJoint)i)->name) != 0) continue;
        *joint = (crJoint)i;
        return true;
    }
    return false;
}

static crStatus place_bodies(crRecording* r, size_t count, const char* names, const char* joints,
                             int* const numbers[4], crError* error) {
    for (size_t i = 1; i < count; i++) {
        crRecordedBody* body = &r->bodies[i - 1];
        memcpy(body->name, names + i * CR_RECORDING_NAME, CR_RECORDING_NAME);
        body->name[CR_RECORDING_NAME - 1] = '\0';
        char joint[CR_RECORDING_NAME];
        memcpy(joint, joints + i * CR_RECORDING_NAME, sizeof joint);
        joint[sizeof joint - 1] = '\0';
        if (!joint_of(joint, &body->joint))
            return cr_error_set(error, CR_ERR_NAME, "bodies/joint", "bodies/joint: none is called \"%.40s\"",
                                joint);
        body->q = numbers[0][i];
        body->nq = numbers[1][i];
        body->v = numbers[2][i];
        body->nv = numbers[3][i];
        bool inside = body->nq >= 0 && body->nq <= 7 && body->nv >= 0 && body->nv <= 6 && body->q >= 0 &&
                      body->v >= 0 && body->q <= r->nq - body->nq && body->v <= r->nv - body->nv;
        if (!inside)
            return cr_error_set(error, CR_ERR_RANGE, "bodies", "bodies: body %zu lies outside q or v", i);
    }
    return CR_OK;
}

static crStatus read_bodies_recording_hdf5(hid_t file, crRecording* r, crError* error) {
    static const char* const paths[] = {"bodies/q", "bodies/nq", "bodies/v", "bodies/nv"};
    int* numbers[4] = {NULL};
    size_t sizes[4] = {0};
    crStatus status = CR_OK;
    for (int i = 0; i < 4 && status == CR_OK; i++) {
        status = cr__hdf5_ints(file, paths[i], MOST_BODIES, &numbers[i], &sizes[i], error);
        if (status == CR_OK && (sizes[i] != sizes[0] || sizes[i] == 0))
            status =
                cr_error_set(error, CR_ERR_SIZE, paths[i], "%s: must have one number per body", paths[i]);
    }
    size_t count = sizes[0];
    char* texts = status == CR_OK ? calloc(2 * count, CR_RECORDING_NAME) : NULL;
    r->bodies = status == CR_OK ? calloc(count, sizeof *r->bodies) : NULL;
    if (status == CR_OK && (texts == NULL || r->bodies == NULL))
        status = cr_error_set(error, CR_ERR_MEMORY, "bodies", "bodies: out of memory");
    if (status == CR_OK) status = read_texts(file, "bodies/name", count, texts, error);
    char* joints = texts + (status == CR_OK ? count * CR_RECORDING_NAME : 0);
    if (status == CR_OK) status = read_texts(file, "bodies/joint", count, joints, error);
    if (status == CR_OK) {
        r->body_count = (int)count - 1;
        status = place_bodies(r, count, texts, joints, numbers, error);
    }
    free(texts);
    for (int i = 0; i < 4; i++) {
        free(numbers[i]);
    }
    return status;
}

// columns of a table, 0 where it is not there
static int columns_of(hid_t file, const char* path) {
    hid_t set = cr__hdf5_has(file, path) ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
    hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    hsize_t size[2] = {0, 0};
    bool flat = space >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
                H5Sget_simple_extent_dims(space, size, NULL) == 2 && size[1] < 1000000;
    if (space >= 0) H5Sclose(space);
    if (set >= 0) H5Dclose(set);
    return flat ? (int)size[1] : 0;
}

// a table of so many columns; absent is fine where it may be
static crStatus read_table_recording_hdf5(hid_t file, const char* path, size_t columns, bool needed,
                                          size_t most, double** numbers, size_t* rows, crError* error) {
    *numbers = NULL;
    *rows = 0;
    if (!needed && !cr__hdf5_has(file, path)) return CR_OK;
    size_t count = 0;
    crStatus status = cr__hdf5_doubles(file, path, most, numbers, &count, error);
    if (status != CR_OK) return status;
    if (count % columns != 0)
        return cr_error_set(error, CR_ERR_SIZE, path, "%s: must have %zu columns", path, columns);
    *rows = count / columns;
    return CR_OK;
}

static crVec3 vec(const double* x) { return cr_vec3(x[0], x[1], x[2]); }

static crStatus read_events(hid_t file, size_t most, crRecording* r, crError* error) {
    double* rows = NULL;
    crStatus status =
        read_table_recording_hdf5(file, "events", EVENT_COLUMNS, false, most, &rows, &r->event_count, error);
    r->has_events = status == CR_OK && rows != NULL;
    r->events = r->has_events ? malloc((r->event_count + 1) * sizeof *r->events) : NULL;
    if (r->has_events && r->events == NULL)
        status = cr_error_set(error, CR_ERR_MEMORY, "events", "events: out of memory");
    for (size_t i = 0; i < r->event_count && status == CR_OK; i++) {
        const double* x = rows + i * EVENT_COLUMNS;
        for (int k = 1; k <= 4; k++) {
            if (x[k] >= 0.0 && x[k] <= (k <= 2 ? r->body_count : 1e6)) continue;
            status = cr_error_set(error, CR_ERR_RANGE, "events", "events: row %zu names %s %g", i,
                                  k <= 2 ? "body" : "shape", x[k]);
        }
        if (status != CR_OK) break;
        r->events[i] = (crEvent){.time = x[0],
                                 .body_a = (int)x[1],
                                 .body_b = (int)x[2],
                                 .shape_a = (int)x[3],
                                 .shape_b = (int)x[4],
                                 .point = vec(x + 5),
                                 .normal = vec(x + 8),
                                 .approach = x[11],
                                 .impulse = vec(x + 12),
                                 .energy_change = x[15],
                                 .impact = -1};
    }
    free(rows);
    return status;
}

static crStatus read_records(hid_t file, size_t most, crRecording* r, crError* error) {
    crStatus status = read_table_recording_hdf5(file, "time", 1, true, most, &r->time, &r->count, error);
    struct {
        const char* path;
        size_t columns;
        bool needed;
        double** to;
    } tables[] = {{"q", (size_t)r->nq, r->nq > 0, &r->q},
                  {"v", (size_t)r->nv, r->nv > 0, &r->v},
                  {"energy", 2, false, &r->energy},
                  {"certificate", 3, false, &r->certificate}};
    for (int i = 0; i < 4 && status == CR_OK; i++) {
        if (tables[i].columns == 0) continue;
        size_t rows = 0;
        status = read_table_recording_hdf5(file, tables[i].path, tables[i].columns, tables[i].needed, most,
                                           tables[i].to, &rows, error);
        if (status == CR_OK && *tables[i].to != NULL && rows != r->count)
            status = cr_error_set(error, CR_ERR_SIZE, tables[i].path, "%s: has %zu rows, time has %zu",
                                  tables[i].path, rows, r->count);
    }
    for (size_t i = 1; i < r->count && status == CR_OK; i++) {
        if (!(r->time[i] > r->time[i - 1]))
            status = cr_error_set(error, CR_ERR_RANGE, "time",
                                  "time: record %zu is not later than the one before", i);
    }
    return status;
}

// texts of a list that may be missing; *count of them, to free
static char* names_of(hid_t file, const char* path, size_t count, crError* error, crStatus* status) {
    char* texts = calloc(count + 1, CR_RECORDING_NAME);
    if (texts == NULL) *status = cr_error_set(error, CR_ERR_MEMORY, path, "%s: out of memory", path);
    if (*status == CR_OK) *status = read_texts(file, path, count, texts, error);
    for (size_t i = 0; texts != NULL && i < count; i++) {
        texts[(i + 1) * CR_RECORDING_NAME - 1] = '\0';
    }
    return texts;
}

// names of `count` columns of actuators from channel `at` on
static crStatus name_actuators(hid_t file, const char* path, const char* what, int at, int count,
                               crRecording* r, crError* error) {
    crStatus status = CR_OK;
    char* texts = count > 0 ? names_of(file, path, (size_t)count, error, &status) : NULL;
    for (int i = 0; i < count && status == CR_OK; i++) {
        snprintf(r->channels[at + i].name, CR_RECORDING_CHANNEL, "%s.%.60s", what,
                 texts + (size_t)i * CR_RECORDING_NAME);
    }
    free(texts);
    return status;
}

// names of the columns of ctrl and act, then of sensors
static crStatus name_channels(hid_t file, const int columns[3], crRecording* r, crError* error) {
    int controls = columns[0] + columns[1], numbers = columns[2];
    char* texts = NULL;
    crStatus status = name_actuators(file, "actuators/name", "ctrl", 0, columns[0], r, error);
    if (status == CR_OK)
        status = name_actuators(file, "actuators/act_name", "act", columns[0], columns[1], r, error);
    int *first = NULL, *counts = NULL;
    size_t sensors = 0, same = 0;
    if (status == CR_OK && numbers > 0)
        status = cr__hdf5_ints(file, "sensors_of/first", MOST_BODIES, &first, &sensors, error);
    if (status == CR_OK && numbers > 0)
        status = cr__hdf5_ints(file, "sensors_of/count", MOST_BODIES, &counts, &same, error);
    if (status == CR_OK && sensors != same)
        status =
            cr_error_set(error, CR_ERR_SIZE, "sensors_of", "sensors_of: first and count differ in length");
    if (status == CR_OK && sensors > 0) texts = names_of(file, "sensors_of/name", sensors, error, &status);
    for (size_t i = 0; i < sensors && status == CR_OK; i++) {
        if (first[i] < 0 || counts[i] < 0 || counts[i] > numbers || first[i] > numbers - counts[i]) {
            status = cr_error_set(error, CR_ERR_RANGE, "sensors_of",
                                  "sensors_of: sensor %zu lies outside sensors", i);
            break;
        }
        for (int k = 0; k < counts[i]; k++) {
            char* name = r->channels[controls + first[i] + k].name;
            const char* own = texts + i * CR_RECORDING_NAME;
            if (counts[i] == 1) snprintf(name, CR_RECORDING_CHANNEL, "sensor.%.60s", own);
            if (counts[i] > 1) snprintf(name, CR_RECORDING_CHANNEL, "sensor.%.60s.%d", own, k);
        }
    }
    free(texts);
    free(first);
    free(counts);
    return status;
}

static crStatus read_channels(hid_t file, size_t most, crRecording* r, crError* error) {
    static const char* const paths[3] = {"ctrl", "act", "sensors"};
    const int columns[3] = {columns_of(file, paths[0]), columns_of(file, paths[1]),
                            columns_of(file, paths[2])};
    int count = columns[0] + columns[1] + columns[2], at = 0;
    if (count == 0) return CR_OK;
    r->channels = calloc((size_t)count, sizeof *r->channels);
    r->channel = calloc((size_t)count * r->count + 1, sizeof *r->channel);
    if (r->channels == NULL || r->channel == NULL)
        return cr_error_set(error, CR_ERR_MEMORY, "sensors", "sensors: out of memory");
    r->channel_count = count;
    crStatus status = CR_OK;
    for (int k = 0; k < 3 && status == CR_OK; at += columns[k++]) {
        double* rows = NULL;
        size_t got = 0;
        if (columns[k] == 0) continue;
        status =
            read_table_recording_hdf5(file, paths[k], (size_t)columns[k], true, most, &rows, &got, error);
        if (status == CR_OK && got != r->count)
            status = cr_error_set(error, CR_ERR_SIZE, paths[k], "%s: has %zu rows, time has %zu", paths[k],
                                  got, r->count);
        for (size_t i = 0; i < r->count && status == CR_OK; i++) {
            memcpy(r->channel + i * (size_t)count + at, rows + i * (size_t)columns[k],
                   (size_t)columns[k] * sizeof *rows);
        }
        free(rows);
    }
    return status == CR_OK ? name_channels(file, columns, r, error) : status;
}

static crStatus read_scene(hid_t file, size_t size, crRecording* r, crError* error) {
    hid_t set = cr__hdf5_has(file, "scene") ? H5Dopen2(file, "scene", H5P_DEFAULT) : -1;
    if (set < 0) return CR_OK;
    hid_t type = H5Dget_type(set);
    size_t length = type >= 0 ? H5Tget_size(type) : 0;
    if (type >= 0) H5Tclose(type);
    H5Dclose(set);
    if (length == 0 || length > size)
        return cr_error_set(error, CR_ERR_SIZE, "scene", "scene: must be a text stored in the file");
    r->scene = malloc(length + 1);
    if (r->scene == NULL) return cr_error_set(error, CR_ERR_MEMORY, "scene", "scene: out of memory");
    cr__hdf5_text(file, "scene", r->scene, length + 1);
    return CR_OK;
}

static crStatus read_file_recording_hdf5(hid_t file, size_t size, crRecording* r, crError* error) {
    int* version = NULL;
    size_t count = 0;
    crStatus status = cr__hdf5_ints(file, "carom_trajectory", 1, &version, &count, error);
    if (status == CR_OK && (count != 1 || version[0] != 1))
        status = cr_error_set(error, CR_ERR_RANGE, "carom_trajectory", "carom_trajectory: must be 1");
    free(version);
    if (status != CR_OK) return status;
    size_t most = size / sizeof(double);
    r->nq = columns_of(file, "q");
    r->nv = columns_of(file, "v");
    status = read_bodies_recording_hdf5(file, r, error);
    if (status == CR_OK) status = read_records(file, most, r, error);
    if (status == CR_OK) status = read_channels(file, most, r, error);
    if (status == CR_OK) status = read_events(file, most, r, error);
    if (status == CR_OK) status = read_scene(file, size, r, error);
    return status;
}

crStatus cr__recording_hdf5(const char* path, crRecording* r, crError* error) {
    struct stat info;
    if (stat(path, &info) != 0)
        return cr_error_set(error, CR_ERR_FILE, "file", "file: cannot read %.120s: no such file", path);
    size_t size = info.st_size > 0 ? (size_t)info.st_size : 0;
    if (size > CR_RECORDING_MAX_SIZE)
        return cr_error_set(error, CR_ERR_LIMIT, "file", "file: %.120s is longer than %zu bytes", path,
                            CR_RECORDING_MAX_SIZE);
    crQuiet quiet = cr__hdf5_begin();
    hid_t file = cr__hdf5_commit_open(path, H5F_ACC_RDONLY);
    crStatus status = file >= 0 ? read_file_recording_hdf5(file, size, r, error)
                                : cr_error_set(error, CR_ERR_FILE, "file",
                                               "file: %.120s is not HDF5, or is being written", path);
    if (file >= 0) H5Fclose(file);
    cr__hdf5_end(quiet);
    return status;
}
