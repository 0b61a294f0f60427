// test_collide_broad.c - the broad phase against all pairs, in any order of insertion; memory that stands
// still.
#include <stdlib.h>

#include "sample.h"
#include "test.h"

typedef struct Counter {
    int allocations, left;
} Counter;

static void* counted_alloc(void* ctx, size_t size) {
    Counter* c = ctx;
    if (c->left == 0) return NULL;
    if (c->left > 0) c->left--;
    c->allocations++;
    return malloc(size);
}
static void counted_free(void* ctx, void* memory, size_t size) {
    (void)ctx;
    (void)size;
    free(memory);
}

#define COUNT 600

static crBounds random_box(crRandom* random) {
    crVec3 p =
        cr_vec3(sample_uniform(random, 0, 10), sample_uniform(random, 0, 10), sample_uniform(random, 0, 10));
    double r = sample_log(random, 0.05, 1.5);
    return (crBounds){cr_sub(p, cr_vec3(r, r, r)), cr_add(p, cr_vec3(r, r, r))};
}

static bool meet(crBounds a, crBounds b) {
    return a.lo.x <= b.hi.x && b.lo.x <= a.hi.x && a.lo.y <= b.hi.y && b.lo.y <= a.hi.y && a.lo.z <= b.hi.z &&
           b.lo.z <= a.hi.z;
}

static void check_all_pairs(crBroad* broad, const crBounds* box, const bool* in) {
    const crPair* pairs;
    int count, k = 0;
    CHECK_STATUS(cr_broad_pairs(broad, &pairs, &count), CR_OK);
    for (int i = 0; i < COUNT; i++)
        for (int j = i + 1; j < COUNT; j++) {
            if (!in[i] || !in[j] || !meet(box[i], box[j]) || (i % 7 == 3 && j % 7 == 3)) continue;
            if (!(k < count && pairs[k].a == i && pairs[k].b == j)) {
                CHECK(false);
                return;
            }
            k++;
        }
    CHECK(k == count);
}

TEST(pairs_are_all_pairs_in_any_order) {
    crRandom random = sample_seed(14);
    Counter counter = {0, -1};
    crAllocator allocator = {counted_alloc, counted_free, &counter};
    crBroad *x, *y;
    CHECK_STATUS(cr_broad_create(0.1, &allocator, &x, NULL), CR_OK);
    CHECK_STATUS(cr_broad_create(0.5, &allocator, &y, NULL), CR_OK);
    crBounds box[COUNT];
    bool in[COUNT];
    for (int i = 0; i < COUNT; i++)
        box[i] = random_box(&random);
    for (int i = 0; i < COUNT; i++) {
        int k = COUNT - 1 - i;
        CHECK_STATUS(cr_broad_set(x, i, box[i], i % 7 == 3 ? 1 : -1, NULL), CR_OK);
        CHECK_STATUS(cr_broad_set(y, k, box[k], k % 7 == 3 ? 1 : -1, NULL), CR_OK);
        in[i] = true;
    }
    check_all_pairs(x, box, in);
    check_all_pairs(y, box, in);
    int before = 0;
    for (int step = 0; step < test_samples(3000) / 5; step++) {
        for (int i = 0; i < COUNT; i++) {
            crVec3 d = cr_scale(step % 5 == 0 ? 2.0 : 0.02, sample_direction(&random));
            box[i] = (crBounds){cr_add(box[i].lo, d), cr_add(box[i].hi, d)};
            bool was = in[i];
            in[i] = sample_bits(&random) % 20 != 0;
            if (was && !in[i]) cr_broad_remove(x, i);
            if (in[i]) CHECK_STATUS(cr_broad_set(x, i, box[i], i % 7 == 3 ? 1 : -1, NULL), CR_OK);
        }
        check_all_pairs(x, box, in);
        if (step == 20) before = counter.allocations;
        crBounds query = random_box(&random);
        int keys[COUNT], found = cr_broad_query(x, query, keys, COUNT), k = 0, few[3];
        for (int i = 0; i < COUNT; i++)
            if (in[i] && meet(query, box[i])) CHECK(k < found && keys[k++] == i);
        CHECK(k == found);
        CHECK(cr_broad_query(x, query, few, 3) == found);
        for (int i = 0; i < found && i < 3; i++)
            CHECK(few[i] == keys[i]);
    }
    // pairs spread out while boxes drift: no more memory is asked for
    CHECK(counter.allocations == before);
    cr_broad_destroy(x);
    cr_broad_destroy(y);
    cr_broad_destroy(NULL);
}

