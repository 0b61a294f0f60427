// flight.c - the time of the next impact: the first time at which a contact that closes fast touches.
//
// Bodies fly from their present poses: com + v t + a t^2/2, where a is the fall of a body in the air and 0
// for a supported one; rotation is exp(omega t); bodies in a tree move along the screw of their velocity. An
// open pair is advanced conservatively, t += gap / (bound of the speed at which the gap closes along the
// present normal), so no contact is missed; as soon as a Newton step from there finds overlap, the time is
// bracketed and found by regula falsi. A pair that touches already is examined point by point: the impact is
// that of the first point whose parabola gap + s t + a_n t^2/2 reaches zero faster than the threshold.
// Fails: a pair not decided after ADVANCES steps (grazing) counts as passing; the contact solve handles
// a contact missed that way.
#include "step/clocks.h"

#define ADVANCES 200  // most steps of conservative advancement of a pair
#define FALSI    80   // most steps of regula falsi
#define AHEAD    0.9  // share of a parabola's time that is taken as lower bound of the time of impact

typedef struct Flight {
    crVec3 com, v, a, omega;
    bool turns;  // true if omega is not zero
    crPose pose;
    crVec3 arm;    // from the centre of mass to the body's origin
    bool screw;    // true if the centre of mass turns about an axis
    crVec3 pivot;  // point on that axis
    crVec3 along;  // velocity along that axis
} Flight;

static crPose flight_at(const Flight* f, double t) {
    if (!f->turns)
        return (crPose){cr_add(cr_madd(cr_madd(f->com, t, f->v), 0.5 * t * t, f->a), f->arm), f->pose.q};
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
    // A screw moves every point about its axis; other bodies turn about their centre of mass.
    if (f->screw) return cr_add(f->along, cr_cross(f->omega, cr_sub(point, cr_madd(f->pivot, t, f->along))));
    crVec3 com = cr_madd(cr_madd(f->com, t, f->v), 0.5 * t * t, f->a);
    return cr_add(cr_madd(f->v, t, f->a), cr_cross(f->omega, cr_sub(point, com)));
}

// flight from the body's pose at its own clock
static Flight flight_from(const crStep* step, int body) {
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    const crBody* b = &model->bodies[body];
    Flight f = {.com = d->com[body], .pose = d->pose[body]};
    if (body == CR_WORLD || b->nv == 0) f.com = f.pose.p;
    f.omega = d->twist[body].omega;
    f.v = cr__point_velocity(d, body, f.com);
    f.arm = cr_sub(f.pose.p, f.com);
    f.a = cr__step_fall(step, body);
    double w2 = cr_dot(f.omega, f.omega);
    f.turns = w2 > 0.0;
    f.screw = b->joint != CR_JOINT_FREE && b->joint != CR_JOINT_PLANAR && w2 > 0.0;
    if (f.screw) {
        f.pivot = cr_madd(f.com, 1.0 / w2, cr_cross(f.omega, f.v));
        f.along = cr_scale(cr_dot(f.omega, f.v) / w2, f.omega);
    }
    return f;
}

static double behind(const crStep* step, int body) {
    return cr__moves(step->model, body) ? step->clocks->now_at - step->clocks->clock[body] : 0.0;
}

// flight from the body's pose a time t after its own clock
static Flight flight_later(const crStep* step, int body, double t) {
    Flight f = flight_from(step, body);
    crPose pose = flight_at(&f, t);
    crVec3 arm = cr_quat_rotate(cr__rotation_exp(cr_scale(t, f.omega)), f.arm);
    crVec3 com = cr_sub(pose.p, arm);
    f.v = flight_velocity(&f, t, com);
    f.com = com;
    f.pose = pose;
    f.arm = arm;
    if (f.screw) f.pivot = cr_madd(f.pivot, t, f.along);
    return f;
}

// flight from the body's pose at now_at
static Flight flight_of(const crStep* step, int body) {
    double t = behind(step, body);
    return t > 0.0 ? flight_later(step, body, t) : flight_from(step, body);
}

crPose cr__step_pose_now(const crStep* step, int body) {
    if (!(behind(step, body) > 0.0)) return step->dynamics.pose[body];
    return flight_of(step, body).pose;
}

crVec3 cr__step_velocity_now(const crStep* step, int body, crVec3 point) {
    if (!(behind(step, body) > 0.0)) return cr__point_velocity(&step->dynamics, body, point);
    Flight f = flight_of(step, body);
    return flight_velocity(&f, 0.0, point);
}

