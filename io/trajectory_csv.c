// trajectory_csv.c - trajectories as CSV: a header, then one line per record.
//
// Every number is written with the fewest digits that read back as the same double, in any locale. To
// resume, the header must be the one the scene would write and the last line that ends is the state; what
// comes after it, the line a killed run left unfinished, is cut off. Memory is that of two lines.
// Fails: file where it cannot be read or written; wrong-size or unknown-name for a header of other bodies;
// syntax, not-finite or not-unit for a last row that is no state.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/robot.h"
#include "io/json.h"
#include "io/system.h"
#include "io/trajectory_parts.h"

#define UNIT_TOL 1e-6  // how far from 1 a quaternion's norm may be

typedef struct Csv {
    FILE* file;
    crWorld* world;
    double* sensors;  // (nsensor)
} Csv;

// what is done with each column of a row, in their order
typedef void (*Visit)(void* ctx, const crBody* body, const crColumn* column, double* number);

static void each_column(crWorld* world, Visit visit, void* ctx) {
    const crModel* model = cr_world_model(world);
    crState* state = cr_world_state(world);
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        for (const crColumn* c = cr_trajectory_columns(body->joint); c->name != NULL; c++) {
            visit(ctx, body, c, c->velocity ? &state->v[body->v + c->index] : &state->q[body->q + c->index]);
        }
    }
}

static void write_name(void* ctx, const crBody* body, const crColumn* column, double* number) {
    (void)number;
    fprintf(ctx, ",%s.%s", body->name, column->name);
}

static void write_number(void* ctx, const crBody* body, const crColumn* column, double* number) {
    (void)body;
    (void)column;
    putc(',', ctx);
    cr_json_write_number(ctx, *number);
}

// ctrl.NAME of each actuator, act.NAME of those that have an activation, then sensor.NAME of each sensor, with a number where it has several
static void write_control_names(FILE* file, const crModel* model) {
    for (int i = 0; i < model->nu; i++) {
        const char* name = model->actuators[i].name;
        if (name != NULL) {
            fprintf(file, ",ctrl.%s", name);
        } else {
            fprintf(file, ",ctrl.actuator%d", i);
        }
    }
    for (int i = 0; i < model->nu; i++) {
        const crActuator* a = &model->actuators[i];
        if (a->act_place < 0) continue;
        if (a->name != NULL) {
            fprintf(file, ",act.%s", a->name);
        } else {
            fprintf(file, ",act.actuator%d", i);
        }
    }
    for (int i = 0; i < model->sensor_count; i++) {
        const crSensor* s = &model->sensors[i];
        for (int k = 0; k < s->count; k++) {
            if (s->name != NULL) {
                fprintf(file, ",sensor.%s", s->name);
            } else {
                fprintf(file, ",sensor.sensor%d", i);
            }
            if (s->count > 1) fprintf(file, ".%d", k);
        }
    }
}

static void write_header(FILE* file, crWorld* world) {
    putc('t', file);
    each_column(world, write_name, file);
    write_control_names(file, cr_world_model(world));
    putc('\n', file);
}

static void write_controls(FILE* file, const double* x, int count) {
    for (int i = 0; i < count; i++) {
        putc(',', file);
        cr_json_write_number(file, x[i]);
    }
}

static crStatus check_file(const Csv* csv, crError* error) {
    if (!ferror(csv->file)) return CR_OK;
    return cr_error_set(error, CR_ERR_FILE, "out", "out: cannot be written: %s", strerror(errno));
}

static crStatus csv_write(void* self, const crRecord* record, crError* error) {
    (void)record;
    Csv* csv = self;
    const crModel* model = cr_world_model(csv->world);
    crStatus status = model->nsensor > 0 ? cr_world_sense(csv->world, csv->sensors, error) : CR_OK;
    if (status != CR_OK) return status;
    cr_json_write_number(csv->file, cr_world_state(csv->world)->time);
    each_column(csv->world, write_number, csv->file);
    write_controls(csv->file, cr_world_state(csv->world)->ctrl, model->nu);
    write_controls(csv->file, cr_world_state(csv->world)->act, model->na);
    write_controls(csv->file, csv->sensors, model->nsensor);
    putc('\n', csv->file);
    return check_file(csv, error);
}

static crStatus csv_event(void* self, const crEvent* event, crError* error) {
    (void)self;
    (void)event;
    (void)error;
    return CR_OK;
}

