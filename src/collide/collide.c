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
#include "collide/support.h"

#define FACING 0.999  // cosine between normals that makes a triangle met from behind be met on its face
#define SQUARE (1.0 - 1e-14)  // and that makes a contact one of the triangle's face, not of an edge

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
    // boxes that pieces of A and of B must meet, in their frames: around the other, and grown by margin
    crBounds around_b, around_piece, in_a, in_b;
} Pair;

// nothing farther away than margin counts any more
static void shrink(Pair* pair, double margin) {
    if (!(margin < pair->margin)) return;
    pair->margin = margin;
    pair->in_a = cr__box_grow(pair->around_b, margin);
    pair->in_b = cr__box_grow(pair->around_piece, margin);
}

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

static bool closest(const crConvex* a, const crConvex* b, double reach, crClosest* c) {
    cr__closest(a, b, reach, c);
    if (c->gap > reach) return false;
    if (a->core == CR__TRIANGLE && !one_sided(a, b, 1.0, c)) return false;
    return b->core != CR__TRIANGLE || one_sided(b, a, -1.0, c);
}

static int shallowest(const crContactPoint* c, int count) {
    int most = 0;
    for (int i = 1; i < count; i++)
        if (c[i].gap > c[most].gap) most = i;
    return most;
}

static void replace_shallowest(crContactPoint* c, int count, const crContactPoint* by) {
    int most = shallowest(c, count);
    if (count > 0 && by->gap < c[most].gap) c[most] = *by;
}

int cr__deepest(crContactPoint* c, int count, int capacity) {
    for (; count > capacity; count--)
        for (int i = shallowest(c, count); i + 1 < count; i++)
            c[i] = c[i + 1];
    return count;
}

static bool meet_contacts(void* ctx, const crConvex* b) {
    Pair* pair = ctx;
    crClosest c;
    // what is below a height field may be far from its triangles
    bool deep = pair->piece->deep || b->deep;
    if (!closest(pair->piece, b, deep ? (double)INFINITY : pair->margin, &c)) return true;
    crContactPoint found[CR_MANIFOLD_MAX];
    crLeftOut left_out;
    int count = cr__manifold(pair->piece, b, &c, pair->margin, found, &left_out);
    for (int i = 0; i < count; i++, pair->count++) {
        if (pair->count < pair->capacity)
            pair->contacts[pair->count] = found[i];
        else
            replace_shallowest(pair->contacts, pair->capacity, &found[i]);
    }
    return true;
}

static bool meet_distance(void* ctx, const crConvex* b) {
    Pair* pair = ctx;
    crClosest c;
    if (!closest(pair->piece, b, (double)INFINITY, &c)) return true;
    if (!pair->found || c.gap < pair->best.gap) {
        pair->found = true;
        pair->best = c;
        pair->best_a = *pair->piece;
        pair->best_b = *b;
        shrink(pair, fmax(c.gap, 0.0));
    }
    return true;
}

static crBounds everything(void) {
    const double inf = (double)INFINITY;
    return (crBounds){cr_vec3(-inf, -inf, -inf), cr_vec3(inf, inf, inf)};
}

// box around a piece in the frame of the other shape
static crBounds box_in(const crConvex* c, crPose pose, crVec3 origin) {
    if (c->core == CR__HALFSPACE) return everything();
    crMat3 R = cr__rotation(pose.q);
    double lo[3], hi[3];
    crVec3 from = cr_sub(pose.p, origin);
    for (int k = 0; k < 3; k++) {
        crVec3 axis = cr_mat3_column(R, k);
        double zero = cr_dot(axis, from);
        cr__range(c, axis, &lo[k], &hi[k]);
        lo[k] -= zero + c->radius;
        hi[k] += c->radius - zero;
    }
    return (crBounds){cr_vec3(lo[0], lo[1], lo[2]), cr_vec3(hi[0], hi[1], hi[2])};
}

