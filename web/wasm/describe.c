// describe.c - a scene for the page to draw: settings, and bodies as plot/describe.c has them, as JSON.
//
// Fails: memory, by a shorter description.
#include <stdio.h>
#include <stdlib.h>

#include "audit_json.h"
#include "carom/dynamics.h"
#include "plot/describe.h"
#include "scene.h"
#include "stream.h"

#define SEGMENTS 32

static void put_settings(FILE* file, const PageScene* s) {
    const crStepSettings* step = &s->scene.step;
    fprintf(file, ",\"method\":\"%s\",\"rule\":\"%s\",\"law\":\"%s\",\"solver\":\"%s\"",
            cr_method_name(step->method), step->rule.name, step->law.name, step->solver.name);
    json_number(file, false, "dt", step->dt);
    json_number(file, false, "duration", s->scene.duration);
    json_number(file, false, "steps", s->steps);
    json_number(file, false, "begin", s->scene.time);
    fprintf(file, ",\"nq\":%d,\"nv\":%d,\"overlaps\":%d", s->scene.model->nq, s->scene.model->nv,
            s->scene.overlap_count);
}

// joints and masses, body by body
static void put_parts(FILE* file, const crModel* model) {
    fputs(",\"parts\":[", file);
    for (int i = 0; i < model->nb; i++) {
        const crBody* b = &model->bodies[i];
        fprintf(file, "%s{\"kind\":\"%s\",\"parent\":%d,\"q\":%d,\"nq\":%d,\"v\":%d,\"nv\":%d,\"forced\":%s",
                i > 0 ? "," : "", cr_joint_info(b->joint)->name, i > 0 ? b->parent : -1, b->q, b->nq, b->v,
                b->nv, b->last >= 0 ? "true" : "false");
        json_number(file, false, "mass", b->mass);
        putc('}', file);
    }
    putc(']', file);
}

static void put_name(FILE* file, bool first, const char* name) {
    fputs(first ? "{\"name\":" : ",{\"name\":", file);
    cr_json_write_string(file, name != NULL ? name : "");
}

static void put_controls(FILE* file, const crModel* model) {
    fputs(",\"actuators\":[", file);
    for (int i = 0; i < model->nu; i++) {
        const crActuator* a = &model->actuators[i];
        put_name(file, i == 0, a->name);
        json_number(file, false, "ctrl", a->ctrl);
        json_number(file, false, "lower", a->ctrl_lower);
        json_number(file, false, "upper", a->ctrl_upper);
        putc('}', file);
    }
    fputs("],\"sensors\":[", file);
    for (int i = 0; i < model->sensor_count; i++) {
        const crSensor* sensor = &model->sensors[i];
        put_name(file, i == 0, sensor->name);
        fprintf(file, ",\"kind\":\"%s\",\"first\":%d,\"size\":%d}", cr_sensor_kind_name(sensor->kind),
                sensor->first, sensor->count);
    }
    putc(']', file);
}

char* carom_scene_describe(PageScene* s) {
    if (s->error.status != CR_OK) return carom_scene_error(s);
    char* out = NULL;
    size_t length = 0;
    FILE* file = open_memstream(&out, &length);
    if (file == NULL) return NULL;
    fputs("{\"comment\":", file);
    cr_json_write_string(file, s->scene.comment != NULL ? s->scene.comment : "");
    put_settings(file, s);
    put_parts(file, s->scene.model);
    put_controls(file, s->scene.model);
    putc(',', file);
    cr_describe_model(file, s->scene.model, SEGMENTS);
    putc('}', file);
    fclose(file);
    return out;
}

char* carom_scene_error(PageScene* s) {
    char* out = NULL;
    size_t length = 0;
    FILE* file = open_memstream(&out, &length);
    if (file == NULL) return NULL;
    json_error(file, &s->error);
    fclose(file);
    return out;
}
