// units_substeps.c - rows of trees, limits, motors and loops in the short steps of packed_substeps.c.
//
// A unit stores H for the places of z that its rows reach: u = e + H z, and an impulse p changes z by H^T p.
// Its press, full sweep and position press are those of packed contacts. A contact is solved exactly with the
// other units held (packed_visit.h), every other row by itself. Limits remove overlap as contacts do; loops
// remove a share of their error in either direction. Units of one island go one after another, islands in
// parallel. The order of sums is the same with and without vector types. z is in single precision, all else
// in double.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "base/room.h"
#include "relax/packed_substeps.h"
#include "relax/packed_visit.h"
#include "relax/units.h"
#include "relax/wide.h"

#define NEWTON_STEPS 3      // most Newton steps for the direction of slip
#define ISLANDS      4      // islands per task
#define SOFT         0.05   // share of an overlap that one press of velocities removes
#define SLOW         0.002  // largest speed at which a press removes overlap, m/s
#define STILL        2e-3   // change of the gap that ends the position presses, share of the target gap
#define BLOCKED      1e-6   // shift of the tangents of a nearly singular D, share of w

#define PARTS (CR_LANES / CR_WIDTH)  // vectors per CR_LANES numbers

// conditions of a unit: contact, p >= 0, lo <= p <= hi, equality
typedef enum Kind { CONE, AT_LEAST, WITHIN, EQUAL } Kind;

// Numbers of one unit. p, sum and Q are the impulses of a short step, of all short steps and of the position
// presses.
typedef struct Short {
    Kind kind;
    int rows, width, padded;  // padded: width rounded up to whole lanes
    int row;                  // first row in the problem
    int* col;                 // places of z; beyond the width place 0, where z is 0 (padded)
    double* H;                // (rows*padded)
    double w, c1, c2;         // D = w (1, c) (1, c)^T + S on the tangents
    double s11, s12, s22;
    double mu, lo, hi;
    double gap0, gap, target, bounce;
    double still;  // change of the gap in a position press up to which the unit counts as unchanged, m
    double e[3], p[3], sum[3], Q;
} Short;

struct crShortRows {
    int islands;
    int* first;  // units of each island (islands + 1)
    Short* unit;
    bool* placed;  // true for each island whose position presses have ended (islands)
};

// Adds H z of `count` rows from `row` on to u. Lanes gather four places at a time and are summed at the end.
CR_LANE void add_products(const Short* unit, int row, int count, const float* z, double* u) {
    const double* H = unit->H + row * unit->padded;
    crLane sum[2][PARTS];
    _Alignas(32) double all[CR_LANES];
    for (int i = 0; i < 2 * PARTS; i++) {
        sum[i / PARTS][i % PARTS] = lane_all(0.0);
    }
    for (int k = 0; k < unit->padded; k += CR_WIDTH) {
        crLane x = lane_gather_floats(z, unit->col + k);
        for (int r = 0; r < count; r++) {
            crLane* to = &sum[r][k / CR_WIDTH % PARTS];
            *to = *to + lane_load(H + r * unit->padded + k) * x;
        }
    }
    for (int r = 0; r < count; r++) {
        for (int i = 0; i < PARTS; i++) {
            lane_store(all + i * CR_WIDTH, sum[r][i]);
        }
        u[r] += (all[0] + all[1]) + (all[2] + all[3]);
    }
}

CR_LANE double dot(const Short* unit, const float* z) {
    double u = -0.0;  // -0 + x has the bits of x
    add_products(unit, 0, 1, z, &u);
    return u;
}

CR_LANE void dot_tangents(const Short* unit, const float* z, double* u) {
    add_products(unit, 1, 2, z, u + 1);
}

// add and add3 add H^T d of one row and of three rows to z.
CR_LANE void add(const Short* unit, double d, float* z) {
    for (int k = 0; k < unit->width; k++) {
        z[unit->col[k]] = (float)(z[unit->col[k]] + d * unit->H[k]);
    }
}

CR_LANE void add3(const Short* unit, const double* d, float* z) {
    const double *H = unit->H, *H1 = H + unit->padded, *H2 = H1 + unit->padded;
    for (int k = 0; k < unit->width; k++) {
        double more = d[0] * H[k] + d[1] * H1[k] + d[2] * H2[k];
        z[unit->col[k]] = (float)(z[unit->col[k]] + more);
    }
}

CR_LANE double clamped(const Short* unit, double p) {
    if (unit->kind == EQUAL) return p;
    if (unit->kind == WITHIN) return p < unit->lo ? unit->lo : p > unit->hi ? unit->hi : p;
    return p > 0.0 ? p : 0.0;
}

