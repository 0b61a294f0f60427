// test_collide_peers.c - the same questions asked of others: the overlap verdict of libccd (MPR), and for
// polyhedra the depth from the Minkowski difference hull of qhull. Skipped where they are not installed.
#include "sample_shape.h"
#include "test.h"

static int samples(void) { return test_samples(1000000) == 1000000 ? 1000000 : 150; }

#ifdef CAROM_TEST_CCD
#include <ccd/ccd.h>

typedef struct Object {
    const crShape* shape;
    crPose pose;
} Object;

static void ccd_support_point(const void* obj, const ccd_vec3_t* dir, ccd_vec3_t* v) {
    const Object* o = obj;
    crVec3 x = shape_support(o->shape, o->pose, cr_vec3(dir->v[0], dir->v[1], dir->v[2]));
    ccdVec3Set(v, x.x, x.y, x.z);
}
static void ccd_centre(const void* obj, ccd_vec3_t* v) {
    const Object* o = obj;
    crVec3 c = o->pose.p;
    if (o->shape->kind == CR_SHAPE_HULL) {
        int count;
        const crVec3* p = cr_hull_vertices(o->shape->data.hull, &count);
        crVec3 sum = {0, 0, 0};
        for (int i = 0; i < count; i++)
            sum = cr_add(sum, p[i]);
        c = cr_pose_point(o->pose, cr_scale(1.0 / count, sum));
    }
    ccdVec3Set(v, c.x, c.y, c.z);
}
#endif

#ifdef CAROM_TEST_CCD
// true: the verdicts differ
static bool ccd_differs(const crShape* a, crPose pa, const crShape* b, crPose pb, bool overlap) {
    Object oa = {a, pa}, ob = {b, pb};
    ccd_t ccd;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = ccd_support_point;
    ccd.center1 = ccd.center2 = ccd_centre;
    ccd.mpr_tolerance = 1e-6;
    ccd.max_iterations = 200;
    return (ccdMPRIntersect(&oa, &ob, &ccd) != 0) != overlap;
}

// pairs of the kind with itself and those listed after it
static void ask_libccd(int first) {
    crRandom random = sample_seed(300 + (uint64_t)first);
    crHullPool pool = sample_hulls(&random);
    for (int k = first; k < CONVEX_KINDS; k++) {
        int asked = 0, differ = 0;
        for (int s = 0; s < samples(); s++) {
            crShape a = sample_shape(&random, convex_kinds[first], FORM_ROUND, &pool);
            crShape b = sample_shape(&random, convex_kinds[k], FORM_ROUND, &pool);
            crPose pa = sample_pose(&random, FORM_ROUND), pb = sample_pose(&random, FORM_ROUND);
            crVec3 d = sample_direction(&random);
            double touch = -shape_separation(&a, pa, &b, pb, d);
            pb.p = cr_scale(touch * sample_uniform(&random, 0.3, 1.3), d);
            crDistance mine;
            cr_distance(&a, pa, &b, pb, INFINITY, &mine);
            if (fabs(mine.contact.gap) < 1e-4) continue;
            asked++;
            differ += ccd_differs(&a, pa, &b, pb, mine.contact.gap < 0);
            CHECK(cr_overlap(&a, pa, &b, pb) == (mine.contact.gap <= 0));
        }
        printf("libccd: %-10s %-10s %d pairs asked, %d verdicts differ\n",
               cr_shape_info(convex_kinds[first])->name, cr_shape_info(convex_kinds[k])->name, asked, differ);
        CHECK(differ == 0);
    }
    sample_hulls_destroy(&pool);
}
#else
static void ask_libccd(int first) {
    (void)first;
    test_skip("libccd is not installed");
}
#endif

TEST(sphere_overlaps_as_libccd_sees_them) { ask_libccd(0); }
TEST(capsule_overlaps_as_libccd_sees_them) { ask_libccd(1); }
TEST(box_overlaps_as_libccd_sees_them) { ask_libccd(2); }
TEST(cylinder_overlaps_as_libccd_sees_them) { ask_libccd(3); }
TEST(cone_overlaps_as_libccd_sees_them) { ask_libccd(4); }
TEST(ellipsoid_overlaps_as_libccd_sees_them) { ask_libccd(5); }
TEST(hull_overlaps_as_libccd_sees_them) { ask_libccd(6); }

