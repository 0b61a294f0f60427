// witness.c - one block's witness: which rows are open, held or at a limit, and p^ that obeys it exactly.
//
// With z = p - w / lambda (lambda = W_jj of a row, the trace of W over normal and tangents of a cone):
//     unilateral   z <= 0: p^ = 0, w >= 0;                      else p^ = max(p, 0), w = 0
//     box          z < lo: p^ = lo, w >= 0;  z > hi: p^ = hi, w <= 0;  else p^ = clamp(p), w = 0
//     cone         z_n <= 0 or p_n <= 0: p^ = 0, w_n >= 0, friction free;   else p^_n = p_n, w_n = 0, and
//                  z_t in z_n D: p^_t = nearest point of p^_n D to p_t, w_t = 0
//                  else p^_t = p^_n x, x the point of D nearest to z_t / z_n, w_t = -t N, t >= 0, N normal to D
//                  at x; spin and rolling likewise with their own lambda
// A row with W_jj = 0 acts on nothing: the sign of w decides. Rows in rad/s count by a length: sqrt(lambda /
// lambda_s) in contacts, the block's arm elsewhere. Squares that underflow are part of the rounding floor. Fails: never; NaN in p or w leads to NaN or INFINITY.
#include "problem/witness.h"

#include "linalg/project.h"

#define TINY 0x1p-480   // velocities below this have squares that underflow, m/s
#define LOST 0x1p-1000  // bound of what such squares lose, (m/s)^2

// rows of a cone that move together, with their limit as a share of the normal impulse
typedef struct Part {
    int at, count;
    double limit, limit2;  // half-axes; INFINITY: no limit while pressed
    double lambda;
    bool tangent;  // m/s; otherwise rad/s
} Part;

static inline int tangents_of(const crBlock* block) {
    return block->count - 1 - block->spin - 2 * block->roll;
}

// lambda of normal and tangents together
static inline double linear_weight(const double* weight, int tangents) {
    double sum = weight[0] + weight[1];
    return tangents == 2 ? sum + weight[2] : sum;
}

// True if friction is limited in one direction only.
static inline bool is_strip(const crBlock* block, int tangents) {
    return tangents == 2 && block->vertex_count == 0 && isinf(block->mu) != isinf(block->mu2);
}

// the tangents' part
static inline Part tangent_part(const crBlock* block, int tangents, double lambda) {
    return (Part){1, tangents, block->mu, block->mu2, lambda, true};
}

// True if the tangents are the cone's only part.
static inline bool is_single(const crBlock* block, int tangents) {
    return !block->spin && !block->roll && !is_strip(block, tangents);
}

static int cone_parts(const crBlock* block, const double* weight, Part* parts) {
    int tangents = tangents_of(block), count = 0, at = 1 + tangents;
    double lambda = linear_weight(weight, tangents);
    if (is_strip(block, tangents)) {
        parts[count++] = (Part){1, 1, block->mu, 0.0, lambda, true};
        parts[count++] = (Part){2, 1, block->mu2, 0.0, lambda, true};
    } else {
        parts[count++] = tangent_part(block, tangents, lambda);
    }
    if (block->spin) {
        parts[count++] = (Part){at, 1, block->mu_spin, 0.0, weight[at], false};
        at++;
    }
    if (block->roll) {
        parts[count++] = (Part){at, 2, block->mu_roll, block->mu_roll, weight[at] + weight[at + 1], false};
    }
    return count;
}

// nearest point of n times the part's friction set
static inline void project(const crProblem* problem, const crBlock* block, const Part* part, double n,
                           double* t) {
    if (part->tangent && block->vertex_count > 0) {
        cr__project_polygon(problem->vertices + block->vertex, block->vertex_count, n, t);
    } else if (part->count == 1 || part->limit == part->limit2) {
        cr__project_disc(n > 0.0 ? part->limit * n : 0.0, part->count, t);
    } else {
        cr__project_ellipse(n > 0.0 ? part->limit * n : 0.0, n > 0.0 ? part->limit2 * n : 0.0, t);
    }
}

static inline double size_of_witness(const double* t, int count) {
    return count == 1 ? fabs(t[0]) : sqrt(t[0] * t[0] + t[1] * t[1]);
}

