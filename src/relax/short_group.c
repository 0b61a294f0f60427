// short_group.c - numbers of packed contacts for short steps: eight lanes of single precision.
//
//     k = R (r x a),   w = s_a^2 + s_b^2 + |k_a|^2 + |k_b|^2  along each of n, t1, t2;   T^T D T, T = t1, t2
//     balls:      rho = r.n / sqrt(I),   w = s_a^2 + s_b^2,   w_t = w + rho_a^2 + rho_b^2
//
// Single precision is enough for short steps, whose sweeps do not converge. The velocities at the end are
// computed from the impulses in double precision: v+ = v_free + M^-1 J^T P holds to rounding.
// Fails: CR_ERR_MEMORY.
#include "relax/short_group.h"

#include <string.h>

#include "base/room.h"
#include "relax/units.h"
#include "relax/wide.h"

#define GROUPS   16     // groups per task
#define BODIES   256    // bodies per task
#define ROUGH    1e9    // largest coefficient of friction: squares of impulses stay finite
#define SINGULAR 1e-5f  // least pivot of T^T D T, share of its diagonal entry: above rounding

typedef struct Fill {
    const crInertias* of;
    const crSubsteps* run;
} Fill;

// Places of the input of one contact per lane: normal, arms, E, warm start impulse, friction.
enum { IN_N = 0, IN_RB = 3, IN_RA = 6, IN_E = 9, IN_P = 12, IN_MU = 15, IN_COUNT = 16 };

static int short_places(const crGroup* g) {
    if (g->kind == CR_KIND_BALL) return CR_SHORT_RHO + (g->two ? 2 : 1);
    return CR_SHORT_K + (g->two ? 18 : 9);
}

static void put(float* in, int at, crVec3 a) {
    in[at * CR_WIDE] = (float)a.x;
    in[(at + 1) * CR_WIDE] = (float)a.y;
    in[(at + 2) * CR_WIDE] = (float)a.z;
}

static int short_body(const crPacked* p, int place) { return p->body[place / CR_BODY_STRIDE - 1]; }

// Bodies of the unit in one lane. b moves and may be the a of the contact; a is -1 if it does not move.
typedef struct Ends {
    int a, b;
    double sign;  // sign of impulses on b
} Ends;

static Ends ends_of(const crPacked* p, const crGroup* g, int l) {
    int from = l < g->lanes ? l : 0;
    Ends ends = {.a = g->two ? short_body(p, g->a[from]) : -1, .b = short_body(p, g->b[from])};
    ends.sign = p->contact[g->contact[from]].body_b == ends.b ? 1.0 : -1.0;
    return ends;
}

static void read_short_contact(const Fill* fill, const crPackedContact* c, Ends ends, float* in) {
    const crVec3* origin = fill->of->d->origin;
    double scale = fill->run->scale;
    put(in, IN_N, c->normal);
    put(in, IN_RB, cr_sub(c->point, origin[ends.b]));
    put(in, IN_RA, ends.a >= 0 ? cr_sub(c->point, origin[ends.a]) : cr_vec3(0, 0, 0));
    put(in, IN_E, c->E);
    put(in, IN_P, cr_scale(1.0 / (scale * scale), c->P));
    in[IN_MU * CR_WIDE] = (float)(c->mu < ROUGH ? c->mu : ROUGH);
}

// Reads s = 1/sqrt(m) and R of a body, times the sign of its impulses.
static void read_short_body(const Fill* fill, int body, double sign, float* share, float* R) {
    const crMat3* root = &fill->of->d->root[body];
    double scale = sign * fill->run->scale;
    *share = (float)(scale / sqrt(fill->of->model->bodies[body].mass));
    for (int k = 0; k < 9; k++) {
        R[k * CR_WIDE] = (float)(scale * root->m[k / 3][k % 3]);
    }
}

// Returns a unit vector across n and the z axis.
CR_LANE crWide3 short_tangent(crWide3 n) {
    crWide r = wide_sqrt(n.x * n.x + n.y * n.y), one = wide_all(1.0f), zero = wide_all(0.0f);
    crWideMask steep = wide_less(wide_all(1e-18f), r);
    crWide by = wide_select(steep, r, one);
    return wide3(wide_select(steep, -n.y / by, one), wide_select(steep, n.x / by, zero), zero);
}

