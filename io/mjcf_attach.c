// mjcf_attach.c - <attach>: a body of another model, with all that belongs to it, in this one.
//
// <model> names a file, <attach> puts one of its bodies (or all of them) in the place where it stands. Names and classes
// of the other model get the prefix; its defaults stand alone, under its own main class. Actuators, tendons, sensors,
// equalities and contacts come along where everything they name came along. Options are those of this model; so are the
// settings of the compiler, and a model whose angles mean something else is refused. Fails: by element.
#include <string.h>

#include "io/mjcf.h"

// attributes that name something, and the elements that have the name; "": any or none that is in a body
typedef struct Reference {
    const char* attr;
    const char* tags[3];
} Reference;
static const Reference references[] = {{"joint", {"joint", "freejoint"}},
                                       {"joint1", {"joint"}},
                                       {"joint2", {"joint"}},
                                       {"jointinparent", {"joint"}},
                                       {"body", {"body"}},
                                       {"body1", {"body"}},
                                       {"body2", {"body"}},
                                       {"geom", {"geom"}},
                                       {"geom1", {"geom"}},
                                       {"geom2", {"geom"}},
                                       {"site", {"site"}},
                                       {"site1", {"site"}},
                                       {"site2", {"site"}},
                                       {"refsite", {"site"}},
                                       {"slidersite", {"site"}},
                                       {"cranksite", {"site"}},
                                       {"sidesite", {"site"}},
                                       {"tendon", {"fixed", "spatial"}},
                                       {"tendon1", {"fixed", "spatial"}},
                                       {"tendon2", {"fixed", "spatial"}},
                                       {"objname", {"body", "site", "geom"}},
                                       {"refname", {"body", "site", "geom"}}};
#define REFERENCES ((int)(sizeof references / sizeof *references))
static const char* const named[] = {"name",     "class",   "childclass", "mesh",   "hfield",
                                    "material", "texture", "actuator",   "target", NULL};

typedef struct Attaching {
    crMjcf* mj;
    const char* prefix;
    const char* main;    // the class of elements that have none
    const char* folder;  // of its meshes, ending with a slash or ""
} Attaching;

static void give_attr(Attaching* a, crXml* node, const char* name, const char* value) {
    crXmlAttr* attr = cr_xml_attr(node, name);
    if (attr == NULL) {
        attr = cr__import_alloc(a->mj->im, sizeof *attr);
        if (attr == NULL) return;
        *attr = (crXmlAttr){.name = name, .line = node->line, .column = node->column, .next = node->attrs};
        node->attrs = attr;
    }
    attr->value = value != NULL ? value : "";
}

static void add_prefix(Attaching* a, crXml* node) {
    for (crXmlAttr* attr = node->attrs; attr != NULL; attr = attr->next) {
        bool names = false;
        for (int i = 0; named[i] != NULL; i++) {
            names = names || strcmp(attr->name, named[i]) == 0;
        }
        for (int i = 0; i < REFERENCES; i++) {
            names = names || strcmp(attr->name, references[i].attr) == 0;
        }
        const char* longer = names ? cr__import_format(a->mj->im, "%s%s", a->prefix, attr->value) : NULL;
        if (longer != NULL) attr->value = longer;
    }
    for (crXml* child = node->child; child != NULL; child = child->next) {
        add_prefix(a, child);
    }
}

// an element of this name in a tree
static crXml* find_element(crXml* node, const char* const tags[3], const char* name) {
    for (crXml* child = node->child; child != NULL; child = child->next) {
        const crXmlAttr* own = cr_xml_attr(child, "name");
        for (int i = 0; i < 3 && tags[i] != NULL && own != NULL; i++) {
            if (strcmp(child->name, tags[i]) == 0 && strcmp(own->value, name) == 0) return child;
        }
        crXml* found = find_element(child, tags, name);
        if (found != NULL) return found;
    }
    return NULL;
}

// Whether all that an element names is below `kept` or, of tendons, in the root.
static bool comes_along(crXml* node, crXml* kept, crXml* root) {
    for (int i = 0; i < REFERENCES; i++) {
        const crXmlAttr* attr = cr_xml_attr(node, references[i].attr);
        if (attr == NULL || strcmp(attr->value, "world") == 0) continue;
        bool tendon = strcmp(references[i].tags[0], "fixed") == 0;
        if (find_element(tendon ? root : kept, references[i].tags, attr->value) == NULL) return false;
    }
    const crXmlAttr* actuator = cr_xml_attr(node, "actuator");
    if (actuator != NULL) {
        crXml* all = cr_xml_child(root, "actuator");
        bool found = false;
        for (crXml* a = all != NULL ? all->child : NULL; a != NULL; a = a->next) {
            const crXmlAttr* own = cr_xml_attr(a, "name");
            found = found || (own != NULL && strcmp(own->value, actuator->value) == 0);
        }
        if (!found) return false;
    }
    for (crXml* child = node->child; child != NULL; child = child->next) {
        if (!comes_along(child, kept, root)) return false;
    }
    return true;
}

