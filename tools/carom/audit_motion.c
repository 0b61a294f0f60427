// audit_motion.c - carom audit SCENE TRAJECTORY: figures and verdict of a motion that came from anywhere.
#include <stdlib.h>

#include "auditing.h"
#include "command.h"
#include "stream.h"

static int refuse_file(const AuditOptions* o, const char* path, const crError* error) {
    if (o->json) {
        json_error(stdout, error);
    } else {
        text_error(path, error);
    }
    return error->status == CR_ERR_FILE ? EXIT_FILE : EXIT_BAD_INPUT;
}

static int write_files(const AuditedMotion* m) {
    const AuditOptions* o = m->options;
    size_t count = m->file->data.count;
    crError error = {0};
    crStatus status = CR_OK;
    if (o->per_step != NULL) status = csv_motion(o->per_step, m->model, m->steps, count, &error);
    if (status == CR_OK && o->plot != NULL) status = plot_motion(o->plot, o->path, m->steps, count, &error);
    if (status == CR_OK && o->report != NULL) status = report_motion(o->report, m, &error);
    return status == CR_OK ? EXIT_GOOD : file_refuse(&o->scene, &error);
}

static void print(const AuditedMotion* m) {
    AuditLines lines = {.file = stdout, .verdicts = true, .color = wants_color()};
    head_motion(m, &lines);
    putchar('\n');
    table_motion(m, &lines);
}

static int judge(const AuditOptions* o, const crModel* model, const crMotionFile* file) {
    crMotionReport report;
    crError error = {0};
    crMotionStep* steps = calloc(file->data.count, sizeof *steps);
    crStatus status = steps != NULL
                          ? cr_audit_motion(model, &file->data, &o->limits, NULL, steps, &report, &error)
                          : cr_error_set(&error, CR_ERR_MEMORY, "", "out of memory");
    if (status != CR_OK) {
        free(steps);
        return refuse_file(o, o->path, &error);
    }
    AuditedMotion audited = {o, model, file, steps, &report};
    if (o->json) {
        json_motion(stdout, o, model, &report, &file->data.digits);
    } else {
        print(&audited);
    }
    int written = write_files(&audited);
    free(steps);
    return written != EXIT_GOOD ? written : audit_status(cr_motion_holds(&report));
}

int audit_motion(AuditOptions* o) {
    crScene scene;
    crMotionFile file;
    crError error = {0};
    if (scene_open(&o->scene, &error) != CR_OK) return scene_refuse(&o->scene, &error);
    crStatus status = scene_read(&o->scene, &scene, &error);
    int result = status == CR_OK ? EXIT_GOOD : scene_refuse(&o->scene, &error);
    if (status == CR_OK) {
        status = cr_motion_read(o->path, scene.model, o->exact, &file, &error);
        result = status == CR_OK ? judge(o, scene.model, &file) : refuse_file(o, o->path, &error);
        if (status == CR_OK) cr_motion_file_free(&file);
        cr_scene_free(&scene);
    }
    scene_close(&o->scene);
    return result;
}
