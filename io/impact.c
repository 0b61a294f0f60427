// impact.c - one collision from JSON: every field read, checked and brought into the contact frame.
//
// n says whether vectors have 2 or 3 components. Then W (or m = W^-1, or two bodies) and V, the coefficients,
// the frame, the parameters of laws and the laws asked for. Ranges of W, V, n, mu, e, et and frame are
// checked by cr_collision_contact, so that the command and the library refuse the same input.
// Fails: the first field found wrong is refused by name, with its line and column.
#include "io/impact.h"
#include "io/scene_coefficient.h"

#include <string.h>

#include "io/fields.h"
#include "io/impact_bodies.h"
#include "io/impact_laws.h"

static const char* const known_fields[] = {
    "law",    "W",      "m",    "V",   "n",     "mu",   "e",     "et",      "normalize", "frame",
    "spin",   "bodies", "a",    "b",   "point", "laws", "sigma", "ending",  "cone",      "nu",
    "ratios", "psi1",   "psi2", "rho", "wish",  "eta2", "name",  "comment", NULL};

// Line and column of the field an error names: that of its value, else that of the object.
static void locate(const crJson* object, crError* error) {
    if (error == NULL || error->line != 0) return;
    const crJson* where = NULL;
    const char* field = error->field;
    if ((field[0] == 'a' || field[0] == 'b') && field[1] == '.') {
        const crJson* body = cr__body_of(object, field[0] == 'b');
        where = body != NULL ? cr_json_get(body, field + 2) : NULL;
        if (where == NULL) where = body;
    } else {
        where = cr_json_get(object, field);
        if (where == NULL && strcmp(field, "W") == 0) where = cr_json_get(object, "m");
    }
    if (where == NULL) where = object;
    error->line = where->line;
    error->column = where->column;
}

static crStatus read_dimension_impact(const crJson* object, crImpact* impact, crError* error) {
    const crJson* n = cr_json_get(object, "n");
    if (n == NULL) {
        return cr_field_refuse(object, CR_ERR_MISSING, "n", error,
                               "n: is missing, the unit normal from body a to body b");
    }
    double numbers[3] = {0};
    crStatus status = cr_field_numbers(n, "n", 2, 3, numbers, &impact->dimension, error);
    impact->collision.n = cr_vec3(numbers[0], numbers[1], numbers[2]);
    return status;
}

// a form or a table of one coefficient
static crStatus read_curve(const crJson* value, const char* name, crCurveRoom* room, const crCurve** to,
                           crError* error) {
    crStatus status = cr__read_coefficient(value, name, room, error);
    if (status == CR_OK) *to = &room->curve;
    return status;
}

static crStatus read_mu(const crJson* value, crImpact* impact, crError* error) {
    double* mu = &impact->collision.mu;
    if (value->type == CR_JSON_STRING && strcmp(value->text, "inf") == 0) {
        *mu = (double)INFINITY;
        return CR_OK;
    }
    if (value->type == CR_JSON_NUMBER) return cr_field_number(value, "mu", mu, error);
    if (value->type == CR_JSON_OBJECT)
        return read_curve(value, "mu", &impact->curves[2], &impact->by_impact.mu, error);
    return cr_field_refuse(value, CR_ERR_TYPE, "mu", error,
                           "mu: must be a number >= 0, \"inf\" or a form, is %s",
                           cr_json_type_name(value->type));
}

static crStatus read_et(const crJson* value, crImpact* impact, crError* error) {
    if (value->type == CR_JSON_OBJECT)
        return read_curve(value, "et", &impact->curves[1], &impact->by_impact.et, error);
    return cr_field_number(value, "et", &impact->collision.et, error);
}

// a named form or a table; over speed alone it has derivatives
static crStatus read_form(const crJson* value, crImpact* impact, crError* error) {
    crCurveRoom* room = &impact->curves[0];
    crStatus status = read_curve(value, "e", room, &impact->by_impact.e, error);
    if (status != CR_OK || !cr__curve_is_of_speed(&room->curve)) return status;
    impact->by_impact.e = NULL;
    impact->restitution = (crRestitution){.count = room->curve.rows, .speed = room->x, .e = room->value};
    impact->collision.e_of_speed = &impact->restitution;
    return CR_OK;
}

