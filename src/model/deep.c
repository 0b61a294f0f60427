// deep.c - M of a tree with long paths, by recursions that cost the same for every velocity.
//
// The factor M = L^T D L of a tree has one entry per velocity and ancestor, so a chain of n costs n^3 by
// rows. Its entries are products: L_ij = K_i . S_j, with K_i = A_i S_i / D_i and A_i the articulated inertia
// of what i carries, its own joints free (Featherstone 2008, algorithm 7.3; the same factor in other words:
// Rodriguez, Jain, Kreutz-Delgado 1991). With all fields about one point of the tree no entry is ever formed:
// sums over ancestors are one twist, sums over what is carried one wrench. D is S_i . A_i S_i, plus armature,
// springs and dampers. Fails: as inertia.c.
#include "model/deep.h"

#include "model/actuate.h"

#include <string.h>

// an articulated inertia: (omega, v) to (moment, force), symmetric
struct crArticulated {
    double a[6][6];
};

bool cr__deep_create(crArena* arena, int bodies, struct crArticulated** all) {
    *all = cr_arena_alloc(arena, (size_t)bodies * sizeof **all);
    return *all != NULL;
}

static void pack(crTwist t, double x[6]) {
    cr__store_vec(t.omega, x);
    cr__store_vec(t.v, x + 3);
}

static crTwist unpack(const double x[6]) { return cr__twist(cr__load_vec(x), cr__load_vec(x + 3)); }

static void begin_body(const crModel* model, int b, crDynamics* d) {
    crInertia own = cr__inertia_about(model->bodies[b].mass, d->com[b], d->inertia[b], d->origin[b]);
    for (int j = 0; j < 6; j++) {
        double unit[6] = {0};
        unit[j] = 1.0;
        pack(cr__inertia_mul(&own, unpack(unit)), d->deep.articulated[b].a[j]);
    }
}

// K and D of one velocity; what it leaves of the inertia that moves with its joint
static bool eliminate(const crModel* model, int b, int i, crDynamics* d) {
    struct crArticulated* A = &d->deep.articulated[b];
    const crDof* dof = cr_model_dof(model, i);
    double S[6], U[6];
    pack(d->axis[i], S);
    double D = dof->armature + cr__dof_slope(model, d, d->mass.h, i);
    for (int r = 0; r < 6; r++) {
        U[r] = 0.0;
        for (int c = 0; c < 6; c++) {
            U[r] += A->a[r][c] * S[c];
        }
    }
    for (int r = 0; r < 6; r++) {
        D += S[r] * U[r];
    }
    double whole =
        cr__twist_dot(d->axis[i], cr__inertia_mul(&d->scratch.composite[b], d->axis[i])) + dof->armature;
    if (!(D > CR__PIVOT_NOISE * whole)) return false;
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) {
            A->a[r][c] -= U[r] * U[c] / D;
        }
    }
    for (int r = 0; r < 6; r++) {
        U[r] /= D;
    }
    d->deep.gain[i] = unpack(U);
    d->deep.weight[i] = D;
    d->mass.pivot[i] = sqrt(D);
    return true;
}

bool cr__deep_begin(const crModel* model, int b, crDynamics* d) {
    if (!cr__is_deep(model, b)) return false;
    begin_body(model, b, d);
    return true;
}

bool cr__deep_factor(const crModel* model, int b, crDynamics* d) {
    const crBody* body = &model->bodies[b];
    for (int i = body->v + body->nv - 1; i >= body->v; i--) {
        if (!eliminate(model, b, i, d)) return false;
    }
    if (!cr__moves(model, body->parent)) return true;
    struct crArticulated* to = &d->deep.articulated[body->parent];
    for (int k = 0; k < 36; k++) {
        to->a[k / 6][k % 6] += d->deep.articulated[b].a[k / 6][k % 6];
    }
    return true;
}

// one velocity of x L = row; f: wrench of what is below it, becomes that with it
static double reduce(const crDynamics* d, int i, double x, crTwist* f) {
    x -= cr__twist_dot(d->axis[i], *f);
    *f = cr__twist_madd(*f, x, d->deep.gain[i]);
    return x;
}

