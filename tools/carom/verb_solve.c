// verb_solve.c - carom solve: a contact problem from a file, its impulses by one solver or all of them.
//
// The verdict is the audit's: solved means that its residual is within the tolerance. Memory for solvers is
// limited.
#include "verb_solve.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "io/cap.h"
#include "io/names.h"
#include "options.h"
#include "progress.h"
#include "stream.h"

#define MOST_SOLVERS 32

static void print_help(void) {
    puts("usage: carom solve FILE [--solver NAME | --all] [--tol X] [--format NAME] [--json] [--dump OUT]\n"
         "\n"
         "Solves a contact problem, u = u_free + W p with the conditions of its blocks, and says how well\n"
         "by an audit of its own. FILE may be - for standard input, and FILE#NAME for one of many problems\n"
         "in a boxed-lcp file.\n"
         "\n"
         "  --solver NAME  auto (default), gauss-seidel, newton, interior, sparse, pivot,\n"
         "                 lemke, enumerate\n"
         "  --all          every solver, one row each\n"
         "  --tol X        residual that counts as solved, default 1e-10\n"
         "  --format NAME  json, siconos-lcp, siconos-lcp-rows, siconos-mlcp, siconos-fc, siconos-gfc,\n"
         "                 siconos-rfc, siconos-grfc, boxed-lcp, contactbench, fclib; guessed from the\n"
         "                 content if omitted\n"
         "  --json         one JSON object, with p and u (raw LCP: z and w)\n"
         "  --dump OUT     write the problem to OUT, .json or .hdf5 (FCLIB), with p if it was solved\n"
         "\n"
         "The residual is the change of the bias that makes the answer exact, over the velocity that had\n"
         "to change; for a raw LCP the relative change of its entries.\n"
         "\n"
         "Exit status: 0 solved to the tolerance, 1 bad input, 2 wrong usage, 3 a file cannot be opened or\n"
         "written, 4 not solved.\n"
         "\n"
         "examples:\n"
         "  carom examples two-block-stack | carom solve -\n"
         "  carom solve problem.dat --all\n"
         "  carom solve problem.hdf5 --solver newton --tol 1e-12 --json\n"
         "  carom solve problem.dat --dump problem.json");
}

typedef struct Options {
    const char* path;
    const char* solver;
    const char* format;
    const char* dump;
    double tol;
    bool all;
    bool json;
} Options;

static const char* format_at(const void* ctx, int index) {
    (void)ctx;
    return cr_problem_format(index);
}

// EXIT_GOOD where typed is one of the names
static int check_name(const char* what, const char* typed, const char* (*at)(const void*, int)) {
    for (int i = 0; at(NULL, i) != NULL; i++) {
        if (strcmp(typed, at(NULL, i)) == 0) return EXIT_GOOD;
    }
    const char* near = cr_name_nearest(typed, at, NULL);
    return near != NULL ? usage_error("solve", "no %s is called '%s'; did you mean '%s'?", what, typed, near)
                        : usage_error("solve", "no %s is called '%s'", what, typed);
}

static int read_tol(const char* text, double* tol) {
    char* end = NULL;
    *tol = strtod(text, &end);
    if (end != text && *end == '\0' && *tol > 0.0 && *tol < 1.0) return EXIT_GOOD;
    return usage_error("solve", "--tol must be a number above 0 and below 1, is '%s'", text);
}

static int take_option(Options* options, const char* name, const char* value) {
    if (value == NULL) return usage_error("solve", "%s needs a value", name);
    if (strcmp(name, "--tol") == 0) return read_tol(value, &options->tol);
    if (strcmp(name, "--dump") == 0) {
        options->dump = value;
        return EXIT_GOOD;
    }
    bool solver = strcmp(name, "--solver") == 0;
    *(solver ? &options->solver : &options->format) = value;
    return check_name(solver ? "solver" : "format", value, solver ? cr_name_solver : format_at);
}

// -1 to go on, else the exit status
static int read_options(Options* options, int count, char** arguments) {
    for (int i = 0; i < count; i++) {
        const char* argument = arguments[i];
        if (asks_help(argument)) {
            print_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--json") == 0) {
            options->json = true;
        } else if (strcmp(argument, "--all") == 0) {
            options->all = true;
        } else if (strcmp(argument, "--solver") == 0 || strcmp(argument, "--tol") == 0 ||
                   strcmp(argument, "--format") == 0 || strcmp(argument, "--dump") == 0) {
            int status = take_option(options, argument, i + 1 < count ? arguments[i + 1] : NULL);
            if (status != EXIT_GOOD) return status;
            i++;
        } else if (argument[0] == '-' && argument[1] != '\0') {
            return unknown_option("solve", argument);
        } else if (options->path != NULL) {
            return usage_error("solve", "only one file at a time, '%s' is a second one", argument);
        } else {
            options->path = argument;
        }
    }
    if (options->path == NULL) return usage_error("solve", "which file?");
    if (options->all && options->solver != NULL) {
        return usage_error("solve", "--all and --solver cannot be given together");
    }
    return -1;
}

