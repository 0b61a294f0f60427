// judge_sample.h - random contact problems of every kind of block, rank and unit, some with a known solution.
#ifndef CAROM_TEST_JUDGE_SAMPLE_H
#define CAROM_TEST_JUDGE_SAMPLE_H

#include "judge.h"
#include "sample.h"

#include <math.h>
#include <string.h>

#define MADE_BLOCKS 8

typedef struct Made {
    int blocks;
    crBlock block[MADE_BLOCKS];
    double vertices[MADE_BLOCKS * 8][2];
    int vertex_count;
    double W[JUDGE_ROWS * JUDGE_ROWS], u[JUDGE_ROWS], b[JUDGE_ROWS];
    double p[JUDGE_ROWS];  // a solution, where known
    bool known;
    bool angular[JUDGE_ROWS];  // rows in rad/s
    crProblem problem;
} Made;

// Which problems: everything, or what a reference solution can be enumerated for.
typedef enum MadeKind { MADE_ANY, MADE_SMALL } MadeKind;

static inline int made_below(crRandom* r, int n) { return (int)(sample_bits(r) % (uint64_t)n); }
static inline bool made_chance(crRandom* r, double share) { return sample_uniform(r, 0.0, 1.0) < share; }

static inline double made_mu(crRandom* r) {
    switch (made_below(r, 6)) {
    case 0:
        return 0.0;
    case 1:
        return (double)INFINITY;
    case 2:
        return 1.0;
    default:
        return sample_log(r, 1e-3, 10.0);
    }
}

// a convex polygon around the origin
static inline void made_polygon(crRandom* r, Made* m, crBlock* block) {
    int count = 3 + made_below(r, 6);
    double radius = sample_log(r, 0.05, 3.0), turn = sample_uniform(r, 0.0, 6.0);
    block->vertex = m->vertex_count;
    block->vertex_count = count;
    for (int k = 0; k < count; k++) {
        double angle = turn + 2.0 * CR_PI * k / count;
        m->vertices[m->vertex_count][0] = radius * cos(angle);
        m->vertices[m->vertex_count++][1] = radius * sin(angle);
    }
}

static inline crBlock made_cone(crRandom* r, Made* m, MadeKind kind, int row, bool alone) {
    int tangents = kind == MADE_SMALL && !alone ? 1 : 1 + made_below(r, 2);
    crBlock block = cr_block(CR_BLOCK_CONE, row, 1 + tangents);
    block.mu = block.mu2 = made_mu(r);
    if (kind == MADE_SMALL) return block;
    if (tangents == 2 && made_chance(r, 0.2)) made_polygon(r, m, &block);
    if (tangents == 2 && block.vertex_count == 0 && made_chance(r, 0.2)) block.mu2 = made_mu(r);
    if (made_chance(r, 0.2)) {
        block.spin = true;
        block.mu_spin = sample_log(r, 1e-3, 1.0);
        block.count++;
    }
    if (tangents == 2 && made_chance(r, 0.2)) {
        block.roll = true;
        block.mu_roll = sample_log(r, 1e-3, 1.0);
        block.count += 2;
    }
    return block;
}

static inline crBlock made_block(crRandom* r, Made* m, MadeKind kind, int row, bool alone) {
    static const crBlockKind kinds[] = {CR_BLOCK_EQUALITY,   CR_BLOCK_UNILATERAL, CR_BLOCK_BOX,
                                        CR_BLOCK_UNILATERAL, CR_BLOCK_CONE,       CR_BLOCK_CONE,
                                        CR_BLOCK_CONE};
    crBlockKind which = kinds[made_below(r, 7)];
    if (which == CR_BLOCK_CONE) return made_cone(r, m, kind, row, alone);
    crBlock block = cr_block(which, row, which == CR_BLOCK_BOX ? 1 : 1 + made_below(r, 2));
    if (which == CR_BLOCK_BOX) {
        block.lo = made_chance(r, 0.2) ? -(double)INFINITY : -sample_log(r, 1e-3, 10.0);
        block.hi = made_chance(r, 0.2) ? (double)INFINITY : sample_log(r, 1e-3, 10.0);
    }
    return block;
}

