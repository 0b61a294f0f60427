// batch_image.c - a model as one block of bytes for a device: its arrays one after another, pointers for the block's address
// there.
//
// Names, sites and sensors are left out: a step reads none of them. Functions of the host cannot run on a device, so models
// that have some (drives, loads, restitution by a function) are refused; so are shapes of many pieces.
#include "world/batch_image.h"

#include <string.h>

#include "carom/forms.h"
#include "collide/convex.h"
#include "model/pull.h"
#include "model/store.h"

static bool is_function(const crCurve* c) { return c != NULL && c->function != NULL; }

static bool calls_host(const crSurface* s) {
    const crByImpact* by = s->by_impact;
    return (s->e_of_speed != NULL && s->e_of_speed->function != NULL) ||
           (by != NULL && (is_function(by->e) || is_function(by->et) || is_function(by->mu)));
}

const char* cr__image_refuses(const crModel* model) {
    if (model->load_count > 0) return "loads are functions of the host";
    if (cr__model_pulls(model)) return "forces along tendons and sites are computed by the host";
    for (int i = 0; i < model->nb; i++) {
        if (model->bodies[i].joint == CR_JOINT_DRIVEN) return "driven bodies follow functions of the host";
    }
    for (int i = 0; i < model->material_count; i++) {
        if (calls_host(&model->materials[i].surface)) return "a coefficient is a function of the host";
    }
    for (int i = 0; i < model->pair_count; i++) {
        if (calls_host(&model->pairs[i].surface)) return "a coefficient is a function of the host";
    }
    for (int i = 0; i < model->shape_count; i++) {
        crShapeKind kind = model->shapes[i].shape.kind;
        if (kind == CR_SHAPE_MESH || kind == CR_SHAPE_HEIGHTFIELD || kind == CR_SHAPE_COMPOUND)
            return "it has a mesh, a height field or a compound";
    }
    return NULL;
}

typedef struct Image {
    unsigned char* out;  // NULL: sizes only
    uint64_t base;
    size_t used;
} Image;

// place of a copy in the image
static size_t put(Image* image, const void* bytes, size_t size) {
    size_t at = image->used;
    if (image->out != NULL && size > 0) memcpy(image->out + at, bytes, size);
    image->used += (size + 15) & ~(size_t)15;
    return at;
}

// the pointer at `where` of the image becomes that of a copy
static size_t point(Image* image, size_t where, const void* bytes, size_t size) {
    size_t at = put(image, bytes, size);
    uint64_t address = bytes != NULL ? image->base + at : 0;
    if (image->out != NULL) memcpy(image->out + where, &address, sizeof address);
    return at;
}

static void clear_bytes(Image* image, size_t where, size_t size) {
    if (image->out != NULL) memset(image->out + where, 0, size);
}

#define POINT(image, at, type, member, given, count) \
    point(image, (at) + offsetof(type, member), (given)->member, (size_t)(count) * sizeof *(given)->member)

// the curve that the pointer at `where` of the image is of
static void put_curve(Image* image, size_t where, const crCurve* c) {
    if (c == NULL) return;
    size_t at = point(image, where, c, sizeof *c);
    POINT(image, at, crCurve, x, c, c->rows);
    POINT(image, at, crCurve, y, c, c->columns > 1 ? c->columns : 0);
    POINT(image, at, crCurve, value, c, c->rows * c->columns);
}

static void put_surface(Image* image, size_t at, const crSurface* s) {
    // no rule there reads it
    clear_bytes(image, at + offsetof(crSurface, law), sizeof s->law);
    if (s->vertex_count > 0) POINT(image, at, crSurface, vertices, s, s->vertex_count);
    if (s->by_impact != NULL) {
        size_t by = POINT(image, at, crSurface, by_impact, s, 1);
        put_curve(image, by + offsetof(crByImpact, e), s->by_impact->e);
        put_curve(image, by + offsetof(crByImpact, et), s->by_impact->et);
        put_curve(image, by + offsetof(crByImpact, mu), s->by_impact->mu);
    }
    if (s->e_of_speed == NULL) return;
    size_t r = POINT(image, at, crSurface, e_of_speed, s, 1);
    POINT(image, r, crRestitution, speed, s->e_of_speed, s->e_of_speed->count);
    POINT(image, r, crRestitution, e, s->e_of_speed, s->e_of_speed->count);
}

