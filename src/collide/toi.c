// toi.c - time of impact by conservative advancement (Mirtich 1996), rotation included.
//
// At time t the gap g and its normal n are known. No point of A moves along n faster than n.v_A + |omega_A x
// n| R_A, R_A the reach of the shape about its centre of rotation, without the ball that is added to the core
// of a sphere or capsule, since turning it changes nothing; likewise B along -n. So nothing can touch before
// t + g / (sum of both). Advancing by that, t converges to the first touch from below and cannot pass it.
// Shapes of pieces have a normal per piece, so for them the bound is |v_B - v_A| + |omega_A| R_A +
// |omega_B| R_B. The separation along a fixed n bounds the gap from below too and costs two support points,
// so convex pairs advance along it by the same rule until nine tenths of the gap are used up, and only then
// ask for the distance again.
// Ends: gap <= tolerance (hit), t beyond the duration (none), or 1000 distances (limit: nothing hit before
// t).
#include "collide/manifold.h"
#include "collide/pieces.h"

#define ROUNDS 1000
#define STEPS  64  // along one normal

crPose cr_motion_at(const crMotion* m, double t) {
    if (m == NULL) return (crPose){0};
    crPose pose = {cr_madd(m->pose.p, t, m->v), m->pose.q};
    double speed = cr_norm(m->omega);
    if (speed > 0.0)
        pose.q = cr_quat_normalize(cr_quat_mul(cr_quat_axis_angle(m->omega, speed * t), m->pose.q));
    return pose;
}

typedef struct Mover {
    const crShape* shape;
    const crMotion* motion;
    double reach;  // about the centre of rotation, m
    double swing;  // reach of what turning moves, m
} Mover;

static Mover mover(const crShape* shape, const crMotion* motion) {
    crVec3 centre = cr_vec3(0, 0, 0);
    crShape core = *shape;
    if (shape->kind == CR_SHAPE_SPHERE || shape->kind == CR_SHAPE_CAPSULE) core.size.x = 0.0;
    return (Mover){shape, motion, cr_shape_reach(shape, centre), cr_shape_reach(&core, centre)};
}

// rotation times reach; a half-space that does not turn has no reach to speak of
static double turning(const Mover* m, double spin) { return spin > 0.0 ? spin * m->swing : 0.0; }

static double closing_all(const Mover* a, const Mover* b) {
    return cr_norm(cr_sub(b->motion->v, a->motion->v)) + turning(a, cr_norm(a->motion->omega)) +
           turning(b, cr_norm(b->motion->omega));
}

static double closing_along(const Mover* a, const Mover* b, crVec3 n) {
    return cr_dot(cr_sub(a->motion->v, b->motion->v), n) +
           turning(a, cr_norm(cr_cross(a->motion->omega, n))) +
           turning(b, cr_norm(cr_cross(b->motion->omega, n)));
}

static double size_of(const Mover* m) { return isfinite(m->reach) ? m->reach : 0.0; }

static double separation_at(const Mover* a, const Mover* b, crVec3 n, double t) {
    crConvex x, y;
    crPose pose_a = cr_motion_at(a->motion, t), pose_b = cr_motion_at(b->motion, t);
    cr__convex_pair(a->shape, &pose_a, b->shape, &pose_b, &x, &y);
    return cr__separation(&x, &y, n) - x.radius - y.radius;
}

// the time before which a gap closing no faster than that stays open; INFINITY: beyond `duration`
static double open_until(double gap, double closing, double touch, double t, double duration) {
    // aim at half the tolerance: rounding must not stop just short of it
    double next = t + (gap - 0.5 * touch) / closing;
    if (!(closing > 0.0) || !(next <= duration)) return (double)INFINITY;
    return next > t ? next : t + 0x1p-52 * fmax(t, duration);
}

// The latest time this finds before which nothing touches: t with gap > touch and normal n known. INFINITY:
// not before `duration`.
static double advance(const Mover* a, const Mover* b, const crContactPoint* at, double touch, double t,
                      double duration) {
    crVec3 n = at->normal;
    double closing = closing_along(a, b, n), gap = at->gap;
    bool plane = a->shape->kind == CR_SHAPE_HALFSPACE || b->shape->kind == CR_SHAPE_HALFSPACE;
    for (int i = 0; i < STEPS && gap > fmax(touch, 0.1 * at->gap); i++) {
        t = open_until(gap, closing, touch, t, duration);
        if (plane || !(t <= duration)) break;
        gap = separation_at(a, b, n, t);
    }
    return t;
}

crImpactTime cr_time_of_impact(const crShape* a, const crMotion* motion_a, const crShape* b,
                               const crMotion* motion_b, double duration, double tolerance) {
    if (!cr__shape_given(a) || motion_a == NULL || !cr__shape_given(b) || motion_b == NULL)
        return (crImpactTime){0};
    crImpactTime out = {.outcome = CR_IMPACT_NONE};
    Mover A = mover(a, motion_a), B = mover(b, motion_b);
    bool single = cr__is_convex(a) && cr__is_convex(b);
    double touch = (tolerance > 0.0 ? tolerance : 1e-10) * fmax(size_of(&A), size_of(&B));
    double fastest = closing_all(&A, &B), t = 0.0;
    for (out.iterations = 0; out.iterations < ROUNDS; out.iterations++) {
        crDistance d;
        double reach = single ? (double)INFINITY : 2.0 * touch + fastest * (duration - t);
        if (!cr_distance(a, cr_motion_at(motion_a, t), b, cr_motion_at(motion_b, t), reach, &d)) return out;
        out.t = t;
        out.distance = d;
        double gap = d.contact.gap;  // never more than the true one
        if (gap <= touch) {
            out.outcome = CR_IMPACT_HIT;
            return out;
        }
        t = single ? advance(&A, &B, &d.contact, touch, t, duration)
                   : open_until(gap, fastest, touch, t, duration);
        if (!(t <= duration)) return out;
    }
    out.outcome = CR_IMPACT_LIMIT;
    return out;
}
