// canvas.h - a sheet with panels of equal scale, on top of gnuplot, and text that finds its own place.
//
// Sheet coordinates are nominal pixels, y up, origin at the lower left; a panel maps data to them with the
// same scale along both axes. Everything drawn in a panel is remembered as something a label should not
// cover, so draw first and label last.
#ifndef CAROM_PLOT_CANVAS_H
#define CAROM_PLOT_CANVAS_H

#include "plot/gnuplot.h"

typedef struct crPoint2 {
    double x, y;
} crPoint2;

// An axis-parallel box; empty where x0 > x1.
typedef struct crBox {
    double x0, y0, x1, y1;
} crBox;

crBox cr_box_empty(void);
void cr_box_add(crBox* box, crPoint2 p);
bool cr_box_has(const crBox* box, crPoint2 p);

#define CR_CANVAS_POINTS 512  // of one line or area

// What a label must keep off: points on the sheet, each with a weight.
#define CR_CANVAS_OBSTACLES 16384
typedef struct crObstacle {
    float x, y, weight;
} crObstacle;

typedef struct crCanvas {
    crGnuplot plot;
    double width, height;  // of the sheet, nominal pixels
    crBox area;            // of the panel on the sheet
    crBox view;            // the same in data
    double scale;          // nominal pixels per unit of data
    FILE* clauses;         // of the panel's plot command, joined by commas
    char* clause_text;
    size_t clause_size;
    int blocks;  // data blocks written
    int obstacle_count;
    crObstacle obstacles[CR_CANVAS_OBSTACLES];
} crCanvas;

// width and height in pixels; the sheet is nominal_width x nominal_height or larger in one direction.
crStatus cr_canvas_begin(crCanvas* c, const char* path, int width, int height, double nominal_width,
                         double nominal_height, crError* error);
crStatus cr_canvas_end(crCanvas* c, crError* error);

// Starts a panel that shows at least `data`, widened to the shape of `area`. axes: with tics and border.
crStatus cr_canvas_panel(crCanvas* c, crBox area, crBox data, bool axes, const char* x_label,
                         const char* y_label, crError* error);
void cr_canvas_panel_end(crCanvas* c);
crPoint2 cr_canvas_sheet(const crCanvas* c, crPoint2 data);

// Drawing in the panel, in data coordinates. style is gnuplot's (lc, lw, dt, fs, fc), symbol its pointtype.
// At most CR_CANVAS_POINTS points; an area is convex, or stays in the panel.
void cr_canvas_line(crCanvas* c, const crPoint2* points, int count, const char* style);
void cr_canvas_fill(crCanvas* c, const crPoint2* points, int count, const char* style);
void cr_canvas_mark(crCanvas* c, crPoint2 p, double weight, int symbol, double size, const char* style);
// The part of the line a x + b y = k inside the panel; false where there is none.
bool cr_canvas_clip(const crCanvas* c, double a, double b, double k, crPoint2 ends[2]);

// Text whose place is sought; chars is its visible length. false: no free place, nothing written.
bool cr_canvas_label_line(crCanvas* c, const crPoint2 ends[2], const char* text, int chars,
                          const char* style);
bool cr_canvas_label_point(crCanvas* c, crPoint2 p, const char* text, int chars, const char* style);

// Drawing on the sheet, in nominal pixels. justify is left, center or right. Text is gnuplot's enhanced text;
// in SVG a space beside a change of font is kept only if two spaces stand together somewhere in it.
void cr_canvas_text(crCanvas* c, double x, double y, const char* justify, const char* style,
                    const char* text);
void cr_canvas_plain(crCanvas* c, double x, double y, const char* style, const char* text);
void cr_canvas_stroke(crCanvas* c, double x0, double y0, double x1, double y1, const char* style);
void cr_canvas_swatch(crCanvas* c, crBox box, const char* style);
void cr_canvas_symbol(crCanvas* c, double x, double y, int symbol, double size, const char* style);

#endif
