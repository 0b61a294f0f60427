// epa.c - depth of overlap by an expanding polytope (van den Bergen 2001), also for cores that just touch.
//
// D = B - A holds the origin, or nearly. The depth is the least h(m) = max m.w over D, over unit m; contact
// normal n = -m, gap = -h. A polytope inside D grows: of its faces the one nearest to the origin (signed, so
// the origin may start outside) gets the support point of D along its normal. Its offset bounds the depth
// from below, the least h seen from above; the difference is the error reported. The start is a tetrahedron
// from extreme points of D itself, so no GJK simplex, degenerate or not, is needed.
// Ends: bounds meet within 1e-10 of the size (Newton's method goes on from there), or the fixed memory is
// full, or rounding stops the growth; then the error says how far.
#include "collide/narrow.h"

#define VERTICES 160
#define FACES    (2 * VERTICES)

typedef struct Face {
    int v[3];
    crVec3 m;       // unit outward normal
    double offset;  // m.v; INFINITY for a sliver without a normal
} Face;

typedef struct Polytope {
    const crConvex* a;
    const crConvex* b;
    int vertices, faces;
    crVec3 w[VERTICES], wa[VERTICES], wb[VERTICES];
    Face face[FACES];
} Polytope;

static int add_vertex(Polytope* p, crVec3 m) {
    int i = p->vertices++;
    p->wa[i] = cr__support(p->a, cr_neg(m));
    p->wb[i] = cr__support(p->b, m);
    p->w[i] = cr_sub(p->wb[i], p->wa[i]);
    return i;
}

static void add_face(Polytope* p, int a, int b, int c) {
    Face* f = &p->face[p->faces++];
    *f = (Face){.v = {a, b, c}};
    crVec3 u = cr_sub(p->w[b], p->w[a]), v = cr_sub(p->w[c], p->w[a]), m = cr_cross(u, v);
    double area = cr_norm(m);
    bool sliver = !(area > 1e-13 * cr_norm(u) * cr_norm(v));
    f->m = area > 0.0 ? cr_scale(1.0 / area, m) : m;
    f->offset = sliver ? (double)INFINITY : cr_dot(f->m, p->w[a]);
}

// extreme points of D: a widest pair along an axis, then the farthest from their line, then from their plane
static bool start(Polytope* p) {
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
    add_face(p, i0, i2, i1);
    add_face(p, i0, i1, i3);
    add_face(p, i1, i2, i3);
    add_face(p, i2, i0, i3);
    return true;
}

static int nearest_face(const Polytope* p) {
    int best = 0;
    for (int i = 1; i < p->faces; i++)
        if (p->face[i].offset < p->face[best].offset) best = i;
    return best;
}

// an edge in common, in opposite directions
static bool neighbours(const Face* f, const Face* g) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (f->v[i] == g->v[(k + 1) % 3] && f->v[(i + 1) % 3] == g->v[k]) return true;
    return false;
}

typedef struct Edge {
    int a, b;
} Edge;

// an edge of a visible face; meeting its reverse it was inside the visible part
static int toggle(Edge* edges, int count, int a, int b) {
    for (int i = 0; i < count; i++) {
        if (edges[i].a == b && edges[i].b == a) {
            edges[i] = edges[count - 1];
            return count - 1;
        }
    }
    edges[count] = (Edge){a, b};
    return count + 1;
}

// the edges form one closed loop
static bool is_loop(const Edge* edges, int count) {
    int at = 0;
    for (int steps = 1; steps <= count; steps++) {
        int next = -1;
        for (int i = 0; i < count; i++)
            if (edges[i].a == edges[at].b) {
                if (next >= 0) return false;
                next = i;
            }
        if (next < 0) return false;
        at = next;
        if (at == 0) return steps == count;
    }
    return false;
}

// mark the faces that see w by more than eps and hang together with the seed
static int see(const Polytope* p, int w, int seed, double eps, bool* visible) {
    int stack[FACES], depth = 0, seen = 1;
    for (int i = 0; i < p->faces; i++)
        visible[i] = i == seed;
    stack[depth++] = seed;
    while (depth > 0) {
        const Face* f = &p->face[stack[--depth]];
        for (int i = 0; i < p->faces; i++) {
            const Face* g = &p->face[i];
            if (visible[i] || !neighbours(f, g)) continue;
            if (!(cr_dot(g->m, cr_sub(p->w[w], p->w[g->v[0]])) > eps)) continue;
            visible[i] = true;
            stack[depth++] = i;
            seen++;
        }
    }
    return seen;
}

// replace the faces that see vertex w by a fan from it to their rim; false: rounding or memory forbids
static bool expand(Polytope* p, int w, int seed, double eps) {
    Edge edges[3 * FACES];
    bool visible[FACES];
    int count = 0, seen = see(p, w, seed, eps, visible);
    for (int i = 0; i < p->faces; i++)
        for (int k = 0; k < 3 && visible[i]; k++)
            count = toggle(edges, count, p->face[i].v[k], p->face[i].v[(k + 1) % 3]);
    if (p->faces - seen + count > FACES || !is_loop(edges, count)) return false;
    int kept = 0;
    for (int i = 0; i < p->faces; i++)
        if (!visible[i]) p->face[kept++] = p->face[i];
    p->faces = kept;
    for (int i = 0; i < count; i++)
        add_face(p, edges[i].a, edges[i].b, w);
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

void cr__epa(const crConvex* a, const crConvex* b, crClosest* out) {
    Polytope p;
    p.a = a;
    p.b = b;
    p.vertices = p.faces = 0;
    double scale = cr__pair_scale(a, b), tiny = CR__DEPTH * scale, least = (double)INFINITY,
           most = -(double)INFINITY;
    *out = (crClosest){.n = cr_vec3(0, 0, 1)};
    if (!start(&p)) return;
    Face face = p.face[0];
    while (p.vertices < VERTICES) {
        out->iterations++;
        int i = nearest_face(&p);
        Face f = p.face[i];
        if (!(f.offset < (double)INFINITY)) break;
        most = fmax(most, f.offset);
        int w = add_vertex(&p, f.m);
        double h = cr_dot(f.m, p.w[w]);
        if (h < least) {
            least = h;
            face = f;
        }
        if (least - most <= tiny || h - f.offset <= tiny || !expand(&p, w, i, 0x1p-50 * scale)) break;
    }
    out->n = cr_neg(face.m);
    out->gap = -least;
    out->error = fmax(0.0, least - most);
    witness(&p, &face, out);
}
