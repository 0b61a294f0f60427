// chart.c - drawing a chart: ranges, tics at 1, 2 or 5 times a power of ten, a legend that wraps, lines.
//
// A line of many points is drawn as the least and largest value of each pixel column, so peaks stay. Numbers
// that are not finite are left out.
#include "plot/chart.h"

#include <string.h>

#include <math.h>

#define FONT      12.0
#define SMALL     11.0
#define MOST_TICS 64
#define ROW       17.0   // of the legend
#define DECADE    1e-12  // least share of the largest value that a logarithmic axis shows

static double y_value(bool logarithmic, double y) {
    if (!logarithmic) return y;
    return y > 0.0 ? log10(y) : NAN;
}

double cr_panel_x(const crPanel* p, double x) {
    return p->left + (x - p->x0) / (p->x1 - p->x0) * (p->right - p->left);
}

double cr_panel_y(const crPanel* p, double y) {
    return p->bottom - (y - p->y0) / (p->y1 - p->y0) * (p->bottom - p->top);
}

// widen a range that is a point, or nothing, so that it can be drawn
static void widen(double* lo, double* hi, double share) {
    if (!(*lo <= *hi)) {
        *lo = 0.0;
        *hi = 1.0;
    }
    double size = fmax(*hi - *lo, 1e-9 * fmax(fabs(*lo), fabs(*hi)));
    if (!(size > 0.0)) size = 1.0;
    *lo -= share * size;
    *hi += share * size;
}

static void find_ranges(const crChart* chart, crPanel* p) {
    p->x0 = p->y0 = INFINITY;
    p->x1 = p->y1 = -INFINITY;
    for (int i = 0; i < chart->series_count; i++) {
        const crSeries* s = &chart->series[i];
        for (size_t k = 0; k < s->count; k++) {
            double x = s->x[k * s->step];
            double y = y_value(chart->logarithmic, s->y[k * s->step]);
            if (!isfinite(x) || !isfinite(y)) continue;
            p->x0 = fmin(p->x0, x);
            p->x1 = fmax(p->x1, x);
            p->y0 = fmin(p->y0, y);
            p->y1 = fmax(p->y1, y);
        }
    }
    bool given = chart->x0 < chart->x1;
    widen(&p->x0, &p->x1, 0.0);
    if (given) {
        p->x0 = chart->x0;
        p->x1 = chart->x1;
    } else if (!(p->x0 < p->x1)) {
        widen(&p->x0, &p->x1, 0.5);
    }
    if (chart->logarithmic) p->y0 = fmax(p->y0, p->y1 + log10(DECADE));
    widen(&p->y0, &p->y1, chart->logarithmic ? 0.08 : 0.05);
    if (chart->logarithmic && p->y1 - p->y0 < 1.0) {
        p->y0 = floor(p->y0);
        p->y1 = ceil(p->y1);
    }
}

// 1, 2 or 5 times a power of ten, at least size / count
static double tic_step(double size, double count) {
    double raw = size / count;
    double ten = pow(10.0, floor(log10(raw)));
    double lead = raw / ten;
    return ten * (lead <= 1.0 ? 1.0 : lead <= 2.0 ? 2.0 : lead <= 5.0 ? 5.0 : 10.0);
}

// tics are multiples of the step; a range that doubles cannot divide so has some all the same
static double tic_at(double lo, double step, int index) { return (ceil(lo / step - 1e-9) + index) * step; }

static int tic_count(double lo, double hi, double step) {
    int count = 0;
    while (count < MOST_TICS && tic_at(lo, step, count) <= hi + 1e-9 * step) {
        count++;
    }
    return count;
}

// the number of a tic, with the digits its step needs
static void tic_text(double value, double step, char text[32]) {
    if (fabs(value) < 1e-9 * step) value = 0.0;
    double largest = fmax(fabs(value), step);
    if (largest >= 1e5 || largest < 1e-4) {
        snprintf(text, 32, "%.*g", (int)fmax(1.0, 2.0 + floor(log10(largest)) - floor(log10(step))), value);
    } else {
        snprintf(text, 32, "%.*f", (int)fmax(0.0, -floor(log10(step) + 1e-9)), value);
    }
}

static double y_step(const crPanel* p) {
    double count = fmax(2.0, (p->bottom - p->top) / 38.0);
    double step = tic_step(p->y1 - p->y0, count);
    return p->logarithmic ? fmax(1.0, ceil((p->y1 - p->y0) / count)) : step;
}

