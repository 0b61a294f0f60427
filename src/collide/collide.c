// collide.c - distance and contacts of any two shapes, piece against piece.
//
// A shape of pieces is walked within the other's bounds; each pair of convex pieces goes through distance.c
// and manifold.c. Triangles have an outside: where one is cut and the way out is back through its face, the
// contact is turned to the face's normal; what is behind a triangle and clear of it, or behind an edge, is
// left to others. An edge or corner of a triangle gives no contact of its own where it lies on another
// triangle that is as near, so that seams of smooth ground are not felt. Contacts come out sorted by children
// and features. Fails: nothing; capacity bounds what is written.
#include "collide/manifold.h"
#include "collide/pieces.h"

#define FACING 0.999  // cosine between normals that makes a triangle met from behind be met on its face
#define SQUARE (1.0 - 1e-9)  // and that makes a contact one of the triangle's face, not of an edge

typedef struct Pair {
    const crShape *a, *b;
    crPose pose_a, pose_b;
    crVec3 origin;
    double margin;
    const crConvex* piece;  // of A, while B is walked
    // contacts
    crContactPoint* contacts;
    int capacity, count;
    // distance
    bool found;
    crClosest best;
    crConvex best_a, best_b;
} Pair;

// what triangles change: their outside, and the face normal where they are met from behind. false: no contact
static bool one_sided(const crConvex* t, const crConvex* other, double sign, crClosest* c) {
    double facing = sign * cr_dot(c->n, t->normal);
    if (facing >= 0.0) return true;
    if (facing > -FACING || (c->gap > 0.0 && !t->deep)) return false;
    crVec3 n = t->normal, deep = cr_madd(cr__support(other, cr_neg(n)), -other->radius, n);
    if (other->core == CR__HALFSPACE) return true;
    double gap = cr_dot(n, cr_sub(deep, t->p));
    crVec3 foot = sign > 0.0 ? c->a : c->b;
    c->n = cr_scale(sign, n);
    c->gap = gap;
    c->a = sign > 0.0 ? foot : cr_madd(foot, gap, n);
    c->b = sign > 0.0 ? cr_madd(foot, gap, n) : foot;
    return true;
}

static bool closest(const crConvex* a, const crConvex* b, crClosest* c) {
    cr__closest(a, b, c);
    if (a->core == CR__TRIANGLE && !one_sided(a, b, 1.0, c)) return false;
    return b->core != CR__TRIANGLE || one_sided(b, a, -1.0, c);
}

static bool meet_contacts(void* ctx, const crConvex* b) {
    Pair* pair = ctx;
    crClosest c;
    if (!closest(pair->piece, b, &c)) return true;
    crContactPoint found[CR_MANIFOLD_MAX];
    int count = cr__manifold(pair->piece, b, &c, pair->margin, found, NULL);
    for (int i = 0; i < count; i++, pair->count++)
        if (pair->count < pair->capacity) pair->contacts[pair->count] = found[i];
    return true;
}

static bool meet_distance(void* ctx, const crConvex* b) {
    Pair* pair = ctx;
    crClosest c;
    if (!closest(pair->piece, b, &c)) return true;
    if (!pair->found || c.gap < pair->best.gap) {
        pair->found = true;
        pair->best = c;
        pair->best_a = *pair->piece;
        pair->best_b = *b;
    }
    return true;
}

// box around a piece in the frame of the other shape
static crBounds box_in(const crConvex* c, crPose pose, crVec3 origin, double grow) {
    const double inf = (double)INFINITY;
    if (c->core == CR__HALFSPACE || isinf(grow))
        return (crBounds){cr_vec3(-inf, -inf, -inf), cr_vec3(inf, inf, inf)};
    crMat3 R = cr_quat_matrix(pose.q);
    double lo[3], hi[3];
    crVec3 from = cr_sub(pose.p, origin);
    for (int k = 0; k < 3; k++) {
        crVec3 axis = cr_mat3_column(R, k);
        double zero = cr_dot(axis, from);
        cr__range(c, axis, &lo[k], &hi[k]);
        lo[k] -= zero + c->radius + grow;
        hi[k] += c->radius + grow - zero;
    }
    return (crBounds){cr_vec3(lo[0], lo[1], lo[2]), cr_vec3(hi[0], hi[1], hi[2])};
}

typedef struct Outer {
    Pair* pair;
    crVisit meet;
} Outer;

