// collision.c - a collision in the user's coordinates: every field checked, then turned into the contact
// frame.
//
// Frame F = [n t1 t2] (columns): W_frame = F^T W F, V_frame = F^T V. By default t1 = -V_t / |V_t|, t2 = n x
// t1. Fails: a field that is not finite, out of range, not symmetric, not positive semidefinite or not unit
// is refused with its name, its value and what is allowed.
#include "base/argument.h"
#include "impulse/curve.h"
#include "impulse/rank.h"

#define SYMMETRY_TOL 1e-9
#define UNIT_TOL     1e-9

crCollision cr_collision(void) {
    crCollision c = {0};
    c.W.m[0][0] = c.W.m[1][1] = c.W.m[2][2] = 1.0;
    c.n.x = 1.0;
    return c;
}

double cr_restitution_at(const crRestitution* r, double speed) {
    if (r == NULL) return (double)NAN;
    if (r->function != NULL) return r->function(r->ctx, speed);
    if (r->count < 1 || r->speed == NULL || r->e == NULL) return (double)NAN;
    if (speed <= r->speed[0]) return r->e[0];
    for (int i = 1; i < r->count; i++) {
        if (speed <= r->speed[i]) {
            double s = (speed - r->speed[i - 1]) / (r->speed[i] - r->speed[i - 1]);
            return r->e[i - 1] + s * (r->e[i] - r->e[i - 1]);
        }
    }
    return r->e[r->count - 1];
}

static crStatus check_table(const crRestitution* r, crError* error) {
    if (r->function != NULL) return CR_OK;
    if (r->count < 1 || r->speed == NULL || r->e == NULL) {
        return cr_error_set(error, CR_ERR_SIZE, "e", "e: a table needs at least one row, got %d", r->count);
    }
    for (int i = 0; i < r->count; i++) {
        if (!isfinite(r->speed[i]) || r->speed[i] < 0.0 || (i > 0 && r->speed[i] <= r->speed[i - 1])) {
            return cr_error_set(error, CR_ERR_RANGE, "e",
                                "e: speeds of a table must be >= 0 and ascending, row %d has %g", i,
                                r->speed[i]);
        }
        if (!isfinite(r->e[i]) || r->e[i] < 0.0) {
            return cr_error_set(error, CR_ERR_RANGE, "e", "e: row %d of the table is %g, must be >= 0", i,
                                r->e[i]);
        }
    }
    return CR_OK;
}

static double larger(double a, double b) { return a > b ? a : b; }

// What is wrong with W, if anything.
static crStatus refuse_matrix(const crMat3* W, crError* error) {
    const double(*m)[3] = W->m;
    double largest = 0.0;
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            sum += m[i][j];
            largest = larger(largest, fabs(m[i][j]));
        }
    }
    if (!isfinite(sum))
        return cr_error_set(error, CR_ERR_FINITE, "W", "W: every entry must be a finite number");
    double skew = larger(larger(fabs(m[0][1] - m[1][0]), fabs(m[0][2] - m[2][0])), fabs(m[1][2] - m[2][1]));
    if (skew > SYMMETRY_TOL * largest) {
        return cr_error_set(error, CR_ERR_SYMMETRY, "W",
                            "W: not symmetric, entries across the diagonal differ by %.6g (allowed: %.6g)",
                            skew, SYMMETRY_TOL * largest);
    }
    double values[3];
    crMat3 axes;
    cr_sym3_eigen(cr_mat3_symmetric(*W), values, &axes);
    return cr_error_set(error, CR_ERR_DEFINITE, "W",
                        "W: not positive semidefinite, smallest eigenvalue is %.6g, must be >= 0", values[0]);
}

// What is wrong with V, mu, e or et, if anything.
static crStatus refuse_numbers(const crCollision* c, crError* error) {
    if (!cr_vec3_finite(c->V)) {
        return cr_error_set(error, CR_ERR_FINITE, "V", "V: (%g, %g, %g), every component must be finite",
                            c->V.x, c->V.y, c->V.z);
    }
    if (!(c->mu >= 0.0)) {
        return cr_error_set(error, isnan(c->mu) ? CR_ERR_FINITE : CR_ERR_RANGE, "mu",
                            "mu: is %g, must be >= 0 (may be infinite)", c->mu);
    }
    if (c->e_of_speed == NULL && !(c->e >= 0.0 && isfinite(c->e))) {
        return cr_error_set(error, isfinite(c->e) ? CR_ERR_RANGE : CR_ERR_FINITE, "e",
                            "e: is %g, must be a finite number >= 0", c->e);
    }
    return cr_error_set(error, isnan(c->et) ? CR_ERR_FINITE : CR_ERR_RANGE, "et",
                        "et: is %g, must be between -1 and 1", c->et);
}

