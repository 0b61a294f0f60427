// faces.c - polygons of shapes: boxes and hulls by their faces, round ones as surfaces of revolution about z,
// meshes and height fields by their triangles.
//
// Fails: memory, kept in the struct.
#include "plot/faces.h"

#include <stdlib.h>
#include <string.h>

#define MOST_RINGS 32

static int add_vertex(crFaces* f, crPose pose, crVec3 x) {
    if (f->vertex_count == f->vertex_room) {
        size_t room = 2 * f->vertex_room + 64;
        crVec3* larger = realloc(f->vertices, room * sizeof *larger);
        if (larger == NULL) {
            f->status = CR_ERR_MEMORY;
            return 0;
        }
        f->vertices = larger;
        f->vertex_room = room;
    }
    f->vertices[f->vertex_count] = cr_pose_point(pose, x);
    return (int)f->vertex_count++;
}

static void add_face(crFaces* f, const int* loop, int count) {
    if (f->index_count + (size_t)count + 1 > f->index_room) {
        size_t room = 2 * (f->index_room + (size_t)count) + 64;
        int* larger = realloc(f->loops, room * sizeof *larger);
        if (larger == NULL) {
            f->status = CR_ERR_MEMORY;
            return;
        }
        f->loops = larger;
        f->index_room = room;
    }
    f->loops[f->index_count++] = count;
    memcpy(f->loops + f->index_count, loop, (size_t)count * sizeof(int));
    f->index_count += (size_t)count;
    f->face_count++;
}

static void add_box(crFaces* f, crPose pose, crVec3 centre, crVec3 half) {
    static const int sides[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int i = 0; i < 8; i++) {
        crVec3 corner = cr_vec3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
        add_vertex(f, pose, cr_add(centre, corner));
    }
    for (int i = 0; i < 6; i++) {
        add_face(f, sides[i], 4);
    }
}

// rings of radius r at height z, from below to above; r = 0 is a pole
static void revolve(crFaces* f, const crShape* s, double (*rings)[2], int count, int segments) {
    int first[MOST_RINGS];
    double wide = s->kind == CR_SHAPE_ELLIPSOID ? s->size.y / s->size.x : 1.0;
    for (int i = 0; i < count; i++) {
        bool pole = rings[i][0] <= 0.0;
        for (int k = 0; k < (pole ? 1 : segments); k++) {
            double sine;
            double cosine;
            cr_sincos(2.0 * CR_PI * k / segments, &sine, &cosine);
            int at =
                add_vertex(f, s->pose, cr_vec3(rings[i][0] * cosine, wide * rings[i][0] * sine, rings[i][1]));
            if (k == 0) first[i] = at;
        }
    }
    for (int i = 0; i + 1 < count; i++) {
        for (int k = 0; k < segments; k++) {
            int next = (k + 1) % segments;
            bool low = rings[i][0] <= 0.0;
            bool high = rings[i + 1][0] <= 0.0;
            int a = first[i] + (low ? 0 : k);
            int b = first[i] + (low ? 0 : next);
            int c = first[i + 1] + (high ? 0 : next);
            int d = first[i + 1] + (high ? 0 : k);
            int loop[4] = {a, b, c, d};
            if (low) {
                loop[1] = c;
                loop[2] = d;
            }
            add_face(f, loop, low || high ? 3 : 4);
        }
    }
    // flat ends
    int cap[64];
    for (int end = 0; end < 2; end++) {
        if (rings[end == 0 ? 0 : count - 1][0] <= 0.0 || segments > 64) continue;
        for (int k = 0; k < segments; k++) {
            cap[k] = first[end == 0 ? 0 : count - 1] + (end == 0 ? segments - 1 - k : k);
        }
        add_face(f, cap, segments);
    }
}

