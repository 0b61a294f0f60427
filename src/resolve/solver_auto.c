// solver_auto.c - chooses among the solvers and switches when the audit's residual no longer falls.
//
// Small and without friction: principal pivoting. Else: a few sweeps, Newton at once where factors are cheap, problems
// that are large and have J and Minv in body space (relax/relax.h), towers and walls by the interior path, extrapolated
// sweeps, Newton, the interior path, body space with a factor of W, Lemke's method where every cone is a polygon or planar,
// then the slow ones again with more patience, and body space from no impulse.
// Each stage starts from the best point so far (the path from its own), and only a smaller residual replaces that
// point. Small problems are polished by Newton steps beyond tol, unless tol says that fewer digits will do. When all has failed a certificate is looked for that no
// velocity satisfies the rows (infeasible.c).
// Fails: limit (all stages used up) or infeasible with a certificate; p is the best point any stage has seen.
#include "apart.h"
#include "infeasible.h"
#include "interior.h"
#include "newton.h"
#include "relax/relax.h"
#include "sweep.h"

#include "resolve/islands.h"
#include "resolve/kinds.h"
#include <string.h>

#define POLISH_ROWS  300   // problems up to this size are polished
#define POLISH_TOL   1e-9  // where tol is no larger than this
#define POLISHED     1e-14
#define QUICK_SMALL  100  // Newton comes as soon as sweeps leave regimes as they are up to this size
#define QUICK_ROWS   400  // and after ten sweeps up to this size
#define START_SWEEPS 8    // at most before that
#define WORSE        1.5  // residual of the first sweep over that of the guess, above which sweeps do not help
#define MOVES        1e-3  // change of the impulses by a sweep, relative, above which they are far from solved
#define PIVOT_SMALL  100   // principal pivoting comes first up to this size
#define PIVOT_ROWS   2000  // and is tried up to this size
#define FACES        10.0  // contacts that a contact acts on, on average, in towers and walls
#define FACTOR_ROWS  1000  // body space with a factor of W is tried up to this size
#define LEMKE_ROWS   250   // and Lemke's method
#define AIM          0.5   // of tol, in body space: the audit measures islands by scales of its own
#define DIRECT_UNITS 8000  // factorizations

typedef struct crAuto {
    const crProblem* problem;
    const crSystem* system;
    crArena* arena;
    crError* error;
    double tol;
    double* x;     // where stages work (n)
    double* best;  // (n)
    double* p;     // for solvers that take the problem as it is (n)
    double residual;
    int iterations;
    int limit;           // on iterations, all stages together
    const char* method;  // that found best
    bool friction;       // some unit has friction
    bool flat;           // all friction is polygons or planar
    bool infeasible;     // a solver says so, with a certificate
} crAuto;

typedef crStatus (*crStage)(crAuto* a);

static void keep_auto(crAuto* a, const char* method, int iterations, double residual) {
    a->iterations += iterations;
    if (!(residual < a->residual)) return;
    a->residual = residual;
    a->method = method;
    memcpy(a->best, a->x, (size_t)a->system->n * sizeof *a->best);
}

// iterations a stage may make
static int room(const crAuto* a, int most) {
    return most < a->limit - a->iterations ? most : a->limit - a->iterations;
}

static void from_best(crAuto* a) { memcpy(a->x, a->best, (size_t)a->system->n * sizeof *a->x); }

static crStatus sweeps(crAuto* a, crSweepKind kind, int most, int patience) {
    crSweepRun run;
    from_best(a);
    crStatus status = cr__sweep_run(a->system, kind, a->tol, room(a, most), patience, a->arena, a->x, &run);
    if (status == CR_OK) keep_auto(a, "gauss-seidel", run.sweeps, run.residual);
    return status;
}

