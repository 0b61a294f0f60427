// fit_file.c - fitted laws as JSON, best first, and one of them read back for predictions.
//
//     {"fit": "impacts", "rows": 1718, "laws": [{"law": "routh", "parameters": {"mu": ..., "e": ...},
//      "intervals": {"mu": [lo, hi], ...}, "undetermined": ["et"], "error": ..., "error_se": ...}, ...]}
//
// Fails: file; reading: what JSON fails with, missing-field, unknown-name (a law), unknown-field (a
// parameter), out-of-range (a value outside its range), all by line and column.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "fit/fit.h"
#include "fit/fit_file.h"
#include "io/fields.h"
#include "io/input.h"
#include "io/names.h"

static void write_number(FILE* file, const char* key, double value) {
    fprintf(file, "\"%s\": ", key);
    cr_json_write_number(file, value);
}

static void write_law(FILE* file, const crFit* fit) {
    fprintf(file, "    {\"law\": \"%s\", \"parameters\": {", fit->law.name);
    for (int i = 0, n = 0; i < CR_FIT_PARAMS; i++) {
        unsigned reads = fit->law.params | fit->law.spatial;
        if ((reads & (1u << i)) == 0) continue;
        fputs(n++ > 0 ? ", " : "", file);
        write_number(file, cr_fit_param_name((crFitParam)i), fit->theta.value[i]);
    }
    fputs("}, \"intervals\": {", file);
    for (int i = 0; i < fit->count; i++) {
        const crFitted* f = &fit->fitted[i];
        fprintf(file, "%s\"%s\": [", i > 0 ? ", " : "", cr_fit_param_name(f->param));
        cr_json_write_number(file, f->lo);
        fputs(", ", file);
        cr_json_write_number(file, f->hi);
        putc(']', file);
    }
    fputs("}, \"undetermined\": [", file);
    for (int i = 0, n = 0; i < fit->count; i++) {
        if (fit->fitted[i].determined == CR_DETERMINED) continue;
        fprintf(file, "%s\"%s\"", n++ > 0 ? ", " : "", cr_fit_param_name(fit->fitted[i].param));
    }
    fputs("], ", file);
    write_number(file, "error", fit->cv);
    fputs(", ", file);
    write_number(file, "error_se", fit->cv_se);
    putc('}', file);
}

void cr_fit_discard(const char* path) {
    struct stat at;
    if (stat(path, &at) == 0 && S_ISREG(at.st_mode)) remove(path);
}

crStatus cr_fit_close(FILE* file, const char* path, crError* error) {
    bool bad = file == NULL || ferror(file);
    if (file != NULL) bad |= fclose(file) != 0;
    if (!bad) return CR_OK;
    crStatus status =
        cr_error_set(error, CR_ERR_FILE, "out", "out: cannot write %.120s: %s", path, strerror(errno));
    if (file != NULL) cr_fit_discard(path);
    return status;
}

crStatus cr_fit_write(const char* path, const crFit* const* fits, int count, const crImpacts* impacts,
                      crError* error) {
    FILE* file = fopen(path, "w");
    if (file != NULL) {
        fprintf(file, "{\"fit\": \"impacts\", \"rows\": %d, \"laws\": [\n", impacts->count);
        for (int i = 0; i < count; i++) {
            write_law(file, fits[i]);
            fputs(i + 1 < count ? ",\n" : "\n", file);
        }
        fputs("]}\n", file);
    }
    return cr_fit_close(file, path, error);
}

static crStatus read_parameters(const crJson* law, crFitChoice* choice, crError* error) {
    const crJson* given = cr_json_get(law, "parameters");
    if (given == NULL || given->type != CR_JSON_OBJECT)
        return cr_field_refuse(law, CR_ERR_MISSING, "parameters", error,
                               "parameters: must be an object of numbers");
    choice->theta = cr_fit_theta();
    for (const crJson* p = given->child; p != NULL; p = p->next) {
        int i = 0;
        while (i < CR_FIT_PARAMS && strcmp(cr_fit_param_name((crFitParam)i), p->key) != 0) {
            i++;
        }
        if (i == CR_FIT_PARAMS)
            return cr_field_refuse(p, CR_ERR_FIELD, "parameters", error, "parameters: '%.40s' is none",
                                   p->key);
        crStatus status = cr_field_number(p, p->key, &choice->theta.value[i], error);
        if (status != CR_OK) return status;
        double lo, hi;
        cr_fit_param_range((crFitParam)i, &lo, &hi);
        // a value at the end of its range may be off by rounding
        double slack = 1e-9 * (hi - lo);
        if (!(choice->theta.value[i] >= lo - slack && choice->theta.value[i] <= hi + slack))
            return cr_field_refuse(p, CR_ERR_RANGE, p->key, error, "%s: is %g, must be from %g to %g", p->key,
                                   choice->theta.value[i], lo, hi);
    }
    return CR_OK;
}

double cr__fit_number(const crJson* object, const char* key) {
    const crJson* number = cr_json_get(object, key);
    return number != NULL && number->type == CR_JSON_NUMBER ? number->number : (double)NAN;
}

crStatus cr__fit_find(const crJson* root, const char* name, const crJson** found, crError* error) {
    const crJson* laws = root->type == CR_JSON_OBJECT ? cr_json_get(root, "laws") : NULL;
    if (laws == NULL || laws->type != CR_JSON_ARRAY || laws->child == NULL)
        return cr_field_refuse(root, CR_ERR_MISSING, "laws", error,
                               "laws: must be a list of fitted laws (carom fit --out writes one)");
    for (const crJson* law = laws->child; law != NULL; law = law->next) {
        const crJson* called = law->type == CR_JSON_OBJECT ? cr_json_get(law, "law") : NULL;
        const char* text = NULL;
        if (called == NULL) return cr_field_refuse(law, CR_ERR_MISSING, "law", error, "law: must be named");
        crStatus status = cr_field_text(called, "law", &text, error);
        if (status != CR_OK) return status;
        *found = law;
        if (name == NULL || strcmp(text, name) == 0) return CR_OK;
    }
    return cr_field_refuse(laws, CR_ERR_NAME, "law", error, "law: '%.60s' is not in the file", name);
}

crStatus cr_fit_choose(const crJson* root, const char* name, crFitChoice* choice, crError* error) {
    *choice = (crFitChoice){0};
    const crJson* law = NULL;
    crStatus status = cr__fit_find(root, name, &law, error);
    if (status != CR_OK) return status;
    const crJson* called = cr_json_get(law, "law");
    choice->law = cr_fit_law_find(called->text);
    if (choice->law.law == NULL)
        return cr_field_refuse(called, CR_ERR_NAME, "law", error, "law: '%.60s' is none that can be fitted",
                               called->text);
    choice->cv = cr__fit_number(law, "error");
    choice->cv_se = cr__fit_number(law, "error_se");
    return read_parameters(law, choice, error);
}

crStatus cr_fit_read(const char* path, const char* name, crFitChoice* choice, crError* error) {
    *choice = (crFitChoice){0};
    crInput input;
    crStatus status = cr_input_open(&input, path, error);
    if (status != CR_OK) return status;
    crJsonDoc doc = {0};
    crError local = {0};
    int line = 0;
    if (!cr_input_next(&input, &doc, &line, &local)) {
        status = cr_error_set(&local, CR_ERR_SYNTAX, "", "the file is empty");
    } else if (doc.root == NULL) {
        status = local.status;
    } else {
        status = cr_fit_choose(doc.root, name, choice, &local);
    }
    cr_json_free(&doc);
    cr_input_close(&input);
    if (error != NULL) *error = local;
    return status;
}