// box around B in A's frame; below a height field all is solid
static crBounds box_of_b(const Pair* pair) {
    if (pair->b->kind == CR_SHAPE_HEIGHTFIELD) return everything();
    if (cr__is_convex(pair->b)) {
        crConvex b;
        cr__convex_set(&b, pair->b, &pair->pose_b, pair->origin);
        return box_in(&b, pair->pose_a, pair->origin);
    }
    crShape b = *pair->b;
    b.pose = cr_pose_identity();
    return cr_shape_bounds(&b, cr_pose_mul(cr_pose_inverse(pair->pose_a), pair->pose_b));
}

// near a shape that is certainly of limited size, and the same one whichever is A
static crVec3 origin_of(const crShape* a, const crPose* pose_a, const crShape* b, const crPose* pose_b) {
    bool wide_a = a->kind >= CR_SHAPE_HALFSPACE && a->kind != CR_SHAPE_HULL;
    bool wide_b = b->kind >= CR_SHAPE_HALFSPACE && b->kind != CR_SHAPE_HULL;
    bool second = wide_a != wide_b     ? wide_a
                  : a->kind != b->kind ? a->kind < b->kind
                                       : cr__point_follows(pose_a->p, pose_b->p);
    return second ? pose_b->p : pose_a->p;
}

crVec3 cr__convex_pair(const crShape* a, const crPose* body_a, const crShape* b, const crPose* body_b,
                       crConvex* ca, crConvex* cb) {
    crPose room_a, room_b;
    const crPose *pose_a = cr__shape_at(a, body_a, &room_a), *pose_b = cr__shape_at(b, body_b, &room_b);
    crVec3 origin = origin_of(a, pose_a, b, pose_b);
    cr__convex_set(ca, a, pose_a, origin);
    cr__convex_set(cb, b, pose_b, origin);
    return origin;
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
        cr__convex_set(&b, pair->b, &pair->pose_b, pair->origin);
        return outer->meet(pair, &b);
    }
    pair->around_piece = box_in(piece, pair->pose_b, pair->origin);
    pair->in_b = cr__box_grow(pair->around_piece, pair->margin);
    cr__pieces_in(pair->b, pair->pose_b, pair->origin, &pair->in_b, outer->meet, pair);
    return true;
}

static void run(Pair* pair, crVisit meet) {
    Outer outer = {pair, meet};
    if (cr__is_convex(pair->a)) {
        crConvex a;
        cr__convex_set(&a, pair->a, &pair->pose_a, pair->origin);
        against_b(&outer, &a);
        return;
    }
    pair->around_b = box_of_b(pair);
    pair->in_a = cr__box_grow(pair->around_b, pair->margin);
    cr__pieces_in(pair->a, pair->pose_a, pair->origin, &pair->in_a, against_b, &outer);
}

