// problem_json.c - carom's own problem files: JSON, every field in docs/problem-files.md.
//
//     {"carom_problem": 1, "blocks": [{"kind", "rows", ...}, ...], "u_free": [...], "b": [...], "W": [[...]]}
//
// or J with M or Minv, and v, instead of W. Matrices are read by problem_json_matrix.c. inverse(M) is formed here,
// block by block. Fails: unknown and missing fields, wrong types and sizes, ranges, an M that is not symmetric or
// not positive definite: the first field found wrong is refused by name, with its line and column.
#include "io/problem_json.h"

#include <string.h>

static crStatus no_memory_json(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "problem", "problem: out of memory");
}

static double* doubles(crProblemFile* out, size_t count) {
    return cr_arena_alloc(&out->arena, count * sizeof(double));
}

// the polygon's vertices, appended to the problem's
static crStatus read_polygon(const crJson* value, const char* field, double (*vertices)[2], int* used,
                             crBlock* block, crError* error) {
    bool list = value->type == CR_JSON_ARRAY && value->packed == NULL;
    if (!list || value->count < 3) {
        return cr_field_refuse(value, list ? CR_ERR_SIZE : CR_ERR_TYPE, field, error,
                               "%s: must be a list of at least 3 vertices [x, y]", field);
    }
    block->vertex = *used;
    block->vertex_count = value->count;
    for (const crJson* vertex = value->child; vertex != NULL; vertex = vertex->next) {
        int count = 0;
        crStatus status = cr_field_numbers(vertex, field, 2, 2, vertices[(*used)++], &count, error);
        if (status != CR_OK) return status;
    }
    return CR_OK;
}

// a number within least..most; "inf" and "-inf" where that is within too
static crStatus read_bounded(const crJson* object, const char* prefix, const char* key, double least,
                             double most, double* number, crError* error) {
    const crJson* value = cr_json_get(object, key);
    if (value == NULL) return CR_OK;
    char field[48];
    snprintf(field, sizeof field, "%s%s", prefix, key);
    double inf = (double)INFINITY;
    bool named = value->type == CR_JSON_STRING && ((strcmp(value->text, "inf") == 0 && most == inf) ||
                                                   (strcmp(value->text, "-inf") == 0 && least == -inf));
    crStatus status = CR_OK;
    if (named) {
        *number = value->text[0] == '-' ? -inf : inf;
    } else {
        status = cr_field_number(value, field, number, error);
    }
    if (status != CR_OK || (*number >= least && *number <= most)) return status;
    if (most == inf) {
        return cr_field_refuse(value, CR_ERR_RANGE, field, error, "%s: is %.17g, must be >= %g", field,
                               *number, least);
    }
    return cr_field_refuse(value, CR_ERR_RANGE, field, error, "%s: is %.17g, must be between %g and %g",
                           field, *number, least, most);
}

// fields that a block of this kind has no use for are refused
static crStatus check_fields(const crJson* item, const char* prefix, crBlockKind kind, crError* error) {
    static const struct {
        const char* key;
        crBlockKind kind;
        const char* name;
    } special[] = {{"mu", CR_BLOCK_CONE, "cone"},      {"mu2", CR_BLOCK_CONE, "cone"},
                   {"polygon", CR_BLOCK_CONE, "cone"}, {"spin", CR_BLOCK_CONE, "cone"},
                   {"roll", CR_BLOCK_CONE, "cone"},    {"lo", CR_BLOCK_BOX, "box"},
                   {"hi", CR_BLOCK_BOX, "box"}};
    for (int i = 0; i < 7; i++) {
        const crJson* value = cr_json_get(item, special[i].key);
        if (value == NULL || special[i].kind == kind) continue;
        char field[48];
        snprintf(field, sizeof field, "%s%s", prefix, special[i].key);
        return cr_field_refuse(value, CR_ERR_FIELD, field, error, "%s: goes with blocks of kind \"%s\" only",
                               field, special[i].name);
    }
    return CR_OK;
}

