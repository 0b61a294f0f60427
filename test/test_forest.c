// Sets that are joined by several threads at once: against labels that are handed on until none changes.
#include <stdlib.h>
#include <string.h>

#include "base/forest.h"
#include "sample.h"
#include "test.h"

#define SIZE  6000
#define PAIRS 9000

typedef struct Pairs {
    int ends[PAIRS][2];
} Pairs;

// every seventh pair joins nothing
static bool ends_of(const void* ctx, int i, int* a, int* b) {
    const Pairs* pairs = ctx;
    *a = pairs->ends[i][0];
    *b = pairs->ends[i][1];
    return i % 7 != 0;
}

// least member of each set: labels go along pairs in both directions
static void labels_of(const Pairs* pairs, int count, int* label) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < count; i++) {
            if (i % 7 == 0) continue;
            int *a = &label[pairs->ends[i][0]], *b = &label[pairs->ends[i][1]], least = *a < *b ? *a : *b;
            changed = changed || *a != least || *b != least;
            *a = *b = least;
        }
    }
}

// Pairs anywhere make one large set and many small ones; pairs of neighbours make long chains.
static void fill(Pairs* pairs, bool chains, crRandom* random) {
    for (int i = 0; i < PAIRS; i++) {
        int a = (int)sample_uniform(random, 0, SIZE), b = (int)sample_uniform(random, 0, SIZE);
        pairs->ends[i][0] = a;
        pairs->ends[i][1] = chains ? (a + 1) % SIZE : b;
    }
}

TEST(threads_join_the_same_sets) {
    static Pairs pairs;
    static int expected[SIZE], parent[SIZE];
    crAllocator libc = cr_allocator_libc();
    crRandom random = sample_seed(11);
    crArena scratch;
    CHECK_STATUS(cr_arena_create(&scratch, &libc, 0), CR_OK);
    for (int k = 0; k < 40; k++) {
        int count = k % 4 == 0 ? 300 : PAIRS * (1 + k % 3) / 3;
        fill(&pairs, k % 2 == 1, &random);
        for (int i = 0; i < SIZE; i++) {
            expected[i] = i;
        }
        // some are joined beforehand
        expected[SIZE - 1] = 5;
        labels_of(&pairs, count, expected);
        int five = expected[5] < expected[SIZE - 1] ? expected[5] : expected[SIZE - 1];
        int other = expected[5] > expected[SIZE - 1] ? expected[5] : expected[SIZE - 1];
        for (int i = 0; i < SIZE; i++) {
            if (expected[i] == other) expected[i] = five;
        }
        for (int threads = 1; threads <= 4; threads++) {
            crTasks* tasks;
            CHECK_STATUS(cr__tasks_create(&libc, threads, &tasks), CR_OK);
            CHECK(cr__tasks_threads(tasks) == threads);
            for (int i = 0; i < SIZE; i++) {
                parent[i] = i;
            }
            parent[SIZE - 1] = 5;
            CHECK_STATUS(cr__forest_join_all(tasks, &scratch, count, ends_of, &pairs, SIZE, parent), CR_OK);
            int wrong = 0;
            for (int i = 0; i < SIZE; i++) {
                wrong += cr__forest_find(parent, i) != expected[i];
            }
            CHECK(wrong == 0);
            cr__tasks_destroy(tasks);
        }
    }
    cr_arena_destroy(&scratch);
}
