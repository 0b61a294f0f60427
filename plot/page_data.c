// page_data.c - what the animation of a report draws, as JSON: the shapes of bodies and their poses.
//
// Poses are whole multiples of a hundred-thousandth of the scene (quaternions of 1e-4), written as their
// differences from frame to frame. Shapes are polygons, spheres excepted. Nothing in a string can end the
// script element it stands in. Fails: memory.
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "plot/faces.h"
#include "plot/page_parts.h"
#include "plot/view.h"

#define SEGMENTS  20
#define PRECISION 1e-5  // of the size of the scene
#define TURN      1e-4  // of a quaternion

typedef struct Data {
    FILE* file;
    crVec3 lo, hi;   // of all that happens
    double quantum;  // m
} Data;

// a string in which no tag can begin
static void put_string(FILE* file, const char* text) {
    char* json = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&json, &size);
    if (memory == NULL) {
        fputs("\"\"", file);
        return;
    }
    cr_json_write_string(memory, text);
    fclose(memory);
    for (size_t i = 0; i < size; i++) {
        if (strchr("<>&", json[i]) != NULL) {
            fprintf(file, "\\u%04x", (unsigned char)json[i]);
        } else {
            putc(json[i], file);
        }
    }
    free(json);
}

// JSON has no infinity
static double bounded(double x, double most) { return fmin(fmax(x, -most), most); }

static void put_vector(FILE* file, const char* name, crVec3 x) {
    fprintf(file, "\"%s\":[%.6g,%.6g,%.6g]", name, bounded(x.x, 1e300), bounded(x.y, 1e300),
            bounded(x.z, 1e300));
}

static bool moves(const crModel* model, int body) {
    return model->bodies[body].last >= 0 || model->bodies[body].base != CR_WORLD;
}

static void put_faces(FILE* file, const crShape* piece) {
    crFaces f;
    cr_faces_create(piece, SEGMENTS, &f);
    bool smooth = piece->kind == CR_SHAPE_ELLIPSOID || piece->kind == CR_SHAPE_CAPSULE ||
                  piece->kind == CR_SHAPE_CYLINDER || piece->kind == CR_SHAPE_CONE;
    fprintf(file, "{\"solid\":%d,\"smooth\":%d,\"v\":[", f.solid, smooth);
    for (size_t i = 0; i < f.vertex_count; i++) {
        fprintf(file, "%s%.5g,%.5g,%.5g", i > 0 ? "," : "", f.vertices[i].x, f.vertices[i].y,
                f.vertices[i].z);
    }
    fputs("],\"f\":[", file);
    for (size_t i = 0; i < f.index_count; i++) {
        fprintf(file, "%s%d", i > 0 ? "," : "", f.loops[i]);
    }
    fputs("]}", file);
    cr_faces_destroy(&f);
}

static void put_shapes(FILE* file, const crModel* model, int body) {
    bool any = false;
    fputs("\"shapes\":[", file);
    for (int i = 0; i < model->shape_count; i++) {
        const crShape* shape = &model->shapes[i].shape;
        if (model->shapes[i].body != body || shape->kind == CR_SHAPE_HALFSPACE) continue;
        for (int k = 0; k < cr_faces_pieces(shape); k++) {
            crShape piece = cr_faces_piece(shape, k);
            if (any) putc(',', file);
            any = true;
            if (piece.kind == CR_SHAPE_SPHERE) {
                fprintf(file, "{\"r\":%.6g,", piece.size.x);
                put_vector(file, "p", piece.pose.p);
                putc('}', file);
            } else {
                put_faces(file, &piece);
            }
        }
    }
    putc(']', file);
}

static void put_sticks(FILE* file, const crModel* model, int body) {
    crVec3 ends[CR_STICKS];
    int count = body != CR_WORLD ? cr_faces_sticks(model, body, ends) : 0;
    fputs("\"sticks\":[", file);
    for (int i = 0; i < count; i++) {
        fprintf(file, "%s[%.6g,%.6g,%.6g]", i > 0 ? "," : "", ends[i].x, ends[i].y, ends[i].z);
    }
    fputs("],", file);
}

static void put_bodies(FILE* file, crPlayer* player) {
    const crModel* model = player->log->model;
    cr_player_at(player, 0);
    fputs("\"bodies\":[", file);
    for (int i = 0; i < model->nb; i++) {
        crPose pose = player->d.pose[i];
        fputs(i > 0 ? ",\n{\"name\":" : "{\"name\":", file);
        put_string(file, i == 0 ? "world" : player->log->bodies[i - 1].name);
        fprintf(file, ",\"pose\":[%.7g,%.7g,%.7g,%.7g,%.7g,%.7g,%.7g],", pose.p.x, pose.p.y, pose.p.z,
                pose.q.w, pose.q.x, pose.q.y, pose.q.z);
        put_vector(file, "com", model->bodies[i].com);
        putc(',', file);
        put_sticks(file, model, i);
        put_shapes(file, model, i);
        putc('}', file);
    }
    fputs("],\"moving\":[", file);
    for (int i = 1, count = 0; i < model->nb; i++) {
        if (moves(model, i)) fprintf(file, "%s%d", count++ > 0 ? "," : "", i);
    }
    fputs("],", file);
}

