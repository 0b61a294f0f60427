// recording.c - trajectories read back from CSV, and the choice of the format.
//
// The header names the columns; the columns of one body stand together in the order of
// cr_trajectory_columns, which tells its joint. Numbers are read the same in every locale. Fails: what
// is not such a table is refused with line and column.
#include "io/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/argument.h"
#include "io/recording_parts.h"
#include "io/system.h"
#include "io/trajectory.h"

typedef struct Table {
    const char* text;
    const char* end;
    const char* at;
    int line;
    const char* line_start;
    crRecording* out;
    size_t columns;      // without t
    size_t* target;      // where a column goes in q, v and channels side by side (columns)
    size_t column_room;  // of target
    size_t row_room;     // of the arrays of records
    crError* error;
} Table;

static crStatus refuse(Table* t, crStatus status, const char* field, const char* message, const char* word,
                       size_t length) {
    cr_error_set(t->error, status, field, "%s: %s%s%.*s%s", field, message, length > 0 ? ", is \"" : "",
                 (int)(length < 40 ? length : 40), word, length > 0 ? "\"" : "");
    if (t->error != NULL) {
        t->error->line = t->line;
        t->error->column = (int)(t->at - t->line_start) + 1;
    }
    return status;
}

static crStatus out_of_memory_recording(Table* t) {
    return refuse(t, CR_ERR_MEMORY, "file", "out of memory", "", 0);
}

// the whole file; NULL with the error filled
static char* load_recording(const char* path, size_t* size, crError* error) {
    FILE* file = fopen(path, "rb");
    char* text = NULL;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        long length = ftell(file);
        if (length >= 0 && (size_t)length > CR_RECORDING_MAX_SIZE) {
            fclose(file);
            cr_error_set(error, CR_ERR_LIMIT, "file", "file: %.120s is longer than %zu bytes", path,
                         CR_RECORDING_MAX_SIZE);
            return NULL;
        }
        text = length >= 0 && fseek(file, 0, SEEK_SET) == 0 ? malloc((size_t)length + 1) : NULL;
        *size = text != NULL ? fread(text, 1, (size_t)length, file) : 0;
        if (text != NULL) text[*size] = '\0';
    }
    bool bad = file == NULL || text == NULL || ferror(file);
    if (bad) cr_error_set(error, CR_ERR_FILE, "file", "file: cannot read %.120s: %s", path, strerror(errno));
    if (file != NULL) fclose(file);
    if (!bad) return text;
    free(text);
    return NULL;
}

// the next cell of the line, its length; at is left on the comma or the line's end
static size_t cell(Table* t, const char** word) {
    *word = t->at;
    size_t length = 0;
    while (t->at + length < t->end && strchr(",\r\n", t->at[length]) == NULL) {
        length++;
    }
    return length;
}

// past the line's end; false where something else stands there
static bool end_line(Table* t) {
    if (t->at < t->end && *t->at == '\r') t->at++;
    if (t->at == t->end) return true;
    if (*t->at != '\n') return false;
    t->at++;
    t->line++;
    t->line_start = t->at;
    return true;
}

static bool add_column(Table* t, size_t target) {
    if (t->columns == t->column_room) {
        size_t room = t->column_room > 0 ? 2 * t->column_room : 64;
        size_t* larger = realloc(t->target, room * sizeof *larger);
        if (larger == NULL) return false;
        t->target = larger;
        t->column_room = room;
    }
    t->target[t->columns++] = target;
    return true;
}

// how many of the joint's columns stand at `at`, all or 0: ",NAME.x,NAME.y,..."
static size_t match_joint(const Table* t, const char* name, size_t length, const crColumn* columns) {
    const char* at = t->at;
    for (const crColumn* c = columns; c->name != NULL; c++) {
        size_t tail = strlen(c->name);
        size_t need = 1 + length + 1 + tail;
        if ((size_t)(t->end - at) < need || at[0] != ',' || strncmp(at + 1, name, length) != 0 ||
            at[1 + length] != '.' || strncmp(at + 2 + length, c->name, tail) != 0 ||
            strchr(",\r\n", at[need]) == NULL)
            return 0;
        at += need;
    }
    return (size_t)(at - t->at);
}

// a column ctrl.NAME, act.NAME or sensor.NAME, after those of the bodies
static bool is_channel(const char* name, size_t length) {
    return (length == 4 && strncmp(name, "ctrl", 4) == 0) || (length == 3 && strncmp(name, "act", 3) == 0) ||
           (length == 6 && strncmp(name, "sensor", 6) == 0);
}

