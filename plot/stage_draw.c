// stage_draw.c - light, shadows and outlines of a picture in perspective.
//
// The light is the page's: a sun and a sky, so that with the unit normal n a face sends back
//     color (SUN max(0, n.sun) + SKY (1 + n.sky)/2 + EARTH (1 - n.sky)/2)
// in linear colours. Curves of equal light on a ball are circles about the direction SUN sun + (SKY - EARTH)/2 sky, so that a
// ball is drawn as caps about it, one inside the other. A shadow is the outline of a piece, thrown along the sun on
// sheets and on faces of fixed pieces that look up. Fails: what finds no memory is not drawn.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot/faces.h"
#include "plot/flat.h"
#include "plot/stage.h"

#define SUN       0.605
#define SKY       0.700
#define EARTH     0.223
#define SHADE     0.16    // opacity of a shadow
#define SHADOWED  400     // pieces that throw shadows; more throw none
#define UPWARD    0.9     // cosine between the sky and a face that takes shadows
#define LEAST     12      // segments of round pieces, at least
#define LENGTH    9.0     // pixels of a segment, about
#define CIRCLE    40      // points of a ball's outline
#define STRIPE    0.2945  // half of a stripe's width on a ball, rad
#define DARKER    0.35    // opacity of a stripe
#define SHEET     4.0     // half the side of a sheet, of the scene's radius
#define WALL      1.0     // the same for what stands upright
#define DIVISIONS 16      // of a sheet's grid, on each side of its middle

static double shade_of(const crCamera* c, crVec3 n) {
    double up = cr_dot(n, c->sky);
    return SUN * fmax(0.0, cr_dot(n, c->sun)) + 0.5 * SKY * (1.0 + up) + 0.5 * EARTH * (1.0 - up);
}

static crPen pen_of(const crPiece* piece, double shade) {
    unsigned color = 0;
    for (int k = 0; k < 3; k++) {
        double bright = pow(fmin(1.0, piece->rgb[k] * shade), 1.0 / 2.2);
        color = color << 8 | (unsigned)(255.0 * bright + 0.5);
    }
    return (crPen){.fill = CR_INK_GROUND, .alpha = piece->alpha, .color = 0x1000000U | color};
}

// a convex polygon in pixels, cut at the panel
static void put_polygon(const crStage* s, const double (*points)[2], size_t count, crPen pen) {
    double(*closed)[2] = malloc((2 * count + 9) * sizeof *closed);
    if (closed == NULL) return;
    size_t n = count >= 3 ? cr_flat_clip(s->panel, points, count, closed) : 0;
    if (n >= 3) cr_sheet_path(s->sheet, (const double(*)[2])closed, n, pen);
    free(closed);
}

static void put_outline(const crStage* s, double (*points)[2], size_t count, crPen pen) {
    double(*hull)[2] = malloc((2 * count + 2) * sizeof *hull);
    if (hull == NULL) return;
    size_t n = cr_flat_outline(points, count, hull);
    put_polygon(s, (const double(*)[2])hull, n, pen);
    free(hull);
}

// two unit vectors across a third
static void across(crVec3 n, crVec3* a, crVec3* b) {
    crVec3 other = fabs(n.z) < 0.7 ? cr_vec3(0.0, 0.0, 1.0) : cr_vec3(1.0, 0.0, 0.0);
    *a = cr_cross(other, n);
    *a = cr_scale(1.0 / cr_norm(*a), *a);
    *b = cr_cross(n, *a);
}

typedef struct Ball {
    crVec3 centre;
    double r;
    crVec3 eye;  // unit: from the centre to the eye
} Ball;

static void ball_pixel(const crStage* s, const Ball* b, crVec3 n, double out[2]) {
    cr_camera_pixel(&s->camera, cr_madd(b->centre, b->r, n), out);
}

// the normal itself if the eye sees it, else the nearest one on the ball's edge
static crVec3 seen_normal(const Ball* b, crVec3 n) {
    double toward = cr_dot(n, b->eye);
    if (toward >= 0.0) return n;
    crVec3 edge = cr_madd(n, -toward, b->eye);
    double size = cr_norm(edge);
    return size > 1e-9 ? cr_scale(1.0 / size, edge) : edge;
}