// one piece of A against all of B
static bool against_b(void* ctx, const crConvex* piece) {
    Outer* outer = ctx;
    Pair* pair = outer->pair;
    pair->piece = piece;
    if (cr__is_convex(pair->b)) {
        crConvex b;
        cr__convex_set(&b, pair->b, pair->pose_b, pair->origin);
        return outer->meet(pair, &b);
    }
    crBounds box = box_in(piece, pair->pose_b, pair->origin, pair->margin);
    cr__pieces_in(pair->b, pair->pose_b, pair->origin, box, outer->meet, pair);
    return true;
}

static void run(Pair* pair, crVisit meet) {
    Outer outer = {pair, meet};
    if (cr__is_convex(pair->a)) {
        crConvex a;
        cr__convex_set(&a, pair->a, pair->pose_a, pair->origin);
        against_b(&outer, &a);
        return;
    }
    crBounds box = cr_shape_bounds(pair->b, cr_pose_identity());
    if (cr__is_convex(pair->b)) {
        crConvex b;
        cr__convex_set(&b, pair->b, pair->pose_b, pair->origin);
        box = box_in(&b, pair->pose_a, pair->origin, pair->margin);
    } else {
        const double inf = (double)INFINITY;
        box = (crBounds){cr_vec3(-inf, -inf, -inf), cr_vec3(inf, inf, inf)};
    }
    cr__pieces_in(pair->a, pair->pose_a, pair->origin, box, against_b, &outer);
}

static bool start(Pair* pair, const crShape* a, crPose body_a, const crShape* b, crPose body_b,
                  double margin) {
    *pair = (Pair){.a = a, .b = b, .margin = margin};
    pair->pose_a = cr_pose_mul(body_a, a->pose);
    pair->pose_b = cr_pose_mul(body_b, b->pose);
    // near the shape that is certainly of limited size
    bool wide = a->kind == CR_SHAPE_HALFSPACE || !cr__is_convex(a);
    pair->origin = wide ? pair->pose_b.p : pair->pose_a.p;
    return a->kind != CR_SHAPE_HALFSPACE || b->kind != CR_SHAPE_HALFSPACE;
}

bool cr_distance(const crShape* a, crPose body_a, const crShape* b, crPose body_b, double reach,
                 crDistance* distance) {
    Pair pair;
    *distance = (crDistance){.error = 0.0};
    if (!start(&pair, a, body_a, b, body_b, reach)) return false;
    run(&pair, meet_distance);
    if (!pair.found) return false;
    const crClosest* c = &pair.best;
    crContactPoint* at = &distance->contact;
    at->gap = c->gap;
    at->normal = c->n;
    at->on_a = cr_add(pair.origin, c->a);
    at->on_b = cr_add(pair.origin, c->b);
    at->point = cr_add(pair.origin, cr_scale(0.5, cr_add(c->a, c->b)));
    at->child_a = pair.best_a.child;
    at->child_b = pair.best_b.child;
    at->feature_a = cr__feature(&pair.best_a, c->a, c->n, c->choice);
    at->feature_b = cr__feature(&pair.best_b, c->b, cr_neg(c->n), c->choice);
    distance->error = c->error;
    distance->iterations = c->iterations;
    return true;
}

static bool has_triangles(const crShape* s) {
    return s->kind == CR_SHAPE_MESH || s->kind == CR_SHAPE_HEIGHTFIELD;
}

static crConvex placed_triangle(const crShape* s, crPose pose, crVec3 origin, int child) {
    crVec3 p[3];
    if (s->kind == CR_SHAPE_MESH)
        cr__mesh_corners(s->data.mesh, child, p);
    else
        cr__field_corners(s->data.field, child, p);
    for (int k = 0; k < 3; k++)
        p[k] = cr_sub(cr_pose_point(pose, p[k]), origin);
    crConvex t;
    cr__convex_triangle(&t, p, child);
    return t;
}

static bool on_triangle(const crConvex* t, crVec3 x) {
    double tol = 1e-6 * t->extent;
    crVec3 from = cr_sub(x, t->p);
    if (fabs(cr_dot(from, t->normal)) > tol) return false;
    for (int k = 0; k < 3; k++) {
        crVec3 e = cr__edge_direction(t, k);
        if (cr_dot(cr_cross(t->normal, e), cr_sub(from, t->triangle[k])) < -tol) return false;
    }
    return true;
}

