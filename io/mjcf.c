// mjcf.c - MuJoCo's MJCF into a scene: includes, compiler, options, defaults, then bodies and what ties them.
//
// The meaning of elements is that of MuJoCo's "XML Reference" (version 3), local coordinates only. A body with
// several joints becomes a chain of bodies without mass that ends in the one with it. MJCF knows no
// restitution: e is 0 unless the scene is given another. Contacts and constraints are hard here, so the
// numbers that soften them (solref, solimp, margin) are notes. Fails: see import.h.
#include <math.h>
#include <string.h>

#include "io/mjcf.h"

#define MOST_CLASSES 1000

static const char* const cosmetic_elements[] = {
    "visual", "statistic", "light", "camera", "texture", "custom", "size", "skin", "layer", "material", NULL};
// every element of MJCF, understood or not
static const char* const schema[] = {"accelerometer",
                                     "actuator",
                                     "actuatorfrc",
                                     "actuatorpos",
                                     "actuatorvel",
                                     "adhesion",
                                     "asset",
                                     "attach",
                                     "ballangvel",
                                     "ballquat",
                                     "body",
                                     "bone",
                                     "camera",
                                     "camprojection",
                                     "clock",
                                     "collision",
                                     "compiler",
                                     "composite",
                                     "config",
                                     "connect",
                                     "contact",
                                     "custom",
                                     "cylinder",
                                     "damper",
                                     "dcmotor",
                                     "default",
                                     "deformable",
                                     "distance",
                                     "e_kinetic",
                                     "e_potential",
                                     "edge",
                                     "elasticity",
                                     "element",
                                     "equality",
                                     "exclude",
                                     "extension",
                                     "fixed",
                                     "flag",
                                     "flex",
                                     "flexcomp",
                                     "flexstrain",
                                     "flexvert",
                                     "force",
                                     "frame",
                                     "frameangacc",
                                     "frameangvel",
                                     "framelinacc",
                                     "framelinvel",
                                     "framepos",
                                     "framequat",
                                     "framexaxis",
                                     "frameyaxis",
                                     "framezaxis",
                                     "freejoint",
                                     "fromto",
                                     "general",
                                     "geom",
                                     "global",
                                     "gyro",
                                     "headlight",
                                     "hfield",
                                     "include",
                                     "inertial",
                                     "insidesite",
                                     "instance",
                                     "intvelocity",
                                     "joint",
                                     "jointactuatorfrc",
                                     "jointlimitfrc",
                                     "jointlimitpos",
                                     "jointlimitvel",
                                     "jointpos",
                                     "jointvel",
                                     "key",
                                     "keyframe",
                                     "layer",
                                     "lengthrange",
                                     "light",
                                     "magnetometer",
                                     "map",
                                     "material",
                                     "mesh",
                                     "model",
                                     "motor",
                                     "mujoco",
                                     "muscle",
                                     "normal",
                                     "numeric",
                                     "option",
                                     "pair",
                                     "pin",
                                     "plugin",
                                     "plugindir",
                                     "position",
                                     "pulley",
                                     "quality",
                                     "rangefinder",
                                     "replicate",
                                     "rgba",
                                     "scale",
                                     "sensor",
                                     "site",
                                     "size",
                                     "skin",
                                     "spatial",
                                     "statistic",
                                     "subtreeangmom",
                                     "subtreecom",
                                     "subtreelinvel",
                                     "tactile",
                                     "tendon",
                                     "tendonactuatorfrc",
                                     "tendonlimitfrc",
                                     "tendonlimitpos",
                                     "tendonlimitvel",
                                     "tendonpos",
                                     "tendonvel",
                                     "text",
                                     "texture",
                                     "torque",
                                     "touch",
                                     "tuple",
                                     "user",
                                     "velocimeter",
                                     "velocity",
                                     "vertex",
                                     "visual",
                                     "weld",
                                     "worldbody",
                                     NULL};