static void drop_strangers(crXml* root, crXml* kept) {
    // in the order in which they name each other
    static const char* const sections[] = {"tendon", "actuator", "equality", "contact", "sensor", NULL};
    for (int i = 0; sections[i] != NULL; i++) {
        for (crXml* section = root->child; section != NULL; section = section->next) {
            if (strcmp(section->name, sections[i]) != 0) continue;
            for (crXml** slot = &section->child; *slot != NULL;) {
                if (comes_along(*slot, kept, root)) {
                    slot = &(*slot)->next;
                } else {
                    *slot = (*slot)->next;
                }
            }
        }
    }
}

static void name_assets(Attaching* a, crXml* section) {
    for (crXml* asset = section->child; asset != NULL; asset = asset->next) {
        const crXmlAttr* file = cr_xml_attr(asset, "file");
        if (file == NULL || strcmp(asset->name, "model") == 0) continue;
        if (cr_xml_attr(asset, "name") == NULL)
            give_attr(a, asset, "name", cr__mjcf_base_name(a->mj->im, file->value));
        // an asset of a model that this one attached knows its folder already
        if (*file->value != '/' && cr_xml_attr(asset, "from") == NULL) give_attr(a, asset, "from", a->folder);
    }
}

// elements that have no class get the other model's own main one
static void name_classes(Attaching* a, crXml* section) {
    for (crXml* node = section->child; node != NULL; node = node->next) {
        bool plain = strcmp(node->name, "exclude") == 0 || strcmp(node->name, "model") == 0;
        if (!plain && cr_xml_attr(node, "class") == NULL) give_attr(a, node, "class", a->main);
    }
}

// sections of the other model behind those of this one
static void append_sections(Attaching* a, crXml* root) {
    static const char* const sections[] = {"asset",   "tendon", "actuator", "equality",
                                           "contact", "sensor", NULL};
    crXml* to = a->mj->root;
    bool defaults = false;
    for (crXml *node = root->child, *next; node != NULL; node = next) {
        next = node->next;
        int which = 0;
        while (sections[which] != NULL && strcmp(sections[which], node->name) != 0) {
            which++;
        }
        bool own = strcmp(node->name, "default") == 0;
        if (strcmp(node->name, "keyframe") == 0)
            cr__import_note(a->mj->im, CR_NOTE_IGNORED, node, NULL, "<keyframe> of an attached model");
        if (!own && sections[which] == NULL) continue;
        if (own) {
            const crXmlAttr* name = cr_xml_attr(node, "class");
            give_attr(a, node, "class", name != NULL ? name->value : a->main);
            give_attr(a, node, "attached", "true");
            defaults = defaults || strcmp(cr_xml_attr(node, "class")->value, a->main) == 0;
        } else if (which < 5) {
            name_classes(a, node);
        }
        node->next = NULL;
        node->parent = to;
        crXml** end = &to->child;
        while (*end != NULL) {
            end = &(*end)->next;
        }
        *end = node;
    }
    if (defaults) return;
    crXml* none = cr__import_alloc(a->mj->im, sizeof *none);
    if (none == NULL) return;
    *none = (crXml){.name = "default", .text = "", .file = root->file, .parent = to, .next = to->child};
    give_attr(a, none, "class", a->main);
    give_attr(a, none, "attached", "true");
    to->child = none;
}

static const char* compiler_word(const crXml* root, const char* attr, const char* otherwise) {
    const char* word = otherwise;
    for (const crXml* node = root->child; node != NULL; node = node->next) {
        const crXmlAttr* given = strcmp(node->name, "compiler") == 0 ? cr_xml_attr(node, attr) : NULL;
        if (given != NULL) word = given->value;
    }
    return word;
}

