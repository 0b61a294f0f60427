// scene_impact.c - what a scene says about impacts: rule and law, and the parameters of both.
//
// law_params and rule_params are checked whether or not the law and rule in use read them, so that --law and
// --rule may name another. eps and stiffness are for impacts with as many contacts as they have rows: other
// impacts take each contact's own e on the diagonal of eps, and equal stiffness. A wish is in the contact
// frame (n, t1, t2). Not to be had in a scene: points of ties, which are the contacts' own order, and a
// prescribed impulse, which belongs to one instant.
// Fails: the first field found wrong is refused by path, line and column.
#include <string.h>

#include "io/fields.h"
#include "io/impact_laws.h"
#include "io/names.h"
#include "io/scene_parts.h"

#define MOST_DIRECTIONS 1024
#define MOST_BUDGET     1000000
#define MOST_CONTACTS   1000
#define MOST_SEED       9007199254740992.0  // 2^53

// A built-in rule in a world: begins with its parameters, as every built-in one does.
typedef struct SceneRule {
    crRuleParams params;
    crRule rule;  // what does the work
    int eps_count, stiffness_count;
} SceneRule;

const char* cr__scene_name(const crPlace* place, const char* field, crSceneCatalogue catalogue) {
    const char* (*const catalogues[])(const void*, int) = {cr_name_rule, cr_name_law, cr_name_solver};
    const char* (*at)(const void*, int) = catalogues[catalogue];
    const char* typed = NULL;
    cr_place_text(place, field, &typed);
    if (typed == NULL || !cr_place_ok(place)) return NULL;
    for (int i = 0; at(NULL, i) != NULL; i++) {
        if (strcmp(typed, at(NULL, i)) == 0) return at(NULL, i);
    }
    const char* near = cr_name_nearest(typed, at, NULL);
    cr_place_refuse(place, cr_place_get(place, field), CR_ERR_NAME, field, "none is called \"%.40s\"%s%s%s",
                    typed, near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                    near != NULL ? "\"?" : "");
    return NULL;
}

// law

void cr__scene_law(const crPlace* impact, crScene* scene, crLaw* law) {
    static const char* const fields[] = {"ending", "cone", "nu",   "ratios", "psi1",    "psi2", "rho",
                                         "wish",   "eta2", "laws", "sigma",  "comment", NULL};
    const char* name = cr__scene_name(impact, "law", CR_SCENE_LAWS);
    crImpact* read = cr_arena_alloc(&scene->arena, sizeof *read);
    if (read == NULL) {
        cr__place_memory(impact);
        return;
    }
    *read = (crImpact){.dimension = 3,
                       .frame = cr_mat3_columns(cr_vec3(1, 0, 0), cr_vec3(0, 1, 0), cr_vec3(0, 0, 1)),
                       .params = cr_law_params()};
    crJson none = {.type = CR_JSON_OBJECT};
    crPlace place = {.object = &none, .trouble = impact->trouble};
    if (cr_place_into(impact, "law_params", &place)) cr_place_known(&place, fields);
    crError error = {0};
    if (cr_place_ok(impact) && cr__read_law_params(place.object, read, &error) != CR_OK)
        cr_place_blame(&place, error.field, &error);
    if (name != NULL && cr_place_ok(impact) && cr_law_find(name, &read->params, law, &error) != CR_OK)
        cr_place_blame(impact, "law", &error);
}

// rule

static int contacts_of(const crProblem* problem) {
    int count = 0;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        if (block->kind == CR_BLOCK_CONE) count++;
        if (block->kind == CR_BLOCK_UNILATERAL) count += block->count;
    }
    return count;
}

