// patch.c - contacts kept from one computation to the next while the shapes hardly move against each other.
//
// Where one shape meets the other with a flat face of unit normal n, the gap of a point x of the other is
// n.(x - face): linear in x, exact however the bodies move as long as x is the point that counts. What
// changes to second order: corners of the common region of two faces (the minimum of a gap with slope sigma
// over a polygon that shifts by m moves by sigma m / sin(corner / 2), linear programming; over a line that
// ends at a rim, by sigma m / sine between them), and the support
// point of a curved surface, whose gap is short by bend theta^2 at most. Directions n' at an angle beta to n
// separate by no more than gap - sin(beta) d, d the distance of the contacts' centre from the rim of the
// face, so none is better while 0.14 d exceeds depth and motion; smaller angles are the same contact.
// A pair that is apart stays so while m is less than its gap: distances are 1-Lipschitz.
// Fails: refresh refuses; nothing else.
#include <string.h>

#include "collide/manifold.h"
#include "collide/pieces.h"

#define TURN  0.01  // largest angle of a refresh, rad
#define SHARE 0.05  // largest motion, relative to the smaller shape
#define APART 0.14  // sine of the angle beyond which a face is another one
#define SAME  1e-9  // distance of unit normals that are the same

static bool flat(const crConvex* c) {
    return c->core == CR__BOX || c->core == CR__HULL || c->core == CR__HALFSPACE;
}

// the face of c with outward normal n, -1: none
static int face_along(const crConvex* c, crVec3 n) {
    if (c->core == CR__HALFSPACE) return cr_norm(cr_sub(c->size, n)) <= SAME ? 0 : -1;
    if (c->core == CR__BOX) {
        crVec3 l = cr_mat3_mul_t(c->R, n);
        for (int i = 0; i < 3; i++) {
            double p = cr__axis(l, (i + 1) % 3), q = cr__axis(l, (i + 2) % 3);
            if (p * p + q * q <= SAME * SAME) return 2 * i + (cr__axis(l, i) < 0.0);
        }
        return -1;
    }
    for (int i = 0; i < cr__face_count(c); i++)
        if (cr_norm(cr_sub(cr__face_normal(c, i), n)) <= SAME) return i;
    return -1;
}

// distance of x from the rim of face i, as far as the planes of the other faces tell
static double from_rim(const crConvex* c, int face, crVec3 x) {
    double least = (double)INFINITY;
    if (c->core == CR__BOX) {
        crVec3 l = cr_mat3_mul_t(c->R, cr_sub(x, c->p));
        for (int i = 0; i < 6; i++)
            if (i != face)
                least = fmin(least, cr__axis(c->size, i >> 1) - (i & 1 ? -1.0 : 1.0) * cr__axis(l, i >> 1));
        return least;
    }
    for (int i = 0; c->core != CR__HALFSPACE && i < cr__face_count(c); i++)
        if (i != face) least = fmin(least, cr__face_offset(c, i) - cr_dot(cr__face_normal(c, i), x));
    return least;
}

// largest radius of curvature of a piece, 0 where it has corners and edges only
static double bend(const crConvex* c) {
    crVec3 s = c->size;
    double most = fmax(s.x, fmax(s.y, s.z)), least = fmin(s.x, fmin(s.y, s.z));
    switch (c->core) {
    case CR__CYLINDER:
        // the lowest point of a rim runs r / sine of its tilt
        return s.x / APART;
    case CR__CONE:
        return s.x * fmax(1.0 / APART, sqrt(s.x * s.x + 4.0 * s.z * s.z) / (2.0 * s.z));
    case CR__ELLIPSOID:
        return most * most / least;
    case CR__SUPPORT:
        // not known: as a rim
        return c->extent / APART;
    default:
        return c->radius;
    }
}

// 1 / sin(corner / 2) of the sharpest corner that three of the contacts make
static double corner_sharpness(const crContactPoint* c, int count) {
    double cosine = -1.0;
    crVec3 u[CR_MANIFOLD_MAX][CR_MANIFOLD_MAX];
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) {
            u[i][j] = cr__unit(cr_sub(c[j].point, c[i].point), cr_vec3(0, 0, 0));
            u[j][i] = cr_neg(u[i][j]);
        }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            for (int k = j + 1; k < count; k++)
                if (i != j && i != k) cosine = fmax(cosine, cr_dot(u[i][j], u[i][k]));
    return 1.0 / fmax(sqrt(0.5 * fmax(1.0 - cosine, 0.0)), 1e-6);
}