static void y_text(const crPanel* p, double y, double step, char text[32]) {
    if (p->logarithmic) {
        snprintf(text, 32, "1e%.0f", y);
    } else {
        tic_text(y, step, text);
    }
}

double cr_panel_tic_room(const crPanel* p) {
    double step = y_step(p);
    double widest = 0.0;
    for (int i = 0; i < tic_count(p->y0, p->y1, step); i++) {
        char text[32];
        y_text(p, tic_at(p->y0, step, i), step, text);
        widest = fmax(widest, cr_sheet_text_width(text, SMALL));
    }
    return widest;
}

static void draw_x_axis(crSheet* sheet, const crPanel* p) {
    double step = tic_step(p->x1 - p->x0, fmax(2.0, (p->right - p->left) / 75.0));
    for (int i = 0; i < tic_count(p->x0, p->x1, step); i++) {
        char text[32];
        double x = cr_panel_x(p, tic_at(p->x0, step, i));
        tic_text(tic_at(p->x0, step, i), step, text);
        cr_sheet_line(sheet, x, p->top, x, p->bottom, (crPen){.stroke = CR_INK_GRID, .width = 1.0});
        cr_sheet_text(sheet, x, p->bottom + 15.0, SMALL, CR_ANCHOR_MIDDLE, CR_INK_FAINT, text);
    }
}

void cr_panel_axes(crSheet* sheet, const crPanel* p, double label_x, const char* x_label,
                   const char* y_label) {
    draw_x_axis(sheet, p);
    double step = y_step(p);
    for (int i = 0; i < tic_count(p->y0, p->y1, step); i++) {
        char text[32];
        double y = cr_panel_y(p, tic_at(p->y0, step, i));
        y_text(p, tic_at(p->y0, step, i), step, text);
        cr_sheet_line(sheet, p->left, y, p->right, y, (crPen){.stroke = CR_INK_GRID, .width = 1.0});
        cr_sheet_text(sheet, p->left - 6.0, y + 4.0, SMALL, CR_ANCHOR_END, CR_INK_FAINT, text);
    }
    cr_sheet_text(sheet, 0.5 * (p->left + p->right), p->bottom + 31.0, SMALL, CR_ANCHOR_MIDDLE, CR_INK_FAINT,
                  x_label);
    cr_sheet_text_up(sheet, label_x, 0.5 * (p->top + p->bottom), SMALL, CR_INK_FAINT, y_label);
}

void cr_panel_frame(crSheet* sheet, const crPanel* p) {
    crPen frame = {.stroke = CR_INK_FAINT, .width = 1.0};
    cr_sheet_line(sheet, p->left, p->bottom, p->right, p->bottom, frame);
    cr_sheet_line(sheet, p->left, p->top, p->left, p->bottom, frame);
}

static crInk series_ink(const crSeries* s) { return (crInk)(CR_INK_SERIES + s->color % CR_INK_COLORS); }

static void put_run(crSheet* sheet, double (*points)[2], size_t count, crPen pen) {
    if (count == 1) {
        cr_sheet_box(sheet, points[0][0] - 1.0, points[0][1] - 1.0, points[0][0] + 1.0, points[0][1] + 1.0,
                     (crPen){.fill = pen.stroke, .alpha = 1.0});
    } else {
        cr_sheet_path(sheet, (const double(*)[2])points, count, pen);
    }
}

// the line, pixel column by pixel column: first, lowest, highest and last value of each
static void draw_line(crSheet* sheet, const crPanel* p, const crSeries* s) {
    crPen pen = {.stroke = series_ink(s), .width = 1.7, .dash = s->dash};
    double run[1024][2];
    size_t count = 0;
    for (size_t k = 0; k < s->count;) {
        double x = cr_panel_x(p, s->x[k * s->step]);
        double column = floor(x);
        double first = NAN;
        double last = NAN;
        double lo = INFINITY;
        double hi = -INFINITY;
        size_t taken = 0;
        for (; k < s->count && floor(cr_panel_x(p, s->x[k * s->step])) == column; k++, taken++) {
            double y = y_value(p->logarithmic, s->y[k * s->step]);
            if (!isfinite(y)) continue;
            last = fmin(fmax(cr_panel_y(p, y), p->top), p->bottom);
            if (isnan(first)) first = last;
            lo = fmin(lo, last);
            hi = fmax(hi, last);
        }
        if (taken == 0) k++;  // x is not a number
        bool hole = isnan(first) || x < p->left - 0.5 || x > p->right + 0.5;
        if (hole || count > 1024 - 4) {
            if (count > 0) put_run(sheet, run, count, pen);
            if (!hole && count > 0) {
                run[0][0] = run[count - 1][0];
                run[0][1] = run[count - 1][1];
            }
            count = hole || count == 0 ? 0 : 1;
            if (hole) continue;
        }
        double at = taken > 1 ? column + 0.5 : x;
        double ys[4] = {first, lo, hi, last};
        for (int i = 0; i < 4; i++) {
            if (i > 0 && ys[i] == run[count - 1][1]) continue;
            run[count][0] = at;
            run[count++][1] = ys[i];
        }
    }
    if (count > 0) put_run(sheet, run, count, pen);
}