// the part of a ball whose normals n have n.axis >= least
static void draw_cap(const crStage* s, const Ball* b, crVec3 axis, double least, crPen pen) {
    double points[2 * CIRCLE][2];
    size_t count = 0;
    crVec3 a[2];
    crVec3 e[2];
    across(axis, &a[0], &a[1]);
    across(b->eye, &e[0], &e[1]);
    double r = sqrt(fmax(0.0, 1.0 - least * least));
    for (int i = 0; i < CIRCLE; i++) {
        double x = cos(2.0 * CR_PI * i / CIRCLE);
        double y = sin(2.0 * CR_PI * i / CIRCLE);
        crVec3 rim = cr_add(cr_scale(least, axis), cr_madd(cr_scale(r * x, a[0]), r * y, a[1]));
        crVec3 edge = cr_madd(cr_scale(x, e[0]), y, e[1]);
        if (cr_dot(rim, b->eye) >= 0.0) ball_pixel(s, b, rim, points[count++]);
        if (cr_dot(edge, axis) >= least) ball_pixel(s, b, edge, points[count++]);
    }
    if (count >= 3) put_outline(s, points, count, pen);
}

// the visible part of the band around a ball's equator
static void draw_stripe(const crStage* s, const Ball* b, crQuat turn) {
    crPen pen = {.fill = CR_INK_GROUND, .alpha = DARKER, .color = 0x1000000U};
    double rows[2][CIRCLE + 1][2];
    double strip[2 * (CIRCLE + 1)][2];
    bool seen[CIRCLE + 1];
    for (int i = 0; i <= CIRCLE; i++) {
        double angle = 2.0 * CR_PI * i / CIRCLE;
        bool any = false;
        for (int k = 0; k < 2; k++) {
            double z = sin(k == 0 ? STRIPE : -STRIPE);
            crVec3 n = cr_quat_rotate(turn, cr_vec3(cos(STRIPE) * cos(angle), cos(STRIPE) * sin(angle), z));
            any = any || cr_dot(n, b->eye) >= 0.0;
            ball_pixel(s, b, seen_normal(b, n), rows[k][i]);
        }
        seen[i] = any;
    }
    for (int i = 0; i <= CIRCLE; i++) {
        int end = i;
        while (end <= CIRCLE && seen[end]) {
            end++;
        }
        size_t n = (size_t)(end - i);
        for (size_t k = 0; k < n; k++) {
            memcpy(strip[k], rows[0][(size_t)i + k], sizeof *strip);
            memcpy(strip[2 * n - 1 - k], rows[1][(size_t)i + k], sizeof *strip);
        }
        if (n > 1) put_polygon(s, (const double(*)[2])strip, 2 * n, pen);
        if (n > 0) i = end;
    }
}

static void draw_ball(const crStage* s, const crPiece* piece) {
    const crCamera* c = &s->camera;
    crPose pose = cr_pose_mul(piece->pose, piece->shape.pose);
    Ball b = {.centre = pose.p, .r = piece->shape.size.x};
    b.eye = cr_sub(cr_camera_eye(c), b.centre);
    b.eye = cr_scale(1.0 / cr_norm(b.eye), b.eye);
    crVec3 axis = cr_madd(cr_scale(SUN, c->sun), 0.5 * (SKY - EARTH), c->sky);
    double slope = cr_norm(axis);
    axis = cr_scale(1.0 / slope, axis);
    for (int i = 0; i <= s->shades; i++) {
        double least = -1.0 + 2.0 * i / (s->shades + 1);
        double here = least + 1.0 / (s->shades + 1);
        double shade = fmax(0.5 * (SKY + EARTH) + slope * here, EARTH);
        draw_cap(s, &b, axis, least, pen_of(piece, shade));
    }
    if (!piece->plain) draw_stripe(s, &b, pose.q);
}

typedef struct Shell {
    crFaces faces;
    double (*pixels)[2];  // (vertex_count)
    crVec3* world;        // (vertex_count) m
} Shell;

static void shell_destroy(Shell* h) {
    cr_faces_destroy(&h->faces);
    free(h->pixels);
    free(h->world);
}

static int segments_of(const crStage* s, const crPiece* piece) {
    double size = fmax(piece->box[2] - piece->box[0], piece->box[3] - piece->box[1]);
    return (int)fmin(fmax(CR_PI * size / LENGTH, LEAST), s->segments);
}

static bool shell_create(const crStage* s, const crPiece* piece, Shell* h) {
    *h = (Shell){0};
    cr_faces_create(&piece->shape, segments_of(s, piece), &h->faces);
    h->pixels = malloc((h->faces.vertex_count + 1) * sizeof *h->pixels);
    h->world = malloc((h->faces.vertex_count + 1) * sizeof *h->world);
    bool good = h->pixels != NULL && h->world != NULL && h->faces.status == CR_OK;
    for (size_t i = 0; i < h->faces.vertex_count && good; i++) {
        h->world[i] = cr_pose_point(piece->pose, h->faces.vertices[i]);
        cr_camera_pixel(&s->camera, h->world[i], h->pixels[i]);
    }
    if (!good) shell_destroy(h);
    return good;
}

