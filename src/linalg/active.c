// active.c - adding and removing rows of a Cholesky factor.
//
// Adding solves L l = a for the new row, l_ii^2 = a_ii - l.l. Removing row k leaves the rows below with one
// entry too many each, turned away by plane rotations of neighbouring columns (Golub and Van Loan, 6.5.4).
// Fails: a new row that depends on those there has no pivot left and is refused.
#include "active.h"

#include <math.h>
#include <stddef.h>

double cr__dot(const double* a, const double* b, int n) {
    double s[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) {
            s[k] += a[i + k] * b[i + k];
        }
    }
    for (; i < n; i++) {
        s[0] += a[i] * b[i];
    }
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

bool cr__active_add(crActive* active, int i, double tol, double* pivot) {
    size_t n = (size_t)active->n;
    int count = active->count;
    const double* a = active->A + (size_t)i * n;
    double* l = active->L + (size_t)count * n;
    for (int j = 0; j < count; j++) {
        const double* Lj = active->L + (size_t)j * n;
        l[j] = (a[active->index[j]] - cr__dot(Lj, l, j)) / Lj[j];
    }
    double diagonal = a[i] + active->shift;
    *pivot = diagonal - cr__dot(l, l, count);
    if (!(*pivot > tol * diagonal) || !isfinite(*pivot)) return false;
    l[count] = sqrt(*pivot);
    active->index[count] = i;
    active->count++;
    return true;
}

void cr__active_remove(crActive* active, int position) {
    size_t n = (size_t)active->n;
    double* cosine = active->turns;
    double* sine = active->turns + n;
    for (int i = position + 1; i < active->count; i++) {
        // row i moves up to i - 1; entries from `position` on are turned by the rotations found so far
        const double* from = active->L + (size_t)i * n;
        double* to = active->L + (size_t)(i - 1) * n;
        for (int j = 0; j < position; j++) {
            to[j] = from[j];
        }
        double carried = from[position];
        for (int j = position; j < i - 1; j++) {
            double next = from[j + 1];
            to[j] = cosine[j] * carried + sine[j] * next;
            carried = cosine[j] * next - sine[j] * carried;
        }
        double last = from[i];
        double r = sqrt(carried * carried + last * last);
        cosine[i - 1] = carried / r;
        sine[i - 1] = last / r;
        to[i - 1] = r;
        active->index[i - 1] = active->index[i];
    }
    active->count--;
}

void cr__active_solve(const crActive* active, double* x) {
    size_t n = (size_t)active->n;
    for (int i = 0; i < active->count; i++) {
        const double* Li = active->L + (size_t)i * n;
        x[i] = (x[i] - cr__dot(Li, x, i)) / Li[i];
    }
    for (int i = active->count - 1; i >= 0; i--) {
        const double* Li = active->L + (size_t)i * n;
        x[i] /= Li[i];
        double xi = x[i];
        for (int k = 0; k < i; k++) {
            x[k] -= Li[k] * xi;
        }
    }
}
