// motion_read.c - motions of a model's bodies from CSV with columns in any order, or from a recording.
//
// Digits: a file is written with so many decimals, or so many significant digits, and both are seen as the most that
// stand in any cell. Half of the last digit, by whichever of the two is coarser, is how far a number may be from
// what was meant. 16 significant digits and more are doubles. Fails: see motion_read.h.
#include "io/motion_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/names.h"
#include "io/table.h"
#include "io/trajectory.h"

enum { X, Y, Z, QW, QX, QY, QZ, VX, VY, VZ, WX, WY, WZ, Q, V, THETA, OMEGA, SUFFIXES };
static const char* const suffixes[SUFFIXES] = {"x",  "y",  "z",  "qw", "qx", "qy", "qz",    "vx",   "vy",
                                               "vz", "wx", "wy", "wz", "q",  "v",  "theta", "omega"};

typedef struct Columns {
    const crModel* model;
    const crTable* table;
    int time;
    int (*of)[SUFFIXES];  // column of each suffix, -1 where there is none (nb)
    crMotionFile* out;
    crError* error;
} Columns;

static crStatus out_of_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "file", "file: out of memory");
}

static int suffix_of(const char* text) {
    for (int i = 0; i < SUFFIXES; i++) {
        if (strcmp(text, suffixes[i]) == 0) return i;
    }
    return -1;
}

static const char* moving_name(const void* ctx, int index) {
    const crModel* model = ctx;
    return index + 1 < model->nb ? model->bodies[index + 1].name : NULL;
}

// which column is which number of which body
static crStatus find_columns(Columns* c) {
    const crModel* model = c->model;
    c->time = cr_table_column(c->table, "t");
    if (c->time < 0) c->time = cr_table_column(c->table, "time");
    if (c->time < 0)
        return cr_error_set(c->error, CR_ERR_MISSING, "t", "t: the file has no column t or time");
    int body = 1;
    for (int k = 0; k < c->table->columns; k++) {
        const char* name = c->table->names[k];
        const char* dot = strrchr(name, '.');
        int suffix = dot != NULL ? suffix_of(dot + 1) : -1;
        char typed[CR_RECORDING_NAME];
        if (suffix < 0 || (size_t)(dot - name) >= sizeof typed) continue;
        memcpy(typed, name, (size_t)(dot - name));
        typed[dot - name] = '\0';
        // columns of one body stand together as a rule
        if (body < 1 || strcmp(model->bodies[body].name, typed) != 0) body = cr_model_find_body(model, typed);
        if (body < 1) {
            const char* near = cr_name_nearest(typed, moving_name, model);
            cr_error_set(c->error, CR_ERR_NAME, name, "%.80s: the scene has no body '%.60s'%s%.60s%s", name,
                         typed, near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                         near != NULL ? "'?" : "");
            return CR_ERR_NAME;
        }
        c->of[body][suffix] = k;
    }
    return CR_OK;
}

static bool has_motion_read(const Columns* c, int body, int from, int to) {
    for (int s = from; s <= to; s++) {
        if (c->of[body][s] < 0) return false;
    }
    return true;
}

static bool moves(const crBody* body) { return body->nq > 0; }

// the first column of the joint that is missing, of positions or of velocities; NULL: none
static const char* missing_of_joint(const Columns* c, int body, bool velocity) {
    const crColumn* columns = cr_trajectory_columns(c->model->bodies[body].joint);
    for (; columns->name != NULL; columns++) {
        if (columns->velocity == velocity && c->of[body][suffix_of(columns->name)] < 0) return columns->name;
    }
    return NULL;
}

static const char* missing_of_pose(const Columns* c, int body, bool velocity) {
    for (int s = velocity ? VX : X; s <= (velocity ? WZ : QZ); s++) {
        if (c->of[body][s] < 0) return suffixes[s];
    }
    return NULL;
}

