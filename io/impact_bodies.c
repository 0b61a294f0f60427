// impact_bodies.c - two bodies as JSON, and W and V of their contact.
//
// {"mass","inertia","position","orientation","velocity","omega","fixed"} twice, as "bodies": [a, b] or as "a"
// and "b", with "point". In two dimensions inertia is about z, orientation an angle and omega a number, and
// the third row and column of W are zero: nothing moves out of the plane.
// Fails: fields as in fields.h, called a.mass and so on; two bodies that cannot be a contact, as
// cr_collision_bodies says.
#include "io/impact_bodies.h"

#include "io/fields.h"

bool cr__has_bodies(const crJson* object) {
    return cr_json_get(object, "bodies") != NULL || cr_json_get(object, "a") != NULL ||
           cr_json_get(object, "b") != NULL;
}

const crJson* cr__body_of(const crJson* object, int index) {
    const crJson* list = cr_json_get(object, "bodies");
    if (list == NULL) return cr_json_get(object, index == 0 ? "a" : "b");
    const crJson* item = list->child;
    for (int i = 0; i < index && item != NULL; i++) {
        item = item->next;
    }
    return item;
}

static crStatus read_inertia(const crJson* value, const char* field, int dimension, crSym3* inertia,
                             crError* error) {
    *inertia = (crSym3){0};
    if (dimension == 2 || value->type == CR_JSON_NUMBER) {
        double moment = 0.0;
        crStatus status = cr_field_number(value, field, &moment, error);
        inertia->xx = inertia->yy = inertia->zz = moment;
        return status;
    }
    if (value->type != CR_JSON_ARRAY) {
        return cr_field_refuse(value, CR_ERR_TYPE, field, error,
                               "%s: must be a number, three principal moments or a 3x3 matrix, is %s", field,
                               cr_json_type_name(value->type));
    }
    if (value->child != NULL && value->child->type != CR_JSON_ARRAY) {
        crVec3 moments;
        crStatus status = cr_field_vector(value, field, 3, &moments, error);
        if (status != CR_OK) return status;
        inertia->xx = moments.x;
        inertia->yy = moments.y;
        inertia->zz = moments.z;
        return CR_OK;
    }
    return cr_field_symmetric(value, field, 3, inertia, error);
}

static crStatus read_orientation(const crJson* value, const char* field, int dimension, crQuat* q,
                                 crError* error) {
    if (dimension == 2) {
        double angle = 0.0;
        crStatus status = cr_field_number(value, field, &angle, error);
        *q = cr_quat_axis_angle(cr_vec3(0, 0, 1), angle);
        return status;
    }
    double wxyz[4] = {0};
    int count = 0;
    crStatus status = cr_field_numbers(value, field, 4, 4, wxyz, &count, error);
    *q = (crQuat){wxyz[0], wxyz[1], wxyz[2], wxyz[3]};
    return status;
}

static crStatus read_omega(const crJson* value, const char* field, int dimension, crVec3* omega,
                           crError* error) {
    if (dimension == 3) return cr_field_vector(value, field, 3, omega, error);
    *omega = cr_vec3(0, 0, 0);
    return cr_field_number(value, field, &omega->z, error);
}

// One body's JSON, and the full name of the field being read.
typedef struct Body {
    const crJson* object;
    const char* name;  // "a" or "b"
    char field[48];    // "a.mass" ...
} Body;

static const crJson* find_bodies(Body* from, const char* key) {
    snprintf(from->field, sizeof from->field, "%s.%s", from->name, key);
    return cr_json_get(from->object, key);
}

