// restitution_form.c - named forms of restitution over approach speed, as tables.
//
//     power         e = min(most, e0 (v/v0)^-exponent). Exponent 1/4 is Johnson's for fully plastic impacts
//                   (Johnson 1985, Contact Mechanics, 11.5), 1/5 to 1/10 is common for viscoelastic ones.
//     viscoelastic  e = (1 + c x)/(1 + c x + b2 x^2 + b3 x^3 + b4 x^4), x = k v^(1/10): the approximant of Mueller and
//                   Poeschel 2011 (Phys. Rev. E 84, 021302) for Hertz's force with Kuwabara and Kono's damping; k is
//                   found from e0 at v0
//     plastic       1 up to the yield speed v0, beyond it with s = v0/v
//                   e = sqrt(6 sqrt(3)/5 (1 - s^2/6)) (s/(s + 2 sqrt(6/5 - s^2/5)))^(1/4)   (Thornton 1997)
//     spline        cubic through the rows with slopes limited as Fritsch and Carlson 1980 do: monotone where they are
// Holds: e is at most 1. Fails: each field by name and range.
#include "base/argument.h"
#include "base/power.h"
#include "carom/forms.h"
#include "carom/impulse.h"

#define PER_OCTAVE  8
#define OCTAVES     16
#define SPLINE_MOST 16

const char* cr_form_name(crFormKind kind) {
    static const char* const names[] = {"power", "viscoelastic", "plastic", "spline"};
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

static double form_at(const crRestitutionForm* f, double x0, double ratio) {
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
static void spline_slopes(const crRestitutionForm* f, double* slope) {
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

static int spline(const crRestitutionForm* f, double* speed, double* e) {
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
            e[rows++] = fmin(1.0, fmax(0.0, value));
        }
    }
    speed[rows] = f->speeds[f->count - 1];
    e[rows++] = f->values[f->count - 1];
    return rows;
}

static crStatus check_rows(const crRestitutionForm* f, crError* error) {
    if (f->count < 2 || f->count > SPLINE_MOST || f->speeds == NULL || f->values == NULL) {
        return cr_error_set(error, CR_ERR_SIZE, "rows", "rows: a spline has 2 to %d, got %d", SPLINE_MOST,
                            f->count);
    }
    for (int i = 0; i < f->count; i++) {
        bool ascends = i == 0 ? f->speeds[0] >= 0.0 : f->speeds[i] > f->speeds[i - 1];
        if (!ascends || !isfinite(f->speeds[i]) || !(f->values[i] >= 0.0 && f->values[i] <= 1.0)) {
            return cr_error_set(error, CR_ERR_RANGE, "rows",
                                "rows: speeds must ascend from >= 0 and e be 0 to 1; not so in row %d", i);
        }
    }
    return CR_OK;
}

static crStatus check_between(const char* name, double value, double most, crError* error) {
    if (value > 0.0 && value <= most) return CR_OK;
    return cr_error_set(error, CR_ERR_RANGE, name, "%s: is %g, must be > 0 and at most %g", name, value,
                        most);
}

static crStatus check_form(const crRestitutionForm* f, crError* error) {
    if (cr_form_name(f->kind) == NULL) {
        return cr_error_set(error, CR_ERR_RANGE, "kind",
                            "kind: is %d, must be power, viscoelastic, plastic or spline", (int)f->kind);
    }
    if (f->kind == CR_FORM_SPLINE) return check_rows(f, error);
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

int cr_restitution_form(const crRestitutionForm* form, double* speed, double* e, crError* error) {
    if (form == NULL) return cr__missing(error, "form");
    if (speed == NULL) return cr__missing(error, "speed");
    if (e == NULL) return cr__missing(error, "e");
    crStatus status = check_form(form, error);
    if (status != CR_OK) return status;
    if (form->kind == CR_FORM_SPLINE) return spline(form, speed, e);
    double x0 = form->kind == CR_FORM_VISCOELASTIC ? reduced_speed(form->e) : 0.0;
    for (int i = 0; i < CR_FORM_ROWS; i++) {
        double ratio = cr__exp2((double)(i - CR_FORM_ROWS / 2) / PER_OCTAVE);
        speed[i] = ratio * form->speed;
        e[i] = form_at(form, x0, ratio);
    }
    return CR_FORM_ROWS;
}
