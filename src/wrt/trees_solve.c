// trees_solve.c - solves, energies and momenta of a tree's move, backwards; trees.c has the equations.
//
// A solve M_h x = r gets z = M_h^-1 by_x, and z . (r - M_h x) is differentiated by inverse dynamics. The motion of a tree as one
// rigid body has omega = I^-1 L about its centre of mass; z . M x of motions of the root alone gives what I gets.
// Fails: nothing.
#include "model/actuate.h"
#include "wrt/trees.h"

// by joints' and actuators' springs and dampers
static void springs_back(const crTreesBack* b, const crTreesSolve* s) {
    const crModel* model = b->tape->model;
    double h = b->h;
    for (int n = 0; n < s->part.count; n++) {
        const crBody* body = &model->bodies[s->part.bodies[n]];
        for (int i = body->v; i < body->v + body->nv; i++) {
            double z = h * s->z[i];
            b->by_force[i] += z;
            if (body->single) continue;
            s->by_k[i] -= z * cr_model_dof(model, i)->damping;
            s->by_R[i] -= z * h * cr_model_dof(model, i)->stiffness;
            if (body->nq == body->nv) s->q[i] -= z * cr_model_dof(model, i)->stiffness;
            bool limited = model->nu > 0 && !isnan(b->d->limit[i]);
            for (int t = limited ? -1 : model->velocity.actuator[i]; t >= 0; t = cr__term_next(model, t)) {
                const crActuator* a = &model->actuators[cr__term_actuator(t)];
                const crActuation* x = &b->d->actuation[cr__term_actuator(t)];
                double by = z * a->gear[t % CR_ACTUATOR_JOINTS];
                for (int k = 0; k < a->dof_count; k++) {
                    int j = a->dof[k];
                    const crBody* other = &model->bodies[model->velocity.body[j]];
                    s->by_k[j] -= by * x->damping * a->gear[k];
                    s->by_R[j] -= by * h * fmax(0.0, x->stiffness) * a->gear[k];
                    if (other->nq == other->nv) s->q[j] -= by * x->stiffness * a->gear[k];
                }
            }
        }
    }
}

void cr__trees_solve(const crTreesBack* b, const crTreesSolve* s) {
    cr__set_tree(b->tape->model, s->part, s->forces ? -b->h : 1.0, s->z, b->x);
    crInverse in = {.model = b->tape->model, .d = b->d, .part = s->part, .v = s->v, .a = s->a, .z = b->x};
    in.weight = s->forces;
    in.outer = s->outer;
    in.on_y = s->on_y;
    in.y = s->y;
    cr__inverse_gradient(&in, b->twists, s->q, s->by_v);
    if (s->forces) springs_back(b, s);
}

// by v and q of T(q, v) = v.M v/2, times g
void cr__trees_energy(const crTreesBack* b, crPart tree, double g, const double* v, double* by_v, double* q) {
    const crModel* model = b->tape->model;
    cr__part_mass_mul(model, tree, b->d, v, b->y);
    cr__add_tree(model, tree, g, b->y, by_v);
    cr__set_tree(model, tree, 0.5 * g, v, b->z);
    crTreesSolve s = {.part = tree, .z = b->z, .a = v, .q = q, .by_v = by_v};
    cr__trees_solve(b, &s);
}

// z = M_h^-1 x
void cr__trees_solve_z(const crTreesBack* b, crPart tree, double g, const double* x) {
    cr__set_tree(b->tape->model, tree, g, x, b->z);
    cr__part_mass_solve(b->tape->model, tree, b->d, b->z);
}

// z . M x, z and x motions of the root alone, by q: times -1 into q
static void root_back(crTreesBack* b, crPart tree, crTwist z, const double* x, double* q) {
    const crModel* model = b->tape->model;
    int at = model->bodies[tree.bodies[0]].v;
    cr__set_tree(model, tree, 0.0, b->z, b->z);
    cr__store_vec(z.v, b->z + at);
    cr__store_vec(z.omega, b->z + at + 3);
    crTreesSolve s = {.part = tree, .z = b->z, .a = x, .q = q, .by_v = b->y};
    cr__trees_solve(b, &s);
}

