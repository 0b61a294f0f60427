// fit_plot.c - the pictures of carom fit: the ranking with its error bars, the measured impulses in
// normalized impulse space, and what the best law leaves unexplained.
//
// Normalized: P = u P_I + s (P_II - P_I), so that every collision has P_I at (1, 0) and P_II at (1, 1), and
// a collision's own e and et are u - 1 and s - 1 (Chatterjee and Ruina 1998, section 5). No penetration is
// u >= 1; the energy limit is an ellipse about (1, 1) through the corners (0, 0), (2, 0), (0, 2), (2, 2),
// drawn for the collision in the middle. Fails: memory.
#include <math.h>
#include <stdlib.h>

#include "fitting.h"
#include "plot/chart.h"

#define OUTLINE 97
#define WIDE    1040.0
#define HIGH    760.0

const char* const fitting_picture_names[FITTING_PICTURES] = {"Ranking", "Measured impulses",
                                                             "Errors of the best law", "What it gets wrong"};

static const crFit* best_of(const Fitting* f) { return &f->fits[f->order[0]]; }

static double upper(const FittingBar* bars, int count) {
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, bars[k].mean + 2.0 * bars[k].se);
    }
    return most > 0.0 ? 1.08 * most : 1.0;
}

// one row per law: the error with two standard errors either side, and the floor as a line
void fitting_ranking(crSheet* sheet, const double box[4], const char* title, const char* unit,
                     const FittingBar* bars, int count, double floor) {
    crPanel p = {
        .left = box[0] + 130.0, .top = box[1] + 26.0, .right = box[2] - 14.0, .bottom = box[3] - 38.0};
    p.x1 = upper(bars, count);
    p.y1 = count;
    crPen axis = {.stroke = CR_INK_FAINT, .width = 1.0};
    crPen bar = {.stroke = CR_INK_SERIES, .width = 3.0};
    crPen floor_pen = {.stroke = CR_INK_STRONG, .width = 1.5, .dash = 1};
    cr_sheet_text(sheet, box[0] + 4.0, box[1] + 15.0, 13.0, CR_ANCHOR_START, CR_INK_TEXT, title);
    cr_sheet_line(sheet, p.left, p.bottom, p.right, p.bottom, axis);
    for (int k = 0; k < count; k++) {
        double y = p.top + (p.bottom - p.top) * (k + 0.5) / count;
        double lo = cr_panel_x(&p, bars[k].mean - 2.0 * bars[k].se),
               hi = cr_panel_x(&p, bars[k].mean + 2.0 * bars[k].se);
        double at = cr_panel_x(&p, bars[k].mean);
        cr_sheet_line(sheet, lo, y, fmax(hi, lo + 1.0), y, bar);
        cr_sheet_line(sheet, at, y - 5.0, at, y + 5.0, bar);
        cr_sheet_text(sheet, p.left - 8.0, y + 4.0, 12.0, CR_ANCHOR_END, CR_INK_TEXT, bars[k].name);
    }
    if (!isnan(floor))
        cr_sheet_line(sheet, cr_panel_x(&p, floor), p.top, cr_panel_x(&p, floor), p.bottom, floor_pen);
    for (int k = 0; k <= 4; k++) {
        char text[32];
        double x = p.x1 * k / 4.0;
        snprintf(text, sizeof text, "%.3g", x);
        cr_sheet_text(sheet, cr_panel_x(&p, x), p.bottom + 16.0, 11.0, CR_ANCHOR_MIDDLE, CR_INK_FAINT, text);
    }
    cr_sheet_text(sheet, 0.5 * (p.left + p.right), box[3] - 6.0, 12.0, CR_ANCHOR_MIDDLE, CR_INK_TEXT, unit);
}

static void draw_ranking(const Fitting* f, crSheet* sheet, double x0, double y0, double x1, double y1) {
    FittingBar bars[FITTING_LAWS];
    for (int k = 0; k < f->ranked; k++) {
        const crFit* fit = &f->fits[f->order[k]];
        bars[k] = (FittingBar){fit->law.name, fit->cv, fit->cv_se};
    }
    fitting_ranking(
        sheet, (double[4]){x0, y0, x1, y1}, "Cross-validated error, two standard errors either side",
        "m/s; dashed: the floor of any permissible impulse", bars, f->ranked, f->summary.permissible_floor);
}

