// Every cell of the catalogue (`carom laws`), recomputed: dimension of what a law reaches, energy it may create,
// spin reversal and non-reversal of a sphere, normal and tangential rebound at grazing.
#include <string.h>

#include "resolve/kinds.h"
#include "sample.h"
#include "test.h"

// All parameters a law may have, as numbers that can be varied.
enum { E, ET, NU, ETA2, MU2, MU3, PSI1, PSI2, RHO, WISH_N, WISH_1, WISH_2, SIGMA, ENDING, KNOBS };

typedef struct Setting {
    double knob[KNOBS];
    crLaw parts[3];
    double weights[3];
    crLawParams params;
} Setting;

static Setting random_setting(crRandom* random) {
    Setting s = {0};
    for (int k = 0; k < KNOBS; k++) {
        s.knob[k] = sample_uniform(random, 0.0, 1.0);
    }
    s.knob[ET] = sample_uniform(random, -1.0, 1.0);
    s.knob[ETA2] = sample_log(random, 0.3, 30.0);
    s.knob[MU2] = sample_uniform(random, -1.0, 1.0);
    s.knob[MU3] = sample_uniform(random, -1.0, 1.0);
    s.knob[PSI1] *= CR_PI;
    s.knob[PSI2] *= 2.0 * CR_PI;
    s.knob[WISH_1] = sample_uniform(random, -1.0, 1.0);
    s.knob[WISH_2] = sample_uniform(random, -1.0, 1.0);
    s.knob[ENDING] = (double)(sample_bits(random) % 3);
    return s;
}

static crStatus apply(const char* name, Setting* s, crContact c, crHit* hit) {
    const double* k = s->knob;
    c.e = k[E];
    c.et = k[ET];
    // Whittaker takes part so that a composite can do whatever its parts can
    s->parts[0] = cr__law(&cr__law_chatterjee_ruina, NULL);
    s->parts[1] = cr__law(&cr__law_routh, NULL);
    s->parts[2] = cr__law(&cr__law_whittaker, NULL);
    s->weights[0] = k[SIGMA];
    s->weights[1] = (1.0 - k[SIGMA]) * (1.0 - k[RHO]);
    s->weights[2] = (1.0 - k[SIGMA]) * k[RHO];
    s->params = cr_law_params();
    s->params.ending = (crEnding)k[ENDING];
    s->params.nu = k[NU];
    s->params.eta2 = k[ETA2];
    s->params.mu2 = k[MU2];
    s->params.mu3 = k[MU3];
    s->params.psi1 = k[PSI1];
    s->params.psi2 = k[PSI2];
    s->params.rho = k[RHO];
    double size = cr_norm(c.V) / c.W.xx;
    s->params.wish = cr_scale(2.0 * size, cr_vec3(k[WISH_N], k[WISH_1], k[WISH_2]));
    s->params.law_count = 3;
    s->params.laws = s->parts;
    s->params.weights = s->weights;
    crLaw law;
    crStatus status = cr_law_find(name, &s->params, &law, NULL);
    return status == CR_OK ? cr_law_apply_contact(&law, &c, hit, NULL) : status;
}

static crContact random_contact(crRandom* random, crSampleKind kind) {
    crContact contact;
    crMat3 frame;
    crCollision c = sample_collision(random, kind);
    CHECK_STATUS(cr_collision_contact(&c, &contact, &frame, NULL), CR_OK);
    return contact;
}

static crSampleKind kind_for(const crLawInfo* info) {
    if (info->planar) return SAMPLE_PLANAR;
    return strcmp(info->name, "bilinear") == 0 ? SAMPLE_SPHERES : SAMPLE_BODIES;
}

// rank of the vectors by Gram-Schmidt, those below tol of the largest counting as zero
static int rank_of(crVec3* v, int count, double tol) {
    double largest = 0.0;
    for (int i = 0; i < count; i++) {
        largest = fmax(largest, cr_norm(v[i]));
    }
    int rank = 0;
    for (int pass = 0; pass < 3; pass++) {
        int best = -1;
        for (int i = 0; i < count; i++) {
            if (cr_norm(v[i]) > tol * largest && (best < 0 || cr_norm(v[i]) > cr_norm(v[best]))) best = i;
        }
        if (best < 0) return rank;
        rank++;
        crVec3 u = cr_scale(1.0 / cr_norm(v[best]), v[best]);
        for (int i = 0; i < count; i++) {
            v[i] = cr_madd(v[i], -cr_dot(u, v[i]), u);
        }
    }
    return rank;
}

