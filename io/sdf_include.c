// sdf_include.c - <include> of an SDF world or model, replaced by the model that its file holds.
//
// The uri names a folder with model.sdf in it, or the file itself; model:// and package:// by the search
// path, else beside the file that includes it. <name>, <pose>, <static> and placement_frame of the include
// stand for those of the model; merge stays as a mark for sdf_model.c. Fails: files that are not there, that
// are no SDF, that hold no model, and more than 100 of them (which is also how rings end).
#include <string.h>

#include "io/sdf.h"

#define MOST_INCLUDES 100

static bool ends_with_include(const char* text, const char* end) {
    size_t length = strlen(text), own = strlen(end);
    return length >= own && strcmp(text + length - own, end) == 0;
}

// the first <model> of the file
static crXml* read_model_include(crImporting* im, crXml* include) {
    const char* uri = cr__sdf_text(im, include, "uri");
    if (uri == NULL || *uri == '\0') {
        cr__import_refuse(im, include, NULL, CR_ERR_MISSING, "needs <uri>");
        return NULL;
    }
    bool file =
        ends_with_include(uri, ".sdf") || ends_with_include(uri, ".world") || ends_with_include(uri, ".xml");
    const char* path = cr__import_uri(im, include, file ? uri : cr__import_format(im, "%s/model.sdf", uri));
    char* text = NULL;
    size_t size = 0;
    if (!cr__import_ok(im) || !cr__import_read(im, include, path, CR_XML_MAX_SIZE, &text, &size)) return NULL;
    crXml* root = NULL;
    crError error = {0};
    if (cr_xml_parse(text, size, path, &im->arena, &root, &error) != CR_OK) {
        cr__import_refuse(im, include, NULL, error.status, "%.60s:%d:%d: %.60s", path, error.line,
                          error.column, error.message);
        return NULL;
    }
    crXml* model = strcmp(root->name, "sdf") == 0 ? cr_xml_child(root, "model") : NULL;
    if (model == NULL)
        cr__import_refuse(im, include, NULL, CR_ERR_NAME, "%.100s holds no <sdf> with a <model>", path);
    return model;
}

// children of the model that the include has as well, by its own
static void override(crImporting* im, crXml* include, crXml* model) {
    static const char* const words[] = {"pose", "static"};
    for (int i = 0; i < 2; i++) {
        crXml* own = cr_xml_child(include, words[i]);
        if (own == NULL) continue;
        for (crXml** slot = &model->child; *slot != NULL;) {
            if (strcmp((*slot)->name, words[i]) == 0) {
                *slot = (*slot)->next;
            } else {
                slot = &(*slot)->next;
            }
        }
        crXml* copy = cr__import_alloc(im, sizeof *copy);
        if (copy == NULL) return;
        *copy = *own;
        copy->next = model->child;
        copy->parent = model;
        model->child = copy;
        own->used = true;
    }
}

static void set_attr(crImporting* im, crXml* model, const char* name, const char* value, const crXml* from) {
    crXmlAttr* attr = cr_xml_attr(model, name);
    if (attr == NULL) {
        attr = cr__import_alloc(im, sizeof *attr);
        if (attr == NULL) return;
        *attr = (crXmlAttr){.name = name, .line = from->line, .column = from->column, .next = model->attrs};
        model->attrs = attr;
    }
    attr->value = value;
}

static crXml* included(crImporting* im, crXml* include) {
    crXml* model = read_model_include(im, include);
    if (model == NULL) return NULL;
    override(im, include, model);
    const char* name = cr__sdf_text(im, include, "name");
    const char* merge = cr__attr_text(include, "merge");
    const char* placement = cr__sdf_text(im, include, "placement_frame");
    if (name != NULL) set_attr(im, model, "name", name, include);
    if (merge != NULL) set_attr(im, model, "merge", merge, include);
    if (placement != NULL) set_attr(im, model, "placement_frame", placement, include);
    include->used = true;
    for (const crXml* child = include->child; child != NULL; child = child->next) {
        if (!child->used)
            cr__import_note(im, CR_NOTE_UNSUPPORTED, child, NULL, "<%s> in <include> is not supported",
                            child->name);
    }
    return cr__import_ok(im) ? model : NULL;
}

void cr__sdf_include(crImporting* im, crXml* element, int* left) {
    for (crXml** slot = &element->child; *slot != NULL && cr__import_ok(im); slot = &(*slot)->next) {
        crXml* node = *slot;
        if (strcmp(node->name, "include") == 0) {
            if (--*left < 0) {
                cr__import_refuse(im, node, NULL, CR_ERR_LIMIT, "more than %d files", MOST_INCLUDES);
                return;
            }
            crXml* model = included(im, node);
            if (model == NULL) return;
            model->parent = element;
            model->next = node->next;
            *slot = node = model;
        }
        if (strcmp(node->name, "model") == 0) cr__sdf_include(im, node, left);
    }
}
