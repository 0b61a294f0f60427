// sdf_frames.c - poses of an SDF model: each is relative to a link, a joint, a frame or the model itself.
//
// A link without relative_to is relative to the model, a joint to its child, a frame to what it is attached
// to; those of a nested model to its frame, which is one of the model around it. Frames are resolved by
// walking to what they are relative to. Fails: unknown names, and rings of frames.
#include <math.h>
#include <string.h>

#include "io/scene.h"
#include "io/sdf.h"

#define MOST_CHAIN 1000

bool cr__sdf_numbers(crImporting* im, crXml* element, const char* name, int least, int most, double* to) {
    crXml* child = cr__used_child(element, name);
    if (child == NULL) return false;
    return cr__import_numbers(im, child, NULL, child->text, least, most, to) >= least && cr__import_ok(im);
}

bool cr__sdf_flag(crImporting* im, crXml* element, const char* name, bool otherwise) {
    crXml* child = cr__used_child(element, name);
    return child != NULL ? cr__import_bool(im, child, NULL, child->text) : otherwise;
}

const char* cr__sdf_text(crImporting* im, crXml* element, const char* name) {
    crXml* child = cr__used_child(element, name);
    if (child == NULL) return NULL;
    const char* begin = child->text + strspn(child->text, " \t\r\n");
    size_t length = strlen(begin);
    while (length > 0 && strchr(" \t\r\n", begin[length - 1]) != NULL) {
        length--;
    }
    return cr__import_format(im, "%.*s", (int)length, begin);
}

crPose cr__sdf_pose(crImporting* im, crXml* element, const char** relative_to) {
    crPose pose = cr_pose_identity();
    crXml* node = cr__used_child(element, "pose");
    *relative_to = NULL;
    if (node == NULL) return pose;
    double x[7] = {0.0};
    const char* format = cr__attr_text(node, "rotation_format");
    crXmlAttr* degrees = cr_xml_attr(node, "degrees");
    const char* to = cr__attr_text(node, "relative_to");
    bool quat = format != NULL && strcmp(format, "quat_xyzw") == 0;
    if (format != NULL && !quat && strcmp(format, "euler_rpy") != 0)
        cr__import_refuse(im, node, cr_xml_attr(node, "rotation_format"), CR_ERR_NAME,
                          "must be euler_rpy or quat_xyzw");
    bool turn = degrees != NULL && cr__import_bool(im, node, degrees, degrees->value);
    if (degrees != NULL) degrees->used = true;
    if (to != NULL && *to != '\0') *relative_to = to;
    if (strspn(node->text, " \t\r\n") == strlen(node->text)) return pose;
    int count = quat ? 7 : 6;
    if (cr__import_numbers(im, node, NULL, node->text, count, count, x) != count) return pose;
    double unit = turn ? CR_PI / 180.0 : 1.0;
    pose.p = cr_vec3(x[0], x[1], x[2]);
    pose.q = quat ? cr_quat_normalize((crQuat){x[6], x[3], x[4], x[5]})
                  : cr__quat_rpy(cr_vec3(unit * x[3], unit * x[4], unit * x[5]));
    return pose;
}

int cr__sdf_find_frame(const crSdfModel* model, const char* name) {
    for (int i = 0; i < model->frame_count; i++) {
        if (strcmp(model->frames[i].name, name) == 0) return i;
    }
    return -1;
}

const char* cr__sdf_scoped(crImporting* im, crSdfScope scope, const char* name) {
    if (name == NULL || strcmp(name, "__model__") == 0) return scope.self;
    return *scope.prefix != '\0' ? cr__import_format(im, "%s%s", scope.prefix, name) : name;
}

int cr__sdf_add_frame(crImporting* im, crSdfModel* model, crXml* node, crSdfScope scope,
                      const char* otherwise) {
    const char* name = cr__sdf_scoped(im, scope, cr__need_text(im, node, "name"));
    crSdfFrame* all = cr__import_grow(im, model->frames, model->frame_count, &model->frame_capacity,
                                      sizeof *all, 3 * CR_SCENE_MAX_BODIES, node);
    if (all == NULL || name == NULL || !cr__import_ok(im)) return -1;
    model->frames = all;
    if (cr__sdf_find_frame(model, name) >= 0) {
        cr__import_refuse(im, node, cr_xml_attr(node, "name"), CR_ERR_NAME, "\"%.60s\" is taken in this %s",
                          name, model->name != NULL ? "model" : "world");
        return -1;
    }
    crSdfFrame frame = {.name = name, .node = node};
    frame.own = cr__sdf_pose(im, node, &frame.relative_to);
    frame.relative_to = frame.relative_to != NULL ? cr__sdf_scoped(im, scope, frame.relative_to) : otherwise;
    all[model->frame_count] = frame;
    return model->frame_count++;
}

// the frame's pose in the model; below counts how many wait for it
static void resolve_one(crImporting* im, crSdfModel* model, int index, int below) {
    crSdfFrame* f = &model->frames[index];
    if (f->state == 2 || !cr__import_ok(im)) return;
    if (f->state == 1 || below > MOST_CHAIN) {
        cr__import_refuse(im, f->node, NULL, f->state == 1 ? CR_ERR_NAME : CR_ERR_LIMIT,
                          f->state == 1 ? "the poses of \"%.60s\" go round in a ring"
                                        : "the pose of \"%.60s\" hangs on more than 1000 others",
                          f->name);
        return;
    }
    f->state = 1;
    bool top = f->relative_to == NULL || (model->name == NULL && strcmp(f->relative_to, "world") == 0);
    int base = top ? -1 : cr__sdf_find_frame(model, f->relative_to);
    if (!top && base < 0) {
        cr__import_refuse(im, f->node, NULL, CR_ERR_NAME, "its pose is relative to \"%.60s\": no such frame",
                          f->relative_to);
        return;
    }
    if (!top) resolve_one(im, model, base, below + 1);
    f->pose = top ? f->own : cr_pose_mul(model->frames[base].pose, f->own);
    f->state = 2;
}

void cr__sdf_resolve(crImporting* im, crSdfModel* model) {
    for (int i = 0; i < model->frame_count && cr__import_ok(im); i++) {
        resolve_one(im, model, i, 0);
    }
}
