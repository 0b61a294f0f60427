// mjcf.h - what the files that import MJCF share: the model between the XML and the scene.
#ifndef CAROM_IO_MJCF_H
#define CAROM_IO_MJCF_H

#include "io/import_parts.h"

// A class of defaults; the same class may be opened several times.
typedef struct crMjcfClass {
    const char* name;
    int parent;  // -1 for the main class
    crXml* node;
} crMjcfClass;

typedef struct crMjcfCompiler {
    bool radian, autolimits;
    char eulerseq[4];
    int inertiafromgeom;  // 0 never, 1 always, 2 where there is no <inertial>
    int group_low, group_high;
    double boundmass, boundinertia, settotalmass;
    bool balanceinertia;
    const char* meshdir;
} crMjcfCompiler;

// option and its flags
typedef struct crMjcfOption {
    double timestep;
    crVec3 gravity;
    bool contact, limit, frictionloss, equality, passive, actuation, filterparent;
} crMjcfOption;

typedef enum crMjcfJointKind { CR_MJCF_FREE, CR_MJCF_BALL, CR_MJCF_SLIDE, CR_MJCF_HINGE } crMjcfJointKind;

typedef struct crMjcfJoint {
    crXml* node;
    const char* name;
    crMjcfJointKind kind;
    int body;
    crVec3 pos, axis;  // in the body's frame
    bool limited;
    double lower, upper;
    double ref, stiffness, springref, damping, frictionloss, armature;
    double actuator_range[2];  // of the force of all actuators; both 0: none
    double qpos_spring;        // springref as it was given: where tendons have their rest length
    double q[7], v[6];         // at the start, as MJCF has them
    double q0[7];              // in the reference position
    const char* out;           // the scene's body that has this joint
    const char* out_name;      // its own name in the scene, NULL: none
} crMjcfJoint;

typedef enum crMjcfGeomKind {
    CR_MJCF_PLANE,
    CR_MJCF_HFIELD,
    CR_MJCF_SPHERE,
    CR_MJCF_CAPSULE,
    CR_MJCF_ELLIPSOID,
    CR_MJCF_CYLINDER,
    CR_MJCF_BOX,
    CR_MJCF_MESH
} crMjcfGeomKind;

typedef struct crMjcfGeom {
    crXml* node;
    const char* name;
    int body;
    crMjcfGeomKind kind;
    crPose pose;
    double size[3];
    const char* rgba;  // of the geom or its material, NULL where neither has one
    int mesh, hfield;
    uint64_t group, mask;  // contype and conaffinity, and bits of explicit pairs
    bool hidden;           // true if MuJoCo's viewer does not show it unless asked: a group above 2
    int condim, priority;
    double friction[3];
    double solref[2];            // time constant and damping ratio, or minus stiffness and minus damping
    double surface_velocity[6];  // of a belt: linear and angular, in the geom's frame
    bool belt;
    int own;  // number of its own material, 0: shared with geoms of the same values
    int material;
    int next;  // geom of the same body, -1 after the last
} crMjcfGeom;

typedef struct crMjcfSite {
    const crXml* node;
    const char* name;
    const char* out;  // name in the scene, NULL before it has one
    int body;
    crPose pose;
    crMjcfGeomKind kind;
    double size[3];
} crMjcfSite;

typedef struct crMjcfMesh {
    crXml* node;
    const char* name;
    crTriangles triangles;
    crMass mass;  // at density 1
} crMjcfMesh;

typedef struct crMjcfField {
    crXml* node;
    const char* name;
    int nrow, ncol;
    double size[4];
    double* z;  // 0 to 1, row by row (nrow ncol)
} crMjcfField;

typedef struct crMjcfBody {
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
} crMjcfBody;

// Two geoms, and the surface an explicit pair gives them.
typedef struct crMjcfPair {
    int a, b;
    double mu, spin, roll;
    double e;  // restitution; negative: what the two geoms make of it
} crMjcfPair;

