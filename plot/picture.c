// picture.c - the numbers behind the picture of one collision.
//
// Each law over e in [0, 1] (and on to the given e where that is larger) by cr_law_apply_contact with e
// replaced; Chatterjee and Ruina's area by their law at et = -1 and et = 1 (Chatterjee and Ruina 1998,
// section 5.1: for every e the impulses over et are the segment between these two); the compliant law's set by
// the law over eta2 and e; the region's section by cr_region_section at the azimuth of P_II. Fails: an unknown law (field "laws"). A law that does not apply
// keeps its error and is left out.
#include "plot/picture.h"

#include "carom/region.h"
#include <math.h>
#include <string.h>

static void curve_point(crLawCurve* curve, const crContact* contact, double e) {
    crContact c = *contact;
    c.e = e;
    crHit hit;
    if (cr_law_apply_contact(&curve->law, &c, &hit, NULL) != CR_OK) return;
    if (hit.regime == CR_REGIME_NO_SOLUTION) return;
    curve->e[curve->count] = e;
    curve->P[curve->count++] = hit.P;
}

static void curve_compute(crLawCurve* curve, const crContact* contact) {
    curve->status = cr_law_apply_contact(&curve->law, contact, &curve->hit, &curve->error);
    for (int i = 0; i <= CR_PICTURE_STEPS; i++)
        curve_point(curve, contact, (double)i / CR_PICTURE_STEPS);
    for (int i = 1; i <= CR_PICTURE_STEPS && contact->e > 1.0; i++)
        curve_point(curve, contact, 1.0 + (contact->e - 1.0) * i / CR_PICTURE_STEPS);
}

static crStatus laws_compute(crPicture* p, const char* const* names, int count, crError* error) {
    int total = count > 0 ? count : cr_law_count();
    if (total > CR_PICTURE_LAWS) {
        return cr_error_set(error, CR_ERR_LIMIT, "laws", "laws: %d given, at most %d", total,
                            CR_PICTURE_LAWS);
    }
    for (int i = 0; i < total; i++) {
        const char* name = count > 0 ? names[i] : cr_law_info(i)->name;
        if (cr_picture_shows(p, name)) continue;
        crLawCurve* curve = &p->laws[p->law_count];
        *curve = (crLawCurve){.name = name};
        crStatus status = cr_law_find(name, &p->impact->params, &curve->law, error);
        if (status != CR_OK) return status;
        curve->name = curve->law.name;
        p->law_count++;
        curve_compute(curve, &p->contact);
    }
    return CR_OK;
}

// the edge et = 1 from e = 0 to 1, then back along the edge et = -1, which is straight
static void area_compute(crPicture* p) {
    crLaw law;
    cr_law_find("chatterjee-ruina", NULL, &law, NULL);
    crContact c = p->contact;
    crHit hit;
    for (int i = 0; i <= CR_PICTURE_STEPS + 2; i++) {
        bool back = i > CR_PICTURE_STEPS;
        c.et = back ? -1.0 : 1.0;
        c.e = back ? CR_PICTURE_STEPS + 2 - i : (double)i / CR_PICTURE_STEPS;
        bool ok = cr_law_apply_contact(&law, &c, &hit, NULL) == CR_OK;
        if (!ok || hit.regime == CR_REGIME_NO_SOLUTION) {
            p->area_count = 0;
            return;
        }
        p->area[p->area_count++] = hit.P;
    }
}

// Half oscillations that the tangential spring makes during an elastic contact, x = sqrt(Wt/Wnn/eta2), row by row:
// even steps, then longer ones to infinity. There the spring is rigid: Routh's law with the energetic ending.
static double reach_stiffness(int row) {
    static const double last[] = {12.0, 20.0, 40.0, 100.0, (double)INFINITY};
    int even = CR_REACH_STIFF - (int)(sizeof last / sizeof last[0]);
    return row < even ? 0.25 * row : last[row - even];
}

static void reach_row(crPicture* p, int row) {
    crContact c = p->contact;
    crLawParams params = cr_law_params();
    params.ending = CR_ENDING_ENERGETIC;
    double Wt = p->spatial ? 0.5 * (c.W.yy + c.W.zz) : c.W.yy;
    double x = reach_stiffness(row);
    bool rigid = isinf(x);
    p->reach_eta2[row] = Wt / (c.W.xx * x * x);
    if (x > 0.0 && !rigid) params.eta2 = p->reach_eta2[row];
    // without a tangential force friction has nothing to do
    if (x == 0.0) c.mu = 0.0;
    crLaw law;
    cr_law_find(rigid ? "routh" : "compliant", &params, &law, NULL);
    for (int k = 0; k < CR_REACH_E; k++) {
        crHit hit;
        c.e = (double)k / (CR_REACH_E - 1);
        bool ok = cr_law_apply_contact(&law, &c, &hit, NULL) == CR_OK;
        p->reach[row][k] = hit.P;
        // infinite friction loses nothing: the spring oscillates the faster, and there is no limit
        bool endless = isinf(c.mu) && x > 8.0;
        if (!ok || endless || hit.regime == CR_REGIME_NO_SOLUTION) p->reach[row][k].x = (double)NAN;
    }
}

static void reach_compute(crPicture* p) {
    const crSym3* W = &p->contact.W;
    double Wt = p->spatial ? 0.5 * (W->yy + W->zz) : W->yy;
    p->has_reach = p->has_I && W->xx > 0.0 && Wt > 1e-6 * W->xx && cr_picture_shows(p, "compliant");
    for (int i = 0; i < CR_REACH_STIFF && p->has_reach; i++)
        reach_row(p, i);
}

crStatus cr_picture_compute(crPicture* p, const crImpact* impact, const char* const* names, int count,
                            crError* error) {
    *p = (crPicture){.impact = impact, .contact = impact->contact};
    const crContact* c = &p->contact;
    p->spatial = impact->dimension == 3;
    p->separating = c->V.x > 0.0;
    p->azimuth = p->spatial ? cr_region_azimuth(c) : 0.0;
    // the side of t1 is drawn to the right, so that the bodies come from the right as in the paper
    if (cr_cos(p->azimuth) < 0.0) p->azimuth -= copysign(CR_PI, p->azimuth);
    p->d = cr_vec3(0.0, cr_cos(p->azimuth), cr_sin(p->azimuth));
    p->has_I = cr_impulse_P_I(c, &p->P_I);
    p->has_II = cr_impulse_P_II(c, &p->P_II);
    crStatus status = laws_compute(p, names, count, error);
    if (status != CR_OK || p->separating) return status;
    if (cr_region_section(c, p->azimuth, CR_PICTURE_SECTION, p->section)) {
        p->section_count = CR_PICTURE_SECTION;
    }
    p->path_count = cr_routh_path(c, &impact->params, CR_PICTURE_PATH, p->path);
    area_compute(p);
    reach_compute(p);
    bool from_center = cr_picture_shows(p, "spherical") && impact->params.rho > 0.0;
    p->has_center = (from_center || cr_picture_has_wish(p)) && cr_region_centroid(c, &p->center);
    return CR_OK;
}

const crLawCurve* cr_picture_law(const crPicture* p, const char* law) {
    for (int i = 0; i < p->law_count; i++) {
        if (strcmp(p->laws[i].name, law) == 0) return &p->laws[i];
    }
    return NULL;
}

bool cr_picture_shows(const crPicture* p, const char* law) { return cr_picture_law(p, law) != NULL; }

bool cr_picture_has_wish(const crPicture* p) {
    return cr_picture_shows(p, "projected") && cr_norm(p->impact->params.wish) > 0.0;
}
