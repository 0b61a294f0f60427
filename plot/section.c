// section.c - the plane of impulse space through n and P_II: for planar collisions, all of it.
//
// Horizontal x = P.d, vertical y = P.n, where d is t1 for planar collisions and the direction of P_II's
// tangential part otherwise. With W and V restricted to (n, d):
//     energy kept      Vn y + Vd x + (Wnn y^2 + 2 Wnd x y + Wdd x^2)/2 = 0   (ellipse, parabola or two lines)
//     max. compression Wnn y + Wnd x = -Vn,       e = 1: the same with -2 Vn
//     sticking         Wnd y + Wdd x = -Vd,       reversal: the same with -2 Vd
// Source: Chatterjee and Ruina 1998, section 3.3 and figures 3 to 9. In a spatial collision the two last are
// the projections of the lines P_II + s W^-1 n and 2 P_II + s W^-1 n, and law points are projected.
#include <math.h>
#include <string.h>

#include "carom/region.h"
#include "plot/draw.h"

typedef struct Section {
    crCanvas* canvas;
    const crPicture* p;
    crProjection view;
    double Wnn, Wnd, Wdd;
    double Vn, Vd;  // over the unit of the axes
} Section;

#define GEOMETRY      "#4d4d4d"
#define ELLIPSE_STEPS 120

static Section section_of(crCanvas* canvas, const crPicture* p) {
    const crSym3* W = &p->contact.W;
    crVec3 n = cr_vec3(1, 0, 0);
    Section s = {.canvas = canvas, .p = p};
    s.view = (crProjection){cr_draw_unit(p, NULL), p->d, n, cr_cross(p->d, n)};
    s.Wnn = W->xx;
    s.Wnd = cr_dot(n, cr_sym3_mul(*W, p->d));
    s.Wdd = cr_sym3_quad(*W, p->d);
    s.Vn = p->contact.V.x / s.view.unit;
    s.Vd = cr_dot(p->d, p->contact.V) / s.view.unit;
    return s;
}

// what is to be seen

static double diagonal(const crBox* box) { return hypot(box->x1 - box->x0, box->y1 - box->y0); }

// Adds p unless the box would grow beyond limit times the size.
static void include(crBox* box, double size, double limit, crPoint2 p) {
    crBox larger = *box;
    cr_box_add(&larger, p);
    if (diagonal(&larger) <= limit * size) *box = larger;
}

typedef struct Ellipse {
    crPoint2 long_axis, short_axis;  // unit eigenvectors of W in the section
    double l1, l2;                   // eigenvalues, l1 <= l2
    double b1, b2;                   // V along them
    double from, to;                 // where it is along the long axis; infinite where W is singular
} Ellipse;

static bool ellipse_of(const Section* s, Ellipse* q) {
    double mean = 0.5 * (s->Wnn + s->Wdd);
    double half = hypot(0.5 * (s->Wdd - s->Wnn), s->Wnd);
    q->l2 = mean + half;
    if (!(q->l2 > 0.0)) return false;
    q->l1 = fmax(0.0, (s->Wnn * s->Wdd - s->Wnd * s->Wnd) / q->l2);
    if (q->l1 < 1e-13 * q->l2) q->l1 = 0.0;
    double angle = 0.5 * cr_atan2(2.0 * s->Wnd, s->Wdd - s->Wnn);
    q->short_axis = (crPoint2){cr_cos(angle), cr_sin(angle)};
    q->long_axis = (crPoint2){-q->short_axis.y, q->short_axis.x};
    q->b1 = q->long_axis.x * s->Vd + q->long_axis.y * s->Vn;
    q->b2 = q->short_axis.x * s->Vd + q->short_axis.y * s->Vn;
    if (fabs(q->b1) < 1e-13 * fabs(q->b2)) q->b1 = 0.0;
    // l1 x^2 + 2 b1 x - b2^2/l2 = 0, in a form that stays good as l1 vanishes
    double free_term = q->b2 * q->b2 / q->l2;
    double r = -(q->b1 + copysign(sqrt(q->b1 * q->b1 + q->l1 * free_term), q->b1));
    if (r == 0.0) {
        q->from = -INFINITY;
        q->to = INFINITY;
        return free_term > 0.0;
    }
    q->from = fmin(r / q->l1, -free_term / r);
    q->to = fmax(r / q->l1, -free_term / r);
    return true;
}

