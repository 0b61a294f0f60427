// fuzz_impact.c - any bytes as a collision: refused by name, or answered by every law with finite numbers.
#include <math.h>
#include <stdlib.h>

#include "io/impact.h"

static void demand(bool condition) {
    if (!condition) abort();
}

static void check_hit(const crImpact* impact, const crHit* hit) {
    demand(cr_vec3_finite(hit->P) && cr_vec3_finite(hit->V_plus) && isfinite(hit->energy_change));
    demand(isfinite(hit->margins.energy) && isfinite(hit->margins.penetration));
    demand(isfinite(hit->margins.tension) && !isnan(hit->margins.cone));
    demand(impact->dimension == 3 || fabs(hit->P.z) <= 1e-12 * cr_norm(hit->P));
    demand(!(hit->permissible && hit->creates_energy));
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    crJsonDoc doc;
    crError error = {0};
    if (cr_json_parse((const char*)data, size, 1, &doc, &error) != CR_OK) return 0;
    crImpact impact;
    if (cr_impact_read(doc.root, &impact, &error) != CR_OK) {
        demand(error.status != CR_OK && error.message[0] != '\0' && error.line >= 1 && error.column >= 1);
        cr_json_free(&doc);
        return 0;
    }
    demand(impact.dimension == 2 || impact.dimension == 3);
    demand(impact.law_count >= 1 && impact.law_count <= CR_IMPACT_MAX_LAWS);
    for (int i = 0; i < impact.law_count; i++) {
        crHit hit;
        if (cr_impact_apply(doc.root, &impact, i, &hit, &error) == CR_OK) {
            check_hit(&impact, &hit);
        } else {
            demand(error.line >= 1 && error.message[0] != '\0');
        }
    }
    cr_json_free(&doc);
    return 0;
}
