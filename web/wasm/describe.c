// describe.c - a scene for the page to draw: settings, and bodies as plot/describe.c has them, as JSON.
//
// Fails: memory, by a shorter description.
#include <stdio.h>
#include <stdlib.h>

#include "audit_json.h"
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
    fprintf(file, ",\"nq\":%d,\"nv\":%d,\"overlaps\":%d", s->scene.model->nq, s->scene.model->nv,
            s->scene.overlap_count);
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