static crStatus newton_auto(crAuto* a, double tol, int most, bool between) {
    if (a->system->units > DIRECT_UNITS) return CR_OK;
    crMethodRun run;
    from_best(a);
    crStatus status =
        cr__newton_run(a->system, tol, room(a, most), between, a->residual, a->arena, a->x, &run);
    if (status == CR_OK) keep_auto(a, "newton", run.steps, run.residual);
    return status;
}

static crStatus whole(crAuto* a, const cr__SolverKind* solver) {
    crReport report = {.outcome = CR_OUTCOME_STALLED};
    cr__system_to_p(a->system, a->best, a->p);
    size_t mark = cr_arena_mark(a->arena);
    crStatus status = solver->solve(NULL, a->problem, a->arena, a->p, &report, a->error);
    cr_arena_release(a->arena, mark);
    if (status != CR_OK) return status;
    a->infeasible = a->infeasible || report.outcome == CR_OUTCOME_INFEASIBLE;
    cr__system_from_p(a->system, a->p, a->x);
    keep_auto(a, solver->name, report.iterations, cr__system_residual(a->system, a->x));
    return CR_OK;
}

static crStatus pivot(crAuto* a) {
    return a->friction || a->problem->raw ? CR_OK : whole(a, &cr__solver_pivot);
}

// full factors pay on small systems, and where sparse ones have failed
static crStatus stage_pivot_small(crAuto* a) { return a->system->n <= PIVOT_SMALL ? pivot(a) : CR_OK; }
static crStatus stage_pivot(crAuto* a) { return a->system->n <= PIVOT_ROWS ? pivot(a) : CR_OK; }

static crStatus stage_lemke_first(crAuto* a) {
    if (!a->problem->raw || a->system->n > PIVOT_ROWS) return CR_OK;
    return whole(a, &cr__solver_lemke);
}

static crStatus stage_lemke(crAuto* a) {
    if (a->problem->raw || !a->flat || a->system->n > LEMKE_ROWS) return CR_OK;
    return whole(a, &cr__solver_lemke);
}

// open, sticking or slipping
static int regime(const crUnit* unit, const double* x) {
    if (!(x[0] > 0.0)) return 0;
    double size = 0.0;
    for (int k = 1; k < unit->count; k++) {
        size += x[k] * x[k];
    }
    return size < (1.0 - 1e-12) * x[0] * x[0] ? 1 : 2;
}

static bool same_regimes(const crSystem* system, const double* x, const double* y) {
    for (int i = 0; i < system->units; i++) {
        const crUnit* unit = &system->unit[i];
        if (regime(unit, x + unit->row) != regime(unit, y + unit->row)) return false;
    }
    return true;
}

// largest change of an entry over the largest entry of y
static double moved_by(const double* x, const double* y, int n) {
    double change = 0.0, largest = 0.0;
    for (int i = 0; i < n; i++) {
        change = fmax(change, fabs(x[i] - y[i]));
        largest = fmax(largest, fabs(y[i]));
    }
    return largest > 0.0 ? change / largest : change;
}

// Sweeps in pairs until one of them leaves every contact as it was: there Newton's method is at home. If the first sweep
// only makes it worse, one body carries far more than it weighs, and Newton's method starts from the guess.
static crStatus stage_start(crAuto* a) {
    if (a->system->n > QUICK_SMALL) return CR_OK;
    int most = room(a, START_SWEEPS), n = a->system->n, since = 0;
    from_best(a);
    for (int k = 0; k < most; k++) {
        memcpy(a->p, a->x, (size_t)n * sizeof *a->p);
        cr__sweep(a->system, 1.0, a->x);
        since++;
        if (k > 0 && k % 2 == 0 && k < most - 1) continue;
        bool settled = k > 0 && same_regimes(a->system, a->p, a->x);
        // a sweep that moves much has not solved anything: its residual is not asked for
        if (k > 0 && !settled && k < most - 1 && moved_by(a->p, a->x, n) > MOVES) continue;
        double before = a->residual, residual = cr__system_residual(a->system, a->x);
        keep_auto(a, "gauss-seidel", since, residual);
        since = 0;
        if (residual <= a->tol || settled || (k == 0 && residual > WORSE * before)) break;
    }
    return CR_OK;
}

