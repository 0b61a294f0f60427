// stage.h - bodies in perspective with light and shadows, as the page of carom view shows them.
#ifndef CAROM_PLOT_STAGE_H
#define CAROM_PLOT_STAGE_H

#include "plot/camera.h"

// Convex part of the picture: a shape of a body, a stick, a rope, a pin. Meshes are not convex.
typedef struct crPiece {
    crShape shape;  // in the frame of its body
    crPose pose;    // of the body
    bool moves;
    bool plain;     // true if a ball has no stripe
    double rgb[3];  // 0 to 1, linear
    double alpha;   // opacity
    double depth;   // of its middle, m
    double box[4];  // pixels: left, top, right, bottom
} crPiece;

typedef struct crStage {
    crSheet* sheet;
    const crPanel* panel;
    crCamera camera;
    bool dark;
    int shades;    // of a ball
    int segments;  // of round pieces, at most 64
    size_t count, room;
    crPiece* pieces;
    size_t* order;  // (count) from behind to front
} crStage;

// The pieces of a view as its player has it, in the order in which they must be drawn. Fails: memory.
crStatus cr__stage_fill(crStage* stage, const crView* view);
void cr__stage_empty(crStage* stage);  // frees what cr__stage_fill made; accepts a zeroed stage

// Half-spaces as sheets with a grid, and a sheet below bodies that nothing carries.
void cr__stage_ground(crStage* stage, const crView* view);
// Shadows on those sheets, then all pieces.
void cr__stage_draw(crStage* stage, const crView* view);

#endif
