// create.c - memory of a step, what it knows of the model beforehand, and the small stages around it.
//
// Known beforehand: the size of each body; the plane in which it moves, if it stands on nothing but planar
// joints and parallel hinges; and the constant acceleration by gravity of bodies that fly on their own (free,
// planar about their centre, slider), whose flight is then exact.
// Fails: CR_ERR_MEMORY, everything freed; what the model or the settings say about themselves.
#include <string.h>

#include "base/tasks.h"
#include "step/cache.h"

#define LATER 1024  // bytes for what is found out later: surfaces of a few materials

static void* zeros(crArena* arena, int count, size_t size) {
    void* memory = cr_arena_alloc(arena, (size_t)(count > 0 ? count : 1) * size);
    if (memory != NULL) memset(memory, 0, (size_t)(count > 0 ? count : 1) * size);
    return memory;
}

static crStatus make_arrays(crStep* step) {
    const crModel* model = step->model;
    crArena* store = &step->store;
    crStatus status = cr_state_create(model, store, &step->state);
    if (status == CR_OK) status = cr_dynamics_create(model, store, &step->dynamics);
    if (status != CR_OK) return status;
    step->size = zeros(store, model->nb, sizeof(double));
    step->plane = zeros(store, model->nb, sizeof(crVec3));
    step->airborne = zeros(store, model->nb, sizeof(bool));
    step->fall = zeros(store, model->nv, sizeof(double));
    step->k = zeros(store, model->nv, sizeof(double));
    step->v_free = zeros(store, model->nv, sizeof(double));
    step->v_start = zeros(store, model->nv, sizeof(double));
    step->q_start = zeros(store, model->nq, sizeof(double));
    bool ok = step->size != NULL && step->plane != NULL && step->airborne != NULL && step->fall != NULL &&
              step->k != NULL && step->v_free != NULL && step->v_start != NULL && step->q_start != NULL;
    return ok ? cr__step_cache_create(step) : CR_ERR_MEMORY;
}

// the arrays side by side: what they need is known once they were made
static crStatus make_store(crStep* step) {
    crStatus status = cr_arena_create(&step->store, &step->allocator, 0);
    if (status == CR_OK) status = make_arrays(step);
    size_t used = step->store.used;
    cr_arena_destroy(&step->store);
    step->cache = NULL;
    if (status == CR_OK) status = cr_arena_create(&step->store, &step->allocator, used + LATER);
    if (status == CR_OK) status = make_arrays(step);
    return status;
}

static void find_sizes(crStep* step) {
    const crModel* model = step->model;
    for (int s = 0; s < model->shape_count; s++) {
        int b = model->shapes[s].body;
        if (!cr__moves(model, b)) continue;
        double reach = cr_shape_reach(&model->shapes[s].shape, model->bodies[b].com);
        step->size[b] = fmax(step->size[b], reach);
    }
}

static bool parallel(crVec3 a, crVec3 b) { return cr_norm(cr_cross(a, b)) <= 1e-12; }

static void find_planes(crStep* step) {
    const crModel* model = step->model;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (body->last < 0 || body->base != CR_WORLD) continue;
        crVec3 above = step->plane[body->parent];
        bool root = !cr__moves(model, body->parent);
        crVec3 axis = cr_vec3(0, 0, 0);
        if (body->joint == CR_JOINT_PLANAR) axis = step->dynamics.axis[body->v + 2].omega;
        if (body->joint == CR_JOINT_HINGE) axis = step->dynamics.axis[body->v].omega;
        if (body->joint == CR_JOINT_FIXED) axis = above;
        if (root || (cr_norm(above) > 0.0 && cr_norm(axis) > 0.0 && parallel(axis, above))) {
            step->plane[i] = axis;
            step->cache->planes = step->cache->planes || cr_norm(axis) > 0.0;
        }
    }
}

static bool flies(const crModel* model, int i) {
    const crBody* body = &model->bodies[i];
    if (body->single) return true;
    bool centred = body->com.x == 0.0 && body->com.y == 0.0;
    bool joint = body->joint == CR_JOINT_SLIDER || (body->joint == CR_JOINT_PLANAR && centred);
    if (!joint || body->base != CR_WORLD || cr__moves(model, body->parent)) return false;
    for (int j = i + 1; j < model->nb; j++) {
        if (model->bodies[j].parent == i) return false;
    }
    for (int j = body->v; j < body->v + body->nv; j++) {
        const crDof* dof = &model->dofs[j];
        if (model->dof_actuator[j] >= 0 || dof->stiffness > 0.0 || dof->friction > 0.0 ||
            dof->motor_force > 0.0 || dof->armature > 0.0)
            return false;
    }
    return true;
}

static bool looped(const crModel* model, int body) {
    for (int i = 0; i < model->loop_count; i++) {
        if (model->loops[i].a == body || model->loops[i].b == body) return true;
    }
    return false;
}

