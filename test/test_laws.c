// What must hold between laws and of every law in the catalogue, over random collisions of every kind.
#include <string.h>

#include "resolve/kinds.h"
#include "sample.h"
#include "test.h"

// A law by name with defaults; the composite is half Chatterjee and Ruina, half Routh.
typedef struct Named {
    crLawParams params;
    crLaw parts[2];
    double weights[2];
    crLaw law;
} Named;

static void make(Named* named, const char* name) {
    named->params = cr_law_params();
    named->parts[0] = cr__law(&cr__law_chatterjee_ruina, NULL);
    named->parts[1] = cr__law(&cr__law_routh, NULL);
    named->weights[0] = named->weights[1] = 0.5;
    named->params.law_count = 2;
    named->params.laws = named->parts;
    named->params.weights = named->weights;
    CHECK_STATUS(cr_law_find(name, &named->params, &named->law, NULL), CR_OK);
}

// laws whose impulse follows from mu, e and et alone (no free point of the region)
static bool determined(const char* name) {
    return strcmp(name, "brach") != 0 && strcmp(name, "spherical") != 0 && strcmp(name, "projected") != 0;
}

static double impulse_scale(const crCollision* c) {
    double Wnn = cr_dot(c->n, cr_mat3_mul(c->W, c->n));
    return cr_norm(c->V) / Wnn;
}

TEST(all_laws_agree_without_friction) {
    double worst = 0.0;
    for (int i = 0; i < cr_law_count(); i++) {
        const char* name = cr_law_info(i)->name;
        if (!determined(name)) continue;
        Named named;
        make(&named, name);
        crLaw newton = cr__law(&cr__law_newton, NULL);
        crRandom random = sample_seed(21);
        for (int k = 0; k < test_samples(100000); k++) {
            crCollision c = sample_collision(&random, (crSampleKind)(k % SAMPLE_KINDS));
            c.mu = 0.0;
            if (cr_law_info(i)->planar) c.et = fabs(c.et);
            crHit hit, expected;
            crStatus status = cr_law_apply(&named.law, &c, &hit, NULL);
            if (status == CR_ERR_DIAGONAL || status == CR_ERR_PLANAR) continue;
            // energetic restitution of a frictionless contact is Newton's
            CHECK_STATUS(status, CR_OK);
            CHECK_STATUS(cr_law_apply(&newton, &c, &expected, NULL), CR_OK);
            double apart = cr_norm(cr_sub(hit.P, expected.P)) / cr_norm(expected.P);
            worst = fmax(worst, apart);
            test_check(apart <= 1e-9, __FILE__, __LINE__, "%s: differs from newton by %g", name, apart);
        }
    }
    printf("  worst relative difference %.2g\n", worst);
}

TEST(chatterjee_ruina_is_bilinear_for_spheres) {
    crLaw cr = cr__law(&cr__law_chatterjee_ruina, NULL);
    crLaw bilinear = cr__law(&cr__law_bilinear, NULL);
    crRandom random = sample_seed(22);
    double worst = 0.0;
    for (int k = 0; k < test_samples(100000); k++) {
        crCollision c = sample_collision(&random, SAMPLE_SPHERES);
        crHit a, b;
        CHECK_STATUS(cr_law_apply(&cr, &c, &a, NULL), CR_OK);
        CHECK_STATUS(cr_law_apply(&bilinear, &c, &b, NULL), CR_OK);
        worst = fmax(worst, cr_norm(cr_sub(a.P, b.P)) / cr_norm(a.P));
    }
    printf("  worst relative difference %.2g\n", worst);
    CHECK(worst <= 1e-12);
}

