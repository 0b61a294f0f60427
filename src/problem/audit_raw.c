// audit_raw.c - backward error of a point for a complementarity problem with any matrix, entry by entry.
//
// With w = q + M z and s = |q| + |M| |z|: a row is held (w^ = 0) where z_i > 0 and either w_i <= 0 or leaving z_i
// out would change some row more than holding w_i: max_j |m_ji z_i| / s_j > |w_i| / s_i. Otherwise z^_i = 0 and
// w^_i = max(w_i, 0). omega = max_j |w^ - q - M z^|_j / s^_j: z^ is exact for data with |dM| <= omega |M| and
// |dq| <= omega |q| (Oettli and Prager). No diagonal is used, and scaling rows or columns changes nothing but
// by the choice of held rows. Equality rows are held; boxes have two bounds.
// Fails: never; what is not finite makes the residual infinite.
#include "problem/audit.h"

#define EPS 0x1p-52

static const double* entries(const crMatrix* A, int i, const int** col, int* count) {
    if (A->start == NULL) {
        *col = NULL;
        *count = A->cols;
        return A->value + (size_t)i * (size_t)A->cols;
    }
    *col = A->col + A->start[i];
    *count = A->start[i + 1] - A->start[i];
    return A->value + A->start[i];
}

// w = q + M z and s = |q| + |M| |z|
static void velocity_audit_raw(const crAuditor* a, const double* z, double* w, double* s) {
    const crProblem* problem = a->problem;
    for (int i = 0; i < problem->rows; i++) {
        const int* col;
        int count;
        const double* value = entries(a->W, i, &col, &count);
        double q = problem->u_free[i] + (problem->b != NULL ? problem->b[i] : 0.0), sum = 0.0, size = 0.0;
        for (int k = 0; k < count; k++) {
            double term = value[k] * z[col == NULL ? k : col[k]];
            sum += term;
            size += fabs(term);
        }
        w[i] = q + sum;
        s[i] = fabs(q) + size;
    }
}

// most_i = max_j |m_ji z_i| / s_j
static void column_shares(const crAuditor* a, const double* z, const double* s, double* most) {
    for (int i = 0; i < a->problem->rows; i++) {
        most[i] = 0.0;
    }
    for (int j = 0; j < a->problem->rows; j++) {
        const int* col;
        int count;
        const double* value = entries(a->W, j, &col, &count);
        for (int k = 0; k < count; k++) {
            int i = col == NULL ? k : col[k];
            double share = s[j] > 0.0 ? fabs(value[k] * z[i]) / s[j] : 0.0;
            if (share > most[i]) most[i] = share;
        }
    }
}

// the witness of one row: z^ and what w must be
static void make_row(const crBlock* block, double share, double s, double w, double* z, crHeld* held) {
    double lo = block->kind == CR_BLOCK_BOX ? block->lo : 0.0;
    double hi = block->kind == CR_BLOCK_BOX ? block->hi : (double)INFINITY;
    bool small = !(share > (s > 0.0 ? fabs(w) / s : 0.0));
    held->hold = CR_HOLD_ZERO;
    if (block->kind == CR_BLOCK_EQUALITY) return;
    *z = fmin(hi, fmax(lo, *z));
    if (*z == lo || (lo == 0.0 && w > 0.0 && small)) {
        *z = lo;
        held->hold = CR_HOLD_ABOVE;
    } else if (*z == hi) {
        held->hold = CR_HOLD_BELOW;
    }
    if (lo == hi) held->hold = CR_HOLD_NONE;
}

// what w misses of its condition; two tangents at the limit of friction count together
static double miss(const crHeld* held, int count, const double* w) {
    double size = count == 2 ? sqrt(w[0] * w[0] + w[1] * w[1]) : fabs(w[0]);
    switch (held->hold) {
    case CR_HOLD_ABOVE:
        return fmax(0.0, -w[0]);
    case CR_HOLD_BELOW:
        return fmax(0.0, w[0]);
    case CR_HOLD_ZERO:
        return size;
    case CR_HOLD_AGAINST: {
        double along = w[0] * held->d[0] + (count == 2 ? w[1] * held->d[1] : 0.0);
        if (along >= 0.0) return size;
        return count == 2 ? fabs(w[0] * held->d[1] - w[1] * held->d[0]) : 0.0;
    }
    default:
        return 0.0;
    }
}

// rows of a block that are judged together from row k on: the two tangents of a cone, or one
static int together(const crBlock* block, int k) {
    int tangents = block->count - 1 - (block->spin ? 1 : 0) - (block->roll ? 2 : 0);
    if (block->kind != CR_BLOCK_CONE || k == 0) return 1;
    bool strip = block->vertex_count == 0 && isinf(block->mu) != isinf(block->mu2);
    if (k == 1 && tangents == 2) return strip ? 1 : 2;
    return block->roll && k == block->count - 2 ? 2 : 1;
}

static void make_block(const crAuditor* a, const crBlock* block, const double* share, const double* s,
                       const double* p) {
    int first = block->row;
    if (block->kind == CR_BLOCK_CONE) {
        double weight[6];
        for (int k = 0; k < block->count; k++) {
            weight[k] = fabs(cr_matrix_at(a->W, first + k, first + k));
        }
        cr__witness_make(a->problem, block, weight, p + first, a->w + first, a->p_hat + first,
                         a->held + first);
        return;
    }
    for (int r = first; r < first + block->count; r++) {
        a->p_hat[r] = p[r];
        make_row(block, share[r], s[r], a->w[r], &a->p_hat[r], &a->held[r]);
    }
}

static void judge_block_audit_raw(const crAuditor* a, int i, const double* s, crAudit* audit) {
    const crBlock* block = &a->problem->blocks[i];
    for (int k = 0, count; k < block->count; k += count) {
        int r = block->row + k;
        count = together(block, k);
        double off = miss(&a->held[r], count, a->w + r), size = count == 2 ? fmax(s[r], s[r + 1]) : s[r];
        double share = off > 0.0 ? off / size : 0.0;
        if (share > audit->residual || audit->worst_block < 0) {
            audit->residual = share;
            audit->worst_block = i;
        }
        audit->eta = fmax(audit->eta, off);
        audit->floor = fmax(audit->floor, EPS * (double)(a->problem->rows + 2) * size);
    }
}

void cr__raw_judge(crAuditor* a, const double* p, crAudit* audit) {
    const crProblem* problem = a->problem;
    double *s = a->floor, *most = a->work, seen = 0.0, largest = 0.0;
    audit->scale = 1.0;
    velocity_audit_raw(a, p, a->w, s);
    column_shares(a, p, s, most);
    for (int i = 0; i < problem->block_count; i++) {
        make_block(a, &problem->blocks[i], most, s, p);
    }
    velocity_audit_raw(a, a->p_hat, a->w, s);
    for (int i = 0; i < problem->block_count; i++) {
        judge_block_audit_raw(a, i, s, audit);
    }
    for (int r = 0; r < problem->rows; r++) {
        seen += 0.0 * (a->w[r] + s[r] + p[r]);
        largest = fmax(largest, fabs(a->p_hat[r]));
    }
    // without impulses w = q is exact
    double floor = largest > 0.0 ? EPS * (double)(problem->rows + 2) : 0.0;
    audit->most = audit->residual + floor;
    audit->least = fmax(0.0, audit->residual - floor);
    if (!(seen == 0.0)) audit->residual = audit->most = audit->least = audit->eta = (double)INFINITY;
}