static void put_planes(FILE* file, crPlayer* player) {
    const crModel* model = player->log->model;
    bool any = false;
    fputs("\"planes\":[", file);
    for (int i = 0; i < model->shape_count; i++) {
        const crShape* s = &model->shapes[i].shape;
        if (s->kind != CR_SHAPE_HALFSPACE) continue;
        crPose pose = cr_pose_mul(player->d.pose[model->shapes[i].body], s->pose);
        crVec3 n = cr_quat_rotate(pose.q, s->size);
        fputs(any ? ",{" : "{", file);
        any = true;
        put_vector(file, "n", n);
        fprintf(file, ",\"d\":%.7g}", s->offset + cr_dot(n, pose.p));
    }
    fputs("],", file);
}

// at most `frames` rows, first and last among them
static size_t frame_row(const crMotionLog* log, size_t frame, size_t frames) {
    return frames > 1 ? frame * (log->count - 1) / (frames - 1) : 0;
}

static long whole(double x, double quantum) {
    return (long)bounded(x / quantum + (x < 0.0 ? -0.5 : 0.5), 1e15);
}

static crStatus put_frames(const Data* data, crPlayer* player, size_t frames) {
    const crModel* model = player->log->model;
    long(*before)[7] = calloc((size_t)model->nb, sizeof *before);
    if (before == NULL) return CR_ERR_MEMORY;
    fputs("\"t\":[", data->file);
    for (size_t k = 0; k < frames; k++) {
        size_t row = frame_row(player->log, k, frames);
        fprintf(data->file, "%s%.7g", k > 0 ? "," : "", player->log->rows[row * player->log->columns]);
    }
    fputs("],\"frames\":[", data->file);
    bool any = false;
    for (size_t k = 0; k < frames; k++) {
        cr_player_at(player, frame_row(player->log, k, frames));
        for (int i = 1; i < model->nb; i++) {
            if (!moves(model, i)) continue;
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
    fputs("]", data->file);
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
    put_string(data->file, run->label);
    putc(',', data->file);
    put_bodies(data->file, &player);
    put_planes(data->file, &player);
    status = put_frames(data, &player, frames);
    putc('}', data->file);
    cr_player_destroy(&player);
    return status;
}

// how far each body reaches from its centre of mass
static void find_reaches(const crModel* model, double* reach) {
    for (int i = 0; i < model->shape_count; i++) {
        const crBodyShape* s = &model->shapes[i];
        if (s->shape.kind == CR_SHAPE_HALFSPACE) continue;
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
            if (!moves(log->model, i)) continue;
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

// axes of the view at the start; flat where everything moves in the plane that is seen
static crStatus put_camera(Data* data, const crMotionLog* log) {
    crPlayer player;
    crStatus status = cr_player_create(&player, log);
    if (status != CR_OK) return status;
    crViewAxes axes = cr_view_axes(&player, CR_VIEW_STROBE, NULL);
    crVec3 eye = cr_cross(axes.right, axes.up);
    bool flat = true;
    for (int i = 1; i < log->model->nb; i++) {
        const crBody* b = &log->model->bodies[i];
        bool planar = b->joint == CR_JOINT_PLANAR && fabs(cr_quat_rotate(b->pose.q, eye).z) > 0.99;
        if (moves(log->model, i) && !planar) flat = false;
    }
    put_vector(data->file, "right", axes.right);
    putc(',', data->file);
    put_vector(data->file, "up", axes.up);
    fprintf(data->file, ",\"flat\":%s,", flat ? "true" : "false");
    cr_player_destroy(&player);
    return CR_OK;
}

crStatus cr__page_data(FILE* file, const crPageRun* runs, int run_count) {
    Data data = {.file = file, .lo = {INFINITY, INFINITY, INFINITY}, .hi = {-INFINITY, -INFINITY, -INFINITY}};
    crStatus status = CR_OK;
    for (int i = 0; i < run_count && status == CR_OK; i++) {
        status = measure(&data, runs[i].log);
    }
    if (!(data.lo.x <= data.hi.x)) {
        data.lo = cr_vec3(-1.0, -1.0, -1.0);
        data.hi = cr_vec3(1.0, 1.0, 1.0);
    }
    crVec3 half = cr_scale(0.5, cr_sub(data.hi, data.lo));
    data.quantum = bounded(PRECISION * fmax(cr_norm(half), 1e-300), 1e300);
    putc('{', file);
    put_vector(file, "centre", cr_scale(0.5, cr_add(data.lo, data.hi)));
    putc(',', file);
    put_vector(file, "half", half);
    fprintf(file, ",\"quantum\":%.10g,\"turn\":%g,", data.quantum, TURN);
    if (status == CR_OK) status = put_camera(&data, runs[0].log);
    fputs("\"runs\":[", file);
    for (int i = 0; i < run_count && status == CR_OK; i++) {
        if (i > 0) fputs(",\n", file);
        status = put_run(&data, &runs[i], CR_PAGE_NUMBERS / (size_t)run_count);
    }
    fputs("]}", file);
    return status;
}
