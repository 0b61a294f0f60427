// Smith's law: its equation from P alone, the number of its solutions by Newton's method from many starts,
// and the limits (no slip before, grazing, infinite friction, blocked directions).
#include "algebraic.h"
#include "resolve/kinds.h"

// P_t/(mu Pn) + (V_t |V_t| + V_t+ |V_t+|)/(|V_t|^2 + |V_t+|^2), and how far rounding of V + W P moves it.
static double friction_defect(const crContact* c, const crHit* hit, double* sensitivity) {
    double a = length2(c->V.y, c->V.z);
    double b = length2(hit->V_plus.y, hit->V_plus.z);
    double limit = c->mu * hit->P.x;
    double y = hit->P.y + limit * (c->V.y * a + hit->V_plus.y * b) / (a * a + b * b);
    double z = hit->P.z + limit * (c->V.z * a + hit->V_plus.z * b) / (a * a + b * b);
    *sensitivity = speed_scale(c, hit->P) / fmax(a, b);
    return length2(y, z) / limit;
}

TEST(conditions_hold_from_P_alone) {
    crLaw law = cr__law(&cr__law_smith, NULL);
    crRandom random = sample_seed(1);
    Worst worst = worst_none();
    double restitution = 0.0;
    double friction = 0.0;
    double backward = 0.0;
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        for (int i = 0; i < test_samples(100000); i++) {
            crContact c = sample_contact(&random, (crSampleKind)kind);
            crHit hit = hit_of(&law, &c);
            if (!solved(&c, &hit)) continue;
            double defect = fabs(hit.V_plus.x + c.e * c.V.x) / speed_scale(&c, hit.P);
            restitution = fmax(restitution, defect);
            worst_add(&worst, &c, &hit);
            if (c.mu == 0.0) continue;
            double sensitivity;
            defect = friction_defect(&c, &hit, &sensitivity);
            // where V_t+ is known to twelve digits more than its size, the equation holds to twelve digits
            if (sensitivity < 100.0) friction = fmax(friction, defect);
            backward = fmax(backward, defect / (1.0 + sensitivity));
        }
    }
    printf("  defect of Vn+ = -e Vn %.1e, of friction %.1e, over its sensitivity %.1e\n", restitution,
           friction, backward);
    CHECK(restitution <= 1e-14);
    CHECK(friction <= 1e-12);
    CHECK(backward <= 1e-13);
    worst_check("smith", worst, true);
}

TEST(symmetries) {
    crLaw law = cr__law(&cr__law_smith, NULL);
    check_symmetries(&law, (crSampleKind)0, (crSampleKind)(SAMPLE_KINDS - 1), false);
}

// Residual of Smith's equation as a function of P_t, Pn from the normal row; returns Pn.
static double residual(const crContact* c, double y, double z, double out[2]) {
    double Pn = (-(1 + c->e) * c->V.x - c->W.xy * y - c->W.xz * z) / c->W.xx;
    crVec3 u = cr_impulse_V_plus(c, cr_vec3(Pn, y, z));
    double a = length2(c->V.y, c->V.z);
    double b = length2(u.y, u.z);
    out[0] = y + c->mu * Pn * (c->V.y * a + u.y * b) / (a * a + b * b);
    out[1] = z + c->mu * Pn * (c->V.z * a + u.z * b) / (a * a + b * b);
    return Pn;
}

// Newton with differences from a start; false where it does not arrive. scale: the size of impulses.
static bool newton_from(const crContact* c, double scale, double* y, double* z, double* Pn) {
    for (int i = 0; i < 60; i++) {
        double f[2], fy[2], fz[2];
        double h = 1e-7 * scale;
        *Pn = residual(c, *y, *z, f);
        if (length2(f[0], f[1]) <= 1e-12 * (scale + length2(*y, *z))) return true;
        residual(c, *y + h, *z, fy);
        residual(c, *y, *z + h, fz);
        double a = (fy[0] - f[0]) / h, b = (fz[0] - f[0]) / h;
        double d = (fy[1] - f[1]) / h, e = (fz[1] - f[1]) / h;
        double det = a * e - b * d;
        double dy = (b * f[1] - e * f[0]) / det;
        double dz = (d * f[0] - a * f[1]) / det;
        double shrink = fmin(1.0, (3.0 * scale + length2(*y, *z)) / (length2(dy, dz) + 1e-300));
        *y += shrink * dy;
        *z += shrink * dz;
        if (!isfinite(*y) || !isfinite(*z)) return false;
    }
    return false;
}