// Chooses coordinates or poses. *poses: true where some joint is given by the pose of its body.
static crStatus choose_form(Columns* c, bool* poses, bool* velocities) {
    const crModel* model = c->model;
    *poses = false;
    for (int i = 1; i < model->nb; i++) {
        if (moves(&model->bodies[i]) && missing_of_joint(c, i, false) != NULL && has_motion_read(c, i, X, QZ))
            *poses = true;
    }
    *velocities = true;
    for (int i = 1; i < model->nb; i++) {
        const char* body = model->bodies[i].name;
        if (!moves(&model->bodies[i])) continue;
        const char* lacks = *poses ? missing_of_pose(c, i, false) : missing_of_joint(c, i, false);
        if (lacks != NULL)
            return cr_error_set(c->error, CR_ERR_MISSING, body, "%.60s: the file has no column %.60s.%s%s",
                                body, body, lacks, *poses ? "; other bodies are given by their poses" : "");
        lacks = *poses ? missing_of_pose(c, i, true) : missing_of_joint(c, i, true);
        if (lacks != NULL && *velocities)
            snprintf(c->out->missing, sizeof c->out->missing, "%.64s.%s", body, lacks);
        *velocities = *velocities && lacks == NULL;
    }
    return CR_OK;
}

// numbers

static crStatus refuse_cell(const Columns* c, int row, int column, crStatus status) {
    char text[40];
    const char* name = c->table->names[column];
    cr_table_cell(c->table, row, column, text, sizeof text);
    cr_error_set(c->error, status, name, "%.60s: is '%s', must be a finite number", name, text);
    cr_table_place(c->table, row, column, c->error);
    return status;
}

static crStatus number(const Columns* c, int row, int column, double* value) {
    *value = cr_table_value(c->table, row, column);
    return isfinite(*value) ? CR_OK : refuse_cell(c, row, column, CR_ERR_FINITE);
}

static crStatus numbers(const Columns* c, int row, int body, int from, int to, double* values) {
    crStatus status = CR_OK;
    for (int s = from; s <= to && status == CR_OK; s++) {
        status = number(c, row, c->of[body][s], &values[s - from]);
    }
    return status;
}

static crStatus read_pose(const Columns* c, int row, int body, bool velocities) {
    size_t at = (size_t)row * (size_t)c->model->nb + (size_t)body;
    double x[7], v[6];
    crStatus status = numbers(c, row, body, X, QZ, x);
    if (status == CR_OK && velocities) status = numbers(c, row, body, VX, WZ, v);
    if (status != CR_OK) return status;
    c->out->pose[at] = (crPose){{x[0], x[1], x[2]}, {x[3], x[4], x[5], x[6]}};
    if (!velocities) return CR_OK;
    c->out->velocity[at] = cr_vec3(v[0], v[1], v[2]);
    c->out->omega[at] = cr_vec3(v[3], v[4], v[5]);
    return CR_OK;
}

static crStatus read_joint(const Columns* c, int row, int body, bool velocities) {
    const crModel* model = c->model;
    const crBody* b = &model->bodies[body];
    double* q = c->out->q + (size_t)row * (size_t)model->nq + b->q;
    double* v = velocities ? c->out->v + (size_t)row * (size_t)model->nv + b->v : NULL;
    crStatus status = CR_OK;
    for (const crColumn* k = cr_trajectory_columns(b->joint); k->name != NULL && status == CR_OK; k++) {
        if (k->velocity && !velocities) continue;
        status = number(c, row, c->of[body][suffix_of(k->name)], k->velocity ? &v[k->index] : &q[k->index]);
    }
    return status;
}

static crStatus read_row(const Columns* c, int row, bool poses, bool velocities) {
    double* time = c->out->time;
    crStatus status = number(c, row, c->time, &time[row]);
    if (status != CR_OK) return status;
    if (row > 0 && !(time[row] > time[row - 1])) {
        cr_error_set(c->error, CR_ERR_RANGE, "t", "t: is %g, must be later than in the row before, %g",
                     time[row], time[row - 1]);
        cr_table_place(c->table, row, c->time, c->error);
        return CR_ERR_RANGE;
    }
    for (int i = 1; i < c->model->nb && status == CR_OK; i++) {
        if (!moves(&c->model->bodies[i])) continue;
        status = poses ? read_pose(c, row, i, velocities) : read_joint(c, row, i, velocities);
    }
    return status;
}

// digits