static bool start(Pair* pair, const crShape* a, const crPose* body_a, const crShape* b, const crPose* body_b,
                  double margin) {
    *pair = (Pair){.a = a, .b = b, .margin = margin};
    pair->pose_a = cr__shape_pose(a, body_a);
    pair->pose_b = cr__shape_pose(b, body_b);
    pair->origin = origin_of(a, &pair->pose_a, b, &pair->pose_b);
    return a->kind != CR_SHAPE_HALFSPACE || b->kind != CR_SHAPE_HALFSPACE;
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

// Wholly inside a closed mesh: a ball goes out the shortest way; others through the triangle that the centre
// looks through along its normal and that asks for the least way, else the one nearest to the centre.
typedef struct Exit {
    bool through;
    double way;  // out, or to the triangle
    crConvex piece, triangle;
    crVec3 centre, foot;
} Exit;

static bool try_exit(void* ctx, const crConvex* t) {
    Exit* e = ctx;
    crConvex middle = {.core = CR__POINT, .p = e->centre, .q = cr_quat_identity()};
    crClosest near;
    cr__closest(t, &middle, (double)INFINITY, &near);
    crVec3 n = t->normal, foot = near.a;
    double over = cr_dot(n, cr_sub(e->centre, t->p)), way = near.gap;
    bool through = e->piece.core != CR__POINT && over <= 0.0 && on_triangle(t, cr_madd(e->centre, -over, n));
    if (through) {
        way = e->piece.radius - cr_dot(n, cr_sub(cr__support(&e->piece, cr_neg(n)), t->p));
        foot = cr_madd(e->centre, -over, n);
    }
    if (e->through > through || (e->through == through && !(way < e->way))) return true;
    e->through = through;
    e->way = way;
    e->foot = foot;
    e->triangle = *t;
    return true;
}

// child i of a shape to be moved out, with a point of it; of a mesh the box around it
static crVec3 child_of(const crShape* s, crPose at, crVec3 origin, int i, crConvex* piece) {
    if (s->kind == CR_SHAPE_MESH) {
        crBounds box = s->data.mesh->nodes[0].box;
        crVec3 half = cr_scale(0.5, cr_sub(box.hi, box.lo));
        crShape around = cr_shape_box(half.x, half.y, half.z);
        around.pose.p = cr_add(box.lo, half);
        crPose pose = cr_pose_mul(at, around.pose);
        cr__convex_set(piece, &around, &pose, origin);
        return cr_sub(cr_pose_point(at, s->data.mesh->vertices[s->data.mesh->triangles[0][0]]), origin);
    }
    const crShape* child = s->kind == CR_SHAPE_COMPOUND ? &s->data.compound->children[i] : s;
    crPose pose = child == s ? at : cr_pose_mul(at, child->pose);
    cr__convex_set(piece, child, &pose, origin);
    piece->child = i;
    return cr__centre(piece);
}

// a piece that the closed mesh holds; false: none, or not a closed mesh
static bool held_piece(const Pair* pair, bool by_a, crConvex* piece) {
    const crShape *m = by_a ? pair->a : pair->b, *s = by_a ? pair->b : pair->a;
    if (m->kind != CR_SHAPE_MESH || !m->data.mesh->closed) return false;
    if (s->kind == CR_SHAPE_HALFSPACE || s->kind == CR_SHAPE_HEIGHTFIELD) return false;
    crPose pose = by_a ? pair->pose_a : pair->pose_b, at = by_a ? pair->pose_b : pair->pose_a;
    int count = s->kind == CR_SHAPE_COMPOUND ? s->data.compound->count : 1;
    for (int i = 0; i < count; i++) {
        crVec3 x = cr_add(pair->origin, child_of(s, at, pair->origin, i, piece));
        if (cr__mesh_holds(m->data.mesh, cr_pose_point_inverse(pose, x))) return true;
    }
    return false;
}

static bool find_exit(const Pair* pair, crClosest* c, crConvex* a, crConvex* b) {
    Exit e = {.way = (double)INFINITY};
    bool by_a = held_piece(pair, true, &e.piece);
    if (!by_a && !held_piece(pair, false, &e.piece)) return false;
    e.centre = cr__centre(&e.piece);
    crBounds all = everything();
    cr__pieces_in(by_a ? pair->a : pair->b, by_a ? pair->pose_a : pair->pose_b, pair->origin, &all, try_exit,
                  &e);
    // out of the mesh; a point off its faces goes towards the edge or vertex that is nearest
    crVec3 n = e.triangle.normal, foot = e.foot;
    if (e.piece.core == CR__POINT && e.way > 1e-9 * e.triangle.extent)
        n = cr__unit(cr_sub(e.foot, e.centre), n);
    double gap = cr_dot(n, cr_sub(cr__support(&e.piece, cr_neg(n)), foot)) - e.piece.radius;
    crVec3 held = cr_madd(foot, gap, n);
    *c = (crClosest){.gap = gap, .n = cr_scale(by_a ? 1.0 : -1.0, n)};
    c->a = by_a ? foot : held;
    c->b = by_a ? held : foot;
    *a = by_a ? e.triangle : e.piece;
    *b = by_a ? e.piece : e.triangle;
    return true;
}

bool cr_distance(const crShape* a, crPose body_a, const crShape* b, crPose body_b, double reach,
                 crDistance* distance) {
    if (!cr__shape_given(a) || !cr__shape_given(b) || distance == NULL) return false;
    Pair pair;
    *distance = (crDistance){.error = 0.0};
    if (!start(&pair, a, &body_a, b, &body_b, reach)) return false;
    run(&pair, meet_distance);
    if (!(pair.found && pair.best.gap <= 0.0) && find_exit(&pair, &pair.best, &pair.best_a, &pair.best_b))
        pair.found = true;
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
    double sign = s->of_a ? 1.0 : -1.0, facing = sign * cr_dot(t.normal, mine->normal);
    double tol = 1e-9 * t.extent;
    for (int k = 0; k < s->count; k++) {
        const crContactPoint* other = &s->c[k];
        crConvex u = triangle_of(s, k);
        if (u.child == t.child) continue;
        // of equals the one that faces the contact more, then the first
        double theirs = sign * cr_dot(u.normal, other->normal);
        bool ahead = u.child < t.child;
        bool same = cr_norm(cr_sub(mine->point, other->point)) <= 1e-7 * t.extent &&
                    cr_dot(mine->normal, other->normal) > 1.0 - 1e-9;
        if (facing >= SQUARE) {
            if (same && (theirs > facing || (theirs == facing && ahead))) return true;
            continue;
        }
        bool first =
            other->gap < mine->gap - tol || (other->gap <= mine->gap + tol && (theirs >= SQUARE || ahead));
        if (first && on_triangle(&u, x)) return true;
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

void cr__sort_two(crContactPoint* c, int count) {
    if (count < 2 || !precedes(&c[1], &c[0])) return;
    crContactPoint first = c[1];
    c[1] = c[0];
    c[0] = first;
}

void cr__place(crContactPoint* c, int count, crVec3 origin) {
    for (int i = 0; i < count; i++) {
        c[i].point = cr_add(origin, c[i].point);
        c[i].on_a = cr_add(origin, c[i].on_a);
        c[i].on_b = cr_add(origin, c[i].on_b);
        if (i == 0 || !precedes(&c[i], &c[i - 1])) continue;
        crContactPoint x = c[i];
        int k = i;
        for (; k > 0 && precedes(&x, &c[k - 1]); k--)
            c[k] = c[k - 1];
        c[k] = x;
    }
}

// farther apart along the line of centres than margin; the separation there is a bound of the gap
static bool clear(const crConvex* a, const crConvex* b, double margin, crClosest* closest) {
    if (a->core == CR__HALFSPACE || b->core == CR__HALFSPACE || b->core == CR__POINT || a->core == CR__POINT)
        return false;
    crVec3 n = cr__unit(cr_sub(cr__centre(b), cr__centre(a)), cr_vec3(0, 0, 1));
    *closest =
        (crClosest){.gap = cr__separation_here(a, b, n) - a->radius - b->radius, .n = n, .no_witness = true};
    return closest->gap > margin;
}

int cr__convex_contacts(const crConvex* a, const crConvex* b, double margin,
                        crContactPoint contacts[CR_MANIFOLD_MAX], crClosest* closest, crLeftOut* left_out) {
    int count = -1;
    if (a->core == CR__BOX && b->core == CR__BOX)
        count = cr__box_contacts(a, b, margin, contacts, closest, left_out);
    if (count >= 0 || clear(a, b, margin, closest)) return count > 0 ? count : 0;
    cr__closest(a, b, margin, closest);
    return cr__manifold(a, b, closest, margin, contacts, left_out);
}

// two convex shapes: no walk
static int collide_convex(const crShape* a, const crPose* body_a, const crShape* b, const crPose* body_b,
                          double margin, crContactPoint* contacts, int capacity, int* needed, double* until) {
    crContactPoint found[CR_MANIFOLD_MAX];
    // usually there is room for all
    crContactPoint* into = capacity >= CR_MANIFOLD_MAX ? contacts : found;
    bool boxes = a->kind == CR_SHAPE_BOX && b->kind == CR_SHAPE_BOX;
    int count = boxes ? -1 : cr__ball_contact(a, body_a, b, body_b, margin, into);
    *until = count < 0 ? margin : count == 0 ? into->gap : (double)INFINITY;
    if (count < 0 && !boxes) count = cr__box_on_plane(a, body_a, b, body_b, margin, into);
    if (count < 0) {
        crConvex ca, cb;
        crVec3 origin = cr__convex_pair(a, body_a, b, body_b, &ca, &cb);
        crClosest closest;
        crLeftOut left_out;
        count = cr__convex_contacts(&ca, &cb, margin, into, &closest, &left_out);
        *until = count == 0 ? closest.gap : left_out.far ? margin : (double)INFINITY;
        cr__place(into, count, origin);
    }
    if (needed != NULL) *needed = count;
    if (into == contacts) return count;
    if (count > capacity) count = cr__deepest(found, count, capacity);
    for (int i = 0; i < count; i++)
        contacts[i] = found[i];
    return count;
}

// where nothing touches, the way out of a closed mesh, if it is all around
static int add_exit(Pair* pair, int count) {
    bool touches = false;
    for (int i = 0; i < count; i++)
        touches = touches || pair->contacts[i].gap <= 0.0;
    crClosest c;
    crConvex a, b;
    if (touches || !find_exit(pair, &c, &a, &b)) return count;
    pair->count = 1;
    if (pair->capacity < 1) return 0;
    pair->contacts[0] = (crContactPoint){.gap = c.gap,
                                         .normal = c.n,
                                         .point = cr_scale(0.5, cr_add(c.a, c.b)),
                                         .on_a = c.a,
                                         .on_b = c.b,
                                         .child_a = a.child,
                                         .child_b = b.child,
                                         .feature_a = cr__feature(&a, c.a, c.n, false),
                                         .feature_b = cr__feature(&b, c.b, cr_neg(c.n), false)};
    return 1;
}

int cr__collide(const crShape* a, const crPose* body_a, const crShape* b, const crPose* body_b, double margin,
                crContactPoint* contacts, int capacity, int* needed, double* until) {
    Pair pair;
    *until = -(double)INFINITY;
    if (needed != NULL) *needed = 0;
    bool plane_a = a->kind == CR_SHAPE_HALFSPACE, plane_b = b->kind == CR_SHAPE_HALFSPACE;
    if (plane_a && plane_b) return 0;
    if (plane_a && cr__is_convex(b) && cr__off_plane(a, body_a, b, body_b, margin)) return 0;
    if (plane_b && cr__is_convex(a) && cr__off_plane(b, body_b, a, body_a, margin)) return 0;
    if (cr__is_convex(a) && cr__is_convex(b))
        return collide_convex(a, body_a, b, body_b, margin, contacts, capacity, needed, until);
    if (!start(&pair, a, body_a, b, body_b, margin)) return 0;
    pair.contacts = contacts;
    pair.capacity = capacity;
    run(&pair, meet_contacts);
    int count = pair.count < capacity ? pair.count : capacity;
    if (has_triangles(a)) count = drop_seams(&pair, true, contacts, count);
    if (has_triangles(b)) count = drop_seams(&pair, false, contacts, count);
    count = add_exit(&pair, count);
    cr__place(contacts, count, pair.origin);
    if (needed != NULL) *needed = pair.count;
    return count;
}

int cr_collide(const crShape* a, crPose body_a, const crShape* b, crPose body_b, double margin,
               crContactPoint* contacts, int capacity, int* needed) {
    if (!cr__shape_given(a) || !cr__shape_given(b) || contacts == NULL || capacity < 0) return 0;
    double until;
    return cr__collide(a, &body_a, b, &body_b, margin, contacts, capacity, needed, &until);
}

bool cr_point_distance(const crShape* shape, crPose body, crVec3 point, double* distance, crVec3* nearest,
                       crVec3* normal) {
    crShape probe = cr_shape_sphere(0.0);
    crPose at = {point, cr_quat_identity()};
    crDistance d;
    if (!cr_distance(shape, body, &probe, at, (double)INFINITY, &d)) return false;
    if (distance != NULL) *distance = d.contact.gap;
    if (nearest != NULL) *nearest = d.contact.on_a;
    if (normal != NULL) *normal = d.contact.normal;
    return true;
}
