// judge_large.c - the backward error of one witness of a problem of any size, in quadruple precision.
//
// p^ is given; it must obey the laws exactly. Its velocities u^ are those nearest to u = u_free + b + W p^ that the laws allow
// beside p^, and the change of b is u^ - u. Friction of doubles is at its limit to rounding alone: where p^ is CLOSE to it
// and the contact slips, the point of the limit takes its place. No other witness is looked for.
#include "judge_friction.h"

#include <stdlib.h>
#include <string.h>

#define EDGE  1e-12  // of the limit: farther outside, friction does not obey
#define CLOSE 1e-9   // of the limit: closer, friction may be at it

// y += A x for one row, and y[col] += s A_row
static Quad row_times(const crMatrix* A, int i, const Quad* x) {
    Quad sum = 0;
    int end = A->start == NULL ? A->cols : A->start[i + 1];
    for (int k = A->start == NULL ? 0 : A->start[i]; k < end; k++) {
        size_t at = A->start == NULL ? (size_t)i * (size_t)A->cols + (size_t)k : (size_t)k;
        sum += (Quad)A->value[at] * x[A->start == NULL ? k : A->col[k]];
    }
    return sum;
}

static void add_row(const crMatrix* A, int i, Quad s, Quad* y) {
    int end = A->start == NULL ? A->cols : A->start[i + 1];
    for (int k = A->start == NULL ? 0 : A->start[i]; k < end; k++) {
        size_t at = A->start == NULL ? (size_t)i * (size_t)A->cols + (size_t)k : (size_t)k;
        y[A->start == NULL ? k : A->col[k]] += s * (Quad)A->value[at];
    }
}

// u = u_free + b + W p
static void velocities(const crProblem* problem, const Quad* p, Quad* u) {
    Quad* x = calloc((size_t)problem->nv + (size_t)problem->rows + 1, sizeof *x);
    Quad* y = calloc((size_t)problem->nv + 1, sizeof *y);
    for (int i = 0; i < problem->rows && problem->W.value == NULL; i++) {
        add_row(&problem->J, i, p[i], x);
    }
    for (int i = 0; i < problem->rows && problem->W.value != NULL; i++) {
        x[i] = p[i];
    }
    for (int j = 0; j < problem->nv && problem->W.value == NULL; j++) {
        y[j] = row_times(&problem->Minv, j, x);
    }
    for (int i = 0; i < problem->rows; i++) {
        u[i] = (Quad)problem->u_free[i] + (problem->b != NULL ? (Quad)problem->b[i] : 0);
        u[i] += problem->W.value != NULL ? row_times(&problem->W, i, x) : row_times(&problem->J, i, y);
    }
    free(x);
    free(y);
}

// islands: blocks that share a velocity, or velocities that Minv couples; W: blocks that it couples
static int leader(const int* parent, int i) {
    while (parent[i] != i) {
        i = parent[i];
    }
    return i;
}

static void unite(int* parent, int a, int b) {
    a = leader(parent, a);
    b = leader(parent, b);
    if (a != b) parent[a > b ? a : b] = a > b ? b : a;
}

static void unite_row(const crMatrix* A, int i, int node, const int* node_of, int first, int* parent) {
    int end = A->start == NULL ? A->cols : A->start[i + 1];
    for (int k = A->start == NULL ? 0 : A->start[i]; k < end; k++) {
        size_t at = A->start == NULL ? (size_t)i * (size_t)A->cols + (size_t)k : (size_t)k;
        int j = A->start == NULL ? k : A->col[k];
        if (A->value[at] != 0.0) unite(parent, node, node_of != NULL ? node_of[j] : first + j);
    }
}

static void find_islands(const crProblem* problem, int* parent) {
    int blocks = problem->block_count;
    int* of = calloc((size_t)problem->rows + 1, sizeof *of);
    for (int i = 0; i < blocks + problem->nv; i++) {
        parent[i] = i;
    }
    for (int i = 0; i < blocks; i++) {
        for (int r = 0; r < problem->blocks[i].count; r++) {
            of[problem->blocks[i].row + r] = i;
        }
    }
    for (int r = 0; r < problem->rows; r++) {
        if (problem->W.value != NULL) {
            unite_row(&problem->W, r, of[r], of, 0, parent);
        } else {
            unite_row(&problem->J, r, of[r], NULL, blocks, parent);
        }
    }
    for (int j = 0; j < problem->nv && problem->W.value == NULL; j++) {
        unite_row(&problem->Minv, j, blocks + j, NULL, blocks, parent);
    }
    free(of);
}

