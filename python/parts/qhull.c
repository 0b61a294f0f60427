// qhull.c - the part of the extension that needs Qhull: hulls of points.
#include "parts.h"

extern CR_API const PyPart py_part;
const PyPart py_part = {.hull = cr__hull_of_points};
