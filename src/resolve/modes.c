// modes.c - derivatives of the answer of a contact problem, by the modes of its contacts.
//
// A solved problem has each block in a mode, and in it the laws are equations (w = u_free + W p + b):
//     closed, stick   w = 0          open, at a bound   dp = 0
//     slip            w_n = 0,  p_t + mu p_n w_t/|w_t| = 0
// Differentiated (implicit function theorem) they are A dp = r for any change g of w at fixed p:
//     dw = g + W dp,  slip: dp_t + mu s dp_n + K dw_t = -dmu p_n s,  s = w_t/|w_t|, K = mu p_n (1 - s s^T)/|w_t|.
// The adjoint solves with A^T. Distance: the least change of a contact velocity, to first order and each block by
// itself, that leaves a mode. Redundant contacts make A singular: pivots end at its rank, and u is unique even so.
// Fails: a problem that is not solved, or whose blocks have no such equations here (polygons, ellipses, spin and
// rolling rows, raw problems), is refused by name.
#include <string.h>

#include "base/argument.h"
#include "carom/modes.h"
#include "carom/resolve.h"
#include "linalg/lu.h"

#define RANK 1e-11  // of the largest pivot: below it a row is redundant

const char* cr_mode_name(crMode mode) {
    static const char* const names[] = {"open", "closed", "stick", "slip", "bound"};
    return (unsigned)mode < sizeof names / sizeof names[0] ? names[mode] : "unknown";
}

static crStatus check_block(const crBlock* b, int index, crError* error) {
    if (b->kind != CR_BLOCK_CONE) return CR_OK;
    const char* what = b->vertex_count > 0                ? "a polygon as friction cone"
                       : b->mu != b->mu2 && b->count == 3 ? "elliptic friction"
                       : b->spin || b->roll               ? "spin or rolling rows"
                                                          : NULL;
    if (what == NULL) return CR_OK;
    return cr_error_set(error, CR_ERR_RANGE, "blocks",
                        "blocks: block %d has %s; derivatives need round friction cones", index, what);
}

// A switch of a block at a margin of so many m/s.
static void note(crModes* m, int block, crSwitch which, double margin) {
    if (!(margin < m->distance)) return;
    m->distance = margin;
    m->nearest = which;
    m->block = block;
}

static crMode single_mode(crModes* m, const crBlock* b, int index, double p, double w, double W) {
    double press = W * p;
    if (b->kind == CR_BLOCK_EQUALITY) return CR_MODE_CLOSED;
    if (b->kind == CR_BLOCK_UNILATERAL) {
        note(m, index, CR_SWITCH_OPEN, fmax(press, w));
        return press > w ? CR_MODE_CLOSED : CR_MODE_OPEN;
    }
    double low = W * (p - b->lo), high = W * (b->hi - p), least = fmin(low, high);
    note(m, index, CR_SWITCH_STICK, fmax(fabs(w), least));
    return least > fabs(w) ? CR_MODE_CLOSED : CR_MODE_BOUND;
}

static crMode cone_mode(crModes* m, const crBlock* b, int index, const double* p, const double* w, double W) {
    double press = W * p[0];
    note(m, index, CR_SWITCH_OPEN, fmax(press, w[0]));
    if (!(press > w[0])) return CR_MODE_OPEN;
    bool two = b->count == 3;
    double slip = two ? sqrt(w[1] * w[1] + w[2] * w[2]) : fabs(w[1]);
    double friction = two ? sqrt(p[1] * p[1] + p[2] * p[2]) : fabs(p[1]);
    double room = isinf(b->mu) ? (double)INFINITY : W * (b->mu * p[0] - friction);
    if (b->mu > 0.0) note(m, index, CR_SWITCH_STICK, fmax(room, slip));
    return room > slip ? CR_MODE_STICK : CR_MODE_SLIP;
}

// Rows of A and, for slip, K.
static void slip_rows(const crModes* m, const crBlock* b, const double* w, double* A) {
    int n = m->rows, r = b->row, tangents = b->count - 1;
    double speed = tangents == 2 ? sqrt(w[1] * w[1] + w[2] * w[2]) : fabs(w[1]);
    double s[2] = {speed > 0.0 ? w[1] / speed : 0.0, speed > 0.0 && tangents == 2 ? w[2] / speed : 0.0};
    double turn = speed > 0.0 && tangents == 2 ? b->mu * m->p[r] / speed : 0.0;
    double* K = m->K + 4 * (size_t)(b - m->problem->blocks);
    K[0] = turn * (1.0 - s[0] * s[0]);
    K[1] = K[2] = -turn * s[0] * s[1];
    K[3] = turn * (1.0 - s[1] * s[1]);
    memcpy(A + (size_t)r * (size_t)n, m->W + (size_t)r * (size_t)n, (size_t)n * sizeof *A);
    for (int i = 0; i < tangents; i++) {
        double* row = A + (size_t)(r + 1 + i) * (size_t)n;
        m->s[r + 1 + i] = s[i];
        for (int j = 0; j < n; j++) {
            row[j] = K[2 * i] * m->W[(size_t)(r + 1) * (size_t)n + (size_t)j];
            if (tangents == 2) row[j] += K[2 * i + 1] * m->W[(size_t)(r + 2) * (size_t)n + (size_t)j];
        }
        row[r + 1 + i] += 1.0;
        row[r] += b->mu * s[i];
    }
}

