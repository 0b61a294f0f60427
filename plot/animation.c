// animation.c - the layout of a moving picture: panels in rows, and under them a bar along which time runs.
//
// Every panel shows all of its motion in one scale, along an axis or through a camera (stage.h). A camera that follows a body
// has its centre of mass in the middle. Fails: see animation.h.
#include "plot/animation.h"

#include <string.h>

#include "plot/animation_parts.h"

#define HOLD   1.0  // seconds for which the last picture stands
#define WIDTH  900.0
#define EDGE   10.0  // around panels, pixels
#define TITLE  22.0  // above each panel
#define FOOT   40.0  // for the bar
#define TICS   5     // of the bar, about
#define SHADES 7     // of a ball in pixels
#define FEW    4     // of a ball in an .svg, whose size grows with them
#define FINE   48    // segments of what is round, in pixels
#define COARSE 16    // the same in an .svg

static bool ends(const char* path, const char* extension) {
    const char* dot = strrchr(path, '.');
    return dot != NULL && strcmp(dot, extension) == 0;
}

bool cr_animation_is_format(const char* path) {
    return ends(path, ".svg") || ends(path, ".gif") || ends(path, ".mp4") || ends(path, ".webm");
}

crPen cr__reel_pen(int body) {
    return (crPen){.stroke = cr__view_ink(body), .fill = cr__view_ink(body), .width = 1.2, .alpha = 0.9};
}

double cr__reel_time(const crReel* reel, double played) {
    return fmin(reel->begin + played * reel->animation->speed, reel->end);
}

static double bar_x(const crReel* r, double time) {
    double share = r->end > r->begin ? (time - r->begin) / (r->end - r->begin) : 0.0;
    return r->bar[0] + share * (r->bar[1] - r->bar[0]);
}

// 1, 2 or 5 times a power of ten: about `count` of them in the length
static double round_step(double length, int count) {
    double step = pow(10.0, floor(log10(length / count)));
    double times = length / count / step;
    return step * (times > 5.0 ? 10.0 : times > 2.0 ? 5.0 : times > 1.0 ? 2.0 : 1.0);
}

static void draw_bar(crReel* r) {
    crPen line = {.stroke = CR_INK_FAINT, .width = 1.0};
    cr_sheet_line(&r->back, r->bar[0], r->bar[2], r->bar[1], r->bar[2], line);
    if (!(r->end > r->begin)) return;
    double step = round_step(r->end - r->begin, TICS);
    for (double t = step * ceil(r->begin / step - 1e-9); t <= r->end + 1e-9 * step; t += step) {
        char text[32];
        snprintf(text, sizeof text, "%.4g s", fabs(t) < 1e-9 * step ? 0.0 : t);
        double x = bar_x(r, t);
        cr_sheet_line(&r->back, x, r->bar[2] - 4.0, x, r->bar[2] + 4.0, line);
        crAnchor anchor = x - r->bar[0] < 20.0   ? CR_ANCHOR_START
                          : r->bar[1] - x < 20.0 ? CR_ANCHOR_END
                                                 : CR_ANCHOR_MIDDLE;
        cr_sheet_text(&r->back, x, r->bar[2] + 18.0, 11.0, anchor, CR_INK_FAINT, text);
    }
}

void cr__reel_stage(crReel* r, int panel, bool ground, bool pieces) {
    crView* v = r->views[panel];
    const crAnimation* a = r->animation;
    crStage stage = {.sheet = v->sheet, .panel = &v->panel, .camera = r->camera, .dark = a->dark};
    stage.shades = r->drawn ? FEW : SHADES;
    stage.segments = r->drawn ? COARSE : FINE;
    for (int i = 0; i < v->log->body_count && a->camera.follow != NULL; i++) {
        if (strcmp(v->log->bodies[i].name, a->camera.follow) == 0) stage.camera.at = v->player.d.com[i + 1];
    }
    cr_camera_fit(&stage.camera, &v->panel, a->camera.zoom);
    if (ground) cr__stage_ground(&stage, v);
    if (pieces) {
        crStatus status = cr__stage_fill(&stage, v);
        if (status == CR_OK) cr__stage_draw(&stage, v);
        if (status != CR_OK) r->status = status;
    }
    cr__stage_empty(&stage);
}

static void draw_panel(crReel* r, int i, double x, double y, double width, double height) {
    crView* v = r->views[i];
    v->sheet = &r->back;
    cr__view_panel(v, x + EDGE, y + TITLE, x + width - EDGE, y + height);
    if (!r->animation->camera.given) {
        cr__view_statics(v);
    } else if (r->animation->camera.follow == NULL) {
        // the ground is behind everything and does not move
        cr_player_at(&v->player, 0);
        cr__reel_stage(r, i, true, false);
    }
    cr_sheet_text(&r->back, x + EDGE, y + TITLE - 7.0, 13.0, CR_ANCHOR_START, CR_INK_TEXT,
                  r->animation->labels[i]);
}

