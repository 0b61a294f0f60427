// sdf.h - what the files that import SDF share.
#ifndef CAROM_IO_SDF_H
#define CAROM_IO_SDF_H

#include "io/import_parts.h"

// Whose names an element uses: inside the nested model "arm", "hand" is "arm::hand" of the outermost model,
// and "__model__" is "arm". Of a merged model the names are those of the model around it.
typedef struct crSdfScope {
    const char* prefix;  // "" or "arm::"
    const char* self;    // frame that poses are relative to where they do not say; NULL: the outermost
} crSdfScope;

// A frame of a model: a link, a joint, a <frame>, a nested model; or of the world: a model, a <frame>.
typedef struct crSdfFrame {
    const char* name;
    crXml* node;
    const char* relative_to;  // NULL: the model's frame (or the world)
    int state;                // 0 not yet, 1 under way, 2 done
    crPose own;               // in the frame named
    crPose pose;              // in the model's frame
} crSdfFrame;

typedef struct crSdfSurface {
    const crXml* node;
    double mu, mu2, e;
    double spin;  // moment against spin over normal force, m
    crVec3 axis;  // of mu, in the link's frame
} crSdfSurface;

typedef struct crSdfLink {
    crXml* node;
    const char* name;
    const char* out;
    int frame;
    int joint;  // above it in the tree, -1 where it has none
    int shapes;
} crSdfLink;

typedef struct crSdfJoint {
    crXml* node;
    crSdfScope scope;
    int frame;
    int parent, child;  // links; parent -1 is the world
    bool loop;          // its child has a joint above it already
} crSdfJoint;

typedef struct crSdfModel {
    crXml* node;
    const char* name;
    crPose pose;  // in the world
    bool still;
    int frame_count, frame_capacity;
    crSdfFrame* frames;
    int link_count, link_capacity;
    crSdfLink* links;
    int joint_count, joint_capacity;
    crSdfJoint* joints;
} crSdfModel;

typedef struct crSdfWorld {
    crImporting* im;
    crJson* bodies;
    crJson* exclude;
    crJson* constraints;
    int surface_count, surface_capacity;
    crSdfSurface* surfaces;
    crNames names, joint_names;
    int exclude_count;
    crSdfModel frames;  // of the world itself: its models and frames, no links
} crSdfWorld;

// A value in a child element, marked; false (and *to untouched) where there is none.
bool cr__sdf_numbers(crImporting* im, crXml* element, const char* name, int least, int most, double* to);
bool cr__sdf_flag(crImporting* im, crXml* element, const char* name, bool otherwise);
const char* cr__sdf_text(crImporting* im, crXml* element,
                         const char* name);  // trimmed; NULL where there is none

// The element's <pose> and what it is relative to.
crPose cr__sdf_pose(crImporting* im, crXml* element, const char** relative_to);

// What an element in this scope calls `name`: a frame or link of the outermost model, NULL for that itself.
const char* cr__sdf_scoped(crImporting* im, crSdfScope scope, const char* name);
// A frame of the node's own name and pose; relative to `otherwise` (scoped) where the pose does not say. -1
// where refused.
int cr__sdf_add_frame(crImporting* im, crSdfModel* model, crXml* node, crSdfScope scope,
                      const char* otherwise);
int cr__sdf_find_frame(const crSdfModel* model, const char* name);  // -1: none
void cr__sdf_resolve(crImporting* im, crSdfModel* model);

// Every <include> below, in worlds and models, replaced by the model it names; *left is how many more may
// come.
void cr__sdf_include(crImporting* im, crXml* element, int* left);

// The shapes of a link into `to`; returns how many.
int cr__sdf_shapes(crSdfWorld* w, crXml* link, crJson* to);
void cr__sdf_materials(crSdfWorld* w);

void cr__sdf_model(crSdfWorld* w, crXml* node, crPose pose);  // pose in the world

#endif
