// bench_friction.c - friction problems from files, and piles: our solvers and those of Siconos' numerics on the
// same numbers.
//
//     bench_friction [--csv FILE] [FOLDER | PROBLEM ...]       default: CAROM_DATA, else ../shared/data
//
// --csv writes one line for each problem and solver; profile.py draws them.
//
// Every answer, ours or theirs, is judged by one audit, the backward error of problem.h. Tolerance 1e-8, start from
// zero. W is formed beforehand for both, where M and J are given instead, and lies in the storage that the solver takes:
// ours full or by rows as the file's reader leaves it, theirs full, by blocks or sparse.
// Ours: cr_solver_run with its checks and its audit, and "auto alone" without them. Theirs: the driver call alone.
// First each of theirs is tried in a process of its own, with as many iterations as five seconds allow, and again at
// tolerance 1e-10 where it says solved and the audit does not. Then all that solved the problem are called in turns, in
// one process, for fifteen rounds; the time is the median of the calls. A call longer than a second is not repeated.
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/problem.h"
#include "peers.h"
#include "pile.h"

#define TOL       1e-8
#define CAP_MS    5000.0
#define GUARD_S   20  // of processor time, after which a peer that does not heed its iteration limit is ended
#define ROUNDS    15
#define TURN_MS   0.3  // of calls of one solver in a round
#define TURN_MOST 67   // calls in a round
#define SHORT_MS \
    0.05  // calls up to this are timed by the clock, which costs 20 ns; the median drops the interrupted
#define LARGE 300  // contacts above which full matrices are not tried
#define MOST  128  // files
#define OWN   6
#define ALONE 1   // of them auto without checks and audit
#define SHOWN 5   // of them in the table
#define PEERS 16  // of Siconos' at most

static const char* const own_names[OWN] = {"auto",     "auto alone",   "newton",
                                           "interior", "gauss-seidel", "sparse"};

typedef struct Outcome {
    double residual;  // by the audit; infinite where there is no answer
    double ms;
} Outcome;

static const Outcome no_answer = {(double)INFINITY, (double)INFINITY};

static bool solved(Outcome o) { return o.residual <= TOL; }

static double read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// One call of a solver from zero; p receives the answer. Returns the time of the call alone by the clock, ms.
typedef double (*Call)(void* context, clockid_t clock, double* p);

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double audited(const crProblem* problem, const double* p) {
    crArena arena;
    crAudit audit = {.residual = (double)INFINITY};
    if (cr_arena_create(&arena, NULL, 0) != CR_OK) return audit.residual;
    cr_problem_audit(problem, &arena, p, &audit);
    cr_arena_destroy(&arena);
    return audit.residual;
}

typedef struct Own {
    const crProblem* problem;
    crSolver solver;
    bool alone;
    crArena arena;
} Own;

static double call_own(void* context, clockid_t clock, double* p) {
    Own* own = context;
    crReport report = {0};
    memset(p, 0, (size_t)own->problem->rows * sizeof *p);
    double start = read_clock(clock);
    if (own->alone) {
        own->solver.solve(own->solver.params, own->problem, &own->arena, p, &report, NULL);
    } else {
        cr_solver_run(&own->solver, own->problem, TOL, &own->arena, p, &report, NULL);
    }
    double ms = read_clock(clock) - start;
    cr_arena_reset(&own->arena);
    return ms;
}

static bool own_create(int which, const crProblem* problem, const crSolverParams* params, Own* own) {
    *own = (Own){.problem = problem, .alone = which == ALONE};
    const char* name = own->alone ? own_names[0] : own_names[which];
    return cr_solver_find(name, params, &own->solver, NULL) == CR_OK &&
           cr_arena_create(&own->arena, NULL, 0) == CR_OK;
}

static Outcome try_own(int which, const crProblem* problem) {
    crSolverParams params = {.tol = TOL};
    Own own;
    double* p = calloc((size_t)problem->rows, sizeof *p);
    Outcome outcome = no_answer;
    if (p != NULL && own_create(which, problem, &params, &own)) {
        outcome.ms = call_own(&own, CLOCK_PROCESS_CPUTIME_ID, p);
        outcome.residual = audited(problem, p);
        cr_arena_destroy(&own.arena);
    }
    free(p);
    return outcome;
}

