// Laws where W is singular: W = B B^T with B of one or two columns, formed in floating point, in random
// coordinates. What must hold is evaluated from B in long double: nothing here asks what W's rank is.
#include "algebraic.h"
#include "resolve/kinds.h"

#define MOST_LAWS 64

// A collision whose W has the rank of B. V is B y, in the range of W, or any other.
typedef struct Reduced {
    int rank;
    double B[3][3];  // columns 0 to rank - 1
    double condition;
    double size;  // |V| over the least eigenvalue of W that is not zero, N s
    crCollision c;
} Reduced;

static double column_dot(const Reduced* r, int a, int b) {
    return r->B[0][a] * r->B[0][b] + r->B[1][a] * r->B[1][b] + r->B[2][a] * r->B[2][b];
}

static void set_W(Reduced* r, double mass, double speed) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < r->rank; k++)
                sum += r->B[i][k] * r->B[j][k];
            r->c.W.m[i][j] = mass * sum;
        }
    }
    r->c.V = cr_scale(speed, r->c.V);
}

static Reduced draw(crRandom* random, int rank, bool in_range) {
    Reduced r = {.rank = rank, .c = cr_collision()};
    do {
        for (int i = 0; i < 9; i++)
            r.B[i / 3][i % 3] = i % 3 < rank ? sample_uniform(random, -1.0, 1.0) : 0.0;
        double trace = column_dot(&r, 0, 0) + column_dot(&r, 1, 1);
        double cross = column_dot(&r, 0, 1);
        double det = column_dot(&r, 0, 0) * column_dot(&r, 1, 1) - cross * cross;
        double least = rank == 2 ? det / trace : trace;
        r.condition = trace / least;
        r.size = 1.0 / least;
    } while (!(r.condition < 1e4) || rank == 3);
    r.c.V = sample_direction(random);
    if (in_range) {
        double y[2] = {sample_uniform(random, -1.0, 1.0), sample_uniform(random, -1.0, 1.0)};
        r.c.V = cr_vec3(r.B[0][0] * y[0] + r.B[0][1] * y[1], r.B[1][0] * y[0] + r.B[1][1] * y[1],
                        r.B[2][0] * y[0] + r.B[2][1] * y[1]);
    }
    r.c.n = sample_direction(random);
    if (cr_dot(r.c.n, r.c.V) > 0.0) r.c.n = cr_neg(r.c.n);
    r.c.mu = sample_uniform(random, 0.0, 1.0) < 0.1 ? (double)INFINITY : sample_uniform(random, 0.0, 2.0);
    r.c.e = sample_uniform(random, 0.0, 1.0);
    r.c.et = sample_uniform(random, 0.0, 1.0);
    r.size *= cr_norm(r.c.V);
    set_W(&r, 1.0, 1.0);
    return r;
}

// B^T P
static void press(const Reduced* r, const long double P[3], long double out[2]) {
    for (int k = 0; k < 2; k++)
        out[k] = r->B[0][k] * P[0] + r->B[1][k] * P[1] + r->B[2][k] * P[2];
}

// Chatterjee and Ruina's law of the reduced problem: W P = -V is B^T P = -y, of least norm P_II = -B (B^T B)^-1 y
// with B^T B y = B^T V.
static void reduced_law(const Reduced* r, long double P[3]) {
    long double a = column_dot(r, 0, 0), b = column_dot(r, 0, 1), d = column_dot(r, 1, 1);
    long double n[3] = {r->c.n.x, r->c.n.y, r->c.n.z}, V[3] = {r->c.V.x, r->c.V.y, r->c.V.z};
    long double f[2], g[2], II[3], Vn = 0, nn[2], length = sqrtl(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3; i++)
        n[i] /= length;
    press(r, V, f);
    // twice: y, then the coefficients of P_II
    for (int pass = 0; pass < 2; pass++) {
        long double det = a * d - b * b;
        g[0] = (d * f[0] - b * f[1]) / det;
        g[1] = (a * f[1] - b * f[0]) / det;
        f[0] = g[0];
        f[1] = g[1];
    }
    press(r, n, nn);
    for (int i = 0; i < 3; i++) {
        II[i] = -(r->B[i][0] * g[0] + r->B[i][1] * g[1]);
        Vn += n[i] * V[i];
    }
    long double I = -Vn / (nn[0] * nn[0] + nn[1] * nn[1]);
    long double D[3], Dn = 0, Dt = 0;
    for (int i = 0; i < 3; i++) {
        D[i] = II[i] - I * n[i];
        Dn += n[i] * D[i];
    }
    for (int i = 0; i < 3; i++)
        Dt += (D[i] - Dn * n[i]) * (D[i] - Dn * n[i]);
    Dt = sqrtl(Dt);
    long double kappa = 1 + r->c.et, Pn = (1 + r->c.e) * I;
    if (isinf(r->c.mu)) {
        if (Pn + kappa * Dn < 0) kappa = Pn / -Dn;
    } else if (kappa * Dt > r->c.mu * (Pn + kappa * Dn)) {
        kappa = r->c.mu * Pn / (Dt - r->c.mu * Dn);
    }
    for (int i = 0; i < 3; i++)
        P[i] = Pn * n[i] + kappa * D[i];
}

