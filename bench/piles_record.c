// piles_record.c - what an engine does in a scene, as files for `carom audit`: the scene as JSON, every step as CSV.
//
// Numbers are written with the digits that the engine computes with. Scenes of free bodies that are boxes or balls
// only, e = 0. Fails: false, with a line on standard error.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "piles.h"

static bool write_shape(FILE* file, const crShape* shape) {
    if (shape->kind == CR_SHAPE_SPHERE) {
        fprintf(file, "{\"type\": \"sphere\", \"r\": %.17g}", shape->size.x);
    } else if (shape->kind == CR_SHAPE_BOX) {
        fprintf(file, "{\"type\": \"box\", \"half\": [%.17g, %.17g, %.17g]}", shape->size.x, shape->size.y,
                shape->size.z);
    } else {
        return false;
    }
    return true;
}

static bool write_scene(FILE* file, const PilesScene* scene) {
    bool good = scene->joint_count == 0 && !scene->alone && scene->e == 0.0;
    fprintf(file, "{\"carom\": 1, \"gravity\": [0, 0, %.17g], \"step\": {\"dt\": %.17g},\n \"bodies\": [",
            -scene->gravity, scene->dt);
    for (int i = 0; i < scene->body_count; i++) {
        const PilesBody* b = &scene->bodies[i];
        fprintf(file,
                "%s\n  {\"name\": \"b%d\", \"pos\": [%.17g, %.17g, %.17g], \"quat\": [%.17g, %.17g, %.17g, "
                "%.17g],\n",
                i > 0 ? "," : "", i, b->pose.p.x, b->pose.p.y, b->pose.p.z, b->pose.q.w, b->pose.q.x,
                b->pose.q.y, b->pose.q.z);
        fprintf(file, "   \"mass\": %.17g, \"inertia\": [%.17g, %.17g, %.17g], \"shapes\": [", b->mass,
                b->inertia.x, b->inertia.y, b->inertia.z);
        good = write_shape(file, &b->shape) && b->role == PILES_FREE && good;
        fputs("]}", file);
    }
    fputs("],\n \"static\": [", file);
    for (int i = 0; i < scene->plane_count; i++) {
        crVec3 n = scene->planes[i].normal;
        fprintf(file, "%s{\"type\": \"halfspace\", \"n\": [%.17g, %.17g, %.17g], \"offset\": %.17g}",
                i > 0 ? ", " : "", n.x, n.y, n.z, scene->planes[i].offset);
    }
    fputs("]}\n", file);
    return good;
}

static void write_header(FILE* file, int count) {
    static const char* const names[] = {"x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                        "vx", "vy", "vz", "wx", "wy", "wz"};
    fputs("t", file);
    for (int i = 0; i < 13 * count; i++) {
        fprintf(file, ",b%d.%s", i / 13, names[i % 13]);
    }
    putc('\n', file);
}

static void write_row(FILE* file, double time, int count, const PilesMotion* motion, int digits) {
    fprintf(file, "%.17g", time);
    for (int i = 0; i < count; i++) {
        const PilesMotion* m = &motion[i];
        const double x[] = {m->pose.p.x, m->pose.p.y, m->pose.p.z, m->pose.q.w, m->pose.q.x,
                            m->pose.q.y, m->pose.q.z, m->v.x,      m->v.y,      m->v.z,
                            m->omega.x,  m->omega.y,  m->omega.z};
        for (int k = 0; k < 13; k++) {
            fprintf(file, ",%.*g", digits, x[k]);
        }
    }
    putc('\n', file);
}

static FILE* create(const char* folder, const char* scene, const char* engine, const char* end) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s%s%s%s", folder, scene, engine != NULL ? "-" : "",
             engine != NULL ? engine : "", end);
    for (char* at = path + strlen(folder); *at != '\0'; at++) {
        if (*at == ' ') *at = '-';
    }
    FILE* file = fopen(path, "w");
    if (file == NULL) fprintf(stderr, "bench piles: %s cannot be written\n", path);
    return file;
}

static bool run_engine(FILE* file, const PilesScene* scene, const PilesEngine* engine, double seconds) {
    PilesMotion* motion = calloc((size_t)scene->body_count, sizeof *motion);
    void* world = motion != NULL ? engine->create(engine, scene, 1) : NULL;
    bool good = world != NULL;
    write_header(file, scene->body_count);
    for (int i = 0; good && i * scene->dt <= seconds + 1e-9; i++) {
        if (i > 0) good = engine->step(world);
        engine->read(world, motion);
        write_row(file, i * scene->dt, scene->body_count, motion, engine->digits);
    }
    if (world != NULL) engine->destroy(world);
    free(motion);
    return good;
}

bool piles_record(const char* folder, const PilesScene* scene, const PilesEngine* const* engines, int count,
                  double seconds) {
    FILE* file = create(folder, scene->name, NULL, ".json");
    bool good = file != NULL && write_scene(file, scene);
    if (file != NULL) fclose(file);
    if (file != NULL && !good)
        fprintf(stderr, "bench piles: %s has more than free boxes and balls of e = 0\n", scene->name);
    for (int i = 0; i < count && good; i++) {
        file = create(folder, scene->name, engines[i]->name, ".csv");
        good = file != NULL && run_engine(file, scene, engines[i], seconds);
        if (file != NULL) fclose(file);
    }
    return good;
}
