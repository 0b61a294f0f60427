// judge.c - backward errors in quadruple precision, by trying witnesses.
#include "judge_friction.h"

#include <string.h>

#define FAR   1e100  // added to the residual of witnesses that are too far away
#define SEATS 32     // rows and friction parts of a problem, at most

Quad quad_abs(Quad x) { return x < 0 ? -x : x; }

Quad quad_sqrt(Quad x) {
    if (!(x > 0)) return 0;
    // a power of four is taken out so that the first guess by double neither overflows nor underflows
    Quad scale = 1;
    while (x > (Quad)1e200) {
        x /= (Quad)0x1p200;
        scale *= (Quad)0x1p100;
    }
    while (x < (Quad)1e-200) {
        x *= (Quad)0x1p200;
        scale /= (Quad)0x1p100;
    }
    Quad r = (Quad)sqrt((double)x);
    for (int k = 0; k < 3; k++) {
        r = (r + x / r) / 2;
    }
    return scale * r;
}

// data of a problem in full

typedef struct Data {
    const crProblem* problem;
    int n;
    Quad W[JUDGE_ROWS][JUDGE_ROWS];
    Quad q[JUDGE_ROWS];  // u_free + b
    Quad p[JUDGE_ROWS];
    bool linked[JUDGE_ROWS][JUDGE_ROWS];
    int island[JUDGE_ROWS];  // of each block
    Quad scale[JUDGE_ROWS];  // of each block
    Quad reach;              // farthest that sqrt(W_ii) p_i may move to its witness; < 0: any way
} Data;

Quad quad_entry(const crMatrix* A, int i, int j) {
    if (A->start == NULL) return (Quad)A->value[(size_t)i * (size_t)A->cols + (size_t)j];
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
        if (A->col[k] == j) return (Quad)A->value[k];
    }
    return 0;
}

static void expand_operator(Data* d) {
    const crProblem* problem = d->problem;
    for (int i = 0; i < d->n; i++) {
        for (int j = 0; j < d->n; j++) {
            for (int a = 0; a < problem->nv; a++) {
                Quad left = quad_entry(&problem->J, i, a);
                if (left == 0) continue;
                for (int b = 0; b < problem->nv; b++) {
                    Quad term = left * quad_entry(&problem->Minv, a, b) * quad_entry(&problem->J, j, b);
                    d->W[i][j] += term;
                    if (term != 0) d->linked[i][j] = true;
                }
            }
        }
    }
}

static void expand(Data* d, const crProblem* problem, const double* p) {
    memset(d, 0, sizeof *d);
    d->problem = problem;
    d->n = problem->rows;
    for (int i = 0; i < d->n; i++) {
        d->q[i] = (Quad)problem->u_free[i] + (problem->b != NULL ? (Quad)problem->b[i] : 0);
        d->p[i] = p != NULL ? (Quad)p[i] : 0;
        for (int j = 0; problem->W.value != NULL && j < d->n; j++) {
            d->W[i][j] = quad_entry(&problem->W, i, j);
            d->linked[i][j] = d->W[i][j] != 0;
        }
    }
    if (problem->W.value == NULL) expand_operator(d);
}

static void velocity(const Data* d, const Quad* p, Quad* w) {
    for (int i = 0; i < d->n; i++) {
        w[i] = d->q[i];
        for (int j = 0; j < d->n; j++) {
            w[i] += d->W[i][j] * p[j];
        }
    }
}

static int tangents_of(const crBlock* b) { return b->count - 1 - (b->spin ? 1 : 0) - (b->roll ? 2 : 0); }

// scale: the velocity that the laws want changed where there are no impulses

static Quad farthest_vertex(const crProblem* problem, const crBlock* b) {
    Quad most = 0;
    for (int k = 0; k < b->vertex_count; k++) {
        Quad v[2] = {(Quad)problem->vertices[b->vertex + k][0], (Quad)problem->vertices[b->vertex + k][1]};
        most = larger(most, quad_norm(v, 2));
    }
    return most;
}

static Quad block_scale(const Data* d, const crBlock* b) {
    Quad most = 0;
    if (b->kind == CR_BLOCK_CONE) {
        Quad closing = larger(0, -d->q[b->row]), slip = quad_norm(d->q + b->row + 1, tangents_of(b));
        double wide = b->vertex_count > 0   ? (double)farthest_vertex(d->problem, b)
                      : tangents_of(b) == 2 ? fmax(b->mu, b->mu2)
                                            : b->mu;
        Quad held = closing > 0 ? (isinf(wide) ? slip : smaller(slip, (Quad)wide * closing)) : 0;
        return larger(closing, held);
    }
    for (int k = b->row; k < b->row + b->count; k++) {
        Quad off = quad_abs(d->q[k]), W = d->W[k][k];
        if (b->kind == CR_BLOCK_UNILATERAL) off = larger(0, -d->q[k]);
        if (b->kind == CR_BLOCK_BOX && W > 0) {
            Quad wish = -d->q[k] / W;
            if (wish < (Quad)b->lo) wish = (Quad)b->lo;
            if (wish > (Quad)b->hi) wish = (Quad)b->hi;
            off = quad_abs(W * wish);
        }
        most = larger(most, off * (b->arm > 0.0 ? (Quad)b->arm : 1));
    }
    return most;
}

