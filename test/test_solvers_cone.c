// test_solvers_cone.c - the friction solvers on other people's problems, on piles and on one contact at a
// time.
//
// Solutions are judged by what is written here: the natural map coded anew, and Coulomb's conditions one by
// one (no approach, no pull, within the limit, greatest dissipation by the support function of the friction
// set).
#include "test.h"

#include "data.h"
#include "io/problem.h"
#include "pile.h"
#include "sample.h"

#include <stdlib.h>
#include <time.h>

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

// u + b from the problem's own arrays by plain loops
static void plain_velocity(const crProblem* p, const double* x, double* u) {
    double* dv = calloc((size_t)p->nv + 1, sizeof *dv);
    double* f = calloc((size_t)p->nv + 1, sizeof *f);
    for (int k = 0; p->W.value == NULL && k < p->nv; k++) {
        for (int i = 0; i < p->rows; i++) {
            f[k] += cr_matrix_at(&p->J, i, k) * x[i];
        }
    }
    for (int k = 0; p->W.value == NULL && k < p->nv; k++) {
        for (int l = 0; l < p->nv; l++) {
            dv[k] += cr_matrix_at(&p->Minv, k, l) * f[l];
        }
    }
    for (int i = 0; i < p->rows; i++) {
        u[i] = p->u_free[i] + (p->b != NULL ? p->b[i] : 0.0);
        for (int j = 0; p->W.value != NULL && j < p->rows; j++) {
            u[i] += cr_matrix_at(&p->W, i, j) * x[j];
        }
        for (int k = 0; p->W.value == NULL && k < p->nv; k++) {
            u[i] += cr_matrix_at(&p->J, i, k) * dv[k];
        }
    }
    free(f);
    free(dv);
}