static crStatus stage_quick_small(crAuto* a) {
    return a->system->n <= QUICK_SMALL ? newton_auto(a, a->tol, 8, false) : CR_OK;
}

static crStatus stage_quick(crAuto* a) {
    return a->system->n <= QUICK_ROWS ? newton_auto(a, a->tol, 8, false) : CR_OK;
}

// Solves in body space from the impulses in a->p.
static crStatus body_space(crAuto* a) {
    if (a->problem->raw || !cr__relax_takes(a->problem)) return CR_OK;
    crRelaxParams params = cr__relax_params();
    crRelaxRun run;
    params.tol = AIM * a->tol;
    params.floor = a->problem->rest;
    params.newton = room(a, params.newton);
    crStatus status = cr__relax_solve(a->problem, &params, a->arena, a->p, &run);
    if (status != CR_OK) return status;
    cr__system_from_p(a->system, a->p, a->x);
    keep_auto(a, "sparse", run.factorizations, cr__system_residual(a->system, a->x));
    return CR_OK;
}

// Body space costs what the bodies' contacts cost, whatever the number of rows. Small problems at the edge of slip need more digits
// than it gives: they stay with Newton's method on rows.
static crStatus stage_sparse(crAuto* a) {
    if (a->system->n <= QUICK_ROWS) return CR_OK;
    cr__system_to_p(a->system, a->best, a->p);
    return body_space(a);
}

// If all else stands still, the way of body space from no impulse may lead on. Small problems have not been there yet.
static crStatus stage_anew(crAuto* a) {
    memset(a->p, 0, (size_t)a->problem->rows * sizeof *a->p);
    return body_space(a);
}

static crStatus stage_near(crAuto* a) { return sweeps(a, CR_SWEEP_PLAIN, 10, 0); }
// polygons and planar friction make the sweep linear in pieces, which suits conjugate gradients, and a sweep of
// theirs costs half as much
static crStatus stage_extrapolated(crAuto* a) {
    return sweeps(a, a->flat && a->friction ? CR_SWEEP_GRADIENT : CR_SWEEP_ANDERSON, 100, 30);
}
// where it works at all it takes few steps
static crStatus stage_newton_first(crAuto* a) { return newton_auto(a, a->tol, 30, true); }
static crStatus stage_newton(crAuto* a) { return newton_auto(a, a->tol, 100, true); }

static crStatus interior(crAuto* a, double scale) {
    if (a->system->units > DIRECT_UNITS) return CR_OK;
    crMethodRun run;
    from_best(a);
    crStatus status = cr__interior_run(a->system, a->tol, room(a, 200), scale, a->arena, a->x, &run);
    if (status == CR_OK) keep_auto(a, "interior", run.steps, run.residual);
    return status;
}

// True if a contact acts on many others on average: bodies that lie on each other's faces, towers and walls. The interior
// path is then faster than sweeps and Newton's method, elsewhere slower.
static bool lies_on_faces(const crAuto* a) {
    const crSystem* system = a->system;
    double entries = system->W.start[system->n];
    return entries * (double)system->units > FACES * (double)system->n * (double)system->n;
}

static crStatus stage_interior_first(crAuto* a) {
    return a->system->n > QUICK_ROWS && lies_on_faces(a) ? interior(a, 1.0) : CR_OK;
}

static crStatus stage_interior(crAuto* a) {
    return a->system->n > QUICK_ROWS && lies_on_faces(a) ? CR_OK : interior(a, 1.0);
}

// of a large system a step of the path costs as much as a hundred sweeps: long runs of sweeps come before it
static crStatus stage_interior_wide(crAuto* a) {
    return a->system->n <= FACTOR_ROWS ? interior(a, 100.0) : CR_OK;
}
static crStatus stage_interior_last(crAuto* a) {
    return a->system->n <= FACTOR_ROWS ? CR_OK : interior(a, 100.0);
}