// Fixed, along joints; or spatial, between the first of its sites and that of its other end, `count` times
// where they are replicas.
typedef struct crMjcfTendon {
    crXml* node;
    const char* name;
    bool fixed, limited, rests;
    int count;                       // of joints, or of pairs of sites
    int joints[CR_ACTUATOR_JOINTS];  // joints, or two sites
    double coef[CR_ACTUATOR_JOINTS];
    double lower, upper, stiffness, damping, frictionloss;
    double rest[2];  // range in which its spring is slack
    // Of a path without wrapping: sites, and the coefficient of the way from each to the next (0 at a pulley)
    int point_count;
    int points[CR_TENDON_POINTS];
    double shares[CR_TENDON_POINTS];
    bool needed;      // true if the scene has a tendon for it
    const char* out;  // its name there, NULL before it has one
} crMjcfTendon;

typedef enum crMjcfAlong {
    CR_MJCF_ALONG_JOINTS,
    CR_MJCF_ALONG_TENDON,
    CR_MJCF_ALONG_SITE,
    CR_MJCF_ALONG_CRANK
} crMjcfAlong;

// An actuator: force as carom has it, lengths as MJCF has them.
typedef struct crMjcfActuator {
    crXml* node;
    const char* name;
    const char* out;  // name in the scene, NULL: left out
    crMjcfAlong along;
    int count;  // of joints
    int joints[CR_ACTUATOR_JOINTS];
    double gear[CR_ACTUATOR_JOINTS];
    int tendon, site, reference;
    double wrench[6], rod;
    double gain[3], bias[3];
    double damp_ratio;  // of a servo with the inertia of its joints; 0: bias[2] is the damping
    bool ctrl_limited, force_limited;
    double ctrl_range[2], force_range[2];
    double ctrl;             // at the start
    const char* activation;  // as scenes call it, NULL: none
    double time_constant;
    bool act_limited;
    double act_range[2];
    double act;  // at the start
    bool early;
} crMjcfActuator;

typedef int crMjcfExclude[2];  // bodies

// A list that grows.
#define CR_MJCF_LIST(type)   \
    struct {                 \
        type* at;            \
        int count, capacity; \
    }

typedef struct crMjcf {
    crImporting* im;
    crXml* root;
    crMjcfCompiler compiler;
    crMjcfOption option;
    CR_MJCF_LIST(crMjcfClass) classes;
    CR_MJCF_LIST(crMjcfBody) bodies;
    CR_MJCF_LIST(crMjcfJoint) joints;
    CR_MJCF_LIST(crMjcfGeom) geoms;
    CR_MJCF_LIST(crMjcfSite) sites;
    CR_MJCF_LIST(crMjcfMesh) meshes;
    CR_MJCF_LIST(crMjcfField) fields;
    CR_MJCF_LIST(crMjcfTendon) tendons;
    CR_MJCF_LIST(crMjcfActuator) actuators;
    CR_MJCF_LIST(crMjcfPair) pairs;
    CR_MJCF_LIST(crMjcfExclude) excludes;  // bodies
    int visited;                           // elements, replicas included
    int excluded;                          // pairs written
    crJson* constraints;                   // of the scene, NULL before the first
    crNames names, joint_names, actuator_names, site_names, sensor_names, tendon_names;
    crJson* site_list;  // of the scene, NULL before the first
} crMjcf;

// mjcf_values.c: attributes of an element, through its class of defaults; all of them mark what they find
int cr__mjcf_class(crMjcf* mj, const crXml* element,
                   int inherited);  // of the attribute class, else inherited
crXmlAttr* cr__mjcf_attr(crMjcf* mj, crXml* element, int class, const char* name);
bool cr__mjcf_numbers(crMjcf* mj, crXml* element, int class, const char* name, int least, int most,
                      double* to);
double cr__mjcf_number(crMjcf* mj, crXml* element, int class, const char* name, double otherwise);
bool cr__mjcf_flag(crMjcf* mj, crXml* element, int class, const char* name, bool otherwise);
// One of words (ends with NULL) by its place, refused where it is none of them.
int cr__mjcf_word(crMjcf* mj, crXml* element, int class, const char* name, const char* const* words,
                  int otherwise);
const char* cr__mjcf_text(crMjcf* mj, crXml* element, int class, const char* name);
bool cr__mjcf_quat(crMjcf* mj, crXml* element, int class,
                   crQuat* q);                                // quat, axisangle, euler, xyaxes, zaxis
crPose cr__mjcf_pose(crMjcf* mj, crXml* element, int class);  // pos and one of those
double cr__mjcf_angle(const crMjcf* mj, double angle);        // in the compiler's unit, to rad
crQuat cr__mjcf_quat_z(crVec3 axis);                          // turns z onto an axis