TEST(chatterjee_ruina_of_rank_two_is_the_reduced_law) {
    crRandom random = sample_seed(2);
    crLaw law = cr__law(&cr__law_chatterjee_ruina, NULL);
    double worst = 0.0;
    int count = test_samples(300000), wrong = 0;
    for (int i = 0; i < count; i++) {
        Reduced r = draw(&random, 2, true);
        crHit hit;
        long double P[3];
        CHECK_STATUS(cr_law_apply(&law, &r.c, &hit, NULL), CR_OK);
        reduced_law(&r, P);
        crVec3 expected = cr_vec3((double)P[0], (double)P[1], (double)P[2]);
        double error = cr_norm(cr_sub(hit.P, expected)) / cr_norm(expected);
        // rounding of W, magnified by its condition and by Wnn where the normal is nearly blocked
        double Wnn = cr_dot(r.c.n, cr_mat3_mul(r.c.W, r.c.n));
        double allowed = 1e-13 * r.condition * (r.c.W.m[0][0] + r.c.W.m[1][1] + r.c.W.m[2][2]) / Wnn;
        worst = fmax(worst, error / allowed);
        if (!(error <= allowed)) wrong++;
    }
    printf("  %d of %d draws wrong, worst error %.2g of what rounding of W allows\n", wrong, count, worst);
    CHECK(wrong == 0);
}

// All laws of the catalogue, with parameters that a singular W might upset.
typedef struct Laws {
    crLawParams params;
    crLaw parts[2];
    double weights[2];
    crLaw law[MOST_LAWS];
} Laws;

// The compliant law may need 50,000 steps to find that a contact never opens.
static int law_samples(int k, int full) {
    int count = test_samples(full);
    return strcmp(cr_law_info(k)->name, "compliant") == 0 ? count / 8 : count;
}

static void make_laws(Laws* laws) {
    laws->params = cr_law_params();
    laws->params.ending = CR_ENDING_ENERGETIC;
    laws->params.wish = cr_vec3(0.3, 0.2, -0.1);
    laws->params.psi1 = 1.0;
    laws->params.psi2 = 2.0;
    laws->params.rho = 0.7;
    laws->parts[0] = cr__law(&cr__law_chatterjee_ruina, NULL);
    laws->parts[1] = cr__law(&cr__law_routh, NULL);
    laws->weights[0] = 0.25;
    laws->weights[1] = 0.75;
    laws->params.law_count = 2;
    laws->params.laws = laws->parts;
    laws->params.weights = laws->weights;
    CHECK(cr_law_count() <= MOST_LAWS);
    for (int i = 0; i < cr_law_count(); i++)
        CHECK_STATUS(cr_law_find(cr_law_info(i)->name, &laws->params, &laws->law[i], NULL), CR_OK);
}

