// events.c - events of a step, and the errors that several stages share.
//
// Fails: CR_ERR_MEMORY.
#include "step/step.h"

crStatus cr__step_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "arena", "step: out of memory");
}

crStatus cr__step_lost(const crModel* model, int body, const char* what, double value, crError* error) {
    const char* name = model->bodies[body].name;
    return cr_error_set(error, CR_ERR_FINITE, "state", "state: body %d%s%s: its %s became %g", body,
                        name != NULL ? " " : "", name != NULL ? name : "", what, value);
}

crEvent cr__step_event_of(double time, const crStepContact* c) {
    return (crEvent){.time = time,
                     .shape_a = c->shape_a,
                     .shape_b = c->shape_b,
                     .body_a = c->body_a,
                     .body_b = c->body_b,
                     .point = c->point.point,
                     .normal = c->point.normal,
                     .approach = fmax(0.0, -c->speed),
                     .impulse = c->impulse,
                     .impact = CR_EVENT_CONTACT};
}

crStatus cr__step_event_put(const crAllocator* a, const crEvent* event, crStepEvents* events) {
    crStatus status = CR_GROW(a, events->list, events->capacity, events->count, events->count + 1);
    if (status == CR_OK) events->list[events->count++] = *event;
    return status;
}

crStatus cr_step_event_add(crStep* step, const crEvent* event) {
    if (!cr__step_ready(step) || event == NULL) return CR_ERR_ARGUMENT;
    return cr__step_event_put(&step->own.allocator, event, &step->events);
}
