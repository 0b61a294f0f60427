// material.c - materials, written-down pairs, and the rule that combines two materials.
//
// Rule: a pair that was written down wins. Otherwise coefficients (mu, mu2, mu_spin, mu_roll, viscous,
// Stribeck) combine by their geometric mean, 0 if either is 0, and e and et by the smaller. An ellipse
// combines axis by axis with the other's mean sqrt(mu mu2); a polygon keeps its shape and is scaled by
// sqrt(other mean / largest vertex). Fails: each field by name; the refusal sticks to the model.
#include <string.h>

#include "carom/forms.h"
#include "carom/region.h"
#include "impulse/curve.h"
#include "model/spatial.h"
#include "model/store.h"

crMaterial cr_material(void) {
    crSurface surface = {.mu = 0.5, .mu2 = NAN, .axis = {1.0, 0.0, 0.0}, .speed_stribeck = 1.0};
    return (crMaterial){.density = 1000.0, .surface = surface};
}

static crStatus check_polygon(const crSurface* s, crError* error) {
    if (s->vertex_count < 3 || s->vertices == NULL) {
        return cr_error_set(error, CR_ERR_SIZE, "vertices", "vertices: 3 or more must be given, got %d",
                            s->vertex_count);
    }
    for (int i = 0; i < s->vertex_count; i++) {
        if (!isfinite(s->vertices[i][0]) || !isfinite(s->vertices[i][1])) {
            return cr_error_set(error, CR_ERR_FINITE, "vertices", "vertices: vertex %d must be finite", i);
        }
    }
    int rounds = 0;
    for (int i = 0; i < s->vertex_count; i++) {
        const double* a = s->vertices[i];
        const double* b = s->vertices[(i + 1) % s->vertex_count];
        const double* c = s->vertices[(i + 2) % s->vertex_count];
        double turn = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
        rounds += a[1] < 0.0 && b[1] >= 0.0;
        if (!(a[0] * b[1] - a[1] * b[0] > 0.0) || !(turn >= 0.0) || rounds > 1) {
            return cr_error_set(
                error, CR_ERR_RANGE, "vertices",
                "vertices: must be convex, counter-clockwise, once round the origin; not so at %d", i);
        }
    }
    return CR_OK;
}

static crStatus check_restitution(const crRestitution* r, crError* error) {
    if (r->function != NULL) return CR_OK;
    if (r->count < 1 || r->speed == NULL || r->e == NULL) {
        return cr_error_set(error, CR_ERR_SIZE, "e_of_speed", "e_of_speed: needs at least one row, got %d",
                            r->count);
    }
    for (int i = 0; i < r->count; i++) {
        bool ascends = i == 0 ? r->speed[i] >= 0.0 : r->speed[i] > r->speed[i - 1];
        if (!ascends || !isfinite(r->speed[i]) || !(r->e[i] >= 0.0) || !isfinite(r->e[i])) {
            return cr_error_set(error, CR_ERR_RANGE, "e_of_speed",
                                "e_of_speed: speeds must ascend from >= 0 and e be >= 0; not so in row %d",
                                i);
        }
    }
    return CR_OK;
}

static crStatus check_by_impact(const crSurface* s, crError* error) {
    bool round = s->vertex_count == 0 && (isnan(s->mu2) || s->mu2 == s->mu);
    if (s->by_impact->mu != NULL && !round) {
        return cr_error_set(error, CR_ERR_ARGUMENT, "mu",
                            "mu: cannot depend on the impact where mu2 or a polygon is given");
    }
    return cr__by_impact_check(s->by_impact, error);
}

