// view_labels.c - times beside bodies: each where it covers no other time and no body, or else listed in the corner.
//
// Places are tried around the body that carries the times, farther and farther away; a time that stands off has a line to
// its body. A slender body carries its time itself, where no other time stands there.
#include <string.h>

#include "plot/flat.h"
#include "plot/view_parts.h"

#define SIZE   11.0  // of the text, pixels
#define RINGS  8     // of places around a body
#define FILLED 0.7   // of its box: a body that fills it has places beside it
#define RING   14.0  // from one to the next, pixels

static bool overlap(const double a[4], const double b[4]) {
    return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

// does the outline of a mark come into the box, or lie around it?
static bool covers(const crSheet* s, const crSheetMark* mark, const double box[4]) {
    double x = 0.5 * (box[0] + box[2]);
    double y = 0.5 * (box[1] + box[3]);
    const crPanel area = {.left = box[0], .top = box[1], .right = box[2], .bottom = box[3]};
    bool around = false;
    for (size_t i = 0; i + 1 < mark->count; i++) {
        const float* a = s->points[mark->first + i];
        const float* b = s->points[mark->first + i + 1];
        double ax = (double)a[0];
        double ay = (double)a[1];
        double dx = (double)b[0] - ax;
        double dy = (double)b[1] - ay;
        if (cr_flat_clip_line(&area, (double[2][2]){{ax, ay}, {ax + dx, ay + dy}})) return true;
        if ((ay > y) != (ay + dy > y) && x < ax + dx * (y - ay) / dy) around = !around;
    }
    return around;
}

static bool is_free(const crView* v, const double box[4], bool of_bodies) {
    for (int i = 0; i < v->box_count; i++) {
        if (overlap(v->boxes[i], box)) return false;
    }
    for (size_t i = v->bodies_from; i < v->bodies_to && of_bodies; i++) {
        if (!v->sheet->marks[i].text && covers(v->sheet, &v->sheet->marks[i], box)) return false;
    }
    return true;
}

// pixels of a body: left, top, right, bottom; false where nothing of it is drawn
static bool extent(crView* v, int body, double box[4]) {
    double lo[2] = {v->lo[0], v->lo[1]};
    double hi[2] = {v->hi[0], v->hi[1]};
    v->lo[0] = v->lo[1] = INFINITY;
    v->hi[0] = v->hi[1] = -INFINITY;
    cr__view_body(v, body, false, NULL);
    box[0] = cr_panel_x(&v->panel, v->lo[0]);
    box[1] = cr_panel_y(&v->panel, v->hi[1]);
    box[2] = cr_panel_x(&v->panel, v->hi[0]);
    box[3] = cr_panel_y(&v->panel, v->lo[1]);
    memcpy(v->lo, lo, sizeof lo);
    memcpy(v->hi, hi, sizeof hi);
    return box[0] <= box[2];
}

// is the body large, and slender or tilted, so that what stands beside its box is far from it?
static bool carries(crView* v, int body, const double box[4], double width) {
    if (hypot(box[2] - box[0], box[3] - box[1]) <= 1.5 * width) return false;
    crSheet scratch;
    crSheet* sheet = v->sheet;
    cr_sheet_create(&scratch, 0.0, 0.0);
    v->sheet = &scratch;
    cr__view_body(v, body, false, &(crPen){.fill = CR_INK_TEXT});
    v->sheet = sheet;
    double area = 0.0;
    for (size_t m = 0; m < scratch.mark_count; m++) {
        const float(*p)[2] = (const float(*)[2])(scratch.points + scratch.marks[m].first);
        double twice = 0.0;
        for (size_t i = 0; i + 1 < scratch.marks[m].count; i++) {
            twice += (double)p[i][0] * (double)p[i + 1][1] - (double)p[i + 1][0] * (double)p[i][1];
        }
        area += 0.5 * fabs(twice);
    }
    cr_sheet_destroy(&scratch);
    return area < FILLED * (box[2] - box[0]) * (box[3] - box[1]);
}

// the text at the i-th place around the body; false where that is taken
static bool put_at(crView* v, const double body[4], const char* text, int i, bool of_bodies) {
    double half = 0.5 * cr_sheet_text_width(text, SIZE);
    double x = 0.5 * (body[0] + body[2]);
    double y = 0.5 * (body[1] + body[3]);
    double away = 9.0 + RING * (i / 8);
    const double places[9][2] = {{x, body[1] - away},
                                 {x, body[3] + away},
                                 {body[2] + away + half, y},
                                 {body[0] - away - half, y},
                                 {body[2] + half + away, body[1] - away},
                                 {body[2] + half + away, body[3] + away},
                                 {body[0] - half - away, body[1] - away},
                                 {body[0] - half - away, body[3] + away},
                                 {x, y}};
    const double* at = places[i < 0 ? 8 : i % 8];
    double box[4] = {at[0] - half, at[1] - 8.0, at[0] + half, at[1] + 6.0};
    bool inside = box[0] > v->panel.left && box[2] < v->panel.right && box[1] > v->panel.top &&
                  box[3] < v->panel.bottom;
    if (!inside || v->box_count == CR_VIEW_LABELS || !is_free(v, box, of_bodies)) return false;
    memcpy(v->boxes[v->box_count++], box, sizeof box);
    if (i >= 4) {
        double to_x = fmin(fmax(at[0], body[0]), body[2]);
        double to_y = fmin(fmax(at[1], body[1]), body[3]);
        double from_x = fmin(fmax(to_x, box[0]), box[2]);
        double from_y = fmin(fmax(to_y, box[1]), box[3]);
        cr_sheet_line(v->sheet, from_x, from_y, to_x, to_y, (crPen){.stroke = CR_INK_FAINT, .width = 0.8});
    }
    cr_sheet_text(v->sheet, at[0], at[1] + 4.0, SIZE, CR_ANCHOR_MIDDLE, CR_INK_TEXT, text);
    return true;
}

bool cr__view_label(crView* v, int body, double time) {
    double box[4];
    if (!extent(v, body, box)) return true;
    char text[32];
    snprintf(text, sizeof text, "%.4g s", time);
    if (carries(v, body, box, cr_sheet_text_width(text, SIZE)) && put_at(v, box, text, -1, false))
        return true;
    for (int i = 0; i < 8 * RINGS; i++) {
        if (put_at(v, box, text, i, true)) return true;
    }
    return false;
}

void cr__view_label_left(crView* v, const double* times, int count) {
    if (count == 0) return;
    char text[160];
    int used = snprintf(text, sizeof text, "also at");
    for (int i = 0; i < count && used < (int)sizeof text - 24; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s %.4g", i > 0 ? "," : "", times[i]);
    }
    snprintf(text + used, sizeof text - (size_t)used, " s");
    cr_sheet_text(v->sheet, v->panel.right - 4.0, v->panel.top - 10.0, SIZE, CR_ANCHOR_END, CR_INK_FAINT,
                  text);
}