static void add_round(crFaces* f, const crShape* s, int segments) {
    double rings[MOST_RINGS][2] = {{0.0}};
    int count = 0;
    double r = s->size.x;
    double half = s->kind == CR_SHAPE_SPHERE || s->kind == CR_SHAPE_ELLIPSOID ? 0.0 : s->size.z;
    if (s->kind == CR_SHAPE_CYLINDER || s->kind == CR_SHAPE_CONE) {
        rings[count][0] = r;
        rings[count++][1] = -half;
        rings[count][0] = s->kind == CR_SHAPE_CONE ? 0.0 : r;
        rings[count++][1] = half;
    } else {
        // a capsule's middle ring is doubled, a cylinder between the two
        double pole = s->kind == CR_SHAPE_ELLIPSOID ? s->size.z : r;
        int quarter = segments / 4 < MOST_RINGS / 2 - 1 ? segments / 4 : MOST_RINGS / 2 - 1;
        for (int i = -quarter; i <= quarter; i++) {
            double latitude = 0.5 * CR_PI * i / quarter;
            rings[count][0] = i == -quarter || i == quarter ? 0.0 : r * cr_cos(latitude);
            rings[count++][1] = pole * cr_sin(latitude) + (i > 0 ? half : -half);
            if (i != 0 || half == 0.0) continue;
            rings[count][0] = r;
            rings[count++][1] = half;
        }
    }
    revolve(f, s, rings, count, segments);
}

static void add_hull(crFaces* f, const crShape* s) {
    int count;
    const crVec3* vertices = cr_hull_vertices(s->data.hull, &count);
    for (int i = 0; i < count; i++) {
        add_vertex(f, s->pose, vertices[i]);
    }
    const int* loop;
    for (int i = 0; (loop = cr_hull_face(s->data.hull, i, &count)) != NULL; i++) {
        add_face(f, loop, count);
    }
}

static void add_bounds(crFaces* f, const crShape* s) {
    crBounds box = cr_shape_bounds(s, cr_pose_identity());
    add_box(f, cr_pose_identity(), cr_scale(0.5, cr_add(box.lo, box.hi)),
            cr_scale(0.5, cr_sub(box.hi, box.lo)));
    f->solid = true;
}

static void add_mesh(crFaces* f, const crShape* s) {
    crMeshDef mesh = cr_mesh_def(s->data.mesh);
    if (mesh.triangle_count > CR_FACES_MOST) {
        add_bounds(f, s);
        return;
    }
    for (int i = 0; i < mesh.vertex_count; i++) {
        add_vertex(f, s->pose, mesh.vertices[i]);
    }
    for (int i = 0; i < mesh.triangle_count; i++) {
        add_face(f, mesh.triangles[i], 3);
    }
}

static void add_field(crFaces* f, const crShape* s) {
    crHeightFieldDef field = cr_heightfield_def(s->data.field);
    if ((double)field.nx * field.ny > CR_FACES_MOST) {
        add_bounds(f, s);
        return;
    }
    for (int j = 0; j < field.ny; j++) {
        for (int i = 0; i < field.nx; i++) {
            add_vertex(f, s->pose, cr_vec3(i * field.dx, j * field.dy, field.z[j * field.nx + i]));
        }
    }
    for (int j = 0; j + 1 < field.ny; j++) {
        for (int i = 0; i + 1 < field.nx; i++) {
            int at = j * field.nx + i;
            add_face(f, (const int[3]){at, at + 1, at + field.nx + 1}, 3);
            add_face(f, (const int[3]){at, at + field.nx + 1, at + field.nx}, 3);
        }
    }
}

#define ROWS    12
#define COLUMNS 24

// any other convex shape, as rays from outside see it along the lines of a globe
static void add_sampled(crFaces* f, const crShape* s) {
    crShape own = *s;
    own.pose = cr_pose_identity();
    double far = 2.0 * cr_shape_reach(&own, cr_vec3(0.0, 0.0, 0.0));
    for (int i = 0; i <= ROWS; i++) {
        for (int k = 0; k < COLUMNS; k++) {
            double latitude = CR_PI * ((double)i / ROWS - 0.5), longitude = 2.0 * CR_PI * k / COLUMNS;
            double across = i == 0 || i == ROWS ? 0.0 : cr_cos(latitude);
            crVec3 d = cr_vec3(across * cr_cos(longitude), across * cr_sin(longitude), cr_sin(latitude));
            crRayHit hit = {0};
            cr_ray(&own, cr_pose_identity(), cr_scale(far, d), cr_neg(d), far, &hit);
            add_vertex(f, s->pose, hit.point);
        }
    }
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < COLUMNS; k++) {
            int a = i * COLUMNS + k, b = i * COLUMNS + (k + 1) % COLUMNS;
            add_face(f, (const int[4]){a, b, b + COLUMNS, a + COLUMNS}, 4);
        }
    }
}

