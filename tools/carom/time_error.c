// time_error.c - carom run --time-error: the scene by steps of dt, dt/2 and dt/4, and what that says of its error.
#include "time_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

int time_errors_read(TimeErrors* t, const char* text) {
    const char* at = text;
    for (t->count = 0; t->count < MOST_TIMES;) {
        char* end = NULL;
        double time = strtod(at, &end);
        double least = t->count > 0 ? t->times[t->count - 1] : 0.0;
        if (end == at || !(time >= least && time < INFINITY)) break;
        t->times[t->count++] = time;
        if (*end == '\0') return EXIT_GOOD;
        if (*end != ',') break;
        at = end + 1;
    }
    return usage_error("run",
                       "--time-error needs up to %d ascending times >= 0, separated by commas, is '%s'",
                       MOST_TIMES, text);
}

crStatus time_errors_measure(TimeErrors* t, const crScene* scene, crError* error) {
    crWorld* world = NULL;
    crStatus status = cr_scene_world(scene, &world, error);
    if (status != CR_OK) return status;
    crWorldDef def = cr_world_def();
    def.model = scene->model;
    def.step = scene->step;
    t->errors = malloc((size_t)t->count * (size_t)scene->model->nb * sizeof *t->errors);
    status = t->errors != NULL
                 ? cr_time_error(&def, cr_world_state(world), t->count, t->times, t->errors, error)
                 : CR_ERR_MEMORY;
    cr_world_destroy(world);
    return status;
}

void time_errors_free(TimeErrors* t) {
    free(t->errors);
    t->errors = NULL;
}

static bool moves(const crModel* model, int body) { return model->bodies[body].last >= 0; }

void time_errors_print(FILE* file, const TimeErrors* t, const crScene* scene) {
    const crModel* model = scene->model;
    fprintf(file, "\nerror of steps of %.6g s, from steps of a half and a quarter:\n", scene->step.dt);
    fprintf(file, "  %-16s %9s %11s %11s %11s %11s %6s\n", "body", "time [s]", "pos [m]", "angle [rad]",
            "v [m/s]", "w [rad/s]", "order");
    for (int i = 0; i < t->count; i++) {
        for (int b = 1; b < model->nb; b++) {
            const crTimeError* e = &t->errors[i * model->nb + b];
            char name[32], order[16];
            if (!moves(model, b)) continue;
            snprintf(name, sizeof name, "%.16s", model->bodies[b].name != NULL ? model->bodies[b].name : "");
            if (name[0] == '\0') snprintf(name, sizeof name, "%d", b);
            snprintf(order, sizeof order, isnan(e->order) ? "-" : "%.1f", e->order);
            fputs("  ", file);
            print_plain(file, name);
            fprintf(file, "%*s %9.6g %11.3g %11.3g %11.3g %11.3g %6s\n", 16 - (int)strlen(name), "",
                    t->times[i], e->position, e->angle, e->velocity, e->spin, order);
        }
    }
}

static void member(FILE* file, const char* name, double value) {
    fprintf(file, ",\"%s\":", name);
    if (isfinite(value)) {
        fprintf(file, "%.17g", value);
    } else {
        fputs("null", file);
    }
}

void time_errors_json(FILE* file, const TimeErrors* t, const crScene* scene) {
    const crModel* model = scene->model;
    bool first = true;
    fputs("\"time_error\":[", file);
    for (int i = 0; i < t->count; i++) {
        for (int b = 1; b < model->nb; b++) {
            const crTimeError* e = &t->errors[i * model->nb + b];
            if (!moves(model, b)) continue;
            fprintf(file, "%s{\"body\":", first ? "" : ",");
            cr_json_write_string(file, model->bodies[b].name != NULL ? model->bodies[b].name : "");
            member(file, "time", t->times[i]);
            member(file, "position", e->position);
            member(file, "angle", e->angle);
            member(file, "velocity", e->velocity);
            member(file, "spin", e->spin);
            member(file, "order", e->order);
            putc('}', file);
            first = false;
        }
    }
    putc(']', file);
}