// one panel per log, as wide as there is room for
static void lay_out(crReel* r) {
    const crAnimation* a = r->animation;
    int columns = a->count > 4 ? 3 : a->count > 1 ? 2 : 1;
    int rows = (a->count + columns - 1) / columns;
    double width = WIDTH / columns;
    const double* frame = a->choice.frame;
    double shape = (frame[3] - frame[1]) / (frame[2] - frame[0]);
    if (a->camera.given) shape = fmax(1.15 * cr_camera_shape(&r->camera), 0.4);
    double height = TITLE + (width - 2.0 * EDGE) * fmin(fmax(shape, 0.2), 0.75);
    cr_sheet_create(&r->back, WIDTH, ceil(height) * rows + FOOT);
    for (int i = 0; i < a->count; i++) {
        draw_panel(r, i, width * (i % columns), ceil(height) * (i / columns), width, height);
    }
    r->bar[0] = EDGE;
    r->bar[1] = WIDTH - EDGE;
    r->bar[2] = r->back.height - FOOT + 16.0;
    draw_bar(r);
}

void cr__reel_bodies(crReel* r, crSheet* sheet, double time) {
    for (int i = 0; i < r->animation->count; i++) {
        crView* v = r->views[i];
        v->sheet = sheet;
        cr_player_at(&v->player, cr_motion_row(v->log, time + 1e-9 * (r->end - r->begin)));
        if (r->animation->camera.given) {
            cr__reel_stage(r, i, r->animation->camera.follow != NULL, true);
            continue;
        }
        cr__view_ties(v, true);
        for (int b = 1; b < v->log->model->nb; b++) {
            crPen pen = cr__reel_pen(b);
            if (v->shown[b] && !cr__view_is_static(v, b)) cr__view_body(v, b, true, &pen);
        }
        cr__view_joints(v);
    }
}

void cr__reel_frame(crReel* r, crSheet* sheet, double time) {
    cr__reel_bodies(r, sheet, time);
    double x = bar_x(r, time);
    cr_sheet_box(sheet, r->bar[0], r->bar[2] - 2.0, x, r->bar[2] + 2.0,
                 (crPen){.fill = CR_INK_STRONG, .alpha = 1.0});
}

static crStatus begin(crReel* r, crAnimation* a, crError* error) {
    crStatus status = cr_view_frame(a->logs, a->count, &a->choice, error);
    r->begin = INFINITY;
    r->end = -INFINITY;
    for (int i = 0; i < a->count && status == CR_OK; i++) {
        const crMotionLog* log = a->logs[i];
        r->views[i] = cr__view_begin(log, &a->choice);
        if (r->views[i] == NULL) status = cr_error_set(error, CR_ERR_MEMORY, "plot", "plot: out of memory");
        r->begin = fmin(r->begin, log->rows[0]);
        r->end = fmax(r->end, log->rows[(log->count - 1) * log->columns]);
    }
    if (status == CR_OK && a->camera.given) cr_camera_create(&r->camera, r->views, a->count, &a->camera);
    r->hold = HOLD;
    r->seconds = (r->end - r->begin) / a->speed + HOLD;
    return status;
}

crStatus cr_animation_save(const crAnimation* animation, const char* path, crError* error) {
    if (animation->count < 1 || animation->count > CR_ANIMATION_PANELS)
        return cr_error_set(error, CR_ERR_ARGUMENT, "motion", "motion: %d files, must be 1 to %d",
                            animation->count, CR_ANIMATION_PANELS);
    if (!(animation->speed > 0.0 && isfinite(animation->speed)))
        return cr_error_set(error, CR_ERR_ARGUMENT, "speed", "speed: is %g, must be above 0",
                            animation->speed);
    crAnimation own = *animation;
    own.choice.kind = CR_VIEW_MOTION;
    crReel reel = {.animation = &own, .drawn = ends(path, ".svg")};
    crStatus status = begin(&reel, &own, error);
    if (status == CR_OK) lay_out(&reel);
    if (status == CR_OK) {
        status = ends(path, ".svg")   ? cr__reel_svg(&reel, path, error)
                 : ends(path, ".gif") ? cr__reel_gif(&reel, path, error)
                                      : cr__reel_film(&reel, path, error);
    }
    if (status == CR_OK && reel.status != CR_OK)
        status = cr_error_set(error, reel.status, "output", "output: out of memory");
    for (int i = 0; i < animation->count; i++) {
        cr__view_end(reel.views[i]);
    }
    cr_sheet_destroy(&reel.back);
    return status;
}
