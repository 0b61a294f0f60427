// mjcf_find.c - what MJCF calls by name: bodies, joints, geoms, sites and tendons.
//
// Fails: -1, or NULL, where there is none of that name.
#include <string.h>

#include "io/mjcf.h"

static int find_named(const char* wanted, const char* name) {
    return name != NULL && wanted != NULL && strcmp(wanted, name) == 0;
}

int cr__mjcf_find_body(const crMjcf* mj, const char* name) {
    for (int i = 0; i < mj->bodies.count; i++) {
        if (find_named(name, mj->bodies.at[i].name)) return i;
    }
    return -1;
}

int cr__mjcf_find_joint(const crMjcf* mj, const char* name) {
    for (int i = 0; i < mj->joints.count; i++) {
        if (find_named(name, mj->joints.at[i].name)) return i;
    }
    return -1;
}

int cr__mjcf_find_geom(const crMjcf* mj, const char* name) {
    for (int i = 0; i < mj->geoms.count; i++) {
        if (find_named(name, mj->geoms.at[i].name)) return i;
    }
    return -1;
}

int cr__mjcf_find_site(const crMjcf* mj, const char* name) {
    for (int i = 0; i < mj->sites.count; i++) {
        if (find_named(name, mj->sites.at[i].name)) return i;
    }
    return -1;
}

int cr__mjcf_find_tendon(const crMjcf* mj, const char* name) {
    for (int i = 0; i < mj->tendons.count; i++) {
        if (mj->tendons.at[i].name != NULL && strcmp(mj->tendons.at[i].name, name) == 0) return i;
    }
    return -1;
}