// each contact's own e on the diagonal
static double* diagonal(const crProblem* problem, int count, crArena* arena) {
    size_t entries = (size_t)count * (size_t)count;
    double* eps = cr_arena_alloc(arena, (entries + 1) * sizeof *eps);
    if (eps == NULL) return NULL;
    memset(eps, 0, entries * sizeof *eps);
    size_t at = 0;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        int normals = block->kind == CR_BLOCK_CONE ? 1 : block->count;
        if (block->kind != CR_BLOCK_CONE && block->kind != CR_BLOCK_UNILATERAL) continue;
        for (int k = 0; k < normals; k++, at++) {
            eps[at * (size_t)count + at] = block->e;
        }
    }
    return eps;
}

static crStatus resolve(const void* params, const crProblem* problem, crArena* arena, double* p,
                        crRuleReport* report, crError* error) {
    const SceneRule* own = params;
    crRuleParams fitted = own->params;
    int count = contacts_of(problem);
    if (fitted.eps != NULL && count != own->eps_count) {
        fitted.eps = diagonal(problem, count, arena);
        if (fitted.eps == NULL) return cr_error_set(error, CR_ERR_MEMORY, "eps", "eps: out of memory");
    }
    if (count != own->stiffness_count) fitted.stiffness = NULL;
    return own->rule.resolve(&fitted, problem, arena, p, report, error);
}

static void read_choices_impact(const crPlace* place, crRuleParams* p) {
    static const char* const mechanisms[] = {"intact", "apart", NULL};
    static const char* const ties[] = {"direction", "perturb", "random", NULL};
    static const char* const picks[] = {"nearest", "hull", "arc", NULL};
    static const char* const corners[] = {"concave", "convex", NULL};
    int choice[4] = {(int)p->mechanism, (int)p->ties, (int)p->pick, (int)p->corner};
    cr_place_choice(place, "mechanism", mechanisms, &choice[0]);
    cr_place_choice(place, "ties", ties, &choice[1]);
    cr_place_choice(place, "pick", picks, &choice[2]);
    cr_place_choice(place, "corner", corners, &choice[3]);
    p->mechanism = (crMechanism)choice[0];
    p->ties = (crTies)choice[1];
    p->pick = (crPick)choice[2];
    p->corner = (crCorner)choice[3];
    cr_place_bool(place, "extrapolate", &p->extrapolate);
    cr_place_bool(place, "hertz", &p->hertz);
}

static void read_numbers_impact(const crPlace* place, crRuleParams* p) {
    double seed = 0.0;
    cr_place_number(place, "seed", CR_NOT_NEGATIVE, &seed);
    if (!(seed <= MOST_SEED && floor(seed) == seed)) {
        cr_place_refuse(place, cr_place_get(place, "seed"), CR_ERR_RANGE, "seed",
                        "is %.17g, must be a whole number up to %.17g", seed, MOST_SEED);
        return;
    }
    p->seed = (uint64_t)seed;
    cr_place_whole(place, "budget", 0, MOST_BUDGET, &p->budget);
    cr_place_number(place, "threshold", CR_NOT_NEGATIVE, &p->threshold);
    cr_place_number(place, "tolerance", CR_POSITIVE, &p->tolerance);
    if (p->tolerance >= 1.0) {
        cr_place_refuse(place, cr_place_get(place, "tolerance"), CR_ERR_RANGE, "tolerance",
                        "is %.17g, must be above 0 and below 1", p->tolerance);
    }
    cr_place_direction(place, "direction", &p->direction);
    const crJson* cone = cr_place_get(place, "cone");
    if (cone == NULL || (cone->type == CR_JSON_STRING && strcmp(cone->text, "exact") == 0)) return;
    cr_place_whole(place, "cone", 3, MOST_DIRECTIONS, &p->directions);
}

// `count` numbers into an array of the scene; NULL where they are refused
static double* read_row_impact(const crPlace* place, const crJson* list, const char* field, double* into) {
    crError error = {0};
    int found = 0;
    if (cr_field_numbers(list, field, 0, list->count, into, &found, &error) == CR_OK) return into;
    cr_place_refuse(place, list, error.status, field, "must be numbers");
    return NULL;
}

