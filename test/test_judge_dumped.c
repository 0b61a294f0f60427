// test_judge_dumped.c - what the audit says of problems that the bundled scenes pose, against a judge in quadruple precision.
//
// Scenes are run by the command with --dump. Of every problem two answers are judged: the one the step gave, which the file has,
// and auto's own from no impulses. The witness must obey every law, its backward error must be at most what the audit states, and
// what is called solved must be.
#include "judge.h"
#include "test.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/problem.h"

#define TOL  1e-8
#define ULPS (1.0 + 0x1p-40)

typedef struct Tally {
    int problems, own, answers, solved, unsure, others, rows,
        unknown;  // own: answers of steps that are solved
} Tally;

static void judge_answer(const crProblem* problem, const double* p, const char* what, Tally* tally) {
    crArena arena;
    crAudit audit;
    double* hat = malloc(((size_t)problem->rows + 1) * sizeof *hat);
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    memcpy(hat, p, (size_t)problem->rows * sizeof *hat);
    CHECK_STATUS(cr_problem_witness(problem, &arena, hat, &audit), CR_OK);
    JudgeWitness truth = judge_one_witness(problem, hat);
    tally->answers++;
    if (truth.known) {
        bool fine = truth.obeys && truth.residual <= audit.most * ULPS &&
                    truth.eta <= (audit.eta + audit.floor) * ULPS;
        test_check(fine, __FILE__, __LINE__, "%s: true eta %g, stated %g; residual %g, stated %g", what,
                   truth.eta, audit.eta + audit.floor, truth.residual, audit.most);
        crTruth verdict = cr_audit_solved(&audit, TOL);
        CHECK(verdict != CR_TRUTH_YES || truth.residual <= TOL * ULPS);
        tally->solved += verdict == CR_TRUTH_YES;
        tally->unsure += verdict == CR_TRUTH_UNSURE;
        tally->others += verdict == CR_TRUTH_NO;
    } else {
        tally->unknown++;
    }
    cr_arena_destroy(&arena);
    free(hat);
}

static void judge_file(const char* path, Tally* tally) {
    crProblemFile file;
    crError error = {0};
    // impacts are for carom resolve and have another form
    if (cr_problem_read(path, "json", &file, &error) != CR_OK) return;
    const crProblem* problem = &file.problem;
    tally->problems++;
    tally->rows = problem->rows > tally->rows ? problem->rows : tally->rows;
    if (file.p != NULL) {
        int solved = tally->solved;
        judge_answer(problem, file.p, path, tally);
        tally->own += tally->solved - solved;
    }
    if (problem->rows <= 600) {
        crArena arena;
        crReport report;
        crSolver solver;
        crSolverParams params = cr_solver_params();
        params.tol = TOL;
        double* p = calloc((size_t)problem->rows + 1, sizeof *p);
        CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
        CHECK_STATUS(cr_solver_find("auto", &params, &solver, &error), CR_OK);
        params.max_iterations = 200;
        CHECK_STATUS(cr_solver_run(&solver, problem, TOL, &arena, p, &report, &error), CR_OK);
        judge_answer(problem, p, path, tally);
        cr_arena_destroy(&arena);
        free(p);
    }
    cr_problem_file_free(&file);
}

// every file of a folder, which is left empty
static void judge_folder(const char* folder, Tally* tally) {
    DIR* dir = opendir(folder);
    CHECK(dir != NULL);
    for (struct dirent* entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        char path[1024];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        judge_file(path, tally);
        remove(path);
    }
    if (dir != NULL) closedir(dir);
}

static void run_scene(const char* folder, const char* name, const char* more, int every, Tally* tally) {
    char command[1024];
    snprintf(command, sizeof command, "'%s' run %s %s --dump '%s/p.json' --dump-every %d >/dev/null 2>&1",
             getenv("CAROM_COMMAND"), name, more, folder, every);
    CHECK(system(command) == 0);
    judge_folder(folder, tally);
}

TEST(problems_of_the_bundled_scenes) {
    static const struct {
        const char *name, *more;
        int every, all;  // steps, and where CAROM_SOAK is set
    } scenes[] = {
        {"dominoes", "", 10, 1},
        {"box-stack", "", 50, 2},
        {"arch", "", 20, 1},
        {"heavy-on-light", "", 40, 1},
        {"tetrahedron", "", 50, 2},
        {"pool-table", "", 50, 4},
        {"incline", "", 100, 5},
        {"rocking-rod", "", 20, 1},
        {"spinning-disc", "", 100, 4},
        {"two-boxes", "", 10, 1},
        {"shaker", "", 50, 4},
        {"slider-crank-clearance", "", 100, 4},
        {"bouncing-pen", "", 20, 2},
        {"ant", "", 50, 2},
        {"humanoid-stand", "", 50, 2},
        {"hopper", "", 100, 4},
        {"gears", "", 200, 8},
        {"woodpecker", "", 500, 20},
        {"1000-ball-drop", "--quality accurate --duration 0.3", 70, 4},
    };
    if (getenv("CAROM_COMMAND") == NULL) {
        test_skip("no command");
        return;
    }
    char folder[] = "/tmp/carom-dumped-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    // the heap takes long with sanitizers
    const char* sanitized = getenv("CAROM_SANITIZE");
    bool soak = getenv("CAROM_SOAK") != NULL, slow = sanitized != NULL && sanitized[0] != '\0';
    Tally all = {0};
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        Tally tally = {0};
        if (slow && scenes[i].more[0] != '\0') continue;
        run_scene(folder, scenes[i].name, scenes[i].more, soak ? scenes[i].all : scenes[i].every, &tally);
        if (soak) {
            printf("%-24s %4d problems of up to %5d rows, %4d answers: %d solved, %d not, %d unsure, %d not "
                   "judged\n",
                   scenes[i].name, tally.problems, tally.rows, tally.answers, tally.solved, tally.others,
                   tally.unsure, tally.unknown);
        }
        // what is posed with springs and dampers is what was solved
        if (strcmp(scenes[i].name, "woodpecker") == 0)
            CHECK(tally.own == tally.problems && tally.problems > 5);
        all.problems += tally.problems;
        all.own += tally.own;
        all.answers += tally.answers;
        all.solved += tally.solved;
        all.others += tally.others;
        all.unsure += tally.unsure;
        all.unknown += tally.unknown;
    }
    rmdir(folder);
    printf("%d problems, %d answers judged: %d solved at 1e-8, %d not, %d unsure; %d of other kinds\n",
           all.problems, all.answers - all.unknown, all.solved, all.others, all.unsure, all.unknown);
    CHECK(all.problems > 100 && all.solved > all.problems && all.unknown < all.answers / 4);
}
