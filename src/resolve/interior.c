// interior.c - Coulomb friction as the end of a smooth path, followed by Newton steps.
//
// Each inequality g >= 0 with multiplier l obeys g l = tau, each friction part s = (x_n, x_part) in the
// Lorentz cone with its dual z obeys s o z = tau e; tau goes to zero. The multipliers act on the velocity
// rows that are theirs:
//
//     w_n = l_n,   w_part = z_part (z_0 is left free),   polygon: w_t = -sum l_k m_k,   box: w = l_lo - l_hi
//
// which is friction of greatest dissipation at a given pressure, not the associated law: no |u_t| has to be
// added to the normal row, and the system stays smooth. Elimination of the multipliers leaves (W + C) dx =
// ..., with Nesterov and Todd's scaling for the cones. Steps are predictor and corrector as in Mehrotra 1992.
// Fails: steps shrink to nothing where there is no solution or W is hopelessly scaled; x is the best point
// seen.
#include "interior.h"
#include "newton.h"

#include <string.h>

#define FREE_RADIUS  1e4  // stands for an infinite friction coefficient
#define FINISH_STEPS 8
#define BALANCE      0.3  // least complementarity over its start, per imbalance over its start

// g = a.x + g0 >= 0 with multiplier l, which acts on the rows of `own`
typedef struct crWall {
    int unit;
    double a[3], own[3];
    double g0;
    double l, dl;
} crWall;

// s = (radius x_n, x_part) in the Lorentz cone, dual z
typedef struct crCone {
    int unit;
    int at, count;  // rows of the part within the unit
    double radius;
    double z[3], dz[3];
    double H[3][3];  // z = H s
} crCone;

typedef struct crPath {
    const crSystem* system;
    crWall* wall;
    int walls;
    crCone* cone;
    int cones;
    double* w;             // (n)
    double* F;             // (n)
    double* dx;            // (n)
    double* best;          // (n)
    double* trial;         // (n)
    double last_length;    // of the step before
    double start;          // complementarity at the start
    double start_balance;  // imbalance at the start, negative before
    crDirect direct;
    crArena* arena;
} crPath;

static int unit_walls(const crUnit* unit) {
    if (unit->kind == CR_BLOCK_EQUALITY) return 0;
    if (unit->kind == CR_BLOCK_BOX) return (isfinite(unit->lo) ? 1 : 0) + (isfinite(unit->hi) ? 1 : 0);
    return 1 + unit->vertex_count;
}

static crStatus path_create(crPath* z, const crSystem* system, crArena* arena) {
    *z = (crPath){.system = system, .start_balance = -1.0, .last_length = 1.0, .arena = arena};
    size_t walls = 0;
    size_t cones = 0;
    for (int i = 0; i < system->units; i++) {
        walls += (size_t)unit_walls(&system->unit[i]);
        cones += (size_t)system->unit[i].part_count;
    }
    size_t n = (size_t)system->n * sizeof(double);
    z->wall = cr_arena_alloc(arena, walls * sizeof *z->wall);
    z->cone = cr_arena_alloc(arena, cones * sizeof *z->cone);
    z->w = cr_arena_alloc(arena, n);
    z->F = cr_arena_alloc(arena, n);
    z->dx = cr_arena_alloc(arena, n);
    z->best = cr_arena_alloc(arena, n);
    z->trial = cr_arena_alloc(arena, n);
    bool got = z->wall != NULL && z->cone != NULL && z->w != NULL && z->F != NULL && z->dx != NULL &&
               z->best != NULL && z->trial != NULL;
    return got ? cr__direct_create(&z->direct, system, arena) : CR_ERR_MEMORY;
}

static void add_wall(crPath* z, int unit, double a0, double a1, double a2, double g0, double l) {
    // the pressure carries friction's limits, it does not feel them
    bool friction = a1 != 0.0 || a2 != 0.0;
    z->wall[z->walls++] = (crWall){unit, {a0, a1, a2}, {friction ? 0.0 : a0, a1, a2}, g0, l, 0.0};
}