void cr_faces_create(const crShape* s, int segments, crFaces* f) {
    *f = (crFaces){.solid = true};
    switch (s->kind) {
    case CR_SHAPE_BOX:
        add_box(f, s->pose, cr_vec3(0.0, 0.0, 0.0), s->size);
        break;
    case CR_SHAPE_HULL:
        add_hull(f, s);
        break;
    case CR_SHAPE_MESH:
        f->solid = false;
        add_mesh(f, s);
        break;
    case CR_SHAPE_HEIGHTFIELD:
        f->solid = false;
        add_field(f, s);
        break;
    case CR_SHAPE_HALFSPACE:
    case CR_SHAPE_COMPOUND:
    case CR_SHAPE_KINDS:
        break;
    case CR_SHAPE_SPHERE:
    case CR_SHAPE_CAPSULE:
    case CR_SHAPE_CYLINDER:
    case CR_SHAPE_CONE:
    case CR_SHAPE_ELLIPSOID:
        add_round(f, s, segments);
        break;
    default:
        add_sampled(f, s);
    }
}

void cr_faces_destroy(crFaces* f) {
    free(f->vertices);
    free(f->loops);
    *f = (crFaces){0};
}

int cr_faces_pieces(const crShape* shape) {
    int count = 1;
    if (shape->kind == CR_SHAPE_COMPOUND) cr_compound_children(shape->data.compound, &count);
    return count;
}

crShape cr_faces_piece(const crShape* shape, int index) {
    if (shape->kind != CR_SHAPE_COMPOUND) return *shape;
    int count;
    crShape piece = cr_compound_children(shape->data.compound, &count)[index];
    piece.pose = cr_pose_mul(shape->pose, piece.pose);
    return piece;
}

int cr_faces_count(const crModel* model) { return model->shape_count + model->visual_count; }

// visuals are in the order of bodies
static bool has_visuals(const crModel* model, int body) {
    int lo = 0, hi = model->visual_count;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (model->visuals[middle].body < body)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < model->visual_count && model->visuals[lo].body == body;
}

const crBodyShape* cr_faces_drawn(const crModel* model, int index) {
    if (index >= model->shape_count) return &model->visuals[index - model->shape_count];
    const crBodyShape* shape = &model->shapes[index];
    return has_visuals(model, shape->body) ? NULL : shape;
}

bool cr_faces_bare(const crModel* model, int body) {
    for (int i = 0; i < model->shape_count; i++) {
        if (model->shapes[i].body == body) return false;
    }
    return !has_visuals(model, body);
}

unsigned cr_faces_color(const crModel* model, const crBodyShape* s) {
    return s->color != 0 ? s->color : model->materials[s->material].color;
}

// the body hangs on a point that no ball around one of its shapes reaches
static bool hangs(const crModel* model, int body) {
    crJoint joint = model->bodies[body].joint;
    if (joint != CR_JOINT_HINGE && joint != CR_JOINT_BALL) return false;
    for (int i = 0; i < cr_faces_count(model); i++) {
        const crBodyShape* drawn = cr_faces_drawn(model, i);
        if (drawn == NULL || drawn->body != body) continue;
        const crShape* shape = &drawn->shape;
        if (shape->kind == CR_SHAPE_HALFSPACE) return false;
        if (cr_norm(shape->pose.p) <= cr_shape_reach(shape, shape->pose.p)) return false;
    }
    return true;
}

int cr_faces_sticks(const crModel* model, int body, crVec3 ends[CR_STICKS]) {
    int count = 0;
    if (!cr_faces_bare(model, body)) {
        ends[0] = model->bodies[body].com;
        return hangs(model, body) ? 1 : 0;
    }
    ends[count++] = model->bodies[body].com;
    for (int i = body + 1; i < model->nb && count < CR_STICKS; i++) {
        if (model->bodies[i].parent == body) ends[count++] = model->bodies[i].pose.p;
    }
    for (int i = 0; i < model->loop_count && count < CR_STICKS - 1; i++) {
        if (model->loops[i].a == body) ends[count++] = model->loops[i].pose_a.p;
        if (model->loops[i].b == body) ends[count++] = model->loops[i].pose_b.p;
    }
    return count;
}
