// resolve_contacts.c - M, v, contacts and joints of an impact into a problem with u_free = J v + w_hat.
//
// A contact has the rows n, [t1, [t2]] of J: without tangents it is a unilateral block, with them a cone. A
// joint is one row of J, or a list of rows that belong together; each is an equality block. e, mu and et
// come from the contact, else from the object (one number, or one per contact), else they are 0. Fails: the
// first field found wrong is refused as contacts[2].n and the like, with line and column.
#include "io/resolve_contacts.h"

#include <string.h>

#include "io/fields.h"

#define FIELD 48  // characters of crError.field

static crStatus no_memory_contacts(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "contacts", "contacts: out of memory");
}

static double* doubles_contacts(crResolve* resolve, size_t count) {
    return cr_arena_alloc(&resolve->arena, count * sizeof(double));
}

static crStatus missing_contacts(const crJson* where, const char* field, const char* what, crError* error) {
    return cr_field_refuse(where, CR_ERR_MISSING, field, error, "%s: is missing, %s", field, what);
}

static crStatus read_velocity(const crJson* object, crResolve* resolve, crError* error) {
    const crJson* value = cr_json_get(object, "v");
    if (value == NULL) return missing_contacts(object, "v", "the generalized velocities before", error);
    if (value->type == CR_JSON_ARRAY && value->count > CR_RESOLVE_MAX_NV) {
        return cr_field_refuse(value, CR_ERR_LIMIT, "v", error, "v: has %d numbers, allowed are %d",
                               value->count, CR_RESOLVE_MAX_NV);
    }
    double* v = doubles_contacts(resolve, CR_RESOLVE_MAX_NV);
    if (v == NULL) return no_memory_contacts(error);
    resolve->problem.v = v;
    return cr_field_numbers(value, "v", 1, CR_RESOLVE_MAX_NV, v, &resolve->problem.nv, error);
}

static crStatus check_symmetric(const crJson* value, double* M, int n, crError* error) {
    double largest = 0.0;
    double skew = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            largest = fmax(largest, fabs(M[i * n + j]));
            skew = fmax(skew, fabs(M[i * n + j] - M[j * n + i]));
        }
    }
    if (skew > 1e-9 * largest) {
        return cr_field_refuse(value, CR_ERR_SYMMETRY, "M", error,
                               "M: not symmetric, entries across the diagonal differ by %g (allowed: %g)",
                               skew, 1e-9 * largest);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            M[i * n + j] = M[j * n + i] = 0.5 * M[i * n + j] + 0.5 * M[j * n + i];
        }
    }
    return CR_OK;
}

static crStatus invert_contacts(const crJson* value, crResolve* resolve, crError* error) {
    crProblem* problem = &resolve->problem;
    crError inner = {0};
    crStatus status = cr_matrix_inverse(&problem->M, &resolve->arena, &problem->Minv, &inner);
    if (status != CR_OK) return cr_field_refuse(value, status, "M", error, "%s", inner.message);
    double seen = 0.0;
    for (int i = 0; i < problem->nv * problem->nv; i++) {
        seen += problem->Minv.value[i] * 0.0;
    }
    if (seen == 0.0) return CR_OK;
    return cr_field_refuse(value, CR_ERR_FINITE, "M", error, "M: its inverse is too large");
}

// a matrix, or a list of numbers for its diagonal
static crStatus read_mass_contacts(const crJson* object, crResolve* resolve, crError* error) {
    const crJson* value = cr_json_get(object, "M");
    int n = resolve->problem.nv;
    if (value == NULL) return missing_contacts(object, "M", "the inertia matrix, or its diagonal", error);
    if (value->type == CR_JSON_ARRAY && value->count != n) {
        return cr_field_refuse(value, CR_ERR_SIZE, "M", error,
                               "M: must have %d rows as v has numbers, has %d", n, value->count);
    }
    double* M = doubles_contacts(resolve, (size_t)n * (size_t)n);
    if (M == NULL) return no_memory_contacts(error);
    memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
    crStatus status = CR_OK;
    bool diagonal = value->type == CR_JSON_ARRAY && value->child->type == CR_JSON_NUMBER;
    int count = 0;
    if (value->type != CR_JSON_ARRAY || diagonal) {
        double* numbers = doubles_contacts(resolve, (size_t)n);
        if (numbers == NULL) return no_memory_contacts(error);
        status = cr_field_numbers(value, "M", n, n, numbers, &count, error);
        for (int i = 0; i < n && status == CR_OK; i++) {
            M[i * n + i] = numbers[i];
        }
    } else {
        int i = 0;
        for (const crJson* row = value->child; row != NULL && status == CR_OK; row = row->next, i++) {
            status = cr_field_numbers(row, "M", n, n, M + (size_t)i * (size_t)n, &count, error);
        }
    }
    if (status == CR_OK) status = check_symmetric(value, M, n, error);
    resolve->problem.M = (crMatrix){n, n, NULL, NULL, M};
    return status == CR_OK ? invert_contacts(value, resolve, error) : status;
}