// blocks that act on each other share the largest of their scales
static void find_scales(Data* d) {
    const crProblem* problem = d->problem;
    for (int i = 0; i < problem->block_count; i++) {
        d->island[i] = i;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < problem->block_count; i++) {
            for (int j = 0; j < problem->block_count; j++) {
                const crBlock *a = &problem->blocks[i], *b = &problem->blocks[j];
                bool linked = false;
                for (int r = a->row; r < a->row + a->count; r++) {
                    for (int s = b->row; s < b->row + b->count; s++) {
                        linked = linked || d->linked[r][s];
                    }
                }
                if (!linked || d->island[i] == d->island[j]) continue;
                d->island[i] = d->island[j] = d->island[i] < d->island[j] ? d->island[i] : d->island[j];
                changed = true;
            }
        }
    }
    for (int i = 0; i < problem->block_count; i++) {
        d->scale[i] = (Quad)problem->rest;
        for (int j = 0; j < problem->block_count; j++) {
            if (d->island[j] == d->island[i]) {
                d->scale[i] = larger(d->scale[i], block_scale(d, &problem->blocks[j]));
            }
        }
    }
}

// seats

static Quad diagonal_sum(const Data* d, int at, int count) {
    Quad sum = 0;
    for (int k = at; k < at + count; k++) {
        sum += d->W[k][k];
    }
    return sum;
}

static void add_seat(Seat* seats, int* count, Seat seat) { seats[(*count)++] = seat; }

static void cone_seats(const Data* d, int i, Seat* seats, int* count) {
    const crBlock* b = &d->problem->blocks[i];
    int tangents = tangents_of(b), at = b->row + 1 + tangents;
    Quad linear = diagonal_sum(d, b->row, 1 + tangents);
    add_seat(seats, count, (Seat){i, b->row, 1, -1, 0, 0, false, 1, 2});
    bool polygon = b->vertex_count > 0;
    add_seat(seats, count,
             (Seat){i, b->row + 1, tangents, b->row, b->mu, b->mu2, polygon, 1,
                    polygon ? 1 + 3 * b->vertex_count : 3});
    if (b->spin) {
        Quad W = d->W[at][at], length = W > 0 ? quad_sqrt(linear / W) : 1;
        add_seat(seats, count, (Seat){i, at, 1, b->row, b->mu_spin, 0, false, length, 3});
        at++;
    }
    if (b->roll) {
        Quad W = diagonal_sum(d, at, 2), length = W > 0 ? quad_sqrt(linear / W) : 1;
        add_seat(seats, count, (Seat){i, at, 2, b->row, b->mu_roll, b->mu_roll, false, length, 3});
    }
}

static int make_seats(const Data* d, Seat* seats) {
    int count = 0;
    for (int i = 0; i < d->problem->block_count; i++) {
        const crBlock* b = &d->problem->blocks[i];
        if (b->kind == CR_BLOCK_CONE) {
            cone_seats(d, i, seats, &count);
            continue;
        }
        Quad arm = b->arm > 0.0 ? (Quad)b->arm : 1;
        int modes = b->kind == CR_BLOCK_EQUALITY ? 1 : b->kind == CR_BLOCK_UNILATERAL ? 2 : 3;
        for (int k = 0; k < b->count; k++) {
            add_seat(seats, &count, (Seat){i, b->row + k, 1, -1, 0, 0, false, arm, modes});
        }
    }
    return count;
}

// impulse of a row in a mode: 0 held, 1 at the lower limit, 2 at the upper one
static Choice row_choice(const Data* d, const Seat* s, int mode, Quad* out) {
    const crBlock* b = &d->problem->blocks[s->block];
    Quad p = d->p[s->at];
    Choice c = {.allow = ALLOW_ZERO};
    *out = p;
    if (b->kind == CR_BLOCK_EQUALITY) return c;
    bool box = b->kind == CR_BLOCK_BOX;
    double lo = box ? b->lo : 0.0, hi = box ? b->hi : (double)INFINITY;
    if (lo == hi) {
        c.allow = ALLOW_ALL;
        *out = (Quad)lo;
        return c;
    }
    if (mode == 1 && isfinite(lo)) {
        c.allow = ALLOW_UP;
        *out = (Quad)lo;
    } else if (mode == 2 && isfinite(hi)) {
        c.allow = ALLOW_DOWN;
        *out = (Quad)hi;
    } else {
        if (p < (Quad)lo) *out = (Quad)lo;
        if (p > (Quad)hi) *out = (Quad)hi;
    }
    return c;
}