// the parts, in the order in which they need each other
void cr__mjcf_assets(crMjcf* mj);
void cr__mjcf_world(crMjcf* mj, crXml* worldbody);
void cr__mjcf_geom(crMjcf* mj, crXml* node, int class, int body, crPose frame, const char* name);
void cr__mjcf_masses(crMjcf* mj);
void cr__mjcf_contacts(crMjcf* mj);
void cr__mjcf_tendons(crMjcf* mj);
void cr__mjcf_actuators(crMjcf* mj);
void cr__mjcf_keyframe(crMjcf* mj);
void cr__mjcf_scene(crMjcf* mj);
void cr__mjcf_control(crMjcf* mj);  // actuators and keyframes into the scene
void cr__mjcf_sites(crMjcf* mj);    // those with a name likewise
void cr__mjcf_sensors(crMjcf* mj);
void cr__mjcf_put_tendons(crMjcf* mj);  // those that are needed
// The name of a site in the scene, which has the site from then on.
const char* cr__mjcf_use_site(crMjcf* mj, crMjcfSite* site, const char* name);
const char* cr__mjcf_site_name(crMjcf* mj, int site);      // in the scene, which has the site then
const char* cr__mjcf_tendon_name(crMjcf* mj, int tendon);  // in the scene

// mjcf_transmission.c
void cr__mjcf_left_out(crMjcf* mj, crXml* node, const char* what);  // a note that an actuator is left out
// False where it is left out, or a name is refused.
bool cr__mjcf_transmission(crMjcf* mj, crXml* node, int class, crMjcfActuator* a);
void cr__mjcf_put_transmission(crMjcf* mj, crJson* to, const crMjcfActuator* a);
void cr__mjcf_equalities(crMjcf* mj);
void cr__mjcf_tendon_ties(crMjcf* mj);

// what the parts share
void cr__mjcf_mark_all(crXml* node);                       // every attribute counts as read
bool cr__mjcf_named(const crXml* node, const char* name);  // by its own attribute
int cr__mjcf_joint_of(crMjcf* mj, crXml* node,
                      const char* attr);  // that an attribute names; -1 where refused
void cr__mjcf_add_spring(crMjcfJoint* j, double stiffness, double rest,
                         double damping);                      // a second one along a joint
int cr__mjcf_find_tendon(const crMjcf* mj, const char* name);  // -1 where there is none
crJson* cr__mjcf_constraint(crMjcf* mj, crXml* node, const char* type, const char* a, const char* b);

// mjcf_soft.c: numbers that soften MuJoCo's constraints
// Marks the attributes that only say how soft a contact or limit is, with a note: it is hard here.
void cr__mjcf_soft(crMjcf* mj, crXml* node, int class, const char* const* attrs);
double cr__mjcf_restitution(const double solref[2]);
// solref of a contact of two geoms of the same priority
void cr__mjcf_mix(const double a[2], const double b[2], double out[2]);
// The ends of a range moved inwards by the attribute margin, where MuJoCo's limits act. A warning, and no change, where
// the ends would meet.
void cr__mjcf_margin(crMjcf* mj, crXml* node, int class, double* lower, double* upper);

// Sum over the joints of a transmission of the inertia along a joint, its armature included, over gear^2, in the reference
// position.
double cr__mjcf_reflected(const crMjcf* mj, const crMjcfActuator* a);

// by name; -1 where there is none
#define CR_MJCF_MAX_FILES 100

// The children of an included file's root in place of every <include> below an element.
void cr__mjcf_splice(crMjcf* mj, crXml* element, int* left);
// The root of another file, its includes in place; NULL where refused. *left files may still be read.
crXml* cr__mjcf_file(crMjcf* mj, crXml* node, const char* file, int* left);
// <attach> below an element replaced by bodies of other models, whose sections go to the end of mj->root.
void cr__mjcf_attach(crMjcf* mj, crXml* element, int* left);
const char* cr__mjcf_base_name(crImporting* im, const char* path);  // without folder and ending
int cr__mjcf_find_body(const crMjcf* mj, const char* name);
int cr__mjcf_find_joint(const crMjcf* mj, const char* name);
int cr__mjcf_find_geom(const crMjcf* mj, const char* name);
int cr__mjcf_find_site(const crMjcf* mj, const char* name);

#endif