static crStatus read_kind(const crJson* item, const char* prefix, crBlock* block, crError* error) {
    static const char* const names[] = {"equality", "unilateral", "box", "cone"};
    const crJson* value = cr_json_get(item, "kind");
    char field[48];
    snprintf(field, sizeof field, "%skind", prefix);
    const char* typed = NULL;
    if (value == NULL) {
        return cr_field_refuse(item, CR_ERR_MISSING, field, error,
                               "%s: is missing: \"equality\", \"unilateral\", \"box\" or \"cone\"", field);
    }
    crStatus status = cr_field_text(value, field, &typed, error);
    for (int i = 0; i < 4 && status == CR_OK; i++) {
        if (strcmp(typed, names[i]) != 0) continue;
        *block = cr_block((crBlockKind)i, 0, 1);
        return CR_OK;
    }
    if (status != CR_OK) return status;
    return cr_field_refuse(value, CR_ERR_NAME, field, error,
                           "%s: is \"%.40s\", must be \"equality\", \"unilateral\", \"box\" or \"cone\"",
                           field, typed);
}

static crStatus read_cone_json(const crJson* item, const char* prefix, double (*vertices)[2], int* used,
                               crBlock* block, crError* error) {
    double inf = (double)INFINITY;
    block->spin = cr_json_get(item, "spin") != NULL;
    block->roll = cr_json_get(item, "roll") != NULL;
    block->count = 3 + (block->spin ? 1 : 0) + (block->roll ? 2 : 0);
    crStatus status = read_bounded(item, prefix, "mu", 0.0, inf, &block->mu, error);
    block->mu2 = block->mu;
    if (status == CR_OK) status = read_bounded(item, prefix, "mu2", 0.0, inf, &block->mu2, error);
    if (status == CR_OK) status = read_bounded(item, prefix, "spin", 0.0, inf, &block->mu_spin, error);
    if (status == CR_OK) status = read_bounded(item, prefix, "roll", 0.0, inf, &block->mu_roll, error);
    const crJson* polygon = cr_json_get(item, "polygon");
    char field[48];
    snprintf(field, sizeof field, "%spolygon", prefix);
    if (status == CR_OK && polygon != NULL) {
        status = read_polygon(polygon, field, vertices, used, block, error);
    }
    return status;
}

static crStatus read_block(const crJson* item, int index, int row, double (*vertices)[2], int* used,
                           crBlock* block, crError* error) {
    static const char* const known[] = {"kind", "rows", "mu", "mu2", "polygon", "spin",
                                        "roll", "lo",   "hi", "e",   "et",      NULL};
    double inf = (double)INFINITY;
    char prefix[24];
    snprintf(prefix, sizeof prefix, "blocks[%d].", index);
    if (item->type != CR_JSON_OBJECT) {
        return cr_field_refuse(item, CR_ERR_TYPE, "blocks", error,
                               "blocks: entry %d must be an object {...}, is %s", index,
                               cr_json_type_name(item->type));
    }
    crStatus status = cr_field_known(item, prefix, known, error);
    if (status == CR_OK) status = read_kind(item, prefix, block, error);
    if (status == CR_OK) status = check_fields(item, prefix, block->kind, error);
    if (status != CR_OK) return status;
    block->row = row;
    block->source = index;
    if (block->kind == CR_BLOCK_CONE) status = read_cone_json(item, prefix, vertices, used, block, error);
    const crJson* rows = cr_json_get(item, "rows");
    if (status == CR_OK && rows != NULL) {
        char field[48];
        snprintf(field, sizeof field, "%srows", prefix);
        status = cr__json_whole(rows, field, 1, CR_PROBLEM_MAX_ROWS - row, &block->count, error);
    }
    if (status == CR_OK) status = read_bounded(item, prefix, "lo", -inf, inf, &block->lo, error);
    if (status == CR_OK) status = read_bounded(item, prefix, "hi", -inf, inf, &block->hi, error);
    if (status == CR_OK) status = read_bounded(item, prefix, "e", 0.0, inf, &block->e, error);
    if (status == CR_OK) status = read_bounded(item, prefix, "et", -1.0, 1.0, &block->et, error);
    return status;
}

