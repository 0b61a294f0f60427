// The broad phase of those who keep the list themselves: pairs found by several threads against all pairs.
#include <stdlib.h>

#include "collide/broad.h"
#include "sample.h"
#include "test.h"

#define COUNT 900

typedef struct Boxes {
    crBounds box[COUNT];
    bool given[COUNT];  // since the last list
} Boxes;

static bool meet(crBounds a, crBounds b) {
    return a.lo.x <= b.hi.x && b.lo.x <= a.hi.x && a.lo.y <= b.hi.y && b.lo.y <= a.hi.y && a.lo.z <= b.hi.z &&
           b.lo.z <= a.hi.z;
}

// pairs whose sum of keys is divisible by five are not wanted
static bool wants(const void* ctx, crPair pair) {
    (void)ctx;
    return (pair.a + pair.b) % 5 != 0;
}

static int compare(const void* x, const void* y) {
    const crPair *a = x, *b = y;
    return a->a != b->a ? (a->a < b->a ? -1 : 1) : (a->b > b->b) - (a->b < b->b);
}

// the pairs found are all that there are, each once
static void check_pairs(const Boxes* boxes, const crPair* pairs, int count) {
    crPair* found = malloc(((size_t)count + 1) * sizeof *found);
    for (int i = 0; i < count; i++) {
        found[i] = pairs[i];
    }
    qsort(found, (size_t)count, sizeof *found, compare);
    int at = 0, wrong = 0;
    for (int a = 0; a < COUNT; a++) {
        for (int b = a + 1; b < COUNT; b++) {
            bool is = (boxes->given[a] || boxes->given[b]) && meet(boxes->box[a], boxes->box[b]) &&
                      wants(NULL, (crPair){a, b});
            bool told = at < count && found[at].a == a && found[at].b == b;
            wrong += is != told;
            at += told;
        }
    }
    CHECK(wrong == 0);
    CHECK(at == count);
    free(found);
}

static void run(int threads, double side, uint64_t seed) {
    static Boxes boxes;
    crAllocator libc = cr_allocator_libc();
    crRandom random = sample_seed(seed);
    crBroad* broad;
    crTasks* tasks;
    crArena scratch;
    CHECK_STATUS(cr_broad_create(0.0, NULL, &broad, NULL), CR_OK);
    CHECK_STATUS(cr__tasks_create(&libc, threads, &tasks), CR_OK);
    CHECK_STATUS(cr_arena_create(&scratch, &libc, 0), CR_OK);
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < COUNT; i++) {
            // all, few, half of them
            boxes.given[i] =
                round == 0 || (round % 2 == 0 ? i % 2 == 0 : sample_uniform(&random, 0, 1) < 0.03);
            if (!boxes.given[i]) continue;
            crVec3 p = cr_vec3(sample_uniform(&random, 0, side), sample_uniform(&random, 0, side),
                               sample_uniform(&random, 0, side));
            double r = i == 0 ? 3.0 * side : sample_log(&random, 0.05, 0.6);
            boxes.box[i] = (crBounds){cr_sub(p, cr_vec3(r, r, r)), cr_add(p, cr_vec3(r, r, r))};
            CHECK_STATUS(cr__broad_hold(broad, i, boxes.box[i], -1), CR_OK);
        }
        const crPair* pairs;
        int count;
        CHECK_STATUS(cr__broad_fresh(broad, tasks, &scratch, &(crBroadWant){wants, NULL}, &pairs, &count),
                     CR_OK);
        check_pairs(&boxes, pairs, count);
        cr__broad_listed(broad);
        CHECK_STATUS(cr_arena_reset(&scratch), CR_OK);
    }
    cr_arena_destroy(&scratch);
    cr__tasks_destroy(tasks);
    cr_broad_destroy(broad);
}

TEST(all_pairs_by_any_number_of_threads) {
    for (int threads = 1; threads <= 4; threads++) {
        run(threads, 8.0, 3);
    }
}

// a box meets more than a thread has room for
TEST(boxes_in_one_place) {
    for (int threads = 1; threads <= 4; threads++) {
        run(threads, 0.05, 5);
    }
}
