// describe.h - bodies for a page to draw, as members of a JSON object.
#ifndef CAROM_PLOT_DESCRIBE_H
#define CAROM_PLOT_DESCRIBE_H

#include <stdio.h>

#include "carom/model.h"

// "bodies":[...],"planes":[...],"ties":[...],"gravity":[...]: each body with its name, whether it moves, its centre of
// mass, its joint (kind, axis, whether it has a spring; it is at the body's origin) and its shapes in its own frame. A
// sphere is r and p; every other shape is vertices v and faces f (each its size, then its vertices counterclockwise
// from outside), with `segments` of them around a round part; c is a shape's colour, where its material has one.
// Half-spaces are planes n.x = offset in their body's frame; ties are ropes and rods from p of body a to q of body b.
void cr_describe_model(FILE* file, const crModel* model, int segments);

// false for the world and for bodies that are fixed to it, which stay where they are.
bool cr_describe_moves(const crModel* model, int body);

// JSON text for a script element: no tag can begin in it.
void cr_describe_safely(FILE* file, const char* json, size_t size);

#endif