static crStatus read_fields(Body* from, int dimension, crRigid* body, crError* error) {
    crStatus status = CR_OK;
    const crJson* value = find_bodies(from, "mass");
    if (value != NULL) status = cr_field_number(value, from->field, &body->mass, error);
    if (status == CR_OK && (value = find_bodies(from, "inertia")) != NULL) {
        status = read_inertia(value, from->field, dimension, &body->inertia, error);
    }
    if (status == CR_OK && (value = find_bodies(from, "position")) != NULL) {
        status = cr_field_vector(value, from->field, dimension, &body->position, error);
    }
    if (status == CR_OK && (value = find_bodies(from, "orientation")) != NULL) {
        status = read_orientation(value, from->field, dimension, &body->orientation, error);
    }
    if (status == CR_OK && (value = find_bodies(from, "velocity")) != NULL) {
        status = cr_field_vector(value, from->field, dimension, &body->velocity, error);
    }
    if (status == CR_OK && (value = find_bodies(from, "omega")) != NULL) {
        status = read_omega(value, from->field, dimension, &body->omega, error);
    }
    if (status == CR_OK && (value = find_bodies(from, "fixed")) != NULL) {
        status = cr_field_bool(value, from->field, &body->fixed, error);
    }
    return status;
}

static crStatus read_body(const crJson* object, const char* name, int dimension, crRigid* body,
                          crError* error) {
    static const char* const known[] = {"mass",     "inertia", "position", "orientation",
                                        "velocity", "omega",   "fixed",    NULL};
    if (object->type != CR_JSON_OBJECT) {
        return cr_field_refuse(object, CR_ERR_TYPE, name, error, "%s: must be an object, is %s", name,
                               cr_json_type_name(object->type));
    }
    Body from = {.object = object, .name = name};
    find_bodies(&from, "");
    crStatus status = cr_field_known(object, from.field, known, error);
    *body = cr_rigid();
    if (status == CR_OK) status = read_fields(&from, dimension, body, error);
    if (status != CR_OK || body->fixed) return status;
    // mass and inertia of a free body cannot be guessed
    if (find_bodies(&from, "mass") == NULL || find_bodies(&from, "inertia") == NULL) {
        return cr_field_refuse(object, CR_ERR_MISSING, from.field, error,
                               "%s: is missing (only a fixed body needs none)", from.field);
    }
    return CR_OK;
}

// exactly one way of giving the bodies, and both of them
static crStatus check_pair(const crJson* object, crError* error) {
    const crJson* list = cr_json_get(object, "bodies");
    for (int i = 0; i < 2; i++) {
        const char* name = i == 0 ? "a" : "b";
        const crJson* body = cr_json_get(object, name);
        if (list != NULL && body != NULL) {
            return cr_field_refuse(body, CR_ERR_FIELD, name, error,
                                   "%s: cannot be given together with \"bodies\"", name);
        }
        if (list == NULL && body == NULL) {
            return cr_field_refuse(object, CR_ERR_MISSING, name, error,
                                   "%s: is missing, a contact needs two bodies", name);
        }
    }
    if (list != NULL && list->type != CR_JSON_ARRAY) {
        return cr_field_refuse(list, CR_ERR_TYPE, "bodies", error,
                               "bodies: must be a list of two bodies, is %s", cr_json_type_name(list->type));
    }
    if (list != NULL && list->count != 2) {
        return cr_field_refuse(list, CR_ERR_SIZE, "bodies", error, "bodies: must have 2 bodies, has %d",
                               list->count);
    }
    return CR_OK;
}

crStatus cr__read_bodies(const crJson* object, crImpact* impact, crError* error) {
    int dimension = impact->dimension;
    crStatus status = check_pair(object, error);
    if (status == CR_OK) status = read_body(cr__body_of(object, 0), "a", dimension, &impact->a, error);
    if (status == CR_OK) status = read_body(cr__body_of(object, 1), "b", dimension, &impact->b, error);
    if (status != CR_OK) return status;
    const crJson* point = cr_json_get(object, "point");
    if (point == NULL) {
        return cr_field_refuse(object, CR_ERR_MISSING, "point", error,
                               "point: is missing, two bodies need the point where they touch");
    }
    status = cr_field_vector(point, "point", dimension, &impact->point, error);
    if (status != CR_OK) return status;
    crCollision* c = &impact->collision;
    status = cr_collision_bodies(c, &impact->a, &impact->b, impact->point, error);
    for (int i = 0; i < 3 && dimension == 2; i++) {
        c->W.m[i][2] = c->W.m[2][i] = 0.0;
    }
    impact->has_bodies = true;
    return status;
}