static void add_polygon(crPath* z, int i, double l) {
    const crUnit* unit = &z->system->unit[i];
    for (int k = 0; k < unit->vertex_count; k++) {
        const double* a = unit->vertices[k];
        const double* b = unit->vertices[(k + 1) % unit->vertex_count];
        double m[2] = {b[1] - a[1], a[0] - b[0]};
        double length = sqrt(m[0] * m[0] + m[1] * m[1]);
        if (!(length > 0.0)) continue;
        add_wall(z, i, (m[0] * a[0] + m[1] * a[1]) / length, -m[0] / length, -m[1] / length, 0.0, l);
    }
}

// walls and cones of all units, and x inside them: pressures and multipliers of the size that speed and
// stiffness suggest
static void begin_interior(crPath* z, double speed, double scale, double* x) {
    for (int i = 0; i < z->system->units; i++) {
        const crUnit* unit = &z->system->unit[i];
        double* xi = x + unit->row;
        double size = fmax(fabs(xi[0]), scale * speed * unit->rho);
        if (unit->kind == CR_BLOCK_BOX) {
            double lo = unit->lo, hi = unit->hi;
            double room = isfinite(lo) && isfinite(hi) ? 0.5 * (hi - lo) : size;
            room = fmin(room, size);
            if (isfinite(lo)) xi[0] = fmax(xi[0], lo + room);
            if (isfinite(hi)) xi[0] = fmin(xi[0], hi - room);
            if (isfinite(lo)) add_wall(z, i, 1.0, 0.0, 0.0, -lo, speed);
            if (isfinite(hi)) add_wall(z, i, -1.0, 0.0, 0.0, hi, speed);
        } else if (unit->kind != CR_BLOCK_EQUALITY) {
            xi[0] = size;
            add_wall(z, i, 1.0, 0.0, 0.0, 0.0, speed);
        }
        for (int k = 0; k < unit->part_count; k++) {
            const crUnitPart* part = &unit->part[k];
            for (int a = 0; a < part->count; a++) {
                xi[part->at + a] = 0.0;
            }
            if (part->polygon) {
                add_polygon(z, i, speed);
                continue;
            }
            crCone* cone = &z->cone[z->cones++];
            *cone = (crCone){.unit = i, .at = part->at, .count = part->count, .z = {speed, 0.0, 0.0}};
            cone->radius = part->free ? FREE_RADIUS : 1.0;
        }
    }
}

static double wall_gap(const crPath* z, const crWall* wall, const double* x) {
    const crUnit* unit = &z->system->unit[wall->unit];
    double g = wall->g0 + wall->a[0] * x[unit->row];
    if (unit->count >= 3) g += wall->a[1] * x[unit->row + 1] + wall->a[2] * x[unit->row + 2];
    return g;
}

static void cone_point(const crPath* z, const crCone* cone, const double* x, double s[3]) {
    const double* xi = x + z->system->unit[cone->unit].row;
    s[0] = cone->radius * xi[0];
    s[1] = xi[cone->at];
    s[2] = cone->count == 2 ? xi[cone->at + 1] : 0.0;
}

// s0^2 - |s1|^2 without cancellation
static double determinant(const double s[3]) {
    double t = sqrt(s[1] * s[1] + s[2] * s[2]);
    return (s[0] - t) * (s[0] + t);
}

// Nesterov and Todd: H with H s = z
static void scale_cone(const double s[3], const double z[3], double H[3][3]) {
    double gs = sqrt(determinant(s)), gz = sqrt(determinant(z));
    double dot = (s[0] * z[0] + s[1] * z[1] + s[2] * z[2]) / (gs * gz);
    double gamma = sqrt(0.5 * (1.0 + dot));
    // J times the unit vector half way between s and J z
    double v[3] = {0.5 * (s[0] / gs + z[0] / gz) / gamma, -0.5 * (s[1] / gs - z[1] / gz) / gamma,
                   -0.5 * (s[2] / gs - z[2] / gz) / gamma};
    double factor = gz / gs;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double J = i != j ? 0.0 : i == 0 ? 1.0 : -1.0;
            H[i][j] = factor * (2.0 * v[i] * v[j] - J);
        }
    }
}

