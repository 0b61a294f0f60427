// inverse_along.c - forces of inverse dynamics, energy and momentum of trees along a change of q and v: inverse.c forwards.
//
// A motion X of body i takes its inertia along, d(I A) = I (dA - X x A) + X x* I A, and an axis S that moves with body m changes
// by X_m x S. With V = sum S v, A = sum S a + rate and f = I A + V x* I V - weight,
//     dV = sum dS v + S dv      dA = sum dS a + d rate      d(S . F) = dS . F + S . dF, F the sum of f over all that is carried.
// Fails: nothing.
#include "wrt/inverse_along.h"

#include "model/joint.h"

static crTwist no_twist(void) { return cr__twist(cr_vec3(0, 0, 0), cr_vec3(0, 0, 0)); }
static crTwist less(crTwist a, crTwist b) { return cr__twist_madd(a, -1.0, b); }

// axes of a body times x, from the first on
static crTwist sum_of(const crTwist* axis, const crBody* body, const double* x, int from, int to) {
    crTwist sum = no_twist();
    for (int j = body->v + from; j < body->v + to; j++) {
        sum = cr__twist_madd(sum, x[j], axis[j]);
    }
    return sum;
}

// the same of the axes at the present poses
static crTwist moved_by(const crDynamics* d, const crBody* body, const double* x, int from, int to) {
    crTwist sum = no_twist();
    for (int j = body->v + from; j < body->v + to; j++) {
        sum = cr__twist_madd(sum, x[j], cr__dof_axis(d, j));
    }
    return sum;
}

void cr__along_look(const crAlong* in) {
    for (int k = 0; k < in->part.count; k++) {
        int i = cr__part_body(in->part, k);
        const crBody* body = &in->model->bodies[i];
        crTwist above = cr__moves(in->model, body->parent) ? in->X[body->parent] : no_twist();
        in->X[i] = cr__twist_add(above, moved_by(in->d, body, in->dq, 0, body->nv));
        // axes of a free joint's turn pass through its centre of mass and keep their directions
        bool free = body->joint == CR_JOINT_FREE;
        int carried = free ? 3 : body->nv - cr__joint(body)->own;
        crTwist shift = moved_by(in->d, body, in->dq, 0, free ? 3 : 0);
        for (int j = 0; j < body->nv; j++) {
            crTwist by = j < carried ? above : free ? shift : in->X[i];
            in->dS[body->v + j] = cr__twist_cross(by, cr__dof_axis(in->d, body->v + j));
        }
    }
}

// what a motion X of the body changes in its momentum I U, U changed by dU
static crTwist momentum_along(const crInertia* I, crTwist X, crTwist U, crTwist dU, crTwist IU) {
    return cr__twist_add(cr__inertia_mul(I, less(dU, cr__twist_cross(X, U))), cr__wrench_cross(X, IU));
}

typedef struct Fields {
    crTwist *V, *dV, *A, *dA, *F, *dF;
} Fields;

static void add_rate(const crAlong* in, int i, const double* v, const double* dv, const Fields* s, crTwist* A,
                     crTwist* dA) {
    const crBody* body = &in->model->bodies[i];
    if (body->joint == CR_JOINT_FREE) {
        crVec3 u = cr__load_vec(v + body->v), w = cr__load_vec(v + body->v + 3);
        crVec3 du = cr__load_vec(dv + body->v), dw = cr__load_vec(dv + body->v + 3);
        A->v = cr_add(A->v, cr_cross(u, w));
        dA->v = cr_add(dA->v, cr_add(cr_cross(du, w), cr_cross(u, dw)));
        return;
    }
    int carried = body->nv - cr__joint(body)->own;
    for (int part = 0; part < 2; part++) {
        int from = part == 0 ? 0 : carried, to = part == 0 ? carried : body->nv;
        if (from == to || (part == 0 && !cr__moves(in->model, body->parent))) continue;
        int m = part == 0 ? body->parent : i;
        crTwist C = moved_by(in->d, body, v, from, to);
        crTwist dC = cr__twist_add(sum_of(in->dS, body, v, from, to), moved_by(in->d, body, dv, from, to));
        *A = cr__twist_add(*A, cr__twist_cross(s->V[m], C));
        *dA = cr__twist_add(*dA, cr__twist_add(cr__twist_cross(s->dV[m], C), cr__twist_cross(s->V[m], dC)));
    }
}