static crPoint2 ellipse_point(const Ellipse* q, double along, int side) {
    double under = q->b2 * q->b2 - q->l2 * along * (q->l1 * along + 2.0 * q->b1);
    double across = (-q->b2 + side * sqrt(fmax(0.0, under))) / q->l2;
    return (crPoint2){along * q->long_axis.x + across * q->short_axis.x,
                      along * q->long_axis.y + across * q->short_axis.y};
}

static void include_ellipse(const Section* s, crBox* box, double size) {
    Ellipse q;
    if (!ellipse_of(s, &q) || isinf(q.from) || isinf(q.to)) return;
    crBox whole = *box;
    for (int i = 0; i <= 64; i++) {
        double along = q.from + (q.to - q.from) * 0.5 * (1.0 - cr_cos(CR_PI * i / 64.0));
        cr_box_add(&whole, ellipse_point(&q, along, 1));
        cr_box_add(&whole, ellipse_point(&q, along, -1));
    }
    if (diagonal(&whole) <= 1.9 * size) *box = whole;
}

static crBox box_of(const Section* s) {
    const crPicture* p = s->p;
    crBox box = cr_box_empty();
    cr_box_add(&box, (crPoint2){0, 0});
    if (p->has_I) cr_box_add(&box, cr_project(&s->view, cr_scale(2.0, p->P_I)));
    crPoint2 P_II = p->has_II ? cr_project(&s->view, p->P_II) : (crPoint2){0, 0};
    double size = fmax(diagonal(&box), hypot(P_II.x, P_II.y));
    for (int i = 0; i < p->section_count; i++)
        include(&box, size, 4.0, cr_project(&s->view, p->section[i]));
    include(&box, fmax(size, diagonal(&box)), 2.5, P_II);
    size = diagonal(&box);
    if (!(size > 0.0)) return (crBox){-1.0, -1.0, 1.0, 1.0};
    for (int i = 0; i < p->law_count; i++) {
        if (cr_law_has_point(&p->laws[i])) include(&box, size, 1.4, cr_project(&s->view, p->laws[i].hit.P));
    }
    if (cr_picture_has_wish(p)) include(&box, size, 1.4, cr_project(&s->view, p->impact->params.wish));
    if (p->has_II) include(&box, size, 1.7, (crPoint2){2.0 * P_II.x, 2.0 * P_II.y});
    include_ellipse(s, &box, fmax(size, diagonal(&box) / 1.3));
    double pad = 0.06 * diagonal(&box);
    return (crBox){box.x0 - pad, box.y0 - pad, box.x1 + pad, box.y1 + pad};
}

// drawing

static int project_all(const Section* s, const crVec3* P, int count, crPoint2* points) {
    for (int i = 0; i < count; i++)
        points[i] = cr_project(&s->view, P[i]);
    return count;
}

// The compliant law's set in strips over two steps of stiffness each, so that none leaves a seam. Opaque, since
// strips lie on each other.
static void draw_reach(const Section* s) {
    static const char style[] = "fc rgb '" CR_REACH_COLOR "' fs solid 1 noborder";
    const crPicture* p = s->p;
    for (int i = 0; i + 1 < CR_REACH_STIFF && p->has_reach; i++) {
        crPoint2 near[CR_REACH_E], strip[2 * CR_REACH_E];
        int next = i + 2 < CR_REACH_STIFF ? i + 2 : i + 1;
        int run = 0;
        for (int k = 0; k <= CR_REACH_E; k++) {
            bool there = k < CR_REACH_E && !isnan(p->reach[i][k].x + p->reach[next][k].x);
            if (there) {
                near[run] = cr_project(&s->view, p->reach[i][k]);
                strip[run++] = cr_project(&s->view, p->reach[next][k]);
                continue;
            }
            for (int j = 0; j < run; j++)
                strip[run + j] = near[run - 1 - j];
            if (run > 1) cr_canvas_fill(s->canvas, strip, 2 * run, style);
            run = 0;
        }
    }
}

static void draw_region(const Section* s) {
    crPoint2 points[CR_PICTURE_SECTION + 1];
    int count = project_all(s, s->p->section, s->p->section_count, points);
    cr_canvas_fill(s->canvas, points, count, "fc rgb '#dedede' fs solid 1 noborder");
    draw_reach(s);
    crPoint2 area[CR_PICTURE_STEPS + 4];
    if (cr_picture_shows(s->p, "chatterjee-ruina") && s->p->area_count > 0) {
        int corners = project_all(s, s->p->area, s->p->area_count, area);
        cr_canvas_fill(s->canvas, area, corners, "fc rgb '#0072b2' fs transparent solid 0.22 noborder");
        // at grazing the area is no more than a line
        area[corners] = area[0];
        cr_canvas_line(s->canvas, area, corners + 1, "lc rgb '#0072b2' lw 0.7");
    }
    if (count < 3) return;
    points[count] = points[0];
    cr_canvas_line(s->canvas, points, count + 1, "lc rgb '#000000' lw 1.1");
}

