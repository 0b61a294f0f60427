// backward.c - see backward.h; plain loops, nothing of the library but its data.
#include "backward.h"

#include <stdlib.h>
#include <string.h>

static void velocity(const crProblem* q, const double* p, double* u) {
    double* f = calloc((size_t)q->nv + 1, sizeof *f);
    double* dv = calloc((size_t)q->nv + 1, sizeof *dv);
    for (int i = 0; i < q->rows; i++) {
        for (int k = q->J.start[i]; k < q->J.start[i + 1]; k++) {
            f[q->J.col[k]] += q->J.value[k] * p[i];
        }
    }
    for (int i = 0; i < q->nv; i++) {
        for (int k = q->Minv.start[i]; k < q->Minv.start[i + 1]; k++) {
            dv[i] += q->Minv.value[k] * f[q->Minv.col[k]];
        }
    }
    for (int i = 0; i < q->rows; i++) {
        u[i] = q->u_free[i] + (q->b != NULL ? q->b[i] : 0.0);
        for (int k = q->J.start[i]; k < q->J.start[i + 1]; k++) {
            u[i] += q->J.value[k] * dv[q->J.col[k]];
        }
    }
    free(f);
    free(dv);
}

// J_i Minv J_j^T
static double weight(const crProblem* q, int i, int j) {
    double sum = 0.0;
    for (int k = q->J.start[i]; k < q->J.start[i + 1]; k++) {
        int row = q->J.col[k];
        for (int m = q->Minv.start[row]; m < q->Minv.start[row + 1]; m++) {
            for (int l = q->J.start[j]; l < q->J.start[j + 1]; l++) {
                if (q->J.col[l] == q->Minv.col[m]) sum += q->J.value[k] * q->Minv.value[m] * q->J.value[l];
            }
        }
    }
    return sum;
}

// trace of W over rows [row, row + n)
static double trace(const crProblem* q, int row, int n) {
    double sum = 0.0;
    for (int i = row; i < row + n; i++) {
        sum += weight(q, i, i);
    }
    return sum;
}

// nearest point of the disc, ellipse or polygon scaled by n, in the metric that makes an ellipse a disc
static void nearest(const crProblem* q, const crBlock* block, double n, const double* z, double* x) {
    if (block->vertex_count > 0) {
        bool inside = true;
        double best = HUGE_VAL;
        for (int k = 0; k < block->vertex_count; k++) {
            const double* a = q->vertices[block->vertex + k];
            const double* b = q->vertices[block->vertex + (k + 1) % block->vertex_count];
            double e[2] = {b[0] - a[0], b[1] - a[1]}, r[2] = {z[0] - n * a[0], z[1] - n * a[1]};
            if (e[0] * r[1] - e[1] * r[0] < 0.0) inside = false;
            double s = fmin(n, fmax(0.0, (e[0] * r[0] + e[1] * r[1]) / (e[0] * e[0] + e[1] * e[1])));
            double at[2] = {n * a[0] + s * e[0], n * a[1] + s * e[1]};
            double d = (z[0] - at[0]) * (z[0] - at[0]) + (z[1] - at[1]) * (z[1] - at[1]);
            if (d < best) {
                best = d;
                x[0] = at[0];
                x[1] = at[1];
            }
        }
        if (inside) memcpy(x, z, 2 * sizeof *x);
        return;
    }
    // ratio of each axis to the longer one
    double large = fmax(block->mu, block->mu2);
    double r[2] = {large > 0.0 ? block->mu / large : 1.0, large > 0.0 ? block->mu2 / large : 1.0};
    double y[2] = {r[0] > 0.0 ? z[0] / r[0] : 0.0, r[1] > 0.0 ? z[1] / r[1] : 0.0};
    double size = sqrt(y[0] * y[0] + y[1] * y[1]), shrink = size > large * n ? large * n / size : 1.0;
    x[0] = shrink * y[0] * r[0];
    x[1] = shrink * y[1] * r[1];
}

