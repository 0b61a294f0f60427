// modes.c - derivatives of the answer of a contact problem, by the modes of its contacts.
//
// A solved problem has each block in a mode, and in it the laws are equations (w = u_free + W p + b):
//     closed, stick   w = 0          open, at a bound   dp = 0
//     slip            w_n = 0,  p_t + mu p_n w_t/|w_t| = 0
// Spin and rolling rows stick or slip by themselves, by the same equations with their own mu (a group of rows each).
// Differentiated (implicit function theorem) they are A dp = r for any change g of w at fixed p:
//     dw = g + W dp,  slip: dp_t + mu s dp_n + K dw_t = -dmu p_n s,  s = w_t/|w_t|, K = mu p_n (1 - s s^T)/|w_t|.
// The adjoint solves with A^T. Distance: the least change of a contact velocity, to first order and each block by
// itself, that leaves a mode. Redundant contacts make A singular: pivots end at its rank. u is mostly unique even so; where
// slip of redundant contacts has several directions it is not, and `one` is false. A contact at a switch whose rows the others hold
// is no switch: it keeps its impulses.
// Fails: a problem that is not solved, or whose blocks have no such equations here (polygons, ellipses, raw problems), is
// refused by name.
#include <string.h>

#include "base/argument.h"
#include "carom/modes.h"
#include "carom/resolve.h"
#include "linalg/lu.h"

#define RANK 1e-11  // of the largest pivot: below it a row is redundant
#define SAME 1e-6   // of the sum of absolute values: u that redundant impulses do not change

const char* cr_mode_name(crMode mode) {
    static const char* const names[] = {"open", "closed", "stick", "slip", "bound"};
    return (unsigned)mode < sizeof names / sizeof names[0] ? names[mode] : "unknown";
}

// Rows of a cone that stick or slip together.
enum { SLIDING, SPIN, ROLLING, GROUPS };
typedef struct Group {
    int kind, row, count;
    double mu;
} Group;

static int sliding_rows(const crBlock* b) { return b->count - 1 - (b->spin ? 1 : 0) - (b->roll ? 2 : 0); }

// Groups of a cone; how many.
static int groups_of(const crBlock* b, Group groups[GROUPS]) {
    int count = 0, row = b->row + 1, sliding = sliding_rows(b);
    if (sliding > 0) groups[count++] = (Group){SLIDING, row, sliding, b->mu};
    row += sliding;
    if (b->spin) groups[count++] = (Group){SPIN, row++, 1, b->mu_spin};
    if (b->roll) groups[count++] = (Group){ROLLING, row, 2, b->mu_roll};
    return count;
}

static double group_size(const Group* g, const double* x) {
    return g->count == 2 ? sqrt(x[g->row] * x[g->row] + x[g->row + 1] * x[g->row + 1]) : fabs(x[g->row]);
}

static crStatus check_block(const crBlock* b, int index, crError* error) {
    if (b->kind != CR_BLOCK_CONE) return CR_OK;
    const char* what = b->vertex_count > 0                       ? "a polygon as friction cone"
                       : b->mu != b->mu2 && sliding_rows(b) == 2 ? "elliptic friction"
                                                                 : NULL;
    if (what == NULL) return CR_OK;
    return cr_error_set(error, CR_ERR_RANGE, "blocks",
                        "blocks: block %d has %s; derivatives need round friction cones", index, what);
}

// A switch of a block at a margin of so many m/s; the nearest of each block is kept.
static void note(crModes* m, int block, crSwitch which, double margin) {
    if (!(margin < m->margin[block])) return;
    m->margin[block] = margin;
    m->which[block] = which;
}

