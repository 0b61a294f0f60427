// animation_svg.c - a moving picture as SVG: every body drawn once and moved by SMIL, which browsers play in images too.
//
// A body that turns in the picture's plane, and a ball, is its outline with keyed shifts and turns; between two keys a
// browser interpolates, so that keys are dropped where the straight line misses no record by more than TOLERANCE. Any other
// body has its outlines picture by picture. Pictures through a camera are drawn whole, one after the other, and shown in
// turn. Fails: memory, file.
#include <stdlib.h>
#include <string.h>

#include "plot/animation_parts.h"
#include "plot/faces.h"

#define TOLERANCE 0.12   // pixels
#define NUMBERS   6e6    // records times bodies that are kept
#define PICTURES  160    // of what changes its outline
#define RATE      20.0   // pictures a second
#define MARKS     60000  // areas in all pictures through a camera, about

// where a body is at each record: shift in pixels and turn in degrees since the first
typedef struct Track {
    float x, y, turn;
} Track;

typedef struct Play {
    crReel* reel;
    crView* view;
    FILE* file;
    size_t count;    // records that are looked at
    size_t every;    // how many rows apart they are
    Track* tracks;   // (nb*count), body by body
    bool* tumbles;   // (nb) leaves the plane
    double* origin;  // (nb*2) pixels, at the first record
    bool* kept;      // (count)
} Play;

static size_t row_of(const Play* p, size_t record) {
    size_t row = record * p->every;
    return row < p->view->log->count ? row : p->view->log->count - 1;
}

static double share_of(const Play* p, size_t record) {
    double time = p->view->log->rows[row_of(p, record) * p->view->log->columns];
    return (time - p->reel->begin) / p->reel->animation->speed / p->reel->seconds;
}

// the only shape is a ball: how it turns is not seen
static const crShape* only_ball(const crModel* model, int body) {
    const crShape* ball = NULL;
    for (int i = 0; i < cr_faces_count(model); i++) {
        const crBodyShape* drawn = cr_faces_drawn(model, i);
        if (drawn == NULL || drawn->body != body) continue;
        if (ball != NULL || drawn->shape.kind != CR_SHAPE_SPHERE) return NULL;
        ball = &drawn->shape;
    }
    return ball;
}

// the point of the body that carries its outline, and how far it is turned in the plane; false where it left the plane
static bool place(const Play* p, int body, crQuat first, double at[2], double* turn) {
    const crView* v = p->view;
    crPose pose = v->player.d.pose[body];
    const crShape* ball = only_ball(v->log->model, body);
    cr__view_pixel(v, ball != NULL ? cr_pose_point(pose, ball->pose.p) : pose.p, at);
    *turn = 0.0;
    if (ball != NULL) return true;
    crQuat moved = cr_quat_mul(pose.q, cr_quat_conj(first));
    crVec3 axis = cr_cross(v->axes.right, v->axes.up);
    crVec3 right = cr_quat_rotate(moved, v->axes.right);
    *turn = -atan2(cr_dot(right, v->axes.up), cr_dot(right, v->axes.right)) * 180.0 / CR_PI;
    return cr_dot(cr_quat_rotate(moved, axis), axis) > 1.0 - 1e-6;
}

static void follow(Play* p) {
    crView* v = p->view;
    int nb = v->log->model->nb;
    crQuat* first = malloc((size_t)nb * sizeof *first);
    for (size_t k = 0; k < p->count && first != NULL; k++) {
        cr_player_at(&v->player, row_of(p, k));
        for (int b = 1; b < nb; b++) {
            Track* t = &p->tracks[(size_t)b * p->count + k];
            double at[2];
            double turn;
            if (k == 0) first[b] = v->player.d.pose[b].q;
            if (!place(p, b, first[b], at, &turn)) p->tumbles[b] = true;
            if (k == 0) memcpy(p->origin + 2 * b, at, sizeof at);
            // whole turns are kept: a wheel does not spin back
            if (k > 0) turn += 360.0 * round(((double)t[-1].turn - turn) / 360.0);
            *t = (Track){(float)(at[0] - p->origin[2 * b]), (float)(at[1] - p->origin[2 * b + 1]),
                         (float)turn};
        }
    }
    if (first == NULL) p->count = 0;
    free(first);
}

