// law_newton.c - frictionless impact with Newton's restitution: P = -(1+e) Vn/Wnn n.
//
// Source: Newton; in this form Hecker 1997, eq. 9. Holds: every law here equals it at mu = 0.
// Fails: Wnn = 0 with Vn < 0 (the normal direction is blocked): no-solution.
#include "law.h"
#include "resolve/kinds.h"

static crStatus apply_newton(const void* params, const crContact* c, crHit* hit, crError* error) {
    (void)params;
    (void)error;
    crVec3 P_I;
    if (!cr_impulse_P_I(c, &P_I)) return cr__no_solution(hit);
    hit->P = cr_scale(1.0 + c->e, P_I);
    return CR_OK;
}

const cr__LawKind cr__law_newton = {
    .order = 1,
    .apply = apply_newton,
    .info = {.name = "newton",
             .title = "Frictionless impact, Newton's restitution",
             .parameters = "e >= 0",
             .guarantee = "permissible for e <= 1; every other law equals it at mu = 0",
             .source = "Newton 1687; Hecker 1997, eq. 9",
             .dimension = 1,
             .spin_non_reversal = true,
             .reads = CR_READS(CR_BY_E)},
};