// witnesses

typedef struct Witness {
    int mode[SEATS];
    Quad p[JUDGE_ROWS];
    Choice choice[SEATS];
    Quad eta[JUDGE_ROWS];  // of each block, squared while it is summed
    Quad worst;            // relative
    int worst_block;
} Witness;

static void make_witness(const Data* d, const Seat* seats, int count, const Quad* w, Witness* x) {
    for (int i = 0; i < count; i++) {
        const Seat* s = &seats[i];
        if (s->normal < 0) {
            x->choice[i] = row_choice(d, s, x->mode[i], &x->p[s->at]);
            continue;
        }
        Quad pn = x->p[s->normal], z[2] = {0};
        const Quad* p = d->p + s->at;
        const crBlock* b = &d->problem->blocks[s->block];
        Quad linear = diagonal_sum(d, b->row, 1 + tangents_of(b));
        Quad weight = s->at <= b->row + tangents_of(b) ? linear : diagonal_sum(d, s->at, s->count);
        Quad zn = linear > 0 ? d->p[b->row] - w[b->row] / linear : d->p[b->row];
        for (int k = 0; k < s->count; k++) {
            z[k] = weight > 0 ? p[k] - w[s->at + k] / weight : p[k];
            if (zn > 0) z[k] *= pn / zn;
        }
        Choice* c = &x->choice[i];
        if (pn == 0 && judge_endless(s) && x->mode[i] > 0 && x->choice[i - 1].allow == ALLOW_ZERO) {
            *c = judge_barely_pressed(s, p, x->p + s->at);
        } else if (pn == 0) {
            // an open contact has no friction, and its tangential velocity is free
            for (int k = 0; k < s->count; k++) {
                x->p[s->at + k] = 0;
            }
            c->allow = ALLOW_ALL;
        } else {
            *c = judge_friction(d->problem, s, x->mode[i], pn, p, z, x->p + s->at);
        }
    }
}

static void judge_witness(const Data* d, const Seat* seats, int count, const Quad* w, Witness* x) {
    Quad now[JUDGE_ROWS];
    make_witness(d, seats, count, w, x);
    velocity(d, x->p, now);
    for (int i = 0; i < d->problem->block_count; i++) {
        x->eta[i] = 0;
    }
    for (int i = 0; i < count; i++) {
        const Seat* s = &seats[i];
        Quad off = s->length * judge_miss(&x->choice[i], s->count, now + s->at);
        x->eta[s->block] += off * off;
    }
    x->worst = 0;
    x->worst_block = -1;
    bool far = false;
    for (int i = 0; d->reach >= 0 && i < d->n; i++) {
        far = far || quad_sqrt(d->W[i][i]) * quad_abs(x->p[i] - d->p[i]) > d->reach;
    }
    for (int i = 0; i < d->problem->block_count; i++) {
        x->eta[i] = quad_sqrt(x->eta[i]);
        Quad share = x->eta[i] == 0 ? 0 : d->scale[i] > 0 ? x->eta[i] / d->scale[i] : (Quad)INFINITY;
        if (share > x->worst || x->worst_block < 0) {
            x->worst = share;
            x->worst_block = i;
        }
    }
    if (far) x->worst += (Quad)FAR;
}

