// view_joints.c - how bodies hang together: ropes and rods between them, pins of hinges and balls, springs.
//
// Pins and springs have a size in pixels. A hinge has a pin where its axis is seen end on. The spring of a slider is a zigzag
// from the joint's place on its parent to the body, the spring of a hinge a spiral around the pin.
#include "plot/view_parts.h"

#define END_ON 0.98  // cosine between a hinge's axis and the line of sight from which on its pin is drawn
#define PIN    2.6   // radius, pixels
#define TEETH  9     // of a zigzag
#define WIDTH  5.0   // of a zigzag, pixels, to each side
#define TURNS  2.5   // of a spiral
#define POINTS 48    // of a spiral

static const crPen line = {.stroke = CR_INK_FAINT, .width = 1.3};

void cr__view_ties(crView* v, bool draw) {
    const crModel* model = v->log->model;
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        bool seen = (loop->a == CR_WORLD || v->shown[loop->a]) && (loop->b == CR_WORLD || v->shown[loop->b]);
        if (loop->kind != CR_LOOP_DISTANCE || !seen) continue;
        crVec3 ends[2] = {cr_pose_point(v->player.d.pose[loop->a], loop->pose_a.p),
                          cr_pose_point(v->player.d.pose[loop->b], loop->pose_b.p)};
        double at[2][2];
        for (int k = 0; k < 2; k++) {
            (draw ? cr__view_pixel : cr__view_project)(v, ends[k], at[k]);
            for (int j = 0; j < 2 && !draw; j++) {
                v->lo[j] = fmin(v->lo[j], at[k][j]);
                v->hi[j] = fmax(v->hi[j], at[k][j]);
            }
        }
        if (draw) cr_sheet_line(v->sheet, at[0][0], at[0][1], at[1][0], at[1][1], line);
    }
}

static void draw_pin(crView* v, const double at[2]) {
    double circle[13][2];
    for (int i = 0; i < 13; i++) {
        circle[i][0] = at[0] + PIN * cos(i * CR_PI / 6.0);
        circle[i][1] = at[1] + PIN * sin(i * CR_PI / 6.0);
    }
    cr_sheet_path(v->sheet, (const double(*)[2])circle, 13, (crPen){.fill = CR_INK_FAINT, .alpha = 1.0});
}

static void draw_spiral(crView* v, const double at[2]) {
    double points[POINTS][2];
    for (int i = 0; i < POINTS; i++) {
        double share = (double)i / (POINTS - 1);
        double angle = 2.0 * CR_PI * TURNS * share;
        double radius = PIN * (1.4 + 2.6 * share);
        points[i][0] = at[0] + radius * cos(angle);
        points[i][1] = at[1] + radius * sin(angle);
    }
    cr_sheet_path(v->sheet, (const double(*)[2])points, POINTS, line);
}

static void draw_zigzag(crView* v, const double a[2], const double b[2]) {
    double dx = b[0] - a[0];
    double dy = b[1] - a[1];
    double length = hypot(dx, dy);
    if (!(length > 1.0)) return;
    double points[TEETH + 2][2];
    for (int i = 0; i < TEETH + 2; i++) {
        double along = i == 0 ? 0.0 : i == TEETH + 1 ? 1.0 : (i - 0.5) / TEETH;
        double side = i == 0 || i == TEETH + 1 ? 0.0 : i % 2 == 0 ? WIDTH : -WIDTH;
        points[i][0] = a[0] + along * dx - side * dy / length;
        points[i][1] = a[1] + along * dy + side * dx / length;
    }
    cr_sheet_path(v->sheet, (const double(*)[2])points, TEETH + 2, line);
}

void cr__view_joints(crView* v) {
    const crModel* model = v->log->model;
    crVec3 sight = cr_cross(v->axes.right, v->axes.up);
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (!v->shown[b] || body->nv == 0) continue;
        crPose pose = v->player.d.pose[b];
        double at[2];
        cr__view_pixel(v, pose.p, at);
        bool spring = cr_model_dof(model, body->v)->stiffness > 0.0;
        bool hinge =
            body->joint == CR_JOINT_HINGE && fabs(cr_dot(cr_quat_rotate(pose.q, body->axis), sight)) > END_ON;
        if (hinge || body->joint == CR_JOINT_BALL) draw_pin(v, at);
        if (hinge && spring) draw_spiral(v, at);
        if (body->joint == CR_JOINT_SLIDER && spring) {
            double from[2];
            cr__view_pixel(v, cr_pose_point(v->player.d.pose[body->parent], body->pose.p), from);
            draw_zigzag(v, from, at);
        }
    }
}
