// shape.c - shapes on bodies, and the mass, centre and inertia of a shape of uniform density.
//
// Closed forms for the round shapes and the box; a polyhedron is the signed sum of the tetrahedra from one
// point to its triangles, each with volume V = a.(b x c)/6 and second moment V/20 (a a^T + b b^T + c c^T + s
// s^T), s = a + b + c. A capsule is a cylinder and two half balls whose centres lie 3r/8 beyond its ends.
// Fails: each field by name; the refusal sticks to the model. Shapes without volume have no mass.
#include "collide/kinds.h"
#include "collide/pieces.h"
#include "model/spatial.h"
#include "model/store.h"

// about the shape's own origin, which is its centre, by the mean squares of its coordinates
static crMass centred(double mass, double xx, double yy, double zz) {
    return (crMass){
        mass, {0, 0, 0}, {.xx = mass * (yy + zz), .yy = mass * (xx + zz), .zz = mass * (xx + yy)}};
}

static crMass capsule(double density, double r, double half) {
    double cylinder = density * CR_PI * r * r * 2.0 * half, ball = density * CR_PI * r * r * r * 4.0 / 3.0;
    crMass body = centred(cylinder, 0.25 * r * r, 0.25 * r * r, half * half / 3.0);
    // two half balls about the centre of the capsule: <z^2> = half^2 + 2 half 3r/8 + r^2/5
    double zz = half * half + 0.75 * half * r + 0.2 * r * r;
    return cr_mass_add(body, centred(ball, 0.2 * r * r, 0.2 * r * r, zz));
}

// the centre of a cone lies a quarter of its height above the base, <z^2> about it is 3/80 of the height
// squared
static crMass cone(double density, double r, double half) {
    double height = 2.0 * half;
    crMass mass = centred(density * CR_PI * r * r * height / 3.0, 0.15 * r * r, 0.15 * r * r,
                          height * height * 3.0 / 80.0);
    mass.com.z = -0.5 * half;
    return mass;
}

// integrals over a polyhedron of 1, x and x x^T
typedef struct Moments {
    double volume;
    crVec3 first;
    crSym3 second;
} Moments;

static crSym3 square(double s, crVec3 a) {
    return (crSym3){s * a.x * a.x, s * a.x * a.y, s * a.x * a.z, s * a.y * a.y, s * a.y * a.z, s * a.z * a.z};
}

static void add_tetrahedron(Moments* m, crVec3 a, crVec3 b, crVec3 c) {
    double volume = cr_dot(a, cr_cross(b, c)) / 6.0;
    crVec3 sum = cr_add(a, cr_add(b, c));
    m->volume += volume;
    m->first = cr_madd(m->first, 0.25 * volume, sum);
    double w = volume / 20.0;
    crSym3 corners = cr_sym3_add(square(w, a), cr_sym3_add(square(w, b), square(w, c)));
    m->second = cr_sym3_add(m->second, cr_sym3_add(corners, square(w, sum)));
}

// mass from moments about the point `from`
static crMass of_moments(const Moments* m, crVec3 from, double density) {
    if (!(m->volume > 0.0)) return (crMass){0};
    crVec3 c = cr_scale(1.0 / m->volume, m->first);
    crSym3 s = cr_sym3_add(m->second, square(-m->volume, c));
    crSym3 inertia = {density * (s.yy + s.zz), -density * s.xy, -density * s.xz,
                      density * (s.xx + s.zz), -density * s.yz, density * (s.xx + s.yy)};
    return (crMass){density * m->volume, cr_add(from, c), inertia};
}

static crMass hull(double density, const crHull* h) {
    Moments m = {0};
    for (int f = 0; f < h->face_count; f++) {
        const int* loop = h->face_loop + h->face_first[f];
        int count = h->face_first[f + 1] - h->face_first[f];
        crVec3 a = cr_sub(h->vertices[loop[0]], h->centre);
        for (int i = 1; i + 1 < count; i++) {
            crVec3 b = cr_sub(h->vertices[loop[i]], h->centre),
                   c = cr_sub(h->vertices[loop[i + 1]], h->centre);
            add_tetrahedron(&m, a, b, c);
        }
    }
    return of_moments(&m, h->centre, density);
}