// W diagonal in (n, -V_t, .): Whittaker and Routh (any ending) are one law. Diagonal in another frame: not so.
TEST(whittaker_is_routh_where_w_is_diagonal_along_the_slip) {
    crLaw whittaker = cr__law(&cr__law_whittaker, NULL);
    crLaw routh = cr__law(&cr__law_routh, NULL);
    crRandom random = sample_seed(23);
    double worst = 0.0;
    int differ = 0;
    for (int k = 0; k < test_samples(100000); k++) {
        crCollision c = cr_collision();
        for (int i = 0; i < 3; i++) {
            c.W.m[i][i] = sample_log(&random, 0.1, 10.0);
        }
        c.mu = sample_uniform(&random, 0.0, 2.0);
        c.e = sample_uniform(&random, 0.0, 1.0);
        c.V = cr_vec3(-sample_uniform(&random, 0.01, 2.0), sample_uniform(&random, -2.0, 2.0), 0.0);
        crHit a, b;
        CHECK_STATUS(cr_law_apply(&whittaker, &c, &a, NULL), CR_OK);
        CHECK_STATUS(cr_law_apply(&routh, &c, &b, NULL), CR_OK);
        worst = fmax(worst, cr_norm(cr_sub(a.P, b.P)) / cr_norm(a.P));
        c.V.z = sample_uniform(&random, -2.0, 2.0);
        CHECK_STATUS(cr_law_apply(&whittaker, &c, &a, NULL), CR_OK);
        CHECK_STATUS(cr_law_apply(&routh, &c, &b, NULL), CR_OK);
        differ += cr_norm(cr_sub(a.P, b.P)) > 1e-6 * cr_norm(a.P);
    }
    printf("  worst relative difference %.2g; in other frames %d differ\n", worst, differ);
    CHECK(worst <= 1e-9);
    CHECK(differ > 0);
}

static crCollision turned(const crCollision* c, crMat3 R) {
    crCollision t = *c;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) {
                for (int l = 0; l < 3; l++) {
                    sum += R.m[i][k] * c->W.m[k][l] * R.m[j][l];
                }
            }
            t.W.m[i][j] = sum;
        }
    }
    t.V = cr_mat3_mul(R, c->V);
    t.n = cr_mat3_mul(R, c->n);
    t.normalize = true;
    return t;
}

// Doubling V doubles P, to the last bit; turning the coordinates turns P.
TEST(homogeneous_and_invariant_under_rotation) {
    for (int i = 0; i < cr_law_count(); i++) {
        const char* name = cr_law_info(i)->name;
        if (strcmp(name, "projected") == 0) continue;  // its parameter is an impulse, not a ratio
        Named named;
        make(&named, name);
        crRandom random = sample_seed(24);
        double scaling = 0.0;
        double turning = 0.0;
        for (int k = 0; k < test_samples(30000); k++) {
            crSampleKind kind = (crSampleKind)(k % SAMPLE_KINDS);
            crCollision c = sample_collision(&random, kind);
            if (strcmp(name, "brach") == 0) c.e = 0.0;
            crHit hit, scaled, rotated;
            crCollision twice = c;
            twice.V = cr_scale(2.0, c.V);
            crCollision t = turned(&c, cr_quat_matrix(sample_rotation(&random)));
            crStatus status = cr_law_apply(&named.law, &c, &hit, NULL);
            crStatus again = cr_law_apply(&named.law, &twice, &scaled, NULL);
            crStatus other = cr_law_apply(&named.law, &t, &rotated, NULL);
            CHECK(status == again && status == other);
            if (status != CR_OK) continue;
            double size = impulse_scale(&c) + cr_norm(hit.P);
            scaling = fmax(scaling, cr_norm(cr_sub(scaled.P, cr_scale(2.0, hit.P))) / size);
            // badly scaled W lose digits in the turning itself
            if (kind == SAMPLE_NEEDLE || kind == SAMPLE_HEAVY || kind == SAMPLE_MATRIX) continue;
            // a tie between solutions may be broken the other way after rounding
            if (hit.solutions != rotated.solutions || hit.solutions > 1) continue;
            turning = fmax(turning, fabs(cr_dot(hit.P, c.n) - cr_dot(rotated.P, t.n)) / size);
            turning =
                fmax(turning, fabs(cr_dot(hit.P, c.V) - cr_dot(rotated.P, t.V)) / (size * cr_norm(c.V)));
        }
        printf("  %-18s scaling %.1e  rotation %.1e\n", name, scaling, turning);
        test_check(scaling <= 1e-9, __FILE__, __LINE__, "%s: not homogeneous, %g", name, scaling);
        test_check(turning <= 1e-7, __FILE__, __LINE__, "%s: not invariant, %g", name, turning);
    }
}

