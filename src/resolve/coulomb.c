// coulomb.c - all solutions of one stage with Coulomb friction on the circular cone.
//
// A slipping solution has r = -(S + lambda)^-1 q with lambda > 0, so |r| falls from the sticking impulse at
// lambda = 0 to nothing at infinity, and the cone is met where mu (c0 - omega.r) = |r|. Times the determinant
// of S + lambda, with x = lambda / tr S, A = adj(S) q / (tr S |q|), a and c its parts along and across q,
//
//     h(x) = m x^2 + (m + k) x + (m d + g) - sqrt((x + a)^2 + c^2) = 0,
//     m = mu c0 tr S/|q|,   k = mu omega.q/|q|,   g = mu omega.A,   d = det S/(tr S)^2,   a >= 0
//
// h'' rises with x: h is concave, then convex, with at most three roots, and Newton's method from the ends of
// the two parts runs to each of them without passing it. The smallest Pn = |r|/mu is the largest root; where
// h(0) >= 0 sticking is inside the cone. Fails: neither (only where S is singular): the count is 0.
#include "coulomb.h"

#define FAR 1e16  // beyond this x the matrix S is rounding beside lambda
// share of |r| by which sticking may be outside the cone where the stage has no other solution
#define LIMIT_TOL 1e-12

static double finite_mu(const crContact* c) { return fmin(c->mu, CR__MU_INFINITE); }

// q from the slip at the beginning and the normal impulse c0
static void set_slip(const crSym3* W, double Vy, double Vz, cr__Stage* s) {
    double by = W->xy * s->c0;
    double bz = W->xz * s->c0;
    s->qy = Vy + by;
    s->qz = Vz + bz;
    s->qtol = CR__RANGE_TOL * (sqrt(Vy * Vy + Vz * Vz) + sqrt(by * by + bz * bz));
}

cr__Stage cr__stage_closing(const crContact* c, double Un, double Vy, double Vz) {
    const crSym3* W = &c->W;
    cr__Schur schur = cr__schur(W);
    cr__Stage s = {.mu = finite_mu(c), .c0 = Un < 0.0 ? -Un / W->xx : 0.0};
    s.omega_y = schur.omega_y;
    s.omega_z = schur.omega_z;
    s.Syy = schur.yy;
    s.Syz = schur.yz;
    s.Szz = schur.zz;
    s.Stol = schur.rounding;
    set_slip(W, Vy, Vz, &s);
    return s;
}

cr__Stage cr__stage_pressed(const crContact* c, double Pn, double Vy, double Vz) {
    const crSym3* W = &c->W;
    cr__Stage s = {.mu = finite_mu(c), .c0 = Pn, .Syy = W->yy, .Syz = W->yz, .Szz = W->zz};
    s.Stol = cr__W_rounding(W);
    set_slip(W, Vy, Vz, &s);
    return s;
}

// h(x) = (m x + mk) x + g - sqrt((x + a)^2 + c^2)
typedef struct Curve {
    double m, mk, g, a, c;
} Curve;

static double curve_at(const Curve* f, double x, double* slope) {
    double y = x + f->a;
    double root = sqrt(y * y + f->c * f->c);
    *slope = 2.0 * f->m * x + f->mk - y / root;
    return (f->m * x + f->mk) * x + f->g - root;
}

// Newton from x, where h and h' have the signs given; false where h' changes sign before h does, or where the
// iterate leaves the part from low to high over which it could not have passed a root.
static bool newton(const Curve* f, double low, double high, double x, double sign, double slope_sign,
                   double* root) {
    for (int i = 0; i < 100; i++) {
        double slope;
        double h = curve_at(f, x, &slope);
        *root = x;
        if (sign * h <= 0.0) return true;
        if (slope_sign * slope <= 0.0) return false;
        double step = h / slope;
        x -= step;
        if (!(x >= low && x <= high)) return false;
        if (fabs(step) <= 0x1p-53 * x) break;
    }
    *root = x;
    return true;
}

static double cube_root(double x) {
    if (!(x > 0.0)) return 0.0;
    int power;
    double y = frexp(x, &power);
    // 2^power = 8^third * 2^(0, 1 or 2)
    int third = power >= 0 ? power / 3 : -((2 - power) / 3);
    y = ldexp(y, power - 3 * third);
    double r = 0.6 + 0.4 * y;
    for (int i = 0; i < 6; i++) {
        r = (2.0 * r + y / (r * r)) / 3.0;
    }
    return ldexp(r, third);
}

// A point no root lies beyond, from sqrt((x + a)^2 + c^2) <= x + size; negative: there is no root.
static double right_end(const Curve* f, double size) {
    double b = f->mk - 1.0;
    double c = f->g - size;
    if (c >= 0.0 && b >= 0.0) return -1.0;
    double disc = b * b - 4.0 * f->m * c;
    if (disc < 0.0) return -1.0;
    return b > 0.0 ? -2.0 * c / (b + sqrt(disc)) : (sqrt(disc) - b) / (2.0 * f->m);
}