// of a line on a face: 1 / sine between the line and the rims that its ends are near to
static double line_sharpness(const crConvex* c, int face, const crContactPoint ends[2], double near) {
    crVec3 u = cr__unit(cr_sub(ends[1].point, ends[0].point), cr_vec3(0, 0, 1));
    double least = 1.0;
    for (int i = 0; c->core != CR__HALFSPACE && i < cr__face_count(c); i++) {
        crVec3 m = cr__face_normal(c, i);
        double most = fmax(cr_dot(m, ends[0].point), cr_dot(m, ends[1].point));
        if (i != face && most > cr__face_offset(c, i) - near) least = fmin(least, fabs(cr_dot(m, u)));
    }
    return 1.0 / fmax(least, 1e-6);
}

static void set_face(const crConvex* a, const crConvex* b, crPatch* p) {
    crVec3 n = p->contacts[0].normal, centre = cr_vec3(0, 0, 0);
    int face_a = flat(a) ? face_along(a, n) : -1, face_b = flat(b) ? face_along(b, cr_neg(n)) : -1;
    if (face_a < 0 && face_b < 0) return;
    p->turns_with = face_a >= 0 ? 0 : 1;
    const crConvex *c = face_a >= 0 ? a : b, *other = face_a >= 0 ? b : a;
    int face = face_a >= 0 ? face_a : face_b;
    double farthest = p->gap;
    for (int i = 0; i < p->count; i++) {
        centre = cr_madd(centre, 1.0 / p->count, p->contacts[i].point);
        farthest = fmax(farthest, p->contacts[i].gap);
    }
    double rim = from_rim(c, face, centre);
    if (face_a >= 0 && face_b >= 0) rim = fmax(rim, from_rim(b, face_b, centre));
    p->inside = APART * rim - (farthest - p->gap);
    p->bend = bend(other);
    p->sharpness = p->count > 2    ? corner_sharpness(p->contacts, p->count)
                   : p->count == 2 ? line_sharpness(c, face, p->contacts, 2.0 * SHARE * p->reach)
                                   : 1.0;
}

bool cr_collide_keep(const crShape* a, crPose body_a, const crShape* b, crPose body_b, double margin,
                     crPatch* patch) {
    if (!cr__shape_given(a) || !cr__shape_given(b) || patch == NULL) return false;
    memset(patch, 0, sizeof *patch);
    patch->body_a = body_a;
    patch->body_b = body_b;
    patch->margin = margin;
    patch->turns_with = -1;
    bool planes = a->kind == CR_SHAPE_HALFSPACE && b->kind == CR_SHAPE_HALFSPACE;
    if (!cr__is_convex(a) || !cr__is_convex(b) || planes) return false;
    crConvex ca, cb;
    crVec3 origin = cr__convex_pair(a, &body_a, b, &body_b, &ca, &cb);
    double size_a = ca.core == CR__HALFSPACE ? (double)INFINITY : ca.extent + ca.radius;
    double size_b = cb.core == CR__HALFSPACE ? (double)INFINITY : cb.extent + cb.radius;
    patch->reach = fmin(size_a, size_b) + margin;
    patch->centre = cr_add(origin, size_a <= size_b ? ca.p : cb.p);
    crClosest c;
    crLeftOut left_out = {.far = false};
    patch->count = cr__convex_contacts(&ca, &cb, margin, patch->contacts, &c, &left_out);
    patch->gap = c.gap;
    patch->slope = patch->count > 0 ? cr__faces_slope(&ca, &cb, c.n) : 0.0;
    patch->corners = left_out.corners;
    patch->far = left_out.far;
    if (patch->count > 0) set_face(&ca, &cb, patch);
    cr__place(patch->contacts, patch->count, origin);
    int direct = cr__ball_contact(a, &body_a, b, &body_b, margin, patch->contacts);
    if (direct < 0) direct = cr__box_on_plane(a, &body_a, b, &body_b, margin, patch->contacts);
    if (direct >= 0) patch->count = direct;
    return true;
}

static bool same_turn(const crQuat* x, const crQuat* y) {
    return x->w == y->w && x->x == y->x && x->y == y->y && x->z == y->z;
}