// how far a record is from the line between two others: pixels, or degrees times `scale`
static double miss(const Play* p, const Track* t, size_t a, size_t b, size_t k, bool turns, double scale) {
    double length = share_of(p, b) - share_of(p, a);
    double s = length > 0.0 ? (share_of(p, k) - share_of(p, a)) / length : 0.0;
    if (turns) return fabs((double)t[k].turn - t[a].turn - s * ((double)t[b].turn - t[a].turn)) * scale;
    double dx = (double)t[k].x - t[a].x - s * ((double)t[b].x - t[a].x);
    double dy = (double)t[k].y - t[a].y - s * ((double)t[b].y - t[a].y);
    return fmax(fabs(dx), fabs(dy));
}

// marks the records that must be keys between a and b, by halving at the worst
static void choose_keys(Play* p, const Track* t, size_t a, size_t b, bool turns, double scale) {
    while (b > a + 1) {
        double worst = TOLERANCE;
        size_t at = 0;
        for (size_t k = a + 1; k < b; k++) {
            double m = miss(p, t, a, b, k, turns, scale);
            if (m > worst) {
                worst = m;
                at = k;
            }
        }
        if (at == 0) return;
        p->kept[at] = true;
        choose_keys(p, t, a, at, turns, scale);
        a = at;
    }
}

static void put_timing(const Play* p) {
    fprintf(p->file, "\" dur=\"%.4gs\" repeatCount=\"indefinite\"/>", p->reel->seconds);
}

static bool moves(const Track* t, size_t count, bool turns) {
    for (size_t k = 1; k < count; k++) {
        if (turns ? fabsf(t[k].turn) > 0.05F : fabsf(t[k].x) > 0.05F || fabsf(t[k].y) > 0.05F) return true;
    }
    return false;
}

static void put_value(const Play* p, const Track* t, int body, bool turns) {
    if (turns) {
        fprintf(p->file, "%.1f ", (double)t->turn);
        cr_sheet_put_pixel(p->file, p->origin[2 * body]);
        putc(' ', p->file);
        cr_sheet_put_pixel(p->file, p->origin[2 * body + 1]);
        return;
    }
    cr_sheet_put_pixel(p->file, (double)t->x);
    putc(' ', p->file);
    cr_sheet_put_pixel(p->file, (double)t->y);
}

// <g> with its keys; true where one was opened
static bool put_keys(Play* p, int body, bool turns, double reach) {
    const Track* t = p->tracks + (size_t)body * p->count;
    if (!moves(t, p->count, turns)) return false;
    memset(p->kept, 0, p->count * sizeof *p->kept);
    p->kept[0] = p->kept[p->count - 1] = true;
    choose_keys(p, t, 0, p->count - 1, turns, reach * CR_PI / 180.0);
    fprintf(p->file, "<g><animateTransform attributeName=\"transform\" type=\"%s\" values=\"",
            turns ? "rotate" : "translate");
    for (size_t k = 0; k < p->count; k++) {
        if (!p->kept[k]) continue;
        put_value(p, &t[k], body, turns);
        putc(';', p->file);
    }
    put_value(p, &t[p->count - 1], body, turns);
    fputs("\" keyTimes=\"", p->file);
    for (size_t k = 0; k < p->count; k++) {
        if (p->kept[k]) fprintf(p->file, "%.5g;", k == 0 ? 0.0 : share_of(p, k));
    }
    putc('1', p->file);
    put_timing(p);
    putc('\n', p->file);
    return true;
}

// what is drawn instead of a body: ropes and rods behind bodies, pins and springs before them
#define TIES   (-1)
#define JOINTS (-2)

static void draw_at(const Play* p, int body, size_t record, crSheet* sheet) {
    crView* v = p->view;
    cr_sheet_create(sheet, 0.0, 0.0);
    v->sheet = sheet;
    cr_player_at(&v->player, row_of(p, record));
    if (body == TIES) {
        cr__view_ties(v, true);
    } else if (body == JOINTS) {
        cr__view_joints(v);
    } else {
        crPen pen = cr__reel_pen(body);
        cr__view_body(v, body, false, &pen);
    }
}

// pixels from the origin to the farthest point of the outline
static double reach_of(const Play* p, int body, const crSheet* sheet) {
    double most = 1.0;
    for (size_t i = 0; i < sheet->point_count; i++) {
        double dx = (double)sheet->points[i][0] - p->origin[2 * body];
        double dy = (double)sheet->points[i][1] - p->origin[2 * body + 1];
        most = fmax(most, hypot(dx, dy));
    }
    return most;
}

