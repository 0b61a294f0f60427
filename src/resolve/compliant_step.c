// compliant_step.c - one step of two contact springs, by collocation.
//
//     P' = (f, g),  V = V0 + W P,  f' = -kappa Vn;   stick: g' = -V_t / eta2
//     slip: g = -mu f d,  d = (cos psi, sin psi),  eta2 mu f psi' = d x V_t
// The last says that the patch (V_t + eta2 g') moves along d. It is stiff where friction is weak and singular
// where f = 0, at both ends of every contact, so the step is implicit: Radau's seven-point formula (order 13,
// damps what is stiff; Hairer and Wanner 1996, IV.5), whose nodes leave out the beginning of the step. P, V
// and f follow by sweeps, psi by one Newton step in each of them.
// Fails: a step too long for the sweeps to converge returns false.
#include "resolve/compliant.h"

#define STAGES    CR_COMPLIANT_STAGES
#define SWEEPS    40
#define CONVERGED 2e-15  // share of the forces
#define MAX_TURN  0.7    // rad; beyond it Newton's method may find slip against friction, an unstable balance

const double cr__compliant_time[STAGES] = {0.029316427159784893,
                                           0.1480785996684843,
                                           0.3369846902811543,
                                           0.5586715187715501,
                                           0.7692338620300545,
                                           0.9269456713197411,
                                           1.0};

const double cr__compliant_weight[STAGES][STAGES] = {
    {0.03754626499392133, -0.0140393345564604, 0.0103527896007423, -0.008158322540275011,
     0.006388413879534685, -0.004602326779148656, 0.0018289425614706437},
    {0.08014759651561897, 0.08106206398589154, -0.021237992120711036, 0.014000291238817119,
     -0.010234185730090163, 0.0071534651513645905, -0.0028126393724067235},
    {0.0720638469418819, 0.17106835498388662, 0.10961456404007211, -0.024619871728984055,
     0.014760377043950817, -0.009575259396791401, 0.0036726783971383057},
    {0.07570512581982441, 0.15409015514217114, 0.2271077366732024, 0.11747818703702478, -0.023810827153044174,
     0.012709985533661206, -0.004608844281289633},
    {0.07391234216319184, 0.16135560761594242, 0.2068672415521042, 0.23700711534269422, 0.10308679353381345,
     -0.018854139152580447, 0.0058589009748887914},
    {0.07470556205979623, 0.1583072238724687, 0.21415342326720002, 0.21987784703186003, 0.19875212168063527,
     0.06926550160550914, -0.00811600819772829},
    {0.07449423555601031, 0.15910211573365074, 0.21235188950297781, 0.22355491450728324, 0.19047493682211558,
     0.1196137446126562, 0.02040816326530612},
};

const double cr__compliant_highest[STAGES + 1] = {
    -0.20947265625,      0.333912866095062,  -0.21712966781850018, 0.16628394500856936,
    -0.1325077211011825, 0.1042358379568787, -0.07524726906939876, 0.029924665178571428};

// What is being solved for, one entry per node.
typedef struct Unknowns {
    double f[STAGES], gy[STAGES], gz[STAGES];
    double psi_rate[STAGES];  // h psi'
    crVec3 P[STAGES], V[STAGES];
} Unknowns;

static double integrate(const double* rates, int row) {
    double sum = 0.0;
    for (int k = 0; k < STAGES; k++)
        sum += cr__compliant_weight[row][k] * rates[k];
    return sum;
}

// Solve J x = b in place by Gauss's elimination with row exchange; false where J is singular.
static bool solve(double J[STAGES][STAGES], double b[STAGES]) {
    for (int i = 0; i < STAGES; i++) {
        int pivot = i;
        for (int k = i + 1; k < STAGES; k++) {
            if (fabs(J[k][i]) > fabs(J[pivot][i])) pivot = k;
        }
        if (!(fabs(J[pivot][i]) > 0.0)) return false;
        for (int j = i; j < STAGES && pivot != i; j++) {
            double swap = J[i][j];
            J[i][j] = J[pivot][j];
            J[pivot][j] = swap;
        }
        double swap = b[i];
        b[i] = b[pivot];
        b[pivot] = swap;
        for (int k = i + 1; k < STAGES; k++) {
            double share = J[k][i] / J[i][i];
            for (int j = i + 1; j < STAGES; j++)
                J[k][j] -= share * J[i][j];
            b[k] -= share * b[i];
        }
    }
    for (int i = STAGES - 1; i >= 0; i--) {
        for (int j = i + 1; j < STAGES; j++)
            b[i] -= J[i][j] * b[j];
        b[i] /= J[i][i];
    }
    return true;
}

