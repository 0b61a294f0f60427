// laws.c - law curves and law points in any projection of impulse space.
//
// A law's curve is drawn from its points over e; where two neighbours are farther apart than a smooth curve's
// would be, the curve is broken (the law jumps). Points of laws that agree are nested, the first in the
// catalogue largest, so that none hides another. A point outside the region is hollow with a cross.
#include <math.h>
#include <string.h>

#include "plot/draw.h"

// in the order of the catalogue, and again from the first for more laws than there are
static const crLawStyle styles[] = {
    {"#117733", 1, 5},  {"#44aa99", 2, 13}, {"#0072b2", 1, 7},  {"#d55e00", 1, 9}, {"#cc79a7", 2, 11},
    {"#009e73", 4, 15}, {"#332288", 2, 5},  {"#e69f00", 3, 13}, {"#882255", 5, 7}, {"#999933", 1, 11},
    {"#56b4e9", 1, 15}, {"#aa4499", 1, 9},  {"#661100", 1, 13},
};

const crLawStyle* cr_law_style(const char* law) {
    static const crLawStyle other = {"#333333", 1, 7};
    for (int i = 0; i < cr_law_count(); i++) {
        if (strcmp(cr_law_info(i)->name, law) == 0)
            return &styles[i % (int)(sizeof styles / sizeof styles[0])];
    }
    return &other;
}

crPoint2 cr_project(const crProjection* v, crVec3 P) {
    return (crPoint2){cr_dot(v->right, P) / v->unit, cr_dot(v->up, P) / v->unit};
}

bool cr_law_has_point(const crLawCurve* curve) {
    return curve->status == CR_OK && curve->hit.regime != CR_REGIME_NO_SOLUTION;
}

bool cr_law_is_constant(const crLawCurve* curve) {
    double size = 0.0;
    double spread = 0.0;
    for (int i = 0; i < curve->count; i++) {
        size = fmax(size, cr_norm(curve->P[i]));
        spread = fmax(spread, cr_norm(cr_sub(curve->P[i], curve->P[0])));
    }
    return !(spread > 1e-6 * size);
}

// Size of each point, larger where later ones lie on it.
static void nest(const crPoint2* points, const bool* shown, int count, double* sizes) {
    for (int i = 0; i < count; i++) {
        int above = 0;
        for (int k = i + 1; k < count; k++) {
            double apart = hypot(points[i].x - points[k].x, points[i].y - points[k].y);
            if (shown[i] && shown[k] && apart < 4.0) above++;
        }
        sizes[i] = 1.0 + fmin(0.5 * above, 1.5 + 0.2 * above);
    }
}

static void draw_curve(crCanvas* canvas, const crLawCurve* curve, const crProjection* v, double width) {
    const crLawStyle* style = cr_law_style(curve->name);
    char text[96];
    snprintf(text, sizeof text, "lc rgb '%s' lw %.3g dt %d", style->color, width, style->dash);
    crPoint2 points[CR_PICTURE_POINTS];
    int run = 0;
    double jump = 0.08 * hypot(canvas->area.x1 - canvas->area.x0, canvas->area.y1 - canvas->area.y0);
    for (int i = 0; i < curve->count; i++) {
        crPoint2 p = cr_project(v, curve->P[i]);
        if (run > 0) {
            crPoint2 before = points[run - 1];
            bool far = hypot(p.x - before.x, p.y - before.y) * canvas->scale > jump;
            bool gap = curve->e[i] - curve->e[i - 1] > 1.5 / CR_PICTURE_STEPS && curve->e[i] <= 1.0;
            if (far || gap) {
                cr_canvas_line(canvas, points, run, text);
                run = 0;
            }
        }
        points[run++] = p;
    }
    cr_canvas_line(canvas, points, run, text);
}

static void draw_point(crCanvas* canvas, const crLawCurve* curve, crPoint2 p, double size) {
    const crLawStyle* style = cr_law_style(curve->name);
    char text[96];
    // a white edge keeps neighbours apart
    cr_canvas_mark(canvas, p, 4.0, style->symbol, size + 0.45, "lc rgb '#ffffff'");
    bool outside = !curve->hit.permissible;
    snprintf(text, sizeof text, "lw 1.6 lc rgb '%s'", style->color);
    cr_canvas_mark(canvas, p, 4.0, style->symbol - (outside ? 1 : 0), size, text);
    if (outside) cr_canvas_mark(canvas, p, 4.0, 2, size + 0.3, text);
}

bool cr_draw_laws(crCanvas* canvas, const crPicture* p, const crProjection* v, bool ring_off) {
    crPoint2 data[CR_PICTURE_LAWS];
    crPoint2 sheet[CR_PICTURE_LAWS];
    bool shown[CR_PICTURE_LAWS];
    double sizes[CR_PICTURE_LAWS];
    for (int i = 0; i < p->law_count; i++) {
        // earlier ones wider, so that a curve on top of another leaves its edges visible
        double width = 1.8 + 2.4 * (p->law_count - 1 - i) / fmax(1.0, p->law_count - 1);
        if (!cr_law_is_constant(&p->laws[i])) draw_curve(canvas, &p->laws[i], v, width);
        shown[i] = cr_law_has_point(&p->laws[i]);
        data[i] = cr_project(v, p->laws[i].hit.P);
        sheet[i] = cr_canvas_sheet(canvas, data[i]);
    }
    nest(sheet, shown, p->law_count, sizes);
    bool ring = false;
    for (int i = 0; i < p->law_count; i++) {
        if (!shown[i]) continue;
        draw_point(canvas, &p->laws[i], data[i], sizes[i]);
        double off = fabs(cr_dot(v->out, p->laws[i].hit.P)) / v->unit * canvas->scale;
        if (ring_off && off > 4.0) {
            cr_canvas_mark(canvas, data[i], 2.0, 6, sizes[i] + 0.9, "lw 1 lc rgb '#333333'");
            ring = true;
        }
    }
    return ring;
}
