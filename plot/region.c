// region.c - layout of the picture of one collision: title, panels, legend, captions.
//
// One panel for planar collisions, section and solid side by side for spatial ones, the legend on the right.
// The sheet is laid out in nominal pixels and magnified to the size asked for. Fails: as gnuplot.c and
// canvas.c do.
#include "plot/region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/draw.h"

#define NOMINAL_WIDTH_2D 1020.0
#define NOMINAL_WIDTH_3D 1500.0
#define NOMINAL_HEIGHT   700.0
#define LEGEND_WIDTH     300.0
#define TOP              76.0
#define BOTTOM           92.0
#define ROW              21.0

double cr_draw_unit(const crPicture* p, const char** name) {
    static const struct {
        double unit;
        const char* name;
    } units[] = {{1e-12, "pN s"}, {1e-9, "nN s"}, {1e-6, "{/Symbol m}N s"},
                 {1e-3, "mN s"},  {1.0, "N s"},   {1e3, "kN s"},
                 {1e6, "MN s"},   {1e9, "GN s"}};
    double size = cr_norm(p->P_I);
    if (p->has_II) size = fmax(size, cr_norm(p->P_II));
    int chosen = 4;
    for (int i = 0; i < 8 && size > 0.0; i++) {
        if (i == 0 || size >= units[i].unit) chosen = i;
    }
    // everyday impulses stay in N s
    if (size >= 5e-3 && size < 5e3) chosen = 4;
    if (name != NULL) *name = units[chosen].name;
    return units[chosen].unit;
}

static void large_font(const crCanvas* canvas, char* style, size_t size) {
    snprintf(style, size, "font ',%.4g'", 1.45 * canvas->plot.font_size);
}

// A title no longer than the sheet is wide, cut between characters.
static void draw_title(crCanvas* canvas, const char* title) {
    char text[160];
    size_t limit = (size_t)fmin(sizeof text - 4.0, canvas->width / 12.0);
    size_t length = strlen(title);
    if (length <= limit) {
        snprintf(text, sizeof text, "%s", title);
    } else {
        while (limit > 0 && ((unsigned char)title[limit] & 0xc0) == 0x80)
            limit--;
        snprintf(text, sizeof text, "%.*s…", (int)limit, title);
    }
    char font[48];
    large_font(canvas, font, sizeof font);
    cr_canvas_plain(canvas, 62.0, canvas->height - 24.0, font, text);
}

static void number(char* text, size_t size, double value) {
    if (isinf(value))
        snprintf(text, size, "∞");
    else
        snprintf(text, size, "%s%.4g", value < 0.0 ? "−" : "", fabs(value));
}

static void draw_subtitle(crCanvas* canvas, const crPicture* p) {
    char mu[32], e[32], et[32], Vn[32], Vt[32], text[256];
    const crContact* c = &p->contact;
    number(mu, sizeof mu, c->mu);
    number(e, sizeof e, c->e);
    number(et, sizeof et, c->et);
    number(Vn, sizeof Vn, c->V.x);
    number(Vt, sizeof Vt, sqrt(c->V.y * c->V.y + c->V.z * c->V.z));
    snprintf(text, sizeof text, "μ = %s     e = %s     e_{t} = %s     V_{n} = %s m/s     |V_{t}| = %s m/s",
             mu, e, et, Vn, Vt);
    cr_canvas_text(canvas, 62.0, canvas->height - 50.0, "left", "textcolor rgb '#4d4d4d'", text);
}

// legend

typedef struct Legend {
    crCanvas* canvas;
    double x, y;  // where the next row starts, y of its middle
} Legend;

static void legend_text(Legend* l, const char* text, const char* style) {
    cr_canvas_text(l->canvas, l->x + 44.0, l->y, "left", style, text);
    l->y -= ROW;
}

static void legend_head(Legend* l, const char* text) {
    cr_canvas_text(l->canvas, l->x, l->y, "left", "textcolor rgb '#4d4d4d'", text);
    l->y -= ROW;
}

// What is to be said about a law besides its name.
static const char* remark(const crLawCurve* curve, bool seen) {
    if (curve->status != CR_OK) return "refused at this e";
    if (curve->hit.regime == CR_REGIME_NO_SOLUTION) return "no solution";
    if (curve->hit.creates_energy) return seen ? "creates energy" : "creates energy, not in view";
    if (!seen) return "not in view";
    if (!curve->hit.permissible) return "not permissible";
    if (curve->hit.regime == CR_REGIME_JAM) return "jam";
    return NULL;
}

