// camera.h - the eye of a picture in perspective: where it is, what it looks at, and where points are seen.
//
// The rules are those of the page (web/src/stage.js): up is against gravity; scenes that move in the x-y plane are seen along z,
// mechanisms along their common axis, tables from above, all else from the front. The field of view is 12 degrees, as
// from far away, so that a ball at the edge of the picture is still round.
#ifndef CAROM_PLOT_CAMERA_H
#define CAROM_PLOT_CAMERA_H

#include "plot/view_parts.h"

typedef struct crCamera {
    crVec3 at;               // the point in the middle of the picture, m
    crVec3 from, right, up;  // unit: towards the eye, and the directions of the picture
    double distance;         // of the eye from `at`, m
    crVec3 lo, hi;           // box of what is seen, m
    double radius;           // of that box, m
    crVec3 sky, sun;         // unit: against gravity, towards the light
    bool flat;               // true if the motion is looked at along z
    double scale;            // pixels of a length of 1 at a distance of 1
    double middle[2];        // pixels of `at`
} crCamera;

// Camera for what all views show, by the choice. zoom and the shape of the panel are not in it yet.
void cr_camera_create(crCamera* camera, crView* const* views, int count, const crCameraChoice* choice);
// Height over width of the box as the camera sees it.
double cr_camera_shape(const crCamera* camera);
// The camera for a panel: as near as the box allows, nearer by zoom.
void cr_camera_fit(crCamera* camera, const crPanel* panel, double zoom);
// Pixels of a point; returns its distance along the line of sight, m.
double cr_camera_pixel(const crCamera* camera, crVec3 x, double out[2]);
// Place of the eye, m.
crVec3 cr_camera_eye(const crCamera* camera);

#endif