static const char* const cosmetic_attrs[] = {"rgba",
                                             "material",
                                             "user",
                                             "group",
                                             "class",
                                             "width",
                                             "integrator",
                                             "solver",
                                             "iterations",
                                             "tolerance",
                                             "ls_iterations",
                                             "ls_tolerance",
                                             "noslip_iterations",
                                             "ccd_iterations",
                                             "cone",
                                             "jacobian",
                                             "apirate",
                                             "impratio",
                                             "texturedir",
                                             "strippath",
                                             "fusestatic",
                                             "discardvisual",
                                             "exactmeshinertia",
                                             "noslip_tolerance",
                                             "mpr_iterations",
                                             "mpr_tolerance",
                                             "ccd_tolerance",
                                             "sdf_iterations",
                                             "sdf_initpoints",
                                             "usethread",
                                             "memory",
                                             "njmax",
                                             "nconmax",
                                             "magnetic",
                                             "fitscale",
                                             "convexhull",
                                             "actuatorgravcomp",
                                             "smoothnormal",
                                             "texcoord",
                                             "normal",
                                             "maxhullvert",
                                             "saveinertial",
                                             "sleep_tolerance",
                                             NULL};

#define HARD   ": contacts, limits and constraints are hard"
#define STARTS ": what it widens begins to act at zero distance"
#define MEDIUM ": bodies move in a vacuum"
static const char* const effects[] = {"solref",
                                      HARD,
                                      "solimp",
                                      HARD,
                                      "solreflimit",
                                      HARD,
                                      "solimplimit",
                                      HARD,
                                      "solreffriction",
                                      HARD,
                                      "solimpfriction",
                                      HARD,
                                      "margin",
                                      STARTS,
                                      "gap",
                                      STARTS,
                                      "wind",
                                      MEDIUM,
                                      "density",
                                      MEDIUM,
                                      "viscosity",
                                      MEDIUM,
                                      "fluidshape",
                                      MEDIUM,
                                      "fluidcoef",
                                      MEDIUM,
                                      "torquescale",
                                      ": turning is held as firmly as moving",
                                      NULL};

static void read_compiler(crMjcf* mj, crXml* node) {
    static const char* const angles[] = {"degree", "radian", NULL};
    static const char* const coordinates[] = {"local", NULL};
    static const char* const inertias[] = {"false", "true", "auto", NULL};
    crMjcfCompiler* c = &mj->compiler;
    crImporting* im = mj->im;
    node->used = true;
    cr__mjcf_word(mj, node, -1, "coordinate", coordinates, 0);
    c->radian = cr__mjcf_word(mj, node, -1, "angle", angles, c->radian) == 1;
    c->autolimits = cr__mjcf_flag(mj, node, -1, "autolimits", c->autolimits);
    c->inertiafromgeom = cr__mjcf_word(mj, node, -1, "inertiafromgeom", inertias, c->inertiafromgeom);
    c->balanceinertia = cr__mjcf_flag(mj, node, -1, "balanceinertia", c->balanceinertia);
    c->boundmass = cr__mjcf_number(mj, node, -1, "boundmass", c->boundmass);
    c->boundinertia = cr__mjcf_number(mj, node, -1, "boundinertia", c->boundinertia);
    c->settotalmass = cr__mjcf_number(mj, node, -1, "settotalmass", c->settotalmass);
    double range[2];
    if (cr__mjcf_numbers(mj, node, -1, "inertiagrouprange", 2, 2, range)) {
        c->group_low = (int)fmax(-1e6, fmin(1e6, range[0]));
        c->group_high = (int)fmax(-1e6, fmin(1e6, range[1]));
    }
    const char* seq = cr__mjcf_text(mj, node, -1, "eulerseq");
    if (seq != NULL && (strlen(seq) != 3 || strspn(seq, "xyzXYZ") != 3)) {
        cr__import_refuse(im, node, cr_xml_attr(node, "eulerseq"), CR_ERR_NAME, "must be three of xyzXYZ");
    } else if (seq != NULL) {
        memcpy(c->eulerseq, seq, sizeof c->eulerseq);
    }
    const char* assets = cr__mjcf_text(mj, node, -1, "assetdir");
    const char* meshes = cr__mjcf_text(mj, node, -1, "meshdir");
    if (assets != NULL) c->meshdir = assets;
    if (meshes != NULL) c->meshdir = meshes;
}