// Margins of P from B itself, each over a scale that does not depend on P: the energy 1/2 |V|^2 / least
// eigenvalue, |V|, and the impulse r->size.
static Worst exact_margins(const Reduced* r, crVec3 P) {
    long double p[3] = {P.x, P.y, P.z}, V[3] = {r->c.V.x, r->c.V.y, r->c.V.z},
                n[3] = {r->c.n.x, r->c.n.y, r->c.n.z};
    long double f[2], energy = 0, Vn = 0, Pn = 0, square = 0;
    press(r, p, f);
    for (int i = 0; i < 3; i++) {
        energy += p[i] * V[i];
        Vn += n[i] * (V[i] + r->B[i][0] * f[0] + r->B[i][1] * f[1]);
        Pn += n[i] * p[i];
        square += p[i] * p[i];
    }
    energy += 0.5L * (f[0] * f[0] + f[1] * f[1]);
    long double speed = cr_norm(r->c.V), tangential = sqrtl(fmaxl(0, square - Pn * Pn));
    long double cone = isinf(r->c.mu) ? 0 : (r->c.mu * Pn - tangential) / (r->size * (1 + r->c.mu));
    return (Worst){(double)(-energy / (speed * r->size)), (double)(Vn / speed), (double)(Pn / r->size),
                   (double)cone};
}

// No law may do worse than its guarantee on the exact W, nor answer with an impulse out of all proportion.
TEST(every_law_keeps_its_word_on_singular_W) {
    Laws laws;
    make_laws(&laws);
    crRandom random = sample_seed(3);
    for (int k = 0; k < cr_law_count(); k++) {
        const crLawInfo* info = cr_law_info(k);
        Worst worst = worst_none();
        int none = 0, refused = 0, missing = 0;
        double largest = 0.0;
        int count = law_samples(k, 6000);
        for (int i = 0; i < count; i++) {
            bool in_range = i % 4 < 2;
            Reduced r = draw(&random, 1 + i % 2, in_range);
            crHit hit;
            crStatus status = cr_law_apply(&laws.law[k], &r.c, &hit, NULL);
            if (status != CR_OK) {
                refused++;
                continue;
            }
            if (hit.regime == CR_REGIME_NO_SOLUTION) {
                CHECK(hit.P.x == 0.0 && hit.P.y == 0.0 && hit.P.z == 0.0);
                none++;
                if (in_range) missing++;
                continue;
            }
            Worst m = exact_margins(&r, hit.P);
            largest = fmax(largest, cr_norm(hit.P) / (r.size * (1.0 + fmin(r.c.mu, 2.0))));
            worst.penetration = fmin(worst.penetration, m.penetration);
            worst.tension = fmin(worst.tension, m.tension);
            worst.cone = fmin(worst.cone, m.cone);
            // routh only with the newton ending
            bool holds = !info->may_create_energy || strcmp(info->name, "routh") == 0;
            if (holds) worst.energy = fmin(worst.energy, m.energy);
        }
        printf("  %-16s %4d of %d refused, %4d no solution (%d in range), |P| <= %.1e; margins %.0e %.0e "
               "%.0e %.0e\n",
               info->name, refused, count, none, missing, largest, worst.energy, worst.penetration,
               worst.tension, worst.cone);
        CHECK(largest < 1e6);
        CHECK(worst.energy >= -1e-9 && worst.penetration >= -1e-9);
        CHECK(worst.tension >= -1e-9 && worst.cone >= -1e-9);
    }
}

// In other units of mass and speed: W by 4^i and V by 2^j is exact in floating point, and so must be P, by
// 2^j / 4^i. Nothing else changes.
TEST(units_change_nothing_but_the_impulse) {
    Laws laws;
    make_laws(&laws);
    crRandom random = sample_seed(4);
    for (int k = 0; k < cr_law_count(); k++) {
        for (int i = 0; i < law_samples(k, 6000); i++) {
            Reduced r = draw(&random, 1 + i % 2, i % 4 < 2);
            if (i % 3 == 0) r.c = sample_collision(&random, (crSampleKind)(i / 3 % SAMPLE_KINDS));
            crCollision other = r.c;
            // masses and speeds from 1e-12 to 1e12
            double w = ldexp(1.0, 2 * (int)(sample_bits(&random) % 41) - 40);
            double v = ldexp(1.0, (int)(sample_bits(&random) % 81) - 40);
            for (int a = 0; a < 9; a++)
                other.W.m[a / 3][a % 3] *= w;
            other.V = cr_scale(v, other.V);
            crHit one, two;
            crStatus status = cr_law_apply(&laws.law[k], &r.c, &one, NULL);
            laws.params.wish = cr_scale(v / w, laws.params.wish);
            CHECK_STATUS(cr_law_apply(&laws.law[k], &other, &two, NULL), status);
            laws.params.wish = cr_scale(w / v, laws.params.wish);
            if (status != CR_OK) continue;
            bool same = one.regime == two.regime && one.solutions == two.solutions &&
                        one.P.x * (v / w) == two.P.x && one.P.y * (v / w) == two.P.y &&
                        one.P.z * (v / w) == two.P.z;
            if (!same) printf("  %s, W by %g, V by %g\n", cr_law_info(k)->name, w, v);
            CHECK(same);
        }
    }
}

