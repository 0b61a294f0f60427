// scene_coefficient.h - a coefficient that depends on the impact, out of JSON.
#ifndef CAROM_IO_SCENE_COEFFICIENT_H
#define CAROM_IO_SCENE_COEFFICIENT_H

#include "carom/forms.h"
#include "io/json.h"

#define CR_CURVE_COLUMNS 64
#define CR_CURVE_VALUES  1024

typedef struct crCurveRoom {
    crCurve curve;  // points into this struct: do not copy it
    double x[CR_FORM_ROWS], y[CR_CURVE_COLUMNS], value[CR_CURVE_VALUES];
} crCurveRoom;

// A named form or a table over one or two figures; name is "e", "et" or "mu". Fails: a field is refused by name, line and
// column. Ranges of values are the model's to check.
crStatus cr__read_coefficient(const crJson* object, const char* name, crCurveRoom* room, crError* error);

// true where the curve is over speed alone.
static inline bool cr__curve_is_of_speed(const crCurve* c) {
    return c->columns == 1 && c->by[0] == CR_FIGURE_SPEED;
}

#endif
