// view_bodies.c - bodies as a view shows them: outlines of their shapes, lines where there are none, what does not move.
//
// The outline of a convex piece is the convex hull of its projected points; meshes are drawn triangle by
// triangle. What does not move is cut at the edge of the panel.
#include <stdlib.h>
#include <string.h>

#include "plot/faces.h"
#include "plot/flat.h"
#include "plot/view_parts.h"

#define EDGED 200  // faces of a mesh whose edges are drawn

void cr__view_project(const crView* v, crVec3 x, double out[2]) {
    out[0] = cr_dot(v->axes.right, x);
    out[1] = cr_dot(v->axes.up, x);
}

void cr__view_pixel(const crView* v, crVec3 x, double out[2]) {
    cr__view_project(v, x, out);
    out[0] = cr_panel_x(&v->panel, out[0]);
    out[1] = cr_panel_y(&v->panel, out[1]);
}

crInk cr__view_ink(int body) { return (crInk)(CR_INK_SERIES + (body - 1) % CR_INK_COLORS); }

static void put_polygon(crView* v, double (*points)[2], size_t count, bool cut, crPen pen) {
    for (size_t i = 0; i < count; i++) {
        points[i][0] = cr_panel_x(&v->panel, points[i][0]);
        points[i][1] = cr_panel_y(&v->panel, points[i][1]);
    }
    if (count < 3) return;
    double(*closed)[2] = malloc((2 * count + 9) * sizeof *closed);
    if (closed == NULL) return;
    if (cut) {
        count = cr_flat_clip(&v->panel, (const double(*)[2])points, count, closed);
    } else {
        memcpy(closed, points, count * sizeof *closed);
    }
    if (count >= 3) {
        memcpy(closed[count], closed[0], sizeof *closed);
        cr_sheet_path(v->sheet, (const double(*)[2])closed, count + 1, pen);
    }
    free(closed);
}

// one piece, drawn, or only measured where pen is NULL
static void draw_piece(crView* v, const crShape* piece, crPose pose, bool cut, const crPen* pen) {
    crFaces faces;
    cr_faces_create(piece, v->segments, &faces);
    size_t count = faces.vertex_count;
    double(*flat)[2] = malloc((count + 1) * sizeof *flat);
    double(*hull)[2] = malloc((2 * count + 2) * sizeof *hull);
    for (size_t i = 0; i < count && flat != NULL; i++) {
        cr__view_project(v, cr_pose_point(pose, faces.vertices[i]), flat[i]);
        for (int k = 0; k < 2 && pen == NULL; k++) {
            v->lo[k] = fmin(v->lo[k], flat[i][k]);
            v->hi[k] = fmax(v->hi[k], flat[i][k]);
        }
    }
    bool good = flat != NULL && hull != NULL && count > 0 && pen != NULL;
    if (good && faces.solid) {
        size_t n = cr_flat_outline(flat, count, hull);
        put_polygon(v, hull, n, cut, *pen);
    }
    const int* loop = faces.loops;
    // edges of small faces would cover them
    crPen face = pen != NULL ? *pen : (crPen){0};
    if (faces.face_count > EDGED) face.stroke = CR_INK_NONE;
    for (size_t f = 0; good && !faces.solid && f < faces.face_count; f++, loop += 1 + loop[0]) {
        double corners[8][2];
        for (int i = 0; i < loop[0] && i < 8; i++) {
            memcpy(corners[i], flat[loop[1 + i]], sizeof *corners);
        }
        put_polygon(v, corners, (size_t)loop[0], cut, face);
    }
    free(flat);
    free(hull);
    cr_faces_destroy(&faces);
}

// the half-plane of a half-space that is seen from its edge
static void draw_halfspace(crView* v, const crShape* s, crPose body, crPen pen) {
    crPose pose = cr_pose_mul(body, s->pose);
    crVec3 n = cr_quat_rotate(pose.q, s->size);
    double offset = s->offset + cr_dot(n, pose.p);
    double nx = cr_dot(n, v->axes.right);
    double ny = cr_dot(n, v->axes.up);
    if (nx * nx + ny * ny < 0.98) return;
    // a square beyond anything that is seen, on the solid side
    double far = 4.0 * (fabs(v->panel.x1) + fabs(v->panel.x0) + fabs(v->panel.y1) + fabs(v->panel.y0) + 1.0);
    double cx = nx * offset;
    double cy = ny * offset;
    double square[4][2] = {{cx - far * ny, cy + far * nx},
                           {cx + far * ny, cy - far * nx},
                           {cx + far * ny - far * nx, cy - far * nx - far * ny},
                           {cx - far * ny - far * nx, cy + far * nx - far * ny}};
    put_polygon(v, square, 4, true, pen);
}

