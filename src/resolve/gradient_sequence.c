// gradient_sequence.c - derivatives of the rule of one blow after another.
//
// The blows are made again: each is the law at the fastest contact. du = du_free + dW p + W dp is carried along, and a blow
// adds dP = (law's derivative) (dW, du, dmu, de, det) to dp. The order is a switch: the speed by which the fastest contact
// leads the next, and by which the last approach is over, are its distances.
// Fails: false for joints, ties, extrapolated sequences and sequences of more than BLOWS blows, which are differenced;
// so are laws without a formula.
#include <string.h>

#include "resolve/gradient_rule.h"
#include "resolve/kinds.h"

#define BLOWS 4096
#define TIE   1e-9  // as rule_sequence.c has it
#define SAME  1e-8

static int rows_of(const crBlock* b) { return b->kind == CR_BLOCK_CONE ? b->count : 1; }

// the contact's own W and V as the law sees them: absent tangents are free and at rest
static crCollision collision_of(const crRuleModes* m, const crBlock* b, const double* u) {
    size_t n = (size_t)m->problem->rows, r = (size_t)b->row;
    const double* W = m->W;
    double xx = W[r * n + r];
    crCollision c = cr_collision();
    c.W = (crMat3){{{xx, 0, 0}, {0, xx, 0}, {0, 0, xx}}};
    c.V = cr_vec3(u[r], 0, 0);
    c.n = cr_vec3(1, 0, 0);
    c.e = b->e;
    c.et = b->et;
    c.mu = 0.0;
    if (b->kind != CR_BLOCK_CONE) return c;
    c.mu = b->mu;
    c.W.m[0][1] = c.W.m[1][0] = W[r * n + r + 1];
    c.W.m[1][1] = c.W.m[2][2] = W[(r + 1) * n + r + 1];
    c.V.y = u[r + 1];
    if (b->count < 3) return c;
    c.W.m[0][2] = c.W.m[2][0] = W[r * n + r + 2];
    c.W.m[1][2] = c.W.m[2][1] = W[(r + 1) * n + r + 2];
    c.W.m[2][2] = W[(r + 2) * n + r + 2];
    c.V.z = u[r + 2];
    return c;
}

static bool strike_block(crRuleModes* m, const crLaw* law, int block, double* u, double* p, cr__Blow* blow) {
    static const crLawInput inputs[12] = {CR_BY_WXX, CR_BY_WXY, CR_BY_WXZ, CR_BY_WYY, CR_BY_WYZ, CR_BY_WZZ,
                                          CR_BY_VX,  CR_BY_VY,  CR_BY_VZ,  CR_BY_MU,  CR_BY_E,   CR_BY_ET};
    const crBlock* b = &m->problem->blocks[block];
    crCollision c = collision_of(m, b, u);
    crGradient g;
    if (cr_law_gradient(law, &c, CR_GRADIENT_TOL, &g, NULL) != CR_OK || g.verdict != CR_SMOOTH) return false;
    if (g.differenced || !(g.hit.P.x > 0.0)) return false;
    cr__rule_note(m, g.nearest, g.distance * cr_norm(c.V));
    blow->block = block;
    for (int k = 0; k < 12; k++) {
        crVec3 d = g.P_plus[inputs[k]];
        blow->by[0][k] = d.x;
        blow->by[1][k] = d.y;
        blow->by[2][k] = d.z;
    }
    const double P[3] = {g.hit.P.x, g.hit.P.y, g.hit.P.z};
    size_t n = (size_t)m->problem->rows;
    for (int k = 0; k < rows_of(b); k++) {
        size_t row = (size_t)(b->row + k);
        blow->P[k] = P[k];
        p[row] += P[k];
        for (size_t i = 0; i < n; i++) {
            u[i] += m->W[i * n + row] * P[k];
        }
    }
    return true;
}

// the fastest contact; -1: none approaches faster than least, -2: a tie
static int fastest(crRuleModes* m, const double* u, double least) {
    double first = 0.0, second = 0.0;
    int best = -1;
    for (int i = 0; i < m->problem->block_count; i++) {
        double speed = -u[m->problem->blocks[i].row];
        if (speed > first) {
            second = first;
            first = speed;
            best = i;
        } else {
            second = fmax(second, speed);
        }
    }
    if (!(first > least)) return -1;
    if (second >= (1.0 - TIE) * first) return -2;
    cr__rule_note(m, CR_SWITCH_UNKNOWN, first - second);
    return best;
}

static double change_entry(const crRuleChange* change, size_t n, size_t i, size_t j) {
    return change->W != NULL ? change->W[i * n + j] : 0.0;
}

