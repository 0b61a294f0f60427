// canvas.c - panels, lines, areas and marks on a sheet, written as gnuplot commands.
//
// Data go into inline blocks and one plot command per panel draws them in the order they came; text, legend
// lines and swatches are gnuplot objects in screen coordinates. A panel's ranges are computed here, so that
// one unit is equally long along both axes and the panel is filled. Fails: CR_ERR_MEMORY, or gnuplot's
// errors at the end.
#include "plot/canvas.h"

#include <math.h>
#include <stdlib.h>

crBox cr_box_empty(void) { return (crBox){INFINITY, INFINITY, -INFINITY, -INFINITY}; }

void cr_box_add(crBox* box, crPoint2 p) {
    box->x0 = fmin(box->x0, p.x);
    box->y0 = fmin(box->y0, p.y);
    box->x1 = fmax(box->x1, p.x);
    box->y1 = fmax(box->y1, p.y);
}

bool cr_box_has(const crBox* box, crPoint2 p) {
    return p.x >= box->x0 && p.x <= box->x1 && p.y >= box->y0 && p.y <= box->y1;
}

crStatus cr_canvas_begin(crCanvas* c, const char* path, int width, int height, double nominal_width,
                         double nominal_height, crError* error) {
    double scale = fmin(width / nominal_width, height / nominal_height);
    *c = (crCanvas){.width = width / scale, .height = height / scale};
    crStatus status = cr_gnuplot_begin(&c->plot, path, width, height, scale, error);
    if (status != CR_OK) return status;
    fprintf(c->plot.script, "set multiplot\nunset key\nset clip two\nset minussign\n");
    return CR_OK;
}

crStatus cr_canvas_end(crCanvas* c, crError* error) {
    if (c->clauses != NULL) fclose(c->clauses);
    free(c->clause_text);
    c->clauses = NULL;
    c->clause_text = NULL;
    fprintf(c->plot.script, "unset multiplot\n");
    return cr_gnuplot_end(&c->plot, error);
}

static void axes_on(crCanvas* c, const char* x_label, const char* y_label) {
    FILE* f = c->plot.script;
    fprintf(f, "set border 3 lw 0.8 lc rgb '#444444'\n");
    fprintf(f, "set tics nomirror out scale 0.6 textcolor rgb '#444444'\n");
    fprintf(f, "set xtics\nset ytics\n");
    fprintf(f, "set xlabel '%s' offset 0,0.4\nset ylabel '%s' offset 0.6,0\n", x_label, y_label);
}

crStatus cr_canvas_panel(crCanvas* c, crBox area, crBox data, bool axes, const char* x_label,
                         const char* y_label, crError* error) {
    c->clauses = open_memstream(&c->clause_text, &c->clause_size);
    if (c->clauses == NULL) return cr_error_set(error, CR_ERR_MEMORY, "", "out of memory");
    c->area = area;
    double width = area.x1 - area.x0;
    double height = area.y1 - area.y0;
    c->scale = fmin(width / (data.x1 - data.x0), height / (data.y1 - data.y0));
    crPoint2 middle = {0.5 * (data.x0 + data.x1), 0.5 * (data.y0 + data.y1)};
    double half_x = 0.5 * width / c->scale;
    double half_y = 0.5 * height / c->scale;
    c->view = (crBox){middle.x - half_x, middle.y - half_y, middle.x + half_x, middle.y + half_y};
    c->obstacle_count = 0;

    FILE* f = c->plot.script;
    fprintf(f, "set lmargin at screen %.6f\nset rmargin at screen %.6f\n", area.x0 / c->width,
            area.x1 / c->width);
    fprintf(f, "set bmargin at screen %.6f\nset tmargin at screen %.6f\n", area.y0 / c->height,
            area.y1 / c->height);
    fprintf(f, "set xrange [%.12g:%.12g]\nset yrange [%.12g:%.12g]\n", c->view.x0, c->view.x1, c->view.y0,
            c->view.y1);
    if (axes)
        axes_on(c, x_label, y_label);
    else
        fprintf(f, "unset border\nunset tics\nunset xlabel\nunset ylabel\n");
    // an element that is always there, so that an empty panel is drawn too
    fprintf(c->clauses, "plot NaN notitle");
    return CR_OK;
}

void cr_canvas_panel_end(crCanvas* c) {
    fclose(c->clauses);
    fprintf(c->plot.script, "%s\nunset label\nunset arrow\nunset object\n", c->clause_text);
    free(c->clause_text);
    c->clauses = NULL;
    c->clause_text = NULL;
}

