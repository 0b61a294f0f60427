// gradient_polygon.c - derivatives of anitescu-potra with a polygon as friction cone.
//
// The law's equations in the case found (coulomb_polygon.c), for each of the two stages with normal impulse N,
// friction f and final slip u; d_j are the corners, E = d_j+1 - d_j:
//     stick     u = 0                            surfaces: an edge of mu N K
//     corner j  f = mu N d_j                     surfaces: u.(d_i - d_j) = 0 for both neighbours i
//     edge j    f x E = mu N d_j x E, u.E = 0    surfaces: both ends of the edge; u.(d_j + d_j+1) = 0
// Pieces: the case of stage 1, of stage 2, and whether stage 2 ends at Vn+ = 0.
// Fails: false where the equations are singular, where no case fits, and at e = 0 (the law is differenced then).
#include "gradient.h"
#include "two_stage.h"

enum {
    STICK = 0,
    CASES = 512,
    CLOSES = CASES * CASES
};  // a case: 0, 1 + 2 j for corner j, 2 + 2 j for edge j

#define ON_IT 1e-9  // of the terms: a point of the polygon's edge or corner

typedef struct Tangent {
    double y, z;
} Tangent;

static Tangent corner_polygon(int j, int k) {
    Tangent d;
    cr_sincos(2.0 * CR_PI * (double)(j % k) / (double)k, &d.z, &d.y);
    return d;
}

// The case that friction f under the normal impulse N and the slip u is in, -1 for none.
static int case_of(const crContact* c, int k, double N, const double f[2], const double u[2]) {
    double size = c->mu * N;
    double speed = sqrt(u[0] * u[0] + u[1] * u[1]);
    double scale = cr_norm(c->V) + (c->W.yy + c->W.zz) * size;
    for (int j = 0; j < k; j++) {
        Tangent d = corner_polygon(j, k);
        double off = fmax(fabs(f[0] - size * d.y), fabs(f[1] - size * d.z));
        if (off <= ON_IT * size && speed > ON_IT * scale) return 1 + 2 * j;
    }
    if (speed <= ON_IT * scale) return STICK;
    for (int j = 0; j < k; j++) {
        Tangent a = corner_polygon(j, k), b = corner_polygon(j + 1, k);
        double ey = b.y - a.y, ez = b.z - a.z;
        double across = (f[0] - size * a.y) * ez - (f[1] - size * a.z) * ey;
        double middle = f[0] * (a.y + b.y) + f[1] * (a.z + b.z);
        if (fabs(across) <= ON_IT * size && middle > 0.0) return 2 + 2 * j;
    }
    return -1;
}

static cr__Dual project_polygon(const cr__Dual x[2], double y, double z) {
    return cr__blend(x[0], y, x[1], z);
}

typedef struct Surfaces {
    int count;
    int other[3];
    cr__Dual g[3];
} Surfaces;

static void add_surface(Surfaces* s, int other, cr__Dual g) {
    s->other[s->count] = other;
    s->g[s->count++] = g;
}

// Two equations of friction, and the surfaces of the case.
static Surfaces friction(const cr__DualContact* d, int which, cr__Dual N, const cr__Dual f[2],
                         const cr__Dual u[2], cr__Dual F[2]) {
    Surfaces s = {0};
    int k = d->directions;
    int j = (which - 1) / 2;
    cr__Dual size = cr__times(d->mu, N);
    Tangent a = corner_polygon(j, k), b = corner_polygon(j + 1, k), z = corner_polygon(j + k - 1, k);
    if (which == STICK) {
        F[0] = u[0];
        F[1] = u[1];
        double least = INFINITY;
        for (int i = 0; i < k; i++) {
            Tangent p = corner_polygon(i, k), q = corner_polygon(i + 1, k);
            double my = 0.5 * (p.y + q.y), mz = 0.5 * (p.z + q.z);
            double square = my * my + mz * mz;
            cr__Dual room = cr__more(cr__scaled(square, size), -1.0, project_polygon(f, my, mz));
            if (!(room.v < least)) continue;
            least = room.v;
            s.count = 0;
            add_surface(&s, 2 + 2 * i, room);
        }
    } else if (which % 2 == 1) {
        F[0] = cr__more(f[0], -a.y, size);
        F[1] = cr__more(f[1], -a.z, size);
        add_surface(&s, 2 + 2 * j, project_polygon(u, b.y - a.y, b.z - a.z));
        add_surface(&s, 2 + 2 * ((j + k - 1) % k), project_polygon(u, z.y - a.y, z.z - a.z));
    } else {
        double ey = b.y - a.y, ez = b.z - a.z;
        double length = ey * ey + ez * ez;
        F[0] = cr__more(project_polygon(f, ez, -ey), -(a.y * ez - a.z * ey), size);
        F[1] = project_polygon(u, ey, ez);
        cr__Dual y =
            cr__blend(project_polygon(f, ey, ez), 1.0 / length, size, -(a.y * ey + a.z * ez) / length);
        add_surface(&s, 1 + 2 * j, y);
        add_surface(&s, 1 + 2 * ((j + 1) % k), cr__minus(size, y));
        add_surface(&s, STICK, project_polygon(u, -(a.y + b.y), -(a.z + b.z)));
    }
    return s;
}