typedef struct Theirs {
    PeerSiconos* peer;
    int rows;
    double tol;
    int most;   // iterations
    int claim;  // whether the last call said solved
} Theirs;

static double call_theirs(void* context, clockid_t clock, double* p) {
    Theirs* t = context;
    memset(p, 0, (size_t)t->rows * sizeof *p);
    peer_siconos_friction_options(t->peer, t->tol, t->most);
    double start = read_clock(clock);
    t->claim = peer_siconos_friction_solve(t->peer, p);
    return read_clock(clock) - start;
}

// What a trial of one of theirs found: the outcome, and the options that gave it.
typedef struct Trial {
    Outcome outcome;
    double tol;
    int most;
} Trial;

static const Trial no_trial = {{(double)INFINITY, (double)INFINITY}, TOL, 0};

// in a process of its own
static Trial try_theirs(const crProblem* problem, const PeerFriction* friction, int which) {
    const clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
    Theirs t = {peer_siconos_friction_create(friction, which), problem->rows, TOL, 20, 0};
    double* p = calloc((size_t)problem->rows, sizeof *p);
    if (p == NULL) return no_trial;
    double ms = call_theirs(&t, clock, p);
    // more iterations, as many as the cap has room for; the first ones may have paid for factors
    for (int round = 0; round < 4 && !t.claim && ms < 0.5 * CAP_MS; round++) {
        t.most = (int)fmin(1e8, fmax(100.0, t.most * CAP_MS / fmax(ms, 1e-4)));
        ms = call_theirs(&t, clock, p);
    }
    double residual = audited(problem, p);
    if (t.claim && !(residual <= TOL)) {
        t.tol = 1e-2 * TOL;
        ms = call_theirs(&t, clock, p);
        residual = fmin(residual, audited(problem, p));
    }
    return (Trial){{residual, ms}, t.tol, t.most};
}

// ends this process after so much processor time
static void guard(int seconds) {
    struct itimerval limit = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &limit, NULL);
}

// Runs work(context, answer) in a process of its own; false and an unknown answer if that ends early.
static bool apart(void (*work)(void* context, void* answer), void* context, void* answer, size_t bytes) {
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL) _exit(1);
        work(context, answer);
        _exit(write(ends[1], answer, bytes) == (ssize_t)bytes ? 0 : 1);
    }
    close(ends[1]);
    bool done = child > 0 && read(ends[0], answer, bytes) == (ssize_t)bytes;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return done;
}

// A problem with all that is tried on it: ours first, then theirs.
typedef struct Match {
    const crProblem* problem;
    const PeerFriction* friction;
    int which;  // the peer under trial
    Trial trial[OWN + PEERS];
    double ms[OWN + PEERS];  // medians of the rounds
    int count;
} Match;

static void work_trial(void* context, void* answer) {
    const Match* match = context;
    guard(GUARD_S);
    Trial trial = try_theirs(match->problem, match->friction, match->which);
    memcpy(answer, &trial, sizeof trial);
}

typedef struct Player {
    Call call;
    void* context;
    clockid_t clock;
    int turn, calls;  // calls in a round, and so far
    double* sample;
} Player;

// One call as a warm-up, and by what it took how often the player is called in a round.
static void player_create(Player* player, Call call, void* context, double* p) {
    *player = (Player){.call = call, .context = context, .clock = CLOCK_PROCESS_CPUTIME_ID};
    call(context, player->clock, p);
    double ms = call(context, player->clock, p);
    if (ms < SHORT_MS) player->clock = CLOCK_MONOTONIC;
    player->turn = (int)fmax(1.0, fmin(TURN_MOST, TURN_MS / fmax(ms, 1e-3)));
    player->sample = calloc((size_t)player->turn * ROUNDS, sizeof *player->sample);
}

