// scene_parts.h - what the files that read a scene share: one function per part of it.
#ifndef CAROM_IO_SCENE_PARTS_H
#define CAROM_IO_SCENE_PARTS_H

#include "io/place.h"
#include "io/scene.h"

// Something a shape points to, to be destroyed with the scene.
typedef struct crSceneOwned {
    void* data;
    void (*destroy)(void* data);
    struct crSceneOwned* next;
} crSceneOwned;

// Takes data over, also when memory is out; false then.
bool cr__scene_own(crScene* scene, void* data, void (*destroy)(void* data));
char* cr__scene_copy(crScene* scene, const char* text);  // into the arena; NULL when memory is out
void cr__place_memory(const crPlace* place);             // refuses for want of memory

// A name of a catalogue under a field, the catalogue's own copy; NULL where none was given or it is refused.
typedef enum crSceneCatalogue { CR_SCENE_RULES, CR_SCENE_LAWS, CR_SCENE_SOLVERS } crSceneCatalogue;
const char* cr__scene_name(const crPlace* place, const char* field, crSceneCatalogue catalogue);

// impact: rule and law with their parameters
void cr__scene_impact(const crPlace* root, crScene* scene);
// law and law_params of an object; the law stays as it is where none is named
void cr__scene_law(const crPlace* place, crScene* scene, crLaw* law);

// materials, pairs
void cr__scene_materials(const crPlace* root, crScene* scene);
// The material a shape names; 0 where it names none.
int cr__scene_material(const crPlace* shape, const crScene* scene);

// One shape, its pose in its body.
void cr__scene_shape(const crPlace* place, crScene* scene, crShape* shape);

// Kind and size of a shape without data, for a site.
void cr__scene_volume(const crPlace* place, crScene* scene, crShape* shape);

// Which others a shape meets: its fields group and mask, or what they were.
void cr__scene_filter(const crPlace* place, uint64_t* group, uint64_t* mask);
// A field "#rrggbb" of a material or shape, which only pictures use; *color keeps its value where there is none.
void cr__scene_color(const crPlace* place, const char* name, unsigned* color);

// The visuals of a body: what it is drawn as in place of its shapes, moved by -anchor.
void cr__scene_visuals(const crPlace* body, crScene* scene, int index, crVec3 anchor);

// bodies and their shapes; the origin of each body's joint in the frame its fields are in goes to anchors
// (nb)
void cr__scene_bodies(const crPlace* root, crScene* scene, crVec3** anchors);
// A body by its name, "world" included; refuses where there is none.
int cr__scene_body(const crPlace* place, const crJson* name, const char* field, const crScene* scene);

// The drives of a scene, by the name of their body and then in their order.
typedef struct crSceneDrive {
    const char* body;
    const crJson* item;
    int index;
} crSceneDrive;
typedef struct crSceneDrives {
    crSceneDrive* list;  // (count)
    int count;
} crSceneDrives;
crSceneDrives cr__scene_drives(const crPlace* root, crScene* scene);
// The drive of a body, if the scene has one: fills def->drive and def->joint.
void cr__scene_drive(const crPlace* root, crScene* scene, const crSceneDrives* drives, crBodyDef* def);
void cr__scene_check_drives(const crPlace* root, crScene* scene);
// constraints: loops
void cr__scene_constraints(const crPlace* root, crScene* scene, const crVec3* anchors);
// actuators, sites, sensors, keyframes
void cr__scene_control(const crPlace* root, crScene* scene, const crVec3* anchors);
// forces: loads
void cr__scene_forces(const crPlace* root, crScene* scene, const crVec3* anchors);
// exclude: pairs of bodies that never meet
void cr__scene_exclude(const crPlace* root, crScene* scene);

// Convex hull of points (3 to a point, count of them).
crStatus cr__hull_of_points(const crVec3* points, int count, crHull** hull, crError* error);

#endif
