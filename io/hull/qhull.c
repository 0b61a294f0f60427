// qhull.c - the convex hull of points, by Qhull.
//
// Qhull gives facets, merged where its points are flat within rounding; each facet's vertices are ordered
// around its normal and become one face. Points inside or on edges are dropped. Fails: out-of-range where
// the points have no volume, and what cr_hull_create refuses.
#include <libqhull_r/qhull_ra.h>

#include <stdlib.h>
#include <string.h>

#include "io/scene_parts.h"

typedef struct Faces {
    int vertex_count, face_count, loop_count;
    crVec3* vertices;
    int* place;  // of each point among the vertices, or -1
    int* sizes;
    int* loops;
} Faces;

typedef struct Corner {
    int vertex;
    double angle;
} Corner;

static int by_angle(const void* a, const void* b) {
    double x = ((const Corner*)a)->angle;
    double y = ((const Corner*)b)->angle;
    return (x > y) - (x < y);
}

static int place_of(Faces* f, const crVec3* points, int point) {
    if (f->place[point] < 0) {
        f->place[point] = f->vertex_count;
        f->vertices[f->vertex_count++] = points[point];
    }
    return f->place[point];
}

// the vertices of a facet, counterclockwise around its outward normal
static bool add_face(qhT* qh, facetT* facet, const crVec3* points, Faces* f) {
    int count = qh_setsize(qh, facet->vertices);
    Corner* corners = malloc(((size_t)count + 1) * sizeof *corners);
    if (corners == NULL) return false;
    crVec3 n = cr_vec3(facet->normal[0], facet->normal[1], facet->normal[2]);
    crMat3 frame = cr_frame(n);
    crVec3 centre = {0};
    vertexT* vertex;
    vertexT** vertexp;
    int i = 0;
    FOREACHvertex_(facet->vertices) {
        int point = qh_pointid(qh, vertex->point);
        corners[i++].vertex = place_of(f, points, point);
        centre = cr_madd(centre, 1.0 / count, points[point]);
    }
    for (i = 0; i < count; i++) {
        crVec3 d = cr_sub(f->vertices[corners[i].vertex], centre);
        corners[i].angle = cr_atan2(cr_dot(cr_mat3_column(frame, 2), d), cr_dot(cr_mat3_column(frame, 1), d));
    }
    qsort(corners, (size_t)count, sizeof *corners, by_angle);
    f->sizes[f->face_count++] = count;
    for (i = 0; i < count; i++) {
        f->loops[f->loop_count++] = corners[i].vertex;
    }
    free(corners);
    return true;
}

static crStatus collect(qhT* qh, const crVec3* points, int count, crHull** hull, crError* error) {
    size_t facets = (size_t)qh->num_facets + 1;
    size_t corners = 0;
    facetT* facet;
    FORALLfacets { corners += (size_t)qh_setsize(qh, facet->vertices); }
    Faces f = {.vertices = malloc((size_t)count * sizeof(crVec3)),
               .place = malloc((size_t)count * sizeof(int)),
               .sizes = malloc(facets * sizeof(int)),
               .loops = malloc((corners + 1) * sizeof(int))};
    bool good = f.vertices != NULL && f.place != NULL && f.sizes != NULL && f.loops != NULL;
    for (int i = 0; good && i < count; i++) {
        f.place[i] = -1;
    }
    FORALLfacets { good = good && add_face(qh, facet, points, &f); }
    crHullDef def = {f.vertex_count, f.vertices, f.face_count, f.sizes, f.loops};
    crStatus status = good ? cr_hull_create(&def, NULL, hull, error)
                           : cr_error_set(error, CR_ERR_MEMORY, "points", "points: out of memory");
    free(f.vertices);
    free(f.place);
    free(f.sizes);
    free(f.loops);
    return status;
}

crStatus cr__hull_of_points(const crVec3* points, int count, crHull** hull, crError* error) {
    coordT* coordinates = malloc((size_t)count * 3 * sizeof *coordinates);
    FILE* silence = fopen("/dev/null", "w");
    qhT* qh = calloc(1, sizeof *qh);
    crStatus status = CR_ERR_MEMORY;
    if (coordinates != NULL && silence != NULL && qh != NULL) {
        for (int i = 0; i < count; i++) {
            memcpy(&coordinates[3 * i], &points[i], 3 * sizeof(double));
        }
        qh_zero(qh, silence);
        char options[] = "qhull";
        if (qh_new_qhull(qh, 3, count, coordinates, 0, options, NULL, silence) == 0) {
            status = collect(qh, points, count, hull, error);
        } else {
            status = cr_error_set(error, CR_ERR_RANGE, "points", "points: enclose no volume");
        }
        int current = 0;
        int total = 0;
        qh_freeqhull(qh, !qh_ALL);
        qh_memfreeshort(qh, &current, &total);
    } else {
        cr_error_set(error, status, "points", "points: out of memory");
    }
    if (silence != NULL) fclose(silence);
    free(qh);
    free(coordinates);
    return status;
}
