// space_use.c - products and factorizations in an island's space, and the residual and backward error of x.
//
// Fails: cr__space_factor returns false if A(G) is singular.
#include "space.h"

#include <string.h>

#define SOFT 30.0  // stiffness of an impulse within its room, in units of 1 / weight

void cr__space_to(const crSpace* s, const double* p, double* x) {
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        for (int a = 0; a < unit->count; a++) {
            double E = s->E[unit->row + a], value = E > 0.0 ? p[unit->source + a] / E : 0.0;
            x[unit->row + a] = isfinite(value) ? value : 0.0;
        }
    }
}

void cr__space_from(const crSpace* s, const double* x, double* p) {
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        for (int a = 0; a < unit->count; a++) {
            p[unit->source + a] = s->E[unit->row + a] * x[unit->row + a];
        }
    }
}

// True for a contact with a free body: three rows of six velocities. The functions named 3_6 compute this
// case with loops of fixed length.
static bool three_by_six(const crUnit* unit, const crTouch* touch) {
    return unit->count == 3 && touch->size == 6;
}

// to += H^T x, H: 3 x 6
static void gather_3_6(double* restrict to, const double* restrict H, const double* restrict x) {
    for (int j = 0; j < 6; j++) {
        to[j] += (H[j] * x[0] + H[6 + j] * x[1]) + H[12 + j] * x[2];
    }
}

static double dot_6(const double* a, const double* b) {
    return ((a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])) + (a[4] * b[4] + a[5] * b[5]);
}

void cr__space_gather(const crSpace* s, const double* x, double* z) {
    memset(z, 0, (size_t)s->nz * sizeof *z);
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        for (int t = unit->touch; t < unit->touch + unit->touch_count; t++) {
            const double* H = s->H + s->touch[t].H;
            double* to = z + s->touch[t].from;
            int n = s->touch[t].size;
            if (three_by_six(unit, &s->touch[t])) {
                gather_3_6(to, H, x + unit->row);
                continue;
            }
            for (int a = 0; a < unit->count; a++) {
                double xa = x[unit->row + a];
                for (int j = 0; j < n; j++) {
                    to[j] += H[a * n + j] * xa;
                }
            }
        }
    }
}

void cr__space_product(const crSpace* s, const double* z, double* u) {
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        for (int a = 0; a < unit->count; a++) {
            double sum = 0.0;
            for (int t = unit->touch; t < unit->touch + unit->touch_count; t++) {
                int n = s->touch[t].size;
                const double *H = s->H + s->touch[t].H + a * n, *from = z + s->touch[t].from;
                if (n == 6) {
                    sum += dot_6(H, from);
                    continue;
                }
                for (int j = 0; j < n; j++) {
                    sum += H[j] * from[j];
                }
            }
            u[unit->row + a] = sum;
        }
    }
}

void cr__space_velocity(const crSpace* s, const double* z, double* u) {
    cr__space_product(s, z, u);
    for (int i = 0; i < s->rows; i++) {
        u[i] += s->c[i];
    }
}

// block += X^T T, X: rows x m, T: rows x n, block: n columns of m rows of `width` numbers
static void add_product(double* block, int width, const double* X, int m, const double* T, int n, int rows) {
    for (int i = 0; i < m; i++) {
        for (int a = 0; a < rows; a++) {
            double f = X[a * m + i];
            const double* from = T + a * n;
            double* to = block + i * width;
            for (int j = 0; j < n; j++) {
                to[j] += f * from[j];
            }
        }
    }
}

// block += X^T T, X and T: 3 x 6
static void add_product_3_6(double* restrict block, const double* restrict X, const double* restrict T) {
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            block[6 * i + j] += (X[i] * T[j] + X[6 + i] * T[6 + j]) + X[12 + i] * T[12 + j];
        }
    }
}

// T = G H, G: 3 x 3, H: 3 x 6
static void times_3_6(const double* restrict G, const double* restrict H, double* restrict T) {
    for (int a = 0; a < 3; a++) {
        for (int j = 0; j < 6; j++) {
            T[6 * a + j] = (G[3 * a] * H[j] + G[3 * a + 1] * H[6 + j]) + G[3 * a + 2] * H[12 + j];
        }
    }
}

// T = G H, G: rows x rows, H: rows x n
static void times_matrix(const double* G, const double* H, int rows, int n, double* T) {
    for (int a = 0; a < rows; a++) {
        for (int j = 0; j < n; j++) {
            T[a * n + j] = 0.0;
        }
        for (int b = 0; b < rows; b++) {
            for (int j = 0; j < n; j++) {
                T[a * n + j] += G[a * rows + b] * H[b * n + j];
            }
        }
    }
}

// True if the unit is a contact between free bodies only.
static bool free_bodies(const crSpace* s, const crUnit* unit) {
    for (int t = unit->touch; t < unit->touch + unit->touch_count; t++) {
        if (!three_by_six(unit, &s->touch[t])) return false;
    }
    return true;
}

