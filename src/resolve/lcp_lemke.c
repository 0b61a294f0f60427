// lcp_lemke.c - Lemke's complementary pivoting on an explicit dictionary.
//
// Basic variables are written over the nonbasic ones, starting from w = q + M z + e z0. z0 enters first, then
// always the complement of what left; z0 leaving is a solution, nothing blocking is a ray. Ties are broken
// lexicographically (q perturbed by (eps, eps^2, ...), whose coefficients are the columns of w, explicit
// where w is nonbasic and unit where it is basic), so the path cannot cycle; z0 leaves first where it ties. A
// found basis whose z fails when put back into M z + q was reached through rounding: the dictionary is
// rebuilt there from M and the method goes on from it. Source: Lemke 1965; Cottle, Pang and Stone, 4.4, 4.9.
// Fails: RAY says nothing about existence unless M is copositive-plus (semidefinite, for one).
#include "lcp.h"

#include <string.h>

// What is rounding noise depends on the problem: small pivots may be all there is (nearly singular W) or
// nothing (long paths). The path is followed with one pair of tolerances after the other until it ends in a
// solution.
typedef struct Tolerance {
    double pivot;  // entries below this share of their column's largest are zero
    double tie;    // ratios and lexicographic entries closer than this are equal
} Tolerance;
static const Tolerance tolerances[] = {{1e-13, 1e-12}, {1e-11, 1e-11}, {1e-9, 1e-10}};

typedef struct Dictionary {
    size_t n;
    size_t stride;  // n + 2: columns of the nonbasic variables, then the constant
    double* T;      // (n*stride)
    int* basic;     // variable of each row (n); w_i is i, z_i is n + i, z0 is 2n
    int* nonbasic;  // variable of each column (n + 1)
    int* place;     // row of a basic variable, or -1 - column (2n + 1)
    Tolerance tol;
    double size;  // largest |q|
} Dictionary;

size_t cr__lemke_work(int n) { return (size_t)n * ((size_t)n + 2); }
size_t cr__lemke_iwork(int n) { return 5 * (size_t)n + 2; }

static void put(Dictionary* d, int variable, size_t row) {
    d->basic[row] = variable;
    d->place[variable] = (int)row;
}

static void put_out(Dictionary* d, int variable, size_t column) {
    d->nonbasic[column] = variable;
    d->place[variable] = -1 - (int)column;
}

static void start_lemke(Dictionary* d, const double* M, const double* q) {
    size_t n = d->n;
    double size = 0.0;
    for (size_t i = 0; i < n; i++) {
        double* row = d->T + i * d->stride;
        memcpy(row, M + i * n, n * sizeof(double));
        row[n] = 1.0;
        row[n + 1] = q[i];
        put(d, (int)i, i);
        put_out(d, (int)(n + i), i);
        size = fmax(size, fabs(q[i]));
    }
    put_out(d, (int)(2 * n), n);
    d->size = size;
}

// the variable of row r and the one of column c change places
static void exchange(Dictionary* d, size_t r, size_t c) {
    size_t width = d->stride;
    double* pivot_row = d->T + r * width;
    double inverse = 1.0 / pivot_row[c];
    for (size_t k = 0; k < width; k++) {
        pivot_row[k] *= -inverse;
    }
    pivot_row[c] = inverse;
    for (size_t i = 0; i < d->n; i++) {
        if (i == r) continue;
        double* row = d->T + i * width;
        double f = row[c];
        if (f == 0.0) continue;
        row[c] = 0.0;
        for (size_t k = 0; k < width; k++) {
            row[k] += f * pivot_row[k];
        }
    }
    int out = d->basic[r];
    put(d, d->nonbasic[c], r);
    put_out(d, out, c);
}

// coefficient of eps^(j+1) in the constant of row i
static double perturbation(const Dictionary* d, size_t i, size_t j) {
    int place = d->place[j];
    if (place >= 0) return (size_t)place == i ? 1.0 : 0.0;
    return -d->T[i * d->stride + (size_t)(-1 - place)];
}