// Roots where h is convex, from bend on, the larger first; m > 0.
static int convex_roots(const Curve* f, double bend, double size, double x[2]) {
    double slope;
    double end = right_end(f, size);
    if (end < bend || !newton(f, bend, end, end, 1.0, 1.0, &x[0])) return 0;
    double h = curve_at(f, bend, &slope);
    if (h < 0.0) return 1;
    if (slope >= 0.0) return 0;
    return newton(f, bend, x[0], bend, 1.0, -1.0, &x[1]) ? 2 : 1;
}

// Roots where h is concave, from 0 to bend, the larger first; where bend is infinite h rises for ever.
static int concave_roots(const Curve* f, double bend, double x[2]) {
    double slope;
    double h_bend = isinf(bend) ? 1.0 : curve_at(f, bend, &slope);
    double h_zero = curve_at(f, 0.0, &slope);
    if (h_zero >= 0.0) return h_bend < 0.0 && newton(f, 0.0, bend, bend, -1.0, -1.0, &x[0]) ? 1 : 0;
    double first;
    if (!newton(f, 0.0, bend, 0.0, -1.0, 1.0, &first)) return 0;
    int count = h_bend < 0.0 && newton(f, first, bend, bend, -1.0, -1.0, &x[0]) ? 1 : 0;
    x[count++] = first;
    return count;
}

// All roots x > 0 of h, largest first; a root at infinity (no normal impulse) comes as INFINITY.
static int curve_roots(const Curve* f, double k, double size, double x[4]) {
    if (!(f->m > 1e-100)) {
        // concave throughout; sqrt((x + a)^2 + c^2) >= x + a bounds the roots
        int count = 0;
        if (k < 1.0) x[count++] = INFINITY;
        double end = k < 1.0 ? (f->g - f->a) / (1.0 - k) : (double)INFINITY;
        if (end > 0.0) count += concave_roots(f, end, x + count);
        return count;
    }
    // h'' = 2 m - c^2/sqrt(...)^3 changes sign here
    double radius = cube_root(f->c * f->c / (2.0 * f->m));
    double bend = radius > fabs(f->c) ? sqrt((radius - f->c) * (radius + f->c)) - f->a : 0.0;
    bend = fmax(bend, 0.0);
    int count = convex_roots(f, bend, size, x);
    if (bend > 0.0) count += concave_roots(f, bend, x + count);
    return count;
}

// S and q in units of tr S and |q|.
typedef struct Unit {
    double q, trace;  // |q| and tr S
    double y, z;      // direction of q
    double Ay, Az;    // adj(S) q
    double size;      // |A|
    double d;         // det S
} Unit;

// S has rank one and q is in its range but for rounding: q along the axis of S that is not blocked
static void project(const cr__Stage* s, Unit* u) {
    double y = s->Syy >= s->Szz ? s->Syy : s->Syz;
    double z = s->Syy >= s->Szz ? s->Syz : s->Szz;
    double length = sqrt(y * y + z * z);
    double along = (s->qy * y + s->qz * z) / length;
    double sign = along < 0.0 ? -1.0 : 1.0;
    *u = (Unit){.q = fabs(along), .trace = u->trace, .y = sign * y / length, .z = sign * z / length};
}

static Unit unit_of(const cr__Stage* s) {
    Unit u = {.q = sqrt(s->qy * s->qy + s->qz * s->qz), .trace = s->Syy + s->Szz};
    if (!(u.q > 0.0)) return u;
    u.y = s->qy / u.q;
    u.z = s->qz / u.q;
    if (!(u.trace > s->Stol)) {
        u.trace = 0.0;
        if (u.q <= s->qtol) u.q = 0.0;
        return u;
    }
    double Syy = s->Syy / u.trace;
    double Syz = s->Syz / u.trace;
    double Szz = s->Szz / u.trace;
    u.Ay = Szz * u.y - Syz * u.z;
    u.Az = Syy * u.z - Syz * u.y;
    u.size = sqrt(u.Ay * u.Ay + u.Az * u.Az);
    u.d = Syy * Szz - Syz * Syz;
    if (!(u.d * u.trace > s->Stol)) {
        u.d = 0.0;
        if (u.size * u.q <= s->qtol) project(s, &u);
    }
    return u;
}

static cr__Solution sticking(const cr__Stage* s, double y, double z) {
    cr__Solution r = {.sticks = true};
    r.P = cr_vec3(s->c0 - s->omega_y * y - s->omega_z * z, y, z);
    return r;
}

