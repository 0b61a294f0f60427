// motion_predict.c - fitted values read back, set in a scene, and every toss of a file simulated with them.
//
// Errors are those of motion.h, toss by toss and as means. Fails: see motion_predict.h.
#include "fit/motion_predict.h"

#include <stdlib.h>
#include <string.h>

#include "fit/fit_file.h"
#include "fit/jobs.h"
#include "fit/motion_parts.h"
#include "io/fields.h"
#include "io/json_set.h"
#include "io/scene.h"

#define MOST_SUBSTEPS 10000

// reading

static crStatus read_settings(const crJson* root, crMotionChoice* c, crError* error) {
    const crJson *length = cr_json_get(root, "length"), *scale = cr_json_get(root, "scale");
    const crJson *substeps = cr_json_get(root, "substeps"), *body = cr_json_get(root, "body");
    double steps = 0.0;
    c->scale = 0.2;
    crStatus status = length != NULL ? cr_field_number(length, "length", &c->length, error) : CR_OK;
    if (status == CR_OK && scale != NULL) status = cr_field_number(scale, "scale", &c->scale, error);
    if (status == CR_OK && substeps != NULL) status = cr_field_number(substeps, "substeps", &steps, error);
    if (status == CR_OK && body != NULL) status = cr_field_text(body, "body", &c->body, error);
    if (status != CR_OK) return status;
    if (!(c->length >= 0.0))
        return cr_field_refuse(length, CR_ERR_RANGE, "length", error, "length: is %g, must be > 0 m",
                               c->length);
    if (!(c->scale > 0.0))
        return cr_field_refuse(scale, CR_ERR_RANGE, "scale", error, "scale: is %g, must be > 0", c->scale);
    if (!(steps >= 0.0 && steps <= MOST_SUBSTEPS && steps == floor(steps)))
        return cr_field_refuse(substeps, CR_ERR_RANGE, "substeps", error,
                               "substeps: is %g, must be a whole number from 0 to %d", steps, MOST_SUBSTEPS);
    c->substeps = (int)steps;
    c->scene = cr_json_get(root, "tree");
    return CR_OK;
}

static crStatus read_set(const crJson* law, crMotionChoice* c, crError* error) {
    c->set = cr_json_get(law, "set");
    if (c->set == NULL || c->set->type != CR_JSON_OBJECT)
        return cr_field_refuse(law, CR_ERR_MISSING, "set", error,
                               "set: must be an object of what to set in the scene");
    for (const crJson* value = c->set->child; value != NULL; value = value->next) {
        if (value->type != CR_JSON_NUMBER && value->type != CR_JSON_STRING)
            return cr_field_refuse(value, CR_ERR_TYPE, "set", error, "set: %.60s must be a number or a name",
                                   value->key);
    }
    c->misfit = cr__fit_number(law, "misfit");
    c->misfit_se = cr__fit_number(law, "misfit_se");
    c->loss = cr__fit_number(law, "loss");
    c->loss_se = cr__fit_number(law, "loss_se");
    return CR_OK;
}

crStatus cr_motion_choose(const crJson* root, const char* name, crMotionChoice* choice, crError* error) {
    *choice = (crMotionChoice){0};
    const crJson* kind = root->type == CR_JSON_OBJECT ? cr_json_get(root, "fit") : NULL;
    if (kind == NULL || kind->type != CR_JSON_STRING || strcmp(kind->text, "motion") != 0)
        return cr_field_refuse(kind != NULL ? kind : root, CR_ERR_NAME, "fit", error,
                               "fit: must be \"motion\" (carom fit motion --out writes such a file)");
    const crJson* law = NULL;
    crStatus status = cr__fit_find(root, name, &law, error);
    if (status == CR_OK) status = read_settings(root, choice, error);
    if (status != CR_OK) return status;
    choice->law = cr_json_get(law, "law")->text;
    return read_set(law, choice, error);
}

