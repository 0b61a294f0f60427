// region_rays.c - the basis in which the permissible region is a bundle of rays, and the ends of each ray.
//
// b0 = n/sqrt(Wnn); b1 and b2 have the eigenvectors of S = Wtt - wtn wtn^T/Wnn as tangential parts and the
// normal parts that make them orthogonal to n in W, so n.W P = sqrt(Wnn) x0 s. See region.h for the rest.
// Source: Chatterjee and Ruina 1998, section 3.2. Fails: Wnn = 0 or Vn > 0, and Vn = 0 with nothing for
// friction to brake: there are no rays.
#include "impulse/region.h"

#include "impulse/rank.h"

#define CUT_OFF 1e-4   // in units of trace W: an endless region reaches 100 times as far as along the others
#define BALANCE 1e-11  // likewise, where the cone is the end: as much as rounding costs if there were nothing

// eigenvectors and eigenvalues of S
static void tangential_axes(const crSym3* W, double axis[2][2], double sigma[2]) {
    double yy = W->yy - W->xy * W->xy / W->xx;
    double yz = W->yz - W->xy * W->xz / W->xx;
    double zz = W->zz - W->xz * W->xz / W->xx;
    double t = 0.0;
    if (yz != 0.0) {
        double theta = (zz - yy) / (2.0 * yz);
        t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
    }
    // the stiffer axis first: it is integrated last, in pieces
    int first = zz + t * yz > yy - t * yz ? 1 : 0;
    double cosine = 1.0 / sqrt(t * t + 1.0);
    double sine = t * cosine;
    axis[first][0] = axis[1 - first][1] = cosine;
    axis[first][1] = -sine;
    axis[1 - first][0] = sine;
    sigma[first] = yy - t * yz;
    sigma[1 - first] = zz + t * yz;
}

crContact cr__region_contact(const crContact* c) {
    crContact bounded = *c;
    crSym3* W = &bounded.W;
    if (cr__normal_blocked(c)) return bounded;
    double axis[2][2];
    double sigma[2];
    bool blocked[2];
    double slope = 0.0;  // squared, of the blocked directions against the tangent plane
    double rounding = cr__schur(W).rounding;
    tangential_axes(&c->W, axis, sigma);
    for (int i = 0; i < 2; i++) {
        double y = axis[i][0];
        double z = axis[i][1];
        blocked[i] = !(sigma[i] > rounding);
        double normal = (c->W.xy * y + c->W.xz * z) / c->W.xx;
        if (blocked[i]) slope += normal * normal;
    }
    // a blocked direction inside the cone has no end of its own
    double raise = c->mu * c->mu * slope < 0.999 && !isinf(c->mu) ? BALANCE : CUT_OFF;
    // W x is zero along x = (-omega.e, e), of squared length 1 + slope
    raise *= cr_sym3_trace(c->W) * (1.0 + slope);
    for (int i = 0; i < 2; i++) {
        if (!blocked[i]) continue;
        W->yy += raise * axis[i][0] * axis[i][0];
        W->yz += raise * axis[i][0] * axis[i][1];
        W->zz += raise * axis[i][1] * axis[i][1];
    }
    return bounded;
}

bool cr__rays(const crContact* c, bool planar, crRays* r) {
    const crSym3* W = &c->W;
    if (cr__normal_blocked(c) || c->V.x > 0.0) return false;
    double root = sqrt(W->xx);
    double axis[2][2] = {{1.0, 0.0}, {0.0, 1.0}};
    double sigma[2] = {W->yy - W->xy * W->xy / W->xx, W->zz};
    if (!planar) tangential_axes(W, axis, sigma);
    *r = (crRays){.nu = -c->V.x / root};
    r->b[0] = cr_vec3(1.0 / root, 0.0, 0.0);
    r->gamma[0] = -r->nu;
    for (int i = 0; i < 2; i++) {
        double y = axis[i][0];
        double z = axis[i][1];
        // sigma may be all rounding
        double along = y * y * W->yy + 2.0 * y * z * W->yz + z * z * W->zz;
        double scale = sqrt(fmax(sigma[i], 0x1p-53 * along));
        double normal = (W->xy * y + W->xz * z) / W->xx;
        r->b[i + 1] = cr_scale(1.0 / scale, cr_vec3(-normal, y, z));
        r->gamma[i + 1] = (c->V.y * y + c->V.z * z - normal * c->V.x) / scale;
        r->Omega[i + 1] = normal * root / scale;
        r->k[i + 1] = root / (c->mu * scale);
    }
    return r->nu > 0.0 || (c->mu > 0.0 && (c->V.y != 0.0 || c->V.z != 0.0));
}

crInterval cr__energy_interval(double A, double B, double C) {
    const crInterval nothing = {1.0, -1.0};
    double infinite = (double)INFINITY;
    if (!(A > 0.0)) {
        if (B == 0.0) return C <= 0.0 ? (crInterval){-infinite, infinite} : nothing;
        double end = -0.5 * C / B;
        return B > 0.0 ? (crInterval){-infinite, end} : (crInterval){end, infinite};
    }
    double disc = B * B - A * C;
    if (disc < 0.0) return nothing;
    double q = fabs(B) + sqrt(disc);
    if (B > 0.0) return (crInterval){-q / A, -C / q};
    return q > 0.0 ? (crInterval){C / q, q / A} : (crInterval){0.0, 0.0};
}

crInterval cr__planar_range(const crRays* r) {
    crInterval a = cr__energy_interval(r->nu, r->gamma[1], -r->nu);
    double above = r->k[1] + r->Omega[1];
    double below = r->k[1] - r->Omega[1];
    if (above > 0.0) a.hi = fmin(a.hi, 1.0 / above);
    if (below > 0.0) a.lo = fmax(a.lo, -1.0 / below);
    return a;
}