static crStatus csv_close(void* self, crError* error) {
    Csv* csv = self;
    bool bad = ferror(csv->file) != 0;
    bad = fclose(csv->file) != 0 || bad;
    free(csv->sensors);
    free(csv);
    return bad ? cr_error_set(error, CR_ERR_FILE, "out", "out: cannot be written: %s", strerror(errno))
               : CR_OK;
}

static crStatus open_file(const char* path, const char* mode, const char* field, crWorld* world, Csv** made,
                          crError* error) {
    Csv* csv = malloc(sizeof *csv);
    if (csv == NULL) return cr_error_set(error, CR_ERR_MEMORY, field, "%s: out of memory", field);
    *csv = (Csv){NULL, world, malloc(((size_t)cr_world_model(world)->nsensor + 1) * sizeof(double))};
    if (csv->sensors != NULL) csv->file = fopen(path, mode);
    if (csv->file == NULL) {
        bool memory = csv->sensors == NULL;
        free(csv->sensors);
        free(csv);
        if (memory) return cr_error_set(error, CR_ERR_MEMORY, field, "%s: out of memory", field);
        return cr_error_set(error, CR_ERR_FILE, field, "%s: %.120s: %s", field, path, strerror(errno));
    }
    *made = csv;
    return CR_OK;
}

static crStatus csv_create(const char* path, crWorld* world, uint64_t scene, void** self, crError* error) {
    (void)scene;
    Csv* csv = NULL;
    crStatus status = open_file(path, "wb", "out", world, &csv, error);
    if (status != CR_OK) return status;
    write_header(csv->file, world);
    *self = csv;
    return check_file(csv, error);
}

// resuming

// the first line against the one the scene would write; *length is the header's
static crStatus check_header(Csv* csv, size_t* length, crError* error) {
    crTextFile header;
    if (!cr__text_open(&header)) return cr_error_set(error, CR_ERR_MEMORY, "resume", "resume: out of memory");
    write_header(header.file, csv->world);
    bool made = cr__text_close(&header);
    char* expected = header.text;
    *length = header.size;
    size_t at = 0;
    size_t column = 0;  // where the name that differs begins
    int c = EOF;
    while (made && at < *length && (c = getc(csv->file)) == (unsigned char)expected[at]) {
        if (expected[at++] == ',') column = at;
    }
    crStatus status = CR_OK;
    if (!made) {
        status = cr_error_set(error, CR_ERR_MEMORY, "resume", "resume: out of memory");
    } else if (at < *length && (c == '\n' || c == EOF || expected[at] == '\n')) {
        status = cr_error_set(error, CR_ERR_SIZE, "resume",
                              "resume: the file has %s columns than the scene's bodies: not of this scene",
                              expected[at] == '\n' ? "more" : "fewer");
    } else if (at < *length) {
        expected[column + strcspn(expected + column, ",\n")] = '\0';
        status = cr_error_set(error, CR_ERR_NAME, "resume",
                              "resume: the file is not of this scene: column %.60s is expected, is another",
                              expected + column);
    }
    if (status != CR_OK && error != NULL) {
        error->line = 1;
        error->column = (int)column + 1;
    }
    free(expected);
    return status;
}

// the last line that ends, between [ and ] and without its end; *end is where the next one would begin
static crStatus last_line(FILE* file, size_t header, size_t most, char** text, off_t* end, crError* error) {
    off_t size = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
    off_t first = (off_t)header;
    off_t start = size - (off_t)most > first ? size - (off_t)most : first;
    if (size < first || fseeko(file, start, SEEK_SET) != 0)
        return cr_error_set(error, CR_ERR_FILE, "resume", "resume: the file cannot be read");
    size_t count = (size_t)(size - start);
    char* tail = malloc(count + 3);
    if (tail == NULL) return cr_error_set(error, CR_ERR_MEMORY, "resume", "resume: out of memory");
    count = fread(tail + 1, 1, count, file);
    size_t last = count;
    while (last > 0 && tail[last] != '\n') {
        last--;
    }
    size_t begin = last > 0 ? last - 1 : 0;
    while (begin > 0 && tail[begin] != '\n') {
        begin--;
    }
    if (last == 0 || (begin == 0 && start > first)) {
        free(tail);
        return cr_error_set(error, CR_ERR_SYNTAX, "resume",
                            "resume: no whole row of this scene at the end of the file");
    }
    *end = start + (off_t)last;
    tail[last] = ']';
    tail[begin] = '[';
    memmove(tail, tail + begin, last - begin + 1);
    tail[last - begin + 1] = '\0';
    *text = tail;
    return CR_OK;
}

