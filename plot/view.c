// view.c - bodies seen along an axis: outlines of their shapes at several times, paths, labels, arrows.
//
// The outline of a convex piece is the convex hull of its projected points; meshes are drawn triangle by
// triangle. The view is along one of the axes: up is against gravity, or y where there is none. Scales are
// equal. What does not move is cut at the edge of the panel. Fails: see view.h.
#include "plot/view.h"

#include <stdlib.h>
#include <string.h>

#include "plot/flat.h"
#include "plot/view_parts.h"

#define SEGMENTS 48   // of round outlines, where there are few
#define CROWD    400  // outlines that are many
#define TIMES    8    // where none are named
#define SAMPLES  128  // times at which a moving picture is measured
#define FLAT     0.05  // of how far bodies move across: less than this along gravity is a motion seen from above
#define STILL \
    0.01  // of the picture: a shorter way is no motion, nor is a turn of less than 2.8 times that, rad
#define MARGIN 0.06  // of the larger side, around what is drawn
#define LEFT   62.0  // room around the panel, pixels
#define RIGHT  14.0
#define ABOVE  30.0
#define BELOW  40.0
#define ARROW  0.16  // of the panel's smaller side: the longest arrow

static crVec3 axis(int k, double sign) {
    return cr_vec3(k == 0 ? sign : 0.0, k == 1 ? sign : 0.0, k == 2 ? sign : 0.0);
}

static double component(crVec3 x, int k) { return k == 0 ? x.x : k == 1 ? x.y : x.z; }

