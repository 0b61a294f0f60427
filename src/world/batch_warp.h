// batch_warp.h - threads that a device runs in step. On the host a thread is alone.
#ifndef CAROM_WORLD_BATCH_WARP_H
#define CAROM_WORLD_BATCH_WARP_H

#include <stdbool.h>

#if defined(__NVPTX__)

// Whether one of the threads says so: they meet here, all of their block, which is at most one warp.
static inline __attribute__((always_inline)) bool cr__warp_any(bool x) {
    unsigned threads = (unsigned)__nvvm_read_ptx_sreg_ntid_x();
    return __nvvm_vote_any_sync(threads < 32 ? (1u << threads) - 1u : 0xffffffffu, x);
}

#else

static inline bool cr__warp_any(bool x) { return x; }

#endif

#endif
