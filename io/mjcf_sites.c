// mjcf_sites.c - sites of MJCF in the scene, each once, by its name.
//
// Fails: nothing but memory, which sticks to the import.
#include "io/mjcf.h"

#define MOST_SITES 20000

static const char* const shapes[] = {"", "", "sphere", "capsule", "ellipsoid", "cylinder", "box"};

static void put_site(crMjcf* mj, crJson* list, const crMjcfSite* site) {
    crTree* tree = &mj->im->tree;
    cr__tree_at(mj->im, site->node);
    crJson* to = cr_tree_object(tree, list, NULL);
    cr_tree_text(tree, to, "name", site->out);
    const crMjcfBody* body = &mj->bodies.at[site->body];
    crPose pose = body->weld == 0 ? cr_pose_mul(body->world, site->pose) : site->pose;
    if (body->weld != 0) cr_tree_text(tree, to, "body", body->out);
    cr__tree_pose(mj->im, to, pose);
    bool box = site->kind == CR_MJCF_BOX,
         round = site->kind == CR_MJCF_CAPSULE || site->kind == CR_MJCF_CYLINDER;
    cr_tree_text(tree, to, "type", shapes[site->kind]);
    if (box) cr_tree_numbers(tree, to, "half", site->size, 3);
    if (site->kind == CR_MJCF_ELLIPSOID) cr_tree_numbers(tree, to, "radii", site->size, 3);
    if (round || site->kind == CR_MJCF_SPHERE) cr_tree_number(tree, to, "r", site->size[0]);
    if (round) cr_tree_number(tree, to, "half", site->size[1]);
}

const char* cr__mjcf_use_site(crMjcf* mj, crMjcfSite* site, const char* name) {
    if (site->out != NULL) return site->out;
    site->out = cr__import_name(mj->im, &mj->site_names, site->node, name);
    if (mj->site_list == NULL) mj->site_list = cr_tree_list(&mj->im->tree, mj->im->tree.doc->root, "sites");
    put_site(mj, mj->site_list, site);
    return site->out;
}

const char* cr__mjcf_site_name(crMjcf* mj, int site) {
    return cr__mjcf_use_site(mj, &mj->sites.at[site], mj->sites.at[site].name);
}

void cr__mjcf_sites(crMjcf* mj) {
    int count = 0;
    for (int i = 0; i < mj->sites.count && cr__import_ok(mj->im); i++) {
        crMjcfSite* site = &mj->sites.at[i];
        if (site->name == NULL || *site->name == '\0' || ++count > MOST_SITES / 2) continue;
        cr__mjcf_use_site(mj, site, site->name);
    }
}