static void read_flags(crMjcf* mj, crXml* node) {
    static const char* const states[] = {"disable", "enable", NULL};
    crMjcfOption* o = &mj->option;
    struct {
        const char* name;
        bool* flag;
    } flags[] = {{"contact", &o->contact},           {"limit", &o->limit},
                 {"frictionloss", &o->frictionloss}, {"equality", &o->equality},
                 {"passive", &o->passive},           {"actuation", &o->actuation},
                 {"filterparent", &o->filterparent}};
    // of solvers, sensors and time steps
    static const char* const others[] = {"warmstart", "refsafe", "sensor", "midphase",  "eulerdamp",
                                         "island",    "energy",  "fwdinv", "autoreset", "nativeccd",
                                         "multiccd",  "sleep",   NULL};
    node->used = true;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        *flags[i].flag = cr__mjcf_word(mj, node, -1, flags[i].name, states, *flags[i].flag) == 1;
    }
    for (int i = 0; others[i] != NULL; i++) {
        if (cr__mjcf_attr(mj, node, -1, others[i]) != NULL)
            cr__import_note(mj->im, CR_NOTE_IGNORED, node, cr_xml_attr(node, others[i]),
                            "<flag> %s steers another solver", others[i]);
    }
    if (cr__mjcf_word(mj, node, -1, "gravity", states, 1) == 0) o->gravity = cr_vec3(0, 0, 0);
    if (cr__mjcf_word(mj, node, -1, "constraint", states, 1) == 0)
        o->contact = o->limit = o->frictionloss = o->equality = false;
    if (!o->filterparent)
        cr__import_note(mj->im, CR_NOTE_UNSUPPORTED, node, cr_xml_attr(node, "filterparent"),
                        "<flag> filterparent: a body and its parent never touch here");
}

static void read_option(crMjcf* mj, crXml* node) {
    // what a medium does, where there is one
    static const char* const medium[] = {"density", "viscosity", NULL};
    node->used = true;
    double g[3];
    mj->option.timestep = cr__mjcf_number(mj, node, -1, "timestep", mj->option.timestep);
    if (cr__mjcf_numbers(mj, node, -1, "gravity", 3, 3, g)) mj->option.gravity = cr_vec3(g[0], g[1], g[2]);
    for (int i = 0; medium[i] != NULL; i++) {
        crXmlAttr* attr = cr_xml_attr(node, medium[i]);
        if (attr != NULL && cr__mjcf_number(mj, node, -1, medium[i], 0.0) == 0.0) continue;
        if (attr != NULL) attr->used = false;
    }
}

// the option's flags come after all options
static void read_settings(crMjcf* mj) {
    for (crXml* node = mj->root->child; node != NULL; node = node->next) {
        if (strcmp(node->name, "compiler") == 0) read_compiler(mj, node);
        if (strcmp(node->name, "option") == 0) read_option(mj, node);
    }
    for (crXml* node = mj->root->child; node != NULL; node = node->next) {
        if (strcmp(node->name, "option") != 0) continue;
        for (crXml* flag = node->child; flag != NULL; flag = flag->next) {
            if (strcmp(flag->name, "flag") == 0) read_flags(mj, flag);
        }
    }
}

// defaults may never be used by an element: what the importer knows is marked here
static void mark_known(crXml* node) {
    static const char* const known[] = {
        "type",        "size",         "pos",        "quat",         "axisangle",    "euler",
        "xyaxes",      "zaxis",        "fromto",     "mass",         "density",      "contype",
        "conaffinity", "condim",       "priority",   "friction",     "mesh",         "hfield",
        "axis",        "limited",      "range",      "ref",          "stiffness",    "springref",
        "damping",     "frictionloss", "armature",   "scale",        "refpos",       "refquat",
        "kp",          "kv",           "gear",       "active",       "shellinertia", "ctrllimited",
        "ctrlrange",   "forcelimited", "forcerange", "inheritrange", "dyntype",      "gaintype",
        "biastype",    "gainprm",      "biasprm",    "dynprm",       "fromto",       NULL};
    for (int i = 0; known[i] != NULL; i++) {
        crXmlAttr* attr = cr_xml_attr(node, known[i]);
        if (attr != NULL) attr->used = true;
    }
}

