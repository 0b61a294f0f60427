// toss_charts.h - measured tosses next to simulated ones, as charts in a box x0, y0, x1, y1 of a sheet.
//
// All fail with CR_ERR_MEMORY alone.
#ifndef CAROM_TOSS_CHARTS_H
#define CAROM_TOSS_CHARTS_H

#include "fit/tosses.h"
#include "plot/sheet.h"

int toss_at(const double* losses, int count, int place);  // the toss at this place of the ascending losses

// Losses in ascending order, a line for each of `lines` (at most TOSS_LINES).
#define TOSS_LINES 8
crStatus toss_chart_losses(crSheet* sheet, const double box[4], const char* const* names,
                           const double* const* losses, int lines, int count);
// Medians over the tosses of the errors of position and angle, sample by sample; poses (sample_count).
crStatus toss_chart_errors(crSheet* sheet, const double box[4], const crTosses* tosses, const crPose* poses,
                           double length);
// One toss: its coordinates, and the angle it has turned since the start; poses of all.
crStatus toss_chart_position(crSheet* sheet, const double box[4], const char* title, const crTosses* tosses,
                             const crPose* poses, int toss);
crStatus toss_chart_rotation(crSheet* sheet, const double box[4], const char* title, const crTosses* tosses,
                             const crPose* poses, int toss);

#endif
