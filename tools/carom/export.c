// export.c - scenes and trajectories for the page: finished scenes, and states over time as JSON.
//
// A trajectory is {"format": "carom-trajectory", "version": 1, "scene", "time", "q", "v"} with one row of q
// and v per time, and, where the file has them, "certificate" and "events". Fails: what the readers refuse; a
// trajectory without a scene, or of other bodies.
#include "export.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "audit_json.h"
#include "command.h"
#include "io/recording.h"
#include "io/scene_finish.h"
#include "options.h"
#include "stream.h"

bool export_is_trajectory(const char* path) {
    const char* dot = strrchr(path, '.');
    return dot != NULL && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".csv") == 0);
}

// -1: no option of these verbs; else the exit status so far
static int take_option(void* ctx, char* name, char* value) {
    ExportOptions* o = ctx;
    if (strcmp(name, "--json") == 0) return unknown_option(o->scene.verb, name);
    bool out = strcmp(name, o->out_name) == 0;
    if (!out && strcmp(name, "--scene") != 0) return -1;
    if (value == NULL) return usage_error(o->scene.verb, "%s needs a value", name);
    *(out ? &o->out : &o->of) = value;
    return EXIT_GOOD;
}

int export_arguments(ExportOptions* options, int count, char** arguments, void (*help)(void)) {
    return scene_arguments(&options->scene, count, arguments, help, take_option, options);
}

static void write_rows(FILE* file, const char* key, const double* rows, size_t count, int width) {
    fprintf(file, ",\n\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) putc(',', file);
        json_vector(file, rows + i * (size_t)width, width);
    }
    putc(']', file);
}

static void write_vec3(FILE* file, const char* key, crVec3 v) {
    fprintf(file, ",\"%s\":", key);
    json_vector(file, (const double[3]){v.x, v.y, v.z}, 3);
}

static void write_events(FILE* file, const crRecording* r) {
    fputs(",\n\"events\":[", file);
    for (size_t i = 0; i < r->event_count; i++) {
        const crEvent* e = &r->events[i];
        fputs(i > 0 ? ",{" : "{", file);
        json_number(file, true, "time", e->time);
        fprintf(file, ",\"a\":%d,\"b\":%d", e->body_a, e->body_b);
        json_number(file, false, "approach", e->approach);
        json_number(file, false, "energyChange", e->energy_change);
        write_vec3(file, "point", e->point);
        write_vec3(file, "impulse", e->impulse);
        putc('}', file);
    }
    putc(']', file);
}

static crStatus write_recording(FILE* file, const crRecording* r, const crJson* scene, crError* error) {
    fputs("{\"format\":\"carom-trajectory\",\"version\":1,\n\"scene\":", file);
    crStatus status = cr_scene_write_finished(file, scene, error);
    fputs(",\n\"time\":", file);
    json_vector(file, r->time, (int)r->count);
    write_rows(file, "q", r->q, r->count, r->nq);
    write_rows(file, "v", r->v, r->count, r->nv);
    if (r->certificate != NULL) write_rows(file, "certificate", r->certificate, r->count, 3);
    if (r->has_events) write_events(file, r);
    fputs("}\n", file);
    return status;
}

// the bodies of the scene are those of the file
static crStatus check_bodies(const crRecording* r, const crModel* model, crError* error) {
    if (r->count == 0) return cr_error_set(error, CR_ERR_MISSING, "time", "time: the file has no record");
    if (r->count > INT_MAX / 2) return cr_error_set(error, CR_ERR_LIMIT, "time", "time: too many records");
    if (r->nq == model->nq && r->nv == model->nv) return CR_OK;
    return cr_error_set(error, CR_ERR_SIZE, "scene",
                        "scene: has %d coordinates and %d velocities, the trajectory %d and %d", model->nq,
                        model->nv, r->nq, r->nv);
}

static crStatus open_scene(SceneInput* input, const char* path, const char* text, crError* error) {
    if (path == NULL) return cr_json_parse(text, strlen(text), 1, &input->doc, error);
    input->path = path;
    return scene_open(input, error);
}

static int write_trajectory(FILE* file, SceneInput* input, const char* scene_path) {
    const char* path = input->path;
    crRecording recording;
    crError error = {0};
    if (cr_recording_read(path, &recording, &error) != CR_OK) return scene_refuse(input, &error);
    crScene scene = {0};
    crStatus status = CR_OK;
    if (scene_path == NULL && recording.scene == NULL) {
        status = cr_error_set(&error, CR_ERR_MISSING, "scene",
                              "scene: the file does not carry its scene; say --scene SCENE");
    }
    if (status == CR_OK) status = open_scene(input, scene_path, recording.scene, &error);
    if (status == CR_OK) status = cr_scene_read(input->doc.root, &scene, &error);
    if (status == CR_OK) {
        status = check_bodies(&recording, scene.model, &error);
        input->path = path;
        if (status == CR_OK) status = write_recording(file, &recording, input->doc.root, &error);
        cr_scene_free(&scene);
    }
    int exit = status == CR_OK ? EXIT_GOOD : scene_refuse(input, &error);
    input->path = path;
    scene_close(input);
    cr_recording_free(&recording);
    return exit;
}

static int write_scene(FILE* file, SceneInput* input) {
    crScene scene = {0};
    crError error = {0};
    crStatus status = scene_open(input, &error);
    if (status == CR_OK) status = cr_scene_read(input->doc.root, &scene, &error);
    if (status == CR_OK) {
        cr_scene_free(&scene);
        status = cr_scene_write_finished(file, input->doc.root, &error);
        putc('\n', file);
    }
    int exit = status == CR_OK ? EXIT_GOOD : scene_refuse(input, &error);
    scene_close(input);
    return exit;
}

int export_text(SceneInput* input, const char* scene, char** text) {
    size_t size = 0;
    *text = NULL;
    FILE* file = open_memstream(text, &size);
    int exit = EXIT_FILE;
    if (file != NULL) {
        exit = export_is_trajectory(input->path) ? write_trajectory(file, input, scene)
                                                 : write_scene(file, input);
        if (fclose(file) == 0) return exit;
    }
    fprintf(stderr, "carom %s: out of memory\n", input->verb);
    return EXIT_FILE;
}