// Returns the bias of a press: an open gap, or a share of an overlap or of a loop's error, per hs. Overlap
// that velocities remove gives energy, which the set must lose elsewhere, so they remove it slowly; the
// position presses remove the rest.
CR_LANE double press_bias(const Short* unit, double rate) {
    if (unit->kind == WITHIN) return 0.0;
    if (unit->kind == EQUAL) return SOFT * rate * unit->gap;
    if (unit->gap > 0.0) return rate * unit->gap;
    return SOFT * rate * unit->gap > -SLOW ? SOFT * rate * unit->gap : -SLOW;
}

CR_LANE void press_unit(const crSubsteps* run, Short* unit) {
    float* z = run->z;
    double u = unit->e[0] + press_bias(unit, run->rate) + dot(unit, z);
    double next = clamped(unit, unit->p[0] - u / unit->w), d = next - unit->p[0];
    if (d == 0.0) return;
    unit->p[0] = next;
    add(unit, d, z);
}

// Presses on displacements. Returns true if the gap changed by more than `still`.
CR_LANE bool place_unit(const crSubsteps* run, Short* unit) {
    if (unit->kind == WITHIN) return false;
    double gap = unit->target + dot(unit, run->way);
    double next = clamped(unit, unit->Q - gap / unit->w), d = next - unit->Q;
    if (d == 0.0) return false;
    unit->Q = next;
    add(unit, d, run->way);
    return fabs(d) * unit->w > unit->still;
}

// Solves a contact with the other units held; u is its velocity under p. All lanes compute the same contact.
CR_LANE void solve_row_contact(const Short* c, const double* u, const double* p, double* next) {
    Slip s = {.s11 = lane_all(c->s11),
              .s12 = lane_all(c->s12),
              .s22 = lane_all(c->s22),
              .c1 = lane_all(c->c1),
              .c2 = lane_all(c->c2),
              .mu = lane_all(c->mu)};
    crLane3 P =
        solve_slip(s, lane_all(c->w), NEWTON_STEPS, lane3(lane_all(u[0]), lane_all(u[1]), lane_all(u[2])),
                   lane3(lane_all(p[0]), lane_all(p[1]), lane_all(p[2])));
    next[0] = lane_first(P.x);
    next[1] = lane_first(P.y);
    next[2] = lane_first(P.z);
}

// Returns the bias of a full sweep. In a short step it also updates the gap from the displacements.
CR_LANE double full_bias(const crSubsteps* run, Short* unit) {
    if (unit->kind == WITHIN) return 0.0;
    if (run->visit == VISIT_SHORT) unit->gap = unit->gap0 + dot(unit, run->way) + run->time * unit->e[0];
    if (unit->kind == EQUAL) return 0.0;
    // a contact that did not press does not bounce
    if (run->visit != VISIT_SHORT && unit->sum[0] > 0.0) return unit->bounce;
    return unit->gap > 0.0 ? run->rate * unit->gap : 0.0;
}

CR_LANE void full_contact(const crSubsteps* run, Short* unit) {
    float* z = run->z;
    double *p = unit->p, next[3], d[3];
    double u[3] = {unit->e[0], unit->e[1], unit->e[2]};
    u[0] += full_bias(run, unit) + dot(unit, z);
    // a contact that is open and stays open needs no tangents
    if (u[0] >= 0.0 && p[0] == 0.0 && p[1] == 0.0 && p[2] == 0.0) return;
    dot_tangents(unit, z, u);
    solve_row_contact(unit, u, p, next);
    for (int r = 0; r < 3; r++) {
        d[r] = next[r] - p[r];
        p[r] = next[r];
        if (run->visit != VISIT_BOUNCE) unit->sum[r] += next[r];
    }
    add3(unit, d, z);
}

CR_LANE void full_row(const crSubsteps* run, Short* unit) {
    float* z = run->z;
    // motors take no part in the bounce
    if (run->visit != VISIT_SHORT && unit->kind == WITHIN) return;
    double u = unit->e[0] + full_bias(run, unit) + dot(unit, z);
    double next = clamped(unit, unit->p[0] - u / unit->w), d = next - unit->p[0];
    unit->p[0] = next;
    if (run->visit != VISIT_BOUNCE) unit->sum[0] += next;
    if (d != 0.0) add(unit, d, z);
}

CR_LANE void visit_range(const crSubsteps* run, bool full, int begin, int end) {
    const struct crShortRows* rows = run->rows;
    for (int i = rows->first[begin]; i < rows->first[end]; i++) {
        Short* unit = &rows->unit[i];
        if (!full) {
            press_unit(run, unit);
        } else if (unit->kind == CONE) {
            full_contact(run, unit);
        } else {
            full_row(run, unit);
        }
    }
}

// Presses on displacements until an island hardly changes. Islands with packed contacts go on, since these
// may still change them.
CR_LANE void place_range(const crSubsteps* run, int begin, int end) {
    const struct crShortRows* rows = run->rows;
    for (int i = begin; i < end; i++) {
        bool changed = run->packed->units->mixed[i];
        for (int k = rows->first[i]; k < rows->first[i + 1] && !rows->placed[i]; k++) {
            changed = place_unit(run, &rows->unit[k]) || changed;
        }
        rows->placed[i] = !changed;
    }
}