static bool same_pose(const crPose* x, const crPose* y) {
    return x->p.x == y->p.x && x->p.y == y->p.y && x->p.z == y->p.z && same_turn(&x->q, &y->q);
}

// how a body has moved since: x becomes to + R (x - from)
typedef struct Moved {
    bool at_rest, turned;
    crQuat turn;
    crMat3 R;
    crVec3 from, to;
} Moved;

static Moved moved(const crPose* then, const crPose* now) {
    Moved m;
    m.at_rest = same_pose(then, now);
    m.turned = !same_turn(&then->q, &now->q);
    m.turn = cr_quat_identity();
    m.from = then->p;
    m.to = now->p;
    if (!m.turned) return m;
    m.turn = cr_quat_mul(now->q, cr_quat_conj(then->q));
    m.R = cr__rotation(m.turn);
    return m;
}

static crVec3 move_point(const Moved* m, crVec3 x) {
    if (m->at_rest) return x;
    crVec3 r = cr_sub(x, m->from);
    return cr_add(m->to, m->turned ? cr_mat3_mul(m->R, r) : r);
}

// angle and motion of one shape against the other; false: too much
static bool relative(const crPatch* p, const Moved* a, const Moved* b, double* theta, double* motion) {
    *theta = 0.0;
    if (a->turned || b->turned) {
        crQuat turn = cr_quat_mul(cr_quat_conj(a->turn), b->turn);
        // an angle below 0.01 exceeds its sine by less than 2e-5 of it
        *theta = 2.0001 * cr_norm(cr_vec3(turn.x, turn.y, turn.z));
    }
    *motion = cr_norm(cr_sub(move_point(b, p->centre), move_point(a, p->centre))) + *theta * p->reach;
    return *theta <= TURN && *motion <= SHARE * p->reach;
}

// what the contacts may be wrong by; false: they may be the wrong ones
static bool judge(const crPatch* p, double margin, double theta, double motion, double* error) {
    *error = 0.0;
    if (p->count == 0) return p->gap - motion > margin;
    if (motion == 0.0) return margin <= p->margin || !p->far;
    if (p->turns_with < 0) return false;
    if (p->far && margin + motion > p->margin) return false;
    if (!(p->inside > fabs(p->gap) + 2.0 * motion)) return false;
    double slope = p->slope + theta;
    *error = slope * p->sharpness * motion + p->bend * theta * theta;
    if (p->corners) *error += 2.0 * slope * p->reach;
    return true;
}

static void write_contact(const crContactPoint* then, const Moved* a, const Moved* b, crVec3 n,
                          crContactPoint* now) {
    crVec3 x = move_point(a, then->on_a), y = move_point(b, then->on_b);
    *now = *then;
    now->normal = n;
    now->gap = cr_dot(n, cr_sub(y, x));
    now->point = cr_scale(0.5, cr_add(x, y));
    now->on_a = cr_madd(now->point, -0.5 * now->gap, n);
    now->on_b = cr_madd(now->point, 0.5 * now->gap, n);
}

bool cr_collide_refresh(const crPatch* p, crPose body_a, crPose body_b, double margin, double tolerance,
                        crContactPoint contacts[CR_MANIFOLD_MAX], int* count, double* error) {
    if (p == NULL || contacts == NULL || count == NULL || error == NULL) return false;
    Moved a = moved(&p->body_a, &body_a), b = moved(&p->body_b, &body_b);
    double theta = 0.0, motion = 0.0;
    bool still = a.at_rest && b.at_rest;
    *count = 0;
    *error = 0.0;
    if (!still && (!(tolerance > 0.0) || !relative(p, &a, &b, &theta, &motion))) return false;
    if (!judge(p, margin, theta, motion, error) || !(*error <= tolerance)) return false;
    if (p->count == 0) return true;
    crVec3 n = p->contacts[0].normal;
    const Moved* face = p->turns_with == 0 ? &a : &b;
    if (face->turned) n = cr_mat3_mul(face->R, n);
    for (int i = 0; i < p->count; i++) {
        if (still)
            contacts[*count] = p->contacts[i];
        else
            write_contact(&p->contacts[i], &a, &b, n, &contacts[*count]);
        if (contacts[*count].gap <= margin) (*count)++;
    }
    return true;
}