// Rows that can be drawn: u and s of what was measured and of what the law answers, apart by verdict.
typedef struct Cloud {
    int inside, outside, law;
    double* inside_u;
    double *inside_s, *outside_u, *outside_s, *law_u, *law_s;
    double middle;  // median of s's weight in the energy: |P_II - P_I| / |P_I| in the metric of W
} Cloud;

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double weight_of(const crContact* c) {
    crVec3 P_I, P_II;
    if (!cr_impulse_P_I(c, &P_I) || !cr_impulse_P_II(c, &P_II)) return 0.0;
    return sqrt(cr_sym3_quad(c->W, cr_sub(P_II, P_I)) / cr_sym3_quad(c->W, P_I));
}

static void fill_cloud(const Fitting* f, Cloud* c, double* weights) {
    const crFit* best = best_of(f);
    for (int i = 0; i < f->impacts.count; i++) {
        const crImpactRow* row = &f->impacts.rows[i];
        crContact contact = row->contact;
        contact.mu = INFINITY;
        double u, s;
        weights[i] = weight_of(&contact);
        if (!cr_impact_normalized(row, row->P, &u, &s) || fabs(u) > 4.0 || fabs(s) > 4.0) continue;
        bool inside = cr_impulse_permissible(&contact, row->P, CR_PERMISSIBLE_TOL);
        *(inside ? &c->inside_u[c->inside] : &c->outside_u[c->outside]) = u - 1.0;
        *(inside ? &c->inside_s[c->inside] : &c->outside_s[c->outside]) = s - 1.0;
        c->inside += inside;
        c->outside += !inside;
        if (!cr_impact_normalized(row, best->P[i], &u, &s) || fabs(u) > 4.0 || fabs(s) > 4.0) continue;
        c->law_u[c->law] = u - 1.0;
        c->law_s[c->law++] = s - 1.0;
    }
    qsort(weights, (size_t)f->impacts.count, sizeof *weights, ascending);
    c->middle = weights[f->impacts.count / 2];
}

// where permissible impulses of the middle collision lie, for some mu: energy's ellipse cut off at e = 0
static int outline(double weight, double* x, double* y) {
    int count = 0;
    double radius = sqrt(1.0 + weight * weight);
    for (int i = 0; i < OUTLINE; i++) {
        double sine, cosine;
        cr_sincos(CR_PI * (i / (OUTLINE - 1.0) - 0.5), &sine, &cosine);
        x[count] = radius * cosine;
        y[count++] = radius * sine / fmax(weight, 1e-3);
    }
    x[count] = x[0];
    y[count++] = y[0];
    return count;
}