// An earlier law with the same answer at the given e, to rounding.
static const char* same_as(const crPicture* p, int index) {
    crVec3 P = p->laws[index].hit.P;
    for (int i = 0; i < index && cr_law_has_point(&p->laws[index]); i++) {
        bool same = cr_norm(cr_sub(P, p->laws[i].hit.P)) <= 1e-9 * cr_norm(P);
        if (same && cr_law_has_point(&p->laws[i])) return p->laws[i].name;
    }
    return NULL;
}

static void legend_law(Legend* l, const crPicture* p, int index, bool seen) {
    const crLawCurve* curve = &p->laws[index];
    const crLawStyle* style = cr_law_style(curve->name);
    char text[128];
    if (!cr_law_is_constant(curve)) {
        snprintf(text, sizeof text, "lc rgb '%s' lw 2.4 dt %d", style->color, style->dash);
        cr_canvas_stroke(l->canvas, l->x, l->y, l->x + 36.0, l->y, text);
    }
    if (cr_law_has_point(curve)) {
        bool outside = !curve->hit.permissible;
        snprintf(text, sizeof text, "lw 1.6 lc rgb '%s'", style->color);
        cr_canvas_symbol(l->canvas, l->x + 18.0, l->y, style->symbol - (outside ? 1 : 0), 1.0, text);
        if (outside) cr_canvas_symbol(l->canvas, l->x + 18.0, l->y, 2, 1.3, text);
    }
    const char* note = remark(curve, seen);
    const char* twin = same_as(p, index);
    if (note != NULL)
        snprintf(text, sizeof text, "%s:  {/:Bold %s}", curve->name, note);
    else if (twin != NULL)
        snprintf(text, sizeof text, "%s (= %s)", curve->name, twin);
    else
        snprintf(text, sizeof text, "%s", curve->name);
    legend_text(l, text, "");
}

static void legend_swatch(Legend* l, const char* fill, const char* text) {
    cr_canvas_swatch(l->canvas, (crBox){l->x, l->y - 7.0, l->x + 36.0, l->y + 7.0}, fill);
    legend_text(l, text, "");
}

static void legend_line(Legend* l, const char* style, const char* text) {
    cr_canvas_stroke(l->canvas, l->x, l->y, l->x + 36.0, l->y, style);
    legend_text(l, text, "");
}

static bool any_outside(const crPicture* p) {
    for (int i = 0; i < p->law_count; i++) {
        if (cr_law_has_point(&p->laws[i]) && !p->laws[i].hit.permissible) return true;
    }
    return false;
}

// left out altogether: refused, and no curve either
static bool left_out(const crLawCurve* curve) { return curve->status != CR_OK && curve->count == 0; }

static void legend_rows(crCanvas* canvas, const crPicture* p, const crSeen* seen) {
    Legend l = {canvas, canvas->width - LEGEND_WIDTH + 22.0, canvas->height - TOP - 6.0};
    char text[96];
    snprintf(text, sizeof text, "laws: curve e = 0 to %.4g, point e = %.4g", fmax(1.0, p->contact.e),
             p->contact.e);
    legend_head(&l, text);
    for (int i = 0; i < p->law_count; i++) {
        if (!left_out(&p->laws[i])) legend_law(&l, p, i, seen->law[i]);
    }
    l.y -= 10.0;
    legend_swatch(&l, "fc rgb '#dedede' fs solid 1 border lc rgb '#000000'", "permissible impulses");
    if (cr_picture_shows(p, "chatterjee-ruina") && p->area_count > 0) {
        legend_swatch(&l, "fc rgb '#0072b2' fs transparent solid 0.22 noborder",
                      "chatterjee-ruina, all e and e_{t}");
    }
    if (p->has_reach) {
        legend_swatch(&l, "fc rgb '" CR_REACH_COLOR "' fs solid 1 noborder", "compliant, all e and η^{2}");
    }
    legend_line(&l, "lc rgb '#4d4d4d' lw 1.8", "energy kept; inside: lost");
    if (cr_picture_shows(p, "routh") && p->path_count > 1) {
        legend_line(&l, "lc rgb '#d55e00' lw 1", "routh, the way there");
    }
    if (any_outside(p)) {
        cr_canvas_symbol(canvas, l.x + 18.0, l.y, 6, 1.0, "lw 1.6 lc rgb '#4d4d4d'");
        cr_canvas_symbol(canvas, l.x + 18.0, l.y, 2, 1.3, "lw 1.6 lc rgb '#4d4d4d'");
        legend_text(&l, "outside the region", "");
    }
    if (seen->ring) {
        cr_canvas_symbol(canvas, l.x + 18.0, l.y, 6, 1.9, "lw 1 lc rgb '#333333'");
        legend_text(&l, "ring: not in the section", "");
    }
    if (p->spatial) {
        l.y -= 10.0;
        legend_swatch(&l, "fc rgb '#9aa7b5' fs solid 1 noborder", "solid: maximum compression");
        legend_swatch(&l, "fc rgb '#e8dec8' fs solid 1 noborder", "solid: friction cone");
        legend_swatch(&l, "fc rgb '#dfe6ec' fs solid 1 noborder", "solid: energy kept");
    }
}

