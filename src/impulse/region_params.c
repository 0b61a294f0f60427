// region_params.c - three parametrizations of the whole permissible region, each with its inverse.
//
// Spherical: P = P0 + rho extent(d) d with P0 the centroid and d = (cos psi1, sin psi1 cos psi2,
// sin psi1 sin psi2). Projected: a wished impulse, drawn towards P0 until it is in the region.
// Brach: P = Pn (n + mu2 t1 + mu3 t2) with Pn = -(1+e) Vn / n.W(n + mu2 t1 + mu3 t2); energy bounds e by
// 1 + e <= -2 (d.V) (n.W d) / (-Vn d.W d), d = (1, mu2, mu3).
// Source: Chatterjee and Ruina 1998, section 4.1; Brach 1991. Fails: parameters out of their range are
// refused by name; an impulse outside the region, or a region that is empty (Wnn = 0, Vn < 0): outside-
// region. A contact that separates, or that cannot be braked, has the origin as its region.
#include "base/argument.h"
#include "impulse/rank.h"
#include "impulse/region.h"

// the region, as far as the parametrizations are concerned
typedef enum Extent { EMPTY, ORIGIN, PROPER } Extent;

static Extent find_region(const crContact* c, crVec3* P0) {
    if (cr_region_centroid(c, P0)) return PROPER;
    *P0 = cr_vec3(0, 0, 0);
    return c->V.x < 0.0 ? EMPTY : ORIGIN;
}

static crStatus refuse_empty(crError* error) {
    return cr_error_set(
        error, CR_ERR_REGION, "W",
        "W: the normal direction is blocked (Wnn = 0) and V approaches: no impulse is permissible");
}

static crStatus check_permissible(const crContact* c, crVec3 P, crError* error) {
    if (!cr_vec3_finite(P)) {
        return cr_error_set(error, CR_ERR_FINITE, "P", "P: (%g, %g, %g), every component must be finite", P.x,
                            P.y, P.z);
    }
    if (cr_impulse_verdict(c, P, CR_PERMISSIBLE_TOL).verdict == CR_TRUTH_NO) {
        return cr_error_set(error, CR_ERR_REGION, "P", "P: (%g, %g, %g) is outside the permissible region",
                            P.x, P.y, P.z);
    }
    return CR_OK;
}

static crStatus check_range(const char* name, double value, double most, crError* error) {
    if (value >= 0.0 && value <= most) return CR_OK;
    return cr_error_set(error, isnan(value) ? CR_ERR_FINITE : CR_ERR_RANGE, name,
                        "%s: is %g, must be between 0 and %.15g", name, value, most);
}

// at the poles sine is what rounding left of zero, and must not count as a direction
static crVec3 direction(double psi1, double psi2) {
    double s1, c1, s2, c2;
    cr_sincos(psi1, &s1, &c1);
    cr_sincos(psi2, &s2, &c2);
    if (fabs(s1) < 1e-15) s1 = 0.0;
    return cr_vec3(c1, s1 * c2, s1 * s2);
}

crStatus cr_region_from_spherical(const crContact* c, double psi1, double psi2, double rho, crVec3* P,
                                  crError* error) {
    if (c == NULL) return cr__missing(error, "c");
    if (P == NULL) return cr__missing(error, "P");
    crVec3 P0;
    crStatus status = check_range("psi1", psi1, CR_PI, error);
    if (status == CR_OK) status = check_range("psi2", psi2, 2.0 * CR_PI, error);
    if (status == CR_OK) status = check_range("rho", rho, 1.0, error);
    if (status != CR_OK) return status;
    Extent region = find_region(c, &P0);
    if (region == EMPTY) return refuse_empty(error);
    *P = P0;
    if (region == ORIGIN || rho == 0.0) return CR_OK;
    crVec3 d = direction(psi1, psi2);
    *P = cr__region_settle(c, cr_madd(P0, rho * cr_region_extent(c, P0, d), d), d);
    return CR_OK;
}

crStatus cr_region_to_spherical(const crContact* c, crVec3 P, double* psi1, double* psi2, double* rho,
                                crError* error) {
    if (c == NULL) return cr__missing(error, "c");
    if (psi1 == NULL) return cr__missing(error, "psi1");
    if (psi2 == NULL) return cr__missing(error, "psi2");
    if (rho == NULL) return cr__missing(error, "rho");
    crVec3 P0;
    *psi1 = *psi2 = *rho = 0.0;
    crContact bounded = cr__region_contact(c);
    crStatus status = check_permissible(&bounded, P, error);
    if (status != CR_OK) return status;
    Extent region = find_region(c, &P0);
    crVec3 d = cr_sub(P, P0);
    if (!(cr_norm(d) > 0.0)) return CR_OK;
    if (region != PROPER) {
        return cr_error_set(error, CR_ERR_REGION, "P", "P: must be zero where V does not approach");
    }
    *psi1 = cr_atan2(sqrt(d.y * d.y + d.z * d.z), d.x);
    *psi2 = d.y == 0.0 && d.z == 0.0 ? 0.0 : cr_atan2(d.z, d.y);
    if (*psi2 < 0.0) *psi2 += 2.0 * CR_PI;
    // a point that is on the boundary up to rounding has rho 1
    double most = cr_region_extent(c, P0, d);
    *rho = most > 1.0 ? 1.0 / most : 1.0;
    return CR_OK;
}

