// solid.c - the permissible region of a spatial collision as a translucent solid, seen from the side.
//
// In the half-plane of azimuth a with coordinates (y, r) along n and d = cos(a) t1 + sin(a) t2 the region is
// bounded, starting from P_I on the n axis, by the plane of maximum compression
//     Wnn y + Wnd r = -Vn,
// the generator r = mu y of the friction cone, and the energy surface
//     Vn y + Vd r + (Wnn y^2 + 2 Wnd y r + Wdd r^2)/2 = 0
// back to 2 P_I. Where the plane meets the energy surface inside the cone there is no cone piece. The edges
// between the pieces are therefore points of the mesh. Source: Chatterjee and Ruina 1998, sections 3.1, 3.2.
// Parallel projection; back, floor, front, each translucent. At Vn = 0 P_I is the origin and there is no such
// fan: the triangles of cr_region_mesh are drawn instead.
#include <math.h>
#include <stdlib.h>

#include "carom/region.h"
#include "plot/draw.h"

#define FANS  96          // half-planes
#define DOME  12          // steps on the energy surface; the other pieces are straight
#define LOWER 1           // index of the edge between compression and cone
#define UPPER 2           // index of the edge between cone and energy surface
#define RING  (3 + DOME)  // points of a half-plane's boundary

#define LEVEL     2  // of cr_region_mesh
#define VERTICES  162
#define TRIANGLES 320

typedef struct Solid {
    crCanvas* canvas;
    const crPicture* p;
    crProjection view;
    crVec3 mesh[FANS][RING];
    bool has_mesh;
    int triangle_count;  // where there is no mesh of half-planes
    crVec3 vertex[VERTICES];
    int triangle[TRIANGLES][3];
    crVec3 side;  // out of the section
    double axis;  // length of the tangential axes, in units of the panel
} Solid;

// W and V in one half-plane.
typedef struct Fan {
    crVec3 d;
    double Wnn, Wnd, Wdd, Vn, Vd;
    double y0;     // n.P_I
    double reach;  // where an unbounded region is cut off
} Fan;

static crVec3 fan_point(const Fan* f, double y, double r) { return cr_madd(cr_vec3(y, 0, 0), r, f->d); }

// Positive root of a r^2 + b r + c = 0 for a >= 0, c < 0; INFINITY where there is none.
static double positive_root(double a, double b, double c) {
    double root = sqrt(b * b - 4.0 * a * c);
    double denominator = b + root;
    // -2c/(b + root) does not cancel for b > 0; for b < 0 the other form does not
    if (b > 0.0) return -2.0 * c / denominator;
    return a > 0.0 ? (root - b) / (2.0 * a) : (double)INFINITY;
}

// End of the compression piece: on the cone (true) or on the energy surface (false).
static bool bottom_end(const Fan* f, double mu, double* y, double* r) {
    double k = f->Wnd / f->Wnn;
    double energy =
        positive_root(0.5 * (f->Wdd - f->Wnd * k), f->Vd + f->Wnd * f->y0, -0.5 * f->Wnn * f->y0 * f->y0);
    double slope = isinf(mu) ? k : 1.0 / mu + k;
    double cone = mu == 0.0 ? 0.0 : slope > 0.0 ? f->y0 / slope : (double)INFINITY;
    *r = fmin(fmin(energy, cone), f->reach);
    *y = f->y0 - k * *r;
    return cone < energy;
}

// Where the cone's generator (a, b) leaves the energy surface, from the point (y, r) on it.
static void cone_end(const Fan* f, double mu, double* y, double* r) {
    double a = isinf(mu) ? 0.0 : 1.0 / sqrt(1.0 + mu * mu);
    double b = isinf(mu) ? 1.0 : mu / sqrt(1.0 + mu * mu);
    double quadratic = f->Wnn * a * a + 2.0 * f->Wnd * a * b + f->Wdd * b * b;
    double s = -2.0 * (f->Vn * a + f->Vd * b) / quadratic;
    double from = hypot(*y, *r);
    s = quadratic > 0.0 ? fmin(fmax(s, from), f->reach) : fmax(from, f->reach);
    *y = s * a;
    *r = s * b;
}

