// view_parts.h - what the drawings of bodies share: still ones (view.c) and moving ones (motion_view.c).
#ifndef CAROM_PLOT_VIEW_PARTS_H
#define CAROM_PLOT_VIEW_PARTS_H

#include "plot/chart.h"
#include "plot/view.h"

#define CR_VIEW_LABELS 64
#define CR_VIEW_ROWS   256

typedef struct crView {
    crSheet* sheet;
    const crMotionLog* log;
    const crViewChoice* choice;
    crPlayer player;
    crViewAxes axes;
    bool* shown;                // (nb)
    size_t rows[CR_VIEW_ROWS];  // that are drawn
    int row_count;
    double lo[2], hi[2];  // of what is drawn, m
    crPanel panel;
    int segments;                     // of round outlines
    double boxes[CR_VIEW_LABELS][4];  // labels that are there
    int box_count;
    size_t bodies_from, bodies_to;  // marks of the sheet that are bodies
} crView;

// Everything that is known before there is a panel: axes, rows, the part that is seen. NULL where memory is out.
crView* cr__view_begin(const crMotionLog* log, const crViewChoice* choice);
void cr__view_end(crView* view);  // accepts NULL
// missing-field where the log has not what the choice draws.
crStatus cr__view_check(const crMotionLog* log, const crViewChoice* choice, crError* error);

void cr__view_project(const crView* view, crVec3 x, double out[2]);  // m
void cr__view_pixel(const crView* view, crVec3 x, double out[2]);    // on the sheet
bool cr__view_is_static(const crView* view, int body);
crInk cr__view_ink(int body);
// The body where the player has it; only its extent is added to lo and hi where pen is NULL. cut: at the panel's
// edge.
void cr__view_body(crView* view, int body, bool cut, const crPen* pen);
void cr__view_statics(crView* view);
// Ropes and rods where the player has them; only their extent is added to lo and hi where draw is false.
void cr__view_ties(crView* view, bool draw);
// Pins and springs of joints where the player has them.
void cr__view_joints(crView* view);
// The panel between these pixels, its ranges widened to one scale.
void cr__view_panel(crView* view, double left, double top, double right, double bottom);

// The time beside a body, where it covers nothing; false where there is no such place, and nothing is written.
bool cr__view_label(crView* view, int body, double time);
// Times that found no place, above the panel.
void cr__view_label_left(crView* view, const double* times, int count);

#endif
