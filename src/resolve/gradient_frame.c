// gradient_frame.c - what an input of the collision does to the contact in its frame.
//
// From the contact frame F to the user's coordinates, for a change dW, dV, dn of an input:
//     dF = F T, T skew:  dn = F (0, a, b),  spin from dV'_z = 0 where t1 is against the slip
//     dW' = F^T dW F + W' T - T W',   dV' = F^T dV - T V'
// In a flat contact (two-dimensional input) only the parts within the plane count.
#include "gradient.h"

const crLawParams* cr__point_params(const cr__Point* p, crLawParams* defaults) {
    *defaults = cr_law_params();
    return p->law->params != NULL ? p->law->params : defaults;
}

double cr__point_scale(const cr__Point* p, int k) {
    crLawParams defaults;
    const crContact* c = &p->contact;
    double trace = c->W.xx + c->W.yy + c->W.zz;
    double speed = cr_norm(c->V);
    if (k <= CR_BY_WZZ) return trace / 3.0;
    if (k <= CR_BY_VZ) return speed > 0.0 ? speed : 1.0;
    if (k == CR_BY_MU) return c->mu > 0.0 && isfinite(c->mu) ? c->mu : 1.0;
    if (k == CR_BY_ETA2) return cr__point_params(p, &defaults)->eta2;
    if (k < CR_BY_WISH_X || k > CR_BY_WISH_Z) return 1.0;
    double wish = cr_norm(cr__point_params(p, &defaults)->wish);
    return wish > 0.0 ? wish : fmax(speed, 1e-300) / trace;
}

// x without its part along t2, where only the plane counts
static crVec3 in_plane(const cr__Point* p, crVec3 x) {
    crVec3 t2 = cr_mat3_column(p->frame, 2);
    return p->flat ? cr_madd(x, -cr_dot(t2, x), t2) : x;
}

static crVec3 unit_vector(int axis) { return cr_vec3(axis == 0, axis == 1, axis == 2); }

// Change of W per unit of input k, as a product a b^T + b a^T; zero for other inputs.
crMat3 cr__point_dW(const cr__Point* p, int k) {
    static const int rows[] = {0, 0, 0, 1, 1, 2}, columns[] = {0, 1, 2, 1, 2, 2};
    crMat3 dW = {0};
    if (k > CR_BY_WZZ) return dW;
    crVec3 a = in_plane(p, unit_vector(rows[k]));
    crVec3 b = in_plane(p, unit_vector(columns[k]));
    double half = rows[k] == columns[k] ? 0.5 : 1.0;
    const double u[3] = {a.x, a.y, a.z}, v[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            dW.m[i][j] = half * (u[i] * v[j] + v[i] * u[j]);
        }
    }
    return dW;
}

crVec3 cr__point_dvector(const cr__Point* p, int k, int first) {
    bool within = k >= first && k < first + 3;
    return within ? in_plane(p, unit_vector(k - first)) : cr_vec3(0, 0, 0);
}

static void turn_normal(const cr__Point* p, crVec3 dn, crCollision* out) {
    crVec3 n = cr_add(cr_mat3_column(p->frame, 0), dn);
    n = cr_scale(1.0 / cr_norm(n), n);
    out->n = n;
    out->normalize = true;
    if (!out->has_frame) return;
    crVec3 t1 = cr_mat3_column(p->frame, 1), t2 = cr_mat3_column(p->frame, 2);
    t1 = cr_madd(t1, -cr_dot(n, t1), n);
    t1 = cr_scale(1.0 / cr_norm(t1), t1);
    t2 = cr_madd(cr_madd(t2, -cr_dot(n, t2), n), -cr_dot(t1, t2), t1);
    out->frame = cr_mat3_columns(n, t1, cr_scale(1.0 / cr_norm(t2), t2));
}

void cr__point_shift(const cr__Point* p, int k, double h, crCollision* out) {
    crMat3 dW = cr__point_dW(p, k);
    *out = *p->collision;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out->W.m[i][j] += h * dW.m[i][j];
        }
    }
    out->V = cr_madd(out->V, h, cr__point_dvector(p, k, CR_BY_VX));
    if (k >= CR_BY_NX && k <= CR_BY_NZ) turn_normal(p, cr_scale(h, cr__point_dvector(p, k, CR_BY_NX)), out);
    if (k == CR_BY_MU) out->mu += h;
    if (k == CR_BY_E) out->e += h;
    if (k == CR_BY_ET) out->et += h;
}

