// epa.c - depth of overlap by an expanding polytope (van den Bergen 2001), also for cores that just touch.
//
// D = B - A holds the origin, or nearly. The depth is the least h(m) = max m.w over D, over unit m; contact
// normal n = -m, gap = -h. A polytope inside D grows: of its faces the one nearest to the origin (signed, so
// the origin may start outside) gets the support point of D along its normal. Its offset bounds the depth
// from below, the least h seen from above; the difference is the error reported. The start is a tetrahedron
// from extreme points of D itself, so no GJK simplex, degenerate or not, is needed.
// Ends: bounds meet within tol of the size (Newton's method goes on from there), or the fixed memory is
// full, or rounding stops the growth; then the error says how far.
#include "collide/narrow.h"

#define VERTICES 256
#define FACES    (2 * VERTICES)
#define HEAP     (8 * VERTICES)  // a new vertex makes six faces in the mean

typedef struct Face {
    int v[3];
    int next[3];    // the face across the edge from v[i] to v[i + 1]
    bool alive;     // part of the surface; slots of others are used again
    crVec3 m;       // unit outward normal
    double offset;  // m.v; INFINITY for a sliver without a normal
} Face;

// what the heap holds of a face: its number tells faces of one slot apart
typedef struct Entry {
    double offset;
    int slot, number;
} Entry;

typedef struct Polytope {
    const crConvex* a;
    const crConvex* b;
    double least;  // upper bound of the depth: faces no nearer than that need no more points
    int vertices, faces, free, entries, made;
    crVec3 w[VERTICES], wa[VERTICES], wb[VERTICES];
    Face face[FACES];
    int number[FACES];  // of the face that a slot holds
    int unused[FACES];  // slots given back (free)
    Entry heap[HEAP];   // faces that may be the nearest, and some that are gone (entries)
} Polytope;

static int add_vertex(Polytope* p, crVec3 m) {
    int i = p->vertices++;
    p->wa[i] = cr__support(p->a, cr_neg(m));
    p->wb[i] = cr__support(p->b, m);
    p->w[i] = cr_sub(p->wb[i], p->wa[i]);
    return i;
}

// nearest first; ties by slot
static bool nearer(const Entry* x, const Entry* y) {
    return x->offset < y->offset || (x->offset == y->offset && x->slot < y->slot);
}

static bool is_gone(const Polytope* p, const Entry* e) {
    return !p->face[e->slot].alive || p->number[e->slot] != e->number || !(e->offset < p->least);
}

static void sift_down(Polytope* p, int i) {
    Entry e = p->heap[i];
    for (int child; (child = 2 * i + 1) < p->entries; i = child) {
        if (child + 1 < p->entries && nearer(&p->heap[child + 1], &p->heap[child])) child++;
        if (!nearer(&p->heap[child], &e)) break;
        p->heap[i] = p->heap[child];
    }
    p->heap[i] = e;
}

// where the heap is full, those that are gone make room: no more than FACES are left
static void sweep(Polytope* p) {
    int kept = 0;
    for (int i = 0; i < p->entries; i++)
        if (!is_gone(p, &p->heap[i])) p->heap[kept++] = p->heap[i];
    p->entries = kept;
    for (int i = kept / 2; i-- > 0;)
        sift_down(p, i);
}

static void push(Polytope* p, Entry e) {
    if (p->entries == HEAP) sweep(p);
    int i = p->entries++;
    for (; i > 0 && nearer(&e, &p->heap[(i - 1) / 2]); i = (i - 1) / 2)
        p->heap[i] = p->heap[(i - 1) / 2];
    p->heap[i] = e;
}

static int add_face(Polytope* p, int a, int b, int c) {
    int i = p->free > 0 ? p->unused[--p->free] : p->faces++;
    Face* f = &p->face[i];
    *f = (Face){.v = {a, b, c}, .alive = true};
    p->number[i] = p->made++;
    crVec3 u = cr_sub(p->w[b], p->w[a]), v = cr_sub(p->w[c], p->w[a]), m = cr_cross(u, v);
    double area = cr_norm(m);
    bool sliver = !(area > 1e-13 * cr_norm(u) * cr_norm(v));
    f->m = area > 0.0 ? cr_scale(1.0 / area, m) : m;
    f->offset = sliver ? (double)INFINITY : cr_dot(f->m, p->w[a]);
    if (f->offset < p->least) push(p, (Entry){f->offset, i, p->number[i]});
    return i;
}