// kinds that are judged: round cones, rows that push one way, rows that hold, rows with bounds
static bool is_known(const crBlock* b) {
    if (b->kind == CR_BLOCK_CONE) {
        bool round = b->count == 2 || (b->count == 3 && b->mu == b->mu2);
        return round && b->vertex_count == 0 && !b->spin && !b->roll && isfinite(b->mu);
    }
    return true;
}

// squared distance of velocities to those of a contact at its limit: u_n = 0 and u_t = -t p_t / |p_t|, t >= 0
static Quad slip_miss(const crBlock* b, const Quad* p, const Quad* u) {
    int n = b->count - 1;
    Quad size = quad_norm(p + 1, n), along = 0, sum = u[0] * u[0];
    for (int k = 1; k <= n && size > 0; k++) {
        along -= u[k] * p[k] / size;
    }
    if (along < 0) along = 0;
    for (int k = 1; k <= n && size > 0; k++) {
        Quad off = u[k] + along * p[k] / size;
        sum += off * off;
    }
    return sum;
}

static Quad stick_miss(const crBlock* b, const Quad* u) {
    Quad size = quad_norm(u, b->count);
    return size * size;
}

// W_rr
static Quad diagonal(const crProblem* problem, int r) {
    const crMatrix *J = &problem->J, *M = &problem->Minv;
    if (problem->W.value != NULL) return quad_entry(&problem->W, r, r);
    Quad sum = 0;
    int first = J->start == NULL ? 0 : J->start[r], end = J->start == NULL ? J->cols : J->start[r + 1];
    const double* value = J->start == NULL ? J->value + (size_t)r * (size_t)J->cols : J->value;
    for (int k = first; k < end; k++) {
        for (int l = first; l < end; l++) {
            if (value[k] == 0.0 || value[l] == 0.0) continue;
            int i = J->start == NULL ? k : J->col[k], j = J->start == NULL ? l : J->col[l];
            sum += (Quad)value[k] * quad_entry(M, i, j) * (Quad)value[l];
        }
    }
    return sum;
}

// friction that is close to its limit goes there where that suits the velocities better; *obeys: whether p lies in the cone
static void snap(const crProblem* problem, const crBlock* b, const Quad* u, Quad* p, bool* obeys) {
    int n = b->count - 1;
    Quad size = quad_norm(p + 1, n), limit = (Quad)b->mu * p[0];
    *obeys = *obeys && p[0] >= 0 && size <= limit * (1 + (Quad)EDGE);
    if (!(size >= limit * (1 - (Quad)CLOSE)) || !(size > 0)) return;
    Quad W = diagonal(problem, b->row) + diagonal(problem, b->row + 1) +
             (n > 1 ? diagonal(problem, b->row + 2) : 0);
    Quad gain = quad_sqrt(stick_miss(b, u)) - quad_sqrt(slip_miss(b, p, u));
    // what the change itself does to velocities counts
    if (!(gain > W * quad_abs(limit - size))) return;
    // against the slip, where that changes velocities by rounding of doubles alone: small impulses at fast slip have few digits
    // of its direction
    Quad speed = quad_norm(u + 1, n), turned = 0;
    for (int k = 1; k <= n && speed > 0; k++) {
        Quad off = -limit * u[k] / speed - p[k];
        turned += off * off;
    }
    turned = quad_sqrt(turned);
    bool against = speed > 0 && turned <= (Quad)CLOSE * limit && W * turned <= (Quad)0x1p-48 * speed;
    for (int k = 1; k <= n; k++) {
        p[k] = against ? -limit * u[k] / speed : p[k] * (limit / size);
    }
}

static Quad cone_miss(const crBlock* b, const Quad* p, const Quad* u) {
    if (p[0] == 0) return u[0] < 0 ? u[0] * u[0] : 0;
    Quad limit = (Quad)b->mu * p[0];
    bool at = quad_norm(p + 1, b->count - 1) >= limit * (1 - (Quad)0x1p-100);
    return at ? smaller(slip_miss(b, p, u), stick_miss(b, u)) : stick_miss(b, u);
}