// Finite, mu >= 0, e >= 0, et in [-1, 1]: one condition, since it is almost always true.
static bool numbers_are_good(const crCollision* c) {
    double zero = (c->V.x - c->V.x) + (c->V.y - c->V.y) + (c->V.z - c->V.z);
    bool e_good = (c->e >= 0.0) & (c->e <= 1.7976931348623157e308);
    return (zero == 0.0) & (c->mu >= 0.0) & (e_good | (c->e_of_speed != NULL)) & (c->et >= -1.0) &
           (c->et <= 1.0);
}

// Symmetric within the tolerance and positive semidefinite; false also for NaN and infinity.
static bool matrix_is_good(const crMat3* W, crSym3 s) {
    const double(*m)[3] = W->m;
    double skew = larger(larger(fabs(m[0][1] - m[1][0]), fabs(m[0][2] - m[2][0])), fabs(m[1][2] - m[2][1]));
    // the largest entry of a positive semidefinite matrix is on its diagonal
    double largest = larger(larger(m[0][0], m[1][1]), m[2][2]);
    return (skew <= SYMMETRY_TOL * largest) & (largest <= 1.7976931348623157e308) && cr_sym3_is_psd(s);
}

static crStatus check_normal(const crCollision* c, crVec3* n, crError* error) {
    double square = cr_dot(c->n, c->n);
    if (fabs(square - 1.0) <= 2.0 * UNIT_TOL) {
        // the last digits of the length, without a root
        *n = cr_scale(1.5 - 0.5 * square, c->n);
        return CR_OK;
    }
    double length = sqrt(square);
    if (!isfinite(length)) {
        return cr_error_set(error, CR_ERR_FINITE, "n", "n: (%g, %g, %g), every component must be finite",
                            c->n.x, c->n.y, c->n.z);
    }
    if (!(length > 0.0)) return cr_error_set(error, CR_ERR_UNIT, "n", "n: is zero, must have length 1");
    if (!c->normalize) {
        return cr_error_set(error, CR_ERR_UNIT, "n", "n: has length %.12g, must be 1 (or ask to normalize)",
                            length);
    }
    *n = cr_scale(1.0 / length, c->n);
    return CR_OK;
}

static crStatus check_frame(const crMat3* f, crVec3 n, crError* error) {
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            double dot = cr_dot(cr_mat3_column(*f, i), cr_mat3_column(*f, j));
            if (!(fabs(dot - (i == j ? 1.0 : 0.0)) <= 1e-9)) {
                return cr_error_set(error, CR_ERR_UNIT, "frame",
                                    "frame: columns %d and %d have dot product %.6g, must be orthonormal", i,
                                    j, dot);
            }
        }
    }
    if (!(cr_norm(cr_sub(cr_mat3_column(*f, 0), n)) <= 1e-9)) {
        return cr_error_set(error, CR_ERR_UNIT, "frame", "frame: the first column must be n");
    }
    return CR_OK;
}

// Axes n, b, c with |b| = |c|; s b and s c are the unit tangents. By default b is against the tangential
// velocity, if there is any to speak of. Everything that does not need s is computed while the root is.
typedef struct Axes {
    crVec3 n, b, c;
    double s;
} Axes;

static Axes axes_of(const crCollision* c, crVec3 n) {
    double Vn = cr_dot(n, c->V);
    crVec3 b = cr_vec3(Vn * n.x - c->V.x, Vn * n.y - c->V.y, Vn * n.z - c->V.z);
    b = cr_madd(b, -cr_dot(n, b), n);  // once more: a small difference of large vectors is still tilted
    double square = cr_dot(b, b);
    bool slips = (square > 1e-28 * cr_dot(c->V, c->V)) & (square > 1e-290);
    if (slips & !c->has_frame) return (Axes){n, b, cr_cross(n, b), 1.0 / sqrt(square)};
    crMat3 frame = c->has_frame ? c->frame : cr_frame(n);
    return (Axes){cr_mat3_column(frame, 0), cr_mat3_column(frame, 1), cr_mat3_column(frame, 2), 1.0};
}

