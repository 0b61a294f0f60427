// scene_overlaps.c - which shapes overlap at the start.
//
// Candidates from the broad phase, then the signed distance. Shapes that never meet do not count. Deeper than 1e-7 of the smaller shape counts, so that bodies placed to touch
// are left in peace. Fails: memory.
#include <stdlib.h>
#include <string.h>

#include "carom/dynamics.h"
#include "carom/near.h"
#include "io/scene_parts.h"

#define MOST_OVERLAPS 100000  // counted
#define TOUCHING      1e-7

void cr_scene_shape_name(const crScene* scene, int shape, char name[CR_SCENE_NAME]) {
    if (name == NULL) return;
    name[0] = '\0';
    const crModel* model = scene != NULL ? scene->model : NULL;
    if (model == NULL || shape < 0 || shape >= model->shape_count) return;
    int body = model->shapes[shape].body;
    int number = 0;
    int count = 0;
    for (int i = 0; i < model->shape_count; i++) {
        if (model->shapes[i].body != body) continue;
        if (i < shape) number++;
        count++;
    }
    const char* of = body == CR_WORLD ? "static" : model->bodies[body].name;
    if (count == 1 && body != CR_WORLD) {
        snprintf(name, CR_SCENE_NAME, "%.64s", of);
    } else {
        snprintf(name, CR_SCENE_NAME, "%.64s[%d]", of, number);
    }
}

static bool may_overlap(const crModel* model, int a, int b) {
    const crBody* x = &model->bodies[model->shapes[a].body];
    const crBody* y = &model->bodies[model->shapes[b].body];
    return (x->last >= 0 || y->last >= 0) && cr_model_meet(model, a, b);
}

static double size_of(const crShape* shape) {
    crBounds box = cr_shape_bounds(shape, cr_pose_identity());
    double size = cr_norm(cr_sub(box.hi, box.lo));
    return isfinite(size) ? size : INFINITY;
}

static void judge(crScene* scene, const crDynamics* d, int i, int j) {
    const crBodyShape* a = &scene->model->shapes[i];
    const crBodyShape* b = &scene->model->shapes[j];
    crDistance distance;
    if (!may_overlap(scene->model, i, j)) return;
    if (!cr_distance(&a->shape, d->pose[a->body], &b->shape, d->pose[b->body], 0.0, &distance)) return;
    double depth = -distance.contact.gap;
    if (!(depth > TOUCHING * fmin(size_of(&a->shape), size_of(&b->shape)))) return;
    if (scene->overlap_count < CR_SCENE_OVERLAPS)
        scene->overlaps[scene->overlap_count] = (crSceneOverlap){i, j, depth};
    scene->overlap_count++;
}

static crStatus sweep(crScene* scene, const crDynamics* d, crBroad* broad) {
    const crModel* model = scene->model;
    crStatus status = CR_OK;
    for (int i = 0; i < model->shape_count && status == CR_OK; i++) {
        const crBodyShape* s = &model->shapes[i];
        crBounds box = cr_shape_bounds(&s->shape, d->pose[s->body]);
        status = cr_broad_set(broad, i, box, s->body, NULL);
    }
    const crPair* pairs = NULL;
    int count = 0;
    if (status == CR_OK) status = cr_broad_pairs(broad, &pairs, &count);
    for (int i = 0; i < count && status == CR_OK && scene->overlap_count < MOST_OVERLAPS; i++) {
        judge(scene, d, pairs[i].a, pairs[i].b);
    }
    return status;
}

crStatus cr_scene_overlaps(crScene* scene) {
    if (scene == NULL || scene->model == NULL) return CR_ERR_ARGUMENT;
    scene->overlap_count = 0;
    crState state = {0};
    crDynamics d = {0};
    crBroad* broad = NULL;
    crStatus status = cr_state_create(scene->model, &scene->arena, &state);
    if (status == CR_OK) status = cr_dynamics_create(scene->model, &scene->arena, &d);
    if (status == CR_OK) status = cr_broad_create(0.0, NULL, &broad, NULL);
    if (status == CR_OK) {
        memcpy(state.q, scene->q, (size_t)scene->model->nq * sizeof(double));
        cr_model_kinematics(scene->model, &state, &d);
        status = sweep(scene, &d, broad);
    }
    cr_broad_destroy(broad);
    return status;
}
