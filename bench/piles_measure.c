// piles_measure.c - overlap and energy of a scene from the poses and velocities an engine gave.
//
// Overlap: carom's cr_collide on every pair of bodies whose bounds meet and on every body and half-space, all
// contact points with gap < 0; bodies on one joint, and bodies of which neither is free, are left out. Energy of
// the free bodies: m v^2 / 2 + omega.I omega / 2, and m g z.
// Fails where memory is out.
#include <stdlib.h>

#include "carom/near.h"
#include "piles.h"

#define FAR_AWAY 1e3

static void add_points(const crContactPoint* points, int count, PilesMeasure* out) {
    for (int i = 0; i < count; i++) {
        if (!(points[i].gap < 0.0)) continue;
        out->overlaps++;
        out->sum -= points[i].gap;
        out->max = fmax(out->max, -points[i].gap);
    }
}

static bool joined(const PilesScene* scene, int a, int b) {
    for (int i = 0; i < scene->joint_count; i++) {
        if (scene->joints[i].a == a && scene->joints[i].b == b) return true;
    }
    return false;
}

static bool is_free(const PilesScene* scene, int body) { return scene->bodies[body].role == PILES_FREE; }

static bool pairs(const PilesScene* scene, const PilesMotion* motion, PilesMeasure* out) {
    crBroad* broad = NULL;
    if (cr_broad_create(0.0, NULL, &broad, NULL) != CR_OK) return false;
    crStatus status = CR_OK;
    for (int i = 0; i < scene->body_count && status == CR_OK; i++) {
        if (!cr_vec3_finite(motion[i].pose.p)) continue;
        crBounds box = cr_shape_bounds(&scene->bodies[i].shape, motion[i].pose);
        status = cr_broad_set(broad, i, box, -1, NULL);
    }
    const crPair* pair = NULL;
    int count = 0;
    if (status == CR_OK) status = cr_broad_pairs(broad, &pair, &count);
    for (int i = 0; i < count && status == CR_OK; i++) {
        int a = pair[i].a, b = pair[i].b;
        if ((!is_free(scene, a) && !is_free(scene, b)) || joined(scene, a, b)) continue;
        crContactPoint points[CR_MANIFOLD_MAX];
        int found = cr_collide(&scene->bodies[a].shape, motion[a].pose, &scene->bodies[b].shape,
                               motion[b].pose, 0.0, points, CR_MANIFOLD_MAX, NULL);
        add_points(points, found, out);
    }
    cr_broad_destroy(broad);
    return status == CR_OK;
}

static void planes(const PilesScene* scene, const PilesMotion* motion, PilesMeasure* out) {
    crPose origin = {cr_vec3(0, 0, 0), cr_quat_identity()};
    for (int i = 0; i < scene->body_count; i++) {
        if (!is_free(scene, i)) continue;
        crVec3 p = motion[i].pose.p;
        bool escaped = !cr_vec3_finite(p) || cr_norm(p) > FAR_AWAY;
        for (int k = 0; k < scene->plane_count && !escaped; k++) {
            escaped = cr_dot(scene->planes[k].normal, p) < scene->planes[k].offset;
            crShape plane = cr_shape_halfspace(scene->planes[k].normal, scene->planes[k].offset);
            crContactPoint points[CR_MANIFOLD_MAX];
            int found = cr_collide(&plane, origin, &scene->bodies[i].shape, motion[i].pose, 0.0, points,
                                   CR_MANIFOLD_MAX, NULL);
            add_points(points, found, out);
        }
        if (escaped) out->escapes++;
        out->displacement = fmax(out->displacement, cr_norm(cr_sub(p, scene->bodies[i].pose.p)));
    }
}

static double kinetic(const PilesBody* body, const PilesMotion* motion) {
    crVec3 w = cr_quat_rotate(cr_quat_conj(motion->pose.q), motion->omega), I = body->inertia;
    double spin = I.x * w.x * w.x + I.y * w.y * w.y + I.z * w.z * w.z;
    return 0.5 * (body->mass * cr_dot(motion->v, motion->v) + spin);
}

static int by_size(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

bool piles_measure(const PilesScene* scene, const PilesMotion* motion, PilesMeasure* out) {
    *out = (PilesMeasure){0};
    int n = scene->body_count;
    double* energy = calloc((size_t)n, sizeof *energy);
    if (energy == NULL || (!scene->alone && !pairs(scene, motion, out))) {
        free(energy);
        return false;
    }
    planes(scene, motion, out);
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (!is_free(scene, i)) continue;
        energy[count++] = kinetic(&scene->bodies[i], &motion[i]);
        out->potential += scene->bodies[i].mass * scene->gravity * motion[i].pose.p.z;
    }
    qsort(energy, (size_t)count, sizeof *energy, by_size);
    int slow = count > 1 ? (int)floor(0.95 * count) : 1;
    for (int i = 0; i < count; i++) {
        out->energy += energy[i];
        if (i < slow) out->energy95 += energy[i];
    }
    free(energy);
    return true;
}
