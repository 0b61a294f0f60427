// mjcf_find.c - what MJCF calls by name: bodies, joints, geoms, sites and tendons.
//
// Fails: -1, or NULL, where there is none of that name.
#include <string.h>

#include "io/mjcf.h"

static int find_named(const char* wanted, const char* name) {
    return name != NULL && wanted != NULL && strcmp(wanted, name) == 0;
}

int cr__mjcf_find_body(const crMjcf* mj, const char* name) {
    for (int i = 0; i < mj->body_count; i++) {
        if (find_named(name, mj->bodies[i].name)) return i;
    }
    return -1;
}

int cr__mjcf_find_joint(const crMjcf* mj, const char* name) {
    for (int i = 0; i < mj->joint_count; i++) {
        if (find_named(name, mj->joints[i].name)) return i;
    }
    return -1;
}

int cr__mjcf_find_geom(const crMjcf* mj, const char* name) {
    for (int i = 0; i < mj->geom_count; i++) {
        if (find_named(name, mj->geoms[i].name)) return i;
    }
    return -1;
}

int cr__mjcf_find_site(const crMjcf* mj, const char* name) {
    for (int i = 0; i < mj->site_count; i++) {
        if (find_named(name, mj->sites[i].name)) return i;
    }
    return -1;
}

int cr__mjcf_find_tendon(const crMjcf* mj, const char* name) {
    for (int i = 0; i < mj->tendon_count; i++) {
        if (mj->tendons[i].name != NULL && strcmp(mj->tendons[i].name, name) == 0) return i;
    }
    return -1;
}
