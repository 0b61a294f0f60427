// gauss.c - Gauss-Newton for the mean mass-weighted error of a law.
//
// The loss is the mean of d_i = sqrt(c_i + r_i^T W r_i / m), r_i = P(theta) - P_measured. Each step solves
//     (sum (P_a^T W P_b)/(m d_i) + lambda D) dx = -sum (P_a^T W r)/(m d_i)
// over the places x of the parameters in the unit cube (iteratively reweighted least squares), P_a from
// cr_law_gradient. lambda falls where the loss falls as foretold and rises where it does not (Levenberg and Marquardt).
// Rows on a switch give the derivative of the side that lowers their error more; rows whose P jumps give none and count
// in the loss alone. Parameters at an end of their range that would leave it are held. A parameter that no row depends on
// (mu, where everything sticks) is looked for across its range: no derivative leads out of there.
// Standard errors: s^2 (sum P_a^T W P_b / m)^-1 with s^2 the mean square error, as for normal errors.
#include "fit/gauss.h"

#include <math.h>
#include <string.h>

#include "fit/damped.h"

#define BUDGET  60
#define FLOOR   1e-9  // of the speed before: errors below it count as this in weights
#define SMALL   1e-7  // step in the cube at which a search ends
#define FLAT    1e-7  // of the loss: less progress ends a search
#define LOOKS   2
#define SCAN    6     // places across the range of a parameter that no row depends on
#define DAMPING 1e-3  // first lambda

typedef struct Normal {
    double A[CR_SEARCH_DIM][CR_SEARCH_DIM];  // weighted by 1/d
    double F[CR_SEARCH_DIM][CR_SEARCH_DIM];  // not weighted: the Fisher information times s^2
    double g[CR_SEARCH_DIM];
    double squares;  // sum of d^2
    double loss;
} Normal;

static crLawInput input_of(crFitParam param) {
    static const crLawInput inputs[] = {CR_BY_MU,  CR_BY_E,    CR_BY_ET,   CR_BY_ETA2, CR_BY_MU2,
                                        CR_BY_MU3, CR_BY_PSI1, CR_BY_PSI2, CR_BY_RHO};
    return inputs[param];
}

static crFitTheta theta_at(const crGauss* g, const double* x) {
    crFitTheta theta = g->theta;
    for (int i = 0; i < g->dim; i++) {
        theta.value[g->param[i]] = cr_fit_param_value(g->param[i], x[i]);
    }
    return theta;
}

// d value / d place
static double stretch(crFitParam param, double x) {
    double h = 1e-6, lo = fmax(0.0, x - h), hi = fmin(1.0 - 1e-9, x + h);
    return (cr_fit_param_value(param, hi) - cr_fit_param_value(param, lo)) / (hi - lo);
}

static int weight_of(const crGauss* g, int row) { return g->weight != NULL ? g->weight[row] : 1; }

static double loss_at(crGauss* g, const double* x) {
    crFitTheta theta = theta_at(g, x);
    double sum = 0.0, total = 0.0;
    for (int i = 0; i < g->impacts->count; i++) {
        const crImpactRow* row = &g->impacts->rows[i];
        crHit hit;
        bool answered = true;
        if (weight_of(g, i) == 0) continue;
        cr_fit_answer(g->law, &theta, &row->contact, &hit, &answered, NULL);
        sum += weight_of(g, i) * cr_impact_error(row, hit.P);
        total += weight_of(g, i);
    }
    g->passes++;
    return sum / fmax(1.0, total);
}