crStatus cr_region_project(const crContact* c, crVec3 wish, crVec3* P, crError* error) {
    if (c == NULL) return cr__missing(error, "c");
    if (P == NULL) return cr__missing(error, "P");
    crVec3 P0;
    if (!cr_vec3_finite(wish)) {
        return cr_error_set(error, CR_ERR_FINITE, "wish",
                            "wish: (%g, %g, %g), every component must be finite", wish.x, wish.y, wish.z);
    }
    Extent region = find_region(c, &P0);
    if (region == EMPTY) return refuse_empty(error);
    *P = P0;
    if (region == ORIGIN) return CR_OK;
    crVec3 d = cr_sub(wish, P0);
    double s = cr_region_extent(c, P0, d);
    crContact bounded = cr__region_contact(c);
    bool inside = s >= 1.0 || cr_impulse_verdict(&bounded, wish, 0.0).verdict != CR_TRUTH_NO;
    *P = inside ? wish : cr__region_settle(c, cr_madd(P0, s, d), d);
    return CR_OK;
}

double cr_region_brach_e_max(const crContact* c, double mu2, double mu3) {
    if (c == NULL) return (double)NAN;
    if (!(sqrt(mu2 * mu2 + mu3 * mu3) <= c->mu)) return -1.0;
    // a contact that does not approach gets no impulse, whatever e
    if (!(c->V.x < 0.0)) return (double)INFINITY;
    crVec3 d = cr_vec3(1.0, mu2, mu3);
    crVec3 Wd = cr_sym3_mul(c->W, d);
    if (!(Wd.x > cr__W_rounding(&c->W) * (1.0 + fabs(mu2) + fabs(mu3)))) return -1.0;
    double most = 2.0 * (cr_dot(d, c->V) / c->V.x) * (Wd.x / cr_dot(d, Wd)) - 1.0;
    return most >= 0.0 ? most : -1.0;
}

static crStatus check_brach(const crContact* c, double e, double mu2, double mu3, crError* error) {
    const double tol = CR_PERMISSIBLE_TOL;
    double ratio = sqrt(mu2 * mu2 + mu3 * mu3);
    if (!isfinite(ratio)) {
        return cr_error_set(error, CR_ERR_FINITE, "ratios", "ratios: (%g, %g), both must be finite", mu2,
                            mu3);
    }
    if (!(e >= 0.0 && isfinite(e))) {
        return cr_error_set(error, isfinite(e) ? CR_ERR_RANGE : CR_ERR_FINITE, "e",
                            "e: is %g, must be a finite number >= 0", e);
    }
    if (ratio > c->mu + tol * (1.0 + c->mu)) {
        return cr_error_set(error, CR_ERR_REGION, "ratios",
                            "ratios: (%g, %g) have length %.12g, at most mu = %.12g is permissible", mu2, mu3,
                            ratio, c->mu);
    }
    return CR_OK;
}

crStatus cr_region_from_brach(const crContact* c, double e, double mu2, double mu3, crVec3* P,
                              crError* error) {
    if (c == NULL) return cr__missing(error, "c");
    if (P == NULL) return cr__missing(error, "P");
    crStatus status = check_brach(c, e, mu2, mu3, error);
    if (status != CR_OK) return status;
    *P = cr_vec3(0, 0, 0);
    if (!(c->V.x < 0.0)) return CR_OK;
    if (cr__normal_blocked(c)) return refuse_empty(error);
    // ratios that rounding put outside the cone are on it
    crContact wide = *c;
    wide.mu = fmax(c->mu, sqrt(mu2 * mu2 + mu3 * mu3));
    double most = cr_region_brach_e_max(&wide, mu2, mu3);
    if (most < 0.0) {
        return cr_error_set(error, CR_ERR_REGION, "ratios",
                            "ratios: (%g, %g), no impulse in this direction is permissible", mu2, mu3);
    }
    if (e > most + CR_PERMISSIBLE_TOL * (1.0 + most)) {
        return cr_error_set(error, CR_ERR_REGION, "e",
                            "e: is %.12g, at most %.12g does not create energy with ratios (%g, %g)", e, most,
                            mu2, mu3);
    }
    crVec3 d = cr_vec3(1.0, mu2, mu3);
    *P = cr_scale(-(1.0 + e) * c->V.x / cr_sym3_mul(c->W, d).x, d);
    return CR_OK;
}

crStatus cr_region_to_brach(const crContact* c, crVec3 P, double* e, double* mu2, double* mu3,
                            crError* error) {
    if (c == NULL) return cr__missing(error, "c");
    if (e == NULL) return cr__missing(error, "e");
    if (mu2 == NULL) return cr__missing(error, "mu2");
    if (mu3 == NULL) return cr__missing(error, "mu3");
    *e = *mu2 = *mu3 = 0.0;
    crStatus status = check_permissible(c, P, error);
    if (status != CR_OK) return status;
    if (P.x == 0.0 && P.y == 0.0 && P.z == 0.0) return CR_OK;
    if (!(c->V.x < 0.0)) {
        return cr_error_set(error, CR_ERR_REGION, "V",
                            "V: does not approach (Vn = %g), so no e gives an impulse other than zero",
                            c->V.x);
    }
    if (!(P.x > 0.0)) {
        return cr_error_set(error, CR_ERR_REGION, "P", "P: has no normal part, so its ratios are infinite");
    }
    *mu2 = P.y / P.x;
    *mu3 = P.z / P.x;
    *e = fmax(0.0, -cr_impulse_V_plus(c, P).x / c->V.x);
    return CR_OK;
}
