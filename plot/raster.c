// raster.c - areas, lines and letters as pixels with smooth edges.
//
// The share of a pixel that an area covers is found from its edges alone: each edge adds to the pixels it crosses, row by
// row, the signed area to its right, and the running sum along a row is the cover. Lines are thin quadrilaterals.
// Fails: memory, when an image is made.
#include "plot/raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/ink.h"
#include "plot/letters.h"

typedef struct Pen {
    crImage* image;
    int lo[2], hi[2];  // pixels that were touched
    double rgb[3];
    double alpha;
} Pen;

crStatus cr_image_create(crImage* image, int width, int height) {
    *image = (crImage){.width = width, .height = height};
    size_t pixels = (size_t)width * (size_t)height;
    image->rgb = malloc(3 * pixels);
    image->cover = calloc(pixels + (size_t)height, sizeof *image->cover);
    if (image->rgb != NULL && image->cover != NULL) return CR_OK;
    cr_image_destroy(image);
    return CR_ERR_MEMORY;
}

void cr_image_destroy(crImage* image) {
    free(image->rgb);
    free(image->cover);
    *image = (crImage){0};
}

void cr_image_clear(crImage* image) {
    unsigned long paper = strtoul((image->dark ? CR_PAPER_DARK : CR_PAPER_LIGHT) + 1, NULL, 16);
    size_t pixels = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < pixels; i++) {
        for (size_t c = 0; c < 3; c++) {
            image->rgb[3 * i + c] = (unsigned char)(paper >> (16 - 8 * c) & 255U);
        }
    }
}

static Pen pen_of(crImage* image, crInk ink, unsigned own, double alpha) {
    unsigned long color =
        own != 0 ? own : strtoul((image->dark ? cr_ink_dark : cr_ink_light)[ink] + 1, NULL, 16);
    return (Pen){.image = image,
                 .lo = {image->width, image->height},
                 .hi = {-1, -1},
                 .rgb = {(double)(color >> 16 & 255U), (double)(color >> 8 & 255U), (double)(color & 255U)},
                 .alpha = alpha};
}