static void put_rigid(Play* p, int body) {
    crSheet sheet;
    draw_at(p, body, 0, &sheet);
    bool shifts = put_keys(p, body, false, 1.0);
    bool turns = put_keys(p, body, true, reach_of(p, body, &sheet));
    cr_sheet_put_marks(p->file, &sheet, 0);
    if (turns) fputs("</g>", p->file);
    fputs(shifts ? "</g>\n" : "\n", p->file);
    cr_sheet_destroy(&sheet);
}

// the record of a picture, from the first to the last
static size_t record_of(const Play* p, size_t picture, size_t pictures) {
    return pictures > 1 ? picture * (p->count - 1) / (pictures - 1) : 0;
}

// does a mark have the same points in all pictures?
static bool stays(const crSheet* sheets, size_t pictures, size_t m) {
    for (size_t i = 0; i < pictures; i++) {
        if (m >= sheets[i].mark_count || sheets[i].marks[m].count != sheets[0].marks[m].count) return false;
        if (memcmp(sheets[i].points + sheets[i].marks[m].first, sheets[0].points + sheets[0].marks[m].first,
                   sheets[0].marks[m].count * sizeof *sheets[0].points) != 0)
            return false;
    }
    return true;
}

// outlines picture by picture: each mark is a path whose d changes
static void put_pictures(Play* p, int body) {
    size_t pictures = (size_t)fmin(fmax(RATE * p->reel->seconds, 2.0), fmin(PICTURES, (double)p->count));
    crSheet* sheets = calloc(pictures, sizeof *sheets);
    if (sheets == NULL) return;
    size_t marks = 0;
    for (size_t i = 0; i < pictures; i++) {
        draw_at(p, body, record_of(p, i, pictures), &sheets[i]);
        if (sheets[i].mark_count > marks) marks = sheets[i].mark_count;
    }
    for (size_t m = 0; m < marks; m++) {
        size_t any = 0;
        while (sheets[any].mark_count <= m) {
            any++;
        }
        cr_sheet_put_pen(p->file, &sheets[any].marks[m].pen);
        // what programs show that do not play it
        fputs(" d=\"", p->file);
        cr_sheet_put_points(p->file, &sheets[any], &sheets[any].marks[m]);
        if (stays(sheets, pictures, m)) {
            fputs("\"/>\n", p->file);
            continue;
        }
        fputs("\"><animate attributeName=\"d\" calcMode=\"discrete\" values=\"", p->file);
        for (size_t i = 0; i < pictures; i++) {
            if (i > 0) putc(';', p->file);
            if (m < sheets[i].mark_count) {
                cr_sheet_put_points(p->file, &sheets[i], &sheets[i].marks[m]);
            } else {
                fputs("M0 0", p->file);
            }
        }
        fputs("\" keyTimes=\"0", p->file);
        for (size_t i = 1; i < pictures; i++) {
            fprintf(p->file, ";%.5g", share_of(p, record_of(p, i, pictures)));
        }
        put_timing(p);
        fputs("</path>\n", p->file);
    }
    for (size_t i = 0; i < pictures; i++) {
        cr_sheet_destroy(&sheets[i]);
    }
    free(sheets);
}

static crStatus put_panel(crReel* reel, crView* view, FILE* file) {
    size_t nb = (size_t)view->log->model->nb;
    size_t rows = view->log->count;
    size_t every = (size_t)((double)rows * (double)nb / NUMBERS) + 1;
    Play p = {.reel = reel, .view = view, .file = file, .every = every, .count = (rows - 1) / every + 1};
    if ((p.count - 1) * every < rows - 1) p.count++;
    p.tracks = calloc(nb * p.count, sizeof *p.tracks);
    p.tumbles = calloc(nb, sizeof *p.tumbles);
    p.origin = calloc(nb, 2 * sizeof *p.origin);
    p.kept = calloc(p.count, sizeof *p.kept);
    bool good = p.tracks != NULL && p.tumbles != NULL && p.origin != NULL && p.kept != NULL;
    if (good) follow(&p);
    good = good && p.count > 0;
    if (good) put_pictures(&p, TIES);
    for (int b = 1; good && b < (int)nb; b++) {
        if (!view->shown[b] || cr__view_is_static(view, b)) continue;
        (p.tumbles[b] ? put_pictures : put_rigid)(&p, b);
    }
    if (good) put_pictures(&p, JOINTS);
    free(p.tracks);
    free(p.tumbles);
    free(p.origin);
    free(p.kept);
    return good ? CR_OK : CR_ERR_MEMORY;
}

