// sym3.c - eigenvalues and solves for symmetric 3x3 matrices, singular ones included.
//
// Eigen: cyclic Jacobi rotations (Golub and Van Loan, 8.5), which find small eigenvalues to rounding of the
// largest one. Solve: L D L^T when every pivot keeps more than rounding noise of its diagonal entry;
// otherwise the pseudo-inverse from the eigenvectors, which gives the least-norm solution and tells whether
// there is one. Fails: a right side outside the range of a singular matrix is reported by returning false.
#include "carom/vec.h"

#define PIVOT_NOISE 1e-14  // a pivot below this share of its diagonal entry is rounding
#define RANGE_TOL   1e-9   // share of b outside the range that still counts as inside

// One Jacobi rotation that zeroes a[p][q], accumulated into v.
static void jacobi_rotate(double a[3][3], double v[3][3], int p, int q) {
    if (a[p][q] == 0.0) return;
    double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    double t = isfinite(theta * theta) ? copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0))
                                       : 0.5 / theta;
    double c = 1.0 / sqrt(t * t + 1.0);
    double s = t * c;
    int r = 3 - p - q;
    double apq = a[p][q], arp = a[r][p], arq = a[r][q];
    a[p][p] -= t * apq;
    a[q][q] += t * apq;
    a[p][q] = a[q][p] = 0.0;
    a[r][p] = a[p][r] = c * arp - s * arq;
    a[r][q] = a[q][r] = s * arp + c * arq;
    for (int i = 0; i < 3; i++) {
        double vip = v[i][p], viq = v[i][q];
        v[i][p] = c * vip - s * viq;
        v[i][q] = s * vip + c * viq;
    }
}

void cr_sym3_eigen(crSym3 s, double values[3], crMat3* axes) {
    if (values == NULL || axes == NULL) return;
    double a[3][3] = {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < 12; sweep++) {
        double off = fabs(a[0][1]) + fabs(a[0][2]) + fabs(a[1][2]);
        double diagonal = fabs(a[0][0]) + fabs(a[1][1]) + fabs(a[2][2]);
        if (!(off > 1e-300 + 1e-20 * diagonal)) break;
        jacobi_rotate(a, v, 0, 1);
        jacobi_rotate(a, v, 0, 2);
        jacobi_rotate(a, v, 1, 2);
    }
    // ascending order
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2 - i; j++) {
            if (a[order[j]][order[j]] > a[order[j + 1]][order[j + 1]]) {
                int swap = order[j];
                order[j] = order[j + 1];
                order[j + 1] = swap;
            }
        }
    }
    crVec3 column[3];
    for (int k = 0; k < 3; k++) {
        values[k] = a[order[k]][order[k]];
        column[k] = cr_vec3(v[0][order[k]], v[1][order[k]], v[2][order[k]]);
    }
    // right-handed
    if (cr_dot(cr_cross(column[0], column[1]), column[2]) < 0.0) column[2] = cr_neg(column[2]);
    *axes = cr_mat3_columns(column[0], column[1], column[2]);
}

// L D L^T of S; false where a pivot is noise.
typedef struct Ldl {
    double d1, d2, d3, l21, l31, l32;
} Ldl;

static bool factor(crSym3 s, Ldl* f) {
    f->d1 = s.xx;
    if (!(f->d1 > 0.0)) return false;
    f->l21 = s.xy / f->d1;
    f->l31 = s.xz / f->d1;
    f->d2 = s.yy - f->l21 * s.xy;
    if (!(f->d2 > PIVOT_NOISE * s.yy)) return false;
    double a32 = s.yz - f->l31 * s.xy;
    f->l32 = a32 / f->d2;
    f->d3 = s.zz - f->l31 * s.xz - f->l32 * a32;
    // rounding of d2 comes back here magnified by l32
    return f->d3 > PIVOT_NOISE * (s.zz + f->l32 * f->l32 * s.yy);
}

static crVec3 factor_solve(const Ldl* f, crVec3 b) {
    double y1 = b.x;
    double y2 = b.y - f->l21 * y1;
    double y3 = b.z - f->l31 * y1 - f->l32 * y2;
    double z = y3 / f->d3;
    double y = y2 / f->d2 - f->l32 * z;
    double x = y1 / f->d1 - f->l21 * y - f->l31 * z;
    return cr_vec3(x, y, z);
}

bool cr_sym3_solve(crSym3 s, crVec3 b, crVec3* x) {
    if (x == NULL) return false;
    Ldl f;
    if (factor(s, &f)) {
        *x = factor_solve(&f, b);
        return cr_vec3_finite(*x);
    }
    double values[3];
    crMat3 axes;
    cr_sym3_eigen(s, values, &axes);
    double largest = fmax(fabs(values[0]), fabs(values[2]));
    double outside = 0.0;
    *x = cr_vec3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        crVec3 axis = cr_mat3_column(axes, k);
        double component = cr_dot(axis, b);
        if (values[k] > PIVOT_NOISE * largest) {
            *x = cr_madd(*x, component / values[k], axis);
        } else {
            outside += component * component;
        }
    }
    return sqrt(outside) <= RANGE_TOL * cr_norm(b);
}

bool cr_sym3_invert(crSym3 s, crSym3* inverse) {
    if (inverse == NULL) return false;
    Ldl f;
    if (!factor(s, &f)) return false;
    crVec3 x = factor_solve(&f, cr_vec3(1, 0, 0));
    crVec3 y = factor_solve(&f, cr_vec3(0, 1, 0));
    crVec3 z = factor_solve(&f, cr_vec3(0, 0, 1));
    *inverse = (crSym3){x.x, y.x, z.x, y.y, z.y, z.z};
    return true;
}

bool cr_sym3_is_psd(crSym3 s) {
    const double tol = 1e-10;
    if (!(s.xx >= 0.0 && s.yy >= 0.0 && s.zz >= 0.0)) return false;
    // all principal minors, each against the product of diagonal entries it is a difference from
    double xy = s.xx * s.yy, xz = s.xx * s.zz, yz = s.yy * s.zz;
    if (xy - s.xy * s.xy < -tol * xy || xz - s.xz * s.xz < -tol * xz || yz - s.yz * s.yz < -tol * yz)
        return false;
    double det =
        s.xx * (yz - s.yz * s.yz) - s.xy * (s.xy * s.zz - s.yz * s.xz) + s.xz * (s.xy * s.yz - s.yy * s.xz);
    return det >= -tol * s.xx * yz;
}
