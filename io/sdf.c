// sdf.c - SDF worlds and models into a scene: the world, its models, and what is refused.
//
// Pose of a model in the world, of links in the model (sdf_frames.c); joints make trees, what closes a loop
// becomes a constraint; links of one model do not meet unless self_collide says so. Masses default to 1 kg and
// 1 kg m^2, as in the specification (sdformat.org, 1.11). Included files come first (sdf_include.c). Fails: by
// element.
#include "io/sdf.h"

#include <string.h>

static const char* const ignored_elements[] = {
    "laser_retro",    "max_contacts", "light",     "scene",      "gui",
    "sensor",         "audio",        "road",      "material",   "spherical_coordinates",
    "magnetic_field", "atmosphere",   "projector", "population", NULL};
static const char* const ignored_attrs[] = {"default", "type", NULL};

static void read_settings_sdf(crSdfWorld* w, crXml* world) {
    crImporting* im = w->im;
    crTree* tree = &im->tree;
    double g[3] = {0.0, 0.0, -9.8}, dt = 0.001;
    crXml* physics = cr__used_child(world, "physics");
    if (physics != NULL) {
        // of another solver and of the clock on the wall
        static const char* const others[] = {
            "real_time_factor", "real_time_update_rate", "max_contacts", "ode", "bullet", "dart", "simbody"};
        cr__sdf_numbers(im, physics, "max_step_size", 1, 1, &dt);
        for (int i = 0; i < 7; i++) {
            crXml* other = cr_xml_child(physics, others[i]);
            if (other == NULL) continue;
            cr__import_note(im, CR_NOTE_IGNORED, other, NULL, "<%s> steers another solver", other->name);
            other->used = true;
            other->child = NULL;
        }
    }
    // systems of Gazebo: its solver, its windows
    for (crXml* child = world->child; child != NULL; child = child->next) {
        if (strcmp(child->name, "plugin") != 0) continue;
        cr__import_note(im, CR_NOTE_IGNORED, child, NULL, "<plugin> of a world steers Gazebo");
        child->used = true;
        child->child = NULL;
        child->attrs = NULL;
    }
    cr__sdf_numbers(im, world, "gravity", 3, 3, g);
    cr_tree_vector(tree, tree->doc->root, "gravity", cr_vec3(g[0], g[1], g[2]));
    cr_tree_number(tree, cr_tree_object(tree, tree->doc->root, "step"), "dt", dt);
}

// models and frames of the world, in any order: places first
static void read_models(crSdfWorld* w, crXml* parent) {
    const crSdfScope top = {"", NULL};
    crImporting* im = w->im;
    for (crXml* node = parent->child; node != NULL && cr__import_ok(im); node = node->next) {
        bool frame = strcmp(node->name, "frame") == 0;
        if (!frame && strcmp(node->name, "model") != 0) continue;
        node->used = true;
        const char* to = frame ? cr__attr_text(node, "attached_to") : NULL;
        cr__sdf_add_frame(im, &w->frames, node, top, to != NULL && *to != '\0' ? to : NULL);
    }
    cr__sdf_resolve(im, &w->frames);
    for (int i = 0; i < w->frames.frame_count && cr__import_ok(im); i++) {
        const crSdfFrame* frame = &w->frames.frames[i];
        if (strcmp(frame->node->name, "model") == 0) cr__sdf_model(w, frame->node, frame->pose);
    }
}

void cr__import_sdf(crImporting* im, crXml* root) {
    crSdfWorld w = {.im = im};
    crTree* tree = &im->tree;
    cr__attr_text(root, "version");
    crXml* world = cr__used_child(root, "world");
    crXml* top = world != NULL ? world : root;
    int left = 100;
    cr__sdf_include(im, top, &left);
    cr__tree_head(im);
    read_settings_sdf(&w, top);
    w.bodies = cr_tree_list(tree, tree->doc->root, "bodies");
    read_models(&w, top);
    if (cr__import_ok(im)) cr__sdf_materials(&w);
    cr__import_leftovers(im, root, ignored_elements, ignored_attrs);
}
