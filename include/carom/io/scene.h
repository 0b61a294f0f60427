// scene.h - a scene from JSON: bodies, materials, how they start, and how time is to pass.
//
// Fields and their meaning are listed in docs/scenes.md; docs/scene.schema.json says the same for machines.
// Unknown fields, wrong types and sizes, values out of range and names of nothing are refused by path, line
// and column.
#ifndef CAROM_IO_SCENE_H
#define CAROM_IO_SCENE_H

#include "carom/carom.h"
#include "carom/io/json.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CR_SCENE_VERSION    1
#define CR_SCENE_MAX_BODIES 20000
#define CR_SCENE_MAX_SHAPES 50000
#define CR_SCENE_OVERLAPS   8  // told in full

// Two shapes that overlap at the start.
typedef struct crSceneOverlap {
    int shape_a, shape_b;  // of the model
    double depth;          // m
} crSceneOverlap;

// A whole state by name; q, v, ctrl, act are NULL where the scene's own start is meant.
typedef struct crKeyframe {
    const char* name;
    double time;
    double *q, *v, *ctrl, *act;
} crKeyframe;

typedef struct crScene {
    const char* comment;  // NULL where none was given
    crModel* model;
    double time;  // at the start, s
    double* q;    // at the start (nq)
    double* v;    // at the start (nv)
    int key_count;
    crKeyframe* keys;  // (key_count)

    const crVec3* anchors;  // origin of each body's joint in the frame its fields are in (nb)

    crStepSettings step;  // how time passes, impacts and solver included
    crSolverParams solver_params;
    double duration;  // time at the end, s
    int every;        // steps between records

    int overlap_count;  // all of them, or 100000
    crSceneOverlap overlaps[CR_SCENE_OVERLAPS];

    int centre_count;  // bodies with mass and inertia whose centre of mass, not given, is that of their shapes
    int centre_body;   // the first of them
    crVec3 centre_anchor;  // of its joint, in the frame its fields are in

    crArena arena;               // holds every array and name above
    struct crSceneOwned* owned;  // hulls, meshes and fields of shapes, newest first
} crScene;

// One call from a file to a world:
//
//     crScene scene;
//     crWorld* world = NULL;
//     status = cr_scene_open("bouncing-ball", NULL, &scene, &world, &error);
//     if (status == CR_OK) status = cr_world_run(world, scene.duration, &error);
//     cr_world_destroy(world);
//     cr_scene_free(&scene);
//
// path is a scene (JSON), a model (MJCF, URDF or SDF, as cr_import_file reads it without options), "-" for a
// scene on standard input, or the name of a bundled scene if there is no such file. The log (may be NULL) gets
// a warning for each part of a model that acts and is left out and for the first CR_SCENE_OVERLAPS pairs of shapes
// that overlap at the start. world may be NULL: the scene alone. The scene must outlive the world. Fails: file (no such file or
// scene), and what cr_import_file, cr_scene_read and cr_scene_world refuse; *scene is then zeroed, *world NULL,
// and both may be freed or left.
CR_API crStatus cr_scene_open(const char* path, const crLog* log, crScene* scene, crWorld** world,
                              crError* error);
// The name of a bundled scene, by index from 0 on; NULL after the last.
CR_API const char* cr_scene_bundled(int index);

// Reads a scene from the tree of its JSON text. Fails by the first wrong field, with line and column; nothing needs
// to be freed then. The tree need not outlive the call. The scene holds pointers into itself: do not copy it.
CR_API crStatus cr_scene_read(const crJson* root, crScene* scene, crError* error);
CR_API void cr_scene_free(crScene* scene);  // accepts a zeroed scene

// Finds anew what overlaps at the start, for a scene whose q or shapes were changed. Fails: memory.
CR_API crStatus cr_scene_overlaps(crScene* scene);

// The world of a scene, where the scene starts; the scene must outlive it. Fails: as cr_world_create; *world is
// NULL then.
CR_API crStatus cr_scene_world(const crScene* scene, crWorld** world, crError* error);

// The world back at the start of its scene (key NULL) or at a keyframe: time, q, v, ctrl; applied forces are zero.
// Fails: CR_ERR_NAME (no such keyframe), and as cr_world_set_state; the world is then unchanged.
CR_API crStatus cr_scene_reset(const crScene* scene, crWorld* world, const char* key, crError* error);

// The scene starts at a keyframe from now on: time, q, v and the controls of worlds that are made of it. Fails: CR_ERR_NAME;
// memory.
CR_API crStatus cr_scene_start(crScene* scene, const char* key, crError* error);

// The name of a shape's body, with the shape's number where it has several: "rod", "table[2]", "static[0]".
#define CR_SCENE_NAME 80
CR_API void cr_scene_shape_name(const crScene* scene, int shape, char name[CR_SCENE_NAME]);

#ifdef __cplusplus
}
#endif

#endif