static void read_defaults(crMjcf* mj, crXml* node, int parent) {
    static const char* const tags[] = {"geom",   "joint",    "site",     "mesh",    "pair",   "equality",
                                       "motor",  "position", "velocity", "general", "tendon", "intvelocity",
                                       "damper", "cylinder", "adhesion", NULL};
    crImporting* im = mj->im;
    node->used = true;
    crXmlAttr* name = cr_xml_attr(node, "class");
    if (name != NULL) name->used = true;
    crMjcfClass* all = cr__import_grow(im, mj->classes.at, mj->classes.count, &mj->classes.capacity,
                                       sizeof *all, MOST_CLASSES, node);
    if (all == NULL) return;
    mj->classes.at = all;
    int own = mj->classes.count++;
    // the first class of the top is the main one, whatever it is called; an attached model has its own
    bool main = parent < 0 && cr__attr_text(node, "attached") == NULL;
    all[own] = (crMjcfClass){main && own > 0 ? all[0].name
                             : name != NULL  ? name->value
                                             : "main",
                             parent, node};
    if (!main && name == NULL) cr__import_refuse(im, node, NULL, CR_ERR_MISSING, "needs the attribute class");
    for (crXml* child = node->child; child != NULL && cr__import_ok(im); child = child->next) {
        if (strcmp(child->name, "default") == 0) read_defaults(mj, child, own);
        for (int i = 0; tags[i] != NULL; i++) {
            if (strcmp(child->name, tags[i]) != 0) continue;
            child->used = true;
            mark_known(child);
        }
    }
}

static void read_all_mjcf(crMjcf* mj) {
    read_settings(mj);
    for (crXml* node = mj->root->child; node != NULL && cr__import_ok(mj->im); node = node->next) {
        if (strcmp(node->name, "default") == 0 && cr_xml_attr(node, "attached") == NULL)
            read_defaults(mj, node, -1);
    }
    // elements without a class fall back on the first: there must be one
    if (mj->classes.count == 0) {
        crXml* none = cr__import_alloc(mj->im, sizeof *none);
        mj->classes.at = cr__import_alloc(mj->im, sizeof *mj->classes.at);
        if (none == NULL || mj->classes.at == NULL) return;
        *none = (crXml){.name = "default", .text = "", .file = mj->root->file};
        mj->classes.at[mj->classes.count++] = (crMjcfClass){"main", -1, none};
        mj->classes.capacity = 1;
    }
    for (crXml* node = mj->root->child; node != NULL && cr__import_ok(mj->im); node = node->next) {
        if (strcmp(node->name, "default") == 0 && cr_xml_attr(node, "attached") != NULL)
            read_defaults(mj, node, -1);
    }
    cr__mjcf_assets(mj);
    for (crXml* node = mj->root->child; node != NULL && cr__import_ok(mj->im); node = node->next) {
        if (strcmp(node->name, "worldbody") == 0) cr__mjcf_world(mj, node);
    }
    cr__mjcf_world(mj, NULL);
    cr__mjcf_masses(mj);
    cr__mjcf_contacts(mj);
    cr__mjcf_tendons(mj);
    if (cr__import_ok(mj->im)) cr__mjcf_actuators(mj);
    cr__mjcf_keyframe(mj);
    if (cr__import_ok(mj->im)) cr__mjcf_scene(mj);
    if (cr__import_ok(mj->im)) cr__mjcf_equalities(mj);
    if (cr__import_ok(mj->im)) cr__mjcf_tendon_ties(mj);
    if (cr__import_ok(mj->im)) cr__mjcf_sites(mj);
    if (cr__import_ok(mj->im)) cr__mjcf_control(mj);
    if (cr__import_ok(mj->im)) cr__mjcf_sensors(mj);
    if (cr__import_ok(mj->im)) cr__mjcf_put_tendons(mj);
}

void cr__import_mjcf(crImporting* im, crXml* root) {
    crMjcf mj = {.im = im, .root = root};
    int left = CR_MJCF_MAX_FILES;
    mj.compiler =
        (crMjcfCompiler){.autolimits = true, .eulerseq = "xyz", .inertiafromgeom = 2, .group_high = 5};
    mj.compiler.settotalmass = -1.0;
    mj.compiler.meshdir = "";
    mj.option = (crMjcfOption){.timestep = 0.002, .gravity = {0.0, 0.0, -9.81}};
    mj.option.contact = mj.option.limit = mj.option.frictionloss = mj.option.equality = true;
    mj.option.passive = mj.option.actuation = mj.option.filterparent = true;
    cr__mjcf_splice(&mj, root, &left);
    cr__mjcf_attach(&mj, root, &left);
    if (cr__import_ok(im)) read_all_mjcf(&mj);
    im->schema = schema;
    im->effects = effects;
    cr__import_leftovers(im, root, cosmetic_elements, cosmetic_attrs);
}