static void draw_points(crSheet* sheet, const crPanel* p, const crSeries* s) {
    for (size_t k = 0; k < s->count; k++) {
        double x = cr_panel_x(p, s->x[k * s->step]);
        double y = cr_panel_y(p, y_value(p->logarithmic, s->y[k * s->step]));
        bool inside = x >= p->left - 0.5 && x <= p->right + 0.5 && y >= p->top - 0.5 && y <= p->bottom + 0.5;
        if (!inside) continue;
        const double diamond[4][2] = {{x - 3.5, y}, {x, y - 3.5}, {x + 3.5, y}, {x, y + 3.5}};
        cr_sheet_path(sheet, diamond, 4, (crPen){.fill = series_ink(s), .alpha = 0.75});
    }
}

// names of the series in rows; returns the height taken
static double legend(crSheet* sheet, const crChart* chart, double left, double top, double right) {
    double x = left;
    double y = top;
    bool any = false;
    for (int i = 0; i < chart->series_count; i++) {
        const crSeries* s = &chart->series[i];
        if (s->label == NULL) continue;
        double width = 26.0 + cr_sheet_text_width(s->label, SMALL) + 12.0;
        if (any && x + width > right) {
            x = left;
            y += ROW;
        }
        any = true;
        cr_sheet_line(sheet, x, y + 8.0, x + 20.0, y + 8.0,
                      (crPen){.stroke = series_ink(s), .width = 2.5, .dash = s->dash});
        cr_sheet_text(sheet, x + 25.0, y + 12.0, SMALL, CR_ANCHOR_START, CR_INK_TEXT, s->label);
        x += width;
    }
    return any ? y - top + ROW : 0.0;
}

// points that a logarithmic axis has no place for
static size_t count_left_out(const crChart* chart) {
    size_t count = 0;
    for (int i = 0; i < chart->series_count && chart->logarithmic; i++) {
        const crSeries* s = &chart->series[i];
        for (size_t k = 0; k < s->count; k++) {
            count += s->y[k * s->step] <= 0.0;
        }
    }
    return count;
}

static void put_note(crSheet* sheet, double x, double y, const crChart* chart) {
    char text[160];
    size_t zeros = count_left_out(chart);
    const char* note = chart->note != NULL ? chart->note : "";
    snprintf(text, sizeof text, "%.80s%s", note, note[0] != '\0' && zeros > 0 ? "; " : "");
    size_t used = strlen(text);
    if (zeros > 0)
        snprintf(text + used, sizeof text - used, "without %zu value%s of 0", zeros, zeros == 1 ? "" : "s");
    if (text[0] != '\0') cr_sheet_text(sheet, x, y, SMALL, CR_ANCHOR_END, CR_INK_FAINT, text);
}

void cr_chart_draw(crSheet* sheet, double x0, double y0, double x1, double y1, const crChart* chart) {
    crPanel p = {.left = x0, .top = y0 + 4.0, .right = x1 - 14.0, .logarithmic = chart->logarithmic};
    p.bottom = y1 - 38.0;
    find_ranges(chart, &p);
    if (chart->title[0] != '\0') {
        cr_sheet_text(sheet, x0 + 4.0, y0 + 15.0, FONT + 1.0, CR_ANCHOR_START, CR_INK_TEXT, chart->title);
        p.top += 20.0;
    }
    put_note(sheet, x1 - 14.0, y0 + 15.0, chart);
    p.top += legend(sheet, chart, x0 + 4.0, p.top, x1) + 6.0;
    p.left = x0 + 26.0 + fmax(cr_panel_tic_room(&p), 34.0);
    cr_panel_axes(sheet, &p, x0 + 12.0, chart->x_label, chart->y_label);
    for (int i = 0; i < chart->series_count; i++) {
        const crSeries* s = &chart->series[i];
        if (s->points) {
            draw_points(sheet, &p, s);
        } else {
            draw_line(sheet, &p, s);
        }
    }
    cr_panel_frame(sheet, &p);
}
