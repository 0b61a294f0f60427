// flight.c - when does the next impact come: the first time a contact that closes fast touches.
//
// Bodies fly from where they are: com + v t + a t^2/2 with a their fall where they are in the air, 0 where
// something carries them; rotation by exp(omega t); bodies in a tree along the screw of their velocity. A
// pair that is apart is advanced conservatively, t += gap / (bound of the closing speed), so nothing is
// passed through; once a Newton step from there finds overlap, the time between is bracketed and found by
// regula falsi. A pair that touches already is watched point by point: a point whose parabola gap + s t + a_n
// t^2/2 reaches zero at more than the threshold.
// Fails: after 200 steps a grazing pair counts as passing; what it hides is left to the contact solve.
#include "model/spatial.h"
#include "step/step.h"

#define ADVANCES 200
#define FALSI    80

typedef struct Flight {
    crVec3 com, v, a, omega;
    crPose pose;
    crVec3 arm;    // from the centre of mass to the body's origin
    bool screw;    // the centre turns about an axis
    crVec3 pivot;  // a point of it
    crVec3 along;  // velocity along it
} Flight;

crVec3 cr__step_fall(const crStep* step, int body) {
    const crBody* b = &step->model->bodies[body];
    crVec3 a = cr_vec3(0, 0, 0);
    for (int j = b->v; step->airborne[body] && j < b->v + b->nv; j++) {
        a = cr_madd(a, step->fall[j], step->dynamics.axis[j].v);
    }
    return a;
}

static Flight flight_of(const crStep* step, int body) {
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    const crBody* b = &model->bodies[body];
    Flight f = {.com = d->com[body], .pose = d->pose[body]};
    if (body == CR_WORLD || b->nv == 0) f.com = f.pose.p;
    f.omega = d->twist[body].omega;
    f.v = cr_model_point_velocity(d, body, f.com);
    f.arm = cr_sub(f.pose.p, f.com);
    f.a = cr__step_fall(step, body);
    double w2 = cr_dot(f.omega, f.omega);
    f.screw = b->joint != CR_JOINT_FREE && b->joint != CR_JOINT_PLANAR && w2 > 0.0;
    if (f.screw) {
        f.pivot = cr_madd(f.com, 1.0 / w2, cr_cross(f.omega, f.v));
        f.along = cr_scale(cr_dot(f.omega, f.v) / w2, f.omega);
    }
    return f;
}

static crPose flight_at(const Flight* f, double t) {
    crQuat turn = cr__rotation_exp(cr_scale(t, f->omega));
    crVec3 com = cr_madd(cr_madd(f->com, t, f->v), 0.5 * t * t, f->a);
    if (f->screw) {
        com = cr_add(f->pivot, cr_quat_rotate(turn, cr_sub(f->com, f->pivot)));
        com = cr_madd(com, t, f->along);
    }
    return (crPose){cr_add(com, cr_quat_rotate(turn, f->arm)),
                    cr_quat_normalize(cr_quat_mul(turn, f->pose.q))};
}

// velocity of a world point of the body at t
static crVec3 flight_velocity(const Flight* f, double t, crVec3 point) {
    crPose pose = flight_at(f, t);
    crVec3 com = cr_sub(pose.p, cr_quat_rotate(cr__rotation_exp(cr_scale(t, f->omega)), f->arm));
    crVec3 v =
        f->screw ? cr_add(f->along, cr_cross(f->omega, cr_sub(com, f->pivot))) : cr_madd(f->v, t, f->a);
    return cr_add(v, cr_cross(f->omega, cr_sub(point, com)));
}

typedef struct Pair {
    const crStep* step;
    int shape_a, shape_b;
    Flight a, b;
    double bound;  // of the closing speed over the step, m/s
    double fast;   // approach speed above which touching is an impact, m/s
    double tol;    // gap that counts as touching, m
} Pair;

static double closing(const Pair* pair, double t, const crContactPoint* p) {
    crVec3 u = cr_sub(flight_velocity(&pair->b, t, p->point), flight_velocity(&pair->a, t, p->point));
    return -cr_dot(u, p->normal);
}

static bool distance_at(const Pair* pair, double t, double reach, crContactPoint* p) {
    const crBodyShape* shapes = pair->step->model->shapes;
    crDistance distance;
    bool found = cr_distance(&shapes[pair->shape_a].shape, flight_at(&pair->a, t),
                             &shapes[pair->shape_b].shape, flight_at(&pair->b, t), reach, &distance);
    *p = distance.contact;
    return found;
}

// the time in [lo, hi] at which the gap, positive at lo and negative at hi, comes down to tol
static double falsi(const Pair* pair, double lo, double gap_lo, double hi, double gap_hi) {
    double target = 0.5 * pair->tol;
    double f_lo = gap_lo - target, f_hi = gap_hi - target;
    for (int i = 0; i < FALSI && hi - lo > 1e-15 * hi; i++) {
        double t = lo + (hi - lo) * f_lo / (f_lo - f_hi);
        crContactPoint p;
        if (!(t > lo && t < hi)) t = 0.5 * (lo + hi);
        if (!distance_at(pair, t, INFINITY, &p)) return hi;
        double f = p.gap - target;
        if (fabs(f) <= target) return t;
        if (f > 0.0) {
            lo = t;
            f_lo = f;
            f_hi *= 0.5;
        } else {
            hi = t;
            f_hi = f;
            f_lo *= 0.5;
        }
    }
    return lo;
}