static void read_eps_impact(const crPlace* place, crScene* scene, SceneRule* own) {
    const crJson* rows = cr_place_list(place, "eps", MOST_CONTACTS);
    if (rows == NULL) return;
    size_t k = (size_t)rows->count;
    double* eps = cr_arena_alloc(&scene->arena, (k * k + 1) * sizeof *eps);
    if (eps == NULL) {
        cr__place_memory(place);
        return;
    }
    double* into = eps;
    for (const crJson* row = rows->child; row != NULL; row = row->next, into += k) {
        if (row->type != CR_JSON_ARRAY || row->count != rows->count) {
            cr_place_refuse(place, row, row->type != CR_JSON_ARRAY ? CR_ERR_TYPE : CR_ERR_SIZE, "eps",
                            "must be a square matrix, a list of rows");
            return;
        }
        if (read_row_impact(place, row, "eps", into) == NULL) return;
    }
    own->params.eps = eps;
    own->eps_count = rows->count;
}

static void read_stiffness_impact(const crPlace* place, crScene* scene, SceneRule* own) {
    const crJson* list = cr_place_list(place, "stiffness", MOST_CONTACTS);
    if (list == NULL) return;
    double* stiffness = cr_arena_alloc(&scene->arena, ((size_t)list->count + 1) * sizeof *stiffness);
    if (stiffness == NULL) {
        cr__place_memory(place);
        return;
    }
    if (read_row_impact(place, list, "stiffness", stiffness) == NULL) return;
    for (int i = 0; i < list->count; i++) {
        if (stiffness[i] > 0.0) continue;
        cr_place_refuse(place, list, CR_ERR_RANGE, "stiffness", "entry %d is %.17g, must be > 0", i,
                        stiffness[i]);
    }
    own->params.stiffness = stiffness;
    own->stiffness_count = list->count;
}

// needs the law
static void read_rule(const crPlace* impact, crScene* scene) {
    static const char* const fields[] = {
        "mechanism", "ties",      "pick",      "corner", "extrapolate", "hertz",     "seed",    "budget",
        "threshold", "tolerance", "direction", "cone",   "eps",         "stiffness", "comment", NULL};
    crError error = {0};
    const char* name = cr__scene_name(impact, "rule", CR_SCENE_RULES);
    if (name != NULL && cr_rule_find(name, NULL, &scene->step.rule, &error) != CR_OK)
        cr_place_blame(impact, "rule", &error);
    crPlace place;
    if (!cr_place_into(impact, "rule_params", &place)) return;
    SceneRule* own = cr_arena_alloc(&scene->arena, sizeof *own);
    if (own == NULL) {
        cr__place_memory(impact);
        return;
    }
    *own = (SceneRule){.params = cr_rule_params(), .rule = scene->step.rule};
    cr_place_known(&place, fields);
    read_choices_impact(&place, &own->params);
    read_numbers_impact(&place, &own->params);
    read_eps_impact(&place, scene, own);
    read_stiffness_impact(&place, scene, own);
    own->params.law = scene->step.law;
    scene->step.rule = (crRule){own->rule.name, resolve, own};
}

void cr__scene_impact(const crPlace* root, crScene* scene) {
    static const char* const fields[] = {"rule",    "law",   "rule_params", "law_params", "threshold",
                                         "cluster", "limit", "locate",      "comment",    NULL};
    static const char* const located[] = {"small", "all", "none", NULL};
    int locate = (int)scene->step.locate;
    crPlace place;
    if (!cr_place_into(root, "impact", &place)) return;
    cr_place_known(&place, fields);
    cr__scene_law(&place, scene, &scene->step.law);
    read_rule(&place, scene);
    cr_place_number(&place, "threshold", CR_NOT_NEGATIVE, &scene->step.threshold);
    cr_place_number(&place, "cluster", CR_NOT_NEGATIVE, &scene->step.cluster);
    cr_place_whole(&place, "limit", 1, 1000000000, &scene->step.impact_limit);
    cr_place_choice(&place, "locate", located, &locate);
    scene->step.locate = (crLocate)locate;
}
