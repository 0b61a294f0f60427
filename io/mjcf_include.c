// mjcf_include.c - other files of a model: read by name, and put in the place of <include>.
//
// A path is below the folder of the model's own file. Fails: by element; too many files, so that a file that includes
// itself ends.
#include <string.h>

#include "io/mjcf.h"

crXml* cr__mjcf_file(crMjcf* mj, crXml* node, const char* file, int* left) {
    crImporting* im = mj->im;
    char* text = NULL;
    size_t size = 0;
    const char* path = cr__import_beside(im, file);
    if (--*left < 0) cr__import_refuse(im, node, NULL, CR_ERR_LIMIT, "more than %d files", CR_MJCF_MAX_FILES);
    if (path == NULL || !cr__import_read(im, node, path, CR_XML_MAX_SIZE, &text, &size)) return NULL;
    crXml* root = NULL;
    crError error = {0};
    if (cr_xml_parse(text, size, path, &im->arena, &root, &error) == CR_OK) {
        cr__mjcf_splice(mj, root, left);
        return root;
    }
    cr__import_refuse(im, node, NULL, error.status, "%.60s:%d:%d: %.60s", path, error.line, error.column,
                      error.message);
    return NULL;
}

// the children of an included file's root in place of <include>
void cr__mjcf_splice(crMjcf* mj, crXml* element, int* left) {
    crImporting* im = mj->im;
    for (crXml** slot = &element->child; *slot != NULL && cr__import_ok(im);) {
        crXml* node = *slot;
        if (strcmp(node->name, "include") != 0) {
            cr__mjcf_splice(mj, node, left);
            slot = &node->next;
            continue;
        }
        crXml* root = cr__mjcf_file(mj, node, cr__need_text(im, node, "file"), left);
        if (root == NULL) return;
        crXml* first = root->child;
        crXml** end = &first;
        for (; *end != NULL; end = &(*end)->next) {
            (*end)->parent = element;
        }
        *end = node->next;
        *slot = first;
    }
}