CR_TASKS(press_rows, crSubsteps, visit_range(work, false, begin, end))
CR_TASKS(full_rows, crSubsteps, visit_range(work, true, begin, end))
CR_TASKS(place_rows, crSubsteps, place_range(work, begin, end))

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
        for (int r = 0; r < unit->rows; r++) {
            p[unit->row + r] = run->scale * run->scale * unit->sum[r];
        }
    }
}

void cr__short_rows_apply(const crSubsteps* run, double* z) {
    for (int i = 0; run->rows != NULL && i < run->rows->first[run->rows->islands]; i++) {
        const Short* unit = &run->rows->unit[i];
        for (int r = 0; r < unit->rows; r++) {
            double p = run->scale * unit->sum[r];
            for (int k = 0; k < unit->width; k++) {
                z[unit->col[k]] += p * unit->H[r * unit->padded + k];
            }
        }
    }
}

static Kind short_kind(const crUnit* unit) {
    if (unit->kind == CR_BLOCK_CONE) return CONE;
    if (unit->kind == CR_BLOCK_BOX) return WITHIN;
    return unit->kind == CR_BLOCK_EQUALITY ? EQUAL : AT_LEAST;
}

// Returns the number of rows of a unit that are solved together.
static int together(const crRowUnit* unit) {
    return unit->local.kind == CR_BLOCK_CONE ? unit->local.count : 1;
}

// Sets w, c and S from D of the rows; `unit` is the unit of mass.
static void set_weights(const crRowUnit* from, int r, double unit, Short* to) {
    int n = from->local.count;
    const double* D = from->D;
    to->w = unit * D[r * (n + 1)];
    // a row that no velocity moves gets no impulse
    if (!(to->w > 0.0)) to->w = (double)INFINITY;
    if (to->kind != CONE) return;
    to->c1 = unit * D[1] / to->w;
    to->c2 = unit * D[2] / to->w;
    to->s11 = unit * D[n + 1] - to->w * to->c1 * to->c1;
    to->s12 = unit * D[n + 2] - to->w * to->c1 * to->c2;
    to->s22 = unit * D[2 * n + 2] - to->w * to->c2 * to->c2;
    if (from->G != NULL) return;
    to->s11 += BLOCKED * to->w;
    to->s22 += BLOCKED * to->w;
}

static void set_unit(const crUnits* units, const crSubsteps* run, const crRowUnit* from, int r, int* col,
                     double* H, Short* to) {
    int row = from->local.row + r;
    double unit = run->scale * run->scale;
    *to = (Short){.kind = short_kind(&from->local), .rows = together(from), .width = from->width, .row = row};
    to->padded = (from->width + CR_LANES - 1) / CR_LANES * CR_LANES;
    to->col = col;
    to->H = H;
    memset(col, 0, (size_t)to->padded * sizeof *col);
    memcpy(col, from->col, (size_t)from->width * sizeof *col);
    memset(H, 0, (size_t)(to->rows * to->padded) * sizeof *H);
    for (int k = 0; k < to->rows; k++) {
        for (int j = 0; j < from->width; j++) {
            H[k * to->padded + j] = run->scale * from->H[(r + k) * from->width + j];
        }
        to->e[k] = units->e[row + k];
        to->p[k] = units->p[row + k] / unit;
    }
    set_weights(from, r, unit, to);
    to->mu = to->kind == CONE ? units->E[row + 1] : 0.0;
    to->lo = from->local.lo / (CR_SUBSTEPS * unit);
    to->hi = from->local.hi / (CR_SUBSTEPS * unit);
    to->gap0 = to->gap = run->row_gap[row];
    to->target = run->row_gap[row] - run->row_target[row] + to->e[0] * run->h;
    to->bounce = run->row_bounce[row];
    to->still = STILL * fabs(run->row_target[row]);
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
    double* H;
    int* col;
    if (!CR_ROOMS(arena, CR_ROOM(rows->first, units->islands + 1), CR_ROOM(rows->unit, count + 1),
                  CR_ROOM(H, numbers + 1), CR_ROOM(col, numbers + 1),
                  CR_ZERO(rows->placed, units->islands + 1)))
        return CR_ERR_MEMORY;
    int at = 0;
    for (int i = 0; i < units->islands; i++) {
        rows->first[i] = at;
        for (int k = units->first[i]; k < units->first[i + 1]; k++) {
            const crRowUnit* unit = &units->unit[k];
            for (int r = 0; r < unit->local.count; r += together(unit)) {
                set_unit(units, run, unit, r, col, H, &rows->unit[at]);
                col += rows->unit[at].padded;
                H += rows->unit[at].rows * rows->unit[at].padded;
                at++;
            }
        }
    }
    rows->first[units->islands] = at;
    run->rows = rows;
    return CR_OK;
}
