// piles_audit.c - processor time of the audit of a step, beside the step's own.
//
// The linker puts these functions in front of the library's (--wrap): they call them and take the time, so that what is
// measured is the audit of the step as it runs, and the library has no clock. One thread at a time.
#include <time.h>

#include "piles.h"
#include "step/audit.h"

static PilesAudit spent;

PilesAudit piles_audit(void) { return spent; }

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

crStatus __real_cr__audit_contacts(crStep* step, double h, const bool* takes, const bool* passes,
                                   const crVec3* u_free, const crVec3* u, const int* islands,
                                   int island_count);
crStatus __wrap_cr__audit_contacts(crStep* step, double h, const bool* takes, const bool* passes,
                                   const crVec3* u_free, const crVec3* u, const int* islands,
                                   int island_count) {
    double start = now_ms();
    crStatus status = __real_cr__audit_contacts(step, h, takes, passes, u_free, u, islands, island_count);
    spent.ms += now_ms() - start;
    return status;
}

// full geometry is part of the audit of a step, and counted apart
crStatus __real_cr__audit_step(crStep* step, double h, crError* error);
crStatus __wrap_cr__audit_step(crStep* step, double h, crError* error) {
    double start = now_ms(), geometry = spent.geometry_ms;
    crStatus status = __real_cr__audit_step(step, h, error);
    spent.ms += now_ms() - start - (spent.geometry_ms - geometry);
    return status;
}

crStatus __real_cr__audit_overlap(const crPlan* plan, crTasks* tasks, crArena* arena, const crState* state,
                                  crDynamics* d, double* deepest);
crStatus __wrap_cr__audit_overlap(const crPlan* plan, crTasks* tasks, crArena* arena, const crState* state,
                                  crDynamics* d, double* deepest) {
    double start = now_ms();
    crStatus status = __real_cr__audit_overlap(plan, tasks, arena, state, d, deepest);
    spent.geometry_ms += now_ms() - start;
    spent.geometries++;
    return status;
}
