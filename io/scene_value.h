// scene_value.h - a value over time in a scene: numbers, expressions, or a table.
#ifndef CAROM_IO_SCENE_VALUE_H
#define CAROM_IO_SCENE_VALUE_H

#include "io/expression.h"
#include "io/scene_parts.h"

typedef struct crScenePart {
    bool written;  // true if it is an expression, false if a number
    double number;
    crExpression expression;
} crScenePart;

// Of one part or three.
typedef struct crSceneValue {
    bool given;
    int parts;
    crScenePart part[3];
    int rows;       // of a table, 0 where there is none
    double* table;  // time and parts of each row (rows, 1 + parts)
} crSceneValue;

// The value under a field, where there is one; names ends with NULL: what expressions know, the time first.
void cr__scene_read_value(const crPlace* place, crScene* scene, const char* name, int parts,
                          const char* const* names, crSceneValue* value);
// variables has one number per name, the time first.
void cr__scene_value(const crSceneValue* value, const double* variables, double* out);

#endif
