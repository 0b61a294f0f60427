// bench_laws.c - nanoseconds per impact of every law, one by one and in arrays, next to a plain Chatterjee and
// Ruina written the textbook way on LAPACK (their appendix A.2: invert m, form P_I, P_II, clip).
//
// Inputs: random body pairs in random coordinates; planar ones for the planar law, spheres for the bilinear law.
// "one" is cr_law_apply with everything it reports; "many" is cr_law_many. "apart" is the largest relative
// difference to the LAPACK version (Chatterjee and Ruina only). Each figure is the median of 9 runs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/carom.h"
#include "resolve/kinds.h"
#include "sample.h"

extern void dgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b,
                   const int* ldb, int* info);

#define COUNT 4096
#define RUNS  9

static crMat3 W[COUNT];
static crVec3 V[COUNT], n[COUNT], P[COUNT], reference[COUNT];
static double mu[COUNT], e[COUNT], et[COUNT];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* times) {
    qsort(times, RUNS, sizeof *times, by_value);
    return times[RUNS / 2] / COUNT * 1e9;
}

// Chatterjee and Ruina, appendix A.2, with dgesv for the two solves
static crVec3 lapack_chatterjee_ruina(const crMat3* w, crVec3 v, crVec3 normal, double friction, double rest,
                                      double tangential) {
    double a[9], b[3] = {-v.x, -v.y, -v.z};
    int pivots[3], three = 3, one = 1, info;
    memcpy(a, w->m, sizeof a);
    dgesv_(&three, &one, a, &three, pivots, b, &three, &info);
    crVec3 P_II = cr_vec3(b[0], b[1], b[2]);
    crVec3 P_I = cr_scale(-cr_dot(normal, v) / cr_dot(normal, cr_mat3_mul(*w, normal)), normal);
    crVec3 D = cr_sub(P_II, P_I);
    crVec3 hat = cr_add(cr_scale(1 + rest, P_I), cr_scale(1 + tangential, D));
    double Pn = cr_dot(normal, hat);
    double kappa = 1 + tangential;
    if (cr_norm(cr_madd(hat, -Pn, normal)) > friction * Pn) {
        double slide = cr_norm(cr_madd(P_II, -cr_dot(normal, P_II), normal));
        kappa = friction * (1 + rest) * cr_dot(normal, P_I) / (slide - friction * cr_dot(normal, D));
    }
    return cr_add(cr_scale(1 + rest, P_I), cr_scale(kappa, D));
}

static void fill(crSampleKind kind) {
    crRandom random = sample_seed(11);
    for (int i = 0; i < COUNT; i++) {
        crCollision c = sample_collision(&random, kind);
        W[i] = c.W;
        V[i] = c.V;
        n[i] = c.n;
        mu[i] = c.mu;
        e[i] = c.e;
        et[i] = c.et;
    }
}

static double time_one(const crLaw* law) {
    double times[RUNS];
    crCollision c = cr_collision();
    for (int r = 0; r < RUNS; r++) {
        double start = now();
        for (int i = 0; i < COUNT; i++) {
            c.W = W[i];
            c.V = V[i];
            c.n = n[i];
            c.mu = mu[i];
            c.e = e[i];
            c.et = et[i];
            crHit hit;
            P[i] = cr_law_apply(law, &c, &hit, NULL) == CR_OK ? hit.P : cr_vec3(0, 0, 0);
        }
        times[r] = now() - start;
    }
    return median(times);
}

static double time_many(const crLaw* law) {
    double times[RUNS];
    for (int r = 0; r < RUNS; r++) {
        double start = now();
        cr_law_many(law, COUNT, W, V, n, mu, e, et, P, NULL);
        times[r] = now() - start;
    }
    return median(times);
}

static double time_lapack(void) {
    double times[RUNS];
    for (int r = 0; r < RUNS; r++) {
        double start = now();
        for (int i = 0; i < COUNT; i++) {
            reference[i] = lapack_chatterjee_ruina(&W[i], V[i], n[i], mu[i], e[i], et[i]);
        }
        times[r] = now() - start;
    }
    return median(times);
}

static double difference(void) {
    double worst = 0.0;
    for (int i = 0; i < COUNT; i++) {
        worst = fmax(worst, cr_norm(cr_sub(P[i], reference[i])) / cr_norm(reference[i]));
    }
    return worst;
}

int main(void) {
    fill(SAMPLE_BODIES);
    double lapack = time_lapack();
    printf("%-18s %10s %10s %12s %10s %10s\n", "law", "one ns", "many ns", "many M/s", "x LAPACK", "apart");
    printf("%-18s %10.0f %10s %12s %10.2f %10s\n", "C&R on LAPACK", lapack, "-", "-", 1.0, "-");
    for (int i = 0; i < cr_law_count(); i++) {
        const crLawInfo* info = cr_law_info(i);
        crLaw parts[2] = {cr__law(&cr__law_chatterjee_ruina, NULL), cr__law(&cr__law_routh, NULL)};
        double weights[2] = {0.5, 0.5};
        crLawParams params = cr_law_params();
        params.law_count = 2;
        params.laws = parts;
        params.weights = weights;
        crLaw law;
        if (cr_law_find(info->name, &params, &law, NULL) != CR_OK) return 1;
        crSampleKind kind = info->planar ? SAMPLE_PLANAR : SAMPLE_BODIES;
        fill(strcmp(info->name, "bilinear") == 0 ? SAMPLE_SPHERES : kind);
        double one = time_one(&law);
        double many = time_many(&law);
        printf("%-18s %10.0f %10.0f %12.2f %10.2f ", info->name, one, many, 1e3 / many, many / lapack);
        if (strcmp(info->name, "chatterjee-ruina") == 0) {
            printf("%10.1e\n", difference());
        } else {
            printf("%10s\n", "-");
        }
    }
    return 0;
}
