// kernel.c - the device program: every thread is a lane that steps worlds of a batch, one after another.
//
// Worlds w, w + threads, w + 2 threads ... go to one thread, so that neighbouring threads read neighbouring words of the
// records. A lane's memory is a slab of fixed size: what a world keeps comes from its front, scratch memory is the rest
// of it. Memory that is out ends a step with CR_ERR_MEMORY, which undoes it; the world is listed for the host.
#include "gpu/kernel.h"

#include "resolve/kinds.h"

#define KEPT(room) ((room) / 16 * 9)  // bytes of a slab for what a world keeps

typedef struct Slab {
    unsigned char* at;
    size_t used, room;
    void* free[CR_SLAB_CLASSES];  // blocks that were given back, by size
} Slab;

// sizes are rounded up to four for each power of two
static int class_of(size_t size, size_t* rounded) {
    int k = 0;
    size_t block = 64;
    while (block < size) {
        size_t quarter = (size_t)16 << k / 4;
        block += quarter;
        k++;
    }
    *rounded = block;
    return k;
}

static void* slab_alloc(void* ctx, size_t size) {
    Slab* slab = ctx;
    size_t block;
    int k = class_of(size, &block);
    if (k >= CR_SLAB_CLASSES) return NULL;
    void* found = slab->free[k];
    if (found != NULL) {
        slab->free[k] = *(void**)found;
        return found;
    }
    if (slab->used + block > slab->room) return NULL;
    found = slab->at + slab->used;
    slab->used += block;
    return found;
}

static void slab_free(void* ctx, void* memory, size_t size) {
    Slab* slab = ctx;
    size_t block;
    int k = class_of(size, &block);
    if ((unsigned char*)memory + block == slab->at + slab->used) {
        slab->used -= block;
        return;
    }
    *(void**)memory = slab->free[k];
    slab->free[k] = memory;
}

static void* no_alloc(void* ctx, size_t size) {
    (void)ctx;
    (void)size;
    return NULL;
}

static void no_free(void* ctx, void* memory, size_t size) {
    (void)ctx;
    (void)memory;
    (void)size;
}

// An impact by a rule that the device does not have is as memory that is out: the host makes the step.
crStatus cr__kernel_no_rule(const void* params, const crProblem* problem, crArena* arena, double* p,
                            crRuleReport* report, crError* error) {
    (void)params;
    (void)problem;
    (void)arena;
    (void)p;
    (void)report;
    (void)error;
    return CR_ERR_MEMORY;
}

static crRule rule_of(crDeviceRule rule) {
    if (rule == CR_DEVICE_OTHER) return (crRule){.resolve = cr__kernel_no_rule};
    return cr__rule(rule == CR_DEVICE_NEWTON ? &cr__rule_newton : &cr__rule_poisson, NULL);
}

// no rule that the device knows asks for a law
static crStatus no_law(const void* params, const crContact* contact, crHit* hit, crError* error) {
    (void)params;
    (void)contact;
    (void)hit;
    (void)error;
    return CR_ERR_MEMORY;
}

static void run(const crBatchJob* given, unsigned char* memory, size_t room, int first, int threads) {
    crBatchJob job = *given;
    job.settings.rule = rule_of(job.rule);
    job.settings.law = (crLaw){"", no_law, NULL};
    job.settings.solver = cr__solver(&cr__solver_auto, NULL);
    // hard steps of a lone body need scratch memory, and little else
    bool lone = job.lone.touches && room > 2 * CR_ROOM_SMALL;
    size_t kept = (lone ? CR_ROOM_SMALL : KEPT(room)) & ~(size_t)63;
    Slab slab = {.at = memory, .room = kept};
    crArena scratch = {
        .allocator = {no_alloc, no_free, NULL}, .block = memory + kept, .capacity = room - kept - 64};
    crBatchLane lane = {.allocator = {slab_alloc, slab_free, &slab}, .scratch = &scratch};
    for (int k = first; k < job.count; k += threads) {
        int i = job.list != NULL ? job.list[k] : k;
        // a lane whose model is that of one world makes its world anew: in an empty slab
        if (job.varied_count > 0 || job.models != NULL) {
            slab = (Slab){.at = memory, .room = kept};
            lane = (crBatchLane){.allocator = lane.allocator, .scratch = &scratch};
        }
        crStatus status = cr__lane_run(&lane, &job, i);
        if (status != CR_OK) job.results[i].handed = -1 - job.results[i].handed;
        if (job.turn == NULL) continue;
        bool goes_on = job.results[i].status == CR_OK && job.made[i] < cr__batch_goal(&job, i);
        job.turn[i] = status != CR_OK ? CR_TURN_HOST : goes_on ? CR_TURN_DEVICE : CR_TURN_OVER;
    }
}

// worlds of lone bodies, as far as they go without the stages
static void run_lone(const crBatchJob* job, int first, int threads) {
    for (int k = first; k < job->count; k += threads) {
        int i = job->list != NULL ? job->list[k] : k;
        job->turn[i] = (int)cr__lane_lone(job, i);
    }
}

// Worlds of the list to a buffer (batch_visit.c), or back.
static void exchange(const crBatchJob* job, uint64_t* buffer, bool back, int first, int threads) {
    crBatchJob visit =
        cr__visit_job(job, job->count, buffer, buffer + (size_t)job->layout.words * (size_t)job->count);
    for (int k = first; k < job->count; k += threads) {
        if (back) cr__visit_copy(&visit, k, job, job->list[k]);
        if (!back) cr__visit_copy(job, job->list[k], &visit, k);
    }
}

#if defined(__NVPTX__)

static int own_thread(void) {
    return (int)(__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
                 __nvvm_read_ptx_sreg_tid_x());
}

static int all_threads(void) {
    return (int)(__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x());
}

__attribute__((nvptx_kernel)) void cr_batch_lone(const crBatchJob* job) {
    run_lone(job, own_thread(), all_threads());
}
__attribute__((nvptx_kernel)) void cr_batch_exchange(const crBatchJob* job, uint64_t* buffer, size_t back) {
    exchange(job, buffer, back != 0, own_thread(), all_threads());
}

// slabs one after another in the memory of the device
__attribute__((nvptx_kernel)) void cr_batch_large(const crBatchJob* job, unsigned char* slabs, size_t room) {
    int thread = own_thread();
    run(job, slabs + (size_t)thread * room, room, thread, all_threads());
}

// slabs in the threads' own memory, which the device interleaves by words: neighbours read neighbouring ones
__attribute__((nvptx_kernel)) void cr_batch_small(const crBatchJob* job) {
    _Alignas(64) unsigned char slab[CR_ROOM_SMALL];
    run(job, slab, sizeof slab, own_thread(), all_threads());
}
__attribute__((nvptx_kernel)) void cr_batch_medium(const crBatchJob* job) {
    _Alignas(64) unsigned char slab[CR_ROOM_MEDIUM];
    run(job, slab, sizeof slab, own_thread(), all_threads());
}

#else

void cr__kernel_host(const crBatchJob* job, unsigned char* slab, size_t room, int thread, int threads) {
    run(job, slab, room, thread, threads);
}

void cr__kernel_lone(const crBatchJob* job, int thread, int threads) { run_lone(job, thread, threads); }

void cr__kernel_exchange(const crBatchJob* job, uint64_t* buffer, bool back, int thread, int threads) {
    exchange(job, buffer, back, thread, threads);
}

#endif