// rows of a contact or joint before they are read: how many the text has
static int rows_of_contact(const crJson* contact) {
    const crJson* t = contact->type == CR_JSON_OBJECT ? cr_json_get(contact, "t") : NULL;
    return 1 + (t != NULL && t->type == CR_JSON_ARRAY ? t->count : 0);
}

static bool has_rows(const crJson* joint) {
    return joint->type == CR_JSON_ARRAY && joint->child != NULL && joint->child->type == CR_JSON_ARRAY;
}

static crStatus check_list(const crJson* list, const char* field, crError* error) {
    if (list == NULL || list->type == CR_JSON_ARRAY) return CR_OK;
    return cr_field_refuse(list, CR_ERR_TYPE, field, error, "%s: must be a list, is %s", field,
                           cr_json_type_name(list->type));
}

static crStatus count_rows(const crJson* contacts, const crJson* joints, crResolve* resolve, crError* error) {
    long rows = 0;
    for (const crJson* c = contacts->child; c != NULL; c = c->next) {
        rows += rows_of_contact(c);
    }
    for (const crJson* j = joints != NULL ? joints->child : NULL; j != NULL; j = j->next) {
        rows += has_rows(j) ? j->count : 1;
    }
    if (rows > CR_RESOLVE_MAX_ROWS) {
        return cr_field_refuse(contacts, CR_ERR_LIMIT, "contacts", error,
                               "contacts: and joints have %ld rows together, allowed are %d", rows,
                               CR_RESOLVE_MAX_ROWS);
    }
    crProblem* problem = &resolve->problem;
    problem->rows = (int)rows;
    resolve->contact_count = contacts->count;
    problem->block_count = contacts->count + (joints != NULL ? joints->count : 0);
    return CR_OK;
}

// value of e, mu or et given for all contacts: a number, or a list with one for each
static const crJson* common(const crJson* object, const char* key, int index) {
    const crJson* value = cr_json_get(object, key);
    if (value == NULL || value->type != CR_JSON_ARRAY) return value;
    value = value->child;
    while (index-- > 0 && value != NULL) {
        value = value->next;
    }
    return value;
}

static crStatus read_coefficient_contacts(const crJson* value, const char* field, double least, double most,
                                          double* number, crError* error) {
    bool unbounded = isinf(most);
    if (unbounded && value->type == CR_JSON_STRING && strcmp(value->text, "inf") == 0 &&
        strstr(field, "mu") != NULL) {
        *number = (double)INFINITY;
        return CR_OK;
    }
    crStatus status = cr_field_number(value, field, number, error);
    if (status != CR_OK || (*number >= least && *number <= most)) return status;
    return unbounded
               ? cr_field_refuse(value, CR_ERR_RANGE, field, error, "%s: is %.17g, must be >= %g", field,
                                 *number, least)
               : cr_field_refuse(value, CR_ERR_RANGE, field, error, "%s: is %.17g, must be between %g and %g",
                                 field, *number, least, most);
}

// e, mu and et of contact `index`: its own, else the object's
static crStatus read_coefficients_contacts(const crJson* object, const crJson* contact, int index,
                                           crBlock* block, crError* error) {
    struct {
        const char* key;
        double least, most;
        double* number;
    } fields[] = {{"e", 0.0, (double)INFINITY, &block->e},
                  {"mu", 0.0, (double)INFINITY, &block->mu},
                  {"et", -1.0, 1.0, &block->et}};
    for (int i = 0; i < 3; i++) {
        char field[FIELD];
        const crJson* value = cr_json_get(contact, fields[i].key);
        snprintf(field, sizeof field, "contacts[%d].%s", index, fields[i].key);
        if (value == NULL) {
            value = common(object, fields[i].key, index);
            snprintf(field, sizeof field, "%s", fields[i].key);
        }
        if (value == NULL) continue;
        crStatus status =
            read_coefficient_contacts(value, field, fields[i].least, fields[i].most, fields[i].number, error);
        if (status != CR_OK) return status;
        if (i == 1 && block->mu > 0.0 && block->kind != CR_BLOCK_CONE) {
            return cr_field_refuse(value, CR_ERR_MISSING, field, error,
                                   "%s: contact %d has no tangent t for friction to act along", field, index);
        }
    }
    block->mu2 = block->mu;
    return CR_OK;
}