// a panel without axes that holds nothing but the legend's objects
static crStatus draw_legend(crCanvas* canvas, const crPicture* p, const crSeen* seen, crError* error) {
    crBox area = {canvas->width - LEGEND_WIDTH, 0.0, canvas->width, canvas->height};
    crStatus status = cr_canvas_panel(canvas, area, (crBox){0, 0, 1, 1}, false, "", "", error);
    if (status != CR_OK) return status;
    legend_rows(canvas, p, seen);
    cr_canvas_panel_end(canvas);
    return CR_OK;
}

// captions

static void draw_caption(crCanvas* canvas, const crPicture* p) {
    char text[512];
    size_t used = 0;
    for (int i = 0; i < p->law_count; i++) {
        if (!left_out(&p->laws[i])) continue;
        int more = snprintf(text + used, sizeof text - used, "%s%s (%s)", used == 0 ? "not drawn: " : ", ",
                            p->laws[i].name, cr_status_name(p->laws[i].status));
        if (more < 0 || (size_t)more >= sizeof text - used) break;
        used += (size_t)more;
    }
    if (used > 0) cr_canvas_plain(canvas, 62.0, 16.0, "textcolor rgb '#4d4d4d'", text);
}

// Nothing happens: say so where the picture would be.
static crStatus draw_separating(crCanvas* canvas, crError* error) {
    crBox area = {0.0, 0.0, canvas->width, canvas->height};
    crStatus status = cr_canvas_panel(canvas, area, (crBox){0, 0, 1, 1}, false, "", "", error);
    if (status != CR_OK) return status;
    char font[48];
    large_font(canvas, font, sizeof font);
    cr_canvas_text(canvas, 0.5 * canvas->width, 0.55 * canvas->height, "center", font,
                   "The bodies are separating: V_{n} > 0.");
    cr_canvas_text(canvas, 0.5 * canvas->width, 0.55 * canvas->height - 30.0, "center", "",
                   "There is no collision; every law gives P = 0.");
    cr_canvas_panel_end(canvas);
    return CR_OK;
}

static crStatus draw_panels(crCanvas* canvas, const crPicture* p, crError* error) {
    if (p->separating) return draw_separating(canvas, error);
    double left = 78.0;
    double right = canvas->width - LEGEND_WIDTH;
    double middle = 0.5 * (left + right);
    crBox area = {left, BOTTOM, p->spatial ? middle - 10.0 : right, canvas->height - TOP};
    crSeen seen = {0};
    crStatus status = cr_draw_section(canvas, p, area, &seen, error);
    area.x0 = middle + 20.0;
    area.x1 = right - 10.0;
    if (status == CR_OK && p->spatial) status = cr_draw_solid(canvas, p, area, error);
    if (status == CR_OK) status = draw_legend(canvas, p, &seen, error);
    return status;
}

crStatus cr_region_draw(const crPicture* p, const char* title, int width, int height, const char* path,
                        crError* error) {
    double nominal = !p->spatial || p->separating ? NOMINAL_WIDTH_2D : NOMINAL_WIDTH_3D;
    if (width == 0) {
        width = (int)nominal;
        height = (int)NOMINAL_HEIGHT;
    }
    crCanvas* canvas = malloc(sizeof *canvas);
    if (canvas == NULL) return cr_error_set(error, CR_ERR_MEMORY, "", "out of memory");
    crStatus status = cr_canvas_begin(canvas, path, width, height, nominal, NOMINAL_HEIGHT, error);
    if (status == CR_OK) {
        draw_title(canvas, title);
        draw_subtitle(canvas, p);
        draw_caption(canvas, p);
        status = draw_panels(canvas, p, error);
        if (status == CR_OK)
            status = cr_canvas_end(canvas, error);
        else
            cr_gnuplot_abandon(&canvas->plot);
    }
    free(canvas);
    return status;
}
