// stage.c - the pieces of a picture in perspective, sorted from behind to front.
//
// Two convex pieces that overlap on the picture are told apart by the plane between their closest points: the one on the side of
// the eye is in front. This order is exact for pieces that do not interpenetrate. A circle of pieces, each in front of the next,
// is broken at the farthest. Meshes and height fields are ordered by their middles, and so is everything where there are more
// than MOST pieces. Fails: memory.
#include "plot/stage.h"

#include <stdlib.h>
#include <string.h>

#include "plot/describe.h"
#include "plot/faces.h"
#include "plot/ink.h"

#define STICK  0.012  // radius of a stick, of its length
#define STRING 0.005  // radius of the string that a body with shapes hangs on, of its length
#define FAR    3.0    // radii of a ball from its body's centre of mass
#define ROPE   0.004  // radius of a rope, of the scene
#define PIN    0.012  // radius of a hinge's pin, of the scene
#define SPRING 0.003  // radius of a spring's wire, of the scene
#define TEETH  9      // of a slider's spring
#define TURNS  2.5    // of a hinge's spring
#define WIRES  40     // of a hinge's spring
#define MOST   3000   // pieces that are compared with each other; more are ordered by their middles

static void set_color(const crStage* s, crPiece* piece, crInk ink, unsigned own) {
    unsigned long color = own != 0 ? own : strtoul((s->dark ? cr_ink_dark : cr_ink_light)[ink] + 1, NULL, 16);
    for (int k = 0; k < 3; k++) {
        piece->rgb[k] = pow((double)(color >> (16 - 8 * k) & 255U) / 255.0, 2.2);
    }
}

static bool add(crStage* s, crPiece piece) {
    if (s->count == s->room) {
        size_t room = 2 * s->room + 64;
        crPiece* larger = realloc(s->pieces, room * sizeof *larger);
        if (larger == NULL) return false;
        s->pieces = larger;
        s->room = room;
    }
    crBounds box = cr_shape_bounds(&piece.shape, piece.pose);
    double* pixels = piece.box;
    pixels[0] = pixels[1] = INFINITY;
    pixels[2] = pixels[3] = -INFINITY;
    for (int i = 0; i < 8; i++) {
        double at[2];
        cr_camera_pixel(
            &s->camera,
            cr_vec3(i & 1 ? box.lo.x : box.hi.x, i & 2 ? box.lo.y : box.hi.y, i & 4 ? box.lo.z : box.hi.z),
            at);
        for (int k = 0; k < 2; k++) {
            pixels[k] = fmin(pixels[k], at[k]);
            pixels[2 + k] = fmax(pixels[2 + k], at[k]);
        }
    }
    double middle[2];
    piece.depth = cr_camera_pixel(&s->camera, cr_scale(0.5, cr_add(box.lo, box.hi)), middle);
    s->pieces[s->count++] = piece;
    return true;
}

// a capsule between two points
static bool add_rod(crStage* s, crPiece look, crVec3 a, crVec3 b, double radius) {
    crVec3 d = cr_sub(b, a);
    double length = cr_norm(d);
    if (!(length > 0.0)) return true;
    d = cr_scale(1.0 / length, d);
    // the turn from z to d
    crQuat turn = {1.0 + d.z, -d.y, d.x, 0.0};
    if (1.0 + d.z < 1e-9) turn = (crQuat){0.0, 1.0, 0.0, 0.0};
    look.shape = (crShape){.kind = CR_SHAPE_CAPSULE, .size = cr_vec3(radius, radius, 0.5 * length)};
    look.shape.pose = (crPose){cr_scale(0.5, cr_add(a, b)), cr_quat_normalize(turn)};
    look.pose = cr_pose_identity();
    return add(s, look);
}

// Where the string from a body's origin to `end` first meets what is drawn of the body: inside it would be in front of it.
static crVec3 first_hit(const crModel* model, int body, crVec3 end) {
    double length = cr_norm(end), nearest = length;
    if (!(length > 0.0)) return end;
    crVec3 along = cr_scale(1.0 / length, end);
    for (int i = 0; i < cr_faces_count(model); i++) {
        const crBodyShape* drawn = cr_faces_drawn(model, i);
        crRayHit hit = {0};
        if (drawn == NULL || drawn->body != body) continue;
        if (cr_ray(&drawn->shape, cr_pose_identity(), cr_vec3(0.0, 0.0, 0.0), along, length, &hit))
            nearest = fmin(nearest, hit.t);
    }
    return cr_scale(nearest, along);
}

static bool add_sticks(crStage* s, const crView* v, int body, crPiece look) {
    crVec3 ends[CR_STICKS];
    int count = cr_faces_sticks(v->log->model, body, ends);
    bool bare = cr_faces_bare(v->log->model, body);
    bool good = true;
    crPose pose = v->player.d.pose[body];
    for (int i = 0; i < count && good; i++) {
        double radius = (bare ? STICK : STRING) * cr_norm(ends[i]);
        crVec3 end = bare ? ends[i] : first_hit(v->log->model, body, ends[i]);
        good = add_rod(s, look, pose.p, cr_pose_point(pose, end), radius);
    }
    return good;
}