// mean of g l and s.z
static double complementarity(const crPath* z, const double* x) {
    double sum = 0.0;
    for (int i = 0; i < z->walls; i++) {
        sum += wall_gap(z, &z->wall[i], x) * z->wall[i].l;
    }
    for (int i = 0; i < z->cones; i++) {
        double s[3];
        const double* dual = z->cone[i].z;
        cone_point(z, &z->cone[i], x, s);
        sum += s[0] * dual[0] + s[1] * dual[1] + s[2] * dual[2];
    }
    int count = z->walls + z->cones;
    return count > 0 ? sum / count : 0.0;
}

// C and B = I
static void fill_matrix(crPath* z, const double* x) {
    crDirect* d = &z->direct;
    for (int i = 0; i < z->system->units; i++) {
        int c = z->system->unit[i].count;
        for (int k = 0; k < c * c; k++) {
            d->A[d->at[i] + (size_t)k] = 0.0;
            d->B[d->at[i] + (size_t)k] = k % (c + 1) == 0 ? 1.0 : 0.0;
        }
    }
    for (int i = 0; i < z->walls; i++) {
        const crWall* wall = &z->wall[i];
        int c = z->system->unit[wall->unit].count;
        int most = c < 3 ? 1 : 3;
        double weight = wall->l / wall_gap(z, wall, x);
        double* A = d->A + d->at[wall->unit];
        for (int r = 0; r < most; r++) {
            for (int k = 0; k < most; k++) {
                A[r * c + k] += wall->own[r] * weight * wall->a[k];
            }
        }
    }
    for (int i = 0; i < z->cones; i++) {
        crCone* cone = &z->cone[i];
        int c = z->system->unit[cone->unit].count;
        double s[3];
        cone_point(z, cone, x, s);
        scale_cone(s, cone->z, cone->H);
        double* A = d->A + d->at[cone->unit];
        for (int r = 0; r < cone->count; r++) {
            double* row = A + (cone->at + r) * c;
            row[0] += cone->H[1 + r][0] * cone->radius;
            for (int k = 0; k < cone->count; k++) {
                row[cone->at + k] += cone->H[1 + r][1 + k];
            }
        }
    }
}

// F = w - what the multipliers would be at tau
static void fill_right_side(crPath* z, const double* x, double tau) {
    memcpy(z->F, z->w, (size_t)z->system->n * sizeof *z->F);
    if (tau == 0.0) return;
    for (int i = 0; i < z->walls; i++) {
        const crWall* wall = &z->wall[i];
        const crUnit* unit = &z->system->unit[wall->unit];
        double l = tau / wall_gap(z, wall, x);
        for (int r = 0; r < (unit->count < 3 ? 1 : 3); r++) {
            z->F[unit->row + r] -= wall->own[r] * l;
        }
    }
    for (int i = 0; i < z->cones; i++) {
        const crCone* cone = &z->cone[i];
        double s[3];
        cone_point(z, cone, x, s);
        double factor = tau / determinant(s);
        for (int r = 0; r < cone->count; r++) {
            z->F[z->system->unit[cone->unit].row + cone->at + r] += factor * s[1 + r];
        }
    }
}

// changes of the multipliers that belong to dx
static void fill_multipliers(crPath* z, const double* x, double tau) {
    for (int i = 0; i < z->walls; i++) {
        crWall* wall = &z->wall[i];
        double g = wall_gap(z, wall, x);
        double dg = wall_gap(z, wall, z->dx) - wall->g0;
        wall->dl = (tau - wall->l * dg) / g - wall->l;
    }
    for (int i = 0; i < z->cones; i++) {
        crCone* cone = &z->cone[i];
        double s[3], ds[3];
        cone_point(z, cone, x, s);
        cone_point(z, cone, z->dx, ds);
        double factor = tau / determinant(s);
        for (int r = 0; r < 3; r++) {
            double inverse = factor * (r == 0 ? s[0] : -s[r]);
            cone->dz[r] = inverse - cone->z[r];
            for (int k = 0; k < 3; k++) {
                cone->dz[r] -= cone->H[r][k] * ds[k];
            }
        }
        if (cone->count == 1) cone->dz[2] = 0.0;
    }
}

