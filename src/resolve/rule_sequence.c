// rule_sequence.c - one contact after another, each by a law of one contact, the fastest first.
//
// While a contact approaches, take the one with the greatest normal approach speed, apply the law to it as if
// the others were not there, add W P to all velocities. Joints are held shut (intact), or take turns as
// plastic sticking contacts whose speed is that of the joint (apart). Equal speeds are decided by the tie
// rule. Where the order repeats with period L and the impulses of a period shrink by a constant ratio r, the
// rest is a geometric series: p = p + r/(1-r) (p - p[L ago]). Source: Chatterjee and Ruina 1998, sections 6.4
// and 6.5. Holds: in the permissible region if the law is. Fails: an energy-conserving cycle ends as stalled,
// a budget as limit, a law without a solution as infeasible; polygons and ellipses of friction are refused. Laws know no
// moments: rows of spin and rolling friction get none in an impact.
#include "resolve/impact.h"

#include <string.h>

#include "linalg/semidefinite.h"
#include "resolve/kinds.h"

#define TIE_TOL    1e-9  // speeds closer than this share of the greatest are equal
#define BUDGET     100000
#define HISTORY    64  // impulses remembered
#define MAX_PERIOD 21
#define JOINT_ROWS 6

typedef struct crSequence {
    crImpact impact;
    double* u;      // now (rows)
    double* p;      // so far (rows)
    double* joint;  // pseudo-inverses of the joints' own W, block after block, at joint_at
    int* joint_at;
    double* key;        // order among equals, lowest first (block_count)
    uint64_t random;    // state
    double* past;       // impulses after the latest steps, a ring (HISTORY*rows)
    int pick[HISTORY];  // blocks of the latest steps, likewise
    int since;          // step of the last jump
} crSequence;