// extreme points of D: a widest pair along an axis, then the farthest from their line, then from their plane
static bool start_epa(Polytope* p) {
    const crVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int axis = 0;
    double widest = -1.0;
    for (int k = 0; k < 3; k++) {
        double width =
            cr_dot(axes[k], cr_sub(cr__support(p->b, axes[k]), cr__support(p->a, cr_neg(axes[k])))) -
            cr_dot(axes[k], cr_sub(cr__support(p->b, cr_neg(axes[k])), cr__support(p->a, axes[k])));
        if (width > widest) {
            widest = width;
            axis = k;
        }
    }
    int i0 = add_vertex(p, axes[axis]), i1 = add_vertex(p, cr_neg(axes[axis]));
    crMat3 frame = cr_frame(cr__unit(cr_sub(p->w[i1], p->w[i0]), axes[axis]));
    double best = -1.0;
    crVec3 direction = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        crVec3 d = cr_scale(k & 1 ? -1.0 : 1.0, cr_mat3_column(frame, 1 + (k >> 1)));
        crVec3 w = cr_sub(cr__support(p->b, d), cr__support(p->a, cr_neg(d)));
        double far = cr_dot(d, cr_sub(w, p->w[i0]));
        if (far > best) {
            best = far;
            direction = d;
        }
    }
    int i2 = add_vertex(p, direction);
    crVec3 m = cr_cross(cr_sub(p->w[i1], p->w[i0]), cr_sub(p->w[i2], p->w[i0]));
    m = cr__unit(m, cr_vec3(0, 0, 0));
    if (cr_dot(m, m) == 0.0) return false;
    int i3 = add_vertex(p, m);
    double up = cr_dot(m, cr_sub(p->w[i3], p->w[i0]));
    int i4 = add_vertex(p, cr_neg(m));
    if (-cr_dot(m, cr_sub(p->w[i4], p->w[i0])) > up) {
        // the other side is farther: mirror, so that faces still look outward
        i3 = i4;
        int t = i1;
        i1 = i2;
        i2 = t;
    }
    const int corners[4][3] = {{i0, i2, i1}, {i0, i1, i3}, {i1, i2, i3}, {i2, i0, i3}};
    const int across[4][3] = {{3, 2, 1}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
    for (int f = 0; f < 4; f++) {
        add_face(p, corners[f][0], corners[f][1], corners[f][2]);
        for (int k = 0; k < 3; k++)
            p->face[f].next[k] = across[f][k];
    }
    return true;
}

// the nearest face that is still there; -1: none is left. It stays on the heap until it is gone.
static int nearest_face(Polytope* p) {
    while (p->entries > 0 && is_gone(p, &p->heap[0])) {
        p->heap[0] = p->heap[--p->entries];
        sift_down(p, 0);
    }
    return p->entries > 0 ? p->heap[0].slot : -1;
}

typedef struct Rim {
    int count, seen;
    int a[FACES], b[FACES], outer[FACES],
        side[FACES];     // edge a to b; the hidden face beyond it, and its edge
    int visible[FACES];  // faces to be replaced (seen)
} Rim;

static int side_towards(const Face* f, int face) {
    return f->next[0] == face ? 0 : f->next[1] == face ? 1 : 2;
}

// the faces that see w by more than eps and hang together with the seed, and the edges around them
static void see(Polytope* p, int w, int seed, double eps, Rim* rim) {
    rim->count = 0;
    rim->visible[0] = seed;
    rim->seen = 1;
    p->face[seed].alive = false;
    for (int s = 0; s < rim->seen; s++)
        for (int k = 0; k < 3; k++) {
            const Face* f = &p->face[rim->visible[s]];
            Face* g = &p->face[f->next[k]];
            if (g->alive && cr_dot(g->m, cr_sub(p->w[w], p->w[g->v[0]])) > eps) {
                g->alive = false;
                rim->visible[rim->seen++] = f->next[k];
            }
        }
    for (int s = 0; s < rim->seen; s++)
        for (int k = 0; k < 3; k++) {
            const Face* f = &p->face[rim->visible[s]];
            if (!p->face[f->next[k]].alive) continue;
            int i = rim->count++;
            rim->a[i] = f->v[k];
            rim->b[i] = f->v[(k + 1) % 3];
            rim->outer[i] = f->next[k];
            rim->side[i] = side_towards(&p->face[f->next[k]], rim->visible[s]);
        }
}

