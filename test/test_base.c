// test_base.c - status, errors, arena, sorting, log, hash, symmetric 3x3 matrices and rotations.
#include <stdlib.h>

#include "base/room.h"
#include "sample.h"
#include "test.h"

TEST(status_names_are_distinct) {
    static const crStatus all[] = {
#define CODE(suffix, code, name, text) CR_##suffix,
        CR_STATUS_MAP(CODE)
#undef CODE
    };
    int count = (int)(sizeof all / sizeof all[0]);
    for (int i = 0; i < count; i++) {
        CHECK(strlen(cr_status_name(all[i])) > 0 && strlen(cr_status_text(all[i])) > 0);
        CHECK(strcmp(cr_status_name(all[i]), "unknown") != 0);
        CHECK(strpbrk(cr_status_name(all[i]), " _") == NULL);
        CHECK(all[i] <= 0 && (all[i] == 0) == (i == 0));
        for (int j = 0; j < i; j++) {
            CHECK(strcmp(cr_status_name(all[i]), cr_status_name(all[j])) != 0);
            CHECK(strcmp(cr_status_text(all[i]), cr_status_text(all[j])) != 0);
            CHECK(all[i] != all[j]);
        }
    }
    CHECK_TEXT(cr_status_name((crStatus)1), "unknown");
    CHECK_TEXT(cr_status_text((crStatus)1), "unknown status");
}

TEST(error_set) {
    crError error;
    memset(&error, 'x', sizeof error);
    CHECK_STATUS(cr_error_set(&error, CR_ERR_RANGE, "mu", "mu: is %g", -1.0), CR_ERR_RANGE);
    CHECK(error.status == CR_ERR_RANGE && error.line == 0 && error.column == 0);
    CHECK_TEXT(error.field, "mu");
    CHECK_TEXT(error.message, "mu: is -1");
    CHECK_STATUS(cr_error_set(NULL, CR_ERR_RANGE, "mu", "mu: is %g", -1.0), CR_ERR_RANGE);
    // too long for its place: cut, and ended
    char longer[400];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    cr_error_set(&error, CR_ERR_LIMIT, longer, "%s", longer);
    CHECK(strlen(error.field) == sizeof error.field - 1);
    CHECK(strlen(error.message) == sizeof error.message - 1);
}

// numbers are what was given, by the fewest digits that read back equal; everything else is printf's
TEST(error_numbers) {
    crError error;
    cr_error_set(&error, CR_ERR_RANGE, "x", "%g %.17g %.3g %g", 0.3, -0.1 - 0.2, 2.0 / 3.0, 1.0 + 1e-10);
    CHECK_TEXT(error.message, "0.3 -0.30000000000000004 0.667 1.0000000001");
    cr_error_set(&error, CR_ERR_RANGE, "x", "%g %g %g %g %g", 0.0, 1e300, 5e-324, -INFINITY, 123456789.0);
    CHECK_TEXT(error.message, "0 1e+300 4.94066e-324 -inf 123456789");
    cr_error_set(&error, CR_ERR_RANGE, "x", "%d %ld %zu %u %x %lld%% %c %.2s %.*s|%s", -3, -4L, (size_t)5, 6U,
                 255U, 7LL, 'q', "abc", 1, "xyz", "end");
    CHECK_TEXT(error.message, "-3 -4 5 6 ff 7% q ab x|end");
    crRandom seed = sample_seed(11);
    for (int i = 0; i < test_samples(3000); i++) {
        double x = ldexp(sample_uniform(&seed, -1.0, 1.0), (int)sample_uniform(&seed, -300.0, 300.0));
        if (i % 2) x = floor(sample_uniform(&seed, -1e4, 1e4)) / 1000.0;
        cr_error_set(&error, CR_ERR_RANGE, "x", "%g", x);
        CHECK(strtod(error.message, NULL) == x);
        // no text with fewer digits reads back equal
        char shorter[64];
        for (int digits = 1; digits < 17; digits++) {
            snprintf(shorter, sizeof shorter, "%.*g", digits, x);
            if (strtod(shorter, NULL) == x) {
                CHECK(strlen(error.message) <= strlen(shorter) || digits < 6);
                break;
            }
        }
    }
}

// An allocator that counts, and fails after a number of calls.
typedef struct Counter {
    int allocs;
    int live;
    int fail_after;  // negative: never
    size_t bytes;    // held
} Counter;