// W = B B^T with a given number of columns; rows of repeated blocks are equal
static inline void made_matrix(crRandom* r, Made* m, int n) {
    double B[JUDGE_ROWS][JUDGE_ROWS + 4];
    int rank = made_chance(r, 0.4) ? 1 + made_below(r, n) : n + made_below(r, 4);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < rank; k++) {
            B[i][k] = sample_uniform(r, -1.0, 1.0);
        }
    }
    for (int i = 1; i < m->blocks; i++) {
        const crBlock *a = &m->block[i - 1], *b = &m->block[i];
        if (a->kind == b->kind && a->count == b->count && a->spin == b->spin && made_chance(r, 0.5)) {
            memcpy(B[b->row], B[a->row], (size_t)a->count * sizeof B[0]);
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < rank; k++) {
                sum += B[i][k] * B[j][k];
            }
            m->W[i * n + j] = m->W[j * n + i] = sum;
        }
    }
}

// friction at a limit or inside, and a velocity that goes with it
static inline void made_friction(crRandom* r, double limit, int count, double* p, double* u) {
    double angle = sample_uniform(r, 0.0, 6.283), d[2] = {cos(angle), sin(angle)};
    if (count == 1) d[0] = made_chance(r, 0.5) ? 1.0 : -1.0;
    bool slips = isfinite(limit) && made_chance(r, 0.5);
    double size = isinf(limit) ? sample_log(r, 0.1, 3.0)
                  : slips      ? limit
                               : limit * sample_uniform(r, 0.0, 0.95);
    double speed = limit == 0.0 || slips ? sample_log(r, 1e-3, 3.0) : 0.0;
    for (int k = 0; k < count; k++) {
        p[k] = size * d[k];
        u[k] = -speed * d[k];
    }
}

// impulses and velocities of a block that obey its laws
static inline void made_laws(crRandom* r, const crBlock* b, double* p, double* u) {
    for (int k = 0; k < b->count; k++) {
        p[k] = u[k] = 0.0;
    }
    if (b->kind == CR_BLOCK_CONE) {
        if (made_chance(r, 0.3)) {
            u[0] = sample_log(r, 1e-3, 3.0);
            for (int k = 1; k < b->count; k++) {
                u[k] = sample_uniform(r, -1.0, 1.0);
            }
            return;
        }
        int tangents = b->count - 1 - (b->spin ? 1 : 0) - (b->roll ? 2 : 0), at = 1 + tangents;
        p[0] = sample_log(r, 0.1, 10.0);
        made_friction(r, b->mu * p[0], tangents, p + 1, u + 1);
        if (b->spin) {
            made_friction(r, b->mu_spin * p[0], 1, p + at, u + at);
            at++;
        }
        if (b->roll) made_friction(r, b->mu_roll * p[0], 2, p + at, u + at);
        return;
    }
    for (int k = 0; k < b->count; k++) {
        int where = made_below(r, 3);
        if (b->kind == CR_BLOCK_EQUALITY) {
            p[k] = sample_uniform(r, -3.0, 3.0);
        } else if (b->kind == CR_BLOCK_UNILATERAL) {
            if (where == 0) u[k] = sample_log(r, 1e-3, 3.0);
            if (where == 1) p[k] = sample_log(r, 1e-2, 3.0);
        } else if (where < 2 && isfinite(where == 0 ? b->lo : b->hi)) {
            p[k] = where == 0 ? b->lo : b->hi;
            u[k] = (where == 0 ? 1.0 : -1.0) * sample_log(r, 1e-3, 3.0);
        } else {
            p[k] = 0.5 * (fmax(b->lo, -5.0) + fmin(b->hi, 5.0));
        }
    }
}

