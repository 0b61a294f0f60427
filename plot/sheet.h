// sheet.h - a drawing of lines, areas and words that becomes an SVG by itself, or PNG and PDF by gnuplot.
//
// Coordinates are pixels, y down, origin at the upper left. Colours are roles, not values: a page that
// holds the drawing gives them their values, light or dark; a file of its own is light. What is drawn later
// lies on top, words above everything in PNG and PDF.
#ifndef CAROM_PLOT_SHEET_H
#define CAROM_PLOT_SHEET_H

#include <stdio.h>

#include "carom/base.h"

typedef enum crInk {
    CR_INK_NONE,
    CR_INK_TEXT,
    CR_INK_FAINT,   // words and lines beside the matter
    CR_INK_GRID,    // lines behind it
    CR_INK_GROUND,  // what does not move
    CR_INK_STRONG,  // what must be seen: arrows, refusals
    CR_INK_SERIES,  // the first of CR_INK_COLORS that can be told apart, also by those who see few colours
    CR_INKS = CR_INK_SERIES + 8
} crInk;
#define CR_INK_COLORS (CR_INKS - CR_INK_SERIES)

typedef enum crAnchor { CR_ANCHOR_START, CR_ANCHOR_MIDDLE, CR_ANCHOR_END } crAnchor;

typedef struct crPen {
    crInk stroke;    // none: no line
    crInk fill;      // none: no area
    double width;    // of the line
    int dash;        // 0 solid, 1 dashed, 2 dotted
    double alpha;    // opacity of the fill, 0 to 1
    unsigned color;  // of the fill, 0x1rrggbb, instead of its ink's; 0: none
} crPen;

typedef struct crSheetMark {
    bool text;
    crPen pen;
    size_t first, count;  // points; a text has one
    size_t letters;       // where its text begins
    double size;          // of the text
    crAnchor anchor;
    bool upright;  // text that runs up
} crSheetMark;

typedef struct crSheet {
    double width, height;
    crStatus status;  // CR_ERR_MEMORY where something could not be kept
    size_t mark_count, mark_room;
    crSheetMark* marks;
    size_t point_count, point_room;
    float (*points)[2];
    size_t letter_count, letter_room;
    char* letters;
} crSheet;

void cr_sheet_create(crSheet* sheet, double width, double height);
void cr_sheet_destroy(crSheet* sheet);  // accepts a zeroed sheet

// A fill closes the path. Points of NaN part areas that are filled as one, each turning the same way.
void cr_sheet_path(crSheet* sheet, const double (*points)[2], size_t count, crPen pen);
void cr_sheet_line(crSheet* sheet, double x0, double y0, double x1, double y1, crPen pen);
void cr_sheet_box(crSheet* sheet, double x0, double y0, double x1, double y1, crPen pen);
void cr_sheet_text(crSheet* sheet, double x, double y, double size, crAnchor anchor, crInk ink,
                   const char* text);
void cr_sheet_text_up(crSheet* sheet, double x, double y, double size, crInk ink, const char* text);
double cr_sheet_text_width(const char* text, double size);  // an estimate, rather too wide

// The <svg> element for a page, which gives .ink-... their colours; label is read to those who cannot see.
void cr_sheet_svg(const crSheet* sheet, FILE* file, const char* label);
// A picture of its own: .svg by itself, .png and .pdf by gnuplot.
crStatus cr_sheet_save(const crSheet* sheet, const char* path, const char* label, crError* error);

// Parts of an SVG for those who write one of their own: the marks from `first` on; the beginning of a path element; the
// value of its d; a number of pixels; the style of a file, which is light or, with `dark`, as the reader's screen is.
void cr_sheet_put_marks(FILE* file, const crSheet* sheet, size_t first);
void cr_sheet_put_pen(FILE* file, const crPen* pen);
void cr_sheet_put_points(FILE* file, const crSheet* sheet, const crSheetMark* mark);
void cr_sheet_put_pixel(FILE* file, double x);
void cr_sheet_put_style(FILE* file, bool dark);

// A file that is written beside its target and renamed when it is whole.
typedef struct crPartial {
    FILE* file;
    const char* path;
    char* name;
} crPartial;
crStatus cr_partial_begin(crPartial* partial, const char* path, crError* error);
crStatus cr_partial_end(crPartial* partial, crStatus status,
                        crError* error);  // anything but CR_OK: nothing is left

// Text in HTML and XML: what is special there is escaped, what cannot be shown becomes a space.
void cr_sheet_escape(FILE* file, const char* text);

#endif
