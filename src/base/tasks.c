// tasks.c - loops shared by threads: one ticket counter, bounded spinning, then sleep.
//
// A ticket is (job, chunks taken from the end, chunks taken from the front) in one word. The caller takes from
// the front and the others from the end, so that in one loop after another over the same things a thread meets
// what its own cache holds. Threads take chunks by compare-and-swap, so a thread that wakes
// late can never take a chunk of a job whose fields it has not read: the word has changed (a job is closed
// before the fields of the next are written) and the swap fails. The caller works too and waits only for
// chunks that were taken, never for threads that sleep. Every wait spins a bounded number of times and then
// sleeps on a condition variable; flag and counter are written before the other is read, both sequentially
// consistent, so no wake-up is lost.
// Fails: CR_ERR_MEMORY where a thread cannot be started; those that were are ended.
#include "base/tasks.h"

#include <string.h>

#define COPIED 8192  // numbers per task of a copy

typedef struct Copy {
    double* to;
    const double* from;
    size_t count;
} Copy;

static void copy_range(void* ctx, int begin, int end) {
    const Copy* copy = ctx;
    size_t at = (size_t)begin * COPIED, last = (size_t)end * COPIED;
    if (last > copy->count) last = copy->count;
    memcpy(copy->to + at, copy->from + at, (last - at) * sizeof *copy->to);
}

void cr__tasks_copy(crTasks* tasks, double* to, const double* from, size_t count) {
    if (count == 0) return;
    cr__tasks_for(tasks, (int)((count - 1) / COPIED + 1), 1, copy_range, &(Copy){to, from, count});
}

#if defined(CAROM_NO_THREADS)

crStatus cr__tasks_create(const crAllocator* allocator, int threads, crTasks** tasks) {
    (void)allocator;
    (void)threads;
    *tasks = NULL;
    return CR_OK;
}

void cr__tasks_destroy(crTasks* tasks) { (void)tasks; }

int cr__tasks_threads(const crTasks* tasks) {
    (void)tasks;
    return 1;
}

void cr__tasks_for(crTasks* tasks, int count, int chunk, crTaskFn fn, void* ctx) {
    (void)tasks;
    for (int i = 0; i < count; i += chunk) {
        fn(ctx, i, count - i < chunk ? count : i + chunk);
    }
}

#else

#include <pthread.h>
#include <stdatomic.h>

// looks at a flag that another thread will set before a thread sleeps: about as long as a stage of a step
// that is not shared lasts, since waking costs more than that
#define SPINS 2000

#if defined(__x86_64__) || defined(__i386__)
#define RELAX() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RELAX() __asm__ volatile("isb")
#else
#define RELAX() ((void)0)
#endif

struct crTasks {
    crAllocator allocator;
    int workers;        // started
    int slots;          // of the array
    pthread_t* thread;  // (slots)
    pthread_mutex_t lock;
    pthread_cond_t work;      // workers wait here for a job
    pthread_cond_t finished;  // the caller waits here for the last chunk
    // the job, written before its number appears in the ticket
    _Atomic(crTaskFn) fn;
    _Atomic(void*) ctx;
    atomic_int count, chunk;
    _Atomic(uint64_t) ticket;
    char apart[64];   // who looks at the one should not wait for who writes the other
    atomic_int done;  // chunks of the job
    atomic_int sleepers;
    atomic_bool waiting;  // the caller sleeps
    atomic_bool stop;
};

// 24 bits for the job, 20 for each end
#define END    20
#define CHUNKS ((UINT64_C(1) << END) - 1)  // at most, of one loop

static uint64_t job_of(uint64_t ticket) { return ticket >> 2 * END; }

// takes one chunk of the present job and runs it; false where none is left
static bool run_chunk(crTasks* t, bool front) {
    uint64_t ticket = atomic_load(&t->ticket);
    while (true) {
        crTaskFn fn = atomic_load_explicit(&t->fn, memory_order_relaxed);
        void* ctx = atomic_load_explicit(&t->ctx, memory_order_relaxed);
        int count = atomic_load_explicit(&t->count, memory_order_relaxed);
        int chunk = atomic_load_explicit(&t->chunk, memory_order_relaxed);
        int chunks = chunk > 0 ? (count - 1) / chunk + 1 : 0;
        int before = (int)(ticket & CHUNKS), behind = (int)(ticket >> END & CHUNKS);
        if (before + behind >= chunks) return false;
        uint64_t one = front ? 1 : UINT64_C(1) << END;
        if (!atomic_compare_exchange_weak(&t->ticket, &ticket, ticket + one)) continue;
        int begin = (front ? before : chunks - 1 - behind) * chunk;
        fn(ctx, begin, count - begin < chunk ? count : begin + chunk);
        return true;
    }
}