// true where row a leaves before row b, both tied in their constant; column c enters
static bool lexicographically_first(const Dictionary* d, size_t a, size_t b, size_t c) {
    double pa = -d->T[a * d->stride + c];
    double pb = -d->T[b * d->stride + c];
    for (size_t j = 0; j < d->n; j++) {
        double x = perturbation(d, a, j) / pa;
        double y = perturbation(d, b, j) / pb;
        if (fabs(x - y) > d->tol.tie * (1.0 + fabs(x) + fabs(y))) return x < y;
    }
    return pa > pb;
}

// constants closer to zero than this are zero: large z leave their rounding in every other row
static double zero_of(const Dictionary* d) {
    double largest = 0.0;
    for (size_t i = 0; i < d->n; i++) {
        largest = fmax(largest, fabs(d->T[i * d->stride + d->n + 1]));
    }
    return d->tol.tie * d->size + 1e-15 * largest;
}

// the row that blocks column c first, or n where none does
static size_t blocking_row(const Dictionary* d, size_t c) {
    size_t n = d->n;
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(d->T[i * d->stride + c]));
    }
    double noise = d->tol.pivot * largest;
    double step = (double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        double slope = -d->T[i * d->stride + c];
        if (slope > noise) step = fmin(step, fmax(0.0, d->T[i * d->stride + n + 1]) / slope);
    }
    size_t best = n;
    double zero = zero_of(d);
    for (size_t i = 0; i < n; i++) {
        double slope = -d->T[i * d->stride + c];
        if (!(slope > noise)) continue;
        double constant = fmax(0.0, d->T[i * d->stride + n + 1]);
        if (constant - step * slope > zero + 1e-14 * constant) continue;
        if (d->basic[i] == (int)(2 * n)) return i;
        if (best == n || lexicographically_first(d, i, best, c)) best = i;
    }
    return best;
}

// the most negative constant, the last of them on ties; n where all are >= 0
static size_t most_negative(const Dictionary* d) {
    size_t worst = d->n;
    double value = -zero_of(d);
    for (size_t i = 0; i < d->n; i++) {
        double constant = d->T[i * d->stride + d->n + 1];
        if (constant < value || (worst < d->n && constant <= value)) {
            worst = i;
            value = constant;
        }
    }
    return worst;
}

// z0 enters where it is nonbasic: its column may have been changed by rebuilding, so it is set to cover
static void cover(Dictionary* d) {
    size_t c = (size_t)(-1 - d->place[2 * d->n]);
    for (size_t i = 0; i < d->n; i++) {
        d->T[i * d->stride + c] = 1.0;
    }
}

static void read_solution(const Dictionary* d, double* z) {
    size_t n = d->n;
    for (size_t i = 0; i < n; i++) {
        int place = d->place[n + i];
        z[i] = place >= 0 ? fmax(0.0, d->T[(size_t)place * d->stride + n + 1]) : 0.0;
    }
}

static void read_basis(const Dictionary* d, unsigned char* basic) {
    for (size_t i = 0; i < d->n; i++) {
        basic[i] = d->place[d->n + i] >= 0;
    }
}

static void read_ray(const Dictionary* d, size_t entering, double* ray) {
    size_t n = d->n;
    for (size_t i = 0; i < n; i++) {
        int place = d->place[n + i];
        double along = place >= 0 ? d->T[(size_t)place * d->stride + entering] : 0.0;
        ray[i] = place == -1 - (int)entering ? 1.0 : fmax(0.0, along);
    }
}

// from a complementary dictionary to the next one with all constants >= 0
static crOutcome follow_path(Dictionary* d, int max_pivots, double* ray, int* pivots) {
    int n = (int)d->n;
    size_t r = most_negative(d);
    if (r == d->n) return CR_OUTCOME_SOLVED;
    cover(d);
    size_t c = (size_t)(-1 - d->place[2 * n]);
    while (*pivots < max_pivots) {
        int leaving = d->basic[r];
        exchange(d, r, c);
        (*pivots)++;
        if (leaving == 2 * n) return CR_OUTCOME_SOLVED;
        c = (size_t)(-1 - d->place[leaving < n ? leaving + n : leaving - n]);
        r = blocking_row(d, c);
        if (r == d->n) {
            if (ray != NULL) read_ray(d, c, ray);
            return CR_OUTCOME_RAY;
        }
    }
    return CR_OUTCOME_LIMIT;
}