// splitmix64, as a number in [0, 1)
static double draw(uint64_t* state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

// Rows of a contact's impulse; rows of moments come after them.
static int linear_rows(const crBlock* b) {
    if (b->kind != CR_BLOCK_CONE) return 1;
    return b->count - (b->spin ? 1 : 0) - (b->roll ? 2 : 0);
}

static crStatus check_blocks(const crImpact* impact, crError* error) {
    for (int i = 0; i < impact->block_count; i++) {
        const crBlock* b = &impact->blocks[i];
        bool joint = b->kind == CR_BLOCK_EQUALITY, cone = b->kind == CR_BLOCK_CONE;
        int most = joint ? JOINT_ROWS : cone ? 3 : 1, rows = joint ? b->count : linear_rows(b);
        if (cone && (b->vertex_count > 0 || (rows == 3 && b->mu != b->mu2))) {
            return cr_error_set(error, CR_ERR_ARGUMENT, "blocks",
                                "blocks: block %d: this rule takes circular friction alone",
                                impact->source[i]);
        }
        if (rows <= most && (cone || b->count <= most)) continue;
        return cr_error_set(error, CR_ERR_SIZE, "blocks",
                            "blocks: block %d has %d rows; the sequence wants a block per contact or joint, "
                            "at most %d here",
                            impact->source[i], b->count, most);
    }
    return CR_OK;
}

static crStatus prepare_joints(crSequence* s) {
    const crImpact* impact = &s->impact;
    int entries = 0;
    int widest = 1;
    for (int i = 0; i < impact->block_count; i++) {
        int n = impact->blocks[i].count;
        s->joint_at[i] = entries;
        if (impact->blocks[i].kind != CR_BLOCK_EQUALITY) continue;
        entries += n * n;
        widest = n > widest ? n : widest;
    }
    s->joint = cr_arena_alloc(impact->arena, (size_t)(entries + 1) * sizeof(double));
    double* work = cr_arena_alloc(impact->arena, 2 * (size_t)widest * (size_t)widest * sizeof(double));
    if (s->joint == NULL || work == NULL) return CR_ERR_MEMORY;
    for (int i = 0; i < impact->block_count; i++) {
        const crBlock* block = &impact->blocks[i];
        if (block->kind != CR_BLOCK_EQUALITY) continue;
        double* A = s->joint + s->joint_at[i];
        for (int r = 0; r < block->count; r++) {
            for (int c = 0; c < block->count; c++) {
                size_t row = (size_t)(block->row + r);
                A[r * block->count + c] = impact->W[row * (size_t)impact->rows + (size_t)(block->row + c)];
            }
        }
        cr__pseudo_inverse(A, block->count, work);
    }
    return CR_OK;
}

static crStatus prepare_sequence(crSequence* s) {
    crImpact* impact = &s->impact;
    size_t n = (size_t)(impact->rows + 1);
    size_t blocks = (size_t)(impact->block_count + 1);
    s->u = cr_arena_alloc(impact->arena, n * sizeof(double));
    s->p = cr_arena_alloc(impact->arena, n * sizeof(double));
    s->past = cr_arena_alloc(impact->arena, HISTORY * n * sizeof(double));
    s->key = cr_arena_alloc(impact->arena, blocks * sizeof(double));
    s->joint_at = cr_arena_alloc(impact->arena, blocks * sizeof(int));
    if (s->u == NULL || s->p == NULL || s->past == NULL || s->key == NULL || s->joint_at == NULL) {
        return CR_ERR_MEMORY;
    }
    memset(s->p, 0, n * sizeof(double));
    memcpy(s->u, impact->u, (size_t)impact->rows * sizeof(double));
    const crRuleParams* params = &impact->params;
    if (impact->params.law.apply == NULL) impact->params.law = cr__law(&cr__law_chatterjee_ruina, NULL);
    s->random = params->seed;
    for (int i = 0; i < impact->block_count; i++) {
        s->key[i] = i;
        if (params->ties != CR_TIES_DIRECTION) s->key[i] = draw(&s->random);
        if (params->ties == CR_TIES_DIRECTION && params->points != NULL) {
            s->key[i] = cr_dot(params->points[impact->source[i]], params->direction);
        }
    }
    return prepare_joints(s);
}

// approach speed of a block: of its normal, or of the whole joint
static double speed_of(const crSequence* s, int i) {
    const crBlock* block = &s->impact.blocks[i];
    if (block->kind != CR_BLOCK_EQUALITY) return -s->u[block->row];
    double sum = 0.0;
    for (int k = 0; k < block->count; k++) {
        sum += s->u[block->row + k] * s->u[block->row + k];
    }
    return sqrt(sum);
}

// the fastest block, ties decided; -1 where none moves faster than `least`
static int choose(crSequence* s, double least, double* speed, bool* tied) {
    int count = s->impact.block_count;
    *speed = 0.0;
    for (int i = 0; i < count; i++) {
        *speed = fmax(*speed, speed_of(s, i));
    }
    if (!(*speed > least)) return -1;
    bool again = s->impact.params.ties == CR_TIES_RANDOM;
    int best = -1;
    int equals = 0;
    double best_key = 0.0;
    for (int i = 0; i < count; i++) {
        if (speed_of(s, i) < (1.0 - TIE_TOL) * *speed) continue;
        double key = again ? draw(&s->random) : s->key[i];
        equals++;
        if (best >= 0 && !(key < best_key)) continue;
        best = i;
        best_key = key;
    }
    *tied = equals > 1;
    return best;
}

// one contact as the law sees it; absent tangents are free and at rest
static crContact contact_of(const crSequence* s, const crBlock* block) {
    const crImpact* impact = &s->impact;
    size_t n = (size_t)impact->rows;
    size_t r = (size_t)block->row;
    const double* W = impact->W;
    double xx = W[r * n + r];
    crContact c = {
        .W = {.xx = xx, .yy = xx, .zz = xx}, .V = {s->u[r], 0.0, 0.0}, .e = block->e, .et = block->et};
    if (block->kind != CR_BLOCK_CONE) return c;
    c.mu = block->mu;
    c.W.xy = W[r * n + r + 1];
    c.W.yy = W[(r + 1) * n + r + 1];
    c.W.zz = c.W.yy;
    c.V.y = s->u[r + 1];
    if (linear_rows(block) < 3) return c;
    c.W.xz = W[r * n + r + 2];
    c.W.yz = W[(r + 1) * n + r + 2];
    c.W.zz = W[(r + 2) * n + r + 2];
    c.V.z = s->u[r + 2];
    return c;
}

static void push(crSequence* s, int row, double dp) {
    s->p[row] += dp;
    cr__impact_push(&s->impact, row, dp, s->u);
}

// one impact at a block; false where the law has no solution there
static crStatus strike(crSequence* s, int i, bool* struck, crError* error) {
    const crBlock* block = &s->impact.blocks[i];
    *struck = true;
    if (block->kind == CR_BLOCK_EQUALITY) {
        const double* A = s->joint + s->joint_at[i];
        double before[JOINT_ROWS];
        int n = block->count;
        memcpy(before, s->u + block->row, (size_t)n * sizeof *before);
        for (int r = 0; r < n; r++) {
            double dp = 0.0;
            for (int c = 0; c < n; c++) {
                dp -= A[r * n + c] * before[c];
            }
            push(s, block->row + r, dp);
        }
        return CR_OK;
    }
    crContact contact = contact_of(s, block);
    crHit hit;
    const crLaw* law = block->law != NULL ? block->law : &s->impact.params.law;
    crStatus status = cr_law_apply_contact(law, &contact, &hit, error);
    if (status != CR_OK) return status;
    *struck = hit.regime != CR_REGIME_NO_SOLUTION && hit.P.x > 0.0;
    double P[3] = {hit.P.x, hit.P.y, hit.P.z};
    for (int k = 0; k < linear_rows(block); k++) {
        push(s, block->row + k, P[k]);
    }
    return CR_OK;
}

static void remember(crSequence* s, int step, int block) {
    size_t n = (size_t)s->impact.rows;
    s->pick[step % HISTORY] = block;
    memcpy(s->past + (size_t)(step % HISTORY) * n, s->p, n * sizeof(double));
}

// the order of the last two periods of length L is the same
static bool repeats_sequence(const crSequence* s, int step, int L) {
    for (int k = 0; k < 2 * L; k++) {
        if (s->pick[(step - k) % HISTORY] != s->pick[(step - k - L) % HISTORY]) return false;
    }
    return true;
}

// jump to the limit where the last periods form a geometric series, to within `tolerance` of the impulses so
// far
static bool jump_sequence(crSequence* s, int step, double tolerance) {
    int n = s->impact.rows;
    for (int L = 2; L <= MAX_PERIOD && step - 3 * L > s->since; L++) {
        if (!repeats_sequence(s, step, L)) continue;
        const double* a = s->past + (size_t)((step - 2 * L) % HISTORY) * (size_t)n;
        const double* b = s->past + (size_t)((step - L) % HISTORY) * (size_t)n;
        double r;
        if (!cr__geometric(n, a, b, s->p, tolerance, &r)) continue;
        for (int i = 0; i < n; i++) {
            s->p[i] += r / (1.0 - r) * (s->p[i] - b[i]);
        }
        cr__impact_velocity(&s->impact, s->p, s->u);
        s->since = step;
        return true;
    }
    return false;
}

static crStatus run(crSequence* s, crRuleReport* report, crError* error) {
    const crImpact* impact = &s->impact;
    crRecurrence recurrence;
    crStatus status = cr__recurrence_begin(impact, &recurrence);
    int budget = impact->params.budget > 0 ? impact->params.budget : BUDGET;
    double least = impact->params.tolerance * impact->speed;
    report->unique = CR_UNIQUE_YES;
    for (int step = 1; status == CR_OK; step++) {
        double speed;
        bool tied = false;
        int block = choose(s, least, &speed, &tied);
        if (block < 0) {
            // what is left is rounding, or the tail of a sequence without end
            if (speed > 1e-3 * least) report->flags |= CR_RULE_TRUNCATED;
            return CR_OK;
        }
        if (step > 1 && cr__recurrence_seen(&recurrence, s->u, impact->rows, step, speed)) {
            report->flags |= CR_RULE_CYCLE;
            report->outcome = CR_OUTCOME_STALLED;
            return CR_OK;
        }
        if (step > budget) {
            report->flags |= CR_RULE_TRUNCATED;
            report->outcome = CR_OUTCOME_LIMIT;
            return CR_OK;
        }
        if (tied) {
            report->flags |= CR_RULE_TIE;
            report->unique = CR_UNIQUE_TIE;
        }
        bool struck;
        status = strike(s, block, &struck, error);
        if (status == CR_OK && !struck) {
            report->outcome = CR_OUTCOME_INFEASIBLE;
            return CR_OK;
        }
        report->steps = step;
        remember(s, step, block);
        if (impact->params.extrapolate && jump_sequence(s, step, impact->params.tolerance)) {
            report->flags |= CR_RULE_EXTRAPOLATED;
        }
    }
    return status;
}

static crStatus resolve_sequence(const void* params, const crProblem* problem, crArena* arena, double* p,
                                 crRuleReport* report, crError* error) {
    const crRuleParams* given = params;
    bool apart = given != NULL && given->mechanism == CR_MECHANISM_APART;
    crSequence s = {.since = 0};
    crStatus status = cr__impact_begin(params, problem, apart, arena, &s.impact, error);
    if (status == CR_OK) status = check_blocks(&s.impact, error);
    if (status == CR_OK) status = prepare_sequence(&s);
    if (status == CR_OK) status = run(&s, report, error);
    if (status != CR_OK) return status;
    cr__impact_finish(&s.impact, s.p, p, NULL);
    return CR_OK;
}

const cr__RuleKind cr__rule_sequence = {
    .order = 4,
    .resolve = resolve_sequence,
    .info = {.name = "sequence",
             .title = "one contact after another, the fastest first",
             .reads = "e, et, mu; law, ties, extrapolate, mechanism",
             .guarantee = "in the permissible region if the law is, unless it cannot end",
             .source = "Chatterjee and Ruina 1998, section 6.4; Ivanov 1995",
             .may_create_energy = false},
};