// a number, rows [speed, e] or a form
static crStatus read_e(const crJson* value, crImpact* impact, crError* error) {
    if (value->type == CR_JSON_NUMBER) return cr_field_number(value, "e", &impact->collision.e, error);
    if (value->type == CR_JSON_OBJECT) return read_form(value, impact, error);
    if (value->type != CR_JSON_ARRAY) {
        return cr_field_refuse(value, CR_ERR_TYPE, "e", error,
                               "e: must be a number, a table [[speed, e], ...] or a form, is %s",
                               cr_json_type_name(value->type));
    }
    if (value->count > CR_IMPACT_MAX_TABLE) {
        return cr_field_refuse(value, CR_ERR_LIMIT, "e", error, "e: a table has at most %d rows, this has %d",
                               CR_IMPACT_MAX_TABLE, value->count);
    }
    int row = 0;
    for (const crJson* item = value->child; item != NULL; item = item->next, row++) {
        double pair[2] = {0};
        int count = 0;
        crStatus status = cr_field_numbers(item, "e", 2, 2, pair, &count, error);
        if (status != CR_OK) return status;
        impact->curves[0].x[row] = pair[0];
        impact->curves[0].value[row] = pair[1];
    }
    impact->restitution =
        (crRestitution){.count = row, .speed = impact->curves[0].x, .e = impact->curves[0].value};
    impact->collision.e_of_speed = &impact->restitution;
    return CR_OK;
}

static crStatus read_coefficients_impact(const crJson* object, crImpact* impact, crError* error) {
    crCollision* c = &impact->collision;
    crStatus status = CR_OK;
    const char* ignored = NULL;
    const crJson* value = cr_json_get(object, "mu");
    if (value != NULL) status = read_mu(value, impact, error);
    if (status == CR_OK && (value = cr_json_get(object, "e")) != NULL) status = read_e(value, impact, error);
    if (status == CR_OK && (value = cr_json_get(object, "et")) != NULL) {
        status = read_et(value, impact, error);
    }
    const crByImpact* by = &impact->by_impact;
    if (by->e != NULL || by->et != NULL || by->mu != NULL) c->by_impact = by;
    if (status == CR_OK && (value = cr_json_get(object, "normalize")) != NULL) {
        status = cr_field_bool(value, "normalize", &c->normalize, error);
    }
    if (status == CR_OK && (value = cr_json_get(object, "name")) != NULL) {
        status = cr_field_text(value, "name", &impact->name, error);
    }
    if (status == CR_OK && (value = cr_json_get(object, "comment")) != NULL) {
        status = cr_field_text(value, "comment", &ignored, error);
    }
    return status;
}

// W = m^-1
static crStatus read_mass(const crJson* value, int dimension, crMat3* W, crError* error) {
    crSym3 m;
    crSym3 inverse;
    crStatus status = cr_field_symmetric(value, "m", dimension, &m, error);
    if (status != CR_OK) return status;
    if (dimension == 2) m.zz = 1.0;
    if (!cr_sym3_invert(m, &inverse)) {
        return cr_field_refuse(value, CR_ERR_DEFINITE, "m", error,
                               "m: not positive definite; where a direction is blocked give W instead");
    }
    if (!isfinite(inverse.xx + inverse.xy + inverse.xz + inverse.yy + inverse.yz + inverse.zz)) {
        return cr_field_refuse(value, CR_ERR_FINITE, "m", error, "m: its inverse is too large");
    }
    if (dimension == 2) inverse.zz = 0.0;
    *W = cr_sym3_full(inverse);
    return CR_OK;
}

static crStatus read_matrix_and_velocity(const crJson* object, crImpact* impact, crError* error) {
    const crJson* W = cr_json_get(object, "W");
    const crJson* m = cr_json_get(object, "m");
    const crJson* V = cr_json_get(object, "V");
    const crJson* point = cr_json_get(object, "point");
    int dimension = impact->dimension;
    if (W != NULL && m != NULL) {
        return cr_field_refuse(m, CR_ERR_FIELD, "m", error,
                               "m: cannot be given together with W, its inverse");
    }
    if (point != NULL) {
        return cr_field_refuse(point, CR_ERR_FIELD, "point", error,
                               "point: goes with bodies, not with W and V");
    }
    if (W == NULL && m == NULL) {
        return cr_field_refuse(object, CR_ERR_MISSING, "W", error,
                               "W: is missing; give W or m, with V, or two bodies with point");
    }
    if (V == NULL) {
        return cr_field_refuse(object, CR_ERR_MISSING, "V", error,
                               "V: is missing, the relative velocity of the contact points");
    }
    crStatus status = W != NULL ? cr_field_matrix(W, "W", dimension, &impact->collision.W, error)
                                : read_mass(m, dimension, &impact->collision.W, error);
    if (status == CR_OK) status = cr_field_vector(V, "V", dimension, &impact->collision.V, error);
    return status;
}

