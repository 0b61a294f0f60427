// coulomb_polygon.c - one stage with Coulomb friction on a polygonal cone, by going through all cases.
//
// r lies in mu Pn K, K the regular polygon with corners d_j = (cos, sin)(2 pi j/k), and among those points
// it is the one most opposed to the slip u = q + S r. So either u = 0, or r is at a corner,
//     r = mu Pn d_j,   u.(d_i - d_j) >= 0 for both neighbours i,
// or on an edge with E = d_j+1 - d_j,
//     r = mu Pn d_j + y E,   0 < y < mu Pn,   u.E = 0,   u.(d_j + d_j+1) <= 0,
// each with Pn = c0 - omega.r: linear equations. This is the linear complementarity problem of Anitescu and
// Potra 1997 and Stewart and Trinkle 1996 for one contact. At a tie of two cases both are accepted within
// rounding and counted once. Fails: none of the cases holds (singular S): the count is 0.
#include "coulomb.h"

#define TIE_TOL  1e-12  // of the terms compared: within this a condition counts as met
#define SAME_TOL 1e-9   // of |P|: solutions closer than this are one

typedef struct Tangent {
    double y, z;
} Tangent;

static double dot(Tangent a, Tangent b) { return a.y * b.y + a.z * b.z; }

static Tangent stiff(const cr__Stage* s, Tangent r) {
    return (Tangent){s->Syy * r.y + s->Syz * r.z, s->Syz * r.y + s->Szz * r.z};
}

static Tangent corner(int j, int k) {
    Tangent d;
    cr_sincos(2.0 * CR_PI * (double)(j % k) / (double)k, &d.z, &d.y);
    return d;
}

// Keep the list in order of rising Pn, each solution once, sticking last.
static int insert(cr__Solution* out, int count, cr__Solution s) {
    for (int i = 0; i < count; i++) {
        if (cr_norm(cr_sub(out[i].P, s.P)) <= SAME_TOL * (cr_norm(s.P) + cr_norm(out[i].P))) return count;
    }
    int at = count;
    while (at > 0 && !s.sticks && (out[at - 1].P.x > s.P.x || out[at - 1].sticks)) {
        at--;
    }
    if (at == CR__MAX_SOLUTIONS) return count;
    if (count < CR__MAX_SOLUTIONS) count++;
    for (int i = count - 1; i > at; i--) {
        out[i] = out[i - 1];
    }
    out[at] = s;
    return count;
}

static cr__Solution solution(const cr__Stage* s, double Pn, Tangent r) {
    Tangent Sr = stiff(s, r);
    return (cr__Solution){cr_vec3(Pn, r.y, r.z), s->qy + Sr.y, s->qz + Sr.z, false};
}

// sizes of the terms u is the sum of
static double slip_scale(const cr__Stage* s, Tangent r) {
    return fabs(s->qy) + fabs(s->qz) + (s->Syy + s->Szz) * (fabs(r.y) + fabs(r.z));
}

// Sticking is found as on the circle, whose cone holds the polygon's; here the polygon decides.
static int try_stick(const cr__Stage* s, int k, cr__Solution* out) {
    cr__Solution circle[CR__MAX_SOLUTIONS];
    int count = cr__coulomb_circle(s, circle);
    if (count == 0 || !circle[count - 1].sticks) return 0;
    crVec3 P = circle[count - 1].P;
    double half = cr_cos(CR_PI / (double)k);
    for (int j = 0; j < k; j++) {
        Tangent a = corner(j, k);
        Tangent b = corner(j + 1, k);
        Tangent outward = {(a.y + b.y) / (2.0 * half), (a.z + b.z) / (2.0 * half)};
        double reach = outward.y * P.y + outward.z * P.z;
        if (reach > half * s->mu * P.x + TIE_TOL * (fabs(P.y) + fabs(P.z))) return 0;
    }
    out[0] = circle[count - 1];
    return 1;
}

static bool try_corner(const cr__Stage* s, Tangent before, Tangent d, Tangent after, cr__Solution* out) {
    Tangent omega = {s->omega_y, s->omega_z};
    double gives_way = 1.0 + s->mu * dot(omega, d);
    if (!(gives_way > 0.0)) return false;
    double Pn = s->c0 / gives_way;
    Tangent r = {s->mu * Pn * d.y, s->mu * Pn * d.z};
    *out = solution(s, Pn, r);
    Tangent u = {out->uy, out->uz};
    double tol = TIE_TOL * slip_scale(s, r);
    return dot(u, before) - dot(u, d) >= -tol && dot(u, after) - dot(u, d) >= -tol;
}

static bool try_edge(const cr__Stage* s, Tangent d, Tangent after, cr__Solution* out) {
    Tangent omega = {s->omega_y, s->omega_z};
    Tangent q = {s->qy, s->qz};
    Tangent E = {after.y - d.y, after.z - d.z};
    Tangent SE = stiff(s, E);
    // Pn (1 + mu omega.d) + y omega.E = c0,   Pn mu d.S E + y E.S E = -q.E
    double a = 1.0 + s->mu * dot(omega, d);
    double b = dot(omega, E);
    double c = s->mu * dot(SE, d);
    double e = dot(SE, E);
    double det = a * e - b * c;
    if (!(fabs(det) > TIE_TOL * (fabs(a * e) + fabs(b * c)))) return false;
    double Pn = (s->c0 * e + b * dot(q, E)) / det;
    double y = (-a * dot(q, E) - c * s->c0) / det;
    double limit = s->mu * Pn;
    if (!(Pn > 0.0 && y >= -TIE_TOL * limit && y <= (1.0 + TIE_TOL) * limit)) return false;
    Tangent r = {limit * d.y + y * E.y, limit * d.z + y * E.z};
    *out = solution(s, Pn, r);
    return out->uy * (d.y + after.y) + out->uz * (d.z + after.z) <= TIE_TOL * slip_scale(s, r);
}

int cr__coulomb_polygon(const cr__Stage* s, int k, cr__Solution out[CR__MAX_SOLUTIONS]) {
    if (!(s->mu > 0.0) || (s->qy == 0.0 && s->qz == 0.0)) return cr__coulomb_circle(s, out);
    int count = try_stick(s, k, out);
    Tangent before = corner(k - 1, k);
    Tangent d = corner(0, k);
    for (int j = 0; j < k; j++) {
        Tangent after = corner(j + 1, k);
        cr__Solution found;
        if (try_corner(s, before, d, after, &found)) count = insert(out, count, found);
        if (try_edge(s, d, after, &found)) count = insert(out, count, found);
        before = d;
        d = after;
    }
    return count;
}