static void run_solver(const Options* options, const crProblem* problem, const char* name, crArena* arena,
                       Solution* out) {
    *out = (Solution){.solver = name};
    size_t bytes = ((size_t)problem->rows + 1) * sizeof(double);
    out->p = cr_arena_alloc(arena, bytes);
    out->u = cr_arena_alloc(arena, bytes);
    crSolverParams params = cr_solver_params();
    params.tol = options->tol;
    crSolver solver = {0};
    out->status = out->p == NULL || out->u == NULL ? CR_ERR_MEMORY
                                                   : cr_solver_find(name, &params, &solver, &out->error);
    if (out->status == CR_OK) {
        memset(out->p, 0, bytes);
        double start = seconds_now();
        out->status = cr_solver_run(&solver, problem, options->tol, arena, out->p, &out->report, &out->error);
        out->seconds = seconds_now() - start;
    }
    if (out->status == CR_OK) out->status = cr_problem_velocity(problem, arena, out->p, out->u);
    if (out->status != CR_OK && out->error.status == CR_OK) {
        cr_error_set(&out->error, out->status, "", "%s", cr_status_text(out->status));
    }
}

// the problem with the first solution, else with the file's own
static int dump(const Options* options, const Solved* solved) {
    crProblemFile file = *solved->file;
    for (int i = solved->count; i-- > 0;) {
        const Solution* s = &solved->solutions[i];
        if (s->status == CR_OK && s->report.outcome == CR_OUTCOME_SOLVED) file.p = s->p;
    }
    crError error = {0};
    crStatus status = cr_problem_write(options->dump, NULL, &file, &error);
    if (status == CR_OK) return EXIT_GOOD;
    fflush(stdout);
    fputs("carom solve: ", stderr);
    print_plain(stderr, error.message);
    fprintf(stderr, " (%s)\n", cr_status_name(status));
    return status == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
}

static int solve(const Options* options, const crProblemFile* file, crArena* arena) {
    Solution solutions[MOST_SOLVERS];
    Solved solved = {.path = options->path, .file = file, .many = options->all, .solutions = solutions};
    crAudit audit;
    solved.referenced = file->p != NULL && cr_problem_audit(&file->problem, arena, file->p, &audit) == CR_OK;
    if (solved.referenced) solved.reference = audit.residual;
    int status = EXIT_UNSOLVED;
    int most = options->all ? cr_solver_count() : 1;
    bool answered = false;
    for (int i = 0; i < most && i < MOST_SOLVERS; i++) {
        const char* one = options->solver != NULL ? options->solver : "auto";
        Solution* s = &solutions[solved.count++];
        run_solver(options, &file->problem, options->all ? cr_solver_name(i) : one, arena, s);
        answered = answered || s->status == CR_OK;
        if (s->status == CR_OK && s->report.outcome == CR_OUTCOME_SOLVED) status = EXIT_GOOD;
    }
    if (options->json) {
        json_solved(stdout, &solved);
    } else {
        table_solved(stdout, &solved, wants_color());
    }
    if (!answered) status = EXIT_BAD_INPUT;
    int dumped = options->dump != NULL ? dump(options, &solved) : EXIT_GOOD;
    return dumped != EXIT_GOOD ? dumped : status;
}

int verb_solve(int count, char** arguments) {
    Options options = {.tol = cr_solver_params().tol};
    int status = read_options(&options, count, arguments);
    if (status >= 0) return status;
    crProblemFile file;
    crError error = {0};
    crStatus read = cr_problem_read(options.path, options.format, &file, &error);
    if (read != CR_OK) {
        if (options.json) {
            json_error(stdout, &error);
        } else {
            text_error(options.path, &error);
        }
        return read == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
    }
    crCap cap = {0};
    crAllocator allocator = cr_cap_allocator(&cap);
    crArena arena;
    cr_arena_create(&arena, &allocator, 0);
    status = solve(&options, &file, &arena);
    cr_arena_destroy(&arena);
    cr_problem_file_free(&file);
    return status;
}
