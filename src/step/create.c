// create.c - memory of a step, and its beginning.
//
// Fails: CR_ERR_MEMORY with everything freed; errors of the model and the settings.
#include <string.h>

#include "base/tasks.h"
#include "step/clocks.h"
#include "step/lie.h"

static bool make_work(crStep* step) {
    const crModel* model = step->model;
    crArena* store = &step->own.store;
    int nb = model->nb, loops = model->loop_count;
    return CR_ROOMS(store, CR_ZERO(step->airborne, nb), CR_ZERO(step->free.k, model->nv),
                    CR_ZERO(step->free.v, model->nv), CR_ZERO(step->start.v, model->nv),
                    CR_ZERO(step->start.q, model->nq), CR_ZERO(step->audited.drive, nb),
                    CR_ZERO(step->audited.pushed, nb), CR_ZERO(step->rest.sleep, nb),
                    CR_ZERO(step->awake.bodies, nb), CR_ZERO(step->awake.loops, loops),
                    CR_ZERO(step->work.mark, nb), CR_ZERO(step->work.list, nb),
                    CR_ZERO(step->work.loops, loops), CR_ZERO(step->work.shift, nb));
}

static crStatus make_arrays(crStep* step) {
    const crModel* model = step->model;
    crArena* store = &step->own.store;
    crPlan* plan;
    bool room = CR_ROOMS(store, CR_ZERO(plan, 1), CR_ZERO(step->pairs, 1), CR_ZERO(step->clocks, 1));
    if (!room || !make_work(step)) return CR_ERR_MEMORY;
    crStatus status = cr_state_create(model, store, &step->state);
    if (status == CR_OK) status = cr_dynamics_create(model, store, &step->dynamics);
    if (status != CR_OK) return status;
    cr_model_kinematics(model, &step->state, &step->dynamics);
    status = cr__plan_create(model, &step->dynamics, store, plan);
    step->plan = plan;
    if (status == CR_OK) status = cr__pairs_create(plan, &step->own.allocator, store, step->pairs);
    if (status == CR_OK) status = cr__step_clocks_create(model, store, step->clocks);
    if (status == CR_OK) status = cr__step_ties_create(model, store, &step->ties);
    if (status == CR_OK) status = cr__step_trees_create(plan, store, &step->free, &step->audited);
    cr__step_solves_alike(&step->settings, &step->pairs->materials.reads_et);
    if (status == CR_OK) status = cr__lie_create(step, store, &step->rest.lying);
    if (status == CR_OK) step->part = cr__step_list_awake(step, &step->awake);
    return status;
}

// Makes the arrays twice: the first time measures their memory, the second time places them in one block.
static crStatus make_store(crStep* step) {
    crStatus status = cr_arena_create(&step->own.store, &step->own.allocator, 0);
    if (status == CR_OK) status = make_arrays(step);
    size_t used = step->own.store.used;
    cr_arena_destroy(&step->own.store);
    step->plan = NULL;
    step->pairs = NULL;
    step->clocks = NULL;
    if (status == CR_OK) status = cr_arena_create(&step->own.store, &step->own.allocator, used);
    if (status == CR_OK) status = make_arrays(step);
    return status;
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
    step->own.allocator = allocator != NULL ? *allocator : cr_allocator_libc();
    status = cr_arena_create(&step->scratch, &step->own.allocator, 0);
    if (status == CR_OK) status = make_store(step);
    if (status == CR_OK)
        status = cr_broad_create(0.0, &step->own.allocator, &step->pairs->boxes.broad, error);
    if (status == CR_OK) status = cr__tasks_create(&step->own.allocator, settings->threads, &step->own.tasks);
    if (status == CR_OK) return CR_OK;
    cr_step_destroy(step);
    return cr_error_set(error, status, "", "step: %s", cr_status_text(status));
}

void cr_step_destroy(crStep* step) {
    if (step == NULL || step->own.allocator.free == NULL) return;
    crAllocator* a = &step->own.allocator;
    cr__drop(a, step->warm.force, step->warm.capacity, sizeof *step->warm.force);
    cr__drop(a, step->warm.start, step->warm.start_capacity, sizeof *step->warm.start);
    cr__drop(a, step->record.contacts, step->record.capacity, sizeof *step->record.contacts);
    cr__drop(a, step->rest.lying.contacts, step->rest.lying.capacity, sizeof *step->rest.lying.contacts);
    cr__drop(a, step->events.list, step->events.capacity, sizeof *step->events.list);
    if (step->clocks != NULL) {
        cr__drop(a, step->clocks->due, step->clocks->due_capacity, sizeof(crDue));
        cr__drop(a, step->clocks->stock, step->clocks->stock_capacity, sizeof(crStepContact));
        cr__step_kept_destroy(a, &step->clocks->kept);
    }
    cr__tasks_destroy(step->own.tasks);
    if (step->pairs != NULL) cr__pairs_destroy(step->pairs);
    cr_arena_destroy(&step->scratch);
    cr_arena_destroy(&step->own.store);
    *step = (crStep){0};
}

void cr__step_keep_start(const crModel* model, crTasks* tasks, const crState* state, crStepStart* start) {
    cr__tasks_copy(tasks, start->v, state->v, (size_t)model->nv);
    cr__tasks_copy(tasks, start->q, state->q, (size_t)model->nq);
}

crStatus cr_step_begin(crStep* step, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    cr__lie_end(&step->rest.lying, step->model->nb);
    return cr__step_open(step, error);
}

crStatus cr__step_open(crStep* step, crError* error) {
    step->contacts.count = 0;
    step->contacts.list = NULL;
    step->events.count = 0;
    step->record.count = 0;
    step->rest.still = false;
    cr__step_groups_begin(step->model, step->rest.sleep, step->state.time, step->clocks);
    step->part = cr__step_list_awake(step, &step->awake);
    step->certificate = (crCertificate){.outcome = CR_OUTCOME_SOLVED};
    step->start.time = step->state.time;
    memset(step->audited.drive, 0, (size_t)step->model->nb * sizeof *step->audited.drive);
    step->audited.pushes = false;
    cr__step_keep_start(step->model, step->own.tasks, &step->state, &step->start);
    step->warm.changed = false;
    cr_model_actuate(step->model, &step->state, &step->dynamics);
    crStatus status = cr_arena_reset(&step->scratch);
    if (status == CR_OK) status = cr__pairs_forget(step->pairs);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}