// Stores k of one body for three axes and adds its part to T^T D T (11 12 22). Returns its part of w along n.
CR_LANE crWide add_rows(const float* R, crWide3 r, const crWide3* axis, float* k, crWide* D) {
    crWide3 row[3];
    for (int i = 0; i < 3; i++) {
        row[i] = wide3_mul(R, wide3_cross(r, axis[i]));
        wide3_store(k + 3 * i * CR_WIDE, row[i]);
    }
    D[0] += wide3_dot(row[1], row[1]);
    D[1] += wide3_dot(row[1], row[2]);
    D[2] += wide3_dot(row[2], row[2]);
    return wide3_dot(row[0], row[0]);
}

// Returns the larger eigenvalue of T^T D T.
CR_LANE crWide larger_root(const crWide* D) {
    crWide half = wide_all(0.5f), apart = half * (D[0] - D[2]), mean = half * (D[0] + D[2]);
    crWide a = apart / mean, b = D[1] / mean;
    return mean * (wide_all(1.0f) + wide_sqrt(a * a + b * b));
}

CR_LANE void fill_common(const float* in, crWide w, crWide3 P, float* slot) {
    crWide zero = wide_all(0.0f);
    wide3_store(slot + CR_SHORT_N * CR_WIDE, wide3_load(in + IN_N * CR_WIDE));
    wide3_store(slot + CR_SHORT_P * CR_WIDE, P);
    wide3_store(slot + CR_SHORT_SUM * CR_WIDE, wide3(zero, zero, zero));
    wide_store(slot + CR_SHORT_MU * CR_WIDE, wide_load(in + IN_MU * CR_WIDE));
    wide_store(slot + CR_SHORT_G * CR_WIDE, wide_all(1.0f) / w);
    wide_store(slot + CR_SHORT_Q * CR_WIDE, zero);
}

CR_LANE void fill_slot(const crGroup* g, crWide shares, const float* Rb, const float* Ra, const float* in,
                       float* slot) {
    crWide3 n = wide3_load(in + IN_N * CR_WIDE), t1 = short_tangent(n), axis[3] = {n, t1, wide3_cross(n, t1)};
    crWide3 P = wide3_load(in + IN_P * CR_WIDE), E = wide3_load(in + IN_E * CR_WIDE);
    crWide D[3] = {shares, wide_all(0.0f), shares}, w = shares, one = wide_all(1.0f);
    float* k = slot + CR_SHORT_K * CR_WIDE;
    w += add_rows(Rb, wide3_load(in + IN_RB * CR_WIDE), axis, k, D);
    if (g->two) w += add_rows(Ra, wide3_load(in + IN_RA * CR_WIDE), axis, k + 9 * CR_WIDE, D);
    fill_common(in, w, wide3(wide3_dot(n, P), wide3_dot(t1, P), wide3_dot(axis[2], P)), slot);
    wide3_store(slot + CR_SHORT_E * CR_WIDE, wide3(wide3_dot(n, E), wide3_dot(t1, E), wide3_dot(axis[2], E)));
    wide_store(slot + CR_SHORT_T * CR_WIDE, t1.x);
    wide_store(slot + (CR_SHORT_T + 1) * CR_WIDE, t1.y);
    // quotients instead of the determinant: a product of two weights may overflow
    crWide q = D[1] / D[0], d = D[2] - D[1] * q, least = wide_all(SINGULAR) * D[2];
    d = wide_select(wide_less(d, least), least, d);
    wide3_store(slot + CR_SHORT_S * CR_WIDE, wide3(D[2] / d / D[0], -(q / d), one / d));
    wide_store(slot + CR_SHORT_STEP * CR_WIDE, one / larger_root(D));
}

CR_LANE void fill_ball(const crGroup* g, crWide shares, const float* Rb, const float* Ra, const float* in,
                       float* slot) {
    crWide3 n = wide3_load(in + IN_N * CR_WIDE);
    crWide b = wide_load(Rb) * wide3_dot(n, wide3_load(in + IN_RB * CR_WIDE));
    crWide a = wide_load(Ra) * wide3_dot(n, wide3_load(in + IN_RA * CR_WIDE));
    fill_common(in, shares, wide3_load(in + IN_P * CR_WIDE), slot);
    wide_store(slot + CR_SHORT_E * CR_WIDE, wide3_dot(n, wide3_load(in + IN_E * CR_WIDE)));
    wide_store(slot + CR_SHORT_GT * CR_WIDE, wide_all(1.0f) / (shares + (b * b + a * a)));
    wide_store(slot + CR_SHORT_RHO * CR_WIDE, b);
    if (g->two) wide_store(slot + (CR_SHORT_RHO + 1) * CR_WIDE, a);
}