// first guesses: by impulses alone, and by impulses and velocities
static void guess(const Data* d, const Seat* seats, int count, const Quad* w, bool both, Witness* x) {
    for (int i = 0; i < count; i++) {
        const Seat* s = &seats[i];
        const crBlock* b = &d->problem->blocks[s->block];
        x->mode[i] = 0;
        Quad lambda = d->W[s->at][s->at];
        if (b->kind == CR_BLOCK_CONE) {
            lambda = s->length == 1 ? diagonal_sum(d, b->row, 1 + tangents_of(b))
                                    : diagonal_sum(d, s->at, s->count);
        }
        if (s->normal < 0 && b->kind != CR_BLOCK_EQUALITY) {
            Quad z = d->p[s->at] - (both && lambda > 0 ? w[s->at] / lambda : 0);
            bool box = b->kind == CR_BLOCK_BOX;
            if (z <= (box ? (Quad)b->lo : 0)) x->mode[i] = 1;
            if (box && z >= (Quad)b->hi) x->mode[i] = 2;
        } else if (s->normal >= 0 && judge_endless(s) && !(d->p[s->normal] > 0)) {
            bool pulls = quad_norm(d->p + s->at, s->count) > 0;
            x->mode[i] = pulls ? 1 : 0;
            if (pulls) x->mode[i - 1] = 0;
        } else if (s->normal >= 0 && !s->polygon) {
            Quad pn = d->p[s->normal], t[2] = {0};
            for (int k = 0; k < s->count; k++) {
                t[k] = d->p[s->at + k] - (both && lambda > 0 ? w[s->at + k] / lambda : 0);
            }
            if (both && lambda > 0) pn -= w[s->normal] / diagonal_sum(d, b->row, 1 + tangents_of(b));
            // share of the limit that is used, direction by direction
            Quad used = 0;
            for (int k = 0; k < s->count; k++) {
                double wide = k == 0 || s->count == 1 ? s->a : s->b;
                Quad limit = isinf(wide) ? 0 : (Quad)wide * pn;
                if (limit > 0) used += (t[k] / limit) * (t[k] / limit);
            }
            bool one = s->a == s->b || s->count == 1;
            if (used >= (Quad)(1 - 1e-9) || (one && !(pn > 0))) x->mode[i] = both ? 2 : 1;
        }
    }
}

// the worst block changes its modes, one or two seats at a time, as long as that helps
static void improve(const Data* d, const Seat* seats, int count, const Quad* w, Quad enough, Witness* x) {
    for (int round = 0; round < 40 && x->worst > enough; round++) {
        Witness best = *x;
        for (int i = 0; i < count; i++) {
            if (d->island[seats[i].block] != d->island[x->worst_block]) continue;
            bool near = seats[i].block == x->worst_block;
            if (!near && round % 2 == 0) continue;
            for (int mode = 0; mode < seats[i].modes; mode++) {
                for (int j = i; near && j < count && seats[j].block == seats[i].block; j++) {
                    for (int other = 0; other < (j == i ? 1 : seats[j].modes); other++) {
                        Witness next = *x;
                        next.mode[i] = mode;
                        if (j != i) next.mode[j] = other;
                        judge_witness(d, seats, count, w, &next);
                        if (next.worst < best.worst) best = next;
                    }
                }
                if (near) continue;
                Witness next = *x;
                next.mode[i] = mode;
                judge_witness(d, seats, count, w, &next);
                if (next.worst < best.worst) best = next;
            }
        }
        if (!(best.worst < x->worst) && round % 2 == 1) return;
        *x = best;
    }
}

// what computing u_free + b + W p in doubles may miss, relative
static Quad rounding(const Data* d) {
    Quad pull = 0, worst = 0;
    for (int j = 0; j < d->n; j++) {
        pull += quad_sqrt(d->W[j][j]) * quad_abs(d->p[j]);
    }
    for (int i = 0; i < d->problem->block_count; i++) {
        const crBlock* b = &d->problem->blocks[i];
        for (int r = b->row; r < b->row + b->count; r++) {
            Quad off = (quad_abs(d->q[r]) + quad_sqrt(d->W[r][r]) * pull) * (Quad)0x1p-48;
            if (off > 0) worst = larger(worst, d->scale[i] > 0 ? off / d->scale[i] : (Quad)INFINITY);
        }
    }
    return worst;
}

JudgeProblem judge_problem(const crProblem* problem, const double* p, double reach, double enough) {
    double inf = (double)INFINITY;
    JudgeProblem out = {inf, inf, inf};
    Data d;
    Seat seats[SEATS];
    Witness best = {0}, x = {0};
    Quad w[JUDGE_ROWS];
    for (int i = 0; i < problem->rows; i++) {
        if (!isfinite(p[i])) return out;
    }
    expand(&d, problem, p);
    find_scales(&d);
    d.reach = -1;
    if (isfinite(reach)) {
        d.reach = 0;
        for (int i = 0; i < d.n; i++) {
            d.reach = larger(d.reach, (Quad)reach * quad_sqrt(d.W[i][i]) * quad_abs(d.p[i]));
        }
    }
    int count = make_seats(&d, seats);
    velocity(&d, d.p, w);
    for (int k = 0; k < 2 && (k == 0 || best.worst > (Quad)enough); k++) {
        guess(&d, seats, count, w, k == 1, &x);
        judge_witness(&d, seats, count, w, &x);
        improve(&d, seats, count, w, (Quad)enough, &x);
        if (k == 0 || x.worst < best.worst) best = x;
    }
    out.residual = best.worst >= (Quad)FAR ? inf : (double)best.worst;
    out.floor = (double)rounding(&d);
    out.eta = 0.0;
    for (int i = 0; i < problem->block_count; i++) {
        out.eta = fmax(out.eta, (double)best.eta[i]);
    }
    return out;
}
