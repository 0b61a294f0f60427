// test.h - a small test runner: TEST(name) { ... } registers itself, CHECK* report and go on.
//
// A test program runs all its tests, or those whose name contains its first argument, prints a line per
// failed check and a closing count, and exits 0 (all passed), 1 (a failure) or 77 (all skipped).
#ifndef CAROM_TEST_H
#define CAROM_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "carom/carom.h"
#include "carom/region.h"
#include "carom/stages.h"

typedef struct crTest {
    const char* name;
    void (*run)(void);
    struct crTest* next;
} crTest;

void test_register(crTest* test);
bool test_check(bool ok, const char* file, int line, const char* format, ...) CR_PRINTF(4, 5);
void test_skip(const char* reason);

// Full counts when CAROM_SOAK is set in the environment, a thirtieth (at least 200) otherwise; with CAROM_FEW, for
// sanitizers and for processors that are emulated, a six-hundredth (at least 40).
int test_samples(int full);

// cr_hash of numbers of `size` bytes each, the lowest byte first on every processor.
uint64_t test_hash(uint64_t hash, const void* numbers, size_t size, size_t count);

#define TEST(title)                                                   \
    static void title(void);                                          \
    __attribute__((constructor)) static void register_##title(void) { \
        static crTest test = {#title, title, NULL};                   \
        test_register(&test);                                         \
    }                                                                 \
    static void title(void)

#define CHECK(condition) test_check((condition), __FILE__, __LINE__, "%s", #condition)

// |a - b| <= tol, absolute; NaN fails.
#define CHECK_NEAR(a, b, tol)        test_near((a), (b), (tol), #a, #b, __FILE__, __LINE__)
#define CHECK_VEC(a, b, tol)         test_near_vec((a), (b), (tol), #a, #b, __FILE__, __LINE__)
#define CHECK_STATUS(call, expected) test_status((call), (expected), #call, __FILE__, __LINE__)
#define CHECK_TEXT(a, b)             test_text((a), (b), #a, __FILE__, __LINE__)

bool test_near(double a, double b, double tol, const char* sa, const char* sb, const char* file, int line);
bool test_near_vec(crVec3 a, crVec3 b, double tol, const char* sa, const char* sb, const char* file,
                   int line);
bool test_status(crStatus got, crStatus expected, const char* call, const char* file, int line);
bool test_text(const char* got, const char* expected, const char* call, const char* file, int line);

#endif