// The law of a row with its derivatives, in the contact frame.
static bool gradient_of(const crGauss* g, const crFitTheta* theta, const crImpactRow* row, crGradient* out) {
    const double* x = theta->value;
    crLawParams params;
    crLaw law;
    if (cr_fit_law_at(g->law, theta, &params, &law, NULL) != CR_OK) return false;
    crCollision c = cr_collision();
    c.W = cr_sym3_full(row->contact.W);
    c.V = row->contact.V;
    c.n = cr_vec3(1, 0, 0);
    c.has_frame = true;
    c.frame = cr_mat3_columns(cr_vec3(1, 0, 0), cr_vec3(0, 1, 0), cr_vec3(0, 0, 1));
    c.mu = (g->law.params & (1u << CR_FIT_MU)) != 0 ? x[CR_FIT_MU] : (double)INFINITY;
    c.e = x[CR_FIT_E];
    c.et = x[CR_FIT_ET];
    return cr_law_gradient(&law, &c, CR_GRADIENT_TOL, out, NULL) == CR_OK && out->verdict != CR_NO_DERIVATIVE;
}

static void add_row(const crGauss* g, const crImpactRow* row, double times, const crGradient* grad,
                    const double* rate, Normal* n) {
    crVec3 r = cr_sub(grad->hit.P, row->P);
    crVec3 Wr = cr_sym3_mul(row->contact.W, r);
    double d = cr_impact_error(row, grad->hit.P);
    double weight = times / fmax(d, FLOOR * cr_norm(row->contact.V));
    crVec3 J[CR_SEARCH_DIM];
    n->squares += times * d * d;
    for (int a = 0; a < g->dim; a++) {
        crLawInput k = input_of(g->param[a]);
        double minus = cr_dot(grad->P_minus[k], Wr), plus = cr_dot(grad->P_plus[k], Wr);
        // on a switch: rising helps by -plus, falling by minus
        J[a] = cr_scale(rate[a], minus > -plus ? grad->P_minus[k] : grad->P_plus[k]);
        n->g[a] += weight * cr_dot(J[a], Wr) / row->mass;
    }
    for (int a = 0; a < g->dim; a++) {
        crVec3 WJ = cr_sym3_mul(row->contact.W, J[a]);
        for (int b = 0; b < g->dim; b++) {
            double product = cr_dot(WJ, J[b]) / row->mass;
            n->A[a][b] += weight * product;
            n->F[a][b] += times * product;
        }
    }
}

// the loss and its derivatives in one pass
static void build(crGauss* g, const double* x, Normal* n) {
    crFitTheta theta = theta_at(g, x);
    double rate[CR_SEARCH_DIM], sum = 0.0, total = 0.0;
    for (int a = 0; a < g->dim; a++) {
        rate[a] = stretch(g->param[a], x[a]);
    }
    memset(n, 0, sizeof *n);
    g->blind = 0;
    for (int i = 0; i < g->impacts->count; i++) {
        crGradient grad;
        const crImpactRow* row = &g->impacts->rows[i];
        if (weight_of(g, i) == 0) continue;
        total += weight_of(g, i);
        if (gradient_of(g, &theta, row, &grad)) {
            add_row(g, row, weight_of(g, i), &grad, rate, n);
            sum += weight_of(g, i) * cr_impact_error(row, grad.hit.P);
        } else {
            crHit hit;
            bool answered = true;
            cr_fit_answer(g->law, &theta, &row->contact, &hit, &answered, NULL);
            sum += weight_of(g, i) * cr_impact_error(row, hit.P);
            g->blind++;
        }
    }
    n->loss = sum / fmax(1.0, total);
    g->passes++;
}

static void standard_errors(crGauss* g, const double* x, Normal* n) {
    int rows = g->impacts->count - g->blind, kinds = g->impacts->planar ? 2 : 3;
    double freedom = (double)kinds * rows - g->dim, most = 0.0;
    bool dead[CR_SEARCH_DIM];
    for (int i = 0; i < g->dim; i++) {
        most = fmax(most, n->F[i][i]);
    }
    // nothing depends on these
    for (int i = 0; i < g->dim; i++) {
        dead[i] = !(n->F[i][i] > 1e-14 * most);
        if (dead[i]) n->F[i][i] = most > 0.0 ? most : 1.0;
    }
    for (int i = 0; i < g->dim; i++) {
        double unit[CR_SEARCH_DIM] = {0}, column[CR_SEARCH_DIM];
        unit[i] = 1.0;
        bool known =
            freedom > 0.0 && !dead[i] && cr_damped_solve(g->dim, n->F, unit, column) && column[i] > 0.0;
        double place = known ? sqrt(column[i] * n->squares / freedom) : (double)NAN;
        g->se[i] = place * fabs(stretch(g->param[i], x[i]));
        // wider than its whole range: the data say nothing
        if (!(place < 1.0)) g->se[i] = (double)NAN;
    }
}