// how far bodies move along each axis
static void spreads(crPlayer* player, const bool* shown, double spread[3]) {
    const crMotionLog* log = player->log;
    double lo[3] = {INFINITY, INFINITY, INFINITY};
    double hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    size_t every = log->count / 64 + 1;
    for (size_t row = 0; row < log->count; row += every) {
        cr_player_at(player, row);
        for (int i = 1; i < log->model->nb; i++) {
            for (int k = 0; k < 3 && (shown == NULL || shown[i]); k++) {
                lo[k] = fmin(lo[k], component(player->d.com[i], k));
                hi[k] = fmax(hi[k], component(player->d.com[i], k));
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        spread[k] = fmax(hi[k] - lo[k], 0.0);
    }
}

static crViewAxes look(int right, double right_sign, int up, double up_sign) {
    static const char* const plus[] = {"x [m]", "y [m]", "z [m]"};
    static const char* const minus[] = {"-x [m]", "-y [m]", "-z [m]"};
    return (crViewAxes){axis(right, right_sign), axis(up, up_sign),
                        right_sign > 0.0 ? plus[right] : minus[right], up_sign > 0.0 ? plus[up] : minus[up]};
}

crViewAxes cr_view_axes(crPlayer* player, crViewKind kind, const bool* shown) {
    crVec3 g = player->log->model->gravity;
    int k = 2;
    if (fabs(g.y) > fabs(g.z) && fabs(g.y) >= fabs(g.x)) k = 1;
    if (fabs(g.x) > fabs(g.z) && fabs(g.x) > fabs(g.y)) k = 0;
    double spread[3];
    spreads(player, shown, spread);
    int a = k == 0 ? 1 : 0;
    int b = k == 2 ? 1 : 2;
    bool flat = cr_norm(g) == 0.0 || spread[k] < FLAT * fmin(spread[a], spread[b]);
    if (kind == CR_VIEW_PLAN || (kind != CR_VIEW_ELEVATION && flat))
        return k == 2 ? look(0, 1.0, 1, 1.0) : k == 1 ? look(0, 1.0, 2, -1.0) : look(1, 1.0, 2, 1.0);
    return look(spread[a] >= 0.5 * spread[b] ? a : b, 1.0, k, component(g, k) > 0.0 ? -1.0 : 1.0);
}

static void choose_rows(crView* v) {
    const crViewChoice* c = v->choice;
    double first = v->log->rows[0];
    double last = v->log->rows[(v->log->count - 1) * v->log->columns];
    int count = c->time_count > 0 ? c->time_count : c->kind == CR_VIEW_MOTION ? SAMPLES : TIMES;
    if (c->kind == CR_VIEW_IMPULSES) count = 1;
    for (int i = 0; i < count && v->row_count < CR_VIEW_ROWS; i++) {
        double time = c->kind == CR_VIEW_IMPULSES ? c->at
                      : c->time_count > 0         ? c->times[i]
                      : count > 1                 ? first + (last - first) * i / (count - 1)
                                                  : first;
        size_t row = cr_motion_row(v->log, time + 1e-9 * (last - first));
        // the nearer of the two neighbours
        if (c->kind != CR_VIEW_IMPULSES && row + 1 < v->log->count) {
            const double* x = v->log->rows + row * v->log->columns;
            if (x[v->log->columns] - time < time - x[0]) row++;
        }
        bool again = v->row_count > 0 && v->rows[v->row_count - 1] == row;
        if (!again) v->rows[v->row_count++] = row;
    }
}

// what does not move belongs to a moving picture where it is not much larger than the motion: a table, a box
static void measure_statics(crView* v) {
    double lo[2] = {v->lo[0], v->lo[1]};
    double hi[2] = {v->hi[0], v->hi[1]};
    for (int b = 0; b < v->log->model->nb; b++) {
        if (cr__view_is_static(v, b)) cr__view_body(v, b, false, NULL);
    }
    double most = 1.5 * fmax(hi[0] - lo[0], hi[1] - lo[1]);
    if (v->hi[0] - v->lo[0] <= most && v->hi[1] - v->lo[1] <= most) return;
    memcpy(v->lo, lo, sizeof lo);
    memcpy(v->hi, hi, sizeof hi);
}

static void measure(crView* v) {
    for (int i = 0; i < 2; i++) {
        v->lo[i] = INFINITY;
        v->hi[i] = -INFINITY;
    }
    for (int i = 0; i < v->row_count; i++) {
        cr_player_at(&v->player, v->rows[i]);
        cr__view_ties(v, false);
        for (int b = 1; b < v->log->model->nb; b++) {
            if (v->shown[b] && !cr__view_is_static(v, b)) cr__view_body(v, b, false, NULL);
            double at[2];
            cr__view_project(v, v->player.d.com[b], at);
            for (int k = 0; k < 2 && v->shown[b] && !cr__view_is_static(v, b); k++) {
                v->lo[k] = fmin(v->lo[k], at[k]);
                v->hi[k] = fmax(v->hi[k], at[k]);
            }
        }
    }
    if (v->lo[0] > v->hi[0]) {
        v->lo[0] = v->lo[1] = 0.0;
        v->hi[0] = v->hi[1] = 1.0;
    }
    if (v->choice->kind == CR_VIEW_MOTION) measure_statics(v);
    double margin = MARGIN * fmax(v->hi[0] - v->lo[0], v->hi[1] - v->lo[1]);
    if (!(margin > 0.0)) margin = 0.5;
    for (int k = 0; k < 2; k++) {
        v->lo[k] -= margin;
        v->hi[k] += margin;
    }
}

// true if a body that is shown moved or turned visibly between two records
static bool moved_between(crView* v, size_t from, size_t to, crPose* before) {
    double size = fmax(v->hi[0] - v->lo[0], v->hi[1] - v->lo[1]);
    int nb = v->log->model->nb;
    cr_player_at(&v->player, from);
    memcpy(before, v->player.d.pose, (size_t)nb * sizeof *before);
    cr_player_at(&v->player, to);
    for (int b = 1; b < nb; b++) {
        crPose now = v->player.d.pose[b], old = before[b];
        double turn = now.q.w * old.q.w + now.q.x * old.q.x + now.q.y * old.q.y + now.q.z * old.q.z;
        if (v->shown[b] && (cr_norm(cr_sub(now.p, old.p)) > STILL * size || fabs(turn) < 1.0 - STILL * STILL))
            return true;
    }
    return false;
}

// Rows at which nothing has moved since the one before are dropped where the times are not asked for.
static void drop_still_rows(crView* v) {
    const crViewChoice* c = v->choice;
    if (c->time_count > 0 || c->kind == CR_VIEW_MOTION || c->kind == CR_VIEW_IMPULSES) return;
    crPose* before = malloc((size_t)v->log->model->nb * sizeof *before);
    int kept = 1;
    for (int i = 1; i < v->row_count && before != NULL; i++) {
        if (moved_between(v, v->rows[kept - 1], v->rows[i], before)) v->rows[kept++] = v->rows[i];
    }
    if (before != NULL) v->row_count = kept;
    free(before);
}

// is b no farther than a twentieth of a pixel from the way from a to c?
static bool on_the_way(const double* a, const double* b, const double* c) {
    double length = hypot(c[0] - a[0], c[1] - a[1]);
    double ahead = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]);
    return ahead >= 0.0 && fabs(cr_flat_turn(a, b, c)) <= 0.05 * length;
}