static void fill_modes(const crModes* m, const double* w, double* A) {
    size_t n = (size_t)m->rows;
    for (int i = 0; i < m->problem->block_count; i++) {
        const crBlock* b = &m->problem->blocks[i];
        if (m->mode[i] == CR_MODE_SLIP) {
            slip_rows(m, b, w + b->row, A);
            continue;
        }
        bool rests = m->mode[i] == CR_MODE_CLOSED || m->mode[i] == CR_MODE_STICK;
        for (int r = b->row; r < b->row + b->count; r++) {
            if (rests) {
                memcpy(A + (size_t)r * n, m->W + (size_t)r * n, n * sizeof *A);
            } else {
                A[(size_t)r * n + (size_t)r] = 1.0;
            }
        }
    }
}

// A and its transpose, factored. Rows are scaled to a largest entry of 1.
static bool factor_modes(crModes* m, const double* w, crArena* arena) {
    size_t n = (size_t)m->rows;
    double* A = cr_arena_alloc(arena, (n * n + 1) * sizeof *A);
    m->LU = cr_arena_alloc(arena, (n * n + 1) * sizeof *A);
    m->LU_t = cr_arena_alloc(arena, (n * n + 1) * sizeof *A);
    m->scale = cr_arena_alloc(arena, (n + 1) * sizeof *A);
    m->order = cr_arena_alloc(arena, (4 * n + 1) * sizeof *m->order);
    if (A == NULL || m->LU == NULL || m->LU_t == NULL || m->scale == NULL || m->order == NULL) return false;
    memset(A, 0, n * n * sizeof *A);
    fill_modes(m, w, A);
    for (size_t i = 0; i < n; i++) {
        double largest = 0.0;
        for (size_t j = 0; j < n; j++) {
            largest = fmax(largest, fabs(A[i * n + j]));
        }
        m->scale[i] = largest > 0.0 ? 1.0 / largest : 1.0;
        for (size_t j = 0; j < n; j++) {
            m->LU[i * n + j] = m->LU_t[j * n + i] = A[i * n + j] * m->scale[i];
        }
    }
    m->rank = cr__lu_complete(m->LU, m->rows, RANK, m->order, m->order + n);
    m->rank_t = cr__lu_complete(m->LU_t, m->rows, RANK, m->order + 2 * n, m->order + 3 * n);
    return true;
}

static crStatus refuse_unsolved(const crAudit* audit, double tol, crError* error) {
    return cr_error_set(error, CR_ERR_RANGE, "p",
                        "p: solves the problem only to %.3g, %.3g is needed for its derivatives",
                        audit->residual, tol);
}

crStatus cr_modes_find(const crProblem* problem, crArena* arena, const double* p, double tol, double near,
                       crModes* modes, crError* error) {
    if (problem == NULL) return cr__missing(error, "problem");
    if (arena == NULL) return cr__missing(error, "arena");
    if (p == NULL) return cr__missing(error, "p");
    if (modes == NULL) return cr__missing(error, "modes");
    if (!(tol > 0.0) || !(near >= 0.0)) {
        return cr_error_set(error, CR_ERR_RANGE, "tol", "tol: is %g and near %g, must be > 0 and >= 0", tol,
                            near);
    }
    crStatus status = cr_problem_check(problem, error);
    if (status != CR_OK) return status;
    if (problem->raw) return cr_error_set(error, CR_ERR_RANGE, "raw", "raw: raw problems have no modes");
    for (int i = 0; i < problem->block_count; i++) {
        status = check_block(&problem->blocks[i], i, error);
        if (status != CR_OK) return status;
    }
    crAudit audit;
    status = cr_problem_audit(problem, arena, p, &audit);
    if (status != CR_OK) return status;
    if (cr_audit_solved(&audit, tol) == CR_TRUTH_NO) return refuse_unsolved(&audit, tol, error);
    size_t n = (size_t)problem->rows;
    *modes = (crModes){.problem = problem, .p = p, .rows = problem->rows, .distance = INFINITY, .block = -1};
    double* w = cr_arena_alloc(arena, (n + 1) * sizeof *w);
    modes->s = cr_arena_alloc(arena, (n + 1) * sizeof *w);
    modes->work = cr_arena_alloc(arena, (3 * n + 1) * sizeof *w);
    modes->K = cr_arena_alloc(arena, (4 * (size_t)problem->block_count + 1) * sizeof *w);
    modes->mode = cr_arena_alloc(arena, ((size_t)problem->block_count + 1) * sizeof *modes->mode);
    if (w == NULL || modes->s == NULL || modes->work == NULL || modes->K == NULL || modes->mode == NULL) {
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    }
    memset(modes->s, 0, n * sizeof *w);
    status = cr_problem_dense(problem, arena, &modes->W);
    if (status == CR_OK) status = cr_problem_velocity(problem, arena, p, w);
    if (status != CR_OK) return status;
    for (size_t i = 0; i < n && problem->b != NULL; i++) {
        w[i] += problem->b[i];
    }
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        double W = modes->W[(size_t)b->row * (n + 1)];
        modes->mode[i] = b->kind == CR_BLOCK_CONE && b->count > 1
                             ? cone_mode(modes, b, i, p + b->row, w + b->row, W)
                             : single_mode(modes, b, i, p[b->row], w[b->row], W);
    }
    if (!factor_modes(modes, w, arena))
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    modes->verdict = modes->distance <= near ? CR_ONE_SIDED : CR_SMOOTH;
    return CR_OK;
}

