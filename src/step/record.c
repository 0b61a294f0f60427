// record.c - the contacts of a step that makes several solves, each with the impulse of its solve.
//
// Methods that stop at impacts (event, cone) solve parts of a step one after another. Contacts that press in
// a solve are copied to the record, which becomes step->contacts at the end; impulses of impacts are in the
// events. Code that takes a solve back also sets record.count back.
// Fails: CR_ERR_MEMORY.
#include "step/step.h"

crStatus cr__step_record(const crStepContacts* contacts, const crAllocator* a, crStepRecord* record,
                         crError* error) {
    int more = 0;
    for (int i = 0; i < contacts->count; i++) {
        const crStepContact* c = &contacts->list[i];
        more += cr_dot(c->impulse, c->impulse) > 0.0;
    }
    crStatus status = CR_GROW(a, record->contacts, record->capacity, record->count, record->count + more);
    if (status != CR_OK) return cr__step_memory(error);
    for (int i = 0; i < contacts->count; i++) {
        const crStepContact* c = &contacts->list[i];
        if (cr_dot(c->impulse, c->impulse) > 0.0) record->contacts[record->count++] = *c;
    }
    return CR_OK;
}

void cr__step_show_record(const crStepRecord* record, crStepContacts* contacts) {
    contacts->list = record->contacts;
    contacts->count = record->count;
}
