// mjcf.h - what the files that import MJCF share: the model between the XML and the scene.
#ifndef CAROM_IO_MJCF_H
#define CAROM_IO_MJCF_H

#include "io/import_parts.h"

// A class of defaults; the same class may be opened several times.
typedef struct mjClass {
    const char* name;
    int parent;  // -1 for the main class
    crXml* node;
} mjClass;

typedef struct mjCompiler {
    bool radian, autolimits;
    char eulerseq[4];
    int inertiafromgeom;  // 0 never, 1 always, 2 where there is no <inertial>
    int group_low, group_high;
    double boundmass, boundinertia, settotalmass;
    bool balanceinertia;
    const char* meshdir;
} mjCompiler;

// option and its flags
typedef struct mjOption {
    double timestep;
    crVec3 gravity;
    bool contact, limit, frictionloss, equality, passive, actuation, filterparent;
} mjOption;

typedef enum mjJointKind { MJ_FREE, MJ_BALL, MJ_SLIDE, MJ_HINGE } mjJointKind;

typedef struct mjJoint {
    crXml* node;
    const char* name;
    mjJointKind kind;
    int body;
    crVec3 pos, axis;  // in the body's frame
    bool limited;
    double lower, upper;
    double ref, stiffness, springref, damping, frictionloss, armature;
    double qpos_spring;  // springref as it was given: where tendons have their rest length
    double q[7], v[6];   // at the start, as MJCF has them
    const char* out;     // the scene's body that has this joint
} mjJoint;

typedef enum mjGeomKind {
    MJ_PLANE,
    MJ_HFIELD,
    MJ_SPHERE,
    MJ_CAPSULE,
    MJ_ELLIPSOID,
    MJ_CYLINDER,
    MJ_BOX,
    MJ_MESH
} mjGeomKind;

typedef struct mjGeom {
    crXml* node;
    const char* name;
    int body;
    mjGeomKind kind;
    crPose pose;
    double size[3];
    int mesh, hfield;
    uint64_t group, mask;  // contype and conaffinity, and bits of explicit pairs
    int condim, priority;
    double friction[3];
    int own;  // number of its own material, 0: shared with geoms of the same values
    int material;
    int next;  // geom of the same body, -1 after the last
} mjGeom;

typedef struct mjSite {
    const crXml* node;
    const char* name;
    int body;
    crPose pose;
} mjSite;

typedef struct mjMesh {
    crXml* node;
    const char* name;
    crTriangles triangles;
    crMass mass;  // at density 1
} mjMesh;

typedef struct mjField {
    crXml* node;
    const char* name;
    int nrow, ncol;
    double size[4];
    double* z;  // 0 to 1, row by row (nrow ncol)
} mjField;

typedef struct mjBody {
    crXml* node;
    const char* name;
    const char* out;  // the scene's body that carries its shapes
    int parent;
    crPose pose;   // in the parent's frame
    crPose world;  // in the reference position
    int joint, joint_count;
    int weld;                   // the body it moves with: itself where it has joints, 0 where it never moves
    int weld_next;              // next body of the same weld, -1 at the end
    int weld_first;             // of a body that others are welded to: the list's begin
    int geom_first, geom_last;  // -1 where it has none
    bool mocap, inertial;
    double gravcomp;
    crMass mass;
} mjBody;

// Two geoms, and the surface an explicit pair gives them.
typedef struct mjPair {
    int a, b;
    double mu, spin, roll;
} mjPair;

// Fixed, along joints; or spatial, between the first of its sites and that of its other end, `count` times
// where they are replicas.
typedef struct mjTendon {
    crXml* node;
    const char* name;
    bool fixed, limited, rests;
    int count;      // of joints, or of pairs of sites
    int joints[2];  // joints or sites
    double coef[2];
    double lower, upper, stiffness, damping, frictionloss, rest;
} mjTendon;

typedef struct mjModel {
    crImporting* im;
    crXml* root;
    mjCompiler compiler;
    mjOption option;
    int class_count, class_capacity;
    mjClass* classes;
    int body_count, body_capacity;
    mjBody* bodies;
    int joint_count, joint_capacity;
    mjJoint* joints;
    int geom_count, geom_capacity;
    mjGeom* geoms;
    int site_count, site_capacity;
    mjSite* sites;
    int mesh_count, mesh_capacity;
    mjMesh* meshes;
    int field_count, field_capacity;
    mjField* fields;
    int tendon_count, tendon_capacity;
    mjTendon* tendons;
    int pair_count, pair_capacity;
    mjPair* pairs;
    int exclude_count, exclude_capacity;
    int (*excludes)[2];   // bodies
    int visited;          // elements, replicas included
    int excluded;         // pairs written
    crJson* constraints;  // of the scene, NULL before the first
    crNames names;
} mjModel;

// mjcf_values.c: attributes of an element, through its class of defaults; all of them mark what they find
int mj__class(mjModel* mj, const crXml* element, int inherited);  // of the attribute class, else inherited
crXmlAttr* mj__attr(mjModel* mj, crXml* element, int class, const char* name);
bool mj__numbers(mjModel* mj, crXml* element, int class, const char* name, int least, int most, double* to);
double mj__number(mjModel* mj, crXml* element, int class, const char* name, double otherwise);
bool mj__flag(mjModel* mj, crXml* element, int class, const char* name, bool otherwise);
// One of words (ends with NULL) by its place, refused where it is none of them.
int mj__word(mjModel* mj, crXml* element, int class, const char* name, const char* const* words,
             int otherwise);
const char* mj__text(mjModel* mj, crXml* element, int class, const char* name);
bool mj__quat(mjModel* mj, crXml* element, int class, crQuat* q);  // quat, axisangle, euler, xyaxes, zaxis
crPose mj__pose(mjModel* mj, crXml* element, int class);           // pos and one of those
double mj__angle(const mjModel* mj, double angle);                 // in the compiler's unit, to rad
crQuat mj__quat_z(crVec3 axis);                                    // turns z onto an axis

// the parts, in the order in which they need each other
void mj__assets(mjModel* mj);
void mj__world(mjModel* mj, crXml* worldbody);
void mj__geom(mjModel* mj, crXml* node, int class, int body, crPose frame, const char* name);
void mj__masses(mjModel* mj);
void mj__contacts(mjModel* mj);
void mj__tendons(mjModel* mj);
void mj__actuators(mjModel* mj);
void mj__keyframe(mjModel* mj);
void mj__scene(mjModel* mj);
void mj__equalities(mjModel* mj);
void mj__tendon_ties(mjModel* mj);

// what the parts share
bool mj__named(const crXml* node, const char* name);           // by its own attribute
int mj__joint_of(mjModel* mj, crXml* node, const char* attr);  // that an attribute names; -1 where refused
void mj__add_spring(mjJoint* j, double stiffness, double rest, double damping);  // a second one along a joint
const mjTendon* mj__find_tendon(const mjModel* mj, const char* name);            // NULL where there is none
crJson* mj__constraint(mjModel* mj, crXml* node, const char* type, const char* a, const char* b);

// by name; -1 where there is none
int mj__find_body(const mjModel* mj, const char* name);
int mj__find_joint(const mjModel* mj, const char* name);
int mj__find_geom(const mjModel* mj, const char* name);
int mj__find_site(const mjModel* mj, const char* name);

#endif