static crStatus check_surface(const crSurface* s, crError* error) {
    const double values[] = {
        s->mu, isnan(s->mu2) ? s->mu : s->mu2, s->e, s->mu_spin, s->mu_roll, s->viscous, s->mu_stribeck};
    const char* names[] = {"mu", "mu2", "e", "mu_spin", "mu_roll", "viscous", "mu_stribeck"};
    for (int i = 0; i < 7; i++) {
        bool infinite = i < 2 && isinf(values[i]);
        if (!(values[i] >= 0.0) || (!isfinite(values[i]) && !infinite)) {
            return cr_error_set(error, CR_ERR_RANGE, names[i], "%s: must be >= 0%s, got %g", names[i],
                                i < 2 ? "" : " and finite", values[i]);
        }
    }
    if (!(s->et >= -1.0 && s->et <= 1.0)) {
        return cr_error_set(error, CR_ERR_RANGE, "et", "et: must be -1 to 1, got %g", s->et);
    }
    if (!(s->speed_stribeck > 0.0 && isfinite(s->speed_stribeck))) {
        return cr_error_set(error, CR_ERR_RANGE, "speed_stribeck", "speed_stribeck: must be > 0, got %g",
                            s->speed_stribeck);
    }
    double length = cr_norm(s->axis);
    if (!(length > 0.0 && isfinite(length))) {
        return cr_error_set(error, CR_ERR_UNIT, "axis", "axis: must not be zero, length %g", length);
    }
    crStatus status = s->vertex_count != 0 ? check_polygon(s, error) : CR_OK;
    if (status == CR_OK && s->e_of_speed != NULL) status = check_restitution(s->e_of_speed, error);
    if (status == CR_OK && s->by_impact != NULL) status = check_by_impact(s, error);
    return status;
}

static bool own_curve(crModel* model, const crCurve** curve) {
    if (*curve == NULL) return true;
    crCurve* c = cr__store_copy(model, *curve, sizeof *c);
    if (c == NULL) return false;
    *curve = c;
    if (c->function != NULL) return true;
    size_t rows = (size_t)c->rows, columns = (size_t)c->columns;
    c->x = cr__store_copy(model, c->x, rows * sizeof(double));
    c->value = cr__store_copy(model, c->value, rows * columns * sizeof(double));
    c->y = c->columns > 1 ? cr__store_copy(model, c->y, columns * sizeof(double)) : NULL;
    return c->x != NULL && c->value != NULL && (c->columns == 1 || c->y != NULL);
}

static bool own_by_impact(crModel* model, crSurface* s) {
    if (s->by_impact == NULL) return true;
    crByImpact* by = cr__store_copy(model, s->by_impact, sizeof *by);
    s->by_impact = by;
    return by != NULL && own_curve(model, &by->e) && own_curve(model, &by->et) && own_curve(model, &by->mu);
}

// what the surface points at becomes the model's
static bool own_surface(crModel* model, crSurface* s) {
    if (isnan(s->mu2)) s->mu2 = s->mu;
    if (s->vertex_count > 0) {
        s->vertices = cr__store_copy(model, s->vertices, (size_t)s->vertex_count * sizeof *s->vertices);
        if (s->vertices == NULL) return false;
    }
    if (!own_by_impact(model, s)) return false;
    if (s->e_of_speed == NULL) return true;
    crRestitution* r = cr__store_copy(model, s->e_of_speed, sizeof *r);
    if (r == NULL) return false;
    s->e_of_speed = r;
    if (r->function != NULL) return true;
    r->speed = cr__store_copy(model, r->speed, (size_t)r->count * sizeof(double));
    r->e = cr__store_copy(model, r->e, (size_t)r->count * sizeof(double));
    return r->speed != NULL && r->e != NULL;
}

static bool has_name(const void* ctx, int material, const void* name) {
    const char* own = ((const crModel*)ctx)->materials[material].name;
    return own != NULL && strcmp(own, name) == 0;
}

static bool name_is_taken(const crModel* model, const char* name) {
    return name != NULL &&
           cr__index_find(&model->memory->material_names, cr_hash(CR_HASH_SEED, name, strlen(name)), has_name,
                          model, name) >= 0;
}

