// form.c - named forms of coefficients over a figure of the impact, as tables.
//
//     power         e = min(most, e0 (v/v0)^-exponent). Exponent 1/4 is Johnson's for fully plastic impacts
//                   (Johnson 1985, Contact Mechanics, 11.5), 1/5 to 1/10 is common for viscoelastic ones.
//     viscoelastic  e = (1 + c x)/(1 + c x + b2 x^2 + b3 x^3 + b4 x^4), x = k v^(1/10): the approximant of Mueller and
//                   Poeschel 2011 (Phys. Rev. E 84, 021302) for Hertz's force with Kuwabara and Kono's damping; k is
//                   found from e0 at v0
//     plastic       1 up to the yield speed v0, beyond it with s = v0/v
//                   e = sqrt(6 sqrt(3)/5 (1 - s^2/6)) (s/(s + 2 sqrt(6/5 - s^2/5)))^(1/4)   (Thornton 1997)
//     spline        cubic through the rows with slopes limited as Fritsch and Carlson 1980 do: monotone where they are
//     decay         far + (near - far) exp(-x/scale): friction of billiard balls over slip (Alciatore, technical proof A.14)
//     grip          et = grip (1 - tan(angle)/tan(limit)), 0 beyond. A ball that grips at once stores tangential energy and
//                   gives part of it back (Cross 2002, Am. J. Phys. 70, 1093); one that slides a share tan(angle)/tan(limit)
//                   of the impulse first has the rest to do so. Both ends are his; the line between them is an estimate.
// Holds: e of the first three is at most 1. Fails: each field by name and range.
#include "base/argument.h"
#include "base/power.h"
#include "carom/forms.h"
#include "carom/impulse.h"

#define PER_OCTAVE  8
#define SPLINE_MOST 16

const char* cr_form_name(crFormKind kind) {
    static const char* const names[] = {"power", "viscoelastic", "plastic", "spline", "decay", "grip"};
    return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : NULL;
}

// e of viscoelastic spheres at the reduced speed x; it falls with x.
static double viscoelastic(double x) {
    const double c = 0.501086, b2 = 1.15345, b3 = 0.577977, b4 = 0.532178;
    return (1.0 + c * x) / (1.0 + x * (c + x * (b2 + x * (b3 + x * b4))));
}

