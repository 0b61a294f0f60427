// record.c - the contacts of a step that makes several solves, each with the impulse it had in its solve.
//
// Methods that stop at impacts (event, cone) solve parts of a step one after another. What presses in a solve is
// copied here and becomes step->contacts at the end; impulses of impacts are in the events. A solve that
// is taken back takes its records along: record_count is set back by whoever does that.
// Fails: CR_ERR_MEMORY.
#include "step/step.h"

crStatus cr__step_record(crStep* step, crError* error) {
    crStepRecord* record = &step->record;
    crStatus status = CR_GROW(&step->own.allocator, record->contacts, record->capacity, record->count,
                              record->count + step->contacts.count);
    if (status != CR_OK) return cr__step_memory(error);
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (cr_dot(c->impulse, c->impulse) > 0.0) record->contacts[record->count++] = *c;
    }
    return CR_OK;
}

void cr__step_show_record(crStep* step) {
    step->contacts.list = step->record.contacts;
    step->contacts.count = step->record.count;
}