static double norm(const double* x, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

// squared natural map of a circular cone: p - P_K(p - u - mu |u_t| n)
static double cone_square(const crBlock* block, const double* p, const double* u) {
    double y[3] = {p[0] - u[0] - block->mu * norm(u + 1, block->count - 1), p[1] - u[1],
                   block->count == 3 ? p[2] - u[2] : 0.0};
    double P[3] = {y[0], y[1], y[2]};
    double t = norm(y + 1, 2), c = 1.0 / sqrt(1.0 + block->mu * block->mu), s = block->mu * c;
    if (t > block->mu * y[0]) {
        // outside: the part along the nearest generator, or nothing
        double size = fmax(0.0, c * y[0] + s * t);
        P[0] = c * size;
        P[1] = t > 0.0 ? s * size * y[1] / t : 0.0;
        P[2] = t > 0.0 ? s * size * y[2] / t : 0.0;
    }
    double sum = 0.0;
    for (int k = 0; k < block->count; k++) {
        sum += (p[k] - P[k]) * (p[k] - P[k]);
    }
    return sum;
}

// squared distance of t from the point of the disc nearest to t - u
static double disc_square(double radius, const double* t, const double* u) {
    double y[2] = {t[0] - u[0], t[1] - u[1]};
    double shrink = norm(y, 2) > radius ? radius / norm(y, 2) : 1.0;
    double d[2] = {t[0] - shrink * y[0], t[1] - shrink * y[1]};
    return d[0] * d[0] + d[1] * d[1];
}

// natural map over |u_free + b|; rounding receives what the last digits of p alone make of it
static double natural_map(const crProblem* p, const double* x, double* rounding) {
    double* u = malloc((size_t)(p->rows + 1) * sizeof *u);
    double* q = malloc((size_t)(p->rows + 1) * sizeof *q);
    plain_velocity(p, x, u);
    double sum = 0.0;
    for (int i = 0; i < p->rows; i++) {
        q[i] = p->u_free[i] + (p->b != NULL ? p->b[i] : 0.0);
    }
    for (int i = 0; i < p->block_count; i++) {
        const crBlock* block = &p->blocks[i];
        const double* pi = x + block->row;
        const double* ui = u + block->row;
        if (block->kind == CR_BLOCK_CONE && !block->roll) {
            sum += cone_square(block, pi, ui);
            continue;
        }
        if (block->kind == CR_BLOCK_CONE) {
            sum += disc_square(block->mu * fmax(0.0, pi[0]), pi + 1, ui + 1);
            sum += disc_square(block->mu_roll * fmax(0.0, pi[0]), pi + 3, ui + 3);
        }
        for (int k = 0; k < (block->kind == CR_BLOCK_CONE ? 1 : block->count); k++) {
            double r = block->kind == CR_BLOCK_EQUALITY ? ui[k] : fmin(pi[k], ui[k]);
            sum += r * r;
        }
    }
    double scale = norm(q, p->rows);
    *rounding = 4.0 * 2.2e-16 * norm(x, p->rows) / scale;
    free(q);
    free(u);
    return sqrt(sum) / scale;
}

// -min over the friction set at unit pressure of p_t.u_t
static double support(const crProblem* p, const crBlock* b, const double* u) {
    int tangents = b->count - 1 - (b->spin ? 1 : 0) - (b->roll ? 2 : 0);
    double sum = 0.0;
    if (b->vertex_count > 0) {
        for (int k = 0; k < b->vertex_count; k++) {
            const double* v = p->vertices[b->vertex + k];
            sum = fmax(sum, -(v[0] * u[1] + v[1] * u[2]));
        }
    } else {
        sum = tangents == 1 ? b->mu * fabs(u[1])
                            : sqrt(b->mu * u[1] * b->mu * u[1] + b->mu2 * u[2] * b->mu2 * u[2]);
    }
    if (b->spin) sum += b->mu_spin * fabs(u[1 + tangents]);
    if (b->roll) sum += b->mu_roll * norm(u + b->count - 2, 2);
    return sum;
}

// how far friction is beyond its limits, over the pressure's size
static double beyond(const crProblem* p, const crBlock* b, const double* x) {
    int tangents = b->count - 1 - (b->spin ? 1 : 0) - (b->roll ? 2 : 0);
    double worst = -x[0];
    if (b->vertex_count > 0) {
        for (int k = 0; k < b->vertex_count; k++) {
            const double* v = p->vertices[b->vertex + k];
            const double* w = p->vertices[b->vertex + (k + 1) % b->vertex_count];
            double e[2] = {w[0] - v[0], w[1] - v[1]};
            double out = e[1] * (x[1] - x[0] * v[0]) - e[0] * (x[2] - x[0] * v[1]);
            worst = fmax(worst, out / norm(e, 2));
        }
    } else if (tangents == 1) {
        worst = fmax(worst, fabs(x[1]) - b->mu * x[0]);
    } else if (b->mu > 0.0 && b->mu2 > 0.0) {
        double y[2] = {x[1] / b->mu, x[2] / b->mu2};
        worst = fmax(worst, (norm(y, 2) - x[0]) * fmin(b->mu, b->mu2));
    } else {
        worst = fmax(worst, fmax(fabs(x[1]) - b->mu * x[0], fabs(x[2]) - b->mu2 * x[0]));
    }
    if (b->spin) worst = fmax(worst, fabs(x[1 + tangents]) - b->mu_spin * x[0]);
    if (b->roll) worst = fmax(worst, norm(x + b->count - 2, 2) - b->mu_roll * x[0]);
    return worst;
}

// Largest failure of a condition: velocities over |u_free + b|, impulses over |p|, powers over both.
static double conditions(const crProblem* p, const double* x) {
    double* u = malloc((size_t)(p->rows + 1) * sizeof *u);
    plain_velocity(p, x, u);
    double speed = 1e-300, size = 1e-300, worst = 0.0;
    for (int i = 0; i < p->rows; i++) {
        speed = fmax(speed, fabs(p->u_free[i] + (p->b != NULL ? p->b[i] : 0.0)));
        size = fmax(size, fabs(x[i]));
    }
    for (int i = 0; i < p->block_count; i++) {
        const crBlock* b = &p->blocks[i];
        const double* ui = u + b->row;
        const double* xi = x + b->row;
        for (int k = 0; b->kind != CR_BLOCK_CONE && k < b->count; k++) {
            if (b->kind == CR_BLOCK_EQUALITY) {
                worst = fmax(worst, fabs(ui[k]) / speed);
            } else if (b->kind == CR_BLOCK_UNILATERAL) {
                worst = fmax(worst, fmax(-ui[k] / speed, -xi[k] / size));
                worst = fmax(worst, fabs(ui[k] * xi[k]) / (speed * size));
            } else {
                worst = fmax(worst, fmax(b->lo - xi[k], xi[k] - b->hi) / size);
                double room = ui[k] > 0.0 ? xi[k] - b->lo : b->hi - xi[k];
                worst = fmax(worst, fmin(fabs(ui[k]) / speed, fabs(room) / size));
            }
        }
        if (b->kind != CR_BLOCK_CONE) continue;
        worst = fmax(worst, fmax(-ui[0] / speed, beyond(p, b, xi) / size));
        worst = fmax(worst, fabs(ui[0] * xi[0]) / (speed * size));
        double power = xi[0] * support(p, b, ui);
        for (int k = 1; k < b->count; k++) {
            power += xi[k] * ui[k];
        }
        worst = fmax(worst, power / (speed * size));
    }
    free(u);
    return worst;
}

static crStatus run(const char* name, const crProblem* problem, double tol, int most, crArena* arena,
                    double* x, crReport* report) {
    crSolverParams params = cr_solver_params();
    crSolver solver;
    crError error = {0};
    params.tol = tol;
    params.max_iterations = most;
    CHECK_STATUS(cr_solver_find(name, &params, &solver, NULL), CR_OK);
    crStatus status = cr_solver_run(&solver, problem, tol, arena, x, report, &error);
    if (status != CR_OK) printf("  %s: %s\n", name, error.message);
    return status;
}

// files, with how far auto gets; two cubes of mass ratio 1e6 end where a change of p in its last digit moves
// u
typedef struct File {
    const char* name;
    double tol;
} File;

#define FC(name) {"siconos-fc-A/" name, 1e-12}

static const File files[] = {
    FC("Capsules-i101-404.dat"),
    FC("Confeti-ex03-Fc3D-SBM.dat"),
    FC("Confeti-ex13-4contact-Fc3D-SBM.dat"),
    FC("Confeti-ex13-Fc3D-SBM.dat"),
    FC("FC2D_SliderCrankLagrangian00000.dat"),
    FC("FC2D_SliderCrankLagrangian00001.dat"),
    FC("FC3D_Example1.dat"),
    FC("FC3D_Example1_SBM.dat"),
    FC("FrictionContact3D_1c.dat"),
    FC("FrictionContact3D_RR_1c.dat"),
    FC("FrictionContactProblem00031.dat"),
    FC("FrictionContactProblem00071.dat"),
    FC("FrictionContactProblem00374.dat"),
    FC("FrictionContactProblem00394.dat"),
    FC("GFC3D_Example0.dat"),
    FC("GFC3D_Example00.dat"),
    FC("GFC3D_Example00_badly_scaled.dat"),
    FC("GFC3D_Example0_SBM.dat"),
    FC("GFC3D_Example1.dat"),
    FC("GFC3D_OneContact.dat"),
    FC("GFC3D_TwoRods1-condensed.dat"),
    FC("GFC3D_TwoRods1.dat"),
    FC("NESpheres_10_1.dat"),
    FC("NESpheres_30_1.dat"),
    FC("OneObject-i1028-138.hdf5.dat"),
    FC("RFC3D_cube_1.dat"),
    FC("RFC3D_sphere_1.dat"),
    FC("RFC3D_sphere_2.dat"),
    FC("Rover1039.dat"),
    FC("Rover1040.dat"),
    FC("Rover1041.dat"),
    FC("Rover11035.dat"),
    FC("Rover11211.dat"),
    FC("Rover3865.dat"),
    FC("Rover4144.dat"),
    FC("Rover4396.dat"),
    FC("Rover4493.dat"),
    FC("Rover4516.dat"),
    FC("Rover4609.dat"),
    FC("Rover4613.dat"),
    FC("Rover4622.dat"),
    FC("Rover9770.dat"),
    {"contactbench/2cubes_t0.txt", 1e-9},
    {"contactbench/sliding_cube.txt", 1e-12},
};

#define FILES (sizeof files / sizeof files[0])

static bool load(size_t i, crProblemFile* file) {
    char path[512];
    if (test_data(files[i].name, path, sizeof path) == NULL) return false;
    crError error = {0};
    crStatus status = cr_problem_read(path, NULL, file, &error);
    if (status != CR_OK) printf("  %s: %s\n", files[i].name, error.message);
    CHECK_STATUS(status, CR_OK);
    return status == CR_OK;
}

TEST(auto_solves_all_files) {
    crProblemFile file;
    if (!load(0, &file)) {
        test_skip("no CAROM_DATA");
        return;
    }
    cr_problem_file_free(&file);
    int untold = 0;
    printf("  %-40s %5s %9s %9s %6s %8s  method\n", "problem", "rows", "residual", "here", "iter", "ms");
    for (size_t i = 0; i < FILES; i++) {
        if (!load(i, &file)) continue;
        const crProblem* p = &file.problem;
        crArena arena;
        crReport report;
        double* x = calloc((size_t)p->rows, sizeof *x);
        CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
        double start = now_ms();
        CHECK_STATUS(run("auto", p, files[i].tol, 0, &arena, x, &report), CR_OK);
        double ms = now_ms() - start;
        double rounding;
        double here = natural_map(p, x, &rounding);
        printf("  %-40s %5d %9.1e %9.1e %6d %8.2f  %s\n", files[i].name, p->rows, report.audit.residual, here,
               report.iterations, ms, report.method);
        // the audit cannot tell where rounding is larger than tol: W is nearly singular in a few files
        bool unsure = report.outcome == CR_OUTCOME_UNSURE && report.audit.residual <= files[i].tol;
        CHECK(report.outcome == CR_OUTCOME_SOLVED || unsure);
        untold += unsure;
        CHECK(here <= files[i].tol + rounding);
        free(x);
        cr_arena_destroy(&arena);
        cr_problem_file_free(&file);
    }
    printf("  of %d the audit cannot tell\n", untold);
    CHECK(untold <= 8);
}

static const char* const iterative[] = {"gauss-seidel", "newton", "interior"};

TEST(every_solver_is_honest_on_files) {
    int solved[3] = {0};
    for (size_t i = 0; i < FILES; i++) {
        crProblemFile file;
        if (!load(i, &file)) {
            test_skip("no CAROM_DATA");
            return;
        }
        const crProblem* p = &file.problem;
        for (int s = 0; s < 3; s++) {
            crArena arena;
            crReport report;
            double* x = calloc((size_t)p->rows, sizeof *x);
            CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
            CHECK_STATUS(run(iterative[s], p, 1e-8, s == 0 || s == 3 ? 400 : 100, &arena, x, &report), CR_OK);
            double rounding;
            double here = natural_map(p, x, &rounding);
            if (report.outcome == CR_OUTCOME_SOLVED || report.outcome == CR_OUTCOME_UNSURE) {
                solved[s]++;
                CHECK(here <= 1e-8 * (1.0 + 1e-6) + rounding);
            }
            CHECK((report.outcome == CR_OUTCOME_SOLVED) ==
                  (cr_audit_solved(&report.audit, 1e-8) == CR_TRUTH_YES));
            CHECK(report.iterations <= 420);
            free(x);
            cr_arena_destroy(&arena);
        }
        cr_problem_file_free(&file);
    }
    for (int s = 0; s < 3; s++) {
        printf("  %s solves %d of %d files to 1e-8\n", iterative[s], solved[s], (int)FILES);
    }
    // one file is of many islands, one of which barely moves: the path ends short of that one's scale
    CHECK(solved[1] == FILES && solved[2] + 1 >= (int)FILES);
}

// one pile: auto, judged by the conditions; true where it is solved
static bool pile_solved(const crPileDef* def, uint64_t seed, double tol, double* worst, double* slowest) {
    crRandom random = sample_seed(seed);
    crArena data, work;
    crReport report;
    CHECK_STATUS(cr_arena_create(&data, NULL, 1 << 20), CR_OK);
    CHECK_STATUS(cr_arena_create(&work, NULL, 1 << 22), CR_OK);
    crProblem p = pile_build(def, &random, &data);
    double* x = calloc((size_t)p.rows, sizeof *x);
    double start = now_ms();
    CHECK_STATUS(run("auto", &p, tol, 0, &work, x, &report), CR_OK);
    *slowest = fmax(*slowest, now_ms() - start);
    bool solved = report.outcome == CR_OUTCOME_SOLVED;
    CHECK(solved == (cr_audit_solved(&report.audit, tol) == CR_TRUTH_YES));
    if (solved) *worst = fmax(*worst, conditions(&p, x));
    CHECK(!solved || report.audit.momentum < 1e-12);
    free(x);
    cr_arena_destroy(&work);
    cr_arena_destroy(&data);
    return solved;
}

static const char* const kinds[] = {"tower", "wall", "heap", "jam"};

// 1e-10 in the natural map, which has impulses of 1 N s and velocities of 1 m/s in one: 1e-8 of each here
static void try_piles(double mass_ratio, double tol, int count, int bodies) {
    for (int kind = 0; kind < PILE_KINDS; kind++) {
        int solved = 0, tried = 0;
        double worst = 0.0, slowest = 0.0;
        for (int friction = 0; friction < PILE_FRICTIONS; friction++) {
            for (int i = 0; i < count; i++) {
                double motion[3] = {0.0, 0.1, 1.0};
                crPileDef def = {(crPileKind)kind, (crPileFriction)friction,
                                 bodies,           mass_ratio,
                                 motion[i % 3],    i % 4 == 3};
                solved += pile_solved(&def, 500 + (uint64_t)i, tol, &worst, &slowest) ? 1 : 0;
                tried++;
            }
        }
        printf("  %s, ratio %g: %d of %d to %.0e, conditions to %.1e, slowest %.1f ms\n", kinds[kind],
               mass_ratio, solved, tried, tol, worst, slowest);
        // spheres between two fixed walls may have no solution; all others do
        CHECK(kind == PILE_JAM || solved == tried);
    }
}

TEST(piles_of_equal_bodies) { try_piles(1.0, 1e-10, test_samples(60) / 6, 6); }

// light under heavy: rounding of W p is up to 1e6 times that of the velocities
TEST(piles_of_mass_ratio_million) { try_piles(1e6, 1e-8, test_samples(24) / 6, 5); }

TEST(auto_solves_what_any_solver_solves) {
    int by[3] = {0}, by_auto = 0, tried = 0;
    for (int i = 0; i < test_samples(600) / 5; i++) {
        crRandom random = sample_seed(900 + (uint64_t)i);
        crArena data, work;
        CHECK_STATUS(cr_arena_create(&data, NULL, 1 << 20), CR_OK);
        CHECK_STATUS(cr_arena_create(&work, NULL, 1 << 22), CR_OK);
        crPileDef def = {(crPileKind)(i % PILE_KINDS),
                         (crPileFriction)(i / PILE_KINDS % PILE_FRICTIONS),
                         4,
                         i % 5 == 0 ? 1e3 : 1.0,
                         0.3,
                         i % 7 == 0};
        crProblem p = pile_build(&def, &random, &data);
        double* x = calloc((size_t)p.rows, sizeof *x);
        crReport report;
        bool any = false;
        for (int s = 0; s < 3; s++) {
            memset(x, 0, (size_t)p.rows * sizeof *x);
            CHECK_STATUS(run(iterative[s], &p, 1e-8, s == 0 ? 300 : 60, &work, x, &report), CR_OK);
            bool solved = report.outcome == CR_OUTCOME_SOLVED;
            if (solved) CHECK(conditions(&p, x) < 1e-6);
            by[s] += solved ? 1 : 0;
            any = any || solved;
        }
        memset(x, 0, (size_t)p.rows * sizeof *x);
        CHECK_STATUS(run("auto", &p, 1e-8, 0, &work, x, &report), CR_OK);
        CHECK(!any || report.outcome == CR_OUTCOME_SOLVED);
        by_auto += report.outcome == CR_OUTCOME_SOLVED ? 1 : 0;
        tried++;
        free(x);
        cr_arena_destroy(&work);
        cr_arena_destroy(&data);
    }
    printf("  of %d piles with few iterations: gauss-seidel %d, newton %d, interior %d; auto %d\n", tried,
           by[0], by[1], by[2], by_auto);
}

// about 390 contacts between spheres that move: sweeps alone end near 1e-8
TEST(large_heaps) {
    static const uint64_t seeds[] = {1001, 1003};
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        crRandom random = sample_seed(seeds[i]);
        crArena data, work;
        CHECK_STATUS(cr_arena_create(&data, NULL, 1 << 22), CR_OK);
        CHECK_STATUS(cr_arena_create(&work, NULL, 1 << 24), CR_OK);
        crPileDef def = {PILE_HEAP, PILE_DISC, 150, 1.0, 0.2, false};
        crProblem p = pile_build(&def, &random, &data);
        crReport report;
        double* x = calloc((size_t)p.rows, sizeof *x);
        double start = now_ms();
        CHECK_STATUS(run("auto", &p, 1e-10, 0, &work, x, &report), CR_OK);
        double worst = conditions(&p, x);
        printf("  %d contacts: residual %.1e, conditions to %.1e, by %s in %.0f ms\n", p.block_count,
               report.audit.residual, worst, report.method, now_ms() - start);
        CHECK(report.outcome == CR_OUTCOME_SOLVED && worst < 1e-8);
        free(x);
        cr_arena_destroy(&work);
        cr_arena_destroy(&data);
    }
}