static inline bool made_round(const crBlock* b) {
    return b->kind != CR_BLOCK_CONE || (b->vertex_count == 0 && (b->count == 2 || b->mu == b->mu2));
}

// u_free from a solution: u_free = u - W p - b, in quadruple precision and rounded once
static inline void made_solution(crRandom* r, Made* m, int n) {
    double u[JUDGE_ROWS];
    for (int i = 0; i < m->blocks; i++) {
        made_laws(r, &m->block[i], m->p + m->block[i].row, u + m->block[i].row);
    }
    for (int i = 0; i < n; i++) {
        Quad sum = (Quad)u[i] - (Quad)m->b[i];
        for (int j = 0; j < n; j++) {
            sum -= (Quad)m->W[i * n + j] * (Quad)m->p[j];
        }
        m->u[i] = (double)sum;
    }
}

static inline void made_bind(Made* m, int n) {
    m->problem =
        (crProblem){.rows = n, .block_count = m->blocks, .blocks = m->block, .u_free = m->u, .b = m->b};
    m->problem.vertices = (const double(*)[2])m->vertices;
    m->problem.W = (crMatrix){n, n, NULL, NULL, m->W};
}

static inline void made_problem(crRandom* r, MadeKind kind, Made* m) {
    memset(m, 0, sizeof *m);
    int wish = 1 + made_below(r, kind == MADE_SMALL ? 3 : 4), n = 0;
    for (int i = 0; i < wish; i++) {
        // blocks are repeated now and then: redundant contacts
        crBlock block = i > 0 && made_chance(r, 0.3) ? m->block[i - 1] : made_block(r, m, kind, n, wish == 1);
        block.row = n;
        if (n + block.count > (kind == MADE_SMALL ? 8 : 16)) break;
        m->block[m->blocks++] = block;
        n += block.count;
    }
    for (int i = 0; i < m->blocks; i++) {
        const crBlock* b = &m->block[i];
        int tangents = b->count - 1 - (b->spin ? 1 : 0) - (b->roll ? 2 : 0);
        for (int k = 1 + tangents; b->kind == CR_BLOCK_CONE && k < b->count; k++) {
            m->angular[b->row + k] = true;
        }
    }
    made_matrix(r, m, n);
    bool round = true;
    for (int i = 0; i < n; i++) {
        m->b[i] = made_chance(r, 0.3) ? sample_uniform(r, -0.5, 0.5) : 0.0;
        m->u[i] = sample_uniform(r, -1.0, 1.0);
    }
    for (int i = 0; i < m->blocks; i++) {
        round = round && made_round(&m->block[i]);
    }
    m->known = round && made_chance(r, 0.6);
    if (m->known) made_solution(r, m, n);
    made_bind(m, n);
}

// The same problem in other units: mass, length and time are so many of the old ones each.
static inline void made_scale(const Made* from, double mass, double length, double time, Made* to) {
    int n = from->problem.rows;
    *to = *from;
    for (int i = 0; i < n; i++) {
        double speed = (from->angular[i] ? 1.0 : length) / time;
        double arm = from->angular[i] ? length : 1.0;
        to->u[i] = from->u[i] * speed;
        to->b[i] = from->b[i] * speed;
        to->p[i] = from->p[i] * (mass * length / time) * arm;
        for (int j = 0; j < n; j++) {
            to->W[i * n + j] = from->W[i * n + j] / mass / arm / (from->angular[j] ? length : 1.0);
        }
    }
    for (int i = 0; i < to->blocks; i++) {
        to->block[i].mu_spin *= length;
        to->block[i].mu_roll *= length;
        if (to->block[i].kind == CR_BLOCK_BOX) {
            to->block[i].lo *= mass * length / time;
            to->block[i].hi *= mass * length / time;
        }
    }
    made_bind(to, n);
}

#endif
