// draw.h - the panels of the picture of a collision: the section, and the solid where it is spatial.
#ifndef CAROM_PLOT_DRAW_H
#define CAROM_PLOT_DRAW_H

#include "plot/canvas.h"
#include "plot/picture.h"

// How a law is drawn everywhere: colours are apart for all common kinds of colour vision, and each law has a
// dash and a symbol of its own as well.
#define CR_REACH_COLOR "#cbe6bf"  // of the compliant law's set: neither the region's grey nor the blue area's

typedef struct crLawStyle {
    const char* color;
    int dash;    // gnuplot's dashtype
    int symbol;  // gnuplot's pointtype, filled; the hollow one is symbol - 1
} crLawStyle;
const crLawStyle* cr_law_style(const char* law);

// A parallel projection of impulse space onto a panel.
typedef struct crProjection {
    double unit;            // N s of one unit on the axes
    crVec3 right, up, out;  // unit vectors of the panel, out towards the reader
} crProjection;
crPoint2 cr_project(const crProjection* projection, crVec3 P);

bool cr_law_has_point(const crLawCurve* curve);
bool cr_law_is_constant(const crLawCurve* curve);

// Curves and points of all laws. With ring_off, a point that is not in the plane of the panel gets a ring;
// true where one did.
bool cr_draw_laws(crCanvas* canvas, const crPicture* picture, const crProjection* projection, bool ring_off);

// O, P_I, 2 P_I, P_II and 2 P_II with their names; after everything that the names should not cover.
void cr_draw_points(crCanvas* canvas, const crPicture* picture, const crProjection* projection);

// N s of one unit on the axes, a power of 1000 (1 for everyday impulses), and how the axes call it.
double cr_draw_unit(const crPicture* picture, const char** name);

// What the section panel turned out to show; the legend explains no more than that.
typedef struct crSeen {
    bool law[CR_PICTURE_LAWS];  // the law's point is in view
    bool ring;                  // some point is not in the plane of the section
} crSeen;
// The section through n and P_II with every line and point that belongs to it.
crStatus cr_draw_section(crCanvas* canvas, const crPicture* picture, crBox area, crSeen* seen,
                         crError* error);
// The region as a solid seen from the side.
crStatus cr_draw_solid(crCanvas* canvas, const crPicture* picture, crBox area, crError* error);

#endif