static void draw_ellipse(const Section* s) {
    Ellipse q;
    if (!ellipse_of(s, &q)) return;
    // the part along the long axis that can be in view
    const crBox* view = &s->canvas->view;
    double lo = INFINITY;
    double hi = -INFINITY;
    for (int k = 0; k < 4; k++) {
        double along =
            (k & 1 ? view->x0 : view->x1) * q.long_axis.x + (k & 2 ? view->y0 : view->y1) * q.long_axis.y;
        lo = fmin(lo, along);
        hi = fmax(hi, along);
    }
    double from = fmax(q.from, lo);
    double to = fmin(q.to, hi);
    if (!(from < to)) return;
    crPoint2 points[ELLIPSE_STEPS + 1];
    for (int side = -1; side <= 1; side += 2) {
        for (int i = 0; i <= ELLIPSE_STEPS; i++) {
            double along = from + (to - from) * 0.5 * (1.0 - cr_cos(CR_PI * i / ELLIPSE_STEPS));
            points[i] = ellipse_point(&q, along, side);
        }
        cr_canvas_line(s->canvas, points, ELLIPSE_STEPS + 1, "lc rgb '" GEOMETRY "' lw 1.8");
    }
}

// A straight line of the picture: a x + b y = k, how it is drawn and what it is called.
typedef struct Line {
    double a, b, k;
    const char* style;
    const char* text;
    int chars;
    bool half;  // only above O (the friction lines)
} Line;

#define MAX_LINES 8

static int lines_of(const Section* s, Line* lines) {
    int count = 0;
    double mu = s->p->contact.mu;
    lines[count++] = (Line){s->Wnd, s->Wnn, -s->Vn, "lw 1.3 dt 1", "maximum compression", 19, false};
    lines[count++] = (Line){s->Wnd, s->Wnn, -2.0 * s->Vn, "lw 1.1 dt 2", "e = 1", 5, false};
    // P_II + s W^-1 n seen along the section; in the plane that is V_t+ = 0
    double a = s->Wdd;
    double b = s->Wnd;
    double k = -s->Vd;
    crLine line;
    if (s->p->spatial && cr_impulse_sticking_line(&s->p->contact, &line)) {
        crPoint2 point = cr_project(&s->view, line.point);
        a = line.direction.x;
        b = -cr_dot(s->p->d, line.direction);
        k = a * point.x + b * point.y;
    }
    lines[count++] = (Line){a, b, k, "lw 1.3 dt 4", "sticking", 8, false};
    lines[count++] = (Line){a, b, 2.0 * k, "lw 1.1 dt 3", "reversal", 8, false};
    if (isinf(mu)) {
        lines[count++] = (Line){0, 1, 0, "lw 1.3 dt 1", "friction, μ = ∞", 15, false};
        return count;
    }
    lines[count++] =
        (Line){1, -mu, 0, "lw 1.3 dt 1", mu > 0.0 ? "friction" : "friction, μ = 0", mu > 0.0 ? 8 : 15, true};
    if (mu > 0.0) lines[count++] = (Line){1, mu, 0, "lw 1.3 dt 1", "friction", 8, true};
    return count;
}

static bool line_ends(const Section* s, const Line* line, crPoint2 ends[2]) {
    if (!cr_canvas_clip(s->canvas, line->a, line->b, line->k, ends)) return false;
    if (!line->half) return true;
    int lower = ends[0].y < ends[1].y ? 0 : 1;
    if (ends[1 - lower].y <= 0.0) return false;
    if (ends[lower].y < 0.0) ends[lower] = (crPoint2){0, 0};
    return true;
}

static void draw_lines(const Section* s, const Line* lines, int count) {
    for (int i = 0; i < count; i++) {
        crPoint2 ends[2];
        if (!line_ends(s, &lines[i], ends)) continue;
        char style[96];
        snprintf(style, sizeof style, "lc rgb '" GEOMETRY "' %s", lines[i].style);
        cr_canvas_line(s->canvas, ends, 2, style);
    }
}

