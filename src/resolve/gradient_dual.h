// gradient_dual.h - numbers that carry their derivatives: the inputs of a closed law, then its unknowns.
#ifndef CAROM_RESOLVE_GRADIENT_DUAL_H
#define CAROM_RESOLVE_GRADIENT_DUAL_H

#include "carom/resolve.h"

#define CR__CLOSED_INPUTS (CR_BY_ETA2 + 1)  // inputs that closed laws read; the columns of n stay empty
#define CR__UNKNOWNS      6
#define CR__COLUMNS       (CR__CLOSED_INPUTS + CR__UNKNOWNS)

typedef struct cr__Dual {
    double v;
    double d[CR__COLUMNS];
} cr__Dual;

static inline cr__Dual cr__dual(double v) { return (cr__Dual){.v = v}; }
// The input or unknown of a column.
static inline cr__Dual cr__variable(double v, int column) {
    cr__Dual r = {.v = v};
    r.d[column] = 1.0;
    return r;
}
// a p + b q with plain weights p and q
static inline cr__Dual cr__blend(cr__Dual a, double p, cr__Dual b, double q) {
    cr__Dual r = {.v = p * a.v + q * b.v};
    for (int i = 0; i < CR__COLUMNS; i++) {
        r.d[i] = p * a.d[i] + q * b.d[i];
    }
    return r;
}
static inline cr__Dual cr__plus(cr__Dual a, cr__Dual b) { return cr__blend(a, 1.0, b, 1.0); }
static inline cr__Dual cr__minus(cr__Dual a, cr__Dual b) { return cr__blend(a, 1.0, b, -1.0); }
static inline cr__Dual cr__times(cr__Dual a, cr__Dual b) {
    cr__Dual r = cr__blend(a, b.v, b, a.v);
    r.v = a.v * b.v;
    return r;
}
static inline cr__Dual cr__over(cr__Dual a, cr__Dual b) {
    double v = a.v / b.v;
    cr__Dual r = cr__blend(a, 1.0 / b.v, b, -v / b.v);
    r.v = v;
    return r;
}
static inline cr__Dual cr__scaled(double s, cr__Dual a) { return cr__blend(a, s, a, 0.0); }
// The square root of a > 0.
static inline cr__Dual cr__root(cr__Dual a) {
    double v = sqrt(a.v);
    cr__Dual r = cr__blend(a, 0.5 / v, a, 0.0);
    r.v = v;
    return r;
}
// a + s b with a plain weight s
static inline cr__Dual cr__more(cr__Dual a, double s, cr__Dual b) { return cr__blend(a, 1.0, b, s); }
// |(y, z)|; the derivative at zero is taken as zero
static inline cr__Dual cr__length(cr__Dual y, cr__Dual z) {
    double v = sqrt(y.v * y.v + z.v * z.v);
    cr__Dual r = v > 0.0 ? cr__blend(y, y.v / v, z, z.v / v) : cr__dual(0.0);
    r.v = v;
    return r;
}

#endif
