// scene_finish.c - scenes for those who cannot find hulls: every "hull" of points is written with its faces.
//
// Points go through the same function that reads them (cr__hull_of_points), and are written with all digits.
#include "io/scene_finish.h"

#include <stdlib.h>
#include <string.h>

#include "io/fields.h"
#include "io/scene_parts.h"

static bool is_unfinished(const crJson* value) {
    const crJson* type = value->type == CR_JSON_OBJECT ? cr_json_get(value, "type") : NULL;
    return type != NULL && type->type == CR_JSON_STRING && strcmp(type->text, "hull") == 0 &&
           cr_json_get(value, "faces") == NULL && cr_json_get(value, "points") != NULL;
}

static crStatus hull_of(const crJson* list, crHull** hull, crError* error) {
    crVec3* points = malloc(((size_t)list->count + 1) * sizeof *points);
    if (points == NULL) return cr_error_set(error, CR_ERR_MEMORY, "points", "points: out of memory");
    crStatus status = CR_OK;
    int count = 0;
    for (const crJson* item = list->child; item != NULL && status == CR_OK; item = item->next) {
        status = cr_field_vector(item, "points", 3, &points[count++], error);
    }
    if (status == CR_OK) status = cr__hull_of_points(points, count, hull, error);
    free(points);
    return status;
}

static void write_hull(FILE* file, const crHull* hull) {
    int count = 0;
    const crVec3* vertices = cr_hull_vertices(hull, &count);
    fputs("\"points\":[", file);
    for (int i = 0; i < count; i++) {
        const double x[3] = {vertices[i].x, vertices[i].y, vertices[i].z};
        for (int k = 0; k < 3; k++) {
            fputs(k > 0 ? "," : i > 0 ? ",[" : "[", file);
            cr_json_write_number(file, x[k]);
        }
        putc(']', file);
    }
    fputs("],\"faces\":[", file);
    const int* loop = NULL;
    for (int face = 0; (loop = cr_hull_face(hull, face, &count)) != NULL; face++) {
        for (int k = 0; k < count; k++) {
            fprintf(file, "%s%d", k > 0 ? "," : face > 0 ? ",[" : "[", loop[k]);
        }
        putc(']', file);
    }
    putc(']', file);
}

// the points with their faces instead of the points
static crStatus write_points(FILE* file, const crJson* points, crError* error) {
    crHull* hull = NULL;
    crStatus status = hull_of(points, &hull, error);
    if (status == CR_OK) write_hull(file, hull);
    cr_hull_destroy(hull);
    return status;
}

crStatus cr_scene_write_finished(FILE* file, const crJson* value, crError* error) {
    bool object = value->type == CR_JSON_OBJECT;
    if (!object && value->type != CR_JSON_ARRAY) {
        cr_json_write_tree(file, value);
        return CR_OK;
    }
    bool unfinished = is_unfinished(value);
    crStatus status = CR_OK;
    putc(object ? '{' : '[', file);
    for (const crJson* child = value->child; child != NULL && status == CR_OK; child = child->next) {
        if (child != value->child) putc(',', file);
        if (unfinished && strcmp(child->key, "points") == 0) {
            status = write_points(file, child, error);
            continue;
        }
        if (object) cr_json_write_string(file, child->key);
        if (object) putc(':', file);
        status = cr_scene_write_finished(file, child, error);
    }
    putc(object ? '}' : ']', file);
    return status;
}
