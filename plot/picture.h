// picture.h - everything the picture of a collision shows, as numbers: curves, points, region, Routh's path.
//
// All in the contact frame (x = n, y = t1, z = t2), N s.
#ifndef CAROM_PLOT_PICTURE_H
#define CAROM_PLOT_PICTURE_H

#include "io/impact.h"

#define CR_PICTURE_LAWS    24
#define CR_PICTURE_STEPS   100  // of e from 0 to 1, and as many again up to a larger e
#define CR_PICTURE_POINTS  (2 * CR_PICTURE_STEPS + 1)
#define CR_PICTURE_SECTION 240
#define CR_PICTURE_PATH    400
#define CR_REACH_STIFF     38  // tangential stiffnesses of the compliant law's set, and e
#define CR_REACH_E         9

// One law over e. A point where the law refuses or has no solution is left out of the curve.
typedef struct crLawCurve {
    const char* name;
    crLaw law;
    crStatus status;  // at the given e
    crError error;    // why, where status is not CR_OK
    crHit hit;        // at the given e, in the contact frame
    int count;
    double e[CR_PICTURE_POINTS];
    crVec3 P[CR_PICTURE_POINTS];
} crLawCurve;

typedef struct crPicture {
    const crImpact* impact;
    crContact contact;
    bool spatial;        // given in three dimensions
    bool separating;     // Vn > 0: no impulse whatever the law
    double azimuth;      // of the section, from t1 towards t2: where P_II is, or opposite
    crVec3 d;            // unit vector of the section's tangential direction
    bool has_I, has_II;  // P_I and P_II exist
    crVec3 P_I, P_II;
    bool has_center;  // the region's centroid is wanted: spherical with rho > 0, or projected with a wish
    crVec3 center;
    int law_count;
    crLawCurve laws[CR_PICTURE_LAWS];
    int section_count;  // 0 where the region is empty
    crVec3 section[CR_PICTURE_SECTION];
    int path_count;  // Routh's path, 0 where there is none
    crVec3 path[CR_PICTURE_PATH];
    int area_count;  // Chatterjee and Ruina's impulses over all e and et in range: a polygon
    crVec3 area[CR_PICTURE_STEPS + 3];
    // The compliant law's impulses over all eta2 and e, on a grid: reach[i][k] at reach_eta2[i] (falling from
    // infinity to zero) and e = k/8; x is NAN where it has no solution. false: it is not shown or does not apply.
    bool has_reach;
    double reach_eta2[CR_REACH_STIFF];
    crVec3 reach[CR_REACH_STIFF][CR_REACH_E];
} crPicture;

// names: laws to show, count 0 for the whole catalogue; unknown ones are refused. impact must outlive it.
crStatus cr_picture_compute(crPicture* picture, const crImpact* impact, const char* const* names, int count,
                            crError* error);
bool cr_picture_shows(const crPicture* picture, const char* law);
const crLawCurve* cr_picture_law(const crPicture* picture, const char* law);  // NULL where it is not shown
bool cr_picture_has_wish(const crPicture* picture);  // projected is shown and has something to project

// curves.csv, points.csv, region.csv, routh-path.csv and compliant.csv in the directory, which is made where it is missing.
crStatus cr_picture_write_data(const crPicture* picture, const char* directory, crError* error);

#endif