// The same collision in turned coordinates has the same impulse, turned.
TEST(turned_coordinates_turn_the_impulse) {
    Laws laws;
    make_laws(&laws);
    crRandom random = sample_seed(5);
    for (int k = 0; k < cr_law_count(); k++) {
        double worst = 0.0;
        int other = 0, count = 0;
        for (int i = 0; i < law_samples(k, 6000); i++) {
            Reduced r = draw(&random, 1 + i % 2, i % 4 < 2);
            crMat3 R = cr_quat_matrix(sample_rotation(&random));
            Reduced t = r;
            for (int a = 0; a < r.rank; a++) {
                crVec3 b = cr_mat3_mul(R, cr_vec3(r.B[0][a], r.B[1][a], r.B[2][a]));
                t.B[0][a] = b.x;
                t.B[1][a] = b.y;
                t.B[2][a] = b.z;
            }
            t.c.V = cr_mat3_mul(R, r.c.V);
            t.c.n = cr_mat3_mul(R, r.c.n);
            set_W(&t, 1.0, 1.0);
            crHit one, two;
            crStatus status = cr_law_apply(&laws.law[k], &r.c, &one, NULL);
            CHECK_STATUS(cr_law_apply(&laws.law[k], &t.c, &two, NULL), status);
            if (status != CR_OK) continue;
            count++;
            if (one.regime != two.regime) other++;
            crVec3 gap = cr_sub(cr_mat3_mul(R, one.P), two.P);
            worst = fmax(worst, cr_norm(gap) / (r.size + cr_norm(one.P)));
        }
        printf("  %-16s %d of %d of another regime, P apart by at most %.1e\n", cr_law_info(k)->name, other,
               count, worst);
        // the last two go by the centroid of a region that is cut off, an integral by quadrature
        CHECK(other == 0 && worst <= (k >= 11 ? 1e-4 : 1e-7));
    }
}

// Rank one, V = -k: the motion is that of one coordinate. Compression slides until all is at rest, so
// P1 = Pn (1, -mu d), k.P1 = 1; expansion presses with e Pn, against which friction holds or slides back.
TEST(anitescu_potra_of_rank_one_in_closed_form) {
    crRandom random = sample_seed(6);
    crLaw law = cr__law(&cr__law_anitescu_potra, NULL);
    for (int i = 0; i < test_samples(6000); i++) {
        crVec3 k = cr_scale(sample_log(&random, 1e-3, 1e3), sample_direction(&random));
        crCollision c = cr_collision();
        c.n = sample_direction(&random);
        if (cr_dot(k, c.n) < 0.0) c.n = cr_neg(c.n);
        for (int a = 0; a < 9; a++) {
            double b[3] = {k.x, k.y, k.z};
            c.W.m[a / 3][a % 3] = b[a / 3] * b[a % 3];
        }
        c.V = cr_neg(k);
        c.mu = sample_uniform(&random, 0.0, 1.0);
        c.e = sample_uniform(&random, 0.0, 1.0);
        double kn = cr_dot(k, c.n);
        double kt = cr_norm(cr_sub(k, cr_scale(kn, c.n)));
        double Pn = 1.0 / (kn + c.mu * kt);
        crVec3 expected = cr_scale(c.e * Pn * fmax(0.0, kn - c.mu * kt), k);
        crHit hit;
        CHECK_STATUS(cr_law_apply(&law, &c, &hit, NULL), CR_OK);
        CHECK_VEC(hit.V_plus, expected, 1e-10 * cr_norm(k) * fmax(1.0, kt / kn));
    }
}