static void* counting_alloc(void* ctx, size_t size) {
    Counter* counter = ctx;
    if (counter->fail_after == 0) return NULL;
    if (counter->fail_after > 0) counter->fail_after--;
    counter->allocs++;
    counter->live++;
    counter->bytes += size;
    return malloc(size);
}

static void counting_free(void* ctx, void* memory, size_t size) {
    Counter* counter = ctx;
    counter->live--;
    counter->bytes -= size;
    free(memory);
}

static crAllocator counting(Counter* counter) {
    return (crAllocator){counting_alloc, counting_free, counter};
}

TEST(arena_aligns_and_does_not_overlap) {
    Counter counter = {.fail_after = -1};
    crAllocator allocator = counting(&counter);
    crArena arena;
    CHECK_STATUS(cr_arena_create(&arena, &allocator, 1000), CR_OK);
    unsigned char* blocks[40];
    for (int i = 0; i < 40; i++) {
        size_t size = (size_t)(i * 13 % 97);
        blocks[i] = cr_arena_alloc(&arena, size);
        CHECK(blocks[i] != NULL && (uintptr_t)blocks[i] % 64 == 0);
        memset(blocks[i], i, size);
    }
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < i * 13 % 97; k++) {
            CHECK(blocks[i][k] == i);
        }
    }
    CHECK(arena.spill != NULL && arena.peak == arena.used);
    cr_arena_destroy(&arena);
    CHECK(counter.live == 0 && counter.bytes == 0);
}

TEST(arena_mark_and_release) {
    Counter counter = {.fail_after = -1};
    crAllocator allocator = counting(&counter);
    crArena arena;
    CHECK_STATUS(cr_arena_create(&arena, &allocator, 256), CR_OK);
    unsigned char* kept = cr_arena_alloc(&arena, 64);
    memset(kept, 7, 64);
    size_t mark = cr_arena_mark(&arena);
    unsigned char* first = cr_arena_alloc(&arena, 64);
    // spills, twice
    CHECK(cr_arena_alloc(&arena, 500) != NULL && cr_arena_alloc(&arena, 500) != NULL);
    CHECK(counter.live == 3);
    size_t inner = cr_arena_mark(&arena);
    CHECK(cr_arena_alloc(&arena, 500) != NULL);
    cr_arena_release(&arena, inner);
    CHECK(counter.live == 3 && cr_arena_mark(&arena) == inner);
    cr_arena_release(&arena, mark);
    CHECK(counter.live == 1 && arena.spill == NULL);
    CHECK(cr_arena_alloc(&arena, 64) == first);
    for (int i = 0; i < 64; i++) {
        CHECK(kept[i] == 7);
    }
    cr_arena_destroy(&arena);
    CHECK(counter.live == 0 && counter.bytes == 0);
}

// a step of mixed sizes, as a user of the arena would make
static bool arena_step(crArena* arena) {
    if (cr_arena_alloc(arena, 300) == NULL) return false;
    size_t mark = cr_arena_mark(arena);
    bool ok = cr_arena_alloc(arena, 5000) != NULL && cr_arena_alloc(arena, 1) != NULL;
    cr_arena_release(arena, mark);
    return ok && cr_arena_alloc(arena, 700) != NULL;
}

TEST(arena_steady_state_makes_no_heap_calls) {
    Counter counter = {.fail_after = -1};
    crAllocator allocator = counting(&counter);
    crArena arena;
    CHECK_STATUS(cr_arena_create(&arena, &allocator, 0), CR_OK);
    CHECK(arena_step(&arena));
    CHECK_STATUS(cr_arena_reset(&arena), CR_OK);
    int before = counter.allocs;
    for (int i = 0; i < 100; i++) {
        CHECK(arena_step(&arena));
        CHECK_STATUS(cr_arena_reset(&arena), CR_OK);
    }
    CHECK(counter.allocs == before && counter.live == 1);
    CHECK(arena.capacity >= arena.peak);
    cr_arena_destroy(&arena);
    CHECK(counter.live == 0 && counter.bytes == 0);
}