// Medians of all that solved the problem and are called in turns; answer receives ms (OWN + PEERS).
static void work_rounds(void* context, void* answer) {
    const Match* match = context;
    static Player players[OWN + PEERS];
    static Own own[OWN];
    static Theirs theirs[PEERS];
    crSolverParams params = {.tol = TOL};
    double* ms = answer;
    double* p = calloc((size_t)match->problem->rows, sizeof *p);
    for (int k = 0; k < match->count; k++) {
        const Trial* trial = &match->trial[k];
        if (!solved(trial->outcome) || trial->outcome.ms > 1000.0 || p == NULL) continue;
        if (k < OWN) {
            if (own_create(k, match->problem, &params, &own[k])) {
                player_create(&players[k], call_own, &own[k], p);
            }
            continue;
        }
        PeerSiconos* peer = peer_siconos_friction_create(match->friction, k - OWN);
        theirs[k - OWN] = (Theirs){peer, match->problem->rows, trial->tol, trial->most, 0};
        player_create(&players[k], call_theirs, &theirs[k - OWN], p);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < match->count; k++) {
            Player* player = &players[k];
            for (int i = 0; player->sample != NULL && i < player->turn; i++) {
                player->sample[player->calls++] = player->call(player->context, player->clock, p);
            }
        }
    }
    for (int k = 0; k < match->count; k++) {
        if (players[k].sample == NULL) continue;
        qsort(players[k].sample, (size_t)players[k].calls, sizeof(double), ascending);
        ms[k] = players[k].sample[players[k].calls / 2];
    }
}

// the problem as Siconos takes it; false where its blocks are not all of one kind it knows
static bool friction_of(const crProblem* problem, crArena* arena, PeerFriction* out) {
    int d = problem->block_count > 0 ? problem->blocks[0].count : 0;
    size_t contacts = (size_t)problem->block_count;
    double* mu = cr_arena_alloc(arena, contacts * sizeof *mu);
    double* roll = cr_arena_alloc(arena, contacts * sizeof *roll);
    double* q = cr_arena_alloc(arena, (size_t)problem->rows * sizeof *q);
    double* W = NULL;
    if (mu == NULL || roll == NULL || q == NULL) return false;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        if (block->kind != CR_BLOCK_CONE || block->count != d || block->vertex_count > 0) return false;
        mu[i] = block->mu;
        roll[i] = block->mu_roll;
    }
    for (int i = 0; i < problem->rows; i++) {
        q[i] = problem->u_free[i] + (problem->b != NULL ? problem->b[i] : 0.0);
    }
    if (cr_problem_dense(problem, arena, &W) != CR_OK) return false;
    *out = (PeerFriction){d, problem->block_count, W, q, mu, roll};
    return d == 2 || d == 3 || d == 5;
}

typedef struct Totals {
    FILE* csv;                                                            // NULL: none
    int problems, own[OWN], in_time, any_peer, compared, at_or_below[2];  // auto, auto alone
    double log_ratio[2];
} Totals;

// the fastest that solves, or the least residual where none does
static bool better(Outcome a, Outcome b) {
    if (solved(a) != solved(b)) return solved(a);
    return solved(a) ? a.ms < b.ms : a.residual < b.residual;
}

static void print_outcome(Outcome o) {
    if (isfinite(o.residual)) {
        printf(" %8.1e %9.3f", o.residual, o.ms);
    } else {
        printf(" %8s %9s", "-", "-");
    }
}

static void record(FILE* csv, const char* problem, int contacts, const char* library, const char* solver,
                   Outcome o) {
    if (csv == NULL) return;
    fprintf(csv, "%s,%d,%s,%s,%.3g,%.4g\n", problem, contacts, library, solver, o.residual, o.ms);
    fflush(csv);
}

