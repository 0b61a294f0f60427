// test.c - the runner behind test.h.
#include "test.h"

#include <stdarg.h>
#include <stdlib.h>

static crTest* tests;
static int failures;  // of the running test
static bool skipped;  // the running test
static int shown;     // failure lines printed by the running test

void test_register(crTest* test) {
    crTest** end = &tests;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = test;
}

bool test_check(bool ok, const char* file, int line, const char* format, ...) {
    if (ok) return true;
    failures++;
    if (++shown <= 10) {
        va_list args;
        va_start(args, format);
        printf("%s:%d: ", file, line);
        vprintf(format, args);
        printf("\n");
        va_end(args);
    }
    if (getenv("CAROM_TEST_FIRST") != NULL) exit(1);
    return false;
}

bool test_near(double a, double b, double tol, const char* sa, const char* sb, const char* file, int line) {
    return test_check(fabs(a - b) <= tol, file, line, "%s = %.17g, %s = %.17g, differ by %g > %g", sa, a, sb,
                      b, fabs(a - b), tol);
}

bool test_near_vec(crVec3 a, crVec3 b, double tol, const char* sa, const char* sb, const char* file,
                   int line) {
    double d = cr_norm(cr_sub(a, b));
    return test_check(d <= tol, file, line,
                      "%s = (%.15g, %.15g, %.15g), %s = (%.15g, %.15g, %.15g), differ by %g > %g", sa, a.x,
                      a.y, a.z, sb, b.x, b.y, b.z, d, tol);
}

bool test_status(crStatus got, crStatus expected, const char* call, const char* file, int line) {
    return test_check(got == expected, file, line, "%s is \"%s\", expected \"%s\"", call, cr_status_name(got),
                      cr_status_name(expected));
}

bool test_text(const char* got, const char* expected, const char* call, const char* file, int line) {
    return test_check(strcmp(got, expected) == 0, file, line, "%s is \"%s\", expected \"%s\"", call, got,
                      expected);
}

void test_skip(const char* reason) {
    skipped = true;
    printf("  skipped: %s\n", reason);
}

int test_samples(int full) {
    if (getenv("CAROM_SOAK") != NULL) return full;
    bool few = getenv("CAROM_FEW") != NULL;
    int share = full / (few ? 600 : 30);
    int least = few ? 40 : 200;
    return share > least ? share : full < least ? full : least;
}

uint64_t test_hash(uint64_t hash, const void* numbers, size_t size, size_t count) {
    const unsigned char* bytes = numbers;
    const uint16_t one = 1;
    bool lowest_first = *(const unsigned char*)&one == 1;
    for (size_t i = 0; i < size * count; i++) {
        size_t at = i % size;
        hash = cr_hash(hash, bytes + (i - at) + (lowest_first ? at : size - 1 - at), 1);
    }
    return hash;
}

int main(int argc, char** argv) {
    const char* filter = argc > 1 ? argv[1] : "";
    int passed = 0;
    int failed = 0;
    int skips = 0;
    for (crTest* test = tests; test != NULL; test = test->next) {
        if (strstr(test->name, filter) == NULL) continue;
        failures = 0;
        shown = 0;
        skipped = false;
        test->run();
        if (failures > 0) {
            printf("FAILED %s: %d checks\n", test->name, failures);
            failed++;
        } else if (skipped) {
            skips++;
        } else {
            passed++;
        }
        fflush(stdout);
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skips);
    if (failed > 0) return 1;
    return passed == 0 && skips > 0 ? 77 : 0;
}
