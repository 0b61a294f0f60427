// The pool of threads: every index once, loops after loops, chunks the same for any number of threads.
#include "base/tasks.h"
#include "test.h"

#include <string.h>

typedef struct Loop {
    int seen[1000];
    double value[1000];
    int begin[1000];  // of the chunk an index came in
} Loop;

static void visit(void* ctx, int begin, int end) {
    Loop* loop = ctx;
    for (int i = begin; i < end; i++) {
        loop->seen[i]++;
        loop->value[i] = loop->value[i] * 0.5 + i;
        loop->begin[i] = begin;
    }
}

static crTasks* pool(int threads) {
    crAllocator libc = cr_allocator_libc();
    crTasks* tasks = NULL;
    CHECK(cr__tasks_create(&libc, threads, &tasks) == CR_OK);
    return tasks;
}

TEST(every_index_once_in_the_same_chunks) {
    static const int threads[] = {1, 2, 3, 8};
    static const int counts[] = {0, 1, 7, 64, 999, 1000};
    for (int k = 0; k < 4; k++) {
        crTasks* tasks = pool(threads[k]);
        for (int c = 0; c < 6; c++) {
            for (int chunk = 1; chunk < 40; chunk += 6) {
                Loop loop;
                memset(&loop, 0, sizeof loop);
                cr__tasks_for(tasks, counts[c], chunk, visit, &loop);
                for (int i = 0; i < 1000; i++) {
                    CHECK(loop.seen[i] == (i < counts[c] ? 1 : 0));
                    CHECK(i >= counts[c] || loop.begin[i] == i / chunk * chunk);
                }
            }
        }
        cr__tasks_destroy(tasks);
    }
}

// many short loops, the pool sometimes asleep between them: each sees what the one before wrote
TEST(loops_follow_each_other) {
    static Loop alone, shared;
    memset(&alone, 0, sizeof alone);
    memset(&shared, 0, sizeof shared);
    crTasks* tasks = pool(3);
    int loops = test_samples(20000);
    for (int i = 0; i < loops; i++) {
        int count = 1 + i * 37 % 1000;
        cr__tasks_for(NULL, count, 9, visit, &alone);
        cr__tasks_for(tasks, count, 9, visit, &shared);
    }
    CHECK(memcmp(&alone, &shared, sizeof alone) == 0);
    cr__tasks_destroy(tasks);
}

TEST(pools_begin_and_end) {
    for (int i = 0; i < test_samples(600); i++) {
        static Loop loop;
        memset(&loop, 0, sizeof loop);
        crTasks* tasks = pool(2 + i % 4);
        if (i % 2 == 0) cr__tasks_for(tasks, 100, 3, visit, &loop);
        cr__tasks_destroy(tasks);
        CHECK(loop.seen[99] == (i % 2 == 0 ? 1 : 0));
    }
    cr__tasks_destroy(NULL);
}

// an allocator that fails from the nth call on
static void* failing(void* ctx, size_t size) {
    int* left = ctx;
    return (*left)-- > 0 ? cr_allocator_libc().alloc(NULL, size) : NULL;
}
static void give_back(void* ctx, void* memory, size_t size) {
    (void)ctx;
    cr_allocator_libc().free(NULL, memory, size);
}

TEST(memory_that_runs_out_is_refused) {
    for (int calls = 0; calls < 2; calls++) {
        int left = calls;
        crAllocator a = {failing, give_back, &left};
        crTasks* tasks = NULL;
        CHECK(cr__tasks_create(&a, 4, &tasks) == CR_ERR_MEMORY);
        CHECK(tasks == NULL);
    }
}

// one chunk where two would be too short, else at most two for each thread, none shorter than asked for but the last
TEST(chunks_of_a_loop) {
    for (int threads = 1; threads <= 4; threads++) {
        crTasks* tasks = pool(threads);
        for (int count = 0; count < 600; count++) {
            int chunk = cr__tasks_share(tasks, count, 24), chunks = (count + chunk - 1) / chunk;
            CHECK(chunk >= 1);
            CHECK(count >= 48 || chunks <= 1);
            CHECK(count < 48 || (chunk >= 24 && chunks >= 2));
            CHECK(chunks <= 2 * threads || chunk == 24);
        }
        cr__tasks_destroy(tasks);
    }
}

// copies of any length, also of none and of some chunks
TEST(numbers_are_copied) {
    static double from[50000], to[50001];
    const size_t counts[] = {0, 1, 8191, 8192, 8193, 50000};
    for (int i = 0; i < 50000; i++) {
        from[i] = i;
    }
    for (int k = 0; k < 6; k++) {
        crTasks* tasks = k % 2 == 0 ? NULL : pool(3);
        memset(to, 0, sizeof to);
        cr__tasks_copy(tasks, to, from, counts[k]);
        CHECK(memcmp(to, from, counts[k] * sizeof *to) == 0 && to[counts[k]] == 0.0);
        cr__tasks_destroy(tasks);
    }
}