static crStatus read_blocks(const crJson* object, crProblemFile* out, crError* error) {
    const crJson* list = cr_json_get(object, "blocks");
    if (list == NULL || list->type != CR_JSON_ARRAY || list->packed != NULL) {
        return cr_field_refuse(list != NULL ? list : object, list != NULL ? CR_ERR_TYPE : CR_ERR_MISSING,
                               "blocks", error, "blocks: must be given, a list of {\"kind\", \"rows\", ...}");
    }
    size_t most = 0;  // vertices
    for (const crJson* item = list->child; item != NULL; item = item->next) {
        const crJson* polygon = item->type == CR_JSON_OBJECT ? cr_json_get(item, "polygon") : NULL;
        if (polygon != NULL) most += (size_t)polygon->count;
    }
    double(*vertices)[2] = cr_arena_alloc(&out->arena, most * sizeof *vertices);
    crBlock* blocks = cr_arena_alloc(&out->arena, (size_t)list->count * sizeof *blocks);
    if (vertices == NULL || blocks == NULL) return no_memory_json(error);
    crProblem* problem = &out->problem;
    problem->blocks = blocks;
    problem->vertices = (const double(*)[2])vertices;
    int used = 0;
    crStatus status = CR_OK;
    for (const crJson* item = list->child; item != NULL && status == CR_OK; item = item->next) {
        crBlock* block = &blocks[problem->block_count];
        status = read_block(item, problem->block_count, problem->rows, vertices, &used, block, error);
        if (status != CR_OK) return status;
        problem->block_count++;
        problem->rows += block->count;
    }
    return CR_OK;
}

// `count` numbers, or NULL where the field is not given
static crStatus read_vector_json(const crJson* object, const char* field, int count, crProblemFile* out,
                                 const double** vector, crError* error) {
    const crJson* value = cr_json_get(object, field);
    if (value == NULL) return CR_OK;
    // the length first: memory follows the text, not the count asked for
    if (value->type == CR_JSON_ARRAY && value->count != count) {
        return cr_field_refuse(value, CR_ERR_SIZE, field, error, "%s: must have %d numbers, has %d", field,
                               count, value->count);
    }
    double* numbers = doubles(out, value->type == CR_JSON_ARRAY ? (size_t)count : 1);
    if (numbers == NULL) return no_memory_json(error);
    *vector = numbers;
    return cr_field_numbers(value, field, count, count, numbers, &count, error);
}

// inverse of M, refused at M
static crStatus invert(const crJson* where, crProblemFile* out, crError* error) {
    crError inner = {0};
    crProblem* problem = &out->problem;
    crStatus status = cr_matrix_inverse(&problem->M, &out->arena, &problem->Minv, &inner);
    return status == CR_OK ? CR_OK : cr_field_refuse(where, status, "M", error, "%s", inner.message);
}

static crStatus exclude(const crJson* object, const char* field, const char* other, crError* error) {
    const crJson* value = cr_json_get(object, field);
    if (value == NULL || cr_json_get(object, other) == NULL) return CR_OK;
    return cr_field_refuse(value, CR_ERR_FIELD, field, error, "%s: cannot be given together with %s", field,
                           other);
}

// J, M or Minv, v
static crStatus read_operator(const crJson* object, crProblemFile* out, crError* error) {
    crProblem* problem = &out->problem;
    const crJson* J = cr_json_get(object, "J");
    const crJson* M = cr_json_get(object, "M");
    const crJson* Minv = cr_json_get(object, "Minv");
    crStatus status = exclude(object, "Minv", "M", error);
    if (status == CR_OK && M == NULL && Minv == NULL) {
        status = cr_field_refuse(J, CR_ERR_MISSING, "M", error, "M: is missing; J goes with M or Minv");
    }
    if (status == CR_OK) status = cr__json_matrix(J, "J", &out->arena, &problem->J, error);
    if (status != CR_OK) return status;
    problem->nv = problem->J.cols;
    crMatrix* square = M != NULL ? &problem->M : &problem->Minv;
    status = cr__json_matrix(M != NULL ? M : Minv, M != NULL ? "M" : "Minv", &out->arena, square, error);
    if (status != CR_OK) return status;
    if (square->rows != problem->nv || square->cols != problem->nv) {
        return cr_field_refuse(M != NULL ? M : Minv, CR_ERR_SIZE, M != NULL ? "M" : "Minv", error,
                               "%s: is %d x %d, must be %d x %d as J has columns", M != NULL ? "M" : "Minv",
                               square->rows, square->cols, problem->nv, problem->nv);
    }
    if (M != NULL) status = invert(M, out, error);
    if (status == CR_OK) status = read_vector_json(object, "v", problem->nv, out, &problem->v, error);
    return status;
}