crVec3 cr__turned(const cr__Change* t, crVec3 x) {
    return cr_vec3(-t->a * x.y - t->b * x.z, t->a * x.x - t->spin * x.z, t->b * x.x + t->spin * x.y);
}

cr__Change cr__point_change(const cr__Point* p, int k, double slope) {
    cr__Change t = {0};
    if (k >= CR_BY_MU) {
        if (k < CR__CLOSED_INPUTS) t.by[k] = 1.0;
        return t;
    }
    const crContact* c = &p->contact;
    crSym3 W = cr_sym3_in_frame(cr_mat3_symmetric(cr__point_dW(p, k)), p->frame);
    crVec3 V = cr_mat3_mul_t(p->frame, cr__point_dvector(p, k, CR_BY_VX));
    crVec3 n = cr_mat3_mul_t(p->frame, cr__point_dvector(p, k, CR_BY_NX));
    t.a = n.y;
    t.b = n.z;
    bool follows = !p->collision->has_frame && fabs(c->V.y) > 1e-13 * cr_norm(c->V);
    if (follows) t.spin = (V.z - t.b * c->V.x) / c->V.y;
    crMat3 full = cr_sym3_full(c->W);
    // columns of W T - T W
    crVec3 col[3];
    const crVec3 axes[3] = {cr__turned(&t, cr_vec3(1, 0, 0)), cr__turned(&t, cr_vec3(0, 1, 0)),
                            cr__turned(&t, cr_vec3(0, 0, 1))};
    for (int j = 0; j < 3; j++) {
        col[j] = cr_sub(cr_mat3_mul(full, axes[j]), cr__turned(&t, cr_mat3_column(full, j)));
    }
    V = cr_sub(V, cr__turned(&t, c->V));
    const double by[] = {W.xx + col[0].x,
                         W.xy + col[1].x,
                         W.xz + col[2].x,
                         W.yy + col[1].y,
                         W.yz + col[2].y,
                         W.zz + col[2].z,
                         V.x,
                         V.y,
                         V.z};
    for (int i = 0; i <= CR_BY_VZ; i++) {
        t.by[i] = by[i];
    }
    t.by[CR_BY_E] = -slope * V.x;
    return t;
}

cr__DualContact cr__point_contact(const cr__Point* p) {
    crLawParams defaults;
    const crLawParams* params = cr__point_params(p, &defaults);
    cr__DualContact d = {.c = p->contact};
    d.c.V.x = fmin(d.c.V.x, 0.0);
    if (p->flat) {
        // the plane knows nothing of t2: any mass will do
        d.c.W.xz = d.c.W.yz = d.c.V.z = 0.0;
        d.c.W.zz = d.c.W.yy;
    }
    const crSym3* W = &d.c.W;
    d.xx = cr__variable(W->xx, CR_BY_WXX);
    d.xy = cr__variable(W->xy, CR_BY_WXY);
    d.xz = cr__variable(W->xz, CR_BY_WXZ);
    d.yy = cr__variable(W->yy, CR_BY_WYY);
    d.yz = cr__variable(W->yz, CR_BY_WYZ);
    d.zz = cr__variable(W->zz, CR_BY_WZZ);
    d.V[0] = cr__variable(d.c.V.x, CR_BY_VX);
    d.V[1] = cr__variable(d.c.V.y, CR_BY_VY);
    d.V[2] = cr__variable(d.c.V.z, CR_BY_VZ);
    d.mu = cr__variable(d.c.mu, CR_BY_MU);
    d.e = cr__variable(d.c.e, CR_BY_E);
    d.et = cr__variable(d.c.et, CR_BY_ET);
    // a law of the user has other parameters, and comes here as none of these
    d.nu = cr__variable(params->nu, CR_BY_NU);
    d.mu2 = cr__variable(params->mu2, CR_BY_MU2);
    d.mu3 = cr__variable(params->mu3, CR_BY_MU3);
    d.eta2 = cr__variable(params->eta2, CR_BY_ETA2);
    d.ending = params->ending;
    d.directions = params->directions;
    return d;
}

void cr__gradient_none(crGradient* out) {
    out->verdict = CR_NO_DERIVATIVE;
    out->distance = 0.0;
    for (int k = 0; k < CR_LAW_INPUTS; k++) {
        crVec3 none = {(double)NAN, (double)NAN, (double)NAN};
        if (out->reads[k]) out->P_minus[k] = out->P_plus[k] = none;
    }
}
