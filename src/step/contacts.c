// contacts.c - from shapes and poses to contacts: broad phase, pairs, surfaces, frames, speeds.
//
// Pairs that never meet: shapes of two bodies that no velocity moves, and what cr_model_meet says. Contacts
// come sorted by (shapes, children, features), whatever the history. A body is in the air where nothing
// touches it within the deadband, or only what it leaves faster than the threshold: then its flight is exact,
// else it is supported.
// Fails: CR_ERR_MEMORY; what the broad phase or a material says.
#include <string.h>

#include "model/spatial.h"
#include "step/step.h"

double cr__step_delta(const crStep* step, int a, int b) {
    const crModel* model = step->model;
    bool both = cr__moves(model, a) && cr__moves(model, b);
    double size = both ? fmin(step->size[a], step->size[b]) : fmax(step->size[a], step->size[b]);
    return step->settings.deadband * size;
}

// the plane both move in, zero where there is none
static crVec3 common_plane(const crStep* step, int a, int b) {
    crVec3 none = cr_vec3(0, 0, 0);
    bool moves_a = cr__moves(step->model, a), moves_b = cr__moves(step->model, b);
    crVec3 na = step->plane[a], nb = step->plane[b];
    if (moves_a && moves_b) {
        bool same = cr_norm(na) > 0.0 && cr_norm(nb) > 0.0 && cr_norm(cr_cross(na, nb)) <= 1e-12;
        return same ? na : none;
    }
    return moves_a ? na : nb;
}

int cr__step_pair(const crStep* step, int sa, int sb, crPose pose_a, crPose pose_b, double margin,
                  crContactPoint* points, int capacity, int* needed) {
    const crBodyShape* a = &step->model->shapes[sa];
    const crBodyShape* b = &step->model->shapes[sb];
    crVec3 axis = common_plane(step, a->body, b->body);
    if (cr_norm(axis) > 0.0 && capacity >= 2) {
        // the plane goes through the body that moves
        bool swap = !cr__moves(step->model, a->body);
        crStatus status =
            swap
                ? cr_collide_planar(&b->shape, pose_b, &a->shape, pose_a, axis, margin, points, needed, NULL)
                : cr_collide_planar(&a->shape, pose_a, &b->shape, pose_b, axis, margin, points, needed, NULL);
        for (int i = 0; status == CR_OK && swap && i < *needed; i++) {
            crContactPoint p = points[i];
            points[i] = (crContactPoint){p.gap,     cr_neg(p.normal), p.point,     p.on_b,     p.on_a,
                                         p.child_b, p.child_a,        p.feature_b, p.feature_a};
        }
        if (status == CR_OK) return *needed;
    }
    return cr_collide(&a->shape, pose_a, &b->shape, pose_b, margin, points, capacity, needed);
}

static crStatus find_pairs(crStep* step, double margin, const crPair** pairs, int* count, crError* error) {
    const crModel* model = step->model;
    for (int s = 0; s < model->shape_count; s++) {
        const crBodyShape* shape = &model->shapes[s];
        crBounds box = cr_shape_bounds(&shape->shape, step->dynamics.pose[shape->body]);
        crVec3 half = cr_vec3(0.5 * margin, 0.5 * margin, 0.5 * margin);
        box.lo = cr_sub(box.lo, half);
        box.hi = cr_add(box.hi, half);
        int group = cr__moves(model, shape->body) ? shape->body : CR_WORLD;
        crStatus status = cr_broad_set(step->broad, s, box, group, error);
        if (status != CR_OK) return status;
    }
    crStatus status = cr_broad_pairs(step->broad, pairs, count);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}

static crMat3 planar_frame(crVec3 n, crVec3 axis) {
    crVec3 t = cr_cross(axis, n);
    return cr_mat3_columns(n, cr_scale(1.0 / cr_norm(t), t), cr_cross(n, cr_scale(1.0 / cr_norm(t), t)));
}

// what a lasting contact can approach by in one step because normals and arms turn: h (omega^2 r + 2 omega
// u_t)
static double turning_gain(const crStep* step, const crStepContact* c, double slip) {
    double a = cr_norm(step->dynamics.twist[c->body_a].omega);
    double b = cr_norm(step->dynamics.twist[c->body_b].omega);
    double rate = a * a * step->size[c->body_a] + b * b * step->size[c->body_b] + 2.0 * (a + b) * slip;
    return 2.0 * step->settings.dt * rate;
}

