// compensated.c - dot product with errors carried along (Ogita, Rump and Oishi 2005, algorithm Dot2).
//
// Each product is split exactly into rounded value and error (Dekker 1971), each sum likewise (Knuth); the
// errors are added up apart and joined at the end. Used for residuals in iterative refinement, where plain
// sums would stop one or two digits early. Fails: entries above 1e300 overflow in the split and give NaN.
#include "compensated.h"

static void split(double a, double* high, double* low) {
    double c = 134217729.0 * a;  // 2^27 + 1
    *high = c - (c - a);
    *low = a - *high;
}

double cr__dot_compensated(double c, const double* a, const double* x, int n) {
    double sum = c;
    double error = 0.0;
    for (int i = 0; i < n; i++) {
        double product = a[i] * x[i];
        double ah, al, xh, xl;
        split(a[i], &ah, &al);
        split(x[i], &xh, &xl);
        double product_error = al * xl - (((product - ah * xh) - al * xh) - ah * xl);
        double next = sum + product;
        double part = next - sum;
        double sum_error = (sum - (next - part)) + (product - part);
        sum = next;
        error += product_error + sum_error;
    }
    return sum + error;
}