// S has rank one and blocks the direction e across q: the impulses that stick are r0 + rho e, r0 along q.
// The one of least |rho| in the cone, where it is the only solution in the cone to rounding; false where the line
// misses it.
static bool sticking_line(const cr__Stage* s, const Unit* u, bool only, cr__Solution* out) {
    double ey = -u->z, ez = u->y;
    double r0 = -u->q / u->trace;
    // Pn = a - b rho
    double a = s->c0 - (s->omega_y * u->y + s->omega_z * u->z) * r0;
    double b = s->omega_y * ey + s->omega_z * ez;
    double rho = 0.0;
    double least = only ? (1.0 - LIMIT_TOL) * fabs(r0) : fabs(r0);
    if (!(s->mu * a >= least)) {
        // mu (a - b rho) = sqrt(r0^2 + rho^2): larger Pn is on the side where -b rho > 0
        double f = s->mu * b;
        double g = s->mu * a;
        double A = (f - 1.0) * (f + 1.0);
        double C = (g - fabs(r0)) * (g + fabs(r0));
        double disc = f * g * (f * g) - A * C;
        double size = fabs(f) * g + copysign(sqrt(fmax(disc, 0.0)), g);
        // of the two roots of A x^2 + 2 |f| g x + C = 0, x = |rho|, the smaller with x >= 0 and Pn >= 0
        double first = size != 0.0 ? -C / size : 0.0;
        double second = A != 0.0 ? -size / A : -1.0;
        double x = (double)INFINITY;
        if (first >= 0.0 && g + fabs(f) * first >= 0.0) x = first;
        if (second >= 0.0 && g + fabs(f) * second >= 0.0) x = fmin(x, second);
        if (!(disc >= 0.0) || !isfinite(x)) return false;
        rho = b > 0.0 ? -x : x;
    }
    *out = sticking(s, r0 * u->y + rho * ey, r0 * u->z + rho * ez);
    return true;
}

// The solution of a root; x = INFINITY: slip along q, with an impulse too small to change it.
static cr__Solution slipping(const cr__Stage* s, const Unit* u, double k, double x) {
    cr__Solution r = {0};
    if (x > FAR) {
        double Pn = s->c0 / (1.0 - k);
        r.P = cr_vec3(Pn, 0.0 - s->mu * Pn * u->y, 0.0 - s->mu * Pn * u->z);
        r.uy = s->qy + s->Syy * r.P.y + s->Syz * r.P.z;
        r.uz = s->qz + s->Syz * r.P.y + s->Szz * r.P.z;
        return r;
    }
    double scale = -u->q / (u->trace * ((x + 1.0) * x + u->d));
    double y = scale * (u->Ay + x * u->y);
    double z = scale * (u->Az + x * u->z);
    r.P = cr_vec3(sqrt(y * y + z * z) / s->mu, y, z);
    r.uy = -x * u->trace * y;
    r.uz = -x * u->trace * z;
    return r;
}

int cr__coulomb_circle(const cr__Stage* s, cr__Solution out[CR__MAX_SOLUTIONS]) {
    Unit u = unit_of(s);
    if (!(u.q > 0.0)) {
        // at rest already; of the impulses that keep it so where S is singular, the one without friction
        out[0] = sticking(s, 0.0, 0.0);
        return 1;
    }
    double k = s->mu * (s->omega_y * u.y + s->omega_z * u.z);
    if (!(s->mu > 0.0) || !(u.trace > 0.0)) {
        if (!(k < 1.0)) return 0;
        out[0] = slipping(s, &u, k, (double)INFINITY);
        return 1;
    }
    double m = s->mu * s->c0 * u.trace / u.q;
    if (!(u.size > 0.0)) {
        // S has rank one and q is in its range: slip as in the plane
        double rest = m + k - 1.0;
        int count = 0;
        if (rest < 0.0) out[count++] = slipping(s, &u, k, m > 0.0 ? -rest / m : (double)INFINITY);
        return count + (sticking_line(s, &u, count == 0, &out[count]) ? 1 : 0);
    }
    Curve f = {m, m + k, m * u.d + s->mu * (s->omega_y * u.Ay + s->omega_z * u.Az), u.Ay * u.y + u.Az * u.z,
               u.Ay * u.z - u.Az * u.y};
    double x[4];
    int count = curve_roots(&f, k, u.size, x);
    for (int i = 0; i < count; i++) {
        out[i] = slipping(s, &u, k, x[i]);
    }
    // at the limit of sticking rounding may leave neither: S is regular, so there is a solution, and this is it
    bool at_limit = count == 0 && f.g >= (1.0 - LIMIT_TOL) * u.size;
    if (u.d > 0.0 && (f.g >= u.size || at_limit)) {
        double scale = -u.q / (u.trace * u.d);
        out[count++] = sticking(s, scale * u.Ay, scale * u.Az);
    }
    return count;
}