static double within(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

// one row's part of an edge: from xa to xb while y goes by dy (signed) within the row
static void cover_row(Pen* pen, int y, double xa, double xb, double dy) {
    const crImage* image = pen->image;
    float* row = image->cover + (size_t)y * (size_t)(image->width + 1);
    if (xa > xb) {
        double swap = xa;
        xa = xb;
        xb = swap;
    }
    int first = (int)xa;
    int last = xb > xa ? (int)ceil(xb) - 1 : first;
    if (last < first) last = first;
    for (int x = first; x <= last; x++) {
        double from = fmax(xa, x);
        double to = fmin(xb, x + 1.0);
        double part = xb > xa ? dy * (to - from) / (xb - xa) : dy;
        // of this pixel the part right of the edge is covered, of all that follow in the row the whole
        double right = part * (x + 1.0 - 0.5 * (from + to));
        row[x] += (float)right;
        row[x + 1] += (float)(part - right);
    }
    if (first < pen->lo[0]) pen->lo[0] = first;
    if (last > pen->hi[0]) pen->hi[0] = last;
    if (y < pen->lo[1]) pen->lo[1] = y;
    if (y > pen->hi[1]) pen->hi[1] = y;
}

static void cover_edge(Pen* pen, const double* a, const double* b) {
    const crImage* image = pen->image;
    double sign = 1.0;
    if (a[1] > b[1]) {
        const double* swap = a;
        a = b;
        b = swap;
        sign = -1.0;
    }
    double slope = b[1] > a[1] ? (b[0] - a[0]) / (b[1] - a[1]) : 0.0;
    double top = fmax(a[1], 0.0);
    double bottom = fmin(b[1], image->height);
    for (int y = (int)top; y < image->height && y < bottom; y++) {
        double from = fmax(top, y);
        double to = fmin(bottom, y + 1.0);
        double most = image->width - 1e-6;
        double xa = within(a[0] + slope * (from - a[1]), 0.0, most);
        double xb = within(a[0] + slope * (to - a[1]), 0.0, most);
        if (to > from) cover_row(pen, y, xa, xb, sign * (to - from));
    }
}

// the colour where it was covered; the scratch is clean afterwards
static void pour(const Pen* pen) {
    const crImage* image = pen->image;
    for (int y = pen->lo[1]; y <= pen->hi[1]; y++) {
        float* row = image->cover + (size_t)y * (size_t)(image->width + 1);
        unsigned char* rgb = image->rgb + 3 * (size_t)y * (size_t)image->width;
        double sum = 0.0;
        for (int x = pen->lo[0]; x <= pen->hi[0] + 1; x++) {
            sum += (double)row[x];
            row[x] = 0.0F;
            if (x >= image->width) break;
            double a = fmin(fabs(sum), 1.0) * pen->alpha;
            if (a < 1e-3) continue;
            for (int c = 0; c < 3; c++) {
                double mixed = (1.0 - a) * rgb[3 * x + c] + a * pen->rgb[c];
                rgb[3 * x + c] = (unsigned char)(mixed + 0.5);
            }
        }
    }
}

static void fill(crImage* image, crInk ink, unsigned color, double alpha, const float (*points)[2],
                 size_t count) {
    Pen pen = pen_of(image, ink, color, alpha);
    size_t from = 0;
    for (size_t i = 0; i < count; i++) {
        const float* p = points[i];
        bool last = i + 1 == count || isnan(points[i + 1][0]);
        const float* q = points[last ? from : i + 1];
        if (isnan(p[0])) {
            from = i + 1;
            continue;
        }
        cover_edge(&pen, (const double[2]){(double)p[0], (double)p[1]},
                   (const double[2]){(double)q[0], (double)q[1]});
    }
    pour(&pen);
}

static void stroke(crImage* image, const crPen* look, const float (*points)[2], size_t count) {
    for (size_t i = 0; i + 1 < count; i++) {
        double dx = (double)points[i + 1][0] - (double)points[i][0];
        double dy = (double)points[i + 1][1] - (double)points[i][1];
        double length = hypot(dx, dy);
        if (length < 1e-6) continue;
        float nx = (float)(-0.5 * look->width * dy / length);
        float ny = (float)(0.5 * look->width * dx / length);
        const float* a = points[i];
        const float* b = points[i + 1];
        const float quad[4][2] = {
            {a[0] + nx, a[1] + ny}, {b[0] + nx, b[1] + ny}, {b[0] - nx, b[1] - ny}, {a[0] - nx, a[1] - ny}};
        fill(image, look->stroke, 0, 1.0, quad, 4);
    }
}

// letters of 5 by 7 dots, each a square; upright text is left out: no moving picture has any
static void write_text(crImage* image, const crSheet* sheet, const crSheetMark* mark) {
    if (mark->upright) return;
    const char* text = sheet->letters + mark->letters;
    double dot = mark->size / 9.0;
    double width = dot * CR_LETTER_ADVANCE * (double)strlen(text);
    double x = (double)sheet->points[mark->first][0];
    double y = (double)sheet->points[mark->first][1] - 7.0 * dot;
    x -= mark->anchor == CR_ANCHOR_MIDDLE ? 0.5 * width : mark->anchor == CR_ANCHOR_END ? width : 0.0;
    for (; *text != '\0'; text++, x += CR_LETTER_ADVANCE * dot) {
        for (int i = 0; i < 35; i++) {
            if (!cr_letter_dot(*text, i % 5, i / 5)) continue;
            float left = (float)(x + dot * (i % 5));
            float top = (float)(y + dot * (i / 5));
            float right = (float)(x + dot * (i % 5 + 1));
            float bottom = (float)(y + dot * (i / 5 + 1));
            const float square[4][2] = {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
            fill(image, mark->pen.fill, 0, 1.0, square, 4);
        }
    }
}

void cr_image_draw(crImage* image, const crSheet* sheet) {
    for (size_t i = 0; i < sheet->mark_count; i++) {
        const crSheetMark* mark = &sheet->marks[i];
        const float(*points)[2] = (const float(*)[2])(sheet->points + mark->first);
        if (mark->text) {
            write_text(image, sheet, mark);
            continue;
        }
        if (mark->pen.fill != CR_INK_NONE)
            fill(image, mark->pen.fill, mark->pen.color, mark->pen.alpha, points, mark->count);
        if (mark->pen.stroke != CR_INK_NONE) stroke(image, &mark->pen, points, mark->count);
    }
}