void cr__deep_solve_down(const crModel* model, int b, const crDynamics* d, double* x) {
    const crBody* body = &model->bodies[b];
    crTwist f = d->deep.carry[b];
    for (int i = body->v + body->nv - 1; i >= body->v; i--) {
        x[i] = reduce(d, i, x[i], &f);
    }
    for (int i = body->v; i < body->v + body->nv; i++) {
        x[i] /= d->deep.weight[i];
    }
    if (cr__moves(model, body->parent))
        d->deep.carry[body->parent] = cr__twist_add(d->deep.carry[body->parent], f);
}

void cr__deep_solve_up(const crModel* model, int b, const crDynamics* d, double* x) {
    const crBody* body = &model->bodies[b];
    crTwist a = {0};
    if (cr__moves(model, body->parent)) a = d->deep.carry[body->parent];
    for (int i = body->v; i < body->v + body->nv; i++) {
        x[i] -= cr__twist_dot(a, d->deep.gain[i]);
        a = cr__twist_madd(a, x[i], d->axis[i]);
    }
    d->deep.carry[b] = a;
}

void cr__deep_clear(const crModel* model, int b, const crDynamics* d) {
    if (cr__is_deep(model, b)) d->deep.carry[b] = (crTwist){0};
}

void cr__deep_path_half(const crDynamics* d, const int* chain, int count, double* x) {
    crTwist f = {0};
    for (int k = count - 1; k >= 0; k--) {
        x[k] = reduce(d, chain[k], x[k], &f) / d->mass.pivot[chain[k]];
    }
}

void cr__deep_half(const crModel* model, const crDynamics* d, int i, double* x) {
    int b = model->velocity.body[i], up = model->velocity.parent[i];
    x[i] = reduce(d, i, x[i], &d->deep.carry[b]) / d->mass.pivot[i];
    if (i > model->bodies[b].v || up < 0) return;
    crTwist* above = &d->deep.carry[model->velocity.body[up]];
    *above = cr__twist_add(*above, d->deep.carry[b]);
}

void cr__deep_velocities(const crModel* model, const crDynamics* d, int b, const double* v, double* z) {
    const crBody* body = &model->bodies[b];
    crTwist a = {0};
    if (cr__moves(model, body->parent)) a = d->deep.carry[body->parent];
    for (int i = body->v; i < body->v + body->nv; i++) {
        z[i - body->v] = d->mass.pivot[i] * (v[i] + cr__twist_dot(a, d->deep.gain[i]));
        a = cr__twist_madd(a, v[i], d->axis[i]);
    }
    d->deep.carry[b] = a;
}

// the twist of b by x, and its own momentum with it
void cr__deep_mul_up(const crModel* model, int b, const crDynamics* d, const double* x) {
    const crBody* body = &model->bodies[b];
    crTwist a = {0};
    if (cr__moves(model, body->parent)) a = d->deep.carry[body->parent];
    for (int i = body->v; i < body->v + body->nv; i++) {
        a = cr__twist_madd(a, x[i], d->axis[i]);
    }
    d->deep.carry[b] = a;
    crInertia own = cr__inertia_about(body->mass, d->com[b], d->inertia[b], d->origin[b]);
    d->deep.momentum[b] = cr__inertia_mul(&own, a);
}

void cr__deep_mul_down(const crModel* model, int b, const crDynamics* d, const double* x, double* y) {
    const crBody* body = &model->bodies[b];
    for (int i = body->v; i < body->v + body->nv; i++) {
        y[i] = cr__twist_dot(d->axis[i], d->deep.momentum[b]) + cr_model_dof(model, i)->armature * x[i];
    }
    if (!cr__moves(model, body->parent)) return;
    d->deep.momentum[body->parent] = cr__twist_add(d->deep.momentum[body->parent], d->deep.momentum[b]);
}

double cr__deep_entry(const crModel* model, const crDynamics* d, int i, int j) {
    const crInertia* I = &d->scratch.composite[model->velocity.body[i]];
    double entry = cr__twist_dot(d->axis[j], cr__inertia_mul(I, d->axis[i]));
    return i == j ? entry + cr_model_dof(model, i)->armature : entry;
}