// a factor of W takes the place of J
static crStatus stage_factor(crAuto* a) {
    if (a->problem->raw || a->problem->W.value == NULL || a->system->n > FACTOR_ROWS) return CR_OK;
    return whole(a, &cr__solver_sparse);
}

static crStatus stage_anderson_long(crAuto* a) { return sweeps(a, CR_SWEEP_ANDERSON, 2000, 400); }

// A large heap stands still for thousands of sweeps before it goes on; a smaller one is left to body space.
static crStatus stage_gradient(crAuto* a) {
    bool large = a->system->n > FACTOR_ROWS;
    return sweeps(a, CR_SWEEP_GRADIENT, large ? 20000 : 4000, large ? 10000 : 1000);
}

static crStatus run_stages(crAuto* a) {
    static const crStage stages[] = {
        stage_pivot_small, stage_lemke_first,   stage_start,          stage_quick_small,  stage_near,
        stage_quick,       stage_sparse,        stage_interior_first, stage_extrapolated, stage_newton_first,
        stage_interior,    stage_factor,        stage_pivot,          stage_lemke,        stage_anderson_long,
        stage_newton,      stage_interior_wide, stage_gradient,       stage_newton,       stage_factor,
        stage_newton,      stage_factor,        stage_newton,         stage_factor,       stage_interior_last,
        stage_newton,      stage_anew,          stage_newton,
    };
    crStatus status = CR_OK;
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        if (status != CR_OK || a->residual <= a->tol || a->infeasible || room(a, 1) < 1) break;
        status = stages[i](a);
    }
    return status;
}

// True if no impulse changes any velocity.
static bool is_immovable(const crSystem* system) {
    for (int k = 0; k < system->W.start[system->n]; k++) {
        if (system->W.value[k] != 0.0) return false;
    }
    return true;
}

// Velocities stay as they are, so every row is on its own: no impulse, or a few sweeps, or nothing solves it.
static crStatus run_immovable(crAuto* a) {
    memset(a->x, 0, (size_t)a->system->n * sizeof *a->x);
    keep_auto(a, "auto", 0, cr__system_residual(a->system, a->x));
    return a->residual <= a->tol ? CR_OK : stage_near(a);
}

static crStatus auto_create(crAuto* a, crSystem* system) {
    crStatus status = cr__system_create(system, a->problem, a->arena);
    size_t bytes = (size_t)a->problem->rows * sizeof(double);
    a->system = system;
    a->x = cr_arena_alloc(a->arena, bytes);
    a->best = cr_arena_alloc(a->arena, bytes);
    a->p = cr_arena_alloc(a->arena, bytes);
    if (status == CR_OK && (a->x == NULL || a->best == NULL || a->p == NULL)) status = CR_ERR_MEMORY;
    a->flat = true;
    for (int i = 0; status == CR_OK && i < system->units; i++) {
        const crUnit* unit = &system->unit[i];
        for (int k = 0; k < unit->part_count; k++) {
            a->friction = true;
            a->flat = a->flat && (unit->part[k].polygon || unit->part[k].count == 1) && !unit->part[k].free;
        }
    }
    return status;
}

// kinds of guesses, told before memory for solvers is set up
typedef enum crGuess {
    CR_GUESS_OTHER,
    CR_GUESS_OPEN,    // no impulse, and no contact closes: it is the solution
    CR_GUESS_NOTHING  // no impulse although contacts close faster than problem->rest: the residual is 1
} crGuess;

