// inertia.c - M by composite rigid bodies, its factor without fill-in, and solves along the tree.
//
// M_ij = S_i . I_c S_j (plus the joint's armature where i = j), where j is i or one of its ancestors and I_c
// the inertia of all that i carries. M = L^T D L has the same zeros as M, because a row reaches only its
// ancestors (Featherstone 2008, algorithms 6.2 and 6.3). A free body that carries nothing skips both: its M
// is its mass and its inertia. Fails: CR_ERR_DEFINITE where a pivot falls below 1e-14 of its entry of M: that
// joint has nothing to move. Trees with long paths go by deep.c.
#include "model/actuate.h"
#include "model/deep.h"
#include "model/single.h"

static void composite_inertias(const crModel* model, crPart part, crDynamics* d) {
    for (int k = 0; k < part.count; k++) {
        int i = cr__part_body(part, k);
        if (model->bodies[i].single) continue;
        d->scratch.composite[i] = (crInertia){0};
        if (!(model->bodies[i].mass > 0.0)) continue;
        d->scratch.composite[i] =
            cr__inertia_about(model->bodies[i].mass, d->com[i], d->inertia[i], d->origin[i]);
    }
    for (int k = part.count - 1; k >= 0; k--) {
        int i = cr__part_body(part, k);
        int parent = model->bodies[i].parent;
        if (!cr__moves(model, parent)) continue;
        crInertia* sum = &d->scratch.composite[parent];
        const crInertia* own = &d->scratch.composite[i];
        *sum = (crInertia){sum->m + own->m, cr_add(sum->h, own->h), cr_sym3_add(sum->I, own->I)};
    }
}

static void fill_rows(const crModel* model, const crBody* body, crDynamics* d) {
    const crInertia* I = &d->scratch.composite[body - model->bodies];
    for (int i = body->v; i < body->v + body->nv; i++) {
        crTwist momentum = cr__inertia_mul(I, d->axis[i]);
        double* M = d->mass.M + model->velocity.row[i];
        double* L = d->mass.L + model->velocity.row[i];
        const int* path = d->mass.path + model->velocity.row[i];
        int depth = model->velocity.depth[i];
        for (int k = 0; k < depth; k++) {
            M[k] = L[k] = cr__twist_dot(d->axis[path[k]], momentum);
        }
        M[depth] = L[depth] = cr__twist_dot(d->axis[i], momentum) + cr_model_dof(model, i)->armature;
    }
}

static inline void subtract_inertia(double share, const double* restrict row, int count,
                                    double* restrict from) {
    for (int k = 0; k < count; k++) {
        from[k] -= share * row[k];
    }
}

// row i divided by its pivot, its part taken from the rows of all ancestors
static bool eliminate_inertia(const crModel* model, int i, crDynamics* d) {
    double* row = d->mass.L + model->velocity.row[i];
    const int* path = d->mass.path + model->velocity.row[i];
    int depth = model->velocity.depth[i];
    double pivot = row[depth];
    if (!(pivot > CR__PIVOT_NOISE * d->mass.M[model->velocity.row[i] + depth])) return false;
    d->mass.pivot[i] = sqrt(pivot);
    for (int k = depth - 1; k >= 0; k--) {
        double share = row[k] / pivot;
        subtract_inertia(share, row, k + 1, d->mass.L + model->velocity.row[path[k]]);
        row[k] = share;
    }
    return true;
}

crStatus cr__part_mass_factor(const crModel* model, crPart part, double h, crDynamics* d) {
    d->mass.h = h;
    composite_inertias(model, part, d);
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(part, k)];
        if (!body->single && !cr__deep_begin(model, cr__part_body(part, k), d)) fill_rows(model, body, d);
    }
    for (int k = part.count - 1; k >= 0; k--) {
        int b = cr__part_body(part, k);
        const crBody* body = &model->bodies[b];
        if (body->single) {
            crStatus status = cr__single_factor(body, d->pose[b].q, &d->root[b], &d->inverse[b]);
            if (status != CR_OK) return status;
            continue;
        }
        if (cr__is_deep(model, b)) {
            if (!cr__deep_factor(model, b, d)) return CR_ERR_DEFINITE;
            continue;
        }
        for (int i = body->v + body->nv - 1; i >= body->v; i--) {
            d->mass.L[model->velocity.row[i] + model->velocity.depth[i]] += cr__dof_slope(model, d, h, i);
            if (!eliminate_inertia(model, i, d)) return CR_ERR_DEFINITE;
        }
    }
    return CR_OK;
}

crStatus cr_model_mass_factor(const crModel* model, double h, crDynamics* d) {
    if (!cr__dynamics_fits(model, d)) return CR_ERR_ARGUMENT;
    return cr__part_mass_factor(model, cr__all(model), h, d);
}