static Quad block_miss(const crBlock* b, const Quad* p, const Quad* u, bool* obeys) {
    if (b->kind == CR_BLOCK_CONE) return cone_miss(b, p, u);
    Quad arm = b->arm > 0.0 ? (Quad)b->arm : 1, sum = 0;
    bool pushes = b->kind == CR_BLOCK_UNILATERAL, box = b->kind == CR_BLOCK_BOX;
    double lo = pushes ? 0.0 : box ? b->lo : -(double)INFINITY, hi = box ? b->hi : (double)INFINITY;
    for (int k = 0; k < b->count; k++) {
        *obeys = *obeys && p[k] >= (Quad)lo && p[k] <= (Quad)hi;
        // at a bound the velocity may point away from it
        bool free = (p[k] == (Quad)lo && u[k] > 0) || (p[k] == (Quad)hi && u[k] < 0);
        Quad off = free ? 0 : arm * u[k];
        sum += off * off;
    }
    return sum;
}

// what the bounds of a row let impulses change of its velocity q
static Quad bounded_wish(const crProblem* problem, const crBlock* b, int r, Quad q) {
    Quad W = diagonal(problem, r), wish = W > 0 ? -q / W : 0;
    if (!(W > 0)) return quad_abs(q);
    if (wish < (Quad)b->lo) wish = (Quad)b->lo;
    if (wish > (Quad)b->hi) wish = (Quad)b->hi;
    return quad_abs(W * wish);
}

// the largest velocity that the block's laws want changed where there are no impulses
static Quad block_wish(const crProblem* problem, const crBlock* b) {
    Quad q[6] = {0}, most = 0, arm = b->arm > 0.0 ? (Quad)b->arm : 1;
    for (int k = 0; k < b->count; k++) {
        Quad at = (Quad)problem->u_free[b->row + k] + (problem->b != NULL ? (Quad)problem->b[b->row + k] : 0);
        if (b->kind == CR_BLOCK_CONE) {
            q[k] = at;
        } else {
            Quad off = b->kind == CR_BLOCK_UNILATERAL && at > 0 ? 0 : quad_abs(at);
            if (b->kind == CR_BLOCK_BOX) off = bounded_wish(problem, b, b->row + k, at);
            most = larger(most, arm * off);
        }
    }
    if (b->kind != CR_BLOCK_CONE || q[0] >= 0) return most;
    return larger(-q[0], smaller(quad_norm(q + 1, b->count - 1), (Quad)b->mu * -q[0]));
}

JudgeWitness judge_one_witness(const crProblem* problem, const double* p_hat) {
    JudgeWitness out = {.known = !problem->raw, .obeys = true};
    for (int i = 0; i < problem->block_count; i++) {
        out.known = out.known && is_known(&problem->blocks[i]);
    }
    if (!out.known) return out;
    size_t nodes = (size_t)problem->block_count + (size_t)problem->nv + 1;
    Quad* u = calloc((size_t)problem->rows + 1, sizeof *u);
    Quad* p = calloc((size_t)problem->rows + 1, sizeof *p);
    Quad* scale = calloc(nodes, sizeof *scale);
    int* parent = calloc(nodes, sizeof *parent);
    for (int i = 0; i < problem->rows; i++) {
        p[i] = (Quad)p_hat[i];
    }
    velocities(problem, p, u);
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        if (b->kind == CR_BLOCK_CONE) snap(problem, b, u + b->row, p + b->row, &out.obeys);
    }
    velocities(problem, p, u);
    find_islands(problem, parent);
    for (int i = 0; i < problem->block_count; i++) {
        Quad* at = &scale[leader(parent, i)];
        *at = larger(larger(*at, (Quad)problem->rest), block_wish(problem, &problem->blocks[i]));
    }
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        Quad eta = quad_sqrt(block_miss(b, p + b->row, u + b->row, &out.obeys));
        Quad size = scale[leader(parent, i)];
        double share = eta == 0 ? 0.0 : size > 0 ? (double)(eta / size) : (double)INFINITY;
        out.eta = fmax(out.eta, (double)eta);
        out.residual = fmax(out.residual, share);
    }
    free(u);
    free(p);
    free(scale);
    free(parent);
    return out;
}