#ifdef CAROM_TEST_QHULL
#include <libqhull_r/qhull_ra.h>
#include <stdio.h>

static int corners(const crShape* s, crPose pose, crVec3* out) {
    if (s->kind == CR_SHAPE_BOX) {
        for (int i = 0; i < 8; i++)
            out[i] =
                cr_pose_point(pose, cr_vec3(i & 1 ? s->size.x : -s->size.x, i & 2 ? s->size.y : -s->size.y,
                                            i & 4 ? s->size.z : -s->size.z));
        return 8;
    }
    int count;
    const crVec3* p = cr_hull_vertices(s->data.hull, &count);
    for (int i = 0; i < count; i++)
        out[i] = cr_pose_point(pose, p[i]);
    return count;
}

// largest signed offset of the origin over the facets of the hull of B - A: the depth, negative
static double minkowski_gap(const crShape* a, crPose pa, const crShape* b, crPose pb) {
    crVec3 va[64], vb[64];
    static double points[64 * 64 * 3];
    int na = corners(a, pa, va), nb = corners(b, pb, vb), n = 0;
    for (int i = 0; i < na; i++)
        for (int k = 0; k < nb; k++) {
            points[n++] = vb[k].x - va[i].x;
            points[n++] = vb[k].y - va[i].y;
            points[n++] = vb[k].z - va[i].z;
        }
    qhT context;
    qhT* qh = &context;
    qh_zero(qh, stderr);
    double most = NAN;
    char options[] = "qhull Qt";
    if (qh_new_qhull(qh, 3, n / 3, points, 0, options, NULL, stderr) == 0) {
        facetT* facet;
        most = -INFINITY;
        FORALLfacets most = fmax(most, facet->offset);
    }
    qh_freeqhull(qh, !qh_ALL);
    int current, total;
    qh_memfreeshort(qh, &current, &total);
    return most;
}
#endif

TEST(depth_as_the_hull_of_the_difference_sees_it) {
#ifdef CAROM_TEST_QHULL
    crRandom random = sample_seed(16);
    crHullPool pool = sample_hulls(&random);
    const crShapeKind kinds[2] = {CR_SHAPE_BOX, CR_SHAPE_HULL};
    double worst = 0, scale_worst = 0;
    int overlapping = 0, asked = samples() == 150 ? 300 : 100000;
    for (int i = 0; i < asked; i++) {
        crSampleForm form = (crSampleForm)(i % 5);
        crShapeKind ka = kinds[i % 2], kb = kinds[i / 2 % 2];
        if (ka == CR_SHAPE_HULL || kb == CR_SHAPE_HULL) form = (crSampleForm)(i % 3);
        crShape a = sample_shape(&random, ka, form, &pool), b = sample_shape(&random, kb, form, &pool);
        crPose pa = sample_pose(&random, form), pb = sample_pose(&random, form);
        crVec3 d = sample_direction(&random);
        double size = shape_size(&a) + shape_size(&b);
        pb.p = cr_scale(-shape_separation(&a, pa, &b, pb, d) * sample_uniform(&random, 0, 1), d);
        crDistance mine;
        cr_distance(&a, pa, &b, pb, INFINITY, &mine);
        if (!(mine.contact.gap < 0)) continue;
        overlapping++;
        double gap = minkowski_gap(&a, pa, &b, pb);
        worst = fmax(worst, fabs(gap - mine.contact.gap) / size);
        scale_worst = fmax(scale_worst, size);
    }
    printf("qhull: %d overlapping pairs, depth differs by %.0e relative\n", overlapping, worst);
    CHECK(overlapping > asked / 3);
    // qhull merges facets within its own rounding
    CHECK(worst < 1e-13);
    sample_hulls_destroy(&pool);
#else
    test_skip("qhull is not installed");
#endif
}
