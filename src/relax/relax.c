// relax.c - solves the islands of a problem one after another by the stages of relax.h.
//
// Fails: CR_ERR_MEMORY. An island that no stage solves keeps the point with the smallest backward error.
#include "relax.h"
#include "stage.h"

#include <string.h>

#define SAME 1e-6  // relative difference up to which two backward errors count as equal

crRelaxParams cr__relax_params(void) {
    return (crRelaxParams){
        .tol = 1e-8, .sweeps = 20, .directions = 100, .newton = 60, .reach = (double)INFINITY};
}

const char* cr__relax_stage_name(crRelaxStage stage) {
    static const char* const names[] = {"guess", "sweeps", "level", "directions", "newton", "room"};
    return (unsigned)stage < sizeof names / sizeof names[0] ? names[stage] : "unknown";
}

bool cr__relax_takes(const crProblem* problem) {
    return problem->W.value == NULL && problem->J.value != NULL && problem->Minv.value != NULL;
}

// Returns true if Newton's method is tried. If factorizations are dear and the error is large it is not: far
// from a solution it stalls.
static bool tries_newton(const crIsland* island) {
    const crSpace* s = &island->space;
    bool far = s->sparse.flops > CR_RELAX_DEAR && island->error > island->params.reach * s->demand;
    return !cr__island_solved(island) && !far && island->params.newton > 0;
}

// Runs the stages in order from the guess x, which they overwrite.
static crStatus island_run(crIsland* island, double* x) {
    const crSpace* s = &island->space;
    // zero impulse solves an island without demand; no impulse changes one whose rows act on no body
    if (s->demand == 0.0 || s->nz == 0) memset(x, 0, (size_t)s->rows * sizeof *x);
    for (int i = 0; i < s->units; i++) {
        cr__relax_law(&s->unit[i], x + s->unit[i].row, x + s->unit[i].row, NULL);
    }
    cr__island_judge(island, x, CR_RELAX_GUESS, NULL);
    double demand = fmax(s->demand, island->params.floor);
    if (s->nz == 0 || island->error <= island->params.accept * demand) return CR_OK;
    for (int made = 0; made < island->params.sweeps && !cr__island_solved(island); made += 10) {
        int left = island->params.sweeps - made;
        cr__island_sweep(island, left < 10 ? left : 10, x);
        cr__island_judge(island, x, CR_RELAX_SWEEPS, NULL);
    }
    crStatus status = CR_OK;
    if (!cr__island_solved(island) && island->error > island->params.near) status = cr__island_level(island);
    if (status == CR_OK && !cr__island_solved(island) && island->params.directions > 0)
        status = cr__island_directions(island);
    if (status == CR_OK && tries_newton(island)) status = cr__island_newton(island);
    bool far = !cr__island_solved(island) && island->error > island->params.shift;
    return status == CR_OK && far && island->params.room > 0 ? cr__island_room(island) : status;
}

// Replaces the best point by its witness if the witness's error is no larger. The audit adds the distance to
// the witness to a point's error; for the witness itself that distance is zero. x is work (rows).
static void take_witness(crIsland* island, double* x) {
    const crSpace* s = &island->space;
    double *y = island->work, best = island->error;
    cr__space_gather(s, island->best, island->z);
    cr__space_velocity(s, island->z, island->u);
    for (int i = 0; i < s->units; i++) {
        int row = s->unit[i].row;
        cr__relax_witness(&s->unit[i], s->lambda + row, island->best + row, island->u + row, x + row,
                          y + row);
    }
    double error = cr__island_judge(island, x, island->stage, NULL);
    if (!(error <= (1.0 + SAME) * best)) return;
    island->error = error;
    memcpy(island->best, x, (size_t)s->rows * sizeof *x);
}

static crStatus solve_island(const crBodies* bodies, int index, const crRelaxParams* params, crArena* arena,
                             double* p, crRelaxRun* run) {
    size_t mark = cr_arena_mark(arena);
    crIsland island = {.params = *params, .arena = arena};
    crStatus status = cr__island_create(&island, bodies, index);
    double* x = cr_arena_alloc(arena, (size_t)island.space.rows * sizeof(double));
    if (status == CR_OK && x == NULL) status = CR_ERR_MEMORY;
    if (status == CR_OK) {
        cr__space_to(&island.space, p, x);
        status = island_run(&island, x);
    }
    if (status == CR_OK) {
        if (params->near > 0.0) take_witness(&island, x);
        cr__space_from(&island.space, island.best, p);
        double demand = fmax(island.space.demand, params->floor);
        double relative = demand > 0.0 ? island.error / demand : island.error > 0.0 ? (double)INFINITY : 0.0;
        run->islands++;
        run->solved += cr__island_solved(&island) ? 1 : 0;
        run->factorizations += island.space.factorizations;
        run->error = fmax(run->error, island.error);
        run->relative = fmax(run->relative, relative);
        if (island.stage > run->stage) run->stage = island.stage;
    }
    cr_arena_release(arena, mark);
    return status;
}

crStatus cr__relax_solve(const crProblem* problem, const crRelaxParams* params, crArena* arena, double* p,
                         crRelaxRun* run) {
    *run = (crRelaxRun){0};
    size_t mark = cr_arena_mark(arena);
    crBodies bodies;
    crStatus status = cr__bodies_create(&bodies, problem, arena);
    for (int i = 0; status == CR_OK && i < bodies.islands; i++) {
        status = solve_island(&bodies, i, params, arena, p, run);
    }
    cr_arena_release(arena, mark);
    return status;
}
