// page_data.c - what the script of a report draws, as JSON: bodies, their poses, energy, certificate, events.
//
// Poses are whole multiples of a hundred-thousandth of the scene (quaternions of 1e-4), written as their
// differences from frame to frame. A frame's certificate is the worst since the frame before. Nothing in the
// text can end the script element it stands in. Fails: memory.
#include <stdlib.h>

#include "io/json.h"
#include "plot/describe.h"
#include "plot/faces.h"
#include "plot/page_parts.h"

#define SEGMENTS  20
#define PRECISION 1e-5  // of the size of the scene
#define TURN      1e-4  // of a quaternion

typedef struct Data {
    FILE* file;
    crVec3 lo, hi;   // of all that happens
    double quantum;  // m
} Data;

// JSON has no infinity
static double bounded(double x, double most) { return fmin(fmax(x, -most), most); }

// poses of bodies that stay where they are, and which bodies do not
static void put_places(FILE* file, crPlayer* player) {
    const crModel* model = player->log->model;
    cr_player_at(player, 0);
    fputs(",\"rest\":[", file);
    for (int i = 0; i < model->nb; i++) {
        crPose p = player->d.pose[i];
        fprintf(file, "%s[%.7g,%.7g,%.7g,%.7g,%.7g,%.7g,%.7g]", i > 0 ? "," : "", bounded(p.p.x, 1e300),
                bounded(p.p.y, 1e300), bounded(p.p.z, 1e300), p.q.w, p.q.x, p.q.y, p.q.z);
    }
    fputs("],\"moving\":[", file);
    for (int i = 1, count = 0; i < model->nb; i++) {
        if (cr_describe_moves(model, i)) fprintf(file, "%s%d", count++ > 0 ? "," : "", i);
    }
    putc(']', file);
}

// at most `frames` rows, first and last among them
static size_t frame_row(const crMotionLog* log, size_t frame, size_t frames) {
    return frames > 1 ? frame * (log->count - 1) / (frames - 1) : 0;
}

// one column of the log; worst: the largest since the frame before
static void put_column(FILE* file, const crMotionLog* log, size_t frames, const char* name, int column,
                       bool worst) {
    fprintf(file, ",\"%s\":[", name);
    size_t row = 0;
    for (size_t k = 0; k < frames; k++) {
        size_t last = frame_row(log, k, frames);
        double x = log->rows[last * log->columns + (size_t)column];
        for (; worst && row <= last; row++) {
            x = fmax(x, log->rows[row * log->columns + (size_t)column]);
        }
        fprintf(file, "%s%.7g", k > 0 ? "," : "", bounded(x, 1e300));
    }
    putc(']', file);
}

static void put_columns(FILE* file, const crMotionLog* log, size_t frames) {
    put_column(file, log, frames, "time", CR_MOTION_TIME, false);
    if (log->has_energy) {
        put_column(file, log, frames, "kinetic", CR_MOTION_KINETIC, false);
        put_column(file, log, frames, "potential", CR_MOTION_POTENTIAL, false);
    }
    if (log->has_certificate) {
        put_column(file, log, frames, "residual", CR_MOTION_RESIDUAL, true);
        put_column(file, log, frames, "penetration", CR_MOTION_PENETRATION, true);
        put_column(file, log, frames, "contacts", CR_MOTION_CONTACTS, true);
    }
}

// time, approach and impulse of the first events
static void put_events(FILE* file, const crMotionLog* log) {
    size_t count = log->event_count < CR_PAGE_EVENTS ? log->event_count : CR_PAGE_EVENTS;
    fputs(",\"events\":[", file);
    for (size_t i = 0; i < count; i++) {
        const crEvent* e = &log->events[i];
        fprintf(file, "%s[%.7g,%.4g,%.4g]", i > 0 ? "," : "", e->time, bounded(e->approach, 1e300),
                bounded(cr_norm(e->impulse), 1e300));
    }
    putc(']', file);
}

static long whole(double x, double quantum) {
    return (long)bounded(x / quantum + (x < 0.0 ? -0.5 : 0.5), 1e15);
}

static crStatus put_frames(const Data* data, crPlayer* player, size_t frames) {
    const crModel* model = player->log->model;
    long(*before)[7] = calloc((size_t)model->nb, sizeof *before);
    if (before == NULL) return CR_ERR_MEMORY;
    fputs(",\"frames\":[", data->file);
    bool any = false;
    for (size_t k = 0; k < frames; k++) {
        cr_player_at(player, frame_row(player->log, k, frames));
        for (int i = 1; i < model->nb; i++) {
            if (!cr_describe_moves(model, i)) continue;
            crPose p = player->d.pose[i];
            double x[7] = {p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z};
            for (int c = 0; c < 7; c++) {
                long now = whole(x[c], c < 3 ? data->quantum : TURN);
                fprintf(data->file, "%s%ld", any ? "," : "", now - before[i][c]);
                before[i][c] = now;
                any = true;
            }
        }
        putc('\n', data->file);
    }
    putc(']', data->file);
    free(before);
    return CR_OK;
}