// The largest rank of dP/d(parameters) over random settings is the dimension reached.
TEST(dimension_reached) {
    for (int i = 0; i < cr_law_count(); i++) {
        const crLawInfo* info = cr_law_info(i);
        crRandom random = sample_seed(31);
        int reached = 0;
        for (int k = 0; k < 300; k++) {
            crContact c = random_contact(&random, kind_for(info));
            c.mu = 1.0;
            Setting s = random_setting(&random);
            s.knob[ENDING] = 0.0;
            if (strcmp(info->name, "brach") == 0) {
                s.knob[E] *= 0.1;
                s.knob[MU2] *= 0.3;
                s.knob[MU3] *= 0.3;
            }
            crHit hit;
            crVec3 change[KNOBS];
            if (apply(info->name, &s, c, &hit) != CR_OK || hit.regime == CR_REGIME_NO_SOLUTION) continue;
            bool ok = true;
            for (int j = 0; j < ENDING; j++) {
                Setting t = s;
                crHit moved = hit;
                t.knob[j] += t.knob[j] > 0.5 ? -1e-4 : 1e-4;
                if (strcmp(info->name, "composite") == 0 && j == RHO) t = s;
                ok = ok && apply(info->name, &t, c, &moved) == CR_OK;
                change[j] = cr_sub(moved.P, hit.P);
            }
            int rank = rank_of(change, ENDING, 1e-3);
            if (ok && rank > reached) reached = rank;
        }
        test_check(reached == info->dimension, __FILE__, __LINE__,
                   "%s reaches dimension %d, catalogue says %d", info->name, reached, info->dimension);
    }
}

TEST(energy_created) {
    for (int i = 0; i < cr_law_count(); i++) {
        const crLawInfo* info = cr_law_info(i);
        crRandom random = sample_seed(32);
        bool seen = false;
        for (int k = 0; k < test_samples(60000); k++) {
            crContact c = random_contact(&random, (crSampleKind)(k % SAMPLE_KINDS));
            Setting s = random_setting(&random);
            crHit hit;
            seen = seen || (apply(info->name, &s, c, &hit) == CR_OK && hit.creates_energy);
        }
        test_check(seen == info->may_create_energy, __FILE__, __LINE__,
                   "%s creates energy: %d, catalogue says %d", info->name, seen, info->may_create_energy);
    }
}

// A sphere with friction strong enough that sticking would be admissible: is the slip ever reversed, ever not?
TEST(spin_reversal_of_a_sphere) {
    for (int i = 0; i < cr_law_count(); i++) {
        const crLawInfo* info = cr_law_info(i);
        crRandom random = sample_seed(33);
        bool reversed = false;
        bool kept = false;
        for (int k = 0; k < test_samples(30000); k++) {
            crContact c = {.W = {1.0, 0.0, 0.0, 3.5, 0.0, 3.5}, .mu = 1.0};
            c.V = cr_vec3(-1.0, -sample_uniform(&random, 0.1, 1.0), 0.0);
            Setting s = random_setting(&random);
            // reached at psi2 and ratios in the plane of motion too
            crHit hit;
            if (apply(info->name, &s, c, &hit) != CR_OK || hit.regime == CR_REGIME_NO_SOLUTION) continue;
            double along = hit.V_plus.y * c.V.y;
            reversed = reversed || along < -1e-6;
            kept = kept || along >= -1e-9;
        }
        test_check(reversed == info->spin_reversal && kept == info->spin_non_reversal, __FILE__, __LINE__,
                   "%s: reversal %d, non-reversal %d; catalogue says %d, %d", info->name, reversed, kept,
                   info->spin_reversal, info->spin_non_reversal);
    }
}

// Vn -> 0-: is there ever a normal velocity left, ever a reversed tangential one?
TEST(rebound_at_grazing) {
    for (int i = 0; i < cr_law_count(); i++) {
        const crLawInfo* info = cr_law_info(i);
        crRandom random = sample_seed(34);
        bool normal = false;
        bool tangential = false;
        for (int k = 0; k < test_samples(30000); k++) {
            crContact c = random_contact(&random, kind_for(info));
            double slip = sqrt(c.V.y * c.V.y + c.V.z * c.V.z);
            if (!(slip > 1e-3)) continue;
            c.mu = sample_uniform(&random, 0.0, 3.0);
            c.V = cr_scale(1.0 / slip, c.V);
            c.V.x = -1e-9;
            Setting s = random_setting(&random);
            crHit hit;
            if (apply(info->name, &s, c, &hit) != CR_OK || hit.regime == CR_REGIME_NO_SOLUTION) continue;
            normal = normal || hit.V_plus.x > 1e-4;
            tangential = tangential || hit.V_plus.y * c.V.y + hit.V_plus.z * c.V.z < -1e-4;
        }
        test_check(normal == info->grazing_normal && tangential == info->grazing_tangential, __FILE__,
                   __LINE__, "%s: grazing normal %d, tangential %d; catalogue says %d, %d", info->name,
                   normal, tangential, info->grazing_normal, info->grazing_tangential);
    }
}

TEST(names) {
    crLaw law;
    crError error;
    CHECK_STATUS(cr_law_find("newtom", NULL, &law, &error), CR_ERR_NAME);
    CHECK_TEXT(error.field, "law");
    CHECK(strstr(error.message, "newtom") != NULL && strstr(error.message, "projected") != NULL);
    CHECK(cr_law_info(-1) == NULL && cr_law_info(cr_law_count()) == NULL);
    for (int i = 0; i < cr_law_count(); i++) {
        const crLawInfo* info = cr_law_info(i);
        crLawParams params = cr_law_params();
        CHECK_STATUS(cr_law_find(info->name, &params, &law, NULL), CR_OK);
        CHECK_TEXT(law.name, info->name);
        CHECK(info->title[0] && info->parameters[0] && info->guarantee[0] && info->source[0]);
    }
}
