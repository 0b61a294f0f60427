// law_whittaker.c - Newton's restitution with Coulomb friction against the final slip.
//
//     Vn+ = -e Vn,   and either V_t+ = 0 with |P_t| <= mu Pn, or P_t = -mu Pn V_t+/|V_t+|
//
// Source: Whittaker 1944, Kane and Levinson 1985; Chatterjee and Ruina 1998, section 4.2.2, whose condition
// on Vn+ has a misprint. Computed as one closing stage (coulomb.c). In three dimensions it has up to three
// solutions: sticking is taken if it is one, otherwise the smallest Pn. Vn = 0 is the limit Vn -> 0-.
// Infinite friction is the limit of growing mu. Holds: cone, tension and penetration. May create energy,
// which the audit reports. Fails: blocked directions (singular W) can leave no solution.
#include "coulomb.h"
#include "resolve/kinds.h"

static crStatus apply_whittaker(const void* params, const crContact* c, crHit* hit, crError* error) {
    (void)params;
    (void)error;
    if (cr__normal_blocked(c)) return cr__blocked_normal(c, hit);
    cr__Solution all[CR__MAX_SOLUTIONS];
    cr__Stage stage = cr__stage_closing(c, (1.0 + c->e) * c->V.x, c->V.y, c->V.z);
    int count = cr__coulomb_circle(&stage, all);
    if (count == 0) return cr__no_solution(hit);
    hit->P = cr__choose(all, count)->P;
    hit->solutions = count;
    return CR_OK;
}

const cr__LawKind cr__law_whittaker = {
    .order = 5,
    .apply = apply_whittaker,
    .info = {.name = "whittaker",
             .title = "Whittaker's law, also Kane and Levinson's",
             .parameters = "e >= 0, mu >= 0",
             .guarantee = "n.V+ = -e n.V, inside the cone; may create energy",
             .source = "Whittaker 1944; Kane and Levinson 1985",
             .dimension = 1,
             .may_create_energy = true,
             .spin_non_reversal = true,
             .reads = CR_READS_MU_E},
};