// L x = y, from the roots up
static void solve_up(const crModel* model, crPart part, const crDynamics* d, double* x) {
    for (int k = 0; k < part.count; k++) {
        int b = cr__part_body(part, k);
        const crBody* body = &model->bodies[b];
        if (body->single) continue;
        if (cr__is_deep(model, b)) {
            cr__deep_solve_up(model, b, d, x);
            continue;
        }
        for (int i = body->v; i < body->v + body->nv; i++) {
            const double* row = d->mass.L + model->velocity.row[i];
            const int* path = d->mass.path + model->velocity.row[i];
            double sum = x[i];
            for (int m = 0; m < model->velocity.depth[i]; m++) {
                sum -= row[m] * x[path[m]];
            }
            x[i] = sum;
        }
    }
}

void cr__part_mass_solve(const crModel* model, crPart part, const crDynamics* d, double* x) {
    for (int k = 0; k < part.count && d->deep.carry != NULL; k++) {
        cr__deep_clear(model, cr__part_body(part, k), d);
    }
    // L^T D y = x, from the leaves down
    for (int k = part.count - 1; k >= 0; k--) {
        int b = cr__part_body(part, k);
        const crBody* body = &model->bodies[b];
        if (body->single) {
            cr__single_solve(body, &d->inverse[b], x + body->v);
            continue;
        }
        if (cr__is_deep(model, b)) {
            cr__deep_solve_down(model, b, d, x);
            continue;
        }
        for (int i = body->v + body->nv - 1; i >= body->v; i--) {
            const double* row = d->mass.L + model->velocity.row[i];
            const int* path = d->mass.path + model->velocity.row[i];
            int depth = model->velocity.depth[i];
            double share = x[i];
            for (int m = 0; m < depth; m++) {
                x[path[m]] -= row[m] * share;
            }
            x[i] = share / row[depth];
        }
    }
    solve_up(model, part, d, x);
}

void cr__part_half_solve(const crModel* model, crPart part, const crDynamics* d, double* x) {
    for (int k = 0; k < part.count; k++) {
        const crBody* body = &model->bodies[cr__part_body(part, k)];
        for (int i = body->v; i < body->v + body->nv; i++) {
            x[i] /= d->mass.pivot[i];
        }
    }
    solve_up(model, part, d, x);
}

void cr_model_mass_solve(const crModel* model, const crDynamics* d, double* x) {
    if (!cr__dynamics_fits(model, d) || x == NULL) return;
    cr__part_mass_solve(model, cr__all(model), d, x);
}

void cr__part_mass_mul(const crModel* model, crPart part, const crDynamics* d, const double* x, double* y) {
    for (int n = 0; n < part.count; n++) {
        int b = cr__part_body(part, n);
        const crBody* body = &model->bodies[b];
        if (body->single) {
            for (int j = body->v; j < body->v + 3; j++) {
                y[j] = body->mass * x[j];
            }
            cr__store_vec(cr_sym3_mul(d->inertia[b], cr__load_vec(x + body->v + 3)), y + body->v + 3);
            continue;
        }
        if (cr__is_deep(model, b)) {
            cr__deep_mul_up(model, b, d, x);
            continue;
        }
        for (int i = body->v; i < body->v + body->nv; i++) {
            const double* row = d->mass.M + model->velocity.row[i];
            const int* path = d->mass.path + model->velocity.row[i];
            int depth = model->velocity.depth[i];
            // what is above stands before it
            double sum = row[depth] * x[i];
            for (int m = depth - 1; m >= 0; m--) {
                sum += row[m] * x[path[m]];
                y[path[m]] += row[m] * x[i];
            }
            y[i] = sum;
        }
    }
    for (int n = part.count - 1; n >= 0 && d->deep.carry != NULL; n--) {
        int b = cr__part_body(part, n);
        if (!model->bodies[b].single && cr__is_deep(model, b)) cr__deep_mul_down(model, b, d, x, y);
    }
}

void cr_model_mass_mul(const crModel* model, const crDynamics* d, const double* x, double* y) {
    if (!cr__dynamics_fits(model, d) || x == NULL || y == NULL) return;
    cr__part_mass_mul(model, cr__all(model), d, x, y);
}

void cr_model_mass_dense(const crModel* model, const crDynamics* d, double* M) {
    if (!cr__dynamics_fits(model, d) || M == NULL) return;
    int nv = model->nv;
    for (int i = 0; i < nv * nv; i++) {
        M[i] = 0.0;
    }
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        int v = body->v;
        if (body->single) {
            crMat3 I = cr_sym3_full(d->inertia[b]);
            for (int i = 0; i < 9; i++) {
                M[(v + i / 3) * nv + v + i % 3] = i % 4 == 0 ? body->mass : 0.0;
                M[(v + 3 + i / 3) * nv + v + 3 + i % 3] = I.m[i / 3][i % 3];
            }
            continue;
        }
        for (int i = v; i < v + body->nv; i++) {
            for (int j = i; j >= 0; j = model->velocity.parent[j]) {
                double entry = cr__is_deep(model, b)
                                   ? cr__deep_entry(model, d, i, j)
                                   : d->mass.M[model->velocity.row[i] + model->velocity.depth[j]];
                M[i * nv + j] = M[j * nv + i] = entry;
            }
        }
    }
}