static void count(Totals* totals, const Outcome own[OWN], Outcome best) {
    totals->problems++;
    for (int k = 0; k < OWN; k++) {
        totals->own[k] += solved(own[k]) ? 1 : 0;
    }
    totals->in_time += solved(own[0]) && own[0].ms <= CAP_MS ? 1 : 0;
    totals->any_peer += solved(best) ? 1 : 0;
    if (!solved(best)) return;
    totals->compared++;
    for (int k = 0; k <= ALONE; k++) {
        totals->at_or_below[k] += solved(own[k]) && own[k].ms <= best.ms ? 1 : 0;
        totals->log_ratio[k] += log(own[k].ms / best.ms);
    }
}

static void compare(const char* name, const crProblem* given, Totals* totals) {
    crArena arena;
    PeerFriction friction;
    if (cr_arena_create(&arena, NULL, 0) != CR_OK || !friction_of(given, &arena, &friction)) {
        printf("%-36s no problem that both can read\n", name);
        return;
    }
    // problems given by J and the inverse of M become W and q for both
    crProblem problem = *given;
    if (problem.W.value == NULL) {
        problem = (crProblem){.rows = given->rows,
                              .block_count = given->block_count,
                              .blocks = given->blocks,
                              .u_free = friction.q};
        if (cr_problem_sparse(given, &arena, &problem.W) != CR_OK) return;
    }
    Match match = {.problem = &problem, .friction = &friction, .count = OWN};
    for (int k = 0; k < OWN; k++) {
        match.trial[k] = (Trial){try_own(k, &problem), TOL, 0};
    }
    for (; peer_siconos_friction_name(friction.d, match.count - OWN) != NULL && match.count < OWN + PEERS;
         match.count++) {
        Trial* trial = &match.trial[match.count];
        match.which = match.count - OWN;
        bool full = friction.contacts > LARGE && peer_siconos_friction_dense(friction.d, match.which);
        if (full || !apart(work_trial, &match, trial, sizeof *trial)) *trial = no_trial;
    }
    for (int k = 0; k < match.count; k++) {
        match.ms[k] = match.trial[k].outcome.ms;
    }
    double ms[OWN + PEERS];
    memcpy(ms, match.ms, sizeof ms);
    if (apart(work_rounds, &match, ms, sizeof ms)) memcpy(match.ms, ms, sizeof ms);
    Outcome own[OWN], best = no_answer;
    const char* best_name = "none";
    printf("%-36s %4d", name, friction.contacts);
    for (int k = 0; k < match.count; k++) {
        Outcome o = {match.trial[k].outcome.residual, match.ms[k]};
        const char* solver = k < OWN ? own_names[k] : peer_siconos_friction_name(friction.d, k - OWN);
        record(totals->csv, name, friction.contacts, k < OWN ? "carom" : "siconos", solver, o);
        if (k < OWN) own[k] = o;
        if (k < SHOWN) print_outcome(o);
        if (k < OWN || !better(o, best)) continue;
        best = o;
        best_name = solver;
    }
    printf("  %-13s", best_name);
    print_outcome(best);
    if (solved(best)) printf(" %7.2f", own[0].ms / best.ms);
    printf("\n");
    fflush(stdout);
    count(totals, own, best);
    cr_arena_destroy(&arena);
}

static void compare_file(const char* path, const char* name, Totals* totals) {
    crProblemFile file;
    crError error = {0};
    if (cr_problem_read(path, NULL, &file, &error) != CR_OK) {
        printf("%-36s %s\n", name, error.message);
        return;
    }
    compare(name, &file.problem, totals);
    cr_problem_file_free(&file);
}

// bodies that give about 100, 400 and 1000 contacts
static void compare_piles(Totals* totals) {
    static const struct {
        const char* name;
        crPileKind kind;
        int bodies;
    } piles[] = {{"tower of boxes", PILE_TOWER, 25},  {"tower of boxes", PILE_TOWER, 100},
                 {"tower of boxes", PILE_TOWER, 250}, {"wall of bricks", PILE_WALL, 16},
                 {"wall of bricks", PILE_WALL, 61},   {"wall of bricks", PILE_WALL, 152},
                 {"heap of spheres", PILE_HEAP, 40},  {"heap of spheres", PILE_HEAP, 150},
                 {"heap of spheres", PILE_HEAP, 370}};
    for (size_t i = 0; i < sizeof piles / sizeof piles[0]; i++) {
        crArena arena;
        crRandom random = sample_seed(1001);
        crPileDef def = {piles[i].kind, PILE_DISC, piles[i].bodies, 1.0, 0.05, false};
        if (cr_arena_create(&arena, NULL, 0) != CR_OK) return;
        crProblem problem = pile_build(&def, &random, &arena);
        compare(piles[i].name, &problem, totals);
        cr_arena_destroy(&arena);
    }
}

