// law_anitescu_potra.c - two stages with Poisson's restitution and Coulomb friction.
//
//     compression   0 <= Vn' _|_ Pn1 >= 0          friction bounded by mu Pn1, against V_t'
//     expansion     0 <= Vn+ _|_ Pn2 - e Pn1 >= 0  friction bounded by mu Pn2, against V_t+;  P = P1 + P2
//
// Source: Anitescu and Potra 1997; Chatterjee and Ruina 1998, section 4.2.4. directions = 0: the circular
// cone, all solutions found; k >= 3: the polygon with corners at 2 pi j/k from t1. Several solutions: stick
// if that is one, otherwise the smallest Pn, stage by stage; solutions counts the pairs (P1, P2). Holds: in
// the permissible region for e <= 1. Rebounds at grazing: Vn = 0 is the limit Vn -> 0-.
// Fails: blocked directions (singular W) can leave no solution; 1, 2 or negative directions are refused.
#include "resolve/kinds.h"
#include "two_stage.h"

static crStatus apply_anitescu_potra(const void* params, const crContact* c, crHit* hit, crError* error) {
    int directions = params == NULL ? 0 : ((const crLawParams*)params)->directions;
    if (directions != 0 && directions < 3) {
        return cr_error_set(error, CR_ERR_RANGE, "cone",
                            "cone: is %d, must be 0 (circular) or at least 3 friction directions",
                            directions);
    }
    if (cr__normal_blocked(c)) return cr__blocked_normal(c, hit);
    cr__Solution first[CR__MAX_SOLUTIONS];
    int count = cr__compress(c, directions, first);
    if (count == 0) return cr__no_solution(hit);
    const cr__Solution* chosen = cr__choose(first, count);
    int pairs = 0;
    for (int i = 0; i < count; i++) {
        crVec3 P2;
        int second = cr__expand(c, directions, &first[i], &P2);
        if (&first[i] == chosen) {
            if (second == 0) return cr__no_solution(hit);
            hit->P = cr_add(chosen->P, P2);
        }
        pairs += second;
    }
    hit->solutions = pairs;
    return CR_OK;
}

const cr__LawKind cr__law_anitescu_potra = {
    .order = 7,
    .apply = apply_anitescu_potra,
    .info = {.name = "anitescu-potra",
             .title = "Two stages, complementarity in each",
             .parameters = "e in [0, 1], mu >= 0, cone exact | number of directions >= 3",
             .guarantee = "permissible for e <= 1",
             .source = "Anitescu and Potra 1997",
             .dimension = 1,
             .spin_non_reversal = true,
             .grazing_normal = true,
             .reads = CR_READS_MU_E},
};