// the dictionary with these z basic, computed from M with the largest pivots first; false where it is
// singular
static bool rebuild(Dictionary* d, const double* M, const double* q, const unsigned char* wanted) {
    size_t n = d->n;
    start_lemke(d, M, q);
    for (;;) {
        size_t r = n, c = n;
        double largest = 0.0;
        bool left = false;
        for (size_t j = 0; j < n; j++) {
            if (!wanted[j] || d->place[n + j] >= 0) continue;
            left = true;
            size_t column = (size_t)(-1 - d->place[n + j]);
            for (size_t i = 0; i < n; i++) {
                // only rows whose w belongs out may leave
                int w = d->basic[i];
                if (w >= (int)n || !wanted[w] || fabs(d->T[i * d->stride + column]) <= largest) continue;
                largest = fabs(d->T[i * d->stride + column]);
                r = i;
                c = column;
            }
        }
        if (!left) return true;
        if (!(largest > 1e-13)) return false;
        exchange(d, r, c);
    }
}

// one path, corrected where rounding led it to a basis that does not hold
static crOutcome attempt(Dictionary* d, const double* M, const double* q, int max_pivots,
                         unsigned char* basic, double* z, double* ray, int* pivots) {
    start_lemke(d, M, q);
    for (int correction = 0; correction < 4; correction++) {
        crOutcome outcome = follow_path(d, max_pivots, ray, pivots);
        read_solution(d, z);
        if (outcome != CR_OUTCOME_SOLVED) return outcome;
        if (cr__lcp_residual(M, q, (int)d->n, 0, z) <= 10.0 * d->tol.tie * d->size) return outcome;
        read_basis(d, basic);
        if (!rebuild(d, M, q, basic)) break;
        if (most_negative(d) == d->n) {
            read_solution(d, z);
            return CR_OUTCOME_SOLVED;
        }
    }
    return CR_OUTCOME_STALLED;
}

static Dictionary dictionary(int n, double* work, int* iwork) {
    Dictionary d = {.n = (size_t)n, .stride = (size_t)n + 2, .T = work};
    d.basic = iwork;
    d.nonbasic = d.basic + n;
    d.place = d.nonbasic + n + 1;
    return d;
}

crOutcome cr__lemke_correct(const double* M, const double* q, int n, int max_pivots, double* work, int* iwork,
                            double* z, unsigned char* basic, int* pivots) {
    Dictionary d = dictionary(n, work, iwork);
    d.tol = (Tolerance){1e-13, 1e-15};
    if (!rebuild(&d, M, q, basic)) return CR_OUTCOME_STALLED;
    crOutcome outcome = follow_path(&d, max_pivots, NULL, pivots);
    read_solution(&d, z);
    read_basis(&d, basic);
    return outcome;
}

crOutcome cr__lemke(const double* M, const double* q, int n, int max_pivots, double* work, int* iwork,
                    double* z, unsigned char* basic, double* ray, int* pivots) {
    Dictionary d = dictionary(n, work, iwork);
    unsigned char* marks = (unsigned char*)(d.place + 2 * n + 1);
    crOutcome outcome = CR_OUTCOME_STALLED;
    *pivots = 0;
    for (size_t k = 0; k < sizeof tolerances / sizeof tolerances[0]; k++) {
        d.tol = tolerances[k];
        outcome = attempt(&d, M, q, max_pivots, marks, z, ray, pivots);
        if (outcome == CR_OUTCOME_SOLVED || outcome == CR_OUTCOME_LIMIT) break;
    }
    if (basic != NULL) read_basis(&d, basic);
    return outcome;
}
