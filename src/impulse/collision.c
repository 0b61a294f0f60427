// collision.c - a collision in the user's coordinates: every field checked, then turned into the contact
// frame.
//
// Frame F = [n t1 t2] (columns): W_frame = F^T W F, V_frame = F^T V. By default t1 = -V_t / |V_t|, t2 = n x
// t1. Fails: a field that is not finite, out of range, not symmetric, not positive semidefinite or not unit
// is refused with its name, its value and what is allowed.
#include "carom/impulse.h"

#define SYMMETRY_TOL 1e-9
#define UNIT_TOL     1e-9

crCollision cr_collision(void) {
    crCollision c = {0};
    c.W.m[0][0] = c.W.m[1][1] = c.W.m[2][2] = 1.0;
    c.n.x = 1.0;
    return c;
}

double cr_restitution_at(const crRestitution* r, double speed) {
    if (r->function != NULL) return r->function(r->ctx, speed);
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

static crStatus check_matrix(const crMat3* W, crSym3* s, crError* error) {
    const double(*m)[3] = W->m;
    double largest = 0.0;
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            sum += m[i][j];
            largest = fmax(largest, fabs(m[i][j]));
        }
    }
    if (!isfinite(sum))
        return cr_error_set(error, CR_ERR_FINITE, "W", "W: every entry must be a finite number");
    double skew = fmax(fmax(fabs(m[0][1] - m[1][0]), fabs(m[0][2] - m[2][0])), fabs(m[1][2] - m[2][1]));
    if (skew > SYMMETRY_TOL * largest) {
        return cr_error_set(error, CR_ERR_SYMMETRY, "W",
                            "W: not symmetric, entries across the diagonal differ by %g (allowed: %g)", skew,
                            SYMMETRY_TOL * largest);
    }
    *s = (crSym3){m[0][0], 0.5 * (m[0][1] + m[1][0]), 0.5 * (m[0][2] + m[2][0]),
                  m[1][1], 0.5 * (m[1][2] + m[2][1]), m[2][2]};
    if (!cr_sym3_is_psd(*s)) {
        double values[3];
        crMat3 axes;
        cr_sym3_eigen(*s, values, &axes);
        return cr_error_set(error, CR_ERR_DEFINITE, "W",
                            "W: not positive semidefinite, smallest eigenvalue is %g, must be >= 0",
                            values[0]);
    }
    return CR_OK;
}

static crStatus check_numbers(const crCollision* c, crError* error) {
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
    if (!(c->et >= -1.0 && c->et <= 1.0)) {
        return cr_error_set(error, isnan(c->et) ? CR_ERR_FINITE : CR_ERR_RANGE, "et",
                            "et: is %g, must be between -1 and 1", c->et);
    }
    return CR_OK;
}

static crStatus check_normal(const crCollision* c, crVec3* n, crError* error) {
    double length = cr_norm(c->n);
    if (!isfinite(length)) {
        return cr_error_set(error, CR_ERR_FINITE, "n", "n: (%g, %g, %g), every component must be finite",
                            c->n.x, c->n.y, c->n.z);
    }
    if (!(length > 0.0)) return cr_error_set(error, CR_ERR_UNIT, "n", "n: is zero, must have length 1");
    *n = c->n;
    if (fabs(length - 1.0) > UNIT_TOL && !c->normalize) {
        return cr_error_set(error, CR_ERR_UNIT, "n", "n: has length %.12g, must be 1 (or ask to normalize)",
                            length);
    }
    if (length != 1.0) *n = cr_scale(1.0 / length, c->n);
    return CR_OK;
}

static crStatus check_frame(const crMat3* f, crVec3 n, crError* error) {
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            double dot = cr_dot(cr_mat3_column(*f, i), cr_mat3_column(*f, j));
            if (!(fabs(dot - (i == j ? 1.0 : 0.0)) <= 1e-9)) {
                return cr_error_set(error, CR_ERR_UNIT, "frame",
                                    "frame: columns %d and %d have dot product %g, must be orthonormal", i, j,
                                    dot);
            }
        }
    }
    if (!(cr_norm(cr_sub(cr_mat3_column(*f, 0), n)) <= 1e-9)) {
        return cr_error_set(error, CR_ERR_UNIT, "frame", "frame: the first column must be n");
    }
    return CR_OK;
}

// t1 against the tangential velocity, if there is any to speak of
static crMat3 default_frame(crVec3 n, crVec3 V) {
    crVec3 tangential = cr_madd(V, -cr_dot(n, V), n);
    double speed = cr_norm(tangential);
    if (!(speed > 1e-14 * cr_norm(V)) || speed < 1e-290) return cr_frame(n);
    crVec3 t1 = cr_scale(-1.0 / speed, tangential);
    // a small difference of large vectors is not across n yet: once more
    t1 = cr_madd(t1, -cr_dot(n, t1), n);
    t1 = cr_scale(1.0 / cr_norm(t1), t1);
    return cr_mat3_columns(n, t1, cr_cross(n, t1));
}

crStatus cr_collision_contact(const crCollision* c, crContact* contact, crMat3* frame, crError* error) {
    crSym3 W = {0};
    crVec3 n = {0};
    crStatus status = check_numbers(c, error);
    if (status == CR_OK) status = check_matrix(&c->W, &W, error);
    if (status == CR_OK) status = check_normal(c, &n, error);
    if (status == CR_OK && c->has_frame) status = check_frame(&c->frame, n, error);
    if (status == CR_OK && c->e_of_speed != NULL) status = check_table(c->e_of_speed, error);
    if (status != CR_OK) return status;

    *frame = c->has_frame ? c->frame : default_frame(n, c->V);
    contact->W = cr_sym3_in_frame(W, *frame);
    contact->V = cr_mat3_mul_t(*frame, c->V);
    contact->mu = c->mu;
    contact->et = c->et;
    contact->e = c->e;
    if (c->e_of_speed != NULL) {
        contact->e = cr_restitution_at(c->e_of_speed, fmax(0.0, -contact->V.x));
        if (!(contact->e >= 0.0 && isfinite(contact->e))) {
            return cr_error_set(error, CR_ERR_RANGE, "e",
                                "e: the function of approach speed gave %g, must be >= 0", contact->e);
        }
    }
    return CR_OK;
}

bool cr_contact_is_planar(const crContact* c) {
    const double tol = 1e-12;
    return fabs(c->V.z) <= tol * cr_norm(c->V) && fabs(c->W.xz) <= tol * sqrt(c->W.xx * c->W.zz) + 1e-300 &&
           fabs(c->W.yz) <= tol * sqrt(c->W.yy * c->W.zz) + 1e-300;
}