typedef struct Seams {
    const Pair* pair;
    bool of_a;
    const crContactPoint* c;
    int count;
} Seams;

static crConvex triangle_of(const Seams* s, int i) {
    const Pair* p = s->pair;
    return placed_triangle(s->of_a ? p->a : p->b, s->of_a ? p->pose_a : p->pose_b, p->origin,
                           s->of_a ? s->c[i].child_a : s->c[i].child_b);
}

// contact i repeats or only echoes what another triangle says about the same place
static bool is_seam(const Seams* s, int i) {
    const crContactPoint* mine = &s->c[i];
    crConvex t = triangle_of(s, i);
    crVec3 x = s->of_a ? mine->on_a : mine->on_b;
    double facing = (s->of_a ? 1.0 : -1.0) * cr_dot(t.normal, mine->normal), tol = 1e-9 * t.extent;
    for (int k = 0; k < s->count; k++) {
        const crContactPoint* other = &s->c[k];
        crConvex u = triangle_of(s, k);
        if (u.child == t.child) continue;
        bool first = other->gap < mine->gap - tol || (other->gap <= mine->gap + tol && u.child < t.child);
        bool same = cr_norm(cr_sub(mine->point, other->point)) <= 1e-7 * t.extent &&
                    cr_dot(mine->normal, other->normal) > 1.0 - 1e-9;
        if (facing >= SQUARE ? same && u.child < t.child : first && on_triangle(&u, x)) return true;
    }
    return false;
}

static int drop_seams(const Pair* pair, bool of_a, crContactPoint* c, int count) {
    Seams s = {pair, of_a, c, count};
    int kept = 0;
    // marked first, taken out afterwards: all are compared with all
    for (int i = 0; i < count; i++) {
        bool seam = is_seam(&s, i);
        int* child = of_a ? &c[i].child_b : &c[i].child_a;
        if (seam) *child = -1 - *child;
    }
    for (int i = 0; i < count; i++)
        if ((of_a ? c[i].child_b : c[i].child_a) >= 0) c[kept++] = c[i];
    return kept;
}

static bool precedes(const crContactPoint* x, const crContactPoint* y) {
    if (x->child_a != y->child_a) return x->child_a < y->child_a;
    if (x->child_b != y->child_b) return x->child_b < y->child_b;
    if (x->feature_a != y->feature_a) return x->feature_a < y->feature_a;
    return x->feature_b < y->feature_b;
}

void cr__place(crContactPoint* c, int count, crVec3 origin) {
    for (int i = 0; i < count; i++) {
        crContactPoint x = c[i];
        x.point = cr_add(origin, x.point);
        x.on_a = cr_add(origin, x.on_a);
        x.on_b = cr_add(origin, x.on_b);
        int k = i;
        for (; k > 0 && precedes(&x, &c[k - 1]); k--)
            c[k] = c[k - 1];
        c[k] = x;
    }
}

int cr_collide(const crShape* a, crPose body_a, const crShape* b, crPose body_b, double margin,
               crContactPoint* contacts, int capacity, int* needed) {
    Pair pair;
    if (needed != NULL) *needed = 0;
    if (!start(&pair, a, body_a, b, body_b, margin)) return 0;
    pair.contacts = contacts;
    pair.capacity = capacity;
    run(&pair, meet_contacts);
    int count = pair.count < capacity ? pair.count : capacity;
    if (has_triangles(a)) count = drop_seams(&pair, true, contacts, count);
    if (has_triangles(b)) count = drop_seams(&pair, false, contacts, count);
    cr__place(contacts, count, pair.origin);
    if (needed != NULL) *needed = pair.count;
    return count;
}

bool cr_overlap(const crShape* a, crPose body_a, const crShape* b, crPose body_b) {
    crDistance d;
    return cr_distance(a, body_a, b, body_b, 0.0, &d) && d.contact.gap <= 0.0;
}

bool cr_point_distance(const crShape* shape, crPose body, crVec3 point, double* distance, crVec3* nearest,
                       crVec3* normal) {
    crShape probe = cr_shape_sphere(0.0);
    crPose at = {point, cr_quat_identity()};
    crDistance d;
    if (!cr_distance(shape, body, &probe, at, (double)INFINITY, &d)) return false;
    *distance = d.contact.gap;
    *nearest = d.contact.on_a;
    *normal = d.contact.normal;
    return true;
}
