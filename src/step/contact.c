// contact.c - one contact: its frame n, t1, t2, its rows, the velocity that driven bodies give it.
//
// If both bodies move in one plane, t1 lies in it; otherwise t1 follows the axis of anisotropic friction, or
// comes from cr_frame.
// Fails: as the user's coefficients do; the other functions cannot fail.
#include "step/step.h"

static crMat3 planar_frame(crVec3 n, crVec3 axis) {
    crVec3 t = cr_cross(axis, n);
    return cr_mat3_columns(n, cr_scale(1.0 / cr_norm(t), t), cr_cross(n, cr_scale(1.0 / cr_norm(t), t)));
}

crMat3 cr__step_frame(const crStep* step, const crStepContact* c) {
    crVec3 n = c->point.normal;
    if (c->planar) return planar_frame(n, cr__plan_common_plane(step->plan, c->body_a, c->body_b));
    if (c->surface->axis_of < 0) return cr_frame(n);
    int body = c->surface->axis_of == 0 ? c->body_a : c->body_b;
    return cr_surface_frame(n, cr_quat_rotate(step->dynamics.pose[body].q, c->surface->surface.axis));
}

crStatus cr__step_surface_at(const crStep* step, crStepContact* c, crVec3 u) {
    const crDynamics* d = &step->dynamics;
    const crBodyShape* shapes = step->model->shapes;
    crVec3 omega = cr_sub(d->twist[c->body_b].omega, d->twist[c->body_a].omega);
    crApproach approach = cr_approach(c->point.normal, u, omega);
    int surface = cr__pairs_surface(step->pairs, shapes[c->shape_a].material, shapes[c->shape_b].material);
    if (surface < 0) return (crStatus)surface;
    crStatus status = cr__pairs_surface_at(step->pairs, surface, &approach, &c->surface);
    if (status == CR_OK) c->e = c->surface->surface.e;
    return status;
}

static bool frictionless(const crSurface* s) {
    return s->vertex_count == 0 && s->mu == 0.0 && (s->mu2 == 0.0 || isnan(s->mu2)) && s->mu_spin == 0.0 &&
           s->mu_roll == 0.0;
}

int cr__step_contact_rows(const crStepContact* c) {
    const crSurface* s = &c->surface->surface;
    if (frictionless(s)) return 1;
    return 1 + (c->planar ? 1 : 2) + (s->mu_spin > 0.0 ? 1 : 0) + (s->mu_roll > 0.0 ? 2 : 0);
}

int cr__step_point_rows(const crStepContact* c) {
    return frictionless(&c->surface->surface) ? 1 : c->planar ? 2 : 3;
}

crVec3 cr__step_row_impulse(const crStep* step, const crStepContact* c, const double* p) {
    crVec3 P = cr_vec3(0, 0, 0);
    crMat3 F = cr__step_frame(step, c);
    for (int r = 0; r < cr__step_point_rows(c); r++) {
        P = cr_madd(P, p[c->row + r], cr_mat3_column(F, r));
    }
    return P;
}

void cr__step_set_row_impulse(const crStep* step, const crStepContact* c, crVec3 force, double h, double* p) {
    crMat3 F = cr__step_frame(step, c);
    for (int r = 0; r < cr__step_point_rows(c); r++) {
        p[c->row + r] = h * cr_dot(cr_mat3_column(F, r), force);
    }
}

crVec3 cr__step_contact_velocity(const crStep* step, const double* v, const crStepContact* c) {
    return cr_sub(cr__step_point_velocity(step, v, c->body_b, c->point.point),
                  cr__step_point_velocity(step, v, c->body_a, c->point.point));
}

crVec3 cr__step_given_velocity(const crStep* step, const crStepContact* c) {
    const crDynamics* d = &step->dynamics;
    if (step->plan->given_count == 0) return cr_vec3(0, 0, 0);
    crVec3 x = c->point.point;
    return cr_sub(cr__twist_at(cr__given(d, c->body_b), cr_sub(x, d->origin[c->body_b])),
                  cr__twist_at(cr__given(d, c->body_a), cr_sub(x, d->origin[c->body_a])));
}

// A contact that meets fast is resolved as an impact, not by this solve.
bool cr__step_meets_fast(const crStep* step, const crStepContact* c) {
    if (!(c->fast < INFINITY)) return false;
    crVec3 fall = cr_sub(cr__step_fall(step, c->body_b), cr__step_fall(step, c->body_a));
    double gap = fmax(0.0, c->point.gap);
    return c->speed * c->speed - 2.0 * gap * cr_dot(fall, c->point.normal) > c->fast * c->fast;
}