// u_free, or J v where it is not given
static crStatus read_u_free(const crJson* object, crProblemFile* out, crError* error) {
    crProblem* problem = &out->problem;
    crStatus status = read_vector_json(object, "u_free", problem->rows, out, &problem->u_free, error);
    if (status != CR_OK || problem->u_free != NULL) return status;
    if (problem->v == NULL || problem->J.rows != problem->rows) {
        return cr_field_refuse(object, CR_ERR_MISSING, "u_free", error,
                               "u_free: is missing, the velocities without impulses; J and v would give it");
    }
    double* u_free = doubles(out, (size_t)problem->rows);
    if (u_free == NULL) return no_memory_json(error);
    cr_matrix_mul(&problem->J, problem->v, u_free);
    problem->u_free = u_free;
    return CR_OK;
}

static crStatus read_heading(const crJson* object, crProblemFile* out, crError* error) {
    static const char* const known[] = {
        "carom_problem", "name", "comment", "blocks", "u_free", "b", "W", "J", "M",
        "Minv",          "v",    "raw",     "p",      "h",      NULL};
    if (object->type != CR_JSON_OBJECT) {
        return cr_field_refuse(object, CR_ERR_TYPE, "", error, "a problem must be an object {...}, is %s",
                               cr_json_type_name(object->type));
    }
    const crJson* version = cr_json_get(object, "carom_problem");
    int number = 0;
    if (version == NULL) {
        return cr_field_refuse(object, CR_ERR_MISSING, "carom_problem", error,
                               "carom_problem: is missing; a problem file has \"carom_problem\": 1");
    }
    crStatus status = cr__json_whole(version, "carom_problem", 1, 1, &number, error);
    if (status == CR_OK) status = cr_field_known(object, "", known, error);
    const char* text = NULL;
    const crJson* value = cr_json_get(object, "name");
    if (status == CR_OK && value != NULL) status = cr_field_text(value, "name", &text, error);
    if (text != NULL) snprintf(out->name, sizeof out->name, "%s", text);
    value = cr_json_get(object, "comment");
    if (status == CR_OK && value != NULL) status = cr_field_text(value, "comment", &text, error);
    value = cr_json_get(object, "raw");
    if (status == CR_OK && value != NULL) status = cr_field_bool(value, "raw", &out->problem.raw, error);
    value = cr_json_get(object, "h");
    if (status == CR_OK && value != NULL) status = cr_field_number(value, "h", &out->h, error);
    if (status == CR_OK && value != NULL && !(out->h > 0.0)) {
        status = cr_field_refuse(value, CR_ERR_RANGE, "h", error, "h: is %.17g, must be > 0", out->h);
    }
    return status;
}

static crStatus read_problem(const crJson* object, crProblemFile* out, crError* error) {
    crProblem* problem = &out->problem;
    crStatus status = read_heading(object, out, error);
    if (status == CR_OK) status = exclude(object, "J", "W", error);
    if (status == CR_OK) status = read_blocks(object, out, error);
    if (status != CR_OK) return status;
    const crJson* W = cr_json_get(object, "W");
    if (W == NULL && cr_json_get(object, "J") == NULL) {
        return cr_field_refuse(object, CR_ERR_MISSING, "W", error,
                               "W: is missing; give W, or J with M or Minv");
    }
    status = W != NULL ? cr__json_matrix(W, "W", &out->arena, &problem->W, error)
                       : read_operator(object, out, error);
    if (status == CR_OK) status = read_u_free(object, out, error);
    if (status == CR_OK) status = read_vector_json(object, "b", problem->rows, out, &problem->b, error);
    if (status == CR_OK) status = read_vector_json(object, "p", problem->rows, out, &out->p, error);
    return status;
}

crStatus cr__read_problem_json(const char* text, size_t size, crProblemFile* out, crError* error) {
    crJsonDoc doc;
    crError inner = {0};
    crStatus status = cr_json_parse_data(text, size, &doc, &inner);
    if (status == CR_OK) {
        status = read_problem(doc.root, out, &inner);
        if (status == CR_OK) status = cr_problem_check(&out->problem, &inner);
        if (status != CR_OK && inner.line == 0) {
            // what the check refuses is found again by its name
            const crJson* where = cr_json_get(doc.root, inner.field);
            if (where == NULL) where = cr_json_get(doc.root, "blocks");
            if (where == NULL) where = doc.root;
            inner.line = where->line;
            inner.column = where->column;
        }
        cr_json_free(&doc);
    }
    if (status != CR_OK && error != NULL) *error = inner;
    return status;
}
