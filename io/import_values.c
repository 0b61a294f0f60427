// import_values.c - values of XML elements, names and places for a scene.
//
// Numbers are words between white space, each whole and finite. Roll, pitch and yaw turn about the fixed axes
// x, y, z in this order: q = q_z(yaw) q_y(pitch) q_x(roll). A name is changed where a scene would not take it,
// and made unique by a number. Fails: each value by its element and attribute.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/import_parts.h"
#include "io/scene.h"

#define WORD 64

int cr__import_numbers(crImporting* im, const crXml* element, const crXmlAttr* attr, const char* text,
                       int least, int most, double* numbers) {
    int count = 0;
    const char* at = text + strspn(text, " \t\r\n");
    while (*at != '\0' && cr__import_ok(im)) {
        size_t length = strcspn(at, " \t\r\n");
        char* end = NULL;
        double x = strtod(at, &end);
        if (count == most) {
            cr__import_refuse(im, element, attr, CR_ERR_SIZE, "has more than %d numbers", most);
        } else if (end != at + length || length >= WORD) {
            cr__import_refuse(im, element, attr, CR_ERR_TYPE, "\"%.*s\" is no number",
                              length < WORD ? (int)length : WORD, at);
        } else if (!isfinite(x)) {
            cr__import_refuse(im, element, attr, CR_ERR_FINITE, "\"%.*s\" is not finite", (int)length, at);
        } else {
            numbers[count++] = x;
        }
        at += length;
        at += strspn(at, " \t\r\n");
    }
    if (count < least) {
        cr__import_refuse(im, element, attr, CR_ERR_SIZE, "needs %d number%s, has %d", least,
                          least == 1 ? "" : "s", count);
    }
    return cr__import_ok(im) ? count : 0;
}

bool cr__import_bool(crImporting* im, const crXml* element, const crXmlAttr* attr, const char* text) {
    text += strspn(text, " \t\r\n");
    size_t length = strcspn(text, " \t\r\n");
    if ((length == 4 && strncasecmp(text, "true", 4) == 0) || (length == 1 && *text == '1')) return true;
    if ((length == 5 && strncasecmp(text, "false", 5) == 0) || (length == 1 && *text == '0')) return false;
    cr__import_refuse(im, element, attr, CR_ERR_TYPE, "must be true or false, is \"%.40s\"", text);
    return false;
}

bool cr__attr_numbers(crImporting* im, crXml* element, const char* name, int least, int most, double* to) {
    crXmlAttr* attr = cr_xml_attr(element, name);
    if (attr == NULL) return false;
    attr->used = true;
    return cr__import_numbers(im, element, attr, attr->value, least, most, to) >= least;
}

bool cr__attr_vector(crImporting* im, crXml* element, const char* name, crVec3* to) {
    double x[3];
    if (!cr__attr_numbers(im, element, name, 3, 3, x) || !cr__import_ok(im)) return false;
    *to = cr_vec3(x[0], x[1], x[2]);
    return true;
}

const char* cr__attr_text(crXml* element, const char* name) {
    crXmlAttr* attr = cr_xml_attr(element, name);
    if (attr == NULL) return NULL;
    attr->used = true;
    return attr->value;
}

const char* cr__need_text(crImporting* im, crXml* element, const char* name) {
    const char* text = cr__attr_text(element, name);
    if (text == NULL) cr__import_refuse(im, element, NULL, CR_ERR_MISSING, "needs the attribute %s", name);
    return text != NULL ? text : "";
}

crXml* cr__used_child(crXml* element, const char* name) {
    crXml* child = cr_xml_child(element, name);
    if (child != NULL) child->used = true;
    return child;
}

crQuat cr__quat_rpy(crVec3 rpy) {
    crQuat x = cr_quat_axis_angle(cr_vec3(1, 0, 0), rpy.x);
    crQuat y = cr_quat_axis_angle(cr_vec3(0, 1, 0), rpy.y);
    crQuat z = cr_quat_axis_angle(cr_vec3(0, 0, 1), rpy.z);
    return cr_quat_mul(z, cr_quat_mul(y, x));
}

// where the name is, or where it would be
static int slot_of(const char* const* names, int capacity, const char* name) {
    uint64_t at = cr_hash(CR_HASH_SEED, name, strlen(name));
    while (names[at & (uint64_t)(capacity - 1)] != NULL &&
           strcmp(names[at & (uint64_t)(capacity - 1)], name) != 0) {
        at++;
    }
    return (int)(at & (uint64_t)(capacity - 1));
}

static bool taken(const crNames* names, const char* name) {
    return names->capacity > 0 && names->names[slot_of(names->names, names->capacity, name)] != NULL;
}

static bool remember(crImporting* im, crNames* names, const char* name) {
    if (2 * (names->count + 1) > names->capacity) {
        int larger = names->capacity > 0 ? 2 * names->capacity : 64;
        const char** all = cr__import_alloc(im, (size_t)larger * sizeof *all);
        if (all == NULL) return false;
        for (int i = 0; i < names->capacity; i++) {
            if (names->names[i] != NULL) all[slot_of(all, larger, names->names[i])] = names->names[i];
        }
        names->names = all;
        names->capacity = larger;
    }
    names->names[slot_of(names->names, names->capacity, name)] = name;
    names->count++;
    return true;
}

