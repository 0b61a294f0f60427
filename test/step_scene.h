// step_scene.h - a model and a step of it, for the tests of single steppers.
#ifndef CAROM_TEST_STEP_SCENE_H
#define CAROM_TEST_STEP_SCENE_H

#include <stdlib.h>

#include "world_scene.h"

typedef struct Scene {
    crModel* model;
    crStep step;
} Scene;

static inline void scene_open(Scene* scene, const crStepSettings* settings) {
    crError error = {0};
    CHECK_STATUS(cr_step_create(scene->model, settings, NULL, &scene->step, &error), CR_OK);
}

static inline void scene_close(Scene* scene) {
    cr_step_destroy(&scene->step);
    cr_model_destroy(scene->model);
}

// by the method of the settings
static inline bool scene_step(Scene* scene, double h) {
    crError error = {0};
    crStatus status = cr_step_run(&scene->step, h, &error);
    return test_check(status == CR_OK, __FILE__, __LINE__, "step at %g: %s", scene->step.state.time,
                      error.message);
}

static inline crEnergy scene_energy(Scene* scene) {
    crStep* step = &scene->step;
    cr_model_kinematics(scene->model, &step->state, &step->dynamics);
    cr_model_velocity(scene->model, step->state.v, &step->dynamics);
    return cr_model_energy(scene->model, &step->state, &step->dynamics);
}

static inline crStepSettings scene_settings(crMethod method) {
    crStepSettings settings = cr_step_settings();
    settings.method = method;
    return settings;
}

// an allocator that gives so many blocks and no more, and counts those not given back
typedef struct Budget {
    int left;
    long held;
} Budget;

static inline void* budget_alloc(void* ctx, size_t size) {
    Budget* budget = ctx;
    if (budget->left-- <= 0) return NULL;
    budget->held++;
    return malloc(size);
}

static inline void budget_free(void* ctx, void* memory, size_t size) {
    (void)size;
    Budget* budget = ctx;
    if (memory != NULL) budget->held--;
    free(memory);
}

static inline crAllocator scene_budget(Budget* budget) {
    return (crAllocator){budget_alloc, budget_free, budget};
}

#endif
