// snapshot_scene.h - a world whose snapshot has everything a snapshot can have: contact forces on shapes of
// pieces, bodies asleep and awake, one of them on a driven body, joints with limits and motors, loops.
#ifndef CAROM_TEST_SNAPSHOT_SCENE_H
#define CAROM_TEST_SNAPSHOT_SCENE_H

#include <stdlib.h>

#include "carom/carom.h"

#define SNAPSHOT_HEADER 52  // bytes before time
#define SNAPSHOT_HASH   44  // where the hash of what follows the header is

typedef struct SnapshotScene {
    crModel* model;
    crCompound* compound;
    crMesh* mesh;
    crHeightField* field;
} SnapshotScene;

static inline void snapshot_drive(void* ctx, double time, crDriven* out) {
    (void)ctx;
    (void)time;
    (void)out;
}

static inline int snapshot_free(crModel* model, const crShape* shape, double x, double y, double z) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p = cr_vec3(x, y, z);
    int body = cr_model_add_body(model, &def);
    cr_model_add_shape(model, body, shape, 0);
    return body;
}

static inline int snapshot_jointed(crModel* model, int parent, crJoint joint, crVec3 at) {
    crBodyDef def = cr_body_def();
    def.parent = parent;
    def.joint = joint;
    def.axis = cr_vec3(0, 1, 0);
    def.pose.p = at;
    if (joint == CR_JOINT_HINGE) {
        def.dof[0].lower = -0.5;
        def.dof[0].upper = 0.5;
        def.dof[0].motor_force = 0.5;
        def.dof[0].motor_speed = 1.0;
        def.dof[0].friction = 0.01;
    }
    if (joint == CR_JOINT_DRIVEN) def.drive = snapshot_drive;
    int body = cr_model_add_body(model, &def);
    crShape rod = joint == CR_JOINT_DRIVEN ? cr_shape_box(0.3, 0.3, 0.05) : cr_shape_box(0.02, 0.02, 0.2);
    if (joint != CR_JOINT_DRIVEN) rod.pose.p.z = -0.2;
    cr_model_add_shape(model, body, &rod, 0);
    return body;
}

static inline void snapshot_static(SnapshotScene* s) {
    crModel* model = s->model;
    crShape ground = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &ground, 0);
    static const crVec3 corners[4] = {{4, -1, 0.5}, {6, -1, 0.5}, {6, 1, 0.5}, {4, 1, 0.5}};
    static const int triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};
    crMeshDef mesh = {4, corners, 2, triangles};
    cr_mesh_create(&mesh, NULL, &s->mesh, NULL);
    crShape platform = cr_shape_mesh(s->mesh);
    cr_model_add_shape(model, CR_WORLD, &platform, 0);
    static const double z[9] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    crHeightFieldDef field = {3, 3, 1.0, 1.0, z};
    cr_heightfield_create(&field, NULL, &s->field, NULL);
    crShape plain = cr_shape_heightfield(s->field);
    plain.pose.p = cr_vec3(-7, -1, 0);
    cr_model_add_shape(model, CR_WORLD, &plain, 0);
}

static inline SnapshotScene snapshot_scene(void) {
    SnapshotScene s = {.model = cr_model_create(NULL)};
    crModel* model = s.model;
    snapshot_static(&s);
    crShape box = cr_shape_box(0.1, 0.1, 0.1), ball = cr_shape_sphere(0.1);
    snapshot_free(model, &box, 0.0, 0.0, 0.1);
    snapshot_free(model, &box, 0.01, 0.02, 0.3);
    int a = snapshot_free(model, &ball, 1.0, 0.0, 0.1), b = snapshot_free(model, &box, 1.5, 0.0, 0.1);
    crLoop rod = cr_loop(CR_LOOP_DISTANCE, a, b);
    rod.length = 0.5;
    cr_model_add_loop(model, &rod);
    int hinge = snapshot_jointed(model, CR_WORLD, CR_JOINT_HINGE, cr_vec3(2, 0, 1));
    int end = snapshot_jointed(model, hinge, CR_JOINT_BALL, cr_vec3(0, 0, -0.42));
    crLoop tie = cr_loop(CR_LOOP_CONNECT, end, CR_WORLD);
    tie.pose_a.p = cr_vec3(0, 0, -0.4);
    tie.pose_b.p = cr_vec3(2, 0, 0.18);
    cr_model_add_loop(model, &tie);
    snapshot_jointed(model, CR_WORLD, CR_JOINT_DRIVEN, cr_vec3(3, 0, 0.3));
    snapshot_free(model, &box, 3.0, 0.0, 0.45);
    crShape parts[2] = {cr_shape_sphere(0.1), cr_shape_sphere(0.1)};
    parts[0].pose.p.x = -0.15;
    parts[1].pose.p.x = 0.15;
    cr_compound_create(parts, 2, NULL, &s.compound, NULL);
    crShape dumbbell = cr_shape_compound(s.compound);
    snapshot_free(model, &dumbbell, 5.0, 0.3, 0.6);
    snapshot_free(model, &ball, -6.0, 0.3, 0.6);
    snapshot_free(model, &ball, 0.0, 3.0, 0.1);  // rolls, see snapshot_world
    return s;
}

// A world of the scene after 60 steps; NULL: it could not be made. The ball that rolls stays awake.
static inline crWorld* snapshot_world(const SnapshotScene* s, crMethod method, crQuality quality) {
    crWorldDef def = cr_world_def();
    def.model = s->model;
    def.step.method = method;
    def.step.quality = quality;
    def.step.dt = 0.005;
    def.step.sleep_time = 0.05;
    crWorld* world = NULL;
    if (cr_world_create(&def, &world, NULL) != CR_OK) return NULL;
    crState* state = cr_world_state(world);
    state->v[s->model->nv - 6] = 0.5;
    state->v[s->model->nv - 2] = 5.0;
    for (int i = 0; i < 60; i++) {
        if (cr_world_step(world, NULL) == CR_OK) continue;
        cr_world_destroy(world);
        return NULL;
    }
    return world;
}

static inline void snapshot_free_scene(SnapshotScene* s) {
    cr_model_destroy(s->model);
    cr_mesh_destroy(s->mesh);
    cr_heightfield_destroy(s->field);
    cr_compound_destroy(s->compound);
}

// The number at `at`, least significant byte first, and the hash that makes the forgery look whole.
static inline void snapshot_put(unsigned char* at, uint64_t x, int size) {
    for (int i = 0; i < size; i++) {
        at[i] = (unsigned char)(x >> (8 * i));
    }
}

static inline void snapshot_seal(unsigned char* bytes, size_t size) {
    if (size < SNAPSHOT_HEADER) return;
    snapshot_put(bytes + SNAPSHOT_HASH,
                 cr_hash(CR_HASH_SEED, bytes + SNAPSHOT_HEADER, size - SNAPSHOT_HEADER), 8);
}

#endif