int cr_model_add_material(crModel* model, const crMaterial* given) {
    if (model == NULL) return CR_ERR_MEMORY;
    if (model->memory == NULL) return CR_ERR_ARGUMENT;
    crError* error = &model->error;
    if (error->status != CR_OK) return error->status;
    if (given == NULL) return cr_error_set(error, CR_ERR_ARGUMENT, "material", "material: is NULL");
    if (name_is_taken(model, given->name)) {
        return cr_error_set(error, CR_ERR_NAME, "name", "name: material \"%.64s\" is there already",
                            given->name);
    }
    if (!(given->density >= 0.0 && isfinite(given->density))) {
        return cr_error_set(error, CR_ERR_RANGE, "density", "density: must be >= 0, got %g", given->density);
    }
    if (given->surface.law != NULL)
        return cr_error_set(error, CR_ERR_ARGUMENT, "law",
                            "law: two materials have a law, one has none: give it to a pair");
    if ((unsigned)given->look >= CR_LOOKS)
        return cr_error_set(error, CR_ERR_RANGE, "look", "look: no such look, got %d", (int)given->look);
    crStatus status = check_surface(&given->surface, error);
    if (status != CR_OK) return status;
    int count = model->material_count;
    crMaterial* all =
        cr__store_reserve(model, STORE_MATERIALS, model->materials, count + 1, sizeof(crMaterial));
    if (all == NULL) return cr__store_full(model);
    model->materials = all;
    crMaterial own = *given;
    if (own.name != NULL) own.name = cr__store_copy(model, own.name, strlen(own.name) + 1);
    if (given->name != NULL && own.name == NULL) return cr__store_full(model);
    if (!own_surface(model, &own.surface)) return cr__store_full(model);
    if (!cr__index_reserve(&model->memory->material_names, &model->allocator)) return cr__store_full(model);
    all[count] = own;
    if (own.name != NULL)
        cr__index_add(&model->memory->material_names, cr_hash(CR_HASH_SEED, own.name, strlen(own.name)),
                      has_name, model, own.name, count);
    return model->material_count++;
}

static bool is_pair(const void* ctx, int pair, const void* key) {
    const crMaterialPair* own = &((const crModel*)ctx)->pairs[pair];
    const crCouple* couple = key;
    return (own->a == couple->a && own->b == couple->b) || (own->a == couple->b && own->b == couple->a);
}

crStatus cr_model_add_pair(crModel* model, int material_a, int material_b, const crSurface* surface) {
    if (model == NULL) return CR_ERR_MEMORY;
    crError* error = &model->error;
    if (error->status != CR_OK) return error->status;
    if (surface == NULL) return cr_error_set(error, CR_ERR_ARGUMENT, "surface", "surface: is NULL");
    int last = model->material_count - 1;
    if (material_a < 0 || material_a > last || material_b < 0 || material_b > last) {
        return cr_error_set(error, CR_ERR_RANGE, "material", "material: must be 0 to %d, got %d and %d", last,
                            material_a, material_b);
    }
    crStatus status = check_surface(surface, error);
    if (status != CR_OK) return status;
    crMaterialPair* pairs =
        cr__store_reserve(model, STORE_PAIRS, model->pairs, model->pair_count + 1, sizeof(crMaterialPair));
    if (pairs == NULL) return cr__store_full(model);
    model->pairs = pairs;
    crMaterialPair own = {material_a, material_b, *surface};
    if (!own_surface(model, &own.surface)) return cr__store_full(model);
    if (!cr__index_reserve(&model->memory->pairs, &model->allocator)) return cr__store_full(model);
    crCouple couple = cr__couple(material_a, material_b);
    pairs[model->pair_count] = own;
    // the pair written last wins
    cr__index_add(&model->memory->pairs, cr__couple_hash(&couple), is_pair, model, &couple,
                  model->pair_count);
    model->pair_count++;
    return CR_OK;
}

// geometric mean; 0 beats INFINITY
static double mean(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : sqrt(a) * sqrt(b); }