// dW, du, dmu, de, det of one contact, as its law takes them
static void inputs_of(const crRuleModes* m, const crRuleChange* change, int block, const double* du,
                      double d[12]) {
    const crBlock* b = &m->problem->blocks[block];
    size_t n = (size_t)m->problem->rows, r = (size_t)b->row;
    memset(d, 0, 12 * sizeof *d);
    d[0] = change_entry(change, n, r, r);
    d[6] = du[r];
    d[10] = change->e != NULL ? change->e[block] : 0.0;
    d[11] = change->et != NULL ? change->et[block] : 0.0;
    if (b->kind != CR_BLOCK_CONE) return;
    d[9] = change->mu != NULL ? change->mu[block] : 0.0;
    d[1] = change_entry(change, n, r, r + 1);
    d[3] = change_entry(change, n, r + 1, r + 1);
    d[7] = du[r + 1];
    if (b->count < 3) return;
    d[2] = change_entry(change, n, r, r + 2);
    d[4] = change_entry(change, n, r + 1, r + 2);
    d[5] = change_entry(change, n, r + 2, r + 2);
    d[8] = du[r + 2];
}

static crStatus apply_sequence(const crRuleModes* m, const crRuleChange* change, double* dp) {
    const cr__RuleStages* s = m->stages;
    size_t n = (size_t)m->problem->rows;
    double* du = s->work;
    memset(dp, 0, n * sizeof *dp);
    for (size_t i = 0; i < n; i++) {
        du[i] = change->u_free != NULL ? change->u_free[i] : 0.0;
    }
    for (int k = 0; k < s->blow_count; k++) {
        const cr__Blow* blow = &s->blow[k];
        const crBlock* b = &m->problem->blocks[blow->block];
        double d[12], dP[3] = {0};
        inputs_of(m, change, blow->block, du, d);
        for (int r = 0; r < rows_of(b); r++) {
            for (int i = 0; i < 12; i++) {
                dP[r] += blow->by[r][i] * d[i];
            }
        }
        for (int r = 0; r < rows_of(b); r++) {
            size_t row = (size_t)(b->row + r);
            dp[row] += dP[r];
            for (size_t i = 0; i < n; i++) {
                du[i] += m->W[i * n + row] * dP[r] + change_entry(change, n, i, row) * blow->P[r];
            }
        }
    }
    return CR_OK;
}

bool cr__rule_sequence_stages(crRuleModes* m, double near) {
    (void)near;
    const crProblem* problem = m->problem;
    crRuleParams params = cr__rule_params_of(m->rule);
    cr__RuleStages* s = m->stages;
    size_t n = (size_t)problem->rows;
    if (params.law.apply == NULL) params.law = cr__law(&cr__law_chatterjee_ruina, NULL);
    if (params.impulse != NULL) return false;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        bool known = b->kind == CR_BLOCK_CONE ? b->count <= 3 : b->kind == CR_BLOCK_UNILATERAL;
        if (!known) return false;
    }
    s->work = cr_arena_alloc(m->arena, (3 * n + 1) * sizeof *s->work);
    s->blow = cr_arena_alloc(m->arena, BLOWS * sizeof *s->blow);
    if (s->work == NULL || s->blow == NULL) return false;
    double *u = s->work + n, *p = u + n, speed = 0.0, size = 0.0, off = 0.0;
    for (size_t i = 0; i < n; i++) {
        u[i] = problem->u_free[i];
        speed = fmax(speed, fabs(u[i]));
        p[i] = 0.0;
    }
    s->apply = apply_sequence;
    for (;;) {
        int block = fastest(m, u, params.tolerance * speed);
        if (block == -1) break;
        if (block < 0 || s->blow_count == BLOWS) return false;
        const crLaw* own = problem->blocks[block].law;
        const crLaw* law = own != NULL ? own : &params.law;
        if (!strike_block(m, law, block, u, p, &s->blow[s->blow_count])) return false;
        s->blow_count++;
    }
    // how nearly one that was left open, or was hit, approaches still
    for (int i = 0; i < problem->block_count; i++) {
        double left = u[problem->blocks[i].row];
        bool last = s->blow_count > 0 && s->blow[s->blow_count - 1].block == i;
        if (!last) cr__rule_note(m, CR_SWITCH_OPEN, fmax(left, 0.0));
    }
    for (size_t i = 0; i < n; i++) {
        size = fmax(size, fabs(m->p[i]));
        off = fmax(off, fabs(m->p[i] - p[i]));
    }
    return off <= SAME * size;
}