static crMass mesh(double density, const crMesh* h) {
    Moments m = {0};
    crVec3 from = h->vertices[0];
    for (int t = 0; t < h->triangle_count && h->closed; t++) {
        const int* v = h->triangles[t];
        add_tetrahedron(&m, cr_sub(h->vertices[v[0]], from), cr_sub(h->vertices[v[1]], from),
                        cr_sub(h->vertices[v[2]], from));
    }
    return of_moments(&m, from, density);
}

static crMass compound(double density, const crCompound* c) {
    crMass sum = {0};
    for (int i = 0; i < c->count; i++) {
        sum = cr_mass_add(sum, cr_mass_of_shape(&c->children[i], density));
    }
    return sum;
}

// nothing where the row does not say
static crMass by_moments(const cr__ShapeKind* kind, crVec3 size, double density) {
    if (kind->moments == NULL) return (crMass){0};
    double z = 0.0;
    crVec3 squares;
    double mass = density * kind->moments(size, &z, &squares);
    crMass made = centred(mass, squares.x, squares.y, squares.z - z * z);
    made.com.z = z;
    return made;
}

// in the shape's own frame
static crMass own_mass(const crShape* shape, double d) {
    double x = shape->size.x, y = shape->size.y, z = shape->size.z;
    switch (shape->kind) {
    case CR_SHAPE_SPHERE:
        return centred(d * CR_PI * x * x * x * 4.0 / 3.0, 0.2 * x * x, 0.2 * x * x, 0.2 * x * x);
    case CR_SHAPE_CAPSULE:
        return capsule(d, x, z);
    case CR_SHAPE_BOX:
        return centred(8.0 * d * x * y * z, x * x / 3.0, y * y / 3.0, z * z / 3.0);
    case CR_SHAPE_CYLINDER:
        return centred(2.0 * d * CR_PI * x * x * z, 0.25 * x * x, 0.25 * x * x, z * z / 3.0);
    case CR_SHAPE_CONE:
        return cone(d, x, z);
    case CR_SHAPE_ELLIPSOID:
        return centred(d * CR_PI * x * y * z * 4.0 / 3.0, 0.2 * x * x, 0.2 * y * y, 0.2 * z * z);
    case CR_SHAPE_HULL:
        return hull(d, shape->data.hull);
    case CR_SHAPE_MESH:
        return mesh(d, shape->data.mesh);
    case CR_SHAPE_COMPOUND:
        return compound(d, shape->data.compound);
    default:
        return by_moments(&cr__shapes[shape->kind], shape->size, d);
    }
}

crMass cr_mass_of_shape(const crShape* shape, double density) {
    if (!cr__shape_given(shape)) return (crMass){0};
    return cr_mass_moved(own_mass(shape, density), shape->pose);
}

static crStatus check_place(crModel* model, int body, const crShape* shape, int material) {
    crError* error = &model->error;
    if (shape == NULL) return cr_error_set(error, CR_ERR_ARGUMENT, "shape", "shape: is NULL");
    if (body < 0 || body >= model->nb) {
        return cr_error_set(error, CR_ERR_RANGE, "body", "body: must be 0 to %d, got %d", model->nb - 1,
                            body);
    }
    if (material < 0 || material >= model->material_count) {
        return cr_error_set(error, CR_ERR_RANGE, "material", "material: must be 0 to %d, got %d",
                            model->material_count - 1, material);
    }
    return cr_shape_check(shape, cr__moves(model, body), error);
}

int cr_model_add_shape(crModel* model, int body, const crShape* shape, int material) {
    if (model == NULL) return CR_ERR_MEMORY;
    if (model->error.status != CR_OK) return model->error.status;
    crStatus status = check_place(model, body, shape, material);
    if (status != CR_OK) return status;
    crBody* owner = &model->bodies[body];
    crMass sum = {owner->mass, owner->com, owner->inertia};
    if (!owner->mass_given && cr__moves(model, body)) {
        sum = cr_mass_add(sum, cr_mass_of_shape(shape, model->materials[material].density));
        status = cr_mass_check(&sum, &model->error);
        if (status != CR_OK) return status;
    }
    crBodyShape* all =
        cr__store_reserve(model, STORE_SHAPES, model->shapes, model->shape_count + 1, sizeof(crBodyShape));
    if (all == NULL) return cr__store_full(model);
    model->shapes = all;
    cr__body_set_mass(owner, &sum);
    all[model->shape_count] = (crBodyShape){*shape, body, material, 1u, UINT64_MAX, 0u};
    return model->shape_count++;
}