static crStatus read_bodies(const crJson* object, crImpact* impact, crError* error) {
    static const char* const instead[] = {"W", "m", "V"};
    for (int i = 0; i < 3; i++) {
        const crJson* value = cr_json_get(object, instead[i]);
        if (value == NULL) continue;
        return cr_field_refuse(value, CR_ERR_FIELD, instead[i], error,
                               "%s: cannot be given together with bodies", instead[i]);
    }
    return cr__read_bodies(object, impact, error);
}

// angular velocity of b against a about n, where no bodies say it
static crStatus read_spin(const crJson* object, crImpact* impact, crError* error) {
    const crJson* value = cr_json_get(object, "spin");
    double spin = 0.0;
    if (value == NULL) return CR_OK;
    if (impact->has_bodies) {
        return cr_field_refuse(value, CR_ERR_FIELD, "spin", error,
                               "spin: cannot be given together with bodies");
    }
    crStatus status = cr_field_number(value, "spin", &spin, error);
    double length = cr_norm(impact->collision.n);
    if (length > 0.0) impact->collision.omega = cr_scale(spin / length, impact->collision.n);
    return status;
}

static crStatus read_frame(const crJson* object, crImpact* impact, crError* error) {
    const crJson* value = cr_json_get(object, "frame");
    if (value == NULL) return CR_OK;
    crMat3* f = &impact->collision.frame;
    impact->collision.has_frame = true;
    crStatus status = cr_field_matrix(value, "frame", impact->dimension, f, error);
    // t2 = n x t1, out of the plane
    if (impact->dimension == 2)
        f->m[2][2] = f->m[0][0] * f->m[1][1] - f->m[1][0] * f->m[0][1] < 0.0 ? -1.0 : 1.0;
    return status;
}

crStatus cr_impact_read(const crJson* object, crImpact* impact, crError* error) {
    *impact = (crImpact){.collision = cr_collision(), .params = cr_law_params()};
    if (object->type != CR_JSON_OBJECT) {
        return cr_field_refuse(object, CR_ERR_TYPE, "", error,
                               "a collision must be an object {...}, one per line, is %s",
                               cr_json_type_name(object->type));
    }
    crStatus status = cr_field_known(object, "", known_fields, error);
    if (status == CR_OK) status = read_dimension_impact(object, impact, error);
    if (status == CR_OK) status = read_coefficients_impact(object, impact, error);
    if (status == CR_OK) {
        status = cr__has_bodies(object) ? read_bodies(object, impact, error)
                                        : read_matrix_and_velocity(object, impact, error);
    }
    if (status == CR_OK) status = read_spin(object, impact, error);
    if (status == CR_OK) status = read_frame(object, impact, error);
    if (status == CR_OK) {
        status = cr_collision_contact(&impact->collision, &impact->contact, &impact->frame, error);
    }
    if (status == CR_OK) status = cr__read_laws(object, impact, error);
    if (status != CR_OK) locate(object, error);
    return status;
}

static bool is_finite(const crHit* hit) {
    const crMargins* m = &hit->margins;
    return cr_vec3_finite(hit->P) && cr_vec3_finite(hit->V_plus) &&
           isfinite(hit->energy_change + m->energy + m->penetration + m->tension) && !isnan(m->cone);
}

crStatus cr_impact_apply(const crJson* object, const crImpact* impact, int index, crHit* hit,
                         crError* error) {
    crLaw law;
    crError local = {0};
    crStatus status = cr_law_find(impact->laws[index], &impact->params, &law, &local);
    if (status == CR_OK) status = cr_law_apply_contact(&law, &impact->contact, hit, &local);
    if (status == CR_OK) {
        hit->P = cr_mat3_mul(impact->frame, hit->P);
        hit->V_plus = cr_mat3_mul(impact->frame, hit->V_plus);
        if (!is_finite(hit)) {
            status = cr_error_set(&local, CR_ERR_FINITE, "law",
                                  "law: the result of \"%s\" is too large; use other units", law.name);
        } else if (impact->dimension == 2 && !(fabs(hit->P.z) <= 1e-12 * cr_norm(hit->P))) {
            status = cr_error_set(&local, CR_ERR_PLANAR, "law",
                                  "law: the impulse of \"%s\" leaves the plane; give the collision in 3D",
                                  law.name);
        }
    }
    if (status == CR_OK) return CR_OK;
    locate(object, &local);
    if (error != NULL) *error = local;
    return status;
}
