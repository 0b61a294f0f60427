// catalogue.c - every law of carom by name, with what it promises and what it can predict.
//
// The cells follow Chatterjee and Ruina 1998, section 4, as corrected by computing them: the two-stage laws
// rebound at grazing too. Fails: an unknown name is refused with the names that exist.
#include <string.h>

#include "base/argument.h"
#include "carom/resolve.h"

static crLaw make_newton(const crLawParams* params) { return (void)params, cr_law_newton(); }
static crLaw make_bilinear(const crLawParams* params) { return (void)params, cr_law_bilinear(); }
static crLaw make_chatterjee_ruina(const crLawParams* params) {
    return (void)params, cr_law_chatterjee_ruina();
}
static crLaw make_whittaker(const crLawParams* params) { return (void)params, cr_law_whittaker(); }
static crLaw make_smith(const crLawParams* params) { return (void)params, cr_law_smith(); }

static const struct Entry {
    crLawInfo info;
    crLaw (*make)(const crLawParams* params);
} catalogue[] = {
    {{.name = "newton",
      .title = "Frictionless impact, Newton's restitution",
      .parameters = "e >= 0",
      .guarantee = "permissible for e <= 1; every other law equals it at mu = 0",
      .source = "Newton 1687; Hecker 1997, eq. 9",
      .dimension = 1,
      .spin_non_reversal = true},
     make_newton},
    {{.name = "bilinear",
      .title = "Bilinear law of spheres and disks",
      .parameters = "e >= 0, et in [-1, 1], mu >= 0",
      .guarantee = "permissible for e <= 1; refuses a W that is not diagonal",
      .source = "Walton 1992; Brach 1991",
      .dimension = 2,
      .spin_reversal = true,
      .spin_non_reversal = true},
     make_bilinear},
    {{.name = "chatterjee-ruina",
      .title = "Chatterjee and Ruina's algebraic law",
      .parameters = "e >= 0, et in [-1, 1], mu >= 0",
      .guarantee = "permissible for e <= 1; one solution; bilinear where W is diagonal",
      .source = "Chatterjee and Ruina 1998, section 5",
      .dimension = 2,
      .spin_reversal = true,
      .spin_non_reversal = true,
      .grazing_tangential = true},
     make_chatterjee_ruina},
    {{.name = "routh",
      .title = "Routh's incremental law",
      .parameters = "e in [0, 1], mu >= 0, ending poisson | newton | energetic",
      .guarantee = "permissible for endings poisson and energetic unless jammed",
      .source = "Routh 1897; Stronge 1990; Bhatt and Koechling 1995",
      .dimension = 1,
      .may_create_energy = true,
      .spin_non_reversal = true,
      .grazing_normal = true},
     cr_law_routh},
    {{.name = "whittaker",
      .title = "Whittaker's law, also Kane and Levinson's",
      .parameters = "e >= 0, mu >= 0",
      .guarantee = "n.V+ = -e n.V, inside the cone; may create energy",
      .source = "Whittaker 1944; Kane and Levinson 1985",
      .dimension = 1,
      .may_create_energy = true,
      .spin_non_reversal = true},
     make_whittaker},
    {{.name = "smith",
      .title = "Smith's law of averaged slip",
      .parameters = "e >= 0, mu >= 0",
      .guarantee = "permissible for e <= 1",
      .source = "Smith 1991",
      .dimension = 1,
      .spin_reversal = true,
      .grazing_tangential = true},
     make_smith},
    {{.name = "anitescu-potra",
      .title = "Two stages, complementarity in each",
      .parameters = "e in [0, 1], mu >= 0, cone exact | number of directions >= 3",
      .guarantee = "permissible for e <= 1",
      .source = "Anitescu and Potra 1997",
      .dimension = 1,
      .spin_non_reversal = true,
      .grazing_normal = true},
     cr_law_anitescu_potra},
    {{.name = "pfeiffer-glocker",
      .title = "Two stages with tangential restitution, planar",
      .parameters = "e in [0, 1], et in [0, 1], nu in [0, 1], mu >= 0",
      .guarantee = "inside the cone, n.V+ >= 0; anitescu-potra at nu = 0",
      .source = "Pfeiffer and Glocker 1996",
      .dimension = 2,
      .planar = true,
      .spin_reversal = true,
      .spin_non_reversal = true,
      .grazing_normal = true,
      .grazing_tangential = true},
     cr_law_pfeiffer_glocker},
    {{.name = "brach",
      .title = "Brach's impulse ratios",
      .parameters = "e >= 0, ratios mu2, mu3 with mu2^2 + mu3^2 <= mu^2",
      .guarantee = "permissible, or refused with the bound",
      .source = "Brach 1991; Chatterjee and Ruina 1998, section 4.1",
      .dimension = 3,
      .spin_reversal = true,
      .spin_non_reversal = true},
     cr_law_brach},
    {{.name = "composite",
      .title = "Weighted sum of laws",
      .parameters = "laws (default chatterjee-ruina, routh), sigma: weights >= 0 that sum to 1",
      .guarantee = "permissible if all its laws are",
      .source = "Chatterjee and Ruina 1998, section 5.3",
      .dimension = 3,
      .may_create_energy = true,
      .spin_reversal = true,
      .spin_non_reversal = true,
      .grazing_normal = true,
      .grazing_tangential = true},
     cr_law_composite},
    {{.name = "compliant",
      .title = "Springs with Coulomb slip, followed through the contact",
      .parameters = "e in [0, 1], mu >= 0, eta2 > 0 (normal over tangential stiffness)",
      .guarantee = "never creates energy; inside the cone",
      .source = "after Maw, Barber and Fawcett 1976; Stronge 2000",
      .dimension = 2,
      .spin_reversal = true,
      .spin_non_reversal = true,
      .grazing_normal = true,
      .grazing_tangential = true},
     cr_law_compliant},
    {{.name = "spherical",
      .title = "The whole region, by angles about its centroid",
      .parameters = "psi1 in [0, pi], psi2 in [0, 2 pi], rho in [0, 1], mu >= 0",
      .guarantee = "permissible",
      .source = "Chatterjee and Ruina 1998, section 4.1",
      .dimension = 3,
      .spin_reversal = true,
      .spin_non_reversal = true,
      .grazing_normal = true,
      .grazing_tangential = true},
     cr_law_spherical},
    {{.name = "projected",
      .title = "A wished impulse, drawn into the region",
      .parameters = "wish (an impulse), mu >= 0",
      .guarantee = "permissible",
      .source = "Chatterjee and Ruina 1998, section 4.1",
      .dimension = 3,
      .spin_reversal = true,
      .spin_non_reversal = true,
      .grazing_normal = true,
      .grazing_tangential = true},
     cr_law_projected},
};

int cr_law_count(void) { return (int)(sizeof catalogue / sizeof catalogue[0]); }

const crLawInfo* cr_law_info(int index) {
    return index >= 0 && index < cr_law_count() ? &catalogue[index].info : NULL;
}

crStatus cr_law_find(const char* name, const crLawParams* params, crLaw* law, crError* error) {
    if (name == NULL) return cr__missing(error, "name");
    if (law == NULL) return cr__missing(error, "law");
    for (int i = 0; i < cr_law_count(); i++) {
        if (strcmp(catalogue[i].info.name, name) == 0) {
            *law = catalogue[i].make(params);
            return CR_OK;
        }
    }
    return cr_error_set(error, CR_ERR_NAME, "law",
                        "law: \"%.40s\" is not known; newton bilinear chatterjee-ruina routh whittaker smith "
                        "anitescu-potra pfeiffer-glocker brach composite compliant spherical projected",
                        name);
}