// lists of e, mu and et for all contacts must have one entry for each
static crStatus check_common(const crJson* object, int contacts, crError* error) {
    static const char* const keys[] = {"e", "mu", "et"};
    for (int i = 0; i < 3; i++) {
        const crJson* value = cr_json_get(object, keys[i]);
        if (value == NULL || value->type != CR_JSON_ARRAY || value->count == contacts) continue;
        return cr_field_refuse(value, CR_ERR_SIZE, keys[i], error,
                               "%s: must be one number or one for each of %d contacts, has %d", keys[i],
                               contacts, value->count);
    }
    return CR_OK;
}

// the prescribed velocity: of the normal row, or of all
static crStatus read_w_hat(const crJson* contact, int index, const crBlock* block, double* u_free,
                           crError* error) {
    const crJson* value = cr_json_get(contact, "w_hat");
    if (value == NULL) return CR_OK;
    char field[FIELD];
    snprintf(field, sizeof field, "contacts[%d].w_hat", index);
    double w_hat[3] = {0};
    int count = 1;
    crStatus status = value->type == CR_JSON_NUMBER
                          ? cr_field_number(value, field, w_hat, error)
                          : cr_field_numbers(value, field, block->count, block->count, w_hat, &count, error);
    for (int k = 0; k < count && status == CR_OK; k++) {
        u_free[block->row + k] += w_hat[k];
    }
    return status;
}

// where the contact is: two or three coordinates; given for all contacts or for none
static crStatus read_point(const crJson* contact, int index, bool wanted, crVec3* point, crError* error) {
    const crJson* value = cr_json_get(contact, "point");
    char field[FIELD];
    snprintf(field, sizeof field, "contacts[%d].point", index);
    if ((value != NULL) != wanted) {
        return cr_field_refuse(value != NULL ? value : contact, CR_ERR_MISSING, field, error,
                               "%s: must be given for all contacts or for none", field);
    }
    if (value == NULL) return CR_OK;
    double x[3] = {0};
    int count = 0;
    crStatus status = cr_field_numbers(value, field, 2, 3, x, &count, error);
    *point = cr_vec3(x[0], x[1], x[2]);
    return status;
}

// rows n, t1, t2 of J
static crStatus read_rows_contacts(const crJson* contact, int index, int nv, double* J, crError* error) {
    char field[FIELD];
    const crJson* n = cr_json_get(contact, "n");
    const crJson* t = cr_json_get(contact, "t");
    snprintf(field, sizeof field, "contacts[%d].n", index);
    if (n == NULL)
        return missing_contacts(contact, field, "the row of J that gives the normal velocity", error);
    int count = 0;
    crStatus status = cr_field_numbers(n, field, nv, nv, J, &count, error);
    if (status != CR_OK || t == NULL) return status;
    snprintf(field, sizeof field, "contacts[%d].t", index);
    if (t->type != CR_JSON_ARRAY || t->count > 2) {
        return cr_field_refuse(t, t->type != CR_JSON_ARRAY ? CR_ERR_TYPE : CR_ERR_SIZE, field, error,
                               "%s: must be a list of at most 2 rows of J", field);
    }
    for (const crJson* row = t->child; row != NULL && status == CR_OK; row = row->next) {
        J += nv;
        status = cr_field_numbers(row, field, nv, nv, J, &count, error);
    }
    return status;
}