static void find_nearest(crModes* m) {
    m->distance = INFINITY;
    m->block = -1;
    for (int i = 0; i < m->problem->block_count; i++) {
        if (!(m->margin[i] < m->distance)) continue;
        m->distance = m->margin[i];
        m->nearest = m->which[i];
        m->block = i;
    }
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

// The mode of a cone is that of its sliding; slips (GROUPS) says it of each group. Turns count at the radius at which
// the body is as light along the normal as against the turn.
static crMode cone_mode(crModes* m, const crBlock* b, int index, const double* w, bool* slips) {
    size_t n = (size_t)m->rows;
    double Wn = m->W[(size_t)b->row * (n + 1)], press = Wn * m->p[b->row];
    Group groups[GROUPS];
    int count = groups_of(b, groups);
    note(m, index, CR_SWITCH_OPEN, fmax(press, w[b->row]));
    if (!(press > w[b->row])) return CR_MODE_OPEN;
    for (int k = 0; k < count; k++) {
        const Group* g = &groups[k];
        double W = g->kind == SLIDING ? Wn : m->W[(size_t)g->row * (n + 1)];
        double slip = group_size(g, w), friction = group_size(g, m->p);
        double room = isinf(g->mu) ? (double)INFINITY : W * (g->mu * m->p[b->row] - friction);
        if (g->mu > 0.0 && W > 0.0) note(m, index, CR_SWITCH_STICK, sqrt(Wn / W) * fmax(room, slip));
        slips[g->kind] = !(room > slip);
    }
    return slips[SLIDING] ? CR_MODE_SLIP : CR_MODE_STICK;
}

// Rows of A of a group that slips, and its K.
static void slip_rows(const crModes* m, const crBlock* b, const Group* g, const double* w, double* K,
                      double* A) {
    size_t n = (size_t)m->rows;
    double speed = group_size(g, w);
    double s[2] = {speed > 0.0 ? w[g->row] / speed : 0.0,
                   speed > 0.0 && g->count == 2 ? w[g->row + 1] / speed : 0.0};
    double turn = speed > 0.0 && g->count == 2 ? g->mu * m->p[b->row] / speed : 0.0;
    K[0] = turn * (1.0 - s[0] * s[0]);
    K[1] = K[2] = -turn * s[0] * s[1];
    K[3] = turn * (1.0 - s[1] * s[1]);
    for (int i = 0; i < g->count; i++) {
        double* row = A + (size_t)(g->row + i) * n;
        m->s[g->row + i] = s[i];
        for (size_t j = 0; j < n; j++) {
            row[j] = K[2 * i] * m->W[(size_t)g->row * n + j];
            if (g->count == 2) row[j] += K[2 * i + 1] * m->W[(size_t)(g->row + 1) * n + j];
        }
        row[g->row + i] += 1.0;
        row[b->row] += g->mu * s[i];
    }
}

static bool is_cone(const crBlock* b) { return b->kind == CR_BLOCK_CONE && b->count > 1; }

static bool presses(const crModes* m, int block) {
    return m->mode[block] != CR_MODE_OPEN && m->mode[block] != CR_MODE_BOUND;
}

// Rows that the modes hold at w = 0, of blocks that are farther than `near` from a switch; how many.
static int held_rows(const crModes* m, double near, int* rows) {
    int count = 0;
    for (int i = 0; i < m->problem->block_count; i++) {
        const crBlock* b = &m->problem->blocks[i];
        Group groups[GROUPS];
        int own = is_cone(b) ? groups_of(b, groups) : 0;
        if (!presses(m, i) || !(m->margin[i] > near)) continue;
        for (int k = b->row; k < b->row + (own > 0 ? 1 : b->count); k++) {
            rows[count++] = k;
        }
        for (int k = 0; k < own; k++) {
            for (int t = 0; t < groups[k].count && !m->slips[GROUPS * i + groups[k].kind]; t++) {
                rows[count++] = groups[k].row + t;
            }
        }
    }
    return count;
}

// Contacts at a switch whose rows the others hold already: none of their modes changes u. They keep their impulses, and are at
// no switch. false: no memory.
static bool leave_redundant(crModes* m, double near, const double* w, crArena* arena) {
    size_t n = (size_t)m->rows, mark = cr_arena_mark(arena);
    if (!(m->distance <= near)) return true;
    int* held = cr_arena_alloc(arena, (3 * n + 1) * sizeof *held);
    double* H = cr_arena_alloc(arena, (n * n + 3 * n + 1) * sizeof *H);
    if (held == NULL || H == NULL) return false;
    int count = held_rows(m, near, held), *order = held + n;
    size_t k = (size_t)count;
    double *c = H + n * n, *x = c + n, *work = x + n;
    for (size_t i = 0; i < k * k; i++) {
        H[i] = m->W[(size_t)held[i / k] * n + (size_t)held[i % k]];
    }
    int rank = cr__lu_complete(H, count, RANK, order, order + n);
    for (int i = 0; i < m->problem->block_count; i++) {
        const crBlock* b = &m->problem->blocks[i];
        bool contact = b->kind == CR_BLOCK_CONE || b->kind == CR_BLOCK_UNILATERAL;
        bool held_too = contact && m->margin[i] <= near;
        for (int r = b->row; r < b->row + b->count && held_too; r++) {
            const double* row = m->W + (size_t)r * n;
            double left = row[r];
            for (size_t j = 0; j < k; j++) {
                c[j] = row[held[j]];
            }
            cr__lu_complete_solve(H, count, rank, order, order + n, c, work, x);
            for (size_t j = 0; j < k; j++) {
                left -= c[j] * x[j];
            }
            held_too = fabs(w[r]) <= near && fabs(left) <= SAME * row[r];
        }
        if (!held_too) continue;
        m->mode[i] = CR_MODE_OPEN;
        m->margin[i] = INFINITY;
    }
    cr_arena_release(arena, mark);
    find_nearest(m);
    return true;
}

static void fill_modes(const crModes* m, const double* w, double* A) {
    size_t n = (size_t)m->rows;
    for (int i = 0; i < m->problem->block_count; i++) {
        const crBlock* b = &m->problem->blocks[i];
        bool rests = presses(m, i);
        for (int r = b->row; r < b->row + b->count; r++) {
            if (rests) {
                memcpy(A + (size_t)r * n, m->W + (size_t)r * n, n * sizeof *A);
            } else {
                A[(size_t)r * n + (size_t)r] = 1.0;
            }
        }
        Group groups[GROUPS];
        int count = rests && is_cone(b) ? groups_of(b, groups) : 0;
        for (int k = 0; k < count; k++) {
            int at = GROUPS * i + groups[k].kind;
            if (m->slips[at]) slip_rows(m, b, &groups[k], w, m->K + 4 * (size_t)at, A);
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

// Whether changes of p that the modes leave free, A z = 0, leave u as it is: W z = 0. z (rows)
static bool one_velocity(const crModes* m, double* z) {
    size_t n = (size_t)m->rows, rank = (size_t)m->rank;
    const int* cols = m->order + n;
    for (size_t k = rank; k < n; k++) {
        memset(z, 0, n * sizeof *z);
        z[cols[k]] = 1.0;
        for (size_t i = rank; i-- > 0;) {
            double sum = m->LU[i * n + k];
            for (size_t j = i + 1; j < rank; j++) {
                sum += m->LU[i * n + j] * z[cols[j]];
            }
            z[cols[i]] = -sum / m->LU[i * n + i];
        }
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0, all = 0.0;
            for (size_t j = 0; j < n; j++) {
                sum += m->W[i * n + j] * z[j];
                all += fabs(m->W[i * n + j] * z[j]);
            }
            if (fabs(sum) > SAME * all) return false;
        }
    }
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
    *modes = (crModes){.problem = problem, .p = p, .rows = problem->rows};
    double* w = cr_arena_alloc(arena, (n + 1) * sizeof *w);
    modes->s = cr_arena_alloc(arena, (n + 1) * sizeof *w);
    modes->work = cr_arena_alloc(arena, (4 * n + 1) * sizeof *w);
    size_t groups = GROUPS * (size_t)problem->block_count;
    modes->K = cr_arena_alloc(arena, (4 * groups + 1) * sizeof *w);
    modes->slips = cr_arena_alloc(arena, (groups + 1) * sizeof *modes->slips);
    modes->mode = cr_arena_alloc(arena, ((size_t)problem->block_count + 1) * sizeof *modes->mode);
    modes->margin = cr_arena_alloc(arena, ((size_t)problem->block_count + 1) * sizeof *modes->margin);
    modes->which = cr_arena_alloc(arena, ((size_t)problem->block_count + 1) * sizeof *modes->which);
    if (w == NULL || modes->s == NULL || modes->work == NULL || modes->K == NULL || modes->slips == NULL ||
        modes->mode == NULL || modes->margin == NULL || modes->which == NULL) {
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    }
    memset(modes->s, 0, n * sizeof *w);
    memset(modes->slips, 0, groups * sizeof *modes->slips);
    status = cr_problem_dense(problem, arena, &modes->W);
    if (status == CR_OK) status = cr_problem_velocity(problem, arena, p, w);
    if (status != CR_OK) return status;
    for (size_t i = 0; i < n && problem->b != NULL; i++) {
        w[i] += problem->b[i];
    }
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        double W = modes->W[(size_t)b->row * (n + 1)];
        modes->margin[i] = INFINITY;
        modes->mode[i] = is_cone(b) ? cone_mode(modes, b, i, w, modes->slips + GROUPS * i)
                                    : single_mode(modes, b, i, p[b->row], w[b->row], W);
    }
    find_nearest(modes);
    if (!leave_redundant(modes, near, w, arena) || !factor_modes(modes, w, arena))
        return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    modes->one = one_velocity(modes, modes->work);
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

// change of the friction of a group
static double change_of_mu(const crProblemChange* change, int block, int kind) {
    const double* of[GROUPS] = {change->mu, change->mu_spin, change->mu_roll};
    return of[kind] != NULL ? of[kind][block] : 0.0;
}

// right side of A dp = r
static void right_side(const crModes* m, const crProblemChange* change, const double* dw, double* r) {
    for (int i = 0; i < m->problem->block_count; i++) {
        const crBlock* b = &m->problem->blocks[i];
        bool rests = presses(m, i);
        Group groups[GROUPS];
        int count = rests && is_cone(b) ? groups_of(b, groups) : 0;
        for (int k = b->row; k < b->row + b->count; k++) {
            r[k] = rests ? -dw[k] : 0.0;
        }
        for (int k = 0; k < count; k++) {
            const Group* g = &groups[k];
            int at = GROUPS * i + g->kind;
            const double* K = m->K + 4 * (size_t)at;
            double by = change_of_mu(change, i, g->kind) * m->p[b->row];
            for (int t = 0; m->slips[at] && t < g->count; t++) {
                double second = g->count == 2 ? dw[g->row + 1] : 0.0;
                r[g->row + t] = -K[2 * t] * dw[g->row] - K[2 * t + 1] * second - by * m->s[g->row + t];
            }
        }
    }
}

crStatus cr_modes_apply(const crModes* m, const crProblemChange* change, double* dp, double* du) {
    if (m == NULL || m->problem == NULL || m->work == NULL || change == NULL || dp == NULL || du == NULL)
        return CR_ERR_ARGUMENT;
    size_t n = (size_t)m->rows;
    double *g = m->work, *r = m->work + n, *dw = m->work + 3 * n;
    change_of(m, change, g);
    // b changes w and not u
    for (size_t i = 0; i < n; i++) {
        dw[i] = g[i] + (change->b != NULL ? change->b[i] : 0.0);
    }
    right_side(m, change, dw, r);
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

// by_g -= those by w of a cone's groups; what their friction gets in by_mu (GROUPS)
static void back_groups(const crModes* m, int block, const double* y, double* by_g, double by_mu[GROUPS]) {
    const crBlock* b = &m->problem->blocks[block];
    Group groups[GROUPS];
    int count = groups_of(b, groups);
    by_g[b->row] -= y[b->row];
    for (int k = 0; k < count; k++) {
        const Group* g = &groups[k];
        int at = GROUPS * block + g->kind;
        const double* K = m->K + 4 * (size_t)at;
        for (int t = 0; t < g->count; t++) {
            int row = g->row + t;
            if (!m->slips[at]) {
                by_g[row] -= y[row];
                continue;
            }
            by_g[g->row] -= K[2 * t] * y[row];
            if (g->count == 2) by_g[g->row + 1] -= K[2 * t + 1] * y[row];
            by_mu[g->kind] -= m->p[b->row] * m->s[row] * y[row];
        }
    }
}

crStatus cr_modes_adjoint(const crModes* m, const double* by_p, const double* by_u, double* by_g,
                          double* by_mu, double* by_mu_spin, double* by_mu_roll) {
    if (m == NULL || m->problem == NULL || m->work == NULL || by_g == NULL) return CR_ERR_ARGUMENT;
    size_t n = (size_t)m->rows;
    double *c = m->work, *y = m->work + n;
    double* friction[GROUPS] = {by_mu, by_mu_spin, by_mu_roll};
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
        double own[GROUPS] = {0};
        bool cone = is_cone(b), rests = presses(m, i);
        if (cone && rests) back_groups(m, i, y, by_g, own);
        for (int k = b->row; !cone && rests && k < b->row + b->count; k++) {
            by_g[k] -= y[k];
        }
        for (int k = 0; k < GROUPS; k++) {
            if (friction[k] != NULL) friction[k][i] = own[k];
        }
    }
    return CR_OK;
}
