// pair.c - Chatterjee and Ruina's law on two collisions at a time, in vector registers.
//
// Operation for operation what cr_collision_contact and law_chatterjee_ruina.c do, so that the bits are the same;
// a test holds the three together. GCC and Clang vector types: they become SSE2, NEON, WASM SIMD or plain code, and
// since every lane does the same IEEE operations in the same order, the result does not depend on which.
// Fails: not at all; a lane that is not plain makes both go the careful way.
#include "pair.h"

#include "impulse/rank.h"

typedef double Two __attribute__((vector_size(16)));
typedef long long Mask __attribute__((vector_size(16)));

typedef struct Vec {
    Two x, y, z;
} Vec;

typedef struct Sym {
    Two xx, xy, xz, yy, yz, zz;
} Sym;

#define LANES(array, field) ((Two){array[0] field, array[1] field})

static inline Two splat(double a) { return (Two){a, a}; }
static inline Two size_of(Two a) { return (Two)((Mask)a & 0x7fffffffffffffffLL); }
static inline Two blend(Mask m, Two a, Two b) { return (Two)((m & (Mask)a) | (~m & (Mask)b)); }
static inline bool all_true(Mask m) { return (m[0] & m[1]) != 0; }
static inline Two root(Two a) { return (Two){sqrt(a[0]), sqrt(a[1])}; }
static inline Two larger(Two a, Two b) { return blend(a > b, a, b); }

static inline Two dot_pair(const Vec* a, const Vec* b) { return a->x * b->x + a->y * b->y + a->z * b->z; }
static inline Vec scale(Two s, const Vec* a) { return (Vec){s * a->x, s * a->y, s * a->z}; }
static inline Vec times(const Sym* s, const Vec* v) {
    return (Vec){s->xx * v->x + s->xy * v->y + s->xz * v->z, s->xy * v->x + s->yy * v->y + s->yz * v->z,
                 s->xz * v->x + s->yz * v->y + s->zz * v->z};
}

// cr_sym3_is_psd
static inline Mask is_psd(const Sym* s) {
    const double tol = 1e-10;
    Two xy = s->xx * s->yy, xz = s->xx * s->zz, yz = s->yy * s->zz;
    Mask good = (s->xx >= 0.0) & (s->yy >= 0.0) & (s->zz >= 0.0);
    good &= (xy - s->xy * s->xy >= -tol * xy) & (xz - s->xz * s->xz >= -tol * xz) &
            (yz - s->yz * s->yz >= -tol * yz);
    Two det = s->xx * (yz - s->yz * s->yz) - s->xy * (s->xy * s->zz - s->yz * s->xz) +
              s->xz * (s->xy * s->yz - s->yy * s->xz);
    return good & (det >= -tol * s->xx * yz);
}

// Two collisions as read, and in the contact frame.
typedef struct Block {
    Sym W;
    Vec V, n, b, c;
    Two mu, e, et;
    Two s;
} Block;

// cr_collision_contact's checks and axes; false where a lane is not plain
static inline Mask read_block(const crMat3* W, const crVec3* V, const crVec3* n, const double* mu,
                              const double* e, const double* et, Block* k) {
    Two a01 = LANES(W, .m[0][1]), a10 = LANES(W, .m[1][0]);
    Two a02 = LANES(W, .m[0][2]), a20 = LANES(W, .m[2][0]);
    Two a12 = LANES(W, .m[1][2]), a21 = LANES(W, .m[2][1]);
    k->W = (Sym){LANES(W, .m[0][0]), 0.5 * (a01 + a10), 0.5 * (a02 + a20),
                 LANES(W, .m[1][1]), 0.5 * (a12 + a21), LANES(W, .m[2][2])};
    k->V = (Vec){LANES(V, .x), LANES(V, .y), LANES(V, .z)};
    Vec given = {LANES(n, .x), LANES(n, .y), LANES(n, .z)};
    k->mu = LANES(mu, );
    k->e = LANES(e, );
    k->et = LANES(et, );
    const double most = 1.7976931348623157e308;
    Two zero = (k->V.x - k->V.x) + (k->V.y - k->V.y) + (k->V.z - k->V.z);
    Mask good = (zero == 0.0) & (k->mu >= 0.0) & (k->mu <= most) & (k->e >= 0.0) & (k->e <= most) &
                (k->et >= -1.0) & (k->et <= 1.0);
    Two skew = larger(larger(size_of(a01 - a10), size_of(a02 - a20)), size_of(a12 - a21));
    Two largest = larger(larger(k->W.xx, k->W.yy), k->W.zz);
    good &= (skew <= 1e-9 * largest) & (largest <= most) & is_psd(&k->W);
    Two square = dot_pair(&given, &given);
    good &= size_of(square - 1.0) <= splat(2.0 * 1e-9);
    k->n = scale(1.5 - 0.5 * square, &given);
    // axes
    Two Vn = dot_pair(&k->n, &k->V);
    Vec b = {Vn * k->n.x - k->V.x, Vn * k->n.y - k->V.y, Vn * k->n.z - k->V.z};
    Two tilt = -dot_pair(&k->n, &b);
    k->b = (Vec){b.x + tilt * k->n.x, b.y + tilt * k->n.y, b.z + tilt * k->n.z};
    k->c = (Vec){k->n.y * k->b.z - k->n.z * k->b.y, k->n.z * k->b.x - k->n.x * k->b.z,
                 k->n.x * k->b.y - k->n.y * k->b.x};
    Two slip = dot_pair(&k->b, &k->b);
    good &= (slip > 1e-28 * dot_pair(&k->V, &k->V)) & (slip > 1e-290);
    k->s = 1.0 / root(slip);
    return good;
}