// The surface with its coefficients at an impact.
static crStatus resolve_surface(const crSurface* s, const crApproach* at, crSurface* out) {
    *out = *s;
    if (s->e_of_speed != NULL) out->e = cr_restitution_at(s->e_of_speed, at->speed);
    out->e_of_speed = NULL;
    out->by_impact = NULL;
    if (s->by_impact == NULL) return CR_OK;
    crStatus status = cr__by_impact_at(s->by_impact, at, &out->e, &out->et, &out->mu, NULL);
    if (s->by_impact->mu != NULL) out->mu2 = out->mu;
    return status;
}

static double largest_vertex(const crSurface* s) {
    double r = 0.0;
    for (int i = 0; i < s->vertex_count; i++) {
        const double* p = s->vertices[i];
        r = fmax(r, p[0] * p[0] + p[1] * p[1]);
    }
    return sqrt(r);
}

static bool has_axis(const crSurface* s) { return s->vertex_count > 0 || s->mu != s->mu2; }

// one number for a surface's friction where the other surface has the directions
static double one_mu(const crSurface* s) {
    return s->vertex_count > 0 ? largest_vertex(s) : mean(s->mu, s->mu2);
}

static void combine(const crSurface* a, const crSurface* b, bool a_first, crContactSurface* out) {
    bool of_a = has_axis(a) && (a_first || !has_axis(b));
    bool of_b = has_axis(b) && !of_a;
    const crSurface* shape = of_b ? b : a;
    double other = one_mu(of_b ? a : b);
    out->axis_of = of_a ? 0 : (of_b ? 1 : -1);
    out->surface = *shape;
    crSurface* s = &out->surface;
    s->mu = shape->vertex_count > 0 ? mean(largest_vertex(shape), other) : mean(shape->mu, other);
    s->mu2 = shape->vertex_count > 0 ? s->mu : mean(shape->mu2, other);
    out->polygon_scale = shape->vertex_count > 0 ? s->mu / largest_vertex(shape) : 1.0;
    s->e = fmin(a->e, b->e);
    s->et = fmin(a->et, b->et);
    s->mu_spin = mean(a->mu_spin, b->mu_spin);
    s->mu_roll = mean(a->mu_roll, b->mu_roll);
    s->viscous = mean(a->viscous, b->viscous);
    s->mu_stribeck = mean(a->mu_stribeck, b->mu_stribeck);
    s->speed_stribeck = mean(a->speed_stribeck, b->speed_stribeck);
}

crStatus cr_model_surface_at(const crModel* model, int a, int b, const crApproach* approach,
                             crContactSurface* out) {
    if (model == NULL || approach == NULL || out == NULL) return CR_ERR_ARGUMENT;
    if (a < 0 || a >= model->material_count || b < 0 || b >= model->material_count) return CR_ERR_RANGE;
    crCouple couple = cr__couple(a, b);
    int at = cr__index_find(&model->memory->pairs, cr__couple_hash(&couple), is_pair, model, &couple);
    if (at >= 0) {
        const crMaterialPair* pair = &model->pairs[at];
        bool same = pair->a == a && pair->b == b;
        out->polygon_scale = 1.0;
        out->axis_of = has_axis(&pair->surface) ? (same ? 0 : 1) : -1;
        return resolve_surface(&pair->surface, approach, &out->surface);
    }
    crSurface of_a, of_b;
    crStatus status = resolve_surface(&model->materials[a].surface, approach, &of_a);
    if (status == CR_OK) status = resolve_surface(&model->materials[b].surface, approach, &of_b);
    if (status == CR_OK) combine(&of_a, &of_b, a <= b, out);
    return status;
}

crStatus cr_model_surface(const crModel* model, int a, int b, double speed, crContactSurface* out) {
    return cr_model_surface_at(model, a, b, &(crApproach){.speed = speed}, out);
}

crMat3 cr_surface_frame(crVec3 n, crVec3 axis) {
    crVec3 t = cr_madd(axis, -cr_dot(axis, n), n);
    double length = cr_norm(t);
    if (!(length > 1e-9 * cr_norm(axis))) return cr_frame(n);
    crVec3 t1 = cr_scale(1.0 / length, t);
    return cr_mat3_columns(n, t1, cr_cross(n, t1));
}