// The energy surface on the ray from 1.5 P_I in the direction (a, b).
static crVec3 energy_point(const Fan* f, double a, double b) {
    double y = 1.5 * f->y0;
    double quadratic = 0.5 * (f->Wnn * a * a + 2.0 * f->Wnd * a * b + f->Wdd * b * b);
    double linear = a * (f->Vn + f->Wnn * y) + b * (f->Vd + f->Wnd * y);
    double s = fmin(positive_root(quadratic, linear, f->Vn * y + 0.5 * f->Wnn * y * y), f->reach);
    return fan_point(f, y + s * a, s * b);
}

static void fan_compute(const Fan* f, double mu, crVec3 ring[RING]) {
    double y1 = 0.0;
    double r1 = 0.0;
    bool cone = bottom_end(f, mu, &y1, &r1);
    double y2 = y1;
    double r2 = r1;
    if (cone) cone_end(f, mu, &y2, &r2);
    // directions from 1.5 P_I to the upper edge and to 2 P_I
    double middle = 1.5 * f->y0;
    double angle = cr_atan2(r2, y2 - middle);
    ring[0] = fan_point(f, f->y0, 0.0);
    ring[LOWER] = fan_point(f, y1, r1);
    ring[UPPER] = fan_point(f, y2, r2);
    for (int i = 1; i <= DOME; i++) {
        double left = angle * (DOME - i) / DOME;
        ring[UPPER + i] = energy_point(f, cr_cos(left), cr_sin(left));
    }
}

static void mesh_compute(Solid* s) {
    const crContact* c = &s->p->contact;
    s->has_mesh = s->p->has_I && s->p->P_I.x > 0.0 && c->W.xx > 0.0;
    if (!s->has_mesh) {
        if (cr_region_mesh(c, LEVEL, s->vertex, s->triangle)) s->triangle_count = TRIANGLES;
        return;
    }
    for (int j = 0; j < FANS; j++) {
        double azimuth = s->p->azimuth + 2.0 * CR_PI * j / FANS;
        Fan f = {.d = cr_vec3(0, cr_cos(azimuth), cr_sin(azimuth)), .Wnn = c->W.xx, .Vn = c->V.x};
        crVec3 Wd = cr_sym3_mul(c->W, f.d);
        f.Wnd = Wd.x;
        f.Wdd = cr_dot(f.d, Wd);
        f.Vd = cr_dot(f.d, c->V);
        f.y0 = s->p->P_I.x;
        f.reach = 4.0 * (2.0 * f.y0 + (s->p->has_II ? cr_norm(s->p->P_II) : 0.0));
        fan_compute(&f, c->mu, s->mesh[j]);
    }
}

// view: the section's direction points right and slightly to the reader, n up

static crProjection view_of(const crPicture* p) {
    const double turn = -35.0 * CR_PI / 180.0;
    const double rise = 18.0 * CR_PI / 180.0;
    crVec3 n = cr_vec3(1, 0, 0);
    crVec3 q = cr_cross(p->d, n);
    crVec3 right = cr_add(cr_scale(cr_cos(turn), p->d), cr_scale(cr_sin(turn), q));
    crVec3 towards = cr_sub(cr_scale(cr_cos(turn), q), cr_scale(cr_sin(turn), p->d));
    crVec3 out = cr_add(cr_scale(cr_cos(rise), towards), cr_scale(cr_sin(rise), n));
    return (crProjection){cr_draw_unit(p, NULL), right, cr_cross(out, right), out};
}

