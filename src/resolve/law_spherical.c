// law_spherical.c - a point of the permissible region by its direction and distance from the centroid.
//
//     P = P0 + rho extent(d) d,   d = (cos psi1, sin psi1 cos psi2, sin psi1 sin psi2)
//
// Source: Chatterjee and Ruina 1998, section 4.1, first law. Holds: in the permissible region, and reaches
// all of it. Fails: psi1 outside 0 to pi, psi2 outside 0 to 2 pi or rho outside 0 to 1 is refused by name;
// no-solution where nothing is permissible (Wnn = 0).
#include "law.h"
#include "resolve/kinds.h"

static crStatus apply_spherical(const void* params, const crContact* c, crHit* hit, crError* error) {
    const crLawParams defaults = cr_law_params();
    const crLawParams* p = params != NULL ? params : &defaults;
    crError refusal = {0};
    crStatus status = cr_region_from_spherical(c, p->psi1, p->psi2, p->rho, &hit->P, &refusal);
    if (status == CR_ERR_REGION) return cr__no_solution(hit);
    if (status != CR_OK && error != NULL) *error = refusal;
    return status;
}

const cr__LawKind cr__law_spherical = {
    .order = 12,
    .apply = apply_spherical,
    .info = {.name = "spherical",
             .title = "The whole region, by angles about its centroid",
             .parameters = "psi1 in [0, pi], psi2 in [0, 2 pi], rho in [0, 1], mu >= 0",
             .guarantee = "permissible",
             .source = "Chatterjee and Ruina 1998, section 4.1",
             .dimension = 3,
             .spin_reversal = true,
             .spin_non_reversal = true,
             .grazing_normal = true,
             .grazing_tangential = true,
             .reads = CR_READS(CR_BY_MU) | CR_READS(CR_BY_PSI1) | CR_READS(CR_BY_PSI2) | CR_READS(CR_BY_RHO),
             .cost = 3.75},
};