static double reduced_speed(double e) {
    double lo = 0.0, hi = 1.0;
    while (viscoelastic(hi) > e) {
        hi *= 2.0;
    }
    for (int i = 0; i < 80; i++) {
        double middle = 0.5 * (lo + hi);
        if (viscoelastic(middle) > e) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return 0.5 * (lo + hi);
}

static double plastic(double s) {
    if (s >= 1.0) return 1.0;
    double first = 6.0 * sqrt(3.0) / 5.0 * (1.0 - s * s / 6.0);
    double second = s / (s + 2.0 * sqrt(1.2 - 0.2 * s * s));
    return fmin(1.0, sqrt(first) * sqrt(sqrt(second)));
}

static double form_at(const crForm* f, double x0, double ratio) {
    switch (f->kind) {
    case CR_FORM_POWER:
        return fmin(f->most, f->e * cr__power(ratio, -f->exponent));
    case CR_FORM_VISCOELASTIC:
        return viscoelastic(x0 * cr__power(ratio, 0.1));
    default:
        return plastic(1.0 / ratio);
    }
}

// Slopes of the cubic: the three-point harmonic mean inside, zero where the rows turn.
static void spline_slopes(const crForm* f, double* slope) {
    int n = f->count;
    for (int i = 0; i < n; i++) {
        int a = i > 0 ? i - 1 : 0, b = i < n - 1 ? i + 1 : n - 1;
        double left = i > 0 ? (f->values[i] - f->values[a]) / (f->speeds[i] - f->speeds[a]) : 0.0;
        double right = i < n - 1 ? (f->values[b] - f->values[i]) / (f->speeds[b] - f->speeds[i]) : 0.0;
        double ends = i == 0 ? right : left;
        bool inside = i > 0 && i < n - 1;
        slope[i] = !inside ? ends : left * right > 0.0 ? 2.0 * left * right / (left + right) : 0.0;
    }
}

static int spline(const crForm* f, double* speed, double* e) {
    double slope[SPLINE_MOST];
    int rows = 0;
    spline_slopes(f, slope);
    for (int i = 0; i + 1 < f->count; i++) {
        double h = f->speeds[i + 1] - f->speeds[i];
        for (int k = 0; k < PER_OCTAVE; k++) {
            double t = (double)k / PER_OCTAVE, u = 1.0 - t;
            double value = u * u * (1.0 + 2.0 * t) * f->values[i] +
                           t * t * (3.0 - 2.0 * t) * f->values[i + 1] +
                           h * t * u * (u * slope[i] - t * slope[i + 1]);
            speed[rows] = f->speeds[i] + t * h;
            double low = fmin(f->values[i], f->values[i + 1]), high = fmax(f->values[i], f->values[i + 1]);
            e[rows++] = fmin(high, fmax(low, value));  // rounding alone leaves the range
        }
    }
    speed[rows] = f->speeds[f->count - 1];
    e[rows++] = f->values[f->count - 1];
    return rows;
}

static crStatus check_rows(const crForm* f, crError* error) {
    if (f->count < 2 || f->count > SPLINE_MOST || f->speeds == NULL || f->values == NULL) {
        return cr_error_set(error, CR_ERR_SIZE, "rows", "rows: a spline has 2 to %d, got %d", SPLINE_MOST,
                            f->count);
    }
    for (int i = 0; i < f->count; i++) {
        bool ascends = i == 0 ? f->speeds[0] >= 0.0 : f->speeds[i] > f->speeds[i - 1];
        if (!ascends || !isfinite(f->speeds[i]) || !(f->values[i] >= -1.0 && f->values[i] <= 1e9)) {
            return cr_error_set(
                error, CR_ERR_RANGE, "rows",
                "rows: places must ascend from >= 0 and values be -1 to 1e9; not so in row %d", i);
        }
    }
    return CR_OK;
}

static crStatus check_between(const char* name, double value, double most, crError* error) {
    if (value > 0.0 && value <= most) return CR_OK;
    return cr_error_set(error, CR_ERR_RANGE, name, "%s: is %g, must be > 0 and at most %g", name, value,
                        most);
}

static crStatus check_decay(const crForm* f, crError* error) {
    if (!isfinite(f->begin) || !isfinite(f->end)) {
        return cr_error_set(error, CR_ERR_FINITE, isfinite(f->begin) ? "far" : "near",
                            "near, far: are %g and %g, must be finite", f->begin, f->end);
    }
    return check_between("scale", f->scale, 1e9, error);
}

static crStatus check_grip(const crForm* f, crError* error) {
    crStatus status = check_between("limit", f->limit, 1.57, error);
    if (status == CR_OK && !(f->grip >= 0.0 && f->grip <= 1.0))
        status = cr_error_set(error, CR_ERR_RANGE, "grip", "grip: is %g, must be from 0 to 1", f->grip);
    return status;
}

static crStatus check_form(const crForm* f, crError* error) {
    if (cr_form_name(f->kind) == NULL) {
        return cr_error_set(error, CR_ERR_RANGE, "kind",
                            "kind: is %d, must be power, viscoelastic, plastic, spline, decay or grip",
                            (int)f->kind);
    }
    if (f->kind == CR_FORM_SPLINE) return check_rows(f, error);
    if (f->kind == CR_FORM_DECAY) return check_decay(f, error);
    if (f->kind == CR_FORM_GRIP) return check_grip(f, error);
    crStatus status = check_between("speed", f->speed, 1e9, error);
    if (status != CR_OK || f->kind == CR_FORM_PLASTIC) return status;
    status = check_between("e", f->e, f->kind == CR_FORM_VISCOELASTIC ? 0.999999 : 1.0, error);
    if (status != CR_OK || f->kind == CR_FORM_VISCOELASTIC) return status;
    status = check_between("most", f->most, 1.0, error);
    if (status == CR_OK && !(f->exponent >= 0.0 && f->exponent <= 2.0)) {
        status = cr_error_set(error, CR_ERR_RANGE, "exponent", "exponent: is %g, must be from 0 to 2",
                              f->exponent);
    }
    return status;
}

#define LONG 12.0  // scales of a decay that are in its table

static int decay(const crForm* f, double* x, double* value) {
    const double log2e = 1.4426950408889634;
    for (int i = 0; i < CR_FORM_ROWS; i++) {
        double t = LONG * (double)i / (CR_FORM_ROWS - 1);
        x[i] = t * f->scale;
        value[i] = f->end + (f->begin - f->end) * cr__exp2(-log2e * t);
    }
    return CR_FORM_ROWS;
}

static int grip(const crForm* f, double* x, double* value) {
    double sine, cosine;
    cr_sincos(f->limit, &sine, &cosine);
    for (int i = 0; i < CR_FORM_ROWS; i++) {
        double share = (double)i / (CR_FORM_ROWS - 1);
        x[i] = cr_atan2(share * sine, cosine);
        value[i] = f->grip * (1.0 - share);
    }
    return CR_FORM_ROWS;
}

int cr_form_table(const crForm* form, double* x, double* value, crError* error) {
    if (form == NULL) return cr__missing(error, "form");
    if (x == NULL) return cr__missing(error, "x");
    if (value == NULL) return cr__missing(error, "value");
    crStatus status = check_form(form, error);
    if (status != CR_OK) return status;
    if (form->kind == CR_FORM_SPLINE) return spline(form, x, value);
    if (form->kind == CR_FORM_DECAY) return decay(form, x, value);
    if (form->kind == CR_FORM_GRIP) return grip(form, x, value);
    double x0 = form->kind == CR_FORM_VISCOELASTIC ? reduced_speed(form->e) : 0.0;
    // nothing yields below the yield speed
    int before = form->kind == CR_FORM_PLASTIC ? 0 : CR_FORM_ROWS / 2;
    for (int i = 0; i < CR_FORM_ROWS; i++) {
        double ratio = cr__exp2((double)(i - before) / PER_OCTAVE);
        x[i] = ratio * form->speed;
        value[i] = form_at(form, x0, ratio);
    }
    return CR_FORM_ROWS;
}