crPoint2 cr_canvas_sheet(const crCanvas* c, crPoint2 data) {
    return (crPoint2){c->area.x0 + (data.x - c->view.x0) * c->scale,
                      c->area.y0 + (data.y - c->view.y0) * c->scale};
}

static void obstacle(crCanvas* c, crPoint2 sheet, double weight) {
    if (c->obstacle_count >= CR_CANVAS_OBSTACLES || !cr_box_has(&c->area, sheet)) return;
    c->obstacles[c->obstacle_count++] = (crObstacle){(float)sheet.x, (float)sheet.y, (float)weight};
}

// one obstacle every 5 pixels along a visible segment
static void obstacle_segment(crCanvas* c, crPoint2 a, crPoint2 b) {
    crPoint2 p = cr_canvas_sheet(c, a);
    crPoint2 q = cr_canvas_sheet(c, b);
    double length = hypot(q.x - p.x, q.y - p.y);
    int steps = (int)fmin(400.0, length / 5.0) + 1;
    for (int i = 0; i < steps; i++) {
        double s = (double)i / steps;
        obstacle(c, (crPoint2){p.x + s * (q.x - p.x), p.y + s * (q.y - p.y)}, 1.0);
    }
}

// far outside the panel nothing but the direction matters, and gnuplot's integers must not overflow
static void write_point(crCanvas* c, crPoint2 p) {
    double reach_x = 20.0 * (c->view.x1 - c->view.x0);
    double reach_y = 20.0 * (c->view.y1 - c->view.y0);
    double x = fmax(c->view.x0 - reach_x, fmin(c->view.x1 + reach_x, p.x));
    double y = fmax(c->view.y0 - reach_y, fmin(c->view.y1 + reach_y, p.y));
    fprintf(c->plot.script, "%.7g %.7g\n", x, y);
}

static void block(crCanvas* c, const crPoint2* points, int count) {
    fprintf(c->plot.script, "$b%d << EOD\n", ++c->blocks);
    for (int i = 0; i < count; i++)
        write_point(c, points[i]);
    fprintf(c->plot.script, "EOD\n");
}

// Douglas and Peucker: marks the points a polyline cannot do without.
static void keep(const crPoint2* points, int first, int last, double tol, bool* kept) {
    double worst = tol;
    int index = -1;
    double dx = points[last].x - points[first].x;
    double dy = points[last].y - points[first].y;
    double length = hypot(dx, dy);
    for (int i = first + 1; i < last; i++) {
        double px = points[i].x - points[first].x;
        double py = points[i].y - points[first].y;
        // beyond the ends of the chord distance counts, not height
        double along = length > 0.0 ? (px * dx + py * dy) / length : -1.0;
        bool beside = along >= 0.0 && along <= length;
        double off = beside ? fabs(px * dy - py * dx) / length : hypot(px, py);
        if (off <= worst) continue;
        worst = off;
        index = i;
    }
    if (index < 0) return;
    kept[index] = true;
    keep(points, first, index, tol, kept);
    keep(points, index, last, tol, kept);
}

static int simplify(const crCanvas* c, const crPoint2* points, int count, double pixels, crPoint2* simple) {
    bool kept[CR_CANVAS_POINTS] = {true};
    kept[count - 1] = true;
    keep(points, 0, count - 1, pixels / c->scale, kept);
    int size = 0;
    for (int i = 0; i < count; i++) {
        if (kept[i]) simple[size++] = points[i];
    }
    return size;
}

void cr_canvas_line(crCanvas* c, const crPoint2* points, int count, const char* style) {
    if (count < 2 || count > CR_CANVAS_POINTS) return;
    crPoint2 simple[CR_CANVAS_POINTS];
    int size = simplify(c, points, count, 0.1, simple);
    block(c, simple, size);
    fprintf(c->clauses, ", $b%d with lines %s notitle", c->blocks, style);
    for (int i = 1; i < size; i++)
        obstacle_segment(c, simple[i - 1], simple[i]);
}

// What is left of a polygon on the side a x + b y <= k (Sutherland and Hodgman).
static int cut(const crPoint2* in, int count, double a, double b, double k, crPoint2* out) {
    int size = 0;
    for (int i = 0; i < count; i++) {
        crPoint2 p = in[i];
        crPoint2 q = in[(i + 1) % count];
        double hp = a * p.x + b * p.y - k;
        double hq = a * q.x + b * q.y - k;
        if (hp <= 0.0) out[size++] = p;
        if ((hp < 0.0 && hq > 0.0) || (hp > 0.0 && hq < 0.0)) {
            double s = hp / (hp - hq);
            out[size++] = (crPoint2){p.x + s * (q.x - p.x), p.y + s * (q.y - p.y)};
        }
    }
    return size;
}