// Roots found from random starts around ours, each once.
typedef struct Roots {
    int count;
    bool negative;  // one with Pn < 0 was among them; those are not kept
    bool ours;
    double scale;
    double y[BRUTE_MAX], z[BRUTE_MAX], Pn[BRUTE_MAX];
} Roots;

static Roots roots_from(const crContact* c, crVec3 P, crRandom* random, int starts) {
    Roots all = {.scale = cr_norm(P) + length2(c->V.y, c->V.z) / (c->W.yy + c->W.zz)};
    for (int start = 0; start < starts; start++) {
        double reach = all.scale * sample_log(random, 0.5, start % 2 ? 4.0 : 100.0);
        double y = P.y + reach * sample_uniform(random, -1, 1);
        double z = P.z + reach * sample_uniform(random, -1, 1);
        double Pn;
        if (!newton_from(c, all.scale, &y, &z, &Pn)) continue;
        if (Pn < 0.0) {
            all.negative = true;
            continue;
        }
        int i = 0;
        while (i < all.count && length2(y - all.y[i], z - all.z[i]) > 1e-6 * all.scale) {
            i++;
        }
        if (i < all.count || i == BRUTE_MAX) continue;
        all.y[i] = y;
        all.z[i] = z;
        all.Pn[i] = Pn;
        all.count++;
        all.ours = all.ours || length2(y - P.y, z - P.z) <= 1e-6 * all.scale;
    }
    return all;
}

// Roots with Pn < 0 are common; with Pn >= 0 there is one in all but a few draws.
TEST(solutions_from_many_starts) {
    crLaw law = cr__law(&cr__law_smith, NULL);
    crRandom random = sample_seed(2);
    static const crSampleKind kinds[] = {SAMPLE_BODIES, SAMPLE_FIXED, SAMPLE_PLANAR};
    int spurious = 0;
    int confirmed = 0;
    int several = 0;
    int count = test_samples(60000);
    for (int i = 0; i < count; i++) {
        crContact c = sample_contact(&random, kinds[i % 3]);
        if (c.mu == 0.0) continue;
        c.mu *= 2.0;
        crHit hit = hit_of(&law, &c);
        Roots all = roots_from(&c, hit.P, &random, 24);
        CHECK(all.count <= hit.solutions);
        for (int j = 0; j < all.count; j++) {
            CHECK(all.Pn[j] >= hit.P.x - 1e-6 * all.scale);
        }
        spurious += all.negative;
        confirmed += all.ours;
        several += hit.solutions > 1;
    }
    printf("  of %d draws: ours found again in %d, several solutions in %d, roots with Pn < 0 in %d\n", count,
           confirmed, several, spurious);
    CHECK(confirmed > count / 2 && spurious > 0);
}

