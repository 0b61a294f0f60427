// deepest.h - overlap by collision of every pair of a world, as a share of the smaller body's size.
#ifndef CAROM_DEEPEST_H
#define CAROM_DEEPEST_H

#include "carom/stages.h"
#include "test.h"

// Deepest overlap of two shapes that may meet, of bodies below `end`, share of the size of the smaller body that moves.
static inline double deepest_share(crWorld* world, const crModel* model, int end) {
    const crStep* step = cr_world_stages(world);
    double most = 0.0;
    for (int i = 0; i < model->shape_count; i++) {
        for (int j = i + 1; j < model->shape_count; j++) {
            const crBodyShape *a = &model->shapes[i], *b = &model->shapes[j];
            if (a->body >= end || b->body >= end) continue;
            double size_a = cr_step_size(step, a->body), size_b = cr_step_size(step, b->body);
            double size = size_a > 0.0 && (size_a < size_b || !(size_b > 0.0)) ? size_a : size_b;
            if (!(size > 0.0) || !cr_model_meet(model, i, j)) continue;
            crPose at = cr_world_pose(world, a->body), to = cr_world_pose(world, b->body);
            crContactPoint points[CR_MANIFOLD_MAX];
            int n = cr_collide(&a->shape, at, &b->shape, to, 0.0, points, CR_MANIFOLD_MAX, NULL);
            for (int k = 0; k < n; k++) {
                most = fmax(most, -points[k].gap / size);
            }
        }
    }
    return most;
}

#endif