void cr_canvas_fill(crCanvas* c, const crPoint2* points, int count, const char* style) {
    if (count < 3 || count > CR_CANVAS_POINTS) return;
    // convex polygons gain at most one corner at each border
    crPoint2 a[2 * CR_CANVAS_POINTS];
    crPoint2 b[2 * CR_CANVAS_POINTS];
    int size = simplify(c, points, count, 0.25, a);
    size = cut(a, size, 1.0, 0.0, c->view.x1, b);
    size = cut(b, size, -1.0, 0.0, -c->view.x0, a);
    size = cut(a, size, 0.0, 1.0, c->view.y1, b);
    size = cut(b, size, 0.0, -1.0, -c->view.y0, a);
    if (size < 3) return;
    block(c, a, size);
    fprintf(c->clauses, ", $b%d with filledcurves closed %s notitle", c->blocks, style);
}

void cr_canvas_mark(crCanvas* c, crPoint2 p, double weight, int symbol, double size, const char* style) {
    if (!cr_box_has(&c->view, p)) return;
    block(c, &p, 1);
    fprintf(c->clauses, ", $b%d with points pt %d ps %.4g %s notitle", c->blocks, symbol,
            size * c->plot.point_size, style);
    crPoint2 sheet = cr_canvas_sheet(c, p);
    for (int i = -1; i <= 1; i++) {
        for (int j = -1; j <= 1; j++)
            obstacle(c, (crPoint2){sheet.x + 4.0 * i, sheet.y + 4.0 * j}, weight / 9.0);
    }
}

bool cr_canvas_clip(const crCanvas* c, double a, double b, double k, crPoint2 ends[2]) {
    const crBox* v = &c->view;
    int found = 0;
    const double xs[2] = {v->x0, v->x1};
    const double ys[2] = {v->y0, v->y1};
    crPoint2 hits[4];
    for (int i = 0; i < 2 && b != 0.0; i++) {
        double y = (k - a * xs[i]) / b;
        if (y >= v->y0 && y <= v->y1) hits[found++] = (crPoint2){xs[i], y};
    }
    for (int i = 0; i < 2 && a != 0.0; i++) {
        double x = (k - b * ys[i]) / a;
        if (x >= v->x0 && x <= v->x1) hits[found++] = (crPoint2){x, ys[i]};
    }
    // the two that are farthest apart; a corner may have been found twice
    double longest = 0.0;
    for (int i = 0; i < found; i++) {
        for (int j = 0; j < i; j++) {
            double length = hypot(hits[i].x - hits[j].x, hits[i].y - hits[j].y);
            if (length <= longest) continue;
            longest = length;
            ends[0] = hits[i];
            ends[1] = hits[j];
        }
    }
    return longest > 0.0;
}

void cr_canvas_text(crCanvas* c, double x, double y, const char* justify, const char* style,
                    const char* text) {
    fprintf(c->plot.script, "set label '%s' at screen %.6f,%.6f %s front %s\n", text, x / c->width,
            y / c->height, justify, style);
}

void cr_canvas_plain(crCanvas* c, double x, double y, const char* style, const char* text) {
    fprintf(c->plot.script, "set label ");
    cr_gnuplot_quote(c->plot.script, text);
    fprintf(c->plot.script, " at screen %.6f,%.6f left front noenhanced %s\n", x / c->width, y / c->height,
            style);
}

void cr_canvas_stroke(crCanvas* c, double x0, double y0, double x1, double y1, const char* style) {
    fprintf(c->plot.script, "set arrow from screen %.6f,%.6f to screen %.6f,%.6f nohead front %s\n",
            x0 / c->width, y0 / c->height, x1 / c->width, y1 / c->height, style);
}

void cr_canvas_swatch(crCanvas* c, crBox box, const char* style) {
    fprintf(c->plot.script, "set object rectangle from screen %.6f,%.6f to screen %.6f,%.6f front %s\n",
            box.x0 / c->width, box.y0 / c->height, box.x1 / c->width, box.y1 / c->height, style);
}

void cr_canvas_symbol(crCanvas* c, double x, double y, int symbol, double size, const char* style) {
    fprintf(c->plot.script, "set label '' at screen %.6f,%.6f front point pt %d ps %.4g %s\n", x / c->width,
            y / c->height, symbol, size * c->plot.point_size, style);
}

// text of 12 pixels: width of an average letter and half the line's height
#define LETTER      6.9
#define HALF_HEIGHT 7.5