typedef struct Digits {
    int decimals, significant;
} Digits;

static void see_digits(Digits* d, const char* text) {
    int decimals = 0, significant = 0;
    bool point = false, begun = false;
    const char* at = text + strspn(text, " \t+-");
    for (; (*at >= '0' && *at <= '9') || *at == '.'; at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        begun = begun || *at != '0';
        significant += begun;
        decimals += point;
    }
    if (*at == 'e' || *at == 'E') decimals -= (int)strtol(at + 1, NULL, 10);
    if (!begun) return;
    if (decimals > d->decimals) d->decimals = decimals;
    if (significant > d->significant) d->significant = significant;
}

static double half_digit(const Digits* d, double largest) {
    if (d->significant >= 16 || !(largest > 0.0)) return 0.0;
    double last = floor(log10(largest)) + 1.0 - d->significant;
    return 0.5 * pow(10.0, fmax((double)-d->decimals, last));
}

static int kind_of(int suffix) {
    if (suffix <= Z || suffix == Q || suffix == THETA) return 1;
    return suffix <= QZ ? 2 : suffix <= VZ || suffix == V ? 3 : 4;
}

static void see_column(const Columns* c, int column, Digits* seen, double* largest) {
    for (int row = 0; column >= 0 && row < c->table->rows; row++) {
        char text[40];
        cr_table_cell(c->table, row, column, text, sizeof text);
        see_digits(seen, text);
        *largest = fmax(*largest, fabs(cr_table_value(c->table, row, column)));
    }
}

// Bodies have one format for all their numbers. Time may be written with more digits, and round times show fewer.
static crMotionDigits find_digits(const Columns* c) {
    Digits seen = {0, 0};
    double largest[5] = {0.0};  // time, position, rotation, velocity, omega
    for (int body = 1; body < c->model->nb; body++) {
        for (int s = 0; s < SUFFIXES; s++) {
            see_column(c, c->of[body][s], &seen, &largest[kind_of(s)]);
        }
    }
    crMotionDigits digits = {.position = half_digit(&seen, largest[1]),
                             .rotation = half_digit(&seen, largest[2]),
                             .velocity = half_digit(&seen, largest[3]),
                             .omega = half_digit(&seen, largest[4])};
    see_column(c, c->time, &seen, &largest[0]);
    digits.time = half_digit(&seen, largest[0]);
    return digits;
}

// files

static crStatus make_room(const crModel* model, size_t count, bool poses, bool velocities, crMotionFile* out,
                          crError* error) {
    size_t nb = (size_t)model->nb, nq = (size_t)model->nq, nv = (size_t)model->nv;
    out->time = calloc(count + 1, sizeof *out->time);
    bool ok = out->time != NULL;
    if (poses) {
        out->pose = calloc(count * nb + 1, sizeof *out->pose);
        out->velocity = velocities ? calloc(count * nb + 1, sizeof *out->velocity) : NULL;
        out->omega = velocities ? calloc(count * nb + 1, sizeof *out->omega) : NULL;
        ok = ok && out->pose != NULL && (!velocities || (out->velocity != NULL && out->omega != NULL));
    } else {
        out->q = calloc(count * nq + 1, sizeof *out->q);
        out->v = velocities ? calloc(count * nv + 1, sizeof *out->v) : NULL;
        ok = ok && out->q != NULL && (!velocities || out->v != NULL);
    }
    if (!ok) return out_of_memory(error);
    out->data = (crMotionData){.count = count,
                               .time = out->time,
                               .q = out->q,
                               .v = out->v,
                               .pose = out->pose,
                               .velocity = out->velocity,
                               .omega = out->omega};
    return CR_OK;
}

static crStatus read_table(Columns* c, bool exact) {
    bool poses = false, velocities = false;
    crStatus status = find_columns(c);
    if (status == CR_OK) status = choose_form(c, &poses, &velocities);
    if (status == CR_OK && c->table->rows == 0)
        status = cr_error_set(c->error, CR_ERR_MISSING, "t", "t: the file has no record");
    if (status == CR_OK)
        status = make_room(c->model, (size_t)c->table->rows, poses, velocities, c->out, c->error);
    for (int row = 0; row < c->table->rows && status == CR_OK; row++) {
        status = read_row(c, row, poses, velocities);
    }
    if (status == CR_OK && !exact) c->out->data.digits = find_digits(c);
    return status;
}

