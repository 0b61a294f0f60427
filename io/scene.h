// scene.h - a scene from JSON: bodies, materials, how they start, and how time is to pass.
//
// Fields and their meaning are listed in docs/scenes.md; docs/scene.schema.json says the same for machines.
// Unknown fields, wrong types and sizes, values out of range and names of nothing are refused by path, line
// and column.
#ifndef CAROM_IO_SCENE_H
#define CAROM_IO_SCENE_H

#include "carom/carom.h"
#include "io/json.h"

#define CR_SCENE_VERSION    1
#define CR_SCENE_MAX_BODIES 20000
#define CR_SCENE_MAX_SHAPES 50000
#define CR_SCENE_OVERLAPS   8  // told in full

// Two shapes that overlap at the start.
typedef struct crSceneOverlap {
    int shape_a, shape_b;  // of the model
    double depth;          // m
} crSceneOverlap;

typedef struct crScene {
    const char* comment;  // NULL where none was given
    crModel* model;
    double* q;  // at the start (nq)
    double* v;  // at the start (nv)

    crStepSettings step;  // how time passes, impacts and solver included
    crSolverParams solver_params;
    double duration;  // s
    int every;        // steps between records

    int overlap_count;  // all of them, or 100000
    crSceneOverlap overlaps[CR_SCENE_OVERLAPS];

    crArena arena;               // holds every array and name above
    struct crSceneOwned* owned;  // hulls, meshes and fields of shapes, newest first
} crScene;

// On failure nothing needs to be freed. The tree need not outlive the call. The scene holds pointers into
// itself: do not copy it.
crStatus cr_scene_read(const crJson* root, crScene* scene, crError* error);
void cr_scene_free(crScene* scene);  // accepts a zeroed scene

// Finds anew what overlaps at the start, for a scene whose q or shapes were changed. Fails: memory.
crStatus cr_scene_overlaps(crScene* scene);

// The world of a scene, where the scene starts; the scene must outlive it.
crStatus cr_scene_world(const crScene* scene, crWorld** world, crError* error);

// The name of a shape's body, with the shape's number where it has several: "rod", "table[2]", "static[0]".
#define CR_SCENE_NAME 80
void cr_scene_shape_name(const crScene* scene, int shape, char name[CR_SCENE_NAME]);

#endif