// Near grazing, with W nearly singular, there can be three; the one of smallest Pn is taken.
TEST(several_solutions) {
    crLaw law = cr__law(&cr__law_smith, NULL);
    crRandom random = sample_seed(7);
    int several = 0;
    int seen[4] = {0};
    for (int i = 0; i < test_samples(200000); i++) {
        crContact c = sample_contact(&random, i % 2 ? SAMPLE_NEEDLE : SAMPLE_BODIES);
        c.V.x *= 1e-2;
        crHit hit = hit_of(&law, &c);
        if (hit.solutions == 1) continue;
        CHECK(hit.solutions == 3);
        Roots all = roots_from(&c, hit.P, &random, 200);
        for (int j = 0; j < all.count; j++) {
            CHECK(all.Pn[j] >= hit.P.x - 1e-6 * all.scale);
        }
        if (CHECK(all.count <= 3)) seen[all.count]++;
        several++;
    }
    printf("  three solutions in %d draws; found from random starts: 3 in %d, 2 in %d, 1 in %d, 0 in %d\n",
           several, seen[3], seen[2], seen[1], seen[0]);
    CHECK(several > 0 && seen[3] > 0);
    // the example of the documentation
    crContact c = {.W = {1, 1.1, -1.1, 1.3, -1.1, 1.9}, .V = {-1, 11.7, 8.2}, .mu = 1.4, .e = 0.5};
    crHit hit = hit_of(&law, &c);
    Roots all = roots_from(&c, hit.P, &random, 500);
    CHECK(hit.solutions == 3 && all.count == 3);
    for (int j = 0; j < all.count; j++) {
        printf("  P = (%.4f, %.4f, %.4f)\n", all.Pn[j], all.y[j], all.z[j]);
        CHECK(all.Pn[j] >= hit.P.x - 1e-9);
    }
}

// No slip before: the limit of small slip, which is Coulomb's condition on the final one.
TEST(no_slip_before) {
    crLaw law = cr__law(&cr__law_smith, NULL);
    crLaw whittaker = cr__law(&cr__law_whittaker, NULL);
    crContact c = {.W = {1, 0, 0, 2, 0, 3}, .V = {-1, 0, 0}, .mu = 0.5, .e = 0.5};
    CHECK_VEC(hit_of(&law, &c).P, cr_vec3(1.5, 0, 0), 1e-15);
    crRandom random = sample_seed(3);
    double worst = 0.0;
    for (int i = 0; i < test_samples(30000); i++) {
        c = sample_contact(&random, SAMPLE_BODIES);
        c.V.y = c.V.z = 0.0;
        crHit hit = hit_of(&law, &c);
        crHit other = hit_of(&whittaker, &c);
        CHECK(other.solutions == 1 && outcome_gap(&c, hit.P, other.P) <= 1e-13);
        // slip from nothing to rounding, any direction
        crContact near = c;
        near.V.y = 1e-9 * c.V.x;
        double small = outcome_gap(&c, hit.P, hit_of(&law, &near).P);
        near.V.y = 1e-17 * c.V.x;
        near.V.z = -1e-17 * c.V.x;
        worst = fmax(worst, outcome_gap(&c, hit.P, hit_of(&law, &near).P));
        CHECK(small <= 1e-6);
    }
    printf("  V_t of 1e-17: gap to V_t = 0 %.1e\n", worst);
    CHECK(worst <= 1e-12);
}

// A sphere: P_t along V_t, the ratio from a scalar equation solved here by halving; enough friction reverses.
TEST(spheres_reverse) {
    crLaw law = cr__law(&cr__law_smith, NULL);
    crRandom random = sample_seed(4);
    int reversed = 0;
    for (int i = 0; i < test_samples(30000); i++) {
        double tt = sample_log(&random, 0.3, 10);
        crContact c = {.W = {1, 0, 0, tt, 0, tt}, .mu = sample_uniform(&random, 0, 3)};
        c.V = cr_vec3(-1, 0, sample_log(&random, 0.01, 10));
        c.e = sample_uniform(&random, 0, 1);
        double Pn = 1 + c.e;
        double a = c.V.z;
        // b = a - tt mu Pn (a^2 + b |b|)/(a^2 + b^2) falls from a; the root lies between -a and a
        double low = -a;
        double high = a;
        for (int j = 0; j < 200; j++) {
            double b = 0.5 * (low + high);
            double r = tt * c.mu * Pn * (a * a + b * fabs(b)) / (a * a + b * b);
            if (b - a + r > 0)
                high = b;
            else
                low = b;
        }
        crHit hit = hit_of(&law, &c);
        CHECK_NEAR(hit.V_plus.z, 0.5 * (low + high), 1e-13 * (a + tt * c.mu * Pn));
        CHECK_NEAR(hit.P.y, 0.0, 1e-15);
        reversed += hit.regime == CR_REGIME_REVERSAL;
    }
    CHECK(reversed > 0);
}