static void count_column(void* ctx, const crBody* body, const crColumn* column, double* number) {
    (void)body;
    (void)column;
    (void)number;
    ++*(int*)ctx;
}

static void take_number(void* ctx, const crBody* body, const crColumn* column, double* number) {
    (void)body;
    (void)column;
    const crJson** at = ctx;
    *number = (*at)->number;
    *at = (*at)->next;
}

static crStatus check_quaternions(crWorld* world, crError* error) {
    const crModel* model = cr_world_model(world);
    const double* q = cr_world_state(world)->q;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        int quaternion = cr_joint_info(body->joint)->quaternion;
        if (quaternion < 0) continue;
        const double* x = q + body->q + quaternion;
        double norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
        if (fabs(norm - 1.0) <= UNIT_TOL) continue;
        return cr_error_set(error, CR_ERR_UNIT, "resume",
                            "resume: the last row's quaternion of %.60s has norm %.9g, must be 1", body->name,
                            norm);
    }
    return CR_OK;
}

static crStatus set_state(crWorld* world, const char* text, int columns, crError* error) {
    crJsonDoc doc;
    crError inner = {0};
    if (cr_json_parse(text, strlen(text), 1, &doc, &inner) != CR_OK) {
        return cr_error_set(error, inner.status, "resume", "resume: the last row, column %d: %.120s",
                            inner.column - 1, inner.message);
    }
    crStatus status = CR_OK;
    int index = 0;
    for (const crJson* item = doc.root->child; item != NULL && status == CR_OK; item = item->next, index++) {
        if (item->type == CR_JSON_NUMBER) continue;
        status = cr_error_set(error, CR_ERR_FINITE, "resume",
                              "resume: the last row, value %d is %s, must be a finite number", index + 1,
                              cr_json_type_name(item->type));
    }
    if (status == CR_OK && (doc.root->type != CR_JSON_ARRAY || doc.root->count != columns)) {
        status = cr_error_set(error, CR_ERR_SIZE, "resume", "resume: the last row has %d values, must be %d",
                              doc.root->count, columns);
    }
    if (status == CR_OK) {
        const crJson* at = doc.root->child;
        cr_world_state(world)->time = at->number;
        at = at->next;
        each_column(world, take_number, &at);
        for (int i = 0; i < cr_world_model(world)->nu; i++, at = at->next) {
            cr_world_state(world)->ctrl[i] = at->number;
        }
        for (int i = 0; i < cr_world_model(world)->na; i++, at = at->next) {
            cr_world_state(world)->act[i] = at->number;
        }
        status = check_quaternions(world, error);
    }
    cr_json_free(&doc);
    return status;
}

static crStatus csv_resume(const char* path, crWorld* world, uint64_t scene, void** self, crError* error) {
    (void)scene;
    Csv* csv = NULL;
    crStatus status = open_file(path, "r+b", "resume", world, &csv, error);
    if (status != CR_OK) return status;
    size_t header = 0;
    int columns = 1;
    each_column(world, count_column, &columns);
    columns += cr_world_model(world)->nu + cr_world_model(world)->na + cr_world_model(world)->nsensor;
    char* text = NULL;
    off_t end = 0;
    status = check_header(csv, &header, error);
    // a row and an unfinished one
    size_t most = 2 * (size_t)columns * CR_JSON_NUMBER_TEXT;
    if (status == CR_OK) status = last_line(csv->file, header, most, &text, &end, error);
    if (status == CR_OK) status = set_state(world, text, columns, error);
    free(text);
    if (status == CR_OK && (ftruncate(fileno(csv->file), end) != 0 || fseeko(csv->file, end, SEEK_SET) != 0))
        status = cr_error_set(error, CR_ERR_FILE, "resume", "resume: %.120s: %s", path, strerror(errno));
    if (status != CR_OK) {
        fclose(csv->file);
        free(csv->sensors);
        free(csv);
        return status;
    }
    *self = csv;
    return CR_OK;
}

const crTrajectoryFormat cr__trajectory_csv = {.create = csv_create,
                                               .resume = csv_resume,
                                               .write = csv_write,
                                               .event = csv_event,
                                               .close = csv_close,
                                               .exact = false};