// friction of one part at normal impulses z_n (decides) and p_hat_n (scales)
static inline void make_part(const crProblem* problem, const crBlock* block, const Part* part, double z_n,
                             const double* p, const double* w, double* p_hat, crHeld* held) {
    double z[2], x[2], over[2];
    bool endless = isinf(part->limit) && (part->count == 1 || isinf(part->limit2)) &&
                   !(part->tangent && block->vertex_count > 0);
    held->hold = CR_HOLD_ZERO;
    for (int k = 0; k < part->count; k++) {
        p_hat[part->at + k] = p[part->at + k];
        z[k] = p[part->at + k] - (part->lambda > 0.0 ? w[part->at + k] / part->lambda : 0.0);
        x[k] = z[k];
    }
    if (endless) return;
    // infinite friction of another part may hold a contact that barely presses
    double n = z_n > 0.0 ? z_n : p_hat[0];
    project(problem, block, part, n, x);
    for (int k = 0; k < part->count; k++) {
        over[k] = z[k] - x[k];
    }
    double size = size_of_witness(over, part->count), scale = size_of_witness(z, part->count);
    // a set without extent in this direction gives no hold at all
    bool none = part->limit == 0.0 && (part->count == 1 || part->limit2 == 0.0) &&
                !(part->tangent && block->vertex_count > 0);
    none = none || !(p_hat[0] > 0.0);
    if (none) {
        held->hold = CR_HOLD_NONE;
        for (int k = 0; k < part->count; k++) {
            p_hat[part->at + k] = 0.0;
        }
    } else if (!(size > 0x1p-50 * scale)) {
        project(problem, block, part, p_hat[0], p_hat + part->at);
    } else {
        held->hold = CR_HOLD_AGAINST;
        double off = 0.0;
        for (int k = 0; k < part->count; k++) {
            x[k] = p_hat[0] * (x[k] / n);
            off = cr__larger(off, fabs(x[k] - p[part->at + k]));
            held->d[k] = over[k] / size;
        }
        // p stands for the point of the limit that it is within rounding
        bool same = off <= 0x1p-49 * scale;
        for (int k = 0; k < part->count && !same; k++) {
            p_hat[part->at + k] = x[k];
        }
    }
}

void cr__witness_open(const crBlock* block, double* p_hat, crHeld* held) {
    for (int k = 0; k < block->count; k++) {
        p_hat[k] = 0.0;
        held[k].hold = k == 0 ? CR_HOLD_ABOVE : CR_HOLD_NONE;
    }
}

// at infinite friction p_n says little about whether the contact presses: the branch that changes less
static bool sticks_open(int tangents, double lambda, const double* p, const double* w) {
    double shut = 0.0, open = fmax(0.0, -w[0]), held = 0.0;
    for (int k = 0; k <= tangents; k++) {
        shut += w[k] * w[k];
        held += p[k] * p[k];
    }
    shut = sqrt(shut) + lambda * fmax(0.0, -p[0]);
    return open + lambda * sqrt(held) < shut;
}

static void make_cone(const crProblem* problem, const crBlock* block, const double* weight, const double* p,
                      const double* w, double* p_hat, crHeld* held) {
    int tangents = tangents_of(block);
    double lambda = linear_weight(weight, tangents);
    double z_n = lambda > 0.0 ? p[0] - w[0] / lambda : 0.0;
    bool endless = block->vertex_count == 0 && isinf(block->mu);
    // without a normal impulse there is no friction, and the contact may open
    bool open = !(z_n > 0.0) || !(p[0] > 0.0);
    if (endless && lambda > 0.0 && z_n < 1e-6 * size_of_witness(p + 1, tangents)) {
        open = sticks_open(tangents, lambda, p, w);
    }
    if (open || !(lambda > 0.0)) {
        cr__witness_open(block, p_hat, held);
        return;
    }
    p_hat[0] = cr__larger(0.0, p[0]);
    held[0].hold = CR_HOLD_ZERO;
    z_n = cr__larger(0.0, z_n);
    if (is_single(block, tangents)) {
        Part part = tangent_part(block, tangents, lambda);
        make_part(problem, block, &part, z_n, p, w, p_hat, &held[1]);
        return;
    }
    Part parts[CR_BLOCK_PARTS];
    int count = cone_parts(block, weight, parts);
    for (int k = 0; k < count; k++) {
        make_part(problem, block, &parts[k], z_n, p, w, p_hat, &held[parts[k].at]);
    }
}

static void make_row_witness(const crBlock* block, double weight, double p, double w, double* p_hat,
                             crHeld* held) {
    double inf = (double)INFINITY;
    double z = weight > 0.0 ? p - w / weight : w > 0.0 ? -inf : w < 0.0 ? inf : p;
    *p_hat = p;
    held->hold = CR_HOLD_ZERO;
    if (block->kind == CR_BLOCK_EQUALITY) return;
    double lo = block->kind == CR_BLOCK_BOX ? block->lo : 0.0;
    double hi = block->kind == CR_BLOCK_BOX ? block->hi : inf;
    *p_hat = fmin(hi, fmax(lo, p));
    if (lo == hi) {
        held->hold = CR_HOLD_NONE;
    } else if (z < lo || (z == lo && block->kind == CR_BLOCK_UNILATERAL)) {
        *p_hat = lo;
        held->hold = CR_HOLD_ABOVE;
    } else if (z > hi) {
        *p_hat = hi;
        held->hold = CR_HOLD_BELOW;
    }
}

