// frame.c - the plane in which two bodies move, and the frame n, t1, t2 of a contact.
//
// Where both bodies keep to one plane, t1 lies in it; else t1 is along what the friction has as its axis, or as
// cr_frame has it. Cannot fail.
#include "step/cache.h"

crVec3 cr__step_common_plane(const crStep* step, int a, int b) {
    crVec3 none = cr_vec3(0, 0, 0);
    if (!step->cache->planes) return none;
    bool moves_a = cr__moves(step->model, a), moves_b = cr__moves(step->model, b);
    crVec3 na = step->plane[a], nb = step->plane[b];
    if (moves_a && moves_b) {
        bool same = cr_norm(na) > 0.0 && cr_norm(nb) > 0.0 && cr_norm(cr_cross(na, nb)) <= 1e-12;
        return same ? na : none;
    }
    return moves_a ? na : nb;
}

static crMat3 planar_frame(crVec3 n, crVec3 axis) {
    crVec3 t = cr_cross(axis, n);
    return cr_mat3_columns(n, cr_scale(1.0 / cr_norm(t), t), cr_cross(n, cr_scale(1.0 / cr_norm(t), t)));
}

crMat3 cr__step_frame(const crStep* step, const crStepContact* c) {
    crVec3 n = c->point.normal;
    if (c->planar) return planar_frame(n, cr__step_common_plane(step, c->body_a, c->body_b));
    if (c->surface->axis_of < 0) return cr_frame(n);
    int body = c->surface->axis_of == 0 ? c->body_a : c->body_b;
    return cr_surface_frame(n, cr_quat_rotate(step->dynamics.pose[body].q, c->surface->surface.axis));
}
