// resolve.c - an impact at many contacts from JSON, and the rules asked for run on it.
//
// M, v, contacts and joints become a problem (resolve_contacts.c); the other fields are those of
// crRuleParams. Parameters are read and checked whether or not a rule asked for uses them. After a rule, v+
// = v + inverse(M) (J^T p + impulse), also of each outcome of a set. Fails: the first field found wrong is
// refused by name, with its line and column; an answer that is not finite is refused as not-finite.
#include "io/resolve.h"

#include <string.h>

#include "io/fields.h"
#include "io/names.h"
#include "io/resolve_contacts.h"

#define MOST_DIRECTIONS 1024

static const char* const known_fields[] = {
    "rule", "M",      "v",      "contacts",  "joints",    "mechanism", "impulse",
    "eps",  "law",    "cone",   "ties",      "seed",      "direction", "threshold",
    "pick", "corner", "budget", "tolerance", "stiffness", "hertz",     "extrapolate",
    "e",    "mu",     "et",     "name",      "comment",   NULL};

// the catalogue's own copy of a name
static crStatus read_name_resolve(const crJson* value, const char* field, const char* (*at)(const void*, int),
                                  const char** name, crError* error) {
    const char* typed = NULL;
    crStatus status = cr_field_text(value, field, &typed, error);
    if (status != CR_OK) return status;
    for (int i = 0; at(NULL, i) != NULL; i++) {
        if (strcmp(typed, at(NULL, i)) != 0) continue;
        *name = at(NULL, i);
        return CR_OK;
    }
    const char* near = cr_name_nearest(typed, at, NULL);
    return near != NULL
               ? cr_field_refuse(value, CR_ERR_NAME, field, error,
                                 "%s: none is called \"%.60s\"; did you mean \"%s\"?", field, typed, near)
               : cr_field_refuse(value, CR_ERR_NAME, field, error, "%s: none is called \"%.60s\"", field,
                                 typed);
}

static crStatus read_rules(const crJson* object, crResolve* resolve, crError* error) {
    const crJson* value = cr_json_get(object, "rule");
    bool all = value == NULL || (value->type == CR_JSON_STRING && strcmp(value->text, "all") == 0);
    if (all) {
        while (resolve->rule_count < CR_RESOLVE_MAX_RULES &&
               cr_name_rule(NULL, resolve->rule_count) != NULL) {
            resolve->rules[resolve->rule_count] = cr_name_rule(NULL, resolve->rule_count);
            resolve->rule_count++;
        }
        return CR_OK;
    }
    if (value->type == CR_JSON_STRING) {
        resolve->rule_count = 1;
        return read_name_resolve(value, "rule", cr_name_rule, &resolve->rules[0], error);
    }
    if (value->type != CR_JSON_ARRAY) {
        return cr_field_refuse(value, CR_ERR_TYPE, "rule", error,
                               "rule: must be a name, a list of names or \"all\", is %s",
                               cr_json_type_name(value->type));
    }
    if (value->count < 1 || value->count > CR_RESOLVE_MAX_RULES) {
        return cr_field_refuse(value, CR_ERR_SIZE, "rule", error, "rule: must have 1 to %d names, has %d",
                               CR_RESOLVE_MAX_RULES, value->count);
    }
    crStatus status = CR_OK;
    for (const crJson* item = value->child; item != NULL && status == CR_OK; item = item->next) {
        status = read_name_resolve(item, "rule", cr_name_rule, &resolve->rules[resolve->rule_count++], error);
    }
    return status;
}

// one of a list of words, by its place; the list ends with NULL
static crStatus read_choice(const crJson* object, const char* field, const char* const* names, int* choice,
                            crError* error) {
    const crJson* value = cr_json_get(object, field);
    if (value == NULL) return CR_OK;
    const char* typed = NULL;
    crStatus status = cr_field_text(value, field, &typed, error);
    if (status != CR_OK) return status;
    char allowed[96] = "";
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(typed, names[i]) == 0) {
            *choice = i;
            return CR_OK;
        }
        size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s\"%s\"", i > 0 ? ", " : "", names[i]);
    }
    return cr_field_refuse(value, CR_ERR_NAME, field, error, "%s: is \"%.40s\", must be one of %s", field,
                           typed, allowed);
}