static void unknowns_of(crVec3 P, int first, cr__Dual x[3]) {
    x[0] = cr__variable(P.x, CR__CLOSED_INPUTS + first);
    x[1] = cr__variable(P.y, CR__CLOSED_INPUTS + first + 1);
    x[2] = cr__variable(P.z, CR__CLOSED_INPUTS + first + 2);
}

static int own_piece(const crContact* c, int k, crVec3 P1, crVec3 P2) {
    crVec3 u1 = cr_add(c->V, cr_sym3_mul(c->W, P1));
    crVec3 u = cr_add(u1, cr_sym3_mul(c->W, P2));
    int first = case_of(c, k, P1.x, (double[]){P1.y, P1.z}, (double[]){u1.y, u1.z});
    int second = case_of(c, k, P2.x, (double[]){P2.y, P2.z}, (double[]){u.y, u.z});
    if (first < 0 || second < 0) return -1;
    return first + CASES * second + (P2.x > (1.0 + 1e-13) * c->e * P1.x ? CLOSES : 0);
}

bool cr__piece_polygon(const cr__DualContact* d, int piece, cr__Piece* out) {
    const crContact* c = &d->c;
    int k = d->directions;
    cr__Solution all[CR__MAX_SOLUTIONS];
    crVec3 second;
    int count = cr__compress(c, k, all);
    if (count == 0 || c->e == 0.0 || c->mu == 0.0 || isinf(c->mu) || 2 * k + 2 > CASES) return false;
    const cr__Solution* first = cr__choose(all, count);
    if (cr__expand(c, k, first, &second) == 0) return false;
    if (piece == CR__OWN_PIECE) piece = own_piece(c, k, first->P, second);
    if (piece < 0) return false;
    bool closes = piece >= CLOSES;
    int rest = piece - (closes ? CLOSES : 0);
    cr__Dual P1[3], P2[3], P[3], u1[3], u[3], F[6];
    cr__Unknowns X;
    unknowns_of(first->P, 0, P1);
    unknowns_of(second, 3, P2);
    for (int i = 0; i < 3; i++) {
        P[i] = cr__plus(P1[i], P2[i]);
    }
    cr__velocity_after(d, P1, u1);
    cr__velocity_after(d, P, u);
    F[0] = u1[0];
    Surfaces a = friction(d, rest % CASES, P1[0], P1 + 1, u1 + 1, F + 1);
    cr__Dual more = cr__minus(P2[0], cr__times(d->e, P1[0]));
    F[3] = closes ? u[0] : more;
    Surfaces b = friction(d, rest / CASES, P2[0], P2 + 1, u + 1, F + 4);
    if (!cr__solve_unknowns(6, F, &X)) return false;
    cr__piece_impulse(out, P, &X);
    if (!(first->P.x > 0.0)) return true;
    for (int i = 0; i < a.count; i++) {
        cr__piece_gauge(out, CR_SWITCH_STICK, piece - rest % CASES + a.other[i], &a.g[i], &X);
    }
    for (int i = 0; i < b.count; i++) {
        int other = piece + CASES * (b.other[i] - rest / CASES);
        cr__piece_gauge(out, CR_SWITCH_STICK, other, &b.g[i], &X);
    }
    int beyond = closes ? piece - CLOSES : piece + CLOSES;
    cr__piece_gauge(out, CR_SWITCH_CLOSE, beyond, closes ? &more : &u[0], &X);
    return true;
}