// largest t <= 1 with s + t d in the Lorentz cone
static double cone_step(const double s[3], const double d[3]) {
    double a = determinant(d);
    double b = s[0] * d[0] - s[1] * d[1] - s[2] * d[2];
    double c = determinant(s);
    double t = 1.0;
    if (d[0] < 0.0) t = fmin(t, -s[0] / d[0]);
    // roots of a t^2 + 2 b t + c, c > 0: the smallest positive one
    double disc = b * b - a * c;
    if (disc < 0.0) return t;
    double root = sqrt(disc);
    double r1 = b >= 0.0 ? -(b + root) : root - b;  // = a t for one root, c over it for the other
    if (r1 != 0.0 && c / r1 > 0.0) t = fmin(t, c / r1);
    if (a != 0.0 && r1 / a > 0.0) t = fmin(t, r1 / a);
    return t;
}

static double longest_step(const crPath* z, const double* x) {
    double t = 1.0;
    for (int i = 0; i < z->walls; i++) {
        const crWall* wall = &z->wall[i];
        double g = wall_gap(z, wall, x);
        double dg = wall_gap(z, wall, z->dx) - wall->g0;
        if (dg < 0.0) t = fmin(t, -g / dg);
        if (wall->dl < 0.0) t = fmin(t, -wall->l / wall->dl);
    }
    for (int i = 0; i < z->cones; i++) {
        double s[3], ds[3];
        cone_point(z, &z->cone[i], x, s);
        cone_point(z, &z->cone[i], z->dx, ds);
        t = fmin(t, cone_step(s, ds));
        t = fmin(t, cone_step(z->cone[i].z, z->cone[i].dz));
    }
    return t;
}

static void move_interior(crPath* z, double t, double* x) {
    for (int i = 0; i < z->system->n; i++) {
        x[i] += t * z->dx[i];
    }
    for (int i = 0; i < z->walls; i++) {
        z->wall[i].l += t * z->wall[i].dl;
    }
    for (int i = 0; i < z->cones; i++) {
        for (int k = 0; k < 3; k++) {
            z->cone[i].z[k] += t * z->cone[i].dz[k];
        }
    }
}

// complementarity after a predictor step of length t
static double look_ahead(crPath* z, double t, double* x) {
    move_interior(z, t, x);
    double mean = complementarity(z, x);
    move_interior(z, -t, x);
    return mean;
}

static void keep_best(crPath* z, const double* x, double residual, crMethodRun* run) {
    if (!(residual < run->residual)) return;
    run->residual = residual;
    memcpy(z->best, x, (size_t)z->system->n * sizeof *x);
}

// Newton's method from here: it ends the path as soon as the regimes are right
static crStatus finish_interior(crPath* z, double tol, const double* x, crMethodRun* run) {
    crMethodRun end;
    memcpy(z->trial, x, (size_t)z->system->n * sizeof *x);
    crStatus status = cr__newton_run(z->system, tol, FINISH_STEPS, false, -1.0, z->arena, z->trial, &end);
    run->steps += end.steps;
    keep_best(z, z->trial, end.residual, run);
    return status;
}