typedef struct Pair {
    const crStep* step;
    int shape_a, shape_b;
    Flight a, b;
    double size_a, size_b;  // distance of a body's farthest point from its centre of mass, m
    double bound;           // upper bound of the closing speed over the step, m/s
    double fast;            // approach speed above which touching is an impact, m/s
    double tol;             // gap that counts as touching, m
    bool balls;             // true for two balls about their centres of mass
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

// Regula falsi (Illinois) of a gap minus its target: f_lo > 0 at lo, f_hi <= 0 at hi; the value at the end
// that is kept is halved.
typedef struct Falsi {
    double lo, f_lo, hi, f_hi;
} Falsi;

static double falsi_at(const Falsi* r) {
    double t = r->f_lo < INFINITY ? r->lo + (r->hi - r->lo) * r->f_lo / (r->f_lo - r->f_hi) : r->lo;
    return t > r->lo && t < r->hi ? t : 0.5 * (r->lo + r->hi);
}

static void falsi_take(Falsi* r, double t, double f) {
    if (f > 0.0) {
        r->lo = t;
        r->f_lo = f;
        r->f_hi *= 0.5;
    } else {
        r->hi = t;
        r->f_hi = f;
        r->f_lo *= 0.5;
    }
}

// Time in [lo, hi] at which the gap, above tol/2 at lo and below at hi, comes down to about tol/2.
static double falsi(const Pair* pair, double lo, double gap_lo, double hi, double gap_hi) {
    double target = 0.5 * pair->tol;
    Falsi r = {lo, gap_lo - target, hi, gap_hi - target};
    for (int i = 0; i < FALSI && r.hi - r.lo > 1e-15 * r.hi; i++) {
        double t = falsi_at(&r);
        crContactPoint p;
        if (!distance_at(pair, t, INFINITY, &p)) return r.hi;
        if (fabs(p.gap - target) <= target) return t;
        falsi_take(&r, t, p.gap - target);
    }
    return r.lo;
}

// Upper bound, from t to h, of the speed at which the gap along the fixed direction n closes. The distance is
// never less than that gap, and bodies that pass each other close along n much more slowly than they move.
static double bound_along(const Pair* pair, double t, double h, crVec3 n) {
    const Flight *a = &pair->a, *b = &pair->b;
    if (a->screw || b->screw) return pair->bound;
    crVec3 fall = cr_sub(b->a, a->a), v = cr_madd(cr_sub(b->v, a->v), t, fall);
    double rate = fmax(0.0, -cr_dot(n, v)) + (h - t) * fmax(0.0, -cr_dot(n, fall));
    rate += cr_norm(cr_cross(n, a->omega)) * pair->size_a + cr_norm(cr_cross(n, b->omega)) * pair->size_b;
    // n has only the accuracy of the distance computation
    return fmin(pair->bound, rate + 1e-6 * pair->bound);
}

// Finds the first touch of an open pair. Returns false if there is no touch within h or if it is slow.
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
        double bound = bound_along(pair, t, h, p.normal);
        if (p.gap > bound * (h - t)) return false;
        double newton = rate > 0.0 ? t + p.gap / rate : INFINITY;
        crContactPoint q;
        if (newton <= h && distance_at(pair, newton, INFINITY, &q) && q.gap < 0.5 * pair->tol) {
            // conservative advancement converges slowly to a soft touch
            *time = falsi(pair, t, p.gap, newton, q.gap);
            return distance_at(pair, *time, INFINITY, &q) && closing(pair, *time, &q) > pair->fast;
        }
        t += fmax(p.gap, 1e-6 * pair->tol) / bound;
    }
    return false;
}

