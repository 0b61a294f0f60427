// test_relax_heaps.c - the sparse solver on heaps in motion, written by a running simulation (CAROM_HEAPS).
//
// Answers are judged by backward.h, a second implementation of the backward error, and by the audit.
#include "test.h"

#include "backward.h"
#include "heap_file.h"
#include "relax/relax.h"

#include <stdlib.h>
#include <time.h>

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

// problems of heaps in motion; quick ones unless CAROM_SOAK is set
TEST(heaps_in_motion) {
    static const struct {
        const char* name;
        double most;  // backward error over demand; above 1e-8: known to end short
        bool quick;
    } heaps[] = {
        {"drop_.5", 1e-8, true},           {"drop_.7", 1e-8, false},
        {"drop_.9", 1e-4, false},          {"drop_1.0", 1e-3, false},
        {"drop_2.5", 1e-8, true},          {"spheres-1000_1.0", 1e-3, false},
        {"spheres-1000_1.3", 5e-3, false}, {"boxes-1000_1.0", 1e-8, true},
        {"boxes-1000_2.0", 1e-5, false},   {"boxes-1000_s3_1.3", 1e-8, false},
    };
    const char* folder = getenv("CAROM_HEAPS");
    if (folder == NULL) {
        test_skip("CAROM_HEAPS is not set");
        return;
    }
    for (size_t k = 0; k < sizeof heaps / sizeof heaps[0]; k++) {
        if (!heaps[k].quick && getenv("CAROM_SOAK") == NULL) continue;
        char path[1000];
        crArena arena, work;
        crHeap heap;
        cr_arena_create(&arena, NULL, 1 << 20);
        cr_arena_create(&work, NULL, 1 << 28);
        snprintf(path, sizeof path, "%s/%s.bin.gz", folder, heaps[k].name);
        if (!CHECK(heap_read(path, &arena, &heap))) continue;
        crRelaxParams params = cr__relax_params();
        crRelaxRun run;
        double start = now_ms();
        CHECK_STATUS(cr__relax_solve(&heap.problem, &params, &work, heap.p, &run), CR_OK);
        double time = now_ms() - start;
        crBackward back = backward_error(&heap.problem, heap.p);
        // islands have demands of their own; no block may be off by more than the largest one allows
        test_check(run.relative <= heaps[k].most && back.error <= heaps[k].most * back.demand, __FILE__,
                   __LINE__, "%s: %g of %g, says %g", heaps[k].name, back.error, back.demand, run.relative);
        CHECK_NEAR(run.error, back.error, 0.01 * back.error + 1e-13);
        CHECK(back.cone <= 1e-14);
        crAudit audit;
        CHECK_STATUS(cr_problem_audit(&heap.problem, &work, heap.p, &audit), CR_OK);
        test_check(audit.most <= heaps[k].most, __FILE__, __LINE__, "%s: audit %g", heaps[k].name,
                   audit.most);
        printf("  %-18s %4d contacts: %4.0f ms, error %.1e m/s (%.1e), %d factors, %s\n", heaps[k].name,
               heap.contacts, time, back.error, run.relative, run.factorizations,
               cr__relax_stage_name(run.stage));
        cr_arena_destroy(&work);
        cr_arena_destroy(&arena);
    }
}