// where centres of mass went, between the first and the last row drawn
static void draw_paths(crView* v) {
    size_t first = v->rows[0];
    size_t last = v->rows[v->row_count - 1];
    size_t every = (last - first) / 400 + 1;
    double(*path)[2] = malloc(512 * sizeof *path);
    for (int b = 1; b < v->log->model->nb && path != NULL && v->log->model->nb < 200; b++) {
        size_t n = 0;
        if (!v->shown[b] || cr__view_is_static(v, b)) continue;
        for (size_t row = first; row < last + every && n < 512; row += every) {
            cr_player_at(&v->player, row < last ? row : last);
            cr__view_project(v, v->player.d.com[b], path[n]);
            path[n][0] = cr_panel_x(&v->panel, path[n][0]);
            path[n][1] = cr_panel_y(&v->panel, path[n][1]);
            if (n >= 2 && on_the_way(path[n - 2], path[n - 1], path[n])) {
                memcpy(path[n - 1], path[n], sizeof *path);
            } else {
                n++;
            }
        }
        cr_sheet_path(v->sheet, (const double(*)[2])path, n,
                      (crPen){.stroke = cr__view_ink(b), .width = 1.0, .dash = 2});
    }
    free(path);
}

// the body that goes farthest carries the times
static int traveller(crView* v) {
    double most = -1.0;
    int best = 0;
    crVec3* start = malloc((size_t)v->log->model->nb * sizeof *start);
    if (start == NULL) return 0;
    cr_player_at(&v->player, v->rows[0]);
    memcpy(start, v->player.d.com, (size_t)v->log->model->nb * sizeof *start);
    cr_player_at(&v->player, v->rows[v->row_count - 1]);
    for (int b = 1; b < v->log->model->nb; b++) {
        double moved = cr_norm(cr_sub(v->player.d.com[b], start[b]));
        if (!v->shown[b] || cr__view_is_static(v, b) || moved <= most) continue;
        most = moved;
        best = b;
    }
    free(start);
    return best;
}

static void draw_bodies(crView* v) {
    bool single = v->row_count == 1;
    for (int i = 0; i < v->row_count; i++) {
        cr_player_at(&v->player, v->rows[i]);
        cr__view_ties(v, true);
        double share = single ? 0.7 : 0.12 + 0.63 * i / (v->row_count - 1);
        for (int b = 1; b < v->log->model->nb; b++) {
            if (!v->shown[b] || cr__view_is_static(v, b)) continue;
            cr__view_body(
                v, b, false,
                &(crPen){.stroke = cr__view_ink(b), .fill = cr__view_ink(b), .width = 1.2, .alpha = share});
        }
    }
}

static void draw_arrow(crView* v, crVec3 from, crVec3 along, double width) {
    double a[2];
    double b[2];
    cr__view_project(v, from, a);
    cr__view_project(v, cr_add(from, along), b);
    for (int i = 0; i < 2; i++) {
        double* p = i == 0 ? a : b;
        p[0] = cr_panel_x(&v->panel, p[0]);
        p[1] = cr_panel_y(&v->panel, p[1]);
    }
    double dx = b[0] - a[0];
    double dy = b[1] - a[1];
    double length = sqrt(dx * dx + dy * dy);
    if (length < 2.0) return;
    double head = fmin(9.0, 0.5 * length);
    dx *= head / length;
    dy *= head / length;
    cr_sheet_line(v->sheet, a[0], a[1], b[0] - 0.7 * dx, b[1] - 0.7 * dy,
                  (crPen){.stroke = CR_INK_STRONG, .width = width});
    const double tip[4][2] = {{b[0], b[1]},
                              {b[0] - dx - 0.4 * dy, b[1] - dy + 0.4 * dx},
                              {b[0] - dx + 0.4 * dy, b[1] - dy - 0.4 * dx},
                              {b[0], b[1]}};
    cr_sheet_path(v->sheet, tip, 4, (crPen){.fill = CR_INK_STRONG, .alpha = 1.0});
}

