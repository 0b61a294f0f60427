// chart.h - numbers over one axis: a panel with tics, a legend and lines or points.
#ifndef CAROM_PLOT_CHART_H
#define CAROM_PLOT_CHART_H

#include "plot/sheet.h"

// y over x; what is not finite leaves a hole.
typedef struct crSeries {
    const char* label;  // NULL: not in the legend
    size_t count;
    const double* x;  // ascending where it is a line (count)
    const double* y;  // (count)
    size_t step;      // from one number to the next in both arrays, 1 or more
    int color;        // of the series' inks, taken modulo their number
    int dash;         // as in crPen
    bool points;      // dots instead of a line
} crSeries;

typedef struct crChart {
    const char* title;  // "" for none
    const char* x_label;
    const char* y_label;
    bool logarithmic;  // y; what is not above 0 is left out, which the chart says
    double x0, x1;     // the axis; where x0 >= x1, from the data
    int series_count;
    const crSeries* series;
    const char* note;  // beside the title: what is left out; NULL for nothing
} crChart;

// An area of the sheet with data ranges; y is log10 of the data where logarithmic.
typedef struct crPanel {
    double left, top, right, bottom;  // pixels
    double x0, x1, y0, y1;
    bool logarithmic;
} crPanel;

double cr_panel_x(const crPanel* panel, double x);
double cr_panel_y(const crPanel* panel, double y);
double cr_panel_tic_room(const crPanel* panel);  // left of the panel for the numbers of the y axis
// Grid, tics, numbers and the two labels; label_x is where the y axis' stands.
void cr_panel_axes(crSheet* sheet, const crPanel* panel, double label_x, const char* x_label,
                   const char* y_label);
void cr_panel_frame(crSheet* sheet, const crPanel* panel);

// In the box of the sheet from (x0, y0) to (x1, y1), legend and labels included.
void cr_chart_draw(crSheet* sheet, double x0, double y0, double x1, double y1, const crChart* chart);

#endif