// Weight of the obstacles under a rectangle about (x, y) turned by the angle (cosine, sine).
static double covered(const crCanvas* c, crPoint2 p, double cosine, double sine, double half_width) {
    double cost = 0.0;
    for (int i = 0; i < c->obstacle_count; i++) {
        double dx = c->obstacles[i].x - p.x;
        double dy = c->obstacles[i].y - p.y;
        if (fabs(cosine * dx + sine * dy) <= half_width + 2.0 &&
            fabs(cosine * dy - sine * dx) <= HALF_HEIGHT + 1.0) {
            cost += c->obstacles[i].weight;
        }
    }
    // what sticks out of the panel is worse than anything
    for (int i = -1; i <= 1; i += 2) {
        for (int j = -1; j <= 1; j += 2) {
            double u = i * (half_width + 2.0);
            double v = j * HALF_HEIGHT;
            crPoint2 corner = {p.x + cosine * u - sine * v, p.y + sine * u + cosine * v};
            if (!cr_box_has(&c->area, corner)) cost += 1000.0;
        }
    }
    return cost;
}

// the label itself is in the way of later ones
static void occupy(crCanvas* c, crPoint2 p, double cosine, double sine, double half_width) {
    for (double u = -half_width; u <= half_width; u += 5.0) {
        for (double v = -6.0; v <= 6.0; v += 6.0)
            obstacle(c, (crPoint2){p.x + cosine * u - sine * v, p.y + sine * u + cosine * v}, 10.0);
    }
}

bool cr_canvas_label_line(crCanvas* c, const crPoint2 ends[2], const char* text, int chars,
                          const char* style) {
    crPoint2 a = cr_canvas_sheet(c, ends[0]);
    crPoint2 b = cr_canvas_sheet(c, ends[1]);
    if (a.x > b.x) {
        crPoint2 swap = a;
        a = b;
        b = swap;
    }
    double length = hypot(b.x - a.x, b.y - a.y);
    double half_width = 0.5 * LETTER * chars;
    if (length < 2.2 * half_width) return false;
    double cosine = (b.x - a.x) / length;
    double sine = (b.y - a.y) / length;
    double best = INFINITY;
    crPoint2 place = a;
    for (double s = half_width + 4.0; s <= length - half_width - 4.0; s += 6.0) {
        for (int side = -1; side <= 1; side += 2) {
            double off = side * (HALF_HEIGHT + 3.0);
            crPoint2 p = {a.x + s * cosine - off * sine, a.y + s * sine + off * cosine};
            // rather near an end of the line than in the middle of things
            double cost = covered(c, p, cosine, sine, half_width) + 0.004 * fmin(s, length - s);
            if (cost >= best) continue;
            best = cost;
            place = p;
        }
    }
    if (best > 12.0) return false;
    occupy(c, place, cosine, sine, half_width);
    char full[256];
    snprintf(full, sizeof full, "rotate by %.3f %s", atan2(sine, cosine) * 180.0 / CR_PI, style);
    cr_canvas_text(c, place.x, place.y, "center", full, text);
    return true;
}

// a thin line from a point to its label, where that is not beside it
static void leader(crCanvas* c, crPoint2 p, crPoint2 label, double half_width) {
    double dx = label.x - p.x;
    double dy = label.y - p.y;
    double s = fmax(1.0 - fmin(half_width / fabs(dx), HALF_HEIGHT / fabs(dy)), 0.0);
    cr_canvas_stroke(c, p.x, p.y, p.x + s * dx, p.y + s * dy, "lc rgb '#808080' lw 0.6");
}

bool cr_canvas_label_point(crCanvas* c, crPoint2 data, const char* text, int chars, const char* style) {
    if (!cr_box_has(&c->view, data)) return false;
    crPoint2 p = cr_canvas_sheet(c, data);
    double half_width = 0.5 * LETTER * chars;
    double best = INFINITY;
    crPoint2 place = p;
    int far = 0;
    for (int ring = 0; ring < 9; ring++) {
        for (int k = 0; k < 24; k++) {
            double angle = 2.0 * CR_PI * k / 24.0;
            double reach = 5.0 + 5.0 * ring;
            crPoint2 q = {p.x + cr_cos(angle) * (reach + half_width),
                          p.y + cr_sin(angle) * (reach + HALF_HEIGHT)};
            double cost = covered(c, q, 1.0, 0.0, half_width) + 0.8 * ring;
            if (cost >= best) continue;
            best = cost;
            place = q;
            far = ring;
        }
    }
    if (best >= 1000.0) return false;
    occupy(c, place, 1.0, 0.0, half_width);
    if (far > 2) leader(c, p, place, half_width);
    cr_canvas_text(c, place.x, place.y, "center", style, text);
    return true;
}
