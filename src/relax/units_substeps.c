// units_substeps.c - rows of trees, limits, motors and loops in the short steps of packed_substeps.c.
//
// A unit's rows stand as H over the places of z that they reach, so that u = e + H z and an impulse p moves z by H^T p:
// the same press, full sweep and position press as those of packed contacts. A contact is solved exactly with the
// others held (packed_visit.h says how), every other row by itself. Limits take out overlap as contacts do; loops take
// out a share of their error in either direction. Units of one island go one after another, islands side by side.
// Sums run in one order, with and without vector types.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "relax/lanes.h"
#include "relax/packed_substeps.h"
#include "relax/units.h"

#define NEWTON_STEPS 2     // for the direction of slip
#define ISLANDS      4     // that one thread takes at a time
#define SOFT         0.05  // share of an overlap that one press of velocities takes out
#define BLOCKED      1e-6  // of w: least that a tangent counts for where D is nearly singular

typedef enum Kind { CONE, AT_LEAST, WITHIN, EQUAL } Kind;

// numbers of one unit; p, sum and Q are impulses of a short step, of all of them and of the position presses
typedef struct Short {
    Kind kind;
    int rows, width, padded;  // width is padded to whole lanes
    int row;                  // in the problem
    const int* col;           // (width)
    double* H;                // (rows*padded)
    double w, c1, c2;         // D = w (1, c) (1, c)^T + S on the tangents
    double s11, s12, s22;
    double mu, lo, hi;
    double gap0, gap, target, bounce;
    double e[3], p[3], sum[3], Q;
} Short;

struct crShortRows {
    int islands;
    int* first;  // units of each island (islands + 1)
    Short* unit;
};