static crStatus read_channel(Table* t) {
    crRecording* r = t->out;
    t->at++;
    const char* word;
    size_t length = cell(t, &word);
    crRecordedChannel* larger = realloc(r->channels, (size_t)(r->channel_count + 1) * sizeof *larger);
    if (larger == NULL) return out_of_memory_recording(t);
    r->channels = larger;
    if (length >= CR_RECORDING_CHANNEL)
        return refuse(t, CR_ERR_SYNTAX, "header", "the name of a column is too long", word, length);
    memset(&larger[r->channel_count], 0, sizeof *larger);
    memcpy(larger[r->channel_count].name, word, length);
    if (!add_column(t, 4 * (size_t)r->channel_count++ + 2)) return out_of_memory_recording(t);
    t->at += length;
    return CR_OK;
}

static crStatus read_body_recording(Table* t) {
    static const crJoint joints[] = {CR_JOINT_FREE, CR_JOINT_PLANAR, CR_JOINT_BALL, CR_JOINT_HINGE};
    crRecording* r = t->out;
    const char* name = t->at + 1;
    size_t length = 0;
    while (name + length < t->end && strchr(".,\r\n", name[length]) == NULL) {
        length++;
    }
    if (length == 0 || length >= CR_RECORDING_NAME)
        return refuse(t, CR_ERR_SYNTAX, "header", "a column must be NAME.column", name, length);
    size_t width = 0;
    crRecordedBody body = {.q = r->nq, .v = r->nv};
    memcpy(body.name, name, length);
    for (size_t i = 0; i < sizeof joints / sizeof joints[0] && width == 0; i++) {
        body.joint = joints[i];
        width = match_joint(t, name, length, cr_trajectory_columns(joints[i]));
    }
    if (width == 0 && is_channel(name, length)) return read_channel(t);
    if (width == 0)
        return refuse(t, CR_ERR_NAME, "header", "these are not the columns of any joint", name, length);
    for (const crColumn* c = cr_trajectory_columns(body.joint); c->name != NULL; c++) {
        // velocities are marked by the lowest bit, channels by the next, until nq and nv are known
        size_t place = c->velocity ? 4 * (size_t)(body.v + c->index) + 1 : 4 * (size_t)(body.q + c->index);
        if (!add_column(t, place)) return out_of_memory_recording(t);
        body.nv += c->velocity;
        body.nq += !c->velocity;
    }
    crRecordedBody* larger = realloc(r->bodies, (size_t)(r->body_count + 1) * sizeof body);
    if (larger == NULL) return out_of_memory_recording(t);
    r->bodies = larger;
    r->bodies[r->body_count++] = body;
    r->nq += body.nq;
    r->nv += body.nv;
    t->at += width;
    return CR_OK;
}

static crStatus read_header(Table* t) {
    const char* word;
    size_t length = cell(t, &word);
    if (length != 1 || *word != 't')
        return refuse(t, CR_ERR_SYNTAX, "header", "a trajectory begins with a column t", word, length);
    t->at++;
    crStatus status = CR_OK;
    while (status == CR_OK && t->at < t->end && *t->at == ',') {
        status = read_body_recording(t);
    }
    for (size_t i = 0; i < t->columns; i++) {
        size_t kind = t->target[i] % 4, nq = (size_t)t->out->nq, nv = (size_t)t->out->nv;
        t->target[i] = t->target[i] / 4 + (kind == 0 ? 0 : kind == 1 ? nq : nq + nv);
    }
    if (status == CR_OK && !end_line(t))
        status = refuse(t, CR_ERR_SYNTAX, "header", "the line does not end here", t->at, 1);
    return status;
}

static bool grow_rows(Table* t) {
    crRecording* r = t->out;
    if (r->count < t->row_room) return true;
    size_t room = t->row_room > 0 ? 2 * t->row_room : 256;
    double* time = realloc(r->time, room * sizeof(double));
    if (time != NULL) r->time = time;
    double* q = realloc(r->q, (room * (size_t)r->nq + 1) * sizeof(double));
    if (q != NULL) r->q = q;
    double* v = realloc(r->v, (room * (size_t)r->nv + 1) * sizeof(double));
    if (v != NULL) r->v = v;
    double* channel = realloc(r->channel, (room * (size_t)r->channel_count + 1) * sizeof(double));
    if (channel != NULL) r->channel = channel;
    if (time == NULL || q == NULL || v == NULL || channel == NULL) return false;
    t->row_room = room;
    return true;
}