// Vn -> 0-: in the plane nothing unless P_II is in the cone, and then the same for every e.
TEST(grazing) {
    crLaw law = cr__law(&cr__law_smith, NULL);
    crRandom random = sample_seed(5);
    int neither = 0;
    int acts[2] = {0};
    int count = test_samples(60000);
    for (int i = 0; i < 2 * count; i++) {
        bool planar = i % 2 == 0;
        crContact c = sample_contact(&random, planar ? SAMPLE_PLANAR : SAMPLE_MATRIX);
        crVec3 P_II;
        c.V.x = 0.0;
        if (!cr_impulse_P_II(&c, &P_II)) continue;
        bool inside = P_II.x >= 0 && length2(P_II.y, P_II.z) <= c.mu * P_II.x;
        crHit hit = hit_of(&law, &c);
        bool some = cr_norm(hit.P) > 0.0;
        acts[planar ? 0 : 1] += some;
        if (planar)
            CHECK(some == inside);
        else
            neither += some != inside;
        crContact other = c;
        other.e = 0.3;
        CHECK(outcome_gap(&c, hit.P, hit_of(&law, &other).P) <= 1e-13);
        other.V.x = -1e-13 * cr_norm(c.V);
        CHECK(outcome_gap(&c, hit.P, hit_of(&law, &other).P) <= 1e-6);
    }
    printf("  grazing of %d each: acts in %d planar, %d 3D; not as P_II says in %d of 3D\n", count, acts[0],
           acts[1], neither);
    CHECK(acts[0] > 0 && neither > 0);
}

// Growing mu: the slip is reversed as a whole, or the normal impulse vanishes.
TEST(infinite_friction_is_the_limit) {
    crLaw law = cr__law(&cr__law_smith, NULL);
    crRandom random = sample_seed(6);
    int reversed = 0;
    int vanished = 0;
    for (int i = 0; i < test_samples(30000); i++) {
        crContact c = sample_contact(&random, SAMPLE_BODIES);
        c.mu = INFINITY;
        crHit hit = hit_of(&law, &c);
        double scale = speed_scale(&c, hit.P);
        bool opposite = length2(hit.V_plus.y + c.V.y, hit.V_plus.z + c.V.z) <= 1e-9 * scale;
        bool none = hit.P.x <= 1e-9 * cr_norm(hit.P);
        CHECK(opposite || none);
        CHECK(hit.P.x >= 0.0 && fabs(hit.V_plus.x + c.e * c.V.x) <= 1e-13 * scale);
        CHECK(hit.margins.energy >= -1e-12 * fabs(cr_dot(hit.P, c.V)));
        reversed += opposite;
        vanished += none;
    }
    printf("  infinite friction: V_t reversed in %d, Pn vanishes in %d\n", reversed, vanished);
    CHECK(reversed > 0 && vanished > 0);
}

TEST(blocked_directions) {
    crLaw law = cr__law(&cr__law_smith, NULL);
    crContact c = {.W = {0, 0, 0, 1, 0, 1}, .V = {-1, 1, 0}, .mu = 0.5};
    CHECK(hit_of(&law, &c).regime == CR_REGIME_NO_SOLUTION);
    // the tangential direction is blocked: slip stays, friction is mu Pn against it
    c = (crContact){.W = {1, 0, 0, 0, 0, 0}, .V = {-1, 1, 0}, .mu = 0.5, .e = 0.5};
    CHECK_VEC(hit_of(&law, &c).P, cr_vec3(1.5, -0.75, 0), 1e-14);
    c = (crContact){.W = {1, 2, 0, 4, 0, 1}, .V = {-1, 1, 0}, .mu = 3, .e = 0.5};
    CHECK(hit_of(&law, &c).regime == CR_REGIME_NO_SOLUTION);
}