bool cr__view_is_static(const crView* v, int body) {
    const crBody* b = &v->log->model->bodies[body];
    return body == CR_WORLD || (b->last < 0 && b->base == CR_WORLD);
}

// a body without shapes, as lines; or only measured
static void draw_sticks(crView* v, int body, const crPen* pen) {
    crVec3 ends[CR_STICKS];
    int count = cr_faces_sticks(v->log->model, body, ends);
    bool bare = cr_faces_bare(v->log->model, body);
    double from[2];
    cr__view_project(v, v->player.d.pose[body].p, from);
    for (int i = 0; i < count; i++) {
        double to[2];
        cr__view_project(v, cr_pose_point(v->player.d.pose[body], ends[i]), to);
        for (int k = 0; k < 2 && pen == NULL; k++) {
            v->lo[k] = fmin(v->lo[k], fmin(from[k], to[k]));
            v->hi[k] = fmax(v->hi[k], fmax(from[k], to[k]));
        }
        if (pen == NULL) continue;
        double x = cr_panel_x(&v->panel, to[0]);
        double y = cr_panel_y(&v->panel, to[1]);
        cr_sheet_line(v->sheet, cr_panel_x(&v->panel, from[0]), cr_panel_y(&v->panel, from[1]), x, y,
                      (crPen){.stroke = pen->stroke, .width = bare ? 2.0 : 1.0});
        if (!bare) continue;
        cr_sheet_box(v->sheet, x - 2.5, y - 2.5, x + 2.5, y + 2.5, *pen);
    }
}

void cr__view_body(crView* v, int body, bool cut, const crPen* pen) {
    const crModel* model = v->log->model;
    if (body != CR_WORLD) draw_sticks(v, body, pen);
    for (int i = 0; i < cr_faces_count(model); i++) {
        const crBodyShape* drawn = cr_faces_drawn(model, i);
        if (drawn == NULL || drawn->body != body) continue;
        const crShape* shape = &drawn->shape;
        crPose pose = v->player.d.pose[body];
        crPen own = pen != NULL ? *pen : (crPen){0};
        own.color = cr_faces_color(model, drawn);
        if (own.color != 0 && cr__view_is_static(v, body)) own.alpha = 1.0;
        if (shape->kind == CR_SHAPE_HALFSPACE) {
            if (pen != NULL) draw_halfspace(v, shape, pose, own);
            continue;
        }
        for (int k = 0; k < cr_faces_pieces(shape); k++) {
            crShape piece = cr_faces_piece(shape, k);
            draw_piece(v, &piece, pose, cut, pen != NULL ? &own : NULL);
        }
    }
}

void cr__view_statics(crView* v) {
    crPen pen = {.stroke = CR_INK_GROUND, .fill = CR_INK_GROUND, .width = 1.0, .alpha = 0.25};
    cr_player_at(&v->player, v->rows[0]);
    for (int b = 0; b < v->log->model->nb; b++) {
        if (cr__view_is_static(v, b)) cr__view_body(v, b, true, &pen);
    }
}

// the panel, its ranges widened to one scale
void cr__view_panel(crView* v, double left, double top, double right, double bottom) {
    v->panel = (crPanel){.left = left, .top = top, .right = right, .bottom = bottom};
    double w = v->panel.right - v->panel.left;
    double h = v->panel.bottom - v->panel.top;
    double scale = fmin(w / (v->hi[0] - v->lo[0]), h / (v->hi[1] - v->lo[1]));
    double cx = 0.5 * (v->lo[0] + v->hi[0]);
    double cy = 0.5 * (v->lo[1] + v->hi[1]);
    v->panel.x0 = cx - 0.5 * w / scale;
    v->panel.x1 = cx + 0.5 * w / scale;
    v->panel.y0 = cy - 0.5 * h / scale;
    v->panel.y1 = cy + 0.5 * h / scale;
}