// unit normal of a face by Newell's sum; 0 where it has no area
static crVec3 face_normal(const Shell* h, const int* loop) {
    crVec3 n = cr_vec3(0.0, 0.0, 0.0);
    for (int i = 0; i < loop[0]; i++) {
        crVec3 a = cr_sub(h->world[loop[1 + i]], h->world[loop[1]]);
        crVec3 b = cr_sub(h->world[loop[1 + (i + 1) % loop[0]]], h->world[loop[1]]);
        n = cr_add(n, cr_cross(a, b));
    }
    double size = cr_norm(n);
    return size > 0.0 ? cr_scale(1.0 / size, n) : n;
}

// corners of a face in pixels; at most 64
static size_t face_pixels(const Shell* h, const int* loop, double (*out)[2]) {
    size_t count = loop[0] < 64 ? (size_t)loop[0] : 64;
    for (size_t i = 0; i < count; i++) {
        memcpy(out[i], h->pixels[loop[1 + i]], sizeof *out);
    }
    return count;
}

// where a point's shadow falls on a plane; a point behind it stays
static crVec3 thrown(const crCamera* c, crVec3 x, crVec3 on, crVec3 n) {
    double t = cr_dot(cr_sub(x, on), n) / cr_dot(c->sun, n);
    return t > 0.0 ? cr_madd(x, -t, c->sun) : x;
}

// areas that become one mark: where they overlap they are not darker
typedef struct Areas {
    size_t count, room;
    double (*points)[2];  // a pair of NaNs between two areas
} Areas;

static void add_area(Areas* areas, const double (*points)[2], size_t count) {
    if (count < 3) return;
    if (areas->count + count + 1 > areas->room) {
        size_t room = 2 * (areas->count + count) + 64;
        double(*larger)[2] = realloc(areas->points, room * sizeof *larger);
        if (larger == NULL) return;
        areas->points = larger;
        areas->room = room;
    }
    if (areas->count > 0) {
        areas->points[areas->count][0] = NAN;
        areas->points[areas->count++][1] = NAN;
    }
    memcpy(areas->points + areas->count, points, count * sizeof *points);
    areas->count += count;
}

// shadow of one piece on a convex area of the plane
static void add_shadow(const crStage* s, const crPiece* piece, crVec3 on, crVec3 n, const double (*area)[2],
                       size_t corners, Areas* areas) {
    Shell h;
    if (!shell_create(s, piece, &h)) return;
    size_t count = h.faces.vertex_count;
    bool above = false;
    for (size_t i = 0; i < count; i++) {
        above = above || cr_dot(cr_sub(h.world[i], on), n) > 0.0;
        cr_camera_pixel(&s->camera, thrown(&s->camera, h.world[i], on, n), h.pixels[i]);
    }
    double(*hull)[2] = malloc((2 * count + 2) * sizeof *hull);
    double(*cut)[2] = malloc((2 * count + 2 * corners + 8) * sizeof *cut);
    double(*seen)[2] = malloc((4 * count + 4 * corners + 24) * sizeof *seen);
    if (hull != NULL && cut != NULL && seen != NULL && above) {
        size_t outline = cr_flat_outline(h.pixels, count, hull);
        size_t left = cr_flat_cut((const double(*)[2])hull, outline, area, corners, cut);
        left = left >= 3 ? cr_flat_clip(s->panel, (const double(*)[2])cut, left, seen) : 0;
        add_area(areas, (const double(*)[2])seen, left);
    }
    free(hull);
    free(cut);
    free(seen);
    shell_destroy(&h);
}

// fixed: whether fixed pieces throw shadows too
static void draw_shadows(const crStage* s, crVec3 on, crVec3 n, const double (*area)[2], size_t corners,
                         bool fixed) {
    if (cr_dot(s->camera.sun, n) < 0.1) return;
    Areas areas = {0};
    for (size_t i = 0; i < s->count && s->count <= SHADOWED; i++) {
        if (fixed || s->pieces[i].moves) add_shadow(s, &s->pieces[i], on, n, area, corners, &areas);
    }
    crPen pen = {.fill = CR_INK_GROUND, .alpha = SHADE, .color = 0x1000000U};
    cr_sheet_path(s->sheet, (const double(*)[2])areas.points, areas.count, pen);
    free(areas.points);
}

