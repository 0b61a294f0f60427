// ball.c - contacts straight from the shapes: a ball with a ball, a box or a half-space; a box on a half-space.
//
// The formulas are those of distance.c: n along the line of centres, from the nearest point of a box, or the
// plane's own. A box on a plane touches with the corners of the face, edge or vertex that face.c would choose,
// each by its own height. What is saved is the way there: no pieces in a working frame, no faces to clip, no
// sorting.
// Differences of centres are taken first, so that far from the world's origin no digits are lost. Also: which
// shapes are clear of a half-space by their bounding sphere, since a tilted one pairs with everything in the
// broad phase. No failure: pairs without a ball, or with another shape, are left to the general way.
#include "collide/manifold.h"

static bool at_origin(const crShape* s) {
    return s->pose.p.x == 0.0 && s->pose.p.y == 0.0 && s->pose.p.z == 0.0;
}

static crVec3 centre_of(const crShape* s, const crPose* body) {
    return at_origin(s) ? body->p : cr_pose_point(*body, s->pose.p);
}

static crQuat turn_of(const crShape* s, const crPose* body) {
    const crQuat* q = &s->pose.q;
    return q->w == 1.0 && q->x == 0.0 && q->y == 0.0 && q->z == 0.0 ? body->q : cr_quat_mul(body->q, *q);
}

static const uint32_t smooth = (uint32_t)CR_FEATURE_SMOOTH << 28, chosen = (uint32_t)CR_FEATURE_CENTRE << 28;

// the witness points are only as good as the centres: their mean keeps on_b - on_a = gap n
static void write_points(crContactPoint* c, crVec3 on_a, crVec3 on_b) {
    c->point = cr_scale(0.5, cr_add(on_a, on_b));
    c->on_a = cr_madd(c->point, -0.5 * c->gap, c->normal);
    c->on_b = cr_madd(c->point, 0.5 * c->gap, c->normal);
    c->child_a = c->child_b = 0;
}

static int two_balls(const crShape* a, const crPose* body_a, const crShape* b, const crPose* body_b,
                     double margin, crContactPoint* c) {
    crVec3 x = centre_of(a, body_a), y = centre_of(b, body_b), d = cr_sub(y, x);
    double length = cr_norm(d), gap = length - (a->size.x + b->size.x);
    c->gap = gap;
    if (gap > margin) return 0;
    bool choice = !(length > 0.0);
    c->normal = choice ? cr_quat_rotate(turn_of(a, body_a), cr_vec3(0, 0, 1)) : cr__over(d, length);
    write_points(c, cr_madd(x, a->size.x, c->normal), cr_madd(y, -b->size.x, c->normal));
    c->feature_a = c->feature_b = choice ? chosen : smooth;
    return 1;
}

// a ball and what it meets: n points from that to the ball, whose centre is this high above it
typedef struct Meeting {
    double height;
    crVec3 n;
    uint32_t ball, other;  // features
} Meeting;

static int write_meeting(const Meeting* m, crVec3 centre, double radius, bool ball_is_b, crContactPoint* c) {
    crVec3 on_ball = cr_madd(centre, -radius, m->n), foot = cr_madd(centre, -m->height, m->n);
    c->gap = m->height - radius;
    c->normal = ball_is_b ? m->n : cr_neg(m->n);
    write_points(c, ball_is_b ? foot : on_ball, ball_is_b ? on_ball : foot);
    c->feature_a = ball_is_b ? m->other : m->ball;
    c->feature_b = ball_is_b ? m->ball : m->other;
    return 1;
}

// false: farther away than reach
static bool meet_box(const crShape* box, const crPose* body, crVec3 centre, double reach, Meeting* m) {
    crMat3 R = cr__rotation(turn_of(box, body));
    crVec3 y = cr_mat3_mul_t(R, cr_sub(centre, centre_of(box, body))), n;
    bool choice = false;
    m->height = cr__box_point(box->size, y, &n, &choice);
    if (m->height > reach) return false;
    m->n = cr_mat3_mul(R, n);
    m->ball = choice ? chosen : smooth;
    m->other = choice ? chosen : cr__box_feature(box->size, cr_madd(y, -m->height, n), cr_norm(box->size));
    return true;
}

static bool meet_plane(const crShape* plane, const crPose* body, crVec3 centre, double reach, Meeting* m) {
    m->n = cr__plane_normal(plane, turn_of(plane, body));
    m->height = cr_dot(m->n, cr_sub(centre, centre_of(plane, body))) - plane->offset;
    m->ball = smooth;
    m->other = (uint32_t)CR_FEATURE_FACE << 28;
    return m->height <= reach;
}

