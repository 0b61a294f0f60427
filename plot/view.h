// view.h - bodies drawn with their shapes at chosen times: strobe, plan, elevation, impulses of one instant.
#ifndef CAROM_PLOT_VIEW_H
#define CAROM_PLOT_VIEW_H

#include "plot/motion.h"

typedef enum crViewKind {
    CR_VIEW_STROBE,     // plan where there is no gravity or bodies move across it, else elevation
    CR_VIEW_PLAN,       // from above
    CR_VIEW_ELEVATION,  // from the side on which most happens
    CR_VIEW_IMPULSES,   // arrows of the impulses nearest to a time, on bodies as they are then
    CR_VIEW_MOTION      // as strobe; animation.h draws it
} crViewKind;

typedef struct crViewChoice {
    crViewKind kind;
    int body_count;       // 0: all
    const int* bodies;    // indices into log->bodies
    int time_count;       // 0: eight from first to last
    const double* times;  // s
    double at;            // impulses: s
    bool framed;          // show this part and no other:
    double frame[4];      // from right[0], up[1] to right[2], up[3], m
} crViewChoice;

// A view in perspective, as the page of carom view has it.
typedef struct crCameraChoice {
    bool given;    // false: the view is along an axis, without perspective
    bool has_eye;  // false: from where the page looks
    crVec3 eye;    // direction from what is looked at to the eye
    bool has_look;
    crVec3 look;         // point in the middle of the picture, m
    const char* follow;  // name of the body that stays in the middle; NULL: none
    double zoom;         // 1: all of the motion fits
} crCameraChoice;

// What lies to the right and up in a view, and what to write there.
typedef struct crViewAxes {
    crVec3 right, up;  // unit
    const char* right_name;
    const char* up_name;
} crViewAxes;
crViewAxes cr_view_axes(crPlayer* player, crViewKind kind, const bool* shown);  // shown (nb); NULL: all

// Sets choice->frame to what all of the logs need, so that they can be compared. Fails as drawing does.
crStatus cr_view_frame(const crMotionLog* const* logs, int count, crViewChoice* choice, crError* error);
// Height of a box of this width in which the frame fills its panel, within reason.
double cr_view_height(const crViewChoice* choice, double width);

// Into the box of the sheet, with axes, a title and time labels. Fails: missing-field where the log has no
// model (it has no shapes) or no events (impulses); memory.
crStatus cr_view_draw(crSheet* sheet, double x0, double y0, double x1, double y1, const crMotionLog* log,
                      const char* title, const crViewChoice* choice, crError* error);

#endif