crStatus cr_motion_choice_model(const crMotionChoice* c, const crJson* scene, const crTosses* tosses,
                                crMotionModel* model, crError* error) {
    *model = (crMotionModel){0};
    if (scene == NULL) scene = c->scene;
    if (scene == NULL)
        return cr_error_set(error, CR_ERR_MISSING, "tree",
                            "tree: the file has no scene in it; name the scene it was fitted in");
    // as it was written first: its refusals have a place
    crScene given = {0};
    crStatus status = cr_scene_read(scene, &given, error);
    cr_scene_free(&given);
    if (status != CR_OK) return status;
    crJsonDoc doc = {0};
    char* text = cr__motion_text(scene);
    status = text != NULL ? cr_json_parse(text, strlen(text), 1, &doc, error)
                          : cr_error_set(error, CR_ERR_MEMORY, "tree", "tree: out of memory");
    free(text);
    for (const crJson* v = c->set->child; v != NULL && status == CR_OK; v = v->next) {
        char number[CR_JSON_NUMBER_TEXT];
        cr_json_number_text(v->number, number);
        status = cr_json_set(&doc, v->key, v->type == CR_JSON_STRING ? v->text : number, error);
    }
    const crMotionDef def = {
        .scene = doc.root, .tosses = tosses, .body = c->body, .length = c->length, .substeps = c->substeps};
    if (status == CR_OK) status = cr_motion_model_create(&def, NULL, model, error);
    cr_json_free(&doc);
    if (status != CR_OK) return status;
    model->scale = c->scale;
    return status;
}

// simulating

typedef struct Work {
    const crMotionModel* model;
    const double* values;
    const crMotionOptions* options;
    crMotionPrediction* out;
    crWorlds* worlds;
} Work;

static crStatus run_jobs(void* ctx, const int* jobs, int count, double* losses, int* failed, crError* error) {
    const Work* w = ctx;
    const crTosses* t = w->model->tosses;
    crMotionJob* tosses = calloc((size_t)count, sizeof *tosses);
    if (tosses == NULL) return cr_error_set(error, CR_ERR_MEMORY, "predict", "predict: out of memory");
    for (int i = 0; i < count; i++) {
        tosses[i] = (crMotionJob){w->values, jobs[i], &w->out->runs[jobs[i]],
                                  &w->out->poses[t->tosses[jobs[i]].first]};
    }
    int at = 0;
    crStatus status = cr__motion_simulate(w->model, w->worlds, tosses, count, &at, error);
    *failed = jobs[at];
    for (int i = 0; i < count; i++) {
        losses[jobs[i]] = tosses[i].run->position + tosses[i].run->rotation;
    }
    free(tosses);
    return status;
}

static bool watch(void* ctx, int done, int count) {
    const Work* w = ctx;
    return w->options->watch == NULL || w->options->watch(w->options->ctx, done, count);
}

static void summarize(crMotionPrediction* p, int count, double* values) {
    cr__motion_mean(values, count, &p->loss, &p->loss_se);
    for (int i = 0; i < count; i++) {
        values[i] = p->runs[i].misfit;
        p->position += p->runs[i].position / count;
        p->rotation += p->runs[i].rotation / count;
    }
    cr__motion_mean(values, count, &p->misfit, &p->misfit_se);
    p->worst = cr_motion_worst(p->runs, count);
}

crStatus cr_motion_predict(const crMotionModel* model, const double* values, const crMotionOptions* options,
                           crMotionPrediction* p, crError* error) {
    const crTosses* t = model->tosses;
    *p = (crMotionPrediction){.runs = calloc((size_t)t->count, sizeof *p->runs),
                              .poses = calloc((size_t)t->sample_count, sizeof *p->poses)};
    double* losses = calloc((size_t)t->count, sizeof *losses);
    crMotionWorlds worlds;
    crStatus status = cr__motion_worlds(&worlds, model, &options->device, options->threads, t->count, error);
    Work work = {model, values, options, p, &worlds.worlds};
    crJobs jobs = {.count = t->count,
                   .size = 1,
                   .run_many = run_jobs,
                   .together = worlds.worlds.room,
                   .ctx = &work,
                   .watch = watch};
    if (status == CR_OK && (p->runs == NULL || p->poses == NULL || losses == NULL))
        status = cr_error_set(error, CR_ERR_MEMORY, "predict", "predict: out of memory");
    if (status == CR_OK) status = cr_jobs_run(&jobs, losses, error);
    cr__motion_worlds_destroy(&worlds);
    if (status == CR_OK) summarize(p, t->count, losses);
    free(losses);
    if (status != CR_OK) cr_motion_prediction_destroy(p);
    return status;
}

void cr_motion_prediction_destroy(crMotionPrediction* p) {
    free(p->runs);
    free(p->poses);
    *p = (crMotionPrediction){0};
}