// a ball far from the centre of mass is held by a stick
static bool add_holder(crStage* s, const crView* v, int body, const crPiece* ball) {
    crVec3 com = v->log->model->bodies[body].com;
    if (ball->shape.kind != CR_SHAPE_SPHERE || !ball->moves) return true;
    double length = cr_norm(cr_sub(ball->shape.pose.p, com));
    if (length <= FAR * ball->shape.size.x) return true;
    return add_rod(s, *ball, cr_pose_point(ball->pose, com), cr_pose_point(ball->pose, ball->shape.pose.p),
                   STICK * length);
}

static bool add_shapes(crStage* s, const crView* v, int body, crPiece look) {
    const crModel* model = v->log->model;
    bool good = true;
    for (int i = 0; i < cr_faces_count(model) && good; i++) {
        const crBodyShape* drawn = cr_faces_drawn(model, i);
        if (drawn == NULL || drawn->body != body || drawn->shape.kind == CR_SHAPE_HALFSPACE) continue;
        const crShape* shape = &drawn->shape;
        unsigned own = cr_faces_color(model, drawn);
        look.alpha = look.moves || own != 0 ? 1.0 : 0.7;
        set_color(s, &look, look.moves ? cr__view_ink(body) : CR_INK_GRID, own);
        for (int k = 0; k < cr_faces_pieces(shape) && good; k++) {
            look.shape = cr_faces_piece(shape, k);
            good = add(s, look) && add_holder(s, v, body, &look);
        }
    }
    return good;
}

static bool add_pins(crStage* s, const crView* v, int body) {
    const crBody* b = &v->log->model->bodies[body];
    crPose pose = v->player.d.pose[body];
    crPiece look = {.moves = true, .alpha = 1.0};
    set_color(s, &look, CR_INK_FAINT, 0);
    double r = PIN * s->camera.radius;
    crVec3 axis = cr_scale(3.0 * r, cr_quat_rotate(pose.q, b->axis));
    if (b->joint == CR_JOINT_HINGE) return add_rod(s, look, cr_sub(pose.p, axis), cr_add(pose.p, axis), r);
    if (b->joint != CR_JOINT_BALL) return true;
    look.shape = (crShape){.kind = CR_SHAPE_SPHERE, .size = cr_vec3(1.5 * r, 1.5 * r, 1.5 * r)};
    look.shape.pose = cr_pose_identity();
    look.pose = pose;
    look.plain = true;
    return add(s, look);
}

static bool add_wires(crStage* s, const crPiece* look, const crVec3* points, int count) {
    bool good = true;
    for (int i = 0; i + 1 < count && good; i++) {
        good = add_rod(s, *look, points[i], points[i + 1], SPRING * s->camera.radius);
    }
    return good;
}

// a zigzag from the joint's place on the parent to the body
static bool add_zigzag(crStage* s, const crPiece* look, crVec3 from, crVec3 to) {
    crVec3 side = cr_cross(cr_sub(to, from), s->camera.from);
    double size = cr_norm(side);
    if (!(size > 0.0)) return true;
    side = cr_scale(2.0 * PIN * s->camera.radius / size, side);
    crVec3 points[TEETH + 2] = {from};
    for (int i = 1; i <= TEETH; i++) {
        crVec3 along = cr_madd(from, (i - 0.5) / TEETH, cr_sub(to, from));
        points[i] = cr_madd(along, i % 2 == 0 ? 1.0 : -1.0, side);
    }
    points[TEETH + 1] = to;
    return add_wires(s, look, points, TEETH + 2);
}

// a spiral around the pin
static bool add_spiral(crStage* s, const crPiece* look, crVec3 at, crVec3 axis) {
    crVec3 other = fabs(axis.z) < 0.7 ? cr_vec3(0.0, 0.0, 1.0) : cr_vec3(1.0, 0.0, 0.0);
    crVec3 a = cr_cross(other, axis);
    a = cr_scale(1.0 / cr_norm(a), a);
    crVec3 b = cr_cross(axis, a);
    crVec3 points[WIRES + 1];
    for (int i = 0; i <= WIRES; i++) {
        double angle = 2.0 * CR_PI * TURNS * i / WIRES;
        double r = PIN * s->camera.radius * (1.5 + 0.25 * angle);
        points[i] = cr_madd(cr_madd(at, r * cos(angle), a), r * sin(angle), b);
    }
    return add_wires(s, look, points, WIRES + 1);
}

static bool add_spring(crStage* s, const crView* v, int body) {
    const crModel* model = v->log->model;
    const crBody* b = &model->bodies[body];
    if (b->nv == 0 || !(cr_model_dof(model, b->v)->stiffness > 0.0)) return true;
    crPiece look = {.moves = true, .alpha = 1.0};
    set_color(s, &look, CR_INK_FAINT, 0);
    crPose pose = v->player.d.pose[body];
    if (b->joint == CR_JOINT_HINGE) return add_spiral(s, &look, pose.p, cr_quat_rotate(pose.q, b->axis));
    if (b->joint != CR_JOINT_SLIDER) return true;
    return add_zigzag(s, &look, cr_pose_point(v->player.d.pose[b->parent], b->pose.p), pose.p);
}

