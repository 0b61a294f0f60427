// refused.c - hulls of points where carom is built without Qhull: refused by name.
#include "io/scene_parts.h"

crStatus cr__hull_of_points(const crVec3* points, int count, crHull** hull, crError* error) {
    (void)points;
    (void)count;
    (void)hull;
    return cr_error_set(error, CR_ERR_NAME, "points",
                        "points: a hull needs Qhull, which this carom was built without (CAROM_QHULL)");
}