static crStatus read_choices(const crJson* object, crRuleParams* p, crError* error) {
    static const char* const mechanisms[] = {"intact", "apart", NULL};
    static const char* const ties[] = {"direction", "perturb", "random", NULL};
    static const char* const picks[] = {"nearest", "hull", "arc", NULL};
    static const char* const corners[] = {"concave", "convex", NULL};
    int choice[4] = {CR_MECHANISM_INTACT, CR_TIES_DIRECTION, CR_PICK_NEAREST, CR_CORNER_CONCAVE};
    crStatus status = read_choice(object, "mechanism", mechanisms, &choice[0], error);
    if (status == CR_OK) status = read_choice(object, "ties", ties, &choice[1], error);
    if (status == CR_OK) status = read_choice(object, "pick", picks, &choice[2], error);
    if (status == CR_OK) status = read_choice(object, "corner", corners, &choice[3], error);
    p->mechanism = (crMechanism)choice[0];
    p->ties = (crTies)choice[1];
    p->pick = (crPick)choice[2];
    p->corner = (crCorner)choice[3];
    const crJson* value = cr_json_get(object, "extrapolate");
    if (status == CR_OK && value != NULL)
        status = cr_field_bool(value, "extrapolate", &p->extrapolate, error);
    value = cr_json_get(object, "hertz");
    if (status == CR_OK && value != NULL) status = cr_field_bool(value, "hertz", &p->hertz, error);
    return status;
}

static crStatus read_whole(const crJson* object, const char* field, double least, double most, double* number,
                           crError* error) {
    const crJson* value = cr_json_get(object, field);
    if (value == NULL) return CR_OK;
    crStatus status = cr_field_number(value, field, number, error);
    if (status != CR_OK) return status;
    if (*number >= least && *number <= most && floor(*number) == *number) return CR_OK;
    return cr_field_refuse(value, CR_ERR_RANGE, field, error,
                           "%s: is %.17g, must be a whole number from %.17g to %.17g", field, *number, least,
                           most);
}

static crStatus read_cone_resolve(const crJson* object, crResolve* resolve, crError* error) {
    const crJson* value = cr_json_get(object, "cone");
    if (value == NULL || (value->type == CR_JSON_STRING && strcmp(value->text, "exact") == 0)) return CR_OK;
    if (value->type != CR_JSON_NUMBER) {
        return cr_field_refuse(value, value->type == CR_JSON_STRING ? CR_ERR_NAME : CR_ERR_TYPE, "cone",
                               error, "cone: must be \"exact\" or a number of directions");
    }
    double directions = 0.0;
    crStatus status = read_whole(object, "cone", 3.0, MOST_DIRECTIONS, &directions, error);
    resolve->params.directions = (int)directions;
    resolve->law_params.directions = (int)directions;
    return status;
}

static crStatus read_numbers_resolve(const crJson* object, crRuleParams* p, crError* error) {
    double seed = 0.0;
    double budget = 0.0;
    crStatus status = read_whole(object, "seed", 0.0, 9007199254740992.0, &seed, error);
    if (status == CR_OK) status = read_whole(object, "budget", 0.0, CR_RESOLVE_MAX_STEPS, &budget, error);
    p->seed = (uint64_t)seed;
    p->budget = (int)budget;
    const crJson* value = cr_json_get(object, "threshold");
    if (status == CR_OK && value != NULL) status = cr_field_number(value, "threshold", &p->threshold, error);
    if (status == CR_OK && p->threshold < 0.0) {
        status = cr_field_refuse(value, CR_ERR_RANGE, "threshold", error, "threshold: is %.17g, must be >= 0",
                                 p->threshold);
    }
    value = cr_json_get(object, "tolerance");
    if (status == CR_OK && value != NULL) status = cr_field_number(value, "tolerance", &p->tolerance, error);
    if (status == CR_OK && !(p->tolerance > 0.0 && p->tolerance < 1.0)) {
        status = cr_field_refuse(value, CR_ERR_RANGE, "tolerance", error,
                                 "tolerance: is %.17g, must be above 0 and below 1", p->tolerance);
    }
    value = cr_json_get(object, "direction");
    double x[3] = {1.0, 0.0, 0.0};
    int count = 0;
    if (status == CR_OK && value != NULL) {
        x[0] = 0.0;
        status = cr_field_numbers(value, "direction", 2, 3, x, &count, error);
    }
    p->direction = cr_vec3(x[0], x[1], x[2]);
    return status;
}

static crStatus no_memory_resolve(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "contacts", "contacts: out of memory");
}

