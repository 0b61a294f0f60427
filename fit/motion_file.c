// motion_file.c - what was fitted to motions as JSON, and the scene with the fitted values in it.
//
//     {"fit": "motion", "tosses": 55, "length": ..., "scale": ..., "substeps": 0, "tree": {the scene},
//      "laws": [{"law": "poisson", "parameters": {"mu": ...}, "intervals": {"mu": [lo, hi]},
//      "undetermined": [], "set": {"materials.cube.mu": ...}, "misfit": ..., "misfit_se": ..., "loss": ...,
//      "loss_se": ...}, ...]}
//
// The scene is as it was given, with what --set set in it and without what a law sets, so that the file alone
// is enough for predictions (motion_predict.h).
//
// Fails: file, memory; a file that is not whole is not left behind.
#include <string.h>

#include "fit/motion_fit.h"
#include "fit/motion_parts.h"

typedef struct Writing {
    FILE* file;
    double value;
    int count;
} Writing;

static crStatus write_set(void* ctx, const char* path, crError* error) {
    (void)error;
    Writing* w = ctx;
    fputs(w->count++ > 0 ? ", " : "", w->file);
    cr_json_write_string(w->file, path);
    fputs(": ", w->file);
    cr_json_write_number(w->file, w->value);
    return CR_OK;
}

static void write_number(FILE* file, const char* key, double value) {
    fprintf(file, ", \"%s\": ", key);
    cr_json_write_number(file, value);
}

static void write_values(FILE* file, const crMotionModel* m, const crMotionFit* fit) {
    fputs(", \"parameters\": {", file);
    for (int i = 0; i < fit->count; i++) {
        fprintf(file, "%s\"%s\": ", i > 0 ? ", " : "", m->params[i].name);
        cr_json_write_number(file, fit->fitted[i].value);
    }
    fputs("}, \"intervals\": {", file);
    for (int i = 0; i < fit->count; i++) {
        fprintf(file, "%s\"%s\": [", i > 0 ? ", " : "", m->params[i].name);
        cr_json_write_number(file, fit->fitted[i].lo);
        fputs(", ", file);
        cr_json_write_number(file, fit->fitted[i].hi);
        putc(']', file);
    }
    fputs("}, \"undetermined\": [", file);
    for (int i = 0, n = 0; i < fit->count; i++) {
        if (fit->fitted[i].determined == CR_DETERMINED) continue;
        fprintf(file, "%s\"%s\"", n++ > 0 ? ", " : "", m->params[i].name);
    }
    fputs("]", file);
}

void cr_motion_put_set(FILE* file, const crMotionModel* m, const crMotionLaw* law, const crMotionFit* fit) {
    crJsonDoc doc = {0};
    fputs("\"set\": {", file);
    Writing w = {.file = file};
    for (int i = 0; i < law->set_count; i++) {
        fputs(w.count++ > 0 ? ", " : "", file);
        fprintf(file, "\"%s\": \"%s\"", law->path[i], law->value[i]);
    }
    // read before: it cannot be refused now
    cr_json_parse(m->scene, strlen(m->scene), 1, &doc, NULL);
    for (int i = 0; i < fit->count && doc.root != NULL; i++) {
        w.value = fit->fitted[i].value;
        cr__motion_paths(doc.root, &m->params[i], write_set, &w, NULL);
    }
    cr_json_free(&doc);
    fputs("}", file);
}

static void write_law(FILE* file, const crMotionModel* m, const crMotionLaw* law, const crMotionFit* fit) {
    fputs("    {\"law\": ", file);
    cr_json_write_string(file, law->name);
    write_values(file, m, fit);
    fputs(", ", file);
    cr_motion_put_set(file, m, law, fit);
    write_number(file, "misfit", fit->cv);
    write_number(file, "misfit_se", fit->cv_se);
    write_number(file, "loss", fit->cv_loss);
    write_number(file, "loss_se", fit->cv_loss_se);
    putc('}', file);
}

void cr_motion_put_settings(FILE* file, const crMotionModel* m) {
    fputs("\"length\": ", file);
    cr_json_write_number(file, m->length);
    write_number(file, "scale", m->scale);
    fprintf(file, ", \"substeps\": %d", m->substeps);
    if (m->body_name != NULL) {
        fputs(", \"body\": ", file);
        cr_json_write_string(file, m->body_name);
    }
    fprintf(file, ",\n \"tree\": %s", m->scene);
}

crStatus cr_motion_write(const char* path, const crMotionModel* model, const crMotionLaw* const* laws,
                         const crMotionFit* const* fits, int count, crError* error) {
    FILE* file = fopen(path, "w");
    if (file != NULL) {
        fprintf(file, "{\"fit\": \"motion\", \"tosses\": %d, ", model->tosses->count);
        cr_motion_put_settings(file, model);
        fputs(",\n \"laws\": [\n", file);
        for (int i = 0; i < count; i++) {
            write_law(file, model, laws[i], fits[i]);
            fputs(i + 1 < count ? ",\n" : "\n", file);
        }
        fputs("]}\n", file);
    }
    return cr_fit_close(file, path, error);
}

crStatus cr_motion_write_scene(const char* path, const crMotionModel* model, const crMotionFit* fit,
                               crError* error) {
    double values[CR_MOTION_PARAMS];
    for (int i = 0; i < fit->count; i++) {
        values[i] = fit->fitted[i].value;
    }
    crJsonDoc doc = {0};
    crStatus status = cr__motion_tree(model, values, &doc, error);
    if (status != CR_OK) return status;
    FILE* file = fopen(path, "w");
    if (file != NULL) {
        cr_json_write_tree(file, doc.root);
        putc('\n', file);
    }
    cr_json_free(&doc);
    return cr_fit_close(file, path, error);
}