// One Newton step for the direction of slip at all nodes.
static bool turn(const crCompliant* s, double h, Unknowns* u, crSprings* node) {
    double J[STAGES][STAGES], b[STAGES];
    double slowness = s->eta2 * s->c.mu / h;
    bool straight = true;
    for (int i = 0; i < STAGES; i++) {
        double cross = node[i].dy * u->V[i].z - node[i].dz * u->V[i].y;
        double along = node[i].dy * u->V[i].y + node[i].dz * u->V[i].z;
        b[i] = cross - slowness * u->f[i] * u->psi_rate[i];
        if (b[i] != 0.0) straight = false;
        for (int k = 0; k < STAGES; k++)
            J[i][k] = along * cr__compliant_weight[i][k];
        J[i][i] += slowness * u->f[i];
    }
    if (straight) return true;
    if (!solve(J, b)) return false;
    for (int i = 0; i < STAGES; i++)
        u->psi_rate[i] += b[i];
    for (int i = 0; i < STAGES; i++) {
        double sine, cosine;
        double psi = integrate(u->psi_rate, i);
        if (!(fabs(psi) <= MAX_TURN)) return false;
        cr_sincos(psi, &sine, &cosine);
        node[i].dy = cosine * s->now.dy - sine * s->now.dz;
        node[i].dz = sine * s->now.dy + cosine * s->now.dz;
    }
    return true;
}

// Impulses and velocities at the nodes from the forces there.
static void velocities(const crCompliant* s, double h, Unknowns* u) {
    for (int i = 0; i < STAGES; i++) {
        crVec3 dP = cr_vec3(h * integrate(u->f, i), h * integrate(u->gy, i), h * integrate(u->gz, i));
        u->P[i] = cr_add(s->now.P, dP);
        u->V[i] = cr_add(s->now.V, cr_sym3_mul(s->c.W, dP));
    }
}

// Forces at the nodes from the velocities there. Returns the largest change.
static double forces(const crCompliant* s, double h, Unknowns* u, crSprings* node) {
    double rate[3][STAGES];
    double change = 0.0;
    for (int i = 0; i < STAGES; i++) {
        rate[0][i] = -s->kappa * u->V[i].x;
        rate[1][i] = -u->V[i].y / s->eta2;
        rate[2][i] = -u->V[i].z / s->eta2;
    }
    for (int i = 0; i < STAGES; i++) {
        double f = s->now.f + h * integrate(rate[0], i);
        double gy, gz;
        if (s->slips) {
            gy = -s->c.mu * f * node[i].dy;
            gz = -s->c.mu * f * node[i].dz;
        } else {
            gy = s->now.gy + h * integrate(rate[1], i);
            gz = s->now.gz + h * integrate(rate[2], i);
        }
        change = fmax(change, fmax(fabs(f - u->f[i]), fmax(fabs(gy - u->gy[i]), fabs(gz - u->gz[i]))));
        u->f[i] = f;
        u->gy[i] = gy;
        u->gz[i] = gz;
    }
    return change;
}

static double roughness_of(const crSprings* now, const Unknowns* u, double scale) {
    const double* highest = cr__compliant_highest;
    double f = highest[0] * now->f, gy = highest[0] * now->gy, gz = highest[0] * now->gz;
    for (int i = 0; i < STAGES; i++) {
        f += highest[i + 1] * u->f[i];
        gy += highest[i + 1] * u->gy[i];
        gz += highest[i + 1] * u->gz[i];
    }
    return fmax(fabs(f), fmax(fabs(gy), fabs(gz))) / scale;
}

bool cr__compliant_step(const crCompliant* s, double h, crCompliantStep* step) {
    Unknowns u = {0};
    for (int i = 0; i < STAGES; i++) {
        u.f[i] = s->now.f;
        u.gy[i] = s->now.gy;
        u.gz[i] = s->now.gz;
        step->node[i] = s->now;
    }
    double scale = s->peak;
    bool converged = false;
    for (int sweep = 0; sweep < SWEEPS && !converged; sweep++) {
        velocities(s, h, &u);
        if (s->slips && !turn(s, h, &u, step->node)) return false;
        double change = forces(s, h, &u, step->node);
        for (int i = 0; i < STAGES; i++) {
            scale = fmax(scale, fmax(fabs(u.f[i]), fmax(fabs(u.gy[i]), fabs(u.gz[i]))));
        }
        if (!isfinite(change)) return false;
        converged = change <= CONVERGED * scale;
    }
    if (!converged) return false;
    for (int i = 0; i < STAGES; i++) {
        crSprings* node = &step->node[i];
        node->f = u.f[i];
        node->gy = u.gy[i];
        node->gz = u.gz[i];
        node->P = u.P[i];
        node->V = u.V[i];
    }
    step->roughness = roughness_of(&s->now, &u, scale);
    return true;
}
