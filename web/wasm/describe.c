// describe.c - a scene for the page to draw: bodies with shapes as polygons, planes, settings, as JSON.
//
// Spheres keep their radius; every other shape is polygons in its body's frame. Fails: memory, by a shorter
// description.
#include <stdio.h>
#include <stdlib.h>

#include "audit_json.h"
#include "plot/faces.h"
#include "scene.h"
#include "stream.h"

#define SEGMENTS 32

static void put_vec3(FILE* file, const char* key, crVec3 v) {
    fprintf(file, ",\"%s\":", key);
    json_vector(file, (const double[3]){v.x, v.y, v.z}, 3);
}

static bool is_smooth(crShapeKind kind) {
    return kind == CR_SHAPE_ELLIPSOID || kind == CR_SHAPE_CAPSULE || kind == CR_SHAPE_CYLINDER ||
           kind == CR_SHAPE_CONE || kind == CR_SHAPE_HEIGHTFIELD;
}

static void put_faces(FILE* file, const crShape* piece) {
    crFaces f;
    cr_faces_create(piece, SEGMENTS, &f);
    fprintf(file, "{\"smooth\":%s,\"v\":[", is_smooth(piece->kind) ? "true" : "false");
    for (size_t i = 0; i < f.vertex_count; i++) {
        fprintf(file, "%s%.7g,%.7g,%.7g", i > 0 ? "," : "", f.vertices[i].x, f.vertices[i].y,
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
    fputs(",\"shapes\":[", file);
    for (int i = 0; i < model->shape_count; i++) {
        const crShape* shape = &model->shapes[i].shape;
        if (model->shapes[i].body != body || shape->kind == CR_SHAPE_HALFSPACE) continue;
        for (int k = 0; k < cr_faces_pieces(shape); k++) {
            crShape piece = cr_faces_piece(shape, k);
            if (any) putc(',', file);
            any = true;
            if (piece.kind == CR_SHAPE_SPHERE) {
                fprintf(file, "{\"r\":%.9g", piece.size.x);
                put_vec3(file, "p", piece.pose.p);
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
    fputs(",\"sticks\":[", file);
    for (int i = 0; i < count; i++) {
        if (i > 0) putc(',', file);
        json_vector(file, (const double[3]){ends[i].x, ends[i].y, ends[i].z}, 3);
    }
    putc(']', file);
}

static void put_bodies(FILE* file, const crModel* model) {
    fputs(",\"bodies\":[", file);
    for (int i = 0; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        fputs(i > 0 ? ",{\"name\":" : "{\"name\":", file);
        cr_json_write_string(file, i == CR_WORLD ? "world" : body->name != NULL ? body->name : "");
        fprintf(file, ",\"moves\":%s", body->last >= 0 || body->base != CR_WORLD ? "true" : "false");
        put_vec3(file, "com", body->com);
        put_sticks(file, model, i);
        put_shapes(file, model, i);
        putc('}', file);
    }
    putc(']', file);
}

// half-spaces, in the frames of their bodies
static void put_planes(FILE* file, const crModel* model) {
    bool any = false;
    fputs(",\"planes\":[", file);
    for (int i = 0; i < model->shape_count; i++) {
        const crShape* s = &model->shapes[i].shape;
        if (s->kind != CR_SHAPE_HALFSPACE) continue;
        crVec3 n = cr_quat_rotate(s->pose.q, s->size);
        fprintf(file, "%s{\"body\":%d", any ? "," : "", model->shapes[i].body);
        any = true;
        put_vec3(file, "n", n);
        json_number(file, false, "offset", s->offset + cr_dot(n, s->pose.p));
        putc('}', file);
    }
    putc(']', file);
}

static void put_settings(FILE* file, const PageScene* s) {
    const crStepSettings* step = &s->scene.step;
    fprintf(file, ",\"method\":\"%s\",\"rule\":\"%s\",\"law\":\"%s\",\"solver\":\"%s\"",
            cr_method_name(step->method), step->rule.name, step->law.name, step->solver.name);
    json_number(file, false, "dt", step->dt);
    json_number(file, false, "duration", s->scene.duration);
    json_number(file, false, "steps", s->steps);
    fprintf(file, ",\"nq\":%d,\"nv\":%d,\"overlaps\":%d", s->scene.model->nq, s->scene.model->nv,
            s->scene.overlap_count);
    put_vec3(file, "gravity", s->scene.model->gravity);
}

char* carom_scene_describe(PageScene* s) {
    if (s->error.status != CR_OK) return carom_scene_error(s);
    char* out = NULL;
    size_t length = 0;
    FILE* file = open_memstream(&out, &length);
    if (file == NULL) return NULL;
    fputs("{\"comment\":", file);
    cr_json_write_string(file, s->scene.comment != NULL ? s->scene.comment : "");
    put_settings(file, s);
    put_bodies(file, s->scene.model);
    put_planes(file, s->scene.model);
    putc('}', file);
    fclose(file);
    return out;
}

char* carom_scene_error(PageScene* s) {
    char* out = NULL;
    size_t length = 0;
    FILE* file = open_memstream(&out, &length);
    if (file == NULL) return NULL;
    json_error(file, &s->error);
    fclose(file);
    return out;
}