// what a thread can get of the present job; the job is not over before it says how many chunks that were, so
// one word about all of them will do
static void run_chunks(crTasks* t, bool front) {
    int done = 0;
    while (run_chunk(t, front)) {
        done++;
    }
    if (done == 0) return;
    atomic_fetch_add(&t->done, done);
    if (atomic_load(&t->waiting)) {
        pthread_mutex_lock(&t->lock);
        pthread_cond_signal(&t->finished);
        pthread_mutex_unlock(&t->lock);
    }
}

static void sleep_until_job(crTasks* t, uint64_t seen) {
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->sleepers, 1);
    while (job_of(atomic_load(&t->ticket)) == seen && !atomic_load(&t->stop)) {
        pthread_cond_wait(&t->work, &t->lock);
    }
    atomic_fetch_sub(&t->sleepers, 1);
    pthread_mutex_unlock(&t->lock);
}

static void* worker(void* arg) {
    crTasks* t = arg;
    while (!atomic_load(&t->stop)) {
        uint64_t seen = job_of(atomic_load(&t->ticket));
        run_chunks(t, false);
        bool idle = true;
        for (int i = 0; i < SPINS && idle; i++) {
            idle = job_of(atomic_load(&t->ticket)) == seen && !atomic_load(&t->stop);
            RELAX();
        }
        if (idle) sleep_until_job(t, seen);
    }
    return NULL;
}

crStatus cr__tasks_create(const crAllocator* allocator, int threads, crTasks** tasks) {
    *tasks = NULL;
    if (threads <= 1) return CR_OK;
    crAllocator a = *allocator;
    size_t bytes = (size_t)(threads - 1) * sizeof(pthread_t);
    crTasks* t = a.alloc(a.ctx, sizeof *t);
    if (t == NULL) return CR_ERR_MEMORY;
    *t = (crTasks){.allocator = a, .thread = a.alloc(a.ctx, bytes)};
    if (t->thread == NULL) {
        a.free(a.ctx, t, sizeof *t);
        return CR_ERR_MEMORY;
    }
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    pthread_cond_init(&t->finished, NULL);
    int started = 0;
    while (started < threads - 1 && pthread_create(&t->thread[started], NULL, worker, t) == 0) {
        started++;
    }
    t->workers = started;
    t->slots = threads - 1;
    if (started < threads - 1) {
        cr__tasks_destroy(t);
        return CR_ERR_MEMORY;
    }
    *tasks = t;
    return CR_OK;
}

void cr__tasks_destroy(crTasks* t) {
    if (t == NULL) return;
    crAllocator a = t->allocator;
    atomic_store(&t->stop, true);
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    for (int i = 0; i < t->workers; i++) {
        pthread_join(t->thread[i], NULL);
    }
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->work);
    pthread_cond_destroy(&t->finished);
    a.free(a.ctx, t->thread, (size_t)t->slots * sizeof *t->thread);
    a.free(a.ctx, t, sizeof *t);
}

int cr__tasks_threads(const crTasks* t) { return t != NULL ? t->workers + 1 : 1; }

// until every chunk is done: spin, then sleep
static void wait_for(crTasks* t, int chunks) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&t->done) == chunks) return;
        RELAX();
    }
    atomic_store(&t->waiting, true);
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->done) != chunks) {
        pthread_cond_wait(&t->finished, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    atomic_store(&t->waiting, false);
}

void cr__tasks_for(crTasks* t, int count, int chunk, crTaskFn fn, void* ctx) {
    // most loops of small worlds are one chunk
    if (count <= chunk) {
        if (count > 0) fn(ctx, 0, count);
        return;
    }
    int chunks = (count - 1) / chunk + 1;
    if (t == NULL || (uint64_t)chunks > CHUNKS) {
        for (int i = 0; i < count; i += chunk) {
            fn(ctx, i, count - i < chunk ? count : i + chunk);
        }
        return;
    }
    // close the last job first: whoever still looks at it must not meet the new fields
    uint64_t last = job_of(atomic_load(&t->ticket));
    atomic_store(&t->ticket, last << 2 * END | CHUNKS);
    atomic_store_explicit(&t->fn, fn, memory_order_relaxed);
    atomic_store_explicit(&t->ctx, ctx, memory_order_relaxed);
    atomic_store_explicit(&t->count, count, memory_order_relaxed);
    atomic_store_explicit(&t->chunk, chunk, memory_order_relaxed);
    atomic_store(&t->done, 0);
    atomic_store(&t->ticket, (last + 1) << 2 * END);
    if (atomic_load(&t->sleepers) > 0) {
        pthread_mutex_lock(&t->lock);
        pthread_cond_broadcast(&t->work);
        pthread_mutex_unlock(&t->lock);
    }
    run_chunks(t, true);
    wait_for(t, chunks);
}

#endif