static void body_along(const crAlong* in, int i, const double* v, const double* dv, const double* a,
                       bool weight, const Fields* s) {
    const crModel* model = in->model;
    const crDynamics* d = in->d;
    const crBody* body = &model->bodies[i];
    bool up = cr__moves(model, body->parent);
    crTwist X = in->X[i], none = no_twist();
    crTwist A = cr__twist_add(up ? s->A[body->parent] : none, moved_by(d, body, a, 0, body->nv));
    crTwist dA = cr__twist_add(up ? s->dA[body->parent] : none, sum_of(in->dS, body, a, 0, body->nv));
    if (v != NULL) {
        crTwist dV = cr__twist_add(sum_of(in->dS, body, v, 0, body->nv), moved_by(d, body, dv, 0, body->nv));
        s->V[i] = cr__twist_add(up ? s->V[body->parent] : none, moved_by(d, body, v, 0, body->nv));
        s->dV[i] = cr__twist_add(up ? s->dV[body->parent] : none, dV);
        add_rate(in, i, v, dv, s, &A, &dA);
    }
    crInertia I = cr__inertia_about(body->mass, d->com[i], d->inertia[i], d->origin[i]);
    crTwist IA = cr__inertia_mul(&I, A), f = IA, df = momentum_along(&I, X, A, dA, IA);
    if (v != NULL) {
        crTwist IV = cr__inertia_mul(&I, s->V[i]), dIV = momentum_along(&I, X, s->V[i], s->dV[i], IV);
        f = cr__twist_add(f, cr__wrench_cross(s->V[i], IV));
        df = cr__twist_add(df, cr__twist_add(cr__wrench_cross(s->dV[i], IV), cr__wrench_cross(s->V[i], dIV)));
    }
    if (weight) {
        crVec3 arm = cr_sub(d->com[i], d->origin[i]);
        crVec3 G = cr_scale(body->mass * body->gravity_scale, model->gravity);
        f = less(f, cr__twist(cr_cross(arm, G), G));
        df.omega = cr_sub(df.omega, cr_cross(cr__twist_at(X, arm), G));
    }
    s->A[i] = A;
    s->dA[i] = dA;
    s->F[i] = f;
    s->dF[i] = df;
}

void cr__along_forces(const crAlong* in, const double* v, const double* dv, const double* a, bool weight,
                      double s, double* out) {
    int nb = in->model->nb;
    crTwist* w = in->work;
    Fields t = {w, w + nb, w + 2 * nb, w + 3 * nb, w + 4 * nb, w + 5 * nb};
    for (int k = 0; k < in->part.count; k++) {
        body_along(in, cr__part_body(in->part, k), v, dv, a, weight, &t);
    }
    for (int k = in->part.count - 1; k >= 0; k--) {
        int i = cr__part_body(in->part, k), parent = in->model->bodies[i].parent;
        const crBody* body = &in->model->bodies[i];
        for (int j = body->v; j < body->v + body->nv; j++) {
            out[j] += s * (cr__twist_dot(in->dS[j], t.F[i]) + cr__twist_dot(cr__dof_axis(in->d, j), t.dF[i]));
        }
        if (!cr__moves(in->model, parent)) continue;
        t.F[parent] = cr__twist_add(t.F[parent], t.F[i]);
        t.dF[parent] = cr__twist_add(t.dF[parent], t.dF[i]);
    }
}

crAlongSums cr__along_sums(const crAlong* in, const double* v, const double* dv, const crTwist* locked) {
    crAlongSums sums = {.momentum = no_twist(), .centre = cr_vec3(0, 0, 0)};
    crTwist *V = in->work, *dV = V + in->model->nb;
    sums.locked[0] = sums.locked[1] = no_twist();
    for (int k = 0; k < in->part.count; k++) {
        int i = cr__part_body(in->part, k);
        const crBody* body = &in->model->bodies[i];
        const crDynamics* d = in->d;
        bool up = cr__moves(in->model, body->parent);
        crTwist X = in->X[i];
        V[i] = cr__twist_add(up ? V[body->parent] : no_twist(), moved_by(d, body, v, 0, body->nv));
        dV[i] = cr__twist_add(up ? dV[body->parent] : no_twist(), sum_of(in->dS, body, v, 0, body->nv));
        for (int j = body->v; dv != NULL && j < body->v + body->nv; j++) {
            dV[i] = cr__twist_madd(dV[i], dv[j], cr__dof_axis(d, j));
            sums.T += cr_model_dof(in->model, j)->armature * v[j] * dv[j];
        }
        crInertia I = cr__inertia_about(body->mass, d->com[i], d->inertia[i], d->origin[i]);
        crTwist IV = cr__inertia_mul(&I, V[i]);
        sums.T += cr__twist_dot(less(dV[i], cr__twist_cross(X, V[i])), IV);
        if (locked == NULL) continue;
        sums.momentum = cr__twist_add(sums.momentum, momentum_along(&I, X, V[i], dV[i], IV));
        sums.centre = cr_add(sums.centre, cr_add(cr_scale(I.m, X.v), cr_cross(X.omega, I.h)));
        for (int n = 0; n < 2; n++) {
            crTwist fixed = momentum_along(&I, X, locked[n], no_twist(), cr__inertia_mul(&I, locked[n]));
            sums.locked[n] = cr__twist_add(sums.locked[n], fixed);
        }
    }
    return sums;
}
