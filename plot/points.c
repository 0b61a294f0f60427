// points.c - O, P_I, 2 P_I, P_II and 2 P_II in any projection of impulse space, with their names.
//
// Points that cannot be told apart on the sheet get one label with all their names; those out of view none.
#include <math.h>
#include <string.h>

#include "plot/draw.h"

typedef struct Named {
    bool there;
    crVec3 P;
    const char* text;
    int chars;
} Named;

#define NAMED 5

static void named_points(const crPicture* p, Named points[NAMED]) {
    points[0] = (Named){true, cr_vec3(0, 0, 0), "O", 2};
    points[1] = (Named){p->has_I, p->P_I, "P_{I}", 2};
    points[2] = (Named){p->has_I, cr_scale(2, p->P_I), "2P_{I}", 3};
    points[3] = (Named){p->has_II, p->P_II, "P_{II}", 3};
    points[4] = (Named){p->has_II, cr_scale(2, p->P_II), "2P_{II}", 4};
}

static void mark_points(crCanvas* canvas, const crPicture* p, const crProjection* v) {
    Named points[NAMED];
    named_points(p, points);
    for (int i = 0; i < NAMED; i++) {
        if (!points[i].there) continue;
        cr_canvas_mark(canvas, cr_project(v, points[i].P), 6.0, 7, 0.55, "lc rgb '#000000'");
    }
}

// Each point once, by all of its names.
static void label_points(crCanvas* canvas, const crPicture* p, const crProjection* v) {
    Named points[NAMED];
    named_points(p, points);
    for (int i = 0; i < NAMED; i++) {
        if (!points[i].there) continue;
        crPoint2 at = cr_project(v, points[i].P);
        char text[96];
        int chars = points[i].chars;
        snprintf(text, sizeof text, "%s", points[i].text);
        for (int k = i + 1; k < NAMED; k++) {
            crPoint2 other = cr_project(v, points[k].P);
            if (!points[k].there || hypot(at.x - other.x, at.y - other.y) * canvas->scale > 2.0) continue;
            points[k].there = false;
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "  = %s", points[k].text);
            chars += points[k].chars + 3;
        }
        cr_canvas_label_point(canvas, at, text, chars, "textcolor rgb '#000000'");
    }
}

void cr_draw_points(crCanvas* canvas, const crPicture* p, const crProjection* v) {
    mark_points(canvas, p, v);
    label_points(canvas, p, v);
}