// the edges form one closed loop; from[v] becomes the edge that starts at v
static bool is_loop(const Rim* rim, int* from) {
    for (int i = 0; i < rim->count; i++)
        from[rim->b[i]] = -1;
    for (int i = 0; i < rim->count; i++)
        from[rim->a[i]] = -1;
    for (int i = 0; i < rim->count; i++) {
        if (from[rim->a[i]] >= 0) return false;
        from[rim->a[i]] = i;
    }
    int at = 0, steps = 0;
    do {
        at = from[rim->b[at]];
        steps++;
    } while (at > 0);
    return at == 0 && steps == rim->count;
}

// replace the faces that see vertex w by a fan from it to their rim; false: rounding or memory forbids
static bool expand(Polytope* p, int w, int seed, double eps) {
    Rim rim;
    int from[VERTICES], fan[FACES];
    see(p, w, seed, eps, &rim);
    if (p->faces - p->free - rim.seen + rim.count > FACES || !is_loop(&rim, from)) return false;
    for (int s = 0; s < rim.seen; s++)
        p->unused[p->free++] = rim.visible[s];
    for (int i = 0; i < rim.count; i++) {
        fan[i] = add_face(p, rim.a[i], rim.b[i], w);
        p->face[fan[i]].next[0] = rim.outer[i];
        p->face[rim.outer[i]].next[rim.side[i]] = fan[i];
    }
    for (int i = 0; i < rim.count; i++) {
        int after = fan[from[rim.b[i]]];
        p->face[fan[i]].next[1] = after;
        p->face[after].next[2] = fan[i];
    }
    return true;
}

// witness points: the face's point nearest to the origin, in the same mixture of support points
static void witness(const Polytope* p, const Face* f, crClosest* out) {
    const crVec3* w[3] = {&p->w[f->v[0]], &p->w[f->v[1]], &p->w[f->v[2]]};
    crVec3 m = cr_cross(cr_sub(*w[1], *w[0]), cr_sub(*w[2], *w[0]));
    double k[3], sum = 0.0;
    for (int i = 0; i < 3; i++) {
        k[i] = fmax(0.0, cr_dot(m, cr_cross(*w[(i + 1) % 3], *w[(i + 2) % 3])));
        sum += k[i];
    }
    out->a = out->b = cr_vec3(0, 0, 0);
    for (int i = 0; i < 3; i++) {
        double weight = sum > 0.0 ? k[i] / sum : 1.0 / 3.0;
        out->a = cr_madd(out->a, weight, p->wa[f->v[i]]);
        out->b = cr_madd(out->b, weight, p->wb[f->v[i]]);
    }
}

void cr__epa(const crConvex* a, const crConvex* b, double tol, crClosest* out) {
    Polytope p;
    p.a = a;
    p.b = b;
    p.vertices = p.faces = p.free = p.entries = p.made = 0;
    p.least = (double)INFINITY;
    double scale = cr__pair_scale(a, b), tiny = tol * scale, most = -(double)INFINITY;
    *out = (crClosest){.n = cr_vec3(0, 0, 1)};
    if (!start_epa(&p)) return;
    Face face = p.face[0];
    while (p.vertices < VERTICES) {
        out->iterations++;
        int i = nearest_face(&p);
        if (i < 0) {
            most = p.least;
            break;
        }
        Face f = p.face[i];
        most = fmax(most, f.offset);
        int w = add_vertex(&p, f.m);
        double h = cr_dot(f.m, p.w[w]);
        if (h < p.least) {
            p.least = h;
            face = f;
        }
        if (p.least - most <= tiny || h - f.offset <= tiny || !expand(&p, w, i, 0x1p-50 * scale)) break;
    }
    out->n = cr_neg(face.m);
    out->gap = -p.least;
    out->error = fmax(0.0, p.least - most);
    witness(&p, &face, out);
}