// first touch of a pair that is apart; false where there is none, or where it is slow
static bool first_touch(const Pair* pair, double h, double* time) {
    double t = 0.0;
    for (int i = 0; i < ADVANCES && t <= h; i++) {
        crContactPoint p;
        if (!distance_at(pair, t, pair->bound * h, &p)) return false;
        double rate = closing(pair, t, &p);
        if (p.gap <= pair->tol) {
            *time = t;
            return rate > pair->fast;
        }
        if (p.gap > pair->bound * (h - t)) return false;
        double newton = rate > 0.0 ? t + p.gap / rate : INFINITY;
        crContactPoint q;
        if (newton <= h && distance_at(pair, newton, INFINITY, &q) && q.gap < 0.5 * pair->tol) {
            double at = falsi(pair, t, p.gap, newton, q.gap);
            if (distance_at(pair, at, INFINITY, &q) && closing(pair, at, &q) > pair->fast) {
                *time = at;
                return true;
            }
        }
        t += fmax(p.gap, 1e-6 * pair->tol) / pair->bound;
    }
    return false;
}

static double least_gap_fast(const Pair* pair, double t) {
    crContactPoint points[16];
    int needed = 0;
    int count = cr__step_pair(pair->step, pair->shape_a, pair->shape_b, flight_at(&pair->a, t),
                              flight_at(&pair->b, t), 2.0 * pair->tol, points, 16, &needed);
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        if (closing(pair, t, &points[i]) <= pair->fast) continue;
        least = fmin(least, points[i].gap);
    }
    return least;
}

// a point of a touching pair: its parabola, then the true gaps by halving
static bool point_touch(const Pair* pair, const crStepContact* c, double h, double* time) {
    double s = c->speed, a = cr_dot(cr_sub(pair->b.a, pair->a.a), c->point.normal);
    double gap = fmax(c->point.gap, 0.0);
    double root = s * s - 2.0 * a * gap;
    if (!(root > pair->fast * pair->fast) || !(a < 0.0 || s < 0.0)) return false;
    root = sqrt(root);
    double t = a < 0.0 ? (s + root) / -a : 2.0 * gap / (root - s);
    if (!(t > 0.0 && t <= h)) return false;
    double lo = s > 0.0 ? fmin(t, s / -a) : 0.0;
    double hi = fmin(h, 1.01 * t);
    if (!(least_gap_fast(pair, hi) <= 0.5 * pair->tol)) return false;
    while (hi - lo > 1e-12 * h) {
        double mid = 0.5 * (lo + hi);
        if (mid <= lo || mid >= hi) break;
        if (least_gap_fast(pair, mid) <= 0.5 * pair->tol) {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    *time = hi;
    return true;
}

static Pair pair_of(const crStep* step, const crStepContact* c, double h) {
    Pair pair = {.step = step, .shape_a = c->shape_a, .shape_b = c->shape_b};
    pair.a = flight_of(step, c->body_a);
    pair.b = flight_of(step, c->body_b);
    double size_a = step->size[c->body_a], size_b = step->size[c->body_b];
    pair.bound = cr_norm(cr_sub(pair.b.v, pair.a.v)) + h * cr_norm(cr_sub(pair.b.a, pair.a.a)) +
                 cr_norm(pair.a.omega) * size_a + cr_norm(pair.b.omega) * size_b;
    double cluster = step->settings.cluster;
    pair.tol = cluster > 0.0 ? fmin(c->delta, cluster) : c->delta;
    return pair;
}

bool cr_step_next_impact(crStep* step, double h, double* time) {
    double first = h;
    bool found = false;
    for (int i = 0; i < step->contact_count;) {
        // contacts of a pair stand together
        int end = i;
        double least = INFINITY;
        while (end < step->contact_count && step->contacts[end].shape_a == step->contacts[i].shape_a &&
               step->contacts[end].shape_b == step->contacts[i].shape_b) {
            least = fmin(least, step->contacts[end++].point.gap);
        }
        Pair pair = pair_of(step, &step->contacts[i], h);
        for (int k = i; k < end; k++) {
            pair.fast = fmax(pair.fast, step->contacts[k].fast);
        }
        double t = first;
        bool hit = pair.bound > 0.0 && least > pair.tol && first_touch(&pair, first, &t);
        if (hit) {
            found = true;
            first = fmin(first, t);
        }
        // one point may rest or land softly while another comes down fast
        for (int k = i; k < end && !hit; k++) {
            const crStepContact* c = &step->contacts[k];
            bool watched = c->point.gap > pair.tol || c->speed >= c->fast;
            if (!watched || !point_touch(&pair, c, first, &t)) continue;
            found = true;
            first = fmin(first, t);
        }
        i = end;
    }
    // later than now, also where a distance and a contact disagree on the last digits of a touch
    *time = fmax(first, 1e-14 * h);
    return found;
}