static void disc(double radius, int n, const double* z, double* x) {
    double size = n == 1 ? fabs(z[0]) : sqrt(z[0] * z[0] + z[1] * z[1]);
    for (int i = 0; i < n; i++) {
        x[i] = size > radius ? z[i] * radius / size : z[i];
    }
}

// one friction part: impulses t and velocities v at normal impulse n; zn: the same with its velocity's share
typedef struct Part {
    int at, count;
    double lambda;
    int kind;  // 0 tangential, 1 spin, 2 rolling
} Part;

static void part_nearest(const crProblem* q, const crBlock* block, const Part* part, double n,
                         const double* z, double* x) {
    if (part->kind == 0 && part->count == 2) {
        nearest(q, block, n, z, x);
    } else {
        double limit = part->kind == 0 ? block->mu : part->kind == 1 ? block->mu_spin : block->mu_roll;
        disc(limit * n, part->count, z, x);
    }
}

static void part_witness(const crProblem* q, const crBlock* block, const Part* part, double n, double zn,
                         const double* p, const double* u, double* x, double* v) {
    double z[2], at[2], d[2], size = 0.0, along = 0.0;
    bool ellipse = part->kind == 0 && part->count == 2 && block->vertex_count == 0 && block->mu != block->mu2;
    double large = fmax(block->mu, block->mu2);
    double r[2] = {ellipse ? block->mu / large : 1.0, ellipse ? block->mu2 / large : 1.0};
    for (int i = 0; i < part->count; i++) {
        z[i] = p[part->at + i] - (r[i] * r[i]) * u[part->at + i] / part->lambda;
    }
    part_nearest(q, block, part, zn, z, at);
    for (int i = 0; i < part->count; i++) {
        // normal of the set in velocities: the metric's
        d[i] = r[i] > 0.0 ? (z[i] - at[i]) / (r[i] * r[i]) : 0.0;
        size += d[i] * d[i];
    }
    double scale = 0.0;
    for (int i = 0; i < part->count; i++) {
        scale += z[i] * z[i];
    }
    if (sqrt(size) <= 1e-15 * sqrt(scale)) {
        part_nearest(q, block, part, n, p + part->at, x + part->at);
        for (int i = 0; i < part->count; i++) {
            v[part->at + i] = 0.0;
        }
        return;
    }
    for (int i = 0; i < part->count; i++) {
        along -= u[part->at + i] * d[i] / sqrt(size);
    }
    for (int i = 0; i < part->count; i++) {
        x[part->at + i] = n / zn * at[i];
        v[part->at + i] = along > 0.0 ? -d[i] / sqrt(size) * along : 0.0;
    }
}

static int parts_of(const crProblem* q, const crBlock* block, Part part[3]) {
    int tangents = block->count - 1 - (block->spin ? 1 : 0) - (block->roll ? 2 : 0), n = 0, at = 1 + tangents;
    double lambda = trace(q, block->row, 1 + tangents);
    part[n++] = (Part){1, tangents, lambda, 0};
    if (block->spin) {
        part[n++] = (Part){at, 1, weight(q, block->row + at, block->row + at), 1};
        at++;
    }
    if (block->roll) part[n++] = (Part){at, 2, trace(q, block->row + at, 2), 2};
    return n;
}

static void cone_witness(const crProblem* q, const crBlock* block, const double* p, const double* u,
                         double* x, double* v) {
    Part part[3];
    int n = parts_of(q, block, part);
    double zn = p[0] - u[0] / part[0].lambda;
    memset(x, 0, (size_t)block->count * sizeof *x);
    memcpy(v, u, (size_t)block->count * sizeof *v);
    v[0] = fmax(u[0], 0.0);
    if (!(zn > 0.0)) return;
    x[0] = fmax(p[0], 0.0);
    v[0] = 0.0;
    for (int k = 0; k < n; k++) {
        part_witness(q, block, &part[k], x[0], zn, p, u, x, v);
    }
}