static void put_hull(Image* image, size_t where, const crHull* h) {
    size_t at = point(image, where, h, sizeof *h);
    clear_bytes(image, at + offsetof(crHull, allocator), sizeof h->allocator);
    POINT(image, at, crHull, vertices, h, h->vertex_count);
    POINT(image, at, crHull, face_first, h, h->face_count + 1);
    POINT(image, at, crHull, face_loop, h, h->face_first[h->face_count]);
    POINT(image, at, crHull, normals, h, h->face_count);
    POINT(image, at, crHull, offsets, h, h->face_count);
    POINT(image, at, crHull, edges, h, h->edge_count);
    POINT(image, at, crHull, directions, h, h->direction_count);
}

static void put_index(Image* image, size_t at, const crIndex* index) {
    if (index->slots != NULL) POINT(image, at, crIndex, slots, index, index->room);
}

static void put_memory(Image* image, size_t where, const struct crModelMemory* m) {
    size_t at = point(image, where, m, sizeof *m);
    clear_bytes(image, at, sizeof *m);
    if (image->out != NULL) {
        struct crModelMemory kept = {.pairs = m->pairs, .tied = m->tied, .exclusions = m->exclusions};
        memcpy(image->out + at, &kept, sizeof kept);
    }
    put_index(image, at + offsetof(struct crModelMemory, pairs), &m->pairs);
    put_index(image, at + offsetof(struct crModelMemory, tied), &m->tied);
    put_index(image, at + offsetof(struct crModelMemory, exclusions), &m->exclusions);
}

static void put_bodies(Image* image, const crModel* m) {
    size_t at = POINT(image, 0, crModel, bodies, m, m->nb);
    for (int i = 0; i < m->nb; i++, at += sizeof(crBody)) {
        clear_bytes(image, at + offsetof(crBody, name), sizeof(char*));
        clear_bytes(image, at + offsetof(crBody, joint_name), sizeof(char*));
    }
}

static void put_materials(Image* image, const crModel* m) {
    size_t at = POINT(image, 0, crModel, materials, m, m->material_count);
    for (int i = 0; i < m->material_count; i++, at += sizeof(crMaterial)) {
        clear_bytes(image, at + offsetof(crMaterial, name), sizeof(char*));
        put_surface(image, at + offsetof(crMaterial, surface), &m->materials[i].surface);
    }
    at = POINT(image, 0, crModel, pairs, m, m->pair_count);
    for (int i = 0; i < m->pair_count; i++, at += sizeof(crMaterialPair)) {
        put_surface(image, at + offsetof(crMaterialPair, surface), &m->pairs[i].surface);
    }
}

static void put_shapes(Image* image, const crModel* m) {
    size_t at = POINT(image, 0, crModel, shapes, m, m->shape_count);
    for (int i = 0; i < m->shape_count; i++, at += sizeof(crBodyShape)) {
        const crShape* shape = &m->shapes[i].shape;
        size_t data = at + offsetof(crBodyShape, shape) + offsetof(crShape, data);
        if (shape->kind == CR_SHAPE_HULL) put_hull(image, data, shape->data.hull);
    }
}

static void put_actuators(Image* image, const crModel* m) {
    size_t at = POINT(image, 0, crModel, actuators, m, m->nu);
    for (int i = 0; i < m->nu; i++, at += sizeof(crActuator)) {
        clear_bytes(image, at + offsetof(crActuator, name), sizeof(char*));
    }
}

size_t cr__image_model(const crModel* m, unsigned char* out, uint64_t base) {
    Image image = {out, base, 0};
    crModel bare = *m;
    bare.allocator = (crAllocator){0};
    bare.error = (crError){0};
    bare.sites = NULL;
    bare.sensors = NULL;
    bare.loads = NULL;
    bare.tendons = NULL;
    bare.tendon_count = 0;
    bare.visuals = NULL;
    bare.site_count = bare.sensor_count = bare.nsensor = bare.visual_count = 0;
    put(&image, &bare, sizeof bare);
    put_bodies(&image, m);
    POINT(&image, 0, crModel, top, m, m->nb);
    POINT(&image, 0, crModel, velocity.dofs, m, m->velocity.dof_count);
    POINT(&image, 0, crModel, velocity.dof, m, m->nv);
    POINT(&image, 0, crModel, velocity.body, m, m->nv);
    POINT(&image, 0, crModel, velocity.parent, m, m->nv);
    POINT(&image, 0, crModel, velocity.depth, m, m->nv);
    POINT(&image, 0, crModel, velocity.row, m, m->nv);
    POINT(&image, 0, crModel, velocity.actuator, m, m->nv);
    POINT(&image, 0, crModel, q0, m, m->nq);
    put_materials(&image, m);
    put_shapes(&image, m);
    POINT(&image, 0, crModel, loops, m, m->loop_count);
    POINT(&image, 0, crModel, exclusions, m, m->exclusion_count);
    put_actuators(&image, m);
    put_memory(&image, offsetof(crModel, memory), m->memory);
    return image.used;
}