TEST(many_gives_the_same_bits_as_one_by_one) {
    enum { COUNT = 5003 };
    int count = test_samples(30 * COUNT) < COUNT ? test_samples(30 * COUNT) : COUNT;
    static crMat3 W[COUNT];
    static crVec3 V[COUNT], n[COUNT], P[COUNT];
    static double mu[COUNT], e[COUNT], et[COUNT];
    static crStatus status[COUNT];
    crRandom random = sample_seed(25);
    for (int k = 0; k < count; k++) {
        crCollision c = sample_collision(&random, (crSampleKind)(k % SAMPLE_KINDS));
        W[k] = c.W;
        V[k] = k % 10 == 0 ? cr_neg(c.V) : c.V;
        n[k] = c.n;
        mu[k] = k == 7 ? -1.0 : c.mu;
        e[k] = c.e;
        et[k] = c.et;
    }
    for (int i = 0; i < cr_law_count(); i++) {
        Named named;
        make(&named, cr_law_info(i)->name);
        CHECK(cr_law_many(&named.law, count, W, V, n, mu, e, et, P, status) != CR_OK);
        for (int k = 0; k < count; k++) {
            crCollision c = cr_collision();
            c.W = W[k];
            c.V = V[k];
            c.n = n[k];
            c.mu = mu[k];
            c.e = e[k];
            c.et = et[k];
            crHit hit = {0};
            CHECK_STATUS(cr_law_apply(&named.law, &c, &hit, NULL), status[k]);
            crVec3 expected = status[k] == CR_OK ? hit.P : cr_vec3(0, 0, 0);
            CHECK(memcmp(&expected, &P[k], sizeof expected) == 0);
        }
        CHECK_STATUS(status[7], CR_ERR_RANGE);
    }
    crLaw law = cr__law(&cr__law_newton, NULL);
    CHECK_STATUS(cr_law_many(&law, 1, NULL, V, n, mu, e, et, P, NULL), CR_ERR_ARGUMENT);
    CHECK_STATUS(cr_law_many(&law, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), CR_OK);
}

// The promise of the catalogue: a law that may not create energy never leaves the region, jams apart.
TEST(laws_keep_their_promise) {
    for (int i = 0; i < cr_law_count(); i++) {
        const crLawInfo* info = cr_law_info(i);
        Named named;
        make(&named, info->name);
        crRandom random = sample_seed(26);
        double worst[4] = {0};
        int jams = 0;
        int none = 0;
        for (int k = 0; k < test_samples(100000); k++) {
            crCollision c = sample_collision(&random, (crSampleKind)(k % SAMPLE_KINDS));
            if (info->planar) c.et = fabs(c.et);  // the planar law knows no negative one
            crHit hit;
            crStatus status = cr_law_apply(&named.law, &c, &hit, NULL);
            if (status != CR_OK) {
                CHECK(status == CR_ERR_DIAGONAL || status == CR_ERR_PLANAR || status == CR_ERR_REGION);
                continue;
            }
            jams += hit.regime == CR_REGIME_JAM;
            none += hit.regime == CR_REGIME_NO_SOLUTION;
            if (hit.regime == CR_REGIME_NO_SOLUTION) continue;
            double speed = cr_norm(c.V);
            double size = cr_norm(hit.P);
            worst[0] = fmin(worst[0], hit.margins.energy / (size * speed));
            worst[1] = fmin(worst[1], hit.margins.penetration / speed);
            worst[2] = fmin(worst[2], hit.margins.tension / size);
            worst[3] = fmin(worst[3], strcmp(info->name, "newton") == 0 ? 0.0 : hit.margins.cone / size);
            bool bound = !info->may_create_energy && hit.regime != CR_REGIME_JAM;
            if (bound && hit.verdict == CR_TRUTH_NO) {
                test_check(false, __FILE__, __LINE__, "%s leaves the region: margins %g %g %g %g, kind %d",
                           info->name, hit.margins.energy, hit.margins.penetration, hit.margins.tension,
                           hit.margins.cone, k % SAMPLE_KINDS);
            }
        }
        printf("  %-18s worst margins, relative: energy %9.1e penetration %9.1e tension %9.1e cone %9.1e; "
               "%d jams, %d without solution\n",
               info->name, worst[0], worst[1], worst[2], worst[3], jams, none);
        CHECK(worst[1] >= -1e-9 && worst[2] >= -1e-9 && worst[3] >= -1e-9);
        CHECK(info->may_create_energy || worst[0] >= -1e-9);
    }
}