static bool add_ropes(crStage* s, const crView* v) {
    const crModel* model = v->log->model;
    crPiece look = {.moves = true, .alpha = 1.0};
    set_color(s, &look, CR_INK_FAINT, 0);
    bool good = true;
    for (int i = 0; i < model->loop_count && good; i++) {
        const crLoop* loop = &model->loops[i];
        bool seen = (loop->a == CR_WORLD || v->shown[loop->a]) && (loop->b == CR_WORLD || v->shown[loop->b]);
        if (loop->kind != CR_LOOP_DISTANCE || !seen) continue;
        good = add_rod(s, look, cr_pose_point(v->player.d.pose[loop->a], loop->pose_a.p),
                       cr_pose_point(v->player.d.pose[loop->b], loop->pose_b.p), ROPE * s->camera.radius);
    }
    return good;
}

static bool add_all(crStage* s, const crView* v) {
    const crModel* model = v->log->model;
    bool good = true;
    for (int b = 0; b < model->nb && good; b++) {
        bool moves = cr_describe_moves(model, b);
        if (b != CR_WORLD && moves && !v->shown[b]) continue;
        crPiece look = {.pose = v->player.d.pose[b], .moves = moves, .alpha = 1.0};
        good = add_shapes(s, v, b, look);
        if (b == CR_WORLD || !good) continue;
        set_color(s, &look, cr__view_ink(b), 0);
        good = add_sticks(s, v, b, look) && add_pins(s, v, b) && add_spring(s, v, b);
    }
    return good && add_ropes(s, v);
}

static bool is_convex(const crPiece* p) {
    return p->shape.kind != CR_SHAPE_MESH && p->shape.kind != CR_SHAPE_HEIGHTFIELD;
}

// whether a must be drawn before b: it lies behind the plane between the two
static bool is_behind(const crStage* s, const crPiece* a, const crPiece* b) {
    crDistance d;
    if (!is_convex(a) || !is_convex(b) || !cr_distance(&a->shape, a->pose, &b->shape, b->pose, INFINITY, &d))
        return a->depth > b->depth;
    return cr_dot(cr_sub(cr_camera_eye(&s->camera), d.contact.point), d.contact.normal) > 0.0;
}

static bool overlap(const double a[4], const double b[4]) {
    return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

typedef struct Sorting {
    const crStage* stage;
    size_t* far;           // (count) pieces, the farthest first
    unsigned char* state;  // (count) 0 not seen, 1 being visited, 2 drawn
    size_t drawn;
} Sorting;

// all that lies behind a piece, then the piece
static void visit(Sorting* w, size_t i) {
    const crStage* s = w->stage;
    w->state[i] = 1;
    for (size_t k = 0; k < s->count; k++) {
        size_t j = w->far[k];
        if (w->state[j] != 0 || !overlap(s->pieces[i].box, s->pieces[j].box)) continue;
        if (is_behind(s, &s->pieces[j], &s->pieces[i])) visit(w, j);
    }
    w->state[i] = 2;
    s->order[w->drawn++] = i;
}

static int compare(const void* a, const void* b) {
    const double* p = a;
    const double* q = b;
    if (p[0] != q[0]) return p[0] > q[0] ? -1 : 1;
    return p[1] < q[1] ? -1 : 1;
}

static crStatus sort(crStage* s) {
    double(*keys)[2] = malloc((s->count + 1) * sizeof *keys);
    Sorting w = {.stage = s, .far = malloc((s->count + 1) * sizeof *w.far)};
    w.state = calloc(s->count + 1, sizeof *w.state);
    s->order = malloc((s->count + 1) * sizeof *s->order);
    bool good = keys != NULL && w.far != NULL && w.state != NULL && s->order != NULL;
    for (size_t i = 0; i < s->count && good; i++) {
        keys[i][0] = s->pieces[i].depth;
        keys[i][1] = (double)i;
    }
    if (good) qsort(keys, s->count, sizeof *keys, compare);
    for (size_t i = 0; i < s->count && good; i++) {
        w.far[i] = (size_t)keys[i][1];
    }
    if (good && s->count > MOST) memcpy(s->order, w.far, s->count * sizeof *s->order);
    for (size_t i = 0; i < s->count && good && s->count <= MOST; i++) {
        if (w.state[w.far[i]] == 0) visit(&w, w.far[i]);
    }
    free(keys);
    free(w.far);
    free(w.state);
    return good ? CR_OK : CR_ERR_MEMORY;
}

crStatus cr__stage_fill(crStage* s, const crView* v) {
    s->count = 0;
    free(s->order);
    s->order = NULL;
    return add_all(s, v) ? sort(s) : CR_ERR_MEMORY;
}

void cr__stage_empty(crStage* s) {
    free(s->pieces);
    free(s->order);
    s->pieces = NULL;
    s->order = NULL;
    s->count = s->room = 0;
}