static int by_name(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

static void compare_folder(const char* data, const char* folder, const char* ending, Totals* totals) {
    char path[1024];
    char* names[MOST];
    int found = 0;
    snprintf(path, sizeof path, "%s/%s", data, folder);
    DIR* dir = opendir(path);
    for (struct dirent* entry; dir != NULL && found < MOST && (entry = readdir(dir)) != NULL;) {
        size_t length = strlen(entry->d_name), end = strlen(ending);
        if (length <= end || strcmp(entry->d_name + length - end, ending) != 0) continue;
        if (strncmp(entry->d_name, "LICENSE", 7) != 0) names[found++] = strdup(entry->d_name);
    }
    if (dir != NULL) closedir(dir);
    qsort(names, (size_t)found, sizeof names[0], by_name);
    for (int i = 0; i < found; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", data, folder, names[i]);
        compare_file(path, names[i], totals);
        free(names[i]);
    }
}

static void print_head(const char* what) {
    printf("\n%-36s %4s %18s %18s %18s %18s %18s  %-13s %18s %7s\n", what, "", "auto", "auto alone", "newton",
           "interior", "gauss-seidel", "siconos' best", "", "auto/it");
}

static void print_totals(const Totals* t) {
    printf("solved to %.0e by the audit, of %d:", TOL, t->problems);
    printf(" %s %d (%d within the five seconds Siconos has),", own_names[0], t->own[0], t->in_time);
    for (int k = 1; k < OWN; k++) {
        printf(" %s %d,", own_names[k], t->own[k]);
    }
    printf(" any of Siconos' %d\n", t->any_peer);
    if (t->compared == 0) return;
    for (int k = 0; k <= ALONE; k++) {
        printf("%s at or below its best solver's time on %d of %d (%.0f %%), geometric mean of ratios %.3f\n",
               own_names[k], t->at_or_below[k], t->compared, 100.0 * t->at_or_below[k] / t->compared,
               exp(t->log_ratio[k] / t->compared));
    }
}

static const char* last_part(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_folder(const char* path) {
    DIR* dir = opendir(path);
    if (dir != NULL) closedir(dir);
    return dir != NULL;
}

int main(int argc, char** argv) {
    const char *data = getenv("CAROM_DATA"), *csv = NULL;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--csv") == 0) {
        csv = argv[2];
        first = 3;
    }
    bool given = first < argc && !is_folder(argv[first]);
    if (first < argc && !given) data = argv[first];
    if (data == NULL) data = "../shared/data";
    Totals files = {0}, piles = {0};
    if (csv != NULL) files.csv = fopen(csv, "w");
    if (csv != NULL && files.csv == NULL) {
        fprintf(stderr, "bench_friction: cannot write %s\n", csv);
        return 1;
    }
    if (csv != NULL) fprintf(files.csv, "problem,contacts,library,solver,residual,ms\n");
    print_head("files: residual and ms at 1e-8");
    for (int i = first; given && i < argc; i++) {
        compare_file(argv[i], last_part(argv[i]), &files);
    }
    if (!given) {
        compare_folder(data, "siconos-fc-A", ".dat", &files);
        compare_folder(data, "contactbench", ".txt", &files);
    }
    if (files.problems == 0) {
        fprintf(stderr, "bench_friction: no problems in %s; set CAROM_DATA\n", data);
        return 1;
    }
    print_totals(&files);
    if (files.csv != NULL) fclose(files.csv);
    if (given) return 0;
    print_head("piles: residual and ms at 1e-8");
    compare_piles(&piles);
    print_totals(&piles);
    return 0;
}