static crStatus read_number_recording(Table* t, double* number) {
    const char* word;
    size_t length = cell(t, &word);
    char* stop = NULL;
    *number = strtod(word, &stop);
    bool plain = length > 0 && strchr("+-.0123456789", *word) != NULL && stop == word + length;
    if (!plain) return refuse(t, CR_ERR_SYNTAX, "cell", "must be a number", word, length);
    if (!isfinite(*number)) return refuse(t, CR_ERR_FINITE, "cell", "must be finite", word, length);
    t->at += length;
    return CR_OK;
}

static crStatus read_row_recording(Table* t) {
    crRecording* r = t->out;
    if (!grow_rows(t)) return out_of_memory_recording(t);
    size_t row = r->count;
    crStatus status = read_number_recording(t, &r->time[row]);
    if (status == CR_OK && row > 0 && !(r->time[row] > r->time[row - 1]))
        return refuse(t, CR_ERR_RANGE, "t", "must be later than in the line before", "", 0);
    for (size_t i = 0; i < t->columns && status == CR_OK; i++) {
        double number = 0.0;
        if (t->at == t->end || *t->at != ',')
            return refuse(t, CR_ERR_SIZE, "row", "has fewer cells than the header", "", 0);
        t->at++;
        status = read_number_recording(t, &number);
        size_t place = t->target[i];
        size_t nq = (size_t)r->nq, nv = (size_t)r->nv, nc = (size_t)r->channel_count;
        *(place < nq        ? &r->q[row * nq + place]
          : place < nq + nv ? &r->v[row * nv + place - nq]
                            : &r->channel[row * nc + place - nq - nv]) = number;
    }
    if (status == CR_OK && !end_line(t))
        status = refuse(t, CR_ERR_SIZE, "row", "has more cells than the header", "", 0);
    if (status == CR_OK) r->count++;
    return status;
}

static crStatus read_csv_recording(const char* path, crRecording* recording, crError* error) {
    size_t size = 0;
    char* text = load_recording(path, &size, error);
    if (text == NULL) return error != NULL ? error->status : CR_ERR_FILE;
    // a last line that was cut off is no line
    size_t whole = size;
    while (whole > 0 && text[whole - 1] != '\n') {
        whole--;
    }
    Table t = {text, text + whole, text, 1, text, recording, 0, NULL, 0, 0, error};
    crPlainNumbers plain;
    bool begun = cr__plain_begin(&plain);
    crStatus status = whole > 0 ? read_header(&t)
                                : refuse(&t, CR_ERR_SYNTAX, "header", "the file has no whole line", "", 0);
    while (status == CR_OK && t.at < t.end) {
        status = read_row_recording(&t);
    }
    if (begun) cr__plain_end(&plain);
    free(t.target);
    free(text);
    return status;
}

static bool ends_with_recording(const char* path, const char* extension) {
    size_t length = strlen(path);
    size_t tail = strlen(extension);
    return length > tail && strcasecmp(path + length - tail, extension) == 0;
}

crStatus cr_recording_read(const char* path, crRecording* recording, crError* error) {
    if (path == NULL) return cr__io_missing(error, "path");
    if (recording == NULL) return cr__io_missing(error, "recording");
    *recording = (crRecording){0};
    crError own = {0};
    if (error == NULL) error = &own;
    crStatus status = CR_OK;
    if (ends_with_recording(path, ".csv")) {
        status = read_csv_recording(path, recording, error);
    } else if (ends_with_recording(path, ".h5") || ends_with_recording(path, ".hdf5")) {
        status = cr__recording_hdf5(path, recording, error);
    } else {
        status =
            cr_error_set(error, CR_ERR_NAME, "file", "file: \"%.100s\" must end in .csv, .h5 or .hdf5", path);
    }
    if (status == CR_OK && recording->count == 0)
        status = cr_error_set(error, CR_ERR_MISSING, "time", "time: the file has no record");
    if (status != CR_OK) cr_recording_free(recording);
    return status;
}

void cr_recording_free(crRecording* r) {
    if (r == NULL) return;
    free(r->bodies);
    free(r->time);
    free(r->q);
    free(r->v);
    free(r->energy);
    free(r->certificate);
    free(r->events);
    free(r->scene);
    free(r->channels);
    free(r->channel);
    *r = (crRecording){0};
}