int cr__ball_contact(const crShape* a, const crPose* body_a, const crShape* b, const crPose* body_b,
                     double margin, crContactPoint* contact) {
    if (a->kind == CR_SHAPE_SPHERE && b->kind == CR_SHAPE_SPHERE)
        return two_balls(a, body_a, b, body_b, margin, contact);
    bool ball_is_b = b->kind == CR_SHAPE_SPHERE;
    const crShape *ball = ball_is_b ? b : a, *other = ball_is_b ? a : b;
    if (ball->kind != CR_SHAPE_SPHERE) return -1;
    const crPose *at = ball_is_b ? body_b : body_a, *under = ball_is_b ? body_a : body_b;
    crVec3 centre = centre_of(ball, at);
    double reach = ball->size.x + margin;
    Meeting m;
    bool met;
    if (other->kind == CR_SHAPE_BOX)
        met = meet_box(other, under, centre, reach, &m);
    else if (other->kind == CR_SHAPE_HALFSPACE)
        met = meet_plane(other, under, centre, reach, &m);
    else
        return -1;
    contact->gap = m.height - ball->size.x;
    if (!met || contact->gap > margin) return 0;
    return write_meeting(&m, centre, ball->size.x, ball_is_b, contact);
}

// which signs a corner of the box may have along each axis: bit 0 minus, bit 1 plus
static void choose_corners(crVec3 down, int signs[3]) {
    double l[3] = {down.x, down.y, down.z}, f[3] = {fabs(l[0]), fabs(l[1]), fabs(l[2])};
    int high = f[0] >= f[1] && f[0] >= f[2] ? 0 : f[1] >= f[2] ? 1 : 2;
    int low = f[0] <= f[1] && f[0] <= f[2] ? 0 : f[1] <= f[2] ? 1 : 2;
    bool face = f[high] >= CR__FACING, edge = f[low] <= CR__ALONG;
    for (int k = 0; k < 3; k++) {
        bool both = face ? k != high : edge && k == low;
        signs[k] = both ? 3 : signbit(l[k]) ? 1 : 2;
    }
}

int cr__box_on_plane(const crShape* a, const crPose* body_a, const crShape* b, const crPose* body_b,
                     double margin, crContactPoint* contacts) {
    bool box_is_b = b->kind == CR_SHAPE_BOX;
    const crShape *box = box_is_b ? b : a, *plane = box_is_b ? a : b;
    if (box->kind != CR_SHAPE_BOX || plane->kind != CR_SHAPE_HALFSPACE) return -1;
    const crPose *at = box_is_b ? body_b : body_a, *under = box_is_b ? body_a : body_b;
    crVec3 s = box->size;
    // corners that are one are left to the general way
    if (!(fmin(s.x, fmin(s.y, s.z)) > 1e-7 * cr_norm(s))) return -1;
    crVec3 n = cr__plane_normal(plane, turn_of(plane, under)), centre = centre_of(box, at);
    crMat3 R = cr__rotation(turn_of(box, at));
    crVec3 up = cr_mat3_mul_t(R, n);
    double height = cr_dot(n, cr_sub(centre, centre_of(plane, under))) - plane->offset;
    int signs[3], count = 0;
    choose_corners(cr_neg(up), signs);
    // in the order of their features: minus before plus, x first
    for (int corner = 0; corner < 8; corner++) {
        int x = corner >> 2 & 1, y = corner >> 1 & 1, z = corner & 1;
        if ((signs[0] >> x & 1) == 0 || (signs[1] >> y & 1) == 0 || (signs[2] >> z & 1) == 0) continue;
        crVec3 arm = cr_vec3(x != 0 ? s.x : -s.x, y != 0 ? s.y : -s.y, z != 0 ? s.z : -s.z);
        double gap = height + cr_dot(up, arm);
        if (gap > margin) continue;
        crVec3 vertex = cr_add(centre, cr_mat3_mul(R, arm)), foot = cr_madd(vertex, -gap, n);
        uint32_t own = (uint32_t)CR_FEATURE_VERTEX << 28 | (uint32_t)(9 * (1 + x) + 3 * (1 + y) + 1 + z);
        uint32_t flat = (uint32_t)CR_FEATURE_FACE << 28;
        crContactPoint* c = &contacts[count++];
        c->gap = gap;
        c->normal = box_is_b ? n : cr_neg(n);
        write_points(c, box_is_b ? foot : vertex, box_is_b ? vertex : foot);
        c->feature_a = box_is_b ? flat : own;
        c->feature_b = box_is_b ? own : flat;
    }
    return count;
}

bool cr__off_plane(const crShape* plane, const crPose* body, const crShape* other, const crPose* at,
                   double margin) {
    crVec3 n = cr__plane_normal(plane, turn_of(plane, body));
    double height = cr_dot(n, cr_sub(centre_of(other, at), centre_of(plane, body))) - plane->offset;
    return height * (1.0 - 0x1p-40) > cr__shape_extent(other) + margin;
}