// `count` numbers, or NULL where the field is not given
static crStatus read_vector_resolve(const crJson* object, const char* field, int count, crResolve* resolve,
                                    const double** vector, crError* error) {
    const crJson* value = cr_json_get(object, field);
    if (value == NULL) return CR_OK;
    double* numbers = cr_arena_alloc(&resolve->arena, (size_t)count * sizeof(double));
    if (numbers == NULL) return no_memory_resolve(error);
    *vector = numbers;
    return cr_field_numbers(value, field, count, count, numbers, &count, error);
}

static crStatus read_eps(const crJson* object, crResolve* resolve, crError* error) {
    const crJson* value = cr_json_get(object, "eps");
    int k = resolve->contact_count;
    if (value == NULL) return CR_OK;
    if (value->type != CR_JSON_ARRAY || value->count != k) {
        return cr_field_refuse(value, value->type != CR_JSON_ARRAY ? CR_ERR_TYPE : CR_ERR_SIZE, "eps", error,
                               "eps: must be a matrix with a row for each of %d contacts", k);
    }
    double* eps = cr_arena_alloc(&resolve->arena, (size_t)k * (size_t)k * sizeof(double));
    if (eps == NULL) return no_memory_resolve(error);
    crStatus status = CR_OK;
    int count = 0;
    int i = 0;
    for (const crJson* row = value->child; row != NULL && status == CR_OK; row = row->next, i++) {
        status = cr_field_numbers(row, "eps", k, k, eps + (size_t)i * (size_t)k, &count, error);
    }
    resolve->params.eps = eps;
    return status;
}

static crStatus read_stiffness(const crJson* object, crResolve* resolve, crError* error) {
    const double** stiffness = &resolve->params.stiffness;
    crStatus status =
        read_vector_resolve(object, "stiffness", resolve->contact_count, resolve, stiffness, error);
    for (int i = 0; status == CR_OK && *stiffness != NULL && i < resolve->contact_count; i++) {
        if ((*stiffness)[i] > 0.0) continue;
        status = cr_field_refuse(cr_json_get(object, "stiffness"), CR_ERR_RANGE, "stiffness", error,
                                 "stiffness: entry %d is %.17g, must be > 0", i, (*stiffness)[i]);
    }
    return status;
}

static crStatus read_law_resolve(const crJson* object, crResolve* resolve, crError* error) {
    const crJson* value = cr_json_get(object, "law");
    if (value == NULL) return CR_OK;
    const char* name = NULL;
    crStatus status = read_name_resolve(value, "law", cr_name_law, &name, error);
    if (status == CR_OK && strcmp(name, "composite") == 0) {
        return cr_field_refuse(value, CR_ERR_NAME, "law", error,
                               "law: composite needs laws of its own; name one");
    }
    if (status == CR_OK) status = cr_law_find(name, &resolve->law_params, &resolve->params.law, error);
    return status;
}

static crStatus read_texts_resolve(const crJson* object, crResolve* resolve, crError* error) {
    const char* ignored = NULL;
    crStatus status = CR_OK;
    const crJson* value = cr_json_get(object, "name");
    if (value != NULL) status = cr_field_text(value, "name", &resolve->name, error);
    value = cr_json_get(object, "comment");
    if (status == CR_OK && value != NULL) status = cr_field_text(value, "comment", &ignored, error);
    return status;
}

static crStatus read_all_resolve(const crJson* object, crResolve* resolve, crError* error) {
    crStatus status = cr_field_known(object, "", known_fields, error);
    if (status == CR_OK) status = read_texts_resolve(object, resolve, error);
    if (status == CR_OK) status = read_rules(object, resolve, error);
    if (status == CR_OK) status = read_choices(object, &resolve->params, error);
    if (status == CR_OK) status = read_numbers_resolve(object, &resolve->params, error);
    if (status == CR_OK) status = read_cone_resolve(object, resolve, error);
    if (status == CR_OK) status = read_law_resolve(object, resolve, error);
    if (status == CR_OK) status = cr__read_contacts(object, resolve, error);
    if (status == CR_OK) {
        status = read_vector_resolve(object, "impulse", resolve->problem.nv, resolve,
                                     &resolve->params.impulse, error);
    }
    if (status == CR_OK) status = read_eps(object, resolve, error);
    if (status == CR_OK) status = read_stiffness(object, resolve, error);
    return status;
}

