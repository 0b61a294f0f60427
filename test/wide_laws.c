// wide_laws.c - the laws once more, in long double: their sources with another meaning of double (wide_double.h), and names of
// their own (wide_names.h is made by CMake). Differences of these with small steps are derivatives to 1e-10 and better. Sine,
// cosine and arc tangent are the C library's.
#include "wide_laws.h"

// the header above speaks of long doubles itself
#include "wide_double.h"

#include "carom/base.h"
#include "resolve/compliant.h"
#include "resolve/kinds.h"

#define FINE 1e-13  // share of the forces that may be beyond the polynomials of compliant; the law has 1e-9

void cr_sincos(double angle, double* s, double* c) {
    *s = sinl(angle);
    *c = cosl(angle);
}
double cr_atan2(double y, double x) { return atan2l(y, x); }
// of many contacts at once, which nobody asks for here
bool cr__chatterjee_ruina_pair(const crMat3* W, const crVec3* V, const crVec3* n, const double* mu,
                               const double* e, const double* et, crVec3* P) {
    (void)W, (void)V, (void)n, (void)mu, (void)e, (void)et, (void)P;
    return false;
}

// The compliant law with shorter steps: where their number changes, P jumps by less than differences of it can see.
static crStatus fine_compliant(const void* params, const crContact* c, crHit* hit, crError* error) {
    const crLawParams* given = params;
    (void)error;
    crCompliant s;
    cr__compliant_start(&s, c, given->eta2);
    s.roughness = FINE;
    cr__compliant_follow(&s);
    hit->P = s.now.P;
    return s.ended ? CR_OK : CR_ERR_RANGE;
}

static const cr__LawKind* const wide_kinds[] = {
    &cr__law_newton,    &cr__law_bilinear,  &cr__law_chatterjee_ruina, &cr__law_routh,
    &cr__law_whittaker, &cr__law_smith,     &cr__law_anitescu_potra,   &cr__law_pfeiffer_glocker,
    &cr__law_brach,     &cr__law_compliant, &cr__law_spherical,        &cr__law_projected};

bool wide_law(const WideCase* from, double* P, double* V) {
    const double* x = from->input;
    crCollision c = cr_collision();
    crLawParams params = cr_law_params();
    crHit hit;
    c.W = (crMat3){{{x[0], x[1], x[2]}, {x[1], x[3], x[4]}, {x[2], x[4], x[5]}}};
    c.V = cr_vec3(x[6], x[7], x[8]);
    c.n = cr_vec3(x[9], x[10], x[11]);
    c.normalize = true;
    c.mu = x[12];
    c.e = x[13];
    c.et = x[14];
    params.nu = x[15];
    params.mu2 = x[16];
    params.mu3 = x[17];
    params.psi1 = x[18];
    params.psi2 = x[19];
    params.rho = x[20];
    params.wish = cr_vec3(x[21], x[22], x[23]);
    params.eta2 = x[24];
    params.ending = (crEnding)from->ending;
    params.directions = from->directions;
    for (size_t i = 0; i < sizeof wide_kinds / sizeof wide_kinds[0]; i++) {
        crLaw law = cr__law(wide_kinds[i], &params);
        if (strcmp(law.name, from->law) != 0) continue;
        if (wide_kinds[i] == &cr__law_compliant) law.apply = fine_compliant;
        if (cr_law_apply(&law, &c, &hit, NULL) != CR_OK) return false;
        const double all[6] = {hit.P.x, hit.P.y, hit.P.z, hit.V_plus.x, hit.V_plus.y, hit.V_plus.z};
        memcpy(P, all, 3 * sizeof *P);
        memcpy(V, all + 3, 3 * sizeof *V);
        return true;
    }
    return false;
}