// law_chatterjee_ruina.c on contact-frame data
static inline Mask impulses(const Sym* W, const Vec* V, const Block* k, Vec* P) {
    Two r = 1.0 / W->xx;
    Two syy = W->yy - W->xy * W->xy * r;
    Two syz = W->yz - W->xy * W->xz * r;
    Two szz = W->zz - W->xz * W->xz * r;
    Two det = syy * szz - syz * syz;
    Two rounding = CR__ROUNDING * (W->xx + W->yy + W->zz);
    Two reach = 1.0 + (size_of(W->xy) + size_of(W->xz)) * r;
    Mask good =
        (W->xx > rounding) & (syy > 0.0) & (szz > 0.0) & (det > rounding * (reach * reach) * (syy + szz));
    Two by = W->xy * (V->x * r) - V->y;
    Two bz = W->xz * (V->x * r) - V->z;
    Two q = 1.0 / det;
    Vec D;
    D.y = (szz * by - syz * bz) * q;
    D.z = (syy * bz - syz * by) * q;
    D.x = -(W->xy * D.y + W->xz * D.z) * r;
    Two P_I = -V->x * r;
    Two finite = P_I + D.y + D.z;
    good &= (V->x <= 0.0) & (finite - finite == 0.0);
    Two Pn = (1.0 + k->e) * P_I;
    Two kappa = 1.0 + k->et;
    Two tangential = root(D.y * D.y + D.z * D.z);
    Two normal = Pn + kappa * D.x;
    Two clipped = k->mu * Pn / (tangential - k->mu * D.x);
    kappa = blend(kappa * tangential > k->mu * normal, clipped, kappa);
    *P = (Vec){Pn + kappa * D.x, kappa * D.y, kappa * D.z};
    Two sum = P->x + P->y + P->z;
    return good & (sum - sum == 0.0);
}

bool cr__chatterjee_ruina_pair(const crMat3* W, const crVec3* V, const crVec3* n, const double* mu,
                               const double* e, const double* et, crVec3* P) {
    Block k;
    Mask good = read_block(W, V, n, mu, e, et, &k);
    Two s = k.s, s2 = s * s;
    Vec Wn = times(&k.W, &k.n), Wb = times(&k.W, &k.b), Wc = times(&k.W, &k.c);
    Sym frame_W = {dot_pair(&k.n, &Wn),      s * dot_pair(&k.b, &Wn),  s * dot_pair(&k.c, &Wn),
                   s2 * dot_pair(&k.b, &Wb), s2 * dot_pair(&k.c, &Wb), s2 * dot_pair(&k.c, &Wc)};
    Vec frame_V = {dot_pair(&k.n, &k.V), s * dot_pair(&k.b, &k.V), s * dot_pair(&k.c, &k.V)};
    Vec p;
    good &= impulses(&frame_W, &frame_V, &k, &p);
    if (!all_true(good)) return false;
    Vec t1 = scale(s, &k.b), t2 = scale(s, &k.c);
    Two x = k.n.x * p.x + t1.x * p.y + t2.x * p.z;
    Two y = k.n.y * p.x + t1.y * p.y + t2.y * p.z;
    Two z = k.n.z * p.x + t1.z * p.y + t2.z * p.z;
    for (int i = 0; i < 2; i++) {
        P[i] = cr_vec3(x[i], y[i], z[i]);
    }
    return true;
}