const char* cr__import_name(crImporting* im, crNames* names, const crXml* element, const char* name) {
    char clean[WORD];
    snprintf(clean, sizeof clean - 8, "%s", name != NULL && *name != '\0' ? name : "body");
    // no character is cut in two
    size_t length = strlen(clean);
    while (name != NULL && length > 0 && strlen(name) > length &&
           ((unsigned char)name[length] & 0xc0) == 0x80) {
        clean[--length] = '\0';
    }
    for (char* c = clean; *c != '\0'; c++) {
        if (strchr(" ,;\"'\t\r\n.", *c) != NULL) *c = '_';
    }
    if (strcmp(clean, "world") == 0) snprintf(clean, sizeof clean, "world_");
    const char* made = cr__import_format(im, "%s", clean);
    for (int i = 0; made != NULL && taken(names, made); i++) {
        made = cr__import_format(im, "%s_%d", clean, i == 0 ? 2 : names->count + i);
    }
    if (made == NULL || !remember(im, names, made)) return "";
    if (name != NULL && *name != '\0' && strcmp(made, name) != 0)
        cr__import_note(im, CR_NOTE_IGNORED, element, NULL,
                        "a name used twice, too long, or with space , ; . or quotes is changed");
    return made;
}

void cr__tree_at(crImporting* im, const crXml* element) {
    im->tree.line = element->line;
    im->tree.column = element->column;
}

void cr__tree_pose(crImporting* im, crJson* to, crPose pose) {
    if (cr_dot(pose.p, pose.p) > 0.0) cr_tree_vector(&im->tree, to, "pos", pose.p);
    bool turned = pose.q.w != 1.0 || pose.q.x != 0.0 || pose.q.y != 0.0 || pose.q.z != 0.0;
    if (turned) cr_tree_quat(&im->tree, to, "quat", pose.q);
}

void cr__tree_mass(crImporting* im, crJson* to, const crMass* mass) {
    crMat3 I = cr_sym3_full(mass->inertia);
    cr_tree_number(&im->tree, to, "mass", mass->mass);
    cr_tree_vector(&im->tree, to, "com", mass->com);
    crJson* rows = cr_tree_list(&im->tree, to, "inertia");
    for (int i = 0; i < 3; i++) {
        cr_tree_numbers(&im->tree, rows, NULL, I.m[i], 3);
    }
}

void cr__tree_head(crImporting* im) {
    const char* slash = im->path != NULL ? strrchr(im->path, '/') : NULL;
    const char* file = im->path == NULL ? "text" : slash != NULL ? slash + 1 : im->path;
    crJson* root = im->tree.doc->root;
    cr_tree_number(&im->tree, root, "carom", 1.0);
    cr_tree_text(&im->tree, root, "comment",
                 cr__import_ok(im) ? cr__import_format(im, "imported from %s, %s", file,
                                                       cr_import_format_name(im->result->format))
                                   : "");
}

const char* cr__import_beside(crImporting* im, const char* path) {
    if (*path == '/' || im->folder == NULL) return path;
    return cr__import_format(im, "%s%s", im->folder, path);
}

const char* cr__import_uri(crImporting* im, const crXml* element, const char* uri) {
    static const char* const schemes[] = {"package://", "model://"};
    if (strncmp(uri, "file://", 7) == 0) uri += 7;
    const char* inside = NULL;
    for (int i = 0; i < 2; i++) {
        if (strncmp(uri, schemes[i], strlen(schemes[i])) == 0) inside = uri + strlen(schemes[i]);
    }
    // beside the file that names it, which may be an included one
    const char* slash = im->path != NULL ? strrchr(element->file, '/') : NULL;
    if (inside == NULL && *uri != '/' && slash != NULL)
        return cr__import_format(im, "%.*s%s", (int)(slash + 1 - element->file), element->file, uri);
    if (inside == NULL) return cr__import_beside(im, uri);
    for (int i = 0; i < im->options->package_count; i++) {
        const char* path = cr__import_format(im, "%s/%s", im->options->packages[i], inside);
        FILE* file = path != NULL ? fopen(path, "rb") : NULL;
        if (file == NULL) continue;
        fclose(file);
        return path;
    }
    cr__import_refuse(im, element, NULL, CR_ERR_FILE, "%.100s is in none of the %d folders of --package", uri,
                      im->options->package_count);
    return "";
}

void cr__tree_color(crImporting* im, crJson* shape, const char* rgba) {
    unsigned color = 0;
    for (int k = 0; k < 3; k++) {
        char* end = NULL;
        double x = rgba != NULL ? strtod(rgba, &end) : NAN;
        if (end == rgba || !(x >= 0.0 && x <= 1.0)) return;
        color = color << 8 | (unsigned)(255.0 * x + 0.5);
        rgba = end;
    }
    const char* text = cr__import_format(im, "#%06x", color);
    if (text != NULL) cr_tree_text(&im->tree, shape, "color", text);
}