// g = du_free + dW p
static void change_of(const crModes* m, const crProblemChange* change, double* g) {
    size_t n = (size_t)m->rows;
    for (size_t i = 0; i < n; i++) {
        g[i] = change->u_free != NULL ? change->u_free[i] : 0.0;
        for (size_t j = 0; change->W != NULL && j < n; j++) {
            g[i] += change->W[i * n + j] * m->p[j];
        }
    }
}

crStatus cr_modes_apply(const crModes* m, const crProblemChange* change, double* dp, double* du) {
    if (m == NULL || m->problem == NULL || m->work == NULL || change == NULL || dp == NULL || du == NULL)
        return CR_ERR_ARGUMENT;
    size_t n = (size_t)m->rows;
    double *g = m->work, *r = m->work + n;
    change_of(m, change, g);
    for (int i = 0; i < m->problem->block_count; i++) {
        const crBlock* b = &m->problem->blocks[i];
        const double* K = m->K + 4 * (size_t)i;
        double dmu = change->mu != NULL ? change->mu[i] : 0.0;
        bool free = m->mode[i] == CR_MODE_OPEN || m->mode[i] == CR_MODE_BOUND;
        for (int k = b->row; k < b->row + b->count; k++) {
            // b changes w and not u
            double db = change->b != NULL ? change->b[k] : 0.0;
            r[k] = free ? 0.0 : -(g[k] + db);
        }
        for (int k = 1; m->mode[i] == CR_MODE_SLIP && k < b->count; k++) {
            int t = b->row + 1;
            double first = g[t] + (change->b != NULL ? change->b[t] : 0.0);
            double second = b->count == 3 ? g[t + 1] + (change->b != NULL ? change->b[t + 1] : 0.0) : 0.0;
            r[b->row + k] =
                -K[2 * k - 2] * first - K[2 * k - 1] * second - dmu * m->p[b->row] * m->s[b->row + k];
        }
    }
    for (size_t i = 0; i < n; i++) {
        r[i] *= m->scale[i];
    }
    cr__lu_complete_solve(m->LU, m->rows, m->rank, m->order, m->order + n, r, m->work + 2 * n, dp);
    for (size_t i = 0; i < n; i++) {
        du[i] = g[i];
        for (size_t j = 0; j < n; j++) {
            du[i] += m->W[i * n + j] * dp[j];
        }
    }
    return CR_OK;
}

crStatus cr_modes_adjoint(const crModes* m, const double* by_p, const double* by_u, double* by_g,
                          double* by_mu) {
    if (m == NULL || m->problem == NULL || m->work == NULL || by_g == NULL) return CR_ERR_ARGUMENT;
    size_t n = (size_t)m->rows;
    double *c = m->work, *y = m->work + n;
    for (size_t j = 0; j < n; j++) {
        c[j] = by_p != NULL ? by_p[j] : 0.0;
        for (size_t i = 0; by_u != NULL && i < n; i++) {
            c[j] += m->W[i * n + j] * by_u[i];
        }
    }
    cr__lu_complete_solve(m->LU_t, m->rows, m->rank_t, m->order + 2 * n, m->order + 3 * n, c, m->work + 2 * n,
                          y);
    for (size_t i = 0; i < n; i++) {
        y[i] *= m->scale[i];
        by_g[i] = by_u != NULL ? by_u[i] : 0.0;
    }
    for (int i = 0; i < m->problem->block_count; i++) {
        const crBlock* b = &m->problem->blocks[i];
        const double* K = m->K + 4 * (size_t)i;
        bool slips = m->mode[i] == CR_MODE_SLIP;
        bool rests = m->mode[i] == CR_MODE_CLOSED || m->mode[i] == CR_MODE_STICK;
        if (by_mu != NULL) by_mu[i] = 0.0;
        for (int k = b->row; k < b->row + b->count; k++) {
            if (rests || (slips && k == b->row)) by_g[k] -= y[k];
        }
        for (int k = 1; slips && k < b->count; k++) {
            int t = b->row + 1;
            by_g[t] -= K[2 * k - 2] * y[b->row + k];
            if (b->count == 3) by_g[t + 1] -= K[2 * k - 1] * y[b->row + k];
            if (by_mu != NULL) by_mu[i] -= m->p[b->row] * m->s[b->row + k] * y[b->row + k];
        }
    }
    return CR_OK;
}