// Two lines that cannot be told apart on the sheet.
static bool coincide(const Section* s, const Line* a, const Line* b) {
    crPoint2 p[2];
    crPoint2 q[2];
    if (!line_ends(s, a, p) || !line_ends(s, b, q)) return false;
    for (int i = 0; i < 2; i++) {
        double nearest =
            fmin(hypot(p[i].x - q[0].x, p[i].y - q[0].y), hypot(p[i].x - q[1].x, p[i].y - q[1].y));
        if (nearest * s->canvas->scale > 2.0) return false;
    }
    return true;
}

// Each line once, by all of its names.
static void label_lines(const Section* s, const Line* lines, int count) {
    bool named[MAX_LINES] = {false};
    bool friction = false;
    for (int i = 0; i < count; i++) {
        crPoint2 ends[2];
        // one label is enough for the two friction lines
        if (named[i] || (friction && lines[i].half) || !line_ends(s, &lines[i], ends)) continue;
        char text[160];
        int chars = lines[i].chars;
        snprintf(text, sizeof text, "%s", lines[i].text);
        for (int k = i + 1; k < count; k++) {
            if (named[k] || !coincide(s, &lines[i], &lines[k])) continue;
            named[k] = true;
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, ", %s", lines[k].text);
            chars += lines[k].chars + 2;
        }
        bool done = cr_canvas_label_line(s->canvas, ends, text, chars, "textcolor rgb '" GEOMETRY "'");
        friction = friction || (done && lines[i].half);
    }
}

static void draw_path(const Section* s) {
    if (!cr_picture_shows(s->p, "routh") || s->p->path_count < 2) return;
    crPoint2 points[CR_PICTURE_PATH];
    int count = project_all(s, s->p->path, s->p->path_count, points);
    cr_canvas_line(s->canvas, points, count, "lc rgb '#d55e00' lw 1 dt 1");
}

// How the parametrizations of the region come to their points: along a ray from the centroid.
static void draw_center(const Section* s) {
    const crPicture* p = s->p;
    if (!p->has_center) return;
    crPoint2 center = cr_project(&s->view, p->center);
    const crLawCurve* spherical = cr_picture_law(p, "spherical");
    if (spherical != NULL && p->impact->params.rho > 0.0) {
        crPoint2 ray[2] = {center, cr_project(&s->view, spherical->hit.P)};
        cr_canvas_line(s->canvas, ray, 2, "lc rgb '#aa4499' lw 1.2");
    }
    if (cr_picture_has_wish(p)) {
        crPoint2 ray[2] = {center, cr_project(&s->view, p->impact->params.wish)};
        cr_canvas_line(s->canvas, ray, 2, "lc rgb '#661100' lw 1.2");
        cr_canvas_mark(s->canvas, ray[1], 6.0, 1, 1.0, "lw 1.6 lc rgb '#661100'");
    }
    cr_canvas_mark(s->canvas, center, 6.0, 1, 1.0, "lw 1.6 lc rgb '#000000'");
}

static void label_center(const Section* s) {
    if (!s->p->has_center) return;
    cr_canvas_label_point(s->canvas, cr_project(&s->view, s->p->center), "centroid", 8, "");
    if (!cr_picture_has_wish(s->p)) return;
    cr_canvas_label_point(s->canvas, cr_project(&s->view, s->p->impact->params.wish), "wish", 4, "");
}

crStatus cr_draw_section(crCanvas* canvas, const crPicture* p, crBox area, crSeen* seen, crError* error) {
    Section s = section_of(canvas, p);
    const char* unit = NULL;
    cr_draw_unit(p, &unit);
    char x_label[96];
    char y_label[96];
    snprintf(x_label, sizeof x_label, "tangential impulse P_{t}%s  (%s)",
             p->spatial ? " in the plane of n and P_{II}" : "", unit);
    snprintf(y_label, sizeof y_label, "normal impulse P_{n}  (%s)", unit);
    crStatus status = cr_canvas_panel(canvas, area, box_of(&s), true, x_label, y_label, error);
    if (status != CR_OK) return status;

    for (int i = 0; i < p->law_count; i++) {
        crPoint2 at = cr_project(&s.view, p->laws[i].hit.P);
        seen->law[i] = cr_law_has_point(&p->laws[i]) && cr_box_has(&canvas->view, at);
    }
    Line lines[MAX_LINES];
    int count = lines_of(&s, lines);
    draw_region(&s);
    draw_ellipse(&s);
    draw_lines(&s, lines, count);
    draw_path(&s);
    draw_center(&s);
    seen->ring = cr_draw_laws(canvas, p, &s.view, p->spatial);
    cr_draw_points(canvas, p, &s.view);
    label_center(&s);
    label_lines(&s, lines, count);
    cr_canvas_panel_end(canvas);
    return CR_OK;
}