// everything of a contact beyond its geometry
static crStatus complete(const crStep* step, crStepContact* c, crError* error) {
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    crVec3 n = c->point.normal;
    crVec3 u = cr_sub(cr_model_point_velocity(d, c->body_b, c->point.point),
                      cr_model_point_velocity(d, c->body_a, c->point.point));
    c->speed = cr_dot(n, u);
    c->delta = cr__step_delta(step, c->body_a, c->body_b);
    c->fast = step->settings.threshold;
    if (cr__step_warm(step, c) != NULL) c->fast += turning_gain(step, c, cr_norm(cr_madd(u, -c->speed, n)));
    crStatus status = cr_model_surface(model, model->shapes[c->shape_a].material,
                                       model->shapes[c->shape_b].material, fmax(0.0, -c->speed), &c->surface);
    if (status != CR_OK) return cr_error_set(error, status, "surface", "surface: %s", cr_status_text(status));
    crVec3 axis = common_plane(step, c->body_a, c->body_b);
    c->planar = cr_norm(axis) > 0.0 && fabs(cr_dot(axis, n)) <= 1e-9;
    if (c->planar) {
        c->frame = planar_frame(n, axis);
    } else if (c->surface.axis_of >= 0) {
        int body = c->surface.axis_of == 0 ? c->body_a : c->body_b;
        c->frame = cr_surface_frame(n, cr_quat_rotate(d->pose[body].q, c->surface.surface.axis));
    } else {
        c->frame = cr_frame(n);
    }
    return CR_OK;
}

static crStatus add_pair(crStep* step, crPair pair, double margin, int* capacity, crError* error) {
    const crModel* model = step->model;
    const crBodyShape* a = &model->shapes[pair.a];
    const crBodyShape* b = &model->shapes[pair.b];
    if (!cr_model_meet(model, pair.a, pair.b)) return CR_OK;
    crContactPoint few[16];
    crContactPoint* points = few;
    int needed = 0;
    crPose pose_a = step->dynamics.pose[a->body], pose_b = step->dynamics.pose[b->body];
    int count = cr__step_pair(step, pair.a, pair.b, pose_a, pose_b, margin, few, 16, &needed);
    if (needed > 16) {
        points = cr_arena_alloc(&step->scratch, (size_t)needed * sizeof *points);
        if (points == NULL) return cr__step_memory(error);
        count = cr__step_pair(step, pair.a, pair.b, pose_a, pose_b, margin, points, needed, &needed);
    }
    if (step->contact_count + count > *capacity) {
        int larger = 2 * *capacity + count + 16;
        crStepContact* more = cr_arena_alloc(&step->scratch, (size_t)larger * sizeof *more);
        if (more == NULL) return cr__step_memory(error);
        if (step->contact_count > 0) memcpy(more, step->contacts, (size_t)step->contact_count * sizeof *more);
        step->contacts = more;
        *capacity = larger;
    }
    for (int i = 0; i < count; i++) {
        crStepContact* c = &step->contacts[step->contact_count];
        *c = (crStepContact){.point = points[i], .shape_a = pair.a, .shape_b = pair.b, .row = -1};
        c->body_a = a->body;
        c->body_b = b->body;
        crStatus status = complete(step, c, error);
        if (status != CR_OK) return status;
        step->contact_count++;
    }
    return CR_OK;
}

// a slider or planar body at one of its limits is supported
static bool at_limit(const crStep* step, const crBody* body, double delta) {
    if (body->nq != body->nv) return false;
    for (int j = 0; j < body->nv; j++) {
        const crDof* dof = &step->model->dofs[body->v + j];
        double q = step->state.q[body->q + j];
        if (q - dof->lower <= delta || dof->upper - q <= delta) return true;
    }
    return false;
}

static void find_airborne(crStep* step) {
    const crModel* model = step->model;
    for (int i = 1; i < model->nb; i++) {
        step->airborne[i] = !at_limit(step, &model->bodies[i], step->settings.deadband);
    }
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (c->point.gap > c->delta || c->speed >= fmax(step->settings.threshold, 1e-12)) continue;
        step->airborne[c->body_a] = false;
        step->airborne[c->body_b] = false;
    }
}

crStatus cr_step_collide(crStep* step, double margin, crError* error) {
    if (!isfinite(margin)) {
        return cr_error_set(error, CR_ERR_FINITE, "margin", "margin: is %g, must be finite", margin);
    }
    step->contact_count = 0;
    step->contacts = NULL;
    const crPair* pairs = NULL;
    int count = 0;
    int capacity = 0;
    cr_model_velocity(step->model, step->state.v, &step->dynamics);
    crStatus status = find_pairs(step, margin, &pairs, &count, error);
    for (int i = 0; i < count && status == CR_OK; i++) {
        status = add_pair(step, pairs[i], margin, &capacity, error);
    }
    find_airborne(step);
    if (step->contact_count > step->certificate.contacts) step->certificate.contacts = step->contact_count;
    return status;
}