// sizes over eight decades, needles and plates, some without an end, places far away, on the grid's own lines
static crBounds any_box(crRandom* random) {
    const double inf = (double)INFINITY;
    double size = sample_log(random, 1e-4, 1e4), far = sample_bits(random) % 10 == 0 ? 1e7 : 1.0;
    double lo[3], hi[3];
    for (int k = 0; k < 3; k++) {
        double r = size * (sample_bits(random) % 4 == 0 ? 1e-3 : 1.0);
        double x = far * size * sample_uniform(random, -4, 4);
        if (sample_bits(random) % 4 == 0) x = floor(x);
        if (sample_bits(random) % 4 == 0) r = ldexp(1.0, (int)(sample_bits(random) % 8) - 4);
        bool open = sample_bits(random) % 100 == 0;
        lo[k] = open ? -inf : x;
        hi[k] = open && sample_bits(random) % 2 == 0 ? inf : x + r;
    }
    return (crBounds){cr_vec3(lo[0], lo[1], lo[2]), cr_vec3(hi[0], hi[1], hi[2])};
}

TEST(sizes_from_a_hair_to_no_end) {
    crRandom random = sample_seed(15);
    static crBounds box[COUNT];
    static bool in[COUNT];
    for (int round = 0; round < test_samples(3000) / 100; round++) {
        crBroad* broad;
        CHECK_STATUS(cr_broad_create(round % 2 == 0 ? 0.0 : 0.01, NULL, &broad, NULL), CR_OK);
        for (int i = 0; i < COUNT; i++)
            in[i] = false;
        for (int step = 0; step < 40; step++) {
            // all, then a few at a time: sorted into the grid, or compared one by one
            for (int i = 0; i < COUNT; i++) {
                if (step % 10 != 0 && sample_bits(&random) % 50 != 0) continue;
                box[i] = any_box(&random);
                in[i] = sample_bits(&random) % 5 != 0;
                if (in[i]) CHECK_STATUS(cr_broad_set(broad, i, box[i], i % 7 == 3 ? 1 : -1, NULL), CR_OK);
                if (!in[i]) cr_broad_remove(broad, i);
            }
            check_all_pairs(broad, box, in);
            crBounds query = any_box(&random);
            int keys[COUNT], found = cr_broad_query(broad, query, keys, COUNT), k = 0;
            for (int i = 0; i < COUNT; i++)
                if (in[i] && meet(query, box[i])) CHECK(k < found && keys[k++] == i);
            CHECK(k == found);
        }
        cr_broad_destroy(broad);
    }
}

TEST(groups_and_floors) {
    crBroad* broad;
    const crPair* pairs;
    int count, key;
    CHECK_STATUS(cr_broad_create(0.0, NULL, &broad, NULL), CR_OK);
    crBounds box = {{0, 0, 0}, {1, 1, 1}};
    CHECK(cr_broad_query(broad, box, &key, 1) == 0);
    CHECK_STATUS(cr_broad_pairs(broad, &pairs, &count), CR_OK);
    CHECK(count == 0);
    CHECK_STATUS(cr_broad_set(broad, 3, box, 2, NULL), CR_OK);
    CHECK_STATUS(cr_broad_set(broad, 5, box, 2, NULL), CR_OK);
    CHECK_STATUS(cr_broad_pairs(broad, &pairs, &count), CR_OK);
    CHECK(count == 0);
    // another group, without a move
    CHECK_STATUS(cr_broad_set(broad, 5, box, 4, NULL), CR_OK);
    CHECK_STATUS(cr_broad_pairs(broad, &pairs, &count), CR_OK);
    CHECK(count == 1 && pairs[0].a == 3 && pairs[0].b == 5);
    // a level floor pairs with what is near it, a tilted one with everything
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), -2.0),
            tilted = cr_shape_halfspace(cr_vec3(0.6, 0, 0.8), -2.0);
    crShape wall = cr_shape_halfspace(cr_vec3(-1, 0, 0), -0.5);
    CHECK_STATUS(cr_broad_set(broad, 0, cr_shape_bounds(&floor, cr_pose_identity()), 9, NULL), CR_OK);
    CHECK_STATUS(cr_broad_set(broad, 1, cr_shape_bounds(&tilted, cr_pose_identity()), 9, NULL), CR_OK);
    CHECK_STATUS(cr_broad_set(broad, 2, cr_shape_bounds(&wall, cr_pose_identity()), 9, NULL), CR_OK);
    CHECK_STATUS(cr_broad_pairs(broad, &pairs, &count), CR_OK);
    CHECK(count == 5 && pairs[0].a == 1 && pairs[1].a == 1 && pairs[2].a == 2);
    crBounds low = {{0, 0, -3}, {0.25, 1, 1}};
    CHECK_STATUS(cr_broad_set(broad, 3, low, 2, NULL), CR_OK);
    CHECK_STATUS(cr_broad_pairs(broad, &pairs, &count), CR_OK);
    CHECK(count == 5 && pairs[0].a == 0 && pairs[0].b == 3 && pairs[3].a == 2 && pairs[3].b == 5);
    cr_broad_destroy(broad);
}