// Finds the first touch of two balls: f = |d|^2 - R^2, d the vector between centres, a parabola in t. Since
// f'' >= -2 |d| |a|, a parabola from below leads quadratically to the first root.
static bool balls_touch(const Pair* pair, double h, double* time) {
    const crBodyShape* shapes = pair->step->model->shapes;
    double R = shapes[pair->shape_a].shape.size.x + shapes[pair->shape_b].shape.size.x;
    crVec3 d0 = cr_sub(pair->b.com, pair->a.com), w0 = cr_sub(pair->b.v, pair->a.v);
    crVec3 a = cr_sub(pair->b.a, pair->a.a);
    double m = -2.0 * cr_norm(a) * (cr_norm(d0) + h * (cr_norm(w0) + h * cr_norm(a)));
    double t = 0.0;
    for (int i = 0; i < ADVANCES; i++) {
        crVec3 d = cr_madd(cr_madd(d0, t, w0), 0.5 * t * t, a), w = cr_madd(w0, t, a);
        double length = cr_norm(d), slope = 2.0 * cr_dot(d, w);
        if (length - R <= pair->tol) {
            *time = t;
            return -slope > 2.0 * length * pair->fast;
        }
        double target = R + 0.5 * pair->tol;
        double f = (length - target) * (length + target);
        double down = sqrt(slope * slope - 2.0 * m * f) - slope;
        t += 2.0 * f / down;
        if (!(t <= h)) return false;
    }
    return false;
}

static double least_gap_fast(const Pair* pair, double t, double margin) {
    crContactPoint points[16];
    int needed = 0;
    int count = cr__pairs_collide(pair->step->plan, pair->shape_a, pair->shape_b, flight_at(&pair->a, t),
                                  flight_at(&pair->b, t), margin, points, 16, &needed, NULL);
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        if (closing(pair, t, &points[i]) <= pair->fast) continue;
        least = fmin(least, points[i].gap);
    }
    return least;
}

// Time within h at which a point of a touching pair touches faster than `fast`, by its parabola; INFINITY:
// none.
static double parabola(const Pair* pair, const crStepContact* c, double h) {
    double s = c->speed, a = cr_dot(cr_sub(pair->b.a, pair->a.a), c->point.normal);
    double gap = fmax(c->point.gap, 0.0);
    double root = s * s - 2.0 * a * gap;
    if (!(root > pair->fast * pair->fast) || !(a < 0.0 || s < 0.0)) return INFINITY;
    root = sqrt(root);
    double t = a < 0.0 ? (s + root) / -a : 2.0 * gap / (root - s);
    return t > 0.0 && t <= h ? t : INFINITY;
}

// Finds the time of impact from the true gaps near the parabola's time, by regula falsi, or by bisection if
// no point closes fast at one end. Returns false if no impact is found.
static bool point_touch(const Pair* pair, const crStepContact* c, double t, double h, double* time) {
    double a = cr_dot(cr_sub(pair->b.a, pair->a.a), c->point.normal);
    double target = 0.5 * pair->tol, margin = fmax(2.0 * pair->tol, 1.5 * c->point.gap);
    Falsi r = {c->speed > 0.0 ? fmin(t, c->speed / -a) : 0.0, INFINITY, fmin(h, 1.01 * t), 0.0};
    r.f_hi = least_gap_fast(pair, r.hi, margin) - target;
    if (!(r.f_hi <= 0.0)) return false;
    for (int i = 0; i < FALSI && r.hi - r.lo > 1e-12 * h; i++) {
        double at = falsi_at(&r);
        if (at <= r.lo || at >= r.hi) break;
        double f = least_gap_fast(pair, at, margin) - target;
        falsi_take(&r, at, f);
        if (fabs(f) <= target) break;
    }
    *time = r.hi;
    return true;
}

// True for a ball about its body's centre of mass: its rotation does not matter, and f's is set to zero.
static bool still_ball(const crModel* model, int shape, Flight* f) {
    const crBodyShape* s = &model->shapes[shape];
    crVec3 off = cr_sub(s->shape.pose.p, model->bodies[s->body].com);
    if (s->shape.kind != CR_SHAPE_SPHERE || f->screw || cr_dot(off, off) > 0.0) return false;
    f->omega = cr_vec3(0, 0, 0);
    f->turns = false;
    return true;
}

static double touch_of(const crStepSettings* settings, const crStepContact* c) {
    double cluster = settings->cluster;
    return cluster > 0.0 ? fmin(c->delta, cluster) : c->delta;
}

static Pair flight_pair(const crStep* step, const crStepContact* c, double h) {
    Pair pair = {.step = step, .shape_a = c->shape_a, .shape_b = c->shape_b};
    pair.a = flight_of(step, c->body_a);
    pair.b = flight_of(step, c->body_b);
    bool ball_a = still_ball(step->model, c->shape_a, &pair.a),
         ball_b = still_ball(step->model, c->shape_b, &pair.b);
    pair.balls = ball_a && ball_b;
    pair.size_a = step->plan->size[c->body_a];
    pair.size_b = step->plan->size[c->body_b];
    pair.bound = cr_norm(cr_sub(pair.b.v, pair.a.v)) + h * cr_norm(cr_sub(pair.b.a, pair.a.a)) +
                 cr_norm(pair.a.omega) * pair.size_a + cr_norm(pair.b.omega) * pair.size_b;
    pair.tol = touch_of(&step->settings, c);
    return pair;
}