// line and column of the field an error names, else of the object; the command calls directions "cone"
static void locate_resolve(const crJson* object, crError* error) {
    if (error == NULL || error->line != 0) return;
    const char* field = strcmp(error->field, "directions") == 0 ? "cone" : error->field;
    const crJson* where = cr_json_get(object, field);
    if (where == NULL &&
        (strcmp(field, "e") == 0 || strcmp(field, "mu") == 0 || strcmp(field, "blocks") == 0)) {
        where = cr_json_get(object, "contacts");
    }
    if (where == NULL) where = object;
    error->line = where->line;
    error->column = where->column;
}

crStatus cr_resolve_read(const crJson* object, crResolve* resolve, crError* error) {
    *resolve = (crResolve){.params = cr_rule_params(), .law_params = cr_law_params()};
    if (object->type != CR_JSON_OBJECT) {
        return cr_field_refuse(object, CR_ERR_TYPE, "", error,
                               "an impact must be an object {...}, one per line, is %s",
                               cr_json_type_name(object->type));
    }
    crAllocator allocator = cr_cap_allocator(&resolve->cap);
    crStatus status = cr_arena_create(&resolve->arena, &allocator, (size_t)1 << 16);
    if (status != CR_OK) {
        return cr_field_refuse(object, status, "", error, "%s", cr_status_text(status));
    }
    status = read_all_resolve(object, resolve, error);
    if (status == CR_OK) status = cr_problem_check(&resolve->problem, error);
    if (status != CR_OK) {
        locate_resolve(object, error);
        cr_resolve_free(resolve);
    }
    return status;
}

void cr_resolve_free(crResolve* resolve) {
    cr_arena_destroy(&resolve->arena);
    resolve->arena = (crArena){0};
}

// v + inverse(M) (J^T p + impulse)
static crStatus velocity_after(crResolve* resolve, const double* p, double* v) {
    const crProblem* problem = &resolve->problem;
    crStatus status = cr_problem_apply(problem, &resolve->arena, p, v);
    if (status != CR_OK || resolve->params.impulse == NULL) return status;
    size_t mark = cr_arena_mark(&resolve->arena);
    double* dv = cr_arena_alloc(&resolve->arena, (size_t)problem->nv * sizeof(double));
    if (dv == NULL) return CR_ERR_MEMORY;
    cr_matrix_mul(&problem->Minv, resolve->params.impulse, dv);
    for (int i = 0; i < problem->nv; i++) {
        v[i] += dv[i];
    }
    cr_arena_release(&resolve->arena, mark);
    return CR_OK;
}

static crStatus run(crResolve* resolve, const crRule* rule, crResolved* out, crError* error) {
    const crProblem* problem = &resolve->problem;
    crArena* arena = &resolve->arena;
    size_t nv = (size_t)problem->nv, rows = (size_t)problem->rows;
    double* p = cr_arena_alloc(arena, (rows + 1) * sizeof(double));
    double* v = cr_arena_alloc(arena, nv * sizeof(double));
    if (p == NULL || v == NULL) return no_memory_resolve(error);
    out->p = p;
    out->v = v;
    crStatus status = cr_rule_run(rule, problem, arena, p, &out->report, error);
    if (status == CR_OK) status = velocity_after(resolve, p, v);
    if (status != CR_OK || out->report.outcome_p == NULL) return status;
    size_t count = (size_t)out->report.outcome_count;
    double* outcomes = cr_arena_alloc(arena, count * nv * sizeof(double));
    if (outcomes == NULL) return no_memory_resolve(error);
    out->outcomes = outcomes;
    for (size_t i = 0; i < count && status == CR_OK; i++) {
        status = velocity_after(resolve, out->report.outcome_p + i * rows, outcomes + i * nv);
    }
    return status;
}

crStatus cr_resolve_run(const crJson* object, crResolve* resolve, int index, crResolved* out,
                        crError* error) {
    *out = (crResolved){0};
    crRule rule = {0};
    crStatus status = cr_rule_find(resolve->rules[index], &resolve->params, &rule, error);
    if (status == CR_OK) status = run(resolve, &rule, out, error);
    double seen = 0.0;
    for (int i = 0; i < resolve->problem.nv && status == CR_OK; i++) {
        seen += out->v[i] * 0.0;
    }
    if (status == CR_OK && !(seen == 0.0 && isfinite(out->report.energy_change))) {
        status = cr_error_set(error, CR_ERR_FINITE, "v", "v: the result is beyond double precision");
    }
    if (status != CR_OK && error != NULL && error->status == CR_OK) {
        cr_error_set(error, status, "", "%s", cr_status_text(status));
    }
    if (status != CR_OK) locate_resolve(object, error);
    return status;
}
