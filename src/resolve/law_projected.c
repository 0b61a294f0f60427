// law_projected.c - the impulse one wishes for, drawn towards the centroid until it is permissible.
//
//     P = P0 + min(1, extent(wish - P0)) (wish - P0)
//
// Source: Chatterjee and Ruina 1998, section 4.1, second law. Holds: in the permissible region; reaches all
// of it, and leaves a permissible wish as it is. Fails: a wish that is not finite is refused; no-solution
// where nothing is permissible (Wnn = 0).
#include "law.h"
#include "resolve/kinds.h"

static crStatus apply_projected(const void* params, const crContact* c, crHit* hit, crError* error) {
    const crLawParams defaults = cr_law_params();
    const crLawParams* p = params != NULL ? params : &defaults;
    crError refusal = {0};
    crStatus status = cr_region_project(c, p->wish, &hit->P, &refusal);
    if (status == CR_ERR_REGION) return cr__no_solution(hit);
    if (status != CR_OK && error != NULL) *error = refusal;
    return status;
}

const cr__LawKind cr__law_projected = {
    .order = 13,
    .apply = apply_projected,
    .info = {.name = "projected",
             .title = "A wished impulse, drawn into the region",
             .parameters = "wish (an impulse), mu >= 0",
             .guarantee = "permissible",
             .source = "Chatterjee and Ruina 1998, section 4.1",
             .dimension = 3,
             .spin_reversal = true,
             .spin_non_reversal = true,
             .grazing_normal = true,
             .grazing_tangential = true,
             .reads = CR_READS(CR_BY_MU) | CR_READS(CR_BY_WISH_X) | CR_READS(CR_BY_WISH_Y) |
                      CR_READS(CR_BY_WISH_Z)},
};