static crStatus read_contact(const crJson* object, const crJson* contact, int index, int row,
                             crResolve* resolve, double* J, crBlock* block, crError* error) {
    static const char* const known[] = {"n", "t", "e", "mu", "et", "w_hat", "point", "name", NULL};
    char prefix[FIELD];
    snprintf(prefix, sizeof prefix, "contacts[%d].", index);
    if (contact->type != CR_JSON_OBJECT) {
        return cr_field_refuse(contact, CR_ERR_TYPE, "contacts", error,
                               "contacts: each must be an object {...}, entry %d is %s", index,
                               cr_json_type_name(contact->type));
    }
    crStatus status = cr_field_known(contact, prefix, known, error);
    int nv = resolve->problem.nv;
    if (status == CR_OK) status = read_rows_contacts(contact, index, nv, J + (size_t)row * (size_t)nv, error);
    if (status != CR_OK) return status;
    int count = rows_of_contact(contact);
    *block = cr_block(count > 1 ? CR_BLOCK_CONE : CR_BLOCK_UNILATERAL, row, count);
    block->source = index;
    return read_coefficients_contacts(object, contact, index, block, error);
}

static crStatus read_joint_contacts(const crJson* joint, int index, int row, int nv, double* J,
                                    crBlock* block, crError* error) {
    char field[FIELD];
    snprintf(field, sizeof field, "joints[%d]", index);
    int count = has_rows(joint) ? joint->count : 1;
    *block = cr_block(CR_BLOCK_EQUALITY, row, count);
    block->source = index;
    crStatus status = CR_OK;
    int seen = 0;
    const crJson* line = has_rows(joint) ? joint->child : joint;
    for (int k = 0; k < count && status == CR_OK; k++, line = line->next) {
        status = cr_field_numbers(line, field, nv, nv, J + (size_t)(row + k) * (size_t)nv, &seen, error);
    }
    return status;
}

// memory for every row, then contacts and joints one by one
static crStatus read_blocks_contacts(const crJson* object, const crJson* contacts, const crJson* joints,
                                     crResolve* resolve, crError* error) {
    crProblem* problem = &resolve->problem;
    size_t rows = (size_t)problem->rows, nv = (size_t)problem->nv, blocks = (size_t)problem->block_count;
    double* J = doubles_contacts(resolve, rows * nv);
    double* u_free = doubles_contacts(resolve, rows);
    crBlock* block = cr_arena_alloc(&resolve->arena, blocks * sizeof *block);
    crVec3* points = cr_arena_alloc(&resolve->arena, (blocks + 1) * sizeof *points);
    if (J == NULL || u_free == NULL || block == NULL || points == NULL) return no_memory_contacts(error);
    memset(points, 0, (blocks + 1) * sizeof *points);
    crStatus status = CR_OK;
    int row = 0;
    int i = 0;
    for (const crJson* c = contacts->child; c != NULL && status == CR_OK; c = c->next, i++) {
        status = read_contact(object, c, i, row, resolve, J, &block[i], error);
        row += rows_of_contact(c);
    }
    int first = i;
    for (const crJson* j = joints != NULL ? joints->child : NULL; j != NULL && status == CR_OK;
         j = j->next, i++) {
        status = read_joint_contacts(j, i - first, row, problem->nv, J, &block[i], error);
        row += has_rows(j) ? j->count : 1;
    }
    if (status != CR_OK) return status;
    problem->J = (crMatrix){problem->rows, problem->nv, NULL, NULL, J};
    problem->blocks = block;
    problem->u_free = u_free;
    cr_matrix_mul(&problem->J, problem->v, u_free);
    bool placed = contacts->child != NULL && cr_json_get(contacts->child, "point") != NULL;
    i = 0;
    for (const crJson* c = contacts->child; c != NULL && status == CR_OK; c = c->next, i++) {
        status = read_w_hat(c, i, &block[i], u_free, error);
        if (status == CR_OK) status = read_point(c, i, placed, &points[i], error);
    }
    if (placed) resolve->params.points = points;
    return status;
}

crStatus cr__read_contacts(const crJson* object, crResolve* resolve, crError* error) {
    crStatus status = read_velocity(object, resolve, error);
    if (status == CR_OK) status = read_mass_contacts(object, resolve, error);
    const crJson* contacts = cr_json_get(object, "contacts");
    const crJson* joints = cr_json_get(object, "joints");
    if (status == CR_OK && contacts == NULL) {
        status = missing_contacts(object, "contacts", "a list of {\"n\": [...], ...}", error);
    }
    if (status == CR_OK) status = check_list(contacts, "contacts", error);
    if (status == CR_OK) status = check_list(joints, "joints", error);
    if (status == CR_OK) status = check_common(object, contacts->count, error);
    if (status == CR_OK) status = count_rows(contacts, joints, resolve, error);
    if (status == CR_OK) status = read_blocks_contacts(object, contacts, joints, resolve, error);
    return status;
}
