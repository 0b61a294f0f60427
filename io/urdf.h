// urdf.h - what the files that import URDF share: links and joints between the XML and the scene.
#ifndef CAROM_IO_URDF_H
#define CAROM_IO_URDF_H

#include "io/import_parts.h"

typedef struct crUrdfLink {
    crXml* node;
    const char* name;
    const char* out;
    int joint;         // above it, -1 for the root
    double mu[2];      // of <gazebo>: along and across, negative: none
    crVec3 axis;       // of mu[0], in the link's frame
    bool weightless;   // of <gazebo>: turnGravityOff
    char surface[80];  // its material, "" where there is none
    const char* rgba;  // of its first visual, NULL where that has none
} crUrdfLink;

typedef struct crUrdfJoint {
    crXml* node;
    const char* name;
    const char* type;
    int parent, child;
    const char* out;  // its name in the scene, NULL where it has none
    double effort;    // largest, 0: not given
} crUrdfJoint;

typedef struct crUrdf {
    crImporting* im;
    crXml* root;
    int link_count, link_capacity;
    crUrdfLink* links;
    int joint_count, joint_capacity;
    crUrdfJoint* joints;
    crNames names, joint_names, actuator_names;
    crJson* bodies;
} crUrdf;

int cr__urdf_find_link(const crUrdf* r, const char* name);   // -1 where there is none
int cr__urdf_find_joint(const crUrdf* r, const char* name);  // likewise

// urdf_gazebo.c
void cr__urdf_surfaces(crUrdf* r);       // <gazebo> into links and materials
void cr__urdf_transmissions(crUrdf* r);  // <transmission> into actuators

#endif
