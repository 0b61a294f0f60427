// kernel.h - what host and device program agree on.
#ifndef CAROM_GPU_KERNEL_H
#define CAROM_GPU_KERNEL_H

#include "world/batch.h"

#define CR_SLAB_CLASSES 48

// A rule that the device does not have: CR_ERR_MEMORY.
crStatus cr__kernel_no_rule(const void* params, const crProblem* problem, crArena* arena, double* p,
                            crRuleReport* report, crError* error);

// The device program as a function of the host: what thread number `thread` of `threads` does.
void cr__kernel_host(const crBatchJob* job, unsigned char* slab, size_t room, int thread, int threads);
void cr__kernel_lone(const crBatchJob* job, int thread, int threads);
void cr__kernel_exchange(const crBatchJob* job, uint64_t* buffer, bool back, int thread, int threads);

#endif