// Sets the gaps and the bounce of a contact's slot; `given` is E along n, the velocity given by driven
// bodies.
static void fill_gaps(const crSubsteps* run, int contact, float given, float* slot) {
    double gap = run->gap[contact];
    slot[CR_SHORT_GAP0 * CR_WIDE] = slot[CR_SHORT_GAP * CR_WIDE] = (float)gap;
    slot[CR_SHORT_TARGET * CR_WIDE] = (float)(gap - run->target[contact] + given * run->h);
    slot[CR_SHORT_BOUNCE * CR_WIDE] = run->bounce != NULL ? (float)run->bounce[contact] : 0.0f;
}

CR_LANE void fill_group(const Fill* fill, const crGroup* g) {
    const crPacked* p = fill->run->packed;
    _Alignas(32) float in[IN_COUNT * CR_WIDE], Rb[9 * CR_WIDE], Ra[9 * CR_WIDE];
    Ends ends[CR_WIDE];
    float* hot = fill->run->hot + g->hot;
    if (!g->two) memset(Ra, 0, sizeof Ra);
    for (int l = 0; l < CR_WIDE; l++) {
        ends[l] = ends_of(p, g, l);
        read_short_body(fill, ends[l].b, ends[l].sign, hot + l, Rb + l);
        hot[CR_WIDE + l] = 0.0f;
        if (g->two) read_short_body(fill, ends[l].a, -1.0, hot + CR_WIDE + l, Ra + l);
    }
    float* slot = hot + 2 * CR_WIDE;
    for (int k = 0; k < g->slots; k++) {
        for (int l = 0; l < CR_WIDE; l++) {
            read_short_contact(fill, &p->contact[g->contact[l] + k], ends[l], in + l);
        }
        for (int l = 0; l < CR_WIDE; l += CR_WIDE_STEP) {
            crWide sb = wide_load(hot + l), sa = wide_load(hot + CR_WIDE + l), shares = sb * sb + sa * sa;
            if (g->kind == CR_KIND_BALL) {
                fill_ball(g, shares, Rb + l, Ra + l, in + l, slot + l);
            } else {
                fill_slot(g, shares, Rb + l, Ra + l, in + l, slot + l);
            }
        }
        for (int l = 0; l < CR_WIDE; l++) {
            fill_gaps(fill->run, g->contact[l] + k, slot[CR_SHORT_E * CR_WIDE + l], slot + l);
        }
        slot += CR_WIDE * g->places;
    }
}

CR_LANE void fill_range(const Fill* fill, int begin, int end) {
    for (int i = begin; i < end; i++) {
        fill_group(fill, &fill->run->packed->group[i]);
    }
}

CR_TASKS(fill, Fill, fill_range(work, begin, end))

crStatus cr__shorts_create(const crInertias* of, crSubsteps* run) {
    const crPacked* p = run->packed;
    size_t hot = 0;
    for (int i = 0; i < p->group_count; i++) {
        crGroup* g = &p->group[i];
        g->places = short_places(g);
        g->hot = hot;
        hot += CR_WIDE * (2 + (size_t)(g->slots * g->places));
    }
    if (!CR_ROOMS(of->arena, CR_ROOM(run->hot, hot + 1))) return CR_ERR_MEMORY;
    cr__tasks_for(of->tasks, p->group_count, GROUPS, CR_BEST(fill), &(Fill){of, run});
    return CR_OK;
}

// Returns the impulse of one lane's contact over the whole step, in world axes.
static crVec3 sum_of(const crGroup* g, const float* slot, crVec3 n) {
    const float *P = slot + CR_SHORT_SUM * CR_WIDE, *t = slot + CR_SHORT_T * CR_WIDE;
    crVec3 p = cr_vec3(P[0], P[CR_WIDE], P[2 * CR_WIDE]);
    if (g->kind == CR_KIND_BALL) return p;
    crVec3 t1 = cr_vec3(t[0], t[CR_WIDE], 0.0);
    return cr_madd(cr_madd(cr_scale(p.x, n), p.y, t1), p.z, cr_cross(n, t1));
}

