// same_bits.h - one world by one thread, by several, and from a snapshot on: the same bits.
#ifndef CAROM_SAME_BITS_H
#define CAROM_SAME_BITS_H

#include <stdlib.h>

#include "test.h"

// Steps three worlds that began alike; `again` goes on from a snapshot of `one` taken after `kept` steps.
static inline void same_bits(crWorld* one, crWorld* threads, crWorld* again, int steps, int kept) {
    void* bytes = NULL;
    crError error = {0};
    for (int k = 0; k < steps; k++) {
        CHECK_STATUS(cr_world_step(one, &error), CR_OK);
        CHECK_STATUS(cr_world_step(threads, &error), CR_OK);
        if (k == kept) {
            size_t size = cr_world_save_size(one);
            bytes = malloc(size);
            CHECK_STATUS(cr_world_save(one, bytes, size), CR_OK);
            CHECK_STATUS(cr_world_load(again, bytes, size, &error), CR_OK);
        }
        if (k > kept) CHECK_STATUS(cr_world_step(again, &error), CR_OK);
    }
    CHECK(cr_world_hash(one) == cr_world_hash(threads));
    CHECK(cr_world_hash(one) == cr_world_hash(again));
    free(bytes);
}

#endif