static crStatus put_run(const Data* data, const crPageRun* run, size_t numbers) {
    crPlayer player;
    crStatus status = cr_player_create(&player, run->log);
    if (status != CR_OK) return status;
    size_t each = 7 * (size_t)run->log->model->nb;
    size_t frames = run->log->count < CR_PAGE_FRAMES ? run->log->count : CR_PAGE_FRAMES;
    if (frames * each > numbers) frames = numbers / each > 2 ? numbers / each : 2;
    if (frames > run->log->count) frames = run->log->count;
    fputs("{\"label\":", data->file);
    cr_json_write_string(data->file, run->label);
    putc(',', data->file);
    cr_describe_model(data->file, run->log->model, SEGMENTS);
    put_places(data->file, &player);
    put_columns(data->file, run->log, frames);
    if (run->log->has_events) put_events(data->file, run->log);
    status = put_frames(data, &player, frames);
    putc('}', data->file);
    cr_player_destroy(&player);
    return status;
}

// how far each body reaches from its centre of mass
static void find_reaches(const crModel* model, double* reach) {
    for (int i = 0; i < cr_faces_count(model); i++) {
        const crBodyShape* s = cr_faces_drawn(model, i);
        if (s == NULL || s->shape.kind == CR_SHAPE_HALFSPACE) continue;
        reach[s->body] = fmax(reach[s->body], cr_shape_reach(&s->shape, model->bodies[s->body].com));
    }
    for (int i = 1; i < model->nb; i++) {
        crVec3 ends[CR_STICKS];
        int count = cr_faces_sticks(model, i, ends);
        for (int k = 0; k < count; k++) {
            reach[i] = fmax(reach[i], cr_norm(cr_sub(ends[k], model->bodies[i].com)));
        }
        if (count > 0) reach[i] = fmax(reach[i], cr_norm(model->bodies[i].com));
    }
}

// the box around every body at every frame
static crStatus measure(Data* data, const crMotionLog* log) {
    crPlayer player;
    double* reach = calloc((size_t)log->model->nb, sizeof *reach);
    if (reach == NULL || cr_player_create(&player, log) != CR_OK) {
        free(reach);
        return CR_ERR_MEMORY;
    }
    find_reaches(log->model, reach);
    size_t every = log->count / 200 + 1;
    for (size_t row = 0; row < log->count; row += every) {
        cr_player_at(&player, row);
        for (int i = 1; i < log->model->nb; i++) {
            if (!cr_describe_moves(log->model, i)) continue;
            crVec3 c = player.d.com[i];
            crVec3 r = cr_vec3(reach[i], reach[i], reach[i]);
            crVec3 lo = cr_sub(c, r);
            crVec3 hi = cr_add(c, r);
            data->lo = cr_vec3(fmin(data->lo.x, lo.x), fmin(data->lo.y, lo.y), fmin(data->lo.z, lo.z));
            data->hi = cr_vec3(fmax(data->hi.x, hi.x), fmax(data->hi.y, hi.y), fmax(data->hi.z, hi.z));
        }
    }
    free(reach);
    cr_player_destroy(&player);
    return CR_OK;
}

static crStatus put_data(Data* data, const crPageRun* runs, int run_count) {
    crStatus status = CR_OK;
    for (int i = 0; i < run_count && status == CR_OK; i++) {
        status = measure(data, runs[i].log);
    }
    bool any = data->lo.x <= data->hi.x;
    double size = any ? 0.5 * cr_norm(cr_sub(data->hi, data->lo)) : 1.0;
    data->quantum = bounded(PRECISION * fmax(size, 1e-300), 1e300);
    fprintf(data->file, "{\"quantum\":%.10g,\"turn\":%g,\"runs\":[", data->quantum, TURN);
    for (int i = 0; i < run_count && status == CR_OK; i++) {
        if (i > 0) fputs(",\n", data->file);
        status = put_run(data, &runs[i], CR_PAGE_NUMBERS / (size_t)run_count);
    }
    fputs("]}", data->file);
    return status;
}

crStatus cr__page_data(FILE* file, const crPageRun* runs, int run_count) {
    char* json = NULL;
    size_t size = 0;
    Data data = {.lo = {INFINITY, INFINITY, INFINITY}, .hi = {-INFINITY, -INFINITY, -INFINITY}};
    data.file = open_memstream(&json, &size);
    if (data.file == NULL) return CR_ERR_MEMORY;
    crStatus status = put_data(&data, runs, run_count);
    if (fclose(data.file) != 0 && status == CR_OK) status = CR_ERR_MEMORY;
    if (status == CR_OK) cr_describe_safely(file, json, size);
    free(json);
    return status;
}
