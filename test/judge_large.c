// judge_large.c - the backward error of one witness of a problem of any size, in quadruple precision.
//
// p^ is given; it must obey the laws exactly. Its velocities u^ are those nearest to u = u_free + b + W p^ that the laws allow
// beside p^, and the change of b is u^ - u. Friction is taken as sticking or as at its limit, whichever is nearer to u where p^ is
// within rounding of the limit. No witness is looked for.
#include "judge_friction.h"

#include <stdlib.h>
#include <string.h>

#define EDGE 1e-12  // of the limit: closer, friction may be at it

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
static void velocities(const crProblem* problem, const double* p, Quad* u) {
    Quad* x = calloc((size_t)problem->nv + (size_t)problem->rows + 1, sizeof *x);
    Quad* y = calloc((size_t)problem->nv + 1, sizeof *y);
    for (int i = 0; i < problem->rows && problem->W.value == NULL; i++) {
        add_row(&problem->J, i, (Quad)p[i], x);
    }
    for (int i = 0; i < problem->rows && problem->W.value != NULL; i++) {
        x[i] = (Quad)p[i];
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

// squared distance of a cone's velocities to what p allows; *obeys: whether p lies in the cone
static Quad cone_miss(const crBlock* b, const double* p, const Quad* u, bool* obeys) {
    int n = b->count - 1;
    Quad pn = (Quad)p[0], pt[2] = {0}, sticking = u[0] * u[0], along = 0;
    for (int k = 0; k < n; k++) {
        pt[k] = (Quad)p[1 + k];
        sticking += u[1 + k] * u[1 + k];
    }
    Quad size = quad_norm(pt, n), limit = (Quad)b->mu * pn;
    *obeys = *obeys && pn >= 0 && size <= limit * (1 + (Quad)EDGE);
    if (pn == 0) return u[0] < 0 ? u[0] * u[0] : 0;
    if (size < limit * (1 - (Quad)EDGE)) return sticking;
    // at its limit: u_t = -t p_t / |p_t|, t >= 0; without friction any u_t
    Quad slipping = u[0] * u[0];
    for (int k = 0; k < n && size > 0; k++) {
        along -= u[1 + k] * pt[k] / size;
    }
    if (along < 0) along = 0;
    for (int k = 0; k < n && size > 0; k++) {
        Quad off = u[1 + k] + along * pt[k] / size;
        slipping += off * off;
    }
    return smaller(slipping, sticking);
}

static Quad block_miss(const crBlock* b, const double* p, const Quad* u, bool* obeys) {
    if (b->kind == CR_BLOCK_CONE) return cone_miss(b, p, u, obeys);
    Quad arm = b->arm > 0.0 ? (Quad)b->arm : 1, sum = 0;
    bool pushes = b->kind == CR_BLOCK_UNILATERAL, box = b->kind == CR_BLOCK_BOX;
    double lo = pushes ? 0.0 : box ? b->lo : -(double)INFINITY, hi = box ? b->hi : (double)INFINITY;
    for (int k = 0; k < b->count; k++) {
        *obeys = *obeys && p[k] >= lo && p[k] <= hi;
        // at a bound the velocity may point away from it
        bool free = (p[k] == lo && u[k] > 0) || (p[k] == hi && u[k] < 0);
        Quad off = free ? 0 : arm * u[k];
        sum += off * off;
    }
    return sum;
}

// W_rr
static Quad diagonal(const crProblem* problem, int r) {
    const crMatrix *J = &problem->J, *M = &problem->Minv;
    if (problem->W.value != NULL) return quad_entry(&problem->W, r, r);
    Quad sum = 0;
    for (int i = 0; i < problem->nv; i++) {
        Quad left = quad_entry(J, r, i);
        for (int j = 0; j < problem->nv && left != 0; j++) {
            Quad right = quad_entry(J, r, j);
            if (right != 0) sum += left * quad_entry(M, i, j) * right;
        }
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
    Quad* scale = calloc(nodes, sizeof *scale);
    int* parent = calloc(nodes, sizeof *parent);
    velocities(problem, p_hat, u);
    find_islands(problem, parent);
    for (int i = 0; i < problem->block_count; i++) {
        Quad* at = &scale[leader(parent, i)];
        *at = larger(larger(*at, (Quad)problem->rest), block_wish(problem, &problem->blocks[i]));
    }
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        Quad eta = quad_sqrt(block_miss(b, p_hat + b->row, u + b->row, &out.obeys));
        Quad size = scale[leader(parent, i)];
        double share = eta == 0 ? 0.0 : size > 0 ? (double)(eta / size) : (double)INFINITY;
        out.eta = fmax(out.eta, (double)eta);
        out.residual = fmax(out.residual, share);
    }
    free(u);
    free(scale);
    free(parent);
    return out;
}
