// describe.c - bodies for a page to draw, as JSON: shapes as polygons, planes, centres of mass.
//
// Lengths have seven figures, which a screen does not resolve; numbers beyond 1e300 are held there because JSON
// has no infinity. Fails: memory, by a shape with fewer faces.
#include "plot/describe.h"

#include <math.h>
#include <string.h>

#include "io/json.h"
#include "plot/faces.h"

static double bounded(double x) { return fmin(fmax(x, -1e300), 1e300); }

static void put_vector(FILE* file, const char* before, crVec3 x) {
    fprintf(file, "%s[%.7g,%.7g,%.7g]", before, bounded(x.x), bounded(x.y), bounded(x.z));
}

static bool is_smooth(crShapeKind kind) {
    return kind == CR_SHAPE_ELLIPSOID || kind == CR_SHAPE_CAPSULE || kind == CR_SHAPE_CYLINDER ||
           kind == CR_SHAPE_CONE || kind == CR_SHAPE_HEIGHTFIELD;
}

static void put_color(FILE* file, unsigned color) {
    if (color != 0) fprintf(file, "\"c\":\"#%06x\",", color & 0xffffffU);
}

static void put_look(FILE* file, const crMaterial* material) {
    if (material->look != CR_LOOK_PLAIN) fprintf(file, "\"l\":%d,", (int)material->look);
}

static void put_faces(FILE* file, const crShape* piece, const crMaterial* material, unsigned color,
                      int segments) {
    crFaces f;
    cr_faces_create(piece, segments, &f);
    putc('{', file);
    put_color(file, color);
    put_look(file, material);
    fprintf(file, "\"smooth\":%s,\"v\":[", is_smooth(piece->kind) ? "true" : "false");
    for (size_t i = 0; i < f.vertex_count; i++) {
        crVec3 v = f.vertices[i];
        fprintf(file, "%s%.7g,%.7g,%.7g", i > 0 ? "," : "", bounded(v.x), bounded(v.y), bounded(v.z));
    }
    fputs("],\"f\":[", file);
    for (size_t i = 0; i < f.index_count; i++) {
        fprintf(file, "%s%d", i > 0 ? "," : "", f.loops[i]);
    }
    fputs("]}", file);
    cr_faces_destroy(&f);
}

static void put_piece(FILE* file, const crShape* piece, const crMaterial* material, unsigned color,
                      int segments) {
    if (piece->kind != CR_SHAPE_SPHERE) {
        put_faces(file, piece, material, color, segments);
        return;
    }
    putc('{', file);
    put_color(file, color);
    put_look(file, material);
    fprintf(file, "\"r\":%.7g", bounded(piece->size.x));
    put_vector(file, ",\"p\":", piece->pose.p);
    putc('}', file);
}

static void put_shapes(FILE* file, const crModel* model, int body, int segments) {
    bool any = false;
    fputs(",\"shapes\":[", file);
    for (int i = 0; i < cr_faces_count(model); i++) {
        const crBodyShape* drawn = cr_faces_drawn(model, i);
        if (drawn == NULL || drawn->body != body || drawn->shape.kind == CR_SHAPE_HALFSPACE) continue;
        const crShape* shape = &drawn->shape;
        for (int k = 0; k < cr_faces_pieces(shape); k++) {
            crShape piece = cr_faces_piece(shape, k);
            if (any) putc(',', file);
            any = true;
            put_piece(file, &piece, &model->materials[drawn->material], cr_faces_color(model, drawn),
                      segments);
        }
    }
    putc(']', file);
}

static void put_sticks(FILE* file, const crModel* model, int body) {
    crVec3 ends[CR_STICKS];
    int count = body != CR_WORLD ? cr_faces_sticks(model, body, ends) : 0;
    fputs(",\"sticks\":[", file);
    for (int i = 0; i < count; i++) {
        put_vector(file, i > 0 ? "," : "", ends[i]);
    }
    putc(']', file);
}