// a picture through the camera, shown from a share of the duration to another
static void put_whole(crReel* r, FILE* file, size_t picture, size_t pictures, const crSheet* sheet) {
    double run = (r->seconds - r->hold) / r->seconds;
    double from = run * (double)picture / (double)pictures;
    double to = picture + 1 < pictures ? run * (double)(picture + 1) / (double)pictures : 1.0;
    // programs that do not play it show the first
    fprintf(file, "<g%s><animate attributeName=\"display\" calcMode=\"discrete\" values=\"",
            picture > 0 ? " display=\"none\"" : "");
    if (pictures == 1) {
        fputs("inline\" keyTimes=\"0", file);
    } else if (picture == 0) {
        fprintf(file, "inline;none\" keyTimes=\"0;%.5g", to);
    } else if (picture + 1 == pictures) {
        fprintf(file, "none;inline\" keyTimes=\"0;%.5g", from);
    } else {
        fprintf(file, "none;inline;none\" keyTimes=\"0;%.5g;%.5g", from, to);
    }
    fprintf(file, "\" dur=\"%.4gs\" repeatCount=\"indefinite\"/>\n", r->seconds);
    cr_sheet_put_marks(file, sheet, 0);
    fputs("</g>\n", file);
}

static crStatus put_camera(crReel* r, FILE* file) {
    crStatus status = CR_OK;
    size_t pictures = 1;
    for (size_t i = 0; i < pictures && status == CR_OK; i++) {
        crSheet sheet;
        cr_sheet_create(&sheet, r->back.width, r->back.height);
        double share = pictures > 1 ? (double)i / (double)(pictures - 1) : 0.0;
        cr__reel_bodies(r, &sheet, r->begin + share * (r->end - r->begin));
        status = sheet.status != CR_OK ? sheet.status : r->status;
        if (i == 0 && r->end > r->begin) {
            double most = fmin(PICTURES, MARKS / (double)(sheet.mark_count + 1));
            pictures = (size_t)fmax(2.0, fmin(RATE * (r->seconds - r->hold), most));
        }
        put_whole(r, file, i, pictures, &sheet);
        cr_sheet_destroy(&sheet);
    }
    return status;
}

static void put_bar(const crReel* r, FILE* file) {
    double length = r->bar[1] - r->bar[0];
    double run = 1.0 - r->hold / r->seconds;
    fprintf(file,
            "<rect class=\"fill-%d\" x=\"%.4g\" y=\"%.6g\" height=\"4\" width=\"0\"><animate "
            "attributeName=\"width\" values=\"0;%.6g;%.6g\" keyTimes=\"0;%.5g;1\" dur=\"%.4gs\" "
            "repeatCount=\"indefinite\"/></rect>\n",
            (int)CR_INK_STRONG, r->bar[0], r->bar[2] - 2.0, length, length, run, r->seconds);
}

crStatus cr__reel_svg(crReel* reel, const char* path, crError* error) {
    crPartial partial;
    crStatus status = cr_partial_begin(&partial, path, error);
    if (status != CR_OK) return status;
    FILE* file = partial.file;
    const crSheet* back = &reel->back;
    fprintf(
        file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.6g %.6g\" width=\"%.6g\" height=\"%.6g\" "
        "font-family=\"DejaVu Sans,Verdana,sans-serif\" role=\"img\">\n<title>Bodies in motion</title>\n",
        back->width, back->height, back->width, back->height);
    cr_sheet_put_style(file, true);
    fprintf(file, "<rect class=\"paper\" width=\"%.6g\" height=\"%.6g\"/>\n", back->width, back->height);
    cr_sheet_put_marks(file, back, 0);
    status = back->status;
    if (reel->animation->camera.given && status == CR_OK) status = put_camera(reel, file);
    for (int i = 0; i < reel->animation->count && status == CR_OK && !reel->animation->camera.given; i++) {
        status = put_panel(reel, reel->views[i], file);
    }
    put_bar(reel, file);
    fputs("</svg>\n", file);
    if (status != CR_OK) cr_error_set(error, status, "output", "output: out of memory");
    return cr_partial_end(&partial, status, error);
}
