// impact_laws.c - which laws, and their parameters beyond mu, e and et.
//
// Parameters are read and checked whether or not a law asked for uses them, so a mistake never hides. wish is
// turned into the contact frame. A composite's laws take their parameters from the same object.
// Fails: unknown-name with the nearest one, out-of-range, wrong types and sizes.
#include "io/impact_laws.h"

#include <string.h>

#include "io/fields.h"
#include "io/names.h"

#define MOST_DIRECTIONS 1024

// The catalogue's own copy of a name.
static crStatus read_law_name(const crJson* value, const char* field, const char** name, crError* error) {
    const char* typed = NULL;
    crStatus status = cr_field_text(value, field, &typed, error);
    if (status != CR_OK) return status;
    for (int i = 0; i < cr_law_count(); i++) {
        if (strcmp(typed, cr_name_law(NULL, i)) != 0) continue;
        *name = cr_name_law(NULL, i);
        return CR_OK;
    }
    const char* near = cr_name_nearest(typed, cr_name_law, NULL);
    return near != NULL
               ? cr_field_refuse(value, CR_ERR_NAME, field, error,
                                 "%s: no law is called \"%.60s\"; did you mean \"%s\"?", field, typed, near)
               : cr_field_refuse(value, CR_ERR_NAME, field, error,
                                 "%s: no law is called \"%.60s\"; `carom laws` lists them", field, typed);
}

static crStatus check_count(const crJson* list, const char* field, crError* error) {
    if (list->count >= 1 && list->count <= CR_IMPACT_MAX_LAWS) return CR_OK;
    return cr_field_refuse(list, CR_ERR_SIZE, field, error, "%s: must have 1 to %d names, has %d", field,
                           CR_IMPACT_MAX_LAWS, list->count);
}

static crStatus read_law(const crJson* object, crImpact* impact, crError* error) {
    const crJson* value = cr_json_get(object, "law");
    bool all = value == NULL || (value->type == CR_JSON_STRING && strcmp(value->text, "all") == 0);
    impact->many = all || value->type == CR_JSON_ARRAY;
    if (all) {
        while (impact->law_count < CR_IMPACT_MAX_LAWS && cr_name_law(NULL, impact->law_count) != NULL) {
            impact->laws[impact->law_count] = cr_name_law(NULL, impact->law_count);
            impact->law_count++;
        }
        return CR_OK;
    }
    if (value->type == CR_JSON_STRING) {
        impact->law_count = 1;
        return read_law_name(value, "law", &impact->laws[0], error);
    }
    if (value->type != CR_JSON_ARRAY) {
        return cr_field_refuse(value, CR_ERR_TYPE, "law", error,
                               "law: must be a name, a list of names or \"all\", is %s",
                               cr_json_type_name(value->type));
    }
    crStatus status = check_count(value, "law", error);
    for (const crJson* item = value->child; item != NULL && status == CR_OK; item = item->next) {
        status = read_law_name(item, "law", &impact->laws[impact->law_count++], error);
    }
    return status;
}

static crStatus read_ending(const crJson* object, crLawParams* params, crError* error) {
    static const char* const names[] = {"poisson", "newton", "energetic", NULL};
    static const crEnding endings[] = {CR_ENDING_POISSON, CR_ENDING_NEWTON, CR_ENDING_ENERGETIC};
    const crJson* value = cr_json_get(object, "ending");
    if (value == NULL) return CR_OK;
    const char* typed = NULL;
    crStatus status = cr_field_text(value, "ending", &typed, error);
    if (status != CR_OK) return status;
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(typed, names[i]) == 0) {
            params->ending = endings[i];
            return CR_OK;
        }
    }
    return cr_field_refuse(value, CR_ERR_NAME, "ending", error,
                           "ending: is \"%.40s\", must be \"poisson\", \"newton\" or \"energetic\"", typed);
}

static crStatus read_cone(const crJson* object, crLawParams* params, crError* error) {
    const crJson* value = cr_json_get(object, "cone");
    if (value == NULL || (value->type == CR_JSON_STRING && strcmp(value->text, "exact") == 0)) return CR_OK;
    if (value->type != CR_JSON_NUMBER) {
        return cr_field_refuse(value, value->type == CR_JSON_STRING ? CR_ERR_NAME : CR_ERR_TYPE, "cone",
                               error, "cone: must be \"exact\" or a number of directions");
    }
    double k = value->number;
    if (!(k >= 3.0 && k <= MOST_DIRECTIONS && floor(k) == k)) {
        return cr_field_refuse(value, CR_ERR_RANGE, "cone", error,
                               "cone: is %g, must be \"exact\" or a whole number from 3 to %d", k,
                               MOST_DIRECTIONS);
    }
    params->directions = (int)k;
    return CR_OK;
}

static crStatus read_in_range(const crJson* object, const char* field, double least, double most,
                              double* number, crError* error) {
    const crJson* value = cr_json_get(object, field);
    if (value == NULL) return CR_OK;
    crStatus status = cr_field_number(value, field, number, error);
    if (status != CR_OK || (*number >= least && *number <= most)) return status;
    return cr_field_refuse(value, CR_ERR_RANGE, field, error, "%s: is %.17g, must be between %g and %.17g",
                           field, *number, least, most);
}

