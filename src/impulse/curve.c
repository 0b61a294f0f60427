// curve.c - coefficients as functions of approach speed, slip, angle of incidence and spin.
//
//     speed = max(0, -n.V),  slip = |V - (n.V) n|,  angle = atan2(slip, speed),  spin = |n.omega|
// A table over one figure is piecewise linear, over two bilinear. Fails: tables that are not in order and values outside the
// range of their coefficient, by name.
#include "impulse/curve.h"

#include "base/argument.h"

const char* cr_figure_name(crFigure figure) {
    static const char* const names[] = {"speed", "slip", "angle", "spin"};
    return (unsigned)figure < sizeof names / sizeof names[0] ? names[figure] : NULL;
}

crApproach cr_approach(crVec3 n, crVec3 V, crVec3 omega) {
    double Vn = cr_dot(n, V), speed = fmax(0.0, -Vn);
    double slip = cr_norm(cr_madd(V, -Vn, n));
    return (crApproach){speed, slip, cr_atan2(slip, speed), fabs(cr_dot(n, omega))};
}

double cr_approach_figure(const crApproach* approach, crFigure by) {
    if (approach == NULL) return (double)NAN;
    const double figures[] = {approach->speed, approach->slip, approach->angle, approach->spin};
    return cr_figure_name(by) != NULL ? figures[by] : (double)NAN;
}

// Row before `at` and the share of the way to the next one; the ends beyond.
static int find_row(const double* rows, int count, double at, double* share) {
    *share = 0.0;
    if (count < 2 || at <= rows[0]) return 0;
    for (int i = 1; i < count; i++) {
        if (at <= rows[i]) {
            *share = (at - rows[i - 1]) / (rows[i] - rows[i - 1]);
            return i - 1;
        }
    }
    *share = 1.0;
    return count - 2;
}

double cr_curve_at(const crCurve* c, const crApproach* approach) {
    if (c == NULL || approach == NULL) return (double)NAN;
    if (c->function != NULL) return c->function(c->ctx, approach);
    bool two = c->columns > 1;
    if (c->rows < 1 || c->columns < 1 || c->x == NULL || c->value == NULL || (two && c->y == NULL))
        return (double)NAN;
    double s, t = 0.0, mean[2];
    int row = find_row(c->x, c->rows, cr_approach_figure(approach, c->by[0]), &s);
    int column = two ? find_row(c->y, c->columns, cr_approach_figure(approach, c->by[1]), &t) : 0;
    for (int k = 0; k < 2; k++) {
        const double* v = c->value + (size_t)(k < c->rows ? row + k : row) * (size_t)c->columns + column;
        mean[k] = two ? v[0] + t * (v[1] - v[0]) : v[0];
    }
    return c->rows > 1 ? mean[0] + s * (mean[1] - mean[0]) : mean[0];
}

static crStatus check_places(const char* name, const char* of, const double* rows, int count,
                             crError* error) {
    for (int i = 0; i < count; i++) {
        bool ascends = i == 0 ? rows[0] >= 0.0 : rows[i] > rows[i - 1];
        if (ascends && isfinite(rows[i])) continue;
        return cr_error_set(error, CR_ERR_RANGE, name,
                            "%s: %s must ascend from >= 0 in a table; number %d is %g", name, of, i, rows[i]);
    }
    return CR_OK;
}

static crStatus check_curve(const char* name, const crCurve* c, double least, double most, crError* error) {
    if (c == NULL || c->function != NULL) return CR_OK;
    bool two = c->columns > 1;
    if (c->rows < 1 || c->columns < 1 || c->x == NULL || c->value == NULL || (two && c->y == NULL)) {
        return cr_error_set(error, CR_ERR_SIZE, name, "%s: a table needs rows and columns, got %d and %d",
                            name, c->rows, c->columns);
    }
    if (cr_figure_name(c->by[0]) == NULL || (two && cr_figure_name(c->by[1]) == NULL)) {
        return cr_error_set(error, CR_ERR_RANGE, name,
                            "%s: a table is over speed, slip, angle or spin, got figures %d and %d", name,
                            (int)c->by[0], (int)c->by[1]);
    }
    crStatus status = check_places(name, cr_figure_name(c->by[0]), c->x, c->rows, error);
    if (status == CR_OK && two)
        status = check_places(name, cr_figure_name(c->by[1]), c->y, c->columns, error);
    for (int i = 0; i < c->rows * c->columns && status == CR_OK; i++) {
        if (c->value[i] >= least && c->value[i] <= most && isfinite(c->value[i])) continue;
        status = cr_error_set(error, CR_ERR_RANGE, name,
                              "%s: value %d of the table is %g, must be finite and from %g to %g", name, i,
                              c->value[i], least, most);
    }
    return status;
}

crStatus cr__by_impact_check(const crByImpact* by, crError* error) {
    crStatus status = check_curve("e", by->e, 0.0, INFINITY, error);
    if (status == CR_OK) status = check_curve("et", by->et, -1.0, 1.0, error);
    return status == CR_OK ? check_curve("mu", by->mu, 0.0, INFINITY, error) : status;
}

static crStatus value_at(const char* name, const crCurve* c, const crApproach* approach, double least,
                         double most, double* out, crError* error) {
    if (c == NULL) return CR_OK;
    *out = cr_curve_at(c, approach);
    if (*out >= least && *out <= most && isfinite(*out)) return CR_OK;
    return cr_error_set(error, CR_ERR_RANGE, name,
                        "%s: the function of the impact gave %g, must be from %g to %g", name, *out, least,
                        most);
}

crStatus cr__by_impact_at(const crByImpact* by, const crApproach* approach, double* e, double* et, double* mu,
                          crError* error) {
    crStatus status = value_at("e", by->e, approach, 0.0, INFINITY, e, error);
    if (status == CR_OK) status = value_at("et", by->et, approach, -1.0, 1.0, et, error);
    return status == CR_OK ? value_at("mu", by->mu, approach, 0.0, INFINITY, mu, error) : status;
}