// |w - multipliers|: how far x is from the path's surface; falls by 1 - t with each step of length t
static double imbalance(crPath* z) {
    memcpy(z->F, z->w, (size_t)z->system->n * sizeof *z->F);
    for (int i = 0; i < z->walls; i++) {
        const crWall* wall = &z->wall[i];
        const crUnit* unit = &z->system->unit[wall->unit];
        for (int r = 0; r < (unit->count < 3 ? 1 : 3); r++) {
            z->F[unit->row + r] -= wall->own[r] * wall->l;
        }
    }
    for (int i = 0; i < z->cones; i++) {
        const crCone* cone = &z->cone[i];
        for (int r = 0; r < cone->count; r++) {
            z->F[z->system->unit[cone->unit].row + cone->at + r] -= cone->z[1 + r];
        }
    }
    double sum = 0.0;
    for (int i = 0; i < z->system->n; i++) {
        sum += z->F[i] * z->F[i];
    }
    return sqrt(sum);
}

// one predictor and corrector step; its length, or a negative number where the system cannot be solved
static crStatus path_step(crPath* z, double* x, double* length) {
    double now = complementarity(z, x);
    bool solved = false;
    *length = -1.0;
    cr__system_velocity(z->system, x, z->w);
    fill_matrix(z, x);
    fill_right_side(z, x, 0.0);
    crStatus status = cr__direct_solve(&z->direct, z->F, z->dx, &solved);
    if (status != CR_OK || !solved || !isfinite(now)) return status;
    fill_multipliers(z, x, 0.0);
    double ahead = look_ahead(z, longest_step(z, x), x);
    double ratio = now > 0.0 ? fmin(1.0, fmax(0.0, ahead / now)) : 0.0;
    double tau = now * fmax(1e-3, ratio * ratio * ratio);
    // pressures must not vanish before the rows are in balance, or the path is lost
    double balance = imbalance(z);
    if (z->start_balance < 0.0) {
        z->start_balance = balance;
        z->start = now;
    }
    if (z->start_balance > 0.0) tau = fmax(tau, BALANCE * z->start * (balance / z->start_balance));
    // after a short step, back towards the middle
    if (z->last_length < 0.2) tau = fmax(tau, now);
    if (z->last_length < 0.02) tau = fmax(tau, 10.0 * now);
    fill_right_side(z, x, tau);
    cr__direct_again(&z->direct, z->F, z->dx);
    fill_multipliers(z, x, tau);
    *length = longest_step(z, x);
    z->last_length = *length;
    move_interior(z, *length < 1.0 ? 0.9 * *length : 1.0, x);
    return CR_OK;
}

static crStatus follow(crPath* z, double tol, int max_steps, double* x, crMethodRun* run) {
    double start = complementarity(z, x);
    double level = start;  // where finishing was last tried
    int idle = 0;
    while (run->steps < max_steps && run->residual > tol && !run->stalled) {
        double length;
        crStatus status = path_step(z, x, &length);
        if (status != CR_OK) return status;
        run->steps++;
        double now = complementarity(z, x);
        idle = length < 1e-3 ? idle + 1 : 0;
        run->stalled = length < 0.0 || idle > 5 || !(now > 1e-25 * start);
        keep_best(z, x, cr__system_residual(z->system, x), run);
        if (!(now < 0.03 * level) && !run->stalled) continue;
        level = now;
        status = finish_interior(z, tol, x, run);
        if (status != CR_OK) return status;
    }
    return CR_OK;
}

crStatus cr__interior_run(const crSystem* system, double tol, int max_steps, double scale, crArena* arena,
                          double* x, crMethodRun* run) {
    size_t mark = cr_arena_mark(arena);
    crPath z;
    *run = (crMethodRun){.residual = cr__system_residual(system, x)};
    crStatus status = path_create(&z, system, arena);
    if (status == CR_OK) {
        double speed = 0.0;
        for (int i = 0; i < system->n; i++) {
            // rows of limits in metres count in m/s
            speed = fmax(speed, fabs(system->E[i] * system->q[i]));
        }
        memcpy(z.best, x, (size_t)system->n * sizeof *x);
        z.direct.shift = 1e-13;
        begin_interior(&z, speed > 0.0 ? speed : 1.0, scale, x);
        status = follow(&z, tol, max_steps, x, run);
        memcpy(x, z.best, (size_t)system->n * sizeof *x);
    }
    cr_arena_release(arena, mark);
    return status;
}