static crStatus draw_impulses(const Fitting* f, crSheet* sheet, double x0, double y0, double x1, double y1) {
    size_t n = (size_t)f->impacts.count;
    double* memory = malloc(7 * n * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    Cloud c = {.inside_u = memory,
               .inside_s = memory + n,
               .outside_u = memory + 2 * n,
               .outside_s = memory + 3 * n,
               .law_u = memory + 4 * n,
               .law_s = memory + 5 * n};
    fill_cloud(f, &c, memory + 6 * n);
    double x[OUTLINE + 1], y[OUTLINE + 1];
    int count = outline(c.middle, x, y);
    crSeries series[] = {
        {"measured", (size_t)c.inside, c.inside_u, c.inside_s, 1, 0, 0, true},
        {best_of(f)->law.name, (size_t)c.law, c.law_u, c.law_s, 1, 1, 0, true},
        {"measured, impossible", (size_t)c.outside, c.outside_u, c.outside_s, 1, 3, 0, true},
        {"permissible for some mu, typical", (size_t)count, x, y, 1, 2, 0, false},
    };
    crChart chart = {"Impulses, normalized by each collision's P_I and P_II",
                     "normal: e of the collision",
                     "tangential: et of the collision",
                     false,
                     -0.2,
                     fmax(1.2, 1.05 * sqrt(1.0 + c.middle * c.middle)),
                     4,
                     series,
                     NULL};
    cr_chart_draw(sheet, x0, y0, x1, y1, &chart);
    free(memory);
    return CR_OK;
}

static crStatus draw_errors(const Fitting* f, crSheet* sheet, double x0, double y0, double x1, double y1) {
    size_t n = (size_t)f->impacts.count;
    double* memory = malloc(3 * n * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        memory[i] = -f->impacts.rows[i].contact.V.x;
        memory[n + i] = best_of(f)->errors[i];
        memory[2 * n + i] = sqrt(f->impacts.rows[i].unexplained);
    }
    crSeries series[] = {{best_of(f)->law.name, n, memory, memory + n, 1, 1, 0, true},
                         {"floor of any impulse", n, memory, memory + 2 * n, 1, 0, 0, true}};
    crChart chart = {.title = "Errors, each collision predicted by a fit without it",
                     .x_label = "approach speed, m/s",
                     .y_label = "error, m/s",
                     .series_count = 2,
                     .series = series};
    cr_chart_draw(sheet, x0, y0, x1, y1, &chart);
    free(memory);
    return CR_OK;
}

// normal and tangential impulse, answer less measurement, over the tangential velocity before
static crStatus draw_residuals(const Fitting* f, crSheet* sheet, double x0, double y0, double x1, double y1) {
    size_t n = (size_t)f->impacts.count;
    double* memory = malloc(3 * n * sizeof *memory);
    if (memory == NULL) return CR_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        const crImpactRow* row = &f->impacts.rows[i];
        crVec3 V = row->contact.V;
        double unit = -V.x / row->contact.W.xx;
        memory[i] = sqrt(V.y * V.y + V.z * V.z) / -V.x;
        memory[n + i] = (best_of(f)->P[i].x - row->P.x) / unit;
        memory[2 * n + i] = (best_of(f)->P[i].y - row->P.y) / unit;
    }
    crSeries series[] = {{"normal", n, memory, memory + n, 1, 0, 0, true},
                         {"tangential, + against slip", n, memory, memory + 2 * n, 1, 1, 0, true}};
    crChart chart = {.title = "Impulse of the best law less the measured one",
                     .x_label = "slip over approach speed before",
                     .y_label = "share of P_I",
                     .series_count = 2,
                     .series = series};
    cr_chart_draw(sheet, x0, y0, x1, y1, &chart);
    free(memory);
    return CR_OK;
}

crStatus fitting_picture(const Fitting* f, int index, crSheet* sheet, double x0, double y0, double x1,
                         double y1) {
    if (f->ranked == 0) return CR_OK;
    if (index == 1) return draw_impulses(f, sheet, x0, y0, x1, y1);
    if (index == 2) return draw_errors(f, sheet, x0, y0, x1, y1);
    if (index == 3) return draw_residuals(f, sheet, x0, y0, x1, y1);
    draw_ranking(f, sheet, x0, y0, x1, y1);
    return CR_OK;
}

crStatus fitting_plot(const Fitting* f, const char* path, crError* error) {
    crSheet sheet;
    cr_sheet_create(&sheet, WIDE, HIGH);
    crStatus status = CR_OK;
    for (int i = 0; i < FITTING_PICTURES && status == CR_OK; i++) {
        double x = i % 2 == 0 ? 0.0 : WIDE / 2, y = i < 2 ? 0.0 : HIGH / 2;
        status = fitting_picture(f, i, &sheet, x + 6.0, y + 6.0, x + WIDE / 2 - 6.0, y + HIGH / 2 - 6.0);
    }
    if (status == CR_OK) status = sheet.status;
    status = status == CR_OK ? cr_sheet_save(&sheet, path, "Laws fitted to measured collisions", error)
                             : cr_error_set(error, status, "plot", "plot: out of memory");
    cr_sheet_destroy(&sheet);
    return status;
}