// events at the instant nearest to the time asked for
static size_t nearest_events(const crMotionLog* log, double at, size_t* first) {
    if (log->event_count == 0) return 0;
    size_t best = 0;
    for (size_t i = 1; i < log->event_count; i++) {
        if (fabs(log->events[i].time - at) < fabs(log->events[best].time - at)) best = i;
    }
    double time = log->events[best].time;
    double same = 1e-9 * (1.0 + fabs(time));
    *first = best;
    while (*first > 0 && fabs(log->events[*first - 1].time - time) <= same) {
        --*first;
    }
    size_t end = best;
    while (end < log->event_count && fabs(log->events[end].time - time) <= same) {
        end++;
    }
    return end - *first;
}

static void draw_impulses(crView* v, size_t first, size_t count) {
    double most = 0.0;
    for (size_t i = first; i < first + count; i++) {
        most = fmax(most, cr_norm(v->log->events[i].impulse));
    }
    if (!(most > 0.0)) return;
    double reach = ARROW * fmin(v->panel.x1 - v->panel.x0, v->panel.y1 - v->panel.y0);
    for (size_t i = first; i < first + count; i++) {
        const crEvent* e = &v->log->events[i];
        draw_arrow(v, e->point, cr_scale(reach / most, e->impulse), 2.0);
        draw_arrow(v, e->point, cr_scale(-reach / most, e->impulse), 2.0);
    }
    char text[96];
    snprintf(text, sizeof text, "t = %.6g s: %zu contact%s, largest impulse %.4g N s",
             v->log->events[first].time, count, count == 1 ? "" : "s", most);
    cr_sheet_text(v->sheet, v->panel.right - 4.0, v->panel.top + 14.0, 11.0, CR_ANCHOR_END, CR_INK_STRONG,
                  text);
}

crStatus cr__view_check(const crMotionLog* log, const crViewChoice* choice, crError* error) {
    if (log->model == NULL)
        return cr_error_set(error, CR_ERR_MISSING, "scene",
                            "scene: bodies are drawn by their shapes; say --scene SCENE, or use a .h5 file");
    if (choice->kind == CR_VIEW_IMPULSES && !log->has_events)
        return cr_error_set(error, CR_ERR_MISSING, "events",
                            "events: the file has none; a trajectory in HDF5 (.h5) has");
    if (choice->kind == CR_VIEW_IMPULSES && log->event_count == 0)
        return cr_error_set(error, CR_ERR_MISSING, "events", "events: nothing hit anything in that time");
    return CR_OK;
}

static void draw_all(crView* v, const char* title, size_t first, size_t events) {
    cr_sheet_text(v->sheet, v->panel.left, v->panel.top - 10.0, 13.0, CR_ANCHOR_START, CR_INK_TEXT, title);
    cr_panel_axes(v->sheet, &v->panel, v->panel.left - 50.0, v->axes.right_name, v->axes.up_name);
    cr__view_statics(v);
    if (v->row_count > 1) draw_paths(v);
    v->bodies_from = v->sheet->mark_count;
    draw_bodies(v);
    v->bodies_to = v->sheet->mark_count;
    cr__view_joints(v);
    if (events > 0) {
        draw_impulses(v, first, events);
    } else {
        // where nothing moves, the picture is that of every time
        bool still = v->row_count == 1 && v->choice->time_count == 0;
        int body = still ? 0 : traveller(v);
        double left[CR_VIEW_ROWS];
        int left_count = 0;
        for (int i = 0; i < v->row_count && body > 0; i++) {
            double time = v->log->rows[v->rows[i] * v->log->columns];
            cr_player_at(&v->player, v->rows[i]);
            if (!cr__view_label(v, body, time)) left[left_count++] = time;
        }
        cr__view_label_left(v, left, left_count);
    }
    cr_panel_frame(v->sheet, &v->panel);
}

