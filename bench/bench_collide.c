// bench_collide.c - nanoseconds per pair of shapes, next to libccd and Bullet where they are installed, and
// the broad phase.
//
// Pairs: random poses, centres so far apart that about half overlap. "distance" is cr_distance, "contacts"
// is cr_collide with its manifold; libccd is ccdMPRPenetration at tolerance 1e-6 (no distance where they are
// apart); Bullet is its dispatcher's algorithm for the pair with a cleared manifold, single precision (no
// ellipsoids). "worst" is the largest error bound over the pairs relative to their size. Broad phase:
// spheres that drift in a box at constant density, everything updated and all pairs listed once per step;
// the mean over the steps. Else medians of 5 runs. Processor time, so that others on the machine count little.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "carom/carom.h"
#include "carom/near.h"
#include "sample_shape.h"

#ifdef CAROM_BENCH_CCD
#include <ccd/ccd.h>
#endif
#ifdef CAROM_BENCH_BULLET
#include "carom/near.h"
#include "peer_bullet.h"
#endif
#define COUNT 2000
#define RUNS  5
#define STEPS 24  // of 1/240 s, at 1 m/s

typedef struct Pair {
    crShape a, b;
    crPose pa, pb;
} Pair;

static Pair pairs[COUNT];
static volatile double sink;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double run_distance(void) {
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        crDistance d;
        cr_distance(&pairs[i].a, pairs[i].pa, &pairs[i].b, pairs[i].pb, INFINITY, &d);
        sum += d.contact.gap;
    }
    return sum;
}

static double run_contacts(void) {
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        crContactPoint c[CR_MANIFOLD_MAX];
        sum += cr_collide(&pairs[i].a, pairs[i].pa, &pairs[i].b, pairs[i].pb, 0.01, c, CR_MANIFOLD_MAX, NULL);
    }
    return sum;
}

#ifdef CAROM_BENCH_CCD
typedef struct Object {
    const crShape* shape;
    crPose pose;
} Object;

static void support(const void* obj, const ccd_vec3_t* dir, ccd_vec3_t* v) {
    const Object* o = obj;
    crVec3 x = shape_support(o->shape, o->pose, cr_vec3(dir->v[0], dir->v[1], dir->v[2]));
    ccdVec3Set(v, x.x, x.y, x.z);
}

static void centre(const void* obj, ccd_vec3_t* v) {
    const Object* o = obj;
    ccdVec3Set(v, o->pose.p.x, o->pose.p.y, o->pose.p.z);
}

static double run_ccd(void) {
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        Object a = {&pairs[i].a, pairs[i].pa}, b = {&pairs[i].b, pairs[i].pb};
        ccd_t ccd;
        CCD_INIT(&ccd);
        ccd.support1 = ccd.support2 = support;
        ccd.center1 = ccd.center2 = centre;
        ccd.mpr_tolerance = 1e-6;
        double depth;
        ccd_vec3_t dir, pos;
        if (ccdMPRPenetration(&a, &b, &ccd, &depth, &dir, &pos) == 0) sum += depth;
    }
    return sum;
}
#endif

#ifdef CAROM_BENCH_BULLET
static PeerBullet* bullets[COUNT];

static double run_bullet(void) {
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += peer_bullet_run(bullets[i]);
    return sum;
}
#endif

static double measure(double (*run)(void)) {
    double times[RUNS];
    for (int r = 0; r < RUNS; r++) {
        double start = now();
        sink = run();
        times[r] = now() - start;
    }
    qsort(times, RUNS, sizeof *times, by_value);
    return times[RUNS / 2] / COUNT * 1e9;
}

// NAN where it is not installed or has no such shape
static double measure_bullet(void) {
    double ns = NAN;
#ifdef CAROM_BENCH_BULLET
    bool all = true;
    for (int i = 0; i < COUNT; i++) {
        bullets[i] = peer_bullet_create(&pairs[i].a, pairs[i].pa, &pairs[i].b, pairs[i].pb);
        all = all && bullets[i] != NULL;
    }
    if (all) ns = measure(run_bullet);
    for (int i = 0; i < COUNT; i++)
        peer_bullet_destroy(bullets[i]);
#endif
    return ns;
}

static double worst_error(void) {
    double worst = 0;
    for (int i = 0; i < COUNT; i++) {
        crDistance d;
        cr_distance(&pairs[i].a, pairs[i].pa, &pairs[i].b, pairs[i].pb, INFINITY, &d);
        worst = fmax(worst, d.error / (shape_size(&pairs[i].a) + shape_size(&pairs[i].b)));
    }
    return worst;
}

