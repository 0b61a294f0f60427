// law_brach.c - Brach's law: Newton's restitution and two impulse ratios.
//
//     P = Pn (n + mu2 t1 + mu3 t2),   n.V+ = -e Vn,   so   Pn = -(1+e) Vn / (Wnn + mu2 Wnt1 + mu3 Wnt2)
//
// Source: Brach 1991; Chatterjee and Ruina 1998, section 4.1, third law. Holds: any e >= 0 that does not
// create energy, any ratios inside the friction cone; reaches the whole permissible region of an approaching
// contact. Fails: ratios or an e that lead outside the region are refused with the bound; at Vn = 0 it knows
// no impulse but zero; no-solution where the normal direction is blocked (Wnn = 0).
#include "law.h"
#include "resolve/kinds.h"

static crStatus apply_brach(const void* params, const crContact* c, crHit* hit, crError* error) {
    const crLawParams defaults = cr_law_params();
    const crLawParams* p = params != NULL ? params : &defaults;
    if (cr__normal_blocked(c)) return cr__blocked_normal(c, hit);
    return cr_region_from_brach(c, c->e, p->mu2, p->mu3, &hit->P, error);
}

const cr__LawKind cr__law_brach = {
    .order = 9,
    .apply = apply_brach,
    .info = {.name = "brach",
             .title = "Brach's impulse ratios",
             .parameters = "e >= 0, ratios mu2, mu3 with mu2^2 + mu3^2 <= mu^2",
             .guarantee = "permissible, or refused with the bound",
             .source = "Brach 1991; Chatterjee and Ruina 1998, section 4.1",
             .dimension = 3,
             .spin_reversal = true,
             .spin_non_reversal = true,
             .reads = CR_READS(CR_BY_E) | CR_READS(CR_BY_MU2) | CR_READS(CR_BY_MU3)},
};