static bool means_the_same(crMjcf* mj, const crXml* node, const crXml* root) {
    static const char* const words[][2] = {
        {"angle", "degree"}, {"eulerseq", "xyz"}, {"autolimits", "true"}, {"inertiafromgeom", "auto"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char* here = compiler_word(mj->root, words[i][0], words[i][1]);
        const char* there = compiler_word(root, words[i][0], words[i][1]);
        if (strcmp(here, there) == 0) continue;
        cr__import_refuse(mj->im, node, NULL, CR_ERR_NAME,
                          "%s of the compiler is \"%.20s\" in the attached model and \"%.20s\" in this one",
                          words[i][0], there, here);
        return false;
    }
    return true;
}

// the main class of a model, by its own name
static const char* main_class(Attaching* a, const crXml* root) {
    const crXml* top = root->child;
    while (top != NULL && (strcmp(top->name, "default") != 0 || cr_xml_attr(top, "attached") != NULL)) {
        top = top->next;
    }
    const crXmlAttr* name = top != NULL ? cr_xml_attr(top, "class") : NULL;
    return cr__import_format(a->mj->im, "%s%s", a->prefix, name != NULL ? name->value : "main");
}

static const char* folder_of(Attaching* a, const crXml* root, const char* file) {
    const char* slash = strrchr(file, '/');
    const char* dir = compiler_word(root, "meshdir", compiler_word(root, "assetdir", ""));
    const char* end = *dir == '\0' || dir[strlen(dir) - 1] == '/' ? "" : "/";
    int length = slash != NULL && *dir != '/' ? (int)(slash - file) + 1 : 0;
    return cr__import_format(a->mj->im, "%.*s%s%s", length, file, dir, end);
}

static crXml* model_of(crMjcf* mj, crXml* node, int* left, const char** file) {
    const char* model = cr__need_text(mj->im, node, "model");
    static const char* const tags[3] = {"model"};
    crXml* asset = NULL;
    for (crXml* section = mj->root->child; section != NULL && asset == NULL; section = section->next) {
        if (strcmp(section->name, "asset") == 0) asset = find_element(section, tags, model);
    }
    // a model without a name has that of its file
    for (crXml* section = mj->root->child; section != NULL && asset == NULL; section = section->next) {
        for (crXml* c = section->child; c != NULL && asset == NULL; c = c->next) {
            const crXmlAttr* path = strcmp(c->name, "model") == 0 ? cr_xml_attr(c, "file") : NULL;
            if (path == NULL || cr_xml_attr(c, "name") != NULL) continue;
            if (strcmp(cr__mjcf_base_name(mj->im, path->value), model) == 0) asset = c;
        }
    }
    if (asset == NULL) {
        cr__import_refuse(mj->im, node, cr_xml_attr(node, "model"), CR_ERR_NAME,
                          "no model is called \"%.60s\"", model);
        return NULL;
    }
    asset->used = true;
    cr__attr_text(asset, "name");
    *file = cr__need_text(mj->im, asset, "file");
    return cr__mjcf_file(mj, asset, *file, left);
}

// models that an attached one names lie beside it
static void move_models(Attaching* a, crXml* root, const char* file) {
    const char* slash = strrchr(file, '/');
    for (crXml* section = root->child; section != NULL; section = section->next) {
        for (crXml* asset = section->child; asset != NULL; asset = asset->next) {
            const crXmlAttr* own = strcmp(asset->name, "model") == 0 ? cr_xml_attr(asset, "file") : NULL;
            if (own == NULL || *own->value == '/' || slash == NULL) continue;
            give_attr(a, asset, "file",
                      cr__import_format(a->mj->im, "%.*s%s", (int)(slash - file) + 1, file, own->value));
        }
    }
}

// what is put in the place of <attach>: a frame with a class of its own
static void attach_bodies(Attaching* a, crXml* node, crXml* root, const char* body) {
    static const char* const tags[3] = {"body"};
    crXml* world = cr_xml_child(root, "worldbody");
    crXml* found = world != NULL && body != NULL ? find_element(world, tags, body) : NULL;
    if (world == NULL || (body != NULL && found == NULL)) {
        cr__import_refuse(a->mj->im, node, cr_xml_attr(node, "body"), CR_ERR_NAME,
                          "the model has no body \"%.60s\"", body != NULL ? body : "world");
        return;
    }
    if (found != NULL) {
        found->next = NULL;
        world->child = found;
        drop_strangers(root, world);
    }
    for (crXml* section = root->child; section != NULL; section = section->next) {
        if (strcmp(section->name, "asset") == 0) name_assets(a, section);
    }
    const char* main = a->main;
    add_prefix(a, root);
    append_sections(a, root);
    node->name = "frame";
    node->attrs = NULL;
    give_attr(a, node, "childclass", main);
    node->child = world->child;
    for (crXml* child = node->child; child != NULL; child = child->next) {
        child->parent = node;
    }
}

static void attach_one(crMjcf* mj, crXml* node, int* left) {
    Attaching a = {.mj = mj, .prefix = cr__attr_text(node, "prefix")};
    const char* file = NULL;
    if (a.prefix == NULL) a.prefix = "";
    crXml* root = model_of(mj, node, left, &file);
    if (root == NULL || !cr__import_ok(mj->im) || !means_the_same(mj, node, root)) return;
    // what the other model attaches comes first, and gets the prefix with the rest
    crMjcf other = *mj;
    other.root = root;
    move_models(&a, root, file);
    cr__mjcf_attach(&other, root, left);
    if (!cr__import_ok(mj->im)) return;
    a.main = main_class(&a, root);
    a.folder = folder_of(&a, root, file);
    if (a.main != NULL && a.folder != NULL) attach_bodies(&a, node, root, cr__attr_text(node, "body"));
}

void cr__mjcf_attach(crMjcf* mj, crXml* element, int* left) {
    if (strcmp(element->name, "model") == 0) {
        element->used = true;
        cr__attr_text(element, "name");
        cr__attr_text(element, "file");
    }
    for (crXml* child = element->child; child != NULL && cr__import_ok(mj->im); child = child->next) {
        if (strcmp(child->name, "attach") == 0) attach_one(mj, child, left);
        cr__mjcf_attach(mj, child, left);
    }
}