TEST(arena_survives_a_failing_allocator) {
    bool finished = false;
    for (int k = 0; k < 20 && !finished; k++) {
        Counter counter = {.fail_after = k};
        crAllocator allocator = counting(&counter);
        crArena arena;
        crStatus status = cr_arena_create(&arena, &allocator, 128);
        CHECK(status == (k == 0 ? CR_ERR_MEMORY : CR_OK));
        bool ok = status == CR_OK;
        for (int i = 0; i < 2 && status == CR_OK; i++) {
            bool step = arena_step(&arena);
            crStatus reset = cr_arena_reset(&arena);
            CHECK(reset == CR_OK || reset == CR_ERR_MEMORY);
            CHECK(arena.used == 0 && arena.spill == NULL);
            ok = ok && step && reset == CR_OK;
        }
        finished = ok;
        cr_arena_destroy(&arena);
        CHECK(counter.live == 0 && counter.bytes == 0);
    }
    CHECK(finished);
}

TEST(arena_edges) {
    crArena arena = {0};
    cr_arena_destroy(&arena);
    cr_arena_destroy(NULL);
    CHECK_STATUS(cr_arena_create(NULL, NULL, 1), CR_ERR_ARGUMENT);
    CHECK_STATUS(cr_arena_create(&arena, NULL, SIZE_MAX), CR_ERR_MEMORY);
    CHECK_STATUS(cr_arena_create(&arena, NULL, 100), CR_OK);
    CHECK(cr_arena_alloc(&arena, SIZE_MAX) == NULL && cr_arena_alloc(&arena, SIZE_MAX / 2) == NULL);
    CHECK(cr_arena_alloc(&arena, 0) != NULL && cr_arena_alloc(&arena, 0) != NULL);
    cr_arena_destroy(&arena);
    cr_arena_destroy(&arena);
}

