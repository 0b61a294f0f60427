// region_rays.c - the basis in which the permissible region is a bundle of rays, and the ends of each ray.
//
// b0 = n/sqrt(Wnn); b1 and b2 have the eigenvectors of S = Wtt - wtn wtn^T/Wnn as tangential parts and the
// normal parts that make them orthogonal to n in W, so n.W P = sqrt(Wnn) x0 s. See region.h for the rest.
// Source: Chatterjee and Ruina 1998, section 3.2. Where S is singular its axis is scaled like b0 and w is 0.
// Fails: Wnn = 0 or Vn > 0, and Vn = 0 with nothing for friction to brake: there are no rays.
#include "impulse/region.h"

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

bool cr__rays(const crContact* c, bool planar, crRays* r) {
    const crSym3* W = &c->W;
    if (!(W->xx > 0.0) || c->V.x > 0.0) return false;
    double root = sqrt(W->xx);
    double axis[2][2] = {{1.0, 0.0}, {0.0, 1.0}};
    double sigma[2] = {W->yy - W->xy * W->xy / W->xx, W->zz};
    if (!planar) tangential_axes(W, axis, sigma);
    *r = (crRays){.nu = -c->V.x / root, .reach = cr_region_reach(c)};
    r->center = cr_vec3(-1.5 * c->V.x / W->xx, 0.0, 0.0);
    r->b[0] = cr_vec3(1.0 / root, 0.0, 0.0);
    r->gamma[0] = -r->nu;
    r->w[0] = 1.0;
    for (int i = 0; i < 2; i++) {
        double y = axis[i][0];
        double z = axis[i][1];
        // a regular W blocks nothing, however small sigma is
        double noise = 1e-14 * (y * y * W->yy + 2.0 * y * z * W->yz + z * z * W->zz);
        bool blocked = isfinite(r->reach) && !(sigma[i] > noise);
        double scale = blocked ? root : sqrt(fmax(sigma[i], 0.01 * noise));
        double normal = (W->xy * y + W->xz * z) / W->xx;
        r->w[i + 1] = blocked ? 0.0 : 1.0;
        r->b[i + 1] = cr_scale(1.0 / scale, cr_vec3(-normal, y, z));
        r->gamma[i + 1] = (c->V.y * y + c->V.z * z - normal * c->V.x) / scale;
        r->Omega[i + 1] = normal * root / scale;
        r->k[i + 1] = root / (c->mu * scale);
    }
    return r->nu > 0.0 || (c->mu > 0.0 && (c->V.y != 0.0 || c->V.z != 0.0));
}

void cr__ray_ends(const crRays* r, const double x[3], double* s0, double* s1) {
    double power = r->nu * x[0] - r->gamma[1] * x[1] - r->gamma[2] * x[2];
    double mass = x[0] * x[0] + r->w[1] * x[1] * x[1] + r->w[2] * x[2] * x[2];
    *s0 = r->nu > 0.0 ? r->nu / x[0] : 0.0;
    *s1 = 2.0 * power / mass;
    if (isfinite(r->reach)) {
        // |s d - center| = reach
        crVec3 d = cr_madd(cr_madd(cr_scale(x[0], r->b[0]), x[1], r->b[1]), x[2], r->b[2]);
        double dd = cr_dot(d, d);
        double along = cr_dot(d, r->center);
        double rest = (r->reach - r->center.x) * (r->reach + r->center.x);
        *s1 = fmin(*s1, (along + sqrt(fmax(0.0, along * along + dd * rest))) / dd);
    }
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
    crInterval a = cr__energy_interval(r->nu * r->w[1], r->gamma[1], -r->nu);
    double above = r->k[1] + r->Omega[1];
    double below = r->k[1] - r->Omega[1];
    if (above > 0.0) a.hi = fmin(a.hi, 1.0 / above);
    if (below > 0.0) a.lo = fmax(a.lo, -1.0 / below);
    if (isfinite(r->reach) && r->nu > 0.0) {
        // the end of the plane of maximum compression, nu (b0 + a b1), inside the cut-off
        crVec3 b1 = cr_scale(r->nu, r->b[1]);
        crVec3 from = cr_madd(cr_neg(r->center), r->nu, r->b[0]);
        double C = cr_dot(from, from) - r->reach * r->reach;
        crInterval cut = cr__energy_interval(cr_dot(b1, b1), cr_dot(b1, from), C);
        a = (crInterval){fmax(a.lo, cut.lo), fmin(a.hi, cut.hi)};
    }
    return a;
}