void cr__witness_make(const crProblem* problem, const crBlock* block, const double* weight, const double* p,
                      const double* w, double* p_hat, crHeld* held) {
    if (block->kind == CR_BLOCK_CONE) {
        make_cone(problem, block, weight, p, w, p_hat, held);
        return;
    }
    for (int k = 0; k < block->count; k++) {
        make_row_witness(block, weight[k], p[k], w[k], &p_hat[k], &held[k]);
    }
}

// defect of rows that move together, times length
static inline void add_defect(const crHeld* held, int count, double length, const double* w,
                              const double* floor, crDefect* out) {
    double along = 0.0, square = 0.0, noise = 0.0, largest = 0.0;
    for (int k = 0; k < count; k++) {
        square += w[k] * w[k];
        noise += floor[k] * floor[k];
        along += w[k] * held->d[k];
        largest = cr__larger(largest, fabs(w[k]));
    }
    if (largest > 0.0 && largest < TINY) noise += LOST;
    switch (held->hold) {
    case CR_HOLD_NONE:
        return;
    case CR_HOLD_ZERO:
        break;
    case CR_HOLD_ABOVE:
    case CR_HOLD_BELOW: {
        // an open row far from its limit is exact: its velocity is the computed one, whatever rounding did
        double off = held->hold == CR_HOLD_ABOVE ? -w[0] : w[0];
        if (off + floor[0] <= 0.0) return;
        square = off > 0.0 ? off * off : 0.0;
        if (held->hold == CR_HOLD_ABOVE) out->permits = cr__larger(out->permits, length * off);
        break;
    }
    case CR_HOLD_AGAINST:
        // what is left of w beside its part along -d
        if (along < 0.0) square = fmax(0.0, square - along * along);
        if (count == 2 && along < 0.0) {
            double across = w[0] * held->d[1] - w[1] * held->d[0];
            square = across * across;
        }
        break;
    }
    out->square += length * length * square;
    out->floor += length * length * noise;
}

static double block_arm(const crBlock* block) { return block->arm > 0.0 ? block->arm : 1.0; }

crDefect cr__witness_defect(const crBlock* block, const double* weight, const crHeld* held, const double* w,
                            const double* floor) {
    crDefect defect = {0};
    if (block->kind != CR_BLOCK_CONE) {
        for (int k = 0; k < block->count; k++) {
            add_defect(&held[k], 1, block_arm(block), w + k, floor + k, &defect);
        }
        return defect;
    }
    add_defect(held, 1, 1.0, w, floor, &defect);
    if (held[0].hold == CR_HOLD_ZERO) defect.permits = cr__larger(defect.permits, -w[0]);
    if (is_single(block, tangents_of(block))) {
        // tangents alone move together, in m/s
        add_defect(&held[1], block->count - 1, 1.0, w + 1, floor + 1, &defect);
        return defect;
    }
    Part parts[CR_BLOCK_PARTS];
    int count = cone_parts(block, weight, parts);
    double lambda = linear_weight(weight, tangents_of(block));
    for (int k = 0; k < count; k++) {
        const Part* part = &parts[k];
        double length = part->tangent || !(part->lambda > 0.0) ? 1.0 : sqrt(lambda / part->lambda);
        add_defect(&held[part->at], part->count, length, w + part->at, floor + part->at, &defect);
    }
    return defect;
}

double cr__witness_scale(const crBlock* block, const double* weight, const double* q) {
    double worst = 0.0, arm = block_arm(block);
    if (block->kind == CR_BLOCK_CONE) {
        int tangents = tangents_of(block);
        double closing = cr__larger(0.0, -q[0]), slip = size_of_witness(q + 1, tangents);
        double mu = block->mu;
        if (block->vertex_count > 0) mu = 1.0;
        // infinite friction on what does not close stops nothing
        double stopped = closing > 0.0 && mu * closing < slip ? mu * closing : closing > 0.0 ? slip : 0.0;
        return cr__larger(closing, stopped);
    }
    for (int k = 0; k < block->count; k++) {
        double off = fabs(q[k]);
        if (block->kind == CR_BLOCK_UNILATERAL) off = fmax(0.0, -q[k]);
        if (block->kind == CR_BLOCK_BOX && weight[k] > 0.0) {
            off = fabs(weight[k] * fmin(block->hi, fmax(block->lo, -q[k] / weight[k])));
        }
        worst = fmax(worst, arm * off);
    }
    return worst;
}