static void row_witness(const crBlock* block, double lambda, double p, double u, double* x, double* v) {
    double lo = block->kind == CR_BLOCK_UNILATERAL ? 0.0
                : block->kind == CR_BLOCK_BOX      ? block->lo
                                                   : -HUGE_VAL;
    double hi = block->kind == CR_BLOCK_BOX ? block->hi : HUGE_VAL, z = p - u / lambda;
    *x = z <= lo ? lo : z >= hi ? hi : fmin(hi, fmax(lo, p));
    *v = z <= lo ? fmax(u, 0.0) : z >= hi ? fmin(u, 0.0) : 0.0;
}

static void witness(const crProblem* q, const double* p, const double* u, double* x, double* v) {
    for (int k = 0; k < q->block_count; k++) {
        const crBlock* block = &q->blocks[k];
        int row = block->row;
        if (block->kind == CR_BLOCK_CONE) {
            cone_witness(q, block, p + row, u + row, x + row, v + row);
            continue;
        }
        for (int i = row; i < row + block->count; i++) {
            row_witness(block, weight(q, i, i), p[i], u[i], &x[i], &v[i]);
        }
    }
}

// how far p is outside the sets of its laws
static double outside(const crProblem* q, const double* p) {
    double worst = 0.0, size = 0.0;
    for (int k = 0; k < q->block_count; k++) {
        const crBlock* block = &q->blocks[k];
        const double* pb = p + block->row;
        for (int i = 0; i < block->count; i++) {
            size = fmax(size, fabs(pb[i]));
            if (block->kind == CR_BLOCK_UNILATERAL) worst = fmax(worst, -pb[i]);
            if (block->kind == CR_BLOCK_BOX) worst = fmax(worst, fmax(block->lo - pb[i], pb[i] - block->hi));
        }
        if (block->kind != CR_BLOCK_CONE) continue;
        Part part[3];
        int n = parts_of(q, block, part);
        worst = fmax(worst, -pb[0]);
        for (int j = 0; j < n; j++) {
            double x[2];
            part_nearest(q, block, &part[j], fmax(pb[0], 0.0), pb + part[j].at, x);
            for (int i = 0; i < part[j].count; i++) {
                worst = fmax(worst, fabs(x[i] - pb[part[j].at + i]));
            }
        }
    }
    return size > 0.0 ? worst / size : worst;
}

crBackward backward_error(const crProblem* q, const double* p) {
    size_t n = (size_t)q->rows + 1;
    double* u = calloc(n, sizeof *u);
    double* x = calloc(n, sizeof *x);
    double* v = calloc(n, sizeof *v);
    crBackward out = {.block = -1, .cone = outside(q, p)};
    // at zero impulse: what the laws ask for
    velocity(q, x, u);
    for (int k = 0; k < q->block_count; k++) {
        const crBlock* block = &q->blocks[k];
        double normal = u[block->row];
        if (block->kind == CR_BLOCK_CONE || block->kind == CR_BLOCK_UNILATERAL) {
            for (int i = 0; i < (block->kind == CR_BLOCK_CONE ? 1 : block->count); i++) {
                out.demand = fmax(out.demand, -u[block->row + i]);
            }
        } else {
            out.demand = fmax(out.demand, fabs(normal));
        }
    }
    velocity(q, p, u);
    witness(q, p, u, x, v);
    velocity(q, x, u);
    for (int k = 0; k < q->block_count; k++) {
        const crBlock* block = &q->blocks[k];
        Part part[3];
        int parts = block->kind == CR_BLOCK_CONE ? parts_of(q, block, part) : 0;
        double sum = 0.0;
        for (int i = 0; i < block->count; i++) {
            double d = v[block->row + i] - u[block->row + i];
            for (int j = 1; j < parts; j++) {
                bool mine = i >= part[j].at && i < part[j].at + part[j].count;
                if (mine) d *= sqrt(part[0].lambda / part[j].lambda);
            }
            sum += d * d;
        }
        if (!(sqrt(sum) <= out.error)) {
            out.error = sqrt(sum);
            out.block = k;
        }
    }
    free(u);
    free(x);
    free(v);
    return out;
}
