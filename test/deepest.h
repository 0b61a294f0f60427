// deepest.h - overlap by collision of every pair of a world, as a share of the narrower body's width.
#ifndef CAROM_DEEPEST_H
#define CAROM_DEEPEST_H

#include "carom/stages.h"
#include "sample.h"

// least extent of a shape along its own axes, m; infinite for a surface
static inline double deepest_thickness(const crShape* shape) {
    crShape own = *shape;
    own.pose = cr_pose_identity();
    crBounds box = cr_shape_bounds(&own, own.pose);
    crVec3 d = cr_sub(box.hi, box.lo);
    double least = fmin(d.x, fmin(d.y, d.z));
    return least > 0.0 ? least : (double)INFINITY;
}

// Width of a body that moves: the least extent of its thinnest shape, or its reach if that is less, m. 0 for others.
static inline double deepest_width(const crStep* step, const crModel* model, int body) {
    double width = cr_step_size(step, body);
    for (int i = 0; i < model->shape_count; i++) {
        if (model->shapes[i].body == body) width = fmin(width, deepest_thickness(&model->shapes[i].shape));
    }
    return width;
}

// width of the narrower of two bodies that moves, m
static inline double deepest_pair_width(const crStep* step, const crModel* model, int body_a, int body_b) {
    double a = deepest_width(step, model, body_a), b = deepest_width(step, model, body_b);
    return a > 0.0 && (a < b || !(b > 0.0)) ? a : b;
}

// Deepest overlap of two shapes that may meet, of bodies below `end`, share of the width of the narrower body that moves.
static inline double deepest_share(crWorld* world, const crModel* model, int end) {
    const crStep* step = cr_world_stages(world);
    double most = 0.0;
    for (int i = 0; i < model->shape_count; i++) {
        for (int j = i + 1; j < model->shape_count; j++) {
            const crBodyShape *a = &model->shapes[i], *b = &model->shapes[j];
            if (a->body >= end || b->body >= end) continue;
            if (!(cr_step_size(step, a->body) > 0.0 || cr_step_size(step, b->body) > 0.0)) continue;
            if (!cr_model_meet(model, i, j)) continue;
            crPose at = cr_world_pose(world, a->body), to = cr_world_pose(world, b->body);
            crContactPoint points[CR_MANIFOLD_MAX];
            int n = cr_collide(&a->shape, at, &b->shape, to, 0.0, points, CR_MANIFOLD_MAX, NULL);
            double width = n > 0 ? deepest_pair_width(step, model, a->body, b->body) : 1.0;
            for (int k = 0; k < n; k++) {
                most = fmax(most, -points[k].gap / width);
            }
        }
    }
    return most;
}

#endif