TEST(bad_input_and_no_memory) {
    crBroad* broad;
    crError error;
    CHECK_STATUS(cr_broad_create(-1, NULL, &broad, &error), CR_ERR_RANGE);
    Counter counter = {0, 0};
    crAllocator allocator = {counted_alloc, counted_free, &counter};
    CHECK_STATUS(cr_broad_create(0, &allocator, &broad, &error), CR_ERR_MEMORY);
    for (int limit = 1; limit < 8; limit++) {
        counter.left = limit;
        CHECK_STATUS(cr_broad_create(0, &allocator, &broad, &error), CR_OK);
        crStatus status = CR_OK;
        const crPair* pairs;
        int count;
        crRandom random = sample_seed(1);
        for (int i = 0; i < 100 && status == CR_OK; i++)
            status = cr_broad_set(broad, i, random_box(&random), -1, NULL);
        if (status == CR_OK) status = cr_broad_pairs(broad, &pairs, &count);
        CHECK(status == CR_OK || status == CR_ERR_MEMORY);
        cr_broad_destroy(broad);
    }
    CHECK_STATUS(cr_broad_create(0, NULL, &broad, &error), CR_OK);
    CHECK_STATUS(cr_broad_set(broad, -1, (crBounds){{0, 0, 0}, {1, 1, 1}}, -1, &error), CR_ERR_RANGE);
    CHECK_STATUS(cr_broad_set(broad, 1, (crBounds){{0, 0, 0}, {1, -1, 1}}, -1, &error), CR_ERR_RANGE);
    CHECK_STATUS(cr_broad_set(broad, 1, (crBounds){{0, 0, NAN}, {1, 1, 1}}, -1, &error), CR_ERR_RANGE);
    cr_broad_remove(broad, 5);
    crShape plane = cr_shape_halfspace(cr_vec3(0, 0, 1), 0);
    CHECK_STATUS(cr_broad_set(broad, 0, cr_shape_bounds(&plane, cr_pose_identity()), -1, NULL), CR_OK);
    CHECK_STATUS(cr_broad_set(broad, 9, (crBounds){{7, 7, -7}, {8, 8, 8}}, -1, NULL), CR_OK);
    const crPair* pairs;
    int count;
    CHECK_STATUS(cr_broad_pairs(broad, &pairs, &count), CR_OK);
    CHECK(count == 1 && pairs[0].a == 0 && pairs[0].b == 9);
    cr_broad_destroy(broad);
}

// boxes in one place: all pairs up to the limit, then a refusal, and none of it is lost once they are apart
TEST(boxes_in_one_place_are_refused) {
    crBroad* broad;
    const crPair* pairs;
    int count = 0, many = 4000, few = 300;
    CHECK_STATUS(cr_broad_create(0.0, NULL, &broad, NULL), CR_OK);
    crBounds box = {{0, 0, 0}, {1, 1, 1}};
    for (int i = 0; i < few; i++) {
        CHECK_STATUS(cr_broad_set(broad, i, box, -1, NULL), CR_OK);
    }
    CHECK_STATUS(cr_broad_pairs(broad, &pairs, &count), CR_OK);
    CHECK(count == few * (few - 1) / 2);
    for (int i = few; i < many; i++) {
        CHECK_STATUS(cr_broad_set(broad, i, box, -1, NULL), CR_OK);
    }
    CHECK_STATUS(cr_broad_pairs(broad, &pairs, &count), CR_ERR_LIMIT);
    for (int i = few; i < many; i++) {
        crBounds away = {{10.0 * i, 0, 0}, {10.0 * i + 1.0, 1, 1}};
        CHECK_STATUS(cr_broad_set(broad, i, away, -1, NULL), CR_OK);
    }
    CHECK_STATUS(cr_broad_pairs(broad, &pairs, &count), CR_OK);
    CHECK(count == few * (few - 1) / 2);
    cr_broad_destroy(broad);
}