static void put_joint(FILE* file, const crModel* model, int body) {
    const crBody* b = &model->bodies[body];
    if (body == CR_WORLD || b->nv == 0 || b->joint == CR_JOINT_FREE) return;
    bool spring = false;
    for (int i = b->v; i < b->v + b->nv; i++) {
        spring = spring || cr_model_dof(model, i)->stiffness > 0.0;
    }
    fprintf(file, ",\"joint\":{\"kind\":\"%s\",\"spring\":%s", cr_joint_info(b->joint)->name,
            spring ? "true" : "false");
    put_vector(file, ",\"axis\":", b->joint == CR_JOINT_PLANAR ? cr_vec3(0.0, 0.0, 1.0) : b->axis);
    // where the spring of a slider begins
    if (b->joint == CR_JOINT_SLIDER && spring) {
        fprintf(file, ",\"parent\":%d", b->parent);
        put_vector(file, ",\"at\":", b->pose.p);
    }
    putc('}', file);
}

// ropes and rods between two points
static void put_ties(FILE* file, const crModel* model) {
    bool any = false;
    fputs(",\"ties\":[", file);
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        if (loop->kind != CR_LOOP_DISTANCE) continue;
        fprintf(file, "%s{\"a\":%d,\"b\":%d", any ? "," : "", loop->a, loop->b);
        any = true;
        put_vector(file, ",\"p\":", loop->pose_a.p);
        put_vector(file, ",\"q\":", loop->pose_b.p);
        putc('}', file);
    }
    putc(']', file);
}

static void put_planes(FILE* file, const crModel* model) {
    bool any = false;
    fputs(",\"planes\":[", file);
    for (int i = 0; i < cr_faces_count(model); i++) {
        const crBodyShape* drawn = cr_faces_drawn(model, i);
        if (drawn == NULL || drawn->shape.kind != CR_SHAPE_HALFSPACE) continue;
        const crShape* s = &drawn->shape;
        crVec3 n = cr_quat_rotate(s->pose.q, s->size);
        const crMaterial* m = &model->materials[drawn->material];
        fprintf(file, "%s{\"body\":%d", any ? "," : "", drawn->body);
        unsigned color = cr_faces_color(model, drawn);
        if (color != 0) fprintf(file, ",\"c\":\"#%06x\"", color & 0xffffffU);
        if (m->look != CR_LOOK_PLAIN) fprintf(file, ",\"l\":%d", (int)m->look);
        if (m->checker != 0) fprintf(file, ",\"k\":\"#%06x\"", m->checker & 0xffffffU);
        any = true;
        put_vector(file, ",\"n\":", n);
        fprintf(file, ",\"offset\":%.7g}", bounded(s->offset + cr_dot(n, s->pose.p)));
    }
    putc(']', file);
}

bool cr_describe_moves(const crModel* model, int body) {
    return model->bodies[body].last >= 0 || model->bodies[body].base != CR_WORLD;
}

void cr_describe_model(FILE* file, const crModel* model, int segments) {
    fputs("\"bodies\":[", file);
    for (int i = 0; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        fputs(i > 0 ? ",{\"name\":" : "{\"name\":", file);
        cr_json_write_string(file, i == CR_WORLD ? "world" : body->name != NULL ? body->name : "");
        fprintf(file, ",\"moves\":%s", cr_describe_moves(model, i) ? "true" : "false");
        put_vector(file, ",\"com\":", body->com);
        put_joint(file, model, i);
        put_sticks(file, model, i);
        put_shapes(file, model, i, segments);
        putc('}', file);
    }
    putc(']', file);
    put_planes(file, model);
    put_ties(file, model);
    put_vector(file, ",\"gravity\":", model->gravity);
}

void cr_describe_safely(FILE* file, const char* json, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (json[i] != '\0' && strchr("<>&", json[i]) != NULL) {
            fprintf(file, "\\u%04x", (unsigned char)json[i]);
        } else {
            putc(json[i], file);
        }
    }
}
