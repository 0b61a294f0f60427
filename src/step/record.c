// record.c - the contacts of a step that makes several solves, each with the impulse it had in its solve.
//
// Methods that stop at impacts (event, cone) solve parts of a step one after another. What presses in a solve is
// copied here and becomes step->contacts at the end; impulses of impacts are in the events. A solve that
// is taken back takes its records along: record_count is set back by whoever does that.
// Fails: CR_ERR_MEMORY.
#include "step/cache.h"

crStatus cr__step_record(crStep* step, crError* error) {
    crStepCache* cache = step->cache;
    void* all = cache->record;
    crStatus status = cr__step_grow(&step->allocator, &all, &cache->record_capacity, cache->record_count,
                                    cache->record_count + step->contact_count, sizeof *cache->record);
    cache->record = all;
    if (status != CR_OK) return cr__step_memory(error);
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        if (cr_dot(c->impulse, c->impulse) > 0.0) cache->record[cache->record_count++] = *c;
    }
    return CR_OK;
}

void cr__step_show_record(crStep* step) {
    step->contacts = step->cache->record;
    step->contact_count = step->cache->record_count;
}
