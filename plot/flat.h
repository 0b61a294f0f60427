// flat.h - points in the plane: outlines and cuts.
#ifndef CAROM_PLOT_FLAT_H
#define CAROM_PLOT_FLAT_H

#include "plot/chart.h"

// Twice the signed area of the triangle a, b, c.
double cr_flat_turn(const double* a, const double* b, const double* c);
// Corners of the convex hull, counterclockwise; hull has room for 2 count + 2. points are sorted.
size_t cr_flat_outline(double (*points)[2], size_t count, double (*hull)[2]);
// The part of a polygon inside the panel, all in pixels; out has room for 2 count + 8.
size_t cr_flat_clip(const crPanel* panel, const double (*in)[2], size_t count, double (*out)[2]);
// The part of a convex polygon inside another, both in any direction of turning; out has room for 2 count + 2 corners + 8.
size_t cr_flat_cut(const double (*in)[2], size_t count, const double (*area)[2], size_t corners,
                   double (*out)[2]);
// The part of a line inside the panel; false where there is none.
bool cr_flat_clip_line(const crPanel* panel, double ends[2][2]);

#endif