// True if all points of a pair touch and none separates fast: a resting pair has no impact.
static bool touches_all(const crStepContacts* contacts, const crStepSettings* settings, int i, int end) {
    for (int k = i; k < end; k++) {
        const crStepContact* c = &contacts->list[k];
        if (c->point.gap > touch_of(settings, &contacts->list[i]) || c->speed >= c->fast) return false;
    }
    return true;
}

// pair of contacts i to end - 1, and its least gap
static Pair pair_of_run(const crStep* step, int i, int end, double h, double* least) {
    Pair pair = flight_pair(step, &step->contacts.list[i], h);
    *least = INFINITY;
    for (int k = i; k < end; k++) {
        pair.fast = fmax(pair.fast, step->contacts.list[k].fast);
        *least = fmin(*least, step->contacts.list[k].point.gap);
    }
    return pair;
}

// True if a point may still have an impact: one point may rest or land softly while another closes fast.
static bool watched(const Pair* pair, const crStepContact* c) {
    return c->point.gap > pair->tol || c->speed >= c->fast;
}

// Returns the watched point with the least parabola's time after *tried, and sets *tried to that time; NULL
// and INFINITY: none.
static const crStepContact* next_point(const Pair* pair, int i, int end, double h, double* tried) {
    const crStepContact* next = NULL;
    double least = INFINITY;
    for (int k = i; k < end; k++) {
        const crStepContact* c = &pair->step->contacts.list[k];
        double t = watched(pair, c) ? parabola(pair, c, h) : INFINITY;
        if (!(t > *tried && t < least)) continue;
        least = t;
        next = c;
    }
    *tried = least;
    return next;
}

double cr__step_pair_impact(const crStep* step, int i, int end, double h) {
    double least, t = h;
    if (touches_all(&step->contacts, &step->settings, i, end)) return INFINITY;
    Pair pair = pair_of_run(step, i, end, h, &least);
    if (!(pair.fast < INFINITY) || (least > pair.tol && least > pair.bound * h)) return INFINITY;
    if (pair.bound > 0.0 && least > pair.tol) {
        if (pair.balls ? balls_touch(&pair, h, &t) : first_touch(&pair, h, &t)) return t;
    }
    // Points are examined in the order of their parabolas' times, as long as these come before the impact
    // found so far.
    bool found = false;
    for (double tried = 0.0; tried <= h;) {
        const crStepContact* c = next_point(&pair, i, end, h, &tried);
        if (c == NULL || !point_touch(&pair, c, tried, h, &t)) continue;
        found = true;
        h = fmin(h, t);
    }
    return found ? h : INFINITY;
}

double cr__step_pair_soonest(const crStep* step, int i, int end, double h, bool* exact) {
    double least, soonest = INFINITY;
    *exact = false;
    if (touches_all(&step->contacts, &step->settings, i, end)) return INFINITY;
    Pair pair = pair_of_run(step, i, end, h, &least);
    if (!(pair.fast < INFINITY) || (least > pair.tol && least > pair.bound * h)) return INFINITY;
    if (pair.balls) {
        *exact = true;
        return cr__step_pair_impact(step, i, end, h);
    }
    if (least > pair.tol) return (least - pair.tol) / pair.bound;
    for (int k = i; k < end; k++) {
        if (watched(&pair, &step->contacts.list[k]))
            soonest = fmin(soonest, parabola(&pair, &step->contacts.list[k], h));
    }
    return AHEAD * soonest;
}

bool cr_step_next_impact(const crStep* step, double h, double* time) {
    if (!cr__step_ready(step) || time == NULL) return false;
    double first = INFINITY;
    for (int i = 0; i < step->contacts.count;) {
        int end = cr__step_run_end(step->contacts.list, step->contacts.count, i);
        first = fmin(first, cr__step_pair_impact(step, i, end, h));
        i = end;
    }
    // The time is later than now, even if a distance and a contact disagree on the last digits of a touch.
    *time = fmin(fmax(first, 1e-14 * h), h);
    return first <= h;
}
