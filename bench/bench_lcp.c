// bench_lcp.c - pivoting solvers on random LCPs next to Siconos' Lemke and DART's Dantzig, on the same
// numbers.
//
// Definite: W = G G^T, G n x n uniform in [-1, 1], q uniform. Semidefinite: G n x n/2, q made from a
// solution. The best of three runs and the median over seeds; the residual is max |min(z, M z + q)| / max(1,
// |q|), by long double.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/carom.h"
#include "peers.h"
#include "resolve/kinds.h"
#include "sample.h"

#define SEEDS 5
#define RUNS  3

static double milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void make(crRandom* random, int size, int rank, double* W, double* q) {
    size_t n = (size_t)size, m = (size_t)rank;
    double* G = malloc(n * m * sizeof(double));
    double* x = calloc(n, sizeof(double));
    for (size_t i = 0; i < n * m; i++) {
        G[i] = sample_uniform(random, -1.0, 1.0);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < m; k++) {
                sum += G[i * m + k] * G[j * m + k];
            }
            W[i * n + j] = W[j * n + i] = sum;
        }
        q[i] = sample_uniform(random, -1.0, 1.0);
        if (rank < size && sample_bits(random) % 2 == 0) x[i] = sample_uniform(random, 0.0, 1.0);
    }
    for (size_t i = 0; i < n && rank < size; i++) {
        q[i] = x[i] > 0.0 ? 0.0 : fabs(q[i]);
        for (size_t j = 0; j < n; j++) {
            q[i] -= W[i * n + j] * x[j];
        }
    }
    free(G);
    free(x);
}

static double residual(int n, const double* W, const double* q, const double* z) {
    double worst = 0.0, size = 1.0;
    for (int i = 0; i < n; i++) {
        long double w = q[i];
        for (int j = 0; j < n; j++) {
            w += (long double)W[(size_t)i * (size_t)n + (size_t)j] * (long double)z[j];
        }
        double r = fabs(fmin(z[i], (double)w));
        worst = r <= worst ? worst : r;
        size = fmax(size, fabs(q[i]));
    }
    return worst / size;
}

static int run_carom(crSolver solver, int n, const double* W, const double* q, crArena* arena, double* z) {
    crBlock block = cr_block(CR_BLOCK_UNILATERAL, 0, n);
    crProblem problem = {
        .rows = n, .block_count = 1, .blocks = &block, .u_free = q, .W = {n, n, NULL, NULL, W}, .raw = true};
    crReport report;
    cr_solver_run(&solver, &problem, 1e-10, arena, z, &report, NULL);
    cr_arena_reset(arena);
    return report.outcome == CR_OUTCOME_SOLVED;
}

static int run(int which, int n, const double* W, const double* q, crArena* arena, double* z) {
    switch (which) {
    case 0:
        return run_carom(cr__solver(&cr__solver_pivot, NULL), n, W, q, arena, z);
    case 1:
        return run_carom(cr__solver(&cr__solver_lemke, NULL), n, W, q, arena, z);
    case 2:
        return peer_siconos_lemke(n, W, q, z);
    default:
        return peer_dart_dantzig(n, W, q, z);
    }
}

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void row(int n, int rank) {
    static const char* const names[] = {"carom pivot", "carom lemke", "siconos lemke", "dart dantzig"};
    size_t size = (size_t)n;
    double* W = malloc(size * size * sizeof(double));
    double* q = malloc(size * sizeof(double));
    double* z = malloc(size * sizeof(double));
    crArena arena;
    cr_arena_create(&arena, NULL, 0);
    printf("n = %d, rank %d\n", n, rank);
    for (int which = 0; which < 4; which++) {
        double times[SEEDS], worst = 0.0;
        int claimed = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            crRandom random = sample_seed((uint64_t)seed + 1);
            make(&random, n, rank, W, q);
            times[seed] = (double)INFINITY;
            for (int k = 0; k < RUNS; k++) {
                memset(z, 0, size * sizeof(double));
                double t = milliseconds();
                int ok = run(which, n, W, q, &arena, z);
                times[seed] = fmin(times[seed], milliseconds() - t);
                if (k == 0) claimed += ok;
            }
            double r = residual(n, W, q, z);
            worst = r <= worst ? worst : r;
        }
        qsort(times, SEEDS, sizeof(double), ascending);
        printf("  %-14s %9.2f ms   worst residual %.1e   says solved %d of %d\n", names[which],
               times[SEEDS / 2], worst, claimed, SEEDS);
        fflush(stdout);
    }
    free(W);
    free(q);
    free(z);
    cr_arena_destroy(&arena);
}

int main(void) {
    row(50, 50);
    row(50, 25);
    row(400, 400);
    row(400, 200);
    row(1000, 1000);
    return 0;
}