static crGuess look_at_guess(const crProblem* problem, const double* p) {
    double closing = 0.0;
    bool all = true;  // true if every normal row is looked at
    if (problem->raw) return CR_GUESS_OTHER;
    for (int i = 0; i < problem->rows; i++) {
        if (p[i] != 0.0) return CR_GUESS_OTHER;
    }
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        if (block->kind != CR_BLOCK_CONE && block->kind != CR_BLOCK_UNILATERAL) return CR_GUESS_OTHER;
        all = all && (block->kind == CR_BLOCK_CONE || block->count == 1);
        int r = block->row;
        double q = problem->u_free[r] + (problem->b != NULL ? problem->b[r] : 0.0);
        if (-q > closing) closing = -q;
    }
    if (closing > problem->rest) return CR_GUESS_NOTHING;
    return all && closing == 0.0 ? CR_GUESS_OPEN : CR_GUESS_OTHER;
}

// the guess itself, before anything is set up
static crStatus judge_guess(const crProblem* problem, crArena* arena, crGuess guess, const double* p,
                            double* residual) {
    *residual = guess == CR_GUESS_OPEN ? 0.0 : 1.0;
    if (guess != CR_GUESS_OTHER) return CR_OK;
    size_t mark = cr_arena_mark(arena);
    crAuditor auditor;
    crStatus status = cr__auditor_create(problem, NULL, arena, &auditor);
    if (status == CR_OK) *residual = cr__auditor_residual(&auditor, p);
    cr_arena_release(arena, mark);
    return status;
}

static crStatus solve_auto_island(const void* params, const crProblem* problem, crArena* arena, double* p,
                                  crReport* report, crError* error) {
    crSolverParams given = params != NULL ? *(const crSolverParams*)params : cr_solver_params();
    crAuto a = {.problem = problem, .arena = arena, .error = error, .tol = given.tol, .method = "auto"};
    a.limit = given.max_iterations > 0 ? given.max_iterations : INT32_MAX;
    crSystem system = {0};
    double enough = a.tol > POLISH_TOL ? a.tol : fmin(a.tol, POLISHED);
    crGuess guess = look_at_guess(problem, p);
    bool nothing = guess == CR_GUESS_NOTHING;
    crStatus status = judge_guess(problem, arena, guess, p, &report->residual);
    if (status == CR_OK && report->residual <= fmin(a.tol, POLISHED)) {
        report->method = a.method;
        report->outcome = CR_OUTCOME_SOLVED;
        return CR_OK;
    }
    if (nothing && cr__solve_apart(problem, enough, p, &report->residual)) {
        report->method = "gauss-seidel";
        report->outcome = CR_OUTCOME_SOLVED;
        report->iterations = 1;
        return CR_OK;
    }
    if (status == CR_OK) status = auto_create(&a, &system);
    if (status == CR_OK) {
        cr__system_from_p(&system, p, a.best);
        // what has no friction limit of its own drops out of a guess, so it is judged again
        a.residual = nothing ? 1.0 : cr__system_residual(&system, a.best);
        status = is_immovable(&system) ? run_immovable(&a) : run_stages(&a);
    }
    bool solved = a.residual <= a.tol;
    bool polish = solved && a.tol <= POLISH_TOL && system.n <= POLISH_ROWS && a.residual > POLISHED;
    if (status == CR_OK && polish) {
        const char* method = a.method;
        a.limit = INT32_MAX;
        status = newton_auto(&a, POLISHED, 8, false);
        a.method = method;
    }
    if (status == CR_OK && !solved && !a.infeasible) {
        status = cr__infeasible(&system, a.tol, arena, &a.infeasible);
    }
    if (status != CR_OK) return cr_error_set(error, status, "", "auto: out of memory");
    cr__system_to_p(&system, a.best, p);
    report->method = a.method;
    report->iterations = a.iterations;
    report->residual = a.residual;
    report->outcome = solved ? CR_OUTCOME_SOLVED : a.infeasible ? CR_OUTCOME_INFEASIBLE : CR_OUTCOME_LIMIT;
    return CR_OK;
}

static crStatus solve_auto(const void* params, const crProblem* problem, crArena* arena, double* p,
                           crReport* report, crError* error) {
    return cr__solve_islands(solve_auto_island, params, problem, arena, p, report, error);
}

const cr__SolverKind cr__solver_auto = {"auto", 1, solve_auto};