static crBox box_of(Solid* s) {
    crBox box = cr_box_empty();
    cr_box_add(&box, (crPoint2){0, 0});
    const crPicture* p = s->p;
    for (int j = 0; j < FANS && s->has_mesh; j++) {
        for (int i = 0; i < RING; i++)
            cr_box_add(&box, cr_project(&s->view, s->mesh[j][i]));
    }
    for (int i = 0; i < VERTICES && s->triangle_count > 0; i++)
        cr_box_add(&box, cr_project(&s->view, s->vertex[i]));
    double size = hypot(box.x1 - box.x0, box.y1 - box.y0);
    for (int i = 0; i < p->law_count; i++) {
        crPoint2 at = cr_project(&s->view, p->laws[i].hit.P);
        if (cr_law_has_point(&p->laws[i]) && hypot(at.x, at.y) < 1.5 * size) cr_box_add(&box, at);
    }
    if (p->has_II && (!(size > 0.0) || cr_norm(p->P_II) / s->view.unit < 1.5 * size)) {
        cr_box_add(&box, cr_project(&s->view, p->P_II));
    }
    size = hypot(box.x1 - box.x0, box.y1 - box.y0);
    if (!(size > 0.0)) return (crBox){-1, -1, 1, 1};
    s->axis = 0.3 * size;
    cr_box_add(&box, cr_project(&s->view, cr_scale(s->axis * s->view.unit, p->d)));
    cr_box_add(&box, cr_project(&s->view, cr_scale(s->axis * s->view.unit, s->side)));
    double pad = 0.08 * size;
    return (crBox){box.x0 - pad, box.y0 - pad, box.x1 + pad, box.y1 + pad};
}

// Faces of one colour seen from one side need no order: strips of them, three half-planes wide, are filled
// at once.

static bool faces_reader(const Solid* s, int fan, int i) {
    const crVec3* here = s->mesh[fan];
    const crVec3* next = s->mesh[(fan + 3) % FANS];
    crVec3 normal = cr_cross(cr_sub(next[i + 1], here[i]), cr_sub(here[i + 1], next[i]));
    return cr_dot(normal, s->view.out) < 0.0;
}

// rows i0 to i1 over three half-planes
static void fill_strip(const Solid* s, int fan, int i0, int i1, const char* style) {
    const crVec3* one = s->mesh[fan + 1];
    const crVec3* two = s->mesh[fan + 2];
    const crVec3* next = s->mesh[(fan + 3) % FANS];
    crPoint2 corners[2 * RING + 4];
    int count = 0;
    for (int i = i0; i <= i1; i++)
        corners[count++] = cr_project(&s->view, s->mesh[fan][i]);
    corners[count++] = cr_project(&s->view, one[i1]);
    corners[count++] = cr_project(&s->view, two[i1]);
    for (int i = i1; i >= i0; i--)
        corners[count++] = cr_project(&s->view, next[i]);
    corners[count++] = cr_project(&s->view, two[i0]);
    corners[count++] = cr_project(&s->view, one[i0]);
    cr_canvas_fill(s->canvas, corners, count, style);
}

static void fill_floor(const Solid* s) {
    crPoint2 corners[FANS];
    for (int j = 0; j < FANS; j++)
        corners[j] = cr_project(&s->view, s->mesh[j][LOWER]);
    cr_canvas_fill(s->canvas, corners, FANS, "fc rgb '#9aa7b5' fs transparent solid 0.6 noborder");
}

static void fill_sides(const Solid* s, bool front) {
    const char* cone = front ? "fc rgb '#d9c8a3' fs transparent solid 0.3 noborder"
                             : "fc rgb '#d9c8a3' fs transparent solid 0.45 noborder";
    const char* dome = front ? "fc rgb '#c9d6df' fs transparent solid 0.3 noborder"
                             : "fc rgb '#c9d6df' fs transparent solid 0.45 noborder";
    for (int j = 0; j < FANS; j += 3) {
        if (faces_reader(s, j, LOWER) == front) fill_strip(s, j, LOWER, UPPER, cone);
        for (int i = UPPER; i + 1 < RING;) {
            int end = i;
            while (end + 1 < RING && faces_reader(s, j, end) == front)
                end++;
            if (end > i) fill_strip(s, j, i, end, dome);
            i = end > i ? end : i + 1;
        }
    }
}

// an edge of the solid or a line of the mesh
static void draw_ring(const Solid* s, int index, const char* style) {
    crPoint2 points[FANS + 1];
    for (int j = 0; j <= FANS; j++)
        points[j] = cr_project(&s->view, s->mesh[j % FANS][index]);
    cr_canvas_line(s->canvas, points, FANS + 1, style);
}

static void draw_meridian(const Solid* s, int fan, const char* style) {
    crPoint2 points[RING];
    for (int i = 0; i < RING; i++)
        points[i] = cr_project(&s->view, s->mesh[fan][i]);
    cr_canvas_line(s->canvas, points, RING, style);
}