TEST(hash_known_values) {
    // published test vectors of 64-bit FNV-1a
    CHECK(cr_hash(CR_HASH_SEED, "", 0) == UINT64_C(0xcbf29ce484222325));
    CHECK(cr_hash(CR_HASH_SEED, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    CHECK(cr_hash(CR_HASH_SEED, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    CHECK(cr_hash(cr_hash(CR_HASH_SEED, "foo", 3), "bar", 3) == UINT64_C(0x85944171f73967e8));
}

typedef struct Line {
    int count;
    crLogLevel level;
    char text[600];
} Line;

static void keep_line(void* ctx, crLogLevel level, const char* message) {
    Line* line = ctx;
    line->count++;
    line->level = level;
    snprintf(line->text, sizeof line->text, "%s", message);
}

TEST(log_calls_its_owner) {
    Line line = {0};
    crLog log = {keep_line, &line};
    cr_log(NULL, CR_LOG_ERROR, "nobody hears %d", 1);
    cr_log(&(crLog){0}, CR_LOG_ERROR, "nobody hears %d", 1);
    cr_log(&log, CR_LOG_WARNING, "%s %d", "row", 7);
    CHECK(line.count == 1 && line.level == CR_LOG_WARNING);
    CHECK_TEXT(line.text, "row 7");
    cr_log(&log, CR_LOG_INFO, "%*s", 1000, "x");
    CHECK(line.count == 2 && strlen(line.text) == 511);
}

// matrices

static crSym3 random_sym(crRandom* random, const double values[3], crMat3* axes) {
    *axes = cr_quat_matrix(sample_rotation(random));
    crSym3 s = {0};
    for (int k = 0; k < 3; k++) {
        crVec3 a = cr_mat3_column(*axes, k);
        s = cr_sym3_add(s, (crSym3){values[k] * a.x * a.x, values[k] * a.x * a.y, values[k] * a.x * a.z,
                                    values[k] * a.y * a.y, values[k] * a.y * a.z, values[k] * a.z * a.z});
    }
    return s;
}

static double largest_of(crSym3 s) {
    double diagonal = fmax(fabs(s.xx), fmax(fabs(s.yy), fabs(s.zz)));
    return fmax(diagonal, fmax(fabs(s.xy), fmax(fabs(s.xz), fabs(s.yz))));
}

// S v = value v, unit and orthogonal, right-handed, ascending
static double check_eigen(crSym3 s) {
    double values[3];
    crMat3 axes;
    cr_sym3_eigen(s, values, &axes);
    double scale = largest_of(s), worst = 0.0;
    CHECK(values[0] <= values[1] && values[1] <= values[2]);
    CHECK_NEAR(cr_dot(cr_cross(cr_mat3_column(axes, 0), cr_mat3_column(axes, 1)), cr_mat3_column(axes, 2)),
               1.0, 1e-14);
    for (int k = 0; k < 3; k++) {
        crVec3 v = cr_mat3_column(axes, k);
        crVec3 residual = cr_madd(cr_sym3_mul(s, v), -values[k], v);
        CHECK(cr_norm(residual) <= 5e-15 * scale);
        CHECK_NEAR(cr_norm(v), 1.0, 1e-14);
        if (scale > 0.0) worst = fmax(worst, cr_norm(residual) / scale);
    }
    return worst;
}

TEST(eigen_of_all_sorts) {
    crRandom random = sample_seed(401);
    double worst = 0.0;
    for (int i = 0; i < test_samples(100000); i++) {
        double values[3];
        for (int k = 0; k < 3; k++) {
            values[k] = sample_uniform(&random, -1.0, 1.0) * (i % 2 ? sample_log(&random, 1e-12, 1e12) : 1.0);
        }
        if (i % 5 == 0) values[1] = values[0];
        if (i % 7 == 0) values[2] = 0.0;
        crMat3 axes;
        worst = fmax(worst, check_eigen(random_sym(&random, values, &axes)));
    }
    check_eigen((crSym3){0});
    check_eigen((crSym3){1, 0, 0, 1, 0, 1});
    check_eigen((crSym3){3, 0, 0, 2, 0, 1});
    check_eigen((crSym3){1, 1, 1, 1, 1, 1});
    check_eigen((crSym3){0, 1e-200, 0, 0, 0, 1});
    printf("  eigen: worst residual %.2g\n", worst);
}

TEST(solve_of_all_sorts) {
    crRandom random = sample_seed(402);
    double worst = 0.0, worst_norm = 0.0;
    for (int i = 0; i < test_samples(100000); i++) {
        double values[3];
        for (int k = 0; k < 3; k++) {
            values[k] = i % 2 ? sample_log(&random, 1e-5, 1e5) : sample_uniform(&random, 0.1, 1.0);
        }
        int rank = i % 3 == 0 ? (i % 6 == 0 ? 1 : 2) : 3;
        // what a singular solve may call zero is 1e-14 of the largest: keep the rest well above
        for (int k = 0; k < 3 && rank < 3; k++) {
            values[k] = k < rank ? sample_uniform(&random, 0.1, 1.0) : 0.0;
        }
        crMat3 axes;
        crSym3 s = random_sym(&random, values, &axes);
        crVec3 wanted = cr_vec3(0, 0, 0);
        for (int k = 0; k < rank; k++) {
            wanted = cr_madd(wanted, sample_uniform(&random, -1.0, 1.0), cr_mat3_column(axes, k));
        }
        crVec3 b = cr_sym3_mul(s, wanted), x;
        if (!CHECK(cr_sym3_solve(s, b, &x))) continue;
        crVec3 residual = cr_sub(cr_sym3_mul(s, x), b);
        double scale = largest_of(s) * cr_norm(x);
        CHECK(cr_norm(residual) <= 1e-14 * scale);
        worst = fmax(worst, cr_norm(residual) / scale);
        if (rank == 3) continue;
        // least norm: nothing along the null space
        CHECK_VEC(x, wanted, 1e-12 * cr_norm(wanted) + 1e-15);
        worst_norm = fmax(worst_norm, cr_norm(cr_sub(x, wanted)) / cr_norm(wanted));
        // and out of range there is no solution
        CHECK(!cr_sym3_solve(s, cr_madd(b, 0.1, cr_mat3_column(axes, 2)), &x));
    }
    crVec3 x;
    CHECK(cr_sym3_solve((crSym3){0}, cr_vec3(0, 0, 0), &x) && cr_norm(x) == 0.0);
    CHECK(!cr_sym3_solve((crSym3){0}, cr_vec3(0, 1, 0), &x));
    // graded, but regular
    CHECK(cr_sym3_solve((crSym3){1e12, 0, 0, 1, 0, 1e-12}, cr_vec3(1e12, 2, 3e-12), &x));
    CHECK_VEC(x, cr_vec3(1, 2, 3), 1e-14);
    printf("  solve: worst residual %.2g, least-norm solutions off by %.2g\n", worst, worst_norm);
}

TEST(invert_of_all_sorts) {
    crRandom random = sample_seed(403);
    double worst = 0.0;
    crSym3 inverse;
    for (int i = 0; i < test_samples(100000); i++) {
        double values[3];
        double condition = i % 2 ? 1e5 : 3.0;
        for (int k = 0; k < 3; k++) {
            values[k] = sample_log(&random, 1.0 / condition, 1.0);
        }
        crMat3 axes;
        crSym3 s = random_sym(&random, values, &axes);
        if (!CHECK(cr_sym3_invert(s, &inverse))) continue;
        for (int k = 0; k < 3; k++) {
            crVec3 unit = cr_vec3(k == 0, k == 1, k == 2);
            double error = cr_norm(cr_sub(cr_sym3_mul(s, cr_sym3_mul(inverse, unit)), unit)) / condition;
            CHECK(error <= 1e-14);
            worst = fmax(worst, error);
        }
        // one or two directions gone
        values[0] = 0.0;
        values[1] *= i % 2;
        CHECK(!cr_sym3_invert(random_sym(&random, values, &axes), &inverse));
    }
    CHECK(!cr_sym3_invert((crSym3){0}, &inverse));
    CHECK(!cr_sym3_invert((crSym3){1, 1, 0, 1, 0, 1}, &inverse));
    printf("  invert: worst residual %.2g of the condition number\n", worst);
}

TEST(positive_semidefinite) {
    crRandom random = sample_seed(404);
    for (int i = 0; i < test_samples(100000); i++) {
        double values[3];
        for (int k = 0; k < 3; k++) {
            values[k] = sample_log(&random, 1e-6, 1.0);
        }
        if (i % 3 == 0) values[0] = 0.0;
        if (i % 6 == 0) values[1] = 0.0;
        crMat3 axes;
        CHECK(cr_sym3_is_psd(random_sym(&random, values, &axes)));
        values[i % 3] = -1e-3;
        values[(i + 1) % 3] = 1.0;
        CHECK(!cr_sym3_is_psd(random_sym(&random, values, &axes)));
    }
    CHECK(cr_sym3_is_psd((crSym3){0}));
    CHECK(!cr_sym3_is_psd((crSym3){-1, 0, 0, -1, 0, 1}));
    CHECK(!cr_sym3_is_psd((crSym3){0, 1, 0, 0, 0, 1}));
    CHECK(!cr_sym3_is_psd((crSym3){(double)NAN, 0, 0, 1, 0, 1}));
}

// rotations

TEST(quaternions) {
    crRandom random = sample_seed(405);
    for (int i = 0; i < test_samples(10000); i++) {
        crQuat q = sample_rotation(&random), r = sample_rotation(&random);
        crVec3 v = sample_direction(&random), w = sample_direction(&random);
        crVec3 turned = cr_quat_rotate(q, v);
        CHECK_VEC(cr_mat3_mul(cr_quat_matrix(q), v), turned, 2e-15);
        CHECK_VEC(cr_quat_rotate(cr_quat_conj(q), turned), v, 2e-15);
        CHECK_VEC(cr_quat_rotate(cr_quat_mul(r, q), v), cr_quat_rotate(r, turned), 2e-15);
        // lengths, angles and handedness are kept
        CHECK_NEAR(cr_dot(turned, cr_quat_rotate(q, w)), cr_dot(v, w), 2e-15);
        CHECK_VEC(cr_cross(turned, cr_quat_rotate(q, w)), cr_quat_rotate(q, cr_cross(v, w)), 2e-15);
        // q v q*
        crQuat pure = cr_quat_mul(cr_quat_mul(q, (crQuat){0, v.x, v.y, v.z}), cr_quat_conj(q));
        CHECK_VEC(cr_vec3(pure.x, pure.y, pure.z), turned, 2e-15);
    }
    crQuat quarter = cr_quat_axis_angle(cr_vec3(0, 0, 5), CR_PI / 2);
    CHECK_VEC(cr_quat_rotate(quarter, cr_vec3(1, 0, 0)), cr_vec3(0, 1, 0), 1e-15);
    CHECK(cr_quat_axis_angle(cr_vec3(0, 0, 0), 1.0).w == 1.0);
    CHECK(cr_quat_normalize((crQuat){0, 0, 0, 0}).w == 1.0);
    CHECK(cr_quat_normalize((crQuat){(double)NAN, 0, 0, 0}).w == 1.0);
    CHECK(cr_quat_normalize((crQuat){0, 0, -3, 0}).y == -1.0);
}

TEST(default_frame) {
    crRandom random = sample_seed(406);
    for (int i = 0; i < test_samples(10000); i++) {
        crVec3 n = i == 0 ? cr_vec3(0, 0, 1) : (i == 1 ? cr_vec3(0, 0, -1) : sample_direction(&random));
        crMat3 f = cr_frame(n);
        crVec3 t1 = cr_mat3_column(f, 1), t2 = cr_mat3_column(f, 2);
        CHECK_VEC(cr_mat3_column(f, 0), n, 0.0);
        CHECK_VEC(cr_cross(n, t1), t2, 1e-15);
        CHECK_NEAR(cr_norm(t1), 1.0, 1e-15);
        CHECK_NEAR(cr_dot(t1, n), 0.0, 1e-9);
        if (fabs(n.z) < 0.99) CHECK(t1.z == 0.0 && cr_dot(t1, cr_cross(cr_vec3(0, 0, 1), n)) > 0.0);
        if (i < 2) CHECK_VEC(t1, cr_vec3(1, 0, 0), 0.0);
    }
}

TEST(arena_gives_back_what_was_needed_once) {
    Counter counter = {.fail_after = -1};
    crAllocator allocator = counting(&counter);
    crArena arena;
    CHECK_STATUS(cr_arena_create(&arena, &allocator, 0), CR_OK);
    CHECK(cr_arena_alloc(&arena, 1000000) != NULL);
    CHECK_STATUS(cr_arena_reset(&arena), CR_OK);
    CHECK(arena.capacity >= 1000000);
    // not at once, and not without memory for a smaller block
    for (int i = 0; i < 400; i++) {
        CHECK(cr_arena_alloc(&arena, 1000) != NULL);
        counter.fail_after = i < 250 ? 0 : -1;
        CHECK_STATUS(cr_arena_reset(&arena), CR_OK);
        CHECK(i >= 250 || arena.capacity >= 1000000);
        counter.fail_after = -1;
    }
    CHECK(arena.capacity < 100000);
    int calls = counter.allocs;
    for (int i = 0; i < 1000; i++) {
        CHECK(cr_arena_alloc(&arena, 1000) != NULL);
        CHECK_STATUS(cr_arena_reset(&arena), CR_OK);
    }
    CHECK(counter.allocs == calls);
    // what comes again and again is kept in the end: at most eight spills and two blocks a look
    for (int i = 0; i < 100000; i++) {
        CHECK(cr_arena_alloc(&arena, i % 300 == 0 ? 1000000 : 1000) != NULL);
        CHECK_STATUS(cr_arena_reset(&arena), CR_OK);
    }
    CHECK(counter.allocs - calls <= 10 * 8);
    cr_arena_destroy(&arena);
    CHECK(counter.live == 0 && counter.bytes == 0);
}

// an array that is last grows and shrinks where it is, in the block and beyond it; one that is not moves
TEST(arrays_at_the_end_of_an_arena_grow_in_place) {
    for (size_t capacity = 4096; capacity <= 65536; capacity *= 4) {
        Counter counter = {.fail_after = -1};
        crAllocator allocator = counting(&counter);
        crArena arena;
        CHECK_STATUS(cr_arena_create(&arena, &allocator, capacity), CR_OK);
        CHECK(cr_arena_alloc(&arena, 100) != NULL);
        size_t begin = cr_arena_mark(&arena);
        crTail tail = {0};
        int *list = NULL, wrong = 0;
        for (int i = 0; i < 5000; i++) {
            size_t used = (size_t)i * sizeof *list;
            list = cr__resize(&arena, &tail, list, used, used + sizeof *list);
            list[i] = i;
        }
        for (int i = 0; i < 5000; i++) {
            wrong += list[i] != i;
        }
        // it took no more than it has, and one block at most besides the arena's
        CHECK(wrong == 0 && arena.peak == begin + 5000 * sizeof *list / 64 * 64 + 64 && counter.live <= 2);
        list = cr__resize(&arena, &tail, list, 40, 40);
        CHECK(list[9] == 9 && cr_arena_mark(&arena) == begin + 64);
        CHECK(cr_arena_alloc(&arena, 1) != NULL);
        int* moved = cr__resize(&arena, &tail, list, 40, 80);
        CHECK(moved != list && moved[9] == 9 && cr_arena_mark(&arena) == begin + 256);
        counter.fail_after = 0;
        CHECK(cr__resize(&arena, &tail, moved, 40, 1000000) == NULL && moved[9] == 9);
        CHECK(cr_arena_mark(&arena) == begin + 256);
        cr_arena_destroy(&arena);
        CHECK(counter.live == 0 && counter.bytes == 0);
    }
}

// arrays that stay move down to the mark, from the block and from blocks beyond it
TEST(arrays_sink_to_a_mark) {
    for (size_t capacity = 256; capacity <= 65536; capacity *= 4) {
        Counter counter = {.fail_after = -1};
        crAllocator allocator = counting(&counter);
        crArena arena;
        CHECK_STATUS(cr_arena_create(&arena, &allocator, capacity), CR_OK);
        CHECK(cr_arena_alloc(&arena, 100) != NULL);
        size_t mark = cr_arena_mark(&arena);
        CHECK(cr_arena_alloc(&arena, 300) != NULL);
        crSunk kept[2];
        for (int k = 0; k < 2; k++) {
            int* list = cr_arena_alloc(&arena, 1000 * sizeof *list);
            for (int i = 0; i < 1000; i++) {
                list[i] = 1000 * k + i;
            }
            kept[k] = (crSunk){list, 1000 * sizeof *list, (1000 + 500 * (size_t)k) * sizeof *list};
            CHECK(cr_arena_alloc(&arena, 3000) != NULL);
        }
        CHECK_STATUS(cr__sink(&arena, mark, kept, 2), CR_OK);
        CHECK(cr_arena_mark(&arena) == mark + 4032 + 6016);
        int wrong = 0;
        for (int i = 0; i < 2000; i++) {
            wrong += ((const int*)kept[i / 1000].array)[i % 1000] != i;
        }
        CHECK(wrong == 0);
        cr_arena_destroy(&arena);
        CHECK(counter.live == 0 && counter.bytes == 0);
    }
}

// an array that is far too large is given back, one that is not stays; without memory it stays as it is
TEST(arrays_that_are_far_too_large_are_given_back) {
    Counter counter = {.fail_after = -1};
    crAllocator allocator = counting(&counter);
    int *list = NULL, capacity = 0;
    CHECK_STATUS(CR_GROW(&allocator, list, capacity, 0, 10000), CR_OK);
    CHECK(capacity >= 10000 && capacity < 11000);
    for (int i = 0; i < 1000; i++) {
        list[i] = i;
    }
    const int *before = list, large = capacity;
    CR_FIT(&allocator, list, capacity, 8000);
    CHECK(list == before && capacity == large);
    counter.fail_after = 0;
    CR_FIT(&allocator, list, capacity, 1000);
    CHECK(list == before && capacity == large);
    counter.fail_after = -1;
    CR_FIT(&allocator, list, capacity, 1000);
    CHECK(capacity >= 1000 && capacity < 1100 && list[0] == 0 && list[999] == 999);
    cr__drop(&allocator, list, capacity, sizeof *list);
    CHECK(counter.live == 0 && counter.bytes == 0);
}

// keys ascend, and items of equal keys keep their order, for any count
TEST(keyed_items_are_sorted_in_order) {
    enum { MOST = 200 };
    crKeyed list[MOST], work[MOST];
    crRandom random = sample_seed(5);
    for (int count = 0; count <= MOST; count++) {
        double key[MOST];
        for (int i = 0; i < count; i++) {
            key[i] = (double)(sample_bits(&random) % 20) - 10.0;
            list[i] = (crKeyed){key[i], i};
        }
        const crKeyed* sorted = cr__sort_keyed(list, work, count);
        for (int i = 0; i < count; i++) {
            CHECK(sorted[i].key == key[sorted[i].at]);
            if (i == 0) continue;
            CHECK(sorted[i - 1].key < sorted[i].key ||
                  (sorted[i - 1].key == sorted[i].key && sorted[i - 1].at < sorted[i].at));
        }
    }
}