static void bench_pairs(void) {
    crRandom random = sample_seed(21);
    crHullPool pool = sample_hulls(&random);
    printf("%-10s %-10s %9s %9s %9s %9s %9s\n", "", "", "distance", "contacts", "libccd", "Bullet", "worst");
    for (int i = 0; i < CONVEX_KINDS; i++)
        for (int k = i; k < CONVEX_KINDS; k++) {
            for (int s = 0; s < COUNT; s++) {
                Pair* p = &pairs[s];
                p->a = sample_shape(&random, convex_kinds[i], FORM_ROUND, &pool);
                p->b = sample_shape(&random, convex_kinds[k], FORM_ROUND, &pool);
                p->pa = sample_pose(&random, FORM_ROUND);
                p->pb = sample_pose(&random, FORM_ROUND);
                crVec3 d = sample_direction(&random);
                double touch = -shape_separation(&p->a, p->pa, &p->b, p->pb, d);
                p->pb.p = cr_scale(touch * sample_uniform(&random, 0.7, 1.1), d);
            }
            double ccd = NAN;
#ifdef CAROM_BENCH_CCD
            ccd = measure(run_ccd);
#endif
            printf("%-10s %-10s %9.0f %9.0f %9.0f %9.0f %9.0e\n", cr_shape_info(convex_kinds[i])->name,
                   cr_shape_info(convex_kinds[k])->name, measure(run_distance), measure(run_contacts), ccd,
                   measure_bullet(), worst_error());
        }
    sample_hulls_destroy(&pool);
}

// a settled box on a box: all of it, and refreshed after a creep of 1e-7 of one or of both
static crPatch patches[COUNT];
static int creeping;

static double run_keep(void) {
    for (int i = 0; i < COUNT; i++)
        cr_collide_keep(&pairs[i].a, pairs[i].pa, &pairs[i].b, pairs[i].pb, 0.01, &patches[i]);
    return patches[0].gap;
}

static double run_refresh(void) {
    double sum = 0, error;
    for (int i = 0; i < COUNT; i++) {
        crContactPoint c[CR_MANIFOLD_MAX];
        int count;
        crPose pa = pairs[i].pa, pb = pairs[i].pb;
        if (creeping > 0) pb.p.x += 1e-7;
        if (creeping > 1) pa.p.y += 1e-7;
        if (!cr_collide_refresh(&patches[i], pa, pb, 0.01, 1e-9, c, &count, &error)) return NAN;
        sum += count;
    }
    return sum / COUNT;
}

static void bench_patches(void) {
    for (int i = 0; i < COUNT; i++)
        pairs[i] = (Pair){cr_shape_box(1, 1, 0.5),
                          cr_shape_box(0.5, 0.5, 0.5),
                          cr_pose_identity(),
                          {{1e-4 * i, 0, 1.0}, {1, 0, 0, 0}}};
    printf("box on box: keep %.0f ns", measure(run_keep));
    for (creeping = 0; creeping < 3; creeping++)
        printf(", %d creeping %.0f ns", creeping, measure(run_refresh));
    printf(" (%.0f contacts)\n", sink);
}

static void bench_broad(int n) {
    crRandom random = sample_seed(22);
    crBroad* broad;
    double r = 0.1, side = 0.3 * pow(n, 1.0 / 3);
    crVec3* p = malloc((size_t)n * sizeof *p);
    crVec3* v = malloc((size_t)n * sizeof *v);
    if (p == NULL || v == NULL || cr_broad_create(0.05, NULL, &broad, NULL) != CR_OK) return;
    for (int i = 0; i < n; i++) {
        p[i] = cr_vec3(sample_uniform(&random, 0, side), sample_uniform(&random, 0, side),
                       sample_uniform(&random, 0, side));
        v[i] = cr_scale(1.0 / 240, sample_direction(&random));
    }
    double first = 0, update = 0, list = 0;
    int count = 0;
    for (int step = 0; step <= STEPS; step++) {
        double start = now();
        for (int i = 0; i < n; i++) {
            p[i] = cr_add(p[i], v[i]);
            crVec3 h = cr_vec3(r, r, r);
            cr_broad_set(broad, i, (crBounds){cr_sub(p[i], h), cr_add(p[i], h)}, -1, NULL);
        }
        double middle = now();
        const crPair* found;
        cr_broad_pairs(broad, &found, &count);
        double end = now();
        if (step == 0)
            first = end - start;
        else
            update += middle - start, list += end - middle;
    }
    double ns = 1e9 / n;
    printf("broad phase %7d spheres: first %4.0f, then update %3.0f + pairs %3.0f ns per body (%d pairs)\n",
           n, ns * first, ns / STEPS * update, ns / STEPS * list, count);
    cr_broad_destroy(broad);
    free(p);
    free(v);
}

int main(void) {
    bench_pairs();
    bench_patches();
    for (int n = 1000; n <= 100000; n *= 10)
        bench_broad(n);
    return 0;
}