static void draw_region(const Solid* s) {
    fill_sides(s, false);
    fill_floor(s);
    fill_sides(s, true);
    for (int j = 0; j < FANS; j += FANS / 12)
        draw_meridian(s, j, "lc rgb '#8c8c8c' lw 0.5");
    draw_ring(s, UPPER + DOME / 2, "lc rgb '#8c8c8c' lw 0.5");
    draw_ring(s, LOWER, "lc rgb '#222222' lw 1.3");
    draw_ring(s, UPPER, "lc rgb '#222222' lw 1.3");
    // the section that the other panel shows
    draw_meridian(s, 0, "lc rgb '#000000' lw 1.3");
    draw_meridian(s, FANS / 2, "lc rgb '#000000' lw 1.3");
}

static void draw_triangles(const Solid* s) {
    for (int front = 0; front <= 1; front++) {
        for (int i = 0; i < s->triangle_count; i++) {
            crPoint2 p[4];
            for (int k = 0; k < 3; k++)
                p[k] = cr_project(&s->view, s->vertex[s->triangle[i][k]]);
            p[3] = p[0];
            double turn = (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[1].y - p[0].y) * (p[2].x - p[0].x);
            if ((turn > 0.0) != (front == 1)) continue;
            cr_canvas_fill(s->canvas, p, 3, "fc rgb '#c9d6df' fs transparent solid 0.35 noborder");
            if (front == 1) cr_canvas_line(s->canvas, p, 4, "lc rgb '#8c8c8c' lw 0.4");
        }
    }
}

// generators of the friction cone from O to the lower edge of the region
static void draw_cone(const Solid* s) {
    for (int j = 0; j < FANS && s->has_mesh; j += FANS / 12) {
        crPoint2 ends[2] = {{0, 0}, cr_project(&s->view, s->mesh[j][LOWER])};
        cr_canvas_line(s->canvas, ends, 2, "lc rgb '#a08040' lw 0.7");
    }
}

static void draw_axis(const Solid* s, crVec3 direction, double length, const char* name, int chars) {
    crPoint2 ends[2] = {{0, 0}, cr_project(&s->view, cr_scale(length * s->view.unit, direction))};
    cr_canvas_line(s->canvas, ends, 2, "lc rgb '#4d4d4d' lw 1");
    cr_canvas_label_point(s->canvas, ends[1], name, chars, "textcolor rgb '#4d4d4d'");
}

static void draw_axes(const Solid* s) {
    const crBox* v = &s->canvas->view;
    double length = 0.92 * v->y1 / s->view.up.x;
    draw_axis(s, cr_vec3(1, 0, 0), fmax(length, 0.0), "P_{n}", 2);
    draw_axis(s, s->p->d, s->axis, "P_{t}  of the section", 17);
    draw_axis(s, s->side, s->axis, "across", 6);
}

static void draw_path(const Solid* s) {
    if (!cr_picture_shows(s->p, "routh") || s->p->path_count < 2) return;
    crPoint2 points[CR_PICTURE_PATH];
    for (int i = 0; i < s->p->path_count; i++)
        points[i] = cr_project(&s->view, s->p->path[i]);
    cr_canvas_line(s->canvas, points, s->p->path_count, "lc rgb '#d55e00' lw 1");
}

crStatus cr_draw_solid(crCanvas* canvas, const crPicture* p, crBox area, crError* error) {
    Solid* s = malloc(sizeof *s);
    if (s == NULL) return cr_error_set(error, CR_ERR_MEMORY, "", "out of memory");
    *s = (Solid){.canvas = canvas, .p = p, .view = view_of(p), .axis = 1.0};
    s->side = cr_cross(p->d, cr_vec3(1, 0, 0));
    mesh_compute(s);
    crStatus status = cr_canvas_panel(canvas, area, box_of(s), false, "", "", error);
    if (status == CR_OK) {
        draw_cone(s);
        if (s->has_mesh) draw_region(s);
        draw_triangles(s);
        draw_axes(s);
        draw_path(s);
        cr_draw_laws(canvas, p, &s->view, false);
        cr_draw_points(canvas, p, &s->view);
        cr_canvas_panel_end(canvas);
    }
    free(s);
    return status;
}