// faces that look at the eye, over their common outline, which closes the seams between them
static void draw_solid(const crStage* s, const crPiece* piece, const Shell* h) {
    crVec3 eye = cr_camera_eye(&s->camera);
    double(*points)[2] = malloc((h->faces.vertex_count + 1) * sizeof *points);
    if (points == NULL) return;
    memcpy(points, h->pixels, h->faces.vertex_count * sizeof *points);
    crVec3 middle = cr_pose_mul(piece->pose, piece->shape.pose).p;
    crVec3 toward = cr_sub(eye, middle);
    if (piece->alpha >= 1.0)
        put_outline(s, points, h->faces.vertex_count,
                    pen_of(piece, shade_of(&s->camera, cr_scale(1.0 / cr_norm(toward), toward))));
    free(points);
    const int* loop = h->faces.loops;
    for (size_t f = 0; f < h->faces.face_count; f++, loop += 1 + loop[0]) {
        crVec3 n = face_normal(h, loop);
        if (!(cr_dot(n, cr_sub(eye, h->world[loop[1]])) > 0.0)) continue;
        double corners[64][2];
        size_t count = face_pixels(h, loop, corners);
        put_polygon(s, (const double(*)[2])corners, count, pen_of(piece, shade_of(&s->camera, n)));
        if (!piece->moves && cr_dot(n, s->camera.sky) > UPWARD)
            draw_shadows(s, h->world[loop[1]], n, (const double(*)[2])corners, count, false);
    }
}

typedef struct Depth {
    double depth;
    const int* loop;
} Depth;

static int compare(const void* a, const void* b) {
    const Depth* p = a;
    const Depth* q = b;
    return p->depth > q->depth ? -1 : p->depth < q->depth ? 1 : p->loop < q->loop ? -1 : 1;
}

// triangles of a mesh, the farthest first, seen from both sides
static void draw_mesh(const crStage* s, const crPiece* piece, const Shell* h) {
    Depth* order = malloc((h->faces.face_count + 1) * sizeof *order);
    const int* loop = h->faces.loops;
    for (size_t f = 0; f < h->faces.face_count && order != NULL; f++, loop += 1 + loop[0]) {
        double at[2];
        crVec3 sum = cr_add(cr_add(h->world[loop[1]], h->world[loop[2]]), h->world[loop[3]]);
        order[f] = (Depth){cr_camera_pixel(&s->camera, cr_scale(1.0 / 3.0, sum), at), loop};
    }
    if (order != NULL && h->faces.face_count > 0) qsort(order, h->faces.face_count, sizeof *order, compare);
    for (size_t f = 0; f < h->faces.face_count && order != NULL; f++) {
        crVec3 n = face_normal(h, order[f].loop);
        if (cr_dot(n, s->camera.from) < 0.0) n = cr_neg(n);
        double corners[64][2];
        size_t count = face_pixels(h, order[f].loop, corners);
        put_polygon(s, (const double(*)[2])corners, count, pen_of(piece, shade_of(&s->camera, n)));
    }
    free(order);
}

// sheets

// square of a plane around the middle of the scene, as pixels
typedef struct Sheet {
    crVec3 middle, n, a, b;
    double half;
    bool wall;
    double corners[4][2];
    unsigned color, checker;  // of the squares of a checkered sheet; 0: none
} Sheet;

static Sheet sheet_of(const crCamera* c, crVec3 n, double offset) {
    Sheet p = {.n = n, .wall = !c->flat && cr_dot(n, c->sky) < 0.5};
    crVec3 centre = cr_scale(0.5, cr_add(c->lo, c->hi));
    p.middle = cr_madd(centre, offset - cr_dot(centre, n), n);
    p.half = (p.wall ? WALL : SHEET) * c->radius;
    across(n, &p.a, &p.b);
    for (int i = 0; i < 4; i++) {
        crVec3 x = cr_madd(p.middle, i == 0 || i == 3 ? -p.half : p.half, p.a);
        cr_camera_pixel(c, cr_madd(x, i < 2 ? -p.half : p.half, p.b), p.corners[i]);
    }
    return p;
}