static crStatus restitution_of_speed(const crCollision* c, crContact* contact, crError* error) {
    crStatus status = check_table(c->e_of_speed, error);
    if (status != CR_OK) return status;
    contact->e = cr_restitution_at(c->e_of_speed, larger(0.0, -contact->V.x));
    if (contact->e >= 0.0 && isfinite(contact->e)) return CR_OK;
    return cr_error_set(error, CR_ERR_RANGE, "e", "e: the function of approach speed gave %g, must be >= 0",
                        contact->e);
}

// coefficients that depend on the impact, in the contact frame
static crStatus set_by_impact(const crCollision* c, const crMat3* frame, crContact* contact, crError* error) {
    crStatus status = cr__by_impact_check(c->by_impact, error);
    if (status != CR_OK) return status;
    if (!cr_vec3_finite(c->omega)) {
        return cr_error_set(error, CR_ERR_FINITE, "omega", "omega: every component must be finite");
    }
    crApproach approach = cr_approach(cr_vec3(1, 0, 0), contact->V, cr_mat3_mul_t(*frame, c->omega));
    return cr__by_impact_at(c->by_impact, &approach, &contact->e, &contact->et, &contact->mu, error);
}

crStatus cr_collision_contact(const crCollision* c, crContact* contact, crMat3* frame, crError* error) {
    if (c == NULL) return cr__missing(error, "collision");
    if (contact == NULL) return cr__missing(error, "contact");
    if (frame == NULL) return cr__missing(error, "frame");
    if (!numbers_are_good(c)) return refuse_numbers(c, error);
    crSym3 W = cr_mat3_symmetric(c->W);
    if (!matrix_is_good(&c->W, W)) return refuse_matrix(&c->W, error);
    crVec3 n = {0};
    crStatus status = check_normal(c, &n, error);
    if (status == CR_OK && c->has_frame) status = check_frame(&c->frame, n, error);
    if (status != CR_OK) return status;

    Axes x = axes_of(c, n);
    double s = x.s;
    double s2 = s * s;
    crVec3 Wn = cr_sym3_mul(W, x.n), Wb = cr_sym3_mul(W, x.b), Wc = cr_sym3_mul(W, x.c);
    contact->W.xx = cr_dot(x.n, Wn);
    contact->W.xy = s * cr_dot(x.b, Wn);
    contact->W.xz = s * cr_dot(x.c, Wn);
    contact->W.yy = s2 * cr_dot(x.b, Wb);
    contact->W.yz = s2 * cr_dot(x.c, Wb);
    contact->W.zz = s2 * cr_dot(x.c, Wc);
    contact->V = cr_vec3(cr_dot(x.n, c->V), s * cr_dot(x.b, c->V), s * cr_dot(x.c, c->V));
    *frame = cr_mat3_columns(x.n, cr_scale(s, x.b), cr_scale(s, x.c));
    contact->mu = c->mu;
    contact->et = c->et;
    contact->e = c->e;
    if (c->e_of_speed != NULL) status = restitution_of_speed(c, contact, error);
    if (status == CR_OK && c->by_impact != NULL) status = set_by_impact(c, frame, contact, error);
    return status;
}

bool cr_contact_is_planar(const crContact* c) {
    if (c == NULL) return false;
    // t1 is against the slip, and known no better than rounding of V leaves it
    double slip = sqrt(c->V.y * c->V.y + c->V.z * c->V.z);
    double tol = 1e-12;
    if (slip > 1e-6 * fabs(c->V.x)) tol += 1e-15 * fabs(c->V.x) / slip;
    double rounding = cr__W_rounding(&c->W);
    return fabs(c->V.z) <= tol * cr_norm(c->V) &&
           fabs(c->W.xz) <= tol * sqrt(fmax(0.0, c->W.xx * c->W.zz)) + rounding &&
           fabs(c->W.yz) <= tol * sqrt(fmax(0.0, c->W.yy * c->W.zz)) + rounding;
}
