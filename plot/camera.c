// camera.c - the eye of a picture in perspective; see camera.h.
//
// The box of what is seen is the bounds of all bodies that move, over the records that a moving picture is measured at, with
// the fixed shapes if they are not much larger. The eye is as near as the corners of the box allow.
#include "plot/camera.h"

#include "plot/describe.h"
#include "plot/faces.h"

#define HALF_VIEW 0.10510423526567647  // tangent of half the field of view, 6 degrees
#define MARGIN    1.1                  // room around the box
#define NEAR      3.0    // times the size of what moves: fixed shapes up to there are seen whole
#define PARALLEL  0.999  // cosine between axes that count as one
#define LOW       0.2    // of its width: what is lower is seen as a table, from above

static crVec3 unit(crVec3 a) { return cr_scale(1.0 / cr_norm(a), a); }

static double component(crVec3 x, int k) { return k == 0 ? x.x : k == 1 ? x.y : x.z; }

static void add_point(crCamera* c, crVec3 x) {
    c->lo = cr_vec3(fmin(c->lo.x, x.x), fmin(c->lo.y, x.y), fmin(c->lo.z, x.z));
    c->hi = cr_vec3(fmax(c->hi.x, x.x), fmax(c->hi.y, x.y), fmax(c->hi.z, x.z));
}

static void add_body(crCamera* c, const crView* v, int body) {
    const crModel* model = v->log->model;
    crPose pose = v->player.d.pose[body];
    for (int i = 0; i < cr_faces_count(model); i++) {
        const crBodyShape* drawn = cr_faces_drawn(model, i);
        if (drawn == NULL || drawn->body != body || drawn->shape.kind == CR_SHAPE_HALFSPACE) continue;
        crBounds box = cr_shape_bounds(&drawn->shape, pose);
        add_point(c, box.lo);
        add_point(c, box.hi);
    }
    crVec3 ends[CR_STICKS];
    int count = body != CR_WORLD ? cr_faces_sticks(model, body, ends) : 0;
    if (count > 0) add_point(c, pose.p);
    for (int i = 0; i < count; i++) {
        add_point(c, cr_pose_point(pose, ends[i]));
    }
}

static void add_ties(crCamera* c, const crView* v) {
    const crModel* model = v->log->model;
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        if (loop->kind != CR_LOOP_DISTANCE) continue;
        add_point(c, cr_pose_point(v->player.d.pose[loop->a], loop->pose_a.p));
        add_point(c, cr_pose_point(v->player.d.pose[loop->b], loop->pose_b.p));
    }
}

static double size_of(const crCamera* c) {
    crVec3 d = cr_sub(c->hi, c->lo);
    return fmax(d.x, fmax(d.y, d.z));
}

static void add_view(crCamera* c, crView* v) {
    for (int i = 0; i < v->row_count; i++) {
        cr_player_at(&v->player, v->rows[i]);
        for (int b = 1; b < v->log->model->nb; b++) {
            if (v->shown[b] && cr_describe_moves(v->log->model, b)) add_body(c, v, b);
        }
        add_ties(c, v);
    }
}

// fixed shapes, if they are not much larger than what moves
static void add_fixed(crCamera* c, crView* v) {
    crCamera whole = *c;
    for (int b = 0; b < v->log->model->nb; b++) {
        if (!cr_describe_moves(v->log->model, b)) add_body(&whole, v, b);
    }
    if (!(size_of(&whole) <= NEAR * size_of(c)) && c->lo.x <= c->hi.x) return;
    c->lo = whole.lo;
    c->hi = whole.hi;
}

// the axis about which all bodies turn, if it is one and lies across the sky
static bool common_axis(const crCamera* c, const crView* v, crVec3* axis) {
    const crModel* model = v->log->model;
    bool any = false;
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (!cr_describe_moves(model, b)) continue;
        if (body->joint != CR_JOINT_HINGE) return false;
        crVec3 own = cr_quat_rotate(v->player.d.pose[b].q, body->axis);
        if (any && fabs(cr_dot(own, *axis)) < PARALLEL) return false;
        if (!any) *axis = own;
        any = true;
    }
    return any && fabs(cr_dot(*axis, c->sky)) < 0.1;
}