// every other square
static void draw_squares(const crStage* s, const Sheet* p) {
    double side = p->half / DIVISIONS;
    for (int k = 0; k < 4 * DIVISIONS * DIVISIONS; k++) {
        int i = k % (2 * DIVISIONS);
        int j = k / (2 * DIVISIONS);
        if ((i + j) % 2 == 0) continue;
        double corners[4][2];
        for (int c = 0; c < 4; c++) {
            double x = side * (i - DIVISIONS + (c == 1 || c == 2));
            double y = side * (j - DIVISIONS + (c >= 2));
            cr_camera_pixel(&s->camera, cr_madd(cr_madd(p->middle, x, p->a), y, p->b), corners[c]);
        }
        put_polygon(s, (const double(*)[2])corners, 4,
                    (crPen){.fill = CR_INK_GRID, .alpha = 1.0, .color = p->checker});
    }
}

static void draw_sheet(const crStage* s, const Sheet* p) {
    if (!(cr_dot(cr_sub(cr_camera_eye(&s->camera), p->middle), p->n) > 0.0)) return;
    crPen pen = {.fill = CR_INK_GRID, .alpha = p->wall ? 0.3 : p->color != 0 ? 1.0 : 0.55, .color = p->color};
    put_polygon(s, (const double(*)[2])p->corners, 4, pen);
    if (p->checker != 0 && !p->wall) {
        draw_squares(s, p);
        return;
    }
    for (int i = -DIVISIONS; i <= DIVISIONS && !p->wall; i++) {
        for (int side = 0; side < 2; side++) {
            crVec3 along = side == 0 ? p->a : p->b;
            crVec3 over = cr_madd(p->middle, p->half * i / DIVISIONS, side == 0 ? p->b : p->a);
            double ends[2][2];
            cr_camera_pixel(&s->camera, cr_madd(over, -p->half, along), ends[0]);
            cr_camera_pixel(&s->camera, cr_madd(over, p->half, along), ends[1]);
            if (cr_flat_clip_line(s->panel, ends))
                cr_sheet_line(s->sheet, ends[0][0], ends[0][1], ends[1][0], ends[1][1],
                              (crPen){.stroke = CR_INK_GRID, .width = 0.8});
        }
    }
}

// scenes without gravity that nothing surrounds have a sheet below them
static bool needs_sheet(const crModel* model) {
    for (int i = 0; i < cr_faces_count(model); i++) {
        const crBodyShape* drawn = cr_faces_drawn(model, i);
        const crBody* body = drawn != NULL ? &model->bodies[drawn->body] : NULL;
        if (body == NULL) continue;
        if (drawn->body == CR_WORLD || (body->last < 0 && body->base == CR_WORLD)) return false;
    }
    return cr_norm(model->gravity) == 0.0;
}

// what is done with every sheet of a view
static void for_sheets(crStage* s, const crView* v, bool shadows) {
    const crModel* model = v->log->model;
    Sheet p;
    int count = cr_faces_count(model);
    for (int i = 0; i <= count; i++) {
        bool below = i == count;
        const crBodyShape* drawn = below ? NULL : cr_faces_drawn(model, i);
        if (below && !needs_sheet(model)) continue;
        if (!below && (drawn == NULL || drawn->shape.kind != CR_SHAPE_HALFSPACE)) continue;
        if (below) {
            p = sheet_of(&s->camera, cr_vec3(0.0, 0.0, 1.0), s->camera.lo.z - 1e-3 * s->camera.radius);
        } else {
            const crShape* shape = &drawn->shape;
            crPose pose = cr_pose_mul(v->player.d.pose[drawn->body], shape->pose);
            crVec3 n = cr_quat_rotate(pose.q, shape->size);
            p = sheet_of(&s->camera, n, shape->offset + cr_dot(n, pose.p));
            p.color = cr_faces_color(model, drawn);
            p.checker = model->materials[drawn->material].checker;
        }
        if (!shadows) draw_sheet(s, &p);
        if (shadows && !p.wall) draw_shadows(s, p.middle, p.n, (const double(*)[2])p.corners, 4, true);
    }
}

void cr__stage_ground(crStage* s, const crView* v) { for_sheets(s, v, false); }

void cr__stage_draw(crStage* s, const crView* v) {
    for_sheets(s, v, true);
    for (size_t i = 0; i < s->count; i++) {
        const crPiece* piece = &s->pieces[s->order[i]];
        if (piece->shape.kind == CR_SHAPE_SPHERE) {
            draw_ball(s, piece);
            continue;
        }
        Shell h;
        if (!shell_create(s, piece, &h)) continue;
        (h.faces.solid ? draw_solid : draw_mesh)(s, piece, &h);
        shell_destroy(&h);
    }
}