static void find_falls(crStep* step) {
    const crModel* model = step->model;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (body->last < 0 || !flies(model, i) || looped(model, i)) continue;
        crVec3 g = cr_scale(body->gravity_scale, model->gravity);
        int linear = body->nv < 2 ? body->nv : body->nv - (body->joint == CR_JOINT_FREE ? 3 : 1);
        for (int j = body->v; j < body->v + linear; j++) {
            step->fall[j] = cr_dot(step->dynamics.axis[j].v, g);
        }
    }
}

crStatus cr_step_create(const crModel* model, const crStepSettings* settings, const crAllocator* allocator,
                        crStep* step, crError* error) {
    if (model == NULL) return cr__missing(error, "model");
    if (step == NULL) return cr__missing(error, "step");
    if (cr__check_allocator(allocator, error) != CR_OK) return CR_ERR_ARGUMENT;
    *step = (crStep){.model = model};
    crStatus status = cr_model_check(model, error);
    if (status == CR_OK) status = cr_step_settings_check(settings, error);
    if (status != CR_OK) return status;
    step->settings = *settings;
    if (settings->deadband == 0.0)
        step->settings.deadband = settings->quality == CR_QUALITY_FAST ? 1e-5 : 1e-7;
    step->allocator = allocator != NULL ? *allocator : cr_allocator_libc();
    status = cr_arena_create(&step->scratch, &step->allocator, 0);
    if (status == CR_OK) status = make_store(step);
    if (status == CR_OK) status = cr_broad_create(0.0, &step->allocator, &step->broad, error);
    if (status == CR_OK) status = cr__tasks_create(&step->allocator, settings->threads, &step->tasks);
    if (status == CR_OK) {
        cr_model_kinematics(model, &step->state, &step->dynamics);
        find_sizes(step);
        find_planes(step);
        find_falls(step);
        cr__step_find_moderate(step);
        status = cr__step_trees_create(step);
    }
    if (status == CR_OK) return CR_OK;
    cr_step_destroy(step);
    return cr_error_set(error, status, "", "step: %s", cr_status_text(status));
}

void cr_step_destroy(crStep* step) {
    if (step == NULL || step->allocator.free == NULL) return;
    crAllocator* a = &step->allocator;
    if (step->warm != NULL) a->free(a->ctx, step->warm, (size_t)step->warm_capacity * sizeof *step->warm);
    if (step->warm_start != NULL)
        a->free(a->ctx, step->warm_start, (size_t)step->warm_start_capacity * sizeof *step->warm_start);
    if (step->events != NULL)
        a->free(a->ctx, step->events, (size_t)step->event_capacity * sizeof *step->events);
    cr__tasks_destroy(step->tasks);
    cr_broad_destroy(step->broad);
    cr__step_cache_destroy(step);
    cr_arena_destroy(&step->scratch);
    cr_arena_destroy(&step->store);
    *step = (crStep){0};
}

crStatus cr__step_grow(const crAllocator* a, void** array, int* capacity, int used, int needed, size_t size) {
    if (needed <= *capacity) return CR_OK;
    // a quarter more each time: arrays of millions are not twice as large as they must be
    int larger = needed + needed / 4 + 2;
    void* memory = a->alloc(a->ctx, (size_t)larger * size);
    if (memory == NULL) return CR_ERR_MEMORY;
    if (used > 0) memcpy(memory, *array, (size_t)used * size);
    if (*array != NULL) a->free(a->ctx, *array, (size_t)*capacity * size);
    *array = memory;
    *capacity = larger;
    return CR_OK;
}

crStatus cr__step_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "arena", "step: out of memory");
}

void cr__step_keep_start(crStep* step) {
    memcpy(step->v_start, step->state.v, (size_t)step->model->nv * sizeof(double));
    memcpy(step->q_start, step->state.q, (size_t)step->model->nq * sizeof(double));
    step->warm_changed = false;
}

crStatus cr_step_begin(crStep* step, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    step->contact_count = 0;
    step->contacts = NULL;
    step->event_count = 0;
    step->cache->record_count = 0;
    cr__step_groups_begin(step);
    cr__step_list_awake(step);
    step->certificate = (crCertificate){.outcome = CR_OUTCOME_SOLVED};
    step->cache->start_time = step->state.time;
    memset(step->cache->drive, 0, (size_t)step->model->nb * sizeof *step->cache->drive);
    cr__step_keep_start(step);
    cr_model_actuate(step->model, &step->state, &step->dynamics);
    crStatus status = cr_arena_reset(&step->scratch);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}

crStatus cr_step_event_add(crStep* step, const crEvent* event) {
    if (!cr__step_ready(step) || event == NULL) return CR_ERR_ARGUMENT;
    void* events = step->events;
    crStatus status = cr__step_grow(&step->allocator, &events, &step->event_capacity, step->event_count,
                                    step->event_count + 1, sizeof *event);
    step->events = events;
    if (status == CR_OK) step->events[step->event_count++] = *event;
    return status;
}