static void read_sums(void* ctx, int begin, int end) {
    const Fill* fill = ctx;
    const crPacked* p = fill->run->packed;
    double scale = fill->run->scale;
    for (int i = begin; i < end; i++) {
        const crGroup* g = &fill->run->packed->group[i];
        const float* slot = fill->run->hot + g->hot + 2 * CR_WIDE;
        for (int k = 0; k < g->slots; k++, slot += CR_WIDE * g->places) {
            for (int l = 0; l < g->lanes; l++) {
                crPackedContact* c = &p->contact[g->contact[l] + k];
                // the rotation to world axes may leave the cone by rounding
                c->P = cr__in_cone(c, cr_scale(scale * scale, sum_of(g, slot + l, c->normal)));
            }
        }
    }
}

// Computes z = z_free + M^(-1/2) J^T P + dz of single bodies, where z holds J^T P before.
typedef struct Apply {
    const crInertias* of;
    const crPacked* packed;
    const double* dz;  // NULL: none
} Apply;

static void apply_sums(void* ctx, int begin, int end) {
    const Apply* apply = ctx;
    const crPacked* p = apply->packed;
    for (int i = begin; i < end; i++) {
        int body = p->body[i], at = CR_BODY_STRIDE * (i + 1);
        double *z = p->z + at, share = 1.0 / sqrt(apply->of->model->bodies[body].mass);
        crVec3 v = cr_scale(share, cr__load_vec(z));
        crVec3 w = cr_mat3_mul(apply->of->d->root[body], cr__load_vec(z + 3));
        cr__store_vec(cr_add(cr__load_vec(p->z_free + at), v), z);
        cr__store_vec(cr_add(cr__load_vec(p->z_free + at + 3), w), z + 3);
        for (int k = 0; apply->dz != NULL && k < 6; k++) {
            z[k] += apply->dz[at + k];
        }
    }
}

// Sums impulses by body in the order of contacts. Each thread goes through all contacts for its share of the
// bodies.
typedef struct Sums {
    const crInertias* of;
    const crPacked* packed;
    int places, parts;  // single bodies plus one; number of tasks
} Sums;

// Begins the sum of a body if its place is among from to `to` - 1.
static crPushed begin_body(const crPacked* p, const crVec3* origin, int body, int from, int to) {
    int at = p->place[body];
    return cr__pushed_begin(at >= from && at < to ? p->z + at : NULL, origin[body]);
}

static void sum_part(void* ctx, int part, int end) {
    const Sums* sums = ctx;
    const crPacked* p = sums->packed;
    (void)end;
    int64_t share = sums->places - 1;
    int from = CR_BODY_STRIDE * (int)(1 + share * part / sums->parts);
    int to = CR_BODY_STRIDE * (int)(1 + share * (part + 1) / sums->parts);
    memset(p->z + from, 0, (size_t)(to - from) * sizeof *p->z);
    const crVec3* origin = sums->of->d->origin;
    for (int i = 0, next; i < p->count; i = next) {
        const crPackedContact* c = &p->contact[i];
        crPushed a = begin_body(p, origin, c->body_a, from, to),
                 b = begin_body(p, origin, c->body_b, from, to);
        for (next = i; next < p->count && cr__packed_same_pair(c, &p->contact[next]); next++) {
            const crPackedContact* own = &p->contact[next];
            if (a.at != NULL) cr__pushed_add(&a, own->point, cr_neg(own->P));
            if (b.at != NULL) cr__pushed_add(&b, own->point, own->P);
        }
        cr__pushed_end(&a);
        cr__pushed_end(&b);
    }
}

void cr__shorts_apply(const crInertias* of, const crPacked* p, const double* dz) {
    int singles = p->bodies - (p->units != NULL ? p->units->places : 0);
    Sums sums = {of, p, singles + 1, cr__tasks_threads(of->tasks)};
    memset(p->z, 0, CR_BODY_STRIDE * sizeof *p->z);
    cr__tasks_for(of->tasks, sums.parts, 1, sum_part, &sums);
    cr__tasks_for(of->tasks, singles, BODIES, apply_sums, &(Apply){of, p, dz});
    for (int i = CR_BODY_STRIDE * (singles + 1); i < CR_BODY_STRIDE * (p->bodies + 1); i++) {
        p->z[i] = p->z_free[i] + (dz != NULL ? dz[i] : 0.0);
    }
}

void cr__shorts_read(const crInertias* of, const crSubsteps* run) {
    cr__tasks_for(of->tasks, run->packed->group_count, GROUPS, read_sums, &(Fill){of, run});
}