static crStatus read_csv(const char* path, const crModel* model, bool exact, crMotionFile* out,
                         crError* error) {
    crTable table;
    crStatus status = cr_table_read(path, &table, error);
    if (status != CR_OK) return status;
    Columns c = {.model = model, .table = &table, .out = out, .error = error};
    c.of = malloc((size_t)model->nb * sizeof *c.of);
    if (c.of == NULL) status = out_of_memory(error);
    for (int i = 0; c.of != NULL && i < model->nb; i++) {
        for (int s = 0; s < SUFFIXES; s++) {
            c.of[i][s] = -1;
        }
    }
    if (status == CR_OK) status = read_table(&c, exact);
    free(c.of);
    cr_table_free(&table);
    if (status != CR_OK) cr_motion_file_free(out);
    return status;
}

static bool ends_with_motion_read(const char* path, const char* extension) {
    size_t length = strlen(path), tail = strlen(extension);
    return length > tail && strcasecmp(path + length - tail, extension) == 0;
}

crStatus cr_motion_read(const char* path, const crModel* model, bool exact, crMotionFile* out,
                        crError* error) {
    *out = (crMotionFile){0};
    if (!ends_with_motion_read(path, ".h5") && !ends_with_motion_read(path, ".hdf5"))
        return read_csv(path, model, exact, out, error);
    crRecording recording;
    crStatus status = cr_recording_read(path, &recording, error);
    if (status != CR_OK) return status;
    status = cr_motion_of_recording(&recording, model, out, error);
    cr_recording_free(&recording);
    return status;
}

static const char* recorded_name(const void* ctx, int index) {
    const crRecording* r = ctx;
    return index < r->body_count ? r->bodies[index].name : NULL;
}

static crStatus find_recorded(const crRecording* r, const crBody* body, const crRecordedBody** found,
                              crError* error) {
    for (int k = 0; k < r->body_count; k++) {
        if (strcmp(r->bodies[k].name, body->name) != 0) continue;
        *found = &r->bodies[k];
        if (r->bodies[k].nq == body->nq && r->bodies[k].nv == body->nv) return CR_OK;
        return cr_error_set(error, CR_ERR_SIZE, body->name,
                            "%.60s: has %d coordinates in the file, %d in the scene", body->name,
                            r->bodies[k].nq, body->nq);
    }
    const char* near = cr_name_nearest(body->name, recorded_name, r);
    return cr_error_set(error, CR_ERR_MISSING, body->name, "%.60s: the file has no such body%s%.60s%s",
                        body->name, near != NULL ? "; it has '" : "", near != NULL ? near : "",
                        near != NULL ? "'" : "");
}

crStatus cr_motion_of_recording(const crRecording* r, const crModel* model, crMotionFile* out,
                                crError* error) {
    *out = (crMotionFile){0};
    crStatus status = make_room(model, r->count, false, true, out, error);
    if (status == CR_OK) memcpy(out->time, r->time, r->count * sizeof *out->time);
    for (int i = 1; i < model->nb && status == CR_OK; i++) {
        const crBody* body = &model->bodies[i];
        const crRecordedBody* from = NULL;
        if (!moves(body)) continue;
        status = find_recorded(r, body, &from, error);
        for (size_t k = 0; k < r->count && status == CR_OK; k++) {
            memcpy(out->q + k * (size_t)model->nq + body->q, r->q + k * (size_t)r->nq + from->q,
                   (size_t)body->nq * sizeof(double));
            memcpy(out->v + k * (size_t)model->nv + body->v, r->v + k * (size_t)r->nv + from->v,
                   (size_t)body->nv * sizeof(double));
        }
    }
    if (status != CR_OK) cr_motion_file_free(out);
    return status;
}

void cr_motion_file_free(crMotionFile* file) {
    free(file->time);
    free(file->q);
    free(file->v);
    free(file->pose);
    free(file->velocity);
    free(file->omega);
    *file = (crMotionFile){0};
}