#if CR_WIDTH > 1
CR_LANE double dot(const double* H, const double* x, int padded) {
    crLane sum = lane_load(H) * lane_load(x);
    for (int k = CR_LANES; k < padded; k += CR_LANES) {
        sum = sum + lane_load(H + k) * lane_load(x + k);
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

CR_LANE void add(double s, const double* H, int padded, double* x) {
    for (int k = 0; k < padded; k += CR_LANES) {
        lane_store(x + k, lane_load(x + k) + lane_all(s) * lane_load(H + k));
    }
}
#else
CR_LANE double dot(const double* H, const double* x, int padded) {
    double sum[CR_LANES] = {H[0] * x[0], H[1] * x[1], H[2] * x[2], H[3] * x[3]};
    for (int k = CR_LANES; k < padded; k++) {
        sum[k % CR_LANES] += H[k] * x[k];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

CR_LANE void add(double s, const double* H, int padded, double* x) {
    for (int k = 0; k < padded; k++) {
        x[k] += s * H[k];
    }
}
#endif

CR_LANE void gather(const Short* unit, const double* z, double* x) {
    for (int k = 0; k < unit->width; k++) {
        x[k] = z[unit->col[k]];
    }
    for (int k = unit->width; k < unit->padded; k++) {
        x[k] = 0.0;
    }
}

CR_LANE void scatter(const Short* unit, const double* x, double* z) {
    for (int k = 0; k < unit->width; k++) {
        z[unit->col[k]] = x[k];
    }
}

CR_LANE double clamped(const Short* unit, double p) {
    if (unit->kind == EQUAL) return p;
    if (unit->kind == WITHIN) return p < unit->lo ? unit->lo : p > unit->hi ? unit->hi : p;
    return p > 0.0 ? p : 0.0;
}

// the bias of a press: the whole of an open gap, a share of an overlap or of a loop's error
CR_LANE double press_bias(const Short* unit, double rate) {
    if (unit->kind == WITHIN) return 0.0;
    return unit->kind == EQUAL || unit->gap < 0.0 ? SOFT * rate * unit->gap : rate * unit->gap;
}

CR_LANE void press_unit(const crSubsteps* run, Short* unit) {
    _Alignas(32) double x[CR_SHORT_WIDTH];
    double* z = run->packed->z;
    gather(unit, z, x);
    double u = unit->e[0] + press_bias(unit, run->rate) + dot(unit->H, x, unit->padded);
    double next = clamped(unit, unit->p[0] - u / unit->w), d = next - unit->p[0];
    if (d == 0.0) return;
    unit->p[0] = next;
    add(d, unit->H, unit->padded, x);
    scatter(unit, x, z);
}

// the same on displacements
CR_LANE void place_unit(const crSubsteps* run, Short* unit) {
    _Alignas(32) double x[CR_SHORT_WIDTH];
    if (unit->kind == WITHIN) return;
    gather(unit, run->D, x);
    double gap = unit->target + dot(unit->H, x, unit->padded);
    double next = clamped(unit, unit->Q - gap / unit->w), d = next - unit->Q;
    if (d == 0.0) return;
    unit->Q = next;
    add(d, unit->H, unit->padded, x);
    scatter(unit, x, run->D);
}

// y at lambda, and mu x_n; see packed_visit.h
typedef struct Slip {
    double y1, y2, size, limit;
} Slip;

CR_LANE Slip slip_at(const Short* c, double free, double r1, double r2, double lambda) {
    double a11 = c->s11 + lambda, a22 = c->s22 + lambda, one = 1.0 / (a11 * a22 - c->s12 * c->s12);
    Slip s = {one * (a22 * r1 - c->s12 * r2), one * (a11 * r2 - c->s12 * r1), 0.0, 0.0};
    s.size = sqrt(s.y1 * s.y1 + s.y2 * s.y2);
    s.limit = c->mu * (free - c->c1 * s.y1 - c->c2 * s.y2);
    return s;
}

// Newton's steps for limit / size = 1, inside a bracket
CR_LANE Slip slip(const Short* c, double free, double r1, double r2) {
    double lo = 0.0, hi = (double)INFINITY, at = 0.0, reach = c->s11 + c->s22;
    Slip s = slip_at(c, free, r1, r2, at);
    for (int i = 0; i < NEWTON_STEPS; i++) {
        if (s.size > s.limit) {
            lo = at;
        } else {
            hi = at;
        }
        double a11 = c->s11 + at, a22 = c->s22 + at, one = 1.0 / (a11 * a22 - c->s12 * c->s12);
        double d1 = one * (a22 * s.y1 - c->s12 * s.y2), d2 = one * (a11 * s.y2 - c->s12 * s.y1);
        double radial = (s.y1 * d1 + s.y2 * d2) / s.size, rise = c->mu * (c->c1 * d1 + c->c2 * d2);
        double next = at - (s.limit - s.size) * s.size / (rise * s.size + s.limit * radial);
        if (!(next > lo && next < hi)) next = hi < 1e300 ? 0.5 * (lo + hi) : 4.0 * lo + reach;
        at = next;
        s = slip_at(c, free, r1, r2, at);
    }
    return s;
}

// impulse of a contact with the others held; u is its velocity under p
CR_LANE void solve_contact(const Short* c, const double* u, const double* p, double* next) {
    double fall = u[0] / c->w, free = p[0] + c->c1 * p[1] + c->c2 * p[2] - fall;
    next[0] = next[1] = next[2] = 0.0;
    if (free <= 0.0) return;
    double r1 = c->c1 * u[0] - u[1], r2 = c->c2 * u[0] - u[2];
    double one = 1.0 / (c->s11 * c->s22 - c->s12 * c->s12);
    double d1 = one * (c->s22 * r1 - c->s12 * r2), d2 = one * (c->s11 * r2 - c->s12 * r1);
    double x = p[0] - (fall + c->c1 * d1 + c->c2 * d2), y1 = p[1] + d1, y2 = p[2] + d2, limit = c->mu * x;
    if (x > 0.0 && y1 * y1 + y2 * y2 <= limit * limit) {
        next[0] = x;
        next[1] = y1;
        next[2] = y2;
        return;
    }
    Slip s = slip(c, free, c->s11 * p[1] + c->s12 * p[2] + r1, c->s12 * p[1] + c->s22 * p[2] + r2);
    double scale = s.size > 0.0 ? c->mu / s.size : 0.0;
    double t1 = scale * s.y1, t2 = scale * s.y2, gain = 1.0 + c->c1 * t1 + c->c2 * t2;
    next[0] = gain > 0.0 ? free / gain : s.size / c->mu;
    next[1] = next[0] * t1;
    next[2] = next[0] * t2;
}

// gap where the displacements have taken it, and the bias it asks for
CR_LANE double full_bias(const crSubsteps* run, Short* unit) {
    _Alignas(32) double way[CR_SHORT_WIDTH];
    if (unit->kind == WITHIN) return 0.0;
    if (run->visit == VISIT_SHORT) {
        gather(unit, run->D, way);
        unit->gap = unit->gap0 + dot(unit->H, way, unit->padded) + run->time * unit->e[0];
    }
    if (unit->kind == EQUAL) return 0.0;
    // what did not press does not bounce
    if (run->visit != VISIT_SHORT && unit->sum[0] > 0.0) return unit->bounce;
    return unit->gap > 0.0 ? run->rate * unit->gap : 0.0;
}

CR_LANE void full_unit(const crSubsteps* run, Short* unit) {
    _Alignas(32) double x[CR_SHORT_WIDTH];
    double *z = run->packed->z, u[3] = {0.0, 0.0, 0.0}, next[3] = {0.0, 0.0, 0.0};
    int padded = unit->padded;
    // a bounce asks nothing of motors
    if (run->visit != VISIT_SHORT && unit->kind == WITHIN) return;
    double bias = full_bias(run, unit);
    gather(unit, z, x);
    for (int r = 0; r < unit->rows; r++) {
        u[r] = unit->e[r] + dot(unit->H + r * padded, x, padded);
    }
    u[0] += bias;
    if (unit->kind == CONE) {
        solve_contact(unit, u, unit->p, next);
    } else {
        next[0] = clamped(unit, unit->p[0] - u[0] / unit->w);
    }
    bool moves = false;
    for (int r = 0; r < unit->rows; r++) {
        double d = next[r] - unit->p[r];
        if (d != 0.0) add(d, unit->H + r * padded, padded, x);
        moves = moves || d != 0.0;
        unit->p[r] = next[r];
        if (run->visit != VISIT_BOUNCE) unit->sum[r] += next[r];
    }
    if (moves) scatter(unit, x, z);
}

CR_LANE void islands_range(const crSubsteps* run, crShortVisit visit, int begin, int end) {
    const struct crShortRows* rows = run->rows;
    for (int i = rows->first[begin]; i < rows->first[end]; i++) {
        Short* unit = &rows->unit[i];
        if (visit == SHORT_PRESS) {
            press_unit(run, unit);
        } else if (visit == SHORT_FULL) {
            full_unit(run, unit);
        } else {
            place_unit(run, unit);
        }
    }
}

CR_TASKS(press_rows, crSubsteps, islands_range(work, SHORT_PRESS, begin, end))
CR_TASKS(full_rows, crSubsteps, islands_range(work, SHORT_FULL, begin, end))
CR_TASKS(place_rows, crSubsteps, islands_range(work, SHORT_PLACE, begin, end))

void cr__short_rows_visit(crSubsteps* run, crShortVisit visit) {
    if (run->rows == NULL) return;
    crTaskFn press = CR_BEST(press_rows), full = CR_BEST(full_rows), place = CR_BEST(place_rows);
    crTaskFn fn = visit == SHORT_PRESS ? press : visit == SHORT_FULL ? full : place;
    cr__tasks_for(run->packed->tasks, run->rows->islands, ISLANDS, fn, run);
}

void cr__short_rows_clear(const crSubsteps* run) {
    for (int i = 0; run->rows != NULL && i < run->rows->first[run->rows->islands]; i++) {
        memset(run->rows->unit[i].p, 0, sizeof run->rows->unit[i].p);
    }
}

void cr__short_rows_sums(const crSubsteps* run, double* p) {
    for (int i = 0; run->rows != NULL && i < run->rows->first[run->rows->islands]; i++) {
        const Short* unit = &run->rows->unit[i];
        memcpy(p + unit->row, unit->sum, (size_t)unit->rows * sizeof *p);
    }
}

static Kind kind_of(const crUnit* unit) {
    if (unit->kind == CR_BLOCK_CONE) return CONE;
    if (unit->kind == CR_BLOCK_BOX) return WITHIN;
    return unit->kind == CR_BLOCK_EQUALITY ? EQUAL : AT_LEAST;
}

// rows of one unit that are solved together
static int together(const crRowUnit* unit) {
    return unit->local.kind == CR_BLOCK_CONE ? unit->local.count : 1;
}

// D of the rows in the form that a contact is solved in
static void set_weights(const crRowUnit* from, int r, Short* to) {
    int n = from->local.count;
    const double* D = from->D;
    to->w = D[r * (n + 1)];
    // what nothing moves stays where it is
    if (!(to->w > 0.0)) to->w = (double)INFINITY;
    if (to->kind != CONE) return;
    to->c1 = D[1] / to->w;
    to->c2 = D[2] / to->w;
    to->s11 = D[n + 1] - to->w * to->c1 * to->c1;
    to->s12 = D[n + 2] - to->w * to->c1 * to->c2;
    to->s22 = D[2 * n + 2] - to->w * to->c2 * to->c2;
    if (from->G != NULL) return;
    to->s11 += BLOCKED * to->w;
    to->s22 += BLOCKED * to->w;
}

static void set_unit(const crUnits* units, const crSubsteps* run, const crRowUnit* from, int r, double* H,
                     Short* to) {
    int row = from->local.row + r;
    *to = (Short){.kind = kind_of(&from->local), .rows = together(from), .width = from->width, .row = row};
    to->padded = (from->width + CR_LANES - 1) / CR_LANES * CR_LANES;
    to->col = from->col;
    to->H = H;
    memset(H, 0, (size_t)(to->rows * to->padded) * sizeof *H);
    for (int k = 0; k < to->rows; k++) {
        memcpy(H + k * to->padded, from->H + (r + k) * from->width, (size_t)from->width * sizeof *H);
        to->e[k] = units->e[row + k];
        to->p[k] = units->p[row + k];
    }
    set_weights(from, r, to);
    to->mu = to->kind == CONE ? units->E[row + 1] : 0.0;
    to->lo = from->local.lo / CR_SUBSTEPS;
    to->hi = from->local.hi / CR_SUBSTEPS;
    to->gap0 = to->gap = run->row_gap[row];
    to->target = run->row_gap[row] - run->row_target[row] + to->e[0] * run->h;
    to->bounce = run->row_bounce[row];
}

crStatus cr__short_rows_create(crSubsteps* run, crArena* arena) {
    const crUnits* units = run->packed->units;
    run->rows = NULL;
    if (units == NULL || units->count == 0) return CR_OK;
    int count = 0;
    size_t numbers = 0;
    for (int i = 0; i < units->count; i++) {
        const crRowUnit* unit = &units->unit[i];
        count += unit->local.count / together(unit);
        numbers += (size_t)(unit->local.count * (unit->width + CR_LANES));
    }
    struct crShortRows* rows = cr_arena_alloc(arena, sizeof *rows);
    if (rows == NULL) return CR_ERR_MEMORY;
    *rows = (struct crShortRows){.islands = units->islands};
    rows->first = cr_arena_alloc(arena, (size_t)(units->islands + 1) * sizeof *rows->first);
    rows->unit = cr_arena_alloc(arena, (size_t)(count + 1) * sizeof *rows->unit);
    double* H = cr_arena_alloc(arena, (numbers + 1) * sizeof *H);
    if (rows->first == NULL || rows->unit == NULL || H == NULL) return CR_ERR_MEMORY;
    int at = 0;
    for (int i = 0; i < units->islands; i++) {
        rows->first[i] = at;
        for (int k = units->first[i]; k < units->first[i + 1]; k++) {
            const crRowUnit* unit = &units->unit[k];
            for (int r = 0; r < unit->local.count; r += together(unit)) {
                set_unit(units, run, unit, r, H, &rows->unit[at]);
                H += rows->unit[at].rows * rows->unit[at].padded;
                at++;
            }
        }
    }
    rows->first[units->islands] = at;
    run->rows = rows;
    return CR_OK;
}