static crVec3 page_eye(const crCamera* c, const crView* v) {
    if (c->flat) return cr_vec3(0.1, 0.14, 1.0);
    crVec3 axis;
    if (common_axis(c, v, &axis)) {
        if (axis.y > 0.0 || (axis.y == 0.0 && axis.x < 0.0)) axis = cr_neg(axis);
        return cr_madd(cr_madd(axis, 0.15, cr_cross(c->sky, axis)), 0.12, c->sky);
    }
    crVec3 half = cr_scale(0.5, cr_sub(c->hi, c->lo));
    double narrow = INFINITY;
    for (int k = 0; k < 3; k++) {
        if (fabs(component(c->sky, k)) < 0.5) narrow = fmin(narrow, component(half, k));
    }
    bool table = fabs(cr_dot(half, c->sky)) < LOW * narrow;
    return table ? cr_madd(cr_vec3(0.08, -1.0, 0.0), 1.5, c->sky)
                 : cr_madd(cr_vec3(0.35, -1.0, 0.0), 0.5, c->sky);
}

// right and up of the picture; up is the sky, or another axis if the eye is straight above
static void turn_to(crCamera* c, crVec3 eye) {
    c->from = unit(eye);
    crVec3 above = c->flat ? cr_vec3(0.0, 1.0, 0.0) : c->sky;
    if (fabs(cr_dot(above, c->from)) > PARALLEL)
        above = fabs(c->from.y) < PARALLEL ? cr_vec3(0.0, 1.0, 0.0) : cr_vec3(0.0, 0.0, 1.0);
    c->right = unit(cr_cross(above, c->from));
    c->up = cr_cross(c->from, c->right);
}

void cr_camera_create(crCamera* c, crView* const* views, int count, const crCameraChoice* choice) {
    *c = (crCamera){.lo = {INFINITY, INFINITY, INFINITY}, .hi = {-INFINITY, -INFINITY, -INFINITY}};
    crVec3 g = views[0]->log->model->gravity;
    c->sky = cr_norm(g) > 0.0 ? unit(cr_neg(g)) : cr_vec3(0.0, 0.0, 1.0);
    c->flat = cr_norm(g) == 0.0 || fabs(c->sky.z) < 0.5;
    c->sun = unit(c->flat ? cr_vec3(0.4, 1.1, 0.9) : cr_madd(cr_vec3(0.4, -0.3, 0.0), 1.2, c->sky));
    for (int i = 0; i < count; i++) {
        add_view(c, views[i]);
    }
    for (int i = 0; i < count; i++) {
        add_fixed(c, views[i]);
    }
    if (!(c->lo.x <= c->hi.x)) {
        c->lo = cr_vec3(-0.5, -0.5, -0.5);
        c->hi = cr_vec3(0.5, 0.5, 0.5);
    }
    c->at = choice->has_look ? choice->look : cr_scale(0.5, cr_add(c->lo, c->hi));
    c->radius = fmax(1e-6, 0.5 * cr_norm(cr_sub(c->hi, c->lo)));
    turn_to(c, choice->has_eye ? choice->eye : page_eye(c, views[0]));
}

static crVec3 corner_of(const crCamera* c, int i) {
    crVec3 half = cr_scale(0.5, cr_sub(c->hi, c->lo));
    return cr_vec3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
}

double cr_camera_shape(const crCamera* c) {
    double wide = 0.0;
    double high = 0.0;
    for (int i = 0; i < 8; i++) {
        wide = fmax(wide, fabs(cr_dot(corner_of(c, i), c->right)));
        high = fmax(high, fabs(cr_dot(corner_of(c, i), c->up)));
    }
    return wide > 0.0 ? high / wide : 1.0;
}

void cr_camera_fit(crCamera* c, const crPanel* panel, double zoom) {
    double width = panel->right - panel->left;
    double height = panel->bottom - panel->top;
    double aspect = width / height;
    double distance = 1e-6;
    for (int i = 0; i < 8; i++) {
        crVec3 corner = corner_of(c, i);
        double toward = cr_dot(corner, c->from);
        double high = MARGIN * fabs(cr_dot(corner, c->up));
        double wide = MARGIN * fabs(cr_dot(corner, c->right)) / aspect;
        distance = fmax(distance, toward + fmax(high, wide) / HALF_VIEW);
    }
    c->distance = distance;
    c->scale = zoom * 0.5 * height / HALF_VIEW;
    c->middle[0] = 0.5 * (panel->left + panel->right);
    c->middle[1] = 0.5 * (panel->top + panel->bottom);
}

double cr_camera_pixel(const crCamera* c, crVec3 x, double out[2]) {
    crVec3 d = cr_sub(x, c->at);
    double depth = c->distance - cr_dot(d, c->from);
    double scale = c->scale / fmax(depth, 1e-3 * c->distance);
    out[0] = c->middle[0] + scale * cr_dot(d, c->right);
    out[1] = c->middle[1] - scale * cr_dot(d, c->up);
    return depth;
}

crVec3 cr_camera_eye(const crCamera* c) { return cr_madd(c->at, c->distance, c->from); }