static bool is_dead(const crGauss* g, const Normal* n, int i) {
    double most = 0.0;
    for (int k = 0; k < g->dim; k++) {
        most = fmax(most, n->A[k][k]);
    }
    return !(n->A[i][i] > 1e-12 * most);
}

// Looks across the range of parameters that no row depends on, each LOOKS times at most; whether x moved.
static bool scan_dead(crGauss* g, const Normal* n, int* looks, double* x) {
    bool moved = false;
    double least = n->loss;
    for (int i = 0; i < g->dim; i++) {
        if (looks[i] >= LOOKS || !is_dead(g, n, i)) continue;
        double best = x[i], to[CR_SEARCH_DIM];
        looks[i]++;
        memcpy(to, x, sizeof to);
        for (int k = 0; k < SCAN; k++) {
            to[i] = (k + 0.5) / SCAN;
            double there = loss_at(g, to);
            if (!(there < least * (1.0 - FLAT))) continue;
            least = there;
            best = to[i];
            moved = true;
        }
        x[i] = best;
    }
    return moved;
}

void cr_gauss_refine(crGauss* g) {
    double x[CR_SEARCH_DIM] = {0}, to[CR_SEARCH_DIM] = {0};
    int looks[CR_SEARCH_DIM] = {0};
    int budget = g->budget > 0 ? g->budget : BUDGET;
    int end = g->passes + budget;
    double lambda = DAMPING;
    Normal n;
    for (int i = 0; i < g->dim; i++) {
        x[i] = cr_fit_param_place(g->param[i], g->theta.value[g->param[i]]);
    }
    g->converged = g->dim == 0;
    build(g, x, &n);
    if (scan_dead(g, &n, looks, x)) build(g, x, &n);
    while (!g->converged && g->passes < end) {
        Normal next = n;
        double size = cr_damped_step(g->dim, n.A, n.g, lambda, x, to);
        if (size > SMALL) build(g, to, &next);
        bool better = next.loss < n.loss, flat = fabs(next.loss - n.loss) <= FLAT * n.loss;
        bool ends = !(size > SMALL) || (better && flat) || lambda > 1e12;
        lambda = better ? fmax(1e-12, 0.1 * lambda) : 10.0 * lambda;
        if (better) {
            n = next;
            memcpy(x, to, sizeof x);
        }
        if (!ends) continue;
        // once more where the search ends: the others are other than at the start
        bool moved = scan_dead(g, &n, looks, x);
        if (moved) build(g, x, &n);
        lambda = DAMPING;
        g->converged = !moved;
    }
    g->loss = n.loss;
    g->theta = theta_at(g, x);
    standard_errors(g, x, &n);
}

void cr_gauss_errors(crGauss* g) {
    double x[CR_SEARCH_DIM];
    Normal n;
    for (int i = 0; i < g->dim; i++) {
        x[i] = cr_fit_param_place(g->param[i], g->theta.value[g->param[i]]);
    }
    build(g, x, &n);
    standard_errors(g, x, &n);
}

void cr_gauss_fit(crGauss* g, int starts) {
    crGauss best = *g;
    int passes = 0;
    cr_gauss_refine(&best);
    passes += best.passes;
    for (int i = 0; i < starts; i++) {
        crGauss other = *g;
        double x[CR_SEARCH_DIM];
        other.passes = 0;
        cr__search_point(i, g->dim, x);
        other.theta = theta_at(g, x);
        cr_gauss_refine(&other);
        passes += other.passes;
        if (other.loss < best.loss) best = other;
    }
    *g = best;
    g->passes = passes;
}