void cr__view_end(crView* v) {
    if (v == NULL) return;
    if (v->player.log != NULL) cr_player_destroy(&v->player);
    free(v->shown);
    free(v);
}

// everything known before a panel is: axes, rows, what part is seen
crView* cr__view_begin(const crMotionLog* log, const crViewChoice* choice) {
    crView* v = calloc(1, sizeof *v);
    bool* shown = calloc((size_t)log->model->nb, sizeof *shown);
    if (v == NULL || shown == NULL || cr_player_create(&v->player, log) != CR_OK) {
        free(shown);
        free(v);
        return NULL;
    }
    *v = (crView){.log = log, .choice = choice, .player = v->player, .shown = shown};
    for (int i = 0; i < choice->body_count; i++) {
        shown[choice->bodies[i] + 1] = true;
    }
    for (int i = 1; i < log->model->nb && choice->body_count == 0; i++) {
        shown[i] = true;
    }
    v->axes = cr_view_axes(&v->player, choice->kind, shown);
    choose_rows(v);
    v->segments = (double)v->row_count * log->model->nb > CROWD ? SEGMENTS / 2 : SEGMENTS;
    measure(v);
    drop_still_rows(v);
    for (int k = 0; k < 2 && choice->framed; k++) {
        v->lo[k] = choice->frame[k];
        v->hi[k] = choice->frame[2 + k];
    }
    return v;
}

// impulses are drawn at the instant they happened
static size_t settle_time(const crMotionLog* log, crViewChoice* choice, size_t* first) {
    *first = 0;
    if (choice->kind != CR_VIEW_IMPULSES) return 0;
    size_t count = nearest_events(log, choice->at, first);
    choice->at = log->events[*first].time;
    return count;
}

static crStatus add_frame(const crMotionLog* log, const crViewChoice* choice, double frame[4],
                          crError* error) {
    crStatus status = cr__view_check(log, choice, error);
    if (status != CR_OK) return status;
    crViewChoice own = *choice;
    size_t first;
    settle_time(log, &own, &first);
    crView* v = cr__view_begin(log, &own);
    if (v == NULL) return cr_error_set(error, CR_ERR_MEMORY, "plot", "plot: out of memory");
    for (int k = 0; k < 2; k++) {
        frame[k] = fmin(frame[k], v->lo[k]);
        frame[2 + k] = fmax(frame[2 + k], v->hi[k]);
    }
    cr__view_end(v);
    return CR_OK;
}

crStatus cr_view_frame(const crMotionLog* const* logs, int count, crViewChoice* choice, crError* error) {
    double frame[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    crStatus status = CR_OK;
    for (int i = 0; i < count && status == CR_OK; i++) {
        status = add_frame(logs[i], choice, frame, error);
    }
    memcpy(choice->frame, frame, sizeof frame);
    choice->framed = status == CR_OK;
    return status;
}

double cr_view_height(const crViewChoice* choice, double width) {
    double shape = (choice->frame[3] - choice->frame[1]) / (choice->frame[2] - choice->frame[0]);
    return ABOVE + BELOW + (width - LEFT - RIGHT) * fmin(fmax(shape, 0.25), 0.9);
}

crStatus cr_view_draw(crSheet* sheet, double x0, double y0, double x1, double y1, const crMotionLog* log,
                      const char* title, const crViewChoice* choice, crError* error) {
    crStatus status = cr__view_check(log, choice, error);
    if (status != CR_OK) return status;
    crViewChoice own = *choice;
    size_t first;
    size_t events = settle_time(log, &own, &first);
    crView* v = cr__view_begin(log, &own);
    if (v == NULL) return cr_error_set(error, CR_ERR_MEMORY, "plot", "plot: out of memory");
    v->sheet = sheet;
    cr__view_panel(v, x0 + LEFT, y0 + ABOVE, x1 - RIGHT, y1 - BELOW);
    draw_all(v, title, first, events);
    cr__view_end(v);
    return CR_OK;
}