// by the centre of mass less the reference point: the first is moved by the momentum over m
void cr__trees_centre(crTreesBack* b, crPart tree, double m, crVec3 by_r, bool less, double* q) {
    const crModel* model = b->tape->model;
    double* at = b->z + model->bodies[tree.bodies[0]].v;
    cr__set_tree(model, tree, 0.0, b->z, b->z);
    cr__store_vec(cr_scale(1.0 / m, by_r), at);
    cr__part_mass_mul(model, tree, b->d, b->z, b->y);
    cr__add_tree(model, tree, 1.0, b->y, q);
    double* root = q + model->bodies[tree.bodies[0]].v;
    if (less) cr__store_vec(cr_sub(cr__load_vec(root), by_r), root);
}

// What a rigid motion's figures get, passed on: its momenta, its q. I about the centre does not change with r to first order.
static void rigid_back(crTreesBack* b, crPart tree, const crTapeRigid* x, crTwist by, double by_T,
                       crVec3* by_P, crVec3* by_L, double* q) {
    const crModel* model = b->tape->model;
    crVec3 by_omega = cr_sub(by.omega, cr_cross(x->r, by.v)), mu = cr_vec3(0, 0, 0);
    crVec3 by_r = cr_cross(x->omega, by.v);
    cr_sym3_solve(x->I, by_omega, &mu);
    *by_P = cr_add(*by_P, cr_add(cr_scale(1.0 / x->m, by.v), cr_scale(by_T / x->m, x->P)));
    *by_L = cr_add(*by_L, cr_madd(mu, by_T, x->omega));
    crVec3 zeta = cr_neg(cr_madd(mu, 0.5 * by_T, x->omega));
    double* a = b->rigid;
    cr__set_tree(model, tree, 0.0, a, a);
    cr__store_vec(cr_cross(x->r, x->omega), a + model->bodies[tree.bodies[0]].v);
    cr__store_vec(x->omega, a + model->bodies[tree.bodies[0]].v + 3);
    root_back(b, tree, cr__twist(zeta, cr_cross(x->r, zeta)), a, q);
    cr__trees_centre(b, tree, x->m, by_r, true, q);
}

// the momenta of v, by v and q
void cr__trees_momenta(crTreesBack* b, crPart tree, const crTapeRigid* x, crVec3 by_P, crVec3 by_L,
                       const double* v, double* by_v, double* q) {
    crVec3 by_r = cr_cross(by_L, x->P);
    crTwist z = cr__twist(by_L, cr_sub(by_P, cr_cross(by_L, x->r)));
    root_back(b, tree, z, v, q);
    cr__part_mass_mul(b->tape->model, tree, b->d, b->z, b->y);
    cr__add_tree(b->tape->model, tree, 1.0, b->y, by_v);
    cr__trees_centre(b, tree, x->m, by_r, true, q);
}

// v4 of a tree that keeps its momentum, and its centre of mass that goes straight: by_v3, and P, L and T of the beginning
void cr__trees_settle(crTreesBack* b, crPart tree, const crTapeTree* now, const crTapeFlight* f,
                      const double* by_v4, double* by_v3) {
    const crModel* model = b->tape->model;
    int root = tree.bodies[0], at = model->bodies[root].v;
    crTapeRigid own = cr__trees_rigid_by(b->tape, tree, f->v3, b->y),
                l = cr__trees_rigid_of(b->d, root, now->P, now->L);
    crTwist by = cr__twist(cr__load_vec(by_v4 + at + 3), cr__load_vec(by_v4 + at));
    crVec3 by_P = cr_vec3(0, 0, 0), by_L = by_P;
    crVec3* const of_first = &b->by_PL[2 * root];
    cr__set_tree(model, tree, f->s, by_v4, by_v3);
    double by_s = cr__part_dot(model, tree, by_v4, f->v3) - cr__twist_dot(cr__twist(own.omega, own.v), by);
    double g = f->inner > 0.0 ? 0.5 * f->s * by_s / (now->T - l.T) : 0.0;
    double g_was = f->inner > 0.0 ? -0.5 * f->s * by_s / f->inner : 0.0;
    b->by_T[root] += g;
    rigid_back(b, tree, &l, by, -g, &of_first[0], &of_first[1], b->by_next);
    rigid_back(b, tree, &own, cr__twist(cr_scale(-f->s, by.omega), cr_scale(-f->s, by.v)), -g_was, &by_P,
               &by_L, b->by_next);
    cr__trees_momenta(b, tree, &own, by_P, by_L, f->v3, by_v3, b->by_next);
    if (g_was != 0.0) cr__trees_energy(b, tree, g_was, f->v3, by_v3, b->by_next);
}
