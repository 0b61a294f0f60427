// ball.c - the contact of a ball with a ball, a box or a half-space, straight from the shapes.
//
// The formulas are those of distance.c: n along the line of centres, from the nearest point of a box, or the
// plane's own. What is saved is the way there: no pieces in a working frame, no faces to clip, no sorting.
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
    if (gap > margin) return 0;
    bool choice = !(length > 0.0);
    c->gap = gap;
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
    if (!met || m.height - ball->size.x > margin) return 0;
    return write_meeting(&m, centre, ball->size.x, ball_is_b, contact);
}

bool cr__off_plane(const crShape* plane, const crPose* body, const crShape* other, const crPose* at,
                   double margin) {
    crVec3 n = cr__plane_normal(plane, turn_of(plane, body));
    double height = cr_dot(n, cr_sub(centre_of(other, at), centre_of(plane, body))) - plane->offset;
    return height * (1.0 - 0x1p-40) > cr__shape_extent(other) + margin;
}
