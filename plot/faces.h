// faces.h - the surface of a shape as polygons, for drawing.
#ifndef CAROM_PLOT_FACES_H
#define CAROM_PLOT_FACES_H

#include "carom/model.h"

#define CR_FACES_MOST 4000  // of a mesh or height field; larger ones are drawn as their box

typedef struct crFaces {
    crStatus status;  // CR_ERR_MEMORY where something could not be kept
    size_t vertex_count, vertex_room;
    crVec3* vertices;  // in the body's frame, m
    size_t face_count, index_count, index_room;
    int* loops;  // each face: its size, then its vertices counterclockwise from outside
    bool solid;  // convex: its outline is the outline of its points, and faces seen from behind are hidden
} crFaces;

// Polygons of one convex piece or of a mesh. Round parts have `segments` of them around. A half-space gives
// nothing.
void cr_faces_create(const crShape* shape, int segments, crFaces* faces);
void cr_faces_destroy(crFaces* faces);  // accepts a zeroed struct

// A shape's pieces: the children of a compound, at their places in the body; else the shape itself.
int cr_faces_pieces(const crShape* shape);
crShape cr_faces_piece(const crShape* shape, int index);

// What is drawn of a model: the visuals of bodies that have some, the shapes of the others. Indices run over both lists.
int cr_faces_count(const crModel* model);
// NULL for a shape of a body that has visuals.
const crBodyShape* cr_faces_drawn(const crModel* model, int index);
bool cr_faces_bare(const crModel* model, int body);  // true if nothing of the body is drawn

// Colour of something that is drawn, its own or its material's: 0x1rrggbb, 0 for none.
unsigned cr_faces_color(const crModel* model, const crBodyShape* drawn);

// What a body without shapes is drawn by: lines from its origin to its centre of mass, to the bodies that hang
// on it and to where loops hold it, in its own frame. A body with shapes has one line to its centre of mass where it
// hangs on a hinge or ball joint outside of its shapes, as on a string, else none. Returns how many.
#define CR_STICKS 16
int cr_faces_sticks(const crModel* model, int body, crVec3 ends[CR_STICKS]);

#endif