// Adds H^T G H of one unit to s->sparse, only the lower triangle if `definite`. Columns of groups with more
// than WIDE velocities are processed WIDE at a time.
static void add_unit(crSpace* s, int i, bool definite) {
    enum { WIDE = 64 };
    const crUnit* unit = &s->unit[i];
    const double* G = s->G + unit->square;
    int rows = unit->count, count = unit->touch_count;
    double T[CR_UNIT_ROWS * WIDE], part[CR_UNIT_ROWS * WIDE];
    for (int b = 0; b < count; b++) {
        const crTouch* tb = &s->touch[unit->touch + b];
        int place_b = s->sparse.place[tb->group], nb = tb->size;
        if (three_by_six(unit, tb) && free_bodies(s, unit)) {
            times_3_6(G, s->H + tb->H, T);
            for (int a = 0; a < count; a++) {
                const crTouch* ta = &s->touch[unit->touch + a];
                if (definite && s->sparse.place[ta->group] < place_b) continue;
                double* block = s->sparse.value + s->pair[s->pair_first[i] + a * count + b];
                add_product_3_6(block, s->H + ta->H, T);
            }
            continue;
        }
        for (int from = 0; from < nb; from += WIDE) {
            int n = nb - from < WIDE ? nb - from : WIDE;
            for (int a = 0; a < rows; a++) {
                memcpy(part + a * n, s->H + tb->H + a * nb + from, (size_t)n * sizeof *part);
            }
            times_matrix(G, part, rows, n, T);
            for (int a = 0; a < count; a++) {
                const crTouch* ta = &s->touch[unit->touch + a];
                if (definite && s->sparse.place[ta->group] < place_b) continue;
                double* block = s->sparse.value + s->pair[s->pair_first[i] + a * count + b];
                add_product(block + from, nb, s->H + ta->H, ta->size, T, n, rows);
            }
        }
    }
}

bool cr__space_factor(crSpace* s, crSparseKind kind) {
    cr__sparse_clear(&s->sparse);
    s->factorizations++;
    for (int g = 0; g < s->groups; g++) {
        double* block = cr__sparse_block(&s->sparse, g, g);
        for (int k = 0; k < s->size[g]; k++) {
            block[k * (s->size[g] + 1)] = 1.0;
        }
    }
    for (int i = 0; i < s->units; i++) {
        const double* G = s->G + s->unit[i].square;
        bool zero = true;
        for (int k = 0; k < s->unit[i].count * s->unit[i].count; k++) {
            zero = zero && G[k] == 0.0;
        }
        if (!zero) add_unit(s, i, kind == CR_SPARSE_DEFINITE);
    }
    return cr__sparse_factor(&s->sparse, kind) < 0;
}

// Returns x with x = q + R e(x) and sets *slope to its derivative by q. e(x) is the change of the normal
// velocity that the room grants: (anchor - x) / stiff, at most `room` in size. The sign of x is free here.
static double soften(double room, double anchor, double stiff, double R, double q, double* slope) {
    double soft = R / stiff, change = (anchor - q) / (stiff + R);
    bool inside = fabs(change) < room;
    *slope = inside ? 1.0 / (1.0 + soft) : 1.0;
    if (inside) return q + R * change;
    return change > 0.0 ? q + R * room : q - R * room;
}

void cr__space_law(const crSpace* s, const crSoft* soft, const crUnit* unit, const double* R, const double* q,
                   double* x, double* D) {
    bool contact = unit->kind == CR_BLOCK_CONE || unit->kind == CR_BLOCK_UNILATERAL;
    if (!(soft->room > 0.0) || !contact) {
        cr__relax_law(unit, q, x, D);
        return;
    }
    double own[CR_UNIT_ROWS], slope, stiff = SOFT / s->weight[unit->row];
    memcpy(own, q, (size_t)unit->count * sizeof *own);
    own[0] = soften(soft->room, soft->anchor[unit->row], stiff, R[0], q[0], &slope);
    cr__relax_law(unit, own, x, D);
    for (int a = 0; D != NULL && a < unit->count; a++) {
        D[a * unit->count] *= slope;
    }
}

double cr__space_residual(const crSpace* s, const crSoft* soft, const double* x, const double* u) {
    double sum = 0.0;
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        const double *w = s->weight + unit->row, *xi = x + unit->row, *ui = u + unit->row;
        double q[CR_UNIT_ROWS], y[CR_UNIT_ROWS], R[CR_UNIT_ROWS];
        for (int a = 0; a < unit->count; a++) {
            R[a] = 1.0 / w[a];
            q[a] = xi[a] - ui[a] / w[a];
        }
        cr__space_law(s, soft, unit, R, q, y, NULL);
        for (int a = 0; a < unit->count; a++) {
            double r = w[a] * (xi[a] - y[a]) + 0.0 * q[a];
            sum += r * r;
        }
    }
    double r = s->scale > 0.0 ? sqrt(sum) / s->scale : sqrt(sum);
    return isfinite(r) ? r : (double)INFINITY;
}

double cr__space_error(const crSpace* s, const double* x, const double* u, double* work, double* each) {
    double *near = work, *y = work + s->rows, *z = work + 2 * s->rows, worst = 0.0;
    for (int i = 0; i < s->units; i++) {
        int row = s->unit[i].row;
        cr__relax_witness(&s->unit[i], s->lambda + row, x + row, u + row, near + row, y + row);
    }
    cr__space_gather(s, near, z);
    cr__space_velocity(s, z, near);
    double seen = 0.0;  // NaN if any error is not finite; fmax ignores NaN
    for (int i = 0; i < s->units; i++) {
        double sum = 0.0, normal = s->lambda[s->unit[i].row];
        for (int a = 0; a < s->unit[i].count; a++) {
            int row = s->unit[i].row + a;
            double d = y[row] - near[row];
            // The error is in unscaled velocities: ellipses are scaled back, spin and rolling are taken at
            // the contact's radius.
            if (s->E[row] > 0.0) d /= s->E[row];
            if (a >= s->unit[i].plane && s->lambda[row] > 0.0) d *= sqrt(normal / s->lambda[row]);
            sum += d * d;
        }
        worst = fmax(worst, sqrt(sum));
        if (each != NULL) each[i] = sqrt(sum);
        seen += 0.0 * sum;
    }
    return seen == 0.0 && isfinite(worst) ? worst : (double)INFINITY;
}