// an answer handed back as the guess stays as it is, to the bit and without an iteration
TEST(good_guess_is_kept) {
    int kept = 0;
    for (int i = 0; i < 24; i++) {
        crRandom random = sample_seed(40 + (uint64_t)i);
        crArena data, work;
        CHECK_STATUS(cr_arena_create(&data, NULL, 1 << 20), CR_OK);
        CHECK_STATUS(cr_arena_create(&work, NULL, 1 << 22), CR_OK);
        crPileDef def = {(crPileKind)(i % PILE_JAM),
                         (crPileFriction)(i / PILE_JAM % PILE_FRICTIONS),
                         3,
                         1.0,
                         0.2,
                         i % 2 == 0};
        crProblem p = pile_build(&def, &random, &data);
        double* x = calloc((size_t)p.rows, sizeof *x);
        double* y = calloc((size_t)p.rows, sizeof *y);
        crReport first, again;
        CHECK_STATUS(run("auto", &p, 1e-10, 0, &work, x, &first), CR_OK);
        memcpy(y, x, (size_t)p.rows * sizeof *x);
        CHECK_STATUS(run("auto", &p, 1e-10, 0, &work, y, &again), CR_OK);
        CHECK(again.audit.residual <= first.audit.residual);
        crAudit returned;
        CHECK_STATUS(cr_problem_audit(&p, &work, x, &returned), CR_OK);
        if (fmax(first.audit.residual, returned.residual) <= 1e-14) {
            CHECK(again.iterations == 0 && memcmp(x, y, (size_t)p.rows * sizeof *x) == 0);
            kept++;
        }
        free(y);
        free(x);
        cr_arena_destroy(&work);
        cr_arena_destroy(&data);
    }
    printf("  %d of 24 kept\n", kept);
    CHECK(kept > 12);
}
