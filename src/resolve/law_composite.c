// law_composite.c - a weighted sum of laws: P = sum of sigma_i P_i, sigma_i >= 0, sum of sigma_i = 1.
//
// Source: Chatterjee and Ruina 1998, section 5.3, who mix their law with Routh's to have a normal rebound at
// grazing. Holds: the permissible region is convex, so the sum is in it if every component is; sigma = 1 for
// one component gives that law to the bit. Every component is asked, also one with weight zero.
// Fails: a component that refuses the input is passed on; one without a solution makes this no-solution.
#include "carom/resolve.h"
#include "resolve/kinds.h"

#define MAX_LAWS   16
#define MAX_DEPTH  4  // composites inside each other
#define WEIGHT_TOL 1e-9

static crStatus apply_composite(const void* params, const crContact* c, crHit* hit, crError* error);

static crStatus check_weights(const crLawParams* p, crError* error) {
    double sum = 0.0;
    if (p->weights == NULL) {
        return cr_error_set(error, CR_ERR_MISSING, "sigma", "sigma: \"composite\" needs one weight per law");
    }
    for (int i = 0; i < p->law_count; i++) {
        double sigma = p->weights[i];
        if (!(sigma >= 0.0 && isfinite(sigma))) {
            return cr_error_set(error, isfinite(sigma) ? CR_ERR_RANGE : CR_ERR_FINITE, "sigma",
                                "sigma: weight %d is %g, must be a finite number >= 0", i, sigma);
        }
        sum += sigma;
    }
    if (!(fabs(sum - 1.0) <= WEIGHT_TOL)) {
        return cr_error_set(error, CR_ERR_RANGE, "sigma", "sigma: the weights sum to %.12g, must be 1", sum);
    }
    return CR_OK;
}

static crStatus check(const crLawParams* p, int depth, crError* error) {
    if (p == NULL || p->laws == NULL) {
        return cr_error_set(error, CR_ERR_MISSING, "laws", "laws: \"composite\" needs at least one law");
    }
    if (p->law_count < 1 || p->law_count > MAX_LAWS) {
        return cr_error_set(error, CR_ERR_SIZE, "laws", "laws: %d of them, must be 1 to %d", p->law_count,
                            MAX_LAWS);
    }
    if (depth > MAX_DEPTH) {
        return cr_error_set(error, CR_ERR_LIMIT, "laws",
                            "laws: composites are inside each other more than %d deep", MAX_DEPTH);
    }
    crStatus status = check_weights(p, error);
    for (int i = 0; i < p->law_count && status == CR_OK; i++) {
        if (p->laws[i].apply == NULL) {
            status = cr_error_set(error, CR_ERR_ARGUMENT, "laws", "laws: law %d has no function", i);
        } else if (p->laws[i].apply == apply_composite) {
            status = check(p->laws[i].params, depth + 1, error);
        }
    }
    return status;
}

// The sum, for parameters known to be good.
static crStatus mix(const crLawParams* p, const crContact* c, crHit* hit, crError* error) {
    crVec3 P = {0, 0, 0};
    for (int i = 0; i < p->law_count; i++) {
        const crLaw* law = &p->laws[i];
        crHit part = {.regime = CR_REGIME_SLIP, .solutions = 1};
        crStatus status = law->apply == apply_composite ? mix(law->params, c, &part, error)
                                                        : law->apply(law->params, c, &part, error);
        if (status != CR_OK) return status;
        if (part.regime == CR_REGIME_NO_SOLUTION) {
            *hit = part;
            return CR_OK;
        }
        if (part.solutions > hit->solutions) hit->solutions = part.solutions;
        P = cr_madd(P, p->weights[i], part.P);
    }
    hit->P = P;
    return CR_OK;
}

static crStatus apply_composite(const void* params, const crContact* c, crHit* hit, crError* error) {
    crStatus status = check(params, 1, error);
    return status == CR_OK ? mix(params, c, hit, error) : status;
}

const cr__LawKind cr__law_composite = {
    .order = 10,
    .apply = apply_composite,
    .info = {.name = "composite",
             .title = "Weighted sum of laws",
             .parameters = "laws (default chatterjee-ruina, routh), sigma: weights >= 0 that sum to 1",
             .guarantee = "permissible if all its laws are",
             .source = "Chatterjee and Ruina 1998, section 5.3",
             .dimension = 3,
             .may_create_energy = true,
             .spin_reversal = true,
             .spin_non_reversal = true,
             .grazing_normal = true,
             .grazing_tangential = true,
             .reads = CR_READS(CR_BY_WEIGHT)},
};
