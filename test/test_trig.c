// trig against the long double library functions: within 1 ulp over the useful range, and far beyond it.
#include "sample.h"
#include "test.h"

static double ulps(double got, long double exact) {
    double size = fabs((double)exact);
    double ulp = nextafter(size, INFINITY) - size;
    return (double)(fabsl((long double)got - exact) / (long double)ulp);
}

TEST(trig_within_one_ulp) {
    crRandom random = sample_seed(1);
    double worst = 0.0;
    for (int i = 0; i < test_samples(3000000); i++) {
        double x = sample_uniform(&random, -1.0, 1.0) * sample_log(&random, 1e-8, 1e6);
        double s, c;
        cr_sincos(x, &s, &c);
        worst = fmax(worst, fmax(ulps(s, sinl(x)), ulps(c, cosl(x))));
        double y = sample_uniform(&random, -1.0, 1.0) * sample_log(&random, 1e-10, 1e10);
        double z = sample_uniform(&random, -1.0, 1.0);
        worst = fmax(worst, ulps(cr_atan2(y, z), atan2l(y, z)));
    }
    printf("  worst error %.3f ulp\n", worst);
    CHECK(worst <= 1.0);
}

TEST(trig_near_multiples_of_a_right_angle) {
    for (int k = 1; k < 100000; k += 7) {
        double x = (double)k * (CR_PI / 2.0);
        double s, c;
        cr_sincos(x, &s, &c);
        CHECK(ulps(s, sinl(x)) <= 1.0);
        CHECK(ulps(c, cosl(x)) <= 1.0);
    }
}

TEST(trig_of_huge_angles) {
    // the double nearest to a multiple of pi/2 of all (Kahan): its cosine is -4.687165924254624e-19
    double x = ldexp(6381956970095103.0, 797);
    CHECK_NEAR(cr_cos(x), -4.687165924254624e-19, 1e-33);
    crRandom random = sample_seed(2);
    for (int i = 0; i < 20000; i++) {
        double big = ldexp(sample_uniform(&random, -2.0, 2.0), 21 + (int)(sample_bits(&random) % 1000));
        CHECK(fabs(cr_sin(big) - sin(big)) <= 1.2e-16 && fabs(cr_cos(big) - cos(big)) <= 1.2e-16);
    }
}

TEST(trig_special_values) {
    CHECK(cr_sin(0.0) == 0.0 && cr_cos(0.0) == 1.0);
    CHECK(isnan(cr_sin(INFINITY)) && isnan(cr_cos(NAN)) && isnan(cr_atan2(NAN, 1.0)));
    double axes[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, 1e-310, -1e-310, 1e308};
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++) {
            CHECK_NEAR(cr_atan2(axes[i], axes[j]), atan2(axes[i], axes[j]), 4.5e-16);
            CHECK(signbit(cr_atan2(axes[i], axes[j])) == signbit(atan2(axes[i], axes[j])));
        }
    }
}

// A hash of many results: one number that every compiler and optimisation level must reproduce.
TEST(trig_has_the_same_bits_everywhere) {
    crRandom random = sample_seed(3);
    uint64_t hash = CR_HASH_SEED;
    for (int i = 0; i < 100000; i++) {
        double x = sample_uniform(&random, -1000.0, 1000.0);
        double y = sample_uniform(&random, -1.0, 1.0);
        double out[3];
        cr_sincos(x, &out[0], &out[1]);
        out[2] = cr_atan2(x, y);
        hash = test_hash(hash, out, sizeof(double), 3);
    }
    printf("  hash %016llx\n", (unsigned long long)hash);
    CHECK(hash == UINT64_C(0x2053e3a86c7a0cbe));
}