static crStatus read_numbers(const crJson* object, crLawParams* p, crError* error) {
    crStatus status = read_in_range(object, "nu", 0.0, 1.0, &p->nu, error);
    if (status == CR_OK) status = read_in_range(object, "psi1", 0.0, CR_PI, &p->psi1, error);
    if (status == CR_OK) status = read_in_range(object, "psi2", 0.0, 2.0 * CR_PI, &p->psi2, error);
    if (status == CR_OK) status = read_in_range(object, "rho", 0.0, 1.0, &p->rho, error);
    if (status == CR_OK) status = read_in_range(object, "eta2", 1e-6, 1e6, &p->eta2, error);
    const crJson* ratios = cr_json_get(object, "ratios");
    if (status == CR_OK && ratios != NULL) {
        double pair[2] = {0};
        int count = 0;
        status = cr_field_numbers(ratios, "ratios", 2, 2, pair, &count, error);
        p->mu2 = pair[0];
        p->mu3 = pair[1];
    }
    return status;
}

static crStatus read_wish(const crJson* object, crImpact* impact, crError* error) {
    const crJson* value = cr_json_get(object, "wish");
    if (value == NULL) return CR_OK;
    crVec3 wish = {0};
    crStatus status = cr_field_vector(value, "wish", impact->dimension, &wish, error);
    impact->params.wish = cr_mat3_mul_t(impact->frame, wish);
    return status;
}

// laws of the composite into impact->parts
static crStatus read_parts(const crJson* object, crImpact* impact, crError* error) {
    const char* names[CR_IMPACT_MAX_LAWS] = {"chatterjee-ruina", "routh"};
    int count = 2;
    const crJson* list = cr_json_get(object, "laws");
    if (list != NULL) {
        if (list->type != CR_JSON_ARRAY) {
            return cr_field_refuse(list, CR_ERR_TYPE, "laws", error, "laws: must be a list of names, is %s",
                                   cr_json_type_name(list->type));
        }
        crStatus status = check_count(list, "laws", error);
        count = 0;
        for (const crJson* item = list->child; item != NULL && status == CR_OK; item = item->next) {
            status = read_law_name(item, "laws", &names[count], error);
            if (status == CR_OK && strcmp(names[count], "composite") == 0) {
                status = cr_field_refuse(item, CR_ERR_RANGE, "laws", error,
                                         "laws: a composite cannot be made of composites");
            }
            count++;
        }
        if (status != CR_OK) return status;
    }
    for (int i = 0; i < count; i++) {
        crStatus status = cr_law_find(names[i], &impact->params, &impact->parts[i], error);
        if (status != CR_OK) return status;
    }
    impact->params.law_count = count;
    impact->params.laws = impact->parts;
    impact->params.weights = impact->weights;
    return CR_OK;
}

static crStatus check_weights(const crJson* sigma, const double* weights, int count, crError* error) {
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        sum += weights[i];
        if (weights[i] >= 0.0 && weights[i] <= 1.0) continue;
        return cr_field_refuse(sigma, CR_ERR_RANGE, "sigma", error,
                               "sigma: a weight is %g, must be between 0 and 1", weights[i]);
    }
    if (fabs(sum - 1.0) <= 1e-9) return CR_OK;
    return cr_field_refuse(sigma, CR_ERR_RANGE, "sigma", error, "sigma: weights add up to %.12g, must be 1",
                           sum);
}

// one number s for weights s and 1 - s of two laws, or a list of weights
static crStatus read_sigma(const crJson* object, crImpact* impact, crError* error) {
    const crJson* value = cr_json_get(object, "sigma");
    int count = impact->params.law_count;
    double* weights = impact->weights;
    if (value != NULL && value->type == CR_JSON_ARRAY) {
        int given = 0;
        crStatus status = cr_field_numbers(value, "sigma", count, count, weights, &given, error);
        return status == CR_OK ? check_weights(value, weights, count, error) : status;
    }
    double s = 0.5;
    crStatus status = value != NULL ? read_in_range(object, "sigma", 0.0, 1.0, &s, error) : CR_OK;
    if (status != CR_OK) return status;
    if (count > 2) {
        return cr_field_refuse(value != NULL ? value : object, value != NULL ? CR_ERR_SIZE : CR_ERR_MISSING,
                               "sigma", error, "sigma: must be a list of %d weights for %d laws", count,
                               count);
    }
    weights[0] = count == 1 ? 1.0 : s;
    weights[1] = 1.0 - s;
    return CR_OK;
}

crStatus cr__read_law_params(const crJson* object, crImpact* impact, crError* error) {
    crStatus status = read_ending(object, &impact->params, error);
    if (status == CR_OK) status = read_cone(object, &impact->params, error);
    if (status == CR_OK) status = read_numbers(object, &impact->params, error);
    if (status == CR_OK) status = read_wish(object, impact, error);
    if (status == CR_OK) status = read_parts(object, impact, error);
    if (status == CR_OK) status = read_sigma(object, impact, error);
    return status;
}

crStatus cr__read_laws(const crJson* object, crImpact* impact, crError* error) {
    crStatus status = read_law(object, impact, error);
    return status == CR_OK ? cr__read_law_params(object, impact, error) : status;
}
