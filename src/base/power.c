// power.c - logarithm, exponential and power from + - * / alone.
//
// log2 x = k + log2 m, m from sqrt(1/2) to sqrt(2):  ln m = 2 (z + z^3/3 + ...), z = (m - 1)/(m + 1), |z| < 0.172.
// 2^y = 2^k e^t, |t| <= ln(2)/2, by Taylor's series.
#include "base/power.h"

#include <math.h>

#define LN2 0.6931471805599453094

double cr__log2(double x) {
    int k;
    double m = frexp(x, &k);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        k--;
    }
    double z = (m - 1.0) / (m + 1.0);
    double square = z * z, sum = 0.0;
    for (int i = 21; i >= 1; i -= 2) {
        sum = sum * square + 1.0 / i;
    }
    return k + 2.0 * z * sum / LN2;
}

double cr__exp2(double y) {
    double k = floor(y + 0.5);
    double t = (y - k) * LN2, sum = 1.0;
    for (int i = 16; i >= 1; i--) {
        sum = 1.0 + sum * t / i;
    }
    return ldexp(sum, (int)k);
}

double cr__power(double x, double a) { return cr__exp2(a * cr__log2(x)); }
